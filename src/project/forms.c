// The statements that write the rows of each table. See projector_internal.h.
//
// In PostgreSQL parameters are arrays, and unnest() makes rows of them; in SQLite they are the
// values of one row. The rest is the same text.
#include "project/projector_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { STATEMENT_MAX = 1 << 20 };

static bool is_postgres(const struct projector *p)
{
    return p->schema->dialect == SQL_POSTGRES;
}

// ---- Texts -----------------------------------------------------------------------------------

// unnest($1::text[], $2::bigint[])
static void put_unnest(struct buf *out, const enum sql_kind *kinds, size_t count)
{
    buf_text(out, "unnest(");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s$%zu::%s[]", i == 0 ? "" : ", ", i + 1,
                   sql_type_name(SQL_POSTGRES, kinds[i]));
    buf_text(out, ")");
}

static void put_column(struct buf *out, const struct sql_table *table, size_t column)
{
    sql_name(out, table->columns[column].name);
}

static void put_columns(struct buf *out, const struct sql_table *table,
                        const struct sql_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        put_column(out, table, columns->list[i]);
    }
}

void put_source(struct buf *out, enum sql_dialect dialect, const enum sql_kind *kinds, size_t count,
                const char *distinct)
{
    if (dialect == SQL_POSTGRES) {
        buf_printf(out, " SELECT%s * FROM ", distinct);
        put_unnest(out, kinds, count);
        return;
    }
    buf_text(out, " VALUES (");
    for (size_t i = 0; i < count; i++)
        buf_text(out, i == 0 ? "?" : ", ?");
    buf_text(out, ")");
}

static bool keep_statement(struct projector *p, struct rdb_statement *statement, struct buf *text,
                           const enum sql_kind *kinds, size_t count)
{
    buf_byte(text, 0);
    struct slice copy = text->failed ? slice_of(NULL, 0) : arena_copy(&p->arena, buf_view(text));
    buf_clear(text);
    *statement = (struct rdb_statement){(const char *)copy.ptr, count, kinds, 0};
    return copy.ptr != NULL;
}

static bool keep_use(struct projector *p, struct form_use *use, struct buf *text,
                     const enum sql_kind *kinds, size_t count)
{
    use->rows.columns = count;
    return keep_statement(p, &use->statement, text, kinds, count);
}

static enum sql_kind *kinds_of(struct projector *p, const struct sql_table *table,
                               const struct sql_columns *columns)
{
    size_t count = columns == NULL ? table->column_count : columns->count;
    enum sql_kind *kinds = arena_zalloc(&p->arena, count + 1, sizeof(*kinds));
    for (size_t i = 0; kinds != NULL && i < count; i++)
        kinds[i] = table->columns[columns == NULL ? i : columns->list[i]].kind;
    return kinds;
}

// ---- Upserts ---------------------------------------------------------------------------------

// DO UPDATE SET a = excluded.a … WHERE they differ: what is the same is not written again.
static void put_conflict(struct buf *out, const struct sql_table *table, bool postgres)
{
    bool first = true;
    buf_text(out, " ON CONFLICT (");
    put_columns(out, table, &table->key);
    buf_text(out, ") DO ");
    for (size_t i = 0; i < table->column_count; i++) {
        if (sql_columns_have(&table->key, i))
            continue;
        buf_text(out, first ? "UPDATE SET " : ", ");
        put_column(out, table, i);
        buf_text(out, " = excluded.");
        put_column(out, table, i);
        first = false;
    }
    if (first) {
        buf_text(out, "NOTHING");
        return;
    }
    first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        if (sql_columns_have(&table->key, i))
            continue;
        buf_text(out, first ? " WHERE to_row." : " OR to_row.");
        put_column(out, table, i);
        buf_text(out, postgres ? " IS DISTINCT FROM excluded." : " IS NOT excluded.");
        put_column(out, table, i);
        first = false;
    }
}

static bool make_upsert(struct projector *p, struct form *form, struct buf *text)
{
    const struct sql_table *table = form->table;
    enum sql_kind *kinds = kinds_of(p, table, NULL);
    buf_text(text, "INSERT INTO ");
    sql_qualified(text, p->schema, table->name);
    buf_text(text, " AS to_row (");
    for (size_t i = 0; i < table->column_count; i++) {
        buf_text(text, i == 0 ? "" : ", ");
        put_column(text, table, i);
    }
    buf_text(text, ")");
    if (kinds != NULL)
        put_source(text, p->schema->dialect, kinds, table->column_count, "");
    if (table->kind != SQL_TABLE_CHILD && !table->loose)
        put_conflict(text, table, is_postgres(p));
    return kinds != NULL && keep_use(p, &form->upsert, text, kinds, table->column_count);
}

// ---- Deletes ---------------------------------------------------------------------------------

static bool make_erase(struct projector *p, struct form *form, struct buf *text)
{
    const struct sql_table *table = form->table;
    struct sql_columns key = table->key;
    if (table->kind == SQL_TABLE_CHILD)
        key.count = table->parent->key.count; // without the position
    enum sql_kind *kinds = kinds_of(p, table, &key);
    if (kinds == NULL)
        return false;
    buf_text(text, "DELETE FROM ");
    sql_qualified(text, p->schema, table->name);
    if (is_postgres(p)) {
        buf_text(text, " AS to_row USING ");
        put_unnest(text, kinds, key.count);
        buf_text(text, " AS gone(");
        for (size_t i = 0; i < key.count; i++)
            buf_printf(text, "%sk%zu", i == 0 ? "" : ", ", i);
        buf_text(text, ")");
    }
    for (size_t i = 0; i < key.count; i++) {
        buf_text(text, i == 0 ? " WHERE " : " AND ");
        if (is_postgres(p))
            buf_text(text, "to_row.");
        put_column(text, table, key.list[i]);
        if (is_postgres(p))
            buf_printf(text, table->loose ? " IS NOT DISTINCT FROM gone.k%zu" : " = gone.k%zu", i);
        else
            buf_text(text, table->loose ? " IS ?" : " = ?");
    }
    return keep_use(p, &form->erase, text, kinds, key.count);
}

// ---- What a snapshot has, what groups were touched --------------------------------------------

// A temporary table with some columns of a table: name, from, columns.
static bool make_temporary(struct projector *p, const char *name, const struct sql_table *table,
                           const struct sql_columns *columns, bool unique, struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, STATEMENT_MAX);
    buf_printf(&text, "CREATE TEMP TABLE %s (", name);
    for (size_t i = 0; i < columns->count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        put_column(&text, table, columns->list[i]);
        buf_printf(&text, " %s",
                   sql_type_name(p->schema->dialect, table->columns[columns->list[i]].kind));
    }
    if (unique && !is_postgres(p)) {
        buf_text(&text, ", UNIQUE (");
        put_columns(&text, table, columns);
        buf_text(&text, ")");
    }
    buf_text(&text, ")");
    if (unique && is_postgres(p))
        buf_text(&text, " ON COMMIT DELETE ROWS");
    return run_text(p, &text, fault);
}

static bool make_seen(struct projector *p, struct form *form, size_t number, struct buf *text,
                      struct rdb_fault *fault)
{
    char name[48];
    (void)snprintf(name, sizeof(name), "dolmen_seen_%zu", number);
    enum sql_kind *kinds = kinds_of(p, form->table, &form->table->key);
    if (kinds == NULL || !make_temporary(p, name, form->table, &form->table->key, false, fault))
        return false;
    buf_printf(text, "INSERT INTO %s", name);
    put_source(text, p->schema->dialect, kinds, form->table->key.count, "");
    return keep_use(p, &form->seen, text, kinds, form->table->key.count) ||
           rdb_fail(fault, RDB_AWAY, "out of memory");
}

// The columns of MEMBERS that are the group's key.
static bool group_key(struct projector *p, const struct sql_table *members, struct sql_columns *out)
{
    const struct sql_table *group = members->group;
    size_t *list = arena_zalloc(&p->arena, group->key.count + 1, sizeof(*list));
    if (list == NULL)
        return false;
    for (size_t i = 0; i < group->key.count; i++)
        list[i] = sql_table_column(members, group->columns[group->key.list[i]].name);
    *out = (struct sql_columns){group->key.count, list};
    return true;
}

static bool make_touch(struct projector *p, struct form *form, size_t number, struct buf *text,
                       struct rdb_fault *fault)
{
    char name[48];
    const struct sql_columns key = form->group_key;
    struct sql_statements refresh;
    (void)snprintf(name, sizeof(name), "dolmen_touched_%zu", number);
    sql_statements_init(&refresh, &p->arena);
    enum sql_kind *kinds = kinds_of(p, form->table, &key);
    if (kinds == NULL)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    if (!make_temporary(p, name, form->table, &key, true, fault))
        return false;
    buf_printf(text, is_postgres(p) ? "INSERT INTO %s" : "INSERT OR IGNORE INTO %s", name);
    put_source(text, p->schema->dialect, kinds, key.count, " DISTINCT");
    bool ok = keep_use(p, &form->touch, text, kinds, key.count);
    sql_group_refresh(p->schema, form->table->group, slice_str(name), &refresh);
    ok = ok && !refresh.failed && refresh.count == COUNT_OF(form->refresh);
    for (size_t i = 0; ok && i < COUNT_OF(form->refresh); i++) {
        buf_slice(text, refresh.list[i]);
        ok = keep_statement(p, &form->refresh[i], text, NULL, 0);
    }
    buf_printf(text, "DELETE FROM %s", name);
    return (ok && keep_statement(p, &form->settle, text, NULL, 0)) ||
           rdb_fail(fault, RDB_AWAY, "out of memory");
}

// ---- The projection's row --------------------------------------------------------------------

// The position moves forward only. PostgreSQL divides by zero if the row is not ours: see
// class_of(); in SQLite a SELECT that has no row says the same.
static bool make_shared(struct projector *p, struct buf *text)
{
    static const enum sql_kind number[] = {SQL_BIGINT};
    static const enum sql_kind note[] = {SQL_TEXT};
    bool postgres = is_postgres(p);
    buf_text(text, postgres ? "SELECT 1 / count(*) FROM (SELECT 1 FROM " : "SELECT 1 FROM ");
    put_ledger(text, p);
    put_own_row(text, p);
    buf_printf(text, " AND owner = '%s'", p->owner);
    buf_text(text, postgres ? " FOR UPDATE) AS own" : "");
    bool ok = keep_statement(p, &p->fence, text, NULL, 0);
    buf_text(text, "UPDATE ");
    put_ledger(text, p);
    buf_text(text, postgres ? " SET position = greatest(position, (SELECT * FROM "
                              "unnest($1::bigint[]))), changed = now()"
                            : " SET position = max(position, ?), changed = datetime()");
    put_own_row(text, p);
    ok = ok && keep_use(p, &p->position, text, number, 1);
    buf_text(text, "UPDATE ");
    put_ledger(text, p);
    buf_text(text, postgres ? " SET note = (SELECT * FROM unnest($1::text[])), changed = now()"
                            : " SET note = ?, changed = datetime()");
    put_own_row(text, p);
    ok = ok && keep_use(p, &p->note, text, note, 1);
    if (p->both && !postgres) {
        buf_text(text, "INSERT INTO dolmen_projecting VALUES (1)");
        ok = ok && keep_statement(p, &p->quiet[0], text, NULL, 0);
        buf_text(text, "DELETE FROM dolmen_projecting");
        ok = ok && keep_statement(p, &p->quiet[1], text, NULL, 0);
    }
    return ok;
}

// ---- All of them -----------------------------------------------------------------------------

static void list_add(const struct rdb_statement **list, size_t *count,
                     struct rdb_statement *statement)
{
    if (statement->text == NULL)
        return;
    statement->number = (unsigned)*count;
    list[(*count)++] = statement;
}

static bool prepare_all(struct projector *p, struct rdb_fault *fault)
{
    size_t count = 0;
    const struct rdb_statement **list =
        memory_zeroed((p->count * FORM_STATEMENTS + SHARED_STATEMENTS) * sizeof(*list));
    list_add(list, &count, &p->fence);
    list_add(list, &count, &p->position.statement);
    list_add(list, &count, &p->note.statement);
    list_add(list, &count, &p->quiet[0]);
    list_add(list, &count, &p->quiet[1]);
    for (size_t i = 0; i < p->count; i++) {
        struct form *form = &p->forms[i];
        list_add(list, &count, &form->upsert.statement);
        list_add(list, &count, &form->erase.statement);
        list_add(list, &count, &form->seen.statement);
        list_add(list, &count, &form->touch.statement);
        list_add(list, &count, &form->refresh[0]);
        list_add(list, &count, &form->refresh[1]);
        list_add(list, &count, &form->settle);
    }
    bool ok = p->rdb->ops->prepare(p->rdb, list, count, fault);
    free(list);
    return ok;
}

// See form.lean.
static bool make_lean(struct projector *p, struct form *form)
{
    const struct sql_table *table = form->table;
    size_t count = table->key.count;
    if (table->kind == SQL_TABLE_MEMBERS && !group_key(p, table, &form->group_key))
        return false;
    struct sql_column *columns =
        arena_zalloc(&p->arena, count + form->group_key.count + 1, sizeof(*columns));
    if (columns == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        columns[i] = table->columns[table->key.list[i]];
    for (size_t i = 0; i < form->group_key.count; i++)
        columns[count + i] = table->columns[form->group_key.list[i]];
    form->lean = *table;
    form->lean.columns = columns;
    form->lean.column_count = count + form->group_key.count;
    return true;
}

static bool make_form(struct projector *p, struct form *form, size_t number, struct buf *text,
                      struct rdb_fault *fault)
{
    bool ok = (make_lean(p, form) && make_upsert(p, form, text) && make_erase(p, form, text)) ||
              rdb_fail(fault, RDB_AWAY, "out of memory");
    if (ok && form->table->kind != SQL_TABLE_CHILD)
        ok = make_seen(p, form, number, text, fault);
    if (ok && form->table->kind == SQL_TABLE_MEMBERS)
        ok = make_touch(p, form, number, text, fault);
    return ok;
}

bool forms_make(struct projector *p, struct rdb_fault *fault)
{
    struct buf text;
    bool ok = true;
    size_t room = p->schema->table_count;
    p->forms = arena_zalloc(&p->arena, room + 1, sizeof(*p->forms));
    if (p->forms == NULL)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    buf_init(&text, STATEMENT_MAX);
    for (size_t i = 0; i < room && ok; i++) {
        const struct sql_table *table = p->schema->tables[i];
        if (table->kind == SQL_TABLE_GROUP || table->entity == NULL ||
            table->entity->table != p->table)
            continue;
        struct form *form = &p->forms[p->count++];
        form->table = table;
        ok = make_form(p, form, p->count - 1, &text, fault);
    }
    ok = ok && (make_shared(p, &text) || rdb_fail(fault, RDB_AWAY, "out of memory")) &&
         prepare_all(p, fault);
    buf_release(&text);
    return ok;
}

static void rows_release(struct form_use *use)
{
    free(use->rows.values);
}

void forms_release(struct projector *p)
{
    for (size_t i = 0; i < p->count; i++) {
        rows_release(&p->forms[i].upsert);
        rows_release(&p->forms[i].erase);
        rows_release(&p->forms[i].seen);
        rows_release(&p->forms[i].touch);
    }
    rows_release(&p->position);
    rows_release(&p->note);
}

struct form *forms_find(const struct projector *p, const struct sql_table *table)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->forms[i].table == table)
            return &p->forms[i];
    return NULL;
}

struct sql_value *rows_add(struct form_rows *rows)
{
    size_t used = rows->count * rows->columns;
    if (used + rows->columns > rows->room) {
        size_t room = 2 * rows->room + 16 * rows->columns;
        struct sql_value *grown = realloc(rows->values, room * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        rows->values = grown;
        rows->room = room;
    }
    rows->count++;
    return rows->values + used;
}
