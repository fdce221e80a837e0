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

static const struct shape_member list_rows[] = {
    OPTIONAL(list_streams_request, table_name, "TableName", &shape_plain_name),
    OPTIONAL(list_streams_request, limit, "Limit", &shape_positive_integer),
    OPTIONAL(list_streams_request, exclusive_start_stream_arn, "ExclusiveStartStreamArn",
             &stream_arn),
};
const struct shape shape_list_streams_request =
    STRUCT_SHAPE(list_streams_request, "ListStreamsInput", list_rows);

static const struct shape_member filter_rows[] = {
    OPTIONAL(shard_filter, type, "Type", &filter_type),
    OPTIONAL(shard_filter, shard_id, "ShardId", &shard_id),
};
static const struct shape shard_filter = STRUCT_SHAPE(shard_filter, "ShardFilter", filter_rows);

static const struct shape_member describe_rows[] = {
    REQUIRED(describe_stream_request, stream_arn, "StreamArn", &stream_arn),
    OPTIONAL(describe_stream_request, limit, "Limit", &shape_positive_integer),
    OPTIONAL(describe_stream_request, exclusive_start_shard_id, "ExclusiveStartShardId", &shard_id),
    OPTIONAL(describe_stream_request, shard_filter, "ShardFilter", &shard_filter),
};
const struct shape shape_describe_stream_request =
    STRUCT_SHAPE(describe_stream_request, "DescribeStreamInput", describe_rows);

static const struct shape_member iterator_rows[] = {
    REQUIRED(get_shard_iterator_request, stream_arn, "StreamArn", &stream_arn),
    REQUIRED(get_shard_iterator_request, shard_id, "ShardId", &shard_id),
    REQUIRED(get_shard_iterator_request, shard_iterator_type, "ShardIteratorType", &iterator_type),
    OPTIONAL(get_shard_iterator_request, sequence_number, "SequenceNumber", &sequence_number),
};
const struct shape shape_get_shard_iterator_request =
    STRUCT_SHAPE(get_shard_iterator_request, "GetShardIteratorInput", iterator_rows);

static const struct shape_member records_rows[] = {
    REQUIRED(get_records_request, shard_iterator, "ShardIterator", &shard_iterator),
    OPTIONAL(get_records_request, limit, "Limit", &shape_positive_integer),
};
const struct shape shape_get_records_request =
    STRUCT_SHAPE(get_records_request, "GetRecordsInput", records_rows);
