// What an object is stored with beside its bytes, from headers or from the fields of a form, and
// what of it an answer says.
#include "objects/s3.h"

#include "base/encode.h"
#include "base/limits.h"

#include <strings.h>

// No byte that would end a header or start another.
bool s3_value_valid(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        uint8_t c = value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

// A header, or the field of that name.
static const struct slice *attribute(const struct s3 *s3, const char *name)
{
    return s3->form != NULL ? s3_form_field(s3, name) : s3_header(s3, name);
}

// "aws-chunked" is how the body came, and no property of the object.
static struct slice without_chunked(struct s3 *s3, struct slice codings)
{
    struct buf out;
    buf_init(&out, HTTP_HEAD_MAX);
    while (codings.len > 0) {
        struct slice coding = slice_trim(slice_cut(&codings, ','));
        if (coding.len == 0 || slice_is(coding, "aws-chunked"))
            continue;
        if (out.len > 0)
            buf_byte(&out, ',');
        buf_slice(&out, coding);
    }
    return arena_keep(&s3->arena, &out);
}

bool s3_read_attributes(struct s3 *s3, struct record *record)
{
    for (size_t i = 0; i < RECORD_HEADERS; i++) {
        const struct slice *value = attribute(s3, record_header_names[i]);
        if (value == NULL)
            continue;
        if (!s3_value_valid(*value))
            return s3_fail(s3, S3_INVALID_HEADER);
        record->headers[i] = i == RECORD_CONTENT_ENCODING ? without_chunked(s3, *value) : *value;
    }
    if (record->headers[RECORD_CONTENT_TYPE].len == 0)
        record->headers[RECORD_CONTENT_TYPE] = SLICE_LIT("binary/octet-stream");
    return true;
}

// ---- User metadata
// ---------------------------------------------------------------------------------

static bool add_meta(struct s3 *s3, struct buf *out, size_t *total, struct slice name,
                     struct slice value)
{
    static const struct slice prefix = {(const uint8_t *)"x-amz-meta-", 11};
    uint8_t lower[256];
    if (name.len <= prefix.len ||
        strncasecmp((const char *)name.ptr, (const char *)prefix.ptr, prefix.len) != 0)
        return true;
    name = slice_of(name.ptr + prefix.len, name.len - prefix.len);
    *total += name.len + value.len;
    if (*total > LIMIT_OBJECT_META || name.len > sizeof(lower))
        return s3_fail(s3, S3_METADATA_TOO_LARGE);
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
        if (c <= ' ' || c == ':' || c >= 0x7f)
            return s3_fail(s3, S3_INVALID_HEADER);
    }
    if (!s3_value_valid(value))
        return s3_fail(s3, S3_INVALID_HEADER);
    pair_add(out, slice_of(lower, name.len), value);
    return true;
}

bool s3_read_meta(struct s3 *s3, struct record *record)
{
    struct buf pairs;
    size_t total = 0;
    bool ok = true;
    buf_init(&pairs, 4 * LIMIT_OBJECT_META);
    for (size_t i = 0; ok && s3->form == NULL && i < s3->request->header_count; i++)
        ok = add_meta(s3, &pairs, &total, s3->request->headers[i].name,
                      s3->request->headers[i].value);
    for (size_t i = 0; ok && s3->form != NULL && i < s3_form_fields(s3)->count; i++)
        ok = add_meta(s3, &pairs, &total, s3_form_fields(s3)->fields[i].name,
                      s3_form_fields(s3)->fields[i].value);
    if (!ok) {
        buf_release(&pairs);
        return false;
    }
    record->meta = arena_keep(&s3->arena, &pairs);
    return record->meta.ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

// ---- Tags
// --------------------------------------------------------------------------------------------

bool s3_tag_valid(struct slice key, struct slice value)
{
    return key.len > 0 && slice_characters(key) <= 128 && slice_characters(value) <= 256 &&
           utf8_valid(key) && utf8_valid(value) && s3_value_valid(key) && s3_value_valid(value) &&
           !slice_begins(key, SLICE_LIT("aws:"));
}

static bool tag_known(struct slice pairs, struct slice key)
{
    struct slice name;
    struct slice value;
    while (pair_next(&pairs, &name, &value)) {
        if (slice_equal(name, key))
            return true;
    }
    return false;
}

bool s3_add_tag(struct s3 *s3, struct buf *pairs, struct slice key, struct slice value)
{
    if (!s3_tag_valid(key, value) || tag_known(buf_view(pairs), key))
        return s3_fail(s3, S3_INVALID_TAG);
    if (pair_count(buf_view(pairs)) == LIMIT_OBJECT_TAGS)
        return s3_fail(s3, S3_TOO_MANY_TAGS);
    pair_add(pairs, key, value);
    return true;
}

// "a=b&c=d", encoded as a query.
bool s3_parse_tags_query(struct s3 *s3, struct slice text, struct slice *out)
{
    struct buf pairs;
    struct buf key;
    struct buf value;
    bool ok = true;
    buf_init(&pairs, LIMIT_OBJECT_TAG_BYTES);
    buf_init(&key, HTTP_HEAD_MAX);
    buf_init(&value, HTTP_HEAD_MAX);
    while (ok && text.len > 0) {
        struct slice rest = slice_cut(&text, '&');
        struct slice name = slice_cut(&rest, '=');
        buf_clear(&key);
        buf_clear(&value);
        ok = (sign_decode(&key, name, true) && sign_decode(&value, rest, true)) ||
             s3_fail(s3, S3_INVALID_TAG);
        ok = ok && s3_add_tag(s3, &pairs, buf_view(&key), buf_view(&value));
    }
    buf_release(&key);
    buf_release(&value);
    if (!ok) {
        buf_release(&pairs);
        return false;
    }
    *out = arena_keep(&s3->arena, &pairs);
    return out->ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

bool s3_read_tags_header(struct s3 *s3, struct record *record)
{
    const struct slice *tags = attribute(s3, "x-amz-tagging");
    return tags == NULL || s3_parse_tags_query(s3, *tags, &record->tags);
}

// ---- What there is not
// -----------------------------------------------------------------------------

static bool begins_with(struct slice name, const char *prefix)
{
    return name.len >= strlen(prefix) &&
           strncasecmp((const char *)name.ptr, prefix, strlen(prefix)) == 0;
}

static enum s3_error judge_header(struct slice name, struct slice value)
{
    if (begins_with(name, "x-amz-server-side-encryption") ||
        begins_with(name, "x-amz-copy-source-server-side-encryption") ||
        begins_with(name, "x-amz-object-lock-") || begins_with(name, "x-amz-bucket-object-lock") ||
        begins_with(name, "x-amz-website-redirect-location") ||
        begins_with(name, "x-amz-write-offset-bytes"))
        return slice_is(value, "false") ? S3_OK : S3_NOT_IMPLEMENTED;
    if (begins_with(name, "x-amz-grant-"))
        return S3_ACL_UNSUPPORTED;
    if (begins_with(name, "x-amz-acl") || begins_with(name, "acl"))
        return slice_is(value, "private") || slice_is(value, "bucket-owner-full-control")
                   ? S3_OK
                   : S3_ACL_UNSUPPORTED;
    if (begins_with(name, "x-amz-storage-class"))
        return slice_is(value, "STANDARD") ? S3_OK : S3_INVALID_STORAGE_CLASS;
    if (begins_with(name, "x-amz-object-ownership"))
        return slice_is(value, "BucketOwnerEnforced") ? S3_OK : S3_NOT_IMPLEMENTED;
    if (begins_with(name, "x-amz-expected-bucket-owner") ||
        begins_with(name, "x-amz-source-expected-bucket-owner"))
        return slice_is(value, OBJECTS_OWNER) ? S3_OK : S3_ACCESS_DENIED;
    return S3_OK;
}

bool s3_refuse_unsupported(struct s3 *s3)
{
    for (size_t i = 0; i < s3->request->header_count; i++) {
        const struct http_header *header = &s3->request->headers[i];
        if (header->name.len < 6 || !begins_with(header->name, "x-amz-"))
            continue;
        enum s3_error error = judge_header(header->name, header->value);
        if (error != S3_OK)
            return s3_fail_about(s3, error, header->value);
    }
    return true;
}

bool s3_refuse_unsupported_fields(struct s3 *s3)
{
    const struct sign_form_fields *form = s3_form_fields(s3);
    for (size_t i = 0; i < form->count; i++) {
        enum s3_error error = judge_header(form->fields[i].name, form->fields[i].value);
        if (error != S3_OK)
            return s3_fail_about(s3, error, form->fields[i].value);
    }
    return true;
}

// ---- Answers
// -----------------------------------------------------------------------------------------

// A header of the object, or what the request wants there instead.
static void add_stored(struct s3 *s3, unsigned which, struct slice value)
{
    static const char *const overrides[RECORD_HEADERS] = {
        "response-content-type",     "response-cache-control",    "response-content-disposition",
        "response-content-encoding", "response-content-language", "response-expires"};
    const struct slice *wanted = s3_param(s3, overrides[which]);
    if (wanted != NULL && !s3_value_valid(*wanted)) {
        (void)s3_fail(s3, S3_INVALID_HEADER);
        return;
    }
    // Only who is known may have others see what they did not store.
    if (wanted != NULL && !s3->signer && !s3->objects->anonymous)
        (void)s3_fail(s3, S3_INVALID_REQUEST);
    if (wanted != NULL)
        value = *wanted;
    if (which == RECORD_CONTENT_TYPE)
        s3->type = value;
    else if (value.len > 0)
        s3_add_header(s3, record_header_names[which], value);
}

void s3_add_attributes(struct s3 *s3, const struct record *record)
{
    struct slice rest = record->meta;
    struct slice name;
    struct slice value;
    s3_add_quoted(s3, "ETag", record->etag);
    s3_add_date(s3, "Last-Modified", record->modified_ms);
    s3_add_header(s3, "Accept-Ranges", SLICE_LIT("bytes"));
    for (unsigned i = 0; i < RECORD_HEADERS; i++)
        add_stored(s3, i, record->headers[i]);
    while (pair_next(&rest, &name, &value)) {
        buf_text(&s3->headers, "x-amz-meta-");
        buf_slice(&s3->headers, name);
        buf_text(&s3->headers, ": ");
        buf_slice(&s3->headers, value);
        buf_text(&s3->headers, "\r\n");
    }
    size_t tags = pair_count(record->tags);
    if (tags > 0)
        buf_printf(&s3->headers, "x-amz-tagging-count: %zu\r\n", tags);
}
