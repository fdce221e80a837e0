// Indexes: what the access patterns of an index of the model need, what is unique, and what a
// mapping names.
#include "sql/make.h"

static bool add_index(struct sql_maker *m, struct sql_table *table, struct sql_index index)
{
    enum { STEP = 8 };
    struct sql_index *list = (struct sql_index *)table->indexes;
    bool *descending =
        index.descending == NULL ? make_alloc(m, index.columns.count, sizeof *descending) : NULL;
    if (table->index_count % STEP == 0) {
        list = make_alloc(m, table->index_count + STEP, sizeof *list);
        if (list != NULL && table->index_count > 0)
            memcpy(list, table->indexes, table->index_count * sizeof *list);
    }
    if (list == NULL || (index.descending == NULL && descending == NULL))
        return false;
    if (index.descending == NULL)
        index.descending = descending;
    list[table->index_count++] = index;
    table->indexes = list;
    return true;
}

// The columns of attributes; *all is false if one has none.
static bool columns_of(struct sql_maker *m, const struct sql_table *table, size_t count,
                       const struct model_attribute *const *attributes, struct sql_columns *out,
                       bool *all)
{
    size_t *list = make_alloc(m, count, sizeof *list);
    *all = true;
    if (list == NULL)
        return false;
    *out = (struct sql_columns){0, list};
    for (size_t i = 0; i < count; i++) {
        const struct sql_column *column = sql_column_of(table, attributes[i]);
        *all = *all && column != NULL;
        if (column != NULL)
            list[out->count++] = (size_t)(column - table->columns);
    }
    return true;
}

// ---- Entries of the model's indexes
// --------------------------------------------------------------

// Whether an access pattern finds the entity through the index.
static bool index_used(const struct model_entity *entity, const struct model_index *index)
{
    const struct model_table *table = entity->table;
    for (size_t i = 0; i < table->access_count; i++) {
        const struct model_access *access = &table->accesses[i];
        for (size_t k = 0; access->index == index && k < access->entity_count; k++) {
            if (access->entities[k] == entity)
                return true;
        }
    }
    return false;
}

// What must hold for an expression to have a value: conditions, with AND between them; empty if it
// always has one. Of `a ?? b` one is enough.
static struct slice there_text(struct writer *w, const struct sql_table *table,
                               const struct model_expr *expr)
{
    struct slice all = {NULL, 0};
    if (expr->kind == MODEL_EXPR_PATH)
        return expr->attribute == NULL || attribute_always(expr->attribute)
                   ? all
                   : TEXT(w, "%s IS NOT NULL", sql_column(w, table, expr->attribute));
    for (size_t i = 0; i < expr->arg_count; i++) {
        struct slice one = there_text(w, table, expr->args[i]);
        if (expr->kind == MODEL_EXPR_ELSE && one.len == 0)
            return one;
        if (one.len > 0)
            text_add_once(w, &all, expr->kind == MODEL_EXPR_ELSE ? " OR " : " AND ", one);
    }
    return expr->kind == MODEL_EXPR_ELSE ? TEXT(w, "(%s)", all) : all;
}

static void add_part_there(struct writer *w, const struct sql_table *table,
                           const struct model_key_part *part, struct slice *all)
{
    const struct model_attribute *native = model_entity_attribute(table->entity, part->name);
    if (part->template == NULL && native != NULL && !attribute_always(native))
        text_add_once(w, all, " AND ", TEXT(w, "%s IS NOT NULL", sql_column(w, table, native)));
    for (size_t i = 0; part->template != NULL && i < part->template->segment_count; i++) {
        const struct model_expr *expr = part->template->segments[i].expr;
        struct slice one = expr == NULL ? slice_of(NULL, 0) : there_text(w, table, expr);
        if (one.len > 0)
            text_add_once(w, all, " AND ", one);
    }
}

static bool make_entry(struct sql_maker *m, struct sql_table *table,
                       const struct model_entry *entry)
{
    struct writer *w = &m->w;
    struct fields fields = {0};
    struct sql_index index = {0};
    bool all = false;
    fields_of_entry(&fields, table->entity, entry);
    if (fields.count == 0 || !index_used(table->entity, entry->index))
        return true;
    if (!columns_of(m, table, fields.count, fields.list, &index.columns, &all))
        return false;
    if (!all)
        return true;
    index.name = make_name(m, TEXT(w, "%s_idx",
                                   text_snake(w, TEXT(w, "%s_%s", text_entity(w, table->entity),
                                                      entry->index->name))));
    // A partial index is to SQL what a sparse one is to DynamoDB.
    struct slice when = entry->when != NULL ? sql_test(w, table, entry->when) : index.where;
    if (when.len > 0)
        text_add(w, &index.where, " AND ", TEXT(w, "(%s)", when));
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++)
        add_part_there(w, table, &entry->parts[i], &index.where);
    return add_index(m, table, index);
}

// ---- What is unique
// ------------------------------------------------------------------------------

// Values of what is deleted are free.
static bool make_unique(struct sql_maker *m, struct sql_table *table, size_t count,
                        const struct model_attribute *const *attributes)
{
    struct sql_index index = {.unique = true};
    const struct model_attribute *softdelete = table->entity->softdelete;
    bool all = false;
    if (!columns_of(m, table, count, attributes, &index.columns, &all))
        return false;
    if (!all || (softdelete != NULL && sql_column_of(table, softdelete) == NULL))
        return true;
    if (softdelete != NULL)
        index.where = TEXT(&m->w, "%s IS NULL", sql_column(&m->w, table, softdelete));
    index.name = make_index_name(m, table, &index.columns, "unique");
    return add_index(m, table, index);
}

bool make_default_indexes(struct sql_maker *m, struct sql_table *table)
{
    const struct model_entity *entity = table->entity;
    for (size_t i = 0; i < entity->entry_count; i++)
        if (entity->entries[i].stated && !make_entry(m, table, &entity->entries[i]))
            return false;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->unique && !make_unique(m, table, 1, &attribute))
            return false;
    }
    for (size_t i = 0; i < entity->unique_count; i++)
        if (!make_unique(m, table, entity->uniques[i].count, entity->uniques[i].attributes))
            return false;
    return true;
}

// ---- What a mapping names
// ------------------------------------------------------------------------

bool make_mapped_indexes(struct sql_maker *m, struct sql_table *table,
                         const struct model_mapping *mapping)
{
    for (size_t i = 0; i < mapping->unique_count + mapping->index_count; i++) {
        bool unique = i < mapping->unique_count;
        const struct model_columns *one =
            unique ? &mapping->uniques[i] : &mapping->indexes[i - mapping->unique_count];
        struct sql_index index = {.unique = unique, .descending = one->descending};
        if (!make_columns(m, table, one, &index.columns))
            return false;
        index.name = one->name.len > 0
                         ? one->name
                         : make_index_name(m, table, &index.columns, unique ? "key" : "idx");
        if (!add_index(m, table, index))
            return false;
    }
    return true;
}
