// See put_batch.h.
#include "api/put_batch.h"

#include "api/model_attach.h"
#include "base/limits.h"
#include "engine/layout.h"

void put_batch_init(struct put_batch *batch, struct api *api, struct table *table, bool trusted,
                    struct error *error)
{
    *batch = (struct put_batch){.api = api, .table = table, .trusted = trusted, .error = error};
    arena_init(&batch->arena, LIMIT_REQUEST_MEMORY);
}

void put_batch_release(struct put_batch *batch)
{
    arena_release(&batch->arena);
}

bool put_batch_full(const struct put_batch *batch)
{
    return batch->count == PUT_BATCH_ITEMS || batch->work >= PUT_BATCH_WORK;
}

bool put_batch_add(struct put_batch *batch, struct slice item)
{
    struct buf key;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, batch->table->tree, &batch->table->keys, item);
    struct write_action action = {
        .kind = WRITE_PUT,
        .table = batch->table,
        .key = arena_copy(&batch->arena, buf_view(&key)),
        .item = arena_copy(&batch->arena, item),
        .flags = WRITE_BATCH | write_flag_if(batch->trusted, WRITE_TRUSTED),
    };
    buf_release(&key);
    if (action.key.ptr == NULL || action.item.ptr == NULL)
        return error_budget(batch->error);
    ensure(batch->count < PUT_BATCH_ITEMS);
    batch->actions[batch->count++] = action;
    size_t trees = 1 + batch->table->index_count + batch->table->vector_count;
    batch->work += trees * (item.len + PUT_ENTRY_WORK);
    return true;
}

bool put_batch_write(struct put_batch *batch)
{
    if (batch->count == 0)
        return true;
    bool ok;
    struct background_patience patience = {.tries = 0};
    do {
        struct write_job job;
        write_job_init(&job, batch->api->engine, &batch->arena, batch->error);
        job.count = batch->count;
        job.actions = batch->actions;
        ok = engine_run_beside(batch->api->engine, &job.job);
        write_job_release(&job);
    } while (!ok && background_retry(batch->api, &patience, batch->error));
    arena_reset(&batch->arena);
    batch->count = 0;
    batch->work = 0;
    return ok;
}

static bool check_item(const struct table *table, struct slice item, struct error *error)
{
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        const struct key_part *part = &table->keys.parts[i];
        struct slice value = value_get(item, part->name);
        if (value.len == 0)
            return error_validation(error, "Missing the key %.*s in the item",
                                    SLICE_FMT(part->name));
        if (value_type(value) != part->type)
            return error_validation(error, "Type mismatch for key %.*s expected: %s actual: %s",
                                    SLICE_FMT(part->name), value_type_name(part->type),
                                    value_type_name(value_type(value)));
        if (!key_value_check(part, i < table->keys.hash_count, value, error))
            return false;
    }
    if (value_item_size(item) > LIMIT_ITEM_SIZE)
        return error_validation(error, "Item size has exceeded the maximum allowed size");
    if (value_depth(item) > LIMIT_NESTING + 1)
        return error_validation(error, "Nesting Levels have exceeded supported limits");
    return table_check_item(table, item, error);
}

bool put_batch_check(struct api *api, const struct table *table, struct arena *arena,
                     struct slice *item, struct error *error)
{
    struct write_action action = {.kind = WRITE_PUT, .item = *item};
    if (!guard_prepare(api, table, arena, NULL, &action, error) ||
        !check_item(table, action.item, error))
        return false;
    *item = action.item;
    return true;
}
