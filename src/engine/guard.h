// What a table asks of every write to it, beyond what DynamoDB does: a guard completes the new
// image of an item, judges it, and names the values that nobody else may have. The model
// (src/model) is one; the engine knows only this.
//
// A guard is immutable and reference-counted, and belongs to versions of one table (table.guard).
// It is called on the writer's thread, between making the new image and applying it, for each
// action of a request, on every way that items are written.
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

struct guard;

struct guard_ops {
    // Completes and judges a write; false with a ValidationException, or with a
    // ConditionalCheckFailedException if the client has seen another version. error->details may
    // say more.
    // False without an error if it gave up: then nothing is known, and it can be asked again.
    bool (*write)(const struct guard *guard, struct guard_write *write, struct error *error);
    // Says that another item has a claimed value; always false. NULL for a plain sentence.
    bool (*taken)(const struct guard *guard, const struct guard_claim *claim, struct error *error);
    void (*free)(struct guard *guard);
};

struct guard {
    const struct guard_ops *ops;
    _Atomic unsigned references;
    size_t claims; // the most values that an item claims
};

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
