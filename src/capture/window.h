// The events that a consumer has read and not yet delivered, in the order of the log. Events with
// the same key are a chain: only its first may be on its way, so their order holds whatever becomes
// of each attempt, and other keys do not wait for it. Keys are hashes: two keys with the same hash
// wait for each other without need, and that is all.
//
//   WAITING ---the one before it ended---> READY ---taken---> FLYING ---delivered---> (freed)
//                                            ^                   |
//                                            +---due--- LATER <--+ failed
//
// The position is what everything up to has been delivered: the sequence before the first event of
// the list. An event that has a record of its own in the store (`stored`) does not hold it back.
//
// Pure: no threads, no clock, no store. Memory is bounded by whoever adds.
#ifndef CAPTURE_WINDOW_H
#define CAPTURE_WINDOW_H

#include "capture/outlet.h"

enum event_state { EVENT_WAITING, EVENT_READY, EVENT_FLYING, EVENT_LATER };

struct event {
    struct outlet_event out; // first: what the target sees
    uint64_t key;
    enum event_state state;
    bool stored;
    unsigned attempts; // that were counted
    int64_t due_ms;    // of LATER
    size_t bytes;
    struct slice keys; // of the item, as an item

    // The window's own.
    struct event *next, *before; // in the order of sequences, stored ones in their own list
    struct event *ready_next, *ready_before; // READY, or LATER
    struct event *follow, *ahead;            // of the same key: behind it, and before it
    struct event *bucket;                    // the tails of other keys
};

struct event_list {
    struct event *first, *last;
};

enum { WINDOW_BUCKETS = 4096 };

struct window {
    struct event_list events; // that hold the position
    struct event_list stored;
    struct event_list ready;
    struct event_list later;
    size_t count; // of `events`
    size_t stored_count;
    size_t flying;
    size_t bytes; // of all
    struct event *tails[WINDOW_BUCKETS];
};

// An event with the memory of its texts behind it; malloc.
struct event_texts {
    struct slice id, type, table, entity, body, keys;
};
struct event *event_new(const struct event_texts *texts, uint64_t key);
void event_free(struct event *event);

void window_init(struct window *window);
// Frees all events.
void window_clear(struct window *window);

// Takes the event over: READY, or WAITING if there is one of the same key.
void window_add(struct window *window, struct event *event);
// Whether there is an event of that key.
bool window_has(const struct window *window, uint64_t key);

// The next READY event, now FLYING; NULL if there is none. With `chain` the one behind it in its
// chain becomes READY at once: for targets that keep the order.
struct event *window_take(struct window *window, bool chain);
// A FLYING event goes back: READY if due_ms is 0, else LATER; or WAITING, if one of its chain is
// before it. The one behind it waits again.
void window_return(struct window *window, struct event *event, int64_t due_ms);
// A FLYING or any other event has ended: the one behind it is READY. The caller frees it.
void window_remove(struct window *window, struct event *event);
// Those LATER events whose time has come are READY.
void window_due(struct window *window, int64_t now_ms);
// When the next one is due; INT64_MAX if there is none.
int64_t window_next_due(const struct window *window);

// The event has a record from now on, and no longer holds the position.
void window_store(struct window *window, struct event *event);

#endif
