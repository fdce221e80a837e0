// Entities, named types, access patterns and rules of a model's documentation.
#include "generate/docs.h"

#include "model/rules.h"

// ---- Attributes ------------------------------------------------------------------------------

// What is to be known of an attribute besides its comment: a sentence.
static struct slice attribute_facts(struct writer *w, const struct model_attribute *attribute)
{
    const struct {
        bool holds;
        struct slice text;
    } facts[] = {
        {attribute->unique, SLICE_LIT("unique")},
        {attribute->immutable, SLICE_LIT("immutable")},
        {attribute->version, SLICE_LIT("counts the changes")},
        {(attribute->normal & MODEL_SQUEEZE) != 0, SLICE_LIT("blanks squeezed")},
        {(attribute->normal & MODEL_TRIM) != 0, SLICE_LIT("trimmed")},
        {(attribute->normal & MODEL_LOWER) != 0, SLICE_LIT("kept in lower case")},
        {(attribute->normal & MODEL_UPPER) != 0, SLICE_LIT("kept in upper case")},
        {attribute->deprecated, SLICE_LIT("deprecated")},
    };
    struct slice all = {NULL, 0};
    if (attribute->tally != NULL)
        all = TEXT(w, "kept by the server: %s", docs_code(w, text_line(w, attribute->tally->text)));
    else if (attribute->counted)
        all = SLICE_LIT("kept by the server: its quota counts");
    else if (attribute->always)
        all = TEXT(w, "computed: %s", docs_code(w, text_expr(w, attribute->otherwise, NULL)));
    else if (attribute->otherwise != NULL)
        all = TEXT(w, "default %s%s", docs_code(w, text_expr(w, attribute->otherwise, NULL)),
                   slice_str(attribute->on_update ? ", set again at each write" : ""));
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (facts[i].holds)
            text_add(w, &all, "; ", facts[i].text);
    }
    if (attribute->pattern.len > 0)
        text_add(w, &all, "; ", TEXT(w, "matches %s", docs_code(w, attribute->pattern)));
    if (all.len == 0)
        return all;
    uint8_t first = (uint8_t)(all.ptr[0] - 'a' + 'A'); // all begin with a small letter
    return TEXT(w, "%s%s.", slice_of(&first, 1), slice_of(all.ptr + 1, all.len - 1));
}

// The blank behind a comment, with a full stop if it has none.
static const char *sentence_end(struct slice text)
{
    return memchr(".!?", text.ptr[text.len - 1], 3) != NULL ? " " : ". ";
}

static struct slice description(struct writer *w, const struct model_attribute *attribute)
{
    struct slice text = text_line(w, attribute->doc);
    struct slice facts = attribute_facts(w, attribute);
    bool both = text.len > 0 && facts.len > 0;
    return text_escaped(w, "|",
                        TEXT(w, "%s%s%s", text, slice_str(both ? sentence_end(text) : ""), facts));
}

static bool type_shown_below(const struct model_type *type)
{
    return type->kind == MODEL_OBJECT && type->name.len == 0 && type->field_count > 0;
}

static struct slice type_cell(struct writer *w, const struct model_attribute *attribute)
{
    const struct model_type *bare = type_bare(attribute->type);
    struct slice type;
    if (type_shown_below(bare))
        type = slice_str(type_nullable(attribute->type) ? "object | null" : "object");
    else if (bare->kind == MODEL_LIST && bare->name.len == 0 && type_shown_below(bare->item))
        type = SLICE_LIT("object[]");
    else
        type = text_type(w, attribute->type);
    return docs_code_cell(w, TEXT(w, "%s%s", type, slice_str(model_optional_mark(attribute))));
}

static void field_rows(struct grid *grid, struct slice before, const struct model_type *type);

// Fields of an object that has no name of its own follow as rows of their own: `request.seed`.
static void attribute_row(struct grid *grid, struct slice before,
                          const struct model_attribute *attribute)
{
    struct slice name = TEXT(grid->w, "%s%s", before, attribute->name);
    const struct model_type *bare = type_bare(attribute->type);
    bool list = bare->kind == MODEL_LIST;
    const struct model_type *inner = list ? type_bare(bare->item) : bare;
    grid_cell(grid, docs_code_cell(grid->w, name));
    grid_cell(grid, type_cell(grid->w, attribute));
    grid_cell(grid, description(grid->w, attribute));
    if (inner->kind == MODEL_OBJECT && inner->name.len == 0 && bare->name.len == 0)
        field_rows(grid, TEXT(grid->w, list ? "%s[]." : "%s.", name), inner);
}

static void field_rows(struct grid *grid, struct slice before, const struct model_type *type)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    for (size_t i = 0; i < count; i++)
        attribute_row(grid, before, fields[i]);
}

static void three_heads(const struct docs *docs, struct grid *grid, const char *first,
                        const char *second)
{
    grid_init(grid, docs->w, 3);
    grid_cell(grid, slice_str(first));
    grid_cell(grid, slice_str(second));
    grid_cell(grid, SLICE_LIT("Description"));
}

// ---- Entities --------------------------------------------------------------------------------

static void key_line(const struct docs *docs, const struct model_key_part *part, const char *mark)
{
    PUT(docs->w, "- **%s%s**: %s\n", part->name, slice_str(mark),
        docs_code(docs->w, text_key_part(docs->w, part)));
}

static void entity_docs(const struct docs *docs, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    docs_heading(docs, 1, entity->name);
    docs_paragraph(docs, entity->doc);
    for (size_t i = 0; i < keys_count(&table->keys); i++)
        key_line(docs, &entity->keys[i], "");
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; entry->stated && i < keys_count(&entry->index->keys); i++) {
            if (part_is_made(entity, &entry->parts[i]) && !part_repeated(entity, e, i))
                key_line(docs, &entry->parts[i], entry_sparse(entity, entry) ? "?" : "");
        }
    }
    if (table->type_attribute.len > 0)
        PUT(docs->w, "- **%s**: `%s`\n", table->type_attribute, entity->type_value);
    buf_byte(docs->w->out, '\n');
    if (entity->attribute_count == 0)
        return;
    struct grid grid;
    three_heads(docs, &grid, "Attribute", "Type");
    for (size_t i = 0; i < entity->attribute_count; i++)
        attribute_row(&grid, SLICE_LIT(""), &entity->attributes[i]);
    docs_grid(docs, &grid);
    docs_entity_rules(docs, entity);
}

void docs_entities(const struct docs *docs, const struct model_table *table)
{
    if (table->entity_count == 0)
        return;
    docs_heading(docs, 0, SLICE_LIT("Entity Schemas"));
    if (table->index_count > 0)
        buf_text(docs->w->out, "A key marked with `?` is sparse: it is there only while everything "
                               "it is made of is.\n\n");
    for (size_t i = 0; i < table->entity_count; i++)
        entity_docs(docs, &table->entities[i]);
}

// ---- Types -----------------------------------------------------------------------------------

static bool has_fields(const struct model_type *type)
{
    return type->kind == MODEL_OBJECT && type->field_count > 0;
}

// Types that are nothing but a name for another one, in one table.
static void docs_aliases(const struct docs *docs)
{
    const struct model *model = docs->w->model;
    struct grid grid;
    size_t count = 0;
    three_heads(docs, &grid, "Type", "Is");
    for (size_t i = 0; i < model->type_count; i++) {
        const struct model_type *type = model->types[i];
        if (has_fields(type))
            continue;
        struct model_type unnamed = *type; // spelt out, not by its name
        unnamed.name = SLICE_LIT("");
        grid_cell(&grid, docs_code_cell(docs->w, type->name));
        grid_cell(&grid, docs_code_cell(docs->w, text_type(docs->w, &unnamed)));
        grid_cell(&grid, docs_cell(docs->w, type->doc));
        count++;
    }
    if (count > 0)
        docs_grid(docs, &grid);
    else
        buf_release(&grid.cells);
}

void docs_types(const struct docs *docs)
{
    const struct model *model = docs->w->model;
    if (model->type_count == 0)
        return;
    docs_heading(docs, 0, SLICE_LIT("Types"));
    docs_aliases(docs);
    for (size_t i = 0; i < model->type_count; i++) {
        struct grid grid;
        if (!has_fields(model->types[i]))
            continue;
        docs_heading(docs, 1, model->types[i]->name);
        docs_paragraph(docs, model->types[i]->doc);
        three_heads(docs, &grid, "Attribute", "Type");
        field_rows(&grid, SLICE_LIT(""), model->types[i]);
        docs_grid(docs, &grid);
    }
}

// ---- Access patterns -------------------------------------------------------------------------

static struct slice condition_value(struct writer *w, const struct model_expr *value,
                                    const struct model_access *access)
{
    const struct model_expr *inner = value; // a parameter in its normal form is still that one
    while (inner->kind == MODEL_EXPR_CALL && inner->arg_count == 1 &&
           (inner->function == MODEL_FN_LOWER || inner->function == MODEL_FN_UPPER ||
            inner->function == MODEL_FN_TRIM))
        inner = inner->args[0];
    return inner->kind == MODEL_EXPR_PARAM ? TEXT(w, "{%s}", text_expr(w, inner, access))
                                           : text_expr(w, value, access);
}

static void conditions(struct writer *w, size_t count, const struct model_condition *list,
                       const struct model_access *access)
{
    for (size_t i = 0; i < count; i++) {
        const char *op = list[i].op == MODEL_OP_BEGINS ? "begins_with" : text_op(list[i].op);
        struct slice path = {NULL, 0};
        struct slice values = {NULL, 0};
        for (size_t k = 0; k < list[i].step_count; k++)
            text_add(w, &path, ".", list[i].steps[k]);
        for (size_t k = 0; k < 2 && list[i].values[k] != NULL; k++)
            text_add(w, &values, " and ", condition_value(w, list[i].values[k], access));
        PUT(w, i == 0 ? " %s" : ", %s",
            docs_code(
                w, TEXT(w, values.len > 0 ? "%s %s %s" : "%s %s%s", path, slice_str(op), values)));
    }
}

static void access_line(struct writer *w, const struct model_access *access, size_t number)
{
    struct slice params = {NULL, 0};
    for (size_t i = 0; i < access->param_count; i++)
        text_add(w, &params, ", ", access->params[i].name);
    PUT(w, "%s. **%s**(%s): ", text_u64(w, number), access->name, params);
    if (access->doc.len > 0)
        PUT(w, "%s%s", text_line(w, access->doc), slice_str(sentence_end(access->doc)));
    if (access->index == NULL)
        buf_text(w->out, access->get ? "Main table, one item, with" : "Main table with");
    else
        PUT(w, "%s with", access->index->name);
    conditions(w, access->key_count, access->keys, access);
    if (access->filter_count > 0)
        buf_text(w->out, ", filter");
    conditions(w, access->filter_count, access->filters, access);
    if (access->descending)
        buf_text(w->out, ", newest first");
    if (access->limit > 0)
        PUT(w, ", at most %s", text_u64(w, access->limit));
    if (access->consistent)
        buf_text(w->out, ", strongly consistent");
    for (size_t i = 0; access->entity_count > 1 && i < access->entity_count; i++)
        PUT(w, i == 0 ? "; items of %s" : ", %s", access->entities[i]->name);
    buf_text(w->out, ".\n");
}

void docs_accesses(const struct docs *docs, const struct model_table *table)
{
    if (table->access_count == 0)
        return;
    docs_heading(docs, 0, SLICE_LIT("Access Patterns"));
    for (size_t e = 0; e < table->entity_count; e++) {
        size_t number = 0;
        for (size_t i = 0; i < table->access_count; i++) {
            if (table->accesses[i].entities[0] != &table->entities[e])
                continue;
            if (number == 0)
                docs_heading(docs, 1, table->entities[e].name);
            access_line(docs->w, &table->accesses[i], ++number);
        }
        if (number > 0)
            buf_byte(docs->w->out, '\n');
    }
}

// ---- Rules -----------------------------------------------------------------------------------

void docs_rules(const struct docs *docs)
{
    struct writer *w = docs->w;
    if (w->model->rule_count == 0)
        return;
    docs_heading(docs, 0, SLICE_LIT("Rules"));
    for (size_t i = 0; i < w->model->rule_count; i++) {
        const struct model_rule *rule = &w->model->rules[i];
        PUT(w, rule->doc.len > 0 ? "- %s: %s\n" : "- %s%s\n",
            docs_code(w, text_line(w, rule->text)), text_line(w, rule->doc));
    }
    buf_byte(w->out, '\n');
}
