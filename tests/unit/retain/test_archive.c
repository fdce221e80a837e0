// Archives: what is put in comes out again; there is all of one or nothing; one that is damaged
// before it has its name gets none, and one that is damaged later is found.
#include "guard/guard_support.h"

#include "base/files.h"
#include "retain/archive.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
    struct arena arena;
    struct error error;
    struct env_fixed clock;
    struct env env;
    char root[64];
};

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static int setup(void **state)
{
    struct world *world = test_calloc(1, sizeof(*world));
    arena_init(&world->arena, 64 << 20);
    error_init(&world->error, &world->arena);
    world->clock = (struct env_fixed){.now_ms = 1794800400123, .seed = 7};
    world->env = env_fixed(&world->clock);
    (void)snprintf(world->root, sizeof(world->root), "/tmp/dolmen-archive-XXXXXX");
    assert_non_null(mkdtemp(world->root));
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    (void)nftw(world->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_release(&world->arena);
    test_free(world);
    return 0;
}

static struct archive *filled(struct world *world, unsigned count)
{
    struct archive_options options = {.root = world->root,
                                      .table = SLICE_LIT("jobs"),
                                      .table_id = SLICE_LIT("an-id"),
                                      .rule = "retain-Job",
                                      .env = &world->env};
    struct archive *archive = archive_open(&options, &world->error);
    assert_non_null(archive);
    for (unsigned i = 0; i < count; i++) {
        const char *text = arena_printf(
            &world->arena, "{\"id\":\"job %u\",\"n\":%u,\"list\":[1,{\"a\":null}]}", i, i);
        assert_true(archive_add(archive, item_of(&world->arena, text), &world->error));
    }
    return archive;
}

static size_t file_count(struct world *world)
{
    struct file_entry *files;
    size_t count = 0;
    assert_true(files_list(world->root, slice_of(NULL, 0), FILES_NO_LINKS, &world->arena, &files,
                           &count, &world->error));
    return count;
}

static size_t hidden_count(struct world *world)
{
    size_t count = 0;
    DIR *directory = opendir(world->root);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strncmp(entry->d_name, ".part-", 6) == 0;
    (void)closedir(directory);
    return count;
}

// The first data file below a directory.
static char *data_file(struct world *world, const char *root)
{
    struct file_entry *files;
    size_t count = 0;
    assert_true(files_list(root, slice_of(NULL, 0), FILES_NO_LINKS, &world->arena, &files, &count,
                           &world->error));
    for (size_t i = 0; i < count; i++) {
        if (memmem(files[i].key.ptr, files[i].key.len, "/data/", 6) != NULL)
            return files_path(&world->arena, root, files[i].key);
    }
    fail();
    return NULL;
}

static void test_whole(void **state)
{
    struct world *world = *state;
    struct archive_entry *list;
    size_t count;
    struct archive *archive = filled(world, 500);
    assert_int_equal(file_count(world), 0); // nothing has its name yet
    assert_true(archive_close(archive, &world->error));
    assert_int_equal(file_count(world), 0);
    assert_true(archive_publish(archive, &world->error));
    assert_int_equal(file_count(world), 6);
    assert_int_equal(archive_count(archive), 500);
    assert_memory_equal(archive_path(archive), "jobs/retain-Job/2026-11-16/AWSDynamoDB/", 39);
    archive_free(archive);
    assert_int_equal(hidden_count(world), 0);
    assert_true(
        archives_list(world->root, SLICE_LIT("jobs"), &world->arena, &list, &count, &world->error));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].items, 500);
    assert_true(list[0].bytes > 100);
    assert_true(slice_is(list[0].table, "jobs"));
    assert_true(slice_is(list[0].rule, "retain-Job"));
    assert_true(slice_is(list[0].date, "2026-11-16"));
    assert_true(archive_check(world->root, list[0].path, &world->error));
    assert_true(
        archives_list(world->root, SLICE_LIT("job"), &world->arena, &list, &count, &world->error));
    assert_int_equal(count, 0);
}

static void test_read_back(void **state)
{
    struct world *world = *state;
    struct archive *archive = filled(world, 20);
    struct item_reader_options options = {.format = TRANSFER_DYNAMODB_JSON,
                                          .compression = TRANSFER_GZIP};
    struct item_record record;
    unsigned i = 0;
    assert_true(archive_close(archive, &world->error) && archive_publish(archive, &world->error));
    archive_free(archive);
    struct item_reader *reader =
        item_reader_open(data_file(world, world->root), &options, &world->error);
    assert_non_null(reader);
    for (; item_reader_next(reader, &record, &world->error); i++) {
        const char *text = arena_printf(
            &world->arena, "{\"id\":\"job %u\",\"n\":%u,\"list\":[1,{\"a\":null}]}", i, i);
        assert_true(slice_equal(record.item, item_of(&world->arena, text)));
    }
    assert_int_equal(i, 20);
    item_reader_free(reader);
}

static void test_several(void **state)
{
    struct world *world = *state;
    struct archive_entry *list;
    size_t count;
    for (unsigned i = 1; i <= 3; i++) {
        struct archive *archive = filled(world, i);
        assert_true(archive_close(archive, &world->error) &&
                    archive_publish(archive, &world->error));
        archive_free(archive);
        world->clock.now_ms += 86400000;
    }
    assert_true(
        archives_list(world->root, slice_of(NULL, 0), &world->arena, &list, &count, &world->error));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list[i].items, i + 1);
        assert_true(list[i].bytes > 20);
    }
}

// What was given up, or what a process that died has left, is no archive, and goes.
static void test_given_up(void **state)
{
    struct world *world = *state;
    struct archive *dead = filled(world, 10);
    assert_true(archive_close(dead, &world->error));
    assert_int_equal(hidden_count(world), 1);
    struct archive *next = filled(world, 3); // removes it
    assert_int_equal(hidden_count(world), 1);
    assert_true(archive_close(next, &world->error) && archive_publish(next, &world->error));
    archive_free(next);
    archive_free(dead);
    assert_int_equal(hidden_count(world), 0);
    assert_int_equal(file_count(world), 6);
}

static void change_byte(const char *path, off_t at)
{
    uint8_t byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    (void)close(fd);
}

// Each byte of a data file, one after the other.
static void test_damaged(void **state)
{
    struct world *world = *state;
    char *part = arena_printf(&world->arena, "%s/.part-jobs-retain-Job", world->root);
    struct stat info;
    off_t size = 1;
    for (off_t at = 0; at < size; at++) {
        struct archive *archive = filled(world, 4);
        assert_true(archive_close(archive, &world->error));
        const char *path = data_file(world, part);
        assert_int_equal(stat(path, &info), 0);
        size = info.st_size;
        change_byte(path, at);
        assert_false(archive_publish(archive, &world->error));
        assert_non_null(strstr(world->error.message, "nothing is deleted"));
        archive_free(archive);
        assert_int_equal(file_count(world), 0);
        error_init(&world->error, &world->arena);
    }
}

// A file that is cut, or gone, or a manifest without it.
static void test_cut(void **state)
{
    struct world *world = *state;
    char *part = arena_printf(&world->arena, "%s/.part-jobs-retain-Job", world->root);
    for (unsigned how = 0; how < 3; how++) {
        struct archive *archive = filled(world, 4);
        assert_true(archive_close(archive, &world->error));
        const char *path = data_file(world, part);
        char *manifest =
            arena_printf(&world->arena, "%s/%s/manifest-files.json", part, archive_path(archive));
        if (how == 0)
            assert_int_equal(truncate(path, 0), 0);
        else
            assert_int_equal(how == 1 ? unlink(path) : truncate(manifest, 0), 0);
        assert_false(archive_publish(archive, &world->error));
        archive_free(archive);
        assert_int_equal(file_count(world), 0);
        error_init(&world->error, &world->arena);
    }
}

static void test_damaged_later(void **state)
{
    struct world *world = *state;
    struct archive *archive = filled(world, 4);
    assert_true(archive_close(archive, &world->error) && archive_publish(archive, &world->error));
    assert_true(archive_check(world->root, archive_path(archive), &world->error));
    change_byte(data_file(world, world->root), 30);
    assert_false(archive_check(world->root, archive_path(archive), &world->error));
    archive_free(archive);
}

static void test_nowhere(void **state)
{
    struct world *world = *state;
    struct archive_options options = {.root = "/dev/null/archives",
                                      .table = SLICE_LIT("jobs"),
                                      .rule = "retain-Job",
                                      .env = &world->env};
    assert_null(archive_open(&options, &world->error));
    assert_int_equal(world->error.code, ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nowhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
