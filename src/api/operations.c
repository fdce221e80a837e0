// The table of operations: name, shape of the request, and the functions that serve it, made
// from the list in call/operation_list.h.
#include "api/operations.h"

#include "api/api.h"
#include "call/authorize.h"
#include "call/authorize_list.h"
#include "requests/shapes.h"

#include <assert.h>
#include <pthread.h>

#define ROW(op, function, shape, layer, tenants, streams, wide, finish)                            \
    {SLICE_LIT(#op),    &authorize_rows[AUTHORIZE_##op], OP_##op,       streams,          wide,    \
     TENANTS_##tenants, &shape_##shape##_request,        LAYER_##layer, function##_start, finish},
#define READ_ROW(op, function, shape, layer, tenants)                                              \
    ROW(op, function, shape, layer, tenants, false, false, NULL)
#define LIST_ROW(op, function, shape, layer, tenants)                                              \
    ROW(op, function, shape, layer, tenants, false, true, NULL)
#define WRITE_ROW(op, function, shape, layer, tenants)                                             \
    ROW(op, function, shape, layer, tenants, false, false, function##_finish)
#define STREAM_ROW(op, function, shape, layer, tenants)                                            \
    ROW(op, function, shape, layer, tenants, true, false, NULL)
#define MODEL_ROW(op, function, shape, layer, tenants)                                             \
    ROW(op, function, shape, layer, tenants, false, true, call_answered)
#define NUMBER(op, function, shape, layer, tenants) OP_##op,
#define NAME(op, function, shape, layer, tenants)   #op,

enum { TENANTS_CLOSED = false, TENANTS_BOUND = true };

enum { OPERATION_LIST(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER) };

static const struct operation operations[] = {
    OPERATION_LIST(READ_ROW, LIST_ROW, WRITE_ROW, STREAM_ROW, MODEL_ROW)};
static const char *const names[] = {OPERATION_LIST(NAME, NAME, NAME, NAME, NAME) NULL};

// ---- Finding by name ----------------------------------------------------------------------
//
// Each request asks twice, and a binary search would compare seven names each time: a table
// takes one.

enum { SLOTS = 512 };
static_assert(COUNT_OF(operations) < SLOTS / 2 && COUNT_OF(operations) < API_NO_OPERATION,
              "half of the slots are free, so that probes are short, and a row fits a byte");

static uint8_t slots[SLOTS]; // the row's number and one; 0: free
static pthread_once_t slots_filled = PTHREAD_ONCE_INIT;

// Where the name is, or where it belongs. An empty name must not come here.
static unsigned slot_of(struct slice name)
{
    unsigned hash = (unsigned)name.len * 5 + name.ptr[0] * 7U + name.ptr[name.len / 2] * 31U +
                    name.ptr[name.len - 1];
    unsigned slot = hash % SLOTS;
    while (slots[slot] != 0 && !slice_equal(operations[slots[slot] - 1].name, name))
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void fill_slots(void)
{
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        slots[slot_of(operations[i].name)] = (uint8_t)(i + 1);
}

const struct operation *operation_find(struct slice name)
{
    (void)pthread_once(&slots_filled, fill_slots);
    unsigned row = name.len == 0 ? 0 : slots[slot_of(name)];
    return row == 0 ? NULL : &operations[row - 1];
}

unsigned api_operation_number(struct slice name)
{
    const struct operation *operation = operation_find(name);
    return operation == NULL ? API_NO_OPERATION : operation->number;
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
