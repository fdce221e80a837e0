// An entity in TypeScript: its interface, what creating and changing it takes, and its `Kind`, from
// which the client completes items.
#include "generate/typescript.h"

#include "guard/eval.h"

// ---- Types -----------------------------------------------------------------------------------

static bool in_keys(const struct model_entity *entity, const struct model_attribute *attribute)
{
    struct fields keys = {0};
    fields_of_keys(&keys, entity);
    return fields_have(&keys, attribute);
}

// What a caller of create may leave out although every item has it.
static bool input_default(const struct model_entity *entity,
                          const struct model_attribute *attribute)
{
    (void)entity;
    return !attribute->optional && (attribute->otherwise != NULL || attribute->version);
}

static bool input_fixed(const struct model_entity *entity, const struct model_attribute *attribute)
{
    return attribute->immutable || attribute->version || in_keys(entity, attribute);
}

static bool input_key(const struct model_entity *entity, const struct model_attribute *attribute)
{
    return in_keys(entity, attribute);
}

// "a" | "b": the names for which the test holds; never if there are none.
static void name_union(struct typescript *ts, const struct model_entity *entity,
                       bool (*test)(const struct model_entity *, const struct model_attribute *))
{
    size_t count = 0;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (!test(entity, &entity->attributes[i]))
            continue;
        buf_text(ts->out, count++ == 0 ? "" : " | ");
        text_quoted(ts->out, entity->attributes[i].name);
    }
    if (count == 0)
        buf_text(ts->out, "never");
}

static void entity_alias(struct typescript *ts, const struct model_entity *entity,
                         const char *comment, const char *suffix, const char *operator,
                         bool (*test)(const struct model_entity *, const struct model_attribute *))
{
    buf_printf(ts->out, "\n/** %s */\nexport type ", comment);
    typescript_entity(ts->out, entity);
    buf_printf(ts->out, "%s = %s<", suffix, operator);
    typescript_entity(ts->out, entity);
    buf_text(ts->out, ", ");
    name_union(ts, entity, test);
    buf_text(ts->out, ">;\n");
}

void typescript_entity_types(struct typescript *ts, const struct model_entity *entity)
{
    buf_byte(ts->out, '\n');
    typescript_doc(ts, "", entity->doc);
    buf_text(ts->out, "export interface ");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, " {\n");
    for (size_t i = 0; i < entity->attribute_count; i++)
        typescript_attribute(ts, &entity->attributes[i]);
    buf_text(ts->out, "}\n");
    entity_alias(ts, entity, "What creating it takes: what has a default may be left out.", "Input",
                 "Defaulted", input_default);
    entity_alias(ts, entity, "What its primary key is made of.", "Key", "Pick", input_key);
    entity_alias(ts, entity, "What may change.", "Changes", "Changed", input_fixed);
}

// ---- Keys ------------------------------------------------------------------------------------

static void part_value(struct typescript *ts, const struct model_key_part *part)
{
    typescript_member(ts->out, part->name);
    buf_text(ts->out, ": ");
    if (part->template != NULL) {
        typescript_template(ts, part->template, NULL);
        return;
    }
    buf_text(ts->out, "item");
    typescript_dot(ts->out, part->name);
}

static bool uses_item(const struct model_key_part *parts, size_t count,
                      const struct model_entity *entity)
{
    struct fields fields = {0};
    for (size_t i = 0; i < count; i++)
        fields_of_part(&fields, entity, &parts[i]);
    return fields.count > 0;
}

static void key_object(struct typescript *ts, const struct model_entity *entity,
                       const struct model_key_part *parts, size_t count)
{
    buf_text(ts->out, uses_item(parts, count, entity) ? "(item) => ({ " : "() => ({ ");
    for (size_t i = 0; i < count; i++) {
        buf_text(ts->out, i == 0 ? "" : ", ");
        part_value(ts, &parts[i]);
    }
    buf_text(ts->out, " })");
}

// Whether all parts that have no template are attributes of the entity, and one has a template.
static bool entry_made(const struct model_entity *entity, const struct model_entry *entry)
{
    bool made = false;
    for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
        const struct model_key_part *part = &entry->parts[i];
        if (part->template == NULL && !part_is_native(entity, part))
            return false;
        made = made || part_is_made(entity, part);
    }
    return made;
}

static void entries(struct typescript *ts, const struct model_entity *entity)
{
    buf_text(ts->out, "  entries: [\n");
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (!entry_made(entity, entry))
            continue;
        buf_text(ts->out, "    ");
        key_object(ts, entity, entry->parts, keys_count(&entry->index->keys));
        buf_text(ts->out, ",\n");
    }
    buf_text(ts->out, "  ],\n");
}

// ---- How items are told apart ----------------------------------------------------------------

static void regex_literal(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '\n') {
            buf_text(out, "\\n");
            continue;
        }
        if (memchr("\\^$.|?*+()[]{}/", c, 15) != NULL)
            buf_byte(out, '\\');
        buf_byte(out, c);
    }
}

// A regular expression of a template; false if everything fits.
static bool part_pattern(struct buf *out, const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    if (template == NULL || template->bare)
        return false;
    buf_text(out, "/^");
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr == NULL)
            regex_literal(out, template->segments[i].literal);
        else
            buf_text(out, "[^]+?");
    }
    buf_text(out, "$/");
    return true;
}

static void fits(struct typescript *ts, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    size_t tests = 0;
    buf_text(ts->out, "  fits: (item) => ");
    if (table->type_attribute.len > 0) {
        buf_text(ts->out, "(item");
        typescript_dot(ts->out, table->type_attribute);
        buf_text(ts->out, " ?? ");
        text_quoted(ts->out, entity->type_value);
        buf_text(ts->out, ") === ");
        text_quoted(ts->out, entity->type_value);
        tests++;
    }
    for (size_t i = 0; i < keys_count(&table->keys); i++) {
        struct buf pattern;
        buf_init(&pattern, 64 << 10);
        if (part_pattern(&pattern, &entity->keys[i])) {
            buf_text(ts->out, tests++ == 0 ? "" : " && ");
            buf_slice(ts->out, buf_view(&pattern));
            buf_text(ts->out, ".test(String(item");
            typescript_dot(ts->out, entity->keys[i].name);
            buf_text(ts->out, "))");
        }
        buf_release(&pattern);
    }
    if (tests == 0)
        buf_text(ts->out, "item !== undefined");
    buf_text(ts->out, ",\n");
}

// ---- The rest --------------------------------------------------------------------------------

struct name_list {
    struct buf *out;
    size_t count;
};

static void add_name(void *context, struct slice name)
{
    struct name_list *list = context;
    buf_text(list->out, list->count++ == 0 ? "" : ", ");
    text_quoted(list->out, name);
}

static void sources(struct typescript *ts, const struct model_entity *entity)
{
    struct fields all = {0};
    struct fields keys = {0};
    struct name_list list = {ts->out, 0};
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (entry_made(entity, &entity->entries[i]))
            fields_of_entry(&all, entity, &entity->entries[i]);
    }
    fields_of_keys(&keys, entity);
    buf_text(ts->out, "  sources: [");
    for (size_t i = 0; i < all.count; i++) {
        // The primary key does not change, and a new version says more than an old time.
        if (!fields_have(&keys, all.list[i]) && !all.list[i]->version)
            add_name(&list, all.list[i]->name);
    }
    buf_text(ts->out, "],\n");
}

static void normal_forms(struct typescript *ts, const struct model_entity *entity)
{
    buf_text(ts->out, "  normal: [\n");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        bool nested = typescript_nested_needed(attribute->type, 0);
        if (attribute->normal == 0 && !nested)
            continue;
        buf_text(ts->out, "    [");
        text_quoted(ts->out, attribute->name);
        if (attribute->normal != 0) {
            buf_text(ts->out, ", (value) => (typeof value !== \"string\" ? value : ");
            size_t open = typescript_normal(ts, attribute->normal);
            buf_text(ts->out, "value");
            while (open-- > 0)
                buf_byte(ts->out, ')');
            buf_byte(ts->out, ')');
        } else {
            buf_text(ts->out, ", (value, item, now, put) => ");
            typescript_nested(ts, attribute->type);
        }
        buf_text(ts->out, "],\n");
    }
    buf_text(ts->out, "  ],\n");
}

static void defaults(struct typescript *ts, const struct model_entity *entity)
{
    buf_text(ts->out, "  defaults: [\n");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->otherwise == NULL || attribute->version)
            continue;
        struct fields needed = {0};
        fields_of_expr(&needed, attribute->otherwise);
        bool now =
            (uses_of_expr(attribute->otherwise) & (1U << MODEL_FN_NOW | 1U << MODEL_FN_ULID)) != 0;
        buf_text(ts->out, "    [");
        text_quoted(ts->out, attribute->name);
        buf_text(ts->out, now                ? ", (item, now) => "
                          : needed.count > 0 ? ", (item) => "
                                             : ", () => ");
        size_t open = typescript_normal(ts, attribute->normal);
        bool braces = attribute->otherwise->kind == MODEL_EXPR_VALUE &&
                      value_type(attribute->otherwise->value) == VALUE_M;
        buf_text(ts->out, braces ? "(" : "");
        typescript_expr(ts, attribute->otherwise, model_kind_wanted(attribute->type), NULL);
        buf_text(ts->out, braces ? ")" : "");
        while (open-- > 0)
            buf_byte(ts->out, ')');
        buf_printf(ts->out, ", %s],\n",
                   attribute->optional && !attribute->on_update ? "true" : "false");
    }
    buf_text(ts->out, "  ],\n");
}

static void marked(struct typescript *ts, const struct model_entity *entity)
{
    struct name_list list = {ts->out, 0};
    buf_text(ts->out, "  renewed: [");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].on_update && entity->attributes[i].otherwise != NULL)
            add_name(&list, entity->attributes[i].name);
    }
    list.count = 0;
    buf_text(ts->out, "],\n  immutable: [");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].immutable)
            add_name(&list, entity->attributes[i].name);
    }
    buf_text(ts->out, "],\n");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (!entity->attributes[i].version)
            continue;
        buf_text(ts->out, "  version: ");
        text_quoted(ts->out, entity->attributes[i].name);
        buf_text(ts->out, ",\n");
        break;
    }
}

static void kind_name(struct typescript *ts, const struct model_entity *entity)
{
    buf_text(ts->out, "kindOf");
    typescript_entity(ts->out, entity);
}

static void key_function(struct typescript *ts, const struct model_entity *entity)
{
    const struct key_schema *keys = &entity->table->keys;
    buf_text(ts->out, "\n/** The primary key of ");
    buf_slice(ts->out, entity->name);
    buf_text(ts->out, ". */\nexport function keyOf");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, "(key: ");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, "Key): { ");
    for (size_t i = 0; i < keys_count(keys); i++) {
        buf_text(ts->out, i == 0 ? "" : "; ");
        typescript_member(ts->out, keys->parts[i].name);
        buf_printf(ts->out, ": %s",
                   keys->parts[i].type == VALUE_N   ? "number"
                   : keys->parts[i].type == VALUE_B ? "Uint8Array"
                                                    : "string");
    }
    buf_text(ts->out, " } {\n  return keyOf(");
    kind_name(ts, entity);
    buf_text(ts->out, ", key) as ReturnType<typeof keyOf");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, ">;\n}\n");
}

void typescript_entity_kind(struct typescript *ts, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    struct name_list list = {ts->out, 0};
    buf_text(ts->out, "\nconst ");
    kind_name(ts, entity);
    buf_text(ts->out, ": Kind<");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, "> = {\n  name: ");
    text_quoted(ts->out, entity->name);
    buf_text(ts->out, ",\n  primary: [");
    for (size_t i = 0; i < keys_count(&table->keys); i++)
        add_name(&list, table->keys.parts[i].name);
    buf_text(ts->out, "],\n");
    if (table->type_attribute.len > 0) {
        buf_text(ts->out, "  type: [");
        text_quoted(ts->out, table->type_attribute);
        buf_text(ts->out, ", ");
        text_quoted(ts->out, entity->type_value);
        buf_text(ts->out, "],\n");
    }
    fits(ts, entity);
    buf_text(ts->out, "  keys: ");
    key_object(ts, entity, entity->keys, keys_count(&table->keys));
    buf_text(ts->out, ",\n");
    entries(ts, entity);
    list.count = 0;
    buf_text(ts->out, "  derived: [");
    derived_names(entity, add_name, &list);
    buf_text(ts->out, "],\n");
    sources(ts, entity);
    normal_forms(ts, entity);
    defaults(ts, entity);
    marked(ts, entity);
    buf_text(ts->out, "};\n");
    key_function(ts, entity);
}
