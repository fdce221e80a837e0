// Tokens of PartiQL. Keywords are words like others here; the parser asks for them, and pql_word()
// tells which of them no bare identifier may be.
#ifndef PARTIQL_LEXER_H
#define PARTIQL_LEXER_H

#include "base/arena.h"

enum pql_kind {
    PQL_END, // always the last one
    PQL_WORD,
    PQL_QUOTED, // "identifier"
    PQL_STRING, // 'text'
    PQL_NUMBER, // without sign
    PQL_ION,    // `anything`
    PQL_QUESTION,
    PQL_LPAREN,
    PQL_RPAREN,
    PQL_LBRACKET,
    PQL_RBRACKET,
    PQL_LBRACE,
    PQL_RBRACE,
    PQL_LBAG, // <<
    PQL_RBAG, // >>
    PQL_COMMA,
    PQL_DOT,
    PQL_COLON,
    PQL_SEMICOLON,
    PQL_STAR,
    PQL_SLASH,
    PQL_PERCENT,
    PQL_PLUS,
    PQL_MINUS,
    PQL_CONCAT, // ||
    PQL_EQ,
    PQL_NE, // <> and !=
    PQL_LT,
    PQL_LE,
    PQL_GT,
    PQL_GE,
    PQL_UNKNOWN, // what begins no token, a quote or a comment that never ends, an endless exponent
};

struct pql_token {
    enum pql_kind kind;
    uint32_t start;
    uint32_t len;
    uint32_t line; // from 1
    uint32_t column;
};

// Splits the text into tokens, PQL_END behind the last one; NULL if the arena is used up. *clean
// tells that none of them is PQL_UNKNOWN.
MUST_CHECK struct pql_token *pql_lex(struct arena *arena, struct slice text, bool *clean);

// Whether the word is the keyword, whatever its case.
bool pql_word_is(struct slice word, const char *keyword);
// What a word is. Only names may be names without quotes.
enum pql_word { WORD_NONE, WORD_NAME, WORD_KEYWORD, WORD_OPERATOR, WORD_FUNCTION };
enum pql_word pql_word(struct slice word);

#endif
