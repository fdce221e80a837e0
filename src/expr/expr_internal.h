// What the files of this module share: the syntax tree of one expression, the
// checks that turn it into programs, and the programs themselves.
//
// Everything here lives in the request's arena. A tree is dropped when its program
// is made; programs keep only slices of the request.
#ifndef EXPR_INTERNAL_H
#define EXPR_INTERNAL_H

#include "expr/expr.h"
#include "expr/lexer.h"

// ---- Operators and functions ----------------------------------------------------

// Where a function may be called: as a whole condition, as an operand of one, as a
// whole SET value, or as a SET value and an operand of one.
enum expr_place {
    EXPR_PLACE_NONE,
    EXPR_PLACE_CONDITION,
    EXPR_PLACE_CONDITION_OPERAND,
    EXPR_PLACE_UPDATE,
    EXPR_PLACE_UPDATE_OPERAND,
};

struct op_row {
    const char *text;
    size_t operands;
    enum expr_place place;
};
extern const struct op_row op_rows[];

// The function of this name (case matters), or OP_UNKNOWN.
enum expr_op op_from_name(struct slice name);

// True if the word may not be used as an attribute name (case does not matter).
bool reserved_word(struct slice word);

// ---- Syntax tree -------------------------------------------------------------------

enum node_kind {
    NODE_PATH,
    NODE_VALUE,
    NODE_CALL,     // function
    NODE_OPERATOR, // comparison, BETWEEN, IN, +, -, NOT, AND, OR
    NODE_BRANCH,   // between the operands of AND and OR: where evaluation may stop
};

struct expr_node {
    enum node_kind kind;
    enum expr_op op;
    uint32_t token;     // where it begins
    uint32_t end;       // of a path: the token behind it
    bool parenthesised; // by parentheses of its own
    bool redundant;     // by more than one pair
    bool operand;       // of a call: used as an operand, not as a whole
    size_t arg_count;
    struct expr_node *args; // first argument
    struct expr_node *last_arg;
    struct expr_node *next;         // argument of the same parent
    struct expr_node *next_created; // in the order of the text
    struct expr_node *next_post;    // operands before operators: the order of evaluation

    // Only while a constructor holds it: it begins a list in the order of the text, and ends one
    // in the order of evaluation. Their other ends:
    struct expr_node *last_created;
    struct expr_node *first_post;

    // Set by a constructor, or by the checks.
    struct path path;             // NODE_PATH
    bool tested;                  // NODE_PATH: the one if_not_exists() asks for
    const struct expr_node *user; // the +, - or list_append() it is an operand of
    struct slice value;           // NODE_VALUE
    size_t step;                  // NODE_BRANCH: its place in the program
    struct expr_node *branch;     // AND, OR: the branch between the sides
};

struct node_frame; // private to parser.c

struct parser {
    struct expr_params *params;
    enum expr_kind kind;
    bool plain;        // messages do not name the kind
    struct slice text; // of a text: empty if constructors made the tree
    struct token *tokens;
    size_t token_count;
    size_t at; // the next token

    struct expr_node *created, **created_tail;
    struct expr_node *post, **post_tail;
    struct node_frame *frames;
    size_t depth;
    size_t operators; // counted by the checks
};

// A tree without nodes.
void parser_clear(struct parser *parser, struct expr_params *params, enum expr_kind kind);
// Empty and oversize texts are errors. On success the parser stands before the first token.
MUST_CHECK bool parser_init(struct parser *parser, struct expr_params *params, struct slice text,
                            enum expr_kind kind);

// "Invalid UpdateExpression: " and the message; always false.
bool parser_error(struct parser *parser, const char *format, ...) PRINTF_LIKE(2, 3);
// "Syntax error; token: …, near: …" at the token; always false.
bool parser_syntax(struct parser *parser, size_t token);

static inline enum token_kind parser_peek(const struct parser *parser)
{
    return parser->tokens[parser->at].kind;
}

static inline struct slice parser_text(const struct parser *parser, size_t token)
{
    const struct token *at = &parser->tokens[token];
    return slice_of(parser->text.ptr + at->start, at->len);
}

// A document path; a value placeholder; a whole condition; the right side of SET.
// NULL with an error.
MUST_CHECK struct expr_node *parser_path(struct parser *parser);
MUST_CHECK struct expr_node *parser_value(struct parser *parser);
MUST_CHECK struct expr_node *parser_condition(struct parser *parser);
MUST_CHECK struct expr_node *parser_operand(struct parser *parser);

// Makes `arg` the next argument of `parent`.
void node_add(struct expr_node *parent, struct expr_node *arg);

// ---- From trees to programs ------------------------------------------------------------

// What the compilers do when the tree is there, whoever made it: checks, then the program. NULL
// with an error.
MUST_CHECK struct expr_condition *condition_compile(struct parser *parser);
// The same without the checks; and of parts that others have judged by their own rules, of which
// there may be none.
MUST_CHECK struct expr_condition *condition_build(struct parser *parser);
MUST_CHECK struct expr_condition *build_unchecked(struct expr_builder *b,
                                                  struct expr_node *condition);
MUST_CHECK struct expr_key *key_compile(struct parser *parser, struct expr_node *root);
MUST_CHECK struct expr_projection *projection_compile(struct parser *parser);

// One action of an update.
struct clause {
    enum expr_action kind;
    struct expr_node *path;
    struct expr_node *value; // the operand of ADD and DELETE
    struct expr_node *first; // SET: first and last node of the right side in evaluation order
    struct expr_node *last;
};
MUST_CHECK struct expr_update *update_compile(struct parser *parser, size_t count,
                                              struct clause *clauses);

// ---- Checks -------------------------------------------------------------------------

// First pass, in the order of the text: reserved words, list indexes, depth of paths, names and
// places of functions.
MUST_CHECK bool check_words(struct parser *parser);
// Second pass over one node whose arguments have passed: placeholders, number and types of
// operands.
MUST_CHECK bool check_node(struct parser *parser, struct expr_node *node);
// Both passes over a whole condition.
MUST_CHECK bool check_tree(struct parser *parser);
// Resolve one leaf, unless a constructor did.
MUST_CHECK bool check_path(struct parser *parser, struct expr_node *node);
MUST_CHECK bool check_value(struct parser *parser, struct expr_node *node);
// No two of the paths may overlap or conflict; `sorted` receives them in path order.
MUST_CHECK bool check_overlap(struct parser *parser, const struct path *paths, size_t count,
                              const struct path ***sorted);

// The paths in path order; NULL if the arena is used up.
const struct path **paths_sort(struct arena *arena, const struct path *paths, size_t count);

// The type an operand is known to have before any item is seen, or VALUE_TYPES.
enum value_type node_type(const struct expr_node *node);

// "[a, b, [1]]" in the arena, for messages; NULL if it is used up.
char *path_text(struct arena *arena, struct path path);
bool path_equal(struct path a, struct path b);

// Marks the placeholder as used. `*out` is untouched if it is not defined.
bool params_name(struct expr_params *params, struct slice name, struct slice *out);
bool params_value(struct expr_params *params, struct slice name, struct slice *out);

// ---- Programs ----------------------------------------------------------------------

// A place in an item that a program reads or writes: a tree of path steps, siblings in path order
// (indexes before names). `found` is scratch: what the item at hand has there, or VALUE_NONE.
struct place {
    struct path_step step;
    struct place *parent;
    struct place *child;
    struct place *last_child;
    struct place *next; // sibling
    struct slice found;
};

// Makes the tree of the paths; out[i] is the place of paths[i]. False if the arena is used up.
MUST_CHECK bool places_of(struct arena *arena, struct place *root, const struct path *paths,
                          size_t count, struct place **out);
// The same from what paths_sort() made of them; `out` may be NULL, and `paths` with it.
MUST_CHECK bool places_build(struct arena *arena, struct place *root,
                             const struct path *const *sorted, size_t count,
                             const struct path *paths, struct place **out);
// Finds every place of the tree in one walk over the item, which may be VALUE_NONE.
void places_find(struct place *place, struct slice value, struct steps *steps);

// What a condition compares: a constant or what a path finds, or the size() of either.
struct operand {
    bool is_path;
    bool size;
    struct path path;
    const struct place *place; // of the path
    struct slice value;
};

// Steps work on one truth value: tests set it, NOT turns it, jumps look at it.
enum step_kind { STEP_TEST, STEP_NOT, STEP_JUMP_FALSE, STEP_JUMP_TRUE };

struct step {
    enum step_kind kind;
    enum expr_op op;      // STEP_TEST
    enum value_type type; // OP_TYPE: what is asked for
    size_t target;        // jumps: the step to go on with
    size_t operand_count; // STEP_TEST
    const struct operand *operands;
};

struct expr_condition {
    size_t step_count;
    const struct step *steps;
    size_t operand_count; // of all steps, one after the other
    struct operand *operands;
    struct place *places; // the root of what they read
};

struct expr_projection {
    struct place *places; // the root; a place without children takes the whole value
};

// From paths in path order without overlaps. NULL if the arena is used up.
MUST_CHECK struct expr_projection *projection_build(struct arena *arena, size_t count,
                                                    const struct path *const *sorted);

// The right side of SET in postfix, over a stack of at most two values.
enum term_kind { TERM_PATH, TERM_VALUE, TERM_DEFAULT, TERM_APPEND, TERM_PLUS, TERM_MINUS };

struct term {
    enum term_kind kind;
    struct path path; // TERM_PATH, TERM_DEFAULT
    const struct place *place;
    struct slice value;     // TERM_VALUE
    enum value_type wanted; // what its result must be, or VALUE_TYPES
};

struct action {
    enum expr_action kind;
    struct path path;
    const struct place *place;
    struct slice value; // ADD, DELETE
    size_t term_count;  // SET
    struct term *terms;
};

struct expr_update {
    bool legacy; // AttributeUpdates: other messages, and ADD appends to lists
    size_t action_count;
    struct action *actions;
    const struct action **order; // the same in path order
    struct place *places;        // the root of what they read and write
    struct expr_projection *touched;
    bool deepens; // may make an item of more levels than there may be
};

// Makes the places of all actions and terms, their order, and `deepens`. False if the arena is used
// up.
MUST_CHECK bool update_places(struct arena *arena, struct expr_update *update);

// The old parameters are bounded by the number of their entries.
MUST_CHECK bool legacy_count_check(size_t count, struct error *error);

#endif
