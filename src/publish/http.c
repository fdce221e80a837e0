// See http.h.
#include "publish/http.h"

#include "base/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef DOLMEN_HAVE_CURL

struct http *http_new(const struct http_plan *plan, char *error, size_t error_size)
{
    (void)plan;
    (void)snprintf(error, error_size, "this server was built without libcurl");
    return NULL;
}

void http_free(struct http *http)
{
    (void)http;
}

size_t http_room(const struct http *http)
{
    (void)http;
    return 0;
}

void http_post(struct http *http, const char *url, const char *const *headers, size_t count,
               struct slice body, void *request)
{
    (void)http, (void)url, (void)headers, (void)count, (void)body, (void)request;
}

void http_send(struct http *http, const char *method, const char *url, const char *const *headers,
               size_t count, struct slice body, void *request)
{
    (void)http, (void)method, (void)url, (void)headers, (void)count, (void)body, (void)request;
}

void http_wait(struct http *http, int ms)
{
    (void)http, (void)ms;
}

#else

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_multi_init)                                                                             \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_info_read)                                                                        \
    X(curl_multi_cleanup)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

struct curl_library {
    CURL_FUNCTIONS(LIBRARY_POINTER)
};

struct flight {
    struct http *http;
    CURL *easy;
    void *request; // NULL if it is free
    struct curl_slist *headers;
    struct slice unsent; // of the body, with plan.once
    struct buf answer;
    bool cut;       // the answer is longer than its bound: the rest was not read
    bool forbidden; // an address of the host was not to be connected to
    struct flight *free;
};

struct http {
    struct curl_library curl;
    struct http_plan plan;
    CURLM *multi;
    struct flight flights[HTTP_FLIGHTS_MAX];
    struct flight *free;
    size_t busy;
};

// ---- Callbacks -------------------------------------------------------------------------------

// Nobody has to be listened to for longer than the bound.
static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct flight *flight = context;
    size_t len = size * count;
    size_t room = flight->http->plan.answer_max - flight->answer.len;
    buf_add(&flight->answer, bytes, len < room ? len : room);
    flight->cut = len > room;
    return flight->cut ? 0 : len;
}

// Without a way to rewind it, a body is sent once.
static size_t give_body(char *out, size_t size, size_t count, void *context)
{
    struct flight *flight = context;
    size_t len = size * count < flight->unsent.len ? size * count : flight->unsent.len;
    if (len > 0)
        memcpy(out, flight->unsent.ptr, len);
    flight->unsent = slice_of(flight->unsent.ptr + len, flight->unsent.len - len);
    return len;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct flight *flight = context;
    (void)purpose;
    if (!flight->http->plan.link_local && address_forbidden(&address->addr)) {
        flight->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// ---- Beginning and end -----------------------------------------------------------------------

// What is the same for all requests.
static bool flight_init(struct http *http, struct flight *flight)
{
    const struct curl_library *curl = &http->curl;
    CURL *easy = flight->easy = curl->curl_easy_init();
    flight->http = http;
    buf_init(&flight->answer, http->plan.answer_max);
    const char *authorities = http->plan.authorities;
    return easy != NULL && curl->curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)http->plan.timeout_ms) ==
               CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_WRITEDATA, flight) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, flight) == CURLE_OK &&
           (authorities == NULL ||
            curl->curl_easy_setopt(easy, CURLOPT_CAINFO, authorities) == CURLE_OK) &&
           curl->curl_easy_setopt(easy, CURLOPT_USERAGENT, "dolmen/" DOLMEN_VERSION) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_READDATA, flight) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_PRIVATE, flight) == CURLE_OK;
}

struct http *http_new(const struct http_plan *plan, char *error, size_t error_size)
{
    static const char *const names[] = {CURL_FUNCTIONS(LIBRARY_NAME)};
    struct http *http = memory_zeroed(sizeof(*http));
    http->plan = *plan;
    if (http->plan.answer_max == 0)
        http->plan.answer_max = HTTP_ANSWER_MAX;
    if (!library_load("libcurl.so.4", names, COUNT_OF(names), &http->curl, error, error_size)) {
        free(http);
        return NULL;
    }
    bool ok = http->curl.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
              (http->multi = http->curl.curl_multi_init()) != NULL &&
              http->curl.curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                                           (long)plan->flights) == CURLM_OK;
    for (size_t i = 0; ok && i < plan->flights; i++) {
        ok = flight_init(http, &http->flights[i]);
        http->flights[i].free = http->free;
        http->free = &http->flights[i];
    }
    if (ok)
        return http;
    (void)snprintf(error, error_size, "libcurl cannot be used: it is too old, or out of memory");
    http_free(http);
    return NULL;
}

void http_free(struct http *http)
{
    for (size_t i = 0; i < http->plan.flights; i++) {
        struct flight *flight = &http->flights[i];
        if (flight->easy == NULL)
            continue;
        if (flight->request != NULL)
            (void)http->curl.curl_multi_remove_handle(http->multi, flight->easy);
        http->curl.curl_easy_cleanup(flight->easy);
        http->curl.curl_slist_free_all(flight->headers);
        buf_release(&flight->answer);
    }
    if (http->multi != NULL)
        (void)http->curl.curl_multi_cleanup(http->multi);
    free(http);
}

// ---- Requests --------------------------------------------------------------------------------

size_t http_room(const struct http *http)
{
    return http->plan.flights - http->busy;
}

void http_post(struct http *http, const char *url, const char *const *headers, size_t count,
               struct slice body, void *request)
{
    http_send(http, "POST", url, headers, count, body, request);
}

void http_send(struct http *http, const char *method, const char *url, const char *const *headers,
               size_t count, struct slice body, void *request)
{
    const struct curl_library *curl = &http->curl;
    struct flight *flight = http->free;
    ensure(flight != NULL);
    http->free = flight->free;
    http->busy++;
    flight->request = request;
    buf_clear(&flight->answer);
    flight->cut = flight->forbidden = false;
    struct curl_slist *list = curl->curl_slist_append(NULL, "Expect:");
    for (size_t i = 0; i < count; i++)
        list = curl->curl_slist_append(list, headers[i]);
    ensure_memory(list);
    flight->headers = list;
    bool post = strcmp(method, "POST") == 0;
    const char *fields = http->plan.once ? NULL : (const char *)body.ptr;
    flight->unsent = body;
    ensure(
        curl->curl_easy_setopt(flight->easy, CURLOPT_URL, url) == CURLE_OK &&
        curl->curl_easy_setopt(flight->easy, post ? CURLOPT_POST : CURLOPT_HTTPGET, 1L) ==
            CURLE_OK &&
        curl->curl_easy_setopt(flight->easy, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK &&
        curl->curl_easy_setopt(flight->easy, CURLOPT_HTTPHEADER, list) == CURLE_OK &&
        (!post || (curl->curl_easy_setopt(flight->easy, CURLOPT_POSTFIELDS, fields) == CURLE_OK &&
                   curl->curl_easy_setopt(flight->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                          (curl_off_t)body.len) == CURLE_OK)) &&
        curl->curl_multi_add_handle(http->multi, flight->easy) == CURLM_OK);
}

// Frees the flight before the owner is told, who may post again.
static void flight_end(struct http *http, struct flight *flight, CURLcode code)
{
    const struct curl_library *curl = &http->curl;
    struct http_answer answer = {.status = 0};
    curl_off_t retry_after = 0;
    double started = 0;
    void *request = flight->request;
    bool answered = code == CURLE_OK || flight->cut;
    if (answered) {
        (void)curl->curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &answer.status);
        (void)curl->curl_easy_getinfo(flight->easy, CURLINFO_RETRY_AFTER, &retry_after);
    }
    (void)curl->curl_easy_getinfo(flight->easy, CURLINFO_PRETRANSFER_TIME, &started);
    answer.retry_after_ms = retry_after > 3600 ? 3600000 : (int64_t)retry_after * 1000;
    answer.failure = answered            ? ""
                     : flight->forbidden ? ADDRESS_FORBIDDEN
                                         : curl->curl_easy_strerror(code);
    answer.sent = started > 0;
    answer.cut = flight->cut;
    (void)curl->curl_multi_remove_handle(http->multi, flight->easy);
    curl->curl_slist_free_all(flight->headers);
    flight->headers = NULL;
    flight->request = NULL;
    flight->free = http->free;
    http->free = flight;
    http->busy--;
    // The owner may post again, by this flight, so what it is told of must not be in it.
    struct buf body = flight->answer;
    buf_init(&flight->answer, http->plan.answer_max);
    answer.body = buf_view(&body);
    http->plan.ended(http->plan.context, request, &answer);
    buf_release(&body);
}

// Whether something has ended.
static bool go_on(struct http *http)
{
    int left;
    bool any = false;
    const CURLMsg *message;
    (void)http->curl.curl_multi_perform(http->multi, &left);
    while ((message = http->curl.curl_multi_info_read(http->multi, &left)) != NULL) {
        char *flight = NULL;
        CURLcode code = message->data.result;
        (void)http->curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &flight);
        flight_end(http, (struct flight *)(void *)flight, code);
        any = true;
    }
    return any;
}

void http_wait(struct http *http, int ms)
{
    struct curl_waitfd bell = {.fd = http->plan.bell, .events = CURL_WAIT_POLLIN};
    if (go_on(http))
        return;
    (void)http->curl.curl_multi_poll(http->multi, &bell, 1, ms, NULL);
    (void)go_on(http);
}

#endif
