// The service's validation layers. Since June 2026 it moves its operations, region by region, from
// an older layer to a newer one, with other words, another order of checks and other judgements of
// values. Which layer an operation is judged by is a column of the table of operations
// (call/operation_list.h), so that a region that moves on is a change of data.
#ifndef BASE_LAYER_H
#define BASE_LAYER_H

#include <stdbool.h>

enum service_layer {
    LAYER_OLD,      // the older layer: of all operations in May 2026 (--service-texts 2026-05)
    LAYER_NEW,      // the newer one
    LAYER_ENVELOPE, // the newer one, with each message behind VALIDATION_ENVELOPE
    LAYER_JOINED,   // the same, and a ReturnValues that there is not is told with other mistakes
};

#define VALIDATION_ENVELOPE "1 validation error detected: "

static inline bool layer_is_new(enum service_layer layer)
{
    return layer >= LAYER_NEW;
}

// What stands before each message.
static inline const char *layer_envelope(enum service_layer layer)
{
    return layer >= LAYER_ENVELOPE ? VALIDATION_ENVELOPE : "";
}

#endif
