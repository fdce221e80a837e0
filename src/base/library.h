// Libraries that are loaded when they are needed. A library is a struct of the functions that are
// used of it, made from a list of their names and from its own header, so their types are checked.
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

#define LIBRARY_POINTER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name)    #name,

// Loads the library and finds the functions, which are put into `functions` one after the other.
// False, with a sentence, if it is not there or lacks one. It stays loaded.
MUST_CHECK bool library_load(const char *file, const char *const *names, size_t count,
                             void *functions, char *error, size_t error_size);

#endif
