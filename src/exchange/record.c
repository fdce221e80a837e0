// The records of exports, imports and bulk operations: encoding, names, ARNs, tokens.
#include "exchange/exchange.h"

#include "base/encode.h"
#include "tables/arn.h"
#include "transfer/files.h"

#include <stdio.h>

static const int64_t token_ms = 8LL * 3600 * 1000;

// ---- As M values ------------------------------------------------------------------

static const struct map_row exchange_rows[] = {
    MAP_SAME(exchange, TEXT, id),
    MAP_SAME(exchange, TEXT, table),
    MAP_SAME(exchange, TEXT, table_id),
    MAP_SAME(exchange, TEXT, region),
    MAP_SAME(exchange, TEXT, token),
    MAP_SAME(exchange, TEXT, digest),
    MAP_SAME(exchange, SMALL, status),
    MAP_ROW(exchange, INTEGER, started_ms, "started"),
    MAP_ROW(exchange, INTEGER, ended_ms, "ended"),
    MAP_SAME(exchange, TEXT, failure_code),
    MAP_ROW(exchange, TEXT, failure_message, "failure"),
    MAP_SAME(exchange, TEXT, bucket),
    MAP_SAME(exchange, TEXT, owner),
    MAP_SAME(exchange, TEXT, prefix),
};

static void exchange_put(struct map_maker *maker, const struct exchange *base)
{
    map_put_rows(&maker->b, exchange_rows, COUNT_OF(exchange_rows), base);
}

void exchange_decode(struct slice record, struct exchange *out)
{
    *out = (struct exchange){.started_ms = 0};
    map_get_rows(record, exchange_rows, COUNT_OF(exchange_rows), out);
}

static const struct map_row export_rows[] = {
    MAP_SAME(export_record, FLAG, incremental),
    MAP_SAME(export_record, FLAG, ion),
    MAP_SAME(export_record, FLAG, old_images),
    MAP_ROW(export_record, INTEGER, at_ms, "at"),
    MAP_ROW(export_record, INTEGER, from_ms, "from"),
    MAP_ROW(export_record, INTEGER, to_ms, "to"),
    MAP_SAME(export_record, TEXT, sse_algorithm),
    MAP_SAME(export_record, TEXT, sse_key),
    MAP_SAME(export_record, VALUE, filter),
    MAP_ROW(export_record, INTEGER, billed_bytes, "billed"),
    MAP_SAME(export_record, INTEGER, items),
};

struct slice export_encode(const struct export_record *record, struct arena *arena,
                           struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    exchange_put(&maker, &record->base);
    map_put_rows(&maker.b, export_rows, COUNT_OF(export_rows), record);
    return map_end(&maker, arena, error);
}

void export_decode(struct slice record, struct export_record *out)
{
    *out = (struct export_record){.at_ms = 0};
    map_get_rows(record, export_rows, COUNT_OF(export_rows), out);
    exchange_decode(record, &out->base);
}

static const struct map_row import_rows[] = {
    MAP_SAME(import_record, TEXT, format),
    MAP_SAME(import_record, TEXT, compression),
    MAP_SAME(import_record, TEXT, delimiter),
    MAP_SAME(import_record, VALUE, header),
    MAP_SAME(import_record, TEXT, options),
    MAP_SAME(import_record, TEXT, creation),
    MAP_SAME(import_record, INTEGER, errors),
    MAP_ROW(import_record, INTEGER, processed_bytes, "bytes"),
    MAP_ROW(import_record, INTEGER, processed_items, "processed"),
    MAP_ROW(import_record, INTEGER, imported_items, "imported"),
};

struct slice import_encode(const struct import_record *record, struct arena *arena,
                           struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    exchange_put(&maker, &record->base);
    map_put_rows(&maker.b, import_rows, COUNT_OF(import_rows), record);
    return map_end(&maker, arena, error);
}

void import_decode(struct slice record, struct import_record *out)
{
    *out = (struct import_record){.errors = 0};
    map_get_rows(record, import_rows, COUNT_OF(import_rows), out);
    exchange_decode(record, &out->base);
}

static const struct map_row bulk_rows[] = {
    MAP_SAME(bulk_record, FLAG, cancel),
    MAP_SAME(bulk_record, TEXT, format),
    MAP_SAME(bulk_record, TEXT, compression),
    MAP_SAME(bulk_record, TEXT, out_bucket),
    MAP_SAME(bulk_record, TEXT, out_owner),
    MAP_SAME(bulk_record, TEXT, out_prefix),
    MAP_SAME(bulk_record, TEXT, sse_algorithm),
    MAP_SAME(bulk_record, TEXT, sse_key),
    MAP_SAME(bulk_record, FLAG, report_errors),
    MAP_SAME(bulk_record, FLAG, report_conditions),
    MAP_SAME(bulk_record, TEXT, tier),
    MAP_SAME(bulk_record, INTEGER, max_units),
    MAP_ROW(bulk_record, INTEGER, processed_items, "processed"),
    MAP_ROW(bulk_record, INTEGER, failed_items, "failed"),
    MAP_ROW(bulk_record, INTEGER, processed_bytes, "bytes"),
    MAP_ROW(bulk_record, INTEGER, total_bytes, "total"),
    MAP_ROW(bulk_record, INTEGER, written_bytes, "written"),
};

struct slice bulk_encode(const struct bulk_record *bulk, struct arena *arena, struct error *error)
{
    struct exchange base = bulk->base;
    struct map_maker maker;
    base.status = (enum exchange_status)bulk->status; // 0 is "in progress" to both
    map_begin(&maker);
    exchange_put(&maker, &base);
    map_put_rows(&maker.b, bulk_rows, COUNT_OF(bulk_rows), bulk);
    return map_end(&maker, arena, error);
}

void bulk_decode(struct slice record, struct bulk_record *out)
{
    *out = (struct bulk_record){.status = (enum bulk_status)map_integer(record, "status")};
    map_get_rows(record, bulk_rows, COUNT_OF(bulk_rows), out);
    exchange_decode(record, &out->base);
}

// ---- Names ------------------------------------------------------------------------

struct slice exchange_name(struct arena *arena, const char *kind, struct slice id)
{
    char *name = arena_printf(arena, "%s/%.*s", kind, SLICE_FMT(id));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

struct slice exchange_arn(struct arena *arena, const struct exchange *base, const char *kind)
{
    return arn_make(arena, &(struct table_arn){base->region, base->table, kind, base->id});
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
    struct exchange base;
    exchange_decode(record, &base);
    if (base.started_ms < search->since_ms || !slice_equal(base.token, search->token))
        return true;
    search->found = arena_copy(search->arena, record);
    return false;
}

bool exchange_by_token(struct engine *engine, const char *kind, struct slice token, int64_t now_ms,
                       struct arena *arena, struct slice *record, struct error *error)
{
    *record = VALUE_NONE;
    if (token.len == 0)
        return true;
    struct token_search search = {
        .token = token, .since_ms = now_ms - token_ms, .arena = arena, .found = VALUE_NONE};
    struct slice prefix = exchange_name(arena, kind, slice_of(NULL, 0));
    // Ids begin with the time: older ones need no look.
    char first[EXPORT_ID_MAX];
    (void)snprintf(first, sizeof(first), "%014lld",
                   (long long)(search.since_ms > 0 ? search.since_ms - 1 : 0));
    struct slice after = exchange_name(arena, kind, slice_str(first));
    if (prefix.ptr == NULL || after.ptr == NULL)
        return error_budget(error);
    if (!engine_records(engine, prefix, after, match_token, &search, error))
        return false;
    *record = search.found;
    return true;
}

struct slice exchange_digest(struct arena *arena, const struct slice *parts, size_t count)
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

char *exchange_bucket(struct workshop *shop, struct slice bucket, struct arena *arena,
                      struct error *error)
{
    char *path = files_path(arena, shop->bucket_root, bucket);
    if (path == NULL)
        (void)error_budget(error);
    return path;
}
