// An entity in TypeScript: its interface, what creating and changing it takes, and its `Kind`, from
// which the client completes items.
#include "generate/typescript.h"

#include "eval/eval.h"
#include "eval/template.h"
#include "eval/validate.h"
#include "guard/projected.h"
#include "model/rules.h"

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
    return !attribute->optional && !typescript_read_only(attribute) &&
           (attribute->otherwise != NULL || attribute->version);
}

static bool input_fixed(const struct model_entity *entity, const struct model_attribute *attribute)
{
    return attribute->immutable || attribute->version || typescript_read_only(attribute) ||
           in_keys(entity, attribute);
}

static bool input_none(const struct model_entity *entity, const struct model_attribute *attribute)
{
    (void)entity;
    return typescript_read_only(attribute);
}

// "a" | "b": the names for which the test holds; never if there are none.
typedef bool entity_test(const struct model_entity *, const struct model_attribute *);

static struct slice names_of(struct typescript *ts, const struct model_entity *entity,
                             entity_test *test)
{
    struct buf names;
    buf_init(&names, LIMIT_MODEL_FILE);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (test(entity, &entity->attributes[i]))
            text_format(&names, names.len == 0 ? "%q" : " | %q", 1, &entity->attributes[i].name);
    }
    return text_keep(ts->w, &names);
}

static void entity_alias(struct typescript *ts, const struct model_entity *entity,
                         struct slice whole, const char *format, entity_test *test)
{
    struct slice names = names_of(ts, entity, test);
    text_format(ts->w->out, format, 2, (struct slice[]){typescript_entity(ts, entity), whole});
    PUT(ts->w, "%s>;\n", names.len == 0 ? SLICE_LIT("never") : names);
}

void typescript_entity_types(struct typescript *ts, const struct model_entity *entity)
{
    struct slice name = typescript_entity(ts, entity);
    struct slice kept = names_of(ts, entity, input_none);
    struct slice given = kept.len == 0 ? name : TEXT(ts->w, "Omit<%s, %s>", name, kept);
    buf_byte(ts->w->out, '\n');
    typescript_doc(ts, "", entity->doc);
    PUT(ts->w, "export interface %s {\n", name);
    for (size_t i = 0; i < entity->attribute_count; i++)
        typescript_attribute(ts, &entity->attributes[i]);
    buf_text(ts->w->out, "}\n");
    entity_alias(ts, entity, given,
                 "\n/** What creating it takes: what has a default may be left out. */\n"
                 "export type %sInput = Defaulted<%s, ",
                 input_default);
    entity_alias(ts, entity, name,
                 "\n/** What its primary key is made of. */\nexport type %sKey = Pick<%s, ",
                 in_keys);
    entity_alias(ts, entity, name,
                 "\n/** What may change. */\nexport type %sChanges = Changed<%s, ", input_fixed);
}

// What the data API shows in $objects.
void typescript_entity_objects(struct typescript *ts, const struct model_entity *entity)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    bool any = false;
    for (size_t i = 0; i < rules->object_count; i++) {
        const struct model_object *object = &rules->objects[i];
        if (object->entity != entity)
            continue;
        if (!any)
            PUT(ts->w,
                "\n/** Links to its objects, as the data API has them in `$objects`. */\n"
                "export interface %sObjects {\n",
                typescript_entity(ts, entity));
        any = true;
        PUT(ts->w, "  %s?: %s;\n", typescript_member(ts, object->name),
            slice_str(object->each == NULL ? "string" : "(string | null)[]"));
    }
    if (any)
        buf_text(ts->w->out, "}\n");
}

// ---- Keys ------------------------------------------------------------------------------------

static struct slice key_object(struct typescript *ts, const struct model_key_part *parts,
                               size_t count, const struct model_test *when)
{
    struct slice list = {NULL, 0};
    ts->item = false;
    for (size_t i = 0; i < count; i++) {
        struct slice value;
        if (parts[i].template != NULL) {
            value = typescript_template(ts, parts[i].template, NULL);
        } else {
            value = TEXT(ts->w, "item%s", typescript_dot(ts, parts[i].name));
            ts->item = true;
        }
        text_add(ts->w, &list, ", ",
                 TEXT(ts->w, "%s: %s", typescript_member(ts, parts[i].name), value));
    }
    if (when != NULL)
        return TEXT(ts->w, "(item) => (%s ? { %s } : {})", typescript_test(ts, when, false), list);
    return TEXT(ts->w, ts->item ? "(item) => ({ %s })" : "() => ({ %s })", list);
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

// A regular expression of a template; empty if everything fits. A field is any text ([^] takes line
// breaks, too), as short as will do, and never empty: nothing makes no key.
static struct slice part_pattern(struct typescript *ts, const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    struct buf out;
    if (template == NULL || template->bare)
        return SLICE_LIT("");
    buf_init(&out, 64 << 10);
    buf_text(&out, "/^");
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr == NULL)
            regex_literal(&out, template->segments[i].literal);
        else
            buf_text(&out, "[^]+?");
    }
    buf_text(&out, "$/");
    return text_keep(ts->w, &out);
}

static struct slice fits(struct typescript *ts, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    struct slice tests = {NULL, 0};
    if (table->type_attribute.len > 0)
        tests = TEXT(ts->w, "(item%s ?? %q) === %q", typescript_dot(ts, table->type_attribute),
                     entity->type_value, entity->type_value);
    for (size_t i = 0; i < keys_count(&table->keys); i++) {
        struct slice pattern = part_pattern(ts, &entity->keys[i]);
        if (pattern.len > 0)
            text_add(ts->w, &tests, " && ",
                     TEXT(ts->w, "%s.test(String(item%s))", pattern,
                          typescript_dot(ts, entity->keys[i].name)));
    }
    return tests.len > 0 ? tests : SLICE_LIT("item !== undefined");
}

// ---- What keys tell --------------------------------------------------------------------------

static bool is_read_in_part(const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->table->access_count; i++) {
        const struct model_access *access = &entity->table->accesses[i];
        for (size_t k = 0; model_access_partial(access) && k < access->entity_count; k++) {
            if (access->entities[k] == entity)
                return true;
        }
    }
    return false;
}

// ["name", "number"], or null if the field tells no attribute.
static struct slice told_field(struct typescript *ts, const struct model_segment *segment)
{
    const struct model_expr *path = model_segment_path(segment);
    const struct model_expr *expr = segment->expr;
    if (!model_segment_tells(segment) || path->step_count != 1 || path->attribute == NULL)
        return SLICE_LIT("null");
    const struct model_type *type = path->attribute->type;
    bool escaped = expr->kind == MODEL_EXPR_CALL && expr->function == MODEL_FN_ESCAPE;
    // A text first, as the server reads it: what may be both was written as one.
    return TEXT(ts->w, "[%q, \"%s\"]", path->attribute->name,
                slice_str(escaped                            ? "escaped"
                          : model_type_stores(type, VALUE_S) ? "text"
                          : model_type_stores(type, VALUE_N) ? "number"
                                                             : "boolean"));
}

// Fields without a text between them are one, which nobody can read.
static void told_part(struct typescript *ts, const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    struct slice literals = {NULL, 0};
    struct slice fields = {NULL, 0};
    struct slice literal = SLICE_LIT("");
    if (template == NULL)
        return;
    if (template->bare) {
        PUT(ts->w, "    [%q, [], [[%q, \"value\"]]],\n", part->name,
            template->segments[0].expr->steps[0]);
        return;
    }
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        bool alone = (i == 0 || segment[-1].expr == NULL) &&
                     (i + 1 == template->segment_count || segment[1].expr == NULL);
        if (segment->expr == NULL) {
            literal = segment->literal;
        } else if (i == 0 || segment[-1].expr == NULL) {
            text_add(ts->w, &literals, ", ", TEXT(ts->w, "%q", literal));
            text_add(ts->w, &fields, ", ", alone ? told_field(ts, segment) : SLICE_LIT("null"));
            literal = SLICE_LIT("");
        }
    }
    text_add(ts->w, &literals, ", ", TEXT(ts->w, "%q", literal));
    if (fields.len > 0)
        PUT(ts->w, "    [%q, [%s], [%s]],\n", part->name, literals, fields);
}

static void told(struct typescript *ts, const struct model_entity *entity)
{
    if (!is_read_in_part(entity))
        return;
    buf_text(ts->w->out, "  told: [\n");
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++)
        told_part(ts, &entity->keys[i]);
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        for (size_t k = 0; entry_is_made(entity, entry) && k < keys_count(&entry->index->keys); k++)
            told_part(ts, &entry->parts[k]);
    }
    buf_text(ts->w->out, "  ],\n");
}

// ---- The rest --------------------------------------------------------------------------------

// The attributes of which entries are made, but for those of the primary key, which does not
// change, and the version: a new one says more than an old time.
static struct slice sources(struct typescript *ts, const struct model_entity *entity)
{
    struct fields all = {0};
    struct fields keys = {0};
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (!entry_is_made(entity, &entity->entries[i]))
            continue;
        fields_of_entry(&all, entity, &entity->entries[i]);
        if (entity->entries[i].when != NULL)
            fields_of_test(&all, entity->entries[i].when);
    }
    fields_of_keys(&keys, entity);
    for (size_t i = 0; i < all.count; i++) {
        if (!fields_have(&keys, all.list[i]) && !all.list[i]->version)
            text_add(ts->w, &names, ", ", TEXT(ts->w, "%q", all.list[i]->name));
    }
    return names;
}

static void normal_form(struct typescript *ts, const struct model_attribute *attribute)
{
    if (attribute->normal != 0)
        PUT(ts->w, "    [%q, (value) => (typeof value !== \"string\" ? value : %s)],\n",
            attribute->name, typescript_normal(ts, attribute->normal, SLICE_LIT("value")));
    else if (typescript_nested_needed(attribute->type, 0))
        PUT(ts->w, "    [%q, (value, item, now, put) => %s],\n", attribute->name,
            typescript_nested(ts, attribute->type));
}

static void default_value(struct typescript *ts, const struct model_attribute *attribute)
{
    const struct model_expr *expr = attribute->otherwise;
    if (expr == NULL || attribute->version || attribute->counted)
        return;
    ts->item = false;
    ts->now = false;
    struct slice value = typescript_expr(ts, expr, model_kind_wanted(attribute->type), NULL);
    if (expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_M)
        value = SLICE_LIT("({})"); // without parentheses it would be an empty body
    PUT(ts->w, "    [%q, %s => %s, %s],\n", attribute->name,
        slice_str(ts->now    ? "(item, now)"
                  : ts->item ? "(item)"
                             : "()"),
        typescript_normal(ts, attribute->normal, value),
        slice_str(attribute->optional && !attribute->on_update && !attribute->always ? "true"
                                                                                     : "false"));
}

static bool is_renewed(const struct model_attribute *attribute)
{
    return attribute->on_update && attribute->otherwise != NULL;
}

static bool is_computed(const struct model_attribute *attribute)
{
    return attribute->always;
}

static bool is_counted(const struct model_attribute *attribute)
{
    return attribute->counted;
}

static bool is_immutable(const struct model_attribute *attribute)
{
    return attribute->immutable;
}

static void marked(struct typescript *ts, const struct model_entity *entity, const char *what,
                   bool (*test)(const struct model_attribute *))
{
    size_t count = 0;
    PUT(ts->w, "  %s: [", slice_str(what));
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (test(&entity->attributes[i]))
            PUT(ts->w, count++ == 0 ? "%q" : ", %q", entity->attributes[i].name);
    }
    buf_text(ts->w->out, "],\n");
}

static void key_function(struct typescript *ts, const struct model_entity *entity)
{
    const struct key_schema *keys = &entity->table->keys;
    struct slice name = typescript_entity(ts, entity);
    struct slice members = {NULL, 0};
    for (size_t i = 0; i < keys_count(keys); i++)
        text_add(ts->w, &members, "; ",
                 TEXT(ts->w, "%s: %s", typescript_member(ts, keys->parts[i].name),
                      slice_str(keys->parts[i].type == VALUE_N   ? "number"
                                : keys->parts[i].type == VALUE_B ? "Uint8Array"
                                                                 : "string")));
    PUT(ts->w,
        "\n/** The primary key of %s. */\nexport function keyOf%s(key: %sKey): { %s } {\n"
        "  return keyOf(kindOf%s, key) as ReturnType<typeof keyOf%s>;\n}\n",
        entity->name, name, name, members, name, name);
}

static struct slice name_list(struct typescript *ts, size_t count, const struct slice *names)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        text_add(ts->w, &list, ", ", TEXT(ts->w, "%q", names[i]));
    return list;
}

static void kind_keys(struct typescript *ts, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    struct slice derived[DERIVED_MAX];
    if (table->type_attribute.len > 0)
        PUT(ts->w, "  type: [%q, %q],\n", table->type_attribute, entity->type_value);
    PUT(ts->w, "  fits: (item) => %s,\n  keys: %s,\n  entries: [\n", fits(ts, entity),
        key_object(ts, entity->keys, keys_count(&table->keys), NULL));
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (entry_is_made(entity, entry))
            PUT(ts->w, "    %s,\n",
                key_object(ts, entry->parts, keys_count(&entry->index->keys), entry->when));
    }
    PUT(ts->w, "  ],\n  derived: [%s],\n  sources: [%s],\n",
        name_list(ts, derived_names(entity, derived), derived), sources(ts, entity));
}

void typescript_entity_kind(struct typescript *ts, const struct model_entity *entity)
{
    struct slice name = typescript_entity(ts, entity);
    struct slice primary[] = {entity->keys[0].name, entity->keys[1].name};
    PUT(ts->w, "\nconst kindOf%s: Kind<%s> = {\n  name: %q,\n  primary: [%s],\n", name, name,
        entity->name, name_list(ts, keys_count(&entity->table->keys), primary));
    kind_keys(ts, entity);
    buf_text(ts->w->out, "  normal: [\n");
    for (size_t i = 0; i < entity->attribute_count; i++)
        normal_form(ts, &entity->attributes[i]);
    buf_text(ts->w->out, "  ],\n  defaults: [\n");
    for (size_t i = 0; i < entity->attribute_count; i++)
        default_value(ts, &entity->attributes[i]);
    buf_text(ts->w->out, "  ],\n");
    marked(ts, entity, "renewed", is_renewed);
    marked(ts, entity, "immutable", is_immutable);
    marked(ts, entity, "computed", is_computed);
    marked(ts, entity, "counted", is_counted);
    size_t version = 0;
    while (version < entity->attribute_count && !entity->attributes[version].version)
        version++;
    if (version < entity->attribute_count)
        PUT(ts->w, "  version: %q,\n", entity->attributes[version].name);
    typescript_rules(ts, entity);
    told(ts, entity);
    buf_text(ts->w->out, "};\n");
    key_function(ts, entity);
}
