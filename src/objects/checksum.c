// See checksum.h. CRCs are taken eight bytes at a time from tables; they are joined by
// multiplying with x^(8·length) modulo their polynomial.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every use
#include "objects/checksum.h"

#include "base/encode.h"

#include <stdlib.h>
#include <strings.h>

// Both with the lowest power first.
static const uint64_t poly_crc32 = 0xedb88320u;
static const uint64_t poly_crc32c = 0x82f63b78u;
static const uint64_t poly_crc64nvme = 0x9a6c9329ac4bc9b5u;

struct checksum_tables {
    uint64_t crc32c[8][256];
    uint64_t crc64[8][256];
};

static const struct checksum_row rows[CHECKSUM_KINDS] = {{"", "", 0, false},
#define X(id, name, header, bytes, linear) {name, header, bytes, linear},
                                                         CHECKSUM_LIST(X)
#undef X
};

const struct checksum_row *checksum_row(enum checksum_kind kind)
{
    ensure(kind < CHECKSUM_KINDS);
    return &rows[kind];
}

enum checksum_kind checksum_find(struct slice name)
{
    for (unsigned i = CHECKSUM_NONE + 1; i < CHECKSUM_KINDS; i++) {
        if (strlen(rows[i].header) == name.len &&
            strncasecmp(rows[i].header, (const char *)name.ptr, name.len) == 0)
            return (enum checksum_kind)i;
    }
    return CHECKSUM_NONE;
}

// ---- CRCs
// ----------------------------------------------------------------------------------------

static void table_make(uint64_t table[8][256], uint64_t poly)
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t crc = i;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ poly : crc >> 1;
        table[0][i] = crc;
    }
    for (unsigned k = 1; k < 8; k++) {
        for (unsigned i = 0; i < 256; i++)
            table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xff];
    }
}

struct checksum_tables *checksum_tables_new(void)
{
    struct checksum_tables *tables = memory_zeroed(sizeof(*tables));
    table_make(tables->crc32c, poly_crc32c);
    table_make(tables->crc64, poly_crc64nvme);
    return tables;
}

void checksum_tables_free(struct checksum_tables *tables)
{
    free(tables);
}

static uint64_t crc_add(const uint64_t table[8][256], uint64_t crc, struct slice bytes)
{
    const uint8_t *at = bytes.ptr;
    size_t left = bytes.len;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word = le64_get(at) ^ crc;
        crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^ table[5][word >> 16 & 0xff] ^
              table[4][word >> 24 & 0xff] ^ table[3][word >> 32 & 0xff] ^
              table[2][word >> 40 & 0xff] ^ table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
    }
    for (; left > 0; left--, at++)
        crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xff];
    return crc;
}

// a·b modulo the polynomial, whose highest power is `top` to the left of bit 0.
static uint64_t multiply(uint64_t a, uint64_t b, uint64_t poly, uint64_t top)
{
    uint64_t product = 0;
    for (uint64_t bit = top; bit != 0 && a != 0; bit >>= 1) {
        if (a & bit) {
            product ^= b;
            a ^= bit;
        }
        b = b & 1 ? (b >> 1) ^ poly : b >> 1;
    }
    return product;
}

static uint64_t join(uint64_t first, uint64_t second, uint64_t len, uint64_t poly, uint64_t top)
{
    uint64_t power = top;       // x^0
    uint64_t square = top >> 1; // x^1, and its squares
    for (unsigned i = 0; i < 3; i++)
        square = multiply(square, square, poly, top);
    for (; len > 0; len >>= 1) {
        if (len & 1)
            power = multiply(power, square, poly, top);
        square = multiply(square, square, poly, top);
    }
    return multiply(power, first, poly, top) ^ second;
}

void checksum_join(enum checksum_kind kind, uint8_t *first, const uint8_t *second, uint64_t len)
{
    const uint64_t top32 = UINT64_C(1) << 31;
    const uint64_t top64 = UINT64_C(1) << 63;
    if (kind == CHECKSUM_CRC64NVME)
        be64_put(first, join(be64_get(first), be64_get(second), len, poly_crc64nvme, top64));
    else
        be32_put(first, (uint32_t)join(be32_get(first), be32_get(second), len,
                                       kind == CHECKSUM_CRC32 ? poly_crc32 : poly_crc32c, top32));
}

// ---- All of them
// -----------------------------------------------------------------------------------

void checksum_begin(struct checksum *checksum, enum checksum_kind kind,
                    const struct checksum_tables *tables)
{
    checksum->kind = kind;
    checksum->tables = tables;
    checksum->crc = kind == CHECKSUM_CRC32C ? UINT32_MAX : kind == CHECKSUM_CRC64NVME ? ~0ull : 0;
    if (kind == CHECKSUM_SHA1)
        SHA1_Init(&checksum->state.sha1);
    else if (kind == CHECKSUM_SHA256)
        SHA256_Init(&checksum->state.sha256);
}

void checksum_add(struct checksum *checksum, struct slice bytes)
{
    switch (checksum->kind) {
    case CHECKSUM_CRC32:
        checksum->crc = crc32_more((uint32_t)checksum->crc, bytes);
        break;
    case CHECKSUM_CRC32C:
        checksum->crc = crc_add(checksum->tables->crc32c, checksum->crc, bytes);
        break;
    case CHECKSUM_CRC64NVME:
        checksum->crc = crc_add(checksum->tables->crc64, checksum->crc, bytes);
        break;
    case CHECKSUM_SHA1:
        SHA1_Update(&checksum->state.sha1, bytes.ptr, bytes.len);
        break;
    case CHECKSUM_SHA256:
        SHA256_Update(&checksum->state.sha256, bytes.ptr, bytes.len);
        break;
    case CHECKSUM_NONE:
    case CHECKSUM_KINDS:
        break;
    }
}

void checksum_end(struct checksum *checksum, uint8_t out[CHECKSUM_BYTES])
{
    switch (checksum->kind) {
    case CHECKSUM_CRC32:
        be32_put(out, (uint32_t)checksum->crc);
        break;
    case CHECKSUM_CRC32C:
        be32_put(out, ~(uint32_t)checksum->crc);
        break;
    case CHECKSUM_CRC64NVME:
        be64_put(out, ~checksum->crc);
        break;
    case CHECKSUM_SHA1:
        SHA1_Final(out, &checksum->state.sha1);
        break;
    case CHECKSUM_SHA256:
        SHA256_Final(out, &checksum->state.sha256);
        break;
    case CHECKSUM_NONE:
    case CHECKSUM_KINDS:
        break;
    }
}

void checksum_text(enum checksum_kind kind, const uint8_t *bytes, char out[CHECKSUM_TEXT])
{
    struct buf text;
    buf_init(&text, CHECKSUM_TEXT);
    base64_encode(&text, slice_of(bytes, rows[kind].bytes));
    size_t len = text.len < CHECKSUM_TEXT ? text.len : CHECKSUM_TEXT - 1;
    if (len > 0)
        memcpy(out, text.ptr, len);
    out[len] = 0;
    buf_release(&text);
}

bool checksum_parse(enum checksum_kind kind, struct slice text, uint8_t out[CHECKSUM_BYTES])
{
    struct buf bytes;
    buf_init(&bytes, CHECKSUM_TEXT);
    bool ok =
        text.len < CHECKSUM_TEXT && base64_decode(&bytes, text) && bytes.len == rows[kind].bytes;
    if (ok && bytes.len > 0)
        memcpy(out, bytes.ptr, bytes.len);
    buf_release(&bytes);
    return ok;
}
