// Targets that keep the position themselves (struct outlet_ledger). What a target says when it is
// opened counts; the record in our store is how much of the log has to be kept, and shows whether
// somebody has put the target back. Whatever does not fit together ends in a backfill.
#include "capture/consumer_internal.h"

#include "base/log.h"

#include <stdio.h>

static void say(struct consumer *c, const char *reason)
{
    (void)snprintf(c->reason, sizeof(c->reason), "%s", reason == NULL ? "out of memory" : reason);
}

// Why a target that stands there has to be filled anew; NULL if it goes on.
static const char *backfill_why(const struct consumer *c, const struct outlet_place *place)
{
    if (place->backfill)
        return "it is new, or was not filled to its end";
    if (c->backfilling)
        return "a backfill was asked for";
    if (place->position < c->claimed)
        return "it has been put back to an earlier state";
    if (place->position > engine_sequence(c->shop->engine))
        return "it is ahead: these tables have been put back to an earlier state";
    if (atomic_load(&c->lost) > atomic_load(&c->mended))
        return "changes were forgotten before they were delivered";
    return NULL;
}

bool ledger_backfill(struct consumer *c, struct error *error)
{
    char reason[256] = "";
    struct consumer_command all = {.act = CONSUMER_DROP};
    uint64_t lost = atomic_load(&c->lost);
    window_clear(&c->window);
    // Every letter is of an item that the snapshot has, or that is no more.
    if (!letters_load(c, error) || !letters_drop(c, &all, error) || !backfill_begin(c, error))
        return false;
    if (!ledger_of(c)->begin(c->target, reason, sizeof(reason))) {
        c->target->lost = true;
        return error_set(error, ERR_UNAVAILABLE, "%s", reason);
    }
    atomic_store(&c->mended, lost);
    c->claimed = 0;
    return true;
}

bool ledger_settle(struct consumer *c)
{
    struct error error;
    if (ledger_of(c) == NULL)
        return true;
    struct outlet_place place = ledger_of(c)->place(c->target);
    const char *why = backfill_why(c, &place);
    error_init(&error, &c->arena);
    window_clear(&c->window);
    backfill_end(c);
    bool ok = why != NULL ? ledger_backfill(c, &error) : letters_load(c, &error);
    if (ok && why != NULL) {
        log_info("consumer %s: %s is filled from a snapshot: %s", c->plan.name.ptr,
                 c->plan.shown.ptr, why);
    } else if (ok) {
        c->read = place.position > c->position ? place.position : c->position;
        c->claimed = place.position;
    } else {
        say(c, error.message);
    }
    c->keep_due = true;
    arena_reset(&c->arena);
    return ok;
}

void ledger_mend(struct consumer *c)
{
    struct error error;
    if (ledger_of(c) == NULL || c->backfilling || atomic_load(&c->lost) <= atomic_load(&c->mended))
        return;
    error_init(&error, &c->arena);
    if (!ledger_backfill(c, &error))
        say(c, error.message);
    arena_reset(&c->arena);
}

bool ledger_end(struct consumer *c)
{
    char reason[256] = "";
    if (ledger_of(c) == NULL)
        return true;
    if (!ledger_of(c)->end(c->target, c->read, reason, sizeof(reason))) {
        c->target->lost = true;
        say(c, reason);
        return false;
    }
    c->claimed = c->read;
    log_info("consumer %s: %s has all items", c->plan.name.ptr, c->plan.shown.ptr);
    return true;
}

uint64_t ledger_claim(const struct consumer *c)
{
    const struct event *at = c->window.events.first;
    if (c->backfilling)
        return 0;
    while (at != NULL && at->state == EVENT_FLYING)
        at = at->next;
    uint64_t claim = at == NULL ? c->read : at->out.sequence - 1;
    // Letters that are not on disk yet would be lost with us.
    return c->keep_count > 0 && claim > c->position ? c->position : claim;
}
