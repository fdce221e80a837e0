// SET and REMOVE as an update of expr.
//
// set_add() and set_delete() become ADD and DELETE. A sum may have any number of operands, where an
// UpdateExpression has two.
#include "partiql/partiql_internal.h"

// ---- Values of SET ------------------------------------------------------------------------------

static struct expr_node *make_operand(struct expr_builder *b, const struct pql_node *node);

static bool is_sum(const struct pql_node *node)
{
    return node->kind == NODE_PLUS || node->kind == NODE_MINUS;
}

// Adds the operands of a sum to the chain so far, which has no parentheses: a - (b - c) is
// a - b + c. `minus` tells which sign the first of them has.
static struct expr_node *add_sum(struct expr_builder *b, struct expr_node *chain,
                                 const struct pql_node *node, bool minus)
{
    if (is_sum(node)) {
        chain = add_sum(b, chain, node->first, minus);
        return add_sum(b, chain, node->last, minus != (node->kind == NODE_MINUS));
    }
    pql_count(b, chain == NULL ? 0 : 3); // the sign
    struct expr_node *operand = make_operand(b, node);
    return chain == NULL ? operand : expr_test(b, minus ? OP_MINUS : OP_PLUS, chain, operand);
}

static struct expr_node *refuse_sum(struct expr_builder *b, const char *function,
                                    const struct pql_node *node)
{
    if (is_sum(node->first) && strcmp(function, "if_not_exists") == 0)
        return pql_refuse(b,
                          "Operator or function requires a document path; operator or function: "
                          "%s",
                          function);
    return pql_refuse_type(b, slice_str(function), "N");
}

static struct expr_node *refuse_function(struct expr_builder *b, const struct pql_node *call)
{
    enum expr_op op = pql_function(call->name);
    return op == OP_UNKNOWN
               ? pql_unknown_function(b, call)
               : pql_refuse(b, "The function is not allowed in an update expression; function: %s",
                            expr_op_text(op));
}

static struct expr_node *make_call(struct expr_builder *b, const struct pql_node *node)
{
    bool append = pql_word_is(node->name, "list_append");
    if (!append && !pql_word_is(node->name, "if_not_exists"))
        return refuse_function(b, node);
    const char *name = append ? "list_append" : "if_not_exists";
    if (node->count != 2)
        return pql_refuse_count(b, name, node->count);
    if (is_sum(node->first) || is_sum(node->last))
        return refuse_sum(b, name, node);
    pql_count(b, strlen(name) + 4); // parentheses and a comma
    struct expr_node *first = make_operand(b, node->first);
    return expr_test(b, append ? OP_APPEND : OP_DEFAULT, first, make_operand(b, node->last));
}

static struct expr_node *make_operand(struct expr_builder *b, const struct pql_node *node)
{
    if (node->kind == NODE_PATH || pql_is_constant(node))
        return pql_leaf(b, node);
    switch (node->kind) {
    case NODE_CALL:
        return make_call(b, node);
    case NODE_PLUS:
    case NODE_MINUS:
        return add_sum(b, NULL, node, false);
    case NODE_POSITIVE:
    case NODE_NEGATE:
        return pql_refuse_count(b, pql_node_name(node->kind), 1);
    case NODE_MISSING:
        return pql_refuse(b, "MISSING must be compared using IS operator");
    default:
        return pql_refuse(b, "Unsupported operator in Update Expression. Operator: %s",
                          pql_node_name(node->kind));
    }
}

// ---- Sets ---------------------------------------------------------------------------------------

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

// The set of SET a = set_add(a, <<…>>).
static struct expr_node *make_set(struct expr_builder *b, const struct pql_change *change,
                                  const char *function)
{
    const struct pql_node *call = change->value;
    if (call->count != 2)
        return pql_refused(
            b, pql_error_at(b->error, call->token, "%s must have exactly two arguments", function));
    if (call->first->kind != NODE_PATH || !path_same(call->first->path, change->target->path))
        return pql_refused(
            b, pql_error_at(b->error, call->token,
                            "The first argument to %s must equal the assignment value", function));
    bool constant = pql_is_constant(call->last);
    struct slice value;
    if (constant && !pql_value(b->arena, call->last, &value, b->error))
        return pql_refused(b, false);
    if (constant && (value_type(value) == VALUE_SS || value_type(value) == VALUE_NS ||
                     value_type(value) == VALUE_BS))
        return pql_leaf(b, call->last);
    // The service points at the first one.
    return pql_refused(b, pql_error_at(b->error, call->first->token,
                                       "The second argument to %s must be a value with type SET",
                                       function));
}

// ---- Changes ------------------------------------------------------------------------------------

static enum expr_action action_of(const struct pql_change *change)
{
    if (change->value == NULL)
        return ACTION_REMOVE;
    if (change->value->kind == NODE_CALL && pql_word_is(change->value->name, "set_add"))
        return ACTION_ADD;
    if (change->value->kind == NODE_CALL && pql_word_is(change->value->name, "set_delete"))
        return ACTION_DELETE;
    return ACTION_SET;
}

static struct expr_node *make_value(struct expr_builder *b, const struct pql_change *change)
{
    switch (action_of(change)) {
    case ACTION_ADD:
        return make_set(b, change, "SET_ADD");
    case ACTION_DELETE:
        return make_set(b, change, "SET_DELETE");
    case ACTION_REMOVE:
        return NULL;
    default:
        return make_operand(b, change->value);
    }
}

// They come section by section, as in an UpdateExpression: of several mistakes the first is told.
struct expr_update *pql_compile_changes(struct arena *arena, const struct pql_change *changes,
                                        struct error *error)
{
    static const size_t sections[] = {5, 8, 5, 8}; // " SET ", " REMOVE ", " ADD ", " DELETE "
    static const size_t between[] = {3, 0, 1, 1};  // a path and its value
    struct pql_builder b = pql_builder(arena, error);
    size_t count = 0;
    for (const struct pql_change *change = changes; change != NULL; change = change->next)
        count++;
    struct expr_change *made = arena_zalloc(arena, count, sizeof(*made));
    if (made == NULL)
        return error_no_memory(error);
    size_t at = 0;
    for (enum expr_action action = ACTION_SET; action <= ACTION_DELETE; action++) {
        size_t first = at;
        for (const struct pql_change *change = changes; change != NULL; change = change->next) {
            if (action_of(change) != action)
                continue;
            struct path path = change->target->path;
            pql_count(&b.expr, (at == first ? sections[action] : 2) + between[action]);
            pql_count_path(&b.expr, path);
            made[at++] = (struct expr_change){action, path, make_value(&b.expr, change)};
        }
    }
    return pql_fits(&b, false) ? expr_build_update(&b.expr, count, made) : NULL;
}
