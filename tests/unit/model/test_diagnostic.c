// How diagnostics look: as text with the line and a caret, and as JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/diagnostic.h"

struct shown {
    struct arena arena;
    struct diagnostics list;
    struct buf out;
};

static void begin(struct shown *s)
{
    arena_init(&s->arena, 1 << 20);
    diagnostics_init(&s->list, &s->arena);
    buf_init(&s->out, 1 << 20);
}

static void end(struct shown *s)
{
    buf_release(&s->out);
    arena_release(&s->arena);
}

static void shows(const char *text, struct model_place at, const char *expected)
{
    static struct shown s;
    begin(&s);
    assert_false(diagnostic_error(&s.list, at, "wrong %d", 1));
    diagnostics_show(&s.list, slice_str("f"), slice_str(text), &s.out);
    buf_byte(&s.out, 0);
    assert_string_equal((const char *)s.out.ptr, expected);
    end(&s);
}

static void test_caret(void **state)
{
    (void)state;
    shows("one\ntwo three\n", (struct model_place){2, 5, 5},
          "f:2:5: error: wrong 1\n"
          "    2 | two three\n"
          "      |     ^~~~~\n");
    shows("one\r\n", (struct model_place){1, 1, 1},
          "f:1:1: error: wrong 1\n"
          "    1 | one\n"
          "      | ^\n");
    shows("a\tb\tc", (struct model_place){1, 5, 1}, // tabs are four wide
          "f:1:5: error: wrong 1\n"
          "    1 | a   b   c\n"
          "      |         ^\n");
    shows("größe x", (struct model_place){1, 9, 1}, // bytes in, characters out
          "f:1:7: error: wrong 1\n"
          "    1 | größe x\n"
          "      |       ^\n");
    shows("größe x", (struct model_place){1, 1, 7},
          "f:1:1: error: wrong 1\n"
          "    1 | größe x\n"
          "      | ^~~~~\n");
    shows("x", (struct model_place){0, 0, 0}, "f: error: wrong 1\n");
    shows("x", (struct model_place){9, 1, 1}, "f:9:1: error: wrong 1\n");
    shows("x\n", (struct model_place){2, 1, 0}, // behind the end
          "f:2:1: error: wrong 1\n"
          "    2 | \n"
          "      | ^\n");
    shows("a\001b", (struct model_place){1, 9, 5},
          "f:1:4: error: wrong 1\n"
          "    1 | a?b\n"
          "      |    ^\n");
}

static void test_long_line(void **state)
{
    (void)state;
    char line[401];
    memset(line, 'x', 400);
    line[400] = 0;
    memcpy(line + 200, "wrong", 5);
    static struct shown s;
    begin(&s);
    (void)diagnostic_error(&s.list, (struct model_place){1, 201, 5}, "no");
    diagnostics_show(&s.list, slice_str("f"), slice_str(line), &s.out);
    buf_byte(&s.out, 0);
    char *second = strchr((char *)s.out.ptr, '\n');
    assert_non_null(second);
    assert_memory_equal(second + 1, "    1 | …xx", 13);
    char *caret = strstr(second, "^~~~~\n");
    assert_non_null(caret);
    char *third = strchr(second + 1, '\n');
    // Below the word; "…" is one column and three bytes.
    char *word = strstr(second, "wrong");
    assert_int_equal(caret - third - 1, word - (second + 1) - 2);
    end(&s);
}

static void test_order_and_limit(void **state)
{
    (void)state;
    static struct shown s;
    begin(&s);
    diagnostic_warning(&s.list, (struct model_place){3, 1, 1}, "c");
    (void)diagnostic_error(&s.list, (struct model_place){1, 5, 1}, "b");
    (void)diagnostic_error(&s.list, (struct model_place){1, 2, 1}, "a");
    diagnostics_sort(&s.list);
    assert_string_equal(s.list.list[0].message, "a");
    assert_string_equal(s.list.list[2].message, "c");
    assert_int_equal(s.list.errors, 2);
    for (size_t i = 0; i < 200; i++)
        (void)diagnostic_error(&s.list, (struct model_place){0}, "more");
    assert_int_equal(s.list.count, DIAGNOSTICS_MAX);
    assert_int_equal(s.list.errors, 202);
    assert_int_equal(s.list.lost, 103);
    diagnostics_show(&s.list, slice_str("f"), slice_str("x"), &s.out);
    buf_byte(&s.out, 0);
    assert_non_null(strstr((char *)s.out.ptr, "f: and 103 more\n"));
    end(&s);
}

static void test_json(void **state)
{
    (void)state;
    static struct shown s;
    begin(&s);
    diagnostic_add(&s.list, (struct diagnostic){.severity = SEVERITY_WARNING,
                                                .code = "L003",
                                                .at = {2, 3, 4},
                                                .message = "a \"b\"",
                                                .help = "do it"});
    diagnostic_add(&s.list, (struct diagnostic){.severity = SEVERITY_NOTE, .message = "x"});
    diagnostics_json(&s.list, slice_str("f"), slice_str(""), &s.out);
    buf_byte(&s.out, 0);
    assert_string_equal(
        (char *)s.out.ptr,
        "[{\"file\":\"f\",\"line\":2,\"column\":3,\"length\":4,\"severity\":\"warning\","
        "\"code\":\"L003\",\"message\":\"a \\\"b\\\"\",\"help\":\"do it\"},"
        "{\"file\":\"f\",\"line\":0,\"column\":0,\"length\":0,\"severity\":\"note\","
        "\"message\":\"x\"}]");
    buf_clear(&s.out);
    diagnostic_show(&s.list.list[0], slice_str("f"), slice_str("\nabcdefgh"), &s.out);
    buf_byte(&s.out, 0);
    assert_string_equal((char *)s.out.ptr, "f:2:3: warning L003: a \"b\"\n"
                                           "    2 | abcdefgh\n"
                                           "      |   ^~~~\n"
                                           "      = do it\n");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caret),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_order_and_limit),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
