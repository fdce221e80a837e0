// See import_schema.h. The description of a table becomes a request by leaving out what only a
// description has.
#include "cli/import_schema.h"

#include "transfer/files.h"

static void copy_member(struct json_writer *w, struct slice from, const char *name,
                        struct arena *arena)
{
    struct slice text = json_member(from, name, arena);
    if (text.ptr == NULL)
        return;
    json_name(w, name);
    buf_slice(w->out, text);
    w->comma = true;
}

static void copy_indexes(struct json_writer *w, struct slice from, const char *name,
                         struct arena *arena)
{
    struct json_list indexes = json_list(from, name, arena);
    struct slice index;
    size_t start = w->out->len;
    size_t count = 0;
    json_put_array(w, name);
    for (; json_list_next(&indexes, &index); count++) {
        json_open_object(w);
        copy_member(w, index, "IndexName", arena);
        copy_member(w, index, "KeySchema", arena);
        copy_member(w, index, "Projection", arena);
        json_close_object(w);
    }
    json_close_array(w);
    if (count == 0) // an empty list is no list of indexes
        w->out->len = start;
}

static bool create(struct target *target, const char *table, struct slice schema,
                   struct arena *arena)
{
    struct buf body;
    buf_init(&body, 1 << 24);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", table);
    copy_member(&w, schema, "AttributeDefinitions", arena);
    copy_member(&w, schema, "KeySchema", arena);
    copy_indexes(&w, schema, "GlobalSecondaryIndexes", arena);
    copy_indexes(&w, schema, "LocalSecondaryIndexes", arena);
    json_put_text(&w, "BillingMode", "PAY_PER_REQUEST");
    json_close_object(&w);
    int status = target_call(target, "CreateTable", buf_view(&body));
    buf_release(&body);
    return slice_contains(buf_view(&target->response), SLICE_LIT("ResourceInUseException")) ||
           target_fine(target, status);
}

bool import_schema_create(struct target *target, const char *table, const char *directory,
                          struct arena *arena)
{
    struct error error;
    struct buf text;
    bool there = false;
    error_init(&error, arena);
    buf_init(&text, 1 << 24);
    for (int i = 0; i < 2 && !there && directory != NULL; i++) {
        char *path = arena_printf(arena, "%s%s%s/schema.json", directory, i == 0 ? "" : "/",
                                  i == 0 ? "" : table);
        if (path == NULL || !files_read(path, &text, &there, &error))
            break;
    }
    bool ok = there && create(target, table, json_member(buf_view(&text), "Table", arena), arena);
    if (!there)
        (void)cli_fail(target->input, "there is no schema.json in '%s'.",
                       directory == NULL ? "standard input" : directory);
    buf_release(&text);
    return ok;
}
