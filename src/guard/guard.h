// The guard of a table that has a model: see engine/guard.h for when it is called, docs/MODEL.md
// for what it does.
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include "engine/guard.h"
#include "eval/violation.h"
#include "model/model.h"

// One reference for the caller; it holds the model. NULL when memory is out.
MUST_CHECK struct guard *model_guard_new(struct model *model, const struct model_table *table);

// The table of a guard made here.
const struct model_table *model_guard_table(const struct guard *guard);

// Completes and judges the item of a put as far as this does not depend on what it replaces, so
// that the writer has less to do, and so that its primary key is known (a client need not send it).
// *item is replaced by the completed one, in the arena. Under `warn` and `off` it stays as it is.
// *settled becomes what is stored if the item is new, with the keys of indexes and all, if that can
// be said already.
// The work is counted in `steps`, if not NULL; beyond its limit it is given up: false, without an
// error.
MUST_CHECK bool model_guard_prepare(const struct guard *guard, const struct env *env,
                                    struct arena *arena, struct steps *steps, struct slice *item,
                                    struct guard_settled *settled, struct error *error);

// For a put of an item that is known to be of an entity (the data API): adds what tells so, the
// type attribute or else the primary key. Under `warn` and `off`, where the guard will change
// nothing, it completes all of the item, since who sends entities does not send keys. False if the
// item says that it is of another entity, or as model_guard_prepare is.
MUST_CHECK bool model_guard_address(const struct guard *guard, struct slice entity,
                                    const struct env *env, struct arena *arena, struct steps *steps,
                                    struct slice *item, struct error *error);

// Whether other items are derived from this one, or it is from another: a backfill sees to it that
// the one is there with the other, and not without.
bool model_guard_derives(const struct guard *guard, struct slice item);

// ---- What is wrong with an item --------------------------------------------------------------

// guard_write.details of a guard made here, in the write's arena: what is wrong with an item that
// is written all the same, as a list.
struct model_warned {
    const struct model_warned *next;
    const struct model_violations *what;
    bool passes;       // what is enforced lets it pass as well: `unknown warn`
    struct slice item; // of no entity: a copy, unless it is large
};

// Judges a stored item as it is, without changing it: does it fit, are its keys those derived from
// it? Returns the violations (count 0 if it is fine), or NULL when the arena is used up. For diff,
// lint and tests.
MUST_CHECK struct model_violations *model_guard_judge(const struct guard *guard,
                                                      struct arena *arena, struct slice item);

#endif
