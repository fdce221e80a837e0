// See validate.h. Types are judged by the form in which items store them; sets have raw members, so
// scalars are judged as a tag and bytes.
#include "guard/validate.h"

#include "guard/eval.h"
#include "guard/eval_time.h"
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

// ---- Texts ----------------------------------------------------------------------------------

static bool is_alnum(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10;
}

static bool is_hex(uint8_t byte)
{
    return (uint8_t)(byte - '0') < 10 || (uint8_t)((byte | 0x20) - 'a') < 6;
}

static bool is_uuid(struct slice text)
{
    if (text.len != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !is_hex(text.ptr[i]))
            return false;
    }
    return true;
}

// Labels of letters, digits and hyphens with dots between them; what is not ASCII passes.
static bool is_domain(struct slice text)
{
    size_t label = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte == '.' ? label == 0 : !is_alnum(byte) && byte != '-' && byte < 0x80)
            return false;
        label = byte == '.' ? 0 : label + 1;
    }
    return label > 0;
}

// What mail programs send, not all that RFC 5321 would let through: something without blanks and
// the like, one @, and a domain.
static bool is_email(struct slice text)
{
    const uint8_t *at = memchr(text.ptr, '@', text.len);
    if (at == NULL || at == text.ptr || text.len > 254)
        return false;
    for (const uint8_t *byte = text.ptr; byte < at; byte++)
        if (*byte <= ' ' || *byte == 0x7f || *byte == '<' || *byte == '>' || *byte == ',')
            return false;
    return is_domain(slice_of(at + 1, (size_t)(text.ptr + text.len - at - 1)));
}

// scheme://host, and no blanks.
static bool is_url(struct slice text)
{
    size_t scheme = 0;
    while (scheme < text.len &&
           (is_alnum(text.ptr[scheme]) || (scheme > 0 && memchr("+-.", text.ptr[scheme], 3))))
        scheme++;
    struct slice rest = slice_of(text.ptr + scheme, text.len - scheme);
    if (scheme == 0 || (uint8_t)(text.ptr[0] - '0') < 10 || rest.len < 4 ||
        memcmp(rest.ptr, "://", 3) != 0 || rest.ptr[3] == '/' || rest.ptr[3] == '?' ||
        rest.ptr[3] == '#')
        return false;
    for (size_t i = 3; i < rest.len; i++)
        if (rest.ptr[i] <= ' ' || rest.ptr[i] == 0x7f)
            return false;
    return true;
}

// ---- Numbers and lengths --------------------------------------------------------------------

static bool in_range(const struct model_type *type, struct slice stored)
{
    return (type->min.len == 0 || slice_compare(stored, type->min) >= 0) &&
           (type->max.len == 0 || slice_compare(stored, type->max) <= 0);
}

static bool length_in_range(const struct model_type *type, size_t length)
{
    if (type->min.len == 0 && type->max.len == 0)
        return true;
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len = number_from_i64((int64_t)length, stored);
    return in_range(type, slice_of(stored, len));
}

// A stored number has its digits in pairs, and pairs stand at the point: it is whole if it has no
// more pairs than stand before the point (number.h).
static bool is_whole(struct slice stored)
{
    if (stored.ptr[0] == 0x80)
        return true;
    bool negative = stored.ptr[0] < 0x80;
    int exponent = (negative ? 0xff - stored.ptr[0] : stored.ptr[0]) - 0xc0;
    int pairs = (int)stored.len - 1;
    if (negative && stored.ptr[stored.len - 1] == 102)
        pairs--;
    return pairs <= exponent;
}

static bool is_epoch(struct slice stored)
{
    int64_t seconds;
    return number_to_i64(stored, &seconds) && seconds >= MODEL_EPOCH_MIN &&
           seconds <= MODEL_EPOCH_MAX;
}

// ---- Yes or no ------------------------------------------------------------------------------

static bool text_fits(const struct model_type *type, struct slice text)
{
    struct model_time time;
    switch (type->kind) {
    case MODEL_STRING:
        return (type->min.len == 0 && type->max.len == 0) ||
               length_in_range(type, slice_characters(text));
    case MODEL_UUID:
        return is_uuid(text);
    case MODEL_TIMESTAMP:
        return model_timestamp_parse(text, &time) && model_time_has_form(&time, type->form);
    case MODEL_DATE:
        return model_date_parse(text, &time);
    case MODEL_EMAIL:
        return is_email(text);
    case MODEL_URL:
        return is_url(text);
    default:
        return false;
    }
}

static bool number_fits(const struct model_type *type, struct slice stored)
{
    switch (type->kind) {
    case MODEL_NUMBER:
        return in_range(type, stored);
    case MODEL_INTEGER:
        return is_whole(stored) && in_range(type, stored);
    case MODEL_EPOCH:
        return is_epoch(stored) && in_range(type, stored);
    default:
        return false;
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

// A scalar as a value or as a member of a set.
static bool scalar_fits(const struct model_type *type, enum value_tag tag, struct slice bytes)
{
    switch (type->kind) {
    case MODEL_ANY:
        return true;
    case MODEL_LITERAL:
        return type->literal.ptr[0] == (uint8_t)tag &&
               (tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE ||
                slice_equal(value_bytes(type->literal), bytes));
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++)
            if (scalar_fits(type->options[i], tag, bytes))
                return true;
        return false;
    case MODEL_BOOLEAN:
        return tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE;
    case MODEL_NULL:
        return tag == VALUE_TAG_NULL;
    case MODEL_BINARY:
        return tag == VALUE_TAG_B && length_in_range(type, bytes.len);
    default:
        break;
    }
    if (tag == VALUE_TAG_S)
        return text_fits(type, bytes);
    return tag == VALUE_TAG_N && number_fits(type, bytes);
}

// ---- Values with members ----------------------------------------------------------------------

static bool members_fit(struct model_check *check, const struct model_type *type,
                        struct slice value, bool strict)
{
    struct value_iter iter;
    if (!length_in_range(type, value_count(value)))
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
    if (!length_in_range(type, count))
        return false;
    // Each member may be tried with each option.
    steps_add(&check->steps, count * (1 + type->item->option_count));
    count_text(check, type->item, value.len);
    if (check_over(check))
        return false;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter))
        if (!scalar_fits(type->item, member_tag(value), iter.value))
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
            !model_type_fits(check, field->type, iter.value, strict))
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
        return scalar_fits(type, (enum value_tag)value.ptr[0], value_bytes(value));
    default:
        return scalar_fits(type, (enum value_tag)value.ptr[0], VALUE_NONE);
    }
}

bool model_value_fits(const struct model_type *type, struct slice value)
{
    struct model_check check;
    check_init(&check);
    bool fits = model_type_fits(&check, type, value, false);
    check_release(&check);
    return fits;
}
