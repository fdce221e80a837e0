// The chain of an audit log: every line carries the digest of all lines up to it.
//
//   {"seq":N,BODY,"chain":"<64 hexadecimal digits>"}
//
// The digest is SHA-256 over the digest of the line before (32 bytes of 0 before the first one) and
// the line itself up to `,"chain":`. So a line cannot be changed, removed, added or moved without
// changing all lines behind it. Whoever can write the file could make all of them anew; therefore
// the chain is sealed, once a second and at the end of each file, by an HMAC under a key that the
// file does not have, and the place of the last seal is kept in a file of its own, the head.
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include "base/buf.h"
#include "crypt/crypt.h"

#include <openssl/sha.h>

enum {
    CHAIN_DIGEST = 32,
    CHAIN_HEX = 2 * CHAIN_DIGEST,
    CHAIN_HASHED = 16, // bytes of a hashed value
    CHAIN_LOG_ID = 32, // hexadecimal digits
    CHAIN_TAIL = CHAIN_HEX + sizeof(",\"chain\":\"\"}") - 1,
    LINE_MAX_BYTES = 256 << 10, // of a line; what makes them keeps well below
};

struct chain {
    uint64_t seq; // of the last line; 0 before the first
    uint8_t digest[CHAIN_DIGEST];
};

// Appends a line and its newline; the chain moves on.
void chain_add(struct chain *chain, struct slice body, struct buf *out);

// A line taken apart, without its newline.
struct chain_line {
    uint64_t seq;
    struct slice body;    // members, without the braces
    struct slice covered; // by the digest
    uint8_t digest[CHAIN_DIGEST];
};
// False if it does not have the form.
MUST_CHECK bool chain_read(struct slice line, struct chain_line *out);
// Whether the line is the next one of the chain, which moves on if it is.
MUST_CHECK bool chain_follow(struct chain *chain, const struct chain_line *line);

// ---- Keys ------------------------------------------------------------------------------------

// Both follow from one key: a master key, or one that was made for the log.
struct chain_keys {
    struct crypt_key seal;
    SHA256_CTX hash[2];    // HMAC's inner and outer digest, begun with the key: it hashes every key
    char name[CRYPT_NAME]; // tells keys apart
};
void chain_keys_derive(const struct crypt_key *from, struct chain_keys *out);
void chain_keys_wipe(struct chain_keys *keys);
// The key in a file of its own, of mode 0600, which is made if `make` says so and it is missing.
MUST_CHECK bool chain_key_file(const char *path, bool make, struct crypt_key *out, char *error,
                               size_t error_size);

// What a seal says: that the chain was so when the line of the seal, whose number that is, was
// written. Hexadecimal digits without a NUL.
void chain_seal(const struct chain_keys *keys, const struct chain *before, uint64_t seq,
                char out[CHAIN_HEX]);
// A value that can be compared with others and not be guessed.
void chain_hash(const struct chain_keys *keys, struct slice value, char out[2 * CHAIN_HASHED]);

// ---- The head --------------------------------------------------------------------------------

// Where the log was when it was last sealed.
struct chain_head {
    char log[CHAIN_LOG_ID + 1]; // of which log
    uint64_t file;              // its number
    struct chain chain;         // the seal is its last line
};
void chain_head_write(const struct chain_keys *keys, const struct chain_head *head,
                      struct buf *out);
// False if it is no head. `genuine` says whether it was made with these keys, which may be NULL.
MUST_CHECK bool chain_head_read(struct slice text, const struct chain_keys *keys,
                                struct chain_head *out, bool *genuine);

// ---- Reading members -------------------------------------------------------------------------

// The value of a member of a body, as the text stands there: a string without its quotes, which has
// no escapes if it is one of those that this room reads. Empty if there is none.
struct slice chain_member(struct slice body, const char *name);
// The same as a number; 0 if it is none.
uint64_t chain_number(struct slice body, const char *name);
// Digits to bytes; false if they are none.
MUST_CHECK bool chain_unhex(struct slice digits, uint8_t *out, size_t len);

#endif
