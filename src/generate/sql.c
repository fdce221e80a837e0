// `dolmen generate sql`: one table for each entity, for PostgreSQL and SQLite. The primary key is
// made of the attributes in the entity's key; literals, ranges and required members are checked;
// what the access patterns of an index need is indexed; and a view has the items' keys as DynamoDB
// has them, so that rows and items can be told to be the same.
#include "generate/sql.h"

// ---- Tables ----------------------------------------------------------------------------------

static void column_list(struct sql *sql, const struct model_entity *entity,
                        const struct fields *fields)
{
    buf_byte(sql->out, '(');
    for (size_t i = 0; i < fields->count; i++) {
        buf_text(sql->out, i == 0 ? "" : ", ");
        sql_column(sql->out, entity, fields->list[i]);
    }
    buf_byte(sql->out, ')');
}

static bool all_there(const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (!attribute_always(fields->list[i]))
            return false;
    }
    return true;
}

static void column(struct sql *sql, const struct model_entity *entity,
                   const struct model_attribute *attribute)
{
    buf_text(sql->out, "  ");
    sql_column(sql->out, entity, attribute);
    buf_printf(sql->out, " %s", sql_type(sql, sql_kind(attribute->type)));
    if (attribute_always(attribute))
        buf_text(sql->out, " NOT NULL");
    sql_default(sql, attribute);
    if (attribute->unique)
        buf_text(sql->out, " UNIQUE");
    sql_check(sql, entity, attribute);
    buf_text(sql->out, ",\n");
    // SQLite keeps the text of a statement, comments and all; PostgreSQL has COMMENT ON.
}

// The key: of the attributes that make it, or one row if it is made of none.
static void primary_key(struct sql *sql, const struct model_entity *entity)
{
    struct fields keys = {0};
    fields_of_keys(&keys, entity);
    if (keys.count == 0) {
        buf_printf(sql->out, "  \"only_row\" %s PRIMARY KEY DEFAULT %s CHECK (\"only_row\"%s)\n",
                   sql->sqlite ? "INTEGER" : "boolean", sql->sqlite ? "1" : "true",
                   sql->sqlite ? " = 1" : "");
        return;
    }
    bool nulls = !all_there(&keys);
    buf_text(sql->out, !nulls        ? "  PRIMARY KEY "
                       : sql->sqlite ? "  UNIQUE "
                                     : "  UNIQUE NULLS NOT DISTINCT ");
    column_list(sql, entity, &keys);
    buf_byte(sql->out, '\n');
}

static void comment_on(struct sql *sql, const char *what, const struct model_entity *entity,
                       const struct model_attribute *attribute, struct slice doc)
{
    struct buf line;
    if (sql->sqlite || doc.len == 0)
        return;
    buf_init(&line, 1 << 20);
    text_line(&line, doc);
    buf_printf(sql->out, "COMMENT ON %s ", what);
    sql_table(sql->out, entity);
    if (attribute != NULL) {
        buf_byte(sql->out, '.');
        sql_column(sql->out, entity, attribute);
    }
    buf_text(sql->out, " IS ");
    text_sql(sql->out, buf_view(&line));
    buf_text(sql->out, ";\n");
    buf_release(&line);
}

static void create_table(struct sql *sql, const struct model_entity *entity)
{
    buf_byte(sql->out, '\n');
    text_comment(sql->out, "-- ", entity->doc);
    buf_text(sql->out, "CREATE TABLE ");
    sql_table(sql->out, entity);
    buf_text(sql->out, " (\n");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (sql->sqlite)
            text_comment(sql->out, "  -- ", entity->attributes[i].doc);
        column(sql, entity, &entity->attributes[i]);
    }
    primary_key(sql, entity);
    buf_text(sql->out, ");\n");
    comment_on(sql, "TABLE", entity, NULL, entity->doc);
    for (size_t i = 0; i < entity->attribute_count; i++)
        comment_on(sql, "COLUMN", entity, &entity->attributes[i], entity->attributes[i].doc);
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

static void where_there(struct sql *sql, const struct model_entity *entity,
                        const struct fields *fields)
{
    size_t shown = 0;
    for (size_t i = 0; i < fields->count; i++) {
        if (attribute_always(fields->list[i]))
            continue;
        buf_text(sql->out, shown++ == 0 ? " WHERE " : " AND ");
        sql_column(sql->out, entity, fields->list[i]);
        buf_text(sql->out, " IS NOT NULL");
    }
}

static void create_index(struct sql *sql, const struct model_entity *entity,
                         const struct model_entry *entry)
{
    struct fields fields = {0};
    fields_of_entry(&fields, entity, entry);
    if (fields.count == 0 || !index_used(entity, entry->index))
        return;
    struct buf name;
    buf_init(&name, 4096);
    text_entity(&name, entity);
    buf_byte(&name, '_');
    buf_slice(&name, entry->index->name);
    buf_text(sql->out, "CREATE INDEX \"");
    text_snake(sql->out, buf_view(&name));
    buf_text(sql->out, "_idx\" ON ");
    buf_release(&name);
    sql_table(sql->out, entity);
    buf_byte(sql->out, ' ');
    column_list(sql, entity, &fields);
    if (entry_sparse(entity, entry))
        where_there(sql, entity, &fields);
    buf_text(sql->out, ";\n");
}

// ---- The file --------------------------------------------------------------------------------

static void table_schema(struct sql *sql, const struct model_table *table)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        create_table(sql, entity);
        for (size_t e = 0; e < entity->entry_count; e++) {
            if (entity->entries[e].stated)
                create_index(sql, entity, &entity->entries[e]);
        }
    }
    sql_view(sql, table);
}

void generate_sql(const struct model *model, const struct generate_options *options,
                  struct buf *out)
{
    struct sql sql = {.model = model,
                      .options = options,
                      .out = out,
                      .sqlite = options->dialect == GENERATE_SQLITE};
    buf_text(out, "-- ");
    text_banner(out, model);
    buf_printf(out, "\n-- For %s.\n", sql.sqlite ? "SQLite" : "PostgreSQL 15 and later");
    buf_text(out, "BEGIN;\n");
    for (size_t i = 0; i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i]))
            table_schema(&sql, &model->tables[i]);
    }
    buf_text(out, "\nCOMMIT;\n");
}
