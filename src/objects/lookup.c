// Records from the metadata, copied into the request's memory.
#include "objects/s3.h"

enum store_result s3_look(struct s3 *s3, const struct record_key *key, struct slice *out)
{
    struct store *store = meta_store(s3->objects->meta);
    struct store_error error;
    struct store_value value;
    enum store_result result = store_get(store, NULL, record_key_view(key), &value, &error);
    s3->cold = s3->cold || (result == STORE_FAILED && s3->hurried && error.cold);
    if (result == STORE_FAILED)
        (void)s3_fail(s3, S3_INTERNAL);
    if (result != STORE_FOUND)
        return result;
    *out = arena_copy(&s3->arena, value.bytes);
    store_value_release(store, &value);
    if (out->ptr != NULL)
        return STORE_FOUND;
    (void)s3_fail(s3, S3_SLOW_DOWN);
    return STORE_FAILED;
}

bool s3_find_bucket(struct s3 *s3, struct slice bucket)
{
    struct record_key key = key_of_bucket('B', bucket);
    struct slice bytes;
    return s3_look(s3, &key, &bytes) == STORE_FOUND || s3_fail(s3, S3_NO_SUCH_BUCKET);
}

bool s3_find_object(struct s3 *s3, struct slice bucket, struct slice key, struct record *out)
{
    struct record_key at = key_of_object(bucket, key);
    struct slice bytes;
    if (s3_look(s3, &at, &bytes) != STORE_FOUND)
        return s3_fail(s3, S3_NO_SUCH_KEY);
    return record_decode(bytes, out) || s3_fail(s3, S3_INTERNAL);
}
