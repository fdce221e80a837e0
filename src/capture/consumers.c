// See consumers.h.
//
// Two locks. `list` guards the list for a moment, also on the writer's thread, which must not wait.
// `use` is held by whoever works with a consumer, and alone by whoever ends some: a consumer that
// is found stays until it is let go of.
#include "capture/consumers.h"

#include "base/worker.h"
#include "capture/kinesis.h"
#include "capture/outbox.h"
#include "engine/record.h"
#include "model/rules.h"
#include "tables/names.h"
#include "tables/table_settings.h"
#include "value/map.h"
#include "work/jobs.h"
#include "work/lanes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { REFRESH_MS = 10, REFRESH_EVERY_MS = 60000, CONSUMERS_MAX = 256, ORPHANS = 32 };

struct member {
    struct member *next;
    struct consumer *consumer;
    char *made_of; // what it was made of: another text, and it is made anew
    bool seen;
};

struct consumers {
    struct workshop *shop;
    const struct outlet_opener *opener;
    const struct kinesis *kinesis; // or NULL
    struct consumers_projects projects;
    struct log_listener listener;
    struct worker worker;
    pthread_mutex_t list;
    pthread_rwlock_t use;
    struct member *first;
    size_t count;
    atomic_bool found; // the list has been made
};

// ---- Commits ---------------------------------------------------------------------------------

static void heard(void *context, uint64_t logs)
{
    struct consumers *all = context;
    ensure(pthread_mutex_lock(&all->list) == 0);
    for (struct member *at = all->first; at != NULL; at = at->next)
        consumer_heard(at->consumer, logs);
    ensure(pthread_mutex_unlock(&all->list) == 0);
}

static void catalog(void *context)
{
    worker_ask(&((struct consumers *)context)->worker);
}

// ---- The list --------------------------------------------------------------------------------

static int member_order(const struct consumer *a, struct slice table, struct slice name)
{
    int order = slice_compare(consumer_table(a), table);
    return order != 0 ? order : slice_compare(consumer_name(a), name);
}

static struct member **member_place(struct consumers *all, struct slice table, struct slice name)
{
    struct member **at = &all->first;
    while (*at != NULL && member_order((*at)->consumer, table, name) < 0)
        at = &(*at)->next;
    return at;
}

static struct member *member_find(struct consumers *all, struct slice table, struct slice name)
{
    struct member *found = *member_place(all, table, name);
    return found != NULL && member_order(found->consumer, table, name) == 0 ? found : NULL;
}

static void member_add(struct consumers *all, struct consumer *consumer, char *made_of)
{
    struct member *added = memory_zeroed(sizeof(*added));
    *added = (struct member){.consumer = consumer, .made_of = made_of, .seen = true};
    ensure(pthread_mutex_lock(&all->list) == 0);
    struct member **place = member_place(all, consumer_table(consumer), consumer_name(consumer));
    added->next = *place;
    *place = added;
    all->count++;
    ensure(pthread_mutex_unlock(&all->list) == 0);
}

static void member_end(struct consumers *all, struct member *member, bool forget)
{
    ensure(pthread_mutex_lock(&all->list) == 0);
    struct member **at = &all->first;
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
    all->count--;
    ensure(pthread_mutex_unlock(&all->list) == 0);
    consumer_free(member->consumer, forget);
    free(member->made_of);
    free(member);
}

// ---- What there should be --------------------------------------------------------------------

// A text that changes whenever the consumer has to be made anew.
static char *made_of(const struct table *table, struct slice target)
{
    char *text = NULL;
    ensure_memory(asprintf(&text, "%.*s %.*s %.*s", SLICE_FMT(table->uuid), SLICE_FMT(table->model),
                           SLICE_FMT(target)) < 0
                      ? NULL
                      : text);
    return text;
}

static unsigned option_number(const struct model_publish *publish, const char *name)
{
    const struct model_option *option = publish_option(publish, name);
    unsigned number = 0;
    for (size_t i = 0; option != NULL && i < option->value.len && number < 100000; i++) {
        uint8_t c = option->value.ptr[i];
        if (c < '0' || c > '9')
            return 0;
        number = number * 10 + (c - '0');
    }
    return number;
}

// A URL without the part that may be a password.
static struct slice shown(struct slice url, char *out, size_t size)
{
    const uint8_t *at = memchr(url.ptr, '@', url.len);
    const uint8_t *host = memmem(url.ptr, url.len, "//", 2);
    size_t len;
    if (at == NULL || host == NULL || host > at)
        return url;
    size_t head = (size_t)(host - url.ptr) + 2;
    len = (size_t)snprintf(out, size, "%.*s***%.*s", (int)head, (const char *)url.ptr,
                           (int)(url.len - (size_t)(at - url.ptr)), (const char *)at);
    return slice_of(out, len < size ? len : size - 1);
}

static void options_copy(struct outlet_option *to, const struct model_option *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (struct outlet_option){from[i].name, from[i].source, from[i].value};
}

static void start(struct consumers *all, struct table *table, const struct model_publish *publish,
                  uint64_t from, char *text)
{
    char hidden[1024];
    struct consumer_source *source =
        outbox_new(table->guard, publish, engine_env(all->shop->engine));
    if (source == NULL) {
        free(text);
        return;
    }
    struct outlet_option *options = memory_zeroed((publish->option_count + 1) * sizeof(*options));
    options_copy(options, publish->options, publish->option_count);
    struct consumer_plan plan = {.name = publish->name,
                                 .table = table->name,
                                 .uuid = table->uuid,
                                 .start = from,
                                 .source = source,
                                 .opener = all->opener,
                                 .target = {publish->target, publish->option_count, options},
                                 .shown = shown(publish->target, hidden, sizeof(hidden)),
                                 .attempts = option_number(publish, "attempts")};
    member_add(all, consumer_new(all->shop, &plan), text);
    free(options);
}

static void start_project(struct consumers *all, struct table *table,
                          const struct model_project *project, uint64_t from, char *text)
{
    char hidden[1024];
    struct outlet_option *options = memory_zeroed((project->option_count + 1) * sizeof(*options));
    options_copy(options, project->options, project->option_count);
    struct consumer_plan plan = {.name = project->name,
                                 .table = table->name,
                                 .uuid = table->uuid,
                                 .start = from,
                                 .target = {project->target, project->option_count, options},
                                 .shown = shown(project->target, hidden, sizeof(hidden))};
    if (all->projects.plan != NULL &&
        all->projects.plan(all->projects.context, table, project, &plan))
        member_add(all, consumer_new(all->shop, &plan), text);
    else
        free(text);
    free(options);
}

// Whether there is such a consumer already; one that was made of something else ends. Takes the
// text if there is.
static bool stays(struct consumers *all, const struct table *table, struct slice name, char *text)
{
    struct member *found = member_find(all, table->name, name);
    if (found != NULL && strcmp(found->made_of, text) == 0) {
        found->seen = true;
        free(text);
        return true;
    }
    if (found != NULL)
        member_end(all, found, !slice_equal(consumer_uuid(found->consumer), table->uuid));
    if (all->count < CONSUMERS_MAX)
        return false;
    free(text);
    return true;
}

static void refresh_rule(struct consumers *all, struct table *table,
                         const struct model_publish *publish, struct slice entry)
{
    char *text = made_of(table, publish->target);
    if (!stays(all, table, publish->name, text))
        start(all, table, publish, (uint64_t)map_integer(entry, "start"), text);
}

static void refresh_project(struct consumers *all, struct table *table,
                            const struct model_project *project, struct slice entry)
{
    char *text = made_of(table, project->target);
    if (!stays(all, table, project->name, text))
        start_project(all, table, project, (uint64_t)map_integer(entry, "start"), text);
}

// ---- Kinesis ---------------------------------------------------------------------------------

// Up to where a destination is delivered, by a record of that name; 0 if there is none.
static uint64_t position_of(struct consumers *all, const char *prefix, const char *member,
                            const struct table *table, struct slice arn)
{
    struct arena arena;
    struct error error;
    struct buf name;
    struct slice record = VALUE_NONE;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    buf_init(&name, 1 << 16);
    buf_printf(&name, "%s%.*s/%.*s", prefix, SLICE_FMT(table->uuid), SLICE_FMT(arn));
    bool ok = engine_record(all->shop->engine, buf_view(&name), &arena, &record, &error);
    uint64_t position = ok && record.len > 0 ? (uint64_t)map_integer(record, member) : 0;
    buf_release(&name);
    arena_release(&arena);
    return position;
}

// A destination that was disabled is delivered up to its end.
static void refresh_destination(struct consumers *all, struct table *table, struct slice arn,
                                struct slice entry)
{
    bool active = map_flag(entry, "active");
    uint64_t end = active ? 0 : (uint64_t)map_integer(entry, "end");
    uint64_t from = (uint64_t)map_integer(entry, "start");
    uint64_t older = position_of(all, "kinesis/", "sequence", table, arn);
    struct slice precision = map_text(entry, "precision");
    struct member *found = member_find(all, table->name, arn);
    char *text = NULL;
    from = older > from ? older : from;
    if (!active &&
        (from >= end || position_of(all, CONSUMER_PREFIX, "position", table, arn) >= end))
        return;
    ensure_memory(asprintf(&text, "%.*s %.*s %llu %llu", SLICE_FMT(table->uuid),
                           SLICE_FMT(precision), (unsigned long long)from,
                           (unsigned long long)end) < 0
                      ? NULL
                      : text);
    if (found != NULL && strcmp(found->made_of, text) == 0) {
        found->seen = true;
        free(text);
        return;
    }
    if (found != NULL)
        member_end(all, found, false);
    struct consumer_plan plan = {
        .name = arn,
        .table = table->name,
        .uuid = table->uuid,
        .start = from,
        .end = end,
        .anew = true,
        .source = kinesis_source_new(table, arn, slice_is(precision, "MICROSECOND")),
        .opener = kinesis_opener(all->kinesis),
        .target = {.url = arn},
        .shown = arn};
    member_add(all, consumer_new(all->shop, &plan), text);
}

static void refresh_kinesis(struct consumers *all, struct table *table,
                            const struct table_settings *settings)
{
    struct value_iter iter;
    if (settings->kinesis.len == 0 || all->kinesis == NULL)
        return;
    value_iter_init(&iter, settings->kinesis);
    while (value_iter_next(&iter))
        refresh_destination(all, table, iter.name, iter.value);
}

// ---- All of them -----------------------------------------------------------------------------

static void refresh_table(struct consumers *all, struct table *table)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    refresh_kinesis(all, table, &settings);
    if (settings.publishes.len == 0 || table->guard == NULL)
        return;
    const struct model_table *model = model_guard_table(table->guard);
    const struct model_rules *rules = model->model->rules_of;
    for (size_t i = 0; i < rules->publish_count; i++) {
        const struct model_publish *publish = &rules->publishes[i];
        struct slice entry = map_value(settings.publishes, publish->name);
        if (publish->entity->table == model && entry.len > 0)
            refresh_rule(all, table, publish, entry);
    }
    for (size_t i = 0; i < rules->project_count; i++) {
        struct slice entry = map_value(settings.publishes, rules->projects[i].name);
        if (project_takes(&rules->projects[i], model) && entry.len > 0)
            refresh_project(all, table, &rules->projects[i], entry);
    }
}

// Whether the table still wants a consumer of that name: else its records go.
static bool wanted(struct consumers *all, struct slice table_name, struct slice uuid,
                   struct slice name)
{
    struct table_settings settings;
    struct table *table = engine_table(all->shop->engine, table_name);
    bool is = false;
    if (table != NULL && slice_equal(table->uuid, uuid)) {
        table_settings_read(table, &settings);
        is = map_value(settings.publishes, name).len > 0 ||
             map_value(settings.kinesis, name).len > 0;
    }
    table_release(table);
    return is;
}

static void refresh(void *context)
{
    struct consumers *all = context;
    struct table_walk walk;
    struct table *table;
    struct member *next;
    ensure(pthread_rwlock_wrlock(&all->use) == 0);
    for (struct member *at = all->first; at != NULL; at = at->next)
        at->seen = false;
    table_walk_init(&walk, all->shop->engine, slice_of(NULL, 0));
    while ((table = table_walk_next(&walk)) != NULL && !worker_stopping(&all->worker))
        refresh_table(all, table);
    table_walk_release(&walk);
    for (struct member *at = all->first; at != NULL; at = next) {
        next = at->next;
        if (at->seen || worker_stopping(&all->worker))
            continue;
        member_end(all, at,
                   !wanted(all, consumer_table(at->consumer), consumer_uuid(at->consumer),
                           consumer_name(at->consumer)));
    }
    atomic_store(&all->found, true);
    ensure(pthread_rwlock_unlock(&all->use) == 0);
}

// ---- Using them ------------------------------------------------------------------------------

void consumers_each(struct consumers *all, struct slice table,
                    void (*visit)(void *context, struct consumer *consumer), void *context)
{
    ensure(pthread_rwlock_rdlock(&all->use) == 0);
    for (struct member *at = all->first; at != NULL; at = at->next)
        if (table.len == 0 || slice_equal(table, consumer_table(at->consumer)))
            visit(context, at->consumer);
    ensure(pthread_rwlock_unlock(&all->use) == 0);
}

static bool not_found(struct slice table, struct slice name, struct error *error)
{
    return error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Table \"%.*s\" has no consumer named \"%.*s\". ListConsumers tells which "
                     "there are.",
                     SLICE_FMT(table), SLICE_FMT(name));
}

bool consumers_command(struct consumers *all, struct slice table, struct slice name,
                       struct consumer_command *command, struct error *error)
{
    ensure(pthread_rwlock_rdlock(&all->use) == 0);
    struct member *found = member_find(all, table, name);
    bool ok = found != NULL ? consumer_command(found->consumer, command, error)
                            : not_found(table, name, error);
    ensure(pthread_rwlock_unlock(&all->use) == 0);
    return ok;
}

bool consumers_letters(struct consumers *all, struct slice table, struct slice name, uint64_t after,
                       bool (*visit)(void *context, const struct letter *letter), void *context,
                       struct error *error)
{
    ensure(pthread_rwlock_rdlock(&all->use) == 0);
    struct member *found = member_find(all, table, name);
    bool ok = found != NULL ? consumer_letters(all->shop, consumer_uuid(found->consumer), name,
                                               after, visit, context, error)
                            : not_found(table, name, error);
    ensure(pthread_rwlock_unlock(&all->use) == 0);
    return ok;
}

int64_t consumers_need(struct workshop *shop, const struct table *table, int64_t limit_ms)
{
    struct consumers *all = shop->consumers;
    int64_t needed_ms = INT64_MAX;
    if (!atomic_load(&all->found))
        return limit_ms;
    ensure(pthread_rwlock_rdlock(&all->use) == 0);
    for (struct member *at = all->first; at != NULL; at = at->next) {
        if (!slice_equal(consumer_uuid(at->consumer), table->uuid))
            continue;
        int64_t own_ms = consumer_needs(at->consumer, limit_ms);
        needed_ms = own_ms < needed_ms ? own_ms : needed_ms;
    }
    ensure(pthread_rwlock_unlock(&all->use) == 0);
    return needed_ms;
}

void consumers_settle(struct consumers *all)
{
    worker_wait(&all->worker);
}

// ---- What was left behind --------------------------------------------------------------------

struct orphans {
    struct consumers *all;
    struct arena *arena;
    size_t count;
    struct record_write list[ORPHANS];
};

static bool table_has(struct consumers *all, struct slice uuid)
{
    struct table_walk walk;
    const struct table *table;
    bool found = false;
    table_walk_init(&walk, all->shop->engine, slice_of(NULL, 0));
    while (!found && (table = table_walk_next(&walk)) != NULL)
        found = slice_equal(table->uuid, uuid);
    table_walk_release(&walk);
    return found;
}

// prefix/<table id>/…: of a table that is gone.
static bool take_orphan(void *context, struct slice name, struct slice value)
{
    struct orphans *orphans = context;
    struct slice rest = name;
    (void)value;
    (void)slice_cut(&rest, '/');
    struct slice uuid = slice_cut(&rest, '/');
    if (table_has(orphans->all, uuid))
        return true;
    struct slice copy = arena_copy(orphans->arena, name);
    if (copy.ptr != NULL)
        orphans->list[orphans->count++] = (struct record_write){copy, VALUE_NONE};
    return orphans->count < ORPHANS;
}

// The process may have ended between the end of a table and that of its records.
static void forget_orphans(struct consumers *all, const char *prefix)
{
    struct arena arena;
    struct error error;
    struct orphans orphans = {.all = all, .arena = &arena};
    bool ok = true;
    arena_init(&arena, 1 << 20);
    do {
        arena_reset(&arena);
        error_init(&error, &arena);
        orphans.count = 0;
        ok = engine_records(all->shop->engine, slice_str(prefix), slice_of(NULL, 0), take_orphan,
                            &orphans, &error) &&
             (orphans.count == 0 ||
              work_edit_records(
                  all->shop, &(struct record_edit){.count = orphans.count, .writes = orphans.list},
                  &error));
    } while (ok && orphans.count == ORPHANS);
    arena_release(&arena);
}

// ---- Beginning and end -----------------------------------------------------------------------

struct consumers *consumers_new(struct workshop *shop, const struct outlet_opener *opener,
                                const struct kinesis *kinesis,
                                const struct consumers_projects *projects)
{
    struct consumers *all = memory_zeroed(sizeof(*all));
    all->shop = shop;
    all->opener = opener;
    all->kinesis = kinesis;
    all->projects = projects == NULL ? (struct consumers_projects){NULL, NULL} : *projects;
    ensure(pthread_mutex_init(&all->list, NULL) == 0);
    ensure(pthread_rwlock_init(&all->use, NULL) == 0);
    forget_orphans(all, CONSUMER_PREFIX);
    forget_orphans(all, LETTER_PREFIX);
    forget_orphans(all, WISH_PREFIX);
    worker_start(&all->worker, &(struct worker_plan){.work = refresh,
                                                     .context = all,
                                                     .delay_ms = REFRESH_MS,
                                                     .every_ms = REFRESH_EVERY_MS,
                                                     .asked = true});
    all->listener = (struct log_listener){all, heard, catalog};
    shop->consumers = all;
    shop->log_needed = consumers_need;
    engine_log_listen(shop->engine, LOG_EAR_CONSUMERS, &all->listener);
    return all;
}

void consumers_stop(struct consumers *all)
{
    if (all == NULL)
        return;
    engine_log_listen(all->shop->engine, LOG_EAR_CONSUMERS, NULL);
    worker_stop(&all->worker);
    while (all->first != NULL)
        member_end(all, all->first, false);
}

// Not before the engine is closed: the writer may have been about to call the listener.
void consumers_free(struct consumers *all)
{
    if (all == NULL)
        return;
    ensure(pthread_mutex_destroy(&all->list) == 0);
    ensure(pthread_rwlock_destroy(&all->use) == 0);
    free(all);
}
