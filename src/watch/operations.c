// The operations of CloudWatch that are here, over all protocols.
#include "watch/watch_internal.h"

#include "tables/arn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET "GraniteServiceVersion20100801."
#define PATH   "/service/GraniteServiceVersion20100801/operation/"
#define XMLNS  "http://monitoring.amazonaws.com/doc/2010-08-01/"

enum { QUERIES_MAX = 500, MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

struct call {
    struct watch *watch;
    const struct watch_request *request;
    struct arena arena;
    struct params params;
    struct answer answer;
    struct error error;
    char why[512];    // what is wrong with the request
    const char *code; // of the error that is answered
};

static void lock(struct watch *watch)
{
    ensure(pthread_mutex_lock(&watch->lock) == 0);
}

static void unlock(struct watch *watch)
{
    ensure(pthread_mutex_unlock(&watch->lock) == 0);
}

static bool refuse(struct call *call, const char *why)
{
    (void)snprintf(call->why, sizeof(call->why), "%s", why);
    return false;
}

// ---- Statistics ------------------------------------------------------------------------------

// A time and its periods, brought to what there is.
struct span {
    int64_t from_ms;
    int64_t to_ms;
    int64_t period_ms;
};

static bool span_read(struct call *call, double period, struct span *out)
{
    if (!param_time(&call->params, "StartTime", &out->from_ms) ||
        !param_time(&call->params, "EndTime", &out->to_ms) || out->from_ms >= out->to_ms)
        return refuse(call, "StartTime and EndTime have to be times, the first before the second");
    if (period < 60 || period > 86400 || fmod(period, 60) != 0)
        return refuse(call, "Period has to be a multiple of 60 up to 86400");
    out->period_ms = (int64_t)period * 1000;
    int64_t now = call->watch->now_ms;
    int64_t most =
        out->period_ms % HOUR == 0 ? (int64_t)WATCH_HOURS * HOUR : (int64_t)WATCH_MINUTES * MINUTE;
    if (out->from_ms < now - most)
        out->from_ms = now - most;
    if (out->to_ms > now + out->period_ms)
        out->to_ms = now + out->period_ms;
    out->from_ms = out->from_ms / out->period_ms * out->period_ms;
    return true;
}

// GetMetricStatistics wants any of five at once.
static void write_statistics(struct call *call, const struct statistics *statistics, int64_t at)
{
    answer_open_member(&call->answer);
    answer_time(&call->answer, "Timestamp", at);
    for (int i = 1; param_is_given(&call->params, "Statistics.member.%d", i); i++) {
        static const char *const names[] = {"SampleCount", "Average", "Sum", "Minimum", "Maximum"};
        struct slice wanted = param_text(&call->params, "Statistics.member.%d", i);
        double value;
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            if (slice_is(wanted, names[k]) && statistic_of(statistics, wanted, &value))
                answer_number(&call->answer, names[k], value);
        }
    }
    answer_text(&call->answer, "Unit", SLICE_LIT("Count"));
    answer_close_member(&call->answer);
}

static bool get_metric_statistics(struct call *call)
{
    struct selection what;
    struct span span;
    double period;
    struct slice metric = param_text(&call->params, "MetricName");
    if (!param_number(&call->params, "Period", 0, &period) || !span_read(call, period, &span) ||
        !selection_read(&call->params, "", metric, &what, call->why, sizeof(call->why)))
        return false;
    if (!slice_is(param_text(&call->params, "Namespace"), WATCH_NAMESPACE))
        return refuse(call, "The Namespace has to be " WATCH_NAMESPACE);
    if (!param_is_given(&call->params, "Statistics.member.1"))
        return refuse(call, "Statistics has to name at least one");
    if ((span.to_ms - span.from_ms) / span.period_ms > WATCH_POINTS_MAX)
        return refuse(call, "More than 1440 datapoints were asked for; make Period longer, or the "
                            "time shorter");
    answer_text(&call->answer, "Label", metric);
    answer_open_list(&call->answer, "Datapoints");
    for (int64_t at = span.from_ms; at < span.to_ms; at += span.period_ms) {
        struct statistics statistics;
        if (series_read(call->watch, &what, at, at + span.period_ms, &statistics))
            write_statistics(call, &statistics, at);
    }
    answer_close_list(&call->answer, "Datapoints");
    return true;
}

// ---- GetMetricData ---------------------------------------------------------------------------

struct data_query {
    struct slice id;
    struct slice label;
    struct slice statistic;
    struct selection what;
    struct span span;
};

static bool query_read(struct call *call, int number, struct data_query *out)
{
    struct statistics nothing = {0};
    char prefix[96];
    char name[128];
    double period;
    double ignored;
    (void)snprintf(prefix, sizeof(prefix), "MetricDataQueries.member.%d.MetricStat.Metric.",
                   number);
    out->id = param_text(&call->params, "MetricDataQueries.member.%d.Id", number);
    out->label = param_text(&call->params, "MetricDataQueries.member.%d.Label", number);
    out->statistic =
        param_text(&call->params, "MetricDataQueries.member.%d.MetricStat.Stat", number);
    if (param_is_given(&call->params, "MetricDataQueries.member.%d.Expression", number))
        return refuse(call, "Expressions are not supported: name a MetricStat");
    if (!slice_is(param_text(&call->params, "%sNamespace", prefix), WATCH_NAMESPACE))
        return refuse(call, "The Namespace has to be " WATCH_NAMESPACE);
    if (!statistic_of(&nothing, out->statistic, &ignored))
        return refuse(call, "Stat has to be SampleCount, Average, Sum, Minimum or Maximum");
    struct slice metric = param_text(&call->params, "%sMetricName", prefix);
    if (out->label.ptr == NULL)
        out->label = metric;
    (void)snprintf(name, sizeof(name), "MetricDataQueries.member.%d.MetricStat.Period", number);
    return param_number(&call->params, name, 60, &period) && span_read(call, period, &out->span) &&
           selection_read(&call->params, prefix, metric, &out->what, call->why, sizeof(call->why));
}

// Both lists are of the same periods, in the order that is asked for.
static void write_points(struct call *call, const struct data_query *query, bool values)
{
    bool ascending = slice_is(param_text(&call->params, "ScanBy"), "TimestampAscending");
    int64_t count = (query->span.to_ms - query->span.from_ms + query->span.period_ms - 1) /
                    query->span.period_ms;
    answer_open_list(&call->answer, values ? "Values" : "Timestamps");
    for (int64_t i = 0; i < count; i++) {
        int64_t at = query->span.from_ms + (ascending ? i : count - 1 - i) * query->span.period_ms;
        struct statistics statistics;
        double value;
        if (!series_read(call->watch, &query->what, at, at + query->span.period_ms, &statistics))
            continue;
        (void)statistic_of(&statistics, query->statistic, &value);
        if (values)
            answer_number(&call->answer, NULL, value);
        else
            answer_time(&call->answer, NULL, at);
    }
    answer_close_list(&call->answer, values ? "Values" : "Timestamps");
}

static bool get_metric_data(struct call *call)
{
    struct data_query query;
    if (!param_is_given(&call->params, "MetricDataQueries.member.1.Id"))
        return refuse(call, "MetricDataQueries has to have at least one, with an Id");
    answer_open_list(&call->answer, "MetricDataResults");
    for (int i = 1; param_is_given(&call->params, "MetricDataQueries.member.%d.Id", i); i++) {
        if (i > QUERIES_MAX)
            return refuse(call, "There are more than 500 MetricDataQueries");
        query = (struct data_query){0};
        if (!query_read(call, i, &query))
            return false;
        answer_open_member(&call->answer);
        answer_text(&call->answer, "Id", query.id);
        answer_text(&call->answer, "Label", query.label);
        write_points(call, &query, false);
        write_points(call, &query, true);
        answer_text(&call->answer, "StatusCode", SLICE_LIT("Complete"));
        answer_close_member(&call->answer);
    }
    answer_close_list(&call->answer, "MetricDataResults");
    return true;
}

// ---- ListMetrics -----------------------------------------------------------------------------

static void write_dimension(struct answer *answer, const char *name, const char *value)
{
    if (value[0] == 0)
        return;
    answer_open_member(answer);
    answer_text(answer, "Name", slice_str(name));
    answer_text(answer, "Value", slice_str(value));
    answer_close_member(answer);
}

static void write_metric(struct call *call, const char *name, const char *table,
                         const char *operation)
{
    answer_open_member(&call->answer);
    answer_text(&call->answer, "Namespace", SLICE_LIT(WATCH_NAMESPACE));
    answer_text(&call->answer, "MetricName", slice_str(name));
    answer_open_list(&call->answer, "Dimensions");
    write_dimension(&call->answer, "TableName", table);
    write_dimension(&call->answer, "Operation", operation);
    answer_close_list(&call->answer, "Dimensions");
    answer_close_member(&call->answer);
}

static bool dimensions_ask_for(const struct params *params, const char *name, const char *value)
{
    for (int i = 1; param_is_given(params, "Dimensions.member.%d.Name", i); i++) {
        if (slice_is(param_text(params, "Dimensions.member.%d.Name", i), name) &&
            param_is_given(params, "Dimensions.member.%d.Value", i))
            return slice_is(param_text(params, "Dimensions.member.%d.Value", i), value);
    }
    return true;
}

// Of units CloudWatch has a table's; of errors those of its operations.
static bool is_repeated(const struct watch *watch, size_t at, size_t metric)
{
    if (metric > WATCH_WRITE)
        return false;
    for (size_t i = 0; i < at; i++) {
        if (strcmp(watch->series[i]->table, watch->series[at]->table) == 0 &&
            watch->series[i]->totals[metric] > 0)
            return true;
    }
    return false;
}

static bool list_metrics(struct call *call)
{
    static const char *const names[] = {
#define X(id, name, unit) name,
        WATCH_METRIC_LIST(X)
#undef X
    };
    const struct watch *watch = call->watch;
    struct slice space = param_text(&call->params, "Namespace");
    struct slice wanted = param_text(&call->params, "MetricName");
    answer_open_list(&call->answer, "Metrics");
    for (size_t i = 0; i < watch->series_count; i++) {
        const struct series *series = watch->series[i];
        for (size_t m = 0; m < WATCH_METRICS; m++) {
            if (series->totals[m] <= 0 || (space.len > 0 && !slice_is(space, WATCH_NAMESPACE)) ||
                (wanted.len > 0 && !slice_is(wanted, names[m])) || is_repeated(watch, i, m))
                continue;
            const char *operation = m <= WATCH_WRITE ? "" : series->operation;
            if (dimensions_ask_for(&call->params, "TableName", series->table) &&
                dimensions_ask_for(&call->params, "Operation", operation))
                write_metric(call, names[m], series->table, operation);
        }
    }
    answer_close_list(&call->answer, "Metrics");
    return true;
}

// ---- Alarms ----------------------------------------------------------------------------------

static bool put_metric_alarm(struct call *call)
{
    if (!actions_valid(&call->params, call->why, sizeof(call->why)))
        return false;
    struct alarm *alarm = alarm_new(&call->params, call->why, sizeof(call->why));
    if (alarm == NULL)
        return false;
    alarm->updated_ms = alarm->changed_ms = call->watch->now_ms;
    if (alarm_put(call->watch, alarm, &call->error))
        return true;
    alarm_free(alarm);
    return false;
}

static bool delete_alarms(struct call *call)
{
    bool fine = true;
    for (int i = 1; fine && param_is_given(&call->params, "AlarmNames.member.%d", i); i++)
        fine = alarm_remove(call->watch, param_text(&call->params, "AlarmNames.member.%d", i),
                            &call->error);
    return fine;
}

static int state_find(struct slice name)
{
    for (int i = 0; i <= ALARM_ALARM; i++) {
        if (slice_is(name, alarm_states[i]))
            return i;
    }
    return -1;
}

static bool set_alarm_state(struct call *call)
{
    int state = state_find(param_text(&call->params, "StateValue"));
    if (state < 0)
        return refuse(call, "StateValue has to be OK, ALARM or INSUFFICIENT_DATA");
    return alarm_set(call->watch, param_text(&call->params, "AlarmName"), (enum alarm_state)state,
                     param_text(&call->params, "StateReason"), &call->error);
}

static void write_actions(struct answer *answer, const struct params *params, const char *name)
{
    answer_open_list(answer, name);
    for (int i = 1; param_is_given(params, "%s.member.%d", name, i); i++)
        answer_text(answer, NULL, param_text(params, "%s.member.%d", name, i));
    answer_close_list(answer, name);
}

static void write_given(struct answer *answer, const struct params *params, const char *name)
{
    struct slice text = param_text(params, "%s", name);
    if (text.len > 0)
        answer_text(answer, name, text);
}

static void write_alarm(struct call *call, const struct alarm *alarm)
{
    struct answer *answer = &call->answer;
    const struct params *params = &alarm->params;
    char arn[512];
    struct slice region = call->request->region;
    (void)snprintf(arn, sizeof(arn), "arn:aws:cloudwatch:%.*s:" WATCH_ACCOUNT ":alarm:%.*s",
                   SLICE_FMT(region), SLICE_FMT(alarm->name));
    answer_open_member(answer);
    answer_text(answer, "AlarmName", alarm->name);
    answer_text(answer, "AlarmArn", slice_str(arn));
    write_given(answer, params, "AlarmDescription");
    answer_time(answer, "AlarmConfigurationUpdatedTimestamp", alarm->updated_ms);
    answer_flag(answer, "ActionsEnabled", !slice_is(param_text(params, "ActionsEnabled"), "false"));
    write_actions(answer, params, "OKActions");
    write_actions(answer, params, "AlarmActions");
    write_actions(answer, params, "InsufficientDataActions");
    answer_text(answer, "StateValue", slice_str(alarm_states[alarm->state]));
    answer_text(answer, "StateReason", slice_str(alarm->reason));
    answer_time(answer, "StateUpdatedTimestamp", alarm->changed_ms);
    write_given(answer, params, "MetricName");
    write_given(answer, params, "Namespace");
    write_given(answer, params, "Statistic");
    answer_open_list(answer, "Dimensions");
    for (int i = 1; param_is_given(params, "Dimensions.member.%d.Name", i); i++) {
        answer_open_member(answer);
        answer_text(answer, "Name", param_text(params, "Dimensions.member.%d.Name", i));
        answer_text(answer, "Value", param_text(params, "Dimensions.member.%d.Value", i));
        answer_close_member(answer);
    }
    answer_close_list(answer, "Dimensions");
    answer_integer(answer, "Period", alarm->period_ms / 1000);
    answer_integer(answer, "EvaluationPeriods", alarm->periods);
    answer_integer(answer, "DatapointsToAlarm", alarm->datapoints);
    answer_number(answer, "Threshold", alarm->threshold);
    answer_text(answer, "ComparisonOperator", alarm->comparison);
    answer_text(answer, "TreatMissingData", alarm->missing);
    answer_close_member(answer);
}

static bool is_asked_for(const struct params *params, const struct alarm *alarm)
{
    struct slice prefix = param_text(params, "AlarmNamePrefix");
    struct slice state = param_text(params, "StateValue");
    if ((prefix.len > 0 && !slice_begins(alarm->name, prefix)) ||
        (state.len > 0 && !slice_is(state, alarm_states[alarm->state])))
        return false;
    if (!param_is_given(params, "AlarmNames.member.1"))
        return true;
    for (int i = 1; param_is_given(params, "AlarmNames.member.%d", i); i++) {
        if (slice_equal(param_text(params, "AlarmNames.member.%d", i), alarm->name))
            return true;
    }
    return false;
}

// The token is the name of the last alarm of the page before.
static bool describe_alarms(struct call *call)
{
    const struct watch *watch = call->watch;
    struct slice after = param_text(&call->params, "NextToken");
    double most;
    struct slice last = {NULL, 0};
    bool more = false;
    size_t shown = 0;
    if (!param_number(&call->params, "MaxRecords", 50, &most) || most < 1 || most > 100)
        return refuse(call, "MaxRecords has to be 1 to 100");
    answer_open_list(&call->answer, "MetricAlarms");
    for (size_t i = 0; i < watch->alarm_count && !more; i++) {
        const struct alarm *alarm = watch->alarms[i];
        if (!is_asked_for(&call->params, alarm) ||
            (after.len > 0 && slice_compare(alarm->name, after) <= 0))
            continue;
        more = (double)shown == most;
        if (more)
            break;
        write_alarm(call, alarm);
        last = alarm->name;
        shown++;
    }
    answer_close_list(&call->answer, "MetricAlarms");
    if (more)
        answer_text(&call->answer, "NextToken", last);
    return true;
}

// ---- All of them -----------------------------------------------------------------------------

static const struct operation {
    const char *name;
    bool (*run)(struct call *call);
    bool changes;       // takes the lock itself
    const char *alarms; // the parameter that names one, or the first; NULL: it is about no alarm
} operations[] = {
    {"GetMetricData", get_metric_data, false, NULL},
    {"GetMetricStatistics", get_metric_statistics, false, NULL},
    {"ListMetrics", list_metrics, false, NULL},
    {"PutMetricAlarm", put_metric_alarm, true, "AlarmName"},
    {"DescribeAlarms", describe_alarms, false, "AlarmNames.member.%d"},
    {"DeleteAlarms", delete_alarms, true, "AlarmNames.member.%d"},
    {"SetAlarmState", set_alarm_state, true, "AlarmName"},
};

// ---- May they ----------------------------------------------------------------------------------

static bool may(struct call *call, const struct operation *operation, struct slice alarm)
{
    char action[64];
    char resource[512] = "*";
    struct slice region = call->request->region;
    int64_t now = call->watch->options.now(call->watch->options.clock);
    (void)snprintf(action, sizeof(action), "cloudwatch:%s", operation->name);
    if (operation->alarms != NULL)
        (void)snprintf(resource, sizeof(resource),
                       "arn:aws:cloudwatch:%.*s:" WATCH_ACCOUNT ":alarm:%.*s", SLICE_FMT(region),
                       SLICE_FMT(alarm));
    return caller_may(&(struct caller_request){.caller = call->request->caller,
                                               .action = slice_str(action),
                                               .action_id = POLICY_ACTION_UNKNOWN,
                                               .resource = slice_str(resource),
                                               .region = region,
                                               .now_ms = now},
                      call->request->denial);
}

// Every alarm that is named, or all of them.
static bool may_all(struct call *call, const struct operation *operation)
{
    if (call->request->caller == NULL)
        return true;
    bool many = operation->alarms != NULL && strchr(operation->alarms, '%') != NULL;
    if (operation->alarms == NULL || !many)
        return may(call, operation, param_text(&call->params, "AlarmName"));
    if (!param_is_given(&call->params, "AlarmNames.member.1"))
        return may(call, operation, SLICE_LIT("*"));
    for (int i = 1; param_is_given(&call->params, "AlarmNames.member.%d", i); i++) {
        if (!may(call, operation, param_text(&call->params, "AlarmNames.member.%d", i)))
            return false;
    }
    return true;
}

// ---- Requests
// ------------------------------------------------------------------------------------

bool watch_owns_path(struct slice path)
{
    return slice_begins(path, SLICE_LIT(PATH));
}

static struct slice behind(struct slice text, size_t prefix)
{
    return slice_of(text.ptr + prefix, text.len - prefix);
}

bool watch_owns(const struct watch_head *head, struct watch_request *out)
{
    *out = (struct watch_request){.protocol = WATCH_QUERY, .body = head->body};
    if (watch_owns_path(head->path)) {
        out->protocol = WATCH_CBOR;
        out->operation = behind(head->path, sizeof(PATH) - 1);
        return true;
    }
    if (!slice_is(head->path, "/"))
        return false;
    if (slice_begins(head->target, SLICE_LIT(TARGET))) {
        out->protocol = WATCH_JSON;
        out->operation = behind(head->target, sizeof(TARGET) - 1);
        return true;
    }
    return head->target.len == 0 &&
           slice_begins(head->type, SLICE_LIT("application/x-www-form-urlencoded")) &&
           memmem(head->body.ptr, head->body.len, "Action=", 7) != NULL;
}

const char *watch_content_type(enum watch_protocol protocol)
{
    return protocol == WATCH_QUERY  ? "text/xml"
           : protocol == WATCH_JSON ? "application/x-amz-json-1.0"
                                    : "application/cbor";
}

static int answer_error(struct call *call, int status, const char *code, const char *message)
{
    struct answer *answer = &call->answer;
    struct buf *out = answer->out;
    buf_clear(out);
    answer->w = json_writer_to(out);
    call->code = code;
    switch (answer->protocol) {
    case WATCH_QUERY:
        buf_text(out, "<ErrorResponse xmlns=\"" XMLNS "\"><Error><Type>Sender</Type>");
        answer_text(answer, "Code", slice_str(code));
        answer_text(answer, "Message", slice_str(message));
        buf_text(out, "</Error><RequestId>0</RequestId></ErrorResponse>");
        break;
    case WATCH_JSON:
        json_form(&answer->w, "{'__type':%s,'message':%s}", code, message);
        break;
    case WATCH_CBOR:
        cbor_open(out, true);
        answer_text(answer, "__type", slice_str(code));
        answer_text(answer, "message", slice_str(message));
        cbor_close(out);
        break;
    }
    return status;
}

static void begin_answer(struct call *call, const char *name)
{
    if (call->answer.protocol == WATCH_QUERY)
        buf_printf(call->answer.out, "<%sResponse xmlns=\"" XMLNS "\"><%sResult>", name, name);
    else if (call->answer.protocol == WATCH_JSON)
        json_open_object(&call->answer.w);
    else
        cbor_open(call->answer.out, true);
}

static void end_answer(struct call *call, const char *name)
{
    if (call->answer.protocol == WATCH_QUERY)
        buf_printf(call->answer.out,
                   "</%sResult><ResponseMetadata><RequestId>0</RequestId></ResponseMetadata>"
                   "</%sResponse>",
                   name, name);
    else if (call->answer.protocol == WATCH_JSON)
        json_close_object(&call->answer.w);
    else
        cbor_close(call->answer.out);
}

static int run(struct call *call, const struct operation *operation)
{
    if (!may_all(call, operation)) {
        char denial[1024];
        (void)snprintf(denial, sizeof(denial), "%.*s", SLICE_FMT(buf_view(call->request->denial)));
        return answer_error(call, 403,
                            call->answer.protocol == WATCH_QUERY ? "AccessDenied"
                                                                 : "AccessDeniedException",
                            denial);
    }
    begin_answer(call, operation->name);
    if (!operation->changes)
        lock(call->watch);
    bool fine = operation->run(call);
    if (!operation->changes)
        unlock(call->watch);
    if (!fine && call->error.code == ERR_RESOURCE_NOT_FOUND)
        return answer_error(call, 404, "ResourceNotFound", call->error.message);
    if (!fine && call->error.code == ERR_LIMIT_EXCEEDED)
        return answer_error(call, 400, "LimitExceeded", call->error.message);
    if (!fine && call->error.code != ERR_NONE)
        return answer_error(call, 500, "InternalServiceFault", "The store took no write");
    if (!fine)
        return answer_error(call, 400, "ValidationError", call->why);
    end_answer(call, operation->name);
    return call->answer.out->failed
               ? answer_error(call, 500, "InternalServiceFault", "Out of memory")
               : 200;
}

static bool read_params(struct call *call)
{
    static bool (*const readers[])(struct params * params, struct slice body) = {
        [WATCH_QUERY] = params_of_form,
        [WATCH_JSON] = params_of_json,
        [WATCH_CBOR] = params_of_cbor,
    };
    return call->request->body.len <= WATCH_BODY_MAX &&
           readers[call->request->protocol](&call->params, call->request->body);
}

static int answer_call(struct call *call)
{
    const struct watch_request *request = call->request;
    bool query = request->protocol == WATCH_QUERY;
    if (!read_params(call))
        return answer_error(call, 400, "ValidationError", "The request cannot be read");
    struct slice name = query ? param_text(&call->params, "Action") : request->operation;
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (slice_is(name, operations[i].name))
            return run(call, &operations[i]);
    }
    return answer_error(call, 400, query ? "InvalidAction" : "UnknownOperationException",
                        "There is no such operation here. There are GetMetricData, "
                        "GetMetricStatistics, ListMetrics, PutMetricAlarm, DescribeAlarms, "
                        "DeleteAlarms and SetAlarmState.");
}

int watch_answer(struct watch *watch, const struct watch_request *request, struct buf *out,
                 const char **code)
{
    struct call call = {.watch = watch, .request = request};
    watch_look(watch); // what was counted until now
    arena_init(&call.arena, LIMIT_REQUEST_MEMORY);
    error_init(&call.error, &call.arena);
    call.params.arena = &call.arena;
    call.answer =
        (struct answer){.protocol = request->protocol, .out = out, .w = json_writer_to(out)};
    int status = answer_call(&call);
    *code = call.code;
    arena_release(&call.arena);
    return status;
}
