// The parts of sql_schema_make().
#ifndef SQL_MAKE_H
#define SQL_MAKE_H

#include "sql/words.h"

struct sql_maker {
    const struct sql_request *request;
    struct arena *arena;
    struct writer w;           // of texts, in the same arena
    struct buf none;           // its file, into which nothing is written
    struct sql_schema *schema; // as far as it is made
    struct slice error;        // empty: memory is out
};

// Zeroed; NULL if memory is out.
MUST_CHECK void *make_alloc(struct sql_maker *m, size_t count, size_t size);
// Always false.
bool make_error(struct sql_maker *m, struct slice error);

// A table whose columns, key and name are being made; NULL if memory is out, or too many.
MUST_CHECK struct sql_table *make_table(struct sql_maker *m, enum sql_table_kind kind,
                                        const struct model_entity *entity, struct slice name,
                                        size_t columns);
// Its next column, which make_table() has room for.
struct sql_column *make_column(struct sql_table *table);
// A column that is an expression of the item.
void make_item_column(struct sql_maker *m, struct sql_table *table, struct slice name,
                      const struct model_expr *value);
// The same as a time, if the mapping says so.
void make_mapped_column(struct sql_maker *m, struct sql_table *table,
                        const struct model_column *column);
// The path of an attribute, as if the file had named it.
MUST_CHECK const struct model_expr *make_path(struct sql_maker *m,
                                              const struct model_attribute *attribute);
// Positions of columns; false if memory is out.
MUST_CHECK bool make_columns(struct sql_maker *m, const struct sql_table *table,
                             const struct model_columns *names, struct sql_columns *out);

// The default column name of an attribute.
struct slice make_column_name(struct sql_maker *m, const struct model_entity *entity,
                              const struct model_attribute *attribute);
// At most LIMIT_SQL_NAME bytes: a longer one is cut, and ends with a digest of the whole.
struct slice make_name(struct sql_maker *m, struct slice name);
// table_a_b_suffix
struct slice make_index_name(struct sql_maker *m, const struct sql_table *table,
                             const struct sql_columns *columns, const char *suffix);

// Indexes of the default mapping, and those that a mapping names.
MUST_CHECK bool make_default_indexes(struct sql_maker *m, struct sql_table *table);
MUST_CHECK bool make_mapped_indexes(struct sql_maker *m, struct sql_table *table,
                                    const struct model_mapping *mapping);

// What a mapping has beside the table itself, once all tables of entities are there.
MUST_CHECK bool make_foreigns(struct sql_maker *m, struct sql_table *table,
                              const struct model_mapping *mapping);
MUST_CHECK bool make_children(struct sql_maker *m, const struct sql_table *table,
                              const struct model_mapping *mapping);
MUST_CHECK bool make_group(struct sql_maker *m, const struct model_mapping *mapping);
MUST_CHECK bool make_tenants(struct sql_maker *m);
MUST_CHECK bool make_views(struct sql_maker *m);

// The table of an entity's items.
const struct sql_table *make_find(const struct sql_maker *m, const struct model_entity *entity);

#endif
