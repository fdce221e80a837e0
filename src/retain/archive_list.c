// The archives that are there: see archive.h.
#include "retain/archive.h"

#include "transfer/export.h"
#include "transfer/files.h"
#include "json/reader.h"

#include <stdio.h>

enum { SUMMARY_MAX = 1 << 20 };

#define SUMMARY "/manifest-summary.json"

// The itemCount of a summary; false if it is none.
static bool read_summary(const char *root, struct slice key, struct arena *arena, uint64_t *items,
                         struct error *error)
{
    struct json_reader reader;
    struct slice name;
    struct buf text;
    bool there;
    char *path = files_path(arena, root, key);
    if (path == NULL)
        return error_budget(error);
    buf_init(&text, SUMMARY_MAX);
    bool ok = files_read(path, &text, &there, error);
    struct slice copy = ok ? arena_copy(arena, buf_view(&text)) : VALUE_NONE;
    buf_release(&text);
    json_reader_init(&reader, copy, arena);
    *items = 0;
    if (!ok || json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return ok;
    while (json_next_name(&reader, &name)) {
        struct slice number = {NULL, 0};
        if (!(slice_is(name, "itemCount") ? json_read_number(&reader, &number)
                                          : json_skip(&reader)))
            return true;
        for (size_t i = 0; i < number.len; i++)
            *items = *items * 10 + (uint64_t)(number.ptr[i] - '0');
    }
    return true;
}

// "jobs/retain-Job/2026-11-18/AWSDynamoDB/<id>" of the key of its summary.
static bool add_entry(const char *root, struct slice key, struct arena *arena,
                      struct archive_entry *out, struct error *error)
{
    struct slice path = slice_of(key.ptr, key.len - (sizeof(SUMMARY) - 1));
    struct slice rest = path;
    *out = (struct archive_entry){.table = slice_cut(&rest, '/')};
    out->rule = slice_cut(&rest, '/');
    out->date = slice_cut(&rest, '/');
    out->path = arena_printf(arena, "%.*s", SLICE_FMT(path));
    return (out->path != NULL || error_budget(error)) &&
           read_summary(root, key, arena, &out->items, error);
}

static bool is_summary(struct slice key)
{
    struct slice end = SLICE_LIT(SUMMARY);
    return key.len > end.len && slice_equal(slice_of(key.ptr + key.len - end.len, end.len), end);
}

// Files are in the order of their keys, and those of an archive are together.
static void add_sizes(const struct file_entry *files, size_t file_count, struct archive_entry *list,
                      size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < file_count && at < count; i++) {
        struct slice path = slice_str(list[at].path);
        while (at < count && !slice_begins(files[i].key, path) &&
               slice_compare(files[i].key, path) > 0) {
            at++;
            path = at < count ? slice_str(list[at].path) : path;
        }
        if (at < count && slice_begins(files[i].key, path) && export_is_data(files[i].key))
            list[at].bytes += files[i].size;
    }
}

bool archives_list(const char *root, struct slice table, struct arena *arena,
                   struct archive_entry **list, size_t *count, struct error *error)
{
    struct file_entry *files = NULL;
    size_t file_count = 0;
    *count = 0;
    *list = NULL;
    char *prefix = table.len == 0 ? NULL : arena_printf(arena, "%.*s/", SLICE_FMT(table));
    if (!files_list(root, prefix == NULL ? slice_of(NULL, 0) : slice_str(prefix), FILES_NO_LINKS,
                    arena, &files, &file_count, error)) {
        bool none = error->code == ERR_RESOURCE_NOT_FOUND; // nothing was archived yet
        if (none)
            error_init(error, error->arena);
        return none;
    }
    *list = arena_zalloc(arena, file_count + 1, sizeof(**list));
    if (*list == NULL)
        return error_budget(error);
    for (size_t i = 0; i < file_count; i++) {
        if (is_summary(files[i].key) &&
            !add_entry(root, files[i].key, arena, &(*list)[(*count)++], error))
            return false;
    }
    add_sizes(files, file_count, *list, *count);
    return true;
}
