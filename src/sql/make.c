// A schema out of a model: tables of entities and their columns. Indexes are in make_index.c,
// everything that a mapping has beside in make_more.c.
#include "sql/make.h"

#include "base/encode.h"
#include "model/address.h"

// ---- Memory and errors
// ---------------------------------------------------------------------------

void *make_alloc(struct sql_maker *m, size_t count, size_t size)
{
    return arena_zalloc(m->arena, count + 1, size);
}

bool make_error(struct sql_maker *m, struct slice error)
{
    if (m->error.len == 0)
        m->error = error;
    return false;
}

// ---- Names
// ---------------------------------------------------------------------------------------

struct slice make_name(struct sql_maker *m, struct slice name)
{
    uint8_t digest[32];
    char hex[2 * sizeof(digest)];
    enum { MARK = 8 };
    if (name.len <= LIMIT_SQL_NAME)
        return name;
    sha256_of(name, digest);
    hex_text(slice_of(digest, sizeof(digest)), hex);
    size_t len = LIMIT_SQL_NAME - MARK - 1;
    while (len > 0 && (name.ptr[len] & 0xc0) == 0x80)
        len--; // not inside of a character
    return TEXT(&m->w, "%s_%s", slice_of(name.ptr, len), slice_of(hex, MARK));
}

// Two attributes whose names differ only in their writing keep their own names.
struct slice make_column_name(struct sql_maker *m, const struct model_entity *entity,
                              const struct model_attribute *attribute)
{
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *other = &entity->attributes[i];
        if (other != attribute && text_alike(other->name, attribute->name))
            return make_name(m, attribute->name);
    }
    return make_name(m, text_snake(&m->w, attribute->name));
}

struct slice make_index_name(struct sql_maker *m, const struct sql_table *table,
                             const struct sql_columns *columns, const char *suffix)
{
    struct slice name = table->name;
    for (size_t i = 0; i < columns->count; i++)
        name = TEXT(&m->w, "%s_%s", name, table->columns[columns->list[i]].name);
    return make_name(m, TEXT(&m->w, "%s_%s", name, slice_str(suffix)));
}

// ---- Columns
// -------------------------------------------------------------------------------------

static enum sql_kind value_kind(const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        switch (value_type(expr->value)) {
        case VALUE_S:
            return SQL_TEXT;
        case VALUE_N:
            return SQL_NUMERIC;
        case VALUE_BOOL:
            return SQL_BOOLEAN;
        default:
            return SQL_JSON;
        }
    case MODEL_EXPR_PATH: {
        const struct model_type *type = model_path_type(expr);
        return type == NULL ? SQL_JSON : sql_kind(type);
    }
    case MODEL_EXPR_TEMPLATE:
        return SQL_TEXT;
    case MODEL_EXPR_CALL:
        return expr->function == MODEL_FN_SIZE ? SQL_BIGINT : SQL_TEXT;
    case MODEL_EXPR_ELSE: {
        enum sql_kind kind = value_kind(expr->args[0]);
        enum sql_kind other = value_kind(expr->args[1]);
        bool numbers = (kind == SQL_BIGINT || kind == SQL_NUMERIC) &&
                       (other == SQL_BIGINT || other == SQL_NUMERIC);
        bool literal = expr->args[1]->kind == MODEL_EXPR_VALUE;
        return kind == other ? kind
               : numbers     ? SQL_NUMERIC
               : literal && other == SQL_TEXT && kind != SQL_BIGINT && kind != SQL_NUMERIC &&
                       kind != SQL_BOOLEAN && kind != SQL_BYTES
                   ? SQL_TEXT
                   : SQL_JSON;
    }
    default:
        return expr_is_number(expr) ? SQL_NUMERIC : value_kind(expr->args[0]);
    }
}

struct presence {
    bool always;
};

static void look_for_optional(void *context, const struct model_expr *part)
{
    struct presence *presence = context;
    if (part->kind == MODEL_EXPR_PATH &&
        (part->step_count > 1 || part->attribute == NULL || !attribute_always(part->attribute)))
        presence->always = false;
}

// Whether each valid item has a value for it.
static bool is_always(const struct model_expr *expr)
{
    struct presence presence = {true};
    if (expr->kind == MODEL_EXPR_ELSE)
        return is_always(expr->args[0]) || is_always(expr->args[1]);
    if (expr->kind == MODEL_EXPR_VALUE)
        return value_type(expr->value) != VALUE_NULL;
    model_expr_visit(expr, look_for_optional, &presence);
    return presence.always;
}

struct sql_column *make_column(struct sql_table *table)
{
    return (struct sql_column *)&table->columns[table->column_count++];
}

void make_item_column(struct sql_maker *m, struct sql_table *table, struct slice name,
                      const struct model_expr *value)
{
    struct sql_column *column = make_column(table);
    const struct model_attribute *plain =
        value->kind == MODEL_EXPR_PATH && value->step_count == 1 ? value->attribute : NULL;
    *column = (struct sql_column){.name = name,
                                  .kind = value_kind(value),
                                  .required = is_always(value),
                                  .source = SQL_FROM_ITEM,
                                  .value = value,
                                  .attribute = plain,
                                  .from = text_expr(&m->w, value, NULL),
                                  .doc = plain == NULL ? slice_of(NULL, 0) : plain->doc};
}

void make_mapped_column(struct sql_maker *m, struct sql_table *table,
                        const struct model_column *column)
{
    struct sql_column *made = (struct sql_column *)&table->columns[table->column_count];
    make_item_column(m, table, column->name, column->value);
    if (column->as == MODEL_ANY)
        return;
    made->kind = column->as == MODEL_TIMESTAMP ? SQL_TIMESTAMP : SQL_BIGINT;
    made->from = TEXT(&m->w, "%s as %s", made->from, slice_str(model_type_words[column->as]));
}

const struct model_expr *make_path(struct sql_maker *m, const struct model_attribute *attribute)
{
    struct model_expr *path = make_alloc(m, 1, sizeof *path);
    if (path != NULL)
        *path = (struct model_expr){.kind = MODEL_EXPR_PATH,
                                    .step_count = 1,
                                    .steps = &attribute->name,
                                    .attribute = attribute};
    return path;
}

bool make_columns(struct sql_maker *m, const struct sql_table *table,
                  const struct model_columns *names, struct sql_columns *out)
{
    size_t *list = make_alloc(m, names->count, sizeof *list);
    if (list == NULL)
        return false;
    *out = (struct sql_columns){names->count, list};
    for (size_t i = 0; i < names->count; i++) {
        list[i] = sql_table_column(table, names->names[i]);
        for (size_t k = 0; list[i] == table->column_count && k < table->column_count; k++)
            if (table->columns[k].attribute != NULL &&
                slice_equal(table->columns[k].attribute->name, names->names[i]))
                list[i] = k;
        if (list[i] == table->column_count)
            return make_error(
                m, TEXT(&m->w, "table \"%s\" has no column \"%s\"", table->name, names->names[i]));
    }
    return true;
}

// ---- Tables
// --------------------------------------------------------------------------------------

struct sql_table *make_table(struct sql_maker *m, enum sql_table_kind kind,
                             const struct model_entity *entity, struct slice name, size_t columns)
{
    struct sql_table *table = make_alloc(m, 1, sizeof *table);
    struct sql_column *list = make_alloc(m, columns, sizeof *list);
    if (table == NULL || list == NULL)
        return NULL;
    *table = (struct sql_table){.kind = kind,
                                .name = name,
                                .entity = entity,
                                .entity_name = entity->name,
                                .doc = entity->doc,
                                .columns = list,
                                .tenant = SIZE_MAX};
    m->schema->tables[m->schema->table_count++] = table;
    return table;
}

const struct sql_table *make_find(const struct sql_maker *m, const struct model_entity *entity)
{
    for (size_t i = 0; i < m->schema->table_count; i++)
        if (m->schema->tables[i]->kind == SQL_TABLE_ENTITY &&
            m->schema->tables[i]->entity == entity)
            return m->schema->tables[i];
    return NULL;
}

static bool is_excepted(const struct model_mapping *mapping,
                        const struct model_attribute *attribute)
{
    for (size_t i = 0; mapping != NULL && i < mapping->except_count; i++)
        if (mapping->except[i] == attribute)
            return true;
    return false;
}

static bool make_all_columns(struct sql_maker *m, struct sql_table *table,
                             const struct model_mapping *mapping)
{
    const struct model_entity *entity = table->entity;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (is_excepted(mapping, attribute))
            continue;
        const struct model_expr *path = make_path(m, attribute);
        if (path == NULL)
            return false;
        make_item_column(m, table, make_column_name(m, entity, attribute), path);
    }
    return true;
}

// The columns that hold the attributes of the item's key. An entity whose key is constant has one
// row, which a column of its own says.
static bool make_item_key(struct sql_maker *m, struct sql_table *table)
{
    static const uint8_t truth[] = {VALUE_TAG_TRUE};
    struct fields fields = {0};
    fields_of_keys(&fields, table->entity);
    size_t *list = make_alloc(m, table->column_count + 1, sizeof *list);
    if (list == NULL)
        return false;
    table->key.list = list;
    for (size_t i = 0; i < fields.count; i++) {
        const struct sql_column *column = sql_column_of(table, fields.list[i]);
        if (column != NULL)
            list[table->key.count++] = (size_t)(column - table->columns);
    }
    if (table->key.count == fields.count && fields.count > 0)
        return true;
    // Parts of the key stand in columns that are made of several: all such together are the key.
    table->key.count = 0;
    for (size_t i = 0; fields.count > 0 && i < table->column_count; i++) {
        struct fields used = {0};
        fields_of_expr(&used, table->columns[i].value);
        for (size_t k = 0; k < fields.count; k++)
            if (fields_have(&used, fields.list[k]) &&
                (table->key.count == 0 || list[table->key.count - 1] != i))
                list[table->key.count++] = i;
    }
    if (fields.count > 0)
        return true;
    struct model_expr *value = make_alloc(m, 1, sizeof *value);
    if (value == NULL)
        return false;
    *value = (struct model_expr){.kind = MODEL_EXPR_VALUE, .value = slice_of(truth, sizeof(truth))};
    list[table->key.count++] = table->column_count;
    make_item_column(m, table, SLICE_LIT("only_row"), value);
    return true;
}

// Whether the key can be another one, while the item's stays: it is not made of that alone.
static bool key_moves(const struct sql_table *table)
{
    struct fields keys = {0};
    fields_of_keys(&keys, table->entity);
    for (size_t i = 0; i < table->key.count; i++) {
        struct fields used = {0};
        fields_of_expr(&used, table->columns[table->key.list[i]].value);
        for (size_t k = 0; k < used.count; k++)
            if (!fields_have(&keys, used.list[k]) && !used.list[k]->immutable)
                return true;
    }
    return false;
}

static bool is_both(const struct model_mapping *mapping, const struct sql_column *column)
{
    const struct model_attribute *attribute = column->attribute;
    if (mapping == NULL || !mapping->both || attribute == NULL || attribute->always ||
        attribute->version || attribute->tally != NULL || attribute->counted)
        return false;
    for (size_t i = 0; i < mapping->columns_both.count; i++)
        if (slice_equal(mapping->columns_both.names[i], column->name) ||
            slice_equal(mapping->columns_both.names[i], attribute->name))
            return true;
    return mapping->columns_both.count == 0;
}

// The table of an entity; the mapping may be NULL.
static bool make_entity(struct sql_maker *m, const struct model_entity *entity,
                        const struct model_mapping *mapping)
{
    size_t count = mapping == NULL || mapping->column_count == 0 ? entity->attribute_count
                                                                 : mapping->column_count;
    struct slice name = mapping != NULL
                            ? mapping->name
                            : make_name(m, text_snake(&m->w, text_entity(&m->w, entity)));
    struct sql_table *table = make_table(m, SQL_TABLE_ENTITY, entity, name, count + 1);
    if (table == NULL)
        return false;
    for (size_t i = 0; mapping != NULL && i < mapping->column_count; i++)
        make_mapped_column(m, table, &mapping->columns[i]);
    if (table->column_count == 0 && !make_all_columns(m, table, mapping))
        return false;
    bool keyed = mapping != NULL && mapping->key.count > 0
                     ? make_columns(m, table, &mapping->key, &table->key)
                     : make_item_key(m, table);
    if (!keyed)
        return false;
    for (size_t i = 0; i < table->key.count; i++)
        table->loose = table->loose || !table->columns[table->key.list[i]].required;
    table->moves = key_moves(table);
    for (size_t i = 0; i < table->column_count; i++) {
        struct sql_column *column = (struct sql_column *)&table->columns[i];
        column->both = is_both(mapping, column);
        table->both = table->both || column->both;
    }
    table->both_rows = table->both && mapping->columns_both.count == 0;
    bool own = mapping != NULL &&
               (mapping->column_count > 0 || mapping->index_count > 0 || mapping->unique_count > 0);
    return own ? make_mapped_indexes(m, table, mapping) : make_default_indexes(m, table);
}

// ---- Looking things up
// ---------------------------------------------------------------------------

const struct sql_table *sql_schema_table(const struct sql_schema *schema, struct slice name)
{
    for (size_t i = 0; i < schema->table_count; i++)
        if (slice_equal(schema->tables[i]->name, name))
            return schema->tables[i];
    return NULL;
}

const struct sql_table *sql_schema_next(const struct sql_schema *schema,
                                        const struct model_entity *entity,
                                        const struct sql_table *last)
{
    bool behind = last == NULL;
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *table = schema->tables[i];
        if (behind && table->kind != SQL_TABLE_GROUP && table->entity != NULL &&
            slice_equal(table->entity->name, entity->name) &&
            slice_equal(table->entity->table->name, entity->table->name))
            return table;
        behind = behind || table == last;
    }
    return NULL;
}

size_t sql_table_column(const struct sql_table *table, struct slice name)
{
    size_t at = 0;
    while (at < table->column_count && !slice_equal(table->columns[at].name, name))
        at++;
    return at;
}

bool sql_columns_have(const struct sql_columns *columns, size_t column)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->list[i] == column)
            return true;
    return false;
}

// ---- The whole
// -----------------------------------------------------------------------------------

static const struct model_mapping *mapping_of(const struct model_project *project,
                                              const struct model_entity *entity)
{
    for (size_t i = 0; project != NULL && i < project->mapping_count; i++)
        if (project->mappings[i].entity == entity && !project->mappings[i].group)
            return &project->mappings[i];
    return NULL;
}

static bool make_entities(struct sql_maker *m)
{
    const struct model_project *project = m->request->project;
    for (size_t i = 0; project != NULL && i < project->entity_count; i++)
        if (!make_entity(m, project->entities[i], mapping_of(project, project->entities[i])))
            return false;
    for (const struct model_entity *entity = NULL;
         project == NULL && (entity = next_entity(&m->w, entity)) != NULL;)
        if (!make_entity(m, entity, NULL))
            return false;
    return true;
}

static bool make_mapped(struct sql_maker *m)
{
    const struct model_project *project = m->request->project;
    for (size_t i = 0; project != NULL && i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        struct sql_table *table = (struct sql_table *)make_find(m, mapping->entity);
        if (mapping->group ? !make_group(m, mapping)
                           : !make_foreigns(m, table, mapping) || !make_children(m, table, mapping))
            return false;
    }
    return make_tenants(m) && make_views(m);
}

// Names that two tables, or two columns, would have.
static bool make_apart(struct sql_maker *m)
{
    const struct sql_schema *schema = m->schema;
    for (size_t i = 0; i < schema->table_count; i++) {
        const struct sql_table *table = schema->tables[i];
        for (size_t k = 0; k < i; k++)
            if (slice_equal(schema->tables[k]->name, table->name))
                return make_error(m, TEXT(&m->w,
                                          "two tables would be called \"%s\": name one with \"as\"",
                                          table->name));
        for (size_t k = 0; k < table->column_count; k++)
            if (sql_table_column(table, table->columns[k].name) < k)
                return make_error(m, TEXT(&m->w, "table \"%s\" would have two columns \"%s\"",
                                          table->name, table->columns[k].name));
    }
    for (size_t i = 0; i < schema->view_count; i++)
        if (sql_schema_table(schema, schema->views[i].name) != NULL)
            return make_error(
                m, TEXT(&m->w, "a table and a view would be called \"%s\"", schema->views[i].name));
    return true;
}

// At most as many tables as there will be.
static size_t table_room(const struct sql_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->model->table_count; i++)
        count += request->model->tables[i].entity_count;
    for (size_t i = 0; request->project != NULL && i < request->project->mapping_count; i++)
        count += 2 + request->project->mappings[i].each_count;
    return count;
}

static struct slice schema_option(const struct model_project *project)
{
    for (size_t i = 0; project != NULL && i < project->option_count; i++)
        if (slice_is(project->options[i].name, "schema"))
            return project->options[i].value;
    return slice_of(NULL, 0);
}

const struct sql_schema *sql_schema_make(const struct sql_request *request, struct arena *arena,
                                         struct slice *error)
{
    struct sql_maker m = {.request = request, .arena = arena};
    m.schema = arena_zalloc(arena, 1, sizeof *m.schema);
    *error = slice_of(NULL, 0);
    if (m.schema == NULL)
        return NULL;
    buf_init(&m.none, 1);
    m.w = (struct writer){.model = request->model,
                          .only = request->table,
                          .schema = m.schema,
                          .out = &m.none,
                          .arena = arena};
    m.schema->dialect = request->dialect;
    if (request->dialect == SQL_POSTGRES)
        m.schema->name = schema_option(request->project);
    if (request->project != NULL)
        m.schema->projection = request->project->name;
    if (request->model->table_count > 0)
        m.schema->tenant = request->model->tables[0].tenant;
    m.schema->tables = make_alloc(&m, table_room(request), sizeof(struct sql_table *));
    bool ok = m.schema->tables != NULL && make_entities(&m) && make_mapped(&m) && make_apart(&m) &&
              !m.none.failed;
    buf_release(&m.none);
    *error = m.error;
    return ok ? m.schema : NULL;
}
