// GetObject and HeadObject: conditions, ranges, parts.
#include "objects/s3.h"

struct range {
    uint64_t from;
    uint64_t len;
    bool partial;
};

// "bytes=0-9", "bytes=5-", "bytes=-3". What is none, or several, is as if it were not there.
static bool range_parse(struct s3 *s3, struct slice text, uint64_t size, struct range *out)
{
    static const struct slice unit = {(const uint8_t *)"bytes=", 6};
    uint64_t first = 0;
    uint64_t last = UINT64_MAX;
    if (!slice_begins(text, unit))
        return true;
    struct slice to = slice_of(text.ptr + unit.len, text.len - unit.len);
    size_t before = to.len;
    struct slice from = slice_trim(slice_cut(&to, '-'));
    to = slice_trim(to);
    if (from.len == before || (from.len == 0 && to.len == 0) ||
        (from.len > 0 && !s3_parse_number(from, UINT64_MAX, &first)) ||
        (to.len > 0 && !s3_parse_number(to, UINT64_MAX, &last)))
        return true;
    if (from.len == 0) {
        first = last < size ? size - last : 0;
        if (last == 0)
            first = size;
        last = UINT64_MAX;
    }
    if (last < first)
        return true;
    if (first >= size)
        return s3_fail_about(s3, S3_INVALID_RANGE, text);
    *out = (struct range){first, (last < size ? last + 1 : size) - first, true};
    return true;
}

// A range counts only for the object that the client has a part of.
static bool range_holds(struct s3 *s3, const struct record *record)
{
    const struct slice *condition = s3_header(s3, "if-range");
    int64_t ms;
    if (condition == NULL)
        return true;
    if (s3_time_parse(*condition, &ms))
        return ms / 1000 == record->modified_ms / 1000;
    return condition->len == record->etag.len + 2 &&
           slice_equal(slice_of(condition->ptr + 1, record->etag.len), record->etag);
}

// A part of an object is the blob that it was uploaded as.
static bool part_find(struct s3 *s3, const struct record *record, uint64_t number,
                      struct range *out)
{
    size_t count = record->parts > 0 ? record_blob_count(record) : 1;
    if (number == 0 || number > count)
        return s3_fail(s3, S3_INVALID_RANGE);
    if (record->parts > 0)
        buf_printf(&s3->headers, "x-amz-mp-parts-count: %zu\r\n", count);
    out->partial = record->size > 0;
    for (size_t i = 0; record->parts > 0 && i < number; i++) {
        struct blob_id id;
        out->from += i == 0 ? 0 : out->len;
        record_blob(record, i, &id, &out->len);
    }
    return true;
}

static bool range_find(struct s3 *s3, const struct record *record, struct range *out)
{
    const struct slice *text = s3_header(s3, "range");
    const struct slice *part = s3_param(s3, "partNumber");
    *out = (struct range){0, record->size, false};
    if (part != NULL && text != NULL)
        return s3_fail(s3, S3_INVALID_REQUEST);
    if (part != NULL) {
        uint64_t number = s3_number(s3, "partNumber", 1, 10000, S3_INVALID_PART_NUMBER);
        return s3_ok(s3) && part_find(s3, record, number, out);
    }
    return text == NULL || !range_holds(s3, record) || range_parse(s3, *text, record->size, out);
}

// The blob that the range begins in, opened.
static bool sending_begin(struct s3 *s3, const struct record *record, const struct range *range)
{
    struct s3_sending *sending = &s3->sending;
    struct blob_id id = {{0}};
    uint64_t size = 0;
    *sending = (struct s3_sending){
        .on = true, .blobs = record->blobs, .from = range->from, .left = range->len, .fd = -1};
    if (range->len == 0)
        return true;
    for (record_blob(record, 0, &id, &size); sending->from >= size;
         record_blob(record, sending->at, &id, &size)) {
        sending->from -= size;
        if (++sending->at == record_blob_count(record))
            return s3_fail(s3, S3_INTERNAL);
    }
    sending->fd = s3->hurried ? blob_open_cached(s3->objects->blobs, &id)
                              : blob_open(s3->objects->blobs, &id);
    s3->cold = s3->hurried && sending->fd < 0;
    if (s3->cold)
        return s3_fail(s3, S3_SLOW_DOWN);
    return sending->fd >= 0 || s3_fail_file(s3, "an object's file cannot be opened");
}

void s3_get_object(struct s3 *s3)
{
    struct record record;
    struct range range;
    const struct slice *mode = s3_header(s3, "x-amz-checksum-mode");
    if (!s3->pinned)
        blob_pin(s3->objects->blobs, &s3->pin);
    s3->pinned = true;
    if (!s3_find_object(s3, s3->bucket, s3->key, &record) ||
        !s3_check_read(s3, "", &record, false) || !range_find(s3, &record, &range))
        return;
    s3_add_attributes(s3, &record);
    if (mode != NULL && http_same(*mode, SLICE_LIT("enabled")) && range.len == record.size)
        s3_add_checksum(s3, &record);
    if (range.partial)
        buf_printf(&s3->headers, "Content-Range: bytes %llu-%llu/%llu\r\n",
                   (unsigned long long)range.from, (unsigned long long)(range.from + range.len - 1),
                   (unsigned long long)record.size);
    s3->status = range.partial ? 206 : 200;
    s3->length = range.len;
    if (s3_ok(s3) && !slice_is(s3->request->method, "HEAD"))
        (void)sending_begin(s3, &record, &range);
}
