// Conditions: the operators by name, operands read when a policy is compiled, and whether a
// condition holds for a request.
//
// Several operands are alternatives; of a negated operator none may match. Where a comparison
// cannot be made (VERDICT_VOID) neither an operator nor its opposite holds.
#include "policy/policy_internal.h"

// ---- Operators -------------------------------------------------------------------------------

struct operator_row {
    const char *name;
    enum test test;
    enum relation relation;
    bool negated;
};

static const struct operator_row operator_rows[] = {
    {"StringEquals", TEST_STRING, RELATION_EQUAL, false},
    {"StringNotEquals", TEST_STRING, RELATION_EQUAL, true},
    {"StringEqualsIgnoreCase", TEST_LETTERS, RELATION_EQUAL, false},
    {"StringNotEqualsIgnoreCase", TEST_LETTERS, RELATION_EQUAL, true},
    {"StringLike", TEST_LIKE, RELATION_EQUAL, false},
    {"StringNotLike", TEST_LIKE, RELATION_EQUAL, true},
    {"NumericEquals", TEST_NUMBER, RELATION_EQUAL, false},
    {"NumericNotEquals", TEST_NUMBER, RELATION_EQUAL, true},
    {"NumericLessThan", TEST_NUMBER, RELATION_LESS, false},
    {"NumericLessThanEquals", TEST_NUMBER, RELATION_AT_MOST, false},
    {"NumericGreaterThan", TEST_NUMBER, RELATION_MORE, false},
    {"NumericGreaterThanEquals", TEST_NUMBER, RELATION_AT_LEAST, false},
    {"DateEquals", TEST_DATE, RELATION_EQUAL, false},
    {"DateNotEquals", TEST_DATE, RELATION_EQUAL, true},
    {"DateLessThan", TEST_DATE, RELATION_LESS, false},
    {"DateLessThanEquals", TEST_DATE, RELATION_AT_MOST, false},
    {"DateGreaterThan", TEST_DATE, RELATION_MORE, false},
    {"DateGreaterThanEquals", TEST_DATE, RELATION_AT_LEAST, false},
    {"Bool", TEST_BOOL, RELATION_EQUAL, false},
    {"BinaryEquals", TEST_BINARY, RELATION_EQUAL, false},
    {"IpAddress", TEST_IP, RELATION_EQUAL, false},
    {"NotIpAddress", TEST_IP, RELATION_EQUAL, true},
    {"ArnEquals", TEST_ARN, RELATION_EQUAL, false},
    {"ArnNotEquals", TEST_ARN, RELATION_EQUAL, true},
    {"ArnLike", TEST_ARN, RELATION_EQUAL, false},
    {"ArnNotLike", TEST_ARN, RELATION_EQUAL, true},
    {"Null", TEST_NULL, RELATION_EQUAL, false},
};

static bool prefix_cut(struct slice *name, struct slice prefix)
{
    if (!slice_begins(*name, prefix))
        return false;
    *name = slice_of(name->ptr + prefix.len, name->len - prefix.len);
    return true;
}

enum operator_fault operator_find(struct slice name, struct operation *out)
{
    struct operation operation = {0};
    if (prefix_cut(&name, SLICE_LIT("ForAllValues:")))
        operation.each = EACH_ALL;
    else if (prefix_cut(&name, SLICE_LIT("ForAnyValue:")))
        operation.each = EACH_ANY;
    struct slice suffix = SLICE_LIT("IfExists");
    if (slice_ends(name, suffix)) {
        operation.if_exists = true;
        name.len -= suffix.len;
    }
    for (size_t i = 0; i < COUNT_OF(operator_rows); i++) {
        const struct operator_row *row = &operator_rows[i];
        if (!slice_is(name, row->name))
            continue;
        if (row->test == TEST_NULL && (operation.if_exists || operation.each != EACH_NONE))
            return OPERATOR_NULL;
        operation.test = row->test;
        operation.relation = row->relation;
        operation.negated = row->negated;
        *out = operation;
        return OPERATOR_OK;
    }
    return OPERATOR_UNKNOWN;
}

bool operator_fits(enum test test, enum policy_type type)
{
    switch (test) {
    case TEST_STRING:
    case TEST_LETTERS:
    case TEST_LIKE:
        return type == POLICY_STRING || type == POLICY_ARN || type == POLICY_BOOL;
    case TEST_NUMBER:
        return type == POLICY_NUMBER || type == POLICY_DATE;
    case TEST_DATE:
        return type == POLICY_DATE;
    case TEST_BOOL:
        return type == POLICY_BOOL;
    case TEST_BINARY:
        return type == POLICY_BINARY;
    case TEST_IP:
        return type == POLICY_IP;
    case TEST_ARN:
        return type == POLICY_ARN;
    case TEST_NULL:
        return true;
    }
    return true;
}

// ---- Operands --------------------------------------------------------------------------------

static enum pattern_fault operand_pattern(struct slice text, enum test test, bool variables,
                                          struct arena *arena, struct operand *out)
{
    unsigned special = variables ? PATTERN_VARIABLES : 0;
    if (test == TEST_LIKE || test == TEST_ARN)
        special |= PATTERN_WILD;
    if (test != TEST_ARN)
        return pattern_compile(text, special, arena, &out->pattern);
    out->bad = !slice_begins(text, SLICE_LIT("arn:"));
    if (out->bad)
        return PATTERN_OK;
    enum pattern_fault fault = arn_pattern_compile(text, special, arena, &out->arn);
    out->bad = fault != PATTERN_OK || !out->arn.whole;
    return fault;
}

bool operand_compile(struct slice text, const struct operation *operation, bool variables,
                     struct arena *arena, struct operand *out, enum pattern_fault *fault)
{
    *out = (struct operand){.text = text};
    *fault = PATTERN_OK;
    switch (operation->test) {
    case TEST_STRING:
    case TEST_LETTERS:
    case TEST_LIKE:
    case TEST_ARN:
        *fault = operand_pattern(text, operation->test, variables, arena, out);
        break;
    case TEST_NUMBER:
        out->bad = !operand_number(text, &out->number);
        break;
    case TEST_DATE:
        out->bad = !operand_date(text, &out->date);
        break;
    case TEST_BOOL:
    case TEST_NULL:
        out->bad = !operand_bool(text, &out->yes);
        break;
    case TEST_BINARY:
        out->bad = !operand_base64(text);
        break;
    case TEST_IP:
        out->bad = !operand_address(text, true, &out->address);
        break;
    }
    return *fault == PATTERN_OK;
}

// ---- Comparing -------------------------------------------------------------------------------

// A value of the request, read once for all operands.
struct value {
    struct slice text;
    bool bad;
    union {
        struct decimal number;
        int64_t date;
        bool yes;
        struct address address;
        struct arn arn;
    };
};

static void value_read(struct slice text, enum test test, struct value *out)
{
    out->text = text;
    out->bad = false;
    switch (test) {
    case TEST_NUMBER:
        out->bad = !operand_number(text, &out->number);
        break;
    case TEST_DATE:
        out->bad = !operand_date(text, &out->date);
        break;
    case TEST_BOOL:
        out->bad = !operand_bool(text, &out->yes);
        break;
    case TEST_BINARY:
        out->bad = !operand_base64(text);
        break;
    case TEST_IP:
        out->bad = !operand_address(text, false, &out->address);
        break;
    case TEST_ARN:
        out->bad = !arn_parts(text, &out->arn);
        break;
    case TEST_STRING:
    case TEST_LETTERS:
    case TEST_LIKE:
    case TEST_NULL:
        break;
    }
}

static bool related(enum relation relation, int order)
{
    switch (relation) {
    case RELATION_EQUAL:
        return order == 0;
    case RELATION_LESS:
        return order < 0;
    case RELATION_AT_MOST:
        return order <= 0;
    case RELATION_MORE:
        return order > 0;
    case RELATION_AT_LEAST:
        return order >= 0;
    }
    return false;
}

static enum verdict verdict_of(bool yes)
{
    return yes ? VERDICT_YES : VERDICT_NO;
}

static enum verdict compare(const struct operation *operation, const struct operand *operand,
                            const struct value *value, const struct policy_request *request)
{
    if (operand->bad || value->bad)
        return VERDICT_VOID;
    switch (operation->test) {
    case TEST_STRING:
    case TEST_LIKE:
        return pattern_match(&operand->pattern, value->text, false, request);
    case TEST_LETTERS:
        return pattern_match(&operand->pattern, value->text, true, request);
    case TEST_ARN:
        return arn_match(&operand->arn, &value->arn, request);
    case TEST_NUMBER:
        return verdict_of(
            related(operation->relation,
                    slice_compare(slice_of(value->number.bytes, value->number.len),
                                  slice_of(operand->number.bytes, operand->number.len))));
    case TEST_DATE:
        return verdict_of(related(operation->relation,
                                  (value->date > operand->date) - (value->date < operand->date)));
    case TEST_BOOL:
        return verdict_of(value->yes == operand->yes);
    case TEST_BINARY:
        return verdict_of(slice_equal(value->text, operand->text));
    case TEST_IP:
        return verdict_of(address_within(&value->address, &operand->address));
    case TEST_NULL:
        break;
    }
    return VERDICT_NO;
}

// Whether one value of the request is as the condition wants it.
static bool value_holds(const struct condition *condition, struct slice text,
                        const struct policy_request *request)
{
    const struct operation *operation = &condition->operation;
    struct value value;
    value_read(text, operation->test, &value);
    for (size_t i = 0; i < condition->count; i++) {
        enum verdict verdict = compare(operation, &condition->operands[i], &value, request);
        if (operation->negated && verdict != VERDICT_NO)
            return false;
        if (!operation->negated && verdict == VERDICT_YES)
            return true;
    }
    return operation->negated;
}

// ---- Holding ---------------------------------------------------------------------------------

static bool null_holds(const struct condition *condition, bool absent)
{
    for (size_t i = 0; i < condition->count; i++)
        if (!condition->operands[i].bad && condition->operands[i].yes == absent)
            return true;
    return false;
}

// A request without the key.
static bool absent_holds(const struct operation *operation)
{
    if (operation->if_exists || operation->each == EACH_ALL)
        return true;
    return operation->each == EACH_NONE && operation->negated;
}

bool condition_holds(const struct condition *condition, const struct policy_request *request,
                     enum policy_why *why)
{
    const struct operation *operation = &condition->operation;
    struct policy_values values = {0};
    struct slice own;
    request_values(request, &condition->key, &own, &values);
    *why = values.count == 0 ? POLICY_ABSENT : POLICY_VALUE;
    if (operation->test == TEST_NULL)
        return null_holds(condition, values.count == 0);
    if (values.count == 0)
        return absent_holds(operation);
    if (operation->each == EACH_NONE) {
        if (condition->key.many || values.count > 1) {
            *why = POLICY_MANY;
            return false;
        }
        return value_holds(condition, values.list[0], request);
    }
    bool all = operation->each == EACH_ALL;
    for (size_t i = 0; i < values.count; i++)
        if (value_holds(condition, values.list[i], request) != all)
            return !all;
    return all;
}
