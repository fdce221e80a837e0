// An item in typed JSON: what is accepted is a valid value, and its JSON means the same item again.
#include "fuzz.h"

#include "base/limits.h"
#include "json/shape.h"
#include "json/writer.h"

static void check_item(struct slice item, struct arena *arena)
{
    ensure(value_valid(item) && value_type(item) == VALUE_M);
    ensure(value_depth(item) <= LIMIT_NESTING + 1);
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    struct json_writer writer = json_writer_to(&text);
    json_item(&writer, item);
    ensure(!text.failed);
    struct error error;
    struct slice again;
    error_init(&error, arena);
    ensure(json_decode_item(buf_view(&text), arena, &again, &error));
    ensure(slice_equal(item, again));
    // Each value alone, too.
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        buf_clear(&text);
        writer = json_writer_to(&text);
        json_open_object(&writer);
        json_name(&writer, "v");
        json_value(&writer, iter.value);
        json_close_object(&writer);
        ensure(json_decode_item(buf_view(&text), arena, &again, &error));
        ensure(slice_equal(iter.value, value_get(again, SLICE_LIT("v"))));
    }
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of(data, size);
    struct arena arena;
    struct error error;
    struct slice item;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    if (json_decode_item(text, &arena, &item, &error)) {
        check_item(item, &arena);
    } else {
        fuzz_error(&error);
        ensure(utf8_valid(slice_str(error.message)));
    }
    arena_release(&arena);
    return 0;
}
