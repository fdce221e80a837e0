// ListTables: the names of the catalog, in order, a page at a time.
#include "call/table_ops.h"

enum { PAGE_DEFAULT = 100 };

struct listing {
    struct api_call *call;
    size_t limit;
    size_t count;
    struct slice *names; // limit + 1: one more than the page tells that there is more
    bool failed;
};

static bool note_name(void *context, struct slice name)
{
    struct listing *listing = context;
    struct slice copy = arena_copy(&listing->call->arena, name);
    if (copy.ptr == NULL) {
        listing->failed = true;
        return false;
    }
    listing->names[listing->count++] = copy;
    return listing->count <= listing->limit;
}

enum step list_tables_start(struct api_call *call, const void *request)
{
    const struct list_tables_request *list = request;
    struct listing listing = {.call = call,
                              .limit = list->limit.set ? (size_t)list->limit.value : PAGE_DEFAULT};
    listing.names = call_alloc(call, listing.limit + 1, sizeof(*listing.names));
    if (listing.names == NULL)
        return STEP_FAILED;
    engine_tables(call_engine(call), list->exclusive_start_table_name, note_name, &listing);
    if (listing.failed) {
        (void)error_budget(&call->error);
        return STEP_FAILED;
    }
    bool more = listing.count > listing.limit;
    size_t count = more ? listing.limit : listing.count;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "TableNames");
    for (size_t i = 0; i < count; i++)
        json_string(&w, listing.names[i]);
    json_close_array(&w);
    if (more)
        json_put_string(&w, "LastEvaluatedTableName", listing.names[count - 1]);
    json_close_object(&w);
    return STEP_READY;
}
