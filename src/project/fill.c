// Backfills: from a snapshot's first item to its last, then what it did not have goes. Rows are
// noted as they come, in temporary tables, unless a table was empty at the beginning. See
// projector.h.
//
// A connection that is lost takes those notes with it; then the projection still says that it is to
// be filled, and all of it begins again.
#include "project/projector_internal.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20 };

static const char *truth(const struct projector *p, bool value)
{
    bool postgres = p->schema->dialect == SQL_POSTGRES;
    return postgres ? value ? "true" : "false" : value ? "1" : "0";
}

static bool run_list(struct projector *p, const struct sql_statements *list,
                     struct rdb_fault *fault)
{
    if (list->failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        if (!p->rdb->ops->run(p->rdb, list->list[i], NULL, NULL, fault))
            return false;
    return true;
}

// ---- The beginning ---------------------------------------------------------------------------

static bool found_row(void *context, size_t count, const struct slice *values)
{
    (void)count, (void)values;
    *(bool *)context = true;
    return false;
}

static bool look(struct projector *p, struct form *form, size_t number, struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    form->keep_seen = false;
    buf_text(&text, "SELECT 1 FROM ");
    sql_qualified(&text, p->schema, form->table->name);
    buf_text(&text, " LIMIT 1");
    bool ok = !text.failed &&
              p->rdb->ops->run(p->rdb, buf_view(&text), found_row, &form->keep_seen, fault);
    buf_clear(&text);
    buf_printf(&text, "DELETE FROM dolmen_seen_%zu", number);
    if (!ok || form->table->kind == SQL_TABLE_CHILD) {
        form->keep_seen = form->keep_seen && form->table->kind != SQL_TABLE_CHILD;
        buf_release(&text);
        return ok;
    }
    return run_text(p, &text, fault);
}

static bool mark_begun(struct projector *p, struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_text(&text, "UPDATE ");
    put_ledger(&text, p);
    buf_printf(&text, " SET backfill = %s, position = 0, note = NULL", truth(p, true));
    put_own_row(&text, p);
    buf_printf(&text, " AND owner = '%s'", p->owner);
    return run_text(p, &text, fault);
}

bool projector_begin(struct projector *p, struct rdb_fault *fault)
{
    struct sql_statements loose;
    struct sql_statements tight;
    bool ok = mark_begun(p, fault);
    sql_statements_init(&loose, &p->scratch);
    sql_statements_init(&tight, &p->scratch);
    for (size_t i = 0; i < p->count && ok; i++) {
        ok = look(p, &p->forms[i], i, fault);
        if (p->forms[i].table->kind != SQL_TABLE_ENTITY)
            continue;
        sql_loosen(p->schema, p->forms[i].table, &loose);
        sql_tighten(p->schema, p->forms[i].table, &tight);
    }
    ok = ok && projector_leave(p, &tight, fault) && run_list(p, &loose, fault);
    p->backfilling = ok;
    arena_reset(&p->scratch);
    return ok;
}

// ---- The end ---------------------------------------------------------------------------------

// DELETE FROM t WHERE NOT EXISTS (a row with the same columns in that table)
static void put_unseen(struct buf *out, const struct projector *p, const struct sql_table *table,
                       const struct sql_columns *key, size_t count, struct slice other,
                       const struct sql_table *other_table, const struct sql_columns *other_key)
{
    buf_text(out, "DELETE FROM ");
    sql_qualified(out, p->schema, table->name);
    buf_text(out, " AS to_row WHERE NOT EXISTS (SELECT 1 FROM ");
    buf_slice(out, other);
    buf_text(out, " AS seen");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? " WHERE seen." : " AND seen.");
        sql_name(out, other_table->columns[other_key->list[i]].name);
        buf_text(out, !table->loose                        ? " = to_row."
                      : p->schema->dialect == SQL_POSTGRES ? " IS NOT DISTINCT FROM to_row."
                                                           : " IS to_row.");
        sql_name(out, table->columns[key->list[i]].name);
    }
    buf_text(out, ")");
}

static bool remove_unseen(struct projector *p, const struct form *form, size_t number,
                          struct rdb_fault *fault)
{
    char name[48];
    struct buf text;
    if (!form->keep_seen)
        return true;
    (void)snprintf(name, sizeof(name), "dolmen_seen_%zu", number);
    buf_init(&text, TEXT_MAX);
    if (p->schema->dialect == SQL_POSTGRES) {
        buf_printf(&text, "ANALYZE %s; ", name);
    }
    put_unseen(&text, p, form->table, &form->table->key, form->table->key.count, slice_str(name),
               form->table, &form->table->key);
    return run_text(p, &text, fault);
}

// Children whose parent is gone.
static bool remove_orphans(struct projector *p, const struct form *form, struct rdb_fault *fault)
{
    struct buf text;
    struct buf parent;
    const struct sql_table *table = form->table;
    buf_init(&text, TEXT_MAX);
    buf_init(&parent, TEXT_MAX);
    sql_qualified(&parent, p->schema, table->parent->name);
    put_unseen(&text, p, table, &table->key, table->parent->key.count, buf_view(&parent),
               table->parent, &table->parent->key);
    buf_release(&parent);
    return run_text(p, &text, fault);
}

// All groups, of those that are there and of those that should be.
static bool refresh_groups(struct projector *p, const struct form *form, size_t number,
                           struct rdb_fault *fault)
{
    struct buf text;
    struct buf columns;
    const struct sql_table *group = form->table->group;
    buf_init(&text, TEXT_MAX);
    buf_init(&columns, TEXT_MAX);
    for (size_t i = 0; i < group->key.count; i++) {
        buf_text(&columns, i == 0 ? "" : ", ");
        sql_name(&columns, group->columns[group->key.list[i]].name);
    }
    buf_printf(&text, "INSERT INTO dolmen_touched_%zu SELECT %.*s FROM ", number,
               SLICE_FMT(buf_view(&columns)));
    sql_qualified(&text, p->schema, form->table->name);
    buf_printf(&text, " UNION SELECT %.*s FROM ", SLICE_FMT(buf_view(&columns)));
    sql_qualified(&text, p->schema, group->name);
    buf_release(&columns);
    return run_text(p, &text, fault) &&
           p->rdb->ops->run(p->rdb, slice_str(form->refresh[0].text), NULL, NULL, fault) &&
           p->rdb->ops->run(p->rdb, slice_str(form->refresh[1].text), NULL, NULL, fault) &&
           p->rdb->ops->run(p->rdb, slice_str(form->settle.text), NULL, NULL, fault);
}

static bool mark_ended(struct projector *p, uint64_t position, struct slice note,
                       struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_text(&text, "UPDATE ");
    put_ledger(&text, p);
    buf_printf(&text, " SET backfill = %s, position = %llu, note = ", truth(p, false),
               (unsigned long long)position);
    if (note.len > 0)
        sql_quote(&text, note);
    else
        buf_text(&text, "NULL");
    put_own_row(&text, p);
    buf_printf(&text, " AND owner = '%s'", p->owner);
    return run_text(p, &text, fault);
}

static bool clear_up(struct projector *p, struct rdb_fault *fault)
{
    bool ok = true;
    for (size_t i = p->count; i-- > 0 && ok;)
        ok = p->forms[i].table->kind == SQL_TABLE_CHILD || remove_unseen(p, &p->forms[i], i, fault);
    for (size_t i = 0; i < p->count && ok; i++) {
        if (p->forms[i].table->kind == SQL_TABLE_CHILD)
            ok = remove_orphans(p, &p->forms[i], fault);
        else if (p->forms[i].table->kind == SQL_TABLE_MEMBERS)
            ok = refresh_groups(p, &p->forms[i], i, fault);
    }
    return ok;
}

static bool quiet(struct projector *p, bool begins, struct rdb_fault *fault)
{
    if (!p->both)
        return true;
    if (p->schema->dialect == SQL_POSTGRES)
        return !begins || p->rdb->ops->run(p->rdb, SLICE_LIT("SET LOCAL dolmen.projecting = 'on'"),
                                           NULL, NULL, fault);
    return p->rdb->ops->run(p->rdb, slice_str(p->quiet[begins ? 0 : 1].text), NULL, NULL, fault);
}

bool projector_end(struct projector *p, uint64_t position, struct slice note,
                   struct rdb_fault *fault)
{
    struct rdb_fault other;
    bool postgres = p->schema->dialect == SQL_POSTGRES;
    bool ok = p->rdb->ops->run(p->rdb, postgres ? SLICE_LIT("BEGIN") : SLICE_LIT("BEGIN IMMEDIATE"),
                               NULL, NULL, fault) &&
              p->rdb->ops->run(p->rdb, slice_str(p->fence.text), NULL, NULL, fault) &&
              quiet(p, true, fault) && clear_up(p, fault) && quiet(p, false, fault) &&
              mark_ended(p, position, note, fault) &&
              p->rdb->ops->run(p->rdb, SLICE_LIT("COMMIT"), NULL, NULL, fault);
    if (!ok)
        DISREGARD(p->rdb->ops->run(p->rdb, SLICE_LIT("ROLLBACK"), NULL, NULL, &other));
    p->backfilling = p->backfilling && !ok;
    return ok && projector_finish(p, fault);
}
