// The requests of DynamoDB Streams. Absent members are as in requests.h.
#ifndef REQUESTS_REQUESTS_STREAM_H
#define REQUESTS_REQUESTS_STREAM_H

#include "requests/requests.h"

struct list_streams_request {
    struct slice table_name;
    struct field_int limit;
    struct slice exclusive_start_stream_arn;
};

struct shard_filter {
    struct slice type; // CHILD_SHARDS
    struct slice shard_id;
};

struct describe_stream_request {
    struct slice stream_arn;
    struct field_int limit;
    struct slice exclusive_start_shard_id;
    struct shard_filter *shard_filter;
};

struct get_shard_iterator_request {
    struct slice stream_arn;
    struct slice shard_id;
    struct slice shard_iterator_type;
    struct slice sequence_number;
};

struct get_records_request {
    struct slice shard_iterator;
    struct field_int limit;
};

extern const struct shape shape_list_streams_request;
extern const struct shape shape_describe_stream_request;
extern const struct shape shape_get_shard_iterator_request;
extern const struct shape shape_get_records_request;

#endif
