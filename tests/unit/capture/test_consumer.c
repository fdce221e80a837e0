// A consumer over an engine in memory, with a target that does what the test says: order per key,
// poison, dead letters, a target that is away, replay, backfill, marks, restarts at any point.
#include "capture/consumer.h"
#include "capture/window.h"

#include "base/wait.h"
#include "engine/support.h"
#include "value/map.h"
#include "work/lanes.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SEEN_MAX = 20000 };

// ---- The target ------------------------------------------------------------------------------

static struct fake {
    pthread_mutex_t lock;
    size_t count;
    struct seen {
        char id[80];
        char key[16];
        int value;
        unsigned attempt;
    } seen[SEEN_MAX];
    size_t attempts;
    atomic_bool away;
    atomic_bool poison; // values of 666 are refused
    atomic_bool gone;
    atomic_int opened;
    bool ordered;
    bool ledger;
    atomic_bool cut;           // the next send loses the target
    atomic_bool filling;       // what a target with a ledger stands at,
    _Atomic uint64_t position; // and where
    atomic_int begun, ended;   // snapshots
    atomic_int most;           // in flight at the same time
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct fake_target {
    struct outlet base;
    size_t count;
    struct outlet_event *flying[64];
};

static struct outlet_end fake_end(const struct outlet_event *event)
{
    const char *body = (const char *)event->body.ptr;
    const char *space = strchr(body, ' ');
    int value = (int)strtol(space + 1, NULL, 10);
    struct outlet_end end = {.outcome = OUTLET_DELIVERED, .reason = ""};
    pthread_mutex_lock(&fake.lock);
    fake.attempts++;
    if (fake.gone) {
        end = (struct outlet_end){.outcome = OUTLET_GONE, .reason = "410"};
    } else if (fake.away) {
        end = (struct outlet_end){.outcome = OUTLET_AWAY, .reason = "nobody there"};
    } else if (fake.poison && value == 666) {
        end = (struct outlet_end){.outcome = OUTLET_REFUSED, .reason = "status 400"};
    } else {
        struct seen *seen = &fake.seen[fake.count++];
        assert_true(fake.count < SEEN_MAX);
        (void)snprintf(seen->id, sizeof(seen->id), "%s", event->id.ptr);
        (void)snprintf(seen->key, sizeof(seen->key), "%.*s", (int)(space - body), body);
        seen->value = value;
        seen->attempt = event->attempt;
    }
    pthread_mutex_unlock(&fake.lock);
    return end;
}

static size_t fake_room(struct outlet *target)
{
    return COUNT_OF(((struct fake_target *)target)->flying) - ((struct fake_target *)target)->count;
}

static void fake_send(struct outlet *target, struct outlet_event *const *events, size_t count)
{
    struct fake_target *own = (struct fake_target *)target;
    for (size_t i = 0; i < count; i++)
        own->flying[own->count++] = events[i];
    if ((int)own->count > fake.most)
        fake.most = (int)own->count;
}

// Ends them from the last to the first: nothing may depend on it.
static void fake_wait(struct outlet *target, int ms)
{
    struct fake_target *own = (struct fake_target *)target;
    if (own->count == 0) {
        struct pollfd bell = {.fd = target->owner.bell, .events = POLLIN};
        (void)poll(&bell, 1, ms);
    }
    while (own->count > 0) {
        struct outlet_event *event = own->flying[--own->count];
        struct outlet_end end = fake_end(event);
        target->owner.ended(target->owner.context, event, &end);
    }
}

// All at once, in order, until one fails.
static void fake_send_ordered(struct outlet *target, struct outlet_event *const *events,
                              size_t count)
{
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        struct outlet_end end = {.outcome = OUTLET_UNTRIED};
        if (!failed)
            end = fake_end(events[i]);
        failed = failed || end.outcome != OUTLET_DELIVERED;
        target->owner.ended(target->owner.context, events[i], &end);
    }
}

static void fake_close(struct outlet *target)
{
    free(target);
}

static const struct outlet_ops fake_ops = {
    .room = fake_room, .send = fake_send, .wait = fake_wait, .close = fake_close};
static const struct outlet_ops fake_ordered_ops = {
    .ordered = true, .send = fake_send_ordered, .close = fake_close};

// A target that keeps the position: all of a batch is delivered, but what is refused.
static void fake_send_whole(struct outlet *target, struct outlet_event *const *events, size_t count)
{
    bool all = true;
    target->lost = atomic_exchange(&fake.cut, false);
    for (size_t i = 0; i < count; i++) {
        struct outlet_end end = {.outcome = OUTLET_AWAY, .reason = "cut"};
        if (!target->lost)
            end = fake_end(events[i]);
        all = all && end.outcome == OUTLET_DELIVERED;
        target->owner.ended(target->owner.context, events[i], &end);
    }
    if (!all)
        target->claim = 0;
    else if (target->claim > fake.position)
        fake.position = target->claim;
}

static struct outlet_place fake_place(struct outlet *target)
{
    (void)target;
    return (struct outlet_place){fake.filling, fake.position};
}

static bool fake_begin(struct outlet *target, char *error, size_t error_size)
{
    (void)target, (void)error, (void)error_size;
    fake.begun++;
    return true;
}

static bool fake_finish(struct outlet *target, uint64_t sequence, char *error, size_t error_size)
{
    (void)target, (void)error, (void)error_size;
    fake.filling = false;
    fake.position = sequence;
    fake.ended++;
    return true;
}

static const struct outlet_ledger fake_ledger = {
    .place = fake_place, .begin = fake_begin, .end = fake_finish, .batch = 64};
static const struct outlet_ops fake_whole_ops = {
    .ordered = true, .ledger = &fake_ledger, .send = fake_send_whole, .close = fake_close};

static struct outlet *fake_open(void *context, const struct outlet_spec *spec,
                                const struct outlet_owner *owner, char *error, size_t error_size)
{
    (void)context, (void)error, (void)error_size;
    assert_true(slice_is(spec->url, "fake:"));
    struct fake_target *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = fake.ledger    ? &fake_whole_ops
                                       : fake.ordered ? &fake_ordered_ops
                                                      : &fake_ops,
                                .owner = *owner};
    fake.opened++;
    return &own->base;
}
static const struct outlet_opener opener = {NULL, fake_open};

// ---- The source ------------------------------------------------------------------------------

static bool source_event(struct consumer_source *source, const struct log_entry *entry,
                         struct consumer_draft *draft)
{
    (void)source;
    struct slice item = entry->new_item.len > 0 ? entry->new_item : entry->old_item;
    if (entry->event == LOG_REMOVE)
        return false;
    draft->type = draft->snapshot ? SLICE_LIT("snapshot") : SLICE_LIT("insert");
    buf_slice(draft->body, value_bytes(value_get(item, SLICE_LIT("pk"))));
    buf_byte(draft->body, ' ');
    buf_slice(draft->body, value_bytes(value_get(item, SLICE_LIT("v"))));
    buf_byte(draft->body, 0);
    return true;
}

static void source_free(struct consumer_source *source)
{
    free(source);
}

static const struct consumer_source_ops source_ops = {.event = source_event, .free = source_free};

// ---- The world -------------------------------------------------------------------------------

static struct world world;
static struct workshop shop;
static struct consumer *consumer;
static struct log_listener listener;
static uint64_t start;

static void heard(void *context, uint64_t logs)
{
    (void)context;
    consumer_heard(consumer, logs);
}

static void ignored(void *context)
{
    (void)context;
}

static bool alter_images(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)context, (void)error;
    *next = table_clone(current);
    (*next)->log_images = LOG_KEYS | LOG_OLD | LOG_NEW;
    return true;
}

static void begin(struct consumer_plan plan)
{
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct consumer_source *source = memory_zeroed(sizeof(*source));
    source->ops = &source_ops;
    plan.name = SLICE_LIT("hook");
    plan.table = SLICE_LIT("music");
    plan.uuid = table->uuid;
    plan.start = start;
    plan.source = source;
    plan.opener = &opener;
    plan.target.url = SLICE_LIT("fake:");
    plan.shown = SLICE_LIT("fake:");
    plan.backoff_ms = plan.backoff_ms == 0 ? 2 : plan.backoff_ms;
    consumer = consumer_new(&shop, &plan);
    listener = (struct log_listener){NULL, heard, ignored};
    engine_log_listen(world.engine, LOG_EAR_CONSUMERS, &listener);
    table_release(table);
}

static void end(void)
{
    engine_log_listen(world.engine, LOG_EAR_CONSUMERS, NULL);
    consumer_free(consumer, false);
}

static int setup(void **state)
{
    (void)state;
    world_open(&world);
    shop = (struct workshop){.engine = world.engine, .lanes = lanes_new()};
    create_table(&world, "music", false, false);
    assert_true(change_table(&world, "music", alter_images, NULL));
    fake.count = fake.attempts = 0;
    fake.away = fake.poison = fake.gone = fake.ordered = fake.ledger = fake.cut = false;
    fake.filling = true;
    fake.position = 0;
    fake.begun = fake.ended = 0;
    fake.most = 0;
    start = engine_sequence(world.engine);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lanes_stop(&shop);
    lanes_free(&shop);
    world_close(&world);
    return 0;
}

static void put(const char *key, int value)
{
    char pk[16];
    char v[16];
    (void)snprintf(pk, sizeof(pk), "pk=%s", key);
    (void)snprintf(v, sizeof(v), "v=%d", value);
    assert_true(put_item(&world, "music", item_of(&world, pk, "sk=s", v, NULL)));
    arena_reset(&world.arena);
}

static size_t seen_count(void)
{
    pthread_mutex_lock(&fake.lock);
    size_t count = fake.count;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

static void await_seen(size_t count)
{
    for (int i = 0; i < 10000 && seen_count() < count; i++)
        sleep_ms(1);
    assert_true(seen_count() >= count);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        struct consumer_status status;                                                             \
        for (int i = 0; i < 10000; i++) {                                                          \
            consumer_status(consumer, &status);                                                    \
            if (condition)                                                                         \
                break;                                                                             \
            sleep_ms(1);                                                                           \
        }                                                                                          \
        assert_true(condition);                                                                    \
    } while (0)

static struct consumer_command command(enum consumer_act act, int64_t from_ms, uint64_t sequence)
{
    struct consumer_command command = {.act = act, .from_ms = from_ms, .sequence = sequence};
    error_init(&world.error, &world.arena);
    assert_true(consumer_command(consumer, &command, &world.error));
    return command;
}

// The values of a key never go back, apart from what is delivered again under the same id.
static void assert_order(void)
{
    for (size_t i = 0; i < fake.count; i++)
        for (size_t k = i + 1; k < fake.count && k < i + 400; k++)
            if (strcmp(fake.seen[i].key, fake.seen[k].key) == 0)
                assert_true(fake.seen[i].value < fake.seen[k].value);
}

// ---- Tests -----------------------------------------------------------------------------------

static void test_order(void **state)
{
    (void)state;
    char key[16];
    begin((struct consumer_plan){.attempts = 3});
    for (int i = 0; i < 2000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i % 37);
        put(key, i);
    }
    await_seen(2000);
    end();
    assert_int_equal(fake.count, 2000);
    assert_order();
}

static void test_order_of_ordered(void **state)
{
    (void)state;
    char key[16];
    fake.ordered = true;
    fake.away = true;
    begin((struct consumer_plan){.attempts = 3});
    for (int i = 0; i < 2000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i % 7);
        put(key, i);
        if (i == 1000)
            fake.away = false;
    }
    await_seen(2000);
    end();
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(fake.seen[i].value, i);
}

// A poisonous event holds up its key alone, and becomes a dead letter with those behind it.
static void test_poison(void **state)
{
    (void)state;
    fake.poison = true;
    begin((struct consumer_plan){.attempts = 3});
    put("bad", 666);
    put("bad", 667);
    for (int i = 0; i < 50; i++)
        put("good", i);
    put("bad", 668);
    await_seen(50);
    AWAIT(status.letters == 3);
    put("bad", 669);
    AWAIT(status.letters == 4);
    assert_int_equal(fake.count, 50);
    end();
    begin((struct consumer_plan){.attempts = 3}); // the letters are still there, and block the key
    put("bad", 670);
    put("good", 50);
    await_seen(51);
    AWAIT(status.letters == 5 && status.in_flight == 0);
    fake.poison = false;
    assert_int_equal(command(CONSUMER_RETRY, 0, 0).count, 5);
    await_seen(56);
    AWAIT(status.letters == 0);
    put("bad", 671);
    await_seen(57);
    end();
    assert_order();
    assert_int_equal(fake.seen[56].value, 671);
}

static bool first_letter(void *context, const struct letter *letter)
{
    struct letter *out = context;
    *out = *letter;
    assert_true(slice_is(letter->reason, "status 400"));
    assert_int_equal(letter->attempts, 2);
    assert_true(letter->died_ms > 0);
    return false;
}

static void test_drop(void **state)
{
    (void)state;
    struct letter letter = {.sequence = 0};
    fake.poison = true;
    begin((struct consumer_plan){.attempts = 2});
    put("bad", 666);
    put("bad", 667);
    AWAIT(status.letters == 2);
    assert_true(consumer_letters(&shop, consumer_uuid(consumer), SLICE_LIT("hook"), 0, first_letter,
                                 &letter, &world.error));
    assert_int_equal(command(CONSUMER_DROP, 0, letter.sequence).count, 1);
    assert_int_equal(command(CONSUMER_RETRY, 0, 0).count, 1);
    await_seen(1);
    assert_int_equal(fake.seen[0].value, 667);
    AWAIT(status.letters == 0);
    put("bad", 666);
    AWAIT(status.letters == 1);
    assert_int_equal(command(CONSUMER_DROP, 0, 0).count, 1);
    put("bad", 1);
    await_seen(2);
    end();
}

// As many letters as there may be stop the consumer; nothing is lost.
static void test_letters_full(void **state)
{
    (void)state;
    fake.poison = true;
    begin((struct consumer_plan){.attempts = 1, .letters = 2});
    put("a", 666);
    put("b", 666);
    put("c", 666);
    put("d", 1);
    AWAIT(strcmp(status.state, "BLOCKED") == 0);
    fake.poison = false;
    (void)command(CONSUMER_DROP, 0, 0);
    await_seen(2);
    AWAIT(status.letters == 0 && status.records == 0);
    end();
    assert_int_equal(fake.count, 2);
}

// A full window does not wait for its first event: that is tried again from a record.
static void test_way(void **state)
{
    (void)state;
    char key[16];
    fake.poison = true;
    begin((struct consumer_plan){.attempts = 1000, .window = 16, .backoff_ms = 5});
    (void)command(CONSUMER_PAUSE, 0, 0); // what comes one by one does not fill it
    put("bad", 666);
    put("bad", 667);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        put(key, i);
    }
    (void)command(CONSUMER_RESUME, 0, 0);
    await_seen(200);
    AWAIT(status.letters == 2);
    end();
    begin((struct consumer_plan){.attempts = 1000, .window = 16, .backoff_ms = 5});
    fake.poison = false;
    await_seen(202);
    AWAIT(status.letters == 0);
    end();
    assert_int_equal(fake.count, 202);
    assert_int_equal(fake.seen[200].value, 666);
    assert_int_equal(fake.seen[201].value, 667);
}

// Nobody there: nothing is counted against the events, and the breaker lets one through at a time.
static void test_away(void **state)
{
    (void)state;
    char key[16];
    fake.away = true;
    begin((struct consumer_plan){.attempts = 1});
    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        put(key, i);
    }
    AWAIT(status.breaker_open && strcmp(status.state, "RETRYING") == 0 && status.failed > 8);
    assert_true(fake.attempts < 100 + 100);
    fake.away = false;
    await_seen(100);
    AWAIT(!status.breaker_open && status.letters == 0);
    end();
}

static void test_gone_and_resumed(void **state)
{
    (void)state;
    fake.gone = true;
    begin((struct consumer_plan){.attempts = 3});
    put("a", 1);
    AWAIT(strcmp(status.state, "STOPPED") == 0 && strcmp(status.reason, "410") == 0);
    fake.gone = false;
    (void)command(CONSUMER_RESUME, 0, 0);
    await_seen(1);
    (void)command(CONSUMER_PAUSE, 0, 0);
    put("a", 2);
    end();
    begin((struct consumer_plan){.attempts = 3}); // it is still paused
    AWAIT(strcmp(status.state, "PAUSED") == 0);
    assert_int_equal(seen_count(), 1);
    (void)command(CONSUMER_RESUME, 0, 0);
    await_seen(2);
    end();
}

static void test_replay(void **state)
{
    (void)state;
    begin((struct consumer_plan){.attempts = 3});
    put("a", 1);
    world.clock.now_ms += 1000;
    int64_t later = world.clock.now_ms;
    put("a", 2);
    await_seen(2);
    (void)command(CONSUMER_REPLAY, later, 0);
    await_seen(3);
    (void)command(CONSUMER_REPLAY, 0, 0);
    await_seen(5);
    end();
    assert_string_equal(fake.seen[1].id, fake.seen[2].id);
    assert_string_equal(fake.seen[0].id, fake.seen[3].id);
    assert_string_equal(fake.seen[1].id, fake.seen[4].id);
}

// What is there, each once, then what was written since.
static void test_backfill(void **state)
{
    (void)state;
    char key[16];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        put(key, i);
    }
    start = engine_sequence(world.engine);
    begin((struct consumer_plan){.attempts = 3, .window = 64});
    put("k0", 1000);
    await_seen(1);
    fake.away = true;
    (void)command(CONSUMER_BACKFILL, 0, 0);
    put("k0", 1001);
    fake.away = false;
    await_seen(302);
    end();
    assert_int_equal(fake.count, 302);
    // Its change, the snapshot, and the change since: in this order, whatever became of others.
    const int wanted[] = {1000, 1000, 1001};
    size_t zeros = 0;
    for (size_t i = 0; i < fake.count; i++) {
        if (strcmp(fake.seen[i].key, "k0") != 0)
            continue;
        assert_true(zeros < COUNT_OF(wanted));
        assert_int_equal(fake.seen[i].value, wanted[zeros++]);
    }
    assert_int_equal(zeros, COUNT_OF(wanted));
}

// Ended and begun again at any point: everything comes, in order, and duplicates have their ids.
static void test_restarts(void **state)
{
    (void)state;
    char key[16];
    int last[13];
    memset(last, -1, sizeof(last));
    for (int i = 0; i < 1500; i++) {
        if (i % 100 == 0)
            begin((struct consumer_plan){.attempts = 3});
        (void)snprintf(key, sizeof(key), "k%d", i % 13);
        put(key, i);
        if (i % 100 == 99)
            end();
    }
    begin((struct consumer_plan){.attempts = 3});
    AWAIT(strcmp(status.state, "RUNNING") == 0 && status.records == 0);
    end();
    bool there[1500] = {false};
    for (size_t i = 0; i < fake.count; i++) {
        int k = (int)strtol(fake.seen[i].key + 1, NULL, 10);
        int value = fake.seen[i].value;
        // The next one of its key, or one that was there before.
        assert_true(there[value] || last[k] < 0 || value == last[k] + 13);
        last[k] = there[value] ? last[k] : value;
        there[value] = true;
    }
    for (size_t i = 0; i < 1500; i++)
        assert_true(there[i]);
}

// What is not delivered is held back from being forgotten, up to a bound; falling off it is told.
static void test_needs(void **state)
{
    (void)state;
    fake.away = true;
    begin((struct consumer_plan){.attempts = 3});
    int64_t now_ms = world.clock.now_ms;
    put("a", 1);
    AWAIT(status.records == 1 && status.failed > 0);
    world.clock.now_ms += 5000;
    assert_int_equal(consumer_needs(consumer, 0), now_ms);
    AWAIT(status.behind_ms == 5000);
    assert_int_equal(consumer_needs(consumer, now_ms + 1), now_ms + 1);
    AWAIT(status.lost == 1);
    fake.away = false;
    await_seen(1);
    AWAIT(status.records == 0 && status.behind_ms == 0);
    assert_true(consumer_needs(consumer, 0) == INT64_MAX);
    end();
}

// A target that keeps the position: it is filled first, then followed; what it says counts.
static void test_ledger(void **state)
{
    (void)state;
    fake.ledger = true;
    put("a", 1);
    put("b", 2);
    begin((struct consumer_plan){.attempts = 2});
    await_seen(2);
    AWAIT(fake.ended == 1 && strcmp(status.state, "RUNNING") == 0);
    put("a", 3);
    await_seen(3);
    AWAIT(fake.position == engine_sequence(world.engine));
    fake.cut = true; // it is opened again, and goes on from where it says
    put("a", 4);
    await_seen(4);
    assert_int_equal(fake.begun, 1);
    end();
    begin((struct consumer_plan){.attempts = 2});
    put("b", 5);
    await_seen(5);
    assert_int_equal(fake.begun, 1);
    end();
    fake.position = 1; // somebody has put it back: all items once more
    begin((struct consumer_plan){.attempts = 2});
    AWAIT(fake.ended == 2);
    assert_int_equal(fake.count, 7);
    end();
}

// A refused event is a dead letter, which does not hold up later ones of its key, and goes with
// them.
static void test_ledger_letters(void **state)
{
    (void)state;
    fake.ledger = fake.poison = true;
    begin((struct consumer_plan){.attempts = 2});
    AWAIT(fake.ended == 1);
    put("a", 666);
    put("b", 1);
    AWAIT(status.letters == 1);
    await_seen(1);
    put("c", 2); // the position passes the letter once that is on disk
    AWAIT(fake.position == engine_sequence(world.engine));
    put("a", 3);
    AWAIT(status.letters == 0);
    assert_int_equal(fake.seen[fake.count - 1].value, 3);
    put("b", 666);
    AWAIT(status.letters == 1);
    command(CONSUMER_BACKFILL, 0, 0); // has what the letters have
    AWAIT(fake.ended == 2 && status.letters == 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_of_ordered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_poison, setup, teardown),
        cmocka_unit_test_setup_teardown(test_drop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_letters_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gone_and_resumed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backfill, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restarts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_needs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ledger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ledger_letters, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
