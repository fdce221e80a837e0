// Tokens of the expression language. One lexer serves all five kinds of expression: a
// keyword of updates (SET, ADD, …) is a keyword in a condition too, as in DynamoDB.
//
// Tokens are offsets into the text; they live in the arena and borrow nothing.
#ifndef EXPR_LEXER_H
#define EXPR_LEXER_H

#include "base/arena.h"

enum token_kind {
    TOKEN_END,       // always the last one; its length is 0
    TOKEN_NAME,      // letter, then letters, digits and underscores
    TOKEN_NAME_REF,  // #name
    TOKEN_VALUE_REF, // :value
    TOKEN_INDEX,     // 0, or digits that do not begin with 0
    TOKEN_LPAREN,
    TOKEN_RPAREN,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_IN,
    TOKEN_BETWEEN,
    TOKEN_SET,
    TOKEN_REMOVE,
    TOKEN_ADD,
    TOKEN_DELETE,
    TOKEN_UNKNOWN, // one character that begins no token
};

struct token {
    enum token_kind kind;
    uint32_t start;
    uint32_t len;
};

// Splits the text (at most LIMIT_EXPRESSION bytes) into tokens, TOKEN_END behind the last one.
// NULL if the arena is used up. `count` includes TOKEN_END.
MUST_CHECK struct token *lexer_run(struct arena *arena, struct slice text, size_t *count);

// True for [0-9A-Za-z_]: what may follow the sigil of a placeholder.
bool lexer_is_word(uint8_t c);

#endif
