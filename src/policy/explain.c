// Decisions for people and for programs: what decided, and why each statement matches or does not.
#include "policy/scenario.h"
#include "json/writer.h"

const char *policy_outcome_name(enum policy_outcome outcome)
{
    static const char *const names[] = {"allow", "implicitDeny", "explicitDeny"};
    return names[outcome];
}

// The members of JSON are named by kind as those of a case are.
static const char *json_kind(enum policy_kind kind)
{
    static const char *const names[] = {"identity", "boundary", "session", "resourcePolicy"};
    return names[kind];
}

static const char *reason_name(enum policy_reason reason)
{
    static const char *const names[] = {"statement", "root", "notAllowed"};
    return names[reason];
}

void scenario_decide(const struct scenario *scenario, struct policy_decision *out)
{
    policy_decide(&scenario->set, &scenario->request, out);
}

// ---- JSON ------------------------------------------------------------------------------------

static struct slice policy_name(const struct scenario *scenario, enum policy_kind kind,
                                size_t policy)
{
    return scenario->policies[kind][policy].name;
}

static void write_decision(const struct scenario *scenario, const struct policy_decision *decision,
                           struct json_writer *w)
{
    json_put_text(w, "decision", policy_outcome_name(decision->outcome));
    json_put_text(w, "reason", reason_name(decision->reason));
    if (decision->reason != POLICY_BY_ROOT)
        json_put_text(w, "kind", json_kind(decision->kind));
    if (decision->reason == POLICY_BY_STATEMENT) {
        json_put_integer(w, "policy", (int64_t)decision->policy);
        json_put_given(w, "file", policy_name(scenario, decision->kind, decision->policy));
        json_put_integer(w, "statement", (int64_t)decision->statement);
        json_put_given(w, "sid", decision->sid);
    }
}

void scenario_brief(const struct scenario *scenario, const struct policy_decision *decision,
                    struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    write_decision(scenario, decision, &w);
    json_close_object(&w);
    buf_byte(out, '\n');
}

// ---- Each statement --------------------------------------------------------------------------

struct teller {
    const struct scenario *scenario;
    struct json_writer w;
    struct buf *out;
    const struct policy *shown; // the policy whose name was written last
};

static const char *miss_name(enum policy_miss miss)
{
    static const char *const names[] = {"", "action", "resource", "principal", "condition"};
    return names[miss];
}

static const char *why_name(enum policy_why why)
{
    static const char *const names[] = {"value", "absent", "many"};
    return names[why];
}

static void finding_json(void *to, const struct policy_finding *finding)
{
    struct teller *teller = to;
    struct json_writer *w = &teller->w;
    json_open_object(w);
    json_put_text(w, "kind", json_kind(finding->kind));
    json_put_integer(w, "policy", (int64_t)finding->policy);
    json_put_given(w, "file", policy_name(teller->scenario, finding->kind, finding->policy));
    json_put_integer(w, "statement", (int64_t)finding->statement);
    json_put_given(w, "sid", policy_sid(finding->document, finding->statement));
    json_put_text(w, "effect",
                  policy_denies(finding->document, finding->statement) ? "Deny" : "Allow");
    json_put_flag(w, "matches", finding->miss == POLICY_MATCHES);
    if (finding->miss != POLICY_MATCHES)
        json_put_text(w, "miss", miss_name(finding->miss));
    if (finding->miss == POLICY_CONDITION) {
        json_put_string(w, "operator", finding->operator_name);
        json_put_string(w, "key", finding->key);
        json_put_text(w, "why", why_name(finding->why));
    }
    json_close_object(w);
}

static void show_policy(struct buf *out, const struct scenario *scenario, enum policy_kind kind,
                        size_t policy)
{
    struct slice name = policy_name(scenario, kind, policy);
    buf_text(out, policy_kind_name(kind));
    if (name.len > 0)
        buf_printf(out, " %.*s", SLICE_FMT(name));
    else if (scenario->counts[kind] > 1)
        buf_printf(out, " %zu", policy);
}

static void show_values(struct buf *out, const struct scenario *scenario, struct slice name)
{
    struct policy_key key = policy_key_find(name);
    struct policy_values values = {0};
    policy_context_lookup((void *)(uintptr_t)&scenario->context, &key, &values);
    for (size_t i = 0; i < values.count && i < 5; i++)
        buf_printf(out, "%s\"%.*s\"", i == 0 ? " (" : ", ", SLICE_FMT(values.list[i]));
    if (values.count > 0)
        buf_text(out, values.count > 5 ? ", …)" : ")");
}

static void show_miss(struct teller *teller, const struct policy_finding *finding)
{
    struct buf *out = teller->out;
    switch (finding->miss) {
    case POLICY_MATCHES:
        buf_text(out, "matches");
        break;
    case POLICY_OTHER_ACTION:
        buf_text(out, "is about other actions");
        break;
    case POLICY_OTHER_RESOURCE:
        buf_text(out, "is about other resources");
        break;
    case POLICY_OTHER_PRINCIPAL:
        buf_text(out, "is about other principals");
        break;
    case POLICY_CONDITION:
        buf_printf(out, "does not match: %.*s ", SLICE_FMT(finding->operator_name));
        if (finding->why == POLICY_ABSENT)
            buf_printf(out, "does not hold, the request has no %.*s", SLICE_FMT(finding->key));
        else if (finding->why == POLICY_MANY)
            buf_printf(out, "takes one value, and %.*s has many: use ForAllValues: or ForAnyValue:",
                       SLICE_FMT(finding->key));
        else
            buf_printf(out, "does not hold for %.*s", SLICE_FMT(finding->key));
        show_values(out, teller->scenario, finding->key);
        break;
    }
}

static void finding_text(void *to, const struct policy_finding *finding)
{
    struct teller *teller = to;
    struct buf *out = teller->out;
    struct slice sid = policy_sid(finding->document, finding->statement);
    if (teller->shown != finding->document) {
        show_policy(out, teller->scenario, finding->kind, finding->policy);
        buf_byte(out, '\n');
        teller->shown = finding->document;
    }
    buf_printf(out, "  statement %zu", finding->statement);
    if (sid.len > 0)
        buf_printf(out, " \"%.*s\"", SLICE_FMT(sid));
    buf_printf(out, " (%s) ",
               policy_denies(finding->document, finding->statement) ? "Deny" : "Allow");
    show_miss(teller, finding);
    buf_byte(out, '\n');
}

// ---- The whole -------------------------------------------------------------------------------

static void show_decision(const struct scenario *scenario, const struct policy_decision *decision,
                          struct buf *out)
{
    buf_text(out, decision->outcome == POLICY_ALLOW ? "allowed" : "denied");
    if (decision->reason == POLICY_BY_STATEMENT) {
        buf_printf(out, " by statement %zu", decision->statement);
        if (decision->sid.len > 0)
            buf_printf(out, " \"%.*s\"", SLICE_FMT(decision->sid));
        buf_text(out, " of ");
        show_policy(out, scenario, decision->kind, decision->policy);
    } else if (decision->reason == POLICY_BY_ROOT) {
        buf_text(out, ": the root of an account may do everything in it");
    } else {
        buf_printf(out, ": no %s allows it", policy_kind_name(decision->kind));
    }
    buf_byte(out, '\n');
    if (decision->outcome != POLICY_ALLOW) {
        policy_denial(decision, &scenario->request, out);
        buf_byte(out, '\n');
    }
}

static void explain_json(const struct scenario *scenario, struct policy_decision *decision,
                         struct buf *out)
{
    struct teller teller = {.scenario = scenario, .w = json_writer_to(out), .out = out};
    json_open_object(&teller.w);
    json_put_array(&teller.w, "statements");
    policy_explain(&scenario->set, &scenario->request, finding_json, &teller, decision);
    json_close_array(&teller.w);
    write_decision(scenario, decision, &teller.w);
    if (decision->outcome != POLICY_ALLOW) {
        struct buf message;
        buf_init(&message, 64 << 10);
        policy_denial(decision, &scenario->request, &message);
        json_put_string(&teller.w, "message", buf_view(&message));
        buf_release(&message);
    }
    json_close_object(&teller.w);
    buf_byte(out, '\n');
}

void scenario_explain(const struct scenario *scenario, bool json, struct policy_decision *decision,
                      struct buf *out)
{
    if (json) {
        explain_json(scenario, decision, out);
        return;
    }
    struct buf statements;
    buf_init(&statements, 16 << 20);
    struct teller teller = {.scenario = scenario, .out = &statements};
    policy_explain(&scenario->set, &scenario->request, finding_text, &teller, decision);
    show_decision(scenario, decision, out);
    if (statements.len > 0)
        buf_byte(out, '\n');
    buf_slice(out, buf_view(&statements));
    buf_release(&statements);
}
