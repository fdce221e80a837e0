// See import_types.h. A text is made a value of its attribute's type; then the item is written as
// plain JSON and read again as the data API would (guard/plain.h).
#include "cli/import_types.h"

#include "guard/entity.h"
#include "guard/plain.h"
#include "json/plain.h"
#include "json/reader.h"

static const struct model_entity *entity_of(const struct model_table *table, struct slice item)
{
    struct slice named = value_get(item, SLICE_LIT(MODEL_PLAIN_ENTITY));
    const struct model_entity *entity = NULL;
    if (named.len > 0 && value_type(named) == VALUE_S)
        entity = model_table_entity(table, value_bytes(named));
    if (entity == NULL)
        entity = model_recognise(table, item).entity;
    return entity != NULL || table->entity_count != 1 ? entity : &table->entities[0];
}

static bool is_structure(struct slice text, struct arena *arena)
{
    struct json_reader reader;
    if (text.len == 0 || (text.ptr[0] != '[' && text.ptr[0] != '{'))
        return false;
    json_reader_init(&reader, text, arena);
    return json_skip(&reader) && json_at_end(&reader);
}

static bool is_text(enum model_kind kind)
{
    return kind == MODEL_STRING || kind == MODEL_EMAIL || kind == MODEL_URL || kind == MODEL_UUID ||
           kind == MODEL_TIMESTAMP || kind == MODEL_DATE;
}

// A member of the item as JSON. False without memory.
static bool put_member(struct json_writer *w, const struct model_attribute *attribute, bool texts,
                       const struct value_iter *member, struct arena *arena)
{
    struct slice value = member->value;
    bool text = texts && attribute != NULL && value_type(value) == VALUE_S &&
                !is_text(attribute->type->kind);
    json_name_slice(w, member->name);
    if (text && is_structure(value_bytes(value), arena)) {
        buf_slice(w->out, value_bytes(value));
        w->comma = true;
        return true;
    }
    if (text)
        value = model_plain_text(attribute->type, value_bytes(value), arena);
    if (value.len > 0)
        plain_write(w->out, value);
    w->comma = true;
    return value.len > 0;
}

bool import_typed(const struct model_table *table, bool texts, struct arena *arena,
                  struct slice *item, struct error *error)
{
    const struct model_entity *entity = entity_of(table, *item);
    struct value_iter member;
    struct buf text;
    bool fine = true;
    if (entity == NULL)
        return true;
    buf_init(&text, LIMIT_BODY);
    struct json_writer w = json_writer_to(&text);
    json_open_object(&w);
    value_iter_init(&member, *item);
    while (fine && value_iter_next(&member))
        fine = put_member(&w, model_entity_attribute(entity, member.name), texts, &member, arena);
    // "$entity" is not stored; what says the same is.
    struct slice type = table->type_attribute;
    if (type.len > 0 && value_get(*item, SLICE_LIT(MODEL_PLAIN_ENTITY)).len > 0 &&
        value_get(*item, type).len == 0)
        json_form(&w, "%.*s:%.*s", SLICE_FMT(type), SLICE_FMT(entity->type_value));
    json_close_object(&w);
    fine = fine && !text.failed ? model_plain_read(entity, buf_view(&text), arena, item, error)
                                : error_budget(error);
    buf_release(&text);
    return fine;
}
