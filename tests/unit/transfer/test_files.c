// Sources, sinks, directories and the layout of exports.
#include "transfer/support.h"

#include "base/encode.h"
#include "transfer/export.h"
#include "transfer/files.h"
#include "transfer/frame.h"

#include <fcntl.h>
#include <sys/stat.h>

static void test_compression(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, 1 << 24);
    for (int i = 0; i < 50000; i++)
        buf_printf(&text, "{\"Item\":{\"pk\":{\"N\":\"%d\"}}}\n", i);
    for (int c = TRANSFER_NONE; c <= TRANSFER_ZSTD; c++) {
        char *path = fixture_path(f, "packed");
        file_make(f, path, buf_view(&text), (enum transfer_compression)c);
        for (int guess = 0; guess < 2; guess++) {
            struct item_reader_options options = {
                .format = TRANSFER_DYNAMODB_JSON,
                .compression = guess ? TRANSFER_GUESS : (enum transfer_compression)c};
            struct item_reader *reader = item_reader_open(path, &options, &f->error);
            assert_non_null(reader);
            assert_true(item_reader_skip(reader, 49000, &f->error));
            struct item_record record;
            unsigned count = 0;
            while (item_reader_next(reader, &record, &f->error)) {
                assert_int_equal(record.number, 49001 + count);
                assert_int_equal(record.line, 49001 + count++);
                assert_null(record.bad);
            }
            assert_int_equal(f->error.code, ERR_NONE);
            assert_int_equal(count, 1000);
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(item_reader_consumed(reader), info.st_size);
            item_reader_free(reader);
        }
    }
    buf_release(&text);
}

static void test_members_and_cuts(void **state)
{
    struct fixture *f = *state;
    for (int c = TRANSFER_NONE; c <= TRANSFER_ZSTD; c++) {
        char *path = fixture_path(f, "cut");
        struct sink *sink = sink_open(path, (enum transfer_compression)c, 0, &f->error);
        assert_true(sink_write(sink, SLICE_LIT("{\"a\":1}\n"), &f->error));
        assert_true(sink_cut(sink, &f->error));
        uint64_t safe = sink_size(sink);
        assert_true(sink_write(sink, SLICE_LIT("{\"lost\":1}\n"), &f->error));
        sink_free(sink);
        sink = sink_open(path, (enum transfer_compression)c, safe, &f->error);
        assert_true(sink_write(sink, SLICE_LIT("{\"a\":2}\n"), &f->error));
        assert_true(sink_close(sink, NULL, &f->error));
        struct item_reader_options options = {.format = TRANSFER_PLAIN,
                                              .compression = TRANSFER_GUESS};
        struct item_reader *reader = item_reader_open(path, &options, &f->error);
        struct item_record record;
        assert_true(item_reader_next(reader, &record, &f->error));
        assert_item(record.item, "{\"a\":{\"N\":\"1\"}}");
        assert_true(item_reader_next(reader, &record, &f->error));
        assert_item(record.item, "{\"a\":{\"N\":\"2\"}}");
        assert_false(item_reader_next(reader, &record, &f->error));
        item_reader_free(reader);
    }
}

static void test_broken_compression(void **state)
{
    struct fixture *f = *state;
    char *path = fixture_path(f, "broken");
    for (int c = TRANSFER_GZIP; c <= TRANSFER_ZSTD; c++) {
        file_make(f, path, SLICE_LIT("{\"a\":1}\n{\"a\":2}\n"), (enum transfer_compression)c);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        for (int what = 0; what < 2; what++) {
            if (what == 0)
                assert_int_equal(truncate(path, info.st_size - 3), 0);
            else
                file_make(f, path, SLICE_LIT("{\"a\":1}\n"), TRANSFER_NONE);
            struct item_reader_options options = {.format = TRANSFER_PLAIN,
                                                  .compression = (enum transfer_compression)c};
            struct item_reader *reader = item_reader_open(path, &options, &f->error);
            struct item_record record;
            while (item_reader_next(reader, &record, &f->error))
                continue;
            assert_int_equal(f->error.code, ERR_VALIDATION);
            assert_string_equal(f->error.message, what == 0 ? "the compressed file ends too early"
                                                  : c == TRANSFER_GZIP
                                                      ? "the file is not valid gzip"
                                                      : "the file is not valid zstd");
            item_reader_free(reader);
            error_init(&f->error, &f->arena);
        }
    }
    struct item_reader_options options = {.format = TRANSFER_PLAIN};
    assert_null(item_reader_open(fixture_path(f, "nowhere"), &options, &f->error));
    assert_non_null(strstr(f->error.message, "No such file"));
    error_init(&f->error, &f->arena);
    // What the disk refuses is not the file's fault.
    struct item_reader *reader = item_reader_open("/", &options, &f->error);
    struct item_record record;
    assert_false(item_reader_next(reader, &record, &f->error));
    assert_int_equal(f->error.code, ERR_INTERNAL);
    assert_string_equal(f->error.message, "cannot read: Is a directory");
    item_reader_free(reader);
    error_init(&f->error, &f->arena);
}

// A record beyond the limit is dropped, in bounded memory, and the next one is read.
static void test_long_record(void **state)
{
    struct fixture *f = *state;
    char *path = fixture_path(f, "long");
    struct sink *sink = sink_open(path, TRANSFER_GZIP, 0, &f->error);
    static char piece[1 << 20];
    memset(piece, 'x', sizeof(piece));
    assert_true(sink_write(sink, SLICE_LIT("{\"a\":\""), &f->error));
    for (int i = 0; i < FRAME_MAX / (1 << 20) + 8; i++)
        assert_true(sink_write(sink, slice_of(piece, sizeof(piece)), &f->error));
    assert_true(sink_write(sink, SLICE_LIT("\"}\n{\"a\":1}\n"), &f->error));
    assert_true(sink_close(sink, NULL, &f->error));
    struct item_reader_options options = {.format = TRANSFER_PLAIN, .compression = TRANSFER_GZIP};
    struct item_reader *reader = item_reader_open(path, &options, &f->error);
    struct item_record record;
    assert_true(item_reader_next(reader, &record, &f->error));
    assert_string_equal(record.bad, "the record is too long");
    assert_true(item_reader_next(reader, &record, &f->error));
    assert_null(record.bad);
    assert_int_equal(record.line, 2);
    assert_false(item_reader_next(reader, &record, &f->error));
    item_reader_free(reader);
}

static bool stop_after(void *context)
{
    unsigned *left = context;
    return (*left)-- == 0;
}

// Reading stops where there is no record for long: in white space, and in members with nothing in
// them.
static void test_stop(void **state)
{
    struct fixture *f = *state;
    char *path = fixture_path(f, "blank");
    static char piece[1 << 20];
    memset(piece, ' ', sizeof(piece));
    for (int empty = 0; empty < 2; empty++) {
        if (empty) {
            int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            static const uint8_t member[20] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0};
            for (int i = 0; i < 20000; i++)
                assert_int_equal(write(fd, member, sizeof(member)), sizeof(member));
            assert_int_equal(close(fd), 0);
        } else {
            struct sink *sink = sink_open(path, TRANSFER_GZIP, 0, &f->error);
            for (int i = 0; i < 40; i++)
                assert_true(sink_write(sink, slice_of(piece, sizeof(piece)), &f->error));
            assert_true(sink_close(sink, NULL, &f->error));
        }
        unsigned left = 10;
        struct item_reader_options options = {.format = TRANSFER_DYNAMODB_JSON,
                                              .compression = TRANSFER_GZIP,
                                              .stop = stop_after,
                                              .stop_context = &left};
        struct item_reader *reader = item_reader_open(path, &options, &f->error);
        struct item_record record;
        assert_false(item_reader_next(reader, &record, &f->error));
        assert_int_equal(f->error.code, ERR_UNAVAILABLE);
        error_init(&f->error, &f->arena);
        item_reader_free(reader);
    }
}

static int open_in(struct fixture *f, const char *root, const char *key)
{
    int fd = files_open(root, slice_str(key), &f->error);
    error_init(&f->error, &f->arena);
    if (fd >= 0)
        assert_int_equal(close(fd), 0);
    return fd < 0 ? -1 : 0;
}

// Neither a link to a file nor one to a directory leads out of a bucket.
static void test_links(void **state)
{
    struct fixture *f = *state;
    const char *root = fixture_path(f, "linked");
    const char *outside = fixture_path(f, "outside");
    assert_true(files_make_directory(arena_printf(&f->arena, "%s/a", root), &f->error));
    assert_true(files_make_directory(outside, &f->error));
    char *secret = arena_printf(&f->arena, "%s/secret", outside);
    assert_true(files_write(secret, SLICE_LIT("secret"), &f->error));
    assert_true(
        files_write(arena_printf(&f->arena, "%s/a/own", root), SLICE_LIT("own"), &f->error));
    assert_int_equal(symlink(secret, arena_printf(&f->arena, "%s/a/file", root)), 0);
    assert_int_equal(symlink(outside, arena_printf(&f->arena, "%s/directory", root)), 0);
    struct file_entry *entries;
    size_t count;
    assert_true(
        files_list(root, SLICE_LIT(""), FILES_NO_LINKS, &f->arena, &entries, &count, &f->error));
    assert_int_equal(count, 1);
    assert_true(slice_is(entries[0].key, "a/own"));
    assert_true(files_list(root, SLICE_LIT(""), FILES_FOLLOW_LINKS, &f->arena, &entries, &count,
                           &f->error));
    assert_int_equal(count, 2);
    assert_int_equal(open_in(f, root, "a/own"), 0);
    assert_int_equal(open_in(f, root, "a/file"), -1);
    assert_int_equal(open_in(f, root, "directory/secret"), -1);
    assert_int_equal(open_in(f, root, "a/no"), -1);
    assert_int_equal(open_in(f, root, "no/own"), -1);
}

static void test_listing(void **state)
{
    struct fixture *f = *state;
    const char *root = fixture_path(f, "bucket");
    const char *names[] = {"a/data/2.json", "a/data/1.json", "a/database",
                           "b/x",           ".hidden",       "a/.part"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char *path = files_path(&f->arena, root, slice_str(names[i]));
        char *directory = arena_printf(&f->arena, "%.*s", (int)(strrchr(path, '/') - path), path);
        assert_true(files_make_directory(directory, &f->error));
        assert_true(files_write(path, SLICE_LIT("12345"), &f->error));
    }
    struct file_entry *entries;
    size_t count;
    assert_true(files_list(root, SLICE_LIT("a/data"), FILES_FOLLOW_LINKS, &f->arena, &entries,
                           &count, &f->error));
    assert_int_equal(count, 3);
    assert_true(slice_is(entries[0].key, "a/data/1.json"));
    assert_true(slice_is(entries[2].key, "a/database"));
    assert_int_equal(entries[2].size, 5);
    assert_true(files_list(root, SLICE_LIT("a/data/"), FILES_FOLLOW_LINKS, &f->arena, &entries,
                           &count, &f->error));
    assert_int_equal(count, 2);
    assert_true(files_list(root, SLICE_LIT(""), FILES_FOLLOW_LINKS, &f->arena, &entries, &count,
                           &f->error));
    assert_int_equal(count, 4);
    assert_true(files_list(root, SLICE_LIT("../"), FILES_FOLLOW_LINKS, &f->arena, &entries, &count,
                           &f->error));
    assert_int_equal(count, 0);
    assert_false(files_list(fixture_path(f, "no"), SLICE_LIT(""), FILES_NO_LINKS, &f->arena,
                            &entries, &count, &f->error));
    assert_int_equal(f->error.code, ERR_RESOURCE_NOT_FOUND);
    error_init(&f->error, &f->arena);
    assert_true(files_key_safe(SLICE_LIT("a/b.c/..d")));
    assert_false(files_key_safe(SLICE_LIT("a/../b")));
    assert_false(files_key_safe(SLICE_LIT("/a")));
    assert_false(files_key_safe(SLICE_LIT("a/.")));
    assert_false(files_key_safe(SLICE_LIT("a//b")));
}

static void read_text(struct fixture *f, const char *root, const char *key, struct buf *out)
{
    bool there;
    buf_clear(out);
    assert_true(files_read(files_path(&f->arena, root, slice_str(key)), out, &there, &f->error));
    assert_true(there);
    buf_byte(out, 0);
}

static void test_export(void **state)
{
    struct fixture *f = *state;
    struct env_fixed fixed = {.now_ms = 1695353076000, .seed = 7};
    struct env env = env_fixed(&fixed);
    char id[EXPORT_ID_MAX];
    export_id(&env, fixed.now_ms, id);
    assert_int_equal(strlen(id), 23);
    assert_memory_equal(id, "01695353076000-", 15);
    const char *root = fixture_path(f, "exports");
    struct export_options options = {.root = root,
                                     .prefix = SLICE_LIT("2020/Nov/"),
                                     .id = id,
                                     .format = TRANSFER_ION,
                                     .env = &env,
                                     .file_bytes = 20};
    struct export_writer *writer = export_open(&options, &f->error);
    assert_non_null(writer);
    for (int i = 0; i < 2000; i++) {
        // What cannot be compressed, so that there are several files.
        unsigned char noise[48];
        env.random(env.context, noise, sizeof(noise));
        struct buf encoded;
        buf_init(&encoded, 128);
        base64_encode(&encoded, slice_of(noise, sizeof(noise)));
        char *json = arena_printf(&f->arena, "{\"pk\":{\"N\":\"%d\"},\"b\":{\"B\":\"%.*s\"}}", i,
                                  (int)encoded.len, (char *)encoded.ptr);
        buf_release(&encoded);
        assert_true(export_item(writer, item_of(f, json), &f->error));
    }
    struct export_summary summary = {.export_arn = SLICE_LIT("arn:export"),
                                     .table_arn = SLICE_LIT("arn:table"),
                                     .table_id = SLICE_LIT("uuid"),
                                     .start_ms = 1695353076028,
                                     .end_ms = 1695353077000,
                                     .export_ms = 1695353076000,
                                     .bucket = SLICE_LIT("b"),
                                     .prefix = SLICE_LIT("2020/Nov/"),
                                     .billed_bytes = 12};
    assert_true(export_finish(writer, &summary, &f->error));
    export_free(writer);

    struct buf text;
    buf_init(&text, 1 << 24);
    char *summary_key =
        arena_printf(&f->arena, "2020/Nov/AWSDynamoDB/%s/manifest-summary.json", id);
    read_text(f, root, summary_key, &text);
    char *expected = arena_printf(
        &f->arena,
        "{\"version\":\"2023-08-01\",\"exportArn\":\"arn:export\",\"startTime\":\"2023-09-22T03:24:"
        "36.028Z\",\"endTime\":\"2023-09-22T03:24:37.000Z\",\"tableArn\":\"arn:table\",\"tableId\":"
        "\"uuid\",\"exportTime\":\"2023-09-22T03:24:36.000Z\",\"s3Bucket\":\"b\",\"s3Prefix\":"
        "\"2020/Nov/\",\"s3SseAlgorithm\":\"AES256\",\"s3SseKmsKeyId\":null,\"manifestFilesS3Key\":"
        "\"2020/Nov/AWSDynamoDB/%s/manifest-files.json\",\"billedSizeBytes\":12,\"itemCount\":2000,"
        "\"outputFormat\":\"ION\",\"exportType\":\"FULL_EXPORT\"}",
        id);
    assert_string_equal((const char *)text.ptr, expected);
    uint8_t md5[16];
    struct buf sum;
    buf_init(&sum, 64);
    md5_of(slice_str(expected), slice_of(NULL, 0), md5);
    base64_encode(&sum, slice_of(md5, 16));
    buf_byte(&sum, 0);
    read_text(f, root,
              arena_printf(&f->arena, "2020/Nov/AWSDynamoDB/%s/manifest-summary.checksum", id),
              &text);
    assert_string_equal((const char *)text.ptr, (const char *)sum.ptr);

    // Every data file has its line, with the digest of its bytes.
    struct buf manifest;
    buf_init(&manifest, 1 << 20);
    read_text(f, root, arena_printf(&f->arena, "2020/Nov/AWSDynamoDB/%s/manifest-files.json", id),
              &manifest);
    struct file_entry *entries;
    size_t count;
    assert_true(files_list(root,
                           slice_str(arena_printf(&f->arena, "2020/Nov/AWSDynamoDB/%s/data/", id)),
                           FILES_NO_LINKS, &f->arena, &entries, &count, &f->error));
    assert_true(count > 1);
    unsigned items = 0;
    for (size_t i = 0; i < count; i++) {
        buf_clear(&sum);
        read_text(f, root, (const char *)entries[i].key.ptr, &text);
        md5_of(slice_of(text.ptr, text.len - 1), slice_of(NULL, 0), md5);
        base64_encode(&sum, slice_of(md5, 16));
        assert_true(slice_contains(buf_view(&manifest), entries[i].key));
        assert_true(slice_contains(buf_view(&manifest), buf_view(&sum)));
        struct item_reader_options read = {.format = TRANSFER_ION, .compression = TRANSFER_GZIP};
        struct item_reader *reader =
            item_reader_open(files_path(&f->arena, root, entries[i].key), &read, &f->error);
        struct item_record record;
        while (item_reader_next(reader, &record, &f->error)) {
            assert_null(record.bad);
            items++;
        }
        item_reader_free(reader);
    }
    assert_int_equal(items, 2000);
    buf_release(&manifest);
    buf_release(&sum);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compression),
        cmocka_unit_test(test_members_and_cuts),
        cmocka_unit_test(test_broken_compression),
        cmocka_unit_test(test_long_record),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
