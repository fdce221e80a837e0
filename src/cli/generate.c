// `dolmen generate`: what is made out of a model file. The work is done in src/generate, one row of
// its table for each kind.
#include "cli/command.h"

#include "base/error.h"
#include "generate/generate.h"
#include "transfer/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MODEL_BYTES_MAX = 16 << 20, OUTPUT_BYTES_MAX = 64 << 20 };

struct work {
    const struct cli_input *input;
    const struct generator *generator;
    struct generate_options options;
    struct arena arena;
    struct error error;
    struct model *model;
};

// ---- Input -----------------------------------------------------------------------------------

static bool read_standard(struct buf *text)
{
    while (!text->failed) {
        uint8_t *room = buf_reserve(text, 64 << 10);
        size_t got = room == NULL ? 0 : fread(room, 1, 64 << 10, stdin);
        if (got == 0)
            break;
        text->len += got;
    }
    return !text->failed && ferror(stdin) == 0;
}

static bool read_model(struct work *work, const char *path, struct buf *text)
{
    bool there = false;
    if (strcmp(path, "-") == 0)
        return read_standard(text) ||
               error_set(&work->error, ERR_INTERNAL, "cannot read the model from standard input");
    if (!files_read(path, text, &there, &work->error))
        return false;
    return there || error_set(&work->error, ERR_RESOURCE_NOT_FOUND, "there is no file '%s'", path);
}

// What the parser says of the file goes to standard error; false if there were errors.
static bool parse_model(struct work *work, const char *path, struct slice text)
{
    struct diagnostics *diagnostics = arena_zalloc(&work->arena, 1, sizeof(*diagnostics));
    if (diagnostics == NULL)
        return false;
    diagnostics_init(diagnostics, &work->arena);
    struct slice file = slice_str(strcmp(path, "-") == 0 ? "model.dolmen" : path);
    work->model = model_parse(file, text, diagnostics);
    if (work->model == NULL) {
        struct buf shown;
        buf_init(&shown, OUTPUT_BYTES_MAX);
        diagnostics_sort(diagnostics);
        diagnostics_show(diagnostics, file, text, &shown);
        (void)fwrite(shown.ptr, 1, shown.len, stderr);
        buf_release(&shown);
    }
    return work->model != NULL;
}

// ---- Output ----------------------------------------------------------------------------------

static bool is_directory(const char *path)
{
    struct stat info;
    size_t len = strlen(path);
    return (len > 0 && path[len - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

static bool write_file(struct work *work, const char *out, const struct generator_file *file,
                       struct slice text)
{
    if (out == NULL || strcmp(out, "-") == 0)
        return fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    const char *path = out;
    if (is_directory(out)) {
        if (!files_make_directory(out, &work->error))
            return false;
        path = arena_printf(&work->arena, "%s/%.*s%s", out, SLICE_FMT(generate_stem(work->model)),
                            file->suffix);
    }
    return path != NULL && files_write(path, text, &work->error);
}

static bool write_all(struct work *work)
{
    const char *out = cli_value(work->input, "--out", NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < work->generator->file_count; i++) {
        const struct generator_file *file = &work->generator->files[i];
        struct buf text;
        buf_init(&text, OUTPUT_BYTES_MAX);
        generate(file, work->model, &work->options, &text);
        ok = !text.failed && write_file(work, out, file, buf_view(&text));
        buf_release(&text);
    }
    return ok;
}

// ---- The command -----------------------------------------------------------------------------

static bool choose_dialect(struct work *work)
{
    const char *dialect = cli_value(work->input, "--dialect", "postgres");
    if (strcmp(dialect, "postgres") == 0 || strcmp(dialect, "postgresql") == 0)
        work->options.dialect = GENERATE_POSTGRES;
    else if (strcmp(dialect, "sqlite") == 0)
        work->options.dialect = GENERATE_SQLITE;
    else
        return false;
    return true;
}

static int generate_model(struct work *work, const char *path, struct slice text)
{
    const struct cli_command *command = work->input->command;
    if (!parse_model(work, path, text))
        return CLI_FAILED;
    const char *table = cli_value(work->input, "--table", NULL);
    if (table != NULL) {
        work->options.table = model_table(work->model, slice_str(table));
        if (work->options.table == NULL)
            return cli_fail(command, CLI_FAILED, "%s has no table '%s'.", path, table);
    }
    if (write_all(work))
        return CLI_OK;
    return cli_fail(command, CLI_FAILED, "%s.",
                    work->error.code != ERR_NONE ? work->error.message : "cannot write");
}

static int generate_read(struct work *work, const char *path)
{
    struct buf text;
    int code;
    buf_init(&text, MODEL_BYTES_MAX);
    if (!read_model(work, path, &text))
        code = cli_fail(work->input->command, CLI_FAILED, "%s.", work->error.message);
    else
        code = generate_model(work, path, buf_view(&text));
    buf_release(&text);
    return code;
}

static void list_generators(void)
{
    (void)fprintf(stderr, "There are:\n");
    for (const struct generator *generator = generators(); generator->name != NULL; generator++)
        (void)fprintf(stderr, "  %-15s %s\n", generator->name, generator->summary);
}

static int generate_run(const struct cli_input *input)
{
    struct work work = {.input = input};
    if (input->argument_count < 2) {
        int code = cli_fail(input->command, CLI_USAGE, "name what to generate, and a model file.");
        list_generators();
        return code;
    }
    work.generator = generator_find(input->arguments[0]);
    if (work.generator == NULL) {
        int code =
            cli_fail(input->command, CLI_USAGE, "nothing is called '%s'.", input->arguments[0]);
        list_generators();
        return code;
    }
    if (!choose_dialect(&work))
        return cli_fail(input->command, CLI_USAGE, "--dialect is postgres or sqlite.");
    const char *out = cli_value(input, "--out", NULL);
    if (work.generator->file_count > 1 && (out == NULL || !is_directory(out)))
        return cli_fail(input->command, CLI_USAGE,
                        "'%s' makes %zu files; name a directory with --out.", work.generator->name,
                        work.generator->file_count);
    arena_init(&work.arena, OUTPUT_BYTES_MAX);
    error_init(&work.error, &work.arena);
    int code = generate_read(&work, input->arguments[1]);
    model_release(work.model);
    arena_release(&work.arena);
    return code;
}

static const struct cli_option generate_options[] = {
    {"--out", "FILE|DIR",
     "Where to write; a directory gets MODEL.md, MODEL.ts and so on.\n"
     "Default: standard output."},
    {"--table", "NAME", "Only this table of the model."},
    {"--dialect", "postgres|sqlite", "Of 'sql'. Default: postgres."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_generate = {
    .name = "generate",
    .arguments = "KIND MODEL [--out FILE|DIR] [--table NAME]",
    .summary = "make documentation, clients, infrastructure or schemas out of a model",
    .about = "MODEL is a .dolmen file ('-' reads it from standard input). KIND is one of:\n"
#define X(name, summary, files, suffix, write, suffix2, write2) "  " name ": " summary "\n"
    GENERATOR_LIST(X)
#undef X
        "The same model always gives the same text; its first line names the model.",
    .example = "  dolmen generate docs models/shop.dolmen --out README.md\n"
               "  dolmen generate typescript models/shop.dolmen --out src/\n"
               "  dolmen generate sql models/shop.dolmen --dialect sqlite | sqlite3 shop.db",
    .options = generate_options,
    .arguments_max = 2,
    .run = generate_run,
};
