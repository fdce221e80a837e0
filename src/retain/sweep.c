// The run of a rule: from page to page, bunch to bunch, at a pace. See retain.h.
#include "retain/sweep.h"

#include "base/log.h"
#include "base/wait.h"

#include <stdlib.h>

enum {
    SCRATCH_MEMORY = 64 << 20,
    SAVE_EVERY_MS = 1000,
    BUNCH_EVERY_MS = 60 * 1000, // what was found waits no longer, and is kept in memory no longer
    WAIT_MS = 20,
};

static struct sweep *sweep_of(struct run *run)
{
    return (struct sweep *)run;
}

static struct retain_desk *desk_of(const struct sweep *sweep)
{
    return sweep->run.shop->retain;
}

bool sweep_pace(struct sweep *sweep, int64_t units)
{
    if (sweep->began_ms == 0)
        sweep->began_ms = monotonic_ms();
    sweep->units += units;
    int64_t rate = (int64_t)desk_of(sweep)->settings.rate * SWEEP_REMOVAL;
    while (monotonic_ms() - sweep->began_ms < sweep->units * 1000 / rate) {
        if (!work_pause(sweep->run.shop, WAIT_MS))
            return work_goes_on(sweep->run.shop, &sweep->run.error);
    }
    return work_goes_on(sweep->run.shop, &sweep->run.error);
}

// ---- Collecting -------------------------------------------------------------------------------

static bool found(void *context, struct slice key, struct slice group, struct error *error)
{
    struct sweep *sweep = context;
    struct bunch_item item = {.key = arena_copy(&sweep->arena, key), .group = {NULL, 0}};
    if (group.len > 0)
        item.group = arena_copy(&sweep->arena, group);
    if (item.key.ptr == NULL || (group.len > 0 && item.group.ptr == NULL))
        return error_budget(error);
    sweep->items = memory_grow(sweep->items, sweep->count, &sweep->capacity, sizeof(*sweep->items));
    sweep->items[sweep->count++] = item;
    sweep->bytes += key.len + group.len;
    return true;
}

// Pages until there is a bunch, or a pass has ended.
static bool collect(struct sweep *sweep)
{
    struct retain_finder *finder = &sweep->finder;
    size_t most = desk_of(sweep)->settings.bunch;
    int64_t patience;
    arena_reset(&sweep->arena);
    sweep->count = 0;
    sweep->bytes = 0;
    do {
        uint64_t before = finder->looked;
        if (!finder_page(finder, &sweep->run.error))
            return false;
        uint64_t looked = finder->looked - before;
        sweep->record.looked += (int64_t)looked;
        desk_of(sweep)->looked += looked;
        if (!sweep_pace(sweep, (int64_t)looked))
            return false;
        patience = sweep->count == 0 ? SAVE_EVERY_MS : BUNCH_EVERY_MS;
    } while (!finder->ended && !finder->turn && sweep->count < (most == 0 ? BUNCH_ITEMS : most) &&
             sweep->bytes < BUNCH_BYTES && monotonic_ms() - sweep->saved_ms < patience);
    sweep->record.found += (int64_t)sweep->count;
    return true;
}

// Behind a bunch, which is done. What `keep` knows of groups is not kept, so it has no position.
static void keep_position(struct sweep *sweep, bool now)
{
    if (!now && monotonic_ms() - sweep->saved_ms < SAVE_EVERY_MS)
        return;
    buf_clear(&sweep->position);
    if (sweep->rule->keep == NULL)
        buf_slice(&sweep->position, buf_view(&sweep->finder.after));
    sweep->record.position = buf_view(&sweep->position);
    run_save(&sweep->run);
    sweep->saved_ms = monotonic_ms();
}

void sweep_tell(struct sweep *sweep)
{
    if (monotonic_ms() - sweep->saved_ms < SAVE_EVERY_MS)
        return;
    run_save(&sweep->run);
    sweep->saved_ms = monotonic_ms();
}

bool sweep_wanted(struct sweep *sweep)
{
    struct table *now = engine_table(sweep->run.shop->engine, sweep->run.table->name);
    bool same = now != NULL && slice_equal(now->uuid, sweep->run.table->uuid) &&
                slice_equal(now->model, sweep->run.table->model);
    table_release(now);
    sweep->superseded |= !same;
    return same;
}

static bool perform(struct run *run)
{
    struct sweep *sweep = sweep_of(run);
    desk_of(sweep)->running++;
    sweep->saved_ms = monotonic_ms();
    bool ok = true;
    while (ok && !sweep->finder.ended && !sweep->superseded) {
        ok = collect(sweep) && (!sweep_wanted(sweep) || sweep->count == 0 || sweep_bunch(sweep));
        if (ok && !sweep->superseded)
            keep_position(sweep, sweep->count > 0);
    }
    desk_of(sweep)->running--;
    return ok;
}

// ---- The run ----------------------------------------------------------------------------------

static const struct retain_rule *rule_of(struct sweep *sweep, const struct table *table,
                                         const char *id)
{
    struct retain_rule *list;
    size_t count;
    if (table->guard == NULL ||
        !retain_rules(model_guard_table(table->guard), &sweep->run.arena, &list, &count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].id, id) == 0 && !list[i].idle &&
            slice_equal(list[i].text, sweep->record.text))
            return &list[i];
    }
    return NULL;
}

static bool load(struct run *run)
{
    struct sweep *sweep = sweep_of(run);
    struct slice id = run->id;
    struct slice name = slice_cut(&id, '/');
    arena_init(&sweep->arena, (size_t)4 * BUNCH_BYTES);
    arena_init(&sweep->scratch, SCRATCH_MEMORY);
    buf_init(&sweep->position, STORE_KEY_MAX);
    run->table = engine_table(run->shop->engine, name);
    bool same = run->table != NULL && slice_equal(run->table->uuid, sweep->record.table_id);
    sweep->rule = same ? rule_of(sweep, run->table, (const char *)id.ptr)
                       : NULL; // which is the end of a text
    sweep->superseded = sweep->rule == NULL;
    if (sweep->superseded)
        return false;
    sweep->record.failure = slice_of(NULL, 0);
    finder_init(&sweep->finder, run->shop->engine, run->table, sweep->rule,
                run->shop->retain->settings.memory);
    sweep->finder.found = found;
    sweep->finder.context = sweep;
    if (sweep->rule->keep == NULL)
        buf_slice(&sweep->finder.after, sweep->record.position);
    return true;
}

// The rule is nobody's any more: so is what is known of it, unless it has a new owner.
static bool forget_if_old(struct record_job *job, struct engine *engine)
{
    struct sweep *sweep = job->context;
    struct slice there;
    arena_reset(&sweep->scratch);
    if (!engine_record(engine, sweep->run.record_name, &sweep->scratch, &there, job->job.error))
        return false;
    bool own = there.len > 0 && slice_equal(map_text(there, "text"), sweep->record.text) &&
               slice_equal(map_text(there, "table_id"), sweep->record.table_id);
    job->count = own ? 1 : 0;
    return true;
}

static void forget(struct sweep *sweep)
{
    struct record_write none = {.name = sweep->run.record_name, .value = VALUE_NONE};
    struct record_edit edit = {
        .decide = forget_if_old, .context = sweep, .count = 1, .writes = &none};
    error_init(&sweep->run.error, &sweep->run.arena);
    if (!work_edit_records(sweep->run.shop, &edit, &sweep->run.error))
        log_warn("the record of %.*s could not be removed: %s", SLICE_FMT(sweep->run.id),
                 sweep->run.error.message);
}

// Queues the walk that the record tells of, behind this one.
static void again(struct run *run)
{
    struct slice id = run->id;
    struct slice table = slice_cut(&id, '/');
    (void)run_start(run->shop, run_new(run->kind, run->id, table));
}

// The model is another one. If it has this very rule, too, the walk goes on by that, from where it
// is; else the rule is forgotten.
static void hand_over(struct sweep *sweep)
{
    struct run *run = &sweep->run;
    struct slice id = run->id;
    struct slice name = slice_cut(&id, '/');
    struct table *now = engine_table(run->shop->engine, name);
    bool goes_on = sweep->rule != NULL && now != NULL &&
                   slice_equal(now->uuid, sweep->record.table_id) &&
                   rule_of(sweep, now, (const char *)id.ptr) != NULL;
    table_release(now);
    if (!goes_on) {
        forget(sweep);
        return;
    }
    run_save(run);
    again(run);
}

static void finish(struct run *run, bool ok)
{
    struct sweep *sweep = sweep_of(run);
    struct retain_record *record = &sweep->record;
    if (sweep->superseded) {
        hand_over(sweep);
        return;
    }
    record->ended_ms = env_now(engine_env(run->shop->engine));
    record->status = ok ? RETAIN_RESTS : RETAIN_FAILED;
    record->done = record->answered;
    record->walks += ok;
    run->shop->retain->walks += ok;
    run->shop->retain->failed += !ok;
    if (ok) {
        record->position = slice_of(NULL, 0);
        if (record->removed + record->left > 0)
            log_info("table %.*s: %s has looked at %lld items and removed %lld",
                     SLICE_FMT(run->table->name), sweep->rule->id, (long long)record->looked,
                     (long long)record->removed);
    } else {
        record->failure = slice_str(run->error.message);
        log_error("table %.*s: %s failed, and will be tried again: %s", SLICE_FMT(run->table->name),
                  sweep->rule->id, run->error.message);
    }
    run_save(run);
    // Somebody has asked for another walk meanwhile. Whoever asked has queued it, but perhaps in a
    // process that was killed since; a run that finds nothing to do ends at once.
    if (record->status == RETAIN_RUNS)
        again(run);
}

static void suspend(struct run *run)
{
    struct sweep *sweep = sweep_of(run);
    if (sweep->superseded || sweep->rule == NULL)
        return;
    if (sweep->count == 0) // nothing was found since the last bunch
        keep_position(sweep, true);
    else
        run_save(run);
}

static void release(struct run *run)
{
    struct sweep *sweep = sweep_of(run);
    if (sweep->rule != NULL)
        finder_release(&sweep->finder);
    free(sweep->items);
    buf_release(&sweep->position);
    arena_release(&sweep->scratch);
    arena_release(&sweep->arena);
}

// On the writer's thread. Somebody may have asked for another walk, which then begins with this
// record; or the rule is another one by now.
static bool save(struct run *run, struct slice there, struct run_saving *saving)
{
    struct sweep *sweep = sweep_of(run);
    struct retain_record *record = &sweep->record;
    struct retain_record now = {.asked = 0};
    if (there.len > 0)
        map_decode(&retain_form, there, &now);
    if (there.len == 0 || !slice_equal(now.text, record->text) ||
        !slice_equal(now.table_id, record->table_id)) {
        saving->count = 0;
        return true;
    }
    record->asked = now.asked;
    if (record->status == RETAIN_RUNS || record->asked == record->answered)
        return true;
    retain_record_begin(record, env_now(engine_env(run->shop->engine)));
    return true;
}

const struct run_kind sweep_kind =
    RUN_KIND("retain", LANE_SWEEP, sweep, record, &retain_form, RETAIN_RUNS, load, perform, finish,
             suspend, release, save);
