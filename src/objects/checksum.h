// The checksums of S3, over bytes as they come, and of objects that were uploaded in parts.
#ifndef OBJECTS_CHECKSUM_H
#define OBJECTS_CHECKSUM_H

#include "base/attributes.h"
#include "base/buf.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

// X(id, name in XML, name in headers, bytes, whether parts' can be put together to the whole's)
#define CHECKSUM_LIST(X)                                                                           \
    X(CRC32, "CRC32", "crc32", 4, true)                                                            \
    X(CRC32C, "CRC32C", "crc32c", 4, true)                                                         \
    X(SHA1, "SHA1", "sha1", 20, false)                                                             \
    X(SHA256, "SHA256", "sha256", 32, false)                                                       \
    X(CRC64NVME, "CRC64NVME", "crc64nvme", 8, true)

enum checksum_kind {
    CHECKSUM_NONE,
#define X(id, name, header, bytes, linear) CHECKSUM_##id,
    CHECKSUM_LIST(X)
#undef X
        CHECKSUM_KINDS
};

enum { CHECKSUM_BYTES = 32, CHECKSUM_TEXT = 64 }; // base64, "-10000" and a NUL

struct checksum_row {
    const char *name;   // CRC32
    const char *header; // crc32, behind "x-amz-checksum-"
    size_t bytes;
    bool linear;
};
const struct checksum_row *checksum_row(enum checksum_kind kind);
// By either name, in any case; CHECKSUM_NONE if it is none.
enum checksum_kind checksum_find(struct slice name);

// Tables for the polynomials, made once.
struct checksum_tables;
struct checksum_tables *checksum_tables_new(void);
void checksum_tables_free(struct checksum_tables *tables);

struct checksum {
    enum checksum_kind kind;
    const struct checksum_tables *tables;
    uint64_t crc;
    union {
        SHA_CTX sha1;
        SHA256_CTX sha256;
    } state;
};

void checksum_begin(struct checksum *checksum, enum checksum_kind kind,
                    const struct checksum_tables *tables);
void checksum_add(struct checksum *checksum, struct slice bytes);
// The bytes of the sum, of which there are checksum_row()->bytes.
void checksum_end(struct checksum *checksum, uint8_t out[CHECKSUM_BYTES]);
// That in base64, with a NUL.
void checksum_text(enum checksum_kind kind, const uint8_t *bytes, char out[CHECKSUM_TEXT]);
// Base64 of the right length.
MUST_CHECK bool checksum_parse(enum checksum_kind kind, struct slice text,
                               uint8_t out[CHECKSUM_BYTES]);

// For the linear ones: the sum of what has `first` with `len` bytes behind it that have `second`,
// into `first`.
void checksum_join(enum checksum_kind kind, uint8_t *first, const uint8_t *second, uint64_t len);

#endif
