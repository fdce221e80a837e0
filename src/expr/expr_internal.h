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

// X(op, text in messages, operands (0: any), where a call may stand). LACKS is NOT_CONTAINS of
// the legacy parameters: unlike NOT contains() it is false for a missing attribute.
#define EXPR_OP_LIST(X)                                                                            \
    X(EQ, "=", 2, EXPR_PLACE_NONE)                                                                 \
    X(NE, "<>", 2, EXPR_PLACE_NONE)                                                                \
    X(LT, "<", 2, EXPR_PLACE_NONE)                                                                 \
    X(LE, "<=", 2, EXPR_PLACE_NONE)                                                                \
    X(GT, ">", 2, EXPR_PLACE_NONE)                                                                 \
    X(GE, ">=", 2, EXPR_PLACE_NONE)                                                                \
    X(BETWEEN, "BETWEEN", 3, EXPR_PLACE_NONE)                                                      \
    X(IN, "IN", 0, EXPR_PLACE_NONE)                                                                \
    X(AND, "AND", 2, EXPR_PLACE_NONE)                                                              \
    X(OR, "OR", 2, EXPR_PLACE_NONE)                                                                \
    X(NOT, "NOT", 1, EXPR_PLACE_NONE)                                                              \
    X(PLUS, "+", 2, EXPR_PLACE_NONE)                                                               \
    X(MINUS, "-", 2, EXPR_PLACE_NONE)                                                              \
    X(LACKS, "NOT_CONTAINS", 2, EXPR_PLACE_NONE)                                                   \
    X(EXISTS, "attribute_exists", 1, EXPR_PLACE_CONDITION)                                         \
    X(MISSING, "attribute_not_exists", 1, EXPR_PLACE_CONDITION)                                    \
    X(TYPE, "attribute_type", 2, EXPR_PLACE_CONDITION)                                             \
    X(BEGINS, "begins_with", 2, EXPR_PLACE_CONDITION)                                              \
    X(CONTAINS, "contains", 2, EXPR_PLACE_CONDITION)                                               \
    X(SIZE, "size", 1, EXPR_PLACE_CONDITION_OPERAND)                                               \
    X(DEFAULT, "if_not_exists", 2, EXPR_PLACE_UPDATE_OPERAND)                                      \
    X(APPEND, "list_append", 2, EXPR_PLACE_UPDATE)

enum expr_op {
#define X(op, text, operands, place) OP_##op,
    EXPR_OP_LIST(X)
#undef X
        OP_UNKNOWN, // a call of a name that is no function
};

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

struct node {
    enum node_kind kind;
    enum expr_op op;
    uint32_t token;     // where it begins
    uint32_t end;       // of a path: the token behind it
    bool parenthesised; // by parentheses of its own
    bool redundant;     // by more than one pair
    bool operand;       // of a call: used as an operand, not as a whole
    size_t arg_count;
    struct node *args; // first argument
    struct node *last_arg;
    struct node *next;         // argument of the same parent
    struct node *next_created; // in the order of the text
    struct node *next_post;    // operands before operators: the order of evaluation

    // Set by the checks.
    struct path path;        // NODE_PATH
    bool tested;             // NODE_PATH: the one if_not_exists() asks for
    const struct node *user; // the +, - or list_append() it is an operand of
    struct slice value;      // NODE_VALUE
    size_t step;             // NODE_BRANCH: its place in the program
    struct node *branch;     // AND, OR: the branch between the sides
};

struct node_frame; // private to parser.c

struct parser {
    struct expr_params *params;
    enum expr_kind kind;
    struct slice text;
    struct token *tokens;
    size_t token_count;
    size_t at; // the next token

    struct node *created, **created_tail;
    struct node *post, **post_tail;
    struct node_frame *frames;
    size_t depth;
    size_t operators; // counted by the checks
};

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
MUST_CHECK struct node *parser_path(struct parser *parser);
MUST_CHECK struct node *parser_value(struct parser *parser);
MUST_CHECK struct node *parser_condition(struct parser *parser);
MUST_CHECK struct node *parser_operand(struct parser *parser);

// ---- Checks -------------------------------------------------------------------------

// First pass, in the order of the text: reserved words, list indexes, depth of paths, names and
// places of functions.
MUST_CHECK bool check_words(struct parser *parser);
// Second pass over one node whose arguments have passed: placeholders, number and types of
// operands.
MUST_CHECK bool check_node(struct parser *parser, struct node *node);
// Resolve one leaf.
MUST_CHECK bool check_path(struct parser *parser, struct node *node);
MUST_CHECK bool check_value(struct parser *parser, struct node *node);
// No two of the paths may overlap or conflict; `sorted` receives them in path order.
MUST_CHECK bool check_overlap(struct parser *parser, const struct path *paths, size_t count,
                              const struct path ***sorted);

// The paths in path order; NULL if the arena is used up.
const struct path **paths_sort(struct arena *arena, const struct path *paths, size_t count);

// The type an operand is known to have before any item is seen, or VALUE_TYPES.
enum value_type node_type(const struct node *node);

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

// Makes the places of the operands, when all else is there. False if the arena is used up.
MUST_CHECK bool condition_places(struct arena *arena, struct expr_condition *condition);

struct expr_projection {
    struct place *places; // the root; a place without children takes the whole value
};

// From paths in path order without overlaps. NULL if the arena is used up.
MUST_CHECK struct expr_projection *projection_build(struct arena *arena, size_t count,
                                                    const struct path *const *sorted);

enum action_kind { ACTION_SET, ACTION_REMOVE, ACTION_ADD, ACTION_DELETE };

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
    enum action_kind kind;
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
};

// Makes the places of all actions and terms, and their order. False if the arena is used up.
MUST_CHECK bool update_places(struct arena *arena, struct expr_update *update);

// The old parameters are bounded by the number of their entries.
MUST_CHECK bool legacy_count_check(size_t count, struct error *error);

#endif
