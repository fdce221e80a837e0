// Order-preserving, self-delimiting encoding of key values, so that the store's
// memcmp order is DynamoDB's order and `A#` + `B` never meets `A` + `#B`.
//
//   S, B      the bytes with 0x00 written as 0x00 0xff, then 0x00 0x01
//   N         the stored number (number.h), then 0x00 if it is zero or positive,
//             or 102 (if not there already) if it is negative
// The type is not part of the encoding: a key attribute has one type per table.
#ifndef VALUE_KEY_H
#define VALUE_KEY_H

#include "base/limits.h"
#include "value/value.h"

// The key schema of a table or index, in order: all HASH parts, then all RANGE parts.
struct key_part {
    struct slice name;
    enum value_type type; // VALUE_S, VALUE_N or VALUE_B
};

struct key_schema {
    size_t hash_count;                          // 1 to 4 (a table has 1)
    size_t range_count;                         // 0 to 4 (a table has at most 1)
    struct key_part parts[2 * LIMIT_KEY_PARTS]; // hash parts first
};

// Whether an attribute is part of the key.
bool key_schema_has(const struct key_schema *schema, struct slice name);

// Appends the encoding of an S, N or B value.
void key_encode(struct buf *out, struct slice value);

// Appends the encoding of an S or B value without its end mark: the prefix of all
// keys that begin with it.
void key_encode_prefix(struct buf *out, struct slice value);

// Reads one key of the given type from the front of *in (trusted bytes), which moves
// behind it, and appends it to `out` as an encoded value.
void key_decode(struct slice *in, enum value_type type, struct buf *out);

// Moves *in behind one key without decoding it; returns the bytes skipped.
struct slice key_skip(struct slice *in, enum value_type type);

// Whether untrusted bytes begin with something that key_skip could skip.
bool key_whole(struct slice in, enum value_type type);

// The smallest byte string greater than every string with this prefix, in place.
// False if there is none (all bytes 0xff).
MUST_CHECK bool key_successor(struct buf *prefix);

// The first eight bytes, as a big-endian number, of the digest by which AWS orders a
// Scan: MD5 over "Outliers" and the key's bytes (S and B as they are, N in its stored
// form). `bytes` is the concatenation over a multi-attribute partition key.
uint64_t key_hash(struct slice bytes);

#endif
