// Buckets that are elsewhere. What is exported is written to a directory and pushed from there;
// what is imported is pulled into one and read there. src/s3 has the one of servers.
#ifndef WORK_BUCKETS_H
#define WORK_BUCKETS_H

#include "base/error.h"

struct bucket_store {
    void *context;
    // Uploads all files below the directory, in the order of their keys, each under `prefix` and
    // its path. ERR_RESOURCE_NOT_FOUND if there is no such bucket.
    bool (*push)(void *context, struct slice bucket, struct slice prefix, const char *directory,
                 bool (*stops)(void *stop_context), void *stop_context, struct error *error);
    // Downloads all objects whose keys begin with the prefix, each to its key below the directory.
    bool (*pull)(void *context, struct slice bucket, struct slice prefix, const char *directory,
                 bool (*stops)(void *stop_context), void *stop_context, struct error *error);
};

#endif
