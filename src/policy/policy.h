// IAM policies: documents compiled once into programs, and decisions made by them.
//
// A compiled policy never changes and may be used by all threads at once. A decision allocates
// nothing, takes no lock and asks its caller for a condition key only when a statement needs it,
// so that expensive keys cost nothing where no policy speaks of them. The rules are AWS's; where
// its documentation leaves one open, docs/adr/023-policies.md says what was chosen.
//
// This room decides. Who asks, whose policies these are and what follows is its callers' business.
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/arena.h"
#include "policy/facts.h"

// ---- Documents -------------------------------------------------------------------------------

// What a policy is attached to. A resource policy says whom it is for (Principal), the others do
// not.
enum policy_kind { POLICY_IDENTITY, POLICY_BOUNDARY, POLICY_SESSION, POLICY_RESOURCE };
enum { POLICY_KINDS = POLICY_RESOURCE + 1 };

// "identity policy", "permissions boundary", …
const char *policy_kind_name(enum policy_kind kind);

enum { POLICY_PATH = 160, POLICY_MESSAGE = 400 };

// What is wrong with a document, and where: line and column from 1, and the JSON pointer.
struct policy_fault {
    unsigned line;
    unsigned column;
    char path[POLICY_PATH];
    char message[POLICY_MESSAGE];
};

struct policy;

// Hears of what is allowed but hardly meant: unknown actions and keys, values that never match.
typedef void policy_warn(void *to, const struct policy_fault *warning);

// Compiles a document, which is copied. NULL with *fault if it is wrong, or too large for its kind
// (base/limits.h), or if there is no memory. `warn` may be NULL.
MUST_CHECK struct policy *policy_compile(struct slice document, enum policy_kind kind,
                                         policy_warn *warn, void *to, struct policy_fault *fault);
// The same for what a role trusts (AssumeRolePolicyDocument): a resource policy without Resource,
// which is the role.
MUST_CHECK struct policy *policy_compile_trust(struct slice document, struct policy_fault *fault);
// One more owner; the last release frees it. NULL is fine.
struct policy *policy_hold(struct policy *policy);
void policy_release(struct policy *policy);

size_t policy_statement_count(const struct policy *policy);
struct slice policy_sid(const struct policy *policy, size_t statement); // empty if it has none
bool policy_denies(const struct policy *policy, size_t statement);      // its Effect

// ---- Requests --------------------------------------------------------------------------------

enum policy_principal_kind {
    PRINCIPAL_ANONYMOUS,
    PRINCIPAL_ROOT,      // of its account, which may do everything in it
    PRINCIPAL_USER,      //
    PRINCIPAL_SESSION,   // of a role
    PRINCIPAL_FEDERATED, // the session of a federated user
    PRINCIPAL_SERVICE,   // lambda.amazonaws.com
};

struct policy_principal {
    enum policy_principal_kind kind;
    struct slice arn;       // or the name of the service; empty if anonymous
    struct slice partition; // "aws"
    struct slice account;
    struct slice name; // of the user, the role or the federated user, without its path
    // What aws:PrincipalArn is: for sessions the ARN of the role. A caller who knows the path of
    // the role puts the whole ARN here; the ARN of a session does not have it.
    struct slice identity;
};

// Reads "anonymous", a service's name or an ARN; false if it is none of these. The slices point
// into the text or are made in the arena.
MUST_CHECK bool policy_principal_read(struct slice text, struct arena *arena,
                                      struct policy_principal *out);

struct policy_values {
    const struct slice *list;
    size_t count; // 0: the request does not have the key
};

// The values of a key; *out is empty before. They must stay until the decision is made. Values of
// all types are text: numbers and dates as policies write them, binary as base64.
typedef void policy_lookup(void *context, const struct policy_key *key, struct policy_values *out);

struct policy_request {
    const struct policy_principal *principal;
    struct slice action; // "dynamodb:PutItem"
    enum policy_action_id action_id;
    struct slice resource; // one ARN, or "*"; where a request names several, all must be allowed
    struct slice account;  // that the resource belongs to
    policy_lookup *lookup; // or NULL. What it leaves empty and the request implies is added:
    void *context;         // aws:PrincipalArn, PrincipalAccount, PrincipalType, username,
                           // PrincipalIsAWSService, ResourceAccount
};

// Fills in a request; the account is that of the ARN, else the principal's.
void policy_request_init(struct policy_request *request, const struct policy_principal *principal,
                         struct slice action, struct slice resource);

// A context as a flat table: policy_context_lookup is the function, a policy_context its context.
struct policy_entry {
    struct policy_key key;
    struct policy_values values;
};
struct policy_context {
    const struct policy_entry *entries;
    size_t count;
};
policy_lookup policy_context_lookup;

// ---- Decisions -------------------------------------------------------------------------------

// What applies to a request. Policies of groups stand among those of the identity. Boundary and
// resource policy may be NULL; session policies are together one, and none of them is none.
struct policy_set {
    const struct policy *const *identity;
    size_t identity_count;
    const struct policy *boundary;
    const struct policy *const *session;
    size_t session_count;
    const struct policy *resource;
};

enum policy_outcome { POLICY_ALLOW, POLICY_IMPLICIT_DENY, POLICY_EXPLICIT_DENY };

enum policy_reason {
    POLICY_BY_STATEMENT, // kind, policy and statement say which
    POLICY_BY_ROOT,      // the root of the account, whom no policy has to allow anything
    POLICY_NOT_ALLOWED,  // kind says which of the policies would have to allow it, too
};

struct policy_decision {
    enum policy_outcome outcome;
    enum policy_reason reason;
    enum policy_kind kind;
    size_t policy;    // which of its kind
    size_t statement; // from 0
    struct slice sid; // empty if the statement has none; lives as long as the policy
};

void policy_decide(const struct policy_set *set, const struct policy_request *request,
                   struct policy_decision *out);

// Why a statement is not about a request; the first of these that holds.
enum policy_miss {
    POLICY_MATCHES,
    POLICY_OTHER_ACTION,
    POLICY_OTHER_RESOURCE,
    POLICY_OTHER_PRINCIPAL,
    POLICY_CONDITION,
};

enum policy_why {
    POLICY_VALUE,  // no value, or not the right one
    POLICY_ABSENT, // the request does not have the key
    POLICY_MANY,   // the key has many values, and the operator takes one
};

struct policy_finding {
    enum policy_kind kind;
    size_t policy;
    size_t statement;
    const struct policy *document;
    enum policy_miss miss;
    enum policy_why why;        // of POLICY_CONDITION
    struct slice operator_name; // "ForAllValues:StringEquals"
    struct slice key;
};

typedef void policy_visit(void *to, const struct policy_finding *finding);

// The same decision, made by looking at every statement, each of which `visit` hears of.
void policy_explain(const struct policy_set *set, const struct policy_request *request,
                    policy_visit *visit, void *to, struct policy_decision *out);

// What AWS answers: "User: … is not authorized to perform: … on resource: … because no
// identity-based policy allows the … action". For decisions that are no POLICY_ALLOW.
void policy_denial(const struct policy_decision *decision, const struct policy_request *request,
                   struct buf *out);

#endif
