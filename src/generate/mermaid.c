// The entity relationship diagram. Relationships are inferred: a field in the keys of an entity (or
// of its index entries) that is another entity's identity says that it belongs to that one. The
// label is the field. What an entity says to refer to is drawn as it says.
#include "generate/docs.h"

#include "model/rules.h"

static struct slice diagram_name(struct writer *w, const struct model_entity *entity)
{
    return text_upper(w, text_entity(w, entity));
}

// All attributes in the entity's keys, then those in its index entries.
static void key_fields(struct fields *fields, const struct model_entity *entity)
{
    fields_of_keys(fields, entity);
    for (size_t i = 0; i < entity->entry_count; i++)
        fields_of_entry(fields, entity, &entity->entries[i]);
}

// The reference that the attribute ends, if it is in one.
static const struct model_reference *reference_by(const struct model_entity *entity,
                                                  const struct model_attribute *field)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        for (size_t k = 0; k < entity->references[i].count; k++) {
            if (entity->references[i].attributes[k] == field)
                return &entity->references[i];
        }
    }
    return NULL;
}

static const struct model_entity *parent_by(const struct model_entity *entity,
                                            const struct model_attribute *field)
{
    const struct model_reference *said = reference_by(entity, field);
    if (said != NULL)
        return said->target;
    const struct model_entity *owner = field_owner(entity->table->model, field->name);
    return owner == entity ? NULL : owner;
}

// What the entity says to refer to: at most one if it may be missing.
static void said_references(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        struct slice names = {NULL, 0};
        bool always = true;
        for (size_t k = 0; k < reference->count; k++) {
            text_add(w, &names, ", ", reference->attributes[k]->name);
            always = always && attribute_always(reference->attributes[k]);
        }
        if (is_wanted(w, reference->target->table))
            PUT(w, always ? "    %s ||--o{ %s : \"%s\"\n" : "    %s |o--o{ %s : \"%s\"\n",
                diagram_name(w, reference->target), diagram_name(w, entity), names);
    }
}

static void relationships(struct writer *w, const struct model_entity *entity)
{
    said_references(w, entity);
    struct fields all = {0};
    struct fields own = {0};
    key_fields(&all, entity);
    fields_of_keys(&own, entity);
    for (size_t i = 0; i < all.count; i++) {
        const struct model_entity *parent = parent_by(entity, all.list[i]);
        if (parent == NULL || !is_wanted(w, parent->table) ||
            reference_by(entity, all.list[i]) != NULL)
            continue;
        bool one = own.count == 1 && own.list[0] == all.list[i];
        PUT(w, one ? "    %s ||--o| %s : \"%s\"\n" : "    %s ||--o{ %s : \"%s\"\n",
            diagram_name(w, parent), diagram_name(w, entity), all.list[i]->name);
    }
}

// A word as the diagram's grammar has it: a letter first, then letters, digits, - and _.
static struct slice diagram_word(struct writer *w, struct slice name)
{
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool later = letter || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (i == 0 && !letter)
            buf_byte(&out, 'x');
        buf_byte(&out, later ? c : '_');
    }
    // PK, FK and UK are marks there, not names.
    if (slice_is(name, "PK") || slice_is(name, "FK") || slice_is(name, "UK"))
        buf_byte(&out, '_');
    return text_keep(w, &out);
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
static struct slice index_comment(struct writer *w, const struct model_entity *entity,
                                  const struct model_attribute *attribute)
{
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < entity->entry_count; i++) {
        struct fields fields = {0};
        fields_of_entry(&fields, entity, &entity->entries[i]);
        if (fields_have(&fields, attribute))
            text_add(w, &names, ", ", diagram_word(w, entity->entries[i].index->name));
    }
    return names.len > 0 ? TEXT(w, " \"%s\"", names) : names;
}

static void attribute_line(struct writer *w, const struct model_entity *entity,
                           const struct model_attribute *attribute, const struct fields *own)
{
    struct slice marks = {NULL, 0};
    if (fields_have(own, attribute))
        text_add(w, &marks, ", ", SLICE_LIT("PK"));
    if (parent_by(entity, attribute) != NULL)
        text_add(w, &marks, ", ", SLICE_LIT("FK"));
    if (attribute->unique)
        text_add(w, &marks, ", ", SLICE_LIT("UK"));
    PUT(w, marks.len > 0 ? "        %s %s %s%s\n" : "        %s %s%s%s\n",
        slice_str(type_word(attribute->type)), diagram_word(w, attribute->name), marks,
        index_comment(w, entity, attribute));
}

static void entity_box(struct writer *w, const struct model_entity *entity)
{
    struct fields own = {0};
    struct fields all = {0};
    fields_of_keys(&own, entity);
    key_fields(&all, entity);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (entity->attributes[i].unique)
            fields_add(&all, &entity->attributes[i]);
    }
    PUT(w, all.count == 0 ? "    %s\n" : "    %s {\n", diagram_name(w, entity));
    for (size_t i = 0; i < all.count; i++)
        attribute_line(w, entity, all.list[i], &own);
    buf_text(w->out, all.count == 0 ? "" : "    }\n");
}

void docs_diagram(const struct docs *docs)
{
    const struct model_entity *entity;
    docs_heading(docs, 0, SLICE_LIT("Entity Relationship Diagram"));
    buf_text(docs->w->out, "```mermaid\nerDiagram\n");
    for (entity = NULL; (entity = next_entity(docs->w, entity)) != NULL;)
        relationships(docs->w, entity);
    for (entity = NULL; (entity = next_entity(docs->w, entity)) != NULL;)
        entity_box(docs->w, entity);
    buf_text(docs->w->out, "```\n");
}
