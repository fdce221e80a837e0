// See auth.h. The checks come in the service's order, and each message is its text: presence,
// required parameters, date, signed headers, algorithm, the form of the credential, its scope; then
// the key, the signature, the token.
#include "server/auth.h"

#include "base/encode.h"
#include "base/limits.h"

#include <stdio.h>

enum { CREDENTIAL_MAX = 512 };

// What both ways of signing (header, query string) come down to.
struct signing {
    struct slice algorithm;
    struct slice credential; // as sent: in a query string it is percent-encoded
    struct slice signature;
    struct slice signed_headers;
    struct slice date;
    bool in_query;
};

static bool present(struct slice text)
{
    return text.len > 0;
}

// ---- The header ------------------------------------------------------------------------

// "name=value": the value, up to another equal sign; empty if the name is another one.
static bool parameter_is(struct slice word, struct slice name, struct slice *value)
{
    if (word.len <= name.len || word.ptr[name.len] != '=' || !slice_begins(word, name))
        return false;
    const uint8_t *start = word.ptr + name.len + 1;
    size_t len = word.len - name.len - 1;
    const uint8_t *equal = len == 0 ? NULL : memchr(start, '=', len);
    *value = slice_of(start, equal == NULL ? len : (size_t)(equal - start));
    return true;
}

// Parameters are separated by commas, spaces or both.
static bool header_split(struct slice header, struct signing *signing, struct error *error)
{
    struct slice rest = header;
    signing->algorithm = slice_cut(&rest, ' ');
    while (rest.len > 0) {
        struct slice phrase = slice_cut(&rest, ' ');
        while (phrase.len > 0) {
            struct slice word = slice_cut(&phrase, ',');
            if (word.len > 0 && memchr(word.ptr, '=', word.len) == NULL)
                return error_set(error, ERR_INCOMPLETE_SIGNATURE,
                                 "'%.*s' not a valid key=value pair (missing equal-sign) in "
                                 "Authorization header: '%.*s'.",
                                 SLICE_FMT(word), SLICE_FMT(header));
            if (!parameter_is(word, SLICE_LIT("Credential"), &signing->credential) &&
                !parameter_is(word, SLICE_LIT("SignedHeaders"), &signing->signed_headers))
                (void)parameter_is(word, SLICE_LIT("Signature"), &signing->signature);
        }
    }
    return true;
}

// Says what the header lacks; false. Apart from header_check(), which nearly always finds all of
// it.
static bool header_lacks(struct slice header, const struct signing *signing, bool dated,
                         struct error *error)
{
    const struct {
        bool there;
        const char *missing;
    } wanted[] = {
        {present(signing->credential), "'Credential' parameter"},
        {present(signing->signature), "'Signature' parameter"},
        {present(signing->signed_headers), "'SignedHeaders' parameter"},
        {dated, "existence of either a 'X-Amz-Date' or a 'Date' header"},
    };
    char missing[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        if (!wanted[i].there)
            used += (size_t)snprintf(missing + used, sizeof(missing) - used,
                                     "Authorization header requires %s. ", wanted[i].missing);
    return error_set(error, ERR_INCOMPLETE_SIGNATURE, "%sAuthorization=%.*s", missing,
                     SLICE_FMT(header));
}

static bool header_check(const struct http_request *request, struct slice header,
                         struct signing *signing, struct error *error)
{
    if (!header_split(header, signing, error))
        return false;
    bool dated =
        http_header(request, HTTP_AMZ_DATE) != NULL || http_header(request, HTTP_DATE) != NULL;
    return (present(signing->credential) && present(signing->signature) &&
            present(signing->signed_headers) && dated) ||
           header_lacks(header, signing, dated, error);
}

// ---- The query string ------------------------------------------------------------------

// The undecoded value of a query parameter; false if it does not occur.
static bool query_find(struct slice query, struct slice name, struct slice *value)
{
    while (query.len > 0) {
        struct slice word = slice_cut(&query, '&');
        if (slice_equal(word, name))
            *value = slice_of(word.ptr + word.len, 0);
        if (slice_equal(word, name) || parameter_is(word, name, value))
            return true;
    }
    return false;
}

static bool query_check(struct slice query, struct signing *signing, struct error *error)
{
    const struct {
        const char *name;
        struct slice *value;
    } wanted[] = {
        {"X-Amz-Algorithm", &signing->algorithm}, {"X-Amz-Credential", &signing->credential},
        {"X-Amz-Signature", &signing->signature}, {"X-Amz-SignedHeaders", &signing->signed_headers},
        {"X-Amz-Date", &signing->date},
    };
    char missing[512];
    size_t used = 0;
    static const char format[] = "AWS query-string parameters must include '%s'. ";
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        (void)query_find(query, slice_str(wanted[i].name), wanted[i].value);
        if (present(*wanted[i].value))
            continue;
        int more = snprintf(missing + used, sizeof(missing) - used, format, wanted[i].name);
        used += more > 0 ? (size_t)more : 0;
    }
    if (used == 0)
        return true;
    return error_set(error, ERR_INCOMPLETE_SIGNATURE, "%sRe-examine the query-string parameters.",
                     missing);
}

// Decodes %XX into `out`; what does not fit is cut off, since nothing valid is that long.
static struct slice percent_decode(struct slice text, uint8_t out[CREDENTIAL_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < CREDENTIAL_MAX; i++) {
        int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        out[len++] = (uint8_t)(low >= 0 ? high << 4 | low : text.ptr[i]);
        i += low >= 0 ? 2 : 0;
    }
    return slice_of(out, len);
}

// ---- The credential ----------------------------------------------------------------------

bool auth_region_valid(struct slice region)
{
    if (region.len == 0 || region.len > AUTH_REGION_MAX)
        return false;
    for (size_t i = 0; i < region.len; i++) {
        uint8_t c = region.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return true;
}

enum { SCOPE_KEY, SCOPE_DAY, SCOPE_REGION, SCOPE_SERVICE, SCOPE_TERM, SCOPE_PARTS };

// keyid/date/region/service/aws4_request; slashes at the end do not count.
static bool credential_split(struct slice credential, struct slice parts[SCOPE_PARTS],
                             struct error *error)
{
    struct slice trimmed = credential;
    while (trimmed.len > 0 && trimmed.ptr[trimmed.len - 1] == '/')
        trimmed.len--;
    unsigned elements = 0;
    while (trimmed.len > 0) {
        struct slice element = slice_cut(&trimmed, '/');
        if (elements < SCOPE_PARTS)
            parts[elements] = element;
        elements++;
    }
    return elements == SCOPE_PARTS ||
           error_set(error, ERR_INCOMPLETE_SIGNATURE,
                     "Credential must have exactly 5 slash-delimited elements, "
                     "e.g. keyid/date/region/service/term, got '%.*s'",
                     SLICE_FMT(credential));
}

static bool credential_check(struct slice credential, char region[AUTH_REGION_MAX + 1],
                             struct error *error)
{
    struct slice parts[SCOPE_PARTS];
    if (!credential_split(credential, parts, error))
        return false;
    struct slice third = parts[SCOPE_REGION];
    if (!auth_region_valid(third))
        return error_set(error, ERR_INVALID_SIGNATURE,
                         "Credential should be scoped to a valid region, not '%.*s'. ",
                         SLICE_FMT(third));
    memcpy(region, third.ptr, third.len);
    region[third.len] = 0;
    return true;
}

static bool algorithm_check(const struct signing *signing, struct error *error)
{
    return slice_is(signing->algorithm, SIGN_ALGORITHM) ||
           error_set(error, ERR_INCOMPLETE_SIGNATURE,
                     "Unsupported AWS 'algorithm': '%.*s' (only AWS4-HMAC-SHA256 for now). ",
                     SLICE_FMT(signing->algorithm));
}

static bool signing_check(const struct signing *signing, char region[AUTH_REGION_MAX + 1],
                          struct error *error)
{
    // Version 4a signs for all regions at once and names none.
    if (slice_is(signing->algorithm, "AWS4-ECDSA-P256-SHA256"))
        return true;
    if (!algorithm_check(signing, error))
        return false;
    uint8_t decoded[CREDENTIAL_MAX];
    struct slice credential = signing->credential;
    if (signing->in_query)
        credential = percent_decode(credential, decoded);
    return credential_check(credential, region, error);
}

// ---- The whole ---------------------------------------------------------------------------

// What the request says, complete but not judged.
static bool signing_find(const struct http_request *request, struct signing *signing,
                         struct error *error)
{
    const struct slice *header = http_header(request, HTTP_AUTHORIZATION);
    struct slice ignored;
    bool in_header = header != NULL && header->len > 0;
    signing->in_query = request->query.len > 0 &&
                        query_find(request->query, SLICE_LIT("X-Amz-Algorithm"), &ignored);
    if (in_header && signing->in_query)
        return error_set(error, ERR_INVALID_SIGNATURE,
                         "Found both 'X-Amz-Algorithm' as a query-string param and "
                         "'Authorization' as HTTP header.");
    if (!signing->in_query && (!in_header || !slice_begins(*header, SLICE_LIT("AWS4-"))))
        return error_set(error, ERR_MISSING_AUTH, "Request is missing Authentication Token");
    return signing->in_query ? query_check(request->query, signing, error)
                             : header_check(request, *header, signing, error);
}

bool auth_check(const struct http_request *request, char region[AUTH_REGION_MAX + 1],
                struct error *error)
{
    struct signing signing = {.in_query = false};
    return signing_find(request, &signing, error) && signing_check(&signing, region, error);
}

bool auth_claimed(const struct http_request *request)
{
    struct slice ignored;
    return http_header(request, HTTP_AUTHORIZATION) != NULL ||
           query_find(request->query, SLICE_LIT("X-Amz-Algorithm"), &ignored);
}

struct slice auth_principal(const struct http_request *request)
{
    static const char mark[] = "Credential=";
    const struct slice *header = http_header(request, HTTP_AUTHORIZATION);
    const uint8_t *found =
        header == NULL ? NULL : memmem(header->ptr, header->len, mark, sizeof(mark) - 1);
    if (found == NULL)
        return slice_of(NULL, 0);
    found += sizeof(mark) - 1;
    struct slice rest = slice_of(found, (size_t)(header->ptr + header->len - found));
    return slice_cut(&rest, '/');
}

// ---- Reading all of it -------------------------------------------------------------------------

// Whether the name is among "a;b;c"; letters of any case.
static bool header_signed(struct slice names, struct slice name)
{
    while (names.len > 0) {
        if (http_same(slice_cut(&names, ';'), name))
            return true;
    }
    return false;
}

// A parameter of the query, decoded; empty if it is not there or cannot be decoded.
static struct slice query_value(struct slice query, const char *name, struct arena *arena)
{
    struct buf plain;
    struct slice value = slice_of(NULL, 0);
    if (!query_find(query, slice_str(name), &value) || value.len == 0)
        return slice_of(NULL, 0);
    buf_init(&plain, LIMIT_SIGN_HEAD);
    if (sign_decode(&plain, value, true))
        return arena_keep(arena, &plain);
    buf_release(&plain);
    return slice_of(NULL, 0);
}

static bool request_copy(const struct http_request *request, struct arena *arena,
                         struct sign_request *out)
{
    struct sign_header *headers =
        arena_alloc(arena, (request->header_count + 1u) * sizeof(*headers));
    if (headers == NULL)
        return false;
    for (unsigned i = 0; i < request->header_count; i++)
        headers[i] = (struct sign_header){request->headers[i].name, request->headers[i].value};
    *out = (struct sign_request){request->method, request->path, request->query, headers,
                                 request->header_count};
    return true;
}

// "Signature expired: 20130301T000000Z is now earlier than 20130609T094515Z (20130609T100015Z - 15
// min.)", and the same for a clock that is ahead.
static bool time_refused(const struct sign_claim *claim, int64_t now_s, int64_t span_s, bool past,
                         struct error *error)
{
    char edge[SIGN_DATE];
    char now[SIGN_DATE];
    sign_date(past ? now_s - span_s : now_s + span_s, edge);
    sign_date(now_s, now);
    bool minutes = span_s % 60 == 0;
    return error_set(error, ERR_INVALID_SIGNATURE,
                     past ? "Signature expired: %s is now earlier than %s (%s - %lld %s.)"
                          : "Signature not yet current: %s is still later than %s (%s + %lld %s.)",
                     claim->date, edge, now, (long long)(minutes ? span_s / 60 : span_s),
                     minutes ? "min" : "sec");
}

// How long a presigned request may be used: X-Amz-Expires, or as long as any other.
static bool expires_read(const struct http_request *request, const struct auth_rules *rules,
                         struct sign_claim *claim, struct error *error)
{
    enum { WEEK_S = 604800 };
    struct slice text = query_value(request->query, "X-Amz-Expires", error->arena);
    int64_t seconds = 0;
    bool digits = text.len > 0 && text.len <= 6;
    for (size_t i = 0; digits && i < text.len; i++) {
        digits = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        seconds = seconds * 10 + (text.ptr[i] - '0');
    }
    claim->expires_s = text.len == 0 ? rules->skew_s : seconds;
    return text.len == 0 || (digits && seconds > 0 && seconds <= WEEK_S) ||
           error_set(error, ERR_INCOMPLETE_SIGNATURE,
                     "X-Amz-Expires must be a number of seconds from 1 to 604800, not '%.*s'.",
                     SLICE_FMT(text));
}

static bool date_check(const struct http_request *request, const struct auth_rules *rules,
                       const struct signing *signing, struct sign_claim *claim, struct error *error)
{
    const struct slice *header = http_header(request, HTTP_AMZ_DATE);
    if (header == NULL)
        header = http_header(request, HTTP_DATE);
    struct slice text = signing->in_query ? signing->date : *header;
    if (!sign_date_read(text, claim))
        return error_set(error, ERR_INCOMPLETE_SIGNATURE,
                         "Date must be in ISO-8601 'basic format'. Got '%.*s'. "
                         "See http://en.wikipedia.org/wiki/ISO_8601",
                         SLICE_FMT(text));
    int64_t span_s = rules->skew_s;
    if (signing->in_query && !expires_read(request, rules, claim, error))
        return false;
    if (claim->seconds > rules->now_s + span_s)
        return time_refused(claim, rules->now_s, span_s, false, error);
    if (signing->in_query)
        span_s = claim->expires_s;
    return claim->seconds >= rules->now_s - span_s ||
           time_refused(claim, rules->now_s, span_s, true, error);
}

// The host says which server is meant, the target what is to be done: both have to be signed.
static bool headers_check(const struct http_request *request, const struct sign_claim *claim,
                          struct error *error)
{
    if (!header_signed(claim->signed_headers, SLICE_LIT("host")))
        return error_set(error, ERR_INVALID_SIGNATURE,
                         "'Host' or ':authority' must be a 'SignedHeader' in the AWS "
                         "Authorization.");
    return http_header(request, HTTP_AMZ_TARGET) == NULL ||
           header_signed(claim->signed_headers, SLICE_LIT("x-amz-target")) ||
           error_set(error, ERR_INVALID_SIGNATURE,
                     "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
}

// All that is wrong with the scope, in one message.
static bool scope_check(const struct sign_claim *claim, struct slice term,
                        const struct auth_rules *rules, struct error *error)
{
    struct slice day = slice_of(claim->date, SIGN_DAY);
    // Policies name resources by their region: whoever could choose it would choose the policies.
    bool region = auth_region_valid(claim->region) &&
                  (rules->region.len == 0 || slice_equal(claim->region, rules->region));
    bool service = slice_equal(claim->service, rules->service);
    bool ends = slice_is(term, "aws4_request");
    bool dated = slice_equal(claim->day, day);
    if (region && service && ends && dated)
        return true;
    struct buf text;
    buf_init(&text, LIMIT_SIGN_HEAD);
    if (!region)
        buf_printf(&text, "Credential should be scoped to a valid region, not '%.*s'. ",
                   SLICE_FMT(claim->region));
    if (!service)
        buf_printf(&text, "Credential should be scoped to correct service: '%.*s'. ",
                   SLICE_FMT(rules->service));
    if (!ends)
        buf_printf(&text,
                   "Credential should be scoped with a valid terminator: 'aws4_request', "
                   "not '%.*s'. ",
                   SLICE_FMT(term));
    if (!dated)
        buf_printf(&text,
                   "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                   "date from HTTP: '%.*s' != '%.*s', from '%s'.",
                   SLICE_FMT(claim->day), SLICE_FMT(day), claim->date);
    (void)error_set(error, ERR_INVALID_SIGNATURE, "%.*s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return false;
}

bool auth_read(const struct http_request *request, const struct auth_rules *rules,
               struct auth_claim *out, struct error *error)
{
    struct arena *arena = error->arena;
    struct sign_claim *claim = &out->claim;
    struct signing signing = {.in_query = false};
    struct slice parts[SCOPE_PARTS];
    memset(claim, 0, sizeof(*claim));
    if (!signing_find(request, &signing, error))
        return false;
    claim->form = signing.in_query ? SIGN_IN_QUERY : SIGN_IN_HEADER;
    claim->signature = signing.signature;
    claim->signed_headers = signing.signed_headers;
    struct slice credential = signing.credential;
    if (signing.in_query) {
        claim->signed_headers = query_value(request->query, "X-Amz-SignedHeaders", arena);
        credential = query_value(request->query, "X-Amz-Credential", arena);
        claim->token = query_value(request->query, "X-Amz-Security-Token", arena);
    } else {
        const struct slice *token = http_header_find(request, SLICE_LIT("x-amz-security-token"));
        claim->token = token == NULL ? slice_of(NULL, 0) : *token;
    }
    if (!request_copy(request, arena, &out->request))
        return error_budget(error);
    if (!date_check(request, rules, &signing, claim, error) ||
        !headers_check(request, claim, error) || !algorithm_check(&signing, error) ||
        !credential_split(credential, parts, error))
        return false;
    claim->access_key = parts[SCOPE_KEY];
    claim->day = parts[SCOPE_DAY];
    claim->region = parts[SCOPE_REGION];
    claim->service = parts[SCOPE_SERVICE];
    return scope_check(claim, parts[SCOPE_TERM], rules, error);
}

// ---- Verifying ---------------------------------------------------------------------------------

#define INVALID_TOKEN "The security token included in the request is invalid"
#define MISMATCH                                                                                   \
    "The request signature we calculated does not match the signature you provided. Check your "   \
    "AWS Secret Access Key and signing method. Consult the service documentation for details."

// The service shows what it has signed: all of it is the request's own.
static bool mismatch(const struct auth_claim *claim, struct slice body, struct error *error)
{
    struct buf canonical;
    struct buf text;
    buf_init(&canonical, LIMIT_SIGN_CANONICAL);
    buf_init(&text, LIMIT_SIGN_HEAD);
    sign_canonical(&claim->request, &claim->claim, body, error->arena, &canonical);
    sign_string(&claim->claim, buf_view(&canonical), &text);
    (void)error_set(error, ERR_INVALID_SIGNATURE,
                    MISMATCH "\n\nThe Canonical String for this request should have been\n'%.*s'"
                             "\n\nThe String-to-Sign should have been\n'%.*s'\n",
                    SLICE_FMT(buf_view(&canonical)), SLICE_FMT(buf_view(&text)));
    buf_release(&canonical);
    buf_release(&text);
    return false;
}

bool auth_verify(const struct auth_claim *claim, const struct identity_guest *guest,
                 struct slice body, struct sign_cache *cache, struct error *error)
{
    enum sign_result result =
        sign_claim_check(&claim->request, &claim->claim, guest->secret, body, cache, error->arena);
    if (result == SIGN_MEMORY)
        return error_budget(error);
    if (!guest->known)
        return error_set(error, ERR_UNRECOGNIZED_CLIENT, INVALID_TOKEN ".");
    if (result != SIGN_OK)
        return mismatch(claim, body, error);
    if (guest->token_foreign)
        return error_set(error, ERR_UNRECOGNIZED_CLIENT, INVALID_TOKEN);
    return !guest->token_expired ||
           error_set(error, ERR_EXPIRED_TOKEN,
                     "The security token included in the request is expired");
}
