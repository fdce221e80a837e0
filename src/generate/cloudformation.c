// `dolmen generate cloudformation`: a template with one AWS::DynamoDB::Table for each table. Every
// name is a quoted string, so that none is taken for a number or a boolean of YAML.
#include "generate/infra.h"

static void definition(void *context, const struct key_part *part)
{
    struct buf *out = context;
    buf_text(out, "        - AttributeName: ");
    text_quoted(out, part->name);
    buf_printf(out, "\n          AttributeType: %s\n", value_type_name(part->type));
}

static void key_schema(struct buf *out, const char *before, const struct key_schema *keys)
{
    buf_printf(out, "%sKeySchema:\n", before);
    for (size_t i = 0; i < keys_count(keys); i++) {
        buf_printf(out, "%s  - AttributeName: ", before);
        text_quoted(out, keys->parts[i].name);
        buf_printf(out, "\n%s    KeyType: %s\n", before, i < keys->hash_count ? "HASH" : "RANGE");
    }
}

static void throughput(struct buf *out, const char *before, const struct model_table *table)
{
    buf_printf(out, "%sProvisionedThroughput:\n", before);
    buf_printf(out, "%s  ReadCapacityUnits: %llu\n", before, (unsigned long long)table->read_units);
    buf_printf(out, "%s  WriteCapacityUnits: %llu\n", before,
               (unsigned long long)table->write_units);
}

static void index_entry(struct buf *out, const struct model_table *table,
                        const struct model_index *index)
{
    text_comment(out, "        # ", index->doc);
    buf_text(out, "        - IndexName: ");
    text_quoted(out, index->name);
    buf_byte(out, '\n');
    key_schema(out, "          ", &index->keys);
    buf_printf(out, "          Projection:\n            ProjectionType: %s\n",
               infra_projection(index->projection));
    if (index->projection == MODEL_PROJECT_INCLUDE) {
        buf_text(out, "            NonKeyAttributes:\n");
        for (size_t i = 0; i < index->include_count; i++) {
            buf_text(out, "              - ");
            text_quoted(out, index->include[i]);
            buf_byte(out, '\n');
        }
    }
    if (table->provisioned && !index->local)
        throughput(out, "          ", table);
}

static void indexes(struct buf *out, const struct model_table *table, bool local)
{
    bool any = false;
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].local != local)
            continue;
        if (!any)
            buf_printf(out, "      %sSecondaryIndexes:\n", local ? "Local" : "Global");
        any = true;
        index_entry(out, table, &table->indexes[i]);
    }
}

static void logical_name(struct buf *out, const struct model_table *table)
{
    text_pascal(out, table->name);
    buf_text(out, "Table");
}

static void table_resource(struct buf *out, const struct model_table *table)
{
    text_comment(out, "  # ", table->doc);
    buf_text(out, "  ");
    logical_name(out, table);
    buf_text(out, ":\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: ");
    text_quoted(out, table->name);
    buf_printf(out, "\n      BillingMode: %s\n",
               table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
    if (table->provisioned)
        throughput(out, "      ", table);
    buf_text(out, "      AttributeDefinitions:\n");
    key_names(table, definition, out);
    key_schema(out, "      ", &table->keys);
    indexes(out, table, false);
    indexes(out, table, true);
    if (table->stream != MODEL_STREAM_NONE)
        buf_printf(out, "      StreamSpecification:\n        StreamViewType: %s\n",
                   infra_stream(table->stream));
    if (table->ttl_attribute.len > 0) {
        buf_text(out, "      TimeToLiveSpecification:\n        AttributeName: ");
        text_quoted(out, table->ttl_attribute);
        buf_text(out, "\n        Enabled: true\n");
    }
    if (table->pitr)
        buf_text(out, "      PointInTimeRecoverySpecification:\n"
                      "        PointInTimeRecoveryEnabled: true\n");
}

static void outputs(struct buf *out, const struct model *model,
                    const struct generate_options *options)
{
    buf_text(out, "Outputs:\n");
    for (size_t i = 0; i < model->table_count; i++) {
        const struct model_table *table = &model->tables[i];
        if (!generate_wants(options, table))
            continue;
        buf_text(out, "  ");
        logical_name(out, table);
        buf_text(out, "Arn:\n    Value: !GetAtt ");
        logical_name(out, table);
        buf_text(out, ".Arn\n");
    }
}

void generate_cloudformation(const struct model *model, const struct generate_options *options,
                             struct buf *out)
{
    buf_text(out, "# ");
    text_banner(out, model);
    buf_text(out, "\nAWSTemplateFormatVersion: \"2010-09-09\"\nDescription: ");
    struct buf description;
    buf_init(&description, 4096);
    buf_text(&description, "DynamoDB tables of ");
    buf_slice(&description, generate_stem(model));
    text_quoted(out, buf_view(&description));
    buf_release(&description);
    buf_text(out, "\nResources:\n");
    for (size_t i = 0; i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i]))
            table_resource(out, &model->tables[i]);
    }
    outputs(out, model, options);
}
