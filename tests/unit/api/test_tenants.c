// Tenants and their twins: one database with the items of many tenants, and for each tenant another
// one that has only what it may see. Each request of a tenant goes to both, and the answers must be
// the same, byte for byte: then no answer tells of what others have. In the end, each twin must
// have exactly its tenant's items as the large database has them: then nobody has changed what is
// another's. Whose an item is, is said here by another rule than the server's: by how the item was
// made, not by its key.
//
// REQUESTS and SEED in the environment ask for more, and for others.
#include "dolmen.h"

#include "api/api.h"
#include "base/buf.h"
#include "tenants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// ---- Databases --------------------------------------------------------------------------------

static dolmen *database_new(void)
{
    dolmen *db;
    char error[256];
    struct dolmen_options options = {.path = NULL};
    assert_int_equal(dolmen_open(&options, &db, error, sizeof(error)), DOLMEN_OK);
    return db;
}

static struct dolmen_response ask(dolmen *db, const char *tenant, const char *operation,
                                  const char *body)
{
    struct dolmen_response response;
    if (tenant == NULL)
        dolmen_call(db, operation, body, strlen(body), &response);
    else
        dolmen_call_as(db, tenant, strlen(tenant), operation, body, strlen(body), &response);
    return response;
}

static void ask_fine(dolmen *db, const char *operation, const char *body)
{
    struct dolmen_response response = ask(db, NULL, operation, body);
    if (response.status != 200)
        fail_msg("%s %s: %s", operation, body, response.body);
    dolmen_response_free(&response);
}

static void model_apply(dolmen *db)
{
    struct buf body;
    bool gathering = true;
    buf_init(&body, 1 << 20);
    buf_text(&body, "{\"FileName\":\"app.dolmen\",\"Model\":\"");
    for (const char *at = tenants_model; *at != 0; at++) {
        if (*at == '"' || *at == '\n')
            buf_text(&body, *at == '"' ? "\\\"" : "\\n");
        else
            buf_byte(&body, (uint8_t)*at);
    }
    buf_text(&body, "\"}");
    buf_byte(&body, 0);
    ask_fine(db, "ApplyModel", (const char *)body.ptr);
    buf_release(&body);
    while (gathering) { // unique values, before the model is attached
        struct dolmen_response response = ask(db, NULL, "DescribeModel", "{\"TableName\":\"app\"}");
        gathering = strstr(response.body, "\"CLAIMS\"") != NULL;
        dolmen_response_free(&response);
    }
}

// ---- Comparing --------------------------------------------------------------------------------

struct world {
    dolmen *all;
    dolmen *twins[TENANTS];
    uint64_t asked;
    uint64_t denied;
    uint64_t done;
};

static void tell_apart(const struct request *request, const char *tenant,
                       const struct dolmen_response *all, const struct dolmen_response *twin)
{
    fail_msg("tenant \"%s\", %s %s\nwith others: %d %s\nalone:       %d %s", tenant,
             request->operation, (const char *)request->body.ptr, all->status, all->body,
             twin->status, twin->body);
}

// The same request to both; *response is the answer, which the caller frees.
static void compare(struct world *world, size_t twin, const char *tenant,
                    const struct request *request, struct dolmen_response *response)
{
    const char *body = (const char *)request->body.ptr;
    struct dolmen_response other = ask(world->twins[twin], tenant, request->operation, body);
    *response = ask(world->all, tenant, request->operation, body);
    if (response->status != other.status || response->length != other.length ||
        memcmp(response->body, other.body, other.length) != 0)
        tell_apart(request, tenant == NULL ? "" : tenant, response, &other);
    dolmen_response_free(&other);
    world->asked++;
    world->done += response->status == 200;
    world->denied += strstr(response->body, "AccessDenied") != NULL;
}

static void by_tenant(struct world *world, struct draw *draw)
{
    struct request request;
    struct dolmen_response response;
    size_t tenant = draw_below(draw, TENANTS);
    request_draw(&request, draw, tenant);
    compare(world, tenant, tenant_name(tenant), &request, &response);
    request_answered(draw, tenant, response.body);
    dolmen_response_free(&response);
    request_release(&request);
}

// A write by somebody who is not bound: to all who can see the item.
static void by_nobody(struct world *world, struct draw *draw)
{
    struct request request;
    struct dolmen_response response;
    size_t owner = request_draw_free(&request, draw);
    const char *body = (const char *)request.body.ptr;
    if (owner < TENANTS) {
        compare(world, owner, NULL, &request, &response);
    } else {
        response = ask(world->all, NULL, request.operation, body);
        for (size_t i = 0; owner == OWNER_ALL && i < TENANTS; i++) {
            struct dolmen_response other = ask(world->twins[i], NULL, request.operation, body);
            assert_int_equal(other.status, response.status);
            dolmen_response_free(&other);
        }
    }
    dolmen_response_free(&response);
    request_release(&request);
}

// ---- In the end -------------------------------------------------------------------------------

// The text of an object from its brace on, without what is behind it.
static size_t object_len(const char *at)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0;; i++) {
        assert_int_not_equal(at[i], 0);
        if (at[i] == '"' && at[i - 1] != '\\')
            quoted = !quoted;
        if (quoted)
            continue;
        depth += at[i] == '{';
        depth -= at[i] == '}';
        if (depth == 0)
            return i + 1;
    }
}

// Appends the items of a tenant, and those of all, a line each, in their order.
static void gather(dolmen *db, size_t owner, struct buf *out)
{
    char start[4096] = "";
    do {
        char body[8192];
        (void)snprintf(body, sizeof(body), "{\"TableName\":\"app\"%s}", start);
        struct dolmen_response response = ask(db, NULL, "Scan", body);
        assert_int_equal(response.status, 200);
        const char *at = response.body + sizeof("{\"Items\":[") - 1;
        while (*at == '{') {
            size_t len = object_len(at);
            size_t found = owner_of(at, len);
            if (found == owner || found == OWNER_ALL)
                buf_printf(out, "%.*s\n", (int)len, at);
            at += len + (at[len] == ',');
        }
        const char *last = strstr(response.body, "\"LastEvaluatedKey\":");
        start[0] = 0;
        if (last != NULL) {
            last += sizeof("\"LastEvaluatedKey\":") - 1;
            (void)snprintf(start, sizeof(start), ",\"ExclusiveStartKey\":%.*s",
                           (int)object_len(last), last);
        }
        dolmen_response_free(&response);
    } while (start[0] != 0);
}

static void compare_items(const struct world *world)
{
    struct buf all;
    struct buf twin;
    buf_init(&all, 1 << 30);
    buf_init(&twin, 1 << 30);
    for (size_t i = 0; i < TENANTS; i++) {
        buf_clear(&all);
        buf_clear(&twin);
        gather(world->all, i, &all);
        gather(world->twins[i], i, &twin);
        if (!slice_equal(buf_view(&all), buf_view(&twin)))
            fail_msg("tenant \"%s\" has\n%.*s\nand should have\n%.*s", tenant_name(i),
                     SLICE_FMT(buf_view(&all)), SLICE_FMT(buf_view(&twin)));
    }
    buf_release(&all);
    buf_release(&twin);
}

// ---- The test ---------------------------------------------------------------------------------

static uint64_t asked_for(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void world_open(struct world *world)
{
    *world = (struct world){.all = database_new()};
    model_apply(world->all);
    // A table that is not divided among tenants; no twin has it.
    ask_fine(
        world->all, "CreateTable",
        "{\"TableName\":\"plain\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
        "[{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\","
        "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
        "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}]}");
    for (size_t i = 0; i < TENANTS; i++) {
        world->twins[i] = database_new();
        model_apply(world->twins[i]);
    }
}

static void world_close(struct world *world)
{
    dolmen_close(world->all);
    for (size_t i = 0; i < TENANTS; i++)
        dolmen_close(world->twins[i]);
}

static void test_twins(void **state)
{
    (void)state;
    struct world world;
    uint64_t requests = asked_for("REQUESTS", 6000);
    uint64_t seed = asked_for("SEED", 1);
    static struct draw draw;
    draw_init(&draw, seed);
    world_open(&world);
    for (uint64_t i = 0; world.asked < requests; i++) {
        draw.round = i;
        if (draw_below(&draw, 5) == 0)
            by_nobody(&world, &draw);
        else
            by_tenant(&world, &draw);
        if (i % 100000 == 99999) {
            compare_items(&world);
            print_message("%llu requests\n", (unsigned long long)world.asked);
        }
    }
    compare_items(&world);
    print_message("%llu requests, %llu of them done, %llu refused; seed %llu\n",
                  (unsigned long long)world.asked, (unsigned long long)world.done,
                  (unsigned long long)world.denied, (unsigned long long)seed);
    // A test in which nothing is seen, or nothing is refused, would tell nothing.
    assert_true(world.done > world.asked / 4 && world.denied > world.asked / 50);
    world_close(&world);
}

// Operations that are for tenants: all that they read and write is judged, and a test above or in
// tests/model/tenant sees to it. Whoever adds one here adds it there.
static const char *const for_tenants[] = {
    "BatchExecuteStatement",
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "DescribeEndpoints",
    "DescribeLimits",
    "DescribeStream",
    "DescribeTable",
    "DescribeTimeToLive",
    "ExecuteStatement",
    "ExecuteTransaction",
    "GetItem",
    "GetRecords",
    "GetShardIterator",
    "ListStreams",
    "ListTables",
    "PutItem",
    "Query",
    "Scan",
    "SearchVectors",
    "TransactGetItems",
    "TransactWriteItems",
    "UpdateItem",
};

static void test_operations(void **state)
{
    (void)state;
    dolmen *db = database_new();
    size_t open = 0;
    for (const char *const *name = api_operations(); *name != NULL; name++) {
        struct dolmen_response response = ask(db, "a", *name, "{}");
        bool closed = strstr(response.body, "is not for tenants") != NULL;
        bool listed = false;
        for (size_t i = 0; i < COUNT_OF(for_tenants); i++)
            listed = listed || strcmp(for_tenants[i], *name) == 0;
        if (closed == listed)
            fail_msg("%s is %s for tenants", *name, closed ? "not" : "open");
        assert_true(!closed || response.status == 400);
        open += !closed;
        dolmen_response_free(&response);
    }
    assert_int_equal(open, COUNT_OF(for_tenants));
    dolmen_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
