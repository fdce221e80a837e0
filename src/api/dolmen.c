// The public C API (include/dolmen.h): open, call, close. A call is an api_call that the
// calling thread waits for, so the embedded library takes the same path as the server.
#include "dolmen.h"

#include "api/api.h"
#include "crypt/crypt.h"
#include "rocks/rocks.h"

#include <stdio.h>
#include <stdlib.h>

struct dolmen {
    struct api *api;
    struct slice region; // owned
    struct budget budget;
};

static void say(char *error, size_t error_size, const char *text)
{
    if (error_size > 0)
        (void)snprintf(error, error_size, "%s", text);
}

int dolmen_open(const struct dolmen_options *options, dolmen **db, char *error, size_t error_size)
{
    struct store_error cause = {.in_use = false};
    struct budget_plan plan = {.limit = options->memory_limit_bytes,
                               .cache = options->cache_bytes,
                               .write_buffers = options->write_buffer_bytes};
    if (plan.limit > 0)
        budget_divide(&plan);
    struct store_options store_options = {
        .path = options->path,
        .durability = options->durability == DOLMEN_RELAXED ? STORE_RELAXED : STORE_FULL,
        .cache_bytes = plan.cache,
        .write_buffer_bytes = plan.write_buffers,
    };
    struct crypt_key master;
    if (options->master_key != NULL &&
        !crypt_master_read(options->master_key, &master, error, error_size))
        return DOLMEN_FAILED;
    store_options.master = options->master_key == NULL ? NULL : &master;
    struct store *store = options->path == NULL ? store_open_memory(&cause)
                                                : store_open_rocksdb(&store_options, &cause);
    if (options->master_key != NULL)
        crypt_key_wipe(&master);
    if (store == NULL) {
        say(error, error_size, cause.text);
        return cause.in_use ? DOLMEN_IN_USE : DOLMEN_FAILED;
    }
    struct dolmen *opened = calloc(1, sizeof(*opened));
    char *region = strdup(options->region != NULL ? options->region : "us-east-1");
    ensure_memory(opened);
    ensure_memory(region);
    opened->region = slice_str(region);
    budget_init(&opened->budget, plan.requests);
    struct api_options api_options = {
        .store = store, .env = env_system(), .budget = &opened->budget};
    opened->api = api_open(&api_options, &cause);
    if (opened->api == NULL) {
        say(error, error_size, cause.text);
        store_close(store);
        free(region);
        free(opened);
        return DOLMEN_FAILED;
    }
    if (!api_service_texts(opened->api, options->service_texts)) {
        say(error, error_size, "service_texts: only \"2026-05\" is known");
        dolmen_close(opened);
        return DOLMEN_FAILED;
    }
    api_set_buckets(opened->api, NULL, options->path, NULL);
    api_set_retain(opened->api, &(struct api_retain){.rate = 0});
    // Without an endpoint nothing can be wrong with it.
    ensure(api_set_kinesis(opened->api, NULL, options->path, NULL, NULL, 0));
    api_set_publisher(opened->api, NULL, NULL);
    *db = opened;
    return DOLMEN_OK;
}

void dolmen_close(dolmen *db)
{
    if (db == NULL)
        return;
    api_close(db->api);
    free((void *)(uintptr_t)db->region.ptr);
    free(db);
}

static void take_response(struct api_call *call, struct dolmen_response *response)
{
    response->body = malloc(call->response.len + 1);
    if (response->body == NULL) {
        api_call_fail(call, ERR_INTERNAL,
                      "There is no memory for the answer; what was asked for may have been done.");
        response->body = malloc(call->response.len + 1);
        ensure_memory(response->body);
    }
    response->status = call->status;
    response->length = call->response.len;
    if (call->response.len > 0)
        memcpy(response->body, call->response.ptr, call->response.len);
    response->body[response->length] = 0;
}

// Bound to a tenant unless `tenant` is NULL.
static void run_call(dolmen *db, const struct slice *tenant, const char *operation,
                     const char *request, size_t request_length, struct dolmen_response *response)
{
    struct api_call call;
    api_call_init(&call, db->api);
    call.bound = tenant != NULL;
    if (tenant != NULL)
        call.tenant = *tenant;
    call.operation = slice_str(operation);
    call.region = db->region;
    call.body = slice_of(request, request_length);
    api_call_run(&call);
    take_response(&call, response);
    api_call_release(&call);
}

void dolmen_call(dolmen *db, const char *operation, const char *request, size_t request_length,
                 struct dolmen_response *response)
{
    run_call(db, NULL, operation, request, request_length, response);
}

void dolmen_call_as(dolmen *db, const char *tenant, size_t tenant_length, const char *operation,
                    const char *request, size_t request_length, struct dolmen_response *response)
{
    struct slice name = slice_of(tenant, tenant_length);
    run_call(db, &name, operation, request, request_length, response);
}

void dolmen_response_free(struct dolmen_response *response)
{
    free(response->body);
    *response = (struct dolmen_response){.status = 0};
}

const char *dolmen_version(void)
{
    return DOLMEN_VERSION;
}
