// The driver: gets, snapshots, commits. See README.md.
#include "postgres/driver_internal.h"

#include "base/buf.h"
#include "base/encode.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ARRAYS_MAX = 1 << 30,
    BYTEA = 17,         // its number in PostgreSQL
    RESOLVE_MS = 20000, // how long a commit waits to learn what became of it
    RESOLVE_PAUSE_MS = 200,
    COMMIT_TRIES = 3,
    PARAMETERS_MAX = 4,
};

#define LOST "the connection to PostgreSQL was lost"

static struct postgres_store *store_of(struct store *store)
{
    return (struct postgres_store *)store;
}

// A thread that must not wait asks again on one that may.
static bool is_cold(struct store_error *error)
{
    if (store_waits_for_disk())
        return false;
    (void)store_fail(error, "PostgreSQL has to be asked");
    error->cold = true;
    return true;
}

// ---- Snapshots ------------------------------------------------------------------------------

struct postgres_snapshot *snapshot_begin(struct postgres_store *own)
{
    struct postgres_snapshot *snapshot = memory_zeroed(sizeof(*snapshot));
    atomic_init(&snapshot->holders, 1);
    if (is_cold(&snapshot->error))
        return snapshot;
    struct link *link = link_take(&own->pool, &snapshot->error);
    if (link == NULL)
        return snapshot;
    // What a transaction sees is settled by its first statement.
    PGresult *result = own->pool.pq.PQexec(
        link->conn, "begin isolation level repeatable read read only; select 1");
    if (own->pool.pq.PQresultStatus(result) == PGRES_TUPLES_OK) {
        snapshot->link = link;
    } else {
        (void)link_fail(link, result, &snapshot->error);
        link_give(&own->pool, link, false);
    }
    own->pool.pq.PQclear(result);
    return snapshot;
}

struct postgres_snapshot *snapshot_hold(struct postgres_snapshot *snapshot)
{
    atomic_fetch_add(&snapshot->holders, 1);
    return snapshot;
}

void snapshot_drop(struct postgres_store *own, struct postgres_snapshot *snapshot)
{
    if (atomic_fetch_sub(&snapshot->holders, 1) > 1)
        return;
    if (snapshot->link != NULL) {
        PGresult *result = own->pool.pq.PQexec(snapshot->link->conn, "commit");
        bool ended = own->pool.pq.PQresultStatus(result) == PGRES_COMMAND_OK;
        own->pool.pq.PQclear(result);
        link_give(&own->pool, snapshot->link, ended);
    }
    free(snapshot);
}

static struct store_snapshot *postgres_snapshot_take(struct store *store)
{
    return (struct store_snapshot *)snapshot_begin(store_of(store));
}

static void postgres_snapshot_release(struct store *store, struct store_snapshot *snapshot)
{
    snapshot_drop(store_of(store), (struct postgres_snapshot *)snapshot);
}

// ---- Arrays -----------------------------------------------------------------------------------

static void add_u32(struct buf *out, size_t value)
{
    uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                        (uint8_t)value};
    buf_add(out, bytes, sizeof(bytes));
}

// An array of bytea in PostgreSQL's binary form.
static void array_begin(struct buf *out, size_t count)
{
    buf_init(out, ARRAYS_MAX);
    add_u32(out, 1); // dimensions
    add_u32(out, 0); // no nulls
    add_u32(out, BYTEA);
    add_u32(out, count);
    add_u32(out, 1); // the first index
}

static void array_add(struct buf *out, struct slice bytes)
{
    add_u32(out, bytes.len);
    buf_slice(out, bytes);
}

// ---- Gets -----------------------------------------------------------------------------------

// What values point into: an answer, until the last of them is released.
struct pin {
    PGresult *result;
    atomic_size_t holders;
};

static void pin_drop(struct postgres_store *own, struct pin *pin, size_t holders)
{
    if (atomic_fetch_sub(&pin->holders, holders) > holders)
        return;
    own->pool.pq.PQclear(pin->result);
    free(pin);
}

// Hands out the rows of an answer: the place of a key, from 1 on, and its value. Of a key that is
// absent there is null, or no row.
static void read_rows(struct postgres_store *own, PGresult *result, struct store_read *reads,
                      size_t count)
{
    const struct pq_library *pq = &own->pool.pq;
    struct pin *pin = memory_zeroed(sizeof(*pin));
    int rows = pq->PQntuples(result);
    size_t absent = 1; // the answer's own hold, until all is handed out
    pin->result = result;
    atomic_init(&pin->holders, (size_t)rows + 1);
    for (int i = 0; i < rows; i++) {
        ensure(pq->PQgetlength(result, i, 0) == 4);
        uint32_t at = be32_get((const uint8_t *)pq->PQgetvalue(result, i, 0)) - 1;
        ensure(at < count && !reads[at].found);
        reads[at].found = pq->PQgetisnull(result, i, 1) == 0;
        absent += !reads[at].found;
        if (reads[at].found)
            reads[at].value =
                (struct store_value){.bytes = slice_of(pq->PQgetvalue(result, i, 1),
                                                       (size_t)pq->PQgetlength(result, i, 1)),
                                     .pin = pin};
    }
    pin_drop(own, pin, absent);
}

// The newest commit. A connection that was lost while it was idle says nothing of PostgreSQL: one
// more try on another.
static PGresult *ask_newest(struct postgres_store *own, enum link_statement statement,
                            const struct slice *parameters, struct store_error *error)
{
    for (int try = 0; try < 2; try++) {
        struct link *link = link_take(&own->pool, error);
        if (link == NULL)
            return NULL;
        PGresult *result = link_ask(link, statement, parameters, 0, error);
        bool lost = link_lost(link);
        link_give(&own->pool, link, result != NULL);
        if (result != NULL || !lost)
            return result;
    }
    return NULL;
}

static PGresult *ask(struct postgres_store *own, struct postgres_snapshot *snapshot,
                     enum link_statement statement, const struct slice *parameters,
                     struct store_error *error)
{
    if (snapshot == NULL)
        return ask_newest(own, statement, parameters, error);
    if (snapshot->link == NULL) {
        *error = snapshot->error;
        return NULL;
    }
    (void)pthread_mutex_lock(&snapshot->link->lock);
    PGresult *result = link_ask(snapshot->link, statement, parameters, 0, error);
    (void)pthread_mutex_unlock(&snapshot->link->lock);
    return result;
}

static bool postgres_get_many(struct store *store, struct store_snapshot *snapshot,
                              struct store_read *reads, size_t count, struct store_error *error)
{
    struct postgres_store *own = store_of(store);
    struct buf first;
    struct buf hash;
    if (is_cold(error))
        return false;
    array_begin(&first, count);
    array_begin(&hash, count);
    for (size_t i = 0; i < count; i++) {
        struct link_key key = link_key(reads[i].key);
        array_add(&first, key.first);
        array_add(&hash, slice_of(key.hash, key.hash_len));
    }
    ensure(!first.failed && !hash.failed); // callers bound what they ask for
    const struct slice parameters[] = {buf_view(&first), buf_view(&hash)};
    PGresult *result =
        ask(own, (struct postgres_snapshot *)snapshot, LINK_get_many, parameters, error);
    buf_release(&first);
    buf_release(&hash);
    if (result != NULL)
        read_rows(own, result, reads, count);
    return result != NULL;
}

static enum store_result postgres_get(struct store *store, struct store_snapshot *snapshot,
                                      struct slice key, struct store_value *out,
                                      struct store_error *error)
{
    struct postgres_store *own = store_of(store);
    struct link_key parts = link_key(key);
    const struct slice parameters[] = {parts.first, slice_of(parts.hash, parts.hash_len)};
    struct store_read read = {.key = key};
    if (is_cold(error))
        return STORE_FAILED;
    PGresult *result = ask(own, (struct postgres_snapshot *)snapshot, LINK_get, parameters, error);
    if (result == NULL)
        return STORE_FAILED;
    read_rows(own, result, &read, 1);
    if (!read.found)
        return STORE_ABSENT;
    *out = read.value;
    return STORE_FOUND;
}

static void postgres_value_release(struct store *store, struct store_value *value)
{
    pin_drop(store_of(store), value->pin, 1);
}

// ---- Commits --------------------------------------------------------------------------------

static bool send(struct link *link, const char *text, const struct slice *parameters, size_t count)
{
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX];
    int formats[PARAMETERS_MAX];
    for (size_t i = 0; i < count; i++) {
        values[i] = parameters[i].len == 0 ? "" : (const char *)parameters[i].ptr;
        lengths[i] = (int)parameters[i].len;
        formats[i] = 1;
    }
    return link->pq->PQsendQueryParams(link->conn, text, (int)count, NULL, values, lengths, formats,
                                       0) == 1;
}

static bool send_ranges(struct link *link, const struct store_batch_view *view, size_t *sent)
{
    for (size_t i = 0; i < view->range_count; i++) {
        struct link_key lower = link_key(view->ranges[i].lower);
        struct link_key upper = link_key(view->ranges[i].upper);
        const struct slice parameters[] = {lower.first, lower.rest, upper.first, upper.rest};
        if (slice_compare(view->ranges[i].lower, view->ranges[i].upper) >= 0)
            continue;
        (*sent)++;
        if (!send(link,
                  "delete from kv where p >= $1::bytea and p <= $3::bytea and (p, r) >= ($1, $2) "
                  "and (p, r) < ($3, $4::bytea)",
                  parameters, 4))
            return false;
    }
    return true;
}

// Deletes, or puts: one statement with an array for each column.
static bool send_entries(struct link *link, const struct store_batch_view *view, bool deletes,
                         size_t *sent)
{
    struct buf arrays[4];
    struct slice parameters[4];
    size_t count = 0;
    for (size_t i = 0; i < view->entry_count; i++)
        count += view->entries[i].deleted == deletes;
    if (count == 0)
        return true;
    for (int i = 0; i < 4; i++)
        array_begin(&arrays[i], count);
    for (size_t i = 0; i < view->entry_count; i++) {
        const struct batch_entry *entry = &view->entries[i];
        if (entry->deleted != deletes)
            continue;
        struct link_key key = link_key(entry->key);
        array_add(&arrays[0], key.first);
        array_add(&arrays[1], slice_of(key.hash, key.hash_len));
        array_add(&arrays[2], deletes ? slice_of(NULL, 0) : key.rest);
        array_add(&arrays[3], deletes ? slice_of(NULL, 0) : entry->value);
    }
    for (int i = 0; i < 4; i++) {
        ensure(!arrays[i].failed); // batches are bounded, and memory that is out ends the process
        parameters[i] = buf_view(&arrays[i]);
    }
    bool ok = deletes ? send(link,
                             "delete from kv using unnest($1::bytea[], $2::bytea[]) as d(p, h) "
                             "where kv.p = d.p and kv.h = d.h",
                             parameters, 2)
                      : send(link,
                             "insert into kv (p, h, r, v) select * from unnest($1::bytea[], "
                             "$2::bytea[], $3::bytea[], $4::bytea[]) on conflict (p, h) do update "
                             "set r = excluded.r, v = excluded.v",
                             parameters, 4);
    for (int i = 0; i < 4; i++)
        buf_release(&arrays[i]);
    (*sent)++;
    return ok;
}

enum sent { SENT_DONE, SENT_REFUSED, SENT_FENCED, SENT_LOST };

// Reads the answers of a pipeline: the first that is wrong says why, and all behind it are skipped.
static enum sent read_answers(struct link *link, size_t count, struct store_error *error)
{
    enum sent end = SENT_DONE;
    for (size_t i = 0; i <= count; i++) {
        PGresult *result = link->pq->PQgetResult(link->conn);
        ExecStatusType status =
            result == NULL ? PGRES_FATAL_ERROR : link->pq->PQresultStatus(result);
        if (end == SENT_DONE && status == PGRES_FATAL_ERROR) {
            const char *state =
                result == NULL ? NULL : link->pq->PQresultErrorField(result, PG_DIAG_SQLSTATE);
            (void)link_fail(link, result, error);
            end = state != NULL && strcmp(state, "22012") == 0 ? SENT_FENCED : SENT_REFUSED;
        }
        link->pq->PQclear(result);
        if (link_lost(link))
            return SENT_LOST;
        // A statement's answers end with NULL; the sync's does not.
        if (i < count) {
            result = link->pq->PQgetResult(link->conn);
            bool whole = result == NULL;
            link->pq->PQclear(result);
            if (!whole) // cut in the middle
                return SENT_LOST;
        }
    }
    return end;
}

static enum sent send_all(struct postgres_store *own, const struct store_batch_view *view,
                          struct store_error *error)
{
    struct link *link = &own->writer;
    size_t count = 3;
    char epoch[24];
    int len = snprintf(epoch, sizeof(epoch), "%lld", (long long)atomic_load(&own->epoch));
    const struct slice fence = slice_of(epoch, (size_t)len);
    if (link->pq->PQenterPipelineMode(link->conn) != 1)
        return SENT_LOST;
    bool ok = send(link, "begin", NULL, 0) && send(link, fence_statement, &fence, 1) &&
              send_ranges(link, view, &count) && send_entries(link, view, true, &count) &&
              send_entries(link, view, false, &count) && send(link, "commit", NULL, 0) &&
              link->pq->PQpipelineSync(link->conn) == 1;
    enum sent end = ok ? read_answers(link, count, error) : SENT_LOST;
    if (end != SENT_LOST && link->pq->PQexitPipelineMode(link->conn) != 1)
        end = SENT_LOST;
    if (end == SENT_LOST) {
        (void)store_fail(error, LOST);
        return end;
    }
    if (end != SENT_DONE) { // the transaction that failed is still open
        PGresult *result = link->pq->PQexec(link->conn, "rollback");
        link->pq->PQclear(result);
    }
    return end;
}

// What became of a commit that was not answered. It waits for PostgreSQL, for a while.
static enum store_end resolve(struct postgres_store *own, struct store_error *error)
{
    int64_t number;
    int64_t end = monotonic_ms() + RESOLVE_MS;
    while (!fence_again(own, &number, error)) {
        if (atomic_load(&own->fenced) || monotonic_ms() > end)
            return STORE_UNKNOWN;
        sleep_ms(RESOLVE_PAUSE_MS);
    }
    bool done = number >= own->expected;
    own->number = number;
    own->expected = 0;
    return done ? STORE_DONE : STORE_NOT_DONE;
}

static enum store_end refused(struct postgres_store *own, enum sent sent, struct store_error *error)
{
    if (sent == SENT_FENCED) {
        atomic_store(&own->fenced, true);
        (void)store_fail(error, "PostgreSQL: another server has taken over");
    }
    return STORE_NOT_DONE;
}

static enum store_end postgres_commit(struct store *store, const struct store_batch *batch,
                                      struct store_error *error)
{
    struct postgres_store *own = store_of(store);
    struct store_batch_view view = store_batch_view(batch);
    int64_t number;
    if (atomic_load(&own->fenced)) {
        (void)store_fail(error, "PostgreSQL: another server has taken over");
        return STORE_NOT_DONE;
    }
    if (own->expected != 0) {
        (void)store_fail(error, LOST);
        return STORE_NOT_DONE;
    }
    if (link_lost(&own->writer)) {
        if (!fence_again(own, &number, error))
            return STORE_NOT_DONE;
        own->number = number;
    }
    for (int try = 0; try < COMMIT_TRIES; try++) {
        own->expected = own->number + 1;
        enum sent sent = send_all(own, &view, error);
        if (sent == SENT_DONE) {
            own->number = own->expected;
            own->expected = 0;
            return STORE_DONE;
        }
        if (sent != SENT_LOST) {
            own->expected = 0;
            return refused(own, sent, error);
        }
        // The connection may have been cut long ago: what is known not to have happened is done
        // again.
        enum store_end end = resolve(own, error);
        if (end != STORE_NOT_DONE || atomic_load(&own->fenced))
            return end;
    }
    (void)store_fail(error, LOST);
    return STORE_NOT_DONE;
}

// A commit whose end was never known may have been done after all: then what this process has in
// memory is not what is there, and only opening the database anew helps.
static bool postgres_recover(struct store *store, struct store_error *error)
{
    struct postgres_store *own = store_of(store);
    int64_t number;
    if (atomic_load(&own->fenced))
        return store_fail(error, "PostgreSQL: another server has taken over");
    if (own->expected == 0 && !link_lost(&own->writer))
        return true;
    if (!fence_again(own, &number, error))
        return false;
    if (own->expected != 0 && number >= own->expected) {
        atomic_store(&own->fenced, true);
        return store_fail(error, "a commit was done whose end was not known: start the server "
                                 "again");
    }
    own->expected = 0;
    own->number = number;
    return true;
}

static bool postgres_sync(struct store *store, struct store_error *error)
{
    (void)store;
    (void)error;
    return true; // every commit is as durable as PostgreSQL is told to make it
}

static enum store_condition postgres_condition(struct store *store, struct store_error *why)
{
    struct postgres_store *own = store_of(store);
    if (atomic_load(&own->fenced)) {
        (void)store_fail(why, "another server has taken over this database");
        return STORE_GONE;
    }
    return STORE_WELL;
}

// ---- Life -----------------------------------------------------------------------------------

static void postgres_close(struct store *store)
{
    struct postgres_store *own = store_of(store);
    fence_close(own);
    link_pool_release(&own->pool);
    free(own);
}

const struct store_driver postgres_driver = {
    .name = "postgresql",
    .remote = true,
    .close = postgres_close,
    .get = postgres_get,
    .get_many = postgres_get_many,
    .value_release = postgres_value_release,
    .snapshot_take = postgres_snapshot_take,
    .snapshot_release = postgres_snapshot_release,
    .cursor_open = postgres_cursor_open,
    .cursor_close = postgres_cursor_close,
    .cursor_seek = postgres_cursor_seek,
    .cursor_seek_before = postgres_cursor_seek_before,
    .cursor_last = postgres_cursor_last,
    .cursor_next = postgres_cursor_next,
    .cursor_prev = postgres_cursor_prev,
    .cursor_ok = postgres_cursor_ok,
    .commit = postgres_commit,
    .sync = postgres_sync,
    .recover = postgres_recover,
    .condition = postgres_condition,
};

struct store *store_open_postgres(const struct postgres_options *options, struct store_error *error)
{
    struct pq_library pq;
    struct postgres_store *own = memory_zeroed(sizeof(*own));
    *error = (struct store_error){.text = ""};
    if (!pq_load(&pq, error)) {
        free(own);
        return NULL;
    }
    own->base.driver = &postgres_driver;
    link_pool_init(&own->pool, &pq, options->url);
    if (fence_open(own, options, error))
        return &own->base;
    link_close(&own->writer);
    link_pool_release(&own->pool);
    free(own);
    return NULL;
}
