// Actions of alarms: whoever is to be told of a change of state. An action that is a URL is posted
// to, one that is a topic of SNS is published to, by the targets of `publish` (capture/outlet.h).
//
// Something is due if the state of an alarm is another one than was told last, which is kept with
// the alarm: no change is lost if the server stops or dies, and none waits in a queue. A state that
// has gone again before it could be told is logged, and not told.
//
// A thread of its own does it, with a bounded number of calls at the same time, each with a limit
// of time; failed ones are tried again, later and later. What is delivered just before the server
// dies is delivered again: the id of the event is the same.
#include "base/log.h"
#include "base/wait.h"
#include "text/url.h"
#include "watch/watch_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TOPIC "arn:aws:sns:"

enum {
    FLIGHTS = 16,
    ATTEMPTS = 12, // over some 40 minutes
    PAUSE_MS = 1000,
    PAUSE_MOST_MS = 600 * 1000,
    WAIT_MS = 20,
    TEXT_MAX = 2100,
    BODY_MAX = 1 << 20,
    REASON_MAX = 256,
};

// One call to one action. It knows its alarm by name and time: that may have gone, or changed.
struct flight {
    struct outlet *outlet;
    struct outlet_event event;
    char alarm[ALARM_NAME + 1];
    char url[TEXT_MAX];
    char id[ALARM_NAME + 32];
    struct buf body;
    enum alarm_state state;
    int64_t changed_ms;
    unsigned action;
    bool ended;
    enum outlet_outcome outcome;
    char reason[REASON_MAX];
};

struct caller_out {
    struct watch *watch;
    struct worker worker;
    int bell;
    size_t count;
    struct flight *flights[FLIGHTS];
};

static void lock(struct watch *watch)
{
    ensure(pthread_mutex_lock(&watch->lock) == 0);
}

static void unlock(struct watch *watch)
{
    ensure(pthread_mutex_unlock(&watch->lock) == 0);
}

// ---- What they are -----------------------------------------------------------------------------

static const char *const lists[] = {"InsufficientDataActions", "OKActions", "AlarmActions"};

static bool is_url(struct slice action)
{
    return slice_begins(action, SLICE_LIT("http://")) ||
           slice_begins(action, SLICE_LIT("https://"));
}

static bool is_called(struct slice action)
{
    return is_url(action) || slice_begins(action, SLICE_LIT(TOPIC));
}

bool actions_valid(const struct params *params, char *why, size_t why_size)
{
    for (size_t k = 0; k < COUNT_OF(lists); k++) {
        for (unsigned i = 1; param_is_given(params, "%s.member.%u", lists[k], i); i++) {
            struct slice action = param_text(params, "%s.member.%u", lists[k], i);
            struct url_place place;
            const char *wrong = NULL;
            if (i > ACTIONS_MAX)
                wrong = "there are more than 5 actions for a state";
            else if (action.len > 1024)
                wrong = "an action is longer than 1024 bytes";
            else if (is_url(action))
                wrong = url_http_read(action, &place);
            else if (!slice_begins(action, SLICE_LIT("arn:")))
                wrong = "an action is an http or https URL, or an ARN";
            if (wrong != NULL) {
                (void)snprintf(why, why_size, "%s: %s", lists[k], wrong);
                return false;
            }
        }
    }
    return true;
}

// Bits of those that are called in the present state.
static unsigned actions_wanted(const struct alarm *alarm)
{
    unsigned wanted = 0;
    const char *list = lists[alarm->state];
    if (slice_is(param_text(&alarm->params, "ActionsEnabled"), "false"))
        return 0;
    for (unsigned i = 0; i < ACTIONS_MAX; i++)
        wanted |= is_called(param_text(&alarm->params, "%s.member.%u", list, i + 1)) ? 1u << i : 0;
    return wanted;
}

// ---- The message -------------------------------------------------------------------------------

static void put_actions(struct json_writer *w, const struct params *params, const char *name)
{
    json_put_array(w, name);
    for (int i = 1; param_is_given(params, "%s.member.%d", name, i); i++)
        json_string(w, param_text(params, "%s.member.%d", name, i));
    json_close_array(w);
}

static void put_moment(struct json_writer *w, const char *name, int64_t ms)
{
    char text[TIME_TEXT];
    time_text(ms, text);
    json_put_text(w, name, text);
}

static void put_trigger(struct json_writer *w, const struct alarm *alarm)
{
    const struct params *params = &alarm->params;
    json_put_object(w, "Trigger");
    json_put_string(w, "MetricName", param_text(params, "MetricName"));
    json_put_string(w, "Namespace", param_text(params, "Namespace"));
    json_put_text(w, "StatisticType", "Statistic");
    json_put_string(w, "Statistic", alarm->statistic);
    json_put_array(w, "Dimensions");
    for (int i = 1; param_is_given(params, "Dimensions.member.%d.Name", i); i++) {
        json_open_object(w);
        json_put_string(w, "name", param_text(params, "Dimensions.member.%d.Name", i));
        json_put_string(w, "value", param_text(params, "Dimensions.member.%d.Value", i));
        json_close_object(w);
    }
    json_close_array(w);
    json_put_integer(w, "Period", alarm->period_ms / 1000);
    json_put_integer(w, "EvaluationPeriods", alarm->periods);
    json_put_integer(w, "DatapointsToAlarm", alarm->datapoints);
    json_put_string(w, "ComparisonOperator", alarm->comparison);
    json_name(w, "Threshold");
    json_units(w, alarm->threshold);
    json_put_string(w, "TreatMissingData", alarm->missing);
    json_close_object(w);
}

// As CloudWatch writes it to topics.
static void write_message(const struct watch *watch, const struct alarm *alarm, struct buf *out)
{
    const struct params *params = &alarm->params;
    const char *region = watch->options.region;
    struct json_writer w = json_writer_to(out);
    struct buf arn;
    buf_init(&arn, TEXT_MAX);
    buf_printf(&arn, "arn:aws:cloudwatch:%s:" WATCH_ACCOUNT ":alarm:%.*s", region,
               SLICE_FMT(alarm->name));
    json_open_object(&w);
    json_put_string(&w, "AlarmName", alarm->name);
    json_put_or_null(&w, "AlarmDescription", param_text(params, "AlarmDescription"));
    json_put_text(&w, "AWSAccountId", WATCH_ACCOUNT);
    put_moment(&w, "AlarmConfigurationUpdatedTimestamp", alarm->updated_ms);
    json_put_text(&w, "NewStateValue", alarm_states[alarm->state]);
    json_put_text(&w, "NewStateReason", alarm->reason);
    put_moment(&w, "StateChangeTime", alarm->changed_ms);
    json_put_text(&w, "Region", region);
    json_put_string(&w, "AlarmArn", buf_view(&arn));
    json_put_text(&w, "OldStateValue", alarm_states[alarm->told]);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        put_actions(&w, params, lists[i]);
    put_trigger(&w, alarm);
    json_close_object(&w);
    buf_byte(out, 0); // texts of events end so
    buf_release(&arn);
}

// ---- Flights -----------------------------------------------------------------------------------

static void flight_ended(void *context, struct outlet_event *event, const struct outlet_end *end)
{
    (void)context;
    struct flight *flight =
        (struct flight *)(void *)((uint8_t *)event - offsetof(struct flight, event));
    flight->ended = true;
    flight->outcome = end->outcome;
    (void)snprintf(flight->reason, sizeof(flight->reason), "%s",
                   end->reason == NULL ? "" : end->reason);
}

static void flight_free(struct flight *flight)
{
    if (flight->outlet != NULL)
        flight->outlet->ops->close(flight->outlet);
    buf_release(&flight->body);
    free(flight);
}

static bool stopping(void *context)
{
    const struct caller_out *own = context;
    return worker_stopping((struct worker *)(uintptr_t)&own->worker);
}

// With the lock: all that is to be said is copied.
static struct flight *flight_new(const struct watch *watch, const struct alarm *alarm,
                                 unsigned action)
{
    struct flight *flight = memory_zeroed(sizeof(*flight));
    struct slice to = param_text(&alarm->params, "%s.member.%u", lists[alarm->state], action + 1);
    (void)snprintf(flight->alarm, sizeof(flight->alarm), "%.*s", SLICE_FMT(alarm->name));
    (void)snprintf(flight->url, sizeof(flight->url), "%s%.*s",
                   is_url(to) ? "" : "sns:", SLICE_FMT(to));
    (void)snprintf(flight->id, sizeof(flight->id), "%.*s/%lld", SLICE_FMT(alarm->name),
                   (long long)alarm->changed_ms);
    buf_init(&flight->body, BODY_MAX);
    write_message(watch, alarm, &flight->body);
    flight->state = alarm->state;
    flight->changed_ms = alarm->changed_ms;
    flight->action = action;
    flight->event = (struct outlet_event){.id = slice_str(flight->id),
                                          .type = slice_str(alarm_states[alarm->state]),
                                          .table = SLICE_LIT(""),
                                          .entity = SLICE_LIT(""),
                                          .group = SLICE_LIT("0000000000000000"),
                                          .body = slice_of(flight->body.ptr, flight->body.len - 1),
                                          .time_ms = alarm->changed_ms,
                                          .attempt = alarm->attempts + 1,
                                          .together = true};
    return flight;
}

// Whoever cannot be called at all is not called again, and the log says why.
static void flight_begin(struct caller_out *own, struct flight *flight)
{
    static const struct outlet_option options[] = {
        {.name = {(const uint8_t *)"timeout", 7}, .value = {(const uint8_t *)"10", 2}},
        {.name = {(const uint8_t *)"parallel", 8}, .value = {(const uint8_t *)"1", 1}},
    };
    const struct outlet_opener *opener = own->watch->options.opener;
    const struct outlet_spec spec = {slice_str(flight->url), COUNT_OF(options), options};
    const struct outlet_owner owner = {own, flight_ended, own->bell, stopping};
    struct outlet_event *event = &flight->event;
    flight->outlet =
        opener->open(opener->context, &spec, &owner, flight->reason, sizeof(flight->reason));
    if (flight->outlet != NULL) {
        flight->outlet->ops->send(flight->outlet, &event, 1);
        return;
    }
    flight->ended = true;
    flight->outcome = OUTLET_GONE;
}

// ---- What is due -------------------------------------------------------------------------------

// The alarm's actions that are due now, as far as there is room.
static void gather_one(struct caller_out *own, struct alarm *alarm, int64_t now)
{
    unsigned wanted = actions_wanted(alarm);
    if (alarm->state == alarm->told || alarm->flying > 0 || alarm->next_ms > now)
        return;
    for (unsigned i = 0; i < ACTIONS_MAX && own->count < FLIGHTS; i++) {
        if ((wanted & ~alarm->done & 1u << i) == 0)
            continue;
        own->flights[own->count++] = flight_new(own->watch, alarm, i);
        alarm->flying++;
    }
}

static void gather(struct caller_out *own)
{
    struct watch *watch = own->watch;
    int64_t now = monotonic_ms();
    size_t before = own->count;
    lock(watch);
    for (size_t i = 0; i < watch->alarm_count; i++)
        gather_one(own, watch->alarms[i], now);
    unlock(watch);
    for (size_t i = before; i < own->count; i++)
        flight_begin(own, own->flights[i]);
}

// All calls of a round have ended: the state was told, or is told later.
static void round_ended(struct watch *watch, struct alarm *alarm)
{
    bool all = (actions_wanted(alarm) & ~alarm->done) == 0;
    alarm->attempts++;
    if (!all && alarm->attempts < ATTEMPTS) {
        int64_t pause = (int64_t)PAUSE_MS << (alarm->attempts - 1);
        alarm->next_ms = monotonic_ms() + (pause < PAUSE_MOST_MS ? pause : PAUSE_MOST_MS);
        return;
    }
    if (!all)
        log_warn("alarm %.*s: not all actions could be told that it is %s, and %d attempts are "
                 "enough",
                 SLICE_FMT(alarm->name), alarm_states[alarm->state], ATTEMPTS);
    alarm->told = alarm->state;
    alarm_keep_logged(watch, alarm);
}

static void land(struct watch *watch, const struct flight *flight)
{
    bool delivered = flight->outcome == OUTLET_DELIVERED;
    lock(watch);
    struct alarm *alarm = alarm_find(watch, slice_str(flight->alarm));
    if (!delivered)
        log_warn("alarm %s: %.200s was not told that it is %s: %s", flight->alarm, flight->url,
                 alarm_states[flight->state], flight->reason);
    if (alarm != NULL && alarm->flying > 0 && alarm->changed_ms == flight->changed_ms &&
        alarm->state == flight->state) {
        alarm->flying--;
        if (delivered || flight->outcome == OUTLET_GONE)
            alarm->done |= 1u << flight->action;
        if (alarm->flying == 0)
            round_ended(watch, alarm);
    } else if (alarm != NULL && delivered && alarm->told != flight->state) {
        // Somebody believes what is no longer so.
        alarm->told = flight->state;
        alarm_keep_logged(watch, alarm);
    }
    unlock(watch);
}

static void work(void *context)
{
    struct caller_out *own = context;
    do {
        gather(own);
        size_t left = 0;
        for (size_t i = 0; i < own->count; i++) {
            struct flight *flight = own->flights[i];
            if (!flight->ended && flight->outlet->ops->wait != NULL)
                flight->outlet->ops->wait(flight->outlet, WAIT_MS);
            if (flight->ended) {
                land(own->watch, flight);
                flight_free(flight);
            } else {
                own->flights[left++] = flight;
            }
        }
        own->count = left;
    } while (own->count > 0 && !worker_stopping(&own->worker));
}

// ---- From outside ------------------------------------------------------------------------------

void actions_changed(struct watch *watch, struct alarm *alarm, enum alarm_state before)
{
    alarm->attempts = alarm->flying = alarm->done = 0;
    alarm->next_ms = 0;
    bool waiting = before != alarm->told;
    if (watch->caller == NULL || actions_wanted(alarm) == 0)
        alarm->told = alarm->state;
    if (waiting && before != alarm->state)
        log_warn("alarm %.*s: nobody could be told that it was %s before it became %s",
                 SLICE_FMT(alarm->name), alarm_states[before], alarm_states[alarm->state]);
    if (alarm->told != alarm->state)
        worker_ask(&watch->caller->worker);
}

void actions_start(struct watch *watch)
{
    if (watch->options.opener == NULL)
        return;
    struct caller_out *own = memory_zeroed(sizeof(*own));
    own->watch = watch;
    own->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ensure(own->bell >= 0);
    watch->caller = own;
    worker_start(&own->worker, &(struct worker_plan){
                                   .work = work, .context = own, .every_ms = 1000, .asked = true});
}

// What is on its way is given up, and told when the server is there again.
void actions_stop(struct watch *watch)
{
    struct caller_out *own = watch->caller;
    if (own == NULL)
        return;
    worker_stop(&own->worker);
    for (size_t i = 0; i < own->count; i++)
        flight_free(own->flights[i]);
    (void)close(own->bell);
    free(own);
    watch->caller = NULL;
}
