// Reading schemas: JSON, and JavaScript as schemas are written in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "infer/tree.h"

static const struct tree *read_text(struct arena *arena, const char *text)
{
    struct tree_error error = {.message = NULL};
    const struct tree *tree = tree_read(slice_str(text), arena, &error);
    if (tree == NULL)
        print_error("%zu:%zu: %s\n", error.line, error.column, error.message);
    return tree;
}

static void assert_text(const struct tree *tree, const char *name, const char *expected)
{
    struct slice text = tree_text(tree, name);
    if (!slice_is(text, expected))
        fail_msg("%s is \"%.*s\", not \"%s\"", name, SLICE_FMT(text), expected);
}

static void test_json(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct tree *tree = read_text(
        &arena, "{\"z\":\"a\\u00e4\\ud83d\\ude00\\n\\\"\", \"a\": [1, -2.5e3, true, null, {}], "
                "\"o\": {\"b\": false}}");
    assert_non_null(tree);
    assert_true(slice_is(tree->first->name, "z")); // in the order of the file
    assert_text(tree, "z", "a\xc3\xa4\xf0\x9f\x98\x80\n\"");
    const struct tree *list = tree_get(tree, "a");
    assert_int_equal(list->kind, TREE_ARRAY);
    assert_true(slice_is(list->first->text, "1"));
    assert_int_equal(list->first->next->kind, TREE_NUMBER);
    assert_true(slice_is(list->first->next->text, "-2.5e3"));
    assert_int_equal(list->first->next->next->kind, TREE_WORD);
    assert_false(tree_true(tree_get(tree, "o"), "b"));
    assert_true(tree_true(read_text(&arena, "\xef\xbb\xbf{\"x\":true}"), "x"));
    // What is not there is empty, however deep one looks.
    assert_null(tree_get(tree_get(tree_get(tree, "no"), "such"), "thing"));
    assert_null(tree_first(NULL));
    assert_int_equal(tree_text(NULL, "x").len, 0);
    arena_release(&arena);
}

static void test_javascript(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct tree *tree =
        read_text(&arena, "import { Table } from 'x'\n"
                          "/* a comment { */ const re = { mail: /a{2},\\/b/ }\n"
                          "export const Schema: Thing = {\n"
                          "  version: '1.0', // behind\n"
                          "  'quoted-name': `tick`,\n"
                          "  type: String, match: /^[a-z,}]+$/i,\n"
                          "  made: (x) => { return [x, 1] },\n"
                          "  list: ['a', 'b',] as const,\n"
                          "  deep: { last: true, },\n"
                          "} as Thing;\n"
                          "module.exports = { Schema: 1 }\n");
    assert_non_null(tree);
    assert_text(tree, "version", "1.0");
    assert_text(tree, "quoted-name", "tick");
    assert_text(tree, "type", "String");
    assert_text(tree, "made", "(x) => { return [x, 1] }");
    assert_true(slice_is(tree_get(tree, "list")->first->next->text, "b"));
    assert_true(tree_true(tree_get(tree, "deep"), "last"));
    assert_text(read_text(&arena, "export default {a: 'b'}"), "a", "b");
    assert_text(read_text(&arena, "export default defineSchema({a: 'b'})"), "a", "b");
    arena_release(&arena);
}

static void test_faults(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "   ",      "nothing here", "{",
                                      "{\"a\"", "{\"a\":",  "{\"a\":{} 2}", "[1, 2",
                                      "{'a: 1", "{a: \"\\", "{: 1}",        "{a: , b: 1}"};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct tree_error error = {.message = NULL};
        assert_null(tree_read(slice_str(bad[i]), &arena, &error));
        assert_non_null(error.message);
        assert_true(error.line >= 1 && error.column >= 1);
    }
    char deep[400];
    memset(deep, '[', sizeof(deep));
    struct tree_error error = {.message = NULL};
    assert_null(tree_read(slice_of(deep, sizeof(deep)), &arena, &error));
    assert_string_equal(error.message, "nested too deeply");
    arena_release(&arena);
}

// Every beginning of a file, and every file with one byte changed, is read or refused.
static void test_damage(void **state)
{
    (void)state;
    static const char text[] = "export const A = {a: 'x\\u0041', b: [1, {c: /r,e/}], \"d\": f(1)}";
    for (size_t len = 0; len < sizeof(text); len++) {
        for (int change = 0; change < 2; change++) {
            struct arena arena;
            struct tree_error error;
            char copy[sizeof(text)];
            memcpy(copy, text, sizeof(text));
            arena_init(&arena, 1 << 20);
            if (change == 1 && len + 1 < sizeof(text))
                copy[len] = '"';
            (void)!tree_read(slice_of(copy, change == 1 ? sizeof(text) - 1 : len), &arena, &error);
            arena_release(&arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_javascript),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
