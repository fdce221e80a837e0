// postgresql://…: libpq. A transaction of steps is one pipeline: all of its statements are sent
// before the first answer is read, each with arrays that have a value for each row. So a batch is
// one round trip, however many rows and tables it has.
//
// All waiting is in await(), which looks up now and then whether anybody still waits.
#include "project/rdb.h"

#include "base/library.h"
#include "base/wait.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef DOLMEN_HAVE_LIBPQ

struct rdb *postgres_open(const struct rdb_target *target, struct rdb_fault *fault)
{
    (void)target;
    DISREGARD(rdb_fail(fault, RDB_SCHEMA, "this server was built without libpq"));
    return NULL;
}

#else

#include "project/postgres_array.h"

#include <postgresql/libpq-fe.h>

#define PQ_FUNCTIONS(X)                                                                            \
    X(PQconnectStartParams)                                                                        \
    X(PQconnectPoll)                                                                               \
    X(PQconninfoParse)                                                                             \
    X(PQconninfoFree)                                                                              \
    X(PQfreemem)                                                                                   \
    X(PQstatus)                                                                                    \
    X(PQsocket)                                                                                    \
    X(PQerrorMessage)                                                                              \
    X(PQsetnonblocking)                                                                            \
    X(PQflush)                                                                                     \
    X(PQconsumeInput)                                                                              \
    X(PQisBusy)                                                                                    \
    X(PQgetResult)                                                                                 \
    X(PQclear)                                                                                     \
    X(PQresultStatus)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQntuples)                                                                                   \
    X(PQnfields)                                                                                   \
    X(PQgetvalue)                                                                                  \
    X(PQgetlength)                                                                                 \
    X(PQgetisnull)                                                                                 \
    X(PQenterPipelineMode)                                                                         \
    X(PQexitPipelineMode)                                                                          \
    X(PQpipelineSync)                                                                              \
    X(PQsendQuery)                                                                                 \
    X(PQsendQueryParams)                                                                           \
    X(PQsendPrepare)                                                                               \
    X(PQsendQueryPrepared)                                                                         \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQfinish)

struct pq_library {
    PQ_FUNCTIONS(LIBRARY_POINTER)
};

enum {
    LOOK_MS = 100,
    CONNECT_MS = 10000,
    ANSWER_MS = 600000, // of one transaction or statement; an index of a large table takes long
    COLUMNS_MAX = 1600, // PostgreSQL's limit
    ARRAYS_MAX = 512 << 20,
    NAME_TEXT = 24,
};

struct postgres {
    struct rdb base; // first
    struct pq_library pq;
    PGconn *conn;
    struct rdb_target target; // only `stopping` is used behind the opening
    struct buf arrays;
    size_t starts[COLUMNS_MAX];
    const char *values[COLUMNS_MAX];
};

// ---- Failures --------------------------------------------------------------------------------

// The first line of a message, which is all there is to it.
static bool fail_text(struct rdb_fault *fault, enum rdb_class class, const char *lead,
                      const char *text)
{
    size_t len = strcspn(text, "\n");
    if (strncmp(text, "ERROR:  ", 8) == 0 && len > 8) {
        text += 8;
        len -= 8;
    }
    return rdb_fail(fault, class, "%s%.*s", lead, (int)len, text);
}

// By SQLSTATE. A class of its own is what a fence gives: see the projector's first statement.
static enum rdb_class class_of(const char *state)
{
    static const struct {
        const char *begins;
        enum rdb_class class;
    } rows[] = {
        {"22012", RDB_FENCED},  // 1 / 0: the row of the projection is not ours
        {"53100", RDB_FULL},    // disk full
        {"53", RDB_AWAY},       // no memory, too many connections
        {"21", RDB_REFUSED},    // two rows of one key
        {"22", RDB_REFUSED},    // data
        {"23", RDB_REFUSED},    // constraints
        {"54", RDB_REFUSED},    // too large, for an index for example
        {"44", RDB_REFUSED},    // a view's check
        {"P0001", RDB_REFUSED}, // a trigger of theirs
        {"42", RDB_SCHEMA},     // no such table, column, right
        {"3D", RDB_SCHEMA},     // no such database
        {"3F", RDB_SCHEMA},     // no such schema
        {"28", RDB_SCHEMA},     // not let in
        {"2B", RDB_SCHEMA},     // others depend on it
        {"0A", RDB_SCHEMA},     // cannot be done
    };
    for (size_t i = 0; state != NULL && i < COUNT_OF(rows); i++)
        if (strncmp(state, rows[i].begins, strlen(rows[i].begins)) == 0)
            return rows[i].class;
    return RDB_AWAY;
}

static bool fail_result(struct postgres *own, const PGresult *result, struct rdb_fault *fault)
{
    static const char *const there[] = {"42P06", "42P07", "42701", "42710"}; // duplicates
    const char *state = own->pq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = own->pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *table = own->pq.PQresultErrorField(result, PG_DIAG_TABLE_NAME);
    const char *column = own->pq.PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
    if (state == NULL)
        return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    (void)rdb_fail(fault, class_of(state), "%s%s%s%s%s%s", text == NULL ? "" : text,
                   table == NULL ? "" : " (table ", table == NULL ? "" : table,
                   column == NULL ? "" : ", column ", column == NULL ? "" : column,
                   table == NULL ? "" : ")");
    for (size_t i = 0; i < COUNT_OF(there); i++)
        fault->exists = fault->exists || strcmp(state, there[i]) == 0;
    return false;
}

// ---- Waiting ---------------------------------------------------------------------------------

static bool stopping(const struct postgres *own)
{
    return own->target.stopping != NULL && own->target.stopping(own->target.context);
}

// Until the socket can be read (or written, if that is wanted too). False if it took too long.
static bool await(struct postgres *own, short events, int64_t until, struct rdb_fault *fault)
{
    for (;;) {
        struct pollfd socket = {.fd = own->pq.PQsocket(own->conn), .events = events};
        int ready = poll(&socket, 1, LOOK_MS);
        if (ready > 0)
            return true;
        if (stopping(own))
            return rdb_fail(fault, RDB_AWAY, "the projector is being stopped");
        if (monotonic_ms() >= until)
            return rdb_fail(fault, RDB_AWAY, "PostgreSQL does not answer");
    }
}

// Sends what there is to send while it reads what is there to read, until a result is complete.
static bool await_result(struct postgres *own, struct rdb_fault *fault)
{
    int64_t until = monotonic_ms() + ANSWER_MS;
    for (;;) {
        int left = own->pq.PQflush(own->conn);
        if (left < 0)
            return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
        if (left == 0 && own->pq.PQisBusy(own->conn) == 0)
            return true;
        if (!await(own, left > 0 ? POLLIN | POLLOUT : POLLIN, until, fault))
            return false;
        if (own->pq.PQconsumeInput(own->conn) == 0)
            return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    }
}

// ---- Plain statements ------------------------------------------------------------------------

typedef bool visit_fn(void *context, size_t count, const struct slice *values);

static void tell_rows(struct postgres *own, const PGresult *result, visit_fn *visit, void *context)
{
    struct slice values[64];
    size_t count = (size_t)own->pq.PQnfields(result);
    count = count < COUNT_OF(values) ? count : COUNT_OF(values);
    for (int row = 0; visit != NULL && row < own->pq.PQntuples(result); row++) {
        for (int i = 0; i < (int)count; i++)
            values[i] = own->pq.PQgetisnull(result, row, i)
                            ? slice_of(NULL, 0)
                            : slice_of(own->pq.PQgetvalue(result, row, i),
                                       (size_t)own->pq.PQgetlength(result, row, i));
        if (!visit(context, count, values))
            return;
    }
}

// Reads results up to the end of the query, or of the pipeline. False with the first failure.
static bool read_results(struct postgres *own, bool pipeline, visit_fn *visit, void *context,
                         struct rdb_fault *fault)
{
    bool ok = true;
    bool ended = false; // of one query of the pipeline
    for (;;) {
        struct rdb_fault broken;
        if (!await_result(own, &broken)) {
            if (ok)
                *fault = broken;
            return false;
        }
        PGresult *result = own->pq.PQgetResult(own->conn);
        if (result == NULL) {
            if (!pipeline || (ended && own->pq.PQstatus(own->conn) != CONNECTION_OK))
                return ok;
            ended = true;
            continue;
        }
        ended = false;
        ExecStatusType status = own->pq.PQresultStatus(result);
        if (status == PGRES_FATAL_ERROR && ok)
            ok = fail_result(own, result, fault);
        else if (status == PGRES_TUPLES_OK && ok)
            tell_rows(own, result, visit, context);
        own->pq.PQclear(result);
        if (own->pq.PQstatus(own->conn) != CONNECTION_OK)
            return ok ? fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn)) : false;
        if (status == PGRES_PIPELINE_SYNC)
            return ok;
    }
}

static bool postgres_run(struct rdb *rdb, struct slice statement, visit_fn *visit, void *context,
                         struct rdb_fault *fault)
{
    struct postgres *own = (struct postgres *)rdb;
    buf_clear(&own->arrays);
    buf_slice(&own->arrays, statement);
    buf_byte(&own->arrays, 0);
    if (own->arrays.failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    if (own->pq.PQsendQuery(own->conn, (const char *)own->arrays.ptr) == 0)
        return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    return read_results(own, false, visit, context, fault);
}

// ---- Batches ---------------------------------------------------------------------------------

static void statement_name(const struct rdb_statement *statement, char out[NAME_TEXT])
{
    (void)snprintf(out, NAME_TEXT, "dolmen_%u", statement->number);
}

static bool pipeline_begin(struct postgres *own, struct rdb_fault *fault)
{
    return own->pq.PQenterPipelineMode(own->conn) == 1 ||
           fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
}

static bool pipeline_end(struct postgres *own, bool sent, struct rdb_fault *fault)
{
    if (!sent || own->pq.PQpipelineSync(own->conn) == 0)
        return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    bool ok = read_results(own, true, NULL, NULL, fault);
    if (own->pq.PQstatus(own->conn) == CONNECTION_OK &&
        own->pq.PQexitPipelineMode(own->conn) == 0 && ok)
        ok = fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    return ok;
}

static bool send_text(struct postgres *own, const char *text)
{
    return own->pq.PQsendQueryParams(own->conn, text, 0, NULL, NULL, NULL, NULL, 0) == 1;
}

static bool send_step(struct postgres *own, const struct rdb_step *step)
{
    char name[NAME_TEXT];
    size_t count = step->statement->column_count;
    buf_clear(&own->arrays);
    for (size_t i = 0; i < count; i++) {
        own->starts[i] = own->arrays.len;
        postgres_array(&own->arrays, step->values + i, step->row_count, count);
    }
    for (size_t i = 0; i < count; i++)
        own->values[i] = (const char *)own->arrays.ptr + own->starts[i];
    statement_name(step->statement, name);
    return !own->arrays.failed && own->pq.PQsendQueryPrepared(own->conn, name, (int)count,
                                                              own->values, NULL, NULL, 0) == 1;
}

static bool postgres_apply(struct rdb *rdb, const struct rdb_step *steps, size_t count, bool lazy,
                           struct rdb_fault *fault)
{
    struct postgres *own = (struct postgres *)rdb;
    struct rdb_fault other;
    if (!pipeline_begin(own, fault))
        return false;
    bool sent = send_text(own, "BEGIN") && send_text(own, "SET LOCAL dolmen.projecting = 'on'") &&
                (!lazy || send_text(own, "SET LOCAL synchronous_commit = off"));
    for (size_t i = 0; i < count && sent; i++)
        sent = send_step(own, &steps[i]);
    sent = sent && send_text(own, "COMMIT");
    if (own->arrays.cap > (16 << 20))
        buf_release(&own->arrays);
    if (pipeline_end(own, sent, fault))
        return true;
    // It also ends a transaction whose COMMIT was not reached.
    if (own->pq.PQstatus(own->conn) == CONNECTION_OK && sent)
        DISREGARD(postgres_run(rdb, SLICE_LIT("ROLLBACK"), NULL, NULL, &other));
    return false;
}

static bool postgres_prepare(struct rdb *rdb, const struct rdb_statement *const *list, size_t count,
                             struct rdb_fault *fault)
{
    struct postgres *own = (struct postgres *)rdb;
    char name[NAME_TEXT];
    bool sent = true;
    for (size_t i = 0; i < count; i++)
        if (list[i]->column_count > COLUMNS_MAX)
            return rdb_fail(fault, RDB_SCHEMA, "a table has too many columns");
    if (!pipeline_begin(own, fault))
        return false;
    for (size_t i = 0; i < count && sent; i++) {
        statement_name(list[i], name);
        sent = own->pq.PQsendPrepare(own->conn, name, list[i]->text, 0, NULL) == 1;
    }
    return pipeline_end(own, sent, fault);
}

// ---- Opening ---------------------------------------------------------------------------------

static bool postgres_lock(struct rdb *rdb, const char *name, struct rdb_fault *fault);

static void postgres_close(struct rdb *rdb)
{
    struct postgres *own = (struct postgres *)rdb;
    if (own->conn != NULL)
        own->pq.PQfinish(own->conn);
    buf_release(&own->arrays);
    free(own);
}

static const struct rdb_ops postgres_ops = {.dialect = SQL_POSTGRES,
                                            .prepare = postgres_prepare,
                                            .apply = postgres_apply,
                                            .run = postgres_run,
                                            .lock = postgres_lock,
                                            .close = postgres_close};

static bool take_flag(void *context, size_t count, const struct slice *values)
{
    *(bool *)context = count > 0 && slice_is(values[0], "t");
    return false;
}

// An advisory lock of the session: it goes with the connection, and the settings below have the
// server notice soon if that is cut.
static bool postgres_lock(struct rdb *rdb, const char *name, struct rdb_fault *fault)
{
    char statement[512];
    bool taken = false;
    (void)snprintf(statement, sizeof(statement),
                   "SELECT pg_try_advisory_lock(hashtextextended('dolmen ' || "
                   "current_schema() || ' %s', 0))",
                   name);
    if (!postgres_run(rdb, slice_str(statement), take_flag, &taken, fault))
        return false;
    return taken || rdb_fail(fault, RDB_FENCED,
                             "another projector is at work on %s; waiting until it ends", name);
}

static void silent(void *context, const char *message)
{
    (void)context, (void)message;
}

// The hosts of the address; those of libpq's environment, and sockets, are the operator's.
static bool hosts_allowed(struct postgres *own, const char *url, struct rdb_fault *fault)
{
    char *text = NULL;
    char sentence[200] = "";
    bool ok = true;
    PQconninfoOption *options = own->pq.PQconninfoParse(url, &text);
    if (options == NULL) {
        (void)fail_text(fault, RDB_SCHEMA,
                        "the address cannot be read: ", text == NULL ? "" : text);
        own->pq.PQfreemem(text);
        return false;
    }
    for (const PQconninfoOption *at = options; at->keyword != NULL && ok; at++) {
        if ((strcmp(at->keyword, "host") != 0 && strcmp(at->keyword, "hostaddr") != 0) ||
            at->val == NULL)
            continue;
        struct slice rest = slice_str(at->val);
        while (rest.len > 0 && ok) {
            char host[256];
            struct slice one = slice_cut(&rest, ',');
            (void)snprintf(host, sizeof(host), "%.*s", SLICE_FMT(one));
            ok = host[0] == '/' || host[0] == '@' || own->target.allowed == NULL ||
                 own->target.allowed(own->target.context, host, sentence, sizeof(sentence));
        }
    }
    own->pq.PQconninfoFree(options);
    return ok || rdb_fail(fault, RDB_AWAY, "%s", sentence);
}

static bool connect_to(struct postgres *own, const char *url, const char *user,
                       const char *password, struct rdb_fault *fault)
{
    // What is in the address counts more than what stands before it, and less than what is behind.
    const char *names[] = {"connect_timeout",
                           "keepalives_idle",
                           "keepalives_interval",
                           "keepalives_count",
                           "tcp_user_timeout",
                           "fallback_application_name",
                           "client_encoding",
                           "dbname",
                           "user",
                           "password",
                           NULL};
    const char *values[] = {"10",   "10", "5",  "3",      "20000", "dolmen",
                            "UTF8", url,  user, password, NULL};
    int64_t until = monotonic_ms() + CONNECT_MS;
    own->conn = own->pq.PQconnectStartParams(names, values, 1);
    ensure_memory(own->conn);
    if (own->pq.PQstatus(own->conn) == CONNECTION_BAD)
        return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    while (step != PGRES_POLLING_OK) {
        if (!await(own, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, until, fault))
            return false;
        step = own->pq.PQconnectPoll(own->conn);
        if (step == PGRES_POLLING_FAILED)
            return fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
    }
    DISREGARD(own->pq.PQsetNoticeProcessor(own->conn, silent, NULL) == NULL);
    return own->pq.PQsetnonblocking(own->conn, 1) == 0 ||
           fail_text(fault, RDB_AWAY, "", own->pq.PQerrorMessage(own->conn));
}

// What is written does not depend on the settings of a role or database.
static bool settle_session(struct postgres *own, struct slice schema, struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_text(&text, "SET datestyle = 'ISO'; SET timezone = 'UTC'; SET "
                    "standard_conforming_strings = on; SET client_min_messages = warning; SET "
                    "statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET "
                    "tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET "
                    "tcp_keepalives_count = 3; SET row_security = on; SET jit = off");
    if (schema.len > 0) {
        // CREATE SCHEMA IF NOT EXISTS asks for the right to make one even if it is there.
        buf_text(&text, "; DO $dolmen$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE "
                        "nspname = ");
        sql_quote(&text, schema);
        buf_text(&text, ") THEN CREATE SCHEMA ");
        sql_name(&text, schema);
        buf_text(&text, "; END IF; END $dolmen$; SET search_path = ");
        sql_name(&text, schema);
        buf_text(&text, ", public");
    }
    bool ok = postgres_run(&own->base, buf_view(&text), NULL, NULL, fault);
    buf_release(&text);
    return ok;
}

struct rdb *postgres_open(const struct rdb_target *target, struct rdb_fault *fault)
{
    static const char *const names[] = {PQ_FUNCTIONS(LIBRARY_NAME)};
    struct postgres *own = memory_zeroed(sizeof(*own));
    struct buf texts;
    own->base.ops = &postgres_ops;
    own->target = *target;
    buf_init(&own->arrays, ARRAYS_MAX);
    buf_init(&texts, 1 << 20);
    size_t user = target->url.len + 1;
    size_t password = user + target->user.len + 1;
    buf_slice(&texts, target->url);
    buf_byte(&texts, 0);
    buf_slice(&texts, target->user);
    buf_byte(&texts, 0);
    buf_slice(&texts, target->password);
    buf_byte(&texts, 0);
    const char *all = (const char *)texts.ptr;
    bool ok = !texts.failed || rdb_fail(fault, RDB_SCHEMA, "the address is too long");
    ok = ok && (library_load("libpq.so.5", names, COUNT_OF(names), &own->pq, fault->text,
                             sizeof(fault->text)) ||
                (fault->class = RDB_SCHEMA, fault->exists = false));
    ok = ok && hosts_allowed(own, all, fault) &&
         connect_to(own, all, target->user.len == 0 ? NULL : all + user,
                    target->password.len == 0 ? NULL : all + password, fault) &&
         settle_session(own, target->schema, fault);
    if (texts.ptr != NULL)
        explicit_bzero(texts.ptr, texts.len);
    buf_release(&texts);
    if (ok)
        return &own->base;
    postgres_close(&own->base);
    return NULL;
}

#endif
