// Lifecycle rules of buckets: kept as XML, and carried out by a worker that goes over the objects
// of such buckets, some hundred at a time, with pauses. An object is removed only if it is still
// the one that was judged.
#include "objects/s3.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/time_text.h"

#include <stdlib.h>

enum { SLICE_ENTRIES = 500, SLICE_PAUSE_MS = 20, RULE_TAGS = 10 };

static const int64_t day_ms = INT64_C(24) * 3600 * 1000;

struct rule {
    struct slice prefix;
    size_t tag_count;
    struct slice keys[RULE_TAGS];
    struct slice values[RULE_TAGS];
    uint64_t larger; // than this; UINT64_MAX for any size
    uint64_t smaller;
    bool enabled;
    uint64_t days; // until it expires; 0 for never
    int64_t date;  // from which on all are expired; 0 for never
    uint64_t abort_days;
};

// ---- Reading
// -----------------------------------------------------------------------------------------

static bool filter_read(const struct xml *filter, struct rule *out)
{
    for (const struct xml *node = filter->children; node != NULL; node = node->next) {
        if (slice_is(node->name, "And")) {
            if (!filter_read(node, out))
                return false;
        } else if (slice_is(node->name, "Prefix")) {
            out->prefix = node->text;
        } else if (slice_is(node->name, "Tag")) {
            if (out->tag_count == RULE_TAGS)
                return false;
            out->keys[out->tag_count] = xml_text(node, "Key");
            out->values[out->tag_count++] = xml_text(node, "Value");
        } else if (slice_is(node->name, "ObjectSizeGreaterThan")) {
            if (!s3_parse_number(node->text, INT64_MAX, &out->larger))
                return false;
        } else if (slice_is(node->name, "ObjectSizeLessThan")) {
            if (!s3_parse_number(node->text, INT64_MAX, &out->smaller))
                return false;
        } else {
            return false;
        }
    }
    return true;
}

// A date is midnight, in UTC.
static bool expiration_read(const struct xml *node, struct rule *out)
{
    struct slice days = xml_text(node, "Days");
    struct slice date = xml_text(node, "Date");
    if ((days.len > 0) == (date.len > 0))
        return false;
    if (days.len > 0)
        return s3_parse_number(days, 1000000, &out->days) && out->days > 0;
    char text[TIME_TEXT];
    if (date.len == 10 && date.len + 11 < sizeof(text)) {
        memcpy(text, date.ptr, 10);
        memcpy(text + 10, "T00:00:00Z", 11);
        date = slice_str(text);
    }
    return time_parse(date, &out->date) && out->date % day_ms == 0 && out->date > 0;
}

static bool rule_read(const struct xml *node, struct rule *out)
{
    bool acts = false;
    struct slice status = xml_text(node, "Status");
    *out = (struct rule){.larger = UINT64_MAX, .smaller = UINT64_MAX};
    out->enabled = slice_is(status, "Enabled");
    if (!slice_is(node->name, "Rule") || (!out->enabled && !slice_is(status, "Disabled")))
        return false;
    for (const struct xml *child = node->children; child != NULL; child = child->next) {
        struct slice name = child->name;
        if (slice_is(name, "Prefix"))
            out->prefix = child->text;
        else if (slice_is(name, "Filter") && !filter_read(child, out))
            return false;
        else if (slice_is(name, "Expiration") && !expiration_read(child, out))
            return false;
        else if (slice_is(name, "AbortIncompleteMultipartUpload") &&
                 (!s3_parse_number(xml_text(child, "DaysAfterInitiation"), 1000000,
                                   &out->abort_days) ||
                  out->abort_days == 0))
            return false;
        else if (!slice_is(name, "ID") && !slice_is(name, "Status") && !slice_is(name, "Prefix") &&
                 !slice_is(name, "Filter") && !slice_is(name, "Expiration") &&
                 !slice_is(name, "AbortIncompleteMultipartUpload"))
            return false;
        acts = acts || slice_is(name, "Expiration") ||
               slice_is(name, "AbortIncompleteMultipartUpload");
    }
    return acts && out->prefix.len <= LIMIT_OBJECT_KEY;
}

void s3_put_lifecycle(struct s3 *s3)
{
    struct slice body = buf_view(&s3->body);
    const struct xml *root = xml_read(body, &s3->arena);
    size_t count = 0;
    if (root == NULL || !slice_is(root->name, "LifecycleConfiguration") || root->children == NULL ||
        body.len > LIMIT_OBJECT_CONFIG) {
        (void)s3_fail(s3, S3_MALFORMED_XML);
        return;
    }
    for (const struct xml *node = root->children; node != NULL; node = node->next) {
        struct rule rule;
        if (++count > LIMIT_OBJECT_LIFECYCLE_RULES)
            (void)s3_fail(s3, S3_TOO_MANY_RULES);
        else if (!rule_read(node, &rule))
            (void)s3_fail(s3, S3_LIFECYCLE);
    }
    if (s3_ok(s3) && s3_config_set(s3, 'L', body))
        s3_answer_empty(s3, 200);
}

void s3_get_lifecycle(struct s3 *s3)
{
    s3_config_get(s3, 'L', S3_NO_SUCH_LIFECYCLE);
}

void s3_delete_lifecycle(struct s3 *s3)
{
    if (s3_config_set(s3, 'L', slice_of(NULL, 0)))
        s3_answer_empty(s3, 204);
}

// ---- At work
// -------------------------------------------------------------------------------------------

static bool tags_match(const struct rule *rule, struct slice tags)
{
    for (size_t i = 0; i < rule->tag_count; i++) {
        struct slice rest = tags;
        struct slice key;
        struct slice value;
        bool found = false;
        while (!found && pair_next(&rest, &key, &value))
            found = slice_equal(key, rule->keys[i]) && slice_equal(value, rule->values[i]);
        if (!found)
            return false;
    }
    return true;
}

// As S3 counts: so many days, and then the next midnight.
static int64_t due(int64_t since, uint64_t days)
{
    int64_t at = since + (int64_t)days * day_ms;
    return (at + day_ms - 1) / day_ms * day_ms;
}

static bool is_expired(const struct rule *rule, struct slice key, const struct record *record,
                       int64_t now)
{
    if (!rule->enabled || !slice_begins(key, rule->prefix) || !tags_match(rule, record->tags) ||
        (rule->larger != UINT64_MAX && record->size <= rule->larger) ||
        (rule->smaller != UINT64_MAX && record->size >= rule->smaller))
        return false;
    return (rule->days > 0 && now >= due(record->modified_ms, rule->days)) ||
           (rule->date > 0 && now >= rule->date);
}

static bool is_stale(const struct rule *rule, struct slice key, const struct record *record,
                     int64_t now)
{
    return rule->enabled && rule->abort_days > 0 && slice_begins(key, rule->prefix) &&
           now >= due(record->modified_ms, rule->abort_days);
}

// One bucket, as the worker goes over it.
struct walk {
    struct s3 s3; // a request of our own
    struct rule *rules;
    size_t rule_count;
    int64_t now;
    char kind;            // O or U
    struct record_key at; // behind this one
    bool over;
};

struct doomed {
    struct slice key;
    struct slice upload;
    int64_t modified_ms;
    struct slice etag;
};

struct expire_job {
    struct meta_job job; // first
    struct walk *walk;
    struct doomed *doomed;
    size_t count;
    size_t removed;
};

static bool expire_run(struct meta_job *job, struct meta_group *group)
{
    struct expire_job *own = (struct expire_job *)job;
    const struct s3_write_condition any = {.absent = false};
    for (size_t i = 0; i < own->count; i++) {
        const struct doomed *one = &own->doomed[i];
        struct record_key key = key_of_object(own->walk->s3.bucket, one->key);
        struct record record;
        struct slice found;
        bool same = group_get(group, &key, &found) == STORE_FOUND &&
                    record_decode(found, &record) && record.modified_ms == one->modified_ms &&
                    slice_equal(record.etag, one->etag);
        own->removed +=
            same && s3_group_delete(group, own->walk->s3.bucket, one->key, &any) == S3_OK;
    }
    return true;
}

static bool judge(const struct walk *walk, struct slice key, const struct record *record)
{
    for (size_t i = 0; i < walk->rule_count; i++) {
        const struct rule *rule = &walk->rules[i];
        if (walk->kind == 'O' ? is_expired(rule, key, record, walk->now)
                              : is_stale(rule, key, record, walk->now))
            return true;
    }
    return false;
}

// Looks at the next entries; how many of them are to go.
static size_t look(struct walk *walk, struct arena *arena, struct doomed *out)
{
    struct slice nothing = {NULL, 0};
    struct slice bucket = walk->s3.bucket;
    struct record_key lower = key_lower(walk->kind, bucket, nothing);
    struct record_key upper = key_upper(walk->kind, bucket, nothing);
    struct store_cursor *cursor = store_cursor_open(
        meta_store(walk->s3.objects->meta), NULL, record_key_view(&lower), record_key_view(&upper));
    size_t count = 0;
    size_t seen = 0;
    if (walk->at.len == 0)
        store_cursor_first(cursor);
    else
        store_cursor_behind(cursor, record_key_view(&walk->at));
    for (; store_cursor_valid(cursor) && seen < SLICE_ENTRIES; seen++, store_cursor_next(cursor)) {
        struct slice stored = store_cursor_key(cursor);
        struct record record;
        memcpy(walk->at.bytes, stored.ptr, stored.len);
        walk->at.len = stored.len;
        struct slice key = slice_of(stored.ptr + bucket.len + 2, stored.len - bucket.len - 2);
        struct slice upload = nothing;
        if (walk->kind == 'U') {
            upload = slice_of(key.ptr + key.len - UPLOAD_ID, UPLOAD_ID);
            key.len -= UPLOAD_ID + 1;
        }
        if (!record_decode(store_cursor_value(cursor), &record) || !judge(walk, key, &record))
            continue;
        struct doomed *one = &out[count];
        *one = (struct doomed){arena_copy(arena, key), arena_copy(arena, upload),
                               record.modified_ms, arena_copy(arena, record.etag)};
        count += one->key.ptr != NULL && one->upload.ptr != NULL && one->etag.ptr != NULL;
    }
    walk->over = !store_cursor_valid(cursor);
    store_cursor_close(cursor);
    return count;
}

static size_t remove_uploads(struct walk *walk, const struct doomed *doomed, size_t count)
{
    size_t removed = 0;
    for (size_t i = 0; i < count; i++) {
        walk->s3.key = doomed[i].key;
        walk->s3.error = S3_OK;
        removed += s3_remove_upload(&walk->s3, doomed[i].upload);
    }
    return removed;
}

// Goes over all entries of a kind. False if the end has come.
static bool walk_all(struct walk *walk, char kind)
{
    struct objects *objects = walk->s3.objects;
    walk->kind = kind;
    walk->at.len = 0;
    walk->over = false;
    while (!walk->over) {
        struct arena arena;
        arena_init(&arena, 4 << 20);
        struct doomed *doomed = arena_zalloc(&arena, SLICE_ENTRIES, sizeof(*doomed));
        struct expire_job own = {
            .job = {.run = expire_run, .frees = true}, .walk = walk, .doomed = doomed};
        own.count = doomed == NULL ? 0 : look(walk, &arena, doomed);
        if (doomed == NULL)
            walk->over = true;
        if (kind == 'U')
            own.removed = remove_uploads(walk, doomed, own.count);
        else if (own.count > 0 && meta_do(objects->meta, &own.job) != META_DONE)
            walk->over = true; // the next time
        atomic_fetch_add_explicit(&objects->expired, own.removed, memory_order_relaxed);
        arena_release(&arena);
        if (!walk->over && !worker_pause(&objects->lifecycle, SLICE_PAUSE_MS))
            return false;
    }
    return true;
}

static bool bucket_run(struct objects *objects, struct slice bucket, struct slice text)
{
    struct walk *walk = memory_zeroed(sizeof(*walk));
    struct s3 *s3 = &walk->s3;
    s3->objects = objects;
    s3->bucket = bucket;
    walk->now = env_now(&objects->env);
    arena_init(&s3->arena, 16 << 20);
    const struct xml *root = xml_read(text, &s3->arena);
    walk->rules = arena_zalloc(&s3->arena, LIMIT_OBJECT_LIFECYCLE_RULES, sizeof(*walk->rules));
    const struct xml *node = root == NULL || walk->rules == NULL ? NULL : root->children;
    for (; node != NULL && walk->rule_count < LIMIT_OBJECT_LIFECYCLE_RULES; node = node->next)
        walk->rule_count += rule_read(node, &walk->rules[walk->rule_count]);
    bool goes_on = walk->rule_count == 0 || (walk_all(walk, 'O') && walk_all(walk, 'U'));
    arena_release(&s3->arena);
    free(walk);
    return goes_on;
}

void objects_lifecycle(struct objects *objects)
{
    struct store *store = meta_store(objects->meta);
    struct store_cursor *cursor = store_cursor_open(store, NULL, SLICE_LIT("L"), SLICE_LIT("M"));
    bool goes_on = true;
    for (store_cursor_first(cursor); goes_on && store_cursor_valid(cursor);
         store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        goes_on =
            bucket_run(objects, slice_of(key.ptr + 1, key.len - 1), store_cursor_value(cursor));
    }
    store_cursor_close(cursor);
}
