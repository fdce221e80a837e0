// From one schema to another. Things are the same if they are made of the same: a table of the
// entity and kind, a column of the expression (`from`). What has another name then is renamed.
//
// Everything that looks at tables and columns (views, policies, triggers, foreign keys) is dropped
// first and made again last, so that what is between has nothing in its way.
#include "sql/create.h"

#include <string.h>

struct changing {
    const struct sql_schema *from;
    const struct sql_schema *to;
    struct sql_creator c;     // of statements that are executed now
    struct sql_creator later; // and behind the backfill
    struct sql_change *change;
    const struct sql_table **was; // for each new table the one that it was, or NULL
};

static bool columns_same(const struct sql_table *a, const struct sql_columns *list,
                         const struct sql_table *b, const struct sql_columns *other)
{
    if (list->count != other->count)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (!slice_equal(a->columns[list->list[i]].name, b->columns[other->list[i]].name))
            return false;
    return true;
}

// ---- Which is which
// ------------------------------------------------------------------------------

static bool is_taken(const struct changing *x, const struct sql_table *table)
{
    for (size_t i = 0; i < x->to->table_count; i++)
        if (x->was[i] == table)
            return true;
    return false;
}

static struct slice each_of(const struct sql_table *table)
{
    // The position's `from` names the attribute: "exercises[]".
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].source == SQL_FROM_POSITION)
            return table->columns[i].from;
    return slice_of(NULL, 0);
}

static bool same_thing(const struct sql_table *a, const struct sql_table *b)
{
    return a->kind == b->kind && slice_equal(a->entity_name, b->entity_name) &&
           slice_equal(each_of(a), each_of(b));
}

static void match(struct changing *x)
{
    for (size_t i = 0; i < x->to->table_count; i++) {
        const struct sql_table *found = sql_schema_table(x->from, x->to->tables[i]->name);
        if (found != NULL && same_thing(found, x->to->tables[i]))
            x->was[i] = found;
    }
    for (size_t i = 0; i < x->to->table_count; i++)
        for (size_t k = 0; x->was[i] == NULL && k < x->from->table_count; k++)
            if (same_thing(x->from->tables[k], x->to->tables[i]) &&
                sql_schema_table(x->to, x->from->tables[k]->name) == NULL &&
                !is_taken(x, x->from->tables[k]))
                x->was[i] = x->from->tables[k];
}

// The column that it was, or NULL: of the same name, or made of the same.
static const struct sql_column *column_was(const struct sql_table *was,
                                           const struct sql_table *table,
                                           const struct sql_column *column)
{
    size_t at = sql_table_column(was, column->name);
    if (at < was->column_count)
        return &was->columns[at];
    for (size_t i = 0; i < was->column_count; i++)
        if (slice_equal(was->columns[i].from, column->from) &&
            was->columns[i].source == column->source && was->columns[i].kind == column->kind &&
            sql_table_column(table, was->columns[i].name) == table->column_count)
            return &was->columns[i];
    return NULL;
}

// ---- One table
// -----------------------------------------------------------------------------------

static void statement(struct sql_creator *c, struct slice text)
{
    sql_statement_add(c->out, text);
}

// Whether the values can be taken over as they are, in words of the other type.
static bool converts(const struct changing *x, enum sql_kind from, enum sql_kind to)
{
    if (x->to->dialect == SQL_SQLITE)
        return false;
    return (from == SQL_BIGINT && to == SQL_NUMERIC) ||
           (to == SQL_TEXT && (from == SQL_UUID || from == SQL_NUMERIC || from == SQL_BIGINT));
}

// NOT NULL can be said once all rows have the column. SQLite cannot say it of a column that is
// there.
static void require_later(struct changing *x, const struct sql_table *table,
                          const struct sql_column *column)
{
    struct writer *w = &x->later.w;
    if (column->required && x->to->dialect == SQL_POSTGRES)
        statement(&x->later, TEXT(w, "ALTER TABLE %s ALTER COLUMN %s SET NOT NULL",
                                  sql_full_name(w, table->name), sql_quoted(w, column->name)));
}

static void add_column(struct changing *x, const struct sql_table *table,
                       const struct sql_column *column)
{
    struct sql_column loose = *column;
    loose.required = false;
    statement(&x->c,
              TEXT(&x->c.w, "ALTER TABLE %s ADD COLUMN %s", sql_full_name(&x->c.w, table->name),
                   sql_column_definition(&x->c, &loose)));
    require_later(x, table, column);
}

static void drop_column(struct changing *x, const struct sql_table *table, struct slice name)
{
    statement(&x->c, TEXT(&x->c.w, "ALTER TABLE %s DROP COLUMN %s",
                          sql_full_name(&x->c.w, table->name), sql_quoted(&x->c.w, name)));
}

// A column that is there, under whatever name; true if its values have to be made anew.
static bool change_column(struct changing *x, const struct sql_table *table,
                          const struct sql_column *was, const struct sql_column *column)
{
    struct writer *w = &x->c.w;
    struct slice name = sql_full_name(w, table->name);
    struct slice quoted = sql_quoted(w, column->name);
    bool other = !slice_equal(was->from, column->from) || was->source != column->source ||
                 was->fold != column->fold;
    if (!slice_equal(was->name, column->name))
        statement(&x->c, TEXT(w, "ALTER TABLE %s RENAME COLUMN %s TO %s", name,
                              sql_quoted(w, was->name), quoted));
    if (was->kind != column->kind && !converts(x, was->kind, column->kind)) {
        drop_column(x, table, column->name);
        add_column(x, table, column);
        return true;
    }
    if (was->kind != column->kind)
        statement(&x->c, TEXT(w, "ALTER TABLE %s ALTER COLUMN %s TYPE %s USING %s::%s", name,
                              quoted, slice_str(sql_type_name(SQL_POSTGRES, column->kind)), quoted,
                              slice_str(sql_type_name(SQL_POSTGRES, column->kind))));
    // What fills the rows anew may meet those that have none.
    if (was->required && (other || !column->required) && x->to->dialect == SQL_POSTGRES)
        statement(&x->c, TEXT(w, "ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", name, quoted));
    if (column->required && (!was->required || other))
        require_later(x, table, column);
    return other || (column->required && !was->required);
}

static bool change_columns(struct changing *x, const struct sql_table *was,
                           const struct sql_table *table)
{
    bool anew = false;
    bool *kept = arena_zalloc(x->c.out->arena, was->column_count + 1, sizeof *kept);
    if (kept == NULL) {
        x->c.out->failed = true;
        return false;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *before = column_was(was, table, &table->columns[i]);
        if (before != NULL)
            kept[before - was->columns] = true;
    }
    for (size_t i = 0; i < was->column_count; i++)
        if (!kept[i])
            drop_column(x, table, was->columns[i].name);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *column = &table->columns[i];
        const struct sql_column *before = column_was(was, table, column);
        if (before != NULL) {
            anew = change_column(x, table, before, column) || anew;
        } else {
            add_column(x, table, column);
            anew = true;
        }
    }
    return anew;
}

static bool index_same(const struct sql_table *was, const struct sql_index *a,
                       const struct sql_table *table, const struct sql_index *b)
{
    bool same = slice_equal(a->name, b->name) && a->unique == b->unique &&
                slice_equal(a->where, b->where) &&
                columns_same(was, &a->columns, table, &b->columns);
    for (size_t i = 0; same && i < a->columns.count; i++)
        same = a->descending[i] == b->descending[i];
    return same;
}

static bool has_index(const struct sql_table *table, const struct sql_table *other,
                      const struct sql_index *index)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (index_same(table, &table->indexes[i], other, index))
            return true;
    return false;
}

// Indexes that are not what they were go before columns do; new ones come behind them. A unique one
// waits for the backfill, if there is one.
static void drop_indexes(struct changing *x, const struct sql_table *was,
                         const struct sql_table *table)
{
    for (size_t i = 0; i < was->index_count; i++)
        if (!has_index(table, was, &was->indexes[i]))
            sql_drop_index(&x->c, was, &was->indexes[i]);
}

static void add_indexes(struct changing *x, const struct sql_table *was,
                        const struct sql_table *table, bool anew)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (!has_index(was, table, &table->indexes[i])) {
            sql_drop_index(&x->c, table, &table->indexes[i]);
            sql_create_index(table->indexes[i].unique && anew ? &x->later : &x->c, table,
                             &table->indexes[i]);
        }
}

// The key is another one, or SQLite would have to say what only a new table can.
static bool needs_new_table(const struct changing *x, const struct sql_table *was,
                            const struct sql_table *table)
{
    bool same = was->loose == table->loose && was->key.count == table->key.count;
    for (size_t i = 0; same && i < table->key.count; i++) {
        const struct sql_column *a = &was->columns[was->key.list[i]];
        const struct sql_column *b = &table->columns[table->key.list[i]];
        same = slice_equal(a->from, b->from) && a->kind == b->kind;
    }
    for (size_t i = 0; same && x->to->dialect == SQL_SQLITE &&
                       (i < table->foreign_count || i < was->foreign_count);
         i++)
        same = was->foreign_count == table->foreign_count &&
               slice_equal(was->foreigns[i].name, table->foreigns[i].name) &&
               slice_equal(was->foreigns[i].target->name, table->foreigns[i].target->name) &&
               was->foreigns[i].on_delete == table->foreigns[i].on_delete;
    // A column that can go missing, or becomes required, in a table that cannot be altered so.
    for (size_t i = 0; same && x->to->dialect == SQL_SQLITE && i < table->column_count; i++) {
        const struct sql_column *before = column_was(was, table, &table->columns[i]);
        same = before == NULL || before->required == table->columns[i].required;
    }
    return !same;
}

static void change_table(struct changing *x, size_t which)
{
    const struct sql_table *table = x->to->tables[which];
    const struct sql_table *was = x->was[which];
    struct writer *w = &x->c.w;
    if (was != NULL && needs_new_table(x, was, table)) {
        statement(&x->c, TEXT(w, "DROP TABLE %s", sql_full_name(w, was->name)));
        was = NULL;
    }
    if (was == NULL) {
        sql_create_table(&x->c, table);
        x->change->backfill[which] = table->kind != SQL_TABLE_GROUP;
        return;
    }
    drop_indexes(x, was, table);
    if (!slice_equal(was->name, table->name))
        statement(&x->c, TEXT(w, "ALTER TABLE %s RENAME TO %s", sql_full_name(w, was->name),
                              sql_quoted(w, table->name)));
    bool anew = change_columns(x, was, table);
    add_indexes(x, was, table, anew);
    x->change->backfill[which] = anew && table->kind != SQL_TABLE_GROUP;
}

// ---- Around the tables
// ---------------------------------------------------------------------------

static void take_down(struct changing *x)
{
    const struct sql_schema *from = x->from;
    for (size_t i = from->view_count; i > 0; i--)
        sql_drop_view(&x->c, &from->views[i - 1]);
    for (size_t i = 0; i < from->table_count; i++) {
        for (size_t k = 0; k < from->tables[i]->foreign_count; k++)
            sql_drop_foreign(&x->c, from->tables[i], &from->tables[i]->foreigns[k]);
        sql_drop_policy(&x->c, from->tables[i]);
        sql_drop_both(&x->c, from->tables[i]);
    }
    for (size_t i = from->table_count; i > 0; i--)
        if (!is_taken(x, from->tables[i - 1]))
            statement(&x->c, TEXT(&x->c.w, "DROP TABLE %s",
                                  sql_full_name(&x->c.w, from->tables[i - 1]->name)));
}

static void put_up(struct changing *x)
{
    const struct sql_schema *to = x->to;
    bool any = false;
    for (size_t i = 0; i < to->table_count; i++)
        any = any || x->change->backfill[i];
    for (size_t i = 0; i < to->table_count; i++) {
        for (size_t k = 0; k < to->tables[i]->foreign_count; k++)
            sql_create_foreign(any ? &x->later : &x->c, to->tables[i], &to->tables[i]->foreigns[k]);
        sql_create_policy(&x->c, to->tables[i]);
        sql_create_both(&x->c, to->tables[i]);
    }
    for (size_t i = 0; i < to->view_count; i++)
        sql_create_view(&x->c, &to->views[i]);
}

// The members of a group are filled anew with it.
static void fill_groups(struct changing *x)
{
    for (size_t i = 0; i < x->to->table_count; i++) {
        const struct sql_table *table = x->to->tables[i];
        for (size_t k = 0; table->kind == SQL_TABLE_GROUP && k < x->to->table_count; k++)
            if (x->to->tables[k] == table->group && x->change->anew[i])
                x->change->backfill[k] = true;
    }
}

static bool same_text(const struct sql_schema *from, const struct sql_schema *to)
{
    enum { TEXT_MAX = 64 << 20 };
    struct buf a;
    struct buf b;
    buf_init(&a, TEXT_MAX);
    buf_init(&b, TEXT_MAX);
    sql_schema_text(from, &a);
    sql_schema_text(to, &b);
    bool same = !a.failed && !b.failed && slice_equal(buf_view(&a), buf_view(&b));
    buf_release(&a);
    buf_release(&b);
    return same;
}

bool sql_schema_change(const struct sql_schema *from, const struct sql_schema *to,
                       struct arena *arena, struct sql_change *out)
{
    struct changing x = {.from = from, .to = to, .change = out};
    *out = (struct sql_change){.any = !same_text(from, to)};
    sql_statements_init(&out->before, arena);
    sql_statements_init(&out->after, arena);
    out->backfill = arena_zalloc(arena, to->table_count + 1, sizeof *out->backfill);
    out->anew = arena_zalloc(arena, to->table_count + 1, sizeof *out->anew);
    x.was = arena_zalloc(arena, to->table_count + 1, sizeof(struct sql_table *));
    if (out->backfill == NULL || out->anew == NULL || x.was == NULL)
        return false;
    if (!out->any)
        return true;
    sql_creator_init(&x.c, to, &out->before);
    sql_creator_init(&x.later, to, &out->after);
    match(&x);
    take_down(&x);
    for (size_t i = 0; i < to->table_count; i++) {
        size_t statements = out->before.count;
        change_table(&x, i);
        out->anew[i] = out->before.count != statements;
    }
    fill_groups(&x);
    put_up(&x);
    bool ok = !out->before.failed && !out->after.failed && !x.c.none.failed && !x.later.none.failed;
    buf_release(&x.c.none);
    buf_release(&x.later.none);
    return ok;
}
