// What the files of this room share.
//
//   record.c   entities as sealed records
//   view.c     all records, compiled
//   identity.c opening, publishing, changing; readers of loops
//   session.c  tokens
//   seat.c     who signs
//   seal.c     the key of the records, under the master key
#ifndef IDENTITY_IDENTITY_INTERNAL_H
#define IDENTITY_IDENTITY_INTERNAL_H

#include "identity/identity.h"
#include "work/workshop.h"

#include <pthread.h>
#include <stdatomic.h>

#define IDENTITY_PREFIX "identity/"
// The key that the records are sealed under, sealed under the master key: see seal.c.
#define IDENTITY_SEAL "identity/"

struct identity {
    struct workshop *shop;
    struct crypt_key root;       // that the others follow from
    struct crypt_key records;    // seals them
    struct crypt_key tokens;     // seals sessions
    pthread_mutex_t changing;    // one change at a time
    pthread_mutex_t lock;        // of the pointer alone
    struct identity_view *view;  // the present one
    _Atomic uint64_t generation; // of it
};

// ---- seal.c ----------------------------------------------------------------------------------

// Finds the root key, or makes it. False if it is sealed under another master key, or damaged.
MUST_CHECK bool seal_open(struct identity *identity, const struct crypt_key *master,
                          struct arena *arena, struct error *error);

// ---- record.c --------------------------------------------------------------------------------

// A record on its way: its name, and its value or nothing.
struct identity_record {
    struct slice name;
    struct slice value;
};

// "identity/user/ada"; ptr NULL without memory.
struct slice record_name(struct arena *arena, enum identity_kind kind, struct slice name);
// VALUE_NONE with the error set if memory is out.
struct slice record_seal(const struct identity *identity, const struct identity_entity *entity,
                         struct slice name, struct arena *arena, struct error *error);
// The kind of a record by its name, and what stands behind it; IDENTITY_KINDS if it is none.
enum identity_kind record_kind(struct slice name, struct slice *rest);
// False if it does not open. The slices are in the arena.
MUST_CHECK bool record_open(const struct identity *identity, struct slice name, struct slice value,
                            struct arena *arena, struct identity_entity *out);

// ---- view.c ----------------------------------------------------------------------------------

struct one_slot {
    const struct identity_one *one;
};

struct compiled {
    struct slice document;
    enum policy_kind kind;
    struct policy *policy;
};

struct identity_view {
    _Atomic size_t holders;
    uint64_t generation;
    struct arena arena;
    struct identity_one *lists[IDENTITY_KINDS];
    size_t counts[IDENTITY_KINDS];
    // Keys by their ids: open addressing, a power of two. The seed is random, for ids come from
    // clients.
    uint64_t seed;
    size_t slot_count;
    struct one_slot *slots;
    // All policies, each document once: sorted by kind and document.
    size_t compiled_count;
    struct compiled *compiled;
};

// Reads and compiles everything. What the view before has compiled is taken from it. NULL with the
// error set if the records cannot be read.
MUST_CHECK struct identity_view *view_make(struct identity *identity,
                                           const struct identity_view *before, struct error *error);
void view_free(struct identity_view *view);

#endif
