// The front of the store: checks arguments, calls the driver, reports failures.
// It owns nothing; what each function returns belongs to the caller as store.h says.
#include "store/store_driver.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// The text, and no flag that says more of it; how long it is.
static size_t set_text(struct store_error *error, const char *format, va_list args)
{
    int length = vsnprintf(error->text, sizeof(error->text), format, args);
    error->damaged = false;
    error->no_room = false;
    error->cold = false;
    return length < 0 ? 0 : (size_t)length;
}

bool store_fail(struct store_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)set_text(error, format, args);
    va_end(args);
    return false;
}

bool store_fail_errno(struct store_error *error, const char *format, ...)
{
    int why = errno;
    va_list args;
    va_start(args, format);
    size_t length = set_text(error, format, args);
    va_end(args);
    if (length < sizeof(error->text))
        (void)snprintf(error->text + length, sizeof(error->text) - length, ": %s", strerror(why));
    error->no_room = why == ENOSPC || why == EDQUOT;
    return false;
}

void store_set_watch(struct store *store, const struct store_watch *watch)
{
    atomic_store(&store->watch, watch);
}

void store_report_damage(struct store *store, const char *text)
{
    const struct store_watch *watch = atomic_load(&store->watch);
    if (watch != NULL)
        watch->damaged(watch->context, text);
    else
        log_error("store: %s", text);
}

// Names files as they are called within the data directory: where that is concerns no client.
static void hide_path(const struct store *store, struct store_error *error)
{
    size_t len = store->path == NULL ? 0 : strlen(store->path);
    char *at = error->text;
    while (len > 0 && (at = strstr(at, store->path)) != NULL) {
        if (at[len] == '/')
            memmove(at, at + len + 1, strlen(at + len));
        else
            at += len;
    }
}

// What cannot be read is met again by every read: the watch decides what is logged of it.
static void report(struct store *store, struct store_error *error)
{
    const struct store_watch *watch = atomic_load(&store->watch);
    if (error->damaged)
        store_report_damage(store, error->text);
    else if (!error->cold && watch != NULL && watch->unread != NULL)
        watch->unread(watch->context, error->text);
    else if (!error->cold)
        log_error("store: %s", error->text);
    hide_path(store, error);
}

static bool key_fits(struct slice key)
{
    return key.len > 0 && key.len <= STORE_KEY_MAX;
}

// Each thread's own: a loop that must not wait stands beside others that may.
static _Thread_local bool must_not_wait;

void store_wait_for_disk(bool wait)
{
    must_not_wait = !wait;
}

bool store_waits_for_disk(void)
{
    return !must_not_wait;
}

bool store_remote(const struct store *store)
{
    return store->driver->remote;
}

void store_check_tables(struct store *store,
                        bool (*visit)(void *context, const char *path, const char *fault),
                        void *context)
{
    if (store->driver->check_tables != NULL)
        store->driver->check_tables(store, visit, context);
}

void store_close(struct store *store)
{
    if (store != NULL)
        store->driver->close(store);
}

enum store_result store_get(struct store *store, struct store_snapshot *snapshot, struct slice key,
                            struct store_value *out, struct store_error *error)
{
    ensure(key_fits(key));
    enum store_result result = store->driver->get(store, snapshot, key, out, error);
    if (result == STORE_FAILED)
        report(store, error);
    return result;
}

void store_value_release(struct store *store, struct store_value *value)
{
    if (value->pin != NULL)
        store->driver->value_release(store, value);
    *value = (struct store_value){0};
}

static bool get_each(struct store *store, struct store_snapshot *snapshot, struct store_read *reads,
                     size_t count, struct store_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct store_read *read = &reads[i];
        enum store_result result =
            store->driver->get(store, snapshot, read->key, &read->value, error);
        read->found = result == STORE_FOUND;
        if (result != STORE_FAILED)
            continue;
        while (i-- > 0)
            store_value_release(store, &reads[i].value);
        return false;
    }
    return true;
}

bool store_get_many(struct store *store, struct store_snapshot *snapshot, struct store_read *reads,
                    size_t count, struct store_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ensure(key_fits(reads[i].key));
        reads[i] = (struct store_read){.key = reads[i].key};
    }
    if (count == 0)
        return true;
    bool ok = store->driver->get_many == NULL
                  ? get_each(store, snapshot, reads, count, error)
                  : store->driver->get_many(store, snapshot, reads, count, error);
    if (!ok)
        report(store, error);
    return ok;
}

struct store_snapshot *store_snapshot_take(struct store *store)
{
    return store->driver->snapshot_take(store);
}

void store_snapshot_release(struct store *store, struct store_snapshot *snapshot)
{
    if (snapshot != NULL)
        store->driver->snapshot_release(store, snapshot);
}

struct store_cursor *store_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                       struct slice lower, struct slice upper)
{
    struct store_cursor *cursor = store->driver->cursor_open(store, snapshot, lower, upper);
    cursor->driver = store->driver;
    cursor->store = store;
    return cursor;
}

void store_cursor_close(struct store_cursor *cursor)
{
    if (cursor != NULL)
        cursor->driver->cursor_close(cursor);
}

void store_cursor_seek(struct store_cursor *cursor, struct slice key)
{
    cursor->driver->cursor_seek(cursor, key);
}

void store_cursor_seek_before(struct store_cursor *cursor, struct slice key)
{
    cursor->driver->cursor_seek_before(cursor, key);
}

void store_cursor_first(struct store_cursor *cursor)
{
    cursor->driver->cursor_seek(cursor, slice_of(NULL, 0)); // to the lower bound
}

void store_cursor_last(struct store_cursor *cursor)
{
    cursor->driver->cursor_last(cursor);
}

void store_cursor_behind(struct store_cursor *cursor, struct slice key)
{
    if (key.len == 0) {
        store_cursor_first(cursor);
        return;
    }
    store_cursor_seek(cursor, key);
    if (cursor->valid && slice_equal(cursor->key, key))
        store_cursor_next(cursor);
}

void store_cursor_next(struct store_cursor *cursor)
{
    ensure(cursor->valid);
    cursor->driver->cursor_next(cursor);
}

void store_cursor_prev(struct store_cursor *cursor)
{
    ensure(cursor->valid);
    cursor->driver->cursor_prev(cursor);
}

bool store_cursor_valid(const struct store_cursor *cursor)
{
    return cursor->valid;
}

struct slice store_cursor_key(const struct store_cursor *cursor)
{
    ensure(cursor->valid);
    return cursor->key;
}

struct slice store_cursor_value(const struct store_cursor *cursor)
{
    ensure(cursor->valid);
    return cursor->value;
}

void store_cursor_may_pause(struct store_cursor *cursor)
{
    cursor->may_pause = true;
}

bool store_cursor_paused(const struct store_cursor *cursor)
{
    return cursor->paused;
}

void store_cursor_resume(struct store_cursor *cursor)
{
    ensure(cursor->paused);
    cursor->driver->cursor_resume(cursor);
}

bool store_cursor_ok(const struct store_cursor *cursor, struct store_error *error)
{
    if (cursor->driver->cursor_ok == NULL || cursor->driver->cursor_ok(cursor, error))
        return true;
    report(cursor->store, error);
    return false;
}

enum store_end store_commit(struct store *store, const struct store_batch *batch,
                            struct store_error *error)
{
    if (store_batch_count(batch) == 0)
        return STORE_DONE;
    enum store_end end = store->driver->commit(store, batch, error);
    if (end != STORE_DONE)
        hide_path(store, error);
    return end;
}

enum store_condition store_condition(struct store *store, struct store_error *why)
{
    return store->driver->condition == NULL ? STORE_WELL : store->driver->condition(store, why);
}

bool store_recover(struct store *store, struct store_error *error)
{
    return store->driver->recover == NULL || store->driver->recover(store, error);
}

void store_discard(struct store *store, struct slice lower, struct slice upper)
{
    if (store->driver->discard != NULL && slice_compare(lower, upper) < 0)
        store->driver->discard(store, lower, upper);
}

bool store_reclaim(struct store *store, uint64_t freed)
{
    return store->driver->reclaim == NULL || store->driver->reclaim(store, freed);
}

bool store_settle(struct store *store, unsigned timeout_ms)
{
    return store->driver->settle == NULL || store->driver->settle(store, timeout_ms);
}

void store_stats(struct store *store, struct store_stats *out)
{
    *out = (struct store_stats){0};
    if (store->driver->stats != NULL)
        store->driver->stats(store, out);
}

bool store_sync(struct store *store, struct store_error *error)
{
    if (store->driver->sync == NULL || store->driver->sync(store, error))
        return true;
    log_error("store: %s", error->text);
    return false;
}
