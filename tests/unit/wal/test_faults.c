// The log when a step of it fails, and with files that are not its own.
#include "log.h"

#include "base/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

// This executable has its own fdatasync, fsync and pwritev, in front of the C library's.
static int promise_faults;   // how many of the next syncs of the promise fail, or -1 for all
static int directory_faults; // and of a directory
static int write_faults;     // how many of the next writes do all of their work and then fail
static ssize_t write_room;   // how many bytes fit on the disk, or -1 for all

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

// The first bytes of the parts, as many as fit.
static ssize_t write_some(int fd, const struct iovec *parts, int count, off_t at)
{
    ssize_t done = 0;
    for (int i = 0; i < count; i++) {
        size_t fits =
            (ssize_t)parts[i].iov_len < write_room ? parts[i].iov_len : (size_t)write_room;
        assert_int_equal(pwrite(fd, parts[i].iov_base, fits, at + done), fits);
        done += (ssize_t)fits;
        write_room -= (ssize_t)fits;
    }
    errno = ENOSPC;
    return done == 0 ? -1 : done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    if (write_room >= 0)
        return write_some(fd, parts, count, at);
    ssize_t done = (ssize_t)syscall(SYS_pwritev, fd, parts, count, at, 0);
    return count_down(&write_faults) ? -1 : done;
}

static int set_up(void **state)
{
    char *path = malloc(256);
    temp_dir_make(path);
    promise_faults = directory_faults = write_faults = 0;
    write_room = -1;
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(*state);
    free(*state);
    return 0;
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

// The same for one that was to begin in the file of an old one.
static void test_failed_reuse(void **state)
{
    struct store_error error;
    uint64_t number;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    for (int fails = 0; fails < 2; fails++) {
        assert_true(wal_rotate(log.wal, &number, &error));
        assert_true(wal_drop_below(log.wal, number, &error));
        append_synced(&log, "b");
        int *faults = fails == 0 ? &directory_faults : &write_faults;
        *faults = 1;
        assert_false(wal_rotate(log.wal, &number, &error));
        assert_int_equal(*faults, 0);
        assert_false(wal_broken(log.wal));
        assert_int_equal(count_files(*state), 1);
        append_synced(&log, "c");
    }
    close_log(&log);
    expect_found_above(*state, 3, "b,c");
}

// A record is there when it is written, whether or not there is room for what fills its block.
static void test_no_room(void **state)
{
    struct store_error error;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    for (ssize_t room = 20 + 4; room < 20 + 8; room++) {
        write_room = room;
        assert_int_equal(wal_append(log.wal, SLICE_LIT("whole"), &error),
                         room < 20 + 5 ? STORE_NOT_DONE : STORE_DONE);
        write_room = -1;
    }
    append_synced(&log, "b");
    close_log(&log);
    expect_found(*state, "a,whole,whole,whole,b");
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

// ---- Files of another log -------------------------------------------------------------------

static void copy_named(const char *from_directory, const char *to_directory, const char *name)
{
    char from[600];
    char to[600];
    path_of(from, from_directory, name);
    path_of(to, to_directory, name);
    copy_file(from, to);
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
    copy_named(ours, theirs, "0000000001.log");
    copy_named(ours, theirs, "promise");
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
    assert_true(wal_walk(directory, NULL, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, records);
}

// In place of the last one: the promise knows it, and without a promise the file before it.
static void test_foreign_instead(void **state)
{
    char ours[600];
    char theirs[600];
    make_twins(ours, theirs, *state);
    copy_named(theirs, ours, "0000000002.log");
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
    copy_named(theirs, ours, "0000000003.log");
    expect_foreign(ours, "0000000003.log", "a,b");
    remove_file(ours, "promise");
    expect_foreign(ours, "0000000003.log", "a,b");
    remove_file(ours, "0000000003.log");
    expect_found(ours, "a,b");
    // Further behind, where no file before it can say so.
    copy_named(theirs, ours, "0000000004.log");
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
    copy_named(theirs, ours, "0000000001.log");
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

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_failed_rotation), TEST(test_failed_promise), TEST(test_failed_directory),
        TEST(test_failed_append),   TEST(test_failed_reuse),   TEST(test_no_room),
        TEST(test_foreign_instead), TEST(test_foreign_added),  TEST(test_foreign_before),
        TEST(test_format_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
