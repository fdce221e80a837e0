// Values as Ion text, on one line.
#include "transfer/ion.h"

#include "base/limits.h"
#include "transfer/ion_text.h"
#include "value/number.h"

static const char hex[] = "0123456789abcdef";

// Text between quotes. Control characters are escaped, so that a record is one line.
static void write_text(struct buf *out, struct slice text, uint8_t quote)
{
    buf_byte(out, quote);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == quote || c == '\\') {
            buf_byte(out, '\\');
            buf_byte(out, c);
        } else if (c == '\n' || c == '\r' || c == '\t') {
            buf_byte(out, '\\');
            buf_byte(out, c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        } else if (c < 0x20 || c == 0x7f) {
            buf_text(out, "\\x");
            buf_byte(out, (uint8_t)hex[c >> 4]);
            buf_byte(out, (uint8_t)hex[c & 15]);
        } else {
            buf_byte(out, c);
        }
    }
    buf_byte(out, quote);
}

// Whether a name can stand without quotes: an identifier that is no keyword and no $10.
static bool is_plain(struct slice name)
{
    if (name.len == 0 || !ion_is_identifier(name.ptr[0]) || ion_is_digit(name.ptr[0]))
        return false;
    bool digits = name.ptr[0] == '$' && name.len > 1;
    for (size_t i = 1; i < name.len; i++) {
        if (!ion_is_identifier(name.ptr[i]))
            return false;
        digits = digits && ion_is_digit(name.ptr[i]);
    }
    return !digits && !slice_is(name, "null") && !slice_is(name, "true") &&
           !slice_is(name, "false") && !slice_is(name, "nan");
}

// A decimal: 5 is "5.". Beyond 38 digits zeros at the end become an exponent, "1d125", because a
// reader may count every digit of a decimal.
static void write_number(struct buf *out, struct slice stored)
{
    char text[NUMBER_TEXT_MAX];
    size_t len = number_to_text(stored, text);
    buf_add(out, text, len);
    if (memchr(text, '.', len) != NULL)
        return;
    if (len <= LIMIT_NUMBER_DIGITS) {
        buf_byte(out, '.');
        return;
    }
    size_t zeros = 0;
    while (text[len - 1 - zeros] == '0')
        zeros++;
    if (!out->failed)
        out->len -= zeros;
    buf_byte(out, 'd');
    buf_u64(out, zeros);
}

static void write_blob(struct buf *out, struct slice bytes)
{
    buf_text(out, "{{");
    base64_encode(out, bytes);
    buf_text(out, "}}");
}

static void write_set(struct buf *out, struct slice set)
{
    enum value_type type = value_type(set);
    buf_text(out, "$dynamodb_");
    buf_text(out, value_type_name(type));
    buf_text(out, "::[");
    struct value_iter iter;
    value_iter_init(&iter, set);
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_byte(out, ',');
        if (type == VALUE_SS)
            write_text(out, iter.value, '"');
        else if (type == VALUE_NS)
            write_number(out, iter.value);
        else
            write_blob(out, iter.value);
    }
    buf_byte(out, ']');
}

static void write_container(struct buf *out, struct slice value, bool map)
{
    buf_byte(out, map ? '{' : '[');
    struct value_iter iter;
    value_iter_init(&iter, value);
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_byte(out, ',');
        if (map) {
            if (is_plain(iter.name))
                buf_slice(out, iter.name);
            else
                write_text(out, iter.name, '\'');
            buf_byte(out, ':');
        }
        ion_write(out, iter.value);
    }
    buf_byte(out, map ? '}' : ']');
}

void ion_write(struct buf *out, struct slice value)
{
    switch (value_type(value)) {
    case VALUE_NULL:
        buf_text(out, "null");
        return;
    case VALUE_BOOL:
        buf_text(out, value_bool(value) ? "true" : "false");
        return;
    case VALUE_N:
        write_number(out, value_bytes(value));
        return;
    case VALUE_S:
        write_text(out, value_bytes(value), '"');
        return;
    case VALUE_B:
        write_blob(out, value_bytes(value));
        return;
    case VALUE_L:
    case VALUE_M:
        write_container(out, value, value_type(value) == VALUE_M);
        return;
    default:
        write_set(out, value);
    }
}
