// `dolmen generate terraform`: one aws_dynamodb_table for each table, laid out as `terraform fmt`
// does: two blanks a level, and the `=` of lines that follow each other in one column.
#include "generate/infra.h"

// A string of HCL, in which "${" and "%{" would begin an expression.
static void hcl_string(struct buf *out, struct slice text)
{
    struct buf quoted;
    buf_init(&quoted, 1 << 20);
    text_quoted(&quoted, text);
    for (size_t i = 0; i < quoted.len; i++) {
        uint8_t c = quoted.ptr[i];
        buf_byte(out, c);
        if ((c == '$' || c == '%') && quoted.ptr[i + 1] == '{')
            buf_byte(out, c);
    }
    buf_release(&quoted);
}

static void set_string(struct grid *grid, const char *name, struct slice value)
{
    grid_cell_text(grid, name);
    hcl_string(&grid->text, value);
    grid_cell(grid);
}

static void set_plain(struct grid *grid, const char *name, const char *value)
{
    grid_cell_text(grid, name);
    grid_cell_text(grid, value);
}

static void set_number(struct grid *grid, const char *name, uint64_t value)
{
    grid_cell_text(grid, name);
    buf_u64(&grid->text, value);
    grid_cell(grid);
}

static void lines(struct grid *grid, const char *before, struct buf *out)
{
    grid_assignments(grid, before, out);
    grid_release(grid);
    grid_init(grid, 2);
}

static void attribute_block(void *context, const struct key_part *part)
{
    struct buf *out = context;
    buf_text(out, "\n  attribute {\n    name = ");
    hcl_string(out, part->name);
    buf_printf(out, "\n    type = \"%s\"\n  }\n", value_type_name(part->type));
}

// Keys of several attributes have blocks of their own.
static void key_blocks(struct buf *out, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys_count(keys); i++) {
        buf_text(out, "\n    key_schema {\n      attribute_name = ");
        hcl_string(out, keys->parts[i].name);
        buf_printf(out, "\n      key_type       = \"%s\"\n    }\n",
                   i < keys->hash_count ? "HASH" : "RANGE");
    }
}

static void set_names(struct grid *grid, const char *name, size_t count, const struct slice *names)
{
    grid_cell_text(grid, name);
    buf_byte(&grid->text, '[');
    for (size_t i = 0; i < count; i++) {
        buf_text(&grid->text, i == 0 ? "" : ", ");
        hcl_string(&grid->text, names[i]);
    }
    buf_byte(&grid->text, ']');
    grid_cell(grid);
}

static void index_block(struct buf *out, const struct model_table *table,
                        const struct model_index *index)
{
    struct grid grid;
    const struct key_schema *keys = &index->keys;
    bool several = keys->hash_count > 1 || keys->range_count > 1;
    grid_init(&grid, 2);
    buf_byte(out, '\n');
    text_comment(out, "  # ", index->doc);
    buf_printf(out, "  %s_secondary_index {\n", index->local ? "local" : "global");
    set_string(&grid, "name", index->name);
    if (!several && !index->local)
        set_string(&grid, "hash_key", keys->parts[0].name);
    if (!several && keys->range_count == 1)
        set_string(&grid, "range_key", keys->parts[keys->hash_count].name);
    set_string(&grid, "projection_type", slice_str(infra_projection(index->projection)));
    if (index->projection == MODEL_PROJECT_INCLUDE)
        set_names(&grid, "non_key_attributes", index->include_count, index->include);
    if (table->provisioned && !index->local) {
        set_number(&grid, "read_capacity", table->read_units);
        set_number(&grid, "write_capacity", table->write_units);
    }
    lines(&grid, "    ", out);
    grid_release(&grid);
    if (several)
        key_blocks(out, keys);
    buf_text(out, "  }\n");
}

static void table_lines(struct buf *out, const struct model_table *table)
{
    struct grid grid;
    grid_init(&grid, 2);
    set_string(&grid, "name", table->name);
    set_string(&grid, "billing_mode",
               slice_str(table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST"));
    if (table->provisioned) {
        set_number(&grid, "read_capacity", table->read_units);
        set_number(&grid, "write_capacity", table->write_units);
    }
    set_string(&grid, "hash_key", table->keys.parts[0].name);
    if (table->keys.range_count > 0)
        set_string(&grid, "range_key", table->keys.parts[1].name);
    lines(&grid, "  ", out);
    if (table->stream != MODEL_STREAM_NONE) {
        buf_byte(out, '\n');
        set_plain(&grid, "stream_enabled", "true");
        set_string(&grid, "stream_view_type", slice_str(infra_stream(table->stream)));
        lines(&grid, "  ", out);
    }
    grid_release(&grid);
}

static void table_resource(struct buf *out, const struct model_table *table)
{
    struct grid grid;
    buf_byte(out, '\n');
    text_comment(out, "# ", table->doc);
    buf_text(out, "resource \"aws_dynamodb_table\" \"");
    text_snake(out, table->name);
    buf_text(out, "\" {\n");
    table_lines(out, table);
    key_names(table, attribute_block, out);
    for (size_t i = 0; i < table->index_count; i++)
        index_block(out, table, &table->indexes[i]);
    if (table->ttl_attribute.len > 0) {
        grid_init(&grid, 2);
        buf_text(out, "\n  ttl {\n");
        set_string(&grid, "attribute_name", table->ttl_attribute);
        set_plain(&grid, "enabled", "true");
        lines(&grid, "    ", out);
        grid_release(&grid);
        buf_text(out, "  }\n");
    }
    if (table->pitr)
        buf_text(out, "\n  point_in_time_recovery {\n    enabled = true\n  }\n");
    buf_text(out, "}\n");
}

void generate_terraform(const struct model *model, const struct generate_options *options,
                        struct buf *out)
{
    buf_text(out, "# ");
    text_banner(out, model);
    buf_byte(out, '\n');
    for (size_t i = 0; i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i]))
            table_resource(out, &model->tables[i]);
    }
}
