// See env.h.
#include "base/env.h"

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static int64_t system_now(void *context)
{
    (void)context;
    struct timespec now;
    ensure(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void system_random(void *context, uint8_t *out, size_t len)
{
    (void)context;
    while (len > 0) {
        ssize_t got = getrandom(out, len < 256 ? len : 256, 0);
        if (got <= 0)
            continue;
        out += got;
        len -= (size_t)got;
    }
}

struct env env_system(void)
{
    return (struct env){.now_ms = system_now, .random = system_random};
}

static int64_t fixed_now(void *context)
{
    const struct env_fixed *state = context;
    return state->now_ms;
}

// splitmix64: small, and every seed gives a full-period sequence.
static void fixed_random(void *context, uint8_t *out, size_t len)
{
    struct env_fixed *state = context;
    const uint64_t step = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < len; i++) {
        uint64_t z = atomic_fetch_add(&state->seed, step) + step; // one, whoever else takes one
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        out[i] = (uint8_t)(z ^ (z >> 31));
    }
}

struct env env_fixed(struct env_fixed *state)
{
    return (struct env){.context = state, .now_ms = fixed_now, .random = fixed_random};
}

void env_uuid(const struct env *env, char out[37])
{
    uint8_t b[16];
    env->random(env->context, b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < sizeof(b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = hex[b[i] >> 4];
        out[at++] = hex[b[i] & 15];
    }
    out[at] = 0;
}

// ---- Ids in order -----------------------------------------------------------------------------

enum { BACK_MS = 60000, CHANCE_HIGH = 0xffff };

void env_ids_init(struct env_ids *ids)
{
    *ids = (struct env_ids){.ms = 0};
    ensure(pthread_mutex_init(&ids->lock, NULL) == 0);
}

void env_ids_release(struct env_ids *ids)
{
    ensure(pthread_mutex_destroy(&ids->lock) == 0);
}

static uint64_t bits_of(const uint8_t *bytes, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

// The next id in the place of what chance has made. Within a millisecond it is further on by chance
// again, so that nobody can guess the next one.
static void put_behind(struct env_ids *ids, struct env_ids *made)
{
    ensure(pthread_mutex_lock(&ids->lock) == 0);
    if (made->ms <= ids->ms && ids->ms - made->ms < BACK_MS) {
        uint64_t low = ids->low + 1 + (made->low & UINT32_MAX);
        made->high = ids->high + (low < ids->low);
        made->low = low;
        made->ms = ids->ms + (made->high > CHANCE_HIGH);
        made->high &= CHANCE_HIGH;
    }
    ids->ms = made->ms;
    ids->high = made->high;
    ids->low = made->low;
    ensure(pthread_mutex_unlock(&ids->lock) == 0);
}

void env_ulid(const struct env *env, int64_t now_ms, char out[27])
{
    static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint8_t random[10];
    env->random(env->context, random, sizeof(random));
    struct env_ids made = {
        .ms = (uint64_t)now_ms, .high = bits_of(random, 2), .low = bits_of(random + 2, 8)};
    if (env->ids != NULL)
        put_behind(env->ids, &made);
    // 48 bits of milliseconds and 80 of chance, five at a time.
    for (int i = 0; i < 10; i++)
        out[i] = letters[made.ms >> (45 - 5 * i) & 31];
    unsigned __int128 chance = (unsigned __int128)made.high << 64 | made.low;
    for (int i = 0; i < 16; i++)
        out[10 + i] = letters[(unsigned)(chance >> (75 - 5 * i)) & 31];
    out[26] = 0;
}
