// The parts of making rows.
#ifndef SQL_ROW_H
#define SQL_ROW_H

#include "sql/schema.h"

// Always false.
bool row_error(struct slice *error, struct arena *arena, const char *format, ...) PRINTF_LIKE(3, 4);

// A value (not null) in the form of its column.
MUST_CHECK bool row_value(const struct sql_schema *schema, const struct sql_table *table,
                          const struct sql_column *column, struct slice value, struct arena *arena,
                          struct sql_value *out, struct slice *error);

// A member of a list or of a set as a value of its own; VALUE_NONE if memory is out.
struct slice row_member(enum value_type container, struct slice member, struct arena *arena);

#endif
