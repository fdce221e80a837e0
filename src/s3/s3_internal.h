// What the files of this room share.
#ifndef S3_S3_INTERNAL_H
#define S3_S3_INTERNAL_H

#include "base/limits.h"
#include "s3/s3.h"
#include "sign/credentials.h"

#include <pthread.h>

struct s3_store {
    struct env env;
    bool own;               // the server's
    bool aws;               // a host for each bucket
    bool secure;            // https
    char host[S3_HOST_MAX]; // with its port
    char self[S3_HOST_MAX];
    const char *certificate; // of the server itself, if it speaks HTTPS; a path
    const char *key;
    char region[S3_REGION_MAX];
    char bucket[S3_BUCKET_MAX];
    struct sign_credentials credentials;
    pthread_mutex_t lock; // of the cache
    struct sign_cache *cache;
};

#endif
