// What is made out of a model: documentation, types, clients, infrastructure, schemas. One table of
// generators; each writes one or two files from a compiled model, and nothing else: no clock, no
// path, no order that depends on the machine. The same model gives the same bytes, and the first
// line says from which model they came.
#ifndef GENERATE_GENERATE_H
#define GENERATE_GENERATE_H

#include "model/model.h"

enum generate_dialect { GENERATE_POSTGRES, GENERATE_SQLITE };
// Tables for each entity; what the access patterns ask; the tables of `project` rules.
enum generate_part { GENERATE_TABLES, GENERATE_QUERIES, GENERATE_PROJECTIONS };

struct generate_options {
    const struct model_table *table; // only this one; NULL for all
    enum generate_dialect dialect;   // of sql
    enum generate_part part;         // of sql
    const struct model *since;       // of sql: the model whose tables are there; or NULL
};

struct writer; // text.h

// Writes a file's text.
typedef void generate_function(struct writer *w);

struct generator_file {
    const char *suffix; // behind the model's name: ".ts"
    generate_function *write;
};

enum { GENERATOR_FILES = 2 };

struct generator {
    const char *name;
    const char *summary;
    size_t file_count;
    struct generator_file files[GENERATOR_FILES];
};

// The generators; the list ends with a NULL name.
const struct generator *generators(void);
const struct generator *generator_find(const char *name);

// Appends the text of a file. What is too large sets out->failed.
void generate(const struct generator_file *file, const struct model *model,
              const struct generate_options *options, struct buf *out);

// X(name, summary, files, suffix, function, suffix of a second file, its function)
#define GENERATOR_LIST(X)                                                                          \
    X("docs", "Markdown with keys, entities, access patterns and a diagram", 1, ".md",             \
      generate_docs, NULL, NULL)                                                                   \
    X("typescript", "types, keys and a typed client over @aws-sdk/lib-dynamodb", 1, ".ts",         \
      generate_typescript, NULL, NULL)                                                             \
    X("terraform", "aws_dynamodb_table resources", 1, ".tf", generate_terraform, NULL, NULL)       \
    X("cloudformation", "an AWS CloudFormation template (YAML)", 1, ".yaml",                       \
      generate_cloudformation, NULL, NULL)                                                         \
    X("sql", "tables for PostgreSQL or SQLite, one for each entity", 1, ".sql", generate_sql,      \
      NULL, NULL)                                                                                  \
    X("openapi", "the data API of the tables (OpenAPI 3.1, JSON)", 1, ".json", generate_openapi,   \
      NULL, NULL)                                                                                  \
    X("alerts", "alerting rules of Prometheus for tables and consumers", 1, ".rules.yaml",         \
      generate_alerts, NULL, NULL)                                                                 \
    X("c", "structs, keys and calls for programs that embed libdolmen", 2, ".h",                   \
      generate_c_header, ".c", generate_c_source)

generate_function generate_docs;
generate_function generate_typescript;
generate_function generate_terraform;
generate_function generate_cloudformation;
generate_function generate_sql;
generate_function generate_openapi;
generate_function generate_alerts;
generate_function generate_c_header;
generate_function generate_c_source;

#endif
