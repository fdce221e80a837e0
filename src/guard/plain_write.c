// Items as ordinary JSON, and single values out of plain text. See plain.h.
#include "guard/plain.h"

#include "value/number.h"
#include "json/plain.h"

// ---- Writing ----------------------------------------------------------------------------------

static bool schema_has(const struct key_schema *keys, struct slice name)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (slice_equal(keys->parts[i].name, name))
            return true;
    }
    return false;
}

bool model_table_derives(const struct model_table *table, const struct model_entity *entity,
                         struct slice name)
{
    if (entity != NULL && model_entity_attribute(entity, name) != NULL)
        return false;
    if (slice_equal(table->type_attribute, name) || schema_has(&table->keys, name))
        return true;
    for (size_t i = 0; i < table->index_count; i++) {
        if (schema_has(&table->indexes[i].keys, name))
            return true;
    }
    return false;
}

void model_plain_value(struct json_writer *w, struct slice value)
{
    if (w->comma)
        buf_byte(w->out, ',');
    plain_write(w->out, value);
    w->comma = true;
}

static void write_member(struct json_writer *w, struct slice name, struct slice value)
{
    json_name_slice(w, name);
    model_plain_value(w, value);
}

void model_plain_write(struct json_writer *w, const struct model_plain_view *view,
                       struct slice item)
{
    const struct model_entity *entity = view->entity;
    struct value_iter iter;
    json_open_object(w);
    if (view->name && entity != NULL) {
        json_name(w, MODEL_PLAIN_ENTITY);
        json_string(w, entity->name);
    }
    for (size_t i = 0; entity != NULL && i < entity->attribute_count; i++) {
        struct slice value = value_get(item, entity->attributes[i].name);
        if (value.len > 0)
            write_member(w, entity->attributes[i].name, value);
    }
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (entity != NULL && model_entity_attribute(entity, iter.name) != NULL)
            continue;
        if (view->keys || !model_table_derives(view->table, entity, iter.name))
            write_member(w, iter.name, iter.value);
    }
    json_close_object(w);
}

// ---- Texts --------------------------------------------------------------------------------------

static struct slice value_make(struct arena *arena, enum value_tag tag, struct slice bytes)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, bytes.len + 16);
    value_builder_init(&builder, &out);
    if (tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE)
        value_put_bool(&builder, tag == VALUE_TAG_TRUE);
    else if (tag == VALUE_TAG_NULL)
        value_put_null(&builder);
    else
        value_put_scalar(&builder, tag, bytes);
    struct slice made = out.failed ? VALUE_NONE : arena_copy(arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return made.ptr == NULL ? VALUE_NONE : made;
}

static struct slice make_binary(struct slice text, struct arena *arena)
{
    struct buf bytes;
    buf_init(&bytes, text.len + 16);
    struct slice made = base64_decode(&bytes, text)
                            ? value_make(arena, VALUE_TAG_B, buf_view(&bytes))
                            : value_make(arena, VALUE_TAG_S, text);
    buf_release(&bytes);
    return made;
}

// As a value of that type, or as text if it is none.
static struct slice make_stored(enum value_type type, struct slice text, struct arena *arena)
{
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len;
    if (type == VALUE_N && number_from_text(text, number, &len) == NUMBER_OK)
        return value_make(arena, VALUE_TAG_N, slice_of(number, len));
    if (type == VALUE_BOOL && (slice_is(text, "true") || slice_is(text, "false")))
        return value_make(arena, slice_is(text, "true") ? VALUE_TAG_TRUE : VALUE_TAG_FALSE, text);
    if (type == VALUE_NULL && slice_is(text, "null"))
        return value_make(arena, VALUE_TAG_NULL, text);
    if (type == VALUE_B)
        return make_binary(text, arena);
    return value_make(arena, VALUE_TAG_S, text);
}

struct slice model_plain_text(const struct model_type *type, struct slice text, struct arena *arena)
{
    if (type->kind != MODEL_UNION)
        return make_stored(model_type_stored(type), text, arena);
    // A literal that is meant, else the first option that the text can be, text being last.
    struct slice other = VALUE_NONE;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        enum value_type stored = model_type_stored(option);
        struct slice made = make_stored(stored, text, arena);
        if (made.len == 0)
            return VALUE_NONE;
        bool fits = value_type(made) == stored;
        if (option->kind == MODEL_LITERAL && value_equal(made, option->literal))
            return made;
        if (fits && stored != VALUE_S && option->kind != MODEL_LITERAL && other.len == 0)
            other = made;
    }
    return other.len > 0 ? other : value_make(arena, VALUE_TAG_S, text);
}
