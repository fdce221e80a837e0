// Which tenant a request is bound to: a header says so, which only a proxy that is trusted may set
// (docs/TENANTS.md). With such a header, whoever is not trusted is not served at all: a client that
// goes around the proxy must not get more than one that comes through it.
#ifndef SERVER_BINDING_H
#define SERVER_BINDING_H

#include "http/parser.h"

enum { BINDING_PROXIES = 64, BINDING_NAME = 64 };

// Addresses that begin with the same bits; those of IPv4 are written as ::ffff:a.b.c.d.
struct binding_net {
    uint8_t bytes[16];
    unsigned bits;
};

struct binding {
    char name[BINDING_NAME + 1]; // of the header, in lower case; empty: no request is bound
    bool required;               // those without the header are refused
    size_t proxy_count;          // 0: loopback is trusted
    struct binding_net proxies[BINDING_PROXIES];
};

// What options say. False with a sentence in `why` if it makes no sense. A proxy is an address, or
// one with the number of bits that count: 10.0.0.0/8.
MUST_CHECK bool binding_set_header(struct binding *binding, const char *text, const char **why);
MUST_CHECK bool binding_add_proxy(struct binding *binding, const char *text, const char **why);

// Whether the peer of that address, as text, may say who a request is for. An unknown one may not.
bool binding_trusts(const struct binding *binding, const char *address);

enum binding_word {
    BINDING_FREE,     // not bound: it may do everything
    BINDING_BOUND,    // to *tenant, which is part of the request
    BINDING_STRANGER, // the peer is not trusted
    BINDING_REPEATED, // the header is there more than once
    BINDING_MISSING,  // and has to be
};
enum binding_word binding_judge(const struct binding *binding, bool trusted,
                                const struct http_request *request, struct slice *tenant);

#endif
