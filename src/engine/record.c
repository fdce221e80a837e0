// Records stand in the meta tree under their own kind, and are written by jobs like everything
// else.
#include "engine/record.h"

#include "engine/engine_internal.h"

bool engine_record(struct engine *engine, struct slice name, struct arena *arena, struct slice *out,
                   struct error *error)
{
    struct store_value value;
    struct store_error cause;
    enum store_result result = meta_get(engine->store, NULL, META_RECORD, name, &value, &cause);
    *out = VALUE_NONE;
    if (result == STORE_FAILED)
        return engine_store_failed(error, &cause);
    if (result == STORE_ABSENT)
        return true;
    *out = arena_copy(arena, value.bytes);
    store_value_release(engine->store, &value);
    return out->ptr != NULL || error_budget(error);
}

bool engine_records(struct engine *engine, struct slice prefix, struct slice after,
                    bool (*visit)(void *context, struct slice name, struct slice value),
                    void *context, struct error *error)
{
    struct buf lower;
    buf_init(&lower, STORE_KEY_MAX);
    meta_key(&lower, META_RECORD, prefix);
    size_t head = lower.len - prefix.len;
    const uint8_t upper[5] = {0, 0, 0, TREE_META, META_RECORD + 1};
    struct store_cursor *cursor =
        store_cursor_open(engine->store, NULL, buf_view(&lower), slice_of(upper, sizeof(upper)));
    if (after.len > 0)
        meta_key(&lower, META_RECORD, after);
    store_cursor_behind(cursor, after.len > 0 ? buf_view(&lower) : after);
    while (store_cursor_valid(cursor)) {
        struct slice key = store_cursor_key(cursor);
        struct slice name = slice_of(key.ptr + head, key.len - head);
        if (!slice_begins(name, prefix) || !visit(context, name, store_cursor_value(cursor)))
            break;
        store_cursor_next(cursor);
    }
    buf_release(&lower);
    return engine_cursor_end(cursor, error);
}

void txn_record(struct txn *txn, const struct record_write *write)
{
    meta_key(&txn->key, META_RECORD, write->name);
    if (write->value.len > 0)
        store_batch_put(txn->batch, buf_view(&txn->key), write->value);
    else
        store_batch_delete(txn->batch, buf_view(&txn->key));
}

static bool run_records(struct job *job, struct txn *txn)
{
    struct record_job *records = (struct record_job *)job;
    if (records->decide != NULL && !records->decide(records, txn->engine))
        return false;
    for (size_t i = 0; i < records->count; i++)
        txn_record(txn, &records->writes[i]);
    return true;
}

void record_job_init(struct record_job *job, struct error *error)
{
    // Alone, so that what `decide` reads is what is there.
    *job = (struct record_job){.job = {.run = run_records, .alone = true, .error = error}};
}
