// The shapes of all requests: the one description from which decoding, type errors and
// "N validation errors detected: …" come. Each shape fills the struct of the same
// name in requests.h. Everything here is constant data.
//
// Operations decode with request_decode(), which adds the few rules that the service keeps
// outside of its constraints.
#ifndef REQUESTS_SHAPES_H
#define REQUESTS_SHAPES_H

#include "requests/requests.h"
#include "requests/requests_backup.h"
#include "requests/requests_control.h"
#include "requests/requests_model.h"
#include "requests/requests_partiql.h"
#include "requests/requests_stream.h"
#include "requests/requests_transfer.h"
#include "requests/requests_vector.h"

extern const struct shape shape_create_table_request;
extern const struct shape shape_update_table_request;
extern const struct shape shape_list_tables_request;
// DescribeTable, DeleteTable, DescribeTimeToLive and DescribeContinuousBackups.
extern const struct shape shape_table_name_request;

extern const struct shape shape_update_time_to_live_request;
// ResourceArn has no constraint in these three: its faults have messages of their own
// ("Invalid TableArn"), also when it is absent.
extern const struct shape shape_list_tags_of_resource_request;
extern const struct shape shape_tag_resource_request;
extern const struct shape shape_untag_resource_request;
// DescribeLimits and DescribeEndpoints.
extern const struct shape shape_empty_request;

extern const struct shape shape_put_item_request;
extern const struct shape shape_get_item_request;
extern const struct shape shape_update_item_request;
extern const struct shape shape_delete_item_request;
extern const struct shape shape_query_request;
extern const struct shape shape_scan_request;
extern const struct shape shape_batch_get_item_request;
extern const struct shape shape_batch_write_item_request;
extern const struct shape shape_transact_get_items_request;
extern const struct shape shape_transact_write_items_request;

// shape_decode(), and after it what the service words differently:
//   a table operation without TableName, or with one of a wrong length, says so and nothing else.
MUST_CHECK bool request_decode(const struct shape *shape, struct slice json, void *out,
                               struct arena *arena, struct error *error);

#endif
