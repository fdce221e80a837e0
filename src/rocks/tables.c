// See tables.h.
#include "rocks/tables.h"

#include "crypt/sealed.h"
#include "rocks/extras.h"
#include "rocks/manifest.h"
#include "store/store_driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rocks_ends_with(const char *name, const char *end)
{
    size_t len = strlen(name);
    return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

bool rocks_each_file(const char *directory, rocks_visit_file visit, void *context,
                     struct store_error *error)
{
    DIR *dir = opendir(directory);
    if (dir == NULL)
        return errno == ENOENT ||
               store_fail_errno(error, "cannot read the directory %s", directory);
    bool ok = true;
    struct dirent *entry;
    errno = 0;
    while (ok && (entry = readdir(dir)) != NULL) {
        struct stat status;
        if (fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)))
            ok = visit(context, directory, entry->d_name, error);
        errno = 0;
    }
    if (ok && errno != 0)
        ok = store_fail_errno(error, "cannot read the directory %s", directory);
    (void)closedir(dir);
    return ok;
}

// ---- Table files --------------------------------------------------------------------------------

struct path_visit {
    bool (*visit)(void *context, const char *path);
    void *context;
};

static bool visit_path(void *context, const char *directory, const char *name,
                       struct store_error *error)
{
    (void)error;
    const struct path_visit *paths = context;
    char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return !rocks_ends_with(name, ".sst") || paths->visit(paths->context, path);
}

bool rocks_tables_visit(const char *data, const char *part,
                        bool (*visit)(void *context, const char *path), void *context,
                        struct store_error *error)
{
    char path[PATH_MAX + 16];
    struct path_visit paths = {visit, context};
    (void)snprintf(path, sizeof(path), "%s/%s", data, part);
    return rocks_each_file(path, visit_path, &paths, error);
}

uint64_t rocks_table_bytes(const struct stat *status, const struct keyring *keys)
{
    uint64_t bytes = (uint64_t)status->st_size;
    return keys == NULL ? bytes : pages_plain_size(bytes);
}

// A table that was merged into others meanwhile is none any more: nothing is wrong with it.
bool rocks_table_visit(const char *path, const struct keyring *keys, rocks_visit_fault visit,
                       void *context)
{
    char fault[512];
    bool whole = rocks_table_check(path, keys, fault, sizeof(fault)) || access(path, F_OK) != 0;
    return visit(context, path, whole ? NULL : fault);
}

struct checking {
    const struct keyring *keys;
    rocks_visit_fault visit;
    void *context;
    bool stopped;
};

static bool check_table(void *context, const char *path)
{
    struct checking *checking = context;
    checking->stopped = checking->stopped || !rocks_table_visit(path, checking->keys,
                                                                checking->visit, checking->context);
    return true; // who has seen enough has not failed
}

bool rocks_tables_check(const char *data, const struct keyring *keys, rocks_visit_fault visit,
                        void *context, struct store_error *error)
{
    struct checking checking = {.keys = keys, .visit = visit, .context = context};
    return rocks_tables_visit(data, "db", check_table, &checking, error);
}

struct blaming {
    const char *data;
    const struct keyring *keys;
    struct edits list;
    struct store_error *error;
};

// False ends the search.
static bool table_opens(void *context, const char *path)
{
    struct blaming *blaming = context;
    char why[200];
    const char *name = strrchr(path, '/') + 1;
    const struct edits_table *table = edits_find(&blaming->list, strtoull(name, NULL, 10));
    if (table == NULL || !table->listed || rocks_table_opens(path, blaming->keys, why, sizeof(why)))
        return true;
    return store_fail(blaming->error,
                      "db/%s is damaged: %s. Restore the directory from a copy, or run "
                      "'dolmen repair %s'",
                      name, why, blaming->data);
}

bool rocks_tables_blame(const char *data, const struct keyring *keys, struct store_error *error)
{
    struct store_error found = *error;
    struct blaming blaming = {.data = data, .keys = keys, .error = &found};
    manifest_tables(data, keys, &blaming.list);
    found.text[0] = 0;
    bool none = rocks_tables_visit(data, "db", table_opens, &blaming, &found);
    edits_release(&blaming.list);
    if (!none)
        *error = found;
    return !none;
}
