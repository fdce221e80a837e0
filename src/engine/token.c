// Client request tokens: a transaction that is sent again within ten minutes is answered,
// not executed. Tokens are written in the same batch as the transaction, so they are as durable as
// it is.
//
// A token has two records: one under its name (when, a digest of the request, and for each action
// how much reading its item would take, and whether it repeated another) and one under its time of
// expiry, so that forgetting is a range scan and not a search.
#include "engine/engine_internal.h"

#include "base/encode.h"

enum {
    RECORD = 8 + 32, // and a byte for each action, which older versions lack
    REPEATED = 0x80, // of that byte
    SWEEP = 256,
};

bool token_look_up(struct txn *txn, struct write_job *request, enum token_state *state)
{
    meta_key(&txn->key, META_TOKEN, request->token);
    struct store_value value;
    bool found;
    if (!txn_get(txn, buf_view(&txn->key), request->arena, &value, &found, request->job.error))
        return false;
    *state = TOKEN_NEW;
    if (found) {
        ensure(value.bytes.len >= RECORD);
        int64_t expires = (int64_t)be64_get(value.bytes.ptr);
        if (expires > env_now(&txn->engine->env))
            *state =
                memcmp(value.bytes.ptr + 8, request->digest, 32) == 0 ? TOKEN_SAME : TOKEN_OTHER;
        for (size_t i = 0; *state == TOKEN_SAME && i < request->count; i++) {
            uint8_t was = RECORD + i < value.bytes.len ? value.bytes.ptr[RECORD + i] : 1;
            request->actions[i].out.cost.table = was & (REPEATED - 1);
            request->actions[i].out.repeated = (was & REPEATED) != 0;
        }
    }
    store_value_release(txn->engine->store, &value);
    return true;
}

void token_wants(const struct write_job *request, struct txn *txn)
{
    meta_key(&txn->key, META_TOKEN, request->token);
    DISREGARD(prefetch_add(txn->prefetch, buf_view(&txn->key)));
}

static void expiry_key(struct txn *txn, int64_t expires, struct slice token)
{
    uint8_t time[8];
    be64_put(time, (uint64_t)expires);
    meta_key(&txn->key, META_EXPIRY, slice_of(time, sizeof(time)));
    buf_slice(&txn->key, token);
}

void token_remember(struct txn *txn, const struct write_job *request)
{
    uint8_t record[RECORD + LIMIT_TRANSACT];
    int64_t expires = env_now(&txn->engine->env) + LIMIT_IDEMPOTENCY_MS;
    ensure(request->count <= LIMIT_TRANSACT);
    be64_put(record, (uint64_t)expires);
    memcpy(record + 8, request->digest, 32);
    // An item was written in units of 1 KB, and is at most 400 of them.
    for (size_t i = 0; i < request->count; i++) {
        const struct write_result *out = &request->actions[i].out;
        record[RECORD + i] = (uint8_t)((out->cost.table + 3) / 4) | (out->repeated ? REPEATED : 0);
    }
    meta_key(&txn->key, META_TOKEN, request->token);
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(record, RECORD + request->count));
    expiry_key(txn, expires, request->token);
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(NULL, 0));
}

// Forgets the token of one expiry record, unless it has been used again since.
static void forget(struct txn *txn, struct slice key)
{
    struct slice token = slice_of(key.ptr + 13, key.len - 13);
    store_batch_delete(txn->batch, key);
    meta_key(&txn->key, META_TOKEN, token);
    struct store_value value;
    struct store_error cause;
    if (store_get(txn->engine->store, NULL, buf_view(&txn->key), &value, &cause) != STORE_FOUND)
        return;
    if (be64_get(value.bytes.ptr) <= be64_get(key.ptr + 5))
        store_batch_delete(txn->batch, buf_view(&txn->key));
    store_value_release(txn->engine->store, &value);
}

bool token_sweep(struct txn *txn)
{
    uint8_t lower[5] = {0, 0, 0, TREE_META, META_EXPIRY};
    uint8_t upper[13] = {0, 0, 0, TREE_META, META_EXPIRY};
    be64_put(upper + 5, (uint64_t)env_now(&txn->engine->env));
    struct store_cursor *cursor = store_cursor_open(
        txn->engine->store, NULL, slice_of(lower, sizeof(lower)), slice_of(upper, sizeof(upper)));
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor) && count < SWEEP;
         store_cursor_next(cursor), count++)
        forget(txn, store_cursor_key(cursor));
    store_cursor_close(cursor);
    return count == SWEEP;
}
