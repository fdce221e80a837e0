// Ion text to values. Recursive descent over (pointer, length), to a fixed depth; the first fault
// ends it. Of Ion's types those without a counterpart in DynamoDB (symbols, timestamps, clobs,
// s-expressions) are refused.
#include "transfer/ion.h"

#include "base/encode.h"
#include "transfer/ion_text.h"
#include "value/number.h"

enum { ION_DEPTH = 48 };

// ---- Spelling ---------------------------------------------------------------------

// Moves *at behind spaces and comments; false if a comment does not end.
static bool ion_skip_space(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    for (;;) {
        while (p < end && ion_is_space(*p))
            p++;
        if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            const uint8_t *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            if (close == NULL)
                return false;
            p = close + 2;
        } else {
            *at = p;
            return true;
        }
    }
}

// ---- Escapes ----------------------------------------------------------------------

static bool hex_digits(const uint8_t **at, const uint8_t *end, size_t count, uint32_t *out)
{
    if ((size_t)(end - *at) < count)
        return false;
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = hex_digit(*(*at)++);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *out = value;
    return true;
}

// False if there is no such character.
static bool put_code_point(struct buf *out, uint32_t c)
{
    uint8_t bytes[4];
    if ((c >= 0xd800 && c <= 0xdfff) || c >= 0x110000)
        return false;
    buf_add(out, bytes, utf8_put(bytes, c));
    return true;
}

// \uD83D\uDE00 is one character.
static bool unicode_escape(const uint8_t **at, const uint8_t *end, struct buf *out)
{
    uint32_t first;
    uint32_t second;
    if (!hex_digits(at, end, 4, &first))
        return false;
    if (first < 0xd800 || first > 0xdbff)
        return put_code_point(out, first);
    if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    *at += 2;
    if (!hex_digits(at, end, 4, &second) || second < 0xdc00 || second > 0xdfff)
        return false;
    return put_code_point(out, 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
}

static bool escape(const uint8_t **at, const uint8_t *end, struct buf *out)
{
    static const char names[] = "0abtnfrv\"'?\\/";
    static const char meant[] = "\0\a\b\t\n\f\r\v\"'?\\/";
    if (*at == end)
        return false;
    uint8_t c = *(*at)++;
    const char *found = c == 0 ? NULL : memchr(names, c, sizeof(names) - 1);
    uint32_t code;
    if (found != NULL)
        buf_byte(out, (uint8_t)meant[found - names]);
    else if (c == 'x')
        return hex_digits(at, end, 2, &code) && put_code_point(out, code);
    else if (c == 'u')
        return unicode_escape(at, end, out);
    else if (c == 'U')
        return hex_digits(at, end, 8, &code) && put_code_point(out, code);
    else if (c == '\r' && *at < end && **at == '\n')
        (*at)++; // an escaped line end is nothing
    else
        return c == '\n' || c == '\r';
    return true;
}

// Appends the text up to the closing quote (three of them for a long string), behind which *at
// moves; false if it does not end or an escape is none.
static bool ion_unescape(const uint8_t **at, const uint8_t *end, uint8_t quote, bool is_long,
                         struct buf *out)
{
    while (*at < end) {
        uint8_t c = *(*at)++;
        if (c == quote && !is_long)
            return true;
        if (c == quote && end - *at >= 2 && (*at)[0] == quote && (*at)[1] == quote) {
            *at += 2;
            return true;
        }
        if (c == '\\') {
            if (!escape(at, end, out))
                return false;
        } else if (c == '\n' && !is_long) {
            return false;
        } else {
            buf_byte(out, c);
        }
    }
    return false;
}

// ---- Numbers ----------------------------------------------------------------------

// 0x1F and 0b101: as far as they fit 64 bits.
static bool radix_number(const uint8_t **at, const uint8_t *end, unsigned bits, struct buf *out)
{
    uint64_t value = 0;
    size_t digits = 0;
    for (; *at < end && ion_is_identifier(**at); (*at)++) {
        uint8_t c = **at;
        if (c == '_')
            continue;
        unsigned digit = ion_is_digit(c) ? c - (unsigned)'0' : (c | 0x20u) - 'a' + 10u;
        if (digit >= 1u << bits || value >> (64 - bits) != 0)
            return false;
        value = value << bits | digit;
        digits++;
    }
    buf_u64(out, value);
    return digits > 0;
}

static bool digits(const uint8_t **at, const uint8_t *end, struct buf *out)
{
    size_t count = 0;
    bool underscore = false;
    for (; *at < end && (ion_is_digit(**at) || (**at == '_' && count > 0)); (*at)++) {
        underscore = **at == '_';
        if (!underscore) {
            buf_byte(out, **at);
            count++;
        }
    }
    return count > 0 && !underscore;
}

// Appends an int, decimal or float as the decimal text that number_from_text() takes; false if it
// is none, or something follows that belongs to no number.
static bool ion_number(const uint8_t **at, const uint8_t *end, struct buf *out)
{
    if (*at < end && **at == '-')
        buf_byte(out, *(*at)++);
    if (end - *at >= 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X')) {
        *at += 2;
        return radix_number(at, end, 4, out);
    }
    if (end - *at >= 2 && (*at)[0] == '0' && ((*at)[1] == 'b' || (*at)[1] == 'B')) {
        *at += 2;
        return radix_number(at, end, 1, out);
    }
    if (!digits(at, end, out))
        return false;
    if (*at < end && **at == '.') {
        (*at)++;
        if (*at < end && ion_is_digit(**at)) {
            buf_byte(out, '.');
            if (!digits(at, end, out))
                return false;
        }
    }
    if (*at < end && (**at == 'd' || **at == 'D' || **at == 'e' || **at == 'E')) {
        (*at)++;
        buf_byte(out, 'E');
        if (*at < end && (**at == '-' || **at == '+'))
            buf_byte(out, *(*at)++);
        if (!digits(at, end, out))
            return false;
    }
    // 2020-01-01 is a timestamp, and 5x nothing at all.
    return *at == end || !(ion_is_identifier(**at) || **at == '-' || **at == '.' || **at == ':');
}

// ---- Reading ----------------------------------------------------------------------

struct ion_reader {
    const uint8_t *at;
    const uint8_t *end;
    struct value_builder *builder;
    struct buf text; // one unescaped string, symbol, number or blob
    struct buf binary;
    const char *fault;
    unsigned depth;
};

enum annotation { ANNOTATION_NONE, ANNOTATION_SS, ANNOTATION_NS, ANNOTATION_BS, ANNOTATION_OTHER };

static bool fail(struct ion_reader *reader, const char *fault)
{
    if (reader->fault == NULL)
        reader->fault = fault;
    return false;
}

static bool read_value(struct ion_reader *reader);

static bool skip_space(struct ion_reader *reader)
{
    return ion_skip_space(&reader->at, reader->end) || fail(reader, "a comment does not end");
}

static bool next_is(const struct ion_reader *reader, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(reader->end - reader->at) >= len && memcmp(reader->at, text, len) == 0;
}

static bool take(struct ion_reader *reader, uint8_t c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

// A string of either form into `text`. Several long strings in a row are one.
static bool read_string(struct ion_reader *reader)
{
    buf_clear(&reader->text);
    if (!next_is(reader, "'''")) {
        uint8_t quote = *reader->at++;
        return ion_unescape(&reader->at, reader->end, quote, false, &reader->text) ||
               fail(reader, "a string is not well-formed");
    }
    while (next_is(reader, "'''")) {
        reader->at += 3;
        if (!ion_unescape(&reader->at, reader->end, '\'', true, &reader->text))
            return fail(reader, "a long string is not well-formed");
        if (!skip_space(reader))
            return false;
    }
    return true;
}

// An identifier into `text`.
static void read_identifier(struct ion_reader *reader)
{
    buf_clear(&reader->text);
    while (reader->at < reader->end && ion_is_identifier(*reader->at))
        buf_byte(&reader->text, *reader->at++);
}

static enum annotation annotation_of(struct slice name)
{
    if (slice_is(name, "$dynamodb_SS"))
        return ANNOTATION_SS;
    if (slice_is(name, "$dynamodb_NS"))
        return ANNOTATION_NS;
    return slice_is(name, "$dynamodb_BS") ? ANNOTATION_BS : ANNOTATION_OTHER;
}

// ---- Scalars ----------------------------------------------------------------------

static bool read_number_text(struct ion_reader *reader, uint8_t stored[NUMBER_BYTES_MAX],
                             size_t *len)
{
    buf_clear(&reader->text);
    if (!ion_number(&reader->at, reader->end, &reader->text))
        return fail(reader, "a number is not well-formed");
    switch (number_from_text(buf_view(&reader->text), stored, len)) {
    case NUMBER_OK:
        return true;
    case NUMBER_SYNTAX:
        return fail(reader, "a number is not well-formed");
    case NUMBER_PRECISION:
        return fail(reader, "a number has more than 38 significant digits");
    default:
        return fail(reader, "a number is out of range");
    }
}

static bool read_blob_bytes(struct ion_reader *reader)
{
    reader->at += 2;
    buf_clear(&reader->text);
    buf_clear(&reader->binary);
    while (reader->at < reader->end && *reader->at != '}') {
        if (!ion_is_space(*reader->at))
            buf_byte(&reader->text, *reader->at);
        reader->at++;
    }
    if (!next_is(reader, "}}"))
        return fail(reader, "a blob does not end");
    reader->at += 2;
    return base64_decode(&reader->binary, buf_view(&reader->text)) ||
           fail(reader, "a blob is not base64");
}

// null, true or false; `text` has it. null.int and the like are NULL, too.
static bool put_keyword(struct ion_reader *reader)
{
    struct slice word = buf_view(&reader->text);
    if (slice_is(word, "true") || slice_is(word, "false")) {
        value_put_bool(reader->builder, word.ptr[0] == 't');
        return true;
    }
    if (!slice_is(word, "null"))
        return fail(reader, "a symbol cannot be an attribute value");
    if (take(reader, '.'))
        read_identifier(reader);
    value_put_null(reader->builder);
    return true;
}

// ---- Containers -------------------------------------------------------------------

// After an element: true if another may follow, false at the end or with a fault.
static bool more_elements(struct ion_reader *reader, uint8_t close)
{
    if (!skip_space(reader))
        return false;
    bool comma = take(reader, ',');
    if (!skip_space(reader))
        return false;
    if (take(reader, close))
        return false;
    return comma || fail(reader, "a comma or the end of a container is missing");
}

// The first look inside: false if the container is empty, or with a fault.
static bool first_element(struct ion_reader *reader, uint8_t close)
{
    reader->at++;
    return skip_space(reader) && !take(reader, close);
}

static bool read_list(struct ion_reader *reader)
{
    value_open_list(reader->builder);
    if (first_element(reader, ']')) {
        do {
            if (!read_value(reader))
                return false;
        } while (more_elements(reader, ']'));
    }
    return reader->fault == NULL && value_close(reader->builder);
}

static bool read_name(struct ion_reader *reader)
{
    if (reader->at == reader->end)
        return fail(reader, "a struct does not end");
    bool ok = true;
    if (*reader->at == '"' || *reader->at == '\'')
        ok = read_string(reader);
    else
        read_identifier(reader);
    if (!ok || reader->text.len == 0)
        return fail(reader, "a field has no name");
    value_name(reader->builder, buf_view(&reader->text));
    return skip_space(reader) && (take(reader, ':') || fail(reader, "a colon is missing")) &&
           skip_space(reader);
}

static bool read_struct(struct ion_reader *reader)
{
    value_open_map(reader->builder);
    if (first_element(reader, '}')) {
        do {
            if (!read_name(reader) || !read_value(reader))
                return false;
        } while (more_elements(reader, '}'));
    }
    return reader->fault == NULL && value_close(reader->builder);
}

static bool read_member(struct ion_reader *reader, enum annotation kind)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    if (reader->at == reader->end)
        return fail(reader, "a set does not end");
    if (kind == ANNOTATION_NS) {
        if (!read_number_text(reader, stored, &len))
            return false;
        value_member(reader->builder, slice_of(stored, len));
        return true;
    }
    if (kind == ANNOTATION_BS) {
        if (!next_is(reader, "{{") || !read_blob_bytes(reader))
            return fail(reader, "a binary set has something else in it");
        value_member(reader->builder, buf_view(&reader->binary));
        return true;
    }
    if ((*reader->at != '"' && !next_is(reader, "'''")) || !read_string(reader))
        return fail(reader, "a string set has something else in it");
    value_member(reader->builder, buf_view(&reader->text));
    return true;
}

static bool read_set(struct ion_reader *reader, enum annotation kind)
{
    static const enum value_type types[] = {
        [ANNOTATION_SS] = VALUE_SS, [ANNOTATION_NS] = VALUE_NS, [ANNOTATION_BS] = VALUE_BS};
    if (!next_is(reader, "["))
        return fail(reader, "a set is not a list");
    value_open_set(reader->builder, types[kind]);
    if (!first_element(reader, ']'))
        return fail(reader, "a set is empty");
    do {
        if (!read_member(reader, kind))
            return false;
    } while (more_elements(reader, ']'));
    return reader->fault == NULL &&
           (value_close(reader->builder) || fail(reader, "a set has the same member twice"));
}

// ---- Values -----------------------------------------------------------------------

// Annotations before a value: the last one that DynamoDB knows counts. A word that turns out to be
// no annotation is left in `text`, with *word set.
static bool read_annotations(struct ion_reader *reader, enum annotation *kind, bool *word)
{
    *kind = ANNOTATION_NONE;
    *word = false;
    while (reader->at < reader->end) {
        bool quoted = *reader->at == '\'' && !next_is(reader, "'''");
        if (!quoted && !(ion_is_identifier(*reader->at) && !ion_is_digit(*reader->at)))
            return true;
        if (!quoted)
            read_identifier(reader);
        else if (!read_string(reader))
            return false;
        if (!skip_space(reader))
            return false;
        if (!next_is(reader, "::")) {
            *word = !quoted;
            return !quoted || fail(reader, "a symbol cannot be an attribute value");
        }
        enum annotation found = annotation_of(buf_view(&reader->text));
        if (found != ANNOTATION_OTHER)
            *kind = found;
        reader->at += 2;
        if (!skip_space(reader))
            return false;
    }
    return fail(reader, "a value is missing");
}

static bool read_plain(struct ion_reader *reader)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    switch (*reader->at) {
    case '{':
        if (!next_is(reader, "{{"))
            return read_struct(reader);
        if (!read_blob_bytes(reader))
            return false;
        value_put_binary(reader->builder, buf_view(&reader->binary));
        return true;
    case '[':
        return read_list(reader);
    case '"':
    case '\'':
        if (!read_string(reader))
            return false;
        value_put_string(reader->builder, buf_view(&reader->text));
        return true;
    default:
        if (!read_number_text(reader, stored, &len))
            return false;
        value_put_number(reader->builder, slice_of(stored, len));
        return true;
    }
}

static bool read_value(struct ion_reader *reader)
{
    if (reader->depth == ION_DEPTH)
        return fail(reader, "values are nested too deeply");
    enum annotation kind;
    bool word;
    if (!read_annotations(reader, &kind, &word))
        return false;
    if (word)
        return put_keyword(reader);
    if (reader->at == reader->end)
        return fail(reader, "a value is missing");
    reader->depth++;
    bool ok = kind == ANNOTATION_NONE ? read_plain(reader) : read_set(reader, kind);
    reader->depth--;
    return ok;
}

static bool read_top(struct ion_reader *reader, bool *empty)
{
    if (!skip_space(reader))
        return false;
    while (next_is(reader, "$ion_1_0")) {
        reader->at += 8;
        if (!skip_space(reader))
            return false;
    }
    *empty = reader->at == reader->end;
    if (*empty)
        return true;
    if (*reader->at != '{' || next_is(reader, "{{"))
        return fail(reader, "the record is not a struct");
    return read_value(reader) && skip_space(reader) &&
           (reader->at == reader->end || fail(reader, "something follows the record"));
}

const char *ion_read(struct slice text, struct value_builder *builder, bool *empty)
{
    if (!utf8_valid(text))
        return "the text is not UTF-8";
    struct ion_reader reader = {.at = text.ptr, .end = text.ptr + text.len, .builder = builder};
    buf_init(&reader.text, text.len + 64);
    buf_init(&reader.binary, text.len + 64);
    bool ok = read_top(&reader, empty);
    if (reader.text.failed || reader.binary.failed || builder->out->failed)
        (void)fail(&reader, "memory is used up");
    buf_release(&reader.text);
    buf_release(&reader.binary);
    if (!ok || reader.fault != NULL) {
        value_builder_reset(builder);
        return reader.fault != NULL ? reader.fault : "the record is not valid Ion";
    }
    return NULL;
}
