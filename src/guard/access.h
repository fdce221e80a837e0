// Access patterns at work: a compiled pattern and arguments become the DynamoDB request that
// serves it, which anybody may see. No pattern ever scans.
//
//   access_bind     judges the arguments by the types of the parameters
//   access_plan     the request, in parts
//   access_compile  its conditions as programs, for who reads himself
//   access_request  its JSON, as Query or GetItem take it, for who asks others
//   access_explain  the same for people, and for programs
#ifndef GUARD_ACCESS_H
#define GUARD_ACCESS_H

#include "base/error.h"
#include "expr/expr.h"
#include "model/model.h"
#include "json/writer.h"

struct access_argument {
    struct slice name;
    struct slice value; // encoded: see model_plain_text() for texts
};

// The values of all parameters in their order, normalised as the attributes of the same name are.
// False with a ValidationException that names every problem; its details are model_violations, the
// pointers being "/parameter".
MUST_CHECK bool access_bind(const struct model_access *access, size_t count,
                            const struct access_argument *arguments, struct arena *arena,
                            const struct slice **values, struct error *error);

struct access_options {
    uint64_t limit;     // items to evaluate; 0 means what the pattern says
    struct slice after; // ExclusiveStartKey as an item; VALUE_NONE to begin
    bool capacity;      // ask for ConsumedCapacity
};

// One condition: an operator on a path and values.
struct access_test {
    struct path path;
    enum expr_op op;
    size_t value_count;
    struct slice *values;
    bool or_null; // OP_MISSING: or null
};

// A request in parts, all in the arena.
struct access_plan {
    const struct model_access *access;
    struct arena *arena;
    const char *operation; // "Query", "GetItem"
    struct slice key;      // GetItem: the key as an item
    size_t key_count;      // Query: all must hold
    struct access_test *keys;
    size_t filter_count;
    struct access_test *filters;
    bool by_type;   // a filter keeps other entities of the same partition out
    bool softly;    // and others keep out what is deleted
    uint64_t limit; // 0: none
    struct slice after;
    bool capacity;
};

// `values` as access_bind() makes them. NULL with the error set.
MUST_CHECK struct access_plan *access_plan(const struct model_access *access,
                                           const struct slice *values,
                                           const struct access_options *options,
                                           struct arena *arena, struct error *error);

// The conditions of a Query; *filter is NULL if there is none. Mistakes are those of the request.
MUST_CHECK bool access_compile(const struct access_plan *plan, struct arena *arena,
                               struct expr_key **key, struct expr_condition **filter,
                               struct error *error);

// {"TableName":…,"IndexName":…,"KeyConditionExpression":…,…}
void access_request(const struct access_plan *plan, struct json_writer *w);

// Conditions with their names and values, for people: "PK = "USER#ada" AND SK >= "A"".
void access_write_tests(size_t count, const struct access_test *tests, struct buf *out);

// What is known of the table, for estimates; 0 if nothing.
struct access_sizes {
    double item_bytes; // of an average item, in the index
};

// A pattern without arguments, in words: "Query GSI4: GSI4PK = "ALBUM_BY_CREATOR" and …".
void access_describe(const struct model_access *access, struct buf *out);
// "albumsByCreator(createdBy uuid)"
void access_signature(const struct model_access *access, struct buf *out);

// A plan, for people and as JSON.
void access_explain(const struct access_plan *plan, const struct access_sizes *sizes,
                    struct buf *out);
void access_explain_json(const struct access_plan *plan, const struct access_sizes *sizes,
                         struct json_writer *w);

// Whether a pattern hides what is deleted (`softdelete`): by filters, or, of a GetItem, by whoever
// reads the item.
bool access_hides(const struct model_access *access);

// Whether a filter on the type attribute is needed: items of entities that are not the pattern's
// may stand in the range it reads.
bool access_needs_type(const struct model_access *access);

#endif
