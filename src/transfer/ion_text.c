// See ion_text.h.
#include "transfer/ion_text.h"

#include "base/encode.h"

bool ion_skip_space(const uint8_t **at, const uint8_t *end)
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

bool ion_unescape(const uint8_t **at, const uint8_t *end, uint8_t quote, bool is_long,
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

bool ion_number(const uint8_t **at, const uint8_t *end, struct buf *out)
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
