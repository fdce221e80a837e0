// Clock and randomness come in through this struct, so that tests never sleep
// and replay by seed. I/O comes in through the store driver and the server.
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include "base/slice.h"

#include <pthread.h>

// The last id that env_ulid() gave out: the next one is larger, also within a millisecond. Owned by
// whoever gives an env to others (the engine); any thread may ask.
struct env_ids {
    pthread_mutex_t lock;
    uint64_t ms;
    uint64_t high; // 80 bits of chance: 16,
    uint64_t low;  // and 64
};
void env_ids_init(struct env_ids *ids);
void env_ids_release(struct env_ids *ids);

struct env {
    void *context;
    // Milliseconds since 1970 (wall clock).
    int64_t (*now_ms)(void *context);
    // Fills `out` with random bytes, fit for identifiers.
    void (*random)(void *context, uint8_t *out, size_t len);
    struct env_ids *ids; // or NULL: ids of one millisecond are in no order
};

// The real clock and the kernel's randomness.
struct env env_system(void);

// A clock that stands still until moved and a seeded generator; for tests.
// `state` is owned by the caller and must outlive the env.
struct env_fixed {
    _Atomic int64_t now_ms; // a test may move it while threads look
    _Atomic uint64_t seed;  // and the writer's part is taken by whichever thread is there
};
struct env env_fixed(struct env_fixed *state);

static inline int64_t env_now(const struct env *env)
{
    return env->now_ms(env->context);
}

// A version 4 UUID in lower case, 36 characters and a NUL.
void env_uuid(const struct env *env, char out[37]);

// A ULID of that moment, 26 characters and a NUL: it sorts behind all that were given out before.
// If the clock was put back by more than a minute, the ids follow it.
void env_ulid(const struct env *env, int64_t now_ms, char out[27]);

#endif
