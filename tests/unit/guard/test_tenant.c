// Whose an item is, by its key.
#include "guard/guard_support.h"

#include "guard/guard.h"
#include "guard/tenant.h"

static const char source[] =
    "table app {\n"
    "  key PK, SK\n"
    "  index GSI1 (GSI1PK, GSI1SK)\n"
    "  index GSI2 (GSI2PK, GSI2SK)\n"
    "}\n"
    "entity Job   { PK = \"P#{t}\"  SK = \"JOB#{id}\"  t string  id string\n"
    "               GSI1 = \"T#{t}#{id}\", \"x\"  GSI2 = \"ALL\", \"{id}\" }\n"
    "entity Note  { PK = \"N#{t}#{topic}\"  SK = \"NOTE\"  t string  topic string }\n"
    "entity Wide  { PK = \"W#x#{t}#x#{b}\"  SK = \"WIDE\"  t string  b string }\n"
    "entity Safe  { PK = \"S#{escape(t)}#{b}\"  SK = \"SAFE\"  t string  b string }\n"
    "entity Bare  { PK = \"{t}\"  SK = \"BARE#{id}\"  t string  id string }\n"
    "entity Plan  { PK = \"PLAN#{plan}\"  SK = \"META\"\n shared\n plan string }\n"
    "entity Tax   { PK = \"TAX#{tax}\"  SK = \"META\"  tax string }\n"
    "entity Twin  { PK = \"D#{t}\"  SK = \"D\"  t string }\n"
    "entity Twins { PK = \"D#{b}\"  SK = \"D\"  b string }\n"
    "entity Open  { PK = \"O#{t}\"  SK = \"O\"  t string }\n"
    "entity Opens { PK = \"O#{plan}\"  SK = \"O\"\n shared\n plan string }\n"
    "entity Two   { PK = \"2#{t}{b}\"  SK = \"2\"  t string  b string }\n"
    "tenant t\n";

#define FOREIGN GUARD_FOREIGN
#define NOBODYS GUARD_NOBODYS
#define SHARED  GUARD_SHARED
#define OWN     GUARD_OWN

static const struct {
    const char *tenant;
    const char *hash;
    const char *range;
    enum guard_access access;
} cases[] = {
    {"a", "P#a", "JOB#1", OWN},
    {"b", "P#a", "JOB#1", FOREIGN},
    {"", "P#", "JOB#1", FOREIGN}, // nothing belongs to nobody in particular
    {"", "P#a", "JOB#1", FOREIGN},
    // Names that begin or end others, and that look like keys.
    {"ab", "P#a", "JOB#1", FOREIGN},
    {"a", "P#ab", "JOB#1", FOREIGN},
    {"P#a", "P#a", "JOB#1", FOREIGN},
    {"P#a", "P#P#a", "JOB#1", OWN},
    {"a#", "P#a#", "JOB#1", OWN},
    {"a", "P#a#", "JOB#1", FOREIGN},
    {"A", "P#a", "JOB#1", FOREIGN},
    // What has the key of no entity is nobody's, in whosever partition.
    {"a", "P#a", "META", NOBODYS},
    {"a", "X#a", "JOB#1", NOBODYS},
    {"a", "P", "JOB#1", NOBODYS},
    // A key that can be read in several ways is neither one's nor the other's.
    {"a", "N#a#x", "NOTE", OWN},
    {"a", "N#a#x#y", "NOTE", FOREIGN},
    {"a#x", "N#a#x#y", "NOTE", FOREIGN},
    {"a", "N#a#", "NOTE", OWN},
    {"a#", "N#a##", "NOTE", FOREIGN},
    {"a", "N#a##", "NOTE", FOREIGN},
    {"", "N##x", "NOTE", FOREIGN},
    // Also if what stands between two overlaps itself: "#x#" stands in "#x#x#" twice.
    {"p", "W#x#p#x#q", "WIDE", OWN},
    {"p", "W#x#p#x#x#q", "WIDE", FOREIGN},
    {"p#x", "W#x#p#x#x#q", "WIDE", FOREIGN},
    {"x", "W#x#x#x#q", "WIDE", FOREIGN},
    // What is escaped is clear.
    {"a#b", "S#a%23b#c", "SAFE", OWN},
    {"a", "S#a%23b#c", "SAFE", FOREIGN},
    {"a%23b", "S#a%23b#c", "SAFE", FOREIGN},
    {"a%23b", "S#a%2523b#c", "SAFE", OWN},
    {"a%2", "S#a%2#c", "SAFE", FOREIGN},
    {"a", "S#a%#c", "SAFE", FOREIGN},
    {"a", "S#a#b#c", "SAFE", FOREIGN},
    {"a", "a", "BARE#1", OWN},
    {"b", "a", "BARE#1", FOREIGN},
    {"P#a", "P#a", "BARE#1", OWN},
    {"a", "P#a", "BARE#1", FOREIGN},
    {"a", "PLAN#1", "META", SHARED},
    {"", "PLAN#1", "META", SHARED},
    {"a", "TAX#1", "META", NOBODYS},
    // Several entities can have the key: the least that one of them says.
    {"a", "D#a", "D", NOBODYS},
    {"b", "D#a", "D", FOREIGN},
    {"a", "O#a", "O", SHARED},
    {"b", "O#a", "O", FOREIGN},
    // Nobody knows where one ends and the next begins.
    {"a", "2#ab", "2", FOREIGN},
};

static struct slice key_of(struct arena *arena, const char *hash, const char *range)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "{\"PK\":\"%s\",\"SK\":\"%s\",\"t\":\"z\"}", hash, range);
    return item_of(arena, text);
}

static void test_access(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum guard_access access =
            tenant_access(fixture.table, slice_str(cases[i].tenant),
                          key_of(&fixture.arena, cases[i].hash, cases[i].range));
        if (access != cases[i].access)
            fail_msg("tenant %s, key %s %s: %d instead of %d", cases[i].tenant, cases[i].hash,
                     cases[i].range, access, cases[i].access);
    }
    assert_int_equal(
        tenant_access(fixture.table, SLICE_LIT("a"), item_of(&fixture.arena, "{\"t\":\"a\"}")),
        GUARD_NOBODYS);
    fixture_release(&fixture);
}

// The proof in tenant.c, tried: whatever tenant and topic are made of, only the tenant is told that
// the key is its own.
static void test_no_collisions(void **state)
{
    (void)state;
    struct fixture fixture;
    char names[85][5] = {""};
    size_t count = 1;
    fixture_init(&fixture, source);
    for (size_t from = 0; from < 21; from++) // up to three characters of these
        for (size_t c = 0; c < 4; c++) {
            size_t len = strlen(names[from]);
            memcpy(names[count], names[from], len);
            names[count++][len] = "a#x%"[c];
        }
    assert_int_equal(count, 85);
    for (size_t owner = 0; owner < count; owner++) {
        for (size_t topic = 0; topic < count; topic += 3) {
            char hash[64];
            (void)snprintf(hash, sizeof(hash), "W#x#%.4s#x#%.4s", names[owner], names[topic]);
            struct slice key = key_of(&fixture.arena, hash, "WIDE");
            for (size_t other = 0; other < count; other++)
                assert_true(other == owner || tenant_access(fixture.table, slice_str(names[other]),
                                                            key) == GUARD_FOREIGN);
        }
    }
    fixture_release(&fixture);
}

static bool reaches(const struct fixture *fixture, const char *tenant, const char *index,
                    const char *hash)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "{\"h\":\"%s\"}", hash);
    struct slice value =
        value_get(item_of((struct arena *)(uintptr_t)&fixture->arena, text), SLICE_LIT("h"));
    return tenant_reaches(
        fixture->table, slice_str(tenant),
        index == NULL ? NULL : model_table_index(fixture->table, slice_str(index)), &value);
}

static void test_partitions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    assert_true(reaches(&fixture, "a", NULL, "P#a"));
    assert_false(reaches(&fixture, "a", NULL, "P#b"));
    assert_false(reaches(&fixture, "a", NULL, "TAX#1"));
    assert_true(reaches(&fixture, "a", NULL, "PLAN#1"));
    assert_true(reaches(&fixture, "TAX#1", NULL, "TAX#1")); // by Bare
    assert_false(reaches(&fixture, "a", NULL, "N#a#x#y"));
    assert_true(reaches(&fixture, "a", "GSI1", "T#a#1"));
    assert_false(reaches(&fixture, "a", "GSI1", "T#b#1"));
    // An entry that may be the tenant's is looked at: its own key tells.
    assert_true(reaches(&fixture, "a", "GSI1", "T#a#1#2"));
    assert_true(reaches(&fixture, "a", "GSI2", "ALL"));
    fixture_release(&fixture);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char text[] =
        "table num { key PK number, SK }\n"
        "entity Job  { PK = \"{t}\"  SK = \"JOB#{id}\"  t integer  id string }\n"
        "tenant t\n";
    static const char padded[] = "table num { key PK, SK }\n"
                                 "entity Job  { PK = \"P#{t}\"  SK = \"JOB#{id}\"  t integer  id "
                                 "string }\n"
                                 "tenant t\n";
    struct fixture fixture;
    fixture_init(&fixture, text);
    struct slice key = item_of(&fixture.arena, "{\"PK\":12,\"SK\":\"JOB#1\"}");
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("12"), key), OWN);
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("1"), key), FOREIGN);
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("x"), key), FOREIGN);
    struct slice item = item_of(&fixture.arena, "{\"id\":\"1\"}");
    assert_true(tenant_complete(fixture.table, SLICE_LIT("12"), &fixture.arena, &item));
    assert_true(slice_equal(item, item_of(&fixture.arena, "{\"id\":\"1\",\"t\":12}")));
    fixture_release(&fixture);
    fixture_init(&fixture, padded);
    key = item_of(&fixture.arena, "{\"PK\":\"P#12\",\"SK\":\"JOB#1\"}");
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("12"), key), OWN);
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("2"), key), FOREIGN);
    fixture_release(&fixture);
}

static void test_native_keys(void **state)
{
    (void)state;
    static const char text[] = "table num { key owner, SK }\n"
                               "entity Job  { SK = \"JOB#{id}\"  owner string  id string }\n"
                               "tenant owner\n";
    struct fixture fixture;
    fixture_init(&fixture, text);
    struct slice key = item_of(&fixture.arena, "{\"owner\":\"a\",\"SK\":\"JOB#1\"}");
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("a"), key), OWN);
    assert_int_equal(tenant_access(fixture.table, SLICE_LIT("b"), key), FOREIGN);
    fixture_release(&fixture);
}

static void test_complete(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        const char *completed;
    } rows[] = {
        {"{\"id\":\"1\"}", "{\"id\":\"1\",\"t\":\"a\"}"},
        {"{\"id\":\"1\",\"t\":\"b\"}", "{\"id\":\"1\",\"t\":\"b\"}"},
        {"{\"PK\":\"P#b\",\"SK\":\"JOB#1\"}", "{\"PK\":\"P#b\",\"SK\":\"JOB#1\"}"},
        {"{}", "{\"t\":\"a\"}"},
    };
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slice item = item_of(&fixture.arena, rows[i].item);
        assert_true(tenant_complete(fixture.table, SLICE_LIT("a"), &fixture.arena, &item));
        assert_true(slice_equal(item, item_of(&fixture.arena, rows[i].completed)));
    }
    struct arena none;
    arena_init(&none, 16);
    struct slice item = item_of(&fixture.arena, "{\"id\":\"1\"}");
    assert_false(tenant_complete(fixture.table, SLICE_LIT("a"), &none, &item));
    arena_release(&none);
    fixture_release(&fixture);
}

static void test_guard(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    struct guard *guard = model_guard_new(fixture.model, fixture.table);
    const struct write_origin a = {.tenant = SLICE_LIT("a"), .bound = true};
    const struct write_origin unbound = {.tenant = SLICE_LIT("b")};
    struct slice key = key_of(&fixture.arena, "P#a", "JOB#1");
    struct slice other = key_of(&fixture.arena, "P#b", "JOB#1");
    assert_true(guard->tenants);
    assert_int_equal(guard_access(guard, &a, key), OWN);
    assert_int_equal(guard_access(guard, &a, other), FOREIGN);
    assert_int_equal(guard_access(guard, &unbound, other), OWN);
    assert_int_equal(guard_access(guard, NULL, other), OWN);
    assert_int_equal(guard_access(NULL, &a, key), NOBODYS);
    assert_false(guard_shows(NULL, &a, key));
    guard_release(guard);
    fixture_release(&fixture);
    fixture_init(&fixture, "table xxx { key k }\nentity E { k = \"{a}\" a string }\n");
    guard = model_guard_new(fixture.model, fixture.table);
    assert_false(guard->tenants);
    assert_false(guard_shows(guard, &a, item_of(&fixture.arena, "{\"k\":\"a\"}")));
    guard_release(guard);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access),      cmocka_unit_test(test_no_collisions),
        cmocka_unit_test(test_partitions),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_native_keys), cmocka_unit_test(test_complete),
        cmocka_unit_test(test_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
