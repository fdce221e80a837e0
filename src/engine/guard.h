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
#include "expr/expr.h"

// A value that only one item of the table may have: whatever bytes identify it. `what` says it in
// words for the error ("User.email").
struct guard_claim {
    struct slice name;
    struct slice what;
    struct slice value; // encoded, for the error
    // `idempotent`: until when the value is claimed; 0 without an end. A write that meets such a
    // claim of another item is a repetition: it is answered, and not done.
    int64_t until_ms;
};

struct caller; // policy/caller.h: for the guard alone

// Who asked for a write, and how. If it was the server itself, its principal is "server".
struct write_origin {
    struct slice principal;
    struct slice operation;
    struct slice tenant; // that the request is bound to
    bool bound;          // to a tenant, whose name may be empty
    // Whom policies of the model are about, unless it may bypass them; NULL: nobody is asked.
    const struct caller *caller;
    bool bypass;
};

// Something that follows for another item from the change of one, in the same transaction
// (docs/adr/019-rules.md). What is to be done is the guard's to know: it is asked again (affect)
// when the item is read.
struct guard_effect {
    struct slice table; // of the item that is affected; any table of the model
    // One item: its bare key. Or, if `range` is set, all items of an index (or of the table, if the
    // name is empty) in that range: they are affected one by one.
    struct slice key;
    const struct key_range *range;
    struct slice index;
    // The name of a number that stands in for the item while there is none (notes of the table); or
    // empty.
    struct slice note;
    struct slice pending; // the rule's id, if it is of those that have to be backfilled
    bool own;     // about the very item that changes: done before all that others have to say of it
    bool needs;   // the item to be there, or fails
    bool lets_go; // what is needed may go later
    bool asks; // only whether the item that changes may be: not asked where the table has no model
    const void *rule; // the guard's own, as all below
    unsigned act;
    struct slice value;
    struct slice what; // in words, for errors
};

struct guard_effects {
    size_t count;
    size_t capacity;
    struct guard_effect *list;
};

// Room for one more, zeroed, in the arena; NULL if that is used up.
MUST_CHECK struct guard_effect *guard_effect_add(struct guard_effects *effects,
                                                 struct arena *arena);

// The moments at which a guard is asked for effects: each step of an image, whose contributions are
// the difference of what both images imply; the end, for what is said once of a whole change; and
// when a backfill touches an item, for what its image implies and may not be there: it is the same
// whether it is done once or twice.
enum guard_moment { EFFECTS_STEP, EFFECTS_END, EFFECTS_AGAIN };

struct guard_change {
    struct slice before; // VALUE_NONE where there is none
    struct slice after;
    bool expired; // removed by time to live
    // Items are brought back (guard_write.restored): what is counted and derived follows, but
    // nothing happens anew that has happened then, and what is referred to may come later.
    bool restored;
    // At EFFECTS_END, if the item has changed since it was told of its end: what was named then. It
    // is named anew, with what is not made of the item as it was; what does not follow any more is
    // taken back. Else NULL.
    const struct guard_effects *told;
    const struct write_origin *origin;
    const struct env *env;
    struct arena *arena;
    struct steps *steps; // or NULL
};

// An item that an effect is about, as it is planned so far.
struct guard_affected {
    // In and out.
    struct slice item; // VALUE_NONE if there is none
    struct slice note; // the number of that name, as a value; VALUE_NONE if there is none
    // Out.
    bool put;      // the image is a whole new item, to be completed as a put; else as a touch
    bool for_good; // a removal that soft delete does not soften
    bool orphan;   // the item that the effect follows from has no reason to be: it is removed
    // In.
    const struct env *env;
    const struct write_origin *origin;
    struct arena *arena;
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
    bool restored; // a put of an item as it was stored, before or elsewhere: nothing is set again
    bool touch;    // a backfill: complete what is there; what cannot be is left as it is
    bool derived;  // what the server does because of another change: see effects.c
    bool for_good; // a delete that soft delete does not soften: by time to live, or by a sweep
    const struct write_origin *origin; // or NULL
    struct guard_settled settled;      // of a prepared put
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

// Whose the item of a key is, to a request that is bound to a tenant: that of another tenant or of
// none, of which it must not learn whether there is one; what all may read; or its own, to read and
// to write. In this order.
enum guard_access { GUARD_FOREIGN, GUARD_NOBODYS, GUARD_SHARED, GUARD_OWN };

// What of an item a caller may know, by policies (docs/adr/026-model-policies.md): nothing, as if
// there were none; all but some attributes; all.
enum guard_sight { GUARD_SEES_NOTHING, GUARD_SEES_PART, GUARD_SEES_ALL };

// The attributes that are hidden from a caller in an item: borrowed from the guard.
struct guard_veil {
    size_t count;
    struct slice names[LIMIT_MODEL_HIDDEN];
};

// A write that is about to be done. Images are VALUE_NONE where there is none.
struct guard_ask {
    const struct write_origin *origin;
    struct slice before;
    struct slice after;
    struct slice sent; // as the client would have it, before the guard has completed it
    bool removes;      // a delete, although soft delete may leave an image
    bool taken;        // there is an item that the caller may not know of
};

struct guard;

// A number that the guard keeps in items of its table, and counts from items: the rule's id, what
// it does (another text is another rule), and the table of what is counted.
struct guard_count {
    struct slice rule;
    struct slice as;
    struct slice source;
};

struct guard_ops {
    // Completes and judges a write; false with a ValidationException, or with a
    // ConditionalCheckFailedException if the client has seen another version. error->details may
    // say more.
    // False without an error if it gave up: then nothing is known, and it can be asked again.
    bool (*write)(const struct guard *guard, struct guard_write *write, struct error *error);
    // Says that another item has a claimed value; always false. NULL for a plain sentence.
    bool (*taken)(const struct guard *guard, const struct guard_claim *claim, struct error *error);
    // Appends what follows from a change; false with the error set, or without one if the steps are
    // over. NULL if nothing ever follows: guard.effects says so, too.
    bool (*effects)(const struct guard *guard, const struct guard_change *change,
                    enum guard_moment moment, struct guard_effects *out, struct error *error);
    // Makes the new image, or the new note, of an item that an effect of this guard is about; false
    // with the error of the write that caused it.
    bool (*affect)(const struct guard *guard, const struct guard_effect *effect,
                   struct guard_affected *affected, struct error *error);
    // Whether the guard's model has a table of that name, too: then what follows from writes to
    // that one may be about items of this. NULL: any.
    bool (*knows)(const struct guard *guard, struct slice table);
    // What is counted into items of the table: borrowed from the guard. NULL if nothing is.
    size_t (*counts)(const struct guard *guard, const struct guard_count **list);
    // Whether what becomes of items of the guard's table is counted by that rule into items of
    // another table, of that name. NULL: it is.
    bool (*feeds)(const struct guard *guard, struct slice table, struct slice rule);
    // What the index of that name leaves out. NULL if none leaves anything out.
    struct guard_outsiders (*outsiders)(const struct guard *guard, struct slice index);
    // Whose the item of a key (an item that has the key attributes) is, to a tenant. It follows
    // from the key alone: what is stored has no say in it, so that no answer can tell of that. NULL
    // if no item belongs to a tenant: guard.tenants says so, too.
    enum guard_access (*access)(const struct guard *guard, struct slice tenant, struct slice key);
    // Whether a partition of the index of that name, or of the table if it is empty, can have an
    // item that the tenant may read.
    bool (*reaches)(const struct guard *guard, struct slice tenant, struct slice index,
                    const struct slice *hash);
    // What the caller may know of an item, of which it is given the whole image. NULL if there are
    // no policies: guard.policies says so, too.
    enum guard_sight (*sight)(const struct guard *guard, const struct write_origin *origin,
                              struct slice item, struct guard_veil *veil);
    // Whether the caller may write this; false with an AccessDeniedException.
    bool (*permit)(const struct guard *guard, const struct guard_ask *ask, struct error *error);
    void (*free)(struct guard *guard);
};

struct guard {
    const struct guard_ops *ops;
    _Atomic unsigned references;
    size_t claims; // the most values that an item claims
    bool effects;  // something may follow from a change
    bool tenants;  // items belong to tenants
    bool policies; // whoever asks may not see and write everything
    size_t looks;  // how much `access` has to look at: about the templates of the table
    bool notes;    // numbers stand in for items of the table that are not there
};

// Whose the item of a key is to whoever asks. NULL, or an origin that is not bound to a tenant,
// may do everything; where nothing belongs to tenants, a bound one may do nothing.
static inline enum guard_access guard_access(const struct guard *guard,
                                             const struct write_origin *origin, struct slice key)
{
    if (origin == NULL || !origin->bound)
        return GUARD_OWN;
    return guard == NULL || !guard->tenants ? GUARD_NOBODYS
                                            : guard->ops->access(guard, origin->tenant, key);
}

// Whether it is there for whoever asks.
static inline bool guard_shows(const struct guard *guard, const struct write_origin *origin,
                               struct slice key)
{
    return guard_access(guard, origin, key) >= GUARD_SHARED;
}

// Whether whoever asks is bound by policies of the guard.
static inline bool guard_binds(const struct guard *guard, const struct write_origin *origin)
{
    return guard != NULL && guard->policies && origin != NULL && origin->caller != NULL &&
           !origin->bypass;
}

// What whoever asks may know of an item, given its whole image.
static inline enum guard_sight guard_sight(const struct guard *guard,
                                           const struct write_origin *origin, struct slice item,
                                           struct guard_veil *veil)
{
    veil->count = 0;
    return guard_binds(guard, origin) ? guard->ops->sight(guard, origin, item, veil)
                                      : GUARD_SEES_ALL;
}

static inline bool guard_veil_has(const struct guard_veil *veil, struct slice name)
{
    for (size_t i = 0; i < veil->count; i++) {
        if (slice_equal(veil->names[i], name))
            return true;
    }
    return false;
}

// The item without what is hidden, through the builder; in an arena, VALUE_NONE if that is used up.
void guard_veil_put(const struct guard_veil *veil, struct slice item,
                    struct value_builder *builder);
MUST_CHECK struct slice guard_veiled(const struct guard_veil *veil, struct slice item,
                                     struct arena *arena);

// What an index leaves out, by a guard or NULL.
static inline struct guard_outsiders guard_outsiders_of(const struct guard *guard,
                                                        struct slice index)
{
    return guard == NULL || guard->ops->outsiders == NULL ? (struct guard_outsiders){.count = 0}
                                                          : guard->ops->outsiders(guard, index);
}

// What is counted into items of a table with that guard, or NULL.
static inline size_t guard_counts(const struct guard *guard, const struct guard_count **list)
{
    return guard == NULL || guard->ops->counts == NULL ? 0 : guard->ops->counts(guard, list);
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
