// See budget.h. Taking is a compare-and-swap on one counter, so that a large request that is
// refused does not even for a moment stand in the way of a small one.
#include "base/budget.h"

enum {
    SMALL = 64 << 10, // pieces up to this size may use the last eighth of the budget
};

void budget_init(struct budget *budget, size_t limit)
{
    *budget = (struct budget){.limit = limit};
}

// How far the budget may be used by such a piece. The last eighth is for small ones: where large
// requests have taken all there is, small ones go on. Bodies have at most half, since a client that
// sends slowly holds on to its.
static size_t ceiling(const struct budget *budget, enum budget_kind kind, size_t bytes)
{
    size_t top = budget->limit - (bytes > SMALL ? budget->limit / 8 : 0);
    if (kind != BUDGET_BODIES)
        return top;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    size_t bodies = atomic_load_explicit(&budget->by_kind[BUDGET_BODIES], memory_order_relaxed);
    size_t others = used > bodies ? used - bodies : 0;
    return others + budget->limit / 2 < top ? others + budget->limit / 2 : top;
}

bool budget_take(struct budget_account *account, enum budget_kind kind, size_t bytes)
{
    if (account == NULL || account->budget == NULL || bytes == 0)
        return true;
    struct budget *budget = account->budget;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    size_t top = budget->limit == 0 || account->overdraw ? SIZE_MAX : ceiling(budget, kind, bytes);
    do {
        if (bytes > top || used > top - bytes) {
            account->starved = true;
            atomic_fetch_add_explicit(&budget->refused, 1, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    atomic_fetch_add_explicit(&budget->by_kind[kind], bytes, memory_order_relaxed);
    return true;
}

void budget_give(struct budget_account *account, enum budget_kind kind, size_t bytes)
{
    if (account == NULL || account->budget == NULL || bytes == 0)
        return;
    atomic_fetch_sub_explicit(&account->budget->by_kind[kind], bytes, memory_order_relaxed);
    size_t before = atomic_fetch_sub_explicit(&account->budget->used, bytes, memory_order_relaxed);
    ensure(before >= bytes);
    atomic_fetch_add_explicit(&account->budget->given, bytes, memory_order_relaxed);
}

void budget_starve(struct budget_account *account)
{
    if (account != NULL)
        account->starved = true;
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
