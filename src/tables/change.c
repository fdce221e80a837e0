// See change.h.
#include "tables/change.h"

bool table_not_found(struct error *error, struct slice name)
{
    return error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Table: %.*s not found", SLICE_FMT(name));
}

bool table_check_ready(const struct table *table, struct error *error)
{
    return table->status == TABLE_ACTIVE ||
           error_set(error, ERR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being created: "
                     "%.*s",
                     SLICE_FMT(table->name));
}

struct table *table_begin(const struct table *current, struct table_settings *settings,
                          struct error *error)
{
    if (!table_check_ready(current, error))
        return NULL;
    struct table *table = table_clone(current);
    if (table == NULL)
        return error_no_memory(error);
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
