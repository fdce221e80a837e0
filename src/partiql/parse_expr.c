// Expressions of PartiQL, by recursive descent:
//
//   or         = and (OR and)*
//   and        = not (AND not)*
//   not        = NOT not | comparison
//   comparison = sum [op sum | [NOT] BETWEEN sum AND sum | [NOT] IN members | IS [NOT] kind]
//   sum        = product (("+" | "-" | "||") product)*
//   product    = unary (("*" | "/" | "%") unary)*
//   unary      = ("+" | "-") unary | primary
//   primary    = literal | "?" | path | call | "(" or ("," or)* ")" | list | bag | map
//
// Both the recursion and the tree it makes are bounded by PQL_DEPTH; AND and OR take all their
// parts side by side, so that a long chain is not deep. A minus before a number is folded into it.
#include "partiql/partiql_internal.h"

#include <stdarg.h>
#include <stdio.h>

static struct pql_node *parse_unary(struct pql_parser *parser);

const char *pql_node_name(enum pql_node_kind kind)
{
    static const char *const names[] = {
#define X(kind, text, op) text,
        PQL_NODE_LIST(X)
#undef X
    };
    return names[kind];
}

enum expr_op pql_node_op(enum pql_node_kind kind)
{
    static const enum expr_op ops[] = {
#define X(kind, text, op) op,
        PQL_NODE_LIST(X)
#undef X
    };
    return ops[kind];
}

// ---- Tokens -------------------------------------------------------------------------------------

bool pql_malformed(struct pql_parser *parser, const char *reason)
{
    return pql_error_at(parser->error, parser->token,
                        "Statement wasn't well formed, can't be processed: %s", reason);
}

bool pql_error_at(struct error *error, const struct pql_token *token, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return error_validation(error, "%s at %u:%u:%u", text, token->line, token->column, token->len);
}

static struct slice raw_text(const struct pql_parser *parser, const struct pql_token *token)
{
    return slice_of(parser->text.ptr + token->start, token->len);
}

bool pql_is_word(const struct pql_parser *parser, const char *keyword)
{
    return parser->token->kind == PQL_WORD && pql_word_is(raw_text(parser, parser->token), keyword);
}

bool pql_accept(struct pql_parser *parser, enum pql_kind kind)
{
    bool is = parser->token->kind == kind;
    parser->token += is;
    return is;
}

bool pql_accept_word(struct pql_parser *parser, const char *keyword)
{
    bool is = pql_is_word(parser, keyword);
    parser->token += is;
    return is;
}

bool pql_expect(struct pql_parser *parser, enum pql_kind kind, const char *reason)
{
    return pql_accept(parser, kind) || pql_malformed(parser, reason);
}

bool pql_expect_word(struct pql_parser *parser, const char *keyword)
{
    if (pql_accept_word(parser, keyword))
        return true;
    char reason[32];
    (void)snprintf(reason, sizeof(reason), "Expected %s", keyword);
    return pql_malformed(parser, reason);
}

bool pql_token_text(struct pql_parser *parser, const struct pql_token *token, struct slice *out)
{
    struct slice raw = raw_text(parser, token);
    if (token->kind != PQL_QUOTED && token->kind != PQL_STRING) {
        *out = raw;
        return true;
    }
    uint8_t quote = raw.ptr[0];
    struct slice inner = slice_of(raw.ptr + 1, raw.len - 2);
    if (memchr(inner.ptr, quote, inner.len) == NULL) {
        *out = inner;
        return true;
    }
    uint8_t *copy = arena_alloc(parser->arena, inner.len);
    if (copy == NULL)
        return error_budget(parser->error);
    size_t len = 0;
    for (size_t i = 0; i < inner.len; i++) {
        copy[len++] = inner.ptr[i];
        i += inner.ptr[i] == quote; // quotes come in pairs here
    }
    *out = slice_of(copy, len);
    return true;
}

bool pql_identifier(struct pql_parser *parser, struct slice *out)
{
    const struct pql_token *token = parser->token;
    bool bare = token->kind == PQL_WORD && !pql_reserved(raw_text(parser, token));
    if (!bare && token->kind != PQL_QUOTED)
        return pql_malformed(parser, "Expected identifier for simple path");
    if (!pql_token_text(parser, token, out))
        return false;
    if (out->len == 0)
        return error_validation(parser->error, "Path component cannot be an empty string");
    parser->token++;
    return true;
}

// ---- Nodes --------------------------------------------------------------------------------------

static struct pql_node *new_node(struct pql_parser *parser, enum pql_node_kind kind,
                                 const struct pql_token *token)
{
    struct pql_node *node = arena_zalloc(parser->arena, 1, sizeof(*node));
    if (node == NULL)
        return error_no_memory(parser->error);
    node->kind = kind;
    node->token = token;
    node->depth = 1;
    return node;
}

static bool too_deep(struct pql_parser *parser)
{
    return error_validation(parser->error, "Nesting Levels have exceeded supported limits");
}

// Takes the part as the node's last one. False if there is no part, or the tree is too deep.
static bool add_part(struct pql_parser *parser, struct pql_node *node, struct pql_node *part)
{
    if (part == NULL)
        return false;
    if (part->depth + 1 > node->depth)
        node->depth = part->depth + 1;
    if (node->depth > PQL_DEPTH)
        return too_deep(parser);
    *(node->first == NULL ? &node->first : &node->last->next) = part;
    node->last = part;
    node->count++;
    return true;
}

static struct pql_node *new_binary(struct pql_parser *parser, enum pql_node_kind kind,
                                   const struct pql_token *token, struct pql_node *left,
                                   struct pql_node *right)
{
    struct pql_node *node = new_node(parser, kind, token);
    return node != NULL && add_part(parser, node, left) && add_part(parser, node, right) ? node
                                                                                         : NULL;
}

static struct pql_node *new_unary(struct pql_parser *parser, enum pql_node_kind kind,
                                  const struct pql_token *token, struct pql_node *part)
{
    struct pql_node *node = new_node(parser, kind, token);
    return node != NULL && add_part(parser, node, part) ? node : NULL;
}

// `encoded` may be what was no longer to be had from the arena.
static struct pql_node *new_value(struct pql_parser *parser, const struct pql_token *token,
                                  struct slice encoded)
{
    struct pql_node *node = new_node(parser, NODE_VALUE, token);
    if (encoded.ptr == NULL)
        return error_no_memory(parser->error);
    if (node != NULL)
        node->value = encoded;
    return node;
}

// ---- Paths --------------------------------------------------------------------------------------

enum { PATH_STEPS = 33 }; // one more than expr takes, so that it is expr who complains

struct path_parse {
    struct path_step steps[PATH_STEPS];
    struct slice texts[PATH_STEPS];
    size_t count;
};

static bool add_step(struct pql_parser *parser, struct path_parse *path, struct path_step step,
                     struct slice text)
{
    if (path->count == PATH_STEPS)
        return error_validation(parser->error,
                                "The document path has too many nesting elements; nesting levels: "
                                "%d",
                                PATH_STEPS);
    path->steps[path->count] = step;
    path->texts[path->count++] = text;
    return true;
}

// Digits only; more than expr takes for an index ends as one that it refuses.
static bool add_index(struct pql_parser *parser, struct path_parse *path)
{
    const struct pql_token *token = parser->token;
    struct slice digits = raw_text(parser, token);
    size_t index = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return pql_error_at(parser->error, token, "Unexpected path component");
        if (index < 1000000000)
            index = index * 10 + (size_t)(digits.ptr[i] - '0');
    }
    char text[32];
    int len = snprintf(text, sizeof(text), "[%zu]", index);
    struct slice copy = arena_copy(parser->arena, slice_of(text, (size_t)len));
    if (copy.ptr == NULL)
        return error_budget(parser->error);
    parser->token++;
    return add_step(parser, path, (struct path_step){.index = index}, copy);
}

// What stands between [ and ].
static bool parse_subscript(struct pql_parser *parser, struct path_parse *path)
{
    const struct pql_token *token = parser->token;
    struct slice name;
    switch (token->kind) {
    case PQL_NUMBER:
        if (!add_index(parser, path))
            return false;
        break;
    case PQL_STRING:
        if (!pql_token_text(parser, token, &name) ||
            !add_step(parser, path, (struct path_step){.name = name}, name))
            return false;
        if (name.len == 0)
            return error_validation(parser->error, "Path component cannot be an empty string");
        parser->token++;
        break;
    case PQL_STAR:
        return pql_error_at(parser->error, token,
                            "Wildcard path component like a[*].b are not supported");
    case PQL_MINUS:
        if (token[1].kind == PQL_NUMBER)
            return pql_error_at(parser->error, token + 1,
                                "List index is not within the allowable range; index: [-%.*s]",
                                SLICE_FMT(raw_text(parser, token + 1)));
        return pql_error_at(parser->error, token, "Unexpected path component");
    default:
        return pql_error_at(parser->error, token, "Unexpected path component");
    }
    return pql_expect(parser, PQL_RBRACKET, "Expected closing bracket");
}

static bool parse_steps(struct pql_parser *parser, struct path_parse *path)
{
    struct slice name;
    if (!pql_identifier(parser, &name) ||
        !add_step(parser, path, (struct path_step){.name = name}, name))
        return false;
    for (;;) {
        if (pql_accept(parser, PQL_LBRACKET)) {
            if (!parse_subscript(parser, path))
                return false;
        } else if (pql_accept(parser, PQL_DOT)) {
            if (parser->token->kind == PQL_STAR)
                return error_validation(parser->error,
                                        "Changing item's hierarchy while reading isn't supported");
            if (!pql_identifier(parser, &name) ||
                !add_step(parser, path, (struct path_step){.name = name}, name))
                return false;
        } else {
            return true;
        }
    }
}

struct pql_node *pql_parse_path(struct pql_parser *parser)
{
    struct path_parse path = {.count = 0};
    struct pql_node *node = new_node(parser, NODE_PATH, parser->token);
    if (node == NULL || !parse_steps(parser, &path))
        return NULL;
    struct slice steps =
        arena_copy(parser->arena, slice_of(path.steps, path.count * sizeof(path.steps[0])));
    struct slice texts =
        arena_copy(parser->arena, slice_of(path.texts, path.count * sizeof(path.texts[0])));
    if (steps.ptr == NULL || texts.ptr == NULL)
        return error_no_memory(parser->error);
    // The arena's memory is aligned for anything.
    node->path = (struct path){(const void *)steps.ptr, path.count};
    node->texts = (void *)(uintptr_t)texts.ptr;
    return node;
}

// ---- Primaries ----------------------------------------------------------------------------------

static struct pql_node *parse_parameter(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token++;
    size_t at = parser->used++;
    // Too few are noticed at the end, when all question marks are counted.
    struct slice none = SLICE_LIT("\0"); // NULL, encoded
    return new_value(parser, token, at < parser->parameter_count ? parser->parameters[at] : none);
}

static struct pql_node *parse_number(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token++;
    struct slice value;
    return pql_number(parser, raw_text(parser, token), &value) ? new_value(parser, token, value)
                                                               : NULL;
}

static struct pql_node *parse_scalar(struct pql_parser *parser, enum value_tag tag)
{
    const struct pql_token *token = parser->token++;
    struct buf out;
    struct value_builder builder;
    struct slice text = {NULL, 0};
    if (tag == VALUE_TAG_S && !pql_token_text(parser, token, &text))
        return NULL;
    buf_init(&out, text.len + 16);
    value_builder_init(&builder, &out);
    if (tag == VALUE_TAG_S)
        value_put_string(&builder, text);
    else if (tag == VALUE_TAG_NULL)
        value_put_null(&builder);
    else
        value_put_bool(&builder, tag == VALUE_TAG_TRUE);
    struct slice encoded = arena_copy(parser->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return new_value(parser, token, encoded);
}

// Parts up to the closing token, separated by commas.
static bool parse_parts(struct pql_parser *parser, struct pql_node *node, enum pql_kind close)
{
    if (pql_accept(parser, close))
        return true;
    do {
        if (!add_part(parser, node, pql_parse_expr(parser)))
            return false;
    } while (pql_accept(parser, PQL_COMMA));
    return pql_expect(parser, close, "Expected comma or closing bracket");
}

static struct pql_node *parse_sequence(struct pql_parser *parser, enum pql_node_kind kind,
                                       enum pql_kind close)
{
    struct pql_node *node = new_node(parser, kind, parser->token++);
    return node != NULL && parse_parts(parser, node, close) ? node : NULL;
}

static struct pql_node *parse_entry(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token;
    struct slice name = {NULL, 0};
    if (token->kind == PQL_STRING) {
        parser->token++;
        if (!pql_token_text(parser, token, &name))
            return NULL;
    } else if (token->kind == PQL_QUESTION || token->kind == PQL_QUOTED ||
               token->kind == PQL_WORD) {
        (void)pql_error_at(parser->error, token,
                           "Tuple keys must be of type String. Actual type: %s under root",
                           token->kind == PQL_QUESTION ? "Parameter" : "VariableReference");
        return NULL;
    }
    if (name.ptr == NULL) {
        (void)pql_malformed(parser, "Expected a string as key of a tuple");
        return NULL;
    }
    if (!pql_expect(parser, PQL_COLON, "Expected colon in tuple"))
        return NULL;
    struct pql_node *value = pql_parse_expr(parser);
    if (value != NULL) {
        value->name = name;
        value->name_token = token;
    }
    return value;
}

static struct pql_node *parse_map(struct pql_parser *parser)
{
    struct pql_node *node = new_node(parser, NODE_MAP, parser->token++);
    if (node == NULL || pql_accept(parser, PQL_RBRACE))
        return node;
    do {
        if (!add_part(parser, node, parse_entry(parser)))
            return NULL;
    } while (pql_accept(parser, PQL_COMMA));
    return pql_expect(parser, PQL_RBRACE, "Expected comma or closing brace") ? node : NULL;
}

// (expression), or (a, b): a list.
static struct pql_node *parse_parenthesised(struct pql_parser *parser)
{
    struct pql_node *list = parse_sequence(parser, NODE_LIST, PQL_RPAREN);
    if (list == NULL || list->count != 1)
        return list;
    return list->first;
}

static struct pql_node *parse_call(struct pql_parser *parser)
{
    struct pql_node *node = new_node(parser, NODE_CALL, parser->token);
    if (node == NULL)
        return NULL;
    node->name = raw_text(parser, parser->token++);
    parser->token++; // the parenthesis
    if (pql_is_word(parser, "SELECT")) {
        (void)pql_error_at(parser->error, parser->token, "Unsupported token in expression: SELECT");
        return NULL;
    }
    if (parser->token->kind == PQL_STAR) {
        (void)pql_error_at(parser->error, node->token, "Unexpected path component");
        return NULL;
    }
    return parse_parts(parser, node, PQL_RPAREN) ? node : NULL;
}

static struct pql_node *parse_word(struct pql_parser *parser)
{
    if (pql_is_word(parser, "TRUE"))
        return parse_scalar(parser, VALUE_TAG_TRUE);
    if (pql_is_word(parser, "FALSE"))
        return parse_scalar(parser, VALUE_TAG_FALSE);
    if (pql_is_word(parser, "NULL"))
        return parse_scalar(parser, VALUE_TAG_NULL);
    if (pql_is_word(parser, "MISSING"))
        return new_node(parser, NODE_MISSING, parser->token++);
    if (parser->token[1].kind == PQL_LPAREN)
        return parse_call(parser);
    return pql_parse_path(parser);
}

static struct pql_node *parse_primary(struct pql_parser *parser)
{
    switch (parser->token->kind) {
    case PQL_WORD:
        return parse_word(parser);
    case PQL_QUOTED:
        return pql_parse_path(parser);
    case PQL_STRING:
        return parse_scalar(parser, VALUE_TAG_S);
    case PQL_NUMBER:
        return parse_number(parser);
    case PQL_QUESTION:
        return parse_parameter(parser);
    case PQL_LPAREN:
        return parse_parenthesised(parser);
    case PQL_LBRACKET:
        return parse_sequence(parser, NODE_LIST, PQL_RBRACKET);
    case PQL_LBAG:
        return parse_sequence(parser, NODE_BAG, PQL_RBAG);
    case PQL_LBRACE:
        return parse_map(parser);
    case PQL_ION:
        (void)pql_error_at(parser->error, parser->token, "Ion Literals are not supported");
        return NULL;
    default:
        (void)pql_malformed(parser, parser->token->kind == PQL_END ? "Unexpected end of statement"
                                                                   : "Unexpected token");
        return NULL;
    }
}

// ---- Operators ----------------------------------------------------------------------------------

// The number with the other sign.
static struct pql_node *negate(struct pql_parser *parser, const struct pql_token *token,
                               struct pql_node *node)
{
    if (node == NULL || node->kind != NODE_VALUE || value_type(node->value) != VALUE_N)
        return node == NULL ? NULL : new_unary(parser, NODE_NEGATE, token, node);
    uint8_t zero[NUMBER_BYTES_MAX];
    uint8_t result[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N};
    size_t zero_len = number_from_i64(0, zero);
    size_t len;
    ensure(number_subtract(slice_of(zero, zero_len), value_bytes(node->value), result + 2, &len) ==
           NUMBER_OK);
    result[1] = (uint8_t)len;
    return new_value(parser, token, arena_copy(parser->arena, slice_of(result, 2 + len)));
}

static struct pql_node *parse_sign(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token++;
    struct pql_node *node = parse_unary(parser);
    if (token->kind == PQL_MINUS || node == NULL)
        return negate(parser, token, node);
    bool number = node->kind == NODE_VALUE && value_type(node->value) == VALUE_N;
    return number ? node : new_unary(parser, NODE_POSITIVE, token, node);
}

static struct pql_node *parse_unary(struct pql_parser *parser)
{
    // Everything that nests comes through here.
    if (parser->depth == PQL_DEPTH) {
        (void)too_deep(parser);
        return NULL;
    }
    parser->depth++;
    enum pql_kind kind = parser->token->kind;
    struct pql_node *node =
        kind == PQL_MINUS || kind == PQL_PLUS ? parse_sign(parser) : parse_primary(parser);
    parser->depth--;
    return node;
}

// How tightly an operator binds.
enum level { LEVEL_NONE, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT };

static const struct {
    enum level level;
    enum pql_node_kind kind;
} operators[] = {
    [PQL_EQ] = {LEVEL_COMPARISON, NODE_EQ},     [PQL_NE] = {LEVEL_COMPARISON, NODE_NE},
    [PQL_LT] = {LEVEL_COMPARISON, NODE_LT},     [PQL_LE] = {LEVEL_COMPARISON, NODE_LE},
    [PQL_GT] = {LEVEL_COMPARISON, NODE_GT},     [PQL_GE] = {LEVEL_COMPARISON, NODE_GE},
    [PQL_PLUS] = {LEVEL_SUM, NODE_PLUS},        [PQL_MINUS] = {LEVEL_SUM, NODE_MINUS},
    [PQL_CONCAT] = {LEVEL_SUM, NODE_CONCAT},    [PQL_STAR] = {LEVEL_PRODUCT, NODE_TIMES},
    [PQL_SLASH] = {LEVEL_PRODUCT, NODE_DIVIDE}, [PQL_PERCENT] = {LEVEL_PRODUCT, NODE_MODULO},
    [PQL_UNKNOWN] = {LEVEL_NONE, NODE_KINDS},
};

// Sums or products, from left to right.
static struct pql_node *parse_terms(struct pql_parser *parser, enum level level,
                                    struct pql_node *(*part)(struct pql_parser *parser))
{
    struct pql_node *node = part(parser);
    while (node != NULL && operators[parser->token->kind].level == level) {
        const struct pql_token *token = parser->token++;
        node = new_binary(parser, operators[token->kind].kind, token, node, part(parser));
    }
    return node;
}

static struct pql_node *parse_product(struct pql_parser *parser)
{
    return parse_terms(parser, LEVEL_PRODUCT, parse_unary);
}

static struct pql_node *parse_sum(struct pql_parser *parser)
{
    return parse_terms(parser, LEVEL_SUM, parse_product);
}

static struct pql_node *refuse_in(struct pql_parser *parser)
{
    (void)error_validation(parser->error,
                           "IN operator must have a left hand argument of type Variable Reference "
                           "and right hand argument of type Seq with at least one member");
    return NULL;
}

// The members may stand in any brackets; (a) is a list here.
static struct pql_node *parse_in(struct pql_parser *parser, struct pql_node *left)
{
    struct pql_node *node = new_unary(parser, NODE_IN, parser->token++, left);
    if (node == NULL)
        return NULL;
    struct pql_node *members = parser->token->kind == PQL_LPAREN
                                   ? parse_sequence(parser, NODE_LIST, PQL_RPAREN)
                                   : parse_sum(parser);
    if (members == NULL)
        return NULL;
    if ((members->kind != NODE_LIST && members->kind != NODE_BAG) || members->count == 0)
        return refuse_in(parser);
    for (struct pql_node *member = members->first; member != NULL;) {
        struct pql_node *next = member->next;
        member->next = NULL;
        if (!add_part(parser, node, member))
            return NULL;
        member = next;
    }
    return node;
}

static struct pql_node *parse_between(struct pql_parser *parser, struct pql_node *left)
{
    struct pql_node *node = new_unary(parser, NODE_BETWEEN, parser->token++, left);
    if (node == NULL || !add_part(parser, node, parse_sum(parser)) ||
        !pql_expect_word(parser, "AND") || !add_part(parser, node, parse_sum(parser)))
        return NULL;
    return node;
}

static struct pql_node *parse_is(struct pql_parser *parser, struct pql_node *left)
{
    const struct pql_token *token = parser->token++;
    bool not = pql_accept_word(parser, "NOT");
    enum pql_node_kind kind = pql_is_word(parser, "MISSING") ? NODE_IS_MISSING
                              : pql_is_word(parser, "NULL")  ? NODE_IS_NULL
                                                             : NODE_KINDS;
    if (kind == NODE_KINDS) {
        (void)pql_malformed(parser, "Expected MISSING or NULL");
        return NULL;
    }
    parser->token++;
    struct pql_node *node = new_unary(parser, kind, token, left);
    return node != NULL && not ? new_unary(parser, NODE_NOT, token, node) : node;
}

static struct pql_node *parse_comparison(struct pql_parser *parser)
{
    struct pql_node *left = parse_sum(parser);
    if (left == NULL)
        return NULL;
    if (operators[parser->token->kind].level == LEVEL_COMPARISON) {
        const struct pql_token *token = parser->token++;
        left = new_binary(parser, operators[token->kind].kind, token, left, parse_sum(parser));
    }
    if (left == NULL)
        return NULL;
    if (pql_is_word(parser, "IS"))
        return parse_is(parser, left);
    const struct pql_token *token = parser->token;
    bool not = pql_accept_word(parser, "NOT");
    struct pql_node *node = left;
    if (pql_is_word(parser, "IN"))
        node = parse_in(parser, left);
    else if (pql_is_word(parser, "BETWEEN"))
        node = parse_between(parser, left);
    else if (pql_accept_word(parser, "LIKE"))
        node = new_binary(parser, NODE_LIKE, token, left, parse_sum(parser));
    else if (not )
        return pql_malformed(parser, "Unexpected token") ? NULL : NULL;
    return not &&node != NULL ? new_unary(parser, NODE_NOT, token, node) : node;
}

static struct pql_node *parse_not(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token;
    bool not = false;
    bool any = false;
    for (; pql_accept_word(parser, "NOT"); any = true)
        not = !not ;
    struct pql_node *node = parse_comparison(parser);
    // NOT NOT a is a, but still no more than a condition.
    return node != NULL && any && not ? new_unary(parser, NODE_NOT, token, node) : node;
}

// One level of AND or OR: a single part stays what it is.
static struct pql_node *parse_chain(struct pql_parser *parser, enum pql_node_kind kind,
                                    const char *keyword,
                                    struct pql_node *(*part)(struct pql_parser *parser))
{
    struct pql_node *first = part(parser);
    if (first == NULL || !pql_is_word(parser, keyword))
        return first;
    struct pql_node *node = new_unary(parser, kind, parser->token, first);
    while (node != NULL && pql_accept_word(parser, keyword)) {
        if (!add_part(parser, node, part(parser)))
            return NULL;
    }
    return node;
}

static struct pql_node *parse_and(struct pql_parser *parser)
{
    return parse_chain(parser, NODE_AND, "AND", parse_not);
}

struct pql_node *pql_parse_expr(struct pql_parser *parser)
{
    return parse_chain(parser, NODE_OR, "OR", parse_and);
}
