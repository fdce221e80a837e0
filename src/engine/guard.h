// What a table asks of every write to it, beyond what DynamoDB does: a guard completes the new
// image of an item, judges it, and names the values that nobody else may have. The model
// (src/model) is one; the engine knows only this.
//
// A guard is immutable and reference-counted, and belongs to versions of one table (table.guard).
// It is called on the writer's thread, between making the new image and applying it, for each
// action of a request, on every way that items are written.
//
// Before a guard that claims values becomes a table's, it may be its next one (table.next): then it
// is asked for nothing but claims, which are kept in a tree of their own (table.next_claims). Once
// every item has been touched (WRITE_CLAIM) they are complete, and no two items can come to have a
// value between that and the change of guards. Nothing is refused because of them: that two items
// had the same value is noted in a record (claims_clash_name), in the same commit.
#ifndef ENGINE_GUARD_H
#define ENGINE_GUARD_H

#include "base/env.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/steps.h"

// A value that only one item of the table may have: whatever bytes identify it. `what` says it in
// words for the error ("User.email").
struct guard_claim {
    struct slice name;
    struct slice what;
    struct slice value; // encoded, for the error
};

// What `prepare` expects a put to come to.
struct guard_settled {
    struct slice item; // as it is stored if there was none at its key; or VALUE_NONE
    bool whole;        // the client left nothing to defaults: it is most probably so in any case
};

struct guard_write {
    // In. Images are VALUE_NONE where there is none.
    bool is_put;   // the client sent the whole item; else an update, or a delete if after is none
    bool prepared; // a put whose image this guard has completed already (guard.prepare)
    bool batch;    // one of many puts, which may bring items from elsewhere
    bool touch;    // a backfill: complete what is there; what cannot be is left as it is
    struct guard_settled settled; // of a prepared put
    struct slice before;
    const struct env *env;
    struct arena *arena; // for everything below
    struct steps *steps; // counts the work, or NULL; beyond its limit the guard gives up

    // In and out: the image to be stored.
    struct slice after;

    // Out.
    size_t claim_count; // of the new image
    struct guard_claim *claims;
    size_t release_count; // of the old one
    struct guard_claim *releases;
    struct slice warnings; // lines of text, or empty
    const void *details;   // what they are about, to whoever knows the guard; or NULL
};

// Items that an index leaves out, although they have the attributes of its key: those in which this
// attribute has one of the values. Borrowed from the guard.
struct guard_outsiders {
    struct slice attribute;
    size_t count;
    const struct slice *values; // text
};

// Whether both leave out the same.
bool guard_outsiders_same(const struct guard_outsiders *a, const struct guard_outsiders *b);

struct guard;

struct guard_ops {
    // Completes and judges a write; false with a ValidationException, or with a
    // ConditionalCheckFailedException if the client has seen another version. error->details may
    // say more.
    // False without an error if it gave up: then nothing is known, and it can be asked again.
    bool (*write)(const struct guard *guard, struct guard_write *write, struct error *error);
    // Says that another item has a claimed value; always false. NULL for a plain sentence.
    bool (*taken)(const struct guard *guard, const struct guard_claim *claim, struct error *error);
    // What the index of that name leaves out. NULL if none leaves anything out.
    struct guard_outsiders (*outsiders)(const struct guard *guard, struct slice index);
    void (*free)(struct guard *guard);
};

struct guard {
    const struct guard_ops *ops;
    _Atomic unsigned references;
    size_t claims; // the most values that an item claims
};

// What an index leaves out, by a guard or NULL.
static inline struct guard_outsiders guard_outsiders_of(const struct guard *guard,
                                                        struct slice index)
{
    return guard == NULL || guard->ops->outsiders == NULL ? (struct guard_outsiders){.count = 0}
                                                          : guard->ops->outsiders(guard, index);
}

static inline struct guard *guard_hold(struct guard *guard)
{
    if (guard != NULL)
        guard->references++;
    return guard;
}

static inline void guard_release(struct guard *guard)
{
    if (guard != NULL && --guard->references == 0)
        guard->ops->free(guard);
}

#endif
