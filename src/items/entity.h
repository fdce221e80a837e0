// Entities for the data API: items in and out as values, with what DynamoDB's own operations do not
// say: the image that was stored, the digest that the item must have, the words of the guard.
//
// A call is started and finished like any other (call.h); only its request is not JSON. Its
// response is the error document if it fails, and empty otherwise.
#ifndef ITEMS_ENTITY_H
#define ITEMS_ENTITY_H

#include "call/call.h"
#include "expr/expr.h"
#include "model/model.h"

// Calls back with the name of each table, or of each that is divided among tenants, in order, until
// `visit` returns false.
void api_tables(struct api *api, bool of_tenants, bool (*visit)(void *context, struct slice name),
                void *context);

// A secret of this database, the same as long as it lives; made when it is first asked for. Waits
// for the writer. If it cannot be kept, it is one of this process alone.
enum { API_SECRET = 32 };
void api_secret(struct api *api, uint8_t out[API_SECRET]);

// Whether the caller of the call may do this, with a table or, if that is empty, with a resource;
// for what is no operation. If not, the response is the error document.
MUST_CHECK bool api_ask(struct api_call *call, struct slice action, struct slice table,
                        struct slice resource);

// Reads an item by its key, which is an item with the key attributes. The response is ready when
// this returns; *item is in the call's arena, VALUE_NONE if there is none or the call failed.
void api_entity_get(struct api_call *call, struct slice table, struct slice key,
                    struct slice *item);

// A GetItem or a Query without JSON: call->operation says which, and call->read what. The call is
// started as any other. Items are handed over as they lie in the store, and the response is empty.
struct entity_read {
    // In; borrowed until the response is ready.
    struct slice table;
    struct slice index; // ptr NULL for the table itself
    struct slice key;   // GetItem
    bool reverse;
    bool consistent;
    uint64_t limit;                  // items to evaluate; 0 for no limit
    struct slice after;              // where the last page ended, as an item; or VALUE_NONE
    struct store_snapshot *snapshot; // the owner's, to read several pages of; or NULL
    void *context;                   // the owner's
    // When the reading begins: makes range and filter of a Query, which live in the call's arena.
    // What had to wait for the disk begins again, in the pool: items that were handed over before
    // are then to be forgotten.
    bool (*begin)(struct entity_read *read, struct arena *arena, struct error *error);
    const struct expr_key *range;
    const struct expr_condition *filter; // or NULL
    // An item. What takes longer than its bytes do is counted as steps.
    bool (*emit)(struct entity_read *read, struct slice item, struct steps *steps,
                 struct error *error);

    // Out, until the call's reset.
    uint64_t count;    // of items
    struct slice last; // where the page ended, as an item; or VALUE_NONE
};

// Whether the caller of the call may read so, without reading: `begin` is called for that. If not,
// the response is the error document.
MUST_CHECK bool api_entity_ask(struct api_call *call, struct entity_read *read);

// UNDELETE: an item that is deleted softly is there again.
enum entity_kind { ENTITY_PUT, ENTITY_DELETE, ENTITY_CHECK, ENTITY_UNDELETE };
// One that is deleted softly is absent.
enum entity_need { ENTITY_ANY, ENTITY_ABSENT, ENTITY_PRESENT, ENTITY_DELETED };

struct entity_write {
    // In; borrowed until the response is ready.
    enum entity_kind kind;
    struct slice key;    // PUT: the key that the item must turn out to have, or VALUE_NONE
    struct slice item;   // PUT
    struct slice entity; // PUT: the name of the entity that the item is of
    enum entity_need need;
    struct slice type_name; // with PRESENT: the item's type attribute, if it has one, must be that;
    struct slice type_value;
    struct slice softdelete; // the attribute that says that an item is deleted, or empty
    bool nullable;           // UNDELETE: it becomes null; else it goes
    struct slice if_match;   // empty, or the digest of the item that is there (value/digest.h)

    // Out, until the call's reset.
    struct slice before; // also if it failed because of what is there
    struct slice after;
    enum error_code failure; // ERR_NONE, or why it failed
    const char *failure_text;
    const void *failure_details; // model_violations, or NULL
    struct slice warnings;       // of the guard
    bool repeated;               // it was done before, and not again
};

// One write, or several all or nothing. True: the response is ready. False: wait for `done`, then
// api_call_finish() and api_entity_results(), which fills in what came out. On a loop, `at_once`:
// what takes a guard longer than a loop may ends in ERR_COLD, and is to be called again in the
// pool.
MUST_CHECK bool api_entity_write(struct api_call *call, struct slice table, size_t count,
                                 struct entity_write *writes, bool at_once);
void api_entity_results(struct api_call *call);

// What the response of a Query or a GetItem has in it.
struct api_page {
    size_t count;
    const struct slice *items; // in the arena
    uint64_t counted;          // what it says that there are, for who asked only for that
    struct slice last;         // LastEvaluatedKey as an item, or VALUE_NONE
    double read_units;         // ConsumedCapacity, or -1 if it was not asked for
};
MUST_CHECK bool api_page_decode(struct slice response, struct arena *arena, struct api_page *out,
                                struct error *error);

// GetItem or Query of a call that has `read` in the place of its body. For the api.
enum step entity_read_start(struct api_call *call);

#endif
