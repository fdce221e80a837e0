// "s3://bucket/key" as an argument of export and import: the files are made or read in a scratch
// directory, and pushed to or pulled from the bucket.
#ifndef COMMANDS_BUCKET_H
#define COMMANDS_BUCKET_H

#include "cli/scratch.h"
#include "s3/client.h"

struct bucket_work {
    bool open;
    struct cli_input *input;
    struct arena arena;
    struct error error;
    struct scratch scratch;
    struct s3_store *store;
    struct slice bucket;
    struct slice key; // empty, or it ends with a slash: a directory
};

// Whether the argument (or NULL) is of a bucket.
bool bucket_named(const char *argument);

// --s3-endpoint, --s3-region, --s3-credentials. To be called before the process has other threads.
// False after telling the user; bucket_close() in any case.
MUST_CHECK bool bucket_open(struct bucket_work *work, struct cli_input *input,
                            const char *argument);
void bucket_close(struct bucket_work *work);

// Where to write what the argument names: a file of its name, or a directory, which the format may
// want. NULL after telling the user.
MUST_CHECK const char *bucket_output(struct bucket_work *work, bool directory);
// Uploads what was written.
MUST_CHECK bool bucket_push(struct bucket_work *work);
// Downloads the object of this key, or all below it. The file or directory; NULL after telling the
// user.
MUST_CHECK const char *bucket_pull(struct bucket_work *work);

#endif
