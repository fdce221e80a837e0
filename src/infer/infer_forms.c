// What texts look like.
#include "infer/infer_internal.h"

#include "eval/validate.h"
#include "value/number.h"

#include <ctype.h>

struct slice infer_value_text(struct slice value, struct infer_number *room)
{
    if (value.len == 0)
        return VALUE_NONE;
    switch (value_type(value)) {
    case VALUE_S:
        return value_bytes(value);
    case VALUE_N:
        return slice_of(room->text, number_to_text(value_bytes(value), room->text));
    case VALUE_BOOL:
        return value_bool(value) ? SLICE_LIT("true") : SLICE_LIT("false");
    default:
        return VALUE_NONE;
    }
}

struct slice infer_key_text(struct slice item, struct slice name)
{
    struct slice value = value_get(item, name);
    return value.len == 0 || value_type(value) != VALUE_S ? VALUE_NONE : value_bytes(value);
}

bool infer_is(struct slice text, enum model_kind kind)
{
    struct model_type type = {.kind = kind};
    struct buf encoded;
    struct value_builder builder;
    buf_init(&encoded, text.len + 64);
    value_builder_init(&builder, &encoded);
    value_put_string(&builder, text);
    bool fits = !encoded.failed && model_value_fits(&type, buf_view(&encoded));
    value_builder_release(&builder);
    buf_release(&encoded);
    return fits;
}

bool infer_is_word(struct slice text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!isalnum(c) && c != '_' && c != '-' && c != '.')
            return false;
        letters += isalpha(c) != 0;
    }
    return text.len > 0 && text.len <= 40 && isalpha(text.ptr[0]) && !infer_is_value(text) &&
           letters * 3 >= text.len * 2;
}

bool infer_is_shouted(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (islower(text.ptr[i]))
            return false;
    return infer_is_word(text);
}

static bool all_digits(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isdigit(text.ptr[i]))
            return false;
    return text.len > 0;
}

bool infer_is_value(struct slice text)
{
    size_t digits = 0;
    size_t hex = 0;
    for (size_t i = 0; i < text.len; i++) {
        digits += isdigit(text.ptr[i]) != 0;
        hex += isxdigit(text.ptr[i]) != 0;
    }
    if (all_digits(text) || infer_is(text, MODEL_UUID) || infer_is(text, MODEL_TIMESTAMP) ||
        infer_is(text, MODEL_DATE))
        return true;
    return (hex == text.len && text.len >= 12 && digits > 0) || // an object id
           (text.len >= 20 && digits * 5 >= text.len);          // a ULID and the like
}

bool infer_same_word(struct slice name, const char *word)
{
    return name.len == strlen(word) && strncasecmp((const char *)name.ptr, word, name.len) == 0;
}

bool infer_ends(struct slice name, const char *end)
{
    size_t len = strlen(end);
    return name.len >= len && infer_same_word(slice_of(name.ptr + name.len - len, len), end);
}

bool infer_name_time(struct slice name)
{
    static const char *const ends[] = {"at", "date", "time", "_ts", "timestamp"};
    if (infer_same_word(name, "ts") || infer_same_word(name, "ttl") ||
        (name.len >= 5 && infer_same_word(slice_of(name.ptr, 5), "expir")))
        return true;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        size_t len = strlen(ends[i]);
        // "At" and "_at", but not "format".
        if (name.len > len && infer_ends(name, ends[i]) &&
            (len > 2 || isupper(name.ptr[name.len - len]) || name.ptr[name.len - len - 1] == '_'))
            return true;
    }
    return false;
}
