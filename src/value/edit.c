// See edit.h. A node stands for one opened map or list: the bytes it had, and a sorted
// chain of changes to its children. Finishing merges the two, so the work is that of
// copying the item plus the length of the chains. A node also remembers how far its bytes were
// walked, so that changes that come in path order walk each container once.
//
// A list's changes are chained by the index they were asked for in the original list.
// Indexes behind its end therefore come out last and in order, which is how DynamoDB
// appends; removed elements are merely left out, which is how the others move down.
//
// Nodes and changes live in the arena and are freed with it; names and values are
// borrowed until edit_finish().
#include "value/edit.h"

struct node;

enum change_kind {
    CHANGE_SET,    // `value` takes the child's place
    CHANGE_REMOVE, // the child goes
    CHANGE_OPEN    // `node` takes the child's place
};

struct change {
    struct change *next;
    struct path_step step;
    enum change_kind kind;
    struct slice value;
    struct node *node;
};

struct node {
    struct slice base; // the map or list as it was
    struct change *changes;
    struct change *last;    // the change that was taken last
    struct value_iter walk; // stands at a child, if its value is set
    struct path_step here;  // which one
};

struct edit {
    struct arena *arena;
    struct node root;
};

static bool step_is_name(struct path_step step)
{
    return step.name.ptr != NULL;
}

// Whether a value is a container that the step can lead into.
static bool step_fits(struct slice value, struct path_step step)
{
    return value_type(value) == (step_is_name(step) ? VALUE_M : VALUE_L);
}

static int step_compare(struct path_step a, struct path_step b)
{
    if (step_is_name(a))
        return slice_compare(a.name, b.name);
    return (a.index > b.index) - (a.index < b.index);
}

static bool node_next(struct node *node)
{
    bool first = node->walk.value.ptr == NULL;
    if (!value_iter_next(&node->walk))
        return false;
    node->here = (struct path_step){node->walk.name, first ? 0 : node->here.index + 1};
    return true;
}

// The child of a container as it was, or VALUE_NONE.
static struct slice node_child(struct node *node, struct path_step step)
{
    if (node->walk.value.ptr == NULL || step_compare(node->here, step) > 0) {
        value_iter_init(&node->walk, node->base);
        if (!node_next(node))
            return VALUE_NONE;
    }
    int order;
    while ((order = step_compare(node->here, step)) < 0) {
        if (!node_next(node))
            return VALUE_NONE;
    }
    return order == 0 ? node->walk.value : VALUE_NONE;
}

struct edit *edit_new(struct arena *arena, struct slice item)
{
    struct edit *edit = arena_alloc(arena, sizeof(*edit));
    if (edit != NULL)
        *edit = (struct edit){.arena = arena, .root = {.base = item}};
    return edit;
}

// The link to the change of this child, or to where it belongs in the chain.
static struct change **change_link(struct node *node, struct path_step step)
{
    struct change **link = &node->changes;
    // Changes that come in order, however many, need no search from the front.
    if (node->last != NULL && step_compare(node->last->step, step) < 0)
        link = &node->last->next;
    while (*link != NULL && step_compare((*link)->step, step) < 0)
        link = &(*link)->next;
    return link;
}

// The change of a child, made anew if there is none; NULL if the arena is used up.
static struct change *change_take(struct edit *edit, struct node *node, struct path_step step)
{
    struct change **link = change_link(node, step);
    if (*link != NULL && step_compare((*link)->step, step) == 0)
        return node->last = *link;
    struct change *change = arena_alloc(edit->arena, sizeof(*change));
    if (change == NULL)
        return NULL;
    *change = (struct change){.next = *link, .step = step};
    *link = change;
    node->last = change;
    return change;
}

// Moves *node to its child, opening that if need be; `next` is the step that follows.
static enum edit_status node_descend(struct edit *edit, struct node **node, struct path_step step,
                                     struct path_step next)
{
    struct change *change = *change_link(*node, step);
    if (change != NULL && step_compare(change->step, step) != 0)
        change = NULL;
    if (change != NULL && change->kind == CHANGE_OPEN) {
        *node = change->node;
        return step_fits((*node)->base, next) ? EDIT_OK : EDIT_NO_PARENT;
    }
    struct slice value = node_child(*node, step);
    if (change != NULL)
        value = change->kind == CHANGE_SET ? change->value : VALUE_NONE;
    if (value.ptr == NULL || !step_fits(value, next))
        return EDIT_NO_PARENT;
    struct node *child = arena_alloc(edit->arena, sizeof(*child));
    change = change_take(edit, *node, step);
    if (child == NULL || change == NULL)
        return EDIT_BUDGET;
    *child = (struct node){.base = value};
    change->kind = CHANGE_OPEN;
    change->node = child;
    *node = child;
    return EDIT_OK;
}

static enum edit_status edit_change(struct edit *edit, struct path path, enum change_kind kind,
                                    struct slice value)
{
    // Each step opens a container of the builder; no item nests as deep as this.
    if (path.count >= VALUE_BUILDER_DEPTH || !step_is_name(path.steps[0]))
        return EDIT_NO_PARENT;
    struct node *node = &edit->root;
    for (size_t i = 0; i + 1 < path.count; i++) {
        enum edit_status status = node_descend(edit, &node, path.steps[i], path.steps[i + 1]);
        if (status != EDIT_OK)
            return status;
    }
    struct change *change = change_take(edit, node, path.steps[path.count - 1]);
    if (change == NULL)
        return EDIT_BUDGET;
    change->kind = kind;
    change->value = value;
    return EDIT_OK;
}

enum edit_status edit_set(struct edit *edit, struct path path, struct slice value)
{
    return edit_change(edit, path, CHANGE_SET, value);
}

enum edit_status edit_remove(struct edit *edit, struct path path)
{
    return edit_change(edit, path, CHANGE_REMOVE, VALUE_NONE);
}

static void node_write(const struct node *node, struct value_builder *builder);

static void change_write(const struct change *change, struct value_builder *builder)
{
    if (change->kind == CHANGE_REMOVE)
        return;
    if (step_is_name(change->step))
        value_name(builder, change->step.name);
    if (change->kind == CHANGE_SET)
        value_put(builder, change->value);
    else
        node_write(change->node, builder);
}

// The children before the change's place are copied in one piece, as they stand. Returns whether
// the child that the iterator has come to is the one that changes.
static bool copy_until(struct path_step step, struct value_iter *iter, size_t total,
                       struct value_builder *builder)
{
    const uint8_t *from = iter->at;
    const uint8_t *last = from;
    size_t left = iter->left;
    int order = 1;
    for (struct value_iter ahead = *iter; value_iter_next(&ahead); *iter = ahead) {
        order = step_compare((struct path_step){ahead.name, total - iter->left}, step);
        if (order >= 0)
            break;
        last = iter->at;
    }
    value_put_run(builder, slice_of(from, (size_t)(iter->at - from)), left - iter->left, last);
    return iter->left > 0 && order == 0;
}

static void node_write(const struct node *node, struct value_builder *builder)
{
    if (node->changes == NULL) {
        value_put(builder, node->base);
        return;
    }
    struct value_iter iter;
    value_iter_init(&iter, node->base);
    size_t total = iter.left;
    if (iter.container == VALUE_M)
        value_open_map(builder);
    else
        value_open_list(builder);
    for (const struct change *change = node->changes; change != NULL; change = change->next) {
        if (copy_until(change->step, &iter, total, builder))
            (void)value_iter_next(&iter);
        change_write(change, builder);
    }
    const uint8_t *end = node->base.ptr + node->base.len;
    value_put_run(builder, slice_of(iter.at, (size_t)(end - iter.at)), iter.left, iter.at);
    (void)value_close(builder);
}

void edit_finish(struct edit *edit, struct value_builder *builder)
{
    node_write(&edit->root, builder);
}
