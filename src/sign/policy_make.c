// See policy.h: a policy for the forms that somebody else will post.
#include "sign/policy.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "sign/sign_internal.h"
#include "json/writer.h"

static void condition_add(struct json_writer *w, struct slice name, struct slice value)
{
    json_open_object(w);
    json_name_slice(w, name);
    json_string(w, value);
    json_close_object(w);
}

static void prefix_add(struct json_writer *w, struct slice name, struct slice value)
{
    struct buf key;
    buf_init(&key, LIMIT_SIGN_HEAD);
    buf_byte(&key, '$');
    buf_slice(&key, name);
    json_open_array(w);
    json_text(w, "starts-with");
    json_string(w, buf_view(&key));
    json_string(w, value);
    json_close_array(w);
    buf_release(&key);
}

static void document_write(const struct sign_policy *policy, int64_t now,
                           const struct sign_policy_fields *fields, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    char end[TIME_TEXT];
    time_text((now + (int64_t)policy->expires_s) * 1000, end);
    json_open_object(&w);
    json_put_text(&w, "expiration", end);
    json_put_array(&w, "conditions");
    condition_add(&w, SLICE_LIT("bucket"), policy->bucket);
    for (size_t i = 0; i < policy->count; i++) {
        const struct sign_condition *condition = &policy->conditions[i];
        if (condition->prefix)
            prefix_add(&w, condition->name, condition->value);
        else
            condition_add(&w, condition->name, condition->value);
    }
    condition_add(&w, SLICE_LIT("x-amz-algorithm"), fields->algorithm);
    condition_add(&w, SLICE_LIT("x-amz-credential"), fields->credential);
    condition_add(&w, SLICE_LIT("x-amz-date"), fields->date);
    if (fields->token.len > 0)
        condition_add(&w, SLICE_LIT("x-amz-security-token"), fields->token);
    if (policy->range.most != UINT64_MAX) {
        json_open_array(&w);
        json_text(&w, "content-length-range");
        json_i64(&w, (int64_t)policy->range.least);
        json_i64(&w, (int64_t)policy->range.most);
        json_close_array(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

bool sign_policy_make(const struct sign_policy *policy, const struct sign_scope *scope,
                      const struct sign_keys *keys, struct sign_cache *cache, struct arena *arena,
                      struct sign_policy_fields *out)
{
    char date[SIGN_DATE];
    char signature[SIGN_HEX];
    struct buf document;
    struct buf encoded;
    sign_date(scope->seconds, date);
    char *credential =
        arena_printf(arena, "%.*s/%.8s/%.*s/%.*s/" SIGN_TERMINATOR, SLICE_FMT(keys->access_key),
                     date, SLICE_FMT(scope->region), SLICE_FMT(scope->service));
    struct sign_policy_fields fields = {.algorithm = SLICE_LIT(SIGN_ALGORITHM),
                                        .date = arena_copy(arena, slice_str(date)),
                                        .token = keys->token};
    if (credential == NULL || fields.date.ptr == NULL)
        return false;
    fields.credential = slice_str(credential);
    buf_init(&document, SIGN_POLICY_MAX);
    buf_init(&encoded, SIGN_POLICY_MAX);
    document_write(policy, scope->seconds, &fields, &document);
    base64_encode(&encoded, buf_view(&document));
    bool ok = !document.failed && !encoded.failed;
    buf_release(&document);
    fields.policy = arena_keep(arena, &encoded);
    if (!ok || fields.policy.ptr == NULL)
        return false;
    sign_text(fields.policy, scope, keys->secret_key, cache, signature);
    fields.signature = arena_copy(arena, slice_of(signature, sizeof(signature)));
    *out = fields;
    return fields.signature.ptr != NULL;
}
