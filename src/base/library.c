// See library.h.
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool library_load(const char *file, const char *const *names, size_t count, void *functions,
                  char *error, size_t error_size)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        (void)snprintf(error, error_size, "%s is not installed on the server's machine", file);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, names[i]);
        if (function == NULL) {
            (void)snprintf(error, error_size, "%s has no %s: it is too old", file, names[i]);
            return false;
        }
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return true;
}
