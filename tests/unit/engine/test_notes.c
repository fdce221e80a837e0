// Notes in bounded memory: part by part they come out as all of them at once would.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/notes.h"

#include <stdio.h>

enum { KEYS = 500, CHANGES = 5000 };

struct change {
    char key[24];
    int64_t time_ms;
};

static struct change changes[CHANGES];

static void make_changes(void)
{
    uint64_t seed = 42;
    for (int i = 0; i < CHANGES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        // Keys of many lengths, one much more often than the others.
        int key = (seed >> 40) % 4 == 0 ? 77 : (int)((seed >> 33) % KEYS);
        (void)snprintf(changes[i].key, sizeof(changes[i].key), "%0*d", 3 + key % 17, key);
        changes[i].time_ms = i / 3;
    }
}

// Goes through all parts; the notes of all of them, in order, are in `out`. Returns how many.
static size_t collect(size_t max_bytes, struct note *out, char (*keys)[24], size_t *parts)
{
    struct notes notes;
    size_t count = 0;
    *parts = 0;
    notes_init(&notes, max_bytes);
    do {
        for (int i = 0; i < CHANGES; i++)
            notes_add(&notes, slice_str(changes[i].key), (uint64_t)i + 1, changes[i].time_ms);
        notes_sort(&notes);
        assert_true(notes.bytes <= max_bytes || notes.count == 1);
        for (size_t i = 0; i < notes.count; i++) {
            assert_ptr_equal(notes_find(&notes, notes.list[i].key), &notes.list[i]);
            assert_true(count < KEYS);
            out[count] = notes.list[i];
            memcpy(keys[count], notes.list[i].key.ptr, notes.list[i].key.len);
            out[count].key = slice_of(keys[count], notes.list[i].key.len);
            count++;
        }
        (*parts)++;
    } while (notes_next(&notes));
    notes_release(&notes);
    return count;
}

static void test_parts(void **state)
{
    (void)state;
    static struct note all[KEYS];
    static struct note parted[KEYS];
    static char all_keys[KEYS][24];
    static char parted_keys[KEYS][24];
    const size_t bounds[] = {1, 200, 3000, 20000};
    size_t parts;
    make_changes();
    size_t count = collect(1 << 20, all, all_keys, &parts);
    assert_int_equal(parts, 1);
    assert_true(count > KEYS / 2);
    for (size_t i = 1; i < count; i++)
        assert_true(slice_compare(all[i - 1].key, all[i].key) < 0);
    for (size_t b = 0; b < COUNT_OF(bounds); b++) {
        assert_int_equal(collect(bounds[b], parted, parted_keys, &parts), count);
        assert_true(parts > 1);
        for (size_t i = 0; i < count; i++) {
            assert_true(slice_equal(parted[i].key, all[i].key));
            assert_int_equal(parted[i].sequence, all[i].sequence);
            assert_int_equal(parted[i].time_ms, all[i].time_ms);
        }
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct notes notes;
    notes_init(&notes, 100);
    notes_sort(&notes);
    assert_int_equal(notes.count, 0);
    assert_null(notes_find(&notes, SLICE_LIT("a")));
    assert_true(notes_cover(&notes, SLICE_LIT("a")));
    assert_false(notes_next(&notes));
    notes_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
