// See tags.h.
#include "tables/tags.h"

#include "value/map.h"

enum { TAGS_MAX = 50, TAG_KEY_MAX = 128, TAG_VALUE_MAX = 256 }; // AWS

// ---- Judging ------------------------------------------------------------------------------------

// Letters and digits of any script, spaces, and + - = . _ : / @
static bool tag_text_valid(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= '0' && byte <= '9');
        // U+1F000 to U+1FFFF are pictures.
        bool picture = byte == 0xf0 && i + 1 < text.len && text.ptr[i + 1] == 0x9f;
        bool mark = byte != 0 && byte < 0x80 && strchr("+-=._:/@ ", byte) != NULL;
        if (!letter && !mark && (byte < 0x80 || picture))
            return false;
    }
    return true;
}

static bool key_check(struct slice key, struct error *error)
{
    if (key.ptr == NULL)
        return error_validation(error, "The Tag Key provided is invalid, Key: null");
    if (key.len == 0 || slice_characters(key) > TAG_KEY_MAX || !tag_text_valid(key))
        return error_validation(error, "The Tag Key provided is invalid, Key: %.*s",
                                SLICE_FMT(key));
    return true;
}

static bool tag_check(const struct request_tag *tag, struct error *error)
{
    if (!key_check(tag->key, error))
        return false;
    if (slice_begins(tag->key, SLICE_LIT("aws:")))
        return error_validation(error, "Tag Key cannot be prefixed with aws:, Key: %.*s",
                                SLICE_FMT(tag->key));
    if (tag->value.ptr == NULL)
        return error_validation(error, "The Tag Value provided is invalid, Value: null");
    if (slice_characters(tag->value) > TAG_VALUE_MAX || !tag_text_valid(tag->value))
        return error_validation(error, "The Tag Value provided is invalid, Value: %.*s",
                                SLICE_FMT(tag->value));
    return true;
}

static bool too_many(struct error *error)
{
    return error_validation(error,
                            "Number of Tags exceed the current limit for the provided ResourceArn");
}

bool tags_check(const struct field_list *tags, struct error *error)
{
    const struct request_tag *rows = tags->items;
    if (tags->count > TAGS_MAX)
        return too_many(error);
    for (size_t i = 0; i < tags->count; i++) {
        if (!tag_check(&rows[i], error))
            return false;
        for (size_t k = 0; k < i; k++)
            if (slice_equal(rows[i].key, rows[k].key))
                return error_validation(error,
                                        "Duplicate Tag Keys provided as input: Duplicate Tag Key "
                                        "found %.*s",
                                        SLICE_FMT(rows[i].key));
    }
    return true;
}

bool tags_check_keys(const struct field_list *keys, struct error *error)
{
    const struct slice *rows = keys->items;
    if (keys->count > TAGS_MAX)
        return too_many(error);
    for (size_t i = 0; i < keys->count; i++) {
        if (!key_check(rows[i], error))
            return false;
    }
    return true;
}

// ---- Changing -----------------------------------------------------------------------------------

static bool names_key(const struct field_list *keys, struct slice name)
{
    const struct slice *rows = keys->items;
    for (size_t i = 0; i < keys->count; i++)
        if (slice_equal(rows[i], name))
            return true;
    return false;
}

// The tags without those keys, and with those tags; a repeated name keeps the last value.
static bool edit(struct table *table, struct table_settings *settings,
                 const struct field_list *without, const struct field_list *with,
                 struct error *error)
{
    const struct request_tag *rows = with->items;
    struct value_maker maker;
    map_begin(&maker);
    if (settings->tags.len > 0) {
        struct value_iter iter;
        value_iter_init(&iter, settings->tags);
        while (value_iter_next(&iter))
            if (!names_key(without, iter.name))
                map_put_value(&maker, iter.name, iter.value);
    }
    for (size_t i = 0; i < with->count; i++) {
        value_name(&maker.b, rows[i].key);
        value_put_string(&maker.b, rows[i].value);
    }
    settings->tags = map_end(&maker, &table->arena, error);
    return settings->tags.ptr != NULL;
}

bool tags_add(struct table *table, struct table_settings *settings, const struct field_list *tags,
              struct error *error)
{
    const struct field_list none = {.count = 0};
    if (tags->count == 0)
        return true;
    return edit(table, settings, &none, tags, error) &&
           (value_count(settings->tags) <= TAGS_MAX || too_many(error));
}

bool tags_remove(struct table *table, struct table_settings *settings,
                 const struct field_list *keys, struct error *error)
{
    const struct field_list none = {.count = 0};
    return edit(table, settings, keys, &none, error);
}
