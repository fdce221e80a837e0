// DescribeModelReport: what the table's model would refuse if it were enforced, and the lines of
// the model that would accept it. Of what was written under `guard warn`, or (Scan) of what is
// stored.
#include "designs/designs.h"

#include "guard/guard.h"
#include "report/propose.h"

enum { REPORT_MEMORY = 64 << 20, UNMATCHED_KEPT = 4 << 10 };

// ---- Looking at what is stored ------------------------------------------------------------------

// The same model, enforced, and with nothing left alone but what has no guard: who judges by it
// hears of everything. NULL without memory.
static struct guard *strict_guard(const struct model_table *table, struct arena *arena)
{
    struct diagnostics found;
    diagnostics_init(&found, arena);
    struct model *model = model_parse(table->model->file, table->model->text, &found);
    const struct model_table *own = model == NULL ? NULL : model_table(model, table->name);
    if (own == NULL) {
        model_release(model);
        return NULL;
    }
    // Nobody else has this model yet.
    struct model_table *strict = (struct model_table *)(uintptr_t)own;
    strict->guard = MODEL_ENFORCE;
    strict->unmatched = MODEL_REJECT;
    for (size_t i = 0; i < strict->entity_count; i++) {
        struct model_entity *entity = (struct model_entity *)(uintptr_t)&strict->entities[i];
        if (entity->guard == MODEL_WARN)
            entity->guard = MODEL_ENFORCE;
        if (entity->unknown == MODEL_REPORT)
            entity->unknown = MODEL_REJECT;
    }
    struct guard *guard = model_guard_new(model, strict);
    model_release(model);
    return guard;
}

struct scan {
    struct report *report;
    const struct table *table;
    const struct model_table *model; // as it is
    int64_t now_ms;
};

// Whether all that is wrong passes when the model is enforced as it is.
static bool passes(const struct scan *scan, const struct model_violations *what)
{
    if (what->entity.len == 0)
        return scan->model->unmatched != MODEL_REJECT;
    const struct model_entity *entity = model_table_entity(scan->model, what->entity);
    for (size_t i = 0; i < what->count; i++) {
        if (!slice_is(what->list[i].expected, MODEL_EXPECTED_NONE))
            return false;
    }
    return entity != NULL && entity->unknown != MODEL_REJECT;
}

static void on_found(void *context, struct slice item, const struct model_touch *touch)
{
    struct scan *scan = context;
    if (touch->violations == NULL)
        return;
    const struct model_warned warned = {
        .what = touch->violations,
        .passes = passes(scan, touch->violations),
        .item = item.len <= UNMATCHED_KEPT ? item : VALUE_NONE,
    };
    report_add(scan->report, scan->table, scan->model, item, &warned, scan->now_ms);
}

static struct report *scan_report(struct api_call *call, struct table *table, uint64_t most,
                                  struct arena *arena, struct model_look *look)
{
    const struct model_table *model = model_guard_table(table->guard);
    struct guard *guard = strict_guard(model, arena);
    struct scan scan = {.table = table, .model = model};
    if (guard == NULL) {
        (void)error_budget(&call->error);
        return NULL;
    }
    scan.now_ms = env_now(engine_env(call_engine(call)));
    scan.report = report_new(table, scan.now_ms);
    *look = (struct model_look){.found = on_found, .context = &scan};
    bool done = model_look(call_shop(call), table, guard, most, arena, look, &call->error);
    guard_release(guard);
    if (done)
        return scan.report;
    report_free(scan.report);
    return NULL;
}

// ---- The answer -------------------------------------------------------------------------------

static void write_finding(struct json_writer *w, const struct report_finding *one, bool accepted)
{
    json_form(w, "{'Entity':%.*s,'Path':%.*s,'Expected':%.*s,'Count':%lld,'Refused':%hhd",
              SLICE_FMT(one->entity), SLICE_FMT(one->path), SLICE_FMT(one->expected),
              (long long)one->count, !one->passes);
    json_put_time(w, "FirstDateTime", one->first_ms);
    json_put_time(w, "LastDateTime", one->last_ms);
    json_form(w, "'Proposed':%hhd,'Samples':[", accepted);
    for (size_t i = 0; i < one->sample_count; i++) {
        json_form(w, "{'Value':%.*s,'Key':", SLICE_FMT(one->samples[i].text));
        if (one->samples[i].key.len > 0)
            json_item(w, one->samples[i].key);
        else
            json_null(w);
        json_close_object(w);
    }
    json_form(w, "]}");
}

static void write_findings(struct json_writer *w, const struct report *report,
                           const struct proposals *proposals)
{
    bool written[REPORT_FINDINGS] = {false};
    json_put_array(w, "Findings");
    for (size_t i = 0; i < report->count; i++) {
        // Those of the same entity together.
        for (size_t j = i; j < report->count; j++) {
            bool left = false;
            if (written[j] || !slice_equal(report->list[i].entity, report->list[j].entity))
                continue;
            for (size_t k = 0; k < proposals->left_count; k++)
                left = left || proposals->left[k] == j;
            write_finding(w, &report->list[j], !left);
            written[j] = true;
        }
    }
    json_form(w, "],'OtherFindings':%lld,'UnmatchedItems':[", (long long)report->others);
    for (size_t i = 0; i < report->item_count; i++)
        json_item(w, report->items[i].item);
    json_close_array(w);
}

// Lines are proposed one by one: together they need not make a model. An attribute that a key is
// made of cannot become optional, for one.
static bool is_valid(struct slice text)
{
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, REPORT_MEMORY);
    diagnostics_init(&found, &arena);
    struct model *model = model_parse(SLICE_LIT("proposal"), text, &found);
    bool valid = model != NULL;
    model_release(model);
    arena_release(&arena);
    return valid;
}

static void write_proposals(struct json_writer *w, const struct proposals *proposals)
{
    json_put_array(w, "Lines");
    for (size_t i = 0; i < proposals->count; i++) {
        const struct proposal *one = &proposals->list[i];
        json_form(w, "{'At':%zu,'New':%hhd,'Line':%.*s}", (size_t)one->at, one->is_new,
                  SLICE_FMT(one->line));
    }
    json_form(w, "],'Entities':%.*s,'Notes':%.*s,'Model':%.*s,'ModelValid':%hhd",
              SLICE_FMT(proposals->entities), SLICE_FMT(proposals->notes),
              SLICE_FMT(proposals->model), is_valid(proposals->model));
}

static void write_look(struct json_writer *w, const struct model_look *look)
{
    json_form(w, "'Examined':%zu,'Whole':%hhd,'Duplicates':%zu", (size_t)look->examined,
              look->whole, (size_t)look->duplicates);
    model_samples_json(w, "DuplicateSamples", &look->duplicate_samples);
}

static void write_report(struct json_writer *w, const struct table *table,
                         const struct report *report, const struct proposals *proposals)
{
    const struct model_table *model = model_guard_table(table->guard);
    json_form(w, "{'TableName':%.*s,'FileName':%.*s,'Guard':%s,'Unknown':%s,'Unmatched':%s",
              SLICE_FMT(table->name), SLICE_FMT(model->model->file), model_mode_words[model->guard],
              model_leave_words[model->unknown], model_leave_words[model->unmatched]);
    json_put_time(w, "Since", report->since_ms);
    json_form(w, "'Count':%lld,'Refused':%lld,'OfNoEntity':%lld", (long long)report->writes,
              (long long)report->refused, (long long)report->unmatched);
    write_findings(w, report, proposals);
    write_proposals(w, proposals);
}

// ---- The operation ------------------------------------------------------------------------------

static void describe_report(struct api_call *call, const void *decoded)
{
    const struct describe_model_report_request *request = decoded;
    struct table *table = design_table(call, request->table_name);
    struct model_look look = {.whole = false};
    struct arena arena;
    if (table == NULL)
        return;
    arena_init(&arena, REPORT_MEMORY);
    struct proposals *proposals = arena_zalloc(&arena, 1, sizeof(*proposals));
    uint64_t most = request->sample.set ? (uint64_t)request->sample.value : 0;
    struct report *report = request->scan.value ? scan_report(call, table, most, &arena, &look)
                                                : report_read(call_shop(call), table, &call->error);
    if (report != NULL &&
        (proposals == NULL ||
         !report_propose(report, model_guard_table(table->guard), &arena, proposals)))
        (void)error_budget(&call->error);
    if (report != NULL && call->error.code == ERR_NONE) {
        struct json_writer w = call_writer(call);
        write_report(&w, table, report, proposals);
        if (request->scan.value)
            write_look(&w, &look);
        json_close_object(&w);
    }
    if (request->forget.value && call->error.code == ERR_NONE &&
        !report_forget(call_shop(call), table, &call->error))
        ensure(call->error.code != ERR_NONE);
    report_free(report);
    arena_release(&arena);
}

// A report that is being kept is waited for, and a proposal is parsed as a whole model: neither is
// for a loop.
enum step describe_model_report_start(struct api_call *call, const void *decoded)
{
    const struct describe_model_report_request *request = decoded;
    return call_later(call, request->scan.value ? LANE_LOOK : LANE_REPORT, describe_report);
}
