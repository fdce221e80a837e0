// The shapes of PartiQL's requests. See shapes_item.c for the order of the rows.
#include "requests/shapes_internal.h"

#include "base/limits.h"

static const char *const capacities[] = {"INDEXES", "TOTAL", "NONE", NULL};
static const char *const failure_values[] = {"ALL_OLD", "NONE", NULL};

static const struct shape capacity = ENUM_SHAPE(capacities);
static const struct shape on_failure = ENUM_SHAPE(failure_values);
static const struct shape statement_text = STRING_SHAPE_RANGE(1, LIMIT_STATEMENT);
static const struct shape parameters = LIST_SHAPE_MIN(&shape_any_value, 1);
static const struct shape next_token = STRING_SHAPE_RANGE(1, 32768);
static const struct shape request_token = STRING_SHAPE_RANGE(1, 36);

static const struct shape_member execute_statement_rows[] = {
    SHAPE_ROW(execute_statement_request, OPTIONAL, return_consumed_capacity,
              "ReturnConsumedCapacity", capacity),
    SHAPE_ROW(execute_statement_request, OPTIONAL, own.parameters, "Parameters", parameters),
    SHAPE_ROW(execute_statement_request, OPTIONAL, own.return_values_on_condition_check_failure,
              "ReturnValuesOnConditionCheckFailure", on_failure),
    SHAPE_ROW(execute_statement_request, OPTIONAL, limit, "Limit", shape_positive_integer),
    SHAPE_ROW(execute_statement_request, REQUIRED, own.statement, "Statement", statement_text),
    SHAPE_ROW(execute_statement_request, OPTIONAL, next_token, "NextToken", next_token),
    SHAPE_ROW(execute_statement_request, OPTIONAL, own.consistent_read, "ConsistentRead",
              shape_any_boolean),
};
const struct shape shape_execute_statement_request =
    STRUCT_SHAPE(execute_statement_request, "ExecuteStatementInput", execute_statement_rows);

static const struct shape_member batch_statement_rows[] = {
    SHAPE_ROW(request_statement, OPTIONAL, parameters, "Parameters", parameters),
    SHAPE_ROW(request_statement, OPTIONAL, return_values_on_condition_check_failure,
              "ReturnValuesOnConditionCheckFailure", on_failure),
    SHAPE_ROW(request_statement, REQUIRED, statement, "Statement", statement_text),
    SHAPE_ROW(request_statement, OPTIONAL, consistent_read, "ConsistentRead", shape_any_boolean),
};
static const struct shape batch_statement =
    STRUCT_SHAPE(request_statement, "BatchStatementRequest", batch_statement_rows);
static const struct shape batch_statements =
    LIST_SHAPE_RANGE(&batch_statement, 1, LIMIT_BATCH_STATEMENTS);

REQUEST_ROWS(batch_execute_statement_request, BATCH_EXECUTE_STATEMENT_REQUEST);
const struct shape shape_batch_execute_statement_request =
    REQUEST_SHAPE(batch_execute_statement_request, "BatchExecuteStatementInput");

static const struct shape_member transact_statement_rows[] = {
    SHAPE_ROW(request_statement, OPTIONAL, parameters, "Parameters", parameters),
    SHAPE_ROW(request_statement, OPTIONAL, return_values_on_condition_check_failure,
              "ReturnValuesOnConditionCheckFailure", on_failure),
    SHAPE_ROW(request_statement, REQUIRED, statement, "Statement", statement_text),
};
static const struct shape transact_statement =
    STRUCT_SHAPE(request_statement, "ParameterizedStatement", transact_statement_rows);
static const struct shape transact_statements =
    LIST_SHAPE_RANGE(&transact_statement, 1, LIMIT_TRANSACT);

REQUEST_ROWS(execute_transaction_request, EXECUTE_TRANSACTION_REQUEST);
const struct shape shape_execute_transaction_request =
    REQUEST_SHAPE(execute_transaction_request, "ExecuteTransactionInput");
