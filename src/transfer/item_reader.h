// The items of a file, one after the other, whatever its format. A record that is no item is given
// out, too, with the reason; reading goes on behind it.
#ifndef TRANSFER_ITEM_READER_H
#define TRANSFER_ITEM_READER_H

#include "base/error.h"
#include "transfer/format.h"
#include "value/key.h"

struct item_reader;

struct item_reader_options {
    enum transfer_format format;
    enum transfer_compression compression;
    // CSV only. Everything is borrowed as long as the reader lives.
    uint8_t delimiter; // 0 for a comma
    size_t header_count;
    const struct slice *header; // without it the first record is the header
    size_t typed_count;
    const struct key_part *typed; // key attributes of the table and its indexes
    bool empty_is_absent;
    // Asked before each piece of the file, or NULL. If it says so, reading ends with
    // ERR_UNAVAILABLE: a record may be far away.
    bool (*stop)(void *context);
    void *stop_context;
};

struct item_record {
    uint64_t number;    // of the record in the file, from 1
    uint64_t line;      // where it begins
    bool removes;       // `item` is the key of an item to delete
    struct slice item;  // an M value, valid until the next call; VALUE_NONE if the record is bad
    struct slice table; // BATCH_WRITE: for which table; else empty
    const char *bad;    // NULL, or why this is no item; until the next call
};

// NULL with the reason in `error`, as for a file that cannot be read.
MUST_CHECK struct item_reader *
item_reader_open(const char *path, const struct item_reader_options *options, struct error *error);
// Over a descriptor, which stays the caller's.
MUST_CHECK struct item_reader *
item_reader_open_fd(int fd, const struct item_reader_options *options, struct error *error);
void item_reader_free(struct item_reader *reader);

// Passes over records without decoding them, to go on where another run had stopped.
MUST_CHECK bool item_reader_skip(struct item_reader *reader, uint64_t records, struct error *error);

// False at the end, and with the error set when the file cannot be read on.
MUST_CHECK bool item_reader_next(struct item_reader *reader, struct item_record *out,
                                 struct error *error);

// Bytes of the file read so far.
uint64_t item_reader_consumed(const struct item_reader *reader);

#endif
