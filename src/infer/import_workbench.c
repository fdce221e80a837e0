// NoSQL Workbench models: keys, indexes, facets and, most telling, sample data. The data is looked
// at as `dolmen infer` looks at a table; facets give the entities their names. Without data the
// facets are the entities.
#include "infer/import.h"
#include "infer/infer.h"
#include "infer/infer_internal.h"

#include "json/shape.h"

// ---- Keys and indexes --------------------------------------------------------------------------

static bool add_part(struct draft *draft, const struct tree *part, struct key_schema *out,
                     size_t *count)
{
    struct slice name = tree_text(part, "AttributeName");
    enum value_type type = value_type_from_name(tree_text(part, "AttributeType"));
    if (name.len == 0)
        return false;
    out->parts[draft_parts(out)] =
        (struct key_part){draft_copy(draft, name), type == VALUE_TYPES ? VALUE_S : type};
    *count += 1;
    return true;
}

static bool read_keys(struct draft *draft, const struct tree *keys, struct key_schema *out)
{
    *out = (struct key_schema){.hash_count = 0};
    if (!add_part(draft, tree_get(keys, "PartitionKey"), out, &out->hash_count))
        return false;
    (void)add_part(draft, tree_get(keys, "SortKey"), out, &out->range_count);
    return true;
}

static void read_indexes(struct draft *draft, struct draft_table *table, const struct tree *list,
                         bool local)
{
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        struct key_schema keys;
        if (!read_keys(draft, tree_get(each, "KeyAttributes"), &keys))
            continue;
        struct draft_index *index = draft_add_index(draft, table, tree_text(each, "IndexName"));
        const struct tree *projection = tree_get(each, "Projection");
        index->local = local;
        index->keys = keys;
        index->project = infer_projection(draft, tree_text(projection, "ProjectionType"),
                                          tree_get(projection, "NonKeyAttributes"));
    }
}

// ---- Data --------------------------------------------------------------------------------------

static bool add_item(struct infer *infer, const struct tree *row, struct arena *arena)
{
    struct error error;
    struct slice item;
    error_init(&error, arena);
    if (row->kind != TREE_OBJECT || !json_decode_item(row->source, arena, &item, &error))
        return false;
    (void)infer_add(infer, item);
    return true;
}

static size_t add_items(struct infer *infer, const struct tree *rows, struct arena *arena)
{
    size_t bad = 0;
    for (const struct tree *row = tree_first(rows); row != NULL; row = row->next)
        bad += !add_item(infer, row, arena);
    return bad;
}

// ---- Facets ------------------------------------------------------------------------------------

static struct slice declared_type(const struct tree *table, struct slice name)
{
    static const char *const types[VALUE_TYPES] = {
        [VALUE_NULL] = "null",      [VALUE_BOOL] = "boolean",   [VALUE_N] = "number",
        [VALUE_S] = "string",       [VALUE_B] = "binary",       [VALUE_SS] = "set<string>",
        [VALUE_NS] = "set<number>", [VALUE_BS] = "set<binary>", [VALUE_L] = "any[]",
        [VALUE_M] = "object"};
    const struct tree *list = tree_get(table, "NonKeyAttributes");
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        if (!slice_equal(tree_text(each, "AttributeName"), name))
            continue;
        enum value_type type = value_type_from_name(tree_text(each, "AttributeType"));
        return type == VALUE_TYPES ? SLICE_LIT("any") : slice_str(types[type]);
    }
    return SLICE_LIT("any");
}

// A name in a facet, which is a string; or of the table, which is an object.
static struct slice attribute_name(const struct tree *each)
{
    return each->kind == TREE_STRING ? each->text : tree_text(each, "AttributeName");
}

static void entity_of(struct draft *draft, struct draft_table *table, const struct tree *source,
                      const struct tree *names, struct slice name)
{
    struct draft_entity *entity = draft_add_entity(draft, table, draft_pascal(draft, name));
    import_native_keys(draft, table, entity);
    for (const struct tree *each = tree_first(names); each != NULL; each = each->next) {
        struct slice attribute = attribute_name(each);
        if (attribute.len == 0 || draft_attribute(entity, attribute) != NULL)
            continue;
        struct draft_attribute *added = draft_add_attribute(draft, entity, attribute);
        added->type = declared_type(source, attribute);
        added->optional = true;
    }
    for (struct draft_index *index = table->indexes; index != NULL; index = index->next) {
        size_t count = draft_parts(&index->keys);
        bool native = true;
        for (size_t i = 0; i < count; i++)
            native = native && draft_attribute(entity, index->keys.parts[i].name) != NULL;
        if (native)
            draft_add_entry(draft, entity, index->name)->count = count;
    }
    infer_patterns(draft, table, entity);
}

static void note_alias(struct draft *draft, const struct draft_table *table,
                       const struct tree *facet)
{
    const struct tree *alias = tree_get(facet, "KeyAttributeAlias");
    struct slice hash = tree_text(alias, "PartitionKeyAlias");
    struct slice range = tree_text(alias, "SortKeyAlias");
    struct slice name = tree_text(facet, "FacetName");
    const struct slice aliases[] = {hash, range};
    for (size_t i = 0; i < draft_parts(&table->keys); i++)
        if (aliases[i].len > 0 && !slice_equal(aliases[i], table->keys.parts[i].name))
            draft_note(draft, "facet %.*s calls %.*s \"%.*s\"", SLICE_FMT(name),
                       SLICE_FMT(table->keys.parts[i].name), SLICE_FMT(aliases[i]));
}

static void entities_of_facets(struct draft *draft, struct draft_table *table,
                               const struct tree *source)
{
    const struct tree *facets = tree_get(source, "TableFacets");
    draft_note(draft,
               "%.*s has no sample data: key templates are unknown, keys are taken as they "
               "are",
               SLICE_FMT(table->name));
    for (const struct tree *facet = tree_first(facets); facet != NULL; facet = facet->next) {
        entity_of(draft, table, source, tree_get(facet, "NonKeyAttributes"),
                  tree_text(facet, "FacetName"));
        note_alias(draft, table, facet);
    }
    if (tree_first(facets) == NULL)
        entity_of(draft, table, source, tree_get(source, "NonKeyAttributes"), table->name);
}

static void add_facets(struct infer *infer, const struct tree *source)
{
    struct draft *draft = infer_draft(infer);
    const struct tree *facets = tree_get(source, "TableFacets");
    for (const struct tree *facet = tree_first(facets); facet != NULL; facet = facet->next) {
        size_t count = 0;
        const struct tree *names = tree_get(facet, "NonKeyAttributes");
        for (const struct tree *each = tree_first(names); each != NULL; each = each->next)
            count++;
        struct slice *list = draft_alloc(draft, (count + 1) * sizeof(*list));
        count = 0;
        for (const struct tree *each = tree_first(names); each != NULL; each = each->next)
            list[count++] = attribute_name(each);
        infer_facet(infer, tree_text(facet, "FacetName"), count, list);
        note_alias(draft, infer_table(infer), facet);
    }
}

// ---- Tables ------------------------------------------------------------------------------------

// Attributes that the model names and no sample item has.
static void add_declared(struct draft *draft, const struct draft_table *table,
                         const struct tree *source)
{
    const struct tree *list = tree_get(source, "NonKeyAttributes");
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        struct slice name = tree_text(each, "AttributeName");
        bool known = draft_is_key(table, name) || slice_equal(name, table->type_attribute);
        for (const struct draft_entity *e = table->entities; e != NULL && !known; e = e->next)
            known = draft_attribute(e, name) != NULL;
        if (!known && table->entities != NULL && table->entities->next == NULL) {
            struct draft_attribute *added = draft_add_attribute(draft, table->entities, name);
            added->type = declared_type(source, name);
            added->optional = true;
        } else if (!known) {
            draft_note(draft, "%.*s of %.*s is declared, but no sample item has it",
                       SLICE_FMT(name), SLICE_FMT(table->name));
        }
    }
}

// Each table is inferred in a draft of its own, which then becomes a part of the whole.
static void take_over(struct draft *draft, struct draft *other)
{
    struct draft_table **table = &draft->tables;
    struct draft_note **note = &draft->notes;
    while (*table != NULL)
        table = &(*table)->next;
    while (*note != NULL)
        note = &(*note)->next;
    *table = other->tables;
    *note = other->notes;
    draft->types = other->types; // which begin with the draft's own
    draft->note_count += other->note_count;
}

static bool read_table(const struct tree *source, struct draft *draft, const char **why)
{
    struct slice name = tree_text(source, "TableName");
    struct infer_options options = {.table = name};
    struct infer *infer = infer_new_in(&options, draft->arena);
    struct draft *inner = infer_draft(infer);
    struct draft_table *table = infer_table(infer);
    if (name.len == 0 || !read_keys(inner, tree_get(source, "KeyAttributes"), &table->keys)) {
        *why = "a table of the data model has no name, or no keys";
        return false;
    }
    read_indexes(inner, table, tree_get(source, "GlobalSecondaryIndexes"), false);
    read_indexes(inner, table, tree_get(source, "LocalSecondaryIndexes"), true);
    inner->types = draft->types; // so that names of types are not given twice
    size_t bad = add_items(infer, tree_get(source, "TableData"), draft->arena);
    if (bad > 0)
        draft_note(inner, "%zu rows of the sample data of %.*s are no items", bad, SLICE_FMT(name));
    if (infer_items(infer) == 0) {
        entities_of_facets(inner, table, source);
    } else {
        struct draft *ready = NULL;
        infer_described(infer);
        add_facets(infer, source);
        if (!infer_finish(infer, &ready, why))
            return false;
        add_declared(inner, table, source);
    }
    take_over(draft, inner);
    return true;
}

bool import_workbench(const struct tree *file, struct slice table, struct draft *draft,
                      const char **why)
{
    const struct tree *list = tree_get(file, "DataModel");
    (void)table; // the file names its tables
    if (tree_first(list) == NULL) {
        *why = "it has no DataModel";
        return false;
    }
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next)
        if (!read_table(each, draft, why))
            return false;
    return true;
}
