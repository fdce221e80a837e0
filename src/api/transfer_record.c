// The records of exports and imports: encoding, names, ARNs, tokens.
#include "api/transfer.h"

#include "transfer/files.h"

#include <stdio.h>

static const int64_t token_ms = 8LL * 3600 * 1000;

// ---- As M values ------------------------------------------------------------------

void work_put(struct map_maker *maker, const struct work *work)
{
    map_put_text(maker, "id", work->id);
    map_put_text(maker, "table", work->table);
    map_put_text(maker, "table_id", work->table_id);
    map_put_text(maker, "region", work->region);
    map_put_text(maker, "token", work->token);
    map_put_text(maker, "digest", work->digest);
    map_put_integer(maker, "status", work->status);
    map_put_integer(maker, "started", work->started_ms);
    map_put_integer(maker, "ended", work->ended_ms);
    map_put_text(maker, "failure_code", work->failure_code);
    map_put_text(maker, "failure", work->failure_message);
    map_put_text(maker, "bucket", work->bucket);
    map_put_text(maker, "owner", work->owner);
    map_put_text(maker, "prefix", work->prefix);
}

void work_get(struct slice record, struct work *out)
{
    *out = (struct work){
        .id = map_text(record, "id"),
        .table = map_text(record, "table"),
        .table_id = map_text(record, "table_id"),
        .region = map_text(record, "region"),
        .token = map_text(record, "token"),
        .digest = map_text(record, "digest"),
        .status = (enum work_status)map_integer(record, "status"),
        .started_ms = map_integer(record, "started"),
        .ended_ms = map_integer(record, "ended"),
        .failure_code = map_text(record, "failure_code"),
        .failure_message = map_text(record, "failure"),
        .bucket = map_text(record, "bucket"),
        .owner = map_text(record, "owner"),
        .prefix = map_text(record, "prefix"),
    };
}

struct slice export_encode(const struct export_work *work, struct arena *arena, struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    work_put(&maker, &work->work);
    map_put_flag(&maker, "incremental", work->incremental);
    map_put_flag(&maker, "ion", work->ion);
    map_put_flag(&maker, "old_images", work->old_images);
    map_put_integer(&maker, "at", work->at_ms);
    map_put_integer(&maker, "from", work->from_ms);
    map_put_integer(&maker, "to", work->to_ms);
    map_put_text(&maker, "sse_algorithm", work->sse_algorithm);
    map_put_text(&maker, "sse_key", work->sse_key);
    if (work->filter.len > 0)
        map_put_value(&maker, SLICE_LIT("filter"), work->filter);
    map_put_integer(&maker, "billed", work->billed_bytes);
    map_put_integer(&maker, "items", work->items);
    return map_end(&maker, arena, error);
}

void export_decode(struct slice record, struct export_work *out)
{
    *out = (struct export_work){
        .incremental = map_flag(record, "incremental"),
        .ion = map_flag(record, "ion"),
        .old_images = map_flag(record, "old_images"),
        .at_ms = map_integer(record, "at"),
        .from_ms = map_integer(record, "from"),
        .to_ms = map_integer(record, "to"),
        .sse_algorithm = map_text(record, "sse_algorithm"),
        .sse_key = map_text(record, "sse_key"),
        .filter = map_value(record, SLICE_LIT("filter")),
        .billed_bytes = map_integer(record, "billed"),
        .items = map_integer(record, "items"),
    };
    work_get(record, &out->work);
}

struct slice import_encode(const struct import_work *work, struct arena *arena, struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    work_put(&maker, &work->work);
    map_put_text(&maker, "format", work->format);
    map_put_text(&maker, "compression", work->compression);
    map_put_text(&maker, "delimiter", work->delimiter);
    if (work->header.len > 0)
        map_put_value(&maker, SLICE_LIT("header"), work->header);
    map_put_text(&maker, "options", work->options);
    map_put_text(&maker, "creation", work->creation);
    map_put_integer(&maker, "errors", work->errors);
    map_put_integer(&maker, "bytes", work->processed_bytes);
    map_put_integer(&maker, "processed", work->processed_items);
    map_put_integer(&maker, "imported", work->imported_items);
    return map_end(&maker, arena, error);
}

void import_decode(struct slice record, struct import_work *out)
{
    *out = (struct import_work){
        .format = map_text(record, "format"),
        .compression = map_text(record, "compression"),
        .delimiter = map_text(record, "delimiter"),
        .header = map_value(record, SLICE_LIT("header")),
        .options = map_text(record, "options"),
        .creation = map_text(record, "creation"),
        .errors = map_integer(record, "errors"),
        .processed_bytes = map_integer(record, "bytes"),
        .processed_items = map_integer(record, "processed"),
        .imported_items = map_integer(record, "imported"),
    };
    work_get(record, &out->work);
}

// ---- Names ------------------------------------------------------------------------

static struct slice printed(char *text)
{
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

struct slice work_name(struct arena *arena, const char *kind, struct slice id)
{
    return printed(arena_printf(arena, "%s/%.*s", kind, SLICE_FMT(id)));
}

struct slice work_arn(struct arena *arena, const struct work *work, const char *kind)
{
    if (kind == NULL)
        return printed(arena_printf(arena, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s",
                                    SLICE_FMT(work->region), SLICE_FMT(work->table)));
    return printed(arena_printf(arena, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s/%s/%.*s",
                                SLICE_FMT(work->region), SLICE_FMT(work->table), kind,
                                SLICE_FMT(work->id)));
}

// What stands behind the last slash.
static struct slice last_part(struct slice arn)
{
    const uint8_t *slash = arn.len == 0 ? NULL : memrchr(arn.ptr, '/', arn.len);
    if (slash == NULL)
        return arn;
    return slice_of(slash + 1, (size_t)(arn.ptr + arn.len - slash - 1));
}

bool work_find(struct api_call *call, const char *kind, struct slice arn, struct slice *record)
{
    *record = VALUE_NONE;
    struct slice id = last_part(arn);
    struct slice found;
    struct work work;
    if (id.len >= EXPORT_ID_MAX)
        return true;
    struct slice name = work_name(&call->arena, kind, id);
    if (name.ptr == NULL)
        return error_budget(&call->error);
    if (!engine_record(call_engine(call), name, &call->arena, &found, &call->error))
        return false;
    if (found.len == 0)
        return true;
    work_get(found, &work);
    struct slice own = work_arn(&call->arena, &work, kind);
    if (own.ptr == NULL)
        return error_budget(&call->error);
    if (slice_equal(own, arn))
        *record = found;
    return true;
}

struct token_search {
    struct slice token;
    int64_t since_ms;
    struct arena *arena;
    struct slice found;
};

static bool match_token(void *context, struct slice name, struct slice record)
{
    struct token_search *search = context;
    (void)name;
    struct work work;
    work_get(record, &work);
    if (work.started_ms < search->since_ms || !slice_equal(work.token, search->token))
        return true;
    search->found = arena_copy(search->arena, record);
    return false;
}

bool work_by_token(struct engine *engine, const char *kind, struct slice token, int64_t now_ms,
                   struct arena *arena, struct slice *record, struct error *error)
{
    *record = VALUE_NONE;
    if (token.len == 0)
        return true;
    struct token_search search = {
        .token = token, .since_ms = now_ms - token_ms, .arena = arena, .found = VALUE_NONE};
    struct slice prefix = work_name(arena, kind, slice_of(NULL, 0));
    // Ids begin with the time: older ones need no look.
    char first[EXPORT_ID_MAX];
    (void)snprintf(first, sizeof(first), "%014lld",
                   (long long)(search.since_ms > 0 ? search.since_ms - 1 : 0));
    struct slice after = work_name(arena, kind, slice_str(first));
    if (prefix.ptr == NULL || after.ptr == NULL)
        return error_budget(error);
    if (!engine_records(engine, prefix, after, match_token, &search, error))
        return false;
    *record = search.found;
    return true;
}

bool work_write(struct api *api, const char *kind, struct slice id, struct slice value,
                struct error *error)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%s/%.*s", kind, SLICE_FMT(id));
    struct record_write write = {.name = slice_str(text), .value = value};
    struct background_patience patience = {.tries = 0};
    bool ok;
    if (value.len == 0)
        return false;
    do {
        struct record_job job;
        record_job_init(&job, error);
        job.count = 1;
        job.writes = &write;
        ok = engine_run(api->engine, &job.job);
    } while (!ok && background_retry(api, &patience, error));
    return ok;
}

struct slice work_digest(struct arena *arena, const struct slice *parts, size_t count)
{
    struct buf all;
    buf_init(&all, 1 << 24);
    for (size_t i = 0; i < count; i++) {
        buf_u64(&all, parts[i].len);
        buf_byte(&all, ':');
        buf_slice(&all, parts[i]);
    }
    uint8_t digest[32];
    sha256_of(buf_view(&all), digest);
    buf_clear(&all);
    for (size_t i = 0; i < 16; i++)
        buf_printf(&all, "%02x", digest[i]);
    struct slice copy = arena_copy(arena, buf_view(&all));
    buf_release(&all);
    return copy;
}

// ---- Requests ---------------------------------------------------------------------

bool work_table_name(struct api_call *call, struct slice arn, struct slice *name)
{
    *name = table_name_plain(arn);
    return name->ptr != arn.ptr ||
           error_validation(&call->error,
                            "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                            SLICE_FMT(arn));
}

char *work_bucket(struct api *api, struct slice bucket, struct arena *arena, struct error *error)
{
    char *path = files_path(arena, api->bucket_root, bucket);
    if (path == NULL)
        (void)error_budget(error);
    return path;
}

bool work_check_place(struct api_call *call, struct slice prefix)
{
    if (call->api->bucket_root == NULL)
        return error_validation(&call->error,
                                "S3 buckets are directories here, and this server has no place for "
                                "them: start it with --bucket-root, or with --data");
    while (prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    return prefix.len == 0 || files_key_safe(prefix) ||
           error_validation(&call->error, "S3 prefix is not a path below the bucket: %.*s",
                            SLICE_FMT(prefix));
}
