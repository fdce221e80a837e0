// The checks between syntax and program, in DynamoDB's order.
//
// First check_words() goes through the whole text once: words and functions as they come. Then the
// compilers call check_node() in the order of evaluation, so that of several mistakes the one in
// the leftmost condition is told.
#include "expr/expr_internal.h"

#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>

// ---- First pass -----------------------------------------------------------------------

enum { INDEX_DIGITS = 10, INDEX_MAX = 2147483647 };

static bool index_read(struct slice digits, size_t *out)
{
    if (digits.len > INDEX_DIGITS)
        return false;
    size_t value = 0;
    for (size_t i = 0; i < digits.len; i++)
        value = value * 10 + (size_t)(digits.ptr[i] - '0');
    *out = value;
    return value <= INDEX_MAX;
}

static bool index_error(struct parser *parser, struct slice index)
{
    return parser_error(parser, "List index is not within the allowable range; index: [%.*s]",
                        SLICE_FMT(index));
}

// A constructor's path has no tokens, but may be wrong in the same way.
static bool words_of_steps(struct parser *parser, struct path path)
{
    char digits[24];
    for (size_t i = 0; i < path.count; i++) {
        size_t index = path.steps[i].index;
        if (path.steps[i].name.ptr == NULL && index > INDEX_MAX)
            return index_error(
                parser, slice_of(digits, (size_t)snprintf(digits, sizeof digits, "%zu", index)));
    }
    return true;
}

static bool words_of_path(struct parser *parser, const struct expr_node *node)
{
    size_t levels = node->path.count;
    if (!words_of_steps(parser, node->path))
        return false;
    for (size_t i = node->token; i < node->end; i++) {
        struct slice word = parser_text(parser, i);
        enum token_kind kind = parser->tokens[i].kind;
        size_t index = 0;
        if (kind == TOKEN_NAME && reserved_word(word))
            return parser_error(parser,
                                "Attribute name is a reserved keyword; reserved keyword: %.*s",
                                SLICE_FMT(word));
        if (kind == TOKEN_INDEX && !index_read(word, &index))
            return index_error(parser, word);
        levels += kind == TOKEN_NAME || kind == TOKEN_NAME_REF || kind == TOKEN_INDEX;
    }
    if (levels > LIMIT_NESTING)
        return parser_error(
            parser, "The document path has too many nesting levels; nesting levels: %zu", levels);
    return true;
}

static bool words_of_call(struct parser *parser, const struct expr_node *node)
{
    if (node->op == OP_UNKNOWN)
        return parser_error(parser, "Invalid function name; function: %.*s",
                            SLICE_FMT(parser_text(parser, node->token)));
    const char *name = op_rows[node->op].text;
    enum expr_place place = op_rows[node->op].place;
    bool of_update = place == EXPR_PLACE_UPDATE || place == EXPR_PLACE_UPDATE_OPERAND;
    if (of_update != (parser->kind == EXPR_UPDATE))
        return parser_error(parser, "The function is not allowed in %s expression; function: %s",
                            of_update ? "a condition" : "an update", name);
    bool misused = node->operand ? place == EXPR_PLACE_CONDITION || place == EXPR_PLACE_UPDATE
                                 : place == EXPR_PLACE_CONDITION_OPERAND;
    if (misused)
        return parser_error(parser,
                            "The function is not allowed to be used this way in an expression; "
                            "function: %s",
                            name);
    return true;
}

bool check_words(struct parser *parser)
{
    for (const struct expr_node *node = parser->created; node != NULL; node = node->next_created) {
        if (node->kind == NODE_PATH && !words_of_path(parser, node))
            return false;
        if (node->kind == NODE_CALL && !words_of_call(parser, node))
            return false;
    }
    return true;
}

// ---- Leaves -------------------------------------------------------------------------

bool check_path(struct parser *parser, struct expr_node *node)
{
    if (node->path.count > 0)
        return true;
    struct path_step *steps =
        arena_alloc(parser->params->arena, (node->end - node->token) * sizeof *steps);
    if (steps == NULL)
        return error_budget(parser->params->error);
    size_t count = 0;
    for (size_t i = node->token; i < node->end; i++) {
        struct slice word = parser_text(parser, i);
        struct path_step step = {VALUE_NONE, 0};
        switch (parser->tokens[i].kind) {
        case TOKEN_NAME:
            step.name = word;
            break;
        case TOKEN_NAME_REF:
            if (!params_name(parser->params, word, &step.name))
                return parser_error(parser,
                                    "An expression attribute name used in the document path is "
                                    "not defined; attribute name: %.*s",
                                    SLICE_FMT(word));
            break;
        case TOKEN_INDEX:
            ensure(index_read(word, &step.index));
            break;
        default:
            continue;
        }
        steps[count++] = step;
    }
    node->path = (struct path){steps, count};
    return true;
}

bool check_value(struct parser *parser, struct expr_node *node)
{
    if (node->value.len > 0)
        return true;
    struct slice word = parser_text(parser, node->token);
    if (!params_value(parser->params, word, &node->value))
        return parser_error(parser,
                            "An expression attribute value used in expression is not defined; "
                            "attribute value: %.*s",
                            SLICE_FMT(word));
    return true;
}

// ---- Operands ------------------------------------------------------------------------

enum value_type node_type(const struct expr_node *node)
{
    if (node->kind == NODE_VALUE)
        return value_type(node->value);
    switch (node->kind == NODE_PATH ? OP_UNKNOWN : node->op) {
    case OP_SIZE:
    case OP_PLUS:
    case OP_MINUS:
        return VALUE_N;
    case OP_APPEND:
        return VALUE_L;
    default:
        return VALUE_TYPES;
    }
}

enum {
    TYPES_SCALAR = 1 << VALUE_S | 1 << VALUE_N | 1 << VALUE_B,
    TYPES_BYTES = 1 << VALUE_S | 1 << VALUE_B,
    TYPES_UNSIZED = 1 << VALUE_N | 1 << VALUE_BOOL | 1 << VALUE_NULL,
};

// What is asked of the operands of an operator or function.
struct operand_rule {
    bool path;      // the first one is a path
    bool distinct;  // the first one, if it is a path, is none of the others
    unsigned types; // what each of them may be, as bits; 0 for anything
};

static const struct operand_rule operand_rules[] = {
    [OP_EQ] = {false, true, 0},
    [OP_NE] = {false, true, 0},
    [OP_LT] = {false, true, TYPES_SCALAR},
    [OP_LE] = {false, true, TYPES_SCALAR},
    [OP_GT] = {false, true, TYPES_SCALAR},
    [OP_GE] = {false, true, TYPES_SCALAR},
    [OP_BETWEEN] = {false, true, TYPES_SCALAR},
    [OP_IN] = {false, true, 0},
    [OP_PLUS] = {false, false, 1 << VALUE_N},
    [OP_MINUS] = {false, false, 1 << VALUE_N},
    [OP_EXISTS] = {true, false, 0},
    [OP_MISSING] = {true, false, 0},
    [OP_TYPE] = {false, true, 0},
    [OP_BEGINS] = {false, true, TYPES_BYTES},
    [OP_CONTAINS] = {false, true, 0},
    [OP_SIZE] = {false, false, ~(unsigned)TYPES_UNSIZED},
    [OP_DEFAULT] = {true, true, 0},
    [OP_APPEND] = {false, false, 1 << VALUE_L},
};

static bool type_error(struct parser *parser, const struct expr_node *node, const char *type)
{
    return parser_error(parser,
                        "Incorrect operand type for operator or function; operator or function: "
                        "%s, operand type: %s",
                        op_rows[node->op].text, type);
}

static bool check_types(struct parser *parser, const struct expr_node *node, unsigned allowed)
{
    for (const struct expr_node *arg = node->args; allowed != 0 && arg != NULL; arg = arg->next) {
        enum value_type type = node_type(arg);
        if (type != VALUE_TYPES && (allowed >> type & 1) == 0)
            return type_error(parser, node, value_type_name(type));
    }
    return true;
}

static bool check_needs_path(struct parser *parser, const struct expr_node *node)
{
    if (node->args->kind == NODE_PATH)
        return true;
    return parser_error(parser,
                        "Operator or function requires a document path; operator or function: %s",
                        op_rows[node->op].text);
}

static bool check_distinct(struct parser *parser, const struct expr_node *node)
{
    const struct expr_node *first = node->args;
    if (first->kind != NODE_PATH)
        return true;
    for (const struct expr_node *arg = first->next; arg != NULL; arg = arg->next) {
        if (arg->kind != NODE_PATH || !path_equal(first->path, arg->path))
            continue;
        char *text = path_text(parser->params->arena, first->path);
        if (text == NULL)
            return error_budget(parser->params->error);
        return parser_error(parser,
                            "The first operand must be distinct from the remaining operands for "
                            "this operator or function; operator: %s, first operand: %s",
                            op_rows[node->op].text, text);
    }
    return true;
}

static bool check_attribute_type(struct parser *parser, const struct expr_node *node)
{
    const struct expr_node *second = node->args->next;
    enum value_type type = node_type(second);
    if (type == VALUE_TYPES)
        return type_error(parser, node, "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
    if (type != VALUE_S)
        return type_error(parser, node, value_type_name(type));
    struct slice name = value_bytes(second->value);
    if (value_type_from_name(name) != VALUE_TYPES)
        return true;
    return parser_error(parser,
                        "Invalid attribute type name found; type: %.*s, valid types: "
                        "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
                        SLICE_FMT(name));
}

// A scalar as DynamoDB's messages show it.
static char *scalar_text(struct arena *arena, struct slice value)
{
    struct slice bytes = value_bytes(value);
    char digits[NUMBER_TEXT_MAX];
    switch (value_type(value)) {
    case VALUE_N:
        bytes = slice_of(digits, number_to_text(bytes, digits));
        return arena_printf(arena, "{N:%.*s}", SLICE_FMT(bytes));
    case VALUE_B:
        return arena_printf(arena, "{B:java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]}", bytes.len,
                            bytes.len);
    default:
        return arena_printf(arena, "{S:%.*s}", SLICE_FMT(bytes));
    }
}

static bool check_between(struct parser *parser, const struct expr_node *node)
{
    const struct expr_node *low = node->args->next;
    const struct expr_node *high = low->next;
    if (low->kind != NODE_VALUE || high->kind != NODE_VALUE)
        return true;
    const char *rule = "same data type for lower and upper bounds";
    if (value_type(low->value) == value_type(high->value)) {
        if (value_compare(low->value, high->value) <= 0)
            return true;
        rule = "upper bound to be greater than or equal to lower bound";
    }
    char *low_text = scalar_text(parser->params->arena, low->value);
    char *high_text = scalar_text(parser->params->arena, high->value);
    if (low_text == NULL || high_text == NULL)
        return error_budget(parser->params->error);
    return parser_error(parser,
                        "The BETWEEN operator requires %s; lower bound operand: AttributeValue: "
                        "%s, upper bound operand: AttributeValue: %s",
                        rule, low_text, high_text);
}

// The number of operands is right; their kinds and types may not be.
static bool check_operands(struct parser *parser, const struct expr_node *node)
{
    const struct operand_rule *rule = &operand_rules[node->op];
    if (rule->path && !check_needs_path(parser, node))
        return false;
    // Of a BETWEEN that is wrong in both ways, the service blames the types.
    bool types_first = node->op == OP_BETWEEN;
    if ((types_first && !check_types(parser, node, rule->types)) ||
        (rule->distinct && !check_distinct(parser, node)) ||
        (!types_first && !check_types(parser, node, rule->types)))
        return false;
    return node->op == OP_BETWEEN ? check_between(parser, node)
           : node->op == OP_TYPE  ? check_attribute_type(parser, node)
                                  : true;
}

bool check_node(struct parser *parser, struct expr_node *node)
{
    switch (node->kind) {
    case NODE_PATH:
        return check_path(parser, node);
    case NODE_VALUE:
        return check_value(parser, node);
    case NODE_BRANCH:
        return true;
    default:
        break;
    }
    if (++parser->operators > LIMIT_OPERATORS)
        return parser_error(parser,
                            "The expression contains too many operators; operator count: %zu",
                            parser->operators);
    size_t wanted = op_rows[node->op].operands;
    if (wanted != 0 && node->arg_count != wanted)
        return parser_error(parser,
                            "Incorrect number of operands for operator or function; operator or "
                            "function: %s, number of operands: %zu",
                            op_rows[node->op].text, node->arg_count);
    if (node->op == OP_IN && node->arg_count - 1 > LIMIT_IN_OPERANDS)
        return parser_error(parser,
                            "The IN operator is provided with too many operands; number of "
                            "operands: %zu",
                            node->arg_count - 1);
    return check_operands(parser, node);
}

bool check_tree(struct parser *parser)
{
    if (!check_words(parser))
        return false;
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post) {
        if (!check_node(parser, node))
            return false;
    }
    return true;
}

// ---- Paths --------------------------------------------------------------------------

// Indexes come before names, so that the children of one parent stand together by kind.
static int step_compare(const struct path_step *a, const struct path_step *b)
{
    if (a->name.ptr == NULL && b->name.ptr == NULL)
        return (a->index > b->index) - (a->index < b->index);
    if (a->name.ptr == NULL || b->name.ptr == NULL)
        return a->name.ptr == NULL ? -1 : 1;
    return slice_compare(a->name, b->name);
}

bool path_equal(struct path a, struct path b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        if (step_compare(&a.steps[i], &b.steps[i]) != 0)
            return false;
    }
    return true;
}

char *path_text(struct arena *arena, struct path path)
{
    char *text = arena_printf(arena, "[");
    for (size_t i = 0; text != NULL && i < path.count; i++) {
        const struct path_step *step = &path.steps[i];
        const char *comma = i == 0 ? "" : ", ";
        if (step->name.ptr == NULL)
            text = arena_printf(arena, "%s%s[%zu]", text, comma, step->index);
        else
            text = arena_printf(arena, "%s%s%.*s", text, comma, SLICE_FMT(step->name));
    }
    return text == NULL ? NULL : arena_printf(arena, "%s]", text);
}

enum relation { PATHS_APART, PATHS_OVERLAP, PATHS_CONFLICT };

static enum relation path_relation(struct path a, struct path b)
{
    for (size_t i = 0; i < a.count && i < b.count; i++) {
        if ((a.steps[i].name.ptr == NULL) != (b.steps[i].name.ptr == NULL))
            return PATHS_CONFLICT;
        if (step_compare(&a.steps[i], &b.steps[i]) != 0)
            return PATHS_APART;
    }
    return PATHS_OVERLAP;
}

static int path_compare(const void *left, const void *right)
{
    const struct path *a = *(const struct path *const *)left;
    const struct path *b = *(const struct path *const *)right;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = step_compare(&a->steps[i], &b->steps[i]);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

// Finds the pair the message names: the first path (in the order of the text) that
// meets an earlier one.
static bool overlap_error(struct parser *parser, const struct path *paths, size_t count,
                          enum relation relation)
{
    for (size_t j = 1; j < count; j++) {
        for (size_t i = 0; i < j; i++) {
            if (path_relation(paths[i], paths[j]) != relation)
                continue;
            char *one = path_text(parser->params->arena, paths[i]);
            char *two = path_text(parser->params->arena, paths[j]);
            if (one == NULL || two == NULL)
                return error_budget(parser->params->error);
            return parser_error(parser,
                                "Two document paths %s with each other; must remove or rewrite "
                                "one of these paths; path one: %s, path two: %s",
                                relation == PATHS_OVERLAP ? "overlap" : "conflict", one, two);
        }
    }
    return true;
}

const struct path **paths_sort(struct arena *arena, const struct path *paths, size_t count)
{
    const struct path **order = arena_alloc(arena, (count + 1) * sizeof(*order));
    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = &paths[i];
    qsort(order, count, sizeof(*order), path_compare);
    return order;
}

// In path order a path stands right before those it begins, and indexes right before
// names of the same parent: so neighbours tell whether anything is wrong at all.
bool check_overlap(struct parser *parser, const struct path *paths, size_t count,
                   const struct path ***sorted)
{
    const struct path **order = paths_sort(parser->params->arena, paths, count);
    if (order == NULL)
        return error_budget(parser->params->error);
    bool apart = true;
    for (size_t i = 1; i < count; i++)
        apart = apart && path_relation(*order[i - 1], *order[i]) == PATHS_APART;
    *sorted = order;
    return apart || (overlap_error(parser, paths, count, PATHS_OVERLAP) &&
                     overlap_error(parser, paths, count, PATHS_CONFLICT));
}
