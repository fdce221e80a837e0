// What the tests of a data directory share: its files, and refusals to open it.
#ifndef TESTS_ROCKS_DIRECTORY_H
#define TESTS_ROCKS_DIRECTORY_H

#include "fixture.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static inline void write_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline bool file_exists(const char *dir, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static inline void expect_refusal(const char *path, const char *text, bool in_use)
{
    struct store_error error;
    struct store_options options = {.path = path};
    struct store *store = store_open_rocksdb(&options, &error);
    assert_null(store);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
    assert_int_equal(error.in_use, in_use);
}

// The path of the only file in a subdirectory whose name begins like this.
static inline void find_file(const char *dir, const char *under, const char *begin, char out[800])
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, under);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    out[0] = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strncmp(entry->d_name, begin, strlen(begin)) == 0)
            (void)snprintf(out, 800, "%s/%s", path, entry->d_name);
    }
    (void)closedir(listing);
    assert_true(out[0] != 0);
}

static inline off_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

#endif
