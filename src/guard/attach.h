// Models at their tables: a table's `model` is the name of the record that holds the text; the
// guard made of it judges what is written. Who applies and changes models is src/change.
#ifndef GUARD_ATTACH_H
#define GUARD_ATTACH_H

#include "engine/engine.h"
#include "guard/guard.h"

// A model as it is kept: "model/text/<SHA-256 of the text in hex>" -> {file, text}. The same text
// has one record, however many tables it describes.
enum { MODEL_NAME_SIZE = sizeof("model/text/") - 1 + 64 };
void model_record_name(struct slice text, char out[MODEL_NAME_SIZE + 1]);
void model_record_encode(struct slice file, struct slice text, struct buf *out);
// False if there is no such record, or it cannot be read. The slices are in the arena.
MUST_CHECK bool model_record_read(struct engine *engine, struct slice name, struct arena *arena,
                                  struct slice *file, struct slice *text);

// For engine_open: the guard of a table that has a model. The context is the budget that models are
// counted in, or NULL.
struct guard *guard_make(void *context, struct engine *engine, const struct table *table);

// Says that the budget has no memory for a model; always false.
bool model_no_memory(const struct budget *budget, struct error *error);

// Completes the item of a put, if its table has a guard, and notes who did. False without an error
// if it takes more than the steps allow; NULL for no steps.
MUST_CHECK bool guard_prepare(const struct env *env, const struct table *table, struct arena *arena,
                              struct steps *steps, struct write_action *action,
                              struct error *error);

#endif
