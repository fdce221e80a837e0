// See control.h.
#include "api/control.h"

enum { NAMES_MAX = 16 << 20 };

// ---- Answering ---------------------------------------------------------------------------------

void call_changed_settings(const struct api_call *call, struct table_settings *out)
{
    table_settings_read(call->state->change->after, out);
}

// ---- Walking over tables ------------------------------------------------------------------------

static bool name_add(void *context, struct slice name)
{
    struct table_names *names = context;
    uint8_t len[10];
    buf_add(&names->text, len, varint_put(len, name.len));
    buf_slice(&names->text, name);
    return true;
}

void table_names_init(struct table_names *names, struct engine *engine, struct slice after)
{
    names->at = 0;
    buf_init(&names->text, NAMES_MAX);
    engine_tables(engine, after, name_add, names);
    ensure(!names->text.failed);
}

bool table_names_next(struct table_names *names, struct slice *name)
{
    if (names->at == names->text.len)
        return false;
    const uint8_t *at = names->text.ptr + names->at;
    *name = value_counted(&at);
    names->at = (size_t)(at - names->text.ptr);
    return true;
}

void table_names_release(struct table_names *names)
{
    buf_release(&names->text);
}

// ---- ARNs ------------------------------------------------------------------------------------

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
