// The shapes of the operations that are not of DynamoDB.
#include "requests/shapes_internal.h"

static const char *const directions[] = {"UP", "DOWN", NULL};
static const struct shape direction = ENUM_SHAPE(directions);

static const struct shape_member model_table_rows[] = {
    REQUIRED(model_table_request, table_name, "TableName", &shape_own_table_name),
};
const struct shape shape_model_table_request =
    STRUCT_SHAPE(model_table_request, "ModelTableInput", model_table_rows);

static const struct shape_member apply_model_rows[] = {
    REQUIRED(apply_model_request, model, "Model", &shape_any_string),
    OPTIONAL(apply_model_request, file_name, "FileName", &shape_any_string),
    OPTIONAL(apply_model_request, sample, "Sample", &shape_positive_long),
    OPTIONAL(apply_model_request, force, "Force", &shape_any_boolean),
    OPTIONAL(apply_model_request, check_only, "CheckOnly", &shape_any_boolean),
    OPTIONAL(apply_model_request, prune, "Prune", &shape_any_boolean),
    OPTIONAL(apply_model_request, rate, "Rate", &shape_positive_long),
};
const struct shape shape_apply_model_request =
    STRUCT_SHAPE(apply_model_request, "ApplyModelInput", apply_model_rows);

static const struct shape_member apply_migration_rows[] = {
    REQUIRED(apply_migration_request, migration, "Migration", &shape_any_string),
    OPTIONAL(apply_migration_request, file_name, "FileName", &shape_any_string),
    OPTIONAL(apply_migration_request, direction, "Direction", &direction),
    OPTIONAL(apply_migration_request, sample, "Sample", &shape_positive_long),
    OPTIONAL(apply_migration_request, dry_run, "DryRun", &shape_any_boolean),
    OPTIONAL(apply_migration_request, again, "Again", &shape_any_boolean),
    OPTIONAL(apply_migration_request, rate, "Rate", &shape_positive_long),
};
const struct shape shape_apply_migration_request =
    STRUCT_SHAPE(apply_migration_request, "ApplyMigrationInput", apply_migration_rows);

static const struct shape_member describe_migration_rows[] = {
    REQUIRED(describe_migration_request, table_name, "TableName", &shape_own_table_name),
    REQUIRED(describe_migration_request, migration_name, "MigrationName", &shape_any_string),
};
const struct shape shape_describe_migration_request =
    STRUCT_SHAPE(describe_migration_request, "DescribeMigrationInput", describe_migration_rows);

static const struct shape_member verify_database_rows[] = {
    OPTIONAL(verify_database_request, table_name, "TableName", &shape_own_table_name),
    OPTIONAL(verify_database_request, run_id, "RunId", &shape_any_string),
    OPTIONAL(verify_database_request, stop, "Stop", &shape_any_boolean),
    OPTIONAL(verify_database_request, limit, "Limit", &shape_positive_long),
};
const struct shape shape_verify_database_request =
    STRUCT_SHAPE(verify_database_request, "VerifyDatabaseInput", verify_database_rows);
