// Entities, named types, access patterns and rules of a model's documentation.
#include "generate/docs.h"

static void heading_slice(const struct docs *docs, unsigned deeper, struct slice title)
{
    struct buf text;
    buf_init(&text, 4096);
    buf_slice(&text, title);
    buf_byte(&text, 0);
    docs_heading(docs, deeper, text.failed ? "" : (const char *)text.ptr);
    buf_release(&text);
}

// ---- Attributes ------------------------------------------------------------------------------

static void cell_escaped(struct grid *grid, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|')
            buf_byte(&grid->text, '\\');
        buf_byte(&grid->text, text.ptr[i]);
    }
}

static void fact(struct buf *facts, const char *text)
{
    buf_text(facts, facts->len == 0 ? "" : "; ");
    buf_text(facts, text);
}

static void default_fact(struct buf *facts, const struct model_attribute *attribute)
{
    struct buf code;
    if (attribute->otherwise == NULL)
        return;
    buf_init(&code, 64 << 10);
    text_expr(&code, attribute->otherwise, NULL);
    fact(facts, "default ");
    docs_code(facts, buf_view(&code));
    if (attribute->on_update)
        buf_text(facts, ", set again at each write");
    buf_release(&code);
}

// What is to be known of an attribute besides its comment.
static void attribute_facts(struct buf *facts, const struct model_attribute *attribute)
{
    default_fact(facts, attribute);
    if (attribute->unique)
        fact(facts, "unique");
    if (attribute->immutable)
        fact(facts, "immutable");
    if (attribute->version)
        fact(facts, "counts the changes");
    if (attribute->normal & MODEL_TRIM)
        fact(facts, "trimmed");
    if (attribute->normal & MODEL_LOWER)
        fact(facts, "kept in lower case");
    if (attribute->normal & MODEL_UPPER)
        fact(facts, "kept in upper case");
    if (attribute->deprecated)
        fact(facts, "deprecated");
}

static void description_cell(struct grid *grid, const struct model_attribute *attribute)
{
    struct buf text;
    struct buf facts;
    buf_init(&text, 1 << 20);
    buf_init(&facts, 1 << 20);
    text_line(&text, attribute->doc);
    attribute_facts(&facts, attribute);
    cell_escaped(grid, buf_view(&text));
    if (text.len > 0 && facts.len > 0)
        buf_text(&grid->text, memchr(".!?", text.ptr[text.len - 1], 3) != NULL ? " " : ". ");
    if (facts.len > 0) {
        if (facts.ptr[0] >= 'a' && facts.ptr[0] <= 'z')
            facts.ptr[0] = (uint8_t)(facts.ptr[0] - 'a' + 'A');
        cell_escaped(grid, buf_view(&facts));
        buf_byte(&grid->text, '.');
    }
    buf_release(&text);
    buf_release(&facts);
    grid_cell(grid);
}

static void field_rows(struct grid *grid, struct slice before, const struct model_type *type);

// Fields of an object that has no name of its own follow as rows of their own: `request.seed`.
static void nested_rows(struct grid *grid, struct slice before, struct slice name,
                        const struct model_type *type)
{
    const struct model_type *bare = type_bare(type);
    bool list = bare->kind == MODEL_LIST;
    const struct model_type *inner = list ? type_bare(bare->item) : bare;
    if (inner->kind != MODEL_OBJECT || inner->name.len > 0 || bare->name.len > 0)
        return;
    struct buf path;
    buf_init(&path, 4096);
    buf_slice(&path, before);
    buf_slice(&path, name);
    buf_text(&path, list ? "[]." : ".");
    field_rows(grid, buf_view(&path), inner);
    buf_release(&path);
}

static bool type_shown_below(const struct model_type *type)
{
    return type->kind == MODEL_OBJECT && type->name.len == 0 && type->field_count > 0;
}

static void type_cell(struct grid *grid, const struct model_attribute *attribute)
{
    struct buf type;
    const struct model_type *bare = type_bare(attribute->type);
    buf_init(&type, 64 << 10);
    if (type_shown_below(bare))
        buf_text(&type, type_nullable(attribute->type) ? "object | null" : "object");
    else if (bare->kind == MODEL_LIST && bare->name.len == 0 && type_shown_below(bare->item))
        buf_text(&type, "object[]");
    else
        model_type_text(attribute->type, &type);
    if (attribute->optional)
        buf_byte(&type, '?');
    docs_code_cell(&grid->text, buf_view(&type));
    buf_release(&type);
    grid_cell(grid);
}

static void attribute_row(struct grid *grid, struct slice before,
                          const struct model_attribute *attribute)
{
    struct buf name;
    buf_init(&name, 4096);
    buf_slice(&name, before);
    buf_slice(&name, attribute->name);
    docs_code_cell(&grid->text, buf_view(&name));
    buf_release(&name);
    grid_cell(grid);
    type_cell(grid, attribute);
    description_cell(grid, attribute);
    nested_rows(grid, before, attribute->name, attribute->type);
}

static void field_rows(struct grid *grid, struct slice before, const struct model_type *type)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    for (size_t i = 0; i < count; i++)
        attribute_row(grid, before, fields[i]);
}

static void attribute_head(struct grid *grid)
{
    grid_init(grid, 3);
    grid_cell_text(grid, "Attribute");
    grid_cell_text(grid, "Type");
    grid_cell_text(grid, "Description");
}

static void attribute_table(const struct docs *docs, struct grid *grid)
{
    grid_markdown(grid, docs->out);
    grid_release(grid);
    buf_byte(docs->out, '\n');
}

// ---- Entities --------------------------------------------------------------------------------

static void key_line(const struct docs *docs, const struct model_key_part *part, const char *mark)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    text_key_part(&text, part);
    buf_printf(docs->out, "- **%.*s%s**: ", SLICE_FMT(part->name), mark);
    docs_code(docs->out, buf_view(&text));
    buf_byte(docs->out, '\n');
    buf_release(&text);
}

static void entity_docs(const struct docs *docs, const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    heading_slice(docs, 1, entity->name);
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
        buf_printf(docs->out, "- **%.*s**: `%.*s`\n", SLICE_FMT(table->type_attribute),
                   SLICE_FMT(entity->type_value));
    buf_byte(docs->out, '\n');
    if (entity->attribute_count == 0)
        return;
    struct grid grid;
    attribute_head(&grid);
    for (size_t i = 0; i < entity->attribute_count; i++)
        attribute_row(&grid, SLICE_LIT(""), &entity->attributes[i]);
    attribute_table(docs, &grid);
}

void docs_entities(const struct docs *docs, const struct model_table *table)
{
    if (table->entity_count == 0)
        return;
    docs_heading(docs, 0, "Entity Schemas");
    if (table->index_count > 0)
        buf_text(docs->out, "A key marked with `?` is sparse: it is there only while everything it "
                            "is made of is.\n\n");
    for (size_t i = 0; i < table->entity_count; i++)
        entity_docs(docs, &table->entities[i]);
}

// ---- Types -----------------------------------------------------------------------------------

static bool has_fields(const struct model_type *type)
{
    return type->kind == MODEL_OBJECT && type->field_count > 0;
}

static void alias_row(struct grid *grid, const struct model_type *type)
{
    struct model_type unnamed = *type; // spelt out, not by its name
    struct buf text;
    buf_init(&text, 64 << 10);
    unnamed.name = SLICE_LIT("");
    model_type_text(&unnamed, &text);
    docs_code_cell(&grid->text, type->name);
    grid_cell(grid);
    docs_code_cell(&grid->text, buf_view(&text));
    grid_cell(grid);
    buf_clear(&text);
    text_line(&text, type->doc);
    cell_escaped(grid, buf_view(&text));
    grid_cell(grid);
    buf_release(&text);
}

// Types that are nothing but a name for another one, in one table.
static void docs_aliases(const struct docs *docs)
{
    struct grid grid;
    size_t count = 0;
    grid_init(&grid, 3);
    grid_cell_text(&grid, "Type");
    grid_cell_text(&grid, "Is");
    grid_cell_text(&grid, "Description");
    for (size_t i = 0; i < docs->model->type_count; i++) {
        if (has_fields(docs->model->types[i]))
            continue;
        alias_row(&grid, docs->model->types[i]);
        count++;
    }
    if (count > 0)
        attribute_table(docs, &grid);
    else
        grid_release(&grid);
}

void docs_types(const struct docs *docs)
{
    if (docs->model->type_count == 0)
        return;
    docs_heading(docs, 0, "Types");
    docs_aliases(docs);
    for (size_t i = 0; i < docs->model->type_count; i++) {
        const struct model_type *type = docs->model->types[i];
        struct grid grid;
        if (!has_fields(type))
            continue;
        heading_slice(docs, 1, type->name);
        docs_paragraph(docs, type->doc);
        attribute_head(&grid);
        field_rows(&grid, SLICE_LIT(""), type);
        attribute_table(docs, &grid);
    }
}

// ---- Access patterns -------------------------------------------------------------------------

static void condition_value(struct buf *out, const struct model_expr *value,
                            const struct model_access *access)
{
    const struct model_expr *inner = value; // a parameter in its normal form is still that one
    while (inner->kind == MODEL_EXPR_CALL && inner->arg_count == 1 &&
           (inner->function == MODEL_FN_LOWER || inner->function == MODEL_FN_UPPER ||
            inner->function == MODEL_FN_TRIM))
        inner = inner->args[0];
    if (inner->kind == MODEL_EXPR_PARAM) {
        buf_text(out, "{");
        text_expr(out, inner, access);
        buf_text(out, "}");
    } else {
        text_expr(out, value, access);
    }
}

static void condition(struct buf *out, const struct model_condition *condition,
                      const struct model_access *access)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    for (size_t i = 0; i < condition->step_count; i++) {
        buf_text(&text, i == 0 ? "" : ".");
        buf_slice(&text, condition->steps[i]);
    }
    const char *op = condition->op == MODEL_OP_BEGINS ? "begins_with" : text_op(condition->op);
    buf_printf(&text, " %s", op);
    for (size_t i = 0; i < 2 && condition->values[i] != NULL; i++) {
        buf_text(&text, i == 0 ? " " : " and ");
        condition_value(&text, condition->values[i], access);
    }
    docs_code(out, buf_view(&text));
    buf_release(&text);
}

static void conditions(struct buf *out, size_t count, const struct model_condition *list,
                       const struct model_access *access)
{
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? " " : ", ");
        condition(out, &list[i], access);
    }
}

static void access_line(const struct docs *docs, const struct model_access *access, size_t number)
{
    struct buf *out = docs->out;
    buf_printf(out, "%zu. **%.*s**(", number, SLICE_FMT(access->name));
    for (size_t i = 0; i < access->param_count; i++)
        buf_printf(out, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(access->params[i].name));
    buf_text(out, "): ");
    if (access->doc.len > 0) {
        text_line(out, access->doc);
        buf_text(out, memchr(".!?", access->doc.ptr[access->doc.len - 1], 3) != NULL ? " " : ". ");
    }
    if (access->index == NULL)
        buf_text(out, access->get ? "Main table, one item, with" : "Main table with");
    else
        buf_printf(out, "%.*s with", SLICE_FMT(access->index->name));
    conditions(out, access->key_count, access->keys, access);
    if (access->filter_count > 0)
        buf_text(out, ", filter");
    conditions(out, access->filter_count, access->filters, access);
    if (access->descending)
        buf_text(out, ", newest first");
    if (access->limit > 0)
        buf_printf(out, ", at most %llu", (unsigned long long)access->limit);
    if (access->consistent)
        buf_text(out, ", strongly consistent");
    if (access->entity_count > 1) {
        buf_text(out, "; items of");
        for (size_t i = 0; i < access->entity_count; i++)
            buf_printf(out, "%s %.*s", i == 0 ? "" : ",", SLICE_FMT(access->entities[i]->name));
    }
    buf_text(out, ".\n");
}

void docs_accesses(const struct docs *docs, const struct model_table *table)
{
    if (table->access_count == 0)
        return;
    docs_heading(docs, 0, "Access Patterns");
    for (size_t e = 0; e < table->entity_count; e++) {
        size_t number = 0;
        for (size_t i = 0; i < table->access_count; i++) {
            if (table->accesses[i].entities[0] != &table->entities[e])
                continue;
            if (number == 0)
                heading_slice(docs, 1, table->entities[e].name);
            access_line(docs, &table->accesses[i], ++number);
        }
        if (number > 0)
            buf_byte(docs->out, '\n');
    }
}

// ---- Rules -----------------------------------------------------------------------------------

void docs_rules(const struct docs *docs)
{
    if (docs->model->rule_count == 0)
        return;
    docs_heading(docs, 0, "Rules");
    for (size_t i = 0; i < docs->model->rule_count; i++) {
        const struct model_rule *rule = &docs->model->rules[i];
        struct buf line;
        buf_init(&line, 64 << 10);
        text_line(&line, rule->text);
        buf_text(docs->out, "- ");
        docs_code(docs->out, buf_view(&line));
        buf_release(&line);
        if (rule->doc.len > 0) {
            buf_text(docs->out, ": ");
            text_line(docs->out, rule->doc);
        }
        buf_byte(docs->out, '\n');
    }
    buf_byte(docs->out, '\n');
}
