// What is told of one request, and its two forms: packed by the loop that answered it, which should
// cost it as little as copying, and written as JSON by the thread of the log.
#ifndef AUDIT_ENTRY_H
#define AUDIT_ENTRY_H

#include "audit/chain.h"
#include "call/call.h"

// X(decision, name in a line)
#define AUDIT_DECISION_LIST(X)                                                                     \
    X(OPEN, "not checked") /* security is off: nobody was asked who they are */                    \
    X(ALLOWED, "allowed")                                                                          \
    X(DENIED, "denied")                                                                            \
    X(WOULD_DENY, "would be denied") /* --auth warn */                                             \
    X(UNAUTHENTICATED, "unauthenticated")                                                          \
    X(THROTTLED, "throttled") /* beyond a rate limit, or locked out */

enum audit_decision {
#define X(decision, name) AUDIT_##decision,
    AUDIT_DECISION_LIST(X)
#undef X
        AUDIT_DECISIONS
};
const char *audit_decision_name(enum audit_decision decision);

struct audit_entry {
    int64_t now_ms;
    struct slice request_id;
    struct slice principal;  // its ARN; empty if nobody was asked
    struct slice access_key; // the id
    struct slice tenant;
    struct slice address;
    unsigned port;
    struct slice operation;
    struct slice table;
    enum audit_decision decision;
    struct slice reason;   // why it was refused, in words
    struct slice action;   // that was decided
    struct slice resource; // on which
    struct slice policy;   // kind of the policy that decided
    struct slice sid;      // its statement
    int status;
    struct slice error;
    uint64_t latency_ns;
    uint64_t order_ns; // by a clock that all loops share: lines are written in this order
    const struct call_note *notes;
    uint64_t note_count; // as many as there were; not all of them need be there
    bool writes;         // or may; not told
};

enum audit_keys { AUDIT_KEYS_HASHED, AUDIT_KEYS_PLAIN, AUDIT_KEYS_NONE };

// Appends the entry; if the buf fails, nothing of it counts.
void entry_pack(struct buf *out, const struct audit_entry *entry);
// When the first entry was made (order_ns); after all others if there is none.
uint64_t entry_order(struct slice packed);
// Takes the first entry off *packed, which holds whole ones, and appends the members of its line.
void entry_write(struct slice *packed, enum audit_keys how, const struct chain_keys *keys,
                 struct buf *out);

#endif
