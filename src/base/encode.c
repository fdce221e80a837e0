// See encode.h. Digests are OpenSSL's; the low-level MD5 calls are used because
// the EVP ones fetch the algorithm anew for every key we hash.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/encode.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

static const char base64_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, struct slice bytes)
{
    size_t len = base64_encoded_len(bytes.len);
    uint8_t *to = buf_reserve(out, len);
    if (to == NULL)
        return;
    size_t i = 0;
    for (; i + 2 < bytes.len; i += 3) {
        uint32_t v =
            (uint32_t)bytes.ptr[i] << 16 | (uint32_t)bytes.ptr[i + 1] << 8 | bytes.ptr[i + 2];
        *to++ = (uint8_t)base64_alphabet[v >> 18];
        *to++ = (uint8_t)base64_alphabet[v >> 12 & 63];
        *to++ = (uint8_t)base64_alphabet[v >> 6 & 63];
        *to++ = (uint8_t)base64_alphabet[v & 63];
    }
    if (i < bytes.len) {
        bool two = i + 1 < bytes.len;
        uint32_t v = (uint32_t)bytes.ptr[i] << 16 | (two ? (uint32_t)bytes.ptr[i + 1] << 8 : 0);
        *to++ = (uint8_t)base64_alphabet[v >> 18];
        *to++ = (uint8_t)base64_alphabet[v >> 12 & 63];
        *to++ = two ? (uint8_t)base64_alphabet[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    out->len += len;
}

static int base64_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

bool base64_decode(struct buf *out, struct slice text)
{
    if (text.len % 4 != 0)
        return false;
    uint8_t *to = buf_reserve(out, text.len / 4 * 3 + 1);
    if (to == NULL)
        return false;
    size_t written = 0;
    for (size_t i = 0; i < text.len; i += 4) {
        const uint8_t *c = text.ptr + i;
        bool last = i + 4 == text.len;
        int pads = last ? (c[3] == '=') + (c[3] == '=' && c[2] == '=') : 0;
        int v0 = base64_value(c[0]);
        int v1 = base64_value(c[1]);
        int v2 = pads == 2 ? 0 : base64_value(c[2]);
        int v3 = pads >= 1 ? 0 : base64_value(c[3]);
        if ((v0 | v1 | v2 | v3) < 0)
            return false;
        uint32_t v = (uint32_t)v0 << 18 | (uint32_t)v1 << 12 | (uint32_t)v2 << 6 | (uint32_t)v3;
        if ((pads == 1 && (v & 0xff) != 0) || (pads == 2 && (v & 0xffff) != 0))
            return false;
        to[written++] = (uint8_t)(v >> 16);
        if (pads < 2)
            to[written++] = (uint8_t)(v >> 8);
        if (pads < 1)
            to[written++] = (uint8_t)v;
    }
    out->len += written;
    return true;
}

void md5_of(struct slice first, struct slice second, uint8_t out[16])
{
    MD5_CTX context;
    MD5_Init(&context);
    MD5_Update(&context, first.ptr, first.len);
    MD5_Update(&context, second.ptr, second.len);
    MD5_Final(out, &context);
}

void sha256_of(struct slice bytes, uint8_t out[32])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes.ptr, bytes.len);
    SHA256_Final(out, &context);
}

// The number of continuation bytes after a lead byte, or -1. `low` and `high`
// bound the first continuation byte, which excludes overlong forms, surrogates
// and code points above U+10FFFF.
static int utf8_lead(uint8_t lead, uint8_t *low, uint8_t *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 1;
    if (lead >= 0xe0 && lead <= 0xef) {
        *low = lead == 0xe0 ? 0xa0 : 0x80;
        *high = lead == 0xed ? 0x9f : 0xbf;
        return 2;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        *low = lead == 0xf0 ? 0x90 : 0x80;
        *high = lead == 0xf4 ? 0x8f : 0xbf;
        return 3;
    }
    return -1;
}

bool utf8_valid(struct slice bytes)
{
    size_t i = 0;
    while (i < bytes.len) {
        uint8_t lead = bytes.ptr[i++];
        if (lead < 0x80)
            continue;
        uint8_t low;
        uint8_t high;
        int more = utf8_lead(lead, &low, &high);
        if (more < 0 || bytes.len - i < (size_t)more)
            return false;
        if (bytes.ptr[i] < low || bytes.ptr[i] > high)
            return false;
        for (int k = 1; k < more; k++) {
            if ((bytes.ptr[i + (size_t)k] & 0xc0) != 0x80)
                return false;
        }
        i += (size_t)more;
    }
    return true;
}

void hex_text(struct slice bytes, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.len; i++) {
        *out++ = digits[bytes.ptr[i] >> 4];
        *out++ = digits[bytes.ptr[i] & 15];
    }
}

int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t utf8_put(uint8_t *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (uint8_t)(0xc0 | (c >> 6));
        to[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (uint8_t)(0xe0 | (c >> 12));
        to[1] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
        to[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | (c >> 18));
    to[1] = (uint8_t)(0x80 | ((c >> 12) & 0x3f));
    to[2] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
    to[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}
