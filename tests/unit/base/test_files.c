// Files of lines that several append to: every line stands whole, whatever dies in between.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

enum { WRITERS = 4, ROUNDS = 50, LONG = 200000 };

static int open_lines(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void temporary(char path[64])
{
    (void)snprintf(path, 64, "/tmp/dolmen-lines.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void content(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    buf_init(out, 64 << 20);
    assert_true(file_read(fd, out));
    assert_int_equal(close(fd), 0);
}

static void assert_content(const char *path, const char *expected)
{
    struct buf got;
    content(path, &got);
    assert_true(slice_is(buf_view(&got), expected));
    buf_release(&got);
}

static void test_torn_lines_are_cut(void **state)
{
    (void)state;
    char path[64];
    temporary(path);
    int fd = open_lines(path);
    assert_true(file_append_lines(fd, SLICE_LIT("one\ntwo\n")));
    assert_true(file_write(fd, SLICE_LIT("hal")));
    assert_true(file_append_lines(fd, SLICE_LIT("three\n")));
    assert_content(path, "one\ntwo\nthree\n");
    char *half = memset(malloc(LONG), 'x', LONG); // longer than a piece
    assert_true(file_write(fd, slice_of(half, LONG)));
    assert_true(file_append_lines(fd, slice_of(NULL, 0)));
    assert_content(path, "one\ntwo\nthree\n");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_true(file_write(fd, slice_of(half, LONG))); // nothing whole before it
    assert_true(file_append_lines(fd, SLICE_LIT("four\n")));
    assert_content(path, "four\n");
    free(half);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
}

static void test_failures(void **state)
{
    (void)state;
    char path[64];
    int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    if (full >= 0) {
        assert_false(file_append_lines(full, SLICE_LIT("one\n")));
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(close(full), 0);
    }
    temporary(path);
    int fd = open_lines(path);
    int other = open_lines(path);
    assert_int_equal(flock(other, LOCK_EX), 0);
    assert_false(file_append_lines(fd, SLICE_LIT("one\n")));
    assert_int_equal(errno, EWOULDBLOCK);
    assert_int_equal(flock(other, LOCK_UN), 0);
    assert_true(file_append_lines(fd, SLICE_LIT("one\n")));
    assert_true(file_append_lines(other, SLICE_LIT("two\n"))); // the lock was given back
    assert_content(path, "one\ntwo\n");
    assert_int_equal(close(fd) + close(other), 0);
    int closed = open(path, O_RDONLY | O_CLOEXEC);
    assert_false(file_append_lines(closed, SLICE_LIT("three\n")));
    assert_int_equal(close(closed), 0);
    assert_int_equal(unlink(path), 0);
}

struct writer {
    const char *path;
    unsigned number;
    pthread_t thread;
};

// Writes lines of its own number and of several lengths; now and then it dies in the middle of one.
static void *writer_main(void *context)
{
    struct writer *own = context;
    char line[5000];
    int fd = open_lines(own->path);
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t len = 1 + (i * 37 + own->number * 101) % (sizeof(line) - 1);
        memset(line, 'a' + (int)own->number, len);
        line[len - 1] = '\n';
        while (!file_append_lines(fd, slice_of(line, len)))
            assert_int_equal(errno, EWOULDBLOCK); // the disk is slow, and the others were first
        if (i % 16 != 0)
            continue;
        assert_int_equal(flock(fd, LOCK_EX), 0);
        assert_true(file_write(fd, SLICE_LIT("torn")));
        assert_int_equal(close(fd), 0);
        fd = open_lines(own->path);
    }
    assert_int_equal(close(fd), 0);
    return NULL;
}

static void test_writers_beside_each_other(void **state)
{
    (void)state;
    char path[64];
    struct writer writers[WRITERS];
    struct buf got;
    temporary(path);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.path = path, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, writer_main, &writers[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    int fd = open_lines(path);
    assert_true(file_append_lines(fd, slice_of(NULL, 0)));
    assert_int_equal(close(fd), 0);
    content(path, &got);
    struct slice rest = buf_view(&got);
    size_t lines = 0;
    while (rest.len > 0) {
        struct slice line = slice_cut(&rest, '\n');
        for (size_t i = 1; i < line.len; i++)
            assert_int_equal(line.ptr[i], line.ptr[0]);
        lines++;
    }
    assert_int_equal(lines, WRITERS * ROUNDS);
    buf_release(&got);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torn_lines_are_cut),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_writers_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
