// STS: who somebody is, and sessions, which are credentials for a while. A form comes in, XML goes
// out. All that a session is stands in its token (identity/identity.h), so nothing is written here.
//
// What a request says and is not understood is refused, never passed over: most of it (tags, MFA,
// policies) would make the session another one.
#include "server/dynamo_internal.h"

#include "base/limits.h"
#include "base/time_text.h"

#include <openssl/crypto.h>

#define VERSION   "Version=2011-06-15"
#define ROLE_ARN  "arn:aws:iam::" IDENTITY_ACCOUNT ":role/"
#define ROOT_ARN  "arn:aws:iam::" IDENTITY_ACCOUNT ":root"
#define OPERATION "sts:AssumeRole"

enum {
    FORM_MAX = 64 << 10,
    TOKEN_TEXT = 64 << 10,
    DURATION_LEAST = 900,
    DURATION_MOST = 43200, // of a role; a role has a limit of its own below it
    DURATION_ROLE = 3600,  // where none is given, and at most for a role that takes on another
    OWN_DURATION_MOST = 129600,
    OWN_DURATION = 43200,
    NAME_LEAST = 2,
    NAME_MOST = 64,
    ARN_LEAST = 20,
    ARN_MOST = 2048,
    EXTERNAL_MOST = 1224,
};

struct sts {
    struct session *session;
    const struct query_service *service;
    struct arena *arena;
    struct slice form;
    const struct caller *caller; // or NULL
    int64_t now_ms;
    bool answered; // with an error
};

// ---- Errors ------------------------------------------------------------------------------------

static bool fault(struct sts *sts, const char *name, const char *message)
{
    if (!sts->answered)
        session_query_fault(sts->session, sts->service, name, message);
    sts->answered = true;
    return false;
}

static bool invalid(struct sts *sts, const char *message)
{
    return fault(sts, "ValidationError", message);
}

static bool refuse(struct sts *sts, enum error_code code, const char *message)
{
    session_refused(sts->session, code, message);
    if (!sts->answered)
        session_query_error(sts->session, sts->service, code, message);
    sts->answered = true;
    return false;
}

// ---- Parameters --------------------------------------------------------------------------------

static bool listed(struct slice name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (slice_is(name, *names))
            return true;
    }
    return false;
}

// Whether the form says nothing but these.
static bool only(struct sts *sts, const char *const *names)
{
    for (struct slice form = sts->form; form.len > 0;) {
        struct slice value = slice_cut(&form, '&');
        struct slice name = slice_cut(&value, '=');
        if (name.len == 0 || slice_is(name, "Action") || slice_is(name, "Version") ||
            listed(name, names))
            continue;
        bool shown = name.len <= NAME_MOST;
        for (size_t i = 0; i < name.len; i++)
            shown = shown && name.ptr[i] > ' ' && name.ptr[i] < 127;
        char *text = arena_printf(sts->arena, "The parameter %.*s is not supported",
                                  shown ? (int)name.len : 1, shown ? (const char *)name.ptr : "?");
        return invalid(sts, text == NULL ? "A parameter is not supported" : text);
    }
    return true;
}

static bool read_text(struct sts *sts, const char *name, struct slice *out)
{
    return query_value(sts->form, name, sts->arena, out) ||
           invalid(sts, "A parameter cannot be decoded");
}

static bool read_duration(struct sts *sts, int64_t otherwise, int64_t most, int64_t *out)
{
    struct slice text;
    if (!read_text(sts, "DurationSeconds", &text))
        return false;
    bool digits = text.len > 0 && text.len <= 6;
    int64_t seconds = 0;
    for (size_t i = 0; digits && i < text.len; i++) {
        digits = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        seconds = seconds * 10 + (text.ptr[i] - '0');
    }
    *out = text.ptr == NULL ? otherwise : seconds;
    if (text.ptr == NULL || (digits && seconds >= DURATION_LEAST && seconds <= most))
        return true;
    char *why = arena_printf(sts->arena, "DurationSeconds must be a number from %d to %lld",
                             DURATION_LEAST, (long long)most);
    return invalid(sts, why == NULL ? "DurationSeconds is wrong" : why);
}

// ---- Sessions ----------------------------------------------------------------------------------

// Sessions are given to those who are known for certain, whatever is done for others (--auth warn).
static bool known(struct sts *sts)
{
    return sts->caller != NULL || refuse(sts, ERR_ACCESS_DENIED,
                                         "Sessions are given to requests with a valid signature, "
                                         "by a server that verifies them (--auth enforce)");
}

static void put_credentials(struct sts *sts, const struct identity_session *session,
                            struct slice token)
{
    char expires[TIME_TEXT];
    time_text(session->expires_s * 1000, expires);
    buf_text(&sts->session->text, "<Credentials>");
    session_query_element(sts->session, "AccessKeyId", session->key);
    session_query_element(sts->session, "SecretAccessKey", session->secret);
    session_query_element(sts->session, "SessionToken", token);
    session_query_element(sts->session, "Expiration", slice_str(expires));
    buf_text(&sts->session->text, "</Credentials>");
}

// Completes the session, and begins the answer with its credentials.
static bool give(struct sts *sts, const char *action, struct identity_session *session,
                 int64_t seconds)
{
    char key[IDENTITY_ID];
    char secret[IDENTITY_SECRET];
    struct buf token;
    identity_make_id("ASIA", key);
    identity_make_secret(secret);
    session->key = slice_str(key);
    session->secret = slice_str(secret);
    session->issued_s = sts->now_ms / 1000;
    session->expires_s = session->issued_s + seconds;
    buf_init(&token, TOKEN_TEXT);
    bool made = identity_token_make(api_identity(sts->session->dynamo->api), session, sts->arena,
                                    &token, &sts->session->refusal);
    if (made) {
        session_query_begin(sts->session, sts->service, action);
        put_credentials(sts, session, buf_view(&token));
    }
    OPENSSL_cleanse(secret, sizeof(secret));
    buf_release(&token);
    return made || refuse(sts, sts->session->refusal.code, sts->session->refusal.message);
}

// ---- Operations --------------------------------------------------------------------------------

static void get_caller_identity(struct sts *sts)
{
    static const char *const nothing[] = {NULL};
    const struct caller *caller = sts->caller;
    struct slice account = SLICE_LIT(IDENTITY_ACCOUNT);
    if (!only(sts, nothing))
        return;
    // Where signatures are not verified everybody may do everything.
    session_query_begin(sts->session, sts->service, "GetCallerIdentity");
    session_query_element(sts->session, "Arn",
                          caller == NULL ? SLICE_LIT(ROOT_ARN) : caller->principal.arn);
    session_query_element(sts->session, "UserId", caller == NULL ? account : caller->user_id);
    session_query_element(sts->session, "Account", account);
    session_query_end(sts->session, "GetCallerIdentity");
}

static void get_session_token(struct sts *sts)
{
    static const char *const names[] = {"DurationSeconds", NULL};
    const struct caller *caller = sts->caller;
    int64_t seconds;
    if (!known(sts) || !only(sts, names) ||
        !read_duration(sts, OWN_DURATION, OWN_DURATION_MOST, &seconds))
        return;
    if (caller->token_issued_s != 0 || caller->access_key.len == 0) {
        (void)refuse(sts, ERR_ACCESS_DENIED,
                     caller->access_key.len == 0
                         ? "Cannot call GetSessionToken without an access key"
                         : "Cannot call GetSessionToken with session credentials");
        return;
    }
    struct identity_session session = {.user = caller->principal.name, .id = caller->user_id};
    if (give(sts, "GetSessionToken", &session, seconds))
        session_query_end(sts->session, "GetSessionToken");
}

// ---- AssumeRole --------------------------------------------------------------------------------

struct assume {
    struct slice arn;
    struct slice name;
    struct slice policy; // ptr is NULL without one
    struct slice external;
    int64_t seconds;
    bool timed; // they were asked for
};

static bool name_valid(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == 0 || strchr("_+=,.@-", c) == NULL))
            return false;
    }
    return name.len >= NAME_LEAST && name.len <= NAME_MOST;
}

static bool arn_valid(struct slice arn)
{
    for (size_t i = 0; i < arn.len; i++) {
        if (arn.ptr[i] <= ' ' || arn.ptr[i] >= 127)
            return false;
    }
    return arn.len >= ARN_LEAST && arn.len <= ARN_MOST && slice_begins(arn, SLICE_LIT("arn:"));
}

static bool policy_valid(struct sts *sts, struct slice document)
{
    struct policy_fault wrong;
    if (document.ptr == NULL)
        return true;
    if (document.len == 0 || slice_characters(document) > LIMIT_POLICY_SESSION)
        return invalid(sts, "Policy must have 1 to 2048 characters");
    struct policy *policy = policy_compile(document, POLICY_SESSION, NULL, NULL, &wrong);
    policy_release(policy);
    return policy != NULL || fault(sts, "MalformedPolicyDocument", wrong.message);
}

static bool read_assume(struct sts *sts, struct assume *out)
{
    static const char *const names[] = {"RoleArn", "RoleSessionName", "DurationSeconds",
                                        "Policy",  "ExternalId",      NULL};
    struct slice duration;
    if (!only(sts, names) || !read_text(sts, "RoleArn", &out->arn) ||
        !read_text(sts, "RoleSessionName", &out->name) || !read_text(sts, "Policy", &out->policy) ||
        !read_text(sts, "ExternalId", &out->external) ||
        !read_text(sts, "DurationSeconds", &duration) ||
        !read_duration(sts, DURATION_ROLE, DURATION_MOST, &out->seconds))
        return false;
    out->timed = duration.ptr != NULL;
    if (!arn_valid(out->arn))
        return invalid(sts, "RoleArn must be the ARN of a role");
    if (!name_valid(out->name))
        return invalid(sts, "RoleSessionName must have 2 to 64 letters, digits and _+=,.@-");
    if (out->external.len > EXTERNAL_MOST)
        return invalid(sts, "ExternalId must have at most 1224 characters");
    return policy_valid(sts, out->policy);
}

static const struct identity_one *find_role(const struct sts *sts, struct slice arn)
{
    const struct identity_lease *lease = sts->session->guest.lease;
    if (lease == NULL || !slice_begins(arn, SLICE_LIT(ROLE_ARN)))
        return NULL;
    size_t from = arn.len;
    while (arn.ptr[from - 1] != '/')
        from--;
    const struct identity_one *role = identity_find(identity_lease_view(lease), IDENTITY_ROLE,
                                                    slice_of(arn.ptr + from, arn.len - from));
    return role != NULL && role->damage == NULL && slice_equal(role->arn, arn) ? role : NULL;
}

// The condition keys of STS itself.
static void look_up(void *context, const struct policy_key *key, struct policy_values *out)
{
    const struct assume *assume = context;
    const struct slice *value =
        policy_letters_equal(key->name, SLICE_LIT("sts:ExternalId"))        ? &assume->external
        : policy_letters_equal(key->name, SLICE_LIT("sts:RoleSessionName")) ? &assume->name
                                                                            : NULL;
    if (value != NULL && value->len > 0)
        *out = (struct policy_values){value, 1};
}

// The role has to trust the caller, or its account; then what policies say of the caller counts as
// everywhere. Being warned is not enough to be somebody else.
static bool may_assume(struct sts *sts, struct assume *assume, const struct identity_one *role)
{
    struct call_decision *told = &sts->session->call.decision;
    struct policy_decision decision;
    struct caller_request request = {.caller = sts->caller,
                                     .action = SLICE_LIT(OPERATION),
                                     .action_id = POLICY_ACTION_UNKNOWN,
                                     .resource = assume->arn,
                                     .resource_policy = role->compiled,
                                     .region = sts->session->call.region,
                                     .now_ms = sts->now_ms,
                                     .lookup = look_up,
                                     .context = assume};
    caller_decide(&request, &decision);
    bool trusted = caller_trusted(&request);
    *told = (struct call_decision){.asked = true,
                                   .refused = !trusted || decision.outcome != POLICY_ALLOW,
                                   .outcome = decision.outcome,
                                   .reason = trusted ? decision.reason : POLICY_NOT_ALLOWED,
                                   .kind = trusted ? decision.kind : POLICY_RESOURCE,
                                   .action = request.action,
                                   .resource = assume->arn};
    return !told->refused;
}

// Whoever is bound to a tenant stays so.
static bool keeps_tenant(const struct sts *sts, const struct identity_one *role)
{
    const struct api_call *call = &sts->session->call;
    return !call->bound || (role->entity.bound && slice_equal(role->entity.tenant, call->tenant));
}

static bool read_seconds(struct sts *sts, const struct identity_one *role, struct assume *assume)
{
    int64_t most = role->entity.session_s;
    if (sts->caller->principal.kind == PRINCIPAL_SESSION && most > DURATION_ROLE)
        most = DURATION_ROLE;
    if (!assume->timed && assume->seconds > most)
        assume->seconds = most;
    return assume->seconds <= most ||
           invalid(sts, "The requested DurationSeconds exceeds the MaxSessionDuration set for "
                        "this role.");
}

static void assume_role(struct sts *sts)
{
    struct assume assume = {.timed = false};
    struct session *session = sts->session;
    if (!known(sts) || !read_assume(sts, &assume))
        return;
    // One sentence for all of it: it does not tell which roles there are.
    const struct identity_one *role = find_role(sts, assume.arn);
    if (role == NULL || !may_assume(sts, &assume, role) || !keeps_tenant(sts, role)) {
        char *why = arena_printf(
            sts->arena, "User: %.*s is not authorized to perform: " OPERATION " on resource: %.*s",
            SLICE_FMT(sts->caller->principal.arn), SLICE_FMT(assume.arn));
        (void)refuse(sts, ERR_ACCESS_DENIED, why == NULL ? "Access denied" : why);
        return;
    }
    if (!read_seconds(sts, role, &assume))
        return;
    struct identity_session made = {.role = role->entity.name,
                                    .user = sts->caller->principal.name,
                                    .id = role->entity.id,
                                    .name = assume.name,
                                    .source_identity = sts->caller->source_identity};
    if (session->guest.opened != NULL)
        made.user = identity_opened_session(session->guest.opened)->user;
    if (assume.policy.ptr != NULL)
        made.policies[made.policy_count++].name = assume.policy;
    if (!give(sts, "AssumeRole", &made, assume.seconds))
        return;
    buf_printf(&session->text,
               "<AssumedRoleUser><AssumedRoleId>%.*s:%.*s</AssumedRoleId>"
               "<Arn>arn:aws:sts::" IDENTITY_ACCOUNT ":assumed-role/%.*s/%.*s</Arn>"
               "</AssumedRoleUser>",
               SLICE_FMT(made.id), SLICE_FMT(made.name), SLICE_FMT(made.role),
               SLICE_FMT(made.name));
    if (assume.policy.ptr != NULL)
        buf_printf(&session->text, "<PackedPolicySize>%zu</PackedPolicySize>",
                   (slice_characters(assume.policy) * 100 + LIMIT_POLICY_SESSION - 1) /
                       LIMIT_POLICY_SESSION);
    session_query_end(session, "AssumeRole");
}

// ---- Requests ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    void (*run)(struct sts *sts);
} operations[] = {
    {"AssumeRole", assume_role},
    {"GetCallerIdentity", get_caller_identity},
    {"GetSessionToken", get_session_token},
};

static bool is_sts(const struct http_request *request)
{
    const struct slice *type = http_header(request, HTTP_CONTENT_TYPE);
    return slice_is(request->method, "POST") && slice_is(request->path, "/") &&
           http_header(request, HTTP_AMZ_TARGET) == NULL && type != NULL &&
           slice_begins(*type, SLICE_LIT("application/x-www-form-urlencoded")) &&
           slice_contains(request->body, SLICE_LIT(VERSION));
}

static void run(struct sts *sts)
{
    struct slice action;
    if (sts->form.len > FORM_MAX) {
        (void)invalid(sts, "The request is too large");
        return;
    }
    if (!read_text(sts, "Action", &action))
        return;
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (slice_is(action, operations[i].name)) {
            sts->session->operation = slice_str(operations[i].name);
            operations[i].run(sts);
            return;
        }
    }
    (void)fault(sts, "InvalidAction",
                "Of STS there are AssumeRole, GetCallerIdentity and GetSessionToken");
}

bool session_sts(struct session *session)
{
    const struct http_request *request = &session->exchange->request;
    if (!is_sts(request))
        return false;
    struct sts sts = {.session = session,
                      .service = session_query_service("sts"),
                      .arena = &session->who_arena,
                      .form = request->body,
                      .now_ms = api_clock_now(session->dynamo->api)};
    session->called = true;
    if (!session_authenticate(session, SLICE_LIT("sts"), true)) {
        (void)refuse(&sts, session->refusal.code, session->refusal.message);
        return true;
    }
    sts.caller = session->call.caller;
    run(&sts);
    return true;
}
