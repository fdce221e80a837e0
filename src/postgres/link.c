// See link.h.
#include "postgres/link.h"

#include "base/encode.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARAMETERS_MAX = 5, BINARY = 1 };

bool pq_load(struct pq_library *out, struct store_error *error)
{
    static const char *const names[] = {PQ_FUNCTIONS(LIBRARY_NAME)};
    char why[256];
    return library_load("libpq.so.5", names, COUNT_OF(names), out, why, sizeof(why)) ||
           store_fail(error, "%s", why);
}

struct link_key link_key(struct slice key)
{
    struct link_key parts = {.first = key};
    if (key.len <= LINK_KEY)
        return parts;
    parts.first = slice_of(key.ptr, LINK_KEY);
    parts.rest = slice_of(key.ptr + LINK_KEY, key.len - LINK_KEY);
    parts.hash_len = LINK_HASH;
    sha256_of(parts.rest, parts.hash);
    return parts;
}

// ---- Connections ----------------------------------------------------------------------------

static void ignore_notice(void *context, const char *text)
{
    (void)context;
    (void)text;
}

bool link_fail(const struct link *link, const PGresult *result, struct store_error *error)
{
    const char *text = NULL;
    const char *state = NULL;
    if (result != NULL) {
        text = link->pq->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        state = link->pq->PQresultErrorField(result, PG_DIAG_SQLSTATE);
    }
    if (text == NULL)
        text = link->pq->PQerrorMessage(link->conn);
    (void)store_fail(error, "PostgreSQL: %.*s", (int)strcspn(text, "\n"), text);
    error->no_room = state != NULL && strcmp(state, "53100") == 0;
    return false;
}

bool link_open(struct link *link, const struct pq_library *pq, const char *url,
               struct store_error *error)
{
    link->pq = pq;
    link->prepared = false;
    link->conn = pq->PQconnectdb(url);
    ensure_memory(link->conn);
    pq->PQsetNoticeProcessor(link->conn, ignore_notice, NULL);
    if (pq->PQstatus(link->conn) == CONNECTION_OK) {
        PGresult *result = link_tell(link, "set search_path to dolmen", 0, NULL, error);
        if (result != NULL) {
            pq->PQclear(result);
            return true;
        }
    } else {
        (void)link_fail(link, NULL, error);
    }
    link_close(link);
    return false;
}

void link_close(struct link *link)
{
    if (link->conn != NULL)
        link->pq->PQfinish(link->conn);
    link->conn = NULL;
}

bool link_lost(const struct link *link)
{
    return link->conn == NULL || link->pq->PQstatus(link->conn) != CONNECTION_OK;
}

// ---- Statements -----------------------------------------------------------------------------

static PGresult *checked(const struct link *link, PGresult *result, struct store_error *error)
{
    ExecStatusType status = link->pq->PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        return result;
    (void)link_fail(link, result, error);
    link->pq->PQclear(result);
    return NULL;
}

PGresult *link_tell(struct link *link, const char *text, size_t count,
                    const char *const *parameters, struct store_error *error)
{
    return checked(
        link, link->pq->PQexecParams(link->conn, text, (int)count, NULL, parameters, NULL, NULL, 0),
        error);
}

static bool prepare(struct link *link, struct store_error *error)
{
    static const struct {
        const char *name;
        const char *text;
    } statements[] = {
#define X(name, parameters, text) {#name, text},
        LINK_STATEMENTS(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        PGresult *result = checked(
            link, link->pq->PQprepare(link->conn, statements[i].name, statements[i].text, 0, NULL),
            error);
        if (result == NULL)
            return false;
        link->pq->PQclear(result);
    }
    link->prepared = true;
    return true;
}

PGresult *link_ask(struct link *link, enum link_statement statement, const struct slice *parameters,
                   unsigned limit, struct store_error *error)
{
    static const struct {
        const char *name;
        int parameters;
    } statements[] = {
#define X(name, parameters, text) {#name, parameters},
        LINK_STATEMENTS(X)
#undef X
    };
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX];
    int formats[PARAMETERS_MAX];
    int count = statements[statement].parameters;
    uint32_t most = htonl(limit);
    if (!link->prepared && !prepare(link, error))
        return NULL;
    for (int i = 0; i < count; i++) {
        // An empty slice is an empty text, not a null.
        values[i] = parameters[i].len == 0 ? "" : (const char *)parameters[i].ptr;
        lengths[i] = (int)parameters[i].len;
        formats[i] = BINARY;
    }
    if (statement > LINK_get_many) {
        values[count] = (const char *)&most;
        lengths[count] = sizeof(most);
        formats[count++] = BINARY;
    }
    return checked(link,
                   link->pq->PQexecPrepared(link->conn, statements[statement].name, count, values,
                                            lengths, formats, BINARY),
                   error);
}

// ---- Pool -----------------------------------------------------------------------------------

void link_pool_init(struct link_pool *pool, const struct pq_library *pq, const char *url)
{
    *pool = (struct link_pool){.pq = *pq, .url = strdup(url)};
    ensure_memory(pool->url);
    ensure(pthread_mutex_init(&pool->lock, NULL) == 0);
    ensure(pthread_cond_init(&pool->free, NULL) == 0);
}

static void link_free(struct link *link)
{
    link_close(link);
    (void)pthread_mutex_destroy(&link->lock);
    free(link);
}

void link_pool_release(struct link_pool *pool)
{
    while (pool->idle != NULL) {
        struct link *link = pool->idle;
        pool->idle = link->next;
        link_free(link);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->free);
    free(pool->url);
}

static void forget_one(struct link_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->count--;
    (void)pthread_cond_signal(&pool->free);
    (void)pthread_mutex_unlock(&pool->lock);
}

struct link *link_take(struct link_pool *pool, struct store_error *error)
{
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->idle == NULL && pool->count == LINKS_MAX)
        (void)pthread_cond_wait(&pool->free, &pool->lock);
    struct link *link = pool->idle;
    if (link != NULL) {
        pool->idle = link->next;
        pool->idle_count--;
    } else {
        pool->count++;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (link != NULL)
        return link;
    link = memory_zeroed(sizeof(*link));
    ensure(pthread_mutex_init(&link->lock, NULL) == 0);
    if (link_open(link, &pool->pq, pool->url, error))
        return link;
    link_free(link);
    forget_one(pool);
    return NULL;
}

void link_give(struct link_pool *pool, struct link *link, bool keep)
{
    keep = keep && !link_lost(link);
    (void)pthread_mutex_lock(&pool->lock);
    keep = keep && pool->idle_count < LINKS_IDLE;
    if (keep) {
        link->next = pool->idle;
        pool->idle = link;
        pool->idle_count++;
        (void)pthread_cond_signal(&pool->free);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (keep)
        return;
    link_free(link);
    forget_one(pool);
}
