// See projected.h.
#include "guard/projected.h"

#include "eval/template.h"
#include "value/value.h"

// Calls visit for each key attribute that is made by a template: of the table's key, and of the
// entity's entries.
struct visitor {
    void (*visit)(struct visitor *visitor, const struct model_key_part *part);
};

static void visit_parts(struct visitor *visitor, const struct model_key_part *parts,
                        const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (parts[i].template != NULL)
            visitor->visit(visitor, &parts[i]);
    }
}

static void visit_entry(struct visitor *visitor, const struct model_entity *entity,
                        const struct model_index *index)
{
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (entry->stated && (index == NULL || entry->index == index))
            visit_parts(visitor, entry->parts, &entry->index->keys);
    }
}

// ---- What is told -----------------------------------------------------------------------------

// Whether no value of the type contains the text.
static bool never_contains(const struct model_type *type, struct slice text)
{
    static const char plain[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:.+-";
    switch (type->kind) {
    case MODEL_UUID:
    case MODEL_TIMESTAMP:
    case MODEL_DATE:
    case MODEL_EPOCH:
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_BOOLEAN:
        for (size_t i = 0; i < text.len; i++) {
            if (memchr(plain, text.ptr[i], sizeof(plain) - 1) == NULL)
                return true;
        }
        return false;
    case MODEL_LITERAL:
        return value_type(type->literal) != VALUE_S ||
               !slice_contains(value_bytes(type->literal), text);
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++) {
            if (!never_contains(type->options[i], text))
                return false;
        }
        return true;
    default:
        return type->kind == MODEL_NULL;
    }
}

// Whether keys that the template makes can be read in one way only.
static bool is_always_clear(const struct model_template *template)
{
    for (size_t i = 1; i + 1 < template->segment_count; i++) {
        const struct model_segment *between = &template->segments[i];
        for (size_t k = 0; between->expr == NULL && k < template->segment_count; k++) {
            const struct model_segment *field = &template->segments[k];
            const struct model_expr *path = field->expr == NULL ? NULL : model_segment_path(field);
            if (field->expr != NULL &&
                (path == NULL || path->step_count != 1 || path->attribute == NULL ||
                 !never_contains(path->attribute->type, between->literal)))
                return false;
        }
    }
    return true;
}

struct search {
    struct visitor visitor;
    const struct model_attribute *attribute;
    enum model_projected found;
};

static void look_in_part(struct visitor *visitor, const struct model_key_part *part)
{
    struct search *search = (struct search *)visitor;
    for (size_t i = 0; i < part->template->segment_count; i++) {
        const struct model_segment *segment = &part->template->segments[i];
        // Where one field ends and the next begins, nobody can tell.
        bool alone = (i == 0 || segment[-1].expr == NULL) &&
                     (i + 1 == part->template->segment_count || segment[1].expr == NULL);
        const struct model_expr *path =
            alone && (part->template->bare || model_segment_tells(segment))
                ? model_segment_path(segment)
                : NULL;
        enum model_projected told =
            is_always_clear(part->template) ? MODEL_PROJECTED_ALWAYS : MODEL_PROJECTED_PERHAPS;
        if (path != NULL && path->step_count == 1 && path->attribute == search->attribute &&
            told > search->found)
            search->found = told;
    }
}

enum model_projected model_projected_has(const struct model_entity *entity,
                                         const struct model_index *index,
                                         const struct model_attribute *attribute)
{
    const struct model_table *table = entity->table;
    struct search search = {.visitor.visit = look_in_part, .attribute = attribute};
    if (index == NULL || index->projection == MODEL_PROJECT_ALL ||
        key_schema_has(&table->keys, attribute->name) ||
        key_schema_has(&index->keys, attribute->name))
        return MODEL_PROJECTED_ALWAYS;
    for (size_t i = 0; i < index->include_count; i++) {
        if (slice_equal(index->include[i], attribute->name))
            return MODEL_PROJECTED_ALWAYS;
    }
    visit_parts(&search.visitor, entity->keys, &table->keys);
    visit_entry(&search.visitor, entity, index);
    return search.found;
}

// ---- Reading it -------------------------------------------------------------------------------

struct reading {
    struct visitor visitor;
    struct slice item;
    struct arena *arena;
    size_t count;
    struct model_field added[MODEL_FIELDS_MAX];
};

static bool is_added(const struct reading *reading, struct slice name)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (slice_equal(reading->added[i].path->steps[0], name))
            return true;
    }
    return false;
}

static void read_part(struct visitor *visitor, const struct model_key_part *part)
{
    struct reading *reading = (struct reading *)visitor;
    struct model_match match;
    struct slice key = value_get(reading->item, part->name);
    bool text = key.len > 0 && value_type(key) == VALUE_S;
    if (key.len == 0 ||
        (text && !part->template->bare &&
         !model_template_clear(part->template, value_bytes(key))) ||
        !model_template_match(part->template, key, reading->arena, &match))
        return;
    for (size_t i = 0; i < match.count; i++) {
        const struct model_expr *path = match.fields[i].path;
        if (path->step_count == 1 && path->attribute != NULL && reading->count < MODEL_FIELDS_MAX &&
            value_get(reading->item, path->steps[0]).len == 0 && !is_added(reading, path->steps[0]))
            reading->added[reading->count++] = match.fields[i];
    }
}

static struct slice put_together(const struct reading *reading)
{
    struct value_maker maker;
    struct value_iter iter;
    value_begin(&maker, 2 * LIMIT_ITEM_SIZE);
    value_open_map(&maker.b);
    value_iter_init(&iter, reading->item);
    while (value_iter_next(&iter)) {
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    for (size_t i = 0; i < reading->count; i++) {
        value_name(&maker.b, reading->added[i].path->steps[0]);
        value_put(&maker.b, reading->added[i].value);
    }
    return value_end(&maker, reading->arena);
}

struct slice model_projected_item(const struct model_entity *entity, struct slice item,
                                  struct arena *arena)
{
    struct reading reading = {.visitor.visit = read_part, .item = item, .arena = arena};
    visit_parts(&reading.visitor, entity->keys, &entity->table->keys);
    visit_entry(&reading.visitor, entity, NULL);
    return reading.count == 0 ? item : put_together(&reading);
}
