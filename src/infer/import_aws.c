// The schema.json of AWS's DynamoDB data-modeling tool: tables with their indexes, entities with
// templates "USER#{user_id}", fields, and access patterns as operations.
#include "infer/import.h"
#include "infer/infer_internal.h"

struct aws {
    struct draft *draft;
    struct draft_table *table;
    size_t writes; // patterns that need none here
};

// ---- Tables ------------------------------------------------------------------------------------

// A name, or (for keys of several attributes) an array of names.
static size_t add_names(struct draft *draft, const struct tree *names, struct key_part *parts,
                        size_t room)
{
    size_t count = 0;
    if (names == NULL)
        return 0;
    if (names->kind != TREE_ARRAY) {
        parts[0] = (struct key_part){draft_copy(draft, names->text), VALUE_S};
        return names->text.len > 0 && !slice_is(names->text, "null");
    }
    for (const struct tree *each = names->first; each != NULL && count < room; each = each->next)
        parts[count++] = (struct key_part){draft_copy(draft, each->text), VALUE_S};
    return count;
}

static bool read_keys(struct draft *draft, const struct tree *source, struct key_schema *out)
{
    *out = (struct key_schema){.hash_count = 0};
    out->hash_count =
        add_names(draft, tree_get(source, "partition_key"), out->parts, LIMIT_KEY_PARTS);
    out->range_count = add_names(draft, tree_get(source, "sort_key"), out->parts + out->hash_count,
                                 LIMIT_KEY_PARTS);
    return out->hash_count > 0;
}

static bool read_indexes(struct aws *aws, const struct tree *list)
{
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        struct draft_index *index =
            draft_add_index(aws->draft, aws->table, tree_text(each, "name"));
        if (!read_keys(aws->draft, each, &index->keys))
            return false;
        index->project = infer_projection(aws->draft, tree_text(each, "projection"),
                                          tree_get(each, "included_attributes"));
    }
    return true;
}

// ---- Entities ----------------------------------------------------------------------------------

static struct slice scalar_type(struct slice type)
{
    static const char *const types[][2] = {
        {"string", "string"},       {"integer", "integer"}, {"decimal", "number"},
        {"number", "number"},       {"float", "number"},    {"boolean", "boolean"},
        {"uuid", "uuid"},           {"object", "object"},   {"dict", "object"},
        {"timestamp", "timestamp"}, {"date", "date"},       {"binary", "binary"}};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (slice_is(type, types[i][0]))
            return slice_str(types[i][1]);
    return VALUE_NONE;
}

static struct slice field_type(struct aws *aws, const struct tree *field)
{
    struct slice type = tree_text(field, "type");
    if (slice_is(type, "array")) {
        struct slice item = scalar_type(tree_text(field, "item_type"));
        return draft_text(aws->draft, "%.*s[]",
                          SLICE_FMT(item.ptr == NULL ? SLICE_LIT("any") : item));
    }
    struct slice found = scalar_type(type);
    if (found.ptr != NULL)
        return found;
    draft_note(aws->draft, "the type %.*s of %.*s is not known; taken as any", SLICE_FMT(type),
               SLICE_FMT(tree_text(field, "name")));
    return SLICE_LIT("any");
}

static void read_fields(struct aws *aws, struct draft_entity *entity, const struct tree *list)
{
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        struct slice name = tree_text(each, "name");
        if (name.len == 0 || draft_attribute(entity, name) != NULL)
            continue;
        struct draft_attribute *attribute = draft_add_attribute(aws->draft, entity, name);
        attribute->type = field_type(aws, each);
        attribute->optional = !tree_true(each, "required");
        attribute->doc = tree_text(each, "description");
    }
}

// Templates of one half of a key: a text, or an array of them. A template that is nothing but the
// key attribute itself is native.
static void read_templates(struct aws *aws, struct draft_entity *entity, const struct tree *source,
                           const struct key_part *parts, size_t count, struct slice *out)
{
    const struct tree *each = source != NULL && source->kind == TREE_ARRAY ? source->first : source;
    for (size_t i = 0; i < count; i++) {
        out[i] = VALUE_NONE;
        if (each == NULL || each->kind != TREE_STRING)
            continue;
        struct slice text = import_template(aws->draft, entity, each->text, "{");
        struct slice own = draft_text(aws->draft, "{%.*s}", SLICE_FMT(parts[i].name));
        if (!slice_equal(each->text, own))
            out[i] = text;
        each = source->kind == TREE_ARRAY ? each->next : NULL;
    }
}

static void read_entries(struct aws *aws, struct draft_entity *entity, const struct tree *list)
{
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        const struct draft_index *index = draft_index(aws->table, tree_text(each, "name"));
        if (index == NULL) {
            struct slice name = tree_text(each, "name");
            draft_note(aws->draft, "%.*s maps to %.*s, which is no index of the table",
                       SLICE_FMT(entity->name), SLICE_FMT(name));
            continue;
        }
        const struct key_schema *keys = &index->keys;
        struct draft_entry *entry = draft_add_entry(aws->draft, entity, index->name);
        entry->count = draft_parts(keys);
        read_templates(aws, entity, tree_get(each, "pk_template"), keys->parts, keys->hash_count,
                       entry->parts);
        read_templates(aws, entity, tree_get(each, "sk_template"), keys->parts + keys->hash_count,
                       keys->range_count, entry->parts + keys->hash_count);
    }
}

// ---- Access patterns ------------------------------------------------------------------------

struct params {
    size_t count;
    struct slice names[16];
    bool used[16];
};

static void read_params(const struct tree *list, struct params *out)
{
    *out = (struct params){.count = 0};
    for (const struct tree *each = tree_first(list); each != NULL && out->count < 16;
         each = each->next)
        if (!slice_is(tree_text(each, "type"), "entity"))
            out->names[out->count++] = tree_text(each, "name");
}

static bool use_fields(struct params *params, struct slice template, struct slice native)
{
    struct slice names[16] = {native};
    size_t count =
        template.ptr == NULL ? 1 : infer_template_fields(template, names, COUNT_OF(names));
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t k = 0; k < params->count; k++) {
            if (!slice_equal(params->names[k], names[i]))
                continue;
            params->used[k] = true;
            found = true;
        }
        all = all && found;
    }
    return all;
}

static const struct draft_entry *entry_of(const struct draft_entity *entity, struct slice index)
{
    const struct draft_entry *entry = entity->entries;
    while (entry != NULL && !slice_equal(entry->index, index))
        entry = entry->next;
    return entry;
}

// " where SK begins \"{prefix}\"" with the parameters that no template has used.
static struct slice range_text(struct aws *aws, struct params *params, struct slice condition,
                               struct slice key)
{
    struct slice spare[2];
    size_t places[2];
    size_t count = 0;
    for (size_t i = 0; i < params->count && count < 2; i++) {
        if (params->used[i])
            continue;
        places[count] = i;
        spare[count++] = draft_name_text(aws->draft, params->names[i]);
    }
    struct slice name = draft_name_text(aws->draft, key);
    bool between = slice_is(condition, "between");
    const char *op = slice_is(condition, "begins_with") ? "begins"
                     : slice_is(condition, ">=") || slice_is(condition, "<=") ||
                             slice_is(condition, ">") || slice_is(condition, "<")
                         ? (const char *)draft_copy(aws->draft, condition).ptr
                         : "=";
    if (key.len == 0 || condition.len == 0 || count < (between ? 2 : 1))
        return SLICE_LIT("");
    params->used[places[0]] = true;
    if (!between)
        return draft_text(aws->draft, " where %.*s %s \"{%.*s}\"", SLICE_FMT(name), op,
                          SLICE_FMT(spare[0]));
    params->used[places[1]] = true;
    return draft_text(aws->draft, " where %.*s between \"{%.*s}\" and \"{%.*s}\"", SLICE_FMT(name),
                      SLICE_FMT(spare[0]), SLICE_FMT(spare[1]));
}

static void finish_access(struct aws *aws, const struct draft_entity *entity,
                          const struct tree *pattern, const struct params *params, struct slice via,
                          struct slice where)
{
    struct draft *draft = aws->draft;
    struct slice list = SLICE_LIT("");
    struct slice name = draft_camel(draft, tree_text(pattern, "name"));
    for (size_t i = 0; i < params->count; i++) {
        struct slice param = draft_name_text(draft, params->names[i]);
        if (params->used[i])
            list = draft_join(draft, list, ", ", param);
        else
            draft_note(draft, "the parameter %.*s of %.*s stands in no key and was dropped",
                       SLICE_FMT(param), SLICE_FMT(name));
    }
    bool one = slice_is(tree_text(pattern, "return_type"), "single_entity");
    struct slice type = draft_name_text(draft, entity->name);
    struct draft_access *access = draft_add_access(draft, aws->table, name);
    access->doc = tree_text(pattern, "description");
    access->params = list;
    access->rest =
        draft_text(draft, "%s%.*s%.*s%.*s%s", one ? "one " : "", SLICE_FMT(type), SLICE_FMT(via),
                   SLICE_FMT(where),
                   tree_true(pattern, "consistent_read") && via.len == 0 ? " consistent" : "");
}

static void read_pattern(struct aws *aws, const struct draft_entity *entity,
                         const struct tree *pattern)
{
    struct draft *draft = aws->draft;
    struct slice operation = tree_text(pattern, "operation");
    struct slice name = tree_text(pattern, "name");
    if (!slice_is(operation, "GetItem") && !slice_is(operation, "Query")) {
        if (slice_is(operation, "Scan"))
            draft_note(draft, "%.*s is a Scan, and no access pattern", SLICE_FMT(name));
        else
            aws->writes++;
        return;
    }
    struct params params;
    struct slice index_name = tree_text(pattern, "index_name");
    const struct draft_index *index = draft_index(aws->table, index_name);
    const struct draft_entry *entry = index == NULL ? NULL : entry_of(entity, index_name);
    const struct key_schema *keys = index == NULL ? &aws->table->keys : &index->keys;
    const struct slice *templates = entry != NULL ? entry->parts : entity->keys;
    read_params(tree_get(pattern, "parameters"), &params);
    if (index_name.len > 0 && entry == NULL) {
        draft_note(draft, "%.*s uses %.*s, in which %.*s has no entry", SLICE_FMT(name),
                   SLICE_FMT(index_name), SLICE_FMT(entity->name));
        return;
    }
    bool all = true;
    for (size_t i = 0; i < keys->hash_count; i++)
        all = use_fields(&params, templates[i], keys->parts[i].name) && all;
    if (!all) {
        draft_note(draft, "%.*s does not give the whole partition key and was left out",
                   SLICE_FMT(name));
        return;
    }
    for (size_t i = keys->hash_count; i < draft_parts(keys); i++)
        (void)use_fields(&params, templates[i], keys->parts[i].name);
    struct slice range = keys->range_count > 0 ? keys->parts[keys->hash_count].name : SLICE_LIT("");
    struct slice where = range_text(aws, &params, tree_text(pattern, "range_condition"), range);
    struct slice via = SLICE_LIT("");
    if (index != NULL) {
        struct slice text = draft_name_text(draft, index->name);
        via = draft_text(draft, " via %.*s", SLICE_FMT(text));
    }
    finish_access(aws, entity, pattern, &params, via, where);
}

// ---- The file -------------------------------------------------------------------------------

static void read_entity(struct aws *aws, const struct tree *source)
{
    const struct key_schema *keys = &aws->table->keys;
    struct draft_entity *entity = draft_add_entity(aws->draft, aws->table, source->name);
    entity->doc = tree_text(source, "description");
    read_fields(aws, entity, tree_get(source, "fields"));
    read_templates(aws, entity, tree_get(source, "pk_template"), keys->parts, keys->hash_count,
                   entity->keys);
    read_templates(aws, entity, tree_get(source, "sk_template"), keys->parts + keys->hash_count,
                   keys->range_count, entity->keys + keys->hash_count);
    read_entries(aws, entity, tree_get(source, "gsi_mappings"));
    import_native_keys(aws->draft, aws->table, entity);
    import_require_keys(aws->table, entity);
    const struct tree *patterns = tree_get(source, "access_patterns");
    for (const struct tree *each = tree_first(patterns); each != NULL; each = each->next)
        read_pattern(aws, entity, each);
}

// The keys' types are those of native fields.
static void type_keys(struct draft_table *table, struct key_schema *keys)
{
    for (size_t i = 0; i < draft_parts(keys); i++) {
        for (const struct draft_entity *e = table->entities; e != NULL; e = e->next) {
            const struct draft_attribute *native = draft_attribute(e, keys->parts[i].name);
            if (native != NULL &&
                (slice_is(native->type, "number") || slice_is(native->type, "integer")))
                keys->parts[i].type = VALUE_N;
        }
    }
}

bool import_aws(const struct tree *file, struct slice table, struct draft *draft, const char **why)
{
    const struct tree *list = tree_get(file, "tables");
    (void)table; // the file names its tables
    if (tree_first(list) == NULL) {
        *why = "it has no tables";
        return false;
    }
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        const struct tree *config = tree_get(each, "table_config");
        struct aws aws = {.draft = draft};
        aws.table = draft_add_table(draft, tree_text(config, "table_name"));
        if (aws.table->name.len == 0 || !read_keys(draft, config, &aws.table->keys) ||
            !read_indexes(&aws, tree_get(each, "gsi_list"))) {
            *why = "a table has no name, or a key is missing";
            return false;
        }
        const struct tree *entities = tree_get(each, "entities");
        for (const struct tree *entity = tree_first(entities); entity != NULL;
             entity = entity->next)
            read_entity(&aws, entity);
        type_keys(aws.table, &aws.table->keys);
        for (struct draft_index *index = aws.table->indexes; index != NULL; index = index->next)
            type_keys(aws.table, &index->keys);
        if (aws.writes > 0)
            draft_note(draft, "%zu patterns of %.*s write, and need no access pattern here",
                       aws.writes, SLICE_FMT(aws.table->name));
    }
    return true;
}
