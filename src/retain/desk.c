// When sweeps begin, how fast they are, and what they have come to: see retain.h.
#include "retain/sweep.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_MS = 60 * 1000, RULES_MEMORY = 16 << 20 };

// ---- The desk ---------------------------------------------------------------------------------

struct retain_desk *retain_desk_new(void)
{
    struct retain_desk *desk = memory_zeroed(sizeof(*desk));
    desk->settings =
        (struct retain_settings){.rate = RETAIN_RATE, .every_ms = RETAIN_EVERY_S * INT64_C(1000)};
    return desk;
}

void retain_desk_free(struct retain_desk *desk)
{
    if (desk != NULL) {
        free(desk->archive);
        free(desk->bucket);
        free(desk->prefix);
    }
    free(desk);
}

// "bucket/prefix": the prefix ends with a slash, if there is one.
static void set_bucket(struct retain_desk *desk, const char *place)
{
    size_t len = strcspn(place, "/");
    const char *rest = place + len + (place[len] == '/');
    size_t size = strlen(rest) + 2;
    desk->bucket = strndup(place, len);
    desk->prefix = malloc(size);
    ensure_memory(desk->bucket);
    ensure_memory(desk->prefix);
    bool open = rest[0] != 0 && rest[strlen(rest) - 1] != '/';
    (void)snprintf(desk->prefix, size, "%s%s", rest, open ? "/" : "");
}

void retain_set(struct workshop *shop, const struct retain_settings *settings)
{
    struct retain_desk *desk = shop->retain;
    bool remote = settings->archive != NULL && strncmp(settings->archive, "s3://", 5) == 0;
    const char *root = settings->archive != NULL && !remote ? settings->archive : shop->bucket_root;
    desk->settings = *settings;
    ensure(!desk->ready);
    if (remote)
        set_bucket(desk, settings->archive + 5);
    if (root == NULL) {
        desk->ready = true;
        return;
    }
    size_t size = strlen(root) + sizeof("/archives");
    desk->archive = malloc(size);
    ensure_memory(desk->archive);
    (void)snprintf(desk->archive, size, "%s%s", root,
                   remote                      ? "/.archive"
                   : settings->archive != NULL ? ""
                                               : "/archives");
    desk->ready = true;
}

const char *retain_archive_root(struct workshop *shop)
{
    return shop->retain->archive;
}

void retain_totals(struct workshop *shop, struct retain_totals *out)
{
    const struct retain_desk *desk = shop->retain;
    *out = (struct retain_totals){
        .walks = desk->walks,
        .failed = desk->failed,
        .looked = desk->looked,
        .removed = desk->removed,
        .archived = desk->archived,
        .left = desk->left,
        .archives = desk->archives,
        .running = desk->running,
    };
}

int64_t retain_next_ms(struct workshop *shop, const struct retain_record *record)
{
    int64_t every = shop->retain->settings.every_ms;
    if (record->status == RETAIN_FAILED)
        return record->ended_ms + (every < RETRY_MS ? every : RETRY_MS);
    return record->started_ms + every;
}

// ---- Beginning --------------------------------------------------------------------------------

struct beginning {
    struct workshop *shop;
    const struct table *table;
    const struct retain_rule *rule;
    struct arena arena;
    struct record_write write;
};

// On the writer's thread: a walk that is under way, of this very rule, goes on, and is followed by
// another.
static bool decide(struct record_job *job, struct engine *engine)
{
    struct beginning *beginning = job->context;
    struct retain_record record;
    arena_reset(&beginning->arena);
    if (!retain_record_read(engine, beginning->table, beginning->rule->id, &beginning->arena,
                            &record, job->job.error))
        return false;
    bool same = slice_equal(record.text, beginning->rule->text);
    record.asked++;
    if (!same || record.status != RETAIN_RUNS)
        retain_record_begin(&record, env_now(engine_env(engine)));
    record.table_id = beginning->table->uuid;
    record.text = beginning->rule->text;
    beginning->write.value = map_encode(&retain_form, &record, &beginning->arena, job->job.error);
    return job->job.error->code == ERR_NONE;
}

// The name of a rule's record, and its parts. `text` has room for RUN_NAME_MAX.
struct rule_name {
    struct slice record;
    struct slice id; // of the run
    struct slice table;
};

static struct rule_name name_rule(const struct table *table, const struct retain_rule *rule,
                                  char *text)
{
    int len = snprintf(text, RUN_NAME_MAX, "retain/%.*s/%s", SLICE_FMT(table->name), rule->id);
    size_t kind = sizeof("retain/") - 1;
    ensure(len > 0 && (size_t)len < RUN_NAME_MAX);
    return (struct rule_name){slice_of(text, (size_t)len),
                              slice_of(text + kind, (size_t)len - kind),
                              slice_of(text + kind, table->name.len)};
}

static bool begin_rule(struct workshop *shop, const struct table *table,
                       const struct retain_rule *rule, struct error *error)
{
    struct beginning beginning = {.shop = shop, .table = table, .rule = rule};
    char text[RUN_NAME_MAX];
    struct rule_name name = name_rule(table, rule, text);
    beginning.write.name = name.record;
    arena_init(&beginning.arena, 1 << 20);
    struct record_edit edit = {
        .decide = decide, .context = &beginning, .count = 1, .writes = &beginning.write};
    bool ok = work_edit_records(shop, &edit, error);
    arena_release(&beginning.arena);
    if (ok) // if the end has come, the next process finds the record
        (void)run_start(shop, run_new(&sweep_kind, name.id, name.table));
    return ok;
}

// The record tells of a walk under way. If it is not, because its end could not be written, it is
// walked again from there: nobody else would, as long as the record says so.
static void pick_up(struct workshop *shop, const struct table *table,
                    const struct retain_rule *rule)
{
    char text[RUN_NAME_MAX];
    struct rule_name name = name_rule(table, rule, text);
    if (!run_goes_on(shop, &sweep_kind, name.id))
        (void)run_start(shop, run_new(&sweep_kind, name.id, name.table));
}

static bool has_rules(const struct table *table)
{
    if (table == NULL || table->guard == NULL || table->status != TABLE_ACTIVE)
        return false;
    const struct model_rules *rules = model_guard_table(table->guard)->model->rules_of;
    return rules->retain_count + rules->keep_count > 0;
}

// Which rules of a table begin: all, those that do not run, or those that are due.
enum which { BEGIN_ALL, BEGIN_IDLE, BEGIN_DUE };

static bool is_wanted(struct workshop *shop, const struct retain_record *record, enum which which)
{
    int64_t now_ms = env_now(engine_env(shop->engine));
    if (which == BEGIN_ALL || record->status == RETAIN_RUNS)
        return which == BEGIN_ALL;
    return which == BEGIN_IDLE || now_ms >= retain_next_ms(shop, record) ||
           now_ms < record->started_ms; // the clock was put back
}

static bool begin_table(struct workshop *shop, const struct table *table, enum which which,
                        struct error *error)
{
    struct arena arena;
    struct retain_rule *rules;
    size_t count;
    arena_init(&arena, RULES_MEMORY);
    bool ok = retain_rules(model_guard_table(table->guard), &arena, &rules, &count) ||
              error_budget(error);
    for (size_t i = 0; ok && i < count; i++) {
        struct retain_record record;
        if (rules[i].idle)
            continue;
        ok = retain_record_read(shop->engine, table, rules[i].id, &arena, &record, error);
        bool changed = !slice_equal(record.text, rules[i].text);
        if (ok && (changed || is_wanted(shop, &record, which)))
            ok = begin_rule(shop, table, &rules[i], error);
        else if (ok && record.status == RETAIN_RUNS)
            pick_up(shop, table, &rules[i]);
    }
    arena_release(&arena);
    return ok;
}

bool retain_begin(struct workshop *shop, struct slice name, struct error *error)
{
    struct table *table = engine_table(shop->engine, name);
    bool ok =
        !shop->retain->ready || !has_rules(table) || begin_table(shop, table, BEGIN_ALL, error);
    table_release(table);
    return ok;
}

// ---- The chore --------------------------------------------------------------------------------

struct care {
    struct workshop *shop;
    enum which which;
};

static bool care_for(void *context, struct table *table)
{
    const struct care *care = context;
    struct arena arena;
    struct error error;
    arena_init(&arena, RULES_MEMORY);
    error_init(&error, &arena);
    if (has_rules(table) && !table_name_hidden(table->name) &&
        !begin_table(care->shop, table, care->which, &error) && !work_stopping(care->shop))
        log_error("the sweeps of table %.*s could not be begun: %s", SLICE_FMT(table->name),
                  error.message);
    arena_release(&arena);
    return !work_stopping(care->shop);
}

void retain_care(struct workshop *shop)
{
    struct engine_health health;
    engine_health(shop->engine, &health);
    // Beginning is a write, and other chores do not wait for a disk that takes none.
    if (!shop->retain->ready || shop->retain->settings.asked || !health.writable)
        return;
    if (!shop->retain->started)
        run_resume(shop, &sweep_kind, true);
    struct care care = {shop, shop->retain->started ? BEGIN_DUE : BEGIN_IDLE};
    shop->retain->started = true;
    work_each_table(shop, care_for, &care);
}
