// What the tests of signatures share.
#ifndef TESTS_SIGN_LIB_H
#define TESTS_SIGN_LIB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "sign/payload.h"
#include "sign/policy.h"

// AWS's example credentials: of the test suite, and of S3's manual.
#define SUITE_KEY    "AKIDEXAMPLE"
#define SUITE_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define S3_KEY       "AKIAIOSFODNN7EXAMPLE"
#define S3_SECRET    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

enum {
    SUITE_SECONDS = 1440938160, // 20150830T123600Z
    S3_SECONDS = 1369353600,    // 20130524T000000Z
    HEADERS = 16,
};

// A request that is put together in a test.
struct sample {
    struct sign_header headers[HEADERS];
    struct sign_request request;
};

static inline void sample_init(struct sample *sample, const char *method, const char *path,
                               const char *query)
{
    memset(sample, 0, sizeof(*sample));
    sample->request = (struct sign_request){.method = slice_str(method),
                                            .path = slice_str(path),
                                            .query = slice_str(query),
                                            .headers = sample->headers};
}

static inline void sample_header(struct sample *sample, const char *name, const char *value)
{
    assert_true(sample->request.header_count < HEADERS);
    sample->headers[sample->request.header_count++] =
        (struct sign_header){slice_str(name), slice_str(value)};
}

static inline struct sign_rules rules_of(const char *service, int64_t now)
{
    return (struct sign_rules){.service = slice_str(service), .now = now, .skew_s = SIGN_SKEW_S};
}

// Reads and checks; what became of it.
static inline enum sign_result judge(const struct sign_request *request,
                                     const struct sign_rules *rules, const char *key,
                                     const char *secret, struct slice body,
                                     struct sign_cache *cache)
{
    struct arena arena;
    struct sign_claim claim;
    arena_init(&arena, LIMIT_SIGN_MEMORY);
    enum sign_result result = sign_claim_read(request, rules, &arena, &claim);
    if (result == SIGN_OK && !slice_is(claim.access_key, key))
        result = SIGN_UNKNOWN_KEY;
    if (result == SIGN_OK)
        result = sign_claim_check(request, &claim, slice_str(secret), body, cache, &arena);
    arena_release(&arena);
    return result;
}

#endif
