// See rdb.h.
#include "project/rdb.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *scheme;
    enum sql_dialect dialect;
    struct rdb *(*open)(const struct rdb_target *target, struct rdb_fault *fault);
} schemes[] = {
    {"postgresql:", SQL_POSTGRES, postgres_open},
    {"postgres:", SQL_POSTGRES, postgres_open},
    {"sqlite:", SQL_SQLITE, sqlite_open},
};

bool rdb_dialect(struct slice url, enum sql_dialect *dialect)
{
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        if (!slice_begins(url, slice_str(schemes[i].scheme)))
            continue;
        *dialect = schemes[i].dialect;
        return true;
    }
    return false;
}

struct rdb *rdb_open(const struct rdb_target *target, struct rdb_fault *fault)
{
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        if (slice_begins(target->url, slice_str(schemes[i].scheme)))
            return schemes[i].open(target, fault);
    DISREGARD(rdb_fail(fault, RDB_SCHEMA,
                       "a projection goes to postgresql://… or sqlite:FILE, and this is neither"));
    return NULL;
}

bool rdb_fail(struct rdb_fault *fault, enum rdb_class class, const char *format, ...)
{
    va_list args;
    fault->class = class;
    fault->exists = false;
    va_start(args, format);
    (void)vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    return false;
}

bool rdb_run_all(struct rdb *rdb, const struct sql_statements *list, struct rdb_fault *fault)
{
    struct rdb_fault other;
    if (list->failed)
        return rdb_fail(fault, RDB_AWAY, "out of memory");
    bool ok = rdb->ops->run(rdb, SLICE_LIT("BEGIN"), NULL, NULL, fault);
    for (size_t i = 0; ok && i < list->count; i++)
        ok = rdb->ops->run(rdb, list->list[i], NULL, NULL, fault);
    ok = ok && rdb->ops->run(rdb, SLICE_LIT("COMMIT"), NULL, NULL, fault);
    if (!ok)
        DISREGARD(rdb->ops->run(rdb, SLICE_LIT("ROLLBACK"), NULL, NULL, &other));
    return ok;
}
