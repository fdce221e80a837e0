// Expressions of PartiQL, by the precedence of their operators, the weakest first:
//
//   OR    AND    NOT    = <> != IS IN    < <= > >= BETWEEN LIKE    + - ||    * / %
//
// All but NOT, and + and - before a term, stand between two operands, and bind to the left. Both
// the recursion and the tree it makes are bounded by PQL_DEPTH; AND and OR take all their parts
// side by side, so that a long chain is not deep. A minus before a number is folded into it.
#include "partiql/partiql_internal.h"

enum level {
    LEVEL_NONE,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_EQUALITY,
    LEVEL_COMPARISON,
    LEVEL_SUM,
    LEVEL_PRODUCT,
};

// An operator between its operands; LEVEL_NONE if there is none.
struct infix {
    enum level level;
    enum pql_node_kind kind;
    bool negated;  // NOT IN, IS NOT, …
    size_t tokens; // that it is made of
};

static const struct {
    enum level level;
    enum pql_node_kind kind;
} symbols[] = {
    [PQL_EQ] = {LEVEL_EQUALITY, NODE_EQ},       [PQL_NE] = {LEVEL_EQUALITY, NODE_NE},
    [PQL_LT] = {LEVEL_COMPARISON, NODE_LT},     [PQL_LE] = {LEVEL_COMPARISON, NODE_LE},
    [PQL_GT] = {LEVEL_COMPARISON, NODE_GT},     [PQL_GE] = {LEVEL_COMPARISON, NODE_GE},
    [PQL_PLUS] = {LEVEL_SUM, NODE_PLUS},        [PQL_MINUS] = {LEVEL_SUM, NODE_MINUS},
    [PQL_CONCAT] = {LEVEL_SUM, NODE_CONCAT},    [PQL_STAR] = {LEVEL_PRODUCT, NODE_TIMES},
    [PQL_SLASH] = {LEVEL_PRODUCT, NODE_DIVIDE}, [PQL_PERCENT] = {LEVEL_PRODUCT, NODE_MODULO},
};

static const struct {
    const char *word;
    enum level level;
    enum pql_node_kind kind;
    bool after_not; // NOT may stand before it; of IS it stands behind
} words[] = {
    {"AND", LEVEL_AND, NODE_AND, false},
    {"OR", LEVEL_OR, NODE_OR, false},
    {"IS", LEVEL_EQUALITY, NODE_IS, false},
    {"IN", LEVEL_EQUALITY, NODE_IN, true},
    {"BETWEEN", LEVEL_COMPARISON, NODE_BETWEEN, true},
    {"LIKE", LEVEL_COMPARISON, NODE_LIKE, true},
};

// The operator at the token, if one is there.
static struct infix infix_at(const struct pql_parser *parser, const struct pql_token *token)
{
    struct infix none = {.level = LEVEL_NONE};
    if (token->kind != PQL_WORD && token->kind < COUNT_OF(symbols))
        return (struct infix){symbols[token->kind].level, symbols[token->kind].kind, false, 1};
    bool before = pql_token_is(parser, token, "NOT");
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!pql_token_is(parser, token + before, words[i].word) || (before && !words[i].after_not))
            continue;
        bool behind = words[i].kind == NODE_IS && pql_token_is(parser, token + 1, "NOT");
        bool negated = before || behind;
        return (struct infix){words[i].level, words[i].kind, negated, negated ? 2 : 1};
    }
    return none;
}

static struct pql_node *malformed(struct pql_parser *parser, const char *reason)
{
    (void)pql_malformed(parser, reason);
    return NULL;
}

static struct pql_node *parse_above(struct pql_parser *parser, enum level level);

// ---- Before a term ------------------------------------------------------------------------------

static struct pql_node *new_unary(struct pql_parser *parser, enum pql_node_kind kind,
                                  const struct pql_token *token, struct pql_node *part)
{
    struct pql_node *node = pql_node_new(parser, kind, token);
    return node != NULL && pql_node_add(parser, node, part) ? node : NULL;
}

static bool is_number(const struct pql_node *node)
{
    return node->kind == NODE_VALUE && value_type(node->value) == VALUE_N;
}

// The number with the other sign.
static struct pql_node *negate(struct pql_parser *parser, const struct pql_token *token,
                               struct pql_node *node)
{
    uint8_t zero[NUMBER_BYTES_MAX];
    uint8_t result[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N};
    size_t zero_len = number_from_i64(0, zero);
    size_t len;
    ensure(number_subtract(slice_of(zero, zero_len), value_bytes(node->value), result + 2, &len) ==
           NUMBER_OK);
    result[1] = (uint8_t)len;
    struct pql_node *negated =
        pql_node_value(parser, token, arena_copy(parser->arena, slice_of(result, 2 + len)));
    if (negated != NULL)
        negated->fault = node->fault;
    return negated;
}

static struct pql_node *parse_prefix(struct pql_parser *parser)
{
    const struct pql_token *token = parser->token;
    bool sign = token->kind == PQL_MINUS || token->kind == PQL_PLUS;
    if (!sign && !pql_is_word(parser, "NOT"))
        return pql_parse_term(parser);
    if (!sign && infix_at(parser, token).level != LEVEL_NONE)
        return malformed(parser, "Unexpected operator"); // NOT IN without a left side
    if (parser->depth == PQL_DEPTH)
        return pql_too_deep(parser);
    parser->token++;
    parser->depth++;
    struct pql_node *node = sign ? parse_prefix(parser) : parse_above(parser, LEVEL_NOT);
    parser->depth--;
    if (node == NULL)
        return NULL;
    if (!sign) // two in a row are none
        return node->kind == NODE_NOT ? node->first : new_unary(parser, NODE_NOT, token, node);
    bool minus = token->kind == PQL_MINUS;
    if (is_number(node))
        return minus ? negate(parser, token, node) : node;
    return new_unary(parser, minus ? NODE_NEGATE : NODE_POSITIVE, token, node);
}

// ---- Between operands ---------------------------------------------------------------------------

static struct pql_node *parse_right(struct pql_parser *parser, enum level level)
{
    return parser->token->kind == PQL_END
               ? malformed(parser, "Missing right-hand side expression of infix operator")
               : parse_above(parser, level);
}

// The members may stand in any brackets; (a) is a list here.
static bool parse_in(struct pql_parser *parser, struct pql_node *node)
{
    struct pql_node *members = parser->token->kind == PQL_LPAREN
                                   ? pql_parse_group(parser)
                                   : parse_right(parser, LEVEL_EQUALITY);
    if (members == NULL)
        return false;
    if ((members->kind != NODE_LIST && members->kind != NODE_BAG) || members->count == 0)
        return pql_refuse_later(parser, NULL,
                                "IN operator must have a left hand argument of type Variable "
                                "Reference and right hand argument of type Seq with at least one "
                                "member");
    for (struct pql_node *member = members->first; member != NULL;) {
        struct pql_node *next = member->next;
        member->next = NULL;
        if (!pql_node_add(parser, node, member))
            return false;
        member = next;
    }
    return true;
}

static bool parse_between(struct pql_parser *parser, struct pql_node *node)
{
    if (!pql_node_add(parser, node, parse_right(parser, LEVEL_COMPARISON)))
        return false;
    if (!pql_accept_word(parser, "AND"))
        return pql_malformed(parser, "Expected AND keyword");
    if (parser->token->kind == PQL_END || parser->token->kind == PQL_SEMICOLON)
        return pql_malformed(parser, "Expected expression after AND");
    return pql_node_add(parser, node, parse_above(parser, LEVEL_COMPARISON));
}

static bool parse_like(struct pql_parser *parser, struct pql_node *node)
{
    if (!pql_node_add(parser, node, parse_right(parser, LEVEL_COMPARISON)))
        return false;
    if (!pql_accept_word(parser, "ESCAPE"))
        return true;
    if (parser->token->kind == PQL_END || parser->token->kind == PQL_SEMICOLON)
        return pql_malformed(parser, "Expected expression after ESCAPE");
    return pql_node_add(parser, node, parse_above(parser, LEVEL_COMPARISON));
}

enum { TYPE_SETS = 1 << VALUE_SS | 1 << VALUE_NS | 1 << VALUE_BS };

// The names of types, what messages call them, how many arguments they may have, and which types of
// values they stand for; 0 if DynamoDB has none of that kind.
static const struct {
    const char *word;
    const char *name;
    size_t arguments;
    unsigned types;
} types[] = {
    {"MISSING", "missing", 0, PQL_MISSING},
    {"NULL", "null", 0, 1 << VALUE_NULL},
    {"BOOL", "boolean", 0, 1 << VALUE_BOOL},
    {"BOOLEAN", "boolean", 0, 1 << VALUE_BOOL},
    {"STRING", "string", 0, 1 << VALUE_S},
    {"DECIMAL", "decimal", 2, 1 << VALUE_N},
    {"DEC", "decimal", 2, 1 << VALUE_N},
    {"NUMERIC", "numeric", 2, 1 << VALUE_N},
    {"BLOB", "blob", 0, 1 << VALUE_B},
    {"LIST", "list", 0, 1 << VALUE_L},
    {"STRUCT", "struct", 0, 1 << VALUE_M},
    {"TUPLE", "tuple", 0, 1 << VALUE_M},
    {"BAG", "bag", 0, TYPE_SETS},
    {"SMALLINT", "smallint", 0, 0},
    {"INT2", "smallint", 0, 0},
    {"INTEGER2", "smallint", 0, 0},
    {"INT4", "integer4", 0, 0},
    {"INTEGER4", "integer4", 0, 0},
    {"INT8", "integer8", 0, 0},
    {"INTEGER8", "integer8", 0, 0},
    {"BIGINT", "integer8", 0, 0},
    {"INT", "integer", 0, 0},
    {"INTEGER", "integer", 0, 0},
    {"FLOAT", "float", 1, 0},
    {"REAL", "real", 1, 0},
    {"TIMESTAMP", "timestamp", 0, 0},
    {"DATE", "date", 0, 0},
    {"TIME", "time", 1, 0},
    {"CHAR", "character", 1, 0},
    {"CHARACTER", "character", 1, 0},
    {"VARCHAR", "character_varying", 1, 0},
    {"SYMBOL", "symbol", 0, 0},
    {"CLOB", "clob", 0, 0},
    {"SEXP", "sexp", 0, 0},
};

// The type behind IS.
static bool parse_type(struct pql_parser *parser, struct pql_node *node)
{
    size_t at = 0;
    while (at < COUNT_OF(types) && !pql_is_word(parser, types[at].word))
        at++;
    if (at == COUNT_OF(types))
        return pql_malformed(parser, "Expected type name");
    parser->token++;
    const struct pql_node *arguments = NULL;
    if (parser->token->kind == PQL_LPAREN && (arguments = pql_parse_group(parser)) == NULL)
        return false;
    if (arguments != NULL && arguments->count > types[at].arguments) {
        const char *reason = arena_printf(parser->arena, "CAST for %s must have arity of 0..%zu",
                                          types[at].name, types[at].arguments);
        return reason == NULL ? error_budget(parser->error) : pql_malformed(parser, reason);
    }
    node->types = types[at].types;
    return true;
}

// The rest of the operator whose left side is `left`.
static struct pql_node *parse_infix(struct pql_parser *parser, struct infix op,
                                    struct pql_node *left)
{
    // What has more behind it than another operand.
    static bool (*const rests[NODE_KINDS])(struct pql_parser * parser, struct pql_node * node) = {
        [NODE_IS] = parse_type,
        [NODE_IN] = parse_in,
        [NODE_BETWEEN] = parse_between,
        [NODE_LIKE] = parse_like,
    };
    const struct pql_token *token = parser->token;
    parser->token += op.tokens;
    bool chain = (op.kind == NODE_AND || op.kind == NODE_OR) && left->kind == op.kind;
    struct pql_node *node = chain ? left : new_unary(parser, op.kind, token, left);
    if (node == NULL)
        return NULL;
    if (rests[op.kind] != NULL ? !rests[op.kind](parser, node)
                               : !pql_node_add(parser, node, parse_right(parser, op.level)))
        return NULL;
    return op.negated ? new_unary(parser, NODE_NOT, token, node) : node;
}

// An expression of operators that bind stronger than the level.
static struct pql_node *parse_above(struct pql_parser *parser, enum level level)
{
    // Everything that nests comes through here, or through a sign.
    if (parser->depth == PQL_DEPTH)
        return pql_too_deep(parser);
    parser->depth++;
    struct pql_node *node = parse_prefix(parser);
    while (node != NULL) {
        struct infix op = infix_at(parser, parser->token);
        if (op.level <= level)
            break;
        node = parse_infix(parser, op, node);
    }
    parser->depth--;
    return node;
}

struct pql_node *pql_parse_expr(struct pql_parser *parser)
{
    return parse_above(parser, LEVEL_NONE);
}
