// See payload.h. An aws-chunked body is lines and content by turns:
//
//   400;chunk-signature=<64 digits> CR LF <1024 bytes> CR LF      as often as need be
//   0;chunk-signature=<64 digits> CR LF
//   x-amz-checksum-crc32:<value> CR LF                            of those with a trailer
//   x-amz-trailer-signature:<64 digits> CR LF                     if it is signed
//   CR LF
//
// A chunk's signature signs the one before it, and its content; the first signs that of the
// request. So no chunk can be changed, left out, or moved.
#define OPENSSL_SUPPRESS_DEPRECATED // see keys.c
#include "sign/payload.h"

#include "base/encode.h"
#include "sign/sign_internal.h"

#include <openssl/crypto.h>
#include <stdio.h>

enum state { RAW, CHUNK_LINE, CONTENT, CONTENT_END, TRAILER, LAST_LINE, DONE };

static bool chunks_signed(const struct sign_payload_state *payload)
{
    return payload->kind == SIGN_PAYLOAD_CHUNKS || payload->kind == SIGN_PAYLOAD_CHUNKS_TRAILER;
}

void sign_payload_begin(struct sign_payload_state *payload, const struct sign_claim *claim,
                        struct slice secret_key, struct sign_cache *cache)
{
    memset(payload, 0, sizeof(*payload));
    payload->kind = claim->payload;
    payload->state = claim->payload >= SIGN_PAYLOAD_CHUNKS ? CHUNK_LINE : RAW;
    payload->length = claim->decoded_length;
    payload->announced = claim->trailer;
    memcpy(payload->expected, claim->hash, SIGN_HASH);
    SHA256_Init(&payload->hash);
    if (!chunks_signed(payload))
        return;
    memcpy(payload->date, claim->date, SIGN_DATE);
    (void)snprintf(payload->scope, sizeof(payload->scope), "%.*s/%.*s/%.*s/" SIGN_TERMINATOR,
                   SLICE_FMT(claim->day), SLICE_FMT(claim->region), SLICE_FMT(claim->service));
    ensure(claim->signature.len == SIGN_HEX); // it was checked
    memcpy(payload->previous, claim->signature.ptr, SIGN_HEX);
    sign_key_for(cache, secret_key, claim->day, claim->region, claim->service, &payload->key);
}

// ---- Signatures of chunks ------------------------------------------------------------------

static bool signature_is(struct sign_payload_state *payload, const char *algorithm,
                         struct slice hashes)
{
    char text[1024];
    char hex[SIGN_HEX + 1];
    uint8_t digest[SIGN_HASH];
    int len = snprintf(text, sizeof(text), "%s\n%s\n%s\n%.64s\n", algorithm, payload->date,
                       payload->scope, payload->previous);
    ensure(len > 0 && (size_t)len < sizeof(text));
    sign_hmac_of(&payload->key, slice_of(text, (size_t)len), hashes, digest);
    hex_text(slice_of(digest, sizeof(digest)), hex);
    bool same = CRYPTO_memcmp(hex, payload->signature, SIGN_HEX) == 0;
    memcpy(payload->previous, payload->signature, SIGN_HEX);
    return same;
}

static enum sign_result chunk_judge(struct sign_payload_state *payload)
{
    char hashes[SIGN_HEX + 1 + SIGN_HEX + 1] = SIGN_EMPTY_HASH "\n";
    uint8_t digest[SIGN_HASH];
    if (!chunks_signed(payload))
        return SIGN_OK;
    SHA256_Final(digest, &payload->hash);
    SHA256_Init(&payload->hash);
    hex_text(slice_of(digest, sizeof(digest)), hashes + SIGN_HEX + 1);
    return signature_is(payload, "AWS4-HMAC-SHA256-PAYLOAD", slice_of(hashes, 2 * SIGN_HEX + 1))
               ? SIGN_OK
               : SIGN_CHUNK_MISMATCH;
}

// ---- Lines ---------------------------------------------------------------------------------

static bool size_read(struct slice text, uint64_t *out)
{
    uint64_t size = 0;
    if (text.len == 0 || text.len > 12)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.ptr[i]);
        if (digit < 0)
            return false;
        size = size << 4 | (unsigned)digit;
    }
    *out = size;
    return true;
}

static bool chunk_line_read(struct sign_payload_state *payload, struct slice line, uint64_t *size)
{
    static const struct slice name = {(const uint8_t *)"chunk-signature=", 16};
    struct slice rest = line;
    struct slice number = slice_cut(&rest, ';');
    if (!size_read(number, size))
        return false;
    if (!chunks_signed(payload))
        return number.len == line.len;
    if (rest.len != name.len + SIGN_HEX || !slice_begins(rest, name))
        return false;
    memcpy(payload->signature, rest.ptr + name.len, SIGN_HEX);
    return true;
}

static enum sign_result chunk_line(struct sign_payload_state *payload, struct slice line)
{
    uint64_t size;
    if (!chunk_line_read(payload, line, &size))
        return SIGN_CHUNK_MALFORMED;
    if (size > payload->length - payload->total)
        return SIGN_LENGTH_MISMATCH;
    if (size > 0) {
        if (payload->small)
            return SIGN_CHUNK_SIZE;
        payload->small = size < SIGN_CHUNK_MIN;
        payload->left = size;
        payload->state = CONTENT;
        return SIGN_OK;
    }
    if (payload->total != payload->length)
        return SIGN_LENGTH_MISMATCH;
    payload->state = payload->kind == SIGN_PAYLOAD_CHUNKS ? LAST_LINE : TRAILER;
    return chunk_judge(payload);
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static bool announced(struct slice names, struct slice name)
{
    while (names.len > 0) {
        struct slice one = slice_trim(slice_cut(&names, ','));
        bool same = one.len == name.len;
        for (size_t i = 0; same && i < one.len; i++)
            same = lower(one.ptr[i]) == lower(name.ptr[i]);
        if (same)
            return true;
    }
    return false;
}

static enum sign_result trailer_judge(struct sign_payload_state *payload, struct slice signature)
{
    char hash[SIGN_HEX];
    if (payload->kind != SIGN_PAYLOAD_CHUNKS_TRAILER || payload->trailer_signed ||
        signature.len != SIGN_HEX)
        return SIGN_TRAILER_MALFORMED;
    memcpy(payload->signature, signature.ptr, SIGN_HEX);
    sign_payload_hash(slice_of(payload->text, payload->text_len), hash);
    payload->trailer_signed = true;
    return signature_is(payload, "AWS4-HMAC-SHA256-TRAILER", slice_of(hash, sizeof(hash)))
               ? SIGN_OK
               : SIGN_CHUNK_MISMATCH;
}

static enum sign_result trailer_over(struct sign_payload_state *payload)
{
    struct slice names = payload->announced;
    while (names.len > 0)
        if (sign_payload_trailer(payload, slice_trim(slice_cut(&names, ','))).ptr == NULL)
            return SIGN_TRAILER_MALFORMED;
    payload->state = DONE;
    return SIGN_OK;
}

static enum sign_result trailer_line(struct sign_payload_state *payload, struct slice line)
{
    bool wanted = payload->kind == SIGN_PAYLOAD_CHUNKS_TRAILER && !payload->trailer_signed;
    if (line.len == 0) // one may stand before the signature
        return wanted ? SIGN_OK : trailer_over(payload);
    struct slice value = line;
    struct slice name = slice_trim(slice_cut(&value, ':'));
    value = slice_trim(value);
    if (sign_name_equal(name, SLICE_LIT("x-amz-trailer-signature")))
        return trailer_judge(payload, value);
    if (payload->trailer_signed || name.len == 0 || value.len == 0 ||
        !announced(payload->announced, name) || sign_payload_trailer(payload, name).ptr != NULL ||
        payload->text_len + name.len + value.len + 2 > sizeof(payload->text))
        return SIGN_TRAILER_MALFORMED;
    char *to = payload->text + payload->text_len;
    for (size_t i = 0; i < name.len; i++)
        *to++ = (char)lower(name.ptr[i]);
    *to++ = ':';
    memcpy(to, value.ptr, value.len);
    to[value.len] = '\n';
    payload->text_len += name.len + value.len + 2;
    return SIGN_OK;
}

static enum sign_result line_end(struct sign_payload_state *payload)
{
    struct slice line = slice_of(payload->line, payload->line_len);
    bool proper = slice_ends(line, SLICE_LIT("\r"));
    line.len -= proper;
    payload->line_len = 0;
    if (payload->state == TRAILER)
        return trailer_line(payload, line);
    if (!proper)
        return SIGN_CHUNK_MALFORMED;
    if (payload->state == CHUNK_LINE)
        return chunk_line(payload, line);
    if (line.len > 0)
        return SIGN_CHUNK_MALFORMED;
    payload->state = payload->state == CONTENT_END ? CHUNK_LINE : DONE;
    return SIGN_OK;
}

// ---- Pieces --------------------------------------------------------------------------------

static enum sign_result line_feed(struct sign_payload_state *payload, struct slice piece,
                                  size_t *taken)
{
    const uint8_t *end = memchr(piece.ptr, '\n', piece.len);
    size_t len = end == NULL ? piece.len : (size_t)(end - piece.ptr);
    *taken = end == NULL ? len : len + 1;
    if (len > sizeof(payload->line) - payload->line_len)
        return payload->state == TRAILER ? SIGN_TRAILER_MALFORMED : SIGN_CHUNK_MALFORMED;
    memcpy(payload->line + payload->line_len, piece.ptr, len);
    payload->line_len += len;
    return end == NULL ? SIGN_OK : line_end(payload);
}

static enum sign_result content_feed(struct sign_payload_state *payload, struct slice piece,
                                     size_t *taken, struct slice *content)
{
    size_t len = piece.len < payload->left ? piece.len : (size_t)payload->left;
    *taken = len;
    *content = slice_of(piece.ptr, len);
    if (chunks_signed(payload))
        SHA256_Update(&payload->hash, piece.ptr, len);
    payload->total += len;
    payload->left -= len;
    if (payload->left > 0)
        return SIGN_OK;
    payload->state = CONTENT_END;
    return chunk_judge(payload);
}

enum sign_result sign_payload_feed(struct sign_payload_state *payload, struct slice piece,
                                   size_t *taken, struct slice *content)
{
    *taken = 0;
    *content = slice_of(piece.ptr, 0);
    if (piece.len == 0)
        return SIGN_OK;
    switch ((enum state)payload->state) {
    case RAW:
        if (payload->kind == SIGN_PAYLOAD_HASHED)
            SHA256_Update(&payload->hash, piece.ptr, piece.len);
        payload->total += piece.len;
        *taken = piece.len;
        *content = piece;
        return SIGN_OK;
    case CONTENT:
        return content_feed(payload, piece, taken, content);
    case CHUNK_LINE:
    case CONTENT_END:
    case TRAILER:
    case LAST_LINE:
        return line_feed(payload, piece, taken);
    case DONE:
        break;
    }
    return SIGN_CHUNK_MALFORMED;
}

enum sign_result sign_payload_end(struct sign_payload_state *payload)
{
    uint8_t digest[SIGN_HASH];
    OPENSSL_cleanse(&payload->key, sizeof(payload->key));
    if (payload->state != RAW)
        return payload->state == DONE ? SIGN_OK : SIGN_LENGTH_MISMATCH;
    if (payload->kind != SIGN_PAYLOAD_HASHED)
        return SIGN_OK;
    SHA256_Final(digest, &payload->hash);
    return CRYPTO_memcmp(digest, payload->expected, SIGN_HASH) == 0 ? SIGN_OK : SIGN_HASH_MISMATCH;
}

struct slice sign_payload_trailer(const struct sign_payload_state *payload, struct slice name)
{
    struct slice rest = slice_of(payload->text, payload->text_len);
    while (rest.len > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice own = slice_cut(&value, ':');
        if (own.len == name.len && sign_name_equal(name, own))
            return value;
    }
    return slice_of(NULL, 0);
}
