// Whose an item is. A table of a model with `tenant a` has entities whose attribute `a` stands in
// the template of their partition key; so an item's tenant follows from its primary key, and
// nothing else is asked: neither the item's other attributes, nor whether there is an item at all.
// That is what makes it possible that no answer tells of what a tenant may not see.
//
// A key is a tenant's own if every entity that could have it says so: one whose template can be
// read in several ways, because a value contains what stands between two, belongs to nobody.
#ifndef GUARD_TENANT_H
#define GUARD_TENANT_H

#include "engine/guard.h"
#include "model/model.h"

// Whether items of the table belong to tenants at all.
bool tenant_rules(const struct model_table *table);

// See engine/guard.h: of the item of a key, and of a partition of an index (NULL: of the table).
enum guard_access tenant_access(const struct model_table *table, struct slice tenant,
                                struct slice key);
bool tenant_reaches(const struct model_table *table, struct slice tenant,
                    const struct model_index *index, const struct slice *hash);

// A put by a tenant need not say whose the item is: adds that, unless the item has the attribute or
// a partition key. False if the arena is used up.
MUST_CHECK bool tenant_complete(const struct model_table *table, struct slice tenant,
                                struct arena *arena, struct slice *item);

#endif
