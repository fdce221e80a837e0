// An S3-compatible object store: buckets and objects in a directory, and S3's API in front of them.
//
// Bytes are files (blob.h), everything else is metadata in a store of its own (meta.h). An object
// is on disk, and its metadata committed, before its PUT is answered; it is visible whole or not at
// all. The face is a taker of HTTP requests (http.h): bodies come and go in parts, and no loop
// waits for a disk.
#ifndef OBJECTS_OBJECTS_H
#define OBJECTS_OBJECTS_H

#include "base/budget.h"
#include "base/env.h"
#include "http/http.h"
#include "sign/sign.h"

enum { OBJECTS_KEYS_MAX = 16, OBJECTS_KEY_ID = 129, OBJECTS_SECRET = 129 };

struct objects;
struct identity;

struct objects_options {
    const char *directory; // made if it is missing
    bool relaxed;          // nothing is synced before it is answered
    bool loopback;         // only this machine reaches the server
    const char *host;      // names of buckets may stand before this one; or NULL
    struct env env;
    size_t memory_bytes; // for metadata: cache and write buffers
    struct budget *budget;
    unsigned loops;
    uint64_t every_s; // from one look at the lifecycle rules to the next; 0 for an hour
    // Who may sign: "ID:FILE" with the secret in the file, or "env" for AWS_ACCESS_KEY_ID and
    // AWS_SECRET_ACCESS_KEY. Without any a pair is made, and kept in the directory.
    const char *const *keys;
    size_t key_count;
    struct identity *identity; // whose keys may sign, too; borrowed, or NULL
    const char *region;        // of buckets, and what policies see
    bool signed_only;          // requests without a signature are refused, wherever they come from
};

// NULL with a sentence in `error`.
MUST_CHECK struct objects *objects_open(const struct objects_options *options, char *error,
                                        size_t error_size);
// After the server has stopped.
void objects_close(struct objects *objects);

// The first pair of keys, for those who sign requests to this store. Valid until it is closed.
struct sign_keys objects_keys(const struct objects *objects);

// Makes a bucket of that name, if there is none. False if that failed.
MUST_CHECK bool objects_make_bucket(struct objects *objects, struct slice name);

// Whether a request is for this store: its signature is for s3, or it has none and asks for a
// bucket that no other face of the server owns.
bool objects_own(const struct objects *objects, const struct http_request *request);

// Takes a request at its head. `foreign`: it was sent by a page that may not call the server.
void objects_begin(struct objects *objects, struct http_exchange *exchange, bool foreign);
// The rest of a taker. `sent` only if objects_begin was called.
void objects_body(struct http_exchange *exchange, const struct http_part *part);
void objects_resume(struct http_exchange *exchange);
void objects_sent(struct http_exchange *exchange);
void objects_gone(struct http_exchange *exchange);
void objects_drained(struct http_exchange *exchange);

// What to say in the log of accesses, in the taker's `sent`, before objects_sent.
struct objects_account {
    const char *operation;
    int status;
    const char *error; // or NULL
    uint64_t bytes_in;
    uint64_t bytes_out;
};
void objects_account(const struct http_exchange *exchange, struct objects_account *out);

// Lines of Prometheus' text format.
void objects_metrics(struct objects *objects, struct buf *out);

#endif
