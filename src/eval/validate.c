// See validate.h. Types are judged by the form in which items store them; sets have raw members, so
// scalars are judged as a tag and bytes.
#include "eval/validate.h"

#include "eval/eval.h"
#include "text/matcher.h"
#include "value/number.h"

bool model_type_stores(const struct model_type *type, enum value_type stored)
{
    static const uint8_t stores[MODEL_KINDS] = {
#define X(kind, name, stored_as) [MODEL_##kind] = stored_as,
        MODEL_TYPE_LIST(X)
#undef X
    };
    switch (type->kind) {
    case MODEL_ANY:
        return true;
    case MODEL_LITERAL:
        return value_type(type->literal) == stored;
    case MODEL_SET:
        return (stored == VALUE_SS && model_type_stores(type->item, VALUE_S)) ||
               (stored == VALUE_NS && model_type_stores(type->item, VALUE_N)) ||
               (stored == VALUE_BS && model_type_stores(type->item, VALUE_B));
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++)
            if (model_type_stores(type->options[i], stored))
                return true;
        return false;
    default:
        return stores[type->kind] == (uint8_t)stored;
    }
}

// Counts text, if the type makes us read all of it.
static void count_text(struct model_check *check, const struct model_type *type, size_t bytes)
{
    bool bounded = type->min.len > 0 || type->max.len > 0;
    if (type->kind == MODEL_URL || (type->kind == MODEL_STRING && bounded))
        check_text(check, bytes);
    for (size_t i = 0; i < type->option_count; i++)
        count_text(check, type->options[i], bytes);
}

// ---- Values with members ----------------------------------------------------------------------

static bool members_fit(struct model_check *check, const struct model_type *type,
                        struct slice value, bool strict)
{
    struct value_iter iter;
    if (!model_length_fits(type, value_count(value)))
        return false;
    value_iter_init(&iter, value);
    while (type->item != NULL && value_iter_next(&iter))
        if (!model_type_fits(check, type->item, iter.value, strict))
            return false;
    return true;
}

static enum value_tag member_tag(struct slice set)
{
    uint8_t tag = set.ptr[0];
    return tag == VALUE_TAG_SS ? VALUE_TAG_S : tag == VALUE_TAG_NS ? VALUE_TAG_N : VALUE_TAG_B;
}

static bool set_fits(struct model_check *check, const struct model_type *type, struct slice value)
{
    struct value_iter iter;
    size_t count = value_count(value);
    if (!model_length_fits(type, count))
        return false;
    // Each member may be tried with each option.
    steps_add(&check->steps, count * (1 + type->item->option_count));
    count_text(check, type->item, value.len);
    if (check_over(check))
        return false;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter))
        if (!model_scalar_fits(type->item, member_tag(value), iter.value))
            return false;
    return true;
}

// Both the map and the fields are sorted by name.
static bool object_fits(struct model_check *check, const struct model_type *type,
                        struct slice value, bool strict)
{
    struct value_iter iter;
    size_t at = 0;
    if (type->field_count == 0)
        return true;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter)) {
        int order = -1;
        while (at < type->field_count &&
               (order = slice_compare(type->fields[at].name, iter.name)) < 0)
            if (!type->fields[at++].optional)
                return false;
        if (at == type->field_count || order != 0) {
            steps_add(&check->steps, 1);
            if (strict || check_over(check))
                return false;
            continue;
        }
        const struct model_attribute *field = &type->fields[at++];
        if (!model_is_absent(field, iter.value) &&
            (!model_type_fits(check, field->type, iter.value, strict) ||
             !model_text_matches(check, field, iter.value)))
            return false;
    }
    steps_add(&check->steps, type->field_count);
    for (; at < type->field_count; at++)
        if (!type->fields[at].optional)
            return false;
    return true;
}

static bool has_members(struct slice value)
{
    return value.ptr[0] == VALUE_TAG_L || value.ptr[0] == VALUE_TAG_M;
}

// How many options it takes to decide: those that can be stored as the value is.
static size_t rivals(const struct model_type *type, struct slice value)
{
    size_t count = 0;
    bool list = value.ptr[0] == VALUE_TAG_L;
    for (size_t i = 0; i < type->option_count; i++) {
        enum model_kind kind = type->options[i]->kind;
        count += list ? kind == MODEL_LIST : kind == MODEL_RECORD || kind == MODEL_OBJECT;
    }
    return count;
}

static bool some_option_fits(struct model_check *check, const struct model_type *type,
                             struct slice value, bool strict)
{
    for (size_t i = 0; i < type->option_count; i++)
        if (model_type_fits(check, type->options[i], value, strict))
            return true;
    return false;
}

// Inside of a union, the same may be asked for each option around it.
static bool union_fits(struct model_check *check, const struct model_type *type, struct slice value,
                       bool strict)
{
    bool fits;
    if (!has_members(value) || rivals(type, value) < 2)
        return some_option_fits(check, type, value, strict);
    if (check->inside > 0 && check_recall(check, type, value, strict, &fits))
        return fits;
    check->inside++;
    fits = some_option_fits(check, type, value, strict);
    check->inside--;
    if (check->inside > 0 && !check_over(check))
        check_remember(check, type, value, strict, fits);
    return fits;
}

bool model_type_fits(struct model_check *check, const struct model_type *type, struct slice value,
                     bool strict)
{
    if (++check->steps.taken > check->steps.limit)
        return false;
    if (type->kind == MODEL_ANY)
        return true;
    if (type->kind == MODEL_UNION)
        return union_fits(check, type, value, strict);
    switch ((enum value_tag)value.ptr[0]) {
    case VALUE_TAG_L:
        return type->kind == MODEL_LIST && members_fit(check, type, value, strict);
    case VALUE_TAG_M:
        if (type->kind == MODEL_RECORD)
            return members_fit(check, type, value, strict);
        return type->kind == MODEL_OBJECT && object_fits(check, type, value, strict);
    case VALUE_TAG_SS:
    case VALUE_TAG_NS:
    case VALUE_TAG_BS:
        return type->kind == MODEL_SET && set_fits(check, type, value);
    case VALUE_TAG_S:
    case VALUE_TAG_N:
    case VALUE_TAG_B:
        if (value.len > STEPS_BYTES)
            count_text(check, type, value.len);
        return model_scalar_fits(type, (enum value_tag)value.ptr[0], value_bytes(value));
    default:
        return model_scalar_fits(type, (enum value_tag)value.ptr[0], VALUE_NONE);
    }
}

bool model_text_matches(struct model_check *check, const struct model_attribute *attribute,
                        struct slice value)
{
    return attribute->matches == NULL || value.ptr[0] != VALUE_TAG_S ||
           matcher_matches(attribute->matches, value_bytes(value), &check->steps);
}

bool model_value_fits(const struct model_type *type, struct slice value)
{
    struct model_check check;
    check_init(&check);
    bool fits = model_type_fits(&check, type, value, false);
    check_release(&check);
    return fits;
}
