// Sealing bytes: AES-256-GCM, keys derived from keys, and the master key.
//
// What is sealed is opened by nobody without the key, and not at all if a bit of it, or of the
// associated data that it was sealed with, is another. Everything here is OpenSSL's; this header is
// the one place that says how it is used (docs/adr/024-gate.md).
#ifndef CRYPT_CRYPT_H
#define CRYPT_CRYPT_H

#include "base/buf.h"

enum {
    CRYPT_KEY = 32,
    CRYPT_NONCE = 12,
    CRYPT_TAG = 16,
    CRYPT_SEAL = CRYPT_NONCE + CRYPT_TAG, // what sealing adds
};

struct crypt_key {
    uint8_t bytes[CRYPT_KEY];
};

// A random key. The system's randomness, or the process ends: there is nothing else to do.
void crypt_key_make(struct crypt_key *out);
// HKDF-SHA256: the key for one purpose ("access keys", "session tokens", "log", …).
void crypt_key_derive(const struct crypt_key *from, const char *purpose, struct crypt_key *out);
void crypt_key_wipe(struct crypt_key *key);

// Appends nonce, ciphertext and tag. The nonce is random: a key seals at most 2^32 times. `context`
// is authenticated, not kept: whoever opens has to know it.
void crypt_seal(const struct crypt_key *key, struct slice context, struct slice plain,
                struct buf *out);
// Appends the plain bytes. False, with nothing appended, if it was not sealed so.
MUST_CHECK bool crypt_open(const struct crypt_key *key, struct slice context, struct slice sealed,
                           struct buf *out);

// A key that is used often: nothing is allocated for a use. One thread at a time. The nonces are
// the caller's, and must never come twice under a key.
struct crypt_cipher;
struct crypt_cipher *crypt_cipher_new(const struct crypt_key *key, bool sealing);
void crypt_cipher_free(struct crypt_cipher *cipher);
// As many bytes to `to`, which may be where they are, and a tag.
void crypt_cipher_seal(struct crypt_cipher *cipher, const uint8_t nonce[CRYPT_NONCE],
                       struct slice context, struct slice plain, uint8_t *to,
                       uint8_t tag[CRYPT_TAG]);
// False, with zeros at `to`, if they were not sealed so.
MUST_CHECK bool crypt_cipher_open(struct crypt_cipher *cipher, const uint8_t nonce[CRYPT_NONCE],
                                  struct slice context, struct slice sealed,
                                  const uint8_t tag[CRYPT_TAG], uint8_t *to);

// Where a master key comes from: "file:PATH", "env:NAME" or "credential:NAME" (a file of that name
// in systemd's $CREDENTIALS_DIRECTORY). Its text is 64 hexadecimal digits, or 44 characters of
// base64; white space around it does not count. A file that others than its owner may read or
// write is refused. False with a sentence in `error`.
MUST_CHECK bool crypt_master_read(const char *source, struct crypt_key *out, char *error,
                                  size_t error_size);
// A few digits by which people tell master keys apart; says nothing of the key.
enum { CRYPT_NAME = 17 };
void crypt_key_name(const struct crypt_key *key, char out[CRYPT_NAME]);

#endif
