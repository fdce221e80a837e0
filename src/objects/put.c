// PutObject, and how any object comes to be visible.
#include "objects/s3.h"

#include "base/limits.h"

#include <stdio.h>

// ---- Storing
// -------------------------------------------------------------------------------------

struct store_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct slice bucket;
    struct slice key;
    const struct record *record;
    const struct s3_write_condition *condition;
    struct slice bytes; // the record's
};

static bool store_run(struct meta_job *job, struct meta_group *group)
{
    struct store_job *own = (struct store_job *)job;
    struct record_key bucket = key_of_bucket('B', own->bucket);
    struct record_key key = key_of_object(own->bucket, own->key);
    struct slice found;
    struct record before;
    if (group_get(group, &bucket, &found) != STORE_FOUND)
        return s3_fail(own->s3, S3_NO_SUCH_BUCKET);
    enum store_result result = group_get(group, &key, &found);
    bool there = result == STORE_FOUND && record_decode(found, &before);
    if (result == STORE_FAILED || (result == STORE_FOUND && !there))
        return s3_fail(own->s3, S3_INTERNAL);
    enum s3_error error = s3_judge_write(own->condition, there ? &before : NULL);
    if (error != S3_OK)
        return s3_fail(own->s3, error);
    if (there) {
        group_trash_blobs(group, &before);
        group_count(group, -1, -(int64_t)before.size);
    }
    group_put(group, &key, own->bytes);
    group_keep_blobs(group, own->record);
    group_count(group, 1, (int64_t)own->record->size);
    return true;
}

// Runs a job that refers to the blob of the intake, which is then not the intake's any more.
bool s3_commit_blob(struct s3 *s3, struct meta_job *job)
{
    enum meta_end end = meta_do(s3->objects->meta, job);
    if (end == META_DONE || end == META_UNKNOWN)
        s3->intake.open = false;
    return s3_committed(s3, end);
}

bool s3_record_bytes(struct s3 *s3, const struct record *record, struct slice *out)
{
    struct buf bytes;
    buf_init(&bytes, STORE_VALUE_MAX);
    record_encode(&bytes, record);
    *out = arena_keep(&s3->arena, &bytes);
    return out->ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

bool s3_store_object(struct s3 *s3, struct slice bucket, struct slice key, struct record *record,
                     const struct s3_write_condition *condition)
{
    struct store_job own = {.job = {.run = store_run},
                            .s3 = s3,
                            .bucket = bucket,
                            .key = key,
                            .record = record,
                            .condition = condition};
    return s3_record_bytes(s3, record, &own.bytes) && s3_commit_blob(s3, &own.job);
}

int64_t s3_now(const struct s3 *s3)
{
    return env_now(&s3->objects->env) / 1000 * 1000;
}

// What the intake has made is the record's.
bool s3_record_intake(struct s3 *s3, struct record *record)
{
    const struct s3_intake *intake = &s3->intake;
    struct buf blobs;
    buf_init(&blobs, RECORD_BLOB);
    record_add_blob(&blobs, &intake->id, intake->size);
    record->blobs = arena_keep(&s3->arena, &blobs);
    record->size = intake->size;
    record->modified_ms = s3_now(s3);
    record->etag = slice_str(intake->etag);
    record->checksum_kind = (uint8_t)intake->checksum.kind;
    record->checksum_whole = true;
    record->checksum = slice_str(intake->sum_text);
    return record->blobs.ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

// ---- PutObject
// -------------------------------------------------------------------------------------

// The length is known, and not too large; the file is open.
bool s3_prepare_content(struct s3 *s3)
{
    const struct http_request *request = s3->request;
    enum checksum_kind kind;
    if (!request->has_length && !request->chunked)
        return s3_fail(s3, S3_LENGTH_REQUIRED);
    if (sign_payload_length(&s3->claim, request->length) > LIMIT_OBJECT_PUT)
        return s3_fail(s3, S3_ENTITY_TOO_LARGE);
    if (s3_param(s3, "uploadId") != NULL && !s3_prepare_part(s3))
        return false;
    if (!s3_checksum_asked(s3, &kind))
        return false;
    enum checksum_kind upload = (enum checksum_kind)s3->upload.checksum_kind;
    if (upload != CHECKSUM_NONE && kind != CHECKSUM_NONE && kind != upload)
        return s3_fail(s3, S3_CHECKSUM_KIND);
    return s3_intake_begin(s3, upload != CHECKSUM_NONE ? upload : kind, LIMIT_OBJECT_PUT);
}

void s3_add_checksum(struct s3 *s3, const struct record *record)
{
    char name[40];
    if (record->checksum_kind == CHECKSUM_NONE || record->checksum_kind >= CHECKSUM_KINDS ||
        record->checksum.len == 0)
        return;
    (void)snprintf(name, sizeof(name), "x-amz-checksum-%s",
                   checksum_row((enum checksum_kind)record->checksum_kind)->header);
    s3_add_header(s3, name, record->checksum);
    s3_add_header(s3, "x-amz-checksum-type",
                  record->checksum_whole ? SLICE_LIT("FULL_OBJECT") : SLICE_LIT("COMPOSITE"));
}

void s3_put_object(struct s3 *s3)
{
    struct record record = {.size = 0};
    struct s3_write_condition condition;
    if (!s3_read_write_condition(s3, &condition) || !s3_read_attributes(s3, &record) ||
        !s3_read_meta(s3, &record) || !s3_read_tags_header(s3, &record) || !s3_intake_seal(s3) ||
        !s3_checksum_compare(s3) || !s3_record_intake(s3, &record) ||
        !s3_store_object(s3, s3->bucket, s3->key, &record, &condition))
        return;
    s3_add_quoted(s3, "ETag", record.etag);
    s3_add_checksum(s3, &record);
    s3_answer_empty(s3, 200);
}
