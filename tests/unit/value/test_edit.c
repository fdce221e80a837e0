// Edits: what UpdateExpression does to an item. Items and expected results are written
// as texts: {name:value} for maps, [value,value] for lists, a word for a string.
#include "value/support.h"

#include "value/path.h"

static const char *build_text(struct value_builder *b, const char *at)
{
    if (*at == '{') {
        value_open_map(b);
        for (at++; *at != '}'; at += *at == ',') {
            size_t len = strcspn(at, ":");
            value_name(b, slice_of(at, len));
            at = build_text(b, at + len + 1);
        }
        assert_true(value_close(b));
        return at + 1;
    }
    if (*at == '[') {
        value_open_list(b);
        for (at++; *at != ']'; at += *at == ',')
            at = build_text(b, at);
        assert_true(value_close(b));
        return at + 1;
    }
    size_t len = strcspn(at, ",]}");
    value_put_string(b, slice_of(at, len));
    return at + len;
}

// "a.b[2].c" to steps; names point into the text.
static struct path parse_path(const char *text, struct path_step *steps)
{
    size_t count = 0;
    while (*text != '\0') {
        if (*text == '[') {
            char *end;
            steps[count++] = (struct path_step){.index = strtoul(text + 1, &end, 10)};
            text = end + 1;
            continue;
        }
        text += *text == '.';
        size_t len = strcspn(text, ".[");
        steps[count++] = (struct path_step){.name = slice_of(text, len)};
        text += len;
    }
    return (struct path){steps, count};
}

enum { STEPS = 8, ACTIONS = 8 };

struct action {
    const char *path;
    const char *value; // NULL to remove
    enum edit_status status;
};

struct edit_case {
    const char *item;
    struct action actions[ACTIONS];
    const char *result;
};

static void run_case(const struct edit_case *test)
{
    struct arena arena;
    struct maker item;
    struct maker values[ACTIONS];
    struct maker result;
    struct maker expected;
    arena_init(&arena, 1 << 20);
    maker_init(&item);
    maker_init(&result);
    maker_init(&expected);
    build_text(&item.builder, test->item);
    build_text(&expected.builder, test->result);
    struct edit *edit = edit_new(&arena, buf_view(&item.out));
    assert_non_null(edit);
    for (size_t i = 0; i < ACTIONS; i++) {
        const struct action *action = &test->actions[i];
        maker_init(&values[i]);
        if (action->path == NULL)
            continue;
        struct path_step steps[STEPS];
        struct path path = parse_path(action->path, steps);
        if (action->value == NULL) {
            assert_int_equal(edit_remove(edit, path), action->status);
            continue;
        }
        build_text(&values[i].builder, action->value);
        assert_int_equal(edit_set(edit, path, buf_view(&values[i].out)), action->status);
    }
    edit_finish(edit, &result.builder);
    assert_true(value_valid(buf_view(&result.out)));
    assert_same(buf_view(&result.out), buf_view(&expected.out));
    for (size_t i = 0; i < ACTIONS; i++)
        maker_release(&values[i]);
    maker_release(&expected);
    maker_release(&result);
    maker_release(&item);
    arena_release(&arena);
}

static void test_maps(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"{a:1,b:2}", {{0}}, "{a:1,b:2}"},
        {"{a:1,b:2}", {{"b", "3", EDIT_OK}}, "{a:1,b:3}"},
        {"{b:1,d:2}", {{"e", "3", 0}, {"a", "0", 0}, {"c", "x", 0}}, "{a:0,b:1,c:x,d:2,e:3}"},
        {"{a:1,b:2,c:3}", {{"b", NULL, 0}}, "{a:1,c:3}"},
        {"{a:1}", {{"a", NULL, 0}, {"zz", NULL, 0}}, "{}"},
        {"{}", {{"a", "{b:c}", 0}}, "{a:{b:c}}"},
        {"{m:{a:1,n:{x:y}},k:v}",
         {{"m.n.x", "z", 0}, {"m.b", "2", 0}},
         "{k:v,m:{a:1,b:2,n:{x:z}}}"},
        {"{m:{a:1}}", {{"m.a", NULL, 0}}, "{m:{}}"},
        {"{m:{a:1}}", {{"m.q", NULL, 0}}, "{m:{a:1}}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_case(&cases[i]);
}

static void test_lists(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"{l:[a,b,c]}", {{"l[1]", "x", 0}}, "{l:[a,x,c]}"},
        // Behind the end: appended, in the order of the indexes.
        {"{l:[a,b]}", {{"l[9]", "y", 0}, {"l[5]", "x", 0}}, "{l:[a,b,x,y]}"},
        {"{l:[]}", {{"l[0]", "x", 0}}, "{l:[x]}"},
        // Removals all speak of the indexes before the edit.
        {"{l:[a,b,c,d,e]}", {{"l[0]", NULL, 0}, {"l[1]", NULL, 0}, {"l[3]", NULL, 0}}, "{l:[c,e]}"},
        {"{l:[a,b,c]}", {{"l[2]", "z", 0}, {"l[0]", NULL, 0}, {"l[7]", "n", 0}}, "{l:[b,z,n]}"},
        {"{l:[a]}", {{"l[3]", NULL, 0}}, "{l:[a]}"},
        {"{l:[a,b]}", {{"l[0]", NULL, 0}, {"l[1]", NULL, 0}}, "{l:[]}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_case(&cases[i]);
}

static void test_nested(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"{l:[{a:1},[p,q]]}",
         {{"l[0].a", "2", 0}, {"l[0].b", "3", 0}, {"l[1][0]", NULL, 0}, {"l[1][8]", "r", 0}},
         "{l:[{a:2,b:3},[q,r]]}"},
        {"{m:{l:[{x:[a,b]}]}}", {{"m.l[0].x[1]", "c", 0}}, "{m:{l:[{x:[a,c]}]}}"},
        // A path into what the same edit has set.
        {"{}", {{"m", "{a:b}", 0}, {"m.a", "c", 0}}, "{m:{a:c}}"},
        {"{l:[]}", {{"l[4]", "{a:b}", 0}, {"l[4].c", "d", 0}}, "{l:[{a:b,c:d}]}"},
        // Setting or removing what was opened takes the place of the changes in it.
        {"{m:{a:b}}", {{"m.a", "c", 0}, {"m", "x", 0}}, "{m:x}"},
        {"{m:{a:b}}", {{"m.a", "c", 0}, {"m", NULL, 0}}, "{}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_case(&cases[i]);
}

static void test_no_parent(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"{a:1}", {{"b.c", "x", EDIT_NO_PARENT}}, "{a:1}"},
        {"{a:1}", {{"a.c", "x", EDIT_NO_PARENT}}, "{a:1}"},
        {"{a:1}", {{"a[0]", "x", EDIT_NO_PARENT}}, "{a:1}"},
        {"{l:[x]}", {{"l.a", "x", EDIT_NO_PARENT}}, "{l:[x]}"},
        {"{l:[x]}", {{"l[2].a", "x", EDIT_NO_PARENT}}, "{l:[x]}"},
        {"{m:{a:b}}", {{"m[0]", "x", EDIT_NO_PARENT}}, "{m:{a:b}}"},
        {"{m:{a:{b:c}}}",
         {{"m.a.b", "d", EDIT_OK}, {"m.a[0]", "x", EDIT_NO_PARENT}},
         "{m:{a:{b:d}}}"},
        {"{m:{}}", {{"m.a.b", NULL, EDIT_NO_PARENT}}, "{m:{}}"},
        {"{m:{a:b}}", {{"m", NULL, EDIT_OK}, {"m.a", "x", EDIT_NO_PARENT}}, "{}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_case(&cases[i]);
}

static void test_path_get(void **state)
{
    (void)state;
    struct maker item;
    maker_init(&item);
    build_text(&item.builder, "{a:1,l:[x,{m:{n:y}}]}");
    static const struct {
        const char *path;
        const char *value;
    } table[] = {{"a", "1"},         {"l[0]", "x"},     {"l[1].m.n", "y"}, {"b", NULL},
                 {"a.b", NULL},      {"l[2]", NULL},    {"l.x", NULL},     {"a[0]", NULL},
                 {"l[1].m.z", NULL}, {"l[1][0]", NULL}, {"l[0].m", NULL}};
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct path_step steps[STEPS];
        struct slice value = path_get(buf_view(&item.out), parse_path(table[i].path, steps));
        assert_int_equal(value.ptr != NULL, table[i].value != NULL);
        if (value.ptr != NULL)
            assert_slice(value_bytes(value), table[i].value);
    }
    maker_release(&item);
}

static void test_budget(void **state)
{
    (void)state;
    static const char zeros[256];
    struct arena arena;
    arena_init(&arena, 0);
    assert_null(edit_new(&arena, value_empty_map()));
    arena_release(&arena);

    arena_init(&arena, 4096);
    struct edit *edit = edit_new(&arena, value_empty_map());
    assert_non_null(edit);
    enum edit_status status = EDIT_OK;
    for (int i = 0; i < 1000 && status == EDIT_OK; i++) {
        struct path_step step = {.name = slice_of(zeros, (size_t)(i % 256))};
        status = edit_set(edit, (struct path){&step, 1}, value_empty_map());
    }
    assert_int_equal(status, EDIT_BUDGET);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_nested),   cmocka_unit_test(test_no_parent),
        cmocka_unit_test(test_path_get), cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
