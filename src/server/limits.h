// Limits against guessing and floods. All of it is a few cache lines for each request, without a
// lock, and as much memory as is taken at the start, however many addresses and keys there are.
//
// Guessing. Failures of authentication are counted by address and by the pair of address and access
// key. Beyond LIMITS_PAIR_FREE of a pair, or LIMITS_ADDRESS_FREE of an address, requests are
// refused for a second, and with each further failure for twice as long, up to LIMITS_LOCK_MAX_S;
// every LIMITS_DECAY_S a failure is forgotten. What this rule is meant to hold:
//   - a key is never locked by itself: whoever knows its name and not its secret locks out nobody
//     who uses it from another address;
//   - a pair that has signed well during the last hour is not refused because of its address, so
//     that one wrong client does not lock out the others behind the same address; and signing well
//     forgets the failures of the pair, not those of the address;
//   - an address of IPv6 counts by its first 64 bits, which is what one customer gets.
// What is not remembered for lack of room is what has failed least.
//
// Floods. Every identity has a bucket that holds a second of its rate (or a minute, if the rate is
// by the minute) and fills at that rate.
#ifndef SERVER_LIMITS_H
#define SERVER_LIMITS_H

#include "base/attributes.h"
#include "base/slice.h"

enum {
    LIMITS_PAIR_FREE = 10,
    LIMITS_ADDRESS_FREE = 50,
    LIMITS_LOCK_MAX_S = 300,
    LIMITS_DECAY_S = 30,
    LIMITS_GOOD_S = 3600,
};

struct limits;

// The seed keeps clients from choosing addresses and keys that collide.
struct limits *limits_new(uint64_t seed);
void limits_free(struct limits *limits); // NULL is fine

// ---- Guessing --------------------------------------------------------------------------------

// Where a request comes from. An empty or unknown address, or one that many share (a proxy that is
// trusted), has no address of its own: only the pair counts.
struct limits_origin {
    uint64_t address; // 0: none
    uint64_t pair;
};
struct limits_origin limits_origin(const struct limits *limits, const char *address, bool shared,
                                   struct slice access_key);

// Seconds for which the request is refused; 0 if it is not. Times are seconds since the start.
unsigned limits_locked(struct limits *limits, struct limits_origin origin, uint32_t now_s);
void limits_failed(struct limits *limits, struct limits_origin origin, uint32_t now_s);
void limits_succeeded(struct limits *limits, struct limits_origin origin, uint32_t now_s);

// ---- Floods ----------------------------------------------------------------------------------

struct limits_rate {
    uint64_t every_ns; // a request; 0: no limit
    uint64_t burst_ns; // what the bucket holds
};
// "100/s" or "600/m". False if it is neither.
MUST_CHECK bool limits_rate_parse(struct slice text, struct limits_rate *out);

// Whether the identity may make one more request now; else *wait_ns says how long it should wait.
MUST_CHECK bool limits_admit(struct limits *limits, struct slice identity, struct limits_rate rate,
                             uint64_t now_ns, uint64_t *wait_ns);

// ---- Metrics ---------------------------------------------------------------------------------

struct limits_stats {
    uint64_t locked;    // requests that were refused because of failures before
    uint64_t throttled; // because of a rate
};
struct limits_stats limits_stats(struct limits *limits);

#endif
