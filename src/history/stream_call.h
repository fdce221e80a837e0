// What the operations on streams share.
#ifndef HISTORY_STREAM_CALL_H
#define HISTORY_STREAM_CALL_H

#include "call/table_ops.h"
#include "stream/stream.h"

// arn:aws:dynamodb:<region>:000000000000:table/<table>/stream/<label>, in the call's arena.
MUST_CHECK bool call_stream_arn(struct api_call *call, const struct stream *stream,
                                struct slice *out);

#endif
