// What a projection finds and leaves in its database: "dolmen_projections", with a row for the
// projection itself (its source is empty; it has the schema as text, and what is to be done behind
// the backfills) and one for each table that its items come from (with the position).
//
// A schema that differs from the one the tables were made of is changed in one transaction, with
// the text, the rows of the sources that have to be filled anew, and what is left for later. What
// cannot be in a transaction, and what has to wait for the backfills, is done by whoever ends the
// last of them; doing it twice does no harm.
#include "project/projector_internal.h"

#include "base/log.h"

#include <stdio.h>

enum { TEXT_MAX = 16 << 20 };
#define STATEMENT_END "\n;;\n" // between statements that are kept as a text

void put_ledger(struct buf *out, const struct projector *p)
{
    sql_qualified(out, p->schema, SLICE_LIT("dolmen_projections"));
}

static void put_row(struct buf *out, const struct projector *p, struct slice source)
{
    buf_text(out, " WHERE name = ");
    sql_quote(out, p->id);
    buf_text(out, " AND source = ");
    sql_quote(out, source);
}

void put_own_row(struct buf *out, const struct projector *p)
{
    put_row(out, p, p->source);
}

static bool run(struct projector *p, struct slice statement, struct rdb_fault *fault)
{
    return p->rdb->ops->run(p->rdb, statement, NULL, NULL, fault);
}

bool run_text(struct projector *p, struct buf *text, struct rdb_fault *fault)
{
    bool ok =
        text->failed ? rdb_fail(fault, RDB_AWAY, "out of memory") : run(p, buf_view(text), fault);
    buf_release(text);
    return ok;
}

static struct buf text_begin(void)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    return text;
}

static const char *truth(const struct projector *p, bool value)
{
    bool postgres = p->schema->dialect == SQL_POSTGRES;
    return postgres ? value ? "true" : "false" : value ? "1" : "0";
}

// ---- The table -------------------------------------------------------------------------------

static bool make_ledger(struct projector *p, struct rdb_fault *fault)
{
    struct buf text = text_begin();
    bool postgres = p->schema->dialect == SQL_POSTGRES;
    buf_text(&text, "CREATE TABLE IF NOT EXISTS ");
    put_ledger(&text, p);
    buf_printf(&text,
               " (name text NOT NULL, source text NOT NULL, table_id text, owner text, position "
               "bigint NOT NULL DEFAULT 0, backfill %s NOT NULL DEFAULT %s, note text, schema "
               "text, later text, changed %s, PRIMARY KEY (name, source))",
               postgres ? "boolean" : "INTEGER", truth(p, true),
               postgres ? "timestamptz DEFAULT now()" : "TEXT DEFAULT CURRENT_TIMESTAMP");
    // Somebody else may be making it at the same moment.
    return run_text(p, &text, fault) || fault->exists || fault->class == RDB_REFUSED;
}

// ---- Statements kept as a text -----------------------------------------------------------------

// What PostgreSQL does only outside of transactions.
static bool is_lone(struct slice statement)
{
    return slice_contains(slice_of(statement.ptr, statement.len < 64 ? statement.len : 64),
                          SLICE_LIT(" CONCURRENTLY "));
}

static void put_statements(struct buf *out, const struct sql_statements *list, bool only_lone)
{
    for (size_t i = 0; i < list->count; i++) {
        if (only_lone && !is_lone(list->list[i]))
            continue;
        buf_slice(out, list->list[i]);
        buf_text(out, STATEMENT_END);
    }
}

// ---- The schema ------------------------------------------------------------------------------

struct ledger_row {
    struct projector *p;
    bool found;
    struct slice schema;
    struct slice later;
    bool pending; // some source is to be filled
};

static bool take_schema(void *context, size_t count, const struct slice *values)
{
    struct ledger_row *row = context;
    row->found = count == 3;
    if (row->found) {
        row->schema = arena_copy(&row->p->arena, values[0]);
        row->later = arena_copy(&row->p->arena, values[1]);
        row->pending = slice_is(values[2], "t") || slice_is(values[2], "1");
    }
    return false;
}

static bool read_schema(struct projector *p, struct ledger_row *row, struct rdb_fault *fault)
{
    struct buf text = text_begin();
    *row = (struct ledger_row){.p = p};
    buf_text(&text, "SELECT schema, later, EXISTS (SELECT 1 FROM ");
    put_ledger(&text, p);
    buf_printf(&text,
               " AS other WHERE other.name = own.name AND other.source <> '' AND "
               "other.backfill = %s) FROM ",
               truth(p, true));
    put_ledger(&text, p);
    buf_text(&text, " AS own");
    put_row(&text, p, SLICE_LIT(""));
    bool ok = !text.failed && p->rdb->ops->run(p->rdb, buf_view(&text), take_schema, row, fault);
    buf_release(&text);
    return ok;
}

static bool write_schema(struct projector *p, struct slice schema, struct slice later,
                         struct rdb_fault *fault)
{
    struct buf text = text_begin();
    buf_text(&text, "INSERT INTO ");
    put_ledger(&text, p);
    buf_text(&text, " (name, source, backfill, schema, later) VALUES (");
    sql_quote(&text, p->id);
    buf_printf(&text, ", '', %s, ", truth(p, false));
    sql_quote(&text, schema);
    buf_text(&text, ", ");
    sql_quote(&text, later);
    buf_text(&text, ") ON CONFLICT (name, source) DO UPDATE SET schema = excluded.schema, later = "
                    "excluded.later");
    return run_text(p, &text, fault);
}

static bool run_list(struct projector *p, const struct sql_statements *list,
                     struct rdb_fault *fault)
{
    if (list->failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        if (!is_lone(list->list[i]) && !run(p, list->list[i], fault))
            return false;
    return true;
}

// Sources whose tables need new rows are to be filled.
static bool mark_sources(struct projector *p, const struct sql_change *change,
                         struct rdb_fault *fault)
{
    for (size_t i = 0; i < p->schema->table_count; i++) {
        const struct sql_table *table = p->schema->tables[i];
        if (!change->backfill[i] || table->entity == NULL)
            continue;
        struct buf text = text_begin();
        buf_text(&text, "UPDATE ");
        put_ledger(&text, p);
        buf_printf(&text, " SET backfill = %s", truth(p, true));
        put_row(&text, p, table->entity->table->name);
        if (!run_text(p, &text, fault))
            return false;
    }
    return true;
}

static bool create(struct projector *p, struct buf *later, struct rdb_fault *fault)
{
    struct sql_statements list;
    sql_statements_init(&list, &p->arena);
    if (p->both)
        sql_inbox(p->schema, &list);
    sql_create(p->schema, &list);
    put_statements(later, &list, true);
    return run_list(p, &list, fault);
}

static bool change(struct projector *p, const struct ledger_row *row, struct buf *later,
                   struct rdb_fault *fault)
{
    struct sql_change change;
    struct sql_statements inbox;
    const struct sql_schema *was = sql_schema_read(row->schema, &p->arena);
    if (was == NULL)
        return rdb_fail(fault, RDB_SCHEMA,
                        "the schema in dolmen_projections cannot be read: it is of a newer "
                        "version, or damaged; drop the tables and its rows to have them made anew");
    if (!sql_schema_change(was, p->schema, &p->arena, &change))
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    sql_statements_init(&inbox, &p->arena);
    if (p->both)
        sql_inbox(p->schema, &inbox);
    buf_slice(later, row->later);
    put_statements(later, &change.before, true);
    put_statements(later, &change.after, false);
    log_info("projection %.*s: changing the tables, %zu statements", SLICE_FMT(p->id),
             change.before.count + change.after.count);
    return run_list(p, &inbox, fault) && run_list(p, &change.before, fault) &&
           mark_sources(p, &change, fault);
}

// In a transaction.
static bool settle_schema(struct projector *p, struct rdb_fault *fault)
{
    struct ledger_row row;
    struct buf text;
    struct buf later;
    buf_init(&text, TEXT_MAX);
    buf_init(&later, TEXT_MAX);
    sql_schema_text(p->schema, &text);
    bool ok =
        (!text.failed || rdb_fail(fault, RDB_AWAY, "out of memory")) && read_schema(p, &row, fault);
    if (ok && !(row.found && slice_equal(row.schema, buf_view(&text))))
        ok = (row.found ? change(p, &row, &later, fault) : create(p, &later, fault)) &&
             (!later.failed || rdb_fail(fault, RDB_AWAY, "out of memory")) &&
             write_schema(p, buf_view(&text), buf_view(&later), fault);
    buf_release(&text);
    buf_release(&later);
    return ok;
}

// ---- Our own row -----------------------------------------------------------------------------

static bool take_place(void *context, size_t count, const struct slice *values)
{
    struct projector *p = context;
    uint64_t position = 0;
    for (size_t i = 0; count == 3 && i < values[0].len; i++)
        position = position * 10 + (uint64_t)(values[0].ptr[i] - '0');
    p->place = (struct projector_place){
        .backfill = count != 3 || slice_is(values[1], "t") || slice_is(values[1], "1"),
        .position = position,
        .note = count == 3 ? arena_copy(&p->arena, values[2]) : slice_of(NULL, 0)};
    return false;
}

// From here on, every other owner is fenced off.
static bool take_over(struct projector *p, struct rdb_fault *fault)
{
    struct buf text = text_begin();
    buf_text(&text, "INSERT INTO ");
    put_ledger(&text, p);
    buf_text(&text, " AS own (name, source, table_id, owner) VALUES (");
    sql_quote(&text, p->id);
    buf_text(&text, ", ");
    sql_quote(&text, p->source);
    buf_text(&text, ", ");
    sql_quote(&text, p->table_id);
    buf_printf(&text,
               ", '%s') ON CONFLICT (name, source) DO UPDATE SET owner = excluded.owner, backfill "
               "= CASE WHEN own.table_id = excluded.table_id THEN own.backfill ELSE %s END, "
               "table_id = excluded.table_id",
               p->owner, truth(p, true));
    if (!run_text(p, &text, fault))
        return false;
    text = text_begin();
    buf_text(&text, "SELECT position, backfill, note FROM ");
    put_ledger(&text, p);
    put_own_row(&text, p);
    bool ok = !text.failed && p->rdb->ops->run(p->rdb, buf_view(&text), take_place, p, fault);
    buf_release(&text);
    return ok;
}

// Which of its tables, and what to do about it.
static void explain(const struct projector *p, struct rdb_fault *fault)
{
    char text[sizeof(fault->text)];
    if (fault->class != RDB_SCHEMA)
        return;
    (void)snprintf(text, sizeof(text), "%s", fault->text);
    (void)rdb_fail(fault, RDB_SCHEMA, "%.150s; tables of %.*s are not as they were made", text,
                   SLICE_FMT(p->id));
}

bool projector_settle(struct projector *p, struct rdb_fault *fault)
{
    struct rdb_fault other;
    char lock[256];
    bool postgres = p->schema->dialect == SQL_POSTGRES;
    struct buf text = text_begin();
    (void)snprintf(lock, sizeof(lock), "%.*s %.*s", SLICE_FMT(p->id), SLICE_FMT(p->source));
    buf_text(&text, "SELECT pg_advisory_xact_lock(hashtextextended('dolmen schema ' || ");
    sql_quote(&text, p->id);
    buf_text(&text, ", 0))");
    bool ok = make_ledger(p, fault) && p->rdb->ops->lock(p->rdb, lock, fault) &&
              run(p, postgres ? SLICE_LIT("BEGIN") : SLICE_LIT("BEGIN IMMEDIATE"), fault);
    if (ok) {
        ok = (!postgres || run(p, buf_view(&text), fault)) && settle_schema(p, fault) &&
             take_over(p, fault) && run(p, SLICE_LIT("COMMIT"), fault);
        if (!ok) {
            explain(p, fault);
            DISREGARD(run(p, SLICE_LIT("ROLLBACK"), &other));
        }
    }
    buf_release(&text);
    return ok;
}

// ---- What was left for later -----------------------------------------------------------------

bool projector_leave(struct projector *p, const struct sql_statements *list,
                     struct rdb_fault *fault)
{
    struct ledger_row row;
    struct buf more = text_begin();
    if (list->failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    if (!read_schema(p, &row, fault))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (slice_contains(row.later, list->list[i])) // of a backfill that was interrupted
            continue;
        buf_slice(&more, list->list[i]);
        buf_text(&more, STATEMENT_END);
    }
    // Added by the database: another source of the projection may be doing the same.
    struct buf text = text_begin();
    buf_text(&text, "UPDATE ");
    put_ledger(&text, p);
    buf_text(&text, " SET later = COALESCE(later, '') || ");
    sql_quote(&text, buf_view(&more));
    put_row(&text, p, SLICE_LIT(""));
    bool ok = !more.failed || rdb_fail(fault, RDB_AWAY, "out of memory");
    buf_release(&more);
    if (ok)
        return run_text(p, &text, fault);
    buf_release(&text);
    return false;
}

bool projector_finish(struct projector *p, struct rdb_fault *fault)
{
    struct ledger_row row;
    if (!read_schema(p, &row, fault))
        return false;
    if (!row.found || row.pending || row.later.len == 0)
        return true;
    struct slice rest = row.later;
    while (rest.len > 0) {
        const uint8_t *end = memmem(rest.ptr, rest.len, STATEMENT_END, 4);
        size_t len = end == NULL ? rest.len : (size_t)(end - rest.ptr);
        struct slice statement = slice_of(rest.ptr, len);
        rest = end == NULL ? slice_of(NULL, 0) : slice_of(end + 4, rest.len - len - 4);
        if (statement.len == 0 || run(p, statement, fault) || fault->exists)
            continue;
        if (fault->class == RDB_AWAY || fault->class == RDB_FULL)
            return false;
        log_warn("projection %.*s: \"%.*s\" cannot be done: %s", SLICE_FMT(p->id),
                 SLICE_FMT(statement), fault->text);
    }
    struct buf text = text_begin();
    buf_text(&text, "UPDATE ");
    put_ledger(&text, p);
    buf_text(&text, " SET later = NULL");
    put_row(&text, p, SLICE_LIT(""));
    // What another source has left meanwhile is for its own end.
    buf_text(&text, " AND later = ");
    sql_quote(&text, row.later);
    return run_text(p, &text, fault);
}
