// Opening, publishing and changing; what loops see.
#include "identity/identity_internal.h"

#include "base/log.h"
#include "engine/record.h"
#include "value/map.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPEN_MEMORY = 16 << 20 };

// ---- Ids and secrets ---------------------------------------------------------------------------

static void random_text(const char *alphabet, char *out, size_t count)
{
    uint8_t bytes[64];
    size_t letters = strlen(alphabet);
    ensure(count <= sizeof(bytes) && RAND_priv_bytes(bytes, (int)count) == 1);
    for (size_t i = 0; i < count; i++)
        out[i] = alphabet[bytes[i] % letters]; // 32 and 64 divide 256: no letter is likelier
    out[count] = 0;
    explicit_bzero(bytes, sizeof(bytes));
}

void identity_make_id(const char *prefix, char out[IDENTITY_ID])
{
    size_t len = strlen(prefix);
    memcpy(out, prefix, len);
    random_text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", out + len, IDENTITY_ID - 1 - len);
}

void identity_make_secret(char out[IDENTITY_SECRET])
{
    random_text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", out,
                IDENTITY_SECRET - 1);
}

int64_t identity_now_ms(const struct identity *identity)
{
    return env_now(engine_env(identity->shop->engine));
}

// ---- Opening -----------------------------------------------------------------------------------

static bool write_records(const struct identity *identity, struct record_write *writes,
                          size_t count, struct error *error)
{
    struct record_job job;
    record_job_init(&job, error);
    job.count = count;
    job.writes = writes;
    return engine_run(identity->shop->engine, &job.job);
}

struct identity *identity_open(struct workshop *shop, const struct crypt_key *master, char *error,
                               size_t error_size)
{
    struct identity *identity = memory_zeroed(sizeof(*identity));
    struct arena arena;
    struct error why;
    arena_init(&arena, OPEN_MEMORY);
    error_init(&why, &arena);
    identity->shop = shop;
    ensure(pthread_mutex_init(&identity->changing, NULL) == 0);
    ensure(pthread_mutex_init(&identity->lock, NULL) == 0);
    if (seal_open(identity, master, &arena, &why)) {
        crypt_key_derive(&identity->root, "identities", &identity->records);
        crypt_key_derive(&identity->root, "session tokens", &identity->tokens);
        identity->view = view_make(identity, NULL, &why);
    }
    if (identity->view != NULL) {
        identity->generation = identity->view->generation;
    } else {
        (void)snprintf(error, error_size, "%s", why.message == NULL ? "" : why.message);
        identity_close(identity);
        identity = NULL;
    }
    arena_release(&arena);
    return identity;
}

void identity_close(struct identity *identity)
{
    if (identity == NULL)
        return;
    if (identity->view != NULL)
        identity_view_release(identity->view);
    (void)pthread_mutex_destroy(&identity->changing);
    (void)pthread_mutex_destroy(&identity->lock);
    crypt_key_wipe(&identity->root);
    crypt_key_wipe(&identity->records);
    crypt_key_wipe(&identity->tokens);
    free(identity);
}

// ---- Views -------------------------------------------------------------------------------------

struct identity_view *identity_view_hold(struct identity *identity)
{
    ensure(pthread_mutex_lock(&identity->lock) == 0);
    struct identity_view *view = identity->view;
    atomic_fetch_add_explicit(&view->holders, 1, memory_order_relaxed);
    ensure(pthread_mutex_unlock(&identity->lock) == 0);
    return view;
}

void identity_view_release(struct identity_view *view)
{
    if (view != NULL && atomic_fetch_sub_explicit(&view->holders, 1, memory_order_acq_rel) == 1)
        view_free(view);
}

static void publish(struct identity *identity, struct identity_view *view)
{
    ensure(pthread_mutex_lock(&identity->lock) == 0);
    struct identity_view *before = identity->view;
    identity->view = view;
    ensure(pthread_mutex_unlock(&identity->lock) == 0);
    atomic_store_explicit(&identity->generation, view->generation, memory_order_release);
    identity_view_release(before);
}

void identity_refresh(struct identity *identity)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, OPEN_MEMORY);
    error_init(&error, &arena);
    ensure(pthread_mutex_lock(&identity->changing) == 0);
    struct identity_view *before = identity_view_hold(identity);
    struct identity_view *next = view_make(identity, before, &error);
    if (next != NULL)
        publish(identity, next);
    else
        log_error("identities have been changed, but cannot be read again: %s",
                  error.message == NULL ? "" : error.message);
    identity_view_release(before);
    ensure(pthread_mutex_unlock(&identity->changing) == 0);
    arena_release(&arena);
}

// ---- Readers -----------------------------------------------------------------------------------

struct identity_lease {
    struct identity_view *view;
    size_t requests; // that hold it, and one for the reader
};

struct identity_reader {
    struct identity *identity;
    struct identity_lease *lease;
};

static struct identity_lease *lease_new(struct identity *identity)
{
    struct identity_lease *lease = memory_zeroed(sizeof(*lease));
    lease->view = identity_view_hold(identity);
    lease->requests = 1;
    return lease;
}

struct identity_reader *identity_reader_new(struct identity *identity)
{
    struct identity_reader *reader = memory_zeroed(sizeof(*reader));
    reader->identity = identity;
    reader->lease = lease_new(identity);
    return reader;
}

void identity_reader_free(struct identity_reader *reader)
{
    if (reader == NULL)
        return;
    identity_lease_end(reader->lease);
    free(reader);
}

struct identity_lease *identity_lease_take(struct identity_reader *reader)
{
    uint64_t now = atomic_load_explicit(&reader->identity->generation, memory_order_acquire);
    if (reader->lease->view->generation < now) {
        identity_lease_end(reader->lease);
        reader->lease = lease_new(reader->identity);
    }
    reader->lease->requests++;
    return reader->lease;
}

void identity_lease_end(struct identity_lease *lease)
{
    if (lease == NULL || --lease->requests > 0)
        return;
    identity_view_release(lease->view);
    free(lease);
}

const struct identity_view *identity_lease_view(const struct identity_lease *lease)
{
    return lease->view;
}

// ---- Changes -----------------------------------------------------------------------------------

void identity_change_begin(struct identity_change *change, struct identity *identity,
                           struct arena *arena, struct error *error)
{
    *change = (struct identity_change){.identity = identity, .arena = arena, .error = error};
    ensure(pthread_mutex_lock(&identity->changing) == 0);
    change->view = identity_view_hold(identity);
}

static void add_record(struct identity_change *change, struct slice name, struct slice value)
{
    struct identity_record *larger =
        arena_zalloc(change->arena, change->count + 1, sizeof(*larger));
    if (larger == NULL || name.ptr == NULL) {
        (void)error_budget(change->error);
        return;
    }
    if (change->count > 0)
        memcpy(larger, change->records, change->count * sizeof(*larger));
    larger[change->count++] = (struct identity_record){name, value};
    change->records = larger;
}

void identity_change_put(struct identity_change *change, const struct identity_entity *entity)
{
    struct slice name = record_name(change->arena, entity->kind, entity->name);
    if (name.ptr == NULL) {
        (void)error_budget(change->error);
        return;
    }
    struct slice value = record_seal(change->identity, entity, name, change->arena, change->error);
    if (value.len > 0)
        add_record(change, name, value);
}

void identity_change_remove(struct identity_change *change, enum identity_kind kind,
                            struct slice name)
{
    add_record(change, record_name(change->arena, kind, name), slice_of(NULL, 0));
}

bool identity_change_commit(struct identity_change *change)
{
    struct identity *identity = change->identity;
    if (change->error->code != ERR_NONE)
        return false;
    struct record_write *writes = arena_zalloc(change->arena, change->count + 1, sizeof(*writes));
    if (writes == NULL)
        return error_budget(change->error);
    for (size_t i = 0; i < change->count; i++)
        writes[i] = (struct record_write){change->records[i].name, change->records[i].value};
    if (!write_records(identity, writes, change->count, change->error))
        return false;
    struct identity_view *next = view_make(identity, change->view, change->error);
    if (next == NULL) {
        // What was written holds from the next start on; until then the old view does.
        log_error("identities have been changed, but cannot be read again: %s",
                  change->error->message == NULL ? "" : change->error->message);
        return false;
    }
    publish(identity, next);
    return true;
}

void identity_change_end(struct identity_change *change)
{
    identity_view_release(change->view);
    ensure(pthread_mutex_unlock(&change->identity->changing) == 0);
}
