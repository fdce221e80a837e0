// `dolmen check`: parses models and says all that is wrong with them. Each file stands on its own.
#include "cli/command.h"
#include "model/model.h"
#include "json/writer.h"

enum {
    MEMORY = 16 << 20,
    TEXT_MAX = 16 << 20, // more than a model may have, so that the parser says it
    OUTPUT_MAX = 64 << 20,
};

struct check {
    struct cli_input *input;
    bool json;
    size_t files;
    struct buf out;    // standard output
    struct buf faults; // standard error
};

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

struct counts {
    size_t tables;
    size_t entities;
    size_t accesses;
};

static struct counts count_all(const struct model *model)
{
    struct counts counts = {0};
    for (size_t i = 0; model != NULL && i < model->table_count; i++) {
        counts.tables++;
        counts.entities += model->tables[i].entity_count;
        counts.accesses += model->tables[i].access_count;
    }
    return counts;
}

static void say_text(struct check *check, struct slice name, const struct model *model,
                     const struct diagnostics *found)
{
    struct counts counts = count_all(model);
    size_t warnings = found->count + found->lost - found->errors;
    buf_slice(&check->out, name);
    if (model == NULL) {
        buf_printf(&check->out, ": %zu error%s\n", found->errors, plural(found->errors));
        return;
    }
    buf_printf(&check->out, ": %zu table%s, %zu entit%s, %zu access pattern%s: ok", counts.tables,
               plural(counts.tables), counts.entities, counts.entities == 1 ? "y" : "ies",
               counts.accesses, plural(counts.accesses));
    if (warnings > 0)
        buf_printf(&check->out, ", %zu warning%s", warnings, plural(warnings));
    buf_byte(&check->out, '\n');
}

static void say_json(struct check *check, struct slice name, const struct model *model,
                     const struct diagnostics *found)
{
    struct counts counts = count_all(model);
    buf_text(&check->out, check->files == 0 ? "[" : ",\n ");
    struct json_writer w = json_writer_to(&check->out);
    json_form(&w,
              "{'file':%.*s,'ok':%hhd,'tables':%zu,'entities':%zu,'accessPatterns':%zu,"
              "'errors':%zu,'diagnostics':",
              SLICE_FMT(name), model != NULL, counts.tables, counts.entities, counts.accesses,
              found->errors);
    diagnostics_json(found, name, &check->out);
    json_close_object(&w);
}

// False if the file cannot be read or is wrong.
static bool check_file(struct check *check, const char *path)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    if (!cli_read(check->input, path, &text)) {
        buf_release(&text);
        return false;
    }
    struct slice name = slice_str(strcmp(path, "-") == 0 ? "<stdin>" : path);
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, MEMORY);
    diagnostics_init(&found, &arena);
    struct model *model = model_parse(name, buf_view(&text), &found);
    bool ok = model != NULL;
    if (check->json) {
        say_json(check, name, model, &found);
    } else {
        diagnostics_show(&found, name, buf_view(&text), &check->faults);
        say_text(check, name, model, &found);
    }
    check->files++;
    model_release(model);
    arena_release(&arena);
    buf_release(&text);
    return ok;
}

bool cli_check(struct cli_input *input)
{
    struct check check = {.input = input, .json = cli_given(input, "--json")};
    if (input->argument_count == 0)
        return cli_misused(input, "it takes the name of a file, or '-'.");
    buf_init(&check.out, OUTPUT_MAX);
    buf_init(&check.faults, OUTPUT_MAX);
    bool ok = true;
    for (size_t i = 0; i < input->argument_count; i++)
        ok = check_file(&check, input->arguments[i]) && ok;
    if (check.json && check.files > 0)
        buf_text(&check.out, "]\n");
    (void)cli_print(&check.faults, stderr);
    (void)cli_print(&check.out, stdout);
    return ok;
}
