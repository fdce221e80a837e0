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

static inline void writer_open(struct json_writer *w, uint8_t bracket)
{
    writer_comma(w);
    buf_byte(w->out, bracket);
    w->comma = false;
}

static inline void writer_close(struct json_writer *w, uint8_t bracket)
{
    buf_byte(w->out, bracket);
    w->comma = true;
}

void json_open_object(struct json_writer *w)
{
    writer_open(w, '{');
}

void json_close_object(struct json_writer *w)
{
    writer_close(w, '}');
}

void json_open_array(struct json_writer *w)
{
    writer_open(w, '[');
}

void json_close_array(struct json_writer *w)
{
    writer_close(w, ']');
}

// ---- Strings -----------------------------------------------------------------

static void write_escape(struct buf *out, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = memchr(plain, c, sizeof(plain) - 1);
    if (found != NULL) {
        buf_add(out, (char[]){'\\', letters[found - plain]}, 2);
        return;
    }
    buf_text(out, "\\u00");
    buf_add(out, (char[]){hex[c >> 4], hex[c & 15]}, 2);
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
// bytes that a copy may touch behind it.
enum { TEXT_ROOM = 16 + SCAN_PADDING };

static bool copy_exactly(uint8_t *to, struct slice text)
{
    copy_bytes(to, text.ptr, text.len);
    return scan_text(text.ptr, text.ptr + text.len) == text.ptr + text.len;
}

// Copies the text to `to` and says whether it needs no escape. `limit` is the end of what may
// be read, which a text that is followed by others is not near to.
ALWAYS_INLINE bool copy_text(uint8_t *to, struct slice text, const uint8_t *limit)
{
    if ((size_t)(limit - text.ptr) >= text.len + SCAN_PADDING)
        return scan_copy(to, text.ptr, text.len);
    return copy_exactly(to, text);
}

// Writes the text at `to`, in reserved room, its closing quote and the byte `behind`, unless
// that is 0; what stands before `to` is written already.
ALWAYS_INLINE void put_text(struct buf *out, uint8_t *to, struct slice text, const uint8_t *limit,
                            uint8_t behind)
{
    if (copy_text(to, text, limit)) {
        uint8_t *end = to + text.len;
        end[0] = '"';
        end[1] = behind;
        out->len = (size_t)(end - out->ptr) + 1 + (behind != 0);
        return;
    }
    out->len = (size_t)(to - out->ptr);
    write_escaped(out, text, behind);
}

static void write_string_within(struct buf *out, struct slice text, const uint8_t *limit)
{
    uint8_t *to = buf_reserve(out, text.len + TEXT_ROOM);
    if (to == NULL)
        return;
    *to = '"';
    put_text(out, to + 1, text, limit, 0);
}

static void write_string(struct buf *out, struct slice text)
{
    write_string_within(out, text, text.ptr + text.len);
}

static void write_string_value(struct buf *out, struct slice text, const uint8_t *limit)
{
    uint8_t *to = buf_reserve(out, text.len + TEXT_ROOM);
    if (to == NULL)
        return;
    memcpy(to, "{\"S\":\"", 6);
    put_text(out, to + 6, text, limit, '}');
}

ALWAYS_INLINE void write_name(struct buf *out, bool comma, struct slice name, const uint8_t *limit)
{
    uint8_t *to = buf_reserve(out, name.len + TEXT_ROOM);
    if (to == NULL)
        return;
    *to = ',';
    to += comma;
    *to = '"';
    put_text(out, to + 1, name, limit, ':');
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
    write_name(w->out, w->comma, name, name.ptr + name.len);
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

// ---- Attribute values ----------------------------------------------------------

#define BUF_LIT(out, literal) buf_add((out), (literal), sizeof(literal) - 1)

// A value is written in one of two notations: DynamoDB's, {"S":"…"}, or plain. The code is the
// same, and compiled once for each.
enum notation { TYPED, PLAIN };

static void write_digits(struct buf *out, struct slice stored, const uint8_t *limit)
{
    (void)limit;
    uint8_t *to = buf_reserve(out, NUMBER_TEXT_MAX);
    if (to != NULL)
        out->len += number_to_text(stored, (char *)to);
}

static void write_number(struct buf *out, struct slice stored, const uint8_t *limit)
{
    buf_byte(out, '"');
    write_digits(out, stored, limit);
    buf_byte(out, '"');
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

static void write_binary(struct buf *out, struct slice bytes, const uint8_t *limit)
{
    (void)limit;
    buf_byte(out, '"');
    base64_encode(out, bytes);
    buf_byte(out, '"');
}

// These take where a value begins and return what is behind it: each byte is walked over once.
// `limit` is the end of the whole value that they are part of.

static const uint8_t *write_typed(struct buf *out, const uint8_t *at, const uint8_t *limit);
static const uint8_t *write_plain(struct buf *out, const uint8_t *at, const uint8_t *limit);

ALWAYS_INLINE const uint8_t *write_inner(struct buf *out, const uint8_t *at, const uint8_t *limit,
                                         enum notation notation)
{
    return notation == TYPED ? write_typed(out, at, limit) : write_plain(out, at, limit);
}

static const uint8_t *write_set(struct buf *out, const uint8_t *at, const uint8_t *limit,
                                void (*write_member)(struct buf *, struct slice, const uint8_t *))
{
    buf_byte(out, '[');
    at += VALUE_BODY;
    uint64_t count = varint_get(&at);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        write_member(out, value_counted(&at), limit);
    }
    buf_byte(out, ']');
    return at;
}

ALWAYS_INLINE const uint8_t *write_list(struct buf *out, const uint8_t *at, const uint8_t *limit,
                                        enum notation notation)
{
    buf_byte(out, '[');
    at += VALUE_BODY;
    uint64_t count = varint_get(&at);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        at = write_inner(out, at, limit, notation);
    }
    buf_byte(out, ']');
    return at;
}

// Where the next byte goes, and the end of the room for it, out of the buf and into registers:
// an item has dozens of entries, most of them short texts. The pen is handed on by value, since
// it would be in memory if anybody had its address; while it is out, the buf's length is stale.
struct pen {
    struct buf *out;
    uint8_t *to; // NULL after a failure
    uint8_t *end;
};

ALWAYS_INLINE struct pen pen_take(struct buf *out)
{
    if (out->failed || out->ptr == NULL)
        return (struct pen){out, NULL, NULL};
    return (struct pen){out, out->ptr + out->len, out->ptr + out->cap};
}

ALWAYS_INLINE void pen_give_back(struct pen pen)
{
    if (pen.to != NULL)
        pen.out->len = (size_t)(pen.to - pen.out->ptr);
}

static struct pen pen_grow(struct pen pen, size_t room)
{
    pen_give_back(pen);
    (void)buf_reserve(pen.out, room);
    return pen_take(pen.out);
}

// Writes a text with escapes and sees to room behind it.
static struct pen pen_escape(struct pen pen, struct slice text, size_t room)
{
    pen_give_back(pen);
    write_escaped(pen.out, text, 0);
    (void)buf_reserve(pen.out, room);
    pen = pen_take(pen.out);
    pen.to -= pen.to != NULL; // the closing quote is written with what is behind it
    return pen;
}

// Writes the text, in room that is there, and has `room` bytes free behind it.
ALWAYS_INLINE struct pen pen_text(struct pen pen, struct slice text, const uint8_t *limit,
                                  size_t room)
{
    if (!copy_text(pen.to, text, limit))
        return pen_escape(pen, text, room);
    pen.to += text.len;
    return pen;
}

// Room that a map's entry may take beyond its name and text, a number included.
enum { ENTRY_ROOM = 2 * TEXT_ROOM + NUMBER_TEXT_MAX };

// What stands between the name and the bytes of a text or a number, and behind them.
ALWAYS_INLINE struct pen pen_open(struct pen pen, bool text, enum notation notation)
{
    if (notation == PLAIN) {
        memcpy(pen.to, "\":\"", 3);
        pen.to += 2 + text;
        return pen;
    }
    memcpy(pen.to, text ? "\":{\"S\":\"" : "\":{\"N\":\"", 8);
    pen.to += 8;
    return pen;
}

ALWAYS_INLINE struct pen pen_close(struct pen pen, bool text, enum notation notation)
{
    memcpy(pen.to, notation == TYPED ? "\"}," : text ? "\",," : ",,,", 3);
    pen.to += notation == TYPED ? 3 : 1 + text;
    return pen;
}

// Writes a name and its value, and a comma; *at moves behind them.
ALWAYS_INLINE struct pen write_entry(struct pen pen, const uint8_t **at, const uint8_t *limit,
                                     enum notation notation)
{
    struct slice name = value_counted(at);
    const uint8_t *bytes = *at + 1;
    uint8_t tag = **at;
    struct slice scalar = VALUE_NONE;
    if (tag == VALUE_TAG_S || tag == VALUE_TAG_N)
        scalar = value_counted(&bytes);
    size_t room = scalar.len + ENTRY_ROOM;
    if ((size_t)(pen.end - pen.to) < name.len + room)
        pen = pen_grow(pen, name.len + room);
    if (pen.to == NULL)
        return pen;
    *pen.to++ = '"';
    pen = pen_text(pen, name, limit, room);
    if (pen.to == NULL)
        return pen;
    if (tag != VALUE_TAG_S && tag != VALUE_TAG_N) {
        memcpy(pen.to, "\":", 2);
        pen.to += 2;
        pen_give_back(pen);
        *at = write_inner(pen.out, *at, limit, notation);
        buf_byte(pen.out, ',');
        return pen_take(pen.out);
    }
    *at = bytes;
    pen = pen_open(pen, tag == VALUE_TAG_S, notation);
    if (tag == VALUE_TAG_N) {
        pen.to += number_to_text(scalar, (char *)pen.to);
        return pen_close(pen, false, notation);
    }
    pen = pen_text(pen, scalar, limit, ENTRY_ROOM);
    return pen.to == NULL ? pen : pen_close(pen, true, notation);
}

ALWAYS_INLINE const uint8_t *write_entries(struct buf *out, const uint8_t *map,
                                           const uint8_t *limit, enum notation notation)
{
    const uint8_t *at = map + VALUE_BODY;
    uint64_t count = varint_get(&at);
    buf_byte(out, '{');
    struct pen pen = pen_take(out);
    for (uint64_t i = 0; i < count && pen.to != NULL; i++)
        pen = write_entry(pen, &at, limit, notation);
    pen_give_back(pen);
    if (out->failed)
        return map + value_length(map);
    // The last comma becomes the closing brace.
    if (count > 0)
        out->len--;
    buf_byte(out, '}');
    return at;
}

// A value without what says its type; of a typed one, S and N are written elsewhere.
ALWAYS_INLINE const uint8_t *write_bare(struct buf *out, const uint8_t *at, const uint8_t *limit,
                                        enum notation notation)
{
    const uint8_t *bytes = at + 1;
    switch ((enum value_tag) * at) {
    case VALUE_TAG_NULL:
        buf_text(out, notation == TYPED ? "true" : "null");
        return bytes;
    case VALUE_TAG_FALSE:
        BUF_LIT(out, "false");
        return bytes;
    case VALUE_TAG_TRUE:
        BUF_LIT(out, "true");
        return bytes;
    case VALUE_TAG_N:
        write_digits(out, value_counted(&bytes), limit);
        return bytes;
    case VALUE_TAG_S:
        write_string_within(out, value_counted(&bytes), limit);
        return bytes;
    case VALUE_TAG_B:
        write_binary(out, value_counted(&bytes), limit);
        return bytes;
    case VALUE_TAG_SS:
        return write_set(out, at, limit, write_string_within);
    case VALUE_TAG_NS:
        return write_set(out, at, limit, notation == TYPED ? write_number : write_digits);
    case VALUE_TAG_BS:
        return write_set(out, at, limit, write_binary);
    case VALUE_TAG_L:
        return write_list(out, at, limit, notation);
    case VALUE_TAG_M:
        return write_entries(out, at, limit, notation);
    case VALUE_TAGS:
        break;
    }
    ensure(!"a value has a known tag");
    return at;
}

// Recursion is bounded: a stored value has at most LIMIT_NESTING levels.
static const uint8_t *write_typed(struct buf *out, const uint8_t *at, const uint8_t *limit)
{
    static const struct {
        char text[8]; // copied whole, which is quicker
        size_t len;
    } openings[VALUE_TAGS] = {
        [VALUE_TAG_NULL] = {"{\"NULL\":", 8}, [VALUE_TAG_FALSE] = {"{\"BOOL\":", 8},
        [VALUE_TAG_TRUE] = {"{\"BOOL\":", 8}, [VALUE_TAG_B] = {"{\"B\":", 5},
        [VALUE_TAG_SS] = {"{\"SS\":", 6},     [VALUE_TAG_NS] = {"{\"NS\":", 6},
        [VALUE_TAG_BS] = {"{\"BS\":", 6},     [VALUE_TAG_L] = {"{\"L\":", 5},
        [VALUE_TAG_M] = {"{\"M\":", 5},
    };
    const uint8_t *bytes = at + 1;
    if (*at == VALUE_TAG_S || *at == VALUE_TAG_N) {
        struct slice scalar = value_counted(&bytes);
        if (*at == VALUE_TAG_S)
            write_string_value(out, scalar, limit);
        else
            write_number_value(out, scalar);
        return bytes;
    }
    ensure(*at < VALUE_TAGS);
    uint8_t *to = buf_reserve(out, sizeof openings[0].text);
    if (to != NULL) {
        memcpy(to, openings[*at].text, sizeof openings[0].text);
        out->len += openings[*at].len;
    }
    at = write_bare(out, at, limit, TYPED);
    buf_byte(out, '}');
    return at;
}

static const uint8_t *write_plain(struct buf *out, const uint8_t *at, const uint8_t *limit)
{
    return write_bare(out, at, limit, PLAIN);
}

void json_value(struct json_writer *w, struct slice value)
{
    writer_comma(w);
    (void)write_typed(w->out, value.ptr, value.ptr + value.len);
    w->comma = true;
}

void json_item(struct json_writer *w, struct slice item)
{
    writer_comma(w);
    (void)write_entries(w->out, item.ptr, item.ptr + item.len, TYPED);
    w->comma = true;
}

void json_put_item(struct json_writer *w, const char *name, struct slice item)
{
    if (item.len == 0)
        return;
    json_name(w, name);
    json_item(w, item);
}

void json_plain(struct json_writer *w, struct slice value)
{
    writer_comma(w);
    (void)write_plain(w->out, value.ptr, value.ptr + value.len);
    w->comma = true;
}

void json_plain_entries(struct json_writer *w, struct slice item, size_t count,
                        const uint8_t *const *entries)
{
    if (count == 0)
        return;
    writer_comma(w);
    struct pen pen = pen_take(w->out);
    for (size_t i = 0; i < count && pen.to != NULL; i++) {
        const uint8_t *at = entries[i];
        pen = write_entry(pen, &at, item.ptr + item.len, PLAIN);
    }
    pen_give_back(pen);
    w->out->len -= !w->out->failed; // the comma that comes next is the writer's business
    w->comma = true;
}

// ---- Members ----------------------------------------------------------------------------

void json_put_object(struct json_writer *w, const char *name)
{
    json_name(w, name);
    json_open_object(w);
}

void json_put_array(struct json_writer *w, const char *name)
{
    json_name(w, name);
    json_open_array(w);
}

void json_put_string(struct json_writer *w, const char *name, struct slice text)
{
    json_name(w, name);
    json_string(w, text);
}

void json_put_text(struct json_writer *w, const char *name, const char *text)
{
    json_name(w, name);
    json_text(w, text);
}

void json_put_integer(struct json_writer *w, const char *name, int64_t value)
{
    json_name(w, name);
    json_i64(w, value);
}

void json_put_flag(struct json_writer *w, const char *name, bool value)
{
    json_name(w, name);
    json_bool(w, value);
}

void json_put_time(struct json_writer *w, const char *name, int64_t milliseconds)
{
    json_name(w, name);
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

void json_put_given(struct json_writer *w, const char *name, struct slice text)
{
    if (text.len > 0)
        json_put_string(w, name, text);
}

void json_put_or_null(struct json_writer *w, const char *name, struct slice text)
{
    json_name(w, name);
    if (text.len > 0)
        json_string(w, text);
    else
        json_null(w);
}

void json_put_given_time(struct json_writer *w, const char *name, int64_t milliseconds)
{
    if (milliseconds != 0)
        json_put_time(w, name, milliseconds);
}
