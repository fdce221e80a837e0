// A schema as text and back. A line is a thing, its fields are separated by tabs; a tab, a line's
// end or a backslash in a field has a backslash before it. Tables name each other.
#include "sql/schema.h"

#include <stdlib.h>

enum { FIELDS_MAX_LINE = 200 };
static const char banner[] = "dolmen-sql\t1";

// ---- Writing
// -------------------------------------------------------------------------------------

static void put_field(struct buf *out, struct slice text)
{
    buf_byte(out, '\t');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte == '\\' || byte == '\t' || byte == '\n')
            buf_byte(out, '\\');
        buf_byte(out, byte == '\t' ? 't' : byte == '\n' ? 'n' : byte);
    }
}

static void put_number(struct buf *out, size_t number)
{
    buf_printf(out, "\t%zu", number);
}

static void put_columns(struct buf *out, const struct sql_columns *columns)
{
    put_number(out, columns->count);
    for (size_t i = 0; i < columns->count; i++)
        put_number(out, columns->list[i]);
}

static struct slice name_of(const struct sql_table *table)
{
    return table == NULL ? slice_of(NULL, 0) : table->name;
}

static void put_table(struct buf *out, const struct sql_table *table)
{
    buf_text(out, "table");
    put_number(out, table->kind);
    put_field(out, table->name);
    put_field(out, table->entity_name);
    put_field(out, table->doc);
    put_number(out, table->loose);
    put_number(out, table->moves);
    put_number(out, table->closed);
    put_number(out, table->both);
    put_number(out, table->both_rows);
    put_number(out, table->tenant);
    put_field(out, name_of(table->tenant_via));
    put_number(out, table->tenant_key);
    put_field(out, name_of(table->parent));
    put_field(out, name_of(table->group));
    buf_text(out, "\nkey");
    put_columns(out, &table->key);
    buf_byte(out, '\n');
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sql_column *column = &table->columns[i];
        buf_text(out, "column");
        put_field(out, column->name);
        put_field(out, slice_str(sql_kind_word(column->kind)));
        put_number(out, column->required);
        put_number(out, column->both);
        put_number(out, column->source);
        put_number(out, column->fold);
        put_number(out, column->by);
        put_field(out, column->from);
        put_field(out, column->doc);
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < table->index_count; i++) {
        const struct sql_index *index = &table->indexes[i];
        buf_text(out, "index");
        put_field(out, index->name);
        put_number(out, index->unique);
        put_field(out, index->where);
        put_columns(out, &index->columns);
        for (size_t k = 0; k < index->columns.count; k++)
            put_number(out, index->descending != NULL && index->descending[k]);
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < table->foreign_count; i++) {
        const struct sql_foreign *foreign = &table->foreigns[i];
        buf_text(out, "foreign");
        put_field(out, foreign->name);
        put_field(out, foreign->target->name);
        put_number(out, foreign->on_delete);
        put_number(out, foreign->soft);
        put_columns(out, &foreign->columns);
        put_columns(out, &foreign->keys);
        buf_byte(out, '\n');
    }
}

void sql_schema_text(const struct sql_schema *schema, struct buf *out)
{
    buf_text(out, banner);
    put_number(out, schema->dialect);
    put_field(out, schema->name);
    put_field(out, schema->projection);
    put_field(out, schema->tenant);
    put_number(out, schema->table_count);
    put_number(out, schema->view_count);
    buf_byte(out, '\n');
    for (size_t i = 0; i < schema->table_count; i++)
        put_table(out, schema->tables[i]);
    for (size_t i = 0; i < schema->view_count; i++) {
        buf_text(out, "view");
        put_field(out, schema->views[i].name);
        put_field(out, schema->views[i].query);
        buf_byte(out, '\n');
    }
    buf_text(out, "end\n");
}

// ---- Reading
// -------------------------------------------------------------------------------------

// Tables are told by name until all are there.
struct draft {
    struct sql_table table;
    struct slice via;
    struct slice parent;
    struct slice group;
    struct slice *targets; // of foreigns
};

struct reading {
    struct arena *arena;
    struct slice rest;
    bool wrong; // no such text, or memory is out
    bool ended; // its last line was read
    size_t field_count;
    struct slice fields[FIELDS_MAX_LINE];
    size_t at; // the next field
    struct sql_schema *schema;
    struct draft **drafts;
};

static struct slice unescape(struct reading *r, struct slice field)
{
    uint8_t *made = arena_alloc(r->arena, field.len + 1);
    size_t len = 0;
    if (made == NULL) {
        r->wrong = true;
        return slice_of(NULL, 0);
    }
    for (size_t i = 0; i < field.len; i++) {
        uint8_t byte = field.ptr[i];
        if (byte == '\\' && i + 1 < field.len) {
            byte = field.ptr[++i];
            byte = byte == 't' ? '\t' : byte == 'n' ? '\n' : byte;
        }
        made[len++] = byte;
    }
    return slice_of(made, len);
}

// The next line's fields; false at the end.
static bool next_line(struct reading *r)
{
    if (r->rest.len == 0 || r->wrong)
        return false;
    const uint8_t *end = memchr(r->rest.ptr, '\n', r->rest.len);
    size_t len = end == NULL ? r->rest.len : (size_t)(end - r->rest.ptr);
    struct slice line = slice_of(r->rest.ptr, len);
    r->rest = slice_of(r->rest.ptr + len, r->rest.len - len);
    if (r->rest.len > 0)
        r->rest = slice_of(r->rest.ptr + 1, r->rest.len - 1);
    r->field_count = 0;
    r->at = 1;
    for (size_t from = 0; from <= line.len;) {
        const uint8_t *tab =
            from == line.len ? NULL : memchr(line.ptr + from, '\t', line.len - from);
        size_t to = tab == NULL ? line.len : (size_t)(tab - line.ptr);
        if (r->field_count == FIELDS_MAX_LINE) {
            r->wrong = true;
            return false;
        }
        r->fields[r->field_count++] = slice_of(line.ptr + from, to - from);
        from = to + 1;
    }
    return true;
}

static struct slice field(struct reading *r)
{
    if (r->at >= r->field_count) {
        r->wrong = true;
        return slice_of(NULL, 0);
    }
    return unescape(r, r->fields[r->at++]);
}

static size_t number(struct reading *r)
{
    size_t value = 0;
    struct slice text = field(r);
    bool huge = text.len > 20;
    for (size_t i = 0; i < text.len && !huge; i++) {
        r->wrong = r->wrong || text.ptr[i] < '0' || text.ptr[i] > '9';
        value = value * 10 + (size_t)(text.ptr[i] - '0');
    }
    r->wrong = r->wrong || huge || text.len == 0;
    return value;
}

// One of as many.
static size_t choice(struct reading *r, size_t count)
{
    size_t value = number(r);
    r->wrong = r->wrong || value >= count;
    return r->wrong ? 0 : value;
}

static struct sql_columns columns(struct reading *r)
{
    struct sql_columns out = {choice(r, FIELDS_MAX_LINE), NULL};
    size_t *list = arena_zalloc(r->arena, out.count + 1, sizeof *list);
    r->wrong = r->wrong || list == NULL;
    for (size_t i = 0; !r->wrong && i < out.count; i++)
        list[i] = number(r);
    out.list = list;
    return out;
}

// A list that grows by one at a time.
static void *grow(struct reading *r, const void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return (void *)(uintptr_t)list;
    void *made = arena_zalloc(r->arena, count == 0 ? 1 : count * 2, size);
    if (made == NULL)
        r->wrong = true;
    else if (count > 0)
        memcpy(made, list, count * size);
    return made;
}

static void read_table(struct reading *r)
{
    struct draft *draft = arena_zalloc(r->arena, 1, sizeof *draft);
    struct draft **list = grow(r, r->drafts, r->schema->table_count, sizeof(struct draft *));
    if (draft == NULL || r->wrong) {
        r->wrong = true;
        return;
    }
    r->drafts = list;
    list[r->schema->table_count++] = draft;
    struct sql_table *table = &draft->table;
    table->kind = (enum sql_table_kind)choice(r, SQL_TABLE_GROUP + 1);
    table->name = field(r);
    table->entity_name = field(r);
    table->doc = field(r);
    table->loose = choice(r, 2);
    table->moves = choice(r, 2);
    table->closed = choice(r, 2);
    table->both = choice(r, 2);
    table->both_rows = choice(r, 2);
    table->tenant = number(r);
    draft->via = field(r);
    table->tenant_key = number(r);
    draft->parent = field(r);
    draft->group = field(r);
}

static void read_column(struct reading *r, struct sql_table *table)
{
    struct sql_column *list = grow(r, table->columns, table->column_count, sizeof *list);
    if (r->wrong)
        return;
    table->columns = list;
    struct sql_column *column = &list[table->column_count++];
    *column = (struct sql_column){.name = field(r)};
    struct slice kind = field(r);
    size_t which = 0;
    while (which < SQL_KINDS && !slice_is(kind, sql_kind_word((enum sql_kind)which)))
        which++;
    r->wrong = r->wrong || which == SQL_KINDS;
    column->kind = (enum sql_kind)which;
    column->required = choice(r, 2);
    column->both = choice(r, 2);
    column->source = (enum sql_source)choice(r, SQL_FROM_GROUP + 1);
    column->fold = (enum model_fold)choice(r, MODEL_FOLD_LAST + 1);
    column->by = number(r);
    column->from = field(r);
    column->doc = field(r);
}

static void read_index(struct reading *r, struct sql_table *table)
{
    struct sql_index *list = grow(r, table->indexes, table->index_count, sizeof *list);
    if (r->wrong)
        return;
    table->indexes = list;
    struct sql_index *index = &list[table->index_count++];
    *index = (struct sql_index){.name = field(r)};
    index->unique = choice(r, 2);
    index->where = field(r);
    index->columns = columns(r);
    bool *descending = arena_zalloc(r->arena, index->columns.count + 1, sizeof *descending);
    r->wrong = r->wrong || descending == NULL;
    for (size_t i = 0; !r->wrong && i < index->columns.count; i++)
        descending[i] = choice(r, 2);
    index->descending = descending;
}

static void read_foreign(struct reading *r, struct draft *draft)
{
    struct sql_table *table = &draft->table;
    struct sql_foreign *list = grow(r, table->foreigns, table->foreign_count, sizeof *list);
    struct slice *targets = grow(r, draft->targets, table->foreign_count, sizeof *targets);
    if (r->wrong)
        return;
    table->foreigns = list;
    draft->targets = targets;
    struct sql_foreign *foreign = &list[table->foreign_count];
    *foreign = (struct sql_foreign){.name = field(r)};
    targets[table->foreign_count++] = field(r);
    foreign->on_delete = (enum model_on_delete)choice(r, MODEL_DELETE_LEAVE + 1);
    foreign->soft = choice(r, 2);
    foreign->columns = columns(r);
    foreign->keys = columns(r);
}

static void read_view(struct reading *r)
{
    struct sql_view *list = grow(r, r->schema->views, r->schema->view_count, sizeof *list);
    if (r->wrong)
        return;
    r->schema->views = list;
    list[r->schema->view_count].name = field(r);
    list[r->schema->view_count++].query = field(r);
}

static void read_line(struct reading *r)
{
    struct slice what = r->fields[0];
    struct draft *last = r->schema->table_count == 0 ? NULL : r->drafts[r->schema->table_count - 1];
    r->wrong = r->wrong || r->ended;
    if (slice_is(what, "end"))
        r->ended = true;
    else if (slice_is(what, "table"))
        read_table(r);
    else if (slice_is(what, "view"))
        read_view(r);
    else if (last == NULL)
        r->wrong = true;
    else if (slice_is(what, "key"))
        last->table.key = columns(r);
    else if (slice_is(what, "column"))
        read_column(r, &last->table);
    else if (slice_is(what, "index"))
        read_index(r, &last->table);
    else if (slice_is(what, "foreign"))
        read_foreign(r, last);
    else
        r->wrong = true;
}

// ---- Putting it together
// -------------------------------------------------------------------------

static bool within(const struct sql_columns *columns, size_t count)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->list[i] >= count)
            return false;
    return true;
}

static const struct sql_table *named(struct reading *r, struct slice name)
{
    const struct sql_table *found = name.len == 0 ? NULL : sql_schema_table(r->schema, name);
    r->wrong = r->wrong || (name.len > 0 && found == NULL);
    return found;
}

static void settle(struct reading *r, struct draft *draft)
{
    struct sql_table *table = &draft->table;
    table->tenant_via = named(r, draft->via);
    table->parent = named(r, draft->parent);
    table->group = named(r, draft->group);
    bool ok = within(&table->key, table->column_count) &&
              (table->tenant_via == NULL || table->tenant_key < table->tenant_via->column_count) &&
              (table->kind != SQL_TABLE_GROUP || table->group != NULL) &&
              (table->kind != SQL_TABLE_CHILD || table->parent != NULL);
    for (size_t i = 0; ok && i < table->column_count; i++)
        ok = table->kind != SQL_TABLE_GROUP || table->columns[i].by < table->group->column_count;
    for (size_t i = 0; ok && i < table->index_count; i++)
        ok = within(&table->indexes[i].columns, table->column_count);
    for (size_t i = 0; ok && i < table->foreign_count; i++) {
        struct sql_foreign *foreign = (struct sql_foreign *)&table->foreigns[i];
        foreign->target = named(r, draft->targets[i]);
        ok = foreign->target != NULL && within(&foreign->columns, table->column_count) &&
             within(&foreign->keys, foreign->target->column_count);
    }
    r->wrong = r->wrong || !ok;
}

const struct sql_schema *sql_schema_read(struct slice text, struct arena *arena)
{
    struct reading r = {.arena = arena, .rest = text};
    r.schema = arena_zalloc(arena, 1, sizeof *r.schema);
    if (r.schema == NULL || !next_line(&r) || r.field_count < 2 ||
        !slice_is(r.fields[0], "dolmen-sql") || !slice_is(r.fields[1], "1"))
        return NULL;
    r.at = 2;
    r.schema->dialect = (enum sql_dialect)choice(&r, 2);
    r.schema->name = field(&r);
    r.schema->projection = field(&r);
    r.schema->tenant = field(&r);
    size_t tables = number(&r);
    size_t views = number(&r);
    while (next_line(&r))
        read_line(&r);
    if (r.wrong || !r.ended || tables != r.schema->table_count || views != r.schema->view_count)
        return NULL; // another text, or a part of one
    r.schema->tables = arena_zalloc(arena, tables + 1, sizeof(struct sql_table *));
    if (r.schema->tables == NULL)
        return NULL;
    for (size_t i = 0; i < tables; i++)
        r.schema->tables[i] = &r.drafts[i]->table;
    for (size_t i = 0; !r.wrong && i < tables; i++)
        settle(&r, r.drafts[i]);
    return r.wrong ? NULL : r.schema;
}
