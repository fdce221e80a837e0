// What is kept of objects, multipart uploads and their parts: one form of record for all three, and
// the keys under which they stand in the metadata.
//
//   B<bucket>                        a bucket (a record with its time)
//   C<bucket>, L<bucket>             its CORS and lifecycle configuration, as XML
//   O<bucket> 0 <key>                an object
//   U<bucket> 0 <key> 0 <upload>     a multipart upload
//   P<upload><number, 4 bytes>       a part of it
//   F<blob>                          a blob that something refers to
//   T                                how many objects there are, and their bytes
//
// Names of buckets and keys have no byte 0, so that the order of what is stored is that of S3's
// lists.
#ifndef OBJECTS_RECORD_H
#define OBJECTS_RECORD_H

#include "base/buf.h"
#include "objects/blob.h"

// The headers that an object is stored and sent with: X(id, name).
#define RECORD_HEADER_LIST(X)                                                                      \
    X(CONTENT_TYPE, "content-type")                                                                \
    X(CACHE_CONTROL, "cache-control")                                                              \
    X(CONTENT_DISPOSITION, "content-disposition")                                                  \
    X(CONTENT_ENCODING, "content-encoding")                                                        \
    X(CONTENT_LANGUAGE, "content-language")                                                        \
    X(EXPIRES, "expires")

enum record_header {
#define X(id, name) RECORD_##id,
    RECORD_HEADER_LIST(X)
#undef X
        RECORD_HEADERS
};
// In small letters.
extern const char *const record_header_names[RECORD_HEADERS];

enum { UPLOAD_ID = 32 };

struct record {
    uint64_t size;
    int64_t modified_ms;
    struct slice etag; // without quotes
    struct slice headers[RECORD_HEADERS];
    uint8_t checksum_kind; // enum checksum_kind; 0 for none
    bool checksum_whole;   // of all bytes, not of the parts' checksums
    struct slice checksum; // in base64, with "-N" if it is of parts; empty for none
    struct slice meta;     // pairs
    struct slice tags;     // pairs
    struct slice blobs;    // for each: its id and its size, 8 bytes
    uint64_t parts;        // of a multipart upload; 0 for none
};

enum { RECORD_BLOB = BLOB_ID + 8 };

void record_encode(struct buf *out, const struct record *record);
// The slices point into the bytes. False if they are no record.
MUST_CHECK bool record_decode(struct slice bytes, struct record *out);

static inline size_t record_blob_count(const struct record *record)
{
    return record->blobs.len / RECORD_BLOB;
}
void record_blob(const struct record *record, size_t at, struct blob_id *id, uint64_t *size);
void record_add_blob(struct buf *out, const struct blob_id *id, uint64_t size);

// Pairs of texts.
void pair_add(struct buf *out, struct slice name, struct slice value);
// The next pair; false at the end.
bool pair_next(struct slice *rest, struct slice *name, struct slice *value);
size_t pair_count(struct slice pairs);

// ---- Keys --------------------------------------------------------------------------------------

enum { RECORD_KEY_MAX = 2048 };

struct record_key {
    size_t len;
    uint8_t bytes[RECORD_KEY_MAX];
};

static inline struct slice record_key_view(const struct record_key *key)
{
    return slice_of(key->bytes, key->len);
}
struct record_key key_of_bucket(char kind, struct slice bucket); // B, C or L
struct record_key key_of_object(struct slice bucket, struct slice key);
struct record_key key_of_upload(struct slice bucket, struct slice key, struct slice upload);
struct record_key key_of_part(struct slice upload, unsigned number);
struct record_key key_of_blob(const struct blob_id *id);
// Bounds of all that begins with `prefix` below a bucket; kind is O or U.
struct record_key key_lower(char kind, struct slice bucket, struct slice prefix);
struct record_key key_upper(char kind, struct slice bucket, struct slice prefix);
// The first key behind all that begin with this one; empty if there is none.
void key_step(struct record_key *key);

#endif
