// What two models of a table differ in, in words.
#include "guard/guard_support.h"

#include "diff/diff.h"

#define TABLE "table shop {\n key PK, SK\n index GSI1 (GSI1PK, GSI1SK)\n type kind\n"
#define USER  "entity User {\n PK = \"USER#{userId}\" SK = \"META\"\n userId string\n"

static const char base[] = TABLE "}\n" USER " email string unique\n}\n"
                                 "access one(userId) = one User\n";

struct row {
    const char *after;
    const char *texts; // one a line
};

static const char *diff_text(struct arena *arena, const char *before, const char *after)
{
    struct fixture a;
    struct fixture b;
    struct buf text;
    struct model_changes *changes = arena_alloc(arena, sizeof(*changes));
    assert_non_null(changes);
    fixture_init(&a, before);
    fixture_init(&b, after);
    model_changes_init(changes, arena);
    model_diff(a.table, b.table, changes);
    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < changes->count; i++) {
        buf_printf(&text, "%s ", model_change_name(changes->list[i].kind));
        model_change_text(&changes->list[i], &text);
        buf_text(&text, "\n");
    }
    const char *out = arena_printf(arena, "%.*s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    fixture_release(&a);
    fixture_release(&b);
    return out;
}

static void test_changes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {base, ""},
        {TABLE " guard warn\n}\n" USER " email string unique\n}\naccess one(userId) = one User\n",
         "MODE mode guard is set: enforce becomes warn\n"
         "ENTITY_CHANGED entity User changes: guard enforce, unknown warn becomes guard warn, "
         "unknown warn\n"},
        {TABLE "}\n" USER " email email? lower = \"x@y.de\" on update\n}\n"
               "access one(userId) = one User\n",
         "ATTRIBUTE_CHANGED attribute User.email changes: string unique becomes email? lower = "
         "\"x@y.de\" on update\n"},
        {TABLE "}\n" USER
               " email string unique\n GSI1 = \"MAIL\", email\n at epoch = now() + 7d\n}\n"
               "access one(userId) = one User\n",
         "TEMPLATE_ADDED key User.GSI1PK is new: \"MAIL\"\n"
         "TEMPLATE_ADDED key User.GSI1SK is new: email\n"
         "ATTRIBUTE_ADDED attribute User.at is new: epoch = now() + 1w\n"},
        {TABLE "}\n" USER " email string unique\n append only\n unique (userId, email)\n"
               " check email != userId \"no\"\n moves state: \"a\"  -> \"b\"\n state string?\n}\n"
               "access one(userId) = one User\n",
         "CLAUSE_ADDED clause User is new: append only\n"
         "CLAUSE_ADDED clause User is new: unique (userId, email)\n"
         "CLAUSE_ADDED clause User is new: check email != userId \"no\"\n"
         "CLAUSE_ADDED clause User is new: moves state: \"a\" -> \"b\"\n"
         "ATTRIBUTE_ADDED attribute User.state is new: string?\n"},
        {TABLE "}\nentity Person as \"User\" {\n PK = \"USER#{userId}\" SK = \"META\"\n userId "
               "string\n}\n",
         "ENTITY_ADDED entity Person is new\n"
         "ENTITY_REMOVED entity User goes\n"
         "PATTERN_REMOVED pattern one goes: (userId string) = one User where PK = "
         "\"USER#{userId}\" and SK = \"META\"\n"},
    };
    struct arena arena;
    arena_init(&arena, FIXTURE_MEMORY);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(diff_text(&arena, base, rows[i].after), rows[i].texts);
    arena_release(&arena);
}

// A named type keeps its name when its members change, and recursive types come to an end.
static void test_types(void **state)
{
    (void)state;
    static const char format[] =
        TABLE "}\ntype Tree { name: string%s children: Tree[]? }\n" USER " tree Tree?\n}\n";
    char before[512];
    char after[512];
    struct arena arena;
    arena_init(&arena, FIXTURE_MEMORY);
    (void)snprintf(before, sizeof(before), format, "");
    (void)snprintf(after, sizeof(after), format, "(1..9)");
    assert_string_equal(diff_text(&arena, before, before), "");
    assert_string_equal(diff_text(&arena, before, after),
                        "ATTRIBUTE_CHANGED attribute User.tree changes: Tree? becomes Tree? (with "
                        "other members)\n");
    arena_release(&arena);
}

static void test_first_model(void **state)
{
    (void)state;
    struct fixture fixture;
    struct model_changes *changes;
    fixture_init(&fixture, base);
    changes = arena_alloc(&fixture.arena, sizeof(*changes));
    assert_non_null(changes);
    model_changes_init(changes, &fixture.arena);
    model_diff(NULL, fixture.table, changes);
    assert_int_equal(changes->count, 1);
    assert_int_equal(changes->list[0].kind, MODEL_CHANGE_MODEL_ATTACHED);
    // What does not fit any more is counted.
    for (size_t i = 0; i < MODEL_CHANGES_MAX; i++)
        model_changes_add(changes, (struct model_change){.kind = MODEL_CHANGE_TTL});
    assert_int_equal(changes->count, MODEL_CHANGES_MAX);
    assert_int_equal(changes->lost, 1);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_first_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
