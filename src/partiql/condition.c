// Conditions of a statement as conditions of expr. So PartiQL and the item operations agree on what
// a condition means, down to the messages.
#include "partiql/partiql_internal.h"

#include <stdarg.h>
#include <stdio.h>

// ---- Sizes --------------------------------------------------------------------------------------

static size_t digits_of(size_t number)
{
    size_t digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

void pql_count_name(struct expr_builder *b, struct slice name)
{
    struct pql_builder *own = (struct pql_builder *)b;
    size_t at = 0;
    while (at < own->name_count && !slice_equal(own->names[at], name))
        at++;
    pql_count(b, 1 + digits_of(at));
    if (at < own->name_count)
        return;
    if (own->name_count == own->name_room) {
        size_t room = own->name_room * 2 + 16;
        struct slice *names = arena_alloc(b->arena, room * sizeof(*names));
        b->failed = b->failed || names == NULL;
        if (names == NULL)
            return;
        if (own->name_count > 0)
            memcpy(names, own->names, own->name_count * sizeof(*names));
        own->names = names;
        own->name_room = room;
    }
    own->names[own->name_count++] = name;
}

void pql_count_path(struct expr_builder *b, struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        if (path.steps[i].name.ptr == NULL) {
            pql_count(b, 2 + digits_of(path.steps[i].index));
            continue;
        }
        pql_count(b, i > 0);
        pql_count_name(b, path.steps[i].name);
    }
}

bool pql_fits(struct pql_builder *b, bool tell_size)
{
    if (b->expr.failed || b->size <= LIMIT_EXPRESSION)
        return true;
    const char *why = "Expression size has exceeded the maximum allowed size;";
    if (!tell_size)
        return error_validation(b->expr.error, "%s", why);
    return error_validation(b->expr.error, "%s expression size: %zu", why, b->size);
}

struct expr_condition *pql_build_condition(struct pql_builder *b, struct expr_node *condition)
{
    return pql_fits(b, true) ? expr_build_condition(&b->expr, condition, EXPR_CONDITION) : NULL;
}

// ---- Operands -----------------------------------------------------------------------------------

enum expr_op pql_function(struct slice name)
{
    for (enum expr_op op = OP_EXISTS; op <= OP_SIZE; op++) {
        if (pql_word_is(name, expr_op_text(op)))
            return op;
    }
    return OP_UNKNOWN;
}

struct expr_node *pql_refused(struct expr_builder *b, bool refusal)
{
    ensure(!refusal);
    b->failed = true;
    return NULL;
}

struct expr_node *pql_refuse(struct expr_builder *b, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return pql_refused(b, error_validation(b->error, "%s", text));
}

struct expr_node *pql_unknown_function(struct expr_builder *b, const struct pql_node *call)
{
    char lower[64];
    struct slice name = call->name;
    size_t len = name.len < sizeof(lower) ? name.len : sizeof(lower);
    for (size_t i = 0; i < len; i++)
        lower[i] =
            (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] + 32 : name.ptr[i]);
    return pql_refused(
        b, pql_error_at(b->error, call->token, "Unrecognized function: %.*s", (int)len, lower));
}

struct expr_node *pql_refuse_count(struct expr_builder *b, const char *function, size_t count)
{
    return pql_refuse(b,
                      "Incorrect number of operands for operator or function; operator or "
                      "function: %s, number of operands: %zu",
                      function, count);
}

struct expr_node *pql_refuse_type(struct expr_builder *b, struct slice function, const char *type)
{
    return pql_refuse(b,
                      "Incorrect operand type for operator or function; operator or function: "
                      "%.*s, operand type: %s",
                      SLICE_FMT(function), type);
}

struct expr_node *pql_leaf(struct expr_builder *b, const struct pql_node *node)
{
    struct slice value;
    if (node->kind == NODE_PATH) {
        pql_count_path(b, node->path);
        return expr_path(b, node->path);
    }
    if (!pql_value(b->arena, node, &value, b->error))
        return pql_refused(b, false);
    pql_count(b, 1 + digits_of(((struct pql_builder *)b)->value_count++));
    return expr_value(b, value);
}

static struct expr_node *refuse_operand(struct expr_builder *b, const struct pql_node *node)
{
    if (node->kind == NODE_MISSING)
        return pql_refuse(b, "MISSING must be compared using IS operator");
    if (node->kind != NODE_CALL)
        return pql_refuse(b, "Unsupported operator in Condition Expression. Operator: %s",
                          pql_node_name(node->kind));
    return pql_function(node->name) == OP_UNKNOWN ? pql_unknown_function(b, node)
                                                  : pql_refuse_type(b, node->name, "BOOL");
}

static struct expr_node *make_operand(struct expr_builder *b, const struct pql_node *node);

// An operator or a function with the parts of the node as its operands.
static struct expr_node *make_call(struct expr_builder *b, enum expr_op op,
                                   const struct pql_node *node)
{
    struct expr_node *call = expr_call(b, op);
    bool function = op >= OP_EXISTS;
    pql_count(b, strlen(expr_op_text(op)) + 2);
    // What stands between the others: ", ", or the " AND " of BETWEEN; IN has parentheses, too.
    pql_count(b, function ? 2 * (node->count - 1) : 0);
    pql_count(b, op == OP_BETWEEN ? 5 : op == OP_IN ? 2 * (node->count - 1) : 0);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        expr_operand(b, call, make_operand(b, part));
    return call;
}

// What a comparison compares: a path, a constant or size().
static struct expr_node *make_operand(struct expr_builder *b, const struct pql_node *node)
{
    if (node->kind == NODE_PATH || pql_is_constant(node))
        return pql_leaf(b, node);
    if (node->kind != NODE_CALL || pql_function(node->name) != OP_SIZE)
        return refuse_operand(b, node);
    return node->count == 0 ? pql_refuse_count(b, "size", 0) : make_call(b, OP_SIZE, node);
}

// ---- Conditions ---------------------------------------------------------------------------------

static struct expr_node *refuse_condition(struct expr_builder *b)
{
    return pql_refuse(b, "WHERE clause must contain an expression that resolves to a boolean");
}

static struct expr_node *is_of_type(struct expr_builder *b, const struct pql_node *path,
                                    enum value_type type)
{
    const char *name = value_type_name(type);
    uint8_t *encoded = arena_alloc(b->arena, 2 + strlen(name));
    b->failed = b->failed || encoded == NULL;
    if (encoded == NULL)
        return NULL;
    encoded[0] = VALUE_TAG_S;
    encoded[1] = (uint8_t)strlen(name);
    memcpy(encoded + 2, name, strlen(name));
    pql_count(b, strlen(expr_op_text(OP_TYPE)) + 2);
    pql_count(b, 2 + 1 + digits_of(((struct pql_builder *)b)->value_count++));
    return expr_test(b, OP_TYPE, pql_leaf(b, path),
                     expr_value(b, slice_of(encoded, 2 + strlen(name))));
}

// IS and the name of a type: functions in expressions, several for a type that has several.
static struct expr_node *make_is(struct expr_builder *b, const struct pql_node *node)
{
    if (node->first->kind != NODE_PATH)
        return pql_refuse(b, "The left hand side argument to IS must be a Variable Reference, "
                             "Literal, or Path");
    if (node->types == 0)
        return pql_refuse(b, "Unsupported operation: IsType");
    if (node->types == PQL_MISSING) {
        pql_count(b, strlen(expr_op_text(OP_MISSING)) + 2);
        return expr_test(b, OP_MISSING, pql_leaf(b, node->first), NULL);
    }
    struct expr_node *any = NULL;
    for (enum value_type type = 0; type < VALUE_TYPES; type++) {
        if ((node->types >> type & 1) == 0)
            continue;
        pql_count(b, any == NULL ? 0 : strlen(expr_op_text(OP_OR)) + 2);
        any = expr_join(b, OP_OR, any, is_of_type(b, node->first, type));
    }
    return any;
}

static struct expr_node *make_chain(struct expr_builder *b, enum expr_op op,
                                    const struct pql_node *node)
{
    struct expr_node *chain = NULL;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        pql_count(b, part == node->first ? 0 : strlen(expr_op_text(op)) + 2);
        pql_count(b, op == OP_AND && part->kind == NODE_OR ? 2 : 0); // parentheses
        chain = expr_join(b, op, chain, pql_condition(b, part));
    }
    return chain;
}

static struct expr_node *make_not(struct expr_builder *b, const struct pql_node *node)
{
    const struct pql_node *part = node->first;
    // Two in a row are none.
    if (part->kind == NODE_NOT)
        return pql_condition(b, part->first);
    if (part->kind == NODE_PATH || part->kind == NODE_VALUE)
        return pql_refuse(b, "The argument to NOT must be a Type or Expression");
    pql_count(b, 4 + (part->kind == NODE_AND || part->kind == NODE_OR ? 2 : 0));
    return expr_test(b, OP_NOT, pql_condition(b, part), NULL);
}

static struct expr_node *make_function(struct expr_builder *b, const struct pql_node *node)
{
    enum expr_op op = pql_function(node->name);
    if (op == OP_UNKNOWN)
        return pql_unknown_function(b, node);
    if (op == OP_SIZE)
        return refuse_condition(b);
    return node->count == 0 ? pql_refuse_count(b, expr_op_text(op), 0) : make_call(b, op, node);
}

// A function compared with true or false, which an expression cannot do: the function, or its
// opposite. NULL if the node is something else.
static const struct pql_node *compared_function(const struct pql_node *node, bool *negated)
{
    if (node->kind != NODE_EQ && node->kind != NODE_NE)
        return NULL;
    const struct pql_node *call = node->first->kind == NODE_CALL ? node->first : node->last;
    const struct pql_node *value = call == node->first ? node->last : node->first;
    if (call->kind != NODE_CALL || pql_function(call->name) == OP_UNKNOWN ||
        pql_function(call->name) == OP_SIZE || value->kind != NODE_VALUE ||
        value_type(value->value) != VALUE_BOOL)
        return NULL;
    *negated = value_bool(value->value) == (node->kind == NODE_NE);
    return call;
}

static struct expr_node *make_comparison(struct expr_builder *b, enum expr_op op,
                                         const struct pql_node *node)
{
    bool negated;
    const struct pql_node *call = compared_function(node, &negated);
    if (call == NULL)
        return make_call(b, op, node);
    struct expr_node *function = make_function(b, call);
    pql_count(b, negated ? 4 : 0);
    return negated ? expr_test(b, OP_NOT, function, NULL) : function;
}

struct expr_node *pql_condition(struct expr_builder *b, const struct pql_node *node)
{
    enum expr_op op = pql_node_op(node->kind);
    switch (node->kind) {
    case NODE_AND:
    case NODE_OR:
        return make_chain(b, op, node);
    case NODE_NOT:
        return make_not(b, node);
    case NODE_CALL:
        return make_function(b, node);
    case NODE_EQ:
    case NODE_NE:
        return make_comparison(b, op, node);
    case NODE_LT:
    case NODE_LE:
    case NODE_GT:
    case NODE_GE:
    case NODE_BETWEEN:
    case NODE_IN:
        return make_call(b, op, node);
    case NODE_IS:
        return make_is(b, node);
    default:
        return node->kind == NODE_PATH || pql_is_constant(node) ? refuse_condition(b)
                                                                : refuse_operand(b, node);
    }
}
