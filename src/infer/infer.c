// See infer.h. Items are kept in memory as they come; then keys, entities, templates, types and
// patterns are found one after the other, each from what the step before has said.
#include "infer/infer_internal.h"

#include "value/value.h"

#include <stdlib.h>

enum { ITEMS_MAX = 50000 };
static const uint64_t bytes_max = (uint64_t)512 << 20;

static void infer_begin(struct infer *infer, const struct infer_options *options,
                        struct arena *arena)
{
    infer->options = *options;
    infer->arena = arena;
    if (infer->options.items_max == 0)
        infer->options.items_max = ITEMS_MAX;
    if (infer->options.bytes_max == 0)
        infer->options.bytes_max = bytes_max;
    draft_init(&infer->draft, arena);
    infer->table = draft_add_table(&infer->draft, options->table);
}

struct infer *infer_new(const struct infer_options *options)
{
    struct infer *infer = memory_zeroed(sizeof(*infer));
    arena_init(&infer->own, SIZE_MAX);
    infer_begin(infer, options, &infer->own);
    return infer;
}

struct infer *infer_new_in(const struct infer_options *options, struct arena *arena)
{
    struct infer *infer = arena_zalloc(arena, 1, sizeof(*infer));
    ensure_memory(infer);
    infer_begin(infer, options, arena);
    return infer;
}

void infer_free(struct infer *infer)
{
    if (infer == NULL)
        return;
    ensure(infer->arena == &infer->own);
    arena_release(&infer->own);
    free(infer);
}

uint64_t infer_items(const struct infer *infer)
{
    return infer->count;
}

bool infer_add(struct infer *infer, struct slice item)
{
    if (infer->count >= infer->options.items_max || infer->bytes > infer->options.bytes_max)
        return false;
    infer->items =
        draft_grow(&infer->draft, infer->items, infer->count, &infer->room, sizeof(*infer->items));
    infer->items[infer->count++] = draft_copy(&infer->draft, item);
    infer->bytes += item.len;
    return infer->count < infer->options.items_max;
}

// ---- What a description says ----------------------------------------------------------------

static enum value_type defined_type(const struct tree *description, struct slice name)
{
    const struct tree *list = tree_get(description, "AttributeDefinitions");
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next)
        if (slice_equal(tree_text(each, "AttributeName"), name)) {
            enum value_type type = value_type_from_name(tree_text(each, "AttributeType"));
            return type == VALUE_TYPES ? VALUE_S : type;
        }
    return VALUE_S;
}

static bool read_schema(struct infer *infer, const struct tree *description,
                        const struct tree *schema, struct key_schema *out)
{
    *out = (struct key_schema){.hash_count = 0};
    for (int pass = 0; pass < 2; pass++) {
        for (const struct tree *each = tree_first(schema); each != NULL; each = each->next) {
            struct slice name = tree_text(each, "AttributeName");
            bool hash = slice_is(tree_text(each, "KeyType"), "HASH");
            size_t at = draft_parts(out);
            if (name.len == 0 || hash != (pass == 0) || at == COUNT_OF(out->parts))
                continue;
            out->parts[at] =
                (struct key_part){draft_copy(&infer->draft, name), defined_type(description, name)};
            *(hash ? &out->hash_count : &out->range_count) += 1;
        }
    }
    return out->hash_count > 0;
}

struct slice infer_projection(struct draft *draft, struct slice kind, const struct tree *names)
{
    struct slice list = SLICE_LIT("");
    if (slice_is(kind, "KEYS_ONLY"))
        return SLICE_LIT("keys");
    if (!slice_is(kind, "INCLUDE"))
        return SLICE_LIT("");
    for (const struct tree *each = tree_first(names); each != NULL; each = each->next)
        list = draft_join(draft, list, ", ", draft_name_text(draft, each->text));
    return draft_text(draft, "(%.*s)", SLICE_FMT(list));
}

static void read_indexes(struct infer *infer, const struct tree *description, const char *member,
                         bool local)
{
    const struct tree *list = tree_get(description, member);
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        struct key_schema keys;
        if (!read_schema(infer, description, tree_get(each, "KeySchema"), &keys))
            continue;
        struct draft_index *index =
            draft_add_index(&infer->draft, infer->table, tree_text(each, "IndexName"));
        index->local = local;
        index->keys = keys;
        const struct tree *projection = tree_get(each, "Projection");
        index->project = infer_projection(&infer->draft, tree_text(projection, "ProjectionType"),
                                          tree_get(projection, "NonKeyAttributes"));
    }
}

static struct slice stream_text(struct slice kind)
{
    static const char *const kinds[][2] = {{"NEW_AND_OLD_IMAGES", "new_and_old_images"},
                                           {"NEW_IMAGE", "new_image"},
                                           {"OLD_IMAGE", "old_image"},
                                           {"KEYS_ONLY", "keys_only"}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (slice_is(kind, kinds[i][0]))
            return slice_str(kinds[i][1]);
    return SLICE_LIT("");
}

bool infer_describe(struct infer *infer, struct slice json)
{
    struct tree_error error;
    const struct tree *description = tree_read(json, infer->arena, &error);
    if (description == NULL)
        return false;
    if (tree_get(description, "Table") != NULL)
        description = tree_get(description, "Table");
    if (!read_schema(infer, description, tree_get(description, "KeySchema"), &infer->table->keys))
        return false;
    read_indexes(infer, description, "LocalSecondaryIndexes", true);
    read_indexes(infer, description, "GlobalSecondaryIndexes", false);
    infer->table->stream =
        stream_text(tree_text(tree_get(description, "StreamSpecification"), "StreamViewType"));
    infer->described = true;
    return true;
}

void infer_described(struct infer *infer)
{
    infer->described = true;
}

void infer_keys(struct infer *infer, struct slice hash, struct slice range)
{
    struct key_schema *keys = &infer->table->keys;
    keys->hash_count = 1;
    keys->parts[0] = (struct key_part){draft_copy(&infer->draft, hash), VALUE_S};
    keys->range_count = range.len > 0;
    if (range.len > 0)
        keys->parts[1] = (struct key_part){draft_copy(&infer->draft, range), VALUE_S};
}

void infer_ttl(struct infer *infer, struct slice attribute)
{
    infer->table->ttl = draft_copy(&infer->draft, attribute);
}

void infer_facet(struct infer *infer, struct slice name, size_t count,
                 const struct slice *attributes)
{
    struct infer_facet *facet = draft_alloc(&infer->draft, sizeof(*facet));
    *facet = (struct infer_facet){
        .next = infer->facets, .name = name, .count = count, .attributes = attributes};
    infer->facets = facet;
}

struct draft *infer_draft(struct infer *infer)
{
    return &infer->draft;
}

struct draft_table *infer_table(struct infer *infer)
{
    return infer->table;
}

// ---- Attributes ------------------------------------------------------------------------------

// Attributes in the keys first, then all others.
static unsigned rank_of(const struct infer *infer, const struct draft_entity *entity,
                        struct slice name)
{
    for (size_t i = 0; i < 2; i++)
        if (infer_template_has(entity->keys[i], name) ||
            slice_equal(infer->table->keys.parts[i].name, name))
            return (unsigned)i;
    return 2;
}

static size_t find_names(struct infer *infer, const struct infer_group *group, struct slice **out)
{
    size_t room = 0;
    size_t count = 0;
    struct slice *names = NULL;
    for (size_t i = 0; i < group->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, *group->items[i]);
        while (value_iter_next(&iter)) {
            size_t k = 0;
            while (k < count && !slice_equal(names[k], iter.name))
                k++;
            if (k < count)
                continue;
            names = draft_grow(&infer->draft, names, count, &room, sizeof(*names));
            names[count++] = iter.name;
        }
    }
    *out = names;
    return count;
}

static int compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void add_attribute(struct infer *infer, struct infer_group *group, struct slice name)
{
    struct draft *draft = &infer->draft;
    struct slice *values = draft_alloc(draft, (group->count + 1) * sizeof(*values));
    size_t count = 0;
    bool mixed = false;
    // Null is what is optional, too.
    for (size_t i = 0; i < group->count; i++) {
        struct slice value = value_get(*group->items[i], name);
        if (value.len > 0 && value_type(value) != VALUE_NULL)
            values[count++] = value;
    }
    struct draft_attribute *attribute = draft_add_attribute(draft, group->entity, name);
    attribute->type = infer_type(infer, name, count, values, &mixed);
    attribute->optional = count < group->count;
    if (slice_equal(name, infer->table->ttl) && slice_is(attribute->type, "number"))
        attribute->type = SLICE_LIT("epoch");
    if (mixed)
        draft_note(draft, "%.*s.%.*s %s several types: %.*s", SLICE_FMT(group->entity->name),
                   SLICE_FMT(name),
                   slice_contains(attribute->type, SLICE_LIT(" | ")) ? "has values of"
                                                                     : "contains values of",
                   SLICE_FMT(attribute->type));
}

// Attributes and their types, as far as they are not there yet.
static void add_attributes(struct infer *infer, struct infer_group *group)
{
    struct slice *names = NULL;
    size_t count = find_names(infer, group, &names);
    if (count > 0)
        qsort(names, count, sizeof(*names), compare_slices);
    for (unsigned rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < count; i++) {
            if (rank_of(infer, group->entity, names[i]) != rank ||
                slice_equal(names[i], infer->type_attribute) ||
                draft_template(infer->table, group->entity, names[i], NULL).ptr != NULL ||
                draft_attribute(group->entity, names[i]) != NULL)
                continue;
            add_attribute(infer, group, names[i]);
        }
    }
}

// ---- All of it -------------------------------------------------------------------------------

bool infer_finish(struct infer *infer, struct draft **out, const char **why)
{
    struct draft *draft = &infer->draft;
    if (infer->count == 0) {
        *why = "there are no items to look at";
        return false;
    }
    if (!infer->described && !infer_guess_keys(infer, why))
        return false;
    if (infer->count >= infer->options.items_max)
        draft_note(draft, "only the first %zu items were looked at", infer->count);
    infer_group_items(infer);
    infer->table->type_attribute = infer->type_attribute;
    for (struct infer_group *group = infer->groups; group != NULL; group = group->next) {
        group->entity = draft_add_entity(draft, infer->table, group->name);
        group->entity->type_value = group->type_value;
        group->entity->doc =
            draft_text(draft, "%zu item%s", group->count,
                       group->count == 1 ? " only: hardly more than a guess" : "s");
    }
    for (struct infer_group *group = infer->groups; group != NULL; group = group->next) {
        infer_templates(infer, group);
        add_attributes(infer, group);
        infer_patterns(draft, infer->table, group->entity);
    }
    draft->title = draft_text(draft, "Proposed by dolmen infer from %zu items of %.*s.",
                              infer->count, SLICE_FMT(infer->table->name));
    *out = draft;
    return true;
}
