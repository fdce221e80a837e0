// sqs:, sns: and eventbridge: endpoints that speak AWS's protocols, with requests of up to ten
// events that are signed by SigV4. Which of the ten were not taken, the answer says one by one.
//
//   sqs:https://sqs.eu-west-1.amazonaws.com/123456789012/orders       SendMessageBatch
//   sns:arn:aws:sns:eu-west-1:123456789012:orders                     PublishBatch
//   eventbridge:https://events.eu-west-1.amazonaws.com/bus            PutEvents
//
// Names that end in .fifo get the event's group and, as the deduplication id, its id. Credentials
// are those of `key` and `secret`, or the variables DOLMEN_AWS_ACCESS_KEY_ID,
// DOLMEN_AWS_SECRET_ACCESS_KEY and DOLMEN_AWS_SESSION_TOKEN. The region is that of the option, of
// the ARN, or of the host's name.
#include "publish/http.h"

#include "base/arena.h"
#include "base/encode.h"
#include "sign/sign.h"
#include "text/url.h"
#include "json/reader.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BATCH = 10,
    BATCH_BYTES = 256 << 10, // of bodies; a larger event goes alone, and the service may refuse it
    PARALLEL = 16,
    TIMEOUT_S = 15,
    TEXT_MAX = 1024,
    BODY_MAX = 512 << 20,
    REASON_MAX = 240,
};

struct aws_request {
    struct aws_request *free;
    size_t count;
    struct outlet_event *events[BATCH];
    struct buf body;
};

struct aws;

struct service {
    const char *scheme;
    const char *name;   // in the signature
    const char *target; // of the JSON protocols; or NULL
    const char *content_type;
    void (*write)(const struct aws *own, struct aws_request *request);
    // Marks those that were not taken; false if the answer cannot be read.
    bool (*read)(struct aws_request *request, struct slice answer, struct arena *arena,
                 struct outlet_end ends[BATCH]);
};

struct aws {
    struct outlet base; // first
    const struct service *service;
    struct http *http;
    unsigned parallel;
    char url[TEXT_MAX];  // posted to
    char host[TEXT_MAX]; // as in the Host header
    char name[TEXT_MAX]; // of the queue (its URL), the topic (its ARN), the bus
    char region[64];
    bool fifo;
    struct buf access_key, secret_key, token;
    struct aws_request *requests;
    struct aws_request *free;
};

// ---- SQS -------------------------------------------------------------------------------------

static void sqs_write(const struct aws *own, struct aws_request *request)
{
    struct json_writer w = json_writer_to(&request->body);
    char id[24];
    json_open_object(&w);
    json_put_text(&w, "QueueUrl", own->name);
    json_put_array(&w, "Entries");
    for (size_t i = 0; i < request->count; i++) {
        const struct outlet_event *event = request->events[i];
        (void)snprintf(id, sizeof(id), "%zu", i);
        json_open_object(&w);
        json_put_text(&w, "Id", id);
        json_put_string(&w, "MessageBody", event->body);
        if (own->fifo) {
            json_put_string(&w, "MessageGroupId", event->group);
            json_put_string(&w, "MessageDeduplicationId", event->id);
        }
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

static void refuse_entry(struct outlet_end *end, struct slice code, bool fault, struct arena *arena)
{
    struct slice copy = arena_copy(arena, code);
    end->outcome = fault ? OUTLET_REFUSED : OUTLET_FAILED;
    end->reason = copy.ptr == NULL || code.len == 0 ? "refused" : (const char *)copy.ptr;
}

// {"Id": "3", "SenderFault": true, "Code": "…"}
static bool sqs_failed_entry(struct json_reader *r, size_t count, struct arena *arena,
                             struct outlet_end ends[BATCH])
{
    struct slice name;
    struct slice id = slice_of(NULL, 0);
    struct slice code = slice_of(NULL, 0);
    bool fault = false;
    if (!json_enter(r))
        return false;
    while (json_next_name(r, &name)) {
        enum json_kind kind = json_peek(r);
        bool ok = slice_is(name, "Id") && kind == JSON_STRING     ? json_read_string(r, &id)
                  : slice_is(name, "Code") && kind == JSON_STRING ? json_read_string(r, &code)
                                                                  : json_skip(r);
        fault = fault || (slice_is(name, "SenderFault") && kind == JSON_TRUE);
        if (!ok)
            return false;
    }
    if (r->error != NULL || id.len != 1 || id.ptr[0] < '0' || (size_t)(id.ptr[0] - '0') >= count)
        return false;
    refuse_entry(&ends[id.ptr[0] - '0'], code, fault, arena);
    return true;
}

static bool sqs_read(struct aws_request *request, struct slice answer, struct arena *arena,
                     struct outlet_end ends[BATCH])
{
    struct json_reader r;
    struct slice name;
    json_reader_init(&r, answer, arena);
    if (!json_enter(&r))
        return false;
    while (json_next_name(&r, &name)) {
        if (!slice_is(name, "Failed") || json_peek(&r) != JSON_ARRAY) {
            if (!json_skip(&r))
                return false;
            continue;
        }
        if (!json_enter(&r))
            return false;
        while (json_next_element(&r))
            if (!sqs_failed_entry(&r, request->count, arena, ends))
                return false;
    }
    return r.error == NULL;
}

// ---- EventBridge -----------------------------------------------------------------------------

static void bridge_write(const struct aws *own, struct aws_request *request)
{
    struct json_writer w = json_writer_to(&request->body);
    json_open_object(&w);
    json_put_array(&w, "Entries");
    for (size_t i = 0; i < request->count; i++) {
        const struct outlet_event *event = request->events[i];
        json_open_object(&w);
        json_put_text(&w, "Source", "dolmen");
        json_put_string(&w, "DetailType", event->type);
        json_put_string(&w, "Detail", event->body);
        json_put_text(&w, "EventBusName", own->name);
        json_put_time(&w, "Time", event->time_ms);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

// {"EventId": "…"}, or {"ErrorCode": "…"}: in the order of the request.
static bool bridge_entry(struct json_reader *r, struct arena *arena, struct outlet_end *end)
{
    struct slice name;
    struct slice code = slice_of(NULL, 0);
    if (!json_enter(r))
        return false;
    while (json_next_name(r, &name)) {
        bool is = slice_is(name, "ErrorCode") && json_peek(r) == JSON_STRING;
        if (!(is ? json_read_string(r, &code) : json_skip(r)))
            return false;
    }
    if (code.len > 0)
        refuse_entry(end, code, false, arena);
    return r->error == NULL;
}

static bool bridge_read(struct aws_request *request, struct slice answer, struct arena *arena,
                        struct outlet_end ends[BATCH])
{
    struct json_reader r;
    struct slice name;
    size_t at = 0;
    json_reader_init(&r, answer, arena);
    if (!json_enter(&r))
        return false;
    while (json_next_name(&r, &name)) {
        if (!slice_is(name, "Entries") || json_peek(&r) != JSON_ARRAY) {
            if (!json_skip(&r))
                return false;
            continue;
        }
        if (!json_enter(&r))
            return false;
        while (json_next_element(&r))
            if (at == request->count || !bridge_entry(&r, arena, &ends[at++]))
                return false;
    }
    return r.error == NULL && at == request->count;
}

// ---- SNS -------------------------------------------------------------------------------------

static void form_entry(struct buf *out, size_t number, const char *name, struct slice value)
{
    buf_printf(out, "&PublishBatchRequestEntries.member.%zu.%s=", number, name);
    sign_encode(out, value, false);
}

static void sns_write(const struct aws *own, struct aws_request *request)
{
    char id[24];
    buf_text(&request->body, "Action=PublishBatch&Version=2010-03-31&TopicArn=");
    sign_encode(&request->body, slice_str(own->name), false);
    for (size_t i = 0; i < request->count; i++) {
        const struct outlet_event *event = request->events[i];
        (void)snprintf(id, sizeof(id), "%zu", i);
        form_entry(&request->body, i + 1, "Id", slice_str(id));
        form_entry(&request->body, i + 1, "Message", event->body);
        if (own->fifo) {
            form_entry(&request->body, i + 1, "MessageGroupId", event->group);
            form_entry(&request->body, i + 1, "MessageDeduplicationId", event->id);
        }
    }
}

// The text of the first element of that name, in a piece of XML without attributes.
static struct slice element(struct slice xml, const char *name)
{
    char open[32];
    char close[32];
    (void)snprintf(open, sizeof(open), "<%s>", name);
    (void)snprintf(close, sizeof(close), "</%s>", name);
    const uint8_t *from = memmem(xml.ptr, xml.len, open, strlen(open));
    if (from == NULL)
        return slice_of(NULL, 0);
    from += strlen(open);
    const uint8_t *to = memmem(from, xml.len - (size_t)(from - xml.ptr), close, strlen(close));
    return to == NULL ? slice_of(NULL, 0) : slice_of(from, (size_t)(to - from));
}

static bool sns_read(struct aws_request *request, struct slice answer, struct arena *arena,
                     struct outlet_end ends[BATCH])
{
    struct slice failed = element(answer, "Failed");
    struct slice member;
    if (memmem(answer.ptr, answer.len, "<PublishBatchResult", 19) == NULL)
        return false;
    while ((member = element(failed, "member")).len > 0) {
        struct slice id = element(member, "Id");
        if (id.len != 1 || id.ptr[0] < '0' || (size_t)(id.ptr[0] - '0') >= request->count)
            return false;
        refuse_entry(&ends[id.ptr[0] - '0'], element(member, "Code"),
                     slice_is(element(member, "SenderFault"), "true"), arena);
        const uint8_t *next = member.ptr + member.len;
        failed = slice_of(next, failed.len - (size_t)(next - failed.ptr));
    }
    return true;
}

static const struct service services[] = {
    {"sqs:", "sqs", "AmazonSQS.SendMessageBatch", "application/x-amz-json-1.0", sqs_write,
     sqs_read},
    {"sns:", "sns", NULL, "application/x-www-form-urlencoded; charset=utf-8", sns_write, sns_read},
    {"eventbridge:", "events", "AWSEvents.PutEvents", "application/x-amz-json-1.1", bridge_write,
     bridge_read},
};

// ---- Requests --------------------------------------------------------------------------------

static const char *header(struct buf *texts, struct slice name, struct slice value)
{
    size_t at = texts->len;
    buf_printf(texts, "%.*s: %.*s", SLICE_FMT(name), SLICE_FMT(value));
    buf_byte(texts, 0);
    return (const char *)at; // an offset until all are there
}

static void request_send(struct aws *own, struct aws_request *request)
{
    char date[SIGN_DATE];
    char hash[SIGN_HEX];
    struct buf texts;
    struct buf authorization;
    const char *list[HTTP_HEADERS_MAX];
    size_t count = 0;
    struct sign_header headers[6];
    size_t signed_count = 0;
    int64_t now = (int64_t)time(NULL);
    sign_date(now, date);
    sign_payload_hash(buf_view(&request->body), hash);
    headers[signed_count++] =
        (struct sign_header){SLICE_LIT("content-type"), slice_str(own->service->content_type)};
    headers[signed_count++] = (struct sign_header){SLICE_LIT("host"), slice_str(own->host)};
    headers[signed_count++] = (struct sign_header){SLICE_LIT("x-amz-date"), slice_str(date)};
    if (own->token.len > 0)
        headers[signed_count++] =
            (struct sign_header){SLICE_LIT("x-amz-security-token"), buf_view(&own->token)};
    if (own->service->target != NULL)
        headers[signed_count++] =
            (struct sign_header){SLICE_LIT("x-amz-target"), slice_str(own->service->target)};
    struct sign_request signing = {.method = SLICE_LIT("POST"),
                                   .path = SLICE_LIT("/"),
                                   .headers = headers,
                                   .header_count = signed_count};
    struct sign_scope scope = {slice_str(own->region), slice_str(own->service->name), now};
    struct sign_keys keys = {buf_view(&own->access_key), buf_view(&own->secret_key),
                             buf_view(&own->token)};
    buf_init(&texts, 64 << 10);
    buf_init(&authorization, 16 << 10);
    sign_by_header(&signing, &scope, &keys, slice_of(hash, sizeof(hash)), NULL, &authorization);
    for (size_t i = 0; i < signed_count; i++)
        list[count++] = header(&texts, headers[i].name, headers[i].value);
    list[count++] = header(&texts, SLICE_LIT("authorization"), buf_view(&authorization));
    ensure_memory(texts.failed || authorization.failed ? NULL : texts.ptr);
    for (size_t i = 0; i < count; i++)
        list[i] = (const char *)texts.ptr + (uintptr_t)list[i];
    http_post(own->http, own->url, list, count, buf_view(&request->body), request);
    buf_release(&texts);
    buf_release(&authorization);
}

static size_t aws_room(struct outlet *outlet)
{
    struct aws *own = (struct aws *)outlet;
    return http_room(own->http) * BATCH;
}

static void aws_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct aws *own = (struct aws *)outlet;
    struct outlet_end later = {.outcome = OUTLET_UNTRIED, .reason = ""};
    size_t at = 0;
    while (at < count && own->free != NULL) {
        struct aws_request *request = own->free;
        size_t bytes = 0;
        own->free = request->free;
        request->count = 0;
        buf_clear(&request->body);
        do {
            bytes += events[at]->body.len;
            request->events[request->count++] = events[at++];
        } while (at < count && request->count < BATCH && events[at]->together &&
                 request->events[0]->together && bytes + events[at]->body.len <= BATCH_BYTES);
        own->service->write(own, request);
        ensure_memory(request->body.failed ? NULL : request->body.ptr);
        request_send(own, request);
    }
    outlet_end_all(outlet, events + at, count - at, &later);
}

static void answer_read(const struct aws *own, struct aws_request *request,
                        const struct http_answer *answer, struct arena *arena,
                        struct outlet_end ends[BATCH])
{
    static const struct outlet_end unread = {.outcome = OUTLET_FAILED,
                                             .reason = "the answer cannot be read"};
    if (own->service->read(request, answer->body, arena, ends))
        return;
    for (size_t i = 0; i < request->count; i++)
        ends[i] = unread;
}

static void aws_ended(void *context, void *posted, const struct http_answer *answer)
{
    struct aws *own = context;
    struct aws_request *request = posted;
    struct arena arena;
    char reason[REASON_MAX];
    struct outlet_end ends[BATCH] = {{.outcome = OUTLET_DELIVERED, .reason = ""}};
    struct outlet_end all;
    arena_init(&arena, 4 << 20);
    if (answer->status != 0)
        all = http_outcome(answer->status, answer->retry_after_ms, reason, sizeof(reason));
    else
        all = (struct outlet_end){.outcome = answer->sent ? OUTLET_FAILED : OUTLET_AWAY,
                                  .reason = answer->failure};
    if (all.outcome == OUTLET_GONE)
        all.outcome = OUTLET_REFUSED;
    all.shared = all.outcome != OUTLET_DELIVERED && request->count > 1;
    for (size_t i = 0; i < request->count; i++)
        ends[i] = all;
    if (all.outcome == OUTLET_DELIVERED)
        answer_read(own, request, answer, &arena, ends);
    request->free = own->free;
    own->free = request;
    for (size_t i = 0; i < request->count; i++)
        own->base.owner.ended(own->base.owner.context, request->events[i], &ends[i]);
    arena_release(&arena);
}

static void aws_wait(struct outlet *outlet, int ms)
{
    http_wait(((struct aws *)outlet)->http, ms);
}

// ---- Beginning and end -----------------------------------------------------------------------

static void secret_release(struct buf *secret)
{
    if (secret->ptr != NULL)
        explicit_bzero(secret->ptr, secret->len);
    buf_release(secret);
}

static void aws_close(struct outlet *outlet)
{
    struct aws *own = (struct aws *)outlet;
    if (own->http != NULL)
        http_free(own->http);
    for (size_t i = 0; own->requests != NULL && i < own->parallel; i++)
        buf_release(&own->requests[i].body);
    secret_release(&own->access_key);
    secret_release(&own->secret_key);
    secret_release(&own->token);
    free(own->requests);
    free(own);
}

static const struct outlet_ops aws_ops = {
    .room = aws_room, .send = aws_send, .wait = aws_wait, .close = aws_close};

// What an option names, else a variable that AWS's own tools would call so without the DOLMEN_.
static bool credential(const struct outlet_request *request, const char *option,
                       const char *variable, bool needed, struct buf *out)
{
    const struct outlet_option *given = outlet_option(request->spec, option);
    struct outlet_option usual = {.source = SLICE_LIT("env"), .value = slice_str(variable)};
    if (given == NULL && !needed && getenv(variable) == NULL)
        return true;
    return outlet_secret(request, given != NULL ? given : &usual, out);
}

static bool copy_text(const struct outlet_request *request, char *out, size_t size,
                      struct slice text)
{
    if (text.len == 0 || text.len >= size)
        return outlet_refuse(request, "\"%.*s\" is not a target that can be published to",
                             SLICE_FMT(request->spec->url)) != NULL;
    memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
    return true;
}

// "https://host[:port]" and what is behind the slash.
static bool url_split(const struct outlet_request *request, struct slice url, struct slice *origin,
                      struct slice *host, struct slice *path)
{
    struct slice scheme = slice_begins(url, SLICE_LIT("https://"))  ? SLICE_LIT("https://")
                          : slice_begins(url, SLICE_LIT("http://")) ? SLICE_LIT("http://")
                                                                    : slice_of(NULL, 0);
    struct slice rest = slice_of(url.ptr + scheme.len, url.len - scheme.len);
    *host = slice_cut(&rest, '/');
    *path = rest;
    *origin = slice_of(url.ptr, scheme.len + host->len);
    struct url_place place;
    const char *wrong = url_http_read(url, &place);
    if (wrong == NULL && host->len > 0 && memchr(host->ptr, '@', host->len) != NULL)
        wrong = "it has a password in it";
    return wrong == NULL ||
           outlet_refuse(request, "\"%.*s\" is not a URL of the form https://host/…: %s",
                         SLICE_FMT(url), wrong) != NULL;
}

// sqs.eu-west-1.amazonaws.com: the second part.
static bool region_choose(struct aws *own, const struct outlet_request *request, struct slice host,
                          struct slice of_arn)
{
    const struct outlet_option *given = outlet_option(request->spec, "region");
    struct slice rest = host;
    (void)slice_cut(&rest, '.');
    struct slice second = slice_cut(&rest, '.');
    bool aws = slice_contains(rest, SLICE_LIT("amazonaws.com"));
    struct slice region = given != NULL    ? given->value
                          : of_arn.len > 0 ? of_arn
                          : aws            ? second
                                           : SLICE_LIT("us-east-1");
    return copy_text(request, own->region, sizeof(own->region), region);
}

static bool address_topic(struct aws *own, const struct outlet_request *request, struct slice arn)
{
    struct slice rest = arn;
    struct slice parts[5];
    const struct outlet_option *endpoint = outlet_option(request->spec, "endpoint");
    struct slice origin;
    struct slice host;
    struct slice path;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        parts[i] = slice_cut(&rest, ':');
    if (!slice_is(parts[0], "arn") || !slice_is(parts[2], "sns") || parts[3].len == 0 ||
        parts[3].len > 32 || rest.len == 0)
        return outlet_refuse(request, "\"%.*s\" is not the ARN of a topic", SLICE_FMT(arn)) != NULL;
    (void)snprintf(own->url, sizeof(own->url), "https://sns.%.*s.amazonaws.com",
                   SLICE_FMT(parts[3]));
    struct slice url = endpoint != NULL ? endpoint->value : slice_str(own->url);
    char full[TEXT_MAX];
    return url_split(request, url, &origin, &host, &path) &&
           copy_text(request, full, sizeof(full) - 1, origin) &&
           copy_text(request, own->host, sizeof(own->host), host) &&
           copy_text(request, own->name, sizeof(own->name), arn) &&
           snprintf(own->url, sizeof(own->url), "%.*s/", (int)(sizeof(own->url) - 2), full) > 0 &&
           region_choose(own, request, host, parts[3]);
}

// A queue is named by its whole URL, a bus by what is behind the slash. Both are posted to "/".
static bool address_url(struct aws *own, const struct outlet_request *request, struct slice url)
{
    struct slice origin;
    struct slice host;
    struct slice path;
    char full[TEXT_MAX];
    bool queue = slice_is(slice_str(own->service->name), "sqs");
    if (!url_split(request, url, &origin, &host, &path))
        return false;
    if (path.len == 0)
        return outlet_refuse(request, "\"%.*s\" names no queue or bus behind the host",
                             SLICE_FMT(url)) != NULL;
    return copy_text(request, full, sizeof(full) - 1, origin) &&
           copy_text(request, own->host, sizeof(own->host), host) &&
           copy_text(request, own->name, sizeof(own->name), queue ? url : path) &&
           snprintf(own->url, sizeof(own->url), "%.*s/", (int)(sizeof(own->url) - 2), full) > 0 &&
           region_choose(own, request, host, slice_of(NULL, 0));
}

static bool configure(struct aws *own, const struct outlet_request *request)
{
    struct slice url = request->spec->url;
    struct slice rest =
        slice_of(url.ptr + strlen(own->service->scheme), url.len - strlen(own->service->scheme));
    unsigned seconds = TIMEOUT_S;
    bool topic = slice_is(slice_str(own->service->name), "sns");
    if (!(topic ? address_topic(own, request, rest) : address_url(own, request, rest)) ||
        !credential(request, "key", "DOLMEN_AWS_ACCESS_KEY_ID", true, &own->access_key) ||
        !credential(request, "secret", "DOLMEN_AWS_SECRET_ACCESS_KEY", true, &own->secret_key) ||
        !credential(request, "token", "DOLMEN_AWS_SESSION_TOKEN", false, &own->token) ||
        !outlet_option_number(request, "parallel", 1, HTTP_FLIGHTS_MAX, &own->parallel) ||
        !outlet_option_number(request, "timeout", 1, 300, &seconds))
        return false;
    own->fifo = slice_ends(slice_str(own->name), SLICE_LIT(".fifo"));
    struct http_plan plan = {.flights = own->parallel,
                             .timeout_ms = seconds * 1000,
                             .link_local = request->publisher->link_local,
                             .bell = request->owner->bell,
                             .context = own,
                             .ended = aws_ended};
    own->http = http_new(&plan, request->error, request->error_size);
    return own->http != NULL;
}

struct outlet *aws_open(const struct outlet_request *request)
{
    struct aws *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &aws_ops, .owner = *request->owner};
    own->parallel = PARALLEL;
    for (size_t i = 0; i < COUNT_OF(services); i++)
        if (slice_begins(request->spec->url, slice_str(services[i].scheme)))
            own->service = &services[i];
    if (!configure(own, request)) {
        aws_close(&own->base);
        return NULL;
    }
    own->requests = memory_zeroed(own->parallel * sizeof(*own->requests));
    for (size_t i = 0; i < own->parallel; i++) {
        buf_init(&own->requests[i].body, BODY_MAX);
        own->requests[i].free = own->free;
        own->free = &own->requests[i];
    }
    return &own->base;
}
