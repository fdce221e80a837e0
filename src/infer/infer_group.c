// Which items are of the same entity. If there is an attribute that names the entity, by that; else
// by the shapes of their keys: "USER#*" with "PROFILE", "USER#*" with "SUB#*".
#include "infer/infer_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum { TYPES_MAX = 200 };

static bool is_delimiter(uint8_t byte)
{
    return byte == '#' || byte == '|' || byte == '~';
}

// ---- Shapes of keys --------------------------------------------------------------------------

// Whether some attribute of the item has this text as its value.
static bool is_attribute_value(const struct infer *infer, struct slice item, struct slice text)
{
    struct value_iter iter;
    struct infer_number room;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (draft_is_key(infer->table, iter.name) || slice_equal(iter.name, infer->type_attribute))
            continue;
        if (slice_equal(infer_value_text(iter.value, &room), text) && text.len > 0)
            return true;
    }
    return false;
}

// A token of a key that is the same in all items of its entity.
static bool is_constant(const struct infer *infer, struct slice item, struct slice token,
                        bool first, bool last)
{
    if (token.len == 0 || infer_is_value(token))
        return false;
    if (first && !last)
        return infer_is_word(token);
    return infer_is_shouted(token) && !is_attribute_value(infer, item, token);
}

// "USER#123#SESSION" as "USER#*#SESSION"; values that follow each other are one star.
static struct slice shape_of(struct infer *infer, struct slice item, struct slice text)
{
    struct buf out;
    buf_init(&out, text.len + 16);
    size_t start = 0;
    bool star = false;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && !is_delimiter(text.ptr[i]))
            continue;
        struct slice token = slice_of(text.ptr + start, i - start);
        bool constant = is_constant(infer, item, token, start == 0, i == text.len);
        if (constant || !star) {
            if (out.len > 0)
                buf_byte(&out, '#');
            if (constant)
                buf_slice(&out, token);
            else
                buf_byte(&out, '*');
        }
        star = !constant;
        start = i + 1;
    }
    return draft_keep(&infer->draft, &out);
}

static struct slice key_shape(struct infer *infer, struct slice item, size_t part)
{
    const struct key_schema *keys = &infer->table->keys;
    if (part >= draft_parts(keys))
        return SLICE_LIT("");
    struct slice text = infer_key_text(item, keys->parts[part].name);
    return text.ptr == NULL ? SLICE_LIT("*") : shape_of(infer, item, text);
}

// ---- The type attribute ----------------------------------------------------------------------

// Names that say it; and names that may just as well be of something else.
static const char *const sure_names[] = {"EntityType", "entityType", "entity_type", "__typename",
                                         "_type",      "_et",        "__edb_e__",   "_entity",
                                         "entity",     "Entity",     "__entity",    "itemType",
                                         "item_type",  "ItemType",   "objectType",  "recordType"};
static const char *const likely_names[] = {"type", "Type", "kind", "Kind", "model", "_model"};

struct type_values {
    size_t count; // different values
    size_t items; // that have one
    struct slice values[TYPES_MAX];
    struct slice shapes[TYPES_MAX]; // of the first item's keys
    bool tells;                     // each shape of keys has one value
};

static struct slice both_shapes(struct infer *infer, struct slice item)
{
    struct slice hash = key_shape(infer, item, 0);
    struct slice range = key_shape(infer, item, 1);
    return draft_text(&infer->draft, "%.*s\n%.*s", SLICE_FMT(hash), SLICE_FMT(range));
}

static bool judge_type(struct infer *infer, struct slice name, struct type_values *out)
{
    *out = (struct type_values){.tells = true};
    for (size_t i = 0; i < infer->count; i++) {
        struct slice text = infer_key_text(infer->items[i], name);
        if (text.len == 0)
            continue;
        if (infer_is_value(text) || text.len > 64)
            return false;
        out->items++;
        struct slice shape = both_shapes(infer, infer->items[i]);
        size_t k = 0;
        while (k < out->count && !slice_equal(out->values[k], text))
            k++;
        if (k == out->count) {
            if (k == TYPES_MAX)
                return false;
            out->values[k] = text;
            out->shapes[k] = shape;
            out->count++;
        }
        for (size_t other = 0; other < out->count; other++)
            out->tells = out->tells && (other == k || !slice_equal(out->shapes[other], shape));
    }
    // Nearly every item has one, and there are far fewer values than items: else it is data.
    return out->items * 10 >= infer->count * 9 && out->count * 2 <= infer->count + 1;
}

static void find_type_attribute(struct infer *infer)
{
    struct type_values *values = draft_alloc(&infer->draft, sizeof(*values));
    infer->type_attribute = infer->options.type;
    if (infer->type_attribute.len > 0)
        return;
    for (size_t i = 0; i < COUNT_OF(sure_names); i++) {
        struct slice name = slice_str(sure_names[i]);
        if (!draft_is_key(infer->table, name) && judge_type(infer, name, values)) {
            infer->type_attribute = name;
            return;
        }
    }
    for (size_t i = 0; i < COUNT_OF(likely_names); i++) {
        struct slice name = slice_str(likely_names[i]);
        infer->type_attribute = name; // it is no attribute then, when shapes are looked at
        if (!draft_is_key(infer->table, name) && judge_type(infer, name, values) && values->tells &&
            values->count > 1)
            return;
        infer->type_attribute = SLICE_LIT("");
    }
}

// ---- Groups ----------------------------------------------------------------------------------

static void group_add(struct infer *infer, struct infer_group *group, const struct slice *item)
{
    group->items = draft_grow(&infer->draft, group->items, group->count, &group->room,
                              sizeof(const struct slice *));
    group->items[group->count++] = item;
}

static struct infer_group *group_for(struct infer *infer, struct slice type, struct slice hash,
                                     struct slice range)
{
    struct infer_group **at = &infer->groups;
    for (; *at != NULL; at = &(*at)->next) {
        if (type.len > 0 ? slice_equal((*at)->type_value, type)
                         : (*at)->type_value.len == 0 && slice_equal((*at)->hash, hash) &&
                               slice_equal((*at)->range, range))
            return *at;
    }
    struct infer_group *group = draft_alloc(&infer->draft, sizeof(*group));
    *group = (struct infer_group){.type_value = type, .hash = hash, .range = range};
    *at = group;
    infer->group_count++;
    return group;
}

// ---- Names -----------------------------------------------------------------------------------

// The first constant of a shape, or empty.
static struct slice first_word(struct slice shape)
{
    const uint8_t *end = memchr(shape.ptr, '#', shape.len);
    size_t len = end == NULL ? shape.len : (size_t)(end - shape.ptr);
    return len > 0 && shape.ptr[0] != '*' ? slice_of(shape.ptr, len) : SLICE_LIT("");
}

static bool is_main_part(struct slice word)
{
    static const char *const words[] = {"METADATA", "META",   "PROFILE", "INFO",  "DATA", "DETAILS",
                                        "DETAIL",   "ROOT",   "MAIN",    "A",     "HEAD", "TOKEN",
                                        "METADETA", "RECORD", "ITEM",    "OBJECT"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (infer_same_word(word, words[i]))
            return true;
    return false;
}

static struct slice table_entity_name(struct infer *infer)
{
    struct slice name = draft_pascal(&infer->draft, infer->table->name);
    if (name.len > 2 && name.ptr[name.len - 1] == 's' && name.ptr[name.len - 2] != 's')
        name.len--;
    return name;
}

static bool name_taken(const struct infer *infer, const struct infer_group *until,
                       struct slice name)
{
    for (const struct infer_group *g = infer->groups; g != until; g = g->next)
        if (slice_equal(g->name, name))
            return true;
    return false;
}

// The facet that shares most attributes with the group's first item, if that is more than half.
static struct slice facet_name(const struct infer *infer, const struct infer_group *group)
{
    struct slice name = SLICE_LIT("");
    size_t best = 0;
    for (const struct infer_facet *facet = infer->facets; facet != NULL; facet = facet->next) {
        size_t shared = 0;
        for (size_t i = 0; i < facet->count; i++)
            shared += value_get(*group->items[0], facet->attributes[i]).len > 0;
        size_t own = value_count(*group->items[0]) - 1;
        size_t percent = facet->count + own == 0 ? 0 : 200 * shared / (facet->count + own);
        if (percent > 50 && percent > best) {
            best = percent;
            name = facet->name;
        }
    }
    return name;
}

static struct slice group_name(struct infer *infer, const struct infer_group *group)
{
    struct draft *draft = &infer->draft;
    struct slice facet = facet_name(infer, group);
    if (group->type_value.len > 0)
        return draft_pascal(draft, group->type_value);
    if (facet.len > 0)
        return draft_pascal(draft, facet);
    struct slice hash = first_word(group->hash);
    struct slice range = first_word(group->range);
    bool lone = memchr(group->range.ptr, '*', group->range.len) == NULL;
    struct slice name;
    if (hash.len == 0 && range.len == 0)
        name = table_entity_name(infer);
    else if (range.len == 0 || slice_equal(hash, range) || (lone && is_main_part(range)))
        name = hash.len > 0 ? draft_pascal(draft, hash) : draft_pascal(draft, range);
    else
        name = draft_pascal(draft, range);
    if (name_taken(infer, group, name) && hash.len > 0 && range.len > 0) {
        struct slice first = draft_pascal(draft, hash);
        struct slice second = draft_pascal(draft, range);
        name = draft_text(draft, "%.*s%.*s", SLICE_FMT(first), SLICE_FMT(second));
    }
    return name;
}

// Entities that are named by the front of their partition key come first: the others are told from
// them by both keys.
static int compare_groups(const void *a, const void *b)
{
    const struct infer_group *one = *(struct infer_group *const *)a;
    const struct infer_group *other = *(struct infer_group *const *)b;
    bool first = memchr(one->range.ptr, '*', one->range.len) == NULL;
    bool second = memchr(other->range.ptr, '*', other->range.len) == NULL;
    if (one->type_value.len == 0 && first != second)
        return first ? -1 : 1;
    int order = slice_compare(one->hash, other->hash);
    return order != 0 ? order : slice_compare(one->range, other->range);
}

static void sort_groups(struct infer *infer)
{
    struct infer_group **list =
        draft_alloc(&infer->draft, (infer->group_count + 1) * sizeof(struct infer_group *));
    size_t count = 0;
    for (struct infer_group *g = infer->groups; g != NULL; g = g->next)
        list[count++] = g;
    qsort(list, count, sizeof(struct infer_group *), compare_groups);
    infer->groups = NULL;
    while (count-- > 0) {
        list[count]->next = infer->groups;
        infer->groups = list[count];
    }
}

static void name_groups(struct infer *infer)
{
    for (struct infer_group *group = infer->groups; group != NULL; group = group->next) {
        struct slice name = group_name(infer, group);
        group->name = name;
        for (unsigned i = 2; name_taken(infer, group, group->name); i++)
            group->name = draft_text(&infer->draft, "%.*s%u", SLICE_FMT(name), i);
    }
}

// Items of one entity whose keys have another shape than those of most.
static void note_shapes(struct infer *infer, struct infer_group *group)
{
    size_t others = 0;
    for (size_t i = 0; i < group->count; i++)
        others += !slice_equal(key_shape(infer, *group->items[i], 0), group->hash) ||
                  !slice_equal(key_shape(infer, *group->items[i], 1), group->range);
    if (others > 0 && group->type_value.len > 0)
        draft_note(&infer->draft,
                   "%zu of %zu items of %.*s have keys of another shape than \"%.*s\", \"%.*s\"",
                   others, group->count, SLICE_FMT(group->name), SLICE_FMT(group->hash),
                   SLICE_FMT(group->range));
}

// Items without a type belong to the entity whose keys look like theirs, if there is one.
static struct infer_group *group_by_shape(struct infer *infer, struct slice hash,
                                          struct slice range)
{
    for (struct infer_group *g = infer->groups; g != NULL; g = g->next)
        if (slice_equal(g->hash, hash) && slice_equal(g->range, range))
            return g;
    return group_for(infer, SLICE_LIT(""), hash, range);
}

void infer_group_items(struct infer *infer)
{
    size_t untyped = 0;
    find_type_attribute(infer);
    // Items with a type first: those without join the entity whose keys look like theirs.
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < infer->count; i++) {
            const struct slice *item = &infer->items[i];
            struct slice type = infer->type_attribute.len == 0
                                    ? SLICE_LIT("")
                                    : infer_key_text(*item, infer->type_attribute);
            if ((type.len > 0) != (pass == 0))
                continue;
            struct slice hash = key_shape(infer, *item, 0);
            struct slice range = key_shape(infer, *item, 1);
            untyped += pass == 1 && infer->type_attribute.len > 0;
            group_add(infer,
                      pass == 0 ? group_for(infer, type, hash, range)
                                : group_by_shape(infer, hash, range),
                      item);
        }
    }
    sort_groups(infer);
    name_groups(infer);
    if (untyped > 0)
        draft_note(&infer->draft, "%zu items have no %.*s; they were told by their keys", untyped,
                   SLICE_FMT(infer->type_attribute));
    for (struct infer_group *group = infer->groups; group != NULL; group = group->next)
        note_shapes(infer, group);
}
