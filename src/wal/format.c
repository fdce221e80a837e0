// See format.h. Everything is pure but for wal_each_segment.
#include "wal/format.h"

#include "base/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC_BYTES = 4,
    SUMMED_AT = 8, // in a segment's header: what the checksum covers begins here
    KEY_AT = 32,   // and where the id of the data key is
};

static const uint8_t magic[MAGIC_BYTES] = {'D', 'L', 'G', '3'};
static const uint8_t magic_sealed[MAGIC_BYTES] = {'D', 'L', 'G', '4'};
static const uint8_t magic_2[MAGIC_BYTES] = {'D', 'L', 'G', '2'}; // without the file before

uint64_t wal_mark(uint64_t salt)
{
    return salt == 0 ? 0 : (salt * 0x9e3779b97f4a7c15u) >> 16 | 1;
}

size_t wal_start_bytes(const struct wal_start *start)
{
    return start->key == 0 ? WAL_START : WAL_START_SEALED;
}

size_t wal_start_encode(const struct wal_start *start, struct crypt_cipher *cipher,
                        uint8_t out[WAL_START_SEALED])
{
    size_t length = wal_start_bytes(start);
    memset(out, 0, length);
    memcpy(out, start->key == 0 ? magic : magic_sealed, MAGIC_BYTES);
    memcpy(out + 8, &start->salt, 8);
    uint32_t number = (uint32_t)start->number;
    memcpy(out + 16, &number, 4);
    memcpy(out + 20, &start->before, 4);
    memcpy(out + 24, &start->first, 8);
    if (start->key != 0) {
        memcpy(out + KEY_AT, &start->key, 4);
        wal_start_seal(cipher, out);
    }
    uint32_t sum = crc32_of(slice_of(out + SUMMED_AT, length - SUMMED_AT));
    memcpy(out + MAGIC_BYTES, &sum, 4);
    return length;
}

bool wal_start_decode(struct slice bytes, struct wal_start *out)
{
    if (bytes.len < WAL_START)
        return false;
    bool is_sealed = memcmp(bytes.ptr, magic_sealed, MAGIC_BYTES) == 0;
    bool is_new = is_sealed || memcmp(bytes.ptr, magic, MAGIC_BYTES) == 0;
    size_t length = is_sealed ? WAL_START_SEALED : WAL_START;
    if (bytes.len < length)
        return false;
    if (!is_new && memcmp(bytes.ptr, magic_2, MAGIC_BYTES) != 0)
        return false;
    *out = (struct wal_start){
        .salt = le64_get(bytes.ptr + 8),
        .number = is_new ? le32_get(bytes.ptr + 16) : le64_get(bytes.ptr + 16),
        .first = le64_get(bytes.ptr + 24),
        .before = is_new ? le32_get(bytes.ptr + 20) : 0,
        .key = is_sealed ? le32_get(bytes.ptr + KEY_AT) : 0,
    };
    return crc32_of(slice_of(bytes.ptr + SUMMED_AT, length - SUMMED_AT)) ==
               le32_get(bytes.ptr + MAGIC_BYTES) &&
           is_sealed == (out->key != 0);
}

static uint32_t record_sum(const uint8_t *header, struct slice payload)
{
    return crc32_more(crc32_of(slice_of(header + 4, WAL_HEADER - 4)), payload);
}

void wal_record_encode(const struct wal_record *record, uint64_t salt, uint8_t out[WAL_HEADER])
{
    uint32_t length = (uint32_t)record->payload.len;
    uint64_t salted = record->sequence ^ salt;
    memcpy(out + 4, &length, 4);
    memcpy(out + 8, &salted, 8);
    memcpy(out + 16, &record->unsynced, 4);
    uint32_t sum = record_sum(out, record->payload);
    memcpy(out, &sum, 4);
}

bool wal_record_decode(struct slice bytes, uint64_t salt, struct wal_record *out)
{
    if (bytes.len < WAL_HEADER)
        return false;
    uint32_t length = le32_get(bytes.ptr + 4);
    if (length > WAL_RECORD_MAX || length > bytes.len - WAL_HEADER)
        return false;
    *out = (struct wal_record){.sequence = le64_get(bytes.ptr + 8) ^ salt,
                               .unsynced = le32_get(bytes.ptr + 16),
                               .payload = slice_of(bytes.ptr + WAL_HEADER, length),
                               .bytes = WAL_HEADER + (size_t)length};
    return record_sum(bytes.ptr, out->payload) == le32_get(bytes.ptr);
}

void wal_segment_name(uint64_t number, char out[WAL_NAME_BYTES])
{
    (void)snprintf(out, WAL_NAME_BYTES, "%010llu.log", (unsigned long long)number);
}

// The number of a segment's file name, or 0.
static uint64_t segment_number(const char *name)
{
    char *end;
    char canonical[WAL_NAME_BYTES];
    uint64_t number = strtoull(name, &end, 10);
    wal_segment_name(number, canonical);
    return strcmp(name, canonical) == 0 ? number : 0;
}

bool wal_each_segment(int directory, void (*visit)(void *context, uint64_t number), void *context)
{
    DIR *listing = directory_list(directory);
    if (listing == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        uint64_t number = segment_number(entry->d_name);
        if (number != 0)
            visit(context, number);
    }
    (void)closedir(listing);
    return true;
}
