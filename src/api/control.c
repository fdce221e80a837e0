// See control.h.
#include "api/control.h"

#include "value/number.h"

enum { MAP_MAX = 1 << 20, NAMES_MAX = 16 << 20 };

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

void map_begin(struct map_maker *maker)
{
    buf_init(&maker->bytes, MAP_MAX);
    value_builder_init(&maker->b, &maker->bytes);
    value_open_map(&maker->b);
}

void map_put_text(struct map_maker *maker, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    value_name(&maker->b, slice_str(name));
    value_put_string(&maker->b, text);
}

void map_put_integer(struct map_maker *maker, const char *name, int64_t value)
{
    uint8_t number[NUMBER_BYTES_MAX];
    if (value == 0)
        return;
    value_name(&maker->b, slice_str(name));
    value_put_number(&maker->b, slice_of(number, number_from_i64(value, number)));
}

void map_put_flag(struct map_maker *maker, const char *name, bool value)
{
    if (!value)
        return;
    value_name(&maker->b, slice_str(name));
    value_put_bool(&maker->b, true);
}

void map_put_value(struct map_maker *maker, struct slice name, struct slice value)
{
    if (value.len == 0)
        return;
    value_name(&maker->b, name);
    value_put(&maker->b, value);
}

struct slice map_end(struct map_maker *maker, struct arena *arena, struct error *error)
{
    (void)value_close(&maker->b);
    struct slice map =
        maker->bytes.failed ? VALUE_NONE : arena_copy(arena, buf_view(&maker->bytes));
    value_builder_release(&maker->b);
    buf_release(&maker->bytes);
    if (map.ptr == NULL)
        (void)error_budget(error);
    return map;
}

bool map_set(struct arena *arena, struct slice *map, struct slice name, struct slice value,
             struct error *error)
{
    struct map_maker maker;
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

// ---- Answering ---------------------------------------------------------------------------------

void call_changed_settings(const struct api_call *call, struct table_settings *out)
{
    table_settings_read(call->state->change->after, out);
}

// ---- Walking over tables ------------------------------------------------------------------------

static bool name_add(void *context, struct slice name)
{
    struct table_names *names = context;
    uint8_t len[10];
    buf_add(&names->text, len, varint_put(len, name.len));
    buf_slice(&names->text, name);
    return true;
}

void table_names_init(struct table_names *names, struct engine *engine, struct slice after)
{
    names->at = 0;
    buf_init(&names->text, NAMES_MAX);
    engine_tables(engine, after, name_add, names);
    ensure(!names->text.failed);
}

bool table_names_next(struct table_names *names, struct slice *name)
{
    if (names->at == names->text.len)
        return false;
    const uint8_t *at = names->text.ptr + names->at;
    *name = value_counted(&at);
    names->at = (size_t)(at - names->text.ptr);
    return true;
}

void table_names_release(struct table_names *names)
{
    buf_release(&names->text);
}

// ---- ARNs ------------------------------------------------------------------------------------

static bool take_part(struct slice *rest, struct slice *part)
{
    const uint8_t *colon = rest->len == 0 ? NULL : memchr(rest->ptr, ':', rest->len);
    if (colon == NULL)
        return false;
    *part = slice_of(rest->ptr, (size_t)(colon - rest->ptr));
    *rest = slice_of(colon + 1, rest->len - part->len - 1);
    return true;
}

bool arn_split(struct slice text, struct arn *out)
{
    struct slice scheme, partition;
    struct arn arn;
    if (!take_part(&text, &scheme) || !take_part(&text, &partition) ||
        !take_part(&text, &arn.service) || !take_part(&text, &arn.region) ||
        !take_part(&text, &arn.account))
        return false;
    if (!slice_is(scheme, "arn") || !slice_begins(partition, SLICE_LIT("aws")) || text.len == 0)
        return false;
    arn.rest = text;
    *out = arn;
    return true;
}
