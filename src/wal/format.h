// The bytes of a log segment, for the code that writes them (wal.c) and the code that reads them
// (check.c). The layout is in check.h.
#ifndef WAL_FORMAT_H
#define WAL_FORMAT_H

#include "base/files.h"
#include "wal/check.h"

enum {
    WAL_START = 32,             // bytes of a segment's header: where the first record stands
    WAL_HEADER = 20,            // bytes of a record in front of its payload
    WAL_RECORD_MAX = 512 << 20, // a longer one is no record
};

struct wal_start {
    uint64_t salt; // keeps a client's data from passing for a record, and tells files apart
    uint64_t number;
    uint64_t first;
    uint32_t before; // wal_mark of the file before this one, cut; 0 if that is not known
};

struct wal_record {
    uint64_t sequence;
    uint32_t unsynced;
    struct slice payload;
};

// A salt in 48 bits, never 0 unless it is.
uint64_t wal_mark(uint64_t salt);

void wal_start_encode(const struct wal_start *start, uint8_t out[WAL_START]);
MUST_CHECK bool wal_start_decode(struct slice bytes, struct wal_start *out);

// Makes the header of a record.
void wal_record_encode(const struct wal_record *record, uint64_t salt, uint8_t out[WAL_HEADER]);
// The whole record at the front of the bytes; false if there is none.
MUST_CHECK bool wal_record_decode(struct slice bytes, uint64_t salt, struct wal_record *out);

void wal_segment_name(uint64_t number, char out[WAL_NAME_BYTES]);
// The number of a segment's file name, or 0.
uint64_t wal_segment_number(const char *name);

// Calls back with the number of each segment there is, in no order. False with errno.
MUST_CHECK bool wal_each_segment(int directory, void (*visit)(void *context, uint64_t number),
                                 void *context);

#endif
