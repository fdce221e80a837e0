// The bytes of an object, from its blobs to the client, on the loop's thread. Blobs are opened in
// the pool, one after the other.
#include "objects/s3.h"

#include <unistd.h>

static void send_some(struct s3 *s3);

// In the pool: the next blob.
static void open_next(struct s3 *s3)
{
    struct s3_sending *sending = &s3->sending;
    const struct record record = {.blobs = sending->blobs};
    struct blob_id id;
    uint64_t size;
    if (sending->fd >= 0)
        (void)close(sending->fd);
    record_blob(&record, sending->at, &id, &size);
    sending->fd = blob_open(s3->objects->blobs, &id);
    if (sending->fd < 0)
        (void)s3_fail_file(s3, "an object's file cannot be opened");
}

static void opened(struct s3 *s3)
{
    if (s3->lost || !s3_ok(s3) || s3->sending.fd < 0)
        http_stream_abort(s3->exchange);
    else
        send_some(s3);
}

// How much of the blob that is open is to be sent.
static uint64_t of_this_blob(const struct s3_sending *sending)
{
    const struct record record = {.blobs = sending->blobs};
    struct blob_id id;
    uint64_t size;
    record_blob(&record, sending->at, &id, &size);
    uint64_t there = size - sending->from;
    return there < sending->left ? there : sending->left;
}

static void send_some(struct s3 *s3)
{
    struct s3_sending *sending = &s3->sending;
    uint64_t piece = of_this_blob(sending);
    enum http_piece word = http_stream_file(s3->exchange, sending->fd, sending->from, piece);
    atomic_fetch_add_explicit(&s3->objects->sent, piece, memory_order_relaxed);
    sending->left -= piece;
    sending->from = 0;
    sending->at++;
    if (word == HTTP_PIECE_LOST)
        http_stream_abort(s3->exchange);
    else if (sending->left == 0)
        http_stream_end(s3->exchange);
    else if (word == HTTP_PIECE_TAKEN)
        s3_do(s3, open_next, opened);
}

void s3_send_drained(struct s3 *s3)
{
    if (s3->sending.left > 0)
        s3_do(s3, open_next, opened);
}

void s3_send_begin(struct s3 *s3)
{
    struct s3_sending *sending = &s3->sending;
    http_stream_begin(s3->exchange, &(struct http_stream_head){
                                        .status = s3->status,
                                        .content_type = s3->type,
                                        .headers = buf_view(&s3->headers),
                                        .sized = true,
                                        .length = sending->left,
                                    });
    if (s3->lost)
        http_stream_abort(s3->exchange);
    else if (sending->left == 0)
        http_stream_end(s3->exchange);
    else
        send_some(s3);
}
