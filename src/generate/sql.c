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

static void create_index(struct writer *w, const struct model_entity *entity,
                         const struct model_entry *entry)
{
    struct fields fields = {0};
    size_t shown = 0;
    fields_of_entry(&fields, entity, entry);
    if (fields.count == 0 || !index_used(entity, entry->index))
        return;
    PUT(w, "CREATE INDEX \"%s_idx\" ON %s (%s)",
        text_snake(w, TEXT(w, "%s_%s", text_entity(w, entity), entry->index->name)),
        sql_table(w, entity), column_list(w, entity, &fields));
    // A partial index is to SQL what a sparse one is to DynamoDB.
    for (size_t i = 0; entry_sparse(entity, entry) && i < fields.count; i++) {
        if (!attribute_always(fields.list[i]))
            PUT(w, "%s%s IS NOT NULL", slice_str(shown++ == 0 ? " WHERE " : " AND "),
                sql_column(w, entity, fields.list[i]));
    }
    buf_text(w->out, ";\n");
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
