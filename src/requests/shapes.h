// The shapes of all requests: the one description from which decoding, type errors and
// "N validation errors detected: …" come. shape_x is made of the list x_members (requests.h,
// requests_control.h, tables/requests.h). Everything here is constant data.
//
// Operations decode with request_decode(), which adds the few rules that the service keeps
// outside of its constraints.
#ifndef REQUESTS_SHAPES_H
#define REQUESTS_SHAPES_H

#include "requests/requests_control.h"

#define ALL_REQUESTS(X)                                                                            \
    TABLE_REQUESTS(X)                                                                              \
    ITEM_REQUESTS(X)                                                                               \
    CONTROL_REQUESTS(X)
#define ALL_VARIANTS(X)                                                                            \
    TABLE_VARIANTS(X)                                                                              \
    ITEM_VARIANTS(X)                                                                               \
    CONTROL_VARIANTS(X)
ALL_REQUESTS(SHAPE_DECLARE)
ALL_VARIANTS(SHAPE_DECLARE_AS)

// DescribeLimits and DescribeEndpoints.
extern const struct shape shape_empty_request;

// shape_decode(), and after it what the service words differently:
//   a table operation without TableName, or with one of a wrong length, says so and nothing else.
MUST_CHECK bool request_decode(const struct shape *shape, enum service_layer layer,
                               struct slice json, void *out, struct arena *arena,
                               struct error *error);

#endif
