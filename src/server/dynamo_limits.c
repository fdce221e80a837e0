// Who guesses, and who asks too often: limits.h at work on sessions.
#include "server/dynamo_internal.h"

// Of a user or role: "100/s" or "600/m", instead of --rate-limit.
#define RATE_TAG "dolmen:rate"

static uint32_t seconds(const struct session *session)
{
    return (uint32_t)((session->begun_ns - session->dynamo->started_ns) / 1000000000u);
}

static struct limits_origin origin_of(const struct session *session, struct slice access_key)
{
    // Many clients share the address of a proxy.
    return limits_origin(session->dynamo->limits, session->peer.address, session->trusted,
                         access_key);
}

static bool locks(const struct session *session)
{
    const struct dynamo *dynamo = session->dynamo;
    return dynamo->limits != NULL && dynamo->lockout && dynamo->auth.mode == AUTH_ENFORCE;
}

bool session_unlocked(struct session *session, struct slice access_key)
{
    if (!locks(session))
        return true;
    session->origin = origin_of(session, access_key);
    unsigned wait = limits_locked(session->dynamo->limits, session->origin, seconds(session));
    return wait == 0 ||
           error_set(&session->refusal, ERR_THROTTLING,
                     "Too many requests with a wrong signature came from this address. Try again "
                     "in %u second%s",
                     wait, wait == 1 ? "" : "s");
}

void session_signed(struct session *session, struct slice access_key)
{
    if (locks(session) && access_key.len > 0)
        limits_succeeded(session->dynamo->limits, session->origin, seconds(session));
}

void session_unsigned(struct session *session, struct slice access_key)
{
    enum error_code code = session->refusal.code;
    if (locks(session) && (code == ERR_INVALID_SIGNATURE || code == ERR_UNRECOGNIZED_CLIENT))
        limits_failed(session->dynamo->limits, origin_of(session, access_key), seconds(session));
}

// All sessions of a role are one: whoever may assume it could have any number of them.
static struct slice identity_of(const struct session *session)
{
    const struct caller *caller = session->call.caller;
    if (caller != NULL && caller->principal.identity.len > 0)
        return caller->principal.identity;
    if (caller != NULL)
        return caller->principal.arn;
    struct slice key = session->call.principal;
    return key.len > 0 ? key : slice_str(session->peer.address);
}

bool session_within_rate(struct session *session)
{
    const struct dynamo *dynamo = session->dynamo;
    const struct caller *caller = session->call.caller;
    struct limits_rate rate = dynamo->rate;
    struct slice tag;
    uint64_t wait;
    if (caller != NULL && caller->tag_count > 0 && caller_tag(caller, SLICE_LIT(RATE_TAG), &tag))
        DISREGARD(limits_rate_parse(tag, &rate)); // what is no rate changes nothing
    return limits_admit(dynamo->limits, identity_of(session), rate, session->begun_ns, &wait) ||
           error_set(&session->refusal, ERR_THROTTLING,
                     "Rate of requests exceeds the allowed throughput.");
}
