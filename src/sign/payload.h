// The body of a request whose signature was checked, while it comes: a state machine over pieces of
// any size. It finds the content in aws-chunked bodies, checks the signatures of chunks and of the
// trailer, the length and the hash. It keeps no content.
//
// Content is handed out before what signs it has come: who keeps it commits only after
// sign_payload_end() has said SIGN_OK.
#ifndef SIGN_PAYLOAD_H
#define SIGN_PAYLOAD_H

#include "sign/check.h"

#include <openssl/sha.h>

enum {
    SIGN_CHUNK_MIN = 8192, // of all chunks but the last, as S3 wants it
    SIGN_LINE_MAX = 512,   // a chunk's, of 90 bytes, or a trailer's
    SIGN_TRAILER_MAX = 2048,
    SIGN_SCOPE = 320,
};

struct sign_hmac { // a key, with its two blocks hashed already
    SHA256_CTX inner;
    SHA256_CTX outer;
};

// All of it is private.
struct sign_payload_state {
    enum sign_payload kind;
    unsigned state;
    SHA256_CTX hash; // of the whole content, or of a chunk's
    uint8_t expected[SIGN_HASH];
    struct sign_hmac key;
    char date[SIGN_DATE];
    char scope[SIGN_SCOPE];
    char previous[SIGN_HEX];  // signature
    char signature[SIGN_HEX]; // of this chunk, as it says
    bool trailer_signed;
    bool small;             // this chunk may only be the last
    uint64_t total;         // content so far
    uint64_t length;        // that was promised
    uint64_t left;          // of this chunk
    struct slice announced; // names of trailers
    size_t line_len;
    char line[SIGN_LINE_MAX];
    size_t text_len; // the trailer as it is signed: "name:value\n", names in lower case
    char text[SIGN_TRAILER_MAX];
};

// The claim has been checked with that secret. `trailer` of the claim is borrowed until the end.
void sign_payload_begin(struct sign_payload_state *payload, const struct sign_claim *claim,
                        struct slice secret_key, struct sign_cache *cache);

// Takes a part of a piece: *taken bytes of it, of which *content (a slice of the piece, or empty)
// is content. To be called until the piece is taken. Anything but SIGN_OK is final.
MUST_CHECK enum sign_result sign_payload_feed(struct sign_payload_state *payload,
                                              struct slice piece, size_t *taken,
                                              struct slice *content);

// The body is over: whether it is whole and signed.
MUST_CHECK enum sign_result sign_payload_end(struct sign_payload_state *payload);

// The value of a trailer, by its name in lower case; empty if there is none.
struct slice sign_payload_trailer(const struct sign_payload_state *payload, struct slice name);

// How long the content is, which aws-chunked bodies say; else `content_length`.
static inline uint64_t sign_payload_length(const struct sign_claim *claim, uint64_t content_length)
{
    return claim->payload >= SIGN_PAYLOAD_CHUNKS ? claim->decoded_length : content_length;
}

#endif
