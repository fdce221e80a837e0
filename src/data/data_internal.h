// What the files of the data API share: the request in progress, its tasks, its problems.
#ifndef DATA_DATA_INTERNAL_H
#define DATA_DATA_INTERNAL_H

#include "data/data.h"
#include "guard/access_view.h"
#include "guard/address.h"
#include "guard/guard.h"
#include "guard/plain.h"
#include "value/digest.h"
#include "json/reader.h"

enum {
    DATA_ETAG = 2 * DIGEST_BYTES + 2, // with its quotes
    DATA_TRIES = 200, // of a patch that others always overtake; each time, one of them is done
    DATA_LIST_MAX = LIMIT_TRANSACT,
    DATA_LINK_STEPS = 2500, // what signing a link costs: about 10 µs
};

// A parameter of the query string, decoded.
struct data_param {
    struct slice name;
    struct slice value;
};

// ---- Problems (data_problem.c) -----------------------------------------------------------------

// X(kind, status, title)
#define DATA_PROBLEM_LIST(X)                                                                       \
    X(MALFORMED, 400, "The request is malformed")                                                  \
    X(INVALID, 400, "The request does not fit the model")                                          \
    X(CURSOR, 400, "The cursor is not valid")                                                      \
    X(FORBIDDEN, 403, "The request is not allowed")                                                \
    X(NOT_FOUND, 404, "Not found")                                                                 \
    X(METHOD, 405, "The method is not allowed here")                                               \
    X(EXISTS, 409, "The entity exists already")                                                    \
    X(NOT_DELETED, 409, "The entity is not deleted")                                               \
    X(CONFLICT, 409, "The change conflicts with others")                                           \
    X(NOT_UNIQUE, 409, "Another entity has this value")                                            \
    X(PRECONDITION, 412, "The precondition failed")                                                \
    X(TOO_LARGE, 413, "The request is too large")                                                  \
    X(MEDIA_TYPE, 415, "The content type is not supported")                                        \
    X(CANCELED, 409, "The transaction was cancelled")                                              \
    X(THROTTLED, 429, "Too many requests")                                                         \
    X(INTERNAL, 500, "The server failed")                                                          \
    X(UNAVAILABLE, 503, "The database takes no writes at the moment")

enum data_problem_kind {
#define X(kind, status, title) DATA_##kind,
    DATA_PROBLEM_LIST(X)
#undef X
        DATA_PROBLEMS
};

struct data_problem {
    enum data_problem_kind kind;
    const char *detail;                        // or NULL
    const struct model_violations *violations; // or NULL
    enum error_code code;                      // the exception it comes from, or ERR_NONE
};

int data_problem_status(const struct data_problem *problem);
// What an error of the api means here.
struct data_problem data_problem_of(enum error_code code, const char *message, const void *details);
struct data_problem data_problem_error(const struct error *error);
// There is no memory: for now, or the request wants more than one may have.
struct data_problem data_problem_memory(struct data *data);
// The members of a problem document; the object is the caller's. `where` is put before the
// pointers.
void data_problem_members(struct json_writer *w, const struct data_problem *problem,
                          const char *where);

// ---- Changes and tasks (data_change.c) --------------------------------------------------------

enum data_action {
    DATA_GET,
    DATA_CREATE,
    DATA_REPLACE,
    DATA_PATCH,
    DATA_DELETE,
    DATA_UNDELETE,
    DATA_CHECK, // in a transaction: it is there, and as expected
};

// If-Match, If-None-Match.
struct data_match {
    struct slice if_match;      // as sent; empty if not
    struct slice if_none_match; // as sent
};

// One thing that is to be done to one entity, and what came of it.
struct data_change {
    enum data_action action;
    const struct model_entity *entity;
    struct slice fields; // attributes that name the entity; VALUE_NONE for DATA_CREATE
    struct slice key;    // made of them
    struct slice body;   // JSON
    struct data_match match;
    bool keys; // show derived attributes

    bool failed;
    struct data_problem problem;
    int status; // if it did not fail
    struct slice item;
    bool hidden; // the answer has no room for the item
    uint8_t digest[DIGEST_BYTES];
    struct slice warnings;
    bool repeated; // it was done before, and not again
};

enum data_task_state {
    TASK_NEW,
    TASK_WAITING, // for its commit
    TASK_DONE,
};

struct data_task {
    struct data *data;
    struct api_call call;
    enum data_task_state state;
    unsigned tries;
    size_t prepared; // changes that have been
    bool fine;       // none of them failed
    size_t count;    // several are a transaction
    struct data_change *changes;
    struct entity_write *writes;
};

// Goes on with a task, whatever its state: DATA_READY if it is done.
MUST_CHECK enum data_step data_task_run(struct data_task *task);
// Fails a change.
bool data_change_fail(struct data_change *change, struct data_problem problem);
// {"userId":…} of the query string, or of a JSON object, into change->fields and change->key.
bool data_change_key(struct data *data, struct data_change *change);
void data_etag_text(const uint8_t digest[DIGEST_BYTES], char out[DATA_ETAG + 1]);
// Writes the entity as JSON.
void data_change_write(struct data *data, const struct data_change *change, struct json_writer *w);
// "/v1/table/User?userId=…"
void data_location(struct data *data, const struct data_change *change, struct buf *out);

// ---- The request ------------------------------------------------------------------------------

struct data {
    const struct data_service *service;
    struct http_exchange *exchange;
    struct budget_account account; // of arena and body
    struct arena arena;
    struct error error;
    uint64_t begun_ns;
    const struct caller *caller; // who asks; or NULL
    bool bound;                  // to a tenant
    struct slice principal;      // who asks
    struct slice tenant;
    struct slice region;
    bool told; // what policies would refuse, in a header

    struct slice table_name;
    struct slice name;  // of the entity, the pattern, or what was asked for instead
    struct slice known; // it, if there is such a thing
    struct model *model;
    const struct model_table *table;
    size_t param_count;
    struct data_param *params;

    // Slices, see engine.h: a thread of the pool goes on with `later`.
    enum data_step (*later)(struct data *data);
    bool pooled;    // this is one of its threads
    uint64_t work;  // that is left of this slice
    uint64_t shown; // bytes of entities that the answer has

    size_t task_count;
    struct data_task *tasks;
    size_t task_next;                    // of this round
    bool tasks_wait;                     // one of this round does
    _Atomic unsigned waiting;            // tasks that wait for their commit
    void (*complete)(struct data *data); // makes the answer when all tasks are done
    struct data_pattern *pattern;        // that is being read, or NULL
    struct data_live *live;              // and whose changes are to follow, or NULL
    struct data_count *counts;
    bool notes_keys;
    struct call_decision decision; // of the calls so far; see data_count_call()
    struct call_note *notes;
    size_t note_count;
    struct slice object;        // of $upload/{name}
    struct data_upload *upload; // that is asked for; or NULL
    struct arena scratch;       // of links
    uint64_t links;             // that were signed since somebody asked

    int status;
    struct slice type;
    struct buf headers;
    struct buf body;
    struct api_usage usage;
    enum error_code error_code;
};

// Whether the caller may do this with the table or, if its name is empty, with a resource. False:
// the error is set.
MUST_CHECK bool data_may(struct data *data, const char *action, struct slice table,
                         struct slice resource);

MUST_CHECK enum data_step data_entity(struct data *data, const struct model_entity *entity);
// Reads the entity that the parameters name, for another answer.
MUST_CHECK enum data_step data_entity_read(struct data *data, const struct model_entity *entity,
                                           void (*complete)(struct data *data));
// Links to the objects of entities, unless the option `objects` is false (data_objects.c).
struct model_plain_more data_objects_more(struct data *data, const struct slice *wanted);
MUST_CHECK enum data_step data_upload(struct data *data, const struct model_entity *entity,
                                      struct slice name);
MUST_CHECK enum data_step data_undelete(struct data *data, const struct model_entity *entity);
// Whether items of the entity can be deleted softly, and undeleted.
bool data_undeletes(const struct model_entity *entity);
MUST_CHECK enum data_step data_list(struct data *data, bool transaction);
MUST_CHECK enum data_step data_pattern(struct data *data, const struct model_access *access);
MUST_CHECK enum data_step data_pattern_resume(struct data *data);

// What is not an argument of a pattern.
struct query_options {
    struct access_options access;
    const struct slice *cursor;
    bool keys;
    bool explain;
};
// Understands the query string: options, and the values of the parameters. False with the error
// set.
MUST_CHECK bool data_question(struct data *data, const struct model_access *access,
                              struct query_options *options, const struct slice **values);

// A pattern whose page is being read, and written as it comes.
struct data_pattern {
    const struct access_plan *plan;
    struct slice scope;
    struct access_view view;
    bool waits;         // for the call
    bool found;         // an item has been shown
    uint64_t count;     // a pattern that counts: items so far,
    uint64_t counted;   // those of pages that are done,
    unsigned pages;     // which are so many,
    struct slice after; // and where the next one begins
    struct entity_read read;
    struct json_writer w;
};
// Reads the next page of data->pattern.
MUST_CHECK enum data_step data_pattern_read(struct data *data);
// Whether the caller may read the pattern. False: the error is set.
MUST_CHECK bool data_pattern_ask(struct data *data);

// ---- Live patterns (data_live.c)
// -----------------------------------------------------------------

// Whether the request is for events.
bool data_live_wanted(const struct data *data);
MUST_CHECK enum data_step data_live(struct data *data, const struct model_access *access);
MUST_CHECK enum data_step data_live_woken(struct data *data);
void data_live_end(struct data *data);
// For data_query.c: a page begins; an item of it; it has been read, or data->error is set.
void data_live_page_begin(struct data *data);
MUST_CHECK bool data_live_item(struct data *data, struct slice item, struct steps *steps);
MUST_CHECK enum data_step data_live_page(struct data *data);
struct store_snapshot *data_live_snapshot(const struct data *data);
enum data_step data_tables_page(struct data *data);
enum data_step data_table_page(struct data *data);
enum data_step data_openapi_page(struct data *data);

// Makes `count` tasks; false with the problem answered if memory is out.
MUST_CHECK bool data_tasks_new(struct data *data, size_t count);
// Starts them all; when they are done `complete` is called, perhaps before this returns.
MUST_CHECK enum data_step data_tasks_run(struct data *data, void (*complete)(struct data *data));
// Goes on with `later`: DATA_LATER, unless this is the pool already.
MUST_CHECK enum data_step data_move(struct data *data, enum data_step (*later)(struct data *data));

// Answers. Those that return a step are at the end with it: DATA_READY.
enum data_step data_answer_problem(struct data *data, struct data_problem problem);
// The problem that is in data->error.
enum data_step data_answer_error(struct data *data);
// 200 with the JSON in data->body.
enum data_step data_answer_json(struct data *data, int status);
enum data_step data_answer_not_found(struct data *data, const char *format, ...) PRINTF_LIKE(2, 3);
// 405 unless the method is one of the list, "GET, HEAD"; then true.
MUST_CHECK bool data_method_in(struct data *data, const char *allowed);
// 415 unless the body is JSON, or there is none.
MUST_CHECK bool data_body_is_json(struct data *data);
void data_count_call(struct data *data, const struct api_call *call);
void data_header_warnings(struct data *data, struct slice warnings);

// ---- URLs and cursors (data_url.c) -------------------------------------------------------------

// %XX and (in queries) + decoded, in the arena; ptr NULL without memory.
struct slice data_decode(struct arena *arena, struct slice text, bool plus);
// Appends text, with everything that is not plain in a URL as %XX.
void data_encode(struct buf *out, struct slice text);
MUST_CHECK bool data_params_read(struct data *data, struct slice query);
// The value of a parameter, or NULL; it is then marked as used.
const struct slice *data_param(const struct data *data, const char *name);
bool data_param_true(const struct data *data, const char *name);

// Begins what all signatures have in common.
void data_signing_init(struct data_service *service, const uint8_t secret[API_SECRET]);
// A cursor says where a page ended, and is of use only for the same question: `scope` is what it is
// signed for.
void data_cursor_write(const struct data *data, struct slice scope, struct slice last,
                       struct buf *out);
MUST_CHECK bool data_cursor_read(struct data *data, struct slice scope, struct slice cursor,
                                 struct slice *last);

#endif
