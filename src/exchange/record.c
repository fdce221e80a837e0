// The records of exports, imports and bulk operations: encoding, names, ARNs, tokens.
#include "exchange/exchange.h"

#include "base/encode.h"
#include "tables/arn.h"
#include "transfer/files.h"

#include <stdio.h>

static const int64_t token_ms = 8LL * 3600 * 1000;

// ---- As M values ------------------------------------------------------------------

#define ROW(kind, field, name) MAP_ROW(exchange, kind, field, name)
// clang-format off
static const struct map_row exchange_rows[] = {
    ROW(TEXT, id, "id"), ROW(TEXT, table, "table"), ROW(TEXT, table_id, "table_id"),
    ROW(TEXT, region, "region"), ROW(TEXT, token, "token"), ROW(TEXT, digest, "digest"),
    ROW(SMALL, status, "status"), ROW(INTEGER, started_ms, "started"),
    ROW(INTEGER, ended_ms, "ended"), ROW(TEXT, failure_code, "failure_code"),
    ROW(TEXT, failure_message, "failure"), ROW(TEXT, bucket, "bucket"), ROW(TEXT, owner, "owner"),
    ROW(TEXT, prefix, "prefix"),
};
// clang-format on
#undef ROW
const struct map_form exchange_form = MAP_FORM(exchange, exchange_rows);

#define ROW(kind, field, name) MAP_ROW(export_record, kind, field, name)
// clang-format off
static const struct map_row export_rows[] = {
    MAP_PART_ROW(export_record, base, &exchange_form), ROW(FLAG, incremental, "incremental"),
    ROW(FLAG, ion, "ion"), ROW(FLAG, old_images, "old_images"), ROW(INTEGER, at_ms, "at"),
    ROW(INTEGER, from_ms, "from"), ROW(INTEGER, to_ms, "to"),
    ROW(TEXT, sse_algorithm, "sse_algorithm"), ROW(TEXT, sse_key, "sse_key"),
    ROW(VALUE, filter, "filter"), ROW(INTEGER, billed_bytes, "billed"),
    ROW(INTEGER, items, "items"),
};
// clang-format on
#undef ROW
const struct map_form export_form = MAP_FORM(export_record, export_rows);

#define ROW(kind, field, name) MAP_ROW(import_record, kind, field, name)
// clang-format off
static const struct map_row import_rows[] = {
    MAP_PART_ROW(import_record, base, &exchange_form), ROW(TEXT, format, "format"),
    ROW(TEXT, compression, "compression"), ROW(TEXT, delimiter, "delimiter"),
    ROW(VALUE, header, "header"), ROW(TEXT, options, "options"), ROW(TEXT, creation, "creation"),
    ROW(INTEGER, errors, "errors"), ROW(INTEGER, processed_bytes, "bytes"),
    ROW(INTEGER, processed_items, "processed"), ROW(INTEGER, imported_items, "imported"),
};
// clang-format on
#undef ROW
const struct map_form import_form = MAP_FORM(import_record, import_rows);

#define ROW(kind, field, name) MAP_ROW(bulk_record, kind, field, name)
// clang-format off
static const struct map_row bulk_rows[] = {
    MAP_PART_ROW(bulk_record, base, &exchange_form), ROW(FLAG, cancel, "cancel"),
    ROW(TEXT, format, "format"), ROW(TEXT, compression, "compression"),
    ROW(TEXT, out_bucket, "out_bucket"), ROW(TEXT, out_owner, "out_owner"),
    ROW(TEXT, out_prefix, "out_prefix"), ROW(TEXT, sse_algorithm, "sse_algorithm"),
    ROW(TEXT, sse_key, "sse_key"), ROW(FLAG, report_errors, "report_errors"),
    ROW(FLAG, report_conditions, "report_conditions"), ROW(TEXT, tier, "tier"),
    ROW(INTEGER, max_units, "max_units"), ROW(INTEGER, processed_items, "processed"),
    ROW(INTEGER, failed_items, "failed"), ROW(INTEGER, processed_bytes, "bytes"),
    ROW(INTEGER, total_bytes, "total"), ROW(INTEGER, written_bytes, "written"),
};
// clang-format on
#undef ROW
const struct map_form bulk_form = MAP_FORM(bulk_record, bulk_rows);

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
    map_decode(&exchange_form, record, &base);
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
    return arena_keep(arena, &all);
}

char *exchange_bucket(struct workshop *shop, struct slice bucket, struct arena *arena,
                      struct error *error)
{
    char *path = files_path(arena, shop->bucket_root, bucket);
    if (path == NULL)
        (void)error_budget(error);
    return path;
}
