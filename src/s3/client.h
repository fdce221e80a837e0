// A client of an S3 store: one request after the other, on the caller's thread, by libcurl. What
// fails for now is tried again a few times. For exports, imports and archives.
#ifndef S3_CLIENT_H
#define S3_CLIENT_H

#include "base/error.h"
#include "s3/s3.h"
#include "work/buckets.h"

struct s3_client;

// `stops` (or NULL) is asked now and then; then everything fails. NULL with the error set.
MUST_CHECK struct s3_client *s3_client_new(struct s3_store *store, bool (*stops)(void *context),
                                           void *context, struct error *error);
void s3_client_free(struct s3_client *client);

// A file as an object; a large one in parts, all of it or nothing. A bucket that is not there is
// ERR_RESOURCE_NOT_FOUND, as below.
MUST_CHECK bool s3_client_put(struct s3_client *client, struct slice bucket, struct slice key,
                              const char *path, struct error *error);
// An object as a file, which is there whole or not at all.
MUST_CHECK bool s3_client_get(struct s3_client *client, struct slice bucket, struct slice key,
                              const char *path, struct error *error);
// Whether it is there, and its size.
MUST_CHECK bool s3_client_head(struct s3_client *client, struct slice bucket, struct slice key,
                               bool *there, uint64_t *size, struct error *error);
MUST_CHECK bool s3_client_delete(struct s3_client *client, struct slice bucket, struct slice key,
                                 struct error *error);

struct s3_entry {
    struct slice key;
    uint64_t size;
};
// All objects whose keys begin with the prefix, in order; in the arena.
MUST_CHECK bool s3_client_list(struct s3_client *client, struct slice bucket, struct slice prefix,
                               struct arena *arena, struct s3_entry **list, size_t *count,
                               struct error *error);

// ---- Buckets of exports, imports and archives (buckets.c) --------------------------------------

struct bucket_store s3_buckets(struct s3_store *store);

#endif
