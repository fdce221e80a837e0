// Multipart uploads: begun, their parts, completed, aborted, listed. A part is a blob; the object
// that an upload becomes has the blobs of its parts, in their order.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every use
#include "objects/s3.h"

#include "base/encode.h"
#include "base/limits.h"

#include <stdio.h>

// ---- Begun
// -------------------------------------------------------------------------------------------

struct upload_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct slice upload;
    struct slice bytes;
    const struct record *record;
};

static bool create_run(struct meta_job *job, struct meta_group *group)
{
    struct upload_job *own = (struct upload_job *)job;
    struct record_key bucket = key_of_bucket('B', own->s3->bucket);
    struct record_key key = key_of_upload(own->s3->bucket, own->s3->key, own->upload);
    struct slice found;
    if (group_get(group, &bucket, &found) != STORE_FOUND)
        return s3_fail(own->s3, S3_NO_SUCH_BUCKET);
    group_put(group, &key, own->bytes);
    return true;
}

// Which checksum the object shall have, and of what.
static bool checksum_chosen(struct s3 *s3, struct record *record)
{
    const struct slice *algorithm = s3_header(s3, "x-amz-checksum-algorithm");
    const struct slice *type = s3_header(s3, "x-amz-checksum-type");
    if (algorithm == NULL)
        return type == NULL || s3_fail(s3, S3_CHECKSUM_TYPE);
    enum checksum_kind kind = checksum_find(*algorithm);
    if (kind == CHECKSUM_NONE)
        return s3_fail(s3, S3_CHECKSUM_KIND);
    record->checksum_kind = (uint8_t)kind;
    record->checksum_whole =
        type == NULL ? kind == CHECKSUM_CRC64NVME : slice_is(*type, "FULL_OBJECT");
    bool known = type == NULL || record->checksum_whole || slice_is(*type, "COMPOSITE");
    bool fits = record->checksum_whole ? checksum_row(kind)->linear : kind != CHECKSUM_CRC64NVME;
    return (known && fits) || s3_fail(s3, S3_CHECKSUM_TYPE);
}

void s3_create_upload(struct s3 *s3)
{
    struct record record = {.modified_ms = s3_now(s3)};
    struct upload_job own = {.job = {.run = create_run}, .s3 = s3};
    uint8_t random[UPLOAD_ID / 2];
    char id[UPLOAD_ID];
    s3->objects->env.random(s3->objects->env.context, random, sizeof(random));
    hex_text(slice_of(random, sizeof(random)), id);
    own.upload = slice_of(id, sizeof(id));
    if (!s3_read_attributes(s3, &record) || !s3_read_meta(s3, &record) ||
        !s3_read_tags_header(s3, &record) || !checksum_chosen(s3, &record) ||
        !s3_record_bytes(s3, &record, &own.bytes) ||
        !s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        return;
    if (record.checksum_kind != CHECKSUM_NONE) {
        s3_add_header(s3, "x-amz-checksum-algorithm",
                      slice_str(checksum_row((enum checksum_kind)record.checksum_kind)->name));
        s3_add_header(s3, "x-amz-checksum-type",
                      record.checksum_whole ? SLICE_LIT("FULL_OBJECT") : SLICE_LIT("COMPOSITE"));
    }
    xml_begin(&s3->out, "InitiateMultipartUploadResult");
    xml_put(&s3->out, "Bucket", s3->bucket);
    xml_put(&s3->out, "Key", s3->key);
    xml_put(&s3->out, "UploadId", own.upload);
    xml_close(&s3->out, "InitiateMultipartUploadResult");
    s3_answer_xml(s3, 200);
}

// ---- Parts
// -------------------------------------------------------------------------------------------

// The id that the request names has the form of one.
static bool upload_id(struct s3 *s3, struct slice *out)
{
    const struct slice *id = s3_param(s3, "uploadId");
    bool ok = id != NULL && id->len == UPLOAD_ID;
    for (size_t i = 0; ok && i < UPLOAD_ID; i++)
        ok = hex_digit(id->ptr[i]) >= 0;
    if (!ok)
        return s3_fail(s3, S3_NO_SUCH_UPLOAD);
    *out = *id;
    return true;
}

static bool upload_find(struct s3 *s3, struct slice id, struct record *out)
{
    struct record_key key = key_of_upload(s3->bucket, s3->key, id);
    struct slice bytes;
    if (s3_look(s3, &key, &bytes) != STORE_FOUND)
        return s3_fail(s3, S3_NO_SUCH_UPLOAD);
    return record_decode(bytes, out) || s3_fail(s3, S3_INTERNAL);
}

bool s3_prepare_part(struct s3 *s3)
{
    struct slice id;
    if (s3_param(s3, "partNumber") == NULL)
        return s3_fail(s3, S3_INVALID_PART_NUMBER);
    s3->part_number =
        (unsigned)s3_number(s3, "partNumber", 0, LIMIT_OBJECT_PARTS, S3_INVALID_PART_NUMBER);
    if (!s3_ok(s3) || s3->part_number == 0)
        return s3_fail(s3, S3_INVALID_PART_NUMBER);
    return upload_id(s3, &id) && upload_find(s3, id, &s3->upload);
}

static bool part_run(struct meta_job *job, struct meta_group *group)
{
    struct upload_job *own = (struct upload_job *)job;
    struct s3 *s3 = own->s3;
    struct record_key upload = key_of_upload(s3->bucket, s3->key, own->upload);
    struct record_key key = key_of_part(own->upload, s3->part_number);
    struct record before;
    struct slice found;
    if (group_get(group, &upload, &found) != STORE_FOUND)
        return s3_fail(s3, S3_NO_SUCH_UPLOAD);
    enum store_result result = group_get(group, &key, &found);
    if (result == STORE_FAILED || (result == STORE_FOUND && !record_decode(found, &before)))
        return s3_fail(s3, S3_INTERNAL);
    if (result == STORE_FOUND)
        group_trash_blobs(group, &before);
    group_put(group, &key, own->bytes);
    group_keep_blobs(group, own->record);
    return true;
}

bool s3_store_part(struct s3 *s3, const struct record *record)
{
    struct upload_job own = {.job = {.run = part_run}, .s3 = s3, .record = record};
    return upload_id(s3, &own.upload) && s3_record_bytes(s3, record, &own.bytes) &&
           s3_commit_blob(s3, &own.job);
}

void s3_upload_part(struct s3 *s3)
{
    struct record record = {.size = 0};
    if (!s3_intake_seal(s3) || !s3_checksum_compare(s3) || !s3_record_intake(s3, &record) ||
        !s3_store_part(s3, &record))
        return;
    s3_add_quoted(s3, "ETag", record.etag);
    s3_add_checksum(s3, &record);
    s3_answer_empty(s3, 200);
}

// ---- Completed
// -----------------------------------------------------------------------------------------

struct wanted_part {
    unsigned number;
    struct slice etag;
    struct slice checksum;
};

struct complete_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct slice upload;
    struct s3_write_condition condition;
    struct wanted_part *parts;
    size_t count;
    // What it makes.
    struct record record;
    struct buf blobs;
    MD5_CTX md5;
    struct checksum sums; // of the parts' checksums
    uint8_t whole[CHECKSUM_BYTES];
    char etag[48];
    char checksum[CHECKSUM_TEXT];
};

static struct slice unquoted(struct slice text)
{
    text = slice_trim(text);
    if (text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        return slice_of(text.ptr + 1, text.len - 2);
    return text;
}

static bool wanted_read(struct s3 *s3, const struct xml *node, const struct record *upload,
                        struct wanted_part *out)
{
    char name[32];
    uint64_t number;
    if (!slice_is(node->name, "Part") ||
        !s3_parse_number(slice_trim(xml_text(node, "PartNumber")), LIMIT_OBJECT_PARTS, &number))
        return s3_fail(s3, S3_MALFORMED_XML);
    out->number = (unsigned)number;
    out->etag = unquoted(xml_text(node, "ETag"));
    (void)snprintf(name, sizeof(name), "Checksum%s",
                   checksum_row((enum checksum_kind)upload->checksum_kind)->name);
    out->checksum = slice_trim(xml_text(node, name));
    return true;
}

static bool parts_read(struct s3 *s3, struct complete_job *own)
{
    const struct xml *root = xml_read(buf_view(&s3->body), &s3->arena);
    if (root == NULL || !slice_is(root->name, "CompleteMultipartUpload"))
        return s3_fail(s3, S3_MALFORMED_XML);
    size_t count = 0;
    for (const struct xml *node = root->children; node != NULL; node = node->next)
        count++;
    if (count == 0 || count > LIMIT_OBJECT_PARTS)
        return s3_fail(s3, S3_MALFORMED_XML);
    own->parts = arena_zalloc(&s3->arena, count, sizeof(*own->parts));
    if (own->parts == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    for (const struct xml *node = root->children; node != NULL; node = node->next) {
        struct wanted_part *part = &own->parts[own->count++];
        if (!wanted_read(s3, node, &s3->upload, part))
            return false;
        if (own->count > 1 && part->number <= own->parts[own->count - 2].number)
            return s3_fail(s3, S3_INVALID_PART_ORDER);
    }
    return true;
}

// A part that the list names becomes a part of the object.
static bool part_join(struct complete_job *own, const struct wanted_part *wanted,
                      const struct record *part, bool last)
{
    struct s3 *s3 = own->s3;
    enum checksum_kind kind = (enum checksum_kind)s3->upload.checksum_kind;
    uint8_t digest[16];
    uint8_t sum[CHECKSUM_BYTES];
    if (!slice_equal(wanted->etag, part->etag) || part->etag.len != 32)
        return s3_fail(s3, S3_INVALID_PART);
    if (!last && part->size < LIMIT_OBJECT_PART_MIN)
        return s3_fail(s3, S3_ENTITY_TOO_SMALL);
    for (size_t i = 0; i < sizeof(digest); i++)
        digest[i] =
            (uint8_t)(hex_digit(part->etag.ptr[2 * i]) * 16 + hex_digit(part->etag.ptr[2 * i + 1]));
    MD5_Update(&own->md5, digest, sizeof(digest));
    buf_slice(&own->blobs, part->blobs);
    if (kind != CHECKSUM_NONE) {
        if (part->checksum_kind != kind || !checksum_parse(kind, part->checksum, sum) ||
            (wanted->checksum.len > 0 && !slice_equal(wanted->checksum, part->checksum)))
            return s3_fail(s3, S3_INVALID_PART);
        checksum_add(&own->sums, slice_of(sum, checksum_row(kind)->bytes));
        if (own->record.checksum_whole && own->record.size == 0)
            memcpy(own->whole, sum, sizeof(sum));
        else if (own->record.checksum_whole)
            checksum_join(kind, own->whole, sum, part->size);
    }
    own->record.size += part->size;
    return true;
}

// What all parts together are; the client may say what it expects.
static bool object_sum(struct complete_job *own)
{
    struct s3 *s3 = own->s3;
    struct record *record = &own->record;
    enum checksum_kind kind = (enum checksum_kind)record->checksum_kind;
    uint8_t digest[16];
    uint8_t sum[CHECKSUM_BYTES];
    char name[40];
    MD5_Final(digest, &own->md5);
    hex_text(slice_of(digest, sizeof(digest)), own->etag);
    (void)snprintf(own->etag + 32, sizeof(own->etag) - 32, "-%zu", own->count);
    record->etag = slice_str(own->etag);
    record->blobs = buf_view(&own->blobs);
    record->parts = own->count;
    record->modified_ms = s3_now(s3);
    if (kind == CHECKSUM_NONE)
        return !own->blobs.failed || s3_fail(s3, S3_SLOW_DOWN);
    checksum_end(&own->sums, sum);
    checksum_text(kind, record->checksum_whole ? own->whole : sum, own->checksum);
    size_t len = strlen(own->checksum);
    if (!record->checksum_whole)
        (void)snprintf(own->checksum + len, sizeof(own->checksum) - len, "-%zu", own->count);
    record->checksum = slice_str(own->checksum);
    (void)snprintf(name, sizeof(name), "x-amz-checksum-%s", checksum_row(kind)->header);
    const struct slice *expected = s3_header(s3, name);
    if (expected != NULL && !slice_equal(*expected, record->checksum) &&
        !slice_equal(*expected, slice_of(own->checksum, len)))
        return s3_fail(s3, S3_BAD_CHECKSUM);
    return !own->blobs.failed || s3_fail(s3, S3_SLOW_DOWN);
}

static struct store_cursor *parts_open(struct meta_group *group, struct slice upload)
{
    struct record_key lower = key_of_part(upload, 0);
    struct record_key upper = key_of_part(upload, UINT32_MAX);
    struct store_cursor *cursor = store_cursor_open(
        group_store(group), NULL, record_key_view(&lower), record_key_view(&upper));
    store_cursor_first(cursor);
    return cursor;
}

static unsigned part_number(struct store_cursor *cursor)
{
    struct slice key = store_cursor_key(cursor);
    return be32_get(key.ptr + key.len - 4);
}

// Goes over the parts that there are, and takes those that the list names.
static bool parts_join(struct complete_job *own, struct meta_group *group)
{
    struct store_cursor *cursor = parts_open(group, own->upload);
    struct store_error error;
    size_t at = 0;
    bool ok = true;
    for (; ok && at < own->count && store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct record part;
        if (part_number(cursor) < own->parts[at].number)
            continue;
        if (part_number(cursor) > own->parts[at].number)
            break;
        ok = (record_decode(store_cursor_value(cursor), &part) || s3_fail(own->s3, S3_INTERNAL)) &&
             part_join(own, &own->parts[at], &part, at + 1 == own->count);
        at++;
    }
    if (!store_cursor_valid(cursor) && !store_cursor_ok(cursor, &error))
        ok = s3_fail(own->s3, S3_INTERNAL);
    store_cursor_close(cursor);
    return ok && (at == own->count || s3_fail(own->s3, S3_INVALID_PART));
}

// The upload goes, and its parts: all of them, or those that the object did not take.
static void upload_remove(struct meta_group *group, struct s3 *s3, struct slice upload,
                          const struct wanted_part *taken, size_t count)
{
    struct store_cursor *cursor = parts_open(group, upload);
    struct record_key key = key_of_upload(s3->bucket, s3->key, upload);
    size_t at = 0;
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct record part;
        unsigned number = part_number(cursor);
        struct record_key part_key = key_of_part(upload, number);
        while (at < count && taken[at].number < number)
            at++;
        bool kept = at < count && taken[at].number == number;
        if (!kept && record_decode(store_cursor_value(cursor), &part))
            group_trash_blobs(group, &part);
        group_delete(group, &part_key);
    }
    store_cursor_close(cursor);
    group_delete(group, &key);
}

static bool complete_run(struct meta_job *job, struct meta_group *group)
{
    struct complete_job *own = (struct complete_job *)job;
    struct s3 *s3 = own->s3;
    struct record_key upload = key_of_upload(s3->bucket, s3->key, own->upload);
    struct record_key key = key_of_object(s3->bucket, s3->key);
    struct record before;
    struct slice found;
    struct slice bytes;
    if (group_get(group, &upload, &found) != STORE_FOUND)
        return s3_fail(s3, S3_NO_SUCH_UPLOAD);
    enum store_result result = group_get(group, &key, &found);
    bool there = result == STORE_FOUND && record_decode(found, &before);
    if (result == STORE_FAILED || (result == STORE_FOUND && !there))
        return s3_fail(s3, S3_INTERNAL);
    enum s3_error error = s3_judge_write(&own->condition, there ? &before : NULL);
    if (error != S3_OK)
        return s3_fail(s3, error);
    if (!parts_join(own, group) || !object_sum(own) || !s3_record_bytes(s3, &own->record, &bytes))
        return false;
    if (there) {
        group_trash_blobs(group, &before);
        group_count(group, -1, -(int64_t)before.size);
    }
    upload_remove(group, s3, own->upload, own->parts, own->count);
    group_put(group, &key, bytes);
    group_count(group, 1, (int64_t)own->record.size);
    return true;
}

void s3_put_checksum(struct buf *out, const struct record *record)
{
    char name[32];
    if (record->checksum_kind == CHECKSUM_NONE || record->checksum_kind >= CHECKSUM_KINDS)
        return;
    (void)snprintf(name, sizeof(name), "Checksum%s",
                   checksum_row((enum checksum_kind)record->checksum_kind)->name);
    xml_put(out, name, record->checksum);
}

static void answer_completed(struct s3 *s3, const struct record *record)
{
    xml_begin(&s3->out, "CompleteMultipartUploadResult");
    xml_open(&s3->out, "Location");
    buf_text(&s3->out, "http://");
    xml_escape(&s3->out, s3->request->host);
    xml_escape(&s3->out, s3->request->path);
    xml_close(&s3->out, "Location");
    xml_put(&s3->out, "Bucket", s3->bucket);
    xml_put(&s3->out, "Key", s3->key);
    s3_put_etag(&s3->out, record->etag);
    s3_put_checksum(&s3->out, record);
    if (record->checksum_kind != CHECKSUM_NONE)
        xml_put(&s3->out, "ChecksumType",
                record->checksum_whole ? SLICE_LIT("FULL_OBJECT") : SLICE_LIT("COMPOSITE"));
    xml_close(&s3->out, "CompleteMultipartUploadResult");
    s3_answer_xml(s3, 200);
}

void s3_complete_upload(struct s3 *s3)
{
    struct complete_job own = {.job = {.run = complete_run, .alone = true}, .s3 = s3};
    if (!upload_id(s3, &own.upload) || !upload_find(s3, own.upload, &s3->upload) ||
        !parts_read(s3, &own) || !s3_read_write_condition(s3, &own.condition))
        return;
    own.record = s3->upload;
    buf_init_counted(&own.blobs, (size_t)LIMIT_OBJECT_PARTS * RECORD_BLOB, &s3->account,
                     BUDGET_CALLS);
    MD5_Init(&own.md5);
    checksum_begin(&own.sums, (enum checksum_kind)s3->upload.checksum_kind, s3->objects->tables);
    if (s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        answer_completed(s3, &own.record);
    buf_release(&own.blobs);
}

// ---- Aborted
// -------------------------------------------------------------------------------------------

static bool abort_run(struct meta_job *job, struct meta_group *group)
{
    struct upload_job *own = (struct upload_job *)job;
    struct record_key key = key_of_upload(own->s3->bucket, own->s3->key, own->upload);
    struct slice found;
    if (group_get(group, &key, &found) != STORE_FOUND)
        return s3_fail(own->s3, S3_NO_SUCH_UPLOAD);
    upload_remove(group, own->s3, own->upload, NULL, 0);
    return true;
}

bool s3_remove_upload(struct s3 *s3, struct slice id)
{
    struct upload_job own = {
        .job = {.run = abort_run, .alone = true, .frees = true}, .s3 = s3, .upload = id};
    return s3_committed(s3, meta_do(s3->objects->meta, &own.job));
}

void s3_abort_upload(struct s3 *s3)
{
    struct slice id;
    if (upload_id(s3, &id) && s3_remove_upload(s3, id))
        s3_answer_empty(s3, 204);
}

// ---- Listed
// --------------------------------------------------------------------------------------------

static void write_part(struct s3 *s3, unsigned number, const struct record *part)
{
    xml_open(&s3->out, "Part");
    xml_put_number(&s3->out, "PartNumber", number);
    xml_put_time(&s3->out, "LastModified", part->modified_ms);
    s3_put_etag(&s3->out, part->etag);
    xml_put_number(&s3->out, "Size", part->size);
    s3_put_checksum(&s3->out, part);
    xml_close(&s3->out, "Part");
}

void s3_list_parts(struct s3 *s3)
{
    struct slice id;
    uint64_t marker = s3_number(s3, "part-number-marker", 0, INT32_MAX, S3_INVALID_NUMBER);
    uint64_t max = s3_number(s3, "max-parts", LIMIT_OBJECT_LIST, INT32_MAX, S3_INVALID_NUMBER);
    if (!s3_ok(s3) || !upload_id(s3, &id) || !upload_find(s3, id, &s3->upload))
        return;
    max = max < LIMIT_OBJECT_LIST ? max : LIMIT_OBJECT_LIST;
    struct record_key lower = key_of_part(id, (unsigned)marker + 1);
    struct record_key upper = key_of_part(id, UINT32_MAX);
    struct store_cursor *cursor = store_cursor_open(
        meta_store(s3->objects->meta), NULL, record_key_view(&lower), record_key_view(&upper));
    xml_begin(&s3->out, "ListPartsResult");
    xml_put(&s3->out, "Bucket", s3->bucket);
    xml_put(&s3->out, "Key", s3->key);
    xml_put(&s3->out, "UploadId", id);
    xml_put_number(&s3->out, "PartNumberMarker", marker);
    xml_put_number(&s3->out, "MaxParts", max);
    s3_put_owner(s3, "Initiator");
    s3_put_owner(s3, "Owner");
    xml_put(&s3->out, "StorageClass", SLICE_LIT("STANDARD"));
    s3_put_checksum_kind(&s3->out, &s3->upload);
    uint64_t left = max;
    for (store_cursor_first(cursor); store_cursor_valid(cursor) && left > 0;
         store_cursor_next(cursor), left--) {
        struct record part;
        marker = part_number(cursor);
        if (record_decode(store_cursor_value(cursor), &part))
            write_part(s3, (unsigned)marker, &part);
    }
    bool truncated = store_cursor_valid(cursor) && max > 0;
    struct store_error error;
    if (!store_cursor_valid(cursor) && !store_cursor_ok(cursor, &error))
        (void)s3_fail(s3, S3_INTERNAL);
    store_cursor_close(cursor);
    xml_put_number(&s3->out, "NextPartNumberMarker", marker);
    xml_put(&s3->out, "IsTruncated", truncated ? SLICE_LIT("true") : SLICE_LIT("false"));
    xml_close(&s3->out, "ListPartsResult");
    s3_answer_xml(s3, 200);
}
