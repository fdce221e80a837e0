// A stream of server-sent events: GET with Accept: text/event-stream, one connection, blocking.
// Whoever reads it comes again after a break, with the id of the last event.
#ifndef CLIENT_EVENTS_H
#define CLIENT_EVENTS_H

#include "client/client.h"

struct client_events;

// Texts are empty where the event has none, and valid until the next one is asked for.
struct client_event {
    struct slice name;
    struct slice data;
    struct slice id;
};

struct client_events_request {
    const char *path;     // begins with a slash and is encoded
    struct slice last_id; // empty at first
    const char *region;
    const struct client_trust *trust; // for https://
    const struct sign_keys *keys;     // whose request it is; NULL: nobody's
};

// NULL if there is no stream: *status is that of the answer, whose body is appended to `answer`; or
// 0 with a sentence in `error`.
MUST_CHECK struct client_events *client_events_open(const char *url,
                                                    const struct client_events_request *request,
                                                    int *status, struct buf *answer, char *error,
                                                    size_t error_size);
void client_events_close(struct client_events *events); // NULL is fine

// Waits for the next event. False once the stream has ended, is broken, or says nothing at all,
// not even a comment, for a minute.
MUST_CHECK bool client_events_next(struct client_events *events, struct client_event *event);

#endif
