// Schemas, rows and changes as structures and texts. What databases make of them is tested by
// tests/model/sql.
#include "sql/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "value/number.h"
#include "json/plain.h"

static const char model_text[] =
    "table shop { key PK, SK  separator \"#\" forbid }\n"
    "entity Job {\n"
    "  PK = \"P#{project}\"  SK = \"J#{id}\"\n"
    "  project string  id string  n integer?  price number?  made timestamp?  tags string[]?\n"
    "  parts { sku: string  count: integer? }[]?  ready boolean?  due number?\n"
    "}\n"
    "tenant project\n"
    "project Job {\n"
    "  Job as \"jobs\" both (n) { id  project  n  price  made  tags  ready  due: timestamp\n"
    "    key (project, id)  index (n desc)  each parts as \"parts\" }\n"
    "  group Job by project as \"sums\" { project  most = max(n)  jobs = count() }\n"
    "  view \"many\" = Job where n > 5\n"
    "  tenant\n"
    "}\n";

struct fixture {
    struct arena arena;
    struct model *model;
    const struct sql_schema *schema;
};

static struct model *parse(const char *text)
{
    struct arena arena;
    static struct diagnostics diagnostics;
    arena_init(&arena, 1 << 20);
    diagnostics_init(&diagnostics, &arena);
    struct model *model = model_parse(SLICE_LIT("shop.dolmen"), slice_str(text), &diagnostics);
    for (size_t i = 0; model == NULL && i < diagnostics.count; i++)
        print_error("%u: %s\n", diagnostics.list[i].at.line, diagnostics.list[i].message);
    arena_release(&arena);
    assert_non_null(model);
    return model;
}

static void begin(struct fixture *f, const char *text, enum sql_dialect dialect)
{
    struct slice error;
    arena_init(&f->arena, 16 << 20);
    f->model = parse(text);
    struct sql_request request = {
        .model = f->model, .project = f->model->rules_of->projects, .dialect = dialect};
    f->schema = sql_schema_make(&request, &f->arena, &error);
    assert_non_null(f->schema);
}

static void end(struct fixture *f)
{
    model_release(f->model);
    arena_release(&f->arena);
}

static struct slice item(struct fixture *f, const char *json)
{
    struct value_maker maker;
    value_begin(&maker, 1 << 20);
    assert_null(plain_read(slice_str(json), &f->arena, &maker.b));
    return value_end(&maker, &f->arena);
}

static const struct sql_table *table(const struct fixture *f, const char *name)
{
    const struct sql_table *found = sql_schema_table(f->schema, slice_str(name));
    assert_non_null(found);
    return found;
}

static void test_tables(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, model_text, SQL_POSTGRES);
    assert_int_equal(f.schema->table_count, 4); // jobs, parts, dolmen_sums, sums
    const struct sql_table *jobs = table(&f, "jobs");
    assert_int_equal(jobs->key.count, 2);
    assert_true(jobs->tenant == sql_table_column(jobs, SLICE_LIT("project")));
    assert_int_equal(jobs->columns[sql_table_column(jobs, SLICE_LIT("due"))].kind, SQL_TIMESTAMP);
    assert_true(jobs->both && !jobs->both_rows && !jobs->moves);
    const struct sql_table *parts = table(&f, "parts");
    assert_ptr_equal(parts->parent, jobs);
    assert_true(slice_is(parts->columns[1].name, "job_id"));
    assert_ptr_equal(table(&f, "sums")->group, table(&f, "dolmen_sums"));
    assert_true(table(&f, "dolmen_sums")->closed);
    end(&f);
}

static const struct sql_value *cell(const struct sql_table *of, const struct sql_row *row,
                                    const char *column)
{
    return &row->values[sql_table_column(of, slice_str(column))];
}

static void test_rows(void **state)
{
    (void)state;
    struct fixture f;
    struct sql_rows rows;
    struct slice error;
    begin(&f, model_text, SQL_SQLITE);
    const struct sql_table *jobs = table(&f, "jobs");
    struct slice one = item(
        &f,
        "{\"project\":\"p\",\"id\":\"j\",\"n\":7,\"price\":12345678901234567890123456789012345678,"
        "\"tags\":[\"a\",1],\"parts\":[{\"sku\":\"x\"},{\"sku\":\"y\",\"count\":2}],\"ready\":true,"
        "\"due\":1766000000.25}");
    assert_true(sql_rows_make(f.schema, jobs, one, &f.arena, &rows, &error));
    assert_int_equal(rows.count, 1);
    assert_int_equal(cell(jobs, rows.list, "n")->form, SQL_FORM_INTEGER);
    assert_int_equal(cell(jobs, rows.list, "n")->integer, 7);
    assert_int_equal(cell(jobs, rows.list, "price")->form, SQL_FORM_TEXT); // all digits
    assert_int_equal(cell(jobs, rows.list, "made")->form, SQL_FORM_NULL);
    assert_true(slice_is(cell(jobs, rows.list, "tags")->text, "[\"a\",1]"));
    assert_true(slice_is(cell(jobs, rows.list, "due")->text, "2025-12-17T19:33:20.250Z"));
    const struct sql_table *parts = table(&f, "parts");
    assert_true(sql_rows_make(f.schema, parts, one, &f.arena, &rows, &error));
    assert_int_equal(rows.count, 2);
    assert_true(slice_is(cell(parts, &rows.list[1], "sku")->text, "y"));
    assert_int_equal(cell(parts, &rows.list[1], "position")->integer, 1);
    end(&f);
}

static void refused(struct fixture *f, const char *json, const char *reason)
{
    struct sql_rows rows;
    struct slice error;
    assert_false(
        sql_rows_make(f->schema, table(f, "jobs"), item(f, json), &f->arena, &rows, &error));
    assert_non_null(memmem(error.ptr, error.len, reason, strlen(reason)));
}

static void test_refused(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, model_text, SQL_POSTGRES);
    refused(&f, "{\"project\":\"p\"}", "takes no NULL, and the item has no id");
    refused(&f, "{\"project\":\"p\",\"id\":\"a\\u0000b\"}", "there is a NUL in it");
    refused(&f, "{\"project\":\"p\",\"id\":5}", "it is a number");
    refused(&f, "{\"project\":\"p\",\"id\":\"i\",\"n\":1.5}", "not a whole number of 64 bits");
    refused(&f, "{\"project\":\"p\",\"id\":\"i\",\"n\":9223372036854775808}", "of 64 bits");
    refused(&f, "{\"project\":\"p\",\"id\":\"i\",\"made\":\"yesterday\"}", "it is not a time");
    refused(&f, "{\"project\":\"p\",\"id\":\"i\",\"tags\":[\"\\u0000\"]}", "there is a NUL in it");
    refused(&f, "{\"project\":\"p\",\"id\":\"i\",\"ready\":\"yes\"}", "it is text");
    end(&f);
}

static void test_back(void **state)
{
    (void)state;
    struct fixture f;
    struct slice found;
    struct slice error;
    int64_t n = 0;
    begin(&f, model_text, SQL_SQLITE);
    const struct sql_table *jobs = table(&f, "jobs");
    assert_true(sql_row_back(jobs,
                             SLICE_LIT("{\"n\":7,\"ready\":1,\"made\":null,\"due\":"
                                       "\"2025-12-17T19:33:20.250Z\"}"),
                             &f.arena, &found, &error));
    assert_true(number_to_i64(value_bytes(value_get(found, SLICE_LIT("n"))), &n) && n == 7);
    assert_true(value_bool(value_get(found, SLICE_LIT("ready"))));
    assert_int_equal(value_type(value_get(found, SLICE_LIT("made"))), VALUE_NULL);
    assert_int_equal(value_type(value_get(found, SLICE_LIT("due"))), VALUE_N);
    assert_false(sql_row_back(jobs, SLICE_LIT("[]"), &f.arena, &found, &error));
    assert_false(sql_row_back(jobs, SLICE_LIT("{\"due\":\"soon\"}"), &f.arena, &found, &error));
    end(&f);
}

// A text is read back as what it was written of; no part of one, and nothing else, is.
static void test_store(void **state)
{
    (void)state;
    struct fixture f;
    struct buf one;
    struct buf other;
    begin(&f, model_text, SQL_POSTGRES);
    buf_init(&one, 1 << 20);
    buf_init(&other, 1 << 20);
    sql_schema_text(f.schema, &one);
    const struct sql_schema *read = sql_schema_read(buf_view(&one), &f.arena);
    assert_non_null(read);
    sql_schema_text(read, &other);
    assert_true(slice_equal(buf_view(&one), buf_view(&other)));
    struct sql_change change;
    assert_true(sql_schema_change(read, f.schema, &f.arena, &change));
    assert_false(change.any);
    for (size_t len = 0; len < one.len - 1; len++) // the last line may lack its end
        assert_null(sql_schema_read(slice_of(one.ptr, len), &f.arena));
    for (size_t i = 0; i < one.len; i += 7) { // whatever comes of it, nothing breaks
        uint8_t was = one.ptr[i];
        one.ptr[i] = '9';
        (void)(sql_schema_read(buf_view(&one), &f.arena) == NULL);
        one.ptr[i] = was;
    }
    buf_release(&one);
    buf_release(&other);
    end(&f);
}

static bool says(const struct sql_statements *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (memmem(list->list[i].ptr, list->list[i].len, text, strlen(text)) != NULL)
            return true;
    return false;
}

static void test_change(void **state)
{
    (void)state;
    struct fixture f;
    struct fixture g;
    struct sql_change change;
    begin(&f,
          "table shop { key PK }\nentity A { PK = \"{id}\"  id string  a string  b integer  c "
          "string }\n"
          "project A { A as \"t\" { id  a  b  c } }\n",
          SQL_POSTGRES);
    begin(&g,
          "table shop { key PK }\nentity A { PK = \"{id}\"  id string  a string  b number  d "
          "string }\n"
          "project A { A as \"u\" { id  x = a  b  d } }\n",
          SQL_POSTGRES);
    assert_true(sql_schema_change(f.schema, g.schema, &f.arena, &change));
    assert_true(change.any && change.backfill[0]);
    assert_true(says(&change.before, "RENAME TO \"u\""));
    assert_true(says(&change.before, "RENAME COLUMN \"a\" TO \"x\""));
    assert_true(says(&change.before, "ALTER COLUMN \"b\" TYPE numeric"));
    assert_true(says(&change.before, "DROP COLUMN \"c\""));
    assert_true(says(&change.before, "ADD COLUMN \"d\" text"));
    assert_true(says(&change.after, "ALTER COLUMN \"d\" SET NOT NULL"));
    end(&f);
    end(&g);
}

// Without memory there is no schema, and no error that would be an excuse.
static void test_no_memory(void **state)
{
    (void)state;
    struct model *model = parse(model_text);
    struct sql_request request = {.model = model, .project = model->rules_of->projects};
    for (size_t budget = 0; budget < 200000; budget += 4096) {
        struct arena arena;
        struct slice error;
        arena_init(&arena, budget);
        (void)(sql_schema_make(&request, &arena, &error) == NULL);
        assert_int_equal(error.len, 0);
        arena_release(&arena);
    }
    model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_back),
        cmocka_unit_test(test_store),     cmocka_unit_test(test_change),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
