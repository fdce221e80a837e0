// What policies add to a GetItem: the same call in-process, over a store in memory, without a
// caller, with one whose policy allows the table, and with one who may read his own items alone,
// over TLS, from a network.
//
//   bench_authorize ROUNDS none|table|own
//
// Prints nanoseconds of a call. bench/authorize counts instructions with it.
#include "api/api.h"
#include "base/wait.h"
#include "call/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "arn:aws:dynamodb:*:000000000000:table/Orders"

static const char table[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":["
    "{\"Effect\":\"Allow\",\"Action\":\"dynamodb:ListTables\",\"Resource\":\"*\"},"
    "{\"Effect\":\"Allow\",\"Action\":[\"dynamodb:GetItem\",\"dynamodb:Query\","
    "\"dynamodb:PutItem\"],\"Resource\":[\"arn:aws:dynamodb:*:000000000000:table/"
    "Customers\",\"" TABLE "\",\"" TABLE "/index/*\"]}]}";
static const char own[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":["
    "{\"Effect\":\"Deny\",\"Action\":\"dynamodb:*\",\"Resource\":\"*\",\"Condition\":{\"Bool\":"
    "{\"aws:SecureTransport\":\"false\"}}},"
    "{\"Effect\":\"Allow\",\"Action\":[\"dynamodb:GetItem\",\"dynamodb:Query\"],\"Resource\":"
    "\"" TABLE "\",\"Condition\":{\"ForAllValues:StringEquals\":{\"dynamodb:LeadingKeys\":"
    "\"${aws:username}\"},\"IpAddress\":{\"aws:SourceIp\":\"10.0.0.0/8\"}}},"
    "{\"Effect\":\"Allow\",\"Action\":\"dynamodb:DescribeTable\",\"Resource\":\"" TABLE "\"}]}";

static void run(struct api_call *call, const char *operation, const char *body)
{
    api_call_reset(call);
    call->operation = slice_str(operation);
    call->body = slice_str(body);
    api_call_run(call);
    if (call->status != 200) {
        (void)fprintf(stderr, "%.*s\n", SLICE_FMT(buf_view(&call->response)));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct store_error error;
    struct api_options options = {.store = store_open_memory(&error), .env = env_system()};
    struct api *api = api_open(&options, &error);
    struct api_call call;
    struct policy_fault fault;
    struct arena arena;
    struct caller caller = {.address = SLICE_LIT("10.1.2.3"), .secure = true};
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    const char *which = argc > 2 ? argv[2] : "none";
    arena_init(&arena, 1 << 20);
    api_call_init(&call, api);
    run(&call, "CreateTable",
        "{\"TableName\":\"Orders\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
        "[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
        "\"id\",\"KeyType\":\"HASH\"}]}");
    run(&call, "PutItem",
        "{\"TableName\":\"Orders\",\"Item\":{\"id\":{\"S\":\"ann\"},\"state\":{\"S\":\"new\"}}}");
    struct policy *policy = policy_compile(slice_str(strcmp(which, "own") == 0 ? own : table),
                                           POLICY_IDENTITY, NULL, NULL, &fault);
    const struct policy *list[] = {policy};
    caller.policies = (struct policy_set){.identity = list, .identity_count = 1};
    if (!policy_principal_read(SLICE_LIT("arn:aws:iam::000000000000:user/ann"), &arena,
                               &caller.principal))
        return 1;
    call.caller = strcmp(which, "none") == 0 ? NULL : &caller;
    int64_t begun = monotonic_ns();
    for (long i = 0; i < rounds; i++)
        run(&call, "GetItem", "{\"TableName\":\"Orders\",\"Key\":{\"id\":{\"S\":\"ann\"}}}");
    (void)printf("%lld\n", (long long)((monotonic_ns() - begun) / rounds));
    api_call_release(&call);
    policy_release(policy);
    arena_release(&arena);
    api_close(api);
    return 0;
}
