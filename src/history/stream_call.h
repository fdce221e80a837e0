// What the operations on streams share.
#ifndef HISTORY_STREAM_CALL_H
#define HISTORY_STREAM_CALL_H

#include "call/table_ops.h"
#include "stream/stream.h"

// arn:aws:dynamodb:<region>:000000000000:table/<table>/stream/<label>, in the call's arena.
MUST_CHECK bool call_stream_arn(struct api_call *call, const struct stream *stream,
                                struct slice *out);

// The stream of an ARN. One that is not of a table divided among tenants, as that table is now, is
// not there for any of them; of the others, the table is held until the call ends, as `table`: NULL
// if the call is not bound to a tenant.
MUST_CHECK bool call_stream(struct api_call *call, struct slice arn, struct stream *out,
                            const struct table **table);
// Whether the stream is there for whoever asks.
bool call_stream_visible(struct api_call *call, const struct stream *stream,
                         const struct table **table);

#endif
