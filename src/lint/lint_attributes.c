// Rules about attributes: expiry, uniqueness, lists that grow.
#include "lint/lint_internal.h"

#include <ctype.h>

// ---- L026, L027 ----------------------------------------------------------------------------

void lint_ttl_not_epoch(struct lint *lint, const struct model_entity *entity,
                        const struct model_attribute *attribute)
{
    struct slice ttl = entity->table->ttl_attribute;
    if (ttl.len == 0 || !slice_equal(attribute->name, ttl) ||
        model_type_has(attribute->type, MODEL_EPOCH))
        return;
    lint_find(lint, attribute->at, lint_text(lint, "%.*s epoch", SLICE_FMT(ttl)),
              "%.*s of %.*s says when an item expires, but is not of type epoch", SLICE_FMT(ttl),
              SLICE_FMT(entity->name));
}

static bool sounds_like_ttl(struct slice name)
{
    static const char *const words[] = {"ttl", "expires", "expiry", "timetolive"};
    char lower[16];
    if (name.len >= sizeof(lower))
        return false;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = (char)tolower(name.ptr[i]);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (slice_is(slice_of(lower, name.len), words[i]))
            return true;
    return false;
}

void lint_ttl_unnamed(struct lint *lint, const struct model_entity *entity,
                      const struct model_attribute *attribute)
{
    if (entity->table->ttl_attribute.len > 0 || !sounds_like_ttl(attribute->name) ||
        !lint_type_numeric(attribute->type))
        return;
    lint_find(lint, attribute->at,
              lint_text(lint, "write `ttl %.*s` in table %.*s", SLICE_FMT(attribute->name),
                        SLICE_FMT(entity->table->name)),
              "%.*s of %.*s sounds like an expiry, but the table does not expire anything",
              SLICE_FMT(attribute->name), SLICE_FMT(entity->name));
}

void lint_ttl_undeclared(struct lint *lint, const struct model_table *table)
{
    bool declared = table->ttl_attribute.len == 0 || table->entity_count == 0;
    for (size_t e = 0; e < table->entity_count && !declared; e++)
        declared = model_entity_attribute(&table->entities[e], table->ttl_attribute) != NULL;
    if (!declared)
        lint_find(lint, table->at, "declare it in the entities that expire, or drop `ttl`",
                  "no entity of %.*s has %.*s, by which its items should expire",
                  SLICE_FMT(table->name), SLICE_FMT(table->ttl_attribute));
}

// ---- L028, L029 ----------------------------------------------------------------------------

static bool sounds_like_email(const struct model_attribute *attribute)
{
    return model_type_has(attribute->type, MODEL_EMAIL) ||
           (model_type_has(attribute->type, MODEL_STRING) &&
            (slice_is(attribute->name, "email") || slice_is(attribute->name, "username") ||
             slice_is(attribute->name, "userName") || slice_is(attribute->name, "user_name")));
}

static bool in_a_key(const struct model_entity *entity, const struct model_attribute *attribute)
{
    for (size_t i = 0; i <= entity->table->index_count; i++) {
        struct lint_key key;
        struct lint_fields fields;
        const struct model_index *index = i == 0 ? NULL : &entity->table->indexes[i - 1];
        if (!lint_key_of(entity, index, &key))
            continue;
        size_t parts = key.schema->hash_count + key.schema->range_count;
        for (size_t p = 0; p < parts; p++) {
            lint_part_fields(entity, &key.parts[p], &fields);
            for (size_t k = 0; k < fields.count; k++)
                if (fields.list[k].attribute == attribute && !fields.list[k].shaped)
                    return true;
        }
    }
    return false;
}

void lint_unique_as_written(struct lint *lint, const struct model_entity *entity,
                            const struct model_attribute *attribute)
{
    if ((attribute->normal & (MODEL_LOWER | MODEL_UPPER)) != 0 || !sounds_like_email(attribute) ||
        (!attribute->unique && !in_a_key(entity, attribute)))
        return;
    bool mail = model_type_has(attribute->type, MODEL_EMAIL) || slice_is(attribute->name, "email");
    lint_find(lint, attribute->at,
              lint_text(lint, "add `lower` (and `trim`) to %.*s", SLICE_FMT(attribute->name)),
              "%.*s of %.*s is %s as it is written: %s", SLICE_FMT(attribute->name),
              SLICE_FMT(entity->name), attribute->unique ? "unique" : "looked up",
              mail ? "Ann@example.com is not ann@example.com" : "\"Ann\" is not \"ann\"");
}

void lint_unique_optional(struct lint *lint, const struct model_entity *entity,
                          const struct model_attribute *attribute)
{
    if (attribute->unique && (attribute->optional || model_type_has(attribute->type, MODEL_NULL)))
        lint_find(lint, attribute->at, NULL, "%.*s of %.*s is unique, but need not be there",
                  SLICE_FMT(attribute->name), SLICE_FMT(entity->name));
}

// ---- L032 ----------------------------------------------------------------------------------

void lint_unbounded_list(struct lint *lint, const struct model_entity *entity,
                         const struct model_attribute *attribute)
{
    const struct model_type *type = attribute->type;
    if (type == NULL || type->kind != MODEL_LIST || type->max.len > 0 || type->item == NULL ||
        (type->item->kind != MODEL_OBJECT && type->item->kind != MODEL_RECORD &&
         type->item->kind != MODEL_ANY))
        return;
    lint_find(lint, attribute->at, NULL, "%.*s of %.*s is a list of objects without an end",
              SLICE_FMT(attribute->name), SLICE_FMT(entity->name));
}
