// What writes claim and give back: values of `unique`, and the words of `idempotent`.
#include "guard/guarded.h"

#include "eval/validate.h"

static const char source[] = "table things { key pk, sk  type kind }\n"
                             "idempotent Other by word for 1d\n"
                             "entity Doc {\n"
                             "  pk = \"{org}#{id}\"  sk = \"DOC\"\n"
                             "  org string\n"
                             "  id string\n"
                             "  slug string?  unique  lower, trim\n"
                             "  code number?  unique\n"
                             "}\n"
                             "entity Other {\n"
                             "  pk = \"{org}#{id}\"  sk = \"OTHER\"\n"
                             "  org string\n"
                             "  id string\n"
                             "  word string?\n"
                             "}\n"
                             "entity Step {\n"
                             "  pk = \"{org}#{id}\"  sk = \"STEP\"\n"
                             "  softdelete gone\n"
                             "  org string\n"
                             "  id string\n"
                             "  token string?\n"
                             "  name string?  unique\n"
                             "  gone timestamp?\n"
                             "}\n"
                             "retain Step for 90d after gone then delete\n"
                             "idempotent   Step\n"
                             "  by  token\n"
                             "  for 1h\n"
                             "tenant org\n";

// One rule, and no tenants.
static const char single[] = "table things { key id }\n"
                             "entity Doc {\n"
                             "  id string\n"
                             "  slug string?  unique\n"
                             "}\n";
static const char token_only[] = "table things { key id }\n"
                                 "entity Step {\n"
                                 "  id string\n"
                                 "  token string?\n"
                                 "}\n"
                                 "idempotent Step by token for 1h\n";

#define DOC(org, more)  "{\"kind\":\"Doc\",\"org\":\"" org "\",\"id\":\"1\"" more "}"
#define STEP(org, more) "{\"kind\":\"Step\",\"org\":\"" org "\",\"id\":\"1\"" more "}"
#define GONE            ",\"gone\":\"2026-11-16T03:40:00.123Z\""

enum { HOUR_MS = 3600 * 1000 };

static void assert_counts(const struct guarded *guarded, const char *found, size_t claims,
                          size_t releases)
{
    if (found[0] != '{' && strcmp(found, "nothing") != 0)
        fail_msg("%s", found);
    assert_int_equal(guarded->write.claim_count, claims);
    assert_int_equal(guarded->write.release_count, releases);
}

static void assert_bytes(struct slice found, const char *bytes, size_t len)
{
    assert_int_equal(found.len, len);
    assert_memory_equal(found.ptr, bytes, len);
}

#define ASSERT_BYTES(found, literal) assert_bytes(found, literal, sizeof(literal) - 1)

// ---- Unique values ----------------------------------------------------------------------------

static struct slice claim_of(struct guarded *guarded, const char *item)
{
    assert_counts(guarded, written(guarded, PUT, NULL, item), 1, 0);
    assert_int_equal(guarded->write.claims[0].until_ms, 0);
    return arena_copy(&guarded->fixture.arena, guarded->write.claims[0].name);
}

static void test_tenants(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, source);
    struct slice name = claim_of(&guarded, DOC("o", ",\"slug\":\" Ab \""));
    assert_true(slice_ends(name, SLICE_LIT("\x04\x01o\x04\x02"
                                           "ab")));
    ASSERT_BYTES(guarded.write.claims[0].value, "\x04\x02"
                                                "ab");
    assert_true(slice_is(guarded.write.claims[0].what, "Doc.slug"));
    assert_true(slice_equal(name, claim_of(&guarded, DOC("o", ",\"slug\":\"ab\""))));
    assert_false(slice_equal(name, claim_of(&guarded, DOC("p", ",\"slug\":\"ab\""))));
    assert_false(slice_equal(name, claim_of(&guarded, DOC("o", ",\"code\":7"))));
    assert_false(slice_equal(name, claim_of(&guarded, DOC("o", ",\"slug\":\"ac\""))));
    assert_false(slice_equal(name, claim_of(&guarded, STEP("o", ",\"name\":\"ab\""))));
    guarded_release(&guarded);
}

// Of several kinds of values, those that are text have a normal form.
static void test_forms(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, source);
    struct slice number = claim_of(&guarded, DOC("o", ",\"code\":75"));
    struct slice number_of_claim =
        arena_copy(&guarded.fixture.arena, guarded.write.claims[0].value);
    assert_int_equal(number_of_claim.ptr[0], VALUE_TAG_N);
    assert_true(slice_equal(number, claim_of(&guarded, DOC("o", ",\"code\":75.0"))));
    // What was there before the model gives back its normal form, if it is text.
    struct slice text = claim_of(&guarded, DOC("o", ",\"slug\":\"ab\""));
    const char *found = written(&guarded, UPDATE, DOC("o", ",\"slug\":\"AB\",\"sk\":\"DOC\""),
                                DOC("o", ",\"sk\":\"DOC\""));
    assert_counts(&guarded, found, 0, 1);
    assert_true(slice_equal(text, guarded.write.releases[0].name));
    found = written(&guarded, UPDATE, DOC("o", ",\"slug\":75,\"sk\":\"DOC\""),
                    DOC("o", ",\"sk\":\"DOC\""));
    assert_counts(&guarded, found, 0, 1);
    assert_true(slice_ends(guarded.write.releases[0].name, number_of_claim));
    guarded_release(&guarded);
}

static void test_changes(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, single);
    assert_int_equal(guarded.guard->claims, 1);
#define A "{\"id\":\"1\",\"slug\":\"a\"}"
#define B "{\"id\":\"1\",\"slug\":\"b\"}"
#define N "{\"id\":\"1\"}"
    assert_counts(&guarded, written(&guarded, PUT, NULL, A), 1, 0);
    assert_counts(&guarded, written(&guarded, PUT, NULL, "{\"id\":\"1\",\"slug\":\"\"}"), 1, 0);
    assert_counts(&guarded, written(&guarded, UPDATE, A, A), 0, 0);
    assert_counts(&guarded, written(&guarded, UPDATE, A, B), 1, 1);
    assert_false(slice_equal(guarded.write.claims[0].name, guarded.write.releases[0].name));
    assert_counts(&guarded, written(&guarded, UPDATE, N, B), 1, 0);
    assert_counts(&guarded, written(&guarded, UPDATE, A, N), 0, 1);
    assert_counts(&guarded, written(&guarded, UPDATE, A, NULL), 0, 1);
    assert_counts(&guarded, written(&guarded, UPDATE, A, "{\"id\":\"1\",\"slug\":null}"), 0, 1);
    assert_counts(&guarded, written(&guarded, PUT, A, B), 1, 1);
    // A touch claims what may never have been claimed.
    assert_counts(&guarded, written(&guarded, TOUCH, A, A), 1, 1);
    assert_true(slice_equal(guarded.write.claims[0].name, guarded.write.releases[0].name));
    guarded_release(&guarded);
}

// An item whose tenant changes has other claims, whatever its values are.
static void test_moved(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, source);
    const char *found = written(&guarded, UPDATE, DOC("o", ",\"slug\":\"a\",\"sk\":\"DOC\""),
                                DOC("p", ",\"slug\":\"a\",\"sk\":\"DOC\""));
    assert_counts(&guarded, found, 1, 1);
    assert_false(slice_equal(guarded.write.claims[0].name, guarded.write.releases[0].name));
    guarded_release(&guarded);
}

// ---- Repetitions ------------------------------------------------------------------------------

static void test_repeatable(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, source);
    const char *item = STEP("o", ",\"token\":\"t\",\"name\":\"n\"");
    assert_counts(&guarded, written(&guarded, PUT, NULL, item), 2, 0);
    assert_int_equal(guarded.write.claims[0].until_ms, 0);
    assert_true(slice_ends(guarded.write.claims[0].name, SLICE_LIT("\x04\x01n")));
    const struct guard_claim *claim = &guarded.write.claims[1];
    ASSERT_BYTES(claim->name, "Step\0idempotent\0\x04\x01o\x04\x01t");
    ASSERT_BYTES(claim->value, "\x04\x01t");
    assert_true(slice_is(claim->what, "Step"));
    assert_int_equal(claim->until_ms, guarded.fixture.clock.now_ms + HOUR_MS);
    // Without words there is nothing to repeat, and a deleted item does nothing.
    assert_counts(&guarded, written(&guarded, PUT, NULL, STEP("o", "")), 0, 0);
    assert_counts(&guarded, written(&guarded, PUT, NULL, STEP("o", ",\"token\":\"t\"" GONE)), 0, 0);
    assert_counts(&guarded, written(&guarded, PUT, NULL, DOC("o", "")), 0, 0);
    // An item that is there is not done again by a change to it.
    assert_counts(&guarded,
                  written(&guarded, UPDATE, STEP("o", ",\"token\":\"t\",\"sk\":\"STEP\""),
                          STEP("o", ",\"token\":\"u\",\"sk\":\"STEP\"")),
                  0, 0);
    // Of another entity, it is: what that claimed is given back.
    assert_counts(&guarded,
                  written(&guarded, PUT,
                          "{\"kind\":\"Other\",\"org\":\"o\",\"id\":\"1\",\"word\":\"w\","
                          "\"pk\":\"o#1\",\"sk\":\"OTHER\"}",
                          STEP("o", ",\"token\":\"t\"")),
                  1, 1);
    ASSERT_BYTES(guarded.write.releases[0].name, "Other\0idempotent\0\x04\x01o\x04\x01w");
    guarded_release(&guarded);
}

// Only what is done for good gives the words back.
static void test_given_back(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, token_only);
    const char *item = "{\"id\":\"1\",\"token\":\"t\"}";
    assert_int_equal(guarded.guard->claims, 1);
    assert_counts(&guarded, written(&guarded, PUT, NULL, item), 1, 0);
    ASSERT_BYTES(guarded.write.claims[0].name, "Step\0idempotent\0\x04\x01t");
    assert_counts(&guarded, written(&guarded, UPDATE, item, NULL), 0, 1);
    ASSERT_BYTES(guarded.write.releases[0].name, "Step\0idempotent\0\x04\x01t");
    assert_counts(&guarded, written(&guarded, UPDATE, "{\"id\":\"1\"}", NULL), 0, 0);
    assert_counts(&guarded, written(&guarded, TOUCH, item, item), 0, 0);
    // An item that a backfill makes is a thing of its own only if it follows from another.
    for (int derived = 0; derived < 2; derived++) {
        error_init(&guarded.error, &guarded.fixture.arena);
        guarded.write = (struct guard_write){.is_put = true,
                                             .touch = true,
                                             .derived = derived,
                                             .before = VALUE_NONE,
                                             .env = &guarded.fixture.env,
                                             .arena = &guarded.arena,
                                             .after = item_of(&guarded.fixture.arena, item)};
        assert_true(guarded.guard->ops->write(guarded.guard, &guarded.write, &guarded.error));
        assert_int_equal(guarded.write.claim_count, derived);
    }
    guarded_release(&guarded);
}

// ---- What is said -----------------------------------------------------------------------------

static const char *taken(struct guarded *guarded, const char *item)
{
    struct error error;
    assert_counts(guarded, written(guarded, PUT, NULL, item), 1, 0);
    error_init(&error, &guarded->fixture.arena);
    assert_false(guarded->guard->ops->taken(guarded->guard, &guarded->write.claims[0], &error));
    return error.message;
}

static void test_taken(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, source);
    assert_string_equal(taken(&guarded, DOC("o", ",\"code\":75")),
                        "Entity Doc: /code: expected a value that no other item has, got 75");
    assert_string_equal(taken(&guarded, STEP("o", ",\"name\":\"n\"")),
                        "Entity Step: /name: expected a value that no other item has, got \"n\"");
    assert_string_equal(taken(&guarded, STEP("o", ",\"token\":\"t\"")),
                        "Entity Step: two items of the transaction do the same, by the rule "
                        "\"idempotent Step by token for 1h\": send one of them");
    assert_string_equal(
        taken(&guarded, "{\"kind\":\"Other\",\"org\":\"o\",\"id\":\"1\",\"word\":\"w\"}"),
        "Entity Other: two items of the transaction do the same, by the rule "
        "\"idempotent Other by word for 1d\": send one of them");
    guarded_release(&guarded);
}

// ---- Memory -----------------------------------------------------------------------------------

// Whatever allocation fails, the write is refused; claims are never fewer than they have to be.
static void starve(const char *text, const char *item_text, size_t claims)
{
    struct guarded guarded;
    guarded_init(&guarded, text);
    struct slice item = item_of(&guarded.fixture.arena, item_text);
    bool done = false;
    unsigned failed = 0;
    for (size_t limit = 1; !done && limit < FIXTURE_MEMORY; limit += 16) {
        struct arena small;
        arena_init(&small, limit);
        error_init(&guarded.error, &guarded.fixture.arena);
        guarded.write = (struct guard_write){.is_put = true,
                                             .before = VALUE_NONE,
                                             .env = &guarded.fixture.env,
                                             .arena = &small,
                                             .after = item};
        done = guarded.guard->ops->write(guarded.guard, &guarded.write, &guarded.error);
        assert_int_equal(guarded.error.code != ERR_NONE, !done);
        if (done)
            assert_int_equal(guarded.write.claim_count, claims);
        for (size_t i = 0; done && i < claims; i++)
            assert_true(guarded.write.claims[i].name.len > 0);
        failed += !done;
        arena_release(&small);
    }
    assert_true(done && failed > 1);
    guarded_release(&guarded);
}

static void test_budget(void **state)
{
    (void)state;
    starve(source, STEP("o", ",\"token\":\"t\",\"name\":\"n\",\"pk\":\"o#1\",\"sk\":\"STEP\""), 2);
    starve(single, A, 1);
    starve("table things { key id }\n"
           "entity Doc {\n  id string\n  a string\n  b string  lower\n  unique (a, b)\n}\n",
           "{\"id\":\"1\",\"a\":\"x\",\"b\":\"a long text that is not in its normal FORM\"}", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tenants),    cmocka_unit_test(test_forms),
        cmocka_unit_test(test_changes),    cmocka_unit_test(test_moved),
        cmocka_unit_test(test_repeatable), cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_taken),      cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
