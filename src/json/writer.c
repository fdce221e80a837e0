// Writing JSON into a buf, and attribute values straight from their encoded bytes.
//
// The idea: text that needs no escape is copied in runs as long as possible, and names
// of our own are copied as they are. The writer owns nothing; the buf remembers failure.
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/encode.h"
#include "value/copy.h"
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

// The slow way: the text, the closing quote and the byte `behind`, unless that is 0.
static void write_escaped(struct buf *out, struct slice text, uint8_t behind)
{
    const uint8_t *at = text.ptr;
    const uint8_t *end = text.ptr + text.len;
    while (at < end) {
        const uint8_t *stop = scan_text(at, end);
        buf_add(out, at, (size_t)(stop - at));
        if (stop < end)
            write_escape(out, *stop);
        at = stop < end ? stop + 1 : end;
    }
    buf_byte(out, '"');
    if (behind != 0)
        buf_byte(out, behind);
}

// Room that a quoted text may take beyond its length: quotes, what stands around it, and the
// bytes that a search for escapes may touch behind it.
enum { TEXT_ROOM = 16 + SCAN_PADDING };

// Writes the text at `to`, in reserved room, its closing quote and the byte `behind`, unless
// that is 0; what stands before `to` is written already. The text is copied first and looked
// at where it then stands: the quote behind it ends the search for escapes.
ALWAYS_INLINE void put_text(struct buf *out, uint8_t *to, struct slice text, uint8_t behind)
{
    uint8_t *end = to + text.len;
    copy_bytes(to, text.ptr, text.len);
    end[0] = '"';
    end[1] = behind;
    if (scan_to_quote(to) == end) {
        out->len = (size_t)(end - out->ptr) + 1 + (behind != 0);
        return;
    }
    out->len = (size_t)(to - out->ptr);
    write_escaped(out, text, behind);
}

static void write_string(struct buf *out, struct slice text)
{
    uint8_t *to = buf_reserve(out, text.len + TEXT_ROOM);
    if (to == NULL)
        return;
    *to = '"';
    put_text(out, to + 1, text, 0);
}

static void write_string_value(struct buf *out, struct slice text)
{
    uint8_t *to = buf_reserve(out, text.len + TEXT_ROOM);
    if (to == NULL)
        return;
    memcpy(to, "{\"S\":\"", 6);
    put_text(out, to + 6, text, '}');
}

ALWAYS_INLINE void write_name(struct buf *out, bool comma, struct slice name)
{
    uint8_t *to = buf_reserve(out, name.len + TEXT_ROOM);
    if (to == NULL)
        return;
    *to = ',';
    to += comma;
    *to = '"';
    put_text(out, to + 1, name, ':');
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
    write_name(w->out, w->comma, name);
    w->comma = false;
}

void json_string(struct json_writer *w, struct slice text)
{
    writer_comma(w);
    write_string(w->out, text);
    w->comma = true;
}

// Messages may quote what a client sent in a header, which need not be UTF-8; JSON must be.
static void latin_text(struct json_writer *w, struct slice text)
{
    struct buf utf8;
    buf_init(&utf8, 2 * text.len);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 0x80)
            buf_byte(&utf8, (uint8_t)(0xc0 | text.ptr[i] >> 6));
        buf_byte(&utf8, text.ptr[i] >= 0x80 ? (uint8_t)(0x80 | (text.ptr[i] & 0x3f)) : text.ptr[i]);
    }
    json_string(w, buf_view(&utf8));
    buf_release(&utf8);
}

void json_text(struct json_writer *w, const char *text)
{
    struct slice bytes = slice_str(text);
    if (utf8_valid(bytes))
        json_string(w, bytes);
    else
        latin_text(w, bytes);
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

static void write_number_value(struct buf *out, struct slice stored)
{
    uint8_t *to = buf_reserve(out, NUMBER_TEXT_MAX + 8);
    if (to == NULL)
        return;
    memcpy(to, "{\"N\":\"", 6);
    size_t len = number_to_text(stored, (char *)to + 6);
    memcpy(to + 6 + len, "\"}", 2);
    out->len += len + 8;
}

static void write_binary(struct buf *out, struct slice bytes)
{
    buf_byte(out, '"');
    base64_encode(out, bytes);
    buf_byte(out, '"');
}

// These take where a value begins and return what is behind it: each byte is walked over once.

static const uint8_t *write_value(struct buf *out, const uint8_t *at);

static const uint8_t *write_set(struct buf *out, const uint8_t *at, const char *opening,
                                void (*write_member)(struct buf *, struct slice))
{
    buf_text(out, opening);
    at += VALUE_BODY;
    uint64_t count = varint_get(&at);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        write_member(out, value_counted(&at));
    }
    BUF_LIT(out, "]}");
    return at;
}

static const uint8_t *write_list(struct buf *out, const uint8_t *at)
{
    BUF_LIT(out, "{\"L\":[");
    at += VALUE_BODY;
    uint64_t count = varint_get(&at);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        at = write_value(out, at);
    }
    BUF_LIT(out, "]}");
    return at;
}

static const uint8_t *write_entries(struct buf *out, const uint8_t *at)
{
    buf_byte(out, '{');
    at += VALUE_BODY;
    uint64_t count = varint_get(&at);
    for (uint64_t i = 0; i < count; i++) {
        struct slice name = value_counted(&at);
        write_name(out, i > 0, name);
        at = write_value(out, at);
    }
    buf_byte(out, '}');
    return at;
}

// Recursion is bounded: a stored value has at most LIMIT_NESTING levels.
static const uint8_t *write_value(struct buf *out, const uint8_t *at)
{
    const uint8_t *bytes = at + 1;
    switch ((enum value_tag) * at) {
    case VALUE_TAG_NULL:
        BUF_LIT(out, "{\"NULL\":true}");
        return bytes;
    case VALUE_TAG_FALSE:
        BUF_LIT(out, "{\"BOOL\":false}");
        return bytes;
    case VALUE_TAG_TRUE:
        BUF_LIT(out, "{\"BOOL\":true}");
        return bytes;
    case VALUE_TAG_N:
        write_number_value(out, value_counted(&bytes));
        return bytes;
    case VALUE_TAG_S:
        write_string_value(out, value_counted(&bytes));
        return bytes;
    case VALUE_TAG_B:
        BUF_LIT(out, "{\"B\":");
        write_binary(out, value_counted(&bytes));
        buf_byte(out, '}');
        return bytes;
    case VALUE_TAG_SS:
        return write_set(out, at, "{\"SS\":[", write_string);
    case VALUE_TAG_NS:
        return write_set(out, at, "{\"NS\":[", write_number);
    case VALUE_TAG_BS:
        return write_set(out, at, "{\"BS\":[", write_binary);
    case VALUE_TAG_L:
        return write_list(out, at);
    case VALUE_TAG_M:
        BUF_LIT(out, "{\"M\":");
        at = write_entries(out, at);
        buf_byte(out, '}');
        return at;
    case VALUE_TAGS:
        break;
    }
    ensure(!"a value has a known tag");
    return at;
}

void json_value(struct json_writer *w, struct slice value)
{
    writer_comma(w);
    (void)write_value(w->out, value.ptr);
    w->comma = true;
}

void json_item(struct json_writer *w, struct slice item)
{
    writer_comma(w);
    (void)write_entries(w->out, item.ptr);
    w->comma = true;
}
