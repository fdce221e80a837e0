// A connection of a client to a server: plain, or TLS, where the server is verified.
#ifndef CLIENT_LINK_H
#define CLIENT_LINK_H

#include "base/buf.h"
#include "http/tls_pipe.h"

enum { CLIENT_HOST_MAX = 255 };

// Where a URL of the form http://host[:port][/], or https://…, leads.
struct client_address {
    char host[CLIENT_HOST_MAX + 1];
    char port[8];
    bool secure;
};

MUST_CHECK bool client_address_parse(const char *url, struct client_address *out);

// Whom a client believes, and as whom it comes itself.
struct client_trust;
struct client_trust_options {
    const char *authorities; // a PEM file; NULL: those that the system trusts
    const char *certificate; // the client's own, with its chain; NULL for none
    const char *key;         // its private key; NULL: it is in the same file
};
// NULL with a sentence in `error`.
MUST_CHECK struct client_trust *client_trust_new(const struct client_trust_options *options,
                                                 char *error, size_t error_size);
void client_trust_free(struct client_trust *trust); // NULL is fine

struct client_link {
    int fd; // -1 when closed
    SSL *ssl;
    struct tls_pipe pipe;
};

// Connects, and verifies the server if its address is secure; only then `trust` is needed. The link
// stays where it is until it is closed. False with a sentence in `error`.
MUST_CHECK bool client_link_open(struct client_link *link, const struct client_address *address,
                                 const struct client_trust *trust, char *error, size_t error_size);
void client_link_close(struct client_link *link);
// Whether the client came with a certificate of its own.
bool client_link_certified(const struct client_link *link);
// How long an answer is waited for.
void client_link_patience(const struct client_link *link, unsigned seconds);

// As send() and recv() are, with their errno. What was received of a record of TLS and did not fit
// is pending: the socket says nothing of it.
ssize_t client_link_send(struct client_link *link, struct slice bytes);
ssize_t client_link_receive(struct client_link *link, void *out, size_t size);
bool client_link_pending(const struct client_link *link);
// All of it, waiting as long as it takes.
MUST_CHECK bool client_link_send_all(struct client_link *link, struct slice bytes);

#endif
