// Every operator by tables: what holds for which values, for keys that are missing or have many
// values, and for values that are not what the operator compares.
#include "policy/support.h"

struct row {
    const char *condition;
    const char *context;
    bool holds;
};

static bool holds(const char *version, const char *condition, const char *context)
{
    return outcome_of(quoted("{'identity':{%s'Statement':{'Effect':'Allow','Action':'*',"
                             "'Resource':'*','Condition':{%s}}},'principal':'" SESSION "',"
                             "'action':'dynamodb:GetItem','resource':'" TABLE "','context':{%s}}",
                             version, condition, context)) == POLICY_ALLOW;
}

static void rows_check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (holds("'Version':'2012-10-17',", rows[i].condition, rows[i].context) != rows[i].holds)
            fail_msg("%s with {%s} should%s hold", rows[i].condition, rows[i].context,
                     rows[i].holds ? "" : " not");
}

static void test_strings(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"'StringEquals':{'aws:userid':'a'}", "'aws:userid':'a'", true},
        {"'StringEquals':{'aws:userid':'a'}", "'aws:userid':'A'", false},
        {"'StringEquals':{'aws:userid':['b','a']}", "'aws:userid':'a'", true},
        {"'StringEquals':{'aws:userid':[]}", "'aws:userid':'a'", false},
        {"'StringEquals':{'AWS:UserID':'a'}", "'aws:userid':'a'", true},
        {"'StringEquals':{'aws:userid':'a*'}", "'aws:userid':'ab'", false},
        {"'StringEquals':{'aws:userid':'a*'}", "'aws:userid':'a*'", true},
        {"'StringEquals':{'aws:userid':10}", "'aws:userid':'10'", true},
        {"'StringNotEquals':{'aws:userid':['b','a']}", "'aws:userid':'a'", false},
        {"'StringNotEquals':{'aws:userid':['b','c']}", "'aws:userid':'a'", true},
        {"'StringNotEquals':{'aws:userid':[]}", "'aws:userid':'a'", true},
        {"'StringNotEquals':{'aws:userid':'a'}", "", true},
        {"'StringEquals':{'aws:userid':'a'}", "", false},
        {"'StringEqualsIgnoreCase':{'aws:userid':'AbC'}", "'aws:userid':'aBc'", true},
        {"'StringNotEqualsIgnoreCase':{'aws:userid':'AbC'}", "'aws:userid':'aBc'", false},
        {"'StringEqualsIgnoreCase':{'aws:userid':'a*'}", "'aws:userid':'ab'", false},
        {"'StringLike':{'aws:userid':'a*'}", "'aws:userid':'a'", true},
        {"'StringLike':{'aws:userid':'a?c'}", "'aws:userid':'abc'", true},
        {"'StringLike':{'aws:userid':'a?c'}", "'aws:userid':'ac'", false},
        {"'StringLike':{'aws:userid':'?'}", "'aws:userid':'\\u00e4'", true},
        {"'StringLike':{'aws:userid':'*a*b*'}", "'aws:userid':'xxaxaxb'", true},
        {"'StringLike':{'aws:userid':'*ab*ab'}", "'aws:userid':'abab'", true},
        {"'StringLike':{'aws:userid':'*ab*ab'}", "'aws:userid':'ab'", false},
        {"'StringLike':{'aws:userid':''}", "'aws:userid':''", true},
        {"'StringLike':{'aws:userid':'A*'}", "'aws:userid':'abc'", false},
        {"'StringNotLike':{'aws:userid':['a*','b*']}", "'aws:userid':'c'", true},
        {"'StringNotLike':{'aws:userid':['a*','b*']}", "'aws:userid':'bc'", false},
        // Two operators and two keys: all of them must hold.
        {"'StringEquals':{'aws:userid':'a','aws:UserAgent':'b'}", "'aws:userid':'a'", false},
        {"'StringEquals':{'aws:userid':'a'},'Null':{'aws:UserAgent':'true'}", "'aws:userid':'a'",
         true},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void test_numbers_and_dates(void **state)
{
    (void)state;
#define AGE  "'aws:MultiFactorAuthAge':"
#define TIME "'aws:CurrentTime':"
    static const struct row rows[] = {
        {"'NumericEquals':{" AGE "10}", AGE "'10.0'", true},
        {"'NumericEquals':{" AGE "'9007199254740993'}", AGE "'9007199254740992'", false},
        {"'NumericNotEquals':{" AGE "['1','2']}", AGE "'3'", true},
        {"'NumericNotEquals':{" AGE "['1','x']}", AGE "'3'", false},
        {"'NumericNotEquals':{" AGE "'1'}", AGE "'x'", false},
        {"'NumericEquals':{" AGE "['x','3']}", AGE "'3'", true},
        {"'NumericLessThan':{" AGE "'10'}", AGE "'9.9'", true},
        {"'NumericLessThan':{" AGE "'10'}", AGE "'10'", false},
        {"'NumericLessThanEquals':{" AGE "'10'}", AGE "'10'", true},
        {"'NumericGreaterThan':{" AGE "'-1'}", AGE "'0'", true},
        {"'NumericGreaterThanEquals':{" AGE "'1'}", AGE "'0.99'", false},
        {"'NumericEquals':{" AGE "'${aws:userid}'}", AGE "'1','aws:userid':'1'", false},
        {"'DateEquals':{" TIME "'2026-01-01'}", TIME "'2026-01-01T00:00:00Z'", true},
        {"'DateEquals':{" TIME "'2026-01'}", TIME "'2026-01-01T00:00Z'", true},
        {"'DateEquals':{" TIME "'2026'}", TIME "'2026-01-01T00:00:00.000Z'", true},
        {"'DateEquals':{" TIME "'1767225600'}", TIME "'2026-01-01T01:00:00+01:00'", true},
        {"'DateEquals':{" TIME "'2026-01-01T00:00:00-05:30'}", TIME "'2026-01-01T05:30:00Z'", true},
        {"'DateGreaterThan':{" TIME "'2024-02-29'}", TIME "'2024-02-29T00:00:00.001Z'", true},
        {"'DateLessThan':{" TIME "'2023-02-29'}", TIME "'2020-01-01'", false},
        {"'DateLessThanEquals':{" TIME "'1969-12-31T23:59:59Z'}", TIME "'-1'", true},
        {"'DateNotEquals':{" TIME "'2026-01-01'}", TIME "'tomorrow'", false},
        {"'DateNotEquals':{" TIME "'2026-01-01'}", TIME "'2026-01-02'", true},
        {"'DateGreaterThanEquals':{'aws:EpochTime':'2026-01-01'}", "'aws:EpochTime':1767225600",
         true},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void test_others(void **state)
{
    (void)state;
#define IP  "'aws:SourceIp':"
#define ARN "'aws:SourceArn':"
    static const struct row rows[] = {
        {"'Bool':{'aws:SecureTransport':'True'}", "'aws:SecureTransport':'true'", true},
        {"'Bool':{'aws:SecureTransport':false}", "'aws:SecureTransport':'x'", false},
        {"'Bool':{'aws:SecureTransport':'false'}", "", false},
        {"'BinaryEquals':{'aws:userid':'YWI='}", "'aws:userid':'YWI='", true},
        {"'BinaryEquals':{'aws:userid':'YWI'}", "'aws:userid':'YWI'", false},
        {"'BinaryEquals':{'aws:userid':'YWJ='}", "'aws:userid':'YWJ='", false},
        {"'IpAddress':{" IP "'10.0.0.0/8'}", IP "'10.1.2.3'", true},
        {"'IpAddress':{" IP "'10.0.0.9/30'}", IP "'10.0.0.10'", true},
        {"'IpAddress':{" IP "'10.0.0.9/30'}", IP "'10.0.0.12'", false},
        {"'IpAddress':{" IP "'10.0.0.1'}", IP "'10.0.0.1'", true},
        {"'IpAddress':{" IP "'0.0.0.0/0'}", IP "'9.9.9.9'", true},
        {"'IpAddress':{" IP "'0.0.0.0/0'}", IP "'::1'", false},
        {"'IpAddress':{" IP "'10.0.0.0/8'}", IP "'::ffff:10.0.0.1'", true},
        {"'IpAddress':{" IP "'2001:db8::/33'}", IP "'2001:db8:7fff::1'", true},
        {"'IpAddress':{" IP "'2001:db8::/33'}", IP "'2001:db8:8000::1'", false},
        {"'IpAddress':{" IP "'2001:DB8::1'}", IP "'2001:db8:0:0:0:0:0:1'", true},
        {"'IpAddress':{" IP "'10.0.0.0/33'}", IP "'10.0.0.0'", false},
        {"'IpAddress':{" IP "'10.0.0.0/8'}", IP "'10.0.0.0/8'", false},
        {"'NotIpAddress':{" IP "['10.0.0.0/8','::/0']}", IP "'11.0.0.1'", true},
        {"'NotIpAddress':{" IP "'10.0.0.0/8'}", IP "'somewhere'", false},
        {"'ArnEquals':{" ARN "'arn:aws:sns:*:1:a*'}", ARN "'arn:aws:sns:x:1:a:b'", true},
        {"'ArnLike':{" ARN "'arn:aws:sns:*:a'}", ARN "'arn:aws:sns:x:1:a'", false},
        {"'ArnLike':{" ARN "'arn:aws:*'}", ARN "'arn:aws:sns:x:1:a'", false},
        {"'ArnLike':{" ARN "'arn:aws:sns:x:?:A'}", ARN "'arn:aws:sns:x:1:a'", false},
        {"'ArnNotLike':{" ARN "'arn:aws:sns:x:?:A'}", ARN "'arn:aws:sns:x:1:a'", true},
        {"'ArnNotEquals':{" ARN "'a'}", ARN "'arn:aws:sns:x:1:a'", false},
        {"'Null':{'aws:userid':'true'}", "", true},
        {"'Null':{'aws:userid':true}", "'aws:userid':''", false},
        {"'Null':{'aws:userid':['true','false']}", "'aws:userid':'a'", true},
        {"'Null':{'aws:userid':'no'}", "", false},
        {"'Null':{'aws:TagKeys':'true'}", "'aws:TagKeys':[]", true},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void test_sets(void **state)
{
    (void)state;
#define KEYS "'dynamodb:LeadingKeys':"
    static const struct row rows[] = {
        {"'ForAllValues:StringEquals':{" KEYS "['a','b']}", KEYS "['a','b','a']", true},
        {"'ForAllValues:StringEquals':{" KEYS "['a','b']}", KEYS "['a','c']", false},
        {"'ForAllValues:StringEquals':{" KEYS "'a'}", "", true},
        {"'ForAllValues:StringEquals':{" KEYS "'a'}", KEYS "[]", true},
        {"'ForAllValues:StringEquals':{" KEYS "'a'}", KEYS "['']", false},
        {"'ForAllValues:StringNotEquals':{" KEYS "['a','b']}", KEYS "['c','d']", true},
        {"'ForAllValues:StringNotEquals':{" KEYS "['a','b']}", KEYS "['c','a']", false},
        {"'ForAnyValue:StringEquals':{" KEYS "['a','b']}", KEYS "['c','a']", true},
        {"'ForAnyValue:StringEquals':{" KEYS "'a'}", "", false},
        {"'ForAnyValue:StringNotEquals':{" KEYS "'a'}", "", false},
        {"'ForAnyValue:StringNotEquals':{" KEYS "'a'}", KEYS "['a','c']", true},
        {"'ForAnyValue:StringNotEquals':{" KEYS "'a'}", KEYS "['a','a']", false},
        {"'ForAnyValue:StringEqualsIfExists':{" KEYS "'a'}", "", true},
        {"'StringEqualsIfExists':{'aws:userid':'a'}", "", true},
        {"'StringEqualsIfExists':{'aws:userid':'a'}", "'aws:userid':'b'", false},
        {"'StringNotEqualsIfExists':{'aws:userid':'a'}", "'aws:userid':'a'", false},
        // A key that may have many values needs a set operator, however many it has.
        {"'StringEquals':{" KEYS "'a'}", KEYS "['a']", false},
        {"'StringNotEquals':{" KEYS "'b'}", KEYS "['a']", false},
        {"'StringNotEquals':{" KEYS "'b'}", "", true},
        {"'StringEqualsIfExists':{" KEYS "'a'}", "", true},
        {"'StringEquals':{'my:key':'a'}", "'my:key':['a','b']", false},
        {"'ForAllValues:StringEquals':{'aws:userid':'a'}", "'aws:userid':'a'", true},
    };
    rows_check(rows, COUNT_OF(rows));
}

static void test_variables(void **state)
{
    (void)state;
#define ID "'aws:userid':"
    static const struct row rows[] = {
        {"'StringEquals':{" ID "'${aws:UserAgent}'}", ID "'a','aws:UserAgent':'a'", true},
        {"'StringEquals':{" ID "'${ aws:useragent }'}", ID "'a','aws:UserAgent':'a'", true},
        {"'StringLike':{" ID "'${aws:UserAgent}*'}", ID "'abc','aws:UserAgent':'ab'", true},
        {"'StringLike':{" ID "'${aws:UserAgent}'}", ID "'abc','aws:UserAgent':'a*'", false},
        {"'StringEquals':{" ID "'${aws:UserAgent}'}", ID "'a'", false},
        {"'StringEquals':{" ID "'${aws:UserAgent}'}", ID "'','aws:UserAgent':''", false},
        {"'StringNotEquals':{" ID "'${aws:UserAgent}'}", ID "'a'", false},
        {"'StringNotEquals':{" ID "['${aws:UserAgent}','b']}", ID "'a'", false},
        {"'StringEquals':{" ID "['${aws:UserAgent}','a']}", ID "'a'", true},
        {"'StringEquals':{" ID "'${aws:TagKeys}'}", ID "'a','aws:TagKeys':['a']", false},
        {"'StringLike':{" ID "'a${*}'}", ID "'ab'", false},
        {"'StringLike':{" ID "'a${*}${?}${$}'}", ID "'a*?$'", true},
        {"'StringEquals':{" ID "'a${*}'}", ID "'a*'", true},
        {"'StringEquals':{" ID "'$'}", ID "'$'", true},
        {"'ArnLike':{'aws:SourceArn':'arn:aws:s3:::${aws:UserAgent}'}",
         "'aws:SourceArn':'arn:aws:s3:::a','aws:UserAgent':'a'", true},
        // What the principal implies need not be given, and may be.
        {"'StringEquals':{'aws:PrincipalAccount':'" ACCOUNT "'}", "", true},
        {"'ArnEquals':{'aws:PrincipalArn':'arn:aws:iam::" ACCOUNT ":role/Reader'}", "", true},
        {"'StringEquals':{'aws:PrincipalType':'AssumedRole'}", "", true},
        {"'Null':{'aws:username':'true'}", "", true},
        {"'StringEquals':{'aws:PrincipalType':'Other'}", "'aws:PrincipalType':'Other'", true},
        {"'StringEquals':{'aws:PrincipalTag/Team':'a'}", "'aws:principaltag/team':'a'", true},
    };
    rows_check(rows, COUNT_OF(rows));
    // A default has quotes of its own.
    static const char with_default[] =
        "{\"identity\":{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Action\":"
        "\"*\",\"Resource\":\"arn:aws:dynamodb:*:*:table/${aws:PrincipalTag/t, 'Orders'}\"}},"
        "\"principal\":\"" USER "\",\"action\":\"dynamodb:GetItem\",\"resource\":\"" TABLE "\"}";
    char *copy = malloc(sizeof(with_default));
    assert_non_null(copy);
    memcpy(copy, with_default, sizeof(with_default));
    assert_int_equal(outcome_of(copy), POLICY_ALLOW);
    // Older documents have no variables.
    assert_true(holds("'Version':'2008-10-17',", "'StringEquals':{" ID "'${aws:UserAgent}'}",
                      ID "'${aws:UserAgent}'"));
    assert_true(holds("", "'StringEquals':{" ID "'a${*}'}", ID "'a${*}'"));
    assert_false(
        holds("", "'StringEquals':{" ID "'${aws:UserAgent}'}", ID "'a','aws:UserAgent':'a'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),   cmocka_unit_test(test_numbers_and_dates),
        cmocka_unit_test(test_others),    cmocka_unit_test(test_sets),
        cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
