// The list of schemes, and what they share.
#include "publish/publish.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

enum { SECRET_MAX = 256 << 10 }; // more than file_read() takes at a time

static const struct {
    const char *scheme;
    outlet_open_fn *open;
} schemes[] = {
    {"http:", webhook_open}, {"https:", webhook_open},   {"sqs:", aws_open},
    {"sns:", aws_open},      {"eventbridge:", aws_open}, {"kafka:", kafka_open},
    {"nats:", nats_open},    {"file:", file_open},       {"stdout:", stdout_open},
};

void *outlet_refuse(const struct outlet_request *request, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(request->error, request->error_size, format, args);
    va_end(args);
    return NULL;
}

static struct outlet *publisher_open(void *context, const struct outlet_spec *spec,
                                     const struct outlet_owner *owner, char *error,
                                     size_t error_size)
{
    struct outlet_request request = {context, spec, owner, error, error_size};
    if (request.publisher->off)
        return outlet_refuse(&request, "publishing is switched off (--publish off)");
    if (slice_is(spec->url, "objects:"))
        return request.publisher->objects != NULL
                   ? request.publisher->objects(&request)
                   : outlet_refuse(&request, "there is no store of objects here");
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        if (slice_begins(spec->url, slice_str(schemes[i].scheme)))
            return schemes[i].open(&request);
    return outlet_refuse(&request,
                         "\"%.*s\" has no scheme that can be published to: use http, https, sqs, "
                         "sns, eventbridge, kafka, nats, file or stdout",
                         SLICE_FMT(spec->url));
}

struct outlet_opener publisher_opener(const struct publisher *publisher)
{
    return (struct outlet_opener){(void *)(uintptr_t)publisher, publisher_open};
}

void outlet_end_all(struct outlet *target, struct outlet_event *const *events, size_t count,
                    const struct outlet_end *end)
{
    for (size_t i = 0; i < count; i++)
        target->owner.ended(target->owner.context, events[i], end);
}

// ---- Options ---------------------------------------------------------------------------------

const struct outlet_option *outlet_option(const struct outlet_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->option_count; i++)
        if (slice_is(spec->options[i].name, name))
            return &spec->options[i];
    return NULL;
}

bool outlet_option_text(const struct outlet_spec *spec, const char *name, char *out, size_t size)
{
    const struct outlet_option *option = outlet_option(spec, name);
    out[0] = 0;
    if (option == NULL)
        return true;
    if (option->value.len >= size)
        return false;
    memcpy(out, option->value.ptr, option->value.len);
    out[option->value.len] = 0;
    return true;
}

bool outlet_option_number(const struct outlet_request *request, const char *name, unsigned least,
                          unsigned most, unsigned *number)
{
    char text[16];
    char *end = text;
    bool fits = outlet_option_text(request->spec, name, text, sizeof(text));
    if (fits && text[0] == 0)
        return true;
    unsigned long value = fits ? strtoul(text, &end, 10) : 0;
    if (fits && *end == 0 && text[0] >= '0' && text[0] <= '9' && value >= least && value <= most) {
        *number = (unsigned)value;
        return true;
    }
    return outlet_refuse(request, "%s must be a number from %u to %u", name, least, most) != NULL;
}

// ---- Secrets ---------------------------------------------------------------------------------

static bool plain_name(struct slice name)
{
    return name.len > 0 && name.len < 200 && name.ptr[0] != '.' &&
           memchr(name.ptr, '/', name.len) == NULL && memchr(name.ptr, 0, name.len) == NULL;
}

static bool secret_of_environment(const struct outlet_request *request, struct slice name,
                                  struct buf *out)
{
    char text[200];
    if (!slice_begins(name, SLICE_LIT("DOLMEN_")) || name.len >= sizeof(text))
        return outlet_refuse(request,
                             "a secret is read from environment variables whose names begin with "
                             "DOLMEN_, which \"%.*s\" does not",
                             SLICE_FMT(name)) != NULL;
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    const char *value = getenv(text);
    if (value == NULL || value[0] == 0)
        return outlet_refuse(request, "the environment has no %s: start the server with it",
                             text) != NULL;
    buf_text(out, value);
    return true;
}

// Opens what a name in the directory of secrets leads to. Links are followed as long as they stay
// in the directory, which is how Kubernetes mounts secrets. -1 with errno, EXDEV if one leaves it.
static int secret_open(const char *directory, struct slice name)
{
    char path[PATH_MAX];
    char whole[PATH_MAX];
    char root[PATH_MAX];
    struct stat info;
    int len = snprintf(path, sizeof(path), "%s/%.*s", directory, SLICE_FMT(name));
    if (len < 0 || (size_t)len >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (realpath(directory, root) == NULL || realpath(path, whole) == NULL)
        return -1;
    size_t above = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(whole, root, above) != 0 || whole[above] != '/') {
        errno = EXDEV;
        return -1;
    }
    int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
        return fd;
    (void)close(fd);
    errno = EINVAL;
    return -1;
}

static const char *secret_problem(int reason)
{
    return reason == EXDEV    ? "it is a link that leads out of the directory of secrets"
           : reason == EINVAL ? "it is not a file"
                              : strerror(reason);
}

static bool secret_of_file(const struct outlet_request *request, struct slice name, struct buf *out)
{
    if (request->publisher->secrets == NULL)
        return outlet_refuse(request, "secrets in files need --secrets DIR") != NULL;
    if (!plain_name(name))
        return outlet_refuse(request, "\"%.*s\" is not the plain name of a file",
                             SLICE_FMT(name)) != NULL;
    int fd = secret_open(request->publisher->secrets, name);
    bool ok = fd >= 0 && file_read(fd, out) && !out->failed;
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    while (ok && out->len > 0 && (out->ptr[out->len - 1] == '\n' || out->ptr[out->len - 1] == '\r'))
        out->len--;
    if (!ok || out->len == 0)
        return outlet_refuse(request, "the secret \"%.*s\" cannot be read: %s", SLICE_FMT(name),
                             ok ? "the file is empty" : secret_problem(reason)) != NULL;
    return true;
}

bool outlet_secret(const struct outlet_request *request, const struct outlet_option *option,
                   struct buf *out)
{
    buf_init(out, SECRET_MAX);
    bool ok = slice_is(option->source, "env") ? secret_of_environment(request, option->value, out)
              : slice_is(option->source, "file")
                  ? secret_of_file(request, option->value, out)
                  : outlet_refuse(request, "a secret is given as `secret env \"DOLMEN_…\"` or "
                                           "`secret file \"…\"`, never itself") != NULL;
    if (!ok)
        buf_release(out);
    return ok;
}

// ---- Addresses -------------------------------------------------------------------------------

static bool forbidden_ipv4(uint32_t host_order)
{
    return (host_order >> 16) == 0xa9fe || // 169.254.0.0/16: link-local, metadata
           host_order == 0x646464c8 ||     // 100.100.100.200: metadata
           host_order == 0xffffffff;
}

bool address_forbidden(const struct sockaddr *address)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t translated[12] = {0, 0x64, 0xff, 0x9b}; // 64:ff9b::/96, NAT64
    static const uint8_t metadata[16] = {0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0,
                                         0,    0, 0,    0,    0, 0, 2, 0x54};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        return forbidden_ipv4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6)
        return true;
    struct sockaddr_in6 in;
    memcpy(&in, address, sizeof(in));
    const uint8_t *bytes = in.sin6_addr.s6_addr;
    uint32_t last;
    memcpy(&last, bytes + 12, 4);
    if (memcmp(bytes, mapped, sizeof(mapped)) == 0 ||
        memcmp(bytes, translated, sizeof(translated)) == 0)
        return forbidden_ipv4(ntohl(last));
    return (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) ||
           memcmp(bytes, metadata, sizeof(metadata)) == 0;
}

bool host_allowed(const struct outlet_request *request, const char *host)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    bool ok = true;
    if (request->publisher->link_local)
        return true;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return outlet_refuse(request, "the host \"%s\" is unknown", host) != NULL;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        ok = ok && !address_forbidden(at->ai_addr);
    freeaddrinfo(found);
    return ok || outlet_refuse(request, "\"%s\": " ADDRESS_FORBIDDEN, host) != NULL;
}

// ---- HTTP ------------------------------------------------------------------------------------

struct outlet_end http_outcome(long status, int64_t retry_after_ms, char *reason, size_t size)
{
    (void)snprintf(reason, size, "status %ld", status);
    struct outlet_end end = {.outcome = OUTLET_REFUSED, .reason = reason};
    if (status >= 200 && status < 300)
        end.outcome = OUTLET_DELIVERED;
    else if (status == 410)
        end.outcome = OUTLET_GONE;
    else if (status == 408 || status == 429 || status == 503)
        end = (struct outlet_end){OUTLET_AWAY, false, retry_after_ms, reason};
    else if (status >= 500)
        end.outcome = OUTLET_FAILED;
    return end;
}
