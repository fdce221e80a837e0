// A consumer follows the change log of one table and delivers its events to one target, on a thread
// of its own:
//
// - at least once, under an id that follows from the change: what is delivered again has the same;
// - in the order of the changes of each key, many keys at a time;
// - from a position in the store, the record "consumer/<table id>/<name>". It moves when what is
//   before it was delivered, so after kill -9 at most the last moments are delivered again.
//
// An event that the target refuses is tried again, more and more rarely, while those of other keys
// go on. After its last attempt it is a dead letter: a record "letter/<table
// id>/<name>/<sequence>", in the commit that moves the position. As long as a key has dead letters,
// later events of it go behind them, so its order holds; sending them again sends them in order. If
// the target takes nothing at all, a breaker opens: one event now and then shows whether it is
// back, and attempts at somebody who is not there are not counted.
//
// The functions here may be called by any thread, except where it is said.
#ifndef CAPTURE_CONSUMER_H
#define CAPTURE_CONSUMER_H

#include "capture/outlet.h"
#include "engine/log.h"
#include "work/workshop.h"

struct consumer;

// ---- What it is made of ----------------------------------------------------------------------

// An event in the making.
struct consumer_draft {
    struct slice id;
    struct buf *body;    // to be written
    struct slice type;   // out; borrowed until the next event
    struct slice entity; // out
    uint64_t key;        // out: events with the same one stay in order; that of the item before
    bool snapshot;       // of a backfill: the item as it is
};

struct consumer_source;
struct consumer_source_ops {
    // Whether a change is an event, which it writes then. On the consumer's thread.
    bool (*event)(struct consumer_source *source, const struct log_entry *entry,
                  struct consumer_draft *draft);
    // NULL, or the action that marks the item of a delivered event; false if there is none.
    bool (*mark)(struct consumer_source *source, struct table *table, struct slice keys,
                 struct arena *arena, struct write_action *out);
    // NULL, or the action that does what a target with a ledger wishes; false with the error.
    bool (*wish)(struct consumer_source *source, struct table *table,
                 const struct outlet_wish *wish, struct arena *arena, struct write_action *out,
                 struct error *error);
    void (*free)(struct consumer_source *source);
};
// The first member of each source's own struct.
struct consumer_source {
    const struct consumer_source_ops *ops;
};

struct consumer_plan {
    struct slice name;
    struct slice table; // its name
    struct slice uuid;
    uint64_t start;                     // where it begins if it has no position yet
    struct consumer_source *source;     // taken over
    const struct outlet_opener *opener; // borrowed; NULL if there are no targets here
    struct outlet_spec target;          // copied
    struct slice shown;                 // the target, as it may be told to people
    uint64_t end;                       // the last sequence that it delivers; 0 if there is none
    bool anew;                          // what is before `start` is never delivered, nor replayed
    unsigned attempts;                  // before an event is a dead letter; 0 for what is usual
    // For tests; 0 for what is usual.
    size_t window;
    size_t letters;
    int64_t backoff_ms;
};

// Starts it. The plan's texts are copied.
struct consumer *consumer_new(struct workshop *shop, const struct consumer_plan *plan);
// Ends the thread, while the engine is open; with `forget` its records go, too.
void consumer_free(struct consumer *consumer, bool forget);

// The log has new entries, of one of these: see log_bit(). Does not block.
void consumer_heard(struct consumer *consumer, uint64_t logs);

// ---- Looking at it ---------------------------------------------------------------------------

struct consumer_status {
    const char *state; // STARTING, RUNNING, PAUSED, BACKFILLING, RETRYING, BLOCKED, STOPPED, FAILED
    char reason[256];  // why it is not RUNNING, or what went wrong last; or empty
    uint64_t position; // everything up to here is delivered, or a dead letter
    int64_t behind_ms; // how old the oldest change is that is not delivered; 0 if there is none
    uint64_t records;  // changes that are not delivered; at most, until it has read them
    uint64_t delivered; // since the start, as the next two
    uint64_t failed;    // attempts
    uint64_t rows;      // since the start: what a target with a ledger has written,
    uint64_t batches;   // in how many transactions
    uint64_t lost;      // moments at which changes were forgotten before they were delivered
    uint64_t letters;   // dead letters, now
    size_t in_flight;
    bool breaker_open;
};
void consumer_status(struct consumer *consumer, struct consumer_status *out);
struct slice consumer_name(const struct consumer *consumer);
struct slice consumer_table(const struct consumer *consumer);
struct slice consumer_uuid(const struct consumer *consumer);
struct slice consumer_target(const struct consumer *consumer);

// How old changes must be to be forgotten: the time of the oldest one that is not delivered, or
// INT64_MAX. Those of before `limit_ms` are not waited for: the consumer is told that it lost them.
int64_t consumer_needs(struct consumer *consumer, int64_t limit_ms);

// ---- Commands --------------------------------------------------------------------------------

enum consumer_act {
    CONSUMER_PAUSE,
    CONSUMER_RESUME,
    CONSUMER_REPLAY,   // from a time, as far as the log goes back
    CONSUMER_BACKFILL, // all items as they are, then the changes from there on
    CONSUMER_RETRY,    // sends dead letters again: one, or all
    CONSUMER_DROP,     // forgets them
};
struct consumer_command {
    enum consumer_act act;
    int64_t from_ms;   // REPLAY
    uint64_t sequence; // RETRY, DROP: of a letter; 0 for all
    // Out.
    uint64_t count; // of letters
};
// Waits until it is done, and on disk. False with the error set.
MUST_CHECK bool consumer_command(struct consumer *consumer, struct consumer_command *command,
                                 struct error *error);

// ---- Dead letters (letters.c) ----------------------------------------------------------------

struct letter {
    uint64_t sequence;
    uint64_t key;
    struct slice id, type, entity, body, reason;
    struct slice keys; // of the item, as an item
    int64_t time_ms;   // of the change
    int64_t died_ms;   // 0 of one that is still tried
    uint64_t attempts;
};
// Those behind a sequence, in order, until `visit` returns false. Reads the store.
MUST_CHECK bool consumer_letters(struct workshop *shop, struct slice uuid, struct slice name,
                                 uint64_t after,
                                 bool (*visit)(void *context, const struct letter *letter),
                                 void *context, struct error *error);

// ---- Names -----------------------------------------------------------------------------------

#define CONSUMER_PREFIX "consumer/"
#define LETTER_PREFIX   "letter/"
#define WISH_PREFIX     "wish/"

#endif
