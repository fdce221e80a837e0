// `dolmen generate cloudformation`: a template with one AWS::DynamoDB::Table for each table. Every
// name is a quoted string, so that none is taken for a number or a boolean of YAML.
#include "generate/infra.h"

static void definitions(struct writer *w, const struct model_table *table)
{
    struct key_names names;
    key_names(table, &names);
    buf_text(w->out, "      AttributeDefinitions:\n");
    for (size_t i = 0; i < names.count; i++)
        PUT(w, "        - AttributeName: %q\n          AttributeType: %s\n", names.list[i]->name,
            slice_str(value_type_name(names.list[i]->type)));
}

static void key_schema(struct writer *w, struct slice before, const struct key_schema *keys)
{
    PUT(w, "%sKeySchema:\n", before);
    for (size_t i = 0; i < keys_count(keys); i++)
        PUT(w, "%s  - AttributeName: %q\n%s    KeyType: %s\n", before, keys->parts[i].name, before,
            slice_str(infra_key_type(keys, i)));
}

static void throughput(struct writer *w, struct slice before, const struct model_table *table)
{
    PUT(w, "%sProvisionedThroughput:\n%s  ReadCapacityUnits: %s\n%s  WriteCapacityUnits: %s\n",
        before, before, text_u64(w, table->read_units), before, text_u64(w, table->write_units));
}

static void index_entry(struct writer *w, const struct model_table *table,
                        const struct model_index *index)
{
    text_comment(w->out, "        # ", index->doc);
    PUT(w, "        - IndexName: %q\n", index->name);
    key_schema(w, SLICE_LIT("          "), &index->keys);
    PUT(w, "          Projection:\n            ProjectionType: %s\n",
        slice_str(infra_projection(index->projection)));
    if (index->projection == MODEL_PROJECT_INCLUDE) {
        buf_text(w->out, "            NonKeyAttributes:\n");
        for (size_t i = 0; i < index->include_count; i++)
            PUT(w, "              - %q\n", index->include[i]);
    }
    if (table->provisioned && !index->local)
        throughput(w, SLICE_LIT("          "), table);
}

static void indexes(struct writer *w, const struct model_table *table, bool local)
{
    bool any = false;
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].local != local)
            continue;
        if (!any)
            PUT(w, "      %sSecondaryIndexes:\n", slice_str(local ? "Local" : "Global"));
        any = true;
        index_entry(w, table, &table->indexes[i]);
    }
}

static void table_resource(struct writer *w, const struct model_table *table)
{
    text_comment(w->out, "  # ", table->doc);
    PUT(w,
        "  %sTable:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: %q\n"
        "      BillingMode: %s\n",
        text_pascal(w, table->name), table->name, slice_str(infra_billing(table)));
    if (table->provisioned)
        throughput(w, SLICE_LIT("      "), table);
    definitions(w, table);
    key_schema(w, SLICE_LIT("      "), &table->keys);
    indexes(w, table, false);
    indexes(w, table, true);
    if (table->stream != MODEL_STREAM_NONE)
        PUT(w, "      StreamSpecification:\n        StreamViewType: %s\n",
            slice_str(infra_stream(table->stream)));
    if (table->ttl_attribute.len > 0)
        PUT(w, "      TimeToLiveSpecification:\n        AttributeName: %q\n        Enabled: true\n",
            table->ttl_attribute);
    if (table->pitr)
        buf_text(w->out, "      PointInTimeRecoverySpecification:\n"
                         "        PointInTimeRecoveryEnabled: true\n");
}

void generate_cloudformation(struct writer *w)
{
    PUT(w, "# %s\nAWSTemplateFormatVersion: \"2010-09-09\"\nDescription: %q\nResources:\n",
        text_banner(w), TEXT(w, "DynamoDB tables of %s", text_stem(w->model)));
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        table_resource(w, table);
    buf_text(w->out, "Outputs:\n");
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;) {
        struct slice name = text_pascal(w, table->name);
        PUT(w, "  %sTableArn:\n    Value: !GetAtt %sTable.Arn\n", name, name);
    }
}
