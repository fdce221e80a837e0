// Requests cut off and damaged at random: never a stray read, a leak or a crash, and what
// is accepted holds only valid values. Each run replays the same cases.
#include "json/support.h"

#include "json/sample_shape.h"
#include "json/writer.h"

static void assert_field_valid(const struct field_value *field)
{
    if (field->value.ptr != NULL)
        assert_true(value_valid(field->value));
}

static void try_request(struct slice text)
{
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    struct slice copy = exact_copy(text);
    if (shape_decode(&sample_shape, LAYER_OLD, copy, &s, &f.arena, &f.error)) {
        assert_int_equal(f.error.code, ERR_NONE);
        assert_field_valid(&s.value);
        assert_field_valid(&s.item);
        for (size_t i = 0; i < s.items.count; i++)
            assert_field_valid((struct field_value *)s.items.items + i);
    } else {
        assert_true(f.error.code == ERR_SERIALIZATION || f.error.code == ERR_VALIDATION);
        assert_non_null(f.error.message);
    }
    free((void *)(uintptr_t)copy.ptr);
    fixture_release(&f);
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t len = 0; len <= strlen(sample_json); len++)
        try_request(slice_of(sample_json, len));
}

static void test_damaged(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "\"", "\\",           "{",       "}",      "[",    "]",       ",",
        ":",  "null",         "\\u",     "1e9",    "true", "\\ud800", "{}",
        "[]", "\"S\":",       "\"N\":",  "\xff",   "\xc3", "\n",      "\"\"",
        "-",  "{\"S\":\"\"}", "\"L\":[", "\"M\":{"};
    uint64_t seed = 20240615;
    char text[2 * sizeof sample_json];
    for (int round = 0; round < 6000; round++) {
        size_t len = strlen(sample_json);
        memcpy(text, sample_json, len);
        size_t damages = 1 + random_below(&seed, 4);
        for (size_t i = 0; i < damages; i++) {
            size_t at = random_below(&seed, len);
            size_t gone = random_below(&seed, 4);
            if (gone > len - at)
                gone = len - at;
            const char *piece = pieces[random_below(&seed, COUNT_OF(pieces))];
            size_t added = strlen(piece);
            memmove(text + at + added, text + at + gone, len - at - gone);
            memcpy(text + at, piece, added);
            len = len + added - gone;
        }
        try_request(slice_of(text, len));
    }
}

static void test_bit_flips(void **state)
{
    (void)state;
    uint64_t seed = 7;
    char text[sizeof sample_json];
    for (int round = 0; round < 4000; round++) {
        memcpy(text, sample_json, sizeof text);
        text[random_below(&seed, sizeof text - 1)] ^= (char)(1 << random_below(&seed, 8));
        try_request(slice_of(text, sizeof text - 1));
    }
}

// ---- Random values there and back -------------------------------------------------------

static void random_text(struct json_writer *w, uint64_t *seed)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "b",
                                        "caf\xc3\xa9",
                                        "\xf0\x9f\x98\x80",
                                        "line\n",
                                        "a longer text with a \"quote\" somewhere in it",
                                        "\t"};
    json_text(w, texts[random_below(seed, COUNT_OF(texts))]);
}

static void random_value(struct json_writer *w, uint64_t *seed, unsigned depth)
{
    json_open_object(w);
    switch (random_below(seed, depth > 5 ? 5 : 7)) {
    case 0:
        json_name(w, "S");
        random_text(w, seed);
        break;
    case 1:
        json_put_text(w, "N", random_below(seed, 2) != 0 ? "-12.5e10" : "0.001");
        break;
    case 2:
        json_put_flag(w, "BOOL", random_below(seed, 2) != 0);
        break;
    case 3:
        json_put_text(w, "B", "AAEC");
        break;
    case 4:
        json_put_array(w, "SS");
        json_text(w, "z");
        json_text(w, "a");
        json_close_array(w);
        break;
    case 5:
        json_put_array(w, "L");
        for (size_t i = random_below(seed, 4); i > 0; i--)
            random_value(w, seed, depth + 1);
        json_close_array(w);
        break;
    default:
        json_put_object(w, "M");
        for (size_t i = random_below(seed, 5); i > 0; i--) {
            char name[16];
            snprintf(name, sizeof name, "n%zu", random_below(seed, 6));
            json_name(w, name);
            random_value(w, seed, depth + 1);
        }
        json_close_object(w);
    }
    json_close_object(w);
}

static void test_random_values(void **state)
{
    (void)state;
    uint64_t seed = 99;
    struct buf json;
    buf_init(&json, 1 << 20);
    for (int round = 0; round < 500; round++) {
        struct fixture f;
        fixture_init(&f);
        buf_clear(&json);
        struct json_writer w = json_writer_to(&json);
        random_value(&w, &seed, 0);
        struct slice first, second;
        assert_true(decode_value(buf_view(&json), &f, &first));
        assert_true(value_valid(first));
        buf_clear(&json);
        w = json_writer_to(&json);
        json_value(&w, first);
        assert_true(decode_value(buf_view(&json), &f, &second));
        assert_true(value_equal(first, second));
        fixture_release(&f);
    }
    buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_random_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
