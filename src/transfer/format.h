// The formats that items come and go in, and how files are compressed.
#ifndef TRANSFER_FORMAT_H
#define TRANSFER_FORMAT_H

#include "base/slice.h"

// X(format, name on the command line, extension)
#define TRANSFER_FORMAT_LIST(X)                                                                    \
    X(DYNAMODB_JSON, "dynamodb-json", "json") /* {"Item":{"pk":{"S":"x"}}}, one a line: AWS's */   \
    X(ION, "ion", "ion")                      /* $ion_1_0 {Item:{pk:"x"}}: AWS's */                \
    X(CSV, "csv", "csv")                                                                           \
    X(TYPED, "typed", "jsonl")            /* {"pk":{"S":"x"}}, one a line */                       \
    X(PLAIN, "json", "jsonl")             /* {"pk":"x"}, one a line */                             \
    X(BATCH_WRITE, "batch-write", "json") /* {"Table":[{"PutRequest":{"Item":{…}}},…]} */      \
    X(DYNAMODUMP, "dynamodump", "json")   /* {"Items":[{"pk":{"S":"x"}},…],"Count":…} */

enum transfer_format {
#define X(format, name, extension) TRANSFER_##format,
    TRANSFER_FORMAT_LIST(X)
#undef X
        TRANSFER_FORMATS
};

enum transfer_compression {
    TRANSFER_NONE,
    TRANSFER_GZIP,
    TRANSFER_ZSTD,
    TRANSFER_GUESS, // reading only: by the first bytes
};

const char *transfer_format_name(enum transfer_format format);
const char *transfer_format_extension(enum transfer_format format);
// TRANSFER_FORMATS if there is none of that name.
enum transfer_format transfer_format_from_name(const char *name);

// "", ".gz" or ".zst".
const char *transfer_compression_extension(enum transfer_compression compression);

#endif
