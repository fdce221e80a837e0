// Connections to PostgreSQL: see README.md.
#ifndef POSTGRES_LINK_H
#define POSTGRES_LINK_H

#include "base/library.h"
#include "store/store_driver.h"

#include <postgresql/libpq-fe.h>
#include <pthread.h>

#define PQ_FUNCTIONS(X)                                                                            \
    X(PQconnectdb)                                                                                 \
    X(PQstatus)                                                                                    \
    X(PQerrorMessage)                                                                              \
    X(PQexec)                                                                                      \
    X(PQexecParams)                                                                                \
    X(PQprepare)                                                                                   \
    X(PQexecPrepared)                                                                              \
    X(PQsendQueryParams)                                                                           \
    X(PQsendQueryPrepared)                                                                         \
    X(PQenterPipelineMode)                                                                         \
    X(PQexitPipelineMode)                                                                          \
    X(PQpipelineSync)                                                                              \
    X(PQgetResult)                                                                                 \
    X(PQclear)                                                                                     \
    X(PQresultStatus)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQntuples)                                                                                   \
    X(PQgetvalue)                                                                                  \
    X(PQgetisnull)                                                                                 \
    X(PQgetlength)                                                                                 \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQfinish)

struct pq_library {
    PQ_FUNCTIONS(LIBRARY_POINTER)
};
MUST_CHECK bool pq_load(struct pq_library *out, struct store_error *error);

// X(name, parameters, text): what every link has prepared; those behind the gets
// have a limit as well. A key is (p, r): its first bytes, which
// the index holds, and the rest, which nearly always is empty; h is the digest of the rest.
#define LINK_STATEMENTS(X)                                                                         \
    X(get, 2, "select 1, v from kv where p = $1 and h = $2")                                       \
    X(get_many, 2,                                                                                 \
      "select i::int4, (select v from kv where kv.p = k.p and kv.h = k.h) from "                   \
      "unnest($1::bytea[], $2::bytea[]) with ordinality as k(p, h, i)")                            \
    X(up, 4,                                                                                       \
      "select p, r, v from kv where p >= $1 and p <= $3 and (p, r) >= ($1, $2) and "               \
      "(p, r) < ($3, $4) order by p, r limit $5::int4")                                            \
    X(up_all, 2,                                                                                   \
      "select p, r, v from kv where p >= $1 and (p, r) >= ($1, $2) order by p, r "                 \
      "limit $3::int4")                                                                            \
    X(down, 4,                                                                                     \
      "select p, r, v from kv where p >= $1 and p <= $3 and (p, r) >= ($1, $2) and "               \
      "(p, r) < ($3, $4) order by p desc, r desc limit $5::int4")                                  \
    X(down_all, 2,                                                                                 \
      "select p, r, v from kv where p >= $1 and (p, r) >= ($1, $2) "                               \
      "order by p desc, r desc limit $3::int4")

enum link_statement {
#define X(name, parameters, text) LINK_##name,
    LINK_STATEMENTS(X)
#undef X
};

enum { LINK_KEY = 2000, LINK_HASH = 32 };

// A key in its parts.
struct link_key {
    struct slice first;
    struct slice rest;
    uint8_t hash[LINK_HASH];
    size_t hash_len;
};
struct link_key link_key(struct slice key);

struct link {
    const struct pq_library *pq;
    PGconn *conn; // NULL: not connected
    struct link *next;
    pthread_mutex_t lock; // of what is sent on it
    bool prepared;
};

// False with a sentence; the link has no connection then.
MUST_CHECK bool link_open(struct link *link, const struct pq_library *pq, const char *url,
                          struct store_error *error);
void link_close(struct link *link);
// Whether its connection is broken.
bool link_lost(const struct link *link);

// One statement that is prepared; `limit` is its last parameter where it has one. NULL with the
// error. The result is the caller's to clear.
MUST_CHECK PGresult *link_ask(struct link *link, enum link_statement statement,
                              const struct slice *parameters, unsigned limit,
                              struct store_error *error);
// Any statement, with text parameters. NULL with the error.
MUST_CHECK PGresult *link_tell(struct link *link, const char *text, size_t count,
                               const char *const *parameters, struct store_error *error);
// Fails with what a result, or the connection, says.
bool link_fail(const struct link *link, const PGresult *result, struct store_error *error);

// ---- Pool -----------------------------------------------------------------------------------

enum { LINKS_MAX = 64, LINKS_IDLE = 16 };

struct link_pool {
    struct pq_library pq;
    char *url;
    pthread_mutex_t lock;
    pthread_cond_t free;
    struct link *idle;
    unsigned count; // in all
    unsigned idle_count;
};

void link_pool_init(struct link_pool *pool, const struct pq_library *pq, const char *url);
// All links are back.
void link_pool_release(struct link_pool *pool);
// Waits while all of them are taken. NULL with the error.
MUST_CHECK struct link *link_take(struct link_pool *pool, struct store_error *error);
// One that was lost, or in whose transaction something went wrong, is closed.
void link_give(struct link_pool *pool, struct link *link, bool keep);

#endif
