// `dolmen generate c`: a header and a source. An entity is a struct; it is read from and written to
// DynamoDB JSON, its keys are made of it, and it is put, got and deleted through dolmen.h.
#include "generate/c.h"

// ---- Entities --------------------------------------------------------------------------------

// "shop_customer", the beginning of an entity's names.
static void full_name(struct c_file *c, const struct model_entity *entity)
{
    buf_slice(c->out, c->prefix);
    buf_byte(c->out, '_');
    c_entity_name(c->out, entity);
}

// `before` PREFIX_ENTITY `after`, in which % stands for PREFIX_ENTITY and $ for PREFIX.
static void lines(struct c_file *c, const struct model_entity *entity, const char *text)
{
    for (const char *at = text; *at != 0; at++) {
        if (*at == '%')
            full_name(c, entity);
        else if (*at == '$')
            buf_slice(c->out, c->prefix);
        else if (*at == '@')
            c_entity_name(c->out, entity);
        else
            buf_byte(c->out, (uint8_t)*at);
    }
}

void c_entity_declarations(struct c_file *c, const struct model_entity *entity)
{
    buf_byte(c->out, '\n');
    text_comment(c->out, "// ", entity->doc);
    lines(
        c, entity,
        "// Brings texts to their normal form and fills in defaults.\n"
        "void %_complete(struct $_memory *memory, struct % *item);\n"
        "// The primary key, and the whole item with all keys, as DynamoDB JSON; NULL if something "
        "is\n// missing of which the key is made.\n"
        "const char *%_key(struct $_memory *memory, const struct % *item);\n"
        "const char *%_item(struct $_memory *memory, const struct % *item);\n"
        "// An item out of DynamoDB JSON; false if it is not of this shape.\n"
        "bool %_decode(struct $_memory *memory, const char *json, size_t length,\n"
        "    struct % *item);\n"
        "// 200, or the status and memory->error. Of `key` only what the key is made of is used.\n"
        "int %_put(dolmen *db, struct $_memory *memory, const struct % *item);\n"
        "int %_get(dolmen *db, struct $_memory *memory, const struct % *key,\n"
        "    struct % *item); // 404 if there is none\n"
        "int %_delete(dolmen *db, struct $_memory *memory, const struct % *key);\n");
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
    lines(c, entity,
          "\nvoid %_complete(struct $_memory *memory, struct % *item)\n{\n"
          "    (void)memory;\n    (void)item;\n");
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
    lines(c, entity,
          "\nstatic void add_entries_@(struct text *out, bool *any, struct $_memory *memory,"
          "\n    const struct % *item)\n{\n    struct text mark;\n    bool before;\n");
    for (size_t i = 0; i < entity->entry_count; i++) {
        if (!entry_made(entity, &entity->entries[i]))
            continue;
        add_entry(c, entity, &entity->entries[i]);
        any = true;
    }
    if (!any)
        buf_text(c->out, "    (void)out;\n    (void)any;\n    (void)mark;\n    (void)before;\n");
    buf_text(c->out, "    (void)memory;\n    (void)item;\n}\n");
}

// Native key attributes are among the fields of an item already.
static void key_function(struct c_file *c, const struct model_entity *entity, bool native)
{
    lines(c, entity, native ? "\nstatic bool add_primary_@(" : "\nstatic bool add_made_@(");
    lines(c, entity,
          "struct text *out, bool *any, struct $_memory *memory,\n"
          "    const struct % *item)\n{\n    (void)memory;\n    (void)item;\n"
          "    (void)out;\n    (void)any;\n    return ");
    add_parts(c, entity, &entity->table->keys, entity->keys, native);
    buf_text(c->out, ";\n}\n");
}

static void item_functions(struct c_file *c, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    lines(c, entity,
          "\nconst char *%_key(struct $_memory *memory, const struct % *item)\n{\n"
          "    struct text text = text_new(memory);\n    bool any = false;\n"
          "    add_text(&text, \"{\");\n"
          "    if (!add_primary_@(&text, &any, memory, item))\n        return NULL;\n"
          "    add_text(&text, \"}\");\n    return finished(&text);\n}\n"
          "\nconst char *%_item(struct $_memory *memory, const struct % *item)\n{\n"
          "    struct text text = text_new(memory);\n    add_text(&text, \"{\");\n"
          "    bool any = encode_fields(&text, &shape_@, (const char *)item);\n"
          "    if (!add_made_@(&text, &any, memory, item))\n        return NULL;\n"
          "    add_entries_@(&text, &any, memory, item);\n");
    if (table->type_attribute.len > 0 &&
        model_entity_attribute(entity, table->type_attribute) == NULL) {
        buf_text(c->out, "    (void)add_key(&text, &any, ");
        c_string(c->out, table->type_attribute);
        buf_text(c->out, ", \"S\", ");
        c_string(c->out, entity->type_value);
        buf_text(c->out, ");\n");
    }
    buf_text(c->out, "    add_text(&text, \"}\");\n    return finished(&text);\n}\n");
    lines(c, entity,
          "\nbool %_decode(struct $_memory *memory, const char *json, size_t length,\n"
          "    struct % *item)\n{\n"
          "    return decode(memory, &shape_@, json, length, item);\n}\n");
}

static void call_functions(struct c_file *c, const struct model_entity *entity)
{
    struct buf table;
    buf_init(&table, 4096);
    c_string(&table, entity->table->name);
    lines(c, entity,
          "\nint %_put(dolmen *db, struct $_memory *memory, const struct % *item)\n{\n"
          "    const char *answer;\n    size_t length;\n"
          "    return call(db, memory, \"PutItem\", ");
    buf_slice(c->out, buf_view(&table));
    lines(c, entity,
          ", \"Item\", %_item(memory, item),\n                &answer, &length);\n}\n"
          "\nint %_get(dolmen *db, struct $_memory *memory, const struct % *key,\n"
          "    struct % *item)\n{\n    const char *answer;\n    size_t length;\n"
          "    int status = call(db, memory, \"GetItem\", ");
    buf_slice(c->out, buf_view(&table));
    lines(c, entity,
          ", \"Key\", %_key(memory, key),\n                      &answer, &length);\n"
          "    if (status != 200)\n        return status;\n"
          "    const char *found = answer_item(memory, answer, length, &length);\n"
          "    if (found == NULL)\n        return 404;\n"
          "    return %_decode(memory, found, length, item) ? 200 : 500;\n}\n"
          "\nint %_delete(dolmen *db, struct $_memory *memory, const struct % *key)\n{\n"
          "    const char *answer;\n    size_t length;\n"
          "    return call(db, memory, \"DeleteItem\", ");
    buf_slice(c->out, buf_view(&table));
    lines(c, entity, ", \"Key\", %_key(memory, key),\n                &answer, &length);\n}\n");
    buf_release(&table);
}

void c_entity_definitions(struct c_file *c, const struct model_entity *entity)
{
    complete_function(c, entity);
    key_function(c, entity, true);
    key_function(c, entity, false);
    entry_function(c, entity);
    item_functions(c, entity);
    call_functions(c, entity);
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
    struct buf guard;
    buf_init(&guard, 4096);
    text_upper(&guard, c->prefix);
    buf_printf(c->out, "#ifndef %.*s_MODEL_H\n#define %.*s_MODEL_H\n\n",
               SLICE_FMT(buf_view(&guard)), SLICE_FMT(buf_view(&guard)));
    buf_release(&guard);
    c_prefixed(
        c->out, c->prefix,
        "#include <dolmen.h>\n\n#include <stdbool.h>\n#include <stddef.h>\n"
        "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "// Everything that is made here lives in a memory, {0} at first, and is freed with it.\n"
        "struct PREFIX_memory {\n    void *blocks;\n"
        "    const char *error; // of the last call: a message, or the error document\n};\n\n"
        "void PREFIX_memory_free(struct PREFIX_memory *memory);\n\n"
        "struct PREFIX_bytes {\n    const unsigned char *data; // NULL if it is not there\n"
        "    size_t length;\n};\n\n"
        "// A text or a pointer that is NULL is not there; a number, a boolean or a list that "
        "may be\n// absent has a flag beside it. Numbers are doubles, which keep 15 digits.\n");
    c_structs(c);
    each_entity(c, c_entity_declarations);
    buf_text(c->out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
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
    buf_printf(c->out, "#include \"%.*s.h\"\n\n", SLICE_FMT(generate_stem(c->model)));
    buf_text(c->out, "#include <inttypes.h>\n#include <stdarg.h>\n#include <stdio.h>\n"
                     "#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\n");
    c_runtime(c->out, c->prefix);
    buf_byte(c->out, '\n');
    bool digests = (uses_of_model(c->model, c->options) & 1U << MODEL_FN_SHA256) != 0;
    c_helpers(c->out, c->prefix, digests);
    c_shapes(c);
    each_entity(c, c_entity_definitions);
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
