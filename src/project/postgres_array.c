// See postgres_array.h.
#include "project/postgres_array.h"

static void put_text(struct buf *out, struct slice text)
{
    const uint8_t *from = text.ptr;
    const uint8_t *end = text.ptr + text.len;
    buf_byte(out, '"');
    for (const uint8_t *at = from; at < end; at++) {
        if (*at != '"' && *at != '\\')
            continue;
        buf_add(out, from, (size_t)(at - from));
        buf_byte(out, '\\');
        from = at;
    }
    buf_add(out, from, (size_t)(end - from));
    buf_byte(out, '"');
}

// "\\x0123": the input format of bytea, whose backslash is one of an array's text.
static void put_bytes(struct buf *out, struct slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    buf_text(out, "\"\\\\x");
    uint8_t *to = buf_reserve(out, 2 * bytes.len + 1);
    if (to == NULL)
        return;
    for (size_t i = 0; i < bytes.len; i++) {
        *to++ = (uint8_t)digits[bytes.ptr[i] >> 4];
        *to++ = (uint8_t)digits[bytes.ptr[i] & 15];
    }
    *to = '"';
    out->len += 2 * bytes.len + 1;
}

void postgres_array(struct buf *out, const struct sql_value *values, size_t count, size_t step)
{
    buf_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        const struct sql_value *value = &values[i * step];
        if (i > 0)
            buf_byte(out, ',');
        if (value->form == SQL_FORM_NULL)
            buf_text(out, "NULL");
        else if (value->form == SQL_FORM_BYTES)
            put_bytes(out, value->text);
        else
            put_text(out, value->text);
    }
    buf_byte(out, '}');
    buf_byte(out, 0);
}
