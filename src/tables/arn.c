// See arn.h.
#include "tables/arn.h"

#include "base/limits.h"

#include <stdio.h>

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

static uint8_t *put(uint8_t *out, struct slice text)
{
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    return out + text.len;
}

size_t arn_put(uint8_t *out, size_t room, const struct table_arn *arn)
{
    static const char begin[] = "arn:aws:dynamodb:";
    static const char middle[] = ":000000000000:table/";
    struct slice kind = arn->kind == NULL ? slice_of(NULL, 0) : slice_str(arn->kind);
    size_t fixed = sizeof(begin) + sizeof(middle); // with the two slashes
    uint8_t *at = out;
    ensure(fixed + arn->region.len + arn->table.len + kind.len + arn->id.len <= room);
    memcpy(at, begin, sizeof(begin) - 1);
    at = put(at + sizeof(begin) - 1, arn->region);
    memcpy(at, middle, sizeof(middle) - 1);
    at = put(at + sizeof(middle) - 1, arn->table);
    if (arn->kind == NULL)
        return (size_t)(at - out);
    *at++ = '/';
    at = put(at, kind);
    *at++ = '/';
    return (size_t)(put(at, arn->id) - out);
}

struct slice arn_make(struct arena *arena, const struct table_arn *arn)
{
    struct buf text;
    buf_init(&text, ARN_MAX);
    arn_write(&text, arn);
    return arena_keep(arena, &text);
}

void json_put_arn(struct json_writer *w, const char *name, const struct table_arn *arn)
{
    struct buf text;
    buf_init(&text, ARN_MAX);
    arn_write(&text, arn);
    json_put_string(w, name, buf_view(&text));
    buf_release(&text);
}

static const bool name_bytes[256] = {
    ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true,
    ['_'] = true,         ['.'] = true,         ['-'] = true,
};

bool table_name_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!name_bytes[text.ptr[i]])
            return false;
    return text.len > 0;
}

bool arn_of_table(struct slice text, struct slice *name)
{
    struct slice prefix = SLICE_LIT("table/");
    struct arn arn;
    // Most names are plain.
    if (!slice_begins(text, SLICE_LIT("arn:")) || !arn_split(text, &arn) ||
        !slice_is(arn.service, "dynamodb") || arn.region.len == 0 || arn.account.len == 0 ||
        !slice_begins(arn.rest, prefix))
        return false;
    struct slice rest = slice_of(arn.rest.ptr + prefix.len, arn.rest.len - prefix.len);
    if (rest.len < LIMIT_TABLE_NAME_MIN || rest.len > LIMIT_TABLE_NAME_MAX ||
        !table_name_matches(rest))
        return false;
    *name = rest;
    return true;
}

bool arn_of_part(struct slice text, const char *kind, struct slice *table, struct slice *id)
{
    struct slice prefix = SLICE_LIT("table/");
    char middle[32];
    struct arn arn;
    if (!arn_split(text, &arn) || !slice_is(arn.service, "dynamodb") ||
        !slice_begins(arn.rest, prefix))
        return false;
    struct slice rest = slice_of(arn.rest.ptr + prefix.len, arn.rest.len - prefix.len);
    size_t len = (size_t)snprintf(middle, sizeof(middle), "/%s/", kind);
    const uint8_t *at = rest.len == 0 ? NULL : memmem(rest.ptr, rest.len, middle, len);
    if (at == NULL)
        return false;
    *table = slice_of(rest.ptr, (size_t)(at - rest.ptr));
    *id = slice_of(at + len, rest.len - table->len - len);
    return true;
}

struct slice table_name_plain(struct slice name_or_arn)
{
    struct slice name;
    return arn_of_table(name_or_arn, &name) ? name : name_or_arn;
}
