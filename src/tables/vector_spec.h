// Vector indexes as CreateTable and UpdateTable specify them: judged, made, described.
#ifndef TABLES_VECTOR_SPEC_H
#define TABLES_VECTOR_SPEC_H

#include "tables/describe.h"
#include "tables/table_spec.h"

// One specification, whatever else the table has. Its search schema is defined.
MUST_CHECK bool vector_spec_check(const struct request_vector_index *index,
                                  const struct field_list *definitions, struct error *error);
// That the search schema's attributes are defined.
MUST_CHECK bool vector_spec_check_defined(const struct request_vector_index *index,
                                          const struct field_list *definitions,
                                          struct error *error);
// VectorIndexes of a CreateTable: each of them, their number, and what they share with each other
// and with the table's keys.
MUST_CHECK bool vector_specs_check(const struct create_table_request *request, struct error *error);

// How much of the table's limit of projected attributes the index takes.
size_t vector_spec_included(const struct request_vector_index *index);
// What all indexes of the table take of it.
size_t table_included(const struct table *table);

// Adds the index to a table that is being made or changed. False when memory is out.
MUST_CHECK bool vector_spec_add(struct table *table, const struct request_vector_index *spec,
                                const struct field_list *definitions, enum index_status status);

// The type of an attribute that some search schema of the table uses, or VALUE_TYPES.
enum value_type vector_attribute_type(const struct table *table, struct slice attribute);

// VectorIndexUpdates of an UpdateTable: what the request alone shows to be wrong, what the table
// makes wrong, and doing it.
MUST_CHECK bool vector_updates_check(const struct update_table_request *request,
                                     struct error *error);
MUST_CHECK bool vector_updates_admit(const struct update_table_request *request,
                                     const struct table *current, struct error *error);
MUST_CHECK bool vector_updates_apply(const struct update_table_request *request,
                                     struct table *table, struct table_settings *settings,
                                     struct error *error);

// The member VectorIndexes of a TableDescription, if the table has any.
void vectors_write_json(struct json_writer *w, const struct table *table,
                        const struct table_view *view);

#endif
