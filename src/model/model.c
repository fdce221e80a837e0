// The life of a model, and looking things up in it.
#include "model/model.h"

#include <stdlib.h>

struct model *model_hold(struct model *model)
{
    model->references++;
    return model;
}

void model_release(struct model *model)
{
    if (model == NULL || --model->references > 0)
        return;
    struct budget_account account = model->account; // the model itself lives in its arena
    struct arena arena = model->arena;
    arena.account = &account;
    arena_release(&arena);
}

const struct model_table *model_table(const struct model *model, struct slice name)
{
    for (size_t i = 0; i < model->table_count; i++)
        if (slice_equal(model->tables[i].name, name))
            return &model->tables[i];
    return NULL;
}

const struct model_index *model_table_index(const struct model_table *table, struct slice name)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (slice_equal(table->indexes[i].name, name))
            return &table->indexes[i];
    return NULL;
}

const struct model_entity *model_table_entity(const struct model_table *table, struct slice name)
{
    for (size_t i = 0; i < table->entity_count; i++)
        if (slice_equal(table->entities[i].name, name))
            return &table->entities[i];
    return NULL;
}

const struct model_access *model_table_access(const struct model_table *table, struct slice name)
{
    for (size_t i = 0; i < table->access_count; i++)
        if (slice_equal(table->accesses[i].name, name))
            return &table->accesses[i];
    return NULL;
}

const struct model_attribute *model_entity_attribute(const struct model_entity *entity,
                                                     struct slice name)
{
    size_t low = 0;
    size_t high = entity->attribute_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct model_attribute *found = &entity->attributes[entity->by_name[middle]];
        int order = slice_compare(found->name, name);
        if (order == 0)
            return found;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct model_attribute *model_type_field(const struct model_type *type, struct slice name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (slice_equal(type->fields[i].name, name))
            return &type->fields[i];
    return NULL;
}
