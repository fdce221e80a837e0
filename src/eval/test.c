// See test.h. A test is flat: comparisons in clauses, one of which must hold. That a comparison
// with something missing counts as one that holds is all that `check` does otherwise: as nothing is
// ever negated, a test that fails so fails whatever the missing values were.
#include "eval/test.h"

#include "model/time.h"

enum { STEPS_SEARCHED = 4 }; // bytes of text that is searched, a step

// What came of one comparison.
enum found { FOUND_NO, FOUND_YES, FOUND_MISSING, FOUND_BUDGET };

static enum found found_if(bool holds)
{
    return holds ? FOUND_YES : FOUND_NO;
}

static enum found found_status(enum eval_status status)
{
    return status == EVAL_BUDGET ? FOUND_BUDGET : FOUND_MISSING;
}

static void count(const struct model_scope *scope, size_t steps)
{
    if (scope->steps != NULL)
        steps_add(scope->steps, steps);
}

// ---- Times ----------------------------------------------------------------------------------

static bool is_time(enum model_kind kind)
{
    return kind == MODEL_TIMESTAMP || kind == MODEL_DATE || kind == MODEL_EPOCH;
}

// The kind of time that an expression gives, by the types of its attributes; MODEL_ANY if it gives
// something else, or now(), which is of whatever kind is wanted.
static enum model_kind time_kind(const struct model_expr *expr)
{
    if (expr->kind == MODEL_EXPR_PATH) {
        const struct model_type *type = model_path_type(expr);
        enum model_kind kind = type == NULL ? MODEL_ANY : model_kind_wanted(type);
        return is_time(kind) ? kind : MODEL_ANY;
    }
    if (expr->kind == MODEL_EXPR_ELSE)
        return time_kind(expr->args[0]);
    if (expr->kind != MODEL_EXPR_ADD && expr->kind != MODEL_EXPR_SUBTRACT)
        return MODEL_ANY;
    enum model_kind first = time_kind(expr->args[0]);
    enum model_kind second = time_kind(expr->args[1]);
    if (expr->kind == MODEL_EXPR_SUBTRACT)
        return is_time(second) ? MODEL_ANY : first; // between two times are seconds
    return is_time(first) ? first : second;
}

// Digits behind the point, which may be of different numbers.
static int compare_fractions(struct slice a, struct slice b)
{
    size_t most = a.len > b.len ? a.len : b.len;
    for (size_t i = 1; i < most; i++) {
        uint8_t left = i < a.len ? a.ptr[i] : '0';
        uint8_t right = i < b.len ? b.ptr[i] : '0';
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

static int compare_times(const struct model_time *a, const struct model_time *b)
{
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    return compare_fractions(a->fraction, b->fraction);
}

// ---- Values ---------------------------------------------------------------------------------

// Two values and what is known of them.
struct pair {
    struct slice left;
    struct slice right;
    bool times; // one of them is a time by its type
};

// Evaluates both sides; a side that may be of any kind is wanted as the other one is.
static enum eval_status pair_eval(const struct model_expr *left, const struct model_expr *right,
                                  struct model_scope *scope, struct pair *pair)
{
    enum model_kind a = time_kind(left);
    enum model_kind b = time_kind(right);
    pair->times = is_time(a) || is_time(b);
    enum eval_status status = model_eval(left, scope, is_time(a) ? MODEL_ANY : b, &pair->left);
    if (status == EVAL_OK)
        status = model_eval(right, scope, is_time(b) ? MODEL_ANY : a, &pair->right);
    if (status == EVAL_OK)
        count(scope,
              (pair->left.len < pair->right.len ? pair->left.len : pair->right.len) / STEPS_BYTES);
    return status;
}

// The order of both; false if they have none.
static bool pair_order(const struct pair *pair, int *order)
{
    struct model_time a;
    struct model_time b;
    if (pair->times && model_value_time(pair->left, &a) && model_value_time(pair->right, &b)) {
        *order = compare_times(&a, &b);
        return true;
    }
    enum value_type type = value_type(pair->left);
    if (type != value_type(pair->right) || (type != VALUE_N && type != VALUE_S && type != VALUE_B))
        return false;
    *order = value_compare(pair->left, pair->right);
    return true;
}

static bool pair_equal(const struct pair *pair)
{
    int order;
    return pair_order(pair, &order) ? order == 0 : value_equal(pair->left, pair->right);
}

static bool pair_begins(const struct pair *pair)
{
    enum value_type type = value_type(pair->left);
    return type == value_type(pair->right) && (type == VALUE_S || type == VALUE_B) &&
           slice_begins(value_bytes(pair->left), value_bytes(pair->right));
}

static bool list_has(struct slice list, struct slice member)
{
    struct value_iter iter;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter))
        if (value_equal(iter.value, member))
            return true;
    return false;
}

static bool pair_contains(const struct pair *pair, const struct model_scope *scope)
{
    static const enum value_type members[VALUE_TYPES] = {
        [VALUE_SS] = VALUE_S, [VALUE_NS] = VALUE_N, [VALUE_BS] = VALUE_B};
    enum value_type type = value_type(pair->left);
    enum value_type part = value_type(pair->right);
    count(scope, pair->left.len / STEPS_SEARCHED);
    if (type == VALUE_S || type == VALUE_B)
        return part == type && slice_contains(value_bytes(pair->left), value_bytes(pair->right));
    if (type == VALUE_L)
        return list_has(pair->left, pair->right);
    return (type == VALUE_SS || type == VALUE_NS || type == VALUE_BS) && part == members[type] &&
           value_set_has(pair->left, value_bytes(pair->right));
}

// ---- Comparisons ----------------------------------------------------------------------------

bool model_order_holds(enum model_op op, int order)
{
    switch (op) {
    case MODEL_OP_EQUAL:
        return order == 0;
    case MODEL_OP_LESS:
        return order < 0;
    case MODEL_OP_AT_MOST:
        return order <= 0;
    case MODEL_OP_MORE:
        return order > 0;
    default:
        return order >= 0;
    }
}

static enum found compare_pair(enum model_op op, const struct pair *pair,
                               const struct model_scope *scope)
{
    int order;
    switch (op) {
    case MODEL_OP_EQUAL:
        return found_if(pair_equal(pair));
    case MODEL_OP_NOT_EQUAL:
        return found_if(!pair_equal(pair));
    case MODEL_OP_BEGINS:
        return found_if(pair_begins(pair));
    case MODEL_OP_CONTAINS:
        return found_if(pair_contains(pair, scope));
    default:
        return found_if(pair_order(pair, &order) && model_order_holds(op, order));
    }
}

static enum found compare(const struct model_expr *left, enum model_op op,
                          const struct model_expr *right, struct model_scope *scope)
{
    struct pair pair;
    enum eval_status status = pair_eval(left, right, scope, &pair);
    return status == EVAL_OK ? compare_pair(op, &pair, scope) : found_status(status);
}

bool model_values_meet(enum model_op op, const struct model_expr *left_of, struct slice left,
                       const struct model_expr *right_of, struct slice right)
{
    static const struct model_scope nothing;
    struct pair pair = {.left = left,
                        .right = right,
                        .times = is_time(time_kind(left_of)) || is_time(time_kind(right_of))};
    return compare_pair(op, &pair, &nothing) == FOUND_YES;
}

// A value that is there fails the test whatever is missing beyond it.
static enum found between(const struct model_comparison *comparison, struct model_scope *scope)
{
    enum found low = compare(comparison->left, MODEL_OP_AT_LEAST, comparison->values[0], scope);
    if (low == FOUND_NO || low == FOUND_BUDGET)
        return low;
    enum found high = compare(comparison->left, MODEL_OP_AT_MOST, comparison->values[1], scope);
    return high == FOUND_YES ? low : high;
}

// The value of a path in the old image. What the entity's attributes are now is not asked.
static enum eval_status eval_before(const struct model_expr *path, const struct model_scope *scope,
                                    struct slice *value)
{
    struct model_scope before = *scope;
    before.item = scope->before;
    before.entity = NULL;
    before.values = NULL;
    return model_eval(path, &before, MODEL_ANY, value);
}

static enum found changed(const struct model_expr *path, struct model_scope *scope)
{
    struct slice now = VALUE_NONE;
    struct slice old = VALUE_NONE;
    enum eval_status status = model_eval(path, scope, MODEL_ANY, &now);
    if (status != EVAL_BUDGET)
        status = eval_before(path, scope, &old);
    if (status == EVAL_BUDGET)
        return FOUND_BUDGET;
    count(scope, now.len / STEPS_BYTES);
    return found_if(!slice_equal(now, old));
}

static enum found compare_one(const struct model_comparison *comparison, struct model_scope *scope)
{
    struct slice value;
    enum eval_status status;
    switch (comparison->op) {
    case MODEL_OP_EXISTS:
    case MODEL_OP_MISSING:
        status = model_eval(comparison->left, scope, MODEL_ANY, &value);
        return status == EVAL_BUDGET
                   ? FOUND_BUDGET
                   : found_if((status == EVAL_OK) == (comparison->op == MODEL_OP_EXISTS));
    case MODEL_OP_CHANGED:
        return changed(comparison->left, scope);
    case MODEL_OP_BETWEEN:
        return between(comparison, scope);
    default:
        return compare(comparison->left, comparison->op, comparison->values[0], scope);
    }
}

// ---- All of it ------------------------------------------------------------------------------

static enum test_answer clause_holds(const struct model_clause *clause, struct model_scope *scope,
                                     bool missing)
{
    for (size_t i = 0; i < clause->count; i++) {
        enum found found = compare_one(&clause->list[i], scope);
        if (found == FOUND_BUDGET)
            return TEST_BUDGET;
        if (found == FOUND_NO || (found == FOUND_MISSING && !missing))
            return TEST_NO;
    }
    return TEST_YES;
}

static enum test_answer test_holds(const struct model_test *test, struct model_scope *scope,
                                   bool missing)
{
    enum test_answer answer = TEST_NO;
    for (size_t i = 0; i < test->clause_count && answer == TEST_NO; i++)
        answer = clause_holds(&test->clauses[i], scope, missing);
    return answer;
}

enum test_answer model_test_when(const struct model_test *test, struct model_scope *scope)
{
    return test_holds(test, scope, false);
}

enum test_answer model_test_check(const struct model_test *test, struct model_scope *scope)
{
    return test_holds(test, scope, true);
}
