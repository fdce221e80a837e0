// See encryption.h.
#include "rocks/encryption.h"

#include "crypt/sealed.h"
#include "rocks/data_dir.h"
#include "rocks/tables.h"
#include "store/store_driver.h"
#include "wal/format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- What uses which key ------------------------------------------------------------------------

// The data key that a file was made with; 0 if it does not say.
static uint32_t file_key(const char *path, struct stat *status)
{
    uint8_t head[WAL_START_SEALED];
    struct wal_start start;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = fstat(fd, status) == 0 ? pread(fd, head, sizeof(head), 0) : 0;
    (void)close(fd);
    if (got <= 0)
        return 0;
    struct slice bytes = slice_of(head, (size_t)got);
    uint32_t id = sealed_key_id(bytes);
    return id == 0 && wal_start_decode(bytes, &start) ? start.key : id;
}

// Files that hold nothing of the database, or are being made.
static bool is_plain(const char *name)
{
    static const char *const plain[] = {"LOCK", "promise"};
    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        if (strcmp(name, plain[i]) == 0)
            return true;
    }
    return rocks_ends_with(name, ".tmp");
}

static bool note_file(void *context, const char *directory, const char *name,
                      struct store_error *error)
{
    (void)error;
    struct encryption_status *out = context;
    struct stat status = {.st_size = 0};
    char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (is_plain(name))
        return true;
    uint32_t id = file_key(path, &status);
    if (id == 0 && status.st_size == 0)
        return true; // just made, or gone
    for (size_t i = 0; i < out->count; i++) {
        if (out->keys[i].id != id)
            continue;
        out->keys[i].files++;
        out->keys[i].bytes += (uint64_t)status.st_size;
        return true;
    }
    out->others++;
    return true;
}

static bool look_at_files(const char *data, const struct keyring *ring,
                          struct encryption_status *out, struct store_error *error)
{
    static const char *const parts[] = {"db", "log"};
    bool ok = true;
    *out = (struct encryption_status){.count = ring->count};
    for (size_t i = 0; i < ring->count; i++) {
        out->keys[i].id = ring->keys[i].id;
        out->keys[i].made_s = ring->keys[i].made_s;
    }
    for (size_t i = 0; ok && i < COUNT_OF(parts); i++) {
        char path[PATH_MAX + 8];
        (void)snprintf(path, sizeof(path), "%s/%s", data, parts[i]);
        ok = rocks_each_file(path, note_file, out, error);
    }
    return ok;
}

// ---- Opening ------------------------------------------------------------------------------------

// An open descriptor of the directory and its keys; -1 after saying why not.
static int open_keys(const char *data, bool locked, const struct crypt_key *master,
                     struct keyring *ring, struct store_error *error)
{
    bool uneven;
    char why[400];
    bool ok = true;
    *error = (struct store_error){.in_use = false};
    int fd = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        (void)store_fail_errno(error, "cannot open the directory %s", data);
    else if (locked && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        ok = data_dir_in_use(data, error);
    else if (!keyring_is_there(fd))
        ok = store_fail(error, "%s is not encrypted", data);
    else if (!keyring_read(ring, master, fd, data, &uneven, why, sizeof(why)))
        ok = store_fail(error, "%s", why);
    if (ok || fd < 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool write_keys(struct keyring *ring, const struct crypt_key *master, int fd,
                       const char *data, struct store_error *error)
{
    return keyring_write(ring, master, fd) ||
           store_fail_errno(error, "cannot write " KEYRING_FILE " in %s", data);
}

bool encryption_look(const char *data, const struct crypt_key *master,
                     struct encryption_status *out, struct store_error *error)
{
    struct keyring ring;
    int fd = open_keys(data, false, master, &ring, error);
    if (fd < 0)
        return false;
    bool ok = look_at_files(data, &ring, out, error);
    keyring_wipe(&ring);
    (void)close(fd);
    return ok;
}

bool encryption_rotate_master(const char *data, const struct crypt_key *master,
                              const struct crypt_key *next, struct store_error *error)
{
    struct keyring ring;
    int fd = open_keys(data, true, master, &ring, error);
    if (fd < 0)
        return false;
    bool ok = write_keys(&ring, next, fd, data, error);
    keyring_wipe(&ring);
    (void)close(fd);
    return ok;
}

// Where a file does not say what it was made with, no key can be known to be useless.
static size_t forget_unused(struct keyring *ring, const struct encryption_status *status)
{
    size_t kept = 0;
    for (size_t i = 0; i < status->count; i++) {
        if (status->keys[i].files > 0 || status->others > 0)
            ring->keys[kept++] = ring->keys[i];
    }
    size_t forgotten = ring->count - kept;
    ring->count = kept;
    return forgotten;
}

// The new key comes first, so that its number is above all there were.
bool encryption_rotate_data(const char *data, const struct crypt_key *master, size_t *forgotten,
                            struct store_error *error)
{
    struct keyring ring;
    struct encryption_status status;
    int fd = open_keys(data, true, master, &ring, error);
    if (fd < 0)
        return false;
    bool ok = look_at_files(data, &ring, &status, error);
    if (ok) {
        struct keyring_key newest = ring.keys[ring.count - 1];
        *forgotten = forget_unused(&ring, &status);
        if (ring.count == 0)
            ring.keys[ring.count++] = newest; // for its number
        ok = keyring_add(&ring, (int64_t)time(NULL)) ||
             store_fail(error,
                        "%s has %d data keys that files use. Make a copy with one key with "
                        "'dolmen repair %s --to NEWDIR'",
                        data, KEYRING_MOST, data);
        if (ok && ring.keys[ring.count - 1].id <= newest.id)
            ring.keys[ring.count - 1].id = newest.id + 1;
        crypt_key_wipe(&newest.key);
    }
    ok = ok && write_keys(&ring, master, fd, data, error);
    keyring_wipe(&ring);
    (void)close(fd);
    return ok;
}
