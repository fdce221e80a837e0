// The one list of errors a client can meet, and the object that carries one.
//
// A fallible function takes a `struct error *`, returns false (or NULL) after
// error_set(), and leaves its outputs untouched. The first error wins: setting a
// second one changes nothing. Message text lives in the error's arena, that is,
// as long as the request.
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/arena.h"

#define ERROR_DYNAMO         "com.amazonaws.dynamodb.v20120810#"
#define ERROR_CORAL          "com.amazon.coral.service#"
#define ERROR_CORAL_VALIDATE "com.amazon.coral.validate#"

// X(code, namespace, name, http status, may the client retry it as it is)
#define ERROR_LIST(X)                                                                              \
    X(VALIDATION, ERROR_CORAL_VALIDATE, "ValidationException", 400, false)                         \
    /* A ValidationException that refuses a transaction instead of cancelling it. */               \
    X(EMPTY_KEY, ERROR_CORAL_VALIDATE, "ValidationException", 400, false)                          \
    X(SERIALIZATION, ERROR_CORAL, "SerializationException", 400, false)                            \
    X(UNKNOWN_OPERATION, ERROR_CORAL, "UnknownOperationException", 400, false)                     \
    X(MISSING_AUTH, ERROR_CORAL, "MissingAuthenticationTokenException", 400, false)                \
    X(INCOMPLETE_SIGNATURE, ERROR_CORAL, "IncompleteSignatureException", 400, false)               \
    X(INVALID_SIGNATURE, ERROR_CORAL, "InvalidSignatureException", 400, false)                     \
    X(UNRECOGNIZED_CLIENT, ERROR_CORAL, "UnrecognizedClientException", 400, false)                 \
    X(EXPIRED_TOKEN, ERROR_CORAL, "ExpiredTokenException", 400, false)                             \
    X(ACCESS_DENIED, ERROR_CORAL, "AccessDeniedException", 400, false)                             \
    X(THROTTLING, ERROR_CORAL, "ThrottlingException", 400, true)                                   \
    X(RESOURCE_NOT_FOUND, ERROR_DYNAMO, "ResourceNotFoundException", 400, false)                   \
    X(RESOURCE_IN_USE, ERROR_DYNAMO, "ResourceInUseException", 400, false)                         \
    X(TABLE_NOT_FOUND, ERROR_DYNAMO, "TableNotFoundException", 400, false)                         \
    X(CONDITIONAL_CHECK_FAILED, ERROR_DYNAMO, "ConditionalCheckFailedException", 400, false)       \
    X(TRANSACTION_CANCELED, ERROR_DYNAMO, "TransactionCanceledException", 400, false)              \
    X(TRANSACTION_CONFLICT, ERROR_DYNAMO, "TransactionConflictException", 400, true)               \
    X(TRANSACTION_IN_PROGRESS, ERROR_DYNAMO, "TransactionInProgressException", 400, true)          \
    X(IDEMPOTENT_MISMATCH, ERROR_DYNAMO, "IdempotentParameterMismatchException", 400, false)       \
    X(DUPLICATE_ITEM, ERROR_DYNAMO, "DuplicateItemException", 400, false)                          \
    X(COLLECTION_SIZE, ERROR_DYNAMO, "ItemCollectionSizeLimitExceededException", 400, false)       \
    X(THROUGHPUT_EXCEEDED, ERROR_DYNAMO, "ProvisionedThroughputExceededException", 400, true)      \
    X(REQUEST_LIMIT, ERROR_DYNAMO, "RequestLimitExceeded", 400, true)                              \
    X(POLICY_NOT_FOUND, ERROR_DYNAMO, "PolicyNotFoundException", 400, false)                       \
    X(GLOBAL_TABLE_NOT_FOUND, ERROR_DYNAMO, "GlobalTableNotFoundException", 400, false)            \
    X(GLOBAL_TABLE_EXISTS, ERROR_DYNAMO, "GlobalTableAlreadyExistsException", 400, false)          \
    X(REPLICA_NOT_FOUND, ERROR_DYNAMO, "ReplicaNotFoundException", 400, false)                     \
    X(REPLICA_EXISTS, ERROR_DYNAMO, "ReplicaAlreadyExistsException", 400, false)                   \
    X(INDEX_NOT_FOUND, ERROR_DYNAMO, "IndexNotFoundException", 400, false)                         \
    X(BACKUP_NOT_FOUND, ERROR_DYNAMO, "BackupNotFoundException", 400, false)                       \
    X(BACKUP_IN_USE, ERROR_DYNAMO, "BackupInUseException", 400, false)                             \
    X(TABLE_EXISTS, ERROR_DYNAMO, "TableAlreadyExistsException", 400, false)                       \
    X(CONTINUOUS_BACKUPS_UNAVAILABLE, ERROR_DYNAMO, "ContinuousBackupsUnavailableException", 400,  \
      false)                                                                                       \
    X(TABLE_IN_USE, ERROR_DYNAMO, "TableInUseException", 400, false)                               \
    X(INVALID_RESTORE_TIME, ERROR_DYNAMO, "InvalidRestoreTimeException", 400, false)               \
    X(PITR_UNAVAILABLE, ERROR_DYNAMO, "PointInTimeRecoveryUnavailableException", 400, false)       \
    X(TRIMMED_DATA_ACCESS, ERROR_DYNAMO, "TrimmedDataAccessException", 400, false)                 \
    X(EXPIRED_ITERATOR, ERROR_DYNAMO, "ExpiredIteratorException", 400, false)                      \
    X(EXPORT_NOT_FOUND, ERROR_DYNAMO, "ExportNotFoundException", 400, false)                       \
    X(EXPORT_CONFLICT, ERROR_DYNAMO, "ExportConflictException", 400, false)                        \
    X(INVALID_EXPORT_TIME, ERROR_DYNAMO, "InvalidExportTimeException", 400, false)                 \
    X(IMPORT_NOT_FOUND, ERROR_DYNAMO, "ImportNotFoundException", 400, false)                       \
    X(IMPORT_CONFLICT, ERROR_DYNAMO, "ImportConflictException", 400, false)                        \
    X(LIMIT_EXCEEDED, ERROR_DYNAMO, "LimitExceededException", 400, false)                          \
    /* Not of DynamoDB: ApplyModel would delete items, and nobody has said that it may. */         \
    X(REMOVAL_UNCONFIRMED, ERROR_DYNAMO, "RemovalNotConfirmedException", 400, false)               \
    X(INTERNAL, ERROR_DYNAMO, "InternalServerError", 500, true)                                    \
    X(UNAVAILABLE, ERROR_DYNAMO, "ServiceUnavailable", 503, true)                                  \
    /* A read that would wait for the disk where it must not; no client ever sees it. */           \
    X(COLD, ERROR_DYNAMO, "InternalServerError", 500, true)                                        \
    /* The store's files are damaged: unlike INTERNAL, trying again cannot help. */                \
    X(DAMAGED, ERROR_DYNAMO, "InternalServerError", 500, false)                                    \
    X(BUDGET, ERROR_DYNAMO, "InternalServerError", 500, false)

enum error_code {
    ERR_NONE = 0,
#define X(code, space, name, status, retry) ERR_##code,
    ERROR_LIST(X)
#undef X
        ERR_COUNT
};

struct error_row {
    const char *type; // what __type says: namespace#name
    const char *name; // the bare exception name
    int status;
    bool retryable;
};

// The row of a code; ERR_NONE has none.
const struct error_row *error_row(enum error_code code);

struct error {
    enum error_code code;
    const char *message; // NUL-terminated, never NULL once code is set
    const void *details; // more for whoever knows what it is (guard/guard.h), or NULL; in the arena
    struct arena *arena; // where message is made
};

void error_init(struct error *error, struct arena *arena);

// Records the error unless one is recorded already. Always returns false, so
// that `return error_set(...)` reads well.
bool error_set(struct error *error, enum error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

// Records another error, which lives at least as long as this one's arena.
bool error_copy(struct error *error, const struct error *from);

// There is no memory: ERR_BUDGET if the request wants more than one may have, ERR_THROTTLING if
// the server has no more at the moment (the account of the error's arena is starved).
bool error_budget(struct error *error);
// The same for those that return a pointer: always NULL.
static inline void *error_no_memory(struct error *error)
{
    (void)error_budget(error);
    return NULL;
}

// Shorthand for the commonest one.
#define error_validation(error, ...) error_set((error), ERR_VALIDATION, __VA_ARGS__)
// How the service begins most of these.
#define INVALID "One or more parameter values were invalid: "

#endif
