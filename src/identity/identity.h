// Identities: users, groups, roles, access keys and managed policies, kept as records of the engine
// and compiled into views (docs/adr/024-gate.md).
//
// Records are sealed under a key that is derived from the master key, each with its own name as
// context: one that was changed, exchanged or damaged does not open. Whoever depends on such a
// record is refused, and the log says so: a policy that cannot be read might have denied something.
//
// A view is all of them at one moment, compiled, and never changes; a change publishes the next
// one. Loops look through a reader of their own, which takes a lock only when there is a new view.
#ifndef IDENTITY_IDENTITY_H
#define IDENTITY_IDENTITY_H

#include "base/error.h"
#include "base/limits.h"
#include "crypt/crypt.h"
#include "policy/caller.h"

#include <stdint.h>

struct workshop;
struct identity;
struct identity_view;

#define IDENTITY_ACCOUNT "000000000000"

// X(id, the word in names of records and ARNs, the beginning of ids, how many there may be)
#define IDENTITY_KIND_LIST(X)                                                                      \
    X(USER, "user", "AIDA", LIMIT_IDENTITY_USERS)                                                  \
    X(GROUP, "group", "AGPA", LIMIT_IDENTITY_GROUPS)                                               \
    X(ROLE, "role", "AROA", LIMIT_IDENTITY_ROLES)                                                  \
    X(POLICY, "policy", "ANPA", LIMIT_IDENTITY_POLICIES)                                           \
    X(KEY, "key", "AKIA", LIMIT_IDENTITY_USERS *LIMIT_IDENTITY_KEYS)

enum identity_kind {
#define X(id, word, prefix, most) IDENTITY_##id,
    IDENTITY_KIND_LIST(X)
#undef X
        IDENTITY_KINDS
};

const char *identity_word(enum identity_kind kind);

// ---- What is kept ------------------------------------------------------------------------------

struct identity_name {
    struct slice name;
};

// A policy of its own, of a user, a group or a role.
struct identity_inline {
    struct slice name;
    struct slice document;
};

// One user, group, role, policy or key. What a kind has no use for is empty.
struct identity_entity {
    enum identity_kind kind;
    struct slice name; // of a key: its id
    struct slice path; // "/" at least; none of keys
    struct slice id;   // AIDA…: another one if somebody of the same name is made again
    int64_t created_ms;
    struct slice description;
    struct slice document; // of a policy; of a role: whom it trusts
    int64_t session_s;     // of a role: the longest session
    struct slice boundary; // the name of a policy; empty without one
    struct slice tenant;   // that all requests are bound to, if they are
    bool bound;
    struct slice certificate; // of a user: SHA-256 of a client certificate, or its common name
    struct slice user;        // of a key: whose it is
    struct slice secret;      // of a key
    bool inactive;            // of a key
    size_t tag_count;
    struct caller_tag tags[LIMIT_IDENTITY_TAGS];
    size_t inline_count;
    struct identity_inline inlines[LIMIT_IDENTITY_INLINES];
    size_t attached_count;
    struct identity_name attached[LIMIT_IDENTITY_ATTACHED]; // names of policies
    size_t group_count;
    struct identity_name groups[LIMIT_IDENTITY_MEMBERSHIPS]; // of a user
};

// ---- What is looked at -------------------------------------------------------------------------

// An entity with what it comes to.
struct identity_one {
    struct identity_entity entity;
    struct slice arn; // none of keys
    // Users and roles: what applies to their requests; groups of users are among it.
    const struct policy *const *policies;
    size_t policy_count;
    const struct policy *boundary;
    const struct policy *compiled;    // a policy's document; a role's trust
    const struct identity_one *owner; // of a key: its user
    const char *damage;               // NULL, or why requests of it are refused
};

// Opens what the engine keeps, and takes a copy of the master key. NULL with a sentence in `error`
// if the records are sealed under another key, or cannot be read.
MUST_CHECK struct identity *identity_open(struct workshop *shop, const struct crypt_key *master,
                                          char *error, size_t error_size);
// From now on these master keys, and no others, open what is kept: two while one is replaced by
// another, then one.
MUST_CHECK bool identity_rewrap(struct identity *identity, const struct crypt_key *const *masters,
                                size_t count, struct error *error);
// Nobody may look any more. NULL is fine.
void identity_close(struct identity *identity);
// Their records were changed without identity_change_commit: by a source that this follows.
void identity_refresh(struct identity *identity);

// The present view, held until it is released. Any thread; takes a lock for a moment.
MUST_CHECK struct identity_view *identity_view_hold(struct identity *identity);
void identity_view_release(struct identity_view *view);

// The entity of that name, or NULL.
const struct identity_one *identity_find(const struct identity_view *view, enum identity_kind kind,
                                         struct slice name);
// All of a kind, in the order of their names.
const struct identity_one *identity_list(const struct identity_view *view, enum identity_kind kind,
                                         size_t *count);
// The user of a certificate, by its fingerprint or subject; NULL if there is none.
const struct identity_one *identity_of_certificate(const struct identity_view *view,
                                                   struct slice fingerprint, struct slice subject);
// Whether there is an active key of a user who is not damaged: somebody can get in.
bool identity_has_keys(const struct identity_view *view);

// Fills in who asks, for a user. Slices and policies are the view's.
void identity_caller(const struct identity_one *user, struct caller *out);

// ---- Loops -------------------------------------------------------------------------------------

// What a loop sees: belongs to one thread, as all leases of it do.
struct identity_reader;
struct identity_lease; // holds a view for a request

MUST_CHECK struct identity_reader *identity_reader_new(struct identity *identity);
void identity_reader_free(struct identity_reader *reader); // when all leases have ended
MUST_CHECK struct identity_lease *identity_lease_take(struct identity_reader *reader);
void identity_lease_end(struct identity_lease *lease);
const struct identity_view *identity_lease_view(const struct identity_lease *lease);

// ---- Changes -----------------------------------------------------------------------------------

// One change at a time: what is judged between begin and end stays true. For threads that may wait.
struct identity_change {
    struct identity *identity;
    struct identity_view *view; // as it is before
    struct arena *arena;
    struct error *error;
    size_t count;
    struct identity_record *records;
};
void identity_change_begin(struct identity_change *change, struct identity *identity,
                           struct arena *arena, struct error *error);
// What is to be written; the first failure makes commit fail.
void identity_change_put(struct identity_change *change, const struct identity_entity *entity);
void identity_change_remove(struct identity_change *change, enum identity_kind kind,
                            struct slice name);
// Writes all of it at once, durably, and publishes the next view.
MUST_CHECK bool identity_change_commit(struct identity_change *change);
void identity_change_end(struct identity_change *change);

// A new id: prefix and random letters and digits, 20 in all; a secret, 40 characters.
enum { IDENTITY_ID = 21, IDENTITY_SECRET = 41 };
void identity_make_id(const char *prefix, char out[IDENTITY_ID]);
void identity_make_secret(char out[IDENTITY_SECRET]);
int64_t identity_now_ms(const struct identity *identity);

// ---- Sessions ----------------------------------------------------------------------------------

// What a token is: all of it is in the token, sealed, and nowhere else.
struct identity_session {
    struct slice key; // ASIA…
    struct slice secret;
    int64_t issued_s;
    int64_t expires_s;
    struct slice role; // whose session it is; empty if it is the user's own
    struct slice user; // who asked for it
    struct slice id;   // of the role, or of the user
    struct slice name; // of the session of a role
    struct slice source_identity;
    size_t tag_count;
    struct caller_tag tags[LIMIT_IDENTITY_TAGS];
    size_t policy_count;
    struct identity_name policies[LIMIT_IDENTITY_ATTACHED + 1]; // documents
};
// Appends the token.
MUST_CHECK bool identity_token_make(const struct identity *identity,
                                    const struct identity_session *session, struct arena *arena,
                                    struct buf *out, struct error *error);

// Tokens that a loop has opened: belongs to one thread.
struct identity_tokens;
struct identity_opened; // one that is held
MUST_CHECK struct identity_tokens *identity_tokens_new(struct identity *identity);
void identity_tokens_free(struct identity_tokens *tokens); // when nobody holds one of them
// NULL if it is none of ours. What it says of expiry is not judged.
MUST_CHECK struct identity_opened *identity_token_open(struct identity_tokens *tokens,
                                                       struct slice token);
void identity_opened_release(struct identity_opened *opened);
const struct identity_session *identity_opened_session(const struct identity_opened *opened);
// Who asks: false if the role or user has gone, is another one of that name, or is damaged. What is
// made is in the arena; false without memory, too.
MUST_CHECK bool identity_opened_caller(const struct identity_opened *opened,
                                       const struct identity_view *view, struct arena *arena,
                                       struct caller *out);

// ---- Who signs ---------------------------------------------------------------------------------

// What a loop needs to find out who signs: a reader, the tokens it has opened, and the signing keys
// it has derived. Belongs to one thread.
struct sign_cache;
struct identity_seat;
MUST_CHECK struct identity_seat *identity_seat_new(struct identity *identity);
void identity_seat_free(struct identity_seat *seat); // when all guests have left
struct sign_cache *identity_seat_cache(struct identity_seat *seat);

// Whoever claims to sign a request. There is always a secret, so that checking a signature takes as
// long for a key that nobody has; `known` is asked behind it.
struct identity_guest {
    struct identity_lease *lease;
    struct identity_opened *opened;
    struct slice secret;
    bool known;         // the key is there and active, or the token is ours and its owner is there
    bool token_foreign; // the key is known, but is not that of the token
    bool token_expired;
    struct caller caller; // if known
};
// Slices of the caller are the view's, the token's or in the arena. Stays until it leaves.
void identity_seat_look(struct identity_seat *seat, struct slice access_key, struct slice token,
                        int64_t now_s, struct arena *arena, struct identity_guest *out);
// The user of a client certificate, by its fingerprint or subject.
void identity_seat_certificate(struct identity_seat *seat, struct slice fingerprint,
                               struct slice subject, struct identity_guest *out);
void identity_guest_leave(struct identity_guest *guest); // one that is zeroed is fine

#endif
