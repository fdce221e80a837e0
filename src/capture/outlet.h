// Where events go. A target is a `static const` struct of functions (src/publish has them, and
// kinesis.c); a consumer has one open target, which it alone uses, on its own thread.
//
// A target takes events and tells of each, once, how it ended, from within `send` or `wait`. What
// is on its way is bounded by the target: it takes no more than it can bear. Nothing is retried
// here: when, how often and in which order is the consumer's business.
#ifndef CAPTURE_OUTLET_H
#define CAPTURE_OUTLET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outlet_outcome {
    OUTLET_DELIVERED,
    OUTLET_REFUSED, // this event was not taken; others may be: an attempt is counted
    OUTLET_FAILED,  // the same, unless nothing is taken at all: then none is counted
    OUTLET_AWAY,    // nobody was there to take it, or it was too much for now: none is counted
    OUTLET_UNTRIED, // something before it in the same batch has failed
    OUTLET_GONE,    // the target wants nothing any more: the consumer stops
};

// Borrowed from the consumer until its end is told.
struct outlet_event {
    struct slice id;     // the same whenever it is delivered
    struct slice type;   // "insert", "modify", "remove", or what the event item calls itself
    struct slice table;  // names, NUL-terminated as all texts here
    struct slice entity; // may be empty
    struct slice group;  // the same for all events that must stay in order: 16 hex digits
    struct slice body;   // one JSON document; or what begins with a NUL, for this target alone
    int64_t time_ms;     // of the change
    uint64_t sequence;   // of the change; of a snapshot, the one that the snapshot has seen
    unsigned attempt;    // 1 for the first
    bool together;       // false after a batch was refused: it is to go alone
};

struct outlet_end {
    enum outlet_outcome outcome;
    bool shared;            // it was one of several that were refused as one: it may be any of them
    int64_t retry_after_ms; // that the target has asked for; or 0
    const char *reason;     // a few words, unless it was delivered; without secrets
};

// Whom a target tells.
struct outlet_owner {
    void *context;
    void (*ended)(void *context, struct outlet_event *event, const struct outlet_end *end);
    int bell; // an eventfd: a target with threads of its own rings it when `wait` has news
    // NULL, or whether the owner is being ended: whoever waits for long asks now and then.
    bool (*stopping)(void *context);
};

struct outlet;

// Where a target that keeps its own position stands.
struct outlet_place {
    bool backfill;     // it has no position, or is amid a snapshot: it wants all items
    uint64_t position; // else: everything up to here is in it
};

// Something that somebody has changed in the target, and that the item is to become.
enum outlet_wish_kind { WISH_PUT, WISH_UPDATE, WISH_REMOVE };
struct outlet_wish {
    uint64_t id; // one after the other, not necessarily in their order
    enum outlet_wish_kind kind;
    struct slice entity;     // its name
    struct slice keys;       // attributes that make the item's key, as an item
    struct slice attributes; // PUT: all; UPDATE: those that changed, NULL for what is gone
    struct slice refused;    // what is wrong with it already; or empty
};

// A target that keeps the position itself, with what was delivered, in one transaction. It is
// opened anew whenever it was lost, and then tells where it stands; the consumer goes on from
// there. Its events are whole: each has all there is to know of its key, so one that is delivered
// makes the dead letters of its key unnecessary.
struct outlet_ledger {
    // Right after it was opened.
    struct outlet_place (*place)(struct outlet *target);
    // A snapshot follows: from now on it wants all items, until the end. False with a sentence.
    bool (*begin)(struct outlet *target, char *error, size_t error_size);
    // All of it has been sent, and the changes up to the sequence are in it.
    bool (*end)(struct outlet *target, uint64_t sequence, char *error, size_t error_size);
    size_t batch; // how many events it takes at a time
    // NULL; or the next wish, in the arena: false if there is none now. And how it ended: NULL, or
    // why it is refused; then the item, or VALUE_NONE, is what the target is to have. False if the
    // target is lost: it is asked for the same again.
    bool (*wish)(struct outlet *target, struct arena *arena, struct outlet_wish *wish);
    bool (*answer)(struct outlet *target, const struct outlet_wish *wish, const char *refused,
                   struct slice item);
};

struct outlet_ops {
    // It keeps the order of what it is given, and what comes behind a failure is UNTRIED: events of
    // the same group may be in one batch.
    bool ordered;
    const struct outlet_ledger *ledger; // NULL: the position is the consumer's business
    // How many more it can take now. NULL if it takes whatever it is given.
    size_t (*room)(struct outlet *target);
    // Takes all of the events.
    void (*send)(struct outlet *target, struct outlet_event *const *events, size_t count);
    // Goes on with what is on its way; waits for news, for the bell, or until the time is over.
    // NULL if every end is told within `send`.
    void (*wait)(struct outlet *target, int ms);
    // From any thread: nothing waits any longer. May be NULL.
    void (*stop)(struct outlet *target);
    // What is on its way is given up: no ends are told.
    void (*close)(struct outlet *target);
};

// The first member of each target's own struct.
struct outlet {
    const struct outlet_ops *ops;
    struct outlet_owner owner;
    // With a ledger. Set before each `send`: once all of its events are delivered, everything up to
    // here is, or 0. The target makes it 0 if it has not come that far.
    uint64_t claim;
    bool lost;     // set by the target: it has to be opened anew
    uint64_t rows; // and what the last `send` has written, in how many transactions
    uint64_t batches;
};

// ---- Opening ---------------------------------------------------------------------------------

// An option of `publish … { name value }`, or of the command line.
struct outlet_option {
    struct slice name;
    struct slice source; // of a secret: "env", "file"; else empty
    struct slice value;
};

struct outlet_spec {
    struct slice url;
    size_t option_count;
    const struct outlet_option *options;
};

// How targets are opened: src/publish has the one of servers. An embedded database has none.
struct outlet_opener {
    void *context;
    // NULL with a sentence in `error`, which has no secrets in it. The spec is not kept.
    struct outlet *(*open)(void *context, const struct outlet_spec *spec,
                           const struct outlet_owner *owner, char *error, size_t error_size);
};

#endif
