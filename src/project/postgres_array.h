// A column of rows as the text of a PostgreSQL array: {"a","b",NULL}.
#ifndef PROJECT_POSTGRES_ARRAY_H
#define PROJECT_POSTGRES_ARRAY_H

#include "sql/schema.h"

#include "base/buf.h"

// `count` values, each `step` values behind the one before, and a NUL behind the text.
void postgres_array(struct buf *out, const struct sql_value *values, size_t count, size_t step);

#endif
