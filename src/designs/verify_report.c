// The report of a verification, as elements of JSON arrays that grow up to a limit; and what the
// API knows of its records.
#include "designs/verify.h"

#include "change/model.h"
#include "stream/stream.h"

enum { REPORT_BYTES = 6 << 20 }; // of each array: a response holds both

void verify_report_init(struct verify_report *report, uint64_t limit)
{
    *report = (struct verify_report){.limit = limit};
    buf_init(&report->checks, REPORT_BYTES);
    buf_init(&report->differences, REPORT_BYTES);
    buf_init(&report->table, STORE_KEY_MAX);
    report->checks_writer = json_writer_to(&report->checks);
    report->differences_writer = json_writer_to(&report->differences);
}

void verify_report_release(struct verify_report *report)
{
    buf_release(&report->checks);
    buf_release(&report->differences);
    buf_release(&report->table);
}

// An element that does not fit is taken back whole, and its array stays as it is from then on.
static void end_element(struct buf *array, size_t before)
{
    if (array->failed)
        array->len = before;
}

static void write_names(struct json_writer *w, struct slice table, struct slice index)
{
    if (table.len > 0)
        json_put_string(w, "Table", table);
    if (index.len > 0)
        json_put_string(w, "Index", index);
}

static void write_place(struct json_writer *w, enum verify_check check, struct slice table,
                        struct slice index)
{
    json_put_text(w, "Check", verify_check_words(check));
    write_names(w, table, index);
}

static void write_hex(struct json_writer *w, struct slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * 128 + 1];
    size_t len = bytes.len < 128 ? bytes.len : 128;
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = digits[bytes.ptr[i] >> 4];
        text[2 * i + 1] = digits[bytes.ptr[i] & 15];
    }
    json_string(w, slice_of(text, 2 * len));
}

void verify_report_difference(struct verify_report *report,
                              const struct verify_difference *difference)
{
    struct json_writer *w = &report->differences_writer;
    report->difference_count++;
    if (report->described == report->limit || report->differences.failed)
        return;
    size_t before = report->differences.len;
    json_open_object(w);
    write_place(w, difference->check, difference->table, difference->index);
    if (difference->file.len > 0)
        json_put_string(w, "File", difference->file);
    if (difference->key.len > 0) {
        json_name(w, "Key");
        json_item(w, difference->key);
    } else if (difference->place.len > 0) {
        json_name(w, "StoreKey");
        write_hex(w, difference->place);
    }
    json_put_text(w, "What", difference->what);
    json_close_object(w);
    end_element(&report->differences, before);
    report->described += !report->differences.failed;
}

void verify_report_outcome(struct verify_report *report, const struct verify_outcome *outcome)
{
    struct json_writer *w = &report->checks_writer;
    // Where there is room for a part of the checks only, those that found something are told.
    bool short_of_room = report->checks.len > REPORT_BYTES / 2;
    if (report->checks.failed || (short_of_room && outcome->differences == 0))
        return;
    size_t before = report->checks.len;
    json_open_object(w);
    write_place(w, outcome->check, outcome->table, outcome->index);
    json_put_integer(w, "Examined", (int64_t)outcome->examined);
    json_put_integer(w, "Differences", (int64_t)outcome->differences);
    json_close_object(w);
    end_element(&report->checks, before);
}

static void write_array(struct json_writer *w, const char *name, const struct buf *elements)
{
    json_put_array(w, name);
    buf_slice(w->out, buf_view(elements));
    json_close_array(w);
}

void verify_report_write(const struct verify_report *report, struct json_writer *w)
{
    write_array(w, "Checks", &report->checks);
    write_array(w, "Differences", &report->differences);
    json_put_integer(w, "DifferenceCount", (int64_t)report->difference_count);
}

struct affected {
    struct json_writer *w;
    bool lost;
};

static bool can_be_made(enum verify_check check)
{
    return check == VERIFY_INDEX || check == VERIFY_VECTOR_INDEX || check == VERIFY_TTL ||
           check == VERIFY_COLLECTIONS || check == VERIFY_CLAIMS;
}

static void write_affected(void *context, const struct verify_place *place)
{
    struct affected *affected = context;
    struct json_writer *w = affected->w;
    bool lost = !can_be_made(place->check);
    affected->lost = affected->lost || lost;
    json_open_object(w);
    json_put_text(w, "Kind", verify_check_words(place->check));
    write_names(w, place->table, place->index);
    json_put_item(w, "After", place->after);
    json_put_item(w, "Before", place->before);
    json_put_flag(w, "Lost", lost);
    json_close_object(w);
}

bool verify_range_write(struct store *store, struct slice from, struct slice to,
                        struct json_writer *w)
{
    static const struct verify_knowledge nothing;
    const struct verify_options options = {.store = store, .knowledge = &nothing};
    json_put_array(w, "Affects");
    struct affected affected = {.w = w};
    verify_range(&options, from, to, write_affected, &affected);
    json_close_array(w);
    return affected.lost;
}

// ---- What is known of records -------------------------------------------------------------------

static bool work_done(struct slice record)
{
    return map_integer(record, "status") == MODEL_ACTIVE;
}

static tree_id stream_log(struct slice name, struct slice record)
{
    if (!slice_begins(name, SLICE_LIT(STREAM_PREFIX)) || value_type(record) != VALUE_M)
        return 0;
    int64_t log = map_integer(record, "log");
    return log > 0 && log <= UINT32_MAX ? (tree_id)log : 0;
}

static bool table_cut(struct table *table, int64_t since_ms)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    if (settings.pitr_days == 0 || settings.pitr_ms >= since_ms)
        return false;
    settings.pitr_ms = since_ms;
    ensure_memory(table_settings_write(table, &settings) ? table : NULL);
    return true;
}

// A reader that stands before what is left is told that it was trimmed.
static void cut_shard(struct stream_shard *shard, uint64_t first)
{
    uint64_t end = shard->closed_ms != 0 ? shard->end + 1 : first;
    uint64_t trim = end < first ? end : first;
    if (trim > shard->start && trim > shard->trim)
        shard->trim = trim;
}

static bool record_cut(struct slice name, struct slice record, struct slice table, tree_id log,
                       uint64_t first, struct arena *arena, struct slice *out)
{
    struct stream stream;
    struct error error;
    error_init(&error, arena);
    if (!slice_begins(name, SLICE_LIT(STREAM_PREFIX)) || !value_valid(record) ||
        value_type(record) != VALUE_M || !stream_decode(record, arena, &stream, &error))
        return false;
    if (stream.log != 0 ? stream.log != log : !slice_equal(stream.table, table))
        return false;
    stream.trim = first > stream.trim ? first : stream.trim;
    for (size_t i = 0; i < stream.shard_count; i++)
        cut_shard(&stream.shards[i], first);
    return stream_encode(&stream, arena, out, &error);
}

const struct verify_knowledge verify_knowledge = {
    .maker = {NULL, guard_make},
    .guard_work = "model/work/",
    .guard_work_done = work_done,
    .record_log = stream_log,
    .table_cut = table_cut,
    .record_cut = record_cut,
};
