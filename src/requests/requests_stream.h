// The requests of DynamoDB Streams. Absent members are as in requests.h.
#ifndef REQUESTS_REQUESTS_STREAM_H
#define REQUESTS_REQUESTS_STREAM_H

#include "requests/requests.h"

#define LIST_STREAMS_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, table_name, "TableName", shape_plain_name)                        \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)                       \
    X(T, OPTIONAL, struct slice, exclusive_start_stream_arn, "ExclusiveStartStreamArn", stream_arn)
REQUEST_STRUCT(list_streams_request, LIST_STREAMS_REQUEST);

#define SHARD_FILTER(X, T)                                                                         \
    X(T, OPTIONAL, struct slice, type, "Type", filter_type) /* CHILD_SHARDS */                     \
    X(T, OPTIONAL, struct slice, shard_id, "ShardId", shard_id)
REQUEST_STRUCT(shard_filter, SHARD_FILTER);

#define DESCRIBE_STREAM_REQUEST(X, T)                                                              \
    X(T, REQUIRED, struct slice, stream_arn, "StreamArn", stream_arn)                              \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)                       \
    X(T, OPTIONAL, struct slice, exclusive_start_shard_id, "ExclusiveStartShardId", shard_id)      \
    X(T, OPTIONAL, struct shard_filter *, shard_filter, "ShardFilter", shard_filter)
REQUEST_STRUCT(describe_stream_request, DESCRIBE_STREAM_REQUEST);

#define GET_SHARD_ITERATOR_REQUEST(X, T)                                                           \
    X(T, REQUIRED, struct slice, stream_arn, "StreamArn", stream_arn)                              \
    X(T, REQUIRED, struct slice, shard_id, "ShardId", shard_id)                                    \
    X(T, REQUIRED, struct slice, shard_iterator_type, "ShardIteratorType", iterator_type)          \
    X(T, OPTIONAL, struct slice, sequence_number, "SequenceNumber", sequence_number)
REQUEST_STRUCT(get_shard_iterator_request, GET_SHARD_ITERATOR_REQUEST);

#define GET_RECORDS_REQUEST(X, T)                                                                  \
    X(T, REQUIRED, struct slice, shard_iterator, "ShardIterator", shard_iterator)                  \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)
REQUEST_STRUCT(get_records_request, GET_RECORDS_REQUEST);

extern const struct shape shape_list_streams_request;
extern const struct shape shape_describe_stream_request;
extern const struct shape shape_get_shard_iterator_request;
extern const struct shape shape_get_records_request;

#endif
