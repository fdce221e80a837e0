// Unicode's composed form.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "text/nfc.h"

static const struct {
    const char *text;
    const char *composed;
} cases[] = {
    {"", ""},
    {"plain", "plain"},
    {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"cafe\xcc\x81", "caf\xc3\xa9"},
    {"e\xcc\x81\xcc\x81", "\xc3\xa9\xcc\x81"}, // a second accent has nothing to join
    {"\xcc\x81"
     "e",
     "\xcc\x81"
     "e"},                                                    // a mark before any letter
    {"\xe2\x84\xab", "\xc3\x85"},                             // the sign of Angstrom is the letter
    {"\xe2\x84\xa6", "\xce\xa9"},                             // and that of Ohm
    {"a\xcc\xa3\xcc\x82", "\xe1\xba\xad"},                    // dot below, circumflex: both join,
    {"a\xcc\x82\xcc\xa3", "\xe1\xba\xad"},                    // in whatever order they stand
    {"\xc3\xa2\xcc\xa3", "\xe1\xba\xad"},                     // also if one has joined already
    {"\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "\xea\xb0\x81"}, // Hangul: three parts,
    {"\xea\xb0\x80\xe1\x86\xa8", "\xea\xb0\x81"},             // or two
    {"\xea\xb0\x81", "\xea\xb0\x81"},
    {"\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc"}, // what is never composed stays apart
    {"\xf0\x9d\x85\x9e", "\xf0\x9d\x85\x97\xf0\x9d\x85\xa5"},
};

static void test_cases(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice made = nfc_compose(slice_str(cases[i].text), &arena);
        if (!slice_is(made, cases[i].composed))
            fail_msg("case %zu: %.*s", i, SLICE_FMT(made));
        assert_true(slice_equal(nfc_compose(made, &arena), made));
    }
    arena_release(&arena);
}

// Marks without end, of two classes in turn: what one is sorted by is not their square.
static void test_many_marks(void **state)
{
    (void)state;
    enum { MARKS = 200000 };
    struct arena arena;
    arena_init(&arena, 64 << 20);
    uint8_t *text = malloc(1 + 2 * MARKS);
    text[0] = 'a';
    for (size_t i = 0; i < MARKS; i++) {
        text[1 + 2 * i] = 0xcc;
        text[2 + 2 * i] = i % 2 == 0 ? 0x81 : 0xa3; // an acute, a dot below
    }
    struct slice made = nfc_compose(slice_of(text, 1 + 2 * MARKS), &arena);
    assert_int_equal(made.len, 3 + 2 * (MARKS - 1)); // a with a dot below, and the rest
    assert_memory_equal(made.ptr, "\xe1\xba\xa1\xcc\xa3", 5);
    assert_memory_equal(made.ptr + made.len - 2, "\xcc\x81", 2);
    free(text);
    arena_release(&arena);
}

static void test_budget(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1);
    assert_null(nfc_compose(slice_str("e\xcc\x81"), &arena).ptr);
    assert_true(nfc_is_plain(slice_str("caf\xc3\xa9")));
    assert_false(nfc_is_plain(slice_str("e\xcc\x81")));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_many_marks),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
