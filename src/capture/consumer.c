// The thread of a consumer: reads, sends, hears how it ended, keeps, sleeps. See consumer.h.
#include "capture/consumer_internal.h"

#include "base/log.h"
#include "base/wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void ring(const struct consumer *c)
{
    // It can only fail if it has been rung a great many times already.
    (void)!eventfd_write(c->bell, 1);
}

void consumer_heard(struct consumer *c, uint64_t logs)
{
    if ((logs & atomic_load(&c->bit)) != 0 && atomic_load(&c->asleep))
        ring(c);
}

static void fail_reason(struct consumer *c, const char *reason)
{
    (void)snprintf(c->reason, sizeof(c->reason), "%s", reason == NULL ? "" : reason);
}

static bool ordered(const struct consumer *c)
{
    return c->target->ops->ordered;
}

// ---- Failures --------------------------------------------------------------------------------

// Between half of it and all of it.
static int64_t jitter(struct consumer *c, int64_t ms)
{
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ms / 2 + (int64_t)((c->random >> 33) % (uint64_t)(ms / 2 + 1));
}

static int64_t backoff(struct consumer *c, unsigned tries)
{
    int64_t ms = c->plan.backoff_ms != 0 ? c->plan.backoff_ms : BACKOFF_FIRST_MS;
    for (unsigned i = 1; i < tries && ms < BACKOFF_LAST_MS; i++)
        ms *= 2;
    return jitter(c, ms < BACKOFF_LAST_MS ? ms : BACKOFF_LAST_MS);
}

static void breaker_close(struct consumer *c)
{
    if (c->breaker_ms != 0)
        log_info("consumer %s: %s takes events again", c->plan.name.ptr, c->plan.shown.ptr);
    c->failures = 0;
    c->breaker_ms = 0;
    c->breaker_wait_ms = 0;
}

static void breaker_count(struct consumer *c, int64_t retry_after_ms)
{
    int64_t now_ms = monotonic_ms();
    c->failures++;
    unsigned most = ordered(c) ? 1 : BREAKER_FAILURES;
    if ((c->failures < most && retry_after_ms == 0) || now_ms < c->breaker_ms)
        return;
    if (c->breaker_ms == 0)
        log_warn("consumer %s: %s takes no events (%s); trying again", c->plan.name.ptr,
                 c->plan.shown.ptr, c->reason);
    int64_t first = c->plan.backoff_ms != 0 ? c->plan.backoff_ms : BREAKER_FIRST_MS;
    int64_t wait = c->breaker_wait_ms == 0 ? first : 2 * c->breaker_wait_ms;
    c->breaker_wait_ms = wait < BREAKER_LAST_MS ? wait : BREAKER_LAST_MS;
    wait = jitter(c, c->breaker_wait_ms);
    c->breaker_ms = now_ms + (wait > retry_after_ms ? wait : retry_after_ms);
}

static void event_refused(struct consumer *c, struct event *event, const struct outlet_end *end)
{
    unsigned most = c->plan.attempts != 0 ? c->plan.attempts : CONSUMER_ATTEMPTS;
    event->out.together = false;
    if (end->shared) { // alone it will show which of them it is
        window_return(&c->window, event, 0);
        return;
    }
    c->failed++;
    if (end->outcome == OUTLET_REFUSED || c->breaker_ms == 0)
        event->attempts++;
    if (ledger_of(c) == NULL) // it tells by itself whether it is lost
        breaker_count(c, end->retry_after_ms);
    if (event->attempts >= most) {
        consumer_bury(c, event, c->reason);
        return;
    }
    int64_t wait = backoff(c, event->attempts + (c->breaker_ms != 0));
    window_return(&c->window, event,
                  monotonic_ms() + (wait > end->retry_after_ms ? wait : end->retry_after_ms));
}

static void event_ended(void *context, struct outlet_event *out, const struct outlet_end *end)
{
    struct consumer *c = context;
    struct event *event = (struct event *)out;
    if (end->outcome != OUTLET_DELIVERED && end->outcome != OUTLET_UNTRIED)
        fail_reason(c, end->reason);
    switch (end->outcome) {
    case OUTLET_DELIVERED:
        breaker_close(c);
        c->delivered++;
        consumer_delivered(c, event);
        if (ledger_of(c) != NULL)
            letters_supersede(c, event);
        window_remove(&c->window, event);
        event_free(event);
        break;
    case OUTLET_REFUSED:
    case OUTLET_FAILED:
        event_refused(c, event, end);
        break;
    case OUTLET_AWAY:
        c->failed++;
        if (ledger_of(c) == NULL)
            breaker_count(c, end->retry_after_ms);
        window_return(&c->window, event,
                      c->breaker_ms != 0 ? 0 : monotonic_ms() + backoff(c, c->failures));
        break;
    case OUTLET_UNTRIED:
        window_return(&c->window, event, 0);
        break;
    case OUTLET_GONE:
        c->gone = true;
        log_error("consumer %s: %s wants no more events (%s)", c->plan.name.ptr, c->plan.shown.ptr,
                  c->reason);
        window_return(&c->window, event, 0);
        break;
    }
}

// ---- Sending ---------------------------------------------------------------------------------

// How many events may be sent now. An open breaker lets one through when its time is over.
static size_t room_now(const struct consumer *c)
{
    if (c->breaker_ms != 0)
        return monotonic_ms() >= c->breaker_ms && c->window.flying == 0 ? 1 : 0;
    if (ledger_of(c) != NULL)
        return ledger_of(c)->batch < CONSUMER_BATCH_MAX ? ledger_of(c)->batch : CONSUMER_BATCH_MAX;
    size_t room = c->target->ops->room == NULL ? CONSUMER_BATCH : c->target->ops->room(c->target);
    size_t marks = CONSUMER_MARKS - c->mark_count - c->window.flying; // that can be noted
    room = room < CONSUMER_BATCH ? room : CONSUMER_BATCH;
    return room < marks ? room : marks;
}

// Whether something was sent.
static bool send_ready(struct consumer *c)
{
    struct outlet_event *events[CONSUMER_BATCH_MAX];
    size_t room = room_now(c);
    size_t count = 0;
    struct event *event;
    while (count < room && (event = window_take(&c->window, ordered(c))) != NULL) {
        if (!event->stored && ledger_of(c) == NULL && consumer_key_blocked(c, event->key)) {
            if (ordered(c) && count > 0) { // those before it are not sent yet
                window_return(&c->window, event, 0);
                break;
            }
            consumer_bury(c, event, "behind a dead letter of the same key");
            if (c->blocked)
                break;
            continue;
        }
        event->out.attempt = event->attempts + 1;
        events[count++] = &event->out;
    }
    if (count == 0)
        return false;
    c->target->claim = ledger_of(c) == NULL ? 0 : ledger_claim(c);
    c->target->ops->send(c->target, events, count);
    c->rows += c->target->rows;
    c->batches += c->target->batches;
    if (c->target->claim > c->claimed)
        c->claimed = c->target->claim;
    return true;
}

// The window is full because its first event fails, or waits for one that does: it goes on from a
// record, so that the others are not held up.
static void make_way(struct consumer *c)
{
    size_t limit = c->plan.window != 0 ? c->plan.window : CONSUMER_WINDOW;
    const size_t enough = limit / 2;
    if (c->window.count < limit || c->breaker_ms != 0)
        return;
    for (size_t i = 0; i < enough; i++) {
        struct event *first = c->window.events.first;
        if (first == NULL || first->state == EVENT_FLYING || first->state == EVENT_READY ||
            !consumer_park(c, first))
            return;
    }
}

// Under the lock, because whoever ends the consumer stops what its target waits for.
static void target_set(struct consumer *c, struct outlet *target)
{
    ensure(pthread_mutex_lock(&c->lock) == 0);
    struct outlet *before = c->target;
    c->target = target;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    if (before != NULL)
        before->ops->close(before);
}

// It is tried again later.
static void target_failed(struct consumer *c, const char *why)
{
    int64_t first = c->plan.backoff_ms != 0 ? c->plan.backoff_ms : OPEN_FIRST_MS;
    if (c->open_wait_ms == 0)
        log_warn("consumer %s: cannot open %s: %s", c->plan.name.ptr, c->plan.shown.ptr, why);
    if (why != c->reason)
        fail_reason(c, why);
    c->open_wait_ms = c->open_wait_ms == 0 ? first : c->open_wait_ms * 2;
    if (c->open_wait_ms > OPEN_LAST_MS)
        c->open_wait_ms = OPEN_LAST_MS;
    c->open_ms = monotonic_ms() + c->open_wait_ms;
}

// What was read is read again once it is back: it says from where.
static void target_lost(struct consumer *c)
{
    if (ledger_of(c) == NULL || !c->target->lost)
        return;
    target_set(c, NULL);
    backfill_end(c); // with a new snapshot, once it is back
    target_failed(c, c->reason);
}

static bool target_stopping(void *context)
{
    return atomic_load(&((struct consumer *)context)->stopping);
}

static bool open_target(struct consumer *c)
{
    char error[256] = "publishing is switched off here";
    if (c->target != NULL)
        return true;
    if (monotonic_ms() < c->open_ms)
        return false;
    struct outlet_owner owner = {c, event_ended, c->bell, target_stopping};
    if (c->plan.opener != NULL)
        target_set(c, c->plan.opener->open(c->plan.opener->context, &c->plan.target, &owner, error,
                                           sizeof(error)));
    if (c->target == NULL) {
        target_failed(c, error);
        return false;
    }
    if (!ledger_settle(c)) {
        target_set(c, NULL);
        target_failed(c, c->reason);
        return false;
    }
    if (c->open_wait_ms != 0)
        log_info("consumer %s: %s is open", c->plan.name.ptr, c->plan.shown.ptr);
    c->open_wait_ms = 0;
    fail_reason(c, "");
    return true;
}

// ---- Commands --------------------------------------------------------------------------------

// What is on its way is forgotten: it is read again.
static bool start_over(struct consumer *c, struct error *error)
{
    if (!consumer_keep(c, true))
        return error_set(error, ERR_INTERNAL, "It cannot be written now.");
    target_set(c, NULL);
    backfill_end(c);
    c->backfilling = false;
    window_clear(&c->window);
    c->gone = false;
    breaker_close(c);
    return letters_load(c, error);
}

static bool replay(struct consumer *c, const struct consumer_command *command, struct error *error)
{
    uint64_t first = 0;
    struct table *table = engine_table(c->shop->engine, c->plan.table);
    if (table == NULL)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
    bool ok = table->log == 0 || engine_log_after(c->shop->engine, NULL, table->log,
                                                  command->from_ms - 1, &first, error);
    table_release(table);
    if (!ok || !start_over(c, error))
        return false;
    c->read = first == 0 ? 0 : first - 1;
    c->read_ms = command->from_ms;
    c->keep_due = true;
    return true;
}

static bool obey(struct consumer *c, struct consumer_command *command, struct error *error)
{
    bool ok = true;
    switch (command->act) {
    case CONSUMER_PAUSE:
    case CONSUMER_RESUME:
        c->paused = command->act == CONSUMER_PAUSE;
        c->gone = c->blocked = false;
        breaker_close(c);
        c->open_ms = 0;
        c->keep_due = true;
        break;
    case CONSUMER_REPLAY:
        ok = replay(c, command, error);
        break;
    case CONSUMER_BACKFILL:
        ok = start_over(c, error) && backfill_begin(c, error);
        c->open_ms = 0;
        break;
    case CONSUMER_RETRY:
        return letters_retry(c, command, error);
    case CONSUMER_DROP:
        return letters_drop(c, command, error);
    }
    return ok &&
           (consumer_keep(c, true) || error_set(error, ERR_INTERNAL, "It cannot be written now."));
}

static void status_update(struct consumer *c);

static void obey_command(struct consumer *c)
{
    ensure(pthread_mutex_lock(&c->lock) == 0);
    struct consumer_command *command = c->command;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    if (command == NULL)
        return;
    bool ok = obey(c, command, c->command_error);
    status_update(c); // whoever has waited for it looks at it next
    ensure(pthread_mutex_lock(&c->lock) == 0);
    c->command_ok = ok;
    c->command = NULL;
    ensure(pthread_cond_broadcast(&c->done) == 0);
    ensure(pthread_mutex_unlock(&c->lock) == 0);
}

bool consumer_command(struct consumer *c, struct consumer_command *command, struct error *error)
{
    ensure(pthread_mutex_lock(&c->lock) == 0);
    while (c->command != NULL && !atomic_load(&c->stopping))
        ensure(pthread_cond_wait(&c->done, &c->lock) == 0);
    if (!atomic_load(&c->stopping)) {
        c->command = command;
        c->command_error = error;
        ring(c);
        while (c->command == command && !atomic_load(&c->stopping))
            ensure(pthread_cond_wait(&c->done, &c->lock) == 0);
    }
    bool ok = c->command != command && !atomic_load(&c->stopping) && c->command_ok;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    return ok || error_set(error, ERR_UNAVAILABLE, "The consumer is being stopped; try again.");
}

// ---- Status ----------------------------------------------------------------------------------

static const char *state_now(const struct consumer *c)
{
    if (c->paused)
        return "PAUSED";
    if (c->gone)
        return "STOPPED";
    if (c->blocked)
        return "BLOCKED";
    if (c->target == NULL)
        return c->open_ms == 0 ? "STARTING" : "FAILED";
    if (c->breaker_ms != 0)
        return "RETRYING";
    return c->backfilling ? "BACKFILLING" : "RUNNING";
}

static void status_update(struct consumer *c)
{
    const struct event *first = c->window.events.first;
    uint64_t newest = engine_sequence(c->shop->engine);
    bool all_read = c->read >= newest && !c->backfilling;
    ensure(pthread_mutex_lock(&c->lock) == 0);
    c->needed_ms = first != NULL ? first->out.time_ms : all_read ? INT64_MAX : c->read_ms;
    struct consumer_status *status = &c->status;
    status->state = state_now(c);
    bool trouble = c->paused || c->gone || c->blocked || c->target == NULL || c->failures > 0;
    (void)snprintf(status->reason, sizeof(status->reason), "%s",
                   c->blocked
                       ? "there are as many dead letters as there may be: send them again or "
                         "drop them"
                   : trouble ? c->reason
                             : "");
    status->position = c->position;
    status->records = c->window.count + (all_read ? 0 : newest > c->read ? newest - c->read : 0);
    status->delivered = c->delivered;
    status->failed = c->failed;
    status->rows = c->rows;
    status->batches = c->batches;
    status->letters = c->letters;
    status->in_flight = c->window.flying;
    status->breaker_open = c->breaker_ms != 0;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
}

void consumer_status(struct consumer *c, struct consumer_status *out)
{
    int64_t now_ms = consumer_now(c);
    uint64_t newest = engine_sequence(c->shop->engine);
    ensure(pthread_mutex_lock(&c->lock) == 0);
    *out = c->status;
    int64_t needed_ms = c->needed_ms;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    (void)newest;
    out->lost = atomic_load(&c->lost);
    out->behind_ms = needed_ms == NEEDED_UNKNOWN || needed_ms > now_ms ? 0 : now_ms - needed_ms;
    if (out->lost > atomic_load(&c->mended) && out->reason[0] == 0)
        (void)snprintf(out->reason, sizeof(out->reason),
                       "changes were forgotten before they were delivered, because they were too "
                       "old: a backfill brings what is there");
}

int64_t consumer_needs(struct consumer *c, int64_t limit_ms)
{
    ensure(pthread_mutex_lock(&c->lock) == 0);
    int64_t needed_ms = c->needed_ms;
    bool loses = needed_ms < limit_ms && needed_ms != NEEDED_UNKNOWN;
    if (loses) {
        c->needed_ms = limit_ms;
        atomic_fetch_add(&c->lost, 1);
    }
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    if (loses)
        log_error("consumer %s: changes of table %s are forgotten before they were delivered, "
                  "because they are too old",
                  c->plan.name.ptr, c->plan.table.ptr);
    return needed_ms < limit_ms ? limit_ms : needed_ms;
}

struct slice consumer_name(const struct consumer *c)
{
    return c->plan.name;
}

struct slice consumer_table(const struct consumer *c)
{
    return c->plan.table;
}

struct slice consumer_uuid(const struct consumer *c)
{
    return c->plan.uuid;
}

struct slice consumer_target(const struct consumer *c)
{
    return c->plan.shown;
}

// ---- The thread ------------------------------------------------------------------------------

static bool works(const struct consumer *c)
{
    return !c->paused && !c->gone && !c->blocked;
}

// How long there is nothing to do, unless the bell rings.
static int sleep_time(struct consumer *c)
{
    int64_t now_ms = monotonic_ms();
    int64_t until = now_ms + 5000;
    if (c->keep_due && c->kept_ms + CONSUMER_KEEP_MS < until)
        until = c->kept_ms + CONSUMER_KEEP_MS;
    if (works(c)) {
        int64_t due_ms = window_next_due(&c->window);
        bool waits = c->window.ready.first != NULL || due_ms != INT64_MAX;
        if (c->breaker_ms != 0 && waits && c->window.flying == 0)
            due_ms = due_ms > c->breaker_ms && due_ms != INT64_MAX ? due_ms : c->breaker_ms;
        until = due_ms < until ? due_ms : until;
        if (c->target == NULL)
            until = c->open_ms < until ? c->open_ms : until;
        until = c->fill_ms != 0 && c->fill_ms < until ? c->fill_ms : until;
        if (ledger_of(c) != NULL && ledger_of(c)->wish != NULL && c->wish_ms < until)
            until = c->wish_ms;
    }
    return until <= now_ms ? 0 : (int)(until - now_ms);
}

// Sleeps until there is news: of the log, of the target, of somebody with a command.
static void await_news(struct consumer *c)
{
    eventfd_t count;
    int ms = sleep_time(c);
    atomic_store(&c->asleep, true);
    if (atomic_load(&c->stopping) || (c->target != NULL && c->fill_ms == 0 && consumer_may_fill(c)))
        ms = 0;
    if (c->target != NULL && c->target->ops->wait != NULL) {
        c->target->ops->wait(c->target, ms);
    } else if (ms > 0) {
        struct pollfd bell = {.fd = c->bell, .events = POLLIN};
        (void)poll(&bell, 1, ms);
    }
    atomic_store(&c->asleep, false);
    (void)!eventfd_read(c->bell, &count);
}

static void send_more_letters(struct consumer *c)
{
    struct error error;
    if (!c->sending_again || c->window.stored_count > CONSUMER_STORED / 2)
        return;
    error_init(&error, &c->arena);
    if (!letters_retry(c, NULL, &error))
        c->sending_again = true; // at the next turn
    arena_reset(&c->arena);
}

static void work_once(struct consumer *c)
{
    obey_command(c);
    if (works(c) && open_target(c)) {
        ledger_mend(c);
        bool may = c->fill_ms == 0 || monotonic_ms() >= c->fill_ms;
        if (may && consumer_may_fill(c))
            c->fill_ms = consumer_fill(c) ? 0 : monotonic_ms() + 200;
        window_due(&c->window, monotonic_ms());
        while (send_ready(c) && c->target->ops->wait == NULL && works(c) && !c->target->lost)
            continue;
        wishes_do(c);
        target_lost(c);
        make_way(c);
        send_more_letters(c);
    }
    consumer_keep(c, c->keep_count > 0 || c->mark_count > CONSUMER_MARKS / 2);
    status_update(c);
}

static void *consumer_main(void *argument)
{
    struct consumer *c = argument;
    struct error error;
    error_init(&error, &c->arena);
    while (!atomic_load(&c->stopping) && !consumer_load(c, &error)) {
        fail_reason(c, error.message);
        window_clear(&c->window);
        c->letters = 0;
        arena_reset(&c->arena);
        error_init(&error, &c->arena);
        sleep_ms(100);
    }
    status_update(c);
    while (!atomic_load(&c->stopping)) {
        work_once(c);
        if (!atomic_load(&c->stopping))
            await_news(c);
    }
    consumer_keep(c, true);
    return NULL;
}

// ---- Beginning and end -----------------------------------------------------------------------

static struct slice copy_text(struct buf *texts, struct slice text)
{
    struct slice at =
        slice_of((const uint8_t *)texts->len, text.len); // an offset, until all is there
    buf_slice(texts, text);
    buf_byte(texts, 0);
    return at;
}

static void settle_text(const struct buf *texts, struct slice *text)
{
    text->ptr = texts->ptr + (uintptr_t)text->ptr;
}

// All texts of the plan in one piece of memory.
static void copy_plan(struct consumer *c, const struct consumer_plan *plan)
{
    struct buf texts;
    size_t count = plan->target.option_count;
    struct outlet_option *options = memory_zeroed((count + 1) * sizeof(*options));
    struct slice *own[] = {&c->plan.name, &c->plan.table, &c->plan.uuid, &c->plan.shown,
                           &c->plan.target.url};
    c->plan = *plan;
    buf_init(&texts, CONSUMER_MEMORY);
    for (size_t i = 0; i < COUNT_OF(own); i++)
        *own[i] = copy_text(&texts, *own[i]);
    for (size_t i = 0; i < count; i++)
        options[i] = (struct outlet_option){copy_text(&texts, plan->target.options[i].name),
                                            copy_text(&texts, plan->target.options[i].source),
                                            copy_text(&texts, plan->target.options[i].value)};
    ensure_memory(texts.failed ? NULL : texts.ptr);
    for (size_t i = 0; i < COUNT_OF(own); i++)
        settle_text(&texts, own[i]);
    for (size_t i = 0; i < count; i++) {
        settle_text(&texts, &options[i].name);
        settle_text(&texts, &options[i].source);
        settle_text(&texts, &options[i].value);
    }
    c->plan.target.options = options;
    c->texts = (char *)texts.ptr;
}

// The most that an event may be: the largest change, but at most the share of the budget that can
// be had beside everything else. It is there twice for a moment, and may be posted in base64.
static size_t body_max(const struct budget *budget)
{
    size_t share = budget == NULL ? 0 : budget->limit / 4;
    return share == 0 || share > LIMIT_CHANGE_JSON ? LIMIT_CHANGE_JSON : share;
}

struct consumer *consumer_new(struct workshop *shop, const struct consumer_plan *plan)
{
    struct consumer *c = memory_zeroed(sizeof(*c));
    copy_plan(c, plan);
    c->shop = shop;
    c->account.budget = shop->budget;
    c->needed_ms = NEEDED_UNKNOWN;
    c->status.state = "STARTING";
    atomic_store(&c->bit, UINT64_MAX);
    window_init(&c->window);
    arena_init(&c->arena, CONSUMER_MEMORY);
    arena_init(&c->keep_arena, 2 * CONSUMER_MEMORY);
    buf_init_counted(&c->scratch, body_max(shop->budget), &c->account, BUDGET_CALLS);
    engine_env(shop->engine)
        ->random(engine_env(shop->engine)->context, (uint8_t *)&c->random, sizeof(c->random));
    ensure(pthread_mutex_init(&c->lock, NULL) == 0);
    ensure(pthread_cond_init(&c->done, NULL) == 0);
    c->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ensure_started(c->bell >= 0);
    ensure_started(pthread_create(&c->thread, NULL, consumer_main, c) == 0);
    return c;
}

void consumer_free(struct consumer *c, bool forget)
{
    ensure(pthread_mutex_lock(&c->lock) == 0);
    atomic_store(&c->stopping, true);
    if (c->target != NULL && c->target->ops->stop != NULL)
        c->target->ops->stop(c->target);
    ensure(pthread_cond_broadcast(&c->done) == 0);
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    ring(c);
    ensure(pthread_join(c->thread, NULL) == 0);
    target_set(c, NULL);
    if (forget)
        consumer_forget(c);
    backfill_end(c);
    window_clear(&c->window);
    c->plan.source->ops->free(c->plan.source);
    buf_release(&c->scratch);
    arena_release(&c->arena);
    arena_release(&c->keep_arena);
    ensure(pthread_mutex_destroy(&c->lock) == 0);
    ensure(pthread_cond_destroy(&c->done) == 0);
    (void)close(c->bell);
    free(c->blocked_keys.list);
    free((void *)(uintptr_t)c->plan.target.options);
    free(c->texts);
    free(c);
}
