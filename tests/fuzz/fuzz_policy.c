// Policies: any text is a program or is refused with a place and a sentence, and a program decides
// any request; explaining decides the same. The first line is a kind and a request: kind,
// principal, action, resource and one value of a key, between blanks.
#include "fuzz.h"

#include "base/limits.h"
#include "policy/policy.h"

struct values {
    struct slice list[2];
};

static void lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    struct values *values = context;
    ensure(key->name.len > 0);
    *out = (struct policy_values){values->list, key->id % 3};
}

static void visit(void *to, const struct policy_finding *finding)
{
    ensure(finding->statement < policy_statement_count(finding->document));
    (void)policy_sid(finding->document, finding->statement);
    (*(size_t *)to)++;
}

static void warn(void *to, const struct policy_fault *warning)
{
    ensure(warning->line > 0 && warning->column > 0 && warning->message[0] != 0);
    (void)to;
}

static void decide(const struct policy *policy, enum policy_kind kind,
                   const struct policy_request *request)
{
    const struct policy *list[] = {policy};
    struct policy_set set = {.identity = list, .identity_count = kind == POLICY_IDENTITY};
    struct policy_decision quick;
    struct policy_decision whole;
    struct buf out;
    size_t visited = 0;
    if (kind == POLICY_BOUNDARY)
        set.boundary = policy;
    if (kind == POLICY_RESOURCE)
        set.resource = policy;
    set.session = list;
    set.session_count = kind == POLICY_SESSION;
    policy_decide(&set, request, &quick);
    policy_explain(&set, request, visit, &visited, &whole);
    ensure(quick.outcome == whole.outcome && quick.statement == whole.statement);
    ensure(visited == policy_statement_count(policy));
    buf_init(&out, FUZZ_BUDGET);
    if (whole.outcome != POLICY_ALLOW)
        policy_denial(&whole, request, &out);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct slice line = fuzz_line(&in);
    enum policy_kind kind = (enum policy_kind)(fuzz_byte(&line) % POLICY_KINDS);
    struct slice word = fuzz_until(&line, ' ');
    struct slice principal_text = fuzz_until(&line, ' ');
    struct slice action = fuzz_until(&line, ' ');
    struct slice resource = fuzz_until(&line, ' ');
    struct values values = {{line, word}};
    struct slice document = fuzz_copy(in);
    struct policy_fault fault;
    struct arena arena;
    struct policy_principal principal;
    struct policy_request request;
    arena_init(&arena, FUZZ_BUDGET);
    if (!policy_principal_read(principal_text, &arena, &principal))
        principal = (struct policy_principal){.kind = PRINCIPAL_ANONYMOUS};
    struct policy *policy = policy_compile(document, kind, warn, NULL, &fault);
    fuzz_free(document); // the program has a copy
    if (policy == NULL) {
        ensure(fault.line > 0 && fault.column > 0 && fault.message[0] != 0);
    } else {
        policy_request_init(&request, &principal, action, resource);
        request.lookup = lookup;
        request.context = &values;
        decide(policy, kind, &request);
        policy_release(policy);
    }
    arena_release(&arena);
    return 0;
}
