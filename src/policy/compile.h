// A document while it is being compiled: where the reader is, and how faults and warnings get
// their place. Internal to src/policy.
#ifndef POLICY_COMPILE_H
#define POLICY_COMPILE_H

#include "policy/policy_internal.h"
#include "json/reader.h"

struct compiler {
    struct json_reader reader;
    struct policy *policy;
    struct slice text;
    char path[POLICY_PATH]; // the JSON pointer of what is being read
    size_t path_len;
    bool failed;
    bool trust; // it is a role's: the role is what it is about
    struct policy_fault *fault;
    policy_warn *warn; // or NULL
    void *to;
};

// Says what is wrong at `at`, a place in the text. Always false; the first one counts.
bool compile_fail(struct compiler *compiler, const uint8_t *at, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool compile_no_memory(struct compiler *compiler);
void compile_warn(struct compiler *compiler, const uint8_t *at, const char *format, ...)
    PRINTF_LIKE(3, 4);

// Where the next value begins.
const uint8_t *compile_place(struct compiler *compiler);

// The path goes down to a member, and back to what it was.
size_t compile_enter(struct compiler *compiler, struct slice name);
size_t compile_enter_index(struct compiler *compiler, size_t index);
void compile_leave(struct compiler *compiler, size_t path_len);

// One condition block, {"Operator": {"key": value or values}} (compile_condition.c).
MUST_CHECK bool compile_conditions(struct compiler *compiler, struct statement *statement);
// What is wrong with the variables of a text.
bool compile_pattern_fault(struct compiler *compiler, const uint8_t *at, struct slice text,
                           enum pattern_fault fault);
// How many elements or members the container at the reader has.
size_t compile_count(struct compiler *compiler);
// A string, or a list of strings; visits each.
typedef bool compile_text(struct compiler *compiler, const uint8_t *at, struct slice text,
                          void *to);
MUST_CHECK bool compile_texts(struct compiler *compiler, const char *what, compile_text *each,
                              void *to);

// ---- Warnings (lint.c): for what is right and yet can hardly be meant ------------------------

void lint_action(struct compiler *compiler, const uint8_t *at, struct slice text,
                 const struct pattern *pattern);
void lint_resource(struct compiler *compiler, const uint8_t *at, struct slice text,
                   const struct arn_pattern *pattern);
void lint_key(struct compiler *compiler, const uint8_t *at, const struct condition *condition);
void lint_operand(struct compiler *compiler, const uint8_t *at, const struct condition *condition,
                  const struct operand *operand);
// When a statement is complete.
void lint_statement(struct compiler *compiler, const uint8_t *at,
                    const struct statement *statement);
void lint_document(struct compiler *compiler, bool version_given);

#endif
