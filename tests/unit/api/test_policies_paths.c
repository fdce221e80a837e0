// Policies of a model on single paths: who is not bound, what is said, streams, vectors, effects.
#include "policies_world.h"

#define N1_ORDER                                                                                   \
    "'PK':{'S':'C#n1'},'SK':{'S':'O#o1'},'kind':{'S':'Order'},'secret':{'S':'hush'},'owner':{"     \
    "'S':'n2'}"

// Whoever nobody asks, may bypass policies, or is only warned, sees everything.
static void test_unbound(void **state)
{
    (void)state;
    static struct world world;
    struct buf out;
    buf_init(&out, 1 << 20);
    world_open(&world);
    put(&world, N1_ORDER);
    struct caller free = caller_of(&world.lists[1]);
    struct caller warned = world.callers[2];
    warned.warn = true;
    const struct caller *all[] = {NULL, &free, &warned};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_non_null(strstr(ask(&world, all[i], "Scan", &out, "{'TableName':'app'}"), "hush"));
        assert_non_null(strstr(ask(&world, all[i], "DescribeTable", &out, "{'TableName':'app'}"),
                               "\"ItemCount\":1"));
    }
    // Another one does not, and is not told how many there are.
    const struct caller *bound = &world.callers[2];
    assert_string_equal(ask(&world, bound, "Scan", &out, "{'TableName':'app'}"),
                        "{\"Items\":[],\"Count\":0,\"ScannedCount\":0}");
    assert_non_null(strstr(ask(&world, bound, "DescribeTable", &out, "{'TableName':'app'}"),
                           "\"ItemCount\":0"));
    // Nor are whole tables its.
    const char *backup = "{'TableName':'app','BackupName':'copy'}";
    assert_non_null(strstr(ask(&world, bound, "CreateBackup", &out, backup),
                           "The model of table app has policies: CreateBackup needs "
                           "dolmen:BypassModelPolicies"));
    assert_non_null(strstr(ask(&world, &free, "CreateBackup", &out, backup), "BackupArn"));
    buf_release(&out);
    world_close(&world);
}

// What is said of a refusal, alone and in a transaction.
static void test_texts(void **state)
{
    (void)state;
    static struct world world;
    struct buf out;
    buf_init(&out, 1 << 20);
    world_open(&world);
    put(&world, N1_ORDER);
    const struct caller *n0 = &world.callers[0];
    const struct caller *n1 = &world.callers[1];
    assert_string_equal(
        ask(&world, n0, "PutItem", &out,
            "{'TableName':'app','Item':{'PK':{'S':'C#n1'},'SK':{'S':'O#o9'},'kind':{'S':"
            "'Order'}}}"),
        "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\",\"message\":\"Policies of "
        "the model do not allow you to insert this Order\"}");
    // The same where there is one that the caller may not know of.
    assert_non_null(strstr(ask(&world, n0, "UpdateItem", &out,
                               "{'TableName':'app','Key':{'PK':{'S':'C#n1'},'SK':{'S':'O#o1'}}}"),
                           "Policies of the model do not allow you to insert this Order"));
    assert_non_null(
        strstr(ask(&world, n1, "UpdateItem", &out,
                   "{'TableName':'app','Key':{'PK':{'S':'C#n1'},'SK':{'S':'O#o1'}},"
                   "'UpdateExpression':'SET note = :n','ExpressionAttributeValues':{':n':{'S':"
                   "'x'}}}"),
               "Policies of the model do not allow you to write \\\"note\\\" of this Order"));
    assert_non_null(
        strstr(ask(&world, n1, "UpdateItem", &out,
                   "{'TableName':'app','Key':{'PK':{'S':'C#n1'},'SK':{'S':'O#o1'}},"
                   "'UpdateExpression':'SET note = secret'}"),
               "Policies of the model do not allow you to read \\\"secret\\\", which the update of "
               "the request does"));
    assert_non_null(
        strstr(ask(&world, n1, "TransactWriteItems", &out,
                   "{'TransactItems':[{'ConditionCheck':{'TableName':'app','Key':{'PK':{'S':'C#n1'"
                   "},'SK':{'S':'O#o1'}},'ConditionExpression':'secret = :s',"
                   "'ExpressionAttributeValues':{':s':{'S':'hush'}}}},{'Put':{'TableName':'app',"
                   "'Item':{'PK':{'S':'P#p1'},'SK':{'S':'P'},'kind':{'S':'Page'}}}}]}"),
               "[AccessDenied, None]"));
    // Items of no entity are nobody's.
    assert_non_null(strstr(ask(&world, n1, "PutItem", &out,
                               "{'TableName':'app','Item':{'PK':{'S':'X'},'SK':{'S':'Y'}}}"),
                           "message"));
    buf_release(&out);
    world_close(&world);
}

// Records of a stream are those of images that the reader may see, and without what is hidden.
static void test_stream(void **state)
{
    (void)state;
    static struct world world;
    struct buf out;
    char iterator[2048];
    buf_init(&out, 1 << 20);
    world_open(&world);
    put(&world, N1_ORDER);
    put(&world, "'PK':{'S':'C#n0'},'SK':{'S':'O#o1'},'kind':{'S':'Order'},'secret':{'S':'psst'}");
    run_fine(world.all, "UpdateItem",
             form(&out, "{'TableName':'app','Key':{'PK':{'S':'C#n0'},'SK':{'S':'O#o1'}},"
                        "'UpdateExpression':'SET secret = :s','ExpressionAttributeValues':{':s':{"
                        "'S':'pssst'}}}"));
    const struct caller *readers[] = {NULL, &world.callers[0], &world.callers[3]};
    const size_t records[] = {3, 1, 2};
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        const char *arn = strstr(ask(&world, readers[i], "ListStreams", &out, "{}"), "arn:");
        assert_non_null(arn);
        char name[512];
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(arn, "\""), arn);
        char body[3072];
        (void)snprintf(body, sizeof(body), "{'StreamArn':'%s'}", name);
        const char *shard =
            strstr(ask(&world, readers[i], "DescribeStream", &out, body), "shardId");
        assert_non_null(shard);
        (void)snprintf(body, sizeof(body),
                       "{'StreamArn':'%s','ShardId':'%.*s','ShardIteratorType':'TRIM_HORIZON'}",
                       name, (int)strcspn(shard, "\""), shard);
        const char *at = strstr(ask(&world, readers[i], "GetShardIterator", &out, body), ":\"") + 2;
        (void)snprintf(iterator, sizeof(iterator), "%.*s", (int)strcspn(at, "\""), at);
        (void)snprintf(body, sizeof(body), "{'ShardIterator':'%s'}", iterator);
        const char *answer = ask(&world, readers[i], "GetRecords", &out, body);
        size_t count = 0;
        for (const char *one = answer; (one = strstr(one, "eventName")) != NULL; one++)
            count++;
        assert_int_equal(count, records[i]);
        // The owner of an order reads its secret; the customer does not.
        assert_true((strstr(answer, "hush") != NULL) == (i != 1));
        assert_true((strstr(answer, "ss") != NULL && strstr(answer, "psst") != NULL) == (i == 0));
    }
    buf_release(&out);
    world_close(&world);
}

// Tags are text, and are compared as what they are compared with is.
static void test_tags(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        const char *tag;
        bool met;
    } cases[] = {
        {"actor.t = number", "5", true},
        {"actor.t = number", "5.0", true},
        {"actor.t = number", "five", false},
        {"actor.t > number", "40", true},
        {"actor.t < number", "40", false},
        {"actor.t = flag", "true", true},
        {"actor.t = flag", "1", false},
        {"actor.t = text", "x-y", true},
        {"actor.t = text", "x-z", false},
        {"actor.t != text", "x-z", true},
        {"text begins actor.t", "x-", true},
        {"text begins actor.t", "y", false},
        {"list contains actor.t", "b", true},
        {"list contains actor.t", "c", false},
        {"numbers contains actor.t", "7", true},
        {"deep.er = actor.t", "d", true},
        {"deep.er = actor.t", "e", false},
        {"number between 1 and actor.t", "9", true},
        {"number between 1 and actor.t", "4", false},
        {"actor.t exists", "", true},
        {"actor.none exists", "x", false},
        {"actor.none != text", "x", false},
        {"missing = actor.t", "x", false},
        {"missing != actor.t", "x", false},
        {"missing missing", "x", true},
        {"text exists and actor.t = \"a\" or number = 6", "a", true},
        {"text exists and actor.t = \"a\" or number = 6", "b", false},
        {"actor() = text", "x", false},
        {"actor() = \"anonymous\"", "x", true},
    };
    struct buf out;
    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char model[1024];
        struct world world = {.all = api_new(), .rights = rights_of("'dynamodb:*'")};
        (void)snprintf(model, sizeof(model),
                       "table app { key PK, SK  type kind }\n"
                       "entity Thing { PK = \"T#{id}\"  SK = \"x\"  id string  number number  flag "
                       "boolean\n  text string  list string[]  numbers set<number>  missing string?"
                       "\n  deep { er: string } }\n"
                       "allow read Thing to %s\n",
                       cases[i].rule);
        model_apply(world.all, model);
        put(&world, "'PK':{'S':'T#1'},'SK':{'S':'x'},'number':{'N':'5'},'flag':{'BOOL':true},"
                    "'text':{'S':'x-y'},'list':{'L':[{'S':'a'},{'S':'b'}]},'numbers':{'NS':["
                    "'7','8']},'deep':{'M':{'er':{'S':'d'}}}");
        world.lists[0] = world.rights;
        struct caller caller = caller_of(&world.lists[0]);
        struct caller_tag tag = {SLICE_LIT("t"), slice_str(cases[i].tag)};
        caller.tags = &tag;
        caller.tag_count = 1;
        bool met = strstr(ask(&world, &caller, "Scan", &out, "{'TableName':'app'}"),
                          "\"Count\":1") != NULL;
        if (met != cases[i].met)
            fail_msg("%s, \"%s\": %s", cases[i].rule, cases[i].tag, text_of(&out));
        api_close(world.all);
        policy_release(world.rights);
    }
    buf_release(&out);
}

// What follows from a write is the server's; what nobody may know of does not happen.
static void test_effects(void **state)
{
    (void)state;
    static const char model[] =
        "table app { key PK, SK  type kind }\n"
        "entity Album { PK = \"A#{album}\"  SK = \"x\"  album string  owner string  items integer "
        "= count of Media }\n"
        "entity Media { PK = \"A#{album}\"  SK = \"M#{id}\"  album string  id string }\n"
        "entity Event { PK = \"E#{id}\"  SK = \"x\"  id string = ulid()  type string  payload any? "
        "}\n"
        "emit \"gone\" on remove of Album into Event\n"
        "allow read, write Album to actor.name = owner\n"
        "allow write Media\n"
        "allow read Event to actor.role = \"admin\"\n";
    struct world world = {.all = api_new(), .rights = rights_of("'dynamodb:*'")};
    struct buf out;
    buf_init(&out, 1 << 20);
    model_apply(world.all, model);
    world.lists[0] = world.rights;
    struct caller caller = caller_of(&world.lists[0]);
    struct caller_tag tag = {SLICE_LIT("name"), SLICE_LIT("me")};
    caller.tags = &tag;
    caller.tag_count = 1;
    put(&world, "'PK':{'S':'A#1'},'SK':{'S':'x'},'owner':{'S':'you'}");
    put(&world, "'PK':{'S':'A#2'},'SK':{'S':'x'},'owner':{'S':'me'}");
    // The counts of both albums grow, whoever may see them; deleting one that is not there for the
    // caller does nothing, although something follows for it in the same transaction.
    const char *both = ask(&world, &caller, "TransactWriteItems", &out,
                           "{'TransactItems':[{'Delete':{'TableName':'app','Key':{'PK':{'S':'A#1'"
                           "},'SK':{'S':'x'}}}},{'Put':{'TableName':'app','Item':{'PK':{'S':"
                           "'A#1'},'SK':{'S':'M#1'}}}},{'Put':{'TableName':'app','Item':{'PK':{"
                           "'S':'A#2'},'SK':{'S':'M#1'}}}}]}");
    assert_string_equal(both, "{}");
    const char *first = ask(&world, NULL, "GetItem", &out,
                            "{'TableName':'app','Key':{'PK':{'S':'A#1'},'SK':{'S':'x'}}}");
    assert_non_null(strstr(first, "\"items\":{\"N\":\"1\"}"));
    assert_non_null(strstr(ask(&world, &caller, "GetItem", &out,
                               "{'TableName':'app','Key':{'PK':{'S':'A#2'},'SK':{'S':'x'}}}"),
                           "\"items\":{\"N\":\"1\"}"));
    assert_string_equal(ask(&world, &caller, "DeleteItem", &out,
                            "{'TableName':'app','Key':{'PK':{'S':'A#1'},'SK':{'S':'x'}},"
                            "'ReturnValues':'ALL_OLD','ReturnConsumedCapacity':'TOTAL'}"),
                        "{\"ConsumedCapacity\":{\"TableName\":\"app\",\"CapacityUnits\":1.0}}");
    assert_null(strstr(ask(&world, NULL, "Scan", &out, "{'TableName':'app'}"), "gone"));
    (void)ask(&world, &caller, "DeleteItem", &out,
              "{'TableName':'app','Key':{'PK':{'S':'A#2'},'SK':{'S':'x'}}}");
    assert_non_null(strstr(ask(&world, NULL, "Scan", &out, "{'TableName':'app'}"), "gone"));
    assert_null(strstr(ask(&world, &caller, "Scan", &out, "{'TableName':'app'}"), "gone"));
    buf_release(&out);
    api_close(world.all);
    policy_release(world.rights);
}

// Attributes that stand in keys are written by whoever writes the key; what a model sets is not
// the client's.
static void test_attributes(void **state)
{
    (void)state;
    static const char model[] =
        "table app { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  type kind }\n"
        "entity User { PK = \"U#{id}\"  SK = \"x\"  GSI1 = \"R#{role}\", \"{id}\"\n"
        "  id string  role string = \"member\"  plan string = \"free\"  seen timestamp = now() on "
        "update }\n"
        "entity Note { PK = \"N#{owner}\"  SK = \"x\"  owner string }\n"
        "deny write of owner of Note unless actor.name = owner\n"
        "deny write of role, plan, seen of User unless actor.role = \"admin\"\n";
    static const struct {
        const char *item;
        const char *denied;
    } cases[] = {
        {"'PK':{'S':'U#1'},'SK':{'S':'x'},'plan':{'S':'paid'}", "\\\"plan\\\""},
        {"'PK':{'S':'U#1'},'SK':{'S':'x'},'role':{'S':'admin'}", "\\\"role\\\""},
        {"'PK':{'S':'U#1'},'SK':{'S':'x'},'GSI1PK':{'S':'R#admin'},'GSI1SK':{'S':'1'}", "R#member"},
        {"'PK':{'S':'N#me'},'SK':{'S':'x'},'kind':{'S':'Note'}", "\\\"owner\\\""},
    };
    struct world world = {.all = api_new(), .rights = rights_of("'dynamodb:*'")};
    struct buf out;
    struct buf body;
    buf_init(&out, 1 << 20);
    buf_init(&body, 1 << 20);
    model_apply(world.all, model);
    world.lists[0] = world.rights;
    struct caller caller = caller_of(&world.lists[0]);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)run(world.all, &caller, "PutItem",
                  form(&body, "{'TableName':'app','Item':{%s}}", cases[i].item), &out);
        if (strstr(text_of(&out), cases[i].denied) == NULL)
            fail_msg("%s: %s", cases[i].item, text_of(&out));
    }
    assert_string_equal(ask(&world, &caller, "PutItem", &out,
                            "{'TableName':'app','Item':{'PK':{'S':'U#1'},'SK':{'S':'x'}}}"),
                        "{}");
    put(&world, "'PK':{'S':'U#2'},'SK':{'S':'x'},'plan':{'S':'paid'},'role':{'S':'boss'}");
    // An update of something else sets `seen`; a put that leaves the others out keeps them. The
    // clock moves on before each, so that `seen` does change.
    const struct timespec moment = {.tv_nsec = 3 * 1000 * 1000};
    nanosleep(&moment, NULL);
    assert_string_equal(ask(&world, &caller, "UpdateItem", &out,
                            "{'TableName':'app','Key':{'PK':{'S':'U#2'},'SK':{'S':'x'}}}"),
                        "{}");
    nanosleep(&moment, NULL);
    assert_string_equal(ask(&world, &caller, "PutItem", &out,
                            "{'TableName':'app','Item':{'PK':{'S':'U#2'},'SK':{'S':'x'}}}"),
                        "{}");
    assert_non_null(strstr(ask(&world, NULL, "Scan", &out, "{'TableName':'app'}"), "boss"));
    buf_release(&out);
    buf_release(&body);
    api_close(world.all);
    policy_release(world.rights);
}

// Whoever may insert, but not read what is there, overwrites nothing.
static void test_taken(void **state)
{
    (void)state;
    static const char model[] =
        "table app { key PK, SK  type kind }\n"
        "entity Note { PK = \"N#{id}\"  SK = \"x\"  id string  text string? }\n"
        "allow insert, update Note\n";
    static const char *const requests[][2] = {
        {"PutItem", "{'TableName':'app','Item':{'PK':{'S':'N#1'},'SK':{'S':'x'}}}"},
        {"PutItem", "{'TableName':'app','Item':{'PK':{'S':'N#1'},'SK':{'S':'x'}},"
                    "'ConditionExpression':'attribute_not_exists(PK)'}"},
        {"UpdateItem", "{'TableName':'app','Key':{'PK':{'S':'N#1'},'SK':{'S':'x'}},"
                       "'UpdateExpression':'SET id = :i','ExpressionAttributeValues':{':i':{'S':"
                       "'1'}}}"},
        {"BatchWriteItem", "{'RequestItems':{'app':[{'PutRequest':{'Item':{'PK':{'S':'N#1'},"
                           "'SK':{'S':'x'}}}}]}}"},
    };
    struct world world = {.all = api_new(), .rights = rights_of("'dynamodb:*'")};
    struct buf out;
    buf_init(&out, 1 << 20);
    model_apply(world.all, model);
    world.lists[0] = world.rights;
    struct caller caller = caller_of(&world.lists[0]);
    put(&world, "'PK':{'S':'N#1'},'SK':{'S':'x'},'text':{'S':'kept'}");
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        const char *answer = ask(&world, &caller, requests[i][0], &out, requests[i][1]);
        if (strstr(answer, "Policies of the model do not allow you to insert this Note") == NULL)
            fail_msg("%s: %s", requests[i][1], answer);
        assert_non_null(strstr(ask(&world, NULL, "Scan", &out, "{'TableName':'app'}"), "kept"));
    }
    assert_string_equal(ask(&world, &caller, "PutItem", &out,
                            "{'TableName':'app','Item':{'PK':{'S':'N#2'},'SK':{'S':'x'}}}"),
                        "{}");
    buf_release(&out);
    api_close(world.all);
    policy_release(world.rights);
}

// An update is judged by what was and by what comes: nobody takes an item over, or gives it away.
static void test_both(void **state)
{
    (void)state;
    static const char model[] =
        "table app { key PK, SK  type kind }\n"
        "entity Note { PK = \"N#{id}\"  SK = \"x\"  id string  owner string }\n"
        "allow read Note\n"
        "allow update Note to actor.name = owner\n";
    struct world world = {.all = api_new(), .rights = rights_of("'dynamodb:*'")};
    struct buf out;
    buf_init(&out, 1 << 20);
    model_apply(world.all, model);
    world.lists[0] = world.rights;
    struct caller caller = caller_of(&world.lists[0]);
    struct caller_tag tag = {SLICE_LIT("name"), SLICE_LIT("me")};
    caller.tags = &tag;
    caller.tag_count = 1;
    put(&world, "'PK':{'S':'N#1'},'SK':{'S':'x'},'owner':{'S':'you'}");
    put(&world, "'PK':{'S':'N#2'},'SK':{'S':'x'},'owner':{'S':'me'}");
    const char *refused = "Policies of the model do not allow you to update this Note";
    assert_non_null(
        strstr(ask(&world, &caller, "PutItem", &out,
                   "{'TableName':'app','Item':{'PK':{'S':'N#1'},'SK':{'S':'x'},'owner':{'S':"
                   "'me'}}}"),
               refused));
    assert_non_null(
        strstr(ask(&world, &caller, "PutItem", &out,
                   "{'TableName':'app','Item':{'PK':{'S':'N#2'},'SK':{'S':'x'},'owner':{'S':"
                   "'you'}}}"),
               refused));
    assert_string_equal(
        ask(&world, &caller, "PutItem", &out,
            "{'TableName':'app','Item':{'PK':{'S':'N#2'},'SK':{'S':'x'},'owner':{'S':'me'}}}"),
        "{}");
    buf_release(&out);
    api_close(world.all);
    policy_release(world.rights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbound), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_stream),  cmocka_unit_test(test_tags),
        cmocka_unit_test(test_effects), cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_taken),   cmocka_unit_test(test_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
