// Whether a scalar is of a type: what uuids, addresses and times look like, ranges and lengths.
// Pure functions; values with members are the guard's (guard/validate.h).
#ifndef MODEL_FORMS_H
#define MODEL_FORMS_H

#include "model/model.h"

// A scalar as a value, or as a member of a set: its tag and its bytes.
bool model_scalar_fits(const struct model_type *type, enum value_tag tag, struct slice bytes);
// Whether a length is in the range of a type.
bool model_length_fits(const struct model_type *type, size_t length);

#endif
