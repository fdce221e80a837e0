// What the guard's files share: entities compiled for writing, and the write that is under way.
//
// Each entity has a fixed row of slots: one for every name that means something to it (attributes,
// keys of the table and its indexes, type and TTL attribute), sorted as the entries of an item are.
// So an item is taken apart into slots in one pass, everything works on slots, and the item is put
// together again in one pass, if anything changed.
#ifndef GUARD_GUARD_INTERNAL_H
#define GUARD_GUARD_INTERNAL_H

#include "eval/template.h"
#include "eval/validate.h"
#include "guard/entity.h"
#include "guard/guard.h"
#include "guard/permit.h"

enum { GUARD_NO_SLOT = UINT16_MAX };

struct guard_slot {
    struct slice name;
    struct slice head;                       // the name as an item's entry begins: length and bytes
    const struct model_attribute *attribute; // NULL if the entity does not declare it
    bool nested;                             // its type has fields to be completed
    bool index_key;                          // of any index of the table
    bool derived;                            // a key attribute that the server makes
    bool deferred;                           // not completed before the old image is known
};

// A part of the table's key or of an index entry.
struct guard_part {
    uint16_t slot;
    enum value_type type;
    const struct model_template *template;
    bool derived;  // else the item has it, or not, by itself
    uint16_t most; // bytes
};

struct guard_entry {
    const struct model_index *index;
    const struct model_test *when; // or NULL
    size_t part_count;
    struct guard_part parts[2 * LIMIT_KEY_PARTS];
};

struct guard_list {
    size_t count;
    const uint16_t *slots;
};

// One attribute, or several whose values together are claimed.
struct guard_unique {
    size_t count;
    const uint16_t *slots;
    struct slice prefix; // of the claim's name
    struct slice what;   // User.email
};

// An attribute that the server computes. What depends on the moment is not computed again by a
// backfill, nor judged in what is stored.
struct guard_computed {
    uint16_t slot;
    bool momentary;
};

// What holds for an entity's items beyond types, defaults and keys: see judgements.c. What needs no
// more than the model says is taken from there.
struct guard_rules {
    size_t computed_count;
    const struct guard_computed *computed;
    struct guard_list matched; // text that has to look like something
    size_t quota_count;
    const struct model_quota **quotas;
    uint16_t softdelete; // or GUARD_NO_SLOT
};

struct guard_entity {
    const struct model_entity *entity;
    size_t slot_count;
    const struct guard_slot *slots;
    const uint16_t *places; // slot of each attribute, for the scope
    size_t key_count;
    struct guard_part keys[2];
    size_t entry_count; // only those with something to derive
    const struct guard_entry *entries;
    size_t barred_count; // indexes whose whole key its items must not have
    const struct guard_entry *barred;
    struct guard_list derived; // slots of index keys that are derived
    struct guard_list attributes;
    struct guard_list normal;
    struct guard_list native; // optional attributes that are keys of indexes, of any entity
    struct guard_list nested;
    struct guard_list defaults;
    struct guard_list updates; // on update
    struct guard_list immutable;
    struct guard_list kept;    // a put that leaves them out keeps them
    struct guard_list watched; // what depends on the old image, in the order of slots
    struct guard_list renewed; // of these, what does so even if the client has sent it
    struct guard_list tallies; // what the server counts: see guard_kept.c
    size_t unique_count;
    const struct guard_unique *uniques;
    const struct model_idempotent *idempotent; // or NULL
    uint16_t version;                          // or GUARD_NO_SLOT
    uint16_t type;                             // the type attribute's slot, or GUARD_NO_SLOT
    struct slice type_value;
    struct slice name_value;         // the entity's name, as a value
    bool deferred;                   // some slots are
    const struct guard_rules *rules; // NULL for most entities
    bool asks; // who writes: a default says actor() or operation(), which the writer knows
};

static inline bool is_primary(const struct guard_entity *plan, uint16_t slot)
{
    return slot == plan->keys[0].slot || (plan->key_count > 1 && slot == plan->keys[1].slot);
}

struct model_guard {
    struct guard guard; // first
    struct model *model;
    const struct model_table *table;
    struct budget_account account; // of the arena, in the model's budget
    struct arena arena;
    const struct guard_entity *entities; // as table->entities
    struct guard_outsiders *outsiders;   // as table->indexes; NULL if there are none
    const struct guard_follows *follows; // as table->entities; NULL if nothing follows (effects.h)
    size_t count_count;                  // what is counted into items of the table
    const struct guard_count *counts;
    const struct permit_entity *permits; // as table->entities; NULL without policies (permit.h)
    bool kept;                           // some entities' items are the server's alone
    bool keeps; // removals are judged: there is an entity that is `append only`, or soft-deleted
};

static inline const struct model_guard *guard_of(const struct guard *guard)
{
    return (const struct model_guard *)guard;
}

static inline const struct guard_entity *plan_of(const struct model_guard *guard,
                                                 const struct model_entity *entity)
{
    return &guard->entities[entity - guard->table->entities];
}

// Compiles an entity; false when memory is out.
MUST_CHECK bool guard_compile(struct arena *arena, const struct model_entity *entity,
                              struct guard_entity *out);

// An entry of the item that has no slot.
struct guard_unknown {
    struct slice entry; // all its bytes
    struct slice name;
    struct slice value;
    size_t before; // the slot it stands before
};

// The occasions a guard is asked on.
enum guard_occasion {
    GUARD_PREPARE, // a put whose old image is not known yet
    GUARD_WRITE,
    GUARD_TOUCH, // nobody wrote: only complete
    GUARD_JUDGE, // change nothing, say what is wrong
};

struct guard_work {
    const struct guard_entity *plan;
    enum guard_occasion occasion;
    bool is_put;
    bool batch;    // one of many puts: a new item may have come a long way
    bool restored; // the item is brought back as it was
    bool touch;    // nobody wrote: a backfill
    bool derived;  // the server's own: what the client did has been judged
    bool prepared; // judged before; only what changes now has to be judged again
    bool fresh;    // there was no item of this entity at this key
    struct arena *arena;
    struct model_check *check;
    struct slice *values; // by slot, as they will be stored
    struct slice *sent;   // as they came
    struct slice *old;    // of the old image; all VALUE_NONE if there is none
    struct slice *wanted; // index keys as derived
    size_t unknown_count;
    struct guard_unknown *unknown;
    size_t count; // entries of the item that came
    struct model_scope scope;
    struct buf scratch;
    struct model_report violations;
    struct model_report warnings;
    bool stale;  // one of the violations is that the client has seen another version
    bool bound;  // one of them is to be refused even if the server itself has caused it
    bool failed; // the arena is used up
};

// derive.c: taking items apart, making values, putting items together.
MUST_CHECK bool work_init(struct guard_work *work, const struct guard_entity *plan,
                          const struct env *env, struct arena *arena, struct model_check *check);
void work_release(struct guard_work *work);
// Takes a made value; a missing one means that the arena is used up.
void work_set(struct guard_work *work, uint16_t slot, struct slice value);
// Values by slot; what has no slot goes to work->unknown if `unknown`.
void work_load(struct guard_work *work, struct slice item, struct slice *values, bool unknown);
void work_normalise(struct guard_work *work);
void work_nulls(struct guard_work *work);   // that cannot be stored
void work_objects(struct guard_work *work); // what is inside of them
// The value in its attribute's normal form; without memory, no value.
struct slice work_normal_of(struct guard_work *work, const struct model_attribute *attribute,
                            struct slice value);
// The path that an expression begins with, or NULL.
const struct model_expr *work_first_path(const struct model_expr *expr);
// The normal form of the i-th slot that has one, if its value is text; else VALUE_NONE.
struct slice work_normal(struct guard_work *work, size_t i);
void work_read_keys(struct guard_work *work);
void work_defaults(struct guard_work *work);
void work_type(struct guard_work *work);
void work_primary_key(struct guard_work *work);
void work_index_keys(struct guard_work *work);
// The keys of indexes as they are if the old image has no say in them; false if it has, or if there
// is no memory. *changed tells whether any were missing.
MUST_CHECK bool work_settle_keys(struct guard_work *work, bool *changed);
// The item of the values: `item` itself if nothing changed; VALUE_NONE if the arena is used up.
MUST_CHECK struct slice work_store(struct guard_work *work, struct slice item);

// guard_claims.c: unique values.
// Whether there was no item of this entity at this key.
bool guard_is_fresh(const struct model_guard *guard, const struct guard_entity *plan,
                    const struct guard_write *write, struct model_check *check);
// Claims what the new image has, and gives back what only the old one had.
MUST_CHECK bool guard_claim_values(const struct model_guard *guard, const struct guard_entity *plan,
                                   struct guard_write *write, struct model_check *check,
                                   struct error *error);
// Gives back all that the old image had, whatever the new one is.
MUST_CHECK bool guard_give_back(const struct model_guard *guard, struct guard_write *write,
                                struct model_check *check, struct error *error);
bool guard_taken(const struct guard *base, const struct guard_claim *claim, struct error *error);

// guard_say.c: what is said of a write.
// A line to its warnings.
MUST_CHECK bool guard_warn(struct guard_write *write, struct slice line, struct error *error);
MUST_CHECK bool guard_warn_report(struct guard_write *write, const struct model_entity *entity,
                                  const struct model_report *report, bool passes,
                                  struct error *error);
// One violation of the item as a whole; NULL if the arena is used up.
struct model_violations *guard_whole_item(struct slice expected, struct slice actual,
                                          struct arena *arena);
struct model_violations *guard_unmatched_details(const struct model_table *table,
                                                 const struct model_recognition *recognition,
                                                 struct slice item, struct arena *arena);
// Whether an item of no entity is refused where the model is enforced; and refusing it.
bool guard_is_refused(const struct model_table *table, const struct model_recognition *recognition);
bool guard_refuse_unmatched(const struct model_table *table,
                            const struct model_recognition *recognition, struct slice item,
                            struct error *error);
MUST_CHECK bool guard_write_unmatched(const struct model_guard *guard, struct guard_write *write,
                                      const struct model_recognition *recognition,
                                      struct error *error);

// judgements.c: the rules of an entity. All but the first are for entities that have some.
MUST_CHECK bool guard_compile_rules(struct arena *arena, struct guard_entity *plan);
// Whether a default of the entity says actor() or operation().
bool guard_asks(const struct model_entity *entity);
void work_undeleted(struct guard_work *work);
void work_computed(struct guard_work *work); // attributes that are `always` something
void work_quotas(struct guard_work *work);   // a count whose period is over begins anew
// Judges what came of it. `append only` is told of the item as it came.
void work_judge_rules(struct guard_work *work, struct slice item, struct slice before);
// The same of an item that is stored, of which nobody knows how it came about.
void work_judge_stored(struct guard_work *work);
// Says that an item of an entity that is `append only` is to be removed.
void work_report_removal(struct guard_work *work);

// guard.c: completes a new item that the server makes as far as its key needs it.
MUST_CHECK bool guard_complete_new(const struct guard_entity *plan, const struct env *env,
                                   struct arena *arena, struct model_check *check,
                                   struct slice *item, struct error *error);

// permit.c: policies.
enum guard_sight guard_sees(const struct guard *base, const struct write_origin *origin,
                            struct slice item, struct guard_veil *veil);
MUST_CHECK bool guard_permits(const struct guard *base, const struct guard_ask *ask,
                              struct error *error);

// guard_outsiders.c: what indexes leave out, by name, and for all of them at once.
struct guard_outsiders guard_outsiders_in(const struct guard *base, struct slice index);
MUST_CHECK bool guard_fill_outsiders(struct model_guard *guard);

// guard_kept.c: what is the server's.
// Gives the attributes that the server counts their values; a client may repeat them.
void work_tallies(struct guard_work *work);
// Whether the write is not one of a client to items that only the server writes.
MUST_CHECK bool guard_kept_allows(const struct model_guard *guard, const struct guard_write *write,
                                  struct model_check *check, struct error *error);

// derive_nested.c: defaults and normal forms inside of objects. The value itself if there is
// nothing to do. `old` is what stood there before, or VALUE_NONE.
struct slice work_nested(struct guard_work *work, const struct model_type *type, struct slice value,
                         struct slice old);
bool nested_needed(const struct model_type *type);

#endif
