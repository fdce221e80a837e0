// Findings and rules as text, JSON and Markdown.
#include "lint/lint_internal.h"

#include "json/writer.h"

enum { WIDTH = 92 };

// Words of `text`, broken into lines that begin with `first`, later ones with as many blanks.
static void show_wrapped(struct buf *out, const char *first, const char *text)
{
    size_t indent = strlen(first);
    size_t column = indent;
    buf_text(out, first);
    while (*text != 0) {
        size_t len = strcspn(text, " ");
        if (column > indent && column + 1 + len > WIDTH) {
            buf_byte(out, '\n');
            for (size_t i = 0; i < indent; i++)
                buf_byte(out, ' ');
            column = indent;
        } else if (column > indent) {
            buf_byte(out, ' ');
            column++;
        }
        buf_add(out, text, len);
        column += len;
        text += len;
        text += strspn(text, " ");
    }
    buf_byte(out, '\n');
}

void lint_show(const struct lint_finding *finding, const struct model *model, struct buf *out)
{
    struct diagnostic shown = finding->diagnostic;
    shown.help = NULL;
    diagnostic_show(&shown, model->file, model->text, out);
    show_wrapped(out, "     why: ", finding->rule->reason);
    show_wrapped(out, "     fix: ", finding->diagnostic.help);
}

static const char *severity_name(enum severity severity)
{
    return severity == SEVERITY_ERROR ? "error" : severity == SEVERITY_NOTE ? "note" : "warning";
}

static void finding_json(struct json_writer *w, const struct lint_finding *finding)
{
    const struct diagnostic *diagnostic = &finding->diagnostic;
    json_open_object(w);
    json_put_text(w, "code", finding->rule->code);
    json_put_text(w, "rule", finding->rule->name);
    json_put_text(w, "severity", severity_name(diagnostic->severity));
    json_put_integer(w, "line", diagnostic->at.line);
    json_put_integer(w, "column", diagnostic->at.column);
    json_put_text(w, "message", diagnostic->message);
    json_put_text(w, "reason", finding->rule->reason);
    json_put_text(w, "fix", diagnostic->help);
    json_put_flag(w, "suppressed", finding->suppressed);
    json_close_object(w);
}

void lint_json(const struct lint *lint, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_string(&w, "file", lint->model->file);
    json_put_integer(&w, "warnings", (int64_t)lint->warnings);
    json_put_integer(&w, "notes", (int64_t)lint->notes);
    json_put_integer(&w, "suppressed", (int64_t)lint->suppressed);
    json_put_array(&w, "findings");
    for (size_t i = 0; i < lint->count; i++)
        finding_json(&w, &lint->findings[i]);
    json_close_array(&w);
    json_close_object(&w);
}

void lint_rules_show(struct buf *out)
{
    size_t count;
    const struct lint_rule *rules = lint_rules(&count);
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s %s (%s): %s\n", rules[i].code, rules[i].name,
                   severity_name(rules[i].severity), rules[i].summary);
        show_wrapped(out, "     why: ", rules[i].reason);
        show_wrapped(out, "     fix: ", rules[i].fix);
    }
}

static const char about[] =
    "# Lint: design smells and their reasons\n"
    "\n"
    "`dolmen lint FILE…` reads models and names what will hurt when the table is large, although "
    "the file is\n"
    "right: the line, the reason, a fix. This page is what `dolmen lint --rules --markdown` "
    "prints.\n"
    "\n"
    "The exit code is 0 if there are no warnings, else 1; notes and what is suppressed do not "
    "count, and with\n"
    "`--advice` it is always 0. `--cost` adds what reads and writes cost; with `--endpoint URL` or "
    "`--data DIR`\n"
    "the live tables are looked at, too.\n"
    "\n"
    "A comment suppresses a rule, by code or by name, for its line and the declaration that "
    "follows, or for\n"
    "the whole file:\n"
    "\n"
    "```dolmen\n"
    "// lint: ignore L001\n"
    "// lint: ignore-file unused-index, L025\n"
    "```\n"
    "\n"
    "| code | name | | what it finds |\n"
    "|---|---|---|---|\n";

void lint_rules_markdown(struct buf *out)
{
    size_t count;
    const struct lint_rule *rules = lint_rules(&count);
    buf_text(out, about);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "| [%s](#l%s-%s) | %s | %s | %s |\n", rules[i].code, rules[i].code + 1,
                   rules[i].name, rules[i].name, severity_name(rules[i].severity),
                   rules[i].summary);
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "\n## %s %s\n\n", rules[i].code, rules[i].name);
        buf_printf(out, "Finds: %s.\n\n%s\n\n", rules[i].summary, rules[i].reason);
        buf_printf(out, "Fix: %s\n", rules[i].fix);
    }
}
