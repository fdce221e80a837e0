// Evaluation of conditions: one walk over the item finds everything the operands read, then one
// loop over flat steps. No allocation, no errors.
//
// A missing attribute is a value without bytes. It equals nothing, is smaller than nothing, and
// is different (<>) from everything; so is the size() of a value that has none.
#include "expr/expr_internal.h"

#include "value/number.h"

// Room for an encoded N: tag, length, digits.
enum { SCRATCH_BYTES = 2 + NUMBER_BYTES_MAX };

static struct slice size_value(struct slice value, uint8_t scratch[SCRATCH_BYTES],
                               struct steps *steps)
{
    size_t size;
    if (value.len == 0 || !value_function_size(value, &size))
        return VALUE_NONE;
    // The characters of a text are counted.
    if (value.ptr[0] == VALUE_TAG_S)
        steps_add(steps, value.len / 4);
    size_t len = number_from_i64((int64_t)size, scratch + 2);
    scratch[0] = VALUE_TAG_N;
    scratch[1] = (uint8_t)len;
    return slice_of(scratch, len + 2);
}

static struct slice operand_value(const struct operand *operand, uint8_t scratch[SCRATCH_BYTES],
                                  struct steps *steps)
{
    struct slice value = operand->is_path ? operand->place->found : operand->value;
    steps_add(steps, 1);
    return operand->size ? size_value(value, scratch, steps) : value;
}

static bool equal(struct slice a, struct slice b, struct steps *steps)
{
    if (a.len == 0 || a.len != b.len)
        return false;
    steps_bytes(steps, a.len);
    return value_equal(a, b);
}

// Sets *order if the two can be ordered: both there, of one type, and of a type with an order.
static bool compare(struct slice a, struct slice b, int *order, struct steps *steps)
{
    if (a.len == 0 || b.len == 0)
        return false;
    enum value_type type = value_type(a);
    if (type != value_type(b) || (type != VALUE_S && type != VALUE_N && type != VALUE_B))
        return false;
    steps_bytes(steps, a.len);
    *order = value_compare(a, b);
    return true;
}

static bool in_order(enum expr_op op, struct slice a, struct slice b, struct steps *steps)
{
    int order;
    if (!compare(a, b, &order, steps))
        return false;
    switch (op) {
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool begins(struct slice whole, struct slice prefix, struct steps *steps)
{
    if (whole.len == 0 || prefix.len == 0)
        return false;
    steps_bytes(steps, prefix.len);
    enum value_type type = value_type(whole);
    return type == value_type(prefix) && (type == VALUE_S || type == VALUE_B) &&
           slice_begins(value_bytes(whole), value_bytes(prefix));
}

static bool list_contains(struct slice list, struct slice part)
{
    struct value_iter iter;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter)) {
        if (value_equal(iter.value, part))
            return true;
    }
    return false;
}

static bool text_contains(struct slice whole, struct slice part, struct steps *steps)
{
    steps_add(steps, whole.len);
    return slice_contains(value_bytes(whole), value_bytes(part));
}

// Members may all have to be walked past, and may all be as long as what is looked for.
static void count_members(struct slice whole, struct steps *steps)
{
    enum value_type type = value_type(whole);
    if (type != VALUE_S && type != VALUE_B && whole.len > VALUE_BODY) {
        steps_add(steps, value_count(whole));
        steps_bytes(steps, whole.len);
    }
}

static bool contains(struct slice whole, struct slice part, struct steps *steps)
{
    if (whole.len == 0 || part.len == 0)
        return false;
    // What a value of each type may hold a part of.
    static const enum value_type part_types[VALUE_TYPES] = {
        [VALUE_S] = VALUE_S,        [VALUE_B] = VALUE_B,        [VALUE_SS] = VALUE_S,
        [VALUE_NS] = VALUE_N,       [VALUE_BS] = VALUE_B,       [VALUE_N] = VALUE_TYPES,
        [VALUE_BOOL] = VALUE_TYPES, [VALUE_NULL] = VALUE_TYPES, [VALUE_M] = VALUE_TYPES,
        [VALUE_L] = VALUE_TYPES,
    };
    enum value_type type = value_type(whole);
    count_members(whole, steps);
    if (type == VALUE_L)
        return list_contains(whole, part);
    if (value_type(part) != part_types[type])
        return false;
    return type == VALUE_S || type == VALUE_B ? text_contains(whole, part, steps)
                                              : value_set_has(whole, value_bytes(part));
}

static bool is_in(const struct step *step, struct slice first, struct steps *steps)
{
    uint8_t scratch[SCRATCH_BYTES];
    for (size_t i = 1; i < step->operand_count; i++) {
        if (equal(first, operand_value(&step->operands[i], scratch, steps), steps))
            return true;
    }
    return false;
}

static bool test(const struct step *step, struct steps *steps)
{
    uint8_t scratch[3][SCRATCH_BYTES];
    struct slice first = operand_value(&step->operands[0], scratch[0], steps);
    if (step->op == OP_IN)
        return is_in(step, first, steps);
    struct slice second = VALUE_NONE;
    if (step->operand_count > 1)
        second = operand_value(&step->operands[1], scratch[1], steps);
    switch (step->op) {
    case OP_EQ:
        return equal(first, second, steps);
    case OP_NE:
        return !equal(first, second, steps);
    case OP_BETWEEN:
        return in_order(OP_GE, first, second, steps) &&
               in_order(OP_LE, first, operand_value(&step->operands[2], scratch[2], steps), steps);
    case OP_EXISTS:
        return first.len != 0;
    case OP_MISSING:
        return first.len == 0;
    case OP_TYPE:
        return first.len != 0 && value_type(first) == step->type;
    case OP_BEGINS:
        return begins(first, second, steps);
    case OP_CONTAINS:
        return contains(first, second, steps);
    case OP_LACKS:
        return first.len != 0 && !contains(first, second, steps);
    default:
        return in_order(step->op, first, second, steps);
    }
}

bool expr_condition_eval(const struct expr_condition *condition, struct slice item,
                         struct steps *steps)
{
    bool truth = true;
    places_find(condition->places, item, steps);
    for (size_t i = 0; i < condition->step_count && !steps_over(steps);) {
        const struct step *step = &condition->steps[i++];
        switch (step->kind) {
        case STEP_TEST:
            truth = test(step, steps);
            break;
        case STEP_NOT:
            truth = !truth;
            break;
        case STEP_JUMP_FALSE:
            i = truth ? i : step->target;
            break;
        case STEP_JUMP_TRUE:
            i = truth ? step->target : i;
            break;
        }
    }
    return truth;
}

// Whether some operand reads the attribute, with at least `depth` steps.
static bool reads(const struct expr_condition *condition, struct slice attribute, size_t depth)
{
    for (size_t i = 0; i < condition->operand_count; i++) {
        const struct operand *operand = &condition->operands[i];
        if (operand->is_path && operand->path.count >= depth &&
            slice_equal(operand->path.steps[0].name, attribute))
            return true;
    }
    return false;
}

bool expr_condition_mentions(const struct expr_condition *condition, struct slice attribute)
{
    return reads(condition, attribute, 1);
}

bool expr_condition_nests(const struct expr_condition *condition, struct slice attribute)
{
    return reads(condition, attribute, 2);
}

bool expr_condition_each(const struct expr_condition *condition,
                         bool (*visit)(void *context, struct slice attribute), void *context)
{
    for (size_t i = 0; i < condition->operand_count; i++) {
        const struct operand *operand = &condition->operands[i];
        if (operand->is_path && !visit(context, operand->path.steps[0].name))
            return false;
    }
    return true;
}
