// Walks over expressions, keys and types. Nothing is kept: models are small, and asking twice is
// cheaper than remembering.
#include "generate/walk.h"

// ---- Fields ----------------------------------------------------------------------------------

bool fields_have(const struct fields *fields, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->list[i] == attribute)
            return true;
    }
    return false;
}

void fields_add(struct fields *fields, const struct model_attribute *attribute)
{
    if (attribute != NULL && fields->count < FIELDS_MAX && !fields_have(fields, attribute))
        fields->list[fields->count++] = attribute;
}

void fields_of_expr(struct fields *fields, const struct model_expr *expr)
{
    if (expr->kind == MODEL_EXPR_PATH)
        fields_add(fields, expr->attribute);
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        fields_of_template(fields, expr->template);
    for (size_t i = 0; i < expr->arg_count; i++)
        fields_of_expr(fields, expr->args[i]);
}

void fields_of_template(struct fields *fields, const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL)
            fields_of_expr(fields, template->segments[i].expr);
    }
}

void fields_of_part(struct fields *fields, const struct model_entity *entity,
                    const struct model_key_part *part)
{
    if (part->template != NULL)
        fields_of_template(fields, part->template);
    else
        fields_add(fields, model_entity_attribute(entity, part->name));
}

size_t keys_count(const struct key_schema *keys)
{
    return keys->hash_count + keys->range_count;
}

void fields_of_keys(struct fields *fields, const struct model_entity *entity)
{
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++)
        fields_of_part(fields, entity, &entity->keys[i]);
}

void fields_of_entry(struct fields *fields, const struct model_entity *entity,
                     const struct model_entry *entry)
{
    for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++)
        fields_of_part(fields, entity, &entry->parts[i]);
}

bool attribute_always(const struct model_attribute *attribute)
{
    return !attribute->optional && !type_nullable(attribute->type) &&
           attribute->type->kind != MODEL_ANY;
}

static bool template_may_miss(const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr != NULL && expr_may_miss(expr))
            return true;
    }
    return false;
}

bool expr_may_miss(const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_PATH:
        return expr->step_count > 1 || expr->attribute == NULL ||
               !attribute_always(expr->attribute);
    case MODEL_EXPR_TEMPLATE:
        return template_may_miss(expr->template);
    case MODEL_EXPR_ELSE:
        return expr_may_miss(expr->args[1]);
    case MODEL_EXPR_VALUE:
        return value_type(expr->value) == VALUE_NULL;
    case MODEL_EXPR_PARAM:
        return false;
    default:
        break;
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (expr_may_miss(expr->args[i]))
            return true;
    }
    return false;
}

bool part_is_native(const struct model_entity *entity, const struct model_key_part *part)
{
    return model_entity_attribute(entity, part->name) != NULL;
}

bool part_is_made(const struct model_entity *entity, const struct model_key_part *part)
{
    const struct key_schema *keys = &entity->table->keys;
    for (size_t i = 0; i < keys_count(keys); i++) {
        if (slice_equal(keys->parts[i].name, part->name))
            return false;
    }
    return part->template != NULL && !part_is_native(entity, part);
}

bool entry_sparse(const struct model_entity *entity, const struct model_entry *entry)
{
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
        const struct model_key_part *part = &entry->parts[i];
        const struct model_attribute *native = model_entity_attribute(entity, part->name);
        if (part->template != NULL ? template_may_miss(part->template)
                                   : native == NULL || !attribute_always(native))
            return true;
    }
    return false;
}

// ---- Attribute names of a table --------------------------------------------------------------

// Whether a part of the same name comes before part `i` of index `index` (the table is index 0).
static bool part_named_before(const struct model_table *table, size_t index, size_t i,
                              struct slice name)
{
    for (size_t k = 0; k <= index; k++) {
        const struct key_schema *keys = k == 0 ? &table->keys : &table->indexes[k - 1].keys;
        size_t end = k == index ? i : keys_count(keys);
        for (size_t p = 0; p < end; p++) {
            if (slice_equal(keys->parts[p].name, name))
                return true;
        }
    }
    return false;
}

void key_names(const struct model_table *table,
               void (*visit)(void *context, const struct key_part *part), void *context)
{
    for (size_t k = 0; k <= table->index_count; k++) {
        const struct key_schema *keys = k == 0 ? &table->keys : &table->indexes[k - 1].keys;
        for (size_t p = 0; p < keys_count(keys); p++) {
            if (!part_named_before(table, k, p, keys->parts[p].name))
                visit(context, &keys->parts[p]);
        }
    }
}

bool part_repeated(const struct model_entity *entity, size_t entry, size_t part)
{
    struct slice name = entity->entries[entry].parts[part].name;
    for (size_t e = 0; e <= entry; e++) {
        const struct model_entry *one = &entity->entries[e];
        size_t end = e == entry ? part : keys_count(&one->index->keys);
        for (size_t i = 0; one->stated && i < end; i++) {
            if (slice_equal(one->parts[i].name, name))
                return true;
        }
    }
    return false;
}

void derived_names(const struct model_entity *entity,
                   void (*visit)(void *context, struct slice name), void *context)
{
    const struct model_table *table = entity->table;
    for (size_t i = 0; i < keys_count(&table->keys); i++) {
        if (!part_is_native(entity, &entity->keys[i]))
            visit(context, entity->keys[i].name);
    }
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
            const struct model_key_part *part = &entry->parts[i];
            if (part_is_made(entity, part) && !part_repeated(entity, e, i))
                visit(context, part->name);
        }
    }
    if (table->type_attribute.len > 0 &&
        model_entity_attribute(entity, table->type_attribute) == NULL)
        visit(context, table->type_attribute);
}

// ---- Types -----------------------------------------------------------------------------------

static bool stands_before(const struct model_attribute *a, const struct model_attribute *b)
{
    return a->at.line < b->at.line || (a->at.line == b->at.line && a->at.column < b->at.column);
}

size_t type_fields(const struct model_type *type,
                   const struct model_attribute *list[TYPE_FIELDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < type->field_count && count < TYPE_FIELDS_MAX; i++) {
        size_t at = count++;
        for (; at > 0 && stands_before(&type->fields[i], list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = &type->fields[i];
    }
    return count;
}

bool type_nullable(const struct model_type *type)
{
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (type->options[i]->kind == MODEL_NULL)
            return true;
    }
    return type->kind == MODEL_NULL;
}

const struct model_type *type_bare(const struct model_type *type)
{
    const struct model_type *other = NULL;
    if (type->kind != MODEL_UNION)
        return type;
    for (size_t i = 0; i < type->option_count; i++) {
        if (type->options[i]->kind == MODEL_NULL)
            continue;
        if (other != NULL)
            return type;
        other = type->options[i];
    }
    return other == NULL ? type : other;
}

static enum value_type set_stored(const struct model_type *item)
{
    switch (type_stored(item)) {
    case VALUE_S:
        return VALUE_SS;
    case VALUE_N:
        return VALUE_NS;
    case VALUE_B:
        return VALUE_BS;
    default:
        return VALUE_TYPES;
    }
}

enum value_type type_stored(const struct model_type *type)
{
    static const enum value_type stored[] = {
#define X(kind, name, type) [MODEL_##kind] = type,
        MODEL_TYPE_LIST(X)
#undef X
    };
    enum value_type common = VALUE_TYPES;
    if (type->kind == MODEL_LITERAL)
        return value_type(type->literal);
    if (type->kind == MODEL_SET)
        return set_stored(type->item);
    if (type->kind != MODEL_UNION)
        return stored[type->kind];
    for (size_t i = 0; i < type->option_count; i++) {
        enum value_type one = type_stored(type->options[i]);
        if (type->options[i]->kind == MODEL_NULL)
            continue;
        if (one == VALUE_TYPES || (common != VALUE_TYPES && one != common))
            return VALUE_TYPES;
        common = one;
    }
    return common;
}

bool type_literals(const struct model_type *type, enum value_type stored)
{
    size_t literals = 0;
    if (type->kind == MODEL_LITERAL)
        return value_type(type->literal) == stored;
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        if (option->kind == MODEL_NULL)
            continue;
        if (option->kind != MODEL_LITERAL || value_type(option->literal) != stored)
            return false;
        literals++;
    }
    return literals > 0;
}

// ---- Relationships ---------------------------------------------------------------------------

// Compares without capitals and separators, as far as `name` goes; the rest of `field`.
static struct slice field_behind(struct slice field, struct slice name)
{
    size_t at = 0;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '_' || name.ptr[i] == '-')
            continue;
        while (at < field.len && (field.ptr[at] == '_' || field.ptr[at] == '-'))
            at++;
        if (at == field.len || (field.ptr[at] | 0x20) != (name.ptr[i] | 0x20))
            return field;
        at++;
    }
    return slice_of(field.ptr + at, field.len - at);
}

static bool is_id(struct slice rest)
{
    return slice_is(rest, "Id") || slice_is(rest, "_id") || slice_is(rest, "ID") ||
           slice_is(rest, "-id") || slice_is(rest, "id");
}

// Whether a field is called like an entity, with "Id" behind it.
static bool is_id_of(struct slice field, const struct model_entity *entity)
{
    struct slice rest = field_behind(field, entity->name);
    return rest.len < field.len && is_id(rest);
}

// Whether a word of the name begins here: userId in targetUserId, job_id in retry_of_job_id.
static bool begins_word(struct slice name, size_t at)
{
    uint8_t c = name.ptr[at];
    uint8_t before = at == 0 ? '_' : name.ptr[at - 1];
    return before == '_' || before == '-' || (c >= 'A' && c <= 'Z');
}

// How much of the end of a field is the name of an entity's identity: all of userId for User, 6
// characters of targetUserId; 0 if it is not.
static size_t field_names(struct slice field, const struct model_entity *entity)
{
    struct fields keys = {0};
    fields_of_keys(&keys, entity);
    const struct model_attribute *own = model_entity_attribute(entity, field);
    bool holds = own != NULL && fields_have(&keys, own);
    bool by_id = keys.count == 1 && is_id(keys.list[0]->name);
    for (size_t at = 0; at < field.len; at++) {
        struct slice tail = slice_of(field.ptr + at, field.len - at);
        if (!begins_word(field, at) || !is_id_of(tail, entity))
            continue;
        const struct model_attribute *key = keys.count > 0 ? keys.list[keys.count - 1] : NULL;
        bool same = key != NULL && is_id_of(key->name, entity);
        if ((at == 0 && holds) || by_id || same)
            return tail.len;
    }
    return 0;
}

const struct model_entity *field_owner(const struct model *model, struct slice field)
{
    const struct model_entity *named = NULL;
    const struct model_entity *sole = NULL;
    size_t longest = 0;
    size_t soles = 0;
    for (size_t t = 0; t < model->table_count; t++) {
        const struct model_table *table = &model->tables[t];
        for (size_t e = 0; e < table->entity_count; e++) {
            const struct model_entity *entity = &table->entities[e];
            struct fields keys = {0};
            size_t len = field_names(field, entity);
            fields_of_keys(&keys, entity);
            if (len > longest) {
                longest = len;
                named = entity;
            }
            if (keys.count == 1 && slice_equal(keys.list[0]->name, field)) {
                sole = entity;
                soles++;
            }
        }
    }
    // What is only called id may be anybody's.
    if (longest == field.len || soles != 1 || is_id(field))
        return named;
    return sole;
}

// ---- Helpers ---------------------------------------------------------------------------------

unsigned uses_of_expr(const struct model_expr *expr)
{
    unsigned uses = 0;
    if (expr->kind == MODEL_EXPR_CALL)
        uses |= 1U << expr->function;
    if (expr->kind == MODEL_EXPR_ADD || expr->kind == MODEL_EXPR_SUBTRACT)
        uses |= USES_ADD;
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        uses |= uses_of_template(expr->template);
    if (expr->kind == MODEL_EXPR_PATH && expr->step_count > 1)
        uses |= USES_STEPS;
    for (size_t i = 0; i < expr->arg_count; i++)
        uses |= uses_of_expr(expr->args[i]);
    return uses;
}

unsigned uses_of_template(const struct model_template *template)
{
    unsigned uses = template->bare ? 0 : USES_TEMPLATE;
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL)
            uses |= uses_of_expr(template->segments[i].expr);
    }
    return uses;
}

static unsigned uses_of_part(const struct model_key_part *part)
{
    return part->template == NULL ? 0 : uses_of_template(part->template);
}

static unsigned uses_of_entity(const struct model_entity *entity)
{
    unsigned uses = 0;
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++)
        uses |= uses_of_part(&entity->keys[i]);
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; i < keys_count(&entry->index->keys); i++)
            uses |= uses_of_part(&entry->parts[i]);
    }
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].otherwise != NULL)
            uses |= uses_of_expr(entity->attributes[i].otherwise);
    }
    return uses;
}

static unsigned uses_of_condition(const struct model_condition *condition)
{
    unsigned uses = 0;
    for (size_t i = 0; i < 2; i++) {
        if (condition->values[i] != NULL)
            uses |= uses_of_expr(condition->values[i]);
    }
    return uses;
}

unsigned uses_of_model(const struct model *model, const struct generate_options *options)
{
    unsigned uses = 0;
    for (size_t t = 0; t < model->table_count; t++) {
        const struct model_table *table = &model->tables[t];
        if (!generate_wants(options, table))
            continue;
        for (size_t i = 0; i < table->entity_count; i++)
            uses |= uses_of_entity(&table->entities[i]);
        for (size_t i = 0; i < table->access_count; i++) {
            const struct model_access *access = &table->accesses[i];
            for (size_t k = 0; k < access->key_count; k++)
                uses |= uses_of_condition(&access->keys[k]);
            for (size_t k = 0; k < access->filter_count; k++)
                uses |= uses_of_condition(&access->filters[k]);
        }
    }
    return uses;
}
