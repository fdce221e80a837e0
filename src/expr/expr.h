// Expressions: ConditionExpression, FilterExpression, KeyConditionExpression,
// ProjectionExpression and UpdateExpression, and the legacy parameters that say the
// same (Expected, QueryFilter, ScanFilter, KeyConditions, AttributeUpdates,
// AttributesToGet). Both styles compile to the same programs.
//
// A program is compiled once per request into its arena, and borrows the text, names and
// values it was compiled from. Evaluation walks the item once and then flat steps, does not
// allocate, cannot meet a syntax error, and counts its work. Messages are DynamoDB's.
//
// A program has room for what it finds in an item, so one thread at a time may run it.
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/error.h"
#include "base/layer.h"
#include "base/steps.h"
#include "value/edit.h"
#include "value/key.h"
#include "value/value.h"

// ---- Placeholders -------------------------------------------------------------

// ExpressionAttributeNames and ExpressionAttributeValues of one request. `used`
// marks are set by the compilers and judged by expr_params_finish().
struct expr_params {
    struct arena *arena;
    struct error *error;
    size_t name_count;
    const struct slice *names;      // "#n", as sent
    const struct slice *attributes; // what it stands for
    bool *names_used;
    bool has_names;      // the parameter was sent at all
    struct slice values; // an M value: ":v" -> value, or VALUE_NONE
    bool *values_used;   // by position in the map
    bool has_values;
    enum service_layer layer; // whose words messages have: LAYER_OLD, if nobody sets it
};

// Begin with init; then names and values, each only if the request has the parameter: they check
// the placeholders themselves (syntax, emptiness). Names, attributes and values are borrowed.
MUST_CHECK bool expr_params_init(struct expr_params *params, struct arena *arena,
                                 struct error *error);
MUST_CHECK bool expr_params_names(struct expr_params *params, size_t count,
                                  const struct slice *names, const struct slice *attributes);
MUST_CHECK bool expr_params_values(struct expr_params *params, struct slice values);
// Whether a name may stand in ExpressionAttributeValues; and the error if it may not.
bool expr_is_value_name(struct slice name);
MUST_CHECK bool expr_params_value_name(struct expr_params *params, struct slice name);

// "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}" and its twin.
MUST_CHECK bool expr_params_finish(const struct expr_params *params);

// ---- Conditions and filters -----------------------------------------------------

struct expr_condition;

enum expr_kind { EXPR_CONDITION, EXPR_FILTER, EXPR_KEY_CONDITION, EXPR_PROJECTION, EXPR_UPDATE };

// NULL on error. `kind` (EXPR_CONDITION or EXPR_FILTER) names it in messages.
MUST_CHECK struct expr_condition *expr_compile_condition(struct expr_params *params,
                                                         struct slice text, enum expr_kind kind);

// Whether the item (VALUE_NONE if there is none) meets the condition. If steps_over() afterwards,
// it was not worked out, and the answer means nothing.
bool expr_condition_eval(const struct expr_condition *condition, struct slice item,
                         struct steps *steps);

// Whether the program reads the top-level attribute.
bool expr_condition_mentions(const struct expr_condition *condition, struct slice attribute);
// Whether it looks inside the attribute (a.b or a[0]), which no key attribute allows.
bool expr_condition_nests(const struct expr_condition *condition, struct slice attribute);
// Calls back with the top-level attribute of every path the program reads, repeats included.
bool expr_condition_each(const struct expr_condition *condition,
                         bool (*visit)(void *context, struct slice attribute), void *context);

// ---- Key conditions -----------------------------------------------------------

enum key_op { KEY_NONE, KEY_EQ, KEY_LT, KEY_LE, KEY_GT, KEY_GE, KEY_BETWEEN, KEY_BEGINS };

// One comparison on a top-level attribute.
struct key_clause {
    struct slice attribute;
    enum key_op op;
    struct slice values[2]; // encoded; the second for BETWEEN
};

// A KeyConditionExpression is a conjunction of comparisons of attributes with values; which of
// them are the partition and sort keys is for expr_key_resolve().
struct expr_key {
    size_t count;
    const struct key_clause *clauses;
    bool legacy; // came from KeyConditions: some messages differ
    enum service_layer layer;
};

MUST_CHECK struct expr_key *expr_compile_key(struct expr_params *params, struct slice text);

// What a key condition means for a schema: a value for every HASH part, equality on
// the first range_equal RANGE parts, and at most one other operation on the next.
struct key_range {
    struct slice hash[4];
    size_t range_equal;
    struct slice range[4]; // values of the equalities
    enum key_op op;        // KEY_NONE, or the operation on part range_equal
    struct slice bounds[2];
};

// Judges the clauses against the schema (missing key, wrong operator, wrong type, too many).
MUST_CHECK bool expr_key_resolve(const struct expr_key *key, const struct key_schema *schema,
                                 struct key_range *out, struct error *error);

// Key values must not be empty strings or binaries. `index` is the name of the index the schema
// belongs to, ptr NULL for the table; the messages differ.
MUST_CHECK bool expr_key_check_empty(const struct expr_key *key, const struct key_schema *schema,
                                     struct slice index, struct error *error);

// ---- Projections ------------------------------------------------------------------

struct expr_projection;

MUST_CHECK struct expr_projection *expr_compile_projection(struct expr_params *params,
                                                           struct slice text);
// The legacy AttributesToGet, or any list of top-level names.
MUST_CHECK struct expr_projection *expr_projection_of_names(struct arena *arena,
                                                            struct error *error, size_t count,
                                                            const struct slice *names);
// Builds the projected item (an M value; empty if nothing matches).
void expr_project(const struct expr_projection *projection, struct slice item,
                  struct value_builder *builder, struct steps *steps);
// Calls back with every top-level attribute the projection names.
bool expr_projection_each(const struct expr_projection *projection,
                          bool (*visit)(void *context, struct slice attribute), void *context);
// Whether it takes only a part of the top-level attribute.
bool expr_projection_nests(const struct expr_projection *projection, struct slice attribute);

// Any paths, repeats and overlaps included, and what an item has at them.
struct expr_paths;
// NULL if the arena is used up. The paths are borrowed.
MUST_CHECK struct expr_paths *expr_paths_new(struct arena *arena, size_t count,
                                             const struct path *paths);
void expr_paths_find(struct expr_paths *paths, struct slice item, struct steps *steps);
// What the last item has at the path of this number, or VALUE_NONE.
struct slice expr_paths_value(const struct expr_paths *paths, size_t which);

// ---- Updates ------------------------------------------------------------------------

struct expr_update;

MUST_CHECK struct expr_update *expr_compile_update(struct expr_params *params, struct slice text);

// Whether the update writes the top-level attribute (or something inside it).
bool expr_update_writes(const struct expr_update *update, struct slice attribute);
// Calls back with the top-level attribute of every path that it reads or writes, repeats included.
bool expr_update_each(const struct expr_update *update,
                      bool (*visit)(void *context, struct slice attribute), void *context);
// Whether what it makes depends on what the top-level attribute is: as an operand, because it adds
// to it or deletes from it, or because it writes something inside.
bool expr_update_reads(const struct expr_update *update, struct slice attribute);
// Whether it reads or writes something inside the attribute.
bool expr_update_nests(const struct expr_update *update, struct slice attribute);
// The type the update is known, before any item is seen, to give the top-level attribute;
// VALUE_TYPES if it does not write it or the type depends on the item. if_not_exists() counts as
// its constant, and DELETE as its set, although both may leave something else, or nothing.
enum value_type expr_update_type(const struct expr_update *update, struct slice attribute);

// Whether what it makes may have more levels than an item may, and is to be looked at: it puts a
// deep value somewhere, or moves one down.
bool expr_update_deepens(const struct expr_update *update);
// Whether it only takes away (REMOVE, DELETE): where there is no item, it does nothing at all.
bool expr_update_removes(const struct expr_update *update);
// What UpdateItem counts of the update itself, whatever the item has: its new values, and something
// for each clause, function and name.
size_t expr_update_size(const struct expr_update *update);

// Applies to `item` (the bare key where there was none) and appends the new item through the
// builder. The arena is for scratch. False with a ValidationException, or without an error if
// steps_over(): then it was not worked out. New values that cannot fit an item end it early.
MUST_CHECK bool expr_update_apply(const struct expr_update *update, struct slice item,
                                  struct value_builder *builder, struct arena *arena,
                                  struct steps *steps, struct error *error);

// The paths an update touches, as a projection: what UPDATED_OLD and UPDATED_NEW return.
const struct expr_projection *expr_update_touched(const struct expr_update *update);

// ---- Constructors ----------------------------------------------------------------------

// The same programs without text, for whoever is no client: a pattern, a statement, a migration.
// Parts are put together from the leaves up; the whole is judged and compiled as what the parser
// makes of a text, and nobody can tell the programs apart.

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
const char *expr_op_text(enum expr_op op);

// A failure (no memory, or a part that is NULL) is remembered, and ends in the error when the whole
// is compiled; so calls can be nested without looking at what they return.
struct expr_builder {
    struct arena *arena;
    struct error *error;
    bool plain; // messages without "Invalid FilterExpression: " before them
    bool failed;
};

struct expr_node; // a part, to be used once

struct expr_node *expr_path(struct expr_builder *b, struct path path);
struct expr_node *expr_name(struct expr_builder *b, struct slice attribute); // a path of one step
struct expr_node *expr_value(struct expr_builder *b, struct slice value);
// An operator or a function, whose operands are added one after the other …
struct expr_node *expr_call(struct expr_builder *b, enum expr_op op);
void expr_operand(struct expr_builder *b, struct expr_node *call, struct expr_node *operand);
// … or are at most two, of which the second may be NULL: not there.
struct expr_node *expr_test(struct expr_builder *b, enum expr_op op, struct expr_node *first,
                            struct expr_node *second);
// OP_AND and OP_OR. A chain begins with NULL on its left.
struct expr_node *expr_join(struct expr_builder *b, enum expr_op op, struct expr_node *left,
                            struct expr_node *right);

MUST_CHECK struct expr_condition *
expr_build_condition(struct expr_builder *b, struct expr_node *whole, enum expr_kind kind);
// Only judges a condition, by the rules that it would be compiled by.
MUST_CHECK bool expr_check_condition(struct expr_builder *b, struct expr_node *whole);
MUST_CHECK struct expr_key *expr_build_key(struct expr_builder *b, struct expr_node *whole);
MUST_CHECK struct expr_projection *expr_build_projection(struct expr_builder *b, size_t count,
                                                         const struct path *paths);

enum expr_action { ACTION_SET, ACTION_REMOVE, ACTION_ADD, ACTION_DELETE };

struct expr_change {
    enum expr_action action;
    struct path path;
    struct expr_node *value; // SET: sums of any length; ADD, DELETE: an expr_value(); else NULL
};
MUST_CHECK struct expr_update *expr_build_update(struct expr_builder *b, size_t count,
                                                 const struct expr_change *changes);

// What the operator means for a key whose attribute stands on its left or, `mirrored`, on its
// right; KEY_NONE if it is no range over keys.
enum key_op expr_key_op(enum expr_op op, bool mirrored);

// ---- Legacy parameters ---------------------------------------------------------------

// One entry of Expected, QueryFilter, ScanFilter or KeyConditions.
struct legacy_condition {
    struct slice attribute;
    struct slice op; // "EQ", "BETWEEN", …; ptr NULL if not given
    size_t count;    // of AttributeValueList
    const struct slice *values;
    bool has_list;      // AttributeValueList was given
    struct slice value; // Expected.Value, or VALUE_NONE
    bool has_exists;    // Expected.Exists was given
    bool exists;
};

enum legacy_use { LEGACY_EXPECTED, LEGACY_QUERY_FILTER, LEGACY_SCAN_FILTER };

// `any` is ConditionalOperator OR.
MUST_CHECK struct expr_condition *expr_legacy_condition(struct arena *arena, struct error *error,
                                                        enum legacy_use use, size_t count,
                                                        const struct legacy_condition *entries,
                                                        bool any);
MUST_CHECK struct expr_key *expr_legacy_key(struct arena *arena, struct error *error, size_t count,
                                            const struct legacy_condition *entries);

// One entry of AttributeUpdates.
struct legacy_update {
    struct slice attribute;
    struct slice action; // "PUT", "ADD", "DELETE"; ptr NULL means PUT
    struct slice value;  // VALUE_NONE if not given
};
MUST_CHECK struct expr_update *expr_legacy_update(struct arena *arena, struct error *error,
                                                  size_t count,
                                                  const struct legacy_update *entries);

#endif
