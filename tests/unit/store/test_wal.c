// The write-ahead log: what is appended and synced comes back, or it is seen that it does not.
#include "fixture.h"

#include "base/encode.h"
#include "store/wal.h"
#include "store/wal_old.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// This executable has its own fdatasync, fsync and pwritev, in front of the C library's.
static int promise_faults;   // how many of the next syncs of the promise fail, or -1 for all
static int directory_faults; // and of a directory
static int write_faults;     // how many of the next writes do all of their work and then fail

static bool count_down(int *faults)
{
    if (*faults == 0)
        return false;
    *faults -= *faults > 0;
    errno = EIO;
    return true;
}

static bool is_promise(int fd)
{
    char link[64];
    char name[512] = "";
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return readlink(link, name, sizeof(name) - 1) > 0 && strstr(name, "/promise") != NULL;
}

int fdatasync(int fd)
{
    if (is_promise(fd) && count_down(&promise_faults))
        return -1;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    if (count_down(&directory_faults))
        return -1;
    return (int)syscall(SYS_fsync, fd);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    ssize_t done = (ssize_t)syscall(SYS_pwritev, fd, parts, count, at, 0);
    return count_down(&write_faults) ? -1 : done;
}

static int set_up(void **state)
{
    char *path = malloc(256);
    temp_dir_make(path);
    promise_faults = directory_faults = write_faults = 0;
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

// The records found by an opening, joined by commas.
struct found {
    char text[4096];
    size_t count;
};

static bool note(void *context, uint64_t sequence, struct slice payload, struct store_error *error)
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
static struct wal_report look(const char *directory, uint64_t applied)
{
    struct store_error error;
    struct wal_report report;
    uint64_t promised[PROMISE_VALUES];
    promise_read(directory, promised);
    assert_true(wal_check(directory, promised[PROMISE_SEGMENT], &report, &error));
    if (report.segment_count > 0 || promised[PROMISE_SEGMENT] > 0)
        wal_report_compare(&report, applied, promised);
    return report;
}

static struct log open_log(const char *directory)
{
    struct store_error error;
    struct log log = {.promise = calloc(1, sizeof(*log.promise))};
    assert_non_null(log.promise);
    struct wal_report report = look(directory, 0);
    if (report.damage_count > 0)
        fail_msg("%s at %llu: %s", report.damages[0].file, (unsigned long long)report.damages[0].at,
                 report.damages[0].what);
    assert_true(promise_open(log.promise, directory, &error));
    assert_true(wal_walk(directory, 0, report.last, note, &log.found, &error));
    log.wal = wal_open(directory, &report, 0, log.promise, &error);
    assert_non_null(log.wal);
    wal_report_release(&report);
    return log;
}

static struct log open_continued(const char *directory)
{
    struct log log = open_log(directory);
    struct store_error error;
    uint64_t number;
    assert_true(wal_continue(log.wal, &number, &error));
    return log;
}

static void close_log(struct log *log)
{
    wal_close(log->wal);
    promise_close(log->promise);
    free(log->promise);
}

static void append(struct log *log, const char *text)
{
    struct store_error error;
    assert_int_equal(wal_append(log->wal, slice_str(text), &error), STORE_DONE);
}

static void sync_log(struct log *log)
{
    struct store_error error;
    assert_true(wal_sync(log->wal, &error));
}

static void append_synced(struct log *log, const char *text)
{
    append(log, text);
    sync_log(log);
}

static uint64_t rotate(struct log *log)
{
    struct store_error error;
    uint64_t number;
    assert_true(wal_rotate(log->wal, &number, &error));
    return number;
}

static void expect_found(const char *directory, const char *records)
{
    struct log log = open_log(directory);
    assert_string_equal(log.found.text, records);
    close_log(&log);
}

// The place and the number of records behind it of the first damage.
static void expect_damage(const char *directory, uint64_t applied, const char *file, uint64_t at,
                          uint64_t behind, const char *what)
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

static size_t count_files(const char *directory)
{
    size_t count = 0;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strstr(entry->d_name, ".log") != NULL;
    (void)closedir(listing);
    return count;
}

static void path_of(char out[600], const char *directory, const char *name)
{
    assert_in_range(snprintf(out, 600, "%s/%s", directory, name), 1, 599);
}

static void remove_file(const char *directory, const char *name)
{
    char path[600];
    path_of(path, directory, name);
    assert_int_equal(unlink(path), 0);
}

static void flip(const char *directory, const char *name, off_t at)
{
    char path[600];
    path_of(path, directory, name);
    int file = open(path, O_RDWR);
    uint8_t byte;
    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    (void)close(file);
}

// ---- What comes back ------------------------------------------------------------------------

static void test_records_come_back(void **state)
{
    struct store_error error;
    struct log log = open_log(*state);
    assert_int_equal(log.found.count, 0);
    assert_int_equal(wal_append(log.wal, SLICE_LIT("too early"), &error), STORE_NOT_DONE);
    assert_true(wal_restart(log.wal, 0, &error));
    append(&log, "one");
    append(&log, "");
    append(&log, "three");
    assert_int_equal(wal_sequence(log.wal), 3);
    sync_log(&log);
    close_log(&log);
    expect_found(*state, "one,,three");
    log = open_log(*state);
    assert_true(wal_restart(log.wal, 3, &error));
    append(&log, "four");
    close_log(&log);
    struct wal_report report = look(*state, 3);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.first, 4);
    assert_int_equal(report.last, 4);
    wal_report_release(&report);
    assert_int_equal(count_files(*state), 1);
}

static void test_segments(void **state)
{
    struct store_error error;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    (void)rotate(&log);
    append_synced(&log, "b");
    uint64_t number = rotate(&log);
    append_synced(&log, "c");
    assert_int_equal(count_files(*state), 3);
    struct found found = {.count = 0};
    assert_true(wal_walk(*state, 1, 3, note, &found, &error));
    assert_string_equal(found.text, "b,c");
    assert_true(wal_drop_below(log.wal, number, &error));
    assert_int_equal(count_files(*state), 1);
    close_log(&log);
    struct wal_report report = look(*state, 2);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.first, 3);
    wal_report_release(&report);
}

// Opening may keep what it found and go on behind it; the next opening finds both, even if the
// older segment ends in a torn record, and however often it happens.
static void test_log_is_continued(void **state)
{
    uint64_t segments;
    uint64_t bytes;
    char path[600];
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    append(&log, "torn");
    off_t torn = (off_t)wal_segment_bytes(log.wal) - 1;
    close_log(&log);
    path_of(path, *state, "0000000001.log");
    assert_int_equal(truncate(path, torn), 0);
    for (int i = 0; i < 3; i++) {
        log = open_continued(*state);
        assert_string_equal(log.found.text, i == 0 ? "a" : i == 1 ? "a,b" : "a,b,b");
        append_synced(&log, "b");
        wal_measure(log.wal, &segments, &bytes);
        assert_int_equal(segments, i + 2);
        assert_true(bytes >= wal_segment_bytes(log.wal) + (size_t)torn);
        close_log(&log);
    }
    expect_found(*state, "a,b,b,b");
}

// A record that was logged but not applied is void once the log has been begun anew.
static void test_broken_log_is_replaced(void **state)
{
    struct store_error error;
    struct log log = open_continued(*state);
    append_synced(&log, "applied");
    append_synced(&log, "not applied");
    wal_break(log.wal);
    assert_true(wal_broken(log.wal));
    assert_int_equal(wal_append(log.wal, SLICE_LIT("refused"), &error), STORE_NOT_DONE);
    assert_false(wal_sync(log.wal, &error));
    assert_true(wal_restart(log.wal, 1, &error));
    struct wal_report report = look(*state, 1);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.first, 2);
    wal_report_release(&report);
    append_synced(&log, "after");
    close_log(&log);
    struct found found = {.count = 0};
    assert_true(wal_walk(*state, 1, 2, note, &found, &error));
    assert_string_equal(found.text, "after");
}

// The same where the process dies before the old segment is gone.
static void test_void_record(void **state)
{
    struct log log = open_continued(*state);
    append_synced(&log, "applied");
    append_synced(&log, "not applied");
    char from[600];
    char to[600];
    path_of(from, *state, "0000000001.log");
    path_of(to, *state, "kept");
    assert_int_equal(link(from, to), 0);
    struct store_error error;
    wal_break(log.wal);
    assert_true(wal_restart(log.wal, 1, &error));
    assert_int_equal(rename(to, from), 0);
    append_synced(&log, "after");
    close_log(&log);
    expect_found(*state, "applied,after");
}

// A record that is taken back never comes back, and the next one has its place.
static void test_taken_back(void **state)
{
    struct store_error error;
    struct log log = open_continued(*state);
    append_synced(&log, "one");
    append_synced(&log, "a longer one");
    assert_true(wal_take_back(log.wal, &error));
    assert_int_equal(wal_sequence(log.wal), 1);
    close_log(&log);
    expect_found(*state, "one");
    log = open_continued(*state);
    append_synced(&log, "two");
    append(&log, "not synced");
    assert_true(wal_take_back(log.wal, &error));
    wal_allocate_ahead(log.wal, false);
    append_synced(&log, "three");
    close_log(&log);
    expect_found(*state, "one,two,three");
}

// ---- Faults ---------------------------------------------------------------------------------

// A segment that could not be begun does not void what goes on in the one before it.
static void test_failed_rotation(void **state)
{
    struct store_error error;
    uint64_t number;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    promise_faults = 1;
    assert_false(wal_rotate(log.wal, &number, &error));
    assert_false(wal_broken(log.wal));
    assert_int_equal(count_files(*state), 1);
    append_synced(&log, "b");
    append_synced(&log, "c");
    close_log(&log);
    expect_found(*state, "a,b,c");
    struct wal_report report = look(*state, 0);
    assert_int_equal(report.segments[report.segment_count - 1].number, 1);
    wal_report_release(&report);
}

// If it cannot be taken away again, nothing is appended to that one any more.
static void expect_stopped(const char *directory, int *faults)
{
    struct store_error error;
    uint64_t number;
    struct log log = open_continued(directory);
    append_synced(&log, "a");
    *faults = -1;
    assert_false(wal_rotate(log.wal, &number, &error));
    assert_true(wal_broken(log.wal));
    assert_int_equal(wal_append(log.wal, SLICE_LIT("refused"), &error), STORE_NOT_DONE);
    *faults = 0;
    assert_true(wal_restart(log.wal, 1, &error));
    append_synced(&log, "b");
    close_log(&log);
    struct wal_report report = look(directory, 1);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.last, 2);
    wal_report_release(&report);
}

static void test_failed_promise(void **state)
{
    expect_stopped(*state, &promise_faults);
}

static void test_failed_directory(void **state)
{
    expect_stopped(*state, &directory_faults);
}

// A write that fails may have done all of its work.
static void test_failed_append(void **state)
{
    struct store_error error;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    write_faults = 1;
    assert_int_equal(wal_append(log.wal, SLICE_LIT("not done"), &error), STORE_NOT_DONE);
    assert_non_null(strstr(error.text, "writing the log failed"));
    assert_false(wal_broken(log.wal));
    close_log(&log);
    expect_found(*state, "a");
    log = open_continued(*state);
    write_faults = -1;
    assert_int_equal(wal_append(log.wal, SLICE_LIT("unknown"), &error), STORE_UNKNOWN);
    assert_true(wal_broken(log.wal));
    write_faults = 0;
    assert_true(wal_restart(log.wal, 1, &error));
    append_synced(&log, "b");
    close_log(&log);
    struct wal_report report = look(*state, 1);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.last, 2);
    wal_report_release(&report);
}

// ---- Damage ---------------------------------------------------------------------------------

static size_t make_three(const char *directory, bool synced)
{
    struct log log = open_continued(directory);
    static const char *const records[] = {"first", "second", "third"};
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        append(&log, records[i]);
        if (synced)
            sync_log(&log);
    }
    size_t bytes = wal_segment_bytes(log.wal);
    close_log(&log);
    return bytes;
}

// Whatever byte the file ends at: it is seen, for all its records had been synced.
static void test_every_truncation(void **state)
{
    char path[600];
    size_t bytes = make_three(*state, true);
    path_of(path, *state, "0000000001.log");
    for (size_t keep = bytes; keep-- > 0;) {
        assert_int_equal(truncate(path, (off_t)keep), 0);
        struct wal_report report = look(*state, 0);
        assert_int_equal(report.damage_count, 1);
        wal_report_release(&report);
    }
}

// Where they had not, whole records before the end come back and nothing else.
static void test_every_torn_tail(void **state)
{
    char path[600];
    size_t bytes = make_three(*state, false);
    path_of(path, *state, "0000000001.log");
    for (size_t keep = bytes; keep-- > 32;) {
        assert_int_equal(truncate(path, (off_t)keep), 0);
        struct wal_report report = look(*state, 0);
        struct found found = {.count = 0};
        struct store_error error;
        assert_int_equal(report.damage_count, 0);
        assert_true(wal_walk(*state, 0, report.last, note, &found, &error));
        assert_true(found.count <= 2);
        assert_int_equal(strncmp(found.text, "first,second", strlen(found.text)), 0);
        wal_report_release(&report);
    }
}

// Whatever byte is damaged: it is seen, also without the promise unless it is in the last record.
static void test_every_damaged_byte(void **state)
{
    size_t bytes = make_three(*state, true);
    size_t last = bytes - strlen("third") - 20;
    for (size_t at = 0; at < bytes; at++) {
        flip(*state, "0000000001.log", (off_t)at);
        struct wal_report report = look(*state, 0);
        assert_int_equal(report.damage_count, 1);
        wal_report_release(&report);
        struct store_error error;
        assert_true(wal_check(*state, 0, &report, &error));
        assert_int_equal(report.damage_count, at < last ? 1 : 0);
        wal_report_release(&report);
        flip(*state, "0000000001.log", (off_t)at);
    }
    flip(*state, "0000000001.log", 40);
    expect_damage(*state, 0, "0000000001.log", 32, 2, "a record is damaged");
    flip(*state, "0000000001.log", 40);
    flip(*state, "0000000001.log", (off_t)last);
    expect_damage(*state, 0, "0000000001.log", last, 0, "a record is damaged");
    flip(*state, "0000000001.log", (off_t)last);
    flip(*state, "0000000001.log", 9);
    expect_damage(*state, 0, "0000000001.log", 0, 3, "the header is damaged");
    flip(*state, "0000000001.log", 9);
    expect_found(*state, "first,second,third");
}

// After a power cut any page of what was not synced may be missing. That is not damage, and what
// is behind it does not come back.
static void test_unsynced_hole(void **state)
{
    struct log log = open_continued(*state);
    append_synced(&log, "synced");
    append(&log, "hole");
    append(&log, "behind");
    off_t hole = 32 + 20 + 6 + 20;
    close_log(&log);
    flip(*state, "0000000001.log", hole);
    log = open_continued(*state);
    assert_string_equal(log.found.text, "synced");
    append_synced(&log, "next");
    close_log(&log);
    expect_found(*state, "synced,next");
    struct wal_report report = look(*state, 0);
    assert_int_equal(report.reach, 2);
    wal_report_release(&report);
}

static void make_segments(const char *directory)
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

static void test_missing_first_segment(void **state)
{
    make_segments(*state);
    remove_file(*state, "0000000001.log");
    expect_damage(*state, 0, "0000000001.log", 0, 2, "the file is missing");
    expect_damage(*state, 1, "0000000001.log", 0, 2, "the file is missing");
    struct wal_report report = look(*state, 2); // all that it had is in tables
    assert_int_equal(report.damage_count, 0);
    wal_report_release(&report);
}

static void test_missing_middle_segment(void **state)
{
    make_segments(*state);
    remove_file(*state, "0000000002.log");
    expect_damage(*state, 0, "0000000002.log", 0, 1, "the file is missing");
    struct found found = {.count = 0};
    struct store_error error;
    assert_true(wal_walk(*state, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, "a,b,d");
}

static void test_missing_last_segment(void **state)
{
    make_segments(*state);
    remove_file(*state, "0000000003.log");
    expect_damage(*state, 0, "0000000003.log", 0, 0, "the file is missing");
    struct wal_report report = look(*state, 4);
    assert_int_equal(report.damage_count, 0);
    wal_report_release(&report);
}

static void test_missing_log(void **state)
{
    make_segments(*state);
    remove_file(*state, "0000000001.log");
    remove_file(*state, "0000000002.log");
    remove_file(*state, "0000000003.log");
    expect_damage(*state, 0, "0000000003.log", 0, 0, "the file is missing");
}

static void test_copied_segment(void **state)
{
    char from[600];
    char to[600];
    make_segments(*state);
    path_of(from, *state, "0000000001.log");
    path_of(to, *state, "0000000002.log");
    assert_int_equal(unlink(to), 0);
    assert_int_equal(link(from, to), 0);
    struct wal_report report = look(*state, 0);
    assert_true(report.damage_count > 0);
    assert_int_equal(report.reach, 4);
    wal_report_release(&report);
    struct found found = {.count = 0};
    struct store_error error;
    assert_true(wal_walk(*state, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, "a,b,d");
}

// ---- Files of another log -------------------------------------------------------------------

static void copy_file(const char *from_directory, const char *from_name, const char *to_directory,
                      const char *to_name)
{
    char command[1400];
    char from[600];
    char to[600];
    path_of(from, from_directory, from_name);
    path_of(to, to_directory, to_name);
    (void)snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): it is a test
}

// Two directories with the same beginning, which then go ways of their own.
static void make_twins(char ours[600], char theirs[600], const char *directory)
{
    path_of(ours, directory, "ours");
    path_of(theirs, directory, "theirs");
    assert_int_equal(mkdir(ours, 0700), 0);
    assert_int_equal(mkdir(theirs, 0700), 0);
    struct log log = open_continued(ours);
    append_synced(&log, "a");
    close_log(&log);
    copy_file(ours, "0000000001.log", theirs, "");
    copy_file(ours, "promise", theirs, "");
    log = open_continued(ours);
    append_synced(&log, "b");
    close_log(&log);
    log = open_continued(theirs);
    append_synced(&log, "x");
    append_synced(&log, "y");
    (void)rotate(&log);
    append_synced(&log, "z");
    (void)rotate(&log);
    append_synced(&log, "z");
    close_log(&log);
}

static void expect_foreign(const char *directory, const char *file, const char *records)
{
    struct store_error error;
    struct found found = {.count = 0};
    expect_damage(directory, 0, file, 0, 0, "the file is of another log");
    assert_true(wal_walk(directory, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, records);
}

// In place of the last one: the promise knows it, and without a promise the file before it.
static void test_foreign_instead(void **state)
{
    char ours[600];
    char theirs[600];
    make_twins(ours, theirs, *state);
    copy_file(theirs, "0000000002.log", ours, "");
    expect_foreign(ours, "0000000002.log", "a");
    remove_file(ours, "0000000001.log");
    struct wal_report report = look(ours, 1);
    assert_int_equal(report.damage_count, 1);
    assert_string_equal(report.damages[0].what, "the file is of another log");
    wal_report_release(&report);
}

// Behind the last one it would void what that one has.
static void test_foreign_added(void **state)
{
    char ours[600];
    char theirs[600];
    make_twins(ours, theirs, *state);
    copy_file(theirs, "0000000003.log", ours, "");
    expect_foreign(ours, "0000000003.log", "a,b");
    remove_file(ours, "promise");
    expect_foreign(ours, "0000000003.log", "a,b");
    remove_file(ours, "0000000003.log");
    expect_found(ours, "a,b");
    // Further behind, where no file before it can say so.
    copy_file(theirs, "0000000004.log", ours, "");
    struct wal_report report = look(ours, 0);
    assert_true(report.damage_count > 0);
    wal_report_release(&report);
}

// In place of the first one, whose successor knows it.
static void test_foreign_before(void **state)
{
    char ours[600];
    char theirs[600];
    path_of(ours, *state, "ours");
    path_of(theirs, *state, "theirs");
    assert_int_equal(mkdir(ours, 0700), 0);
    assert_int_equal(mkdir(theirs, 0700), 0);
    make_segments(ours);
    make_segments(theirs);
    copy_file(theirs, "0000000001.log", ours, "");
    struct wal_report report = look(ours, 0);
    assert_string_equal(report.damages[0].file, "0000000001.log");
    assert_string_equal(report.damages[0].what, "the file is of another log");
    wal_report_release(&report);
}

// The files of format 3 do not know each other, and are continued by those that do.
static void test_format_3(void **state)
{
    char path[600];
    uint8_t header[32];
    make_segments(*state);
    for (int i = 1; i <= 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%010d.log", i);
        path_of(path, *state, name);
        int file = open(path, O_RDWR);
        assert_int_equal(pread(file, header, sizeof(header), 0), sizeof(header));
        header[3] = '2';
        memset(header + 20, 0, 4);
        uint32_t sum = crc32_of(slice_of(header + 8, sizeof(header) - 8));
        memcpy(header + 4, &sum, 4);
        assert_int_equal(pwrite(file, header, sizeof(header), 0), sizeof(header));
        (void)close(file);
    }
    uint64_t nothing = 0;
    path_of(path, *state, "promise");
    int file = open(path, O_RDWR);
    assert_int_equal(pwrite(file, &nothing, sizeof(nothing), PROMISE_SALT * 8), sizeof(nothing));
    (void)close(file);
    struct log log = open_continued(*state);
    assert_string_equal(log.found.text, "a,b,c,d");
    append_synced(&log, "e");
    close_log(&log);
    expect_found(*state, "a,b,c,d,e");
}

// A segment with a damaged header still gives its records to a repair.
static void test_lost_header(void **state)
{
    make_segments(*state);
    flip(*state, "0000000002.log", 20);
    expect_damage(*state, 0, "0000000002.log", 0, 2, "the header is damaged");
    struct found found = {.count = 0};
    struct store_error error;
    assert_true(wal_walk(*state, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, "a,b,c,d");
}

// A segment whose making was interrupted has never held anything; one that was promised has.
static void test_unfinished_segment(void **state)
{
    char path[600];
    make_segments(*state);
    path_of(path, *state, "0000000004.log");
    int file = open(path, O_RDWR | O_CREAT, 0666);
    assert_true(file >= 0);
    expect_found(*state, "a,b,c,d");
    assert_int_equal(write(file, "DLG2 and garbage", 16), 16);
    struct log log = open_continued(*state);
    assert_string_equal(log.found.text, "a,b,c,d");
    append_synced(&log, "e");
    close_log(&log);
    (void)close(file);
    expect_found(*state, "a,b,c,d,e");
    flip(*state, "0000000004.log", 1);
    expect_damage(*state, 0, "0000000004.log", 0, 1, "the header is damaged");
}

// Damage in the promise itself promises less, and loses nothing.
static void test_damaged_promise(void **state)
{
    make_segments(*state);
    for (off_t at = 0; at < 32; at++) {
        flip(*state, "promise", at);
        expect_found(*state, "a,b,c,d");
        uint64_t promised[PROMISE_VALUES];
        promise_read(*state, promised);
        assert_int_equal(promised[PROMISE_RECORDS], 4);
    }
    remove_file(*state, "promise");
    expect_found(*state, "a,b,c,d");
}

// ---- Format 1 -------------------------------------------------------------------------------

static void test_old_log(void **state)
{
    // Salt 0, whose checksum is 0x6522df69; then record 7, "old".
    static const uint8_t bytes[] = {'D', 'L', 'O', 'G', 0x69, 0xdf, 0x22, 0x65,
                                    0,   0,   0,   0,   0,    0,    0,    0};
    char path[600];
    path_of(path, *state, "0000000005.log");
    int file = open(path, O_RDWR | O_CREAT, 0666);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    uint8_t record[19] = {0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 'o', 'l', 'd'};
    uint32_t sum = crc32_of(slice_of(record + 4, sizeof(record) - 4));
    memcpy(record, &sum, 4);
    assert_int_equal(write(file, record, sizeof(record)), (ssize_t)sizeof(record));
    (void)close(file);
    struct wal_old old;
    struct store_error error;
    struct found found = {.count = 0};
    assert_true(wal_old_walk(*state, &old, note, &found, &error));
    assert_string_equal(found.text, "old");
    assert_int_equal(old.last, 7);
    assert_int_equal(old.lowest, 5);
    assert_int_equal(old.highest, 5);
}

// A log of today's that FORMAT calls an old one is not passed over.
static void test_new_log_is_not_old(void **state)
{
    make_segments(*state);
    struct wal_old old;
    struct store_error error;
    struct found found = {.count = 0};
    assert_false(wal_old_walk(*state, &old, note, &found, &error));
    assert_non_null(strstr(error.text, "FORMAT is damaged"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_records_come_back),
        TEST(test_segments),
        TEST(test_log_is_continued),
        TEST(test_broken_log_is_replaced),
        TEST(test_taken_back),
        TEST(test_void_record),
        TEST(test_failed_rotation),
        TEST(test_failed_promise),
        TEST(test_failed_directory),
        TEST(test_failed_append),
        TEST(test_every_truncation),
        TEST(test_every_torn_tail),
        TEST(test_every_damaged_byte),
        TEST(test_unsynced_hole),
        TEST(test_missing_first_segment),
        TEST(test_missing_middle_segment),
        TEST(test_missing_last_segment),
        TEST(test_missing_log),
        TEST(test_copied_segment),
        TEST(test_foreign_instead),
        TEST(test_foreign_added),
        TEST(test_foreign_before),
        TEST(test_format_3),
        TEST(test_lost_header),
        TEST(test_unfinished_segment),
        TEST(test_damaged_promise),
        TEST(test_old_log),
        TEST(test_new_log_is_not_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
