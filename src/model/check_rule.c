// Rules of retention, objects and tenants; and all rules in the order of the file.
#include "model/parse_internal.h"

// ---- Retention
// -----------------------------------------------------------------------------------

// The time from which on an item is kept: what the rule says, or when it was made.
static const struct model_attribute *
retain_time(struct model_file *file, const struct raw_rule *raw, const struct model_entity *entity)
{
    if (raw->deleted) {
        if (entity->softdelete == NULL && file->sound)
            (void)file_error(file, raw->rule.at,
                             "entity \"%.*s\" has no \"softdelete\": nothing is left of what is "
                             "deleted",
                             SLICE_FMT(entity->name));
        return entity->softdelete;
    }
    if (raw->names[0].name.len > 0) {
        const struct model_attribute *found = check_attribute_name(file, entity, &raw->names[0]);
        if (found != NULL && !check_is_time(found->type))
            return diagnostic_fail(file->p.diagnostics, raw->names[0].at, "\"%.*s\" is no time",
                                   SLICE_FMT(found->name));
        return found;
    }
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *one = &entity->attributes[i];
        if (check_is_time(one->type) && !one->on_update && one->otherwise != NULL &&
            one->otherwise->kind == MODEL_EXPR_CALL && one->otherwise->function == MODEL_FN_NOW)
            return one;
    }
    return diagnostic_fail(file->p.diagnostics, raw->rule.at,
                           "no attribute of \"%.*s\" is \"= now()\": write \"after\" and the time "
                           "that counts",
                           SLICE_FMT(entity->name));
}

void check_retain(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    if (entity == NULL)
        return;
    const struct model_attribute *after = retain_time(file, raw, entity);
    struct model_names scope = check_scope(file, entity);
    scope.allows = MODEL_ALLOW_CHANCE;
    if (!check_test(file, raw->when, &scope, false) || after == NULL)
        return;
    struct model_retain *retain = check_add(file, retains, retain_count);
    if (retain != NULL)
        *retain = (struct model_retain){.entity = entity,
                                        .seconds = raw->seconds,
                                        .after = after,
                                        .after_delete = raw->deleted,
                                        .when = raw->when,
                                        .fate = raw->fate,
                                        .at = raw->rule.at};
}

void check_keep(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    const struct model_attribute **per =
        file_alloc(file, raw->per_count, sizeof(struct model_attribute *));
    if (entity == NULL || per == NULL)
        return;
    const struct model_attribute *by = check_attribute_name(file, entity, &raw->names[0]);
    bool ok = by != NULL;
    for (size_t i = 0; i < raw->per_count; i++) {
        per[i] = check_attribute_name(file, entity, &raw->per[i]);
        ok = per[i] != NULL && ok;
    }
    enum value_type stored = ok ? model_type_stored(by->type) : VALUE_N;
    if (stored != VALUE_N && stored != VALUE_S && stored != VALUE_B)
        ok = file_error(file, raw->names[0].at,
                        "\"%.*s\" has no order: it cannot say which are the "
                        "latest",
                        SLICE_FMT(by->name));
    struct model_keep *keep = ok ? check_add(file, keeps, keep_count) : NULL;
    if (keep != NULL)
        *keep = (struct model_keep){.entity = entity,
                                    .count = raw->count,
                                    .by = by,
                                    .per_count = raw->per_count,
                                    .per = per,
                                    .fate = raw->fate,
                                    .at = raw->rule.at};
}

// ---- Objects
// -------------------------------------------------------------------------------------

// The name of an object is its own; with "[]" it is that of a list.
static bool object_named(struct model_file *file, struct raw_rule *raw,
                         const struct model_entity *entity)
{
    struct model_object *object = raw->object;
    for (size_t i = 0; i < file->resolved->object_count; i++) {
        const struct model_object *other = &file->resolved->objects[i];
        if (other->entity == entity && slice_equal(other->name, raw->target.name))
            return file_error(file, raw->target.at,
                              "object \"%.*s\" is declared twice, first in %s",
                              SLICE_FMT(raw->target.name), file_line(file, other->at.line));
    }
    if (raw->names[0].name.len == 0)
        return true;
    object->each = check_attribute_name(file, entity, &raw->names[0]);
    if (object->each == NULL)
        return false;
    const struct model_type *type = object->each->type;
    if (type->kind != MODEL_LIST)
        return file_error(file, raw->target.at, "\"%.*s\" is not a list", SLICE_FMT(object->name));
    bool text = object->member.len > 0 ||
                (type->item != NULL &&
                 (type->item->kind == MODEL_ANY || model_type_stored(type->item) == VALUE_S));
    return text || file_error(file, raw->target.at,
                              "the members of \"%.*s\" are not text: name the field that is, "
                              "\"%.*s[].path\"",
                              SLICE_FMT(object->name), SLICE_FMT(object->name));
}

// "s3://bucket/prefix"
static bool object_bucket(struct model_file *file, struct raw_rule *raw)
{
    static const struct slice scheme = {(const uint8_t *)"s3://", 5};
    struct slice rest = slice_of(raw->url.ptr + scheme.len, raw->url.len - scheme.len);
    bool ok = slice_begins(raw->url, scheme);
    struct slice bucket = ok ? slice_cut(&rest, '/') : rest;
    ok = ok && bucket.len >= 3 && bucket.len <= 63;
    for (size_t i = 0; ok && i < bucket.len; i++) {
        uint8_t c = bucket.ptr[i];
        ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             ((c == '-' || c == '.') && i > 0 && i + 1 < bucket.len);
    }
    if (!ok)
        return file_error(file, raw->rule.at,
                          "\"%.*s\" is not a bucket: write \"s3://bucket\" or "
                          "\"s3://bucket/prefix\", with 3 to 63 small letters, digits, \"-\" and "
                          "\".\"",
                          SLICE_FMT(raw->url));
    raw->object->bucket = bucket;
    if (rest.len > 0) {
        const char *mark = slice_ends(rest, SLICE_LIT("/")) ? "" : "/";
        char *prefix = arena_printf(file->p.arena, "%.*s%s", SLICE_FMT(rest), mark);
        raw->object->prefix = slice_str(prefix == NULL ? "" : prefix);
    }
    return true;
}

static bool object_types_check(struct model_file *file, const struct raw_rule *raw)
{
    for (size_t i = 0; i < raw->object->type_count; i++) {
        struct slice type = raw->object->types[i];
        struct slice rest = type;
        struct slice first = slice_cut(&rest, '/');
        bool ok = first.len > 0 && rest.len > 0 && type.len < 128;
        for (size_t k = 0; ok && k < type.len; k++)
            ok = type.ptr[k] > ' ' && type.ptr[k] < 0x7f && type.ptr[k] != '"' &&
                 type.ptr[k] != ',' && (type.ptr[k] != '*' || (k + 1 == type.len && rest.len == 1));
        if (!ok)
            return file_error(file, raw->rule.at,
                              "\"%.*s\" is not a type: write \"image/jpeg\" or \"image/*\"",
                              SLICE_FMT(type));
    }
    return true;
}

// What deletes the object when its item has gone: a consumer of the table's changes.
static void object_follow(struct model_file *file, const struct model_object *object)
{
    char *name = arena_printf(file->p.arena, "%.*s.%.*s", SLICE_FMT(object->entity->name),
                              SLICE_FMT(object->name));
    if (file->resolved->publish_count == LIMIT_MODEL_PUBLISHES) {
        (void)file_error(file, object->at,
                         "a file has at most %d rules that publish, or delete objects",
                         LIMIT_MODEL_PUBLISHES);
        return;
    }
    struct model_publish *place = name == NULL ? NULL : check_add(file, publishes, publish_count);
    if (place != NULL)
        *place = (struct model_publish){.entity = object->entity,
                                        .name = slice_str(name),
                                        .target = SLICE_LIT("objects:"),
                                        .object = object,
                                        .at = object->at};
}

void check_object(struct model_file *file, struct raw_rule *raw)
{
    enum { WEEK_S = 604800 };
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    if (entity == NULL || !object_named(file, raw, entity))
        return;
    struct model_names scope = check_scope(file, entity);
    scope.allows = raw->object->each != NULL ? MODEL_ALLOW_EACH : 0;
    if (!model_template_resolve(raw->template, &scope, file->p.scratch, file->p.diagnostics) ||
        (raw->url.len > 0 && !object_bucket(file, raw)) || !object_types_check(file, raw))
        return;
    if (raw->seconds == 0 || raw->seconds > WEEK_S) {
        (void)file_error(file, raw->rule.at, "a signed URL holds for 1s to 7d");
        return;
    }
    raw->object->entity = entity;
    raw->object->path = raw->template;
    raw->object->seconds = raw->seconds;
    raw->object->at = raw->rule.at;
    struct model_object *object = check_add(file, objects, object_count);
    if (object == NULL)
        return;
    *object = *raw->object;
    if (object->on_delete)
        object_follow(file, raw->object);
}

// ---- Tenants
// -------------------------------------------------------------------------------------

// Whether the partition key has the attribute in it as it is, so that no two tenants share one.
static bool divides(const struct model_entity *entity, const struct model_attribute *tenant)
{
    const struct model_template *template = entity->keys[0].template;
    for (size_t i = 0; template != NULL && i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr != NULL && expr->kind == MODEL_EXPR_CALL &&
            (expr->function == MODEL_FN_ESCAPE || expr->function == MODEL_FN_FORBID))
            expr = expr->args[0];
        if (expr != NULL && expr->kind == MODEL_EXPR_PATH && expr->step_count == 1 &&
            expr->attribute == tenant)
            return true;
    }
    return false;
}

static void tenant_entity(struct model_file *file, struct model_entity *entity,
                          const struct model_attribute *tenant)
{
    enum value_type stored = model_type_stored(tenant->type);
    if (stored != VALUE_S && stored != VALUE_N)
        (void)file_error(file, tenant->at,
                         "\"%.*s\" says whose an item is: it has to be text or a "
                         "number",
                         SLICE_FMT(tenant->name));
    else if (divides(entity, tenant))
        entity->tenant = tenant;
    else if (!tenant->optional)
        (void)file_error(file, entity->keys[0].at.line > 0 ? entity->keys[0].at : entity->at,
                         "\"%.*s\" says whose an item is: it has to stand in the partition key of "
                         "entity \"%.*s\"",
                         SLICE_FMT(tenant->name), SLICE_FMT(entity->name));
}

// Items of entities that do not say whose they are are no tenant's; neither are those where it may
// be missing, unless it is in the key.
void check_tenant(struct model_file *file, struct raw_rule *raw)
{
    const struct raw_name *name = &raw->names[0];
    struct model_guess guess = model_guess_for(name->name);
    bool found = false;
    for (struct raw_rule *other = file->rules.first; other != raw; other = other->next)
        if (other->check == check_tenant) {
            (void)file_error(file, raw->rule.at, "a second \"tenant\"");
            return;
        }
    for (struct raw_entity *one = file->entities.first; one != NULL; one = one->next) {
        const struct model_attribute *tenant =
            one->final == NULL ? NULL : model_entity_attribute(one->final, name->name);
        model_guess_attributes(&guess, one->final);
        found = found || tenant != NULL;
        if (tenant != NULL && file->sound)
            tenant_entity(file, one->final, tenant);
    }
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next)
        if (table->final != NULL)
            table->final->tenant = name->name;
    if (!found)
        (void)file_error(file, name->at, "no entity has an attribute \"%.*s\"%s",
                         SLICE_FMT(name->name), model_guess_say(&guess, file->p.scratch));
}

// ---- All of them
// ---------------------------------------------------------------------------------

// What entities have, for whoever starts from the other end.
static void gather(struct model_file *file)
{
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        const struct model_entity *entity = raw->final;
        for (size_t i = 0; entity != NULL && i < entity->attribute_count; i++) {
            const struct model_tally **place =
                entity->attributes[i].tally == NULL ? NULL : check_add(file, tallies, tally_count);
            if (place != NULL)
                *place = entity->attributes[i].tally;
        }
        for (size_t i = 0; entity != NULL && i < entity->reference_count; i++) {
            const struct model_reference **place = check_add(file, references, reference_count);
            if (place != NULL)
                *place = &entity->references[i];
        }
    }
}

void check_rules(struct model_file *file)
{
    struct model_rule *rules = file_alloc(file, file->rules.count + 1, sizeof *rules);
    file->resolved = file_alloc(file, 1, sizeof *file->resolved);
    if (rules == NULL || file->resolved == NULL)
        return;
    file->model->rules = rules;
    file->model->rules_of = file->resolved;
    // Quotas come first: what they count is the server's, and other rules have to know.
    for (struct raw_rule *raw = file->rules.first; raw != NULL; raw = raw->next)
        if (raw->check == check_quota)
            raw->check(file, raw);
    for (struct raw_rule *raw = file->rules.first; raw != NULL; raw = raw->next) {
        if (raw->check != check_quota)
            raw->check(file, raw);
        rules[file->model->rule_count++] = raw->rule;
    }
    for (size_t i = 0; i < file->resolved->seed_count; i++)
        if (file->resolved->seeds[i].entity->kept)
            (void)file_error(file, file->resolved->seeds[i].at,
                             "the items of \"%.*s\" are made by the server",
                             SLICE_FMT(file->resolved->seeds[i].entity->name));
    check_made_circles(file);
    gather(file);
    check_tally_circles(file);
}
