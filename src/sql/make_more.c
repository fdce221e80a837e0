// What a mapping has beside its table: foreign keys, tables of members, groups; and whose rows are
// whose, and views, once all tables are there.
#include "sql/make.h"

// ---- Foreign keys
// --------------------------------------------------------------------------------

bool make_foreigns(struct sql_maker *m, struct sql_table *table,
                   const struct model_mapping *mapping)
{
    struct sql_foreign *list = make_alloc(m, mapping->foreign_count, sizeof *list);
    if (list == NULL)
        return false;
    table->foreigns = list;
    for (size_t i = 0; i < mapping->foreign_count; i++) {
        const struct model_foreign *foreign = &mapping->foreigns[i];
        struct sql_foreign *one = &list[table->foreign_count++];
        *one = (struct sql_foreign){.target = make_find(m, foreign->target),
                                    .on_delete = foreign->on_delete,
                                    .soft = foreign->target->table != mapping->entity->table};
        one->keys = one->target->key;
        if (!make_columns(m, table, &foreign->columns, &one->columns))
            return false;
        if (one->keys.count != one->columns.count || one->target->loose)
            return make_error(m, TEXT(&m->w,
                                      "table \"%s\" refers to \"%s\" by another number of columns "
                                      "than its key has",
                                      table->name, one->target->name));
        for (size_t k = 0; k < one->keys.count; k++)
            if (table->columns[one->columns.list[k]].kind !=
                one->target->columns[one->keys.list[k]].kind)
                return make_error(m, TEXT(&m->w,
                                          "column \"%s\" of \"%s\" is of another type than "
                                          "the key of \"%s\"",
                                          table->columns[one->columns.list[k]].name, table->name,
                                          one->target->name));
        one->name = make_index_name(m, table, &one->columns, "fkey");
    }
    return true;
}

// ---- Members
// -------------------------------------------------------------------------------------

static bool each_has(const struct model_each *each, struct slice name)
{
    const struct model_type *type = each->member;
    for (size_t i = 0; i < each->column_count; i++)
        if (slice_equal(each->columns[i].name, name))
            return true;
    return each->column_count == 0 && type->kind == MODEL_OBJECT &&
           model_type_field(type, name) != NULL;
}

// What a column of the parent's key is called here: "id" says nothing, and members may have one,
// too.
static struct slice parent_name(struct sql_maker *m, const struct sql_table *parent,
                                const struct model_each *each, struct slice name)
{
    return slice_is(name, "id") || slice_is(name, "position") || each_has(each, name)
               ? make_name(m, TEXT(&m->w, "%s_%s", text_snake(&m->w, parent->entity_name), name))
               : name;
}

static const struct model_type *member_path(const struct model_type *type,
                                            const struct model_expr *path)
{
    for (size_t i = 0; type != NULL && i < path->step_count; i++) {
        const struct model_attribute *field =
            type->kind == MODEL_OBJECT ? model_type_field(type, path->steps[i]) : NULL;
        type = type->kind == MODEL_RECORD ? type->item : field == NULL ? NULL : field->type;
    }
    return type;
}

static void member_column(struct sql_maker *m, struct sql_table *table,
                          const struct model_each *each, struct slice name,
                          const struct model_expr *value)
{
    const struct model_type *type =
        value->kind == MODEL_EXPR_PATH ? member_path(each->member, value) : each->member;
    const struct model_attribute *field = value->kind == MODEL_EXPR_PATH &&
                                                  value->step_count == 1 &&
                                                  each->member->kind == MODEL_OBJECT
                                              ? model_type_field(each->member, value->steps[0])
                                              : NULL;
    *make_column(table) = (struct sql_column){
        .name = name,
        .kind = type == NULL ? SQL_JSON : sql_kind(type),
        .required = field != NULL && attribute_always(field),
        .source = SQL_FROM_MEMBER,
        .value = value,
        .attribute = field,
        .from = TEXT(&m->w, "%s.%s", each->attribute->name, text_expr(&m->w, value, NULL)),
        .doc = field == NULL ? slice_of(NULL, 0) : field->doc};
}

static bool member_columns(struct sql_maker *m, struct sql_table *table,
                           const struct model_each *each)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    for (size_t i = 0; i < each->column_count; i++)
        member_column(m, table, each, each->columns[i].name, each->columns[i].value);
    if (each->column_count > 0)
        return true;
    size_t count = each->member->kind == MODEL_OBJECT ? type_fields(each->member, fields) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct model_expr *path = make_path(m, fields[i]);
        if (path == NULL)
            return false;
        member_column(m, table, each, make_name(m, text_snake(&m->w, fields[i]->name)), path);
    }
    if (count > 0)
        return true;
    struct model_expr *self = make_alloc(m, 1, sizeof *self);
    if (self == NULL)
        return false;
    *self = (struct model_expr){.kind = MODEL_EXPR_CALL, .function = MODEL_FN_EACH};
    member_column(m, table, each, SLICE_LIT("value"), self);
    return true;
}

static bool make_child(struct sql_maker *m, const struct sql_table *parent,
                       const struct model_each *each)
{
    size_t room = parent->key.count + 1 + each->column_count + TYPE_FIELDS_MAX;
    struct sql_table *table = make_table(m, SQL_TABLE_CHILD, parent->entity, each->name, room);
    size_t *key = make_alloc(m, parent->key.count + 1, sizeof *key);
    if (table == NULL || key == NULL)
        return false;
    table->parent = parent;
    table->each = each->attribute;
    table->doc = each->attribute->doc;
    table->loose = parent->loose;
    table->moves = parent->moves;
    for (size_t i = 0; i < parent->key.count; i++) {
        const struct sql_column *column = &parent->columns[parent->key.list[i]];
        key[table->key.count++] = table->column_count;
        *make_column(table) = *column;
        ((struct sql_column *)table->columns)[i].name = parent_name(m, parent, each, column->name);
        ((struct sql_column *)table->columns)[i].both = false;
    }
    key[table->key.count++] = table->column_count;
    *make_column(table) = (struct sql_column){.name = SLICE_LIT("position"),
                                              .kind = SQL_BIGINT,
                                              .required = true,
                                              .source = SQL_FROM_POSITION,
                                              .from = TEXT(&m->w, "%s[]", each->attribute->name)};
    table->key.list = key;
    return member_columns(m, table, each);
}

bool make_children(struct sql_maker *m, const struct sql_table *table,
                   const struct model_mapping *mapping)
{
    for (size_t i = 0; i < mapping->each_count; i++)
        if (!make_child(m, table, &mapping->eaches[i]))
            return false;
    return true;
}

// ---- Groups
// --------------------------------------------------------------------------------------

static struct sql_table *make_members(struct sql_maker *m, const struct model_mapping *mapping)
{
    size_t room = 2 * mapping->column_count + mapping->entity->attribute_count + 1;
    struct fields keys = {0};
    struct slice name = make_name(m, TEXT(&m->w, "dolmen_%s", mapping->name));
    struct sql_table *table = make_table(m, SQL_TABLE_MEMBERS, mapping->entity, name, room);
    size_t *key = make_alloc(m, FIELDS_MAX, sizeof *key);
    if (table == NULL || key == NULL)
        return NULL;
    table->doc = TEXT(&m->w, "What the rows of %s are computed of.", mapping->name);
    table->closed = true;
    for (size_t i = 0; i < mapping->column_count; i++)
        if (mapping->columns[i].value != NULL)
            make_mapped_column(m, table, &mapping->columns[i]);
    fields_of_keys(&keys, mapping->entity);
    for (size_t i = 0; i < keys.count; i++) {
        const struct model_expr *path = make_path(m, keys.list[i]);
        if (path == NULL)
            return NULL;
        key[table->key.count++] = table->column_count;
        make_item_column(m, table, make_name(m, TEXT(&m->w, "key_%s", text_u64(&m->w, i + 1))),
                         path);
        table->loose = table->loose || !table->columns[table->column_count - 1].required;
    }
    table->key.list = key;
    return table;
}

// The column of the members by which the first or the last is told.
static bool fold_by(struct sql_maker *m, struct sql_table *members,
                    const struct model_column *column, size_t *by)
{
    const struct model_expr *path = make_path(m, column->by);
    if (path == NULL)
        return false;
    *by = members->column_count;
    make_item_column(m, members, make_name(m, TEXT(&m->w, "%s_by", column->name)), path);
    return true;
}

static struct slice fold_text(struct sql_maker *m, const struct model_column *column)
{
    struct slice value =
        column->value == NULL ? SLICE_LIT("") : text_expr(&m->w, column->value, NULL);
    if (column->fold == MODEL_FOLD_NONE)
        return value;
    return column->by == NULL
               ? TEXT(&m->w, "%s(%s)", slice_str(model_fold_words[column->fold]), value)
               : TEXT(&m->w, "%s(%s by %s)", slice_str(model_fold_words[column->fold]), value,
                      column->by->name);
}

static bool group_column(struct sql_maker *m, struct sql_table *members, struct sql_table *table,
                         const struct model_column *column)
{
    size_t at = sql_table_column(members, column->name);
    struct sql_column *one = make_column(table);
    *one = (struct sql_column){
        .name = column->name,
        .kind = column->fold == MODEL_FOLD_COUNT ? SQL_BIGINT : members->columns[at].kind,
        .required = column->fold == MODEL_FOLD_COUNT || members->columns[at].required,
        .source = SQL_FROM_GROUP,
        .fold = column->fold,
        .from = fold_text(m, column)};
    // A sum of integers may be more than one.
    if (column->fold == MODEL_FOLD_SUM)
        one->kind = SQL_NUMERIC;
    if (column->fold == MODEL_FOLD_NONE)
        one->attribute = members->columns[at].attribute;
    return column->by == NULL || fold_by(m, members, column, &one->by);
}

// By which the members of a group are found.
static bool group_index(struct sql_maker *m, struct sql_table *members,
                        const struct sql_table *table)
{
    struct slice *names = make_alloc(m, table->key.count, sizeof *names);
    bool *descending = make_alloc(m, table->key.count, sizeof *descending);
    if (names == NULL || descending == NULL)
        return false;
    for (size_t i = 0; i < table->key.count; i++)
        names[i] = table->columns[table->key.list[i]].name;
    struct model_columns columns = {
        .count = table->key.count, .names = names, .descending = descending};
    return make_mapped_indexes(m, members,
                               &(struct model_mapping){.index_count = 1, .indexes = &columns});
}

bool make_group(struct sql_maker *m, const struct model_mapping *mapping)
{
    struct sql_table *members = make_members(m, mapping);
    struct sql_table *table =
        make_table(m, SQL_TABLE_GROUP, mapping->entity, mapping->name, mapping->column_count);
    size_t *key = make_alloc(m, mapping->column_count, sizeof *key);
    if (members == NULL || table == NULL || key == NULL)
        return false;
    table->doc = slice_of(NULL, 0);
    members->group = table;
    table->group = members;
    for (size_t i = 0; i < mapping->column_count; i++)
        if (!group_column(m, members, table, &mapping->columns[i]))
            return false;
    table->key.list = key;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].fold == MODEL_FOLD_NONE && mapping->key.count == 0)
            key[table->key.count++] = i;
    if (mapping->key.count > 0 && !make_columns(m, table, &mapping->key, &table->key))
        return false;
    for (size_t i = 0; i < table->key.count; i++)
        table->loose = table->loose || !table->columns[table->key.list[i]].required;
    return group_index(m, members, table) && make_mapped_indexes(m, table, mapping);
}

// ---- Tenants
// -------------------------------------------------------------------------------------

static size_t tenant_column(const struct sql_schema *schema, const struct sql_table *table)
{
    size_t at = 0;
    while (at < table->column_count &&
           (table->columns[at].attribute == NULL || table->columns[at].source == SQL_FROM_MEMBER ||
            !slice_equal(table->columns[at].attribute->name, schema->tenant)))
        at++;
    return at;
}

static const struct model_mapping *mapping_named(const struct model_project *project,
                                                 struct slice name)
{
    for (size_t i = 0; project != NULL && i < project->mapping_count; i++)
        if (slice_equal(project->mappings[i].name, name))
            return &project->mappings[i];
    return NULL;
}

static bool tenant_via(struct sql_maker *m, struct sql_table *table,
                       const struct model_mapping *mapping)
{
    const struct sql_table *target = mapping->tenant_entity != NULL
                                         ? make_find(m, mapping->tenant_entity)
                                         : sql_schema_table(m->schema, mapping->tenant_to);
    struct sql_columns columns;
    if (!make_columns(m, table, &(struct model_columns){.count = 1, .names = &mapping->tenant_via},
                      &columns))
        return false;
    table->tenant = columns.list[0];
    table->tenant_via = target;
    if (tenant_column(m->schema, target) == target->column_count)
        return make_error(
            m, TEXT(&m->w, "table \"%s\" does not say whose its rows are", target->name));
    // The column of the same name, or the one that is the same thing, or the last of the key.
    table->tenant_key = target->key.list[target->key.count - 1];
    for (size_t i = 0; i < target->column_count; i++)
        if (slice_equal(target->columns[i].from, table->columns[table->tenant].from))
            table->tenant_key = i;
    return table->columns[table->tenant].kind == target->columns[table->tenant_key].kind ||
           make_error(m,
                      TEXT(&m->w,
                           "columns \"%s\" of \"%s\" and \"%s\" of \"%s\" are of different types",
                           table->columns[table->tenant].name, table->name,
                           target->columns[table->tenant_key].name, target->name));
}

bool make_tenants(struct sql_maker *m)
{
    const struct model_project *project = m->request->project;
    for (size_t i = 0; i < m->schema->table_count; i++) {
        struct sql_table *table = (struct sql_table *)m->schema->tables[i];
        const struct model_mapping *mapping = mapping_named(project, table->name);
        table->tenant = m->schema->tenant.len == 0 || table->kind == SQL_TABLE_MEMBERS
                            ? table->column_count
                            : tenant_column(m->schema, table);
        if (mapping != NULL && mapping->tenant_via.len > 0 && !tenant_via(m, table, mapping))
            return false;
        // Members are those of whom the parent is.
        if (table->kind == SQL_TABLE_CHILD && table->tenant == table->column_count &&
            table->parent->tenant < table->parent->column_count && table->parent->key.count == 1) {
            table->tenant = 0;
            table->tenant_via = table->parent;
            table->tenant_key = table->parent->key.list[0];
        }
        table->closed = table->closed || (project != NULL && project->tenant &&
                                          table->tenant == table->column_count);
    }
    return true;
}

// ---- Views
// ---------------------------------------------------------------------------------------

bool make_views(struct sql_maker *m)
{
    const struct model_project *project = m->request->project;
    struct writer *w = &m->w;
    struct sql_view *list = make_alloc(m, project == NULL ? 0 : project->view_count, sizeof *list);
    if (list == NULL)
        return false;
    m->schema->views = list;
    for (size_t i = 0; project != NULL && i < project->view_count; i++) {
        const struct model_sql_view *view = &project->views[i];
        const struct sql_table *table = view->entity == NULL ? NULL : make_find(m, view->entity);
        struct slice where =
            view->where == NULL ? slice_of(NULL, 0) : sql_test(w, table, view->where);
        if (view->where != NULL && where.len == 0)
            return make_error(m, TEXT(w,
                                      "view \"%s\" asks something that the columns of \"%s\" "
                                      "cannot tell",
                                      view->name, table->name));
        list[m->schema->view_count++] = (struct sql_view){
            .name = view->name,
            .query = table == NULL
                         ? view->sql
                         : TEXT(w, where.len > 0 ? "SELECT * FROM %s WHERE %s" : "SELECT * FROM %s",
                                sql_full_name(w, table->name), where)};
    }
    return true;
}
