// Migrations: reading them, and what they make of items. Items are plain JSON.
#include "guard/guard_support.h"

#include "guard/migration_map.h"

static const char model[] =
    "table shop {\n key PK, SK\n index GSI1 (GSI1PK, GSI1SK)\n type kind\n}\n"
    "entity Media {\n PK = \"MEDIA#{mediaId}\" SK = \"META\"\n"
    " GSI1 = \"BY\", \"{creator}\"\n"
    " mediaId string\n creator string?\n seen epoch? = now()\n}\n"
    "entity Link {\n PK = \"ALBUM#{albumId}\" SK = \"MEDIA#{mediaId}\"\n"
    " albumId string\n mediaId string\n}\n";

#define WAY(text) "migration m of shop { up { " text " } }"

struct finder {
    struct arena *arena;
    const char *other; // what is found, whatever the key
    const char *key;   // that was looked for
};

static bool find(void *context, struct slice key, struct slice *item, struct error *error)
{
    struct finder *finder = context;
    (void)error;
    finder->key = text_of(finder->arena, key);
    *item = item_of(finder->arena, finder->other);
    return true;
}

struct row {
    const char *way;
    const char *item;
    const char *other;
    const char *made; // what becomes of it: items, one a line; "keep"; "delete KEY"; "no"
};

static const char *map(struct fixture *fixture, const struct row *row)
{
    struct arena *arena = &fixture->arena;
    struct diagnostics diagnostics;
    struct migration_result result;
    struct error error;
    struct buf out;
    struct finder finder = {arena, row->other, NULL};
    struct migration_scope scope = {.keys = &fixture->table->keys,
                                    .table = fixture->table,
                                    .env = &fixture->env,
                                    .arena = arena,
                                    .find = find,
                                    .context = &finder};
    diagnostics_init(&diagnostics, arena);
    error_init(&error, arena);
    struct migration *migration = migration_parse(slice_str(row->way), arena, &diagnostics);
    if (migration == NULL)
        return diagnostics.list[0].message;
    if (!migration_resolve(&migration->up, fixture->table, &diagnostics))
        return diagnostics.list[0].message;
    if (!migration_map(&migration->up.steps[0], &scope, item_of(arena, row->item), &result, &error))
        return error.message;
    if (!result.fits)
        return "no";
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < result.made_count; i++)
        buf_printf(&out, "%s%s\n", result.made[i].replace ? "replace " : "",
                   text_of(arena, result.made[i].item));
    if (result.keep)
        buf_text(&out, "keep\n");
    for (size_t i = 0; i < result.other_count; i++) {
        if (result.others[i].removed && result.others[i].item.len > 0)
            buf_printf(&out, "delete %s\n", text_of(arena, result.others[i].key));
    }
    const char *text = arena_printf(arena, "%.*s", SLICE_FMT(buf_view(&out)));
    buf_release(&out);
    return text;
}

#define OLD                                                                                        \
    "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\",\"kind\":\"Old\",\"GSI1PK\":\"x\",\"file\":\"f\","     \
    "\"albumId\":\"a\"}"

static const struct row rows[] = {
    {WAY("from item PK = \"ALBUM#{albumId}\", SK = \"MEDIA#{mediaId}\" where file exists {"
         " make Media { copy without albumId  mediaId  creator = file ?? \"?\" }"
         " replace Link { albumId, mediaId } }"),
     OLD, NULL,
     "{\"PK\":\"MEDIA#m\",\"SK\":\"META\",\"creator\":\"f\",\"file\":\"f\",\"kind\":\"Media\","
     "\"mediaId\":\"m\"}\n"
     "replace {\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\",\"albumId\":\"a\",\"kind\":\"Link\","
     "\"mediaId\":\"m\"}\n"},
    {WAY("from item PK = \"ALBUM#{a}\" where file missing { }"), OLD, NULL, "no"},
    {WAY("from item PK = \"USER#{a}\" { }"), OLD, NULL, "no"},
    {WAY("from item where file = \"f\" and albumId != \"b\" and PK begins \"ALB\" { }"), OLD, NULL,
     ""},
    {WAY("from item where file is number { }"), OLD, NULL, "no"},
    {WAY("from Link { keep }"), OLD, NULL, "no"},
    {WAY("from Link { keep }"), "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\"}", NULL, "keep\n"},
    {WAY("from item where flag is boolean { set { flag = \"{flag}\"  gone } }"),
     "{\"PK\":\"p\",\"SK\":\"s\",\"flag\":true,\"gone\":null}", NULL,
     "replace {\"PK\":\"p\",\"SK\":\"s\",\"flag\":\"true\"}\n"},
    {WAY("from Link with media = Media { replace item { copy media  PK  SK  n = media.n + 1 }"
         " delete media }"),
     "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\"}",
     "{\"PK\":\"MEDIA#m\",\"SK\":\"META\",\"GSI1PK\":\"BY\",\"file\":\"f\",\"n\":41}",
     "replace {\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\",\"file\":\"f\",\"n\":42}\n"
     "delete {\"PK\":\"MEDIA#m\",\"SK\":\"META\"}\n"},
    {WAY("from Link with media = Media { }"), "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\"}", NULL,
     "no"},
    {WAY("from Link with media = Media optional { make item { PK SK file = media.file } }"),
     "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\"}", NULL, "{\"PK\":\"ALBUM#a\",\"SK\":\"MEDIA#m\"}\n"},
    {WAY("from item { make Media { mediaId = SK  seen = now() } }"), "{\"PK\":\"p\",\"SK\":\"s\"}",
     NULL,
     "{\"PK\":\"MEDIA#s\",\"SK\":\"META\",\"kind\":\"Media\",\"mediaId\":\"s\","
     "\"seen\":1794800400}\n"},
    {WAY("from item { make item { PK SK n = PK + 1 } }"), "{\"PK\":\"p\",\"SK\":\"s\"}", NULL,
     "n cannot be computed of this item"},
    // Mistakes in the file.
    {WAY("from item { make Nobody { } }"), "{}", NULL,
     "the table's model has no entity \"Nobody\""},
    {WAY("from item { delete other }"), "{}", NULL, "there is no `with` of this name above"},
    {WAY("from item with other = item { }"), "{}", NULL,
     "the other item needs its key: item PK = \"…\""},
    {"migration m of shop { down { } }", "{}", NULL, "a migration needs its way up"},
    {"migration m of shop { up { } up { } }", "{}", NULL, "this way is there already"},
    {"migration m of shop { up { } } migration", "{}", NULL, "a file has one migration"},
    {WAY("from item PK = \"a{b}\", SK = \"c{d}\", PK = \"e\" { }"), "{}", NULL,
     "a table has no more than two key attributes"},
};

static void test_rows(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, model);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        print_message("%s\n", rows[i].way);
        assert_string_equal(map(&fixture, &rows[i]), rows[i].made);
    }
    fixture_release(&fixture);
}

// Every beginning of a migration is read without harm, and is an error.
static void test_beginnings(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, model);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice text = slice_str(rows[i].way);
        for (size_t len = 0; len < text.len; len++) {
            struct diagnostics diagnostics;
            struct arena arena;
            arena_init(&arena, FIXTURE_MEMORY);
            diagnostics_init(&diagnostics, &arena);
            struct slice part = exact(&arena, slice_of(text.ptr, len));
            struct migration *migration = migration_parse(part, &arena, &diagnostics);
            assert_true((migration == NULL) == (diagnostics.errors > 0));
            arena_release(&arena);
        }
    }
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
