// What the files of this module share: the syntax tree of a statement, and the steps between it and
// a plan.
//
// Everything lives in the request's arena. Every `bool` function sets the error when it returns
// false. A tree is never deeper than PQL_DEPTH, so recursion over it is bounded.
#ifndef PARTIQL_INTERNAL_H
#define PARTIQL_INTERNAL_H

#include "partiql/lexer.h"
#include "partiql/partiql.h"
#include "value/number.h"

enum { PQL_DEPTH = 64 };

// ---- Syntax tree ------------------------------------------------------------------------------

// X(kind, how messages name it, how they name it where it is a statement, what it is in expr).
#define PQL_NODE_LIST(X)                                                                           \
    X(VALUE, "Literal", "Lit", OP_UNKNOWN) /* a scalar or a parameter: `value` */                  \
    X(LIST, "List", "List", OP_UNKNOWN)                                                            \
    X(BAG, "Bag", "Bag", OP_UNKNOWN)                                                               \
    X(MAP, "Struct", "Struct", OP_UNKNOWN) /* each part has a `key` */                             \
    X(MISSING, "MISSING", "Missing", OP_UNKNOWN)                                                   \
    X(PATH, "VariableReference", "Path", OP_UNKNOWN)                                               \
    X(CALL, "Call", "Call", OP_UNKNOWN)                                                            \
    X(AND, "and", "And", OP_AND)                                                                   \
    X(OR, "or", "Or", OP_OR)                                                                       \
    X(NOT, "not", "Not", OP_NOT)                                                                   \
    X(EQ, "=", "Eq", OP_EQ)                                                                        \
    X(NE, "<>", "Ne", OP_NE)                                                                       \
    X(LT, "<", "Lt", OP_LT)                                                                        \
    X(LE, "<=", "Lte", OP_LE)                                                                      \
    X(GT, ">", "Gt", OP_GT)                                                                        \
    X(GE, ">=", "Gte", OP_GE)                                                                      \
    X(BETWEEN, "between", "Between", OP_BETWEEN)                                                   \
    X(IN, "in", "InCollection", OP_IN) /* the operand, then the members */                         \
    X(IS, "is", "IsType", OP_UNKNOWN)  /* the operand; `types` */                                  \
    X(LIKE, "like", "Like", OP_UNKNOWN)                                                            \
    X(PLUS, "+", "Plus", OP_PLUS)                                                                  \
    X(MINUS, "-", "Minus", OP_MINUS)                                                               \
    X(POSITIVE, "+", "Pos", OP_UNKNOWN)                                                            \
    X(NEGATE, "-", "Neg", OP_UNKNOWN)                                                              \
    X(TIMES, "*", "Times", OP_UNKNOWN)                                                             \
    X(DIVIDE, "/", "Divide", OP_UNKNOWN)                                                           \
    X(MODULO, "%", "Mod", OP_UNKNOWN)                                                              \
    X(CONCAT, "||", "Concat", OP_UNKNOWN)

enum pql_node_kind {
#define X(kind, text, operation, op) NODE_##kind,
    PQL_NODE_LIST(X)
#undef X
        NODE_KINDS
};

// The stars of a path: a.*, a[0].*, or others, which are nowhere allowed.
enum pql_stars { STARS_NONE, STARS_LAST, STARS_BEHIND_BRACKETS, STARS_INSIDE };

enum { PQL_MISSING = 1 << VALUE_TYPES };

struct pql_node {
    enum pql_node_kind kind;
    const struct pql_token *token; // where it begins, or its operator
    unsigned depth;                // of the tree below it
    struct slice value;            // VALUE: encoded
    const char *fault;             // VALUE: why the number cannot be stored; or NULL
    unsigned types;                // IS: types of values as bits, PQL_MISSING for none at all
    struct slice name;             // CALL: the function
    struct slice key;              // of a part of a MAP: its name, decoded
    const struct pql_token *key_token;
    struct path path;    // PATH
    struct slice *texts; // PATH: how each step was written, for the names of outputs
    enum pql_stars stars;
    struct pql_node *first;
    struct pql_node *last;
    struct pql_node *next; // part of the same parent
    size_t count;          // of parts
};

const char *pql_node_name(enum pql_node_kind kind);
// What it is called as a statement of its own.
const char *pql_node_operation(const struct pql_node *node);
// Its operator in expr, or OP_UNKNOWN.
enum expr_op pql_node_op(enum pql_node_kind kind);

// SET target = value, or REMOVE target if value is NULL.
struct pql_change {
    struct pql_change *next;
    struct pql_node *target;
    struct pql_node *value;
};

struct pql_order {
    struct pql_order *next;
    struct slice name;
    bool descending;
};

struct partiql_tree {
    struct pql_node *select; // paths, linked by next; NULL for *
    struct pql_node *item;   // INSERT
    struct pql_change *changes;
    struct pql_node *where; // NULL without
    struct pql_order *order;
    // Made of them by pql_judge().
    struct slice encoded;       // INSERT
    struct expr_update *update; // UPDATE
};

// ---- Parsing ------------------------------------------------------------------------------------

struct pql_parser {
    struct arena *arena;
    struct error *error;
    struct error refused; // what is well formed, but nothing that DynamoDB does: the first of it
    struct slice text;
    const struct pql_token *token; // the next one
    unsigned depth;                // of the recursion
    size_t parameter_count;
    const struct slice *parameters;
    size_t used; // parameters so far
};

// "Statement wasn't well formed, can't be processed: …"; always false.
bool pql_malformed(struct pql_parser *parser, const char *reason);
// A ValidationException with " at line:column:length" of the token behind it, unless that is NULL;
// always false.
bool pql_error_at(struct error *error, const struct pql_token *token, const char *format, ...)
    PRINTF_LIKE(3, 4);
// The same, to be told when the whole statement is well formed; always true.
bool pql_refuse_later(struct pql_parser *parser, const struct pql_token *token, const char *format,
                      ...) PRINTF_LIKE(3, 4);

// What kind of word the token is.
enum pql_word pql_token_word(const struct pql_parser *parser, const struct pql_token *token);
bool pql_token_is(const struct pql_parser *parser, const struct pql_token *token,
                  const char *keyword);
// Whether the next token is that word; is a name, bare or quoted.
bool pql_is_word(const struct pql_parser *parser, const char *keyword);
bool pql_is_name(const struct pql_parser *parser);
// Takes the next token if it is that.
bool pql_accept(struct pql_parser *parser, enum pql_kind kind);
bool pql_accept_word(struct pql_parser *parser, const char *keyword);
// The same, but anything else is malformed.
MUST_CHECK bool pql_expect(struct pql_parser *parser, enum pql_kind kind, const char *reason);

// The text of a token: of quoted ones what is between the quotes, decoded. False if memory is out.
MUST_CHECK bool pql_token_text(struct pql_parser *parser, const struct pql_token *token,
                               struct slice *out);

// Nodes: a new one; one of a constant; a node's next part, which may be NULL for what could not be
// parsed. NULL or false with the error set.
MUST_CHECK struct pql_node *pql_node_new(struct pql_parser *parser, enum pql_node_kind kind,
                                         const struct pql_token *token);
MUST_CHECK struct pql_node *pql_node_value(struct pql_parser *parser, const struct pql_token *token,
                                           struct slice encoded);
MUST_CHECK bool pql_node_add(struct pql_parser *parser, struct pql_node *node,
                             struct pql_node *part);
// "Nesting Levels have exceeded …"; always NULL.
struct pql_node *pql_too_deep(struct pql_parser *parser);

// What is written to: a path of names and literals. A term; (a, b, …) as a list (parse_term.c).
MUST_CHECK struct pql_node *pql_parse_target(struct pql_parser *parser);
MUST_CHECK struct pql_node *pql_parse_term(struct pql_parser *parser);
MUST_CHECK struct pql_node *pql_parse_group(struct pql_parser *parser);
// Any expression (parse_expr.c).
MUST_CHECK struct pql_node *pql_parse_expr(struct pql_parser *parser);

// ---- Values (value.c) ---------------------------------------------------------------------------

// Whether the node is a constant: a scalar, a parameter, or a list, bag or map.
bool pql_is_constant(const struct pql_node *node);
// A number's token as an encoded value; or *fault, and any number.
MUST_CHECK bool pql_number(struct pql_parser *parser, struct slice text, struct slice *out,
                           const char **fault);
// The encoded value of a constant; what is not constant in it is an error.
MUST_CHECK bool pql_value(struct arena *arena, const struct pql_node *node, struct slice *out,
                          struct error *error);
// A map as an item, which is no level of nesting itself.
MUST_CHECK bool pql_item(struct arena *arena, const struct pql_node *node, struct slice *out,
                         struct error *error);

// ---- Expressions (condition.c, update.c) --------------------------------------------------------

// Parts of a statement are built with the constructors of expr, whose messages then do not name
// an expression. The limit on an expression is one on its text, though, with placeholders for
// names (each once) and values: so what it would take is counted along.
struct pql_builder {
    struct expr_builder expr; // first
    size_t size;
    size_t name_count;
    size_t name_room;
    struct slice *names;
    size_t value_count;
};

static inline struct pql_builder pql_builder(struct arena *arena, struct error *error)
{
    return (struct pql_builder){.expr = {.arena = arena, .error = error, .plain = true}};
}

// Counts bytes of text; a name; all names and indexes of a path.
static inline void pql_count(struct expr_builder *b, size_t bytes)
{
    ((struct pql_builder *)b)->size += bytes;
}
void pql_count_name(struct expr_builder *b, struct slice name);
void pql_count_path(struct expr_builder *b, struct path path);
// "Expression size has exceeded …", if it has. Errors that were found before come first.
MUST_CHECK bool pql_fits(struct pql_builder *b, bool tell_size);
// NULL with the error set, or a program.
MUST_CHECK struct expr_condition *pql_build_condition(struct pql_builder *b,
                                                      struct expr_node *condition);

// Sets the error; what a part that was refused is: nothing. Always NULL.
struct expr_node *pql_refuse(struct expr_builder *b, const char *format, ...) PRINTF_LIKE(2, 3);
// The same where `refusal` is the false of whoever has set the error.
struct expr_node *pql_refused(struct expr_builder *b, bool refusal);

// A path or a constant.
struct expr_node *pql_leaf(struct expr_builder *b, const struct pql_node *node);
struct expr_node *pql_condition(struct expr_builder *b, const struct pql_node *node);
// "Incorrect number of operands …"; "Incorrect operand type …"; always NULL.
struct expr_node *pql_refuse_count(struct expr_builder *b, const char *function, size_t count);
struct expr_node *pql_refuse_type(struct expr_builder *b, struct slice function, const char *type);
// "Unrecognized function: …" in small letters; always NULL.
struct expr_node *pql_unknown_function(struct expr_builder *b, const struct pql_node *call);
// The function of conditions and filters by its name, in any case; OP_UNKNOWN if there is none.
enum expr_op pql_function(struct slice name);

MUST_CHECK struct expr_update *
pql_compile_changes(struct arena *arena, const struct pql_change *changes, struct error *error);

// What can be judged without a table: values, conditions and changes. The service does, too, so
// that such mistakes are told before a table that is not there.
MUST_CHECK bool pql_judge(struct arena *arena, struct partiql_tree *tree, struct error *error);

// ---- WHERE over keys (where.c) ------------------------------------------------------------------

// A WHERE clause taken apart at its ANDs.
struct pql_where {
    struct arena *arena;
    struct error *error;
    size_t count;
    const struct pql_node **terms;
    bool *used; // by a key condition that says all of it
};

// One term as a comparison of a key attribute with constants.
struct pql_key_term {
    enum key_op op; // KEY_NONE if it is none
    struct slice values[2];
};

bool pql_is_attribute(const struct pql_node *node, struct slice name);
// The term as a comparison of that attribute.
MUST_CHECK bool pql_key_term(struct pql_where *where, const struct pql_node *node,
                             struct slice name, struct pql_key_term *out);

MUST_CHECK bool pql_where_init(struct pql_where *where, struct arena *arena, struct error *error,
                               const struct pql_node *root);
// The ranges of a Query; *count stays 0 if the hash key is not tied down.
MUST_CHECK bool pql_where_ranges(struct pql_where *where, const struct key_schema *keys,
                                 struct slice index_name, size_t *count, struct key_range **out);
// The same where the clause is an OR and each of its branches ties the hash key down (branches.c);
// and "Overlapping conditions with range keys …", if branches of one partition do.
MUST_CHECK bool pql_where_branches(struct pql_where *where, const struct key_schema *keys,
                                   struct slice index_name, size_t *count, struct key_range **out);
// That error; always false.
bool pql_refuse_overlap(struct pql_where *where);
// The full primary key as an item; VALUE_NONE if it is not all there. A write wants each part once.
MUST_CHECK bool pql_where_key(struct pql_where *where, const struct key_schema *keys, bool write,
                              struct slice *out);
// How many terms are not used; and these, joined by AND.
size_t pql_where_left(const struct pql_where *where);
struct expr_node *pql_where_rest(struct expr_builder *b, const struct pql_where *where);

// "Key attribute's data type should match …"; always false.
bool pql_refuse_key_type(struct error *error, const struct key_part *part);

#endif
