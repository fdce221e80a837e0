// DeleteObject and DeleteObjects.
#include "objects/s3.h"

#include "base/limits.h"

// One object goes, if it is there.
enum s3_error s3_group_delete(struct meta_group *group, struct slice bucket, struct slice key,
                              const struct s3_write_condition *condition)
{
    struct record_key at = key_of_object(bucket, key);
    struct record before;
    struct slice found;
    enum store_result result = group_get(group, &at, &found);
    bool there = result == STORE_FOUND && record_decode(found, &before);
    if (result == STORE_FAILED || (result == STORE_FOUND && !there))
        return S3_INTERNAL;
    enum s3_error error = s3_judge_write(condition, there ? &before : NULL);
    if (error != S3_OK || !there)
        return error;
    group_trash_blobs(group, &before);
    group_count(group, -1, -(int64_t)before.size);
    group_delete(group, &at);
    return S3_OK;
}

// ---- One
// -------------------------------------------------------------------------------------------

struct delete_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct s3_write_condition condition;
};

static bool delete_run(struct meta_job *job, struct meta_group *group)
{
    struct delete_job *own = (struct delete_job *)job;
    enum s3_error error = s3_group_delete(group, own->s3->bucket, own->s3->key, &own->condition);
    return error == S3_OK || s3_fail(own->s3, error);
}

void s3_delete_object(struct s3 *s3)
{
    struct delete_job own = {.job = {.run = delete_run, .frees = true},
                             .s3 = s3,
                             .condition = {.match = s3_header(s3, "if-match")}};
    if (s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        s3_answer_empty(s3, 204);
}

// ---- Many
// ------------------------------------------------------------------------------------------

struct victim {
    struct slice key;
    enum s3_error error;
};

struct deletes_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct victim *victims;
    size_t count;
};

static bool deletes_run(struct meta_job *job, struct meta_group *group)
{
    struct deletes_job *own = (struct deletes_job *)job;
    const struct s3_write_condition any = {.absent = false};
    for (size_t i = 0; i < own->count; i++) {
        struct victim *victim = &own->victims[i];
        if (victim->error == S3_OK)
            victim->error = s3_group_delete(group, own->s3->bucket, victim->key, &any);
    }
    return true;
}

static bool victim_read(struct s3 *s3, const struct xml *node, struct victim *out)
{
    const struct xml *key = xml_find(node->children, "Key");
    struct slice version = xml_text(node, "VersionId");
    if (key == NULL || key->children != NULL)
        return s3_fail(s3, S3_MALFORMED_XML);
    if (xml_find(node->children, "ETag") != NULL || xml_find(node->children, "Size") != NULL ||
        xml_find(node->children, "LastModifiedTime") != NULL)
        return s3_fail(s3, S3_NOT_IMPLEMENTED);
    *out = (struct victim){.key = key->text};
    if (version.len > 0 && !slice_is(version, "null"))
        out->error = S3_NO_SUCH_VERSION;
    if (out->key.len == 0 || out->key.len > LIMIT_OBJECT_KEY)
        out->error = S3_KEY_TOO_LONG;
    return true;
}

static bool victims_read(struct s3 *s3, struct deletes_job *own, bool *quiet)
{
    const struct xml *root = xml_read(buf_view(&s3->body), &s3->arena);
    own->victims = arena_zalloc(&s3->arena, LIMIT_OBJECT_LIST, sizeof(*own->victims));
    if (own->victims == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    if (root == NULL || !slice_is(root->name, "Delete"))
        return s3_fail(s3, S3_MALFORMED_XML);
    *quiet = slice_is(xml_text(root, "Quiet"), "true");
    for (const struct xml *node = root->children; node != NULL; node = node->next) {
        if (!slice_is(node->name, "Object"))
            continue;
        if (own->count == LIMIT_OBJECT_LIST)
            return s3_fail(s3, S3_MALFORMED_XML);
        if (!victim_read(s3, node, &own->victims[own->count++]))
            return false;
    }
    return own->count > 0 || s3_fail(s3, S3_MALFORMED_XML);
}

static void victim_write(struct s3 *s3, const struct victim *victim, bool quiet)
{
    struct buf *out = &s3->out;
    if (victim->error == S3_OK) {
        if (quiet)
            return;
        xml_open(out, "Deleted");
        xml_put(out, "Key", victim->key);
        xml_close(out, "Deleted");
        return;
    }
    const struct s3_error_row *row = s3_error_row(victim->error);
    xml_open(out, "Error");
    xml_put(out, "Key", victim->key);
    xml_put(out, "Code", slice_str(row->code));
    xml_put(out, "Message", slice_str(row->message));
    xml_close(out, "Error");
}

void s3_delete_objects(struct s3 *s3)
{
    struct deletes_job own = {.job = {.run = deletes_run, .frees = true}, .s3 = s3};
    bool quiet = false;
    if (!victims_read(s3, &own, &quiet) || !s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        return;
    xml_begin(&s3->out, "DeleteResult");
    for (size_t i = 0; i < own.count; i++)
        victim_write(s3, &own.victims[i], quiet);
    xml_close(&s3->out, "DeleteResult");
    s3_answer_xml(s3, 200);
}
