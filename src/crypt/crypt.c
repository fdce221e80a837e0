// See crypt.h. A failure of OpenSSL here is no input's fault (no memory, no algorithm): the process
// ends, as it does wherever an invariant is broken.
#include "crypt/crypt.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

void crypt_key_make(struct crypt_key *out)
{
    ensure(RAND_priv_bytes(out->bytes, CRYPT_KEY) == 1);
}

void crypt_key_wipe(struct crypt_key *key)
{
    OPENSSL_cleanse(key, sizeof(*key));
}

void crypt_key_derive(const struct crypt_key *from, const char *purpose, struct crypt_key *out)
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf == NULL ? NULL : EVP_KDF_CTX_new(kdf);
    ensure(context != NULL);
    struct crypt_key key = *from; // OSSL_PARAM wants what it may write to, and does not write
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.bytes, CRYPT_KEY),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)(uintptr_t)purpose,
                                          strlen(purpose)),
        OSSL_PARAM_construct_end(),
    };
    ensure(EVP_KDF_derive(context, out->bytes, CRYPT_KEY, params) == 1);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    crypt_key_wipe(&key);
}

// ---- Sealing ---------------------------------------------------------------------------------

static EVP_CIPHER_CTX *cipher_begin(const struct crypt_key *key, const uint8_t *nonce,
                                    struct slice context, bool sealing)
{
    int len;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    ensure(cipher != NULL && context.len <= INT32_MAX);
    ensure(EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, key->bytes, nonce, sealing) == 1);
    ensure(context.len == 0 ||
           EVP_CipherUpdate(cipher, NULL, &len, context.ptr, (int)context.len) == 1);
    return cipher;
}

void crypt_seal(const struct crypt_key *key, struct slice context, struct slice plain,
                struct buf *out)
{
    int len = 0;
    uint8_t *to = buf_reserve(out, plain.len + CRYPT_SEAL);
    if (to == NULL)
        return; // the buffer says so
    ensure(plain.len <= INT32_MAX && RAND_bytes(to, CRYPT_NONCE) == 1);
    EVP_CIPHER_CTX *cipher = cipher_begin(key, to, context, true);
    uint8_t *text = to + CRYPT_NONCE;
    ensure(plain.len == 0 || EVP_CipherUpdate(cipher, text, &len, plain.ptr, (int)plain.len) == 1);
    ensure(EVP_CipherFinal_ex(cipher, text + plain.len, &len) == 1);
    ensure(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, CRYPT_TAG, text + plain.len) == 1);
    EVP_CIPHER_CTX_free(cipher);
    out->len += plain.len + CRYPT_SEAL;
}

bool crypt_open(const struct crypt_key *key, struct slice context, struct slice sealed,
                struct buf *out)
{
    if (sealed.len < CRYPT_SEAL || sealed.len > INT32_MAX)
        return false;
    int len = 0;
    size_t size = sealed.len - CRYPT_SEAL;
    uint8_t *to = buf_reserve(out, size + 1);
    if (to == NULL)
        return false;
    uint8_t tag[CRYPT_TAG];
    memcpy(tag, sealed.ptr + sealed.len - CRYPT_TAG, CRYPT_TAG);
    EVP_CIPHER_CTX *cipher = cipher_begin(key, sealed.ptr, context, false);
    ensure(size == 0 ||
           EVP_CipherUpdate(cipher, to, &len, sealed.ptr + CRYPT_NONCE, (int)size) == 1);
    ensure(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, CRYPT_TAG, tag) == 1);
    bool right = EVP_CipherFinal_ex(cipher, to + size, &len) == 1;
    EVP_CIPHER_CTX_free(cipher);
    if (right)
        out->len += size;
    else
        OPENSSL_cleanse(to, size); // what was not authenticated is nobody's to see
    return right;
}

void crypt_key_name(const struct crypt_key *key, char out[CRYPT_NAME])
{
    static const char digits[] = "0123456789abcdef";
    struct crypt_key name;
    crypt_key_derive(key, "name", &name);
    for (size_t i = 0; i < CRYPT_NAME - 1; i++)
        out[i] = digits[name.bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    out[CRYPT_NAME - 1] = 0;
}
