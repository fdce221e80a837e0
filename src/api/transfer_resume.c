// The bucket root of an api, and the exports, imports and bulk operations that the last process had
// not finished.
#include "api/bulk.h"
#include "api/transfer.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

struct unfinished {
    struct arena arena;
    size_t count;
    size_t capacity;
    char (*ids)[EXPORT_ID_MAX];
};

static bool note_unfinished(void *context, struct slice name, struct slice record)
{
    struct unfinished *list = context;
    (void)name;
    struct slice id = map_text(record, "id");
    if (map_integer(record, "status") != WORK_IN_PROGRESS || id.len >= EXPORT_ID_MAX)
        return true;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->ids = realloc(list->ids, list->capacity * sizeof(*list->ids));
        ensure_memory(list->ids);
    }
    memcpy(list->ids[list->count], id.ptr, id.len);
    list->ids[list->count++][id.len] = 0;
    return true;
}

static void resume(struct api *api, const char *prefix, bool (*begin)(struct api *, struct slice))
{
    struct unfinished list = {.count = 0};
    struct error error;
    arena_init(&list.arena, 1 << 20);
    error_init(&error, &list.arena);
    if (!engine_records(api->engine, slice_str(prefix), slice_of(NULL, 0), note_unfinished, &list,
                        &error))
        log_error("unfinished work could not be looked for: %s", error.message);
    for (size_t i = 0; i < list.count; i++)
        (void)!begin(api, slice_str(list.ids[i]));
    free(list.ids);
    arena_release(&list.arena);
}

void api_set_buckets(struct api *api, const char *root, const char *data)
{
    ensure(api->bucket_root == NULL);
    if (root == NULL && data == NULL)
        return;
    size_t size = strlen(root != NULL ? root : data) + sizeof("/buckets");
    api->bucket_root = malloc(size);
    ensure(api->bucket_root != NULL);
    (void)snprintf(api->bucket_root, size, "%s%s", root != NULL ? root : data,
                   root != NULL ? "" : "/buckets");
    resume(api, "export/", export_begin);
    resume(api, "import/", import_begin);
    resume(api, "bulk/", bulk_begin);
}
