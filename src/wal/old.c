// See old.h. A segment: "DLOG", the CRC-32 of the salt (u32), the salt (u64), then records:
// CRC-32 of what follows (u32), payload length (u32), sequence XOR salt (u64), payload.
#include "wal/old.h"

#include "base/encode.h"
#include "store/store_driver.h"
#include "wal/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { START = 16, HEADER = 16 };

struct old_record {
    uint64_t sequence;
    struct slice payload;
};

static bool record_at(struct slice bytes, uint64_t salt, struct old_record *out)
{
    if (bytes.len < HEADER)
        return false;
    uint32_t length = le32_get(bytes.ptr + 4);
    if (length > WAL_RECORD_MAX || length > bytes.len - HEADER)
        return false;
    *out =
        (struct old_record){le64_get(bytes.ptr + 8) ^ salt, slice_of(bytes.ptr + HEADER, length)};
    return crc32_of(slice_of(bytes.ptr + 4, HEADER - 4 + length)) == le32_get(bytes.ptr);
}

static bool walk_bytes(struct slice bytes, struct wal_old *out, wal_visit visit, void *context,
                       struct store_error *error)
{
    if (bytes.len < START || memcmp(bytes.ptr, "DLOG", 4) != 0 ||
        crc32_of(slice_of(bytes.ptr + 8, 8)) != le32_get(bytes.ptr + 4))
        return true; // its start was never finished
    uint64_t salt = le64_get(bytes.ptr + 8);
    struct slice rest = slice_of(bytes.ptr + START, bytes.len - START);
    struct old_record record;
    for (bool first = true; record_at(rest, salt, &record); first = false) {
        bool next = out->last == 0 || record.sequence == out->last + 1;
        if (!next && first)
            return store_fail(error, "the log is damaged: record %llu is followed by record %llu",
                              (unsigned long long)out->last, (unsigned long long)record.sequence);
        if (!next)
            return true;
        if (visit != NULL && !visit(context, record.sequence, record.payload, error))
            return false;
        out->last = record.sequence;
        size_t whole = HEADER + record.payload.len;
        rest = slice_of(rest.ptr + whole, rest.len - whole);
    }
    return true;
}

// A segment of today's format is what an interrupted change to it left behind, and has no records.
static bool is_new_and_used(struct slice bytes)
{
    struct wal_start start;
    struct wal_record record;
    return wal_start_decode(bytes, &start) &&
           wal_record_decode(
               slice_of(bytes.ptr + wal_start_bytes(&start), bytes.len - wal_start_bytes(&start)),
               start.salt, &record);
}

static bool walk_file(int directory, uint64_t number, struct wal_old *out, wal_visit visit,
                      void *context, struct store_error *error)
{
    char name[WAL_NAME_BYTES];
    wal_segment_name(number, name);
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return true;
    struct buf bytes;
    buf_init(&bytes, (size_t)2 << 30);
    bool ok = (file >= 0 && file_read(file, &bytes)) ||
              store_fail_errno(error, "reading the log failed: %s", name);
    if (file >= 0)
        (void)close(file);
    if (ok && is_new_and_used(buf_view(&bytes)))
        ok = store_fail(
            error, "FORMAT is damaged: it is that of an older directory, but log/%s is not", name);
    ok = ok && walk_bytes(buf_view(&bytes), out, visit, context, error);
    buf_release(&bytes);
    return ok;
}

static void note_file(void *context, uint64_t number)
{
    struct wal_old *old = context;
    if (old->lowest == 0 || number < old->lowest)
        old->lowest = number;
    if (number > old->highest)
        old->highest = number;
}

bool wal_old_walk(const char *directory, struct wal_old *out, wal_visit visit, void *context,
                  struct store_error *error)
{
    *out = (struct wal_old){.last = 0};
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return store_fail_errno(error, "reading the log failed");
    bool ok =
        wal_each_segment(fd, note_file, out) || store_fail_errno(error, "reading the log failed");
    for (uint64_t number = out->lowest; ok && number != 0 && number <= out->highest; number++)
        ok = walk_file(fd, number, out, visit, context, error);
    (void)close(fd);
    return ok;
}
