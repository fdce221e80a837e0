// libdolmen: a DynamoDB-compatible database inside your program.
//
//     dolmen *db;
//     char error[256];
//     struct dolmen_options options = {.path = "data"};
//     if (dolmen_open(&options, &db, error, sizeof(error)) != DOLMEN_OK) { … }
//     struct dolmen_response response;
//     dolmen_call(db, "ListTables", "{}", 2, &response);
//     printf("%d %.*s\n", response.status, (int)response.length, response.body);
//     dolmen_response_free(&response);
//     dolmen_close(db);
//
// Requests and responses are exactly those of the DynamoDB API (JSON 1.0): the same
// operation names, the same members, the same errors. A server is this library with
// HTTP in front of it, so the two never behave differently.
//
// Threads: every function may be called from any thread, except that nothing may be
// in progress when dolmen_close is called. Writes that wait at the same time are
// committed together, so many threads write faster than one.
//
// Durability: when dolmen_call returns a success for a write, the write is on disk
// (unless DOLMEN_RELAXED was asked for) and survives a crash or a power cut.
#ifndef DOLMEN_H
#define DOLMEN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dolmen dolmen;

enum dolmen_status {
    DOLMEN_OK = 0,
    DOLMEN_IN_USE, // another process has the directory open
    DOLMEN_FAILED, // the error text says why
};

enum dolmen_durability {
    DOLMEN_FULL = 0,    // a write is acknowledged when it is on disk
    DOLMEN_RELAXED = 1, // … when it is in the log; the log reaches the disk within 100 ms
};

struct dolmen_options {
    const char *path; // the data directory, created if missing; NULL keeps everything in memory
    enum dolmen_durability durability;
    const char *region; // what ARNs carry; NULL means "us-east-1"
    // Bytes of memory at most, without effect in memory; 0 means the default.
    size_t cache_bytes;        // for what is read from disk: an eighth of the machine's memory,
                               // from 64 MB to 1 GB
    size_t write_buffer_bytes; // for writes on their way into tables on disk: 240 MB
    // Bytes for all of it, calls in progress included: those beyond it are throttled. The two above
    // are then shares of it by default. 0 means that calls are not limited together.
    size_t memory_limit_bytes;
    // Whose words errors have: NULL for those of us-east-1 today, "2026-05" for those of May 2026.
    const char *service_texts;
    // The master key of an encrypted directory: "file:PATH", "env:NAME" or "credential:NAME". A
    // directory that is made with one is encrypted. NULL: none.
    const char *master_key;
};

// Opens a database. On failure *db is untouched and `error` (if error_size > 0) says why.
int dolmen_open(const struct dolmen_options *options, dolmen **db, char *error, size_t error_size);

// Closes it. Everything acknowledged is on disk; the handle is gone.
void dolmen_close(dolmen *db);

struct dolmen_response {
    int status; // as HTTP says it: 200, 400 or 500
    char *body; // JSON, with a NUL behind its length
    size_t length;
};

// Executes one operation and waits for it. The request is borrowed during the call;
// the response belongs to the caller, who frees it with dolmen_response_free. A failed
// operation is not a failed call: look at response->status and the "__type" in the body.
void dolmen_call(dolmen *db, const char *operation, const char *request, size_t request_length,
                 struct dolmen_response *response);
// The same on behalf of a tenant: the call sees and writes that tenant's items alone, in tables
// whose model has `tenant`; what it may not see is as if it were not there (docs/TENANTS.md). The
// name is bytes, and may be empty: nothing belongs to that tenant. Operations that are not about
// items end in an AccessDeniedException.
void dolmen_call_as(dolmen *db, const char *tenant, size_t tenant_length, const char *operation,
                    const char *request, size_t request_length, struct dolmen_response *response);
void dolmen_response_free(struct dolmen_response *response);

// The version of the library, such as "0.1.0".
const char *dolmen_version(void);

#ifdef __cplusplus
}
#endif

#endif
