// CopyObject and UploadPartCopy: bytes of an object into a new blob, some megabytes at a time, so
// that long copies take turns.
#include "objects/s3.h"

#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { COPY_SLICE = 8 << 20, COPY_PIECE = 128 << 10 };

struct s3_copy {
    struct record source;
    struct slice bucket;
    struct slice key;
    size_t at; // the blob
    uint64_t from;
    uint64_t left;
    int fd;
    void (*end)(struct s3 *s3);
};

// ---- The source
// --------------------------------------------------------------------------------------

// "bucket/key?versionId=null", encoded.
static bool source_read(struct s3 *s3, struct s3_copy *copy)
{
    struct slice version = *s3_header(s3, "x-amz-copy-source");
    struct slice path = slice_cut(&version, '?');
    if (version.len > 0 && !slice_is(version, "versionId=null"))
        return s3_fail(s3, S3_NO_SUCH_VERSION);
    if (!s3_split_target(s3, path, &copy->bucket, &copy->key))
        return false;
    if (!s3_bucket_name_valid(copy->bucket) || copy->key.len == 0)
        return s3_fail(s3, S3_COPY_SOURCE);
    return s3_key_valid(s3, copy->key) && s3_find_bucket(s3, copy->bucket) &&
           s3_find_object(s3, copy->bucket, copy->key, &copy->source) &&
           s3_check_read(s3, "x-amz-copy-source-", &copy->source, true);
}

static bool copy_open(struct s3 *s3, void (*end)(struct s3 *s3))
{
    struct s3_copy *copy = arena_zalloc(&s3->arena, 1, sizeof(*copy));
    if (copy == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    copy->fd = -1;
    copy->end = end;
    s3->copy = copy;
    blob_pin(s3->objects->blobs, &s3->pin);
    s3->pinned = true;
    if (!source_read(s3, copy))
        return false;
    copy->left = copy->source.size;
    return true;
}

// ---- The bytes
// ---------------------------------------------------------------------------------------

// Up to a piece of the blob that is open, or the next one; 0 at the end, and if it failed.
static size_t piece_read(struct s3 *s3, uint8_t *piece)
{
    struct s3_copy *copy = s3->copy;
    struct blob_id id;
    uint64_t size;
    if (copy->left == 0)
        return 0;
    if (copy->at == record_blob_count(&copy->source))
        return s3_fail(s3, S3_INTERNAL);
    record_blob(&copy->source, copy->at, &id, &size);
    if (copy->from >= size) {
        copy->from -= size;
        copy->at++;
        if (copy->fd >= 0)
            (void)close(copy->fd);
        copy->fd = -1;
        return piece_read(s3, piece);
    }
    if (copy->fd < 0)
        copy->fd = blob_open(s3->objects->blobs, &id);
    uint64_t want = size - copy->from < copy->left ? size - copy->from : copy->left;
    if (want > COPY_PIECE)
        want = COPY_PIECE;
    ssize_t got = copy->fd < 0 ? -1 : pread(copy->fd, piece, (size_t)want, (off_t)copy->from);
    if (got <= 0) {
        if (got == 0)
            errno = ENODATA;
        return s3_fail_file(s3, "an object's file cannot be read");
    }
    copy->from += (uint64_t)got;
    copy->left -= (uint64_t)got;
    return (size_t)got;
}

static void copy_some(struct s3 *s3)
{
    struct s3_copy *copy = s3->copy;
    uint8_t *piece = malloc(COPY_PIECE);
    size_t done = 0;
    size_t got = 0;
    if (piece == NULL)
        (void)s3_fail(s3, S3_SLOW_DOWN);
    while (s3_ok(s3) && done < COPY_SLICE && (got = piece_read(s3, piece)) > 0) {
        done += got;
        if (!s3_intake_add(s3, slice_of(piece, got)))
            break;
    }
    free(piece);
    if (s3_ok(s3) && copy->left > 0 && !s3->lost)
        return;
    s3->more = NULL;
    if (copy->fd >= 0)
        (void)close(copy->fd);
    copy->fd = -1;
    if (s3_ok(s3) && copy->left > 0)
        (void)s3_fail(s3, S3_INCOMPLETE_BODY); // nobody waits for it any more
    if (s3_ok(s3) && s3_intake_seal(s3))
        copy->end(s3);
}

static void copy_start(struct s3 *s3, enum checksum_kind kind)
{
    if (!s3_intake_begin(s3, kind, LIMIT_OBJECT_PUT))
        return;
    s3->more = copy_some;
    copy_some(s3);
}

static void answer_copy(struct s3 *s3, const char *root, const struct record *record)
{
    xml_begin(&s3->out, root);
    xml_put_time(&s3->out, "LastModified", record->modified_ms);
    s3_put_etag(&s3->out, record->etag);
    s3_put_checksum(&s3->out, record);
    xml_close(&s3->out, root);
    s3_answer_xml(s3, 200);
}

// ---- CopyObject
// --------------------------------------------------------------------------------------

// COPY or REPLACE, which is COPY if nothing is said.
static bool directive(struct s3 *s3, const char *name, bool *replace)
{
    const struct slice *value = s3_header(s3, name);
    *replace = value != NULL && slice_is(*value, "REPLACE");
    return value == NULL || *replace || slice_is(*value, "COPY") ||
           s3_fail_about(s3, S3_INVALID_DIRECTIVE, *value);
}

static void copy_end(struct s3 *s3)
{
    const struct record *source = &s3->copy->source;
    struct record record = {.size = 0};
    struct s3_write_condition condition;
    bool replace;
    bool replace_tags;
    if (!directive(s3, "x-amz-metadata-directive", &replace) ||
        !directive(s3, "x-amz-tagging-directive", &replace_tags) ||
        !s3_read_write_condition(s3, &condition))
        return;
    if (replace && (!s3_read_attributes(s3, &record) || !s3_read_meta(s3, &record)))
        return;
    if (!replace) {
        memcpy(record.headers, source->headers, sizeof(record.headers));
        record.meta = source->meta;
    }
    if (replace_tags && !s3_read_tags_header(s3, &record))
        return;
    if (!replace_tags)
        record.tags = source->tags;
    if (s3_record_intake(s3, &record) &&
        s3_store_object(s3, s3->bucket, s3->key, &record, &condition))
        answer_copy(s3, "CopyObjectResult", &record);
}

static bool checksum_wanted(struct s3 *s3, enum checksum_kind *kind)
{
    const struct slice *algorithm = s3_header(s3, "x-amz-checksum-algorithm");
    uint8_t stored = s3->copy->source.checksum_kind;
    *kind = stored < CHECKSUM_KINDS ? (enum checksum_kind)stored : CHECKSUM_NONE;
    if (algorithm != NULL)
        *kind = checksum_find(*algorithm);
    return algorithm == NULL || *kind != CHECKSUM_NONE || s3_fail(s3, S3_CHECKSUM_KIND);
}

void s3_copy_object(struct s3 *s3)
{
    enum checksum_kind kind;
    bool replace;
    bool replace_tags;
    if (!directive(s3, "x-amz-metadata-directive", &replace) ||
        !directive(s3, "x-amz-tagging-directive", &replace_tags) || !copy_open(s3, copy_end))
        return;
    const struct s3_copy *copy = s3->copy;
    bool itself = slice_equal(copy->bucket, s3->bucket) && slice_equal(copy->key, s3->key);
    if (itself && !replace && !replace_tags)
        (void)s3_fail(s3, S3_COPY_ITSELF);
    else if (copy->source.size > LIMIT_OBJECT_PUT)
        (void)s3_fail(s3, S3_COPY_TOO_LARGE);
    else if (checksum_wanted(s3, &kind))
        copy_start(s3, kind);
}

// ---- UploadPartCopy
// ------------------------------------------------------------------------------------

static bool range_read(struct s3 *s3)
{
    const struct slice *text = s3_header(s3, "x-amz-copy-source-range");
    struct s3_copy *copy = s3->copy;
    uint64_t first;
    uint64_t last;
    if (text == NULL)
        return true;
    struct slice to = *text;
    struct slice unit = slice_cut(&to, '=');
    struct slice from = slice_cut(&to, '-');
    if (!slice_is(unit, "bytes") || !s3_parse_number(from, UINT64_MAX, &first) ||
        !s3_parse_number(to, UINT64_MAX, &last) || last < first)
        return s3_fail_about(s3, S3_COPY_RANGE, *text);
    if (last >= copy->source.size)
        return s3_fail_about(s3, S3_COPY_RANGE, *text);
    copy->from = first;
    copy->left = last - first + 1;
    return true;
}

static void part_end(struct s3 *s3)
{
    struct record record = {.size = 0};
    if (s3_record_intake(s3, &record) && s3_store_part(s3, &record))
        answer_copy(s3, "CopyPartResult", &record);
}

void s3_upload_part_copy(struct s3 *s3)
{
    if (!s3_prepare_part(s3) || !copy_open(s3, part_end) || !range_read(s3))
        return;
    if (s3->copy->left > LIMIT_OBJECT_PUT)
        (void)s3_fail(s3, S3_COPY_TOO_LARGE);
    else
        copy_start(s3, (enum checksum_kind)s3->upload.checksum_kind);
}
