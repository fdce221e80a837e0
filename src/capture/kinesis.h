// The Kinesis streaming destination: a table's changes as records, delivered at least once and in
// order, to a file that stands for the stream or to an HTTP endpoint that speaks Kinesis. Each
// destination is a consumer (consumer.h), named by the ARN of its stream.
//
// Kept in the table's settings: an M by stream ARN of M {active, precision, start, end}. Delivery
// begins behind the sequence `start` (engine/log.h) and, once the destination was disabled, ends
// with `end`. Databases of before consumers have a record "kinesis/<table id>/<stream ARN>" instead
// of the consumer's: it begins there.
#ifndef CAPTURE_KINESIS_H
#define CAPTURE_KINESIS_H

#include "capture/consumer.h"
#include "engine/log.h"
#include "work/workshop.h"

struct kinesis;

// The name behind arn:aws:kinesis:<region>:<account>:stream/; false if it is no such ARN.
MUST_CHECK bool kinesis_stream_name(struct slice arn, struct slice *name);

// ---- Delivery (kinesis_outlet.c) --------------------------------------------------------------

// Where the records go: if an endpoint is given (http://host:port), to Kinesis there, else to files
// <root>/<stream>.jsonl; a root of NULL means <data>/kinesis. *out is NULL if all three are:
// nothing is delivered. False with a sentence in `error` if the endpoint is none.
struct kinesis_place {
    const char *root;
    const char *data;
    const char *endpoint;
};
MUST_CHECK bool kinesis_new(struct workshop *shop, const struct kinesis_place *place,
                            struct kinesis **out, char *error, size_t error_size);
// When its consumers have ended. NULL is fine.
void kinesis_free(struct kinesis *kinesis);

// What its consumers are made of: the target of each is the ARN of its stream.
const struct outlet_opener *kinesis_opener(const struct kinesis *kinesis);
struct consumer_source *kinesis_source_new(const struct table *table, struct slice stream_arn,
                                           bool microseconds);

// ---- Records (kinesis_record.c) ---------------------------------------------------------------

struct kinesis_source {
    struct slice region;
    struct slice table;
    struct slice table_id;
    bool microseconds;
};

// One record in AWS's form, as JSON on one line.
void kinesis_record_write(struct buf *out, const struct kinesis_source *source,
                          const struct log_entry *entry);

// ---- HTTP (kinesis_http.c) ----------------------------------------------------------------------

struct kinesis_http;

// http://host[:port][/path]; NULL with a sentence in `error` if it is none.
MUST_CHECK struct kinesis_http *kinesis_http_new(const char *url, char *error, size_t error_size);
void kinesis_http_free(struct kinesis_http *http);
// From another thread: a post that waits fails at once, and so do all that follow.
void kinesis_http_stop(struct kinesis_http *http);
// Posts a request of Kinesis and waits for the answer; whether it was a success.
MUST_CHECK bool kinesis_http_post(struct kinesis_http *http, const char *operation,
                                  struct slice region, struct slice body);

#endif
