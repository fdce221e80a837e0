// The reports of a process: what was noted since the last time is in memory, one small report for
// each table; the rest is in records, "report/TABLE". The chore takes a report out, puts it
// together with its record, and writes that. So the request path never reads or waits.
#include "report/report.h"

#include "engine/record.h"
#include "value/map.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    TABLES_MAX = 64, // with something new in memory; others have to wait for the chore
    RECORD_MEMORY = 4 << 20,
};

struct noted {
    struct noted *next;
    struct table *table; // a reference
    struct report *report;
};

struct report_book {
    pthread_mutex_t keeping; // held while a report is neither here nor in its record
    pthread_mutex_t lock;    // of what is below; never held for long
    size_t count;
    struct noted *first;
};

struct report_book *report_book_new(void)
{
    struct report_book *book = memory_zeroed(sizeof(*book));
    ensure(pthread_mutex_init(&book->keeping, NULL) == 0);
    ensure(pthread_mutex_init(&book->lock, NULL) == 0);
    return book;
}

static void noted_free(struct noted *noted)
{
    report_free(noted->report);
    table_release(noted->table);
    free(noted);
}

void report_book_free(struct report_book *book)
{
    for (struct noted *next, *noted = book->first; noted != NULL; noted = next) {
        next = noted->next;
        noted_free(noted);
    }
    ensure(pthread_mutex_destroy(&book->lock) == 0);
    ensure(pthread_mutex_destroy(&book->keeping) == 0);
    free(book);
}

// ---- Noting -----------------------------------------------------------------------------------

// Whether a report is of this table, with this model.
static bool is_of(const struct report *report, const struct table *table)
{
    return slice_equal(report->table_id, table->uuid) && slice_equal(report->model, table->model);
}

// With the lock; NULL if there are too many.
static struct report *noted_of(struct report_book *book, const struct table *table, int64_t now_ms)
{
    struct noted *noted = book->first;
    while (noted != NULL && !is_of(noted->report, table))
        noted = noted->next;
    if (noted != NULL)
        return noted->report;
    if (book->count == TABLES_MAX)
        return NULL;
    noted = memory_zeroed(sizeof(*noted));
    *noted = (struct noted){book->first, table_hold((struct table *)(uintptr_t)table),
                            report_new(table, now_ms)};
    book->first = noted;
    book->count++;
    return noted->report;
}

void report_note(struct report_book *book, const struct table *table, struct slice item,
                 const struct model_warned *warned, int64_t now_ms)
{
    if (table->guard == NULL)
        return;
    ensure(pthread_mutex_lock(&book->lock) == 0);
    struct report *report = noted_of(book, table, now_ms);
    if (report != NULL)
        report_add(report, table, model_guard_table(table->guard), item, warned, now_ms);
    ensure(pthread_mutex_unlock(&book->lock) == 0);
}

// ---- Records ----------------------------------------------------------------------------------

static const struct map_row sample_rows[] = {
    MAP_SAME(report_sample, TEXT, text),
    MAP_SAME(report_sample, VALUE, value),
    MAP_SAME(report_sample, VALUE, key),
};
static const struct map_form sample_form = MAP_FORM(report_sample, sample_rows);

static const struct map_row finding_rows[] = {
    MAP_SAME(report_finding, TEXT, entity),
    MAP_SAME(report_finding, TEXT, path),
    MAP_SAME(report_finding, TEXT, expected),
    MAP_SAME(report_finding, FLAG, passes),
    MAP_SAME(report_finding, INTEGER, count),
    MAP_ROW(report_finding, INTEGER, first_ms, "first"),
    MAP_ROW(report_finding, INTEGER, last_ms, "last"),
    MAP_LIST_ROW(report_finding, samples, sample_count, REPORT_SAMPLES, "samples", &sample_form),
};
static const struct map_form finding_form = MAP_FORM(report_finding, finding_rows);

static const struct map_row item_rows[] = {MAP_SAME(report_item, VALUE, item)};
static const struct map_form item_form = MAP_FORM(report_item, item_rows);

static const struct map_row report_rows[] = {
    MAP_ROW(report, TEXT, table_id, "table"),
    MAP_SAME(report, TEXT, model),
    MAP_ROW(report, INTEGER, since_ms, "since"),
    MAP_SAME(report, INTEGER, writes),
    MAP_SAME(report, INTEGER, refused),
    MAP_SAME(report, INTEGER, unmatched),
    MAP_SAME(report, INTEGER, others),
    MAP_LIST_ROW(report, list, count, REPORT_FINDINGS, "findings", &finding_form),
    MAP_LIST_ROW(report, items, item_count, REPORT_ITEMS, "items", &item_form),
};
static const struct map_form report_form = MAP_FORM(report, report_rows);

static struct slice record_name(const struct table *table, struct arena *arena)
{
    char *name = arena_printf(arena, "report/%.*s", SLICE_FMT(table->name));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

// Adds what is kept of the table.
static bool add_kept(struct workshop *shop, const struct table *table, struct report *to,
                     struct arena *arena, struct error *error)
{
    struct slice record;
    struct slice name = record_name(table, arena);
    if (name.ptr == NULL)
        return error_budget(error);
    if (!engine_record(shop->engine, name, arena, &record, error))
        return false;
    if (record.len == 0)
        return true;
    struct report *kept = memory_zeroed(sizeof(*kept)); // large
    map_decode(&report_form, record, kept);
    report_merge(to, kept);
    free(kept);
    return true;
}

static bool write_record(struct workshop *shop, const struct table *table,
                         const struct report *report, struct arena *arena, struct error *error)
{
    struct record_job job;
    struct record_write write = {record_name(table, arena), slice_of(NULL, 0)};
    if (report != NULL)
        write.value = map_encode(&report_form, report, arena, error);
    if (write.name.ptr == NULL || (report != NULL && write.value.len == 0))
        return error_budget(error);
    record_job_init(&job, error);
    job.count = 1;
    job.writes = &write;
    return engine_run_beside(shop->engine, &job.job);
}

// ---- Keeping ----------------------------------------------------------------------------------

static struct noted *take_one(struct report_book *book)
{
    ensure(pthread_mutex_lock(&book->lock) == 0);
    struct noted *noted = book->first;
    if (noted != NULL) {
        book->first = noted->next;
        book->count--;
    }
    ensure(pthread_mutex_unlock(&book->lock) == 0);
    return noted;
}

// What could not be written is noted again.
static void give_back(struct report_book *book, const struct noted *noted)
{
    ensure(pthread_mutex_lock(&book->lock) == 0);
    struct report *report = noted_of(book, noted->table, noted->report->since_ms);
    if (report != NULL)
        report_merge(report, noted->report);
    ensure(pthread_mutex_unlock(&book->lock) == 0);
}

// Whether the table is still there, with that model: a report of anything else is of no use.
static bool is_current(struct workshop *shop, const struct table *table)
{
    struct table *now = engine_table(shop->engine, table->name);
    bool same =
        now != NULL && slice_equal(now->uuid, table->uuid) && slice_equal(now->model, table->model);
    table_release(now);
    return same;
}

static bool keep_one(struct workshop *shop, const struct noted *noted)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, RECORD_MEMORY);
    error_init(&error, &arena);
    struct report *all = report_new(noted->table, noted->report->since_ms);
    bool kept = add_kept(shop, noted->table, all, &arena, &error);
    if (kept) {
        report_merge(all, noted->report);
        kept = write_record(shop, noted->table, all, &arena, &error);
    }
    report_free(all);
    arena_release(&arena);
    return kept;
}

void report_keep(struct workshop *shop)
{
    struct report_book *book = shop->reports;
    struct noted *noted;
    // As many as there may be: what comes meanwhile is for the next time.
    for (size_t i = 0; i < TABLES_MAX; i++) {
        ensure(pthread_mutex_lock(&book->keeping) == 0);
        noted = take_one(book);
        if (noted != NULL && is_current(shop, noted->table) && !keep_one(shop, noted))
            give_back(book, noted);
        ensure(pthread_mutex_unlock(&book->keeping) == 0);
        if (noted == NULL)
            return;
        noted_free(noted);
    }
}

// ---- Reading ----------------------------------------------------------------------------------

struct report *report_read(struct workshop *shop, const struct table *table, struct error *error)
{
    struct report_book *book = shop->reports;
    struct arena arena;
    arena_init(&arena, RECORD_MEMORY);
    struct report *all = report_new(table, env_now(engine_env(shop->engine)));
    ensure(pthread_mutex_lock(&book->keeping) == 0);
    bool read = add_kept(shop, table, all, &arena, error);
    ensure(pthread_mutex_lock(&book->lock) == 0);
    for (const struct noted *noted = book->first; noted != NULL; noted = noted->next)
        report_merge(all, noted->report);
    ensure(pthread_mutex_unlock(&book->lock) == 0);
    ensure(pthread_mutex_unlock(&book->keeping) == 0);
    arena_release(&arena);
    if (read)
        return all;
    report_free(all);
    return NULL;
}

bool report_forget(struct workshop *shop, const struct table *table, struct error *error)
{
    struct report_book *book = shop->reports;
    struct arena arena;
    ensure(pthread_mutex_lock(&book->keeping) == 0);
    ensure(pthread_mutex_lock(&book->lock) == 0);
    for (struct noted **at = &book->first; *at != NULL;) {
        struct noted *noted = *at;
        if (!slice_equal(noted->report->table_id, table->uuid)) {
            at = &noted->next;
            continue;
        }
        *at = noted->next;
        book->count--;
        noted_free(noted);
    }
    ensure(pthread_mutex_unlock(&book->lock) == 0);
    arena_init(&arena, RECORD_MEMORY);
    bool done = write_record(shop, table, NULL, &arena, error);
    ensure(pthread_mutex_unlock(&book->keeping) == 0);
    arena_release(&arena);
    return done;
}
