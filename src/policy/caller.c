// Decisions about a caller: the condition keys that follow from who asks, when and how.
#include "policy/caller.h"

#include "base/time_text.h"

#include <assert.h>
#include <stdio.h>

static_assert((int)CALLER_TIME >= (int)TIME_TEXT, "a time fits");

static const struct slice yes = {(const uint8_t *)"true", 4};
static const struct slice no = {(const uint8_t *)"false", 5};

static void one(const struct slice *value, struct policy_values *out)
{
    if (value->len > 0)
        *out = (struct policy_values){value, 1};
}

static const struct slice *date(int64_t ms, char text[TIME_TEXT], struct slice *out)
{
    time_text(ms, text);
    *out = slice_str(text);
    return out;
}

static void principal_tag(const struct caller *caller, struct slice key, struct policy_values *out)
{
    for (size_t i = 0; i < caller->tag_count; i++) {
        // As IAM has it: the keys of tags are not case-sensitive.
        if (policy_letters_equal(caller->tags[i].key, key)) {
            *out = (struct policy_values){&caller->tags[i].value, 1};
            return;
        }
    }
}

static void caller_lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    struct caller_request *request = context;
    const struct caller *caller = request->caller;
    if (request->lookup != NULL)
        request->lookup(request->context, key, out);
    if (out->count > 0)
        return;
    switch ((int)key->id) {
    case POLICY_KEY_PRINCIPAL_TAG:
        principal_tag(caller, key->tag, out);
        break;
    case POLICY_KEY_USER_ID:
        one(&caller->user_id, out);
        break;
    case POLICY_KEY_SOURCE_IDENTITY:
        one(&caller->source_identity, out);
        break;
    case POLICY_KEY_SOURCE_IP:
        one(&caller->address, out);
        break;
    case POLICY_KEY_USER_AGENT:
        one(&caller->agent, out);
        break;
    case POLICY_KEY_REFERER:
        one(&caller->referer, out);
        break;
    case POLICY_KEY_SECURE_TRANSPORT:
        one(caller->secure ? &yes : &no, out);
        break;
    case POLICY_KEY_VIA_SERVICE:
        one(&no, out);
        break;
    case POLICY_KEY_REQUESTED_REGION:
        one(&request->region, out);
        break;
    case POLICY_KEY_CURRENT_TIME:
        one(date(request->now_ms, request->current_text, &request->current), out);
        break;
    case POLICY_KEY_EPOCH_TIME:
        (void)snprintf(request->epoch_text, sizeof(request->epoch_text), "%lld",
                       (long long)(request->now_ms / 1000));
        request->epoch = slice_str(request->epoch_text);
        one(&request->epoch, out);
        break;
    case POLICY_KEY_TOKEN_ISSUE_TIME:
        if (caller->token_issued_s != 0)
            one(date(caller->token_issued_s * 1000, request->issued_text, &request->issued), out);
        break;
    default:
        break;
    }
}

static struct policy_request as_asked(const struct caller_request *request)
{
    return (struct policy_request){.principal = &request->caller->principal,
                                   .action = request->action,
                                   .action_id = request->action_id,
                                   .resource = request->resource,
                                   .account = SLICE_LIT(CALLER_ACCOUNT)};
}

void caller_decide(struct caller_request *request, struct policy_decision *out)
{
    struct policy_request asked = as_asked(request);
    struct policy_set set = request->caller->policies;
    asked.lookup = caller_lookup;
    asked.context = request;
    set.resource = request->resource_policy;
    policy_decide(&set, &asked, out);
}

static void notice_trust(void *to, const struct policy_finding *finding)
{
    bool *trusted = to;
    if (finding->miss == POLICY_MATCHES && !policy_denies(finding->document, finding->statement))
        *trusted = true;
}

bool caller_trusted(struct caller_request *request)
{
    struct policy_request asked = as_asked(request);
    struct policy_set set = {.resource = request->resource_policy};
    struct policy_decision ignored;
    bool trusted = false;
    asked.lookup = caller_lookup;
    asked.context = request;
    policy_explain(&set, &asked, notice_trust, &trusted, &ignored);
    return trusted;
}

void caller_denial(const struct caller_request *request, const struct policy_decision *decision,
                   struct buf *out)
{
    struct policy_request asked = as_asked(request);
    policy_denial(decision, &asked, out);
}

bool caller_may(struct caller_request *request, struct buf *denial)
{
    struct policy_decision decision;
    caller_decide(request, &decision);
    if (decision.outcome == POLICY_ALLOW)
        return true;
    if (denial->len == 0)
        caller_denial(request, &decision, denial);
    return request->caller->warn;
}
