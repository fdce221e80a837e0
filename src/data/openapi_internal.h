// What the two files of the OpenAPI document share.
#ifndef DATA_OPENAPI_INTERNAL_H
#define DATA_OPENAPI_INTERNAL_H

#include "data/openapi.h"

struct openapi {
    struct json_writer w;
    size_t table_count; // names carry their table if there are several
    const struct model_table *const *tables;
};

// {"$ref":"#/components/schemas/User"}: the entity's table (if it needs one), its name, a suffix.
void openapi_entity_ref(struct openapi *o, const struct model_entity *entity, const char *suffix);
// The schema of what an access pattern shows of an entity: the entity's, or, if an index projects
// only a part of it, one of its own.
void openapi_access_entity(struct openapi *o, const struct model_access *access,
                           const struct model_entity *entity);
// The schema of a type. The attribute, if it is not NULL, adds what it says of itself.
void openapi_type(struct openapi *o, const struct model_table *table, const struct model_type *type,
                  const struct model_attribute *attribute);
// The schemas of all entities and named types of a table, as members.
void openapi_schemas(struct openapi *o, const struct model_table *table);

#endif
