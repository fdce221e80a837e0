// One key used over and over: see crypt.h. OpenSSL keeps the expanded key in its context, so that a
// use sets a nonce and nothing else.
#include "crypt/crypt.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

struct crypt_cipher {
    EVP_CIPHER_CTX *context;
};

struct crypt_cipher *crypt_cipher_new(const struct crypt_key *key, bool sealing)
{
    struct crypt_cipher *cipher = memory_zeroed(sizeof(*cipher));
    cipher->context = EVP_CIPHER_CTX_new();
    ensure(cipher->context != NULL);
    ensure(EVP_CipherInit_ex(cipher->context, EVP_aes_256_gcm(), NULL, key->bytes, NULL, sealing) ==
           1);
    return cipher;
}

void crypt_cipher_free(struct crypt_cipher *cipher)
{
    if (cipher == NULL)
        return;
    EVP_CIPHER_CTX_free(cipher->context); // which wipes the key
    free(cipher);
}

// A nonce, what is authenticated only, and the bytes.
static void run(EVP_CIPHER_CTX *context, const uint8_t *nonce, struct slice with, struct slice from,
                uint8_t *to)
{
    int len;
    ensure(with.len <= INT32_MAX && from.len <= INT32_MAX);
    ensure(EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, -1) == 1);
    ensure(with.len == 0 || EVP_CipherUpdate(context, NULL, &len, with.ptr, (int)with.len) == 1);
    ensure(from.len == 0 || EVP_CipherUpdate(context, to, &len, from.ptr, (int)from.len) == 1);
}

void crypt_cipher_seal(struct crypt_cipher *cipher, const uint8_t nonce[CRYPT_NONCE],
                       struct slice context, struct slice plain, uint8_t *to,
                       uint8_t tag[CRYPT_TAG])
{
    int len;
    uint8_t none[CRYPT_TAG];
    run(cipher->context, nonce, context, plain, to);
    ensure(EVP_CipherFinal_ex(cipher->context, none, &len) == 1);
    ensure(EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_GET_TAG, CRYPT_TAG, tag) == 1);
}

bool crypt_cipher_open(struct crypt_cipher *cipher, const uint8_t nonce[CRYPT_NONCE],
                       struct slice context, struct slice sealed, const uint8_t tag[CRYPT_TAG],
                       uint8_t *to)
{
    int len;
    uint8_t copy[CRYPT_TAG]; // OpenSSL wants what it may write to, and does not write
    uint8_t none[CRYPT_TAG];
    memcpy(copy, tag, CRYPT_TAG);
    run(cipher->context, nonce, context, sealed, to);
    ensure(EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_SET_TAG, CRYPT_TAG, copy) == 1);
    if (EVP_CipherFinal_ex(cipher->context, none, &len) == 1)
        return true;
    if (sealed.len > 0)
        OPENSSL_cleanse(to, sealed.len); // what was not authenticated is nobody's to see
    return false;
}
