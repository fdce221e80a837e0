// See work/buckets.h: directories into buckets, and back.
#include "s3/client.h"

#include "transfer/files.h"

#include <string.h>

static bool buckets_push(void *context, struct slice bucket, struct slice prefix,
                         const char *directory, bool (*stops)(void *stop_context),
                         void *stop_context, struct error *error)
{
    struct file_entry *files = NULL;
    size_t count = 0;
    if (!files_list(directory, slice_of("", 0), FILES_NO_LINKS, error->arena, &files, &count,
                    error))
        return false;
    struct s3_client *client = s3_client_new(context, stops, stop_context, error);
    bool ok = client != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        char *path = files_path(error->arena, directory, files[i].key);
        char *key =
            arena_printf(error->arena, "%.*s%.*s", SLICE_FMT(prefix), SLICE_FMT(files[i].key));
        ok = path != NULL && key != NULL
                 ? s3_client_put(client, bucket, slice_str(key), path, error)
                 : error_budget(error);
    }
    s3_client_free(client);
    return ok;
}

static bool object_pull(struct s3_client *client, struct slice bucket, struct slice key,
                        const char *directory, struct error *error)
{
    if (slice_ends(key, SLICE_LIT("/")))
        return true; // what some consoles make for a folder
    if (!files_key_safe(key))
        return error_set(error, ERR_INTERNAL, "the key \"%.*s\" is not a path", SLICE_FMT(key));
    char *path = files_path(error->arena, directory, key);
    char *above = path == NULL ? NULL : arena_printf(error->arena, "%s", path);
    if (above == NULL)
        return error_budget(error);
    *strrchr(above, '/') = 0;
    return files_make_directory(above, error) && s3_client_get(client, bucket, key, path, error);
}

static bool buckets_pull(void *context, struct slice bucket, struct slice prefix,
                         const char *directory, bool (*stops)(void *stop_context),
                         void *stop_context, struct error *error)
{
    struct s3_entry *list = NULL;
    size_t count = 0;
    struct s3_client *client = s3_client_new(context, stops, stop_context, error);
    bool ok = client != NULL &&
              s3_client_list(client, bucket, prefix, error->arena, &list, &count, error) &&
              files_make_directory(directory, error);
    for (size_t i = 0; ok && i < count; i++)
        ok = object_pull(client, bucket, list[i].key, directory, error);
    s3_client_free(client);
    return ok;
}

struct bucket_store s3_buckets(struct s3_store *store)
{
    return (struct bucket_store){store, buckets_push, buckets_pull};
}
