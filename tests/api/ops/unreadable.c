// For LD_PRELOAD: reads of table files fail with EIO as long as the file $UNREADABLE is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int refused(int fd)
{
    char link[64];
    char path[4096];
    const char *mark = getenv("UNREADABLE");
    if (mark == NULL || access(mark, F_OK) != 0)
        return 0;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len < 4 || memcmp(path + len - 4, ".sst", 4) != 0)
        return 0;
    errno = EIO;
    return 1;
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset)
{
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (real == NULL)
        real = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    return refused(fd) ? -1 : real(fd, buffer, count, offset);
}

ssize_t pread(int fd, void *buffer, size_t count, off_t offset)
{
    return pread64(fd, buffer, count, offset);
}

ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    static ssize_t (*real)(int, const struct iovec *, int, off64_t, int);
    if (real == NULL)
        real = (ssize_t(*)(int, const struct iovec *, int, off64_t, int))dlsym(RTLD_NEXT,
                                                                               "preadv64v2");
    return refused(fd) ? -1 : real(fd, parts, count, offset, flags);
}

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return preadv64v2(fd, parts, count, offset, flags);
}
