// `dolmen generate docs`: a model as a document to read, with the sections that teams write by
// hand: overview, key schema, indexes and what each entity puts there, entities with their
// attributes, access patterns with index and key condition, rules, and a diagram.
#include "generate/docs.h"

#include "model/rules.h"

void docs_heading(const struct docs *docs, unsigned deeper, struct slice title)
{
    for (unsigned i = 0; i < docs->level + deeper; i++)
        buf_byte(docs->w->out, '#');
    PUT(docs->w, " %s\n\n", title);
}

void docs_paragraph(const struct docs *docs, struct slice doc)
{
    struct buf *out = docs->w->out;
    if (doc.len == 0)
        return;
    size_t start = out->len;
    text_comment(out, "", doc);
    // A comment behind a declaration is often no whole sentence; here it stands alone.
    if (!out->failed && out->len > start + 1) {
        uint8_t *first = out->ptr + start;
        if (first[0] >= 'a' && first[0] <= 'z' && first[1] >= 'a' && first[1] <= 'z')
            first[0] = (uint8_t)(first[0] - 'a' + 'A');
        uint8_t last = out->ptr[out->len - 2];
        if ((last >= 'a' && last <= 'z') || (last >= '0' && last <= '9') || last == ')') {
            out->len--;
            buf_text(out, ".\n");
        }
    }
    buf_byte(out, '\n');
}

struct slice docs_code(struct writer *w, struct slice text)
{
    bool quotes = text.len > 0 && memchr(text.ptr, '`', text.len) != NULL;
    return TEXT(w, quotes ? "``%s``" : "`%s`", text);
}

struct slice docs_code_cell(struct writer *w, struct slice text)
{
    return TEXT(w, "`%s`", text_escaped(w, "|", text));
}

struct slice docs_cell(struct writer *w, struct slice doc)
{
    return text_escaped(w, "|", text_line(w, doc));
}

void docs_grid(const struct docs *docs, struct grid *grid)
{
    grid_markdown(grid);
    buf_byte(docs->w->out, '\n');
}

// The names of key attributes as the head of columns.
static void key_heads(struct grid *grid, const struct key_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        grid_cell(grid, docs_code_cell(grid->w, parts[i].name));
}

// What an entity puts into them.
static void key_cells(struct grid *grid, const struct model_key_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        grid_cell(grid, docs_code_cell(grid->w, text_key_part(grid->w, &parts[i])));
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

static void overview(const struct docs *docs, const struct model_table *table)
{
    docs_heading(docs, 0, SLICE_LIT("Overview"));
    buf_printf(docs->w->out, "Table `%.*s` holds %zu %s", SLICE_FMT(table->name),
               table->entity_count, table->entity_count == 1 ? "kind of item" : "kinds of items");
    if (table->index_count > 0)
        buf_printf(docs->w->out, ", has %zu %s", table->index_count,
                   table->index_count == 1 ? "secondary index" : "secondary indexes");
    buf_printf(docs->w->out, " and serves %zu access pattern%s.\n\n", table->access_count,
               table->access_count == 1 ? "" : "s");
    if (table->entity_count == 0)
        return;
    size_t keys = keys_count(&table->keys);
    struct grid grid;
    grid_init(&grid, docs->w, 2 + keys);
    grid_cell(&grid, SLICE_LIT("Entity"));
    key_heads(&grid, table->keys.parts, keys);
    grid_cell(&grid, SLICE_LIT("What it is"));
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        grid_cell(&grid, entity->name);
        key_cells(&grid, entity->keys, keys);
        grid_cell(&grid, docs_cell(docs->w, first_sentence(entity->doc)));
    }
    docs_grid(docs, &grid);
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
    struct writer *w = docs->w;
    if (table->type_attribute.len > 0)
        PUT(w, "- **Entity type**: `%s` names the entity of each item.\n", table->type_attribute);
    if (table->ttl_attribute.len > 0)
        PUT(w, "- **Time to live**: items disappear at the time in `%s` (epoch seconds).\n",
            table->ttl_attribute);
    if (table->stream != MODEL_STREAM_NONE)
        PUT(w, "- **Stream**: %s.\n", slice_str(stream_text(table->stream)));
    if (table->pitr)
        buf_text(w->out, "- **Point-in-time recovery**: on.\n");
    if (table->provisioned)
        PUT(w, "- **Capacity**: provisioned, %s read and %s write units.\n",
            text_u64(w, table->read_units), text_u64(w, table->write_units));
    PUT(w, "- **Guard**: %s; unknown attributes are %s, items of no entity are %s.\n\n",
        slice_str(mode_text(table->guard)), slice_str(leave_text(table->unknown)),
        slice_str(leave_text(table->unmatched)));
}

static void key_lines(struct writer *w, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys_count(keys); i++)
        PUT(w, "- **%s key**: `%s` (%s)\n", slice_str(i < keys->hash_count ? "Partition" : "Sort"),
            keys->parts[i].name, slice_str(key_type_text(keys->parts[i].type)));
}

// ---- Indexes ---------------------------------------------------------------------------------

static void projection(struct writer *w, const struct model_index *index)
{
    if (index->projection == MODEL_PROJECT_KEYS)
        buf_text(w->out, "- **Projection**: keys only\n");
    if (index->projection == MODEL_PROJECT_INCLUDE) {
        buf_text(w->out, "- **Projection**: keys and");
        for (size_t i = 0; i < index->include_count; i++)
            PUT(w, i == 0 ? " `%s`" : ", `%s`", index->include[i]);
        buf_byte(w->out, '\n');
    }
    buf_byte(w->out, '\n');
}

// Which entities have entries in an index, and of which form.
static void index_entries(const struct docs *docs, const struct model_table *table,
                          const struct model_index *index)
{
    size_t position = (size_t)(index - table->indexes);
    size_t keys = keys_count(&index->keys);
    // A key of many parts would make the table too wide to read.
    size_t shown = keys < GRID_COLUMNS - 2 ? keys : GRID_COLUMNS - 2;
    struct grid grid;
    grid_init(&grid, docs->w, shown + 2);
    grid_cell(&grid, SLICE_LIT("Entity"));
    key_heads(&grid, index->keys.parts, shown);
    grid_cell(&grid, SLICE_LIT("Entry"));
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        if (position >= entity->entry_count || !entity->entries[position].stated)
            continue;
        const struct model_entry *entry = &entity->entries[position];
        grid_cell(&grid, entity->name);
        key_cells(&grid, entry->parts, shown);
        grid_cell(&grid, entry->when != NULL
                             ? TEXT(docs->w, "when %s",
                                    docs_code_cell(docs->w, text_line(docs->w, entry->when->text)))
                             : slice_str(entry_sparse(entity, entry) ? "sparse" : "always"));
    }
    docs_grid(docs, &grid);
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
                         local ? SLICE_LIT("Local Secondary Indexes (LSIs)")
                               : SLICE_LIT("Global Secondary Indexes (GSIs)"));
        any = true;
        docs_heading(docs, 1, index->name);
        docs_paragraph(docs, index->doc);
        key_lines(docs->w, &index->keys);
        projection(docs->w, index);
        index_entries(docs, table, index);
    }
}

// ---- The document ----------------------------------------------------------------------------

static void table_docs(struct docs *docs, const struct model_table *table, bool several)
{
    if (several) {
        docs->level = 3;
        PUT(docs->w, "## Table %s\n\n", table->name);
        docs_paragraph(docs, table->doc);
    }
    overview(docs, table);
    docs_heading(docs, 0, SLICE_LIT("Key Schema"));
    key_lines(docs->w, &table->keys);
    settings(docs, table);
    indexes(docs, table, false);
    indexes(docs, table, true);
    docs_entities(docs, table);
    docs_accesses(docs, table);
}

void generate_docs(struct writer *w)
{
    struct docs docs = {.w = w, .level = 2};
    struct buf *out = w->out;
    const struct model_table *first = next_table(w, NULL);
    bool one = first != NULL && next_table(w, first) == NULL;
    PUT(w, "<!-- %s -->\n\n# %s\n\n", text_banner(w), one ? first->name : text_stem(w->model));
    if (one)
        docs_paragraph(&docs, first->doc);
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        table_docs(&docs, table, !one);
    docs.level = 2;
    docs_types(&docs);
    docs_rules(&docs);
    docs_consequences(&docs);
    docs_diagram(&docs);
    while (out->len > 1 && out->ptr[out->len - 1] == '\n' && out->ptr[out->len - 2] == '\n')
        out->len--;
}
