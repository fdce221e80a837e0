// nats://host[:port]/subject: JetStream. Nats-Msg-Id is the event's id, so that the stream itself
// drops what comes twice within its window. A message is delivered when the stream has acknowledged
// it. Option: `credentials file "name"`, below the directory of secrets.
#include "publish/publish.h"

#include "base/library.h"
#include "text/url.h"

#include "base/wait.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#ifndef DOLMEN_HAVE_NATS

struct outlet *nats_open(const struct outlet_request *request)
{
    return outlet_refuse(request, "this server was built without libnats");
}

#else

#include <nats/nats.h>

#define NATS_FUNCTIONS(X)                                                                          \
    X(natsOptions_Create)                                                                          \
    X(natsOptions_SetURL)                                                                          \
    X(natsOptions_SetTimeout)                                                                      \
    X(natsOptions_SetMaxReconnect)                                                                 \
    X(natsOptions_SetName)                                                                         \
    X(natsOptions_SetUserCredentialsFromFiles)                                                     \
    X(natsOptions_Destroy)                                                                         \
    X(natsConnection_Connect)                                                                      \
    X(natsConnection_Close)                                                                        \
    X(natsConnection_Destroy)                                                                      \
    X(natsConnection_JetStream)                                                                    \
    X(natsMsg_Create)                                                                              \
    X(natsMsgHeader_Set)                                                                           \
    X(natsMsg_Destroy)                                                                             \
    X(natsStatus_GetText)                                                                          \
    X(jsOptions_Init)                                                                              \
    X(js_PublishMsg)                                                                               \
    X(jsPubAck_Destroy)                                                                            \
    X(jsCtx_Destroy)

struct nats_library {
    NATS_FUNCTIONS(LIBRARY_POINTER)
};

// JetStream's publish waits for its acknowledgement: some threads wait for as many events.
enum { WORKERS = 8, QUEUE = 64, TEXT_MAX = 1024, REASON_MAX = 200, ACK_MS = 5000 };

struct job {
    struct outlet_event *event;
    enum outlet_outcome outcome;
    char reason[REASON_MAX];
};

struct nats {
    struct outlet base; // first
    struct nats_library lib;
    natsConnection *connection;
    jsCtx *stream;
    char subject[TEXT_MAX];
    size_t flying; // the owner's
    pthread_t workers[WORKERS];
    size_t started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    size_t waiting_count;
    struct job waiting[QUEUE];
    size_t ended_count;
    struct job ended[QUEUE + WORKERS];
};

// ---- The workers -----------------------------------------------------------------------------

static natsStatus publish(struct nats *own, const struct outlet_event *event, jsErrCode *code)
{
    natsMsg *message = NULL;
    jsPubAck *ack = NULL;
    char attempt[16];
    jsPubOptions options = {.MaxWait = ACK_MS, .MsgId = (const char *)event->id.ptr};
    (void)snprintf(attempt, sizeof(attempt), "%u", event->attempt);
    natsStatus status = own->lib.natsMsg_Create(
        &message, own->subject, NULL, (const char *)event->body.ptr, (int)event->body.len);
    if (status == NATS_OK)
        status = own->lib.natsMsgHeader_Set(message, "Dolmen-Attempt", attempt);
    if (status == NATS_OK)
        status = own->lib.js_PublishMsg(&ack, own->stream, message, &options, code);
    own->lib.jsPubAck_Destroy(ack);
    own->lib.natsMsg_Destroy(message);
    return status;
}

static void work(struct nats *own, struct job *job)
{
    jsErrCode code = 0;
    natsStatus status = publish(own, job->event, &code);
    // What the stream says no to is the event's fault; that nobody answers, is not.
    job->outcome = status == NATS_OK            ? OUTLET_DELIVERED
                   : status == NATS_MAX_PAYLOAD ? OUTLET_REFUSED
                   : code != 0                  ? OUTLET_FAILED
                                                : OUTLET_AWAY;
    (void)snprintf(job->reason, sizeof(job->reason), "%s", own->lib.natsStatus_GetText(status));
}

static void *worker_main(void *argument)
{
    struct nats *own = argument;
    ensure(pthread_mutex_lock(&own->lock) == 0);
    while (!own->stopping) {
        if (own->waiting_count == 0) {
            ensure(pthread_cond_wait(&own->wake, &own->lock) == 0);
            continue;
        }
        struct job job = own->waiting[0];
        memmove(own->waiting, own->waiting + 1, --own->waiting_count * sizeof(job));
        ensure(pthread_mutex_unlock(&own->lock) == 0);
        work(own, &job);
        ensure(pthread_mutex_lock(&own->lock) == 0);
        own->ended[own->ended_count++] = job;
        DISREGARD(eventfd_write(own->base.owner.bell, 1));
    }
    ensure(pthread_mutex_unlock(&own->lock) == 0);
    return NULL;
}

// ---- The owner's side ------------------------------------------------------------------------

static size_t nats_room(struct outlet *outlet)
{
    return QUEUE - ((struct nats *)outlet)->flying;
}

static void nats_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct nats *own = (struct nats *)outlet;
    ensure(pthread_mutex_lock(&own->lock) == 0);
    for (size_t i = 0; i < count; i++)
        own->waiting[own->waiting_count++] = (struct job){.event = events[i]};
    own->flying += count;
    ensure(pthread_cond_broadcast(&own->wake) == 0);
    ensure(pthread_mutex_unlock(&own->lock) == 0);
}

static bool tell_ended(struct nats *own)
{
    struct job ended[QUEUE + WORKERS];
    ensure(pthread_mutex_lock(&own->lock) == 0);
    size_t count = own->ended_count;
    memcpy(ended, own->ended, count * sizeof(*ended));
    own->ended_count = 0;
    ensure(pthread_mutex_unlock(&own->lock) == 0);
    own->flying -= count;
    for (size_t i = 0; i < count; i++) {
        struct outlet_end end = {.outcome = ended[i].outcome, .reason = ended[i].reason};
        own->base.owner.ended(own->base.owner.context, ended[i].event, &end);
    }
    return count > 0;
}

static void nats_wait(struct outlet *outlet, int ms)
{
    struct nats *own = (struct nats *)outlet;
    struct pollfd bell = {.fd = outlet->owner.bell, .events = POLLIN};
    if (tell_ended(own))
        return;
    (void)poll(&bell, 1, ms);
    (void)tell_ended(own);
}

static void nats_close(struct outlet *outlet)
{
    struct nats *own = (struct nats *)outlet;
    ensure(pthread_mutex_lock(&own->lock) == 0);
    own->stopping = true;
    ensure(pthread_cond_broadcast(&own->wake) == 0);
    ensure(pthread_mutex_unlock(&own->lock) == 0);
    if (own->connection != NULL)
        own->lib.natsConnection_Close(own->connection); // what waits for an answer ends now
    for (size_t i = 0; i < own->started; i++)
        ensure(pthread_join(own->workers[i], NULL) == 0);
    if (own->stream != NULL)
        own->lib.jsCtx_Destroy(own->stream);
    if (own->connection != NULL)
        own->lib.natsConnection_Destroy(own->connection);
    ensure(pthread_mutex_destroy(&own->lock) == 0);
    ensure(pthread_cond_destroy(&own->wake) == 0);
    free(own);
}

static const struct outlet_ops nats_ops = {
    .room = nats_room, .send = nats_send, .wait = nats_wait, .close = nats_close};

// ---- Opening ---------------------------------------------------------------------------------

// nats://[user:password@]host[:port]/subject
static bool url_read(struct nats *own, const struct outlet_request *request, char *server,
                     size_t size)
{
    struct slice url = request->spec->url;
    struct slice rest = slice_of(url.ptr + 5, url.len - 5);
    char host[TEXT_MAX];
    if (!slice_begins(rest, SLICE_LIT("//")))
        return outlet_refuse(request, "a NATS subject is nats://host:port/subject") != NULL;
    rest = slice_of(rest.ptr + 2, rest.len - 2);
    struct slice address = slice_cut(&rest, '/');
    const uint8_t *at = memrchr(address.ptr, '@', address.len);
    struct slice name =
        at == NULL ? address : slice_of(at + 1, address.len - (size_t)(at + 1 - address.ptr));
    struct url_place place;
    const char *wrong = url_place_read(name, &place);
    if (wrong != NULL)
        return outlet_refuse(request, "the server \"%.*s\": %s", SLICE_FMT(name), wrong) != NULL;
    if (address.len + 8 >= size || rest.len == 0 || rest.len >= sizeof(own->subject) ||
        memchr(rest.ptr, ' ', rest.len) != NULL)
        return outlet_refuse(request, "a NATS subject is nats://host:port/subject") != NULL;
    (void)snprintf(server, size, "nats://%.*s", SLICE_FMT(address));
    (void)snprintf(own->subject, sizeof(own->subject), "%.*s", SLICE_FMT(rest));
    (void)snprintf(host, sizeof(host), "%.*s", SLICE_FMT(place.host));
    return host_allowed(request, host);
}

static natsStatus connect_to(struct nats *own, const char *server, const char *credentials)
{
    natsOptions *options = NULL;
    natsStatus status = own->lib.natsOptions_Create(&options);
    if (status == NATS_OK)
        status = own->lib.natsOptions_SetURL(options, server);
    if (status == NATS_OK)
        status = own->lib.natsOptions_SetTimeout(options, 3000);
    if (status == NATS_OK)
        status = own->lib.natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = own->lib.natsOptions_SetName(options, "dolmen");
    if (status == NATS_OK && credentials[0] != 0)
        status = own->lib.natsOptions_SetUserCredentialsFromFiles(options, credentials, NULL);
    if (status == NATS_OK)
        status = own->lib.natsConnection_Connect(&own->connection, options);
    if (status == NATS_OK)
        status = own->lib.natsConnection_JetStream(&own->stream, own->connection, NULL);
    own->lib.natsOptions_Destroy(options);
    return status;
}

static bool credentials_path(const struct outlet_request *request, char *out, size_t size)
{
    const struct outlet_option *option = outlet_option(request->spec, "credentials");
    struct buf content;
    out[0] = 0;
    if (option == NULL)
        return true;
    if (!slice_is(option->source, "file"))
        return outlet_refuse(request, "give them as `credentials file \"name\"`") != NULL;
    if (!outlet_secret(request, option, &content)) // that it can be read, and is where it may be
        return false;
    buf_release(&content);
    (void)snprintf(out, size, "%s/%.*s", request->publisher->secrets, SLICE_FMT(option->value));
    return true;
}

struct outlet *nats_open(const struct outlet_request *request)
{
    static const char *const names[] = {NATS_FUNCTIONS(LIBRARY_NAME)};
    char server[TEXT_MAX];
    char credentials[4096];
    struct nats *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &nats_ops, .owner = *request->owner};
    ensure(pthread_mutex_init(&own->lock, NULL) == 0);
    ensure(pthread_cond_init(&own->wake, NULL) == 0);
    if (!url_read(own, request, server, sizeof(server)) ||
        !credentials_path(request, credentials, sizeof(credentials)) ||
        !library_load("libnats.so.3.4", names, COUNT_OF(names), &own->lib, request->error,
                      request->error_size)) {
        nats_close(&own->base);
        return NULL;
    }
    natsStatus status = connect_to(own, server, credentials);
    if (status != NATS_OK) {
        DISREGARD(outlet_refuse(request, "NATS: %s", own->lib.natsStatus_GetText(status)));
        nats_close(&own->base);
        return NULL;
    }
    for (; own->started < WORKERS; own->started++)
        ensure_started(pthread_create(&own->workers[own->started], NULL, worker_main, own) == 0);
    return &own->base;
}

#endif
