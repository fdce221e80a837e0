// The terms of an expression: paths, constants, lists, bags, maps and calls.
//
//   term    = literal | "?" | path | call | "(" expr ("," expr)* ")" | list | bag | map
//   path    = name ("." (name | "*") | "[" (expr | "*") "]")*
//   call    = name "(" [expr ("," expr)* | "*"] ")"
//
// Mistakes of two kinds are met on the way. What is no PartiQL ends the parsing; what is PartiQL
// but nothing that DynamoDB does is noted (pql_refuse_later), and told if the rest is well formed.
#include "partiql/partiql_internal.h"

#include <stdarg.h>
#include <stdio.h>

// ---- Errors -------------------------------------------------------------------------------------

bool pql_malformed(struct pql_parser *parser, const char *reason)
{
    return error_validation(parser->error, "Statement wasn't well formed, can't be processed: %s",
                            reason);
}

static bool set_at(struct error *error, const struct pql_token *token, const char *format,
                   va_list args)
{
    char text[512];
    (void)vsnprintf(text, sizeof(text), format, args);
    if (token == NULL)
        return error_validation(error, "%s", text);
    return error_validation(error, "%s at %u:%u:%u", text, token->line, token->column, token->len);
}

bool pql_error_at(struct error *error, const struct pql_token *token, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool refused = set_at(error, token, format, args);
    va_end(args);
    return refused;
}

bool pql_refuse_later(struct pql_parser *parser, const struct pql_token *token, const char *format,
                      ...)
{
    va_list args;
    va_start(args, format);
    (void)set_at(&parser->refused, token, format, args);
    va_end(args);
    return true;
}

static struct pql_node *malformed(struct pql_parser *parser, const char *reason)
{
    (void)pql_malformed(parser, reason);
    return NULL;
}

// ---- Tokens -------------------------------------------------------------------------------------

static struct slice raw_text(const struct pql_parser *parser, const struct pql_token *token)
{
    return slice_of(parser->text.ptr + token->start, token->len);
}

enum pql_word pql_token_word(const struct pql_parser *parser, const struct pql_token *token)
{
    return token->kind == PQL_WORD ? pql_word(raw_text(parser, token)) : WORD_NONE;
}

bool pql_token_is(const struct pql_parser *parser, const struct pql_token *token,
                  const char *keyword)
{
    return token->kind == PQL_WORD && pql_word_is(raw_text(parser, token), keyword);
}

bool pql_is_word(const struct pql_parser *parser, const char *keyword)
{
    return pql_token_is(parser, parser->token, keyword);
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

bool pql_is_name(const struct pql_parser *parser)
{
    return parser->token->kind == PQL_QUOTED || pql_token_word(parser, parser->token) == WORD_NAME;
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

// ---- Nodes --------------------------------------------------------------------------------------

const char *pql_node_name(enum pql_node_kind kind)
{
    static const char *const names[] = {
#define X(kind, text, operation, op) text,
        PQL_NODE_LIST(X)
#undef X
    };
    return names[kind];
}

const char *pql_node_operation(const struct pql_node *node)
{
    static const char *const names[] = {
#define X(kind, text, operation, op) operation,
        PQL_NODE_LIST(X)
#undef X
    };
    if (node->kind == NODE_PATH && node->path.count == 1)
        return "Id";
    return node->token->kind == PQL_QUESTION ? "Parameter" : names[node->kind];
}

enum expr_op pql_node_op(enum pql_node_kind kind)
{
    static const enum expr_op ops[] = {
#define X(kind, text, operation, op) op,
        PQL_NODE_LIST(X)
#undef X
    };
    return ops[kind];
}

struct pql_node *pql_node_new(struct pql_parser *parser, enum pql_node_kind kind,
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

struct pql_node *pql_too_deep(struct pql_parser *parser)
{
    (void)error_validation(parser->error, "Nesting Levels have exceeded supported limits");
    return NULL;
}

bool pql_node_add(struct pql_parser *parser, struct pql_node *node, struct pql_node *part)
{
    if (part == NULL)
        return false;
    if (part->depth + 1 > node->depth)
        node->depth = part->depth + 1;
    if (node->depth > PQL_DEPTH)
        return pql_too_deep(parser) != NULL;
    *(node->first == NULL ? &node->first : &node->last->next) = part;
    node->last = part;
    node->count++;
    return true;
}

// `encoded` may be what was no longer to be had from the arena.
struct pql_node *pql_node_value(struct pql_parser *parser, const struct pql_token *token,
                                struct slice encoded)
{
    struct pql_node *node = pql_node_new(parser, NODE_VALUE, token);
    if (encoded.ptr == NULL)
        return error_no_memory(parser->error);
    if (node != NULL)
        node->value = encoded;
    return node;
}

// ---- Paths --------------------------------------------------------------------------------------

enum { PATH_STEPS = 33 }; // one more than expr takes, so that it is expr who complains

struct path_parse {
    bool simple; // of a target: made of names and literals only
    struct path_step steps[PATH_STEPS];
    struct slice texts[PATH_STEPS];
    size_t count;
    bool brackets;
    enum pql_stars stars;
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
    if (path->stars != STARS_NONE)
        path->stars = STARS_INSIDE;
    return true;
}

static bool add_name(struct pql_parser *parser, struct path_parse *path,
                     const struct pql_token *token)
{
    struct slice name;
    if (!pql_token_text(parser, token, &name))
        return false;
    if (name.len == 0)
        (void)pql_refuse_later(parser, NULL, "Path component cannot be an empty string");
    return add_step(parser, path, (struct path_step){.name = name}, name);
}

// Digits only; more than expr takes for an index ends as one that it refuses.
static bool add_index(struct pql_parser *parser, struct path_parse *path,
                      const struct pql_token *token)
{
    struct slice digits = raw_text(parser, token);
    size_t index = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return pql_refuse_later(parser, token, "Unexpected path component");
        if (index < 1000000000)
            index = index * 10 + (size_t)(digits.ptr[i] - '0');
    }
    char text[32];
    int len = snprintf(text, sizeof(text), "[%zu]", index);
    struct slice copy = arena_copy(parser->arena, slice_of(text, (size_t)len));
    if (copy.ptr == NULL)
        return error_budget(parser->error);
    return add_step(parser, path, (struct path_step){.index = index}, copy);
}

// What stood between [ and ], beginning at the token.
static bool add_subscript(struct pql_parser *parser, struct path_parse *path,
                          const struct pql_token *token, const struct pql_node *node)
{
    if (node->token == token && token->kind == PQL_NUMBER)
        return add_index(parser, path, token);
    if (node->token == token && token->kind == PQL_STRING)
        return add_name(parser, path, token);
    if (node->kind == NODE_VALUE && token->kind == PQL_MINUS && token[1].kind == PQL_NUMBER)
        return pql_refuse_later(parser, token + 1,
                                "List index is not within the allowable range; index: [-%.*s]",
                                SLICE_FMT(raw_text(parser, token + 1)));
    return pql_refuse_later(parser, token, "Unexpected path component");
}

static bool parse_subscript(struct pql_parser *parser, struct path_parse *path)
{
    const struct pql_token *token = parser->token;
    path->brackets = true;
    if (pql_accept(parser, PQL_STAR)) {
        path->stars = STARS_INSIDE;
        return pql_expect(parser, PQL_RBRACKET, "Expected RIGHT_BRACKET") &&
               pql_refuse_later(parser, token,
                                "Wildcard path component like a[*].b are not supported");
    }
    const struct pql_node *node = pql_parse_expr(parser);
    if (node == NULL || !pql_expect(parser, PQL_RBRACKET, "Expected RIGHT_BRACKET"))
        return false;
    if (path->simple && (node->kind != NODE_VALUE || token->kind == PQL_QUESTION))
        return pql_malformed(parser, "Invalid path component for simple path");
    return add_subscript(parser, path, token, node);
}

static bool parse_dot(struct pql_parser *parser, struct path_parse *path)
{
    if (pql_is_name(parser))
        return add_name(parser, path, parser->token++);
    if (parser->token->kind != PQL_STAR)
        return pql_malformed(parser, "Invalid path dot component");
    if (path->simple)
        return pql_malformed(parser, "Invalid path dot component for simple path");
    parser->token++;
    path->stars = path->stars != STARS_NONE ? STARS_INSIDE
                  : path->brackets          ? STARS_BEHIND_BRACKETS
                                            : STARS_LAST;
    return pql_refuse_later(parser, NULL,
                            "Changing item's hierarchy while reading isn't supported");
}

static struct pql_node *parse_path(struct pql_parser *parser, bool simple)
{
    struct path_parse path = {.simple = simple};
    struct pql_node *node = pql_node_new(parser, NODE_PATH, parser->token);
    bool ok = node != NULL && add_name(parser, &path, parser->token++);
    while (ok && (parser->token->kind == PQL_DOT || parser->token->kind == PQL_LBRACKET))
        ok = parser->token++->kind == PQL_DOT ? parse_dot(parser, &path)
                                              : parse_subscript(parser, &path);
    if (!ok)
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
    node->stars = path.stars;
    return node;
}

struct pql_node *pql_parse_target(struct pql_parser *parser)
{
    return pql_is_name(parser) ? parse_path(parser, true)
                               : malformed(parser, "Expected identifier for simple path");
}

// ---- Constants ----------------------------------------------------------------------------------

static struct pql_node *parse_parameter(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token++;
    size_t at = parser->used++;
    // Too few are noticed at the end, when all question marks are counted.
    struct slice none = SLICE_LIT("\0"); // NULL, encoded
    return pql_node_value(parser, token,
                          at < parser->parameter_count ? parser->parameters[at] : none);
}

static struct pql_node *parse_number(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token++;
    struct slice value;
    const char *fault = NULL;
    if (!pql_number(parser, raw_text(parser, token), &value, &fault))
        return NULL;
    struct pql_node *node = pql_node_value(parser, token, value);
    if (node != NULL)
        node->fault = fault;
    return node;
}

static struct pql_node *parse_scalar(struct pql_parser *parser, enum value_tag tag)
{
    const struct pql_token *token = parser->token++;
    struct value_maker maker;
    struct slice text = {NULL, 0};
    if (tag == VALUE_TAG_S && !pql_token_text(parser, token, &text))
        return NULL;
    value_begin(&maker, text.len + 16);
    if (tag == VALUE_TAG_S)
        value_put_string(&maker.b, text);
    else if (tag == VALUE_TAG_NULL)
        value_put_null(&maker.b);
    else
        value_put_bool(&maker.b, tag == VALUE_TAG_TRUE);
    return pql_node_value(parser, token, value_end(&maker, parser->arena));
}

// ---- Lists of terms -----------------------------------------------------------------------------

// Parts up to the closing token, separated by commas; at least one.
static bool parse_parts(struct pql_parser *parser, struct pql_node *node, enum pql_kind close,
                        const char *reason)
{
    do {
        if (!pql_node_add(parser, node, pql_parse_expr(parser)))
            return false;
    } while (pql_accept(parser, PQL_COMMA));
    return pql_expect(parser, close, reason);
}

// A list or a bag, which may be empty.
static struct pql_node *parse_sequence(struct pql_parser *parser, enum pql_node_kind kind,
                                       enum pql_kind close, const char *reason)
{
    struct pql_node *node = pql_node_new(parser, kind, parser->token++);
    if (node == NULL || pql_accept(parser, close))
        return node;
    return parse_parts(parser, node, close, reason) ? node : NULL;
}

struct pql_node *pql_parse_group(struct pql_parser *parser)
{
    struct pql_node *node = pql_node_new(parser, NODE_LIST, parser->token++);
    return node != NULL && parse_parts(parser, node, PQL_RPAREN, "Expected RIGHT_PAREN") ? node
                                                                                         : NULL;
}

// (expression), or (a, b): a list.
static struct pql_node *parse_parenthesised(struct pql_parser *parser)
{
    struct pql_node *list = pql_parse_group(parser);
    return list == NULL || list->count != 1 ? list : list->first;
}

static struct pql_node *parse_entry(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token;
    const struct pql_node *key = pql_parse_expr(parser);
    struct slice name = {NULL, 0};
    if (key == NULL || !pql_expect(parser, PQL_COLON, "Expected COLON"))
        return NULL;
    if (token->kind == PQL_STRING && key->token == token) {
        if (!pql_token_text(parser, token, &name))
            return NULL;
    } else {
        (void)pql_refuse_later(
            parser, token, "Tuple keys must be of type String. Actual type: %s under root",
            token->kind == PQL_QUESTION ? "Parameter" : pql_node_name(key->kind));
    }
    struct pql_node *value = pql_parse_expr(parser);
    if (value != NULL) {
        value->key = name;
        value->key_token = token;
    }
    return value;
}

static struct pql_node *parse_map(struct pql_parser *parser)
{
    struct pql_node *node = pql_node_new(parser, NODE_MAP, parser->token++);
    if (node == NULL || pql_accept(parser, PQL_RBRACE))
        return node;
    do {
        if (!pql_node_add(parser, node, parse_entry(parser)))
            return NULL;
    } while (pql_accept(parser, PQL_COMMA));
    return pql_expect(parser, PQL_RBRACE, "Expected RIGHT_CURLY") ? node : NULL;
}

static bool is_aggregate(struct slice name)
{
    static const char *const names[] = {"count", "avg", "max", "min", "sum"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (pql_word_is(name, names[i]))
            return true;
    }
    return false;
}

static struct pql_node *parse_call(struct pql_parser *parser)
{
    struct pql_node *node = pql_node_new(parser, NODE_CALL, parser->token);
    if (node == NULL || !pql_token_text(parser, parser->token, &node->name))
        return NULL;
    parser->token += 2; // the name and the parenthesis
    bool aggregate = is_aggregate(node->name);
    if (pql_accept(parser, PQL_STAR)) {
        if (!pql_word_is(node->name, "count"))
            return malformed(parser, arena_printf(parser->arena, "%.*s(*) is not allowed",
                                                  SLICE_FMT(node->name)));
        return pql_expect(parser, PQL_RPAREN, "Expected RIGHT_PAREN") ? node : NULL;
    }
    bool empty = pql_accept(parser, PQL_RPAREN);
    if (!empty && !parse_parts(parser, node, PQL_RPAREN, "Expected RIGHT_PAREN"))
        return NULL;
    return aggregate && node->count != 1 ? malformed(parser, "Aggregate functions are always unary")
                                         : node;
}

// ---- Terms --------------------------------------------------------------------------------------

// VALUES (a, b), …: a bag of lists.
static struct pql_node *parse_values(struct pql_parser *parser)
{
    struct pql_node *node = pql_node_new(parser, NODE_BAG, parser->token++);
    do {
        if (node != NULL && parser->token->kind != PQL_LPAREN)
            return malformed(parser, "Expected LEFT_PAREN for row value constructor");
        if (node == NULL || !pql_node_add(parser, node, pql_parse_group(parser)))
            return NULL;
    } while (pql_accept(parser, PQL_COMMA));
    return node;
}

// A keyword that begins no literal.
static struct pql_node *parse_keyword(struct pql_parser *parser, enum pql_word word)
{
    if (word == WORD_OPERATOR)
        return malformed(parser, "Unexpected operator");
    if (word == WORD_FUNCTION && parser->token[1].kind == PQL_LPAREN)
        return parse_call(parser);
    if (pql_is_word(parser, "VALUES"))
        return parse_values(parser);
    if (pql_is_word(parser, "SELECT")) {
        (void)pql_error_at(parser->error, parser->token, "Unsupported token in expression: SELECT");
        return NULL;
    }
    // FROM begins an update, also where it is none.
    return malformed(parser, pql_is_word(parser, "FROM") ? "Expected data manipulation"
                                                         : "Unexpected keyword");
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
        return pql_node_new(parser, NODE_MISSING, parser->token++);
    enum pql_word word = pql_token_word(parser, parser->token);
    if (word != WORD_NAME)
        return parse_keyword(parser, word);
    return parser->token[1].kind == PQL_LPAREN ? parse_call(parser) : parse_path(parser, false);
}

static struct pql_node *parse_ion(struct pql_parser *parser)
{
    (void)pql_refuse_later(parser, parser->token, "Ion Literals are not supported");
    return parse_scalar(parser, VALUE_TAG_NULL);
}

struct pql_node *pql_parse_term(struct pql_parser *parser)
{
    switch (parser->token->kind) {
    case PQL_WORD:
        return parse_word(parser);
    case PQL_QUOTED:
        return parser->token[1].kind == PQL_LPAREN ? parse_call(parser) : parse_path(parser, false);
    case PQL_STRING:
        return parse_scalar(parser, VALUE_TAG_S);
    case PQL_NUMBER:
        return parse_number(parser);
    case PQL_QUESTION:
        return parse_parameter(parser);
    case PQL_LPAREN:
        return parse_parenthesised(parser);
    case PQL_LBRACKET:
        return parse_sequence(parser, NODE_LIST, PQL_RBRACKET, "Expected RIGHT_BRACKET");
    case PQL_LBAG:
        return parse_sequence(parser, NODE_BAG, PQL_RBAG, "Expected RIGHT_DOUBLE_ANGLE_BRACKET");
    case PQL_LBRACE:
        return parse_map(parser);
    case PQL_ION:
        return parse_ion(parser);
    default:
        // A star is none of the operators here.
        return malformed(parser, parser->token->kind >= PQL_SLASH ? "Unexpected operator"
                                                                  : "Unexpected term");
    }
}
