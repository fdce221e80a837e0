// The key that seals identities, itself sealed under the master key.
//
// One record holds it once for each master key that opens it, by the key's name: usually one; two
// while the master key is being replaced, so that whichever of them the directory has after a crash
// opens it. What is sealed under it stays as it is.
#include "base/encode.h"
#include "engine/record.h"
#include "identity/identity_internal.h"
#include "value/map.h"

enum { SEALED_MAX = 1024 };

static void wrap(const struct identity *identity, const struct crypt_key *master,
                 struct value_maker *maker)
{
    char name[CRYPT_NAME];
    struct crypt_key wrapping;
    struct buf sealed;
    struct buf text;
    buf_init(&sealed, SEALED_MAX);
    buf_init(&text, SEALED_MAX);
    crypt_key_name(master, name);
    crypt_key_derive(master, "identities", &wrapping);
    crypt_seal(&wrapping, slice_str(name), slice_of(identity->root.bytes, CRYPT_KEY), &sealed);
    base64_encode(&text, buf_view(&sealed));
    map_put_text(maker, name, buf_view(&text));
    crypt_key_wipe(&wrapping);
    buf_release(&sealed);
    buf_release(&text);
}

static bool unwrap(struct identity *identity, const struct crypt_key *master, struct slice text)
{
    char name[CRYPT_NAME];
    struct crypt_key wrapping;
    struct buf sealed;
    struct buf plain;
    buf_init(&sealed, SEALED_MAX);
    buf_init(&plain, SEALED_MAX);
    crypt_key_name(master, name);
    crypt_key_derive(master, "identities", &wrapping);
    bool right = base64_decode(&sealed, text) &&
                 crypt_open(&wrapping, slice_str(name), buf_view(&sealed), &plain) &&
                 plain.len == CRYPT_KEY;
    if (right)
        memcpy(identity->root.bytes, plain.ptr, CRYPT_KEY);
    if (plain.ptr != NULL)
        explicit_bzero(plain.ptr, plain.cap);
    crypt_key_wipe(&wrapping);
    buf_release(&sealed);
    buf_release(&plain);
    return right;
}

static bool keep(const struct identity *identity, struct slice value, struct error *error)
{
    struct record_write write = {SLICE_LIT(IDENTITY_SEAL), value};
    struct record_job job;
    record_job_init(&job, error);
    job.count = 1;
    job.writes = &write;
    return value.len > 0 && engine_run(identity->shop->engine, &job.job);
}

bool seal_open(struct identity *identity, const struct crypt_key *master, struct arena *arena,
               struct error *error)
{
    struct slice kept;
    char name[CRYPT_NAME];
    crypt_key_name(master, name);
    if (!engine_record(identity->shop->engine, SLICE_LIT(IDENTITY_SEAL), arena, &kept, error))
        return false;
    if (kept.len == 0) { // the first who opens makes it
        struct value_maker maker;
        crypt_key_make(&identity->root);
        map_begin(&maker);
        wrap(identity, master, &maker);
        return keep(identity, map_end(&maker, arena, error), error);
    }
    if (!value_valid(kept) || value_count(kept) == 0)
        return error_set(error, ERR_DAMAGED, "the record of the master key is damaged");
    struct slice text = map_text(kept, name);
    if (text.len > 0)
        return unwrap(identity, master, text) ||
               error_set(error, ERR_DAMAGED, "the record of the master key is damaged");
    struct value_iter iter;
    value_iter_init(&iter, kept);
    (void)value_iter_next(&iter);
    return error_set(error, ERR_ACCESS_DENIED,
                     "the identities in this database are sealed under the master key %.*s, and "
                     "the one given is %s",
                     SLICE_FMT(iter.name), name);
}

bool identity_rewrap(struct identity *identity, const struct crypt_key *const *masters,
                     size_t count, struct error *error)
{
    struct arena arena;
    struct value_maker maker;
    arena_init(&arena, 1 << 16);
    map_begin(&maker);
    for (size_t i = 0; i < count; i++)
        wrap(identity, masters[i], &maker);
    bool kept = keep(identity, map_end(&maker, &arena, error), error);
    arena_release(&arena);
    return kept;
}
