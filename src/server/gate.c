// See gate.h.
#include "server/gate.h"

#include <arpa/inet.h>
#include <strings.h>

enum { ADDRESS_MAX = 64, NAME_MAX_LEN = 253 };

// Whatever the case of the text.
static bool ends_with(struct slice text, struct slice lower)
{
    return text.len >= lower.len &&
           http_same(slice_of(text.ptr + text.len - lower.len, lower.len), lower);
}

static bool same_name(struct slice a, struct slice b)
{
    return a.len == b.len &&
           (a.len == 0 || strncasecmp((const char *)a.ptr, (const char *)b.ptr, a.len) == 0);
}

// ---- Hosts -----------------------------------------------------------------------------------

enum address { ADDRESS_NONE, ADDRESS_LOOPBACK, ADDRESS_OTHER };

static enum address address_kind(struct slice name)
{
    char text[ADDRESS_MAX];
    if (name.len == 0 || name.len >= sizeof(text))
        return ADDRESS_NONE;
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, text, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127 ? ADDRESS_LOOPBACK : ADDRESS_OTHER;
    if (inet_pton(AF_INET6, text, &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six) ? ADDRESS_LOOPBACK : ADDRESS_OTHER;
    return ADDRESS_NONE;
}

static bool is_name(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        uint8_t lower = c | 0x20;
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.' &&
            c != '_')
            return false;
    }
    return text.len > 0 && text.len <= NAME_MAX_LEN;
}

// ":8000", or nothing.
static bool is_port(struct slice text)
{
    unsigned number = 0;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || i > 5)
            return false;
        number = number * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return text.len == 0 || (text.ptr[0] == ':' && number <= UINT16_MAX);
}

// "localhost:8000" and "[::1]:8000" without port and brackets; false for anything that is not a
// host and a port. What somebody else might read in another way is none.
static bool host_name(struct slice host, struct slice *name)
{
    if (host.len == 0)
        return false;
    bool bracket = host.ptr[0] == '[';
    const uint8_t *end = memchr(host.ptr, bracket ? ']' : ':', host.len);
    if (bracket && end == NULL)
        return false;
    size_t len = end == NULL ? host.len : (size_t)(end - host.ptr);
    *name = bracket ? slice_of(host.ptr + 1, len - 1) : slice_of(host.ptr, len);
    size_t behind = bracket ? len + 1 : len;
    if (!is_port(slice_of(host.ptr + behind, host.len - behind)))
        return false;
    return bracket
               ? memchr(name->ptr, ':', name->len) != NULL && address_kind(*name) != ADDRESS_NONE
               : is_name(*name);
}

static bool is_local_name(struct slice name)
{
    return http_same(name, SLICE_LIT("localhost")) || ends_with(name, SLICE_LIT(".localhost"));
}

bool gate_is_loopback(const char *address)
{
    struct slice name = slice_str(address);
    return is_local_name(name) || address_kind(name) == ADDRESS_LOOPBACK;
}

static bool host_matches(struct slice rule, struct slice name)
{
    if (slice_is(rule, "*"))
        return true;
    if (rule.len > 1 && rule.ptr[0] == '*') {
        struct slice below = slice_of(rule.ptr + 1, rule.len - 1);
        return name.len > below.len &&
               same_name(slice_of(name.ptr + name.len - below.len, below.len), below);
    }
    return same_name(rule, name);
}

static bool host_listed(const struct gate *gate, struct slice name)
{
    for (size_t i = 0; i < gate->host_count; i++) {
        if (host_matches(gate->hosts[i], name))
            return true;
    }
    return false;
}

// Beyond loopback, addresses and names without a dot ("dolmen" in a network of containers) are
// served, too: neither can be a name that a page's owner has made to point here.
static bool host_served(const struct gate *gate, struct slice host)
{
    if (host.ptr == NULL)
        return true; // HTTP/1.0, which no browser speaks
    struct slice name;
    if (!host_name(host, &name))
        return false;
    if (is_local_name(name))
        return true;
    enum address kind = address_kind(name);
    if (kind == ADDRESS_LOOPBACK || host_listed(gate, name))
        return true;
    return !gate->loopback && (kind == ADDRESS_OTHER || memchr(name.ptr, '.', name.len) == NULL);
}

static bool host_passes(const struct gate *gate, struct gate_memory *memory, struct slice host)
{
    if (memory->len > 0 && slice_equal(slice_of(memory->host, memory->len), host))
        return true;
    if (!host_served(gate, host))
        return false;
    memory->len = host.len <= sizeof(memory->host) ? host.len : 0;
    if (memory->len > 0)
        memcpy(memory->host, host.ptr, memory->len);
    return true;
}

bool gate_add_host(struct gate *gate, const char *text, const char **why)
{
    struct slice name = slice_str(text);
    bool address = address_kind(name) != ADDRESS_NONE;
    if (gate->host_count == GATE_NAMES)
        *why = "there are too many hosts";
    else if (name.len == 0 || strpbrk(text, "/ \t") != NULL || (!address && strchr(text, ':')))
        *why = "a host is a name or an address, without scheme and port";
    else {
        gate->hosts[gate->host_count++] = name;
        return true;
    }
    return false;
}

// ---- Origins ---------------------------------------------------------------------------------

bool gate_add_origin(struct gate *gate, const char *text, const char **why)
{
    struct slice origin = slice_str(text);
    const char *authority = strstr(text, "://");
    bool word = slice_is(origin, "*") || slice_is(origin, "null");
    if (gate->origin_count == GATE_NAMES)
        *why = "there are too many origins";
    else if (!word && (authority == NULL || authority == text ||
                       strpbrk(authority + 3, "/ \t") != NULL || authority[3] == 0))
        *why = "an origin looks like https://app.example or http://localhost:3000, without a path";
    else {
        gate->origins[gate->origin_count++] = origin;
        return true;
    }
    return false;
}

// A page that this server has served itself.
static bool is_own_page(struct slice origin, struct slice host)
{
    struct slice plain = SLICE_LIT("http://");
    return origin.len > plain.len && slice_begins(origin, plain) &&
           same_name(slice_of(origin.ptr + plain.len, origin.len - plain.len), host);
}

static bool is_admin(struct slice path)
{
    return slice_begins(path, SLICE_LIT("/admin"));
}

struct slice gate_cors(const struct gate *gate, const struct http_request *request)
{
    const struct slice *origin = http_header(request, HTTP_ORIGIN);
    if (origin == NULL || is_admin(request->path))
        return slice_of(NULL, 0);
    for (size_t i = 0; i < gate->origin_count; i++) {
        if (slice_is(gate->origins[i], "*"))
            return gate->origins[i];
        if (same_name(gate->origins[i], *origin))
            return *origin;
    }
    return slice_of(NULL, 0);
}

enum gate_word gate_judge(const struct gate *gate, struct gate_memory *memory,
                          const struct http_request *request)
{
    if (!host_passes(gate, memory, request->host))
        return GATE_WRONG_HOST;
    const struct slice *origin = http_header(request, HTTP_ORIGIN);
    if (origin == NULL || is_own_page(*origin, request->host) || gate_cors(gate, request).len > 0)
        return GATE_OPEN;
    return GATE_FOREIGN_PAGE;
}
