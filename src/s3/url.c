// See s3.h: links, forms and requests, signed.
#include "s3/s3_internal.h"

#include <stdio.h>

// A request for a bucket or an object, before it is signed.
struct target {
    char host[S3_HOST_MAX + S3_BUCKET_MAX + 1];
    struct buf path;
    bool secure;
};

static struct slice bucket_of(const struct s3_store *store, struct slice bucket)
{
    return bucket.len > 0 ? bucket : slice_str(store->bucket);
}

static void target_init(const struct s3_store *store, struct slice bucket, struct slice key,
                        struct slice host, struct target *out)
{
    bool dotted = memchr(bucket.ptr, '.', bucket.len) != NULL;
    bool apart = store->aws && !dotted; // a certificate is for one level of names
    buf_init(&out->path, LIMIT_SIGN_HEAD);
    out->secure = store->secure;
    if (store->own)
        (void)snprintf(out->host, sizeof(out->host), "%.*s", SLICE_FMT(host));
    else if (apart)
        (void)snprintf(out->host, sizeof(out->host), "%.*s.%s", SLICE_FMT(bucket), store->host);
    else
        (void)snprintf(out->host, sizeof(out->host), "%s", store->host);
    buf_byte(&out->path, '/');
    if (!apart)
        buf_slice(&out->path, bucket);
    if (!apart && key.len > 0)
        buf_byte(&out->path, '/');
    sign_encode(&out->path, key, true);
}

static void url_write(const struct target *target, struct slice query, struct buf *out)
{
    buf_text(out, target->secure ? "https://" : "http://");
    buf_text(out, target->host);
    buf_slice(out, buf_view(&target->path));
    if (query.len > 0)
        buf_byte(out, '?');
    buf_slice(out, query);
}

static struct sign_scope scope_of(const struct s3_store *store)
{
    return (struct sign_scope){slice_str(store->region), SLICE_LIT("s3"),
                               store->env.now_ms(store->env.context) / 1000};
}

static void url_sign(struct s3_store *store, const char *method, const struct s3_object *object,
                     const struct sign_header *more, size_t count, unsigned seconds,
                     struct buf *out)
{
    struct target target;
    struct buf query;
    struct sign_header headers[4];
    const struct sign_scope scope = scope_of(store);
    target_init(store, bucket_of(store, object->bucket), object->key, object->host, &target);
    headers[0] = (struct sign_header){SLICE_LIT("host"), slice_str(target.host)};
    for (size_t i = 0; i < count; i++)
        headers[i + 1] = more[i];
    const struct sign_request request = {.method = slice_str(method),
                                         .path = buf_view(&target.path),
                                         .headers = headers,
                                         .header_count = count + 1};
    buf_init(&query, LIMIT_SIGN_HEAD);
    (void)pthread_mutex_lock(&store->lock);
    sign_by_query(&request, &scope, &store->credentials.keys, seconds, SLICE_LIT(SIGN_UNSIGNED),
                  store->cache, &query);
    (void)pthread_mutex_unlock(&store->lock);
    if (query.failed || target.path.failed)
        out->failed = true;
    else
        url_write(&target, buf_view(&query), out);
    buf_release(&query);
    buf_release(&target.path);
}

void s3_url_get(struct s3_store *store, const struct s3_object *object, unsigned seconds,
                struct buf *out)
{
    url_sign(store, "GET", object, NULL, 0, seconds, out);
}

void s3_url_put(struct s3_store *store, const struct s3_object *object,
                const struct s3_upload *upload, unsigned seconds, struct buf *out)
{
    struct sign_header headers[2];
    char number[24];
    size_t count = 0;
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)upload->size);
    if (upload->sized)
        headers[count++] = (struct sign_header){SLICE_LIT("content-length"), slice_str(number)};
    if (upload->type.len > 0)
        headers[count++] = (struct sign_header){SLICE_LIT("content-type"), upload->type};
    url_sign(store, "PUT", object, headers, count, seconds, out);
}

bool s3_form_make(struct s3_store *store, const struct s3_object *object,
                  const struct s3_upload *upload, unsigned seconds, struct arena *arena,
                  struct s3_form *out)
{
    struct target target;
    struct buf url;
    const struct sign_scope scope = scope_of(store);
    bool prefix = slice_ends(upload->type, SLICE_LIT("*"));
    struct slice type = slice_of(upload->type.ptr, upload->type.len - prefix);
    const struct sign_condition conditions[] = {
        {SLICE_LIT("key"), object->key, false},
        {SLICE_LIT("Content-Type"), type, prefix || type.len == 0},
    };
    const struct sign_policy policy = {
        .bucket = bucket_of(store, object->bucket),
        .conditions = conditions,
        .count = COUNT_OF(conditions),
        .range = {0, upload->most > 0 ? upload->most : UINT64_MAX},
        .expires_s = seconds,
    };
    target_init(store, policy.bucket, slice_of(NULL, 0), object->host, &target);
    buf_init(&url, LIMIT_SIGN_HEAD);
    url_write(&target, slice_of(NULL, 0), &url);
    bool ok = !target.path.failed;
    buf_release(&target.path);
    out->url = arena_keep(arena, &url);
    (void)pthread_mutex_lock(&store->lock);
    ok = ok && out->url.ptr != NULL &&
         sign_policy_make(&policy, &scope, &store->credentials.keys, store->cache, arena,
                          &out->fields);
    (void)pthread_mutex_unlock(&store->lock);
    return ok;
}

void s3_head_sign(struct s3_store *store, const struct s3_head *head, struct buf *url,
                  struct buf *lines)
{
    struct target target;
    struct sign_header headers[6];
    struct buf authorization;
    char date[SIGN_DATE];
    size_t count = 0;
    const struct sign_scope scope = scope_of(store);
    sign_date(scope.seconds, date);
    target_init(store, bucket_of(store, head->bucket), head->key, slice_str(store->self), &target);
    if (head->type.len > 0)
        headers[count++] = (struct sign_header){SLICE_LIT("content-type"), head->type};
    headers[count++] = (struct sign_header){SLICE_LIT("host"), slice_str(target.host)};
    headers[count++] = (struct sign_header){SLICE_LIT("x-amz-content-sha256"), head->payload};
    headers[count++] = (struct sign_header){SLICE_LIT("x-amz-date"), slice_str(date)};
    if (store->credentials.keys.token.len > 0)
        headers[count++] =
            (struct sign_header){SLICE_LIT("x-amz-security-token"), store->credentials.keys.token};
    const struct sign_request request = {head->method, buf_view(&target.path), head->query, headers,
                                         count};
    buf_init(&authorization, LIMIT_SIGN_HEAD);
    (void)pthread_mutex_lock(&store->lock);
    sign_by_header(&request, &scope, &store->credentials.keys, head->payload, store->cache,
                   &authorization);
    (void)pthread_mutex_unlock(&store->lock);
    for (size_t i = 0; i < count; i++) {
        buf_printf(lines, "%.*s: %.*s", SLICE_FMT(headers[i].name), SLICE_FMT(headers[i].value));
        buf_byte(lines, 0);
    }
    buf_printf(lines, "authorization: %.*s", SLICE_FMT(buf_view(&authorization)));
    buf_byte(lines, 0);
    buf_byte(lines, 0);
    url_write(&target, head->query, url);
    if (authorization.failed || target.path.failed)
        url->failed = true;
    buf_release(&authorization);
    buf_release(&target.path);
}
