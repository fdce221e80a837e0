// See auth.h. The checks come in the service's order, and each message is its text:
// presence, required parameters, algorithm, the form of the credential, its region.
#include "server/auth.h"

#include "base/encode.h"

#include <stdio.h>

#define DEFAULT_REGION "us-east-1"

enum { CREDENTIAL_MAX = 512 };

// What both ways of signing (header, query string) come down to.
struct signing {
    struct slice algorithm;
    struct slice credential; // as sent: in a query string it is percent-encoded
    struct slice signature;
    struct slice signed_headers;
    struct slice date;
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
static void header_split(struct slice header, struct signing *signing)
{
    struct slice rest = header;
    signing->algorithm = slice_cut(&rest, ' ');
    while (rest.len > 0) {
        struct slice phrase = slice_cut(&rest, ' ');
        while (phrase.len > 0) {
            struct slice word = slice_cut(&phrase, ',');
            if (!parameter_is(word, SLICE_LIT("Credential"), &signing->credential) &&
                !parameter_is(word, SLICE_LIT("SignedHeaders"), &signing->signed_headers))
                (void)parameter_is(word, SLICE_LIT("Signature"), &signing->signature);
        }
    }
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
    header_split(header, signing);
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

static bool region_valid(struct slice region)
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

// keyid/date/region/service/aws4_request; slashes at the end do not count.
static bool credential_check(struct slice credential, char region[AUTH_REGION_MAX + 1],
                             struct error *error)
{
    struct slice trimmed = credential;
    while (trimmed.len > 0 && trimmed.ptr[trimmed.len - 1] == '/')
        trimmed.len--;
    unsigned elements = 0;
    struct slice third = {NULL, 0};
    while (trimmed.len > 0) {
        struct slice element = slice_cut(&trimmed, '/');
        if (++elements == 3)
            third = element;
    }
    if (elements != 5)
        return error_set(error, ERR_INCOMPLETE_SIGNATURE,
                         "Credential must have exactly 5 slash-delimited elements, "
                         "e.g. keyid/date/region/service/term, got '%.*s'",
                         SLICE_FMT(credential));
    if (!region_valid(third))
        return error_set(error, ERR_INVALID_SIGNATURE,
                         "Credential should be scoped to a valid region, not '%.*s'. ",
                         SLICE_FMT(third));
    memcpy(region, third.ptr, third.len);
    region[third.len] = 0;
    return true;
}

static bool signing_check(const struct signing *signing, bool in_query,
                          char region[AUTH_REGION_MAX + 1], struct error *error)
{
    // Version 4a signs for all regions at once and names none.
    if (slice_is(signing->algorithm, "AWS4-ECDSA-P256-SHA256")) {
        memcpy(region, DEFAULT_REGION, sizeof(DEFAULT_REGION));
        return true;
    }
    if (!slice_is(signing->algorithm, "AWS4-HMAC-SHA256"))
        return error_set(error, ERR_INCOMPLETE_SIGNATURE,
                         "Unsupported AWS 'algorithm': '%.*s' (only AWS4-HMAC-SHA256 for now). ",
                         SLICE_FMT(signing->algorithm));
    uint8_t decoded[CREDENTIAL_MAX];
    struct slice credential = signing->credential;
    if (in_query)
        credential = percent_decode(credential, decoded);
    return credential_check(credential, region, error);
}

// ---- The whole ---------------------------------------------------------------------------

bool auth_check(const struct http_request *request, char region[AUTH_REGION_MAX + 1],
                struct error *error)
{
    const struct slice *header = http_header(request, HTTP_AUTHORIZATION);
    struct slice ignored;
    bool in_header = header != NULL && header->len > 0;
    bool in_query = request->query.len > 0 &&
                    query_find(request->query, SLICE_LIT("X-Amz-Algorithm"), &ignored);
    if (in_header && in_query)
        return error_set(error, ERR_INVALID_SIGNATURE,
                         "Found both 'X-Amz-Algorithm' as a query-string param and "
                         "'Authorization' as HTTP header.");
    if (!in_query && (!in_header || !slice_begins(*header, SLICE_LIT("AWS4-"))))
        return error_set(error, ERR_MISSING_AUTH, "Request is missing Authentication Token");
    struct signing signing = {0};
    bool complete = in_query ? query_check(request->query, &signing, error)
                             : header_check(request, *header, &signing, error);
    return complete && signing_check(&signing, in_query, region, error);
}
