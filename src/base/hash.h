// Hashing bytes for tables in memory: eight at a time through a widening multiplication. The seed
// is for keys that come from clients, who should not be able to choose them so that they collide.
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/slice.h"

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_of(uint64_t seed, struct slice bytes)
{
    uint64_t hash = seed ^ bytes.len * 0x9e3779b97f4a7c15u;
    uint64_t word;
    const uint8_t *at = bytes.ptr;
    size_t left = bytes.len;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        hash = hash_mix(hash ^ word, 0xd6e8feb86659fd93u) + 0xa0761d6478bd642fu;
    }
    word = 0;
    if (left > 0)
        memcpy(&word, at, left);
    hash = hash_mix(hash ^ word, 0xe7037ed1a0b428dbu) + 0x8ebc6af09c88c6e3u;
    return hash_mix(hash, 0x9e3779b97f4a7c15u);
}

#endif
