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

struct batch_execute_statement_request {
    struct field_list statements; // struct request_statement
    struct slice return_consumed_capacity;
};

struct execute_transaction_request {
    struct field_list transact_statements; // struct request_statement, without consistent_read
    struct slice client_request_token;
    struct slice return_consumed_capacity;
};

extern const struct shape shape_execute_statement_request;
extern const struct shape shape_batch_execute_statement_request;
extern const struct shape shape_execute_transaction_request;

#endif
