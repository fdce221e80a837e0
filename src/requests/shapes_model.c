// The shapes of the operations that are not of DynamoDB.
#include "requests/shapes_internal.h"

static const char *const directions[] = {"UP", "DOWN", NULL};
static const struct shape direction = ENUM_SHAPE(directions);

REQUEST_ROWS(model_table_request, MODEL_TABLE_REQUEST);
const struct shape shape_model_table_request =
    REQUEST_SHAPE(model_table_request, "ModelTableInput");

REQUEST_ROWS(apply_model_request, APPLY_MODEL_REQUEST);
const struct shape shape_apply_model_request =
    REQUEST_SHAPE(apply_model_request, "ApplyModelInput");

REQUEST_ROWS(apply_migration_request, APPLY_MIGRATION_REQUEST);
const struct shape shape_apply_migration_request =
    REQUEST_SHAPE(apply_migration_request, "ApplyMigrationInput");

REQUEST_ROWS(describe_migration_request, DESCRIBE_MIGRATION_REQUEST);
const struct shape shape_describe_migration_request =
    REQUEST_SHAPE(describe_migration_request, "DescribeMigrationInput");

REQUEST_ROWS(verify_database_request, VERIFY_DATABASE_REQUEST);
const struct shape shape_verify_database_request =
    REQUEST_SHAPE(verify_database_request, "VerifyDatabaseInput");
