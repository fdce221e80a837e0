// AWS's Query protocol: a form comes in, XML goes out (STS, IAM, and CloudWatch's older clients).
#include "server/dynamo_internal.h"

#include "base/encode.h"
#include "base/limits.h"
#include "sign/sign.h"

struct query_service {
    const char *name;  // that requests are signed for
    const char *space; // XML's
};

static const struct query_service services[] = {
    {"monitoring", "http://monitoring.amazonaws.com/doc/2010-08-01/"},
    {"sts", "https://sts.amazonaws.com/doc/2011-06-15/"},
};

const struct query_service *session_query_service(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(services); i++) {
        if (strcmp(services[i].name, name) == 0)
            return &services[i];
    }
    return NULL;
}

// ---- Forms -------------------------------------------------------------------------------------

bool query_value(struct slice form, const char *name, struct arena *arena, struct slice *out)
{
    *out = slice_of(NULL, 0);
    while (form.len > 0) {
        struct slice value = slice_cut(&form, '&');
        if (!slice_is(slice_cut(&value, '='), name))
            continue;
        struct buf plain;
        buf_init(&plain, LIMIT_SIGN_HEAD);
        // A value that is empty is not one that is missing.
        bool fine = sign_decode(&plain, value, true) && utf8_valid(buf_view(&plain));
        if (plain.len == 0)
            *out = SLICE_LIT("");
        else if (fine)
            *out = arena_copy(arena, buf_view(&plain));
        buf_release(&plain);
        return fine && out->ptr != NULL;
    }
    return true;
}

// ---- Answers -----------------------------------------------------------------------------------

static void xml_text(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '<')
            buf_text(out, "&lt;");
        else if (c == '>')
            buf_text(out, "&gt;");
        else if (c == '&')
            buf_text(out, "&amp;");
        else
            buf_byte(out, c < ' ' && c != '\n' && c != '\t' ? '?' : c);
    }
}

// The names that errors have in this protocol, and their status; those that have the same name in
// both are as they are.
static const struct {
    enum error_code code;
    int status;
    const char *name;
} names[] = {
    {ERR_MISSING_AUTH, 403, "MissingAuthenticationToken"},
    {ERR_INCOMPLETE_SIGNATURE, 400, "IncompleteSignature"},
    {ERR_INVALID_SIGNATURE, 403, "SignatureDoesNotMatch"},
    {ERR_UNRECOGNIZED_CLIENT, 403, "InvalidClientTokenId"},
    {ERR_EXPIRED_TOKEN, 403, "ExpiredToken"},
    {ERR_ACCESS_DENIED, 403, "AccessDenied"},
    {ERR_VALIDATION, 400, "ValidationError"},
    {ERR_THROTTLING, 400, "Throttling"},
};

static void respond(struct session *session, int status)
{
    session->status = status;
    session->bytes_out = session->text.len;
    session->counted = true;
    session_respond(session, status, SLICE_LIT("text/xml"), buf_view(&session->text),
                    slice_of(NULL, 0));
}

static void answer_error(struct session *session, const struct query_service *service, int status,
                         const char *name, const char *message)
{
    struct buf *out = &session->text;
    session_headers(session);
    buf_clear(out);
    buf_printf(out, "<ErrorResponse xmlns=\"%s\"><Error><Type>%s</Type><Code>%s</Code><Message>",
               service->space, status < 500 ? "Sender" : "Receiver", name);
    xml_text(out, slice_str(message));
    buf_printf(out, "</Message></Error><RequestId>%.*s</RequestId></ErrorResponse>",
               SLICE_FMT(session_request_id(session)));
    respond(session, status);
}

void session_query_error(struct session *session, const struct query_service *service,
                         enum error_code code, const char *message)
{
    const char *name = error_row(code)->name;
    int status = error_row(code)->status;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (names[i].code == code) {
            name = names[i].name;
            status = names[i].status;
        }
    }
    session->call.error_code = code;
    answer_error(session, service, status, name, message);
}

void session_query_fault(struct session *session, const struct query_service *service,
                         const char *name, const char *message)
{
    session->call.error_code = ERR_VALIDATION;
    answer_error(session, service, 400, name, message);
}

void session_query_begin(struct session *session, const struct query_service *service,
                         const char *action)
{
    session_headers(session);
    buf_clear(&session->text);
    buf_printf(&session->text, "<%sResponse xmlns=\"%s\"><%sResult>", action, service->space,
               action);
}

void session_query_element(struct session *session, const char *name, struct slice value)
{
    buf_printf(&session->text, "<%s>", name);
    xml_text(&session->text, value);
    buf_printf(&session->text, "</%s>", name);
}

void session_query_end(struct session *session, const char *action)
{
    buf_printf(&session->text,
               "</%sResult><ResponseMetadata><RequestId>%.*s</RequestId></ResponseMetadata>"
               "</%sResponse>",
               action, SLICE_FMT(session_request_id(session)), action);
    respond(session, 200);
}
