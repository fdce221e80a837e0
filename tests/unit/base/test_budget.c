// The shared budget: what is taken is given back, refusing leaves no trace, and the division of
// a process's memory adds up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

enum { MEGABYTE = 1 << 20 };

static void test_take_and_give(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 8 * MEGABYTE);
    struct budget_account account = {.budget = &budget};
    assert_true(budget_take(&account, BUDGET_CALLS, 4 * MEGABYTE));
    assert_false(budget_tight(&budget));
    assert_true(budget_take(&account, BUDGET_CALLS, MEGABYTE));
    assert_true(budget_tight(&budget));
    assert_false(account.starved);
    assert_false(budget_take(&account, BUDGET_CALLS, 3 * MEGABYTE));
    assert_true(account.starved);
    assert_int_equal(budget_refused(&budget), 1);
    assert_int_equal(budget.used, 5 * MEGABYTE);
    assert_int_equal(budget.by_kind[BUDGET_CALLS], 5 * MEGABYTE);
    budget_give(&account, BUDGET_CALLS, 5 * MEGABYTE);
    assert_int_equal(budget.used, 0);
    assert_int_equal(budget.by_kind[BUDGET_CALLS], 0);
    assert_false(budget_take(&account, BUDGET_CALLS, SIZE_MAX));
    assert_int_equal(budget.used, 0);
}

// The last eighth is for small pieces.
static void test_small_pieces(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 8 * MEGABYTE);
    struct budget_account account = {.budget = &budget};
    assert_false(budget_take(&account, BUDGET_CALLS, 7 * MEGABYTE + 1));
    assert_false(budget_ever(&budget, 7 * MEGABYTE + 1));
    assert_true(budget_ever(&budget, 7 * MEGABYTE));
    assert_true(budget_ever(NULL, SIZE_MAX));
    assert_true(budget_take(&account, BUDGET_CALLS, 7 * MEGABYTE));
    assert_false(budget_take(&account, BUDGET_CALLS, 128 << 10));
    for (int i = 0; i < 16; i++)
        assert_true(budget_take(&account, BUDGET_CALLS, 64 << 10));
    assert_false(budget_take(&account, BUDGET_CALLS, 1));
}

// Bodies have half, whatever the others hold.
static void test_bodies(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 80 * MEGABYTE);
    struct budget_account body = {.budget = &budget};
    struct budget_account call = {.budget = &budget};
    assert_true(budget_take(&call, BUDGET_CALLS, 20 * MEGABYTE));
    assert_true(budget_take(&body, BUDGET_BODIES, 40 * MEGABYTE));
    assert_false(budget_take(&body, BUDGET_BODIES, MEGABYTE));
    assert_true(budget_take(&call, BUDGET_CALLS, 10 * MEGABYTE));
    assert_false(budget_take(&call, BUDGET_CALLS, MEGABYTE));
    budget_give(&body, BUDGET_BODIES, 40 * MEGABYTE);
    assert_true(budget_take(&call, BUDGET_CALLS, 30 * MEGABYTE));
    assert_false(budget_take(&body, BUDGET_BODIES, 20 * MEGABYTE));
    assert_true(budget_take(&body, BUDGET_BODIES, 10 * MEGABYTE));
}

static void test_no_refusal(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, MEGABYTE);
    struct budget_account done = {.budget = &budget, .overdraw = true};
    assert_true(budget_take(&done, BUDGET_ANSWERS, 3 * MEGABYTE));
    assert_int_equal(budget.used, 3 * MEGABYTE);
    struct budget_account other = {.budget = &budget};
    assert_false(budget_take(&other, BUDGET_CALLS, 1));
    budget_give(&done, BUDGET_ANSWERS, 3 * MEGABYTE);
    struct budget_account loose = {.budget = NULL};
    assert_true(budget_take(&loose, BUDGET_CALLS, SIZE_MAX));
    assert_true(budget_take(NULL, BUDGET_CALLS, SIZE_MAX));
    budget_give(NULL, BUDGET_CALLS, 1);
    budget_init(&budget, 0);
    assert_true(budget_take(&other, BUDGET_CALLS, 1 << 30));
    assert_false(budget_tight(&budget));
    budget_give(&other, BUDGET_CALLS, 1 << 30);
}

static void test_arena(void **state)
{
    (void)state;
    struct budget budget;
    struct arena arena;
    struct error error;
    budget_init(&budget, 4 * MEGABYTE);
    struct budget_account account = {.budget = &budget};
    arena_init_counted(&arena, 64 * MEGABYTE, &account, BUDGET_CALLS);
    assert_non_null(arena_alloc(&arena, 4000));
    assert_int_equal(budget.used, 0); // a usual request
    assert_non_null(arena_alloc(&arena, MEGABYTE));
    assert_in_range(budget.used, MEGABYTE, MEGABYTE + 100);
    assert_null(arena_alloc(&arena, 3 * MEGABYTE));
    error_init(&error, &arena);
    assert_false(error_budget(&error));
    assert_int_equal(error.code, ERR_THROTTLING);
    arena_reset(&arena);
    assert_int_equal(budget.used, 0);

    // Not the server's memory but the request's own limit.
    account.starved = false;
    assert_null(arena_alloc(&arena, 65 * MEGABYTE));
    error_init(&error, &arena);
    assert_false(error_budget(&error));
    assert_int_equal(error.code, ERR_BUDGET);

    // A chunk that is kept stays counted; in a tight budget it is not kept.
    assert_non_null(arena_alloc(&arena, 100000));
    size_t held = budget.used;
    assert_true(held >= 100000);
    arena_reset(&arena);
    assert_int_equal(budget.used, held);
    struct budget_account other = {.budget = &budget};
    assert_true(budget_take(&other, BUDGET_CALLS, 3 * MEGABYTE));
    arena_reset(&arena);
    assert_int_equal(budget.used, 3 * MEGABYTE);
    arena_release(&arena);
    assert_int_equal(budget.used, 3 * MEGABYTE);
}

static void test_buf(void **state)
{
    (void)state;
    struct budget budget;
    struct buf buf;
    static uint8_t bytes[MEGABYTE];
    budget_init(&budget, 4 * MEGABYTE);
    struct budget_account account = {.budget = &budget};
    buf_init_counted(&buf, 64 * MEGABYTE, &account, BUDGET_ANSWERS);
    buf_add(&buf, bytes, 4096);
    assert_int_equal(budget.used, 0);
    buf_byte(&buf, 1);
    assert_int_equal(budget.used, buf.cap);
    while (!buf.failed)
        buf_add(&buf, bytes, sizeof(bytes));
    assert_true(account.starved);
    assert_true(buf.len > MEGABYTE && buf.len <= 4 * MEGABYTE);
    assert_int_equal(budget.used, buf.cap);
    buf_release(&buf);
    assert_int_equal(budget.used, 0);

    // What a complete buf does not need goes back, if it is worth it.
    buf_add(&buf, bytes, 400000);
    buf_add(&buf, bytes, 100000);
    assert_int_equal(budget.used, 800000);
    buf_fit(&buf);
    assert_int_equal(budget.used, 500000);
    assert_int_equal(buf.len, 500000);
    buf_fit(&buf);
    assert_int_equal(budget.used, 500000);
    buf_release(&buf);
    assert_int_equal(budget.used, 0);
    buf_add(&buf, bytes, 10000);
    buf_fit(&buf);
    assert_int_equal(budget.by_kind[BUDGET_ANSWERS], buf.cap);
    buf_release(&buf);
    assert_int_equal(budget.used, 0);

    // Room for much that becomes little goes back, too.
    assert_non_null(buf_reserve(&buf, 2 * MEGABYTE));
    buf_add(&buf, bytes, 100);
    assert_int_equal(budget.used, 2 * MEGABYTE);
    buf_fit(&buf);
    assert_int_equal(budget.used, 0);
    assert_int_equal(buf.len, 100);
    buf_release(&buf);

    // Somebody else may use it, and then has it counted.
    struct budget_account second = {.budget = &budget};
    struct buf heir;
    buf_init_counted(&heir, 64 * MEGABYTE, &second, BUDGET_ANSWERS);
    assert_non_null(buf_reserve(&heir, 100));
    assert_non_null(buf_reserve(&buf, 2 * MEGABYTE));
    buf_take_over(&heir, &buf);
    assert_int_equal(budget.used, heir.cap);
    buf_release(&buf);
    assert_int_equal(budget.used, 2 * MEGABYTE);
    buf_take_over(&heir, &buf);
    buf_release(&heir);
    assert_int_equal(budget.used, 0);
}

static void *take_often(void *context)
{
    struct budget_account account = {.budget = context};
    for (size_t i = 0; i < 200000; i++) {
        if (budget_take(&account, BUDGET_CALLS, 1000 + i % 7)) {
            ensure(account.budget->used <= account.budget->limit);
            budget_give(&account, BUDGET_CALLS, 1000 + i % 7);
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct budget budget;
    pthread_t threads[4];
    budget_init(&budget, 2500); // room for two
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_often, &budget), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(budget.used, 0);
    assert_int_equal(budget.by_kind[BUDGET_CALLS], 0);
}

// ---- Sizes ----------------------------------------------------------------------------------

static void test_divide(void **state)
{
    (void)state;
    for (size_t limit = 64 * (size_t)MEGABYTE; limit < (size_t)1 << 42; limit *= 2) {
        struct budget_plan plan = {.limit = limit};
        budget_divide(&plan);
        assert_true(plan.cache + plan.write_buffers + plan.requests <= limit);
        assert_true(plan.requests >= limit / 8);
        assert_true(plan.connections * BUDGET_CONNECTION < plan.requests);
    }
    // The object store's metadata is a part of it, not something beside it.
    for (size_t limit = 64 * (size_t)MEGABYTE; limit < (size_t)1 << 42; limit *= 2) {
        struct budget_plan plan = {.limit = limit};
        struct budget_plan with = {.limit = limit, .stores_objects = true};
        budget_divide(&plan);
        budget_divide(&with);
        assert_int_equal(plan.objects, 0);
        assert_true(with.objects >= 4 * (size_t)MEGABYTE);
        assert_int_equal(with.requests + with.objects, plan.requests);
        assert_true(with.requests >= limit / 8);
    }
    struct budget_plan half = {.limit = 512 * (size_t)MEGABYTE};
    budget_divide(&half);
    assert_true(half.connections >= 10000);
    assert_int_equal(half.cache, 128 * MEGABYTE);
    // A cache can use what it gets.
    struct budget_plan large = {.limit = 12 * (size_t)1024 * MEGABYTE};
    budget_divide(&large);
    assert_int_equal(large.cache, large.limit / 3);

    // What was asked for is left alone, even if it is too much.
    struct budget_plan asked = {.limit = 256 * (size_t)MEGABYTE, .cache = 300 * (size_t)MEGABYTE};
    budget_divide(&asked);
    assert_int_equal(asked.cache, 300 * MEGABYTE);
    assert_int_equal(asked.requests, 32 * MEGABYTE);
}

static void write_file(const char *root, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; *at != 0; at++) {
        if (*at == '/') {
            *at = 0;
            (void)mkdir(path, 0700);
            *at = '/';
        }
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void test_machine(void **state)
{
    (void)state;
    char root[] = "/tmp/dolmen-budget-XXXXXX";
    assert_non_null(mkdtemp(root));
    size_t all = budget_machine(root);
    assert_true(all > 64 * (size_t)MEGABYTE);
    assert_true(budget_machine("") <= all);

    // Version 1: the group's own limit, and that of its parents.
    write_file(root, "proc/self/cgroup", "5:cpu:/a/b\n4:memory:/a/b\nbroken\n");
    write_file(root, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(budget_machine(root), all);
    write_file(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "50000000\n");
    assert_int_equal(budget_machine(root), 50000000);

    // Version 2.
    write_file(root, "proc/self/cgroup", "0::/a/b\n");
    assert_int_equal(budget_machine(root), all);
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    write_file(root, "sys/fs/cgroup/memory.max", "60000000\n");
    assert_int_equal(budget_machine(root), 60000000);
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "40000000\n");
    assert_int_equal(budget_machine(root), 40000000);
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "nonsense");
    assert_int_equal(budget_machine(root), 60000000);
    assert_int_equal(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

// What waits for the sweeper is still counted, but whoever needs it has it at once; all of it is
// given back in the end.
static void test_sweeping(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 8 * MEGABYTE);
    budget_sweep_start(&budget);
    struct budget_account account = {.budget = &budget};
    for (int i = 0; i < 200; i++) {
        size_t size = i % 2 == 0 ? 4 * MEGABYTE : 8192;
        assert_true(budget_take(&account, BUDGET_ANSWERS, size));
        void *block = malloc(size);
        assert_non_null(block);
        memset(block, 1, size);
        budget_free(&account, BUDGET_ANSWERS, block, size, size);
    }
    assert_false(budget_take(&account, BUDGET_ANSWERS, 9 * MEGABYTE));
    assert_true(account.starved);
    budget_free(&account, BUDGET_ANSWERS, NULL, 0, 0);
    budget_sweep_stop(&budget);
    assert_int_equal(budget.used, 0);
    assert_int_equal(budget.by_kind[BUDGET_ANSWERS], 0);
    assert_int_equal(budget_given(&budget), (uint64_t)100 * (4 * MEGABYTE + 8192));
    assert_null(budget.sweeper);
    budget_sweep_stop(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeping),     cmocka_unit_test(test_take_and_give),
        cmocka_unit_test(test_small_pieces), cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_no_refusal),   cmocka_unit_test(test_arena),
        cmocka_unit_test(test_buf),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_divide),       cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
