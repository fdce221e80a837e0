// What indexes leave out: see guard_internal.h.
#include "guard/guard_internal.h"

struct guard_outsiders guard_outsiders_in(const struct guard *base, struct slice index)
{
    const struct model_guard *guard = guard_of(base);
    const struct model_index *found = model_table_index(guard->table, index);
    return found == NULL || guard->outsiders == NULL
               ? (struct guard_outsiders){.count = 0}
               : guard->outsiders[found - guard->table->indexes];
}

// An index leaves out the entities that have its attributes, and are not in it. That an item is of
// one of these is told by the table's type attribute alone: so an entry stays a function of its
// item and its index (engine/index.c).
bool guard_fill_outsiders(struct model_guard *guard)
{
    const struct model_table *table = guard->table;
    if (table->type_attribute.len == 0)
        return true;
    guard->outsiders =
        arena_zalloc(&guard->arena, table->index_count + 1, sizeof(*guard->outsiders));
    for (size_t i = 0; guard->outsiders != NULL && i < table->index_count; i++) {
        struct slice *values =
            arena_zalloc(&guard->arena, table->entity_count + 1, sizeof(*values));
        struct guard_outsiders *out = &guard->outsiders[i];
        if (values == NULL)
            return false;
        *out = (struct guard_outsiders){.attribute = table->type_attribute, .values = values};
        for (size_t k = 0; k < table->entity_count; k++)
            if (table->entities[k].entries[i].outside && table->entities[k].guard == MODEL_ENFORCE)
                values[out->count++] = table->entities[k].type_value;
    }
    return guard->outsiders != NULL;
}
