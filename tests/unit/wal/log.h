// What the tests of the log share: a log as the driver has it, what is found in one, and its files.
#ifndef TESTS_WAL_LOG_H
#define TESTS_WAL_LOG_H

#include "store/fixture.h"

#include "wal/wal.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

// Of an encrypted log, if a test says so.
#ifndef LOG_KEYS
#define LOG_KEYS NULL
#endif

// The records found by an opening, joined by commas.
struct found {
    char text[4096];
    size_t count;
};

static inline bool note(void *context, uint64_t sequence, struct slice payload,
                        struct store_error *error)
{
    (void)error;
    (void)sequence;
    struct found *found = context;
    size_t used = strlen(found->text);
    (void)snprintf(found->text + used, sizeof(found->text) - used, "%s%.*s",
                   found->count == 0 ? "" : ",", SLICE_FMT(payload));
    found->count++;
    return true;
}

// A log with the promise beside it, as the driver has them.
struct log {
    struct promise *promise; // the log points to it, wherever this struct goes
    struct wal *wal;
    struct found found;
};

// What an opening would find: the report, compared with the promise and what tables hold.
static inline struct wal_report look(const char *directory, uint64_t applied)
{
    struct store_error error;
    struct wal_report report;
    uint64_t promised[PROMISE_VALUES];
    promise_read(directory, promised);
    assert_true(wal_check(directory, LOG_KEYS, promised[PROMISE_SEGMENT], &report, &error));
    if (report.segment_count > 0 || promised[PROMISE_SEGMENT] > 0)
        wal_report_compare(&report, applied, promised);
    return report;
}

static inline struct log open_log_above(const char *directory, uint64_t applied)
{
    struct store_error error;
    struct log log = {.promise = calloc(1, sizeof(*log.promise))};
    assert_non_null(log.promise);
    struct wal_report report = look(directory, applied);
    if (report.damage_count > 0)
        fail_msg("%s at %llu: %s", report.damages[0].file, (unsigned long long)report.damages[0].at,
                 report.damages[0].what);
    assert_true(promise_open(log.promise, directory, &error));
    assert_true(wal_walk(directory, LOG_KEYS, 0, report.last, note, &log.found, &error));
    log.wal = wal_open(directory, LOG_KEYS, &report, 0, log.promise, &error);
    assert_non_null(log.wal);
    wal_report_release(&report);
    return log;
}

static inline struct log open_log(const char *directory)
{
    return open_log_above(directory, 0);
}

static inline struct log open_continued_above(const char *directory, uint64_t applied)
{
    struct log log = open_log_above(directory, applied);
    struct store_error error;
    uint64_t number;
    assert_true(wal_continue(log.wal, &number, &error));
    return log;
}

static inline struct log open_continued(const char *directory)
{
    return open_continued_above(directory, 0);
}

static inline void close_log(struct log *log)
{
    wal_close(log->wal);
    promise_close(log->promise);
    free(log->promise);
}

static inline void append(struct log *log, const char *text)
{
    struct store_error error;
    assert_int_equal(wal_append(log->wal, slice_str(text), &error), STORE_DONE);
}

static inline void sync_log(struct log *log)
{
    struct store_error error;
    assert_true(wal_sync(log->wal, &error));
}

static inline void append_synced(struct log *log, const char *text)
{
    append(log, text);
    sync_log(log);
}

static inline uint64_t rotate(struct log *log)
{
    struct store_error error;
    uint64_t number;
    assert_true(wal_rotate(log->wal, &number, &error));
    return number;
}

static inline void expect_found_above(const char *directory, uint64_t applied, const char *records)
{
    struct log log = open_log_above(directory, applied);
    assert_string_equal(log.found.text, records);
    close_log(&log);
}

static inline void expect_found(const char *directory, const char *records)
{
    expect_found_above(directory, 0, records);
}

// The place and the number of records behind it of the first damage.
static inline void expect_damage(const char *directory, uint64_t applied, const char *file,
                                 uint64_t at, uint64_t behind, const char *what)
{
    struct wal_report report = look(directory, applied);
    assert_true(report.damage_count > 0);
    assert_string_equal(report.damages[0].file, file);
    assert_int_equal(report.damages[0].at, at);
    assert_int_equal(report.damages[0].behind, behind);
    assert_string_equal(report.damages[0].what, what);
    struct store_error error;
    assert_false(wal_report_fail(&report, "DIR", &error));
    assert_non_null(strstr(error.text, file));
    assert_non_null(strstr(error.text, "dolmen repair DIR"));
    wal_report_release(&report);
}

static inline size_t count_files(const char *directory)
{
    size_t count = 0;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strstr(entry->d_name, ".log") != NULL;
    (void)closedir(listing);
    return count;
}

static inline void path_of(char out[600], const char *directory, const char *name)
{
    assert_in_range(snprintf(out, 600, "%s/%s", directory, name), 1, 599);
}

static inline void remove_file(const char *directory, const char *name)
{
    char path[600];
    path_of(path, directory, name);
    assert_int_equal(unlink(path), 0);
}

static inline void make_segments(const char *directory)
{
    struct log log = open_continued(directory);
    append_synced(&log, "a");
    append_synced(&log, "b");
    (void)rotate(&log);
    append_synced(&log, "c");
    (void)rotate(&log);
    append_synced(&log, "d");
    close_log(&log);
}

#endif
