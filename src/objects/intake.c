// Bytes on their way into a blob: written, summed, synced; and whether they are what the client
// meant to send.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every use
#include "objects/s3.h"

#include "base/encode.h"
#include "base/files.h"

#include <stdio.h>

bool s3_intake_begin(struct s3 *s3, enum checksum_kind kind, uint64_t most)
{
    struct s3_intake *intake = &s3->intake;
    if (!meta_has_room(s3->objects->meta))
        return s3_fail(s3, S3_NO_ROOM);
    intake->fd = blob_create(s3->objects->blobs, &intake->id);
    if (intake->fd < 0)
        return s3_fail_file(s3, "no file can be made");
    intake->open = true;
    intake->size = 0;
    intake->most = most;
    MD5_Init(&intake->md5);
    checksum_begin(&intake->checksum, kind, s3->objects->tables);
    return true;
}

bool s3_intake_add(struct s3 *s3, struct slice bytes)
{
    struct s3_intake *intake = &s3->intake;
    if (bytes.len > intake->most - intake->size)
        return s3_fail(s3, S3_ENTITY_TOO_LARGE);
    intake->size += bytes.len;
    MD5_Update(&intake->md5, bytes.ptr, bytes.len);
    checksum_add(&intake->checksum, bytes);
    return file_write(intake->fd, bytes) || s3_fail_file(s3, "an object cannot be written");
}

bool s3_intake_seal(struct s3 *s3)
{
    struct s3_intake *intake = &s3->intake;
    int fd = intake->fd;
    intake->fd = -1;
    MD5_Final(intake->digest, &intake->md5);
    hex_text(slice_of(intake->digest, sizeof(intake->digest)), intake->etag);
    intake->etag[32] = 0;
    checksum_end(&intake->checksum, intake->sum);
    checksum_text(intake->checksum.kind, intake->sum, intake->sum_text);
    return blob_seal(s3->objects->blobs, fd, &intake->id) ||
           s3_fail_file(s3, "an object cannot be synced");
}

void s3_intake_drop(struct s3 *s3)
{
    struct s3_intake *intake = &s3->intake;
    if (!intake->open)
        return;
    blob_drop(s3->objects->blobs, intake->fd, &intake->id);
    intake->open = false;
}

// ---- Checksums
// ---------------------------------------------------------------------------------------

static const struct slice *checksum_header(const struct s3 *s3, enum checksum_kind kind)
{
    char name[40];
    (void)snprintf(name, sizeof(name), "x-amz-checksum-%s", checksum_row(kind)->header);
    return s3->form != NULL ? s3_form_field(s3, name) : s3_header(s3, name);
}

static enum checksum_kind of_trailer(struct slice names)
{
    static const struct slice prefix = {(const uint8_t *)"x-amz-checksum-", 15};
    while (names.len > 0) {
        struct slice name = slice_trim(slice_cut(&names, ','));
        if (slice_begins(name, prefix))
            return checksum_find(slice_of(name.ptr + prefix.len, name.len - prefix.len));
    }
    return CHECKSUM_NONE;
}

bool s3_checksum_asked(struct s3 *s3, enum checksum_kind *kind)
{
    const struct slice *algorithm = s3_header(s3, "x-amz-sdk-checksum-algorithm");
    *kind = of_trailer(s3->claim.trailer);
    for (unsigned i = CHECKSUM_NONE + 1; i < CHECKSUM_KINDS; i++) {
        if (checksum_header(s3, (enum checksum_kind)i) == NULL)
            continue;
        if (*kind != CHECKSUM_NONE && *kind != i)
            return s3_fail(s3, S3_CHECKSUM_TWO);
        *kind = (enum checksum_kind)i;
    }
    if (*kind != CHECKSUM_NONE || algorithm == NULL || s3->form != NULL)
        return true;
    *kind = checksum_find(*algorithm);
    return *kind != CHECKSUM_NONE || s3_fail(s3, S3_CHECKSUM_KIND);
}

// Content-MD5, of a header or a field.
static bool md5_compare(struct s3 *s3, const uint8_t digest[16])
{
    const struct slice *text =
        s3->form != NULL ? s3_form_field(s3, "content-md5") : s3_header(s3, "content-md5");
    struct buf bytes;
    if (text == NULL)
        return true;
    buf_init(&bytes, 64);
    bool valid = text->len <= 32 && base64_decode(&bytes, *text) && bytes.len == 16;
    bool same = valid && memcmp(bytes.ptr, digest, 16) == 0;
    buf_release(&bytes);
    return same || s3_fail(s3, valid ? S3_BAD_DIGEST : S3_DIGEST);
}

static bool sum_compare(struct s3 *s3, enum checksum_kind kind, const uint8_t *sum)
{
    uint8_t wanted[CHECKSUM_BYTES];
    const struct slice *header = checksum_header(s3, kind);
    char name[40];
    (void)snprintf(name, sizeof(name), "x-amz-checksum-%s", checksum_row(kind)->header);
    struct slice value =
        header != NULL ? *header : sign_payload_trailer(s3->payload, slice_str(name));
    if (header == NULL && value.len == 0)
        return true;
    if (!checksum_parse(kind, value, wanted))
        return s3_fail(s3, S3_CHECKSUM_VALUE);
    return memcmp(wanted, sum, checksum_row(kind)->bytes) == 0 || s3_fail(s3, S3_BAD_CHECKSUM);
}

bool s3_checksum_compare(struct s3 *s3)
{
    const struct s3_intake *intake = &s3->intake;
    return md5_compare(s3, intake->digest) && (intake->checksum.kind == CHECKSUM_NONE ||
                                               sum_compare(s3, intake->checksum.kind, intake->sum));
}

bool s3_document_checksum(struct s3 *s3)
{
    enum checksum_kind kind;
    struct checksum checksum;
    uint8_t digest[16];
    uint8_t sum[CHECKSUM_BYTES];
    struct slice body = buf_view(&s3->body);
    if (!s3_checksum_asked(s3, &kind))
        return false;
    bool whole = s3->operation->run == s3_complete_upload; // its checksum is that of the object
    if (whole)
        return true;
    if (s3->operation->run == s3_delete_objects && kind == CHECKSUM_NONE &&
        s3_header(s3, "content-md5") == NULL)
        return s3_fail(s3, S3_MISSING_MD5);
    md5_of(body, slice_of(NULL, 0), digest);
    checksum_begin(&checksum, kind, s3->objects->tables);
    checksum_add(&checksum, body);
    checksum_end(&checksum, sum);
    return md5_compare(s3, digest) && (kind == CHECKSUM_NONE || sum_compare(s3, kind, sum));
}
