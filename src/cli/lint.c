// `dolmen lint`: design smells of models, what their reads and writes cost, and, with a live table,
// what its items say.
#include "cli/scan_items.h"

#include "lint/cost.h"
#include "lint/evidence.h"
#include "lint/lint.h"
#include "transfer/files.h"

#include <stdio.h>

enum {
    TEXT_MAX = 16 << 20,
    OUTPUT_MAX = 256 << 20,
    MEMORY = 256 << 20,
    SAMPLE = 100000,
};

struct linter {
    const struct cli_input *input;
    bool json;
    bool live; // look at tables, too
    struct target target;
    unsigned sample;
    struct buf out;
    size_t files; // done
    size_t warnings;
    size_t notes;
    size_t suppressed;
};

// ---- One file ------------------------------------------------------------------------------

static struct model *read_model(struct linter *linter, const char *path, struct arena *arena)
{
    struct buf text;
    struct error error;
    bool there = false;
    struct model *model = NULL;
    struct diagnostics *faults = arena_alloc(arena, sizeof(*faults));
    buf_init(&text, TEXT_MAX);
    error_init(&error, arena);
    if (faults == NULL || !files_read(path, &text, &there, &error) || !there) {
        (void)cli_fail(linter->input->command, CLI_FAILED, "%s.",
                       error.code != ERR_NONE ? error.message
                                              : arena_printf(arena, "there is no '%s'", path));
        buf_release(&text);
        return NULL;
    }
    diagnostics_init(faults, arena);
    model = model_parse(slice_str(path), buf_view(&text), faults);
    if (model == NULL) {
        struct buf shown;
        buf_init(&shown, OUTPUT_MAX);
        diagnostics_show(faults, slice_str(path), buf_view(&text), &shown);
        (void)fwrite(shown.ptr, 1, shown.len, stderr);
        buf_release(&shown);
    }
    buf_release(&text);
    return model;
}

static bool visit_item(void *context, struct slice item)
{
    return evidence_add(context, item);
}

// NULL after telling the user, or if the table is not there, which is only noted.
static struct evidence *gather(struct linter *linter, const struct model_table *table,
                               struct arena *arena)
{
    struct slice name = arena_copy(arena, table->name);
    struct target_table described;
    if (name.ptr == NULL ||
        !target_describe(&linter->target, (const char *)name.ptr, arena, &described))
        return NULL;
    struct evidence *evidence = evidence_new(table);
    struct scan_items scan = {.target = &linter->target,
                              .table = (const char *)name.ptr,
                              .expected = described.items,
                              .sample = linter->sample,
                              .quiet = linter->json,
                              .visit = visit_item,
                              .context = evidence};
    if (evidence == NULL || scan_items(&scan))
        return evidence;
    evidence_free(evidence);
    return NULL;
}

static void show_findings(struct linter *linter, const struct lint *lint)
{
    for (size_t i = 0; i < lint->count; i++)
        if (!lint->findings[i].suppressed)
            lint_show(&lint->findings[i], lint->model, &linter->out);
}

// Costs and evidence of all tables of a model; false if a table could not be looked at.
static bool show_tables(struct linter *linter, const struct model *model, struct arena *arena)
{
    bool cost = cli_given(linter->input, "--cost");
    bool ok = true;
    for (size_t i = 0; i < model->table_count; i++) {
        const struct model_table *table = &model->tables[i];
        struct evidence *evidence = linter->live ? gather(linter, table, arena) : NULL;
        ok = ok && (!linter->live || evidence != NULL);
        if (linter->json) {
            buf_text(&linter->out, i == 0 ? "" : ",");
            buf_text(&linter->out, "{\"cost\":");
            cost_json(table, evidence, &linter->out);
            if (evidence != NULL) {
                buf_text(&linter->out, ",\"evidence\":");
                evidence_json(evidence, &linter->out);
            }
            buf_byte(&linter->out, '}');
        } else {
            if (cost)
                cost_show(table, evidence, &linter->out);
            if (evidence != NULL)
                evidence_show(evidence, &linter->out);
        }
        evidence_free(evidence);
    }
    return ok;
}

static bool lint_model(struct linter *linter, const struct model *model, struct arena *arena)
{
    struct lint lint;
    bool tables = linter->live || cli_given(linter->input, "--cost");
    bool ok = lint_run(model, arena, &lint);
    if (linter->json) {
        buf_text(&linter->out, linter->files == 0 ? "" : ",\n");
        buf_text(&linter->out, "{\"lint\":");
        lint_json(&lint, &linter->out);
        buf_text(&linter->out, ",\"tables\":[");
    } else {
        show_findings(linter, &lint);
    }
    if (tables)
        ok = show_tables(linter, model, arena) && ok;
    if (linter->json)
        buf_text(&linter->out, "]}");
    linter->warnings += lint.warnings;
    linter->notes += lint.notes;
    linter->suppressed += lint.suppressed;
    linter->files++;
    return ok;
}

static bool lint_file(struct linter *linter, const char *path)
{
    struct arena arena;
    arena_init(&arena, MEMORY);
    struct model *model = read_model(linter, path, &arena);
    bool ok = model != NULL && lint_model(linter, model, &arena);
    model_release(model);
    arena_release(&arena);
    return ok;
}

// ---- The command ---------------------------------------------------------------------------

static int show_rules(const struct cli_input *input)
{
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    if (cli_given(input, "--markdown"))
        lint_rules_markdown(&out);
    else
        lint_rules_show(&out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_release(&out);
    return CLI_OK;
}

static int lint_files(struct linter *linter)
{
    bool ok = true;
    if (linter->json)
        buf_byte(&linter->out, '[');
    for (size_t i = 0; i < linter->input->argument_count; i++)
        ok = lint_file(linter, linter->input->arguments[i]) && ok;
    if (linter->json)
        buf_text(&linter->out, "]\n");
    if (linter->out.failed)
        return cli_fail(linter->input->command, CLI_FAILED, "the answer is too large.");
    if (linter->out.len > 0)
        (void)fwrite(linter->out.ptr, 1, linter->out.len, stdout);
    (void)fflush(stdout);
    if (!linter->json && ok)
        (void)fprintf(stderr, "%zu warning%s, %zu note%s, %zu suppressed\n", linter->warnings,
                      linter->warnings == 1 ? "" : "s", linter->notes,
                      linter->notes == 1 ? "" : "s", linter->suppressed);
    if (!ok)
        return CLI_FAILED;
    return linter->warnings == 0 || cli_given(linter->input, "--advice") ? CLI_OK : CLI_FAILED;
}

static int lint_run_command(const struct cli_input *input)
{
    if (cli_given(input, "--rules"))
        return show_rules(input);
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a model, such as shop.dolmen.");
    struct linter linter = {.input = input, .json = cli_given(input, "--json")};
    linter.live = cli_given(input, "--endpoint") || cli_given(input, "--data");
    if (!cli_number(input, "--sample", SAMPLE, 1, 100000000, &linter.sample))
        return CLI_USAGE;
    int code = CLI_OK;
    if (linter.live && !target_open(&linter.target, input, &code)) {
        target_close(&linter.target);
        return code;
    }
    buf_init(&linter.out, OUTPUT_MAX);
    code = lint_files(&linter);
    buf_release(&linter.out);
    if (linter.live)
        target_close(&linter.target);
    return code;
}

static const struct cli_option lint_options[] = {
    {"--cost", NULL, "Print the read and write units of each access pattern and entity."},
    {"--endpoint", "URL", "Look at the live tables of this server, too."},
    {"--data", "DIR", "The same with a data directory; no server may have it open."},
    {"--region", "NAME", "The region that ARNs carry. Default: us-east-1."},
    {"--durability", "full|relaxed", "As for 'dolmen serve'; of use only with --data."},
    {"--sample", "N", "Items of each live table to look at, at most. Default: 100000."},
    {"--advice", NULL, "Exit with 0 even if there are warnings."},
    {"--json", NULL, "Print everything as JSON."},
    {"--rules", NULL, "List all rules with their reasons, and exit."},
    {"--markdown", NULL, "With --rules: as docs/LINT.md has them."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_lint = {
    .name = "lint",
    .arguments = "FILE… [--cost] [--json] [--endpoint URL | --data DIR]",
    .summary = "name the design smells of a model, and what it costs",
    .about = "Each finding has a code, the line, the reason and a fix. A comment '// lint: ignore\n"
             "L001' silences a rule for the declaration that follows, '// lint: ignore-file L001'\n"
             "for the file. The exit code is 1 if there are warnings; notes do not count.",
    .example = "  dolmen lint shop.dolmen --cost\n"
               "  dolmen lint shop.dolmen --endpoint http://127.0.0.1:8000\n"
               "  dolmen lint --rules",
    .options = lint_options,
    .arguments_max = CLI_ARGUMENTS_MAX,
    .run = lint_run_command,
};
