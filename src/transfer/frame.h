// Cutting a source into records, without understanding more of them than where they end: lines,
// records of CSV, values of Ion, or the elements of the arrays in one large JSON document.
//
// Memory is bounded by the longest record, and that by FRAME_MAX. A record that cannot be cut
// (too long, unfinished) is reported as bad and the next one is looked for.
#ifndef TRANSFER_FRAME_H
#define TRANSFER_FRAME_H

#include "base/buf.h"
#include "base/limits.h"
#include "transfer/source.h"

enum { FRAME_MAX = LIMIT_ITEM_JSON, FRAME_NAME_MAX = 255 };

enum framing {
    FRAME_LINE,     // up to a newline; empty lines do not count
    FRAME_CSV,      // up to a newline that is not inside quotes
    FRAME_ION,      // up to the end of a top-level container
    FRAME_DOCUMENT, // each element of each array that is a member of the one object
};

struct framer {
    struct source *source;
    enum framing framing;
    uint8_t delimiter; // CSV
    struct buf data;
    size_t at;   // where the next record begins in data
    size_t scan; // what has been looked at: bytes before it need not be seen again
    bool ended;  // the source has no more
    bool begun;  // the first bytes have been looked at
    bool closed; // DOCUMENT: its end has come, or it is broken
    unsigned depth;
    uint8_t mode;          // what `scan` is inside of; each framing has its own modes
    bool escaped;          // a backslash was before `scan`
    uint8_t containers[2]; // DOCUMENT: '{' or '[', of the two outer levels
    bool naming;           // DOCUMENT: the string that was read last may be a member's name
    size_t name_len;
    uint8_t name[FRAME_NAME_MAX];
    uint64_t line; // of `at`, from 1
};

struct frame {
    struct slice text; // valid until the next call
    struct slice name; // DOCUMENT: the name of the array, as it is written; until the next call
    uint64_t line;     // where it begins
    const char *bad;   // NULL, or why this is no record
};

// `source` is borrowed.
void framer_init(struct framer *framer, enum framing framing, uint8_t delimiter,
                 struct source *source);
void framer_release(struct framer *framer);

// False at the end, and when the source failed: look at error->code.
MUST_CHECK bool framer_next(struct framer *framer, struct frame *out, struct error *error);

#endif
