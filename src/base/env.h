// Clock and randomness come in through this struct, so that tests never sleep
// and replay by seed. I/O comes in through the store driver and the server.
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include "base/slice.h"

struct env {
    void *context;
    // Milliseconds since 1970 (wall clock).
    int64_t (*now_ms)(void *context);
    // Fills `out` with random bytes, fit for identifiers.
    void (*random)(void *context, uint8_t *out, size_t len);
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

#endif
