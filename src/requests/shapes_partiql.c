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
    OPTIONAL(execute_statement_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    OPTIONAL(execute_statement_request, own.parameters, "Parameters", &parameters),
    OPTIONAL(execute_statement_request, own.return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    OPTIONAL(execute_statement_request, limit, "Limit", &shape_positive_integer),
    REQUIRED(execute_statement_request, own.statement, "Statement", &statement_text),
    OPTIONAL(execute_statement_request, next_token, "NextToken", &next_token),
    OPTIONAL(execute_statement_request, own.consistent_read, "ConsistentRead", &shape_any_boolean),
};
const struct shape shape_execute_statement_request =
    STRUCT_SHAPE(execute_statement_request, "ExecuteStatementInput", execute_statement_rows);

static const struct shape_member batch_statement_rows[] = {
    OPTIONAL(request_statement, parameters, "Parameters", &parameters),
    OPTIONAL(request_statement, return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    REQUIRED(request_statement, statement, "Statement", &statement_text),
    OPTIONAL(request_statement, consistent_read, "ConsistentRead", &shape_any_boolean),
};
static const struct shape batch_statement =
    STRUCT_SHAPE(request_statement, "BatchStatementRequest", batch_statement_rows);
static const struct shape batch_statements =
    LIST_SHAPE_RANGE(&batch_statement, 1, LIMIT_BATCH_STATEMENTS);

static const struct shape_member batch_execute_statement_rows[] = {
    OPTIONAL(batch_execute_statement_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    REQUIRED(batch_execute_statement_request, statements, "Statements", &batch_statements),
};
const struct shape shape_batch_execute_statement_request = STRUCT_SHAPE(
    batch_execute_statement_request, "BatchExecuteStatementInput", batch_execute_statement_rows);

static const struct shape_member transact_statement_rows[] = {
    OPTIONAL(request_statement, parameters, "Parameters", &parameters),
    OPTIONAL(request_statement, return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    REQUIRED(request_statement, statement, "Statement", &statement_text),
};
static const struct shape transact_statement =
    STRUCT_SHAPE(request_statement, "ParameterizedStatement", transact_statement_rows);
static const struct shape transact_statements =
    LIST_SHAPE_RANGE(&transact_statement, 1, LIMIT_TRANSACT);

static const struct shape_member execute_transaction_rows[] = {
    OPTIONAL(execute_transaction_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    OPTIONAL(execute_transaction_request, client_request_token, "ClientRequestToken",
             &request_token),
    REQUIRED(execute_transaction_request, transact_statements, "TransactStatements",
             &transact_statements),
};
const struct shape shape_execute_transaction_request =
    STRUCT_SHAPE(execute_transaction_request, "ExecuteTransactionInput", execute_transaction_rows);
