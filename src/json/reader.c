// The strict JSON pull reader.
//
// The idea: the caller drives, so no state is kept about the containers around the
// current place but their number; whether a comma is due is one flag, because a
// container has just been entered or it has not. The first error wins and moves the
// reader to the end of the text, so that every later call fails by itself.
//
// Nothing is owned: strings are slices of the text, or of the arena when they held an
// escape.
#include "json/reader.h"

#include "base/encode.h"
#include "base/limits.h"
#include "json/scan.h"

static bool reader_fail_at(struct json_reader *reader, const uint8_t *at, const char *error)
{
    if (reader->error == NULL) {
        reader->error = error;
        reader->offset = (size_t)(at - reader->start);
    }
    reader->at = reader->end;
    return false;
}

static bool reader_fail(struct json_reader *reader, const char *error)
{
    return reader_fail_at(reader, reader->at, error);
}

void json_reader_init(struct json_reader *reader, struct slice text, struct arena *arena)
{
    // An empty slice may have no address; pointer arithmetic wants one.
    const uint8_t *start = text.ptr != NULL ? text.ptr : (const uint8_t *)"";
    *reader =
        (struct json_reader){.at = start, .start = start, .end = start + text.len, .arena = arena};
}

static inline void reader_skip_space(struct json_reader *reader)
{
    reader->at = json_skip_space(reader->at, reader->end);
}

enum json_kind json_peek_slow(struct json_reader *reader)
{
    reader_skip_space(reader);
    enum json_kind kind = JSON_BAD;
    if (reader->at == reader->end)
        (void)reader_fail(reader, "unexpected end of the text");
    else if ((kind = json_kind_of(*reader->at)) == JSON_BAD)
        (void)reader_fail(reader, "unexpected character");
    return kind;
}

// ---- Containers --------------------------------------------------------------

bool json_enter_slow(struct json_reader *reader)
{
    reader_skip_space(reader);
    if (reader->at == reader->end || (*reader->at != '{' && *reader->at != '['))
        return reader_fail(reader, "an object or array is expected");
    if (reader->depth == LIMIT_JSON_DEPTH)
        return reader_fail(reader, "too deeply nested");
    reader->at++;
    reader->depth++;
    reader->fresh = true;
    return true;
}

// Steps to the next member or element, over the comma that is due. False at the end of
// the container, and on error.
static inline bool reader_step(struct json_reader *reader, uint8_t close)
{
    reader_skip_space(reader);
    if (reader->at == reader->end)
        return reader_fail(reader, "unexpected end of the text");
    bool fresh = reader->fresh;
    reader->fresh = false;
    if (*reader->at == close) {
        reader->at++;
        reader->depth--;
        return false;
    }
    if (fresh)
        return true;
    if (*reader->at != ',')
        return reader_fail(reader, "a comma or the end of the container is expected");
    reader->at++;
    return true;
}

bool json_next_element_slow(struct json_reader *reader)
{
    return reader_step(reader, ']');
}

// The commonest form of what follows a value: a comma, a plain name and a colon with no
// space between. False, with nothing consumed, if it is anything else.
static inline bool next_name_quickly(struct json_reader *reader, struct slice *name)
{
    const uint8_t *at = reader->at;
    if (reader->end - at < 4)
        return false;
    if (!reader->fresh && *at++ != ',')
        return false;
    if (*at++ != '"')
        return false;
    const uint8_t *stop = scan_ascii(at, reader->end);
    if (reader->end - stop < 2 || stop[0] != '"' || stop[1] != ':')
        return false;
    *name = slice_of(at, (size_t)(stop - at));
    reader->fresh = false;
    reader->at = stop + 2;
    return true;
}

bool json_next_name_slow(struct json_reader *reader, struct slice *name)
{
    if (next_name_quickly(reader, name))
        return true;
    if (!reader_step(reader, '}'))
        return false;
    if (!json_read_string(reader, name))
        return false;
    reader_skip_space(reader);
    if (reader->at == reader->end || *reader->at != ':')
        return reader_fail(reader, "a colon is expected");
    reader->at++;
    return true;
}

// ---- Strings -----------------------------------------------------------------

// The four hexadecimal digits of a \u escape; -1 if they are none.
static int32_t hex_unit(const uint8_t *at, const uint8_t *end)
{
    if (end - at < 4)
        return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

// Reads \uXXXX, and the second half of a surrogate pair, at reader->at (behind the u).
static bool unescape_unit(struct json_reader *reader, uint8_t **to)
{
    int32_t unit = hex_unit(reader->at, reader->end);
    if (unit < 0)
        return reader_fail(reader, "four hexadecimal digits are expected");
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return reader_fail(reader, "unpaired surrogate");
    reader->at += 4;
    uint32_t code = (uint32_t)unit;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        const uint8_t *at = reader->at;
        if (reader->end - at < 6 || at[0] != '\\' || at[1] != 'u')
            return reader_fail(reader, "unpaired surrogate");
        int32_t low = hex_unit(at + 2, reader->end);
        if (low < 0xdc00 || low > 0xdfff)
            return reader_fail(reader, "unpaired surrogate");
        reader->at += 6;
        code = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    }
    *to += utf8_put(*to, code);
    return true;
}

// Reads one escape at reader->at, which is a backslash.
static bool unescape_one(struct json_reader *reader, uint8_t **to)
{
    if (reader->end - reader->at < 2)
        return reader_fail(reader, "unexpected end of the text");
    uint8_t c = reader->at[1];
    switch (c) {
    case '"':
    case '\\':
    case '/':
        break;
    case 'b':
        c = '\b';
        break;
    case 'f':
        c = '\f';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 't':
        c = '\t';
        break;
    case 'u':
        reader->at += 2;
        return unescape_unit(reader, to);
    default:
        return reader_fail(reader, "unknown escape");
    }
    reader->at += 2;
    *(*to)++ = c;
    return true;
}

// The end of the string's text (its closing quote), found without reading it; an escaped
// quote does not end it. NULL if there is none.
static const uint8_t *string_end(const uint8_t *at, const uint8_t *end)
{
    while ((at = scan_text(at, end)) < end && *at != '"') {
        if (*at == '\\' && end - at >= 2)
            at++;
        at++;
    }
    return at < end ? at : NULL;
}

// The slow way, for strings with escapes: the text shrinks when it is unescaped, so
// its own length is room enough.
static bool read_escaped(struct json_reader *reader, const uint8_t *start, struct slice *out)
{
    const uint8_t *end = string_end(start, reader->end);
    if (end == NULL)
        return reader_fail_at(reader, reader->end, "unexpected end of the text");
    uint8_t *bytes = arena_alloc(reader->arena, (size_t)(end - start));
    if (bytes == NULL) {
        reader->budget = reader->error == NULL;
        return reader_fail(reader, "no memory left for the request");
    }
    uint8_t *to = bytes;
    reader->at = start;
    while (reader->at < end) {
        const uint8_t *stop = scan_text(reader->at, end);
        memcpy(to, reader->at, (size_t)(stop - reader->at));
        to += stop - reader->at;
        reader->at = stop;
        if (stop == end)
            break;
        if (*stop != '\\')
            return reader_fail(reader, "control character in a string");
        if (!unescape_one(reader, &to))
            return false;
    }
    *out = slice_of(bytes, (size_t)(to - bytes));
    if (!utf8_valid(*out))
        return reader_fail_at(reader, start, "malformed UTF-8");
    reader->at = end + 1;
    return true;
}

bool json_read_string(struct json_reader *reader, struct slice *out)
{
    reader_skip_space(reader);
    if (reader->at == reader->end || *reader->at != '"')
        return reader_fail(reader, "a string is expected");
    const uint8_t *start = reader->at + 1;
    const uint8_t *at = scan_ascii(start, reader->end);
    bool ascii = true;
    if (at < reader->end && *at >= 0x80) {
        ascii = false;
        at = scan_text(at, reader->end);
    }
    if (at == reader->end)
        return reader_fail_at(reader, at, "unexpected end of the text");
    if (*at == '\\')
        return read_escaped(reader, start, out);
    if (*at != '"')
        return reader_fail_at(reader, at, "control character in a string");
    *out = slice_of(start, (size_t)(at - start));
    if (!ascii && !utf8_valid(*out))
        return reader_fail_at(reader, start, "malformed UTF-8");
    reader->at = at + 1;
    return true;
}

// ---- Numbers and literals -------------------------------------------------------

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

bool json_read_number(struct json_reader *reader, struct slice *text)
{
    reader_skip_space(reader);
    const uint8_t *start = reader->at;
    const uint8_t *at = start;
    const uint8_t *end = reader->end;
    if (at < end && *at == '-')
        at++;
    const uint8_t *digits = at;
    at = skip_digits(at, end);
    if (at == digits)
        return reader_fail_at(reader, at, "a digit is expected");
    if (*digits == '0' && at - digits > 1)
        return reader_fail_at(reader, digits, "a number begins with zero");
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits)
            return reader_fail_at(reader, at, "a digit is expected");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return reader_fail_at(reader, at, "a digit is expected");
    }
    *text = slice_of(start, (size_t)(at - start));
    reader->at = at;
    return true;
}

bool json_read_literal(struct json_reader *reader)
{
    reader_skip_space(reader);
    struct slice rest = slice_of(reader->at, (size_t)(reader->end - reader->at));
    size_t len = 0;
    if (slice_begins(rest, SLICE_LIT("true")) || slice_begins(rest, SLICE_LIT("null")))
        len = 4;
    else if (slice_begins(rest, SLICE_LIT("false")))
        len = 5;
    else
        return reader_fail(reader, "unexpected character");
    reader->at += len;
    return true;
}

// ---- Whole values ----------------------------------------------------------------

static bool skip_scalar(struct json_reader *reader, enum json_kind kind)
{
    struct slice ignored;
    switch (kind) {
    case JSON_STRING:
        return json_read_string(reader, &ignored);
    case JSON_NUMBER:
        return json_read_number(reader, &ignored);
    default:
        return json_read_literal(reader);
    }
}

// Without recursion: one bit per open container says whether it is an object.
bool json_skip(struct json_reader *reader)
{
    uint64_t objects[LIMIT_JSON_DEPTH / 64 + 1] = {0};
    unsigned base = reader->depth;
    for (;;) {
        enum json_kind kind = json_peek(reader);
        if (kind == JSON_BAD)
            return false;
        if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
            if (!json_enter(reader))
                return false;
            uint64_t bit = UINT64_C(1) << (reader->depth % 64);
            uint64_t *word = &objects[reader->depth / 64];
            *word = kind == JSON_OBJECT ? *word | bit : *word & ~bit;
        } else if (!skip_scalar(reader, kind)) {
            return false;
        }
        // Leave the containers that end here; stay in the first that goes on.
        for (;;) {
            if (reader->depth == base)
                return true;
            bool object = (objects[reader->depth / 64] >> (reader->depth % 64) & 1) != 0;
            struct slice name;
            bool more = object ? json_next_name(reader, &name) : json_next_element(reader);
            if (more)
                break;
            if (reader->error != NULL)
                return false;
        }
    }
}

bool json_at_end(struct json_reader *reader)
{
    if (reader->error != NULL)
        return false;
    reader_skip_space(reader);
    return reader->at == reader->end || reader_fail(reader, "text behind the value");
}
