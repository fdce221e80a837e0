// One listener: what it is to send next, from its queue or, when it is behind, from the log.
//
// Its position is the sequence up to which its owner has been given everything. Blocks of its group
// begin behind `joined_at`; what lies between is read from the log. When the queue was full it
// leaves the group, joins again, and is behind once more.
#include "live/live_internal.h"

#include <stdlib.h>

static void lock(struct live *live)
{
    ensure(pthread_mutex_lock(&live->lock) == 0);
}

static void unlock(struct live *live)
{
    ensure(pthread_mutex_unlock(&live->lock) == 0);
}

void listener_wake(struct live_listener *listener)
{
    if (!listener->armed)
        return;
    listener->armed = false;
    listener->wake(listener->context);
}

// ---- Coming and going --------------------------------------------------------------------------

static struct live_table *table_find(struct live *live, const struct table *table)
{
    struct live_table *at = live->tables;
    while (at != NULL && !(slice_equal(slice_str(at->name), table->name) &&
                           slice_equal(at->table->uuid, table->uuid)))
        at = at->next;
    return at;
}

struct live_listener *live_listen(struct live *live, struct live_question *question,
                                  void (*wake)(void *context), void *context, struct error *error)
{
    struct live_listener *listener = memory_zeroed(sizeof(*listener));
    struct live_question *spare = live_question_new(live, &question->ask, error);
    *listener = (struct live_listener){.live = live,
                                       .question = question,
                                       .spare = spare,
                                       .wake = wake,
                                       .context = context,
                                       .quiet_since = live_now(live)};
    lock(live);
    bool room = live->listener_count < LIVE_LISTENERS_MAX;
    if (room && spare != NULL) {
        live->listener_count++;
        listener->table = table_find(live, question->table);
        if (listener->table == NULL)
            listener->table = live_table_new(live, question->table);
        listener->table->listener_count++;
        listener->table->idle_since = 0;
    }
    unlock(live);
    if (room && spare != NULL)
        return listener;
    if (spare != NULL)
        (void)error_set(error, ERR_THROTTLING, "There are more than %d listeners",
                        LIVE_LISTENERS_MAX);
    live_question_free(spare);
    live_question_free(question);
    free(listener);
    return NULL;
}

struct live_question *live_listener_question(struct live_listener *listener)
{
    return listener->question;
}

static void queue_drop(struct live_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        block_release(listener->queue[(listener->first + i) % LIVE_QUEUE_BLOCKS]);
    listener->first = listener->count = 0;
    listener->bytes = 0;
}

// It may wait for the log still.
static void waiting_leave(struct live_listener *listener)
{
    struct live_listener **at = &listener->table->waiting;
    while (*at != NULL && *at != listener)
        at = &(*at)->next;
    if (*at != NULL)
        *at = listener->next;
}

void live_unlisten(struct live_listener *listener)
{
    struct live *live = listener->live;
    lock(live);
    if (listener->group == NULL)
        waiting_leave(listener);
    group_leave(listener);
    queue_drop(listener);
    listener->table->listener_count--;
    if (listener->table->listener_count == 0)
        listener->table->idle_since = live_now(live);
    live->listener_count--;
    unlock(live);
    worker_ask(&live->worker); // to free what nobody needs
    live_question_free(listener->question);
    live_question_free(listener->spare);
    free(listener);
}

bool live_hush(struct live_listener *listener)
{
    lock(listener->live);
    bool was = listener->armed;
    listener->armed = false;
    unlock(listener->live);
    return was;
}

// ---- The log ---------------------------------------------------------------------------------

enum live_state live_log(struct live_listener *listener)
{
    struct live_table *table = listener->table;
    enum live_state state = LIVE_IDLE;
    lock(listener->live);
    if (listener->ended || table->log == LOG_REFUSED)
        state = LIVE_ENDED;
    else if (table->log == LOG_ON)
        state = LIVE_READY;
    if (state == LIVE_IDLE) {
        listener->armed = true;
        listener->next = table->waiting;
        table->waiting = listener;
    }
    unlock(listener->live);
    if (state == LIVE_IDLE)
        worker_ask(&listener->live->worker);
    return state;
}

bool live_result_open(struct live_listener *listener, struct live_result *out, struct error *error)
{
    struct engine *engine = listener->live->shop->engine;
    top_clear(&listener->question->top);
    out->snapshot = engine_snapshot(engine);
    out->time_ms = live_now(listener->live);
    if (engine_snapshot_sequence(engine, out->snapshot, &out->sequence, error))
        return true;
    live_result_close(listener, out);
    return false;
}

void live_result_close(struct live_listener *listener, struct live_result *result)
{
    if (result->snapshot != NULL)
        engine_snapshot_release(listener->live->shop->engine, result->snapshot);
    result->snapshot = NULL;
}

void live_begin(struct live_listener *listener, uint64_t sequence, int64_t time_ms)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    if (listener->spare == NULL) // it went to a group that may be gone by now
        listener->spare = live_question_new(listener->live, &listener->question->ask, &error);
    arena_release(&arena);
    lock(listener->live);
    group_leave(listener);
    queue_drop(listener);
    listener->overrun = false;
    listener->position = listener->begun = sequence;
    listener->position_ms = time_ms;
    unlock(listener->live);
}

// ---- What is next ------------------------------------------------------------------------------

// A full queue is dropped: the log has what was in it. A limited result has no blocks at all, and
// is read from the log whenever something is new.
static void overrun(struct live_listener *listener)
{
    queue_drop(listener);
    listener->overrun = false;
    uint64_t position = listener->table->position;
    if (position > listener->joined_at)
        listener->joined_at = position;
}

static void take_blocks(struct live_listener *listener, struct live_block **blocks, size_t max,
                        size_t *count)
{
    *count = listener->count < max ? listener->count : max;
    for (size_t i = 0; i < *count; i++) {
        blocks[i] = listener->queue[listener->first];
        listener->first = (listener->first + 1) % LIVE_QUEUE_BLOCKS;
        listener->count--;
        listener->bytes -= blocks[i]->len;
    }
}

static enum live_state next(struct live_listener *listener, struct live_block **blocks, size_t max,
                            size_t *count)
{
    if (listener->ended)
        return LIVE_ENDED;
    if (listener->group == NULL && group_join(listener) == NULL)
        return LIVE_ENDED; // the table is another one by now, or there is no memory
    if (listener->overrun)
        overrun(listener);
    if (listener->position < listener->joined_at)
        return live_now(listener->live) - listener->position_ms < LIVE_RESUME_MS ? LIVE_BEHIND
                                                                                 : LIVE_RESET;
    if (listener->count > 0) {
        take_blocks(listener, blocks, max, count);
        return LIVE_BLOCKS;
    }
    if (listener->beat) {
        listener->beat = false;
        return LIVE_BEAT;
    }
    listener->armed = true;
    return LIVE_IDLE;
}

enum live_state live_next(struct live_listener *listener, struct live_block **blocks, size_t max,
                          size_t *count)
{
    *count = 0;
    lock(listener->live);
    enum live_state state = next(listener, blocks, max, count);
    if (state != LIVE_IDLE)
        listener->quiet_since = live_now(listener->live);
    unlock(listener->live);
    return state;
}

struct slice live_block_text(const struct live_block *block)
{
    return slice_of(block->text, block->len);
}

void live_blocks_done(struct live_listener *listener, struct live_block **blocks, size_t count)
{
    uint64_t events = 0;
    for (size_t i = 0; i < count; i++) {
        listener->position = blocks[i]->last;
        listener->position_ms = blocks[i]->time_ms;
        events += blocks[i]->events;
        block_release(blocks[i]);
    }
    atomic_fetch_add(&listener->live->delivered, events);
}

// ---- Behind ----------------------------------------------------------------------------------

struct catch_up {
    struct live_listener *listener;
    struct buf *out;
    struct error *error;
    size_t entries;
    size_t bytes;
    uint64_t events;
    bool stopped;
    bool failed;
};

static bool catch_entry(void *context, const struct log_entry *entry)
{
    struct catch_up *catch = context;
    struct live_listener *listener = catch->listener;
    struct live_question *question = listener->question;
    if (catch->out->len >= LIVE_PIECE || catch->entries >= CATCH_ENTRIES ||
        catch->bytes >= CATCH_BYTES) {
        catch->stopped = true;
        return false;
    }
    catch->entries++;
    catch->bytes += entry->old_item.len + entry->new_item.len;
    size_t before = catch->out->len;
    if (question->top.limit == 0)
        (void)question_change(question, entry, catch->out);
    else
        catch->failed = !question_change_top(question, entry, catch->out, catch->error);
    catch->events += catch->out->len > before;
    if (catch->out->failed && !catch->failed)
        catch->failed = !error_budget(catch->error);
    if (catch->failed)
        return false;
    listener->position = entry->sequence;
    listener->position_ms = entry->time_ms;
    return true;
}

bool live_catch_up(struct live_listener *listener, struct buf *out, struct error *error)
{
    struct live *live = listener->live;
    struct catch_up catch = {.listener = listener, .out = out, .error = error};
    lock(live);
    uint64_t last = listener->joined_at;
    tree_id log = listener->table->table->log;
    unlock(live);
    if (!engine_log_read(live->shop->engine, NULL, log, listener->position + 1, last, catch_entry,
                         &catch, error) ||
        catch.failed)
        return false;
    if (!catch.stopped)
        listener->position = last;
    atomic_fetch_add(&live->delivered, catch.events);
    return true;
}
