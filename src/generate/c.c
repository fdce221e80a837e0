// `dolmen generate c`: a header and a source. An entity is a struct; it is read from and written to
// DynamoDB JSON, its keys are made of it, and it is put, got and deleted through dolmen.h.
#include "generate/c.h"

// A section of a file, with the names of the model and, if there is one, of the entity.
static void section(struct c_file *c, const char *file, const char *name,
                    const struct model_entity *entity)
{
    const struct runtime_word words[] = {
        {"PREFIX", c->prefix},
        {"KEYS", c->keys},
        {"UPPER", text_upper(c->w, c->prefix)},
        {entity == NULL ? NULL : "ENTITY", c_entity_name(c, entity)},
        {"\"TABLE\"", entity == NULL ? c->prefix : c_string(c, entity->table->name)},
        {NULL, {NULL, 0}}};
    runtime_write(c->w->out, file, name, words);
}

// ---- Attributes ------------------------------------------------------------------------------

static void normal_form(struct c_file *c, const struct model_attribute *attribute)
{
    struct slice member = c_member(c, attribute);
    struct slice text = TEXT(c->w, "item->%s", member);
    if (attribute->normal == 0 || c_kind(attribute->type) != C_TEXT)
        return;
    if ((attribute->normal & MODEL_TRIM) != 0)
        text = TEXT(c->w, "trim(memory, %s)", text);
    if ((attribute->normal & MODEL_UPPER) != 0)
        text = TEXT(c->w, "upper(memory, %s)", text);
    if ((attribute->normal & MODEL_LOWER) != 0)
        text = TEXT(c->w, "lower(memory, %s)", text);
    if ((attribute->normal & MODEL_TIMES) != 0)
        text = TEXT(c->w,
                    (attribute->normal & MODEL_SECONDS) != 0        ? "utc(memory, %s, 0)"
                    : (attribute->normal & MODEL_MILLISECONDS) != 0 ? "utc(memory, %s, 3)"
                                                                    : "utc(memory, %s, 6)",
                    text);
    PUT(c->w, "    item->%s = %s;\n", member, text);
}

static void complete_function(struct c_file *c, const struct model_entity *entity)
{
    section(c, runtime_entity_c, "complete", entity);
    for (size_t i = 0; i < entity->attribute_count; i++)
        normal_form(c, &entity->attributes[i]);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].otherwise != NULL && !c_is_kept(&entity->attributes[i]))
            c_default(c, &entity->attributes[i]);
    }
    buf_text(c->w->out, "}\n");
}

// ---- Keys ------------------------------------------------------------------------------------

static struct slice part_text(struct c_file *c, const struct model_entity *entity,
                              const struct model_key_part *part)
{
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    if (part->template != NULL)
        return c_template(c, part->template);
    if (native == NULL)
        return SLICE_LIT("NULL");
    struct model_expr path = {
        .kind = MODEL_EXPR_PATH, .step_count = 1, .steps = &native->name, .attribute = native};
    return c_text(c, &path);
}

static struct slice add_key(struct c_file *c, const struct model_entity *entity,
                            const struct model_key_part *part, enum value_type type)
{
    return TEXT(c->w, "add_key(out, any, %s, \"%s\", %s)", c_string(c, part->name),
                slice_str(value_type_name(type)), part_text(c, entity, part));
}

// add_key(…) && …: false if one of the parts is missing. Native key attributes are among the fields
// of an item already.
static void key_function(struct c_file *c, const struct model_entity *entity, bool native)
{
    const struct key_schema *keys = &entity->table->keys;
    struct slice parts = {NULL, 0};
    c->keys = native ? SLICE_LIT("primary") : SLICE_LIT("made");
    section(c, runtime_entity_c, "keys", entity);
    for (size_t i = 0; i < keys_count(keys); i++) {
        if (native || !part_is_native(entity, &entity->keys[i]))
            text_add(c->w, &parts, " &&\n        ",
                     add_key(c, entity, &entity->keys[i], keys->parts[i].type));
    }
    PUT(c->w, "    return %s;\n}\n", parts.len > 0 ? parts : SLICE_LIT("true"));
}

// Whether the entry depends on the item as it is here: what the server keeps, and conditions, are
// its business.
static bool is_ours(const struct model_entity *entity, const struct model_entry *entry)
{
    struct fields fields = {0};
    fields_of_entry(&fields, entity, entry);
    for (size_t i = 0; i < fields.count; i++) {
        if (c_is_kept(fields.list[i]))
            return false;
    }
    return entry->when == NULL && entry_is_made(entity, entry);
}

// An entry is there with all its parts or not at all: what was added is taken back.
static void add_entry(struct c_file *c, const struct model_entity *entity,
                      const struct model_entry *entry)
{
    struct slice parts = {NULL, 0};
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
        const struct model_key_part *part = &entry->parts[i];
        if (part_is_made(entity, part))
            text_add(c->w, &parts, " &&\n          ",
                     add_key(c, entity, part, entry->index->keys.parts[i].type));
        else if (part_is_native(entity, part))
            text_add(c->w, &parts, " &&\n          ",
                     TEXT(c->w, "%s != NULL", part_text(c, entity, part)));
    }
    PUT(c->w,
        "    mark = *out;\n    before = *any;\n    if (!(%s)) {\n        *out = mark;\n"
        "        *any = before;\n    }\n",
        parts);
}

static void entry_function(struct c_file *c, const struct model_entity *entity)
{
    bool any = false;
    section(c, runtime_entity_c, "entries", entity);
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (!is_ours(entity, &entity->entries[i]))
            continue;
        add_entry(c, entity, &entity->entries[i]);
        any = true;
    }
    if (!any)
        buf_text(c->w->out, "    (void)out;\n    (void)any;\n    (void)mark;\n    (void)before;\n");
    section(c, runtime_entity_c, "entries-end", entity);
}

static void definitions(struct c_file *c, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    complete_function(c, entity);
    key_function(c, entity, true);
    key_function(c, entity, false);
    entry_function(c, entity);
    section(c, runtime_entity_c, "item", entity);
    if (table->type_attribute.len > 0 &&
        model_entity_attribute(entity, table->type_attribute) == NULL)
        PUT(c->w, "    (void)add_key(&text, &any, %s, \"S\", %s);\n",
            c_string(c, table->type_attribute), c_string(c, entity->type_value));
    section(c, runtime_entity_c, "calls", entity);
}

// ---- Files -----------------------------------------------------------------------------------

static struct c_file begin(struct writer *w)
{
    PUT(w, "// %s\n", text_banner(w));
    return (struct c_file){.w = w, .prefix = text_snake(w, text_stem(w->model))};
}

void generate_c_header(struct writer *w)
{
    struct c_file c = begin(w);
    section(&c, runtime_model_h, "head", NULL);
    c_structs(&c);
    for (const struct model_entity *entity = NULL; (entity = next_entity(w, entity)) != NULL;) {
        buf_byte(w->out, '\n');
        text_comment(w->out, "// ", entity->doc);
        section(&c, runtime_model_h, "entity", entity);
    }
    section(&c, runtime_model_h, "tail", NULL);
}

void generate_c_source(struct writer *w)
{
    struct c_file c = begin(w);
    struct buf *out = w->out;
    struct buf entities;
    // Whether they need digests is known only when they are written, and stands above them.
    buf_init(&entities, out->max);
    w->out = &entities;
    for (const struct model_entity *entity = NULL; (entity = next_entity(w, entity)) != NULL;)
        definitions(&c, entity);
    w->out = out;
    PUT(w, "#include \"%s.h\"\n", text_stem(w->model));
    section(&c, runtime_entity_c, "includes", NULL);
    section(&c, runtime_json_c, "json", NULL);
    section(&c, runtime_text_c, "text", NULL);
    if (c.digests)
        section(&c, runtime_text_c, "sha256", NULL);
    section(&c, runtime_entity_c, "shapes", NULL);
    c_shapes(&c);
    buf_slice(out, buf_view(&entities));
    out->failed = out->failed || entities.failed;
    buf_release(&entities);
}
