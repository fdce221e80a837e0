// Compiling an entity for the guard: see guard_internal.h. Everything lives in the guard's arena.
#include "guard/guard_internal.h"

#include "base/encode.h"
#include "model/rules.h"

enum { UNDEFER_DEPTH = 64 };

// Gathers the slots, then sorts them.
struct gather {
    struct arena *arena;
    const struct model_entity *entity;
    struct guard_slot *slots;
    size_t count;
};

static void gather_name(struct gather *gather, struct slice name)
{
    for (size_t i = 0; i < gather->count; i++)
        if (slice_equal(gather->slots[i].name, name))
            return;
    if (name.len > 0)
        gather->slots[gather->count++].name = name;
}

static size_t parts_of(const struct key_schema *keys)
{
    return keys->hash_count + keys->range_count;
}

static bool gather_all(struct gather *gather)
{
    const struct model_entity *entity = gather->entity;
    const struct model_table *table = entity->table;
    size_t most = entity->attribute_count + 4 + table->index_count * 2 * LIMIT_KEY_PARTS;
    gather->slots = arena_zalloc(gather->arena, most, sizeof(*gather->slots));
    if (gather->slots == NULL)
        return false;
    for (size_t i = 0; i < entity->attribute_count; i++)
        gather_name(gather, entity->attributes[i].name);
    for (size_t i = 0; i < parts_of(&table->keys); i++)
        gather_name(gather, table->keys.parts[i].name);
    for (size_t i = 0; i < table->index_count; i++)
        for (size_t k = 0; k < parts_of(&table->indexes[i].keys); k++)
            gather_name(gather, table->indexes[i].keys.parts[k].name);
    gather_name(gather, table->type_attribute);
    gather_name(gather, table->ttl_attribute);
    for (size_t i = 1; i < gather->count; i++)
        for (size_t k = i;
             k > 0 && slice_compare(gather->slots[k].name, gather->slots[k - 1].name) < 0; k--) {
            struct guard_slot moved = gather->slots[k];
            gather->slots[k] = gather->slots[k - 1];
            gather->slots[k - 1] = moved;
        }
    return true;
}

static uint16_t slot_of(const struct guard_entity *plan, struct slice name)
{
    for (size_t i = 0; i < plan->slot_count; i++)
        if (slice_equal(plan->slots[i].name, name))
            return (uint16_t)i;
    return GUARD_NO_SLOT;
}

static bool is_index_key(const struct model_table *table, struct slice name)
{
    for (size_t i = 0; i < table->index_count; i++)
        for (size_t k = 0; k < parts_of(&table->indexes[i].keys); k++)
            if (slice_equal(table->indexes[i].keys.parts[k].name, name))
                return true;
    return false;
}

static bool fill_slots(struct gather *gather)
{
    for (size_t i = 0; i < gather->count; i++) {
        struct guard_slot *slot = &gather->slots[i];
        uint8_t *head = arena_alloc(gather->arena, slot->name.len + 10);
        if (head == NULL)
            return false;
        size_t len = varint_put(head, slot->name.len);
        memcpy(head + len, slot->name.ptr, slot->name.len);
        slot->head = slice_of(head, len + slot->name.len);
        slot->attribute = model_entity_attribute(gather->entity, slot->name);
        slot->nested = slot->attribute != NULL && nested_needed(slot->attribute->type);
        slot->index_key = is_index_key(gather->entity->table, slot->name);
    }
    return true;
}

static bool fill_places(struct arena *arena, struct guard_entity *plan)
{
    const struct model_entity *entity = plan->entity;
    uint16_t *places = arena_zalloc(arena, entity->attribute_count + 1, sizeof(*places));
    if (places == NULL)
        return false;
    for (size_t i = 0; i < entity->attribute_count; i++)
        places[i] = slot_of(plan, entity->attributes[i].name);
    plan->places = places;
    plan->attributes = (struct guard_list){entity->attribute_count, places};
    return true;
}

// ---- Lists ----------------------------------------------------------------------------------

static bool is_normal(const struct guard_slot *slot)
{
    return slot->attribute->normal != 0;
}
static bool is_nested(const struct guard_slot *slot)
{
    return slot->nested;
}
static bool is_default(const struct guard_slot *slot)
{
    return slot->attribute->otherwise != NULL && !slot->attribute->version &&
           !slot->attribute->always;
}
static bool is_update(const struct guard_slot *slot)
{
    return is_default(slot) && slot->attribute->on_update;
}
static bool is_immutable(const struct guard_slot *slot)
{
    return slot->attribute->immutable && !slot->attribute->version;
}

static bool is_native_key(const struct guard_slot *slot)
{
    return slot->index_key && slot->attribute->optional;
}
static bool is_kept(const struct guard_slot *slot)
{
    return is_immutable(slot) ||
           (is_default(slot) && !slot->attribute->optional && !slot->attribute->on_update);
}
static bool is_watched(const struct guard_slot *slot)
{
    return slot->attribute->version || slot->attribute->immutable ||
           slot->attribute->otherwise != NULL || slot->nested || slot->attribute->counted;
}

static bool is_tally(const struct guard_slot *slot)
{
    return slot->attribute->counted;
}

static bool is_renewed(const struct guard_slot *slot)
{
    return slot->attribute->version || slot->attribute->immutable || is_update(slot) ||
           slot->attribute->counted;
}

// The slots of the attributes, in the order of the file, for which the test holds.
static bool fill_list(struct arena *arena, const struct guard_entity *plan,
                      bool (*test)(const struct guard_slot *), struct guard_list *list)
{
    uint16_t *slots = arena_zalloc(arena, plan->attributes.count + 1, sizeof(*slots));
    if (slots == NULL)
        return false;
    list->slots = slots;
    for (size_t i = 0; i < plan->attributes.count; i++)
        if (test(&plan->slots[plan->places[i]]))
            slots[list->count++] = plan->places[i];
    return true;
}

static void sort_slots(struct guard_list *list)
{
    uint16_t *slots = (uint16_t *)list->slots; // ours until the plan is made
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = i; k > 0 && slots[k] < slots[k - 1]; k--) {
            uint16_t moved = slots[k];
            slots[k] = slots[k - 1];
            slots[k - 1] = moved;
        }
}

// The claim's name begins with the entity and its attributes. A NUL is in no name of an entity, so
// that no two prefixes can be mistaken.
static bool add_unique(struct arena *arena, struct guard_entity *plan, struct guard_unique *list,
                       size_t count, const struct model_attribute **attributes)
{
    const struct model_entity *entity = plan->entity;
    uint16_t *slots = arena_zalloc(arena, count, sizeof(*slots));
    struct buf names;
    buf_init(&names, 64 << 10);
    for (size_t i = 0; slots != NULL && i < count; i++) {
        slots[i] = plan->places[attributes[i] - entity->attributes];
        buf_printf(&names, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(attributes[i]->name));
    }
    struct slice all = buf_view(&names);
    char *prefix = arena_printf(arena, "%.*s%c%.*s", SLICE_FMT(entity->name), 0, SLICE_FMT(all));
    char *what = arena_printf(arena, count == 1 ? "%.*s.%.*s" : "%.*s.(%.*s)",
                              SLICE_FMT(entity->name), SLICE_FMT(all));
    bool made = slots != NULL && prefix != NULL && what != NULL && !names.failed;
    if (made)
        list[plan->unique_count++] =
            (struct guard_unique){.count = count,
                                  .slots = slots,
                                  .prefix = slice_of(prefix, entity->name.len + 1 + all.len + 1),
                                  .what = slice_str(what)};
    buf_release(&names);
    return made;
}

static bool fill_uniques(struct arena *arena, struct guard_entity *plan)
{
    const struct model_entity *entity = plan->entity;
    struct guard_unique *uniques =
        arena_zalloc(arena, entity->attribute_count + entity->unique_count + 1, sizeof(*uniques));
    bool made = uniques != NULL;
    plan->uniques = uniques;
    for (size_t i = 0; made && i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        made = !attribute->unique || add_unique(arena, plan, uniques, 1, &attribute);
    }
    for (size_t i = 0; made && i < entity->unique_count; i++)
        made = add_unique(arena, plan, uniques, entity->uniques[i].count,
                          entity->uniques[i].attributes);
    return made;
}

// ---- Keys -----------------------------------------------------------------------------------

// Whether the template is the attribute of that very name: then there is nothing to derive.
static bool is_native(const struct model_template *template, struct slice name)
{
    return template == NULL ||
           (template->bare && template->segments[0].expr->kind == MODEL_EXPR_PATH &&
            template->segments[0].expr->step_count == 1 &&
            slice_equal(template->segments[0].expr->steps[0], name));
}

static struct guard_part part_of(const struct guard_entity *plan, const struct key_schema *keys,
                                 size_t at, const struct model_template *template)
{
    const struct key_part *key = &keys->parts[at];
    return (struct guard_part){.slot = slot_of(plan, key->name),
                               .type = key->type,
                               .template = template,
                               .derived = !is_native(template, key->name),
                               .most =
                                   at < keys->hash_count ? LIMIT_PARTITION_KEY : LIMIT_SORT_KEY};
}

static void add_derived(struct guard_entity *plan, struct guard_slot *slots, uint16_t *derived,
                        uint16_t slot)
{
    if (!slots[slot].derived)
        derived[plan->derived.count++] = slot;
    slots[slot].derived = true;
}

static bool is_declared(const struct model_table *table, struct slice name)
{
    for (size_t i = 0; i < table->entity_count; i++)
        if (model_entity_attribute(&table->entities[i], name) != NULL)
            return true;
    return false;
}

// An item has no keys of indexes that its entity has no entry in: they are derived, too, and come
// to nothing. What this entity or another one declares is an attribute like any other.
static void add_foreign(struct guard_entity *plan, struct guard_slot *slots, uint16_t *derived,
                        const struct model_entry *entry)
{
    for (size_t k = 0; !entry->stated && k < parts_of(&entry->index->keys); k++) {
        struct slice name = entry->index->keys.parts[k].name;
        uint16_t slot = slot_of(plan, name);
        if (!is_primary(plan, slot) && !is_declared(plan->entity->table, name))
            add_derived(plan, slots, derived, slot);
    }
}

// The index cannot keep the entity's items out if they do not name their entity: then they must not
// have all attributes of its key.
static bool is_barred(const struct model_entry *entry, const struct model_table *table)
{
    return entry->outside && (table->type_attribute.len == 0 || entry->index->local);
}

static void add_barred(struct guard_entity *plan, struct guard_entry *barred,
                       const struct model_entry *from)
{
    struct guard_entry *entry = &barred[plan->barred_count++];
    entry->index = from->index;
    entry->part_count = parts_of(&from->index->keys);
    for (size_t k = 0; k < entry->part_count; k++)
        entry->parts[k] = part_of(plan, &from->index->keys, k, NULL);
}

static bool fill_entries(struct arena *arena, struct guard_entity *plan, struct guard_slot *slots)
{
    const struct model_entity *entity = plan->entity;
    struct guard_entry *entries = arena_zalloc(arena, entity->entry_count + 1, sizeof(*entries));
    uint16_t *derived = arena_zalloc(arena, plan->slot_count + 1, sizeof(*derived));
    if (entries == NULL || derived == NULL)
        return false;
    plan->entries = entries;
    plan->derived.slots = derived;
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *from = &entity->entries[i];
        struct guard_entry *entry = &entries[plan->entry_count];
        bool derives = false;
        entry->when = from->when;
        entry->part_count = from->stated ? parts_of(&from->index->keys) : 0;
        for (size_t k = 0; k < entry->part_count; k++) {
            entry->parts[k] = part_of(plan, &from->index->keys, k, from->parts[k].template);
            uint16_t slot = entry->parts[k].slot;
            // The table's own key is made elsewhere.
            entry->parts[k].derived = entry->parts[k].derived && !is_primary(plan, slot);
            if (!entry->parts[k].derived)
                continue;
            derives = true;
            add_derived(plan, slots, derived, slot);
        }
        plan->entry_count += derives;
    }
    struct guard_entry *barred = arena_zalloc(arena, entity->entry_count + 1, sizeof(*barred));
    if (barred == NULL)
        return false;
    plan->barred = barred;
    for (size_t i = 0; i < entity->entry_count; i++) {
        add_foreign(plan, slots, derived, &entity->entries[i]);
        if (is_barred(&entity->entries[i], entity->table))
            add_barred(plan, barred, &entity->entries[i]);
    }
    return true;
}

// ---- What has to wait for the old image ---------------------------------------------------------

static void undefer(const struct guard_entity *plan, struct guard_slot *slots,
                    const struct model_expr *expr, unsigned depth);

static void undefer_slot(const struct guard_entity *plan, struct guard_slot *slots, uint16_t slot,
                         unsigned depth)
{
    if (slot == GUARD_NO_SLOT || !slots[slot].deferred)
        return;
    slots[slot].deferred = false;
    undefer(plan, slots, slots[slot].attribute->otherwise, depth + 1);
}

static void undefer_template(const struct guard_entity *plan, struct guard_slot *slots,
                             const struct model_template *template, unsigned depth)
{
    for (size_t i = 0; template != NULL && i < template->segment_count; i++)
        undefer(plan, slots, template->segments[i].expr, depth);
}

// Whatever the expression needs must be known at once, and so must what that needs.
static void undefer(const struct guard_entity *plan, struct guard_slot *slots,
                    const struct model_expr *expr, unsigned depth)
{
    if (expr == NULL || depth > UNDEFER_DEPTH)
        return;
    if (expr->kind == MODEL_EXPR_PATH)
        undefer_slot(plan, slots, slot_of(plan, expr->steps[0]), depth);
    undefer_template(plan, slots, expr->template, depth + 1);
    for (size_t i = 0; i < expr->arg_count; i++)
        undefer(plan, slots, expr->args[i], depth + 1);
}

// A default is for new items, and a version is counted on: neither is known before the old image.
// What the primary key is made of must be known, as without it no old image is found.
static void mark_deferred(struct guard_entity *plan, struct guard_slot *slots)
{
    for (size_t i = 0; i < plan->watched.count; i++)
        slots[plan->watched.slots[i]].deferred = true;
    for (size_t i = 0; i < plan->key_count; i++) {
        undefer_slot(plan, slots, plan->keys[i].slot, 0);
        undefer_template(plan, slots, plan->keys[i].template, 0);
    }
    for (size_t i = 0; i < plan->watched.count; i++)
        plan->deferred = plan->deferred || slots[plan->watched.slots[i]].deferred;
}

static bool fill_type(struct arena *arena, struct guard_entity *plan)
{
    const struct model_entity *entity = plan->entity;
    plan->type = GUARD_NO_SLOT;
    plan->name_value = model_string(arena, entity->name);
    if (plan->name_value.ptr == NULL)
        return false;
    if (entity->table->type_attribute.len == 0)
        return true;
    plan->type = slot_of(plan, entity->table->type_attribute);
    plan->type_value = model_string(arena, entity->type_value);
    return plan->type_value.ptr != NULL;
}

bool guard_compile(struct arena *arena, const struct model_entity *entity, struct guard_entity *out)
{
    struct gather gather = {.arena = arena, .entity = entity};
    struct guard_entity plan = {.entity = entity, .version = GUARD_NO_SLOT};
    if (!gather_all(&gather) || !fill_slots(&gather))
        return false;
    plan.slots = gather.slots;
    plan.slot_count = gather.count;
    plan.key_count = parts_of(&entity->table->keys);
    for (size_t i = 0; i < plan.key_count; i++)
        plan.keys[i] = part_of(&plan, &entity->table->keys, i, entity->keys[i].template);
    if (!fill_places(arena, &plan) || !fill_entries(arena, &plan, gather.slots) ||
        !fill_list(arena, &plan, is_normal, &plan.normal) ||
        !fill_list(arena, &plan, is_native_key, &plan.native) ||
        !fill_list(arena, &plan, is_nested, &plan.nested) ||
        !fill_list(arena, &plan, is_default, &plan.defaults) ||
        !fill_list(arena, &plan, is_update, &plan.updates) ||
        !fill_list(arena, &plan, is_immutable, &plan.immutable) ||
        !fill_list(arena, &plan, is_kept, &plan.kept) ||
        !fill_list(arena, &plan, is_tally, &plan.tallies) ||
        !fill_list(arena, &plan, is_watched, &plan.watched) ||
        !fill_list(arena, &plan, is_renewed, &plan.renewed) || !fill_uniques(arena, &plan) ||
        !fill_type(arena, &plan))
        return false;
    sort_slots(&plan.watched);
    for (size_t i = 0; i < plan.attributes.count; i++)
        if (entity->attributes[i].version)
            plan.version = plan.places[i];
    const struct model_rules *rules = entity->table->model->rules_of;
    for (size_t i = 0; i < rules->idempotent_count; i++)
        if (rules->idempotents[i].entity == entity)
            plan.idempotent = &rules->idempotents[i];
    mark_deferred(&plan, gather.slots);
    plan.asks = guard_asks(entity);
    if (!guard_compile_rules(arena, &plan))
        return false;
    *out = plan;
    return true;
}
