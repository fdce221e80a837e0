// The log of a directory that is encrypted: the same promises, nothing readable on disk, and what
// somebody has changed with care is damage, too.
#include "crypt/keyring.h"

static const struct keyring keys = {
    .count = 2,
    .keys = {{.id = 3, .key = {"0123456789abcdef0123456789abcde"}},
             {.id = 7, .key = {"fedcba9876543210fedcba987654321"}}},
};
static const struct keyring older = {
    .count = 1, .keys = {{.id = 3, .key = {"0123456789abcdef0123456789abcde"}}}};
#define LOG_KEYS (&keys)
#include "log.h"

#include "base/encode.h"
#include "wal/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST "0000000001.log"

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

static void read_file(const char *directory, const char *name, struct buf *out)
{
    char path[600];
    path_of(path, directory, name);
    int file = open(path, O_RDONLY);
    buf_init(out, 64 << 20);
    assert_true(file >= 0 && file_read(file, out));
    (void)close(file);
}

static void write_file(const char *directory, const char *name, struct slice bytes)
{
    char path[600];
    path_of(path, directory, name);
    int file = open(path, O_WRONLY | O_TRUNC);
    assert_true(file >= 0 && file_write(file, bytes));
    (void)close(file);
}

static size_t record_bytes(const char *text)
{
    return WAL_HEADER + WAL_SEAL + strlen(text);
}

static void test_records_come_back(void **state)
{
    struct buf bytes;
    struct log log = open_continued(*state);
    append_synced(&log, "first secret");
    append_synced(&log, "");
    append_synced(&log, "third secret");
    close_log(&log);
    read_file(*state, FIRST, &bytes);
    assert_memory_equal(bytes.ptr, "DLG4", 4);
    assert_int_equal(le32_get(bytes.ptr + 32), 7); // the newest key
    assert_null(memmem(bytes.ptr, bytes.len, "secret", 6));
    buf_release(&bytes);
    expect_found(*state, "first secret,,third secret");
}

// A file that was made with an older key.
static void test_older_key(void **state)
{
    struct store_error error;
    struct wal_report report;
    uint64_t number;
    struct found found = {.count = 0};
    struct log log = {.promise = calloc(1, sizeof(*log.promise))};
    assert_true(wal_check(*state, &older, 0, &report, &error));
    assert_true(promise_open(log.promise, *state, &error));
    log.wal = wal_open(*state, &older, &report, 0, log.promise, &error);
    wal_report_release(&report);
    assert_true(wal_continue(log.wal, &number, &error));
    append_synced(&log, "a");
    close_log(&log);
    log = open_continued(*state);
    assert_string_equal(log.found.text, "a");
    append_synced(&log, "b");
    close_log(&log);
    expect_found(*state, "a,b");
    // Without the newer one that part is damaged, and not taken for its end.
    assert_true(wal_check(*state, &older, 2, &report, &error));
    assert_true(report.damage_count > 0);
    assert_true(wal_walk(*state, &older, 0, 9, note, &found, &error));
    assert_string_equal(found.text, "a");
    wal_report_release(&report);
}

static void test_every_damaged_byte(void **state)
{
    struct buf bytes;
    make_segments(*state);
    read_file(*state, FIRST, &bytes);
    size_t end = WAL_START_SEALED + record_bytes("a") + record_bytes("b");
    for (size_t at = 0; at < end; at++) {
        bytes.ptr[at] ^= 0x10;
        write_file(*state, FIRST, buf_view(&bytes));
        struct wal_report report = look(*state, 0);
        assert_true(report.damage_count > 0);
        assert_string_equal(report.damages[0].file, FIRST);
        assert_int_equal(report.damages[0].behind, at < WAL_START_SEALED                       ? 4
                                                   : at < WAL_START_SEALED + record_bytes("a") ? 3
                                                                                               : 2);
        wal_report_release(&report);
        bytes.ptr[at] ^= 0x10;
    }
    buf_release(&bytes);
}

// Somebody who knows the format, and not the key, changes a byte and makes the checksum fit.
static void test_every_forged_byte(void **state)
{
    struct buf bytes;
    make_segments(*state);
    read_file(*state, FIRST, &bytes);
    size_t second = WAL_START_SEALED + record_bytes("a");
    for (size_t at = 8; at < second; at++) {
        uint8_t copy[4];
        bool head = at < WAL_START_SEALED;
        size_t begin = head ? 4 : WAL_START_SEALED;
        size_t from = head ? 8 : WAL_START_SEALED + 4;
        size_t upto = head ? WAL_START_SEALED : second;
        if (at >= WAL_START_SEALED && at < WAL_START_SEALED + 8)
            continue; // checksum and length
        bytes.ptr[at] ^= 0x01;
        memcpy(copy, bytes.ptr + begin, 4);
        uint32_t sum = crc32_of(slice_of(bytes.ptr + from, upto - from));
        memcpy(bytes.ptr + begin, &sum, 4);
        write_file(*state, FIRST, buf_view(&bytes));
        struct wal_report report = look(*state, 0);
        assert_true(report.damage_count > 0);
        assert_string_equal(report.damages[0].file, FIRST);
        wal_report_release(&report);
        bytes.ptr[at] ^= 0x01;
        memcpy(bytes.ptr + begin, copy, 4);
    }
    write_file(*state, FIRST, buf_view(&bytes));
    expect_found(*state, "a,b,c,d");
    buf_release(&bytes);
}

// A tail that was not synced ends the log; one that was is damage.
static void test_every_truncation(void **state)
{
    struct buf bytes;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    append(&log, "b");
    append(&log, "c");
    close_log(&log);
    read_file(*state, FIRST, &bytes);
    size_t ends[] = {WAL_START_SEALED + record_bytes("a"), WAL_START_SEALED + 2 * record_bytes("b"),
                     WAL_START_SEALED + 3 * record_bytes("c")};
    for (size_t length = WAL_START_SEALED; length <= ends[2]; length++) {
        write_file(*state, FIRST, slice_of(bytes.ptr, length));
        struct wal_report report = look(*state, 0);
        assert_int_equal(report.damage_count, length < ends[0]);
        assert_int_equal(report.last,
                         (length >= ends[0]) + (length >= ends[1]) + (length >= ends[2]));
        wal_report_release(&report);
    }
    buf_release(&bytes);
}

// Records of the same sequence never have the same nonce.
static void test_taken_back(void **state)
{
    struct store_error error;
    struct buf one;
    struct buf other;
    struct log log = open_continued(*state);
    append_synced(&log, "a");
    read_file(*state, FIRST, &one);
    assert_true(wal_take_back(log.wal, &error));
    append_synced(&log, "a");
    read_file(*state, FIRST, &other);
    close_log(&log);
    assert_int_equal(le32_get(one.ptr + WAL_START_SEALED + WAL_HEADER), 1);
    assert_int_equal(le32_get(other.ptr + WAL_START_SEALED + WAL_HEADER), 2);
    expect_found(*state, "a");
    buf_release(&one);
    buf_release(&other);
}

// The records of a file whose header is lost are still found.
static void test_lost_header(void **state)
{
    struct store_error error;
    struct buf bytes;
    struct found found = {.count = 0};
    make_segments(*state);
    read_file(*state, FIRST, &bytes);
    memset(bytes.ptr, 0, WAL_START_SEALED);
    write_file(*state, FIRST, buf_view(&bytes));
    expect_damage(*state, 0, FIRST, 0, 4, "the header is damaged");
    assert_true(wal_walk(*state, &keys, 0, UINT64_MAX, note, &found, &error));
    assert_string_equal(found.text, "a,b,c,d");
    buf_release(&bytes);
}

// A plain file is not taken for one of an encrypted log, nor the other way round.
static void test_plain_file(void **state)
{
    struct store_error error;
    struct wal_report report;
    make_segments(*state);
    assert_true(wal_check(*state, NULL, 3, &report, &error));
    assert_int_equal(report.records, 0);
    assert_string_equal(report.damages[0].what, "the file is encrypted, and the directory is not");
    wal_report_release(&report);
    struct wal_start start = {.salt = 5, .number = 3, .first = 4};
    uint8_t plain[WAL_START_SEALED];
    size_t length = wal_start_encode(&start, NULL, plain);
    write_file(*state, "0000000003.log", slice_of(plain, length));
    assert_true(wal_check(*state, &keys, 3, &report, &error));
    assert_true(report.damage_count > 0);
    wal_report_release(&report);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_records_come_back), TEST(test_older_key),        TEST(test_every_damaged_byte),
        TEST(test_every_forged_byte), TEST(test_every_truncation), TEST(test_taken_back),
        TEST(test_lost_header),       TEST(test_plain_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
