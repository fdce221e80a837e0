// Bulk operations: what is kept of each, as the record "bulk/<id>", and the task that does the
// work.
//
// A record is in progress from the answer to StartBulkPutItems until the work is done, has failed
// or was cancelled. CancelBulkOperation sets `cancel` in it, which the task looks at; the task
// never takes it back. Work that the end of the process interrupts is begun again from the start.
#ifndef API_BULK_H
#define API_BULK_H

#include "api/transfer.h"

enum bulk_status {
    BULK_IN_PROGRESS,
    BULK_COMPLETED,
    BULK_COMPLETED_WITH_ERRORS,
    BULK_CANCELLED,
    BULK_FAILED,
};

// Slices point into the record it was decoded from.
struct bulk_work {
    struct work
        work; // as with imports, but for the status; bucket, owner and prefix are the input's
    enum bulk_status status;
    bool cancel;
    struct slice format;
    struct slice compression; // as given
    struct slice out_bucket;
    struct slice out_owner;
    struct slice out_prefix;
    struct slice sse_algorithm;
    struct slice sse_key;
    bool report_errors;     // OutputType has ERROR
    bool report_conditions; // and CONDITION_CHECK_FAILURE, of which there are none
    struct slice tier;      // as given
    int64_t max_units;      // a second; 0 for no limit
    int64_t processed_items;
    int64_t failed_items;
    int64_t processed_bytes;
    int64_t total_bytes;
    int64_t written_bytes; // sizes of the items
};

// The M value of a record, in the arena; empty, with the error set, when memory is out.
struct slice bulk_encode(const struct bulk_work *work, struct arena *arena, struct error *error);
void bulk_decode(struct slice record, struct bulk_work *out);

// Queues the work of the record with this id. False if the api is closing.
MUST_CHECK bool bulk_begin(struct api *api, struct slice id);

#endif
