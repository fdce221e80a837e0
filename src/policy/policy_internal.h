// The compiled form of a policy. Internal to src/policy.
//
// Everything is in the policy's arena, and slices point into the copy of the document or into the
// arena. A pattern is a row of pieces; a condition a test, a key and operands that were read when
// it was compiled. Nothing is parsed in a decision but the values of the request.
#ifndef POLICY_INTERNAL_H
#define POLICY_INTERNAL_H

#include "policy/policy.h"
#include "value/number.h"

#include <stdatomic.h>

// ---- Patterns (pattern.c) --------------------------------------------------------------------

enum piece_kind {
    PIECE_TEXT,
    PIECE_STAR,     // any characters, or none
    PIECE_ANY,      // one character
    PIECE_VARIABLE, // ${key} or ${key, 'default'}
};

struct piece {
    enum piece_kind kind;
    unsigned variable;     // PIECE_VARIABLE: which of the pattern's
    struct slice text;     // PIECE_TEXT; of a variable its default
    bool has_default;      //
    struct policy_key key; // of a variable
};

struct pattern {
    const struct piece *pieces;
    unsigned count;
    unsigned variables;
};

// The parts of an ARN; the last has all that is left.
enum { ARN_PARTS = 6 };

struct arn {
    struct slice part[ARN_PARTS];
};

struct arn_pattern {
    bool any;   // "*", which is also for what is no ARN
    bool whole; // none of its parts was left out
    struct pattern part[ARN_PARTS];
};

// What is special in a pattern's text.
enum { PATTERN_WILD = 1, PATTERN_VARIABLES = 2 };

enum pattern_fault { PATTERN_OK, PATTERN_OPEN, PATTERN_NAME, PATTERN_LONG, PATTERN_MEMORY };

MUST_CHECK enum pattern_fault pattern_compile(struct slice text, unsigned special,
                                              struct arena *arena, struct pattern *out);
// A pattern of an ARN, where parts that are left out are "*". The text begins with "arn:".
MUST_CHECK enum pattern_fault arn_pattern_compile(struct slice text, unsigned special,
                                                  struct arena *arena, struct arn_pattern *out);
// The six parts of an ARN; false if it is none.
MUST_CHECK bool arn_parts(struct slice text, struct arn *out);

// A comparison that cannot be made (a variable without a value, a number that is none) is no
// match, and no match of the opposite operator either.
enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_VOID };

// `letters`: the case of letters does not matter.
enum verdict pattern_match(const struct pattern *pattern, struct slice text, bool letters,
                           const struct policy_request *request);
enum verdict arn_match(const struct arn_pattern *pattern, const struct arn *arn,
                       const struct policy_request *request);

// ---- Values (operand.c) ----------------------------------------------------------------------

struct address {
    uint8_t bytes[16];
    unsigned len; // 4 or 16
    unsigned bits;
};

struct decimal {
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
};

MUST_CHECK bool operand_number(struct slice text, struct decimal *out);
// Milliseconds since 1970, of a date as ISO 8601 writes it or of seconds since 1970.
MUST_CHECK bool operand_date(struct slice text, int64_t *out);
MUST_CHECK bool operand_bool(struct slice text, bool *out);
// An address, with a prefix length if `block`.
MUST_CHECK bool operand_address(struct slice text, bool block, struct address *out);
MUST_CHECK bool operand_base64(struct slice text);
bool address_within(const struct address *address, const struct address *block);

// ---- Conditions (condition.c, operators.c) ---------------------------------------------------

enum test {
    TEST_STRING,
    TEST_LETTERS, // …IgnoreCase
    TEST_LIKE,
    TEST_NUMBER,
    TEST_DATE,
    TEST_BOOL,
    TEST_BINARY,
    TEST_IP,
    TEST_ARN,
    TEST_NULL,
};

enum relation { RELATION_EQUAL, RELATION_LESS, RELATION_AT_MOST, RELATION_MORE, RELATION_AT_LEAST };

enum quantifier { EACH_NONE, EACH_ALL, EACH_ANY };

struct operation {
    enum test test;
    enum relation relation;
    bool negated;
    bool if_exists;
    enum quantifier each;
};

enum operator_fault { OPERATOR_OK, OPERATOR_UNKNOWN, OPERATOR_NULL };

// Reads "ForAllValues:StringEqualsIfExists".
MUST_CHECK enum operator_fault operator_find(struct slice name, struct operation *out);
// The type of key that a test is made for; and whether another one makes sense, too.
bool operator_fits(enum test test, enum policy_type type);

struct operand {
    struct slice text; // as the policy has it
    bool bad;          // it is not what the operator compares: it matches nothing
    union {
        struct pattern pattern; // TEST_STRING, _LETTERS, _LIKE
        struct arn_pattern arn; // TEST_ARN
        struct decimal number;  // TEST_NUMBER
        int64_t date;           // TEST_DATE
        bool yes;               // TEST_BOOL, TEST_NULL
        struct address address; // TEST_IP
    };
};

struct condition {
    struct operation operation;
    struct slice operator_name;
    struct policy_key key;
    struct operand *operands;
    size_t count;
};

// Fills in an operand from its text. False only if there is no memory or *fault says what is
// wrong with its variables.
MUST_CHECK bool operand_compile(struct slice text, const struct operation *operation,
                                bool variables, struct arena *arena, struct operand *out,
                                enum pattern_fault *fault);
bool condition_holds(const struct condition *condition, const struct policy_request *request,
                     enum policy_why *why);

// The values of a key: the caller's, else what the request implies. *own is room for such a value.
void request_values(const struct policy_request *request, const struct policy_key *key,
                    struct slice *own, struct policy_values *out);

// ---- Principals (principal.c) ----------------------------------------------------------------

enum who_kind {
    WHO_ANYONE,
    WHO_ACCOUNT,
    WHO_ROLE,    // and so its sessions
    WHO_ARN,     // exactly this user or session
    WHO_SERVICE, //
    WHO_NOBODY,  // an id of somebody who is gone, or what requests to this server never are
};

struct who {
    enum who_kind kind;
    struct slice text;
    struct slice partition; // of an ARN
    struct slice account;
    struct slice name; // of a role
};

// What a resource policy's statement gives: each is more than those before it.
enum grant {
    GRANT_NONE,
    GRANT_ACCOUNT, // the account may give it on, by identity policies
    GRANT_ROLE,    // limited by boundary and session policies
    GRANT_ANYONE,  // limited by session policies
    GRANT_SELF,    // not limited
};

// Whether a text is the twelve digits of an account.
bool account_valid(struct slice text);
// Reads what stands behind "AWS"; false if it is nothing that can.
MUST_CHECK bool who_read(struct slice text, struct who *out);
enum grant who_grant(const struct who *list, size_t count,
                     const struct policy_principal *principal);

// ---- Statements ------------------------------------------------------------------------------

enum { ACTION_WORDS = 2 };
_Static_assert(POLICY_ACTION_COUNT <= 64 * ACTION_WORDS, "each action has a bit");

struct statement {
    struct slice sid;
    bool deny;
    bool not_action;
    bool not_resource;
    bool not_principal;
    bool has_principal;
    bool any_resource;              // "*" is among the resources
    uint64_t actions[ACTION_WORDS]; // those that the statement is about
    struct pattern *action;         // for actions that have no bit
    size_t action_count;
    struct arn_pattern *resource;
    size_t resource_count;
    struct who *who;
    size_t who_count;
    struct condition *conditions;
    size_t condition_count;
};

struct policy {
    struct arena arena;
    atomic_uint owners;
    enum policy_kind kind;
    bool variables; // Version 2012-10-17
    struct statement *statements;
    size_t count;
};

#endif
