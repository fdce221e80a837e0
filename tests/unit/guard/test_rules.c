// Rules at their edges: an entity with nothing but one of them, attributes that are made of others,
// periods that the server keeps, and too little memory. The rest is in test_judgements.c.
#include "guard/guarded.h"

#include "eval/validate.h"

// A write of the server's own, because of another item.
static const char *derived(struct guarded *guarded, bool put, const char *before, const char *after)
{
    struct guard_write write = {.is_put = put,
                                .touch = !put,
                                .derived = true,
                                .before = item_of(&guarded->fixture.arena, before),
                                .env = &guarded->fixture.env,
                                .arena = &guarded->arena,
                                .after = item_of(&guarded->fixture.arena, after)};
    error_init(&guarded->error, &guarded->fixture.arena);
    return guarded->guard->ops->write(guarded->guard, &write, &guarded->error)
               ? text_of(&guarded->fixture.arena, write.after)
               : guarded->error.message;
}

// ---- One rule alone ---------------------------------------------------------------------------

#define ENTITY(lines) "table things { key id }\nentity Thing {\n  id string\n" lines "}\n"

static void test_alone(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        struct case_ row;
    } rows[] = {
        {ENTITY("  n number\n  check n > 0 \"!\"\n"),
         {PUT, NULL, "{\"id\":\"a\",\"n\":0}", "Entity Thing: /n: expected n > 0 (!), got 0"}},
        {ENTITY("  s string\n  moves s: \"a\" -> \"b\"\n"),
         {PUT, NULL, "{\"id\":\"a\",\"s\":\"b\"}",
          "Entity Thing: /s: expected \"a\" (a new item begins with it), got \"b\""}},
        // Each value is named once.
        {ENTITY("  s string\n  moves s: \"a\" -> \"b\", \"a\" -> \"c\", \"b\" -> \"c\"\n"),
         {PUT, NULL, "{\"id\":\"a\",\"s\":\"c\"}",
          "Entity Thing: /s: expected \"a\" or \"b\" (a new item begins with it), got \"c\""}},
        {ENTITY("  b boolean\n  moves b: false -> true\n"),
         {PUT, NULL, "{\"b\":true,\"id\":\"a\"}",
          "Entity Thing: /b: expected false (a new item begins with it), got true"}},
        {ENTITY("  b boolean\n  moves b: false -> true\n"),
         {UPDATE, "{\"b\":true,\"id\":\"a\"}", "{\"b\":false,\"id\":\"a\"}",
          "Entity Thing: /b: expected true (nothing follows it), got false"}},
        {ENTITY("  append only\n"),
         {UPDATE, "{\"id\":\"a\"}", NULL,
          "Entity Thing: expected the item to stay (Thing is append only), got nothing"}},
        {ENTITY("  gone timestamp?\n  softdelete gone\n"),
         {UPDATE, "{\"id\":\"a\"}", NULL, "{\"gone\":\"2026-11-16T03:40:00.123Z\",\"id\":\"a\"}"}},
        {ENTITY("  n number?\n") "quota Thing.n at most 1\n",
         {PUT, NULL, "{\"id\":\"a\",\"n\":2}",
          "Entity Thing: /n: expected at most 1 (its quota), got 2"}},
        {ENTITY("  n number? = m + 1 always\n  m number?\n"),
         {PUT, NULL, "{\"id\":\"a\",\"m\":1}", "{\"id\":\"a\",\"m\":1,\"n\":2}"}},
        // The first attribute has its rules as well.
        {"table things { key id }\nentity Thing {\n  id string  matches \"[a-z]+\"\n}\n",
         {PUT, NULL, "{\"id\":\"7\"}",
          "Entity Thing: /id: expected text that matches \"[a-z]+\", got \"7\""}},
        // A place within.
        {ENTITY("  inner { a: number? }?\n  check inner.a > 0\n"),
         {PUT, NULL, "{\"id\":\"a\",\"inner\":{\"a\":0}}",
          "Entity Thing: /inner/a: expected inner.a > 0, got 0"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        run_cases(rows[i].source, &rows[i].row, 1);
}

// ---- Computed attributes ----------------------------------------------------------------------

static void test_chains(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"d\":1,\"id\":\"x\"}",
         "{\"a\":4,\"b\":3,\"c\":2,\"d\":1,\"id\":\"x\",\"slug\":\"x\"}"},
        {UPDATE, "{\"a\":4,\"b\":3,\"c\":2,\"d\":1,\"id\":\"x\",\"slug\":\"x\"}",
         "{\"a\":4,\"b\":3,\"c\":2,\"d\":5,\"id\":\"x\",\"slug\":\"x\"}",
         "{\"a\":8,\"b\":7,\"c\":6,\"d\":5,\"id\":\"x\",\"slug\":\"x\"}"},
        // In its normal form it is what is computed.
        {PUT, NULL, "{\"id\":\"XY\",\"slug\":\"xY\"}", "{\"id\":\"XY\",\"slug\":\"xy\"}"},
        {PUT, NULL, "{\"id\":\"XY\",\"slug\":\"xz\"}",
         "Entity Thing: /slug: expected \"xy\" (it is computed), got \"xz\""},
    };
    RUN(ENTITY("  a number? = b + 1 always\n  b number? = c + 1 always\n"
               "  c number? = d + 1 always\n  d number?\n  slug string = id always  lower\n"),
        rows);
}

// One that is made of another above, and of what has changed, too.
static void test_both(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {UPDATE, "{\"d\":1,\"id\":\"i\",\"x\":3,\"y\":2}", "{\"d\":5,\"id\":\"i\",\"x\":3,\"y\":2}",
         "{\"d\":5,\"id\":\"i\",\"x\":11,\"y\":6}"},
    };
    RUN(ENTITY("  x number? = y + d always\n  y number? = d + 1 always\n  d number?\n"), rows);
}

// What depends on the moment comes when it is missing, and stays in a backfill.
static void test_moments(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {TOUCH, "{\"id\":\"x\"}", "{\"id\":\"x\"}", "{\"at\":1794800400,\"id\":\"x\"}"},
        {TOUCH, "{\"at\":5,\"id\":\"x\"}", "{\"at\":5,\"id\":\"x\"}", "{\"at\":5,\"id\":\"x\"}"},
        {UPDATE, "{\"at\":5,\"id\":\"x\"}", "{\"at\":5,\"id\":\"x\"}",
         "{\"at\":1794800400,\"id\":\"x\"}"},
    };
    RUN(ENTITY("  at epoch? = now() always\n"), rows);
}

// A default that says who writes waits for the writer, at any depth.
static void test_who(void **state)
{
    (void)state;
#define BARE "{\"id\":\"a\"}"
    static const struct {
        const char *source;
        const char *item;
        const char *expected;
    } rows[] = {
        {ENTITY("  by string? = actor()\n"), BARE, "{\"by\":\"ada\",\"id\":\"a\"}"},
        {"table things { key id }\nentity Thing {\n  by string? = operation()\n  id string\n}\n",
         BARE, "{\"by\":\"PutItem\",\"id\":\"a\"}"},
        {ENTITY("  list { by: string? = actor() }[]?\n"), "{\"id\":\"a\",\"list\":[{}]}",
         "{\"id\":\"a\",\"list\":[{\"by\":\"ada\"}]}"},
        {ENTITY("  meta { n: number = 1  by: string? = actor() }?\n"), "{\"id\":\"a\",\"meta\":{}}",
         "{\"id\":\"a\",\"meta\":{\"by\":\"ada\",\"n\":1}}"},
        {ENTITY("  meta { by: string? = actor() }?\n"), "{\"id\":\"a\",\"meta\":{}}",
         "{\"id\":\"a\",\"meta\":{\"by\":\"ada\"}}"},
        {ENTITY("  meta { in: { by: string? = actor() } }?\n"),
         "{\"id\":\"a\",\"meta\":{\"in\":{}}}",
         "{\"id\":\"a\",\"meta\":{\"in\":{\"by\":\"ada\"}}}"},
    };
    static const struct write_origin origin = {.principal = SLICE_LIT("ada"),
                                               .operation = SLICE_LIT("PutItem")};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct guarded guarded;
        guarded_init(&guarded, rows[i].source);
        struct slice item = item_of(&guarded.fixture.arena, rows[i].item);
        struct guard_write write = {.is_put = true,
                                    .prepared = true,
                                    .origin = &origin,
                                    .env = &guarded.fixture.env,
                                    .arena = &guarded.arena};
        error_init(&guarded.error, &guarded.fixture.arena);
        assert_true(model_guard_prepare(guarded.guard, &guarded.fixture.env, &guarded.arena, NULL,
                                        &item, &write.settled, &guarded.error));
        write.after = item;
        if (!guarded.guard->ops->write(guarded.guard, &write, &guarded.error))
            fail_msg("row %zu: %s", i, guarded.error.message);
        assert_string_equal(text_of(&guarded.fixture.arena, write.after), rows[i].expected);
        guarded_release(&guarded);
    }
}

// Where nobody asks who writes, a put that is new is settled before the writer has it.
static void test_settled(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        bool settled;
    } rows[] = {
        {ENTITY("  n number = 1\n  at epoch = now()\n  meta { t: string? = \"x\" }?\n"), true},
        {ENTITY("  by string? = actor()\n"), false},
        {ENTITY("  meta { by: string? = actor() }?\n"), false},
        {ENTITY("  a { b: { c: { d: { by: string? = actor() }? }? }? }?\n"), false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct guarded guarded;
        struct guard_settled settled;
        guarded_init(&guarded, rows[i].source);
        struct slice item = item_of(&guarded.fixture.arena, "{\"id\":\"a\"}");
        error_init(&guarded.error, &guarded.fixture.arena);
        assert_true(model_guard_prepare(guarded.guard, &guarded.fixture.env, &guarded.arena, NULL,
                                        &item, &settled, &guarded.error));
        assert_int_equal(settled.item.len > 0, rows[i].settled);
        guarded_release(&guarded);
    }
}

// ---- Soft delete and append only --------------------------------------------------------------

static void test_undeleted(void **state)
{
    (void)state;
    static const struct case_ optional[] = {
        {UPDATE, "{\"gone\":5,\"id\":\"a\"}", "{\"id\":\"a\"}", "{\"id\":\"a\"}"},
        {UPDATE, "{\"gone\":5,\"id\":\"a\"}", "{\"gone\":null,\"id\":\"a\"}",
         "{\"gone\":null,\"id\":\"a\"}"},
        {UPDATE, "{\"id\":\"a\"}", "{\"id\":\"a\",\"n\":1}", "{\"id\":\"a\",\"n\":1}"},
    };
    static const struct case_ required[] = {
        {UPDATE, "{\"gone\":5,\"id\":\"a\"}", "{\"id\":\"a\"}", "{\"gone\":null,\"id\":\"a\"}"},
        {UPDATE, "{\"gone\":null,\"id\":\"a\"}", "{\"id\":\"a\"}", "{\"gone\":null,\"id\":\"a\"}"},
        {UPDATE, "{\"gone\":null,\"id\":\"a\"}", "{\"gone\":7,\"id\":\"a\"}",
         "{\"gone\":7,\"id\":\"a\"}"},
    };
    RUN(ENTITY("  n number?\n  gone epoch?\n  softdelete gone\n"), optional);
    RUN(ENTITY("  gone epoch | null = null\n  softdelete gone\n"), required);
}

static void test_appended(void **state)
{
    (void)state;
#define FIRST "{\"aa\":\"x\",\"g\":\"x\",\"id\":\"a\",\"more\":1,\"twice\":2}"
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"aa\":\"x\",\"id\":\"a\",\"more\":1}",
         "{\"aa\":\"x\",\"g\":\"x\",\"id\":\"a\",\"kind\":\"k\",\"more\":1,\"twice\":2}"},
        // What the model makes by now is no change; what a client sends is.
        {PUT, FIRST, FIRST,
         "{\"aa\":\"x\",\"g\":\"x\",\"id\":\"a\",\"kind\":\"k\",\"more\":1,\"twice\":2}"},
        {UPDATE, "{\"aa\":\"x\",\"id\":\"a\",\"more\":1}", "{\"aa\":\"x\",\"id\":\"a\",\"more\":1}",
         "{\"aa\":\"x\",\"g\":\"x\",\"id\":\"a\",\"kind\":\"k\",\"more\":1,\"twice\":2}"},
        {PUT, FIRST, "{\"aa\":\"x\",\"id\":\"a\",\"kind\":\"k\",\"more\":1}",
         "Entity Thing: /kind: expected nothing (Thing is append only), got \"k\""},
        {UPDATE, FIRST, "{\"g\":\"x\",\"id\":\"a\",\"more\":1,\"twice\":2}",
         "Entity Thing: /aa: expected \"x\" (Thing is append only), got nothing"},
        {UPDATE, FIRST, "{\"aa\":\"y\",\"id\":\"a\",\"more\":1}",
         "Entity Thing: /aa: expected \"x\" (Thing is append only), got \"y\""},
        {UPDATE, FIRST, "{\"aa\":\"x\",\"id\":\"a\",\"more\":2}",
         "Entity Thing: /more: expected 1 (Thing is append only), got 2"},
    };
    RUN("table things { key id  index byA (g) }\nentity Thing {\n  append only\n"
        "  byA = \"{aa}\"\n  id string\n  aa string?\n  kind string = \"k\"\n"
        "  more number\n  twice number? = more * 2 always\n}\n",
        rows);
}

// ---- Quotas -----------------------------------------------------------------------------------

#define MONTH "\"2026-12-01T00:00:00.000Z\""
#define LATER "\"2026-12-02T00:00:00.000Z\""

static void test_unraised(void **state)
{
    (void)state;
    static const char source[] = ENTITY("  n number?\n  ends timestamp?\n  m number?\n  x "
                                        "number?\n") "quota Thing.n at most 3 per month resets "
                                                     "ends\nquota Thing.m at most 3\n";
    static const struct case_ rows[] = {
        // What did not become more is nobody's matter, however much it is.
        {UPDATE, "{\"id\":\"a\",\"m\":9}", "{\"id\":\"a\",\"m\":9,\"x\":1}",
         "{\"id\":\"a\",\"m\":9,\"x\":1}"},
        {UPDATE, "{\"ends\":" MONTH ",\"id\":\"a\",\"n\":9}",
         "{\"ends\":" LATER ",\"id\":\"a\",\"n\":9}", "{\"ends\":" LATER ",\"id\":\"a\",\"n\":9}"},
        {UPDATE, "{\"id\":\"a\",\"m\":2}", "{\"id\":\"a\",\"m\":3}", "{\"id\":\"a\",\"m\":3}"},
        {UPDATE, "{\"id\":\"a\",\"m\":3}", "{\"id\":\"a\",\"m\":3.5}",
         "Entity Thing: /m: expected at most 3 (its quota), got 3.5"},
        {UPDATE, "{\"id\":\"a\",\"m\":-3}", "{\"id\":\"a\",\"m\":3}", "{\"id\":\"a\",\"m\":3}"},
        {UPDATE, "{\"id\":\"a\",\"m\":null}", "{\"id\":\"a\",\"m\":4}",
         "Entity Thing: /m: expected at most 3 (its quota), got 4"},
    };
    RUN(source, rows);
    struct guarded guarded;
    guarded_init(&guarded, source);
    const char *much = "{\"ends\":" MONTH ",\"id\":\"a\",\"n\":9,\"x\":1}";
    assert_string_equal(derived(&guarded, false, "{\"ends\":" MONTH ",\"id\":\"a\",\"n\":9}", much),
                        much);
    // A new item takes what was counted before it came.
    assert_string_equal(derived(&guarded, true, NULL, "{\"id\":\"a\",\"m\":9}"),
                        "{\"id\":\"a\",\"m\":9}");
    guarded_release(&guarded);
}

// With `counting`, the period is the server's.
static void test_counted(void **state)
{
    (void)state;
    static const char source[] = "table things { key pk, sk }\n"
                                 "entity User {\n"
                                 "  pk = \"U#{id}\"  sk = \"U\"\n"
                                 "  id string\n"
                                 "  ends timestamp?\n"
                                 "  name string?\n"
                                 "  used integer = 0\n"
                                 "  ever integer?\n"
                                 "}\n"
                                 "entity Scan {\n"
                                 "  pk = \"U#{id}\"  sk = \"S#{number}\"\n"
                                 "  id string\n"
                                 "  number string\n"
                                 "}\n"
                                 "quota User.used at most 3 per month resets ends counting Scan\n"
                                 "quota User.ever at most 9 counting Scan\n";
#define USER(ends, more)                                                                           \
    "{" ends "\"ever\":0,\"id\":\"a\"" more ",\"pk\":\"U#a\",\"sk\":\"U\",\"used\":1}"
#define ENDS(time) "\"ends\":" time ","
    static const struct case_ rows[] = {
        {UPDATE, USER(ENDS(MONTH), ""), USER(ENDS(LATER), ""),
         "Entity User: /ends: expected " MONTH " (the server sets it), got " LATER},
        {UPDATE, USER(ENDS(MONTH), ""), USER(ENDS(MONTH), ",\"name\":\"n\""),
         USER(ENDS(MONTH), ",\"name\":\"n\"")},
        {UPDATE, USER(ENDS(MONTH), ""), USER("", ""), USER(ENDS(MONTH), "")},
        {UPDATE, USER(ENDS(MONTH), ""), USER(ENDS("null"), ""), USER(ENDS(MONTH), "")},
        {PUT, USER(ENDS(MONTH), ""), "{\"id\":\"a\",\"name\":\"n\",\"pk\":\"U#a\",\"sk\":\"U\"}",
         USER(ENDS(MONTH), ",\"name\":\"n\"")},
        {BATCH, USER(ENDS(MONTH), ""), USER(ENDS(LATER), ""), USER(ENDS(MONTH), "")},
        // None is under way.
        {UPDATE, USER("", ""), USER(ENDS(LATER), ""), USER(ENDS(LATER), "")},
        {UPDATE, USER(ENDS("null"), ""), USER(ENDS(LATER), ""), USER(ENDS(LATER), "")},
    };
    RUN(source, rows);
    struct guarded guarded;
    guarded_init(&guarded, source);
    assert_string_equal(derived(&guarded, false, USER(ENDS(MONTH), ""), USER(ENDS(LATER), "")),
                        USER(ENDS(LATER), ""));
    guarded_release(&guarded);
}

// ---- What is there already, and what the server does ------------------------------------------

static void test_stored(void **state)
{
    (void)state;
    static const char twice[] =
        ENTITY("  n number? = m * 2 always\n  m number?\n  s string?  matches \"[a-z]+\"\n");
    static const struct {
        const char *item;
        const char *expected; // of the only violation, or NULL
    } rows[] = {
        {"{\"id\":\"a\",\"m\":1,\"n\":2}", NULL},
        {"{\"id\":\"a\",\"m\":1,\"n\":3}", "2 (it is computed)"},
        {"{\"id\":\"a\",\"m\":1}", "2 (it is computed)"},
        {"{\"id\":\"a\",\"n\":2}", "nothing (it is computed)"},
        {"{\"id\":\"a\",\"n\":null}", NULL},
        {"{\"id\":\"a\",\"s\":\"b\"}", NULL},
        {"{\"id\":\"a\",\"s\":\"B\"}", "text that matches \"[a-z]+\""},
    };
    struct guarded guarded;
    guarded_init(&guarded, twice);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct model_violations *found = model_guard_judge(
            guarded.guard, &guarded.arena, item_of(&guarded.fixture.arena, rows[i].item));
        assert_non_null(found);
        if (found->count != (rows[i].expected != NULL) ||
            (found->count > 0 && !slice_is(found->list[0].expected, rows[i].expected)))
            fail_msg("row %zu: %zu, %.*s", i, (size_t)found->count,
                     found->count > 0 ? (int)found->list[0].expected.len : 0,
                     found->count > 0 ? (const char *)found->list[0].expected.ptr : "");
    }
    guarded_release(&guarded);
}

static void test_server(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, ENTITY("  s string\n  moves s: \"a\" -> \"b\"\n"));
    assert_string_equal(derived(&guarded, true, NULL, "{\"id\":\"x\",\"s\":\"b\"}"),
                        "{\"id\":\"x\",\"s\":\"b\"}");
    assert_string_equal(
        written(&guarded, TOUCH, "{\"id\":\"x\",\"s\":\"b\"}", "{\"id\":\"x\",\"s\":\"c\"}"),
        "{\"id\":\"x\",\"s\":\"c\"}");
    guarded_release(&guarded);
}

// ---- Memory -----------------------------------------------------------------------------------

// Whatever allocation fails, the write is refused for that, and nothing is judged by halves.
static void test_memory(void **state)
{
    (void)state;
    static const char source[] =
        ENTITY("  a string = \"<{id} {b}>\" always\n"
               "  b string = \"[{id}]\" always\n"
               "  n number?\n  ends timestamp?\n  most number?\n"
               "  check n + most > 1\n") "quota Thing.n at most most + 1 per month resets ends\n";
    struct guarded guarded;
    guarded_init(&guarded, source);
    struct slice item = item_of(&guarded.fixture.arena, "{\"id\":\"x\",\"most\":2,\"n\":2}");
    const char *found = NULL;
    unsigned failed = 0;
    for (size_t limit = 1; found == NULL && limit < FIXTURE_MEMORY; limit += 16) {
        struct arena small;
        arena_init(&small, limit);
        error_init(&guarded.error, &guarded.fixture.arena);
        guarded.write = (struct guard_write){.is_put = true,
                                             .before = VALUE_NONE,
                                             .env = &guarded.fixture.env,
                                             .arena = &small,
                                             .after = item};
        if (guarded.guard->ops->write(guarded.guard, &guarded.write, &guarded.error))
            found = text_of(&guarded.fixture.arena, guarded.write.after);
        else if (guarded.error.code == ERR_VALIDATION)
            fail_msg("%zu bytes: %s", limit, guarded.error.message);
        else
            failed++;
        arena_release(&small);
    }
    assert_true(failed > 1);
    assert_string_equal(found, "{\"a\":\"<x [x]>\",\"b\":\"[x]\",\"ends\":" MONTH
                               ",\"id\":\"x\",\"most\":2,\"n\":2}");
    guarded_release(&guarded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),     cmocka_unit_test(test_chains),
        cmocka_unit_test(test_moments),   cmocka_unit_test(test_who),
        cmocka_unit_test(test_undeleted), cmocka_unit_test(test_appended),
        cmocka_unit_test(test_unraised),  cmocka_unit_test(test_counted),
        cmocka_unit_test(test_stored),    cmocka_unit_test(test_server),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_both),
        cmocka_unit_test(test_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
