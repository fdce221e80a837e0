// Rules about indexes: those nobody needs, and what they cost.
#include "lint/cost.h"
#include "lint/lint_internal.h"

#include "model/rules.h"

enum {
    WIDE = 2048,    // bytes of an item that are worth a projection
    MANY_UNITS = 8, // of one write
};

static size_t entries_in(const struct model_table *table, const struct model_index *index)
{
    size_t count = 0;
    for (size_t i = 0; i < table->entity_count; i++) {
        struct lint_key key;
        count += lint_key_of(&table->entities[i], index, &key);
    }
    return count;
}

// Patterns that read the index, and references whose items are found by it.
static size_t patterns_via(const struct model_table *table, const struct model_index *index,
                           const struct model_entity *entity)
{
    const struct model_rules *rules = table->model->rules_of;
    size_t count = 0;
    for (size_t i = 0; i < rules->reference_count; i++)
        count += rules->references[i]->index == index &&
                 (entity == NULL || rules->references[i]->entity == entity);
    for (size_t i = 0; i < table->access_count; i++) {
        const struct model_access *access = &table->accesses[i];
        bool names = entity == NULL;
        for (size_t k = 0; k < access->entity_count; k++)
            names = names || access->entities[k] == entity;
        count += access->index == index && names;
    }
    return count;
}

// ---- L014, L015 ----------------------------------------------------------------------------

// A model without any pattern has not come so far; that is said once, of its entities.
void lint_unused_index(struct lint *lint, const struct model_table *table,
                       const struct model_index *index)
{
    if (table->access_count == 0 || entries_in(table, index) == 0)
        return;
    if (patterns_via(table, index, NULL) == 0) {
        lint_find(lint, index->at, NULL, "no access pattern uses %.*s", SLICE_FMT(index->name));
        return;
    }
    for (size_t i = 0; i < table->entity_count; i++) {
        struct lint_key key;
        if (lint_key_of(&table->entities[i], index, &key) &&
            patterns_via(table, index, key.entity) == 0)
            lint_find(lint, key.at,
                      lint_text(lint,
                                "remove the entry, or write the pattern that reads it: "
                                "access … = %.*s via %.*s",
                                SLICE_FMT(key.entity->name), SLICE_FMT(index->name)),
                      "no access pattern reads %.*s via %.*s", SLICE_FMT(key.entity->name),
                      SLICE_FMT(index->name));
    }
}

void lint_empty_index(struct lint *lint, const struct model_table *table,
                      const struct model_index *index)
{
    if (table->entity_count > 0 && entries_in(table, index) == 0)
        lint_find(lint, index->at, NULL, "no entity fills %.*s of %.*s, so %.*s stays empty",
                  SLICE_FMT(index->keys.parts[0].name), SLICE_FMT(table->name),
                  SLICE_FMT(index->name));
}

// ---- L016 ----------------------------------------------------------------------------------

static bool same_parts(const struct lint_key *a, const struct lint_key *b, size_t from_a,
                       size_t from_b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!slice_equal(lint_part_source(&a->parts[from_a + i]),
                         lint_part_source(&b->parts[from_b + i])))
            return false;
    return true;
}

// The hash tells nothing that the sort key does not: it is constant, or has a few values.
static bool hash_is_coarse(const struct lint_key *key)
{
    enum { COARSE = 16 };
    struct lint_fields fields;
    lint_key_fields(key, LINT_HASH, &fields);
    size_t values = lint_fields_cardinality(&fields);
    return lint_key_constant(key, LINT_HASH) || (values > 0 && values <= COARSE);
}

static bool same_keys(const struct lint_key *a, const struct lint_key *b, bool *coarse)
{
    const struct key_schema *in_a = a->schema;
    const struct key_schema *in_b = b->schema;
    if (in_a->hash_count != in_b->hash_count || in_a->range_count != in_b->range_count)
        return false;
    bool range = same_parts(a, b, in_a->hash_count, in_b->hash_count, in_a->range_count);
    bool hash = same_parts(a, b, 0, 0, in_a->hash_count);
    *coarse = !hash;
    return range && (hash || (in_a->range_count > 0 && !lint_key_constant(a, LINT_RANGE) &&
                              hash_is_coarse(a) && hash_is_coarse(b)));
}

void lint_duplicate_index(struct lint *lint, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    for (size_t i = 0; i < table->index_count; i++) {
        for (size_t k = i + 1; k < table->index_count; k++) {
            struct lint_key a;
            struct lint_key b;
            bool coarse = false;
            if (!lint_key_of(entity, &table->indexes[i], &a) ||
                !lint_key_of(entity, &table->indexes[k], &b) || !same_keys(&a, &b, &coarse))
                continue;
            lint_find(lint, b.at, NULL,
                      coarse ? "%.*s is kept in %.*s and %.*s in the same order: %s"
                             : "%.*s has the same keys in %.*s and %.*s: %s",
                      SLICE_FMT(entity->name), SLICE_FMT(a.index->name), SLICE_FMT(b.index->name),
                      lint_key_source(lint, &b, LINT_RANGE));
        }
    }
}

// ---- L017, L018, L031 ------------------------------------------------------------------------

// Large items copied whole into an index that only finds one of them, or that many fall into.
void lint_wide_projection(struct lint *lint, const struct model_table *table,
                          const struct model_index *index)
{
    if (index->projection != MODEL_PROJECT_ALL)
        return;
    const struct model_entity *largest = NULL;
    size_t most = 0;
    for (size_t i = 0; i < table->entity_count; i++) {
        struct lint_key key;
        size_t size = cost_entity_size(&table->entities[i]);
        if (lint_key_of(&table->entities[i], index, &key) && size > most) {
            most = size;
            largest = &table->entities[i];
        }
    }
    if (largest != NULL && most >= WIDE)
        lint_find(lint, index->at, NULL,
                  "%.*s projects all of an item, and %.*s has about %zu bytes: %zu write units "
                  "for each change",
                  SLICE_FMT(index->name), SLICE_FMT(largest->name), most, (most + 1023) / 1024);
}

void lint_write_amplification(struct lint *lint, const struct model_entity *entity)
{
    struct cost_write cost;
    cost_entity_write(entity, 0, &cost);
    if (cost.put >= MANY_UNITS && cost.index_count > 2)
        lint_find(lint, entity->at, NULL,
                  "a new %.*s costs %llu write units: the table and %zu indexes",
                  SLICE_FMT(entity->name), (unsigned long long)cost.put, cost.index_count);
}

void lint_local_index(struct lint *lint, const struct model_table *table,
                      const struct model_index *index)
{
    if (index->local)
        lint_find(lint, index->at, NULL, "%.*s is a local index of %.*s", SLICE_FMT(index->name),
                  SLICE_FMT(table->name));
}

// ---- L033 ------------------------------------------------------------------------------------

void lint_outsider(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_index *index = entity->entries[i].index;
        struct model_place at = entity->at;
        bool all = entity->entries[i].outside;
        for (size_t k = 0; all && k < index->keys.hash_count + index->keys.range_count; k++) {
            struct slice name = index->keys.parts[k].name;
            const struct model_attribute *own = model_entity_attribute(entity, name);
            at = own != NULL ? own->at : at;
            all = own != NULL || slice_equal(name, entity->keys[0].name) ||
                  slice_equal(name, entity->keys[1].name);
        }
        if (all)
            lint_find(lint, at, NULL, "%.*s has the attributes of %.*s, but is not in it",
                      SLICE_FMT(entity->name), SLICE_FMT(index->name));
    }
}
