// See blob.h. The trash is a list in the order of time; a blob in it may go once no pin is older.
#include "objects/blob.h"

#include "base/encode.h"
#include "base/files.h"
#include "base/log.h"
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DIRECTORIES = 256, TRASH_BITE = 256 };

struct rubbish {
    struct blob_id id;
    uint64_t since;
};

struct blobs {
    int data_fd; // the directory of the directories
    int fds[DIRECTORIES];
    bool relaxed;
    struct env env;
    pthread_mutex_t lock;
    uint64_t clock;
    struct blob_pin *oldest;
    struct blob_pin *newest;
    struct rubbish *trash; // [first, count)
    size_t trash_first;
    size_t trash_count;
    size_t trash_cap;
    struct worker remover;
};

// "ab/ab…": below the directory of the directories.
static void blob_name(const struct blob_id *id, char out[BLOB_NAME])
{
    hex_text(slice_of(id->bytes, BLOB_ID), out);
    out[2 * BLOB_ID] = 0;
}

static int directory_of(const struct blobs *blobs, const struct blob_id *id)
{
    return blobs->fds[id->bytes[0]];
}

// ---- Trash -----------------------------------------------------------------------------------

// Some blobs that nobody can be reading, taken out of the trash; how many.
static size_t trash_take(struct blobs *blobs, struct blob_id out[TRASH_BITE], bool all)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&blobs->lock);
    uint64_t oldest = blobs->oldest == NULL || all ? UINT64_MAX : blobs->oldest->since;
    while (count < TRASH_BITE && blobs->trash_first < blobs->trash_count &&
           blobs->trash[blobs->trash_first].since <= oldest)
        out[count++] = blobs->trash[blobs->trash_first++].id;
    if (blobs->trash_first == blobs->trash_count) {
        blobs->trash_first = blobs->trash_count = 0;
        free(blobs->trash);
        blobs->trash = NULL;
        blobs->trash_cap = 0;
    }
    (void)pthread_mutex_unlock(&blobs->lock);
    return count;
}

static void trash_empty(struct blobs *blobs, bool all)
{
    struct blob_id ids[TRASH_BITE];
    size_t count;
    while ((count = trash_take(blobs, ids, all)) > 0) {
        for (size_t i = 0; i < count; i++)
            blob_drop(blobs, -1, &ids[i]);
    }
}

static void remover_work(void *context)
{
    trash_empty(context, false);
}

void blobs_trash(struct blobs *blobs, const struct blob_id *ids, size_t count)
{
    if (count == 0)
        return;
    (void)pthread_mutex_lock(&blobs->lock);
    if (blobs->trash_first > 0) {
        memmove(blobs->trash, blobs->trash + blobs->trash_first,
                (blobs->trash_count - blobs->trash_first) * sizeof(*blobs->trash));
        blobs->trash_count -= blobs->trash_first;
        blobs->trash_first = 0;
    }
    blobs->clock++;
    for (size_t i = 0; i < count; i++) {
        blobs->trash =
            memory_grow(blobs->trash, blobs->trash_count, &blobs->trash_cap, sizeof(*blobs->trash));
        blobs->trash[blobs->trash_count++] = (struct rubbish){ids[i], blobs->clock};
    }
    (void)pthread_mutex_unlock(&blobs->lock);
    worker_ask(&blobs->remover);
}

void blob_pin(struct blobs *blobs, struct blob_pin *pin)
{
    (void)pthread_mutex_lock(&blobs->lock);
    pin->since = blobs->clock;
    pin->before = blobs->newest;
    pin->after = NULL;
    if (blobs->newest != NULL)
        blobs->newest->after = pin;
    else
        blobs->oldest = pin;
    blobs->newest = pin;
    (void)pthread_mutex_unlock(&blobs->lock);
}

void blob_unpin(struct blobs *blobs, struct blob_pin *pin)
{
    (void)pthread_mutex_lock(&blobs->lock);
    if (pin->before != NULL)
        pin->before->after = pin->after;
    else
        blobs->oldest = pin->after;
    if (pin->after != NULL)
        pin->after->before = pin->before;
    else
        blobs->newest = pin->before;
    bool waits = blobs->trash_first < blobs->trash_count;
    (void)pthread_mutex_unlock(&blobs->lock);
    if (waits)
        worker_ask(&blobs->remover);
}

// ---- Files -----------------------------------------------------------------------------------

int blob_create(struct blobs *blobs, struct blob_id *id)
{
    char name[BLOB_NAME];
    int fd;
    do {
        blobs->env.random(blobs->env.context, id->bytes, BLOB_ID);
        blob_name(id, name);
        fd = openat(directory_of(blobs, id), name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

bool blob_seal(struct blobs *blobs, int fd, const struct blob_id *id)
{
    bool synced = blobs->relaxed || (fsync(fd) == 0 && fsync(directory_of(blobs, id)) == 0);
    int why = errno;
    if (close(fd) != 0 && synced) {
        synced = false;
        why = errno;
    }
    errno = why;
    return synced;
}

void blob_drop(struct blobs *blobs, int fd, const struct blob_id *id)
{
    char name[BLOB_NAME];
    if (fd >= 0)
        (void)close(fd);
    blob_name(id, name);
    // If it stays, the next start removes it.
    (void)unlinkat(directory_of(blobs, id), name, 0);
}

int blob_open(struct blobs *blobs, const struct blob_id *id)
{
    char name[BLOB_NAME];
    blob_name(id, name);
    return openat(directory_of(blobs, id), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

int blob_open_cached(struct blobs *blobs, const struct blob_id *id)
{
    char name[BLOB_NAME];
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_CACHED};
    blob_name(id, name);
    long fd = syscall(SYS_openat2, directory_of(blobs, id), name, &how, sizeof(how));
    if (fd < 0)
        errno = EAGAIN; // also if the system does not know how to
    return (int)fd;
}

// ---- The sweep at the start ------------------------------------------------------------------

static bool name_read(const char *name, struct blob_id *id)
{
    size_t len = strlen(name);
    if (len != 2 * BLOB_ID)
        return false;
    for (size_t i = 0; i < BLOB_ID; i++) {
        int high = hex_digit((uint8_t)name[2 * i]);
        int low = hex_digit((uint8_t)name[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id->bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

int64_t blobs_sweep(struct blobs *blobs,
                    enum blob_known (*known)(void *context, const struct blob_id *id),
                    void *context)
{
    int64_t removed = 0;
    for (size_t i = 0; i < DIRECTORIES; i++) {
        DIR *list = directory_list(blobs->fds[i]);
        const struct dirent *entry;
        if (list == NULL)
            return -1;
        while (removed >= 0 && (entry = readdir(list)) != NULL) {
            struct blob_id id;
            if (!name_read(entry->d_name, &id))
                continue; // not ours
            enum blob_known word = known(context, &id);
            if (word == BLOB_UNSURE)
                removed = -1;
            else if (word == BLOB_ORPHAN && unlinkat(blobs->fds[i], entry->d_name, 0) == 0)
                removed++;
        }
        (void)closedir(list);
        if (removed < 0)
            return -1;
    }
    return removed;
}

// ---- Life ------------------------------------------------------------------------------------

static int directory_make(int at, const char *name)
{
    if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool directories_open(struct blobs *blobs, const char *directory)
{
    int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return false;
    blobs->data_fd = directory_make(root, "data");
    bool ok = blobs->data_fd >= 0;
    for (unsigned i = 0; ok && i < DIRECTORIES; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%02x", i);
        blobs->fds[i] = directory_make(blobs->data_fd, name);
        ok = blobs->fds[i] >= 0;
    }
    ok = ok && fsync(blobs->data_fd) == 0 && fsync(root) == 0;
    int why = errno;
    (void)close(root);
    errno = why;
    return ok;
}

static void directories_close(struct blobs *blobs)
{
    for (size_t i = 0; i < DIRECTORIES; i++) {
        if (blobs->fds[i] >= 0)
            (void)close(blobs->fds[i]);
    }
    if (blobs->data_fd >= 0)
        (void)close(blobs->data_fd);
}

struct blobs *blobs_open(const char *directory, bool relaxed, struct env env, char *error,
                         size_t error_size)
{
    struct blobs *blobs = memory_zeroed(sizeof(*blobs));
    blobs->relaxed = relaxed;
    blobs->env = env;
    blobs->data_fd = -1;
    for (size_t i = 0; i < DIRECTORIES; i++)
        blobs->fds[i] = -1;
    if (!directories_open(blobs, directory)) {
        (void)snprintf(error, error_size, "the directory data in %.1000s cannot be used: %s",
                       directory, strerror(errno));
        directories_close(blobs);
        free(blobs);
        return NULL;
    }
    ensure(pthread_mutex_init(&blobs->lock, NULL) == 0);
    worker_start(&blobs->remover,
                 &(struct worker_plan){.work = remover_work, .context = blobs, .drains = true});
    return blobs;
}

void blobs_close(struct blobs *blobs)
{
    if (blobs == NULL)
        return;
    worker_stop(&blobs->remover);
    trash_empty(blobs, true);
    directories_close(blobs);
    (void)pthread_mutex_destroy(&blobs->lock);
    free(blobs);
}
