// See policy.h: the fields of a form, and what its policy says of them.
//
//   {"expiration": "2026-12-01T12:00:00.000Z",
//    "conditions": [{"bucket": "b"}, ["eq", "$acl", "private"], ["starts-with", "$key", "user/"],
//                   ["content-length-range", 1, 1048576]]}
//
// Each condition has to hold, and each field has to have one, but for the signature, the policy,
// and those that begin with x-ignore-.
#include "sign/policy.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "sign/sign_internal.h"
#include "json/reader.h"

#include <openssl/crypto.h>

static bool name_same(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        uint8_t x = a.ptr[i];
        uint8_t y = b.ptr[i];
        x = x >= 'A' && x <= 'Z' ? (uint8_t)(x | 0x20) : x;
        y = y >= 'A' && y <= 'Z' ? (uint8_t)(y | 0x20) : y;
        if (x != y)
            return false;
    }
    return true;
}

static size_t field_find(const struct sign_form_fields *form, struct slice name,
                         struct slice *value)
{
    size_t count = 0;
    for (size_t i = 0; i < form->count; i++)
        if (name_same(form->fields[i].name, name) && count++ == 0)
            *value = form->fields[i].value;
    return count;
}

// ---- The signature -------------------------------------------------------------------------

enum sign_result sign_policy_read(const struct sign_form_fields *form,
                                  const struct sign_rules *rules, struct arena *arena,
                                  struct sign_claim *claim)
{
    struct slice policy = slice_of(NULL, 0);
    struct slice algorithm = slice_of(NULL, 0);
    struct slice credential = slice_of(NULL, 0);
    struct slice date = slice_of(NULL, 0);
    (void)arena;
    *claim = (struct sign_claim){.form = SIGN_IN_QUERY, .payload = SIGN_PAYLOAD_UNSIGNED};
    size_t policies = field_find(form, SLICE_LIT("policy"), &policy);
    size_t signatures = field_find(form, SLICE_LIT("x-amz-signature"), &claim->signature);
    if (policies == 0 && signatures == 0)
        return SIGN_NONE;
    if (policies != 1 || signatures != 1 ||
        field_find(form, SLICE_LIT("x-amz-algorithm"), &algorithm) != 1 ||
        field_find(form, SLICE_LIT("x-amz-credential"), &credential) != 1 ||
        field_find(form, SLICE_LIT("x-amz-date"), &date) != 1 ||
        field_find(form, SLICE_LIT("x-amz-security-token"), &claim->token) > 1)
        return SIGN_QUERY_MALFORMED;
    if (!slice_is(algorithm, SIGN_ALGORITHM))
        return SIGN_QUERY_ALGORITHM;
    claim->fault = date;
    if (!sign_date_read(date, claim))
        return SIGN_DATE_MALFORMED;
    claim->fault = slice_of(NULL, 0);
    return sign_credential_read(credential, rules, claim);
}

// ---- Conditions ----------------------------------------------------------------------------

struct judge {
    const struct sign_form_fields *form;
    struct sign_claim *claim;
    struct sign_range *range;
    size_t count;
    bool *covered; // for each field
};

// A list of types, of which each has to begin so.
static bool types_begin(struct slice value, struct slice prefix)
{
    do {
        if (!slice_begins(slice_trim(slice_cut(&value, ',')), prefix))
            return false;
    } while (value.len > 0);
    return true;
}

static bool value_fits(struct slice name, struct slice value, struct slice wanted, bool prefix)
{
    if (!prefix)
        return slice_equal(value, wanted);
    return name_same(name, SLICE_LIT("content-type")) ? types_begin(value, wanted)
                                                      : slice_begins(value, wanted);
}

static enum sign_result condition_judge(struct judge *judge, struct slice name, struct slice wanted,
                                        bool prefix)
{
    size_t count = 0;
    judge->claim->fault = name;
    if (name_same(name, SLICE_LIT("bucket"))) {
        if (!value_fits(name, judge->form->bucket, wanted, prefix))
            return SIGN_POLICY_CONDITION;
        count = 1;
    }
    for (size_t i = 0; i < judge->form->count; i++) {
        const struct sign_field *field = &judge->form->fields[i];
        if (!name_same(field->name, name))
            continue;
        if (!value_fits(name, field->value, wanted, prefix))
            return SIGN_POLICY_CONDITION;
        judge->covered[i] = true;
        count++;
    }
    // A field that is not there is as one that is empty.
    return count > 0 || (prefix && wanted.len == 0) ? SIGN_OK : SIGN_POLICY_CONDITION;
}

// {"acl": "public-read"}
static enum sign_result object_judge(struct judge *judge, struct json_reader *r)
{
    struct slice name;
    struct slice value;
    if (!json_enter(r))
        return SIGN_POLICY_MALFORMED;
    while (json_next_name(r, &name)) {
        if (json_peek(r) != JSON_STRING || !json_read_string(r, &value))
            return SIGN_POLICY_MALFORMED;
        enum sign_result result = condition_judge(judge, name, value, false);
        if (result != SIGN_OK)
            return result;
    }
    return r->error == NULL ? SIGN_OK : SIGN_POLICY_MALFORMED;
}

// Numbers may stand in quotes.
static bool element_number(struct json_reader *r, uint64_t *out)
{
    struct slice text;
    uint64_t number = 0;
    if (!json_next_element(r))
        return false;
    if (!(json_peek(r) == JSON_STRING ? json_read_string(r, &text)
                                      : json_peek(r) == JSON_NUMBER && json_read_number(r, &text)))
        return false;
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = number;
    return true;
}

static bool element_text(struct json_reader *r, struct slice *out)
{
    return json_next_element(r) && json_peek(r) == JSON_STRING && json_read_string(r, out);
}

static bool range_read(struct judge *judge, struct json_reader *r)
{
    uint64_t least;
    uint64_t most;
    if (!element_number(r, &least) || !element_number(r, &most) || least > most ||
        json_next_element(r))
        return false;
    if (least > judge->range->least)
        judge->range->least = least;
    if (most < judge->range->most)
        judge->range->most = most;
    return r->error == NULL;
}

// ["eq", "$acl", "public-read"]
static enum sign_result list_judge(struct judge *judge, struct json_reader *r)
{
    struct slice kind;
    struct slice name;
    struct slice value;
    if (!json_enter(r) || !element_text(r, &kind))
        return SIGN_POLICY_MALFORMED;
    if (name_same(kind, SLICE_LIT("content-length-range")))
        return range_read(judge, r) ? SIGN_OK : SIGN_POLICY_MALFORMED;
    bool prefix = name_same(kind, SLICE_LIT("starts-with"));
    if ((!prefix && !name_same(kind, SLICE_LIT("eq"))) || !element_text(r, &name) ||
        !element_text(r, &value) || json_next_element(r) || r->error != NULL || name.len < 2 ||
        name.ptr[0] != '$')
        return SIGN_POLICY_MALFORMED;
    return condition_judge(judge, slice_of(name.ptr + 1, name.len - 1), value, prefix);
}

static enum sign_result conditions_judge(struct judge *judge, struct json_reader *r)
{
    if (json_peek(r) != JSON_ARRAY || !json_enter(r))
        return SIGN_POLICY_MALFORMED;
    while (json_next_element(r)) {
        enum json_kind kind = json_peek(r);
        enum sign_result result = ++judge->count > SIGN_POLICY_CONDITIONS ? SIGN_POLICY_MALFORMED
                                  : kind == JSON_OBJECT                   ? object_judge(judge, r)
                                  : kind == JSON_ARRAY                    ? list_judge(judge, r)
                                                                          : SIGN_POLICY_MALFORMED;
        if (result != SIGN_OK)
            return result;
    }
    return r->error == NULL ? SIGN_OK : SIGN_POLICY_MALFORMED;
}

static bool needs_condition(struct slice name)
{
    static const char *const free[] = {"policy", "x-amz-signature", "file"};
    for (size_t i = 0; i < COUNT_OF(free); i++)
        if (name_same(name, slice_str(free[i])))
            return false;
    return name.len < 9 || !name_same(slice_of(name.ptr, 9), SLICE_LIT("x-ignore-"));
}

static enum sign_result fields_judge(const struct judge *judge)
{
    for (size_t i = 0; i < judge->form->count; i++) {
        struct slice name = judge->form->fields[i].name;
        if (judge->covered[i] || !needs_condition(name))
            continue;
        judge->claim->fault = name;
        return SIGN_POLICY_EXTRA;
    }
    return SIGN_OK;
}

// ---- The document --------------------------------------------------------------------------

static enum sign_result document_judge(struct judge *judge, struct json_reader *r, int64_t now)
{
    struct slice name;
    struct slice text;
    int64_t end_ms = 0;
    bool ends = false;
    bool listed = false;
    if (json_peek(r) != JSON_OBJECT || !json_enter(r))
        return SIGN_POLICY_MALFORMED;
    while (json_next_name(r, &name)) {
        bool expiration = slice_is(name, "expiration");
        if (expiration && !ends && json_peek(r) == JSON_STRING && json_read_string(r, &text) &&
            time_parse(text, &end_ms)) {
            ends = true;
        } else if (!expiration && slice_is(name, "conditions") && !listed) {
            listed = true;
            enum sign_result own = conditions_judge(judge, r);
            if (own == SIGN_POLICY_MALFORMED)
                return own;
            if (own != SIGN_OK) // nothing behind it can make it good
                return ends && end_ms / 1000 < now ? SIGN_POLICY_EXPIRED : own;
        } else {
            return SIGN_POLICY_MALFORMED;
        }
    }
    if (r->error != NULL || !json_at_end(r) || !ends || !listed)
        return SIGN_POLICY_MALFORMED;
    if (end_ms / 1000 < now)
        return SIGN_POLICY_EXPIRED;
    return fields_judge(judge);
}

enum sign_result sign_policy_check(const struct sign_form_fields *form, struct sign_claim *claim,
                                   const struct sign_rules *rules, struct slice secret_key,
                                   struct sign_cache *cache, struct arena *arena,
                                   struct sign_range *range)
{
    struct slice policy = slice_of(NULL, 0);
    const struct sign_scope scope = {claim->region, claim->service, claim->seconds};
    char signature[SIGN_HEX];
    struct json_reader reader;
    struct buf text;
    *range = (struct sign_range){0, UINT64_MAX};
    (void)field_find(form, SLICE_LIT("policy"), &policy);
    sign_text(policy, &scope, secret_key, cache, signature);
    if (claim->signature.len != SIGN_HEX ||
        CRYPTO_memcmp(claim->signature.ptr, signature, SIGN_HEX) != 0)
        return SIGN_MISMATCH;
    struct judge judge = {.form = form,
                          .claim = claim,
                          .range = range,
                          .covered = arena_zalloc(arena, form->count + 1, sizeof(bool))};
    if (judge.covered == NULL)
        return SIGN_MEMORY;
    buf_init(&text, SIGN_POLICY_MAX);
    enum sign_result result = SIGN_POLICY_MALFORMED;
    if (base64_decode(&text, policy)) {
        struct slice document = arena_copy(arena, buf_view(&text));
        json_reader_init(&reader, document, arena);
        result = document.ptr == NULL ? SIGN_MEMORY : document_judge(&judge, &reader, rules->now);
    }
    buf_release(&text);
    return result;
}
