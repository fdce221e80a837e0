// What the operations on exports, imports and bulk operations share: finding the one that is meant,
// and judging where things are to go.
#include "history/exchange_call.h"

#include "transfer/files.h"

// What stands behind the last slash.
static struct slice last_part(struct slice arn)
{
    const uint8_t *slash = arn.len == 0 ? NULL : memrchr(arn.ptr, '/', arn.len);
    if (slash == NULL)
        return arn;
    return slice_of(slash + 1, (size_t)(arn.ptr + arn.len - slash - 1));
}

bool call_exchange(struct api_call *call, const char *kind, struct slice arn, struct slice *record)
{
    *record = VALUE_NONE;
    struct slice id = last_part(arn);
    struct slice found;
    struct exchange base;
    if (id.len >= EXPORT_ID_MAX)
        return true;
    struct slice name = exchange_name(&call->arena, kind, id);
    if (name.ptr == NULL)
        return error_budget(&call->error);
    if (!engine_record(call_engine(call), name, &call->arena, &found, &call->error))
        return false;
    if (found.len == 0)
        return true;
    map_decode(&exchange_form, found, &base);
    struct slice own = exchange_arn(&call->arena, &base, kind);
    if (own.ptr == NULL)
        return error_budget(&call->error);
    if (slice_equal(own, arn))
        *record = found;
    return true;
}

bool call_exchange_init(struct api_call *call, struct exchange *base, const struct slice *parts,
                        size_t count)
{
    char id[EXPORT_ID_MAX];
    base->started_ms = env_now(engine_env(call_engine(call)));
    export_id(engine_env(call_engine(call)), base->started_ms, id);
    base->id = arena_copy(&call->arena, slice_str(id));
    base->region = call->region;
    base->digest = exchange_digest(&call->arena, parts, count);
    return (base->id.ptr != NULL && base->digest.ptr != NULL) || error_budget(&call->error);
}

enum step call_exchange_submit(struct api_call *call, const char *kind, struct slice id,
                               struct slice record,
                               bool (*decide)(struct record_job *job, struct engine *engine),
                               void *context)
{
    struct record_job *job = call_record_job(call, 1);
    struct slice name = exchange_name(&call->arena, kind, id);
    if (job == NULL || record.len == 0)
        return STEP_FAILED;
    if (name.ptr == NULL)
        return step_failed(error_budget(&call->error));
    job->writes[0] = (struct record_write){.name = name, .value = record};
    job->decide = decide;
    job->context = call->state->own = context;
    return call_submit(call);
}

static bool list_one(void *context, struct slice name, struct slice record)
{
    struct exchange_list *list = context;
    (void)name;
    struct slice id = map_text(record, "id");
    if (list->table.len > 0 && !slice_equal(map_text(record, "table"), list->table))
        return true;
    list->more = list->count++ == list->limit;
    if (list->more)
        return false;
    list->write(&list->w, list->arena, record);
    ensure(id.len < sizeof(list->last));
    memcpy(list->last, id.ptr, id.len);
    list->last[id.len] = 0;
    return true;
}

bool call_exchange_list(struct api_call *call, struct exchange_list *list)
{
    struct slice prefix = exchange_name(&call->arena, list->kind, slice_of(NULL, 0));
    struct slice after = {NULL, 0};
    if (list->after.len > 0)
        after = exchange_name(&call->arena, list->kind, list->after);
    list->w = call_open(call);
    list->arena = &call->arena;
    json_put_array(&list->w, list->member);
    bool ok = engine_records(call_engine(call), prefix, after, list_one, list, &call->error);
    json_close_array(&list->w);
    return ok;
}

bool call_past_settings(struct api_call *call, const struct table *table,
                        struct table_settings *out)
{
    table_settings_read(table, out);
    return out->pitr_days != 0 ||
           error_set(&call->error, ERR_PITR_UNAVAILABLE,
                     "Point in time recovery is not enabled for table '%.*s'",
                     SLICE_FMT(table->name));
}

bool call_table_name(struct api_call *call, struct slice arn, struct slice *name)
{
    *name = table_name_plain(arn);
    return name->ptr != arn.ptr ||
           error_validation(&call->error,
                            "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                            SLICE_FMT(arn));
}

bool call_check_place(struct api_call *call, struct slice prefix)
{
    if (call_shop(call)->bucket_root == NULL)
        return error_validation(&call->error,
                                "S3 buckets are directories here, and this server has no place for "
                                "them: start it with --bucket-root, or with --data");
    while (prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    return prefix.len == 0 || files_key_safe(prefix) ||
           error_validation(&call->error, "S3 prefix is not a path below the bucket: %.*s",
                            SLICE_FMT(prefix));
}
