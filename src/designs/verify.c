// VerifyDatabase: the one verification that runs beside the requests, and asking for it.
#include "designs/verify.h"

#include "base/wait.h"
#include "call/table_ops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ASK_AGAIN_MS = 30000, // a client asks several times a second
    NAP_MAX_MS = 50,
    DIFFERENCES = 100, // described unless the request says otherwise
    DIFFERENCES_MAX = 10000,
};

enum run_status { RUN_RUNNING, RUN_COMPLETE, RUN_STOPPED };

struct verification {
    pthread_mutex_t lock; // of everything but what is the run's
    bool exists;          // there is or was a run; else the rest means nothing
    enum run_status status;
    bool stop; // it is to end
    char id[37];
    char table[LIMIT_TABLE_NAME_MAX + 1]; // or ""
    int64_t asked_ms;                     // when it was last asked for
    int64_t slice_ms;                     // the run's: when this slice began
    struct verify_report report;
};

struct verification *verification_new(void)
{
    struct verification *run = calloc(1, sizeof(*run));
    ensure(run != NULL);
    ensure(pthread_mutex_init(&run->lock, NULL) == 0);
    return run;
}

void verification_free(struct verification *run)
{
    if (run->exists)
        verify_report_release(&run->report);
    ensure(pthread_mutex_destroy(&run->lock) == 0);
    free(run);
}

// ---- Running ----------------------------------------------------------------------------------

struct verify_task {
    struct task task; // first
    struct workshop *shop;
    struct verification *run;
};

static void note_difference(void *context, const struct verify_difference *difference)
{
    struct verification *run = ((struct verify_task *)context)->run;
    ensure(pthread_mutex_lock(&run->lock) == 0);
    verify_report_difference(&run->report, difference);
    ensure(pthread_mutex_unlock(&run->lock) == 0);
}

static void note_outcome(void *context, const struct verify_outcome *outcome)
{
    struct verification *run = ((struct verify_task *)context)->run;
    ensure(pthread_mutex_lock(&run->lock) == 0);
    verify_report_outcome(&run->report, outcome);
    ensure(pthread_mutex_unlock(&run->lock) == 0);
}

// After each slice it rests for as long as the slice took: requests have the processor first.
static bool note_progress(void *context, const struct verify_progress *progress)
{
    struct verify_task *task = context;
    struct verification *run = task->run;
    int64_t now = monotonic_ms();
    ensure(pthread_mutex_lock(&run->lock) == 0);
    run->report.progress = *progress;
    buf_clear(&run->report.table);
    buf_slice(&run->report.table, progress->table);
    bool wanted = !run->stop && now - run->asked_ms < ASK_AGAIN_MS;
    ensure(pthread_mutex_unlock(&run->lock) == 0);
    int64_t nap = now - run->slice_ms < NAP_MAX_MS ? now - run->slice_ms : NAP_MAX_MS;
    if (nap > 0)
        sleep_ms(nap);
    run->slice_ms = monotonic_ms();
    return wanted && !work_hurried(task->shop);
}

static void run_verification(struct task *base, struct workshop *shop)
{
    struct verify_task *task = (struct verify_task *)base;
    struct verification *run = task->run;
    const struct verify_watcher watcher = {task, note_difference, note_outcome, note_progress};
    const struct verify_options options = {
        .table = slice_str(run->table), .knowledge = &verify_knowledge, .watcher = &watcher};
    run->slice_ms = monotonic_ms();
    bool whole = engine_verify(shop->engine, &options);
    ensure(pthread_mutex_lock(&run->lock) == 0);
    run->status = whole ? RUN_COMPLETE : RUN_STOPPED;
    ensure(pthread_mutex_unlock(&run->lock) == 0);
    free(task);
}

// ---- Asking -----------------------------------------------------------------------------------

// With the lock. False with the error set.
static bool begin(struct api_call *call, struct verification *run, struct slice table,
                  const struct verify_database_request *request)
{
    struct api *api = call->api;
    if (run->exists && run->status == RUN_RUNNING)
        return error_set(&call->error, ERR_LIMIT_EXCEEDED,
                         "A verification is running already; it ends by itself %d seconds after "
                         "its client has gone.",
                         ASK_AGAIN_MS / 1000);
    struct verify_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL);
    *task = (struct verify_task){
        .task = {.lane = LANE_VERIFY, .run = run_verification}, .shop = &api->shop, .run = run};
    if (run->exists)
        verify_report_release(&run->report);
    run->exists = true;
    run->status = RUN_RUNNING;
    run->stop = false;
    run->asked_ms = monotonic_ms();
    env_uuid(&api->env, run->id);
    (void)snprintf(run->table, sizeof(run->table), "%.*s", SLICE_FMT(table));
    verify_report_init(&run->report,
                       request->limit.set ? (uint64_t)request->limit.value : DIFFERENCES);
    // The lane takes the lock later than this.
    if (lane_submit(&api->shop, &task->task))
        return true;
    free(task);
    run->status = RUN_STOPPED;
    return error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping.");
}

static bool ask(struct api_call *call, struct verification *run,
                const struct verify_database_request *request)
{
    if (!run->exists || !slice_equal(slice_str(run->id), request->run_id))
        return error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                         "There is no verification with this RunId.");
    run->asked_ms = monotonic_ms();
    run->stop = run->stop || (request->stop.set && request->stop.value);
    return true;
}

static void respond(struct api_call *call, const struct verification *run)
{
    static const char *const statuses[] = {"RUNNING", "COMPLETE", "STOPPED"};
    struct json_writer w = call_writer(call);
    json_form(&w, "{'RunId':%s,'Status':%s,'Progress':{", run->id, statuses[run->status]);
    if (run->report.table.len > 0)
        json_put_string(&w, "Table", buf_view(&run->report.table));
    json_put_integer(&w, "Done", (int64_t)run->report.progress.done);
    json_put_integer(&w, "Total", (int64_t)run->report.progress.total);
    json_close_object(&w);
    if (run->status != RUN_RUNNING)
        verify_report_write(&run->report, &w);
    json_close_object(&w);
}

enum step verify_database_start(struct api_call *call, const void *request)
{
    const struct verify_database_request *wanted = request;
    struct verification *run = call->api->verification;
    struct table *table = NULL;
    if (wanted->limit.set && (wanted->limit.value < 1 || wanted->limit.value > DIFFERENCES_MAX)) {
        (void)error_validation(&call->error, "Limit must be from 1 to %d.", DIFFERENCES_MAX);
        return STEP_FAILED;
    }
    if (wanted->table_name.len > 0 && (table = call_any_table(call, wanted->table_name)) == NULL)
        return STEP_FAILED;
    ensure(pthread_mutex_lock(&run->lock) == 0);
    bool ok = wanted->run_id.len > 0
                  ? ask(call, run, wanted)
                  : begin(call, run, table == NULL ? slice_of(NULL, 0) : table->name, wanted);
    if (ok)
        respond(call, run);
    ensure(pthread_mutex_unlock(&run->lock) == 0);
    return ok ? STEP_READY : STEP_FAILED;
}
