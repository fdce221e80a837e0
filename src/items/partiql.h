// What the files of PartiQL's operations share: a statement of a request, from its text to what
// is executed.
#ifndef ITEMS_PARTIQL_H
#define ITEMS_PARTIQL_H

#include "items/page.h"
#include "partiql/partiql.h"
#include "requests/requests.h"

// One statement of a request. Filled step by step; `failure` is for requests of several, where each
// statement may fail on its own.
struct call_statement {
    const struct request_statement *request;
    struct partiql_statement *parsed; // NULL if it could not be
    struct table *table;              // held by the call
    struct partiql_plan plan;
    struct slice key;            // tree key of the one item; only where one item is asked for
    struct write_action *action; // NULL if it does not write
    struct item_read read;
    // ReturnValuesOnConditionCheckFailure has its say. The service takes it for a statement of a
    // batch, too, and does nothing about it.
    bool shows_failed;
    enum error_code failure; // ERR_NONE, or why it failed
    const char *failure_text;
};

// Parses the statement with its parameters.
MUST_CHECK bool statement_parse(struct api_call *call, struct call_statement *statement);
// Finds the table of a statement and its index, if it names one, which SELECT of ExecuteStatement
// may read consistently or not; both are set in the page.
MUST_CHECK bool statement_target(struct page_call *p, const struct partiql_statement *parsed);
// Finds the table, and plans what to do there with one item: all but SELECT of ExecuteStatement.
MUST_CHECK bool statement_plan_item(struct api_call *call, struct call_statement *statement);
// Judges the one item of a SELECT: its tree key, and what is asked of it.
MUST_CHECK bool statement_make_read(struct api_call *call, struct call_statement *statement);
// Judges a write, and makes its action.
MUST_CHECK bool statement_make_action(struct api_call *call, struct call_statement *statement,
                                      struct write_action *action);

static inline bool statement_reads(const struct call_statement *statement)
{
    return statement->parsed->kind == PARTIQL_SELECT;
}

// Moves the call's error to the statement, so that the call goes on.
void statement_fail(struct api_call *call, struct call_statement *statement);

// SELECT's answer for one item; and what a plan with outputs makes of it.
project_function statement_project;
void statement_write_item(struct api_call *call, struct json_writer *w,
                          const struct partiql_plan *plan, struct slice item, struct steps *steps);
// What RETURNING asks for: VALUE_NONE if there is nothing to return. In the call's arena.
MUST_CHECK bool statement_returned(struct api_call *call, const struct call_statement *statement,
                                   struct slice *out);

// SELECT of ExecuteStatement (partiql_select.c).
enum step statement_select(struct api_call *call, const struct execute_statement_request *request,
                           struct call_statement *statement);

#endif
