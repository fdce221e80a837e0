// sqlite:FILE: libsqlite3, with a write-ahead log, so that readers go on meanwhile. The lock that
// keeps a second projector out is one of the system's, on a file beside the database: it goes with
// the process that has it.
#include "project/rdb.h"

#include "base/hash.h"
#include "base/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef DOLMEN_HAVE_SQLITE3

struct rdb *sqlite_open(const struct rdb_target *target, struct rdb_fault *fault)
{
    (void)target;
    DISREGARD(rdb_fail(fault, RDB_SCHEMA, "this server was built without SQLite"));
    return NULL;
}

#else

#include <sqlite3.h>

#define SQLITE_FUNCTIONS(X)                                                                        \
    X(sqlite3_open_v2)                                                                             \
    X(sqlite3_close_v2)                                                                            \
    X(sqlite3_busy_timeout)                                                                        \
    X(sqlite3_extended_errcode)                                                                    \
    X(sqlite3_errmsg)                                                                              \
    X(sqlite3_prepare_v2)                                                                          \
    X(sqlite3_bind_null)                                                                           \
    X(sqlite3_bind_int64)                                                                          \
    X(sqlite3_bind_double)                                                                         \
    X(sqlite3_bind_text)                                                                           \
    X(sqlite3_bind_blob)                                                                           \
    X(sqlite3_step)                                                                                \
    X(sqlite3_reset)                                                                               \
    X(sqlite3_finalize)                                                                            \
    X(sqlite3_column_count)                                                                        \
    X(sqlite3_column_type)                                                                         \
    X(sqlite3_column_text)                                                                         \
    X(sqlite3_column_bytes)                                                                        \
    X(sqlite3_get_autocommit)

struct sqlite_library {
    SQLITE_FUNCTIONS(LIBRARY_POINTER)
};

enum { BUSY_MS = 5000, PATH_TEXT = 4096 };

struct sqlite {
    struct rdb base; // first
    struct sqlite_library lib;
    sqlite3 *db;
    int lock; // a file; -1 if there is none
    bool lazy;
    size_t count;
    sqlite3_stmt **prepared;
    char path[PATH_TEXT];
};

// ---- Failures --------------------------------------------------------------------------------

static bool fail_db(struct sqlite *own, struct rdb_fault *fault)
{
    int code = own->lib.sqlite3_extended_errcode(own->db);
    const char *text = own->lib.sqlite3_errmsg(own->db);
    enum rdb_class class = RDB_AWAY;
    switch (code & 0xff) {
    case SQLITE_FULL:
        class = RDB_FULL;
        break;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
        class = RDB_REFUSED;
        break;
    case SQLITE_ERROR:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_READONLY:
        class = RDB_SCHEMA;
        break;
    default:
        break;
    }
    (void)rdb_fail(fault, class, "%s", text);
    fault->exists = strstr(text, "already exists") != NULL || strstr(text, "duplicate") != NULL;
    return false;
}

// ---- Plain statements ------------------------------------------------------------------------

typedef bool visit_fn(void *context, size_t count, const struct slice *values);

static bool tell_row(struct sqlite *own, sqlite3_stmt *statement, visit_fn *visit, void *context)
{
    struct slice values[64];
    size_t count = (size_t)own->lib.sqlite3_column_count(statement);
    count = count < COUNT_OF(values) ? count : COUNT_OF(values);
    for (int i = 0; i < (int)count; i++) {
        values[i] = slice_of(NULL, 0);
        if (own->lib.sqlite3_column_type(statement, i) != SQLITE_NULL) {
            const unsigned char *text = own->lib.sqlite3_column_text(statement, i);
            values[i] = slice_of(text == NULL ? (const unsigned char *)"" : text,
                                 (size_t)own->lib.sqlite3_column_bytes(statement, i));
        }
    }
    return visit(context, count, values);
}

static bool sqlite_run(struct rdb *rdb, struct slice text, visit_fn *visit, void *context,
                       struct rdb_fault *fault)
{
    struct sqlite *own = (struct sqlite *)rdb;
    const char *at = (const char *)text.ptr;
    const char *end = at + text.len;
    while (at < end) {
        sqlite3_stmt *statement = NULL;
        const char *rest = end;
        if (own->lib.sqlite3_prepare_v2(own->db, at, (int)(end - at), &statement, &rest) !=
            SQLITE_OK)
            return fail_db(own, fault);
        int step = statement == NULL ? SQLITE_DONE : SQLITE_ROW;
        while (step == SQLITE_ROW) {
            step = own->lib.sqlite3_step(statement);
            if (step == SQLITE_ROW && visit != NULL && !tell_row(own, statement, visit, context))
                step = SQLITE_DONE;
        }
        bool ok = step == SQLITE_DONE || fail_db(own, fault);
        (void)own->lib.sqlite3_finalize(statement);
        if (!ok)
            return false;
        at = rest;
    }
    return true;
}

// ---- Batches ---------------------------------------------------------------------------------

static void forget_prepared(struct sqlite *own)
{
    for (size_t i = 0; i < own->count; i++)
        (void)own->lib.sqlite3_finalize(own->prepared[i]);
    free(own->prepared);
    own->prepared = NULL;
    own->count = 0;
}

static bool sqlite_prepare(struct rdb *rdb, const struct rdb_statement *const *list, size_t count,
                           struct rdb_fault *fault)
{
    struct sqlite *own = (struct sqlite *)rdb;
    forget_prepared(own);
    own->prepared = memory_zeroed((count + 1) * sizeof(sqlite3_stmt *));
    own->count = count;
    for (size_t i = 0; i < count; i++) {
        ensure(list[i]->number == i);
        if (own->lib.sqlite3_prepare_v2(own->db, list[i]->text, -1, &own->prepared[i], NULL) !=
            SQLITE_OK)
            return fail_db(own, fault);
    }
    return true;
}

static int bind(struct sqlite *own, sqlite3_stmt *statement, int at, const struct sql_value *value)
{
    switch (value->form) {
    case SQL_FORM_NULL:
        return own->lib.sqlite3_bind_null(statement, at);
    case SQL_FORM_INTEGER:
        return own->lib.sqlite3_bind_int64(statement, at, value->integer);
    case SQL_FORM_REAL:
        return own->lib.sqlite3_bind_double(statement, at, value->real);
    case SQL_FORM_BYTES:
        return own->lib.sqlite3_bind_blob(statement, at,
                                          value->text.len == 0 ? (const void *)"" : value->text.ptr,
                                          (int)value->text.len, SQLITE_STATIC);
    case SQL_FORM_TEXT:
        break;
    }
    return own->lib.sqlite3_bind_text(statement, at,
                                      value->text.len == 0 ? "" : (const char *)value->text.ptr,
                                      (int)value->text.len, SQLITE_STATIC);
}

// A statement with a fence in it has no rows where there should be one.
static bool do_row(struct sqlite *own, sqlite3_stmt *statement, const struct sql_value *values,
                   size_t count, struct rdb_fault *fault)
{
    int step = SQLITE_OK;
    for (size_t i = 0; i < count && step == SQLITE_OK; i++)
        step = bind(own, statement, (int)i + 1, &values[i]);
    bool empty = own->lib.sqlite3_column_count(statement) > 0;
    while (step == SQLITE_OK || step == SQLITE_ROW) {
        step = own->lib.sqlite3_step(statement);
        empty = empty && step != SQLITE_ROW;
    }
    bool ok = step == SQLITE_DONE || fail_db(own, fault);
    (void)own->lib.sqlite3_reset(statement);
    if (ok && empty)
        return rdb_fail(fault, RDB_FENCED, "another projector is at work on these rows");
    return ok;
}

static bool do_step(struct sqlite *own, const struct rdb_step *step, struct rdb_fault *fault)
{
    size_t columns = step->statement->column_count;
    size_t rows = columns == 0 ? 1 : step->row_count;
    bool ok = true;
    for (size_t i = 0; i < rows && ok; i++)
        ok = do_row(own, own->prepared[step->statement->number], step->values + i * columns,
                    columns, fault);
    return ok;
}

static bool sqlite_apply(struct rdb *rdb, const struct rdb_step *steps, size_t count, bool lazy,
                         struct rdb_fault *fault)
{
    struct sqlite *own = (struct sqlite *)rdb;
    struct rdb_fault other;
    if (lazy != own->lazy && !sqlite_run(rdb,
                                         lazy ? SLICE_LIT("PRAGMA synchronous = NORMAL")
                                              : SLICE_LIT("PRAGMA synchronous = FULL"),
                                         NULL, NULL, fault))
        return false;
    own->lazy = lazy;
    bool ok = sqlite_run(rdb, SLICE_LIT("BEGIN IMMEDIATE"), NULL, NULL, fault);
    for (size_t i = 0; i < count && ok; i++)
        ok = do_step(own, &steps[i], fault);
    ok = ok && sqlite_run(rdb, SLICE_LIT("COMMIT"), NULL, NULL, fault);
    if (!ok && own->lib.sqlite3_get_autocommit(own->db) == 0)
        DISREGARD(sqlite_run(rdb, SLICE_LIT("ROLLBACK"), NULL, NULL, &other));
    return ok;
}

// ---- Opening ---------------------------------------------------------------------------------

// A byte of FILE-dolmen for each name. Names that fall together only wait for each other.
static bool sqlite_lock(struct rdb *rdb, const char *name, struct rdb_fault *fault)
{
    struct sqlite *own = (struct sqlite *)rdb;
    char path[PATH_TEXT + 16];
    (void)snprintf(path, sizeof(path), "%s-dolmen", own->path);
    if (own->lock < 0)
        own->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (own->lock < 0)
        return rdb_fail(fault, RDB_AWAY, "%s cannot be opened: %s", path, strerror(errno));
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(hash_of(0, slice_str(name)) >> 2),
                          .l_len = 1};
    return fcntl(own->lock, F_OFD_SETLK, &range) == 0 ||
           rdb_fail(fault, RDB_FENCED, "another projector is at work on %s; waiting until it ends",
                    name);
}

static void sqlite_close(struct rdb *rdb)
{
    struct sqlite *own = (struct sqlite *)rdb;
    forget_prepared(own);
    if (own->db != NULL)
        (void)own->lib.sqlite3_close_v2(own->db);
    if (own->lock >= 0)
        (void)close(own->lock);
    free(own);
}

static const struct rdb_ops sqlite_ops = {.dialect = SQL_SQLITE,
                                          .prepare = sqlite_prepare,
                                          .apply = sqlite_apply,
                                          .run = sqlite_run,
                                          .lock = sqlite_lock,
                                          .close = sqlite_close};

struct rdb *sqlite_open(const struct rdb_target *target, struct rdb_fault *fault)
{
    static const char *const names[] = {SQLITE_FUNCTIONS(LIBRARY_NAME)};
    struct slice path = slice_of(target->url.ptr + 7, target->url.len - 7);
    struct sqlite *own = memory_zeroed(sizeof(*own));
    own->base.ops = &sqlite_ops;
    own->lock = -1;
    (void)snprintf(own->path, sizeof(own->path), "%.*s", SLICE_FMT(path));
    bool ok = (path.len > 0 && path.len < sizeof(own->path)) ||
              rdb_fail(fault, RDB_SCHEMA, "the address is sqlite:FILE");
    ok = ok && (library_load("libsqlite3.so.0", names, COUNT_OF(names), &own->lib, fault->text,
                             sizeof(fault->text)) ||
                (fault->class = RDB_SCHEMA, fault->exists = false));
    if (ok &&
        own->lib.sqlite3_open_v2(own->path, &own->db,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                 NULL) != SQLITE_OK)
        ok = rdb_fail(fault, RDB_AWAY, "%s cannot be opened: %s", own->path,
                      own->db == NULL ? "out of memory" : own->lib.sqlite3_errmsg(own->db));
    ok = ok && own->lib.sqlite3_busy_timeout(own->db, BUSY_MS) == SQLITE_OK &&
         sqlite_run(&own->base,
                    SLICE_LIT("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA "
                              "foreign_keys = ON; PRAGMA temp_store = MEMORY"),
                    NULL, NULL, fault);
    if (ok)
        return &own->base;
    sqlite_close(&own->base);
    return NULL;
}

#endif
