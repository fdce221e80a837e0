// What the files of the engine share. Three kinds of threads meet here:
//   readers  any thread; they look tables up under the catalog's lock and read the store
//   writer   one thread at a time (writer.c); runs jobs, commits, alone changes catalog and stats
//   keeper   one thread; asks the writer, piece by piece, for backfills and cleanups
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include "base/key_map.h"
#include "base/worker.h"
#include "engine/engine.h"
#include "engine/layout.h"

#include <pthread.h>
#include <stdatomic.h>

struct catalog {
    pthread_rwlock_t lock; // taken to read by readers, to write by the writer while publishing
    size_t count;
    size_t capacity;
    struct table **tables; // sorted by name
    tree_id next_tree;     // the writer's
};

struct job_list {
    struct job *first;
    struct job *last;
    size_t waiting; // in the list, or in progress
};

static inline void jobs_add(struct job_list *list, struct job *job)
{
    struct job **place = list->first == NULL ? &list->first : &list->last->next;
    job->next = NULL;
    *place = list->last = job;
}

static inline struct job *jobs_take(struct job_list *list)
{
    struct job *job = list->first;
    if (job != NULL)
        list->first = job->next;
    return job;
}

// Who has the role of the writer: see writer.c.
enum writer_place {
    WRITER_BUSY, // the writer thread, and it has work
    WRITER_IDLE, // the writer thread, which sleeps
    WRITER_LENT, // a caller that waits for its own job, for one round
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t wake; // of the writer thread
    enum writer_place place;
    struct job_list jobs;
    struct job_list beside; // of which the writer takes one at a time
    size_t answered;        // since the writer last took jobs
    size_t wanted;          // while the writer gathers: how many it waits for; else 0
    bool stopping;
};

struct keeper {
    struct worker worker;
    // The keeper's own.
    unsigned failures; // rounds in a row in which something failed
    char told[256];    // what the log was last told of
};

// Shared by the writer, which changes it, and whoever asks.
struct health {
    pthread_mutex_t lock;
    struct engine_health state;
    struct store_watch watch;
    int64_t tried_ms;  // the writer's: when recovery was last tried
    int64_t unwell_ms; // when the store was first seen not to be well; 0 if it is
    int64_t unread_at; // when a read last failed, by the monotonic clock
};

// Changed by the writer alone, so that plain loads and stores will do; read by anyone.
struct writer_counts {
    _Atomic uint64_t commits;
    _Atomic uint64_t commits_failed;
    _Atomic uint64_t commit_bytes;
    _Atomic uint64_t jobs;
};

struct change_log {
    uint64_t last;                // the writer's: the last sequence given out
    int64_t time_ms;              // the writer's: the time given out with it
    uint64_t ordered;             // from this sequence on times do not fall
    _Atomic uint64_t visible;     // the last sequence that is committed
    _Atomic int64_t visible_time; // and its time
    _Atomic int64_t promised;     // the latest time that was told as a moment
    uint64_t touched; // the writer's: log_bit() of the logs that the batch has entries of
    const struct log_listener *_Atomic listeners[2]; // by enum log_ear; or NULL
};

// The last claims that were changed, as hashes: the writer's. See claims.c.
enum { CLAIM_NOTES = 1 << 14 };
struct claim_notes {
    uint64_t seed;
    uint64_t count;           // that were ever noted
    _Atomic uint64_t settled; // of them not in the batch at hand
    uint64_t hashes[CLAIM_NOTES];
};

// Plans what takes long beside the writer; see judge.c.
enum { DESK_QUICK, DESK_SLOW, DESKS };
struct desk {
    struct engine *engine;
    pthread_t thread;
    pthread_cond_t wake;
    struct job_list jobs;
};
struct judge {
    pthread_mutex_t lock;
    struct desk desks[DESKS];
    size_t planned; // jobs that it has planned and the writer has not run again yet
    bool stopping;
    atomic_bool hurried; // what is not planned yet is refused
};

// The log of commits that replicas follow: see ship.h. The writer's, but for what is atomic.
struct ship_mark {
    uint64_t number; // of an entry
    uint64_t mark;
    uint64_t total; // bytes of all entries up to it
};
struct ship {
    _Atomic uint64_t limit; // bytes that are kept; 0 if no log is written
    struct ship_mark at;    // the last entry that is committed
    struct ship_mark next;  // and the last in the batch
    _Atomic uint64_t visible;
    struct buf operations;
};

// What a replica knows of its source: see follow.c. The writer changes the state under the lock.
struct follow_state;
struct following {
    bool on; // never changes
    pthread_mutex_t lock;
    struct follow_state *state;
    uint64_t known;  // the last entry that the source told of
    int64_t even_ms; // when it was last known to be all there is, by the monotonic clock
    char problem[256];
};

struct engine {
    struct store *store;
    struct orders *orders; // of a store behind a network, else NULL
    struct env env;        // as given, and with ids:
    struct env_ids ids;    // in order
    struct health health;
    struct catalog catalog;
    struct queue queue;
    struct writer *writer; // its transaction and backlog: whoever has the role uses them
    struct writer_counts counts;
    struct change_log log;
    struct claim_notes claims;
    struct keeper keeper;
    _Atomic int64_t freed; // bytes that were deleted since the store was last asked to reclaim them
    // See engine_index_copy_max. Work that was resumed may write before a server has set it: an
    // entry of either form can be read.
    _Atomic size_t index_copy_max;
    struct judge judge;
    struct guard_maker maker; // what it was opened with
    struct ship ship;
    struct following follow;
    pthread_t writer_thread;
};

// ---- Images of an item ---------------------------------------------------------------------

// One state of an item: its bytes (VALUE_NONE if there is none) and AWS's size of it. Of a wide one
// the attributes that make keys stand apart: see layout_key_image().
struct image {
    struct slice item;
    size_t size;
    struct slice keys;
};

// What becomes of one item. All that is derived from items (entries, expiry, the change log) is a
// function of it.
struct change {
    struct slice key; // the item's tree key
    struct image before;
    struct image after;
    bool same;           // both images are equal
    struct slice record; // of the image after, if it was put: in the batch, for others to share
};

// Where to look for an attribute that makes a key.
static inline struct slice image_keys(struct image image)
{
    return image.keys.len > 0 ? image.keys : image.item;
}

// What was found at a key, as an item.
struct item_read item_read_of(const struct store_read *read);
// Orders (orders.c): if the store is behind a network, they are taken between these.
void orders_start(struct engine *engine);
void orders_stop(struct engine *engine);

// ---- What a group is going to read (prefetch.c) ---------------------------------------------

enum {
    PREFETCH_KEYS = 256,
    PREFETCH_BYTES = 8 << 20,  // of keys
    PREFETCH_VALUES = 8 << 20, // bytes; jobs read for themselves what is behind them
};
struct prefetch {
    struct arena arena; // of the keys
    struct key_map by_key;
    size_t count;
    struct store_read reads[PREFETCH_KEYS];
};
void prefetch_init(struct prefetch *prefetch);
void prefetch_release(struct prefetch *prefetch);
// False if there is no room for more.
bool prefetch_add(struct prefetch *prefetch, struct slice key);
// Reads what was added.
void prefetch_run(struct prefetch *prefetch, struct store *store);
// NULL if the key was not read.
const struct store_read *prefetch_find(const struct prefetch *prefetch, struct slice key);
// Before the commit: what was read is old then.
void prefetch_clear(struct prefetch *prefetch, struct store *store);

// ---- The writer's transaction (writer.c) ----------------------------------------------

// The change of one tree's counters in the batch that is being gathered.
struct stats_delta {
    struct tree_stats *stats; // with a reference
    tree_id tree;
    int64_t items;
    int64_t bytes;
};

struct txn {
    struct engine *engine;
    struct store_batch *batch;
    struct buf key; // scratch for one key or record each
    struct buf old_key;
    struct buf record;
    struct buf old_record;
    struct buf image;
    struct value_builder builder; // over image
    size_t delta_count;
    size_t delta_capacity;
    struct stats_delta *deltas;
    struct steps steps;        // of the job at hand; the writer's are limited
    int64_t full_ns;           // when the group has taken long enough, or 0
    bool aside;                // the judge's: its batch stays empty
    struct prefetch *prefetch; // the writer's, of a store behind a network; else NULL
};

void txn_init(struct txn *txn, struct engine *engine);
void txn_release(struct txn *txn);
// Whether the group should be committed before anything is added to it. Time counts from the first
// question: a job alone in its group asks none.
bool txn_full(struct txn *txn);

// Puts a record that was written into one of the buffers. If memory ran out for it, the batch
// fails.
static inline void txn_put(struct txn *txn, struct slice key, const struct buf *record)
{
    if (record->failed)
        store_batch_fail(txn->batch);
    else
        store_batch_put(txn->batch, key, buf_view(record));
}

// What becomes of one entry of a tree that is counted: a table's, or an index's. Each of the
// functions below counts it with what it does, so that counters cannot differ from entries.
struct entry_change {
    tree_id tree;
    struct tree_stats *stats;
    struct slice key;
    struct image before; // what counts for the entry; VALUE_NONE if there is none
    struct image after;
};
// Puts the record of the item after, made where it will stay until the commit; returns it. Empty if
// memory ran out: then the batch fails.
struct slice txn_put_item(struct txn *txn, const struct entry_change *entry);
// Puts a record that the batch has already under another key.
void txn_put_shared(struct txn *txn, const struct entry_change *entry, struct slice record);
void txn_put_entry(struct txn *txn, const struct entry_change *entry, const struct buf *record);
void txn_remove(struct txn *txn, const struct entry_change *entry);
// The entry itself stays as it is.
void txn_recount(struct txn *txn, const struct entry_change *entry);

// The record under a key as the transaction sees it. `pin` must be released with
// store_value_release; bytes from the batch, or read ahead, are copied into the arena.
MUST_CHECK bool txn_get(struct txn *txn, struct slice key, struct arena *arena,
                        struct store_value *out, bool *found, struct error *error);

MUST_CHECK bool writer_start(struct engine *engine);
void writer_stop(struct engine *engine);
// Puts a job that was submitted before at the end of the queue.
void writer_queue(struct engine *engine, struct job *job);

// ---- The judge (judge.c) -----------------------------------------------------------------

MUST_CHECK bool judge_start(struct engine *engine);
void judge_stop(struct engine *engine);
// Has the job planned, and queued again.
void judge_take(struct engine *engine, struct job *job);
// The writer runs a job that the judge has planned.
void judge_returned(struct engine *engine);

// Turns a failed store call into the client's error; the text is in the log.
bool engine_store_failed(struct error *error, const struct store_error *cause);
// Whether the cursor stands on a key or has come to its end: it has not failed. The other one
// closes it as well.
MUST_CHECK bool engine_cursor_ok(const struct store_cursor *cursor, struct error *error);
MUST_CHECK bool engine_cursor_end(struct store_cursor *cursor, struct error *error);

// ---- Health (health.c) -------------------------------------------------------------------

void health_init(struct engine *engine);
void health_release(struct engine *engine);
// Commits the batch, or refuses to while the store is broken; recovery is tried first, at most
// once a second. The writer only.
MUST_CHECK enum store_end health_commit(struct engine *engine, const struct store_batch *batch,
                                        struct store_error *cause);
bool health_writable(struct engine *engine);

// ---- Catalog (catalog.c) ---------------------------------------------------------------

// A record of the catalog that came from elsewhere and is committed; VALUE_NONE removes the table.
void catalog_learn(struct engine *engine, struct slice name, struct slice record);
MUST_CHECK bool catalog_load(struct engine *engine, struct store_error *error);
void catalog_release(struct catalog *catalog);
// The current version, without a reference; only for the writer.
struct table *catalog_find(struct engine *engine, struct slice name);
// Puts `next` (taken over) in the place of the table of that name; NULL removes it. Writer only.
void catalog_publish(struct engine *engine, struct slice name, struct table *next);
// Writes the catalog's record of a table into the batch.
void catalog_write(struct txn *txn, const struct table *table);
// Gives the next tree id and writes the counter.
tree_id catalog_new_tree(struct txn *txn);
// Notes in the batch that a tree is to be emptied; the keeper does it.
void catalog_drop_tree(struct txn *txn, tree_id tree);
void catalog_forget_drop(struct txn *txn, tree_id tree);
// The key of a record in the meta tree; the record; a cursor at the first record of a kind.
enum { META_HEAD = 5 }; // tree and kind
void meta_key(struct buf *out, char kind, struct slice name);
void meta_tree_key(struct buf *out, char kind, tree_id tree);
MUST_CHECK enum store_result meta_get(struct store *store, struct store_snapshot *snapshot,
                                      char kind, struct slice name, struct store_value *out,
                                      struct store_error *error);
struct store_cursor *meta_cursor(struct store *store, char kind);

enum {
    META_TABLE = 'T',    // + name -> table record
    META_STATS = 'C',    // + tree -> items, bytes
    META_DROP = 'D',     // + tree -> nothing: a tree to be emptied
    META_NEXT = 'N',     // -> the next tree id
    META_TOKEN = 'I',    // + client request token -> time, digest
    META_PROBE = 'P',    // -> nothing: written to see whether the store takes writes again
    META_EXPIRY = 'X',   // + time, token -> nothing: when to forget it
    META_LAPSE = 'L',    // + time, key of a claim with that end -> nothing: when to forget it
    META_RECORD = 'R',   // + name -> what the API keeps there
    META_SHIP = 'W',     // + number, part -> an entry of the log that replicas follow: see ship.c
    META_FOLLOW = 'F',   // -> whose replica this is, and how far: see follow.c
    META_SEQUENCE = 'S', // -> the last sequence of the change log, and its time: see log.c
};

// ---- Records (record.c) ------------------------------------------------------------------

struct record_write;
void txn_record(struct txn *txn, const struct record_write *write);

// ---- Change log (log.c) ------------------------------------------------------------------

MUST_CHECK bool log_load(struct engine *engine, struct store_error *error);
// Notes that an item went from one image to another, if the table wants to know and they differ.
// It uses txn->record and txn->image.
void log_append(struct txn *txn, const struct table *table, const struct change *change,
                bool expired);
// Its state came from elsewhere and is committed.
void log_learn(struct engine *engine, struct slice state);
void log_before_commit(struct txn *txn);
void log_after_commit(struct engine *engine, bool committed);
// The catalog has another version of a table.
void log_catalog_changed(struct engine *engine);

// ---- Replicas (ship.c, follow.c) ----------------------------------------------------------

MUST_CHECK bool ship_load(struct engine *engine, struct store_error *error);
void ship_release(struct engine *engine);
void ship_before_commit(struct txn *txn);
void ship_after_commit(struct engine *engine, bool committed);

// False if the store is a copy that is not complete.
MUST_CHECK bool follow_open(struct engine *engine, struct store_error *error);
void follow_release(struct engine *engine);
// Whether a replica does not do the job; then the job's error says so.
bool follow_refuses(struct engine *engine, const struct job *job);

// ---- Time to live (ttl.c) -----------------------------------------------------------------

// Brings the index of expiry times from an item's old image to the new one.
void ttl_apply(struct txn *txn, const struct table *table, const struct change *change);

// ---- Indexes (index.c) ------------------------------------------------------------------

// Judge one key of an index: its type; for an item that is put also emptiness and size.
MUST_CHECK bool index_check_type(const struct index *index, const struct key_part *key,
                                 enum value_type actual, struct error *error);
MUST_CHECK bool index_check_key(const struct index *index, size_t part, struct slice value,
                                struct error *error);
// Judges the index keys (type, emptiness, size) that an update has changed.
MUST_CHECK bool index_keys_check(const struct table *table, struct slice before, struct slice after,
                                 struct error *error);

// Whether the index has an entry for the item of that key, if the item has what makes one. While it
// is being backfilled, it has those of the items below its mark and no others.
static inline bool index_holds(const struct index *index, struct slice tree_key)
{
    return index->status == INDEX_ACTIVE ||
           (index->status == INDEX_CREATING && slice_compare(tree_key, index->backfilled) < 0);
}

struct index_cost {
    uint32_t units; // write capacity
    int64_t bytes;  // growth of the index
};
// Brings one index from an item's old image to the new one.
struct index_cost index_apply(struct txn *txn, const struct table *table, const struct index *index,
                              const struct change *change);

// ---- Applying (write.c) --------------------------------------------------------------------

// Brings all that is derived from an item and counted or looked up by it (expiry, indexes, vector
// indexes) from the old image to the new one. Returns how much its collection grows.
int64_t apply_derived(struct txn *txn, const struct table *table, const struct change *change,
                      struct write_cost *out);

// ---- Plans (plan.c) ----------------------------------------------------------------------

// What the guard said of one action: the values its item claims and gives back.
struct claims {
    size_t count;
    struct guard_claim *list;
    size_t release_count;
    struct guard_claim *releases;
    size_t next_count;        // of the claims, the last ones: of the table's next guard
    size_t next_releases;     // and of the releases
    bool clashed;             // another item has one of the next guard's
    struct slice repeats;     // the key of the item that did before what the action does; or empty
    struct claim_row **rows;  // by position in list, once they are in a ledger
    struct claim_row **given; // by position in releases; NULL for what is claimed again
};

// What a plan was before effects changed it.
struct plan_own {
    struct image after;
    struct claims claims;
};

// What an action comes to: the item that it found, and the one that it makes of it.
struct plan {
    struct table *table; // the current version; counted if made aside
    struct store_value pin;
    struct image before;
    struct image after;
    int64_t collection; // bytes before the write
    struct claims claims;
    struct error error;   // ERR_NONE, or why the action fails
    struct plan_own *own; // NULL unless an effect has changed it
    // What policies of the table leave of it to whoever asks: see plan_seen(). `taken` is the image
    // that a put or an update must not know of; `before` is none then.
    bool unseen;
    struct slice veiled; // the old image without what is hidden; VALUE_NONE if nothing is
    struct slice taken;
    bool opened; // table and item are there
    bool made;   // and so is the rest
    bool aside;  // by the judge: to be confirmed by the writer
};

// Item collections (collection.c). The key of the counter of the item's collection, in txn->key.
void collection_key(struct txn *txn, const struct table *table, struct slice tree_key);
// What the collection has; false if the action would make it too large.
bool collection_read(struct txn *txn, struct write_job *request, const struct write_action *action,
                     struct plan *plan, struct error *error);
void collection_apply(struct txn *txn, struct write_action *action, const struct plan *plan,
                      int64_t growth);

// The old image as whoever asks may know it.
static inline struct slice plan_seen(const struct plan *plan)
{
    return plan->unseen ? VALUE_NONE : plan->veiled.len > 0 ? plan->veiled : plan->before.item;
}

// A copy of an item as whoever asks may know it; *out is left as it is if that is nothing.
MUST_CHECK bool guard_show(const struct guard *guard, const struct write_job *request,
                           struct slice item, struct slice *out, struct error *error);

// Begins a plan: finds the table and reads the item.
void plan_open(struct txn *txn, struct write_job *request, struct write_action *action,
               struct plan *plan);
// Makes the rest of it; false if txn->steps is over before it is done.
MUST_CHECK bool plan_make(struct txn *txn, struct write_job *request, struct write_action *action,
                          struct plan *plan);
// Whether a plan that was made aside still holds for the writer.
MUST_CHECK bool plan_confirm(struct txn *txn, struct write_job *request,
                             const struct write_action *action, const struct plan *plan);
void plan_drop(struct txn *txn, struct plan *plan);

// Another image of an item, because of what happened to others. VALUE_NONE removes it.
struct plan_change {
    struct slice item;
    bool put; // see struct guard_affected
    bool for_good;
};
// Gives a plan that is made that image, as the table's guard completes it. False with the error
// set, or without one if txn->steps is over.
MUST_CHECK bool plan_affect(struct txn *txn, struct write_job *request, struct write_action *action,
                            struct plan *plan, const struct plan_change *change,
                            struct error *error);
// Takes that back.
void plan_restore(struct plan *plan);

// Adds what a derived action cost to the bill of the one that it follows from; and forgets the
// bill.
void write_bill_add(struct write_job *request, struct write_action *cause,
                    struct write_action *derived);
void write_bill_drop(struct write_action *action);

// The bytes of items that the action reads or makes: what counts towards the size of a transaction.
size_t plan_weight(const struct write_action *action, const struct plan *plan);

// The old image of the item. The pin must be released.
MUST_CHECK bool plan_read(struct txn *txn, struct write_job *request,
                          const struct write_action *action, struct plan *plan,
                          struct error *error);
// Copies an image into the arena, if there is one.
MUST_CHECK bool image_copy(struct arena *arena, struct slice item, struct slice *out,
                           struct error *error);

// ---- Guards (guard.c, claims.c) ------------------------------------------------------------

// Whether whoever asks may write the item at all, by its key: nothing has been read yet. A check of
// what it may not read becomes WRITE_UNSEEN.
MUST_CHECK bool guard_admit(const struct write_job *request, const struct table *table,
                            struct write_action *action, struct error *error);
// Who asks: the server itself if nobody is named.
const struct write_origin *origin_of(const struct write_job *request);
// Has the table's guard complete and judge the new image. `claims` is what came out.
MUST_CHECK bool guard_judge(struct txn *txn, struct write_job *request, struct write_action *action,
                            const struct table *table, struct slice before, struct slice *after,
                            struct claims *claims, struct error *error);

// The same for an image that follows from another change (plan_affect).
MUST_CHECK bool guard_judge_affected(struct txn *txn, struct write_job *request,
                                     struct write_action *action, const struct plan *plan,
                                     const struct plan_change *change, struct slice *after,
                                     struct claims *claims, struct error *error);

// ---- Parts (write.c) and what follows from them (effects.c) -------------------------------------

// One item of a part: an action of the client's and its plan, or what follows from one.
struct member {
    struct write_action *action;
    struct plan *plan;
    size_t cause;              // the position of the client's action
    bool derived;              // it follows from that
    bool ended;                // it was told of its end,
    unsigned tellings;         // so often,
    struct slice told_of;      // of this image,
    struct effect_batch *told; // from which this followed
};

// A number that stands in for an item.
struct effect_note {
    struct slice key; // tree key
    struct slice before;
    struct slice after; // VALUE_NONE, or an N
};

struct effect_batch;

// All in the request's arena, but for what plans hold.
struct effects {
    size_t count; // members: the part's actions first, in their order
    size_t capacity;
    struct member **members;
    size_t note_count;
    size_t note_capacity;
    struct effect_note **notes;
    struct error error; // why the part fails, and which action is to blame
    size_t blamed;

    // Private.
    struct key_map by_key;
    struct key_map by_note;
    struct effect_batch *first;
    struct effect_batch **end;
    size_t bytes;
    size_t named;  // effects so far; several may be about one item
    uint64_t from; // steps that were taken before
};

// What is planned and applied as one: a transaction whole, a statement of a batch alone, otherwise
// as many actions as a group has room for, none of them on the item of another. The next part sees
// what this one has put into the batch.
struct part {
    struct write_action *actions;
    struct plan *plans;
    size_t count;
};

enum effects_end {
    EFFECTS_DONE,   // request->effects has what follows, or why it cannot be; NULL if nothing does
    EFFECTS_LATER,  // it takes long, or must be read from disk: the judge goes first
    EFFECTS_ALONE,  // it has to read what the batch may have changed: in a batch of its own
    EFFECTS_NARROW, // too much follows from the part: it has to be smaller
};
// Draws the consequences of a part whose actions are planned.
MUST_CHECK enum effects_end effects_run(struct txn *txn, struct write_job *request,
                                        const struct part *part);
// Forgets them, and gives the plans of the part back the images that they had.
void effects_drop(struct txn *txn, struct write_job *request);
// Brings the notes up to date.
void effects_apply_notes(struct txn *txn, const struct effects *effects);

// Keeps the images that the action's owner wants to see. Then finds the room to tell of them, if
// the owner has said how; of an action that fails alone, only the image is not told if there is
// none.
MUST_CHECK bool write_keep_images(struct write_job *request, struct write_action *action,
                                  const struct plan *plan, struct error *error);
MUST_CHECK bool write_find_room(struct write_job *request, struct write_action *action,
                                struct error *error);
void write_room_for_failure(struct write_job *request, struct write_action *action);

// Does all of a request in the batch at hand, for jobs of the engine's own that run alone.
MUST_CHECK bool write_at_once(struct txn *txn, struct write_job *request);

// ---- Repetition (repeat.c) ---------------------------------------------------------------

// Once the claims of a part are judged: the key of the item that did before what the action at
// *which does; empty if none did.
struct slice repeat_of(const struct write_job *request, const struct part *part, size_t *which);
// Answers the part as the first was.
MUST_CHECK bool repeat_part(struct txn *txn, struct write_job *request, const struct part *part,
                            size_t which);

// ---- Counting anew (pending.c) -----------------------------------------------------------

const struct table_pending *pending_of(const struct table *table, struct slice rule);

enum pending_way {
    PENDING_NOT,  // as always
    PENDING_DROP, // it will be met, or taken
    PENDING_NOTE, // to the note alone
};
// What becomes of an effect on a table, by the tree keys of the item that it comes from and of the
// one that it is about.
enum pending_way pending_way(const struct table *table, const struct guard_effect *effect,
                             struct slice source, struct slice target);
// Which rules of the next version's guard have to be counted.
MUST_CHECK bool pending_decide(struct txn *txn, const struct table *current, struct table *next);
// What a change of a table means for the counts of others, whose sources stand in it: they are
// counted anew if nobody said what became of those for a while. The next versions of the others, to
// be published with the table's own, go to the change.
MUST_CHECK bool pending_follow(struct txn *txn, struct table_change *change);
// Does what can be done; false if something failed. The keeper only.
MUST_CHECK bool pending_work(struct engine *engine, bool (*stops)(struct engine *engine));

// Whether the thread may wait for the disk: the writer does not, unless the judge has been there,
// or that would bring nothing nearer.
static inline bool may_wait(const struct txn *txn, const struct write_job *request)
{
    return txn->aside || request->tries > 0 || request->waits || store_remote(txn->engine->store);
}

// One action of a request, as far as claims are concerned.
struct claimant {
    const struct table *table;
    struct slice key; // the item's tree key
    struct claims *claims;
};
// All claims of a part of a request, in the arena; NULL if that is used up. The claimants must stay
// where they are.
MUST_CHECK struct ledger *ledger_new(const struct engine *engine, struct arena *arena,
                                     const struct claimant *all, size_t count);
// Looks up who has the values; what is not looked up here is when it is judged.
MUST_CHECK bool ledger_read(struct txn *txn, struct ledger *ledger, struct arena *arena,
                            struct error *error);
// The writer forgets what has changed since the judge looked it up; false if that is not known any
// more.
MUST_CHECK bool ledger_catch_up(const struct engine *engine, struct ledger *ledger);
// Judges the claims of one action beside those of all others in its ledger. If the part can be done
// action by action, one that does what another of it does repeats that one; else it fails.
MUST_CHECK bool claims_judge(struct txn *txn, struct arena *arena, const struct claimant *self,
                             bool divisible, struct error *error);
// What the batch has changed of claims is committed, or will not be.
void claims_settled(struct engine *engine);
// Whether a claim's record has an end.
bool claim_ends(struct slice record);
// Forgets claims whose end has come, a bounded number at a time; true if there may be more.
bool claims_sweep(struct txn *txn);
// Brings the table's claims up to date: first for all actions what is given back, then what is
// claimed.
void claims_release(struct txn *txn, const struct claimant *claimant);
void claims_take(struct txn *txn, const struct claimant *claimant);

// ---- Vector indexes (vector.c) ----------------------------------------------------------------

// Brings one vector index from an item's old image to the new one. Returns the size of the larger
// view of the item, or 0 if the index has nothing to do. It uses all buffers of the transaction.
uint64_t vector_apply(struct txn *txn, const struct table *table, const struct vector_index *index,
                      const struct change *change);

// ---- Idempotency tokens (token.c) -----------------------------------------------------------

enum token_state { TOKEN_NEW, TOKEN_SAME, TOKEN_OTHER };
// Of a token that is the same, the actions have the cost of reading their items (in units of 4 KB).
MUST_CHECK bool token_look_up(struct txn *txn, struct write_job *request, enum token_state *state);
void token_wants(const struct write_job *request, struct txn *txn);
void token_remember(struct txn *txn, const struct write_job *request);
// Forgets tokens older than ten minutes, a bounded number at a time; true if there may be more.
bool token_sweep(struct txn *txn);

// ---- Keeper (keeper.c) ------------------------------------------------------------------------

void keeper_start(struct engine *engine);
void keeper_stop(struct engine *engine);
void keeper_wake(struct engine *engine);

static inline uint32_t write_units(size_t bytes)
{
    return bytes <= 1024 ? 1 : (uint32_t)((bytes + 1023) / 1024);
}

#endif
