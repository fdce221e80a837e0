// Columns of rows as the texts of PostgreSQL's arrays: nothing that a value has can end it.
#include "project/postgres_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(const struct sql_value *values, size_t count, size_t step, const char *text)
{
    struct buf out;
    buf_init(&out, 1 << 16);
    postgres_array(&out, values, count, step);
    assert_false(out.failed);
    assert_string_equal((const char *)out.ptr, text);
    assert_int_equal(out.len, strlen(text) + 1);
    buf_release(&out);
}

static struct sql_value text(const char *of)
{
    return (struct sql_value){.form = SQL_FORM_TEXT, .text = slice_str(of)};
}

static void test_texts(void **state)
{
    (void)state;
    const struct sql_value values[] = {text("a"), text(""), text("NULL"), {.form = SQL_FORM_NULL}};
    expect(values, 4, 1, "{\"a\",\"\",\"NULL\",NULL}");
    expect(values, 0, 1, "{}");
}

static void test_escapes(void **state)
{
    (void)state;
    const struct sql_value values[] = {text("\"},{\""), text("\\"), text("\\\""), text("{1,2}\n")};
    expect(values, 4, 1, "{\"\\\"},{\\\"\",\"\\\\\",\"\\\\\\\"\",\"{1,2}\n\"}");
}

static void test_bytes(void **state)
{
    (void)state;
    const struct sql_value values[] = {
        {.form = SQL_FORM_BYTES, .text = slice_of("\0\x0f\xff\"", 4)},
        {.form = SQL_FORM_BYTES, .text = slice_of(NULL, 0)}};
    expect(values, 2, 1, "{\"\\\\x000fff22\",\"\\\\x\"}");
}

// Values stand row by row; a column is every second one of them, say.
static void test_columns(void **state)
{
    (void)state;
    const struct sql_value values[] = {text("a"), text("1"), text("b"), text("2")};
    expect(values, 2, 2, "{\"a\",\"b\"}");
    expect(values + 1, 2, 2, "{\"1\",\"2\"}");
}

static void test_room(void **state)
{
    (void)state;
    struct buf out;
    const struct sql_value value = text("much more than there is room for");
    buf_init(&out, 8);
    postgres_array(&out, &value, 1, 1);
    assert_true(out.failed);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_bytes), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
