// The parser's cursor and the parts of the grammar that other files of the same style use too:
// migrations are written with the templates and expressions of models.
//
// Every function that returns bool or a pointer has told the diagnostics why before it answers
// false or NULL. Parsing does not resolve names: a path's attribute is filled in by
// model_expr_resolve().
#ifndef MODEL_PARSE_H
#define MODEL_PARSE_H

#include "model/lexer.h"
#include "model/model.h"

struct model_parser {
    struct model_tokens tokens;
    size_t at;
    struct arena *arena;   // of what is made; names point into the text
    struct arena *scratch; // of what is needed for a while
    struct diagnostics *diagnostics;
    unsigned depth; // of nesting
};

// Reads the whole text; false if it cannot even be cut into tokens.
MUST_CHECK bool parse_init(struct model_parser *p, struct slice text, struct arena *arena,
                           struct arena *scratch, struct diagnostics *diagnostics);

// ---- The cursor -----------------------------------------------------------------------------

const struct model_token *parse_peek(const struct model_parser *p);
const struct model_token *parse_peek_at(const struct model_parser *p, size_t ahead);
const struct model_token *parse_last(const struct model_parser *p); // the one taken last
const struct model_token *parse_take(struct model_parser *p);
struct model_place parse_place(const struct model_parser *p); // of the next token
struct slice parse_text(const struct model_parser *p, const struct model_token *token);

bool parse_at(const struct model_parser *p, enum model_token_kind kind);
bool parse_at_word(const struct model_parser *p, const char *word);
// Takes the token if it is there.
bool parse_accept(struct model_parser *p, enum model_token_kind kind);
bool parse_accept_word(struct model_parser *p, const char *word);
// Takes the word or mark if it is one of the texts, which end with NULL.
bool parse_accept_any(struct model_parser *p, const char *const *texts, size_t *position);
// Takes it, or says that `what` was expected: "a name for the table".
MUST_CHECK bool parse_expect(struct model_parser *p, enum model_token_kind kind, const char *what);
MUST_CHECK bool parse_expect_word(struct model_parser *p, const char *word);
MUST_CHECK bool parse_name(struct model_parser *p, const char *what, struct slice *name);
// One of the words, as its position; says which there are if it is none of them. The list ends
// with NULL.
MUST_CHECK bool parse_choice(struct model_parser *p, const char *const *words, size_t *position);
// Always false: `expected WHAT, got …` at the next token.
bool parse_expected(struct model_parser *p, const char *what);
bool parse_no_memory(struct model_parser *p);
#define parse_exhausted(p) ((void)parse_no_memory(p), (void *)NULL)
// One level of nesting more, which the caller takes back (p->depth--); says so if these are too
// many.
MUST_CHECK bool parse_deeper(struct model_parser *p, struct model_place at);

// After an error inside braces: to the next item (the first token of a line at the same depth), or
// the closing brace, or a declaration at the left margin. `from` is where the broken item began.
void parse_recover_item(struct model_parser *p, size_t from);
// The words that begin declarations; the list ends with NULL.
extern const char *const parse_declarations[];
enum { DECLARATIONS_OF_SHAPE = 4 }; // the first ones: table, entity, mixin, type
// Whether a declaration begins here, at the left margin.
bool parse_declaration_begins(const struct model_parser *p);
// The same, and what follows leaves no doubt: the brace of the declaration before was forgotten.
bool parse_brace_forgotten(const struct model_parser *p);

// The comment above the token at `first` and the one behind the token at `last` (positions in
// p->tokens), without slashes, in the arena.
struct slice parse_doc(struct model_parser *p, size_t first, size_t last);

// ---- Shared parts of the grammar ------------------------------------------------------------

MUST_CHECK struct model_expr *parse_expr(struct model_parser *p);
// What stands behind an operator that takes a value, or "between" two.
MUST_CHECK bool parse_operands(struct model_parser *p, enum model_op op,
                               const struct model_expr *values[2]);
// NAME {"." NAME}: the steps, in the arena, and where they stand.
MUST_CHECK bool parse_path(struct model_parser *p, const struct slice **steps, size_t *count,
                           struct model_place *at);
// A name that stands for itself: the attribute; and "{name}", a template that is nothing else.
MUST_CHECK struct model_expr *parse_attribute_path(struct model_parser *p, struct slice name,
                                                   struct model_place at);
MUST_CHECK struct model_template *parse_bare(struct model_parser *p, const struct model_expr *path,
                                             struct slice name);
// STRING or NAME.
MUST_CHECK struct model_template *parse_template(struct model_parser *p);
// What makes a part of a key: a template, or an expression without quotes (*plain), which begins
// with a name or a number.
MUST_CHECK struct model_template *parse_key(struct model_parser *p, bool *plain);
// A string without expressions, its escapes replaced.
MUST_CHECK bool parse_string(struct model_parser *p, const char *what, struct slice *text);
// A number with its sign, in the stored form (value/number.h).
MUST_CHECK bool parse_number(struct model_parser *p, const char *what, struct slice *stored);
// A whole number from min to max.
MUST_CHECK bool parse_count(struct model_parser *p, const char *what, uint64_t min, uint64_t max,
                            uint64_t *count);
MUST_CHECK bool parse_duration(struct model_parser *p, uint64_t *seconds);

// ---- Resolving ------------------------------------------------------------------------------

// Gives paths their attributes, and names of parameters their positions (they come first); checks
// functions' arguments. `entity` may be NULL: then only parameters may be named. With `lax` an
// attribute that the entity does not declare is no error.
struct model_names {
    const struct model_entity *entity;
    size_t param_count;
    const struct model_param *params;
    bool *used; // by parameter; or NULL
    bool lax;
    unsigned allows;  // of enum model_allow
    const char *what; // for messages: `entity User`
};

// Functions that mean something in some places only.
enum model_allow {
    MODEL_ALLOW_ORIGIN = 1, // actor(), operation()
    MODEL_ALLOW_IMAGES = 2, // item(), old()
    MODEL_ALLOW_EACH = 4,
    MODEL_ALLOW_EVENT = 8,
    MODEL_ALLOW_CHANCE = 16, // now(), uuid(), ulid(): what is another each time
    MODEL_ALLOW_TAGS = 32,   // actor.NAME
};
MUST_CHECK bool model_expr_resolve(const struct model_expr *expr, const struct model_names *scope,
                                   struct arena *scratch, struct diagnostics *diagnostics);
MUST_CHECK bool model_template_resolve(const struct model_template *template,
                                       const struct model_names *scope, struct arena *scratch,
                                       struct diagnostics *diagnostics);

// `; did you mean "x"?` for the candidate nearest to a name, or "" if none is near. Call
// candidate() for each name there is.
struct model_guess {
    struct slice name;
    struct slice best;
    size_t distance;
};
struct model_guess model_guess_for(struct slice name);
void model_guess_candidate(struct model_guess *guess, struct slice candidate);
void model_guess_attributes(struct model_guess *guess, const struct model_entity *entity);
const char *model_guess_say(const struct model_guess *guess, struct arena *arena);

#endif
