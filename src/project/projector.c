// Changes into rows, rows into transactions. See projector.h.
//
// The order within a transaction: children go before their parents, everything that goes before
// anything that comes, parents before children, and groups last. Foreign keys are deferred, so the
// order matters to triggers and to unique values that move from one item to another.
#include "project/projector_internal.h"

#include "base/hash.h"
#include "guard/entity.h"
#include "value/value.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PROJECTOR_MEMORY = 64 << 20,
    BATCH_MEMORY = 512 << 20,
    KEY_SEED = 0x9a0e,
};

// All changes of an item in a batch, as one.
struct cell {
    struct slice keys;
    struct slice old_item;
    struct slice new_item;
    bool refused;
    const char *reason;
};

// ---- Rows ------------------------------------------------------------------------------------

static bool refuse(struct projector *p, struct cell *cell, const char *reason)
{
    cell->refused = true;
    cell->reason = arena_printf(&p->reasons, "%s", reason);
    if (cell->reason == NULL)
        cell->reason = "out of memory";
    return false;
}

static bool add_columns(struct form_rows *rows, const struct sql_row *row, const size_t *columns,
                        size_t count)
{
    struct sql_value *to = rows_add(rows);
    for (size_t i = 0; to != NULL && i < count; i++)
        to[i] = row->values[columns == NULL ? i : columns[i]];
    return to != NULL;
}

static bool same_key(const struct sql_table *table, const struct sql_row *lean,
                     const struct sql_row *row)
{
    for (size_t i = 0; i < table->key.count; i++) {
        const struct sql_value *one = &lean->values[i];
        const struct sql_value *other = &row->values[table->key.list[i]];
        if (one->form != other->form || !slice_equal(one->text, other->text) ||
            one->integer != other->integer || one->real != other->real)
            return false;
    }
    return true;
}

// The key of the row of what was there: one that has none is not there.
static const struct sql_row *old_row(struct projector *p, const struct form *form,
                                     struct slice item)
{
    struct sql_rows rows;
    struct slice error;
    bool ok = item.len > 0 &&
              sql_rows_make(p->schema, &form->lean, item, &p->scratch, &rows, &error) &&
              rows.count == 1;
    return ok ? &rows.list[0] : NULL;
}

// Takes the children of an item away; the columns are those of its key.
static bool erase_children(struct projector *p, const struct sql_table *parent,
                           const struct sql_row *row, const size_t *columns)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->forms[i].table->kind == SQL_TABLE_CHILD && p->forms[i].table->parent == parent &&
            !add_columns(&p->forms[i].erase.rows, row, columns, parent->key.count))
            return false;
    return true;
}

// The group of a lean row, whose key stands behind that of the row.
static bool touch_lean(const struct projector *p, struct form *form, const struct sql_row *row)
{
    if (form->table->kind != SQL_TABLE_MEMBERS || p->backfilling)
        return true;
    struct sql_row rest = {row->values + form->table->key.count};
    return add_columns(&form->touch.rows, &rest, NULL, form->touch.rows.columns);
}

static bool erase_row(struct projector *p, struct form *form, const struct sql_row *lean)
{
    const struct sql_table *table = form->table;
    return add_columns(&form->erase.rows, lean, NULL, table->key.count) &&
           erase_children(p, table, lean, NULL) && touch_lean(p, form, lean);
}

// Children are replaced even if the item is new: it may be written for the second time.
static bool write_row(struct projector *p, struct form *form, const struct sql_row *row)
{
    const struct sql_table *table = form->table;
    return (!table->loose ||
            add_columns(&form->erase.rows, row, table->key.list, table->key.count)) &&
           add_columns(&form->upsert.rows, row, NULL, table->column_count) &&
           erase_children(p, table, row, table->key.list) &&
           (!form->keep_seen ||
            add_columns(&form->seen.rows, row, table->key.list, table->key.count)) &&
           (table->kind != SQL_TABLE_MEMBERS || p->backfilling ||
            add_columns(&form->touch.rows, row, form->group_key.list, form->group_key.count));
}

// ---- Items -----------------------------------------------------------------------------------

static const struct model_entity *entity_of(const struct projector *p, struct slice item)
{
    return item.len == 0 ? NULL : model_recognise(p->table, item).entity;
}

bool projector_wants(const struct projector *p, const struct model_entity *entity)
{
    return entity != NULL && sql_schema_next(p->schema, entity, NULL) != NULL;
}

// What is in the way of what comes: rows of the old image that the new one does not replace.
static bool leave_table(struct projector *p, struct form *form, const struct cell *cell,
                        const struct sql_row *now)
{
    const struct sql_row *row = old_row(p, form, cell->old_item);
    if (row == NULL)
        return true;
    if (now == NULL || !same_key(form->table, row, now))
        return erase_row(p, form, row);
    return touch_lean(p, form, row);
}

static bool put_children(struct projector *p, struct form *form, struct cell *cell)
{
    struct sql_rows rows;
    struct slice error = slice_of(NULL, 0);
    if (!sql_rows_make(p->schema, form->table, cell->new_item, &p->scratch, &rows, &error))
        return refuse(p, cell, error.len == 0 ? "out of memory" : (const char *)error.ptr);
    for (size_t i = 0; i < rows.count; i++)
        if (!add_columns(&form->upsert.rows, &rows.list[i], NULL, form->table->column_count))
            return refuse(p, cell, "out of memory");
    return true;
}

static bool put_table(struct projector *p, struct form *form, struct cell *cell, bool same_entity)
{
    struct sql_rows rows;
    struct slice error = slice_of(NULL, 0);
    const struct sql_table *table = form->table;
    if (table->kind == SQL_TABLE_CHILD)
        return put_children(p, form, cell);
    if (!sql_rows_make(p->schema, table, cell->new_item, &p->scratch, &rows, &error) ||
        rows.count == 0)
        return refuse(p, cell, error.len == 0 ? "out of memory" : (const char *)error.ptr);
    bool ok = true;
    if (same_entity && (table->moves || table->kind == SQL_TABLE_MEMBERS))
        ok = leave_table(p, form, cell, &rows.list[0]);
    return (ok && write_row(p, form, &rows.list[0])) || refuse(p, cell, "out of memory");
}

// How many rows each statement has: to take back what an item that is refused has added.
struct mark {
    size_t upsert, erase, seen, touch;
};

static void marks_take(const struct projector *p, struct mark *marks)
{
    for (size_t i = 0; i < p->count; i++)
        marks[i] = (struct mark){p->forms[i].upsert.rows.count, p->forms[i].erase.rows.count,
                                 p->forms[i].seen.rows.count, p->forms[i].touch.rows.count};
}

static void marks_restore(struct projector *p, const struct mark *marks)
{
    for (size_t i = 0; i < p->count; i++) {
        p->forms[i].upsert.rows.count = marks[i].upsert;
        p->forms[i].erase.rows.count = marks[i].erase;
        p->forms[i].seen.rows.count = marks[i].seen;
        p->forms[i].touch.rows.count = marks[i].touch;
    }
}

static void cell_rows(struct projector *p, struct cell *cell, struct mark *marks)
{
    const struct model_entity *before = entity_of(p, cell->old_item);
    const struct model_entity *now = entity_of(p, cell->new_item);
    const struct sql_table *at = NULL;
    bool ok = true;
    marks_take(p, marks);
    while (before != NULL && before != now && ok &&
           (at = sql_schema_next(p->schema, before, at)) != NULL) {
        struct form *form = forms_find(p, at);
        ok = form == NULL || at->kind == SQL_TABLE_CHILD || leave_table(p, form, cell, NULL) ||
             refuse(p, cell, "out of memory");
    }
    at = NULL;
    while (now != NULL && ok && (at = sql_schema_next(p->schema, now, at)) != NULL) {
        struct form *form = forms_find(p, at);
        ok = form == NULL || put_table(p, form, cell, before == now);
    }
    if (!ok)
        marks_restore(p, marks);
}

// ---- Transactions ----------------------------------------------------------------------------

static void add_step(struct projector *p, size_t *count, const struct rdb_statement *statement,
                     const struct form_rows *rows)
{
    if (rows != NULL && rows->count == 0)
        return;
    if (*count == p->step_room) {
        p->step_room = 2 * p->step_room + 16;
        p->steps = realloc(p->steps, p->step_room * sizeof(*p->steps));
        ensure_memory(p->steps);
    }
    p->steps[(*count)++] = (struct rdb_step){statement, rows == NULL ? 1 : rows->count,
                                             rows == NULL ? NULL : rows->values};
}

static void add_use(struct projector *p, size_t *count, const struct form_use *use)
{
    add_step(p, count, &use->statement, &use->rows);
}

static void add_groups(struct projector *p, size_t *count)
{
    for (size_t i = 0; i < p->count; i++) {
        struct form *form = &p->forms[i];
        if (form->touch.rows.count == 0)
            continue;
        add_use(p, count, &form->touch);
        add_step(p, count, &form->refresh[0], NULL);
        add_step(p, count, &form->refresh[1], NULL);
        if (p->schema->dialect == SQL_SQLITE)
            add_step(p, count, &form->settle, NULL);
    }
}

static size_t make_steps(struct projector *p, uint64_t position, struct slice note)
{
    size_t count = 0;
    bool quiet = p->both && p->schema->dialect == SQL_SQLITE;
    add_step(p, &count, &p->fence, NULL);
    if (quiet)
        add_step(p, &count, &p->quiet[0], NULL);
    for (size_t i = p->count; i-- > 0;)
        add_use(p, &count, &p->forms[i].erase);
    for (size_t i = 0; i < p->count; i++) {
        p->rows += p->forms[i].upsert.rows.count + p->forms[i].erase.rows.count;
        add_use(p, &count, &p->forms[i].upsert);
        add_use(p, &count, &p->forms[i].seen);
    }
    add_groups(p, &count);
    p->position.rows.count = p->note.rows.count = 0;
    if (position != 0) {
        char digits[24];
        (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)position);
        struct sql_value *to = rows_add(&p->position.rows);
        ensure_memory(to);
        struct slice text = arena_copy(&p->scratch, slice_str(digits));
        bool postgres = p->schema->dialect == SQL_POSTGRES;
        *to = (struct sql_value){.form = postgres ? SQL_FORM_TEXT : SQL_FORM_INTEGER,
                                 .text = text,
                                 .integer = (int64_t)position};
        add_use(p, &count, &p->position);
    }
    if (note.len > 0) {
        struct sql_value *to = rows_add(&p->note.rows);
        ensure_memory(to);
        *to = (struct sql_value){.form = SQL_FORM_TEXT, .text = note};
        add_use(p, &count, &p->note);
    }
    if (quiet)
        add_step(p, &count, &p->quiet[1], NULL);
    return count;
}

// Cells of a batch, and how far the projection comes with them.
struct batch {
    struct cell *cells;
    struct mark *marks;
    uint64_t position;
    struct slice note;
    bool whole; // none was refused
};

static bool write_cells(struct projector *p, struct batch *batch, size_t from, size_t to,
                        struct rdb_fault *fault)
{
    for (size_t i = 0; i < p->count; i++) {
        struct form *form = &p->forms[i];
        form->upsert.rows.count = form->erase.rows.count = 0;
        form->seen.rows.count = form->touch.rows.count = 0;
    }
    arena_reset(&p->scratch);
    for (size_t i = from; i < to; i++) {
        if (!batch->cells[i].refused)
            cell_rows(p, &batch->cells[i], batch->marks);
        batch->whole = batch->whole && !batch->cells[i].refused;
    }
    // Only what ends a batch may move the position, and only if all of it is in the database.
    bool ends = batch->whole && batch->position != UINT64_MAX;
    size_t count = make_steps(p, ends ? batch->position : 0, ends ? batch->note : VALUE_NONE);
    p->batches++;
    return p->rdb->ops->apply(p->rdb, p->steps, count, p->backfilling, fault);
}

// A row that the database refuses is found by halves.
static bool write_range(struct projector *p, struct batch *batch, size_t from, size_t to,
                        struct rdb_fault *fault)
{
    if (write_cells(p, batch, from, to, fault))
        return true;
    if (fault->class != RDB_REFUSED)
        return false;
    if (to - from == 1) {
        DISREGARD(refuse(p, &batch->cells[from], fault->text));
        batch->whole = false;
        return true;
    }
    size_t middle = from + (to - from) / 2;
    uint64_t position = batch->position;
    batch->position = UINT64_MAX;
    if (!write_range(p, batch, from, middle, fault))
        return false;
    batch->position = position;
    return write_range(p, batch, middle, to, fault);
}

// ---- Batches ---------------------------------------------------------------------------------

static size_t find_place(const struct cell *cells, const size_t *places, size_t mask,
                         struct slice keys)
{
    size_t at = (size_t)hash_of(KEY_SEED, keys) & mask;
    while (places[at] != 0 && !slice_equal(cells[places[at] - 1].keys, keys))
        at = (at + 1) & mask;
    return at;
}

static bool apply(struct projector *p, struct projector_change *changes, size_t count,
                  struct batch *batch, struct rdb_fault *fault)
{
    size_t mask = 1;
    while (mask < 2 * count + 1)
        mask = 2 * mask + 1;
    size_t cell_count = 0;
    batch->cells = memory_zeroed((count + 1) * sizeof(*batch->cells));
    batch->marks = memory_zeroed((p->count + 1) * sizeof(*batch->marks));
    size_t *places = memory_zeroed((mask + 1) * sizeof(*places));
    arena_reset(&p->reasons);
    for (size_t i = 0; i < count; i++) {
        size_t at = find_place(batch->cells, places, mask, changes[i].keys);
        if (places[at] == 0) {
            batch->cells[cell_count++] =
                (struct cell){.keys = changes[i].keys, .old_item = changes[i].old_item};
            places[at] = cell_count;
        }
        // An item that came is there already if the changes are read again behind a backfill: what
        // it was when it went is what has to go.
        struct cell *cell = &batch->cells[places[at] - 1];
        if (cell->old_item.len == 0)
            cell->old_item = changes[i].old_item;
        cell->new_item = changes[i].new_item;
    }
    batch->whole = true;
    bool ok = write_range(p, batch, 0, cell_count, fault);
    for (size_t i = 0; i < count && ok; i++) {
        const struct cell *cell =
            &batch->cells[places[find_place(batch->cells, places, mask, changes[i].keys)] - 1];
        changes[i].refused = cell->refused;
        changes[i].reason = cell->reason;
    }
    free(places);
    free(batch->cells);
    free(batch->marks);
    return ok;
}

bool projector_apply(struct projector *p, struct projector_change *changes, size_t count,
                     uint64_t position, bool *claimed, struct rdb_fault *fault)
{
    struct batch batch = {.position = position, .note = VALUE_NONE};
    bool ok = apply(p, changes, count, &batch, fault);
    *claimed = ok && batch.whole && position != 0;
    return ok;
}

bool projector_apply_noted(struct projector *p, struct projector_change *changes, size_t count,
                           struct slice note, struct rdb_fault *fault)
{
    struct batch batch = {.note = note};
    return apply(p, changes, count, &batch, fault);
}

// ---- Beginning and end -----------------------------------------------------------------------

// The name of a projection: that of its rule, behind the first table it is about.
static struct slice id_of(struct projector *p)
{
    const struct model_table *first = p->table;
    struct slice name = p->project == NULL ? SLICE_LIT("all") : p->project->name;
    if (p->project != NULL && p->project->entity_count > 0)
        first = p->project->entities[0]->table;
    const char *text =
        arena_printf(&p->arena, "%.*s.%.*s", SLICE_FMT(first->name), SLICE_FMT(name));
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

static bool schema_make(struct projector *p, enum sql_dialect dialect, struct rdb_fault *fault)
{
    struct slice error = slice_of(NULL, 0);
    p->schema = sql_schema_make(
        &(struct sql_request){.model = p->model, .project = p->project, .dialect = dialect},
        &p->arena, &error);
    if (p->schema == NULL)
        return rdb_fail(fault, RDB_SCHEMA, "%.*s", error.len == 0 ? 13 : (int)error.len,
                        error.len == 0 ? "out of memory" : (const char *)error.ptr);
    for (size_t i = 0; i < p->schema->table_count; i++)
        p->both = p->both || p->schema->tables[i]->both;
    return true;
}

static void owner_name(char out[OWNER_TEXT])
{
    uint8_t bytes[16] = {0};
    ensure(RAND_bytes(bytes, sizeof(bytes)) == 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

struct projector *projector_open(const struct projector_plan *plan, struct rdb_fault *fault)
{
    enum sql_dialect dialect = SQL_POSTGRES;
    struct projector *p = memory_zeroed(sizeof(*p));
    arena_init(&p->arena, PROJECTOR_MEMORY);
    arena_init(&p->scratch, BATCH_MEMORY);
    arena_init(&p->reasons, BATCH_MEMORY);
    p->model = plan->model;
    p->project = plan->project;
    p->table = plan->table;
    p->id = id_of(p);
    p->source = plan->table->name;
    p->table_id = arena_copy(&p->arena, plan->table_id);
    owner_name(p->owner);
    (void)rdb_dialect(plan->target.url, &dialect);
    struct rdb_target target = plan->target;
    bool ok = p->id.ptr != NULL && p->table_id.ptr != NULL;
    if (!ok)
        (void)rdb_fail(fault, RDB_AWAY, "out of memory");
    ok = ok && schema_make(p, dialect, fault);
    if (ok) {
        target.schema = p->schema->name;
        p->rdb = rdb_open(&target, fault);
    }
    if (p->rdb != NULL && projector_settle(p, fault) && forms_make(p, fault) &&
        projector_finish(p, fault))
        return p;
    projector_close(p);
    return NULL;
}

void projector_close(struct projector *p)
{
    if (p->rdb != NULL)
        p->rdb->ops->close(p->rdb);
    forms_release(p);
    arena_release(&p->arena);
    arena_release(&p->scratch);
    arena_release(&p->reasons);
    free(p->steps);
    free(p);
}

struct projector_place projector_place(const struct projector *p)
{
    return p->place;
}

const struct sql_schema *projector_schema(const struct projector *p)
{
    return p->schema;
}

struct rdb *projector_rdb(struct projector *p)
{
    return p->rdb;
}

uint64_t projector_rows(const struct projector *p)
{
    return p->rows;
}

uint64_t projector_batches(const struct projector *p)
{
    return p->batches;
}
