// Tokens of a .dolmen file, and of the files that are written like one (migrations). The whole text
// is cut at once, so that a parser can look ahead and back as it likes.
//
// Newlines mean nothing but for one flag: whether a token is the first of its line. Comments are
// kept beside the tokens; they are documentation (see parse.h).
#ifndef MODEL_LEXER_H
#define MODEL_LEXER_H

#include "model/diagnostic.h"

// X(kind, how a message names it)
#define MODEL_TOKEN_LIST(X)                                                                        \
    X(END, "the end of the file")                                                                  \
    X(NAME, "a name")                                                                              \
    X(STRING, "a string")                                                                          \
    X(NUMBER, "a number")                                                                          \
    X(DURATION, "a duration")                                                                      \
    X(SIZE, "a size")                                                                              \
    X(LBRACE, "\"{\"")                                                                             \
    X(RBRACE, "\"}\"")                                                                             \
    X(LPAREN, "\"(\"")                                                                             \
    X(RPAREN, "\")\"")                                                                             \
    X(LBRACKET, "\"[\"")                                                                           \
    X(RBRACKET, "\"]\"")                                                                           \
    X(LESS, "\"<\"")                                                                               \
    X(AT_MOST, "\"<=\"")                                                                           \
    X(MORE, "\">\"")                                                                               \
    X(AT_LEAST, "\">=\"")                                                                          \
    X(EQUAL, "\"=\"")                                                                              \
    X(NOT_EQUAL, "\"!=\"")                                                                         \
    X(ARROW, "\"->\"")                                                                             \
    X(COMMA, "\",\"")                                                                              \
    X(SEMICOLON, "\";\"")                                                                          \
    X(COLON, "\":\"")                                                                              \
    X(QUESTION, "\"?\"")                                                                           \
    X(ELSE, "\"??\"")                                                                              \
    X(STRICT, "\"?!\"")                                                                            \
    X(DOT, "\".\"")                                                                                \
    X(RANGE, "\"..\"")                                                                             \
    X(PLUS, "\"+\"")                                                                               \
    X(MINUS, "\"-\"")                                                                              \
    X(STAR, "\"*\"")                                                                               \
    X(PIPE, "\"|\"")                                                                               \
    X(UNKNOWN, "a character that means nothing here")                                              \
    X(BAD, "what has no end") /* has been told already */

enum model_token_kind {
#define X(kind, name) MODEL_TOKEN_##kind,
    MODEL_TOKEN_LIST(X)
#undef X
};

struct model_token {
    enum model_token_kind kind;
    bool first;      // of its line
    bool quoted;     // a NAME in backticks, which is never a word of the language
    uint32_t line;   // from 1
    uint32_t column; // from 1, in bytes; of the quote, if there is one
    uint32_t start;  // of the token in the text, quotes included
    uint32_t end;
};

struct model_comment {
    bool alone; // nothing stands before it in its line
    uint32_t line;
    uint32_t last_line;
    uint32_t start; // with its slashes
    uint32_t end;
};

struct model_tokens {
    struct slice text;
    bool part;    // of a file: the inside of a template
    size_t count; // without the END token that stands behind them
    struct model_token *list;
    size_t comment_count;
    struct model_comment *comments;
};

// Where a text begins in its file, if it is only a part of it (the inside of a string).
struct model_origin {
    uint32_t start; // offset in the file
    uint32_t end;
    uint32_t line;
    uint32_t column;
};

// Cuts a file. The arrays are in `arena`. False if the text is too long, no UTF-8, or memory is
// out; that is in the diagnostics. Strings and comments that do not end are in them too, but the
// rest is read all the same.
MUST_CHECK bool model_tokens_read(struct model_tokens *tokens, struct slice text,
                                  struct arena *arena, struct diagnostics *diagnostics);
// A part of a file; places are those of the file.
MUST_CHECK bool model_tokens_read_part(struct model_tokens *tokens, struct slice text,
                                       struct model_origin origin, struct arena *arena,
                                       struct diagnostics *diagnostics);

// What the token says: without backticks or quotes, escapes as they are.
struct slice model_token_text(const struct model_tokens *tokens, const struct model_token *token);
struct model_place model_token_place(const struct model_token *token);
// An unquoted name that reads so.
bool model_token_is(const struct model_tokens *tokens, const struct model_token *token,
                    const char *word);
// For messages: `"strng"`, `a string`, `the end of the file`. In the arena, never NULL.
const char *model_token_say(const struct model_tokens *tokens, const struct model_token *token,
                            struct arena *arena);

// The text of a string's inside with its escapes replaced, in the arena; the place is that of the
// inside. ptr is NULL after an error.
MUST_CHECK struct slice model_unescape(struct slice inside, struct model_place at,
                                       struct arena *arena, struct diagnostics *diagnostics);

#endif
