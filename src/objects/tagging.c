// The tags of an object.
#include "objects/s3.h"

#include "base/limits.h"

void s3_get_tagging(struct s3 *s3)
{
    struct record record;
    struct slice name;
    struct slice value;
    if (!s3_find_object(s3, s3->bucket, s3->key, &record))
        return;
    xml_begin(&s3->out, "Tagging");
    xml_open(&s3->out, "TagSet");
    while (pair_next(&record.tags, &name, &value)) {
        xml_open(&s3->out, "Tag");
        xml_put(&s3->out, "Key", name);
        xml_put(&s3->out, "Value", value);
        xml_close(&s3->out, "Tag");
    }
    xml_close(&s3->out, "TagSet");
    xml_close(&s3->out, "Tagging");
    s3_answer_xml(s3, 200);
}

struct tags_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct slice tags;
};

static bool tags_run(struct meta_job *job, struct meta_group *group)
{
    struct tags_job *own = (struct tags_job *)job;
    struct s3 *s3 = own->s3;
    struct record_key key = key_of_object(s3->bucket, s3->key);
    struct record record;
    struct slice found;
    struct slice bytes;
    if (group_get(group, &key, &found) != STORE_FOUND)
        return s3_fail(s3, S3_NO_SUCH_KEY);
    if (!record_decode(found, &record))
        return s3_fail(s3, S3_INTERNAL);
    record.tags = own->tags;
    if (!s3_record_bytes(s3, &record, &bytes))
        return false;
    group_put(group, &key, bytes);
    return true;
}

static bool tags_set(struct s3 *s3, struct slice tags)
{
    struct tags_job own = {.job = {.run = tags_run}, .s3 = s3, .tags = tags};
    return s3_committed(s3, meta_do(s3->objects->meta, &own.job));
}

// <Tagging><TagSet><Tag><Key>…</Key><Value>…</Value></Tag>…
bool s3_parse_tags_xml(struct s3 *s3, struct slice text, struct slice *out)
{
    const struct xml *root = xml_read(text, &s3->arena);
    const struct xml *set = root == NULL ? NULL : xml_find(root->children, "TagSet");
    struct buf pairs;
    bool ok = true;
    if (set == NULL || !slice_is(root->name, "Tagging"))
        return s3_fail(s3, S3_MALFORMED_XML);
    buf_init(&pairs, LIMIT_OBJECT_TAG_BYTES);
    for (const struct xml *tag = set->children; ok && tag != NULL; tag = tag->next) {
        ok = (slice_is(tag->name, "Tag") && xml_find(tag->children, "Key") != NULL &&
              xml_find(tag->children, "Value") != NULL) ||
             s3_fail(s3, S3_MALFORMED_XML);
        ok = ok && s3_add_tag(s3, &pairs, xml_text(tag, "Key"), xml_text(tag, "Value"));
    }
    if (!ok) {
        buf_release(&pairs);
        return false;
    }
    *out = arena_keep(&s3->arena, &pairs);
    return out->ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

void s3_put_tagging(struct s3 *s3)
{
    struct slice tags;
    if (s3_parse_tags_xml(s3, buf_view(&s3->body), &tags) && tags_set(s3, tags))
        s3_answer_empty(s3, 200);
}

void s3_delete_tagging(struct s3 *s3)
{
    if (tags_set(s3, slice_of(NULL, 0)))
        s3_answer_empty(s3, 204);
}
