// `dolmen generate c`: a header and a source. An entity is a struct; it is read from and written to
// DynamoDB JSON, its keys are made of it, and it is put, got and deleted through dolmen.h.
#include "generate/c.h"

// ---- Entities --------------------------------------------------------------------------------

// A section of a file, with the names of the model and, if there is one, of the entity.
static void section(struct c_file *c, const char *file, const char *name,
                    const struct model_entity *entity)
{
    struct buf upper;
    struct buf own;
    struct buf table;
    buf_init(&upper, 4096);
    buf_init(&own, 4096);
    buf_init(&table, 4096);
    text_upper(&upper, c->prefix);
    if (entity != NULL) {
        c_entity_name(&own, entity);
        c_string(&table, entity->table->name);
    }
    const struct runtime_word words[] = {{"PREFIX", c->prefix},
                                         {"UPPER", buf_view(&upper)},
                                         {"ENTITY", buf_view(&own)},
                                         {"\"TABLE\"", buf_view(&table)},
                                         {NULL, {NULL, 0}}};
    runtime_write(c->out, file, name, words);
    buf_release(&upper);
    buf_release(&own);
    buf_release(&table);
}

static void entity_declarations(struct c_file *c, const struct model_entity *entity)
{
    buf_byte(c->out, '\n');
    text_comment(c->out, "// ", entity->doc);
    section(c, runtime_model_h, "entity", entity);
}

static void normal_form(struct c_file *c, const struct model_attribute *attribute)
{
    static const struct {
        unsigned bit;
        const char *call;
    } forms[] = {{MODEL_LOWER, "lower(memory, "},
                 {MODEL_UPPER, "upper(memory, "},
                 {MODEL_TRIM, "trim(memory, "}};
    size_t open = 0;
    if (attribute->normal == 0 || c_kind(attribute->type) != C_TEXT)
        return;
    buf_text(c->out, "    item->");
    c_member(c, c->out, attribute);
    buf_text(c->out, " = ");
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((attribute->normal & forms[i].bit) != 0) {
            buf_text(c->out, forms[i].call);
            open++;
        }
    }
    buf_text(c->out, "item->");
    c_member(c, c->out, attribute);
    while (open-- > 0)
        buf_byte(c->out, ')');
    buf_text(c->out, ";\n");
}

static void complete_function(struct c_file *c, const struct model_entity *entity)
{
    section(c, runtime_entity_c, "complete", entity);
    for (size_t i = 0; i < entity->attribute_count; i++)
        normal_form(c, &entity->attributes[i]);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].otherwise != NULL)
            c_default(c, &entity->attributes[i]);
    }
    buf_text(c->out, "}\n");
}

// ---- Keys ------------------------------------------------------------------------------------

static void part_text(struct c_file *c, const struct model_entity *entity,
                      const struct model_key_part *part)
{
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    if (part->template != NULL) {
        c_template(c, part->template);
    } else if (native != NULL) {
        struct model_expr path = {
            .kind = MODEL_EXPR_PATH, .step_count = 1, .steps = &native->name, .attribute = native};
        c_text(c, &path);
    } else {
        buf_text(c->out, "NULL");
    }
}

// add_key(…) && …: false if one of the parts is missing.
static void add_parts(struct c_file *c, const struct model_entity *entity,
                      const struct key_schema *keys, const struct model_key_part *parts,
                      bool native)
{
    bool any = false;
    for (size_t i = 0; i < keys_count(keys); i++) {
        if (!native && part_is_native(entity, &parts[i]))
            continue;
        buf_text(c->out, any ? " &&\n        add_key(out, any, " : "add_key(out, any, ");
        c_string(c->out, parts[i].name);
        buf_printf(c->out, ", \"%s\", ", value_type_name(keys->parts[i].type));
        part_text(c, entity, &parts[i]);
        buf_byte(c->out, ')');
        any = true;
    }
    buf_text(c->out, any ? "" : "true");
}

static bool entry_made(const struct model_entity *entity, const struct model_entry *entry)
{
    bool made = false;
    for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
        if (entry->parts[i].template == NULL && !part_is_native(entity, &entry->parts[i]))
            return false;
        made = made || part_is_made(entity, &entry->parts[i]);
    }
    return made;
}

// An entry is there with all its parts or not at all: what was added is taken back.
static void add_entry(struct c_file *c, const struct model_entity *entity,
                      const struct model_entry *entry)
{
    size_t shown = 0;
    buf_text(c->out, "    mark = *out;\n    before = *any;\n    if (!(");
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
        const struct model_key_part *part = &entry->parts[i];
        if (part_is_made(entity, part)) {
            buf_text(c->out,
                     shown++ == 0 ? "add_key(out, any, " : " &&\n          add_key(out, any, ");
            c_string(c->out, part->name);
            buf_printf(c->out, ", \"%s\", ", value_type_name(entry->index->keys.parts[i].type));
            part_text(c, entity, part);
            buf_byte(c->out, ')');
        } else if (part_is_native(entity, part)) {
            buf_text(c->out, shown++ == 0 ? "" : " &&\n          ");
            part_text(c, entity, part);
            buf_text(c->out, " != NULL");
        }
    }
    buf_text(c->out, ")) {\n        *out = mark;\n        *any = before;\n    }\n");
}

static void entry_function(struct c_file *c, const struct model_entity *entity)
{
    bool any = false;
    section(c, runtime_entity_c, "entries", entity);
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (!entry_made(entity, &entity->entries[i]))
            continue;
        add_entry(c, entity, &entity->entries[i]);
        any = true;
    }
    if (!any)
        buf_text(c->out, "    (void)out;\n    (void)any;\n    (void)mark;\n    (void)before;\n");
    section(c, runtime_entity_c, "entries-end", entity);
}

// Native key attributes are among the fields of an item already.
static void key_function(struct c_file *c, const struct model_entity *entity, bool native)
{
    section(c, runtime_entity_c, native ? "primary" : "made", entity);
    buf_text(c->out, "    return ");
    add_parts(c, entity, &entity->table->keys, entity->keys, native);
    buf_text(c->out, ";\n}\n");
}

static void item_functions(struct c_file *c, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    section(c, runtime_entity_c, "item", entity);
    if (table->type_attribute.len > 0 &&
        model_entity_attribute(entity, table->type_attribute) == NULL) {
        buf_text(c->out, "    (void)add_key(&text, &any, ");
        c_string(c->out, table->type_attribute);
        buf_text(c->out, ", \"S\", ");
        c_string(c->out, entity->type_value);
        buf_text(c->out, ");\n");
    }
    section(c, runtime_entity_c, "calls", entity);
}

static void entity_definitions(struct c_file *c, const struct model_entity *entity)
{
    complete_function(c, entity);
    key_function(c, entity, true);
    key_function(c, entity, false);
    entry_function(c, entity);
    item_functions(c, entity);
}

// ---- Files -----------------------------------------------------------------------------------

static void each_entity(struct c_file *c,
                        void (*visit)(struct c_file *, const struct model_entity *))
{
    for (size_t t = 0; t < c->model->table_count; t++) {
        const struct model_table *table = &c->model->tables[t];
        for (size_t i = 0; generate_wants(c->options, table) && i < table->entity_count; i++)
            visit(c, &table->entities[i]);
    }
}

static void header(struct c_file *c)
{
    section(c, runtime_model_h, "head", NULL);
    c_structs(c);
    each_entity(c, entity_declarations);
    section(c, runtime_model_h, "tail", NULL);
}

static void with_prefix(const struct model *model, const struct generate_options *options,
                        struct buf *out, void (*write)(struct c_file *))
{
    struct buf prefix;
    struct c_file c = {.model = model, .options = options, .out = out};
    buf_init(&prefix, 4096);
    text_snake(&prefix, generate_stem(model));
    c.prefix = buf_view(&prefix);
    buf_text(out, "// ");
    text_banner(out, model);
    buf_byte(out, '\n');
    write(&c);
    buf_release(&prefix);
}

static void source(struct c_file *c)
{
    buf_printf(c->out, "#include \"%.*s.h\"\n", SLICE_FMT(generate_stem(c->model)));
    section(c, runtime_entity_c, "includes", NULL);
    section(c, runtime_json_c, "json", NULL);
    section(c, runtime_text_c, "text", NULL);
    if ((uses_of_model(c->model, c->options) & 1U << MODEL_FN_SHA256) != 0)
        section(c, runtime_text_c, "sha256", NULL);
    section(c, runtime_entity_c, "shapes", NULL);
    c_shapes(c);
    each_entity(c, entity_definitions);
}

void generate_c_header(const struct model *model, const struct generate_options *options,
                       struct buf *out)
{
    with_prefix(model, options, out, header);
}

void generate_c_source(const struct model *model, const struct generate_options *options,
                       struct buf *out)
{
    with_prefix(model, options, out, source);
}
