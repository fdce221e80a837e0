// See check.h. What is remembered is a hash table of (value, type and answer), each of them a word:
// the two lowest bits of a type's address are free.
#include "eval/check.h"

#include <stdlib.h>

// ---- Steps ----------------------------------------------------------------------------------

const char check_too_much[] = "The item takes too much work to check against the model of its "
                              "table: make it smaller, or its types simpler";

void check_begin(struct model_check *check, const struct steps *steps)
{
    check_init(check);
    if (steps == NULL || steps->limit == 0)
        return;
    uint64_t left = steps->limit > steps->taken ? steps->limit - steps->taken : 0;
    if (left < check->steps.limit)
        check->steps.limit = left;
}

enum check_end check_end(struct model_check *check, struct steps *steps)
{
    if (steps != NULL)
        steps_add(steps, check->steps.taken);
    check_release(check);
    if (!check_over(check))
        return CHECK_DONE;
    return steps != NULL && steps_over(steps) ? CHECK_LATER : CHECK_TOO_MUCH;
}

// ---- Memory ---------------------------------------------------------------------------------

enum { FIRST_BITS = 6, MOST_BITS = 20 };
enum { STRICT = 1, FITS = 2 };

struct known {
    const uint8_t *value; // NULL: nothing
    uintptr_t type;       // with STRICT and FITS
};

struct check_memory {
    unsigned bits;
    size_t count;
    struct known slots[];
};

static struct check_memory *memory_new(unsigned bits)
{
    struct check_memory *memory =
        calloc(1, sizeof(*memory) + ((size_t)1 << bits) * sizeof(struct known));
    if (memory != NULL)
        memory->bits = bits;
    return memory;
}

void check_forget(struct check_memory *memory)
{
    free(memory);
}

// The type, without the answer.
static uintptr_t asked(struct known known)
{
    return known.type & ~(uintptr_t)FITS;
}

// Where the pair is, or would be: at most half of the slots are taken.
static size_t slot_of(const struct check_memory *memory, struct known pair)
{
    const uint64_t odd = 0x9e3779b97f4a7c15; // spreads neighbours
    uint64_t hash = ((uint64_t)(uintptr_t)pair.value * odd) ^ (uint64_t)asked(pair);
    size_t mask = ((size_t)1 << memory->bits) - 1;
    size_t slot = (size_t)((hash * odd) >> (64 - memory->bits));
    while (memory->slots[slot].value != NULL &&
           (memory->slots[slot].value != pair.value || asked(memory->slots[slot]) != asked(pair)))
        slot = (slot + 1) & mask;
    return slot;
}

static struct known pair_of(const struct model_type *type, struct slice value, bool strict)
{
    _Static_assert(_Alignof(struct model_type) > (STRICT | FITS), "the lowest bits are free");
    return (struct known){value.ptr, (uintptr_t)type | (strict ? STRICT : 0)};
}

bool check_recall(const struct model_check *check, const struct model_type *type,
                  struct slice value, bool strict, bool *fits)
{
    if (check->memory == NULL)
        return false;
    const struct known *known =
        &check->memory->slots[slot_of(check->memory, pair_of(type, value, strict))];
    if (known->value == NULL)
        return false;
    *fits = (known->type & FITS) != 0;
    return true;
}

// Makes room for one more; false if there is none.
static bool make_room(struct model_check *check)
{
    struct check_memory *old = check->memory;
    if (old != NULL && old->count < (size_t)1 << (old->bits - 1))
        return true;
    if (old != NULL && old->bits == MOST_BITS)
        return false;
    struct check_memory *memory = memory_new(old == NULL ? FIRST_BITS : old->bits + 2);
    if (memory == NULL)
        return false;
    for (size_t i = 0; old != NULL && i < (size_t)1 << old->bits; i++)
        if (old->slots[i].value != NULL)
            memory->slots[slot_of(memory, old->slots[i])] = old->slots[i];
    memory->count = old == NULL ? 0 : old->count;
    check_forget(old);
    check->memory = memory;
    return true;
}

void check_remember(struct model_check *check, const struct model_type *type, struct slice value,
                    bool strict, bool fits)
{
    if (!make_room(check))
        return;
    struct known pair = pair_of(type, value, strict);
    pair.type |= fits ? FITS : 0;
    struct known *slot = &check->memory->slots[slot_of(check->memory, pair)];
    check->memory->count += slot->value == NULL;
    *slot = pair;
}
