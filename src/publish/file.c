// file:name and stdout: events as lines of JSON. A file is below the directory of the operator;
// what is delivered is on disk. Several rules and servers may have the same file: each line stands
// whole (file_append_lines). One that was not finished when a machine stopped goes with the next
// write: its event will come again.
#include "publish/publish.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 128 << 20, REASON_MAX = 200 };

struct file_target {
    struct outlet base; // first
    int fd;
    bool durable;
    struct buf lines;
    char reason[REASON_MAX];
};

static const char *why(int error)
{
    return error == EWOULDBLOCK ? "somebody else keeps the file locked" : strerror(error);
}

// A pipe has neither locks nor an end to be cut.
static bool lines_write(struct file_target *own)
{
    struct slice lines = buf_view(&own->lines);
    if (own->lines.failed)
        errno = ENOMEM;
    else if (own->durable ? file_append_lines(own->fd, lines) : file_write(own->fd, lines))
        return true;
    (void)snprintf(own->reason, sizeof(own->reason), "%s", why(errno));
    return false;
}

static void file_send(struct outlet *target, struct outlet_event *const *events, size_t count)
{
    struct file_target *own = (struct file_target *)target;
    buf_clear(&own->lines);
    for (size_t i = 0; i < count; i++) {
        buf_slice(&own->lines, events[i]->body);
        buf_byte(&own->lines, '\n');
    }
    struct outlet_end end = {.outcome = lines_write(own) ? OUTLET_DELIVERED : OUTLET_AWAY,
                             .reason = own->reason};
    outlet_end_all(target, events, count, &end);
}

static void file_close(struct outlet *target)
{
    struct file_target *own = (struct file_target *)target;
    if (own->durable)
        (void)close(own->fd);
    buf_release(&own->lines);
    free(own);
}

static const struct outlet_ops file_ops = {.ordered = true, .send = file_send, .close = file_close};

static struct outlet *file_new(const struct outlet_request *request, int fd, bool durable)
{
    struct file_target *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &file_ops, .owner = *request->owner};
    own->fd = fd;
    own->durable = durable;
    buf_init(&own->lines, LINES_MAX);
    return &own->base;
}

static bool name_is_plain(struct slice name)
{
    if (name.len == 0 || name.len > 200 || name.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

struct outlet *file_open(const struct outlet_request *request)
{
    char path[4096];
    struct slice name = request->spec->url;
    (void)slice_cut(&name, ':');
    if (request->publisher->files == NULL)
        return outlet_refuse(request, "targets in files need --publish-files DIR");
    if (!name_is_plain(name))
        return outlet_refuse(request,
                             "\"%.*s\" is not a plain file name (letters, digits, \".\", \"-\" and "
                             "\"_\")",
                             SLICE_FMT(name));
    (void)snprintf(path, sizeof(path), "%s/%.*s", request->publisher->files, SLICE_FMT(name));
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    struct stat info;
    bool regular = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (regular && file_append_lines(fd, slice_of(NULL, 0)) &&
        directory_sync(request->publisher->files))
        return file_new(request, fd, true);
    DISREGARD(
        outlet_refuse(request, "%s: %s", path, fd >= 0 && !regular ? "not a file" : why(errno)));
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

struct outlet *stdout_open(const struct outlet_request *request)
{
    return file_new(request, STDOUT_FILENO, false);
}
