// Golden cases: expressions with their results and their messages, in cases.txt.
//
// The file is read line by line:
//   = kind            condition, filter, key, projection or update
//   names, values     placeholders for the cases that follow (values in notation.h's notation)
//   item              what the cases run against; "none" for a missing item
//   text              an expression, and on the next line
//   > result          true or false, the projected or updated item, or the clauses of a key
//   ! message         or the message, without "Invalid …Expression: "
//   !! message        or a message that has no such prefix
// Empty lines and lines that begin with "# " are skipped.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char cases_path[] = "tests/unit/expr/cases.txt";

struct golden {
    struct fixture fixture;
    enum expr_kind kind;
    struct slice item;
    char *names; // owned copy of the line
    char result[8192];
    size_t line;
    size_t cases;
    size_t failures;
};

static const char *const kinds[] = {
    [EXPR_CONDITION] = "condition",   [EXPR_FILTER] = "filter", [EXPR_KEY_CONDITION] = "key",
    [EXPR_PROJECTION] = "projection", [EXPR_UPDATE] = "update",
};
static const char *const prefixes[] = {
    [EXPR_CONDITION] = "Invalid ConditionExpression: ",
    [EXPR_FILTER] = "Invalid FilterExpression: ",
    [EXPR_KEY_CONDITION] = "Invalid KeyConditionExpression: ",
    [EXPR_PROJECTION] = "Invalid ProjectionExpression: ",
    [EXPR_UPDATE] = "Invalid UpdateExpression: ",
};

// ---- Running one expression -----------------------------------------------------------

static void run_condition(struct golden *golden, struct slice text)
{
    struct expr_condition *condition =
        expr_compile_condition(&golden->fixture.params, text, golden->kind);
    if (condition != NULL)
        snprintf(golden->result, sizeof golden->result, "> %s",
                 expr_condition_eval(condition, golden->item, &(struct steps){0}) ? "true"
                                                                                  : "false");
}

static void result_value(struct golden *golden, const struct buf *out)
{
    snprintf(golden->result, sizeof golden->result, "> %s",
             fixture_text(&golden->fixture, buf_view(out)));
}

static void run_projection(struct golden *golden, struct slice text)
{
    struct expr_projection *projection = expr_compile_projection(&golden->fixture.params, text);
    if (projection == NULL)
        return;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    expr_project(projection, golden->item, &builder, &(struct steps){0});
    result_value(golden, &out);
    value_builder_release(&builder);
    buf_release(&out);
}

static void run_update(struct golden *golden, struct slice text)
{
    struct expr_update *update = expr_compile_update(&golden->fixture.params, text);
    if (update == NULL)
        return;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    if (expr_update_apply(update, golden->item, &builder, &golden->fixture.arena,
                          &(struct steps){0}, &golden->fixture.error))
        result_value(golden, &out);
    value_builder_release(&builder);
    buf_release(&out);
}

// The schema of the key cases is h (S), r (N).
static void run_key(struct golden *golden, struct slice text)
{
    static const char *const ops[] = {"NONE", "EQ", "LT", "LE", "GT", "GE", "BETWEEN", "BEGINS"};
    struct key_schema schema = {.hash_count = 1,
                                .range_count = 1,
                                .parts = {{SLICE_LIT("h"), VALUE_S}, {SLICE_LIT("r"), VALUE_N}}};
    struct fixture *fixture = &golden->fixture;
    struct key_range range;
    struct expr_key *key = expr_compile_key(&fixture->params, text);
    if (key == NULL || !expr_key_resolve(key, &schema, &range, &fixture->error))
        return;
    size_t len = (size_t)snprintf(golden->result, sizeof golden->result, ">");
    for (size_t i = 0; i < key->count; i++) {
        const struct key_clause *clause = &key->clauses[i];
        len += (size_t)snprintf(golden->result + len, sizeof golden->result - len, " %.*s %s %s",
                                SLICE_FMT(clause->attribute), ops[clause->op],
                                fixture_text(fixture, clause->values[0]));
        if (clause->op == KEY_BETWEEN)
            len += (size_t)snprintf(golden->result + len, sizeof golden->result - len, " %s",
                                    fixture_text(fixture, clause->values[1]));
    }
}

static void case_run(struct golden *golden, const char *text)
{
    struct fixture *fixture = &golden->fixture;
    golden->result[0] = '\0';
    if (fixture_begin(fixture)) {
        switch (golden->kind) {
        case EXPR_KEY_CONDITION:
            run_key(golden, slice_str(text));
            break;
        case EXPR_PROJECTION:
            run_projection(golden, slice_str(text));
            break;
        case EXPR_UPDATE:
            run_update(golden, slice_str(text));
            break;
        default:
            run_condition(golden, slice_str(text));
        }
    }
    if (fixture->error.code == ERR_NONE)
        return;
    const char *message = fixture->error.message;
    const char *prefix = prefixes[golden->kind];
    if (strncmp(message, prefix, strlen(prefix)) == 0)
        snprintf(golden->result, sizeof golden->result, "! %s", message + strlen(prefix));
    else
        snprintf(golden->result, sizeof golden->result, "!! %s", message);
}

// ---- Reading the file ------------------------------------------------------------------

static const char *directive(const char *line, const char *word)
{
    size_t len = strlen(word);
    return strncmp(line, word, len) == 0 && line[len] == ' ' ? line + len + 1 : NULL;
}

static bool read_directive(struct golden *golden, const char *line)
{
    const char *rest;
    if ((rest = directive(line, "=")) != NULL) {
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            if (strcmp(rest, kinds[i]) == 0) {
                golden->kind = (enum expr_kind)i;
                return true;
            }
        }
        return false; // an expression that begins with "="
    }
    if ((rest = directive(line, "names")) != NULL) {
        free(golden->names);
        golden->names = strdup(rest);
        golden->fixture.name_count = 0;
        fixture_names(&golden->fixture, golden->names);
    } else if ((rest = directive(line, "values")) != NULL) {
        golden->fixture.values = fixture_value(&golden->fixture, rest);
    } else if ((rest = directive(line, "item")) != NULL) {
        bool none = strcmp(rest, "none") == 0;
        golden->item = none ? VALUE_NONE : fixture_value(&golden->fixture, rest);
    } else {
        return false;
    }
    return true;
}

static void read_line(struct golden *golden, const char *line)
{
    golden->line++;
    if (line[0] == '\0' || directive(line, "#") != NULL || read_directive(golden, line))
        return;
    if (directive(line, ">") == NULL && directive(line, "!") == NULL &&
        directive(line, "!!") == NULL) {
        case_run(golden, line);
        return;
    }
    golden->cases++;
    if (strcmp(line, golden->result) != 0) {
        golden->failures++;
        print_error("%s:%zu:\n  expected %s\n  got      %s\n", cases_path, golden->line, line,
                    golden->result);
    }
}

static void golden_run(struct golden *golden)
{
    FILE *file = fopen(cases_path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, file)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        read_line(golden, line);
    }
    free(line);
    fclose(file);
}

static void test_cases(void **state)
{
    (void)state;
    struct golden golden = {.kind = EXPR_CONDITION};
    fixture_init(&golden.fixture);
    golden_run(&golden);
    free(golden.names);
    fixture_release(&golden.fixture);
    assert_true(golden.cases > 500);
    assert_int_equal(golden.failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
