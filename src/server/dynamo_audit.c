// What the audit log is told of a request: who, from where, what, on which keys, and what decided.
// All of it is there when the answer has been sent, and nothing of it is computed before.
#include "server/dynamo_internal.h"

#include <uv.h>

static enum audit_decision verdict_of(enum error_code code)
{
    switch (code) {
    case ERR_MISSING_AUTH:
    case ERR_INCOMPLETE_SIGNATURE:
    case ERR_INVALID_SIGNATURE:
    case ERR_UNRECOGNIZED_CLIENT:
    case ERR_EXPIRED_TOKEN:
        return AUDIT_UNAUTHENTICATED;
    case ERR_THROTTLING:
        return AUDIT_THROTTLED;
    default:
        return AUDIT_DENIED;
    }
}

void session_refused(struct session *session, enum error_code code, const char *why)
{
    // The first word counts: what is refused later is refused for what was found first.
    if (session->verdict != AUDIT_OPEN)
        return;
    session->verdict = verdict_of(code);
    session->verdict_why = why;
}

void session_would_refuse(struct session *session, const char *why)
{
    session->verdict = AUDIT_WOULD_DENY;
    session->verdict_why = why;
}

bool session_knocks(const struct http_request *request)
{
    return slice_is(request->path, "/health") ||
           (slice_is(request->path, "/") && !slice_is(request->method, "POST"));
}

bool session_audited(struct session *session)
{
    struct audit *audit = session->dynamo->audit;
    if (audit == NULL || session_knocks(&session->exchange->request) ||
        audit_admits(audit, http_exchange_loop(session->exchange)))
        return true;
    session->unaudited = true;
    return false;
}

// Whether an operation, by its name, changes nothing. What is not known to read may write:
// PartiQL's statements do.
static bool only_reads(struct slice operation)
{
    static const char *const reads[] = {"Get",      "BatchGet", "TransactGet", "Query",
                                        "Scan",     "Search",   "Head",        "List",
                                        "Describe", "Diff",     "Verify"};
    // Changes nothing, but gives out credentials.
    if (slice_is(operation, "GetSessionToken"))
        return false;
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        if (slice_begins(operation, slice_str(reads[i])))
            return true;
    }
    return false;
}

static bool reading_method(const struct http_request *request)
{
    return slice_is(request->method, "GET") || slice_is(request->method, "HEAD") ||
           slice_is(request->method, "OPTIONS");
}

static void add(struct session *session, struct audit_entry *entry)
{
    const struct dynamo *dynamo = session->dynamo;
    const struct api_call *call = &session->call;
    const struct caller *caller = call->caller;
    entry->now_ms = env_now(&dynamo->env);
    // What was refused early, and objects, have only what they say of themselves.
    entry->access_key = caller != NULL            ? caller->access_key
                        : call->principal.len > 0 ? call->principal
                                                  : auth_principal(&session->exchange->request);
    if (caller != NULL)
        entry->principal = caller->principal.arn;
    if (call->bound)
        entry->tenant = call->tenant;
    entry->address = slice_str(session->peer.address);
    entry->port = session->peer.port;
    entry->order_ns = uv_hrtime();
    entry->latency_ns = entry->order_ns - session->begun_ns;
    if (session->verdict != AUDIT_OPEN) {
        entry->decision = session->verdict;
        entry->reason = slice_str(session->verdict_why);
    }
    audit_add(dynamo->audit, http_exchange_loop(session->exchange), entry);
}

// What policies said; nothing, if they were not asked.
static void add_decision(struct audit_entry *entry, const struct call_decision *decision, bool warn)
{
    if (!decision->asked)
        return;
    entry->decision = !decision->refused ? AUDIT_ALLOWED : warn ? AUDIT_WOULD_DENY : AUDIT_DENIED;
    entry->action = decision->action;
    entry->resource = decision->resource;
    if (decision->reason != POLICY_BY_ROOT)
        entry->policy = slice_str(policy_kind_name(decision->kind));
    entry->reason = decision->reason == POLICY_BY_ROOT       ? SLICE_LIT("root")
                    : decision->reason == POLICY_NOT_ALLOWED ? SLICE_LIT("no statement allows it")
                                                             : slice_of(NULL, 0);
    entry->sid = decision->sid;
}

// "GET /metrics", for what has no name.
static struct slice name_of(const struct http_request *request, char *out, size_t size)
{
    enum { PATH_SHOWN = 400 };
    int path = request->path.len < PATH_SHOWN ? (int)request->path.len : PATH_SHOWN;
    int method = request->method.len < 20 ? (int)request->method.len : 20;
    int len = snprintf(out, size, "%.*s %.*s", method, (const char *)request->method.ptr, path,
                       (const char *)request->path.ptr);
    return slice_of(out, len < 0 || (size_t)len >= size ? 0 : (size_t)len);
}

void session_audit(struct session *session)
{
    const struct dynamo *dynamo = session->dynamo;
    const struct http_request *request = &session->exchange->request;
    const struct api_call *call = &session->call;
    bool skipped = dynamo->audit == NULL || session->unaudited ||
                   (session->verdict == AUDIT_OPEN && session_knocks(request));
    if (!skipped) {
        char name[512];
        bool data = session->data_called;
        enum error_code code = call->error_code;
        struct audit_entry entry = {
            .request_id = session_request_id(session),
            .operation = session->operation,
            .table = call->usage.table,
            .status = session->status,
            .error = code == ERR_NONE ? slice_of(NULL, 0) : slice_str(error_row(code)->name),
            .notes = data ? session->made.notes : call->notes,
            .note_count = data ? session->made.note_count : call->note_count,
            .decision = call->caller != NULL ? AUDIT_ALLOWED : AUDIT_OPEN,
        };
        entry.writes = data || entry.operation.len == 0 ? !reading_method(request)
                                                        : !only_reads(entry.operation);
        if (entry.operation.len == 0)
            entry.operation = name_of(request, name, sizeof(name));
        add_decision(&entry, data ? &session->made.decision : &call->decision,
                     call->caller != NULL && call->caller->warn);
        add(session, &entry);
    }
    session->verdict = AUDIT_OPEN;
    session->unaudited = false;
}

void session_audit_object(struct session *session, const struct objects_account *account)
{
    const struct http_request *request = &session->exchange->request;
    if (session->dynamo->audit == NULL)
        return;
    struct slice error = account->error == NULL ? slice_of(NULL, 0) : slice_str(account->error);
    bool refused = account->status == 403;
    struct slice operation = slice_str(account->operation);
    char name[512];
    struct audit_entry entry = {
        .operation = operation.len > 0 ? operation : name_of(request, name, sizeof(name)),
        .resource = request->path,
        .status = account->status,
        .error = error,
        .writes = !reading_method(request),
        .decision = !refused                          ? AUDIT_OPEN
                    : slice_is(error, "AccessDenied") ? AUDIT_DENIED
                                                      : AUDIT_UNAUTHENTICATED,
    };
    add(session, &entry);
    session->verdict = AUDIT_OPEN;
}
