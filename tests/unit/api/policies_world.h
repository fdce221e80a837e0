// Databases with policies of a model, their callers, and asking them.
#ifndef TESTS_UNIT_API_POLICIES_WORLD_H
#define TESTS_UNIT_API_POLICIES_WORLD_H

#include "calls.h"

#include "policies.h"

struct world {
    struct api *all;
    struct api *twins[CALLERS];
    struct item items[KEYS];
    struct caller callers[CALLERS];
    struct caller_tag tags[CALLERS][4];
    struct policy *rights;   // all of DynamoDB
    struct policy *bypasses; // and to bypass policies
    const struct policy *lists[2];
    uint64_t random;
    uint64_t asked, done, denied, failed;
};

// ---- Calls --------------------------------------------------------------------------------------

static inline int run(struct api *api, const struct caller *caller, const char *operation,
                      const char *body, struct buf *out)
{
    struct api_call call;
    api_call_init(&call, api);
    call.caller = caller;
    call.region = SLICE_LIT("eu-central-1");
    call_run(&call, slice_str(operation), slice_str(body));
    int status = call.status;
    buf_clear(out);
    buf_slice(out, buf_view(&call.response));
    buf_byte(out, 0);
    api_call_release(&call);
    return status;
}

static inline const char *text_of(const struct buf *text)
{
    return (const char *)text->ptr;
}

static inline void run_fine(struct api *api, const char *operation, const char *body)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    if (run(api, NULL, operation, body, &out) != 200)
        fail_msg("%s %s: %s", operation, body, text_of(&out));
    buf_release(&out);
}

static inline const char *form(struct buf *out, const char *format, ...)
{
    va_list list;
    char text[4096];
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    buf_clear(out);
    for (const char *at = text; *at != 0; at++)
        buf_byte(out, (uint8_t)(*at == '\'' ? '"' : *at));
    buf_byte(out, 0);
    return text_of(out);
}

// ---- The world ----------------------------------------------------------------------------------

static inline struct api *api_new(void)
{
    struct store_error error;
    struct api_options options = {.store = store_open_memory(&error), .env = env_system()};
    struct api *api = api_open(&options, &error);
    assert_non_null(api);
    return api;
}

static inline void model_apply(struct api *api, const char *model)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    buf_text(&body, "{\"FileName\":\"app.dolmen\",\"Model\":\"");
    for (const char *at = model; *at != 0; at++) {
        if (*at == '"' || *at == '\n')
            buf_text(&body, *at == '"' ? "\\\"" : "\\n");
        else
            buf_byte(&body, (uint8_t)*at);
    }
    buf_text(&body, "\"}");
    buf_byte(&body, 0);
    run_fine(api, "ApplyModel", text_of(&body));
    buf_release(&body);
}

static inline void twin_new(struct api **api)
{
    struct buf body;
    buf_init(&body, 1 << 16);
    *api = api_new();
    run_fine(*api, "CreateTable",
             form(&body, "{'TableName':'app','BillingMode':'PAY_PER_REQUEST',"
                         "'AttributeDefinitions':[{'AttributeName':'PK','AttributeType':'S'},"
                         "{'AttributeName':'SK','AttributeType':'S'},"
                         "{'AttributeName':'GSI1PK','AttributeType':'S'},"
                         "{'AttributeName':'GSI1SK','AttributeType':'S'},"
                         "{'AttributeName':'GSI2PK','AttributeType':'S'},"
                         "{'AttributeName':'GSI2SK','AttributeType':'S'}],"
                         "'KeySchema':[{'AttributeName':'PK','KeyType':'HASH'},"
                         "{'AttributeName':'SK','KeyType':'RANGE'}],'GlobalSecondaryIndexes':["
                         "{'IndexName':'GSI1','Projection':{'ProjectionType':'ALL'},'KeySchema':["
                         "{'AttributeName':'GSI1PK','KeyType':'HASH'},{'AttributeName':'GSI1SK',"
                         "'KeyType':'RANGE'}]},{'IndexName':'GSI2','Projection':{"
                         "'ProjectionType':'KEYS_ONLY'},'KeySchema':[{'AttributeName':'GSI2PK',"
                         "'KeyType':'HASH'},{'AttributeName':'GSI2SK','KeyType':'RANGE'}]}]}"));
    buf_release(&body);
}

static inline struct policy *rights_of(const char *actions)
{
    struct policy_fault fault;
    struct buf text;
    buf_init(&text, 1 << 16);
    (void)form(&text,
               "{'Version':'2012-10-17','Statement':[{'Effect':'Allow','Action':[%s],"
               "'Resource':'*'}]}",
               actions);
    struct policy *policy =
        policy_compile(slice_of(text.ptr, text.len - 1), POLICY_IDENTITY, NULL, NULL, &fault);
    assert_non_null(policy);
    buf_release(&text);
    return policy;
}

static inline struct caller caller_of(const struct policy *const *policies)
{
    return (struct caller){.principal = {.kind = PRINCIPAL_USER,
                                         .arn = SLICE_LIT("arn:aws:iam::000000000000:user/x"),
                                         .partition = SLICE_LIT("aws"),
                                         .account = SLICE_LIT("000000000000"),
                                         .name = SLICE_LIT("x")},
                           .policies = {.identity = policies, .identity_count = 1}};
}

static inline void caller_tags(struct world *world, size_t i)
{
    const struct who *who = &callers[i];
    const char *const keys[] = {"name", "customer", "role", "team"};
    const char *const values[] = {who->name, who->customer, who->role, who->team};
    struct caller *caller = &world->callers[i];
    *caller = caller_of(&world->lists[0]);
    caller->tags = world->tags[i];
    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        if (values[k] != NULL)
            world->tags[i][caller->tag_count++] =
                (struct caller_tag){slice_str(keys[k]), slice_str(values[k])};
    }
}

static inline void world_open(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->all = api_new();
    model_apply(world->all, policies_model);
    world->rights = rights_of("'dynamodb:*'");
    world->bypasses = rights_of("'dynamodb:*','dolmen:BypassModelPolicies'");
    world->lists[0] = world->rights;
    world->lists[1] = world->bypasses;
    for (size_t i = 0; i < CALLERS; i++) {
        twin_new(&world->twins[i]);
        caller_tags(world, i);
    }
}

static inline void world_close(struct world *world)
{
    api_close(world->all);
    for (size_t i = 0; i < CALLERS; i++)
        api_close(world->twins[i]);
    policy_release(world->rights);
    policy_release(world->bypasses);
}

// Runs a request whose quotes are written as ', and says what came of it.
static inline const char *ask(struct world *world, const struct caller *caller,
                              const char *operation, struct buf *out, const char *body)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    (void)run(world->all, caller, operation, form(&text, "%s", body), out);
    buf_release(&text);
    return text_of(out);
}

static inline void put(struct world *world, const char *item)
{
    struct buf body;
    buf_init(&body, 1 << 16);
    run_fine(world->all, "PutItem", form(&body, "{'TableName':'app','Item':{%s}}", item));
    buf_release(&body);
}

#endif
