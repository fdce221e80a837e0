// Access patterns in SQL: for each one a SELECT on the tables of the schema whose answer is the
// pattern's, in its order. `limit` is how many rows there are at most: what one gets by following
// the pages of the pattern until there are as many.
#ifndef SQL_QUERY_H
#define SQL_QUERY_H

#include "sql/words.h"

// Appends it to w->out: a prepared statement of PostgreSQL under the pattern's name, or a statement
// with ?1, ?2, … for SQLite. A pattern that asks something SQL cannot say becomes a comment.
// A pattern of several entities gives rows of "entity" and "item" (JSON).
void sql_query(struct writer *w, const struct model_access *access);

#endif
