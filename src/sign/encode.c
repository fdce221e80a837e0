// Percent-encoding as SigV4 wants it: everything but the unreserved characters of RFC 3986, with
// digits in capitals.
#include "base/encode.h"
#include "sign/sign.h"

static bool unreserved(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

void sign_encode(struct buf *out, struct slice text, bool path)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (unreserved(c) || (path && c == '/')) {
            buf_byte(out, c);
            continue;
        }
        buf_byte(out, '%');
        buf_byte(out, (uint8_t)digits[c >> 4]);
        buf_byte(out, (uint8_t)digits[c & 15]);
    }
}

bool sign_decode(struct buf *out, struct slice text, bool query)
{
    size_t start = out->len;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '%') {
            int high = text.len - i > 2 ? hex_digit(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
            if (low < 0) {
                out->len = start;
                return false;
            }
            c = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (query && c == '+') {
            c = ' ';
        }
        buf_byte(out, c);
    }
    return !out->failed;
}
