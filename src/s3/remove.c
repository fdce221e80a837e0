// See remove.h. The events are those of capture/outbox.c: "objects" has a bucket (or "", the
// store's) and a key for each. They are deleted one by one; the event is delivered with the last.
#include "s3/remove.h"

#include "base/arena.h"
#include "publish/http.h"
#include "s3/s3.h"
#include "json/reader.h"

#include <stdlib.h>

enum { PARALLEL = 16, TIMEOUT_MS = 15000, MEMORY = 4 << 20, REASON_MAX = 64 };

struct removal {
    struct removal *free;
    struct outlet_event *event;
    struct arena arena;
    struct json_reader reader; // inside of the list
};

struct remover {
    struct outlet base; // first
    struct s3_store *store;
    struct http *http;
    struct removal removals[PARALLEL];
    struct removal *free;
};

static void removal_end(struct remover *own, struct removal *removal, struct outlet_end end)
{
    struct outlet_event *event = removal->event;
    arena_reset(&removal->arena);
    removal->free = own->free;
    own->free = removal;
    outlet_end_all(&own->base, &event, 1, &end);
}

// Goes to the list of the event's objects.
static bool list_find(struct removal *removal)
{
    struct slice name;
    json_reader_init(&removal->reader, removal->event->body, &removal->arena);
    if (json_peek(&removal->reader) != JSON_OBJECT || !json_enter(&removal->reader))
        return false;
    while (json_next_name(&removal->reader, &name)) {
        if (slice_is(name, "objects"))
            return json_peek(&removal->reader) == JSON_ARRAY && json_enter(&removal->reader);
        if (!json_skip(&removal->reader))
            return false;
    }
    return false;
}

static bool object_read(struct json_reader *r, struct slice *bucket, struct slice *key)
{
    struct slice name;
    if (json_peek(r) != JSON_OBJECT || !json_enter(r))
        return false;
    while (json_next_name(r, &name)) {
        struct slice *out = slice_is(name, "bucket") ? bucket : key;
        if (json_peek(r) != JSON_STRING || !json_read_string(r, out))
            return false;
    }
    return r->error == NULL && key->len > 0;
}

static void delete_send(struct remover *own, struct removal *removal, struct slice bucket,
                        struct slice key)
{
    const char *list[HTTP_HEADERS_MAX];
    size_t count = 0;
    struct buf url;
    struct buf lines;
    buf_init(&url, 16 << 10);
    buf_init(&lines, 32 << 10);
    s3_head_sign(own->store,
                 &(struct s3_head){.method = SLICE_LIT("DELETE"),
                                   .bucket = bucket,
                                   .key = key,
                                   .payload = SLICE_LIT(SIGN_EMPTY_HASH)},
                 &url, &lines);
    buf_byte(&url, 0);
    ensure_memory(url.failed || lines.failed ? NULL : url.ptr);
    for (const char *line = (const char *)lines.ptr; *line != 0; line += strlen(line) + 1)
        list[count++] = line;
    http_send(own->http, "DELETE", (const char *)url.ptr, list, count, slice_of(NULL, 0), removal);
    buf_release(&url);
    buf_release(&lines);
}

// The next object of the event; or its end.
static void removal_next(struct remover *own, struct removal *removal)
{
    struct slice bucket = slice_of(NULL, 0);
    struct slice key = slice_of(NULL, 0);
    bool more = json_next_element(&removal->reader);
    if (more && object_read(&removal->reader, &bucket, &key))
        delete_send(own, removal, bucket, key);
    else if (more || removal->reader.error != NULL)
        removal_end(
            own, removal,
            (struct outlet_end){.outcome = OUTLET_REFUSED, .reason = "the event cannot be read"});
    else
        removal_end(own, removal, (struct outlet_end){.outcome = OUTLET_DELIVERED, .reason = ""});
}

static void removal_ended(void *context, void *request, const struct http_answer *answer)
{
    struct remover *own = context;
    struct removal *removal = request;
    char reason[REASON_MAX];
    struct outlet_end end;
    if (answer->status == 404 || (answer->status >= 200 && answer->status < 300)) {
        removal_next(own, removal);
        return;
    }
    if (answer->status != 0) {
        end = http_outcome(answer->status, answer->retry_after_ms, reason, sizeof(reason));
        // A store that refuses all of them is to blame, not the object.
        if (end.outcome == OUTLET_REFUSED || end.outcome == OUTLET_GONE)
            end.outcome = OUTLET_FAILED;
    } else {
        end = (struct outlet_end){.outcome = answer->sent ? OUTLET_FAILED : OUTLET_AWAY,
                                  .reason = answer->failure};
    }
    removal_end(own, removal, end);
}

static size_t remover_room(struct outlet *outlet)
{
    return http_room(((struct remover *)outlet)->http);
}

static void remover_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct remover *own = (struct remover *)outlet;
    struct outlet_end later = {.outcome = OUTLET_UNTRIED, .reason = ""};
    size_t at = 0;
    for (; at < count && own->free != NULL; at++) {
        struct removal *removal = own->free;
        own->free = removal->free;
        removal->event = events[at];
        if (list_find(removal))
            removal_next(own, removal);
        else
            removal_end(own, removal,
                        (struct outlet_end){.outcome = OUTLET_REFUSED,
                                            .reason = "the event cannot be read"});
    }
    outlet_end_all(outlet, events + at, count - at, &later);
}

static void remover_wait(struct outlet *outlet, int ms)
{
    http_wait(((struct remover *)outlet)->http, ms);
}

static void remover_close(struct outlet *outlet)
{
    struct remover *own = (struct remover *)outlet;
    if (own->http != NULL)
        http_free(own->http);
    for (size_t i = 0; i < PARALLEL; i++)
        arena_release(&own->removals[i].arena);
    free(own);
}

static const struct outlet_ops remover_ops = {
    .room = remover_room, .send = remover_send, .wait = remover_wait, .close = remover_close};

struct outlet *s3_remove_open(const struct outlet_request *request)
{
    if (request->publisher->s3 == NULL)
        return outlet_refuse(request, "there is no store of objects: start the server with "
                                      "--objects or --s3-bucket");
    struct remover *own = memory_zeroed(sizeof(*own));
    struct http_plan plan = {.flights = PARALLEL,
                             .timeout_ms = TIMEOUT_MS,
                             .link_local = true, // the operator has named it
                             .bell = request->owner->bell,
                             .context = own,
                             .ended = removal_ended};
    own->base = (struct outlet){.ops = &remover_ops, .owner = *request->owner};
    own->store = request->publisher->s3;
    for (size_t i = 0; i < PARALLEL; i++) {
        arena_init(&own->removals[i].arena, MEMORY);
        own->removals[i].free = own->free;
        own->free = &own->removals[i];
    }
    own->http = http_new(&plan, request->error, request->error_size);
    if (own->http != NULL)
        return &own->base;
    remover_close(&own->base);
    return NULL;
}
