// A request's body through its shape: every value it yields is valid, every slice is readable, an
// error has a message that can be sent; and text that is no JSON is never accepted.
//
// Input: one letter for the operation (see `shapes`), then the body.
#include "fuzz.h"

#include "requests/shapes.h"
#include "json/reader.h"
#include "json/writer.h"

static const struct {
    char letter;
    const struct shape *shape;
} shapes[] = {
    {'P', &shape_put_item_request},
    {'U', &shape_update_item_request},
    {'Q', &shape_query_request},
    {'S', &shape_scan_request},
    {'B', &shape_batch_write_item_request},
    {'W', &shape_transact_write_items_request},
    {'G', &shape_batch_get_item_request},
    {'C', &shape_create_table_request},
    {'T', &shape_update_table_request},
    {'L', &shape_list_tables_request},
};

// ---- What was decoded ------------------------------------------------------------------------

// Reads every byte, so that the sanitizer sees those that are not there.
static void touch(struct slice bytes)
{
    volatile uint8_t sink;
    uint8_t sum = 0;
    for (size_t i = 0; i < bytes.len; i++)
        sum = (uint8_t)(sum + bytes.ptr[i]);
    sink = sum;
    (void)sink;
}

static void check_value(const struct field_value *field, enum shape_kind kind)
{
    if (field->fault != NULL)
        ensure(field->fault[0] != '\0' && utf8_valid(slice_str(field->fault)));
    touch(field->fault_name);
    if (field->value.ptr == NULL)
        return;
    ensure(value_valid(field->value));
    ensure(kind != SHAPE_ITEM || value_type(field->value) == VALUE_M);
}

static size_t element_size(const struct shape *shape)
{
    switch (shape->kind) {
    case SHAPE_STRUCT:
        return shape->size;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return sizeof(struct field_int);
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        return sizeof(struct field_double);
    case SHAPE_BOOLEAN:
        return sizeof(struct field_bool);
    case SHAPE_LIST:
        return sizeof(struct field_list);
    case SHAPE_MAP:
        return sizeof(struct field_map);
    case SHAPE_VALUE:
    case SHAPE_ITEM:
        return sizeof(struct field_value);
    default:
        return sizeof(struct slice);
    }
}

static void check_field(const struct shape *shape, const void *field, bool in_line);

static void check_elements(const struct shape *element, const void *items, size_t count)
{
    size_t size = element_size(element);
    for (size_t i = 0; i < count; i++)
        check_field(element, (const char *)items + i * size, true);
}

static void check_struct(const struct shape *shape, const void *at)
{
    for (size_t i = 0; i < shape->member_count; i++)
        check_field(shape->members[i].shape, (const char *)at + shape->members[i].offset, false);
}

// `in_line`: an element, of which structs stand inline; members point to theirs.
static void check_field(const struct shape *shape, const void *field, bool in_line)
{
    const struct field_list *list = field;
    const struct field_map *map = field;
    const void *pointed;
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        touch(*(const struct slice *)field);
        ensure(utf8_valid(*(const struct slice *)field));
        return;
    case SHAPE_BLOB:
        touch(*(const struct slice *)field);
        return;
    case SHAPE_VALUE:
    case SHAPE_ITEM:
        check_value(field, shape->kind);
        return;
    case SHAPE_LIST:
        check_elements(shape->element, list->items, list->count);
        return;
    case SHAPE_MAP:
        for (size_t i = 0; i < map->count; i++)
            touch(map->names[i]);
        check_elements(shape->element, map->items, map->count);
        return;
    case SHAPE_STRUCT:
        memcpy(&pointed, field, sizeof(pointed));
        if (in_line || pointed != NULL)
            check_struct(shape, in_line ? field : pointed);
        return;
    default:
        return;
    }
}

// ---- What was refused ------------------------------------------------------------------------

static void check_error(const struct error *error)
{
    fuzz_error(error);
    ensure(error->code == ERR_SERIALIZATION || error->code == ERR_VALIDATION);
    // It goes out as a JSON string.
    ensure(utf8_valid(slice_str(error->message)));
}

// The reader alone: is it JSON, and an object?
static bool well_formed(struct slice text, struct arena *arena)
{
    struct json_reader reader;
    json_reader_init(&reader, text, arena);
    bool good = json_peek(&reader) == JSON_OBJECT && json_skip(&reader) && json_at_end(&reader);
    ensure(reader.offset <= text.len);
    return good;
}

static void try_layer(const struct shape *shape, enum service_layer layer, struct slice body)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    void *out = malloc(shape->size);
    ensure(out != NULL);
    bool good = shape_decode(shape, layer, body, out, &arena, &error);
    bool json = well_formed(body, &arena);
    if (good) {
        ensure(json && error.code == ERR_NONE);
        check_struct(shape, out);
    } else {
        check_error(&error);
        ensure(json || error.code == ERR_SERIALIZATION);
    }
    free(out);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t letter = fuzz_byte(&in);
    const struct shape *shape = shapes[0].shape;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        if (letter == (uint8_t)shapes[i].letter)
            shape = shapes[i].shape;
    }
    struct slice body = fuzz_copy(in);
    for (enum service_layer layer = LAYER_OLD; layer <= LAYER_JOINED; layer++)
        try_layer(shape, layer, body);
    fuzz_free(body);
    return 0;
}
