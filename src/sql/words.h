// A model's expressions, keys and tests in SQL. The columns are those of a table of the schema
// (w->schema), by the attributes that they hold; what SQL cannot say is an empty text, or NULL in
// keys. All texts are in the writer's arena.
#ifndef SQL_WORDS_H
#define SQL_WORDS_H

#include "sql/schema.h"
#include "write/walk.h"

// Whether it is SQLite that is written for; the other one is PostgreSQL.
bool is_sqlite(const struct writer *w);
// Of two texts the one for SQLite, or the one for PostgreSQL.
struct slice sql_either(const struct writer *w, const char *sqlite, const char *postgres);

// In single quotes; a name in double quotes; a table's or a view's name with its schema.
struct slice sql_string(struct writer *w, struct slice text);
struct slice sql_quoted(struct writer *w, struct slice name);
struct slice sql_full_name(struct writer *w, struct slice name);

// The column that holds an attribute, or NULL if none does.
const struct sql_column *sql_column_of(const struct sql_table *table,
                                       const struct model_attribute *attribute);
// Its name, quoted. NULL in SQL if there is none.
struct slice sql_column(struct writer *w, const struct sql_table *table,
                        const struct model_attribute *attribute);
// "a", "b" of a list of columns.
struct slice sql_column_list(struct writer *w, const struct sql_table *table,
                             const struct sql_columns *columns);

// A literal of the language.
struct slice sql_literal(struct writer *w, struct slice value);
// A column's value as it stands in a key.
struct slice sql_key_text(struct writer *w, const struct sql_table *table,
                          const struct model_attribute *attribute);
// Any value of that kind, as a key has it; `form` is that of its times (enum model_normal).
struct slice sql_as_text(struct writer *w, enum sql_kind kind, unsigned form, struct slice value);
// A parameter of w->access, normalised as the attribute of its name is.
struct slice sql_param(struct writer *w, size_t which);
// An expression with a key's text as its value; and with its own type, empty if SQL has no such.
struct slice sql_text(struct writer *w, const struct sql_table *table,
                      const struct model_expr *expr);
struct slice sql_value(struct writer *w, const struct sql_table *table,
                       const struct model_expr *expr);
// Whether the databases agree that it depends on the row alone.
bool sql_is_immutable(const struct writer *w, const struct model_expr *expr);
// A condition of rows; empty if SQL cannot say it.
struct slice sql_test(struct writer *w, const struct sql_table *table,
                      const struct model_test *test);

// A template; a part of the table's key, or of an entry; and one that is NULL unless all of the
// entry's parts are there.
struct slice sql_template(struct writer *w, const struct sql_table *table,
                          const struct model_template *template);
struct slice sql_part(struct writer *w, const struct sql_table *table,
                      const struct model_key_part *part);
struct slice sql_entry(struct writer *w, const struct sql_table *table,
                       const struct model_entry *entry, size_t which);

#endif
