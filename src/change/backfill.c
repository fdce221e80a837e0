// The work of applying a model. If it claims values, those of all items are gathered first, and
// then it is attached (claims.c). Then indexes are created one after the other, and every item is
// looked at; those that the model completes are touched, in small writes between those of others.
//
// A touch is an ordinary action of the writer: it completes the item that is there when its turn
// comes, whatever was read here before. An item that needs nothing now was written by a guard, or
// will be: nobody can make it stale, so it is not written. The position is kept now and then; what
// lies behind it is done again after a crash, which changes nothing.
#include "change/migration.h"

#include "base/log.h"

enum { BATCH_ITEMS = 192, WAIT_MS = 20, TEXT_MAX = 2048, GATHER_TRIES = 3 };

struct backfill {
    struct walk_run walk; // first; its id is the table's name
    struct model_work work;
    struct guard *guard;    // of the model, while its claims are gathered; else NULL
    struct guard *gatherer; // the table's next guard then
    struct buf text;
    bool superseded; // somebody attached another model
    size_t count;
    struct write_action actions[BATCH_ITEMS];
};

// ---- The record -------------------------------------------------------------------------------

// Another apply, or an abandon, may have put its own work in the place of ours.
static bool save(struct run *base, struct slice there, struct run_saving *saving)
{
    struct backfill *run = (struct backfill *)base;
    struct model_work work;
    map_decode(&model_work_form, there, &work);
    run->superseded =
        work.version != run->work.version || !slice_equal(work.table_id, run->work.table_id);
    saving->count = !run->superseded;
    return true;
}

// Takes the table as it is now. False if it is gone, or has another model.
static bool refresh(struct backfill *run)
{
    if (!walk_run_refresh(&run->walk, run->walk.run.id, run->work.table_id) ||
        (run->gatherer != NULL ? run->walk.run.table->next != run->gatherer
                               : !slice_equal(run->walk.run.table->model, run->work.text) ||
                                     run->walk.run.table->guard == NULL))
        run->superseded = true;
    return !run->superseded;
}

// ---- Indexes ----------------------------------------------------------------------------------

static bool is_busy(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status != INDEX_ACTIVE)
            return true;
    }
    return false;
}

// Does one thing to one index. *done tells that there is nothing left.
static bool index_step(struct backfill *run, bool *done)
{
    const struct model_table *model = model_guard_table(run->walk.run.table->guard);
    for (size_t i = 0; run->work.prune && i < run->walk.run.table->index_count; i++) {
        const struct index *index = &run->walk.run.table->indexes[i];
        if (index->global && model_table_index(model, index->name) == NULL)
            return model_delete_index(run->walk.run.shop, run->walk.run.id, index->name,
                                      &run->walk.run.error);
    }
    for (size_t i = 0; i < model->index_count; i++) {
        const struct model_index *index = &model->indexes[i];
        switch (model_index_compare(index, run->walk.run.table)) {
        case INDEX_IS_SAME:
            break;
        case INDEX_IS_MISSING:
            return model_create_index(run->walk.run.shop, index, run->walk.run.table,
                                      &run->walk.run.error);
        case INDEX_IS_OTHER:
            return model_delete_index(run->walk.run.shop, run->walk.run.id, index->name,
                                      &run->walk.run.error);
        }
    }
    *done = true;
    return true;
}

// Somebody else changes the table at this moment; that ends.
static bool must_wait(struct backfill *run)
{
    if (run->walk.run.error.code != ERR_LIMIT_EXCEEDED &&
        run->walk.run.error.code != ERR_RESOURCE_IN_USE)
        return false;
    error_init(&run->walk.run.error, &run->walk.run.arena);
    return true;
}

static bool do_indexes(struct backfill *run)
{
    bool done = false;
    while (!done) {
        if (work_stopping(run->walk.run.shop) || !refresh(run))
            return false;
        bool busy = is_busy(run->walk.run.table);
        if (!busy && !index_step(run, &done)) {
            busy = must_wait(run);
            if (!busy)
                return false;
        }
        if (busy && !work_pause(run->walk.run.shop, WAIT_MS))
            return false;
    }
    return true;
}

// ---- Items ------------------------------------------------------------------------------------

static void note_violation(struct backfill *run, struct slice item, const char *failure,
                           const struct model_violations *violations)
{
    run->work.violations++;
    if (run->work.progress.samples.count == MODEL_SAMPLES)
        return;
    struct slice key = model_key_of(run->walk.run.table, item, &run->walk.item);
    buf_clear(&run->text);
    if (violations != NULL)
        model_violations_text(violations, &run->text);
    else
        buf_text(&run->text, failure);
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->walk.run.arena, key,
                         buf_view(&run->text));
}

static bool add_action(struct backfill *run, struct slice item, unsigned flags)
{
    struct write_action action = {.kind = WRITE_UPDATE,
                                  .table = run->walk.run.table,
                                  .item = model_key_of(run->walk.run.table, item, &run->walk.page),
                                  .flags = flags};
    if (action.item.ptr == NULL)
        return error_budget(&run->walk.run.error);
    run->actions[run->count++] = action;
    return true;
}

static bool visit(void *context, struct slice item)
{
    struct backfill *run = context;
    struct model_touch touch;
    arena_reset(&run->walk.item);
    if (!model_touch(run->walk.run.table->guard, engine_env(run->walk.run.shop->engine),
                     &run->walk.item, item, &touch))
        return error_budget(&run->walk.run.error);
    run->work.progress.done++;
    if (touch.violations != NULL || touch.failure != NULL)
        note_violation(run, item, touch.failure, touch.violations);
    bool due = touch.changed || model_guard_derives(run->walk.run.table->guard, item);
    return !due || add_action(run, item, WRITE_TOUCH);
}

// An item that claims nothing now has nothing to be gathered, whatever becomes of it: the next
// guard hears of every write.
static bool visit_claims(void *context, struct slice item)
{
    struct backfill *run = context;
    struct model_touch touch;
    arena_reset(&run->walk.item);
    if (!model_touch(run->guard, engine_env(run->walk.run.shop->engine), &run->walk.item, item,
                     &touch))
        return error_budget(&run->walk.run.error);
    run->work.progress.done++;
    return touch.claim_count == 0 || add_action(run, item, WRITE_TOUCH | WRITE_CLAIM);
}

static void tally(struct walk_run *walk, size_t done)
{
    struct backfill *run = (struct backfill *)walk;
    for (size_t i = 0; i < done; i++)
        run->work.written += walk->actions[i].out.changed && walk->actions[i].out.failure == 0;
}

// An item that cannot be touched (another one has its unique value) is left as it is. One that
// others kept changing while it was judged is touched again. *left is how many of these there are,
// now the first ones.
static bool sort_failures(struct backfill *run, size_t *left)
{
    size_t count = *left;
    *left = 0;
    for (size_t i = 0; i < count; i++) {
        struct write_action action = run->actions[i];
        if (action.out.failure == ERR_VALIDATION)
            note_violation(run, action.item, action.out.failure_text, action.out.failure_details);
        else if (action.out.failure == ERR_TRANSACTION_CONFLICT)
            run->actions[(*left)++] = action;
        else if (action.out.failure != ERR_NONE)
            return error_set(&run->walk.run.error, action.out.failure, "%s",
                             action.out.failure_text);
    }
    return true;
}

static bool write_batch(struct backfill *run)
{
    size_t left = run->count;
    while (left > 0) {
        for (size_t i = 0; i < left; i++)
            run->actions[i].out = (struct write_result){.changed = false};
        if (!walk_run_write(&run->walk, run->actions, left, true) || !sort_failures(run, &left) ||
            (left > 0 && !work_pause(run->walk.run.shop, WAIT_MS)))
            return false;
    }
    return true;
}

static bool do_items(struct backfill *run, bool (*visit_one)(void *run, struct slice item))
{
    bool ended = false;
    walk_run_begin(&run->walk);
    while (!ended) {
        if (run->superseded || !refresh(run))
            return false;
        run->count = 0;
        int64_t before = run->work.progress.done;
        if (!walk_run_look(&run->walk, BATCH_ITEMS, visit_one, &ended) || !write_batch(run))
            return false;
        if (!walk_run_pause(&run->walk, run->work.progress.done - before) && !ended)
            return false;
    }
    return true;
}

// ---- Claims -----------------------------------------------------------------------------------

// Another gatherer takes the place of ours, or none.
static bool change_gatherer(struct backfill *run, struct guard *next, struct error *error)
{
    struct run *base = &run->walk.run;
    bool ok = gathering_anew(base->shop, base->id, run->gatherer, next, error);
    if (ok) {
        guard_release(run->gatherer);
        run->gatherer = guard_hold(next);
    }
    return ok;
}

static bool gather_anew(struct backfill *run)
{
    struct run *base = &run->walk.run;
    struct guard *next = gatherer_new(run->guard, run->work.text);
    bool ok = change_gatherer(run, next, &base->error);
    guard_release(next);
    run->superseded = !ok && base->error.code == ERR_RESOURCE_NOT_FOUND;
    buf_clear(&run->walk.position);
    run->work.progress.done = 0;
    return ok;
}

static void stop_gathering(struct backfill *run)
{
    struct run *base = &run->walk.run;
    struct error error;
    error_init(&error, &base->arena);
    if (run->gatherer != NULL && !change_gatherer(run, NULL, &error) &&
        error.code != ERR_RESOURCE_NOT_FOUND)
        log_error("table %.*s: what was gathered of a model could not be removed: %s",
                  SLICE_FMT(base->id), error.message);
}

static bool attach(struct backfill *run)
{
    struct run *base = &run->walk.run;
    struct model_attachment a = {.shop = base->shop,
                                 .arena = &base->arena,
                                 .guard = run->guard,
                                 .model = model_guard_table(run->guard),
                                 .work = run->work,
                                 .concerns_items = true,
                                 .gathered = run->gatherer};
    a.work.progress.position = slice_of(NULL, 0);
    a.work.progress.done = 0;
    if (!model_attach(&a, base->table, &base->error))
        return false;
    run->work = a.work;
    run->work.table_id = arena_copy(&base->arena, a.work.table_id); // the table's version may go
    buf_clear(&run->walk.position);
    guard_release(run->gatherer);
    run->gatherer = NULL;
    return refresh(run);
}

// Two items had the same value. *again if that is over: the claims are of no use any more, but the
// model can still be applied.
static bool tell_duplicates(struct backfill *run, bool *again)
{
    struct run *base = &run->walk.run;
    struct model_look look;
    error_init(&base->error, &base->arena);
    if (!model_look(base->shop, base->table, run->guard, 0, &base->arena, &look, &base->error))
        return false;
    *again = look.duplicates == 0;
    run->work.progress.samples = look.duplicate_samples;
    return *again ||
           error_validation(&base->error,
                            "%llu value%s came to be used by several items while the "
                            "model was being applied; it is not attached.",
                            (unsigned long long)look.duplicates, look.duplicates == 1 ? "" : "s");
}

static bool put_seeds(struct backfill *run)
{
    int64_t made;
    return model_seed_table(run->walk.run.shop, run->walk.run.id, run->work.text, &made,
                            &run->walk.run.error);
}

static bool do_claims(struct backfill *run)
{
    struct run *base = &run->walk.run;
    bool again = true;
    for (int try = 0; try < GATHER_TRIES && again; try++) {
        if ((try > 0 && !gather_anew(run)) || !refresh(run) || !do_items(run, visit_claims))
            return false;
        if (attach(run))
            return put_seeds(run);
        run->superseded |= base->error.code == ERR_RESOURCE_NOT_FOUND;
        if (base->error.code != ERR_CONDITIONAL_CHECK_FAILED || !tell_duplicates(run, &again))
            return false;
    }
    return error_validation(&base->error, "Values that must be unique keep moving between items.");
}

// ---- The run ----------------------------------------------------------------------------------

static bool load(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    walk_run_open(&run->walk, &run->work.progress);
    run->walk.tally = tally;
    buf_init(&run->text, TEXT_MAX);
    // The work of an earlier table of this name is nobody's any more.
    run->superseded = !walk_run_refresh(&run->walk, base->id, run->work.table_id) ||
                      base->table->status == TABLE_CREATING; // it begins when that is full
    if (!run->superseded && run->work.text.len == 0) // of an earlier version of this program
        run->work.text = arena_copy(&base->arena, base->table->model);
    if (run->superseded || run->work.phase != MODEL_PHASE_CLAIMS)
        return !run->superseded;
    if (base->table->next == NULL)
        return error_set(&base->error, ERR_INTERNAL, "The model's text cannot be read.");
    run->gatherer = guard_hold(base->table->next);
    run->guard = guard_hold(gatherer_guard(run->gatherer));
    return true;
}

static bool perform(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    if (run->work.phase == MODEL_PHASE_CLAIMS && !do_claims(run))
        return false;
    if (run->work.phase == MODEL_PHASE_INDEXES && !do_indexes(run))
        return false;
    run->work.phase = MODEL_PHASE_ITEMS;
    return run->work.skip_items || (refresh(run) && do_items(run, visit));
}

static void finish(struct run *base, bool ok)
{
    struct backfill *run = (struct backfill *)base;
    stop_gathering(run);
    if (run->superseded)
        return;
    run->work.progress.ended_ms = env_now(engine_env(base->shop->engine));
    run->work.status = ok ? MODEL_ACTIVE : MODEL_FAILED;
    if (ok) {
        run->work.phase = MODEL_PHASE_DONE;
        buf_clear(&run->walk.position);
        log_info("table %.*s: its items are as the model wants them: %lld looked at, %lld "
                 "changed, %lld that violate it",
                 SLICE_FMT(base->id), (long long)run->work.progress.done,
                 (long long)run->work.written, (long long)run->work.violations);
    } else {
        run->work.progress.failure = slice_str(base->error.message);
        log_error("table %.*s: the backfill of its model failed: %s", SLICE_FMT(base->id),
                  base->error.message);
    }
    walk_run_keep(base);
}

static void suspend(struct run *base)
{
    if (!((struct backfill *)base)->superseded)
        walk_run_keep(base);
}

static void release(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    buf_release(&run->text);
    guard_release(run->gatherer);
    guard_release(run->guard);
    walk_run_release(base);
}

static const struct run_kind kind =
    RUN_KIND("model/work", LANE_MODEL, backfill, work, &model_work_form, MODEL_APPLYING, load,
             perform, finish, suspend, release, save);

void model_work_begin(struct workshop *shop, struct slice table)
{
    (void)run_start(shop, run_new(&kind, table, table));
}

void model_resume(struct workshop *shop)
{
    gatherings_resume(shop);
    run_resume(shop, &kind, true);
    migration_resume(shop);
}
