// See s3.h: the settings, and where credentials come from.
#include "s3/s3_internal.h"

#include "text/url.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Credentials ---------------------------------------------------------------------------

static bool keys_find(struct s3_store *store, const char *file, char *error, size_t error_size)
{
    const struct sign_source source = {.file = file};
    enum sign_found found = sign_credentials_find(&source, &store->credentials, error, error_size);
    bool said = getenv("AWS_SHARED_CREDENTIALS_FILE") != NULL || getenv("AWS_PROFILE") != NULL;
    if (found == CREDENTIALS_NONE && !said)
        (void)snprintf(error, error_size,
                       "there are no credentials for S3: set AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY, or name a file with --s3-credentials");
    return found == CREDENTIALS_FOUND;
}

// ---- The store -----------------------------------------------------------------------------

static bool text_keep(struct slice text, char *out, size_t size)
{
    if (text.len >= size)
        return false;
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
    return true;
}

static struct slice of_environment(const char *name)
{
    const char *value = getenv(name);
    return slice_str(value == NULL ? "" : value);
}

static bool endpoint_read(struct s3_store *store, const char *endpoint, char *error,
                          size_t error_size)
{
    struct url_place place;
    struct slice rest = slice_str(endpoint);
    const char *wrong = url_http_read(rest, &place);
    store->secure = slice_begins(rest, SLICE_LIT("https://"));
    size_t skip = store->secure ? 8 : 7;
    rest = slice_of(rest.ptr + skip, rest.len < skip ? 0 : rest.len - skip);
    while (slice_ends(rest, SLICE_LIT("/")))
        rest.len--;
    if (wrong == NULL &&
        (memchr(rest.ptr, '/', rest.len) != NULL || memchr(rest.ptr, '@', rest.len) != NULL ||
         memchr(rest.ptr, '?', rest.len) != NULL))
        wrong = "it is to be a scheme, a host and perhaps a port";
    if (wrong == NULL && !text_keep(rest, store->host, sizeof(store->host)))
        wrong = "it is too long";
    if (wrong != NULL)
        (void)snprintf(error, error_size, "the S3 endpoint \"%s\" cannot be used: %s", endpoint,
                       wrong);
    return wrong == NULL;
}

static bool word_fits(struct slice text, size_t least, size_t most)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'))
            return false;
    }
    return text.len >= least && text.len <= most;
}

static bool names_read(struct s3_store *store, const struct s3_settings *settings, char *error,
                       size_t error_size)
{
    struct slice region = slice_str(settings->region == NULL ? "" : settings->region);
    struct slice bucket =
        slice_str(settings->bucket == NULL ? S3_BUCKET_DEFAULT : settings->bucket);
    if (region.len == 0)
        region = of_environment("AWS_REGION");
    if (region.len == 0)
        region = of_environment("AWS_DEFAULT_REGION");
    if (region.len == 0)
        region = SLICE_LIT("us-east-1");
    if (!word_fits(region, 1, S3_REGION_MAX - 1) ||
        !text_keep(region, store->region, sizeof(store->region))) {
        (void)snprintf(error, error_size, "\"%.*s\" is not a region", SLICE_FMT(region));
        return false;
    }
    if (!word_fits(bucket, 3, S3_BUCKET_MAX - 1) ||
        !text_keep(bucket, store->bucket, sizeof(store->bucket))) {
        (void)snprintf(error, error_size,
                       "\"%.*s\" is not the name of a bucket: 3 to 63 small letters, digits, \"-\" "
                       "and \".\"",
                       SLICE_FMT(bucket));
        return false;
    }
    return true;
}

// AWS's own: a host for each bucket.
static bool endpoint_aws(struct s3_store *store)
{
    store->secure = true;
    store->aws = true;
    (void)snprintf(store->host, sizeof(store->host), "s3.%s.amazonaws.com", store->region);
    return true;
}

static bool store_fill(struct s3_store *store, const struct s3_settings *settings, char *error,
                       size_t error_size)
{
    if (!names_read(store, settings, error, error_size))
        return false;
    store->own = settings->endpoint == NULL && settings->own != NULL;
    if (store->own)
        return sign_credentials_set(&store->credentials, settings->own);
    return keys_find(store, settings->credentials, error, error_size) &&
           (settings->endpoint != NULL ? endpoint_read(store, settings->endpoint, error, error_size)
                                       : endpoint_aws(store));
}

struct s3_store *s3_store_new(const struct s3_settings *settings, char *error, size_t error_size)
{
    struct s3_store *store = memory_zeroed(sizeof(*store));
    (void)snprintf(error, error_size, "the keys of the store are too long");
    store->env = settings->env;
    ensure(pthread_mutex_init(&store->lock, NULL) == 0);
    store->cache = sign_cache_new();
    if (store->cache != NULL && store_fill(store, settings, error, error_size))
        return store;
    s3_store_free(store);
    return NULL;
}

void s3_store_free(struct s3_store *store)
{
    if (store == NULL)
        return;
    sign_cache_free(store->cache);
    (void)pthread_mutex_destroy(&store->lock);
    OPENSSL_cleanse(store, sizeof(*store));
    free(store);
}

struct slice s3_store_bucket(const struct s3_store *store)
{
    return slice_str(store->bucket);
}

void s3_store_set_self(struct s3_store *store, const char *place)
{
    (void)snprintf(store->self, sizeof(store->self), "%s", place);
}

void s3_store_set_secure(struct s3_store *store, const char *certificate, const char *key)
{
    store->secure = true;
    store->certificate = certificate;
    store->key = key;
}

bool s3_store_is_own(const struct s3_store *store)
{
    return store->own;
}
