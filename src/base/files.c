// See files.h.
#include "base/files.h"

#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, LINE_PIECE = 64 << 10, LOCK_WAIT_MS = 1000 };

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

// ---- Lines -----------------------------------------------------------------------------------

// A lock of the open file, so that it also keeps those apart who are in one process. Whoever has it
// gives it back after a write, or dies: who waits longer than that waits for one who is stopped.
static bool lock_file(int fd)
{
    int64_t until = monotonic_ms() + LOCK_WAIT_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || monotonic_ms() >= until))
            return false;
        sleep_ms(1);
    }
    return true;
}

// Where the last whole line ends, looked for from the end of the file; -1 if it cannot be read.
static off_t lines_end(int fd, off_t end)
{
    char piece[LINE_PIECE];
    size_t most = 1; // most often the file ends with a line
    while (end > 0) {
        size_t len = end < (off_t)most ? (size_t)end : most;
        if (pread(fd, piece, len, end - (off_t)len) != (ssize_t)len)
            return -1;
        const char *newline = memrchr(piece, '\n', len);
        if (newline != NULL)
            return end - (off_t)len + (newline - piece) + 1;
        end -= (off_t)len;
        most = sizeof(piece);
    }
    return 0;
}

bool file_append_lines(int fd, struct slice lines)
{
    if (!lock_file(fd))
        return false;
    off_t end = lseek(fd, 0, SEEK_END);
    off_t whole = end < 0 ? -1 : lines_end(fd, end);
    bool ok = whole >= 0 && (whole == end || ftruncate(fd, whole) == 0);
    if (ok && !(file_write(fd, lines) && fdatasync(fd) == 0)) {
        int why = errno;
        DISREGARD(ftruncate(fd, whole));
        errno = why;
        ok = false;
    }
    int why = errno;
    (void)flock(fd, LOCK_UN);
    errno = why;
    return ok;
}

// ---- Directories -----------------------------------------------------------------------------

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

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

bool directory_remove(const char *path)
{
    enum { OPEN_DIRECTORIES = 16 };
    return access(path, F_OK) != 0 ||
           nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS) == 0;
}
