// Whether an identity may do what it asks of the store: IAM's actions of S3, by name of the
// operation. Keys of the store itself (--objects-key) may do everything.
//
// What a request names in its body only (DeleteObjects, forms) is asked for the whole bucket, and
// the source of a copy for everything: who may do less than that does it one by one.
#include "objects/s3.h"

enum { ARN_MAX = 2048, DENIAL_MAX = 4096 };

struct permit_row {
    const char *operation;
    const char *action;
    bool whole; // of all objects of the bucket
};

static const struct permit_row rows[] = {
    {"ListBuckets", "s3:ListAllMyBuckets", false},
    {"GetBucketCors", "s3:GetBucketCORS", false},
    {"GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration", false},
    {"ListMultipartUploads", "s3:ListBucketMultipartUploads", false},
    {"ListObjectsV2", "s3:ListBucket", false},
    {"ListObjects", "s3:ListBucket", false},
    {"HeadBucket", "s3:ListBucket", false},
    {"PutBucketCors", "s3:PutBucketCORS", false},
    {"PutBucketLifecycleConfiguration", "s3:PutLifecycleConfiguration", false},
    {"DeleteBucketCors", "s3:PutBucketCORS", false},
    {"DeleteBucketLifecycle", "s3:PutLifecycleConfiguration", false},
    {"DeleteObjects", "s3:DeleteObject", true},
    {"PostObject", "s3:PutObject", true},
    {"ListParts", "s3:ListMultipartUploadParts", false},
    {"HeadObject", "s3:GetObject", false},
    {"UploadPartCopy", "s3:PutObject", false},
    {"UploadPart", "s3:PutObject", false},
    {"CopyObject", "s3:PutObject", false},
    {"CreateMultipartUpload", "s3:PutObject", false},
    {"CompleteMultipartUpload", "s3:PutObject", false},
};

static bool ask(struct s3 *s3, struct slice action, struct slice resource)
{
    struct buf denial;
    struct caller_request request = {.caller = s3->caller,
                                     .action = action,
                                     .action_id = POLICY_ACTION_UNKNOWN,
                                     .resource = resource,
                                     .region = s3->objects->region,
                                     .now_ms = env_now(&s3->objects->env)};
    buf_init(&denial, DENIAL_MAX);
    bool may = caller_may(&request, &denial);
    buf_release(&denial);
    return may || s3_fail(s3, S3_ACCESS_DENIED);
}

bool s3_authorize(struct s3 *s3)
{
    if (s3->caller == NULL)
        return true;
    const char *name = s3->operation->name;
    const struct permit_row *row = NULL;
    for (size_t i = 0; row == NULL && i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].operation, name) == 0)
            row = &rows[i];
    struct buf action;
    struct buf arn;
    buf_init(&action, ARN_MAX);
    buf_init(&arn, ARN_MAX);
    if (row != NULL)
        buf_text(&action, row->action);
    else
        buf_printf(&action, "s3:%s", name);
    buf_text(&arn, "arn:aws:s3:::");
    buf_slice(&arn, s3->bucket.len > 0 ? s3->bucket : SLICE_LIT("*"));
    if (s3->key.len > 0)
        buf_printf(&arn, "/%.*s", SLICE_FMT(s3->key));
    else if (row != NULL && row->whole)
        buf_text(&arn, "/*");
    bool copies = strcmp(name, "CopyObject") == 0 || strcmp(name, "UploadPartCopy") == 0;
    bool may = !action.failed && !arn.failed && ask(s3, buf_view(&action), buf_view(&arn)) &&
               (!copies || ask(s3, SLICE_LIT("s3:GetObject"), SLICE_LIT("arn:aws:s3:::*")));
    if (!may && s3->error == S3_OK)
        may = s3_fail(s3, S3_ACCESS_DENIED);
    buf_release(&action);
    buf_release(&arn);
    return may;
}
