// See meta.h.
#include "objects/meta.h"

#include "base/encode.h"
#include "base/log.h"
#include "rocks/rocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUP_BYTES = 4 << 20, GROUP_JOBS = 256, VALUES_KEPT = 64 };

struct meta_group {
    struct meta *meta;
    struct store_batch *batch;
    struct store_value values[VALUES_KEPT]; // that the running job has read
    size_t value_count;
    struct blob_id *trash;
    size_t trash_count;
    size_t trash_cap;
    struct meta_totals totals;
    bool failed; // the store could not be read
};

struct meta {
    struct store *store;
    struct blobs *blobs;
    struct meta_group group; // the thread's
    bool broken;             // the last commit has failed: recover before the next
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;  // the thread's
    pthread_cond_t ended; // of jobs
    struct meta_job *first;
    struct meta_job *last;
    bool stopping;
    _Atomic uint64_t objects;
    _Atomic uint64_t bytes;
};

static const struct record_key totals_key = {.len = 1, .bytes = {'T'}};

// ---- For jobs ----------------------------------------------------------------------------------

static void values_release(struct meta_group *group)
{
    while (group->value_count > 0)
        store_value_release(group->meta->store, &group->values[--group->value_count]);
}

enum store_result group_get(struct meta_group *group, const struct record_key *key,
                            struct slice *out)
{
    struct store_error error;
    struct slice bytes = record_key_view(key);
    switch (store_batch_get(group->batch, bytes, out)) {
    case BATCH_PUT:
        return STORE_FOUND;
    case BATCH_DELETED:
        return STORE_ABSENT;
    case BATCH_SILENT:
        break;
    }
    // A job that reads many values has no use for the first of them any more.
    if (group->value_count == VALUES_KEPT)
        values_release(group);
    struct store_value *value = &group->values[group->value_count];
    enum store_result result = store_get(group->meta->store, NULL, bytes, value, &error);
    if (result == STORE_FOUND) {
        group->value_count++;
        *out = value->bytes;
    }
    group->failed = group->failed || result == STORE_FAILED;
    return result;
}

void group_put(struct meta_group *group, const struct record_key *key, struct slice value)
{
    store_batch_put(group->batch, record_key_view(key), value);
}

void group_delete(struct meta_group *group, const struct record_key *key)
{
    store_batch_delete(group->batch, record_key_view(key));
}

void group_keep_blobs(struct meta_group *group, const struct record *record)
{
    for (size_t i = 0; i < record_blob_count(record); i++) {
        struct blob_id id;
        uint64_t size;
        record_blob(record, i, &id, &size);
        struct record_key key = key_of_blob(&id);
        group_put(group, &key, slice_of(NULL, 0));
    }
}

void group_trash_blobs(struct meta_group *group, const struct record *record)
{
    for (size_t i = 0; i < record_blob_count(record); i++) {
        struct blob_id id;
        uint64_t size;
        record_blob(record, i, &id, &size);
        struct record_key key = key_of_blob(&id);
        group_delete(group, &key);
        group->trash = memory_grow(group->trash, group->trash_count, &group->trash_cap, sizeof(id));
        group->trash[group->trash_count++] = id;
    }
}

void group_count(struct meta_group *group, int64_t objects, int64_t bytes)
{
    group->totals.objects += (uint64_t)objects;
    group->totals.bytes += (uint64_t)bytes;
}

struct store *group_store(struct meta_group *group)
{
    return group->meta->store;
}

// ---- The thread --------------------------------------------------------------------------------

static enum meta_end commit_failed(struct meta *meta, enum store_end end,
                                   const struct store_error *error)
{
    meta->broken = true;
    log_error("objects: metadata cannot be written: %s", error->text);
    if (end == STORE_UNKNOWN)
        return META_UNKNOWN;
    return error->no_room ? META_NO_ROOM : META_FAILED;
}

static enum meta_end group_commit(struct meta *meta, bool frees)
{
    struct meta_group *group = &meta->group;
    struct store_error error = {.no_room = false};
    uint8_t totals[16];
    if (meta->broken && !store_recover(meta->store, &error))
        return error.no_room ? META_NO_ROOM : META_FAILED;
    meta->broken = false;
    be64_put(totals, group->totals.objects);
    be64_put(totals + 8, group->totals.bytes);
    group_put(group, &totals_key, slice_of(totals, sizeof(totals)));
    if (frees)
        store_batch_frees(group->batch);
    if (store_batch_failed(group->batch))
        return META_FAILED;
    enum store_end end = store_commit(meta->store, group->batch, &error);
    if (end != STORE_DONE)
        return commit_failed(meta, end, &error);
    atomic_store(&meta->objects, group->totals.objects);
    atomic_store(&meta->bytes, group->totals.bytes);
    blobs_trash(meta->blobs, group->trash, group->trash_count);
    return META_DONE;
}

static void group_begin(struct meta *meta)
{
    struct meta_group *group = &meta->group;
    store_batch_clear(group->batch);
    group->trash_count = 0;
    group->totals = meta_totals(meta);
    group->failed = false;
}

// Runs one job. False if the group is of no use any more.
static void job_run(struct meta *meta, struct meta_job *job)
{
    struct meta_group *group = &meta->group;
    struct meta_totals before = group->totals;
    size_t trash_before = group->trash_count;
    group->failed = false;
    job->end = job->run(job, group) ? META_DONE : META_REFUSED;
    values_release(group);
    if (job->end == META_REFUSED && group->failed)
        job->end = META_FAILED;
    if (job->end != META_DONE) {
        group->totals = before;
        group->trash_count = trash_before;
    }
}

// Tells the owners of the jobs [first, end) how they ended; those that were refused know already.
static void jobs_end(struct meta *meta, struct meta_job *first, const struct meta_job *end,
                     enum meta_end result)
{
    (void)pthread_mutex_lock(&meta->lock);
    while (first != end) {
        struct meta_job *next = first->next;
        if (first->end == META_DONE)
            first->end = (int)result;
        first->over = true;
        first = next;
    }
    (void)pthread_cond_broadcast(&meta->ended);
    (void)pthread_mutex_unlock(&meta->lock);
}

// While the disk is full each job is on its own: those that free room get through.
static bool group_ends(struct meta *meta, const struct meta_job *next, size_t count, bool full)
{
    return next == NULL || next->alone || full || count >= GROUP_JOBS ||
           store_batch_bytes(meta->group.batch) >= GROUP_BYTES;
}

static void jobs_run(struct meta *meta, struct meta_job *first)
{
    struct store_error why;
    while (first != NULL) {
        bool full = store_condition(meta->store, &why) != STORE_WELL;
        bool frees = true;
        size_t count = 0;
        struct meta_job *job = first;
        group_begin(meta);
        do {
            frees = frees && job->frees;
            job_run(meta, job);
            job = job->next;
        } while (!group_ends(meta, job, ++count, full));
        bool written = store_batch_count(meta->group.batch) > 0;
        jobs_end(meta, first, job, written ? group_commit(meta, frees) : META_DONE);
        first = job;
    }
}

static void *meta_main(void *context)
{
    struct meta *meta = context;
    (void)pthread_mutex_lock(&meta->lock);
    while (!meta->stopping || meta->first != NULL) {
        if (meta->first == NULL) {
            (void)pthread_cond_wait(&meta->wake, &meta->lock);
            continue;
        }
        struct meta_job *first = meta->first;
        meta->first = meta->last = NULL;
        (void)pthread_mutex_unlock(&meta->lock);
        jobs_run(meta, first);
        (void)pthread_mutex_lock(&meta->lock);
    }
    (void)pthread_mutex_unlock(&meta->lock);
    return NULL;
}

enum meta_end meta_do(struct meta *meta, struct meta_job *job)
{
    job->next = NULL;
    job->over = false;
    (void)pthread_mutex_lock(&meta->lock);
    if (meta->last != NULL)
        meta->last->next = job;
    else
        meta->first = job;
    meta->last = job;
    (void)pthread_cond_signal(&meta->wake);
    while (!job->over)
        (void)pthread_cond_wait(&meta->ended, &meta->lock);
    (void)pthread_mutex_unlock(&meta->lock);
    return (enum meta_end)job->end;
}

// ---- Life --------------------------------------------------------------------------------------

struct store *meta_store(struct meta *meta)
{
    return meta->store;
}

bool meta_has_room(struct meta *meta)
{
    struct store_error why;
    return store_condition(meta->store, &why) == STORE_WELL;
}

struct meta_totals meta_totals(struct meta *meta)
{
    return (struct meta_totals){atomic_load(&meta->objects), atomic_load(&meta->bytes)};
}

static bool totals_read(struct meta *meta, struct store_error *error)
{
    struct store_value value;
    switch (store_get(meta->store, NULL, record_key_view(&totals_key), &value, error)) {
    case STORE_ABSENT:
        return true;
    case STORE_FAILED:
        return false;
    case STORE_FOUND:
        break;
    }
    bool whole = value.bytes.len == 16;
    if (whole) {
        atomic_store(&meta->objects, be64_get(value.bytes.ptr));
        atomic_store(&meta->bytes, be64_get(value.bytes.ptr + 8));
    }
    store_value_release(meta->store, &value);
    return whole;
}

struct meta *meta_open(const struct meta_options *options, char *error, size_t error_size)
{
    struct store_error *why = memory_zeroed(sizeof(*why));
    struct meta *meta = memory_zeroed(sizeof(*meta));
    meta->blobs = options->blobs;
    meta->store = store_open_rocksdb(
        &(struct store_options){
            .path = options->path,
            .durability = options->relaxed ? STORE_RELAXED : STORE_FULL,
            .cache_bytes = options->cache_bytes,
            .write_buffer_bytes = options->write_buffer_bytes,
        },
        why);
    bool ok = meta->store != NULL && totals_read(meta, why);
    if (!ok) {
        (void)snprintf(error, error_size, "%s", why->text);
        if (meta->store != NULL)
            store_close(meta->store);
        free(meta);
        free(why);
        return NULL;
    }
    free(why);
    meta->group = (struct meta_group){.meta = meta, .batch = store_batch_new()};
    ensure_memory(meta->group.batch);
    ensure(pthread_mutex_init(&meta->lock, NULL) == 0);
    ensure(pthread_cond_init(&meta->wake, NULL) == 0);
    ensure(pthread_cond_init(&meta->ended, NULL) == 0);
    ensure_started(pthread_create(&meta->thread, NULL, meta_main, meta) == 0);
    return meta;
}

void meta_close(struct meta *meta)
{
    if (meta == NULL)
        return;
    (void)pthread_mutex_lock(&meta->lock);
    meta->stopping = true;
    (void)pthread_cond_signal(&meta->wake);
    (void)pthread_mutex_unlock(&meta->lock);
    (void)pthread_join(meta->thread, NULL);
    store_batch_free(meta->group.batch);
    free(meta->group.trash);
    store_close(meta->store);
    (void)pthread_cond_destroy(&meta->wake);
    (void)pthread_cond_destroy(&meta->ended);
    (void)pthread_mutex_destroy(&meta->lock);
    free(meta);
}
