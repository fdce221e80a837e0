// Columns as attributes: what `both` takes back. The row becomes a plain JSON object of attributes,
// which the model's types then turn into values.
#include "sql/row.h"

#include "guard/plain.h"
#include "model/time.h"
#include "value/number.h"
#include "json/plain.h"
#include "json/writer.h"

enum { ROW_MAX = 8 << 20 };

// SQLite has no booleans, and keeps numbers that it has no type for as text.
static bool write_value(const struct sql_column *column, struct slice value, struct buf *out)
{
    enum sql_kind kind = sql_kind(column->attribute->type);
    struct model_time time;
    // Seconds that are shown as a time.
    if (column->kind == SQL_TIMESTAMP && (kind == SQL_BIGINT || kind == SQL_NUMERIC) &&
        value_type(value) == VALUE_S) {
        if (!model_timestamp_parse(value_bytes(value), &time))
            return false;
        buf_printf(out, "%lld%.*s", (long long)time.seconds,
                   SLICE_FMT(kind == SQL_BIGINT ? SLICE_LIT("") : time.fraction));
        return true;
    }
    if (column->kind == SQL_BOOLEAN && value_type(value) == VALUE_N) {
        int64_t set = 0;
        if (!number_to_i64(value_bytes(value), &set))
            return false;
        buf_text(out, set != 0 ? "true" : "false");
        return true;
    }
    if ((column->kind == SQL_NUMERIC || column->kind == SQL_BIGINT) &&
        value_type(value) == VALUE_S) {
        uint8_t stored[NUMBER_BYTES_MAX];
        size_t len = 0;
        if (number_from_text(value_bytes(value), stored, &len) != NUMBER_OK)
            return false;
        buf_slice(out, value_bytes(value));
        return true;
    }
    plain_write(out, value);
    return true;
}

static bool write_row(const struct sql_table *table, struct slice row, struct buf *out)
{
    size_t count = 0;
    buf_byte(out, '{');
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *column = &table->columns[i];
        struct slice value = value_get(row, column->name);
        if (value.len == 0 || column->attribute == NULL)
            continue;
        struct json_writer w = json_writer_to(out);
        buf_text(out, count++ == 0 ? "" : ",");
        json_string(&w, column->attribute->name);
        buf_byte(out, ':');
        if (!write_value(column, value, out))
            return false;
    }
    buf_byte(out, '}');
    return true;
}

bool sql_row_back(const struct sql_table *table, struct slice row, struct arena *arena,
                  struct slice *item, struct slice *error)
{
    struct value_maker maker;
    struct error why = {.arena = arena};
    *error = slice_of(NULL, 0);
    value_begin(&maker, ROW_MAX);
    const char *wrong = plain_read(row, arena, &maker.b);
    struct slice columns = value_end(&maker, arena);
    if (wrong != NULL)
        return row_error(error, arena, "the row is no JSON object: %s", wrong);
    if (columns.len == 0 || table->entity == NULL)
        return false;
    struct buf json;
    buf_init(&json, ROW_MAX);
    bool ok = write_row(table, columns, &json);
    struct slice text = arena_keep(arena, &json);
    if (!ok)
        return row_error(error, arena,
                         "a value is none of its column: a boolean is 0 or 1, a time has a zone");
    if (text.ptr == NULL)
        return false;
    if (!model_plain_read(table->entity, text, arena, item, &why))
        return row_error(error, arena, "%s", why.message);
    return true;
}
