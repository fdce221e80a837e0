// Who asks: authentication of a session's request, and what follows from it for the call.
#include "server/dynamo_internal.h"

#include "base/limits.h"
#include "base/log.h"

#include <stdlib.h>

enum { LOG_PER_SECOND = 5 };

// ---- The desk ----------------------------------------------------------------------------------

void auth_desk_open(struct auth_desk *desk, struct identity *identity, unsigned loops)
{
    if (identity == NULL)
        return;
    desk->loops = loops;
    desk->seats = calloc(loops, sizeof(struct identity_seat *));
    ensure_memory(desk->seats);
    for (unsigned i = 0; i < loops; i++)
        desk->seats[i] = identity_seat_new(identity);
}

void auth_desk_close(struct auth_desk *desk)
{
    for (unsigned i = 0; i < desk->loops; i++)
        identity_seat_free(desk->seats[i]);
    free(desk->seats);
    desk->seats = NULL;
    desk->loops = 0;
}

static const enum error_code counted[AUTH_FAILURES] = {
    ERR_MISSING_AUTH,        ERR_INCOMPLETE_SIGNATURE, ERR_INVALID_SIGNATURE,
    ERR_UNRECOGNIZED_CLIENT, ERR_EXPIRED_TOKEN,        ERR_ACCESS_DENIED};

void auth_desk_metrics(const struct auth_desk *desk, struct buf *out)
{
    if (desk->mode == AUTH_OFF)
        return;
    buf_text(out, "# HELP dolmen_auth_failures_total Requests whose signature was not accepted\n"
                  "# TYPE dolmen_auth_failures_total counter\n");
    for (size_t i = 0; i < AUTH_FAILURES; i++)
        buf_printf(
            out, "dolmen_auth_failures_total{reason=\"%s\"} %llu\n", error_row(counted[i])->name,
            (unsigned long long)atomic_load_explicit(&desk->failures[i], memory_order_relaxed));
    metrics_value(out, "auth_warned_total", "counter",
                  "Of them, those that were served all the same (--auth warn)",
                  atomic_load_explicit(&desk->warned, memory_order_relaxed));
}

// ---- Failures ----------------------------------------------------------------------------------

// At most a few lines a second, so that nobody fills the disk by asking.
static bool log_allowed(struct auth_desk *desk, int64_t now_s)
{
    int64_t second = atomic_load_explicit(&desk->log_second, memory_order_relaxed);
    if (second != now_s && atomic_compare_exchange_strong(&desk->log_second, &second, now_s))
        atomic_store_explicit(&desk->log_lines, 0, memory_order_relaxed);
    return atomic_fetch_add_explicit(&desk->log_lines, 1, memory_order_relaxed) < LOG_PER_SECOND;
}

void session_auth_failed(struct session *session, struct slice access_key)
{
    struct auth_desk *desk = &session->dynamo->auth;
    const struct error *refusal = &session->refusal;
    for (size_t i = 0; i < AUTH_FAILURES; i++) {
        if (counted[i] == refusal->code)
            atomic_fetch_add_explicit(&desk->failures[i], 1, memory_order_relaxed);
    }
    session_unsigned(session, access_key);
    if (desk->mode != AUTH_WARN)
        return;
    session_would_refuse(session, refusal->message);
    atomic_fetch_add_explicit(&desk->warned, 1, memory_order_relaxed);
    size_t first_line = strcspn(refusal->message, "\r\n");
    session->would = arena_copy(&session->who_arena, slice_of(refusal->message, first_line));
    if (log_allowed(desk, env_now(&session->dynamo->env) / 1000))
        log_warn("auth: a request of %s with the key '%.*s' would be refused: %s: %.*s",
                 session->peer.address, (int)(access_key.len < 128 ? access_key.len : 128),
                 (const char *)access_key.ptr, error_row(refusal->code)->name, (int)first_line,
                 refusal->message);
}

// ---- Who asks ----------------------------------------------------------------------------------

static struct slice header_text(const struct http_request *request, struct slice name)
{
    const struct slice *value = http_header_find(request, name);
    return value == NULL ? slice_of(NULL, 0) : *value;
}

static void region_own(struct session *session)
{
    struct slice own = session->dynamo->auth.region;
    ensure(own.len <= AUTH_REGION_MAX);
    memcpy(session->region, own.ptr, own.len);
    session->region[own.len] = 0;
}

// Notes the caller: policies decide by it, and its tenant binds the call. They never see a region
// that the client has chosen.
static bool accept_caller(struct session *session)
{
    region_own(session);
    const struct http_request *request = &session->exchange->request;
    struct caller *caller = &session->guest.caller;
    struct api_call *call = &session->call;
    caller->address = slice_str(session->peer.address);
    caller->agent = header_text(request, SLICE_LIT("user-agent"));
    caller->referer = header_text(request, SLICE_LIT("referer"));
    caller->secure = http_exchange_secure(session->exchange);
    caller->warn = session->dynamo->auth.mode == AUTH_WARN;
    if (caller->bound && call->bound && !slice_equal(caller->tenant, call->tenant))
        return error_set(&session->refusal, ERR_ACCESS_DENIED,
                         "The request is for another tenant than its credentials are");
    if (caller->bound) {
        call->tenant = caller->tenant;
        call->bound = true;
    }
    call->caller = caller;
    call->principal = caller->principal.arn;
    return true;
}

// A request without a signature is that of the user whose certificate the connection has.
static bool identify_certificate(struct session *session, struct identity_seat *seat)
{
    const struct http_certificate *certificate = http_exchange_certificate(session->exchange);
    if (certificate == NULL || auth_claimed(&session->exchange->request))
        return false;
    identity_guest_leave(&session->guest);
    identity_seat_certificate(seat, slice_str(certificate->fingerprint),
                              slice_str(certificate->common_name), &session->guest);
    return session->guest.known;
}

static bool identify(struct session *session, struct slice service, struct auth_claim *claim)
{
    const struct http_request *request = &session->exchange->request;
    struct dynamo *dynamo = session->dynamo;
    struct identity_seat *seat = dynamo->auth.seats[http_exchange_loop(session->exchange)];
    // Clients of STS, which has no resources in regions, may sign for that of its global endpoint.
    bool anywhere = slice_is(service, "sts");
    const struct auth_rules rules = {.service = service,
                                     .region = anywhere ? slice_of(NULL, 0) : dynamo->auth.region,
                                     .now_s = env_now(&dynamo->env) / 1000,
                                     .skew_s = dynamo->auth.skew_s};
    if (identify_certificate(session, seat))
        return accept_caller(session);
    if (!auth_read(request, &rules, claim, &session->refusal) ||
        !session_unlocked(session, claim->claim.access_key))
        return false;
    identity_guest_leave(&session->guest);
    identity_seat_look(seat, claim->claim.access_key, claim->claim.token,
                       api_clock_now(dynamo->api) / 1000, &session->who_arena, &session->guest);
    if (!auth_verify(claim, &session->guest, request->body, identity_seat_cache(seat),
                     &session->refusal))
        return false;
    return accept_caller(session);
}

static bool authenticate(struct session *session, struct slice service, bool always)
{
    const struct http_request *request = &session->exchange->request;
    enum auth_mode mode = session->dynamo->auth.mode;
    struct auth_claim claim = {.claim = {.access_key = {NULL, 0}}};
    error_init(&session->refusal, &session->who_arena);
    region_own(session);
    // What is not well-formed was never served, and is not when others are only warned.
    if (mode != AUTH_ENFORCE && always && !auth_check(request, session->region, &session->refusal))
        return false;
    if (mode == AUTH_OFF || identify(session, service, &claim)) {
        session_signed(session, claim.claim.access_key);
        return session_within_rate(session);
    }
    session_auth_failed(session, claim.claim.access_key);
    return mode == AUTH_WARN && session_within_rate(session);
}

bool session_authenticate(struct session *session, struct slice service, bool always)
{
    bool passed = authenticate(session, service, always);
    session->call.region = slice_str(session->region);
    return passed;
}

void session_auth_end(struct session *session)
{
    if (session->guest.lease != NULL)
        identity_guest_leave(&session->guest);
    session->call.caller = NULL;
    session->would = slice_of(NULL, 0);
    arena_reset(&session->who_arena);
}
