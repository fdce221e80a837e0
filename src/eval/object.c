// See object.h.
#include "eval/object.h"

#include "base/encode.h"

static bool level_fits(struct slice text)
{
    return text.len > 0 && !slice_is(text, ".") && !slice_is(text, "..") &&
           memchr(text.ptr, '/', text.len) == NULL;
}

// Whether what an expression says may have levels.
static bool has_levels(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_CALL &&
           (expr->function == MODEL_FN_DATE_PART || expr->function == MODEL_FN_EACH ||
            expr->function == MODEL_FN_RAW);
}

// Whatever it was made of, a key does not lead elsewhere once somebody takes its dots for steps.
static bool key_fits(struct slice key)
{
    struct slice rest = key;
    if (key.len == 0 || key.len > OBJECT_KEY_MAX || !utf8_valid(key) ||
        slice_begins(key, SLICE_LIT("/")))
        return false;
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] < ' ' || key.ptr[i] == 0x7f)
            return false;
    while (rest.len > 0) {
        struct slice level = slice_cut(&rest, '/');
        if (!level_fits(level))
            return false;
    }
    return true;
}

static enum eval_status key_render(const struct model_object *object, struct model_scope *scope,
                                   struct buf *out)
{
    const struct model_template *path = object->path;
    for (size_t i = 0; i < path->segment_count; i++) {
        const struct model_segment *segment = &path->segments[i];
        size_t start = out->len;
        if (segment->expr == NULL) {
            buf_slice(out, segment->literal);
            continue;
        }
        enum eval_status status = model_eval_text(segment->expr, scope, out);
        if (status != EVAL_OK)
            return status;
        if (!has_levels(segment->expr) && !out->failed &&
            memchr(out->ptr + start, '/', out->len - start) != NULL)
            return EVAL_UNFIT;
        if (out->len == start)
            return EVAL_MISSING;
    }
    return out->failed ? EVAL_BUDGET : EVAL_OK;
}

enum eval_status model_object_key(const struct model_object *object, struct slice item,
                                  struct slice member, struct arena *arena, struct buf *out)
{
    struct model_scope scope = {
        .item = item, .entity = object->entity, .each = member, .arena = arena};
    size_t start = out->len;
    buf_slice(out, object->prefix);
    enum eval_status status = key_render(object, &scope, out);
    if (status == EVAL_OK && !key_fits(slice_of(out->ptr + start, out->len - start)))
        status = EVAL_UNFIT;
    if (status != EVAL_OK)
        out->len = start;
    return status;
}

void object_members_init(struct object_members *members, const struct model_object *object,
                         struct slice item)
{
    struct slice list = object->each == NULL ? VALUE_NONE : value_get(item, object->each->name);
    *members = (struct object_members){.object = object};
    members->more = list.len > 0 && value_type(list) == VALUE_L;
    if (members->more)
        value_iter_init(&members->iter, list);
}

bool object_members_next(struct object_members *members, struct slice *member)
{
    if (!members->more || !value_iter_next(&members->iter))
        return false;
    struct slice value = members->iter.value;
    if (members->object->member.len > 0)
        value =
            value_type(value) == VALUE_M ? value_get(value, members->object->member) : VALUE_NONE;
    *member = value.len > 0 && value_type(value) == VALUE_S ? value : VALUE_NONE;
    return true;
}
