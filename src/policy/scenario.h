// A request with everything that decides it, put together by hand: for `dolmen policy explain`,
// for files of cases, and for tests. The server has its own ways to all of these.
#ifndef POLICY_SCENARIO_H
#define POLICY_SCENARIO_H

#include "base/buf.h"
#include "policy/policy.h"

enum { SCENARIO_POLICIES = 64, SCENARIO_KEYS = 256, SCENARIO_MESSAGE = 768 };

struct scenario_policy {
    struct slice name; // of its file, or empty
    struct policy *policy;
};

struct scenario {
    struct arena arena;
    struct scenario_policy policies[POLICY_KINDS][SCENARIO_POLICIES];
    size_t counts[POLICY_KINDS];
    const struct policy *lists[POLICY_KINDS][SCENARIO_POLICIES]; // the same, as a set has them
    struct policy_entry entries[SCENARIO_KEYS];
    struct policy_context context;
    struct policy_principal principal;
    struct policy_request request;
    struct policy_set set;
    struct slice name;              // of a case; may be empty
    struct slice expected;          // its decision, or empty
    char message[SCENARIO_MESSAGE]; // what is wrong, after a function that returned false
};

// It is large: allocate it. Slices that are handed in are copied.
void scenario_init(struct scenario *scenario);
void scenario_release(struct scenario *scenario);

MUST_CHECK bool scenario_add_policy(struct scenario *scenario, enum policy_kind kind,
                                    struct slice name, struct slice document);
// One more value of a key.
MUST_CHECK bool scenario_add_value(struct scenario *scenario, struct slice key, struct slice value);
// The account of the resource may be empty.
MUST_CHECK bool scenario_ask(struct scenario *scenario, struct slice principal, struct slice action,
                             struct slice resource, struct slice account);
// Reads all of it from a JSON object:
// {"name": …, "identity": [document, …], "boundary": document, "session": [document, …],
//  "resourcePolicy": document, "principal": …, "action": …, "resource": …, "account": …,
//  "context": {"key": value or [value, …]}, "expect": "allow" | "implicitDeny" | "explicitDeny"}
MUST_CHECK bool scenario_read(struct scenario *scenario, struct slice json);

const char *policy_outcome_name(enum policy_outcome outcome);

// The decision in a line of JSON; or with all statements and why they match or not, as JSON or for
// people.
void scenario_decide(const struct scenario *scenario, struct policy_decision *out);
void scenario_brief(const struct scenario *scenario, const struct policy_decision *decision,
                    struct buf *out);
void scenario_explain(const struct scenario *scenario, bool json, struct policy_decision *decision,
                      struct buf *out);

#endif
