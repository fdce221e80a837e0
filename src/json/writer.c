// Writing JSON into a buf, and attribute values straight from their encoded bytes.
//
// The idea: text that needs no escape is copied in runs as long as possible, and names
// of our own are copied as they are. The writer owns nothing; the buf remembers failure.
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/encode.h"
#include "value/number.h"
#include "value/value.h"
#include "json/scan.h"

static inline void writer_comma(struct json_writer *w)
{
    if (w->comma)
        buf_byte(w->out, ',');
}

void json_open_object(struct json_writer *w)
{
    writer_comma(w);
    buf_byte(w->out, '{');
    w->comma = false;
}

void json_close_object(struct json_writer *w)
{
    buf_byte(w->out, '}');
    w->comma = true;
}

void json_open_array(struct json_writer *w)
{
    writer_comma(w);
    buf_byte(w->out, '[');
    w->comma = false;
}

void json_close_array(struct json_writer *w)
{
    buf_byte(w->out, ']');
    w->comma = true;
}

// ---- Strings -----------------------------------------------------------------

static void write_escape(struct buf *out, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', (char)c};
    size_t len = 2;
    switch (c) {
    case '"':
    case '\\':
        break;
    case '\b':
        text[1] = 'b';
        break;
    case '\f':
        text[1] = 'f';
        break;
    case '\n':
        text[1] = 'n';
        break;
    case '\r':
        text[1] = 'r';
        break;
    case '\t':
        text[1] = 't';
        break;
    default:
        memcpy(text, "\\u00", 4);
        text[4] = hex[c >> 4];
        text[5] = hex[c & 15];
        len = 6;
    }
    buf_add(out, text, len);
}

// What follows the first byte that must be escaped, and the closing quote.
static void write_escaped(struct buf *out, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint8_t *stop = scan_text(at, end);
        buf_add(out, at, (size_t)(stop - at));
        if (stop < end)
            write_escape(out, *stop);
        at = stop < end ? stop + 1 : end;
    }
    buf_byte(out, '"');
}

// The text in quotes. It is copied first and looked at where it then stands: there is
// room behind it, so that the search for escapes needs no care at the end.
static void write_string(struct buf *out, struct slice text)
{
    uint8_t *to = buf_reserve(out, text.len + 2 + SCAN_PADDING);
    if (to == NULL)
        return;
    to[0] = '"';
    if (text.len > 0)
        memcpy(to + 1, text.ptr, text.len);
    const uint8_t *end = to + 1 + text.len;
    const uint8_t *stop = scan_padded(to + 1, end);
    if (stop == end) {
        to[text.len + 1] = '"';
        out->len += text.len + 2;
        return;
    }
    size_t plain = (size_t)(stop - to);
    out->len += plain;
    write_escaped(out, text.ptr + plain - 1, text.ptr + text.len);
}

void json_name(struct json_writer *w, const char *name)
{
    size_t len = strlen(name);
    uint8_t *to = buf_reserve(w->out, len + 4);
    if (to == NULL)
        return;
    size_t n = 0;
    if (w->comma)
        to[n++] = ',';
    to[n++] = '"';
    memcpy(to + n, name, len);
    n += len;
    to[n++] = '"';
    to[n++] = ':';
    w->out->len += n;
    w->comma = false;
}

void json_name_slice(struct json_writer *w, struct slice name)
{
    writer_comma(w);
    write_string(w->out, name);
    buf_byte(w->out, ':');
    w->comma = false;
}

void json_string(struct json_writer *w, struct slice text)
{
    writer_comma(w);
    write_string(w->out, text);
    w->comma = true;
}

void json_text(struct json_writer *w, const char *text)
{
    json_string(w, slice_str(text));
}

// ---- Numbers -----------------------------------------------------------------

void json_i64(struct json_writer *w, int64_t value)
{
    writer_comma(w);
    buf_i64(w->out, value);
    w->comma = true;
}

void json_bool(struct json_writer *w, bool value)
{
    writer_comma(w);
    buf_text(w->out, value ? "true" : "false");
    w->comma = true;
}

void json_null(struct json_writer *w)
{
    writer_comma(w);
    buf_text(w->out, "null");
    w->comma = true;
}

void json_units(struct json_writer *w, double value)
{
    writer_comma(w);
    w->comma = true;
    if (!(value >= 0 && value <= 1e15))
        value = 0; // units are sums of item sizes: nothing else can come here
    double tenths = value * 10;
    uint64_t whole = (uint64_t)(tenths + 0.5);
    if (tenths - (double)whole < 1e-6 && (double)whole - tenths < 1e-6) {
        buf_u64(w->out, whole / 10);
        buf_byte(w->out, '.');
        buf_byte(w->out, (uint8_t)('0' + whole % 10));
        return;
    }
    // The shortest text that reads back as the same number.
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_text(w->out, text);
}

void json_time(struct json_writer *w, int64_t milliseconds)
{
    writer_comma(w);
    w->comma = true;
    uint64_t size = milliseconds < 0 ? -(uint64_t)milliseconds : (uint64_t)milliseconds;
    if (milliseconds < 0)
        buf_byte(w->out, '-');
    buf_u64(w->out, size / 1000);
    unsigned rest = (unsigned)(size % 1000);
    uint8_t fraction[4] = {'.', (uint8_t)('0' + rest / 100), (uint8_t)('0' + rest / 10 % 10),
                           (uint8_t)('0' + rest % 10)};
    buf_add(w->out, fraction, sizeof fraction);
}

// ---- Attribute values ----------------------------------------------------------

#define BUF_LIT(out, literal) buf_add((out), (literal), sizeof(literal) - 1)

static void write_number(struct buf *out, struct slice stored)
{
    uint8_t *to = buf_reserve(out, NUMBER_TEXT_MAX + 2);
    if (to == NULL)
        return;
    to[0] = '"';
    size_t len = number_to_text(stored, (char *)to + 1);
    to[len + 1] = '"';
    out->len += len + 2;
}

static void write_binary(struct buf *out, struct slice bytes)
{
    buf_byte(out, '"');
    base64_encode(out, bytes);
    buf_byte(out, '"');
}

static void write_value(struct buf *out, struct slice value);

static void write_set(struct buf *out, struct slice set, const char *opening,
                      void (*write_member)(struct buf *, struct slice))
{
    buf_text(out, opening);
    struct value_iter iter;
    value_iter_init(&iter, set);
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_byte(out, ',');
        write_member(out, iter.value);
    }
    BUF_LIT(out, "]}");
}

static void write_list(struct buf *out, struct slice list)
{
    BUF_LIT(out, "{\"L\":[");
    struct value_iter iter;
    value_iter_init(&iter, list);
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_byte(out, ',');
        write_value(out, iter.value);
    }
    BUF_LIT(out, "]}");
}

static void write_entries(struct buf *out, struct slice map)
{
    buf_byte(out, '{');
    struct value_iter iter;
    value_iter_init(&iter, map);
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_byte(out, ',');
        write_string(out, iter.name);
        buf_byte(out, ':');
        write_value(out, iter.value);
    }
    buf_byte(out, '}');
}

// Recursion is bounded: a stored value has at most LIMIT_NESTING levels.
static void write_value(struct buf *out, struct slice value)
{
    switch ((enum value_tag)value.ptr[0]) {
    case VALUE_TAG_NULL:
        BUF_LIT(out, "{\"NULL\":true}");
        break;
    case VALUE_TAG_FALSE:
        BUF_LIT(out, "{\"BOOL\":false}");
        break;
    case VALUE_TAG_TRUE:
        BUF_LIT(out, "{\"BOOL\":true}");
        break;
    case VALUE_TAG_N:
        BUF_LIT(out, "{\"N\":");
        write_number(out, value_bytes(value));
        buf_byte(out, '}');
        break;
    case VALUE_TAG_S:
        BUF_LIT(out, "{\"S\":");
        write_string(out, value_bytes(value));
        buf_byte(out, '}');
        break;
    case VALUE_TAG_B:
        BUF_LIT(out, "{\"B\":");
        write_binary(out, value_bytes(value));
        buf_byte(out, '}');
        break;
    case VALUE_TAG_SS:
        write_set(out, value, "{\"SS\":[", write_string);
        break;
    case VALUE_TAG_NS:
        write_set(out, value, "{\"NS\":[", write_number);
        break;
    case VALUE_TAG_BS:
        write_set(out, value, "{\"BS\":[", write_binary);
        break;
    case VALUE_TAG_L:
        write_list(out, value);
        break;
    case VALUE_TAG_M:
        BUF_LIT(out, "{\"M\":");
        write_entries(out, value);
        buf_byte(out, '}');
        break;
    case VALUE_TAGS:
        ensure(!"a value has a known tag");
    }
}

void json_value(struct json_writer *w, struct slice value)
{
    writer_comma(w);
    write_value(w->out, value);
    w->comma = true;
}

void json_item(struct json_writer *w, struct slice item)
{
    writer_comma(w);
    write_entries(w->out, item);
    w->comma = true;
}
