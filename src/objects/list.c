// ListObjectsV2, ListObjects and ListMultipartUploads: a walk over keys in their order, which folds
// those that have a delimiter behind the prefix.
#include "objects/s3.h"

#include "base/encode.h"
#include "base/limits.h"

struct listing {
    struct slice prefix;
    struct slice delimiter;
    struct slice after;  // begin behind this key
    struct slice upload; // … or behind this upload of it
    uint64_t max;
    bool url; // names are percent-encoded
    bool owner;
    // What came of it.
    uint64_t count;
    bool truncated;
    struct slice last; // the last key or common prefix
    struct slice last_upload;
    struct buf entries;
    struct buf prefixes;
};

static void put_name(struct s3 *s3, struct buf *out, const struct listing *list, const char *name,
                     struct slice text)
{
    (void)s3;
    if (!list->url) {
        xml_put(out, name, text);
        return;
    }
    xml_open(out, name);
    sign_encode(out, text, true);
    xml_close(out, name);
}

static struct slice param_or_empty(const struct s3 *s3, const char *name)
{
    const struct slice *value = s3_param(s3, name);
    return value == NULL ? slice_of(NULL, 0) : *value;
}

static bool listing_begin(struct s3 *s3, struct listing *list, const char *max_name)
{
    const struct slice *encoding = s3_param(s3, "encoding-type");
    *list = (struct listing){.prefix = param_or_empty(s3, "prefix"),
                             .delimiter = param_or_empty(s3, "delimiter")};
    list->max = s3_number(s3, max_name, LIMIT_OBJECT_LIST, INT32_MAX, S3_INVALID_MAX_KEYS);
    if (list->max > LIMIT_OBJECT_LIST)
        list->max = LIMIT_OBJECT_LIST;
    list->url = encoding != NULL;
    if (encoding != NULL && !slice_is(*encoding, "url"))
        return s3_fail_about(s3, S3_INVALID_ENCODING, *encoding);
    if (list->prefix.len > LIMIT_OBJECT_KEY || list->delimiter.len > LIMIT_OBJECT_KEY)
        return s3_fail(s3, S3_KEY_TOO_LONG);
    buf_init_counted(&list->entries, 8 << 20, &s3->account, BUDGET_ANSWERS);
    buf_init_counted(&list->prefixes, 8 << 20, &s3->account, BUDGET_ANSWERS);
    return s3_ok(s3);
}

// The key up to and with the first delimiter behind the prefix; empty if there is none.
static struct slice common_prefix(const struct listing *list, struct slice key)
{
    if (list->delimiter.len == 0 || key.len <= list->prefix.len || !slice_begins(key, list->prefix))
        return slice_of(NULL, 0);
    const uint8_t *from = key.ptr + list->prefix.len;
    const uint8_t *at =
        memmem(from, key.len - list->prefix.len, list->delimiter.ptr, list->delimiter.len);
    return at == NULL ? slice_of(NULL, 0)
                      : slice_of(key.ptr, (size_t)(at - key.ptr) + list->delimiter.len);
}

// Keys of the kind below the bucket are "O<bucket> 0 <key>" or "U<bucket> 0 <key> 0 <upload>".
static struct slice key_of(const struct s3 *s3, struct slice stored, char kind,
                           struct slice *upload)
{
    size_t skip = 2 + s3->bucket.len;
    struct slice key = slice_of(stored.ptr + skip, stored.len - skip);
    *upload = slice_of(NULL, 0);
    if (kind == 'U' && key.len > UPLOAD_ID) {
        *upload = slice_of(key.ptr + key.len - UPLOAD_ID, UPLOAD_ID);
        key.len -= UPLOAD_ID + 1;
    }
    return key;
}

static void seek_past(struct s3 *s3, struct store_cursor *cursor, char kind, struct slice prefix)
{
    struct record_key key = key_upper(kind, s3->bucket, prefix);
    store_cursor_seek(cursor, record_key_view(&key));
}

static void seek_begin(struct s3 *s3, struct listing *list, struct store_cursor *cursor, char kind)
{
    struct slice folded = common_prefix(list, list->after);
    if (list->after.len == 0) {
        store_cursor_first(cursor);
    } else if (folded.len > 0 && slice_equal(folded, list->after)) {
        seek_past(s3, cursor, kind, folded); // that was listed
    } else if (kind == 'U') {
        struct record_key key = key_of_upload(s3->bucket, list->after, list->upload);
        if (list->upload.len == 0)
            key.bytes[key.len - 1] = 1; // behind all of that key
        store_cursor_behind(cursor, record_key_view(&key));
    } else {
        struct record_key key = key_of_object(s3->bucket, list->after);
        store_cursor_behind(cursor, record_key_view(&key));
    }
}

static bool note_last(struct s3 *s3, struct listing *list, struct slice key, struct slice upload)
{
    list->count++;
    list->last = arena_copy(&s3->arena, key);
    list->last_upload = arena_copy(&s3->arena, upload);
    return (list->last.ptr != NULL && list->last_upload.ptr != NULL) || s3_fail(s3, S3_SLOW_DOWN);
}

typedef bool entry_writer(struct s3 *s3, struct listing *list, struct slice key,
                          struct slice upload, struct slice value);

static bool walk(struct s3 *s3, struct listing *list, char kind, entry_writer *write)
{
    struct store_error error;
    struct record_key lower = key_lower(kind, s3->bucket, list->prefix);
    struct record_key upper = key_upper(kind, s3->bucket, list->prefix);
    struct store_cursor *cursor = store_cursor_open(
        meta_store(s3->objects->meta), NULL, record_key_view(&lower), record_key_view(&upper));
    bool ok = true;
    seek_begin(s3, list, cursor, kind);
    while (ok && store_cursor_valid(cursor) && list->count < list->max) {
        struct slice upload;
        struct slice key = key_of(s3, store_cursor_key(cursor), kind, &upload);
        struct slice folded = common_prefix(list, key);
        if (folded.len > 0) {
            ok = note_last(s3, list, folded, slice_of(NULL, 0));
            xml_open(&list->prefixes, "CommonPrefixes");
            put_name(s3, &list->prefixes, list, "Prefix", list->last);
            xml_close(&list->prefixes, "CommonPrefixes");
            seek_past(s3, cursor, kind, list->last);
            continue;
        }
        ok = write(s3, list, key, upload, store_cursor_value(cursor)) &&
             note_last(s3, list, key, upload);
        store_cursor_next(cursor);
    }
    list->truncated = store_cursor_valid(cursor) && list->max > 0;
    if (!store_cursor_valid(cursor) && !store_cursor_ok(cursor, &error))
        ok = s3_fail(s3, S3_INTERNAL);
    store_cursor_close(cursor);
    return ok;
}

static void listing_end(struct s3 *s3, struct listing *list, const char *root)
{
    buf_slice(&s3->out, buf_view(&list->entries));
    buf_slice(&s3->out, buf_view(&list->prefixes));
    xml_close(&s3->out, root);
    if (list->entries.failed || list->prefixes.failed)
        (void)s3_fail(s3, S3_SLOW_DOWN);
    s3_answer_xml(s3, 200);
}

static void listing_release(struct listing *list)
{
    buf_release(&list->entries);
    buf_release(&list->prefixes);
}

// ---- Objects
// -----------------------------------------------------------------------------------------

void s3_put_checksum_kind(struct buf *out, const struct record *record)
{
    if (record->checksum_kind == CHECKSUM_NONE || record->checksum_kind >= CHECKSUM_KINDS)
        return;
    xml_put(out, "ChecksumAlgorithm",
            slice_str(checksum_row((enum checksum_kind)record->checksum_kind)->name));
    xml_put(out, "ChecksumType",
            record->checksum_whole ? SLICE_LIT("FULL_OBJECT") : SLICE_LIT("COMPOSITE"));
}

void s3_put_etag(struct buf *out, struct slice etag)
{
    buf_printf(out, "<ETag>&quot;%.*s&quot;</ETag>", SLICE_FMT(etag));
}

static bool write_object(struct s3 *s3, struct listing *list, struct slice key, struct slice upload,
                         struct slice value)
{
    struct record record;
    struct buf *out = &list->entries;
    (void)upload;
    if (!record_decode(value, &record))
        return s3_fail(s3, S3_INTERNAL);
    xml_open(out, "Contents");
    put_name(s3, out, list, "Key", key);
    xml_put_time(out, "LastModified", record.modified_ms);
    s3_put_etag(out, record.etag);
    s3_put_checksum_kind(out, &record);
    xml_put_number(out, "Size", record.size);
    if (list->owner)
        buf_text(out, "<Owner><ID>" OBJECTS_OWNER "</ID><DisplayName>" OBJECTS_OWNER
                      "</DisplayName></Owner>");
    xml_put(out, "StorageClass", SLICE_LIT("STANDARD"));
    xml_close(out, "Contents");
    return true;
}

static void put_common(struct s3 *s3, const struct listing *list, const char *max_name)
{
    struct buf *out = &s3->out;
    put_name(s3, out, list, "Prefix", list->prefix);
    if (list->delimiter.len > 0)
        put_name(s3, out, list, "Delimiter", list->delimiter);
    xml_put_number(out, max_name, list->max);
    xml_put(out, "IsTruncated", list->truncated ? SLICE_LIT("true") : SLICE_LIT("false"));
    if (list->url)
        xml_put(out, "EncodingType", SLICE_LIT("url"));
}

// A token is the last name of the page before, in base64.
static bool token_read(struct s3 *s3, struct listing *list, struct slice token)
{
    struct buf key;
    buf_init(&key, 4 * LIMIT_OBJECT_KEY);
    bool ok = base64_decode(&key, token) && key.len > 0 && key.len <= LIMIT_OBJECT_KEY;
    list->after = arena_copy(&s3->arena, buf_view(&key));
    buf_release(&key);
    return (ok && list->after.ptr != NULL) || s3_fail_about(s3, S3_INVALID_TOKEN, token);
}

void s3_list_objects_v2(struct s3 *s3)
{
    struct listing list;
    const struct slice *token = s3_param(s3, "continuation-token");
    const struct slice *owner = s3_param(s3, "fetch-owner");
    if (!listing_begin(s3, &list, "max-keys"))
        return;
    list.owner = owner != NULL && slice_is(*owner, "true");
    list.after = param_or_empty(s3, "start-after");
    struct slice start = list.after;
    bool ok = (start.len <= LIMIT_OBJECT_KEY || s3_fail(s3, S3_KEY_TOO_LONG)) &&
              (token == NULL || token_read(s3, &list, *token)) &&
              walk(s3, &list, 'O', write_object);
    if (ok) {
        struct buf *out = &s3->out;
        xml_begin(out, "ListBucketResult");
        xml_put(out, "Name", s3->bucket);
        put_common(s3, &list, "MaxKeys");
        xml_put_number(out, "KeyCount", list.count);
        if (start.len > 0)
            put_name(s3, out, &list, "StartAfter", start);
        if (token != NULL)
            xml_put(out, "ContinuationToken", *token);
        if (list.truncated) {
            xml_open(out, "NextContinuationToken");
            base64_encode(out, list.last);
            xml_close(out, "NextContinuationToken");
        }
        listing_end(s3, &list, "ListBucketResult");
    }
    listing_release(&list);
}

void s3_list_objects(struct s3 *s3)
{
    struct listing list;
    if (!listing_begin(s3, &list, "max-keys"))
        return;
    list.owner = true;
    list.after = param_or_empty(s3, "marker");
    if ((list.after.len <= LIMIT_OBJECT_KEY || s3_fail(s3, S3_KEY_TOO_LONG)) &&
        walk(s3, &list, 'O', write_object)) {
        struct buf *out = &s3->out;
        xml_begin(out, "ListBucketResult");
        xml_put(out, "Name", s3->bucket);
        put_common(s3, &list, "MaxKeys");
        put_name(s3, out, &list, "Marker", list.after);
        if (list.truncated)
            put_name(s3, out, &list, "NextMarker", list.last);
        listing_end(s3, &list, "ListBucketResult");
    }
    listing_release(&list);
}

// ---- Uploads
// -----------------------------------------------------------------------------------------

static bool write_upload(struct s3 *s3, struct listing *list, struct slice key, struct slice upload,
                         struct slice value)
{
    struct record record;
    struct buf *out = &list->entries;
    if (!record_decode(value, &record))
        return s3_fail(s3, S3_INTERNAL);
    xml_open(out, "Upload");
    put_name(s3, out, list, "Key", key);
    xml_put(out, "UploadId", upload);
    buf_text(out, "<Initiator><ID>" OBJECTS_OWNER "</ID></Initiator><Owner><ID>" OBJECTS_OWNER
                  "</ID></Owner><StorageClass>STANDARD</StorageClass>");
    xml_put_time(out, "Initiated", record.modified_ms);
    s3_put_checksum_kind(out, &record);
    xml_close(out, "Upload");
    return true;
}

void s3_list_uploads(struct s3 *s3)
{
    struct listing list;
    if (!listing_begin(s3, &list, "max-uploads"))
        return;
    list.after = param_or_empty(s3, "key-marker");
    list.upload = param_or_empty(s3, "upload-id-marker");
    bool fits = list.after.len <= LIMIT_OBJECT_KEY && list.upload.len <= UPLOAD_ID;
    if ((fits || s3_fail(s3, S3_INVALID_TOKEN)) && walk(s3, &list, 'U', write_upload)) {
        struct buf *out = &s3->out;
        xml_begin(out, "ListMultipartUploadsResult");
        xml_put(out, "Bucket", s3->bucket);
        put_name(s3, out, &list, "KeyMarker", list.after);
        xml_put(out, "UploadIdMarker", list.upload);
        put_common(s3, &list, "MaxUploads");
        if (list.truncated) {
            put_name(s3, out, &list, "NextKeyMarker", list.last);
            xml_put(out, "NextUploadIdMarker", list.last_upload);
        }
        listing_end(s3, &list, "ListMultipartUploadsResult");
    }
    listing_release(&list);
}
