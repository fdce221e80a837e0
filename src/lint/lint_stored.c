// Rules about what stands beside the table: files in a bucket, and rows in another database.
#include "lint/lint_internal.h"

#include "model/rules.h"

static const struct model_rules *rules_of(const struct lint *lint)
{
    return lint->model->rules_of;
}

static void key_fields(const struct model_entity *entity, struct lint_fields *out)
{
    struct lint_key key;
    *out = (struct lint_fields){.count = 0};
    if (lint_key_of(entity, NULL, &key))
        lint_key_fields(&key, LINT_BOTH, out);
}

static bool in_fields(const struct lint_fields *fields, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->list[i].attribute == attribute)
            return true;
    return false;
}

// ---- Paths of objects ----------------------------------------------------------------------

// The values in a path; a date part is not the time, so what it is cut of is left out.
static void path_fields(const struct model_object *object, struct lint_fields *out)
{
    struct model_key_part part = {.template = object->path};
    struct lint_fields all;
    lint_part_fields(object->entity, &part, &all);
    *out = (struct lint_fields){.count = 0};
    for (size_t i = 0; i < all.count; i++)
        if (!all.list[i].shaped || !lint_type_time(all.list[i].type))
            out->list[out->count++] = all.list[i];
}

// Whether no two items can have it: what is drawn; or a UUID that is a part of the key.
static bool tells_apart(const struct lint_field *field, const struct lint_fields *key)
{
    return lint_is_identity(field->attribute) ||
           (model_type_has(field->type, MODEL_UUID) && in_fields(key, field->attribute));
}

static bool any_tells_apart(const struct lint_fields *fields, const struct lint_fields *key)
{
    for (size_t i = 0; i < fields->count; i++)
        if (tells_apart(&fields->list[i], key))
            return true;
    return false;
}

static void visit_each(void *context, const struct model_expr *part)
{
    bool *found = context;
    *found = *found || (part->kind == MODEL_EXPR_CALL && part->function == MODEL_FN_EACH);
}

static bool path_names_member(const struct model_template *path)
{
    bool found = false;
    for (size_t i = 0; i < path->segment_count; i++)
        if (path->segments[i].expr != NULL)
            model_expr_visit(path->segments[i].expr, visit_each, &found);
    return found;
}

// The same texts around values at the same places.
static bool same_shape(const struct model_object *a, const struct model_object *b)
{
    if (!slice_equal(a->bucket, b->bucket) || !slice_equal(a->prefix, b->prefix) ||
        a->path->segment_count != b->path->segment_count)
        return false;
    for (size_t i = 0; i < a->path->segment_count; i++) {
        const struct model_segment *one = &a->path->segments[i];
        const struct model_segment *other = &b->path->segments[i];
        if ((one->expr == NULL) != (other->expr == NULL) ||
            (one->expr == NULL && !slice_equal(one->literal, other->literal)))
            return false;
    }
    return true;
}

// ---- L051 to L055: objects -------------------------------------------------------------------

static void shared_by_rules(struct lint *lint, const struct model_object *object,
                            const struct lint_fields *fields)
{
    struct lint_fields key;
    key_fields(object->entity, &key);
    for (size_t i = 0; i < rules_of(lint)->object_count; i++) {
        const struct model_object *other = &rules_of(lint)->objects[i];
        if (other == object)
            return; // each pair once, at the second of them
        if (!same_shape(object, other) ||
            (object->entity != other->entity && any_tells_apart(fields, &key)))
            continue;
        lint_find(lint, object->at, NULL, "%.*s.%.*s can have the path of an object %.*s.%.*s",
                  SLICE_FMT(object->entity->name), SLICE_FMT(object->name),
                  SLICE_FMT(other->entity->name), SLICE_FMT(other->name));
    }
}

void lint_shared_object(struct lint *lint, const struct model_object *object)
{
    struct lint_fields fields;
    struct lint_fields key;
    path_fields(object, &fields);
    key_fields(object->entity, &key);
    if (object->each != NULL && !path_names_member(object->path))
        lint_find(lint, object->at, "put {each()} into the path",
                  "all members of %.*s share one object", SLICE_FMT(object->name));
    else if (!any_tells_apart(&fields, &key) && !lint_fields_cover(&fields, &key))
        lint_find(lint, object->at, NULL, "two %.*s items can have the same %.*s: %.*s",
                  SLICE_FMT(object->entity->name), SLICE_FMT(object->name),
                  SLICE_FMT(object->path->source));
    else
        shared_by_rules(lint, object, &fields);
}

// Attributes of the path that may come to be others; those of the item's key do not.
static void each_loose(struct lint *lint, const struct model_object *object,
                       void (*tell)(struct lint *lint, const struct model_object *object,
                                    const struct model_attribute *attribute))
{
    struct model_key_part part = {.template = object->path};
    struct lint_fields fields;
    struct lint_fields key;
    lint_part_fields(object->entity, &part, &fields);
    key_fields(object->entity, &key);
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before = before || fields.list[k].attribute == attribute;
        if (attribute != NULL && !before && !attribute->immutable && !in_fields(&key, attribute))
            tell(lint, object, attribute);
    }
}

static void tell_moving(struct lint *lint, const struct model_object *object,
                        const struct model_attribute *attribute)
{
    const char *why = lint_why_mutable(attribute);
    if (why != NULL)
        lint_find(lint, object->at, NULL, "%.*s is in the path of %.*s.%.*s, and %s",
                  SLICE_FMT(attribute->name), SLICE_FMT(object->entity->name),
                  SLICE_FMT(object->name), why);
}

void lint_moving_object(struct lint *lint, const struct model_object *object)
{
    each_loose(lint, object, tell_moving);
}

static void tell_loose(struct lint *lint, const struct model_object *object,
                       const struct model_attribute *attribute)
{
    if (lint_why_mutable(attribute) == NULL)
        lint_find(lint, attribute->at, NULL, "%.*s is in the path of %.*s.%.*s, and may be changed",
                  SLICE_FMT(attribute->name), SLICE_FMT(object->entity->name),
                  SLICE_FMT(object->name));
}

void lint_object_not_immutable(struct lint *lint, const struct model_object *object)
{
    each_loose(lint, object, tell_loose);
}

void lint_left_objects(struct lint *lint, const struct model_object *object)
{
    if (!object->on_delete && lint_is_removed(lint, object->entity))
        lint_find(lint, object->at, NULL,
                  "%.*s items are removed after a while, and the objects %.*s stay",
                  SLICE_FMT(object->entity->name), SLICE_FMT(object->name));
}

void lint_open_upload(struct lint *lint, const struct model_object *object)
{
    if (object->type_count > 0 && object->most > 0)
        return;
    lint_find(lint, object->at, NULL, "%.*s.%.*s can be uploaded with any %s",
              SLICE_FMT(object->entity->name), SLICE_FMT(object->name),
              object->type_count > 0 ? "size"
              : object->most > 0     ? "type"
                                     : "type and size");
}

// ---- Columns of mappings -----------------------------------------------------------------------

// The attribute that a column of the table is; NULL if it is computed, or not there.
static const struct model_attribute *column_attribute(const struct model_mapping *mapping,
                                                      struct slice name)
{
    for (size_t i = 0; i < mapping->column_count; i++) {
        const struct model_column *column = &mapping->columns[i];
        const struct model_expr *value = column->value;
        if (slice_equal(column->name, name))
            return value != NULL && column->fold == MODEL_FOLD_NONE &&
                           value->kind == MODEL_EXPR_PATH && value->step_count == 1
                       ? value->attribute
                       : NULL;
    }
    return mapping->column_count == 0 ? model_entity_attribute(mapping->entity, name) : NULL;
}

// Whether a column is the attribute.
static bool has_attribute(const struct model_mapping *mapping,
                          const struct model_attribute *attribute)
{
    for (size_t i = 0; i < mapping->column_count; i++)
        if (column_attribute(mapping, mapping->columns[i].name) == attribute)
            return true;
    for (size_t i = 0; i < mapping->except_count; i++)
        if (mapping->except[i] == attribute)
            return false;
    return mapping->column_count == 0;
}

static bool begins_with(const struct model_mapping *mapping, const struct model_columns *columns,
                        const struct model_attribute *attribute)
{
    return columns->count > 0 && column_attribute(mapping, columns->names[0]) == attribute;
}

// Whether the table's key or an index of it begins with the attribute.
static bool is_indexed(const struct model_mapping *mapping, const struct lint_fields *key,
                       const struct model_attribute *attribute)
{
    bool found = mapping->key.count > 0 ? begins_with(mapping, &mapping->key, attribute)
                                        : key->count > 0 && key->list[0].attribute == attribute;
    for (size_t i = 0; i < mapping->unique_count; i++)
        found = found || begins_with(mapping, &mapping->uniques[i], attribute);
    for (size_t i = 0; i < mapping->index_count; i++)
        found = found || begins_with(mapping, &mapping->indexes[i], attribute);
    return found;
}

// ---- L056 to L061: projections -----------------------------------------------------------------

void lint_moving_row(struct lint *lint, const struct model_project *project)
{
    for (size_t i = 0; i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        struct lint_fields key;
        key_fields(mapping->entity, &key);
        for (size_t k = 0; !mapping->group && k < mapping->key.count; k++) {
            const struct model_attribute *attribute =
                column_attribute(mapping, mapping->key.names[k]);
            if (attribute == NULL || attribute->immutable || in_fields(&key, attribute))
                continue;
            lint_find(lint, mapping->key.at, NULL,
                      "a row of \"%.*s\" is another one once its %.*s changes",
                      SLICE_FMT(mapping->name), SLICE_FMT(attribute->name));
            break;
        }
    }
}

static bool reads(const struct model_access *access, const struct model_entity *entity)
{
    for (size_t i = 0; i < access->entity_count; i++)
        if (access->entities[i] == entity)
            return true;
    return false;
}

// The first column that the pattern compares; NULL if there is none, or an index helps.
static const struct model_attribute *unindexed(const struct model_mapping *mapping,
                                               const struct model_access *access)
{
    struct lint_key key;
    struct lint_fields fields;
    struct lint_fields primary;
    const struct model_attribute *first = NULL;
    if (!lint_key_of(mapping->entity, access->index, &key))
        return NULL;
    lint_key_fields(&key, LINT_HASH, &fields);
    key_fields(mapping->entity, &primary);
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        if (attribute == NULL || !has_attribute(mapping, attribute))
            continue;
        if (is_indexed(mapping, &primary, attribute))
            return NULL;
        first = first == NULL ? attribute : first;
    }
    return first;
}

void lint_unindexed_column(struct lint *lint, const struct model_project *project)
{
    for (size_t i = 0; i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        const struct model_table *table = mapping->entity->table;
        // A table that says nothing of columns and indexes has those that its patterns need.
        bool own =
            mapping->column_count > 0 || mapping->index_count > 0 || mapping->unique_count > 0;
        for (size_t k = 0; !mapping->group && own && k < table->access_count; k++) {
            const struct model_access *access = &table->accesses[k];
            const struct model_attribute *column =
                reads(access, mapping->entity) ? unindexed(mapping, access) : NULL;
            if (column == NULL)
                continue;
            lint_find(lint, mapping->at, NULL,
                      "no index of \"%.*s\" begins with %.*s, by which %.*s finds items",
                      SLICE_FMT(mapping->name), SLICE_FMT(column->name), SLICE_FMT(access->name));
            break;
        }
    }
}

void lint_deleted_rows(struct lint *lint, const struct model_project *project)
{
    for (size_t i = 0; i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        const struct model_attribute *softdelete = mapping->entity->softdelete;
        if (softdelete == NULL || mapping->group || has_attribute(mapping, softdelete))
            continue;
        lint_find(lint, mapping->at,
                  lint_text(lint, "give it the column %.*s", SLICE_FMT(softdelete->name)),
                  "\"%.*s\" keeps the rows of deleted items, and no column tells them apart",
                  SLICE_FMT(mapping->name));
    }
}

void lint_open_rows(struct lint *lint, const struct model_project *project)
{
    if (project->tenant || slice_begins(project->target, SLICE_LIT("sqlite:")))
        return;
    for (size_t i = 0; i < project->mapping_count; i++) {
        const struct model_mapping *mapping = &project->mappings[i];
        const struct model_attribute *tenant = mapping->entity->tenant;
        if (tenant == NULL || mapping->tenant_via.len > 0 || has_attribute(mapping, tenant))
            continue;
        lint_find(lint, mapping->at, NULL,
                  "rows of \"%.*s\" do not say whose they are: every role sees all of them",
                  SLICE_FMT(mapping->name));
    }
}

// scheme://user:password@host, or ?password=…
void lint_secret_in_address(struct lint *lint, const struct model_project *project)
{
    struct slice url = project->target;
    const uint8_t *at = url.len == 0 ? NULL : memmem(url.ptr, url.len, "://", 3);
    bool colon = false;
    bool secret = url.len > 0 && memmem(url.ptr, url.len, "password=", 9) != NULL;
    for (const uint8_t *p = at == NULL ? NULL : at + 3; p != NULL && p < url.ptr + url.len; p++) {
        if (*p == '/' || *p == '?')
            break;
        secret = secret || (*p == '@' && colon);
        colon = colon || *p == ':';
    }
    if (secret)
        lint_find(lint, project->at, NULL, "whoever reads the model reads the password");
}

void lint_unstreamed_projection(struct lint *lint, const struct model_project *project)
{
    const struct model_table *told = NULL;
    for (size_t i = 0; project->target.len == 0 && i < project->entity_count; i++) {
        const struct model_table *table = project->entities[i]->table;
        if (table == told || table->stream == MODEL_STREAM_BOTH)
            continue;
        told = table;
        lint_find(lint, project->at, NULL,
                  "`dolmen project` reads the stream of %.*s, which has no new and old images",
                  SLICE_FMT(table->name));
    }
}
