// The life of a model, and looking things up in it.
#include "model/model.h"

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

// FINDER(function, of what, what it finds, its list, how many there are)
#define FINDER(function, owner, found, list, count)                                                \
    const struct found *function(const struct owner *of, struct slice name)                        \
    {                                                                                              \
        for (size_t i = 0; i < of->count; i++)                                                     \
            if (slice_equal(of->list[i].name, name))                                               \
                return &of->list[i];                                                               \
        return NULL;                                                                               \
    }

FINDER(model_table, model, model_table, tables, table_count)
FINDER(model_table_index, model_table, model_index, indexes, index_count)
FINDER(model_table_entity, model_table, model_entity, entities, entity_count)
FINDER(model_table_access, model_table, model_access, accesses, access_count)
FINDER(model_type_field, model_type, model_attribute, fields, field_count)

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

static bool is_first_of_kind(const struct model *model, size_t rule)
{
    for (size_t i = 0; i < rule; i++) {
        if (slice_equal(model->rules[i].kind, model->rules[rule].kind))
            return false;
    }
    return true;
}

void model_note(const struct model *model, struct buf *out)
{
    if (model->rule_count == 0)
        return;
    buf_text(out, "the server does not act on rules yet: ");
    for (size_t i = 0; i < model->rule_count; i++) {
        if (is_first_of_kind(model, i))
            buf_printf(out, i == 0 ? "%.*s" : ", %.*s", SLICE_FMT(model->rules[i].kind));
    }
}
