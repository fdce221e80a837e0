// Statements and their combination: actions, resources, principals, and what identity, boundary,
// session and resource policies decide together; which statement is said to have decided.
#include "policy/support.h"

#define DOCUMENT(effect, more)                                                                     \
    "{'Version':'2012-10-17','Statement':{'Sid':'s','Effect':'" effect "','Action':'*'," more "}}"
#define YES              DOCUMENT("Allow", "'Resource':'*'")
#define NOTHING          "{'Statement':{'Effect':'Allow','Action':'s3:*','Resource':'*'}}"
#define DENY             DOCUMENT("Deny", "'Resource':'*'")
#define GRANT(principal) DOCUMENT("Allow", "'Resource':'*','Principal':" principal)
#define TAKE(principal)  DOCUMENT("Deny", "'Resource':'*','Principal':" principal)

static enum policy_outcome decided(const char *principal, const char *account, const char *policies)
{
    return outcome_of(quoted("{'principal':'%s','action':'dynamodb:GetItem','resource':"
                             "'arn:aws:dynamodb:us-east-1:%s:table/Orders'%s}",
                             principal, account, policies));
}

static void test_actions_and_resources(void **state)
{
    (void)state;
    static const struct {
        const char *statement;
        bool matches;
    } rows[] = {
        {"'Action':'dynamodb:getitem','Resource':'*'", true},
        {"'Action':['s3:*','DynamoDB:G*'],'Resource':'*'", true},
        {"'Action':'dynamodb:?etItem','Resource':'*'", true},
        {"'Action':'dynamodb:Get','Resource':'*'", false},
        {"'NotAction':'dynamodb:Put*','Resource':'*'", true},
        {"'NotAction':'*','Resource':'*'", false},
        {"'Action':'*','Resource':'" TABLE "'", true},
        {"'Action':'*','Resource':'arn:aws:dynamodb:*:*:table/Ord*'", true},
        {"'Action':'*','Resource':'arn:aws:dynamodb:*'", true},
        {"'Action':'*','Resource':'arn:aws:dynamodb:eu-*'", false},
        {"'Action':'*','Resource':'arn:aws:dynamodb:*:table/Orders*'", false},
        {"'Action':'*','Resource':'arn:aws:dynamodb:us-east-1:*:table/orders'", false},
        {"'Action':'*','NotResource':'arn:aws:dynamodb:*:*:table/Other'", true},
        {"'Action':'*','NotResource':['arn:aws:s3:::x','" TABLE "']", false},
        {"'Action':'*','NotResource':'*'", false},
        {"'Action':'*','Resource':'arn:aws:dynamodb:*:*:table/${aws:userid}'", false},
        // Nothing can be said of a variable without a value, unless something else decides.
        {"'Action':'*','NotResource':'arn:aws:dynamodb:*:*:table/${aws:userid}'", false},
        {"'Action':'*','NotResource':'arn:aws:dynamodb:eu-*:*:table/${aws:userid}'", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *policy = quoted(",'identity':{'Version':'2012-10-17','Statement':"
                              "{'Effect':'Allow',%s}}",
                              rows[i].statement);
        if ((decided(USER, ACCOUNT, policy) == POLICY_ALLOW) != rows[i].matches)
            fail_msg("%s", rows[i].statement);
        free(policy);
    }
    assert_int_equal(outcome_of(quoted("{'principal':'" USER "','action':'dynamodb:ListTables',"
                                       "'resource':'*','identity':%s}",
                                       YES)),
                     POLICY_ALLOW);
    // Actions that are in no table are compared as text.
    assert_int_equal(outcome_of(quoted("{'principal':'" USER "','action':'dolmen:Apply',"
                                       "'resource':'*','identity':{'Statement':{'Effect':'Allow',"
                                       "'Action':'dolmen:A*','Resource':'*'}}}")),
                     POLICY_ALLOW);
}

struct row {
    const char *principal;
    const char *account; // of the table
    const char *policies;
    enum policy_outcome outcome;
};

static void rows_check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (decided(rows[i].principal, rows[i].account, rows[i].policies) != rows[i].outcome)
            fail_msg("%zu: %s %s", i, rows[i].principal, rows[i].policies);
}

static void test_one_account(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {USER, ACCOUNT, "", POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT, ",'identity':" YES, POLICY_ALLOW},
        {USER, ACCOUNT, ",'identity':[" YES "," DENY "]", POLICY_EXPLICIT_DENY},
        {USER, ACCOUNT, ",'identity':" YES ",'boundary':" YES, POLICY_ALLOW},
        {USER, ACCOUNT, ",'identity':" YES ",'boundary':" NOTHING, POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT, ",'identity':" YES ",'boundary':" DENY, POLICY_EXPLICIT_DENY},
        {USER, ACCOUNT, ",'boundary':" YES, POLICY_IMPLICIT_DENY},
        {SESSION, ACCOUNT, ",'identity':" YES ",'session':" NOTHING, POLICY_IMPLICIT_DENY},
        {SESSION, ACCOUNT, ",'identity':" YES ",'session':[" NOTHING "," YES "]", POLICY_ALLOW},
        {SESSION, ACCOUNT, ",'session':" YES, POLICY_IMPLICIT_DENY},
        {ROOT, ACCOUNT, "", POLICY_ALLOW},
        {ROOT, ACCOUNT, ",'resourcePolicy':" TAKE("'*'"), POLICY_EXPLICIT_DENY},
        // A user has what a resource policy gives it, whatever its boundary.
        {USER, ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" USER "'}"), POLICY_ALLOW},
        {USER, ACCOUNT, ",'boundary':" NOTHING ",'resourcePolicy':" GRANT("{'AWS':'" USER "'}"),
         POLICY_ALLOW},
        {USER, ACCOUNT, ",'boundary':" NOTHING ",'resourcePolicy':" GRANT("'*'"), POLICY_ALLOW},
        // An account has to give it on.
        {USER, ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" ACCOUNT "'}"), POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" ROOT "'}"), POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT, ",'resourcePolicy':" TAKE("{'AWS':'" ACCOUNT "'}"), POLICY_EXPLICIT_DENY},
        {USER, ACCOUNT, ",'identity':" YES ",'resourcePolicy':" TAKE("{'AWS':'" OTHER "'}"),
         POLICY_ALLOW},
        // A role is limited, its session is not.
        {SESSION, ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" ROLE "'}"), POLICY_ALLOW},
        {SESSION, ACCOUNT, ",'boundary':" NOTHING ",'resourcePolicy':" GRANT("{'AWS':'" ROLE "'}"),
         POLICY_IMPLICIT_DENY},
        {SESSION, ACCOUNT, ",'session':" NOTHING ",'resourcePolicy':" GRANT("{'AWS':'" ROLE "'}"),
         POLICY_IMPLICIT_DENY},
        {SESSION, ACCOUNT,
         ",'boundary':" NOTHING ",'session':" NOTHING
         ",'resourcePolicy':" GRANT("{'AWS':'" SESSION "'}"),
         POLICY_ALLOW},
        {SESSION, ACCOUNT, ",'session':" NOTHING ",'resourcePolicy':" GRANT("'*'"),
         POLICY_IMPLICIT_DENY},
        {SESSION, ACCOUNT, ",'boundary':" NOTHING ",'resourcePolicy':" GRANT("{'AWS':'*'}"),
         POLICY_ALLOW},
        {USER, ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" ROLE "'}"), POLICY_IMPLICIT_DENY},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void test_two_accounts_and_strangers(void **state)
{
    (void)state;
#define NOT_PRINCIPAL(effect, who) DOCUMENT(effect, "'Resource':'*','NotPrincipal':" who)
    static const struct row rows[] = {
        {USER, OTHER, ",'identity':" YES, POLICY_IMPLICIT_DENY},
        {USER, OTHER, ",'resourcePolicy':" GRANT("{'AWS':'" USER "'}"), POLICY_IMPLICIT_DENY},
        {USER, OTHER, ",'identity':" YES ",'resourcePolicy':" GRANT("{'AWS':'" ACCOUNT "'}"),
         POLICY_ALLOW},
        {USER, OTHER,
         ",'identity':" YES ",'boundary':" NOTHING ",'resourcePolicy':" GRANT("{'AWS':'" USER "'}"),
         POLICY_IMPLICIT_DENY},
        {ROOT, OTHER, "", POLICY_IMPLICIT_DENY},
        {ROOT, OTHER, ",'resourcePolicy':" GRANT("{'AWS':'" ACCOUNT "'}"), POLICY_ALLOW},
        {"anonymous", ACCOUNT, "", POLICY_IMPLICIT_DENY},
        {"anonymous", ACCOUNT, ",'resourcePolicy':" GRANT("'*'"), POLICY_ALLOW},
        {"anonymous", ACCOUNT, ",'resourcePolicy':" GRANT("{'AWS':'" ACCOUNT "'}"),
         POLICY_IMPLICIT_DENY},
        {"lambda.amazonaws.com", ACCOUNT,
         ",'resourcePolicy':" GRANT("{'Service':'lambda.amazonaws.com'}"), POLICY_ALLOW},
        {"lambda.amazonaws.com", ACCOUNT,
         ",'resourcePolicy':" GRANT("{'Service':'sns.amazonaws.com'}"), POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT, ",'resourcePolicy':" GRANT("{'CanonicalUser':'" USER "'}"),
         POLICY_IMPLICIT_DENY},
        {USER, ACCOUNT,
         ",'identity':" YES ",'resourcePolicy':" NOT_PRINCIPAL("Deny", "{'AWS':'" USER "'}"),
         POLICY_ALLOW},
        {USER, ACCOUNT,
         ",'identity':" YES ",'resourcePolicy':" NOT_PRINCIPAL("Deny", "{'AWS':'" OTHER "'}"),
         POLICY_EXPLICIT_DENY},
        // Everyone with a boundary is denied.
        {USER, ACCOUNT,
         ",'identity':" YES ",'boundary':" YES
         ",'resourcePolicy':" NOT_PRINCIPAL("Deny", "{'AWS':'" USER "'}"),
         POLICY_EXPLICIT_DENY},
        {USER, ACCOUNT, ",'resourcePolicy':" NOT_PRINCIPAL("Allow", "{'AWS':'" OTHER "'}"),
         POLICY_ALLOW},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void text_check(const char *json, const char *wanted)
{
    struct policy_decision decision;
    struct buf out;
    struct scenario *scenario = malloc(sizeof(*scenario));
    char *text = quoted("%s", json);
    assert_non_null(scenario);
    scenario_init(scenario);
    buf_init(&out, 1 << 20);
    assert_true(scenario_read(scenario, slice_str(text)));
    scenario_explain(scenario, false, &decision, &out);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, wanted);
    buf_release(&out);
    scenario_release(scenario);
    free(scenario);
    free(text);
}

static void test_words(void **state)
{
    (void)state;
#define ASK "'principal':'" USER "','action':'dynamodb:GetItem','resource':'" TABLE "'"
#define SENTENCE                                                                                   \
    "User: " USER " is not authorized to perform: dynamodb:GetItem on resource: " TABLE " "
    text_check("{" ASK ",'identity':" YES "}", "allowed by statement 0 \"s\" of identity policy\n\n"
                                               "identity policy\n"
                                               "  statement 0 \"s\" (Allow) matches\n");
    text_check("{" ASK "}",
               "denied: no identity policy allows it\n" SENTENCE
               "because no identity-based policy allows the dynamodb:GetItem action\n");
    text_check("{" ASK ",'identity':" YES ",'boundary':" DENY "}",
               "denied by statement 0 \"s\" of permissions boundary\n" SENTENCE
               "with an explicit deny in a permissions boundary\n\n"
               "identity policy\n  statement 0 \"s\" (Allow) matches\n"
               "permissions boundary\n  statement 0 \"s\" (Deny) matches\n");
    text_check("{" ASK ",'identity':{'Statement':[" //
               "{'Effect':'Allow','Action':'dynamodb:PutItem','Resource':'*'},"
               "{'Effect':'Allow','Action':'*','Resource':'arn:aws:dynamodb:*:*:table/X'},"
               "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'StringEquals':"
               "{'dynamodb:LeadingKeys':'a'}}},"
               "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'Bool':"
               "{'aws:SecureTransport':'true'}}}]},'context':{'dynamodb:LeadingKeys':['a','b']}}",
               "denied: no identity policy allows it\n" SENTENCE
               "because no identity-based policy allows the dynamodb:GetItem action\n\n"
               "identity policy\n"
               "  statement 0 (Allow) is about other actions\n"
               "  statement 1 (Allow) is about other resources\n"
               "  statement 2 (Allow) does not match: StringEquals takes one value, and "
               "dynamodb:LeadingKeys has many: use ForAllValues: or ForAnyValue: (\"a\", \"b\")\n"
               "  statement 3 (Allow) does not match: Bool does not hold, the request has no "
               "aws:SecureTransport\n");
}

// Which keys a decision asks for: none that no statement comes to.
static void count_lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    static const struct slice value = {(const uint8_t *)"a", 1};
    size_t *asked = context;
    asked[key->id]++;
    *out = (struct policy_values){&value, 1};
}

static void test_keys_are_asked_for_late(void **state)
{
    (void)state;
    struct policy_fault fault;
    size_t asked[POLICY_KEY_COUNT + 1] = {0};
    char *text = quoted("{'Version':'2012-10-17','Statement':[{'Effect':'Deny','Action':"
                        "'dynamodb:PutItem','Resource':'*','Condition':{'StringEquals':"
                        "{'aws:userid':'a'}}},{'Effect':'Allow','Action':'*','Resource':'*',"
                        "'Condition':{'StringEquals':{'aws:UserAgent':'b','aws:Referer':'a'}}}]}");
    struct policy *policy = policy_compile(slice_str(text), POLICY_IDENTITY, NULL, NULL, &fault);
    struct policy_principal principal;
    struct policy_request request;
    struct policy_decision decision;
    struct arena arena;
    assert_non_null(policy);
    free(text);
    arena_init(&arena, 1 << 16);
    assert_true(policy_principal_read(slice_str(USER), &arena, &principal));
    policy_request_init(&request, &principal, slice_str("dynamodb:GetItem"), slice_str(TABLE));
    request.lookup = count_lookup;
    request.context = asked;
    const struct policy *list[] = {policy};
    struct policy_set set = {.identity = list, .identity_count = 1};
    policy_decide(&set, &request, &decision);
    assert_int_equal(decision.outcome, POLICY_IMPLICIT_DENY);
    assert_int_equal(asked[POLICY_KEY_USER_ID], 0);
    assert_int_equal(asked[POLICY_KEY_USER_AGENT], 1);
    assert_int_equal(asked[POLICY_KEY_REFERER], 0);
    assert_ptr_equal(policy_hold(policy), policy);
    policy_release(policy);
    policy_release(policy);
    policy_release(NULL);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actions_and_resources),      cmocka_unit_test(test_one_account),
        cmocka_unit_test(test_two_accounts_and_strangers), cmocka_unit_test(test_words),
        cmocka_unit_test(test_keys_are_asked_for_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
