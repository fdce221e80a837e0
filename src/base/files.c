// See files.h.
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

bool file_write(int fd, struct slice bytes)
{
    while (bytes.len > 0) {
        ssize_t done = write(fd, bytes.ptr, bytes.len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes = slice_of(bytes.ptr + done, bytes.len - (size_t)done);
    }
    return true;
}

bool file_read(int fd, struct buf *out)
{
    ssize_t got = 1;
    while (got > 0) {
        uint8_t *to = buf_reserve(out, READ_BYTES);
        if (to == NULL) {
            errno = ENOMEM;
            return false;
        }
        got = read(fd, to, READ_BYTES);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            out->len += (size_t)got;
    }
    return got == 0;
}

DIR *directory_list(int fd)
{
    // Not dup(): the copy would share its place with the original.
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    if (listing == NULL && own >= 0) {
        int why = errno;
        (void)close(own);
        errno = why;
    }
    return listing;
}

bool directory_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0;
    int why = errno;
    (void)close(fd);
    errno = why;
    return ok;
}
