// SET and REMOVE as the text of an UpdateExpression.
//
// set_add() and set_delete() become ADD and DELETE. A sum may have any number of operands, where an
// UpdateExpression has two.
#include "partiql/partiql_internal.h"

enum section { SECTION_SET, SECTION_REMOVE, SECTION_ADD, SECTION_DELETE, SECTIONS };

// ---- Sums ---------------------------------------------------------------------------------------

static bool refuse_operator(struct pql_text *text, const struct pql_node *node)
{
    return error_validation(text->error, "Unsupported operator in Update Expression. Operator: %s",
                            pql_node_name(node->kind));
}

static bool put_operand(struct pql_text *text, const struct pql_node *node);

static bool is_sum(const struct pql_node *node)
{
    return node->kind == NODE_PLUS || node->kind == NODE_MINUS;
}

// A sum as a chain without parentheses: `minus` tells that it stands behind a minus sign.
static bool put_sum(struct pql_text *text, const struct pql_node *node, bool minus)
{
    if (!is_sum(node))
        return put_operand(text, node);
    if (!put_sum(text, node->first, minus))
        return false;
    bool subtract = minus != (node->kind == NODE_MINUS);
    buf_text(&text->text, subtract ? " - " : " + ");
    return put_sum(text, node->last, subtract);
}

// ---- Values of SET ------------------------------------------------------------------------------

static bool refuse_sum(struct pql_text *text, const char *function, const struct pql_node *node)
{
    if (is_sum(node->first) && strcmp(function, "if_not_exists") == 0)
        return error_validation(text->error,
                                "Operator or function requires a document path; operator or "
                                "function: %s",
                                function);
    return error_validation(text->error,
                            "Incorrect operand type for operator or function; operator or "
                            "function: %s, operand type: N",
                            function);
}

static bool put_call(struct pql_text *text, const struct pql_node *node)
{
    static const char *const others[] = {"attribute_exists", "attribute_not_exists",
                                         "attribute_type",   "begins_with",
                                         "contains",         "size"};
    const char *name = pql_word_is(node->name, "list_append")     ? "list_append"
                       : pql_word_is(node->name, "if_not_exists") ? "if_not_exists"
                                                                  : NULL;
    for (size_t i = 0; name == NULL && i < COUNT_OF(others); i++) {
        if (pql_word_is(node->name, others[i]))
            return error_validation(
                text->error, "The function is not allowed in an update expression; function: %s",
                others[i]);
    }
    if (name == NULL)
        return pql_unknown_function(text->error, node->name);
    if (node->count != 2)
        return error_validation(text->error,
                                "Incorrect number of operands for operator or function; operator "
                                "or function: %s, number of operands: %zu",
                                name, node->count);
    if (is_sum(node->first) || is_sum(node->last))
        return refuse_sum(text, name, node);
    buf_text(&text->text, name);
    buf_text(&text->text, "(");
    if (!put_operand(text, node->first))
        return false;
    buf_text(&text->text, ", ");
    if (!put_operand(text, node->last))
        return false;
    buf_text(&text->text, ")");
    return true;
}

static bool put_operand(struct pql_text *text, const struct pql_node *node)
{
    struct slice value;
    switch (node->kind) {
    case NODE_PATH:
        return pql_put_path(text, node->path);
    case NODE_VALUE:
    case NODE_LIST:
    case NODE_BAG:
    case NODE_MAP:
        return pql_value(text->arena, node, &value, text->error) && pql_put_value(text, value);
    case NODE_CALL:
        return put_call(text, node);
    case NODE_PLUS:
    case NODE_MINUS:
        return put_sum(text, node, false);
    case NODE_POSITIVE:
    case NODE_NEGATE:
        return error_validation(text->error,
                                "Incorrect number of operands for operator or function; operator "
                                "or function: %s, number of operands: 1",
                                pql_node_name(node->kind));
    case NODE_MISSING:
        return error_validation(text->error, "MISSING must be compared using IS operator");
    default:
        return refuse_operator(text, node);
    }
}

static bool path_same(struct path a, struct path b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        bool named = a.steps[i].name.ptr != NULL;
        if (named != (b.steps[i].name.ptr != NULL) ||
            (named ? !slice_equal(a.steps[i].name, b.steps[i].name)
                   : a.steps[i].index != b.steps[i].index))
            return false;
    }
    return true;
}

// SET a = set_add(a, <<…>>): the path and the set.
static bool put_set_change(struct pql_text *text, const struct pql_change *change,
                           const char *function)
{
    const struct pql_node *call = change->value;
    struct slice value;
    if (call->count != 2)
        return error_validation(text->error,
                                "Incorrect number of operands for operator or function; operator "
                                "or function: %s, number of operands: %zu",
                                function, call->count);
    if (call->first->kind != NODE_PATH || !path_same(call->first->path, change->target->path))
        return error_validation(
            text->error, "The first argument to %s must equal the assignment value", function);
    bool constant = pql_is_constant(call->last);
    if (constant && !pql_value(text->arena, call->last, &value, text->error))
        return false;
    if (!constant || (value_type(value) != VALUE_SS && value_type(value) != VALUE_NS &&
                      value_type(value) != VALUE_BS))
        return pql_error_at(text->error, call->last->token,
                            "The second argument to %s must be a value with type SET", function);
    if (!pql_put_path(text, change->target->path))
        return false;
    buf_text(&text->text, " ");
    return pql_put_value(text, value);
}

// ---- Sections -----------------------------------------------------------------------------------

static enum section section_of(const struct pql_change *change)
{
    if (change->value == NULL)
        return SECTION_REMOVE;
    if (change->value->kind == NODE_CALL && pql_word_is(change->value->name, "set_add"))
        return SECTION_ADD;
    if (change->value->kind == NODE_CALL && pql_word_is(change->value->name, "set_delete"))
        return SECTION_DELETE;
    return SECTION_SET;
}

static bool put_change(struct pql_text *text, const struct pql_change *change)
{
    switch (section_of(change)) {
    case SECTION_ADD:
        return put_set_change(text, change, "SET_ADD");
    case SECTION_DELETE:
        return put_set_change(text, change, "SET_DELETE");
    case SECTION_REMOVE:
        return pql_put_path(text, change->target->path);
    default:
        if (!pql_put_path(text, change->target->path))
            return false;
        buf_text(&text->text, " = ");
        return put_operand(text, change->value);
    }
}

static bool put_changes(struct pql_text *text, const struct pql_change *changes)
{
    static const char *const names[] = {" SET ", " REMOVE ", " ADD ", " DELETE "};
    for (enum section section = SECTION_SET; section < SECTIONS; section++) {
        bool first = true;
        for (const struct pql_change *change = changes; change != NULL; change = change->next) {
            if (section_of(change) != section)
                continue;
            buf_text(&text->text, first ? names[section] : ", ");
            first = false;
            if (!put_change(text, change))
                return false;
        }
    }
    return true;
}

static struct expr_update *compile(struct pql_text *text, const struct pql_change *changes)
{
    struct expr_params params;
    if (!put_changes(text, changes) || !pql_text_params(text, &params))
        return NULL;
    struct slice copy = arena_copy(text->arena, buf_view(&text->text));
    if (copy.ptr == NULL || text->text.failed) {
        (void)error_budget(text->error);
        return NULL;
    }
    params.long_sums = true;
    struct expr_update *update = expr_compile_update(&params, copy);
    if (update == NULL)
        (void)pql_plain_error(text->error);
    return update;
}

struct expr_update *pql_compile_changes(struct arena *arena, const struct pql_change *changes,
                                        struct error *error)
{
    struct pql_text text;
    pql_text_init(&text, arena, error);
    struct expr_update *update = compile(&text, changes);
    pql_text_release(&text);
    return update;
}
