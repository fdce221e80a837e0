// See chain.h.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every line
#include "audit/chain.h"

#include "base/arena.h"
#include "base/encode.h"
#include "base/files.h"
#include "sign/sign.h"
#include "json/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <unistd.h>

#define SEQ_OPEN   "{\"seq\":"
#define CHAIN_OPEN ",\"chain\":\""

static void digest_next(const uint8_t before[CHAIN_DIGEST], struct slice covered,
                        uint8_t out[CHAIN_DIGEST])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, before, CHAIN_DIGEST);
    SHA256_Update(&context, covered.ptr, covered.len);
    SHA256_Final(out, &context);
}

void chain_add(struct chain *chain, struct slice body, struct buf *out)
{
    char digits[CHAIN_HEX];
    size_t begin = out->len;
    buf_text(out, SEQ_OPEN);
    buf_u64(out, chain->seq + 1);
    buf_byte(out, ',');
    buf_slice(out, body);
    if (out->failed)
        return;
    digest_next(chain->digest, slice_of(out->ptr + begin, out->len - begin), chain->digest);
    chain->seq++;
    hex_text(slice_of(chain->digest, CHAIN_DIGEST), digits);
    buf_text(out, CHAIN_OPEN);
    buf_add(out, digits, CHAIN_HEX);
    buf_add(out, "\"}\n", 3);
}

bool chain_unhex(struct slice digits, uint8_t *out, size_t len)
{
    if (digits.len != 2 * len)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        uint8_t c = digits.ptr[i];
        int digit = c >= 'A' && c <= 'F' ? -1 : hex_digit(c); // there is one way to write a line
        if (digit < 0)
            return false;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
    }
    return true;
}

// The digits of a number up to a comma, which is passed; false if there are none, or too many.
static bool seq_read(struct slice *rest, uint64_t *out)
{
    struct slice digits = slice_cut(rest, ',');
    uint64_t number = 0;
    if (digits.len == 0 || digits.len > 19 || rest->len == 0 || digits.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    *out = number;
    return true;
}

bool chain_read(struct slice line, struct chain_line *out)
{
    struct slice open = SLICE_LIT(SEQ_OPEN);
    struct slice tail_open = SLICE_LIT(CHAIN_OPEN);
    if (line.len < open.len + CHAIN_TAIL || !slice_begins(line, open))
        return false;
    struct slice covered = slice_of(line.ptr, line.len - CHAIN_TAIL);
    struct slice tail = slice_of(covered.ptr + covered.len, CHAIN_TAIL);
    struct slice rest = slice_of(covered.ptr + open.len, covered.len - open.len);
    struct chain_line read = {.covered = covered};
    if (!slice_begins(tail, tail_open) || !slice_ends(tail, SLICE_LIT("\"}")) ||
        !chain_unhex(slice_of(tail.ptr + tail_open.len, CHAIN_HEX), read.digest, CHAIN_DIGEST) ||
        !seq_read(&rest, &read.seq))
        return false;
    read.body = rest;
    *out = read;
    return true;
}

bool chain_follow(struct chain *chain, const struct chain_line *line)
{
    uint8_t digest[CHAIN_DIGEST];
    digest_next(chain->digest, line->covered, digest);
    if (line->seq != chain->seq + 1 || memcmp(digest, line->digest, CHAIN_DIGEST) != 0)
        return false;
    chain->seq = line->seq;
    memcpy(chain->digest, digest, CHAIN_DIGEST);
    return true;
}

// ---- Keys ------------------------------------------------------------------------------------

static void hash_begin(SHA256_CTX *context, const struct crypt_key *key, uint8_t pad)
{
    uint8_t block[SHA256_CBLOCK];
    memset(block, pad, sizeof(block));
    for (size_t i = 0; i < CRYPT_KEY; i++)
        block[i] ^= key->bytes[i];
    SHA256_Init(context);
    SHA256_Update(context, block, sizeof(block));
    OPENSSL_cleanse(block, sizeof(block));
}

void chain_keys_derive(const struct crypt_key *from, struct chain_keys *out)
{
    crypt_key_derive(from, "audit seals", &out->seal);
    struct crypt_key hash;
    crypt_key_derive(from, "audit keys of items", &hash);
    hash_begin(&out->hash[0], &hash, 0x36);
    hash_begin(&out->hash[1], &hash, 0x5c);
    crypt_key_wipe(&hash);
    crypt_key_name(&out->seal, out->name);
}

void chain_keys_wipe(struct chain_keys *keys)
{
    OPENSSL_cleanse(keys, sizeof(*keys));
}

static bool key_make(const char *path, char *error, size_t error_size)
{
    struct crypt_key key;
    char text[2 * CRYPT_KEY + 1];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return true;
    crypt_key_make(&key);
    hex_text(slice_of(key.bytes, CRYPT_KEY), text);
    text[sizeof(text) - 1] = '\n';
    bool made = fd >= 0 && file_write(fd, slice_of(text, sizeof(text))) && fsync(fd) == 0;
    if (!made)
        (void)snprintf(error, error_size, "cannot make the key '%s': %s", path, strerror(errno));
    if (fd >= 0 && !made)
        (void)unlink(path);
    if (fd >= 0)
        (void)close(fd);
    OPENSSL_cleanse(text, sizeof(text));
    crypt_key_wipe(&key);
    return made;
}

bool chain_key_file(const char *path, bool make, struct crypt_key *out, char *error,
                    size_t error_size)
{
    char source[4096 + 8];
    if (make && !key_make(path, error, error_size))
        return false;
    (void)snprintf(source, sizeof(source), "file:%s", path);
    return crypt_master_read(source, out, error, error_size);
}

static void hmac(const struct crypt_key *key, const char *what, struct slice bytes,
                 uint8_t out[CHAIN_DIGEST])
{
    hmac_sha256(slice_of(key->bytes, CRYPT_KEY), slice_str(what), bytes, out);
}

void chain_seal(const struct chain_keys *keys, const struct chain *before, uint64_t seq,
                char out[CHAIN_HEX])
{
    uint8_t bytes[8 + CHAIN_DIGEST];
    uint8_t made[CHAIN_DIGEST];
    be64_put(bytes, seq);
    memcpy(bytes + 8, before->digest, CHAIN_DIGEST);
    hmac(&keys->seal, "seal", slice_of(bytes, sizeof(bytes)), made);
    hex_text(slice_of(made, CHAIN_DIGEST), out);
}

void chain_hash(const struct chain_keys *keys, struct slice value, char out[2 * CHAIN_HASHED])
{
    uint8_t made[CHAIN_DIGEST];
    SHA256_CTX context = keys->hash[0];
    SHA256_Update(&context, value.ptr, value.len);
    SHA256_Final(made, &context);
    context = keys->hash[1];
    SHA256_Update(&context, made, sizeof(made));
    SHA256_Final(made, &context);
    hex_text(slice_of(made, CHAIN_HASHED), out);
}

// ---- The head --------------------------------------------------------------------------------

static void head_hmac(const struct chain_keys *keys, const struct chain_head *head,
                      uint8_t out[CHAIN_DIGEST])
{
    uint8_t bytes[CHAIN_LOG_ID + 8 + 8 + CHAIN_DIGEST];
    memcpy(bytes, head->log, CHAIN_LOG_ID);
    be64_put(bytes + CHAIN_LOG_ID, head->file);
    be64_put(bytes + CHAIN_LOG_ID + 8, head->chain.seq);
    memcpy(bytes + CHAIN_LOG_ID + 16, head->chain.digest, CHAIN_DIGEST);
    hmac(&keys->seal, "head", slice_of(bytes, sizeof(bytes)), out);
}

void chain_head_write(const struct chain_keys *keys, const struct chain_head *head, struct buf *out)
{
    char chain[CHAIN_HEX];
    char seal[CHAIN_HEX];
    uint8_t made[CHAIN_DIGEST];
    head_hmac(keys, head, made);
    hex_text(slice_of(made, CHAIN_DIGEST), seal);
    hex_text(slice_of(head->chain.digest, CHAIN_DIGEST), chain);
    buf_printf(out,
               "{\"log\":\"%s\",\"file\":%llu,\"seq\":%llu,\"chain\":\"%.*s\",\"hmac\":\"%.*s\"}\n",
               head->log, (unsigned long long)head->file, (unsigned long long)head->chain.seq,
               CHAIN_HEX, chain, CHAIN_HEX, seal);
}

bool chain_head_read(struct slice text, const struct chain_keys *keys, struct chain_head *out,
                     bool *genuine)
{
    struct chain_head head = {.file = 0};
    uint8_t said[CHAIN_DIGEST];
    uint8_t made[CHAIN_DIGEST];
    if (text.len < 3 || text.ptr[0] != '{' || !slice_ends(text, SLICE_LIT("}\n")))
        return false;
    struct slice body = slice_of(text.ptr + 1, text.len - 3);
    struct slice log = chain_member(body, "log");
    head.file = chain_number(body, "file");
    head.chain.seq = chain_number(body, "seq");
    if (log.len != CHAIN_LOG_ID || head.file == 0 || head.chain.seq == 0 ||
        !chain_unhex(chain_member(body, "chain"), head.chain.digest, CHAIN_DIGEST) ||
        !chain_unhex(chain_member(body, "hmac"), said, CHAIN_DIGEST))
        return false;
    memcpy(head.log, log.ptr, CHAIN_LOG_ID);
    *genuine = false;
    if (keys != NULL) {
        head_hmac(keys, &head, made);
        *genuine = CRYPTO_memcmp(said, made, CHAIN_DIGEST) == 0;
    }
    *out = head;
    return true;
}

// ---- Reading members -------------------------------------------------------------------------

struct slice chain_member(struct slice body, const char *name)
{
    struct slice found = {NULL, 0};
    struct slice at;
    struct json_reader reader;
    struct arena unescaped;
    arena_init(&unescaped, LINE_MAX_BYTES);
    json_reader_init(&reader, body, &unescaped);
    reader.depth = 1; // the body stands between braces, which it does not have here
    reader.fresh = true;
    while (found.ptr == NULL && json_next_name(&reader, &at)) {
        bool wanted = slice_is(at, name);
        const uint8_t *value = reader.at;
        if (!json_skip(&reader))
            break;
        if (wanted)
            found = slice_of(value, (size_t)(reader.at - value));
    }
    arena_release(&unescaped);
    bool quoted = found.len >= 2 && found.ptr[0] == '"';
    return quoted ? slice_of(found.ptr + 1, found.len - 2) : found;
}

uint64_t chain_number(struct slice body, const char *name)
{
    struct slice text = chain_member(body, name);
    uint64_t number = 0;
    if (text.len == 0 || text.len > 19)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return number;
}
