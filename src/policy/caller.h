// Who asks, as far as decisions are concerned: what authentication found out of a request, for
// everything that decides or records (docs/adr/024-gate.md).
//
// A caller is immutable. Whoever made it keeps it, and all that its slices and policies point to,
// until the request has been answered.
#ifndef POLICY_CALLER_H
#define POLICY_CALLER_H

#include "base/buf.h"
#include "policy/policy.h"

struct caller_tag {
    struct slice key;
    struct slice value;
};

struct caller {
    struct policy_principal principal;
    struct slice access_key; // id of the key that has signed; empty if a certificate identified
    struct slice user_id;    // aws:userid
    // What applies to every request of this caller: `resource` is NULL here, and is filled in for
    // each decision with the policy of what the request is about.
    struct policy_set policies;
    const struct caller_tag *tags; // aws:PrincipalTag/…, and `actor.…` in the policies of models
    size_t tag_count;
    struct slice tenant; // that the credentials are for, if they are `bound`
    bool bound;
    struct slice source_identity; // aws:SourceIdentity; empty without one
    int64_t token_issued_s;       // aws:TokenIssueTime of a session; 0 without one

    // How the request came.
    struct slice address; // of the client, as text: aws:SourceIp; empty if it is not known
    struct slice agent;   // aws:UserAgent; empty without one
    struct slice referer; // aws:Referer; empty without one
    bool secure;          // by TLS: aws:SecureTransport

    bool warn; // what would be refused is done, counted and told (--auth warn)
};

// The value of a tag; false if the caller does not have it.
static inline bool caller_tag(const struct caller *caller, struct slice key, struct slice *out)
{
    for (size_t i = 0; i < caller->tag_count; i++) {
        if (slice_equal(caller->tags[i].key, key)) {
            *out = caller->tags[i].value;
            return true;
        }
    }
    return false;
}

// ---- Decisions about a caller ----------------------------------------------------------------

// The account that the ARNs of this server have.
#define CALLER_ACCOUNT "000000000000"

enum { CALLER_TIME = 32 }; // of a time as text

// One request of a caller: the keys that come with every request are known here, those of what is
// asked for by `lookup`.
struct caller_request {
    const struct caller *caller;
    struct slice action; // "s3:GetObject"
    enum policy_action_id action_id;
    struct slice resource;                // one ARN, or "*"
    const struct policy *resource_policy; // of the resource, or NULL
    struct slice region;                  // aws:RequestedRegion; empty without one
    int64_t now_ms;                       // aws:CurrentTime, aws:EpochTime
    policy_lookup *lookup;                // asked first; or NULL
    void *context;

    // Room for values that are made.
    struct slice current, epoch, issued;
    char current_text[CALLER_TIME], epoch_text[CALLER_TIME], issued_text[CALLER_TIME];
};

// The request must stay as it is until the decision is made; what it points to as long as `out`.
void caller_decide(struct caller_request *request, struct policy_decision *out);
// Whether the resource policy has a statement that allows it to the caller, or to its account. Not
// enough where another one denies: caller_decide() says that.
MUST_CHECK bool caller_trusted(struct caller_request *request);
// Whether it is to be done: allowed, or the caller is only to be warned. What was not allowed is
// said in `denial`, which is empty before.
MUST_CHECK bool caller_may(struct caller_request *request, struct buf *denial);
// What AWS answers to a request that was not allowed: see policy_denial().
void caller_denial(const struct caller_request *request, const struct policy_decision *decision,
                   struct buf *out);

#endif
