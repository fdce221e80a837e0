// What a decision costs: ten statements, nine of them with conditions, in an identity policy, a
// boundary and a resource policy, for a GetItem that is allowed by the last of them, and one that
// the first statement denies.
//
//   bench_policy ROUNDS [allow|deny]
//
// Prints nanoseconds of one decision. bench/policy counts instructions with it.
#include "policy/policy.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>

#define TABLE "arn:aws:dynamodb:us-east-1:111111111111:table/Orders"

static const char identity[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":["
    "{\"Effect\":\"Deny\",\"Action\":\"dynamodb:*\",\"Resource\":\"*\",\"Condition\":{\"Bool\":"
    "{\"aws:SecureTransport\":\"false\"}}},"
    "{\"Effect\":\"Deny\",\"Action\":\"dynamodb:*\",\"Resource\":\"*\",\"Condition\":"
    "{\"NotIpAddress\":{\"aws:SourceIp\":[\"10.0.0.0/8\",\"192.168.0.0/16\",\"2001:db8::/32\"]}}},"
    "{\"Effect\":\"Deny\",\"Action\":\"dynamodb:Delete*\",\"Resource\":\"*\",\"Condition\":"
    "{\"Null\":{\"aws:MultiFactorAuthAge\":\"true\"}}},"
    "{\"Effect\":\"Allow\",\"Action\":[\"dynamodb:GetItem\",\"dynamodb:Query\"],\"Resource\":"
    "\"arn:aws:dynamodb:*:111111111111:table/Invoices*\",\"Condition\":{\"StringEquals\":"
    "{\"aws:PrincipalTag/team\":\"billing\"}}},"
    "{\"Effect\":\"Allow\",\"Action\":\"dynamodb:*Item\",\"Resource\":\"" TABLE "\",\"Condition\":"
    "{\"StringLike\":{\"aws:PrincipalTag/team\":[\"ship*\",\"pack*\"]}}},"
    "{\"Effect\":\"Allow\",\"Action\":\"dynamodb:*\",\"Resource\":\"*\",\"Condition\":"
    "{\"DateLessThan\":{\"aws:CurrentTime\":\"2026-01-01T00:00:00Z\"}}},"
    "{\"Effect\":\"Allow\",\"Action\":\"dynamodb:GetItem\",\"Resource\":"
    "\"arn:aws:dynamodb:*:111111111111:table/Ord*\",\"Condition\":{"
    "\"ForAllValues:StringEquals\":{\"dynamodb:LeadingKeys\":[\"${aws:username}\",\"shared\"]},"
    "\"ForAllValues:StringNotEquals\":{\"dynamodb:Attributes\":[\"secret\",\"salary\"]}}}]}";
static const char boundary[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"dynamodb:*\","
    "\"Resource\":\"*\",\"Condition\":{\"StringEquals\":{\"aws:RequestedRegion\":"
    "[\"eu-west-1\",\"us-east-1\"]}}},{\"Effect\":\"Deny\",\"Action\":\"dynamodb:*Table\","
    "\"Resource\":\"*\"}]}";
static const char resource[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Deny\",\"Principal\":\"*\","
    "\"Action\":\"dynamodb:*\",\"Resource\":\"*\",\"Condition\":{\"StringNotEquals\":"
    "{\"aws:PrincipalAccount\":[\"111111111111\",\"222222222222\"]}}}}";

#define ONE(name, text) static const struct slice name = {(const uint8_t *)(text), sizeof(text) - 1}
ONE(secure, "true");
ONE(insecure, "false");
ONE(address, "10.1.2.3");
ONE(team, "sales");
ONE(now, "2026-11-18T12:00:00Z");
ONE(region, "us-east-1");
static const struct slice keys[] = {{(const uint8_t *)"ann", 3}, {(const uint8_t *)"shared", 6}};
static const struct slice attributes[] = {
    {(const uint8_t *)"id", 2}, {(const uint8_t *)"state", 5}, {(const uint8_t *)"total", 5}};

static void lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    switch ((int)key->id) {
    case POLICY_KEY_SECURE_TRANSPORT:
        *out = (struct policy_values){*(bool *)context ? &insecure : &secure, 1};
        break;
    case POLICY_KEY_SOURCE_IP:
        *out = (struct policy_values){&address, 1};
        break;
    case POLICY_KEY_PRINCIPAL_TAG:
        *out = (struct policy_values){&team, 1};
        break;
    case POLICY_KEY_CURRENT_TIME:
        *out = (struct policy_values){&now, 1};
        break;
    case POLICY_KEY_REQUESTED_REGION:
        *out = (struct policy_values){&region, 1};
        break;
    case POLICY_KEY_LEADING_KEYS:
        *out = (struct policy_values){keys, COUNT_OF(keys)};
        break;
    case POLICY_KEY_ATTRIBUTES:
        *out = (struct policy_values){attributes, COUNT_OF(attributes)};
        break;
    default:
        break;
    }
}

static const struct policy *compile(const char *text, enum policy_kind kind)
{
    struct policy_fault fault;
    const struct policy *policy = policy_compile(slice_str(text), kind, NULL, NULL, &fault);
    if (policy == NULL)
        (void)fprintf(stderr, "%s\n", fault.message);
    ensure(policy != NULL);
    return policy;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    bool deny = argc > 2 && strcmp(argv[2], "deny") == 0;
    const struct policy *list[] = {compile(identity, POLICY_IDENTITY)};
    struct policy_set set = {.identity = list,
                             .identity_count = 1,
                             .boundary = compile(boundary, POLICY_BOUNDARY),
                             .resource = compile(resource, POLICY_RESOURCE)};
    struct policy_principal principal;
    struct policy_request request;
    struct policy_decision decision;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    ensure(
        policy_principal_read(SLICE_LIT("arn:aws:iam::111111111111:user/ann"), &arena, &principal));
    policy_request_init(&request, &principal, SLICE_LIT("dynamodb:GetItem"), SLICE_LIT(TABLE));
    request.lookup = lookup;
    request.context = &deny;
    int64_t start = monotonic_ns();
    for (long i = 0; i < rounds; i++) {
        policy_decide(&set, &request, &decision);
        ensure(decision.outcome == (deny ? POLICY_EXPLICIT_DENY : POLICY_ALLOW));
    }
    printf("%.0f\n", (double)(monotonic_ns() - start) / (double)rounds);
    arena_release(&arena);
    return 0;
}
