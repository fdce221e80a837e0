// One walk for one rule, as sweep.c and its parts see it: see retain.h.
#ifndef RETAIN_SWEEP_H
#define RETAIN_SWEEP_H

#include "retain/archive.h"
#include "retain/retain.h"
#include "value/digest.h"

enum {
    BUNCH_ITEMS = 20000,
    BUNCH_BYTES = 16 << 20, // of keys and names of groups
};

// One that was found, and then: whether it is to be deleted, and as what.
struct bunch_item {
    struct slice key;
    struct slice group;
    bool chosen;
    uint8_t digest[DIGEST_BYTES];
};

struct sweep {
    struct run run; // first
    struct retain_record record;
    const struct retain_rule *rule;
    struct retain_finder finder;
    bool superseded;      // the table, the model or the rule is another one
    struct arena arena;   // of the bunch
    struct arena scratch; // of an item, or of a write
    size_t count;
    size_t capacity;
    size_t bytes; // of keys and names
    struct bunch_item *items;
    struct buf position; // that is in the record: before the bunch
    int64_t began_ms;    // of the pace
    int64_t units;       // since then: one for each item looked at, SWEEP_REMOVAL for each removed
    int64_t saved_ms;
};

enum { SWEEP_REMOVAL = 10 };

// Keeps to the rate. False if the end has come.
MUST_CHECK bool sweep_pace(struct sweep *sweep, int64_t units);

// While a bunch is worked on: what has become of it so far goes into the record, now and then. The
// position stays before the bunch, which is looked at again if the process dies over it.
void sweep_tell(struct sweep *sweep);

// Whether the table still has the model that the rule is of. If not, the walk ends.
bool sweep_wanted(struct sweep *sweep);

// Archives and deletes what was found (bunch.c). False with the run's error set, or if the end has
// come.
MUST_CHECK bool sweep_bunch(struct sweep *sweep);

// Deletes what was chosen of a rule of `keep` (witness.c).
MUST_CHECK bool sweep_surplus(struct sweep *sweep);
// Writes the actions, and counts what became of those that delete. They may be of several parts
// (write_job.each), of which each is done or left.
MUST_CHECK bool sweep_write(struct sweep *sweep, struct write_action *actions, size_t count);

// The desk's part (desk.c).
struct retain_desk {
    struct retain_settings settings;
    char *archive;
    char *bucket;       // where archives are pushed from there; NULL if they stay
    char *prefix;       // of their keys
    _Atomic bool ready; // it is set where archives go
    bool started;
    _Atomic uint64_t walks;
    _Atomic uint64_t failed;
    _Atomic uint64_t looked;
    _Atomic uint64_t removed;
    _Atomic uint64_t archived;
    _Atomic uint64_t left;
    _Atomic uint64_t archives;
    _Atomic uint64_t running;
};

extern const struct run_kind sweep_kind;

#endif
