// See forms.h: the forms of texts and numbers that the types of the language have.
#include "model/model.h"

#include "model/time.h"
#include "value/number.h"

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

bool model_length_fits(const struct model_type *type, size_t length)
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
               model_length_fits(type, slice_characters(text));
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

bool model_scalar_fits(const struct model_type *type, enum value_tag tag, struct slice bytes)
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
            if (model_scalar_fits(type->options[i], tag, bytes))
                return true;
        return false;
    case MODEL_BOOLEAN:
        return tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE;
    case MODEL_NULL:
        return tag == VALUE_TAG_NULL;
    case MODEL_BINARY:
        return tag == VALUE_TAG_B && model_length_fits(type, bytes.len);
    default:
        break;
    }
    if (tag == VALUE_TAG_S)
        return text_fits(type, bytes);
    return tag == VALUE_TAG_N && number_fits(type, bytes);
}
