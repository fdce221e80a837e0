// Warnings about documents that are right, for `dolmen policy check`: actions and keys that no
// request has, values that match nothing, operators that do not fit. None of them changes what is
// decided.
#include "base/limits.h"
#include "policy/compile.h"

#include <stdio.h>

void lint_document(struct compiler *compiler, bool version_given)
{
    size_t size = 0;
    if (compiler->warn == NULL)
        return;
    for (size_t i = 0; i < compiler->text.len; i++)
        size += compiler->text.ptr[i] > ' ';
    if (compiler->policy->kind != POLICY_RESOURCE && size > LIMIT_POLICY_MANAGED)
        compile_warn(compiler, compiler->text.ptr,
                     "the policy has %zu characters; AWS takes %d in a managed policy", size,
                     LIMIT_POLICY_MANAGED);
    if (!compiler->policy->variables && slice_contains(compiler->text, SLICE_LIT("${")))
        compile_warn(compiler, compiler->text.ptr,
                     "%s: \"${\" is plain text, not a variable. Write \"Version\": \"2012-10-17\"",
                     version_given ? "the version is 2008-10-17"
                                   : "without a Version it is that of 2008");
}

// ---- Actions and resources -------------------------------------------------------------------

void lint_action(struct compiler *compiler, const uint8_t *at, struct slice text,
                 const struct pattern *pattern)
{
    if (compiler->warn == NULL)
        return;
    for (size_t id = 0; id < POLICY_ACTION_COUNT; id++) {
        const struct policy_action_row *row = policy_action_row((enum policy_action_id)id);
        char name[64];
        int len = snprintf(name, sizeof(name), POLICY_SERVICE "%.*s", SLICE_FMT(row->name));
        if (pattern_match(pattern, slice_of(name, (size_t)len), true, NULL) == VERDICT_YES)
            return;
    }
    compile_warn(compiler, at, "there is no action \"%.*s\" here", SLICE_FMT(text));
}

static bool part_is(const struct pattern *pattern, const char *text)
{
    return pattern->count == 1 && pattern->pieces[0].kind == PIECE_TEXT &&
           slice_is(pattern->pieces[0].text, text);
}

static bool part_plain(const struct pattern *pattern)
{
    return pattern->count == 0 || (pattern->count == 1 && pattern->pieces[0].kind == PIECE_TEXT);
}

static void lint_variables(struct compiler *compiler, const uint8_t *at,
                           const struct pattern *pattern)
{
    for (unsigned i = 0; i < pattern->count; i++) {
        const struct piece *piece = &pattern->pieces[i];
        if (piece->kind != PIECE_VARIABLE)
            continue;
        if (piece->key.id == POLICY_KEY_UNKNOWN)
            compile_warn(compiler, at, "there is no condition key \"%.*s\"",
                         SLICE_FMT(piece->key.name));
        else if (piece->key.many)
            compile_warn(compiler, at,
                         "%.*s has many values and cannot be a variable: the value never matches",
                         SLICE_FMT(piece->key.name));
    }
}

void lint_resource(struct compiler *compiler, const uint8_t *at, struct slice text,
                   const struct arn_pattern *pattern)
{
    static const char *const kinds[] = {"table/", "global-table/"};
    if (compiler->warn == NULL || pattern->any)
        return;
    for (size_t i = 0; i < ARN_PARTS; i++)
        lint_variables(compiler, at, &pattern->part[i]);
    if (part_plain(&pattern->part[2]) && !part_is(&pattern->part[2], "dynamodb")) {
        compile_warn(compiler, at, "\"%.*s\" is not a resource of DynamoDB", SLICE_FMT(text));
        return;
    }
    const struct pattern *account = &pattern->part[4];
    if (part_plain(account) && (account->count == 0 || !account_valid(account->pieces[0].text)))
        compile_warn(compiler, at, "\"%.*s\" has no account of twelve digits", SLICE_FMT(text));
    const struct pattern *resource = &pattern->part[5];
    bool known = resource->count > 0 && resource->pieces[0].kind != PIECE_TEXT;
    for (size_t i = 0; i < COUNT_OF(kinds) && !known; i++) {
        struct slice kind = slice_str(kinds[i]);
        struct slice begin = resource->count == 0 ? slice_of(NULL, 0) : resource->pieces[0].text;
        known = slice_begins(begin, kind) || (resource->count > 1 && slice_begins(kind, begin));
    }
    if (!known)
        compile_warn(compiler, at,
                     "\"%.*s\" matches nothing: resources begin with table/ or global-table/",
                     SLICE_FMT(text));
}

// ---- Conditions ------------------------------------------------------------------------------

static const char *type_name(enum policy_type type)
{
    static const char *const names[] = {"string",  "ARN",        "number",      "date",
                                        "boolean", "IP address", "binary value"};
    return names[type];
}

void lint_key(struct compiler *compiler, const uint8_t *at, const struct condition *condition)
{
    const struct policy_key_row *row = policy_key_row(condition->key.id);
    const struct operation *operation = &condition->operation;
    if (compiler->warn == NULL)
        return;
    if (row == NULL) {
        compile_warn(compiler, at, "there is no condition key \"%.*s\"",
                     SLICE_FMT(condition->key.name));
        return;
    }
    if (!operator_fits(operation->test, row->type))
        compile_warn(compiler, at, "%.*s compares no %s, which %s is",
                     SLICE_FMT(condition->operator_name), type_name(row->type), row->name);
    if (operation->test == TEST_NULL)
        return;
    if (row->many && operation->each == EACH_NONE)
        compile_warn(compiler, at,
                     "%s has many values: without ForAllValues: or ForAnyValue: the condition "
                     "never holds",
                     row->name);
    if (!row->many && operation->each == EACH_ALL)
        compile_warn(compiler, at, "%s has one value: ForAllValues: also holds if it is missing",
                     row->name);
    if (condition->count == 0)
        compile_warn(compiler, at, "the list of values is empty: the condition %s holds",
                     operation->negated ? "always" : "never");
}

static bool listed(const char *values, struct slice text)
{
    for (const char *at = values; *at != 0; at += strcspn(at, " ") + 1)
        if (slice_equal(slice_of(at, strcspn(at, " ")), text))
            return true;
    return false;
}

static const char *wanted(enum test test)
{
    switch (test) {
    case TEST_NUMBER:
        return "a number";
    case TEST_DATE:
        return "a date, such as 2026-01-31T12:00:00Z, or seconds since 1970";
    case TEST_BOOL:
    case TEST_NULL:
        return "true or false";
    case TEST_BINARY:
        return "base64";
    case TEST_IP:
        return "an IP address or a range, such as 10.0.0.0/8";
    case TEST_ARN:
        return "an ARN of six parts";
    case TEST_STRING:
    case TEST_LETTERS:
    case TEST_LIKE:
        break;
    }
    return "text";
}

void lint_operand(struct compiler *compiler, const uint8_t *at, const struct condition *condition,
                  const struct operand *operand)
{
    const struct policy_key_row *row = policy_key_row(condition->key.id);
    enum test test = condition->operation.test;
    if (compiler->warn == NULL)
        return;
    if (operand->bad) {
        compile_warn(compiler, at, "\"%.*s\" never matches: %.*s compares %s",
                     SLICE_FMT(operand->text), SLICE_FMT(condition->operator_name), wanted(test));
        return;
    }
    if (test == TEST_STRING || test == TEST_LETTERS || test == TEST_LIKE)
        lint_variables(compiler, at, &operand->pattern);
    if (test == TEST_ARN)
        for (size_t i = 0; i < ARN_PARTS; i++)
            lint_variables(compiler, at, &operand->arn.part[i]);
    if (test == TEST_STRING && row != NULL && row->values != NULL &&
        part_plain(&operand->pattern) && !listed(row->values, operand->text))
        compile_warn(compiler, at, "%s is never \"%.*s\": it is one of %s", row->name,
                     SLICE_FMT(operand->text), row->values);
}

// ---- Statements ------------------------------------------------------------------------------

// The keys that requests for the statement's actions come with.
static uint32_t keys_of(const struct statement *statement)
{
    uint32_t keys = 0;
    for (size_t id = 0; id < POLICY_ACTION_COUNT; id++)
        if ((statement->actions[id / 64] >> (id % 64) & 1) != 0)
            keys |= policy_action_row((enum policy_action_id)id)->keys;
    return keys;
}

static bool absence_checked(const struct statement *statement, const struct policy_key *key)
{
    for (size_t i = 0; i < statement->condition_count; i++)
        if (statement->conditions[i].operation.test == TEST_NULL &&
            policy_key_equal(&statement->conditions[i].key, key))
            return true;
    return false;
}

void lint_statement(struct compiler *compiler, const uint8_t *at, const struct statement *statement)
{
    if (compiler->warn == NULL)
        return;
    if (statement->not_principal && !statement->deny)
        compile_warn(compiler, at,
                     "NotPrincipal with Allow allows everyone else, also anonymous requests");
    uint32_t keys = keys_of(statement);
    for (size_t i = 0; i < statement->condition_count; i++) {
        const struct condition *condition = &statement->conditions[i];
        const struct policy_key *key = &condition->key;
        if (key->id <= POLICY_KEY_SELECT && (keys >> key->id & 1) == 0)
            compile_warn(compiler, at, "no action of the statement comes with %s",
                         policy_key_row(key->id)->name);
        else if (condition->operation.each == EACH_ALL && key->many && !statement->deny &&
                 !absence_checked(statement, key))
            compile_warn(compiler, at,
                         "ForAllValues also holds for requests without %s: add \"Null\": "
                         "{\"%s\": \"false\"} to allow only those that have it",
                         policy_key_row(key->id)->name, policy_key_row(key->id)->name);
    }
}
