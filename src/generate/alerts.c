// `dolmen generate alerts`: alerting rules of Prometheus for the series that the server has of a
// model's tables and of the consumers that its rules start. Every name is a quoted string of YAML.
#include "generate/generate.h"
#include "model/rules.h"
#include "write/walk.h"

struct alert {
    const char *name; // behind the table's
    const char *expr; // with %s for the labels
    const char *lasting;
    const char *severity;
    const char *summary; // with %s for what it is about
};

static const struct alert table_alerts[] = {
    {"Throttled", "sum(rate(dolmen_throttled_requests_total{%s}[5m])) > 0", "5m", "warning",
     "Requests on %s are refused because of throughput"},
    {"SystemErrors", "sum(rate(dolmen_system_errors_total{%s}[5m])) > 0", "1m", "critical",
     "Requests on %s fail in the server"},
    {"UserErrors",
     "sum(rate(dolmen_user_errors_total{%s}[5m])) > 0.1 * sum(rate(dolmen_requests_total{%s}[5m]))",
     "10m", "warning", "More than a tenth of the requests on %s are refused"},
    {"Warnings", "sum(rate(dolmen_model_warnings_total{%s}[15m])) > 0", "15m", "info",
     "Writes to %s do not fit the model, which only warns"},
};

static const struct alert consumer_alerts[] = {
    {"Lag", "dolmen_consumer_lag_seconds{%s} > 60", "5m", "warning",
     "Changes wait for more than a minute for %s"},
    {"DeadLetters", "dolmen_consumer_dead_letters{%s} > 0", "0m", "warning",
     "Events have failed for good for %s"},
    {"Stopped", "dolmen_consumer_running{%s} == 0", "10m", "critical",
     "Nothing is delivered by %s"},
    {"Lost", "increase(dolmen_consumer_lost_total{%s}[1h]) > 0", "0m", "critical",
     "Changes were forgotten before they were delivered by %s"},
};

static const struct alert server_alerts[] = {
    {"StoreNotWritable", "dolmen_store_writable == 0", "1m", "critical",
     "The store takes no writes: see /health"},
    {"StoreDamaged", "dolmen_store_damage_total > 0", "0m", "critical",
     "Damage on disk was met: see /health"},
    {"AlarmRaised", "dolmen_alarm == 1", "0m", "warning", "An alarm of PutMetricAlarm is raised"},
};

// The text with its holes filled.
static struct slice fill(struct writer *w, const char *form, struct slice with)
{
    struct buf out;
    buf_init(&out, 64 << 10);
    for (const char *at = form; *at != 0; at++) {
        if (at[0] != '%' || at[1] != 's') {
            buf_byte(&out, (uint8_t)*at);
            continue;
        }
        buf_slice(&out, with);
        at++;
    }
    return text_keep(w, &out);
}

static void put_alerts(struct writer *w, const struct alert *alerts, size_t count,
                       struct slice name, struct slice labels, struct slice what)
{
    for (size_t i = 0; i < count; i++)
        PUT(w,
            "      - alert: %q\n        expr: %q\n        for: %s\n        labels:\n"
            "          severity: %s\n        annotations:\n          summary: %q\n",
            TEXT(w, "%s%s", name, slice_str(alerts[i].name)), fill(w, alerts[i].expr, labels),
            slice_str(alerts[i].lasting), slice_str(alerts[i].severity),
            fill(w, alerts[i].summary, what));
}

static void put_consumer(struct writer *w, const struct model_table *table, struct slice consumer)
{
    put_alerts(w, consumer_alerts, COUNT_OF(consumer_alerts),
               TEXT(w, "%s%s", text_pascal(w, table->name), text_pascal(w, consumer)),
               TEXT(w, "table=%q,consumer=%q", table->name, consumer),
               TEXT(w, "consumer %s of table %s", consumer, table->name));
}

// A consumer of `project` follows each table that it has entities of.
static bool projects_table(const struct model_project *project, const struct model_table *table)
{
    for (size_t i = 0; i < project->entity_count; i++) {
        if (project->entities[i]->table == table)
            return true;
    }
    return false;
}

static void put_table(struct writer *w, const struct model_table *table)
{
    const struct model_rules *rules = table->model->rules_of;
    PUT(w, "  - name: %q\n    rules:\n", TEXT(w, "dolmen-%s", table->name));
    put_alerts(w, table_alerts, COUNT_OF(table_alerts), text_pascal(w, table->name),
               TEXT(w, "table=%q", table->name), TEXT(w, "table %s", table->name));
    for (size_t i = 0; rules != NULL && i < rules->publish_count; i++) {
        if (rules->publishes[i].entity->table == table)
            put_consumer(w, table, rules->publishes[i].name);
    }
    for (size_t i = 0; rules != NULL && i < rules->project_count; i++) {
        if (projects_table(&rules->projects[i], table))
            put_consumer(w, table, rules->projects[i].name);
    }
}

void generate_alerts(struct writer *w)
{
    PUT(w, "# %s\ngroups:\n  - name: dolmen\n    rules:\n", text_banner(w));
    put_alerts(w, server_alerts, COUNT_OF(server_alerts), SLICE_LIT("Dolmen"), slice_of(NULL, 0),
               slice_of(NULL, 0));
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        put_table(w, table);
}
