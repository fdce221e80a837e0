// The one table of operations: name, shape of the request, and the functions that serve it.
// It is sorted by name, which operation_find() relies on.
#include "api/api_internal.h"
#include "api/shapes.h"

#include <stdlib.h>

#define READ_ROW(op, function, shape) {#op, &shape_##shape##_request, function##_start, NULL},
#define WRITE_ROW(op, function, shape)                                                             \
    {#op, &shape_##shape##_request, function##_start, function##_finish},
#define NAME(op, function, shape) #op,

static const struct operation reads[] = {OPERATION_READ_LIST(READ_ROW)};
static const struct operation writes[] = {OPERATION_WRITE_LIST(WRITE_ROW)};
static const char *const names[] = {OPERATION_READ_LIST(NAME) OPERATION_WRITE_LIST(NAME) NULL};

static int compare_name(const void *key, const void *row)
{
    const struct slice *name = key;
    return slice_compare(*name, slice_str(((const struct operation *)row)->name));
}

const struct operation *operation_find(struct slice name)
{
    const struct operation *found =
        bsearch(&name, reads, COUNT_OF(reads), sizeof(reads[0]), compare_name);
    if (found == NULL)
        found = bsearch(&name, writes, COUNT_OF(writes), sizeof(writes[0]), compare_name);
    return found;
}

unsigned operation_number(const struct operation *operation)
{
    if (operation >= reads && operation < reads + COUNT_OF(reads))
        return (unsigned)(operation - reads);
    return (unsigned)(COUNT_OF(reads) + (size_t)(operation - writes));
}

unsigned api_operation_number(struct slice name)
{
    const struct operation *operation = operation_find(name);
    return operation == NULL ? API_NO_OPERATION : operation_number(operation);
}

const char *const *api_operations(void)
{
    return names;
}
