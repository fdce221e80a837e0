// Showing a decoded value in a message: scalars as they are, composites as JSON, with the
// members that the shape knows, in its order. A list that is shown by itself has a space
// behind its commas. The older layer prints composites as Java does:
// [KeySchemaElement(attributeName=a, keyType=HASH)], {table=[]}. (What it prints of values in them
// differs from host to host, so theirs is JSON here, too.)
#include "base/encode.h"
#include "json/shape_check.h"
#include "json/writer.h"

static void echo_json(struct json_writer *w, const struct shape *shape, const void *at,
                      bool inline_struct);

void echo_text(struct buf *out, struct slice text)
{
    const uint8_t *end = text.ptr + text.len;
    while (text.len > 0) {
        const uint8_t *nul = memchr(text.ptr, 0, text.len);
        buf_add(out, text.ptr, (size_t)((nul != NULL ? nul : end) - text.ptr));
        if (nul == NULL)
            return;
        buf_text(out, "\\u0000");
        text = slice_of(nul + 1, (size_t)(end - nul - 1));
    }
}

static void echo_members(struct json_writer *w, const struct shape *shape, const void *structure)
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

// An element of a list or map.
static void echo_slot(struct json_writer *w, const struct shape *shape, const void *at)
{
    if (shape->kind == SHAPE_STRUCT || shape_slot_set(shape, at))
        echo_json(w, shape, at, true);
    else
        json_null(w);
}

static void echo_elements(struct json_writer *w, const struct shape *shape,
                          const struct slice *names, const void *items, size_t count)
{
    size_t size = shape_slot_size(shape->element, true);
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)items + i * size;
        if (names != NULL)
            json_name_slice(w, names[i]);
        echo_slot(w, shape->element, at);
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
        echo_members(w, shape, inline_struct ? at : *(void *const *)at);
        break;
    case SHAPE_LIST:
        json_open_array(w);
        echo_elements(w, shape, NULL, list->items, list->count);
        json_close_array(w);
        break;
    case SHAPE_MAP:
        json_open_object(w);
        echo_elements(w, shape, map->names, map->items, map->count);
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

static void java_struct(struct buf *out, const struct shape *shape, const void *structure)
{
    const char *comma = "";
    buf_text(out, shape->name);
    buf_byte(out, '(');
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        const void *at = (const char *)structure + member->offset;
        if (!shape_slot_set(member->shape, at))
            continue;
        buf_printf(out, "%s%c%s=", comma, member->name[0] | 0x20, member->name + 1);
        shape_echo(out, member->shape, LAYER_OLD, at, false);
        comma = ", ";
    }
    buf_byte(out, ')');
}

static void java_elements(struct buf *out, const struct shape *shape, const struct slice *names,
                          const void *items, size_t count)
{
    size_t size = shape_slot_size(shape->element, true);
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)items + i * size;
        if (i > 0)
            buf_text(out, ", ");
        if (names != NULL) {
            echo_text(out, names[i]);
            buf_byte(out, '=');
        }
        if (shape->element->kind == SHAPE_STRUCT || shape_slot_set(shape->element, at))
            shape_echo(out, shape->element, LAYER_OLD, at, true);
        else
            buf_text(out, "null");
    }
}

static void java_item(struct buf *out, struct slice item)
{
    struct value_iter iter;
    const char *comma = "";
    buf_byte(out, '{');
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        struct json_writer w = json_writer_to(out);
        buf_text(out, comma);
        echo_text(out, iter.name);
        buf_byte(out, '=');
        json_value(&w, iter.value);
        comma = ", ";
    }
    buf_byte(out, '}');
}

// Whether it was a composite, and is shown.
static bool echo_java(struct buf *out, const struct shape *shape, const void *at,
                      bool inline_struct)
{
    const struct field_list *list = at;
    const struct field_map *map = at;
    switch (shape->kind) {
    case SHAPE_STRUCT:
        java_struct(out, shape, inline_struct ? at : *(void *const *)at);
        return true;
    case SHAPE_LIST:
        buf_byte(out, '[');
        java_elements(out, shape, NULL, list->items, list->count);
        buf_byte(out, ']');
        return true;
    case SHAPE_MAP:
        buf_byte(out, '{');
        java_elements(out, shape, map->names, map->items, map->count);
        buf_byte(out, '}');
        return true;
    case SHAPE_ITEM:
        java_item(out, ((const struct field_value *)at)->value);
        return true;
    default:
        return false;
    }
}

static void echo_list(struct buf *out, const struct shape *shape, const struct field_list *list)
{
    size_t size = shape_slot_size(shape->element, true);
    buf_byte(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        struct json_writer w = json_writer_to(out);
        if (i > 0)
            buf_text(out, ", ");
        echo_slot(&w, shape->element, (const char *)list->items + i * size);
    }
    buf_byte(out, ']');
}

void shape_echo(struct buf *out, const struct shape *shape, enum service_layer layer,
                const void *at, bool inline_struct)
{
    struct json_writer w = json_writer_to(out);
    if (layer == LAYER_OLD && echo_java(out, shape, at, inline_struct))
        return;
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        echo_text(out, *(const struct slice *)at);
        break;
    case SHAPE_BLOB:
        base64_encode(out, *(const struct slice *)at);
        break;
    case SHAPE_LIST:
        echo_list(out, shape, at);
        break;
    default:
        echo_json(&w, shape, at, inline_struct);
    }
}
