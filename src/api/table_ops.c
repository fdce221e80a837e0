// Finding and changing tables for the operations on them.
#include "api/table_ops.h"

bool table_not_found(struct error *error, struct slice name)
{
    return error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Table: %.*s not found", SLICE_FMT(name));
}

struct table *call_own_table(struct api_call *call, struct slice name_or_arn)
{
    struct table *table = call_any_table(call, name_or_arn);
    if (table == NULL && call->error.code == ERR_RESOURCE_NOT_FOUND) {
        error_init(&call->error, &call->arena);
        (void)table_not_found(&call->error, table_name_plain(name_or_arn));
    }
    return table;
}

bool table_check_ready(const struct table *table, struct error *error)
{
    return table->status == TABLE_ACTIVE ||
           error_set(error, ERR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being created: "
                     "%.*s",
                     SLICE_FMT(table->name));
}

enum step call_alter(struct api_call *call, struct slice name,
                     bool (*alter)(void *context, struct table *current, struct table **next,
                                   struct error *error),
                     void *context)
{
    // Not every name in a request has been through a pattern.
    if (table_name_hidden(name)) {
        (void)table_not_found(&call->error, name);
        return STEP_FAILED;
    }
    struct table_change *change = call_table_change(call);
    if (change == NULL)
        return STEP_FAILED;
    change->name = name;
    change->alter = alter;
    change->context = context;
    return call_submit(call);
}

struct table *table_begin(const struct table *current, struct table_settings *settings,
                          struct error *error)
{
    if (!table_check_ready(current, error))
        return NULL;
    struct table *table = table_clone(current);
    if (table == NULL) {
        (void)error_budget(error);
        return NULL;
    }
    table_settings_read(table, settings);
    return table;
}

bool table_abandon(struct table *table)
{
    table_release(table);
    return false;
}

bool table_end(struct table *table, const struct table_settings *settings, struct table **next,
               struct error *error)
{
    if (!table_settings_write(table, settings)) {
        (void)error_budget(error);
        return table_abandon(table);
    }
    *next = table;
    return true;
}
