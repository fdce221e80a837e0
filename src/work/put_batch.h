// Putting many items into one table beside the requests (restores, imports, bulk operations): by
// ordinary write jobs. Requests that write may have to wait for one of these, so each is small: one
// or two milliseconds of the writer's time.
#ifndef WORK_PUT_BATCH_H
#define WORK_PUT_BATCH_H

#include "work/jobs.h"

enum {
    PUT_BATCH_ITEMS = 256,
    PUT_BATCH_WORK = 256 << 10, // bytes to be written, for the table and each of its indexes
    PUT_ENTRY_WORK = 512,       // what an entry costs beside its bytes, in bytes
};

struct put_batch {
    struct workshop *shop;
    struct table *table; // borrowed
    bool trusted;        // the items were in a table before: see write_action
    struct error *error;
    struct arena arena; // of the items
    // NULL: an item that is refused fails the batch. Else it is told, by its position in the batch,
    // and the others are written.
    void (*refused)(void *context, size_t position, const char *why);
    void *context;
    size_t count;
    size_t work;
    struct write_action actions[PUT_BATCH_ITEMS];
};

void put_batch_init(struct put_batch *batch, struct workshop *shop, struct table *table,
                    bool trusted, struct error *error);
void put_batch_release(struct put_batch *batch);

// Adds a copy of the item; not to a full batch.
MUST_CHECK bool put_batch_add(struct put_batch *batch, struct slice item);
bool put_batch_full(const struct put_batch *batch);
// Writes what was added, and waits for it: also while the queue is full or the store takes no
// writes, until the end comes. The batch is empty afterwards.
MUST_CHECK bool put_batch_write(struct put_batch *batch);

// Copies all items of a history into the table. False with the error set, or if the end has come.
struct history;
MUST_CHECK bool put_batch_copy(struct workshop *shop, struct history *history, struct table *target,
                               struct error *error);

// Judges an item as PutItem would; a table's guard completes it first (then it is in the arena).
MUST_CHECK bool put_batch_check(struct engine *engine, struct table *table, struct arena *arena,
                                struct slice *item, struct error *error);

#endif
