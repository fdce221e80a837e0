// See arn.h.
#include "tables/arn.h"

enum { ARN_MAX = 4096 };

static bool take_part(struct slice *rest, struct slice *part)
{
    const uint8_t *colon = rest->len == 0 ? NULL : memchr(rest->ptr, ':', rest->len);
    if (colon == NULL)
        return false;
    *part = slice_of(rest->ptr, (size_t)(colon - rest->ptr));
    *rest = slice_of(colon + 1, rest->len - part->len - 1);
    return true;
}

bool arn_split(struct slice text, struct arn *out)
{
    struct slice scheme, partition;
    struct arn arn;
    if (!take_part(&text, &scheme) || !take_part(&text, &partition) ||
        !take_part(&text, &arn.service) || !take_part(&text, &arn.region) ||
        !take_part(&text, &arn.account))
        return false;
    if (!slice_is(scheme, "arn") || !slice_begins(partition, SLICE_LIT("aws")) || text.len == 0)
        return false;
    arn.rest = text;
    *out = arn;
    return true;
}

void arn_write(struct buf *out, const struct table_arn *arn)
{
    buf_text(out, "arn:aws:dynamodb:");
    buf_slice(out, arn->region);
    buf_text(out, ":000000000000:table/");
    buf_slice(out, arn->table);
    if (arn->kind == NULL)
        return;
    buf_byte(out, '/');
    buf_text(out, arn->kind);
    buf_byte(out, '/');
    buf_slice(out, arn->id);
}

struct slice arn_make(struct arena *arena, const struct table_arn *arn)
{
    struct buf text;
    buf_init(&text, ARN_MAX);
    arn_write(&text, arn);
    struct slice made = text.failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(&text));
    buf_release(&text);
    return made;
}

void json_put_arn(struct json_writer *w, const char *name, const struct table_arn *arn)
{
    struct buf text;
    buf_init(&text, ARN_MAX);
    arn_write(&text, arn);
    json_put_string(w, name, buf_view(&text));
    buf_release(&text);
}
