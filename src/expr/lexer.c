// The lexer: longest match over bytes, keywords without regard to case.
//
// No input is an error here. A byte that begins no token becomes TOKEN_UNKNOWN (a
// whole UTF-8 character), and the parser reports it like any other misplaced token.
#include "expr/lexer.h"

#include <strings.h>

struct keyword {
    const char *text;
    enum token_kind kind;
};

static const struct keyword keywords[] = {
    {"AND", TOKEN_AND},       {"OR", TOKEN_OR},           {"NOT", TOKEN_NOT},
    {"IN", TOKEN_IN},         {"BETWEEN", TOKEN_BETWEEN}, {"SET", TOKEN_SET},
    {"REMOVE", TOKEN_REMOVE}, {"ADD", TOKEN_ADD},         {"DELETE", TOKEN_DELETE},
};

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool lexer_is_word(uint8_t c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

static size_t word_length(struct slice text, size_t at)
{
    size_t end = at;
    while (end < text.len && lexer_is_word(text.ptr[end]))
        end++;
    return end - at;
}

static enum token_kind word_kind(struct slice text, size_t at, size_t len)
{
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (strlen(keywords[i].text) == len &&
            strncasecmp(keywords[i].text, (const char *)text.ptr + at, len) == 0)
            return keywords[i].kind;
    }
    return TOKEN_NAME;
}

// Length of the UTF-8 character at `at`, without trusting the bytes.
static size_t character_length(struct slice text, size_t at)
{
    size_t end = at + 1;
    if (text.ptr[at] >= 0xc0) {
        while (end < text.len && end < at + 4 && (text.ptr[end] & 0xc0) == 0x80)
            end++;
    }
    return end - at;
}

// Every other byte is TOKEN_END, which none of them is.
static const uint8_t punctuation[256] = {
    ['('] = TOKEN_LPAREN, [')'] = TOKEN_RPAREN, ['['] = TOKEN_LBRACKET, [']'] = TOKEN_RBRACKET,
    [','] = TOKEN_COMMA,  ['.'] = TOKEN_DOT,    ['+'] = TOKEN_PLUS,     ['-'] = TOKEN_MINUS,
    ['='] = TOKEN_EQ,     ['<'] = TOKEN_LT,     ['>'] = TOKEN_GT,
};

// A placeholder, or a lone sigil, which is no token.
static size_t placeholder(struct slice text, size_t at, enum token_kind *kind)
{
    size_t len = word_length(text, at + 1);
    if (len == 0) {
        *kind = TOKEN_UNKNOWN;
        return 1;
    }
    *kind = text.ptr[at] == '#' ? TOKEN_NAME_REF : TOKEN_VALUE_REF;
    return len + 1;
}

static size_t index_length(struct slice text, size_t at)
{
    size_t end = at + 1;
    if (text.ptr[at] != '0') {
        while (end < text.len && is_digit(text.ptr[end]))
            end++;
    }
    return end - at;
}

// Reads one token that does not begin with white space; returns its length.
static size_t token_read(struct slice text, size_t at, enum token_kind *kind)
{
    uint8_t c = text.ptr[at];
    uint8_t next = at + 1 < text.len ? text.ptr[at + 1] : 0;
    if (is_letter(c)) {
        size_t len = word_length(text, at);
        *kind = word_kind(text, at, len);
        return len;
    }
    if (c == '#' || c == ':')
        return placeholder(text, at, kind);
    if (is_digit(c)) {
        *kind = TOKEN_INDEX;
        return index_length(text, at);
    }
    *kind = (enum token_kind)punctuation[c];
    if (*kind == TOKEN_END) {
        *kind = TOKEN_UNKNOWN;
        return character_length(text, at);
    }
    if (c == '<' && (next == '>' || next == '=')) {
        *kind = next == '>' ? TOKEN_NE : TOKEN_LE;
        return 2;
    }
    if (c == '>' && next == '=') {
        *kind = TOKEN_GE;
        return 2;
    }
    return 1;
}

struct token *lexer_run(struct arena *arena, struct slice text, size_t *count)
{
    // No text has more tokens than bytes.
    struct token *tokens = arena_alloc(arena, (text.len + 1) * sizeof *tokens);
    if (tokens == NULL)
        return NULL;
    size_t n = 0;
    size_t at = 0;
    for (;;) {
        while (at < text.len && is_space(text.ptr[at]))
            at++;
        if (at == text.len)
            break;
        struct token *token = &tokens[n++];
        token->start = (uint32_t)at;
        token->len = (uint32_t)token_read(text, at, &token->kind);
        at += token->len;
    }
    tokens[n++] = (struct token){TOKEN_END, (uint32_t)text.len, 0};
    *count = n;
    return tokens;
}
