// CreateTable and DeleteTable. A table can be used as soon as CreateTable has answered, although
// the answer says CREATING, and is gone as soon as DeleteTable has.
#include "api/table_ops.h"

struct creation {
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
    return *next != NULL || error_budget(error);
}

enum step create_table_start(struct api_call *call, const void *request)
{
    const struct create_table_request *create = request;
    if (!table_spec_check(create, &call->error))
        return STEP_FAILED;
    struct creation *creation = call_alloc(call, 1, sizeof(*creation));
    if (creation == NULL)
        return STEP_FAILED;
    *creation = (struct creation){create, table_name_plain(create->table_name),
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

static bool delete_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct table_name_request *request = context;
    struct table_settings settings;
    (void)next;
    if (current == NULL)
        return table_not_found(error, table_name_plain(request->table_name));
    table_settings_read(current, &settings);
    return !settings.protected ||
           error_validation(error, "Resource cannot be deleted as it is currently protected "
                                   "against deletion. Disable deletion protection first.");
}

enum step delete_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *delete = request;
    return call_alter(call, table_name_plain(delete->table_name), delete_alter,
                      call->state->request);
}

void delete_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_DELETED);
}
