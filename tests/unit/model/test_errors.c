// Every mistake that a model can have, and what is said of it: the cases of tests/model/errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glob.h>

#include "model/model.h"

enum { TEXT_MAX = 1 << 20 };

static const char table[] = "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK) }\n";

struct one_case {
    char title[4096];
    struct buf shown; // as the file has it
    struct buf text;
    struct buf expected;
};

static void clear(struct one_case *c)
{
    c->title[0] = 0;
    buf_clear(&c->shown);
    buf_clear(&c->text);
    buf_clear(&c->expected);
}

static void say(struct slice text, struct buf *out)
{
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, 16 << 20);
    diagnostics_init(&found, &arena);
    // A copy of exact size, so that the address sanitizer sees every stray read.
    uint8_t *exact = malloc(text.len + 1);
    assert_non_null(exact);
    memcpy(exact, text.ptr, text.len);
    uint8_t *fitting = realloc(exact, text.len > 0 ? text.len : 1);
    assert_non_null(fitting);
    struct model *model =
        model_parse(slice_str("case.dolmen"), slice_of(fitting, text.len), &found);
    free(fitting);
    for (size_t i = 0; i < found.count; i++)
        buf_printf(out, "%u:%u: %s: %s\n", found.list[i].at.line, found.list[i].at.column,
                   found.list[i].severity == SEVERITY_ERROR ? "error" : "warning",
                   found.list[i].message);
    assert_int_equal(model == NULL, found.errors > 0);
    if (model != NULL)
        buf_text(out, "ok\n");
    model_release(model);
    arena_release(&arena);
}

static void judge(struct one_case *c, size_t *failed)
{
    struct buf actual;
    if (c->title[0] == 0)
        return;
    buf_init(&actual, TEXT_MAX);
    say(buf_view(&c->text), &actual);
    if (getenv("ERRORS_PRINT") != NULL)
        printf("==== %s%.*s----\n%.*s", c->title, SLICE_FMT(buf_view(&c->shown)),
               SLICE_FMT(buf_view(&actual)));
    if (!slice_equal(buf_view(&actual), buf_view(&c->expected))) {
        print_error("case: %sexpected:\n%.*sbut:\n%.*s", c->title,
                    SLICE_FMT(buf_view(&c->expected)), SLICE_FMT(buf_view(&actual)));
        (*failed)++;
    }
    buf_release(&actual);
    clear(c);
}

static void run_file(void **state)
{
    static struct one_case c;
    char line[4096];
    size_t failed = 0;
    bool answer = false;
    FILE *file = fopen(*state, "rb");
    assert_non_null(file);
    buf_init(&c.shown, TEXT_MAX);
    buf_init(&c.text, TEXT_MAX);
    buf_init(&c.expected, TEXT_MAX);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "==== ", 5) == 0) {
            judge(&c, &failed);
            (void)snprintf(c.title, sizeof c.title, "%s", line + 5);
            answer = false;
        } else if (strcmp(line, "----\n") == 0) {
            answer = true;
        } else if (answer) {
            buf_text(&c.expected, line);
        } else {
            buf_text(&c.shown, line);
            buf_text(&c.text, strcmp(line, "%table\n") == 0 ? table : line);
        }
    }
    judge(&c, &failed);
    (void)fclose(file);
    buf_release(&c.shown);
    buf_release(&c.text);
    buf_release(&c.expected);
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
    glob_t paths;
    if (glob(argc > 1 ? argv[1] : "tests/model/errors/*.txt", 0, NULL, &paths) != 0)
        return 1;
    struct CMUnitTest *tests = calloc(paths.gl_pathc, sizeof *tests);
    if (tests == NULL)
        return 1;
    for (size_t i = 0; i < paths.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){
            .name = paths.gl_pathv[i], .test_func = run_file, .initial_state = paths.gl_pathv[i]};
    int failures = _cmocka_run_group_tests("errors", tests, paths.gl_pathc, NULL, NULL);
    free(tests);
    globfree(&paths);
    return failures;
}
