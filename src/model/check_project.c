// Rules of projections: names are resolved, and what could not be kept in step is refused. A row
// has to be of one item, so that a key must tell items apart; a foreign key has to hold at each
// moment, so that both ends come from one change log; a column that is taken back has to be an
// attribute.
#include "model/parse_internal.h"

// ---- Names
// ---------------------------------------------------------------------------------------

static bool sql_name_fits(struct model_file *file, struct model_place at, struct slice name,
                          const char *what)
{
    if (name.len == 0 || name.len > LIMIT_SQL_NAME || memchr(name.ptr, '\0', name.len) != NULL)
        return file_error(file, at, "the name of a %s has 1 to %d bytes", what, LIMIT_SQL_NAME);
    return !slice_begins(name, SLICE_LIT("dolmen_")) ||
           file_error(file, at, "names that begin with \"dolmen_\" are the projection's own");
}

static bool is_projected(const struct model_project *project, const struct model_entity *entity)
{
    for (size_t i = 0; i < project->entity_count; i++)
        if (project->entities[i] == entity)
            return true;
    return false;
}

static const struct model_entity *
projected(struct model_file *file, const struct model_project *project, const struct raw_name *name)
{
    const struct model_entity *entity = check_entity(file, name);
    if (entity != NULL && !is_projected(project, entity)) {
        (void)file_error(file, name->at,
                         "\"%.*s\" is not projected by this rule: name it behind "
                         "\"project\"",
                         SLICE_FMT(entity->name));
        return NULL;
    }
    return entity;
}

// A column by its name: what the file lists; or without a list, the attribute.
static const struct model_column *column_named(const struct model_mapping *mapping,
                                               struct slice name)
{
    for (size_t i = 0; i < mapping->column_count; i++)
        if (slice_equal(mapping->columns[i].name, name))
            return &mapping->columns[i];
    return NULL;
}

static bool columns_known(struct model_file *file, const struct model_mapping *mapping,
                          const struct model_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        struct slice name = columns->names[i];
        struct model_guess guess = model_guess_for(name);
        for (size_t k = 0; k < mapping->column_count; k++)
            model_guess_candidate(&guess, mapping->columns[k].name);
        if (mapping->column_count == 0)
            model_guess_attributes(&guess, mapping->entity);
        bool known = mapping->column_count == 0
                         ? model_entity_attribute(mapping->entity, name) != NULL
                         : column_named(mapping, name) != NULL;
        for (size_t k = 0; k < i; k++)
            if (slice_equal(columns->names[k], name))
                return file_error(file, columns->at, "\"%.*s\" is named twice", SLICE_FMT(name));
        if (!known)
            return file_error(file, columns->at, "table \"%.*s\" has no column \"%.*s\"%s",
                              SLICE_FMT(mapping->name), SLICE_FMT(name),
                              model_guess_say(&guess, file->p.scratch));
    }
    return true;
}

// ---- Columns
// -------------------------------------------------------------------------------------

static const struct model_attribute *plain(const struct model_expr *value)
{
    return value != NULL && value->kind == MODEL_EXPR_PATH && value->step_count == 1
               ? value->attribute
               : NULL;
}

// What `by` may be: attributes that all items of a group have in common.
struct grouped {
    const struct raw_mapping *raw;
    bool outside; // another attribute is named
};

static void outside_group(void *context, const struct model_expr *part)
{
    struct grouped *grouped = context;
    bool among = part->kind != MODEL_EXPR_PATH;
    for (size_t i = 0; i < grouped->raw->by_count; i++)
        among = among || slice_equal(grouped->raw->by[i].name, part->steps[0]);
    grouped->outside = grouped->outside || !among;
}

static bool check_fold(struct model_file *file, const struct raw_mapping *raw,
                       const struct model_entity *entity, const struct raw_column *one,
                       struct model_column *column)
{
    const struct model_expr *value = column->value;
    struct grouped grouped = {raw, false};
    if (column->fold == MODEL_FOLD_NONE) {
        model_expr_visit(value, outside_group, &grouped);
        return !grouped.outside ||
               file_error(file, column->at,
                          "\"%.*s\" is not the same for all items of a group: fold it, as in "
                          "max(…) or last(… by …)",
                          SLICE_FMT(column->name));
    }
    if (column->fold == MODEL_FOLD_SUM && check_gives(value) != VALUE_N)
        return file_error(file, value->at, "only numbers have a sum");
    enum value_type gives = value == NULL ? VALUE_N : check_gives(value);
    if ((column->fold == MODEL_FOLD_MIN || column->fold == MODEL_FOLD_MAX) && gives != VALUE_N &&
        gives != VALUE_S)
        return file_error(file, value->at, "this has no order");
    if (one->by.name.len == 0)
        return true;
    column->by = check_attribute_name(file, entity, &one->by);
    if (column->by == NULL)
        return false;
    gives = model_type_stored(column->by->type);
    return gives == VALUE_N || gives == VALUE_S ||
           file_error(file, one->by.at, "\"%.*s\" has no order", SLICE_FMT(column->by->name));
}

static bool column_once(struct model_file *file, const struct model_column *list, size_t count,
                        const struct model_column *column)
{
    for (size_t i = 0; i < count; i++)
        if (slice_equal(list[i].name, column->name))
            return file_error(file, column->at, "a second column \"%.*s\"",
                              SLICE_FMT(column->name));
    return sql_name_fits(file, column->at, column->name, "column");
}

static bool check_columns(struct model_file *file, const struct raw_mapping *raw,
                          struct model_mapping *mapping)
{
    struct model_names scope = check_scope(file, mapping->entity);
    struct model_column *list = file_alloc(file, raw->columns.count + 1, sizeof *list);
    bool ok = list != NULL;
    scope.allows = 0;
    if (!ok)
        return false;
    mapping->columns = list;
    for (struct raw_column *one = raw->columns.first; one != NULL; one = one->next) {
        struct model_column column = one->column;
        if (!column_once(file, list, mapping->column_count, &column) ||
            (column.value != NULL &&
             (!model_expr_resolve(column.value, &scope, file->p.scratch, file->p.diagnostics) ||
              !check_sums(file, column.value))) ||
            (mapping->group && !check_fold(file, raw, mapping->entity, one, &column)))
            ok = false;
        list[mapping->column_count++] = column;
    }
    return ok;
}

static bool check_except(struct model_file *file, const struct raw_mapping *raw,
                         struct model_mapping *mapping)
{
    const struct model_attribute **list =
        file_alloc(file, raw->except_count + 1, sizeof(struct model_attribute *));
    if (list == NULL)
        return false;
    if (raw->except_count > 0 && (mapping->column_count > 0 || mapping->group))
        return file_error(file, raw->except[0].at,
                          "columns are listed: \"except\" is for tables of all attributes");
    mapping->except = list;
    for (size_t i = 0; i < raw->except_count; i++) {
        list[i] = check_attribute_name(file, mapping->entity, &raw->except[i]);
        if (list[i] == NULL)
            return false;
        mapping->except_count++;
    }
    return true;
}

// ---- Keys
// ----------------------------------------------------------------------------------------

struct mentions {
    struct slice name;
    bool found;
};

static void mentions_name(void *context, const struct model_expr *part)
{
    struct mentions *mentions = context;
    mentions->found = mentions->found || (part->kind == MODEL_EXPR_PATH &&
                                          slice_equal(part->steps[0], mentions->name));
}

// Whether a column of the list is made of the attribute.
static bool columns_mention(const struct model_mapping *mapping,
                            const struct model_columns *columns, struct slice name)
{
    struct mentions mentions = {name, false};
    for (size_t i = 0; i < columns->count; i++) {
        const struct model_column *column = column_named(mapping, columns->names[i]);
        if (mapping->column_count == 0)
            mentions.found = mentions.found || slice_equal(columns->names[i], name);
        else if (column != NULL && column->value != NULL)
            model_expr_visit(column->value, mentions_name, &mentions);
    }
    return mentions.found;
}

static const struct model_attribute *column_attribute(const struct model_mapping *mapping,
                                                      struct slice name)
{
    const struct model_column *column = column_named(mapping, name);
    return mapping->column_count == 0 ? model_entity_attribute(mapping->entity, name)
           : column == NULL           ? NULL
                                      : plain(column->value);
}

// Whether the model itself keeps the values unique.
static bool is_unique(const struct model_mapping *mapping, const struct model_columns *columns)
{
    const struct model_entity *entity = mapping->entity;
    const struct model_attribute *first =
        columns->count == 1 ? column_attribute(mapping, columns->names[0]) : NULL;
    if (first != NULL && first->unique)
        return entity->softdelete == NULL;
    for (size_t i = 0; i < entity->unique_count && entity->softdelete == NULL; i++) {
        size_t found = 0;
        for (size_t k = 0; k < columns->count; k++)
            for (size_t a = 0; a < entity->uniques[i].count; a++)
                found += column_attribute(mapping, columns->names[k]) ==
                         entity->uniques[i].attributes[a];
        if (found == entity->uniques[i].count)
            return true;
    }
    return false;
}

static bool key_of_group(struct model_file *file, const struct raw_mapping *raw,
                         const struct model_mapping *mapping)
{
    struct model_columns all = mapping->key;
    struct slice *names = file_scratch(file, mapping->column_count + 1, sizeof *names);
    if (names == NULL)
        return false;
    if (all.count == 0) {
        for (size_t i = 0; i < mapping->column_count; i++)
            if (mapping->columns[i].fold == MODEL_FOLD_NONE)
                names[all.count++] = mapping->columns[i].name;
        all.names = names;
    }
    for (size_t i = 0; i < mapping->key.count; i++)
        if (column_named(mapping, mapping->key.names[i])->fold != MODEL_FOLD_NONE)
            return file_error(file, mapping->key.at,
                              "\"%.*s\" is computed: it cannot be part of the key",
                              SLICE_FMT(mapping->key.names[i]));
    for (size_t i = 0; i < raw->by_count; i++)
        if (!columns_mention(mapping, &all, raw->by[i].name))
            return file_error(file, mapping->at,
                              "no column of the key has \"%.*s\": two groups would be one row",
                              SLICE_FMT(raw->by[i].name));
    return true;
}

static bool key_of_items(struct model_file *file, const struct model_mapping *mapping)
{
    struct model_address address;
    struct model_columns all = {0};
    struct slice *names = file_scratch(file, mapping->column_count + 1, sizeof *names);
    if (names == NULL)
        return false;
    for (size_t i = 0; i < mapping->column_count; i++)
        names[all.count++] = mapping->columns[i].name;
    all.names = names;
    bool given = mapping->key.count > 0;
    if (given && is_unique(mapping, &mapping->key))
        return true;
    model_address(mapping->entity, &address);
    for (size_t i = 0; (given || mapping->column_count > 0) && i < address.count; i++)
        if (!columns_mention(mapping, given ? &mapping->key : &all, address.parts[i].name))
            return file_error(file, given ? mapping->key.at : mapping->at,
                              "%s \"%.*s\", which is part of the key of a \"%.*s\": two items "
                              "would be one row",
                              given ? "the key is made without" : "no column has",
                              SLICE_FMT(address.parts[i].name), SLICE_FMT(mapping->entity->name));
    return true;
}

static bool check_lists(struct model_file *file, const struct raw_mapping *raw,
                        struct model_mapping *mapping)
{
    struct model_columns *uniques = file_alloc(file, raw->uniques.count + 1, sizeof *uniques);
    struct model_columns *indexes = file_alloc(file, raw->indexes.count + 1, sizeof *indexes);
    if (uniques == NULL || indexes == NULL)
        return false;
    bool ok = columns_known(file, mapping, &mapping->key) &&
              columns_known(file, mapping, &mapping->columns_both);
    for (struct raw_columns *one = raw->uniques.first; one != NULL; one = one->next) {
        ok = columns_known(file, mapping, &one->columns) && ok;
        uniques[mapping->unique_count++] = one->columns;
    }
    for (struct raw_columns *one = raw->indexes.first; one != NULL; one = one->next) {
        ok = columns_known(file, mapping, &one->columns) && ok;
        indexes[mapping->index_count++] = one->columns;
    }
    mapping->uniques = uniques;
    mapping->indexes = indexes;
    return ok && (mapping->group ? key_of_group(file, raw, mapping) : key_of_items(file, mapping));
}

// ---- Other tables
// --------------------------------------------------------------------------------

static bool check_foreigns(struct model_file *file, const struct model_project *project,
                           const struct raw_mapping *raw, struct model_mapping *mapping)
{
    struct model_foreign *list = file_alloc(file, raw->foreigns.count + 1, sizeof *list);
    if (list == NULL)
        return false;
    mapping->foreigns = list;
    for (struct raw_foreign *one = raw->foreigns.first; one != NULL; one = one->next) {
        struct model_foreign foreign = one->foreign;
        foreign.target = projected(file, project, &one->target);
        if (foreign.target == NULL || !columns_known(file, mapping, &foreign.columns))
            return false;
        if (foreign.target->table != mapping->entity->table &&
            foreign.on_delete != MODEL_DELETE_CASCADE && foreign.on_delete != MODEL_DELETE_CLEAR)
            return file_error(file, one->target.at,
                              "\"%.*s\" is of another table than \"%.*s\": which of two changes "
                              "comes first is not known, so that there can be no foreign key, only "
                              "\"on delete cascade\" or \"on delete clear\"",
                              SLICE_FMT(foreign.target->name), SLICE_FMT(mapping->entity->name));
        list[mapping->foreign_count++] = foreign;
    }
    return true;
}

static bool check_each_column(struct model_file *file, const struct model_each *each,
                              const struct model_column *column)
{
    const struct model_expr *value = column->value;
    const struct model_type *type = each->member;
    if (value->kind == MODEL_EXPR_CALL && value->function == MODEL_FN_EACH)
        return true;
    if (value->kind != MODEL_EXPR_PATH)
        return file_error(file, value->at,
                          "a column of members is a field of them, or each(): the member itself");
    for (size_t i = 0; i < value->step_count && type != NULL; i++) {
        const struct model_attribute *field =
            type->kind == MODEL_OBJECT ? model_type_field(type, value->steps[i]) : NULL;
        bool open = type->kind == MODEL_ANY || type->kind == MODEL_RECORD ||
                    (type->kind == MODEL_OBJECT && type->field_count == 0);
        if (field == NULL && !open)
            return file_error(file, value->at, "the members of \"%.*s\" have no \"%.*s\"",
                              SLICE_FMT(each->attribute->name), SLICE_FMT(value->steps[i]));
        type = field == NULL ? NULL : field->type;
    }
    return true;
}

static const struct model_type *member_type(const struct model_type *type)
{
    const struct model_type *found = NULL;
    if (type->kind == MODEL_LIST || type->kind == MODEL_SET)
        return type->item;
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++)
        if (type->options[i]->kind != MODEL_NULL)
            found = found != NULL ? type : type->options[i];
    return found == NULL || found == type ? NULL : member_type(found);
}

static bool check_each(struct model_file *file, const struct model_mapping *mapping,
                       const struct raw_each *raw, struct model_each *each)
{
    struct model_column *list = file_alloc(file, raw->columns.count + 1, sizeof *list);
    *each = (struct model_each){.name = raw->name,
                                .attribute =
                                    check_attribute_name(file, mapping->entity, &raw->attribute),
                                .columns = list,
                                .at = raw->attribute.at};
    if (list == NULL || each->attribute == NULL ||
        !sql_name_fits(file, each->at, each->name, "table"))
        return false;
    each->member = member_type(each->attribute->type);
    if (each->member == NULL)
        return file_error(file, each->at, "\"%.*s\" is neither a list nor a set",
                          SLICE_FMT(each->attribute->name));
    for (struct raw_column *one = raw->columns.first; one != NULL; one = one->next) {
        if (!column_once(file, list, each->column_count, &one->column) ||
            !check_each_column(file, each, &one->column))
            return false;
        list[each->column_count++] = one->column;
    }
    return true;
}

static bool check_eaches(struct model_file *file, const struct raw_mapping *raw,
                         struct model_mapping *mapping)
{
    struct model_each *list = file_alloc(file, raw->eaches.count + 1, sizeof *list);
    if (list == NULL)
        return false;
    mapping->eaches = list;
    for (struct raw_each *one = raw->eaches.first; one != NULL; one = one->next)
        if (!check_each(file, mapping, one, &list[mapping->each_count++]))
            return false;
    return true;
}

// ---- Both ways
// -----------------------------------------------------------------------------------

static bool can_come_back(const struct model_attribute *attribute)
{
    return !attribute->always && !attribute->version && !attribute->counted;
}

static bool check_both(struct model_file *file, const struct model_mapping *mapping)
{
    struct model_address address;
    bool rows = mapping->columns_both.count == 0;
    model_address(mapping->entity, &address);
    for (size_t i = 0; i < mapping->columns_both.count; i++) {
        struct slice name = mapping->columns_both.names[i];
        const struct model_attribute *attribute = column_attribute(mapping, name);
        if (attribute == NULL)
            return file_error(file, mapping->columns_both.at,
                              "\"%.*s\" is not an attribute as it is: what is changed in SQL could "
                              "not be taken back",
                              SLICE_FMT(name));
        if (!can_come_back(attribute) || attribute->immutable)
            return file_error(file, mapping->columns_both.at,
                              "\"%.*s\" %s: it cannot be changed from SQL", SLICE_FMT(name),
                              attribute->immutable ? "is immutable" : "is made by the server");
    }
    // The item's key is made of attributes, which the row has to have.
    for (size_t i = 0; i < address.count; i++) {
        bool found = mapping->column_count == 0;
        for (size_t k = 0; k < mapping->column_count; k++) {
            const struct model_attribute *attribute = plain(mapping->columns[k].value);
            found =
                found || (attribute != NULL && slice_equal(attribute->name, address.parts[i].name));
        }
        if (!found)
            return file_error(file, mapping->at,
                              "no column is \"%.*s\", which is part of the key of a \"%.*s\": the "
                              "item of a %s could not be told",
                              SLICE_FMT(address.parts[i].name), SLICE_FMT(mapping->entity->name),
                              rows ? "new row" : "row");
    }
    return true;
}

// ---- Mappings and views
// --------------------------------------------------------------------------

static bool check_by(struct model_file *file, const struct raw_mapping *raw,
                     struct model_mapping *mapping)
{
    const struct model_attribute **by =
        file_alloc(file, raw->by_count + 1, sizeof(struct model_attribute *));
    if (by == NULL)
        return false;
    mapping->by = by;
    for (size_t i = 0; i < raw->by_count; i++) {
        by[i] = check_attribute_name(file, mapping->entity, &raw->by[i]);
        if (by[i] == NULL)
            return false;
        mapping->by_count++;
    }
    if (mapping->group && raw->columns.count == 0)
        return file_error(file, mapping->at, "a group has no attributes: its columns are listed");
    if (mapping->group && raw->foreigns.count + raw->eaches.count > 0)
        return file_error(file, mapping->at,
                          "a group has no foreign keys, and no tables of members");
    return true;
}

static bool check_mapping(struct model_file *file, const struct model_project *project,
                          const struct raw_mapping *raw, struct model_mapping *mapping)
{
    *mapping = raw->mapping;
    mapping->entity = projected(file, project, &raw->entity);
    if (mapping->entity == NULL || !sql_name_fits(file, mapping->at, mapping->name, "table"))
        return false;
    for (size_t i = 0; i < project->mapping_count; i++)
        if (!mapping->group && !project->mappings[i].group &&
            project->mappings[i].entity == mapping->entity)
            return file_error(file, mapping->at, "\"%.*s\" has a table already, in %s",
                              SLICE_FMT(mapping->entity->name),
                              file_line(file, project->mappings[i].at.line));
    if (!check_by(file, raw, mapping) || !check_columns(file, raw, mapping) ||
        !check_except(file, raw, mapping) || !check_lists(file, raw, mapping) ||
        !check_foreigns(file, project, raw, mapping) || !check_eaches(file, raw, mapping) ||
        (mapping->both && !check_both(file, mapping)))
        return false;
    if (mapping->tenant_via.len == 0)
        return true;
    if (raw->tenant_to.name.len > 0) {
        mapping->tenant_entity = projected(file, project, &raw->tenant_to);
        if (mapping->tenant_entity == NULL)
            return false;
    }
    return columns_known(
        file, mapping,
        &(struct model_columns){.count = 1, .names = &mapping->tenant_via, .at = mapping->at});
}

// Tables that are named behind "to".
static bool check_tenants(struct model_file *file, const struct model_project *project)
{
    for (size_t i = 0; i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        bool found = mapping->tenant_via.len == 0 || mapping->tenant_entity != NULL;
        for (size_t k = 0; k < project->mapping_count; k++)
            found = found || slice_equal(project->mappings[k].name, mapping->tenant_to);
        if (!found)
            return file_error(file, mapping->at, "no table is called \"%.*s\"",
                              SLICE_FMT(mapping->tenant_to));
        for (size_t k = 0; k < i; k++)
            if (slice_equal(project->mappings[k].name, mapping->name))
                return file_error(file, mapping->at, "a second table \"%.*s\"",
                                  SLICE_FMT(mapping->name));
    }
    return true;
}

static bool check_views(struct model_file *file, const struct raw_project *raw,
                        struct model_project *project)
{
    struct model_sql_view *list = file_alloc(file, raw->views.count + 1, sizeof *list);
    if (list == NULL)
        return false;
    project->views = list;
    for (struct raw_sql_view *one = raw->views.first; one != NULL; one = one->next) {
        struct model_sql_view view = one->view;
        if (!sql_name_fits(file, view.at, view.name, "view"))
            return false;
        if (one->entity.name.len > 0) {
            view.entity = projected(file, project, &one->entity);
            if (view.entity == NULL)
                return false;
            struct model_names scope = check_scope(file, view.entity);
            scope.allows = 0;
            if (!check_test(file, view.where, &scope, false))
                return false;
        } else if (view.sql.len == 0) {
            return file_error(file, view.at, "this view has no query");
        }
        list[project->view_count++] = view;
    }
    return true;
}

// ---- The rule
// ------------------------------------------------------------------------------------

static bool check_target(struct model_file *file, const struct raw_rule *raw)
{
    static const char *const schemes[] = {"postgresql:", "postgres:", "sqlite:"};
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        if (slice_begins(raw->url, slice_str(schemes[i])))
            return true;
    return raw->url.len == 0 ||
           file_error(file, raw->rule.at,
                      "\"%.*s\" is nothing that can be projected into: use postgresql: or sqlite:",
                      SLICE_FMT(raw->url));
}

static bool check_options(struct model_file *file, const struct raw_rule *raw,
                          struct model_project *project)
{
    struct model_option *list = file_alloc(file, raw->options.count + 1, sizeof *list);
    if (list == NULL)
        return false;
    project->options = list;
    for (struct raw_option *one = raw->options.first; one != NULL; one = one->next) {
        const struct model_option *option = &one->option;
        struct model_guess guess = model_guess_for(option->name);
        model_guess_candidate(&guess, SLICE_LIT("schema"));
        model_guess_candidate(&guess, SLICE_LIT("user"));
        model_guess_candidate(&guess, SLICE_LIT("password"));
        if (slice_is(option->name, "schema")) {
            if (!sql_name_fits(file, option->at, option->value, "schema"))
                return false;
        } else if (slice_is(option->name, "password") && option->source.len == 0) {
            return file_error(file, option->at,
                              "a model is stored and shown: write password env \"NAME\" or "
                              "password file \"PATH\"");
        } else if (!slice_is(option->name, "user") && !slice_is(option->name, "password")) {
            return file_error(file, option->at, "\"%.*s\" is no option of \"project\"%s",
                              SLICE_FMT(option->name), model_guess_say(&guess, file->p.scratch));
        }
        list[project->option_count++] = *option;
    }
    return true;
}

static bool check_entities_of(struct model_file *file, const struct raw_rule *raw,
                              struct model_project *project)
{
    const struct model_entity **list =
        file_alloc(file, raw->entity_count + 1, sizeof(struct model_entity *));
    if (list == NULL)
        return false;
    project->entities = list;
    for (size_t i = 0; i < raw->entity_count; i++) {
        const struct model_entity *entity = check_entity(file, &raw->entities[i]);
        if (entity == NULL)
            return false;
        if (is_projected(project, entity))
            return file_error(file, raw->entities[i].at, "\"%.*s\" is named twice",
                              SLICE_FMT(entity->name));
        list[project->entity_count++] = entity;
    }
    return true;
}

void check_project(struct model_file *file, struct raw_rule *raw)
{
    size_t number = file->resolved->project_count + 1;
    char *name = number == 1 ? NULL : arena_printf(file->p.arena, "project%zu", number);
    struct model_project project = {.name = name == NULL ? SLICE_LIT("project") : slice_str(name),
                                    .target = raw->url,
                                    .tenant = raw->project->tenant,
                                    .at = raw->rule.at};
    struct model_mapping *mappings =
        file_alloc(file, raw->project->mappings.count + 1, sizeof *mappings);
    if (number > LIMIT_MODEL_PROJECTS) {
        (void)file_error(file, raw->rule.at, "a file has at most %d \"project\" rules",
                         LIMIT_MODEL_PROJECTS);
        return;
    }
    if (mappings == NULL || !file->sound || !check_entities_of(file, raw, &project) ||
        !check_target(file, raw) || !check_options(file, raw, &project))
        return;
    project.mappings = mappings;
    bool ok = true;
    for (struct raw_mapping *one = raw->project->mappings.first; one != NULL; one = one->next) {
        ok = check_mapping(file, &project, one, &mappings[project.mapping_count]) && ok;
        project.mapping_count++;
    }
    if (!check_views(file, raw->project, &project) || !ok || !check_tenants(file, &project))
        return;
    struct model_project *place = check_add(file, projects, project_count);
    if (place != NULL)
        *place = project;
}
