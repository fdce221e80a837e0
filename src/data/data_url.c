// Texts in URLs, and the cursors that stand there: see data_internal.h.
//
// A cursor is base64url of a tag (HMAC-SHA-256, cut to 16 bytes, with the database's secret over
// table, pattern, arguments and key) and the key behind which the next page begins. Nobody can make
// one, or use it for another question; and none is kept anywhere.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every cursor
#include "data/data_internal.h"

#include "base/encode.h"

enum { TAG_BYTES = 16, BLOCK_BYTES = 64, CURSOR_MAX = 16 << 10 };

// ---- Percent encoding -------------------------------------------------------------------------

struct slice data_decode(struct arena *arena, struct slice text, bool plus)
{
    uint8_t *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    if (out == NULL)
        return slice_of(NULL, 0);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        int high = c == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        if (low >= 0) {
            c = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        out[len++] = c;
    }
    return slice_of(out, len);
}

void data_encode(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '.' || c == '_' || c == '~')
            buf_byte(out, c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

// ---- Parameters -------------------------------------------------------------------------------

bool data_params_read(struct data *data, struct slice query)
{
    size_t most = 1;
    for (size_t i = 0; i < query.len; i++)
        most += query.ptr[i] == '&';
    data->params = arena_zalloc(&data->arena, most, sizeof(*data->params));
    if (data->params == NULL)
        return error_budget(&data->error);
    while (query.len > 0) {
        struct slice value = slice_cut(&query, '&');
        if (value.len == 0)
            continue;
        struct slice name = slice_cut(&value, '=');
        struct data_param *param = &data->params[data->param_count++];
        param->name = data_decode(&data->arena, name, true);
        param->value = data_decode(&data->arena, value, true);
        if (param->name.ptr == NULL || param->value.ptr == NULL)
            return error_budget(&data->error);
        if (!utf8_valid(param->name) || !utf8_valid(param->value))
            return error_set(&data->error, ERR_SERIALIZATION,
                             "The query string is not UTF-8 with %%XX escapes");
    }
    return true;
}

const struct slice *data_param(const struct data *data, const char *name)
{
    for (size_t i = 0; i < data->param_count; i++) {
        if (slice_is(data->params[i].name, name))
            return &data->params[i].value;
    }
    return NULL;
}

bool data_param_true(const struct data *data, const char *name)
{
    const struct slice *value = data_param(data, name);
    return value != NULL && (value->len == 0 || slice_is(*value, "true") || slice_is(*value, "1"));
}

// ---- Cursors ----------------------------------------------------------------------------------

// HMAC-SHA-256 (RFC 2104): the digests of the padded secret alone are the same for all.
void data_signing_init(struct data_service *service, const uint8_t secret[API_SECRET])
{
    static const uint8_t pads[] = {0x36, 0x5c};
    for (size_t i = 0; i < COUNT_OF(pads); i++) {
        uint8_t block[BLOCK_BYTES];
        for (size_t k = 0; k < BLOCK_BYTES; k++)
            block[k] = (uint8_t)((k < API_SECRET ? secret[k] : 0) ^ pads[i]);
        SHA256_Init(&service->signing[i]);
        SHA256_Update(&service->signing[i], block, BLOCK_BYTES);
    }
}

// Signs two texts, of which the first has its length before it.
static void sign(const struct data_service *service, struct slice scope, struct slice last,
                 uint8_t out[SHA256_DIGEST_LENGTH])
{
    uint8_t length[8];
    SHA256_CTX inner = service->signing[0];
    SHA256_CTX outer = service->signing[1];
    be64_put(length, scope.len);
    SHA256_Update(&inner, length, sizeof(length));
    SHA256_Update(&inner, scope.ptr, scope.len);
    SHA256_Update(&inner, last.ptr, last.len);
    SHA256_Final(out, &inner);
    SHA256_Update(&outer, out, SHA256_DIGEST_LENGTH);
    SHA256_Final(out, &outer);
}

void data_cursor_write(const struct data *data, struct slice scope, struct slice last,
                       struct buf *out)
{
    uint8_t tag[SHA256_DIGEST_LENGTH];
    struct buf bytes;
    buf_init(&bytes, CURSOR_MAX);
    sign(data->service, scope, last, tag);
    buf_add(&bytes, tag, TAG_BYTES);
    buf_slice(&bytes, last);
    size_t start = out->len;
    base64_encode(out, buf_view(&bytes));
    while (out->len > start && out->ptr[out->len - 1] == '=')
        out->len--;
    for (size_t i = start; i < out->len; i++) {
        if (out->ptr[i] == '+')
            out->ptr[i] = '-';
        else if (out->ptr[i] == '/')
            out->ptr[i] = '_';
    }
    buf_release(&bytes);
}

// The bytes of base64url without padding.
static bool cursor_bytes(struct slice cursor, struct buf *out)
{
    struct buf text;
    buf_init(&text, CURSOR_MAX * 2);
    for (size_t i = 0; i < cursor.len; i++) {
        uint8_t c = cursor.ptr[i];
        bool odd = c == '+' || c == '/' || c == '=';
        buf_byte(&text, c == '-' ? '+' : c == '_' ? '/' : odd ? '!' : c);
    }
    while (text.len % 4 != 0 && !text.failed)
        buf_byte(&text, '=');
    bool fine = !text.failed && base64_decode(out, buf_view(&text));
    buf_release(&text);
    return fine;
}

// In a time that does not depend on where they differ.
static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < len; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

bool data_cursor_read(struct data *data, struct slice scope, struct slice cursor,
                      struct slice *last)
{
    uint8_t tag[SHA256_DIGEST_LENGTH];
    struct buf bytes;
    buf_init(&bytes, CURSOR_MAX);
    bool fine = cursor.len < CURSOR_MAX && cursor_bytes(cursor, &bytes) && bytes.len > TAG_BYTES;
    struct slice key = fine ? slice_of(bytes.ptr + TAG_BYTES, bytes.len - TAG_BYTES) : VALUE_NONE;
    if (fine)
        sign(data->service, scope, key, tag);
    fine = fine && same_bytes(tag, bytes.ptr, TAG_BYTES) && value_valid(key);
    if (fine) {
        *last = arena_copy(&data->arena, key);
        fine = last->ptr != NULL;
    }
    buf_release(&bytes);
    return fine;
}
