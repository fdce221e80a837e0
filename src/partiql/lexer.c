// From text to tokens. Nothing fails here: what begins no token is one of its own, and the parser
// meets it. The text is walked once; a token is its place in the text.
#include "partiql/lexer.h"

struct lexer {
    struct slice text;
    size_t at;
    size_t line_start;
    uint32_t line;
};

static int peek(const struct lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->text.len ? lexer->text.ptr[at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static void skip_one(struct lexer *lexer)
{
    if (peek(lexer, 0) == '\n') {
        lexer->line++;
        lexer->line_start = lexer->at + 1;
    }
    lexer->at++;
}

// White space and comments. False if a comment does not end.
static bool skip_space(struct lexer *lexer)
{
    for (;;) {
        int c = peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            skip_one(lexer);
        } else if (c == '-' && peek(lexer, 1) == '-') {
            while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
                lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->at += 2;
            while (peek(lexer, 0) >= 0 && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/'))
                skip_one(lexer);
            if (peek(lexer, 0) < 0)
                return false;
            lexer->at += 2;
        } else {
            return true;
        }
    }
}

// Up to the closing quote; a doubled one stands for itself, except in Ion.
static enum pql_kind lex_quoted(struct lexer *lexer, int quote, enum pql_kind kind)
{
    lexer->at++;
    for (; peek(lexer, 0) >= 0; skip_one(lexer)) {
        if (peek(lexer, 0) != quote)
            continue;
        if (quote != '`' && peek(lexer, 1) == quote) {
            lexer->at++;
            continue;
        }
        lexer->at++;
        return kind;
    }
    return PQL_UNKNOWN;
}

static size_t skip_digits(struct lexer *lexer)
{
    size_t start = lexer->at;
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
    return lexer->at - start;
}

// The exponent that stands here, with as many digits behind the point before it. False if it, or
// what it leaves of the scale, takes more than 32 bits.
static bool lex_exponent(struct lexer *lexer, size_t decimals)
{
    bool minus = peek(lexer, 0) == '-';
    lexer->at += minus || peek(lexer, 0) == '+';
    int64_t exponent = 0;
    for (; is_digit(peek(lexer, 0)); lexer->at++) {
        if (exponent <= INT32_MAX)
            exponent = exponent * 10 + (peek(lexer, 0) - '0');
    }
    if (minus)
        exponent = -exponent;
    int64_t scale = (int64_t)decimals - exponent;
    return exponent >= INT32_MIN && exponent <= INT32_MAX && scale >= INT32_MIN &&
           scale <= INT32_MAX;
}

static enum pql_kind lex_number(struct lexer *lexer)
{
    size_t decimals = 0;
    bool fits = true;
    (void)skip_digits(lexer);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        decimals = skip_digits(lexer);
    }
    int c = peek(lexer, 0);
    bool sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-';
    if ((c == 'e' || c == 'E') && is_digit(peek(lexer, sign ? 2 : 1))) {
        lexer->at++;
        fits = lex_exponent(lexer, decimals);
    }
    // 5x is neither a number nor a name.
    if (!is_word(peek(lexer, 0)))
        return fits ? PQL_NUMBER : PQL_UNKNOWN;
    while (is_word(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
        lexer->at++;
    return PQL_UNKNOWN;
}

static enum pql_kind lex_symbol(struct lexer *lexer)
{
    static const struct {
        const char *text;
        enum pql_kind kind;
    } symbols[] = {
        {"<<", PQL_LBAG},     {">>", PQL_RBAG},    {"<>", PQL_NE},      {"!=", PQL_NE},
        {"<=", PQL_LE},       {">=", PQL_GE},      {"||", PQL_CONCAT},  {"<", PQL_LT},
        {">", PQL_GT},        {"=", PQL_EQ},       {"?", PQL_QUESTION}, {"(", PQL_LPAREN},
        {")", PQL_RPAREN},    {"[", PQL_LBRACKET}, {"]", PQL_RBRACKET}, {"{", PQL_LBRACE},
        {"}", PQL_RBRACE},    {",", PQL_COMMA},    {".", PQL_DOT},      {":", PQL_COLON},
        {";", PQL_SEMICOLON}, {"*", PQL_STAR},     {"/", PQL_SLASH},    {"%", PQL_PERCENT},
        {"+", PQL_PLUS},      {"-", PQL_MINUS},
    };
    for (size_t i = 0; i < COUNT_OF(symbols); i++) {
        size_t len = strlen(symbols[i].text);
        if (peek(lexer, 0) != symbols[i].text[0] ||
            (len == 2 && peek(lexer, 1) != symbols[i].text[1]))
            continue;
        lexer->at += len;
        return symbols[i].kind;
    }
    lexer->at++;
    return PQL_UNKNOWN;
}

static enum pql_kind lex_one(struct lexer *lexer)
{
    int c = peek(lexer, 0);
    if (c < 0)
        return PQL_END;
    if (is_word(c)) {
        while (is_word(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
            lexer->at++;
        return PQL_WORD;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
        return lex_number(lexer);
    switch (c) {
    case '\'':
        return lex_quoted(lexer, c, PQL_STRING);
    case '"':
        return lex_quoted(lexer, c, PQL_QUOTED);
    case '`':
        return lex_quoted(lexer, c, PQL_ION);
    default:
        return lex_symbol(lexer);
    }
}

struct pql_token *pql_lex(struct arena *arena, struct slice text, bool *clean)
{
    // A token has at least one byte.
    struct pql_token *tokens = arena_alloc(arena, (text.len + 1) * sizeof(*tokens));
    struct lexer lexer = {.text = text, .line = 1};
    struct pql_token *token = tokens;
    *clean = true;
    for (; token != NULL; token++) {
        *clean = skip_space(&lexer) && *clean;
        size_t start = lexer.at;
        *token = (struct pql_token){.start = (uint32_t)start,
                                    .line = lexer.line,
                                    .column = (uint32_t)(start - lexer.line_start + 1)};
        token->kind = lex_one(&lexer);
        token->len = (uint32_t)(lexer.at - start);
        *clean = *clean && token->kind != PQL_UNKNOWN;
        if (token->kind == PQL_END)
            break;
    }
    return tokens;
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

bool pql_word_is(struct slice word, const char *keyword)
{
    for (size_t i = 0; i < word.len; i++) {
        if (keyword[i] == 0 || lower(word.ptr[i]) != lower((uint8_t)keyword[i]))
            return false;
    }
    return keyword[word.len] == 0;
}
