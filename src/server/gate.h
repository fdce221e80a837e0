// Who may ask at all: which Host names are served, and which pages in a browser may call.
//
// A server on a developer's machine has a neighbour that nobody invited: every page open in the
// browser can send requests to it. Two rules keep them out, on every path:
//   1. The Host (or the host in an absolute target) must be a name of this server, so that a page
//      cannot reach it by letting a name of its own point here (DNS rebinding).
//   2. A request with an Origin comes from a page. It must be a page of this server, or one that
//      --cors names; only the latter get CORS headers, and never for /admin.
// Clients that are no browsers send no Origin and are not concerned by the second rule.
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include "http/parser.h"

enum { GATE_NAMES = 64 };

struct gate {
    bool loopback; // the server listens to this machine only
    size_t host_count;
    struct slice hosts[GATE_NAMES]; // --allowed-host, beyond what is always served
    size_t origin_count;
    struct slice origins[GATE_NAMES]; // --cors
};

// Whether an address to listen on can be reached from this machine only.
bool gate_is_loopback(const char *address);

// Add what an option says; the text is borrowed. False with a sentence in `why` if it makes no
// sense. A host is a name or an address without a port, "*.example.com" for all names below one, or
// "*" for any; an origin is "https://app.example:8443", "null", or "*" for any.
MUST_CHECK bool gate_add_host(struct gate *gate, const char *text, const char **why);
MUST_CHECK bool gate_add_origin(struct gate *gate, const char *text, const char **why);

// The host that was last served on a connection: its next request nearly always has the same, and
// need not be judged again. Zeroed at first.
struct gate_memory {
    size_t len;
    uint8_t host[64];
};

enum gate_word { GATE_OPEN, GATE_WRONG_HOST, GATE_FOREIGN_PAGE };
enum gate_word gate_judge(const struct gate *gate, struct gate_memory *memory,
                          const struct http_request *request);

// What to answer in Access-Control-Allow-Origin; empty if there is nothing to allow.
struct slice gate_cors(const struct gate *gate, const struct http_request *request);

#endif
