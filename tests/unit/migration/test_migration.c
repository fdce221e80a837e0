// Migrations: reading them, and what they make of items. Items are plain JSON.
#include "guard/guard_support.h"

#include "migration/migration_map.h"

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
    {WAY("from item { set { without a, b  c = 1 } }"),
     "{\"PK\":\"p\",\"SK\":\"s\",\"a\":1,\"b\":2,\"d\":3}", NULL,
     "replace {\"PK\":\"p\",\"SK\":\"s\",\"c\":1,\"d\":3}\n"},
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

// ---- Functions --------------------------------------------------------------------------------

// What an expression makes of an item, as `x` of a new one: JSON, "missing", or "unfit".
static const struct {
    const char *expr;
    const char *x;
} functions[] = {
    {"split(t, '#')", "[\"a\",\"b\",\"\",\"d\"]"},
    {"split(t, '#', 1)", "\"b\""},
    {"split(t, '#', 2)", "\"\""},
    {"split(t, '#', -1)", "\"d\""},
    {"split(t, '#', 4)", "missing"},
    {"split(t, '#', -5)", "missing"},
    {"split(t, '#', 9) ?? 'none'", "\"none\""},
    {"split(t, ':')", "[\"a#b##d\"]"},
    {"split('', ':')", "[\"\"]"},
    {"split(t, '##', 1)", "\"d\""},
    {"split(t, '')", "unfit"},
    {"split(n, '1')", "unfit"},
    {"split(t, '#', 'a')", "unfit"},
    {"split(gone, '#')", "missing"},
    {"join(split(t, '#'), '/')", "\"a/b//d\""},
    {"join(l, '+')", "\"1+two+true\""},
    {"join(set(1, 2), ' ')", "\"1 2\""},
    {"join(t, '+')", "unfit"},
    {"join(list(l), '+')", "unfit"},
    {"replace(t, '#', '::')", "\"a::b::::d\""},
    {"replace(t, '#', '')", "\"abd\""},
    {"replace(t, 'x', 'y')", "\"a#b##d\""},
    {"replace(t, '', 'y')", "unfit"},
    {"replace(t, t, '')", "\"\""},
    {"substring(u, 1)", "\"éß€\""},
    {"substring(u, 1, 2)", "\"éß\""},
    {"substring(u, -2)", "\"ß€\""},
    {"substring(u, -9, 1)", "\"z\""},
    {"substring(u, 4)", "\"\""},
    {"substring(u, 9, 2)", "\"\""},
    {"substring(u, 0, 0)", "\"\""},
    {"substring(u, 0, -1)", "unfit"},
    {"substring(u, 0.5)", "unfit"},
    {"concat(t, n, f, '!')", "\"a#b##d42true!\""},
    {"concat(l, split('x y', ' '))", "[1,\"two\",true,\"x\",\"y\"]"},
    {"concat(l, t)", "unfit"},
    {"concat(t, l)", "unfit"},
    {"number(' 12.50 ')", "12.5"},
    {"number(n)", "42"},
    {"number(t)", "unfit"},
    {"number('')", "unfit"},
    {"number(f)", "unfit"},
    {"number('1e126')", "unfit"},
    {"text(n)", "\"42\""},
    {"text(f)", "\"true\""},
    {"text(t)", "\"a#b##d\""},
    {"text(l)", "unfit"},
    {"epoch('2026-11-16T01:00:00.999+01:00')", "1794787200"},
    {"epoch('2026-11-16')", "1794787200"},
    {"epoch(1794787200)", "1794787200"},
    {"epoch(1794787200123)", "1794787200"},
    {"epoch(t)", "unfit"},
    {"epoch(1.5)", "unfit"},
    {"timestamp(1794787200)", "\"2026-11-16T00:00:00.000Z\""},
    {"timestamp(1794787200123)", "\"2026-11-16T00:00:00.123Z\""},
    {"timestamp('2026-11-16T01:00+01:00')", "\"2026-11-16T00:00:00.000Z\""},
    {"timestamp('2026-11-16T00:00:00.12Z')", "\"2026-11-16T00:00:00.120Z\""},
    {"timestamp(f)", "unfit"},
    {"date(timestamp(1794787200), 'yyyy-mm')", "\"2026-11\""},
    {"scale(1999, -2)", "19.99"},
    {"scale(19.99, 2)", "1999"},
    {"scale(0, 5)", "0"},
    {"scale(n, 41)", "unfit"},
    {"scale(t, 1)", "unfit"},
    {"list(n, t)", "[42,\"a#b##d\"]"},
    {"list(n, gone)", "missing"},
    {"list(set('b', 'a', 'b'))", "[\"a\",\"b\"]"},
    {"list(set(2, 1))", "[1,2]"},
    {"list(set(split(t, '#')))", "[\"\",\"a\",\"b\",\"d\"]"},
    {"set(l)", "unfit"},
    {"set(1, 'a')", "unfit"},
    {"set(concat([], []))", "missing"},
    {"set(f)", "unfit"},
    {"element(l, 1)", "\"two\""},
    {"element(l, -1)", "true"},
    {"element(l, 3)", "missing"},
    {"element(t, 0)", "unfit"},
    {"coalesce(gone, nothing, n, t)", "42"},
    {"coalesce(gone, nothing)", "missing"},
    {"coalesce(number(t), 1)", "unfit"},
    {"choose(n, 41, 'x', 42, 'y', 'z')", "\"y\""},
    {"choose(n, 41, 'x', 43, 'y', 'z')", "\"z\""},
    {"choose(n, 41, 'x', 43, 'y')", "missing"},
    {"choose(n, gone, 'x', 42, 'y')", "\"y\""},
    {"choose(gone, 1, 'x', 'z')", "missing"},
    {"choose(gone, 1, 'x', 'z') ?? 'none'", "\"none\""},
    {"upper(split(t, '#', 0))", "\"A\""},
    {"\"{split(t, '#', 0)}-{scale(n, 1)}\"", "\"a-420\""},
};

static void test_functions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, model);
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        char way[512];
        char wanted[512];
        (void)snprintf(way, sizeof(way), WAY("from item { make item { PK SK x = %s } }"),
                       functions[i].expr);
        const struct row row = {
            way,
            "{\"PK\":\"p\",\"SK\":\"s\",\"t\":\"a#b##d\",\"u\":\"zéß€\",\"n\":42,"
            "\"f\":true,\"l\":[1,\"two\",true],\"nothing\":null}",
            NULL, NULL};
        bool unfit = strcmp(functions[i].x, "unfit") == 0;
        bool missing = strcmp(functions[i].x, "missing") == 0;
        (void)snprintf(wanted, sizeof(wanted), "{\"PK\":\"p\",\"SK\":\"s\"%s%s}\n",
                       missing ? "" : ",\"x\":", missing ? "" : functions[i].x);
        print_message("%s\n", functions[i].expr);
        assert_string_equal(map(&fixture, &row),
                            unfit ? "x cannot be computed of this item" : wanted);
    }
    fixture_release(&fixture);
}

// ---- Mistakes ---------------------------------------------------------------------------------

// All that is wrong with a file, one a line.
static void check_errors(const char *text, const char *wanted)
{
    struct fixture fixture;
    struct diagnostics diagnostics;
    struct buf out;
    fixture_init(&fixture, model);
    diagnostics_init(&diagnostics, &fixture.arena);
    buf_init(&out, 1 << 16);
    struct migration *migration = migration_parse(slice_str(text), &fixture.arena, &diagnostics);
    if (migration != NULL)
        assert_int_equal(migration_resolve(&migration->up, fixture.table, &diagnostics),
                         wanted[0] == 0);
    for (size_t i = 0; i < diagnostics.count; i++)
        buf_printf(&out, "%u: %s\n", diagnostics.list[i].at.line, diagnostics.list[i].message);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, wanted);
    buf_release(&out);
    fixture_release(&fixture);
}

static void test_all_errors_at_once(void **state)
{
    (void)state;
    check_errors(
        "migration m of shop after a, b {\n"
        " up {\n"
        "  from item where x lookslike 1 {\n"
        "   keep\n"
        "  }\n"
        "  from item {\n"
        "   maek Media { }\n"
        "   make Media {\n"
        "    a = splt(b)\n"
        "    c = split(b)\n"
        "    d = \n"
        "   }\n"
        "   delete nobody\n"
        "  }\n"
        " }\n"
        " sideways { }\n"
        "}\n",
        "3: expected exists, missing, is, begins, \"=\" or \"!=\", got \"lookslike\"\n"
        "7: expected make, replace, set, delete, keep or \"}\", got \"maek\"\n"
        "9: unknown function \"splt\"; did you mean \"split\"?\n"
        "10: split() takes 2 to 3 arguments, not 1\n"
        "12: expected a value: a string, number, duration, attribute or function, got \"}\"\n"
        "13: there is no `with` of this name above\n"
        "16: expected up, down or \"}\", got \"sideways\"\n");
    check_errors("migration m of shop {\n"
                 " up {\n"
                 "  from item {\n"
                 "   make Medai { mediaId = SK }\n"
                 "   make Media { mediaid = SK  creator = PK  GSI1PK = PK  kind = 'x' }\n"
                 "  }\n"
                 "  from Lnk { }\n"
                 "  from Link { set { albumid = '1'  without nothing } }\n"
                 " }\n"
                 "}\n",
                 "4: the table's model has no entity \"Medai\"; did you mean \"Media\"?\n"
                 "5: entity Media has no attribute \"mediaid\"; did you mean \"mediaId\"?\n"
                 "7: the table's model has no entity \"Lnk\"; did you mean \"Link\"?\n"
                 "8: entity Link has no attribute \"albumid\"; did you mean \"albumId\"?\n");
    check_errors("migration m of shop {\n up {\n", "3: expected \"}\", got the end of the file\n");
}

static void note_name(void *context, const struct model_expr *path)
{
    buf_printf(context, "%.*s ", SLICE_FMT(path->steps[0]));
}

// Which attributes a step counts on.
static void test_names(void **state)
{
    (void)state;
    struct fixture fixture;
    struct diagnostics diagnostics;
    struct buf out;
    fixture_init(&fixture, model);
    diagnostics_init(&diagnostics, &fixture.arena);
    struct migration *migration = migration_parse(
        SLICE_LIT("migration m of shop { up {"
                  " from item PK = \"ALBUM#{albumId}\" where a exists and b = c"
                  " with other = item PK = \"X#{d}\", SK = \"y\" {"
                  "  make item { PK SK albumId e = f.g ?? h i = \"{j}\" k = coalesce(l, m)"
                  "   n = other.o + p q } }"
                  " from Media { set { creator = mediaId } set { creator = r } } } }"),
        &fixture.arena, &diagnostics);
    assert_non_null(migration);
    assert_true(migration_resolve(&migration->up, fixture.table, &diagnostics));
    buf_init(&out, 1 << 16);
    migration_step_names(&migration->up.steps[0], note_name, &out);
    buf_text(&out, "| ");
    migration_step_names(&migration->up.steps[1], note_name, &out);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, "c d SK h j m p q | r ");
    assert_true(migration_sets(&migration->up, 1, SLICE_LIT("e")));
    assert_false(migration_sets(&migration->up, 1, SLICE_LIT("creator")));
    buf_release(&out);
    fixture_release(&fixture);
}

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
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_all_errors_at_once),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
