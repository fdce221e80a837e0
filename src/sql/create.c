// Statements that make a schema. Unique columns are deferred in PostgreSQL, because the rows of a
// batch come in the order of their keys, not in that of their changes: two of them may have a value
// in common for a moment.
#include "sql/create.h"

// ---- Statements
// ----------------------------------------------------------------------------------

void sql_statements_init(struct sql_statements *out, struct arena *arena)
{
    *out = (struct sql_statements){.arena = arena};
}

void sql_statement_add(struct sql_statements *out, struct slice text)
{
    if (out->failed || text.ptr == NULL) {
        out->failed = true;
        return;
    }
    if (out->count == out->room) {
        size_t room = out->room * 2 + 16;
        struct slice *list = arena_zalloc(out->arena, room, sizeof *list);
        if (list == NULL) {
            out->failed = true;
            return;
        }
        if (out->count > 0)
            memcpy(list, out->list, out->count * sizeof *list);
        out->list = list;
        out->room = room;
    }
    out->list[out->count++] = text;
}

void sql_name(struct buf *out, struct slice name)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"')
            buf_byte(out, '"');
        buf_byte(out, name.ptr[i]);
    }
    buf_byte(out, '"');
}

void sql_qualified(struct buf *out, const struct sql_schema *schema, struct slice name)
{
    if (schema->name.len > 0) {
        sql_name(out, schema->name);
        buf_byte(out, '.');
    }
    sql_name(out, name);
}

void sql_quote(struct buf *out, struct slice text)
{
    buf_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            buf_byte(out, '\'');
        buf_byte(out, text.ptr[i]);
    }
    buf_byte(out, '\'');
}

void sql_creator_init(struct sql_creator *c, const struct sql_schema *schema,
                      struct sql_statements *out)
{
    *c = (struct sql_creator){.schema = schema, .out = out};
    buf_init(&c->none, 1);
    c->w = (struct writer){.schema = schema, .out = &c->none, .arena = out->arena};
}

// ---- Tables
// --------------------------------------------------------------------------------------

struct slice sql_column_definition(struct sql_creator *c, const struct sql_column *column)
{
    const char *type = sql_type_name(c->schema->dialect, column->kind);
    return TEXT(&c->w, type[0] == '\0' ? "%s%s%s" : "%s %s%s", sql_quoted(&c->w, column->name),
                slice_str(type), slice_str(column->required ? " NOT NULL" : ""));
}

static const char *delete_action(enum model_on_delete on_delete)
{
    static const char *const actions[] = {
        [MODEL_DELETE_REJECT] = "",
        [MODEL_DELETE_CASCADE] = " ON DELETE CASCADE",
        [MODEL_DELETE_CLEAR] = " ON DELETE SET NULL",
        [MODEL_DELETE_LEAVE] = "",
    };
    return actions[on_delete];
}

static struct slice foreign_text(struct sql_creator *c, const struct sql_table *table,
                                 const struct sql_foreign *foreign)
{
    struct writer *w = &c->w;
    return TEXT(w,
                "CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s DEFERRABLE INITIALLY DEFERRED",
                sql_quoted(w, foreign->name), sql_column_list(w, table, &foreign->columns),
                sql_full_name(w, foreign->target->name),
                sql_column_list(w, foreign->target, &foreign->keys),
                slice_str(delete_action(foreign->on_delete)));
}

static void create_table(struct sql_creator *c, const struct sql_table *table, struct slice name)
{
    struct writer *w = &c->w;
    struct slice parts = {NULL, 0};
    for (size_t i = 0; i < table->column_count; i++)
        text_add(w, &parts, ",\n  ", sql_column_definition(c, &table->columns[i]));
    if (table->key.count >
        0) // a primary key takes no NULL, and to UNIQUE two of them are different
        text_add(w, &parts, ",\n  ",
                 TEXT(w, "%s (%s)",
                      !table->loose ? SLICE_LIT("PRIMARY KEY")
                                    : sql_either(w, "UNIQUE", "UNIQUE NULLS NOT DISTINCT"),
                      sql_column_list(w, table, &table->key)));
    for (size_t i = 0; is_sqlite(w) && i < table->foreign_count; i++)
        if (!table->foreigns[i].soft)
            text_add(w, &parts, ",\n  ", foreign_text(c, table, &table->foreigns[i]));
    sql_statement_add(c->out, TEXT(w, "CREATE TABLE %s (\n  %s\n)", sql_full_name(w, name), parts));
}

static void create_comments(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    struct slice name = sql_full_name(w, table->name);
    if (is_sqlite(w))
        return;
    if (table->doc.len > 0)
        sql_statement_add(c->out, TEXT(w, "COMMENT ON TABLE %s IS %s", name,
                                       sql_string(w, text_line(w, table->doc))));
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].doc.len > 0)
            sql_statement_add(c->out, TEXT(w, "COMMENT ON COLUMN %s.%s IS %s", name,
                                           sql_quoted(w, table->columns[i].name),
                                           sql_string(w, text_line(w, table->columns[i].doc))));
}

// ---- Indexes and foreign keys
// --------------------------------------------------------------------

static struct slice index_columns(struct sql_creator *c, const struct sql_table *table,
                                  const struct sql_index *index)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < index->columns.count; i++)
        text_add(&c->w, &list, ", ",
                 TEXT(&c->w, index->descending != NULL && index->descending[i] ? "%s DESC" : "%s",
                      sql_quoted(&c->w, table->columns[index->columns.list[i]].name)));
    return list;
}

void sql_create_index(struct sql_creator *c, const struct sql_table *table,
                      const struct sql_index *index)
{
    struct writer *w = &c->w;
    struct slice where = index->where.len > 0 ? TEXT(w, " WHERE %s", index->where) : SLICE_LIT("");
    struct slice excluded = {NULL, 0};
    if (!index->unique || is_sqlite(w)) {
        sql_statement_add(c->out, TEXT(w, "CREATE %sINDEX %s ON %s (%s)%s",
                                       slice_str(index->unique ? "UNIQUE " : ""),
                                       sql_quoted(w, index->name), sql_full_name(w, table->name),
                                       index_columns(c, table, index), where));
        return;
    }
    // Only a constraint can be deferred, and only one that excludes can be partial.
    for (size_t i = 0; i < index->columns.count; i++)
        text_add(w, &excluded, ", ",
                 TEXT(w, "%s WITH =", sql_quoted(w, table->columns[index->columns.list[i]].name)));
    sql_statement_add(
        c->out,
        index->where.len == 0
            ? TEXT(w, "ALTER TABLE %s ADD CONSTRAINT %s UNIQUE (%s) DEFERRABLE INITIALLY DEFERRED",
                   sql_full_name(w, table->name), sql_quoted(w, index->name),
                   sql_column_list(w, table, &index->columns))
            : TEXT(w,
                   "ALTER TABLE %s ADD CONSTRAINT %s EXCLUDE USING btree (%s) WHERE (%s) "
                   "DEFERRABLE INITIALLY DEFERRED",
                   sql_full_name(w, table->name), sql_quoted(w, index->name), excluded,
                   index->where));
}

void sql_drop_index(struct sql_creator *c, const struct sql_table *table,
                    const struct sql_index *index)
{
    struct writer *w = &c->w;
    sql_statement_add(c->out,
                      index->unique && !is_sqlite(w)
                          ? TEXT(w, "ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s",
                                 sql_full_name(w, table->name), sql_quoted(w, index->name))
                          : TEXT(w, "DROP INDEX IF EXISTS %s", sql_full_name(w, index->name)));
}

void sql_create_foreign(struct sql_creator *c, const struct sql_table *table,
                        const struct sql_foreign *foreign)
{
    if (foreign->soft)
        sql_create_cascade(c, table, foreign);
    else if (!is_sqlite(&c->w)) // which has them in its tables
        sql_statement_add(c->out,
                          TEXT(&c->w, "ALTER TABLE %s ADD %s", sql_full_name(&c->w, table->name),
                               foreign_text(c, table, foreign)));
}

void sql_drop_foreign(struct sql_creator *c, const struct sql_table *table,
                      const struct sql_foreign *foreign)
{
    if (foreign->soft)
        sql_drop_cascade(c, foreign);
    else if (!is_sqlite(&c->w))
        sql_statement_add(c->out, TEXT(&c->w, "ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s",
                                       sql_full_name(&c->w, table->name),
                                       sql_quoted(&c->w, foreign->name)));
}

// ---- Row-level security
// --------------------------------------------------------------------------

static struct slice mine(struct sql_creator *c, const struct sql_table *table, size_t column)
{
    struct writer *w = &c->w;
    return TEXT(w,
                table->columns[column].kind == SQL_TEXT
                    ? "%s.%s = current_setting('dolmen.tenant', true)"
                    : "%s.%s::text = current_setting('dolmen.tenant', true)",
                sql_full_name(w, table->name), sql_quoted(w, table->columns[column].name));
}

// The condition under which a row of the table is the tenant's.
static struct slice policy_text(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    const struct sql_table *via = table->tenant_via;
    if (via == NULL)
        return mine(c, table, table->tenant);
    return TEXT(w, "EXISTS (SELECT 1 FROM %s WHERE %s.%s = %s.%s AND %s)",
                sql_full_name(w, via->name), sql_full_name(w, via->name),
                sql_quoted(w, via->columns[table->tenant_key].name), sql_full_name(w, table->name),
                sql_quoted(w, table->columns[table->tenant].name), policy_text(c, via));
}

void sql_create_policy(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    bool own = table->tenant < table->column_count;
    if (is_sqlite(w) || (!own && !table->closed))
        return;
    sql_statement_add(
        c->out, TEXT(w, "ALTER TABLE %s ENABLE ROW LEVEL SECURITY", sql_full_name(w, table->name)));
    if (own)
        sql_statement_add(c->out, TEXT(w, "CREATE POLICY \"dolmen_tenant\" ON %s USING (%s)",
                                       sql_full_name(w, table->name), policy_text(c, table)));
}

// Dropped and made again: policies refer to other tables.
void sql_drop_policy(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    if (!is_sqlite(w) && table->tenant < table->column_count)
        sql_statement_add(c->out, TEXT(w, "DROP POLICY IF EXISTS \"dolmen_tenant\" ON %s",
                                       sql_full_name(w, table->name)));
}

// ---- Views
// ---------------------------------------------------------------------------------------

// Whoever asks a view sees no more than in the tables.
void sql_create_view(struct sql_creator *c, const struct sql_view *view)
{
    struct writer *w = &c->w;
    sql_statement_add(c->out,
                      TEXT(w,
                           is_sqlite(w) ? "CREATE VIEW %s AS %s"
                                        : "CREATE VIEW %s WITH (security_invoker = true) AS %s",
                           sql_full_name(w, view->name), view->query));
}

void sql_drop_view(struct sql_creator *c, const struct sql_view *view)
{
    sql_statement_add(c->out,
                      TEXT(&c->w, "DROP VIEW IF EXISTS %s", sql_full_name(&c->w, view->name)));
}

// ---- All of it
// -----------------------------------------------------------------------------------

void sql_create_table(struct sql_creator *c, const struct sql_table *table)
{
    create_table(c, table, table->name);
    create_comments(c, table);
    for (size_t i = 0; i < table->index_count; i++)
        sql_create_index(c, table, &table->indexes[i]);
}

static void creator_end(struct sql_creator *c)
{
    c->out->failed = c->out->failed || c->none.failed;
    buf_release(&c->none);
}

void sql_create(const struct sql_schema *schema, struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    if (schema->name.len > 0)
        sql_statement_add(
            out, TEXT(&c.w, "CREATE SCHEMA IF NOT EXISTS %s", sql_quoted(&c.w, schema->name)));
    for (size_t i = 0; i < schema->table_count; i++)
        sql_create_table(&c, schema->tables[i]);
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *table = schema->tables[i];
        for (size_t k = 0; k < table->foreign_count; k++)
            sql_create_foreign(&c, table, &table->foreigns[k]);
        sql_create_policy(&c, table);
        sql_create_both(&c, table);
    }
    for (size_t i = 0; i < schema->view_count; i++)
        sql_create_view(&c, &schema->views[i]);
    creator_end(&c);
}

void sql_drop(const struct sql_schema *schema, struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    for (size_t i = schema->view_count; i > 0; i--)
        sql_drop_view(&c, &schema->views[i - 1]);
    for (size_t i = 0; i < schema->table_count; i++)
        for (size_t k = 0; k < schema->tables[i]->foreign_count; k++)
            sql_drop_foreign(&c, schema->tables[i], &schema->tables[i]->foreigns[k]);
    for (size_t i = 0; i < schema->table_count; i++)
        sql_drop_policy(&c, schema->tables[i]);
    for (size_t i = schema->table_count; i > 0; i--) {
        sql_drop_both(&c, schema->tables[i - 1]);
        sql_statement_add(out, TEXT(&c.w, "DROP TABLE IF EXISTS %s",
                                    sql_full_name(&c.w, schema->tables[i - 1]->name)));
    }
    creator_end(&c);
}

void sql_loosen(const struct sql_schema *schema, const struct sql_table *table,
                struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *one = schema->tables[i];
        for (size_t k = 0; k < one->foreign_count; k++)
            if (table == NULL || table == one || one->foreigns[k].target == table)
                sql_drop_foreign(&c, one, &one->foreigns[k]);
        for (size_t k = 0; (table == NULL || table == one) && k < one->index_count; k++)
            if (one->indexes[k].unique)
                sql_drop_index(&c, one, &one->indexes[k]);
    }
    creator_end(&c);
}

void sql_tighten(const struct sql_schema *schema, const struct sql_table *table,
                 struct sql_statements *out)
{
    struct sql_creator c;
    sql_loosen(schema, table, out); // whatever a crash has left
    sql_creator_init(&c, schema, out);
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *one = schema->tables[i];
        for (size_t k = 0; (table == NULL || table == one) && k < one->index_count; k++)
            if (one->indexes[k].unique)
                sql_create_index(&c, one, &one->indexes[k]);
    }
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *one = schema->tables[i];
        for (size_t k = 0; k < one->foreign_count; k++)
            if (table == NULL || table == one || one->foreigns[k].target == table)
                sql_create_foreign(&c, one, &one->foreigns[k]);
    }
    creator_end(&c);
}
