// See events.h. Bytes come into `raw`, framing is taken away there, and lines are cut off its
// front.
#include "client/events.h"

#include "http/chunked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { READ_BYTES = 64 << 10, HEAD_MAX = 64 << 10, EVENT_MAX = 32 << 20 };

struct client_events {
    struct client_link link;
    bool chunked;
    bool ended; // nothing more comes
    struct http_chunked chunks;
    struct buf raw;  // as it comes
    struct buf text; // without framing
    size_t taken;    // of it, by lines
    struct buf name; // the name of the event in the making
    struct buf data;
    char id[256];
};

// More bytes at the end of `raw`; false at the end.
static bool receive(struct client_events *events)
{
    for (;;) {
        uint8_t *room = buf_reserve(&events->raw, READ_BYTES);
        ssize_t got = room == NULL ? -1 : client_link_receive(&events->link, room, READ_BYTES);
        if (got < 0 && room != NULL && errno == EINTR)
            continue;
        if (got > 0)
            events->raw.len += (size_t)got;
        return got > 0;
    }
}

// Moves what has come from `raw` to `text`.
static bool unframe(struct client_events *events)
{
    size_t used = events->raw.len;
    size_t len = events->raw.len;
    struct http_problem problem;
    if (events->chunked && len > 0) {
        enum http_parse parsed = http_chunked_decode(&events->chunks, UINT64_MAX, events->raw.ptr,
                                                     len, events->raw.ptr, &used, &len, &problem);
        if (parsed == HTTP_BAD)
            return false;
        events->ended = events->ended || parsed == HTTP_DONE;
    }
    if (events->taken > 0) {
        memmove(events->text.ptr, events->text.ptr + events->taken,
                events->text.len - events->taken);
        events->text.len -= events->taken;
        events->taken = 0;
    }
    buf_add(&events->text, events->raw.ptr, len);
    memmove(events->raw.ptr, events->raw.ptr + used, events->raw.len - used);
    events->raw.len -= used;
    return !events->text.failed;
}

// ---- The answer's head -------------------------------------------------------------------------

static bool head_says(struct slice head, const char *name, const char *value)
{
    while (head.len > 0) {
        struct slice line = slice_cut(&head, '\n');
        struct slice word = slice_cut(&line, ':');
        line = slice_trim(line);
        while (slice_ends(line, SLICE_LIT("\r")))
            line.len--;
        if (word.len == strlen(name) && strncasecmp((const char *)word.ptr, name, word.len) == 0 &&
            line.len >= strlen(value) &&
            strncasecmp((const char *)line.ptr, value, strlen(value)) == 0)
            return true;
    }
    return false;
}

// The status; 0 if it is no HTTP answer. What follows the head stays in `raw`.
static int head_read(struct client_events *events, bool *streams)
{
    uint8_t *end = NULL;
    while (end == NULL) {
        if (events->raw.len > HEAD_MAX || !receive(events))
            return 0;
        end = memmem(events->raw.ptr, events->raw.len, "\r\n\r\n", 4);
    }
    struct slice head = slice_of(events->raw.ptr, (size_t)(end - events->raw.ptr));
    if (head.len < 12 || memcmp(head.ptr, "HTTP/1.", 7) != 0)
        return 0;
    int status = (head.ptr[9] - '0') * 100 + (head.ptr[10] - '0') * 10 + (head.ptr[11] - '0');
    events->chunked = head_says(head, "transfer-encoding", "chunked");
    *streams = status == 200 && head_says(head, "content-type", "text/event-stream");
    size_t used = head.len + 4;
    memmove(events->raw.ptr, events->raw.ptr + used, events->raw.len - used);
    events->raw.len -= used;
    return status;
}

// All of an answer that is no stream; the server was asked to close the connection.
static void body_read(struct client_events *events, struct buf *answer)
{
    while (!events->ended && unframe(events) && receive(events))
        continue;
    DISREGARD(unframe(events));
    buf_slice(answer, buf_view(&events->text));
}

static bool ask(struct client_events *events, const struct client_address *address,
                const struct client_events_request *request)
{
    const struct client_signature signature = {
        .keys = request->keys, .region = request->region, .method = "GET", .path = request->path};
    struct buf head;
    buf_init(&head, HEAD_MAX);
    client_head_begin(&head, address, &signature);
    buf_text(&head, "Connection: close\r\nAccept: text/event-stream\r\n"
                    "Cache-Control: no-store\r\n");
    if (request->last_id.len > 0)
        buf_printf(&head, "Last-Event-ID: %.*s\r\n", SLICE_FMT(request->last_id));
    if (request->keys != NULL)
        client_head_sign(&head, address, &signature);
    buf_text(&head, "\r\n");
    bool sent = !head.failed && client_link_send_all(&events->link, buf_view(&head));
    buf_release(&head);
    return sent;
}

struct client_events *client_events_open(const char *url,
                                         const struct client_events_request *request, int *status,
                                         struct buf *answer, char *error, size_t error_size)
{
    struct client_address address;
    bool streams = false;
    *status = 0;
    if (!client_address_parse(url, &address)) {
        (void)snprintf(error, error_size,
                       "'%s' is not a URL of the form http://host:port or https://host:port", url);
        return NULL;
    }
    struct client_events *events = memory_zeroed(sizeof(*events));
    if (!client_link_open(&events->link, &address, request->trust, error, error_size)) {
        free(events);
        return NULL;
    }
    buf_init(&events->raw, EVENT_MAX);
    buf_init(&events->text, EVENT_MAX);
    buf_init(&events->name, HEAD_MAX);
    buf_init(&events->data, EVENT_MAX);
    if (ask(events, &address, request))
        *status = head_read(events, &streams);
    if (streams && unframe(events))
        return events;
    if (*status == 0)
        (void)snprintf(error, error_size, "%s:%s gave no HTTP answer", address.host, address.port);
    else
        body_read(events, answer);
    client_events_close(events);
    return NULL;
}

void client_events_close(struct client_events *events)
{
    if (events == NULL)
        return;
    client_link_close(&events->link);
    buf_release(&events->raw);
    buf_release(&events->text);
    buf_release(&events->name);
    buf_release(&events->data);
    free(events);
}

// ---- Events ------------------------------------------------------------------------------------

// The next line, without its end; false at the end of the stream.
static bool line_next(struct client_events *events, struct slice *line)
{
    for (;;) {
        const uint8_t *from = events->text.ptr + events->taken;
        size_t len = events->text.len - events->taken;
        const uint8_t *end = len == 0 ? NULL : memchr(from, '\n', len);
        if (end != NULL) {
            *line = slice_of(from, (size_t)(end - from));
            events->taken += line->len + 1;
            if (slice_ends(*line, SLICE_LIT("\r")))
                line->len--;
            return true;
        }
        if (events->ended || !receive(events) || !unframe(events))
            return false;
    }
}

static void field_take(struct client_events *events, struct slice line)
{
    struct slice value = line;
    struct slice name = slice_cut(&value, ':');
    if (slice_begins(value, SLICE_LIT(" ")))
        value = slice_of(value.ptr + 1, value.len - 1);
    if (slice_is(name, "event")) {
        buf_clear(&events->name);
        buf_slice(&events->name, value);
    } else if (slice_is(name, "id") && value.len < sizeof(events->id)) {
        (void)snprintf(events->id, sizeof(events->id), "%.*s", SLICE_FMT(value));
    } else if (slice_is(name, "data")) {
        buf_text(&events->data, events->data.len > 0 ? "\n" : "");
        buf_slice(&events->data, value);
    }
}

bool client_events_next(struct client_events *events, struct client_event *event)
{
    struct slice line;
    buf_clear(&events->name);
    buf_clear(&events->data);
    events->id[0] = 0;
    while (line_next(events, &line)) {
        if (line.len > 0) {
            if (line.ptr[0] != ':')
                field_take(events, line);
            continue;
        }
        if (events->data.len == 0)
            continue; // a comment
        *event = (struct client_event){buf_view(&events->name), buf_view(&events->data),
                                       slice_str(events->id)};
        return !events->name.failed && !events->data.failed;
    }
    return false;
}
