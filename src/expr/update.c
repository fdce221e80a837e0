// UpdateExpression: from text to actions. apply.c runs them.
//
//   update  = section+
//   section = SET path "=" value ("," …)* | REMOVE path ("," …)*
//           | ADD path :value ("," …)*    | DELETE path :value ("," …)*
// The right side of SET becomes terms in postfix.
#include "expr/expr_internal.h"

// An update in the making.
struct update_builder {
    struct parser *parser;
    size_t count;
    struct clause *clauses;
    unsigned sections;    // of a text: a bit for each one seen
    const char *repeated; // the first section seen twice
    size_t term_count;
    struct term *terms;
};

static const char *const section_names[] = {
    [ACTION_SET] = "SET",
    [ACTION_REMOVE] = "REMOVE",
    [ACTION_ADD] = "ADD",
    [ACTION_DELETE] = "DELETE",
};

// ---- Syntax ------------------------------------------------------------------------

static bool clause_parse(struct update_builder *builder, struct clause *clause)
{
    struct parser *parser = builder->parser;
    clause->path = parser_path(parser);
    if (clause->path == NULL)
        return false;
    if (clause->kind == ACTION_REMOVE)
        return true;
    if (clause->kind != ACTION_SET) {
        clause->value = parser_value(parser);
        return clause->value != NULL;
    }
    if (parser_peek(parser) != TOKEN_EQ)
        return parser_syntax(parser, parser->at);
    parser->at++;
    struct expr_node *last = clause->path; // the newest in evaluation order
    clause->last = parser_operand(parser);
    clause->first = last->next_post;
    return clause->last != NULL;
}

static bool section_parse(struct update_builder *builder, enum expr_action kind)
{
    struct parser *parser = builder->parser;
    unsigned bit = 1u << kind;
    if ((builder->sections & bit) != 0 && builder->repeated == NULL)
        builder->repeated = section_names[kind];
    builder->sections |= bit;
    do {
        parser->at++; // the keyword, or the comma
        struct clause *clause = &builder->clauses[builder->count++];
        *clause = (struct clause){.kind = kind};
        if (!clause_parse(builder, clause))
            return false;
    } while (parser_peek(parser) == TOKEN_COMMA);
    return true;
}

static bool update_parse(struct update_builder *builder)
{
    struct parser *parser = builder->parser;
    // Every clause begins with a keyword or a comma.
    builder->clauses =
        arena_alloc(parser->params->arena, parser->token_count * sizeof *builder->clauses);
    if (builder->clauses == NULL)
        return error_budget(parser->params->error);
    do {
        enum token_kind kind = parser_peek(parser);
        if (kind < TOKEN_SET || kind > TOKEN_DELETE)
            return parser_syntax(parser, parser->at);
        if (!section_parse(builder, (enum expr_action)(kind - TOKEN_SET)))
            return false;
    } while (parser_peek(parser) != TOKEN_END);
    return true;
}

// ---- Checks -------------------------------------------------------------------------

// Of the types that are no operands of ADD or DELETE, as their message calls them.
static const char *const long_type_names[VALUE_TYPES] = {
    [VALUE_S] = "STRING",  [VALUE_N] = "NUMBER", [VALUE_B] = "BINARY", [VALUE_BOOL] = "BOOLEAN",
    [VALUE_NULL] = "NULL", [VALUE_L] = "LIST",   [VALUE_M] = "MAP",
};

// ADD takes numbers and sets, DELETE takes sets.
static bool check_operand(struct update_builder *builder, const struct clause *clause)
{
    enum value_type type = value_type(clause->value->value);
    if (type == VALUE_SS || type == VALUE_NS || type == VALUE_BS ||
        (type == VALUE_N && clause->kind == ACTION_ADD))
        return true;
    return parser_error(builder->parser,
                        "Incorrect operand type for operator or function; operator: %s, operand "
                        "type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
                        section_names[clause->kind], long_type_names[type],
                        section_names[clause->kind]);
}

// All nodes of these kinds, given as bits.
static bool check_nodes(struct parser *parser, unsigned kinds)
{
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post) {
        if ((kinds >> node->kind & 1) != 0 && !check_node(parser, node))
            return false;
    }
    return true;
}

static bool check_clauses(struct update_builder *builder)
{
    for (size_t i = 0; i < builder->count; i++) {
        if (builder->clauses[i].value != NULL && !check_operand(builder, &builder->clauses[i]))
            return false;
    }
    return check_nodes(builder->parser, 1u << NODE_CALL | 1u << NODE_OPERATOR);
}

// ---- Program -------------------------------------------------------------------------

static struct term term_of(const struct expr_node *node)
{
    struct term term = {.kind = TERM_PATH, .wanted = VALUE_TYPES};
    if (node->user != NULL)
        term.wanted = node->user->op == OP_APPEND ? VALUE_L : VALUE_N;
    if (node->kind == NODE_PATH) {
        term.path = node->path;
    } else if (node->kind == NODE_VALUE) {
        term.kind = TERM_VALUE;
        term.value = node->value;
    } else if (node->op == OP_DEFAULT) {
        term.kind = TERM_DEFAULT;
        term.path = node->args->path;
    } else {
        term.kind = node->op == OP_APPEND ? TERM_APPEND
                    : node->op == OP_PLUS ? TERM_PLUS
                                          : TERM_MINUS;
    }
    return term;
}

// The path of if_not_exists() is part of its term, not a term: it may be missing.
static bool is_default_path(const struct expr_node *node)
{
    return node->kind == NODE_PATH && node->tested;
}

static void terms_build(struct update_builder *builder, const struct clause *clause,
                        struct action *action)
{
    action->terms = &builder->terms[builder->term_count];
    const struct expr_node *node = clause->first;
    for (;; node = node->next_post) {
        if (!is_default_path(node)) {
            builder->terms[builder->term_count++] = term_of(node);
            action->term_count++;
        }
        if (node == clause->last)
            return;
    }
}

// Tells the arguments of functions and operators what is expected of them; counts the nodes.
static size_t mark_arguments(struct parser *parser)
{
    size_t nodes = 0;
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post) {
        nodes++;
        if (node->kind != NODE_CALL && node->kind != NODE_OPERATOR)
            continue;
        if (node->op == OP_DEFAULT) {
            node->args->tested = true;
            continue;
        }
        for (struct expr_node *arg = node->args; arg != NULL; arg = arg->next)
            arg->user = node;
    }
    return nodes;
}

static bool term_reads(const struct term *term)
{
    return term->kind == TERM_PATH || term->kind == TERM_DEFAULT;
}

// The paths of the actions in their order, then those that their terms read.
static size_t collect_paths(const struct expr_update *update, struct path *paths)
{
    size_t count = 0;
    for (; count < update->action_count; count++)
        paths[count] = update->actions[count].path;
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        for (size_t j = 0; j < action->term_count; j++) {
            if (term_reads(&action->terms[j]))
                paths[count++] = action->terms[j].path;
        }
    }
    return count;
}

static void note_places(struct expr_update *update, struct place **places)
{
    size_t count = update->action_count;
    for (size_t i = 0; i < update->action_count; i++) {
        struct action *action = &update->actions[i];
        action->place = places[i];
        for (size_t j = 0; j < action->term_count; j++) {
            if (term_reads(&action->terms[j]))
                action->terms[j].place = places[count++];
        }
    }
}

// A value that stands at the path of an action has as many levels above it as the path has steps.
// One that is moved has had those of its own path.
static bool action_deepens(const struct action *action)
{
    size_t above = action->path.count;
    for (size_t i = 0; i < action->term_count; i++) {
        const struct term *term = &action->terms[i];
        bool moved = term->kind == TERM_PATH || term->kind == TERM_DEFAULT;
        if ((moved && term->path.count < above) ||
            (term->kind == TERM_VALUE && above + value_depth(term->value) > LIMIT_NESTING))
            return true;
    }
    return action->value.len > 0 && above + value_depth(action->value) > LIMIT_NESTING;
}

bool expr_update_deepens(const struct expr_update *update)
{
    return update->deepens;
}

bool update_places(struct arena *arena, struct expr_update *update)
{
    for (size_t i = 0; i < update->action_count && !update->deepens; i++)
        update->deepens = action_deepens(&update->actions[i]);
    size_t room = update->action_count + 1;
    for (size_t i = 0; i < update->action_count; i++)
        room += update->actions[i].term_count;
    struct path *paths = arena_alloc(arena, room * sizeof *paths);
    struct place **places = arena_alloc(arena, room * sizeof(*places));
    update->order = arena_alloc(arena, room * sizeof(*update->order));
    update->places = arena_alloc(arena, sizeof *update->places);
    if (paths == NULL || places == NULL || update->order == NULL || update->places == NULL)
        return false;
    size_t count = collect_paths(update, paths);
    const struct path **sorted = paths_sort(arena, paths, count);
    if (sorted == NULL || !places_build(arena, update->places, sorted, count, paths, places))
        return false;
    note_places(update, places);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t which = (size_t)(sorted[i] - paths);
        if (which < update->action_count)
            update->order[at++] = &update->actions[which];
    }
    return true;
}

static struct expr_update *update_build(struct update_builder *builder,
                                        const struct path *const *sorted)
{
    struct expr_params *params = builder->parser->params;
    struct expr_update *update = arena_zalloc(params->arena, 1, sizeof *update);
    struct action *actions = arena_zalloc(params->arena, builder->count, sizeof *actions);
    size_t nodes = mark_arguments(builder->parser);
    builder->terms = arena_alloc(params->arena, nodes * sizeof *builder->terms);
    struct expr_projection *touched = projection_build(params->arena, builder->count, sorted);
    if (update == NULL || actions == NULL || builder->terms == NULL || touched == NULL)
        return error_no_memory(params->error);
    for (size_t i = 0; i < builder->count; i++) {
        const struct clause *clause = &builder->clauses[i];
        actions[i].kind = clause->kind;
        actions[i].path = clause->path->path;
        if (clause->value != NULL)
            actions[i].value = clause->value->value;
        if (clause->kind == ACTION_SET)
            terms_build(builder, clause, &actions[i]);
    }
    *update = (struct expr_update){.action_count = builder->count, .actions = actions};
    update->touched = touched;
    if (!update_places(params->arena, update))
        return error_no_memory(params->error);
    return update;
}

static struct expr_update *update_check(struct update_builder *builder)
{
    struct parser *parser = builder->parser;
    if (!check_words(parser))
        return NULL;
    if (builder->repeated != NULL) {
        parser_error(parser, "The \"%s\" section can only be used once in an update expression;",
                     builder->repeated);
        return NULL;
    }
    if (!check_nodes(parser, 1u << NODE_PATH))
        return NULL;
    struct path *paths = arena_alloc(parser->params->arena, builder->count * sizeof *paths);
    if (paths == NULL)
        return error_no_memory(parser->params->error);
    for (size_t i = 0; i < builder->count; i++)
        paths[i] = builder->clauses[i].path->path;
    const struct path **sorted;
    if (!check_overlap(parser, paths, builder->count, &sorted) ||
        !check_nodes(parser, 1u << NODE_VALUE) || !check_clauses(builder))
        return NULL;
    return update_build(builder, sorted);
}

struct expr_update *update_compile(struct parser *parser, size_t count, struct clause *clauses)
{
    struct update_builder builder = {.parser = parser, .count = count, .clauses = clauses};
    return update_check(&builder);
}

struct expr_update *expr_compile_update(struct expr_params *params, struct slice text)
{
    struct parser parser;
    struct update_builder builder = {.parser = &parser};
    if (!parser_init(&parser, params, text, EXPR_UPDATE) || !update_parse(&builder))
        return NULL;
    return update_check(&builder);
}

// ---- Questions ------------------------------------------------------------------------

static bool path_begins(struct path path, struct slice attribute)
{
    return slice_equal(path.steps[0].name, attribute);
}

bool expr_update_writes(const struct expr_update *update, struct slice attribute)
{
    for (size_t i = 0; i < update->action_count; i++) {
        if (path_begins(update->actions[i].path, attribute))
            return true;
    }
    return false;
}

bool expr_update_reads(const struct expr_update *update, struct slice attribute)
{
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        bool whole = action->path.count == 1 &&
                     (action->kind == ACTION_SET || action->kind == ACTION_REMOVE);
        if (!whole && path_begins(action->path, attribute))
            return true;
        for (size_t j = 0; j < action->term_count; j++) {
            struct path path = action->terms[j].path;
            if (path.count > 0 && path_begins(path, attribute))
                return true;
        }
    }
    return false;
}

bool expr_update_nests(const struct expr_update *update, struct slice attribute)
{
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        if (action->path.count > 1 && path_begins(action->path, attribute))
            return true;
        for (size_t j = 0; j < action->term_count; j++) {
            struct path path = action->terms[j].path;
            if (path.count > 1 && path_begins(path, attribute))
                return true;
        }
    }
    return false;
}

bool expr_update_each(const struct expr_update *update,
                      bool (*visit)(void *context, struct slice attribute), void *context)
{
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        if (!visit(context, action->path.steps[0].name))
            return false;
        for (size_t j = 0; j < action->term_count; j++) {
            struct path path = action->terms[j].path;
            if (path.count > 0 && !visit(context, path.steps[0].name))
                return false;
        }
    }
    return true;
}

bool expr_update_removes(const struct expr_update *update)
{
    for (size_t i = 0; i < update->action_count; i++) {
        enum expr_action kind = update->actions[i].kind;
        if (kind != ACTION_REMOVE && kind != ACTION_DELETE)
            return false;
    }
    return true;
}

// The names and indexes of a path, each after the first (or, of an operand, each) with as much more
// as `each` says.
static size_t path_size(struct path path, size_t each, bool operand)
{
    size_t size = operand ? 1 + each : 0;
    for (size_t i = 0; i < path.count; i++) {
        size_t index = path.steps[i].index;
        size += i > 0 ? each : 0;
        size += path.steps[i].name.len;
        for (bool digit = path.steps[i].name.ptr == NULL; digit; digit = (index /= 10) > 0)
            size++;
    }
    return size;
}

static size_t term_size(const struct term *term)
{
    enum { EACH_STEP = 14 };
    static const size_t own[] = {
        [TERM_PATH] = 0,    [TERM_VALUE] = 0, [TERM_DEFAULT] = 39,
        [TERM_APPEND] = 37, [TERM_PLUS] = 34, [TERM_MINUS] = 37,
    };
    size_t size = own[term->kind];
    if (term->kind == TERM_VALUE)
        size += value_size(term->value);
    return size + (term_reads(term) ? path_size(term->path, EACH_STEP, true) : 0);
}

size_t expr_update_size(const struct expr_update *update)
{
    enum { WHOLE = 3, CLAUSE = 19, REMOVAL = 1, EACH_STEP = 4 };
    size_t size = WHOLE;
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        bool removal = action->kind == ACTION_REMOVE || action->kind == ACTION_DELETE;
        size += (removal ? REMOVAL : CLAUSE) + path_size(action->path, EACH_STEP, false);
        if (action->kind == ACTION_ADD)
            size += value_size(action->value);
        for (size_t j = 0; j < action->term_count; j++)
            size += term_size(&action->terms[j]);
    }
    return size;
}

static enum value_type action_type(const struct action *action)
{
    if (action->kind == ACTION_ADD || action->kind == ACTION_DELETE)
        return value_type(action->value);
    if (action->kind == ACTION_REMOVE)
        return VALUE_TYPES;
    const struct term *last = &action->terms[action->term_count - 1];
    switch (last->kind) {
    case TERM_VALUE:
        return value_type(last->value);
    case TERM_PLUS:
    case TERM_MINUS:
        return VALUE_N;
    case TERM_APPEND:
        return VALUE_L;
    case TERM_DEFAULT:
        // What it falls back on, if that is a constant, stands right before it.
        return last[-1].kind == TERM_VALUE ? value_type(last[-1].value) : VALUE_TYPES;
    default:
        return VALUE_TYPES;
    }
}

enum value_type expr_update_type(const struct expr_update *update, struct slice attribute)
{
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = &update->actions[i];
        if (action->path.count == 1 && path_begins(action->path, attribute))
            return action_type(action);
    }
    return VALUE_TYPES;
}

const struct expr_projection *expr_update_touched(const struct expr_update *update)
{
    return update->touched;
}
