// Documents that are wrong, each with its place and its sentence; warnings; sizes.
#include "base/limits.h"
#include "policy/support.h"

static void fault_check(const char *document, enum policy_kind kind, const char *wanted)
{
    struct policy_fault fault;
    char got[POLICY_PATH + POLICY_MESSAGE + 64];
    char *text = quoted("%s", document);
    struct policy *policy = policy_compile(slice_str(text), kind, NULL, NULL, &fault);
    free(text);
    if (policy != NULL)
        fail_msg("%s should be wrong: %s", document, wanted);
    (void)snprintf(got, sizeof(got), "%u:%u %s: %s", fault.line, fault.column, fault.path,
                   fault.message);
    assert_string_equal(got, wanted);
}

// A document with one statement, which begins at column 15.
#define STATEMENT(members) "{'Statement': {" members "}}"
#define GOOD               "'Effect': 'Allow', 'Action': '*', 'Resource': '*'"

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *document;
        const char *fault;
    } rows[] = {
        {"", "1:1 : this is not JSON: unexpected end of the text"},
        {"[]", "1:1 : a policy must be an object, not a list"},
        {"{}", "1:1 : the policy has no Statement"},
        {"{\n  'Version': '2011-01-01'}",
         "2:14 /Version: Version must be 2012-10-17 or 2008-10-17, not \"2011-01-01\""},
        {"{'Version': 1}", "1:13 /Version: Version must be a string, not a number"},
        {"{'Id': 'a', 'Id': 'b'}", "1:19 /Id: the policy has Id twice"},
        {"{'Statment': []}",
         "1:14 /Statment: a policy has no member named \"Statment\": Version, Id and Statement are "
         "its members"},
        {"{'Statement': []}", "1:15 /Statement: Statement must not be empty"},
        {"{'Statement': [1]}", "1:16 /Statement/0: a statement must be an object, not a number"},
        {STATEMENT("'Effect': 'allow'"),
         "1:26 /Statement/Effect: Effect must be \"Allow\" or \"Deny\", not \"allow\""},
        {STATEMENT("'effect': 'Allow'"),
         "1:26 /Statement/effect: \"effect\" must be written \"Effect\""},
        {STATEMENT("'Effects': 'Allow'"),
         "1:27 /Statement/Effects: a statement has no member named \"Effects\""},
        {STATEMENT(GOOD ", 'Effect': 'Deny'"),
         "1:77 /Statement/Effect: the statement has Effect twice"},
        {STATEMENT("'Action': '*', 'Resource': '*'"),
         "1:15 /Statement: the statement has no Effect, which is \"Allow\" or \"Deny\""},
        {STATEMENT("'Effect': 'Allow', 'Resource': '*'"),
         "1:15 /Statement: the statement has no Action"},
        {STATEMENT("'Effect': 'Allow', 'Action': '*'"),
         "1:15 /Statement: the statement has no Resource"},
        {STATEMENT(GOOD ", 'NotAction': '*'"),
         "1:15 /Statement: the statement has both Action and NotAction: keep one"},
        {STATEMENT(GOOD ", 'Principal': '*'"),
         "1:15 /Statement: only resource policies have a Principal; a policy of this kind is for "
         "whom it is attached to"},
        {STATEMENT(GOOD ", 'Sid': 'a b'"),
         "1:74 /Statement/Sid: the Sid \"a b\" may only have letters and digits"},
        {"{'Statement': [{'Sid': 'a', " GOOD "}, {'Sid': 'a', " GOOD "}]}",
         "1:89 /Statement/1/Sid: the Sid \"a\" is that of statement 0, too"},
        {STATEMENT("'Action': 'GetItem'"),
         "1:26 /Statement/Action: \"GetItem\" is not an action: write service:action, such as "
         "dynamodb:GetItem, or \"*\""},
        {STATEMENT("'Action': ['*', 'd*:GetItem']"),
         "1:32 /Statement/Action/1: \"d*\" is not a service: wildcards may only stand behind the "
         "colon"},
        {STATEMENT("'Action': 'dynamodb:'"),
         "1:26 /Statement/Action: \"dynamodb:\" names no action behind the service"},
        {STATEMENT("'Action': []"), "1:26 /Statement/Action: Action must not be empty"},
        {STATEMENT("'Action': {}"),
         "1:26 /Statement/Action: Action must be a string or a list of strings, not an object"},
        {STATEMENT("'Resource': 'Orders'"),
         "1:28 /Statement/Resource: \"Orders\" is not a resource: write an ARN, which begins with "
         "arn:, or \"*\""},
        {STATEMENT("'Resource': 'arn:aws:dynamodb'"),
         "1:28 /Statement/Resource: \"arn:aws:dynamodb\" is not a whole ARN: write "
         "arn:partition:service:region:account:resource; only a * at the end stands for parts that "
         "are left out"},
        {STATEMENT("'Condition': []"),
         "1:29 /Statement/Condition: Condition must be an object of operators"},
        {STATEMENT("'Condition': {'StringEqual': {}}"),
         "1:45 /Statement/Condition/StringEqual: \"StringEqual\" is not a condition operator"},
        {STATEMENT("'Condition': {'stringequals': {}}"),
         "1:46 /Statement/Condition/stringequals: \"stringequals\" is not a condition operator"},
        {STATEMENT("'Condition': {'NullIfExists': {}}"),
         "1:46 /Statement/Condition/NullIfExists: Null takes neither IfExists nor a set operator"},
        {STATEMENT("'Condition': {'Bool': 'true'}"),
         "1:38 /Statement/Condition/Bool: an operator must have an object of condition keys"},
        {STATEMENT("'Condition': {'Bool': {'secure': 'true'}}"),
         "1:49 /Statement/Condition/Bool/secure: \"secure\" is not a condition key: they look like "
         "aws:username or dynamodb:LeadingKeys"},
        {STATEMENT("'Condition': {'Bool': {'aws:a': ['true', null]}}"),
         "1:57 /Statement/Condition/Bool/aws:a/1: the value of a condition must be a string, a "
         "number or a boolean"},
        {STATEMENT("'Condition': {'Bool': {'aws:a': 'true', 'AWS:A': 'false'}}"),
         "1:65 /Statement/Condition/Bool/AWS:A: Bool has the key AWS:A twice"},
        {STATEMENT("'Condition': {'Bool': {'aws:a': 'true'}, 'Bool': {'aws:b': 'false'}}"),
         "1:65 /Statement/Condition/Bool: the condition has Bool twice"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        fault_check(rows[i].document, POLICY_IDENTITY, rows[i].fault);
}

static void test_faults_of_variables_and_principals(void **state)
{
    (void)state;
#define NEW(members) "{'Version':'2012-10-17','Statement':{" members "}}"
    fault_check(NEW("'Resource':'arn:aws:dynamodb:*:*:table/${aws:username'"), POLICY_IDENTITY,
                "1:49 /Statement/Resource: \"arn:aws:dynamodb:*:*:table/${aws:username\" has a "
                "variable that is not closed: write ${key}, or ${$} for a dollar sign");
    fault_check(NEW("'Resource':'arn:aws:dynamodb:*:*:table/${name}'"), POLICY_IDENTITY,
                "1:49 /Statement/Resource: \"arn:aws:dynamodb:*:*:table/${name}\" has a variable "
                "that names no condition key: write ${aws:username} or ${aws:PrincipalTag/team, "
                "'default'}");
    fault_check(STATEMENT(GOOD), POLICY_RESOURCE,
                "1:15 /Statement: the statement has no Principal");
    fault_check(STATEMENT("'Principal': '" USER "'"), POLICY_RESOURCE,
                "1:29 /Statement/Principal: Principal must be \"*\" or an object such as {\"AWS\": "
                "\"123456789012\"}");
    fault_check(STATEMENT("'Principal': {'AWS': 'arn:aws:iam::" ACCOUNT ":user/*'}"),
                POLICY_RESOURCE,
                "1:37 /Statement/Principal/AWS: \"arn:aws:iam::" ACCOUNT
                ":user/*\" is not a principal: write an account, the ARN of a user, a role or a "
                "session without wildcards, or \"*\"");
    fault_check(STATEMENT("'NotPrincipal': {'aws': '*'}"), POLICY_RESOURCE,
                "1:40 /Statement/NotPrincipal/aws: \"aws\" is not a kind of principal: AWS, "
                "Service, Federated and CanonicalUser are");
    fault_check(STATEMENT("'Principal': {}"), POLICY_RESOURCE,
                "1:29 /Statement/Principal: Principal must not be empty");
    fault_check(STATEMENT("'Principal': []"), POLICY_RESOURCE,
                "1:29 /Statement/Principal: Principal must be \"*\" or an object, not a list");
}

static struct policy *compile_padded(enum policy_kind kind, size_t letters, size_t blanks,
                                     struct policy_fault *fault)
{
    const char *members = kind == POLICY_RESOURCE ? GOOD ",'Principal':'*'" : GOOD;
    char *text = quoted("{'Statement':{%s}}", members);
    size_t len = 0;
    for (char *at = text; *at != 0; at++)
        if (*at != ' ')
            text[len++] = *at;
    // The Id takes what is left of the size.
    char *document = malloc(letters + blanks + 256);
    assert_non_null(document);
    size_t head = (size_t)snprintf(document, 16, "{\"Id\":\"");
    size_t fill = letters - len - head - 1;
    memset(document + head, 'x', fill);
    memcpy(document + head + fill, "\",", 2);
    memcpy(document + head + fill + 2, text + 1, len - 1);
    size_t size = head + fill + 2 + len - 1;
    assert_int_equal(size, letters);
    memset(document + size, ' ', blanks);
    struct policy *policy =
        policy_compile(slice_of(document, size + blanks), kind, NULL, NULL, fault);
    free(text);
    free(document);
    return policy;
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        enum policy_kind kind;
        size_t most;
        const char *fault;
    } rows[] = {
        {POLICY_IDENTITY, LIMIT_POLICY_IDENTITY,
         "the policy has 10241 characters that are not white space; at most 10240 are allowed"},
        {POLICY_SESSION, LIMIT_POLICY_SESSION,
         "the policy has 2049 characters that are not white space; at most 2048 are allowed"},
        {POLICY_RESOURCE, LIMIT_POLICY_RESOURCE,
         "the policy has 20481 bytes; at most 20480 are allowed"},
    };
    struct policy_fault fault;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct policy *policy = compile_padded(rows[i].kind, rows[i].most, 0, &fault);
        assert_non_null(policy);
        policy_release(policy);
        assert_null(compile_padded(rows[i].kind, rows[i].most + 1, 0, &fault));
        assert_string_equal(fault.message, rows[i].fault);
    }
    // White space does not count, up to a limit of ours.
    struct policy *policy = compile_padded(POLICY_SESSION, LIMIT_POLICY_SESSION, 5000, &fault);
    assert_non_null(policy);
    policy_release(policy);
    assert_null(compile_padded(POLICY_SESSION, LIMIT_POLICY_SESSION, LIMIT_POLICY_TEXT, &fault));
    assert_string_equal(fault.message, "the policy has 67584 bytes; at most 65536 are allowed");
}

static void gather(void *to, const struct policy_fault *warning)
{
    buf_printf(to, "%u:%u %s: %s\n", warning->line, warning->column, warning->path,
               warning->message);
}

static void warnings_check(const char *document, enum policy_kind kind, const char *wanted)
{
    struct policy_fault fault;
    struct buf out;
    char *text = quoted("%s", document);
    buf_init(&out, 1 << 20);
    struct policy *policy = policy_compile(slice_str(text), kind, gather, &out, &fault);
    if (policy == NULL)
        fail_msg("%s: %s", document, fault.message);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, wanted);
    policy_release(policy);
    buf_release(&out);
    free(text);
}

static void test_warnings(void **state)
{
    (void)state;
#define IF(conditions)                                                                             \
    NEW("'Effect':'Allow','Action':'dynamodb:*','Resource':'*','Condition':{" conditions "}")
#define AT "/Statement/Condition/"
    warnings_check(IF("'Bool':{'aws:SecureTransport':'true'}"), POLICY_IDENTITY, "");
    warnings_check(NEW("'Effect':'Allow','Action':['dynamodb:Get*','s3:*'],'Resource':'*'"),
                   POLICY_IDENTITY, "1:81 /Statement/Action/1: there is no action \"s3:*\" here\n");
    warnings_check(NEW("'Effect':'Allow','Action':'*','Resource':['arn:aws:s3:::x',"
                       "'arn:aws:dynamodb:*:1:table/x','arn:aws:dynamodb:*:*:tabel/x']"),
                   POLICY_IDENTITY,
                   "1:80 /Statement/Resource/0: \"arn:aws:s3:::x\" is not a resource of DynamoDB\n"
                   "1:97 /Statement/Resource/1: \"arn:aws:dynamodb:*:1:table/x\" has no account of "
                   "twelve digits\n"
                   "1:128 /Statement/Resource/2: \"arn:aws:dynamodb:*:*:tabel/x\" matches nothing: "
                   "resources begin with table/ or global-table/\n");
    warnings_check(IF("'StringEquals':{'my:key':'a'}"), POLICY_IDENTITY,
                   "1:130 " AT "StringEquals/my:key: there is no condition key \"my:key\"\n");
    warnings_check(IF("'NumericEquals':{'aws:userid':'a'}"), POLICY_IDENTITY,
                   "1:135 " AT "NumericEquals/aws:userid: \"a\" never matches: NumericEquals "
                   "compares a number\n"
                   "1:135 " AT "NumericEquals/aws:userid: NumericEquals compares no string, which "
                   "aws:userid is\n");
    warnings_check(IF("'StringEquals':{'dynamodb:Attributes':'a'}"), POLICY_IDENTITY,
                   "1:143 " AT "StringEquals/dynamodb:Attributes: dynamodb:Attributes has many "
                   "values: without ForAllValues: or ForAnyValue: the condition never holds\n");
    warnings_check(IF("'ForAllValues:StringEquals':{'dynamodb:Attributes':'a'}"), POLICY_IDENTITY,
                   "1:37 /Statement: ForAllValues also holds for requests without "
                   "dynamodb:Attributes: add \"Null\": {\"dynamodb:Attributes\": \"false\"} to "
                   "allow only those that have it\n");
    warnings_check(
        IF("'StringEquals':{'dynamodb:Select':'ALL'}"), POLICY_IDENTITY,
        "1:139 " AT "StringEquals/dynamodb:Select: dynamodb:Select is never \"ALL\": it "
        "is one of ALL_ATTRIBUTES ALL_PROJECTED_ATTRIBUTES SPECIFIC_ATTRIBUTES COUNT \n");
    warnings_check(IF("'StringEquals':{'aws:userid':[]}"), POLICY_IDENTITY,
                   "1:134 " AT "StringEquals/aws:userid: the list of values is empty: the "
                   "condition never holds\n");
    warnings_check(IF("'StringEquals':{'aws:userid':'${aws:TagKeys}'}"), POLICY_IDENTITY,
                   "1:134 " AT "StringEquals/aws:userid: aws:TagKeys has many values and cannot be "
                   "a variable: the value never matches\n");
    warnings_check(NEW("'Effect':'Deny','Action':'dynamodb:ListTables','Resource':'*','Condition':"
                       "{'Bool':{'dynamodb:FullTableScan':'true'}}"),
                   POLICY_IDENTITY,
                   "1:37 /Statement: no action of the statement comes with "
                   "dynamodb:FullTableScan\n");
    warnings_check(STATEMENT("'Effect':'Allow','Action':'*','Resource':'arn:aws:dynamodb:*:*:"
                             "table/${aws:username}'"),
                   POLICY_IDENTITY,
                   "1:1 : without a Version it is that of 2008: \"${\" is plain text, not a "
                   "variable. Write \"Version\": \"2012-10-17\"\n");
    warnings_check(NEW("'Effect':'Allow','Action':'*','Resource':'*','NotPrincipal':{'AWS':"
                       "'AIDAJQABLZS4A3QDU576Q'}"),
                   POLICY_RESOURCE,
                   "1:105 /Statement/NotPrincipal/AWS: no request is ever made by "
                   "\"AIDAJQABLZS4A3QDU576Q\"\n"
                   "1:37 /Statement: NotPrincipal with Allow allows everyone else, also anonymous "
                   "requests\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_of_variables_and_principals),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
