// The value at a path, found step by step: what tests compare with.
#ifndef TESTS_VALUE_PATH_H
#define TESTS_VALUE_PATH_H

#include "value/edit.h"

// VALUE_NONE if there is none.
static inline struct slice path_get(struct slice item, struct path path)
{
    struct slice value = item;
    for (size_t i = 0; i < path.count && value.ptr != NULL; i++) {
        struct path_step step = path.steps[i];
        bool named = step.name.ptr != NULL;
        if (value_type(value) != (named ? VALUE_M : VALUE_L))
            return VALUE_NONE;
        value = named ? value_get(value, step.name) : value_at(value, step.index);
    }
    return value;
}

#endif
