// Copying a table, as it is or was, into another.
#include "api/backup.h"

#include "api/put_batch.h"

#include <stdlib.h>

static bool copy_all(struct put_batch *batch, struct history *history)
{
    struct slice item;
    while (history_next(history, &item)) {
        if (background_stopping(batch->api))
            return error_set(batch->error, ERR_UNAVAILABLE, "The server is stopping.");
        if (!put_batch_add(batch, item))
            return false;
        if (put_batch_full(batch) && !put_batch_write(batch))
            return false;
    }
    return history_ok(history, batch->error) && put_batch_write(batch);
}

bool copy_items(struct api *api, struct history *history, struct table *target, struct error *error)
{
    struct put_batch *batch = calloc(1, sizeof(*batch));
    ensure_memory(batch);
    put_batch_init(batch, api, target, true, error);
    bool ok = copy_all(batch, history);
    put_batch_release(batch);
    free(batch);
    return ok;
}
