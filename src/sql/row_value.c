// A value of an item in the form of a column. What a column cannot take is refused here, so that it
// never fails a whole batch in the database.
#include "sql/row.h"

#include <stdlib.h>

#include "model/time.h"
#include "value/number.h"
#include "json/plain.h"

enum { TEXT_MAX = 4 << 20 }; // an item has at most 400 KB; JSON makes more of it

// What is asked for, and by whom.
struct need {
    const struct sql_schema *schema;
    const struct sql_table *table;
    const struct sql_column *column;
    struct slice value;
    struct arena *arena;
    struct sql_value *out;
    struct slice *error;
};

static bool refuse(const struct need *need, const char *why)
{
    const struct sql_column *column = need->column;
    return row_error(need->error, need->arena,
                     "column \"%.*s\" of \"%.*s\" is %s and cannot hold %.*s: %s",
                     SLICE_FMT(column->name), SLICE_FMT(need->table->name),
                     sql_type_name(SQL_POSTGRES, column->kind), SLICE_FMT(column->from), why);
}

static bool wrong_type(const struct need *need)
{
    static const char *const said[] = {
        [VALUE_S] = "it is text",         [VALUE_N] = "it is a number", [VALUE_B] = "it is binary",
        [VALUE_BOOL] = "it is a boolean", [VALUE_M] = "it is a map",    [VALUE_L] = "it is a list",
    };
    enum value_type type = value_type(need->value);
    return refuse(need,
                  (size_t)type < COUNT_OF(said) && said[type] != NULL ? said[type] : "it is a set");
}

static bool put_text(const struct need *need, struct slice text)
{
    *need->out = (struct sql_value){.form = SQL_FORM_TEXT, .text = text};
    return true;
}

// ---- Numbers
// -------------------------------------------------------------------------------------

// The text of a double as SQLite writes it has 15 digits and no exponent in between: what looks
// different is kept as text.
static bool is_short(struct slice text)
{
    size_t digits = 0;
    bool leading = true;
    for (size_t i = 0; i < text.len; i++) {
        bool digit = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        if (!digit && text.ptr[i] != '.' && text.ptr[i] != '-')
            return false;
        leading = leading && text.ptr[i] == '0';
        digits += digit;
    }
    bool small =
        slice_begins(text, SLICE_LIT("0.0000")) || slice_begins(text, SLICE_LIT("-0.0000"));
    return digits <= 15 && !small;
}

// The seconds of a time that is text.
static bool put_epoch(const struct need *need)
{
    struct model_time time;
    if (!model_timestamp_parse(value_bytes(need->value), &time))
        return refuse(need, "it is not a time");
    char *text = arena_printf(need->arena, "%lld", (long long)time.seconds);
    if (text == NULL)
        return false;
    (void)put_text(need, slice_str(text));
    need->out->integer = time.seconds;
    if (need->schema->dialect == SQL_SQLITE)
        need->out->form = SQL_FORM_INTEGER;
    return true;
}

static bool put_number(const struct need *need)
{
    char digits[NUMBER_TEXT_MAX];
    struct sql_value *out = need->out;
    if (need->column->kind == SQL_BIGINT && value_type(need->value) == VALUE_S &&
        need->column->attribute != NULL && sql_kind(need->column->attribute->type) == SQL_TIMESTAMP)
        return put_epoch(need);
    if (value_type(need->value) != VALUE_N)
        return wrong_type(need);
    struct slice stored = value_bytes(need->value);
    struct slice text = arena_copy(need->arena, slice_of(digits, number_to_text(stored, digits)));
    if (text.ptr == NULL)
        return false;
    (void)put_text(need, text);
    bool whole = number_to_i64(stored, &out->integer);
    if (need->column->kind == SQL_BIGINT && !whole)
        return refuse(need, "it is not a whole number of 64 bits");
    if (need->schema->dialect == SQL_POSTGRES)
        return true;
    if (whole) {
        out->form = SQL_FORM_INTEGER;
    } else if (is_short(text)) {
        out->real = strtod((const char *)text.ptr, NULL);
        out->form = SQL_FORM_REAL;
    }
    return true;
}

static bool put_boolean(const struct need *need)
{
    if (value_type(need->value) != VALUE_BOOL)
        return wrong_type(need);
    bool set = value_bool(need->value);
    (void)put_text(need, set ? SLICE_LIT("true") : SLICE_LIT("false"));
    need->out->integer = set;
    if (need->schema->dialect == SQL_SQLITE)
        need->out->form = SQL_FORM_INTEGER;
    return true;
}

// ---- Texts
// ---------------------------------------------------------------------------------------

static bool is_uuid(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex)
            return false;
    }
    return text.len == 36;
}

// Seconds since 1970 as a time, to the millisecond.
static bool put_seconds(const struct need *need)
{
    uint8_t thousand[NUMBER_BYTES_MAX];
    uint8_t product[NUMBER_BYTES_MAX];
    size_t len = 0;
    int64_t ms = 0;
    struct buf text;
    struct slice factor = slice_of(thousand, number_from_i64(1000, thousand));
    if (number_multiply(value_bytes(need->value), factor, product, &len) != NUMBER_OK)
        return refuse(need, "it is not a time");
    if (!number_to_i64(slice_of(product, len), &ms)) { // there are parts of a millisecond
        char digits[NUMBER_TEXT_MAX + 1];
        digits[number_to_text(slice_of(product, len), digits)] = '\0';
        ms = strtoll(digits, NULL, 10);
    }
    buf_init(&text, 64);
    bool fits =
        ms / 1000 > MODEL_EPOCH_MIN && ms / 1000 < MODEL_EPOCH_MAX && model_time_from_ms(ms, &text);
    struct slice kept = arena_keep(need->arena, &text);
    return fits ? kept.ptr != NULL && put_text(need, kept) : refuse(need, "it is not a time");
}

static bool put_string(const struct need *need)
{
    struct model_time time;
    if (need->column->kind == SQL_TIMESTAMP && value_type(need->value) == VALUE_N)
        return put_seconds(need);
    if (value_type(need->value) != VALUE_S)
        return wrong_type(need);
    struct slice text = value_bytes(need->value);
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return refuse(need, "there is a NUL in it");
    if (need->column->kind == SQL_UUID && !is_uuid(text))
        return refuse(need, "it is not a uuid");
    if (need->column->kind == SQL_DATE && !model_date_parse(text, &time))
        return refuse(need, "it is not a date");
    if (need->column->kind == SQL_TIMESTAMP && !model_timestamp_parse(text, &time))
        return refuse(need, "it is not a time");
    if ((need->column->kind == SQL_DATE || need->column->kind == SQL_TIMESTAMP) &&
        slice_begins(text, SLICE_LIT("0000")))
        return refuse(need, "there is no year 0");
    return put_text(need, text);
}

static bool put_bytes(const struct need *need)
{
    if (value_type(need->value) != VALUE_B)
        return wrong_type(need);
    (void)put_text(need, value_bytes(need->value));
    need->out->form = SQL_FORM_BYTES;
    return true;
}

// jsonb has no NUL in texts.
static bool has_nul(struct slice json)
{
    for (size_t i = 0; i + 5 < json.len; i++) {
        if (json.ptr[i] != '\\')
            continue;
        if (memcmp(json.ptr + i, "\\u0000", 6) == 0)
            return true;
        i++;
    }
    return false;
}

static bool put_json(const struct need *need)
{
    struct buf json;
    buf_init(&json, TEXT_MAX);
    plain_write(&json, need->value);
    struct slice text = arena_keep(need->arena, &json);
    if (text.ptr == NULL)
        return false;
    return has_nul(text) ? refuse(need, "there is a NUL in it") : put_text(need, text);
}

bool row_value(const struct sql_schema *schema, const struct sql_table *table,
               const struct sql_column *column, struct slice value, struct arena *arena,
               struct sql_value *out, struct slice *error)
{
    struct need need = {schema, table, column, value, arena, out, error};
    switch (column->kind) {
    case SQL_NUMERIC:
    case SQL_BIGINT:
        return put_number(&need);
    case SQL_BOOLEAN:
        return put_boolean(&need);
    case SQL_BYTES:
        return put_bytes(&need);
    case SQL_JSON:
        return put_json(&need);
    default:
        return put_string(&need);
    }
}

struct slice row_member(enum value_type container, struct slice member, struct arena *arena)
{
    static const enum value_tag tags[] = {
        [VALUE_SS] = VALUE_TAG_S, [VALUE_NS] = VALUE_TAG_N, [VALUE_BS] = VALUE_TAG_B};
    struct value_maker maker;
    if (container == VALUE_L)
        return member;
    value_begin(&maker, member.len + 64);
    value_put_scalar(&maker.b, tags[container], member);
    return value_end(&maker, arena);
}
