// Showing a decoded value in a message.
//
// Scalars print as they are. Composites print the way the service's Java classes do:
// lists as [a, b], maps as {name=value}, structures as Name(member=value, other=null). Maps
// of structures (the RequestItems of BatchGetItem) print as JSON instead: the service does
// so.
#include "base/encode.h"
#include "json/shape_check.h"
#include "json/writer.h"

static void echo_java(struct buf *out, const struct shape *shape, const void *at,
                      bool inline_struct);
static void echo_json(struct json_writer *w, const struct shape *shape, const void *at,
                      bool inline_struct);

static void echo_double(struct buf *out, double value)
{
    struct json_writer w = json_writer_to(out);
    json_units(&w, value);
}

// The service prints the object's identity; ours is the checksum of its bytes.
static void echo_value(struct buf *out, struct slice value)
{
    buf_printf(out, "com.amazonaws.dynamodb.v20120810.AttributeValue@%x",
               (unsigned)crc32_of(value));
}

static void echo_item(struct buf *out, struct slice item)
{
    struct value_iter iter;
    value_iter_init(&iter, item);
    buf_byte(out, '{');
    for (bool first = true; value_iter_next(&iter); first = false) {
        if (!first)
            buf_text(out, ", ");
        buf_slice(out, iter.name);
        buf_byte(out, '=');
        echo_value(out, iter.value);
    }
    buf_byte(out, '}');
}

static void echo_slot(struct buf *out, const struct shape *shape, const void *at)
{
    if (shape->kind == SHAPE_STRUCT || shape_slot_set(shape, at))
        echo_java(out, shape, at, true);
    else
        buf_text(out, "null");
}

static void echo_list(struct buf *out, const struct shape *shape, const struct field_list *list)
{
    size_t size = shape_slot_size(shape->element, true);
    buf_byte(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            buf_text(out, ", ");
        echo_slot(out, shape->element, (const char *)list->items + i * size);
    }
    buf_byte(out, ']');
}

static void echo_map(struct buf *out, const struct shape *shape, const struct field_map *map)
{
    size_t size = shape_slot_size(shape->element, true);
    buf_byte(out, '{');
    for (size_t i = 0; i < map->count; i++) {
        if (i > 0)
            buf_text(out, ", ");
        buf_slice(out, map->names[i]);
        buf_byte(out, '=');
        echo_slot(out, shape->element, (const char *)map->items + i * size);
    }
    buf_byte(out, '}');
}

static void echo_struct(struct buf *out, const struct shape *shape, const void *structure)
{
    buf_text(out, shape->name != NULL ? shape->name : "");
    buf_byte(out, '(');
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        const void *at = (const char *)structure + member->offset;
        uint8_t first = (uint8_t)member->name[0];
        if (i > 0)
            buf_text(out, ", ");
        buf_byte(out, first >= 'A' && first <= 'Z' ? (uint8_t)(first + 32) : first);
        buf_text(out, member->name + 1);
        buf_byte(out, '=');
        if (shape_slot_set(member->shape, at))
            echo_java(out, member->shape, at, false);
        else
            buf_text(out, "null");
    }
    buf_byte(out, ')');
}

static void echo_java(struct buf *out, const struct shape *shape, const void *at,
                      bool inline_struct)
{
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        buf_slice(out, *(const struct slice *)at);
        break;
    case SHAPE_BLOB:
        base64_encode(out, *(const struct slice *)at);
        break;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        buf_i64(out, ((const struct field_int *)at)->value);
        break;
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        echo_double(out, ((const struct field_double *)at)->value);
        break;
    case SHAPE_BOOLEAN:
        buf_text(out, ((const struct field_bool *)at)->value ? "true" : "false");
        break;
    case SHAPE_STRUCT:
        echo_struct(out, shape, inline_struct ? at : *(void *const *)at);
        break;
    case SHAPE_LIST:
        echo_list(out, shape, at);
        break;
    case SHAPE_MAP:
        echo_map(out, shape, at);
        break;
    case SHAPE_VALUE:
        echo_value(out, ((const struct field_value *)at)->value);
        break;
    case SHAPE_ITEM:
        echo_item(out, ((const struct field_value *)at)->value);
        break;
    }
}

// ---- As JSON -----------------------------------------------------------------------

static void json_members(struct json_writer *w, const struct shape *shape, const void *structure)
{
    json_open_object(w);
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        const void *at = (const char *)structure + member->offset;
        if (!shape_slot_set(member->shape, at))
            continue;
        json_name(w, member->name);
        echo_json(w, member->shape, at, false);
    }
    json_close_object(w);
}

static void json_elements(struct json_writer *w, const struct shape *shape,
                          const struct slice *names, const void *items, size_t count)
{
    size_t size = shape_slot_size(shape->element, true);
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)items + i * size;
        if (names != NULL)
            json_name_slice(w, names[i]);
        if (shape->element->kind == SHAPE_STRUCT || shape_slot_set(shape->element, at))
            echo_json(w, shape->element, at, true);
        else
            json_text(w, "");
    }
}

static void echo_json(struct json_writer *w, const struct shape *shape, const void *at,
                      bool inline_struct)
{
    const struct field_list *list = at;
    const struct field_map *map = at;
    struct buf text;
    switch (shape->kind) {
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        json_i64(w, ((const struct field_int *)at)->value);
        break;
    case SHAPE_BOOLEAN:
        json_bool(w, ((const struct field_bool *)at)->value);
        break;
    case SHAPE_STRUCT:
        json_members(w, shape, inline_struct ? at : *(void *const *)at);
        break;
    case SHAPE_LIST:
        json_open_array(w);
        json_elements(w, shape, NULL, list->items, list->count);
        json_close_array(w);
        break;
    case SHAPE_MAP:
        json_open_object(w);
        json_elements(w, shape, map->names, map->items, map->count);
        json_close_object(w);
        break;
    case SHAPE_VALUE:
        json_value(w, ((const struct field_value *)at)->value);
        break;
    case SHAPE_ITEM:
        json_item(w, ((const struct field_value *)at)->value);
        break;
    case SHAPE_STRING:
    case SHAPE_ENUM:
        json_string(w, *(const struct slice *)at);
        break;
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        json_units(w, ((const struct field_double *)at)->value);
        break;
    case SHAPE_BLOB:
        buf_init(&text, w->out->max);
        base64_encode(&text, *(const struct slice *)at);
        json_string(w, buf_view(&text));
        buf_release(&text);
        break;
    }
}

void shape_echo(struct buf *out, const struct shape *shape, const void *at, bool inline_struct)
{
    struct json_writer w = json_writer_to(out);
    if (shape->kind == SHAPE_MAP && shape->element->kind == SHAPE_STRUCT)
        echo_json(&w, shape, at, inline_struct);
    else
        echo_java(out, shape, at, inline_struct);
}
