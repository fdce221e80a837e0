// Access patterns: arguments, the requests they become, and what is said of them; and the addresses
// of entities.
#include "guard/guard_support.h"

#include "diff/diff.h"
#include "guard/access.h"
#include "guard/address.h"
#include "guard/guard.h"
#include "guard/plain.h"

static const char source[] =
    "table tab {\n"
    "  key PK, SK\n"
    "  index Gix (G1PK, G1SK)\n"
    "  index odd-name (`odd name`, at number) project keys for all\n"
    "  index Multi (tenant + kind, day + at number) for all\n"
    "  type Kind\n"
    "}\n"
    "entity User {\n"
    "  PK = \"USER#{userId}\"  SK = \"META\"\n"
    "  Gix = \"USER_EMAIL\", \"{email}\"\n"
    "  userId uuid\n"
    "  email string lower\n"
    "}\n"
    "entity Post {\n"
    "  PK = \"USER#{userId}\"  SK = \"POST#{number:pad(4)}\"\n"
    "  Gix = \"POSTS\", \"{at}#{number}\"\n"
    "  userId uuid\n"
    "  number integer\n"
    "  at number\n"
    "  `odd name` string?\n"
    "  tenant string?\n"
    "  kind string?\n"
    "  day date?\n"
    "  state { code: number?  text: string? }?\n"
    "}\n"
    "entity Tag {\n"
    "  PK = \"TAG#{tag ?? 'none'}\"  SK = \"{userId}\"\n"
    "  tag string?\n"
    "  userId uuid\n"
    "}\n"
    "access user(userId) = one User\n"
    "access userByEmail(email) = one User via Gix\n"
    "access posts(userId) = Post where SK begins \"POST#\" newest first limit 10\n"
    "access post(userId, number) = one Post consistent\n"
    "access all(userId) = User, Post\n"
    "access anything(userId) = User where SK >= \"A\"\n"
    "access recent(from: number, to: number) = Post via Gix where G1SK between \"{from}\" and "
    "\"{to}#\"\n"
    "access odd(x: string, at: number) = Post via odd-name where `odd name` = x and at > at\n"
    "access multi(tenant, kind, day) = Post via Multi\n"
    "access found(userId, code: number, word: string) = Post filter state.code = code and "
    "state.text contains word and state.text exists and kind missing and kind != \"x\"\n";

static struct fixture fixture;
#define ID "11111111-1111-4111-8111-111111111111"

static int setup(void **state)
{
    (void)state;
    fixture_init(&fixture, source);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_release(&fixture);
    return 0;
}

// "name=value name=value" as arguments.
static size_t split(const struct model_access *access, const char *text,
                    struct access_argument *arguments)
{
    size_t count = 0;
    while (*text != 0) {
        size_t name = strcspn(text, "=");
        size_t value = strcspn(text + name + 1, " ");
        static const struct model_type string = {.kind = MODEL_STRING};
        const struct model_type *type = &string;
        arguments[count].name = slice_of(text, name);
        for (size_t i = 0; i < access->param_count; i++) {
            if (slice_equal(access->params[i].name, arguments[count].name))
                type = access->params[i].type;
        }
        arguments[count++].value =
            model_plain_text(type, slice_of(text + name + 1, value), &fixture.arena);
        text += name + 1 + value;
        text += *text == ' ';
    }
    return count;
}

static struct access_plan *plan_of(const char *pattern, const char *arguments,
                                   struct access_options options, struct error *error)
{
    struct access_argument list[8];
    const struct slice *values;
    const struct model_access *access = model_table_access(fixture.table, slice_str(pattern));
    assert_non_null(access);
    error_init(error, &fixture.arena);
    size_t count = split(access, arguments, list);
    if (!access_bind(access, count, list, &fixture.arena, &values, error))
        return NULL;
    return access_plan(access, values, &options, &fixture.arena, error);
}

static void test_requests(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *arguments;
        const char *expected;
    } cases[] = {
        {"user", "userId=" ID,
         "{\"TableName\":\"tab\",\"Key\":{\"PK\":{\"S\":\"USER#" ID
         "\"},\"SK\":{\"S\":\"META\"}}}"},
        {"post", "userId=" ID " number=7",
         "{\"TableName\":\"tab\",\"Key\":{\"PK\":{\"S\":\"USER#" ID
         "\"},\"SK\":{\"S\":\"POST#0007\"}},"
         "\"ConsistentRead\":true}"},
        {"userByEmail", "email=A@B.c",
         "{\"TableName\":\"tab\",\"IndexName\":\"Gix\",\"KeyConditionExpression\":\"#G1PK = :G1PK "
         "AND "
         "#G1SK = :G1SK\",\"ExpressionAttributeNames\":{\"#G1PK\":\"G1PK\",\"#G1SK\":\"G1SK\"},"
         "\"ExpressionAttributeValues\":{\":G1PK\":{\"S\":\"USER_EMAIL\"},\":G1SK\":{\"S\":"
         "\"a@b.c\"}},\"ScanIndexForward\":true,\"Limit\":1}"},
        {"posts", "userId=" ID,
         "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"#PK = :PK AND begins_with(#SK, "
         ":SK)\","
         "\"ExpressionAttributeNames\":{\"#PK\":\"PK\",\"#SK\":\"SK\"},"
         "\"ExpressionAttributeValues\":{\":PK\":{\"S\":\"USER#" ID
         "\"},\":SK\":{\"S\":\"POST#\"}},"
         "\"ScanIndexForward\":false,\"Limit\":10}"},
        {"all", "userId=" ID,
         "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"#PK = :PK\","
         "\"ExpressionAttributeNames\":{\"#PK\":\"PK\"},"
         "\"ExpressionAttributeValues\":{\":PK\":{\"S\":\"USER#" ID "\"}},"
         "\"ScanIndexForward\":true}"},
        {"anything", "userId=" ID,
         "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"#PK = :PK AND #SK >= :SK\","
         "\"FilterExpression\":\"#Kind = :Kind\","
         "\"ExpressionAttributeNames\":{\"#PK\":\"PK\",\"#SK\":\"SK\",\"#Kind\":\"Kind\"},"
         "\"ExpressionAttributeValues\":{\":PK\":{\"S\":\"USER#" ID "\"},\":SK\":{\"S\":\"A\"},"
         "\":Kind\":{\"S\":\"User\"}},\"ScanIndexForward\":true}"},
        {"recent", "from=1 to=9",
         "{\"TableName\":\"tab\",\"IndexName\":\"Gix\",\"KeyConditionExpression\":\"#G1PK = :G1PK "
         "AND "
         "#G1SK BETWEEN :G1SK AND :G1SK_2\",\"ExpressionAttributeNames\":{\"#G1PK\":\"G1PK\","
         "\"#G1SK\":\"G1SK\"},\"ExpressionAttributeValues\":{\":G1PK\":{\"S\":\"POSTS\"},\":G1SK\":"
         "{\"S\":\"1\"},\":G1SK_2\":{\"S\":\"9#\"}},\"ScanIndexForward\":true}"},
        {"odd", "x=y at=5",
         "{\"TableName\":\"tab\",\"IndexName\":\"odd-name\",\"KeyConditionExpression\":\"#n_0 = :v "
         "AND "
         "#at > :at\",\"ExpressionAttributeNames\":{\"#n_0\":\"odd name\",\"#at\":\"at\"},"
         "\"ExpressionAttributeValues\":{\":v\":{\"S\":\"y\"},\":at\":{\"N\":\"5\"}},"
         "\"ScanIndexForward\":true}"},
        {"multi", "tenant=a kind=b day=2026-01-02",
         "{\"TableName\":\"tab\",\"IndexName\":\"Multi\",\"KeyConditionExpression\":\"#tenant = "
         ":tenant AND #kind = :kind AND #day = :day\",\"ExpressionAttributeNames\":{\"#tenant\":"
         "\"tenant\",\"#kind\":\"kind\",\"#day\":\"day\"},\"ExpressionAttributeValues\":{\":"
         "tenant\":"
         "{\"S\":\"a\"},\":kind\":{\"S\":\"b\"},\":day\":{\"S\":\"2026-01-02\"}},"
         "\"ScanIndexForward\":true}"},
        {"found", "userId=" ID " code=3 word=w",
         "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"#PK = :PK AND begins_with(#SK, "
         ":SK)\","
         "\"FilterExpression\":\"#state.#code = :code AND contains(#state.#text, :text) AND "
         "attribute_exists(#state.#text) AND attribute_not_exists(#kind) AND #kind <> :kind\","
         "\"ExpressionAttributeNames\":{\"#PK\":\"PK\",\"#SK\":\"SK\",\"#state\":\"state\","
         "\"#code\":\"code\",\"#text\":\"text\",\"#kind\":\"kind\"},"
         "\"ExpressionAttributeValues\":{\":PK\":{\"S\":\"USER#" ID "\"},\":SK\":{\"S\":\"POST#\"},"
         "\":code\":{\"N\":\"3\"},\":text\":{\"S\":\"w\"},\":kind\":{\"S\":\"x\"}},"
         "\"ScanIndexForward\":true}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error error;
        const struct access_plan *plan =
            plan_of(cases[i].pattern, cases[i].arguments, (struct access_options){0}, &error);
        if (plan == NULL)
            fail_msg("%s: %s", cases[i].pattern, error.message);
        struct buf out;
        buf_init(&out, 1 << 16);
        struct json_writer w = json_writer_to(&out);
        access_request(plan, &w);
        buf_byte(&out, 0);
        assert_string_equal((const char *)out.ptr, cases[i].expected);
        buf_release(&out);
    }
}

static void test_options(void **state)
{
    (void)state;
    struct error error;
    struct slice after = item_of(&fixture.arena, "{\"PK\":\"a\",\"SK\":\"b\"}");
    const struct access_plan *plan =
        plan_of("posts", "userId=" ID, (struct access_options){3, after, true}, &error);
    struct buf out;
    buf_init(&out, 1 << 16);
    struct json_writer w = json_writer_to(&out);
    access_request(plan, &w);
    buf_byte(&out, 0);
    assert_non_null(strstr((const char *)out.ptr,
                           "\"Limit\":3,\"ExclusiveStartKey\":{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":"
                           "\"b\"}},\"ReturnConsumedCapacity\":\"INDEXES\"}"));
    buf_release(&out);
}

static void test_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *arguments;
        const char *message;
    } cases[] = {
        {"user", "", "Pattern user: /userId: expected uuid, got nothing"},
        {"user", "userId=x", "Pattern user: /userId: expected uuid, got \"x\""},
        {"post", "number=x more=1",
         "Pattern post: /userId: expected uuid, got nothing; /number: expected integer, got \"x\"; "
         "/more: expected one of the parameters userId, number, got \"1\""},
        {"odd", "x= at=5", "Pattern odd: the value of odd name is empty"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error error;
        assert_null(
            plan_of(cases[i].pattern, cases[i].arguments, (struct access_options){0}, &error));
        assert_int_equal(error.code, ERR_VALIDATION);
        assert_string_equal(error.message, cases[i].message);
    }
    struct error error;
    assert_null(plan_of("user", "", (struct access_options){0}, &error));
    const struct model_violations *details = error.details;
    assert_int_equal(details->count, 1);
    assert_true(slice_is(details->list[0].pointer, "/userId"));
}

static void test_words(void **state)
{
    (void)state;
    struct error error;
    struct buf out;
    buf_init(&out, 1 << 16);
    access_describe(model_table_access(fixture.table, SLICE_LIT("posts")), &out);
    buf_byte(&out, '\n');
    access_signature(model_table_access(fixture.table, SLICE_LIT("post")), &out);
    buf_byte(&out, '\n');
    const struct model_access *found = model_table_access(fixture.table, SLICE_LIT("found"));
    model_conditions_text(found, found->filters, found->filter_count, &out);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr,
                        "Query tab: PK = \"USER#{userId}\" and SK begins \"POST#\", newest first, "
                        "limit 10\n"
                        "post(userId uuid, number integer)\n"
                        "state.code = code and state.text contains word and state.text exists and "
                        "kind missing and kind != \"x\"");
    buf_clear(&out);
    const struct access_plan *plan =
        plan_of("anything", "userId=" ID, (struct access_options){.limit = 100}, &error);
    access_explain(plan, &(struct access_sizes){1000}, &out);
    buf_byte(&out, 0);
    const char *text = (const char *)out.ptr;
    assert_non_null(strstr(text, "  keys      PK = \"USER#" ID "\" AND SK >= \"A\"\n"));
    assert_non_null(strstr(text, "  filter    Kind = \"User\"   (other entities"));
    assert_non_null(strstr(text, "items have about 1000 bytes, so 12.5 for a page of 100"));
    buf_clear(&out);
    struct json_writer w = json_writer_to(&out);
    access_explain_json(plan, &(struct access_sizes){1000}, &w);
    buf_byte(&out, 0);
    text = (const char *)out.ptr;
    assert_non_null(strstr(text, "\"typeFilter\":true"));
    assert_non_null(strstr(text, "\"expectedPerPage\":12.5,\"itemsPerPage\":100"));
    buf_release(&out);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *entity;
        const char *attributes;
        const char *expected; // key, or what is wrong
    } cases[] = {
        {"User", "{\"userId\":\"" ID "\"}", "{\"PK\":\"USER#" ID "\",\"SK\":\"META\"}"},
        {"User", "{\"PK\":\"x\",\"SK\":\"y\"}", "{\"PK\":\"x\",\"SK\":\"y\"}"},
        {"Post", "{\"userId\":\"" ID "\",\"number\":12}",
         "{\"PK\":\"USER#" ID "\",\"SK\":\"POST#0012\"}"},
        {"Tag", "{\"userId\":\"" ID "\"}", "{\"PK\":\"TAG#none\",\"SK\":\"" ID "\"}"},
        {"Tag", "{\"userId\":\"" ID "\",\"tag\":\"t\"}", "{\"PK\":\"TAG#t\",\"SK\":\"" ID "\"}"},
        {"Post", "{\"number\":\"x\",\"at\":1}",
         "Key of entity Post: /at: expected only what makes the key: userId, number, got 1; "
         "/number: expected integer, got \"x\"; /userId: expected uuid, got nothing"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct model_entity *entity =
            model_table_entity(fixture.table, slice_str(cases[i].entity));
        struct error error;
        struct slice key;
        struct buf out;
        error_init(&error, &fixture.arena);
        buf_init(&out, 1 << 16);
        if (model_address_key(entity, item_of(&fixture.arena, cases[i].attributes), &fixture.arena,
                              &key, &error))
            plain_write(&out, key);
        else
            buf_text(&out, error.message);
        buf_byte(&out, 0);
        assert_string_equal((const char *)out.ptr, cases[i].expected);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_words),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
