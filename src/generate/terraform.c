// `dolmen generate terraform`: one aws_dynamodb_table for each table, laid out as `terraform fmt`
// does: two blanks a level, and the `=` of lines that follow each other in one column.
#include "generate/infra.h"

// A string of HCL, in which "${" and "%{" would begin an expression.
static struct slice hcl_string(struct writer *w, struct slice text)
{
    struct slice quoted = TEXT(w, "%q", text);
    struct buf out;
    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < quoted.len; i++) {
        uint8_t c = quoted.ptr[i];
        buf_byte(&out, c);
        if ((c == '$' || c == '%') && quoted.ptr[i + 1] == '{') // a quote is behind the last one
            buf_byte(&out, c);
    }
    return text_keep(w, &out);
}

static void set_plain(struct grid *grid, const char *name, struct slice value)
{
    grid_cell(grid, slice_str(name));
    grid_cell(grid, value);
}

static void set_string(struct grid *grid, const char *name, struct slice value)
{
    set_plain(grid, name, hcl_string(grid->w, value));
}

static void set_capacity(struct grid *grid, const struct model_table *table)
{
    set_plain(grid, "read_capacity", text_u64(grid->w, table->read_units));
    set_plain(grid, "write_capacity", text_u64(grid->w, table->write_units));
}

static void set_names(struct grid *grid, const char *name, size_t count, const struct slice *names)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        text_add(grid->w, &list, ", ", hcl_string(grid->w, names[i]));
    set_plain(grid, name, TEXT(grid->w, "[%s]", list));
}

static void attribute_blocks(struct writer *w, const struct model_table *table)
{
    struct key_names names;
    key_names(table, &names);
    for (size_t i = 0; i < names.count; i++)
        PUT(w, "\n  attribute {\n    name = %s\n    type = \"%s\"\n  }\n",
            hcl_string(w, names.list[i]->name), slice_str(value_type_name(names.list[i]->type)));
}

// Keys of several attributes have blocks of their own.
static void key_blocks(struct writer *w, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys_count(keys); i++)
        PUT(w,
            "\n    key_schema {\n      attribute_name = %s\n      key_type       = \"%s\"\n    }\n",
            hcl_string(w, keys->parts[i].name), slice_str(infra_key_type(keys, i)));
}

static void index_block(struct writer *w, const struct model_table *table,
                        const struct model_index *index)
{
    struct grid grid;
    const struct key_schema *keys = &index->keys;
    bool several = keys->hash_count > 1 || keys->range_count > 1;
    grid_init(&grid, w, 2);
    buf_byte(w->out, '\n');
    text_comment(w->out, "  # ", index->doc);
    PUT(w, "  %s_secondary_index {\n", slice_str(index->local ? "local" : "global"));
    set_string(&grid, "name", index->name);
    if (!several && !index->local)
        set_string(&grid, "hash_key", keys->parts[0].name);
    if (!several && keys->range_count == 1)
        set_string(&grid, "range_key", keys->parts[keys->hash_count].name);
    set_string(&grid, "projection_type", slice_str(infra_projection(index->projection)));
    if (index->projection == MODEL_PROJECT_INCLUDE)
        set_names(&grid, "non_key_attributes", index->include_count, index->include);
    if (table->provisioned && !index->local)
        set_capacity(&grid, table);
    grid_assignments(&grid, "    ");
    if (several)
        key_blocks(w, keys);
    buf_text(w->out, "  }\n");
}

static void table_lines(struct writer *w, const struct model_table *table)
{
    struct grid grid;
    grid_init(&grid, w, 2);
    set_string(&grid, "name", table->name);
    set_string(&grid, "billing_mode", slice_str(infra_billing(table)));
    if (table->provisioned)
        set_capacity(&grid, table);
    set_string(&grid, "hash_key", table->keys.parts[0].name);
    if (table->keys.range_count > 0)
        set_string(&grid, "range_key", table->keys.parts[1].name);
    grid_assignments(&grid, "  ");
    if (table->stream != MODEL_STREAM_NONE)
        PUT(w, "\n  stream_enabled   = true\n  stream_view_type = \"%s\"\n",
            slice_str(infra_stream(table->stream)));
}

static void table_resource(struct writer *w, const struct model_table *table)
{
    buf_byte(w->out, '\n');
    text_comment(w->out, "# ", table->doc);
    PUT(w, "resource \"aws_dynamodb_table\" \"%s\" {\n", text_snake(w, table->name));
    table_lines(w, table);
    attribute_blocks(w, table);
    for (size_t i = 0; i < table->index_count; i++)
        index_block(w, table, &table->indexes[i]);
    if (table->ttl_attribute.len > 0)
        PUT(w, "\n  ttl {\n    attribute_name = %s\n    enabled        = true\n  }\n",
            hcl_string(w, table->ttl_attribute));
    if (table->pitr)
        buf_text(w->out, "\n  point_in_time_recovery {\n    enabled = true\n  }\n");
    buf_text(w->out, "}\n");
}

void generate_terraform(struct writer *w)
{
    PUT(w, "# %s\n", text_banner(w));
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        table_resource(w, table);
}
