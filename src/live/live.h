// Live patterns: a pattern's result, and then its changes (docs/adr/022-live-patterns.md).
//
// A *question* is a pattern with its arguments, compiled: it says of an image of an item whether it
// is in the result, and writes it as an event. A *listener* is a connection that has asked one.
// What a change means to a question is a function of its two images in the change log, so that no
// query is made again; only what moves up into a limited result is read.
//
// One thread, the *reader*, follows the logs of all tables that have listeners. Listeners with the
// same question are a group: events are written once, into blocks that its listeners share. A
// listener has a short queue of blocks. When that is full it is dropped, and the listener reads the
// log itself, at the pace of its client (live_catch_up), until it has come to where the group is.
//
// A table with listeners keeps both images of each change (table_settings.live), from its first
// listener until LIVE_LINGER_MS after the last: that is one change of the catalog each, not one for
// each listener. It outlives the process, so that a client can go on after a restart.
//
// Threads: the functions of a listener are called by one thread at a time, its owner's; `wake`
// comes on the reader's. A question is used by one thread at a time.
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "guard/access_view.h"
#include "work/workshop.h"

enum {
    LIVE_SECRET = 32,
    LIVE_LISTENERS_MAX = 20000,
    LIVE_WINDOW_MAX = 10000,       // items of a limited result
    LIVE_QUEUE_BLOCKS = 32,        // that wait for a client,
    LIVE_QUEUE_BYTES = 512 << 10,  // and their bytes
    LIVE_PIECE = 64 << 10,         // bytes of events that are written at a time
    LIVE_BEAT_MS = 15 * 1000,      // a comment keeps a quiet connection
    LIVE_SNAPSHOT_MS = 120 * 1000, // how long a client may take for a result that is read from one
    LIVE_LINGER_MS = 3600 * 1000,  // the log is kept behind the last listener
};
// How far back a client can go on from. The log keeps changes for a day; an hour is for clocks, and
// for whoever is about to read.
#define LIVE_RESUME_MS (INT64_C(23) * 3600 * 1000)

struct live;

// Once, before the first listener. The workshop and the pool of its engine outlive it.
struct live *live_new(struct workshop *shop, const uint8_t secret[LIVE_SECRET]);
// Ends the reader, while the engine is open; no listener may be left. Then, once the engine is
// closed, frees the rest. NULL is fine.
void live_stop(struct live *live);
void live_free(struct live *live);

struct live_stats {
    uint64_t listeners; // now
    uint64_t groups;    // now
    uint64_t tables;    // that have listeners
    uint64_t events;    // written, each once for all of its listeners
    uint64_t delivered; // taken by listeners
    uint64_t resets;    // listeners that had to begin again
    uint64_t overruns;  // queues that were dropped
    uint64_t resumed;   // listeners that went on behind an event
};
void live_stats(struct live *live, struct live_stats *out);

// ---- Questions (question.c) ------------------------------------------------------------------

struct live_question;

struct live_ask {
    const struct model_access *access; // of the model of the table as it is now
    const struct slice *values;        // as access_bind() makes them; copied
    uint64_t limit;                    // 0: what the pattern says
    bool keys;                         // show what is derived
    bool bound;                        // to a tenant
    struct slice tenant;
};

// NULL with the error set. ERR_RESOURCE_IN_USE if the table has another model by now.
MUST_CHECK struct live_question *live_question_new(struct live *live, const struct live_ask *ask,
                                                   struct error *error);
void live_question_free(struct live_question *question); // NULL is fine
const struct access_plan *live_question_plan(const struct live_question *question);
// How many items the result shows at most; 0 if there is no limit.
uint64_t live_question_limit(const struct live_question *question);

// A page of the result begins, perhaps anew: `shown` items were shown before it.
void live_page_begin(struct live_question *question, uint64_t shown);
// Appends "event: item" for an item that a page of the plan has, unless the pattern does not show
// it; *shown says so. False when memory is out.
MUST_CHECK bool live_write_item(struct live_question *question, struct slice item,
                                struct steps *steps, bool *shown, struct buf *out);
// "event: ready", with the id of what was read; "event: reset", with the reason.
void live_write_ready(struct live_question *question, uint64_t sequence, int64_t time_ms,
                      uint64_t count, struct buf *out);
void live_write_reset(const char *reason, struct buf *out);

// The place that an event's id names; false if it is not an id of this question, or the changes
// behind it are not all in the log any more.
MUST_CHECK bool live_resume(struct live_question *question, struct slice id, uint64_t *sequence,
                            int64_t *time_ms);

// ---- Listeners (listener.c) ------------------------------------------------------------------

struct live_listener;
struct live_block;

// The table begins to keep its changes, if it does not yet. The question is taken over. `wake` is
// called once after each LIVE_IDLE, when there is something to do; it must not block.
// NULL with the error set.
MUST_CHECK struct live_listener *live_listen(struct live *live, struct live_question *question,
                                             void (*wake)(void *context), void *context,
                                             struct error *error);
// Never between a LIVE_IDLE and its `wake`, unless live_hush() was true.
void live_unlisten(struct live_listener *listener);
// Takes a LIVE_IDLE back: `wake` will not come. False: it is on its way, or came.
MUST_CHECK bool live_hush(struct live_listener *listener);
struct live_question *live_listener_question(struct live_listener *listener);

// Whether the table keeps its changes; if not, `wake` comes when that is decided: LIVE_READY then,
// or LIVE_ENDED.
enum live_state {
    LIVE_IDLE,   // nothing now: `wake` will come
    LIVE_READY,  // (of live_log) the log is there
    LIVE_BLOCKS, // here is what to send
    LIVE_BEHIND, // call live_catch_up, in the pool, and send what it writes
    LIVE_BEAT,   // nothing for a while: send a comment
    LIVE_RESET,  // the result is to be read anew
    LIVE_ENDED,  // the table, its model or its index is another one: end the stream
};
MUST_CHECK enum live_state live_log(struct live_listener *listener);

// The result is read from a snapshot, in as many pages as it takes.
struct live_result {
    struct store_snapshot *snapshot; // NULL if it is closed
    uint64_t sequence;               // that it has seen
    int64_t time_ms;                 // when it was taken
};
MUST_CHECK bool live_result_open(struct live_listener *listener, struct live_result *out,
                                 struct error *error);
void live_result_close(struct live_listener *listener, struct live_result *result);

// The result has been read: events follow from behind this sequence. Of a limited result, all of
// its items have been noted by live_write_item().
void live_begin(struct live_listener *listener, uint64_t sequence, int64_t time_ms);

// What is next. The blocks, at most `max`, are the caller's until live_blocks_done().
MUST_CHECK enum live_state live_next(struct live_listener *listener, struct live_block **blocks,
                                     size_t max, size_t *count);
struct slice live_block_text(const struct live_block *block);
void live_blocks_done(struct live_listener *listener, struct live_block **blocks, size_t count);

// Reads on in the log, and writes events to `out` until it has LIVE_PIECE bytes or the slice is
// over: then live_next() says LIVE_BEHIND again. Any thread, but one at a time. False with the
// error set.
MUST_CHECK bool live_catch_up(struct live_listener *listener, struct buf *out, struct error *error);

// Notes that a listener has to begin again, for the metrics.
void live_count_reset(struct live *live);
void live_count_resume(struct live *live);

#endif
