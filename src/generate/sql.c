// `dolmen generate sql`: one table for each entity, for PostgreSQL and SQLite. The primary key is
// made of the attributes in the entity's key; literals, ranges and required members are checked;
// what the access patterns of an index need is indexed; and a view has the items' keys as DynamoDB
// has them, so that rows and items can be told to be the same.
#include "generate/sql.h"

#include "sql/query.h"

const struct sql_table *sql_of(const struct writer *w, const struct model_entity *entity)
{
    return sql_schema_next(w->schema, entity, NULL);
}

struct slice sql_table_name(struct writer *w, const struct model_entity *entity)
{
    return sql_full_name(w, sql_of(w, entity)->name);
}

// ---- Tables ----------------------------------------------------------------------------------

static void column(struct writer *w, const struct model_entity *entity,
                   const struct model_attribute *attribute)
{
    // SQLite keeps the text of a statement, comments and all; PostgreSQL has COMMENT ON.
    if (is_sqlite(w))
        text_comment(w->out, "  -- ", attribute->doc);
    if (is_sqlite(w) && attribute->pattern.len > 0)
        PUT(w, "  -- Not in SQLite: it matches %s\n", text_line(w, attribute->pattern));
    const char *type = sql_type_name(w->schema->dialect, sql_kind(attribute->type));
    PUT(w, type[0] == '\0' ? "  %s%s%s" : "  %s %s%s", sql_column(w, sql_of(w, entity), attribute),
        slice_str(type), slice_str(attribute_always(attribute) ? " NOT NULL" : ""));
    struct slice generated = sql_generated(w, entity, attribute);
    if (generated.len > 0)
        PUT(w, " GENERATED ALWAYS AS (%s) STORED", generated);
    else
        sql_default(w, attribute);
    if (attribute->unique && entity->softdelete == NULL)
        buf_text(w->out, " UNIQUE");
    sql_check(w, entity, attribute);
    buf_text(w->out, ",\n");
}

// The key: of the attributes that make it, or one row if it is made of none.
static void primary_key(struct writer *w, const struct sql_table *table)
{
    if (table->columns[table->key.list[0]].attribute == NULL)
        PUT(w, "  \"only_row\" %s)\n",
            sql_either(w, "INTEGER PRIMARY KEY DEFAULT 1 CHECK (\"only_row\" = 1",
                       "boolean PRIMARY KEY DEFAULT true CHECK (\"only_row\""));
    else // a primary key takes no NULL, and to UNIQUE two of them are different
        PUT(w, "  %s (%s)\n",
            !table->loose ? SLICE_LIT("PRIMARY KEY")
                          : sql_either(w, "UNIQUE", "UNIQUE NULLS NOT DISTINCT"),
            sql_column_list(w, table, &table->key));
}

static void comment_on(struct writer *w, const char *what, struct slice name, struct slice doc)
{
    if (!is_sqlite(w) && doc.len > 0)
        PUT(w, "COMMENT ON %s %s IS %s;\n", slice_str(what), name,
            sql_string(w, text_line(w, doc)));
}

static void create_table(struct writer *w, const struct model_entity *entity)
{
    struct slice name = sql_table_name(w, entity);
    buf_byte(w->out, '\n');
    text_comment(w->out, "-- ", entity->doc);
    PUT(w, "CREATE TABLE %s (\n", name);
    for (size_t i = 0; i < entity->attribute_count; i++)
        column(w, entity, &entity->attributes[i]);
    sql_constraints(w, entity);
    primary_key(w, sql_of(w, entity));
    buf_text(w->out, ");\n");
    comment_on(w, "TABLE", name, entity->doc);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        comment_on(w, "COLUMN", TEXT(w, "%s.%s", name, sql_column(w, sql_of(w, entity), attribute)),
                   attribute->doc);
    }
}

// ---- Indexes ---------------------------------------------------------------------------------

// What is unique stands in the table, or at its softdelete.
static void create_indexes(struct writer *w, const struct sql_table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct sql_index *index = &table->indexes[i];
        if (!index->unique)
            PUT(w,
                index->where.len > 0 ? "CREATE INDEX %s ON %s (%s) WHERE %s;\n"
                                     : "CREATE INDEX %s ON %s (%s)%s;\n",
                sql_quoted(w, index->name), sql_full_name(w, table->name),
                sql_column_list(w, table, &index->columns), index->where);
    }
}

// ---- The file --------------------------------------------------------------------------------

static void table_schema(struct writer *w, const struct model_table *table)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        create_table(w, entity);
        create_indexes(w, sql_of(w, entity));
        sql_rules(w, entity);
    }
    sql_view(w, table);
}

static void write_tables(struct writer *w)
{
    buf_text(w->out, "BEGIN;\n");
    sql_refusal(w);
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        table_schema(w, table);
    for (const struct model_entity *entity = NULL; (entity = next_entity(w, entity)) != NULL;)
        sql_references(w, entity);
    buf_text(w->out, "\nCOMMIT;\n");
}

static void write_queries(struct writer *w)
{
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;) {
        for (size_t i = 0; i < table->access_count; i++) {
            const struct model_access *access = &table->accesses[i];
            buf_byte(w->out, '\n');
            text_comment(w->out, "-- ", access->doc);
            sql_query(w, access);
        }
    }
}

static void put_statements(struct writer *w, const struct sql_statements *list)
{
    for (size_t i = 0; i < list->count; i++)
        PUT(w, "%s;\n", list->list[i]);
    w->out->failed = w->out->failed || list->failed;
}

// The schema of a rule, or of no rule.
static const struct sql_schema *make_schema(struct writer *w, const struct model *model,
                                            const struct model_project *project)
{
    struct slice error;
    struct sql_request request = {.model = model,
                                  .project = project,
                                  .table = w->only,
                                  .dialect = w->options->dialect == GENERATE_SQLITE ? SQL_SQLITE
                                                                                    : SQL_POSTGRES};
    const struct sql_schema *schema = sql_schema_make(&request, w->arena, &error);
    if (schema == NULL)
        PUT(w, "-- Cannot be made: %s.\n", error);
    return schema;
}

// The rule of that name in the earlier model.
static const struct model_project *rule_since(const struct writer *w, struct slice name)
{
    const struct model_rules *rules = w->options->since->rules_of;
    for (size_t i = 0; i < rules->project_count; i++) {
        if (slice_equal(rules->projects[i].name, name))
            return &rules->projects[i];
    }
    return NULL;
}

static bool has_both(const struct sql_schema *schema)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i]->both)
            return true;
    }
    return false;
}

// What makes the tables, or makes them out of those of an earlier model.
static void write_projection(struct writer *w, const struct model_project *project)
{
    const struct sql_schema *schema = make_schema(w, w->model, project);
    const struct model_project *rule =
        w->options->since == NULL ? NULL : rule_since(w, project->name);
    struct sql_statements list;
    struct sql_change change;
    sql_statements_init(&list, w->arena);
    if (schema == NULL)
        return;
    if (has_both(schema))
        sql_inbox(schema, &list);
    if (rule == NULL) {
        sql_create(schema, &list);
        put_statements(w, &list);
        return;
    }
    const struct sql_schema *from = make_schema(w, w->options->since, rule);
    if (from == NULL || !sql_schema_change(from, schema, w->arena, &change)) {
        w->out->failed = w->out->failed || from != NULL;
        return;
    }
    put_statements(w, &list);
    put_statements(w, &change.before);
    for (size_t i = 0; change.any && i < schema->table_count; i++) {
        if (change.backfill[i])
            PUT(w, "-- Here %s is filled anew.\n", schema->tables[i]->name);
    }
    put_statements(w, &change.after);
}

static void write_projections(struct writer *w)
{
    const struct model_rules *rules = w->model->rules_of;
    for (size_t i = 0; i < rules->project_count; i++) {
        PUT(w, "\n-- %s\n", rules->projects[i].name);
        write_projection(w, &rules->projects[i]);
    }
}

void generate_sql(struct writer *w)
{
    PUT(w, "-- %s\n-- For %s.\n", text_banner(w),
        slice_str(w->options->dialect == GENERATE_SQLITE ? "SQLite" : "PostgreSQL 15 and later"));
    if (w->options->part == GENERATE_PROJECTIONS) {
        write_projections(w);
        return;
    }
    w->schema = make_schema(w, w->model, NULL);
    if (w->schema != NULL && w->options->part == GENERATE_QUERIES)
        write_queries(w);
    else if (w->schema != NULL)
        write_tables(w);
}
