// See cost.h. An estimate takes for each attribute a size that is usual for its type; half of the
// optional ones are taken to be there. That is rough, and good enough to tell one unit from ten.
#include "lint/cost.h"
#include "lint/lint_internal.h"

#include "value/number.h"

enum {
    SIZE_TEXT = 24,   // a name, a title
    SIZE_STAMP = 24,  // 2026-11-16T08:00:00.000Z
    SIZE_NUMBER = 6,  // by AWS's formula
    SIZE_MEMBERS = 4, // of a list, a set or a map of which nothing is known
    SIZE_DEPTH = 6    // of types within types
};

static size_t type_size(const struct model_type *type, int depth);

// Half-way between the limits of a length, but no more than is usual, unless less is not allowed: a
// wide range says little.
static size_t middle(struct slice min, struct slice max, size_t usual)
{
    int64_t least = 0;
    int64_t most = 0;
    if (max.len == 0 || !number_to_i64(max, &most) || most < 0)
        return usual;
    if (min.len > 0 && !number_to_i64(min, &least))
        least = 0;
    size_t half = (size_t)(least + (most - least) / 2);
    return half < usual || least > (int64_t)usual ? half : usual;
}

static size_t fields_size(const struct model_type *type, int depth)
{
    size_t size = 3;
    for (size_t i = 0; i < type->field_count; i++) {
        size_t field = type->fields[i].name.len + 1 + type_size(type->fields[i].type, depth - 1);
        size += type->fields[i].optional ? field / 2 : field;
    }
    return type->field_count == 0 ? 3 + SIZE_MEMBERS * SIZE_TEXT : size;
}

static size_t type_size(const struct model_type *type, int depth)
{
    if (type == NULL || depth == 0)
        return SIZE_TEXT;
    switch (type->kind) {
    case MODEL_STRING:
    case MODEL_BINARY:
        return middle(type->min, type->max, SIZE_TEXT);
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_EPOCH:
        return SIZE_NUMBER;
    case MODEL_BOOLEAN:
    case MODEL_NULL:
        return 1;
    case MODEL_UUID:
        return 36;
    case MODEL_TIMESTAMP:
    case MODEL_EMAIL:
        return SIZE_STAMP;
    case MODEL_DATE:
        return 10;
    case MODEL_URL:
        return 80;
    case MODEL_LITERAL:
        return type->literal.len == 0 ? 8 : value_size(type->literal);
    case MODEL_LIST:
    case MODEL_SET:
        return 3 +
               middle(type->min, type->max, SIZE_MEMBERS) * (1 + type_size(type->item, depth - 1));
    case MODEL_RECORD:
        return 3 + SIZE_MEMBERS * (SIZE_TEXT / 2 + 1 + type_size(type->item, depth - 1));
    case MODEL_OBJECT:
        return fields_size(type, depth);
    case MODEL_UNION:
        return type->option_count == 0 ? 1 : type_size(type->options[0], depth - 1);
    default:
        return 100;
    }
}

// The text of a key part: its literals and its fields.
static size_t expr_size(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_PATH && expr->attribute != NULL
               ? type_size(expr->attribute->type, SIZE_DEPTH)
               : SIZE_TEXT;
}

static size_t part_size(const struct model_key_part *part)
{
    if (part->template == NULL)
        return 0; // a native attribute is counted as one
    size_t size = part->name.len;
    for (size_t i = 0; i < part->template->segment_count; i++) {
        const struct model_segment *segment = &part->template->segments[i];
        size += segment->expr == NULL ? segment->literal.len : expr_size(segment->expr);
    }
    return size;
}

static size_t parts_size(const struct model_key_part *parts, const struct key_schema *schema)
{
    size_t size = 0;
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++)
        size += part_size(&parts[i]);
    return size;
}

size_t cost_entity_size(const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    size_t size = parts_size(entity->keys, &table->keys);
    if (table->type_attribute.len > 0)
        size += table->type_attribute.len + entity->type_value.len;
    for (size_t i = 0; i < entity->entry_count; i++)
        if (entity->entries[i].stated)
            size += parts_size(entity->entries[i].parts, &entity->entries[i].index->keys);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        size_t each = attribute->name.len + type_size(attribute->type, SIZE_DEPTH);
        size += attribute->optional ? each / 2 : each;
    }
    return size;
}

// Keys that are attributes of their own count, too.
static size_t native_size(const struct model_entity *entity, const struct key_schema *schema)
{
    size_t size = 0;
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++) {
        const struct model_attribute *native =
            model_entity_attribute(entity, schema->parts[i].name);
        if (native != NULL)
            size += native->name.len + type_size(native->type, SIZE_DEPTH);
    }
    return size;
}

// What an index keeps of an item of that size.
static size_t index_size(const struct model_entity *entity, const struct model_index *index,
                         size_t item_size)
{
    enum { ENTRY = 100 }; // what AWS adds to each entry
    if (index->projection == MODEL_PROJECT_ALL)
        return item_size;
    size_t size = ENTRY + parts_size(entity->keys, &entity->table->keys) +
                  native_size(entity, &entity->table->keys) + native_size(entity, &index->keys);
    for (size_t i = 0; i < entity->entry_count; i++)
        if (entity->entries[i].index == index)
            size += parts_size(entity->entries[i].parts, &index->keys);
    for (size_t i = 0; i < index->include_count; i++) {
        const struct model_attribute *kept = model_entity_attribute(entity, index->include[i]);
        if (kept != NULL)
            size += kept->name.len + type_size(kept->type, SIZE_DEPTH);
    }
    return size < item_size || item_size == 0 ? size : item_size;
}

static uint64_t write_units(size_t size)
{
    return size == 0 ? 1 : (size + 1023) / 1024;
}

// Whether the index copies the attribute beside its keys.
static bool index_projects(const struct model_index *index, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < index->include_count; i++) {
        if (slice_equal(index->include[i], attribute->name))
            return true;
    }
    return index->projection == MODEL_PROJECT_ALL;
}

static bool parts_name(const struct model_entity *entity, const struct model_key_part *parts,
                       const struct key_schema *schema, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++) {
        struct lint_fields fields;
        lint_part_fields(entity, &parts[i], &fields);
        for (size_t k = 0; k < fields.count; k++)
            if (fields.list[k].attribute == attribute)
                return true;
    }
    return false;
}

static bool entry_names(const struct model_entity *entity, const struct model_entry *entry,
                        const struct model_attribute *attribute)
{
    return parts_name(entity, entry->parts, &entry->index->keys, attribute);
}

// It cannot change: it is said so, or it is in the primary key.
static bool is_fixed(const struct model_entity *entity, const struct model_attribute *attribute)
{
    return attribute->immutable ||
           parts_name(entity, entity->keys, &entity->table->keys, attribute);
}

size_t cost_attribute_moves(const struct model_entity *entity,
                            const struct model_attribute *attribute,
                            const struct model_index *moved[LIMIT_INDEXES])
{
    size_t count = 0;
    if (is_fixed(entity, attribute))
        return 0;
    for (size_t i = 0; i < entity->entry_count && count < LIMIT_INDEXES; i++)
        if (entity->entries[i].stated && entry_names(entity, &entity->entries[i], attribute))
            moved[count++] = entity->entries[i].index;
    return count;
}

static bool is_renewed(const struct model_attribute *attribute)
{
    return attribute->on_update || attribute->version;
}

// Whether the index copies something that can change; or that does so at each write.
static bool index_sees(const struct model_entity *entity, const struct model_index *index,
                       bool always)
{
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if ((!always || is_renewed(attribute)) && !is_fixed(entity, attribute) &&
            index_projects(index, attribute))
            return true;
    }
    return false;
}

// Whether an attribute stands in the entry's key that can change; or that does so at each write.
static bool entry_moves(const struct model_entity *entity, const struct model_entry *entry,
                        bool always)
{
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if ((!always || is_renewed(attribute)) && !is_fixed(entity, attribute) &&
            entry_names(entity, entry, attribute))
            return true;
    }
    return false;
}

void cost_entity_write(const struct model_entity *entity, size_t size, struct cost_write *out)
{
    *out = (struct cost_write){
        .entity = entity, .size = size > 0 ? size : cost_entity_size(entity), .measured = size > 0};
    out->table = write_units(out->size);
    out->put = out->update = out->worst = out->table;
    for (size_t i = 0; i < entity->entry_count && out->index_count < LIMIT_INDEXES; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (!entry->stated)
            continue;
        size_t kept = index_size(entity, entry->index, out->size);
        uint64_t units = write_units(kept);
        bool sees = index_sees(entity, entry->index, false);
        bool moves = entry_moves(entity, entry, true);
        out->indexes[out->index_count++] = (struct cost_index){entry->index, kept, units, moves};
        out->put += units;
        uint64_t kept_same = sees ? units : 0;
        out->update += moves ? 2 * units : kept_same;
        out->worst += entry_moves(entity, entry, false) ? 2 * units : kept_same;
    }
}

// How often the entry is written when the attribute changes: twice if it moves; once if the index
// copies the attribute, or one that changes with every write.
static unsigned entry_writes(const struct cost_index *cost, const struct model_entity *entity,
                             const struct model_attribute *attribute)
{
    const struct model_index *moved[LIMIT_INDEXES];
    size_t count = cost_attribute_moves(entity, attribute, moved);
    for (size_t i = 0; i < count; i++) {
        if (moved[i] == cost->index)
            return 2;
    }
    if (cost->moves)
        return 2;
    return index_projects(cost->index, attribute) || index_sees(entity, cost->index, true);
}

uint64_t cost_attribute_change(const struct cost_write *cost,
                               const struct model_attribute *attribute)
{
    uint64_t units = cost->table;
    for (size_t i = 0; i < cost->index_count; i++)
        units += cost->indexes[i].units * entry_writes(&cost->indexes[i], cost->entity, attribute);
    return units;
}

void cost_access_read(const struct model_access *access, const size_t *sizes, struct cost_read *out)
{
    size_t sum = 0;
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_entity *entity = access->entities[i];
        size_t size = sizes != NULL && sizes[i] > 0 ? sizes[i] : cost_entity_size(entity);
        sum += access->index == NULL ? size : index_size(entity, access->index, size);
    }
    *out =
        (struct cost_read){.item_size = access->entity_count == 0 ? 0 : sum / access->entity_count};
    if (out->item_size == 0)
        out->item_size = 1;
    double factor = access->consistent ? 1.0 : 0.5;
    uint64_t fits = COST_PAGE / out->item_size;
    out->items = access->one || access->get ? 1 : access->limit > 0 ? access->limit : fits;
    if (out->items > fits && fits > 0)
        out->items = fits;
    out->one = factor * (double)((out->item_size + 4095) / 4096);
    out->page = factor * (double)((out->items * out->item_size + 4095) / 4096);
}
