// Changing a table: a copy with other settings becomes its next version (engine.h, table_change).
#ifndef TABLES_CHANGE_H
#define TABLES_CHANGE_H

#include "tables/table_settings.h"

// "Requested resource not found: Table: … not found"; false. Only table operations name the table.
bool table_not_found(struct error *error, struct slice name);
// False, with ResourceInUseException, if the table is being restored or imported.
MUST_CHECK bool table_check_ready(const struct table *table, struct error *error);

// For `alter`: a copy of the table to change, with its settings. NULL with the error set.
struct table *table_begin(const struct table *current, struct table_settings *settings,
                          struct error *error);
// Gives the copy up; false.
bool table_abandon(struct table *table);
// Writes the settings and hands the copy to *next; on failure it is given up.
MUST_CHECK bool table_end(struct table *table, const struct table_settings *settings,
                          struct table **next, struct error *error);

#endif
