// Access patterns that an entity's keys were made for: one item by its primary key, the items of a
// partition, and what each index can find.
#include "infer/infer_internal.h"

enum { FIELDS_MAX = 16 };

struct fields {
    size_t count;
    struct slice names[FIELDS_MAX];
};

static void add_name(struct fields *fields, struct slice name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (slice_equal(fields->names[i], name))
            return;
    if (fields->count < FIELDS_MAX)
        fields->names[fields->count++] = name;
}

// The fields of a template, or the native attribute.
static void add_part(struct fields *fields, struct slice template, struct slice native)
{
    struct slice names[FIELDS_MAX];
    if (template.ptr == NULL) {
        add_name(fields, native);
        return;
    }
    size_t count = infer_template_fields(template, names, FIELDS_MAX);
    for (size_t i = 0; i < count; i++)
        add_name(fields, names[i]);
}

static struct slice params_text(struct draft *draft, const struct fields *fields)
{
    struct slice text = SLICE_LIT("");
    for (size_t i = 0; i < fields->count; i++)
        text = draft_join(draft, text, ", ", draft_name_text(draft, fields->names[i]));
    return text;
}

static struct slice plural(struct draft *draft, struct slice name)
{
    struct slice camel = draft_camel(draft, name);
    uint8_t last = camel.ptr[camel.len - 1];
    uint8_t before = camel.len > 1 ? camel.ptr[camel.len - 2] : 0;
    if (last == 's' && before != 's')
        return camel; // settings, analytics
    if (last == 'y' && strchr("aeiou", before) == NULL)
        return draft_text(draft, "%.*sies", (int)camel.len - 1, (const char *)camel.ptr);
    bool hisses = last == 's' || last == 'x' || (last == 'h' && (before == 'c' || before == 's'));
    return draft_text(draft, hisses ? "%.*ses" : "%.*ss", SLICE_FMT(camel));
}

// "ByUserIdAndStatus", or "ByGsi1" if there is nothing to tell.
static struct slice by_text(struct draft *draft, const struct fields *fields, struct slice index)
{
    struct slice text = SLICE_LIT("");
    for (size_t i = 0; i < fields->count; i++)
        text = draft_join(draft, text, "And", draft_pascal(draft, fields->names[i]));
    if (fields->count == 0 && index.len > 0)
        text = draft_pascal(draft, index);
    return draft_text(draft, "By%.*s", SLICE_FMT(text));
}

static void add_access(struct draft *draft, struct draft_table *table, struct slice name,
                       const struct fields *fields, struct slice rest)
{
    struct draft_access *access = draft_add_access(draft, table, name);
    access->params = params_text(draft, fields);
    access->rest = rest;
}

static void primary_patterns(struct draft *draft, struct draft_table *table,
                             const struct draft_entity *entity)
{
    const struct key_schema *keys = &table->keys;
    struct fields hash = {.count = 0};
    struct fields all = {.count = 0};
    struct slice name = draft_name_text(draft, entity->name);
    add_part(&hash, entity->keys[0], keys->parts[0].name);
    all = hash;
    if (keys->range_count > 0)
        add_part(&all, entity->keys[1], keys->parts[1].name);
    add_access(draft, table, draft_camel(draft, entity->name), &all,
               draft_text(draft, "one %.*s", SLICE_FMT(name)));
    if (all.count == hash.count)
        return;
    struct slice many = plural(draft, entity->name);
    struct slice by = by_text(draft, &hash, SLICE_LIT(""));
    if (hash.count == 0)
        by = SLICE_LIT("");
    add_access(draft, table, draft_text(draft, "%.*s%.*s", SLICE_FMT(many), SLICE_FMT(by)), &hash,
               name);
}

// A constant partition is searched by what the sort key begins with, if that is an id.
static void add_leading(struct fields *fields, struct slice range)
{
    struct slice names[FIELDS_MAX];
    if (fields->count > 0 || range.ptr == NULL || range.len == 0 || range.ptr[0] != '{' ||
        infer_template_fields(range, names, FIELDS_MAX) == 0 || infer_name_time(names[0]) ||
        memchr(range.ptr, ':', range.len) != NULL)
        return;
    add_name(fields, names[0]);
}

// The template of a part: its own, or that of the same key attribute in the table or another entry.
static struct slice part_template(const struct draft_table *table,
                                  const struct draft_entity *entity,
                                  const struct draft_entry *entry, struct slice name, size_t part)
{
    return entry->parts[part].ptr != NULL ? entry->parts[part]
                                          : draft_template(table, entity, name, NULL);
}

static void index_pattern(struct draft *draft, struct draft_table *table,
                          const struct draft_entity *entity, const struct draft_entry *entry)
{
    const struct draft_index *index = draft_index(table, entry->index);
    struct fields fields = {.count = 0};
    for (size_t i = 0; i < index->keys.hash_count; i++)
        add_part(&fields, part_template(table, entity, entry, index->keys.parts[i].name, i),
                 index->keys.parts[i].name);
    size_t range = index->keys.hash_count;
    if (index->keys.range_count > 0)
        add_leading(&fields,
                    part_template(table, entity, entry, index->keys.parts[range].name, range));
    struct slice many = plural(draft, entity->name);
    struct slice by = by_text(draft, &fields, index->name);
    struct slice name = draft_name_text(draft, entity->name);
    struct slice via = draft_name_text(draft, index->name);
    add_access(draft, table, draft_text(draft, "%.*s%.*s", SLICE_FMT(many), SLICE_FMT(by)), &fields,
               draft_text(draft, "%.*s via %.*s", SLICE_FMT(name), SLICE_FMT(via)));
}

void infer_patterns(struct draft *draft, struct draft_table *table,
                    const struct draft_entity *entity)
{
    primary_patterns(draft, table, entity);
    for (const struct draft_entry *entry = entity->entries; entry != NULL; entry = entry->next)
        index_pattern(draft, table, entity, entry);
}
