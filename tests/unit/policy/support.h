// What the tests of policies share: JSON written with ' for ", and a case decided from it.
#ifndef TESTS_POLICY_SUPPORT_H
#define TESTS_POLICY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/scenario.h"

#define ACCOUNT "111111111111"
#define OTHER   "222222222222"
#define USER    "arn:aws:iam::" ACCOUNT ":user/ann"
#define ROLE    "arn:aws:iam::" ACCOUNT ":role/path/Reader"
#define SESSION "arn:aws:sts::" ACCOUNT ":assumed-role/Reader/one"
#define ROOT    "arn:aws:iam::" ACCOUNT ":root"
#define TABLE   "arn:aws:dynamodb:us-east-1:" ACCOUNT ":table/Orders"

// printf, then each ' is a "; the text is the test's to free.
static inline char *quoted(const char *format, ...) PRINTF_LIKE(1, 2);

static inline char *quoted(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    for (char *at = text; *at != 0; at++)
        if (*at == '\'')
            *at = '"';
    return text;
}

// The decision of a case; fails the test if the case is wrong.
static inline enum policy_outcome outcome_of(char *json)
{
    struct policy_decision decision;
    struct scenario *scenario = malloc(sizeof(*scenario));
    assert_non_null(scenario);
    scenario_init(scenario);
    if (!scenario_read(scenario, slice_str(json)))
        fail_msg("%s\n%s", scenario->message, json);
    scenario_decide(scenario, &decision);
    scenario_release(scenario);
    free(scenario);
    free(json);
    return decision.outcome;
}

#endif
