// The catalog's record of a table: bytes of any kind are refused or become a table whose record
// reads back the same.
//
// Input: typed JSON of the record if it begins with "{", else its bytes.
#include "fuzz.h"

#include "engine/table.h"
#include "json/shape.h"

static void check_keys(const struct key_schema *keys)
{
    ensure(keys->hash_count >= 1);
    ensure(keys->hash_count + keys->range_count <= COUNT_OF(keys->parts));
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        enum value_type type = keys->parts[i].type;
        ensure(type == VALUE_S || type == VALUE_N || type == VALUE_B);
        ensure(utf8_valid(keys->parts[i].name));
    }
}

static void check_table(const struct table *table)
{
    check_keys(&table->keys);
    ensure(value_valid(table->settings) && utf8_valid(table->name));
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        check_keys(&index->keys);
        ensure(value_valid(index->settings) && utf8_valid(index->name));
        ensure((unsigned)index->projection <= PROJECT_INCLUDE);
        ensure((unsigned)index->status <= INDEX_DELETING);
        for (size_t j = 0; j < index->include_count; j++)
            ensure(utf8_valid(index->include[j]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice record = slice_of(data, size);
    struct arena arena;
    struct error error;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    if (size == 0 || data[0] != '{' || json_decode_item(record, &arena, &record, &error)) {
        struct table *table = table_decode(record);
        if (table != NULL) {
            struct buf first;
            struct buf second;
            buf_init(&first, FUZZ_BUDGET);
            buf_init(&second, FUZZ_BUDGET);
            check_table(table);
            table_encode(table, &first);
            struct table *again = table_decode(buf_view(&first));
            ensure(again != NULL);
            table_encode(again, &second);
            ensure(slice_equal(buf_view(&first), buf_view(&second)));
            table_release(again);
            table_release(table);
            buf_release(&first);
            buf_release(&second);
        }
    }
    arena_release(&arena);
    return 0;
}
