// The write-ahead log: what is appended and synced comes back, or it is seen that it does not.
#include "log.h"

#include "base/encode.h"
#include "wal/old.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int set_up(void **state)
{
    char *path = malloc(256);
    temp_dir_make(path);
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(*state);
    free(*state);
    return 0;
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
    assert_true(wal_walk(*state, NULL, 1, 3, note, &found, &error));
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
    assert_true(wal_walk(*state, NULL, 1, 2, note, &found, &error));
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
        assert_true(wal_walk(*state, NULL, 0, report.last, note, &found, &error));
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
        assert_true(wal_check(*state, NULL, 0, &report, &error));
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

// ---- Files that are used again --------------------------------------------------------------

enum { OLD_RECORDS = 4 };

// Begins a segment in the file of another one, which held longer records; nothing else is left.
static struct log begin_again(const char *directory)
{
    struct store_error error;
    struct stat before;
    struct stat after;
    char path[600];
    struct log log = open_continued(directory);
    path_of(path, directory, "0000000001.log");
    assert_int_equal(stat(path, &before), 0);
    append_synced(&log, "one that is of no use any more");
    append_synced(&log, "another one that is of no use any more");
    append_synced(&log, "yet another one that is of no use any more");
    (void)rotate(&log);
    assert_true(wal_drop_below(log.wal, 2, &error));
    append_synced(&log, "fourth");
    (void)rotate(&log);
    assert_true(wal_drop_below(log.wal, 3, &error));
    path_of(path, directory, "0000000003.log");
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(count_files(directory), 1);
    return log;
}

static bool is_there(const char *directory, const char *name)
{
    char path[600];
    path_of(path, directory, name);
    return access(path, F_OK) == 0;
}

static void test_file_is_used_again(void **state)
{
    struct log log = begin_again(*state);
    uint64_t segments;
    uint64_t bytes;
    append_synced(&log, "new");
    assert_true(is_there(*state, "spare.tmp")); // of the second
    wal_measure(log.wal, &segments, &bytes);
    assert_int_equal(segments, 1);
    assert_true(bytes > 2 * (4 << 20)); // both with room
    close_log(&log);
    assert_false(is_there(*state, "spare.tmp"));
    expect_found_above(*state, OLD_RECORDS, "new");
    // What was being read is kept, whatever is behind it, and the log goes on.
    log = open_continued_above(*state, OLD_RECORDS);
    append_synced(&log, "next");
    close_log(&log);
    expect_found_above(*state, OLD_RECORDS, "new,next");
}

// A file that never got a record, and one that lost its header, have none of the old ones.
static void test_used_again_without_records(void **state)
{
    struct log log = begin_again(*state);
    close_log(&log);
    struct wal_report report = look(*state, OLD_RECORDS);
    assert_int_equal(report.damage_count, 0);
    assert_int_equal(report.records, 0);
    wal_report_release(&report);
    flip(*state, "0000000003.log", 9);
    expect_damage(*state, OLD_RECORDS, "0000000003.log", 0, 0, "the header is damaged");
    struct found found = {.count = 0};
    struct store_error error;
    assert_true(wal_walk(*state, NULL, 0, UINT64_MAX, note, &found, &error));
    assert_int_equal(found.count, 0);
}

static void test_used_again_every_damaged_byte(void **state)
{
    struct log log = begin_again(*state);
    append_synced(&log, "first");
    append_synced(&log, "second");
    append_synced(&log, "third");
    size_t bytes = wal_segment_bytes(log.wal);
    close_log(&log);
    for (size_t at = 0; at < 2 * bytes; at++) {
        flip(*state, "0000000003.log", (off_t)at);
        struct wal_report report = look(*state, OLD_RECORDS);
        assert_int_equal(report.damage_count, at < bytes ? 1 : 0);
        wal_report_release(&report);
        flip(*state, "0000000003.log", (off_t)at);
    }
    expect_found_above(*state, OLD_RECORDS, "first,second,third");
}

// A write that was cut off leaves what was there before.
static void test_used_again_every_torn_tail(void **state)
{
    struct log log = begin_again(*state);
    char path[600];
    uint8_t old[512];
    path_of(path, *state, "0000000003.log");
    int file = open(path, O_RDWR);
    assert_int_equal(pread(file, old, sizeof(old), 0), sizeof(old));
    append(&log, "first");
    append(&log, "second");
    append(&log, "third");
    size_t bytes = wal_segment_bytes(log.wal);
    close_log(&log);
    assert_true(bytes < sizeof(old));
    for (size_t keep = bytes; keep-- > 32;) {
        assert_int_equal(pwrite(file, old + keep, bytes - keep, (off_t)keep), bytes - keep);
        struct wal_report report = look(*state, OLD_RECORDS);
        struct found found = {.count = 0};
        struct store_error error;
        assert_int_equal(report.damage_count, 0);
        assert_true(wal_walk(*state, NULL, 0, report.last, note, &found, &error));
        assert_true(found.count <= 2);
        assert_int_equal(strncmp(found.text, "first,second", strlen(found.text)), 0);
        wal_report_release(&report);
    }
    (void)close(file);
}

// Where there is little room nothing is kept, and what a killed process kept goes at the start.
static void test_spare_goes(void **state)
{
    struct log log = begin_again(*state);
    assert_true(is_there(*state, "spare.tmp"));
    wal_allocate_ahead(log.wal, false);
    assert_false(is_there(*state, "spare.tmp"));
    append_synced(&log, "a");
    (void)rotate(&log);
    append_synced(&log, "b");
    struct store_error error;
    assert_true(wal_drop_below(log.wal, 4, &error));
    assert_false(is_there(*state, "spare.tmp"));
    close_log(&log);
    char path[600];
    path_of(path, *state, "spare.tmp");
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    (void)close(file);
    expect_found_above(*state, OLD_RECORDS + 1, "b");
    assert_false(is_there(*state, "spare.tmp"));
}

// What the file of a new segment is called when it is synced for the first time.
static char first_synced[600];

int fdatasync(int fd)
{
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    char path[600] = {0};
    if (first_synced[0] == 0 && readlink(link, path, sizeof(path) - 1) > 0 &&
        strstr(path, "promise") == NULL)
        memcpy(first_synced, path, sizeof(path));
    return (int)syscall(SYS_fdatasync, fd);
}

// A segment has its name only once its header is on disk: else a power cut could leave the name
// with whatever bytes were in the place of the header, which would be taken for damage. What is
// left of one that has no name is no segment.
static void test_new_has_no_name(void **state)
{
    static const char torn[] = "DLG3 and whatever else was on the disk";
    char path[600];
    path_of(path, *state, "new.tmp");
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, torn, sizeof(torn)), sizeof(torn));
    (void)close(file);
    first_synced[0] = 0;
    struct log log = open_continued(*state);
    assert_string_equal(strrchr(first_synced, '/'), "/new.tmp");
    assert_false(is_there(*state, "new.tmp"));
    append_synced(&log, "a");
    close_log(&log);
    expect_found(*state, "a");
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
    assert_true(wal_walk(*state, NULL, 0, UINT64_MAX, note, &found, &error));
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
    assert_true(wal_walk(*state, NULL, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, "a,b,d");
}

// A segment with a damaged header still gives its records to a repair.
static void test_lost_header(void **state)
{
    make_segments(*state);
    flip(*state, "0000000002.log", 20);
    expect_damage(*state, 0, "0000000002.log", 0, 2, "the header is damaged");
    struct found found = {.count = 0};
    struct store_error error;
    assert_true(wal_walk(*state, NULL, 0, UINT64_MAX, note, &found, &error));
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
        TEST(test_every_truncation),
        TEST(test_every_torn_tail),
        TEST(test_every_damaged_byte),
        TEST(test_unsynced_hole),
        TEST(test_file_is_used_again),
        TEST(test_used_again_without_records),
        TEST(test_used_again_every_damaged_byte),
        TEST(test_used_again_every_torn_tail),
        TEST(test_spare_goes),
        TEST(test_new_has_no_name),
        TEST(test_missing_first_segment),
        TEST(test_missing_middle_segment),
        TEST(test_missing_last_segment),
        TEST(test_missing_log),
        TEST(test_copied_segment),
        TEST(test_lost_header),
        TEST(test_unfinished_segment),
        TEST(test_damaged_promise),
        TEST(test_old_log),
        TEST(test_new_log_is_not_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
