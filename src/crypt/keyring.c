// See keyring.h.
#include "crypt/keyring.h"

#include "base/encode.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    FILE_MOST = 1 << 20,
    ENTRY = 4 + 8 + CRYPT_KEY,
    FRONT = 8 + 4,
    HEAD_MOST = 64,
};

// A master key's name stands between them.
#define HEAD_BEGIN "dolmen keys 1\nmaster "
#define HEAD_END   "\nsealed "

static const char *const names[] = {KEYRING_FILE, KEYRING_COPY};

bool keyring_is_there(int directory)
{
    return faccessat(directory, KEYRING_FILE, F_OK, 0) == 0 ||
           faccessat(directory, KEYRING_COPY, F_OK, 0) == 0;
}

void keyring_init(struct keyring *ring, int64_t now_s)
{
    *ring = (struct keyring){.serial = 0};
    ensure(keyring_add(ring, now_s));
}

bool keyring_add(struct keyring *ring, int64_t now_s)
{
    if (ring->count == KEYRING_MOST)
        return false;
    uint32_t id = ring->count == 0 ? 1 : ring->keys[ring->count - 1].id + 1;
    struct keyring_key *key = &ring->keys[ring->count++];
    *key = (struct keyring_key){.id = id, .made_s = now_s};
    crypt_key_make(&key->key);
    return true;
}

void keyring_wipe(struct keyring *ring)
{
    for (size_t i = 0; i < KEYRING_MOST; i++)
        crypt_key_wipe(&ring->keys[i].key);
    ring->count = 0;
}

const struct keyring_key *keyring_find(const struct keyring *ring, uint32_t id)
{
    for (size_t i = ring->count; i > 0; i--) {
        if (ring->keys[i - 1].id == id)
            return &ring->keys[i - 1];
    }
    return NULL;
}

// ---- Bytes --------------------------------------------------------------------------------------

// What is sealed under the master key, and the text before it, which is authenticated with it.
static int head_write(const struct crypt_key *master, char out[HEAD_MOST])
{
    char name[CRYPT_NAME];
    crypt_key_name(master, name);
    return snprintf(out, HEAD_MOST, HEAD_BEGIN "%s" HEAD_END, name);
}

static void ring_encode(const struct keyring *ring, struct buf *out)
{
    uint32_t count = (uint32_t)ring->count;
    buf_add(out, &ring->serial, 8);
    buf_add(out, &count, 4);
    for (size_t i = 0; i < ring->count; i++) {
        buf_add(out, &ring->keys[i].id, 4);
        buf_add(out, &ring->keys[i].made_s, 8);
        buf_add(out, ring->keys[i].key.bytes, CRYPT_KEY);
    }
}

static bool ring_decode(struct slice bytes, struct keyring *out)
{
    if (bytes.len < FRONT)
        return false;
    uint32_t count = le32_get(bytes.ptr + 8);
    if (count == 0 || count > KEYRING_MOST || bytes.len != FRONT + (size_t)count * ENTRY)
        return false;
    *out = (struct keyring){.serial = le64_get(bytes.ptr), .count = count};
    const uint8_t *at = bytes.ptr + FRONT;
    for (size_t i = 0; i < count; i++, at += ENTRY) {
        out->keys[i].id = le32_get(at);
        out->keys[i].made_s = (int64_t)le64_get(at + 4);
        memcpy(out->keys[i].key.bytes, at + 12, CRYPT_KEY);
    }
    return true;
}

static void buf_wipe(struct buf *buf)
{
    if (buf->ptr != NULL)
        explicit_bzero(buf->ptr, buf->cap);
    buf_release(buf);
}

static void file_encode(const struct keyring *ring, const struct crypt_key *master, struct buf *out)
{
    static const char digits[] = "0123456789abcdef";
    char head[HEAD_MOST];
    int len = head_write(master, head);
    struct crypt_key key;
    struct buf plain;
    struct buf sealed;
    buf_init(&plain, FILE_MOST);
    buf_init(&sealed, FILE_MOST);
    ring_encode(ring, &plain);
    crypt_key_derive(master, "data keys", &key);
    crypt_seal(&key, slice_of(head, (size_t)len), buf_view(&plain), &sealed);
    crypt_key_wipe(&key);
    buf_add(out, head, (size_t)len);
    for (size_t i = 0; i < sealed.len; i++) {
        buf_byte(out, (uint8_t)digits[sealed.ptr[i] >> 4]);
        buf_byte(out, (uint8_t)digits[sealed.ptr[i] & 15]);
    }
    buf_byte(out, '\n');
    buf_wipe(&plain);
    buf_release(&sealed);
}

// ---- Writing ------------------------------------------------------------------------------------

static bool replace(int directory, const char *name, struct slice text)
{
    static const char draft[] = KEYRING_FILE ".tmp";
    int fd = openat(directory, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_write(fd, text) && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = why;
    return ok && renameat(directory, draft, directory, name) == 0 && fsync(directory) == 0;
}

bool keyring_write(struct keyring *ring, const struct crypt_key *master, int directory)
{
    struct buf text;
    ring->serial++;
    buf_init(&text, FILE_MOST);
    file_encode(ring, master, &text);
    ensure_memory(text.failed ? NULL : &text);
    bool ok = true;
    for (size_t i = COUNT_OF(names); ok && i > 0; i--)
        ok = replace(directory, names[i - 1], buf_view(&text));
    int why = errno;
    buf_release(&text);
    errno = why;
    return ok;
}

// ---- Reading ------------------------------------------------------------------------------------

enum state { LOST, OTHER, OPENED };

// One of the two files.
struct found {
    enum state state;
    char master[CRYPT_NAME]; // what it says
    struct keyring ring;
};

static bool hex_decode(struct slice text, struct buf *out)
{
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]);
        int low = hex_digit(text.ptr[i + 1]);
        if (high < 0 || low < 0)
            return false;
        buf_byte(out, (uint8_t)(high << 4 | low));
    }
    return text.len % 2 == 0 && !out->failed;
}

static bool found_open(struct found *found, const struct crypt_key *master, struct slice text,
                       const char *head, size_t head_len)
{
    struct buf sealed;
    struct buf plain;
    struct crypt_key key;
    buf_init(&sealed, FILE_MOST);
    buf_init(&plain, FILE_MOST);
    crypt_key_derive(master, "data keys", &key);
    bool ok = hex_decode(text, &sealed) &&
              crypt_open(&key, slice_of(head, head_len), buf_view(&sealed), &plain) &&
              ring_decode(buf_view(&plain), &found->ring);
    crypt_key_wipe(&key);
    buf_release(&sealed);
    buf_wipe(&plain);
    return ok;
}

static void found_parse(struct found *found, const struct crypt_key *master, struct slice text)
{
    static const size_t begin = sizeof(HEAD_BEGIN) - 1;
    static const size_t front = sizeof(HEAD_BEGIN) - 1 + CRYPT_NAME - 1 + sizeof(HEAD_END) - 1;
    char head[HEAD_MOST];
    if (text.len <= front || memcmp(text.ptr, HEAD_BEGIN, begin) != 0 ||
        text.ptr[text.len - 1] != '\n')
        return;
    memcpy(found->master, text.ptr + begin, CRYPT_NAME - 1);
    found->master[CRYPT_NAME - 1] = 0;
    for (size_t i = 0; i < CRYPT_NAME - 1; i++) {
        if (hex_digit((uint8_t)found->master[i]) < 0)
            return;
    }
    found->state = OTHER;
    if (master == NULL)
        return;
    int len = head_write(master, head);
    if (memcmp(text.ptr, head, (size_t)len) != 0)
        return;
    struct slice sealed = slice_of(text.ptr + len, text.len - (size_t)len - 1);
    found->state = found_open(found, master, sealed, head, (size_t)len) ? OPENED : LOST;
}

static void found_read(struct found *found, const struct crypt_key *master, int directory,
                       const char *name)
{
    struct buf text;
    *found = (struct found){.state = LOST};
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    buf_init(&text, FILE_MOST);
    if (file_read(fd, &text))
        found_parse(found, master, buf_view(&text));
    buf_release(&text);
    (void)close(fd);
}

static bool refuse(const struct found *found, const struct crypt_key *master, const char *path,
                   char *error, size_t size)
{
    char given[CRYPT_NAME];
    const struct found *sure = found[0].state == OTHER ? &found[0] : &found[1];
    if (sure->state != OTHER) {
        (void)snprintf(error, size,
                       "%s is encrypted, and both " KEYRING_FILE " and " KEYRING_COPY
                       " in it are missing or damaged. Restore one of them from a copy of the "
                       "directory: nothing can be read without",
                       path);
        return false;
    }
    if (master == NULL) {
        (void)snprintf(error, size,
                       "%s is encrypted under the master key %s: name it with --master-key", path,
                       sure->master);
        return false;
    }
    crypt_key_name(master, given);
    (void)snprintf(error, size,
                   "%s is encrypted under the master key %s, and --master-key has another one, %s",
                   path, sure->master, given);
    return false;
}

bool keyring_read(struct keyring *ring, const struct crypt_key *master, int directory,
                  const char *path, bool *uneven, char *error, size_t error_size)
{
    struct found found[COUNT_OF(names)];
    for (size_t i = 0; i < COUNT_OF(names); i++)
        found_read(&found[i], master, directory, names[i]);
    const struct found *best = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (found[i].state == OPENED && (best == NULL || found[i].ring.serial > best->ring.serial))
            best = &found[i];
    }
    if (best != NULL) {
        *ring = best->ring;
        *uneven = found[0].state != found[1].state || found[0].ring.serial != found[1].ring.serial;
    }
    bool ok = best != NULL || refuse(found, master, path, error, error_size);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        keyring_wipe(&found[i].ring);
    return ok;
}
