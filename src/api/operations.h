// The one table of operations, made from the list in call/operation_list.h.
#ifndef API_OPERATIONS_H
#define API_OPERATIONS_H

#include "call/operation.h"

// NULL if there is none of that name.
const struct operation *operation_find(struct slice name);

#endif
