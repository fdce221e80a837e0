// The service. See live.h.
//
// The reader is woken by commits of tables that somebody listens to, a few milliseconds later, so
// that what comes together is handed out together. It holds the lock for one entry of the log at a
// time: nobody waits for long. Groups are freed by the reader alone, so it may hold on to those
// that it has written to until the round ends.
#include "base/log.h"
#include "live/live_internal.h"
#include "tables/change.h"
#include "work/jobs.h"

#include <stdlib.h>

static void lock(struct live *live)
{
    ensure(pthread_mutex_lock(&live->lock) == 0);
}

static void unlock(struct live *live)
{
    ensure(pthread_mutex_unlock(&live->lock) == 0);
}

int64_t live_now(const struct live *live)
{
    return engine_log_time(live->shop->engine);
}

struct live_table *live_table_new(struct live *live, struct table *table)
{
    struct live_table *added = memory_zeroed(sizeof(*added));
    struct table_settings settings;
    table_settings_read(table, &settings);
    added->live = live;
    added->name = slice_dup(table->name);
    added->table = table_hold(table);
    added->log = settings.live > 0 ? LOG_ON : LOG_ASKED;
    added->position = added->applied = engine_sequence(live->shop->engine);
    added->next = live->tables;
    live->tables = added;
    atomic_store(&live->any, true);
    return added;
}

// ---- Commits (the writer's thread) -------------------------------------------------------------

static void heard(void *context, uint64_t logs)
{
    struct live *live = context;
    (void)logs;
    if (atomic_load_explicit(&live->any, memory_order_relaxed))
        worker_ask(&live->worker);
}

static void catalog(void *context)
{
    heard(context, 0);
}

// ---- Switching logs on and off -----------------------------------------------------------------

struct log_change {
    struct live *live;
    struct slice uuid;
    bool on;
    int64_t begun;
};

static bool log_alter(void *context, struct table *current, struct table **next,
                      struct error *error)
{
    struct log_change *change = context;
    struct table_settings settings;
    if (current == NULL || !slice_equal(current->uuid, change->uuid))
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    if (!table_check_ready(current, error))
        return false;
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    // On the writer's thread: all that is committed from now on has both images.
    if (!change->on)
        settings.live = 0;
    else if (settings.live == 0)
        settings.live = (int64_t)engine_sequence(change->live->shop->engine) + 1;
    change->begun = settings.live;
    return table_end(table, &settings, next, error);
}

static bool log_switch(struct live *live, struct live_table *table, bool on)
{
    struct arena arena;
    struct error error;
    struct log_change change = {.live = live, .uuid = table->table->uuid, .on = on};
    struct table_edit edit = {
        .name = slice_str(table->name), .alter = log_alter, .context = &change};
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    bool done = work_edit_table(live->shop, &edit, &error);
    if (!done)
        log_warn("live patterns: the change log of table %s cannot be switched %s: %s", table->name,
                 on ? "on" : "off", error.message == NULL ? "out of memory" : error.message);
    arena_release(&arena);
    return done;
}

// Whoever waits for the log hears of it.
static void wake_waiting(struct live_table *table)
{
    while (table->waiting != NULL) {
        struct live_listener *first = table->waiting;
        table->waiting = first->next;
        first->next = NULL;
        listener_wake(first);
    }
}

static void log_on(struct live *live, struct live_table *table)
{
    bool on = log_switch(live, table, true);
    struct table *now = engine_table(live->shop->engine, slice_str(table->name));
    lock(live);
    if (on && now != NULL) {
        table_release(table->table);
        table->table = now;
        now = NULL;
        table->position = table->applied = engine_sequence(live->shop->engine);
    }
    table->log = on ? LOG_ON : LOG_REFUSED;
    wake_waiting(table);
    unlock(live);
    table_release(now);
}

// ---- A round ---------------------------------------------------------------------------------

struct round {
    struct live *live;
    struct live_table *table;
    struct live_group *touched;
    size_t entries;
    size_t bytes;
    bool stopped;
};

static bool round_entry(void *context, const struct log_entry *entry)
{
    struct round *round = context;
    if (round->entries >= ROUND_ENTRIES || round->bytes >= ROUND_BYTES ||
        worker_stopping(&round->live->worker)) {
        round->stopped = true;
        return false;
    }
    round->entries++;
    round->bytes += entry->old_item.len + entry->new_item.len;
    lock(round->live);
    groups_apply(round->table, entry, &round->touched);
    unlock(round->live);
    return true;
}

static void round_end(struct round *round, uint64_t position)
{
    struct live_table *table = round->table;
    lock(round->live);
    table->position = table->applied = position;
    while (round->touched != NULL) {
        struct live_group *group = round->touched;
        round->touched = group->touched_next;
        group_hand_out(group);
    }
    groups_reap(table);
    unlock(round->live);
}

// Reads what is new of a table; true if there is more.
static bool table_round(struct live *live, struct live_table *table)
{
    struct round round = {.live = live, .table = table};
    uint64_t last = engine_sequence(live->shop->engine);
    struct arena arena;
    struct error error;
    if (table->log != LOG_ON || last <= table->position)
        return false;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    bool read = table->group_count == 0 ||
                engine_log_read(live->shop->engine, NULL, table->table->log, table->position + 1,
                                last, round_entry, &round, &error);
    if (!read)
        log_warn("live patterns: the change log of table %s cannot be read: %s", table->name,
                 error.message == NULL ? "out of memory" : error.message);
    arena_release(&arena);
    round_end(&round, round.stopped || !read ? table->applied : last);
    return round.stopped;
}

// The table as it is now: the same, another version of it, or another table.
static void table_look(struct live *live, struct live_table *table)
{
    struct table *now = engine_table(live->shop->engine, slice_str(table->name));
    lock(live);
    if (now == table->table) {
        unlock(live);
        table_release(now);
        return;
    }
    bool same = now != NULL && slice_equal(now->uuid, table->table->uuid);
    groups_judge(table, same ? now : NULL);
    struct table *before = same ? table->table : now;
    if (same)
        table->table = now;
    else if (table->log != LOG_REFUSED) {
        table->log = LOG_REFUSED;
        wake_waiting(table);
    }
    unlock(live);
    table_release(before);
}

// Once a second: who has heard nothing for long gets a comment.
static void beat(struct live *live)
{
    int64_t now_ms = live_now(live);
    if (now_ms - live->beat_ms < 1000 && now_ms >= live->beat_ms)
        return;
    live->beat_ms = now_ms;
    lock(live);
    for (struct live_table *table = live->tables; table != NULL; table = table->next) {
        for (size_t i = 0; table->group_count > 0 && i < TABLE_BUCKETS; i++) {
            for (struct live_group *group = table->buckets[i]; group != NULL; group = group->next) {
                for (struct live_listener *at = group->listeners; at != NULL; at = at->next) {
                    if (!at->armed || now_ms - at->quiet_since < LIVE_BEAT_MS)
                        continue;
                    at->beat = true;
                    listener_wake(at);
                }
            }
        }
    }
    unlock(live);
}

// ---- Tables that nobody listens to -------------------------------------------------------------

static void table_free(struct live *live, struct live_table *table)
{
    lock(live);
    groups_reap(table);
    struct live_table **at = &live->tables;
    while (*at != table)
        at = &(*at)->next;
    *at = table->next;
    atomic_store(&live->any, live->tables != NULL);
    unlock(live);
    table_release(table->table);
    free(table->name);
    free(table);
}

static bool table_is_idle(struct live *live, const struct live_table *table)
{
    lock(live);
    bool idle = table->listener_count == 0 &&
                (table->log == LOG_REFUSED || live_now(live) - table->idle_since >= LIVE_LINGER_MS);
    unlock(live);
    return idle;
}

// A listener may come while the log is switched off: it is switched on again then.
static void table_retire(struct live *live, struct live_table *table)
{
    lock(live);
    bool on = table->listener_count == 0 && table->log == LOG_ON;
    if (on)
        table->log = LOG_ASKED;
    unlock(live);
    if (on)
        (void)log_switch(live, table, false);
    lock(live);
    bool wanted = table->listener_count > 0;
    unlock(live);
    if (!wanted)
        table_free(live, table);
}

// Tables that kept their changes for listeners of before a restart do so for a while.
static bool find_table(void *context, struct table *table)
{
    struct live *live = context;
    struct table_settings settings;
    table_settings_read(table, &settings);
    if (settings.live == 0)
        return true;
    lock(live);
    struct live_table *at = live->tables;
    while (at != NULL && !slice_equal(slice_str(at->name), table->name))
        at = at->next;
    if (at == NULL)
        live_table_new(live, table)->idle_since = live_now(live);
    unlock(live);
    return true;
}

// ---- The reader ------------------------------------------------------------------------------

static void work(void *context)
{
    struct live *live = context;
    bool more = true;
    if (!live->found) {
        work_each_table(live->shop, find_table, live);
        live->found = true;
    }
    while (more && !worker_stopping(&live->worker)) {
        more = false;
        // Others only add to the front of the list.
        lock(live);
        struct live_table *table = live->tables;
        unlock(live);
        for (struct live_table *next; table != NULL; table = next) {
            next = table->next;
            table_look(live, table);
            if (table->log == LOG_ASKED)
                log_on(live, table);
            more = table_round(live, table) || more;
            if (table_is_idle(live, table))
                table_retire(live, table);
        }
    }
    beat(live);
}

struct live *live_new(struct workshop *shop, const uint8_t secret[LIVE_SECRET])
{
    struct live *live = memory_zeroed(sizeof(*live));
    live->shop = shop;
    memcpy(live->secret, secret, LIVE_SECRET);
    live->account = (struct budget_account){.budget = shop->budget};
    ensure(pthread_mutex_init(&live->lock, NULL) == 0);
    worker_start(
        &live->worker,
        &(struct worker_plan){
            .work = work, .context = live, .delay_ms = PACE_MS, .every_ms = 1000, .asked = true});
    live->ear = (struct log_listener){live, heard, catalog};
    engine_log_listen(shop->engine, LOG_EAR_LIVE, &live->ear);
    return live;
}

void live_stop(struct live *live)
{
    if (live == NULL)
        return;
    engine_log_listen(live->shop->engine, LOG_EAR_LIVE, NULL);
    worker_stop(&live->worker);
    while (live->tables != NULL)
        table_free(live, live->tables);
}

void live_free(struct live *live)
{
    if (live == NULL)
        return;
    ensure(pthread_mutex_destroy(&live->lock) == 0);
    free(live);
}

void live_stats(struct live *live, struct live_stats *out)
{
    lock(live);
    *out = (struct live_stats){.listeners = live->listener_count, .groups = live->group_count};
    for (const struct live_table *table = live->tables; table != NULL; table = table->next)
        out->tables += table->listener_count > 0;
    unlock(live);
    out->events = atomic_load(&live->events);
    out->delivered = atomic_load(&live->delivered);
    out->resets = atomic_load(&live->resets);
    out->overruns = atomic_load(&live->overruns);
    out->resumed = atomic_load(&live->resumed);
}

void live_count_reset(struct live *live)
{
    atomic_fetch_add(&live->resets, 1);
}

void live_count_resume(struct live *live)
{
    atomic_fetch_add(&live->resumed, 1);
}
