// A thread for what happens later: exchanges that are resumed after a while, and a call once a
// second.
#ifndef SERVER_TICKER_H
#define SERVER_TICKER_H

#include "http/http.h"

struct ticker;

// Embedded in what waits, and untouched by its owner until the exchange is resumed.
struct ticker_delay {
    struct ticker_delay *next;
    struct http_exchange *exchange;
    int64_t due_ns; // by the monotonic clock
};

// `every_second` is called on the ticker's thread.
struct ticker *ticker_start(void (*every_second)(void *context), void *context);

// Calls http_exchange_resume after that time. Any thread.
void ticker_resume_later(struct ticker *ticker, struct ticker_delay *delay,
                         struct http_exchange *exchange, unsigned ms);

// From now on nothing waits: what is waiting is resumed at once, and so is what comes. Before the
// HTTP server stops, which waits for its exchanges.
void ticker_hurry(struct ticker *ticker);
// Ends the thread. Nothing may be waiting any more. NULL is fine.
void ticker_stop(struct ticker *ticker);

#endif
