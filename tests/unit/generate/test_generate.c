// Names, quoting, columns, walks over a model, and what every generator promises: the same bytes
// each time, a first line that names the model, and a clean failure when the buffer is full. That
// what is generated works is tested by tests/model/generate, which uses it.
#include "generate/docs.h"
#include "generate/sql.h"
#include "generate/typescript.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char model_text[] =
    "// Users and what they do.\n"
    "table site {\n"
    "  key PK, SK\n"
    "  index GSI1 (GSI1PK, GSI1SK)\n"
    "  index byDay (day, seconds number) project keys\n"
    "  type kind\n"
    "}\n"
    "type Tree { label: string trim  b: string  a: string  children: Tree[]? }\n"
    "entity User {\n"
    "  PK = \"USER#{userId}\"  SK = \"METADATA\"\n"
    "  GSI1 = \"GOOGLE\" , \"{googleId}\"\n"
    "  userId uuid = uuid()\n"
    "  googleId string?\n"
    "  role \"user\" | \"it's\" | null\n"
    "  tree Tree?\n"
    "}\n"
    "entity Session {\n"
    "  PK = \"SESSION#{sessionId}\"  SK = \"METADATA\"\n"
    "  GSI1 = \"USER#{userId}\" , \"{day ?? '-'}#{seconds:pad(5)}\"\n"
    "  sessionId string\n"
    "  userId uuid\n"
    "  day string?\n"
    "  seconds number = 0\n"
    "}\n"
    "entity Profile { PK = \"USER#{userId}\"  SK = \"PROFILE\"  userId uuid  bio string? }\n"
    "access sessionsOf(userId) = Session via GSI1 newest first\n"
    "access userById(userId) = one User\n";

static struct model *parse(const char *text)
{
    struct arena arena;
    static struct diagnostics diagnostics;
    arena_init(&arena, 1 << 20);
    diagnostics_init(&diagnostics, &arena);
    struct model *model =
        model_parse(SLICE_LIT("some/where/site.dolmen"), slice_str(text), &diagnostics);
    if (model == NULL)
        for (size_t i = 0; i < diagnostics.count; i++)
            print_error("%u: %s\n", diagnostics.list[i].at.line, diagnostics.list[i].message);
    arena_release(&arena);
    return model;
}

static int setup(void **state)
{
    *state = parse(model_text);
    return *state == NULL;
}

static int teardown(void **state)
{
    model_release(*state);
    return 0;
}

// What a function appends, as a string that is valid until the next call.
static const char *text_of(const struct buf *buf)
{
    static char copy[1 << 16];
    assert_false(buf->failed);
    assert_true(buf->len < sizeof(copy));
    memcpy(copy, buf->ptr, buf->len);
    copy[buf->len] = 0;
    return copy;
}

static void assert_made(void (*make)(struct buf *, struct slice), const char *from, const char *to)
{
    struct buf out;
    buf_init(&out, 1 << 16);
    make(&out, slice_str(from));
    assert_string_equal(text_of(&out), to);
    buf_release(&out);
}

// ---- Text ------------------------------------------------------------------------------------

static void test_names(void **state)
{
    (void)state;
    assert_made(text_snake, "userId", "user_id");
    assert_made(text_snake, "URLPath", "url_path");
    assert_made(text_snake, "I2VJob", "i2v_job");
    assert_made(text_snake, "odd name-2", "odd_name_2");
    assert_made(text_snake, "3D", "_3d");
    assert_made(text_snake, "", "_");
    assert_made(text_upper, "albumMedia", "ALBUM_MEDIA");
    assert_made(text_pascal, "spotter-users", "SpotterUsers");
    assert_made(text_pascal, "asset_creator", "AssetCreator");
    assert_made(text_pascal, "AlbumMedia", "AlbumMedia");
    assert_made(text_camel, "jobs-by-status", "jobsByStatus");
    assert_true(text_is_word(SLICE_LIT("_a1")));
    assert_false(text_is_word(SLICE_LIT("1a")) || text_is_word(SLICE_LIT("a-b")) ||
                 text_is_word(SLICE_LIT("")));
}

static void test_strings(void **state)
{
    (void)state;
    assert_made(text_quoted, "a\"b\\c\nd\x01", "\"a\\\"b\\\\c\\nd\\u0001\"");
    assert_made(text_sql, "it's", "'it''s'");
    assert_made(text_line, "  one\n two \n", "one two");
    assert_made(typescript_class, "page", "Page_");
    assert_made(typescript_class, "user", "User");
    struct buf out;
    buf_init(&out, 1 << 16);
    text_comment(&out, "// ", SLICE_LIT("one\n\ntwo"));
    assert_string_equal(text_of(&out), "// one\n//\n// two\n");
    buf_release(&out);
}

static void test_grid(void **state)
{
    (void)state;
    struct grid grid;
    struct buf out;
    buf_init(&out, 1 << 16);
    grid_init(&grid, 2);
    grid_cell_text(&grid, "a");
    grid_cell_text(&grid, "b");
    grid_cell_text(&grid, "Gen\xc3\xa8ve");
    grid_cell_text(&grid, "x");
    grid_markdown(&grid, &out);
    assert_string_equal(text_of(&out),
                        "| a      | b   |\n| ------ | --- |\n| Gen\xc3\xa8ve | x   |\n");
    buf_clear(&out);
    grid_assignments(&grid, "  ", &out);
    assert_string_equal(text_of(&out), "  a      = b\n  Gen\xc3\xa8ve = x\n");
    grid_release(&grid);
    buf_release(&out);
}

// ---- Walks -----------------------------------------------------------------------------------

static const struct model_entity *entity(const struct model *model, const char *name)
{
    const struct model_entity *found = model_table_entity(&model->tables[0], slice_str(name));
    assert_non_null(found);
    return found;
}

static void test_walks(void **state)
{
    const struct model *model = *state;
    const struct model_entity *user = entity(model, "User");
    const struct model_entity *session = entity(model, "Session");
    struct fields fields = {0};
    fields_of_keys(&fields, session);
    assert_int_equal(fields.count, 1);
    fields_of_entry(&fields, session, &session->entries[0]);
    assert_int_equal(fields.count, 4);
    assert_true(entry_sparse(user, &user->entries[0]));
    assert_false(entry_sparse(session, &session->entries[0]));
    assert_ptr_equal(field_owner(model, SLICE_LIT("userId")), user);
    assert_ptr_equal(field_owner(model, SLICE_LIT("sessionId")), session);
    assert_null(field_owner(model, SLICE_LIT("googleId")));
    const struct model_type *role = model_entity_attribute(user, SLICE_LIT("role"))->type;
    assert_true(type_nullable(role) && type_literals(role, VALUE_S));
    assert_int_equal(type_stored(role), VALUE_S);
    const struct model_attribute *list[TYPE_FIELDS_MAX];
    assert_int_equal(type_fields(model->types[0], list), 4);
    assert_true(slice_is(list[0]->name, "label") && slice_is(list[3]->name, "children"));
    unsigned uses = uses_of_model(model, &(struct generate_options){.table = NULL});
    assert_true((uses & 1U << MODEL_FN_PAD) != 0 && (uses & 1U << MODEL_FN_SHA256) == 0);
    assert_true(slice_is(generate_stem(model), "site"));
}

static void add_name(void *context, struct slice name)
{
    buf_printf(context, "%.*s ", SLICE_FMT(name));
}

static void test_derived(void **state)
{
    struct buf out;
    buf_init(&out, 4096);
    derived_names(entity(*state, "Session"), add_name, &out);
    assert_string_equal(text_of(&out), "PK SK GSI1PK GSI1SK kind ");
    buf_clear(&out);
    derived_names(entity(*state, "Profile"), add_name, &out);
    assert_string_equal(text_of(&out), "PK SK kind ");
    buf_release(&out);
}

// ---- Generators ------------------------------------------------------------------------------

static void generate(const struct generator_file *file, const struct model *model, size_t max,
                     struct buf *out)
{
    struct generate_options options = {.table = NULL};
    buf_init(out, max);
    file->write(model, &options, out);
}

static void test_promises(void **state)
{
    size_t count = 0;
    for (const struct generator *generator = generators(); generator->name != NULL;
         generator++, count++) {
        assert_ptr_equal(generator_find(generator->name), generator);
        for (size_t i = 0; i < generator->file_count; i++) {
            struct buf one;
            struct buf other;
            generate(&generator->files[i], *state, 1 << 22, &one);
            generate(&generator->files[i], *state, 1 << 22, &other);
            assert_false(one.failed);
            assert_true(slice_equal(buf_view(&one), buf_view(&other)));
            const uint8_t *end = memchr(one.ptr, '\n', one.len);
            assert_non_null(end);
            assert_true(slice_contains(slice_of(one.ptr, (size_t)(end - one.ptr)),
                                       SLICE_LIT("Generated by dolmen from site.dolmen (sha256 ")));
            assert_int_equal(one.ptr[one.len - 1], '\n');
            size_t full = one.len;
            buf_release(&one);
            buf_release(&other);
            for (size_t max = 0; max < full; max += full / 37 + 1) {
                generate(&generator->files[i], *state, max, &one);
                assert_true(one.failed);
                buf_release(&one);
            }
        }
    }
    assert_true(count >= 7);
    assert_null(generator_find("poem"));
}

static void assert_contains(const struct model *model, const char *generator,
                            const char *const *parts)
{
    struct buf out;
    generate(&generator_find(generator)->files[0], model, 1 << 22, &out);
    for (; *parts != NULL; parts++) {
        if (!slice_contains(buf_view(&out), slice_str(*parts)))
            fail_msg("%s has no '%s'", generator, *parts);
    }
    buf_release(&out);
}

static void test_contents(void **state)
{
    assert_contains(
        *state, "docs",
        (const char *[]){
            "- **GSI1PK?**: `GOOGLE`", "USER ||--o{ SESSION : \"userId\"",
            "USER ||--o| PROFILE : \"userId\"", "uuid userId PK",
            "1. **sessionsOf**(userId): GSI1 with `GSI1PK = \"USER#{userId}\"`, newest first.",
            "| `role`     | `\"user\" \\| \"it's\" \\| null` |", NULL});
    assert_contains(
        *state, "typescript",
        (const char *[]){"role: \"user\" | \"it's\" | null;", "children?: Tree[];",
                         "GSI1SK: join((item.day ?? \"-\"), \"#\", pad(item.seconds, 5))",
                         "sessionsOf(params: { userId: string }): Pattern<Session> {",
                         "async userById(params: { userId: string }): Promise<User | undefined> {",
                         NULL});
    assert_contains(*state, "terraform",
                    (const char *[]){"resource \"aws_dynamodb_table\" \"site\" {",
                                     "    projection_type = \"KEYS_ONLY\"", NULL});
    assert_contains(
        *state, "sql",
        (const char *[]){
            "\"role\" text CHECK (\"role\" IS NULL OR (\"role\" IN ('user', 'it''s')))",
            "CREATE INDEX \"session_gsi1_idx\" ON \"session\" (\"user_id\", \"day\", \"seconds\");",
            NULL});
    assert_contains(
        *state, "c",
        (const char *[]){"    struct { size_t count; struct site_tree *items; } children;",
                         "    struct site_tree *tree;", "bool has_seconds;", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_strings),
        cmocka_unit_test(test_grid),     cmocka_unit_test(test_walks),
        cmocka_unit_test(test_derived),  cmocka_unit_test(test_promises),
        cmocka_unit_test(test_contents),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
