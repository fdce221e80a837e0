// Buckets: made, removed, listed.
#include "objects/s3.h"

#include "base/limits.h"

void s3_put_owner(struct s3 *s3, const char *element)
{
    xml_open(&s3->out, element);
    xml_put(&s3->out, "ID", SLICE_LIT(OBJECTS_OWNER));
    xml_put(&s3->out, "DisplayName", SLICE_LIT(OBJECTS_OWNER));
    xml_close(&s3->out, element);
}

static void list_bucket(struct s3 *s3, struct slice name, struct slice bytes)
{
    struct record record;
    if (!record_decode(bytes, &record))
        return;
    xml_open(&s3->out, "Bucket");
    xml_put(&s3->out, "Name", name);
    xml_put_time(&s3->out, "CreationDate", record.modified_ms);
    xml_close(&s3->out, "Bucket");
}

void s3_list_buckets(struct s3 *s3)
{
    const struct slice *prefix = s3_param(s3, "prefix");
    const struct slice *token = s3_param(s3, "continuation-token");
    uint64_t max = s3_number(s3, "max-buckets", LIMIT_BUCKETS, LIMIT_BUCKETS, S3_INVALID_NUMBER);
    struct slice begin = prefix == NULL ? slice_of(NULL, 0) : *prefix;
    if (begin.len > 64 || (token != NULL && token->len > 64) || !s3_ok(s3)) {
        (void)s3_fail(s3, S3_INVALID_TOKEN);
        return;
    }
    struct record_key lower = key_of_bucket('B', begin);
    struct record_key upper = lower;
    key_step(&upper);
    struct store_cursor *cursor = store_cursor_open(
        meta_store(s3->objects->meta), NULL, record_key_view(&lower), record_key_view(&upper));
    xml_begin(&s3->out, "ListAllMyBucketsResult");
    s3_put_owner(s3, "Owner");
    xml_open(&s3->out, "Buckets");
    if (token != NULL) {
        struct record_key from = key_of_bucket('B', *token);
        store_cursor_behind(cursor, record_key_view(&from));
    } else {
        store_cursor_first(cursor);
    }
    struct slice last = {NULL, 0};
    for (; store_cursor_valid(cursor) && max > 0; max--, store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        last = arena_copy(&s3->arena, slice_of(key.ptr + 1, key.len - 1));
        list_bucket(s3, last, store_cursor_value(cursor));
    }
    xml_close(&s3->out, "Buckets");
    if (store_cursor_valid(cursor) && last.len > 0)
        xml_put(&s3->out, "ContinuationToken", last);
    struct store_error error;
    if (!store_cursor_valid(cursor) && !store_cursor_ok(cursor, &error))
        (void)s3_fail(s3, S3_INTERNAL);
    store_cursor_close(cursor);
    xml_close(&s3->out, "ListAllMyBucketsResult");
    s3_answer_xml(s3, 200);
}

void s3_head_bucket(struct s3 *s3)
{
    s3_add_header(s3, "x-amz-bucket-region", s3->objects->region);
    s3->type = SLICE_LIT("application/xml");
    s3_answer_empty(s3, 200);
}

void s3_get_location(struct s3 *s3)
{
    xml_begin(&s3->out, "LocationConstraint");
    xml_close(&s3->out, "LocationConstraint");
    s3_answer_xml(s3, 200);
}

// ---- Made and removed
// --------------------------------------------------------------------------------

struct bucket_job {
    struct meta_job job; // first
    struct s3 *s3;
    struct slice bytes;
};

static size_t bucket_count(struct store *store)
{
    size_t count = 0;
    struct store_cursor *cursor = store_cursor_open(store, NULL, SLICE_LIT("B"), SLICE_LIT("C"));
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count++;
    store_cursor_close(cursor);
    return count;
}

static bool create_run(struct meta_job *job, struct meta_group *group)
{
    struct bucket_job *own = (struct bucket_job *)job;
    struct record_key key = key_of_bucket('B', own->s3->bucket);
    struct slice found;
    if (group_get(group, &key, &found) != STORE_ABSENT)
        return s3_fail(own->s3, S3_BUCKET_EXISTS);
    if (bucket_count(group_store(group)) >= LIMIT_BUCKETS)
        return s3_fail(own->s3, S3_TOO_MANY_BUCKETS);
    group_put(group, &key, own->bytes);
    return true;
}

void s3_create_bucket(struct s3 *s3)
{
    struct bucket_job own = {.job = {.run = create_run, .alone = true}, .s3 = s3};
    const struct record record = {.modified_ms = s3_now(s3)};
    struct slice body = buf_view(&s3->body);
    if (body.len > 0) {
        const struct xml *root = xml_read(body, &s3->arena);
        if (root == NULL || !slice_is(root->name, "CreateBucketConfiguration")) {
            (void)s3_fail(s3, S3_MALFORMED_XML);
            return;
        }
    }
    if (!s3_record_bytes(s3, &record, &own.bytes) ||
        !s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        return;
    buf_printf(&s3->headers, "Location: /%.*s\r\n", SLICE_FMT(s3->bucket));
    s3_answer_empty(s3, 200);
}

// The bucket of the server's own objects.
struct own_bucket {
    struct meta_job job; // first
    struct slice name;
    struct slice bytes;
};

static bool own_bucket_run(struct meta_job *job, struct meta_group *group)
{
    struct own_bucket *own = (struct own_bucket *)job;
    struct record_key key = key_of_bucket('B', own->name);
    struct slice found;
    if (group_get(group, &key, &found) != STORE_ABSENT)
        return false; // it is there
    group_put(group, &key, own->bytes);
    return true;
}

bool objects_make_bucket(struct objects *objects, struct slice name)
{
    const struct record record = {.modified_ms = objects->env.now_ms(objects->env.context)};
    struct buf bytes;
    buf_init(&bytes, 4096);
    record_encode(&bytes, &record);
    struct own_bucket own = {
        .job = {.run = own_bucket_run}, .name = name, .bytes = buf_view(&bytes)};
    enum meta_end end = bytes.failed ? META_FAILED : meta_do(objects->meta, &own.job);
    buf_release(&bytes);
    return end == META_DONE || end == META_REFUSED;
}

static bool has_any(struct store *store, char kind, struct slice bucket, bool *failed)
{
    struct store_error error;
    struct slice nothing = {NULL, 0};
    struct record_key lower = key_lower(kind, bucket, nothing);
    struct record_key upper = key_upper(kind, bucket, nothing);
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, record_key_view(&lower), record_key_view(&upper));
    store_cursor_first(cursor);
    bool any = store_cursor_valid(cursor);
    *failed = *failed || (!any && !store_cursor_ok(cursor, &error));
    store_cursor_close(cursor);
    return any;
}

static bool delete_run(struct meta_job *job, struct meta_group *group)
{
    struct bucket_job *own = (struct bucket_job *)job;
    struct slice bucket = own->s3->bucket;
    struct store *store = group_store(group);
    struct record_key key = key_of_bucket('B', bucket);
    struct record_key cors = key_of_bucket('C', bucket);
    struct record_key lifecycle = key_of_bucket('L', bucket);
    struct slice found;
    bool failed = false;
    if (group_get(group, &key, &found) != STORE_FOUND)
        return s3_fail(own->s3, S3_NO_SUCH_BUCKET);
    if (has_any(store, 'O', bucket, &failed) || has_any(store, 'U', bucket, &failed))
        return s3_fail(own->s3, S3_BUCKET_NOT_EMPTY);
    if (failed)
        return s3_fail(own->s3, S3_INTERNAL);
    group_delete(group, &key);
    group_delete(group, &cors);
    group_delete(group, &lifecycle);
    return true;
}

void s3_delete_bucket(struct s3 *s3)
{
    struct bucket_job own = {.job = {.run = delete_run, .alone = true, .frees = true}, .s3 = s3};
    if (s3_committed(s3, meta_do(s3->objects->meta, &own.job)))
        s3_answer_empty(s3, 204);
}
