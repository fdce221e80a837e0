// What the files of this directory share.
#ifndef WATCH_WATCH_INTERNAL_H
#define WATCH_WATCH_INTERNAL_H

#include "base/time_text.h"
#include "base/worker.h"
#include "capture/outlet.h"
#include "watch/watch.h"
#include "json/writer.h"

#include <pthread.h>

#define WATCH_NAMESPACE "AWS/DynamoDB"
#define WATCH_ACCOUNT   "000000000000"

// ---- Series ----------------------------------------------------------------------------------

struct bucket {
    int64_t number; // of the minute, or the hour, since 1970
    uint32_t requests;
    float sums[WATCH_METRICS];
};

struct series {
    char *table;
    char *operation;
    uint64_t requests; // totals, when they were last looked at
    double totals[WATCH_METRICS];
    struct bucket minutes[WATCH_MINUTES];
    struct bucket hours[WATCH_HOURS];
};

// Which series are asked for.
struct selection {
    enum watch_metric metric;
    struct slice table;     // ptr NULL for all
    struct slice operation; // ptr NULL for all
};

struct statistics {
    double sum;
    double count;
    double least;
    double most;
};

struct alarm;
struct caller_out;

struct watch {
    struct watch_options options;
    struct worker worker;
    struct caller_out *caller; // who is told of alarms (actions.c); NULL: nobody
    pthread_mutex_t lock;      // of all below
    int64_t now_ms;            // of the round in progress
    int64_t started_ms;
    size_t series_count;
    struct series **series;
    size_t alarm_count;
    struct alarm *alarms[WATCH_ALARMS_MAX]; // in the order of their names
};

// With the lock. False: there is nothing in that time.
bool series_read(const struct watch *watch, const struct selection *what, int64_t from_ms,
                 int64_t to_ms, struct statistics *out);
void series_free(struct watch *watch);

// "Sum" and its like; false if it is none.
bool statistic_of(const struct statistics *from, struct slice name, double *out);
int metric_find(struct slice name); // -1 if it is none

// ---- Parameters (params.c) -------------------------------------------------------------------

// A request is a list of names and values, the names as the Query protocol has them:
// "Dimensions.member.1.Name".
struct param {
    struct slice name;
    struct slice value;
};
struct params {
    struct arena *arena;
    size_t count;
    struct param *list;
};
// False if it is malformed, or too long.
MUST_CHECK bool params_of_form(struct params *params, struct slice body);
MUST_CHECK bool params_of_json(struct params *params, struct slice body);
MUST_CHECK bool params_of_cbor(struct params *params, struct slice body); // cbor.c
// False if there are too many, or the name is too long.
MUST_CHECK bool params_add(struct params *params, struct slice name, struct slice value);
enum { WATCH_NAME_MAX = 256 };
// Empty if there is none. The name is printf's.
struct slice param_text(const struct params *params, const char *format, ...) PRINTF_LIKE(2, 3);
bool param_is_given(const struct params *params, const char *format, ...) PRINTF_LIKE(2, 3);
// False if it is not a number.
MUST_CHECK bool param_number(const struct params *params, const char *name, double otherwise,
                             double *out);
// Seconds since 1970, or a time as text; in ms.
MUST_CHECK bool param_time(const struct params *params, const char *name, int64_t *out);
void params_write_form(const struct params *params, struct buf *out);

// ---- Answers (answer.c) ----------------------------------------------------------------------

// XML, JSON or CBOR, by the same calls.
struct answer {
    enum watch_protocol protocol;
    struct buf *out;
    struct json_writer w;
};
void answer_open(struct answer *answer, const char *name); // a structure
void answer_close(struct answer *answer, const char *name);
void answer_open_list(struct answer *answer, const char *name);
void answer_close_list(struct answer *answer, const char *name);
void answer_open_member(struct answer *answer); // of a list: a structure
void answer_close_member(struct answer *answer);
void answer_text(struct answer *answer, const char *name, struct slice text); // name NULL: a member
void answer_number(struct answer *answer, const char *name, double number);
void answer_integer(struct answer *answer, const char *name, int64_t number); // below 2^32
void answer_flag(struct answer *answer, const char *name, bool flag);
void answer_time(struct answer *answer, const char *name, int64_t ms);

// ---- CBOR (cbor.c) ---------------------------------------------------------------------------

void cbor_open(struct buf *out, bool map); // or a list
void cbor_close(struct buf *out);
void cbor_text(struct buf *out, struct slice text);
void cbor_integer(struct buf *out, uint32_t number);
void cbor_double(struct buf *out, double number);
void cbor_time(struct buf *out, int64_t ms);
void cbor_flag(struct buf *out, bool flag);

// ---- Alarms ----------------------------------------------------------------------------------

enum { ALARM_NAME = 255, ACTIONS_MAX = 5 }; // actions of a state, as the service has it

enum alarm_state { ALARM_UNKNOWN, ALARM_OK, ALARM_ALARM };
extern const char *const alarm_states[]; // INSUFFICIENT_DATA, OK, ALARM

struct alarm {
    struct arena arena;   // of the parameters
    struct params params; // as PutMetricAlarm was called with them
    struct slice name;
    struct selection what;
    struct slice statistic;
    int64_t period_ms;
    int64_t periods;
    int64_t datapoints;
    double threshold;
    struct slice comparison;
    struct slice missing;
    enum alarm_state state;
    char reason[512];
    int64_t changed_ms; // the state
    int64_t updated_ms; // the alarm
    int64_t judged_ms;  // up to here

    // For actions.c.
    enum alarm_state told; // the state that was told last, or that nobody wanted to be told
    unsigned attempts;     // to tell the present one
    unsigned flying;       // calls that are on their way
    unsigned done;         // bits of the actions that were told
    int64_t next_ms;       // not before; by monotonic_ms()
};

// What a request asks for; NULL with a sentence in `why`.
MUST_CHECK struct alarm *alarm_new(const struct params *params, char *why, size_t why_size);
void alarm_free(struct alarm *alarm);
struct alarm *alarm_find(struct watch *watch, struct slice name); // with the lock
// Puts it in its place, and keeps it; without the lock. False with the error set.
MUST_CHECK bool alarm_put(struct watch *watch, struct alarm *alarm, struct error *error);
MUST_CHECK bool alarm_remove(struct watch *watch, struct slice name, struct error *error);
MUST_CHECK bool alarm_set(struct watch *watch, struct slice name, enum alarm_state state,
                          struct slice reason, struct error *error);
// Keeps its state, or logs why not; with the lock.
void alarm_keep_logged(struct watch *watch, const struct alarm *alarm);
void alarms_load(struct watch *watch);
void alarms_judge(struct watch *watch);

// ---- Actions (actions.c) -----------------------------------------------------------------------

// False with a sentence if one cannot be an action.
MUST_CHECK bool actions_valid(const struct params *params, char *why, size_t why_size);
// The state of the alarm is another one, or was set again; with the lock. To be kept after it.
void actions_changed(struct watch *watch, struct alarm *alarm, enum alarm_state before);
void actions_start(struct watch *watch);
void actions_stop(struct watch *watch);

// The dimensions of a request below a name: false with a sentence if they are none of ours.
MUST_CHECK bool selection_read(const struct params *params, const char *prefix, struct slice metric,
                               struct selection *out, char *why, size_t why_size);

#endif
