// What the files of a consumer share: consumer.c (the thread), read.c (changes into events), keep.c
// (position and letters in the store). All of it is the thread's, but what `lock` guards.
#ifndef CAPTURE_CONSUMER_INTERNAL_H
#define CAPTURE_CONSUMER_INTERNAL_H

#include "capture/consumer.h"
#include "capture/window.h"
#include "engine/history.h"
#include "engine/record.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    CONSUMER_WINDOW = 4096,           // events that are read ahead
    CONSUMER_WINDOW_BYTES = 16 << 20, // and their bytes, unless it is one
    CONSUMER_STORED = 256,            // events that are tried again from their records
    CONSUMER_LETTERS = 10000,         // dead letters, at most
    CONSUMER_ATTEMPTS = 8,
    CONSUMER_BATCH = 512,      // events offered to a target at a time
    CONSUMER_BATCH_MAX = 4096, // to one with a ledger
    CONSUMER_KEEP_MS = 100,    // between two records of the position
    CONSUMER_MARKS = 1024,     // items to be marked
    CONSUMER_KEEP_WRITES = 64, // letters of one commit
    CONSUMER_KEEP_BYTES = 1 << 20,
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 30000,
    BREAKER_FAILURES = 5, // in a row
    OPEN_FIRST_MS = 250,
    OPEN_LAST_MS = 15000,
    BREAKER_FIRST_MS = 500,
    BREAKER_LAST_MS = 30000,
    CONSUMER_MEMORY = 64 << 20,
    WISH_MS = 200, // between two looks, while there are none
    WISHES_AT_ONCE = 64,
};

#define NEEDED_UNKNOWN INT64_MIN

// Keys that have dead letters, and how many.
struct key_counts {
    size_t capacity; // a power of two, or 0
    size_t count;
    struct key_count {
        uint64_t key;
        uint64_t letters; // 0: never used; the key is gone if `gone`
        bool gone;
    } * list;
};

struct consumer {
    struct workshop *shop;
    struct consumer_plan plan; // its texts are ours
    char *texts;
    pthread_t thread;
    int bell;
    atomic_bool asleep;
    atomic_bool stopping;
    _Atomic uint64_t bit; // log_bit() of the log
    _Atomic uint64_t lost;
    _Atomic uint64_t mended; // of those, by a backfill
    struct outlet *target;   // NULL until it is open
    int64_t open_ms;         // when to try to open it again
    int64_t open_wait_ms;

    // What was read.
    struct window window;
    uint64_t read;            // up to this sequence
    int64_t read_ms;          // the time of the last entry that was read
    uint64_t position;        // as it is on disk
    struct history *backfill; // or NULL
    bool backfilling;         // until all of it is delivered
    uint64_t snapshot_number; // of its last event, for a target with a ledger
    uint64_t claimed;         // where such a target stands
    uint64_t wish_done;       // the last wish of it that is done
    int64_t wish_ms;          // when to ask for the next
    bool paused;
    bool gone;    // the target wants nothing any more
    bool blocked; // there are too many letters
    bool starved; // no memory for an event: again a little later
    int64_t fill_ms;

    // What is to be kept.
    struct arena keep_arena;
    size_t keep_count;
    size_t keep_bytes;
    struct record_write keep[CONSUMER_KEEP_WRITES + 1];
    bool keep_due; // something has changed since the record was written
    int64_t kept_ms;
    struct slice marks[CONSUMER_MARKS]; // keys of items, in keep_arena
    size_t mark_count;
    struct key_counts blocked_keys;
    uint64_t letters;
    bool sending_again; // letters, from the one behind
    uint64_t again_after;

    // The breaker.
    unsigned failures;  // in a row
    int64_t breaker_ms; // open until then; 0 if it is closed
    int64_t breaker_wait_ms;

    uint64_t random;
    struct arena arena; // of one step
    struct buf scratch;
    struct budget_account account;

    // Guarded by the lock.
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct consumer_command *command; // that waits, or NULL
    struct error *command_error;
    bool command_ok;
    struct consumer_status status;
    int64_t needed_ms; // see consumer_needs(); NEEDED_UNKNOWN until the record was read
    char reason[256];  // the thread's: what went wrong last
    uint64_t delivered;
    uint64_t failed;
    uint64_t rows;
    uint64_t batches;
};

static inline int64_t consumer_now(struct consumer *c)
{
    return engine_log_time(c->shop->engine);
}

// ---- read.c ----------------------------------------------------------------------------------

// Reads changes until the window is full. False if it failed, and is to be tried again later.
MUST_CHECK bool consumer_fill(struct consumer *c);
// Whether there is something to read, and room for it.
bool consumer_may_fill(struct consumer *c);
MUST_CHECK bool backfill_begin(struct consumer *c, struct error *error);
void backfill_end(struct consumer *c);

// ---- ledger.c --------------------------------------------------------------------------------

static inline const struct outlet_ledger *ledger_of(const struct consumer *c)
{
    return c->target == NULL ? NULL : c->target->ops->ledger;
}
// Goes on from where a target that was opened stands, if it has a ledger. False, with the reason,
// if that cannot be: the target has to be opened again.
MUST_CHECK bool ledger_settle(struct consumer *c);
// Begins a backfill. False, with the reason, if the target is lost.
MUST_CHECK bool ledger_backfill(struct consumer *c, struct error *error);
// Has a target with a ledger brought up to date if changes were lost.
void ledger_mend(struct consumer *c);
// The snapshot is delivered. False, with the reason, if the target is lost.
MUST_CHECK bool ledger_end(struct consumer *c);
// What a target may claim with the events that are FLYING.
uint64_t ledger_claim(const struct consumer *c);

// ---- wish.c ----------------------------------------------------------------------------------

// Does what the target wishes, each once.
void wishes_do(struct consumer *c);
MUST_CHECK bool wishes_load(struct consumer *c, struct error *error);

// ---- keep.c ----------------------------------------------------------------------------------

// Reads the record, and the letters that are still tried.
MUST_CHECK bool consumer_load(struct consumer *c, struct error *error);
// Reads the letters anew; those that are still tried are in the window. Nothing else may be.
MUST_CHECK bool letters_load(struct consumer *c, struct error *error);
// Writes position, marks and letters, if something has changed and it is time, or `now`. False if
// they cannot be written: it is tried again at the next turn.
bool consumer_keep(struct consumer *c, bool now);
// The event goes out of the window, and becomes a letter: dead, or still tried.
void consumer_bury(struct consumer *c, struct event *event, const char *reason);
MUST_CHECK bool consumer_park(struct consumer *c, struct event *event);
// It is delivered: marks it, and forgets its letter.
void consumer_delivered(struct consumer *c, struct event *event);
bool consumer_key_blocked(const struct consumer *c, uint64_t key);
// The event is delivered, and has all there is to know of its item: older letters of it go.
void letters_supersede(struct consumer *c, const struct event *event);
MUST_CHECK bool letters_retry(struct consumer *c, struct consumer_command *command,
                              struct error *error);
MUST_CHECK bool letters_drop(struct consumer *c, struct consumer_command *command,
                             struct error *error);
// A record of the consumer: prefix, table, name, the rest.
struct slice consumer_record_name(const struct consumer *c, struct arena *arena,
                                  const char *prefix);
// Removes all records of the consumer.
void consumer_forget(struct consumer *c);

#endif
