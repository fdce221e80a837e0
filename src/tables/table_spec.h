// The specification of a table or an index, as CreateTable and UpdateTable give it: judged in
// the order of the service, and then made into what the engine keeps.
//
// Checks write to the error and its arena only. Makers copy everything into the table's arena.
#ifndef TABLES_TABLE_SPEC_H
#define TABLES_TABLE_SPEC_H

#include "tables/table_settings.h"

// A local or global index; the parts that only a global one has are NULL in a local one.
struct index_spec {
    struct slice name;
    bool global;
    size_t key_count;
    const struct key_schema_element *keys;
    const struct request_projection *projection;
    struct throughput_request throughput;
};

struct index_spec index_spec_global(const struct global_secondary_index *index);
// The indexes of a CreateTable, local ones first.
size_t index_spec_count(const struct create_table_request *request);
struct index_spec index_spec_at(const struct create_table_request *request, size_t at);

// ---- Parts (table_spec.c) ---------------------------------------------------------------------

// "a, b" for the names that messages list; in the arena. Never NULL.
const char *spec_join(struct arena *arena, const struct slice *names, size_t count);

// The keys are in AttributeDefinitions.
MUST_CHECK bool spec_check_defined(const struct key_schema_element *keys, size_t count,
                                   const struct field_list *definitions, struct error *error);
// The keys are defined, and are HASH and RANGE in the right order. A global index may have
// several of each.
MUST_CHECK bool spec_check_keys(const struct key_schema_element *keys, size_t count, bool several,
                                const struct field_list *definitions, struct error *error);
MUST_CHECK bool spec_check_projection(const struct request_projection *projection,
                                      struct error *error);
MUST_CHECK bool spec_check_stream(const struct request_stream_specification *stream, bool creating,
                                  struct error *error);
MUST_CHECK bool spec_check_encryption(const struct request_sse_specification *encryption,
                                      struct error *error);
// Whether the specification asks for a key of the table's own.
bool spec_encrypts(const struct request_sse_specification *encryption);

// Provisioned units beyond any limit.
MUST_CHECK bool spec_check_units(const struct request_provisioned_throughput *throughput,
                                 struct error *error);
// That other units than those of the table (index empty) or of an index are asked for, if any.
MUST_CHECK bool spec_check_changes(const struct request_provisioned_throughput *units,
                                   const struct throughput_settings *has, struct slice index,
                                   struct error *error);
// On-demand limits and warm throughput of the table (index empty) or of an index. `least` is
// what is warm already; `clearing` allows -1.
MUST_CHECK bool spec_check_limits(const struct request_on_demand_throughput *limits, bool on_demand,
                                  bool clearing, struct slice index, struct error *error);
MUST_CHECK bool spec_check_warm(const struct request_warm_throughput *warm,
                                const struct throughput_settings *least, const char *why,
                                struct slice index, struct error *error);
// That the table has no index of this name.
MUST_CHECK bool spec_check_new(const struct table *table, struct slice name, struct error *error);
// "Duplicate index name", in one request; false.
bool spec_refuse_duplicate(struct slice name, struct error *error);
// "Only 1 online index can be created or deleted simultaneously per table"; false.
bool spec_refuse_online(struct error *error);

// The type that the definitions give to an attribute, or VALUE_TYPES.
enum value_type spec_type(const struct field_list *definitions, struct slice attribute);

// Attributes that INCLUDE names, over all indexes of the table.
MUST_CHECK bool spec_check_included(size_t included, struct error *error);

// ---- Whole specifications -----------------------------------------------------------------------

// Everything CreateTable asks of its request before it looks for the table (table_check.c).
MUST_CHECK bool table_spec_check(const struct create_table_request *request, struct error *error);

// The table that a checked request describes, without trees; NULL when memory is out. Its
// settings are written. (table_make.c)
MUST_CHECK struct table *table_spec_make(const struct create_table_request *request,
                                         struct slice name, int64_t now_ms);
// What an index projects. False when memory is out.
MUST_CHECK bool table_spec_projection(struct table *table, const struct request_projection *from,
                                      struct index *index);
// Adds an index to a table that is being made or changed. False when memory is out.
MUST_CHECK bool table_spec_add_index(struct table *table, const struct index_spec *spec,
                                     const struct field_list *definitions, bool on_demand,
                                     enum index_status status);
// Puts what is asked for into the settings, with text copied into the table's arena.
MUST_CHECK bool settings_set_text(struct table *table, struct slice *field, struct slice text);
// The names of all attributes that keys use: those of `before` first, in their order, then
// those of the definitions.
MUST_CHECK bool settings_set_attributes(struct table *table, struct table_settings *settings,
                                        const struct field_list *definitions);
// The type of an attribute that some key of the table uses, or VALUE_TYPES.
enum value_type table_attribute_type(const struct table *table, struct slice attribute);

#endif
