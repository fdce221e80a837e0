// See objects.h: opening, keys, and what is counted.
#include "objects/s3.h"

#include "base/encode.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "identity/identity.h"
#include "rocks/rocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = PATH_MAX + 32, THREADS = 16, KEY_FILE = 128 << 10 };

// ---- Keys
// --------------------------------------------------------------------------------------------

static bool fail(char *error, size_t size, const char *what, const char *path)
{
    (void)snprintf(error, size, "%s %.1000s: %s", what, path, strerror(errno));
    return false;
}

static bool key_add(struct objects *objects, struct slice id, struct slice secret, char *error,
                    size_t size)
{
    struct objects_key *key = &objects->keys[objects->key_count];
    secret = slice_trim(secret);
    while (secret.len > 0 &&
           (secret.ptr[secret.len - 1] == '\n' || secret.ptr[secret.len - 1] == '\r'))
        secret.len--;
    if (objects->key_count == OBJECTS_KEYS_MAX || id.len == 0 || id.len >= sizeof(key->id) ||
        secret.len < 8 || secret.len >= sizeof(key->secret)) {
        (void)snprintf(error, size,
                       "an access key has an id of 1 to 128 characters, and a secret "
                       "of 8 to 128; there may be 16");
        return false;
    }
    memcpy(key->id, id.ptr, id.len);
    memcpy(key->secret, secret.ptr, secret.len);
    objects->key_count++;
    return true;
}

static bool file_get(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = file_read(fd, out);
    int why = errno;
    (void)close(fd);
    errno = why;
    return ok;
}

static bool key_read(struct objects *objects, const char *text, char *error, size_t size)
{
    const char *colon = strchr(text, ':');
    if (strcmp(text, "env") == 0) {
        const char *id = getenv("AWS_ACCESS_KEY_ID");
        const char *secret = getenv("AWS_SECRET_ACCESS_KEY");
        if (id != NULL && secret != NULL)
            return key_add(objects, slice_str(id), slice_str(secret), error, size);
        (void)snprintf(error, size, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
        return false;
    }
    if (colon == NULL || colon == text) {
        (void)snprintf(error, size, "a key is ID:FILE, with the secret in the file, or env");
        return false;
    }
    struct buf secret;
    buf_init(&secret, KEY_FILE);
    bool ok = file_get(colon + 1, &secret)
                  ? key_add(objects, slice_of(text, (size_t)(colon - text)), buf_view(&secret),
                            error, size)
                  : fail(error, size, "cannot read", colon + 1);
    buf_release(&secret);
    return ok;
}

// Letters and digits, from randomness.
static void random_text(const struct env *env, char *out, size_t len)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint8_t random[64];
    env->random(env->context, random, len);
    for (size_t i = 0; i < len; i++)
        out[i] = alphabet[random[i] & 31];
    out[len] = 0;
}

// The pair that is kept in the directory: made, shown and written once.
static bool key_keep(struct objects *objects, const char *directory, char *error, size_t size)
{
    char path[PATH_SIZE];
    char id[32] = "DOLM";
    char secret[64];
    (void)snprintf(path, sizeof(path), "%s/key", directory);
    struct buf text;
    buf_init(&text, KEY_FILE);
    bool ok = file_get(path, &text);
    if (ok) {
        struct slice rest = buf_view(&text);
        struct slice first = slice_cut(&rest, '\n');
        ok = key_add(objects, first, slice_cut(&rest, '\n'), error, size);
        buf_release(&text);
        return ok;
    }
    buf_release(&text);
    if (errno != ENOENT)
        return fail(error, size, "cannot read", path);
    random_text(&objects->env, id + 4, 16);
    random_text(&objects->env, secret, 40);
    char lines[128];
    int len = snprintf(lines, sizeof(lines), "%s\n%s\n", id, secret);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    ok = fd >= 0 && file_write(fd, slice_of(lines, (size_t)len)) && fsync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    if (!ok || !directory_sync(directory))
        return fail(error, size, "cannot write", path);
    log_info("objects: made an access key, kept in %s: %s %s", path, id, secret);
    return key_add(objects, slice_str(id), slice_str(secret), error, size);
}

static bool keys_open(struct objects *objects, const struct objects_options *options, char *error,
                      size_t size)
{
    objects->signed_only = options->signed_only;
    objects->region = slice_str(options->region);
    objects->anonymous = options->loopback && options->key_count == 0 && !options->signed_only;
    for (size_t i = 0; i < options->key_count; i++) {
        if (!key_read(objects, options->keys[i], error, size))
            return false;
    }
    return options->key_count > 0 || key_keep(objects, options->directory, error, size);
}

struct sign_keys objects_keys(const struct objects *objects)
{
    return (struct sign_keys){.access_key = slice_str(objects->keys[0].id),
                              .secret_key = slice_str(objects->keys[0].secret)};
}

// ---- Opening
// -------------------------------------------------------------------------------------------

static enum blob_known blob_is_known(void *context, const struct blob_id *id)
{
    struct objects *objects = context;
    struct record_key key = key_of_blob(id);
    struct store_value value;
    struct store_error error;
    struct store *store = meta_store(objects->meta);
    switch (store_get(store, NULL, record_key_view(&key), &value, &error)) {
    case STORE_FOUND:
        store_value_release(store, &value);
        return BLOB_KNOWN;
    case STORE_ABSENT:
        return BLOB_ORPHAN;
    case STORE_FAILED:
        break;
    }
    return BLOB_UNSURE;
}

// Files that a crash has left behind go.
static bool sweep(struct objects *objects, char *error, size_t size)
{
    int64_t removed = blobs_sweep(objects->blobs, blob_is_known, objects);
    if (removed < 0) {
        (void)snprintf(error, size, "the files of objects cannot be compared with their metadata");
        return false;
    }
    if (removed > 0)
        log_info("objects: removed %lld files that belong to no object", (long long)removed);
    return true;
}

static void lifecycle_work(void *context)
{
    objects_lifecycle(context);
}

static bool store_open(struct objects *objects, const struct objects_options *options, char *error,
                       size_t size)
{
    char path[PATH_SIZE];
    if (mkdir(options->directory, 0700) != 0 && errno != EEXIST)
        return fail(error, size, "cannot make", options->directory);
    // The store locks its directory: nobody else has ours.
    (void)snprintf(path, sizeof(path), "%s/meta", options->directory);
    objects->blobs = blobs_open(options->directory, options->relaxed, options->env, error, size);
    if (objects->blobs == NULL)
        return false;
    objects->meta =
        meta_open(&(struct meta_options){.path = path,
                                         .relaxed = options->relaxed,
                                         .cache_bytes = options->memory_bytes / 2,
                                         .write_buffer_bytes = options->memory_bytes / 2,
                                         .blobs = objects->blobs},
                  error, size);
    return objects->meta != NULL && sweep(objects, error, size) &&
           keys_open(objects, options, error, size);
}

struct objects *objects_open(const struct objects_options *options, char *error, size_t error_size)
{
    struct objects *objects = memory_zeroed(sizeof(*objects));
    uint64_t random;
    objects->env = options->env;
    objects->budget = options->budget;
    objects->loops = options->loops;
    options->env.random(options->env.context, (uint8_t *)&random, sizeof(random));
    atomic_store(&objects->next_id, random);
    if (options->host != NULL)
        (void)snprintf(objects->host, sizeof(objects->host), "%s", options->host);
    if (!store_open(objects, options, error, error_size)) {
        objects_close(objects);
        return NULL;
    }
    objects->pool = pool_new(THREADS);
    objects->tables = checksum_tables_new();
    objects->caches = memory_zeroed(options->loops * sizeof(*objects->caches));
    objects->identity = options->identity;
    if (options->identity != NULL)
        objects->seats = memory_zeroed(options->loops * sizeof(*objects->seats));
    for (unsigned i = 0; i < options->loops; i++) {
        objects->caches[i] = sign_cache_new();
        ensure_memory(objects->caches[i]);
        if (objects->seats != NULL)
            objects->seats[i] = identity_seat_new(options->identity);
    }
    uint64_t every_s = options->every_s == 0 ? 3600 : options->every_s;
    objects->lifecycle_runs = true;
    worker_start(&objects->lifecycle, &(struct worker_plan){.work = lifecycle_work,
                                                            .context = objects,
                                                            .every_ms = (int64_t)every_s * 1000,
                                                            .asked = true});
    return objects;
}

void objects_close(struct objects *objects)
{
    if (objects == NULL)
        return;
    if (objects->lifecycle_runs)
        worker_stop(&objects->lifecycle);
    if (objects->pool != NULL)
        pool_free(objects->pool);
    meta_close(objects->meta);
    blobs_close(objects->blobs);
    checksum_tables_free(objects->tables);
    for (unsigned i = 0; objects->caches != NULL && i < objects->loops; i++) {
        sign_cache_free(objects->caches[i]);
        if (objects->seats != NULL)
            identity_seat_free(objects->seats[i]);
    }
    free(objects->seats);
    free(objects->caches);
    free(objects);
}

// ---- Metrics
// ---------------------------------------------------------------------------------------------

static void value(struct buf *out, const char *name, const char *type, const char *help,
                  uint64_t number)
{
    buf_printf(out, "# HELP dolmen_%s %s\n# TYPE dolmen_%s %s\ndolmen_%s %llu\n", name, help, name,
               type, name, (unsigned long long)number);
}

void objects_metrics(struct objects *objects, struct buf *out)
{
    static const char *const classes[OBJECTS_STATUSES] = {"2xx", "3xx", "4xx", "5xx"};
    struct meta_totals totals = meta_totals(objects->meta);
    value(out, "objects", "gauge", "Objects in the object store", totals.objects);
    value(out, "objects_bytes", "gauge", "Their bytes", totals.bytes);
    value(out, "objects_received_bytes_total", "counter", "Bytes of bodies of requests to it",
          atomic_load(&objects->received));
    value(out, "objects_sent_bytes_total", "counter", "Bytes of objects that it has sent",
          atomic_load(&objects->sent));
    value(out, "objects_expired_total", "counter",
          "Objects and uploads that lifecycle rules have removed", atomic_load(&objects->expired));
    buf_text(out, "# HELP dolmen_objects_requests_total Requests to the object store\n"
                  "# TYPE dolmen_objects_requests_total counter\n");
    for (size_t i = 0; i < OBJECTS_OPERATIONS; i++) {
        const char *name = i < s3_operation_count ? s3_operations[i].name : "Unknown";
        for (unsigned k = 0; k < OBJECTS_STATUSES; k++) {
            uint64_t count = atomic_load(&objects->requests[i][k]);
            if (count > 0)
                buf_printf(out,
                           "dolmen_objects_requests_total{operation=\"%s\",status=\"%s\"} %llu\n",
                           name, classes[k], (unsigned long long)count);
        }
    }
}
