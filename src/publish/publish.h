// Deliveries to the outside: the targets that `publish ENTITY to "…"` and `dolmen publish` know.
// Each scheme is a `static const` struct of functions (capture/outlet.h) in a file of its own;
// publish.c has the list.
//
// Libraries are loaded when a target that needs one is opened (library.h): a server that does not
// publish is none the heavier, and one that has no such library says so.
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include "base/buf.h"
#include "capture/outlet.h"

struct s3_store;
struct outlet_request;

struct publisher {
    bool off;            // nothing is delivered
    const char *files;   // the directory of file: targets; NULL if there are none
    const char *secrets; // the directory of secrets in files; NULL if there are none
    bool link_local;     // addresses of link-local networks and of clouds' metadata are allowed
    // Where objects of items are deleted (s3/remove.h); or NULL.
    struct s3_store *s3;
    struct outlet *(*objects)(const struct outlet_request *request);
};

// An opener that works by these settings, which stay where they are.
struct outlet_opener publisher_opener(const struct publisher *publisher);

// ---- What targets share ----------------------------------------------------------------------

// How a target is opened: what comes behind "scheme:" is its own to read.
struct outlet_request {
    const struct publisher *publisher;
    const struct outlet_spec *spec;
    const struct outlet_owner *owner;
    char *error;
    size_t error_size;
};

// Sets the sentence; always NULL.
void *outlet_refuse(const struct outlet_request *request, const char *format, ...)
    PRINTF_LIKE(2, 3);

// The first option of that name, or NULL.
const struct outlet_option *outlet_option(const struct outlet_spec *spec, const char *name);
// Its value, NUL-terminated in `out`; false if it is too long. Empty without the option.
MUST_CHECK bool outlet_option_text(const struct outlet_spec *spec, const char *name, char *out,
                                   size_t size);
// Its value as a number between the bounds; false with a sentence if it is none.
MUST_CHECK bool outlet_option_number(const struct outlet_request *request, const char *name,
                                     unsigned least, unsigned most, unsigned *number);

// The value of a secret: of an environment variable DOLMEN_…, or of a file in the directory of
// secrets. False with a sentence, in which the value is not.
MUST_CHECK bool outlet_secret(const struct outlet_request *request,
                              const struct outlet_option *option, struct buf *out);

// Tells the owner that all of the events have ended the same way.
void outlet_end_all(struct outlet *target, struct outlet_event *const *events, size_t count,
                    const struct outlet_end *end);

#define ADDRESS_FORBIDDEN                                                                          \
    "link-local and metadata addresses are forbidden; \"serve --publish anywhere\" allows them"

struct sockaddr;
// Whether nobody should be made to post there: link-local addresses, and those of clouds' metadata.
bool address_forbidden(const struct sockaddr *address);
// The same for a host, by all of its addresses: for libraries that connect by themselves. False
// with a sentence if it is forbidden or unknown.
MUST_CHECK bool host_allowed(const struct outlet_request *request, const char *host);

// What to make of an HTTP status: see webhook.c. `retry_after_ms` is what the answer asked for.
struct outlet_end http_outcome(long status, int64_t retry_after_ms, char *reason, size_t size);

// ---- The schemes -----------------------------------------------------------------------------

typedef struct outlet *outlet_open_fn(const struct outlet_request *request);
outlet_open_fn webhook_open; // http:, https:
outlet_open_fn file_open;    // file:
outlet_open_fn stdout_open;  // stdout:
outlet_open_fn aws_open;     // sqs:, sns:, eventbridge:
outlet_open_fn kafka_open;   // kafka:
outlet_open_fn nats_open;    // nats:

#endif
