// See sealed_io.h.
#include "rocks/sealed_io.h"

#include "base/files.h"
#include "crypt/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PARTS_MOST = 64,       // of one read
    KEPT_MOST = 256 << 10, // memory that a writer keeps for the next bytes
};
#define CONTENT_MOST ((size_t)1 << 30)

// ---- Tables -------------------------------------------------------------------------------------

struct sealed_table {
    int fd;
    struct pages *pages;
};

struct sealed_table *sealed_table_new(const struct keyring *keys, int fd)
{
    uint8_t head[SEALED_HEAD];
    struct stat status;
    struct pages *pages = NULL;
    if (fstat(fd, &status) == 0 && pread(fd, head, SEALED_HEAD, 0) == SEALED_HEAD)
        pages = pages_open(keys, slice_of(head, SEALED_HEAD), (uint64_t)status.st_size);
    if (pages == NULL)
        return NULL;
    struct sealed_table *table = memory_zeroed(sizeof(*table));
    table->fd = fd;
    table->pages = pages;
    return table;
}

void sealed_table_free(struct sealed_table *table)
{
    if (table == NULL)
        return;
    pages_close(table->pages);
    free(table);
}

struct reading {
    int fd;
    sealed_reader reader;
};

// The parts without so many bytes at their front. Returns how many parts are left.
static int parts_behind(const struct iovec *parts, int count, size_t done, struct iovec *out)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        size_t skip = done < parts[i].iov_len ? done : parts[i].iov_len;
        done -= skip;
        if (skip < parts[i].iov_len)
            out[left++] = (struct iovec){(char *)parts[i].iov_base + skip, parts[i].iov_len - skip};
    }
    return left;
}

static bool read_parts(void *context, const struct iovec *parts, int count, uint64_t at)
{
    const struct reading *reading = context;
    struct iovec left[PARTS_MOST];
    ensure(count <= PARTS_MOST);
    size_t done = 0;
    for (int more; (more = parts_behind(parts, count, done, left)) > 0;) {
        ssize_t got = reading->reader(reading->fd, left, more, (off_t)(at + done));
        if (got == 0)
            errno = EBADMSG; // it was longer when it was opened
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

ssize_t sealed_table_read(struct sealed_table *table, uint64_t at, size_t size, void *to,
                          sealed_reader reader)
{
    size_t got = 0;
    struct reading reading = {table->fd, reader};
    switch (pages_read(table->pages, at, size, to, &got, read_parts, &reading)) {
    case PAGES_DONE:
        return (ssize_t)got;
    case PAGES_DAMAGED:
        errno = EBADMSG;
        break;
    case PAGES_FAILED:
        break;
    }
    return -1;
}

uint64_t sealed_table_place(uint64_t at)
{
    return SEALED_HEAD + at / SEALED_PAGE * (SEALED_PAGE + CRYPT_TAG);
}

uint64_t sealed_table_size(uint64_t raw)
{
    return pages_plain_size(raw);
}

// ---- Other files --------------------------------------------------------------------------------

void *sealed_content(const struct keyring *keys, const char *path, size_t *size, bool *all)
{
    struct buf raw;
    struct buf plain;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    buf_init(&raw, CONTENT_MOST);
    buf_init(&plain, CONTENT_MOST);
    bool ok = file_read(fd, &raw);
    int why = raw.failed ? EFBIG : errno;
    (void)close(fd);
    void *content = NULL;
    if (ok) {
        *size = (size_t)frames_read(keys, buf_view(&raw), &plain, all);
        content = malloc(*size + 1); // C++ frees it
        ensure_memory(content);
        if (*size > 0)
            memcpy(content, plain.ptr, *size);
    }
    buf_release(&raw);
    buf_release(&plain);
    errno = why;
    return content;
}

// ---- Writing ------------------------------------------------------------------------------------

struct sealed_writer {
    struct page_writer *pages; // one of the two
    struct frame_writer *frames;
    struct buf out;
    bool taken;
};

struct sealed_writer *sealed_writer_new(const struct keyring *keys, bool table)
{
    struct sealed_writer *writer = memory_zeroed(sizeof(*writer));
    buf_init(&writer->out, CONTENT_MOST);
    if (table)
        writer->pages = page_writer_new(keys, &writer->out);
    else
        writer->frames = frame_writer_new(keys, &writer->out);
    return writer;
}

void sealed_writer_free(struct sealed_writer *writer)
{
    page_writer_free(writer->pages);
    frame_writer_free(writer->frames);
    buf_release(&writer->out);
    free(writer);
}

static void forget_taken(struct sealed_writer *writer)
{
    if (!writer->taken)
        return;
    writer->taken = false;
    if (writer->out.cap > KEPT_MOST)
        buf_release(&writer->out);
    buf_clear(&writer->out);
}

bool sealed_writer_add(struct sealed_writer *writer, const void *bytes, size_t size)
{
    forget_taken(writer);
    if (writer->pages == NULL)
        frame_writer_add(writer->frames, slice_of(bytes, size), &writer->out);
    else if (page_writer_ended(writer->pages))
        return size == 0;
    else
        page_writer_add(writer->pages, slice_of(bytes, size), &writer->out);
    return true;
}

void sealed_writer_end(struct sealed_writer *writer)
{
    forget_taken(writer);
    if (writer->pages != NULL)
        page_writer_end(writer->pages, &writer->out);
}

const void *sealed_writer_take(struct sealed_writer *writer, size_t *size)
{
    forget_taken(writer);
    writer->taken = true;
    *size = writer->out.len;
    return writer->out.ptr;
}
