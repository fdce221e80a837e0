// What transactions have in common, whoever asks for them: TransactWriteItems, TransactGetItems,
// ExecuteTransaction, and the data API.
#ifndef ITEMS_TRANSACT_H
#define ITEMS_TRANSACT_H

#include "call/operation.h"

// What is wrong with one action is a reason to cancel all: moves the call's error there, so that
// the others are judged, too. False if it is not of that kind, but ends the call.
MUST_CHECK bool transact_fail(struct api_call *call, struct write_action *action);
// Every action has its key or a reason: no item comes twice, and nothing is to be canceled.
MUST_CHECK bool transact_check(struct api_call *call, struct write_job *job);
// All items of a transaction together.
MUST_CHECK bool transact_check_size(struct api_call *call, size_t bytes);
// A part of what the digest behind a ClientRequestToken is made of, so that no other parts add up
// to the same.
void transact_digest(struct buf *out, struct slice part);

// One item of a transaction that reads, and how much of it is asked for.
struct transact_read {
    struct table *table;
    struct slice key;          // tree key
    struct slice subject;      // the key as an item
    project_function *project; // NULL for the whole item
    const void *projection;
    struct item_read read;
};
// Reads them all from one snapshot, and answers. What they may be refused for by a throttle is a
// reason in the call's write job, which has an action for each.
enum step transact_read_all(struct api_call *call, size_t count, struct transact_read *reads,
                            struct slice return_consumed_capacity);

#endif
