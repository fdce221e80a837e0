// See tenant.h. Nothing is allocated to judge a key: it is compared with the templates in place.
//
// The proof, for whoever changes this: let an entity make a key out of attributes of which the
// tenant is T. Then the key can be taken apart by the entity's template (empty values included), so
// the entity has a say; and since there is such a way with T, the only way there is gives T. So no
// other tenant is told that the key is its own.
#include "guard/tenant.h"

#include "base/encode.h"
#include "eval/eval.h"
#include "eval/template.h"
#include "eval/validate.h"
#include "value/number.h"

bool tenant_rules(const struct model_table *table)
{
    return table->tenant.len > 0;
}

// ---- Taking keys apart ------------------------------------------------------------------------

// Where a literal begins in a text, at `from` or behind it; SIZE_MAX if it does not come.
static size_t place_of(struct slice text, size_t from, struct slice literal)
{
    const uint8_t *found =
        from > text.len ? NULL : memmem(text.ptr + from, text.len - from, literal.ptr, literal.len);
    return found == NULL ? SIZE_MAX : (size_t)(found - text.ptr);
}

static bool stands_at(struct slice text, size_t place, struct slice literal)
{
    return place <= text.len && text.len - place >= literal.len &&
           memcmp(text.ptr + place, literal.ptr, literal.len) == 0;
}

// Takes a text apart: each field goes up to the first occurrence of the literal behind it, the last
// one up to the end. Fields may be empty, and those without a literal between them are one. If
// there is any way, this is one. *text becomes that of the field at `wanted`, if it is there alone.
static bool take_apart(const struct model_template *template, struct slice key, size_t wanted,
                       struct slice *text)
{
    size_t at = 0;     // in the key
    bool open = false; // a field has begun,
    size_t begun = 0;  // here,
    size_t field = 0;  // and it is this segment
    for (size_t i = 0; i < template->segment_count; i++) {
        struct slice literal = template->segments[i].literal;
        if (template->segments[i].expr != NULL) {
            begun = open ? begun : at;
            field = open ? SIZE_MAX : i;
            open = true;
            continue;
        }
        size_t place = at;
        if (open && i + 1 == template->segment_count)
            place = key.len >= at + literal.len ? key.len - literal.len : SIZE_MAX;
        else if (open)
            place = place_of(key, at, literal);
        if (!stands_at(key, place, literal))
            return false;
        if (open && field == wanted)
            *text = slice_of(key.ptr + begun, place - begun);
        at = place + literal.len;
        open = false;
    }
    if (open && field == wanted)
        *text = slice_of(key.ptr + begun, key.len - begun);
    return open || at == key.len;
}

static bool is_text(struct slice key)
{
    return key.ptr[0] == VALUE_TAG_S || key.ptr[0] == VALUE_TAG_B;
}

// Whether the template, which may be NULL, can have made the key.
static bool could_make(const struct model_template *template, struct slice key)
{
    struct slice nothing;
    if (template == NULL || template->bare || !is_text(key))
        return true;
    return take_apart(template, value_bytes(key), SIZE_MAX - 1, &nothing);
}

static bool could_have(const struct model_entity *entity, const struct slice keys[2])
{
    const struct key_schema *schema = &entity->table->keys;
    for (size_t i = 0; i < schema->hash_count + schema->range_count && i < 2; i++) {
        if (keys[i].len > 0 && !could_make(entity->keys[i].template, keys[i]))
            return false;
    }
    return true;
}

// ---- Whose it is ------------------------------------------------------------------------------

static bool is_number(struct slice tenant, struct slice stored)
{
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
    return number_from_text(tenant, bytes, &len) == NUMBER_OK &&
           slice_equal(slice_of(bytes, len), stored);
}

static bool is_number_text(struct slice tenant, struct slice text)
{
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
    return number_from_text(text, bytes, &len) == NUMBER_OK &&
           is_number(tenant, slice_of(bytes, len));
}

// Whether a text with separators written as %23 is that of the tenant.
static bool is_escaped(struct slice tenant, struct slice text)
{
    size_t at = 0;
    for (size_t i = 0; i < text.len; i++, at++) {
        int byte = text.ptr[i];
        if (byte == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            byte = high << 4 | low;
            i += 2;
        }
        if (at >= tenant.len || tenant.ptr[at] != byte)
            return false;
    }
    return at == tenant.len;
}

// Whether the value that is a key, or all of one, is the tenant's name.
static bool is_value(struct slice tenant, struct slice key)
{
    return is_text(key) ? slice_equal(value_bytes(key), tenant)
                        : key.ptr[0] == VALUE_TAG_N && is_number(tenant, value_bytes(key));
}

static bool is_field(const struct model_segment *segment, struct slice tenant, struct slice text)
{
    const struct model_type *type = model_path_type(model_segment_path(segment));
    const struct model_expr *expr = segment->expr;
    if (expr->kind == MODEL_EXPR_CALL && expr->function == MODEL_FN_ESCAPE)
        return is_escaped(tenant, text);
    if (type == NULL || model_type_stores(type, VALUE_S))
        return slice_equal(tenant, text);
    return model_type_stores(type, VALUE_N) && is_number_text(tenant, text);
}

// The segment that is the attribute alone, as it can be read back; SIZE_MAX if there is none.
static size_t segment_of(const struct model_template *template,
                         const struct model_attribute *attribute)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        const struct model_expr *path = segment->expr == NULL ? NULL : model_segment_path(segment);
        bool alone = (i == 0 || segment[-1].expr == NULL) &&
                     (i + 1 == template->segment_count || segment[1].expr == NULL);
        if (alone && path != NULL && path->step_count == 1 && path->attribute == attribute &&
            (template->bare || model_segment_tells(segment)))
            return i;
    }
    return SIZE_MAX;
}

enum reading { READ_UNCLEAR, READ_OTHER, READ_SAME };

// Whether the attribute, by a part of a key that it is in, is the tenant's name.
static enum reading read_part(const struct model_key_part *part,
                              const struct model_attribute *attribute, struct slice tenant,
                              struct slice key)
{
    const struct model_template *template = part->template;
    if (tenant.len == 0)
        return READ_UNCLEAR;
    if (template == NULL && !slice_equal(part->name, attribute->name))
        return READ_UNCLEAR;
    size_t at = template == NULL ? 0 : segment_of(template, attribute);
    if (at == SIZE_MAX)
        return READ_UNCLEAR;
    if (template == NULL || template->bare)
        return is_value(tenant, key) ? READ_SAME : READ_OTHER;
    struct slice text = slice_of(NULL, 0);
    if (!is_text(key) || !model_template_clear(template, value_bytes(key)) ||
        !take_apart(template, value_bytes(key), at, &text))
        return READ_UNCLEAR;
    return is_field(&template->segments[at], tenant, text) ? READ_SAME : READ_OTHER;
}

static enum guard_access entity_access(const struct model_entity *entity, struct slice tenant,
                                       struct slice hash)
{
    if (entity->shared || entity->tenant == NULL)
        return entity->shared ? GUARD_SHARED : GUARD_NOBODYS;
    bool own = read_part(&entity->keys[0], entity->tenant, tenant, hash) == READ_SAME;
    return own ? GUARD_OWN : GUARD_FOREIGN;
}

enum guard_access tenant_access(const struct model_table *table, struct slice tenant,
                                struct slice key)
{
    struct slice keys[2] = {VALUE_NONE, VALUE_NONE};
    enum guard_access least = GUARD_OWN;
    bool any = false;
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count && i < 2; i++)
        keys[i] = value_get(key, table->keys.parts[i].name);
    if (keys[0].len == 0)
        return GUARD_NOBODYS;
    for (size_t i = 0; i < table->entity_count && least != GUARD_FOREIGN; i++) {
        if (!could_have(&table->entities[i], keys))
            continue;
        enum guard_access access = entity_access(&table->entities[i], tenant, keys[0]);
        least = access < least ? access : least;
        any = true;
    }
    return any ? least : GUARD_NOBODYS;
}

// ---- Partitions -------------------------------------------------------------------------------

static const struct model_entry *entry_in(const struct model_entity *entity,
                                          const struct model_index *index)
{
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (entity->entries[i].index == index)
            return &entity->entries[i];
    }
    return NULL;
}

// Whether items of the entity that the tenant may read can be in the partition of an index. The
// keys of what is not enforced may be anything.
static bool could_enter(const struct model_entity *entity, struct slice tenant,
                        const struct model_index *index, const struct slice *hash)
{
    const struct model_entry *entry = entry_in(entity, index);
    if (entity->guard != MODEL_ENFORCE || entry == NULL)
        return true;
    if (!entry->stated && !index->open)
        return false;
    for (size_t i = 0; i < index->keys.hash_count; i++) {
        const struct model_key_part *part = &entry->parts[i];
        if (!could_make(part->template, hash[i]) ||
            (!entity->shared && read_part(part, entity->tenant, tenant, hash[i]) == READ_OTHER))
            return false;
    }
    return true;
}

bool tenant_reaches(const struct model_table *table, struct slice tenant,
                    const struct model_index *index, const struct slice *hash)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        if (!entity->shared && entity->tenant == NULL)
            continue;
        if (index != NULL ? could_enter(entity, tenant, index, hash)
                          : could_make(entity->keys[0].template, hash[0]) &&
                                entity_access(entity, tenant, hash[0]) >= GUARD_SHARED)
            return true;
    }
    return false;
}

// ---- Puts -------------------------------------------------------------------------------------

// The tenant's name as entities store it.
static struct slice tenant_value(const struct model_table *table, struct slice tenant,
                                 struct arena *arena)
{
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_attribute *attribute = table->entities[i].tenant;
        if (attribute != NULL && !model_type_stores(attribute->type, VALUE_S) &&
            model_type_stores(attribute->type, VALUE_N) &&
            number_from_text(tenant, bytes, &len) == NUMBER_OK)
            return model_number(arena, slice_of(bytes, len));
    }
    return model_string(arena, tenant);
}

bool tenant_complete(const struct model_table *table, struct slice tenant, struct arena *arena,
                     struct slice *item)
{
    if (!tenant_rules(table) || value_get(*item, table->tenant).len > 0 ||
        value_get(*item, table->keys.parts[0].name).len > 0)
        return true;
    struct slice value = tenant_value(table, tenant, arena);
    if (value.len == 0)
        return false;
    struct value_maker maker;
    struct value_iter iter;
    value_begin(&maker, 2 * LIMIT_ITEM_SIZE);
    value_open_map(&maker.b);
    value_iter_init(&iter, *item);
    while (value_iter_next(&iter)) {
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    value_name(&maker.b, table->tenant);
    value_put(&maker.b, value);
    struct slice made = value_end(&maker, arena);
    if (made.len == 0)
        return false;
    *item = made;
    return true;
}
