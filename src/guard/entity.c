// See entity.h. Nothing is allocated: candidates are counted, and counted again with a stricter
// test as long as there are several.
#include "guard/entity.h"

#include "eval/template.h"
#include "eval/validate.h"

static size_t key_count(const struct model_table *table)
{
    return table->keys.hash_count + table->keys.range_count;
}

// Whether the keys that the item has can be the entity's.
static bool keys_fit(const struct model_entity *entity, const struct slice keys[2])
{
    for (size_t i = 0; i < key_count(entity->table); i++) {
        const struct model_template *template = entity->keys[i].template;
        if (keys[i].len > 0 && template != NULL && !model_template_fits(template, keys[i]))
            return false;
    }
    return true;
}

// Whether the attribute can be read back out of a key that is there.
static bool in_keys(const struct model_entity *entity, const struct model_attribute *attribute,
                    const struct slice keys[2])
{
    for (size_t i = 0; i < key_count(entity->table); i++) {
        const struct model_template *template = entity->keys[i].template;
        for (size_t k = 0; keys[i].len > 0 && template != NULL && k < template->segment_count;
             k++) {
            const struct model_expr *path = model_segment_path(&template->segments[k]);
            if (path != NULL && path->attribute == attribute)
                return true;
        }
    }
    return false;
}

// Whether the item has all that only a client can give.
static bool has_required(const struct model_entity *entity, struct slice item,
                         const struct slice keys[2])
{
    struct value_walk walk;
    value_walk_init(&walk, item);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[entity->by_name[i]];
        if (!attribute->optional && attribute->otherwise == NULL && !attribute->version &&
            value_walk_to(&walk, attribute->name).len == 0 && !in_keys(entity, attribute, keys))
            return false;
    }
    return true;
}

// Whether all that the item has of the entity's attributes is of their types.
static bool has_types(struct model_check *check, const struct model_entity *entity,
                      struct slice item)
{
    struct value_walk walk;
    value_walk_init(&walk, item);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[entity->by_name[i]];
        struct slice value = value_walk_to(&walk, attribute->name);
        if (value.len > 0 && !model_is_absent(attribute, value) &&
            !model_type_fits(check, attribute->type, value, false))
            return false;
    }
    return true;
}

enum { BY_KEYS, BY_ATTRIBUTES, BY_TYPES, STAGES };
enum { STEPS_KEYS = 8 }; // to compare keys with an entity's templates

static bool is_candidate(struct model_check *check, const struct model_entity *entity,
                         struct slice item, const struct slice keys[2], int stage)
{
    steps_add(&check->steps, STEPS_KEYS);
    if (!keys_fit(entity, keys))
        return false;
    if (stage == BY_KEYS)
        return true;
    steps_add(&check->steps, (size_t)stage * (entity->attribute_count + value_count(item)));
    return has_required(entity, item, keys) && (stage < BY_TYPES || has_types(check, entity, item));
}

static struct model_recognition candidates(struct model_check *check,
                                           const struct model_table *table, struct slice item,
                                           const struct slice keys[2], int stage)
{
    struct model_recognition found = {.doubt = MODEL_AMBIGUOUS};
    for (size_t i = 0; i < table->entity_count; i++) {
        if (check_over(check))
            return (struct model_recognition){.doubt = MODEL_NO_SUCH_KEY};
        if (!is_candidate(check, &table->entities[i], item, keys, stage))
            continue;
        if (found.count < 2)
            found.others[found.count] = &table->entities[i];
        found.count++;
    }
    if (found.count == 0)
        found.doubt = MODEL_NO_SUCH_KEY;
    if (found.count == 1) {
        found.doubt = MODEL_CERTAIN;
        found.entity = found.others[0];
    }
    return found;
}

static struct model_recognition by_type(const struct model_table *table, struct slice type)
{
    struct model_recognition found = {.doubt = MODEL_NO_SUCH_TYPE};
    if (value_type(type) != VALUE_S)
        return found;
    struct slice name = value_bytes(type);
    for (size_t i = 0; i < table->entity_count; i++)
        if (slice_equal(table->entities[i].type_value, name))
            return (struct model_recognition){.entity = &table->entities[i], .count = 1};
    return found;
}

struct model_recognition model_recognise(const struct model_table *table, struct slice item)
{
    struct model_check check;
    check_init(&check);
    struct model_recognition found = model_recognise_within(&check, table, item);
    check_release(&check);
    return found;
}

struct model_recognition model_recognise_within(struct model_check *check,
                                                const struct model_table *table, struct slice item)
{
    if (table->type_attribute.len > 0) {
        struct slice type = value_get(item, table->type_attribute);
        if (type.len > 0) {
            steps_add(&check->steps, table->entity_count);
            return by_type(table, type);
        }
    }
    struct slice keys[2] = {VALUE_NONE, VALUE_NONE};
    for (size_t i = 0; i < key_count(table) && i < 2; i++)
        keys[i] = value_get(item, table->keys.parts[i].name);
    struct model_recognition found = candidates(check, table, item, keys, BY_KEYS);
    for (int stage = BY_ATTRIBUTES; stage < STAGES && found.count > 1; stage++) {
        struct model_recognition fewer = candidates(check, table, item, keys, stage);
        if (fewer.count > 0)
            found = fewer;
    }
    return found;
}

size_t model_entities_of_key(const struct model_table *table, struct slice key,
                             const struct model_entity **list, size_t max)
{
    struct slice keys[2] = {VALUE_NONE, VALUE_NONE};
    for (size_t i = 0; i < key_count(table) && i < 2; i++)
        keys[i] = value_get(key, table->keys.parts[i].name);
    size_t count = 0;
    for (size_t i = 0; i < table->entity_count; i++) {
        if (!keys_fit(&table->entities[i], keys))
            continue;
        if (count < max)
            list[count] = &table->entities[i];
        count++;
    }
    return count;
}

static void put_key(const struct model_table *table, struct slice item, struct buf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < key_count(table); i++) {
        struct slice value = value_get(item, table->keys.parts[i].name);
        if (value.len == 0)
            continue;
        if (shown++ > 0)
            buf_text(out, " and ");
        buf_slice(out, table->keys.parts[i].name);
        buf_byte(out, ' ');
        model_value_describe(value, out);
    }
    if (shown == 0)
        buf_text(out, "what it has");
}

void model_recognition_text(const struct model_recognition *recognition,
                            const struct model_table *table, struct slice item, struct buf *out)
{
    switch (recognition->doubt) {
    case MODEL_CERTAIN:
        break;
    case MODEL_NO_SUCH_TYPE:
        buf_slice(out, table->type_attribute);
        buf_text(out, " is ");
        model_value_describe(value_get(item, table->type_attribute), out);
        buf_text(out, ", which is no entity's");
        break;
    case MODEL_NO_SUCH_KEY:
        put_key(table, item, out);
        buf_text(out, " can be no entity's");
        break;
    case MODEL_AMBIGUOUS:
        put_key(table, item, out);
        buf_printf(out, " can be of %.*s and of %.*s", SLICE_FMT(recognition->others[0]->name),
                   SLICE_FMT(recognition->others[1]->name));
        if (recognition->count > 2)
            buf_printf(out, " and of %zu more", recognition->count - 2);
        break;
    }
}

bool model_item_deleted(const struct model_entity *entity, struct slice item)
{
    if (entity->softdelete == NULL || item.len == 0)
        return false;
    struct slice at = value_get(item, entity->softdelete->name);
    return at.len > 0 && at.ptr[0] != VALUE_TAG_NULL;
}
