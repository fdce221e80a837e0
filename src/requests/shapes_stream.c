// The shapes of the requests of DynamoDB Streams, with the constraints of its service model.
#include "requests/shapes_internal.h"

static const char *const iterator_types[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                             "AFTER_SEQUENCE_NUMBER", NULL};
static const char *const filter_types[] = {"CHILD_SHARDS", NULL};

static const struct shape iterator_type = ENUM_SHAPE(iterator_types);
static const struct shape filter_type = ENUM_SHAPE(filter_types);
static const struct shape stream_arn = STRING_SHAPE_RANGE(37, 1024);
static const struct shape shard_id = STRING_SHAPE_RANGE(28, 65);
static const struct shape sequence_number = STRING_SHAPE_RANGE(21, 40);
static const struct shape shard_iterator = STRING_SHAPE_RANGE(1, 2048);

REQUEST_ROWS(list_streams_request, LIST_STREAMS_REQUEST);
const struct shape shape_list_streams_request =
    REQUEST_SHAPE(list_streams_request, "ListStreamsInput");

REQUEST_ROWS(shard_filter, SHARD_FILTER);
static const struct shape shard_filter = REQUEST_SHAPE(shard_filter, "ShardFilter");

REQUEST_ROWS(describe_stream_request, DESCRIBE_STREAM_REQUEST);
const struct shape shape_describe_stream_request =
    REQUEST_SHAPE(describe_stream_request, "DescribeStreamInput");

REQUEST_ROWS(get_shard_iterator_request, GET_SHARD_ITERATOR_REQUEST);
const struct shape shape_get_shard_iterator_request =
    REQUEST_SHAPE(get_shard_iterator_request, "GetShardIteratorInput");

REQUEST_ROWS(get_records_request, GET_RECORDS_REQUEST);
const struct shape shape_get_records_request =
    REQUEST_SHAPE(get_records_request, "GetRecordsInput");
