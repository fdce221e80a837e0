// Decoding a request by its shape.
//
// The idea: one recursive walk over the JSON text and the shape together. Each kind is
// decoded straight into its place in the C struct; the depth of the recursion is that
// of the shapes, which are constants (AttributeValues limit themselves). Lists and maps
// grow by doubling in the arena.
//
// Everything handed out lives in the arena or in the request's text. The decoder of
// attribute values holds scratch memory, which is released on every path.
#include "json/shape.h"

#include <stdlib.h>

#include "json/shape_check.h"
#include "json/value_decode.h"

struct decoding {
    struct json_reader reader;
    struct value_decoder values;
    struct arena *arena;
    struct error *error;
};

static bool decode(struct decoding *d, const struct shape *shape, enum json_place place, void *at);

static bool text_error(struct decoding *d)
{
    return json_text_error(&d->reader, d->error);
}

size_t shape_slot_size(const struct shape *shape, bool inline_struct)
{
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
    case SHAPE_BLOB:
        return sizeof(struct slice);
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return sizeof(struct field_int);
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        return sizeof(struct field_double);
    case SHAPE_BOOLEAN:
        return sizeof(struct field_bool);
    case SHAPE_STRUCT:
        return inline_struct ? shape->size : sizeof(void *);
    case SHAPE_LIST:
        return sizeof(struct field_list);
    case SHAPE_MAP:
        return sizeof(struct field_map);
    case SHAPE_VALUE:
    case SHAPE_ITEM:
        return sizeof(struct field_value);
    }
    ensure(!"a shape has a known kind");
    return 0;
}

// ---- Scalars -------------------------------------------------------------------

static inline bool expect(struct decoding *d, enum json_kind kind, const struct shape *shape,
                          enum json_place place)
{
    enum json_kind found = json_peek(&d->reader);
    return found == kind || json_type_error(&d->reader, shape, place, found, d->error);
}

static inline bool enter(struct decoding *d, enum json_kind kind, const struct shape *shape,
                         enum json_place place)
{
    return expect(d, kind, shape, place) && (json_enter(&d->reader) || text_error(d));
}

static bool decode_string(struct decoding *d, const struct shape *shape, enum json_place place,
                          struct slice *out)
{
    return expect(d, JSON_STRING, shape, place) &&
           (json_read_string(&d->reader, out) || text_error(d));
}

static bool decode_blob(struct decoding *d, enum json_place place, struct slice *out)
{
    struct buf *scratch = &d->values.binary;
    if (!value_decode_blob(&d->reader, place, scratch, d->error))
        return false;
    *out = arena_copy(d->arena, buf_view(scratch));
    return out->ptr != NULL || error_budget(d->error);
}

// A JSON number as a double; the text has no NUL behind it, so it is copied.
static double number_to_double(struct slice text)
{
    char copy[512];
    size_t len = text.len < sizeof copy ? text.len : sizeof copy - 1;
    memcpy(copy, text.ptr, len);
    copy[len] = '\0';
    return strtod(copy, NULL);
}

// Fractions are cut off, as the service does; what does not fit becomes the nearest limit.
static int64_t number_to_integer(struct slice text, int64_t least, int64_t greatest)
{
    uint64_t size = 0;
    bool negative = text.ptr[0] == '-';
    for (size_t i = negative; i < text.len; i++) {
        unsigned digit = (unsigned)text.ptr[i] - '0';
        if (digit > 9) {
            double value = number_to_double(text);
            if (value >= (double)greatest)
                return greatest;
            return value <= (double)least ? least : (int64_t)value;
        }
        if (size > (UINT64_MAX - digit) / 10)
            return negative ? least : greatest;
        size = size * 10 + digit;
    }
    if (!negative)
        return size > (uint64_t)greatest ? greatest : (int64_t)size;
    return size > (uint64_t)greatest ? least : -(int64_t)size;
}

static bool decode_number(struct decoding *d, const struct shape *shape, enum json_place place,
                          struct slice *text)
{
    return expect(d, JSON_NUMBER, shape, place) &&
           (json_read_number(&d->reader, text) || text_error(d));
}

static bool decode_integer(struct decoding *d, const struct shape *shape, enum json_place place,
                           struct field_int *out)
{
    struct slice text;
    if (!decode_number(d, shape, place, &text))
        return false;
    bool narrow = shape->kind == SHAPE_INTEGER;
    out->set = true;
    out->value =
        number_to_integer(text, narrow ? INT32_MIN : INT64_MIN, narrow ? INT32_MAX : INT64_MAX);
    return true;
}

static bool decode_double(struct decoding *d, const struct shape *shape, enum json_place place,
                          struct field_double *out)
{
    struct slice text;
    if (!decode_number(d, shape, place, &text))
        return false;
    out->set = true;
    out->value = number_to_double(text);
    return true;
}

static bool decode_bool(struct decoding *d, enum json_place place, struct field_bool *out)
{
    if (!value_decode_bool(&d->reader, place, &out->value, d->error))
        return false;
    out->set = true;
    return true;
}

// ---- Structures ------------------------------------------------------------------

static const struct shape_member *find_member(const struct shape *shape, struct slice name)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        // The length is enough for most.
        if (member->name_len == name.len && memcmp(member->name, name.ptr, name.len) == 0)
            return member;
    }
    return NULL;
}

// The reader stands at a value of any kind, which must become this structure.
static bool decode_members(struct decoding *d, const struct shape *shape, enum json_place place,
                           void *out)
{
    if (!enter(d, JSON_OBJECT, shape, place))
        return false;
    struct slice name;
    while (json_next_name(&d->reader, &name)) {
        const struct shape_member *member = find_member(shape, name);
        if (member == NULL) {
            if (!json_skip(&d->reader))
                return text_error(d);
            continue;
        }
        if (!decode(d, member->shape, PLACE_FIELD, (char *)out + member->offset))
            return false;
    }
    return d->reader.error == NULL || text_error(d);
}

static bool decode_struct(struct decoding *d, const struct shape *shape, enum json_place place,
                          void **out)
{
    void *structure = arena_zalloc(d->arena, 1, shape->size);
    if (structure == NULL)
        return error_budget(d->error);
    if (!decode_members(d, shape, place, structure))
        return false;
    *out = structure;
    return true;
}

// An element of a list or map: structures stand inline there.
static bool decode_element(struct decoding *d, const struct shape *shape, void *at)
{
    memset(at, 0, shape_slot_size(shape, true));
    if (shape->kind != SHAPE_STRUCT || json_peek(&d->reader) == JSON_NULL)
        return decode(d, shape, PLACE_ELEMENT, at);
    return decode_members(d, shape, PLACE_ELEMENT, at);
}

// ---- Lists and maps ----------------------------------------------------------------

// Room for one more element of `size` bytes; *capacity is in elements.
static void *grow(struct decoding *d, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity == 0 ? 4 : *capacity * 2;
    void *larger = arena_alloc(d->arena, wanted * size);
    if (larger == NULL) {
        (void)error_budget(d->error);
        return NULL;
    }
    if (count > 0)
        memcpy(larger, items, count * size);
    *capacity = wanted;
    return larger;
}

static bool decode_list(struct decoding *d, const struct shape *shape, enum json_place place,
                        struct field_list *out)
{
    if (!enter(d, JSON_ARRAY, shape, place))
        return false;
    size_t size = shape_slot_size(shape->element, true);
    size_t capacity = 0;
    *out = (struct field_list){.set = true};
    while (json_next_element(&d->reader)) {
        void *items = grow(d, out->items, out->count, &capacity, size);
        if (items == NULL)
            return false;
        out->items = items;
        if (!decode_element(d, shape->element, (char *)items + out->count * size))
            return false;
        out->count++;
    }
    return d->reader.error == NULL || text_error(d);
}

struct named_index {
    struct slice name;
    size_t index;
};

static int named_index_compare(const void *a, const void *b)
{
    const struct named_index *left = a;
    const struct named_index *right = b;
    int order = slice_compare(left->name, right->name);
    if (order != 0)
        return order;
    return (left->index > right->index) - (left->index < right->index);
}

// Of entries with the same name only the last stays. Sorting keeps it quick for a map
// that was made to be slow.
static bool drop_repeats(struct decoding *d, struct field_map *map, size_t size)
{
    if (map->count < 2)
        return true;
    struct named_index *sorted = arena_alloc(d->arena, map->count * sizeof *sorted);
    if (sorted == NULL)
        return error_budget(d->error);
    for (size_t i = 0; i < map->count; i++)
        sorted[i] = (struct named_index){map->names[i], i};
    qsort(sorted, map->count, sizeof *sorted, named_index_compare);
    bool repeats = false;
    for (size_t i = 1; i < map->count; i++) {
        if (slice_equal(sorted[i - 1].name, sorted[i].name)) {
            map->names[sorted[i - 1].index].ptr = NULL;
            repeats = true;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; repeats && i < map->count; i++) {
        if (map->names[i].ptr == NULL)
            continue;
        map->names[kept] = map->names[i];
        memmove((char *)map->items + kept * size, (char *)map->items + i * size, size);
        kept++;
    }
    if (repeats)
        map->count = kept;
    return true;
}

static bool decode_map(struct decoding *d, const struct shape *shape, enum json_place place,
                       struct field_map *out)
{
    if (!enter(d, JSON_OBJECT, shape, place))
        return false;
    size_t size = shape_slot_size(shape->element, true);
    size_t name_capacity = 0;
    size_t capacity = 0;
    *out = (struct field_map){.set = true};
    struct slice name;
    while (json_next_name(&d->reader, &name)) {
        void *items = grow(d, out->items, out->count, &capacity, size);
        struct slice *names = grow(d, out->names, out->count, &name_capacity, sizeof *names);
        if (items == NULL || names == NULL)
            return false;
        out->items = items;
        out->names = names;
        names[out->count] = name;
        if (!decode_element(d, shape->element, (char *)items + out->count * size))
            return false;
        out->count++;
    }
    if (d->reader.error != NULL)
        return text_error(d);
    return drop_repeats(d, out, size);
}

// ---- All kinds -----------------------------------------------------------------------

static bool decode(struct decoding *d, const struct shape *shape, enum json_place place, void *at)
{
    if (json_peek(&d->reader) == JSON_NULL) {
        // A null behind a value takes it back: of two members the last counts.
        if (shape->kind != SHAPE_STRUCT || place == PLACE_FIELD)
            memset(at, 0, shape_slot_size(shape, false));
        return json_read_literal(&d->reader) || text_error(d);
    }
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        return decode_string(d, shape, place, at);
    case SHAPE_BLOB:
        return decode_blob(d, place, at);
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return decode_integer(d, shape, place, at);
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        return decode_double(d, shape, place, at);
    case SHAPE_BOOLEAN:
        return decode_bool(d, place, at);
    case SHAPE_STRUCT:
        return decode_struct(d, shape, place, at);
    case SHAPE_LIST:
        return decode_list(d, shape, place, at);
    case SHAPE_MAP:
        return decode_map(d, shape, place, at);
    case SHAPE_VALUE:
        return value_decode(&d->values, place, at);
    case SHAPE_ITEM:
        return value_decode_item(&d->values, place, shape->matches, at);
    }
    ensure(!"a shape has a known kind");
    return false;
}

static void decoding_init(struct decoding *d, enum service_layer layer, struct slice json,
                          struct arena *arena, struct error *error)
{
    d->arena = arena;
    d->error = error;
    json_reader_init(&d->reader, json, arena);
    value_decoder_init(&d->values, &d->reader, layer, arena, error);
}

bool shape_decode(const struct shape *shape, enum service_layer layer, struct slice json, void *out,
                  struct arena *arena, struct error *error)
{
    struct decoding d;
    decoding_init(&d, layer, json, arena, error);
    memset(out, 0, shape->size);
    // What is no object at the top gets no message, like text that is no JSON.
    bool ok = json_peek(&d.reader) == JSON_OBJECT || error_set(error, ERR_SERIALIZATION, "%s", "");
    ok = ok && decode_members(&d, shape, PLACE_FIELD, out);
    ok = ok && (json_at_end(&d.reader) || text_error(&d));
    value_decoder_release(&d.values);
    return ok && shape_check(shape, layer, out, error);
}

bool field_value_check(const struct field_value *field, struct error *error)
{
    return field->fault == NULL || error_validation(error, "%s", field->fault);
}

bool json_decode_item(struct slice json, struct arena *arena, struct slice *out,
                      struct error *error)
{
    struct decoding d;
    struct field_value field = {0};
    decoding_init(&d, LAYER_OLD, json, arena, error);
    bool ok = value_decode_item(&d.values, PLACE_FIELD, NULL, &field) &&
              (json_at_end(&d.reader) || text_error(&d));
    value_decoder_release(&d.values);
    if (!ok || !field_value_check(&field, error))
        return false;
    *out = field.value;
    return true;
}
