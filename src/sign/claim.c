// What a request says of its signature: the Authorization header, or parameters of the query. Each
// part is there once and bounded, or the request is refused with the reason that the service gives.
#include "base/encode.h"
#include "base/time_text.h"
#include "sign/sign_internal.h"

#include <stdio.h>

enum { EXPIRES_MAX = 604800 };

static enum sign_result blame(struct sign_claim *claim, struct slice fault, enum sign_result result)
{
    claim->fault = fault;
    return result;
}

// ---- Dates ---------------------------------------------------------------------------------

static bool digits_only(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len > 0;
}

// 20150830T123600Z
static bool date_read_short(struct slice text, int64_t *ms)
{
    const char *t = (const char *)text.ptr;
    if (text.len != SIGN_DATE - 1 || t[8] != 'T' || t[15] != 'Z')
        return false;
    const char full[] = {t[0], t[1], t[2],  t[3], '-',   t[4],  t[5], '-',   t[6],  t[7],
                         'T',  t[9], t[10], ':',  t[11], t[12], ':',  t[13], t[14], 'Z'};
    return time_parse(slice_of(full, sizeof(full)), ms);
}

// Sun, 30 Aug 2015 12:36:00 GMT
static bool date_read_http(struct slice text, int64_t *ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *t = (const char *)text.ptr;
    char full[24];
    unsigned month = 0;
    if (text.len != 29 || memcmp(t + 3, ", ", 2) != 0 || memcmp(t + 25, " GMT", 4) != 0)
        return false;
    while (month < 12 && memcmp(t + 8, &months[3 * (size_t)month], 3) != 0)
        month++;
    if (month == 12)
        return false;
    (void)snprintf(full, sizeof(full), "%.4s-%02u-%.2sT%.8sZ", t + 12, (month + 1) % 100, t + 5,
                   t + 17);
    return time_parse(slice_str(full), ms);
}

bool sign_date_read(struct slice text, struct sign_claim *claim)
{
    int64_t ms;
    bool brief = date_read_short(text, &ms);
    if (!brief && !date_read_http(text, &ms))
        return false;
    claim->seconds = ms / 1000;
    if (brief)
        memcpy(claim->date, text.ptr, SIGN_DATE - 1); // as it is signed
    else
        sign_date(claim->seconds, claim->date);
    claim->date[SIGN_DATE - 1] = 0;
    return true;
}

// ---- The credential ------------------------------------------------------------------------

static bool name_valid(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] >= 0x7f)
            return false;
    return name.len > 0 && name.len <= LIMIT_SIGN_NAME;
}

enum sign_result sign_credential_read(struct slice credential, const struct sign_rules *rules,
                                      struct sign_claim *claim)
{
    struct slice rest = credential;
    claim->access_key = slice_cut(&rest, '/');
    claim->day = slice_cut(&rest, '/');
    claim->region = slice_cut(&rest, '/');
    claim->service = slice_cut(&rest, '/');
    if (!name_valid(claim->access_key) || claim->day.len != SIGN_DAY || !digits_only(claim->day) ||
        !name_valid(claim->region) || !name_valid(claim->service) || !name_valid(rest))
        return blame(claim, credential, SIGN_CREDENTIAL_MALFORMED);
    if (!slice_is(rest, SIGN_TERMINATOR))
        return blame(claim, rest, SIGN_TERMINAL);
    if (!slice_equal(claim->service, rules->service))
        return blame(claim, claim->service, SIGN_SERVICE);
    if (rules->region.len > 0 && !slice_equal(claim->region, rules->region))
        return blame(claim, claim->region, SIGN_REGION);
    if (!slice_equal(claim->day, slice_of(claim->date, SIGN_DAY)))
        return blame(claim, claim->day, SIGN_DAY_WRONG);
    return SIGN_OK;
}

// ---- The headers that are signed -----------------------------------------------------------

static bool listed(struct slice names, struct slice name)
{
    while (names.len > 0)
        if (sign_name_equal(name, slice_cut(&names, ';')))
            return true;
    return false;
}

static bool header_name_valid(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        if (c <= ' ' || c >= 0x7f || (c >= 'A' && c <= 'Z') || c == ':' || c == ',')
            return false;
    }
    return name.len > 0;
}

static enum sign_result signed_headers_judge(const struct sign_request *request, bool s3,
                                             struct sign_claim *claim)
{
    struct slice rest = claim->signed_headers;
    struct slice before = slice_of("", 0);
    size_t count = 0;
    if (slice_ends(rest, SLICE_LIT(";")))
        return blame(claim, rest, SIGN_HEADERS_MALFORMED);
    while (rest.len > 0) {
        struct slice name = slice_cut(&rest, ';');
        if (!header_name_valid(name) || slice_compare(before, name) >= 0 ||
            ++count > LIMIT_SIGN_HEADERS)
            return blame(claim, claim->signed_headers, SIGN_HEADERS_MALFORMED);
        before = name;
    }
    if (!listed(claim->signed_headers, SLICE_LIT("host")))
        return blame(claim, SLICE_LIT("host"), SIGN_HEADERS_UNSIGNED);
    static const struct slice amz = {(const uint8_t *)"x-amz-", 6};
    for (size_t i = 0; s3 && i < request->header_count; i++) {
        struct slice name = request->headers[i].name;
        if (name.len > amz.len && sign_name_equal(slice_of(name.ptr, amz.len), amz) &&
            !listed(claim->signed_headers, name))
            return blame(claim, name, SIGN_HEADERS_UNSIGNED);
    }
    return SIGN_OK;
}

// ---- The body ------------------------------------------------------------------------------

static bool number_read(struct slice text, uint64_t *out)
{
    uint64_t number = 0;
    if (!digits_only(text) || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    *out = number;
    return true;
}

static bool hash_read(struct slice text, uint8_t out[SIGN_HASH])
{
    if (text.len != SIGN_HEX)
        return false;
    for (size_t i = 0; i < SIGN_HASH; i++) {
        int high = hex_digit(text.ptr[2 * i]);
        int low = hex_digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum sign_result chunks_read(const struct sign_request *request, struct sign_claim *claim)
{
    struct slice length = slice_of(NULL, 0);
    if (sign_header_find(request, SLICE_LIT("x-amz-decoded-content-length"), &length) != 1 ||
        !number_read(length, &claim->decoded_length))
        return blame(claim, SLICE_LIT("x-amz-decoded-content-length"), SIGN_LENGTH_MISSING);
    (void)sign_header_find(request, SLICE_LIT("x-amz-trailer"), &claim->trailer);
    return SIGN_OK;
}

// S3 is told in a header (or, of a presigned request, in the query) what is signed for the body.
static enum sign_result payload_read(const struct sign_request *request, struct sign_claim *claim,
                                     struct slice in_query)
{
    static const struct {
        const char *word;
        enum sign_payload payload;
    } words[] = {
        {SIGN_UNSIGNED, SIGN_PAYLOAD_UNSIGNED},
        {SIGN_STREAMING, SIGN_PAYLOAD_CHUNKS},
        {SIGN_STREAMING_TRAILER, SIGN_PAYLOAD_CHUNKS_TRAILER},
        {SIGN_STREAMING_UNSIGNED, SIGN_PAYLOAD_CHUNKS_UNSIGNED},
    };
    struct slice text = in_query;
    size_t count = sign_header_find(request, SLICE_LIT("x-amz-content-sha256"), &text);
    if (count > 1)
        return blame(claim, SLICE_LIT("x-amz-content-sha256"), SIGN_PAYLOAD_MALFORMED);
    if (count == 0 && claim->form == SIGN_IN_HEADER)
        return blame(claim, SLICE_LIT("x-amz-content-sha256"), SIGN_PAYLOAD_MISSING);
    if (in_query.len > 0)
        text = in_query;
    else if (count == 0)
        text = SLICE_LIT(SIGN_UNSIGNED);
    claim->payload_text = text;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!slice_is(text, words[i].word))
            continue;
        claim->payload = words[i].payload;
        return claim->payload == SIGN_PAYLOAD_UNSIGNED ? SIGN_OK : chunks_read(request, claim);
    }
    claim->payload = SIGN_PAYLOAD_HASHED;
    return hash_read(text, claim->hash) ? SIGN_OK : blame(claim, text, SIGN_PAYLOAD_MALFORMED);
}

// ---- The header form -----------------------------------------------------------------------

static bool word_is(struct slice word, struct slice name, struct slice *value, unsigned *seen)
{
    if (word.len <= name.len || word.ptr[name.len] != '=' || !slice_begins(word, name))
        return false;
    *value = slice_of(word.ptr + name.len + 1, word.len - name.len - 1);
    (*seen)++;
    return true;
}

// Credential, SignedHeaders and Signature, once each, in any order, with commas, blanks or both
// between them.
static bool authorization_split(struct slice rest, struct slice *credential,
                                struct sign_claim *claim)
{
    unsigned seen[3] = {0};
    while (rest.len > 0) {
        struct slice phrase = slice_cut(&rest, ',');
        while (phrase.len > 0) {
            struct slice word = slice_cut(&phrase, ' ');
            if (word.len > 0 && !word_is(word, SLICE_LIT("Credential"), credential, &seen[0]) &&
                !word_is(word, SLICE_LIT("SignedHeaders"), &claim->signed_headers, &seen[1]) &&
                !word_is(word, SLICE_LIT("Signature"), &claim->signature, &seen[2]))
                return false;
        }
    }
    return seen[0] == 1 && seen[1] == 1 && seen[2] == 1;
}

static enum sign_result header_read(const struct sign_request *request, struct slice header,
                                    const struct sign_rules *rules, struct sign_claim *claim)
{
    struct slice rest = header;
    struct slice algorithm = slice_cut(&rest, ' ');
    struct slice credential = slice_of(NULL, 0);
    struct slice date = slice_of(NULL, 0);
    bool old = slice_is(algorithm, "AWS") || slice_begins(algorithm, SLICE_LIT("AWS4-"));
    if (!slice_is(algorithm, SIGN_ALGORITHM))
        return blame(claim, algorithm, old ? SIGN_MECHANISM : SIGN_ALGORITHM_UNKNOWN);
    if (!authorization_split(rest, &credential, claim))
        return blame(claim, header, SIGN_HEADER_MALFORMED);
    size_t dates = sign_header_find(request, SLICE_LIT("x-amz-date"), &date);
    if (dates == 0)
        dates = sign_header_find(request, SLICE_LIT("date"), &date);
    if (dates != 1 || !sign_date_read(date, claim))
        return blame(claim, date, SIGN_DATE_MISSING);
    enum sign_result result = sign_credential_read(credential, rules, claim);
    if (result != SIGN_OK)
        return result;
    if (claim->seconds > rules->now + rules->skew_s || claim->seconds < rules->now - rules->skew_s)
        return SIGN_SKEWED;
    if (sign_header_find(request, SLICE_LIT("x-amz-security-token"), &claim->token) > 1)
        return blame(claim, claim->token, SIGN_TOKEN);
    return SIGN_OK;
}

// ---- The query form ------------------------------------------------------------------------

enum query_part {
    PART_ALGORITHM,
    PART_CREDENTIAL,
    PART_DATE,
    PART_EXPIRES,
    PART_SIGNED,
    PART_SIGNATURE,
    PART_TOKEN,
    PART_HASH,
    PART_COUNT,
};

static const char *const part_names[PART_COUNT] = {
    "X-Amz-Algorithm",     "X-Amz-Credential", "X-Amz-Date",           "X-Amz-Expires",
    "X-Amz-SignedHeaders", "X-Amz-Signature",  "X-Amz-Security-Token", "X-Amz-Content-Sha256",
};

static bool decode(struct slice text, struct arena *arena, struct slice *out)
{
    struct buf plain;
    buf_init(&plain, LIMIT_SIGN_HEAD);
    if (!sign_decode(&plain, text, true)) {
        buf_release(&plain);
        return false;
    }
    *out = arena_keep(arena, &plain);
    return out->ptr != NULL;
}

// Finds the parameters, decoded; false if one is there twice or cannot be decoded.
static bool query_split(struct slice query, struct arena *arena, struct slice parts[PART_COUNT])
{
    while (query.len > 0) {
        struct slice value = slice_cut(&query, '&');
        struct slice name = slice_cut(&value, '=');
        for (size_t i = 0; i < PART_COUNT; i++) {
            if (!slice_is(name, part_names[i]))
                continue;
            if (parts[i].ptr != NULL || !decode(value, arena, &parts[i]))
                return false;
        }
    }
    return true;
}

static enum sign_result expires_judge(struct slice text, const struct sign_rules *rules,
                                      struct sign_claim *claim)
{
    uint64_t seconds;
    bool minus = slice_begins(text, SLICE_LIT("-"));
    if (minus && digits_only(slice_of(text.ptr + 1, text.len - 1)))
        return blame(claim, text, SIGN_EXPIRES_NEGATIVE);
    if (!digits_only(text))
        return blame(claim, text, SIGN_EXPIRES_NUMBER);
    if (!number_read(text, &seconds) || seconds > EXPIRES_MAX)
        return blame(claim, text, SIGN_EXPIRES_LONG);
    if (seconds == 0)
        return blame(claim, text, SIGN_EXPIRES_NEGATIVE);
    claim->expires_s = (int64_t)seconds;
    if (claim->seconds > rules->now + rules->skew_s)
        return SIGN_NOT_YET;
    return rules->now > claim->seconds + claim->expires_s ? SIGN_EXPIRED : SIGN_OK;
}

static enum sign_result query_read(struct slice parts[PART_COUNT], const struct sign_rules *rules,
                                   struct sign_claim *claim)
{
    for (size_t i = PART_ALGORITHM; i <= PART_SIGNATURE; i++)
        if (parts[i].len == 0)
            return blame(claim, slice_str(part_names[i]), SIGN_QUERY_MALFORMED);
    if (!slice_is(parts[PART_ALGORITHM], SIGN_ALGORITHM))
        return blame(claim, parts[PART_ALGORITHM], SIGN_QUERY_ALGORITHM);
    claim->signed_headers = parts[PART_SIGNED];
    claim->signature = parts[PART_SIGNATURE];
    claim->token = parts[PART_TOKEN];
    if (parts[PART_DATE].len != SIGN_DATE - 1 || !sign_date_read(parts[PART_DATE], claim))
        return blame(claim, parts[PART_DATE], SIGN_DATE_MALFORMED);
    enum sign_result result = sign_credential_read(parts[PART_CREDENTIAL], rules, claim);
    return result != SIGN_OK ? result : expires_judge(parts[PART_EXPIRES], rules, claim);
}

// ---- The whole -----------------------------------------------------------------------------

// Of the version before, which no one should use: a key and a signature, nothing else.
static bool query_is_old(struct slice query)
{
    while (query.len > 0) {
        struct slice value = slice_cut(&query, '&');
        if (slice_is(slice_cut(&value, '='), "AWSAccessKeyId"))
            return true;
    }
    return false;
}

enum sign_result sign_claim_read(const struct sign_request *request, const struct sign_rules *rules,
                                 struct arena *arena, struct sign_claim *claim)
{
    struct slice parts[PART_COUNT] = {{NULL, 0}};
    struct slice header = slice_of(NULL, 0);
    bool s3 = slice_is(rules->service, "s3");
    *claim = (struct sign_claim){.form = SIGN_IN_HEADER};
    size_t headers = sign_header_find(request, SLICE_LIT("authorization"), &header);
    bool split = query_split(request->query, arena, parts);
    bool in_query = parts[PART_ALGORITHM].ptr != NULL || parts[PART_SIGNATURE].ptr != NULL;
    if (headers > 0 && in_query)
        return blame(claim, header, SIGN_TWICE);
    if (headers > 1)
        return blame(claim, header, SIGN_HEADER_MALFORMED);
    if (headers == 0 && !in_query)
        return query_is_old(request->query) ? SIGN_MECHANISM : SIGN_NONE;
    claim->form = in_query ? SIGN_IN_QUERY : SIGN_IN_HEADER;
    if (!split)
        return blame(claim, request->query, SIGN_QUERY_MALFORMED);
    enum sign_result result =
        in_query ? query_read(parts, rules, claim) : header_read(request, header, rules, claim);
    if (result == SIGN_OK)
        result = signed_headers_judge(request, s3, claim);
    if (result == SIGN_OK && s3)
        result = payload_read(request, claim, in_query ? parts[PART_HASH] : slice_of(NULL, 0));
    return result;
}
