// See client.h: objects as files, and lists of them. What S3 answers is XML of a known form, of
// which single elements are read.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew
#include "s3/client_internal.h"

#include "base/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PART_SIZE = 8 << 20,
    PART_LEAST = 16 << 20, // larger files go in parts
    PARTS_MAX = 10000,
    ANSWER_MAX = 16 << 20,
    PIECE = 64 << 10,
    LIST_MAX = 1000000,
};

// ---- Answers ---------------------------------------------------------------------------------

// The text of the first element of that name.
static struct slice element(struct slice xml, const char *name)
{
    char open[48];
    char close[48];
    (void)snprintf(open, sizeof(open), "<%s>", name);
    (void)snprintf(close, sizeof(close), "</%s>", name);
    const uint8_t *from = xml.len == 0 ? NULL : memmem(xml.ptr, xml.len, open, strlen(open));
    if (from == NULL)
        return slice_of(NULL, 0);
    from += strlen(open);
    const uint8_t *to = memmem(from, xml.len - (size_t)(from - xml.ptr), close, strlen(close));
    return to == NULL ? slice_of(NULL, 0) : slice_of(from, (size_t)(to - from));
}

bool s3_answer_good(const struct s3_exchange *exchange, struct error *error)
{
    struct slice body = buf_view(&exchange->answer);
    bool fault =
        memmem(body.ptr == NULL ? (const uint8_t *)"" : body.ptr, body.len, "<Error>", 7) != NULL;
    if (exchange->status >= 200 && exchange->status < 300 && !fault)
        return true;
    struct slice code = element(body, "Code");
    struct slice message = element(body, "Message");
    enum error_code kind = slice_is(code, "NoSuchBucket") ? ERR_RESOURCE_NOT_FOUND : ERR_INTERNAL;
    return error_set(
        error, kind, "S3 answered %ld to %s of \"%.*s\" in bucket \"%.*s\"%s%.*s%s%.*s",
        exchange->status, exchange->method, SLICE_FMT(exchange->key), SLICE_FMT(exchange->bucket),
        code.len > 0 ? ": " : "", SLICE_FMT(code), message.len > 0 ? ", " : "", SLICE_FMT(message));
}

static void exchange_init(struct s3_exchange *exchange, const char *method, struct slice bucket,
                          struct slice key)
{
    *exchange = (struct s3_exchange){
        .method = method, .bucket = bucket, .key = key, .from_fd = -1, .to_fd = -1};
    buf_init(&exchange->answer, ANSWER_MAX);
}

static bool exchange_do(struct s3_client *client, struct s3_exchange *exchange, struct error *error)
{
    return s3_exchange(client, exchange, error) && s3_answer_good(exchange, error);
}

bool file_part_hash(int fd, off_t from, uint64_t length, char out[SIGN_HEX])
{
    uint8_t *piece = malloc(PIECE);
    uint8_t digest[SIGN_HASH];
    SHA256_CTX hash;
    bool ok = piece != NULL;
    SHA256_Init(&hash);
    while (ok && length > 0) {
        ssize_t got = pread(fd, piece, length < PIECE ? (size_t)length : PIECE, from);
        if (got == 0)
            errno = EIO; // it has become shorter
        ok = got > 0;
        if (ok) {
            SHA256_Update(&hash, piece, (size_t)got);
            from += got;
            length -= (uint64_t)got;
        }
    }
    SHA256_Final(digest, &hash);
    hex_text(slice_of(digest, sizeof(digest)), out);
    free(piece);
    return ok;
}

// ---- Uploads ---------------------------------------------------------------------------------

struct upload {
    struct s3_client *client;
    struct slice bucket;
    struct slice key;
    int fd;
    uint64_t size;
    struct buf id; // encoded, of one in parts
    struct buf list;
};

static bool upload_whole(const struct upload *upload, struct error *error)
{
    struct s3_exchange exchange;
    exchange_init(&exchange, "PUT", upload->bucket, upload->key);
    if (upload->size > 0) {
        exchange.from_fd = upload->fd;
        exchange.length = upload->size;
    }
    bool ok = exchange_do(upload->client, &exchange, error);
    buf_release(&exchange.answer);
    return ok;
}

static bool upload_begin(struct upload *upload, struct error *error)
{
    struct s3_exchange exchange;
    exchange_init(&exchange, "POST", upload->bucket, upload->key);
    exchange.query = SLICE_LIT("uploads=");
    bool ok = exchange_do(upload->client, &exchange, error);
    struct slice id = ok ? element(buf_view(&exchange.answer), "UploadId") : slice_of(NULL, 0);
    sign_encode(&upload->id, id, false);
    if (ok && id.len == 0)
        ok = error_set(error, ERR_INTERNAL, "S3 gave no id for an upload in parts");
    buf_release(&exchange.answer);
    return ok;
}

static bool upload_part(struct upload *upload, unsigned number, uint64_t from, uint64_t length,
                        struct error *error)
{
    struct s3_exchange exchange;
    struct buf query;
    exchange_init(&exchange, "PUT", upload->bucket, upload->key);
    buf_init(&query, LIMIT_SIGN_HEAD);
    buf_printf(&query, "partNumber=%u&uploadId=%.*s", number, SLICE_FMT(buf_view(&upload->id)));
    exchange.query = buf_view(&query);
    exchange.from_fd = upload->fd;
    exchange.from = (off_t)from;
    exchange.length = length;
    bool ok = exchange_do(upload->client, &exchange, error);
    buf_printf(&upload->list, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", number,
               exchange.etag);
    buf_release(&exchange.answer);
    buf_release(&query);
    return ok;
}

// All of it counts, or nothing does.
static bool upload_end(struct upload *upload, bool ok, struct error *error)
{
    struct s3_exchange exchange;
    struct buf query;
    exchange_init(&exchange, ok ? "POST" : "DELETE", upload->bucket, upload->key);
    buf_init(&query, LIMIT_SIGN_HEAD);
    buf_printf(&query, "uploadId=%.*s", SLICE_FMT(buf_view(&upload->id)));
    exchange.query = buf_view(&query);
    struct error ignored = {.arena = error->arena};
    if (ok) {
        buf_text(&upload->list, "</CompleteMultipartUpload>");
        exchange.body = buf_view(&upload->list);
        ok = exchange_do(upload->client, &exchange, error);
    } else {
        DISREGARD(s3_exchange(upload->client, &exchange, &ignored)); // the store forgets it later
    }
    buf_release(&exchange.answer);
    buf_release(&query);
    return ok;
}

static bool upload_parts(struct upload *upload, struct error *error)
{
    uint64_t part = PART_SIZE;
    unsigned number = 1;
    while (upload->size / part >= PARTS_MAX)
        part *= 2;
    if (!upload_begin(upload, error))
        return false;
    buf_text(&upload->list, "<CompleteMultipartUpload>");
    bool ok = true;
    for (uint64_t at = 0; ok && at < upload->size; at += part, number++)
        ok = upload_part(upload, number, at, upload->size - at < part ? upload->size - at : part,
                         error);
    return upload_end(upload, ok, error);
}

bool s3_client_put(struct s3_client *client, struct slice bucket, struct slice key,
                   const char *path, struct error *error)
{
    struct stat info;
    struct upload upload = {.client = client, .bucket = bucket, .key = key};
    upload.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (upload.fd < 0 || fstat(upload.fd, &info) != 0) {
        (void)error_set(error, ERR_INTERNAL, "'%s' cannot be read: %s", path, strerror(errno));
        if (upload.fd >= 0)
            (void)close(upload.fd);
        return false;
    }
    upload.size = (uint64_t)info.st_size;
    buf_init(&upload.id, LIMIT_SIGN_HEAD);
    buf_init(&upload.list, ANSWER_MAX);
    bool ok =
        upload.size > PART_LEAST ? upload_parts(&upload, error) : upload_whole(&upload, error);
    buf_release(&upload.id);
    buf_release(&upload.list);
    (void)close(upload.fd);
    return ok;
}

// ---- Others ----------------------------------------------------------------------------------

bool s3_client_get(struct s3_client *client, struct slice bucket, struct slice key,
                   const char *path, struct error *error)
{
    struct s3_exchange exchange;
    char *part = arena_printf(error->arena, "%s.part", path);
    int fd =
        part == NULL ? -1 : open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return error_set(error, ERR_INTERNAL, "'%s' cannot be written: %s", path, strerror(errno));
    exchange_init(&exchange, "GET", bucket, key);
    exchange.to_fd = fd;
    bool ok = exchange_do(client, &exchange, error);
    buf_release(&exchange.answer);
    (void)close(fd);
    if (ok && rename(part, path) != 0)
        ok = error_set(error, ERR_INTERNAL, "'%s' cannot be renamed: %s", part, strerror(errno));
    if (!ok)
        (void)unlink(part);
    return ok;
}

bool s3_client_head(struct s3_client *client, struct slice bucket, struct slice key, bool *there,
                    uint64_t *size, struct error *error)
{
    struct s3_exchange exchange;
    exchange_init(&exchange, "HEAD", bucket, key);
    bool ok = s3_exchange(client, &exchange, error);
    bool absent = ok && exchange.status == 404;
    ok = ok && (absent || s3_answer_good(&exchange, error));
    buf_release(&exchange.answer);
    if (ok) {
        *there = !absent;
        *size = exchange.size;
    }
    return ok;
}

bool s3_client_delete(struct s3_client *client, struct slice bucket, struct slice key,
                      struct error *error)
{
    struct s3_exchange exchange;
    exchange_init(&exchange, "DELETE", bucket, key);
    bool ok = s3_exchange(client, &exchange, error) &&
              (exchange.status == 404 || s3_answer_good(&exchange, error));
    buf_release(&exchange.answer);
    return ok;
}

// ---- Lists -----------------------------------------------------------------------------------

struct listing {
    struct arena *arena;
    struct s3_entry *list;
    size_t count;
    size_t room;
};

static bool entry_add(struct listing *listing, struct slice contents)
{
    struct buf key;
    struct slice size = element(contents, "Size");
    uint64_t number = 0;
    for (size_t i = 0; i < size.len && i < 18; i++)
        number = number * 10 + (uint64_t)(size.ptr[i] - '0');
    if (listing->count == listing->room) {
        size_t room = listing->room == 0 ? 256 : 2 * listing->room;
        struct s3_entry *grown = arena_alloc(listing->arena, room * sizeof(*grown));
        if (grown == NULL || room > LIST_MAX)
            return false;
        if (listing->count > 0)
            memcpy(grown, listing->list, listing->count * sizeof(*grown));
        listing->list = grown;
        listing->room = room;
    }
    buf_init(&key, LIMIT_SIGN_HEAD);
    if (!sign_decode(&key, element(contents, "Key"), true)) {
        buf_release(&key);
        return false;
    }
    struct s3_entry *entry = &listing->list[listing->count++];
    *entry = (struct s3_entry){arena_keep(listing->arena, &key), number};
    return entry->key.ptr != NULL;
}

// Takes the entries of a page; *token is where the next one begins, empty at the end.
static bool page_read(struct listing *listing, struct slice xml, struct buf *token)
{
    struct slice rest = xml;
    struct slice contents;
    buf_clear(token);
    while ((contents = element(rest, "Contents")).ptr != NULL) {
        if (!entry_add(listing, contents))
            return false;
        const uint8_t *next = contents.ptr + contents.len;
        rest = slice_of(next, rest.len - (size_t)(next - rest.ptr));
    }
    if (slice_is(element(xml, "IsTruncated"), "true"))
        sign_encode(token, element(xml, "NextContinuationToken"), false);
    return true;
}

bool s3_client_list(struct s3_client *client, struct slice bucket, struct slice prefix,
                    struct arena *arena, struct s3_entry **list, size_t *count, struct error *error)
{
    struct listing listing = {.arena = arena};
    struct s3_exchange exchange;
    struct buf query;
    struct buf token;
    bool ok;
    buf_init(&query, LIMIT_SIGN_HEAD);
    buf_init(&token, LIMIT_SIGN_HEAD);
    exchange_init(&exchange, "GET", bucket, slice_of(NULL, 0));
    do {
        buf_clear(&query);
        buf_text(&query, "encoding-type=url&list-type=2&prefix=");
        sign_encode(&query, prefix, false);
        if (token.len > 0)
            buf_printf(&query, "&continuation-token=%.*s", SLICE_FMT(buf_view(&token)));
        exchange.query = buf_view(&query);
        ok = exchange_do(client, &exchange, error);
        if (ok && !page_read(&listing, buf_view(&exchange.answer), &token))
            ok = error_set(error, ERR_INTERNAL, "the list of bucket \"%.*s\" cannot be read",
                           SLICE_FMT(bucket));
    } while (ok && token.len > 0);
    buf_release(&exchange.answer);
    buf_release(&query);
    buf_release(&token);
    *list = listing.list;
    *count = listing.count;
    return ok;
}
