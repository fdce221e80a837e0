// `dolmen check`: parses models and migrations and says all that is wrong with them. Each model
// stands on its own; a migration is compared with the model that is named beside it, if one of
// those has its table.
#include "cli/command.h"
#include "migration/migration.h"
#include "json/writer.h"

enum {
    MEMORY = 16 << 20,
    TEXT_MAX = 16 << 20, // more than a model may have, so that the parser says it
    OUTPUT_MAX = 64 << 20,
};

struct check {
    struct cli_input *input;
    size_t model_count;
    struct model *models[CLI_ARGUMENTS_MAX];
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

static void say_json(struct check *check, struct slice name, struct slice text,
                     const struct model *model, const struct diagnostics *found)
{
    struct counts counts = count_all(model);
    buf_text(&check->out, check->files == 0 ? "[" : ",\n ");
    struct json_writer w = json_writer_to(&check->out);
    json_form(&w,
              "{'file':%.*s,'ok':%hhd,'tables':%zu,'entities':%zu,'accessPatterns':%zu,"
              "'errors':%zu,'diagnostics':",
              SLICE_FMT(name), model != NULL, counts.tables, counts.entities, counts.accesses,
              found->errors);
    diagnostics_json(found, name, text, &check->out);
    json_close_object(&w);
}

static bool is_migration(const char *path)
{
    return slice_ends(slice_str(path), SLICE_LIT(".migration"));
}

// ---- Migrations -------------------------------------------------------------------------------

static const struct model_table *table_of(const struct check *check, struct slice name)
{
    for (size_t i = 0; i < check->model_count; i++) {
        const struct model_table *table = model_table(check->models[i], name);
        if (table != NULL)
            return table;
    }
    return NULL;
}

// The way down is for a model that may be another one: what it lacks here is no more than a
// warning.
static void compare_down(struct migration *migration, const struct model_table *table,
                         struct diagnostics *found)
{
    struct diagnostics *below = arena_alloc(found->arena, sizeof(*below));
    if (below == NULL)
        return;
    diagnostics_init(below, found->arena);
    if (migration_resolve(&migration->down, table, below))
        return;
    for (size_t i = 0; i < below->count; i++)
        diagnostic_warning(found, below->list[i].at, "%s (on the way down)",
                           below->list[i].message);
}

static void say_migration(struct check *check, struct slice name, struct slice text,
                          const struct migration *migration, bool compared,
                          const struct diagnostics *found)
{
    bool ok = found->errors == 0;
    if (check->json) {
        buf_text(&check->out, check->files == 0 ? "[" : ",\n ");
        struct json_writer w = json_writer_to(&check->out);
        json_form(&w, "{'file':%.*s,'ok':%hhd,'errors':%zu", SLICE_FMT(name), ok, found->errors);
        if (migration != NULL)
            json_form(&w, "'migration':%.*s,'table':%.*s,'up':%zu,'down':%zu,'compared':%hhd",
                      SLICE_FMT(migration->name), SLICE_FMT(migration->table), migration->up.count,
                      migration->down.count, compared);
        json_form(&w, "'diagnostics':");
        diagnostics_json(found, name, text, &check->out);
        json_close_object(&w);
        return;
    }
    buf_slice(&check->out, name);
    if (ok)
        buf_printf(&check->out, ": migration %.*s of table %.*s, %zu step%s up, %zu down: ok%s\n",
                   SLICE_FMT(migration->name), SLICE_FMT(migration->table), migration->up.count,
                   plural(migration->up.count), migration->down.count,
                   compared ? "" : " (name its model, too, to have it compared)");
    else
        buf_printf(&check->out, ": %zu error%s\n", found->errors, plural(found->errors));
}

static bool check_migration(struct check *check, struct slice name, struct slice text,
                            struct diagnostics *found)
{
    const struct model_table *table = NULL;
    struct migration *migration = migration_parse(text, found->arena, found);
    if (migration != NULL)
        table = table_of(check, migration->table);
    // The way down may be for a model of before, so it is looked at only if the way up is right.
    if (table != NULL && migration_resolve(&migration->up, table, found)) {
        compare_down(migration, table, found);
        diagnostics_sort(found);
    }
    if (!check->json)
        diagnostics_show(found, name, text, &check->faults);
    say_migration(check, name, text, migration, table != NULL, found);
    return found->errors == 0;
}

// ---- Files ------------------------------------------------------------------------------------

static bool check_model(struct check *check, struct slice name, struct slice text,
                        struct diagnostics *found)
{
    struct model *model = model_parse(name, text, found);
    if (check->json) {
        say_json(check, name, text, model, found);
    } else {
        diagnostics_show(found, name, text, &check->faults);
        say_text(check, name, model, found);
    }
    if (model != NULL)
        check->models[check->model_count++] = model;
    return model != NULL;
}

// False if the file cannot be read or is wrong.
static bool check_file(struct check *check, const char *path)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    if (!(is_migration(path) ? cli_read : cli_read_model)(check->input, path, &text)) {
        buf_release(&text);
        return false;
    }
    struct slice name = slice_str(strcmp(path, "-") == 0 ? "<stdin>" : path);
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, MEMORY);
    diagnostics_init(&found, &arena);
    bool ok = is_migration(path) ? check_migration(check, name, buf_view(&text), &found)
                                 : check_model(check, name, buf_view(&text), &found);
    check->files++;
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
    // The models come first, so that migrations can be compared with them.
    for (size_t i = 0; i < 2 * input->argument_count; i++) {
        const char *path = input->arguments[i % input->argument_count];
        if (is_migration(path) == (i >= input->argument_count))
            ok = check_file(&check, path) && ok;
    }
    for (size_t i = 0; i < check.model_count; i++)
        model_release(check.models[i]);
    if (check.json && check.files > 0)
        buf_text(&check.out, "]\n");
    (void)cli_print(&check.faults, stderr);
    (void)cli_print(&check.out, stdout);
    return ok;
}
