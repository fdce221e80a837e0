// Triggers that take changes back: each change of a row, unless the projection itself makes it, is
// noted in dolmen_inbox. And the statements that compute a group anew.
#include "sql/create.h"

// ---- The inbox
// -----------------------------------------------------------------------------------

void sql_inbox(const struct sql_schema *schema, struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    struct writer *w = &c.w;
    struct slice inbox = sql_full_name(w, SLICE_LIT("dolmen_inbox"));
    sql_statement_add(
        out, TEXT(w,
                  is_sqlite(w) ? "CREATE TABLE IF NOT EXISTS %s (\"id\" INTEGER PRIMARY KEY "
                                 "AUTOINCREMENT, \"name\" TEXT NOT NULL, \"act\" TEXT NOT NULL, "
                                 "\"key\" TEXT NOT NULL, \"row\" TEXT, \"at\" TEXT NOT NULL "
                                 "DEFAULT (strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now')), "
                                 "\"refused\" TEXT)"
                               : "CREATE TABLE IF NOT EXISTS %s (\"id\" bigint GENERATED ALWAYS AS "
                                 "IDENTITY PRIMARY KEY, \"name\" text NOT NULL, \"act\" text NOT "
                                 "NULL, \"key\" jsonb NOT NULL, \"row\" jsonb, \"at\" timestamptz "
                                 "NOT NULL DEFAULT now(), \"refused\" text)",
                  inbox));
    if (is_sqlite(w))
        sql_statement_add(out, SLICE_LIT("CREATE TABLE IF NOT EXISTS \"dolmen_projecting\" "
                                         "(\"on\" INTEGER NOT NULL)"));
    out->failed = out->failed || c.none.failed;
    buf_release(&c.none);
}

// ---- Values as JSON
// ------------------------------------------------------------------------------

// A column of NEW or OLD as JSON has it.
static struct slice json_value(struct sql_creator *c, const char *row,
                               const struct sql_column *column)
{
    struct writer *w = &c->w;
    struct slice value = TEXT(w, "%s.%s", slice_str(row), sql_quoted(w, column->name));
    if (is_sqlite(w))
        return TEXT(w, column->kind == SQL_JSON ? "coalesce(%s, 'null')" : "json_quote(%s)", value);
    if (column->kind == SQL_TIMESTAMP)
        return TEXT(w, "to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
                    value);
    if (column->kind == SQL_BYTES)
        return TEXT(w, "translate(encode(%s, 'base64'), E'\\n', '')", value);
    return value;
}

// A member of a JSON object, with a comma in front in SQLite.
static struct slice json_member(struct sql_creator *c, const char *row,
                                const struct sql_column *column)
{
    struct writer *w = &c->w;
    if (!is_sqlite(w))
        return TEXT(w, "%s, %s", sql_string(w, column->name), json_value(c, row, column));
    struct buf name;
    buf_init(&name, 1 << 12);
    buf_text(&name, ",\"");
    for (size_t i = 0; i < column->name.len; i++) {
        uint8_t byte = column->name.ptr[i];
        if (byte == '"' || byte == '\\')
            buf_byte(&name, '\\');
        buf_byte(&name, byte);
    }
    buf_text(&name, "\":");
    return TEXT(w, "%s || %s", sql_string(w, text_keep(w, &name)), json_value(c, row, column));
}

static struct slice json_object(struct sql_creator *c, const struct sql_table *table,
                                const char *row, bool key)
{
    struct writer *w = &c->w;
    struct slice members = {NULL, 0};
    struct fields keys = {0};
    fields_of_keys(&keys, table->entity); // of the item, whatever the row's is
    for (size_t i = 0; i < table->column_count; i++)
        if (key ? table->columns[i].attribute != NULL &&
                      fields_have(&keys, table->columns[i].attribute)
                : table->columns[i].both)
            text_add(w, &members, is_sqlite(w) ? " || " : ", ",
                     json_member(c, row, &table->columns[i]));
    return is_sqlite(w) ? TEXT(w, "'{' || substr(%s, 2) || '}'", members)
                        : TEXT(w, "jsonb_build_object(%s)", members);
}

// ---- PostgreSQL
// ----------------------------------------------------------------------------------

static struct slice function_name(struct sql_creator *c, const struct sql_table *table)
{
    enum { ROOM = LIMIT_SQL_NAME - 12 };
    struct slice name = table->name;
    if (name.len > ROOM)
        name.len = ROOM;
    return sql_full_name(&c->w, TEXT(&c->w, "dolmen_back_%s", name));
}

static void postgres_function(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    struct slice changed = {NULL, 0};
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *column = &table->columns[i];
        struct slice name = sql_quoted(w, column->name);
        if (column->both)
            text_add(w, &changed, "",
                     TEXT(w,
                          "  IF NEW.%s IS DISTINCT FROM OLD.%s THEN changed := changed || "
                          "jsonb_build_object(%s); END IF;\n",
                          name, name, json_member(c, "NEW", column)));
    }
    struct slice inbox = sql_full_name(w, SLICE_LIT("dolmen_inbox"));
    struct slice title = sql_string(w, table->name);
    struct slice rows = TEXT(
        w,
        "  IF TG_OP = 'INSERT' THEN\n    INSERT INTO %s (name, act, key, row) VALUES (%s, "
        "'insert', "
        "%s, %s);\n    RETURN NULL;\n  END IF;\n  IF TG_OP = 'DELETE' THEN\n    INSERT INTO %s "
        "(name, act, key, row) VALUES (%s, 'delete', %s, NULL);\n    RETURN NULL;\n  END IF;\n",
        inbox, title, json_object(c, table, "NEW", true), json_object(c, table, "NEW", false),
        inbox, title, json_object(c, table, "OLD", true));
    sql_statement_add(
        c->out,
        TEXT(w,
             "CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
             "SET search_path %s AS\n$dolmen$\nDECLARE changed jsonb := '{}';\nBEGIN\n  "
             "IF current_setting('dolmen.projecting', true) = 'on' THEN RETURN NULL; END "
             "IF;\n%s%s  IF changed <> '{}' THEN\n    INSERT INTO %s (name, act, key, row) VALUES "
             "(%s, 'update', %s, changed);\n  END IF;\n  RETURN NULL;\nEND\n$dolmen$",
             function_name(c, table),
             // Without a schema the inbox is found as everything else is that is made here.
             slice_str(c->schema->name.len > 0 ? "= pg_catalog" : "FROM CURRENT"),
             table->both_rows ? rows : SLICE_LIT(""), changed, inbox, title,
             json_object(c, table, "OLD", true)));
}

static void postgres_both(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    postgres_function(c, table);
    sql_statement_add(c->out,
                      TEXT(w,
                           "CREATE TRIGGER \"dolmen_back\" AFTER %s ON %s FOR EACH ROW EXECUTE "
                           "FUNCTION %s()",
                           slice_str(table->both_rows ? "INSERT OR UPDATE OR DELETE" : "UPDATE"),
                           sql_full_name(w, table->name), function_name(c, table)));
}

// ---- SQLite
// --------------------------------------------------------------------------------------

static void sqlite_trigger(struct sql_creator *c, const struct sql_table *table, const char *act,
                           struct slice when, const char *before, struct slice row)
{
    struct writer *w = &c->w;
    sql_statement_add(
        c->out,
        TEXT(w,
             "CREATE TRIGGER %s AFTER %s ON %s WHEN NOT EXISTS (SELECT 1 FROM "
             "\"dolmen_projecting\")%s BEGIN INSERT INTO \"dolmen_inbox\" (\"name\", \"act\", "
             "\"key\", \"row\") VALUES (%s, %s, %s, %s); END",
             sql_quoted(w, TEXT(w, "dolmen_back_%s_%s", slice_str(act), table->name)),
             slice_str(act), sql_quoted(w, table->name), when, sql_string(w, table->name),
             sql_string(w, slice_str(act)), json_object(c, table, before, true), row));
}

static void sqlite_both(struct sql_creator *c, const struct sql_table *table)
{
    struct writer *w = &c->w;
    struct slice differs = {NULL, 0};
    struct slice changed = {NULL, 0};
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *column = &table->columns[i];
        struct slice name = sql_quoted(w, column->name);
        if (!column->both)
            continue;
        text_add(w, &differs, " OR ", TEXT(w, "OLD.%s IS NOT NEW.%s", name, name));
        text_add(w, &changed, " || ",
                 TEXT(w, "CASE WHEN OLD.%s IS NOT NEW.%s THEN %s ELSE '' END", name, name,
                      json_member(c, "NEW", column)));
    }
    sqlite_trigger(c, table, "update", TEXT(w, " AND (%s)", differs), "OLD",
                   TEXT(w, "'{' || substr(%s, 2) || '}'", changed));
    if (!table->both_rows)
        return;
    sqlite_trigger(c, table, "insert", SLICE_LIT(""), "NEW", json_object(c, table, "NEW", false));
    sqlite_trigger(c, table, "delete", SLICE_LIT(""), "OLD", SLICE_LIT("NULL"));
}

void sql_create_both(struct sql_creator *c, const struct sql_table *table)
{
    if (!table->both)
        return;
    if (is_sqlite(&c->w))
        sqlite_both(c, table);
    else
        postgres_both(c, table);
}

void sql_drop_both(struct sql_creator *c, const struct sql_table *table)
{
    static const char *const acts[] = {"update", "insert", "delete"};
    struct writer *w = &c->w;
    if (!table->both)
        return;
    if (!is_sqlite(w)) {
        sql_statement_add(c->out, TEXT(w, "DROP TRIGGER IF EXISTS \"dolmen_back\" ON %s",
                                       sql_full_name(w, table->name)));
        sql_statement_add(c->out, TEXT(w, "DROP FUNCTION IF EXISTS %s()", function_name(c, table)));
        return;
    }
    for (size_t i = 0; i < COUNT_OF(acts); i++)
        sql_statement_add(c->out, TEXT(w, "DROP TRIGGER IF EXISTS %s",
                                       sql_quoted(w, TEXT(w, "dolmen_back_%s_%s",
                                                          slice_str(acts[i]), table->name))));
}

// ---- References between logs
// ---------------------------------------------------------------------

// What is to be done with the rows that refer to OLD.
static struct slice cascade_text(struct sql_creator *c, const struct sql_table *table,
                                 const struct sql_foreign *foreign)
{
    struct writer *w = &c->w;
    struct slice where = {NULL, 0};
    struct slice clear = {NULL, 0};
    for (size_t i = 0; i < foreign->columns.count; i++) {
        struct slice name = sql_quoted(w, table->columns[foreign->columns.list[i]].name);
        text_add(w, &clear, ", ", TEXT(w, "%s = NULL", name));
        text_add(w, &where, " AND ",
                 TEXT(w, "%s = OLD.%s", name,
                      sql_quoted(w, foreign->target->columns[foreign->keys.list[i]].name)));
    }
    return foreign->on_delete == MODEL_DELETE_CASCADE
               ? TEXT(w, "DELETE FROM %s WHERE %s;", sql_full_name(w, table->name), where)
               : TEXT(w, "UPDATE %s SET %s WHERE %s;", sql_full_name(w, table->name), clear, where);
}

static struct slice cascade_name(struct sql_creator *c, const struct sql_foreign *foreign)
{
    enum { ROOM = LIMIT_SQL_NAME - 8 };
    struct slice name = foreign->name;
    if (name.len > ROOM)
        name.len = ROOM;
    return TEXT(&c->w, "dolmen_%s", name);
}

void sql_create_cascade(struct sql_creator *c, const struct sql_table *table,
                        const struct sql_foreign *foreign)
{
    struct writer *w = &c->w;
    struct slice name = cascade_name(c, foreign);
    struct slice target = sql_full_name(w, foreign->target->name);
    struct slice act = cascade_text(c, table, foreign);
    if (is_sqlite(w)) {
        sql_statement_add(
            c->out, TEXT(w,
                         "CREATE TRIGGER %s AFTER DELETE ON %s WHEN NOT EXISTS (SELECT 1 FROM "
                         "\"dolmen_projecting\") BEGIN %s END",
                         sql_quoted(w, name), target, act));
        return;
    }
    sql_statement_add(
        c->out,
        TEXT(
            w,
            "CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET "
            "search_path FROM CURRENT AS\n$dolmen$\nBEGIN\n  IF "
            "current_setting('dolmen.projecting', true) IS DISTINCT FROM 'on' THEN\n    %s\n  END "
            "IF;\n  RETURN NULL;\nEND\n$dolmen$",
            sql_full_name(w, name), act));
    sql_statement_add(c->out, TEXT(w,
                                   "CREATE TRIGGER %s AFTER DELETE ON %s FOR EACH ROW EXECUTE "
                                   "FUNCTION %s()",
                                   sql_quoted(w, name), target, sql_full_name(w, name)));
}

void sql_drop_cascade(struct sql_creator *c, const struct sql_foreign *foreign)
{
    struct writer *w = &c->w;
    struct slice name = cascade_name(c, foreign);
    if (is_sqlite(w)) {
        sql_statement_add(c->out, TEXT(w, "DROP TRIGGER IF EXISTS %s", sql_quoted(w, name)));
        return;
    }
    sql_statement_add(c->out, TEXT(w, "DROP TRIGGER IF EXISTS %s ON %s", sql_quoted(w, name),
                                   sql_full_name(w, foreign->target->name)));
    sql_statement_add(c->out, TEXT(w, "DROP FUNCTION IF EXISTS %s()", sql_full_name(w, name)));
}

// ---- Groups
// --------------------------------------------------------------------------------------

// Rows of two relations of the same group: a NULL is a value like any other.
static struct slice same_group(struct sql_creator *c, const struct sql_table *group, const char *a,
                               const char *b)
{
    struct writer *w = &c->w;
    struct slice all = {NULL, 0};
    for (size_t i = 0; i < group->key.count; i++) {
        const struct sql_column *column = &group->columns[group->key.list[i]];
        struct slice name = sql_quoted(w, column->name);
        text_add(w, &all, " AND ",
                 TEXT(w,
                      column->required ? "%s.%s = %s.%s"
                      : is_sqlite(w)   ? "%s.%s IS %s.%s"
                                       : "%s.%s IS NOT DISTINCT FROM %s.%s",
                      slice_str(a), name, slice_str(b), name));
    }
    return all;
}

// Texts are compared by their bytes, as Dolmen does; SQLite does so anyhow.
static const char *collation(struct sql_creator *c, const struct sql_column *column)
{
    return column->kind == SQL_TEXT && !is_sqlite(&c->w) ? " COLLATE \"C\"" : "";
}

// ORDER BY of a fold that takes the first or the last row: rows that are equal are told apart by
// their key, so that the same rows give the same value.
static struct slice fold_order(struct sql_creator *c, const struct sql_table *members,
                               const struct sql_column *column, const char *of)
{
    struct writer *w = &c->w;
    const struct sql_column *by = &members->columns[column->by];
    bool last = column->fold == MODEL_FOLD_LAST;
    struct slice order = TEXT(w, "%s.%s%s %s NULLS LAST", slice_str(of), sql_quoted(w, by->name),
                              slice_str(collation(c, by)), slice_str(last ? "DESC" : "ASC"));
    for (size_t i = 0; i < members->key.count; i++) {
        const struct sql_column *key = &members->columns[members->key.list[i]];
        text_add(w, &order, ", ",
                 TEXT(w, "%s.%s%s", slice_str(of), sql_quoted(w, key->name),
                      slice_str(collation(c, key))));
    }
    return order;
}

// What a column is over the rows of the group in the relation `members`.
static struct slice folded(struct sql_creator *c, const struct sql_table *group,
                           const struct sql_column *column, struct slice members)
{
    struct writer *w = &c->w;
    struct slice name = TEXT(w, "m.%s", sql_quoted(w, column->name));
    struct slice bytes = slice_str(collation(c, column));
    switch (column->fold) {
    case MODEL_FOLD_COUNT:
        return SLICE_LIT("count(*)");
    case MODEL_FOLD_SUM:
        return TEXT(w, "sum(%s)", name);
    case MODEL_FOLD_MIN:
        return TEXT(w, "min(%s%s)", name, bytes);
    case MODEL_FOLD_MAX:
        return TEXT(w, "max(%s%s)", name, bytes);
    case MODEL_FOLD_FIRST:
    case MODEL_FOLD_LAST:
        return is_sqlite(w)
                   ? TEXT(w, "(SELECT l.%s FROM %s l WHERE %s ORDER BY %s LIMIT 1)",
                          sql_quoted(w, column->name), members, same_group(c, group, "l", "m"),
                          fold_order(c, group->group, column, "l"))
                   : TEXT(w, "(array_agg(%s ORDER BY %s))[1]", name,
                          fold_order(c, group->group, column, "m"));
    default:
        return name;
    }
}

// SELECT … FROM members m, WHERE, GROUP BY
static struct slice group_query(struct sql_creator *c, const struct sql_table *group,
                                struct slice members, struct slice where)
{
    struct writer *w = &c->w;
    struct slice values = {NULL, 0};
    struct slice by = {NULL, 0};
    for (size_t i = 0; i < group->column_count; i++) {
        const struct sql_column *column = &group->columns[i];
        text_add(w, &values, ", ", folded(c, group, column, members));
        if (column->fold == MODEL_FOLD_NONE)
            text_add(w, &by, ", ", TEXT(w, "m.%s", sql_quoted(w, column->name)));
    }
    return TEXT(w, "SELECT %s FROM %s m%s GROUP BY %s", values, members, where, by);
}

void sql_group_select(const struct sql_schema *schema, const struct sql_table *group,
                      struct slice members, struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    sql_statement_add(out, group_query(&c, group, members, SLICE_LIT("")));
    out->failed = out->failed || c.none.failed;
    buf_release(&c.none);
}

void sql_group_refresh(const struct sql_schema *schema, const struct sql_table *group,
                       struct slice touched, struct sql_statements *out)
{
    struct sql_creator c;
    sql_creator_init(&c, schema, out);
    struct writer *w = &c.w;
    struct slice name = sql_full_name(w, group->name);
    struct slice members = sql_full_name(w, group->group->name);
    struct slice columns = {NULL, 0};
    struct slice updates = {NULL, 0};
    for (size_t i = 0; i < group->column_count; i++) {
        const struct sql_column *column = &group->columns[i];
        struct slice quoted = sql_quoted(w, column->name);
        text_add(w, &columns, ", ", quoted);
        if (!sql_columns_have(&group->key, i))
            text_add(w, &updates, ", ", TEXT(w, "%s = excluded.%s", quoted, quoted));
    }
    struct slice update =
        updates.len == 0 ? SLICE_LIT("DO NOTHING") : TEXT(w, "DO UPDATE SET %s", updates);
    sql_statement_add(out,
                      TEXT(w, "DELETE FROM %s AS g WHERE EXISTS (SELECT 1 FROM %s t WHERE %s)%s",
                           name, touched, same_group(&c, group, "t", "g"),
                           group->loose ? SLICE_LIT("")
                                        : TEXT(w, " AND NOT EXISTS (SELECT 1 FROM %s m WHERE %s)",
                                               members, same_group(&c, group, "m", "g"))));
    struct slice where = TEXT(w, " WHERE EXISTS (SELECT 1 FROM %s t WHERE %s)", touched,
                              same_group(&c, group, "t", "m"));
    sql_statement_add(out,
                      TEXT(w, "INSERT INTO %s (%s) %s%s", name, columns,
                           group_query(&c, group, members, where),
                           group->loose ? SLICE_LIT("")
                                        : TEXT(w, " ON CONFLICT (%s) %s",
                                               sql_column_list(w, group, &group->key), update)));
    out->failed = out->failed || c.none.failed;
    buf_release(&c.none);
}
