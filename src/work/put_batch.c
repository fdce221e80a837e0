// See put_batch.h.
#include "work/put_batch.h"

#include "base/limits.h"
#include "engine/history.h"
#include "guard/attach.h"

#include <stdlib.h>

void put_batch_init(struct put_batch *batch, struct workshop *shop, struct table *table,
                    bool trusted, struct error *error)
{
    *batch = (struct put_batch){.shop = shop, .table = table, .trusted = trusted, .error = error};
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
    struct write_action action = {
        .kind = WRITE_PUT,
        .table = batch->table,
        .item = arena_copy(&batch->arena, item),
        .flags = WRITE_BATCH | write_flag_if(batch->trusted, WRITE_TRUSTED),
    };
    if (action.item.ptr == NULL)
        return error_budget(batch->error);
    ensure(batch->count < PUT_BATCH_ITEMS);
    batch->actions[batch->count++] = action;
    size_t trees = 1 + batch->table->index_count + batch->table->vector_count;
    batch->work += trees * (item.len + PUT_ENTRY_WORK);
    return true;
}

static bool tell_refused(struct put_batch *batch)
{
    for (size_t i = 0; batch->refused != NULL && i < batch->count; i++) {
        const struct write_result *out = &batch->actions[i].out;
        if (out->failure == ERR_VALIDATION)
            batch->refused(batch->context, i, out->failure_text);
        else if (out->failure != ERR_NONE)
            return error_set(batch->error, out->failure, "%s", out->failure_text);
    }
    return true;
}

bool put_batch_write(struct put_batch *batch)
{
    if (batch->count == 0)
        return true;
    struct item_edit edit = {.arena = &batch->arena,
                             .count = batch->count,
                             .actions = batch->actions,
                             .each = batch->refused != NULL};
    bool ok = work_edit_items(batch->shop, &edit, batch->error) && tell_refused(batch);
    arena_reset(&batch->arena);
    batch->count = 0;
    batch->work = 0;
    return ok;
}

static bool copy_all(struct put_batch *batch, struct history *history)
{
    struct slice item;
    while (history_next(history, &item)) {
        if (!work_goes_on(batch->shop, batch->error) || !put_batch_add(batch, item) ||
            (put_batch_full(batch) && !put_batch_write(batch)))
            return false;
    }
    return history_ok(history, batch->error) && put_batch_write(batch);
}

bool put_batch_copy(struct workshop *shop, struct history *history, struct table *target,
                    struct error *error)
{
    struct put_batch *batch = memory_zeroed(sizeof(*batch));
    put_batch_init(batch, shop, target, true, error);
    bool ok = copy_all(batch, history);
    put_batch_release(batch);
    free(batch);
    return ok;
}

bool put_batch_check(struct engine *engine, struct table *table, struct arena *arena,
                     struct slice *item, struct error *error)
{
    struct write_action action = {.kind = WRITE_PUT, .table = table, .item = *item};
    if (!guard_prepare(engine_env(engine), table, arena, NULL, &action, error))
        return false;
    if (!item_size_check(action.item, error))
        return false;
    if (value_depth(action.item) > LIMIT_NESTING)
        return error_validation(error, "Nesting Levels have exceeded supported limits");
    if (!write_action_address(&action, arena, error))
        return false;
    *item = action.item;
    return true;
}
