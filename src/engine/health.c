// Whether the store takes writes. A commit that fails (no room, an I/O error, a failed sync) makes
// the engine refuse writes until the store has been brought back, so that nothing is acknowledged
// that might not be there tomorrow. Reads are not concerned. Damage that the store finds in its
// files, and reads that the disk refuses, are noted beside it: that concerns whoever reads there,
// and nobody else.
//
// The log tells the change, not every refused request.
#include "engine/engine_internal.h"

#include "base/log.h"
#include "base/wait.h"

#include <stdio.h>

enum { RETRY_MS = 1000, UNREAD_MS = 60000 };

// Every read of a damaged block finds it again: the log has a line for each that is not the last.
static void note_damage(void *context, const char *text)
{
    struct engine *engine = context;
    struct engine_health *state = &engine->health.state;
    ensure(pthread_mutex_lock(&engine->health.lock) == 0);
    bool known = strncmp(state->damage, text, sizeof(state->damage) - 1) == 0;
    if (state->damages++ == 0)
        state->damaged_ms = env_now(&engine->env);
    (void)snprintf(state->damage, sizeof(state->damage), "%s", text);
    ensure(pthread_mutex_unlock(&engine->health.lock) == 0);
    if (!known)
        log_error("damage on disk; what is there cannot be read, the rest can: %s", text);
}

static bool unread_lately(const struct health *health)
{
    return health->state.unreads > 0 && monotonic_ms() - health->unread_at < UNREAD_MS;
}

// A read that the disk refused: a line in the log for the first of many.
static void note_unread(void *context, const char *text)
{
    struct engine *engine = context;
    struct engine_health *state = &engine->health.state;
    ensure(pthread_mutex_lock(&engine->health.lock) == 0);
    bool first = !unread_lately(&engine->health);
    state->unreads++;
    if (first)
        state->unread_ms = env_now(&engine->env);
    engine->health.unread_at = monotonic_ms();
    (void)snprintf(state->unread, sizeof(state->unread), "%s", text);
    ensure(pthread_mutex_unlock(&engine->health.lock) == 0);
    if (first)
        log_error("reads fail: %s", text);
}

void health_init(struct engine *engine)
{
    ensure(pthread_mutex_init(&engine->health.lock, NULL) == 0);
    engine->health.state.writable = true;
    engine->health.watch = (struct store_watch){note_damage, engine, note_unread};
    store_set_watch(engine->store, &engine->health.watch);
}

void health_release(struct engine *engine)
{
    ensure(pthread_mutex_destroy(&engine->health.lock) == 0);
}

void engine_health(struct engine *engine, struct engine_health *out)
{
    ensure(pthread_mutex_lock(&engine->health.lock) == 0);
    struct store_error why;
    bool well = store_condition(engine->store, &why) == STORE_WELL;
    if (well)
        engine->health.unwell_ms = 0;
    else if (engine->health.unwell_ms == 0)
        engine->health.unwell_ms = env_now(&engine->env);
    *out = engine->health.state;
    out->unreadable = unread_lately(&engine->health);
    if (!well && out->writable) {
        out->writable = false;
        out->since_ms = engine->health.unwell_ms;
        (void)snprintf(out->reason, sizeof(out->reason), "%.511s", why.text);
    }
    ensure(pthread_mutex_unlock(&engine->health.lock) == 0);
}

bool health_writable(struct engine *engine)
{
    ensure(pthread_mutex_lock(&engine->health.lock) == 0);
    bool writable = engine->health.state.writable;
    ensure(pthread_mutex_unlock(&engine->health.lock) == 0);
    return writable;
}

static void set_state(struct engine *engine, bool writable, const char *reason)
{
    struct health *health = &engine->health;
    ensure(pthread_mutex_lock(&health->lock) == 0);
    bool before = health->state.writable;
    health->state.writable = writable;
    (void)snprintf(health->state.reason, sizeof(health->state.reason), "%s", reason);
    if (before && !writable)
        health->state.since_ms = env_now(&engine->env);
    ensure(pthread_mutex_unlock(&health->lock) == 0);
    if (before && !writable) {
        log_error("writes are refused until the store recovers: %s", reason);
        keeper_wake(engine);
    }
    if (!before && writable)
        log_info("the store has recovered: writes are taken again");
}

// While writes are refused: whether the store is back, asked at most once a second.
static bool recovered(struct engine *engine, struct store_error *cause)
{
    struct health *health = &engine->health;
    int64_t now = env_now(&engine->env);
    if (now >= health->tried_ms && now - health->tried_ms < RETRY_MS) {
        (void)snprintf(cause->text, sizeof(cause->text), "%s", health->state.reason);
        return false;
    }
    health->tried_ms = now;
    return store_recover(engine->store, cause);
}

enum store_end health_commit(struct engine *engine, const struct store_batch *batch,
                             struct store_error *cause)
{
    // The writer alone changes the state, so it may read it without the lock.
    enum store_end end = STORE_NOT_DONE;
    if (engine->health.state.writable || recovered(engine, cause))
        end = store_commit(engine->store, batch, cause);
    if (end == STORE_DONE && !engine->health.state.writable)
        set_state(engine, true, "");
    // Want of room is the store's own condition: it goes on taking what frees some.
    if (end != STORE_DONE && !(end == STORE_NOT_DONE && cause->no_room))
        set_state(engine, false, cause->text);
    return end;
}
