// kafka://broker[:port][,broker…]/topic: librdkafka with an idempotent producer. The key of a
// message is the event's group, so that all of it is in one partition; its headers are the id, the
// type and the attempt. A message is delivered when all replicas in step have it.
#include "publish/publish.h"

#include "base/library.h"
#include "text/url.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef DOLMEN_HAVE_RDKAFKA

struct outlet *kafka_open(const struct outlet_request *request)
{
    return outlet_refuse(request, "this server was built without librdkafka");
}

#else

#include <librdkafka/rdkafka.h>

#define KAFKA_FUNCTIONS(X)                                                                         \
    X(rd_kafka_conf_new)                                                                           \
    X(rd_kafka_conf_set)                                                                           \
    X(rd_kafka_conf_destroy)                                                                       \
    X(rd_kafka_conf_set_dr_msg_cb)                                                                 \
    X(rd_kafka_conf_set_opaque)                                                                    \
    X(rd_kafka_conf_set_log_cb)                                                                    \
    X(rd_kafka_new)                                                                                \
    X(rd_kafka_producev)                                                                           \
    X(rd_kafka_poll)                                                                               \
    X(rd_kafka_purge)                                                                              \
    X(rd_kafka_destroy_flags)                                                                      \
    X(rd_kafka_queue_get_main)                                                                     \
    X(rd_kafka_queue_io_event_enable)                                                              \
    X(rd_kafka_queue_destroy)                                                                      \
    X(rd_kafka_err2str)

struct kafka_library {
    KAFKA_FUNCTIONS(LIBRARY_POINTER)
};

enum { IN_FLIGHT = 1000, TEXT_MAX = 1024 };

struct kafka {
    struct outlet base; // first
    struct kafka_library lib;
    rd_kafka_t *producer;
    rd_kafka_queue_t *queue;
    char topic[TEXT_MAX];
    size_t flying;
    bool closing;
};

// Which failures are the message's own, and which the cluster's.
static enum outlet_outcome outcome_of(rd_kafka_resp_err_t error)
{
    switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return OUTLET_DELIVERED;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        return OUTLET_REFUSED;
    default:
        return OUTLET_AWAY;
    }
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka *own = opaque;
    (void)producer;
    own->flying--;
    if (own->closing)
        return;
    struct outlet_end end = {.outcome = outcome_of(message->err),
                             .reason = own->lib.rd_kafka_err2str(message->err)};
    own->base.owner.ended(own->base.owner.context, message->_private, &end);
}

// Its lines would be on standard error; what matters is told with the events.
static void silent(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
    (void)producer, (void)level, (void)facility, (void)text;
}

static size_t kafka_room(struct outlet *outlet)
{
    return IN_FLIGHT - ((struct kafka *)outlet)->flying;
}

static rd_kafka_resp_err_t produce(struct kafka *own, struct outlet_event *event)
{
    char attempt[16];
    int len = snprintf(attempt, sizeof(attempt), "%u", event->attempt);
    return own->lib.rd_kafka_producev(
        own->producer, RD_KAFKA_V_TOPIC(own->topic),
        RD_KAFKA_V_KEY(event->group.ptr, event->group.len),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)event->body.ptr, event->body.len),
        RD_KAFKA_V_HEADER("id", event->id.ptr, (ssize_t)event->id.len),
        RD_KAFKA_V_HEADER("type", event->type.ptr, (ssize_t)event->type.len),
        RD_KAFKA_V_HEADER("attempt", attempt, (ssize_t)len),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(event), RD_KAFKA_V_END);
}

static void kafka_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct kafka *own = (struct kafka *)outlet;
    for (size_t i = 0; i < count; i++) {
        own->flying++;
        rd_kafka_resp_err_t error = produce(own, events[i]);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        own->flying--;
        struct outlet_end end = {.outcome = outcome_of(error),
                                 .reason = own->lib.rd_kafka_err2str(error)};
        outlet->owner.ended(outlet->owner.context, events[i], &end);
    }
}

static void kafka_wait(struct outlet *outlet, int ms)
{
    struct kafka *own = (struct kafka *)outlet;
    struct pollfd bell = {.fd = outlet->owner.bell, .events = POLLIN};
    if (own->lib.rd_kafka_poll(own->producer, 0) > 0)
        return;
    (void)poll(&bell, 1, ms);
    (void)own->lib.rd_kafka_poll(own->producer, 0);
}

static void kafka_close(struct outlet *outlet)
{
    struct kafka *own = (struct kafka *)outlet;
    own->closing = true;
    if (own->queue != NULL)
        own->lib.rd_kafka_queue_destroy(own->queue);
    if (own->producer != NULL) {
        (void)own->lib.rd_kafka_purge(own->producer, RD_KAFKA_PURGE_F_QUEUE |
                                                         RD_KAFKA_PURGE_F_INFLIGHT |
                                                         RD_KAFKA_PURGE_F_NON_BLOCKING);
        (void)own->lib.rd_kafka_poll(own->producer, 0);
        own->lib.rd_kafka_destroy_flags(own->producer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    free(own);
}

static const struct outlet_ops kafka_ops = {
    .room = kafka_room, .send = kafka_send, .wait = kafka_wait, .close = kafka_close};

static bool settings(struct kafka *own, rd_kafka_conf_t *conf, const char *brokers,
                     const struct outlet_request *request)
{
    char text[256];
    const char *rows[][2] = {
        {"bootstrap.servers", brokers},  {"enable.idempotence", "true"},   {"linger.ms", "5"},
        {"message.timeout.ms", "15000"}, {"message.max.bytes", "8388608"}, {"client.id", "dolmen"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (own->lib.rd_kafka_conf_set(conf, rows[i][0], rows[i][1], text, sizeof(text)) !=
            RD_KAFKA_CONF_OK)
            return outlet_refuse(request, "%s", text) != NULL;
    own->lib.rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    own->lib.rd_kafka_conf_set_log_cb(conf, silent);
    own->lib.rd_kafka_conf_set_opaque(conf, own);
    return true;
}

// kafka://a:9092,b:9092/topic
static bool url_read(struct kafka *own, const struct outlet_request *request, char *brokers,
                     size_t size)
{
    struct slice rest = request->spec->url;
    rest = slice_of(rest.ptr + 6, rest.len - 6);
    if (!slice_begins(rest, SLICE_LIT("//")))
        return outlet_refuse(request, "a Kafka topic is kafka://broker:port/topic") != NULL;
    rest = slice_of(rest.ptr + 2, rest.len - 2);
    struct slice list = slice_cut(&rest, '/');
    if (list.len == 0 || list.len >= size || rest.len == 0 || rest.len >= sizeof(own->topic) ||
        memchr(rest.ptr, '/', rest.len) != NULL)
        return outlet_refuse(request, "a Kafka topic is kafka://broker:port/topic") != NULL;
    (void)snprintf(brokers, size, "%.*s", SLICE_FMT(list));
    (void)snprintf(own->topic, sizeof(own->topic), "%.*s", SLICE_FMT(rest));
    while (list.len > 0) {
        char host[TEXT_MAX];
        struct slice broker = slice_cut(&list, ',');
        struct url_place place;
        const char *wrong = url_place_read(broker, &place);
        if (wrong != NULL)
            return outlet_refuse(request, "the broker \"%.*s\": %s", SLICE_FMT(broker), wrong) !=
                   NULL;
        (void)snprintf(host, sizeof(host), "%.*s", SLICE_FMT(place.host));
        if (!host_allowed(request, host))
            return false;
    }
    return true;
}

struct outlet *kafka_open(const struct outlet_request *request)
{
    static const char *const names[] = {KAFKA_FUNCTIONS(LIBRARY_NAME)};
    static const uint64_t one = 1; // what an eventfd takes
    char brokers[TEXT_MAX];
    char text[256] = "out of memory";
    struct kafka *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &kafka_ops, .owner = *request->owner};
    if (!url_read(own, request, brokers, sizeof(brokers)) ||
        !library_load("librdkafka.so.1", names, COUNT_OF(names), &own->lib, request->error,
                      request->error_size)) {
        free(own);
        return NULL;
    }
    rd_kafka_conf_t *conf = own->lib.rd_kafka_conf_new();
    bool ok = settings(own, conf, brokers, request);
    if (ok)
        own->producer = own->lib.rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    if (own->producer == NULL) {
        own->lib.rd_kafka_conf_destroy(conf);
        if (ok)
            DISREGARD(outlet_refuse(request, "%s", text));
        kafka_close(&own->base);
        return NULL;
    }
    own->queue = own->lib.rd_kafka_queue_get_main(own->producer);
    own->lib.rd_kafka_queue_io_event_enable(own->queue, request->owner->bell, &one, sizeof(one));
    return &own->base;
}

#endif
