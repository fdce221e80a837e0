// Who may write: see README.md.
//
// The row `fence` has the epoch and the number of commits. A commit adds one to the number where
// the epoch is its own, in its own transaction: a server that lost the row to another commits
// nothing, however late it wakes up. When an epoch ends, its last number is noted in `epochs`, so
// that a server whose last commit went unanswered can find out what became of it even if another
// has taken over.
#include "postgres/driver_internal.h"

#include "base/log.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEASE_DEFAULT_S = 5, RENEW_MS = 1000, FORMAT = 1, EPOCH_TEXT = 24 };

const char fence_statement[] =
    "with f as (update fence set number = number + 1 where one = 1 and epoch = $1::text::int8 "
    "returning 1) select 1 / (select count(*) from f)";

static const char *const schema[] = {
    "create schema if not exists dolmen",
    "create table if not exists kv (p bytea not null, h bytea not null, r bytea not null, "
    "v bytea not null, primary key (p, h)) with (fillfactor = 85)",
    "create table if not exists fence (one int4 primary key, epoch int8 not null, number int8 not "
    "null, node text not null, until timestamptz not null, format int4 not null)",
    "create table if not exists epochs (epoch int8 primary key, number int8 not null)",
    "insert into fence values (1, 0, 0, '', '1970-01-01', 1) on conflict do nothing",
};

// One more epoch, if nobody holds the lease, or it is ours; its number of commits so far.
static const char take_statement[] =
    "with f as (update fence set epoch = epoch + 1, node = $1, until = now() + $2::text::interval "
    "where one = 1 and (until < now() or $3::text = 'yes' or epoch = $4::text::int8) "
    "returning epoch, number), "
    "e as (insert into epochs select epoch - 1, number from f returning 1) "
    "select epoch, number from f";

static int64_t number_at(const struct link *link, const PGresult *result, int column)
{
    return strtoll(link->pq->PQgetvalue(result, 0, column), NULL, 10);
}

// *taken tells whether the epoch is ours now.
static bool take(struct postgres_store *own, struct link *link, bool by_force, int64_t mine,
                 int64_t *number, bool *taken, struct store_error *error)
{
    char epoch[EPOCH_TEXT];
    (void)snprintf(epoch, sizeof(epoch), "%lld", (long long)mine);
    const char *const parameters[] = {own->node, own->lease, by_force ? "yes" : "no", epoch};
    int64_t before = monotonic_ms();
    PGresult *result = link_tell(link, take_statement, 4, parameters, error);
    if (result == NULL)
        return false;
    *taken = link->pq->PQntuples(result) == 1;
    if (*taken) {
        atomic_store(&own->epoch, number_at(link, result, 0));
        atomic_store(&own->renewed_ms, before);
        *number = number_at(link, result, 1);
    }
    link->pq->PQclear(result);
    return true;
}

// ---- Opening --------------------------------------------------------------------------------

static bool make_schema(struct link *link, struct store_error *error)
{
    for (size_t i = 0; i < COUNT_OF(schema); i++) {
        PGresult *result = link_tell(link, schema[i], 0, NULL, error);
        if (result == NULL)
            return false;
        link->pq->PQclear(result);
    }
    PGresult *result = link_tell(link, "select format from fence", 0, NULL, error);
    if (result == NULL)
        return false;
    int64_t format = number_at(link, result, 0);
    link->pq->PQclear(result);
    return format == FORMAT || store_fail(error,
                                          "the database is of a newer version of Dolmen (format "
                                          "%lld, this one knows %d)",
                                          (long long)format, FORMAT);
}

static bool tell_holder(struct link *link, struct store_error *error)
{
    PGresult *result =
        link_tell(link, "select node, ceil(extract(epoch from until - now()))::text from fence", 0,
                  NULL, error);
    if (result == NULL)
        return false;
    (void)store_fail(error,
                     "'%s' has the database open, and its lease is renewed. Stop it, or take over "
                     "with --takeover",
                     link->pq->PQgetvalue(result, 0, 0));
    error->in_use = true;
    link->pq->PQclear(result);
    return false;
}

static void renew(void *context)
{
    struct postgres_store *own = context;
    struct link *link = &own->keeper_link;
    struct store_error error;
    char epoch[EPOCH_TEXT];
    int64_t mine = atomic_load(&own->epoch);
    int64_t before = monotonic_ms();
    if (atomic_load(&own->fenced))
        return;
    if (link_lost(link)) {
        link_close(link);
        if (!link_open(link, &own->pool.pq, own->pool.url, &error))
            return;
    }
    (void)snprintf(epoch, sizeof(epoch), "%lld", (long long)mine);
    const char *const parameters[] = {own->lease, epoch};
    PGresult *result = link_tell(link,
                                 "update fence set until = now() + $1::text::interval where one = "
                                 "1 and epoch = $2::text::int8 returning 1",
                                 2, parameters, &error);
    if (result == NULL)
        return;
    if (link->pq->PQntuples(result) == 1) {
        atomic_store(&own->renewed_ms, before);
    } else if (atomic_load(&own->epoch) == mine) {
        log_error("store: another server has taken over: this one writes no more");
        atomic_store(&own->fenced, true);
    }
    link->pq->PQclear(result);
}

bool fence_open(struct postgres_store *own, const struct postgres_options *options,
                struct store_error *error)
{
    bool taken = false;
    unsigned lease = options->lease_s == 0 ? LEASE_DEFAULT_S : options->lease_s;
    if (options->node != NULL)
        (void)snprintf(own->node, sizeof(own->node), "%s", options->node);
    else if (gethostname(own->node, sizeof(own->node) - 1) != 0)
        (void)snprintf(own->node, sizeof(own->node), "unknown");
    (void)snprintf(own->lease, sizeof(own->lease), "%u s", lease);
    own->lease_ms = (int64_t)lease * 1000;
    if (!link_open(&own->writer, &own->pool.pq, own->pool.url, error) ||
        !make_schema(&own->writer, error))
        return false;
    // A server that was killed leaves a lease that runs out; one that lives renews it.
    int64_t end = monotonic_ms() + own->lease_ms + 2 * RENEW_MS;
    while (!taken) {
        if (!take(own, &own->writer, options->takeover, -1, &own->number, &taken, error))
            return false;
        if (!taken && monotonic_ms() > end)
            return tell_holder(&own->writer, error);
        if (!taken)
            sleep_ms(RENEW_MS / 4);
    }
    worker_start(&own->keeper,
                 &(struct worker_plan){.work = renew, .context = own, .every_ms = RENEW_MS});
    return true;
}

void fence_close(struct postgres_store *own)
{
    struct store_error error;
    char epoch[EPOCH_TEXT];
    const char *const parameters[] = {epoch};
    worker_stop(&own->keeper);
    (void)snprintf(epoch, sizeof(epoch), "%lld", (long long)atomic_load(&own->epoch));
    // Whoever comes next need not wait.
    PGresult *result =
        link_lost(&own->writer)
            ? NULL
            : link_tell(&own->writer,
                        "update fence set until = now() - interval '1 s' where one = 1 "
                        "and epoch = $1::text::int8",
                        1, parameters, &error);
    if (result != NULL)
        own->pool.pq.PQclear(result);
    link_close(&own->keeper_link);
    link_close(&own->writer);
}

// ---- After a lost connection ----------------------------------------------------------------

// Another server has the fence: what became of the commits of this one's last epoch.
static bool read_epitaph(struct postgres_store *own, int64_t *number, struct store_error *error)
{
    char epoch[EPOCH_TEXT];
    struct link *link = &own->writer;
    const char *const parameters[] = {epoch};
    (void)snprintf(epoch, sizeof(epoch), "%lld", (long long)atomic_load(&own->epoch));
    PGresult *result = link_tell(link, "select number from epochs where epoch = $1::text::int8", 1,
                                 parameters, error);
    if (result == NULL)
        return false;
    bool known = link->pq->PQntuples(result) == 1;
    if (known)
        *number = number_at(link, result, 0);
    link->pq->PQclear(result);
    atomic_store(&own->fenced, true);
    return known || store_fail(error, "PostgreSQL: another server has taken over");
}

bool fence_again(struct postgres_store *own, int64_t *number, struct store_error *error)
{
    bool taken = false;
    link_close(&own->writer);
    if (!link_open(&own->writer, &own->pool.pq, own->pool.url, error) ||
        !take(own, &own->writer, false, atomic_load(&own->epoch), number, &taken, error))
        return false;
    return taken || read_epitaph(own, number, error);
}
