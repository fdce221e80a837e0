// The entity relationship diagram. Relationships are inferred: a field in the keys of an entity (or
// of its index entries) that is another entity's identity says that it belongs to that one. The
// label is the field.
#include "generate/docs.h"

static void diagram_name(struct buf *out, const struct model_entity *entity)
{
    struct buf name;
    buf_init(&name, 4096);
    text_entity(&name, entity);
    text_upper(out, buf_view(&name));
    buf_release(&name);
}

// All attributes in the entity's keys, then those in its index entries.
static void key_fields(struct fields *fields, const struct model_entity *entity)
{
    fields_of_keys(fields, entity);
    for (size_t i = 0; i < entity->entry_count; i++)
        fields_of_entry(fields, entity, &entity->entries[i]);
}

static const struct model_entity *parent_by(const struct model_entity *entity,
                                            const struct model_attribute *field)
{
    const struct model_entity *owner = field_owner(entity->table->model, field->name);
    return owner == entity ? NULL : owner;
}

static void relationships(const struct docs *docs, const struct model_entity *entity)
{
    struct fields all = {0};
    struct fields own = {0};
    key_fields(&all, entity);
    fields_of_keys(&own, entity);
    for (size_t i = 0; i < all.count; i++) {
        const struct model_entity *parent = parent_by(entity, all.list[i]);
        if (parent == NULL || !generate_wants(docs->options, parent->table))
            continue;
        bool one = own.count == 1 && own.list[0] == all.list[i];
        buf_text(docs->out, "    ");
        diagram_name(docs->out, parent);
        buf_text(docs->out, one ? " ||--o| " : " ||--o{ ");
        diagram_name(docs->out, entity);
        buf_printf(docs->out, " : \"%.*s\"\n", SLICE_FMT(all.list[i]->name));
    }
}

// A word as the diagram's grammar has it: a letter first, then letters, digits, - and _.
static void diagram_word(struct buf *out, struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool later = letter || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (i == 0 && !letter)
            buf_byte(out, 'x');
        buf_byte(out, later ? c : '_');
    }
    // PK, FK and UK are marks there, not names.
    if (slice_is(name, "PK") || slice_is(name, "FK") || slice_is(name, "UK"))
        buf_byte(out, '_');
}

static const char *type_word(const struct model_type *type)
{
    static const char *const names[] = {
#define X(kind, name, stored) [MODEL_##kind] = name,
        MODEL_TYPE_LIST(X)
#undef X
    };
    const struct model_type *bare = type_bare(type);
    switch (bare->kind) {
    case MODEL_LIST:
        return "list";
    case MODEL_SET:
        return "set";
    case MODEL_RECORD:
        return "object";
    case MODEL_LITERAL:
    case MODEL_UNION:
        switch (type_stored(bare)) {
        case VALUE_S:
            return "string";
        case VALUE_N:
            return "number";
        case VALUE_BOOL:
            return "boolean";
        default:
            return "any";
        }
    default:
        return names[bare->kind];
    }
}

// The indexes in whose entries the attribute is.
static void index_comment(struct buf *out, const struct model_entity *entity,
                          const struct model_attribute *attribute)
{
    bool any = false;
    for (size_t i = 0; i < entity->entry_count; i++) {
        struct fields fields = {0};
        fields_of_entry(&fields, entity, &entity->entries[i]);
        if (!fields_have(&fields, attribute))
            continue;
        buf_text(out, any ? ", " : " \"");
        diagram_word(out, entity->entries[i].index->name);
        any = true;
    }
    buf_text(out, any ? "\"" : "");
}

static void attribute_line(const struct docs *docs, const struct model_entity *entity,
                           const struct model_attribute *attribute, const struct fields *own)
{
    const char *marks[3];
    size_t count = 0;
    if (fields_have(own, attribute))
        marks[count++] = "PK";
    if (parent_by(entity, attribute) != NULL)
        marks[count++] = "FK";
    if (attribute->unique)
        marks[count++] = "UK";
    buf_printf(docs->out, "        %s ", type_word(attribute->type));
    diagram_word(docs->out, attribute->name);
    for (size_t i = 0; i < count; i++)
        buf_printf(docs->out, "%s%s", i == 0 ? " " : ", ", marks[i]);
    index_comment(docs->out, entity, attribute);
    buf_byte(docs->out, '\n');
}

static void entity_box(const struct docs *docs, const struct model_entity *entity)
{
    struct fields own = {0};
    struct fields all = {0};
    fields_of_keys(&own, entity);
    key_fields(&all, entity);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].unique)
            fields_add(&all, &entity->attributes[i]);
    }
    buf_text(docs->out, "    ");
    diagram_name(docs->out, entity);
    if (all.count == 0) {
        buf_byte(docs->out, '\n');
        return;
    }
    buf_text(docs->out, " {\n");
    for (size_t i = 0; i < all.count; i++)
        attribute_line(docs, entity, all.list[i], &own);
    buf_text(docs->out, "    }\n");
}

static void each_entity(const struct docs *docs,
                        void (*visit)(const struct docs *, const struct model_entity *))
{
    for (size_t t = 0; t < docs->model->table_count; t++) {
        const struct model_table *table = &docs->model->tables[t];
        for (size_t i = 0; generate_wants(docs->options, table) && i < table->entity_count; i++)
            visit(docs, &table->entities[i]);
    }
}

void docs_diagram(const struct docs *docs)
{
    docs_heading(docs, 0, "Entity Relationship Diagram");
    buf_text(docs->out, "```mermaid\nerDiagram\n");
    each_entity(docs, relationships);
    each_entity(docs, entity_box);
    buf_text(docs->out, "```\n");
}
