// Planning one action of a write: read the old image, judge the condition, make the new image, have
// the table's guard judge that. Nothing here touches the batch.
//
// The writer plans within a bounded number of steps, from what is in memory. What takes longer is
// planned by the judge (judge.c), which runs the same code on a transaction of its own over what is
// committed. The writer then only confirms that the item is still the one that the plan was made
// from: a plan is a function of that item, so it still holds.
#include "engine/engine_internal.h"

#include "engine/ttl.h"
#include "value/digest.h"

bool image_copy(struct arena *arena, struct slice item, struct slice *out, struct error *error)
{
    if (item.len == 0)
        return true;
    *out = arena_copy(arena, item);
    return out->ptr != NULL || error_budget(error);
}

// Of a wide item, looks up at once all that will be looked for.
static bool pick_keys(struct txn *txn, struct write_job *request, const struct table *table,
                      struct image *image, struct error *error)
{
    image->keys = VALUE_NONE;
    if (image->item.len == 0 || !layout_is_wide(image->item))
        return true;
    buf_clear(&txn->image);
    value_builder_reset(&txn->builder);
    layout_key_image(&txn->builder, table, image->item);
    if (txn->image.failed)
        return error_budget(error);
    return image_copy(request->arena, buf_view(&txn->image), &image->keys, error);
}

bool plan_read(struct txn *txn, struct write_job *request, const struct write_action *action,
               struct plan *plan, struct error *error)
{
    bool found;
    if (action->flags & WRITE_UNSEEN)
        return true;
    if (!txn_get(txn, action->key, request->arena, &plan->pin, &found, error))
        return false;
    if (found)
        plan->before = (struct image){.item = record_item(plan->pin.bytes),
                                      .size = record_size(plan->pin.bytes)};
    return true;
}

static bool matches(const struct write_action *action, struct slice before)
{
    if (action->if_match.len == 0)
        return true;
    uint8_t digest[DIGEST_BYTES];
    item_digest(before, digest);
    return before.len > 0 && slice_equal(action->if_match, slice_of(digest, sizeof(digest)));
}

// ---- Policies ------------------------------------------------------------------------------

// Whether whoever asks is bound in what the action does. What follows from it is the server's.
static bool is_bound(const struct write_job *request, const struct write_action *action,
                     const struct plan *plan)
{
    return !(action->flags & WRITE_DERIVED) && guard_binds(plan->table->guard, request->origin);
}

// A condition that reads what is hidden would tell of it, and an update would move it.
static bool refuse_hidden(const struct write_action *action, const struct guard_veil *veil,
                          struct error *error)
{
    for (size_t i = 0; i < veil->count; i++) {
        struct slice name = veil->names[i];
        bool asked = action->condition != NULL && expr_condition_mentions(action->condition, name);
        if (asked || (action->kind == WRITE_UPDATE && action->update != NULL &&
                      expr_update_reads(action->update, name)))
            return error_set(error, ERR_ACCESS_DENIED,
                             "Policies of the model do not allow you to read \"%.*s\", which the "
                             "%s of the request does",
                             SLICE_FMT(name), asked ? "condition" : "update");
    }
    return true;
}

// Finds out what of the old image whoever asks may know. A put or an update of an item that it may
// not know of goes on as if there were none, up to its end.
static bool look(struct write_job *request, const struct write_action *action, struct plan *plan,
                 struct error *error)
{
    struct guard_veil veil;
    if (plan->before.item.len == 0 || !is_bound(request, action, plan))
        return true;
    switch (guard_sight(plan->table->guard, request->origin, plan->before.item, &veil)) {
    case GUARD_SEES_ALL:
        return true;
    case GUARD_SEES_NOTHING:
        plan->unseen = true;
        if (action->kind == WRITE_PUT || action->kind == WRITE_UPDATE) {
            plan->taken = plan->before.item;
            plan->before = (struct image){.item = VALUE_NONE};
        }
        return true;
    case GUARD_SEES_PART:
        break;
    }
    if (!refuse_hidden(action, &veil, error))
        return false;
    plan->veiled = guard_veiled(&veil, plan->before.item, request->arena);
    return plan->veiled.len > 0 || error_budget(error);
}

// Whether whoever asks may do it. `made` is the new image before the guard has completed it.
static bool permit(const struct write_job *request, const struct write_action *action,
                   const struct plan *plan, struct slice made, struct error *error)
{
    if (action->kind == WRITE_CHECK || !is_bound(request, action, plan) ||
        (action->kind == WRITE_DELETE && plan->before.item.len == 0))
        return true;
    struct guard_ask ask = {
        .origin = request->origin,
        .before = plan->before.item,
        .after = plan->after.item,
        .sent = action->kind == WRITE_PUT && action->sent.len > 0 ? action->sent : made,
        .removes = action->kind == WRITE_DELETE,
        .taken = plan->taken.len > 0,
    };
    return plan->table->guard->ops->permit(plan->table->guard, &ask, error);
}

// ---- Conditions ----------------------------------------------------------------------------

// What a condition that fails costs, and what it shows.
static bool note_old(struct write_job *request, struct write_action *action,
                     const struct plan *plan, struct error *error)
{
    size_t brought = action->kind == WRITE_PUT ? value_item_size(action->item) : 0;
    size_t before = plan->unseen ? 0 : plan->before.size;
    action->out.cost.table = write_units(brought > before ? brought : before);
    return !(action->flags & WRITE_OLD_ON_FAILURE) || (action->flags & WRITE_INSERT) ||
           image_copy(request->arena, plan_seen(plan), &action->out.old_item, error);
}

static bool judge_condition(struct txn *txn, struct write_job *request, struct write_action *action,
                            struct plan *plan, struct error *error)
{
    bool holds = action->condition == NULL ||
                 expr_condition_eval(action->condition, plan_seen(plan), &txn->steps);
    if (steps_over(&txn->steps))
        return false;
    if (holds && matches(action, plan_seen(plan)))
        return true;
    if (!note_old(request, action, plan, error))
        return false;
    if (action->flags & WRITE_INSERT)
        return error_set(error, ERR_DUPLICATE_ITEM, "Duplicate primary key exists in table");
    return error_set(error, ERR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
}

// Judges a new image that was made here: its size,
static bool judge_size(struct plan *plan, const char *what, struct error *error)
{
    plan->after.size = value_item_size(plan->after.item);
    return plan->after.size <= LIMIT_ITEM_SIZE ||
           error_validation(error, "Item size%s has exceeded the maximum allowed size", what);
}

// and the index keys that it has changed.
static bool judge_keys(struct txn *txn, struct write_job *request, struct plan *plan,
                       struct error *error)
{
    return pick_keys(txn, request, plan->table, &plan->after, error) &&
           index_keys_check(plan->table, image_keys(plan->before), image_keys(plan->after), error);
}

static bool make_updated(struct txn *txn, struct write_job *request,
                         const struct write_action *action, struct plan *plan, struct error *error)
{
    struct slice start = plan->before.item.len > 0 ? plan->before.item : action->item;
    // What only takes away makes no item where there is none.
    bool nothing =
        plan->before.item.len == 0 && action->update != NULL && expr_update_removes(action->update);
    if (nothing || (action->flags & WRITE_TOUCH)) {
        plan->after = plan->before;
        return true;
    }
    if (action->update == NULL) {
        plan->after.item = start;
    } else {
        buf_clear(&txn->image);
        value_builder_reset(&txn->builder);
        if (!expr_update_apply(action->update, start, &txn->builder, request->arena, &txn->steps,
                               error))
            return false;
        if (txn->image.failed)
            return error_budget(error);
        if (!image_copy(request->arena, buf_view(&txn->image), &plan->after.item, error))
            return false;
        if (expr_update_deepens(action->update) && value_depth(plan->after.item) > LIMIT_NESTING)
            return error_validation(error, "Nesting Levels have exceeded supported limits: "
                                           "Attributes in the item have nested levels beyond "
                                           "supported limit");
    }
    if (action->update_size > LIMIT_ITEM_SIZE)
        return error_validation(error, "Item size to update has exceeded the maximum allowed size");
    // Of a table with a model, the keys are judged as the guard leaves them.
    return judge_size(plan, " to update", error) &&
           (plan->table->model.len > 0 || judge_keys(txn, request, plan, error));
}

static bool make_after(struct txn *txn, struct write_job *request,
                       const struct write_action *action, struct plan *plan, struct error *error)
{
    switch (action->kind) {
    case WRITE_PUT:
        plan->after = (struct image){.item = action->item, .size = action->size};
        return pick_keys(txn, request, plan->table, &plan->after, error) &&
               ((action->flags & WRITE_TRUSTED) || action->judged == plan->table ||
                table_check_item(plan->table, image_keys(plan->after), error));
    case WRITE_UPDATE:
        return make_updated(txn, request, action, plan, error);
    case WRITE_CHECK:
        plan->after = plan->before;
        return true;
    case WRITE_DELETE:
        // Somebody may have given it more time since it was found; or taken the rule back.
        // What nobody may know of is not there to be deleted.
        if (plan->unseen ||
            ((action->flags & WRITE_EXPIRED) && !ttl_expired(plan->table, image_keys(plan->before),
                                                             env_now(&txn->engine->env) / 1000)) ||
            ((action->flags & WRITE_SWEPT) &&
             !slice_equal(plan->table->model, action->table->model)))
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
    if (plan->unseen && action->kind == WRITE_DELETE)
        return true;
    if (!guard_judge(txn, request, action, plan->table, plan->before.item, &plan->after.item,
                     &plan->claims, error)) {
        // A version that is not the stored one is a condition, too.
        if (error->code == ERR_CONDITIONAL_CHECK_FAILED)
            DISREGARD(note_old(request, action, plan, error));
        return false;
    }
    bool same = plan->after.item.ptr == made.ptr && plan->after.item.len == made.len;
    bool judged = same && (action->kind != WRITE_UPDATE || plan->table->model.len == 0 ||
                           made.ptr == plan->before.item.ptr);
    return (judged ||
            ((same || judge_size(plan, "", error)) && judge_keys(txn, request, plan, error))) &&
           permit(request, action, plan, made, error);
}

bool plan_affect(struct txn *txn, struct write_job *request, struct write_action *action,
                 struct plan *plan, const struct plan_change *change, struct error *error)
{
    struct plan_own *own = plan->own;
    struct plan next = {.table = plan->table, .before = plan->before};
    if (own == NULL) {
        own = arena_alloc(request->arena, sizeof(*own));
        if (own == NULL)
            return error_budget(error);
        *own = (struct plan_own){plan->after, plan->claims};
    }
    if (!guard_judge_affected(txn, request, action, plan, change, &next.after.item, &next.claims,
                              error))
        return false;
    if (next.after.item.len > 0 &&
        !(judge_size(&next, "", error) && judge_keys(txn, request, &next, error)))
        return false;
    plan->own = own;
    plan->after = next.after;
    plan->claims = next.claims;
    return true;
}

void plan_restore(struct plan *plan)
{
    if (plan->own == NULL)
        return;
    plan->after = plan->own->after;
    plan->claims = plan->own->claims;
    plan->own = NULL;
}

// ---- Whole plans ---------------------------------------------------------------------------

// The table's version as the thread at hand may know it.
static bool find_table(struct txn *txn, const struct write_action *action, struct plan *plan)
{
    struct slice name = action->table->name;
    // The writer alone publishes tables, so none goes while it plans; the judge needs a reference.
    plan->aside = txn->aside;
    plan->table = txn->aside ? engine_table(txn->engine, name) : catalog_find(txn->engine, name);
    // Another table may have come to have that name since the request began; its tree is another.
    if (plan->table == NULL || plan->table->tree != action->table->tree)
        return error_set(&plan->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return true;
}

size_t plan_weight(const struct write_action *action, const struct plan *plan)
{
    bool reads = action->kind == WRITE_UPDATE || action->kind == WRITE_CHECK ||
                 action->condition != NULL || action->if_match.len > 0;
    size_t before = reads ? plan->before.size : 0;
    return before > plan->after.size ? before : plan->after.size;
}

void plan_open(struct txn *txn, struct write_job *request, struct write_action *action,
               struct plan *plan)
{
    *plan = (struct plan){.opened = true};
    error_init(&plan->error, request->arena);
    action->out.failure = ERR_NONE; // a request that the store did not take may come again
    action->out.old_item = VALUE_NONE;
    if (action->refused != NULL) {
        plan->error = *action->refused;
        plan->made = true;
        return;
    }
    // While the writer waits, so does everybody: for what the judge has read, it would not be long.
    store_wait_for_disk(may_wait(txn, request));
    bool ok = (action->key.len > 0 || write_action_address(action, request->arena, &plan->error)) &&
              find_table(txn, action, plan) &&
              guard_admit(request, plan->table, action, &plan->error) &&
              plan_read(txn, request, action, plan, &plan->error) &&
              look(request, action, plan, &plan->error);
    store_wait_for_disk(true);
    plan->made = !ok; // what fails here needs nothing more
}

bool plan_make(struct txn *txn, struct write_job *request, struct write_action *action,
               struct plan *plan)
{
    bool ok = judge_condition(txn, request, action, plan, &plan->error) &&
              pick_keys(txn, request, plan->table, &plan->before, &plan->error) &&
              make_after(txn, request, action, plan, &plan->error) &&
              guard_after(txn, request, action, plan, &plan->error);
    plan->made = ok || plan->error.code != ERR_NONE;
    return plan->made;
}

bool plan_confirm(struct txn *txn, struct write_job *request, const struct write_action *action,
                  const struct plan *plan)
{
    // The plan holds its version, so no other can have come to stand at the same address.
    struct table *table = catalog_find(txn->engine, action->table->name);
    if (table != plan->table)
        return false;
    if (table == NULL)
        return true;
    struct plan now = {.table = table};
    struct error error;
    error_init(&error, request->arena);
    bool same = plan_read(txn, request, action, &now, &error) &&
                slice_equal(now.before.item, plan->taken.len > 0 ? plan->taken : plan->before.item);
    store_value_release(txn->engine->store, &now.pin);
    return same;
}

void plan_drop(struct txn *txn, struct plan *plan)
{
    if (plan->opened) {
        store_value_release(txn->engine->store, &plan->pin);
        if (plan->aside)
            table_release(plan->table);
    }
    *plan = (struct plan){.opened = false};
}

// ---- What is told of it ---------------------------------------------------------------------

bool write_keep_images(struct write_job *request, struct write_action *action,
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
bool write_find_room(struct write_job *request, struct write_action *action, struct error *error)
{
    bool shows = action->flags & (WRITE_OLD | WRITE_NEW);
    return request->room == NULL || !shows || request->room(request, action, error);
}

void write_room_for_failure(struct write_job *request, struct write_action *action)
{
    struct error error;
    error_init(&error, request->arena);
    if (request->each && request->room != NULL && action->out.old_item.len > 0 &&
        !request->room(request, action, &error))
        action->out.old_item = VALUE_NONE;
}

// ---- What followed from it ------------------------------------------------------------------

// Adds what a derived item cost to the bill of the action that it follows from. Without memory it
// is not told: nothing else depends on it.
void write_bill_add(struct write_job *request, struct write_action *cause,
                    struct write_action *derived)
{
    struct table *table = derived->out.cost_table; // which is taken over
    struct write_derived *row = cause->out.derived;
    derived->out.cost_table = NULL;
    // What a tenant may not know of is not in its bill, which would tell.
    if (guard_access(table->guard, request->origin, derived->item) < GUARD_OWN) {
        table_release(table);
        return;
    }
    while (row != NULL && row->table != table)
        row = row->next;
    if (row == NULL) {
        row = arena_zalloc(request->arena, 1, sizeof(*row));
        if (row == NULL) {
            table_release(table);
            return;
        }
        row->table = table_hold(table);
        row->next = cause->out.derived;
        cause->out.derived = row;
    }
    row->cost.table += derived->out.cost.table;
    for (size_t i = 0; i < table->index_count; i++)
        row->cost.indexes[i] += derived->out.cost.indexes[i];
    for (size_t i = 0; i < table->vector_count; i++)
        row->cost.vectors[i] += derived->out.cost.vectors[i];
    table_release(table);
}

void write_bill_drop(struct write_action *action)
{
    for (struct write_derived *row = action->out.derived; row != NULL; row = row->next)
        table_release(row->table);
    action->out.derived = NULL;
}
