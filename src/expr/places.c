// The places in an item that a program speaks of, as a tree of path steps, and finding all of them
// at once.
//
// Map entries are sorted by name, and so are the children of a node; list indexes are in order. So
// one walk over a container, side by side with the children, finds every one of them: an item
// is walked once, however many names the program has, and names that are missing cost nothing
// more. Recursion is as deep as a path: LIMIT_NESTING.
#include "expr/expr_internal.h"

// ---- Building ------------------------------------------------------------------------

static bool step_equal(const struct path_step *a, const struct path_step *b)
{
    return a->index == b->index && (a->name.ptr == NULL) == (b->name.ptr == NULL) &&
           slice_equal(a->name, b->name);
}

// Paths come in order, so only the last child can be the one a step is looking for.
static struct place *place_add(struct arena *arena, struct place *place, struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        struct place *child = place->last_child;
        if (child == NULL || !step_equal(&child->step, &path.steps[i])) {
            child = arena_zalloc(arena, 1, sizeof *child);
            if (child == NULL)
                return NULL;
            child->step = path.steps[i];
            child->parent = place;
            *(place->child == NULL ? &place->child : &place->last_child->next) = child;
            place->last_child = child;
        }
        place = child;
    }
    return place;
}

bool places_build(struct arena *arena, struct place *root, const struct path *const *sorted,
                  size_t count, const struct path *paths, struct place **out)
{
    *root = (struct place){.child = NULL};
    for (size_t i = 0; i < count; i++) {
        struct place *place = place_add(arena, root, *sorted[i]);
        if (place == NULL)
            return false;
        if (out != NULL)
            out[sorted[i] - paths] = place;
    }
    return true;
}

bool places_of(struct arena *arena, struct place *root, const struct path *paths, size_t count,
               struct place **out)
{
    const struct path **sorted = paths_sort(arena, paths, count);
    return sorted != NULL && places_build(arena, root, sorted, count, paths, out);
}

// ---- Finding --------------------------------------------------------------------------

static void find_nothing(struct place *place)
{
    place->found = VALUE_NONE;
    for (struct place *child = place->child; child != NULL; child = child->next)
        find_nothing(child);
}

static bool is_name(const struct place *place)
{
    return place->step.name.ptr != NULL;
}

// The children behind those that a map, or a list, cannot have; indexes come before names.
static struct place *skip_indexes(struct place *child)
{
    for (; child != NULL && !is_name(child); child = child->next)
        find_nothing(child);
    return child;
}

static struct place *find_in_list(struct place *child, struct slice list, struct steps *steps)
{
    struct value_iter iter;
    value_iter_init(&iter, list);
    size_t index = 0;
    for (; child != NULL && !is_name(child) && value_iter_next(&iter); index++) {
        if (child->step.index != index)
            continue;
        places_find(child, iter.value, steps);
        child = child->next;
    }
    steps_add(steps, index);
    return child;
}

static struct place *find_in_map(struct place *child, struct slice map, struct steps *steps)
{
    struct value_iter iter;
    value_iter_init(&iter, map);
    size_t left = iter.left;
    child = skip_indexes(child);
    while (child != NULL && value_iter_next(&iter)) {
        int order;
        while ((order = value_name_compare(child->step.name, iter.name)) < 0) {
            find_nothing(child);
            child = child->next;
            if (child == NULL)
                break;
        }
        if (order == 0) {
            places_find(child, iter.value, steps);
            child = child->next;
        }
    }
    steps_add(steps, left - iter.left);
    return child;
}

void places_find(struct place *place, struct slice value, struct steps *steps)
{
    place->found = value;
    struct place *child = place->child;
    if (child == NULL)
        return;
    if (value.len > 0 && value.ptr[0] == VALUE_TAG_M)
        child = find_in_map(child, value, steps);
    else if (value.len > 0 && value.ptr[0] == VALUE_TAG_L)
        child = find_in_list(child, value, steps);
    // Whatever the container ended before, or is no place for.
    for (; child != NULL; child = child->next)
        find_nothing(child);
}

// ---- Places for others ------------------------------------------------------------------

struct expr_paths {
    struct place root;
    struct place **places;
};

struct expr_paths *expr_paths_new(struct arena *arena, size_t count, const struct path *paths)
{
    struct expr_paths *made = arena_alloc(arena, sizeof *made);
    if (made == NULL)
        return NULL;
    made->places = arena_alloc(arena, (count + 1) * sizeof(*made->places));
    if (made->places == NULL || !places_of(arena, &made->root, paths, count, made->places))
        return NULL;
    return made;
}

void expr_paths_find(struct expr_paths *paths, struct slice item, struct steps *steps)
{
    places_find(&paths->root, item, steps);
}

struct slice expr_paths_value(const struct expr_paths *paths, size_t which)
{
    return paths->places[which]->found;
}
