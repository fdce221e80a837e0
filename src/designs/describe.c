// DescribeModel, ListModels and ListModelVersions.
#include "designs/designs.h"

static const char *const statuses[] = {"ACTIVE", "APPLYING", "FAILED"};
static const char *const phases[] = {"INDEXES", "ITEMS", "DONE", "CLAIMS"};

struct slice model_digest(struct slice text_name)
{
    size_t prefix = sizeof("model/text/") - 1;
    return text_name.len < prefix ? text_name
                                  : slice_of(text_name.ptr + prefix, text_name.len - prefix);
}

// ---- DescribeModel ----------------------------------------------------------------------------

void model_progress_json(struct json_writer *w, const struct model_progress *progress)
{
    if (progress->rate > 0)
        json_put_integer(w, "Rate", progress->rate);
    json_put_given_time(w, "StartDateTime", progress->started_ms);
    json_put_given_time(w, "EndDateTime", progress->ended_ms);
    if (progress->failure.len > 0)
        json_put_string(w, "Failure", progress->failure);
}

static void progress_json(struct json_writer *w, const struct model_work *work, int64_t now_ms)
{
    int64_t done = work->progress.done - work->progress.items_before;
    int64_t ms = now_ms - work->progress.items_ms;
    int64_t left = work->progress.total - work->progress.done;
    bool moving = work->status == MODEL_APPLYING && work->phase != MODEL_PHASE_INDEXES && ms > 0;
    json_put_object(w, "Progress");
    json_put_text(w, "Phase", phases[work->phase]);
    json_put_integer(w, "Done", work->progress.done);
    json_put_integer(w, "Total", work->progress.total);
    json_put_integer(w, "Written", work->written);
    json_put_integer(w, "Violations", work->violations);
    if (moving && done > 0) {
        json_put_integer(w, "ItemsPerSecond", done * 1000 / ms);
        json_put_integer(w, "SecondsLeft", left > 0 ? left * ms / done / 1000 : 0);
    }
    model_progress_json(w, &work->progress);
    if (work->progress.samples.count > 0)
        model_samples_json(w, "ViolationSamples", &work->progress.samples);
    json_close_object(w);
}

static void contents_json(struct json_writer *w, const struct model_table *model)
{
    json_put_text(w, "Guard", model_mode_name(model->guard));
    json_put_text(w, "Unknown", model_leave_name(model->unknown));
    json_put_text(w, "Unmatched", model_leave_name(model->unmatched));
    json_put_array(w, "Entities");
    for (size_t i = 0; i < model->entity_count; i++)
        json_string(w, model->entities[i].name);
    json_close_array(w);
    json_put_array(w, "AccessPatterns");
    for (size_t i = 0; i < model->access_count; i++)
        json_string(w, model->accesses[i].name);
    json_close_array(w);
}

// The rules that are being counted from items that were there before them.
static void counting_json(struct api_call *call, struct json_writer *w, const struct table *table)
{
    if (table->pending_count == 0)
        return;
    json_put_array(w, "Counting");
    for (size_t i = 0; i < table->pending_count; i++) {
        const struct table_pending *pending = &table->pendings[i];
        bool sources = pending->phase == PENDING_SOURCES;
        struct table *walked =
            engine_table(call_engine(call), sources ? pending->source : table->name);
        json_open_object(w);
        json_put_string(w, "Rule", pending->rule);
        json_put_text(w, "Phase", sources ? "SOURCES" : "TARGETS");
        json_put_integer(w, "Done", pending->done);
        json_put_integer(w, "Total", walked == NULL ? 0 : walked->stats->items);
        json_close_object(w);
        if (walked != NULL)
            table_release(walked);
    }
    json_close_array(w);
}

// The model that the table is about to get, or should have got.
static bool is_gathering(const struct model_work *work)
{
    return work->version != 0 && work->phase == MODEL_PHASE_CLAIMS;
}

static const char *status_of(const struct table *table, const struct model_work *work)
{
    if (table->guard == NULL && !is_gathering(work))
        return "FAILED"; // its text cannot be read
    if (table->pending_count > 0 && (work->version == 0 || work->status == MODEL_ACTIVE))
        return statuses[MODEL_APPLYING]; // its rules are being counted
    return statuses[work->version == 0 ? MODEL_ACTIVE : work->status];
}

// What both operations tell of a table's model; opens the object.
static bool model_json(struct api_call *call, struct json_writer *w, const struct table *table,
                       const struct model_work *work)
{
    struct model_version version;
    if (!model_version_last(call_engine(call), table, &call->arena, &version, &call->error))
        return false;
    json_open_object(w);
    json_put_string(w, "TableName", table->name);
    if (table->model.len > 0) {
        json_put_integer(w, "Version", version.number);
        json_put_string(w, "Digest", model_digest(table->model));
        json_put_string(w, "FileName", version.file);
        json_put_time(w, "AttachedDateTime", version.time_ms);
    }
    if (is_gathering(work)) {
        json_put_string(w, "NextDigest", model_digest(work->text));
        json_put_string(w, "NextFileName", work->file);
    }
    json_put_text(w, "Status", status_of(table, work));
    return true;
}

static void version_members(struct json_writer *w, const struct model_version *version)
{
    json_put_integer(w, "Version", version->number);
    json_put_time(w, "DateTime", version->time_ms);
    json_put_string(w, "Action", version->did);
    if (version->text.len > 0)
        json_put_string(w, "Digest", model_digest(version->text));
    if (version->file.len > 0)
        json_put_string(w, "FileName", version->file);
    if (version->previous > 0)
        json_put_integer(w, "Previous", version->previous);
}

// One entry of the history, with its text.
struct table *design_table(struct api_call *call, struct slice name)
{
    struct table *table = call_own_table(call, name);
    if (table == NULL || table->guard != NULL)
        return table;
    (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Table %.*s has no model.",
                    SLICE_FMT(table->name));
    return NULL;
}

static bool describe_version(struct api_call *call, const struct table *table, int64_t number)
{
    struct model_version version;
    struct slice file;
    struct slice text;
    struct json_writer w = call_writer(call);
    if (!model_version_get(call_engine(call), table, number, &call->arena, &version, &call->error))
        return false;
    if (version.number == 0)
        return error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                         "The model of table %.*s has no version %lld: see ListModelVersions.",
                         SLICE_FMT(table->name), (long long)number);
    json_form(&w, "{'TableName':%.*s", SLICE_FMT(table->name));
    version_members(&w, &version);
    if (version.text.len > 0 &&
        model_record_read(call_engine(call), version.text, &call->arena, &file, &text))
        json_put_string(&w, "Model", text);
    json_close_object(&w);
    return true;
}

enum step describe_model_start(struct api_call *call, const void *decoded)
{
    const struct describe_model_request *request = decoded;
    struct model_work work;
    struct slice file;
    struct slice text;
    struct json_writer w = call_writer(call);
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL ||
        !model_work_read(call_engine(call), table, &call->arena, &work, &call->error))
        return STEP_FAILED;
    // The work may have ended, and attached the model, since the table was looked up.
    if (table->model.len == 0 && !is_gathering(&work))
        table = call_own_table(call, request->table_name);
    if (table == NULL)
        return STEP_FAILED;
    if (request->version.set)
        return describe_version(call, table, request->version.value) ? STEP_READY : STEP_FAILED;
    if (table->model.len == 0 && !is_gathering(&work))
        return step_failed(error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                                     "Table %.*s has no model.", SLICE_FMT(table->name)));
    if (!model_json(call, &w, table, &work))
        return STEP_FAILED;
    if (work.version != 0)
        progress_json(&w, &work, env_now(engine_env(call_engine(call))));
    counting_json(call, &w, table);
    if (table->guard != NULL)
        contents_json(&w, model_guard_table(table->guard));
    if (table->guard != NULL && !sweeps_json(call, &w, table))
        return STEP_FAILED;
    if (model_record_read(call_engine(call), table->model, &call->arena, &file, &text))
        json_put_string(&w, "Model", text);
    json_close_object(&w);
    return STEP_READY;
}

// ---- ListModels -------------------------------------------------------------------------------

static bool list_one(struct api_call *call, struct json_writer *w, const struct table *table)
{
    struct model_work work;
    if (!model_work_read(call_engine(call), table, &call->arena, &work, &call->error) ||
        !model_json(call, w, table, &work))
        return false;
    json_close_object(w);
    return true;
}

enum step list_models_start(struct api_call *call, const void *decoded)
{
    struct table_walk walk;
    const struct table *table;
    struct json_writer w = call_writer(call);
    bool ok = true;
    (void)decoded;
    json_open_object(&w);
    json_put_array(&w, "Models");
    table_walk_init(&walk, call_engine(call), slice_of(NULL, 0));
    while (ok && (table = table_walk_next(&walk)) != NULL)
        if (table->model.len > 0 && !table_name_hidden(table->name))
            ok = list_one(call, &w, table);
    table_walk_release(&walk);
    json_close_array(&w);
    int64_t total = call->api->shop.look_total;
    if (total > 0)
        json_form(&w, "'Looking':{'Done':%lld,'Total':%lld}", (long long)call->api->shop.look_done,
                  (long long)total);
    json_close_object(&w);
    return ok ? STEP_READY : STEP_FAILED;
}

// ---- ListModelVersions ------------------------------------------------------------------------

static void version_json(void *context, const struct model_version *version)
{
    struct json_writer *w = context;
    json_open_object(w);
    version_members(w, version);
    json_close_object(w);
}

enum step list_model_versions_start(struct api_call *call, const void *decoded)
{
    const struct model_table_request *request = decoded;
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL)
        return STEP_FAILED;
    struct json_writer w = call_writer(call);
    json_form(&w, "{'TableName':%.*s,'Versions':[", SLICE_FMT(table->name));
    bool ok = model_versions(call_engine(call), table, version_json, &w, &call->error);
    json_close_array(&w);
    json_close_object(&w);
    return ok ? STEP_READY : STEP_FAILED;
}
