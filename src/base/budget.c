// See budget.h. Taking is a compare-and-swap on one counter, so that a large request that is
// refused does not even for a moment stand in the way of a small one.
#include "base/budget.h"

#include "base/worker.h"

#include <stdlib.h>

enum {
    SMALL = 64 << 10, // pieces up to this size may use the last eighth of the budget
    SWEPT = 1 << 20,  // pieces from this size on are left to the sweeper
};

void budget_init(struct budget *budget, size_t limit)
{
    *budget = (struct budget){.limit = limit};
}

// How far the budget may be used by such a piece. The last eighth is for small ones: where large
// requests have taken all there is, small ones go on. Bodies have at most half, since a client that
// sends slowly holds on to its, and so have models, which stay.
static size_t ceiling(const struct budget *budget, enum budget_kind kind, size_t bytes)
{
    size_t top = budget->limit - (bytes > SMALL ? budget->limit / 8 : 0);
    if (kind != BUDGET_BODIES && kind != BUDGET_MODELS)
        return top;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    size_t own = atomic_load_explicit(&budget->by_kind[kind], memory_order_relaxed);
    size_t others = used > own ? used - own : 0;
    return others + budget_half(budget) < top ? others + budget_half(budget) : top;
}

size_t budget_half(const struct budget *budget)
{
    return budget->limit / 2;
}

static void give(struct budget *budget, enum budget_kind kind, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->by_kind[kind], bytes, memory_order_relaxed);
    size_t before = atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    ensure(before >= bytes);
    atomic_fetch_add_explicit(&budget->given, bytes, memory_order_relaxed);
}

// Written into the memory that waits to be freed.
struct swept {
    struct swept *next;
    enum budget_kind kind;
    size_t counted;
};

struct budget_sweeper {
    struct budget *budget;
    struct worker worker;
    pthread_mutex_t lock;
    struct swept *first;
};

// Frees one of those that wait, if there is one. It is given back first, so that whoever is refused
// finds it either among those that wait or among what there is; at most one piece a thread is too
// much then. Whoever finds too little does not wait for the thread.
static bool sweep_one(struct budget_sweeper *sweeper)
{
    if (sweeper == NULL)
        return false;
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    struct swept *swept = sweeper->first;
    if (swept != NULL) {
        sweeper->first = swept->next;
        give(sweeper->budget, swept->kind, swept->counted);
    }
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
    free(swept);
    return swept != NULL;
}

static bool too_much(const struct budget *budget, enum budget_kind kind, size_t used, size_t bytes)
{
    size_t top = ceiling(budget, kind, bytes);
    return bytes > top || used > top - bytes;
}

static bool refuse(struct budget_account *account)
{
    account->starved = true;
    atomic_fetch_add_explicit(&account->budget->refused, 1, memory_order_relaxed);
    return false;
}

bool budget_take(struct budget_account *account, enum budget_kind kind, size_t bytes)
{
    if (account == NULL || account->budget == NULL || bytes == 0)
        return true;
    struct budget *budget = account->budget;
    bool bounded = budget->limit > 0 && !account->overdraw;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        while (bounded && too_much(budget, kind, used, bytes)) {
            size_t before = used;
            bool swept = bytes <= budget->limit && sweep_one(budget->sweeper);
            used = atomic_load_explicit(&budget->used, memory_order_relaxed);
            if (!swept && used >= before)
                return refuse(account);
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    atomic_fetch_add_explicit(&budget->by_kind[kind], bytes, memory_order_relaxed);
    return true;
}

void budget_give(struct budget_account *account, enum budget_kind kind, size_t bytes)
{
    if (account != NULL && account->budget != NULL && bytes > 0)
        give(account->budget, kind, bytes);
}

void budget_starve(struct budget_account *account)
{
    if (account != NULL)
        account->starved = true;
}

bool budget_ever(const struct budget *budget, size_t bytes)
{
    return budget == NULL || budget->limit == 0 ||
           bytes <= budget->limit - (bytes > SMALL ? budget->limit / 8 : 0);
}

bool budget_tight(const struct budget *budget)
{
    return budget != NULL && budget->limit > 0 &&
           atomic_load_explicit(&budget->used, memory_order_relaxed) > budget->limit / 2;
}

uint64_t budget_refused(const struct budget *budget)
{
    return budget == NULL ? 0 : atomic_load_explicit(&budget->refused, memory_order_relaxed);
}

uint64_t budget_given(const struct budget *budget)
{
    return budget == NULL ? 0 : atomic_load_explicit(&budget->given, memory_order_relaxed);
}

// ---- Sweeping -------------------------------------------------------------------------------

static void sweep_later(struct budget_sweeper *sweeper, enum budget_kind kind, void *ptr,
                        size_t counted)
{
    struct swept *swept = ptr;
    *swept = (struct swept){.kind = kind, .counted = counted};
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    swept->next = sweeper->first;
    sweeper->first = swept;
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
    worker_ask(&sweeper->worker);
}

void budget_free(struct budget_account *account, enum budget_kind kind, void *ptr, size_t size,
                 size_t counted)
{
    struct budget *budget = account == NULL ? NULL : account->budget;
    if (size >= SWEPT && ptr != NULL && budget != NULL && budget->sweeper != NULL) {
        sweep_later(budget->sweeper, kind, ptr, counted);
        return;
    }
    free(ptr);
    budget_give(account, kind, counted);
}

static void sweep(void *sweeper)
{
    while (sweep_one(sweeper))
        continue;
}

void budget_sweep_start(struct budget *budget)
{
    struct budget_sweeper *sweeper = memory_zeroed(sizeof(*sweeper));
    sweeper->budget = budget;
    ensure(pthread_mutex_init(&sweeper->lock, NULL) == 0);
    worker_start(&sweeper->worker,
                 &(struct worker_plan){.work = sweep, .context = sweeper, .drains = true});
    budget->sweeper = sweeper;
}

void budget_sweep_stop(struct budget *budget)
{
    struct budget_sweeper *sweeper = budget->sweeper;
    if (sweeper == NULL)
        return;
    worker_stop(&sweeper->worker);
    ensure(pthread_mutex_destroy(&sweeper->lock) == 0);
    budget->sweeper = NULL;
    free(sweeper);
}
