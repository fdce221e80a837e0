// The CORS configuration of buckets: kept as its XML, and what it says of a request of a page.
#include "objects/s3.h"

#include "base/limits.h"

#include <strings.h>

// ---- Kept
// --------------------------------------------------------------------------------------------

struct config_job {
    struct meta_job job; // first
    struct s3 *s3;
    char kind;
    struct slice bytes; // empty: it goes
};

static bool config_run(struct meta_job *job, struct meta_group *group)
{
    struct config_job *own = (struct config_job *)job;
    struct record_key bucket = key_of_bucket('B', own->s3->bucket);
    struct record_key key = key_of_bucket(own->kind, own->s3->bucket);
    struct slice found;
    if (group_get(group, &bucket, &found) != STORE_FOUND)
        return s3_fail(own->s3, S3_NO_SUCH_BUCKET);
    if (own->bytes.len > 0)
        group_put(group, &key, own->bytes);
    else
        group_delete(group, &key);
    return true;
}

bool s3_config_set(struct s3 *s3, char kind, struct slice bytes)
{
    struct config_job own = {.job = {.run = config_run, .frees = bytes.len == 0},
                             .s3 = s3,
                             .kind = kind,
                             .bytes = bytes};
    return s3_committed(s3, meta_do(s3->objects->meta, &own.job));
}

void s3_config_get(struct s3 *s3, char kind, enum s3_error absent)
{
    struct record_key key = key_of_bucket(kind, s3->bucket);
    struct slice bytes;
    if (s3_look(s3, &key, &bytes) != STORE_FOUND) {
        (void)s3_fail(s3, absent);
        return;
    }
    buf_slice(&s3->out, bytes);
    s3_answer_xml(s3, 200);
}

// ---- Judged
// ------------------------------------------------------------------------------------------

static bool rule_valid(struct s3 *s3, const struct xml *rule)
{
    static const char *const methods[] = {"GET", "PUT", "POST", "DELETE", "HEAD"};
    size_t origins = 0;
    size_t allowed = 0;
    uint64_t seconds;
    if (!slice_is(rule->name, "CORSRule"))
        return s3_fail(s3, S3_MALFORMED_XML);
    for (const struct xml *node = rule->children; node != NULL; node = node->next) {
        bool known = false;
        if (!s3_value_valid(node->text) || node->children != NULL)
            return s3_fail(s3, S3_MALFORMED_XML);
        const uint8_t *star = memchr(node->text.ptr, '*', node->text.len);
        size_t behind = star == NULL ? 0 : (size_t)(node->text.ptr + node->text.len - star) - 1;
        if (behind > 0 && memchr(star + 1, '*', behind) != NULL)
            return s3_fail(s3, S3_MALFORMED_XML); // one at most
        origins += slice_is(node->name, "AllowedOrigin") && node->text.len > 0;
        if (slice_is(node->name, "MaxAgeSeconds") &&
            !s3_parse_number(node->text, INT32_MAX, &seconds))
            return s3_fail(s3, S3_MALFORMED_XML);
        if (!slice_is(node->name, "AllowedMethod"))
            continue;
        for (size_t i = 0; i < COUNT_OF(methods); i++)
            known = known || slice_is(node->text, methods[i]);
        if (!known)
            return s3_fail_about(s3, S3_CORS_METHOD, node->text);
        allowed++;
    }
    return (origins > 0 && allowed > 0) || s3_fail(s3, S3_MALFORMED_XML);
}

void s3_put_cors(struct s3 *s3)
{
    struct slice body = buf_view(&s3->body);
    const struct xml *root = xml_read(body, &s3->arena);
    size_t count = 0;
    if (root == NULL || !slice_is(root->name, "CORSConfiguration") || root->children == NULL ||
        body.len > LIMIT_OBJECT_CONFIG) {
        (void)s3_fail(s3, S3_MALFORMED_XML);
        return;
    }
    for (const struct xml *rule = root->children; rule != NULL; rule = rule->next) {
        if (++count > LIMIT_OBJECT_CORS_RULES)
            (void)s3_fail(s3, S3_TOO_MANY_RULES);
        if (!s3_ok(s3) || !rule_valid(s3, rule))
            return;
    }
    if (s3_config_set(s3, 'C', body))
        s3_answer_empty(s3, 200);
}

void s3_get_cors(struct s3 *s3)
{
    s3_config_get(s3, 'C', S3_NO_SUCH_CORS);
}

void s3_delete_cors(struct s3 *s3)
{
    if (s3_config_set(s3, 'C', slice_of(NULL, 0)))
        s3_answer_empty(s3, 204);
}

// ---- At work
// -------------------------------------------------------------------------------------------

// "https://*.example" and the like; in small letters or not.
static bool wild_match(struct slice pattern, struct slice text)
{
    struct slice suffix = pattern;
    struct slice prefix = slice_cut(&suffix, '*');
    if (prefix.len == pattern.len)
        return pattern.len == text.len &&
               strncasecmp((const char *)pattern.ptr, (const char *)text.ptr, text.len) == 0;
    return text.len >= prefix.len + suffix.len &&
           strncasecmp((const char *)prefix.ptr, (const char *)text.ptr, prefix.len) == 0 &&
           strncasecmp((const char *)suffix.ptr, (const char *)text.ptr + text.len - suffix.len,
                       suffix.len) == 0;
}

static const struct xml *rule_word(const struct xml *rule, const char *name, struct slice text)
{
    const struct xml *node = xml_find(rule->children, name);
    while (node != NULL && !wild_match(node->text, text))
        node = xml_find(node->next, name);
    return node;
}

static bool headers_allowed(const struct xml *rule, const struct slice *asked)
{
    struct slice rest = asked == NULL ? slice_of(NULL, 0) : *asked;
    while (rest.len > 0) {
        struct slice header = slice_trim(slice_cut(&rest, ','));
        if (header.len > 0 && rule_word(rule, "AllowedHeader", header) == NULL)
            return false;
    }
    return true;
}

// The words of a kind, in one header.
static void add_list(struct s3 *s3, const struct xml *rule, const char *name, const char *header)
{
    const struct xml *node = xml_find(rule->children, name);
    if (node == NULL)
        return;
    buf_printf(&s3->headers, "%s: ", header);
    for (const char *between = ""; node != NULL; node = xml_find(node->next, name)) {
        buf_text(&s3->headers, between);
        buf_slice(&s3->headers, node->text);
        between = ", ";
    }
    buf_text(&s3->headers, "\r\n");
}

static void add_rule(struct s3 *s3, const struct xml *rule, struct slice origin, bool preflight)
{
    const struct xml *matched = rule_word(rule, "AllowedOrigin", origin);
    bool any = slice_is(matched->text, "*");
    struct slice age = xml_text(rule, "MaxAgeSeconds");
    const struct slice *asked = s3_header(s3, "access-control-request-headers");
    s3_add_header(s3, "Access-Control-Allow-Origin", any ? matched->text : origin);
    if (!any)
        s3_add_header(s3, "Access-Control-Allow-Credentials", SLICE_LIT("true"));
    add_list(s3, rule, "AllowedMethod", "Access-Control-Allow-Methods");
    add_list(s3, rule, "ExposeHeader", "Access-Control-Expose-Headers");
    if (preflight && asked != NULL)
        s3_add_header(s3, "Access-Control-Allow-Headers", *asked);
    if (age.len > 0)
        s3_add_header(s3, "Access-Control-Max-Age", age);
    s3_add_header(s3, "Vary",
                  SLICE_LIT("Origin, Access-Control-Request-Headers, "
                            "Access-Control-Request-Method"));
}

// The first rule that lets the page do what it asks for; NULL if none does. *any: there are rules.
static const struct xml *rule_find(struct s3 *s3, struct slice origin, struct slice method,
                                   bool preflight, bool *any)
{
    struct record_key key = key_of_bucket('C', s3->bucket);
    struct slice bytes;
    *any = s3_look(s3, &key, &bytes) == STORE_FOUND;
    const struct xml *root = *any ? xml_read(bytes, &s3->arena) : NULL;
    const struct slice *asked = preflight ? s3_header(s3, "access-control-request-headers") : NULL;
    const struct xml *rule = root == NULL ? NULL : root->children;
    while (rule != NULL &&
           (rule_word(rule, "AllowedOrigin", origin) == NULL ||
            rule_word(rule, "AllowedMethod", method) == NULL || !headers_allowed(rule, asked)))
        rule = rule->next;
    return rule;
}

// A page that the server's own options let in.
static void add_server_rule(struct s3 *s3, struct slice origin, struct slice method)
{
    const struct slice *asked = s3_header(s3, "access-control-request-headers");
    s3_add_header(s3, "Access-Control-Allow-Origin", origin);
    s3_add_header(s3, "Access-Control-Expose-Headers", SLICE_LIT("ETag, x-amz-request-id"));
    s3_add_header(s3, "Access-Control-Allow-Methods", method);
    if (asked != NULL)
        s3_add_header(s3, "Access-Control-Allow-Headers", *asked);
    s3_add_header(s3, "Vary", SLICE_LIT("Origin"));
}

void s3_apply_cors(struct s3 *s3)
{
    const struct slice *origin = http_header(s3->request, HTTP_ORIGIN);
    bool preflight = slice_is(s3->request->method, "OPTIONS");
    const struct slice *method =
        preflight ? s3_header(s3, "access-control-request-method") : &s3->request->method;
    bool any;
    if (preflight && (origin == NULL || method == NULL)) {
        (void)s3_fail(s3, S3_CORS_REQUEST);
        return;
    }
    if (origin == NULL || s3->bucket.len == 0)
        return;
    const struct xml *rule = rule_find(s3, *origin, *method, preflight, &any);
    s3->page_allowed = rule != NULL || !s3->foreign;
    if (rule != NULL)
        add_rule(s3, rule, *origin, preflight);
    else if (!s3->foreign)
        add_server_rule(s3, *origin, *method);
    else if (preflight)
        (void)s3_fail(s3, any ? S3_CORS_FORBIDDEN : S3_CORS_DISABLED);
    else if (!s3->signer && s3->operation->body != S3_FORM)
        (void)s3_fail(s3, S3_ACCESS_DENIED); // whoever opened the page has not asked for this
}

void s3_preflight(struct s3 *s3)
{
    s3_answer_empty(s3, 200);
}
