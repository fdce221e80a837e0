// Forms that browsers post (S3's POST Object): the fields of a multipart/form-data body, and a
// policy among them, a base64 JSON document that is signed and says what the other fields may be.
#ifndef SIGN_POLICY_H
#define SIGN_POLICY_H

#include "sign/check.h"

enum {
    SIGN_POLICY_MAX = 20 << 10, // S3's: all fields but the file
    SIGN_POLICY_CONDITIONS = 100,
};

struct sign_field {
    struct slice name; // in any case
    struct slice value;
};

// A form: all fields before `file`, in their order.
struct sign_form_fields {
    const struct sign_field *fields;
    size_t count;
    struct slice bucket; // what the URL says; the policy may have a condition on it
};

// What the form's signature says of itself (x-amz-algorithm, x-amz-credential, x-amz-date,
// x-amz-signature, x-amz-security-token, policy), judged as in sign_claim_read(). SIGN_NONE without
// a policy: an anonymous form.
MUST_CHECK enum sign_result sign_policy_read(const struct sign_form_fields *form,
                                             const struct sign_rules *rules, struct arena *arena,
                                             struct sign_claim *claim);

// How large the file may be, which is known only when it has come.
struct sign_range {
    uint64_t least;
    uint64_t most; // UINT64_MAX without a condition
};

// The signature, then the expiration and each condition of the policy (eq, starts-with,
// content-length-range), and that each field has one. On SIGN_OK, *range is to be kept by the file;
// SIGN_POLICY_SMALL and SIGN_POLICY_LARGE are the words for one that does not.
MUST_CHECK enum sign_result sign_policy_check(const struct sign_form_fields *form,
                                              struct sign_claim *claim,
                                              const struct sign_rules *rules,
                                              struct slice secret_key, struct sign_cache *cache,
                                              struct arena *arena, struct sign_range *range);

// ---- Making one ----------------------------------------------------------------------------

// A condition: name = value, or with `prefix` that it starts with it.
struct sign_condition {
    struct slice name;
    struct slice value;
    bool prefix;
};

struct sign_policy {
    struct slice bucket;
    const struct sign_condition *conditions; // key, Content-Type, …
    size_t count;
    struct sign_range range;
    unsigned expires_s;
};

// The fields that the policy adds to those of its conditions; in the arena.
struct sign_policy_fields {
    struct slice policy;
    struct slice algorithm;
    struct slice credential;
    struct slice date;
    struct slice token; // or empty
    struct slice signature;
};
MUST_CHECK bool sign_policy_make(const struct sign_policy *policy, const struct sign_scope *scope,
                                 const struct sign_keys *keys, struct sign_cache *cache,
                                 struct arena *arena, struct sign_policy_fields *out);

#endif
