// See record.h. A record is a list of fields: a letter, a length, bytes. What is empty is left out,
// and what a later version adds has letters of its own.
#include "objects/record.h"

#include "base/encode.h"

const char *const record_header_names[RECORD_HEADERS] = {
#define X(id, name) name,
    RECORD_HEADER_LIST(X)
#undef X
};

enum field {
    FIELD_SIZE = 's',
    FIELD_MODIFIED = 't',
    FIELD_ETAG = 'e',
    FIELD_CHECKSUM_KIND = 'k',
    FIELD_CHECKSUM_WHOLE = 'w',
    FIELD_CHECKSUM = 'c',
    FIELD_META = 'm',
    FIELD_TAGS = 'g',
    FIELD_BLOBS = 'b',
    FIELD_PARTS = 'p',
    FIELD_HEADER = 'A', // and the letters behind it
};

static void put_bytes(struct buf *out, uint8_t field, struct slice bytes)
{
    uint8_t len[10];
    if (bytes.len == 0)
        return;
    buf_byte(out, field);
    buf_add(out, len, varint_put(len, bytes.len));
    buf_slice(out, bytes);
}

static void put_number(struct buf *out, uint8_t field, uint64_t number)
{
    uint8_t bytes[10];
    if (number > 0)
        put_bytes(out, field, slice_of(bytes, varint_put(bytes, number)));
}

void record_encode(struct buf *out, const struct record *record)
{
    put_number(out, FIELD_SIZE, record->size);
    put_number(out, FIELD_MODIFIED, (uint64_t)record->modified_ms);
    put_bytes(out, FIELD_ETAG, record->etag);
    for (unsigned i = 0; i < RECORD_HEADERS; i++)
        put_bytes(out, (uint8_t)(FIELD_HEADER + i), record->headers[i]);
    put_number(out, FIELD_CHECKSUM_KIND, record->checksum_kind);
    put_number(out, FIELD_CHECKSUM_WHOLE, record->checksum_whole);
    put_bytes(out, FIELD_CHECKSUM, record->checksum);
    put_bytes(out, FIELD_META, record->meta);
    put_bytes(out, FIELD_TAGS, record->tags);
    put_bytes(out, FIELD_BLOBS, record->blobs);
    put_number(out, FIELD_PARTS, record->parts);
}

// A number of at most ten bytes from the front of *rest.
static bool number_take(struct slice *rest, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < rest->len && i < 10; i++) {
        value |= (uint64_t)(rest->ptr[i] & 0x7f) << (7 * i);
        if (rest->ptr[i] < 0x80) {
            *out = value;
            *rest = slice_of(rest->ptr + i + 1, rest->len - i - 1);
            return true;
        }
    }
    return false;
}

static bool bytes_take(struct slice *rest, struct slice *out)
{
    uint64_t len;
    if (!number_take(rest, &len) || len > rest->len)
        return false;
    *out = slice_of(rest->ptr, (size_t)len);
    *rest = slice_of(rest->ptr + len, rest->len - (size_t)len);
    return true;
}

static bool field_set(struct record *out, uint8_t field, struct slice bytes)
{
    uint64_t number = 0;
    struct slice digits = bytes;
    bool numeric = number_take(&digits, &number) && digits.len == 0;
    switch (field) {
    case FIELD_SIZE:
        out->size = number;
        return numeric;
    case FIELD_MODIFIED:
        out->modified_ms = (int64_t)number;
        return numeric;
    case FIELD_CHECKSUM_KIND:
        out->checksum_kind = (uint8_t)number;
        return numeric;
    case FIELD_CHECKSUM_WHOLE:
        out->checksum_whole = number != 0;
        return numeric;
    case FIELD_PARTS:
        out->parts = number;
        return numeric;
    case FIELD_ETAG:
        out->etag = bytes;
        return true;
    case FIELD_CHECKSUM:
        out->checksum = bytes;
        return true;
    case FIELD_META:
        out->meta = bytes;
        return true;
    case FIELD_TAGS:
        out->tags = bytes;
        return true;
    case FIELD_BLOBS:
        out->blobs = bytes;
        return bytes.len % RECORD_BLOB == 0;
    default:
        if (field >= FIELD_HEADER && field < FIELD_HEADER + RECORD_HEADERS)
            out->headers[field - FIELD_HEADER] = bytes;
        return true;
    }
}

bool record_decode(struct slice bytes, struct record *out)
{
    memset(out, 0, sizeof(*out));
    while (bytes.len > 0) {
        uint8_t field = bytes.ptr[0];
        struct slice value;
        bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
        if (!bytes_take(&bytes, &value) || !field_set(out, field, value))
            return false;
    }
    return true;
}

void record_blob(const struct record *record, size_t at, struct blob_id *id, uint64_t *size)
{
    const uint8_t *from = record->blobs.ptr + at * RECORD_BLOB;
    memcpy(id->bytes, from, BLOB_ID);
    *size = be64_get(from + BLOB_ID);
}

void record_add_blob(struct buf *out, const struct blob_id *id, uint64_t size)
{
    uint8_t bytes[8];
    be64_put(bytes, size);
    buf_add(out, id->bytes, BLOB_ID);
    buf_add(out, bytes, sizeof(bytes));
}

void pair_add(struct buf *out, struct slice name, struct slice value)
{
    uint8_t len[10];
    buf_add(out, len, varint_put(len, name.len));
    buf_slice(out, name);
    buf_add(out, len, varint_put(len, value.len));
    buf_slice(out, value);
}

bool pair_next(struct slice *rest, struct slice *name, struct slice *value)
{
    return rest->len > 0 && bytes_take(rest, name) && bytes_take(rest, value);
}

size_t pair_count(struct slice pairs)
{
    struct slice name;
    struct slice value;
    size_t count = 0;
    while (pair_next(&pairs, &name, &value))
        count++;
    return count;
}

// ---- Keys --------------------------------------------------------------------------------------

static void key_add(struct record_key *key, const void *bytes, size_t len)
{
    ensure(len <= RECORD_KEY_MAX - key->len);
    if (len > 0)
        memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

struct record_key key_of_bucket(char kind, struct slice bucket)
{
    struct record_key key;
    key.len = 0;
    key_add(&key, &kind, 1);
    key_add(&key, bucket.ptr, bucket.len);
    return key;
}

struct record_key key_lower(char kind, struct slice bucket, struct slice prefix)
{
    struct record_key key = key_of_bucket(kind, bucket);
    key_add(&key, "", 1);
    key_add(&key, prefix.ptr, prefix.len);
    return key;
}

void key_step(struct record_key *key)
{
    while (key->len > 0 && key->bytes[key->len - 1] == 0xff)
        key->len--;
    if (key->len > 0)
        key->bytes[key->len - 1]++;
}

struct record_key key_upper(char kind, struct slice bucket, struct slice prefix)
{
    struct record_key key = key_lower(kind, bucket, prefix);
    key_step(&key);
    return key;
}

struct record_key key_of_object(struct slice bucket, struct slice key)
{
    return key_lower('O', bucket, key);
}

struct record_key key_of_upload(struct slice bucket, struct slice key, struct slice upload)
{
    struct record_key out = key_lower('U', bucket, key);
    key_add(&out, "", 1);
    key_add(&out, upload.ptr, upload.len);
    return out;
}

struct record_key key_of_part(struct slice upload, unsigned number)
{
    struct record_key key = key_of_bucket('P', upload);
    uint8_t bytes[4];
    be32_put(bytes, number);
    key_add(&key, bytes, sizeof(bytes));
    return key;
}

struct record_key key_of_blob(const struct blob_id *id)
{
    return key_of_bucket('F', slice_of(id->bytes, BLOB_ID));
}
