// Items of formats that do not say what a text is: by the types of the table's model, "12" in a
// column is a number, base64 is binary, an array is a set.
#ifndef CLI_IMPORT_TYPES_H
#define CLI_IMPORT_TYPES_H

#include "base/error.h"
#include "model/model.h"

// The item as the model's types have it, in the arena. Its entity is the one that "$entity" names,
// or that its keys and type attribute tell, or the table's only one; of none it stays as it is.
// `texts`: all values are texts (CSV), in which lists and objects are JSON. False with a
// ValidationException, also without memory.
MUST_CHECK bool import_typed(const struct model_table *table, bool texts, struct arena *arena,
                             struct slice *item, struct error *error);

#endif
