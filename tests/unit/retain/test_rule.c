// What rules say of an item: times of all kinds, and the groups of `keep` against a naive
// recomputation, in one pass and in many.
#include "guard/guard_support.h"

#include "retain/retain.h"

static const char source[] = "table jobs { key id }\n"
                             "entity Job {\n"
                             "  id string\n"
                             "  at any?\n"
                             "  gone timestamp?\n"
                             "  owner string?\n"
                             "  kind any?\n"
                             "  number any?\n"
                             "}\n"
                             "entity Other { id string  other string }\n";

static const struct model_attribute *attribute(struct fixture *fixture, const char *name)
{
    const struct model_attribute *found =
        model_entity_attribute(&fixture->table->entities[0], slice_str(name));
    assert_non_null(found);
    return found;
}

// ---- retain -----------------------------------------------------------------------------------

// The clock of the fixture: 1794800400 s, which is 2026-11-16T03:40:00Z.
struct due_case {
    const char *at; // as JSON
    uint64_t seconds;
    bool due;
};

static const struct due_case due_cases[] = {
    {"\"2026-11-16T03:39:00Z\"", 60, true},
    {"\"2026-11-16T03:39:01Z\"", 60, false},
    {"\"2026-11-16T03:39:00.999Z\"", 60, true},
    {"\"2026-11-16T04:39:00+01:00\"", 60, true},
    {"\"2026-11-16T04:39:01+01:00\"", 60, false},
    {"\"2026-11-15\"", 86400, true},
    {"\"2026-11-16\"", 86400, false},
    {"\"2026-11-16\"", 13200, true}, // its midnight
    {"\"2026-11-16\"", 13201, false},
    {"1794800340", 60, true},
    {"1794800341", 60, false},
    {"1794800340.5", 60, true},
    {"1794800400", 0, true},
    {"1794800401", 0, false},     // in the future
    {"1794800340000", 60, false}, // milliseconds
    {"-62135596801", 60, false},  // no time
    {"1e60", 60, false},
    {"\"1794800340\"", 60, false},
    {"\"yesterday\"", 0, false},
    {"null", 0, false},
    {"true", 0, false},
    {"[1794800340]", 0, false},
};

static void test_due(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < COUNT_OF(due_cases); i++) {
        struct model_retain retain = {.entity = &fixture.table->entities[0],
                                      .after = attribute(&fixture, "at"),
                                      .seconds = due_cases[i].seconds};
        struct retain_rule rule = {.entity = retain.entity, .retain = &retain};
        const char *text =
            arena_printf(&fixture.arena, "{\"id\":\"a\",\"at\":%s}", due_cases[i].at);
        enum retain_answer answer =
            retain_due(&rule, item_of(&fixture.arena, text), &fixture.env, &fixture.arena);
        if (answer != (due_cases[i].due ? RETAIN_YES : RETAIN_NO))
            fail_msg("%s for %llu s: %d", text, (unsigned long long)due_cases[i].seconds, answer);
    }
    fixture_release(&fixture);
}

static void test_due_never(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, source);
    struct model_retain retain = {.entity = &fixture.table->entities[0],
                                  .after = attribute(&fixture, "at"),
                                  .seconds = UINT64_MAX};
    struct retain_rule rule = {.entity = retain.entity, .retain = &retain};
    assert_int_equal(retain_due(&rule, item_of(&fixture.arena, "{\"id\":\"a\",\"at\":0}"),
                                &fixture.env, &fixture.arena),
                     RETAIN_NO);
    assert_int_equal(
        retain_due(&rule, item_of(&fixture.arena, "{\"id\":\"a\"}"), &fixture.env, &fixture.arena),
        RETAIN_NO);
    assert_true(retain_concerns(&rule, item_of(&fixture.arena, "{\"id\":\"a\",\"at\":0}")));
    assert_false(retain_concerns(&rule, item_of(&fixture.arena, "{\"id\":\"a\",\"other\":\"b\"}")));
    fixture_release(&fixture);
}

// ---- keep -------------------------------------------------------------------------------------

static void test_place(void **state)
{
    static const struct {
        const char *item;
        bool is;
    } cases[] = {
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":5}", true},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1}", false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":null}", false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":true}", false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":[1]}", false},
        {"{\"id\":\"a\",\"kind\":1,\"number\":5}", false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":null,\"number\":5}", false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":5,\"gone\":\"2026-11-16T00:00:00Z\"}",
         false},
        {"{\"id\":\"a\",\"owner\":\"o\",\"kind\":1,\"number\":5,\"gone\":null}", true},
    };
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, source);
    struct model_entity entity = fixture.table->entities[0];
    entity.softdelete = attribute(&fixture, "gone");
    const struct model_attribute *per[] = {attribute(&fixture, "owner"),
                                           attribute(&fixture, "kind")};
    struct model_keep keep = {
        .entity = &entity, .by = attribute(&fixture, "number"), .per_count = 2, .per = per};
    struct retain_rule rule = {.entity = &entity, .keep = &keep};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice group;
        struct slice rank;
        enum retain_answer answer = retain_place(&rule, item_of(&fixture.arena, cases[i].item),
                                                 &fixture.arena, &group, &rank);
        if (answer != (cases[i].is ? RETAIN_YES : RETAIN_NO))
            fail_msg("%s: %d", cases[i].item, answer);
    }
    fixture_release(&fixture);
}

// The items of a tenant are groups of their own.
static void test_tenants(void **state)
{
    struct fixture fixture;
    struct slice groups[2];
    struct slice rank;
    (void)state;
    fixture_init(&fixture, source);
    struct model_entity entity = fixture.table->entities[0];
    const struct model_attribute *per[] = {attribute(&fixture, "kind")};
    struct model_keep keep = {
        .entity = &entity, .by = attribute(&fixture, "number"), .per_count = 1, .per = per};
    struct retain_rule rule = {.entity = &entity, .keep = &keep};
    for (unsigned divided = 0; divided < 2; divided++) {
        entity.tenant = divided ? attribute(&fixture, "owner") : NULL;
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(
                retain_place(
                    &rule,
                    item_of(&fixture.arena, i == 0 ? "{\"id\":\"a\",\"owner\":\"x\",\"kind\":1,"
                                                     "\"number\":5}"
                                                   : "{\"id\":\"b\",\"owner\":\"y\",\"kind\":1,"
                                                     "\"number\":6}"),
                    &fixture.arena, &groups[i], &rank),
                RETAIN_YES);
        assert_int_equal(slice_equal(groups[0], groups[1]), !divided);
    }
    fixture_release(&fixture);
}

// Numbers by value, text by bytes.
static void test_rank(void **state)
{
    static const char *const ascending[] = {"-1e20", "-5",  "-4.5", "0",     "1e-9",   "9",
                                            "10",    "1e3", "\"\"", "\"1\"", "\"10\"", "\"9\""};
    struct fixture fixture;
    struct slice before = VALUE_NONE;
    (void)state;
    fixture_init(&fixture, source);
    struct model_keep keep = {.entity = &fixture.table->entities[0],
                              .by = attribute(&fixture, "number")};
    struct retain_rule rule = {.entity = keep.entity, .keep = &keep};
    for (size_t i = 0; i < COUNT_OF(ascending); i++) {
        struct slice group;
        struct slice rank;
        const char *text =
            arena_printf(&fixture.arena, "{\"id\":\"a\",\"number\":%s}", ascending[i]);
        assert_int_equal(
            retain_place(&rule, item_of(&fixture.arena, text), &fixture.arena, &group, &rank),
            RETAIN_YES);
        if (i > 0 && slice_compare(before, rank) >= 0)
            fail_msg("%s is not above the one before it", ascending[i]);
        before = rank;
    }
    fixture_release(&fixture);
}

// ---- Groups -----------------------------------------------------------------------------------

enum { ITEMS = 3000, GROUPS = 40 };

struct member {
    unsigned group;
    unsigned rank;
    unsigned key;
    bool found;
    bool surplus; // by the naive way
};

static unsigned random_of(uint64_t *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % below;
}

static void compute(struct member *members, uint64_t most)
{
    for (size_t i = 0; i < ITEMS; i++) {
        uint64_t above = 0;
        for (size_t j = 0; j < ITEMS; j++)
            above += members[j].group == members[i].group &&
                     (members[j].rank > members[i].rank ||
                      (members[j].rank == members[i].rank && members[j].key > members[i].key));
        members[i].surplus = above >= most;
        members[i].found = false;
    }
}

static struct slice bytes_of(char out[16], const char *form, unsigned number)
{
    (void)snprintf(out, 16, form, number);
    return slice_str(out);
}

static void pass(struct keep_groups *groups, struct member *members, struct error *error)
{
    for (size_t i = 0; i < ITEMS; i++) {
        char name[16];
        char rank[16];
        char key[16];
        bool surplus;
        struct slice gone;
        assert_true(groups_add(groups, bytes_of(name, "g%u", members[i].group),
                               bytes_of(rank, "%04u", members[i].rank),
                               bytes_of(key, "k%06u", members[i].key), &surplus, &gone, error));
        if (!surplus)
            continue;
        char text[16] = {0};
        memcpy(text, gone.ptr, gone.len);
        unsigned number = (unsigned)strtoul(text + 1, NULL, 10);
        assert_true(number < ITEMS);
        const struct keep_group *group = groups_find(groups, slice_str(name));
        members[number].found = true;
        // Whoever is surplus has its witnesses, unless the group was dropped just now.
        for (size_t j = 0; group != NULL && j < group->count; j++)
            assert_true(slice_compare(group->entries[j].key, gone) != 0);
    }
}

static void test_groups(void **state)
{
    struct member *members = test_calloc(ITEMS, sizeof(*members));
    struct arena arena;
    struct error error;
    uint64_t seed = 20261118;
    (void)state;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    for (unsigned round = 0; round < 12; round++) {
        uint64_t most = round == 0 ? 1 : 1 + random_of(&seed, 60);
        size_t memory = round % 3 == 0 ? SIZE_MAX : 20000 + random_of(&seed, 60000);
        for (unsigned i = 0; i < ITEMS; i++)
            members[i] = (struct member){.group = random_of(&seed, 1 + random_of(&seed, GROUPS)),
                                         .rank = random_of(&seed, 500),
                                         .key = i};
        compute(members, most);
        struct keep_groups *groups = groups_new(most, memory, seed);
        pass(groups, members, &error);
        while (groups_more(groups)) {
            groups_next(groups);
            pass(groups, members, &error);
        }
        uint64_t count = 0;
        for (size_t i = 0; i < ITEMS; i++) {
            if (members[i].found != members[i].surplus)
                fail_msg("round %u: item %zu is %ssurplus", round, i,
                         members[i].surplus ? "" : "not ");
            count += members[i].surplus;
        }
        assert_int_equal(groups_surplus(groups), count);
        if (memory != SIZE_MAX && most > 20)
            assert_true(groups_passes(groups) > 1);
        groups_free(groups);
    }
    arena_release(&arena);
    test_free(members);
}

static void test_group_too_large(void **state)
{
    struct arena arena;
    struct error error;
    bool surplus;
    struct slice gone;
    bool ok = true;
    (void)state;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    struct keep_groups *groups = groups_new(1000, 10000, 1);
    for (unsigned i = 0; ok && i < 1000; i++) {
        char key[16];
        ok = groups_add(groups, SLICE_LIT("g"), SLICE_LIT("r"), bytes_of(key, "k%06u", i), &surplus,
                        &gone, &error);
        if (groups_find(groups, SLICE_LIT("g")) == NULL)
            break; // it has its turn in another pass
    }
    while (ok && groups_more(groups)) {
        groups_next(groups);
        for (unsigned i = 0; ok && i < 1000; i++) {
            char key[16];
            ok = groups_add(groups, SLICE_LIT("g"), SLICE_LIT("r"), bytes_of(key, "k%06u", i),
                            &surplus, &gone, &error);
        }
    }
    assert_false(ok);
    assert_non_null(strstr(error.message, "do not fit"));
    groups_free(groups);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due),
        cmocka_unit_test(test_due_never),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_tenants),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_group_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
