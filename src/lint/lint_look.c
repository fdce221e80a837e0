// How rules look at a model: the keys of an entity, the fields inside them, what types and names
// tell of the values. Everything here only reads the model.
#include "lint/lint_internal.h"

#include "value/number.h"

#include <ctype.h>

// ---- Keys ----------------------------------------------------------------------------------

bool lint_key_of(const struct model_entity *entity, const struct model_index *index,
                 struct lint_key *out)
{
    const struct model_table *table = entity->table;
    if (index == NULL) {
        *out = (struct lint_key){entity, NULL, &table->keys, entity->keys, entity->keys[0].at};
        if (out->at.line == 0)
            out->at = entity->at;
        return true;
    }
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (entry->index != index)
            continue;
        *out = (struct lint_key){entity, index, &index->keys, entry->parts, entry->at};
        if (out->at.line == 0)
            out->at = entity->at;
        return entry->stated;
    }
    return false;
}

struct slice lint_key_where(const struct lint_key *key)
{
    return key->index == NULL ? SLICE_LIT("the table") : key->index->name;
}

struct slice lint_part_source(const struct model_key_part *part)
{
    return part->template == NULL ? part->name : part->template->source;
}

// ---- Fields --------------------------------------------------------------------------------

static void template_fields(const struct model_template *template, struct lint_field outer,
                            struct lint_fields *out);
static void add_fields(const struct model_expr *expr, struct lint_field outer,
                       struct lint_fields *out);

static size_t pad_width(const struct model_expr *call)
{
    int64_t width = 0;
    const struct model_expr *second = call->arg_count > 1 ? call->args[1] : NULL;
    if (second == NULL || second->kind != MODEL_EXPR_VALUE || second->value.len == 0 ||
        value_type(second->value) != VALUE_N || !number_to_i64(value_bytes(second->value), &width))
        return 0;
    return width > 0 ? (size_t)width : 0;
}

static void add_call_fields(const struct model_expr *expr, struct lint_field outer,
                            struct lint_fields *out)
{
    switch (expr->function) {
    case MODEL_FN_PAD:
        outer.pad = pad_width(expr);
        if (expr->arg_count > 0)
            add_fields(expr->args[0], outer, out);
        return;
    case MODEL_FN_ESCAPE:
    case MODEL_FN_FORBID:
        outer.safe = true;
        break;
    case MODEL_FN_SHA256:
    case MODEL_FN_DATE_PART:
    case MODEL_FN_SIZE:
        outer.shaped = true;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < expr->arg_count; i++)
        add_fields(expr->args[i], outer, out);
}

static void add_fields(const struct model_expr *expr, struct lint_field outer,
                       struct lint_fields *out)
{
    switch (expr->kind) {
    case MODEL_EXPR_PATH:
        if (out->count == LINT_FIELDS_MAX)
            return;
        outer.path = expr;
        outer.attribute = expr->attribute;
        outer.type = model_path_type(expr);
        out->list[out->count++] = outer;
        return;
    case MODEL_EXPR_TEMPLATE:
        template_fields(expr->template, outer, out);
        return;
    case MODEL_EXPR_CALL:
        add_call_fields(expr, outer, out);
        return;
    default: // ??, sums; what has no arguments has no fields
        for (size_t i = 0; i < expr->arg_count; i++)
            add_fields(expr->args[i], outer, out);
    }
}

static void template_fields(const struct model_template *template, struct lint_field outer,
                            struct lint_fields *out)
{
    for (size_t i = 0; i < template->segment_count; i++)
        if (template->segments[i].expr != NULL)
            add_fields(template->segments[i].expr, outer, out);
}

void lint_expr_fields(const struct model_expr *expr, struct lint_fields *out)
{
    *out = (struct lint_fields){.count = 0};
    add_fields(expr, (struct lint_field){.pad = 0}, out);
}

static void add_part(const struct model_entity *entity, const struct model_key_part *part,
                     struct lint_fields *out)
{
    if (part->template != NULL) {
        out->bare = part->template->bare;
        template_fields(part->template, (struct lint_field){.pad = 0}, out);
        return;
    }
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    out->bare = true;
    if (native != NULL && out->count < LINT_FIELDS_MAX)
        out->list[out->count++] = (struct lint_field){.attribute = native, .type = native->type};
}

bool lint_is_identity(const struct model_attribute *attribute)
{
    const struct model_expr *made = attribute == NULL ? NULL : attribute->otherwise;
    bool drawn = made != NULL && made->kind == MODEL_EXPR_CALL &&
                 (made->function == MODEL_FN_UUID || made->function == MODEL_FN_ULID);
    return attribute != NULL && (attribute->unique || (drawn && !attribute->on_update));
}

void lint_part_fields(const struct model_entity *entity, const struct model_key_part *part,
                      struct lint_fields *out)
{
    *out = (struct lint_fields){.count = 0};
    add_part(entity, part, out);
}

// The parts of a half of a key; *count is how many there are.
static const struct model_key_part *half_of(const struct lint_key *key, enum lint_half half,
                                            size_t *count)
{
    const struct key_schema *schema = key->schema;
    *count = (half == LINT_RANGE ? 0 : schema->hash_count) +
             (half == LINT_HASH ? 0 : schema->range_count);
    return key->parts + (half == LINT_RANGE ? schema->hash_count : 0);
}

void lint_key_fields(const struct lint_key *key, enum lint_half half, struct lint_fields *out)
{
    size_t count;
    const struct model_key_part *parts = half_of(key, half, &count);
    *out = (struct lint_fields){.count = 0};
    for (size_t i = 0; i < count; i++)
        add_part(key->entity, &parts[i], out);
}

bool lint_fields_cover(const struct lint_fields *fields, const struct lint_fields *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        size_t k = 0;
        while (k < fields->count && fields->list[k].attribute != wanted->list[i].attribute)
            k++;
        if (k == fields->count)
            return false;
    }
    return true;
}

// Any value at all may stand in a native part that the entity does not declare.
static bool part_constant(const struct model_entity *entity, const struct model_key_part *part)
{
    struct lint_fields fields;
    lint_part_fields(entity, part, &fields);
    if (part->template == NULL)
        return fields.count == 1 && fields.list[0].type != NULL &&
               fields.list[0].type->kind == MODEL_LITERAL;
    for (size_t i = 0; i < part->template->segment_count; i++) {
        const struct model_expr *expr = part->template->segments[i].expr;
        if (expr != NULL && expr->kind != MODEL_EXPR_VALUE)
            return false;
    }
    return true;
}

bool lint_key_constant(const struct lint_key *key, enum lint_half half)
{
    size_t count;
    const struct model_key_part *parts = half_of(key, half, &count);
    for (size_t i = 0; i < count; i++)
        if (!part_constant(key->entity, &parts[i]))
            return false;
    return true;
}

const char *lint_key_source(struct lint *lint, const struct lint_key *key, enum lint_half half)
{
    size_t count;
    const struct model_key_part *parts = half_of(key, half, &count);
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        const char *mark = parts[i].template == NULL ? "" : "\"";
        struct slice source = lint_part_source(&parts[i]);
        text = lint_text(lint, "%s%s%s%.*s%s", text, i == 0 ? "" : ", ", mark, SLICE_FMT(source),
                         mark);
    }
    return text;
}

// ---- Types ---------------------------------------------------------------------------------

size_t lint_type_cardinality(const struct model_type *type)
{
    if (type == NULL)
        return 0;
    if (type->kind == MODEL_BOOLEAN)
        return 2;
    if (type->kind == MODEL_LITERAL || type->kind == MODEL_NULL)
        return 1;
    if (type->kind != MODEL_UNION)
        return 0;
    size_t sum = 0;
    for (size_t i = 0; i < type->option_count; i++) {
        size_t each = lint_type_cardinality(type->options[i]);
        if (each == 0)
            return 0;
        sum += type->options[i]->kind == MODEL_NULL ? 0 : each;
    }
    return sum;
}

size_t lint_fields_cardinality(const struct lint_fields *fields)
{
    size_t product = 1;
    for (size_t i = 0; i < fields->count; i++) {
        size_t each = lint_type_cardinality(fields->list[i].type);
        if (each == 0)
            return 0;
        product *= each;
    }
    return product;
}

bool lint_type_numeric(const struct model_type *type)
{
    return model_type_has(type, MODEL_NUMBER) || model_type_has(type, MODEL_INTEGER) ||
           model_type_has(type, MODEL_EPOCH);
}

bool lint_type_time(const struct model_type *type)
{
    return model_type_has(type, MODEL_TIMESTAMP) || model_type_has(type, MODEL_DATE) ||
           model_type_has(type, MODEL_EPOCH);
}

bool lint_type_free(const struct model_type *type)
{
    return model_type_has(type, MODEL_STRING) || model_type_has(type, MODEL_ANY);
}

bool lint_type_fixed(const struct model_type *type)
{
    if (type == NULL)
        return false;
    switch (type->kind) {
    case MODEL_UUID:
    case MODEL_DATE:
        return true;
    case MODEL_STRING:
        return type->min.len > 0 && slice_equal(type->min, type->max);
    default:
        return false;
    }
}

// ---- Names ---------------------------------------------------------------------------------

static bool ends_with(struct slice name, const char *end)
{
    size_t len = strlen(end);
    return name.len >= len && memcmp(name.ptr + name.len - len, end, len) == 0;
}

static bool same_word(struct slice name, const char *word)
{
    if (name.len != strlen(word))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (tolower(name.ptr[i]) != word[i])
            return false;
    return true;
}

static bool any_end(struct slice name, const char *const *ends, const char *const *words)
{
    for (size_t i = 0; ends[i] != NULL; i++)
        if (ends_with(name, ends[i]))
            return true;
    for (size_t i = 0; words[i] != NULL; i++)
        if (same_word(name, words[i]))
            return true;
    return false;
}

bool lint_name_time(struct slice name)
{
    static const char *const ends[] = {"At",    "_at", "Date",      "_date",      "Time",
                                       "_time", "_ts", "Timestamp", "_timestamp", NULL};
    static const char *const words[] = {"ts", "timestamp", "date", "time", NULL};
    return any_end(name, ends, words);
}

bool lint_name_id(struct slice name)
{
    static const char *const ends[] = {"Id",    "ID",   "_id",  "By",   "_by",
                                       "Uuid",  "uuid", "Key",  "_key", "Token",
                                       "token", "Hash", "Slug", "Code", NULL};
    static const char *const words[] = {"id", "key", "sku", "slug", "code", "hash", NULL};
    return any_end(name, ends, words);
}

bool lint_name_version(struct slice name)
{
    static const char *const ends[] = {"Version", "_version", "Revision", "_revision", NULL};
    static const char *const words[] = {"version", "revision", "rev", NULL};
    return any_end(name, ends, words);
}

bool lint_name_state(struct slice name)
{
    static const char *const ends[] = {"Status",  "_status",  "State", "_state",
                                       "Count",   "_count",   "Total", "_total",
                                       "Balance", "_balance", NULL};
    static const char *const words[] = {"status", "state", "stage", "plan",  "role",
                                        "phase",  "email", "count", "score", NULL};
    return any_end(name, ends, words);
}
