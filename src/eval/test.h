// Tests of rules (model/rules.h) at work: `when`, `where`, `check`.
//
// Numbers are compared by value, text and binary by bytes, times as times whatever they are written
// as, everything else for equality. Values of different types are different, and neither is less. A
// null is a value that is missing, as in all expressions (eval.h).
#ifndef EVAL_TEST_H
#define EVAL_TEST_H

#include "eval/eval.h"
#include "model/rules.h"

enum test_answer {
    TEST_NO,
    TEST_YES,
    TEST_BUDGET, // the arena is used up
};

// Whether the test holds of what the scope has; `changed` asks scope->before. A comparison with
// something that is missing, or cannot be computed, does not hold.
MUST_CHECK enum test_answer model_test_when(const struct model_test *test,
                                            struct model_scope *scope);

// The same for `check`: such a comparison is no violation.
MUST_CHECK enum test_answer model_test_check(const struct model_test *test,
                                             struct model_scope *scope);

// Whether two values, which those expressions have given, meet the operator: any but EXISTS,
// MISSING, CHANGED and BETWEEN. Nothing is allocated.
bool model_values_meet(enum model_op op, const struct model_expr *left_of, struct slice left,
                       const struct model_expr *right_of, struct slice right);

// Whether values in that order (as of a comparison: less than 0, 0, more) meet the operator, which
// is EQUAL or one of the four that ask for an order.
bool model_order_holds(enum model_op op, int order);

#endif
