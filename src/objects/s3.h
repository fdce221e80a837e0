// One request of S3's API, from its head to its answer; what the files of its operations share.
//
// The loop's thread reads the head, finds the operation, and checks the signature. All that touches
// a disk is done in the store's own pool: first `prepare`, which judges the request before its body
// is asked for; then each part of the body, into a blob or a small buffer; then `run`, which makes
// the answer. Only one thread has the request at a time. Code of operations is plain: it may wait.
#ifndef OBJECTS_S3_H
#define OBJECTS_S3_H

#include "base/arena.h"
#include "http/http.h"
#include "identity/identity.h"
#include "objects/checksum.h"
#include "objects/objects_internal.h"
#include "objects/s3_error.h"
#include "objects/xml.h"
#include "sign/payload.h"
#include "sign/policy.h"

struct s3;

// ---- Operations
// ------------------------------------------------------------------------------------

enum s3_level { S3_SERVICE, S3_BUCKET, S3_OBJECT };

enum s3_body {
    S3_NO_BODY,  // nobody reads it
    S3_DOCUMENT, // XML, gathered
    S3_CONTENT,  // bytes of an object, into a blob
    S3_FORM,     // multipart/form-data with a file in it
};

// X(id, name, method, level, query, body, needs the bucket): the first row that fits is the
// operation. A query is a parameter that must be there; "=…" behind it also says its value. One
// that begins with "@" is a header.
// clang-format off
#define S3_OPERATION_LIST(X) \
    X(list_buckets, "ListBuckets", "GET", S3_SERVICE, "", S3_NO_BODY, false) \
    X(get_location, "GetBucketLocation", "GET", S3_BUCKET, "location", S3_NO_BODY, true) \
    X(get_cors, "GetBucketCors", "GET", S3_BUCKET, "cors", S3_NO_BODY, true) \
    X(get_lifecycle, "GetBucketLifecycleConfiguration", "GET", S3_BUCKET, "lifecycle", S3_NO_BODY, true) \
    X(list_uploads, "ListMultipartUploads", "GET", S3_BUCKET, "uploads", S3_NO_BODY, true) \
    X(list_objects_v2, "ListObjectsV2", "GET", S3_BUCKET, "list-type=2", S3_NO_BODY, true) \
    X(list_objects, "ListObjects", "GET", S3_BUCKET, "", S3_NO_BODY, true) \
    X(head_bucket, "HeadBucket", "HEAD", S3_BUCKET, "", S3_NO_BODY, true) \
    X(put_cors, "PutBucketCors", "PUT", S3_BUCKET, "cors", S3_DOCUMENT, true) \
    X(put_lifecycle, "PutBucketLifecycleConfiguration", "PUT", S3_BUCKET, "lifecycle", S3_DOCUMENT, true) \
    X(create_bucket, "CreateBucket", "PUT", S3_BUCKET, "", S3_DOCUMENT, false) \
    X(delete_cors, "DeleteBucketCors", "DELETE", S3_BUCKET, "cors", S3_NO_BODY, true) \
    X(delete_lifecycle, "DeleteBucketLifecycle", "DELETE", S3_BUCKET, "lifecycle", S3_NO_BODY, true) \
    X(delete_bucket, "DeleteBucket", "DELETE", S3_BUCKET, "", S3_NO_BODY, true) \
    X(delete_objects, "DeleteObjects", "POST", S3_BUCKET, "delete", S3_DOCUMENT, true) \
    X(post_object, "PostObject", "POST", S3_BUCKET, "", S3_FORM, true) \
    X(preflight, "Preflight", "OPTIONS", S3_BUCKET, "", S3_NO_BODY, true) \
    X(preflight, "Preflight", "OPTIONS", S3_OBJECT, "", S3_NO_BODY, true) \
    X(get_tagging, "GetObjectTagging", "GET", S3_OBJECT, "tagging", S3_NO_BODY, true) \
    X(list_parts, "ListParts", "GET", S3_OBJECT, "uploadId", S3_NO_BODY, true) \
    X(get_object, "GetObject", "GET", S3_OBJECT, "", S3_NO_BODY, true) \
    X(get_object, "HeadObject", "HEAD", S3_OBJECT, "", S3_NO_BODY, true) \
    X(put_tagging, "PutObjectTagging", "PUT", S3_OBJECT, "tagging", S3_DOCUMENT, true) \
    X(upload_part_copy, "UploadPartCopy", "PUT", S3_OBJECT, "uploadId@x-amz-copy-source", S3_NO_BODY, true) \
    X(upload_part, "UploadPart", "PUT", S3_OBJECT, "uploadId", S3_CONTENT, true) \
    X(copy_object, "CopyObject", "PUT", S3_OBJECT, "@x-amz-copy-source", S3_NO_BODY, true) \
    X(put_object, "PutObject", "PUT", S3_OBJECT, "", S3_CONTENT, true) \
    X(create_upload, "CreateMultipartUpload", "POST", S3_OBJECT, "uploads", S3_NO_BODY, true) \
    X(complete_upload, "CompleteMultipartUpload", "POST", S3_OBJECT, "uploadId", S3_DOCUMENT, true) \
    X(delete_tagging, "DeleteObjectTagging", "DELETE", S3_OBJECT, "tagging", S3_NO_BODY, true) \
    X(abort_upload, "AbortMultipartUpload", "DELETE", S3_OBJECT, "uploadId", S3_NO_BODY, true) \
    X(delete_object, "DeleteObject", "DELETE", S3_OBJECT, "", S3_NO_BODY, true)
// clang-format on

struct s3_operation {
    const char *name;
    const char *method;
    enum s3_level level;
    const char *query;
    enum s3_body body;
    bool bucket;
    void (*run)(struct s3 *s3);
};
extern const struct s3_operation s3_operations[];
extern const size_t s3_operation_count;
#define X(id, name, method, level, query, body, bucket) void s3_##id(struct s3 *s3);
S3_OPERATION_LIST(X)
#undef X

// ---- A request
// -------------------------------------------------------------------------------------

struct s3_param {
    struct slice name;
    struct slice value;
};

// Bytes that are being written into a blob.
struct s3_intake {
    bool open; // there is a blob that nothing refers to
    int fd;
    struct blob_id id;
    uint64_t size;
    uint64_t most; // what it may have
    MD5_CTX md5;
    struct checksum checksum;
    uint8_t digest[16]; // once it is sealed
    char etag[33];
    uint8_t sum[CHECKSUM_BYTES];
    char sum_text[CHECKSUM_TEXT];
};

// Bytes of an object that are being sent.
struct s3_sending {
    bool on;
    struct slice blobs; // of its record, in the arena
    size_t at;          // the blob that is next, or being sent
    uint64_t from;      // in it
    uint64_t left;      // of all that is to be sent
    int fd;             // -1 for none
    bool waits;         // the client has not taken what was given
};

struct s3 {
    struct objects *objects;
    struct http_exchange *exchange;
    const struct http_request *request;
    const struct s3_operation *operation;
    struct budget_account account;
    struct arena arena;
    uint64_t id;  // of the request
    bool foreign; // a page of a stranger sent it
    bool virtual; // the bucket stands in the host
    bool hurried; // on the loop's thread: nothing may wait for a disk
    bool cold;    // something would have had to
    bool ended;   // the body was checked

    struct slice bucket;
    struct slice key;
    struct s3_param *params;
    size_t param_count;

    // The signature.
    bool signer; // it has one, and it is right
    struct sign_claim claim;
    const struct objects_key *key_used;
    struct identity_guest guest; // if none of ours was used
    const struct caller *caller; // of an identity; NULL if it was signed with a key of the store
    struct sign_payload_state *payload;

    // The body.
    bool body_wanted;
    struct buf body;
    struct s3_intake intake;
    struct s3_form *form;
    bool page_allowed; // the CORS rules of the bucket let the page in

    // The answer.
    enum s3_error error;
    struct sign_error signature; // if error is S3_ERRORS
    struct slice fault;          // what is to blame, or empty
    int status;
    struct slice type;
    struct buf headers;
    struct buf out;
    uint64_t length; // of what HEAD describes
    struct s3_sending sending;
    struct blob_pin pin;
    bool pinned;

    // Work in the pool.
    struct pool_task task;
    void (*work)(struct s3 *s3);
    void (*then)(struct s3 *s3);
    bool working;
    atomic_bool lost; // the client is gone
    struct slice part;
    bool last;
    void (*more)(struct s3 *s3); // a long operation goes on with it, in slices; else NULL
    struct s3_copy *copy;

    // Of a part of a multipart upload.
    unsigned part_number;
    struct record upload;
};

// The answer is this error, unless there is one already. Answers false.
bool s3_fail(struct s3 *s3, enum s3_error error);
bool s3_fail_about(struct s3 *s3, enum s3_error error, struct slice fault);
static inline bool s3_ok(const struct s3 *s3)
{
    return s3->error == S3_OK;
}
// The error for the end of a job. True if it is done.
bool s3_committed(struct s3 *s3, enum meta_end end);
// The error for errno of a file. Answers false.
bool s3_fail_file(struct s3 *s3, const char *what);

// A parameter of the query, decoded; NULL if there is none.
const struct slice *s3_param(const struct s3 *s3, const char *name);
// A number of the query, or `otherwise` if there is none; fails if it is none or out of range.
uint64_t s3_number(struct s3 *s3, const char *name, uint64_t otherwise, uint64_t most,
                   enum s3_error error);
const struct slice *s3_header(const struct s3 *s3, const char *name);
bool s3_parse_number(struct slice text, uint64_t most, uint64_t *out);

void s3_add_header(struct s3 *s3, const char *name, struct slice value);
void s3_add_quoted(struct s3 *s3, const char *name, struct slice value);
void s3_add_date(struct s3 *s3, const char *name, int64_t ms);
// An answer with what is in `out`.
void s3_answer_xml(struct s3 *s3, int status);
void s3_answer_empty(struct s3 *s3, int status);

// ---- Parts of operations
// ---------------------------------------------------------------------------

// request.c: false, with the error, if the request is none of ours.
MUST_CHECK bool s3_read_request(struct s3 *s3);
MUST_CHECK bool s3_split_target(struct s3 *s3, struct slice target, struct slice *bucket,
                                struct slice *key);
bool s3_bucket_name_valid(struct slice name);
// The key that the request's path, or a form, names.
bool s3_key_valid(struct s3 *s3, struct slice key);

// auth.c
MUST_CHECK bool s3_authenticate(struct s3 *s3);
// Whether the identity that has signed may do it (permit.c).
MUST_CHECK bool s3_authorize(struct s3 *s3);
const struct objects_key *s3_find_key(const struct objects *objects, struct slice id);

// lookup.c: a record from the store, in the arena. False, with an error, if it is not there.
MUST_CHECK bool s3_find_bucket(struct s3 *s3, struct slice bucket);
MUST_CHECK bool s3_find_object(struct s3 *s3, struct slice bucket, struct slice key,
                               struct record *out);
MUST_CHECK enum store_result s3_look(struct s3 *s3, const struct record_key *key,
                                     struct slice *out);

// condition.c: If-Match and its kin, and those with x-amz-copy-source- before them.
MUST_CHECK bool s3_check_read(struct s3 *s3, const char *prefix, const struct record *record,
                              bool copy);
struct s3_write_condition {
    bool absent; // If-None-Match: *
    const struct slice *match;
};
MUST_CHECK bool s3_read_write_condition(struct s3 *s3, struct s3_write_condition *out);
enum s3_error s3_judge_write(const struct s3_write_condition *condition,
                             const struct record *before);
MUST_CHECK bool s3_time_parse(struct slice text, int64_t *ms);

// attributes.c: what an object is stored with, from the headers of the request, or a form's fields.
MUST_CHECK bool s3_read_attributes(struct s3 *s3, struct record *record);
MUST_CHECK bool s3_read_meta(struct s3 *s3, struct record *record);
MUST_CHECK bool s3_read_tags_header(struct s3 *s3, struct record *record);
MUST_CHECK bool s3_parse_tags_query(struct s3 *s3, struct slice text, struct slice *out);
MUST_CHECK bool s3_tag_valid(struct slice key, struct slice value);
MUST_CHECK bool s3_refuse_unsupported(struct s3 *s3);
bool s3_value_valid(struct slice value);
// Adds a tag to pairs, if it is valid and new.
MUST_CHECK bool s3_add_tag(struct s3 *s3, struct buf *pairs, struct slice key, struct slice value);
MUST_CHECK bool s3_refuse_unsupported_fields(struct s3 *s3);
void s3_add_attributes(struct s3 *s3, const struct record *record);

// intake.c
MUST_CHECK bool s3_intake_begin(struct s3 *s3, enum checksum_kind kind, uint64_t most);
MUST_CHECK bool s3_intake_add(struct s3 *s3, struct slice bytes);
// The bytes are on disk; ETag and checksum are made.
MUST_CHECK bool s3_intake_seal(struct s3 *s3);
void s3_intake_drop(struct s3 *s3);
// The checksum the client wants, from headers and trailer, compared with what came.
MUST_CHECK bool s3_checksum_asked(struct s3 *s3, enum checksum_kind *kind);
MUST_CHECK bool s3_checksum_compare(struct s3 *s3);
// That of a document.
MUST_CHECK bool s3_document_checksum(struct s3 *s3);

// put.c: what an intake and a record become.
MUST_CHECK bool s3_store_object(struct s3 *s3, struct slice bucket, struct slice key,
                                struct record *record, const struct s3_write_condition *condition);
MUST_CHECK bool s3_prepare_content(struct s3 *s3);
MUST_CHECK bool s3_commit_blob(struct s3 *s3, struct meta_job *job);
MUST_CHECK bool s3_record_bytes(struct s3 *s3, const struct record *record, struct slice *out);
MUST_CHECK bool s3_record_intake(struct s3 *s3, struct record *record);
void s3_add_checksum(struct s3 *s3, const struct record *record);
int64_t s3_now(const struct s3 *s3); // to the second, as times of objects are

// multipart.c: the number of the part, and whether there is such an upload.
MUST_CHECK bool s3_prepare_part(struct s3 *s3);
MUST_CHECK bool s3_store_part(struct s3 *s3, const struct record *record);
MUST_CHECK bool s3_remove_upload(struct s3 *s3, struct slice id);
void s3_put_checksum(struct buf *out, const struct record *record);

// bucket.c, list.c, delete.c, tagging.c
void s3_put_owner(struct s3 *s3, const char *element);
void s3_put_etag(struct buf *out, struct slice etag);
void s3_put_checksum_kind(struct buf *out, const struct record *record);
enum s3_error s3_group_delete(struct meta_group *group, struct slice bucket, struct slice key,
                              const struct s3_write_condition *condition);
MUST_CHECK bool s3_parse_tags_xml(struct s3 *s3, struct slice text, struct slice *out);

// cors.c
void s3_config_get(struct s3 *s3, char kind, enum s3_error absent);
MUST_CHECK bool s3_config_set(struct s3 *s3, char kind, struct slice bytes);
// Adds what the rules say of a page's request, or refuses it.
void s3_apply_cors(struct s3 *s3);

// form.c
MUST_CHECK bool s3_form_begin(struct s3 *s3);
void s3_form_release(struct s3 *s3);
MUST_CHECK bool s3_form_feed(struct s3 *s3, struct slice bytes);
const struct sign_form_fields *s3_form_fields(const struct s3 *s3);
const struct slice *s3_form_field(const struct s3 *s3, const char *name); // in any case

// send.c: on the loop's thread.
void s3_send_begin(struct s3 *s3);
void s3_send_drained(struct s3 *s3);

// session.c
void s3_do(struct s3 *s3, void (*work)(struct s3 *s3), void (*then)(struct s3 *s3));

#endif
