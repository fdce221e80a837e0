// See bucket.h.
#include "commands/bucket.h"

#include "transfer/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct slice scheme = SLICE_LIT("s3://");

bool bucket_named(const char *argument)
{
    return argument != NULL && slice_begins(slice_str(argument), scheme);
}

static bool fail(struct bucket_work *work)
{
    return cli_fail(work->input, "s3://%.*s/%.*s: %s.", SLICE_FMT(work->bucket),
                    SLICE_FMT(work->key), work->error.message);
}

// As the AWS SDKs read it.
static const char *endpoint_of(const struct cli_input *input)
{
    const char *named = cli_value(input, "--s3-endpoint", getenv("AWS_ENDPOINT_URL_S3"));
    return named == NULL || named[0] == 0 ? NULL : named;
}

static bool store_open(struct bucket_work *work)
{
    char error[512];
    char *bucket = arena_printf(&work->arena, "%.*s", SLICE_FMT(work->bucket));
    struct s3_settings settings = {
        .endpoint = endpoint_of(work->input),
        .bucket = bucket,
        .region = cli_value(work->input, "--s3-region", NULL),
        .credentials = cli_value(work->input, "--s3-credentials", NULL),
        .env = env_system(),
    };
    work->store = bucket == NULL ? NULL : s3_store_new(&settings, error, sizeof(error));
    return work->store != NULL ||
           cli_fail(work->input, "%s.", bucket == NULL ? "out of memory" : error);
}

bool bucket_open(struct bucket_work *work, struct cli_input *input, const char *argument)
{
    struct store_error error;
    struct slice rest = slice_str(argument);
    *work = (struct bucket_work){.input = input};
    arena_init(&work->arena, SIZE_MAX);
    error_init(&work->error, &work->arena);
    rest = slice_of(rest.ptr + scheme.len, rest.len - scheme.len);
    work->bucket = slice_cut(&rest, '/');
    work->key = rest;
    if (work->bucket.len == 0)
        return cli_misused(input, "'%s' names no bucket: s3://bucket/key.", argument);
    if (!store_open(work))
        return false;
    work->open = scratch_begin(&work->scratch, NULL, &error);
    return work->open || cli_fail(input, "no directory for the files can be made: %s.", error.text);
}

void bucket_close(struct bucket_work *work)
{
    if (work->open)
        scratch_end(&work->scratch);
    if (work->input != NULL) {
        s3_store_free(work->store);
        arena_release(&work->arena);
    }
    *work = (struct bucket_work){.open = false};
}

// The key up to its last slash, and with it.
static struct slice above(struct slice key)
{
    while (key.len > 0 && key.ptr[key.len - 1] != '/')
        key.len--;
    return key;
}

const char *bucket_output(struct bucket_work *work, bool directory)
{
    if (directory && work->key.len > 0 && !slice_ends(work->key, SLICE_LIT("/"))) {
        char *longer = arena_printf(&work->arena, "%.*s/", SLICE_FMT(work->key));
        work->key = slice_str(longer == NULL ? "" : longer);
    }
    size_t skip = above(work->key).len;
    struct slice name = slice_of(work->key.ptr + skip, work->key.len - skip);
    const char *path = arena_printf(&work->arena, "%s/%.*s", work->scratch.path, SLICE_FMT(name));
    if (path == NULL || (name.len > 0 && !files_key_safe(name))) {
        (void)cli_fail(work->input, "s3://%.*s/%.*s cannot be the name of a file.",
                       SLICE_FMT(work->bucket), SLICE_FMT(work->key));
        return NULL;
    }
    return path;
}

bool bucket_push(struct bucket_work *work)
{
    struct bucket_store buckets = s3_buckets(work->store);
    return buckets.push(buckets.context, work->bucket, above(work->key), work->scratch.path, NULL,
                        NULL, &work->error) ||
           fail(work);
}

static bool pull(struct bucket_work *work, const char **path)
{
    uint64_t size;
    bool there = false;
    struct s3_client *client = s3_client_new(work->store, NULL, NULL, &work->error);
    bool directory = work->key.len == 0 || slice_ends(work->key, SLICE_LIT("/"));
    bool ok = client != NULL && (directory || s3_client_head(client, work->bucket, work->key,
                                                             &there, &size, &work->error));
    if (ok && there) {
        // Its name may tell how it is compressed; but it is read by its bytes.
        *path = arena_printf(&work->arena, "%s/object", work->scratch.path);
        ok = *path != NULL ? s3_client_get(client, work->bucket, work->key, *path, &work->error)
                           : error_budget(&work->error);
    }
    s3_client_free(client);
    return ok;
}

const char *bucket_pull(struct bucket_work *work)
{
    const char *path = NULL;
    struct bucket_store buckets = s3_buckets(work->store);
    if (!pull(work, &path)) {
        (void)fail(work);
        return NULL;
    }
    if (path != NULL)
        return path;
    const char *slash = work->key.len == 0 || slice_ends(work->key, SLICE_LIT("/")) ? "" : "/";
    char *prefix = arena_printf(&work->arena, "%.*s%s", SLICE_FMT(work->key), slash);
    path = prefix == NULL ? NULL : arena_printf(&work->arena, "%s/%s", work->scratch.path, prefix);
    if (path == NULL || !buckets.pull(buckets.context, work->bucket, slice_str(prefix),
                                      work->scratch.path, NULL, NULL, &work->error)) {
        (void)fail(work);
        return NULL;
    }
    if (access(path, F_OK) == 0)
        return path;
    (void)cli_fail(work->input, "there is no object s3://%.*s/%.*s, and none below it.",
                   SLICE_FMT(work->bucket), SLICE_FMT(work->key));
    return NULL;
}
