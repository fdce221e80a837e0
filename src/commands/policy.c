// `dolmen policy`: documents checked, requests explained, cases decided: argv and files around
// src/policy. With --endpoint or --data, explain asks for what is kept there (policy_kept.c).
#include "commands/policy_kept.h"
#include "policy/scenario.h"
#include "json/writer.h"

#include <stdlib.h>

enum {
    FILE_MAX = 1 << 20, // more than a policy may have, so that the compiler says it
    CASES_MAX = 1 << 30,
    OUTPUT_MAX = 256 << 20,
    OUTPUT_PART = 1 << 20, // written at once
};

// ---- check -----------------------------------------------------------------------------------

struct checked {
    const char *path;
    bool json;
    size_t warnings;
    struct json_writer w;
    struct buf *out;
};

static void show_fault(struct checked *checked, const char *level, const struct policy_fault *fault)
{
    if (checked->json) {
        json_form(&checked->w, "{'level':%s,'line':%d,'column':%d,'pointer':%s,'message':%s}",
                  level, fault->line, fault->column, fault->path, fault->message);
        return;
    }
    buf_printf(checked->out, "%s:%u:%u: %s: %s%s%s\n", checked->path, fault->line, fault->column,
               level, fault->path, fault->path[0] != 0 ? ": " : "", fault->message);
}

static void show_warning(void *to, const struct policy_fault *warning)
{
    struct checked *checked = to;
    checked->warnings++;
    show_fault(checked, "warning", warning);
}

// A policy that says whom it is for is a resource's.
static enum policy_kind kind_of(struct cli_input *input, struct slice text)
{
    const char *kind = cli_value(input, "--kind", NULL);
    if (kind != NULL)
        return strcmp(kind, "resource") == 0 ? POLICY_RESOURCE : POLICY_IDENTITY;
    return slice_contains(text, SLICE_LIT("\"Principal\"")) ||
                   slice_contains(text, SLICE_LIT("\"NotPrincipal\""))
               ? POLICY_RESOURCE
               : POLICY_IDENTITY;
}

static bool check_text(struct cli_input *input, struct slice text, struct checked *checked)
{
    struct policy_fault fault;
    enum policy_kind kind = kind_of(input, text);
    if (checked->json)
        json_form(&checked->w, "{'file':%s,'kind':%s,'diagnostics':[", checked->path,
                  kind == POLICY_RESOURCE ? "resource" : "identity");
    struct policy *policy = policy_compile(text, kind, show_warning, checked, &fault);
    size_t statements = policy == NULL ? 0 : policy_statement_count(policy);
    if (policy == NULL)
        show_fault(checked, "error", &fault);
    else if (!checked->json)
        buf_printf(checked->out, "%s: %s, %zu statement%s: ok%s", checked->path,
                   policy_kind_name(kind), statements, statements == 1 ? "" : "s",
                   checked->warnings == 0 ? "\n" : "");
    if (policy != NULL && !checked->json && checked->warnings > 0)
        buf_printf(checked->out, ", %zu warning%s\n", checked->warnings,
                   checked->warnings == 1 ? "" : "s");
    if (checked->json) {
        json_close_array(&checked->w);
        json_form(&checked->w, "'ok':%hhd,'statements':%zu}", policy != NULL, statements);
    }
    policy_release(policy);
    return policy != NULL;
}

static bool run_check(struct cli_input *input)
{
    struct buf out;
    const char *kind = cli_value(input, "--kind", "identity");
    if (input->argument_count < 2)
        return cli_misused(input, "check takes the names of files, or '-'.");
    if (strcmp(kind, "identity") != 0 && strcmp(kind, "resource") != 0)
        return cli_misused(input, "--kind must be identity or resource, not '%s'.", kind);
    buf_init(&out, OUTPUT_MAX);
    struct checked checked = {
        .json = cli_given(input, "--json"), .out = &out, .w = json_writer_to(&out)};
    bool ok = true;
    if (checked.json)
        json_open_array(&checked.w);
    for (size_t i = 1; i < input->argument_count; i++) {
        struct buf text;
        buf_init(&text, FILE_MAX);
        checked.path = input->arguments[i];
        checked.warnings = 0;
        ok = cli_read(input, checked.path, &text) && check_text(input, buf_view(&text), &checked) &&
             ok;
        buf_release(&text);
    }
    if (checked.json) {
        json_close_array(&checked.w);
        buf_byte(&out, '\n');
    }
    return cli_print(&out, stdout) && ok;
}

// ---- explain ---------------------------------------------------------------------------------

static bool add_files(struct cli_input *input, struct scenario *scenario, const char *option,
                      enum policy_kind kind)
{
    const char *path;
    for (size_t i = 0; (path = cli_repeated(input, option, i)) != NULL; i++) {
        struct buf text;
        buf_init(&text, FILE_MAX);
        bool ok = cli_read(input, path, &text);
        if (ok && !scenario_add_policy(scenario, kind, slice_str(path), buf_view(&text)))
            ok = cli_fail(input, "%s.", scenario->message);
        buf_release(&text);
        if (!ok)
            return false;
    }
    return true;
}

static bool add_context(struct cli_input *input, struct scenario *scenario)
{
    const char *pair;
    for (size_t i = 0; (pair = cli_repeated(input, "--context", i)) != NULL; i++) {
        struct slice value = slice_str(pair);
        struct slice key = slice_cut(&value, '=');
        if (key.len == strlen(pair))
            return cli_misused(input, "--context must be KEY=VALUE, not '%s'.", pair);
        if (!scenario_add_value(scenario, key, value))
            return cli_fail(input, "%s.", scenario->message);
    }
    return true;
}

// False if it is denied, or after telling what is wrong.
static bool explain_one(struct cli_input *input, struct scenario *scenario, const char *resource,
                        struct buf *out)
{
    struct policy_decision decision;
    const char *principal = cli_value(input, "--principal", NULL);
    const char *action = cli_value(input, "--action", NULL);
    if (!scenario_ask(scenario, slice_str(principal), slice_str(action), slice_str(resource),
                      slice_str(cli_value(input, "--account", ""))))
        return cli_fail(input, "%s.", scenario->message);
    scenario_explain(scenario, cli_given(input, "--json"), &decision, out);
    return decision.outcome == POLICY_ALLOW;
}

static struct scenario *scenario_new(void)
{
    struct scenario *scenario = malloc(sizeof(*scenario));
    ensure_memory(scenario);
    scenario_init(scenario);
    return scenario;
}

static void scenario_free(struct scenario *scenario)
{
    scenario_release(scenario);
    free(scenario);
}

// Each resource has a scenario of its own: its policy may be another one. `kept` is NULL if only
// files are asked.
static bool explain(struct cli_input *input, struct target *kept)
{
    const char *resource;
    struct buf out;
    bool allowed = true;
    bool ok = true;
    buf_init(&out, OUTPUT_MAX);
    for (size_t i = 0; ok && (resource = cli_repeated(input, "--resource", i)) != NULL; i++) {
        struct scenario *scenario = scenario_new();
        ok = add_files(input, scenario, "--policy", POLICY_IDENTITY) &&
             add_files(input, scenario, "--boundary", POLICY_BOUNDARY) &&
             add_files(input, scenario, "--session-policy", POLICY_SESSION) &&
             add_files(input, scenario, "--resource-policy", POLICY_RESOURCE) &&
             add_context(input, scenario) &&
             (kept == NULL ||
              policies_kept(kept, scenario, cli_value(input, "--principal", NULL), resource));
        if (ok && i > 0 && !cli_given(input, "--json"))
            buf_byte(&out, '\n');
        allowed = ok && explain_one(input, scenario, resource, &out) && allowed;
        scenario_free(scenario);
    }
    return cli_print(&out, stdout) && allowed;
}

static bool run_explain(struct cli_input *input)
{
    static const char *const needed[] = {"--principal", "--action", "--resource"};
    if (input->argument_count > 1)
        return cli_misused(input, "'%s' is one argument too many.", input->arguments[1]);
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!cli_given(input, needed[i]))
            return cli_misused(input, "explain needs %s.", needed[i]);
    // Not what the environment names: who explains files means these alone.
    if (!cli_given(input, "--endpoint") && !cli_given(input, "--data"))
        return explain(input, NULL);
    struct target target;
    if (!target_open(&target, input))
        return false;
    bool allowed = explain(input, &target);
    target_close(&target);
    return allowed;
}

// ---- test ------------------------------------------------------------------------------------

struct tester {
    struct cli_input *input;
    const char *path;
    bool json;
    size_t line;
    size_t passed;
    size_t failed;
    struct buf out;
};

static void case_wrong(struct tester *tester, const char *message)
{
    tester->failed++;
    if (tester->json) {
        struct json_writer w = json_writer_to(&tester->out);
        json_form(&w, "{'error':%s}", message);
        buf_byte(&tester->out, '\n');
    } else {
        buf_printf(&tester->out, "%s:%zu: %s\n", tester->path, tester->line, message);
    }
}

static void case_decide(struct tester *tester, struct scenario *scenario)
{
    struct policy_decision decision;
    scenario_decide(scenario, &decision);
    const char *outcome = policy_outcome_name(decision.outcome);
    bool right = scenario->expected.len == 0 || slice_is(scenario->expected, outcome);
    tester->passed += right;
    tester->failed += !right;
    if (tester->json)
        scenario_brief(scenario, &decision, &tester->out);
    else if (!right) {
        buf_printf(&tester->out, "%s:%zu: %.*s%sexpected %.*s, and it is %s\n", tester->path,
                   tester->line, SLICE_FMT(scenario->name), scenario->name.len > 0 ? ": " : "",
                   SLICE_FMT(scenario->expected), outcome);
        scenario_explain(scenario, false, &decision, &tester->out);
    }
}

static bool test_file(struct tester *tester, struct scenario *scenario)
{
    struct buf text;
    buf_init(&text, CASES_MAX);
    bool ok = cli_read(tester->input, tester->path, &text);
    struct slice rest = buf_view(&text);
    tester->line = 0;
    while (ok && rest.len > 0) {
        struct slice line = slice_cut(&rest, '\n');
        tester->line++;
        if (slice_trim(line).len == 0)
            continue;
        scenario_init(scenario);
        if (scenario_read(scenario, line))
            case_decide(tester, scenario);
        else
            case_wrong(tester, scenario->message);
        scenario_release(scenario);
        if (tester->out.len > OUTPUT_PART) {
            ok = cli_print(&tester->out, stdout);
            buf_init(&tester->out, OUTPUT_MAX);
        }
    }
    buf_release(&text);
    return ok;
}

static bool run_test(struct cli_input *input)
{
    struct tester tester = {.input = input, .json = cli_given(input, "--json")};
    if (input->argument_count < 2)
        return cli_misused(input, "test takes the names of files, or '-'.");
    struct scenario *scenario = scenario_new();
    buf_init(&tester.out, OUTPUT_MAX);
    bool ok = true;
    for (size_t i = 1; i < input->argument_count && ok; i++) {
        tester.path = input->arguments[i];
        ok = test_file(&tester, scenario);
    }
    if (ok && !tester.json)
        buf_printf(&tester.out, "%zu passed, %zu failed\n", tester.passed, tester.failed);
    scenario_init(scenario); // the last case is released
    scenario_free(scenario);
    return cli_print(&tester.out, stdout) && ok && tester.failed == 0;
}

bool cli_policy(struct cli_input *input)
{
    const char *what = cli_argument(input, 0, "");
    if (strcmp(what, "check") == 0)
        return run_check(input);
    if (strcmp(what, "explain") == 0)
        return run_explain(input);
    if (strcmp(what, "test") == 0)
        return run_test(input);
    return cli_misused(input, "say what to do: check, explain or test.");
}
