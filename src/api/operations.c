// The table of operations: name, shape of the request, and the functions that serve it, made
// from the list in operation_list.h. It is sorted by name, which operation_find() relies on.
#include "api/api_internal.h"
#include "api/shapes.h"

#include <stdlib.h>

#define READ_ROW(op, function, shape)                                                              \
    {#op, false, false, &shape_##shape##_request, function##_start, NULL},
#define LIST_ROW(op, function, shape)                                                              \
    {#op, false, true, &shape_##shape##_request, function##_start, NULL},
#define WRITE_ROW(op, function, shape)                                                             \
    {#op, false, false, &shape_##shape##_request, function##_start, function##_finish},
#define STREAM_ROW(op, function, shape)                                                            \
    {#op, true, false, &shape_##shape##_request, function##_start, NULL},
#define MODEL_ROW(op, function, shape)                                                             \
    {#op, false, true, &shape_##shape##_request, function##_start, model_finish},
#define NAME(op, function, shape) #op,

static const struct operation operations[] = {
    OPERATION_LIST(READ_ROW, LIST_ROW, WRITE_ROW, STREAM_ROW, MODEL_ROW)};
static const char *const names[] = {OPERATION_LIST(NAME, NAME, NAME, NAME, NAME) NULL};

static int compare_name(const void *key, const void *row)
{
    const struct slice *name = key;
    return slice_compare(*name, slice_str(((const struct operation *)row)->name));
}

const struct operation *operation_find(struct slice name)
{
    return bsearch(&name, operations, COUNT_OF(operations), sizeof(operations[0]), compare_name);
}

unsigned operation_number(const struct operation *operation)
{
    return (unsigned)(operation - operations);
}

unsigned api_operation_number(struct slice name)
{
    const struct operation *operation = operation_find(name);
    return operation == NULL ? API_NO_OPERATION : operation_number(operation);
}

bool api_operation_of_streams(struct slice name)
{
    const struct operation *operation = operation_find(name);
    return operation != NULL && operation->of_streams;
}

const char *const *api_operations(void)
{
    return names;
}
