// Parts of a statement as expressions: conditions become the text of a ConditionExpression with
// placeholders for every name and value, and expr compiles it. So PartiQL and the item operations
// agree on what a condition means, down to the messages.
//
// Parentheses are written only where they are needed, because expr refuses redundant ones.
#include "partiql/partiql_internal.h"

#include <stdio.h>

void pql_text_init(struct pql_text *text, struct arena *arena, struct error *error)
{
    *text = (struct pql_text){.arena = arena, .error = error};
    buf_init(&text->text, 1 << 20);
}

void pql_text_release(struct pql_text *text)
{
    buf_release(&text->text);
}

// ---- Placeholders -------------------------------------------------------------------------------

static bool grow(struct pql_text *text)
{
    size_t room = text->room * 2 + 16;
    struct slice *arrays[4] = {text->names, text->attributes, text->labels, text->values};
    size_t counts[4] = {text->name_count, text->name_count, text->value_count, text->value_count};
    for (size_t i = 0; i < COUNT_OF(arrays); i++) {
        struct slice *larger = arena_zalloc(text->arena, room, sizeof(*larger));
        if (larger == NULL)
            return error_budget(text->error);
        if (counts[i] > 0)
            memcpy(larger, arrays[i], counts[i] * sizeof(*larger));
        arrays[i] = larger;
    }
    text->names = arrays[0];
    text->attributes = arrays[1];
    text->labels = arrays[2];
    text->values = arrays[3];
    text->room = room;
    return true;
}

// "#7" or ":7", written and kept.
static bool put_label(struct pql_text *text, char sigil, size_t number, struct slice *kept)
{
    char label[24];
    int len = snprintf(label, sizeof(label), "%c%zu", sigil, number);
    buf_add(&text->text, label, (size_t)len);
    if (kept == NULL)
        return true;
    *kept = arena_copy(text->arena, slice_of(label, (size_t)len));
    return kept->ptr != NULL || error_budget(text->error);
}

bool pql_put_attribute(struct pql_text *text, struct slice name)
{
    for (size_t i = 0; i < text->name_count; i++) {
        if (slice_equal(text->attributes[i], name))
            return put_label(text, '#', i, NULL);
    }
    if (text->name_count == text->room && !grow(text))
        return false;
    size_t at = text->name_count++;
    text->attributes[at] = name;
    return put_label(text, '#', at, &text->names[at]);
}

bool pql_put_value(struct pql_text *text, struct slice value)
{
    if (text->value_count == text->room && !grow(text))
        return false;
    size_t at = text->value_count++;
    text->values[at] = value;
    return put_label(text, ':', at, &text->labels[at]);
}

bool pql_put_path(struct pql_text *text, struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        if (path.steps[i].name.ptr == NULL) {
            buf_printf(&text->text, "[%zu]", path.steps[i].index);
            continue;
        }
        if (i > 0)
            buf_text(&text->text, ".");
        if (!pql_put_attribute(text, path.steps[i].name))
            return false;
    }
    return true;
}

bool pql_text_params(struct pql_text *text, struct expr_params *params)
{
    if (!expr_params_init(params, text->arena, text->error))
        return false;
    if (text->name_count > 0 &&
        !expr_params_names(params, text->name_count, text->names, text->attributes))
        return false;
    if (text->value_count == 0)
        return true;
    struct buf encoded;
    struct value_builder builder;
    buf_init(&encoded, LIMIT_BODY * 2);
    value_builder_init(&builder, &encoded);
    value_open_map(&builder);
    for (size_t i = 0; i < text->value_count; i++) {
        value_name(&builder, text->labels[i]);
        value_put(&builder, text->values[i]);
    }
    (void)value_close(&builder);
    struct slice values = {NULL, 0};
    if (!encoded.failed)
        values = arena_copy(text->arena, buf_view(&encoded));
    value_builder_release(&builder);
    buf_release(&encoded);
    return values.ptr != NULL ? expr_params_values(params, values) : error_budget(text->error);
}

bool pql_plain_error(struct error *error)
{
    const char *colon = strstr(error->message, ": ");
    if (strncmp(error->message, "Invalid ", 8) == 0 && colon != NULL)
        error->message = colon + 2;
    return false;
}

struct expr_condition *pql_compile_condition(struct pql_text *text)
{
    struct expr_params params;
    if (!pql_text_params(text, &params))
        return NULL;
    struct slice copy = arena_copy(text->arena, buf_view(&text->text));
    if (copy.ptr == NULL || text->text.failed) {
        (void)error_budget(text->error);
        return NULL;
    }
    struct expr_condition *condition = expr_compile_condition(&params, copy, EXPR_CONDITION);
    if (condition == NULL)
        (void)pql_plain_error(text->error);
    return condition;
}

// ---- Conditions ---------------------------------------------------------------------------------

enum function_use { FUNCTION_CONDITION, FUNCTION_OPERAND };

static const struct {
    const char *name;
    enum function_use use;
} functions[] = {
    {"attribute_exists", FUNCTION_CONDITION}, {"attribute_not_exists", FUNCTION_CONDITION},
    {"attribute_type", FUNCTION_CONDITION},   {"begins_with", FUNCTION_CONDITION},
    {"contains", FUNCTION_CONDITION},         {"size", FUNCTION_OPERAND},
};

// The function of a condition by its name, in any case; NULL if there is none.
static const char *find_function(struct slice name, enum function_use use)
{
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        if (functions[i].use == use && pql_word_is(name, functions[i].name))
            return functions[i].name;
    }
    return NULL;
}

bool pql_unknown_function(struct error *error, struct slice name)
{
    char lower[64];
    size_t len = name.len < sizeof(lower) ? name.len : sizeof(lower);
    for (size_t i = 0; i < len; i++)
        lower[i] =
            (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] + 32 : name.ptr[i]);
    return error_validation(error, "Unrecognized function: %.*s", (int)len, lower);
}

static bool put_call(struct pql_text *text, const char *name, const struct pql_node *node)
{
    if (node->count == 0)
        return error_validation(text->error,
                                "Incorrect number of operands for operator or function; operator "
                                "or function: %s, number of operands: 0",
                                name);
    buf_text(&text->text, name);
    buf_text(&text->text, "(");
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (part != node->first)
            buf_text(&text->text, ", ");
        if (!pql_put_operand(text, part))
            return false;
    }
    buf_text(&text->text, ")");
    return true;
}

static bool refuse_operand(struct pql_text *text, const struct pql_node *node)
{
    switch (node->kind) {
    case NODE_MISSING:
        return error_validation(text->error, "MISSING must be compared using IS operator");
    case NODE_CALL:
        if (find_function(node->name, FUNCTION_CONDITION) == NULL)
            return pql_unknown_function(text->error, node->name);
        return error_validation(text->error,
                                "Incorrect operand type for operator or function; operator or "
                                "function: %.*s, operand type: BOOL",
                                SLICE_FMT(node->name));
    default:
        return error_validation(text->error,
                                "Unsupported operator in Condition Expression. Operator: %s",
                                pql_node_name(node->kind));
    }
}

bool pql_put_operand(struct pql_text *text, const struct pql_node *node)
{
    struct slice value;
    if (node->kind == NODE_PATH)
        return pql_put_path(text, node->path);
    if (pql_is_constant(node))
        return pql_value(text->arena, node, &value, text->error) && pql_put_value(text, value);
    const char *function =
        node->kind == NODE_CALL ? find_function(node->name, FUNCTION_OPERAND) : NULL;
    return function != NULL ? put_call(text, function, node) : refuse_operand(text, node);
}

// The operands with what stands before, between and behind them.
static bool put_operands(struct pql_text *text, const struct pql_node *node, const char *first,
                         const char *next, const char *end)
{
    const char *between = first;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (part != node->first) {
            buf_text(&text->text, between);
            between = next;
        }
        if (!pql_put_operand(text, part))
            return false;
    }
    buf_text(&text->text, end);
    return true;
}

// IS MISSING and IS NULL are functions in expressions.
static bool put_is(struct pql_text *text, const struct pql_node *node)
{
    if (node->first->kind != NODE_PATH)
        return error_validation(text->error, "The left hand side argument to IS must be a Variable "
                                             "Reference, Literal, or Path");
    if (node->kind == NODE_IS_MISSING)
        return put_call(text, "attribute_not_exists", node);
    buf_text(&text->text, "attribute_type(");
    if (!pql_put_path(text, node->first->path))
        return false;
    buf_text(&text->text, ", ");
    // The type's name, NULL, as an encoded string.
    static const uint8_t null_name[] = {VALUE_TAG_S, 4, 'N', 'U', 'L', 'L'};
    if (!pql_put_value(text, slice_of(null_name, sizeof(null_name))))
        return false;
    buf_text(&text->text, ")");
    return true;
}

static bool put_part(struct pql_text *text, const struct pql_node *part, bool parenthesise)
{
    if (parenthesise)
        buf_text(&text->text, "(");
    if (!pql_put_condition(text, part))
        return false;
    if (parenthesise)
        buf_text(&text->text, ")");
    return true;
}

static bool put_chain(struct pql_text *text, const struct pql_node *node)
{
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (part != node->first)
            buf_text(&text->text, node->kind == NODE_AND ? " AND " : " OR ");
        if (!put_part(text, part, node->kind == NODE_AND && part->kind == NODE_OR))
            return false;
    }
    return true;
}

static bool put_not(struct pql_text *text, const struct pql_node *node)
{
    const struct pql_node *part = node->first;
    // Two in a row are none.
    if (part->kind == NODE_NOT)
        return pql_put_condition(text, part->first);
    if (part->kind == NODE_PATH || part->kind == NODE_VALUE)
        return error_validation(text->error, "The argument to NOT must be a Type or Expression");
    buf_text(&text->text, "NOT ");
    return put_part(text, part, part->kind == NODE_AND || part->kind == NODE_OR);
}

static bool put_function(struct pql_text *text, const struct pql_node *node)
{
    const char *function = find_function(node->name, FUNCTION_CONDITION);
    if (function != NULL)
        return put_call(text, function, node);
    if (find_function(node->name, FUNCTION_OPERAND) == NULL)
        return pql_unknown_function(text->error, node->name);
    return error_validation(text->error,
                            "WHERE clause must contain an expression that resolves to a boolean");
}

// A function compared with true or false, which an expression cannot do: the function, or its
// opposite. NULL if the node is something else.
static const struct pql_node *compared_function(const struct pql_node *node, bool *negated)
{
    if (node->kind != NODE_EQ && node->kind != NODE_NE)
        return NULL;
    const struct pql_node *call = node->first->kind == NODE_CALL ? node->first : node->last;
    const struct pql_node *value = call == node->first ? node->last : node->first;
    if (call->kind != NODE_CALL || find_function(call->name, FUNCTION_CONDITION) == NULL ||
        value->kind != NODE_VALUE || value_type(value->value) != VALUE_BOOL)
        return NULL;
    *negated = value_bool(value->value) == (node->kind == NODE_NE);
    return call;
}

static bool put_comparison(struct pql_text *text, const struct pql_node *node)
{
    bool negated;
    const struct pql_node *call = compared_function(node, &negated);
    if (call != NULL) {
        buf_text(&text->text, negated ? "NOT " : "");
        return put_function(text, call);
    }
    char between[8];
    (void)snprintf(between, sizeof(between), " %s ", pql_node_name(node->kind));
    return put_operands(text, node, between, "", "");
}

bool pql_put_condition(struct pql_text *text, const struct pql_node *node)
{
    switch (node->kind) {
    case NODE_AND:
    case NODE_OR:
        return put_chain(text, node);
    case NODE_NOT:
        return put_not(text, node);
    case NODE_CALL:
        return put_function(text, node);
    case NODE_EQ:
    case NODE_NE:
    case NODE_LT:
    case NODE_LE:
    case NODE_GT:
    case NODE_GE:
        return put_comparison(text, node);
    case NODE_BETWEEN:
        return put_operands(text, node, " BETWEEN ", " AND ", "");
    case NODE_IN:
        return put_operands(text, node, " IN (", ", ", ")");
    case NODE_IS_MISSING:
    case NODE_IS_NULL:
        return put_is(text, node);
    case NODE_VALUE:
    case NODE_LIST:
    case NODE_BAG:
    case NODE_MAP:
    case NODE_PATH:
        return error_validation(
            text->error, "WHERE clause must contain an expression that resolves to a boolean");
    default:
        return refuse_operand(text, node);
    }
}
