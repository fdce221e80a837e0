// See verify.h.
#include "project/verify.h"

#include "guard/entity.h"
#include "project/projector_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STATEMENT_MAX = 1 << 20,
    VERIFY_MEMORY = 64 << 20,
    ROWS_AT_ONCE = 2000,
    ROWS_BYTES = 8 << 20
};

const char *const verify_words[] = {"missing", "extra", "different"};

struct verifier {
    struct rdb *rdb;
    const struct model_table *table;
    const struct sql_schema *schema;
    struct arena arena;
    struct arena scratch;
    size_t count;
    struct form *forms; // only their upserts are used; a GROUP is computed of its members' check
    uint64_t rows;
    uint64_t refused;
};

static bool is_postgres(const struct verifier *v)
{
    return v->schema->dialect == SQL_POSTGRES;
}

static bool run(struct verifier *v, struct buf *text, struct rdb_fault *fault)
{
    bool ok = text->failed ? rdb_fail(fault, RDB_AWAY, "out of memory")
                           : v->rdb->ops->run(v->rdb, buf_view(text), NULL, NULL, fault);
    buf_release(text);
    return ok;
}

// ---- Opening ---------------------------------------------------------------------------------

static bool make_check(struct verifier *v, struct form *form, size_t number,
                       struct rdb_fault *fault)
{
    struct buf text;
    const struct sql_table *table = form->table;
    enum sql_kind *kinds = arena_zalloc(&v->arena, table->column_count + 1, sizeof(*kinds));
    buf_init(&text, STATEMENT_MAX);
    buf_printf(&text, "CREATE TEMP TABLE dolmen_check_%zu (", number);
    for (size_t i = 0; i < table->column_count && kinds != NULL; i++) {
        kinds[i] = table->columns[i].kind;
        buf_text(&text, i == 0 ? "" : ", ");
        sql_name(&text, table->columns[i].name);
        buf_printf(&text, " %s", sql_type_name(v->schema->dialect, kinds[i]));
    }
    buf_text(&text, ")");
    if (kinds == NULL || !run(v, &text, fault))
        return kinds != NULL ? false : rdb_fail(fault, RDB_AWAY, "out of memory");
    if (table->kind == SQL_TABLE_GROUP)
        return true;
    buf_init(&text, STATEMENT_MAX);
    buf_printf(&text, "INSERT INTO dolmen_check_%zu", number);
    put_source(&text, v->schema->dialect, kinds, table->column_count, "");
    struct slice copy = arena_keep(&v->arena, &text);
    form->upsert.statement = (struct rdb_statement){(const char *)copy.ptr, table->column_count,
                                                    kinds, (unsigned)number};
    form->upsert.rows.columns = table->column_count;
    return copy.ptr != NULL || rdb_fail(fault, RDB_AWAY, "out of memory");
}

static bool make_checks(struct verifier *v, struct rdb_fault *fault)
{
    bool ok = true;
    size_t prepared = 0;
    v->forms = arena_zalloc(&v->arena, v->schema->table_count + 1, sizeof(*v->forms));
    const struct rdb_statement **list =
        arena_zalloc(&v->arena, v->schema->table_count + 1, sizeof(*list));
    if (v->forms == NULL || list == NULL)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    for (size_t i = 0; i < v->schema->table_count && ok; i++) {
        const struct sql_table *table = v->schema->tables[i];
        if (table->entity == NULL || table->entity->table != v->table)
            continue;
        v->forms[v->count].table = table;
        ok = make_check(v, &v->forms[v->count], v->count, fault);
        if (table->kind != SQL_TABLE_GROUP)
            list[prepared++] = &v->forms[v->count].upsert.statement;
        v->count++;
    }
    return ok && v->rdb->ops->prepare(v->rdb, list, prepared, fault);
}

struct verifier *verifier_open(const struct projector_plan *plan, struct rdb_fault *fault)
{
    struct verifier *v = memory_zeroed(sizeof(*v));
    struct rdb_target target = plan->target;
    struct slice error = slice_of(NULL, 0);
    enum sql_dialect dialect = SQL_POSTGRES;
    arena_init(&v->arena, VERIFY_MEMORY);
    arena_init(&v->scratch, 8 * VERIFY_MEMORY);
    v->table = plan->table;
    (void)rdb_dialect(target.url, &dialect);
    v->schema = sql_schema_make(
        &(struct sql_request){.model = plan->model, .project = plan->project, .dialect = dialect},
        &v->arena, &error);
    if (v->schema == NULL) {
        (void)rdb_fail(fault, RDB_SCHEMA, "%.*s", SLICE_FMT(error));
    } else {
        target.schema = v->schema->name;
        v->rdb = rdb_open(&target, fault);
    }
    if (v->rdb != NULL && make_checks(v, fault))
        return v;
    verifier_close(v);
    return NULL;
}

void verifier_close(struct verifier *v)
{
    if (v->rdb != NULL)
        v->rdb->ops->close(v->rdb);
    for (size_t i = 0; i < v->count; i++)
        free(v->forms[i].upsert.rows.values);
    arena_release(&v->arena);
    arena_release(&v->scratch);
    free(v);
}

// ---- Items -----------------------------------------------------------------------------------

bool verifier_begin(struct verifier *v, struct rdb_fault *fault)
{
    v->rows = v->refused = 0;
    for (size_t i = 0; i < v->count; i++) {
        struct buf text;
        buf_init(&text, STATEMENT_MAX);
        buf_printf(&text,
                   is_postgres(v) ? "TRUNCATE dolmen_check_%zu" : "DELETE FROM dolmen_check_%zu",
                   i);
        v->forms[i].upsert.rows.count = 0;
        if (!run(v, &text, fault))
            return false;
    }
    return true;
}

static bool flush(struct verifier *v, struct rdb_fault *fault)
{
    bool ok = true;
    for (size_t i = 0; i < v->count && ok; i++) {
        struct form_use *use = &v->forms[i].upsert;
        struct rdb_step step = {&use->statement, use->rows.count, use->rows.values};
        ok = use->rows.count == 0 || v->rdb->ops->apply(v->rdb, &step, 1, true, fault);
        use->rows.count = 0;
    }
    arena_reset(&v->scratch);
    return ok;
}

static bool add_rows(struct verifier *v, struct form *form, struct slice item,
                     struct rdb_fault *fault)
{
    struct sql_rows rows;
    struct slice error = slice_of(NULL, 0);
    if (!sql_rows_make(v->schema, form->table, item, &v->scratch, &rows, &error)) {
        v->refused++;
        return error.len > 0 || rdb_fail(fault, RDB_AWAY, "out of memory");
    }
    for (size_t i = 0; i < rows.count; i++) {
        struct sql_value *to = rows_add(&form->upsert.rows);
        if (to == NULL)
            return rdb_fail(fault, RDB_AWAY, "out of memory");
        memcpy(to, rows.list[i].values, form->table->column_count * sizeof(*to));
        v->rows++;
    }
    return form->upsert.rows.count < ROWS_AT_ONCE || flush(v, fault);
}

bool verifier_add(struct verifier *v, struct slice item, struct rdb_fault *fault)
{
    const struct model_entity *entity = model_recognise(v->table, item).entity;
    const struct sql_table *at = NULL;
    struct slice copy = entity == NULL ? item : arena_copy(&v->scratch, item);
    bool ok = copy.ptr != NULL || rdb_fail(fault, RDB_AWAY, "out of memory");
    while (entity != NULL && ok && (at = sql_schema_next(v->schema, entity, at)) != NULL)
        for (size_t i = 0; i < v->count && ok; i++)
            ok = v->forms[i].table != at || add_rows(v, &v->forms[i], copy, fault);
    return ok && (v->scratch.used < ROWS_BYTES || flush(v, fault));
}

// ---- Comparing -------------------------------------------------------------------------------

// The values of the key, as one text.
static void put_key(struct buf *out, const struct sql_table *table, const char *of)
{
    for (size_t i = 0; i < table->key.count; i++) {
        buf_printf(out, "%scoalesce(CAST(%s.", i == 0 ? "" : " || ', ' || ", of);
        sql_name(out, table->columns[table->key.list[i]].name);
        buf_text(out, " AS text), 'NULL')");
    }
}

// A sum of doubles depends on the order of the rows, so SQLite's is the same if it is nearly so.
static void put_sums_differ(struct buf *out, const struct sql_column *column)
{
    buf_text(out, "(have.");
    sql_name(out, column->name);
    buf_text(out, " IS NOT want.");
    sql_name(out, column->name);
    buf_text(out, " AND coalesce(abs(have.");
    sql_name(out, column->name);
    buf_text(out, " - want.");
    sql_name(out, column->name);
    buf_text(out, ") > 1e-9 * abs(want.");
    sql_name(out, column->name);
    buf_text(out, "), 1))");
}

static void put_equal(struct buf *out, const struct verifier *v, const struct sql_table *table,
                      size_t column, bool equal)
{
    bool postgres = is_postgres(v);
    if (!equal && !postgres && table->columns[column].fold == MODEL_FOLD_SUM) {
        put_sums_differ(out, &table->columns[column]);
        return;
    }
    buf_text(out, "have.");
    sql_name(out, table->columns[column].name);
    buf_text(out, equal      ? postgres ? " IS NOT DISTINCT FROM want." : " IS want."
                  : postgres ? " IS DISTINCT FROM want."
                             : " IS NOT want.");
    sql_name(out, table->columns[column].name);
}

static void put_join(struct buf *out, const struct verifier *v, const struct sql_table *table)
{
    for (size_t i = 0; i < table->key.count; i++) {
        buf_text(out, i == 0 ? "" : " AND ");
        if (table->loose) {
            put_equal(out, v, table, table->key.list[i], true);
            continue;
        }
        buf_text(out, "have.");
        sql_name(out, table->columns[table->key.list[i]].name);
        buf_text(out, " = want.");
        sql_name(out, table->columns[table->key.list[i]].name);
    }
}

static void put_query(struct buf *out, const struct verifier *v, const struct form *form,
                      size_t number, enum verify_what what)
{
    const struct sql_table *table = form->table;
    char check[48];
    struct buf name;
    (void)snprintf(check, sizeof(check), "dolmen_check_%zu", number);
    buf_init(&name, STATEMENT_MAX);
    sql_qualified(&name, v->schema, table->name);
    buf_text(out, "SELECT ");
    put_key(out, table, what == VERIFY_EXTRA ? "have" : "want");
    if (what == VERIFY_DIFFERENT) {
        bool first = true;
        buf_printf(out, " FROM %s AS want JOIN %.*s AS have ON ", check,
                   SLICE_FMT(buf_view(&name)));
        put_join(out, v, table);
        for (size_t i = 0; i < table->column_count; i++) {
            if (sql_columns_have(&table->key, i))
                continue;
            buf_text(out, first ? " WHERE " : " OR ");
            put_equal(out, v, table, i, false);
            first = false;
        }
        buf_text(out, first ? " WHERE 1 = 0" : "");
    } else {
        bool missing = what == VERIFY_MISSING;
        buf_printf(
            out, " FROM %.*s AS %s WHERE NOT EXISTS (SELECT 1 FROM %.*s AS %s WHERE ",
            SLICE_FMT(missing ? slice_str(check) : buf_view(&name)), missing ? "want" : "have",
            SLICE_FMT(missing ? buf_view(&name) : slice_str(check)), missing ? "have" : "want");
        put_join(out, v, table);
        buf_text(out, ")");
    }
    buf_release(&name);
}

// What a group's rows should be: computed of those that its members should be.
static bool fill_group(struct verifier *v, size_t number, struct rdb_fault *fault)
{
    const struct sql_table *group = v->forms[number].table;
    struct sql_statements select;
    struct buf text;
    char members[48];
    size_t at = 0;
    while (at < v->count && v->forms[at].table != group->group)
        at++;
    ensure(at < v->count);
    (void)snprintf(members, sizeof(members), "dolmen_check_%zu", at);
    sql_statements_init(&select, &v->scratch);
    sql_group_select(v->schema, group, slice_str(members), &select);
    if (select.failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    buf_init(&text, STATEMENT_MAX);
    buf_printf(&text, "INSERT INTO dolmen_check_%zu %.*s", number, SLICE_FMT(select.list[0]));
    return run(v, &text, fault);
}

struct telling {
    struct verify_difference found;
    void (*visit)(void *context, const struct verify_difference *found);
    void *context;
};

static bool tell(void *context, size_t count, const struct slice *values)
{
    struct telling *telling = context;
    telling->found.key = count == 0 ? slice_of(NULL, 0) : values[0];
    telling->visit(telling->context, &telling->found);
    return true;
}

bool verifier_end(struct verifier *v,
                  void (*visit)(void *context, const struct verify_difference *found),
                  void *context, struct rdb_fault *fault)
{
    bool ok = flush(v, fault);
    for (size_t i = 0; i < v->count && ok; i++) {
        ok = v->forms[i].table->kind != SQL_TABLE_GROUP || fill_group(v, i, fault);
        for (enum verify_what what = VERIFY_MISSING; what <= VERIFY_DIFFERENT && ok; what++) {
            struct telling telling = {
                {.what = what, .table = v->forms[i].table->name}, visit, context};
            struct buf text;
            buf_init(&text, STATEMENT_MAX);
            if (is_postgres(v) && what == VERIFY_MISSING)
                buf_printf(&text, "ANALYZE dolmen_check_%zu; ", i);
            put_query(&text, v, &v->forms[i], i, what);
            ok = (!text.failed || rdb_fail(fault, RDB_AWAY, "out of memory")) &&
                 v->rdb->ops->run(v->rdb, buf_view(&text), tell, &telling, fault);
            buf_release(&text);
        }
    }
    arena_reset(&v->scratch);
    return ok;
}

uint64_t verifier_rows(const struct verifier *v)
{
    return v->rows;
}

uint64_t verifier_refused(const struct verifier *v)
{
    return v->refused;
}
