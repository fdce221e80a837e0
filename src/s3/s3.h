// Where the objects of items are: an S3 endpoint, and what it takes to sign requests for it. Links
// and forms for others are made here; s3/client.h asks for objects itself.
//
// A store is made at the start and does not change, so that any thread may use it. Without an
// endpoint it is the server's own (--objects): links then lead to the host that the client has
// called.
#ifndef S3_S3_H
#define S3_S3_H

#include "base/arena.h"
#include "base/env.h"
#include "sign/policy.h"

enum { S3_HOST_MAX = 256, S3_REGION_MAX = 64, S3_BUCKET_MAX = 64 };

#define S3_BUCKET_DEFAULT "dolmen"

struct s3_settings {
    const char *endpoint;    // "https://s3.example.com:9000"; NULL: see above, or AWS's own
    const char *bucket;      // of rules that name none; NULL for S3_BUCKET_DEFAULT
    const char *region;      // NULL: AWS_REGION, AWS_DEFAULT_REGION, or us-east-1
    const char *credentials; // a file as ~/.aws/credentials; NULL: see below
    // The keys of the server's own store, and the port it will have; or NULL. They are used if no
    // endpoint is given.
    const struct sign_keys *own;
    struct env env;
};

struct s3_store;

// Credentials are those of the file, of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, or of AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials under AWS_PROFILE.
// NULL with a sentence in `error`.
MUST_CHECK struct s3_store *s3_store_new(const struct s3_settings *settings, char *error,
                                         size_t error_size);
void s3_store_free(struct s3_store *store); // NULL is fine

// The bucket of objects that name none.
struct slice s3_store_bucket(const struct s3_store *store);
// The place of the server itself, "127.0.0.1:8000", where its own store is asked for by it. Once,
// before anybody asks.
void s3_store_set_self(struct s3_store *store, const char *place);
// That place speaks HTTPS: the server's own certificate, by which it knows itself, and its key.
// Both are borrowed. Once, before anything else.
void s3_store_set_secure(struct s3_store *store, const char *certificate, const char *key);
// Whether it is the server's own.
bool s3_store_is_own(const struct s3_store *store);

// ---- Links ---------------------------------------------------------------------------------

struct s3_object {
    struct slice bucket; // empty: that of the store
    struct slice key;
    struct slice host; // that the client has called; used if the store is the server's own
};

// Appends a URL that gets the object for so long.
void s3_url_get(struct s3_store *store, const struct s3_object *object, unsigned seconds,
                struct buf *out);

// What an upload is bound to.
struct s3_upload {
    struct slice type; // or empty: whatever is sent
    bool sized;
    uint64_t size; // PUT: exactly so long, if it is sized
    uint64_t most; // a form: at most; 0: whatever
};
// Appends a URL to which the object may be PUT, with the headers that the upload names:
// Content-Type, Content-Length.
void s3_url_put(struct s3_store *store, const struct s3_object *object,
                const struct s3_upload *upload, unsigned seconds, struct buf *out);

// A form by which it may be posted; the texts live in the arena.
struct s3_form {
    struct slice url;
    struct sign_policy_fields fields;
};
// `type` may end with "*": whatever begins so. False when memory is out.
MUST_CHECK bool s3_form_make(struct s3_store *store, const struct s3_object *object,
                             const struct s3_upload *upload, unsigned seconds, struct arena *arena,
                             struct s3_form *out);

// ---- Requests that are signed by a header, for the client ------------------------------------

struct s3_head {
    struct slice method;
    struct slice bucket; // empty: that of the store
    struct slice key;    // empty: of the bucket itself
    struct slice query;  // encoded; or empty
    struct slice type;   // of the body; or empty
    struct slice payload;
};
// The URL, and the lines of the headers, each with a NUL behind it; the last one is empty.
void s3_head_sign(struct s3_store *store, const struct s3_head *head, struct buf *url,
                  struct buf *lines);

#endif
