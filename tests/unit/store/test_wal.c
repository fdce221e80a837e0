// The write-ahead log: what is appended and synced comes back, whatever happens to the rest.
#include "fixture.h"

#include "store/wal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
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

// The records found by an opening, joined by commas.
struct found {
    char text[4096];
    size_t count;
};

static bool note(void *context, struct slice payload, struct store_error *error)
{
    (void)error;
    struct found *found = context;
    size_t used = strlen(found->text);
    (void)snprintf(found->text + used, sizeof(found->text) - used, "%s%.*s",
                   found->count == 0 ? "" : ",", SLICE_FMT(payload));
    found->count++;
    return true;
}

static struct wal *open_wal(const char *directory, struct found *found)
{
    struct store_error error;
    *found = (struct found){.count = 0};
    struct wal *wal = wal_open(directory, note, found, &error);
    assert_non_null(wal);
    return wal;
}

static void append(struct wal *wal, const char *text)
{
    struct store_error error;
    assert_true(wal_append(wal, slice_str(text), &error));
}

static void restart(struct wal *wal)
{
    struct store_error error;
    assert_true(wal_restart(wal, &error));
}

static void expect_found(const char *directory, const char *records)
{
    struct found found;
    wal_close(open_wal(directory, &found));
    assert_string_equal(found.text, records);
}

static size_t count_files(const char *directory)
{
    size_t count = 0;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    (void)closedir(listing);
    return count;
}

static void test_records_come_back(void **state)
{
    struct found found;
    struct store_error error;
    struct wal *wal = open_wal(*state, &found);
    assert_false(wal_replayed(wal));
    assert_false(wal_append(wal, SLICE_LIT("too early"), &error));
    restart(wal);
    append(wal, "one");
    append(wal, "");
    append(wal, "three");
    assert_true(wal_sync(wal, &error));
    wal_close(wal);
    expect_found(*state, "one,,three");
    wal = open_wal(*state, &found);
    assert_true(wal_replayed(wal));
    restart(wal);
    append(wal, "four");
    wal_close(wal);
    expect_found(*state, "four");
    assert_int_equal(count_files(*state), 1);
}

static void test_segments(void **state)
{
    struct found found;
    struct store_error error;
    uint64_t number;
    struct wal *wal = open_wal(*state, &found);
    restart(wal);
    append(wal, "a");
    assert_true(wal_rotate(wal, &number, &error));
    append(wal, "b");
    assert_true(wal_rotate(wal, &number, &error));
    append(wal, "c");
    assert_int_equal(count_files(*state), 3);
    wal_close(wal);
    expect_found(*state, "a,b,c");
    wal = open_wal(*state, &found);
    restart(wal);
    append(wal, "d");
    assert_true(wal_rotate(wal, &number, &error));
    append(wal, "e");
    assert_true(wal_drop_below(wal, number, &error));
    assert_int_equal(count_files(*state), 1);
    wal_close(wal);
    expect_found(*state, "e");
}

// Opening may keep what it found and go on behind it; the next opening finds both, even if the
// older segment ends in a torn record, and however often it happens.
static void test_log_is_continued(void **state)
{
    struct found found;
    struct store_error error;
    uint64_t number;
    uint64_t segments;
    uint64_t bytes;
    char path[600];
    struct wal *wal = open_wal(*state, &found);
    restart(wal);
    append(wal, "a");
    append(wal, "torn");
    off_t torn = (off_t)wal_segment_bytes(wal) - 1;
    wal_close(wal);
    (void)snprintf(path, sizeof(path), "%s/0000000001.log", (char *)*state);
    assert_int_equal(truncate(path, torn), 0);
    for (int i = 0; i < 3; i++) {
        wal = open_wal(*state, &found);
        assert_string_equal(found.text, i == 0 ? "a" : i == 1 ? "a,b" : "a,b,b");
        assert_false(wal_append(wal, SLICE_LIT("too early"), &error));
        assert_true(wal_continue(wal, &number, &error));
        append(wal, "b");
        wal_measure(wal, &segments, &bytes);
        assert_int_equal(segments, i + 2);
        assert_true(bytes >= wal_segment_bytes(wal) + (size_t)torn);
        wal_close(wal);
    }
    wal = open_wal(*state, &found);
    assert_string_equal(found.text, "a,b,b,b");
    assert_true(wal_continue(wal, &number, &error));
    assert_true(wal_drop_below(wal, number, &error));
    append(wal, "c");
    wal_close(wal);
    expect_found(*state, "c");
    assert_int_equal(count_files(*state), 1);
}

// The only segment's path.
static void segment_path(const char *directory, char *out, size_t size)
{
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] != '.')
            (void)snprintf(out, size, "%s/%s", directory, entry->d_name);
    }
    (void)closedir(listing);
}

static size_t make_three(const char *directory)
{
    struct found found;
    struct wal *wal = open_wal(directory, &found);
    restart(wal);
    append(wal, "first");
    append(wal, "second");
    append(wal, "third");
    size_t bytes = wal_segment_bytes(wal);
    wal_close(wal);
    return bytes;
}

// Whatever byte the file ends at, whole records before it come back and nothing else.
static void test_every_torn_tail(void **state)
{
    char path[600];
    size_t bytes = make_three(*state);
    for (size_t keep = bytes; keep-- > 0;) {
        segment_path(*state, path, sizeof(path));
        assert_int_equal(truncate(path, (off_t)keep), 0);
        struct found found;
        wal_close(open_wal(*state, &found));
        assert_true(found.count <= 2);
        assert_int_equal(strncmp(found.text, "first,second", strlen(found.text)), 0);
    }
}

// Whatever byte is damaged, its record and those behind it do not come back.
static void test_every_damaged_byte(void **state)
{
    char path[600];
    size_t bytes = make_three(*state);
    segment_path(*state, path, sizeof(path));
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    for (size_t at = 0; at < bytes; at++) {
        uint8_t byte;
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        uint8_t other = byte ^ 0x41;
        assert_int_equal(pwrite(file, &other, 1, (off_t)at), 1);
        struct found found;
        struct store_error error;
        found = (struct found){.count = 0};
        struct wal *wal = wal_open(*state, note, &found, &error);
        if (wal != NULL)
            wal_close(wal);
        assert_true(found.count <= 2);
        assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    }
    (void)close(file);
    expect_found(*state, "first,second,third");
}

// A segment that is missing in the middle is a gap, and a gap is not passed over in silence.
static void test_missing_segment(void **state)
{
    struct found found;
    struct store_error error;
    uint64_t number;
    char path[600];
    struct wal *wal = open_wal(*state, &found);
    restart(wal);
    append(wal, "a");
    assert_true(wal_rotate(wal, &number, &error));
    append(wal, "b");
    (void)snprintf(path, sizeof(path), "%s/%010llu.log", (char *)*state,
                   (unsigned long long)number);
    assert_true(wal_rotate(wal, &number, &error));
    append(wal, "c");
    wal_close(wal);
    assert_int_equal(unlink(path), 0);
    assert_null(wal_open(*state, note, &found, &error));
    assert_non_null(strstr(error.text, "the log is damaged"));
}

static void test_broken_log_is_replaced(void **state)
{
    struct found found;
    struct store_error error;
    struct wal *wal = open_wal(*state, &found);
    restart(wal);
    append(wal, "applied");
    append(wal, "not applied");
    wal_break(wal);
    assert_true(wal_broken(wal));
    assert_false(wal_append(wal, SLICE_LIT("refused"), &error));
    assert_false(wal_sync(wal, &error));
    restart(wal);
    append(wal, "after");
    wal_close(wal);
    expect_found(*state, "after");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_records_come_back), TEST(test_segments),
        TEST(test_every_torn_tail),   TEST(test_every_damaged_byte),
        TEST(test_missing_segment),   TEST(test_broken_log_is_replaced),
        TEST(test_log_is_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
