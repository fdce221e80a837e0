// XML bodies of the object store. Any text: a tree, whose names and texts are written and read back
// the same, or nothing. As a document of an operation (the first line is its name): done, or
// refused with an error of S3; what is answered is XML.
#include "objects.h"

// ---- Trees -------------------------------------------------------------------------------------

static void tree_write(struct buf *out, const struct xml *node)
{
    ensure(node->name.len > 0);
    buf_printf(out, "<%.*s>", SLICE_FMT(node->name));
    if (node->children == NULL)
        xml_escape(out, node->text);
    for (const struct xml *child = node->children; child != NULL; child = child->next)
        tree_write(out, child);
    buf_printf(out, "</%.*s>", SLICE_FMT(node->name));
}

static void tree_same(const struct xml *a, const struct xml *b)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        ensure(slice_equal(a->name, b->name));
        ensure(a->children != NULL || slice_equal(a->text, b->text));
        tree_same(a->children, b->children);
    }
    ensure(a == NULL && b == NULL);
}

static void tree_check(struct slice text)
{
    struct arena arena;
    struct buf first;
    struct buf second;
    arena_init(&arena, FUZZ_BUDGET);
    buf_init(&first, FUZZ_BUDGET);
    buf_init(&second, FUZZ_BUDGET);
    const struct xml *tree = xml_read(text, &arena);
    if (tree != NULL) {
        tree_write(&first, tree);
        const struct xml *again = xml_read(buf_view(&first), &arena);
        ensure(again != NULL);
        tree_write(&second, again);
        // What XML has no words for is another character once; from then on nothing changes.
        const struct xml *third = xml_read(buf_view(&second), &arena);
        ensure(third != NULL);
        tree_same(again, third);
    }
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

// ---- Documents ---------------------------------------------------------------------------------

static struct s3 *plain_request(void)
{
    return fuzz_request(SLICE_LIT("POST /bucket/key HTTP/1.1\r\nHost: x\r\nOrigin: "
                                  "https://page.example\r\nAccess-Control-Request-Method: PUT\r\n"
                                  "Access-Control-Request-Headers: content-type\r\n\r\n"));
}

static void document_run(const char *name, struct slice body, const struct slice *upload)
{
    struct s3 *s3 = plain_request();
    struct s3_param param = {SLICE_LIT("uploadId"), upload == NULL ? slice_of(NULL, 0) : *upload};
    s3->params = &param;
    s3->param_count = upload == NULL ? 0 : 1;
    for (size_t i = 0; i < s3_operation_count; i++)
        if (strcmp(s3_operations[i].name, name) == 0)
            s3->operation = &s3_operations[i];
    buf_slice(&s3->body, body);
    s3->operation->run(s3);
    ensure(s3->error != S3_INTERNAL && s3->error != S3_SLOW_DOWN);
    ensure(s3_ok(s3) == (s3->status > 0));
    if (s3_ok(s3) && s3->out.len > 0)
        ensure(xml_read(buf_view(&s3->out), &s3->arena) != NULL);
    fuzz_request_end(s3);
}

// What the rules say of a page.
static void cors_check(void)
{
    struct s3 *s3 = plain_request();
    s3_apply_cors(s3);
    fuzz_request_end(s3);
}

static void upload_check(struct slice body)
{
    struct s3 *s3 = plain_request();
    s3_create_upload(s3);
    ensure(s3_ok(s3));
    const struct xml *root = xml_read(buf_view(&s3->out), &s3->arena);
    ensure(root != NULL);
    struct slice upload = fuzz_copy(xml_text(root, "UploadId"));
    fuzz_request_end(s3);
    document_run("CompleteMultipartUpload", body, &upload);
    s3 = plain_request();
    ensure(s3_remove_upload(s3, upload));
    fuzz_request_end(s3);
    fuzz_free(upload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = fuzz_copy(slice_of(data, size));
    struct slice body = bytes;
    struct slice kind = fuzz_line(&body);
    if (slice_is(kind, "cors")) {
        document_run("PutBucketCors", body, NULL);
        cors_check();
        document_run("DeleteBucketCors", slice_of(NULL, 0), NULL);
    } else if (slice_is(kind, "lifecycle")) {
        document_run("PutBucketLifecycleConfiguration", body, NULL);
        objects_lifecycle(fuzz_objects());
        document_run("DeleteBucketLifecycle", slice_of(NULL, 0), NULL);
    } else if (slice_is(kind, "delete")) {
        document_run("DeleteObjects", body, NULL);
    } else if (slice_is(kind, "tags")) {
        document_run("PutObjectTagging", body, NULL);
    } else if (slice_is(kind, "upload")) {
        upload_check(body);
    } else {
        tree_check(bytes);
    }
    fuzz_free(bytes);
    return 0;
}
