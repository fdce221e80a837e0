// The body of a request that was taken at its head, part by part.
//
// The head stays at the start of the read buffer, where the request points to; the body goes
// through the room behind it. What the taker has is never moved; what comes meanwhile lands behind
// it, until the buffer is full and reading pauses. When the taker asks for more, what it had goes,
// and what came moves up. So a body costs one buffer, however long it is, and a client that sends
// faster than its bytes are taken is held up by its own socket.
//
// A part is given in a turn of the loop of its own, so that the others get theirs, and so that
// asking for a part in `body` does not nest.
#include "http/http_internal.h"

static const struct http_problem hung_up = {400, "The client hung up before its request ended."};

// There is room for a part that is worth a turn. A short body needs no more than its length.
bool taken_prepare(struct connection *c)
{
    const struct http_request *request = &c->exchange.request;
    size_t wanted = TAKEN_BUFFER;
    if (!request->chunked && request->length < wanted)
        wanted = (size_t)request->length;
    // A record of TLS is of use when it is whole, and may hold more than this body.
    size_t room = READ_ROOM + (c->wire != NULL ? TLS_RECORD : 0);
    wanted += room;
    size_t head = c->body_at - c->begin;
    return !http_has_body(request) || c->cap - c->body_at >= wanted ||
           connection_grow(c, head + wanted) || c->cap - head >= room;
}

void taken_begin(struct connection *c)
{
    struct http_exchange *exchange = &c->exchange;
    exchange->taken = NULL;
    exchange->request.body = (struct slice){NULL, 0};
    c->part = 0;
    c->wanted = false;
    c->continued = false;
    c->body_left = exchange->request.length;
    c->body_over = !http_has_body(&exchange->request);
    c->end = c->body_at;
    c->handled = true;
    atomic_store(&c->gone, false);
    // Who asks for it without a body is told as well: botocore takes an answer that comes instead
    // for that of its next request, too.
    if (exchange->request.expect_continue && c->body_over)
        connection_send_continue(c);
    exchange->taker->begin(exchange, connection_handler(c)->context);
}

static void give(struct connection *c, const struct http_part *part)
{
    c->wanted = false;
    if (c->queued)
        loop_unqueue(c);
    c->exchange.taker->body(&c->exchange, part);
}

void taken_fail(struct connection *c, const struct http_problem *problem)
{
    give(c, &(struct http_part){.problem = problem});
}

// Finds the next part behind the head. HTTP_DONE: it is the last.
static enum http_parse part_find(struct connection *c, struct http_problem *problem)
{
    size_t there = c->len - c->body_at;
    if (!c->exchange.request.chunked) {
        c->part = there < c->body_left ? there : (size_t)c->body_left;
        c->body_left -= c->part;
        c->end = c->body_at + c->part;
        return c->body_left == 0 ? HTTP_DONE : HTTP_MORE;
    }
    size_t consumed;
    uint8_t *raw = c->in + c->body_at;
    enum http_parse result =
        http_chunked_decode(&c->chunks, UINT64_MAX, raw, there, raw, &consumed, &c->part, problem);
    if (result == HTTP_MORE)
        c->len = c->body_at + c->part;
    c->end = result == HTTP_DONE ? c->body_at + consumed : c->len;
    return result;
}

void taken_advance(struct connection *c)
{
    struct http_problem problem;
    if (!c->wanted)
        return;
    enum http_parse result = part_find(c, &problem);
    if (result == HTTP_BAD) {
        taken_fail(c, &problem);
        return;
    }
    c->body_over = result == HTTP_DONE;
    if (c->part > 0 || c->body_over) {
        give(c, &(struct http_part){slice_of(c->in + c->body_at, c->part), c->body_over, NULL});
        return;
    }
    if (!connection_read_on(c))
        taken_fail(c, &hung_up);
}

// What the taker had goes; what came behind it moves up.
static void part_drop(struct connection *c)
{
    size_t end = c->body_at + c->part;
    memmove(c->in + c->body_at, c->in + end, c->len - end);
    c->len -= c->part;
    c->part = 0;
}

void http_body_next(struct http_exchange *exchange)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_HANDLING && c->exchange.taker != NULL);
    ensure(!c->wanted && !c->body_over);
    if (c->part > 0)
        part_drop(c);
    c->wanted = true;
    c->progress = uv_now(&c->loop->uv);
    bool first = !c->continued && c->len == c->body_at;
    if (exchange->request.expect_continue && first)
        connection_send_continue(c);
    c->continued = true;
    // In a turn of its own, if there is something, or the end.
    if (c->len > c->body_at || c->ended || !connection_read_on(c))
        loop_queue(c);
}

void taken_answer(struct connection *c)
{
    ensure(!c->wanted);
    if (c->body_over)
        return;
    size_t there = c->len - c->body_at - c->part;
    if (!c->exchange.request.chunked && there >= c->body_left) {
        c->end = c->body_at + c->part + (size_t)c->body_left;
        return;
    }
    c->close_after = true;
    c->refused = true;
}
