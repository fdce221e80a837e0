// See run.h.
#include "work/run.h"

#include "base/hash.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAVE_MEMORY = 64 << 20, SEARCH_MEMORY = 64 << 20 };

// ---- Its life ---------------------------------------------------------------------------------

// The record as it is now. False if it cannot be read, or if there is nothing to do: somebody has
// removed it, or the run has ended already.
static bool read_record(struct run *run, struct slice *record)
{
    *record = VALUE_NONE;
    if (run->record_name.len == 0)
        return true;
    if (!engine_record(run->shop->engine, run->record_name, &run->arena, record, &run->error)) {
        log_error("%s %.*s could not be begun: %s", run->kind->name, SLICE_FMT(run->id),
                  run->error.message);
        return false;
    }
    return record->len > 0 && map_integer(*record, "status") == run->kind->unfinished;
}

static void perform(struct run *run)
{
    struct slice record;
    if (work_stopping(run->shop) || !read_record(run, &record))
        return;
    if (run->kind->form != NULL)
        map_decode(run->kind->form, record, (char *)run + run->kind->record);
    bool ok = (run->kind->load == NULL || run->kind->load(run)) && run->kind->perform(run);
    if (ok || !work_stopping(run->shop))
        run->kind->finish(run, ok);
    else if (run->kind->suspend != NULL)
        run->kind->suspend(run);
}

static void release(struct run *run)
{
    if (run->kind->release != NULL)
        run->kind->release(run);
    table_release(run->table);
    arena_release(&run->arena);
    free(run);
}

static void run_task(struct task *task, struct workshop *shop)
{
    struct run *run = (struct run *)task;
    run->shop = shop;
    perform(run);
    release(run);
}

// ---- Beginning --------------------------------------------------------------------------------

static uint64_t name_of(const struct run_kind *kind, struct slice id)
{
    return hash_of(hash_of(0, slice_str(kind->name)), id);
}

bool run_goes_on(struct workshop *shop, const struct run_kind *kind, struct slice id)
{
    return lane_has(shop, kind->lane, name_of(kind, id));
}

struct run *run_new(const struct run_kind *kind, struct slice id, struct slice subject)
{
    struct run *run = memory_zeroed(kind->size);
    run->kind = kind;
    run->task.run = run_task;
    run->task.lane = kind->lane;
    run->task.name = name_of(kind, id);
    int len = snprintf(run->name, sizeof(run->name), "%s/%.*s", kind->name, SLICE_FMT(id));
    ensure(len > 0 && (size_t)len < sizeof(run->name));
    size_t prefix = (size_t)len - id.len;
    run->id = slice_of(run->name + prefix, id.len);
    run->record_name = kind->form == NULL ? slice_of(NULL, 0) : slice_of(run->name, (size_t)len);
    // A subject is the beginning of the id.
    run->task.subject = slice_of(run->id.ptr, subject.len);
    arena_init(&run->arena, SIZE_MAX);
    error_init(&run->error, &run->arena);
    return run;
}

bool run_start(struct workshop *shop, struct run *run)
{
    run->shop = shop;
    if (lane_submit(shop, &run->task))
        return true;
    release(run);
    return false;
}

bool run_begin(struct workshop *shop, const struct run_kind *kind, struct slice id)
{
    return run_start(shop, run_new(kind, id, slice_of(NULL, 0)));
}

struct resuming {
    struct workshop *shop;
    const struct run_kind *kind;
    size_t prefix;
    bool by_subject;
};

static bool resume_one(void *context, struct slice name, struct slice record)
{
    const struct resuming *resuming = context;
    if (map_integer(record, "status") != resuming->kind->unfinished)
        return true;
    struct slice id = slice_of(name.ptr + resuming->prefix, name.len - resuming->prefix);
    const uint8_t *slash = resuming->by_subject ? memchr(id.ptr, '/', id.len) : NULL;
    size_t subject = !resuming->by_subject ? 0 : slash == NULL ? id.len : (size_t)(slash - id.ptr);
    return run_start(resuming->shop, run_new(resuming->kind, id, slice_of(id.ptr, subject)));
}

void run_resume(struct workshop *shop, const struct run_kind *kind, bool by_subject)
{
    char prefix[64];
    struct arena arena;
    struct error error;
    int len = snprintf(prefix, sizeof(prefix), "%s/", kind->name);
    ensure(len > 0 && (size_t)len < sizeof(prefix));
    struct resuming resuming = {shop, kind, (size_t)len, by_subject};
    arena_init(&arena, SEARCH_MEMORY);
    error_init(&error, &arena);
    if (!engine_records(shop->engine, slice_str(prefix), slice_of(NULL, 0), resume_one, &resuming,
                        &error))
        log_error("unfinished work of the kind '%s' could not be looked for: %s", kind->name,
                  error.message);
    arena_release(&arena);
}

// ---- The record -------------------------------------------------------------------------------

struct decision {
    struct run *run;
    struct run_saving saving;
};

bool run_saving_fill(struct run *run, struct run_saving *saving)
{
    const struct run_kind *kind = run->kind;
    struct slice there;
    saving->count = 1;
    saving->writes[0] = (struct record_write){.name = run->record_name};
    if (!engine_record(run->shop->engine, run->record_name, &saving->arena, &there,
                       saving->error) ||
        (kind->save != NULL && !kind->save(run, there, saving)))
        return false;
    if (saving->count > 0)
        saving->writes[0].value =
            map_encode(kind->form, (char *)run + kind->record, &saving->arena, saving->error);
    return saving->error->code == ERR_NONE;
}

static bool decide(struct record_job *job, struct engine *engine)
{
    struct decision *decision = job->context;
    (void)engine;
    arena_reset(&decision->saving.arena);
    decision->saving.error = job->job.error;
    bool ok = run_saving_fill(decision->run, &decision->saving);
    job->count = decision->saving.count;
    return ok;
}

void run_save(struct run *run)
{
    struct decision decision = {.run = run};
    struct error error;
    struct arena texts; // of the error, which outlives a try
    arena_init(&decision.saving.arena, SAVE_MEMORY);
    arena_init(&texts, SAVE_MEMORY);
    error_init(&error, &texts);
    struct record_edit edit = {
        .decide = decide, .context = &decision, .count = 1, .writes = decision.saving.writes};
    if (!work_edit_records(run->shop, &edit, &error))
        log_error("the state of %s %.*s could not be written: %s", run->kind->name,
                  SLICE_FMT(run->id), error.message);
    arena_release(&texts);
    arena_release(&decision.saving.arena);
}
