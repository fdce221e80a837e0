// What the requests of a server have used, minute by minute, and alarms on it: a part of
// CloudWatch's API over the metrics that DynamoDB has there.
//
//   series.c      minutes of the last three hours, and hours of the last 15 days
//   alarms.c      alarms: kept in the store, judged when their period has ended
//   actions.c     who is told of their changes
//   params.c      requests of all protocols, as names and values
//   answer.c      responses of all protocols
//   cbor.c        CBOR, which one of them is
//   operations.c  the operations
//
// A thread asks once a second what was counted (watch_source). Everything here may be called by any
// thread, but watch_add() only from within the source.
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "policy/caller.h"
#include "work/workshop.h"

enum {
    WATCH_MINUTES = 180,
    WATCH_HOURS = 15 * 24,
    WATCH_SERIES_MAX = 2000, // operations on tables that are told apart: 26 MB
    WATCH_ALARMS_MAX = 500,
    WATCH_POINTS_MAX = 1440, // of a request for statistics, as the service has it
    WATCH_BODY_MAX = 256 << 10,
};

// X(id, name, unit)
#define WATCH_METRIC_LIST(X)                                                                       \
    X(READ, "ConsumedReadCapacityUnits", "Count")                                                  \
    X(WRITE, "ConsumedWriteCapacityUnits", "Count")                                                \
    X(THROTTLED, "ThrottledRequests", "Count")                                                     \
    X(USER, "UserErrors", "Count")                                                                 \
    X(SYSTEM, "SystemErrors", "Count")

enum watch_metric {
#define X(id, name, unit) WATCH_##id,
    WATCH_METRIC_LIST(X)
#undef X
        WATCH_METRICS
};

struct watch;
struct outlet_opener;

// One operation on one table: totals since the start.
struct watch_count {
    struct slice table;     // empty if there is none
    struct slice operation; // "PutItem"
    uint64_t requests;
    double totals[WATCH_METRICS];
};

// Calls watch_add() with all there is.
typedef void watch_source(void *context, struct watch *watch);

struct watch_options {
    struct workshop *shop; // borrowed
    watch_source *source;
    void *context;
    int64_t (*now)(void *context); // the clock, in ms
    void *clock;
    const struct outlet_opener *opener; // how actions are called; borrowed, NULL: they are not
    const char *region;                 // of ARNs; borrowed
};
struct watch *watch_new(const struct watch_options *options);
// While the engine is open.
void watch_free(struct watch *watch);
void watch_add(struct watch *watch, const struct watch_count *count);
// Does now what it does once a second; for tests, and before somebody looks.
void watch_look(struct watch *watch);

enum watch_protocol { WATCH_QUERY, WATCH_JSON, WATCH_CBOR };

struct watch_request {
    enum watch_protocol protocol;
    struct slice operation; // empty for QUERY: the form says it
    struct slice body;
    struct slice region;
    const struct caller *caller; // or NULL: policies decide nothing
    struct buf *denial;          // with a caller: what is not allowed, in a sentence
};
// What tells whose a request is.
struct watch_head {
    struct slice path;
    struct slice target; // X-Amz-Target
    struct slice type;   // Content-Type
    struct slice body;
};
// Whether a request is CloudWatch's: by its target, its path, or the Action of a form. Then it says
// what is asked, but for the region.
bool watch_owns(const struct watch_head *head, struct watch_request *out);
// Whether the path is one of its own: that of an operation by CBOR.
bool watch_owns_path(struct slice path);

// Writes the response; the HTTP status. `code` is that of an error, or NULL. May wait for the
// writer: for the pool.
int watch_answer(struct watch *watch, const struct watch_request *request, struct buf *out,
                 const char **code);
const char *watch_content_type(enum watch_protocol protocol);

// dolmen_alarm{name="…"} 1, for each alarm: 0 if it is OK, 1 in ALARM, -1 without data.
void watch_metrics(struct watch *watch, struct buf *out);

#endif
