// If-Match and its kin, of reads, of sources of copies, and of writes.
#include "objects/s3.h"

#include <stdio.h>
#include <time.h>

bool s3_time_parse(struct slice text, int64_t *ms)
{
    char copy[40];
    struct tm utc = {.tm_sec = 0};
    if (text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    const char *end = strptime(copy, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    if (end == NULL || *end != 0)
        return false;
    *ms = (int64_t)timegm(&utc) * 1000;
    return true;
}

// Whether one of the tags of the list is the object's; "*" is any.
static bool etag_listed(struct slice list, struct slice etag)
{
    while (list.len > 0) {
        struct slice tag = slice_trim(slice_cut(&list, ','));
        if (slice_begins(tag, SLICE_LIT("W/")))
            tag = slice_of(tag.ptr + 2, tag.len - 2);
        if (tag.len >= 2 && tag.ptr[0] == '"' && tag.ptr[tag.len - 1] == '"')
            tag = slice_of(tag.ptr + 1, tag.len - 2);
        if (slice_is(tag, "*") || slice_equal(tag, etag))
            return true;
    }
    return false;
}

static const struct slice *condition(struct s3 *s3, const char *prefix, const char *name)
{
    char header[64];
    (void)snprintf(header, sizeof(header), "%s%s", prefix, name);
    return s3_header(s3, header);
}

// A date that cannot be read is as if it were not there.
static bool changed_since(const struct slice *date, const struct record *record, bool otherwise)
{
    int64_t ms;
    return s3_time_parse(*date, &ms) ? record->modified_ms / 1000 > ms / 1000 : otherwise;
}

bool s3_check_read(struct s3 *s3, const char *prefix, const struct record *record, bool copy)
{
    const struct slice *match = condition(s3, prefix, "if-match");
    const struct slice *none = condition(s3, prefix, "if-none-match");
    const struct slice *modified = condition(s3, prefix, "if-modified-since");
    const struct slice *unmodified = condition(s3, prefix, "if-unmodified-since");
    if (match != NULL && !etag_listed(*match, record->etag))
        return s3_fail(s3, S3_PRECONDITION_FAILED);
    if (match == NULL && unmodified != NULL && changed_since(unmodified, record, false))
        return s3_fail_about(s3, S3_PRECONDITION_FAILED, SLICE_LIT("If-Unmodified-Since"));
    bool same = none != NULL ? etag_listed(*none, record->etag)
                             : modified != NULL && !changed_since(modified, record, true);
    if (!same)
        return true;
    if (copy)
        return s3_fail_about(s3, S3_PRECONDITION_FAILED,
                             none != NULL ? SLICE_LIT("If-None-Match")
                                          : SLICE_LIT("If-Modified-Since"));
    s3_add_quoted(s3, "ETag", record->etag);
    s3_add_date(s3, "Last-Modified", record->modified_ms);
    return s3_fail(s3, S3_NOT_MODIFIED);
}

// Of a write S3 knows If-None-Match with "*" alone.
bool s3_read_write_condition(struct s3 *s3, struct s3_write_condition *out)
{
    const struct slice *none = s3_header(s3, "if-none-match");
    out->match = s3_header(s3, "if-match");
    out->absent = none != NULL;
    if ((none != NULL && !slice_is(*none, "*")) || (none != NULL && out->match != NULL))
        return s3_fail(s3, S3_NOT_IMPLEMENTED);
    return true;
}

enum s3_error s3_judge_write(const struct s3_write_condition *condition,
                             const struct record *before)
{
    if (condition->absent && before != NULL)
        return S3_PRECONDITION_FAILED;
    if (condition->match == NULL)
        return S3_OK;
    if (before == NULL)
        return S3_NO_SUCH_KEY;
    return etag_listed(*condition->match, before->etag) ? S3_OK : S3_PRECONDITION_FAILED;
}
