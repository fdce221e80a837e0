// `dolmen generate docs`: a model as a document to read, with the sections that teams write by
// hand: overview, key schema, indexes and what each entity puts there, entities with their
// attributes, access patterns with index and key condition, rules, and a diagram.
#include "generate/docs.h"

void docs_heading(const struct docs *docs, unsigned deeper, const char *title)
{
    for (unsigned i = 0; i < docs->level + deeper; i++)
        buf_byte(docs->out, '#');
    buf_printf(docs->out, " %s\n\n", title);
}

void docs_paragraph(const struct docs *docs, struct slice doc)
{
    if (doc.len == 0)
        return;
    size_t start = docs->out->len;
    text_comment(docs->out, "", doc);
    // A comment behind a declaration is often no whole sentence; here it stands alone.
    if (!docs->out->failed && docs->out->len > start) {
        uint8_t *first = docs->out->ptr + start;
        bool word = docs->out->len - start > 1 && first[1] >= 'a' && first[1] <= 'z';
        if (word && first[0] >= 'a' && first[0] <= 'z')
            first[0] = (uint8_t)(first[0] - 'a' + 'A');
        uint8_t last = docs->out->len - start > 1 ? docs->out->ptr[docs->out->len - 2] : '.';
        if ((last >= 'a' && last <= 'z') || (last >= '0' && last <= '9') || last == ')') {
            docs->out->len--;
            buf_text(docs->out, ".\n");
        }
    }
    buf_byte(docs->out, '\n');
}

void docs_code(struct buf *out, struct slice text)
{
    const char *fence = text.len > 0 && memchr(text.ptr, '`', text.len) != NULL ? "``" : "`";
    buf_text(out, fence);
    buf_slice(out, text);
    buf_text(out, fence);
}

void docs_code_cell(struct buf *out, struct slice text)
{
    buf_byte(out, '`');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|')
            buf_byte(out, '\\');
        buf_byte(out, text.ptr[i]);
    }
    buf_byte(out, '`');
}

static void part_cell(struct grid *grid, const struct model_key_part *part)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    text_key_part(&text, part);
    docs_code_cell(&grid->text, buf_view(&text));
    grid_cell(grid);
    buf_release(&text);
}

// ---- Overview --------------------------------------------------------------------------------

// The first sentence of a comment, for the list of entities.
static struct slice first_sentence(struct slice doc)
{
    for (size_t i = 0; i + 1 < doc.len; i++) {
        if (doc.ptr[i] == '.' && (doc.ptr[i + 1] == ' ' || doc.ptr[i + 1] == '\n'))
            return slice_of(doc.ptr, i + 1);
    }
    return doc;
}

static void cell_line(struct grid *grid, struct slice doc)
{
    struct buf line;
    buf_init(&line, 1 << 20);
    text_line(&line, doc);
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '|')
            buf_byte(&grid->text, '\\');
        buf_byte(&grid->text, line.ptr[i]);
    }
    buf_release(&line);
    grid_cell(grid);
}

static void overview(const struct docs *docs, const struct model_table *table)
{
    docs_heading(docs, 0, "Overview");
    buf_printf(docs->out, "Table `%.*s` holds %zu %s", SLICE_FMT(table->name), table->entity_count,
               table->entity_count == 1 ? "kind of item" : "kinds of items");
    if (table->index_count > 0)
        buf_printf(docs->out, ", has %zu %s", table->index_count,
                   table->index_count == 1 ? "secondary index" : "secondary indexes");
    buf_printf(docs->out, " and serves %zu access pattern%s.\n\n", table->access_count,
               table->access_count == 1 ? "" : "s");
    if (table->entity_count == 0)
        return;
    size_t keys = keys_count(&table->keys);
    struct grid grid;
    grid_init(&grid, 2 + keys);
    grid_cell_text(&grid, "Entity");
    for (size_t i = 0; i < keys; i++) {
        docs_code_cell(&grid.text, table->keys.parts[i].name);
        grid_cell(&grid);
    }
    grid_cell_text(&grid, "What it is");
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        buf_slice(&grid.text, entity->name);
        grid_cell(&grid);
        for (size_t k = 0; k < keys; k++)
            part_cell(&grid, &entity->keys[k]);
        cell_line(&grid, first_sentence(entity->doc));
    }
    grid_markdown(&grid, docs->out);
    grid_release(&grid);
    buf_byte(docs->out, '\n');
}

// ---- Key schema ------------------------------------------------------------------------------

static const char *key_type_text(enum value_type type)
{
    return type == VALUE_N ? "number" : type == VALUE_B ? "binary" : "string";
}

static const char *leave_text(enum model_leave leave)
{
    return leave == MODEL_ALLOW ? "allowed" : leave == MODEL_REPORT ? "reported" : "refused";
}

static const char *mode_text(enum model_mode mode)
{
    return mode == MODEL_OFF ? "off" : mode == MODEL_WARN ? "warn" : "enforce";
}

static const char *stream_text(enum model_stream stream)
{
    static const char *const texts[] = {"off", "keys only", "new image", "old image",
                                        "new and old images"};
    return texts[stream];
}

static void settings(const struct docs *docs, const struct model_table *table)
{
    struct buf *out = docs->out;
    if (table->type_attribute.len > 0)
        buf_printf(out, "- **Entity type**: `%.*s` names the entity of each item.\n",
                   SLICE_FMT(table->type_attribute));
    if (table->ttl_attribute.len > 0)
        buf_printf(out,
                   "- **Time to live**: items disappear at the time in `%.*s` (epoch seconds).\n",
                   SLICE_FMT(table->ttl_attribute));
    if (table->stream != MODEL_STREAM_NONE)
        buf_printf(out, "- **Stream**: %s.\n", stream_text(table->stream));
    if (table->pitr)
        buf_text(out, "- **Point-in-time recovery**: on.\n");
    if (table->provisioned)
        buf_printf(out, "- **Capacity**: provisioned, %llu read and %llu write units.\n",
                   (unsigned long long)table->read_units, (unsigned long long)table->write_units);
    buf_printf(out, "- **Guard**: %s; unknown attributes are %s, items of no entity are %s.\n\n",
               mode_text(table->guard), leave_text(table->unknown), leave_text(table->unmatched));
}

static void key_schema(const struct docs *docs, const struct model_table *table)
{
    docs_heading(docs, 0, "Key Schema");
    for (size_t i = 0; i < keys_count(&table->keys); i++) {
        const struct key_part *part = &table->keys.parts[i];
        buf_printf(docs->out, "- **%s key**: `%.*s` (%s)\n",
                   i < table->keys.hash_count ? "Partition" : "Sort", SLICE_FMT(part->name),
                   key_type_text(part->type));
    }
    settings(docs, table);
}

// ---- Indexes ---------------------------------------------------------------------------------

static void index_keys(struct buf *out, const struct model_index *index)
{
    for (size_t i = 0; i < keys_count(&index->keys); i++) {
        const struct key_part *part = &index->keys.parts[i];
        buf_printf(out, "- **%s key**: `%.*s` (%s)\n",
                   i < index->keys.hash_count ? "Partition" : "Sort", SLICE_FMT(part->name),
                   key_type_text(part->type));
    }
    if (index->projection == MODEL_PROJECT_KEYS)
        buf_text(out, "- **Projection**: keys only\n");
    if (index->projection == MODEL_PROJECT_INCLUDE) {
        buf_text(out, "- **Projection**: keys and");
        for (size_t i = 0; i < index->include_count; i++)
            buf_printf(out, "%s `%.*s`", i == 0 ? "" : ",", SLICE_FMT(index->include[i]));
        buf_byte(out, '\n');
    }
    buf_byte(out, '\n');
}

// Which entities have entries in an index, and of which form.
static void index_entries(const struct docs *docs, const struct model_table *table,
                          const struct model_index *index)
{
    size_t position = (size_t)(index - table->indexes);
    size_t keys = keys_count(&index->keys);
    size_t shown = keys < GRID_COLUMNS - 2 ? keys : GRID_COLUMNS - 2;
    struct grid grid;
    grid_init(&grid, shown + 2);
    grid_cell_text(&grid, "Entity");
    for (size_t i = 0; i < shown; i++) {
        docs_code_cell(&grid.text, index->keys.parts[i].name);
        grid_cell(&grid);
    }
    grid_cell_text(&grid, "Entry");
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        if (position >= entity->entry_count || !entity->entries[position].stated)
            continue;
        const struct model_entry *entry = &entity->entries[position];
        buf_slice(&grid.text, entity->name);
        grid_cell(&grid);
        for (size_t k = 0; k < shown; k++)
            part_cell(&grid, &entry->parts[k]);
        grid_cell_text(&grid, entry_sparse(entity, entry) ? "sparse" : "always");
    }
    grid_markdown(&grid, docs->out);
    grid_release(&grid);
    buf_byte(docs->out, '\n');
}

static void indexes(const struct docs *docs, const struct model_table *table, bool local)
{
    bool any = false;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        if (index->local != local)
            continue;
        if (!any)
            docs_heading(docs, 0,
                         local ? "Local Secondary Indexes (LSIs)"
                               : "Global Secondary Indexes (GSIs)");
        any = true;
        struct buf title;
        buf_init(&title, 4096);
        buf_slice(&title, index->name);
        buf_byte(&title, 0);
        docs_heading(docs, 1, title.failed ? "" : (const char *)title.ptr);
        buf_release(&title);
        docs_paragraph(docs, index->doc);
        index_keys(docs->out, index);
        index_entries(docs, table, index);
    }
}

// ---- The document ----------------------------------------------------------------------------

static void table_docs(struct docs *docs, const struct model_table *table, bool several)
{
    if (several) {
        docs->level = 2;
        buf_printf(docs->out, "## Table %.*s\n\n", SLICE_FMT(table->name));
        docs->level = 3;
        docs_paragraph(docs, table->doc);
    }
    overview(docs, table);
    key_schema(docs, table);
    indexes(docs, table, false);
    indexes(docs, table, true);
    docs_entities(docs, table);
    docs_accesses(docs, table);
}

void generate_docs(const struct model *model, const struct generate_options *options,
                   struct buf *out)
{
    struct docs docs = {.model = model, .options = options, .out = out, .level = 2};
    size_t wanted = 0;
    const struct model_table *only = NULL;
    for (size_t i = 0; i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i])) {
            only = &model->tables[i];
            wanted++;
        }
    }
    buf_text(out, "<!-- ");
    text_banner(out, model);
    buf_text(out, " -->\n\n# ");
    buf_slice(out, wanted == 1 ? only->name : generate_stem(model));
    buf_text(out, "\n\n");
    if (wanted == 1)
        docs_paragraph(&docs, only->doc);
    for (size_t i = 0; i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i]))
            table_docs(&docs, &model->tables[i], wanted > 1);
    }
    docs.level = 2;
    docs_types(&docs);
    docs_rules(&docs);
    docs_diagram(&docs);
    while (out->len > 1 && out->ptr[out->len - 1] == '\n' && out->ptr[out->len - 2] == '\n')
        out->len--;
}
