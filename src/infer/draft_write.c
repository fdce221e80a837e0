// A draft as the text of a .dolmen file.
#include "infer/draft.h"

// Lines of a comment; nothing for an empty one.
static void put_comment(struct buf *out, struct slice text)
{
    if (text.len == 0)
        return;
    buf_text(out, "// ");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n')
            buf_text(out, "\n// ");
        else if (text.ptr[i] >= 0x20)
            buf_byte(out, text.ptr[i]);
    }
    buf_byte(out, '\n');
}

static void pad_to(struct buf *out, size_t start, size_t width)
{
    do
        buf_byte(out, ' ');
    while (out->len - start < width);
}

// A text, and a name behind it.
static void put(struct buf *out, const char *text, struct slice name)
{
    buf_text(out, text);
    draft_put_name(out, name);
}

// On one line.
static void put_line(struct buf *out, const char *before, struct slice text)
{
    buf_text(out, before);
    for (size_t i = 0; i < text.len; i++)
        buf_byte(out, text.ptr[i] < 0x20 ? ' ' : text.ptr[i]);
}

// ---- Tables --------------------------------------------------------------------------------

static void put_key_name(struct buf *out, const struct key_part *part)
{
    draft_put_name(out, part->name);
    if (part->type == VALUE_N)
        buf_text(out, " number");
    else if (part->type == VALUE_B)
        buf_text(out, " binary");
}

static void put_parts(struct buf *out, const struct key_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_text(out, " + ");
        put_key_name(out, &parts[i]);
    }
}

static void put_schema(struct buf *out, const struct key_schema *keys)
{
    put_parts(out, keys->parts, keys->hash_count);
    if (keys->range_count > 0) {
        buf_text(out, ", ");
        put_parts(out, keys->parts + keys->hash_count, keys->range_count);
    }
}

static void put_setting(struct buf *out, const char *word, struct slice value)
{
    if (value.len == 0)
        return;
    buf_printf(out, "  %-6s ", word);
    draft_put_name(out, value);
    buf_byte(out, '\n');
}

// Whether some entity natively has all attributes of the index: without a template nothing else
// says that it is in it.
static bool is_open(const struct draft_table *table, const struct draft_index *index)
{
    for (const struct draft_entity *entity = table->entities; entity != NULL;
         entity = entity->next) {
        bool native = true;
        for (size_t i = 0; native && i < draft_parts(&index->keys); i++) {
            struct slice name = index->keys.parts[i].name;
            native = draft_schema_has(&table->keys, name) ||
                     (draft_attribute(entity, name) != NULL &&
                      draft_template(table, entity, name, NULL).ptr == NULL);
        }
        if (native)
            return true;
    }
    return false;
}

static void put_table(struct buf *out, const struct draft_table *table)
{
    put_comment(out, table->doc);
    put(out, "table ", table->name);
    buf_text(out, " {\n  key    ");
    put_schema(out, &table->keys);
    buf_byte(out, '\n');
    for (const struct draft_index *index = table->indexes; index != NULL; index = index->next) {
        buf_printf(out, "  %s ", index->local ? "local index" : "index ");
        draft_put_name(out, index->name);
        buf_text(out, " (");
        put_schema(out, &index->keys);
        buf_byte(out, ')');
        if (index->project.len > 0 && !slice_is(index->project, "all")) {
            buf_text(out, " project ");
            buf_slice(out, index->project);
        }
        buf_text(out, is_open(table, index) ? " for all\n" : "\n");
    }
    put_setting(out, "type", table->type_attribute);
    put_setting(out, "ttl", table->ttl);
    put_setting(out, "stream", table->stream);
    buf_text(out, "}\n");
}

// ---- Entities ------------------------------------------------------------------------------

static void put_assigned(struct buf *out, struct slice name, size_t width)
{
    buf_text(out, "  ");
    size_t start = out->len;
    draft_put_name(out, name);
    pad_to(out, start, width + 1);
    buf_text(out, "= ");
}

// One line for the whole entry; or one for each part, if others are native or given before. Returns
// the longest name that stands before a "=": with `out` NULL it only measures.
static size_t put_entry(struct buf *out, const struct draft_table *table,
                        const struct draft_entity *entity, const struct draft_entry *entry,
                        size_t width)
{
    const struct draft_index *index = draft_index(table, entry->index);
    bool given[2 * LIMIT_KEY_PARTS];
    bool whole = index != NULL;
    size_t longest = 0;
    for (size_t i = 0; index != NULL && i < entry->count; i++) {
        struct slice name = index->keys.parts[i].name;
        given[i] = entry->parts[i].ptr != NULL && !draft_schema_has(&table->keys, name) &&
                   draft_template(table, entity, name, entry).ptr == NULL;
        whole = whole && given[i];
    }
    for (size_t i = 0; index != NULL && i < entry->count; i++) {
        struct slice name = whole ? entry->index : index->keys.parts[i].name;
        if (!given[i])
            continue;
        longest = name.len > longest ? name.len : longest;
        if (out == NULL)
            continue;
        if (whole && i > 0)
            buf_text(out, ", ");
        else
            put_assigned(out, name, width);
        buf_printf(out, "\"%.*s\"", SLICE_FMT(entry->parts[i]));
        if (!whole || i + 1 == entry->count)
            buf_byte(out, '\n');
    }
    return longest;
}

static void put_keys(struct buf *out, const struct draft_table *table,
                     const struct draft_entity *entity)
{
    size_t width = 2;
    for (const struct draft_entry *entry = entity->entries; entry != NULL; entry = entry->next) {
        size_t longest = put_entry(NULL, table, entity, entry, 0);
        width = longest > width ? longest : width;
    }
    for (size_t i = 0; i < draft_parts(&table->keys); i++) {
        if (entity->keys[i].ptr == NULL)
            continue;
        put_assigned(out, table->keys.parts[i].name, width);
        buf_printf(out, "\"%.*s\"", SLICE_FMT(entity->keys[i]));
        buf_byte(out, '\n');
    }
    for (const struct draft_entry *entry = entity->entries; entry != NULL; entry = entry->next)
        (void)put_entry(out, table, entity, entry, width);
}

static void put_attribute(struct buf *out, const struct draft_attribute *attribute, size_t width)
{
    buf_text(out, "  ");
    size_t start = out->len;
    draft_put_name(out, attribute->name);
    pad_to(out, start, width + 1);
    buf_slice(out, attribute->type);
    if (attribute->optional)
        buf_byte(out, '?');
    if (attribute->modifiers.len > 0) {
        buf_text(out, "  ");
        buf_slice(out, attribute->modifiers);
    }
    if (attribute->doc.len > 0)
        put_line(out, "  // ", attribute->doc);
    buf_byte(out, '\n');
}

static bool has_templates(const struct draft_entity *entity)
{
    bool any = entity->keys[0].ptr != NULL || entity->keys[1].ptr != NULL;
    for (const struct draft_entry *entry = entity->entries; entry != NULL; entry = entry->next)
        for (size_t i = 0; i < entry->count; i++)
            any = any || entry->parts[i].ptr != NULL;
    return any;
}

static void put_entity(struct buf *out, const struct draft_table *table,
                       const struct draft_entity *entity)
{
    buf_byte(out, '\n');
    put_comment(out, entity->doc);
    put(out, "entity ", entity->name);
    put(out, " of ", table->name);
    if (entity->type_value.len > 0 && !slice_equal(entity->type_value, entity->name)) {
        buf_text(out, " as \"");
        draft_put_literal(out, entity->type_value);
        buf_byte(out, '"');
    }
    buf_text(out, " {\n");
    put_keys(out, table, entity);
    if (has_templates(entity) && entity->attributes != NULL)
        buf_byte(out, '\n');
    size_t width = 0;
    for (const struct draft_attribute *a = entity->attributes; a != NULL; a = a->next)
        width = draft_name_width(a->name) > width ? draft_name_width(a->name) : width;
    for (const struct draft_attribute *a = entity->attributes; a != NULL; a = a->next)
        put_attribute(out, a, width < 32 ? width : 32);
    buf_text(out, "}\n");
}

// ---- The file ------------------------------------------------------------------------------

static void put_accesses(struct buf *out, const struct draft_table *table)
{
    if (table->accesses != NULL)
        buf_byte(out, '\n');
    for (const struct draft_access *access = table->accesses; access != NULL;
         access = access->next) {
        put_comment(out, access->doc);
        put(out, "access ", access->name);
        buf_byte(out, '(');
        buf_slice(out, access->params);
        buf_text(out, ") = ");
        buf_slice(out, access->rest);
        buf_byte(out, '\n');
    }
}

void draft_write_entities(const struct draft *draft, struct buf *out)
{
    for (const struct draft_type *type = draft->types; type != NULL; type = type->next) {
        put(out, "\ntype ", type->name);
        buf_byte(out, ' ');
        buf_slice(out, type->text);
        buf_byte(out, '\n');
    }
    for (const struct draft_table *table = draft->tables; table != NULL; table = table->next) {
        for (const struct draft_entity *entity = table->entities; entity != NULL;
             entity = entity->next)
            put_entity(out, table, entity);
        put_accesses(out, table);
    }
}

void draft_write(const struct draft *draft, struct buf *out)
{
    put_comment(out, draft->title);
    if (draft->notes != NULL) {
        buf_printf(out, "//\n// %s:\n",
                   draft->notes_title == NULL ? "What could not be explained" : draft->notes_title);
        for (const struct draft_note *note = draft->notes; note != NULL; note = note->next) {
            put_line(out, "// - ", note->text);
            buf_byte(out, '\n');
        }
    }
    for (const struct draft_table *table = draft->tables; table != NULL; table = table->next) {
        if (out->len > 0)
            buf_byte(out, '\n');
        put_table(out, table);
    }
    draft_write_entities(draft, out);
}
