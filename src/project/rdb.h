// A database that rows go to, as the projector sees it: a `static const` struct of functions for
// PostgreSQL (postgres.c) and one for SQLite (sqlite.c). Their libraries are loaded when the first
// such target is opened (base/library.h).
//
// An rdb is used by one thread. It retries nothing and decides nothing: it says of what kind a
// failure is, and the projector knows what to do. No text has a password in it.
#ifndef PROJECT_RDB_H
#define PROJECT_RDB_H

#include "base/attributes.h"
#include "sql/schema.h"

enum rdb_class {
    RDB_FINE,
    RDB_AWAY,    // it cannot be reached, or wants to be left alone for now: try again
    RDB_FULL,    // it has no room
    RDB_REFUSED, // it does not take this row
    RDB_SCHEMA,  // a table is not as it should be, or something may not be done
    RDB_FENCED,  // another projector is at work on the same rows
};

struct rdb_fault {
    enum rdb_class class;
    bool exists; // SCHEMA: what was to be made is there already
    char text[240];
};

// A statement that is executed often. In PostgreSQL each parameter is an array with a value for
// each row; in SQLite it is executed once for each row.
struct rdb_statement {
    const char *text;
    size_t column_count;
    const enum sql_kind *kinds; // of the parameters
    unsigned number;            // among those of the rdb
};

// Some rows for a statement. Without parameters it is executed once.
struct rdb_step {
    const struct rdb_statement *statement;
    size_t row_count;
    const struct sql_value *values; // row by row, column_count each
};

struct rdb;

struct rdb_ops {
    enum sql_dialect dialect;
    // Makes the statements ready; they stay where they are until it is closed.
    bool (*prepare)(struct rdb *rdb, const struct rdb_statement *const *list, size_t count,
                    struct rdb_fault *fault);
    // One transaction with all of the steps. If it is `lazy`, the disk is not waited for: a later
    // one that is not makes it last.
    bool (*apply)(struct rdb *rdb, const struct rdb_step *steps, size_t count, bool lazy,
                  struct rdb_fault *fault);
    // One statement without parameters. Its rows are told, if there is somebody to tell; values are
    // texts, NULL pointers for NULLs, and borrowed. `visit` returns false to stop early.
    bool (*run)(struct rdb *rdb, struct slice statement,
                bool (*visit)(void *context, size_t count, const struct slice *values),
                void *context, struct rdb_fault *fault);
    // Takes the lock of that name, for as long as the rdb is open; RDB_FENCED if it is taken.
    bool (*lock)(struct rdb *rdb, const char *name, struct rdb_fault *fault);
    void (*close)(struct rdb *rdb);
};

// The first member of each rdb's own struct.
struct rdb {
    const struct rdb_ops *ops;
};

struct rdb_target {
    struct slice url;      // postgresql://…, postgres://…, sqlite:FILE
    struct slice user;     // or empty
    struct slice password; // or empty
    struct slice schema;   // or empty
    // NULL, or whether nobody waits any longer.
    bool (*stopping)(void *context);
    void *context;
    // NULL, or false, with a sentence, if the host must not be connected to.
    bool (*allowed)(void *context, const char *host, char *error, size_t error_size);
};

// Whether there is a rdb for such an address, and which dialect it speaks.
bool rdb_dialect(struct slice url, enum sql_dialect *dialect);
// NULL with the fault.
struct rdb *rdb_open(const struct rdb_target *target, struct rdb_fault *fault);

struct rdb *postgres_open(const struct rdb_target *target, struct rdb_fault *fault);
struct rdb *sqlite_open(const struct rdb_target *target, struct rdb_fault *fault);

// Sets the fault; always false.
bool rdb_fail(struct rdb_fault *fault, enum rdb_class class, const char *format, ...)
    PRINTF_LIKE(3, 4);

// One transaction of statements without parameters.
bool rdb_run_all(struct rdb *rdb, const struct sql_statements *list, struct rdb_fault *fault);

#endif
