// http: and https: each event is a POST of its JSON, or of an array of events with `batch N`.
//
//   x-dolmen-event-id, x-dolmen-event-type, x-dolmen-attempt (of a single event), x-dolmen-events
//   x-dolmen-signature: t=<seconds>,v1=<hex of HMAC-SHA256(secret, "<seconds>.<body>")>
//
// with one v1 for each secret: during a rotation there are two. Secrets in files are read again
// when they were last read some seconds ago, so that they can be changed while the server runs.
//
// 2xx is delivered; 408, 429, 503 and no connection: later, by Retry-After if there is one; 410:
// the endpoint is gone, and the consumer stops; all else is a failed attempt.
#include "publish/http.h"

#include "base/encode.h"
#include "base/wait.h"
#include "sign/sign.h"
#include "text/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    SECRETS_MAX = 4,
    SECRETS_AGE_MS = 5000,
    URL_MAX = 2048,
    BATCH_MAX = 500,
    BATCH_BYTES = 4 << 20,
    PARALLEL = 32,
    TIMEOUT_S = 15,
    HEADER_MAX = 1024,
    REASON_MAX = 240,
};

struct post {
    struct post *free;
    size_t count;
    struct outlet_event *events[BATCH_MAX];
    struct buf body; // of several events
};

struct webhook {
    struct outlet base; // first
    struct http *http;
    char url[URL_MAX];
    unsigned parallel;
    unsigned batch;
    struct post *posts;
    struct post *free;
    const struct publisher *publisher;
    size_t secret_count;
    struct outlet_option sources[SECRETS_MAX]; // their texts are ours
    struct buf source_texts[SECRETS_MAX];
    struct buf secrets[SECRETS_MAX];
    int64_t secrets_ms; // when they were read
};

// ---- Secrets ---------------------------------------------------------------------------------

static bool secrets_read(struct webhook *own, const struct outlet_request *request)
{
    for (size_t i = 0; i < own->secret_count; i++) {
        struct buf fresh;
        if (!outlet_secret(request, &own->sources[i], &fresh))
            return false;
        buf_release(&own->secrets[i]);
        own->secrets[i] = fresh;
    }
    own->secrets_ms = monotonic_ms();
    return true;
}

// The old ones are used on if the new ones cannot be read.
static void secrets_refresh(struct webhook *own)
{
    char error[REASON_MAX];
    struct outlet_request request = {
        .publisher = own->publisher, .error = error, .error_size = sizeof(error)};
    if (own->secret_count == 0 || monotonic_ms() < own->secrets_ms + SECRETS_AGE_MS)
        return;
    own->secrets_ms = monotonic_ms();
    DISREGARD(secrets_read(own, &request));
}

static bool secrets_find(struct webhook *own, const struct outlet_request *request)
{
    const struct outlet_spec *spec = request->spec;
    for (size_t i = 0; i < spec->option_count; i++) {
        const struct outlet_option *option = &spec->options[i];
        if (!slice_is(option->name, "secret"))
            continue;
        if (own->secret_count == SECRETS_MAX)
            return outlet_refuse(request, "there are more than %d secrets", SECRETS_MAX) != NULL;
        struct buf *texts = &own->source_texts[own->secret_count];
        buf_init(texts, 8192);
        buf_slice(texts, option->source);
        buf_slice(texts, option->value);
        own->sources[own->secret_count++] = (struct outlet_option){
            .source = slice_of(texts->ptr, option->source.len),
            .value = slice_of(texts->ptr + option->source.len, option->value.len)};
    }
    return secrets_read(own, request);
}

// ---- Headers ---------------------------------------------------------------------------------

struct headers {
    size_t count;
    char text[6][HEADER_MAX];
    const char *list[6];
};

// A value of somebody else's has no line breaks in it.
static void header_add(struct headers *headers, const char *name, struct slice value)
{
    char *line = headers->text[headers->count];
    size_t at = (size_t)snprintf(line, HEADER_MAX, "%s: ", name);
    for (size_t i = 0; i < value.len && at < HEADER_MAX - 1; i++)
        line[at++] = value.ptr[i] < 0x20 || value.ptr[i] > 0x7e ? '?' : (char)value.ptr[i];
    line[at] = 0;
    headers->list[headers->count++] = line;
}

static void sign(const struct buf *secret, const char *seconds, struct slice body, char out[65])
{
    uint8_t digest[32];
    char head[32];
    int len = snprintf(head, sizeof(head), "%s.", seconds);
    hmac_sha256(buf_view(secret), slice_of(head, (size_t)len), body, digest);
    hex_text(slice_of(digest, sizeof(digest)), out);
    out[64] = 0;
}

static void add_signature(const struct webhook *own, struct headers *headers, struct slice body)
{
    char seconds[24];
    char value[HEADER_MAX];
    char hex[65];
    if (own->secret_count == 0)
        return;
    (void)snprintf(seconds, sizeof(seconds), "%lld", (long long)time(NULL));
    int len = snprintf(value, sizeof(value), "t=%s", seconds);
    for (size_t i = 0; i < own->secret_count; i++) {
        sign(&own->secrets[i], seconds, body, hex);
        len += snprintf(value + len, sizeof(value) - (size_t)len, ",v1=%s", hex);
    }
    header_add(headers, "x-dolmen-signature", slice_of(value, (size_t)len));
}

static void add_about(const struct webhook *own, const struct post *post, struct headers *headers)
{
    char number[24];
    const struct outlet_event *event = post->events[0];
    header_add(headers, "content-type", SLICE_LIT("application/json"));
    if (own->batch > 1) {
        (void)snprintf(number, sizeof(number), "%zu", post->count);
        header_add(headers, "x-dolmen-events", slice_str(number));
        return;
    }
    (void)snprintf(number, sizeof(number), "%u", event->attempt);
    header_add(headers, "x-dolmen-event-id", event->id);
    header_add(headers, "x-dolmen-event-type", event->type);
    header_add(headers, "x-dolmen-attempt", slice_str(number));
}

// ---- Posts -----------------------------------------------------------------------------------

static struct slice post_body(const struct webhook *own, struct post *post)
{
    if (own->batch <= 1)
        return post->events[0]->body;
    buf_clear(&post->body);
    for (size_t i = 0; i < post->count; i++) {
        buf_byte(&post->body, i == 0 ? '[' : ',');
        buf_slice(&post->body, post->events[i]->body);
    }
    buf_byte(&post->body, ']');
    ensure_memory(post->body.failed ? NULL : post->body.ptr);
    return buf_view(&post->body);
}

static void post_send(struct webhook *own, struct post *post)
{
    struct headers headers = {.count = 0};
    struct slice body = post_body(own, post);
    add_about(own, post, &headers);
    add_signature(own, &headers, body);
    http_post(own->http, own->url, headers.list, headers.count, body, post);
}

static size_t webhook_room(struct outlet *target)
{
    struct webhook *own = (struct webhook *)target;
    return http_room(own->http) * own->batch;
}

// Events that are to go alone do so, as far as there is room: each takes a whole post.
static void webhook_send(struct outlet *target, struct outlet_event *const *events, size_t count)
{
    struct webhook *own = (struct webhook *)target;
    struct outlet_end later = {.outcome = OUTLET_UNTRIED, .reason = ""};
    size_t at = 0;
    secrets_refresh(own);
    while (at < count && own->free != NULL) {
        struct post *post = own->free;
        size_t bytes = 0;
        own->free = post->free;
        post->count = 0;
        do {
            bytes += events[at]->body.len;
            post->events[post->count++] = events[at++];
        } while (at < count && post->count < own->batch && bytes < BATCH_BYTES &&
                 events[at]->together && post->events[0]->together);
        post_send(own, post);
    }
    outlet_end_all(target, events + at, count - at, &later);
}

static void post_ended(void *context, void *request, const struct http_answer *answer)
{
    struct webhook *own = context;
    struct post *post = request;
    char reason[REASON_MAX];
    struct outlet_end end;
    if (answer->status != 0) {
        end = http_outcome(answer->status, answer->retry_after_ms, reason, sizeof(reason));
    } else {
        end = (struct outlet_end){.outcome = answer->sent ? OUTLET_FAILED : OUTLET_AWAY,
                                  .reason = answer->failure};
    }
    end.shared = post->count > 1;
    post->free = own->free;
    own->free = post;
    outlet_end_all(&own->base, post->events, post->count, &end);
}

static void webhook_wait(struct outlet *target, int ms)
{
    http_wait(((struct webhook *)target)->http, ms);
}

// ---- Beginning and end -----------------------------------------------------------------------

static void webhook_close(struct outlet *target)
{
    struct webhook *own = (struct webhook *)target;
    if (own->http != NULL)
        http_free(own->http);
    for (size_t i = 0; own->posts != NULL && i < own->parallel; i++)
        buf_release(&own->posts[i].body);
    for (size_t i = 0; i < own->secret_count; i++) {
        buf_release(&own->source_texts[i]);
        if (own->secrets[i].ptr != NULL)
            explicit_bzero(own->secrets[i].ptr, own->secrets[i].len);
        buf_release(&own->secrets[i]);
    }
    free(own->posts);
    free(own);
}

static const struct outlet_ops webhook_ops = {
    .room = webhook_room, .send = webhook_send, .wait = webhook_wait, .close = webhook_close};

static bool configure(struct webhook *own, const struct outlet_request *request)
{
    unsigned seconds = TIMEOUT_S;
    struct slice url = request->spec->url;
    struct url_place place;
    const char *wrong = url_http_read(url, &place);
    if (wrong != NULL)
        return outlet_refuse(request, "\"%.*s\" cannot be posted to: %s", SLICE_FMT(url), wrong) !=
               NULL;
    if (url.len >= URL_MAX)
        return outlet_refuse(request, "the URL is longer than %d bytes", URL_MAX - 1) != NULL;
    memcpy(own->url, url.ptr, url.len);
    if (!outlet_option_number(request, "parallel", 1, HTTP_FLIGHTS_MAX, &own->parallel) ||
        !outlet_option_number(request, "batch", 1, BATCH_MAX, &own->batch) ||
        !outlet_option_number(request, "timeout", 1, 300, &seconds) || !secrets_find(own, request))
        return false;
    struct http_plan plan = {.flights = own->parallel,
                             .timeout_ms = seconds * 1000,
                             .link_local = request->publisher->link_local,
                             .bell = request->owner->bell,
                             .context = own,
                             .ended = post_ended};
    own->http = http_new(&plan, request->error, request->error_size);
    return own->http != NULL;
}

struct outlet *webhook_open(const struct outlet_request *request)
{
    struct webhook *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &webhook_ops, .owner = *request->owner};
    own->publisher = request->publisher;
    own->parallel = PARALLEL;
    own->batch = 1;
    if (!configure(own, request)) {
        webhook_close(&own->base);
        return NULL;
    }
    own->posts = memory_zeroed(own->parallel * sizeof(*own->posts));
    for (size_t i = 0; i < own->parallel; i++) {
        buf_init(&own->posts[i].body, 2 * (BATCH_BYTES + (64 << 20)));
        own->posts[i].free = own->free;
        own->free = &own->posts[i];
    }
    return &own->base;
}
