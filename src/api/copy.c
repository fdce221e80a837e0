// Copying items into a table by ordinary writes, a few hundred at a time.
#include "api/backup.h"

#include "base/limits.h"
#include "engine/layout.h"

#include <stdlib.h>

enum {
    COPY_ITEMS = 256,
    COPY_BYTES = 2 << 20,
};

struct copy {
    struct api *api;
    struct table *target;
    struct arena arena; // of the batch
    struct error *error;
    size_t count;
    size_t bytes;
    struct write_action actions[COPY_ITEMS];
};

static bool add_item(struct copy *copy, struct slice item)
{
    struct buf key;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, copy->target->tree, &copy->target->keys, item);
    struct write_action action = {
        .kind = WRITE_PUT,
        .table = copy->target,
        .key = arena_copy(&copy->arena, buf_view(&key)),
        .item = arena_copy(&copy->arena, item),
        .trusted = true,
    };
    buf_release(&key);
    if (action.key.ptr == NULL || action.item.ptr == NULL)
        return error_budget(copy->error);
    copy->actions[copy->count++] = action;
    copy->bytes += item.len;
    return true;
}

static bool write_batch(struct copy *copy)
{
    if (copy->count == 0)
        return true;
    bool ok;
    do {
        struct write_job job;
        write_job_init(&job, copy->api->engine, &copy->arena, copy->error);
        job.count = copy->count;
        job.actions = copy->actions;
        ok = engine_run(copy->api->engine, &job.job);
        write_job_release(&job);
    } while (!ok && background_retry(copy->api, copy->error));
    arena_reset(&copy->arena);
    copy->count = 0;
    copy->bytes = 0;
    return ok;
}

static bool copy_all(struct copy *copy, struct history *history)
{
    struct slice item;
    while (history_next(history, &item)) {
        if (background_stopping(copy->api))
            return error_set(copy->error, ERR_UNAVAILABLE, "The server is stopping.");
        if (!add_item(copy, item))
            return false;
        if ((copy->count == COPY_ITEMS || copy->bytes >= COPY_BYTES) && !write_batch(copy))
            return false;
    }
    return history_ok(history, copy->error) && write_batch(copy);
}

bool copy_items(struct api *api, struct history *history, struct table *target, struct error *error)
{
    struct copy *copy = calloc(1, sizeof(*copy));
    ensure(copy != NULL);
    copy->api = api;
    copy->target = target;
    copy->error = error;
    arena_init(&copy->arena, LIMIT_REQUEST_MEMORY);
    bool ok = copy_all(copy, history);
    arena_release(&copy->arena);
    free(copy);
    return ok;
}
