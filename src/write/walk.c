// Walks over expressions, keys and types. Nothing is kept: models are small, and asking twice is
// cheaper than remembering.
#include "write/walk.h"

#include "model/rules.h"

// ---- Tables and entities ---------------------------------------------------------------------

bool is_wanted(const struct writer *w, const struct model_table *table)
{
    return w->only == NULL || w->only == table;
}

const struct model_table *next_table(const struct writer *w, const struct model_table *table)
{
    const struct model_table *end = w->model->tables + w->model->table_count;
    table = table == NULL ? w->model->tables : table + 1;
    while (table < end && !is_wanted(w, table))
        table++;
    return table < end ? table : NULL;
}

const struct model_entity *next_entity(const struct writer *w, const struct model_entity *entity)
{
    const struct model_table *table = entity == NULL ? next_table(w, NULL) : entity->table;
    if (entity != NULL && ++entity < table->entities + table->entity_count)
        return entity;
    if (entity != NULL)
        table = next_table(w, table);
    while (table != NULL && table->entity_count == 0)
        table = next_table(w, table);
    return table == NULL ? NULL : table->entities;
}

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

static void fields_of_template(struct fields *fields, const struct model_template *template);

void fields_of_expr(struct fields *fields, const struct model_expr *expr)
{
    if (expr->kind == MODEL_EXPR_PATH)
        fields_add(fields, expr->attribute);
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        fields_of_template(fields, expr->template);
    for (size_t i = 0; i < expr->arg_count; i++)
        fields_of_expr(fields, expr->args[i]);
}

static void fields_of_template(struct fields *fields, const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL)
            fields_of_expr(fields, template->segments[i].expr);
    }
}

static void fields_of_part(struct fields *fields, const struct model_entity *entity,
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

void fields_of_test(struct fields *fields, const struct model_test *test)
{
    for (size_t i = 0; i < test->clause_count; i++) {
        for (size_t k = 0; k < test->clauses[i].count; k++) {
            const struct model_comparison *one = &test->clauses[i].list[k];
            fields_of_expr(fields, one->left);
            for (size_t n = 0; n < 2 && one->values[n] != NULL; n++)
                fields_of_expr(fields, one->values[n]);
        }
    }
}

bool attribute_always(const struct model_attribute *attribute)
{
    return !attribute->optional && !type_nullable(attribute->type) &&
           attribute->type->kind != MODEL_ANY;
}

bool attribute_nullable(const struct model_attribute *attribute)
{
    return (attribute->optional && !attribute->strict) || type_nullable(attribute->type);
}

static bool expr_may_miss(const struct model_expr *expr);

static bool template_may_miss(const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr != NULL && expr_may_miss(expr))
            return true;
    }
    return false;
}

static bool expr_may_miss(const struct model_expr *expr)
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

bool expr_is_number(const struct model_expr *expr)
{
    bool sum = expr->kind == MODEL_EXPR_ADD || expr->kind == MODEL_EXPR_SUBTRACT ||
               expr->kind == MODEL_EXPR_MULTIPLY;
    if (expr->kind == MODEL_EXPR_CALL)
        return expr->function == MODEL_FN_SIZE;
    if (expr->kind == MODEL_EXPR_VALUE)
        return value_type(expr->value) == VALUE_N;
    if (expr->kind == MODEL_EXPR_ELSE || sum)
        return expr_is_number(expr->args[0]) && expr_is_number(expr->args[1]);
    return expr->kind == MODEL_EXPR_PATH && expr->attribute != NULL && expr->step_count == 1 &&
           type_stored(expr->attribute->type) == VALUE_N;
}

bool part_is_native(const struct model_entity *entity, const struct model_key_part *part)
{
    return model_entity_attribute(entity, part->name) != NULL;
}

// What the table's key makes is there already, and a local index has it in its key again.
bool part_is_made(const struct model_entity *entity, const struct model_key_part *part)
{
    const struct key_schema *keys = &entity->table->keys;
    for (size_t i = 0; i < keys_count(keys); i++) {
        if (slice_equal(keys->parts[i].name, part->name))
            return false;
    }
    return part->template != NULL && !part_is_native(entity, part);
}

bool entry_is_made(const struct model_entity *entity, const struct model_entry *entry)
{
    bool made = false;
    for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
        if (entry->parts[i].template == NULL && !part_is_native(entity, &entry->parts[i]))
            return false;
        made = made || part_is_made(entity, &entry->parts[i]);
    }
    return made;
}

bool entry_sparse(const struct model_entity *entity, const struct model_entry *entry)
{
    if (entry->when != NULL)
        return true;
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

static void add_key_names(struct key_names *names, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys_count(keys); i++) {
        size_t known = 0;
        while (known < names->count && !slice_equal(names->list[known]->name, keys->parts[i].name))
            known++;
        if (known == names->count)
            names->list[names->count++] = &keys->parts[i];
    }
}

void key_names(const struct model_table *table, struct key_names *names)
{
    names->count = 0;
    add_key_names(names, &table->keys);
    for (size_t i = 0; i < table->index_count; i++)
        add_key_names(names, &table->indexes[i].keys);
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

size_t derived_names(const struct model_entity *entity, struct slice list[DERIVED_MAX])
{
    const struct model_table *table = entity->table;
    size_t count = 0;
    for (size_t i = 0; i < keys_count(&table->keys); i++) {
        if (!part_is_native(entity, &entity->keys[i]))
            list[count++] = entity->keys[i].name;
    }
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
            if (part_is_made(entity, &entry->parts[i]) && !part_repeated(entity, e, i))
                list[count++] = entry->parts[i].name;
        }
    }
    if (table->type_attribute.len > 0 &&
        model_entity_attribute(entity, table->type_attribute) == NULL)
        list[count++] = table->type_attribute;
    return count;
}

// ---- Types -----------------------------------------------------------------------------------

static bool stands_before(const struct model_attribute *a, const struct model_attribute *b)
{
    return a->at.line < b->at.line || (a->at.line == b->at.line && a->at.column < b->at.column);
}

// The model keeps fields by name, to find them; people expect them as they were written.
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
