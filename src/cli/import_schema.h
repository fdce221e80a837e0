// Making the table of a dynamodump directory.
#ifndef CLI_IMPORT_SCHEMA_H
#define CLI_IMPORT_SCHEMA_H

#include "cli/target.h"

// Finds schema.json in `directory` (or in its directory of the table's name) and creates the table
// it describes, on demand, unless there is one. False after telling the user.
MUST_CHECK bool import_schema_create(struct target *target, const char *table,
                                     const char *directory, struct arena *arena);

#endif
