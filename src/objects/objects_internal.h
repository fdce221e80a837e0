// What the files of this directory share of the store.
#ifndef OBJECTS_OBJECTS_INTERNAL_H
#define OBJECTS_OBJECTS_INTERNAL_H

#include "base/pool.h"
#include "base/worker.h"
#include "objects/checksum.h"
#include "objects/meta.h"
#include "objects/objects.h"

#include <stdatomic.h>

#define OBJECTS_OWNER "dolmen"

enum { OBJECTS_OPERATIONS = 48, OBJECTS_STATUSES = 4 };

struct objects_key {
    char id[OBJECTS_KEY_ID];
    char secret[OBJECTS_SECRET];
};

struct objects {
    struct env env;
    struct budget *budget;
    char host[256];      // below which names of buckets stand; "" for none
    struct slice region; // of buckets, and what policies see; borrowed
    bool signed_only;    // requests without a signature are refused: policies decide
    bool anonymous;      // requests without a signature are served
    struct objects_key keys[OBJECTS_KEYS_MAX];
    size_t key_count;
    struct blobs *blobs;
    struct meta *meta;
    struct pool *pool;
    struct checksum_tables *tables;
    struct sign_cache **caches;   // one for each loop
    struct identity *identity;    // or NULL
    struct identity_seat **seats; // with identities: one for each loop
    unsigned loops;
    struct worker lifecycle;
    bool lifecycle_runs;
    // Counted, for each operation and class of status (2xx, 3xx, 4xx, 5xx).
    _Atomic uint64_t requests[OBJECTS_OPERATIONS][OBJECTS_STATUSES];
    _Atomic uint64_t received;
    _Atomic uint64_t sent;
    _Atomic uint64_t expired;
    _Atomic uint64_t next_id;
};

// lifecycle.c: what the rules of all buckets ask for now.
void objects_lifecycle(struct objects *objects);

#endif
