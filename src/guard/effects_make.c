// Making items, keys and ranges of what rules say: see effects.h.
#include "guard/effects.h"

#include "eval/template.h"
#include "guard/entity.h"

enum { KEY_MAX = 16 << 10 };

struct slice effect_live(const struct model_entity *entity, struct slice image)
{
    if (image.len == 0 || entity->softdelete == NULL)
        return image;
    struct slice mark = value_get(image, entity->softdelete->name);
    return mark.len > 0 && mark.ptr[0] != VALUE_TAG_NULL ? VALUE_NONE : image;
}

bool effect_is(struct model_check *check, const struct model_entity *entity, struct slice item)
{
    return item.len > 0 && model_recognise_within(check, entity->table, item).entity == entity;
}

bool effect_with(struct arena *arena, struct slice item, struct slice name, struct slice value,
                 struct slice *out, struct error *error)
{
    struct value_maker maker;
    struct value_iter iter;
    bool placed = value.len == 0;
    value_begin(&maker, 2 * LIMIT_ITEM_BYTES);
    value_open_map(&maker.b);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        int order = placed ? 0 : slice_compare(iter.name, name);
        if (!placed && order >= 0) {
            value_name(&maker.b, name);
            value_put(&maker.b, value);
            placed = true;
        }
        if (slice_equal(iter.name, name))
            continue;
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    if (!placed) {
        value_name(&maker.b, name);
        value_put(&maker.b, value);
    }
    *out = value_end(&maker, arena);
    return out->ptr != NULL || error_budget(error);
}

// ---- Items that are made --------------------------------------------------------------------

// `with after` of an item that is gone: there is nothing that it is now. What the braces say stays.
static bool is_after_of_none(const struct effect_work *work, const struct model_made *made,
                             const struct model_assignment *one)
{
    return made->after && work->after.len == 0 && one->at.line == made->at.line &&
           one->at.column == made->at.column && one->value->kind == MODEL_EXPR_CALL &&
           one->value->function == MODEL_FN_ITEM;
}

// Values by position among the target's attributes.
static bool assign(const struct effect_work *work, const struct model_made *made,
                   struct model_scope *scope, struct slice *values)
{
    for (size_t i = 0; i < made->assignment_count; i++) {
        const struct model_assignment *one = &made->assignments[i];
        struct slice *value = &values[one->attribute - made->target->attributes];
        if (value->len > 0 || is_after_of_none(work, made, one))
            continue;
        enum eval_status status =
            model_eval(one->value, scope, model_kind_wanted(one->attribute->type), value);
        if (status == EVAL_BUDGET)
            return error_budget(work->error);
        if (status != EVAL_OK)
            *value = VALUE_NONE;
    }
    return true;
}

static struct slice item_of(const struct model_entity *entity, const struct slice *values,
                            struct arena *arena)
{
    struct value_maker maker;
    value_begin(&maker, 2 * LIMIT_ITEM_BYTES);
    value_open_map(&maker.b);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[entity->by_name[i]];
        struct slice value = values[entity->by_name[i]];
        if (value.len == 0)
            continue;
        value_name(&maker.b, attribute->name);
        value_put(&maker.b, value);
    }
    return value_end(&maker, arena);
}

bool effect_make(const struct effect_work *work, const struct model_made *made, struct slice image,
                 struct slice each, struct slice event, struct slice *item)
{
    const struct guard_change *change = work->change;
    struct slice *values =
        arena_zalloc(change->arena, made->target->attribute_count + 1, sizeof(*values));
    if (values == NULL)
        return error_budget(work->error);
    struct model_scope scope = effect_scope(work, image);
    scope.each = each;
    scope.event = event;
    if (made->member != NULL)
        values[made->member - made->target->attributes] = each;
    if (!assign(work, made, &scope, values))
        return false;
    *item = item_of(made->target, values, change->arena);
    return item->ptr != NULL || error_budget(work->error);
}

bool effect_remake(const struct effect_work *work, const struct model_made *made,
                   struct slice before, struct slice *item)
{
    const struct model_entity *target = made->target;
    struct arena *arena = work->change->arena;
    struct slice *values = arena_zalloc(arena, target->attribute_count + 1, sizeof(*values));
    if (values == NULL)
        return error_budget(work->error);
    for (size_t i = 0; i < target->attribute_count; i++)
        values[i] = value_get(before, target->attributes[i].name);
    for (size_t i = 0; i < made->assignment_count; i++) {
        const struct model_attribute *attribute = made->assignments[i].attribute;
        values[attribute - target->attributes] = value_get(*item, attribute->name);
    }
    *item = item_of(target, values, arena);
    return item->ptr != NULL || error_budget(work->error);
}

bool effect_complete(const struct effect_work *work, const struct guard_entity *target,
                     struct slice *item, struct slice *key)
{
    const struct guard_change *change = work->change;
    if (!guard_complete_new(target, change->env, change->arena, work->check, item, work->error))
        return false;
    const struct key_schema *keys = &target->entity->table->keys;
    struct value_maker maker;
    value_begin(&maker, KEY_MAX);
    value_open_map(&maker.b);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice value = value_get(*item, keys->parts[i].name);
        if (value.len == 0)
            continue;
        value_name(&maker.b, keys->parts[i].name);
        value_put(&maker.b, value);
    }
    *key = value_end(&maker, change->arena);
    return key->ptr != NULL || error_budget(work->error);
}

// ---- Keys -----------------------------------------------------------------------------------

// The values of an entity's attributes, by position, as far as the pairs give them; *all is false
// if one is not there, or null.
static bool take_values(struct arena *arena, const struct model_entity *entity,
                        const struct effect_pair *pairs, size_t count, struct slice image,
                        struct slice **out, bool *all)
{
    struct slice *values = arena_zalloc(arena, entity->attribute_count + 1, sizeof(*values));
    *out = values;
    *all = true;
    for (size_t i = 0; values != NULL && i < count; i++) {
        struct slice value = value_get(image, pairs[i].from->name);
        *all = *all && value.len > 0 && value.ptr[0] != VALUE_TAG_NULL;
        if (!*all)
            return true;
        if (pairs[i].to->normal != 0 && value.ptr[0] == VALUE_TAG_S)
            value = model_normalise(value, pairs[i].to->normal, arena);
        if (value.ptr == NULL)
            return false;
        values[pairs[i].to - entity->attributes] = value;
    }
    return values != NULL;
}

// One part of a key: EVAL_MISSING if it cannot be made of the values.
static enum eval_status part_value(struct model_scope *scope, const struct key_part *part,
                                   const struct model_template *template, struct slice *value)
{
    *value = VALUE_NONE;
    if (template == NULL) {
        const struct model_attribute *own = model_entity_attribute(scope->entity, part->name);
        if (own != NULL)
            *value = scope->values[own - scope->entity->attributes];
        return value->len > 0 && value_type(*value) == part->type ? EVAL_OK : EVAL_MISSING;
    }
    struct buf scratch;
    buf_init(&scratch, KEY_MAX);
    enum eval_status status = model_template_value(template, scope, part->type, &scratch, value);
    buf_release(&scratch);
    return status == EVAL_UNFIT ? EVAL_MISSING : status;
}

bool effect_key(struct arena *arena, const struct model_entity *entity,
                const struct effect_pair *pairs, size_t count, struct slice image,
                struct slice *key, struct error *error)
{
    const struct key_schema *keys = &entity->table->keys;
    struct slice *values;
    bool all;
    *key = VALUE_NONE;
    if (!take_values(arena, entity, pairs, count, image, &values, &all))
        return error_budget(error);
    if (!all)
        return true;
    struct model_scope scope = {.entity = entity, .values = values, .arena = arena};
    struct value_maker maker;
    enum eval_status status = EVAL_OK;
    value_begin(&maker, KEY_MAX);
    value_open_map(&maker.b);
    for (size_t i = 0; status == EVAL_OK && i < keys->hash_count + keys->range_count; i++) {
        struct slice value;
        status = part_value(&scope, &keys->parts[i], entity->keys[i].template, &value);
        if (status != EVAL_OK)
            break;
        value_name(&maker.b, keys->parts[i].name);
        value_put(&maker.b, value);
    }
    struct slice made = value_end(&maker, arena);
    if (status == EVAL_BUDGET || made.ptr == NULL)
        return error_budget(error);
    *key = status == EVAL_OK ? made : VALUE_NONE;
    return true;
}

// ---- Ranges ---------------------------------------------------------------------------------

// The text that a sort key's template has for sure: up to the first field that is not known.
static bool prefix_of(const struct model_template *template, struct model_scope *scope,
                      struct buf *out)
{
    for (size_t i = 0; template != NULL && i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        size_t before = out->len;
        if (segment->expr == NULL) {
            buf_slice(out, segment->literal);
            continue;
        }
        enum eval_status status = model_eval_text(segment->expr, scope, out);
        if (status == EVAL_BUDGET)
            return false;
        if (status != EVAL_OK) {
            out->len = before;
            break;
        }
    }
    return !out->failed;
}

static bool sort_prefix(const struct key_part *part, const struct model_template *template,
                        struct model_scope *scope, struct key_range *range, struct error *error)
{
    struct buf prefix;
    if (template == NULL || part->type != VALUE_S || template->bare)
        return true;
    buf_init(&prefix, KEY_MAX);
    bool fine = prefix_of(template, scope, &prefix);
    if (fine && prefix.len > 0) {
        range->op = KEY_BEGINS;
        range->bounds[0] = model_string(scope->arena, buf_view(&prefix));
        fine = range->bounds[0].ptr != NULL;
    }
    buf_release(&prefix);
    return fine || error_budget(error);
}

// The attributes that refer, with the values they have in an item that refers to the target.
static struct slice referring(const struct model_reference *reference, const struct slice *values,
                              struct arena *arena)
{
    struct value_maker maker;
    value_begin(&maker, LIMIT_ITEM_BYTES);
    value_open_map(&maker.b);
    for (size_t i = 0; i < reference->count; i++) {
        value_name(&maker.b, reference->attributes[i]->name);
        value_put(&maker.b, values[reference->attributes[i] - reference->entity->attributes]);
    }
    return value_end(&maker, arena);
}

bool effect_range(struct arena *arena, const struct model_reference *reference, struct slice target,
                  struct key_range **out, struct slice *values, struct error *error)
{
    const struct model_entity *entity = reference->entity;
    const struct model_entry *entry = NULL;
    struct effect_pair pairs[MODEL_ADDRESS_MAX];
    struct slice *known;
    bool all;
    *out = NULL;
    for (size_t i = 0; reference->index != NULL && i < entity->entry_count; i++)
        if (entity->entries[i].index == reference->index)
            entry = &entity->entries[i];
    for (size_t i = 0; i < reference->count; i++)
        pairs[i] = (struct effect_pair){reference->keys[i], reference->attributes[i]};
    if (!take_values(arena, entity, pairs, reference->count, target, &known, &all))
        return error_budget(error);
    if (!all)
        return true;
    const struct key_schema *keys = entry == NULL ? &entity->table->keys : &entry->index->keys;
    const struct model_key_part *parts = entry == NULL ? entity->keys : entry->parts;
    struct key_range *range = arena_zalloc(arena, 1, sizeof(*range));
    *values = referring(reference, known, arena);
    if (range == NULL || values->ptr == NULL)
        return error_budget(error);
    struct model_scope scope = {.entity = entity, .values = known, .arena = arena};
    for (size_t i = 0; i < keys->hash_count; i++) {
        enum eval_status status =
            part_value(&scope, &keys->parts[i], parts[i].template, &range->hash[i]);
        if (status != EVAL_OK)
            return status == EVAL_BUDGET ? error_budget(error) : true;
    }
    if (keys->range_count > 0 &&
        !sort_prefix(&keys->parts[keys->hash_count], parts[keys->hash_count].template, &scope,
                     range, error))
        return false;
    *out = range;
    return true;
}
