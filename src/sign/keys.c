// HMAC-SHA256, and the keys that follow from a secret. A key is kept as the two states of the
// digest behind its padded blocks, so that using it costs no more than the text.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every key
#include "base/hash.h"
#include "sign/sign_internal.h"

#include <openssl/crypto.h>
#include <stdlib.h>

enum {
    BLOCK = 64,
    SLOTS = 256,
    KEY_NAME = 320, // what a key follows from; longer ones are not kept
};

struct slot {
    size_t len; // 0: free
    uint8_t name[KEY_NAME];
    struct sign_hmac key;
};

struct sign_cache {
    struct slot slots[SLOTS];
};

struct sign_cache *sign_cache_new(void)
{
    return calloc(1, sizeof(struct sign_cache));
}

void sign_cache_free(struct sign_cache *cache)
{
    if (cache != NULL)
        OPENSSL_cleanse(cache, sizeof(*cache));
    free(cache);
}

void sign_hmac_init(struct sign_hmac *hmac, struct slice key)
{
    uint8_t block[BLOCK] = {0};
    if (key.len > BLOCK)
        SHA256(key.ptr, key.len, block);
    else if (key.len > 0)
        memcpy(block, key.ptr, key.len);
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36;
    SHA256_Init(&hmac->inner);
    SHA256_Update(&hmac->inner, block, BLOCK);
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5c;
    SHA256_Init(&hmac->outer);
    SHA256_Update(&hmac->outer, block, BLOCK);
    OPENSSL_cleanse(block, sizeof(block));
}

void sign_hmac_of(const struct sign_hmac *hmac, struct slice first, struct slice second,
                  uint8_t out[SIGN_HASH])
{
    SHA256_CTX context = hmac->inner;
    SHA256_Update(&context, first.ptr, first.len);
    SHA256_Update(&context, second.ptr, second.len);
    SHA256_Final(out, &context);
    context = hmac->outer;
    SHA256_Update(&context, out, SIGN_HASH);
    SHA256_Final(out, &context);
}

void hmac_sha256(struct slice key, struct slice first, struct slice second, uint8_t out[SIGN_HASH])
{
    struct sign_hmac hmac;
    sign_hmac_init(&hmac, key);
    sign_hmac_of(&hmac, first, second, out);
    OPENSSL_cleanse(&hmac, sizeof(hmac));
}

static void key_derive(struct slice secret, struct slice day, struct slice region,
                       struct slice service, struct sign_hmac *out)
{
    static const char prefix[] = "AWS4";
    uint8_t first[sizeof(prefix) - 1 + LIMIT_SIGN_SECRET];
    uint8_t key[SIGN_HASH];
    struct slice none = slice_of("", 0);
    size_t len = secret.len < LIMIT_SIGN_SECRET ? secret.len : LIMIT_SIGN_SECRET;
    memcpy(first, prefix, sizeof(prefix) - 1);
    if (len > 0)
        memcpy(first + sizeof(prefix) - 1, secret.ptr, len);
    hmac_sha256(slice_of(first, sizeof(prefix) - 1 + len), day, none, key);
    hmac_sha256(slice_of(key, sizeof(key)), region, none, key);
    hmac_sha256(slice_of(key, sizeof(key)), service, none, key);
    hmac_sha256(slice_of(key, sizeof(key)), SLICE_LIT(SIGN_TERMINATOR), none, key);
    sign_hmac_init(out, slice_of(key, sizeof(key)));
    OPENSSL_cleanse(first, sizeof(first));
    OPENSSL_cleanse(key, sizeof(key));
}

// Each part has its length before it, so that no two sets of parts have the same name.
static size_t name_make(const struct slice parts[4], uint8_t out[KEY_NAME])
{
    size_t len = 0;
    for (size_t i = 0; i < 4; i++) {
        if (parts[i].len > 255 || len + 1 + parts[i].len > KEY_NAME)
            return 0;
        out[len++] = (uint8_t)parts[i].len;
        if (parts[i].len > 0)
            memcpy(out + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return len;
}

void sign_key_for(struct sign_cache *cache, struct slice secret, struct slice day,
                  struct slice region, struct slice service, struct sign_hmac *out)
{
    uint8_t name[KEY_NAME];
    const struct slice parts[4] = {secret, day, region, service};
    size_t len = cache == NULL ? 0 : name_make(parts, name);
    if (len == 0) {
        key_derive(secret, day, region, service, out);
        return;
    }
    struct slot *slot = &cache->slots[hash_of(0, slice_of(name, len)) % SLOTS];
    // Both are secrets of ours: nobody learns one by the time this takes.
    if (slot->len != len || memcmp(slot->name, name, len) != 0) {
        key_derive(secret, day, region, service, &slot->key);
        memcpy(slot->name, name, len);
        slot->len = len;
    }
    *out = slot->key;
    explicit_bzero(name, len);
}
