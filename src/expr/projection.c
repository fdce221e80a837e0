// ProjectionExpression and AttributesToGet: which parts of an item to return.
//
// The paths become a tree of steps, so that two paths into one map give one map. A map or
// list appears in the result only if something in it was found; elements taken from a
// list close up, in the order of the list. Recursion is as deep as a path: LIMIT_NESTING.
#include "expr/expr_internal.h"

// ---- Building the tree ---------------------------------------------------------------

static bool step_equal(const struct path_step *a, const struct path_step *b)
{
    return a->index == b->index && (a->name.ptr == NULL) == (b->name.ptr == NULL) &&
           slice_equal(a->name, b->name);
}

// Paths come in order, so only the last child can be the one a step is looking for.
static bool tree_add(struct arena *arena, struct projection_node *node, struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        struct projection_node *child = node->last_child;
        if (child == NULL || !step_equal(&child->step, &path.steps[i])) {
            child = arena_zalloc(arena, 1, sizeof *child);
            if (child == NULL)
                return false;
            child->step = path.steps[i];
            if (node->last_child == NULL)
                node->child = child;
            else
                node->last_child->next = child;
            node->last_child = child;
        }
        node = child;
    }
    return true;
}

struct expr_projection *projection_build(struct arena *arena, size_t count,
                                         const struct path *const *sorted)
{
    struct expr_projection *projection = arena_zalloc(arena, 1, sizeof *projection);
    if (projection == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!tree_add(arena, &projection->root, *sorted[i]))
            return NULL;
    }
    return projection;
}

// ---- Compiling ------------------------------------------------------------------------

// path ("," path)*
static bool projection_parse(struct parser *parser)
{
    for (;;) {
        if (parser_path(parser) == NULL)
            return false;
        if (parser_peek(parser) == TOKEN_END)
            return true;
        if (parser_peek(parser) != TOKEN_COMMA)
            return parser_syntax(parser, parser->at);
        parser->at++;
    }
}

struct expr_projection *expr_compile_projection(struct expr_params *params, struct slice text)
{
    struct parser parser;
    if (!parser_init(&parser, params, text, EXPR_PROJECTION) || !projection_parse(&parser) ||
        !check_words(&parser))
        return NULL;
    size_t count = 0;
    for (struct node *node = parser.post; node != NULL; node = node->next_post)
        count++;
    struct path *paths = arena_alloc(params->arena, count * sizeof *paths);
    if (paths == NULL) {
        error_budget(params->error);
        return NULL;
    }
    count = 0;
    for (struct node *node = parser.post; node != NULL; node = node->next_post) {
        if (!check_path(&parser, node))
            return NULL;
        paths[count++] = node->path;
    }
    const struct path **sorted;
    if (!check_overlap(&parser, paths, count, &sorted))
        return NULL;
    struct expr_projection *projection = projection_build(params->arena, count, sorted);
    if (projection == NULL)
        error_budget(params->error);
    return projection;
}

struct expr_projection *expr_projection_of_names(struct arena *arena, struct error *error,
                                                 size_t count, const struct slice *names)
{
    if (!legacy_count_check(count, error))
        return NULL;
    struct path_step *steps = arena_zalloc(arena, count + 1, sizeof *steps);
    struct path *paths = arena_alloc(arena, (count + 1) * sizeof *paths);
    if (steps == NULL || paths == NULL) {
        error_budget(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        steps[i].name = names[i];
        paths[i] = (struct path){&steps[i], 1};
    }
    const struct path **sorted = paths_sort(arena, paths, count);
    struct expr_projection *projection =
        sorted == NULL ? NULL : projection_build(arena, count, sorted);
    if (projection == NULL) {
        error_budget(error);
        return NULL;
    }
    for (size_t i = 1; i < count; i++) {
        if (path_equal(*sorted[i - 1], *sorted[i])) {
            error_validation(error,
                             "One or more parameter values were invalid: Duplicate value in "
                             "attribute name: %.*s",
                             SLICE_FMT(sorted[i]->steps[0].name));
            return NULL;
        }
    }
    return projection;
}

// ---- Running ---------------------------------------------------------------------------

static struct slice step_value(const struct path_step *step, struct slice container)
{
    enum value_type type = value_type(container);
    if (step->name.ptr == NULL)
        return type == VALUE_L ? value_at(container, step->index) : VALUE_NONE;
    return type == VALUE_M ? value_get(container, step->name) : VALUE_NONE;
}

// Whether the node selects anything of the value.
static bool node_finds(const struct projection_node *node, struct slice value)
{
    if (value.len == 0 || node->child == NULL)
        return value.len != 0;
    for (const struct projection_node *child = node->child; child != NULL; child = child->next) {
        if (node_finds(child, step_value(&child->step, value)))
            return true;
    }
    return false;
}

static void project_children(const struct projection_node *node, struct slice value,
                             struct value_builder *builder)
{
    for (const struct projection_node *child = node->child; child != NULL; child = child->next) {
        struct slice part = step_value(&child->step, value);
        if (!node_finds(child, part))
            continue;
        if (child->step.name.ptr != NULL)
            value_name(builder, child->step.name);
        if (child->child == NULL) {
            value_put(builder, part);
            continue;
        }
        // What was found decides the kind of container: the children are all of that kind.
        if (value_type(part) == VALUE_M)
            value_open_map(builder);
        else
            value_open_list(builder);
        project_children(child, part, builder);
        value_close(builder);
    }
}

void expr_project(const struct expr_projection *projection, struct slice item,
                  struct value_builder *builder)
{
    value_open_map(builder);
    if (item.len != 0)
        project_children(&projection->root, item, builder);
    value_close(builder);
}

bool expr_projection_each(const struct expr_projection *projection,
                          bool (*visit)(void *context, struct slice attribute), void *context)
{
    const struct projection_node *node = projection->root.child;
    for (; node != NULL; node = node->next) {
        if (!visit(context, node->step.name))
            return false;
    }
    return true;
}

bool expr_projection_nests(const struct expr_projection *projection, struct slice attribute)
{
    const struct projection_node *node = projection->root.child;
    while (node != NULL && !slice_equal(node->step.name, attribute))
        node = node->next;
    return node != NULL && node->child != NULL;
}
