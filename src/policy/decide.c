// Decisions. Every statement of every policy that applies is asked whether it is about the
// request; what they say together is combined by AWS's rules:
//
// - one that denies decides;
// - within an account, identity policies or the resource policy allow. What the identity policies
//   allow, the boundary and the session policies must allow as well. What the resource policy
//   allows goes to the principal it names: a user or a session has it without limits, the sessions
//   of a role within boundary and session policies, an account not before its identity policies
//   pass it on;
// - across accounts, both sides must allow.
#include "policy/policy_internal.h"

struct place {
    size_t policy;
    size_t statement;
    struct slice sid;
};

struct decider {
    const struct policy_set *set;
    const struct policy_request *request;
    policy_visit *visit; // or NULL: the first statement that denies ends it
    void *to;
    struct arn resource;
    bool is_arn;
    bool denied;
    enum policy_kind denied_by;
    struct place denial;
    bool allowed[POLICY_KINDS];
    struct place allowance[POLICY_KINDS];
    enum grant grant; // the most that statements of the resource policy give
};

// ---- One statement ---------------------------------------------------------------------------

static bool action_matches(const struct statement *statement, const struct policy_request *request)
{
    unsigned id = request->action_id;
    if (id < POLICY_ACTION_COUNT)
        return (statement->actions[id / 64] >> (id % 64) & 1) != 0;
    for (size_t i = 0; i < statement->action_count; i++)
        if (pattern_match(&statement->action[i], request->action, true, request) == VERDICT_YES)
            return !statement->not_action;
    return statement->not_action;
}

static bool resource_matches(const struct decider *decider, const struct statement *statement)
{
    bool found = statement->any_resource;
    if (found || !decider->is_arn)
        return found != statement->not_resource;
    for (size_t i = 0; i < statement->resource_count; i++) {
        enum verdict verdict =
            arn_match(&statement->resource[i], &decider->resource, decider->request);
        if (statement->not_resource && verdict != VERDICT_NO)
            return false;
        if (!statement->not_resource && verdict == VERDICT_YES)
            return true;
    }
    return statement->not_resource;
}

// What the statement gives the principal, or takes; GRANT_NONE if it is not about it.
static enum grant principal_grant(const struct decider *decider, const struct statement *statement)
{
    if (!statement->has_principal)
        return GRANT_SELF;
    enum grant grant = who_grant(statement->who, statement->who_count, decider->request->principal);
    if (!statement->not_principal)
        return grant;
    // AWS denies everyone who has a boundary, whoever is listed.
    bool all = statement->deny && decider->set->boundary != NULL;
    return grant == GRANT_NONE || all ? GRANT_ANYONE : GRANT_NONE;
}

// Why a condition does not hold, for POLICY_CONDITION.
struct unmet {
    const struct condition *condition;
    enum policy_why why;
};

static inline enum policy_miss statement_match(const struct decider *decider,
                                               const struct statement *statement, enum grant *grant,
                                               struct unmet *unmet)
{
    if (!action_matches(statement, decider->request))
        return POLICY_OTHER_ACTION;
    if (!resource_matches(decider, statement))
        return POLICY_OTHER_RESOURCE;
    *grant = principal_grant(decider, statement);
    if (*grant == GRANT_NONE)
        return POLICY_OTHER_PRINCIPAL;
    for (size_t i = 0; i < statement->condition_count; i++) {
        unmet->condition = &statement->conditions[i];
        if (!condition_holds(unmet->condition, decider->request, &unmet->why))
            return POLICY_CONDITION;
    }
    return POLICY_MATCHES;
}

static void tell(const struct decider *decider, const struct policy *policy,
                 const struct unmet *unmet, struct policy_finding finding)
{
    finding.document = policy;
    if (finding.miss == POLICY_CONDITION) {
        finding.why = unmet->why;
        finding.operator_name = unmet->condition->operator_name;
        finding.key = unmet->condition->key.name;
    }
    decider->visit(decider->to, &finding);
}

// ---- All of them -----------------------------------------------------------------------------

static void statement_count_in(struct decider *decider, enum policy_kind kind, bool deny,
                               struct place place, enum grant grant)
{
    if (deny) {
        if (!decider->denied) {
            decider->denied_by = kind;
            decider->denial = place;
        }
        decider->denied = true;
        return;
    }
    bool more = kind == POLICY_RESOURCE && grant > decider->grant;
    if (!decider->allowed[kind] || more)
        decider->allowance[kind] = place;
    decider->allowed[kind] = true;
    if (more)
        decider->grant = grant;
}

// False if nothing else needs to be looked at.
static bool policy_apply(struct decider *decider, enum policy_kind kind, size_t index,
                         const struct policy *policy)
{
    for (size_t i = 0; policy != NULL && i < policy->count; i++) {
        const struct statement *statement = &policy->statements[i];
        struct unmet unmet;
        enum grant grant = GRANT_NONE;
        enum policy_miss miss = statement_match(decider, statement, &grant, &unmet);
        if (decider->visit != NULL)
            tell(decider, policy, &unmet,
                 (struct policy_finding){
                     .kind = kind, .policy = index, .statement = i, .miss = miss});
        if (miss != POLICY_MATCHES)
            continue;
        statement_count_in(decider, kind, statement->deny, (struct place){index, i, statement->sid},
                           grant);
        if (decider->denied && decider->visit == NULL)
            return false;
    }
    return true;
}

static void policies_apply(struct decider *decider)
{
    const struct policy_set *set = decider->set;
    bool more = true;
    for (size_t i = 0; more && i < set->identity_count; i++)
        more = policy_apply(decider, POLICY_IDENTITY, i, set->identity[i]);
    more = more && policy_apply(decider, POLICY_BOUNDARY, 0, set->boundary);
    for (size_t i = 0; more && i < set->session_count; i++)
        more = policy_apply(decider, POLICY_SESSION, i, set->session[i]);
    if (more)
        (void)policy_apply(decider, POLICY_RESOURCE, 0, set->resource);
}

// ---- Together --------------------------------------------------------------------------------

static void by_statement(struct policy_decision *out, enum policy_outcome outcome,
                         enum policy_kind kind, struct place place)
{
    *out = (struct policy_decision){outcome,      POLICY_BY_STATEMENT, kind,
                                    place.policy, place.statement,     place.sid};
}

static void allow_by(const struct decider *decider, enum policy_kind kind,
                     struct policy_decision *out)
{
    if (kind == POLICY_IDENTITY && decider->request->principal->kind == PRINCIPAL_ROOT)
        *out = (struct policy_decision){.outcome = POLICY_ALLOW, .reason = POLICY_BY_ROOT};
    else
        by_statement(out, POLICY_ALLOW, kind, decider->allowance[kind]);
}

static void deny_for(enum policy_kind kind, struct policy_decision *out)
{
    *out = (struct policy_decision){
        .outcome = POLICY_IMPLICIT_DENY, .reason = POLICY_NOT_ALLOWED, .kind = kind};
}

// Whether boundary and session policies, where there are any, allow it.
static bool boundary_allows(const struct decider *decider)
{
    return decider->set->boundary == NULL || decider->allowed[POLICY_BOUNDARY];
}

static bool session_allows(const struct decider *decider)
{
    return decider->set->session_count == 0 || decider->allowed[POLICY_SESSION];
}

static bool resource_suffices(const struct decider *decider)
{
    switch (decider->grant) {
    case GRANT_SELF:
        return true;
    case GRANT_ANYONE:
        return session_allows(decider);
    case GRANT_ROLE:
        return session_allows(decider) && boundary_allows(decider);
    case GRANT_ACCOUNT:
    case GRANT_NONE:
        break;
    }
    return false;
}

static void decide(const struct decider *decider, struct policy_decision *out)
{
    const struct policy_principal *principal = decider->request->principal;
    bool outside = principal->kind == PRINCIPAL_ANONYMOUS || principal->kind == PRINCIPAL_SERVICE;
    bool same = !outside && slice_equal(principal->account, decider->request->account);
    bool identity = decider->allowed[POLICY_IDENTITY] || principal->kind == PRINCIPAL_ROOT;
    if (decider->denied)
        by_statement(out, POLICY_EXPLICIT_DENY, decider->denied_by, decider->denial);
    else if (outside && decider->grant > GRANT_NONE)
        allow_by(decider, POLICY_RESOURCE, out);
    else if (outside || (!same && decider->grant == GRANT_NONE))
        deny_for(POLICY_RESOURCE, out);
    else if (identity && boundary_allows(decider) && session_allows(decider))
        allow_by(decider, same ? POLICY_IDENTITY : POLICY_RESOURCE, out);
    else if (same && resource_suffices(decider))
        allow_by(decider, POLICY_RESOURCE, out);
    else
        deny_for(!identity                   ? POLICY_IDENTITY
                 : !boundary_allows(decider) ? POLICY_BOUNDARY
                                             : POLICY_SESSION,
                 out);
}

void policy_explain(const struct policy_set *set, const struct policy_request *request,
                    policy_visit *visit, void *to, struct policy_decision *out)
{
    struct decider decider;
    memset(&decider, 0, sizeof(decider));
    decider.set = set;
    decider.request = request;
    decider.visit = visit;
    decider.to = to;
    decider.is_arn = arn_parts(request->resource, &decider.resource);
    policies_apply(&decider);
    decide(&decider, out);
}

void policy_decide(const struct policy_set *set, const struct policy_request *request,
                   struct policy_decision *out)
{
    policy_explain(set, request, NULL, NULL, out);
}

// ---- In words --------------------------------------------------------------------------------

const char *policy_kind_name(enum policy_kind kind)
{
    static const char *const names[] = {"identity policy", "permissions boundary", "session policy",
                                        "resource policy"};
    return names[kind];
}

// As AWS calls them.
static const char *service_name(enum policy_kind kind)
{
    static const char *const names[] = {"identity-based policy", "permissions boundary",
                                        "session policy", "resource-based policy"};
    return names[kind];
}

void policy_denial(const struct policy_decision *decision, const struct policy_request *request,
                   struct buf *out)
{
    struct slice who = request->principal->arn;
    if (who.len == 0)
        who = SLICE_LIT("anonymous");
    buf_printf(out, "User: %.*s is not authorized to perform: %.*s on resource: %.*s ",
               SLICE_FMT(who), SLICE_FMT(request->action), SLICE_FMT(request->resource));
    const char *name = service_name(decision->kind);
    if (decision->outcome == POLICY_EXPLICIT_DENY)
        buf_printf(out, "with an explicit deny in %s %s",
                   decision->kind == POLICY_IDENTITY ? "an" : "a", name);
    else
        buf_printf(out, "because no %s allows the %.*s action", name, SLICE_FMT(request->action));
}
