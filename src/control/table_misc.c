// Small operations that clients ask for around tables: the limits of the account, which are those
// of the service, and its endpoints.
#include "call/table_ops.h"

#include "base/limits.h"

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
    struct json_writer w = call_writer(call);
    json_open_object(&w);
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
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "Endpoints");
    json_open_object(&w);
    json_put_string(&w, "Address", buf_view(&address));
    json_put_integer(&w, "CachePeriodInMinutes", 1440);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
    buf_release(&address);
    return STEP_READY;
}
