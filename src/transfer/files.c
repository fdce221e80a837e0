// See files.h.
#include "transfer/files.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WALK_DEPTH = 32 };

char *files_path(struct arena *arena, const char *root, struct slice key)
{
    return arena_printf(arena, "%s/%.*s", root, SLICE_FMT(key));
}

bool files_key_safe(struct slice key)
{
    bool more = key.len == 0 || memchr(key.ptr, 0, key.len) == NULL;
    bool safe = more;
    while (more && safe) {
        size_t len = key.len;
        struct slice step = slice_cut(&key, '/');
        safe = step.len > 0 && !slice_is(step, ".") && !slice_is(step, "..");
        more = step.len < len; // there was a slash, and a step behind it
    }
    return safe;
}

// ---- Listing ----------------------------------------------------------------------

struct walk {
    struct arena *arena;
    struct error *error;
    const char *root;
    struct slice prefix;
    enum files_links links;
    struct file_entry *entries; // malloc, until they are sorted
    size_t count;
    size_t capacity;
};

static bool walk_add(struct walk *walk, const char *key, uint64_t size)
{
    if (!slice_begins(slice_str(key), walk->prefix))
        return true;
    if (walk->count == walk->capacity) {
        size_t capacity = walk->capacity == 0 ? 64 : 2 * walk->capacity;
        struct file_entry *entries = realloc(walk->entries, capacity * sizeof(*entries));
        if (entries == NULL)
            return error_budget(walk->error);
        walk->entries = entries;
        walk->capacity = capacity;
    }
    struct slice copy = arena_copy(walk->arena, slice_str(key));
    if (copy.ptr == NULL)
        return error_budget(walk->error);
    walk->entries[walk->count++] = (struct file_entry){copy, size};
    return true;
}

// Whether files below this directory can have the prefix.
static bool may_contain(const struct walk *walk, const char *key)
{
    struct slice directory = slice_str(key);
    return slice_begins(directory, walk->prefix) || slice_begins(walk->prefix, directory);
}

static bool walk_directory(struct walk *walk, const char *key, unsigned depth);

static bool walk_entry(struct walk *walk, const char *key, const char *name, unsigned depth)
{
    if (name[0] == '.')
        return true;
    char *own = arena_printf(walk->arena, "%s%s%s", key, key[0] == 0 ? "" : "/", name);
    char *path = own == NULL ? NULL : files_path(walk->arena, walk->root, slice_str(own));
    if (path == NULL)
        return error_budget(walk->error);
    struct stat info;
    if (lstat(path, &info) != 0)
        return true;
    if (S_ISDIR(info.st_mode))
        return !may_contain(walk, own) || walk_directory(walk, own, depth + 1);
    if (walk->links == FILES_FOLLOW_LINKS && stat(path, &info) != 0)
        return true;
    return !S_ISREG(info.st_mode) || walk_add(walk, own, (uint64_t)info.st_size);
}

static bool walk_directory(struct walk *walk, const char *key, unsigned depth)
{
    if (depth > WALK_DEPTH)
        return true;
    char *path = key[0] == 0 ? NULL : files_path(walk->arena, walk->root, slice_str(key));
    DIR *directory = opendir(path == NULL ? walk->root : path);
    if (directory == NULL)
        return error_set(walk->error, errno == ENOENT ? ERR_RESOURCE_NOT_FOUND : ERR_INTERNAL,
                         "cannot read the directory '%s': %s", path == NULL ? walk->root : path,
                         strerror(errno));
    bool ok = true;
    const struct dirent *entry;
    while (ok && (entry = readdir(directory)) != NULL)
        ok = walk_entry(walk, key, entry->d_name, depth);
    (void)closedir(directory);
    return ok;
}

static int compare_entries(const void *a, const void *b)
{
    return slice_compare(((const struct file_entry *)a)->key, ((const struct file_entry *)b)->key);
}

bool files_list(const char *root, struct slice prefix, enum files_links links, struct arena *arena,
                struct file_entry **out, size_t *count, struct error *error)
{
    struct walk walk = {
        .arena = arena, .error = error, .root = root, .prefix = prefix, .links = links};
    bool ok = walk_directory(&walk, "", 0);
    if (ok && walk.count > 0) {
        qsort(walk.entries, walk.count, sizeof(*walk.entries), compare_entries);
        *out = arena_alloc(arena, walk.count * sizeof(**out));
        if (*out == NULL)
            ok = error_budget(error);
        else
            memcpy(*out, walk.entries, walk.count * sizeof(**out));
    }
    *count = walk.count;
    free(walk.entries);
    return ok;
}

// ---- Writing and reading ----------------------------------------------------------

bool files_make_directory(const char *path, struct error *error)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return error_budget(error);
    bool ok = true;
    for (char *at = copy + 1; ok; at++) {
        if (*at != '/' && *at != 0)
            continue;
        char was = *at;
        *at = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            ok = error_set(error, ERR_INTERNAL, "cannot make the directory '%s': %s", copy,
                           strerror(errno));
        *at = was;
        if (was == 0)
            break;
    }
    free(copy);
    return ok;
}

bool files_write(const char *path, struct slice bytes, struct error *error)
{
    char beside[4096];
    int len = snprintf(beside, sizeof(beside), "%s.part", path);
    int fd = len < (int)sizeof(beside)
                 ? open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                 : -1;
    bool ok = fd >= 0 && file_write(fd, bytes) && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    ok = ok && rename(beside, path) == 0;
    return ok || error_set(error, ERR_INTERNAL, "cannot write '%s': %s", path, strerror(errno));
}

int files_open(const char *root, struct slice key, struct error *error)
{
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    size_t start = 0;
    for (size_t i = 0; fd >= 0 && i <= key.len; i++) {
        char step[NAME_MAX + 1];
        if (i < key.len && key.ptr[i] != '/')
            continue;
        bool last = i == key.len;
        int below = -1;
        if (i - start < sizeof(step)) {
            memcpy(step, key.ptr + start, i - start);
            step[i - start] = 0;
            below = openat(fd, step,
                           O_CLOEXEC | O_NOFOLLOW |
                               (last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY));
        } else {
            errno = ENAMETOOLONG;
        }
        int why = errno;
        (void)close(fd);
        errno = why;
        fd = below;
        start = i + 1;
    }
    if (fd < 0)
        (void)error_set(error, ERR_INTERNAL, "cannot open '%s/%.*s': %s", root, SLICE_FMT(key),
                        strerror(errno));
    return fd;
}

bool files_read(const char *path, struct buf *out, bool *there, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *there = fd >= 0;
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ||
               error_set(error, ERR_INTERNAL, "cannot open '%s': %s", path, strerror(errno));
    bool ok = file_read(fd, out) ||
              error_set(error, ERR_INTERNAL, "cannot read '%s': %s", path, strerror(errno));
    (void)close(fd);
    return ok;
}
