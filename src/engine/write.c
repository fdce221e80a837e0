// Writing items. A request is planned first, every action of it: read the old image, judge
// the condition, make the new image, judge that. Only when all of it holds is anything put into the
// batch, so that a request is all or nothing whatever goes wrong while planning.
//
// Plans and results live in the request's arena; pinned store values are released at the end of
// the run.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "engine/ttl.h"
#include "value/digest.h"

static const int64_t collection_limit = (int64_t)10 << 30; // AWS: 10 GB with a local index

struct plan {
    struct table *table; // the current version
    struct store_value pin;
    struct image before;
    struct image after;
    int64_t collection; // bytes before the write
    struct claims claims;
};

// ---- Planning -----------------------------------------------------------------------

static bool read_before(struct txn *txn, struct write_job *request,
                        const struct write_action *action, struct plan *plan, struct error *error)
{
    bool found;
    if (!txn_get(txn, action->key, request->arena, &plan->pin, &found, error))
        return false;
    if (found)
        plan->before = (struct image){record_item(plan->pin.bytes), record_size(plan->pin.bytes)};
    return true;
}

static bool copy_image(struct arena *arena, struct slice item, struct slice *out,
                       struct error *error)
{
    if (item.len == 0)
        return true;
    *out = arena_copy(arena, item);
    return out->ptr != NULL || error_budget(error);
}

static bool matches(const struct write_action *action, struct slice before)
{
    if (action->if_match.len == 0)
        return true;
    uint8_t digest[DIGEST_BYTES];
    item_digest(before, digest);
    return before.len > 0 && slice_equal(action->if_match, slice_of(digest, sizeof(digest)));
}

static bool judge_condition(struct write_job *request, struct write_action *action,
                            struct plan *plan, struct error *error)
{
    if ((action->condition == NULL ||
         expr_condition_eval(action->condition, plan->before.item, &(struct steps){0})) &&
        matches(action, plan->before.item))
        return true;
    action->cost.table = write_units(plan->before.size);
    if (action->old_on_failure &&
        !copy_image(request->arena, plan->before.item, &action->old_item, error))
        return false;
    return error_set(error, ERR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
}

static bool make_updated(struct txn *txn, struct write_job *request,
                         const struct write_action *action, struct plan *plan, struct error *error)
{
    struct slice start = plan->before.item.len > 0 ? plan->before.item : action->item;
    if (action->touch) {
        plan->after = plan->before;
        return true;
    }
    if (action->update == NULL) {
        plan->after.item = start;
    } else {
        buf_clear(&txn->image);
        value_builder_reset(&txn->builder);
        if (!expr_update_apply(action->update, start, &txn->builder, request->arena,
                               &(struct steps){0}, error))
            return false;
        if (txn->image.failed)
            return error_budget(error);
        if (!copy_image(request->arena, buf_view(&txn->image), &plan->after.item, error))
            return false;
    }
    plan->after.size = value_item_size(plan->after.item);
    if (plan->after.size > LIMIT_ITEM_SIZE)
        return error_validation(error, "Item size to update has exceeded the maximum allowed size");
    return index_keys_check(plan->table, plan->before.item, plan->after.item, error);
}

static bool make_after(struct txn *txn, struct write_job *request,
                       const struct write_action *action, struct plan *plan, struct error *error)
{
    switch (action->kind) {
    case WRITE_PUT:
        plan->after = (struct image){action->item, value_item_size(action->item)};
        return action->trusted || table_check_item(plan->table, plan->after.item, error);
    case WRITE_UPDATE:
        return make_updated(txn, request, action, plan, error);
    case WRITE_CHECK:
        plan->after = plan->before;
        return true;
    case WRITE_DELETE:
        // Somebody may have given it more time since it was found.
        if (action->expired &&
            !ttl_expired(plan->table, plan->before.item, env_now(&txn->engine->env) / 1000))
            plan->after = plan->before;
        break;
    }
    return true;
}

// The table's guard has the last word on the new image; what it made of it is judged again.
static bool guard_after(struct txn *txn, struct write_job *request, struct write_action *action,
                        struct plan *plan, struct error *error)
{
    struct slice made = plan->after.item;
    if (!guard_judge(txn, request, action, plan->table, plan->before.item, &plan->after.item,
                     &plan->claims, error))
        return false;
    if (plan->after.item.ptr == made.ptr && plan->after.item.len == made.len)
        return true;
    plan->after.size = value_item_size(plan->after.item);
    if (plan->after.size > LIMIT_ITEM_SIZE)
        return error_validation(error, "Item size has exceeded the maximum allowed size");
    return index_keys_check(plan->table, plan->before.item, plan->after.item, error);
}

// The key of the counter of the item's collection, in txn->key.
static void collection_key(struct txn *txn, const struct table *table, struct slice tree_key)
{
    struct slice rest = slice_of(tree_key.ptr + LAYOUT_PREFIX, tree_key.len - LAYOUT_PREFIX);
    struct slice partition = key_skip(&rest, table->keys.parts[0].type);
    uint8_t tree[4];
    be32_put(tree, table->collections);
    buf_clear(&txn->key);
    buf_add(&txn->key, tree, sizeof(tree));
    buf_slice(&txn->key, partition);
}

static bool read_collection(struct txn *txn, struct write_job *request,
                            const struct write_action *action, struct plan *plan,
                            struct error *error)
{
    if (!table_has_local_index(plan->table))
        return true;
    collection_key(txn, plan->table, action->key);
    struct store_value value;
    bool found;
    if (!txn_get(txn, buf_view(&txn->key), request->arena, &value, &found, error))
        return false;
    if (found)
        plan->collection = (int64_t)be64_get(value.bytes.ptr);
    store_value_release(txn->engine->store, &value);
    int64_t growth = (int64_t)plan->after.size - (int64_t)plan->before.size;
    if (growth > 0 && plan->collection + growth > collection_limit)
        return error_set(error, ERR_COLLECTION_SIZE, "Collection size exceeded.");
    return true;
}

static bool plan_action(struct txn *txn, struct write_job *request, struct write_action *action,
                        struct plan *plan, struct error *error)
{
    plan->table = catalog_find(txn->engine, action->table->name);
    if (plan->table == NULL || plan->table->tree != action->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return read_before(txn, request, action, plan, error) &&
           judge_condition(request, action, plan, error) &&
           make_after(txn, request, action, plan, error) &&
           guard_after(txn, request, action, plan, error) &&
           read_collection(txn, request, action, plan, error);
}

// ---- Applying ------------------------------------------------------------------------

static void apply_item(struct txn *txn, const struct write_action *action, const struct plan *plan)
{
    bool was = plan->before.item.len > 0;
    bool is = plan->after.item.len > 0;
    if (is && !slice_equal(plan->before.item, plan->after.item)) {
        buf_clear(&txn->record);
        record_write(&txn->record, plan->after.item, plan->after.size);
        ensure(!txn->record.failed);
        store_batch_put(txn->batch, action->key, buf_view(&txn->record));
    } else if (was && !is) {
        store_batch_delete(txn->batch, action->key);
    }
    txn_count(txn, plan->table->tree, plan->table->stats, (int64_t)is - (int64_t)was,
              (int64_t)plan->after.size - (int64_t)plan->before.size);
}

static void apply_collection(struct txn *txn, struct write_action *action, const struct plan *plan,
                             int64_t growth)
{
    // An earlier action of the same request may have changed it since it was read.
    int64_t size = plan->collection;
    struct slice pending;
    collection_key(txn, plan->table, action->key);
    if (store_batch_get(txn->batch, buf_view(&txn->key), &pending) == BATCH_PUT)
        size = (int64_t)be64_get(pending.ptr);
    size += growth;
    action->collection_bytes = size;
    if (growth == 0)
        return;
    uint8_t value[8];
    be64_put(value, (uint64_t)size);
    if (size > 0)
        store_batch_put(txn->batch, buf_view(&txn->key), slice_of(value, sizeof(value)));
    else
        store_batch_delete(txn->batch, buf_view(&txn->key));
}

static void apply_action(struct txn *txn, struct write_action *action, const struct plan *plan)
{
    size_t larger = plan->before.size > plan->after.size ? plan->before.size : plan->after.size;
    action->cost.table = write_units(larger);
    action->cost_table = table_hold(plan->table);
    action->collection_bytes = -1;
    if (action->kind == WRITE_CHECK)
        return;
    action->changed = !slice_equal(plan->before.item, plan->after.item);
    apply_item(txn, action, plan);
    log_append(txn, plan->table, plan->before.item, plan->after.item, action->expired);
    ttl_apply(txn, plan->table, action->key, plan->before.item, plan->after.item);
    int64_t growth = (int64_t)plan->after.size - (int64_t)plan->before.size;
    for (size_t i = 0; i < plan->table->index_count; i++) {
        const struct index *index = &plan->table->indexes[i];
        struct index_cost cost =
            index_apply(txn, plan->table, index, action->key, plan->before, plan->after);
        action->cost.indexes[i] = cost.units;
        if (!index->global)
            growth += cost.bytes;
    }
    for (size_t i = 0; i < plan->table->vector_count; i++)
        action->cost.vectors[i] = vector_apply(txn, plan->table, &plan->table->vectors[i],
                                               action->key, plan->before, plan->after);
    if (table_has_local_index(plan->table))
        apply_collection(txn, action, plan, growth);
}

static bool keep_images(struct write_job *request, struct write_action *action,
                        const struct plan *plan, struct error *error)
{
    if (action->want_old &&
        !copy_image(request->arena, plan->before.item, &action->old_item, error))
        return false;
    // A new image is the request's own or made in its arena; a check's or a no-op's is the old one.
    if (action->want_new && action->kind != WRITE_DELETE) {
        if (slice_equal(plan->after.item, plan->before.item))
            return copy_image(request->arena, plan->after.item, &action->new_item, error);
        action->new_item = plan->after.item;
    }
    return true;
}

// ---- Running -------------------------------------------------------------------------

// Whether the failure of one action is that action's own, so that a transaction reports it
// among its reasons; the others fail the request as a whole.
static bool is_reason(enum error_code code)
{
    return code == ERR_CONDITIONAL_CHECK_FAILED || code == ERR_VALIDATION ||
           code == ERR_COLLECTION_SIZE;
}

// Notes why an action fails; false if that ends the request at once.
static bool note_failure(struct write_job *request, struct write_action *action,
                         const struct error *error)
{
    action->failure = error->code;
    action->failure_text = error->message;
    action->failure_details = error->details;
    if (!request->transaction || !is_reason(error->code))
        return error_copy(request->job.error, error);
    return true;
}

// The values that items claim are judged when all of the request is known: one action may give back
// what another takes.
static bool judge_claims(struct txn *txn, struct write_job *request, struct plan *plans,
                         struct claimant **out)
{
    size_t wanted = 0;
    for (size_t i = 0; i < request->count; i++)
        wanted += plans[i].claims.count + plans[i].claims.release_count;
    *out = NULL;
    if (wanted == 0)
        return true;
    struct claimant *all = arena_zalloc(request->arena, request->count, sizeof(*all));
    if (all == NULL)
        return error_budget(request->job.error);
    for (size_t i = 0; i < request->count; i++)
        all[i] = (struct claimant){plans[i].table, request->actions[i].key, &plans[i].claims};
    for (size_t i = 0; i < request->count; i++) {
        struct error error;
        error_init(&error, request->arena);
        if (!claims_judge(txn, request->arena, all, request->count, i, &error) &&
            !note_failure(request, &request->actions[i], &error))
            return false;
    }
    *out = all;
    return true;
}

// Plans all actions. In a transaction every action is judged, so that all reasons are known.
static bool plan_all(struct txn *txn, struct write_job *request, struct plan *plans,
                     struct claimant **claimants)
{
    for (size_t i = 0; i < request->count; i++) {
        struct write_action *action = &request->actions[i];
        struct error error;
        error_init(&error, request->arena);
        action->failure = ERR_NONE; // a request that the store did not take may come again
        if (!(plan_action(txn, request, action, &plans[i], &error) &&
              keep_images(request, action, &plans[i], &error)) &&
            !note_failure(request, action, &error))
            return false;
    }
    if (!judge_claims(txn, request, plans, claimants))
        return false;
    for (size_t i = 0; i < request->count; i++) {
        if (request->actions[i].failure != ERR_NONE)
            return error_set(request->job.error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
    }
    return true;
}

// A token that was executed before: nothing is written, but the items are read for the bill.
static bool repeat(struct txn *txn, struct write_job *request)
{
    request->repeated = true;
    for (size_t i = 0; i < request->count; i++) {
        struct write_action *action = &request->actions[i];
        struct plan plan = {.table = NULL};
        if (!read_before(txn, request, action, &plan, request->job.error))
            return false;
        action->cost.table = (uint32_t)((plan.before.size + 4095) / 4096);
        if (action->cost.table == 0)
            action->cost.table = 1;
        action->collection_bytes = -1;
        store_value_release(txn->engine->store, &plan.pin);
    }
    return true;
}

static bool run_request(struct job *job, struct txn *txn)
{
    struct write_job *request = (struct write_job *)job;
    if (request->token.len > 0) {
        enum token_state state;
        if (!token_look_up(txn, request, &state))
            return false;
        if (state == TOKEN_SAME)
            return repeat(txn, request);
        if (state == TOKEN_OTHER)
            return error_set(
                job->error, ERR_IDEMPOTENT_MISMATCH,
                "The request uses the same client token as a previous, but non-identical "
                "request. Do not reuse a client token with different requests, unless "
                "the requests are identical");
    }
    struct plan *plans = arena_zalloc(request->arena, request->count, sizeof(*plans));
    if (plans == NULL)
        return error_budget(job->error);
    struct claimant *claimants = NULL;
    bool ok = plan_all(txn, request, plans, &claimants);
    for (size_t i = 0; ok && claimants != NULL && i < request->count; i++)
        claims_release(txn, &claimants[i]);
    for (size_t i = 0; ok && i < request->count; i++) {
        apply_action(txn, &request->actions[i], &plans[i]);
        if (claimants != NULL)
            claims_take(txn, &claimants[i]);
    }
    for (size_t i = 0; i < request->count; i++)
        store_value_release(txn->engine->store, &plans[i].pin);
    if (ok && request->token.len > 0)
        token_remember(txn, request);
    return ok;
}

void write_job_init(struct write_job *request, struct engine *engine, struct arena *arena,
                    struct error *error)
{
    *request = (struct write_job){
        .job = {.run = run_request, .error = error}, .engine = engine, .arena = arena};
}

void write_job_release(struct write_job *request)
{
    for (size_t i = 0; i < request->count; i++) {
        table_release(request->actions[i].cost_table);
        request->actions[i].cost_table = NULL;
    }
}
