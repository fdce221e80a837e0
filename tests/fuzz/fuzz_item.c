// Bytes that claim to be a value. If value_valid() takes them, every reader is safe on them, and
// they are canonical: building the value again gives the same bytes.
#include "fuzz.h"

#include "value/number.h"
#include "value/path.h"
#include "value/value.h"

static void rebuild(struct slice value, struct value_builder *builder);

static void rebuild_container(struct slice value, struct value_builder *builder)
{
    enum value_type type = value_type(value);
    size_t count = 0;
    struct value_iter iter;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter)) {
        fuzz_inside(iter.value, value);
        if (type == VALUE_M) {
            fuzz_inside(iter.name, value);
            struct slice found = value_get(value, iter.name);
            ensure(found.ptr == iter.value.ptr && found.len == iter.value.len);
            value_name(builder, iter.name);
        }
        if (type == VALUE_L)
            ensure(value_at(value, count).ptr == iter.value.ptr);
        if (type == VALUE_M || type == VALUE_L) {
            rebuild(iter.value, builder);
        } else {
            ensure(value_set_has(value, iter.value));
            value_member(builder, iter.value);
        }
        count++;
    }
    ensure(count == value_count(value));
    if (type == VALUE_L)
        ensure(value_at(value, count).len == 0);
}

static void rebuild_number(struct slice value, struct value_builder *builder)
{
    struct slice stored = value_bytes(value);
    ensure(number_valid(stored) && number_size(stored) <= NUMBER_BYTES_MAX);
    char text[NUMBER_TEXT_MAX];
    uint8_t again[NUMBER_BYTES_MAX];
    size_t len;
    ensure(number_from_text(slice_of(text, number_to_text(stored, text)), again, &len) ==
           NUMBER_OK);
    ensure(slice_equal(stored, slice_of(again, len)));
    value_put_number(builder, stored);
}

// Walks the value and puts the same through the builder.
static void rebuild(struct slice value, struct value_builder *builder)
{
    ensure(value.len == value_length(value.ptr));
    size_t function_size = 0;
    bool sized = value_function_size(value, &function_size);
    ensure(!sized || function_size <= value.len);
    switch (value_type(value)) {
    case VALUE_NULL:
        value_put_null(builder);
        return;
    case VALUE_BOOL:
        value_put_bool(builder, value_bool(value));
        return;
    case VALUE_N:
        rebuild_number(value, builder);
        return;
    case VALUE_S:
        ensure(utf8_valid(value_bytes(value)));
        value_put_string(builder, value_bytes(value));
        return;
    case VALUE_B:
        value_put_binary(builder, value_bytes(value));
        return;
    case VALUE_L:
        value_open_list(builder);
        break;
    case VALUE_M:
        value_open_map(builder);
        break;
    default:
        value_open_set(builder, value_type(value));
        break;
    }
    rebuild_container(value, builder);
    ensure(value_close(builder));
}

// An edit that changes nothing, and one that sets and removes, leave valid items.
static void check_edits(struct slice item, struct value_builder *builder)
{
    struct arena arena;
    arena_init(&arena, FUZZ_BUDGET);
    struct edit *edit = edit_new(&arena, item);
    ensure(edit != NULL);
    buf_clear(builder->out);
    edit_finish(edit, builder);
    ensure(slice_equal(buf_view(builder->out), item));
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        struct path_step steps[2] = {{iter.name, 0}, {SLICE_LIT("n"), 0}};
        struct path path = {steps, 1};
        ensure(slice_equal(path_get(item, path), iter.value));
        edit = edit_new(&arena, item);
        ensure(edit != NULL && edit_remove(edit, path) == EDIT_OK);
        buf_clear(builder->out);
        edit_finish(edit, builder);
        struct slice less = buf_view(builder->out);
        ensure(value_valid(less) && value_count(less) + 1 == value_count(item));
        edit = edit_new(&arena, item);
        path.count = 2;
        enum edit_status status = edit_set(edit, path, iter.value);
        ensure((status == EDIT_OK) == (value_type(iter.value) == VALUE_M));
        arena_reset(&arena);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of(data, size);
    if (!value_valid(bytes))
        return 0;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, SIZE_MAX / 2);
    value_builder_init(&builder, &out);
    rebuild(bytes, &builder);
    ensure(!out.failed && slice_equal(buf_view(&out), bytes));
    ensure(value_depth(bytes) <= VALUE_BUILDER_DEPTH);
    (void)value_size(bytes);
    if (value_type(bytes) == VALUE_M) {
        (void)value_item_size(bytes);
        ensure(value_get(bytes, SLICE_LIT("\xff no such name")).len == 0);
        check_edits(bytes, &builder);
    }
    value_builder_release(&builder);
    buf_release(&out);
    return 0;
}
