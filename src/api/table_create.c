// CreateTable and DeleteTable. A table can be used as soon as CreateTable has answered, although
// the answer says CREATING, and is gone as soon as DeleteTable has.
#include "api/backup.h"
#include "api/stream.h"
#include "api/table_ops.h"

struct creation {
    struct api_call *call;
    const struct create_table_request *request;
    struct slice name;
    int64_t now_ms;
};

static bool create_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct creation *creation = context;
    if (current != NULL)
        return error_set(error, ERR_RESOURCE_IN_USE, "Table already exists: %.*s",
                         SLICE_FMT(creation->name));
    *next = table_spec_make(creation->request, creation->name, creation->now_ms);
    if (*next == NULL)
        return error_budget(error);
    return stream_alter(creation->call, NULL, *next, error) || table_abandon(*next);
}

enum step create_table_start(struct api_call *call, const void *request)
{
    const struct create_table_request *create = request;
    if (!table_spec_check(create, &call->error))
        return STEP_FAILED;
    struct creation *creation = call_alloc(call, 1, sizeof(*creation));
    if (creation == NULL)
        return STEP_FAILED;
    *creation = (struct creation){call, create, table_name_plain(create->table_name),
                                  env_now(engine_env(call_engine(call)))};
    if (engine_table_count(call_engine(call)) >= LIMIT_TABLES) {
        (void)error_set(&call->error, ERR_LIMIT_EXCEEDED,
                        "Subscriber limit exceeded: The number of tables exceeds the limit of %d",
                        LIMIT_TABLES);
        return STEP_FAILED;
    }
    return call_alter(call, creation->name, create_alter, creation);
}

void create_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_CREATED);
}

struct deletion {
    struct api_call *call;
    struct slice name;
    // Room for the records that the change writes.
    struct record_write records[2];
};

// A table that can be restored to a point in time leaves a backup of itself.
static bool delete_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct deletion *deletion = context;
    struct api_call *call = deletion->call;
    struct table_change *change = call->state->change;
    struct table_settings settings;
    if (current == NULL)
        return table_not_found(error, deletion->name);
    if (!table_check_ready(current, error) || !backup_check_idle(call->api, current, error) ||
        !restore_check_idle(call->api, current, error))
        return false;
    table_settings_read(current, &settings);
    if (settings.protected)
        return error_validation(error, "Resource cannot be deleted as it is currently protected "
                                       "against deletion. Disable deletion protection first.");
    change->records = deletion->records;
    if (settings.pitr_days > 0 &&
        !backup_of_deleted(call->api, &call->arena, current, next,
                           &deletion->records[change->record_count++], error))
        return false;
    return stream_alter(call, current, *next, error) || table_abandon(*next);
}

enum step delete_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *delete = request;
    struct deletion *deletion = call_alloc(call, 1, sizeof(*deletion));
    if (deletion == NULL)
        return STEP_FAILED;
    deletion->call = call;
    deletion->name = table_name_plain(delete->table_name);
    return call_alter(call, deletion->name, delete_alter, deletion);
}

void delete_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_DELETED);
}
