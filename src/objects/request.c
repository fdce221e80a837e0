// From the head of an HTTP request to bucket, key, parameters and operation.
#include "objects/s3.h"

#include "base/encode.h"
#include "base/limits.h"

#include <strings.h>

enum { PARAMS_MAX = 64 };

const struct s3_operation s3_operations[] = {
#define X(id, name, method, level, query, body, bucket)                                            \
    {name, method, level, query, body, bucket, s3_##id},
    S3_OPERATION_LIST(X)
#undef X
};
const size_t s3_operation_count = COUNT_OF(s3_operations);
_Static_assert(COUNT_OF(s3_operations) <= OBJECTS_OPERATIONS, "each operation has a counter");

// ---- Headers and parameters
// ------------------------------------------------------------------------

const struct slice *s3_param(const struct s3 *s3, const char *name)
{
    for (size_t i = 0; i < s3->param_count; i++) {
        if (slice_is(s3->params[i].name, name))
            return &s3->params[i].value;
    }
    return NULL;
}

const struct slice *s3_header(const struct s3 *s3, const char *name)
{
    return http_header_find(s3->request, slice_str(name));
}

bool s3_parse_number(struct slice text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = value;
    return text.len > 0 && value <= most;
}

uint64_t s3_number(struct s3 *s3, const char *name, uint64_t otherwise, uint64_t most,
                   enum s3_error error)
{
    const struct slice *text = s3_param(s3, name);
    uint64_t value = otherwise;
    if (text != NULL && !s3_parse_number(*text, most, &value))
        (void)s3_fail_about(s3, error, *text);
    return value;
}

static bool decode(struct s3 *s3, struct slice text, bool query, struct slice *out)
{
    struct buf decoded;
    buf_init(&decoded, HTTP_TARGET_MAX);
    if (!sign_decode(&decoded, text, query)) {
        buf_release(&decoded);
        return s3_fail(s3, S3_INVALID_URI);
    }
    *out = arena_keep(&s3->arena, &decoded);
    return out->ptr != NULL || s3_fail(s3, S3_SLOW_DOWN);
}

static bool read_params(struct s3 *s3)
{
    struct slice rest = s3->request->query;
    s3->params = arena_zalloc(&s3->arena, PARAMS_MAX, sizeof(*s3->params));
    if (s3->params == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    while (rest.len > 0) {
        struct slice value = slice_cut(&rest, '&');
        if (value.len == 0)
            continue;
        struct slice name = slice_cut(&value, '=');
        if (s3->param_count == PARAMS_MAX)
            return s3_fail(s3, S3_INVALID_URI);
        struct s3_param *param = &s3->params[s3->param_count++];
        if (!decode(s3, name, true, &param->name) || !decode(s3, value, true, &param->value))
            return false;
    }
    return true;
}

// ---- Names
// -----------------------------------------------------------------------------------------

bool s3_bucket_name_valid(struct slice name)
{
    static const char *const taken[] = {"admin", "health", "metrics"}; // faces of the server
    bool digits = true;                                                // and dots: an address
    if (name.len < 3 || name.len > 63)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        bool inside = i > 0 && i + 1 < name.len;
        if (!plain && !(inside && (c == '-' || (c == '.' && name.ptr[i - 1] != '.'))))
            return false;
        digits = digits && ((c >= '0' && c <= '9') || c == '.');
    }
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        if (slice_is(name, taken[i]))
            return false;
    }
    return !(digits && memchr(name.ptr, '.', name.len) != NULL) &&
           !slice_begins(name, SLICE_LIT("xn--"));
}

bool s3_key_valid(struct s3 *s3, struct slice key)
{
    if (key.len > LIMIT_OBJECT_KEY)
        return s3_fail(s3, S3_KEY_TOO_LONG);
    if (key.len == 0 || memchr(key.ptr, 0, key.len) != NULL || !utf8_valid(key))
        return s3_fail(s3, S3_INVALID_URI);
    return true;
}

// "/bucket/key", still encoded, into both, decoded. A key may be empty here.
bool s3_split_target(struct s3 *s3, struct slice target, struct slice *bucket, struct slice *key)
{
    if (target.len > 0 && target.ptr[0] == '/')
        target = slice_of(target.ptr + 1, target.len - 1);
    struct slice name = slice_cut(&target, '/');
    return decode(s3, name, false, bucket) && decode(s3, target, false, key);
}

static struct slice host_without_port(struct slice host)
{
    return slice_cut(&host, ':');
}

// The bucket of "bucket.localhost", or below the name that was given for it; empty if there is
// none.
static struct slice host_bucket(const struct objects *objects, struct slice host)
{
    static const struct slice local = {(const uint8_t *)".localhost", 10};
    struct slice name = host_without_port(host);
    struct slice own = slice_str(objects->host);
    struct slice suffix = local;
    if (own.len > 0 && name.len > own.len + 1 && name.ptr[name.len - own.len - 1] == '.' &&
        strncasecmp((const char *)name.ptr + name.len - own.len, objects->host, own.len) == 0)
        return slice_of(name.ptr, name.len - own.len - 1);
    if (name.len > suffix.len && strncasecmp((const char *)name.ptr + name.len - suffix.len,
                                             (const char *)suffix.ptr, suffix.len) == 0)
        return slice_of(name.ptr, name.len - suffix.len);
    return slice_of(NULL, 0);
}

static bool read_names(struct s3 *s3)
{
    struct slice path = s3->request->path;
    struct slice bucket = host_bucket(s3->objects, s3->request->host);
    if (bucket.len > 0) {
        s3->virtual = true;
        s3->bucket = bucket;
        return decode(s3, slice_of(path.ptr + 1, path.len - 1), false, &s3->key);
    }
    return s3_split_target(s3, path, &s3->bucket, &s3->key);
}

// ---- Operations
// ------------------------------------------------------------------------------------

// Parameters that ask for what there is not.
static bool is_unsupported(const struct s3 *s3, enum s3_level level)
{
    static const char *const names[] = {
        "abac",
        "accelerate",
        "acl",
        "analytics",
        "attributes",
        "encryption",
        "intelligent-tiering",
        "inventory",
        "legal-hold",
        "logging",
        "metadataTable",
        "metrics",
        "notification",
        "object-lock",
        "ownershipControls",
        "policy",
        "policyStatus",
        "publicAccessBlock",
        "renameObject",
        "replication",
        "requestPayment",
        "restore",
        "retention",
        "select",
        "session",
        "torrent",
        "versioning",
        "versions",
        "website",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (s3_param(s3, names[i]) != NULL)
            return true;
    }
    return level == S3_BUCKET && s3_param(s3, "tagging") != NULL;
}

// "uploadId@x-amz-copy-source": a parameter, its value, a header.
static bool query_fits(const struct s3 *s3, const char *query)
{
    char name[32];
    const char *header = strchr(query, '@');
    size_t len = header == NULL ? strlen(query) : (size_t)(header - query);
    const char *equals = memchr(query, '=', len);
    size_t name_len = equals == NULL ? len : (size_t)(equals - query);
    if (header != NULL && s3_header(s3, header + 1) == NULL)
        return false;
    if (name_len == 0)
        return true;
    memcpy(name, query, name_len);
    name[name_len] = 0;
    const struct slice *value = s3_param(s3, name);
    return value != NULL &&
           (equals == NULL || slice_equal(*value, slice_of(equals + 1, len - name_len - 1)));
}

static bool find_operation(struct s3 *s3)
{
    enum s3_level level = s3->bucket.len == 0 ? S3_SERVICE
                          : s3->key.len == 0  ? S3_BUCKET
                                              : S3_OBJECT;
    const struct slice *version = s3_param(s3, "versionId");
    if (is_unsupported(s3, level))
        return s3_fail(s3, S3_NOT_IMPLEMENTED);
    if (version != NULL && !slice_is(*version, "null"))
        return s3_fail(s3, S3_NO_SUCH_VERSION);
    for (size_t i = 0; i < s3_operation_count; i++) {
        const struct s3_operation *row = &s3_operations[i];
        if (row->level == level && slice_is(s3->request->method, row->method) &&
            query_fits(s3, row->query)) {
            s3->operation = row;
            return true;
        }
    }
    return s3_fail(s3, S3_METHOD_NOT_ALLOWED);
}

bool s3_read_request(struct s3 *s3)
{
    if (!read_params(s3) || !read_names(s3))
        return false;
    if (s3->bucket.len > 0 && !s3_bucket_name_valid(s3->bucket))
        return s3_fail_about(s3, S3_BUCKET_NAME, s3->bucket);
    return (s3->key.len == 0 || s3_key_valid(s3, s3->key)) && find_operation(s3);
}

// ---- Whose request it is
// ---------------------------------------------------------------------------

// Whether a credential "ID/day/region/s3/aws4_request" is for s3.
static bool scope_is_s3(struct slice credential)
{
    return slice_contains(credential, SLICE_LIT("/s3/aws4_request")) ||
           slice_contains(credential, SLICE_LIT("%2Fs3%2Faws4_request")) ||
           slice_contains(credential, SLICE_LIT("%2fs3%2faws4_request"));
}

static bool path_begins(struct slice path, const char *face)
{
    size_t len = strlen(face);
    return slice_begins(path, slice_str(face)) && (path.len == len || path.ptr[len] == '/');
}

bool objects_own(const struct objects *objects, const struct http_request *request)
{
    const struct slice *authorization = http_header(request, HTTP_AUTHORIZATION);
    if (http_header(request, HTTP_AMZ_TARGET) != NULL)
        return false;
    if ((authorization != NULL && scope_is_s3(*authorization)) || scope_is_s3(request->query))
        return true;
    if (host_bucket(objects, request->host).len > 0)
        return true;
    return request->path.len > 1 && !path_begins(request->path, "/v1") &&
           !path_begins(request->path, "/health") && !path_begins(request->path, "/metrics") &&
           !path_begins(request->path, "/admin");
}
