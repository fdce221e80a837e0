// Whoever guesses is slowed and then refused, and nobody else is; whoever floods gets their rate.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int setup(void **state)
{
    *state = limits_new(0x1234567);
    return 0;
}

static int teardown(void **state)
{
    limits_free(*state);
    return 0;
}

static struct limits_origin from(struct limits *limits, const char *address, const char *key)
{
    return limits_origin(limits, address, false, slice_str(key));
}

static void fail_times(struct limits *limits, struct limits_origin origin, unsigned times,
                       uint32_t now)
{
    for (unsigned i = 0; i < times; i++)
        limits_failed(limits, origin, now);
}

static void a_pair_is_slowed_and_then_refused(void **state)
{
    struct limits *limits = *state;
    struct limits_origin origin = from(limits, "192.0.2.1", "AKIA1");
    fail_times(limits, origin, LIMITS_PAIR_FREE, 100);
    assert_int_equal(limits_locked(limits, origin, 100), 0);
    unsigned expected[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        limits_failed(limits, origin, 100);
        assert_int_equal(limits_locked(limits, origin, 100), expected[i]);
    }
    assert_int_equal(limits_locked(limits, origin, 399), 1);
    assert_int_equal(limits_locked(limits, origin, 400), 0);
    assert_int_equal(limits_stats(limits).locked, 12);
    // The same key from elsewhere, and another key from there, are not.
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.2", "AKIA1"), 100), 0);
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.1", "AKIA2"), 100), 0);
}

static void failures_are_forgotten(void **state)
{
    struct limits *limits = *state;
    struct limits_origin origin = from(limits, "192.0.2.1", "AKIA1");
    // One every half minute is no guessing.
    for (uint32_t now = 0; now < 100 * LIMITS_DECAY_S; now += LIMITS_DECAY_S) {
        limits_failed(limits, origin, now);
        assert_int_equal(limits_locked(limits, origin, now), 0);
    }
    fail_times(limits, origin, LIMITS_PAIR_FREE + 3, 10000);
    assert_true(limits_locked(limits, origin, 10000) > 0);
    uint32_t later = 10000 + (LIMITS_PAIR_FREE + 3) * LIMITS_DECAY_S;
    fail_times(limits, origin, LIMITS_PAIR_FREE, later);
    assert_int_equal(limits_locked(limits, origin, later), 0);
}

static void success_forgets_the_pair_and_not_the_address(void **state)
{
    struct limits *limits = *state;
    struct limits_origin mine = from(limits, "192.0.2.1", "AKIA1");
    fail_times(limits, mine, LIMITS_PAIR_FREE, 100);
    limits_succeeded(limits, mine, 100);
    fail_times(limits, mine, LIMITS_PAIR_FREE, 100);
    assert_int_equal(limits_locked(limits, mine, 100), 0);
    limits_succeeded(limits, mine, 101);
    fail_times(limits, mine, LIMITS_PAIR_FREE, 101);
    assert_int_equal(limits_locked(limits, mine, 101), 0);
    // Somebody tries many keys, with one of their own in between.
    char key[32];
    for (unsigned i = 0; i < LIMITS_ADDRESS_FREE; i++) {
        (void)snprintf(key, sizeof(key), "AKIA-%u", i);
        limits_failed(limits, from(limits, "192.0.2.9", key), 100);
        limits_succeeded(limits, from(limits, "192.0.2.9", "OWN"), 100);
    }
    limits_failed(limits, from(limits, "192.0.2.9", "AKIA-x"), 100);
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.9", "AKIA-y"), 100), 1);
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.9", ""), 100), 1);
    // Who has signed well from there is served, also if somebody tries that key there; after an
    // hour that is forgotten.
    limits_failed(limits, from(limits, "192.0.2.9", "OWN"), 100);
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.9", "OWN"), 100), 0);
    for (unsigned i = 0; i < 20; i++)
        limits_failed(limits, from(limits, "192.0.2.9", "AKIA-z"), 3800);
    fail_times(limits, from(limits, "192.0.2.9", "AKIA-w"), 60, 3800);
    assert_true(limits_locked(limits, from(limits, "192.0.2.9", "OWN"), 3800) > 0);
    // And everybody else.
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.8", "AKIA-y"), 100), 0);
}

static void addresses_count_by_network(void **state)
{
    struct limits *limits = *state;
    fail_times(limits, from(limits, "2001:db8:1:2::1", "K"), LIMITS_PAIR_FREE + 1, 5);
    assert_true(limits_locked(limits, from(limits, "2001:db8:1:2:ffff::7", "K"), 5) > 0);
    assert_int_equal(limits_locked(limits, from(limits, "2001:db8:1:3::1", "K"), 5), 0);
    fail_times(limits, from(limits, "::ffff:192.0.2.1", "K"), LIMITS_PAIR_FREE + 1, 5);
    assert_true(limits_locked(limits, from(limits, "192.0.2.1", "K"), 5) > 0);
    assert_int_equal(limits_locked(limits, from(limits, "192.0.2.2", "K"), 5), 0);
    // A proxy has many clients: the pair counts, and not the address.
    struct limits_origin shared = limits_origin(limits, "10.0.0.1", true, SLICE_LIT("A"));
    assert_int_equal(shared.address, 0);
    fail_times(limits, shared, 200, 5);
    assert_int_equal(
        limits_locked(limits, limits_origin(limits, "10.0.0.1", true, SLICE_LIT("B")), 5), 0);
    assert_int_equal(limits_origin(limits, "", false, SLICE_LIT("A")).address, 0);
}

// Millions of addresses fail once each: those that fail for long are still known.
static void a_flood_of_addresses_hides_nobody(void **state)
{
    struct limits *limits = *state;
    struct limits_origin guesser = from(limits, "198.51.100.7", "AKIA1");
    fail_times(limits, guesser, LIMITS_PAIR_FREE + 8, 1);
    for (unsigned i = 0; i < 1000000; i++) {
        char address[32];
        (void)snprintf(address, sizeof(address), "10.%u.%u.%u", i >> 16 & 255, i >> 8 & 255,
                       i & 255);
        limits_failed(limits, from(limits, address, "AKIA1"), 1);
    }
    assert_true(limits_locked(limits, guesser, 1) > 0);
    assert_int_equal(limits_locked(limits, from(limits, "203.0.113.5", "AKIA1"), 1), 0);
}

// ---- Rates -----------------------------------------------------------------------------------

static void rates_are_read(void **state)
{
    (void)state;
    struct limits_rate rate;
    assert_true(limits_rate_parse(SLICE_LIT("100/s"), &rate));
    assert_int_equal(rate.every_ns, 10000000);
    assert_int_equal(rate.burst_ns, 1000000000);
    assert_true(limits_rate_parse(SLICE_LIT("6/m"), &rate));
    assert_int_equal(rate.every_ns, 10000000000);
    static const char *const wrong[] = {"",    "0/s",   "x/s",  "1",  "1/",
                                        "1/h", "1/sec", "-1/s", "/s", "99999999999999999999/s",
                                        "1 /s"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(limits_rate_parse(slice_str(wrong[i]), &rate));
}

static void an_identity_gets_its_rate(void **state)
{
    struct limits *limits = *state;
    const struct limits_rate rate = {.every_ns = 100, .burst_ns = 1000};
    uint64_t wait = 0;
    uint64_t now = 1000000;
    unsigned admitted = 0;
    for (unsigned i = 0; i < 50; i++)
        admitted += limits_admit(limits, SLICE_LIT("alice"), rate, now, &wait);
    assert_int_equal(admitted, 10);
    assert_int_equal(wait, 100);
    assert_true(limits_admit(limits, SLICE_LIT("bob"), rate, now, &wait));
    assert_false(limits_admit(limits, SLICE_LIT("alice"), rate, now + 99, &wait));
    assert_int_equal(wait, 1);
    assert_true(limits_admit(limits, SLICE_LIT("alice"), rate, now + 100, &wait));
    for (uint64_t at = now + 100; at < now + 100100; at += 10)
        admitted += limits_admit(limits, SLICE_LIT("alice"), rate, at, &wait);
    assert_in_range(admitted, 1009, 1011);
    assert_true(limits_stats(limits).throttled > 0);
    assert_true(limits_admit(limits, SLICE_LIT("alice"), (struct limits_rate){0}, now, &wait));
}

static void many_identities_have_their_own(void **state)
{
    struct limits *limits = *state;
    const struct limits_rate rate = {.every_ns = 1000, .burst_ns = 2000};
    uint64_t wait;
    unsigned admitted = 0;
    char name[32];
    // In turns, so that buckets that are full again can be given to others.
    for (unsigned i = 0; i < 100000; i++) {
        (void)snprintf(name, sizeof(name), "user-%u", i);
        admitted += limits_admit(limits, slice_str(name), rate, i * 10, &wait);
    }
    assert_int_equal(admitted, 100000);
}

struct flood {
    struct limits *limits;
    atomic_uint admitted;
};

static void *flood(void *context)
{
    struct flood *mine = context;
    const struct limits_rate rate = {.every_ns = 10, .burst_ns = 10000};
    uint64_t wait;
    for (unsigned i = 0; i < 20000; i++) {
        if (limits_admit(mine->limits, SLICE_LIT("alice"), rate, 1000000, &wait))
            atomic_fetch_add(&mine->admitted, 1);
    }
    return NULL;
}

static void loops_share_a_bucket(void **state)
{
    struct flood mine = {.limits = *state};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, flood, &mine), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(mine.admitted, 1000);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_pair_is_slowed_and_then_refused),
        T(failures_are_forgotten),
        T(success_forgets_the_pair_and_not_the_address),
        T(addresses_count_by_network),
        T(a_flood_of_addresses_hides_nobody),
        T(rates_are_read),
        T(an_identity_gets_its_rate),
        T(many_identities_have_their_own),
        T(loops_share_a_bucket),
    };
#undef T
    return cmocka_run_group_tests_name("server limits", tests, NULL, NULL);
}
