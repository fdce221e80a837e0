// The life of a model, and looking things up in it.
#include "model/model.h"

#include "model/rules.h"

#include <stddef.h>

// ---- Words --------------------------------------------------------------------------------------

const char *const model_mode_words[] = {"off", "warn", "enforce", NULL};
const char *const model_leave_words[] = {"allow", "warn", "reject", NULL};
const char *const model_stream_words[] = {"off",       "keys_only",          "new_image",
                                          "old_image", "new_and_old_images", NULL};
const char *const model_separator_words[] = {"any", "forbid", "escape", NULL};
const char *const model_form_words[] = {"any", "seconds", "milliseconds", "microseconds", NULL};
const char *const model_op_words[] = {
#define X(op, text) text,
    MODEL_OP_LIST(X)
#undef X
        NULL};
const char *const model_function_words[] = {
#define X(function, name, least, most) name,
    MODEL_FUNCTION_LIST(X)
#undef X
};

// In the order in which a file has them.
const struct model_modifier model_modifiers[] = {
    {"unique", offsetof(struct model_attribute, unique), 0},
    {"immutable", offsetof(struct model_attribute, immutable), 0},
    {"version", offsetof(struct model_attribute, version), 0},
    {"always", offsetof(struct model_attribute, always), 0},
    {"lower", 0, MODEL_LOWER},
    {"upper", 0, MODEL_UPPER},
    {"trim", 0, MODEL_TRIM},
    {"squeeze", 0, MODEL_SQUEEZE},
    {"nfc", 0, MODEL_NFC},
    {"deprecated", offsetof(struct model_attribute, deprecated), 0},
    {NULL, 0, 0},
};

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

void model_expr_visit(const struct model_expr *expr,
                      void (*visit)(void *context, const struct model_expr *part), void *context)
{
    visit(context, expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        model_expr_visit(expr->args[i], visit, context);
    for (size_t i = 0; expr->kind == MODEL_EXPR_TEMPLATE && i < expr->template->segment_count; i++)
        if (expr->template->segments[i].expr != NULL)
            model_expr_visit(expr->template->segments[i].expr, visit, context);
}

// ---- What a pattern can know of items that are deleted softly
// --------------------------------------

bool model_access_reads(const struct model_access *access, struct slice name)
{
    const struct model_index *index = access->index;
    if (name.len == 0)
        return false;
    if (index == NULL || index->projection == MODEL_PROJECT_ALL)
        return true;
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++) {
        if (slice_equal(index->keys.parts[i].name, name))
            return true;
    }
    for (size_t i = 0; i < index->include_count; i++) {
        if (slice_equal(index->include[i], name))
            return true;
    }
    return false;
}

// Whether the entity's entries of the index are there only while its items are not deleted.
static bool entry_follows(const struct model_access *access, const struct model_entity *entity)
{
    const struct model_test *when =
        access->index == NULL ? NULL : entity->entries[access->index - access->table->indexes].when;
    if (when == NULL || when->clause_count != 1)
        return false;
    for (size_t i = 0; i < when->clauses[0].count; i++) {
        const struct model_comparison *one = &when->clauses[0].list[i];
        if (one->op == MODEL_OP_MISSING && one->left->kind == MODEL_EXPR_PATH &&
            one->left->step_count == 1 &&
            slice_equal(one->left->steps[0], entity->softdelete->name))
            return true;
    }
    return false;
}

bool model_access_meets_deleted(const struct model_access *access,
                                const struct model_entity *entity)
{
    return entity->softdelete != NULL && !entry_follows(access, entity);
}
