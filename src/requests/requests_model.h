// The requests of the operations that are not of DynamoDB: on models and migrations
// (docs/MODEL.md), and VerifyDatabase (docs/VERIFY.md).
#ifndef REQUESTS_REQUESTS_MODEL_H
#define REQUESTS_REQUESTS_MODEL_H

#include "json/shape.h"

// DescribeModel, ListModelVersions, AbandonModel, ListMigrations.
struct model_table_request {
    struct slice table_name;
};

// DiffModel and ApplyModel.
struct apply_model_request {
    struct slice model;     // the text of the file
    struct slice file_name; // for messages
    struct field_int sample;
    struct field_bool force;      // also if items are left that the model does not allow
    struct field_bool check_only; // ApplyModel: answers as DiffModel does
    struct field_bool prune;      // deletes indexes that the model does not name
    struct field_int rate;        // items of a second that the backfill writes
};

struct apply_migration_request {
    struct slice migration;
    struct slice file_name;
    struct slice direction; // UP, DOWN
    struct field_int sample;
    struct field_bool dry_run;
    struct field_bool again;
    struct field_int rate;
};

struct describe_migration_request {
    struct slice table_name;
    struct slice migration_name;
};

// See verify.h. A run is begun without a RunId, and asked for with it.
struct verify_database_request {
    struct slice table_name; // only this one
    struct slice run_id;
    struct field_bool stop; // the run is to end
    struct field_int limit; // differences to describe
};

extern const struct shape shape_model_table_request;
extern const struct shape shape_apply_model_request;
extern const struct shape shape_apply_migration_request;
extern const struct shape shape_describe_migration_request;
extern const struct shape shape_verify_database_request;

#endif
