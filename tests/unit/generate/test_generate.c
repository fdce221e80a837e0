// Formats, names, quoting, columns, sections of run-times, walks over a model, and what every
// generator promises: the same bytes each time, a first line that names the model, and a clean
// failure when the buffer is full. That what is generated works is tested by tests/model/generate,
// which uses it.
#include "generate/docs.h"
#include "generate/runtime.h"
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
    "  index byDay (day, seconds number) project keys for all\n"
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

// A text as a string that is valid until the next call.
static const char *string_of(struct slice text)
{
    static char copy[1 << 16];
    assert_true(text.len < sizeof(copy));
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

struct fixture {
    struct writer w;
    struct arena arena;
    struct generate_options options;
    struct buf out;
};

static struct writer *begin(struct fixture *f, const struct model *model)
{
    *f = (struct fixture){.w = {.model = model}};
    f->w.options = &f->options;
    f->w.out = &f->out;
    buf_init(&f->out, 1 << 20);
    arena_init(&f->arena, 1 << 20);
    f->w.arena = &f->arena;
    return &f->w;
}

// What was written since the beginning, or since the last time.
static void assert_written(struct fixture *f, const char *text)
{
    assert_false(f->out.failed);
    assert_string_equal(string_of(buf_view(&f->out)), text);
    buf_clear(&f->out);
}

static void end(struct fixture *f)
{
    arena_release(&f->arena);
    buf_release(&f->out);
}

static void assert_made(struct slice (*make)(struct writer *, struct slice), const char *from,
                        const char *to)
{
    struct fixture f;
    assert_string_equal(string_of(make(begin(&f, NULL), slice_str(from))), to);
    end(&f);
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

static void test_alike(void **state)
{
    (void)state;
    assert_true(text_alike(SLICE_LIT("userId"), SLICE_LIT("USER_ID")));
    assert_true(text_alike(SLICE_LIT(""), SLICE_LIT("-")));
    assert_false(text_alike(SLICE_LIT("userId"), SLICE_LIT("userid")));
    assert_false(text_alike(SLICE_LIT("user"), SLICE_LIT("userId")));
}

static void test_strings(void **state)
{
    (void)state;
    struct fixture f;
    struct writer *w = begin(&f, NULL);
    assert_made(text_line, "  one\n two \n", "one two");
    PUT(w, "%q", SLICE_LIT("a\"b\\c\nd\x01"));
    assert_written(&f, "\"a\\\"b\\\\c\\nd\\u0001\"");
    PUT(w, "%s|%%|%q", text_doubled(w, '\'', SLICE_LIT("it's")), SLICE_LIT(""));
    assert_written(&f, "'it''s'|%|\"\"");
    PUT(w, "%s", text_escaped(w, "|*", SLICE_LIT("a|b*c")));
    assert_written(&f, "a\\|b\\*c");
    struct slice list = {NULL, 0};
    text_add(w, &list, ", ", SLICE_LIT("a"));
    text_add(w, &list, ", ", TEXT(w, "%s%s", SLICE_LIT("b"), text_u64(w, 12)));
    assert_string_equal(string_of(list), "a, b12");
    text_comment(&f.out, "// ", SLICE_LIT("one\n\ntwo"));
    assert_written(&f, "// one\n//\n// two\n");
    end(&f);
}

static void add_cells(struct grid *grid, struct writer *w)
{
    grid_init(grid, w, 2);
    grid_cell(grid, SLICE_LIT("a"));
    grid_cell(grid, SLICE_LIT("b"));
    grid_cell(grid, SLICE_LIT("Gen\xc3\xa8ve"));
    grid_cell(grid, SLICE_LIT("x"));
}

static void test_grid(void **state)
{
    (void)state;
    struct grid grid;
    struct fixture f;
    struct writer *w = begin(&f, NULL);
    add_cells(&grid, w);
    grid_markdown(&grid);
    assert_written(&f, "| a      | b   |\n| ------ | --- |\n| Gen\xc3\xa8ve | x   |\n");
    add_cells(&grid, w);
    grid_assignments(&grid, "  ");
    assert_written(&f, "  a      = b\n  Gen\xc3\xa8ve = x\n");
    end(&f);
}

// ---- Run-times -------------------------------------------------------------------------------

static void test_runtime(void **state)
{
    (void)state;
    static const char file[] = "not written\n//# one\nA and B\n//# -\nneither\n//# two one zero\n";
    struct fixture f;
    struct runtime_section section;
    const char *at = file;
    begin(&f, NULL);
    const struct runtime_word words[] = {
        {"A", SLICE_LIT("Ann")}, {"B", SLICE_LIT("Bob")}, {NULL, {NULL, 0}}};
    runtime_write(&f.out, file, "one", words);
    assert_written(&f, "Ann and Bob\n");
    runtime_write(&f.out, file, "one", NULL);
    assert_written(&f, "A and B\n");
    assert_true(runtime_next(&at, &section) && runtime_next(&at, &section));
    assert_true(runtime_next(&at, &section));
    assert_true(slice_is(section.name, "two") && slice_is(section.needs, " one zero"));
    assert_int_equal(section.text.len, 0);
    assert_false(runtime_next(&at, &section));
    end(&f);
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
    assert_true(slice_is(text_stem(model), "site"));
}

static void test_next(void **state)
{
    struct fixture f;
    const struct model *model = *state;
    struct writer *w = begin(&f, model);
    const struct model_entity *last = NULL;
    size_t count = 0;
    for (const struct model_entity *one = NULL; (one = next_entity(w, one)) != NULL; count++)
        last = one;
    assert_int_equal(count, 3);
    assert_true(slice_is(last->name, "Profile"));
    f.w.only = &model->tables[1]; // there is none
    assert_null(next_table(w, NULL));
    assert_null(next_entity(w, NULL));
    end(&f);
}

static void assert_derived(const struct model_entity *entity, const char *names)
{
    struct fixture f;
    struct slice list[DERIVED_MAX];
    size_t count = derived_names(entity, list);
    struct writer *w = begin(&f, NULL);
    for (size_t i = 0; i < count; i++)
        PUT(w, "%s ", list[i]);
    assert_written(&f, names);
    end(&f);
}

static void test_derived(void **state)
{
    assert_derived(entity(*state, "Session"), "PK SK GSI1PK GSI1SK kind ");
    assert_derived(entity(*state, "Profile"), "PK SK kind ");
    struct key_names names;
    key_names(((const struct model *)*state)->tables, &names);
    assert_int_equal(names.count, 6);
    assert_true(slice_is(names.list[5]->name, "seconds"));
}

// ---- Generators ------------------------------------------------------------------------------

static void make(const struct generator_file *file, const struct model *model, size_t max,
                 struct buf *out)
{
    struct generate_options options = {.table = NULL};
    buf_init(out, max);
    generate(file, model, &options, out);
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
            make(&generator->files[i], *state, 1 << 22, &one);
            make(&generator->files[i], *state, 1 << 22, &other);
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
                make(&generator->files[i], *state, max, &one);
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
    make(&generator_find(generator)->files[0], model, 1 << 22, &out);
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
        (const char *[]){"role: \"user\" | \"it's\" | null;", "children?: Tree[] | null;",
                         "GSI1SK: join((item.day ?? \"-\"), \"#\", pad(item.seconds, 5))",
                         "sessionsOf(params: { userId: string }): Pattern<Session> {",
                         "async userById(params: { userId: string }): Promise<User | undefined> {",
                         NULL});
    assert_contains(*state, "terraform",
                    (const char *[]){"resource \"aws_dynamodb_table\" \"site\" {",
                                     "    projection_type = \"KEYS_ONLY\"", NULL});
    assert_contains(*state, "alerts",
                    (const char *[]){
                        "  - name: \"dolmen-site\"\n", "      - alert: \"SiteThrottled\"\n",
                        "sum(rate(dolmen_system_errors_total{table=\\\"site\\\"}[5m])) > 0", NULL});
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

// Names that the client has already, and types that are called like entities.
static void test_clashes(void **state)
{
    (void)state;
    struct model *model = parse("table top { key PK }\ntype Ann { a: string }\n"
                                "entity page { PK = \"{ann}\"  ann string  b Ann? }\n"
                                "entity ann { PK = \"A#{name}\"  name string  userId uuid?  "
                                "user_id string? }\n");
    assert_non_null(model);
    assert_contains(model, "typescript",
                    (const char *[]){"export interface Page_ {", "export interface Ann {",
                                     "export interface AnnValue {", "  b?: AnnValue | null;",
                                     NULL});
    assert_contains(model, "c",
                    (const char *[]){"struct site_ann_value *b;", "const char *user_id;",
                                     "const char *user_id_;", NULL});
    assert_contains(model, "sql", (const char *[]){"\"userId\" uuid", "\"user_id\" text", NULL});
    model_release(model);
}

// What only some models need of the run-times is there only for them.
static void test_by_need(void **state)
{
    struct model *digests = parse("table top { key PK }\n"
                                  "entity A { PK = \"{sha256(name)}\"  name string }\n");
    assert_non_null(digests);
    for (int needed = 0; needed < 2; needed++) {
        struct buf source;
        struct buf client;
        make(&generator_find("c")->files[1], needed ? digests : *state, 1 << 22, &source);
        make(&generator_find("typescript")->files[0], needed ? digests : *state, 1 << 22, &client);
        assert_int_equal(slice_contains(buf_view(&source), SLICE_LIT("*sha256_text(")), needed);
        assert_int_equal(slice_contains(buf_view(&client), SLICE_LIT("function sha256(")), needed);
        assert_int_equal(slice_contains(buf_view(&client), SLICE_LIT("function pad(")), !needed);
        assert_true(slice_contains(buf_view(&client), SLICE_LIT("function text(")));
        buf_release(&source);
        buf_release(&client);
    }
    model_release(digests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_alike),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_grid),
        cmocka_unit_test(test_runtime),  cmocka_unit_test(test_walks),
        cmocka_unit_test(test_next),     cmocka_unit_test(test_derived),
        cmocka_unit_test(test_promises), cmocka_unit_test(test_contents),
        cmocka_unit_test(test_clashes),  cmocka_unit_test(test_by_need),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
