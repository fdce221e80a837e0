// OneTable schemas: `indexes` (primary and others), `models` whose fields have a type and perhaps a
// value template "user#${id}", `params` (typeField, timestamps, isoDates). Fields are optional
// unless they are required or stand in the primary key.
#include "infer/import.h"
#include "infer/infer_internal.h"

#include <ctype.h>

struct onetable {
    struct draft *draft;
    struct draft_table *table;
    bool iso_dates;
};

// ---- Indexes ---------------------------------------------------------------------------------

static struct slice projection(struct draft *draft, const struct tree *index)
{
    const struct tree *project = tree_get(index, "project");
    bool list = project != NULL && project->kind == TREE_ARRAY;
    bool keys = slice_is(tree_text(index, "project"), "keys");
    return infer_projection(draft, slice_str(list ? "INCLUDE" : keys ? "KEYS_ONLY" : ""), project);
}

static void read_keys(struct draft *draft, const struct tree *index,
                      const struct key_schema *primary, struct key_schema *out)
{
    struct slice hash = tree_text(index, "hash");
    struct slice sort = tree_text(index, "sort");
    *out = (struct key_schema){.hash_count = 1};
    out->parts[0] = (struct key_part){hash.len > 0 || primary == NULL ? draft_copy(draft, hash)
                                                                      : primary->parts[0].name,
                                      VALUE_S};
    if (sort.len > 0) {
        out->range_count = 1;
        out->parts[1] = (struct key_part){draft_copy(draft, sort), VALUE_S};
    }
}

static bool read_indexes(struct onetable *one, const struct tree *indexes)
{
    const struct tree *primary = tree_get(indexes, "primary");
    if (tree_text(primary, "hash").len == 0)
        return false;
    read_keys(one->draft, primary, NULL, &one->table->keys);
    for (const struct tree *each = tree_first(indexes); each != NULL; each = each->next) {
        if (each == primary)
            continue;
        struct draft_index *index = draft_add_index(one->draft, one->table, each->name);
        index->local =
            slice_is(tree_text(each, "type"), "local") || tree_text(each, "hash").len == 0;
        read_keys(one->draft, each, &one->table->keys, &index->keys);
        index->project = projection(one->draft, each);
    }
    return true;
}

// ---- Types -----------------------------------------------------------------------------------

static struct slice field_type(struct onetable *one, const struct tree *field, struct slice name);

static struct slice object_type(struct onetable *one, const struct tree *schema, struct slice name)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "{\n");
    for (const struct tree *each = tree_first(schema); each != NULL; each = each->next) {
        struct slice type = field_type(one, each, each->name);
        buf_text(&text, "  ");
        draft_put_name(&text, each->name);
        buf_printf(&text, ": %.*s%s\n", SLICE_FMT(type), tree_true(each, "required") ? "" : "?");
    }
    buf_byte(&text, '}');
    struct slice type =
        draft_named_type(one->draft, draft_pascal(one->draft, name), buf_view(&text));
    buf_release(&text);
    return draft_name_text(one->draft, type);
}

static struct slice array_type(struct onetable *one, const struct tree *field, struct slice name)
{
    const struct tree *items = tree_get(field, "items");
    if (items == NULL)
        return SLICE_LIT("any[]");
    struct slice single =
        name.len > 1 && name.ptr[name.len - 1] == 's' ? slice_of(name.ptr, name.len - 1) : name;
    struct slice inner = field_type(one, items, single);
    bool options = memmem(inner.ptr, inner.len, " | ", 3) != NULL;
    return draft_text(one->draft, options ? "(%.*s)[]" : "%.*s[]", SLICE_FMT(inner));
}

static struct slice date_type(const struct onetable *one, const struct tree *field)
{
    if (tree_true(field, "ttl"))
        return SLICE_LIT("epoch");
    bool iso = one->iso_dates;
    if (tree_get(field, "isoDates") != NULL)
        iso = tree_true(field, "isoDates");
    return iso ? SLICE_LIT("timestamp") : SLICE_LIT("number"); // milliseconds
}

static struct slice plain_type(struct onetable *one, const struct tree *field, struct slice name)
{
    struct slice type = tree_text(field, "type");
    const struct tree *schema = tree_get(field, "schema");
    static const char *const types[][2] = {{"string", "string"},     {"number", "number"},
                                           {"boolean", "boolean"},   {"set", "set<string>"},
                                           {"buffer", "binary"},     {"binary", "binary"},
                                           {"arraybuffer", "binary"}};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (infer_same_word(type, types[i][0]))
            return slice_str(types[i][1]);
    if (type.len == 0)
        return SLICE_LIT("string");
    if (infer_same_word(type, "date"))
        return date_type(one, field);
    if (infer_same_word(type, "array"))
        return array_type(one, field, name);
    if (infer_same_word(type, "object"))
        return schema != NULL ? object_type(one, schema, name) : SLICE_LIT("object");
    draft_note(one->draft, "the type %.*s of %.*s is not known; taken as any", SLICE_FMT(type),
               SLICE_FMT(name));
    return SLICE_LIT("any");
}

static struct slice field_type(struct onetable *one, const struct tree *field, struct slice name)
{
    struct slice type = SLICE_LIT("string");
    if (field->kind == TREE_STRING || field->kind == TREE_WORD) { // items: 'string'
        struct tree bare = {.kind = TREE_STRING, .name = SLICE_LIT("type"), .text = field->text};
        struct tree object = {.kind = TREE_OBJECT, .first = &bare};
        return plain_type(one, &object, name);
    }
    if (tree_get(field, "enum") != NULL)
        type = import_choice(one->draft, tree_get(field, "enum"));
    else if (slice_is(tree_text(field, "generate"), "uuid"))
        type = SLICE_LIT("uuid");
    else
        type = plain_type(one, field, name);
    return tree_true(field, "nulls") ? draft_text(one->draft, "%.*s | null", SLICE_FMT(type))
                                     : type;
}

// ---- Fields ----------------------------------------------------------------------------------

static void add_modifier(struct draft *draft, struct draft_attribute *attribute, const char *format,
                         struct slice text)
{
    struct slice added = draft_text(draft, format, SLICE_FMT(text));
    attribute->modifiers = draft_join(draft, attribute->modifiers, " ", added);
}

static void read_default(struct onetable *one, const struct tree *field,
                         struct draft_attribute *attribute)
{
    const struct tree *given = tree_get(field, "default");
    if (given == NULL)
        return;
    bool literal = given->kind == TREE_NUMBER || slice_is(given->text, "true") ||
                   slice_is(given->text, "false");
    if (given->kind == TREE_STRING) {
        struct buf text;
        buf_init(&text, 1 << 16);
        draft_put_literal(&text, given->text);
        add_modifier(one->draft, attribute, "= \"%.*s\"", buf_view(&text));
        buf_release(&text);
    } else if (literal) {
        add_modifier(one->draft, attribute, "= %.*s", given->text);
    } else {
        attribute->optional = true;
        draft_note(one->draft, "the default of %.*s is code and was not carried over",
                   SLICE_FMT(attribute->name));
    }
}

static void read_generate(struct onetable *one, const struct tree *field,
                          struct draft_attribute *attribute)
{
    struct slice made = tree_text(field, "generate");
    if (made.len == 0)
        return;
    if (slice_is(made, "ulid") || slice_is(made, "uuid"))
        add_modifier(one->draft, attribute, "= %.*s()", made);
    else
        draft_note(one->draft, "%.*s is generated as %.*s, which the model cannot: send it",
                   SLICE_FMT(attribute->name), SLICE_FMT(made));
}

static void note_field(struct onetable *one, const struct draft_entity *entity,
                       const struct tree *field)
{
    static const char *const lost[] = {"validate",  "crypt", "scope",  "partition",
                                       "reference", "fixed", "filter", "encode"};
    for (size_t i = 0; i < COUNT_OF(lost); i++)
        if (tree_get(field, lost[i]) != NULL)
            draft_note(one->draft, "%.*s.%.*s: `%s` was not carried over", SLICE_FMT(entity->name),
                       SLICE_FMT(field->name), lost[i]);
}

static void read_field(struct onetable *one, struct draft_entity *entity, const struct tree *field)
{
    struct slice map = tree_text(field, "map");
    if (memchr(map.ptr, '.', map.len) != NULL) {
        draft_note(one->draft, "%.*s.%.*s is packed into %.*s, which the model cannot",
                   SLICE_FMT(entity->name), SLICE_FMT(field->name), SLICE_FMT(map));
        return;
    }
    struct draft_attribute *attribute = draft_attribute(entity, field->name);
    if (attribute == NULL)
        attribute = draft_add_attribute(one->draft, entity, field->name);
    if (map.len > 0)
        draft_note(one->draft, "%.*s.%.*s is stored as %.*s; the model uses the stored name",
                   SLICE_FMT(entity->name), SLICE_FMT(field->name), SLICE_FMT(map));
    attribute->type = field_type(one, field, field->name);
    attribute->optional = !tree_true(field, "required") && tree_get(field, "default") == NULL &&
                          tree_text(field, "generate").len == 0;
    if (tree_true(field, "unique"))
        add_modifier(one->draft, attribute, "unique%.*s", SLICE_LIT(""));
    if (tree_true(field, "readonly"))
        add_modifier(one->draft, attribute, "immutable%.*s", SLICE_LIT(""));
    if (tree_true(field, "ttl"))
        one->table->ttl = field->name;
    read_default(one, field, attribute);
    read_generate(one, field, attribute);
    note_field(one, entity, field);
}

// ---- Models ----------------------------------------------------------------------------------

// The template of a key attribute, or ptr NULL.
static struct slice key_template(struct onetable *one, struct draft_entity *entity,
                                 const struct tree *model, struct slice key)
{
    struct slice value = tree_text(tree_member(model, key), "value");
    return value.len == 0 ? VALUE_NONE : import_template(one->draft, entity, value, "${");
}

static void read_entries(struct onetable *one, struct draft_entity *entity,
                         const struct tree *model)
{
    for (struct draft_index *index = one->table->indexes; index != NULL; index = index->next) {
        size_t count = draft_parts(&index->keys);
        bool there = true;
        for (size_t i = 0; i < count; i++)
            there = there && tree_member(model, index->keys.parts[i].name) != NULL;
        if (!there)
            continue;
        struct draft_entry *entry = draft_add_entry(one->draft, entity, index->name);
        entry->count = count;
        for (size_t i = 0; i < count; i++) {
            struct slice name = index->keys.parts[i].name;
            bool primary = draft_schema_has(&one->table->keys, name);
            entry->parts[i] = primary ? VALUE_NONE : key_template(one, entity, model, name);
        }
    }
}

static bool is_template(const struct tree *field)
{
    return slice_contains(tree_text(field, "value"), SLICE_LIT("${"));
}

// A value of several attributes that is no key: it follows them.
static void read_computed(struct onetable *one, struct draft_entity *entity,
                          const struct tree *field)
{
    struct slice template = import_template(one->draft, entity, tree_text(field, "value"), "${");
    struct draft_attribute *attribute = draft_attribute(entity, field->name);
    if (attribute == NULL)
        attribute = draft_add_attribute(one->draft, entity, field->name);
    attribute->optional = true;
    add_modifier(one->draft, attribute, "= \"%.*s\" on update", template);
}

// The attributes a mapped field is stored as get their stored names, in templates, too.
static void rename_mapped(struct onetable *one, struct draft_entity *entity,
                          const struct tree *model)
{
    for (const struct tree *field = tree_first(model); field != NULL; field = field->next) {
        struct slice map = tree_text(field, "map");
        struct draft_attribute *attribute = draft_attribute(entity, field->name);
        if (map.len == 0 || attribute == NULL || memchr(map.ptr, '.', map.len) != NULL)
            continue;
        if (infer_template_has(entity->keys[0], field->name) ||
            infer_template_has(entity->keys[1], field->name))
            draft_note(one->draft, "%.*s.%.*s stands in a key and keeps its name",
                       SLICE_FMT(entity->name), SLICE_FMT(field->name));
        else
            attribute->name = draft_copy(one->draft, map);
    }
}

// A time that OneTable itself sets. As milliseconds it is nothing that the model could make.
static void add_time(struct onetable *one, struct draft_entity *entity, struct slice name,
                     const char *when)
{
    if (draft_attribute(entity, name) != NULL)
        return;
    struct draft_attribute *attribute = draft_add_attribute(one->draft, entity, name);
    attribute->type = one->iso_dates ? SLICE_LIT("timestamp") : SLICE_LIT("number");
    attribute->optional = !one->iso_dates;
    if (one->iso_dates)
        add_modifier(one->draft, attribute, "= now()%.*s", slice_str(when));
}

static void add_timestamps(struct onetable *one, struct draft_entity *entity,
                           const struct tree *params)
{
    struct slice wanted = tree_text(params, "timestamps");
    struct slice created = tree_text(params, "createdField");
    struct slice updated = tree_text(params, "updatedField");
    bool both = slice_is(wanted, "true");
    if (created.len == 0)
        created = SLICE_LIT("createdAt");
    if (updated.len == 0)
        updated = SLICE_LIT("updatedAt");
    if (both || slice_is(wanted, "create"))
        add_time(one, entity, created, "");
    if (both || slice_is(wanted, "update"))
        add_time(one, entity, updated, " on update");
}

static void read_model(struct onetable *one, struct draft_entity *entity, const struct tree *model,
                       const struct tree *params)
{
    struct slice type_field = one->table->type_attribute;
    for (const struct tree *field = tree_first(model); field != NULL; field = field->next) {
        bool value = tree_text(field, "value").len > 0;
        if (slice_equal(field->name, type_field) ||
            (draft_is_key(one->table, field->name) && value))
            continue;
        if (!is_template(field))
            read_field(one, entity, field);
    }
    const struct key_schema *keys = &one->table->keys;
    for (size_t i = 0; i < draft_parts(keys); i++)
        entity->keys[i] = key_template(one, entity, model, keys->parts[i].name);
    read_entries(one, entity, model);
    for (const struct tree *field = tree_first(model); field != NULL; field = field->next) {
        if (!draft_is_key(one->table, field->name) && is_template(field))
            read_computed(one, entity, field);
    }
    add_timestamps(one, entity, params);
    import_native_keys(one->draft, one->table, entity);
    import_require_keys(one->table, entity);
    rename_mapped(one, entity, model);
}

bool import_onetable(const struct tree *file, struct slice table, struct draft *draft,
                     const char **why)
{
    const struct tree *models = tree_get(file, "models");
    const struct tree *params = tree_get(file, "params");
    struct slice name = tree_text(file, "name");
    if (table.len > 0)
        name = table;
    if (name.len == 0) {
        *why = "a OneTable schema does not name its table; name it with --table";
        return false;
    }
    struct onetable one = {.draft = draft, .iso_dates = tree_true(params, "isoDates")};
    one.table = draft_add_table(draft, name);
    if (models == NULL || !read_indexes(&one, tree_get(file, "indexes"))) {
        *why = "it has no models, or no primary index";
        return false;
    }
    struct slice type_field = tree_text(params, "typeField");
    one.table->type_attribute = type_field.len > 0 ? type_field : SLICE_LIT("_type");
    if (tree_get(params, "isoDates") == NULL)
        draft_note(draft, "params.isoDates is not set: dates are numbers of milliseconds");
    for (const struct tree *model = tree_first(models); model != NULL; model = model->next) {
        struct draft_entity *entity = draft_add_entity(draft, one.table, model->name);
        read_model(&one, entity, model, params);
        infer_patterns(draft, one.table, entity);
    }
    return true;
}
