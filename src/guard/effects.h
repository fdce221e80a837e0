// What follows from a change of an item by the rules of its model (docs/adr/019-rules.md):
// engine/guard.h says when a guard is asked, engine/effects.c does what it says.
//
// effects.c names what follows, effects_do.c does it to an item, effects_make.c makes items and
// keys of what rules say, effects_compile.c finds the rules that concern an entity.
#ifndef GUARD_EFFECTS_H
#define GUARD_EFFECTS_H

#include "guard/address.h"
#include "guard/guard_internal.h"
#include "model/rules.h"

// What an effect does: guard_effect.act.
enum effect_act {
    EFFECT_PUT,     // value: the item; rule: a model_made
    EFFECT_ENSURE,  // the same, unless the item has all that
    EFFECT_REMOVE,  // rule: a model_made
    EFFECT_COUNT,   // value: a number to add; rule: a model_tally
    EFFECT_COLLECT, // the item takes its note
    EFFECT_LEAVE,   // value: what the item had, for the note
    EFFECT_NEED,    // value: the attributes that refer; rule: a model_reference
    EFFECT_GONE,    // value: attributes of those that refer; rule: a model_reference
    EFFECT_SOURCE,  // value: the key of an item that only this one may imply; rule: a model_made
};

// A rule that makes items, and its target compiled.
struct guard_maker_rule {
    const struct model_made *made;
    const struct guard_entity *target;
};

// Attributes of an image, by what they are called elsewhere.
struct effect_pair {
    const struct model_attribute *from; // of the image
    const struct model_attribute *to;   // of the entity whose key is made
};

// The rule that derives an entity's items, and how the key of an item's source follows from its
// own: each attribute of that key is one of this.
struct guard_origin_rule {
    const struct model_made *made; // NULL: none, or the source does not follow
    size_t count;
    struct effect_pair pairs[MODEL_ADDRESS_MAX];
};

// All that concerns an entity's items.
struct guard_follows {
    const struct guard_origin_rule *origin; // or NULL
    size_t derive_count;
    const struct guard_maker_rule *derives;
    size_t event_count; // emit, audit
    const struct guard_maker_rule *events;
    size_t source_count; // tallies that count its items
    const struct model_tally **sources;
    size_t target_count; // tallies that are its attributes
    const struct model_tally **targets;
    size_t reference_count; // its own
    const struct model_reference **references;
    size_t referred_count; // those of others to it
    const struct model_reference **referred;
};

// Compiles the rules of the guard's model that concern its table, whose entities are compiled;
// false when memory is out.
MUST_CHECK bool guard_compile_follows(struct model_guard *guard);

bool guard_knows(const struct guard *guard, struct slice table);
bool guard_feeds(const struct guard *guard, struct slice table, struct slice rule);
size_t guard_counts_in(const struct guard *guard, const struct guard_count **list);
bool guard_effects(const struct guard *guard, const struct guard_change *change,
                   enum guard_moment moment, struct guard_effects *out, struct error *error);
bool guard_affect(const struct guard *guard, const struct guard_effect *effect,
                  struct guard_affected *affected, struct error *error);

// Whether a stored number (value/number.h) is zero.
static inline bool effect_is_zero(struct slice stored)
{
    return stored.len == 1 && stored.ptr[0] == 0x80;
}

// ---- What the files share ------------------------------------------------------------------

// A change that is being looked at. Images are VALUE_NONE where there is none, and so are, in
// `gone` and `here`, those that are deleted softly.
struct effect_work {
    const struct model_guard *guard;
    const struct guard_change *change;
    struct guard_effects *out;
    struct model_check *check;
    struct error *error;
    const struct model_entity *entity;
    const struct guard_follows *rules;
    struct slice before;
    struct slice after;
    struct slice gone; // before, if it was there
    struct slice here; // after, if it is there
};

// The image, or VALUE_NONE if it is deleted softly.
struct slice effect_live(const struct model_entity *entity, struct slice image);
// Whether an item is one of the entity.
bool effect_is(struct model_check *check, const struct model_entity *entity, struct slice item);

// The item that a rule makes of an image, without keys and defaults. `each` is the member, or
// VALUE_NONE.
struct model_scope effect_scope(const struct effect_work *work, struct slice image);
MUST_CHECK bool effect_make(const struct effect_work *work, const struct model_made *made,
                            struct slice image, struct slice each, struct slice event,
                            struct slice *item);
// Gives an item that a rule makes anew what the one that it made before had beyond what the rule
// says: ids, times.
MUST_CHECK bool effect_remake(const struct effect_work *work, const struct model_made *made,
                              struct slice before, struct slice *item);
// Adds what its key is made of, and the key; *key is the bare key.
MUST_CHECK bool effect_complete(const struct effect_work *work, const struct guard_entity *target,
                                struct slice *item, struct slice *key);

// The bare key of the entity's item that the pairs name, VALUE_NONE if something is missing for it.
MUST_CHECK bool effect_key(struct arena *arena, const struct model_entity *entity,
                           const struct effect_pair *pairs, size_t count, struct slice image,
                           struct slice *key, struct error *error);
// The range of the items that refer to one: see struct model_reference. NULL if none can.
MUST_CHECK bool effect_range(struct arena *arena, const struct model_reference *reference,
                             struct slice target, struct key_range **range, struct slice *values,
                             struct error *error);

// Whether an image of the rule's source implies an item of that key: false in *answer also if it is
// none, or deleted softly.
MUST_CHECK bool effect_implies(const struct effect_work *work, const struct model_made *made,
                               struct slice image, struct slice key, bool *answer);

// Whether whoever asks is bound to a tenant that may not know of the item of that key.
bool effect_hidden(const struct model_table *table, const struct write_origin *origin,
                   struct slice key);
// Says that what is referred to is not there; always false.
bool effect_missing(const struct model_reference *reference, struct slice value,
                    struct error *error);

// The item with another value, or without one (VALUE_NONE).
MUST_CHECK bool effect_with(struct arena *arena, struct slice item, struct slice name,
                            struct slice value, struct slice *out, struct error *error);

#endif
