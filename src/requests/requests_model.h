// The requests of the operations that are not of DynamoDB: on models and migrations
// (docs/MODEL.md), and VerifyDatabase (docs/VERIFY.md).
#ifndef REQUESTS_REQUESTS_MODEL_H
#define REQUESTS_REQUESTS_MODEL_H

#include "json/shape.h"

// DescribeModel, ListModelVersions, AbandonModel, ListMigrations.
#define MODEL_TABLE_REQUEST(X, T)                                                                  \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)
REQUEST_STRUCT(model_table_request, MODEL_TABLE_REQUEST);

// DiffModel and ApplyModel.
#define APPLY_MODEL_REQUEST(X, T)                                                                  \
    X(T, REQUIRED, struct slice, model, "Model", shape_any_string) /* the text of the file */      \
    X(T, OPTIONAL, struct slice, file_name, "FileName", shape_any_string) /* for messages */       \
    X(T, OPTIONAL, struct field_int, sample, "Sample", shape_positive_long)                        \
    X(T, OPTIONAL, struct field_bool, force, "Force",                                              \
      shape_any_boolean) /* also if items are left that the model does not allow */                \
    X(T, OPTIONAL, struct field_bool, check_only, "CheckOnly",                                     \
      shape_any_boolean) /* ApplyModel: answers as DiffModel does */                               \
    X(T, OPTIONAL, struct field_bool, prune, "Prune",                                              \
      shape_any_boolean) /* deletes indexes that the model does not name */                        \
    X(T, OPTIONAL, struct field_int, rate, "Rate",                                                 \
      shape_positive_long) /* items of a second that the backfill writes */
REQUEST_STRUCT(apply_model_request, APPLY_MODEL_REQUEST);

#define APPLY_MIGRATION_REQUEST(X, T)                                                              \
    X(T, REQUIRED, struct slice, migration, "Migration", shape_any_string)                         \
    X(T, OPTIONAL, struct slice, file_name, "FileName", shape_any_string)                          \
    X(T, OPTIONAL, struct slice, direction, "Direction", direction) /* UP, DOWN */                 \
    X(T, OPTIONAL, struct field_int, sample, "Sample", shape_positive_long)                        \
    X(T, OPTIONAL, struct field_bool, dry_run, "DryRun", shape_any_boolean)                        \
    X(T, OPTIONAL, struct field_bool, again, "Again", shape_any_boolean)                           \
    X(T, OPTIONAL, struct field_int, rate, "Rate", shape_positive_long)
REQUEST_STRUCT(apply_migration_request, APPLY_MIGRATION_REQUEST);

#define DESCRIBE_MIGRATION_REQUEST(X, T)                                                           \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, REQUIRED, struct slice, migration_name, "MigrationName", shape_any_string)
REQUEST_STRUCT(describe_migration_request, DESCRIBE_MIGRATION_REQUEST);

// See verify.h. A run is begun without a RunId, and asked for with it.
#define VERIFY_DATABASE_REQUEST(X, T)                                                              \
    X(T, OPTIONAL, struct slice, table_name, "TableName",                                          \
      shape_own_table_name) /* only this one */                                                    \
    X(T, OPTIONAL, struct slice, run_id, "RunId", shape_any_string)                                \
    X(T, OPTIONAL, struct field_bool, stop, "Stop", shape_any_boolean) /* the run is to end */     \
    X(T, OPTIONAL, struct field_int, limit, "Limit",                                               \
      shape_positive_long) /* differences to describe */
REQUEST_STRUCT(verify_database_request, VERIFY_DATABASE_REQUEST);

extern const struct shape shape_model_table_request;
extern const struct shape shape_apply_model_request;
extern const struct shape shape_apply_migration_request;
extern const struct shape shape_describe_migration_request;
extern const struct shape shape_verify_database_request;

#endif
