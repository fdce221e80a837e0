// See csv.h.
#include "transfer/csv.h"

#include "value/number.h"
#include "json/plain.h"

enum { COLUMNS_MAX = 10000 };

// ---- Reading ----------------------------------------------------------------------

struct field_reader {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t delimiter;
    bool last;   // the record ends with this field
    bool quoted; // it stood in quotes
    struct buf *text;
};

// The record without the line end.
static struct field_reader field_reader_of(struct slice record, uint8_t delimiter, struct buf *text)
{
    size_t len = record.len;
    if (len > 0 && record.ptr[len - 1] == '\n')
        len--;
    if (len > 0 && record.ptr[len - 1] == '\r')
        len--;
    return (struct field_reader){
        .at = record.ptr, .end = record.ptr + len, .delimiter = delimiter, .text = text};
}

// The next field into text. NULL, or what is wrong.
static const char *field_next(struct field_reader *reader)
{
    buf_clear(reader->text);
    reader->quoted = reader->at < reader->end && *reader->at == '"';
    if (reader->quoted) {
        reader->at++;
        for (;;) {
            if (reader->at == reader->end)
                return "a quoted field does not end";
            uint8_t c = *reader->at++;
            if (c != '"') {
                buf_byte(reader->text, c);
            } else if (reader->at < reader->end && *reader->at == '"') {
                buf_byte(reader->text, *reader->at++);
            } else {
                break;
            }
        }
        if (reader->at < reader->end && *reader->at != reader->delimiter)
            return "something follows a quoted field";
    } else {
        const uint8_t *from = reader->at;
        while (reader->at < reader->end && *reader->at != reader->delimiter)
            reader->at++;
        buf_add(reader->text, from, (size_t)(reader->at - from));
    }
    reader->last = reader->at == reader->end;
    if (!reader->last)
        reader->at++;
    return reader->text->failed ? "memory is used up" : NULL;
}

const char *csv_names(struct csv_columns *columns, const struct slice *names, size_t count)
{
    if (count > COLUMNS_MAX)
        return "there are too many columns";
    columns->names = arena_zalloc(columns->arena, count, sizeof(*columns->names));
    if (columns->names == NULL)
        return "memory is used up";
    columns->count = count;
    for (size_t i = 0; i < count; i++) {
        columns->names[i] = arena_copy(columns->arena, names[i]);
        if (columns->names[i].ptr == NULL)
            return "memory is used up";
        if (names[i].len == 0)
            return "a column of the header has no name";
        for (size_t k = 0; k < i; k++) {
            if (slice_equal(names[i], names[k]))
                return "the header has the same column twice";
        }
    }
    return NULL;
}

const char *csv_header(struct csv_columns *columns, struct slice record)
{
    if (!utf8_valid(record))
        return "the header is not UTF-8";
    struct slice *names = arena_zalloc(columns->arena, COLUMNS_MAX, sizeof(*names));
    if (names == NULL)
        return "memory is used up";
    struct buf text;
    buf_init(&text, record.len + 1);
    struct field_reader reader = field_reader_of(record, columns->delimiter, &text);
    size_t count = 0;
    const char *fault = NULL;
    do {
        fault = count == COLUMNS_MAX ? "there are too many columns" : field_next(&reader);
        if (fault != NULL)
            break;
        names[count] = arena_copy(columns->arena, buf_view(&text));
        if (names[count++].ptr == NULL)
            fault = "memory is used up";
    } while (fault == NULL && !reader.last);
    buf_release(&text);
    return fault != NULL ? fault : csv_names(columns, names, count);
}

static enum value_type column_type(const struct csv_columns *columns, struct slice name)
{
    for (size_t i = 0; i < columns->typed_count; i++) {
        if (slice_equal(columns->typed[i].name, name))
            return columns->typed[i].type;
    }
    return VALUE_S;
}

static const char *put_field(struct value_builder *builder, enum value_type type, struct slice text)
{
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len;
    struct buf bytes;
    if (type == VALUE_S) {
        value_put_string(builder, text);
        return NULL;
    }
    if (type == VALUE_N) {
        if (number_from_text(text, number, &len) != NUMBER_OK)
            return "a numeric key attribute is not a number";
        value_put_number(builder, slice_of(number, len));
        return NULL;
    }
    buf_init(&bytes, text.len + 8);
    bool ok = base64_decode(&bytes, text);
    if (ok)
        value_put_binary(builder, buf_view(&bytes));
    buf_release(&bytes);
    return ok ? NULL : "a binary key attribute is not base64";
}

static const char *read_fields(const struct csv_columns *columns, struct field_reader *reader,
                               struct value_builder *builder)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (reader->last)
            return "the record has fewer fields than the header";
        const char *fault = field_next(reader);
        if (fault != NULL)
            return fault;
        struct slice text = buf_view(reader->text);
        if (text.len == 0 && !reader->quoted && columns->empty_is_absent)
            continue;
        value_name(builder, columns->names[i]);
        fault = put_field(builder, column_type(columns, columns->names[i]), text);
        if (fault != NULL)
            return fault;
    }
    return reader->last ? NULL : "the record has more fields than the header";
}

const char *csv_read(const struct csv_columns *columns, struct slice record,
                     struct value_builder *builder)
{
    if (!utf8_valid(record))
        return "the text is not UTF-8";
    struct buf text;
    buf_init(&text, record.len + 1);
    struct field_reader reader = field_reader_of(record, columns->delimiter, &text);
    value_open_map(builder);
    const char *fault = read_fields(columns, &reader, builder);
    if (fault == NULL)
        (void)value_close(builder);
    else
        value_builder_reset(builder);
    buf_release(&text);
    return fault;
}

// ---- Writing ----------------------------------------------------------------------

static void write_field(struct buf *out, uint8_t delimiter, struct slice text)
{
    bool quote = text.len == 0 || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ';
    for (size_t i = 0; i < text.len && !quote; i++) {
        uint8_t c = text.ptr[i];
        quote = c == delimiter || c == '"' || c == '\n' || c == '\r';
    }
    if (!quote) {
        buf_slice(out, text);
        return;
    }
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_byte(out, '"');
        buf_byte(out, text.ptr[i]);
    }
    buf_byte(out, '"');
}

static void write_value(struct buf *out, uint8_t delimiter, struct slice value)
{
    if (value_type(value) == VALUE_S) {
        write_field(out, delimiter, value_bytes(value));
        return;
    }
    struct buf text;
    buf_init(&text, (size_t)1 << 26);
    if (value_type(value) == VALUE_B)
        base64_encode(&text, value_bytes(value));
    else
        plain_write(&text, value);
    write_field(out, delimiter, buf_view(&text));
    out->failed = out->failed || text.failed;
    buf_release(&text);
}

void csv_write_header(struct buf *out, const struct csv_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (i > 0)
            buf_byte(out, columns->delimiter);
        write_field(out, columns->delimiter, columns->names[i]);
    }
    buf_byte(out, '\n');
}

bool csv_write(struct buf *out, const struct csv_columns *columns, struct slice item)
{
    size_t written = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (i > 0)
            buf_byte(out, columns->delimiter);
        struct slice value = value_get(item, columns->names[i]);
        if (value.len == 0)
            continue;
        written++;
        write_value(out, columns->delimiter, value);
    }
    buf_byte(out, '\n');
    return written == value_count(item);
}
