// The writer: runs all waiting jobs against one batch, commits once, and then answers all of
// them. While it waits for the disk, new jobs gather, so the batch grows with the load and the
// cost of a sync is shared.
//
// It is a role that one thread has at a time, and the queue's lock says which (enum writer_place).
// Mostly that is the writer thread. When it sleeps and a caller comes that would only wait for it,
// the caller does the round itself and gives the role back: a lone caller does not pay for two
// threads waking each other (ADR 016). The transaction and the backlog go with the role, and so
// does everything else that is "the writer's": passing it on under the lock makes what one has
// written visible to the next.
//
// Invariants: a job that fails has written nothing; nothing is answered before the batch is
// durable; counters and catalog change only after that, so a failed commit needs no undoing.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "base/log.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum { GATHER_NS = 150000 };

// ---- Backlog ------------------------------------------------------------------------

// Jobs that the writer has taken and not run yet. Small and large ones are committed in turns:
// whoever writes little waits for one commit of those who write much, never for all of them nor in
// one commit with them, and the large go on, however many small ones come.
struct backlog {
    struct job_list small;
    struct job_list large;
    bool large_next; // the last commit was of small ones
    bool beside;     // one of them is a job beside the requests
};

// What goes with the role.
struct writer {
    struct txn txn;
    struct prefetch prefetch;
    struct backlog backlog;
};

static bool backlog_empty(const struct backlog *backlog)
{
    return backlog->small.first == NULL && backlog->large.first == NULL;
}

static void backlog_add(struct backlog *backlog, struct job *job)
{
    backlog->beside |= job->beside;
    jobs_add(job->large ? &backlog->large : &backlog->small, job);
}

// Those whose turn it is.
static struct job_list *backlog_turn(struct backlog *backlog)
{
    bool large =
        backlog->small.first == NULL || (backlog->large_next && backlog->large.first != NULL);
    return large ? &backlog->large : &backlog->small;
}

// ---- Queue --------------------------------------------------------------------------

static bool queue_empty(const struct queue *queue)
{
    return queue->jobs.first == NULL && queue->beside.first == NULL;
}

void writer_queue(struct engine *engine, struct job *job)
{
    struct queue *queue = &engine->queue;
    ensure(pthread_mutex_lock(&queue->lock) == 0);
    jobs_add(job->beside ? &queue->beside : &queue->jobs, job);
    if (queue->place == WRITER_IDLE)
        ensure(pthread_cond_signal(&queue->wake) == 0);
    ensure(pthread_mutex_unlock(&queue->lock) == 0);
}

// Whether the job's owner becomes the writer: it overtakes nobody, and nobody is about to come with
// whom it should share a commit.
static bool queue_lends(const struct queue *queue, const struct job *job)
{
    return job->patient && queue->place == WRITER_IDLE && queue_empty(queue) &&
           queue->answered <= 1 && !queue->stopping;
}

static void writer_lead(struct engine *engine);

bool engine_submit(struct engine *engine, struct job *job)
{
    struct queue *queue = &engine->queue;
    struct job_list *list = job->beside ? &queue->beside : &queue->jobs;
    job->failed = false;
    job->turn = JOB_ENDS;
    if (follow_refuses(engine, job))
        return false;
    if (job->ready != NULL && !job->ready(job))
        return false;
    ensure(pthread_mutex_lock(&queue->lock) == 0);
    if (list->waiting >= LIMIT_WRITE_QUEUE) {
        ensure(pthread_mutex_unlock(&queue->lock) == 0);
        return error_set(job->error, ERR_THROTTLING,
                         "Throughput exceeds the current capacity of your table or index. Too "
                         "many writes are waiting; retry in a moment.");
    }
    list->waiting++;
    bool leads = queue_lends(queue, job);
    // A writer that has work looks at the queue when it is done with it.
    bool wakes = queue->place == WRITER_IDLE && list->first == NULL;
    bool enough = queue->jobs.waiting == queue->wanted;
    if (leads) {
        queue->place = WRITER_LENT;
        queue->answered = 0;
        backlog_add(&engine->writer->backlog, job);
    } else {
        jobs_add(list, job);
    }
    ensure(pthread_mutex_unlock(&queue->lock) == 0);
    // From here on the job may be done, and gone.
    if (leads)
        writer_lead(engine);
    else if (wakes || enough)
        ensure(pthread_cond_signal(&queue->wake) == 0);
    return true;
}

// Clients that were just answered are about to ask again. Where many write at once, waiting for
// most of them for a moment, much shorter than a sync, makes one commit of several. One that writes
// alone never waits.
static void queue_gather(struct queue *queue)
{
    size_t clients = queue->answered + queue->jobs.waiting;
    queue->answered = 0;
    queue->wanted = clients * 5 / 8;
    int64_t until_ns = queue->jobs.waiting < queue->wanted ? monotonic_ns() + GATHER_NS : 0;
    while (queue->jobs.waiting < queue->wanted && !queue->stopping) {
        if (!wait_until(&queue->wake, &queue->lock, until_ns))
            break;
    }
    queue->wanted = 0;
}

// Whether nothing is left to take, and nothing aside that will come back.
static bool queue_ended(const struct queue *queue)
{
    return queue->stopping && queue->jobs.waiting == 0 && queue->beside.waiting == 0;
}

// Adds all requests that wait to the backlog, and one job beside them. If there is nothing to do,
// sleeps; false when the engine stops. The writer thread only.
static bool queue_take(struct queue *queue, struct backlog *backlog)
{
    ensure(pthread_mutex_lock(&queue->lock) == 0);
    if (backlog_empty(backlog)) {
        queue->place = queue_empty(queue) ? WRITER_IDLE : WRITER_BUSY;
        // The backlog may be looked at only while the role is here: a caller may have left its job
        // in it.
        while (queue->place == WRITER_LENT ||
               (queue_empty(queue) && backlog_empty(backlog) && !queue_ended(queue)))
            ensure(pthread_cond_wait(&queue->wake, &queue->lock) == 0);
        queue->place = WRITER_BUSY;
        queue_gather(queue);
    }
    struct job *job;
    while ((job = jobs_take(&queue->jobs)) != NULL)
        backlog_add(backlog, job);
    if (!backlog->beside && (job = jobs_take(&queue->beside)) != NULL)
        backlog_add(backlog, job);
    ensure(pthread_mutex_unlock(&queue->lock) == 0);
    return !backlog_empty(backlog);
}

// Jobs that have come to their end.
struct finished {
    size_t requests;
    size_t beside;
};

static void queue_finished(struct queue *queue, struct finished finished)
{
    ensure(pthread_mutex_lock(&queue->lock) == 0);
    queue->jobs.waiting -= finished.requests;
    queue->beside.waiting -= finished.beside;
    queue->answered += finished.requests;
    ensure(pthread_mutex_unlock(&queue->lock) == 0);
}

// ---- Counts -------------------------------------------------------------------------

static void tally(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + by, memory_order_relaxed);
}

void engine_stats(struct engine *engine, struct engine_stats *out)
{
    struct writer_counts *counts = &engine->counts;
    *out = (struct engine_stats){
        .commits = atomic_load_explicit(&counts->commits, memory_order_relaxed),
        .commits_failed = atomic_load_explicit(&counts->commits_failed, memory_order_relaxed),
        .commit_bytes = atomic_load_explicit(&counts->commit_bytes, memory_order_relaxed),
        .jobs = atomic_load_explicit(&counts->jobs, memory_order_relaxed),
    };
    ensure(pthread_mutex_lock(&engine->queue.lock) == 0);
    out->waiting = engine->queue.jobs.waiting + engine->queue.beside.waiting;
    ensure(pthread_mutex_unlock(&engine->queue.lock) == 0);
}

// ---- Waiting for a job --------------------------------------------------------------

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
};

// All under the lock: it is on the stack of the one who waits, who leaves when it has seen `done`
// and has the lock.
static void wake_waiter(struct waiter *waiter)
{
    ensure(pthread_mutex_lock(&waiter->lock) == 0);
    waiter->done = true;
    ensure(pthread_cond_signal(&waiter->wake) == 0);
    ensure(pthread_mutex_unlock(&waiter->lock) == 0);
}

bool engine_run(struct engine *engine, struct job *job)
{
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    job->waiter = &waiter;
    job->undone = NULL; // whoever runs it in one piece is told if a piece is missing
    // Threads that work beside the requests may have low priority: nobody shall wait for them.
    job->patient = !job->beside;
    if (!engine_submit(engine, job))
        return false;
    ensure(pthread_mutex_lock(&waiter.lock) == 0);
    while (!waiter.done)
        ensure(pthread_cond_wait(&waiter.wake, &waiter.lock) == 0);
    ensure(pthread_mutex_unlock(&waiter.lock) == 0);
    job->waiter = NULL;
    return !job->failed;
}

bool engine_run_beside(struct engine *engine, struct job *job)
{
    job->beside = true;
    return engine_run(engine, job);
}

// ---- Transaction ---------------------------------------------------------------------

void txn_init(struct txn *txn, struct engine *engine)
{
    *txn = (struct txn){.engine = engine, .batch = store_batch_new()};
    ensure_memory(txn->batch);
    buf_init(&txn->key, 1 << 20);
    buf_init(&txn->old_key, 1 << 20);
    buf_init(&txn->record, 64 << 20);
    buf_init(&txn->old_record, 64 << 20);
    buf_init(&txn->image, 64 << 20);
    value_builder_init(&txn->builder, &txn->image);
}

void txn_release(struct txn *txn)
{
    value_builder_release(&txn->builder);
    buf_release(&txn->key);
    buf_release(&txn->old_key);
    buf_release(&txn->record);
    buf_release(&txn->old_record);
    buf_release(&txn->image);
    free(txn->deltas);
    store_batch_free(txn->batch);
}

bool txn_full(struct txn *txn)
{
    if (store_batch_bytes(txn->batch) >= LIMIT_GROUP_BYTES || store_batch_failed(txn->batch))
        return true;
    int64_t now = monotonic_ns();
    if (txn->full_ns == 0)
        txn->full_ns = now + LIMIT_GROUP_NS;
    return now >= txn->full_ns;
}

static struct stats_delta *delta_of(struct txn *txn, tree_id tree, struct tree_stats *stats)
{
    size_t i = 0;
    while (i < txn->delta_count && txn->deltas[i].tree != tree)
        i++;
    if (i < txn->delta_count)
        return &txn->deltas[i];
    txn->deltas = memory_grow(txn->deltas, i, &txn->delta_capacity, sizeof(*txn->deltas));
    txn->deltas[i] = (struct stats_delta){.stats = tree_stats_hold(stats), .tree = tree};
    txn->delta_count++;
    return &txn->deltas[i];
}

void txn_recount(struct txn *txn, const struct entry_change *entry)
{
    int64_t items = (int64_t)(entry->after.item.len > 0) - (int64_t)(entry->before.item.len > 0);
    int64_t bytes = (int64_t)entry->after.size - (int64_t)entry->before.size;
    if (items == 0 && bytes == 0)
        return;
    struct stats_delta *delta = delta_of(txn, entry->tree, entry->stats);
    delta->items += items;
    delta->bytes += bytes;
}

struct slice txn_put_item(struct txn *txn, const struct entry_change *entry)
{
    uint8_t head[10];
    struct slice item = entry->after.item;
    size_t head_len = varint_put(head, entry->after.size);
    txn_recount(txn, entry);
    uint8_t *record = store_batch_put_room(txn->batch, entry->key, head_len + item.len);
    if (record == NULL)
        return slice_of(NULL, 0);
    memcpy(record, head, head_len);
    memcpy(record + head_len, item.ptr, item.len);
    return slice_of(record, head_len + item.len);
}

void txn_put_shared(struct txn *txn, const struct entry_change *entry, struct slice record)
{
    txn_recount(txn, entry);
    store_batch_put_shared(txn->batch, entry->key, record);
}

void txn_put_entry(struct txn *txn, const struct entry_change *entry, const struct buf *record)
{
    txn_recount(txn, entry);
    txn_put(txn, entry->key, record);
}

void txn_remove(struct txn *txn, const struct entry_change *entry)
{
    txn_recount(txn, entry);
    store_batch_delete(txn->batch, entry->key);
}

bool txn_get(struct txn *txn, struct slice key, struct arena *arena, struct store_value *out,
             bool *found, struct error *error)
{
    *out = (struct store_value){.pin = NULL};
    *found = false;
    struct slice pending;
    switch (store_batch_get(txn->batch, key, &pending)) {
    case BATCH_DELETED:
        return true;
    case BATCH_PUT:
        out->bytes = arena_copy(arena, pending);
        *found = true;
        return out->bytes.ptr != NULL || error_budget(error);
    case BATCH_SILENT:
        break;
    }
    const struct store_read *read =
        txn->prefetch == NULL ? NULL : prefetch_find(txn->prefetch, key);
    if (read != NULL) {
        *found = read->found;
        if (read->found)
            out->bytes = arena_copy(arena, read->value.bytes);
        return !read->found || out->bytes.ptr != NULL || error_budget(error);
    }
    struct store_error cause;
    enum store_result result = store_get(txn->engine->store, NULL, key, out, &cause);
    *found = result == STORE_FOUND;
    return result != STORE_FAILED || engine_store_failed(error, &cause);
}

// The counters go into the same batch as the writes they count, so they are exact after a crash.
static void write_counters(struct txn *txn)
{
    for (size_t i = 0; i < txn->delta_count; i++) {
        const struct stats_delta *delta = &txn->deltas[i];
        uint8_t value[16];
        be64_put(value, (uint64_t)(delta->stats->items + delta->items));
        be64_put(value + 8, (uint64_t)(delta->stats->bytes + delta->bytes));
        meta_tree_key(&txn->key, META_STATS, delta->tree);
        store_batch_put(txn->batch, buf_view(&txn->key), slice_of(value, sizeof(value)));
    }
}

static void settle_counters(struct txn *txn, bool committed)
{
    for (size_t i = 0; i < txn->delta_count; i++) {
        struct stats_delta *delta = &txn->deltas[i];
        if (committed) {
            delta->stats->items += delta->items;
            delta->stats->bytes += delta->bytes;
            if (delta->bytes < 0)
                txn->engine->freed -= delta->bytes;
        }
        tree_stats_release(delta->stats);
    }
    txn->delta_count = 0;
}

// ---- Groups -------------------------------------------------------------------------

// Jobs that are committed together, in the order in which they ran.
struct group {
    struct job *first;
    struct job **end;
    size_t count;
    bool begun; // a job was run, even if it was put off
};

static void run_job(struct txn *txn, struct job *job)
{
    if (job->turn == JOB_ASIDE)
        judge_returned(txn->engine);
    job->turn = JOB_ENDS;
    txn->steps = (struct steps){.limit = LIMIT_WRITER_WORK};
    job->failed = !job->run(job, txn);
}

// The job that comes next into the group, or NULL if the group ends: nothing is left, or it is
// full, or it or the job wants no others.
static struct job *next_job(struct txn *txn, struct job_list *list, const struct group *group,
                            bool single)
{
    if (list->first == NULL || (group->begun && txn_full(txn)))
        return NULL;
    if (group->count > 0 && (single || list->first->alone))
        return NULL;
    return jobs_take(list);
}

// Reads at once what the jobs that come next are going to ask for.
static void read_ahead(struct txn *txn, const struct job_list *list, bool single)
{
    for (const struct job *job = list->first; job != NULL; job = job->next) {
        if (job != list->first && (single || job->alone))
            break;
        if (job->wants != NULL)
            job->wants(job, txn);
        single |= job->alone;
    }
    prefetch_run(txn->prefetch, txn->engine->store);
}

// Runs jobs of the backlog until the group ends. On a full disk each has one of its own: those
// that free room are not held up by the others.
static void run_group(struct txn *txn, struct backlog *backlog, struct group *group)
{
    struct job_list *list = backlog_turn(backlog);
    *group = (struct group){.end = &group->first};
    txn->full_ns = 0;
    struct store_error why;
    bool single = store_condition(txn->engine->store, &why) == STORE_NO_ROOM;
    if (txn->prefetch != NULL)
        read_ahead(txn, list, single);
    struct job *job;
    while ((job = next_job(txn, list, group, single)) != NULL) {
        run_job(txn, job);
        group->begun = true;
        backlog->beside &= !job->beside;
        single |= job->alone;
        if (!job->failed && job->turn == JOB_BEHIND) {
            backlog_add(backlog, job);
        } else if (!job->failed && job->turn == JOB_ASIDE) {
            judge_take(txn->engine, job);
        } else {
            *group->end = job;
            group->end = &job->next;
            group->count++;
        }
    }
    *group->end = NULL;
    if (txn->prefetch != NULL)
        prefetch_clear(txn->prefetch, txn->engine->store);
    if (group->count > 0)
        backlog->large_next = list == &backlog->small;
}

// Either done, or back in the queue.
static void end_job(struct txn *txn, struct job *job, struct finished *finished)
{
    if (!job->failed && job->turn == JOB_AGAIN) {
        writer_queue(txn->engine, job);
        return;
    }
    finished->requests += !job->beside;
    finished->beside += job->beside;
    // Before `done`: whoever hears that its table is there must find it.
    if (!job->failed && job->committed != NULL)
        job->committed(job, txn->engine);
    if (job->waiter != NULL)
        wake_waiter(job->waiter); // whose job it is: gone from here on
    else
        job->done(job); // may free it
}

static int64_t items_added(const struct txn *txn)
{
    int64_t items = 0;
    for (size_t i = 0; i < txn->delta_count; i++)
        items += txn->deltas[i].items;
    return items;
}

static enum store_end commit_batch(struct txn *txn, struct store_error *cause)
{
    if (items_added(txn) < 0)
        store_batch_frees(txn->batch);
    if (!store_batch_failed(txn->batch))
        return health_commit(txn->engine, txn->batch, cause);
    (void)snprintf(cause->text, sizeof(cause->text), "The server is out of memory.");
    log_error("a commit was given up: out of memory");
    return STORE_NOT_DONE;
}

// The order here is what durability rests on: counters and sequences go into the batch, so that
// they are committed with what they count; the commit is on disk before anything in memory says so;
// and memory says so (counters, the visible sequence, the catalog in `committed`) before anybody is
// answered, who might look at once.
static struct finished commit_group(struct txn *txn, const struct group *group)
{
    struct store_error cause;
    enum store_end end = STORE_DONE;
    // A group that stores nothing leaves the sequence alone: those of a batch that failed before it
    // are in no record yet, and a start would give them out again.
    bool stored = store_batch_count(txn->batch) > 0 || store_batch_failed(txn->batch);
    if (stored) {
        write_counters(txn);
        log_before_commit(txn);
        ship_before_commit(txn);
        end = commit_batch(txn, &cause);
        struct writer_counts *counts = &txn->engine->counts;
        tally(end == STORE_DONE ? &counts->commits : &counts->commits_failed, 1);
        tally(&counts->commit_bytes, end == STORE_DONE ? store_batch_bytes(txn->batch) : 0);
        tally(&counts->jobs, group->count);
    }
    // If the end is not known, nothing is visible either: whoever reads sees the state before, and
    // the store takes no further commit until it knows.
    bool committed = end == STORE_DONE;
    settle_counters(txn, committed);
    log_after_commit(txn->engine, committed && stored);
    if (stored)
        ship_after_commit(txn->engine, committed);
    claims_settled(txn->engine);
    store_batch_clear(txn->batch);
    struct finished finished = {0, 0};
    struct job *job = group->first;
    while (job != NULL) {
        struct job *next = job->next;
        if (!committed) {
            // Also those that failed on their own: they may have judged what is now undone.
            job->failed = true;
            error_init(job->error, job->error->arena);
            (void)error_set(job->error, ERR_INTERNAL, "%s %s",
                            end == STORE_UNKNOWN
                                ? "It is not known whether the write was done: it may be there "
                                  "after a restart."
                                : "The write was not done: it cannot be made durable.",
                            cause.text);
            if (end == STORE_NOT_DONE && job->undone != NULL)
                job->undone(job);
        }
        end_job(txn, job, &finished);
        job = next;
    }
    return finished;
}

// ---- Rounds -------------------------------------------------------------------------

// Runs and commits one group of the backlog.
static void writer_round(struct engine *engine)
{
    struct writer *writer = engine->writer;
    struct group group;
    run_group(&writer->txn, &writer->backlog, &group);
    queue_finished(&engine->queue, commit_group(&writer->txn, &group));
}

// A round on the thread of a caller that has taken the role. What is left goes to the writer
// thread: what has come meanwhile, and the caller's own job if it was put off.
static void writer_lead(struct engine *engine)
{
    struct queue *queue = &engine->queue;
    writer_round(engine);
    ensure(pthread_mutex_lock(&queue->lock) == 0);
    bool idle = queue_empty(queue) && backlog_empty(&engine->writer->backlog) && !queue->stopping;
    queue->place = idle ? WRITER_IDLE : WRITER_BUSY;
    if (!idle)
        ensure(pthread_cond_signal(&queue->wake) == 0);
    ensure(pthread_mutex_unlock(&queue->lock) == 0);
}

static void *writer_main(void *argument)
{
    struct engine *engine = argument;
    while (queue_take(&engine->queue, &engine->writer->backlog))
        writer_round(engine);
    return NULL;
}

bool writer_start(struct engine *engine)
{
    ensure(pthread_mutex_init(&engine->queue.lock, NULL) == 0);
    wait_init(&engine->queue.wake);
    engine->writer = memory_zeroed(sizeof(*engine->writer));
    txn_init(&engine->writer->txn, engine);
    prefetch_init(&engine->writer->prefetch);
    if (store_remote(engine->store))
        engine->writer->txn.prefetch = &engine->writer->prefetch;
    return pthread_create(&engine->writer_thread, NULL, writer_main, engine) == 0;
}

void writer_stop(struct engine *engine)
{
    ensure(pthread_mutex_lock(&engine->queue.lock) == 0);
    engine->queue.stopping = true;
    ensure(pthread_cond_signal(&engine->queue.wake) == 0);
    ensure(pthread_mutex_unlock(&engine->queue.lock) == 0);
    ensure(pthread_join(engine->writer_thread, NULL) == 0);
    txn_release(&engine->writer->txn);
    prefetch_release(&engine->writer->prefetch);
    free(engine->writer);
    ensure(pthread_mutex_destroy(&engine->queue.lock) == 0);
    ensure(pthread_cond_destroy(&engine->queue.wake) == 0);
}
