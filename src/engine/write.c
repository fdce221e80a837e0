// Writing items. A part of a request (all of a transaction) is planned first, every action of it:
// see plan.c. Only when all of it holds is anything put into the batch, so that a part is all or
// nothing whatever goes wrong while planning.
//
// No request holds the writer: one that has much to write is done in parts, between which the
// others get their turn, and one that takes long to judge is planned beside the writer.
//
// Plans and results live in the request's arena; pinned store values are released at the end of
// the part.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "engine/record.h"

static const int64_t collection_limit = (int64_t)10 << 30; // AWS: 10 GB with a local index

// The key of the counter of the item's collection, in txn->key.
static void collection_key(struct txn *txn, const struct table *table, struct slice tree_key)
{
    struct slice rest = slice_of(tree_key.ptr + LAYOUT_PREFIX, tree_key.len - LAYOUT_PREFIX);
    layout_tree_key(&txn->key, table->collections, key_skip(&rest, table->keys.parts[0].type));
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

// ---- Applying ------------------------------------------------------------------------

static void apply_item(struct txn *txn, const struct table *table, struct change *change)
{
    struct entry_change entry = {table->tree, table->stats, change->key, change->before,
                                 change->after};
    if (change->same)
        return;
    if (change->after.item.len > 0)
        change->record = txn_put_item(txn, &entry);
    else
        txn_remove(txn, &entry);
}

int64_t apply_derived(struct txn *txn, const struct table *table, const struct change *change,
                      struct write_cost *out)
{
    int64_t growth = (int64_t)change->after.size - (int64_t)change->before.size;
    ttl_apply(txn, table, change);
    for (size_t i = 0; i < table->index_count; i++) {
        struct index_cost cost = index_apply(txn, table, &table->indexes[i], change);
        out->indexes[i] = cost.units;
        if (!table->indexes[i].global)
            growth += cost.bytes;
    }
    for (size_t i = 0; i < table->vector_count; i++)
        out->vectors[i] = vector_apply(txn, table, &table->vectors[i], change);
    return growth;
}

static void apply_collection(struct txn *txn, struct write_action *action, const struct plan *plan,
                             int64_t growth)
{
    // An earlier action of the same request may have changed it since it was read.
    int64_t size = plan->collection;
    struct slice pending;
    collection_key(txn, plan->table, action->key);
    enum store_batch_word word = store_batch_get(txn->batch, buf_view(&txn->key), &pending);
    if (word == BATCH_PUT)
        size = (int64_t)be64_get(pending.ptr);
    else if (word == BATCH_DELETED)
        size = 0;
    size += growth;
    action->out.collection_bytes = size;
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
    action->out.cost.table = write_units(plan->unseen ? 0 : larger);
    action->out.cost_table = table_hold(plan->table);
    action->out.collection_bytes = -1;
    if (action->kind == WRITE_CHECK)
        return;
    const struct table *table = plan->table;
    struct change change = {.key = action->key,
                            .before = plan->before,
                            .after = plan->after,
                            .same = slice_equal(plan->before.item, plan->after.item)};
    action->out.changed = !change.same;
    apply_item(txn, table, &change);
    bool server = action->flags & (WRITE_EXPIRED | WRITE_SWEPT);
    log_append(txn, table, &change, server && change.after.item.len == 0);
    int64_t growth = apply_derived(txn, table, &change, &action->out.cost);
    if (table_has_local_index(table))
        apply_collection(txn, action, plan, growth);
}

static bool keep_images(struct write_job *request, struct write_action *action,
                        const struct plan *plan, struct error *error)
{
    struct slice after = plan->after.item;
    if ((action->flags & WRITE_OLD) &&
        !image_copy(request->arena, plan_seen(plan), &action->out.old_item, error))
        return false;
    if (!(action->flags & WRITE_NEW) || action->kind == WRITE_DELETE || after.len == 0)
        return true;
    // A new image is the request's own or made in its arena; a check's or a no-op's is the old one.
    if (guard_binds(plan->table->guard, request->origin) || slice_equal(after, plan->before.item))
        return guard_show(plan->table->guard, request, after, &action->out.new_item, error);
    action->out.new_item = after;
    return true;
}

// Whether there is room to tell of what was done. Of an action that fails alone, only the image is
// not told if there is none.
static bool find_room(struct write_job *request, struct write_action *action, struct error *error)
{
    bool shows = action->flags & (WRITE_OLD | WRITE_NEW);
    return request->room == NULL || !shows || request->room(request, action, error);
}

static void find_room_for_failure(struct write_job *request, struct write_action *action)
{
    struct error error;
    error_init(&error, request->arena);
    if (request->each && request->room != NULL && action->out.old_item.len > 0 &&
        !request->room(request, action, &error))
        action->out.old_item = VALUE_NONE;
}

// ---- Parts ---------------------------------------------------------------------------

enum { PART_ACTIONS = 256, PART_BYTES = LIMIT_GROUP_BYTES / 2, PART_CLAIMS = 4096 };

static bool repeats(const struct write_action *actions, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (slice_equal(actions[i].key, actions[at].key))
            return true;
    }
    return false;
}

// The most values that an action on the table takes and gives back.
static size_t claims_most(const struct table *table)
{
    return 2 * ((table->guard == NULL ? 0 : table->guard->claims) +
                (table->next == NULL ? 0 : table->next->claims));
}

static size_t joined_count(const struct write_action *actions, size_t left)
{
    size_t count = 1;
    while (count < left && (actions[count].flags & WRITE_JOINED))
        count++;
    return count;
}

static size_t part_count(const struct write_job *request)
{
    const struct write_action *actions = request->actions + request->at;
    size_t left = request->count - request->at;
    if (request->transaction || left < 2)
        return left;
    if (request->each)
        return joined_count(actions, left);
    if (request->narrow)
        return 1;
    size_t bytes = 0;
    size_t claims = 0;
    size_t count = 0;
    while (count < left && count < PART_ACTIONS) {
        bytes += actions[count].item.len * (1 + actions[count].table->index_count);
        claims += claims_most(actions[count].table);
        if (count > 0 && (bytes > PART_BYTES || claims > PART_CLAIMS || repeats(actions, count)))
            break;
        count++;
    }
    return count;
}

static bool part_begin(struct write_job *request, struct part *part)
{
    part->actions = request->actions + request->at;
    part->count = part_count(request);
    if (request->plans == NULL) {
        request->plans = arena_zalloc(request->arena, part->count + 1, sizeof(*request->plans));
        if (request->plans == NULL)
            return error_budget(request->job.error);
        request->tries = 0;
        for (size_t i = 1; request->each && i < part->count; i++) {
            if (repeats(part->actions, i))
                return error_validation(
                    request->job.error,
                    "Transaction request cannot include multiple operations on one item");
        }
    }
    part->plans = request->plans;
    return true;
}

// How many items the part is about, with those that follow from its actions; each of them.
static size_t member_count(const struct write_job *request, const struct part *part)
{
    return request->effects == NULL ? part->count : request->effects->count;
}

static struct member member_at(const struct write_job *request, const struct part *part,
                               size_t position)
{
    return request->effects == NULL ? (struct member){.action = &part->actions[position],
                                                      .plan = &part->plans[position],
                                                      .cause = position}
                                    : *request->effects->members[position];
}

static void forget_claims(struct write_job *request)
{
    request->claimants = NULL;
    request->ledger = NULL;
}

static void part_end(struct txn *txn, struct write_job *request, const struct part *part)
{
    effects_drop(txn, request);
    for (size_t i = 0; i < part->count; i++)
        plan_drop(txn, &part->plans[i]);
    request->plans = NULL;
    forget_claims(request);
}

// ---- Planning ------------------------------------------------------------------------

enum { STEPS_CLAIM = 250 }; // a look-up in the store

enum planned {
    PLANNED,
    PLANNED_LATER,  // it takes long, or must be read from disk, or has changed since: the judge
                    // plans it
    PLANNED_BEHIND, // it is large: small requests go first
    PLANNED_NEVER,  // the transaction is too large
    PLANNED_CLAIMS, // it takes and gives back too many values
    PLANNED_ALONE,  // it has to be the first of its batch
    PLANNED_NARROW, // it has to be done in smaller parts
};

// The writer looks at what the judge has planned: it holds unless the item is another one by now.
// What never holds still is a conflict, in the end.
static void confirm(struct txn *txn, struct write_job *request, struct write_action *action,
                    struct plan *plan)
{
    if (plan->made && plan_confirm(txn, request, action, plan))
        return;
    plan_drop(txn, plan);
    if (request->tries < LIMIT_PLAN_TRIES)
        return;
    plan->made = true;
    error_init(&plan->error, request->arena);
    (void)error_set(&plan->error, ERR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item");
}

// Counts what an action reads and makes towards the size of its transaction.
static bool still_fits(const struct write_job *request, const struct part *part, size_t which,
                       size_t *bytes)
{
    *bytes += plan_weight(&part->actions[which], &part->plans[which]);
    return !request->transaction || *bytes <= LIMIT_TRANSACT_BYTES;
}

// Reads what is to be planned, or confirms what is; all of it before anything long is done.
static enum planned open_part(struct txn *txn, struct write_job *request, const struct part *part)
{
    size_t bytes = 0;
    size_t brought = 0;
    for (size_t i = 0; i < part->count; i++) {
        struct write_action *action = &part->actions[i];
        struct plan *plan = &part->plans[i];
        if (request->tries > 0 && !txn->aside)
            confirm(txn, request, action, plan);
        else if (!plan->opened)
            plan_open(txn, request, action, plan);
        if (plan->error.code == ERR_COLD)
            return PLANNED_LATER;
        if (!still_fits(request, part, i, &bytes))
            return PLANNED_NEVER;
        brought += action->item.len;
    }
    bool small = bytes + brought <= LIMIT_SMALL_WRITE;
    return small || request->job.large || txn->aside ? PLANNED : PLANNED_BEHIND;
}

// Gathers the values that the part claims or gives back: one action may give back what another
// takes, so all of them are judged together.
static bool gather_claims(struct txn *txn, struct write_job *request, const struct part *part,
                          struct error *error)
{
    size_t count = member_count(request, part);
    struct claimant *all = arena_zalloc(request->arena, count, sizeof(*all));
    if (all == NULL)
        return error_budget(error);
    for (size_t i = 0; i < count; i++) {
        struct member member = member_at(request, part, i);
        all[i] = (struct claimant){member.plan->table, member.action->key, &member.plan->claims};
    }
    request->claimants = all;
    request->ledger = ledger_new(txn->engine, request->arena, all, count);
    return request->ledger != NULL || error_budget(error);
}

static size_t count_claims(const struct write_job *request, const struct part *part)
{
    size_t count = 0;
    for (size_t i = 0; i < member_count(request, part); i++) {
        const struct plan *plan = member_at(request, part, i).plan;
        count += plan->claims.count + plan->claims.release_count;
    }
    return count;
}

// On the judge's thread: looks up who has the values, so that the writer only has to look at what
// has changed since.
static void read_claims(struct txn *txn, struct write_job *request, const struct part *part)
{
    struct error error;
    error_init(&error, request->arena);
    if (!gather_claims(txn, request, part, &error) ||
        !ledger_read(txn, request->ledger, request->arena, &error))
        forget_claims(request); // the writer will meet it, too, and say so
}

// The writer looks up few values, and leaves many to the judge.
static enum planned plan_claims(struct txn *txn, struct write_job *request, const struct part *part)
{
    size_t count = count_claims(request, part);
    if (request->transaction && count > LIMIT_TRANSACT_CLAIMS)
        return PLANNED_CLAIMS;
    if (request->ledger != NULL && !txn->aside && request->effects == NULL) {
        if (ledger_catch_up(txn->engine, request->ledger))
            return PLANNED;
        if (request->tries < LIMIT_PLAN_TRIES)
            return PLANNED_LATER;
    }
    forget_claims(request);
    steps_add(&txn->steps, count * STEPS_CLAIM);
    if (steps_over(&txn->steps) && (txn->aside || request->tries == 0))
        return PLANNED_LATER;
    if (txn->aside && count > 0)
        read_claims(txn, request, part);
    return PLANNED;
}

static enum planned plan_effects(struct txn *txn, struct write_job *request,
                                 const struct part *part)
{
    switch (effects_run(txn, request, part)) {
    case EFFECTS_LATER:
        if (txn->aside || request->tries < LIMIT_PLAN_TRIES)
            return PLANNED_LATER;
        (void)error_set(&request->effects->error, ERR_TRANSACTION_CONFLICT,
                        "Transaction is ongoing for the item");
        break;
    case EFFECTS_ALONE:
        return PLANNED_ALONE;
    case EFFECTS_NARROW:
        return PLANNED_NARROW;
    case EFFECTS_DONE:
        break;
    }
    return plan_claims(txn, request, part);
}

// Plans every action, so that all reasons to cancel a transaction are known. The writer gives up
// after some steps; the judge does not.
static enum planned plan_part(struct txn *txn, struct write_job *request, const struct part *part)
{
    enum planned opened = open_part(txn, request, part);
    if (opened != PLANNED)
        return opened;
    size_t bytes = 0;
    bool confirms = request->tries > 0 && !txn->aside;
    request->guarded = 0;
    for (size_t i = 0; i < part->count; i++) {
        struct plan *plan = &part->plans[i];
        if (!plan->made && (confirms || !plan_make(txn, request, &part->actions[i], plan)))
            return PLANNED_LATER;
        if (!still_fits(request, part, i, &bytes))
            return PLANNED_NEVER;
    }
    return plan_effects(txn, request, part);
}

static void drop_plans(struct txn *txn, const struct part *part, bool aside)
{
    for (size_t i = 0; i < part->count; i++) {
        if (part->plans[i].aside == aside)
            plan_drop(txn, &part->plans[i]);
    }
}

// The part is begun anew, with less in it.
static void make_narrow(struct txn *txn, struct write_job *request, const struct part *part)
{
    part_end(txn, request, part);
    request->narrow = true;
}

// What follows from a part is drawn again by the writer, from what it has confirmed: ids and times
// are its own. Here it is only read from disk. The claims speak of it, and go with it.
static void forget_effects(struct txn *txn, struct write_job *request)
{
    if (request->effects == NULL)
        return;
    effects_drop(txn, request);
    forget_claims(request);
}

// On a thread of the judge's: what the writer put aside. What is given up holds no items while it
// waits.
static bool plan_aside(struct job *job, struct txn *txn)
{
    struct write_job *request = (struct write_job *)job;
    struct part part;
    if (!part_begin(request, &part))
        return true;
    enum planned planned = plan_part(txn, request, &part);
    forget_effects(txn, request);
    if (planned == PLANNED_NARROW)
        make_narrow(txn, request, &part);
    if (planned != PLANNED_LATER)
        return true;
    drop_plans(txn, &part, true);
    forget_claims(request);
    request->refused = steps_stopped(&txn->steps);
    return request->refused;
}

// Leaves the part to the judge, or for later; what the writer has planned of it speaks of its own
// batch.
static void put_off(struct txn *txn, struct write_job *request, const struct part *part,
                    enum job_turn turn)
{
    forget_effects(txn, request);
    drop_plans(txn, part, false);
    request->tries += turn == JOB_ASIDE;
    request->job.large = true;
    request->job.turn = turn;
}

// ---- Judging -------------------------------------------------------------------------

// Whether the failure of one action is that action's own, so that a transaction reports it
// among its reasons; the others fail the request as a whole.
static bool is_reason(enum error_code code)
{
    return code == ERR_CONDITIONAL_CHECK_FAILED || code == ERR_VALIDATION ||
           code == ERR_COLLECTION_SIZE || code == ERR_DUPLICATE_ITEM ||
           code == ERR_TRANSACTION_CONFLICT || code == ERR_ACCESS_DENIED;
}

static bool cancel(const struct write_job *request)
{
    return error_set(request->job.error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
}

// Notes why an action fails; false if that ends the part at once.
static bool note_failure(struct write_job *request, struct write_action *action,
                         const struct error *error)
{
    action->out.failure = error->code;
    action->out.failure_text = error->message;
    action->out.failure_details = error->details;
    if (request->each)
        return false;
    if (!request->transaction || !is_reason(error->code))
        return error_copy(request->job.error, error);
    return true;
}

// On the thread that submits: each action has its key, and a transaction no two of the same.
static bool get_ready(struct job *job)
{
    struct write_job *request = (struct write_job *)job;
    bool canceled = false;
    for (size_t i = 0; i < request->count; i++) {
        struct write_action *action = &request->actions[i];
        struct error error;
        if (action->refused != NULL)
            continue;
        error_init(&error, request->arena);
        bool keyed = action->key.len > 0 && action->keyed.ptr == action->item.ptr;
        if (keyed || write_action_address(action, request->arena, &error)) {
            ensure(be32_get(action->key.ptr) == action->table->tree);
            // Before anything is done: what a tenant may not write fails the whole request.
            if (!request->each && !guard_admit(request, action->table, action, &error))
                return error_copy(job->error, &error);
            continue;
        }
        if (request->each)
            continue; // it fails by itself, when it is planned
        if (!request->transaction || !note_failure(request, action, &error))
            return error_copy(job->error, &error);
        canceled = true;
    }
    if (request->transaction && !request->distinct && !write_job_distinct(request))
        return false;
    return !canceled || cancel(request);
}

// The items of the part that comes next, their collections, and the token.
static void want_keys(const struct job *job, struct txn *txn)
{
    const struct write_job *request = (const struct write_job *)job;
    const struct write_action *actions = request->actions + request->at;
    size_t count = part_count(request);
    if (request->token.len > 0)
        token_wants(request, txn);
    for (size_t i = 0; i < count; i++) {
        if (actions[i].key.len == 0 || (actions[i].flags & WRITE_UNSEEN))
            continue;
        if (!prefetch_add(txn->prefetch, actions[i].key))
            break;
        if (!table_has_local_index(actions[i].table))
            continue;
        collection_key(txn, actions[i].table, actions[i].key);
        if (!prefetch_add(txn->prefetch, buf_view(&txn->key)))
            break;
    }
}

// Whether the part may be done action by action as well.
static bool is_divisible(const struct write_job *request, const struct part *part)
{
    return part->count > 1 && !request->transaction && !request->each;
}

static bool judge_claims(struct txn *txn, struct write_job *request, const struct part *part)
{
    if (count_claims(request, part) == 0)
        return true;
    if (request->ledger == NULL && !gather_claims(txn, request, part, request->job.error))
        return false;
    for (size_t i = 0; i < member_count(request, part); i++) {
        bool divisible = is_divisible(request, part) && i < part->count;
        struct error error;
        error_init(&error, request->arena);
        if (!claims_judge(txn, request->arena, &request->claimants[i], divisible, &error) &&
            !note_failure(request, &part->actions[member_at(request, part, i).cause], &error))
            return false;
    }
    return true;
}

// What follows from the actions: its failure is that of the action that it follows from.
static bool judge_effects(struct txn *txn, struct write_job *request, const struct part *part)
{
    struct effects *effects = request->effects;
    if (effects == NULL)
        return true;
    struct error *error = &effects->error;
    for (size_t i = part->count; error->code == ERR_NONE && i < effects->count; i++) {
        const struct member *member = effects->members[i];
        if (!read_collection(txn, request, member->action, member->plan, error))
            effects->blamed = member->cause;
    }
    return error->code == ERR_NONE || note_failure(request, &part->actions[effects->blamed], error);
}

// What only the writer can judge, because it depends on more than the item.
static bool judge_part(struct txn *txn, struct write_job *request, const struct part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        struct write_action *action = &part->actions[i];
        struct plan *plan = &part->plans[i];
        bool ok = plan->error.code == ERR_NONE &&
                  read_collection(txn, request, action, plan, &plan->error) &&
                  keep_images(request, action, plan, &plan->error) &&
                  find_room(request, action, &plan->error);
        if (ok)
            continue;
        if (plan->error.code == ERR_CONDITIONAL_CHECK_FAILED)
            find_room_for_failure(request, action);
        if (!note_failure(request, action, &plan->error))
            return false;
    }
    if (!judge_effects(txn, request, part) || !judge_claims(txn, request, part))
        return false;
    for (size_t i = 0; i < part->count; i++) {
        if (part->actions[i].out.failure != ERR_NONE)
            return cancel(request);
    }
    return true;
}

// ---- Running -------------------------------------------------------------------------

static void apply_member(struct txn *txn, struct write_job *request, const struct part *part,
                         size_t position)
{
    struct member member = member_at(request, part, position);
    const struct plan *plan = member.plan;
    bool derived = position >= part->count;
    if (derived && slice_equal(plan->before.item, plan->after.item))
        return;
    apply_action(txn, member.action, plan);
    if (derived)
        write_bill_add(request, &part->actions[member.cause], member.action);
}

static void apply_part(struct txn *txn, struct write_job *request, const struct part *part)
{
    const struct claimant *claimants = request->claimants;
    size_t count = member_count(request, part);
    // What one action gives back another may take: a delete after the put would win in the batch.
    for (size_t i = 0; claimants != NULL && i < count; i++)
        claims_release(txn, &claimants[i]);
    for (size_t i = 0; i < part->count; i++)
        write_bill_drop(&part->actions[i]); // of a try that the store did not take
    for (size_t i = 0; i < count; i++) {
        apply_member(txn, request, part, i);
        if (claimants != NULL)
            claims_take(txn, &claimants[i]);
    }
    if (request->effects != NULL)
        effects_apply_notes(txn, request->effects);
}

static bool refuse_part(const struct write_job *request, enum planned planned)
{
    if (planned == PLANNED_NEVER)
        return error_validation(request->job.error,
                                "Transaction request size exceeded the 4MB limit");
    return error_validation(request->job.error,
                            "Transaction request takes or gives back more than %d unique values",
                            LIMIT_TRANSACT_CLAIMS);
}

// Plans, judges and applies the part that the request has come to; job.turn tells whether it was
// put off instead.
static bool run_part(struct txn *txn, struct write_job *request)
{
    struct part part;
    if (!part_begin(request, &part))
        return false;
    enum planned planned = plan_part(txn, request, &part);
    if (planned == PLANNED_NARROW) {
        make_narrow(txn, request, &part);
        if (!part_begin(request, &part))
            return false;
        planned = plan_part(txn, request, &part); // one action is as narrow as can be
    }
    if (planned == PLANNED_LATER || planned == PLANNED_BEHIND || planned == PLANNED_ALONE) {
        put_off(txn, request, &part, planned == PLANNED_LATER ? JOB_ASIDE : JOB_BEHIND);
        request->job.alone = request->job.alone || planned == PLANNED_ALONE;
        return true;
    }
    bool ok = planned == PLANNED ? judge_part(txn, request, &part) : refuse_part(request, planned);
    size_t which = 0;
    struct slice first = ok ? repeat_of(request, &part, &which) : slice_of(NULL, 0);
    if (first.len > 0 && is_divisible(request, &part)) {
        make_narrow(txn, request, &part); // the others of it are done: again, one by one
        return true;
    }
    if (first.len > 0)
        ok = repeat_part(txn, request, &part, which);
    else if (ok)
        apply_part(txn, request, &part);
    part_end(txn, request, &part);
    request->at += part.count;
    return ok || request->each;
}

bool write_at_once(struct txn *txn, struct write_job *request)
{
    request->waits = true;
    while (request->at < request->count) {
        request->job.turn = JOB_ENDS;
        if (!run_part(txn, request))
            return false;
        if (request->job.turn != JOB_ENDS)
            return error_set(request->job.error, ERR_INTERNAL, "It cannot be done at once.");
    }
    return true;
}

// A token that was executed before: nothing is written, and the bill is for reading the items as
// they were then, which token_look_up() has noted.
static bool repeat(struct write_job *request)
{
    request->repeated = true;
    for (size_t i = 0; i < request->count; i++)
        request->actions[i].out.collection_bytes = -1;
    return true;
}

// Whether the token lets the request run; else *ok is how it ends.
static bool token_admits(struct txn *txn, struct write_job *request, bool *ok)
{
    enum token_state state;
    *ok = token_look_up(txn, request, &state);
    if (!*ok || state == TOKEN_NEW)
        return *ok;
    if (state == TOKEN_SAME)
        *ok = repeat(request);
    else
        *ok = error_set(request->job.error, ERR_IDEMPOTENT_MISMATCH,
                        "The request uses the same client token as a previous, but non-identical "
                        "request. Do not reuse a client token with different requests, unless "
                        "the requests are identical");
    // It may have been executed while this one was aside.
    if (request->plans != NULL)
        part_end(txn, request, &(struct part){request->actions, request->plans, request->count});
    return false;
}

// What was committed before stands, and the rest says for itself that it was not done.
static void rest_undone(struct job *job)
{
    struct write_job *request = (struct write_job *)job;
    if (request->committed == 0)
        return;
    for (size_t i = request->committed; i < request->count; i++) {
        struct write_action *action = &request->actions[i];
        action->out.failure = job->error->code;
        action->out.failure_text = job->error->message;
        action->out.changed = false;
        action->out.cost = (struct write_cost){.table = 0};
        action->out.collection_bytes = -1;
    }
    error_init(job->error, job->error->arena);
    job->failed = false;
    job->turn = JOB_ENDS;
}

// The rest of a request is not done any more; what was committed of it stands.
static bool refuse(struct write_job *request)
{
    request->committed = request->at;
    request->job.failed = true;
    (void)error_set(request->job.error, ERR_UNAVAILABLE,
                    "The server is stopping; the write was not done.");
    rest_undone(&request->job);
    return !request->job.failed;
}

// In the same batch as the actions that it tells of: a crash finds both or neither.
static void write_record(struct txn *txn, struct write_job *request)
{
    struct record_write write = request->record(request);
    if (write.value.len > 0)
        txn_record(txn, &write);
}

// Part after part, until the group is full: then the others get their turn first. A part that is
// put off after others waits until they are committed.
static bool run_request(struct job *job, struct txn *txn)
{
    struct write_job *request = (struct write_job *)job;
    bool ok = true;
    if (request->refused)
        return refuse(request);
    if (request->token.len > 0 && !token_admits(txn, request, &ok))
        return ok;
    // A job that comes again has had its parts so far committed: end_job() queues it after that.
    size_t from = request->at;
    request->committed = from;
    do {
        if (!run_part(txn, request))
            return false;
    } while (job->turn == JOB_ENDS && request->at < request->count && !txn_full(txn));
    if (job->turn == JOB_ENDS ? request->at < request->count : request->at > from)
        job->turn = JOB_AGAIN;
    if (job->turn == JOB_ENDS && request->token.len > 0)
        token_remember(txn, request);
    if (request->record != NULL && request->at > from)
        write_record(txn, request);
    return true;
}

void write_job_init(struct write_job *request, struct engine *engine, struct arena *arena,
                    struct error *error)
{
    *request = (struct write_job){.job = {.ready = get_ready,
                                          .run = run_request,
                                          .wants = want_keys,
                                          .plan = plan_aside,
                                          .undone = rest_undone,
                                          .error = error},
                                  .engine = engine,
                                  .arena = arena};
}

void write_job_release(struct write_job *request)
{
    for (size_t i = 0; i < request->count; i++) {
        table_release(request->actions[i].out.cost_table);
        request->actions[i].out.cost_table = NULL;
        write_bill_drop(&request->actions[i]);
    }
}
