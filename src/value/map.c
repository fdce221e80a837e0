// See map.h.
#include "value/map.h"

#include "value/number.h"

enum { MAP_MAX = 1 << 24 };

// ---- Reading ----------------------------------------------------------------------

struct slice map_value(struct slice map, struct slice name)
{
    return map.len == 0 ? VALUE_NONE : value_get(map, name);
}

struct slice map_text(struct slice map, const char *name)
{
    struct slice value = map_value(map, slice_str(name));
    return value.len == 0 ? slice_of(NULL, 0) : value_bytes(value);
}

int64_t map_integer(struct slice map, const char *name)
{
    struct slice value = map_value(map, slice_str(name));
    int64_t number = 0;
    if (value.len > 0)
        ensure(number_to_i64(value_bytes(value), &number));
    return number;
}

bool map_flag(struct slice map, const char *name)
{
    struct slice value = map_value(map, slice_str(name));
    return value.len > 0 && value_bool(value);
}

// ---- Making -----------------------------------------------------------------------

void map_begin(struct value_maker *maker)
{
    value_begin(maker, MAP_MAX);
    value_open_map(&maker->b);
}

static void put_integer(struct value_builder *b, const char *name, int64_t value)
{
    uint8_t number[NUMBER_BYTES_MAX];
    if (value == 0)
        return;
    value_name(b, slice_str(name));
    value_put_number(b, slice_of(number, number_from_i64(value, number)));
}

static void put_flag(struct value_builder *b, const char *name, bool value)
{
    if (!value)
        return;
    value_name(b, slice_str(name));
    value_put_bool(b, true);
}

void map_put_text(struct value_maker *maker, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    value_name(&maker->b, slice_str(name));
    value_put_string(&maker->b, text);
}

void map_put_integer(struct value_maker *maker, const char *name, int64_t value)
{
    put_integer(&maker->b, name, value);
}

void map_put_flag(struct value_maker *maker, const char *name, bool value)
{
    put_flag(&maker->b, name, value);
}

void map_put_value(struct value_maker *maker, struct slice name, struct slice value)
{
    if (value.len == 0)
        return;
    value_name(&maker->b, name);
    value_put(&maker->b, value);
}

struct slice map_end(struct value_maker *maker, struct arena *arena, struct error *error)
{
    struct slice map = value_end(maker, arena);
    if (map.ptr == NULL)
        (void)error_budget(error);
    return map;
}

bool map_set(struct arena *arena, struct slice *map, struct slice name, struct slice value,
             struct error *error)
{
    struct value_maker maker;
    map_begin(&maker);
    if (map->len > 0) {
        struct value_iter iter;
        value_iter_init(&iter, *map);
        while (value_iter_next(&iter))
            if (!slice_equal(iter.name, name))
                map_put_value(&maker, iter.name, iter.value);
    }
    map_put_value(&maker, name, value);
    struct slice made = map_end(&maker, arena, error);
    if (made.ptr == NULL)
        return false;
    *map = made;
    return true;
}

// ---- By rows ------------------------------------------------------------------------

static void get_list(const struct map_row *row, struct slice list, void *out)
{
    struct value_iter iter;
    size_t count = 0;
    char *at = (char *)out + row->offset;
    if (value_type(list) != VALUE_L)
        return;
    value_iter_init(&iter, list);
    for (; count < row->room && value_iter_next(&iter); count++, at += row->form->size)
        map_decode(row->form, iter.value, at);
    *(size_t *)(void *)((char *)out + row->count) = count;
}

static void get_row(const struct map_row *row, struct slice value, void *out)
{
    void *field = (char *)out + row->offset;
    int64_t number;
    switch (row->kind) {
    case MAP_INTEGER:
        ensure(number_to_i64(value_bytes(value), field));
        break;
    case MAP_SMALL:
        ensure(number_to_i64(value_bytes(value), &number));
        *(uint32_t *)field = (uint32_t)number;
        break;
    case MAP_FLAG:
        *(bool *)field = value_bool(value);
        break;
    case MAP_TEXT:
    case MAP_BYTES:
        *(struct slice *)field = value_bytes(value);
        break;
    case MAP_VALUE:
        *(struct slice *)field = value;
        break;
    case MAP_LIST:
        get_list(row, value, out);
        break;
    case MAP_PART:
        break;
    }
}

void map_get_rows(struct slice map, const struct map_row *rows, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct map_form *form = rows[i].form;
        if (rows[i].kind == MAP_PART) {
            map_get_rows(map, form->rows, form->count, (char *)out + rows[i].offset);
            continue;
        }
        struct slice value = map_value(map, slice_str(rows[i].name));
        if (value.len > 0)
            get_row(&rows[i], value, out);
    }
}

static void put_slice(struct value_builder *b, const struct map_row *row, struct slice slice)
{
    if (slice.len == 0)
        return;
    value_name(b, slice_str(row->name));
    if (row->kind == MAP_TEXT)
        value_put_string(b, slice);
    else if (row->kind == MAP_BYTES)
        value_put_binary(b, slice);
    else
        value_put(b, slice);
}

static void put_list(struct value_builder *b, const struct map_row *row, const void *from)
{
    size_t count = *(const size_t *)(const void *)((const char *)from + row->count);
    const char *at = (const char *)from + row->offset;
    if (count == 0)
        return;
    value_name(b, slice_str(row->name));
    value_open_list(b);
    for (size_t i = 0; i < count; i++, at += row->form->size) {
        value_open_map(b);
        map_put_rows(b, row->form->rows, row->form->count, at);
        (void)value_close(b);
    }
    (void)value_close(b);
}

void map_put_rows(struct value_builder *b, const struct map_row *rows, size_t count,
                  const void *from)
{
    for (size_t i = 0; i < count; i++) {
        const struct map_row *row = &rows[i];
        const void *field = (const char *)from + row->offset;
        switch (row->kind) {
        case MAP_INTEGER:
            put_integer(b, row->name, *(const int64_t *)field);
            break;
        case MAP_SMALL:
            put_integer(b, row->name, *(const uint32_t *)field);
            break;
        case MAP_FLAG:
            put_flag(b, row->name, *(const bool *)field);
            break;
        case MAP_TEXT:
        case MAP_BYTES:
        case MAP_VALUE:
            put_slice(b, row, *(const struct slice *)field);
            break;
        case MAP_PART:
            map_put_rows(b, row->form->rows, row->form->count, field);
            break;
        case MAP_LIST:
            put_list(b, row, from);
            break;
        }
    }
}

struct slice map_encode(const struct map_form *form, const void *from, struct arena *arena,
                        struct error *error)
{
    struct value_maker maker;
    map_begin(&maker);
    map_put_rows(&maker.b, form->rows, form->count, from);
    return map_end(&maker, arena, error);
}

void map_decode(const struct map_form *form, struct slice record, void *out)
{
    memset(out, 0, form->size);
    map_get_rows(record, form->rows, form->count, out);
}
