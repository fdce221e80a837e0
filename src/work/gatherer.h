// A guard that is to be a table's next one (engine/guard.h): it claims what a model's guard would,
// and changes and refuses nothing. Tables that are being filled have one, and those whose model is
// about to change.
#ifndef WORK_GATHERER_H
#define WORK_GATHERER_H

#include "engine/table.h"

// The text is the name of the record that the model is kept in; both are held.
struct guard *gatherer_new(struct guard *guard, struct slice text);
// Borrowed.
struct guard *gatherer_guard(const struct guard *gatherer);
struct slice gatherer_text(const struct guard *gatherer);

// Makes the guard that a version's gatherer stands for its own, with the claims. False when memory
// is out.
MUST_CHECK bool gatherer_follow(struct table *table);

#endif
