// The engine: tables, items and indexes over a store. It speaks in items and compiled
// expressions; JSON, requests and messages about requests are the API's business.
//
// Reading happens on the caller's thread, against a snapshot, and never waits for a
// writer. Writing is a job handed to the one writer, which executes all jobs that wait
// against one batch, commits once, and then tells every owner (group commit). "The writer's
// thread" is whichever has that role at the moment: a thread of its own, or a caller that would
// only wait (ADR 016).
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/env.h"
#include "base/error.h"
#include "engine/table.h"
#include "expr/expr.h"
#include "store/store.h"

struct engine;

// Makes the guard that a table's `model` stands for, with a reference for the caller; NULL if it
// cannot be made. Called while the engine opens, when records can be read.
struct guard_maker {
    void *context;
    struct guard *(*make)(void *context, struct engine *engine, const struct table *table);
};

// Takes the store over. NULL with the reason in `error`; the store is then the caller's again. The
// maker may be NULL if no table has a guard.
MUST_CHECK struct engine *engine_open(struct store *store, struct env env,
                                      const struct guard_maker *maker, struct store_error *error);
// Runs every queued job, stops the threads, closes the store.
void engine_close(struct engine *engine);
// Refuses, from now on, the writes that take long to judge (ERR_UNAVAILABLE), because the engine is
// to be closed: nobody shall wait for them. Any thread.
void engine_hurry(struct engine *engine);

// The largest projected item that an index holds a copy of; a larger one is a reference to the
// table's item. Only before the first write. Default: LIMIT_INDEX_COPY.
void engine_index_copy_max(struct engine *engine, size_t bytes);

const struct env *engine_env(const struct engine *engine);

// Whether writes work. They stop when the store cannot make them durable (a full disk, a failed
// sync); reads go on, and once a second it is tried to bring the store back.
struct engine_health {
    bool writable;
    char reason[512]; // why not
    int64_t since_ms; // when it stopped
    // What was found to be damaged on disk since the start: reads of it fail, the rest goes on.
    uint64_t damages;   // how often it was met
    char damage[512];   // what was met last: file and place
    int64_t damaged_ms; // when it was met first
    // Reads that the disk refused, within the last minute.
    bool unreadable;
    char unread[512];  // the last one
    int64_t unread_ms; // since when
    uint64_t unreads;  // how many since the start
};
void engine_health(struct engine *engine, struct engine_health *out);

// What the writer has done since the start.
struct engine_stats {
    uint64_t commits;        // batches made durable
    uint64_t commits_failed; // batches the store did not take
    uint64_t commit_bytes;   // keys and values of the batches: about what the log grew by
    uint64_t jobs;           // jobs of all groups; over commits it is the mean size of a group
    size_t waiting;          // jobs in the queue or in progress, now
};
void engine_stats(struct engine *engine, struct engine_stats *out);

// ---- Catalog --------------------------------------------------------------------

// The current version of a table with a reference for the caller, or NULL.
MUST_CHECK struct table *engine_table(struct engine *engine, struct slice name);

// Calls back with the names of tables after `after` (exclusive; empty for all) in order, until
// `visit` returns false.
void engine_tables(struct engine *engine, struct slice after,
                   bool (*visit)(void *context, struct slice name), void *context);
// The same with those alone whose items belong to tenants.
void engine_tables_of_tenants(struct engine *engine, struct slice after,
                              bool (*visit)(void *context, struct slice name), void *context);
size_t engine_table_count(struct engine *engine);

// ---- Jobs --------------------------------------------------------------------------

struct txn;
struct plan;

// What becomes of a job after `run`.
enum job_turn {
    JOB_ENDS,  // it is done once the batch is committed
    JOB_AGAIN, // it has more to write: once the batch is committed, from the end of the queue
    JOB_ASIDE, // it takes long, and nothing is written yet: `plan` first, from the end of the queue
    JOB_BEHIND, // it is `large`, and nothing is written yet: again behind those that are not
};

// A piece of work for the writer. The owner keeps it alive until `done`.
struct job {
    struct job *next;
    // On the thread that submits it, first of all; may be NULL. False, with the error set, if it
    // cannot be submitted.
    bool (*ready)(struct job *job);
    // On the writer's thread. Either succeeds, with all its writes in the transaction, or
    // returns false, with `error` set and nothing written. It must not take long.
    bool (*run)(struct job *job, struct txn *txn);
    // On the writer's thread, before `run`: names the keys that it will read, as far as they are
    // known (prefetch.c). Only for a store behind a network; may be NULL.
    void (*wants)(const struct job *job, struct txn *txn);
    // On a thread of the judge's, if `run` has asked for it. May put nothing into the transaction,
    // which is its own and sees what is committed. False if it has more to do than txn->steps
    // allow; nothing is left of it then, and it is called again with more.
    bool (*plan)(struct job *job, struct txn *txn);
    // On the writer's thread, after the commit is durable and before `done`; may be NULL.
    void (*committed)(struct job *job, struct engine *engine);
    // On the writer's thread, before `done`, if the commit failed and nothing of it was done: may
    // take the failure back, for what earlier turns of the job have committed. May be NULL.
    void (*undone)(struct job *job);
    // On the writer's thread, once, at the very end. It must not block.
    void (*done)(struct job *job);
    bool alone;         // wants a batch of its own: changes of the catalog, backfill
    bool patient;       // the owner's thread has nothing to do but wait: it may be the writer's
    bool beside;        // work beside the requests: see engine_run_beside()
    bool large;         // set by `run`: it has much to read or write, and small ones go first
    bool failed;        // set by the writer: look at error
    enum job_turn turn; // set by `run`; JOB_ENDS before
    struct error *error;
    struct waiter *waiter; // the engine's own: who sleeps in engine_run(), instead of `done`
};

// Hands a job to the writer. False if it is not ready, or (ERR_THROTTLING) too many are waiting;
// then `done` is never called. Of a patient job `done` may have been called, on this thread, when
// this returns.
MUST_CHECK bool engine_submit(struct engine *engine, struct job *job);

// Submits and waits. False if the job failed: then nothing of its last commit was done, and
// `undone` is not asked. `done` is not called.
MUST_CHECK bool engine_run(struct engine *engine, struct job *job);

// The same for work that nobody waits for. However many there are of such jobs, the writer does one
// of them at a time, behind the requests that wait: a request waits for one at most, so whoever has
// much to do does it in small jobs.
MUST_CHECK bool engine_run_beside(struct engine *engine, struct job *job);

// ---- Writing items ------------------------------------------------------------------

enum write_kind { WRITE_PUT, WRITE_UPDATE, WRITE_DELETE, WRITE_CHECK };

// Capacity units of one action, before doubling for transactions.
struct write_cost {
    uint32_t table;
    uint32_t indexes[LIMIT_INDEXES];        // by position in table->indexes
    uint64_t vectors[LIMIT_VECTOR_INDEXES]; // bytes written, by position in table->vectors
};

// What is said of an action beside its kind.
enum write_flag {
    WRITE_OLD = 1 << 0,            // the image of before is wanted
    WRITE_NEW = 1 << 1,            // and that of after
    WRITE_OLD_ON_FAILURE = 1 << 2, // the image of before is wanted if the condition fails
    WRITE_INSERT = 1 << 3,  // PUT: the condition is that there is no item; else it is a duplicate
    WRITE_TRUSTED = 1 << 4, // PUT: the item was in a table before; its index keys may be unfit
    WRITE_EXPIRED = 1 << 5, // DELETE: by time to live; nothing is done if the item is not expired
    WRITE_TOUCH = 1 << 6,   // UPDATE, without an update: the guard completes an item that is there
    WRITE_BATCH = 1 << 7,  // PUT: one of many, which may bring items from elsewhere (for the guard)
    WRITE_JOINED = 1 << 8, // of the same part as the action before: see write_job.each
    WRITE_CLAIM = 1 << 9,  // a touch for the table's next guard alone: see guard.h
    // DELETE: by a sweep (retain/retain.h), for good; nothing is done if the table has another
    // model than the version that the action was made of.
    WRITE_SWEPT = 1 << 10,
    WRITE_UNSEEN = 1 << 11,  // CHECK: whoever asks may not read the item, so that there is none
    WRITE_DERIVED = 1 << 12, // follows from the change of another item: see effects.c
};

static inline unsigned write_flag_if(bool is, enum write_flag flag)
{
    return is ? (unsigned)flag : 0;
}

// What the items of one table cost that changed because of an action (effects.c).
struct write_derived {
    struct write_derived *next;
    struct table *table; // the version that cost.indexes speaks of, with a reference
    struct write_cost cost;
};

// What became of an action. The engine's to write; whoever fails an action before it is submitted
// notes that here as well.
struct write_result {
    bool changed;          // the item is not what it was before
    struct slice old_item; // VALUE_NONE if there was none or it is not wanted
    struct slice new_item;
    struct write_cost cost;
    struct table *cost_table;      // the version that cost.indexes speaks of, with a reference
    struct write_derived *derived; // what follows from it, by table; NULL if nothing does
    int64_t collection_bytes; // size of the item collection after the write; -1 without local index
    enum error_code failure;  // ERR_NONE, or why this action failed (transactions)
    const char *failure_text;
    const void *failure_details; // see struct error
    bool repeated;               // it was done before (guard_claim.until_ms), and not done again
    struct slice warnings;       // of the guard, lines of text; or empty
    const void *details;         // what they are about: see struct guard_write
};

// What is not the engine's own is borrowed until the job is done, and left alone.
struct write_action {
    enum write_kind kind;
    unsigned flags;                         // of enum write_flag
    struct table *table;                    // a reference the owner holds
    struct slice item;                      // PUT: the item. Otherwise: the bare key as an item
    const struct expr_condition *condition; // or NULL
    const struct expr_update *update;       // UPDATE; may be NULL (creates the bare key)
    size_t update_size;                     // UPDATE: that counts as much as the item; or 0
    const struct guard *prepared;           // PUT: the guard that has completed the item, or NULL
    struct guard_settled settled;           // PUT: and what the item will probably come to then
    struct slice sent;     // PUT: as the client sent it, if a guard has completed the item since
    struct slice if_match; // empty, or the digest that the item there must have (value/digest.h)
    size_t room;           // the owner's: bytes of its answer that this action is part of
    // Of a transaction: what is known to be wrong with it, or NULL. The others are judged all the
    // same, so that it is canceled with every reason there is.
    const struct error *refused;

    // The engine's own: see write_action_address().
    struct slice key;           // tree key
    struct slice keyed;         // the item that it was made of
    size_t size;                // PUT: of the item, by AWS's formula
    const struct table *judged; // PUT: the version whose index keys the item fits, or NULL
    struct write_result out;
};

struct record_write;

struct write_job {
    struct job job; // first: the job's owner is the request
    struct engine *engine;
    struct arena *arena; // for results
    size_t count;
    struct write_action *actions;
    // A transaction is all or nothing, and has one action for an item. Other requests are done in
    // their order, in one part if they are small and in several if not: the first part that fails
    // fails the request, those before it stand. If parts were committed and the next cannot be, the
    // request succeeds, and its remaining actions have a failure.
    bool transaction;
    // Each action is a part, with those behind it that are WRITE_JOINED: all of a part is done or
    // nothing. If one fails, an action of it says so; the other parts do not mind.
    bool each;
    // Idempotency: empty, or the token and a digest of everything else in the request.
    struct slice token;
    uint8_t digest[32];
    bool repeated; // out: this token has been executed before; nothing was written
    const struct write_origin *origin; // who asks for it, for the guards; or NULL
    // NULL, or whether there is room for what will be told of an action, of which the images are
    // known now. On the writer's thread, before the action is done; else it fails with the error.
    bool (*room)(struct write_job *request, struct write_action *action, struct error *error);
    // NULL, or what to write with the actions up to request->at, of which the later ones are in the
    // batch that is about to be committed. On the writer's thread; a record without a value is not
    // written.
    struct record_write (*record)(struct write_job *request);

    // The engine's own.
    bool distinct;              // no two actions are on one item
    size_t at;                  // actions that are done
    size_t committed;           // actions that are on disk
    struct plan *plans;         // of the part that follows, once it is begun
    unsigned tries;             // how often that was put aside
    uint64_t guarded;           // steps that guards have taken for that
    struct claimant *claimants; // of that part, and their claims; NULL if there are none
    struct ledger *ledger;
    struct effects *effects; // what follows from that part; NULL if nothing does
    struct slice collects;   // of touches: the rule whose notes the items take (pending.c)
    bool restores;           // puts bring items back as they were stored: see guard_write.restored
    bool waits;              // it is the keeper's: what is on disk is read where it stands
    bool narrow;             // parts are single actions, because much follows from each
    bool refused;            // nothing more of it is done, because the engine is to stop
};

// Judges what an action is about, and makes its key: of the item of a PUT, which must fit the
// table's indexes as well, else of the bare key. Whoever submits an action without having asked for
// that hears of mistakes then. What changes the item comes before.
MUST_CHECK bool write_action_address(struct write_action *action, struct arena *arena,
                                     struct error *error);
// The tree key that an item of this bare key is read by.
MUST_CHECK bool table_tree_key(const struct table *table, struct slice key, struct arena *arena,
                               struct slice *tree_key, struct error *error);
// A transaction has one action for an item: judges that of the actions that have not failed. They
// have their keys by now. Who does not ask hears of it when submitting.
MUST_CHECK bool write_job_distinct(struct write_job *request);

// Judges the index keys of an item to be put: types, emptiness, sizes.
MUST_CHECK bool table_check_item(const struct table *table, struct slice item, struct error *error);
// Judges what can be known of an update's index keys before the item is: their types.
MUST_CHECK bool table_check_update(const struct table *table, const struct expr_update *update,
                                   struct error *error);

// Prepares `job` (ready, run, error) for engine_submit. The caller sets job.done.
void write_job_init(struct write_job *request, struct engine *engine, struct arena *arena,
                    struct error *error);
// Releases what the results hold (cost_table references). Call once after done, or if never
// submitted.
void write_job_release(struct write_job *request);

// ---- Reading items ---------------------------------------------------------------------

// What can be long is read in slices. *work is what a slice may spend, and then what is left of it:
// about a unit for each byte that is read, and WORK_ITEM for each item. What costs more than is
// left waits for the next slice; only one of LIMIT_SLICE_WORK begins with whatever is next.
enum { WORK_ITEM = 512 };
enum read_step {
    READ_FAILED, // the error is set
    READ_DONE,
    READ_MORE, // call it again: it goes on, on the same snapshot
};

// Spends the work of an item of as many bytes; false if there is not enough left.
static inline bool work_spend(uint64_t *work, size_t bytes)
{
    uint64_t cost = bytes + WORK_ITEM;
    if (cost > *work && *work < LIMIT_SLICE_WORK)
        return false;
    *work -= cost < *work ? cost : *work;
    return true;
}

// Spends the work of asking a guard whose an item is: about 50 ns for each template.
enum { WORK_LOOK = 50 };
static inline void work_spend_looks(uint64_t *work, const struct guard *guard)
{
    uint64_t cost = guard == NULL ? 0 : (uint64_t)guard->looks * WORK_LOOK;
    *work -= cost < *work ? cost : *work;
}

// One view of the store for several reads (TransactGetItems); may be NULL everywhere.
MUST_CHECK struct store_snapshot *engine_snapshot(struct engine *engine);
void engine_snapshot_release(struct engine *engine, struct store_snapshot *snapshot);

struct item_read {
    struct slice item; // VALUE_NONE if there is none; valid until item_read_release
    size_t size;       // by AWS's formula; 0 if there is none
    struct store_value pin;
};
MUST_CHECK bool engine_get(struct engine *engine, struct store_snapshot *snapshot,
                           struct slice tree_key, struct item_read *out, struct error *error);
void item_read_release(struct engine *engine, struct item_read *read);

struct page_request {
    // In.
    struct table *table;
    const struct index *index; // NULL for the table itself
    bool query;                // Query (range, reverse) or Scan (segment)
    struct key_range range;
    bool reverse;
    uint64_t segment;
    uint64_t segments;  // 1 for a plain Scan
    struct slice after; // tree key to continue behind, or empty: see layout.h
    uint64_t limit;     // items to evaluate; 0 for no limit
    const struct expr_condition *filter;
    bool fetch;                      // local index: the table's whole item is wanted
    bool consistent;                 // for the capacity of fetches only; every read is consistent
    struct store_snapshot *snapshot; // the caller's, to read several pages of; or NULL
    // Who reads, if bound to a tenant or by policies: what it may not read is passed over before
    // anything counts it, as if it were not there, and hidden attributes are not there. NULL reads
    // everything.
    const struct write_origin *reader;
    // Called for each item that passes the filter; false stops with whatever error it set.
    bool (*emit)(void *context, struct slice item);
    void *context;
    struct arena *arena;

    struct page_walk *walk; // private: where the reading stands; NULL before and after it

    // Out.
    uint64_t scanned;
    uint64_t matched;
    uint64_t bytes;         // read, by AWS's formula
    uint64_t fetched_units; // 4 KB units of table items fetched through a local index
    uint64_t fetched_bytes; // and their bytes
    struct steps steps;     // of the filter; `emit` adds what it does with the item
    struct slice last; // the key (an item with the key attributes) to continue from, or VALUE_NONE
};
MUST_CHECK enum read_step engine_page_run(struct engine *engine, struct page_request *page,
                                          uint64_t *work, struct error *error);
// Gives up a page of which more was to come; a page that is done has nothing to close.
void engine_page_close(struct engine *engine, struct page_request *page);
// A whole page at once.
MUST_CHECK bool engine_page(struct engine *engine, struct page_request *page, struct error *error);

// Whether the key to continue behind (`after`) is one that this page could have ended at.
enum page_place { PAGE_INSIDE, PAGE_OTHER_PARTITION, PAGE_OUTSIDE_RANGE, PAGE_OTHER_SEGMENT };
enum page_place engine_page_admits(const struct page_request *page);
// Where the keys of its items stand, before the filter: from `lower` up to but without `upper`,
// both of which are written to. Keys are of the index, or of the table: see layout.h.
void engine_page_bounds(const struct page_request *page, struct buf *lower, struct buf *upper);
// Whether it can have one item at most: a partition without a sort key. Nothing is behind it, so
// such a page has no key to continue from.
static inline bool engine_page_is_single(const struct page_request *page)
{
    return page->query && page->index == NULL && page->table->keys.range_count == 0;
}

// ---- Changing the catalog ------------------------------------------------------------------

// Creates, changes or deletes a table. `alter` decides on the writer's thread, so that it sees
// the table as it is when its turn comes.
struct table_change {
    struct job job; // first: the job's owner is the change
    struct engine *engine;
    struct slice name;
    // Judges the current version (NULL if there is none) and makes the next one in *next, which
    // stays NULL to delete the table. The engine gives trees, uuid and time to what has none, and
    // drops trees that the next version does not have. The next one may have another name.
    bool (*alter)(void *context, struct table *current, struct table **next, struct error *error);
    void *context;

    // May be set by `alter`: records to write in the same batch (record.h), and whether the change
    // log stays when the table goes.
    size_t record_count;
    struct record_write *records;
    bool keep_log;

    // Out, a reference each for whoever releases the change: the versions before and after.
    struct table *before;
    struct table *after;

    // The engine's own: next versions of other tables, whose counts the change concerns.
    size_t other_count;
    struct table **others;
};

// Prepares `job` for engine_submit. The caller sets job.done, name, alter and context.
void table_change_init(struct table_change *change, struct engine *engine, struct error *error);
void table_change_release(struct table_change *change);

// Waits until no backfill or cleanup is left; for tests and tools.
void engine_settle(struct engine *engine);

#endif
