// The life of a request: see s3.h.
#include "objects/s3.h"

#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HEADERS_MAX = 32 << 10, OUT_MAX = 16 << 20, ARENA_MAX = 64 << 20 };

static const struct s3_error_row errors[S3_ERRORS] = {{"", 200, ""},
#define X(id, code, status, message) {code, status, message},
                                                      S3_ERROR_LIST(X)
#undef X
};

const struct s3_error_row *s3_error_row(enum s3_error error)
{
    ensure(error < S3_ERRORS);
    return &errors[error];
}

// ---- Errors
// ----------------------------------------------------------------------------------------

bool s3_fail_about(struct s3 *s3, enum s3_error error, struct slice fault)
{
    if (s3->error == S3_OK) {
        s3->error = error;
        s3->fault = fault;
    }
    return false;
}

bool s3_fail(struct s3 *s3, enum s3_error error)
{
    return s3_fail_about(s3, error, slice_of(NULL, 0));
}

bool s3_fail_file(struct s3 *s3, const char *what)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return s3_fail(s3, S3_NO_ROOM);
    log_error("objects: %s: %s", what, strerror(errno));
    return s3_fail(s3, errno == EMFILE || errno == ENFILE ? S3_SLOW_DOWN : S3_INTERNAL);
}

bool s3_committed(struct s3 *s3, enum meta_end end)
{
    switch (end) {
    case META_DONE:
        return true;
    case META_REFUSED:
        return s3_fail(s3, S3_INTERNAL); // unless the job has said why
    case META_NO_ROOM:
        return s3_fail(s3, S3_NO_ROOM);
    case META_FAILED:
    case META_UNKNOWN:
        break;
    }
    return s3_fail(s3, S3_INTERNAL);
}

// ---- Answers
// ---------------------------------------------------------------------------------------

void s3_add_header(struct s3 *s3, const char *name, struct slice value)
{
    buf_printf(&s3->headers, "%s: ", name);
    buf_slice(&s3->headers, value);
    buf_text(&s3->headers, "\r\n");
}

void s3_add_quoted(struct s3 *s3, const char *name, struct slice value)
{
    buf_printf(&s3->headers, "%s: \"%.*s\"\r\n", name, SLICE_FMT(value));
}

void s3_add_date(struct s3 *s3, const char *name, int64_t ms)
{
    char text[40];
    struct tm utc;
    time_t seconds = (time_t)(ms / 1000);
    (void)gmtime_r(&seconds, &utc);
    size_t len = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    s3_add_header(s3, name, slice_of(text, len));
}

void s3_answer_xml(struct s3 *s3, int status)
{
    s3->status = status;
    s3->type = SLICE_LIT("application/xml");
}

void s3_answer_empty(struct s3 *s3, int status)
{
    s3->status = status;
    buf_clear(&s3->out);
}

// What every answer begins with.
static void headers_begin(struct s3 *s3)
{
    buf_printf(&s3->headers, "x-amz-request-id: %016llX\r\nx-amz-id-2: %016llX\r\n",
               (unsigned long long)s3->id, (unsigned long long)(s3->id * 0x9e3779b97f4a7c15u));
}

static void error_details(struct s3 *s3)
{
    struct buf *out = &s3->out;
    if (s3->fault.len > 0 && s3->error == S3_BUCKET_NAME)
        xml_put(out, "BucketName", s3->fault);
    else if (s3->fault.len > 0)
        xml_put(out, "ArgumentValue", s3->fault);
    if (s3->error == S3_NO_SUCH_BUCKET)
        xml_put(out, "BucketName", s3->bucket);
    if (s3->error == S3_NO_SUCH_KEY)
        xml_put(out, "Key", s3->key);
    if (s3->error == S3_PRECONDITION_FAILED && s3->fault.len == 0)
        xml_put(out, "Condition", SLICE_LIT("If-Match"));
}

static void answer_error(struct s3 *s3)
{
    const struct s3_error_row own = {s3->signature.code, s3->signature.status,
                                     s3->signature.message};
    const struct s3_error_row *row = s3->error == S3_ERRORS ? &own : s3_error_row(s3->error);
    s3->status = row->status;
    buf_clear(&s3->out);
    if (row->status == 304)
        return;
    buf_text(&s3->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>");
    xml_put(&s3->out, "Code", slice_str(row->code));
    xml_put(&s3->out, "Message", slice_str(row->message));
    error_details(s3);
    xml_put(&s3->out, "Resource", s3->request->path);
    buf_printf(&s3->out, "<RequestId>%016llX</RequestId><HostId>%016llX</HostId></Error>",
               (unsigned long long)s3->id, (unsigned long long)(s3->id * 0x9e3779b97f4a7c15u));
    s3->type = SLICE_LIT("application/xml");
}

static void answer(struct s3 *s3)
{
    s3_intake_drop(s3); // nothing is left of it, unless the pool took no work
    if (s3_ok(s3) && (s3->out.failed || s3->headers.failed))
        (void)s3_fail(s3, S3_SLOW_DOWN);
    if (!s3_ok(s3)) {
        s3->sending.on = false;
        answer_error(s3);
    }
    if (s3->sending.on) {
        s3_send_begin(s3);
        return;
    }
    struct slice body = buf_view(&s3->out);
    bool head = slice_is(s3->request->method, "HEAD");
    if (head && s3_ok(s3))
        body = slice_of(body.ptr, (size_t)s3->length);
    else if (head)
        body.len = 0;
    http_respond(s3->exchange, &(struct http_response){.status = s3->status,
                                                       .content_type = s3->type,
                                                       .headers = buf_view(&s3->headers),
                                                       .body = body,
                                                       .plain = head});
}

// ---- Work
// ------------------------------------------------------------------------------------------

static struct s3 *s3_of(const struct http_exchange *exchange)
{
    return exchange->taken;
}

static bool task_run(struct pool_task *task)
{
    struct s3 *s3 = (struct s3 *)(void *)((uint8_t *)task - offsetof(struct s3, task));
    s3->work(s3);
    http_exchange_resume(s3->exchange);
    return true;
}

void s3_do(struct s3 *s3, void (*work)(struct s3 *s3), void (*then)(struct s3 *s3))
{
    s3->work = work;
    s3->then = then;
    s3->task.run = task_run;
    s3->working = true;
    if (pool_submit(s3->objects->pool, &s3->task))
        return;
    s3->working = false;
    (void)s3_fail(s3, S3_SLOW_DOWN);
    then(s3);
}

void objects_resume(struct http_exchange *exchange)
{
    struct s3 *s3 = s3_of(exchange);
    s3->working = false;
    s3->then(s3);
}

// ---- The body
// --------------------------------------------------------------------------------------

static bool content_take(struct s3 *s3, struct slice content)
{
    switch (s3->operation->body) {
    case S3_CONTENT:
        return s3_intake_add(s3, content);
    case S3_FORM:
        return s3_form_feed(s3, content);
    case S3_DOCUMENT:
        buf_slice(&s3->body, content);
        if (s3->body.failed)
            return s3_fail(s3, s3->account.starved ? S3_SLOW_DOWN : S3_TOO_LARGE_BODY);
        return true;
    case S3_NO_BODY:
        break;
    }
    return true;
}

static bool refuse_payload(struct s3 *s3, enum sign_result result)
{
    sign_s3_error(result, &s3->claim, NULL, &s3->signature);
    return s3_fail(s3, S3_ERRORS);
}

static bool part_take(struct s3 *s3)
{
    struct slice rest = s3->part;
    while (rest.len > 0) {
        size_t taken = 0;
        struct slice content = {NULL, 0};
        enum sign_result result = sign_payload_feed(s3->payload, rest, &taken, &content);
        if (result != SIGN_OK)
            return refuse_payload(s3, result);
        if (content.len > 0 && !content_take(s3, content))
            return false;
        rest = slice_of(rest.ptr + taken, rest.len - taken);
    }
    return true;
}

static void finish(struct s3 *s3)
{
    enum sign_result result = s3->ended ? SIGN_OK : sign_payload_end(s3->payload);
    s3->ended = true;
    if (result != SIGN_OK) {
        (void)refuse_payload(s3, result);
        return;
    }
    if (s3->operation->body == S3_DOCUMENT && !s3_document_checksum(s3))
        return;
    s3->operation->run(s3);
}

static void run_more(struct s3 *s3)
{
    s3->more(s3);
    if (!s3_ok(s3))
        s3_intake_drop(s3);
}

static void body_work(struct s3 *s3)
{
    if (part_take(s3) && s3->last)
        finish(s3);
    if (!s3_ok(s3))
        s3_intake_drop(s3);
}

// The operation has run, or a slice of it.
static void ran(struct s3 *s3)
{
    if (s3->more != NULL && s3_ok(s3))
        s3_do(s3, run_more, ran);
    else
        answer(s3);
}

static void body_worked(struct s3 *s3)
{
    if (s3->last || !s3_ok(s3))
        ran(s3);
    else
        http_body_next(s3->exchange);
}

void objects_body(struct http_exchange *exchange, const struct http_part *part)
{
    struct s3 *s3 = s3_of(exchange);
    if (part->problem != NULL) {
        (void)s3_fail(s3, part->problem->status == 408   ? S3_REQUEST_TIMEOUT
                          : part->problem->status == 503 ? S3_SLOW_DOWN
                                                         : S3_INCOMPLETE_BODY);
        s3_do(s3, s3_intake_drop, answer);
        return;
    }
    s3->part = part->bytes;
    s3->last = part->last;
    atomic_fetch_add_explicit(&s3->objects->received, part->bytes.len, memory_order_relaxed);
    s3_do(s3, body_work, body_worked);
}

// ---- From begin to sent
// ----------------------------------------------------------------------------

// What is judged before the body is asked for.
static void judge(struct s3 *s3)
{
    const struct s3_operation *operation = s3->operation;
    if (operation->bucket && !s3_find_bucket(s3, s3->bucket))
        return;
    s3_apply_cors(s3);
    if (!s3_ok(s3) || !s3_refuse_unsupported(s3))
        return;
    if (operation->body == S3_CONTENT && !s3_prepare_content(s3))
        return;
    if (operation->body == S3_FORM && !s3_form_begin(s3))
        return;
    if (!s3->body_wanted)
        finish(s3);
}

static void prepare(struct s3 *s3)
{
    judge(s3);
    if (!s3_ok(s3))
        s3_intake_drop(s3);
}

static void prepared(struct s3 *s3)
{
    if (s3->body_wanted && s3_ok(s3))
        http_body_next(s3->exchange);
    else
        ran(s3);
}

// A read whose object and file are in memory is done at once. False if it would have to wait: then
// it is as if nothing had happened.
static bool hurry(struct s3 *s3)
{
    size_t headers = s3->headers.len;
    if (s3->operation->run != s3_get_object || s3->body_wanted)
        return false;
    s3->hurried = true;
    store_wait_for_disk(false);
    prepare(s3);
    store_wait_for_disk(true);
    s3->hurried = false;
    if (!s3->cold)
        return true;
    s3->error = S3_OK;
    s3->fault = slice_of(NULL, 0);
    s3->sending = (struct s3_sending){.fd = -1};
    s3->headers.len = headers;
    return false;
}

static struct s3 *s3_new(struct objects *objects, struct http_exchange *exchange)
{
    struct s3 *s3 = calloc(1, sizeof(*s3));
    if (s3 == NULL)
        return NULL;
    s3->objects = objects;
    s3->exchange = exchange;
    s3->request = &exchange->request;
    s3->id = atomic_fetch_add(&objects->next_id, 1);
    s3->account = (struct budget_account){.budget = objects->budget};
    s3->sending.fd = -1;
    arena_init_counted(&s3->arena, ARENA_MAX, &s3->account, BUDGET_CALLS);
    buf_init_counted(&s3->body, LIMIT_OBJECT_DOCUMENT, &s3->account, BUDGET_BODIES);
    buf_init(&s3->headers, HEADERS_MAX);
    buf_init_counted(&s3->out, OUT_MAX, &s3->account, BUDGET_ANSWERS);
    return s3;
}

void objects_begin(struct objects *objects, struct http_exchange *exchange, bool foreign)
{
    struct s3 *s3 = s3_new(objects, exchange);
    exchange->taken = s3;
    if (s3 == NULL) {
        http_respond(exchange, &(struct http_response){.status = 503});
        return;
    }
    s3->foreign = foreign;
    headers_begin(s3);
    if (!s3_read_request(s3) || !s3_authenticate(s3) || !s3_authorize(s3)) {
        answer(s3);
        return;
    }
    s3->body_wanted = http_has_body(s3->request) && s3->operation->body != S3_NO_BODY;
    if (!s3->body_wanted && http_has_body(s3->request) &&
        s3->claim.payload != SIGN_PAYLOAD_UNSIGNED)
        s3->body_wanted = true; // nobody reads it, but it is signed
    if (hurry(s3))
        prepared(s3);
    else
        s3_do(s3, prepare, prepared);
}

void objects_gone(struct http_exchange *exchange)
{
    struct s3 *s3 = s3_of(exchange);
    if (s3 == NULL)
        return;
    s3->lost = true;
    if (s3->sending.on && !s3->working)
        http_stream_abort(exchange);
}

void objects_drained(struct http_exchange *exchange)
{
    s3_send_drained(s3_of(exchange));
}

static void count(struct s3 *s3)
{
    struct objects *objects = s3->objects;
    size_t row =
        s3->operation == NULL ? OBJECTS_OPERATIONS - 1 : (size_t)(s3->operation - s3_operations);
    unsigned class = s3->status < 300 ? 0 : s3->status < 400 ? 1 : s3->status < 500 ? 2 : 3;
    atomic_fetch_add_explicit(&objects->requests[row][class], 1, memory_order_relaxed);
}

void objects_account(const struct http_exchange *exchange, struct objects_account *out)
{
    const struct s3 *s3 = s3_of(exchange);
    *out = (struct objects_account){.operation = "", .status = 503};
    if (s3 == NULL)
        return;
    *out = (struct objects_account){
        .operation = s3->operation == NULL ? "" : s3->operation->name,
        .status = s3->status,
        .error = s3->error == S3_OK       ? NULL
                 : s3->error == S3_ERRORS ? s3->signature.code
                                          : s3_error_row(s3->error)->code,
        .bytes_in = s3->request->length,
        .bytes_out = s3->sending.on ? s3->length : s3->out.len,
    };
}

void objects_sent(struct http_exchange *exchange)
{
    struct s3 *s3 = s3_of(exchange);
    if (s3 == NULL)
        return;
    exchange->taken = NULL;
    count(s3);
    if (s3->sending.fd >= 0)
        (void)close(s3->sending.fd);
    if (s3->pinned)
        blob_unpin(s3->objects->blobs, &s3->pin);
    identity_guest_leave(&s3->guest);
    s3_form_release(s3);
    buf_release(&s3->body);
    buf_release(&s3->headers);
    buf_release(&s3->out);
    arena_release(&s3->arena);
    free(s3);
}
