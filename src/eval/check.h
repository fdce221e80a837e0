// The work of checking one item: counted in steps, and bounded.
//
// A union is decided by trying its options. Where several of them have members, all that is inside
// the value would be tried once for each, at every level again: so what came of it is remembered,
// by the place of the value and the type. Checking a value then takes about as many steps as the
// value has members, times the options that they can be.
#ifndef EVAL_CHECK_H
#define EVAL_CHECK_H

#include "base/limits.h"
#include "base/steps.h"
#include "model/model.h"

struct check_memory;

struct model_check {
    struct steps steps;
    unsigned inside;             // unions of several options with members, around the value
    struct check_memory *memory; // what came of such unions; NULL if there was none
};

static inline void check_init(struct model_check *check)
{
    *check = (struct model_check){.steps = {.limit = LIMIT_GUARD_WORK}};
}

// Within the steps that the caller has left, too, if it counts any (or NULL).
void check_begin(struct model_check *check, const struct steps *steps);

// How it ended.
enum check_end {
    CHECK_DONE,
    CHECK_LATER,    // beyond the caller's steps: it may ask again where there are more
    CHECK_TOO_MUCH, // beyond what is done for any item
};
// Releases the check, and adds its steps to the caller's.
enum check_end check_end(struct model_check *check, struct steps *steps);
extern const char check_too_much[]; // in words

void check_forget(struct check_memory *memory);

static inline void check_release(struct model_check *check)
{
    if (check->memory != NULL)
        check_forget(check->memory);
    check->memory = NULL;
}

// Once it is over, whatever was answered means nothing.
static inline bool check_over(const struct model_check *check)
{
    return check->steps.taken > check->steps.limit;
}

// Text that is read byte by byte.
enum { CHECK_TEXT = 8 };
static inline void check_text(struct model_check *check, size_t bytes)
{
    steps_add(&check->steps, bytes / CHECK_TEXT);
}

// What is known of a value and a type: true if `*fits` is set. Values must stay where they are as
// long as the check lasts. If there is no memory to remember with, nothing is known.
bool check_recall(const struct model_check *check, const struct model_type *type,
                  struct slice value, bool strict, bool *fits);
void check_remember(struct model_check *check, const struct model_type *type, struct slice value,
                    bool strict, bool fits);

#endif
