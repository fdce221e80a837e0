// `dolmen lint`: design smells of models, what their reads and writes cost, and, with a live table,
// what its items say.
#include "cli/scan.h"

#include "lint/cost.h"
#include "lint/evidence.h"
#include "lint/lint.h"
#include "model/rules.h"

enum {
    OUTPUT_MAX = 256 << 20,
    MEMORY = 256 << 20,
    SAMPLE = 100000,
};

struct linter {
    struct cli_input *input;
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
    struct scan scan;
    scan_init(&scan, &linter->target, (const char *)name.ptr, visit_item, evidence);
    if (evidence != NULL && !scan_all(&scan, described.items, linter->sample, linter->json)) {
        evidence_free(evidence);
        evidence = NULL;
    }
    scan_release(&scan);
    return evidence;
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

// What rules that are new to the tables would remove now: the server counts that for a diff. False
// after telling the user.
static bool show_removals(struct linter *linter, const struct model *model)
{
    const struct model_rules *rules = model->rules_of;
    struct arena arena;
    struct slice table;
    struct slice removal;
    if (!linter->live || rules->retain_count + rules->keep_count == 0)
        return true;
    if (!target_fine(&linter->target,
                     target_ask(&linter->target, "DiffModel", "{'Model':%.*s,'Sample':%lld}",
                                SLICE_FMT(model->text), (long long)linter->sample)))
        return false;
    arena_init(&arena, MEMORY);
    size_t count = 0;
    struct json_list tables = json_list(buf_view(&linter->target.response), "Tables", &arena);
    while (json_list_next(&tables, &table)) {
        struct json_list removals = json_list(table, "Removals", &arena);
        while (json_list_next(&removals, &removal)) {
            if (linter->json)
                buf_printf(&linter->out, "%s%.*s", count++ == 0 ? "" : ",", SLICE_FMT(removal));
            else
                buf_printf(&linter->out, "%.*s\n",
                           SLICE_FMT(json_member_text(removal, "Text", &arena)));
        }
    }
    arena_release(&arena);
    return true;
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
        buf_text(&linter->out, "],\"removals\":[");
    ok = ok && show_removals(linter, model);
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
    struct model *model = cli_model_file(linter->input, path);
    bool ok = model != NULL && lint_model(linter, model, &arena);
    model_release(model);
    arena_release(&arena);
    return ok;
}

// ---- The command ---------------------------------------------------------------------------

static bool show_rules(const struct cli_input *input)
{
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    if (cli_given(input, "--markdown"))
        lint_rules_markdown(&out);
    else
        lint_rules_show(&out);
    return cli_print(&out, stdout);
}

static bool lint_files(struct linter *linter)
{
    bool ok = true;
    if (linter->json)
        buf_byte(&linter->out, '[');
    for (size_t i = 0; i < linter->input->argument_count; i++)
        ok = lint_file(linter, linter->input->arguments[i]) && ok;
    if (linter->json)
        buf_text(&linter->out, "]\n");
    if (linter->out.failed)
        return cli_fail(linter->input, "the answer is too large.");
    (void)cli_print(&linter->out, stdout);
    if (!linter->json && ok)
        (void)fprintf(stderr, "%zu warning%s, %zu note%s, %zu suppressed\n", linter->warnings,
                      linter->warnings == 1 ? "" : "s", linter->notes,
                      linter->notes == 1 ? "" : "s", linter->suppressed);
    return ok && (linter->warnings == 0 || cli_given(linter->input, "--advice"));
}

bool cli_lint(struct cli_input *input)
{
    if (cli_given(input, "--rules"))
        return show_rules(input);
    if (input->argument_count == 0)
        return cli_misused(input, "name a model, such as shop.dolmen.");
    struct linter linter = {.input = input, .json = cli_given(input, "--json")};
    linter.live = cli_given(input, "--endpoint") || cli_given(input, "--data");
    if (!cli_number(input, "--sample", SAMPLE, 1, 100000000, &linter.sample))
        return false;
    buf_init(&linter.out, OUTPUT_MAX);
    bool ok = (!linter.live || target_open(&linter.target, input)) && lint_files(&linter);
    buf_release(&linter.out);
    if (linter.live)
        target_close(&linter.target);
    return ok;
}
