// The operations on tables as a whole: making, changing, deleting, describing and listing them,
// time to live, and what clients ask for around them. The answers say CREATING, UPDATING and
// DELETING, but everything except the filling of a new index is done by then.
#include "call/table_ops.h"

enum step create_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    return act != NULL && act_create(act, call_engine(call), &call->arena, request, &call->error)
               ? call_act(call, act)
               : STEP_FAILED;
}

enum step update_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    return act != NULL && act_update(act, call_engine(call), &call->arena, request, &call->error)
               ? call_act(call, act)
               : STEP_FAILED;
}

enum step delete_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *delete = request;
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL)
        return STEP_FAILED;
    act_delete(act, call_engine(call), &call->arena, delete->table_name);
    return call_act(call, act);
}

void create_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_CREATED);
}

void update_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_UPDATED);
}

void delete_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_DELETED);
}

enum step describe_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    call_write_table(call, "Table", table, NULL, DESCRIBE_NOW);
    return STEP_READY;
}

// ---- ListTables: the names of the catalog, in order, a page at a time -------------------------

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
    // Tables that are not divided among tenants are not there for any of them.
    if (call->bound)
        engine_tables_of_tenants(call_engine(call), list->exclusive_start_table_name, note_name,
                                 &listing);
    else
        engine_tables(call_engine(call), list->exclusive_start_table_name, note_name, &listing);
    if (listing.failed)
        return step_failed(error_budget(&call->error));
    bool more = listing.count > listing.limit;
    size_t count = more ? listing.limit : listing.count;
    struct json_writer w = call_open(call);
    json_put_array(&w, "TableNames");
    for (size_t i = 0; i < count; i++)
        json_string(&w, listing.names[i]);
    json_close_array(&w);
    if (more)
        json_put_string(&w, "LastEvaluatedTableName", listing.names[count - 1]);
    json_close_object(&w);
    return STEP_READY;
}

// ---- Time to live: which attribute says when an item expires ----------------------------------

enum step update_time_to_live_start(struct api_call *call, const void *request)
{
    const struct update_time_to_live_request *update = request;
    const struct time_to_live_specification *wanted = update->time_to_live_specification;
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL)
        return STEP_FAILED;
    act_time_to_live(act, call_engine(call), update->table_name, wanted->attribute_name,
                     wanted->enabled.value);
    return call_act(call, act);
}

void update_time_to_live_finish(struct api_call *call, const void *request)
{
    const struct update_time_to_live_request *update = request;
    struct json_writer w = call_open(call);
    json_form(&w, "'TimeToLiveSpecification':{'Enabled':%hhd,'AttributeName':%.*s}}",
              update->time_to_live_specification->enabled.value,
              SLICE_FMT(update->time_to_live_specification->attribute_name));
}

enum step describe_time_to_live_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_open(call);
    json_put_object(&w, "TimeToLiveDescription");
    json_put_text(&w, "TimeToLiveStatus", settings.ttl_attribute.len > 0 ? "ENABLED" : "DISABLED");
    if (settings.ttl_attribute.len > 0)
        json_put_string(&w, "AttributeName", settings.ttl_attribute);
    json_close_object(&w);
    json_close_object(&w);
    return STEP_READY;
}

// ---- Limits and endpoints ---------------------------------------------------------------------

// The quotas of a new account; nothing here throttles by them.
enum step describe_limits_start(struct api_call *call, const void *request)
{
    static const struct {
        const char *name;
        int64_t units;
    } limits[] = {
        {"AccountMaxReadCapacityUnits", 80000},
        {"AccountMaxWriteCapacityUnits", 80000},
        {"TableMaxReadCapacityUnits", 40000},
        {"TableMaxWriteCapacityUnits", 40000},
    };
    (void)request;
    struct json_writer w = call_open(call);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        json_name(&w, limits[i].name);
        json_i64(&w, limits[i].units);
    }
    json_close_object(&w);
    return STEP_READY;
}

// Endpoint discovery: SDKs ask only if they were told to discover, and then call the host they
// are told. The service's own name for the region is what they expect to read.
enum step describe_endpoints_start(struct api_call *call, const void *request)
{
    (void)request;
    struct buf address;
    buf_init(&address, 1024);
    buf_text(&address, "dynamodb.");
    buf_slice(&address, call->region);
    buf_text(&address, ".amazonaws.com");
    struct json_writer w = call_open(call);
    json_put_array(&w, "Endpoints");
    json_open_object(&w);
    json_put_string(&w, "Address", buf_view(&address));
    json_form(&w, "'CachePeriodInMinutes':1440}]}");
    buf_release(&address);
    return STEP_READY;
}
