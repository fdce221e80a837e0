// Reading the master key: see crypt.h. Its text is wiped wherever it was.
#include "base/encode.h"
#include "crypt/crypt.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1024 };

static bool fail(char *error, size_t size, const char *format, const char *name)
{
    (void)snprintf(error, size, format, name);
    return false;
}

static bool key_parse(struct slice text, struct crypt_key *out)
{
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    text = slice_trim(text);
    if (text.len == (size_t)2 * CRYPT_KEY) {
        for (size_t i = 0; i < text.len; i += 2) {
            int high = hex_digit(text.ptr[i]);
            int low = hex_digit(text.ptr[i + 1]);
            if (high < 0 || low < 0)
                return false;
            out->bytes[i / 2] = (uint8_t)(high << 4 | low);
        }
        return true;
    }
    struct buf bytes;
    buf_init(&bytes, TEXT_MAX);
    bool right = base64_decode(&bytes, text) && bytes.len == CRYPT_KEY;
    if (right)
        memcpy(out->bytes, bytes.ptr, CRYPT_KEY);
    if (bytes.ptr != NULL)
        OPENSSL_cleanse(bytes.ptr, bytes.cap);
    buf_release(&bytes);
    return right;
}

static bool file_read(const char *path, struct crypt_key *out, char *error, size_t size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, size, "the master key %s cannot be read", path);
    // Only its owner may be able to read it: everyone else who can is an owner of the data.
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || (about.st_mode & 077) != 0) {
        (void)close(fd);
        return fail(error, size,
                    "the master key %s must be a file that only its owner can read (chmod 600)",
                    path);
    }
    uint8_t text[TEXT_MAX];
    ssize_t len = read(fd, text, sizeof(text));
    (void)close(fd);
    bool right = len > 0 && key_parse(slice_of(text, (size_t)len), out);
    OPENSSL_cleanse(text, sizeof(text));
    return right || fail(error, size,
                         "%s does not hold a master key: 64 hexadecimal digits, or 44 characters "
                         "of base64",
                         path);
}

bool crypt_master_read(const char *source, struct crypt_key *out, char *error, size_t error_size)
{
    char path[4096];
    const char *colon = strchr(source, ':');
    struct slice kind = slice_of(source, colon == NULL ? 0 : (size_t)(colon - source));
    const char *name = colon == NULL ? "" : colon + 1;
    if (slice_is(kind, "file") && name[0] != 0)
        return file_read(name, out, error, error_size);
    if (slice_is(kind, "env") && name[0] != 0) {
        const char *text = getenv(name);
        if (text == NULL)
            return fail(error, error_size, "the environment has no variable %s", name);
        return key_parse(slice_str(text), out) ||
               fail(error, error_size,
                    "the variable %s does not hold a master key: 64 hexadecimal digits, or 44 "
                    "characters of base64",
                    name);
    }
    if (slice_is(kind, "credential") && name[0] != 0 && strchr(name, '/') == NULL) {
        const char *directory = getenv("CREDENTIALS_DIRECTORY");
        if (directory == NULL)
            return fail(error, error_size,
                        "systemd has given no credentials, so there is no credential %s", name);
        int len = snprintf(path, sizeof(path), "%s/%s", directory, name);
        if (len < 0 || (size_t)len >= sizeof(path))
            return fail(error, error_size, "the name of credential %s is too long", name);
        return file_read(path, out, error, error_size);
    }
    return fail(error, error_size,
                "'%s' is not a source of a master key: file:PATH, env:NAME or credential:NAME",
                source);
}
