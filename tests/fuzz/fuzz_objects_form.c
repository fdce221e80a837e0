// Forms that are posted with a file in them: however the body is cut, the same fields, the same
// file and the same error; what is taken is stored, and answered.
//
// The first line is what stands behind "multipart/form-data;" in the header; the rest is the body.
#include "objects.h"

struct outcome {
    enum s3_error error;
    int status;
    uint64_t size;
    uint64_t fields; // a sum of names and values
    char etag[33];
};

static uint64_t sum_of(uint64_t sum, struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        sum = sum * 31 + text.ptr[i] + 1;
    return sum * 31;
}

static void feed(struct s3 *s3, struct slice body, size_t most)
{
    size_t piece = most < 16 ? 1 : most;
    bool ok = true;
    while (ok && body.len > 0) {
        struct slice part = slice_of(body.ptr, body.len < piece ? body.len : piece);
        struct slice alone = fuzz_copy(part);
        ok = s3_form_feed(s3, alone);
        fuzz_free(alone);
        body = slice_of(body.ptr + part.len, body.len - part.len);
        piece = piece >= most ? 1 : piece + 1;
    }
    ensure(ok == s3_ok(s3));
    if (ok)
        s3_post_object(s3);
}

// Nothing stays.
static void take_back(struct slice head, struct slice key)
{
    struct s3 *s3 = fuzz_request(head);
    ensure(s3 != NULL);
    s3->key = key;
    s3_delete_object(s3);
    ensure(s3_ok(s3));
    fuzz_request_end(s3);
}

static struct outcome post(struct slice head, struct slice body, size_t most)
{
    struct outcome out = {.error = S3_OK};
    struct s3 *s3 = fuzz_request(head);
    if (s3 == NULL)
        return out;
    s3->key = slice_of(NULL, 0);
    for (size_t i = 0; i < s3_operation_count; i++)
        if (s3_operations[i].run == s3_post_object)
            s3->operation = &s3_operations[i];
    if (s3_form_begin(s3)) {
        feed(s3, body, most);
        const struct sign_form_fields *all = s3_form_fields(s3);
        for (size_t i = 0; i < all->count; i++)
            out.fields = sum_of(sum_of(out.fields, all->fields[i].name), all->fields[i].value);
    }
    ensure(s3->error != S3_INTERNAL && s3->error != S3_SLOW_DOWN);
    ensure(s3_ok(s3) == (s3->status > 0));
    out.error = s3->error;
    out.status = s3->status;
    out.size = s3->intake.size;
    memcpy(out.etag, s3->intake.etag, sizeof(out.etag));
    bool stored = s3_ok(s3);
    struct slice key = fuzz_copy(s3->key);
    ensure(!stored || (key.len > 0 && out.etag[0] != 0));
    fuzz_request_end(s3);
    if (stored)
        take_back(head, key);
    fuzz_free(key);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = fuzz_copy(slice_of(data, size));
    struct slice body = bytes;
    struct slice parameters = fuzz_line(&body);
    struct buf head;
    buf_init(&head, 64 << 10);
    buf_text(&head, "POST /bucket HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data;");
    buf_slice(&head, parameters);
    buf_text(&head, "\r\n\r\n");
    if (!head.failed) {
        struct outcome whole = post(buf_view(&head), body, body.len + 1);
        struct outcome cut = post(buf_view(&head), body, 7);
        ensure(whole.error == cut.error && whole.status == cut.status);
        // After an error, some of the file may have come or not.
        ensure(whole.error != S3_OK || (whole.size == cut.size && whole.fields == cut.fields &&
                                        strcmp(whole.etag, cut.etag) == 0));
    }
    buf_release(&head);
    fuzz_free(bytes);
    return 0;
}
