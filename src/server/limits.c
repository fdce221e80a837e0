// See limits.h. Both tables are sets of a few slots, found by a hash; a slot is a tag (the hash)
// and a word of state, each changed by compare-and-swap. When a set is full, the slot that says
// least is taken over: a bucket that is full again, or few failures that are long ago.
//
// A bucket is one number, the moment at which it will be full again (as in the generic cell rate
// algorithm): a request moves it on by the time that it stands for, and is refused if that is more
// than the bucket holds ahead of now.
#include "server/limits.h"

#include "base/hash.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    WAYS = 4,
    LOCK_SETS = 1 << 13, // 32,768 addresses and pairs, 512 KB
    RATE_SETS = 1 << 12, // 16,384 identities, 256 KB
    LEVEL_MAX = 127,
};

struct slot {
    _Atomic uint64_t tag; // 0: free
    _Atomic uint64_t state;
};

struct limits {
    uint64_t seed;
    _Atomic uint64_t locked;
    _Atomic uint64_t throttled;
    struct slot locks[LOCK_SETS][WAYS];
    struct slot rates[RATE_SETS][WAYS];
};

struct limits *limits_new(uint64_t seed)
{
    struct limits *limits = memory_zeroed(sizeof(*limits));
    limits->seed = seed;
    return limits;
}

void limits_free(struct limits *limits)
{
    free(limits);
}

struct limits_stats limits_stats(struct limits *limits)
{
    return (struct limits_stats){atomic_load(&limits->locked), atomic_load(&limits->throttled)};
}

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

// ---- Where a request comes from -----------------------------------------------------------------

// The bytes that count: four of IPv4, also if it is written as IPv6, eight of IPv6.
static struct slice address_bytes(const char *text, uint8_t out[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (inet_pton(AF_INET, text, out) == 1)
        return slice_of(out, 4);
    if (inet_pton(AF_INET6, text, out) != 1)
        return slice_of(NULL, 0);
    bool of_v4 = memcmp(out, mapped, sizeof(mapped)) == 0;
    return of_v4 ? slice_of(out + 12, 4) : slice_of(out, 8);
}

struct limits_origin limits_origin(const struct limits *limits, const char *address, bool shared,
                                   struct slice access_key)
{
    uint8_t room[16];
    struct slice bytes = address_bytes(address, room);
    uint64_t whole = hash_of(limits->seed, bytes);
    uint64_t pair = hash_of(whole + 1, access_key);
    bool own = bytes.len > 0 && !shared;
    return (struct limits_origin){own ? whole | 1 : 0, pair == 0 ? 1 : pair};
}

// ---- Guessing --------------------------------------------------------------------------------

// Failures so far, the moment when one was last forgotten, and until when requests are refused; or,
// if `good`, when the pair last signed well.
struct lock {
    unsigned level; // 7 bits
    bool good;      // 1 bit
    uint32_t last;  // 28 bits, as the next
    uint32_t until;
};

static struct lock lock_read(uint64_t state)
{
    return (struct lock){.level = (unsigned)state & 0x7f,
                         .good = (state >> 7 & 1) != 0,
                         .last = (uint32_t)(state >> 8) & 0xfffffff,
                         .until = (uint32_t)(state >> 36)};
}

static uint64_t lock_write(struct lock lock)
{
    return (lock.level & 0x7f) | (uint64_t)lock.good << 7 | (uint64_t)(lock.last & 0xfffffff) << 8 |
           (uint64_t)(lock.until & 0xfffffff) << 36;
}

// What is forgotten by now is.
static struct lock lock_decay(struct lock lock, uint32_t now_s)
{
    uint32_t past = now_s > lock.last ? now_s - lock.last : 0;
    uint32_t forgotten = past / LIMITS_DECAY_S;
    if (lock.level > 0) {
        lock.level = forgotten > lock.level ? 0 : lock.level - forgotten;
        lock.last += forgotten * LIMITS_DECAY_S;
    }
    if (lock.good && past > LIMITS_GOOD_S)
        lock.good = false;
    return lock;
}

static struct slot *lock_find(struct limits *limits, uint64_t tag)
{
    struct slot *set = limits->locks[tag >> 32 & (LOCK_SETS - 1)];
    for (unsigned i = 0; i < WAYS; i++) {
        if (atomic_load_explicit(&set[i].tag, memory_order_relaxed) == tag)
            return &set[i];
    }
    return NULL;
}

// The slot of the tag, which takes over one that says less if there is none.
static struct slot *lock_take(struct limits *limits, uint64_t tag, uint32_t now_s)
{
    struct slot *set = limits->locks[tag >> 32 & (LOCK_SETS - 1)];
    struct slot *least = lock_find(limits, tag);
    uint32_t least_worth = UINT32_MAX;
    if (least != NULL)
        return least;
    for (unsigned i = 0; i < WAYS; i++) {
        struct lock lock = lock_decay(lock_read(atomic_load(&set[i].state)), now_s);
        uint32_t worth = atomic_load(&set[i].tag) == 0 ? 0 : 1 + lock.good + 2 * lock.level;
        if (worth < least_worth) {
            least = &set[i];
            least_worth = worth;
        }
    }
    atomic_store(&least->state, lock_write((struct lock){.last = now_s}));
    atomic_store(&least->tag, tag);
    return least;
}

static void lock_fail(struct limits *limits, uint64_t tag, unsigned free_failures, uint32_t now_s)
{
    struct slot *slot = lock_take(limits, tag, now_s);
    uint64_t before = atomic_load(&slot->state);
    struct lock lock;
    do {
        lock = lock_decay(lock_read(before), now_s);
        if (lock.level == 0)
            lock.last = now_s;
        lock.level += lock.level < LEVEL_MAX;
        if (lock.level > free_failures) {
            unsigned beyond = lock.level - free_failures - 1;
            uint32_t wait = beyond > 8 ? LIMITS_LOCK_MAX_S : UINT32_C(1) << beyond;
            lock.until = now_s + (wait < LIMITS_LOCK_MAX_S ? wait : LIMITS_LOCK_MAX_S);
        }
    } while (!atomic_compare_exchange_weak(&slot->state, &before, lock_write(lock)));
}

void limits_failed(struct limits *limits, struct limits_origin origin, uint32_t now_s)
{
    lock_fail(limits, origin.pair, LIMITS_PAIR_FREE, now_s);
    if (origin.address != 0)
        lock_fail(limits, origin.address, LIMITS_ADDRESS_FREE, now_s);
}

void limits_succeeded(struct limits *limits, struct limits_origin origin, uint32_t now_s)
{
    struct slot *slot = lock_find(limits, origin.pair);
    if (slot != NULL) {
        struct lock lock = lock_read(atomic_load_explicit(&slot->state, memory_order_relaxed));
        if (lock.good && lock.level == 0 && now_s - lock.last < LIMITS_GOOD_S / 4)
            return; // the usual request
    }
    slot = lock_take(limits, origin.pair, now_s);
    atomic_store(&slot->state, lock_write((struct lock){.good = true, .last = now_s}));
}

// Seconds that are left of a lock.
static uint32_t lock_left(const struct slot *slot, uint32_t now_s, bool *good)
{
    if (slot == NULL)
        return 0;
    struct lock lock = lock_read(atomic_load_explicit(&slot->state, memory_order_relaxed));
    *good = lock_decay(lock, now_s).good;
    return lock.until > now_s ? lock.until - now_s : 0;
}

unsigned limits_locked(struct limits *limits, struct limits_origin origin, uint32_t now_s)
{
    bool good = false;
    bool unused = false;
    uint32_t left = lock_left(lock_find(limits, origin.pair), now_s, &good);
    if (left == 0 && origin.address != 0 && !good)
        left = lock_left(lock_find(limits, origin.address), now_s, &unused);
    if (left > 0)
        count(&limits->locked);
    return left;
}

// ---- Floods ----------------------------------------------------------------------------------

bool limits_rate_parse(struct slice text, struct limits_rate *out)
{
    uint64_t number = 0;
    size_t at = 0;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && number < 100000000; at++)
        number = number * 10 + (uint64_t)(text.ptr[at] - '0');
    if (number == 0 || text.len - at != 2 || text.ptr[at] != '/')
        return false;
    uint64_t period = text.ptr[at + 1] == 's'   ? UINT64_C(1000000000)
                      : text.ptr[at + 1] == 'm' ? UINT64_C(60000000000)
                                                : 0;
    uint64_t every = period / number;
    if (every == 0)
        return false;
    *out = (struct limits_rate){.every_ns = every, .burst_ns = period};
    return true;
}

// The bucket of an identity. One that is full again belongs to nobody; if there is none, the
// emptiest is not the one that is shared.
static struct slot *bucket_find(struct limits *limits, uint64_t tag, uint64_t now_ns)
{
    struct slot *set = limits->rates[tag >> 32 & (RATE_SETS - 1)];
    for (;;) {
        struct slot *fullest = NULL;
        uint64_t fullest_at = UINT64_MAX;
        for (unsigned i = 0; i < WAYS; i++) {
            if (atomic_load_explicit(&set[i].tag, memory_order_relaxed) == tag)
                return &set[i];
            uint64_t at = atomic_load_explicit(&set[i].state, memory_order_relaxed);
            if (at < fullest_at) {
                fullest = &set[i];
                fullest_at = at;
            }
        }
        if (fullest_at > now_ns)
            return fullest;
        uint64_t before = atomic_load_explicit(&fullest->tag, memory_order_relaxed);
        if (atomic_compare_exchange_strong(&fullest->tag, &before, tag))
            return fullest;
    }
}

bool limits_admit(struct limits *limits, struct slice identity, struct limits_rate rate,
                  uint64_t now_ns, uint64_t *wait_ns)
{
    if (rate.every_ns == 0)
        return true;
    uint64_t tag = hash_of(limits->seed, identity);
    struct slot *slot = bucket_find(limits, tag == 0 ? 1 : tag, now_ns);
    uint64_t full_at = atomic_load_explicit(&slot->state, memory_order_relaxed);
    uint64_t next;
    do {
        next = (full_at > now_ns ? full_at : now_ns) + rate.every_ns;
        if (next - now_ns > rate.burst_ns) {
            *wait_ns = next - now_ns - rate.burst_ns;
            count(&limits->throttled);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&slot->state, &full_at, next,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}
