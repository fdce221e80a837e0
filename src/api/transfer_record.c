// The records of exports and imports: encoding, names, ARNs, tokens.
#include "api/transfer.h"

#include "transfer/files.h"

#include <stdio.h>

static const int64_t token_ms = 8LL * 3600 * 1000;

// ---- As M values ------------------------------------------------------------------

static const struct map_row work_rows[] = {
    MAP_SAME(work, TEXT, id),
    MAP_SAME(work, TEXT, table),
    MAP_SAME(work, TEXT, table_id),
    MAP_SAME(work, TEXT, region),
    MAP_SAME(work, TEXT, token),
    MAP_SAME(work, TEXT, digest),
    MAP_SAME(work, SMALL, status),
    MAP_ROW(work, INTEGER, started_ms, "started"),
    MAP_ROW(work, INTEGER, ended_ms, "ended"),
    MAP_SAME(work, TEXT, failure_code),
    MAP_ROW(work, TEXT, failure_message, "failure"),
    MAP_SAME(work, TEXT, bucket),
    MAP_SAME(work, TEXT, owner),
    MAP_SAME(work, TEXT, prefix),
};

void work_put(struct map_maker *maker, const struct work *work)
{
    map_put_rows(&maker->b, work_rows, COUNT_OF(work_rows), work);
}

void work_get(struct slice record, struct work *out)
{
    *out = (struct work){.started_ms = 0};
    map_get_rows(record, work_rows, COUNT_OF(work_rows), out);
}

static const struct map_row export_rows[] = {
    MAP_SAME(export_work, FLAG, incremental),
    MAP_SAME(export_work, FLAG, ion),
    MAP_SAME(export_work, FLAG, old_images),
    MAP_ROW(export_work, INTEGER, at_ms, "at"),
    MAP_ROW(export_work, INTEGER, from_ms, "from"),
    MAP_ROW(export_work, INTEGER, to_ms, "to"),
    MAP_SAME(export_work, TEXT, sse_algorithm),
    MAP_SAME(export_work, TEXT, sse_key),
    MAP_SAME(export_work, VALUE, filter),
    MAP_ROW(export_work, INTEGER, billed_bytes, "billed"),
    MAP_SAME(export_work, INTEGER, items),
};

struct slice export_encode(const struct export_work *work, struct arena *arena, struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    work_put(&maker, &work->work);
    map_put_rows(&maker.b, export_rows, COUNT_OF(export_rows), work);
    return map_end(&maker, arena, error);
}

void export_decode(struct slice record, struct export_work *out)
{
    *out = (struct export_work){.at_ms = 0};
    map_get_rows(record, export_rows, COUNT_OF(export_rows), out);
    work_get(record, &out->work);
}

static const struct map_row import_rows[] = {
    MAP_SAME(import_work, TEXT, format),
    MAP_SAME(import_work, TEXT, compression),
    MAP_SAME(import_work, TEXT, delimiter),
    MAP_SAME(import_work, VALUE, header),
    MAP_SAME(import_work, TEXT, options),
    MAP_SAME(import_work, TEXT, creation),
    MAP_SAME(import_work, INTEGER, errors),
    MAP_ROW(import_work, INTEGER, processed_bytes, "bytes"),
    MAP_ROW(import_work, INTEGER, processed_items, "processed"),
    MAP_ROW(import_work, INTEGER, imported_items, "imported"),
};

struct slice import_encode(const struct import_work *work, struct arena *arena, struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    work_put(&maker, &work->work);
    map_put_rows(&maker.b, import_rows, COUNT_OF(import_rows), work);
    return map_end(&maker, arena, error);
}

void import_decode(struct slice record, struct import_work *out)
{
    *out = (struct import_work){.errors = 0};
    map_get_rows(record, import_rows, COUNT_OF(import_rows), out);
    work_get(record, &out->work);
}

// ---- Names ------------------------------------------------------------------------

struct slice work_name(struct arena *arena, const char *kind, struct slice id)
{
    char *name = arena_printf(arena, "%s/%.*s", kind, SLICE_FMT(id));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

struct slice work_arn(struct arena *arena, const struct work *work, const char *kind)
{
    return arn_make(arena, &(struct table_arn){work->region, work->table, kind, work->id});
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
