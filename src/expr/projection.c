// ProjectionExpression and AttributesToGet: which parts of an item to return.
//
// The paths become a tree of places, so that two paths into one map give one map. A map or
// list appears in the result only if something in it was found; elements taken from a
// list close up, in the order of the list. Recursion is as deep as a path: LIMIT_NESTING.
#include "expr/expr_internal.h"

struct expr_projection *projection_build(struct arena *arena, size_t count,
                                         const struct path *const *sorted)
{
    struct expr_projection *projection = arena_zalloc(arena, 1, sizeof *projection);
    struct place *root = arena_alloc(arena, sizeof *root);
    if (projection == NULL || root == NULL || !places_build(arena, root, sorted, count, NULL, NULL))
        return NULL;
    projection->places = root;
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

struct expr_projection *projection_compile(struct parser *parser)
{
    struct expr_params *params = parser->params;
    if (!check_words(parser))
        return NULL;
    size_t count = 0;
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post)
        count++;
    struct path *paths = arena_alloc(params->arena, count * sizeof *paths);
    if (paths == NULL)
        return error_no_memory(params->error);
    count = 0;
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post) {
        if (!check_path(parser, node))
            return NULL;
        paths[count++] = node->path;
    }
    const struct path **sorted;
    if (!check_overlap(parser, paths, count, &sorted))
        return NULL;
    struct expr_projection *projection = projection_build(params->arena, count, sorted);
    if (projection == NULL)
        error_budget(params->error);
    return projection;
}

struct expr_projection *expr_compile_projection(struct expr_params *params, struct slice text)
{
    struct parser parser;
    if (!parser_init(&parser, params, text, EXPR_PROJECTION) || !projection_parse(&parser))
        return NULL;
    return projection_compile(&parser);
}

struct expr_projection *expr_projection_of_names(struct arena *arena, struct error *error,
                                                 size_t count, const struct slice *names)
{
    if (!legacy_count_check(count, error))
        return NULL;
    struct path_step *steps = arena_zalloc(arena, count + 1, sizeof *steps);
    struct path *paths = arena_alloc(arena, (count + 1) * sizeof *paths);
    if (steps == NULL || paths == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        steps[i].name = names[i];
        paths[i] = (struct path){&steps[i], 1};
    }
    const struct path **sorted = paths_sort(arena, paths, count);
    struct expr_projection *projection =
        sorted == NULL ? NULL : projection_build(arena, count, sorted);
    if (projection == NULL)
        return error_no_memory(error);
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

// Whether anything at the place or below it is wanted and was found.
static bool finds(const struct place *place)
{
    if (place->found.len == 0 || place->child == NULL)
        return place->found.len != 0;
    for (const struct place *child = place->child; child != NULL; child = child->next) {
        if (finds(child))
            return true;
    }
    return false;
}

static void project_children(const struct place *place, struct value_builder *builder,
                             struct steps *steps)
{
    for (const struct place *child = place->child; child != NULL; child = child->next) {
        steps_add(steps, 1);
        if (!finds(child))
            continue;
        if (child->step.name.ptr != NULL)
            value_name(builder, child->step.name);
        if (child->child == NULL) {
            steps_bytes(steps, child->found.len);
            value_put(builder, child->found);
            continue;
        }
        // What was found decides the kind of container: the children are all of that kind.
        if (value_type(child->found) == VALUE_M)
            value_open_map(builder);
        else
            value_open_list(builder);
        project_children(child, builder, steps);
        value_close(builder);
    }
}

void expr_project(const struct expr_projection *projection, struct slice item,
                  struct value_builder *builder, struct steps *steps)
{
    value_open_map(builder);
    places_find(projection->places, item, steps);
    project_children(projection->places, builder, steps);
    value_close(builder);
}

bool expr_projection_each(const struct expr_projection *projection,
                          bool (*visit)(void *context, struct slice attribute), void *context)
{
    const struct place *place = projection->places->child;
    for (; place != NULL; place = place->next) {
        if (!visit(context, place->step.name))
            return false;
    }
    return true;
}

bool expr_projection_nests(const struct expr_projection *projection, struct slice attribute)
{
    const struct place *place = projection->places->child;
    while (place != NULL && !slice_equal(place->step.name, attribute))
        place = place->next;
    return place != NULL && place->child != NULL;
}
