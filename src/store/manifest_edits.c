// See manifest_edits.h. The pieces of an edit are joined as manifest.c describes them; an edit is a
// list of fields, each a tag and what belongs to it (RocksDB 7.8, db/version_edit.h).
#include "store/manifest_edits.h"

#include "base/buf.h"

#include <string.h>

enum { BLOCK = 32768, HEAD = 7, PIECE_WHOLE = 1, PIECE_LAST = 4, EDIT_MAX = 64 << 20 };

enum tag {
    TAG_COMPARATOR = 1,
    TAG_LOG_NUMBER = 2,
    TAG_NEXT_FILE = 3,
    TAG_LAST_SEQUENCE = 4,
    TAG_COMPACT_CURSOR = 5,
    TAG_DELETED_FILE = 6,
    TAG_PREV_LOG_NUMBER = 9,
    TAG_MIN_LOG_NUMBER = 10,
    TAG_NEW_FILE_4 = 103,
    TAG_FAMILY = 200,
    TAG_FAMILY_ADD = 201,
    TAG_FAMILY_DROP = 202,
    TAG_MAX_FAMILY = 203,
    TAG_ATOMIC_GROUP = 300,
    TAG_SKIPPED = 1 << 13, // and above: readers that do not know one pass over it
    FIELD_END = 1,         // of what is added to a new file
};

struct reader {
    struct slice rest;
    bool failed;
};

static uint64_t get_number(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && r->rest.len > 0; shift += 7) {
        uint8_t byte = r->rest.ptr[0];
        r->rest = slice_of(r->rest.ptr + 1, r->rest.len - 1);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->failed = true;
    return 0;
}

static void skip_bytes(struct reader *r)
{
    uint64_t length = get_number(r);
    if (r->failed || length > r->rest.len)
        r->failed = true;
    else
        r->rest = slice_of(r->rest.ptr + length, r->rest.len - length);
}

// Level, number, size, smallest and largest key, smallest and largest sequence, then fields.
static void skip_new_file(struct reader *r)
{
    for (int i = 0; i < 3; i++)
        (void)get_number(r);
    skip_bytes(r);
    skip_bytes(r);
    (void)get_number(r);
    (void)get_number(r);
    while (!r->failed && get_number(r) != FIELD_END)
        skip_bytes(r);
}

// False if it is one that is not known.
static bool skip_field(struct reader *r, uint64_t tag)
{
    switch (tag) {
    case TAG_LOG_NUMBER:
    case TAG_NEXT_FILE:
    case TAG_LAST_SEQUENCE:
    case TAG_PREV_LOG_NUMBER:
    case TAG_MIN_LOG_NUMBER:
    case TAG_FAMILY:
    case TAG_MAX_FAMILY:
    case TAG_ATOMIC_GROUP:
        (void)get_number(r);
        return true;
    case TAG_COMPARATOR:
    case TAG_FAMILY_ADD:
        skip_bytes(r);
        return true;
    case TAG_COMPACT_CURSOR:
        (void)get_number(r);
        skip_bytes(r);
        return true;
    case TAG_NEW_FILE_4:
        skip_new_file(r);
        return true;
    case TAG_FAMILY_DROP:
        return true;
    default:
        if (tag >= TAG_SKIPPED)
            skip_bytes(r);
        return tag >= TAG_SKIPPED;
    }
}

static void read_edit(struct slice edit, void (*visit)(void *context, uint64_t number),
                      void *context)
{
    struct reader r = {.rest = edit};
    while (r.rest.len > 0 && !r.failed) {
        uint64_t tag = get_number(&r);
        if (tag != TAG_DELETED_FILE) {
            r.failed = !skip_field(&r, tag) || r.failed;
            continue;
        }
        (void)get_number(&r); // the level
        uint64_t number = get_number(&r);
        if (!r.failed)
            visit(context, number);
    }
}

void manifest_each_deleted(struct slice bytes, void (*visit)(void *context, uint64_t number),
                           void *context)
{
    struct buf edit;
    buf_init(&edit, EDIT_MAX);
    for (size_t at = 0; at < bytes.len;) {
        size_t left = BLOCK - at % BLOCK;
        if (left < HEAD) {
            at += left;
            continue;
        }
        uint16_t length;
        if (at + HEAD > bytes.len)
            break;
        memcpy(&length, bytes.ptr + at + 4, 2);
        uint8_t type = bytes.ptr[at + 6];
        if (type < PIECE_WHOLE || type > PIECE_LAST || at + HEAD + length > bytes.len)
            break;
        buf_add(&edit, bytes.ptr + at + HEAD, length);
        if (type == PIECE_WHOLE || type == PIECE_LAST) {
            read_edit(buf_view(&edit), visit, context);
            buf_clear(&edit);
        }
        at += (size_t)HEAD + length;
    }
    buf_release(&edit);
}
