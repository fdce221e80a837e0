// Items of a text in some format, by way of a pipe: what all targets over src/transfer share.
#ifndef TESTS_FUZZ_TRANSFER_H
#define TESTS_FUZZ_TRANSFER_H

#include "fuzz.h"

#include "transfer/item_reader.h"

#include <sys/mman.h>
#include <unistd.h>

// Reads everything; each record is a valid item or has a reason. Answers how many there were.
static inline uint64_t fuzz_transfer(struct slice text, const struct item_reader_options *options)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    ensure(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len);
    ensure(lseek(fd, 0, SEEK_SET) == 0);
    struct item_reader *reader = item_reader_open_fd(fd, options, &error);
    uint64_t count = 0;
    uint64_t line = 0;
    struct item_record record;
    while (reader != NULL && item_reader_next(reader, &record, &error)) {
        ensure((record.bad != NULL) == (record.item.len == 0));
        ensure(record.bad != NULL ||
               (value_type(record.item) == VALUE_M && value_valid(record.item)));
        ensure(record.number == ++count && record.line >= line);
        line = record.line;
    }
    item_reader_free(reader);
    (void)close(fd);
    arena_release(&arena);
    return count;
}

#endif
