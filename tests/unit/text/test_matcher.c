// Patterns of text: by a table, and against a naive matcher on random trees.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "text/matcher.h"

static const struct model_matcher *compile(struct slice pattern, struct arena *arena)
{
    struct matcher_error error;
    const struct model_matcher *matcher = matcher_compile(pattern, arena, arena, &error);
    if (matcher == NULL)
        print_error("%.*s: %s at %zu\n", SLICE_FMT(pattern), error.message, error.at);
    assert_non_null(matcher);
    return matcher;
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"abc", "ab", false},
        {"[a-z0-9-]+", "a-slug-9", true},
        {"[a-z0-9-]+", "A", false},
        {"[a-z0-9-]+", "", false},
        {"[^#]*", "a/b", true},
        {"[^#]*", "a#b", false},
        {"[]]", "", false},
        {"[\\]a]", "]", true},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[a\\-z]", "b", false},
        {"[^\\d]", "x", true},
        {"[^\\d]", "5", false},
        {"[\\D]", "x", true},
        {"[\\D]", "5", false},
        {"\\d{4}-\\d{2}", "2026-11", true},
        {"\\d{4}-\\d{2}", "2026-1", false},
        {"\\w+\\s\\W\\S\\D", "a_Z9 !xy", true},
        {"a.c", "abc", true},
        {"a.c", "a\nc", false},
        {"a.c", "aéc", true},
        {"é+", "ééé", true},
        {"[à-ü]", "é", true},
        {"[à-ü]", "z", false},
        {"😀{2}", "😀😀", true},
        {"a|bc|", "bc", true},
        {"a|bc|", "", true},
        {"a|bc|", "abc", false},
        {"(a|b)*c", "ababc", true},
        {"(?:ab)+", "abab", true},
        {"(?:ab)+", "aba", false},
        {"(a*)*", "aaaa", true},
        {"(a*)*b", "aaaa", false},
        {"(a|a)*(a|a)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
        {"a{0}", "", true},
        {"a{0}", "a", false},
        {"a{2,}", "a", false},
        {"a{2,}", "aaaaa", true},
        {"a{2,3}", "aaa", true},
        {"a{2,3}", "aaaa", false},
        {"a{0,2}b", "b", true},
        {"(ab{2}|c){2}", "abbc", true},
        {"(){1000}", "", true},
        {"\\.\\*\\{\\}\\[\\]\\(\\)\\\\\\n\\t\\r\\\"", ".*{}[]()\\\n\t\r\"", true},
        {"a]}", "a]}", true},
        {"a*?", "aa", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena;
        struct matcher_error error;
        arena_init(&arena, 1 << 20);
        const struct model_matcher *matcher =
            matcher_compile(slice_str(cases[i].pattern), &arena, &arena, &error);
        bool is = matcher != NULL && matcher_matches(matcher, slice_str(cases[i].text), NULL);
        if (is != cases[i].matches)
            print_error("%s and %s\n", cases[i].pattern, cases[i].text);
        assert_int_equal(is, cases[i].matches);
        arena_release(&arena);
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        size_t at;
    } cases[] = {
        {"a(b", 1},    {"a)", 1},      {"[a", 0},    {"[]", 0},           {"[^]", 0},
        {"[z-a]", 1},  {"[\\d-z]", 1}, {"*a", 0},    {"a|+", 2},          {"a{x}", 1},
        {"a{3,2}", 1}, {"a{1001}", 1}, {"{2}", 0},   {"^a", 0},           {"a$", 1},
        {"\\q", 0},    {"a\\", 1},     {"(?=a)", 0}, {"a{500}b{600}", 0}, {"((a{30}){30}){30}", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena;
        struct matcher_error error;
        arena_init(&arena, 4 << 20);
        assert_null(matcher_compile(slice_str(cases[i].pattern), &arena, &arena, &error));
        if (error.at != cases[i].at)
            print_error("%s: %s at %zu\n", cases[i].pattern, error.message, error.at);
        assert_int_equal(error.at, cases[i].at);
        assert_non_null(error.message);
        arena_release(&arena);
    }
}

// What takes a careless matcher years takes this one as many steps as it says.
static void test_steps(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct model_matcher *matcher = compile(slice_str("(a|aa|aaa)*b"), &arena);
    char text[10001];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    struct steps steps = {.taken = 0};
    assert_false(matcher_matches(matcher, slice_str(text), &steps));
    assert_true(steps.taken >= sizeof(text) - 1);
    assert_true(steps.taken < 100 * sizeof(text));
    steps = (struct steps){.limit = 1000};
    assert_false(matcher_matches(compile(slice_str("a*"), &arena), slice_str(text), &steps));
    assert_true(steps_over(&steps));
    assert_true(steps.taken < 2000);
    arena_release(&arena);
}

// ---- Against a naive one
// -------------------------------------------------------------------------

struct tree {
    enum { TREE_CHARACTER, TREE_CLASS, TREE_THEN, TREE_OR, TREE_REPEAT, TREE_NOTHING } kind;
    char c;
    bool negated;
    unsigned least;
    unsigned most; // 9: any number
    struct tree *left;
    struct tree *right;
};

static uint64_t seed;

static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % limit;
}

static struct tree *grow(struct arena *arena, unsigned depth)
{
    struct tree *tree = arena_zalloc(arena, 1, sizeof(*tree));
    assert_non_null(tree);
    unsigned what = below(depth == 0 ? 3 : 8);
    tree->c = (char)('a' + below(3));
    tree->negated = below(3) == 0;
    if (what < 2) {
        tree->kind = TREE_CHARACTER;
    } else if (what == 2) {
        tree->kind = TREE_CLASS;
    } else if (what < 5) {
        tree->kind = TREE_THEN;
    } else if (what == 5) {
        tree->kind = TREE_OR;
    } else {
        tree->kind = TREE_REPEAT;
        tree->least = below(3);
        tree->most = below(2) == 0 ? 9 : tree->least + below(3);
    }
    if (tree->kind >= TREE_THEN)
        tree->left = grow(arena, depth - 1);
    if (tree->kind == TREE_THEN || tree->kind == TREE_OR)
        tree->right = below(8) == 0 ? NULL : grow(arena, depth - 1);
    return tree;
}

static void tree_text(const struct tree *tree, struct buf *out)
{
    if (tree == NULL)
        return;
    switch (tree->kind) {
    case TREE_CHARACTER:
        buf_byte(out, (uint8_t)tree->c);
        break;
    case TREE_CLASS:
        buf_printf(out, tree->negated ? "[^%cx-z]" : "[%cx-z]", tree->c);
        break;
    case TREE_THEN:
        buf_text(out, "(");
        tree_text(tree->left, out);
        buf_text(out, ")(");
        tree_text(tree->right, out);
        buf_text(out, ")");
        break;
    case TREE_OR:
        buf_text(out, "(");
        tree_text(tree->left, out);
        buf_text(out, "|");
        tree_text(tree->right, out);
        buf_text(out, ")");
        break;
    case TREE_REPEAT:
        buf_text(out, "(");
        tree_text(tree->left, out);
        if (tree->most == 9 && tree->least < 2)
            buf_printf(out, ")%c", tree->least == 0 ? '*' : '+');
        else if (tree->most == 9)
            buf_printf(out, "){%u,}", tree->least);
        else
            buf_printf(out, "){%u,%u}", tree->least, tree->most);
        break;
    default:
        break;
    }
}

// The places a tree can end at, from the places it can begin at: a bit for each.
static uint32_t naive(const struct tree *tree, const char *text, uint32_t from)
{
    uint32_t to = 0;
    if (tree == NULL)
        return from;
    switch (tree->kind) {
    case TREE_CHARACTER:
    case TREE_CLASS:
        for (size_t i = 0; text[i] != 0; i++) {
            bool in = text[i] == tree->c;
            if (tree->kind == TREE_CLASS)
                in = (in || (text[i] >= 'x' && text[i] <= 'z')) != tree->negated;
            to |= (from >> i & 1) != 0 && in ? 2U << i : 0;
        }
        return to;
    case TREE_THEN:
        return naive(tree->right, text, naive(tree->left, text, from));
    case TREE_OR:
        return naive(tree->left, text, from) | naive(tree->right, text, from);
    case TREE_REPEAT:
        for (unsigned i = 0; i < tree->least; i++)
            from = naive(tree->left, text, from);
        to = from;
        for (unsigned i = tree->least; i < (tree->most == 9 ? 40 : tree->most); i++) {
            from = naive(tree->left, text, from);
            to |= from;
        }
        return to;
    default:
        return from;
    }
}

static void test_against_naive(void **state)
{
    (void)state;
    size_t matched = 0;
    for (uint64_t round = 0; round < 3000; round++) {
        struct arena arena;
        struct buf pattern;
        arena_init(&arena, 4 << 20);
        buf_init(&pattern, 1 << 16);
        seed = round * 977 + 5;
        struct tree *tree = grow(&arena, 4);
        tree_text(tree, &pattern);
        struct matcher_error error;
        const struct model_matcher *matcher =
            matcher_compile(buf_view(&pattern), &arena, &arena, &error);
        for (int i = 0; matcher != NULL && i < 20; i++) {
            char text[13] = "";
            size_t len = below(12);
            for (size_t k = 0; k < len; k++)
                text[k] = "abcxq"[below(5)];
            bool wanted = (naive(tree, text, 1) >> len & 1) != 0;
            if (matcher_matches(matcher, slice_str(text), NULL) != wanted)
                print_error("%.*s and \"%s\"\n", SLICE_FMT(buf_view(&pattern)), text);
            assert_int_equal(matcher_matches(matcher, slice_str(text), NULL), wanted);
            matched += wanted;
        }
        buf_release(&pattern);
        arena_release(&arena);
    }
    assert_true(matched > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_against_naive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
