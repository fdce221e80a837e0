// `dolmen generate sql`: one table for each entity, for PostgreSQL and SQLite. The primary key is
// made of the attributes in the entity's key; literals, ranges and required members are checked;
// what the access patterns of an index need is indexed; and a view has the items' keys as DynamoDB
// has them, so that rows and items can be told to be the same.
#include "generate/sql.h"

// ---- Tables ----------------------------------------------------------------------------------

static struct slice column_list(struct writer *w, const struct model_entity *entity,
                                const struct fields *fields)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < fields->count; i++)
        text_add(w, &list, ", ", sql_column(w, entity, fields->list[i]));
    return list;
}

static bool all_there(const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (!attribute_always(fields->list[i]))
            return false;
    }
    return true;
}

static void column(struct writer *w, const struct model_entity *entity,
                   const struct model_attribute *attribute)
{
    // SQLite keeps the text of a statement, comments and all; PostgreSQL has COMMENT ON.
    if (is_sqlite(w))
        text_comment(w->out, "  -- ", attribute->doc);
    PUT(w, "  %s %s%s", sql_column(w, entity, attribute), sql_type(w, sql_kind(attribute->type)),
        slice_str(attribute_always(attribute) ? " NOT NULL" : ""));
    sql_default(w, attribute);
    if (attribute->unique)
        buf_text(w->out, " UNIQUE");
    sql_check(w, entity, attribute);
    buf_text(w->out, ",\n");
}

// The key: of the attributes that make it, or one row if it is made of none.
static void primary_key(struct writer *w, const struct model_entity *entity)
{
    struct fields keys = {0};
    fields_of_keys(&keys, entity);
    if (keys.count == 0)
        PUT(w, "  \"only_row\" %s)\n",
            sql_either(w, "INTEGER PRIMARY KEY DEFAULT 1 CHECK (\"only_row\" = 1",
                       "boolean PRIMARY KEY DEFAULT true CHECK (\"only_row\""));
    else // a primary key takes no NULL, and to UNIQUE two of them are different
        PUT(w, "  %s (%s)\n",
            all_there(&keys) ? SLICE_LIT("PRIMARY KEY")
                             : sql_either(w, "UNIQUE", "UNIQUE NULLS NOT DISTINCT"),
            column_list(w, entity, &keys));
}

static void comment_on(struct writer *w, const char *what, struct slice name, struct slice doc)
{
    if (!is_sqlite(w) && doc.len > 0)
        PUT(w, "COMMENT ON %s %s IS %s;\n", slice_str(what), name,
            sql_string(w, text_line(w, doc)));
}

static void create_table(struct writer *w, const struct model_entity *entity)
{
    struct slice name = sql_table(w, entity);
    buf_byte(w->out, '\n');
    text_comment(w->out, "-- ", entity->doc);
    PUT(w, "CREATE TABLE %s (\n", name);
    for (size_t i = 0; i < entity->attribute_count; i++)
        column(w, entity, &entity->attributes[i]);
    primary_key(w, entity);
    buf_text(w->out, ");\n");
    comment_on(w, "TABLE", name, entity->doc);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        comment_on(w, "COLUMN", TEXT(w, "%s.%s", name, sql_column(w, entity, attribute)),
                   attribute->doc);
    }
}

// ---- Indexes ---------------------------------------------------------------------------------

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
static struct slice there_text(struct writer *w, const struct model_entity *entity,
                               const struct model_expr *expr)
{
    struct slice all = {NULL, 0};
    if (expr->kind == MODEL_EXPR_PATH)
        return expr->attribute == NULL || attribute_always(expr->attribute)
                   ? all
                   : TEXT(w, "%s IS NOT NULL", sql_column(w, entity, expr->attribute));
    for (size_t i = 0; i < expr->arg_count; i++) {
        struct slice one = there_text(w, entity, expr->args[i]);
        if (expr->kind == MODEL_EXPR_ELSE && one.len == 0)
            return one;
        if (one.len > 0)
            text_add_once(w, &all, expr->kind == MODEL_EXPR_ELSE ? " OR " : " AND ", one);
    }
    return expr->kind == MODEL_EXPR_ELSE ? TEXT(w, "(%s)", all) : all;
}

static void add_part_there(struct writer *w, const struct model_entity *entity,
                           const struct model_key_part *part, struct slice *all)
{
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    if (part->template == NULL && native != NULL && !attribute_always(native))
        text_add_once(w, all, " AND ", TEXT(w, "%s IS NOT NULL", sql_column(w, entity, native)));
    for (size_t i = 0; part->template != NULL && i < part->template->segment_count; i++) {
        const struct model_expr *expr = part->template->segments[i].expr;
        struct slice one = expr == NULL ? slice_of(NULL, 0) : there_text(w, entity, expr);
        if (one.len > 0)
            text_add_once(w, all, " AND ", one);
    }
}

static void create_index(struct writer *w, const struct model_entity *entity,
                         const struct model_entry *entry)
{
    struct fields fields = {0};
    struct slice there = {NULL, 0};
    fields_of_entry(&fields, entity, entry);
    if (fields.count == 0 || !index_used(entity, entry->index))
        return;
    PUT(w, "CREATE INDEX \"%s_idx\" ON %s (%s)",
        text_snake(w, TEXT(w, "%s_%s", text_entity(w, entity), entry->index->name)),
        sql_table(w, entity), column_list(w, entity, &fields));
    // A partial index is to SQL what a sparse one is to DynamoDB.
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++)
        add_part_there(w, entity, &entry->parts[i], &there);
    PUT(w, there.len > 0 ? " WHERE %s;\n" : "%s;\n", there);
}

// ---- The file --------------------------------------------------------------------------------

static void table_schema(struct writer *w, const struct model_table *table)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        create_table(w, entity);
        for (size_t e = 0; e < entity->entry_count; e++) {
            if (entity->entries[e].stated)
                create_index(w, entity, &entity->entries[e]);
        }
    }
    sql_view(w, table);
}

void generate_sql(struct writer *w)
{
    PUT(w, "-- %s\n-- For %s.\nBEGIN;\n", text_banner(w),
        sql_either(w, "SQLite", "PostgreSQL 15 and later"));
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        table_schema(w, table);
    buf_text(w->out, "\nCOMMIT;\n");
}
