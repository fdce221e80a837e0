// The requests of PartiQL's operations, and their shapes. See requests.h for how they are written.
#ifndef REQUESTS_REQUESTS_PARTIQL_H
#define REQUESTS_REQUESTS_PARTIQL_H

#include "json/shape.h"

// The members that a statement has wherever it stands.
struct request_statement {
    struct slice statement;
    struct field_list parameters; // struct field_value
    struct field_bool consistent_read;
    struct slice return_values_on_condition_check_failure; // ALL_OLD, NONE
};

struct execute_statement_request {
    struct request_statement own;
    struct slice next_token;
    struct slice return_consumed_capacity; // INDEXES, TOTAL, NONE
    struct field_int limit;
};

#define BATCH_EXECUTE_STATEMENT_REQUEST(X, T)                                                      \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct field_list, statements, "Statements",                                    \
      batch_statements) /* struct request_statement */
REQUEST_STRUCT(batch_execute_statement_request, BATCH_EXECUTE_STATEMENT_REQUEST);

#define EXECUTE_TRANSACTION_REQUEST(X, T)                                                          \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct slice, client_request_token, "ClientRequestToken", request_token)        \
    X(T, REQUIRED, struct field_list, transact_statements, "TransactStatements",                   \
      transact_statements) /* struct request_statement, without consistent_read */
REQUEST_STRUCT(execute_transaction_request, EXECUTE_TRANSACTION_REQUEST);

extern const struct shape shape_execute_statement_request;
extern const struct shape shape_batch_execute_statement_request;
extern const struct shape shape_execute_transaction_request;

#endif
