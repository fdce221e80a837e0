// See transport.h. What is waiting stands in three lists: just handed over (under the lock), ready
// to be sent, and delayed until its time.
#include "upstream/transport.h"

#include "base/env.h"
#include "base/log.h"
#include "base/wait.h"
#include "publish/http.h"
#include "sign/credentials.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    FLIGHTS = 128,
    TIMEOUT_MS = 10000, // of one try
    TRIES = 4,
    BACKOFF_MS = 50, // doubled with each try
    BACKOFF_MAX_MS = 2000,
    CREDENTIALS_MS = 60000, // files are read again so often
    URL_MAX = 320,
    HEAD_MAX = 16 << 10,
    ANSWER_MAX = 64 << 20,
};

struct request_list {
    struct transport_request *first;
    struct transport_request *last;
};

struct transport {
    pthread_t thread;
    pthread_mutex_t lock;
    struct request_list fresh; // under the lock, as all below
    size_t waiting;
    bool stopping;
    struct transport_stats stats;

    // The thread's own.
    struct http *http;
    struct request_list ready;
    struct transport_request *delayed;
    struct sign_credentials credentials;
    struct sign_cache *cache;
    int64_t credentials_ms;
    struct env env;

    int bell;
    atomic_bool hurried;
    char url[URL_MAX + 32];
    char streams_url[URL_MAX + 32];
    char host[URL_MAX];
    char streams_host[URL_MAX + 16];
    char region[64];
};

static void list_add(struct request_list *list, struct transport_request *request)
{
    request->next = NULL;
    if (list->first == NULL)
        list->first = request;
    else
        list->last->next = request;
    list->last = request;
}

// ---- Where, and as whom ----------------------------------------------------------------------

static bool is_aws(const struct transport *transport)
{
    struct slice host = slice_str(transport->host);
    return slice_begins(host, SLICE_LIT("dynamodb.")) &&
           (slice_ends(host, SLICE_LIT(".amazonaws.com")) ||
            slice_ends(host, SLICE_LIT(".amazonaws.com.cn")));
}

static const char *or_else(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != 0 ? text : otherwise;
}

// Amazon's hosts name their region, and have their streams beside them.
static bool address_parse(struct transport *transport, const char *url)
{
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    const char *host = strncmp(url, "https://", 8) == 0  ? url + 8
                       : strncmp(url, "http://", 7) == 0 ? url + 7
                                                         : NULL;
    size_t host_len = host == NULL ? 0 : len - (size_t)(host - url);
    if (host_len == 0 || len > URL_MAX - 16 || strcspn(host, "/?#@ ") < host_len)
        return false;
    int scheme = (int)(host - url);
    (void)snprintf(transport->url, sizeof(transport->url), "%.*s/", (int)len, url);
    (void)snprintf(transport->host, URL_MAX, "%.*s", (int)host_len, host);
    bool aws = is_aws(transport);
    (void)snprintf(transport->streams_host, sizeof(transport->streams_host), "%s%.*s",
                   aws ? "streams." : "", (int)host_len, host);
    (void)snprintf(transport->streams_url, sizeof(transport->streams_url), "%.*s%.*s/", scheme, url,
                   URL_MAX + 8, transport->streams_host);
    const char *region = or_else(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"));
    if (aws)
        (void)snprintf(transport->region, sizeof(transport->region), "%.*s",
                       (int)strcspn(host + 9, "."), host + 9);
    else
        (void)snprintf(transport->region, sizeof(transport->region), "%s",
                       or_else(region, "us-east-1"));
    return true;
}

// False if there are none, and they are needed.
static bool credentials_read(struct transport *transport, char *error, size_t error_size)
{
    struct sign_credentials *found = malloc(sizeof(*found));
    ensure_memory(found);
    error[0] = 0;
    bool ok = sign_credentials_find(&(struct sign_source){NULL, NULL}, found, error, error_size) ==
              CREDENTIALS_FOUND;
    const struct sign_keys nobody = {SLICE_LIT("dolmen"), SLICE_LIT("dolmen"), slice_of(NULL, 0)};
    if (ok)
        ok = sign_credentials_set(&transport->credentials, &found->keys);
    else if (!is_aws(transport))
        ok = sign_credentials_set(&transport->credentials, &nobody);
    else
        (void)snprintf(error, error_size,
                       "there are no credentials: set AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY, or have them in ~/.aws/credentials");
    sign_credentials_wipe(found);
    free(found);
    transport->credentials_ms = monotonic_ms();
    return ok;
}

// ---- Sending ---------------------------------------------------------------------------------

static void send_now(struct transport *transport, struct transport_request *request)
{
    char error[512];
    char date[SIGN_DATE];
    char hash[SIGN_HEX];
    char target[128];
    char lines[6][4096];
    const char *list[6];
    struct buf authorization;
    if (monotonic_ms() - transport->credentials_ms > CREDENTIALS_MS)
        (void)credentials_read(transport, error, sizeof(error)); // else the old ones must do
    const char *host = request->of_streams ? transport->streams_host : transport->host;
    const struct sign_keys *keys = &transport->credentials.keys;
    int64_t seconds = env_now(&transport->env) / 1000;
    sign_date(seconds, date);
    sign_payload_hash(request->body, hash);
    (void)snprintf(target, sizeof(target), "%s_20120810.%.*s",
                   request->of_streams ? "DynamoDBStreams" : "DynamoDB",
                   SLICE_FMT(request->operation));
    const struct sign_header headers[] = {
        {SLICE_LIT("host"), slice_str(host)},
        {SLICE_LIT("content-type"), SLICE_LIT("application/x-amz-json-1.0")},
        {SLICE_LIT("x-amz-date"), slice_str(date)},
        {SLICE_LIT("x-amz-target"), slice_str(target)},
        {SLICE_LIT("x-amz-security-token"), keys->token},
    };
    size_t count = COUNT_OF(headers) - (keys->token.len == 0);
    const struct sign_request to_sign = {.method = SLICE_LIT("POST"),
                                         .path = SLICE_LIT("/"),
                                         .headers = headers,
                                         .header_count = count};
    const struct sign_scope scope = {slice_str(transport->region), SLICE_LIT("dynamodb"), seconds};
    buf_init(&authorization, HEAD_MAX);
    sign_by_header(&to_sign, &scope, keys, slice_of(hash, sizeof(hash)), transport->cache,
                   &authorization);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(lines[i], sizeof(lines[i]), "%.*s: %.*s", SLICE_FMT(headers[i].name),
                       SLICE_FMT(headers[i].value));
        list[i] = lines[i];
    }
    (void)snprintf(lines[count], sizeof(lines[count]), "Authorization: %.*s",
                   SLICE_FMT(buf_view(&authorization)));
    list[count] = lines[count];
    buf_release(&authorization);
    request->tries++;
    http_post(transport->http, request->of_streams ? transport->streams_url : transport->url, list,
              count + 1, request->body, request);
}

// ---- Ends ------------------------------------------------------------------------------------

struct slice transport_error_name(struct slice body)
{
    const uint8_t *at = body.len == 0 ? NULL : memmem(body.ptr, body.len, "\"__type\"", 8);
    if (at == NULL)
        return slice_of(NULL, 0);
    struct slice rest = slice_of(at + 8, body.len - (size_t)(at + 8 - body.ptr));
    (void)slice_cut(&rest, '"');
    struct slice name = slice_cut(&rest, '"');
    const uint8_t *hash = name.len == 0 ? NULL : memchr(name.ptr, '#', name.len);
    return hash == NULL ? name : slice_of(hash + 1, name.len - (size_t)(hash + 1 - name.ptr));
}

static bool is_throttled(struct slice name)
{
    return slice_is(name, "ThrottlingException") ||
           slice_is(name, "ProvisionedThroughputExceededException") ||
           slice_is(name, "RequestLimitExceeded") ||
           slice_is(name, "TransactionInProgressException");
}

static bool is_stale(struct slice name)
{
    return slice_is(name, "ExpiredTokenException") || slice_is(name, "UnrecognizedClientException");
}

// Whether another try is worth it: what was refused or never arrived, and what may have been done
// if that is safe.
static bool try_again(struct transport *transport, struct transport_request *request,
                      const struct http_answer *answer)
{
    char error[512];
    struct slice name =
        answer->status == 400 ? transport_error_name(answer->body) : slice_of(NULL, 0);
    if (atomic_load(&transport->hurried) || answer->cut)
        return false;
    if (is_stale(name) && !request->renewed) {
        request->renewed = true;
        return credentials_read(transport, error, sizeof(error));
    }
    if (request->tries >= TRIES)
        return false;
    if (answer->status == 0 && !answer->sent)
        return true;
    return is_throttled(name) || ((answer->status == 0 || answer->status >= 500) && request->safe);
}

// Half of the wait at least, so that those who were refused together do not come back together.
static int64_t backoff(struct transport *transport, const struct transport_request *request)
{
    uint32_t random;
    int64_t most = (int64_t)BACKOFF_MS << (request->tries - 1);
    transport->env.random(transport->env.context, (uint8_t *)&random, sizeof(random));
    most = most > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : most;
    return most / 2 + (int64_t)(random % (uint32_t)(most / 2 + 1));
}

static void delay(struct transport *transport, struct transport_request *request, int64_t ms)
{
    request->due_ms = monotonic_ms() + ms;
    request->next = transport->delayed;
    transport->delayed = request;
}

static void note(struct transport *transport, const struct http_answer *answer, bool again)
{
    ensure(pthread_mutex_lock(&transport->lock) == 0);
    struct transport_stats *stats = &transport->stats;
    bool reached = answer->status != 0;
    if (reached != stats->reachable) {
        stats->since_ms = env_now(&transport->env);
        if (reached)
            log_info("upstream %s answers", transport->url);
        else
            log_warn("upstream %s does not answer: %s", transport->url, answer->failure);
    }
    stats->reachable = reached;
    if (!reached)
        (void)snprintf(stats->reason, sizeof(stats->reason), "%s", answer->failure);
    stats->repeated += again;
    stats->requests += !again;
    stats->failed += !again && !reached;
    transport->waiting -= !again;
    ensure(pthread_mutex_unlock(&transport->lock) == 0);
}

static void ended(void *context, void *subject, const struct http_answer *answer)
{
    struct transport *transport = context;
    struct transport_request *request = subject;
    bool again = try_again(transport, request, answer);
    note(transport, answer, again);
    if (again) {
        int64_t ms = backoff(transport, request);
        delay(transport, request, ms > answer->retry_after_ms ? ms : answer->retry_after_ms);
        return;
    }
    request->status = answer->cut ? 0 : (int)answer->status;
    request->unknown = answer->status == 0 && answer->sent;
    request->reason = answer->cut ? "its answer is too long" : answer->failure;
    if (request->status != 0)
        buf_slice(request->answer, answer->body);
    request->done(request);
}

// ---- The thread ------------------------------------------------------------------------------

// Takes what was handed over; false when the end has come.
static bool take_fresh(struct transport *transport)
{
    ensure(pthread_mutex_lock(&transport->lock) == 0);
    struct transport_request *request = transport->fresh.first;
    transport->fresh.first = NULL;
    bool stopping = transport->stopping;
    ensure(pthread_mutex_unlock(&transport->lock) == 0);
    while (request != NULL) {
        struct transport_request *next = request->next;
        if (request->delay_ms > 0)
            delay(transport, request, request->delay_ms);
        else
            list_add(&transport->ready, request);
        request = next;
    }
    return !stopping;
}

// Makes ready what is due. How long until the next is.
static int take_due(struct transport *transport)
{
    int64_t now = monotonic_ms();
    int64_t wait = 1000;
    struct transport_request **place = &transport->delayed;
    while (*place != NULL) {
        struct transport_request *request = *place;
        if (request->due_ms <= now) {
            *place = request->next;
            list_add(&transport->ready, request);
            continue;
        }
        wait = request->due_ms - now < wait ? request->due_ms - now : wait;
        place = &request->next;
    }
    return (int)wait;
}

static void *transport_main(void *argument)
{
    struct transport *transport = argument;
    uint64_t rung;
    while (take_fresh(transport)) {
        int wait = take_due(transport);
        while (transport->ready.first != NULL && http_room(transport->http) > 0) {
            struct transport_request *request = transport->ready.first;
            transport->ready.first = request->next;
            send_now(transport, request);
        }
        http_wait(transport->http, wait);
        (void)!read(transport->bell, &rung, sizeof(rung));
    }
    return NULL;
}

static void ring(const struct transport *transport)
{
    const uint64_t one = 1;
    (void)!write(transport->bell, &one, sizeof(one));
}

struct transport *transport_start(const char *url, char *error, size_t error_size)
{
    struct transport *transport = memory_zeroed(sizeof(*transport));
    transport->env = env_system();
    transport->stats.reachable = true;
    transport->bell = -1;
    if (!address_parse(transport, url)) {
        (void)snprintf(error, error_size,
                       "'%s' is not a URL of the form https://host or http://host:port", url);
        free(transport);
        return NULL;
    }
    if (!credentials_read(transport, error, error_size)) {
        free(transport);
        return NULL;
    }
    transport->cache = sign_cache_new();
    transport->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ensure(transport->bell >= 0 && pthread_mutex_init(&transport->lock, NULL) == 0);
    const char *authorities = getenv("AWS_CA_BUNDLE");
    transport->http = http_new(&(struct http_plan){.flights = FLIGHTS,
                                                   .timeout_ms = TIMEOUT_MS,
                                                   .link_local = true,
                                                   .once = true,
                                                   .answer_max = ANSWER_MAX,
                                                   .authorities = or_else(authorities, NULL),
                                                   .bell = transport->bell,
                                                   .context = transport,
                                                   .ended = ended},
                               error, error_size);
    if (transport->http != NULL &&
        pthread_create(&transport->thread, NULL, transport_main, transport) == 0)
        return transport;
    (void)close(transport->bell);
    sign_cache_free(transport->cache);
    free(transport);
    return NULL;
}

void transport_hurry(struct transport *transport)
{
    atomic_store(&transport->hurried, true);
}

void transport_stop(struct transport *transport)
{
    ensure(pthread_mutex_lock(&transport->lock) == 0);
    transport->stopping = true;
    ensure(pthread_mutex_unlock(&transport->lock) == 0);
    ring(transport);
    ensure(pthread_join(transport->thread, NULL) == 0);
    http_free(transport->http);
    (void)close(transport->bell);
    ensure(pthread_mutex_destroy(&transport->lock) == 0);
    sign_cache_free(transport->cache);
    sign_credentials_wipe(&transport->credentials);
    free(transport);
}

bool transport_send(struct transport *transport, struct transport_request *request)
{
    request->status = 0;
    request->tries = 0;
    request->unknown = request->renewed = false;
    ensure(pthread_mutex_lock(&transport->lock) == 0);
    bool room = transport->waiting < TRANSPORT_WAITING_MAX;
    if (room) {
        transport->waiting++;
        list_add(&transport->fresh, request);
    }
    ensure(pthread_mutex_unlock(&transport->lock) == 0);
    if (room)
        ring(transport);
    return room;
}

struct sleeper {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
};

static void wake_sleeper(struct transport_request *request)
{
    struct sleeper *sleeper = request->context;
    ensure(pthread_mutex_lock(&sleeper->lock) == 0);
    sleeper->done = true;
    ensure(pthread_cond_signal(&sleeper->wake) == 0);
    ensure(pthread_mutex_unlock(&sleeper->lock) == 0);
}

void transport_call(struct transport *transport, struct transport_request *request)
{
    struct sleeper sleeper = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    request->done = wake_sleeper;
    request->context = &sleeper;
    ensure(transport_send(transport, request));
    ensure(pthread_mutex_lock(&sleeper.lock) == 0);
    while (!sleeper.done)
        ensure(pthread_cond_wait(&sleeper.wake, &sleeper.lock) == 0);
    ensure(pthread_mutex_unlock(&sleeper.lock) == 0);
}

const char *transport_url(const struct transport *transport)
{
    return transport->url;
}

void transport_stats(struct transport *transport, struct transport_stats *out)
{
    ensure(pthread_mutex_lock(&transport->lock) == 0);
    *out = transport->stats;
    out->waiting = transport->waiting;
    ensure(pthread_mutex_unlock(&transport->lock) == 0);
}
