// What a migration makes of one item. Names in its expressions are looked for in a map that is put
// together first: what can be read out of the keys, the item's attributes, and each other item
// under its name.
#include "migration/migration_map.h"

#include "eval/eval.h"
#include "eval/template.h"

enum { MAP_MAX = 4 << 20, TEXT_MAX = 1 << 16 };

struct mapping {
    const struct migration_scope *scope;
    const struct migration_step *step;
    struct migration_result *result;
    struct slice item;
    struct slice names; // the map
    int64_t now_ms;
    struct buf text;
    struct buf bytes;
    struct value_builder builder;
    struct error *error;
};

static struct model_scope eval_scope(const struct mapping *m, struct slice item)
{
    return (struct model_scope){
        .item = item, .env = m->scope->env, .now_ms = m->now_ms, .arena = m->scope->arena};
}

// Ends the map in the builder: a copy in the arena.
static bool end_map(struct mapping *m, struct slice *out)
{
    (void)value_close(&m->builder);
    *out = m->bytes.failed ? VALUE_NONE : arena_copy(m->scope->arena, buf_view(&m->bytes));
    return out->ptr != NULL || error_budget(m->error);
}

static void begin_map(struct mapping *m)
{
    buf_clear(&m->bytes);
    value_builder_reset(&m->builder);
    value_open_map(&m->builder);
}

static void put(struct mapping *m, struct slice name, struct slice value)
{
    value_name(&m->builder, name);
    value_put(&m->builder, value);
}

static void put_all(struct mapping *m, struct slice item)
{
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter))
        put(m, iter.name, iter.value);
}

// ---- Fitting ----------------------------------------------------------------------------------

// Reads a key by its template into the map that is being built.
static bool fits_key(struct mapping *m, const struct model_template *template, struct slice name)
{
    struct model_match match;
    struct slice key = value_get(m->item, name);
    if (key.len == 0 || !model_template_fits(template, key) ||
        !model_template_match(template, key, m->scope->arena, &match))
        return false;
    for (size_t i = 0; i < match.count; i++) {
        if (match.fields[i].path->kind == MODEL_EXPR_PATH && match.fields[i].path->step_count == 1)
            put(m, match.fields[i].path->steps[0], match.fields[i].value);
    }
    return true;
}

static bool fits_entity(struct mapping *m, const struct model_entity *entity)
{
    struct slice type_name = entity->table->type_attribute;
    struct slice type = type_name.len > 0 ? value_get(m->item, type_name) : VALUE_NONE;
    if (type.len > 0 &&
        (value_type(type) != VALUE_S || !slice_equal(value_bytes(type), entity->type_value)))
        return false;
    for (size_t i = 0; i < 2; i++) {
        if (entity->keys[i].template != NULL &&
            !fits_key(m, entity->keys[i].template, entity->keys[i].name))
            return false;
    }
    return true;
}

static bool fits_shape(struct mapping *m, const struct migration_shape *shape)
{
    if (shape->entity != NULL)
        return fits_entity(m, shape->entity);
    for (size_t i = 0; i < shape->key_count; i++) {
        if (!fits_key(m, shape->keys[i], shape->key_names[i]))
            return false;
    }
    return true;
}

static bool holds(const struct mapping *m, const struct migration_condition *condition)
{
    struct slice value = VALUE_NONE;
    struct slice other = VALUE_NONE;
    struct model_scope scope = eval_scope(m, m->names);
    bool there = model_eval(condition->path, &scope, MODEL_ANY, &value) == EVAL_OK;
    if (condition->value != NULL &&
        model_eval(condition->value, &scope, MODEL_ANY, &other) != EVAL_OK)
        return false;
    switch (condition->op) {
    case MIGRATION_EXISTS:
        return there;
    case MIGRATION_MISSING:
        return !there;
    case MIGRATION_EQUAL:
        return there && value_equal(value, other);
    case MIGRATION_NOT_EQUAL:
        return !there || !value_equal(value, other);
    case MIGRATION_BEGINS:
        return there && value_type(value) == VALUE_S && value_type(other) == VALUE_S &&
               slice_begins(value_bytes(value), value_bytes(other));
    case MIGRATION_IS:
        return there ? value_type(value) == condition->type : false;
    }
    return false;
}

// Whether the item is one of the step's; the map of names is made on the way.
static bool fits_step(struct mapping *m, const struct migration_step *step, bool *fits)
{
    begin_map(m);
    *fits = fits_shape(m, &step->shape);
    if (!*fits)
        return true;
    put_all(m, m->item);
    if (!end_map(m, &m->names))
        return false;
    for (size_t i = 0; *fits && i < step->condition_count; i++)
        *fits = holds(m, &step->conditions[i]);
    return true;
}

// ---- Other items ------------------------------------------------------------------------------

static const struct model_template *key_template(const struct migration_shape *shape, size_t part,
                                                 struct slice name)
{
    if (shape->entity != NULL)
        return shape->entity->keys[part].template;
    for (size_t i = 0; i < shape->key_count; i++) {
        if (slice_equal(shape->key_names[i], name))
            return shape->keys[i];
    }
    return NULL;
}

// The key of another item; *missing if something that it is made of is not there.
static bool other_key(struct mapping *m, const struct migration_shape *shape, struct slice *key,
                      bool *missing)
{
    const struct key_schema *keys = m->scope->keys;
    struct slice values[2];
    struct model_scope scope = eval_scope(m, m->names);
    *missing = false;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        const struct model_template *template = key_template(shape, i, keys->parts[i].name);
        enum eval_status status =
            template == NULL
                ? EVAL_MISSING
                : model_template_value(template, &scope, keys->parts[i].type, &m->text, &values[i]);
        if (status == EVAL_BUDGET)
            return error_budget(m->error);
        *missing |= status != EVAL_OK;
    }
    if (*missing)
        return true;
    begin_map(m);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        put(m, keys->parts[i].name, values[i]);
    return end_map(m, key);
}

// Finds the other items. *fits is false if one that is needed is not there.
static bool find_others(struct mapping *m, bool *fits)
{
    struct migration_result *result = m->result;
    for (size_t i = 0; i < m->step->with_count; i++) {
        const struct migration_with *with = &m->step->withs[i];
        struct migration_other *other = &result->others[result->other_count++];
        bool missing;
        *other = (struct migration_other){.removed = with->removed};
        if (!other_key(m, &with->shape, &other->key, &missing))
            return false;
        if (!missing && !m->scope->find(m->scope->context, other->key, &other->item, m->error))
            return false;
        if (other->item.len == 0 && !with->optional) {
            *fits = false;
            return true;
        }
    }
    if (result->other_count == 0)
        return true;
    begin_map(m);
    put_all(m, m->names);
    for (size_t i = 0; i < result->other_count; i++) {
        if (result->others[i].item.len > 0)
            put(m, m->step->withs[i].name, result->others[i].item);
    }
    return end_map(m, &m->names);
}

// ---- Making -----------------------------------------------------------------------------------

static bool is_key_name(const struct mapping *m, struct slice name)
{
    const struct model_table *table = m->scope->table;
    for (size_t i = 0; i < m->scope->keys->hash_count + m->scope->keys->range_count; i++) {
        if (slice_equal(m->scope->keys->parts[i].name, name))
            return true;
    }
    for (size_t i = 0; table != NULL && i < table->index_count; i++) {
        const struct key_schema *keys = &table->indexes[i].keys;
        for (size_t j = 0; j < keys->hash_count + keys->range_count; j++) {
            if (slice_equal(keys->parts[j].name, name))
                return true;
        }
    }
    return false;
}

// Whether an entity has the attribute as its own, so that it is no derived key.
static bool is_native(const struct mapping *m, const struct model_entity *entity, struct slice name)
{
    const struct model_table *table = m->scope->table;
    if (entity != NULL)
        return model_entity_attribute(entity, name) != NULL;
    for (size_t i = 0; table != NULL && i < table->entity_count; i++) {
        if (model_entity_attribute(&table->entities[i], name) != NULL)
            return true;
    }
    return false;
}

static bool names(const struct migration_make *make, enum migration_assign_kind kind,
                  struct slice name)
{
    for (size_t i = 0; i < make->assign_count; i++) {
        if (make->assigns[i].kind == kind && slice_equal(make->assigns[i].name, name))
            return true;
    }
    return false;
}

static bool is_assigned(const struct migration_make *make, struct slice name)
{
    return names(make, MIGRATION_SET, name);
}

// Keys that are derived, and the name of the entity, are not copied: they are made anew.
static bool is_copied(const struct mapping *m, const struct migration_make *make, struct slice name)
{
    const struct model_table *table = m->scope->table;
    if (table != NULL && slice_equal(table->type_attribute, name))
        return false;
    if (is_key_name(m, name) && !is_native(m, make->entity, name))
        return false;
    return !names(make, MIGRATION_WITHOUT, name);
}

static void copy_attributes(struct mapping *m, const struct migration_make *make,
                            struct slice source)
{
    struct value_iter iter;
    if (source.len == 0)
        return;
    value_iter_init(&iter, source);
    while (value_iter_next(&iter)) {
        if (is_copied(m, make, iter.name))
            put(m, iter.name, iter.value);
    }
}

// Sets one attribute; what cannot be computed because something is missing is left out.
static bool set_attribute(struct mapping *m, const struct migration_make *make,
                          const struct migration_assign *assign)
{
    struct slice value;
    const struct model_attribute *attribute =
        make->entity == NULL ? NULL : model_entity_attribute(make->entity, assign->name);
    struct model_scope scope = eval_scope(m, m->names);
    switch (model_eval(assign->value, &scope, attribute == NULL ? MODEL_ANY : attribute->type->kind,
                       &value)) {
    case EVAL_OK:
        put(m, assign->name, value);
        return true;
    case EVAL_MISSING:
        return true;
    case EVAL_UNFIT:
        return error_validation(m->error, "%.*s cannot be computed of this item",
                                SLICE_FMT(assign->name));
    case EVAL_BUDGET:
        break;
    }
    return error_budget(m->error);
}

// An item of an entity gets its keys and its type here, so that the guard knows what it is.
static bool add_keys(struct mapping *m, const struct migration_make *make, struct slice *item)
{
    const struct model_entity *entity = make->entity;
    const struct key_schema *keys = m->scope->keys;
    struct slice values[2] = {VALUE_NONE, VALUE_NONE};
    struct model_scope scope = eval_scope(m, *item);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        const struct model_template *template = entity->keys[i].template;
        if (template == NULL || is_assigned(make, keys->parts[i].name))
            continue;
        if (model_template_value(template, &scope, keys->parts[i].type, &m->text, &values[i]) ==
            EVAL_BUDGET)
            return error_budget(m->error);
    }
    begin_map(m);
    put_all(m, *item);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (values[i].len > 0)
            put(m, keys->parts[i].name, values[i]);
    }
    if (entity->table->type_attribute.len > 0) {
        value_name(&m->builder, entity->table->type_attribute);
        value_put_string(&m->builder, entity->type_value);
    }
    return end_map(m, item);
}

static bool make_one(struct mapping *m, const struct migration_make *make)
{
    struct migration_made *made = &m->result->made[m->result->made_count++];
    *made = (struct migration_made){.replace = make->replace, .entity = make->entity};
    begin_map(m);
    if (make->in_place) {
        struct value_iter iter;
        value_iter_init(&iter, m->item);
        while (value_iter_next(&iter)) {
            // What is set is set anew, or goes.
            if (!is_assigned(make, iter.name) && !names(make, MIGRATION_WITHOUT, iter.name))
                put(m, iter.name, iter.value);
        }
    }
    for (size_t i = 0; i < make->assign_count; i++) {
        const struct migration_assign *assign = &make->assigns[i];
        if (assign->kind == MIGRATION_COPY)
            copy_attributes(m, make,
                            assign->from == 0 ? m->item : m->result->others[assign->from - 1].item);
    }
    for (size_t i = 0; i < make->assign_count; i++) {
        if (make->assigns[i].kind == MIGRATION_SET && !set_attribute(m, make, &make->assigns[i]))
            return false;
    }
    return end_map(m, &made->item) && (make->entity == NULL || add_keys(m, make, &made->item));
}

static bool map_item(struct mapping *m)
{
    bool fits;
    if (!fits_step(m, m->step, &fits))
        return false;
    if (fits && !find_others(m, &fits))
        return false;
    m->result->fits = fits;
    m->result->keep = m->step->keep;
    for (size_t i = 0; fits && i < m->step->make_count; i++) {
        if (!make_one(m, &m->step->makes[i]))
            return false;
    }
    return true;
}

static struct mapping mapping_open(const struct migration_step *step,
                                   const struct migration_scope *scope, struct slice item,
                                   struct error *error)
{
    struct mapping m = {.scope = scope, .step = step, .item = item, .error = error};
    buf_init(&m.text, TEXT_MAX);
    buf_init(&m.bytes, MAP_MAX);
    return m;
}

static void mapping_close(struct mapping *m)
{
    value_builder_release(&m->builder);
    buf_release(&m->bytes);
    buf_release(&m->text);
}

bool migration_map(const struct migration_step *step, const struct migration_scope *scope,
                   struct slice item, struct migration_result *result, struct error *error)
{
    struct mapping m = mapping_open(step, scope, item, error);
    *result = (struct migration_result){.fits = false};
    m.result = result;
    value_builder_init(&m.builder, &m.bytes);
    bool ok = map_item(&m);
    mapping_close(&m);
    return ok;
}

bool migration_fits(const struct migration_step *step, const struct migration_scope *scope,
                    struct slice item, bool *fits, struct slice *names, struct error *error)
{
    struct mapping m = mapping_open(step, scope, item, error);
    value_builder_init(&m.builder, &m.bytes);
    bool ok = fits_step(&m, step, fits);
    *names = m.names;
    mapping_close(&m);
    return ok;
}
