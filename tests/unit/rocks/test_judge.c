// A start that is refused changes nothing, and one that is not removes no table that it does not
// know.
#include "directory.h"
#include "rocks/rocks_internal.h"

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

// Names, sizes and times of all that is in a directory and those inside.
static void describe(const char *dir, char out[8000])
{
    static const char *const inner[] = {".", "db", "log"};
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(inner); i++) {
        char path[512];
        struct dirent **names;
        (void)snprintf(path, sizeof(path), "%s/%s", dir, inner[i]);
        int count = scandir(path, &names, NULL, alphasort);
        assert_true(count >= 0);
        for (int j = 0; j < count; j++) {
            char file[800];
            struct stat status;
            (void)snprintf(file, sizeof(file), "%s/%s", path, names[j]->d_name);
            assert_int_equal(stat(file, &status), 0);
            if (S_ISREG(status.st_mode))
                used += (size_t)snprintf(out + used, 8000 - used, "%s/%s %lld %lld.%09ld\n",
                                         inner[i], names[j]->d_name, (long long)status.st_size,
                                         (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
            assert_true(used < 8000);
            free(names[j]);
        }
        free(names);
    }
}

static void expect_unchanging_refusal(const char *dir, const char *text)
{
    char before[8000];
    char after[8000];
    describe(dir, before);
    expect_refusal(dir, text, false);
    describe(dir, after);
    assert_string_equal(before, after);
}

static void close_with_table(const char *dir)
{
    struct store *store = open_rocksdb(dir, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
}

static void test_refusal_changes_nothing(void **state)
{
    char segment[800];
    close_with_table(*state);
    write_file(*state, "FORMAT", "dolmen format 2\n");
    store_close(open_rocksdb(*state, STORE_FULL)); // there was nothing in the log
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "in the log");
    char kept[800];
    find_file(*state, "log", "0000", segment);
    (void)snprintf(kept, sizeof(kept), "%s/kept", (char *)*state);
    copy_file(segment, kept);
    store_close(store);
    find_file(*state, "log", "0000", segment);
    assert_int_equal(unlink(segment), 0);
    expect_unchanging_refusal(*state, "the file is missing");
    // The log as it would be after a kill, of a format that FORMAT does not speak of.
    (void)snprintf(segment, sizeof(segment), "%s/log/0000000001.log", (char *)*state);
    copy_file(kept, segment);
    assert_int_equal(unlink(kept), 0);
    write_file(*state, "FORMAT", "dolmen format 2\n");
    expect_unchanging_refusal(*state, "FORMAT is damaged");
}

// The list of tables that is in use: for a moment there may be another.
static void find_manifest(const char *dir, char out[800])
{
    char path[512];
    char name[64] = "";
    (void)snprintf(path, sizeof(path), "%s/db/CURRENT", dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(name, sizeof(name), file));
    assert_int_equal(fclose(file), 0);
    name[strcspn(name, "\n")] = 0;
    (void)snprintf(out, 800, "%s/db/%s", dir, name);
}

// A list of tables from before there were any, and no promise: the table is all there is.
static void test_old_list_of_tables(void **state)
{
    char manifest[800];
    char kept[800];
    char table[800];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    find_manifest(*state, manifest);
    (void)snprintf(kept, sizeof(kept), "%s/kept", (char *)*state);
    copy_file(manifest, kept);
    store_close(store);
    assert_int_equal(rename(kept, manifest), 0);
    (void)snprintf(kept, sizeof(kept), "%s/log/promise", (char *)*state);
    assert_int_equal(unlink(kept), 0);
    expect_unchanging_refusal(*state, "the file is missing");
    find_file(*state, "db", "0000", table);
}

static size_t count_names(const char *dir, const char *part)
{
    size_t count = 0;
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/db", dir);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strstr(entry->d_name, part) != NULL;
    (void)closedir(listing);
    return count;
}

// A table that nobody listed is kept under another name, and each time again.
static void test_unlisted_table_is_kept(void **state)
{
    char table[800];
    char copy[800];
    close_with_table(*state);
    find_file(*state, "db", "0000", table);
    off_t size = size_of(table);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(copy, sizeof(copy), "%s/db/000999.sst", (char *)*state);
        copy_file(table, copy);
        struct store *store = open_rocksdb(*state, STORE_FULL);
        expect(store, NULL, "key", "value");
        store_close(store);
        assert_false(file_exists(*state, "db/000999.sst"));
    }
    assert_true(file_exists(*state, "db/000999.sst.unlisted"));
    (void)snprintf(copy, sizeof(copy), "%s/db/000999.sst.2.unlisted", (char *)*state);
    assert_int_equal(size_of(copy), size);
}

// What is known to be needed by nobody is removed: a table that was never finished, and one that
// the list says was merged into another.
static void test_leftovers_are_removed(void **state)
{
    char table[800];
    char kept[800];
    close_with_table(*state);
    write_file(*state, "db/000888.sst.new", "half a table");
    struct store *store = open_rocksdb(*state, STORE_FULL);
    assert_int_equal(count_names(*state, "000888"), 0);
    find_file(*state, "db", "0000", table);
    (void)snprintf(kept, sizeof(kept), "%s/kept", (char *)*state);
    copy_file(table, kept);
    char *message = NULL;
    struct rocks_store *rocks = (struct rocks_store *)store;
    put_now(store, "key", "new");
    rocksdb_flush(rocks->db, rocks->flush, &message);
    assert_null(message);
    rocksdb_compact_range(rocks->db, NULL, 0, NULL, 0);
    store_close(store);
    assert_int_equal(access(table, F_OK), -1); // merged
    assert_int_equal(rename(kept, table), 0);  // as if there had been no time to remove it
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "new");
    store_close(store);
    assert_int_equal(access(table, F_OK), -1);
    assert_int_equal(count_names(*state, ".unlisted"), 0);
}

// What is to be done about it names the directory, however long that name is.
static void test_long_path(void **state)
{
    char path[900];
    char log[1000];
    char text[1100];
    (void)snprintf(path, sizeof(path), "%s/%0200d/%0200d", (char *)*state, 1, 2);
    close_with_table(path);
    (void)snprintf(log, sizeof(log), "%s/log/0000000002.log", path);
    assert_int_equal(unlink(log), 0);
    (void)snprintf(text, sizeof(text), "run 'dolmen repair %s'", path);
    expect_refusal(path, text, false);
}

static void test_what_cannot_be_read(void **state)
{
    char path[800];
    char text[900];
    (void)snprintf(path, sizeof(path), "%s/log/0000000002.log", (char *)*state);
    close_with_table(*state);
    char kept[800];
    (void)snprintf(kept, sizeof(kept), "%s/kept", (char *)*state);
    assert_int_equal(rename(path, kept), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(text, sizeof(text), "cannot read %s: Is a directory.", path);
    expect_refusal(*state, text, false);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(kept, path), 0);
    (void)snprintf(path, sizeof(path), "%s/log/promise", (char *)*state);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(text, sizeof(text), "cannot open %s: Is a directory. Let this user", path);
    expect_refusal(*state, text, false);
    (void)snprintf(path, sizeof(path), "%s/db", (char *)*state);
    temp_dir_remove(path);
    write_file(*state, "db", "no directory");
    (void)snprintf(text, sizeof(text), "cannot read db/CURRENT in %s: Not a directory",
                   (char *)*state);
    expect_refusal(*state, text, false);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_refusal_changes_nothing),
        TEST(test_old_list_of_tables),
        TEST(test_unlisted_table_is_kept),
        TEST(test_leftovers_are_removed),
        TEST(test_long_path),
        TEST(test_what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
