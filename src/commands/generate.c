// `dolmen generate`: what is made out of a model file. The work is done in src/generate, one row of
// its table for each kind.
#include "cli/command.h"

#include "base/error.h"
#include "generate/generate.h"
#include "model/parse.h"
#include "transfer/files.h"
#include "write/text.h"

enum { OUTPUT_BYTES_MAX = 64 << 20 };

struct making {
    struct cli_input *input;
    const struct generator *generator;
    struct generate_options options;
    struct arena arena;
    struct error error;
    struct model *model;
};

static bool write_file(struct making *making, const char *out, const struct generator_file *file,
                       struct slice text)
{
    if (out == NULL || strcmp(out, "-") == 0)
        return fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    const char *path = out;
    if (cli_is_directory(out)) {
        if (!files_make_directory(out, &making->error))
            return false;
        path = arena_printf(&making->arena, "%s/%.*s%s", out, SLICE_FMT(text_stem(making->model)),
                            file->suffix);
    }
    return path != NULL && files_write(path, text, &making->error);
}

static bool write_all(struct making *making)
{
    const char *out = cli_value(making->input, "--out", NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < making->generator->file_count; i++) {
        const struct generator_file *file = &making->generator->files[i];
        struct buf text;
        buf_init(&text, OUTPUT_BYTES_MAX);
        generate(file, making->model, &making->options, &text);
        ok = !text.failed && write_file(making, out, file, buf_view(&text));
        buf_release(&text);
    }
    return ok || cli_fail(making->input, "%s.",
                          making->error.code != ERR_NONE ? making->error.message : "cannot write");
}

static bool make_all(struct making *making, const char *path)
{
    const char *table = cli_value(making->input, "--table", NULL);
    making->model = cli_model_file(making->input, path);
    if (making->model == NULL)
        return false;
    if (table != NULL)
        making->options.table = model_table(making->model, slice_str(table));
    if (table != NULL && making->options.table == NULL) {
        struct model_guess guess = cli_table_guess(making->model, table);
        return cli_fail(making->input, "%s has no table '%s'%s", path, table,
                        cli_meant(making->input, &guess));
    }
    const char *since = cli_value(making->input, "--since", NULL);
    struct model *before = since == NULL ? NULL : cli_model_file(making->input, since);
    if (since != NULL && before == NULL)
        return false;
    making->options.since = before;
    bool ok = write_all(making);
    model_release(before);
    return ok;
}

static bool list_generators(void)
{
    (void)fprintf(stderr, "There are:\n");
    for (const struct generator *generator = generators(); generator->name != NULL; generator++)
        (void)fprintf(stderr, "  %-15s %s\n", generator->name, generator->summary);
    return false;
}

bool cli_generate(struct cli_input *input)
{
    const char *dialect = cli_value(input, "--dialect", "postgres");
    const char *out = cli_value(input, "--out", NULL);
    bool sqlite = strcmp(dialect, "sqlite") == 0;
    struct making making = {.input = input,
                            .options.dialect = sqlite ? GENERATE_SQLITE : GENERATE_POSTGRES};
    if (cli_given(input, "--queries"))
        making.options.part = GENERATE_QUERIES;
    if (cli_given(input, "--projections"))
        making.options.part = GENERATE_PROJECTIONS;
    if (input->argument_count < 2)
        return cli_misused(input, "name what to generate, and a model file.") || list_generators();
    making.generator = generator_find(input->arguments[0]);
    if (making.generator == NULL) {
        struct model_guess guess = model_guess_for(slice_str(input->arguments[0]));
        for (const struct generator *one = generators(); one->name != NULL; one++)
            model_guess_candidate(&guess, slice_str(one->name));
        return cli_misused(input, "there is no generator '%s'%s", input->arguments[0],
                           cli_meant(input, &guess)) ||
               list_generators();
    }
    if (!sqlite && strcmp(dialect, "postgres") != 0 && strcmp(dialect, "postgresql") != 0)
        return cli_misused(input, "--dialect is postgres or sqlite.");
    if (making.generator->file_count > 1 && (out == NULL || !cli_is_directory(out)))
        return cli_misused(input, "'%s' makes %zu files; name a directory with --out.",
                           making.generator->name, making.generator->file_count);
    arena_init(&making.arena, OUTPUT_BYTES_MAX);
    error_init(&making.error, &making.arena);
    bool ok = make_all(&making, input->arguments[1]);
    model_release(making.model);
    arena_release(&making.arena);
    return ok;
}
