// Standard output, syslog and journald: a chain for each start. Sockets get a line in a datagram.
#include "audit/trail_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 1000, PRIORITY = 10 * 8 + 6 /* authpriv.info */, FRAME = 256 };

#define SYSLOG_SOCKET   "/dev/log"
#define JOURNALD_SOCKET "/run/systemd/journal/socket"

static bool stream_sealed(struct trail *trail)
{
    (void)trail;
    return true;
}

// ---- Standard output ----------------------------------------------------------------------------

static bool output_ready(struct trail *trail)
{
    (void)trail;
    return true;
}

// A pipe that nobody reads holds up this thread for a second, and never longer.
static size_t output_put(struct trail *trail, struct slice lines)
{
    size_t done = 0;
    while (done < lines.len) {
        struct pollfd wait = {.fd = trail->fd, .events = POLLOUT};
        size_t piece = lines.len - done;
        if (!trail->regular && piece > PIPE_BUF)
            piece = PIPE_BUF;
        errno = EAGAIN;
        if (poll(&wait, 1, WAIT_MS) <= 0) {
            (void)trail_fail(trail, "nobody takes the audit log");
            break;
        }
        ssize_t written = write(trail->fd, lines.ptr + done, piece);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            (void)trail_fail(trail, "the audit log cannot be written");
            break;
        }
        done += (size_t)written;
    }
    return done;
}

// ---- Sockets -----------------------------------------------------------------------------------

static bool socket_ready(struct trail *trail)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (trail->fd >= 0)
        return true;
    memcpy(address.sun_path, trail->path, sizeof(address.sun_path) - 1); // it is known to be short
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)trail_fail(trail, "the audit log's socket cannot be reached");
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    trail->fd = fd;
    return true;
}

// What stands before a line, and behind it.
static size_t frame(const struct trail *trail, char out[FRAME])
{
    struct tm parts;
    char date[32];
    time_t now = (time_t)(env_now(&trail->options.env) / 1000);
    if (trail->journal)
        return (size_t)snprintf(out, FRAME,
                                "PRIORITY=6\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=dolmen-audit\n"
                                "SYSLOG_PID=%d\nMESSAGE=",
                                (int)getpid());
    if (localtime_r(&now, &parts) == NULL || strftime(date, sizeof(date), "%b %e %T", &parts) == 0)
        date[0] = 0;
    return (size_t)snprintf(out, FRAME, "<%d>%s dolmen-audit[%d]: ", PRIORITY, date, (int)getpid());
}

static bool send_line(struct trail *trail, struct slice line)
{
    char before[FRAME];
    char newline = '\n';
    struct iovec parts[] = {
        {before, frame(trail, before)},
        {(void *)(uintptr_t)line.ptr, line.len},
        {&newline, trail->journal ? 1 : 0},
    };
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = COUNT_OF(parts)};
    struct pollfd wait = {.fd = trail->fd, .events = POLLOUT};
    ssize_t sent = sendmsg(trail->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR) && poll(&wait, 1, WAIT_MS) > 0)
        sent = sendmsg(trail->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0)
        return true;
    bool full = errno == EAGAIN || errno == ENOBUFS;
    (void)trail_fail(trail, "the audit log's socket takes nothing");
    if (!full) { // whoever listens was started anew: so is the connection
        (void)close(trail->fd);
        trail->fd = -1;
    }
    return false;
}

static size_t socket_put(struct trail *trail, struct slice lines)
{
    size_t done = 0;
    while (done < lines.len) {
        struct slice rest = slice_of(lines.ptr + done, lines.len - done);
        struct slice line = slice_cut(&rest, '\n');
        if (!socket_ready(trail) || !send_line(trail, line))
            break;
        done += line.len + 1;
    }
    return done;
}

// ---- Life ------------------------------------------------------------------------------------

static void open_output(struct trail *trail)
{
    static const struct trail_kind output = {output_ready, output_put, stream_sealed};
    struct stat about;
    trail->kind = &output;
    trail->fd = STDOUT_FILENO;
    trail->standard = true;
    trail->regular = fstat(trail->fd, &about) == 0 && S_ISREG(about.st_mode);
}

static bool open_socket(struct trail *trail, char *error, size_t error_size)
{
    static const struct trail_kind socket_kind = {socket_ready, socket_put, stream_sealed};
    const char *place = trail->options.place;
    const char *colon = strchr(place, ':');
    size_t len = colon == NULL ? strlen(place) : (size_t)(colon - place);
    trail->journal = len == 8 && strncmp(place, "journald", len) == 0;
    const char *path = colon != NULL ? colon + 1 : trail->journal ? JOURNALD_SOCKET : SYSLOG_SOCKET;
    trail->kind = &socket_kind;
    bool known = trail->journal || (len == 6 && strncmp(place, "syslog", len) == 0);
    if (!known || path[0] == 0 || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        (void)snprintf(error, error_size,
                       "'%s' is neither syslog[:SOCKET] nor journald[:SOCKET]; write ./%s for a "
                       "file of that name",
                       place, place);
        return false;
    }
    (void)snprintf(trail->path, sizeof(trail->path), "%s", path);
    return true;
}

bool trail_stream_open(struct trail *trail, char *error, size_t error_size)
{
    if (strcmp(trail->options.place, "-") == 0)
        open_output(trail);
    else if (!open_socket(trail, error, error_size))
        return false;
    trail_new_log(trail);
    if (trail->kind->ready(trail) && trail_begin(trail) &&
        trail_emit(trail, "'event':'start','version':%s,'key':%s", trail->options.version,
                   trail->options.keys.name))
        return true;
    (void)snprintf(error, error_size, "%s (%s)", trail->reason, trail->options.place);
    return false;
}
