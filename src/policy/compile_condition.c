// The Condition of a statement: {"Operator": {"key": value or values, …}, …}. Every pair of
// operator and key is one condition, and all of them must hold.
#include "policy/compile.h"

// Whether an operator has the key already; and whether a statement has the operator.
static bool key_twice(const struct statement *statement, const struct condition *next)
{
    for (size_t i = statement->condition_count; i-- > 0;) {
        const struct condition *before = &statement->conditions[i];
        if (before->operator_name.ptr != next->operator_name.ptr)
            break;
        if (policy_key_equal(&before->key, &next->key))
            return true;
    }
    return false;
}

static bool operator_twice(const struct statement *statement, struct slice name)
{
    for (size_t i = 0; i < statement->condition_count; i++)
        if (slice_equal(statement->conditions[i].operator_name, name))
            return true;
    return false;
}

// How many pairs of operator and key there are.
static size_t pairs_count(struct compiler *compiler)
{
    struct json_reader ahead = compiler->reader;
    struct slice name;
    size_t count = 0;
    if (!json_enter(&ahead))
        return 0;
    while (json_next_name(&ahead, &name)) {
        struct compiler inner = {.reader = ahead};
        if (json_peek(&ahead) == JSON_OBJECT)
            count += compile_count(&inner);
        if (!json_skip(&ahead))
            return count;
    }
    return count;
}

// A value is a string, a number or a boolean, which are the same as strings.
static bool scalar_read(struct compiler *compiler, struct slice *out)
{
    struct json_reader *reader = &compiler->reader;
    const uint8_t *at = compile_place(compiler);
    enum json_kind kind = json_peek(reader);
    bool ok = true;
    if (kind == JSON_STRING) {
        ok = json_read_string(reader, out);
    } else if (kind == JSON_NUMBER) {
        ok = json_read_number(reader, out);
    } else if (kind == JSON_TRUE || kind == JSON_FALSE) {
        *out = kind == JSON_TRUE ? SLICE_LIT("true") : SLICE_LIT("false");
        ok = json_read_literal(reader);
    } else {
        return compile_fail(compiler, at,
                            "the value of a condition must be a string, a number or a boolean");
    }
    return ok || compile_no_memory(compiler);
}

static bool value_one(struct compiler *compiler, struct condition *condition)
{
    const uint8_t *at = compile_place(compiler);
    struct operand *operand = &condition->operands[condition->count];
    enum pattern_fault fault;
    struct slice text;
    if (!scalar_read(compiler, &text))
        return false;
    if (!operand_compile(text, &condition->operation, compiler->policy->variables,
                         &compiler->policy->arena, operand, &fault))
        return compile_pattern_fault(compiler, at, text, fault);
    condition->count++;
    lint_operand(compiler, at, condition, operand);
    return true;
}

static bool values_read(struct compiler *compiler, struct condition *condition)
{
    struct json_reader *reader = &compiler->reader;
    bool list = json_peek(reader) == JSON_ARRAY;
    size_t room = list ? compile_count(compiler) : 1;
    condition->operands =
        arena_zalloc(&compiler->policy->arena, room + 1, sizeof(*condition->operands));
    if (condition->operands == NULL)
        return compile_no_memory(compiler);
    if (!list)
        return value_one(compiler, condition);
    if (!json_enter(reader))
        return compile_no_memory(compiler);
    for (size_t index = 0; json_next_element(reader); index++) {
        size_t before = compile_enter_index(compiler, index);
        if (!value_one(compiler, condition))
            return false;
        compile_leave(compiler, before);
    }
    return true;
}

static bool key_valid(struct compiler *compiler, const uint8_t *at, struct slice name)
{
    return (name.len > 0 && memchr(name.ptr, ':', name.len) != NULL) ||
           compile_fail(compiler, at,
                        "\"%.*s\" is not a condition key: they look like aws:username or "
                        "dynamodb:LeadingKeys",
                        SLICE_FMT(name));
}

static bool operator_read(struct compiler *compiler, const uint8_t *at, struct slice name,
                          struct operation *out)
{
    switch (operator_find(name, out)) {
    case OPERATOR_UNKNOWN:
        return compile_fail(compiler, at, "\"%.*s\" is not a condition operator", SLICE_FMT(name));
    case OPERATOR_NULL:
        return compile_fail(compiler, at, "Null takes neither IfExists nor a set operator");
    case OPERATOR_OK:
        break;
    }
    return true;
}

// What stands behind one operator.
static bool keys_read(struct compiler *compiler, struct statement *statement, struct slice name,
                      const struct operation *operation)
{
    struct slice key;
    if (json_peek(&compiler->reader) != JSON_OBJECT)
        return compile_fail(compiler, compile_place(compiler),
                            "an operator must have an object of condition keys");
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    while (json_next_name(&compiler->reader, &key)) {
        const uint8_t *at = compile_place(compiler);
        size_t before = compile_enter(compiler, key);
        struct condition *condition = &statement->conditions[statement->condition_count];
        if (!key_valid(compiler, at, key))
            return false;
        *condition = (struct condition){
            .operation = *operation, .operator_name = name, .key = policy_key_find(key)};
        if (key_twice(statement, condition))
            return compile_fail(compiler, at, "%.*s has the key %.*s twice", SLICE_FMT(name),
                                SLICE_FMT(key));
        if (!values_read(compiler, condition))
            return false;
        lint_key(compiler, at, condition);
        statement->condition_count++;
        compile_leave(compiler, before);
    }
    return true;
}

bool compile_conditions(struct compiler *compiler, struct statement *statement)
{
    const uint8_t *at = compile_place(compiler);
    struct operation operation;
    struct slice name;
    if (json_peek(&compiler->reader) != JSON_OBJECT)
        return compile_fail(compiler, at, "Condition must be an object of operators");
    statement->conditions = arena_zalloc(&compiler->policy->arena, pairs_count(compiler) + 1,
                                         sizeof(*statement->conditions));
    if (statement->conditions == NULL || !json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    while (json_next_name(&compiler->reader, &name)) {
        const uint8_t *place = compile_place(compiler);
        size_t before = compile_enter(compiler, name);
        if (operator_twice(statement, name))
            return compile_fail(compiler, place, "the condition has %.*s twice", SLICE_FMT(name));
        if (!operator_read(compiler, place, name, &operation) ||
            !keys_read(compiler, statement, name, &operation))
            return false;
        compile_leave(compiler, before);
    }
    return true;
}
