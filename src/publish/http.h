// HTTP requests that are on their way at the same time, by libcurl: for webhooks and for AWS's
// services. One thread uses it. Connections are kept; redirects are not followed; link-local and
// metadata addresses are refused whatever a name resolves to.
#ifndef PUBLISH_HTTP_H
#define PUBLISH_HTTP_H

#include "publish/publish.h"

enum { HTTP_ANSWER_MAX = 1 << 20, HTTP_FLIGHTS_MAX = 256, HTTP_HEADERS_MAX = 16 };

struct http;

struct http_answer {
    long status;
    struct slice body; // as much as the plan lets be read
    bool cut;          // there was more
    int64_t retry_after_ms;
    const char *failure;
    bool sent;
};

struct http_plan {
    unsigned flights; // at the same time
    unsigned timeout_ms;
    bool link_local;
    bool once;               // libcurl does not send a request again when a kept connection breaks
    size_t answer_max;       // bytes that are read of an answer; 0: HTTP_ANSWER_MAX
    const char *authorities; // a PEM file of those that are believed; NULL: the system's
    int bell;
    void *context;
    // How a request has ended. status 0: there was no answer, `failure` says why; `sent` tells
    // whether it may have arrived.
    void (*ended)(void *context, void *request, const struct http_answer *answer);
};

MUST_CHECK struct http *http_new(const struct http_plan *plan, char *error, size_t error_size);
void http_free(struct http *http);

size_t http_room(const struct http *http);
// Posts the body, which is borrowed until the end; headers are lines "Name: value", copied. There
// is room for it.
void http_post(struct http *http, const char *url, const char *const *headers, size_t count,
               struct slice body, void *request);
// The same with another method; only POST has a body.
void http_send(struct http *http, const char *method, const char *url, const char *const *headers,
               size_t count, struct slice body, void *request);
// Goes on; waits for news, for the bell, or until the time is over.
void http_wait(struct http *http, int ms);

#endif
