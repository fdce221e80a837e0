// Ranges, page by page: see README.md. A page is a result of libpq, in the direction in which the
// cursor went when it was fetched; going the other way fetches another.
#include "postgres/driver_internal.h"

#include "base/buf.h"

#include <stdlib.h>

enum { PAGE_FIRST = 32, PAGE_GROWTH = 4, PAGE_MAX = 2048, PAGE_BYTES = 4 << 20 };

struct postgres_cursor {
    struct store_cursor base; // first
    struct postgres_store *own;
    struct postgres_snapshot *snapshot;
    PGresult *page;
    int at;
    int rows;
    bool up;   // the page goes up
    bool full; // there may be more behind it
    unsigned limit;
    bool failed;
    struct store_error error;
    struct buf lower;
    struct buf upper; // empty: no bound
    struct buf from;  // where a page begins
    struct buf key;   // of a row whose key is in two parts
};

static struct postgres_cursor *cursor_of(struct store_cursor *cursor)
{
    return (struct postgres_cursor *)cursor;
}

struct store_cursor *postgres_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                          struct slice lower, struct slice upper)
{
    struct postgres_store *own = (struct postgres_store *)store;
    struct postgres_cursor *c = memory_zeroed(sizeof(*c));
    c->own = own;
    c->snapshot = snapshot == NULL ? snapshot_begin(own)
                                   : snapshot_hold((struct postgres_snapshot *)snapshot);
    buf_init(&c->lower, STORE_KEY_MAX + 1);
    buf_init(&c->upper, STORE_KEY_MAX + 1);
    buf_init(&c->from, STORE_KEY_MAX + 1);
    buf_init(&c->key, STORE_KEY_MAX + 1);
    buf_slice(&c->lower, lower);
    buf_slice(&c->upper, upper);
    return &c->base;
}

static void page_drop(struct postgres_cursor *c)
{
    if (c->page != NULL)
        c->own->pool.pq.PQclear(c->page);
    c->page = NULL;
    c->rows = 0;
}

void postgres_cursor_close(struct store_cursor *cursor)
{
    struct postgres_cursor *c = cursor_of(cursor);
    page_drop(c);
    snapshot_drop(c->own, c->snapshot);
    buf_release(&c->lower);
    buf_release(&c->upper);
    buf_release(&c->from);
    buf_release(&c->key);
    free(c);
}

static struct slice column(const struct postgres_cursor *c, int number)
{
    return slice_of(c->own->pool.pq.PQgetvalue(c->page, c->at, number),
                    (size_t)c->own->pool.pq.PQgetlength(c->page, c->at, number));
}

// The cursor stands on row `at` of its page, if there is one.
static void stand(struct postgres_cursor *c)
{
    c->base.valid = c->at < c->rows;
    if (!c->base.valid)
        return;
    struct slice rest = column(c, 1);
    c->base.key = column(c, 0);
    c->base.value = column(c, 2);
    if (rest.len == 0)
        return;
    buf_clear(&c->key);
    buf_slice(&c->key, c->base.key);
    buf_slice(&c->key, rest);
    c->base.key = buf_view(&c->key);
}

// The next page is larger, as far as its rows are small.
static void grow(struct postgres_cursor *c)
{
    size_t bytes = 0;
    for (int i = 0; i < c->rows; i++)
        bytes += (size_t)c->own->pool.pq.PQgetlength(c->page, i, 2);
    size_t fit = c->rows == 0 ? PAGE_MAX : PAGE_BYTES / (bytes / (size_t)c->rows + 1);
    unsigned wanted = c->limit * PAGE_GROWTH;
    wanted = wanted > PAGE_MAX ? PAGE_MAX : wanted;
    c->limit = fit < wanted ? (unsigned)(fit < 1 ? 1 : fit) : wanted;
}

// Fetches [lower, upper) from one of its ends.
static void fetch(struct postgres_cursor *c, struct slice lower, struct slice upper, bool bounded,
                  bool up)
{
    struct link_key low = link_key(lower);
    struct link_key high = link_key(upper);
    const struct slice parameters[] = {low.first, low.rest, high.first, high.rest};
    PGresult *page = NULL;
    c->base.valid = false;
    if (c->failed)
        return;
    if (bounded && slice_compare(lower, upper) >= 0) {
        page_drop(c);
        c->up = up;
        c->full = false;
        return;
    }
    if (c->snapshot->link == NULL || !store_waits_for_disk()) {
        c->error = c->snapshot->error;
        if (c->snapshot->link != NULL)
            (void)store_fail(&c->error, "PostgreSQL has to be asked");
        c->error.cold = c->snapshot->link != NULL || c->error.cold;
        c->failed = true;
        return;
    }
    enum link_statement statement = up        ? bounded ? LINK_up : LINK_up_all
                                    : bounded ? LINK_down
                                              : LINK_down_all;
    (void)pthread_mutex_lock(&c->snapshot->link->lock);
    page = link_ask(c->snapshot->link, statement, parameters, c->limit, &c->error);
    (void)pthread_mutex_unlock(&c->snapshot->link->lock);
    c->failed = page == NULL;
    if (c->failed)
        return;
    page_drop(c);
    c->page = page;
    c->at = 0;
    c->rows = c->own->pool.pq.PQntuples(page);
    c->up = up;
    c->full = (unsigned)c->rows == c->limit;
    grow(c);
    stand(c);
}

// Up from a key, which is in c->from or is the lower bound.
static void fetch_up(struct postgres_cursor *c, struct slice from)
{
    struct slice lower = buf_view(&c->lower);
    fetch(c, slice_compare(from, lower) > 0 ? from : lower, buf_view(&c->upper), c->upper.len > 0,
          true);
}

// Down from below a key; `bounded` is false if there is none.
static void fetch_down(struct postgres_cursor *c, struct slice before, bool bounded)
{
    struct slice upper = buf_view(&c->upper);
    bool lesser = bounded && (upper.len == 0 || slice_compare(before, upper) < 0);
    fetch(c, buf_view(&c->lower), lesser ? before : upper, lesser || upper.len > 0, false);
}

// Copies a key, since the page that has it goes; `behind` makes it the very next one.
static struct slice from_key(struct postgres_cursor *c, struct slice key, bool behind)
{
    buf_clear(&c->from);
    buf_slice(&c->from, key);
    if (behind)
        buf_byte(&c->from, 0);
    return buf_view(&c->from);
}

void postgres_cursor_seek(struct store_cursor *cursor, struct slice key)
{
    struct postgres_cursor *c = cursor_of(cursor);
    c->limit = PAGE_FIRST;
    fetch_up(c, from_key(c, key, false));
}

void postgres_cursor_seek_before(struct store_cursor *cursor, struct slice key)
{
    struct postgres_cursor *c = cursor_of(cursor);
    c->limit = PAGE_FIRST;
    fetch_down(c, from_key(c, key, true), true);
}

void postgres_cursor_last(struct store_cursor *cursor)
{
    struct postgres_cursor *c = cursor_of(cursor);
    c->limit = PAGE_FIRST;
    fetch_down(c, slice_of(NULL, 0), false);
}

void postgres_cursor_next(struct store_cursor *cursor)
{
    struct postgres_cursor *c = cursor_of(cursor);
    if (!c->up) {
        fetch_up(c, from_key(c, c->base.key, true));
    } else if (++c->at < c->rows || !c->full) {
        stand(c);
    } else {
        c->at = c->rows - 1;
        fetch_up(c, from_key(c, c->base.key, true));
    }
}

void postgres_cursor_prev(struct store_cursor *cursor)
{
    struct postgres_cursor *c = cursor_of(cursor);
    if (c->up) {
        fetch_down(c, from_key(c, c->base.key, false), true);
    } else if (++c->at < c->rows || !c->full) {
        stand(c);
    } else {
        c->at = c->rows - 1;
        fetch_down(c, from_key(c, c->base.key, false), true);
    }
}

bool postgres_cursor_ok(const struct store_cursor *cursor, struct store_error *error)
{
    const struct postgres_cursor *c = (const struct postgres_cursor *)cursor;
    if (c->failed)
        *error = c->error;
    return !c->failed;
}
