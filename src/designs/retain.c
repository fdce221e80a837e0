// SweepTable, ListArchives, and what DescribeModel says of the rules that remove items.
#include "designs/designs.h"

#include "retain/archive.h"
#include "retain/retain.h"

static const char *const statuses[] = {"IDLE", "RUNNING", "FAILED"};

// ---- Rules ------------------------------------------------------------------------------------

static void rule_json(struct api_call *call, struct json_writer *w, const struct retain_rule *rule,
                      const struct retain_record *record)
{
    bool known = slice_equal(record->text, rule->text);
    struct retain_record nothing = {.walks = 0};
    const struct retain_record *r = known ? record : &nothing;
    json_form(w, "{'RuleName':%s,'Rule':%.*s,'Entity':%.*s,'Then':%s,'Status':%s", rule->id,
              SLICE_FMT(rule->text), SLICE_FMT(rule->entity->name),
              rule->fate == MODEL_ARCHIVE ? "archive" : "delete",
              rule->idle ? "OFF" : statuses[r->status]);
    json_form(w, "'Looked':%lld,'Found':%lld,'Removed':%lld,'Archived':%lld,'Left':%lld",
              (long long)r->looked, (long long)r->found, (long long)r->removed,
              (long long)r->archived, (long long)r->left);
    json_form(w, "'Walks':%lld,'TotalRemoved':%lld,'TotalArchived':%lld", (long long)r->walks,
              (long long)r->all_removed, (long long)r->all_archived);
    json_form(w, "'Asked':%lld,'Answered':%lld", (long long)r->asked, (long long)r->done);
    json_put_given_time(w, "StartDateTime", r->started_ms);
    json_put_given_time(w, "EndDateTime", r->ended_ms);
    if (!rule->idle && r->status != RETAIN_RUNS && r->started_ms > 0)
        json_put_given_time(w, "NextDateTime", retain_next_ms(call_shop(call), r));
    if (r->failure.len > 0)
        json_put_string(w, "Failure", r->failure);
    if (r->archive.len > 0)
        json_put_string(w, "LastArchive", r->archive);
    json_close_object(w);
}

bool sweeps_json(struct api_call *call, struct json_writer *w, const struct table *table)
{
    struct retain_rule *rules;
    size_t count;
    if (!retain_rules(model_guard_table(table->guard), &call->arena, &rules, &count))
        return error_budget(&call->error);
    if (count == 0)
        return true;
    json_put_array(w, "Sweeps");
    for (size_t i = 0; i < count; i++) {
        struct retain_record record;
        if (!retain_record_read(call_engine(call), table, rules[i].id, &call->arena, &record,
                                &call->error))
            return false;
        rule_json(call, w, &rules[i], &record);
    }
    json_close_array(w);
    return true;
}

// ---- SweepTable -------------------------------------------------------------------------------

static void run_sweep(struct api_call *call, const void *decoded)
{
    const struct model_table_request *request = decoded;
    struct table *table = design_table(call, request->table_name);
    if (table == NULL)
        return;
    if (!retain_begin(call_shop(call), table->name, &call->error))
        return;
    struct json_writer w = call_writer(call);
    json_form(&w, "{'TableName':%.*s", SLICE_FMT(table->name));
    if (sweeps_json(call, &w, table))
        json_close_object(&w);
}

enum step sweep_table_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, run_sweep);
}

// ---- ListArchives -----------------------------------------------------------------------------

static void archive_json(struct api_call *call, struct json_writer *w, const char *root,
                         const struct archive_entry *entry, bool verify)
{
    struct error error;
    error_init(&error, &call->arena);
    json_form(w,
              "{'TableName':%.*s,'RuleName':%.*s,'Date':%.*s,'Path':%s,'Items':%lld,"
              "'Bytes':%lld",
              SLICE_FMT(entry->table), SLICE_FMT(entry->rule), SLICE_FMT(entry->date), entry->path,
              (long long)entry->items, (long long)entry->bytes);
    if (verify && !archive_check(root, entry->path, &error))
        json_put_text(w, "Damage", error.message);
    json_close_object(w);
}

static void run_archives(struct api_call *call, const void *decoded)
{
    const struct list_archives_request *request = decoded;
    const char *root = retain_archive_root(call_shop(call));
    struct archive_entry *list = NULL;
    size_t count = 0;
    if (root != NULL &&
        !archives_list(root, request->table_name, &call->arena, &list, &count, &call->error))
        return;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    if (root != NULL)
        json_put_text(&w, "Directory", root);
    json_put_array(&w, "Archives");
    for (size_t i = 0; i < count && work_goes_on(call_shop(call), &call->error); i++)
        archive_json(call, &w, root, &list[i], request->verify.value);
    json_close_array(&w);
    json_close_object(&w);
}

enum step list_archives_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, run_archives);
}
