// SET and REMOVE as the text of an UpdateExpression.
//
// set_add() and set_delete() become ADD and DELETE. Sums are folded first: an expression takes two
// operands, so what is constant in a longer sum is added up here.
#include "partiql/partiql_internal.h"

enum section { SECTION_SET, SECTION_REMOVE, SECTION_ADD, SECTION_DELETE, SECTIONS };

// ---- Sums ---------------------------------------------------------------------------------------

// A sum with its constants added up: at most two other terms, each with its sign.
struct sum {
    const struct pql_node *terms[2];
    bool minus[2];
    size_t count;
    bool has_constant;
    uint8_t constant[NUMBER_BYTES_MAX];
    size_t constant_len;
};

static bool refuse_operator(struct pql_text *text, const struct pql_node *node)
{
    return error_validation(text->error, "Unsupported operator in Update Expression. Operator: %s",
                            pql_node_name(node->kind));
}

static bool add_constant(struct pql_text *text, struct sum *sum, struct slice number, bool minus)
{
    if (!sum->has_constant)
        sum->constant_len = number_from_i64(0, sum->constant);
    sum->has_constant = true;
    uint8_t result[NUMBER_BYTES_MAX];
    size_t len;
    struct slice so_far = slice_of(sum->constant, sum->constant_len);
    enum number_status status =
        (minus ? number_subtract : number_add)(so_far, number, result, &len);
    if (status != NUMBER_OK)
        return error_validation(text->error, "%s",
                                status == NUMBER_PRECISION
                                    ? "DynamoDB only supports precision up to 38 digits"
                                    : "Number overflow. Attempting to store a number with "
                                      "magnitude larger than supported range");
    memcpy(sum->constant, result, len);
    sum->constant_len = len;
    return true;
}

static bool sum_add(struct pql_text *text, struct sum *sum, const struct pql_node *node, bool minus)
{
    if (node->kind == NODE_PLUS || node->kind == NODE_MINUS)
        return sum_add(text, sum, node->first, minus) &&
               sum_add(text, sum, node->last, minus != (node->kind == NODE_MINUS));
    if (node->kind == NODE_NEGATE)
        return sum_add(text, sum, node->first, !minus);
    if (node->kind == NODE_VALUE && value_type(node->value) == VALUE_N)
        return add_constant(text, sum, value_bytes(node->value), minus);
    if (sum->count == COUNT_OF(sum->terms))
        return refuse_operator(text, &(struct pql_node){.kind = NODE_PLUS});
    sum->terms[sum->count] = node;
    sum->minus[sum->count++] = minus;
    return true;
}

static bool put_constant(struct pql_text *text, const struct sum *sum)
{
    uint8_t encoded[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N, (uint8_t)sum->constant_len};
    memcpy(encoded + 2, sum->constant, sum->constant_len);
    struct slice copy = arena_copy(text->arena, slice_of(encoded, 2 + sum->constant_len));
    return copy.ptr != NULL ? pql_put_value(text, copy) : error_budget(text->error);
}

static bool put_operand(struct pql_text *text, const struct pql_node *node);

// One term of two, or a term and the constant; the first operand of an expression has no sign.
static bool put_sum(struct pql_text *text, const struct pql_node *node)
{
    struct sum sum = {.count = 0};
    if (!sum_add(text, &sum, node, false))
        return false;
    if (sum.count == 0)
        return put_constant(text, &sum);
    if (sum.count == 2 && !sum.has_constant && !(sum.minus[0] && sum.minus[1])) {
        size_t first = sum.minus[0] ? 1 : 0;
        if (!put_operand(text, sum.terms[first]))
            return false;
        buf_text(&text->text, sum.minus[1 - first] ? " - " : " + ");
        return put_operand(text, sum.terms[1 - first]);
    }
    if (sum.count != 1)
        return refuse_operator(text, node);
    if (!sum.has_constant) // a bare minus
        sum.constant_len = number_from_i64(0, sum.constant);
    if (sum.minus[0]) {
        if (!put_constant(text, &sum))
            return false;
        buf_text(&text->text, " - ");
        return put_operand(text, sum.terms[0]);
    }
    if (!put_operand(text, sum.terms[0]))
        return false;
    buf_text(&text->text, " + ");
    return put_constant(text, &sum);
}

// ---- Values of SET ------------------------------------------------------------------------------

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
        return error_validation(text->error, "Unrecognized function: %.*s", SLICE_FMT(node->name));
    if (node->count != 2)
        return error_validation(text->error,
                                "Incorrect number of operands for operator or function; operator "
                                "or function: %s, number of operands: %zu",
                                name, node->count);
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
    case NODE_NEGATE:
        return put_sum(text, node);
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
