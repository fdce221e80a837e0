// A short notation for values, for tests only: the expression module may not see the JSON one.
//
//   "text"  12.5  0x0a0b  true  false  null  [1, 2]  {a=1, b={c=2}}  <"x", "y">  <1, 2>  <0x01>
//
// Strings have no escapes. Names end at "=". A malformed notation is a broken test: ensure() stops.
#ifndef TESTS_EXPR_NOTATION_H
#define TESTS_EXPR_NOTATION_H

#include "value/number.h"
#include "value/value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct notation {
    const char *at;
    struct value_builder *builder;
};

static inline void notation_space(struct notation *in)
{
    while (*in->at == ' ')
        in->at++;
}

static inline bool notation_take(struct notation *in, char c)
{
    notation_space(in);
    if (*in->at != c)
        return false;
    in->at++;
    return true;
}

static inline struct slice notation_string(struct notation *in)
{
    const char *end = strchr(in->at + 1, '"');
    ensure(end != NULL);
    struct slice text = slice_of(in->at + 1, (size_t)(end - in->at - 1));
    in->at = end + 1;
    return text;
}

static inline size_t notation_number(struct notation *in, uint8_t out[NUMBER_BYTES_MAX])
{
    size_t len = strspn(in->at, "0123456789+-.eE");
    size_t stored = 0;
    ensure(number_from_text(slice_of(in->at, len), out, &stored) == NUMBER_OK);
    in->at += len;
    return stored;
}

static inline size_t notation_hex(struct notation *in, uint8_t out[256])
{
    size_t n = 0;
    unsigned byte;
    for (in->at += 2; sscanf(in->at, "%2x", &byte) == 1; in->at += 2)
        out[n++] = (uint8_t)byte;
    return n;
}

static inline void notation_set(struct notation *in)
{
    notation_space(in);
    bool binary = in->at[0] == '0' && in->at[1] == 'x';
    bool text = in->at[0] == '"';
    value_open_set(in->builder, binary ? VALUE_BS : text ? VALUE_SS : VALUE_NS);
    do {
        uint8_t bytes[256];
        notation_space(in);
        if (text)
            value_member(in->builder, notation_string(in));
        else if (binary)
            value_member(in->builder, slice_of(bytes, notation_hex(in, bytes)));
        else
            value_member(in->builder, slice_of(bytes, notation_number(in, bytes)));
    } while (notation_take(in, ','));
    ensure(notation_take(in, '>'));
    ensure(value_close(in->builder));
}

static inline void notation_value(struct notation *in);

static inline void notation_map(struct notation *in)
{
    value_open_map(in->builder);
    while (!notation_take(in, '}')) {
        notation_space(in);
        size_t len = strcspn(in->at, "=");
        value_name(in->builder, slice_of(in->at, len));
        in->at += len + 1;
        notation_value(in);
        notation_take(in, ',');
    }
    value_close(in->builder);
}

static inline bool notation_word(struct notation *in, const char *word)
{
    if (strncmp(in->at, word, strlen(word)) != 0)
        return false;
    in->at += strlen(word);
    return true;
}

static inline void notation_scalar(struct notation *in)
{
    uint8_t bytes[256];
    if (*in->at == '"')
        value_put_string(in->builder, notation_string(in));
    else if (notation_word(in, "true"))
        value_put_bool(in->builder, true);
    else if (notation_word(in, "false"))
        value_put_bool(in->builder, false);
    else if (notation_word(in, "null"))
        value_put_null(in->builder);
    else if (in->at[0] == '0' && in->at[1] == 'x')
        value_put_binary(in->builder, slice_of(bytes, notation_hex(in, bytes)));
    else
        value_put_number(in->builder, slice_of(bytes, notation_number(in, bytes)));
}

static inline void notation_value(struct notation *in)
{
    notation_space(in);
    if (notation_take(in, '{')) {
        notation_map(in);
    } else if (notation_take(in, '[')) {
        value_open_list(in->builder);
        while (!notation_take(in, ']')) {
            notation_value(in);
            notation_take(in, ',');
        }
        value_close(in->builder);
    } else if (notation_take(in, '<')) {
        notation_set(in);
    } else {
        notation_scalar(in);
    }
}

// Reads one value into `out`, which the caller owns.
static inline struct slice notation_read(const char *text, struct buf *out)
{
    struct value_builder builder;
    value_builder_init(&builder, out);
    struct notation in = {text, &builder};
    size_t start = out->len;
    notation_value(&in);
    notation_space(&in);
    ensure(*in.at == '\0' && !out->failed);
    value_builder_release(&builder);
    return slice_of(out->ptr + start, out->len - start);
}

// ---- Writing --------------------------------------------------------------------------

static inline void notation_write(struct buf *out, struct slice value);

static inline void notation_write_bytes(struct buf *out, enum value_type type, struct slice bytes)
{
    char digits[NUMBER_TEXT_MAX];
    if (type == VALUE_N) {
        buf_add(out, digits, number_to_text(bytes, digits));
    } else if (type == VALUE_B) {
        buf_text(out, "0x");
        for (size_t i = 0; i < bytes.len; i++)
            buf_printf(out, "%02x", bytes.ptr[i]);
    } else {
        buf_printf(out, "\"%.*s\"", SLICE_FMT(bytes));
    }
}

static inline void notation_write_container(struct buf *out, struct slice value)
{
    enum value_type type = value_type(value);
    enum value_type member = type == VALUE_NS ? VALUE_N : type == VALUE_BS ? VALUE_B : VALUE_S;
    const char *marks = type == VALUE_M ? "{}" : type == VALUE_L ? "[]" : "<>";
    buf_byte(out, (uint8_t)marks[0]);
    struct value_iter iter;
    value_iter_init(&iter, value);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        if (i > 0)
            buf_text(out, ", ");
        if (type == VALUE_M)
            buf_printf(out, "%.*s=", SLICE_FMT(iter.name));
        if (type == VALUE_M || type == VALUE_L)
            notation_write(out, iter.value);
        else
            notation_write_bytes(out, member, iter.value);
    }
    buf_byte(out, (uint8_t)marks[1]);
}

static inline void notation_write(struct buf *out, struct slice value)
{
    if (value.len == 0) {
        buf_text(out, "none");
        return;
    }
    switch (value_type(value)) {
    case VALUE_NULL:
        buf_text(out, "null");
        break;
    case VALUE_BOOL:
        buf_text(out, value_bool(value) ? "true" : "false");
        break;
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        notation_write_bytes(out, value_type(value), value_bytes(value));
        break;
    default:
        notation_write_container(out, value);
    }
}

#endif
