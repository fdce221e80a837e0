// See binding.h.
#include "server/binding.h"

#include <arpa/inet.h>
#include <stdlib.h>

// ---- Options -----------------------------------------------------------------------------------

bool binding_set_header(struct binding *binding, const char *text, const char **why)
{
    static const char *const taken[] = {
#define X(id, name) name,
        HTTP_KNOWN_LIST(X)
#undef X
    };
    size_t len = strlen(text);
    *why = "a header's name is letters, digits and hyphens, at most 64 of them";
    if (len == 0 || len > BINDING_NAME)
        return false;
    for (size_t i = 0; i <= len; i++) {
        char c = text[i];
        char lower = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        binding->name[i] = lower;
        if (i < len && !(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    *why = "this header means something else already";
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        if (strcmp(binding->name, taken[i]) == 0)
            return false;
    }
    return true;
}

// The 16 bytes of an address, and how many bits of them there are before it begins: 96 of IPv4's.
static bool read_address(const char *text, uint8_t bytes[16], unsigned *before)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    *before = 0;
    if (inet_pton(AF_INET6, text, bytes) == 1)
        return true;
    memcpy(bytes, mapped, sizeof(mapped));
    *before = 96;
    return inet_pton(AF_INET, text, bytes + sizeof(mapped)) == 1;
}

bool binding_add_proxy(struct binding *binding, const char *text, const char **why)
{
    char address[INET6_ADDRSTRLEN + 1];
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? strlen(text) : (size_t)(slash - text);
    unsigned before;
    struct binding_net *net = &binding->proxies[binding->proxy_count];
    *why = "there are too many of them";
    if (binding->proxy_count == BINDING_PROXIES)
        return false;
    *why = "it is not an IP address, or one with a number of bits such as 10.0.0.0/8";
    if (len == 0 || len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = 0;
    if (!read_address(address, net->bytes, &before))
        return false;
    net->bits = 128;
    if (slash != NULL) {
        char *end;
        unsigned long bits = strtoul(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end != 0 || bits > 128 - before)
            return false;
        net->bits = before + (unsigned)bits;
    }
    binding->proxy_count++;
    return true;
}

// ---- Requests ----------------------------------------------------------------------------------

static bool net_has(const struct binding_net *net, const uint8_t bytes[16])
{
    size_t whole = net->bits / 8;
    unsigned rest = net->bits % 8;
    return memcmp(net->bytes, bytes, whole) == 0 &&
           (rest == 0 || (net->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0);
}

bool binding_trusts(const struct binding *binding, const char *address)
{
    static const struct binding_net loopback[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}, 96 + 8},
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128},
    };
    bool given = binding->proxy_count > 0;
    const struct binding_net *nets = given ? binding->proxies : loopback;
    size_t count = given ? binding->proxy_count : COUNT_OF(loopback);
    uint8_t bytes[16];
    unsigned before;
    if (!read_address(address, bytes, &before))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (net_has(&nets[i], bytes))
            return true;
    }
    return false;
}

enum binding_word binding_judge(const struct binding *binding, bool trusted,
                                const struct http_request *request, struct slice *tenant)
{
    size_t found = 0;
    if (binding->name[0] == 0)
        return BINDING_FREE;
    if (!trusted)
        return BINDING_STRANGER;
    for (unsigned i = 0; i < request->header_count; i++) {
        if (!http_same(request->headers[i].name, slice_str(binding->name)))
            continue;
        *tenant = request->headers[i].value;
        found++;
    }
    if (found > 1)
        return BINDING_REPEATED;
    if (found == 1)
        return BINDING_BOUND;
    return binding->required ? BINDING_MISSING : BINDING_FREE;
}
