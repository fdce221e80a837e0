// See credentials.h.
#include "sign/credentials.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MAX = 256 << 10, PATH_SIZE = 4096 }; // more than file_read() takes at a time

// ---- Texts -----------------------------------------------------------------------------------

static bool text_keep(struct slice text, char out[SIGN_SECRET_MAX])
{
    if (text.len >= SIGN_SECRET_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false; // it would end the line of a header
    }
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
    return true;
}

bool sign_credentials_set(struct sign_credentials *out, const struct sign_keys *keys)
{
    if (keys->access_key.len == 0 || keys->secret_key.len == 0 ||
        !text_keep(keys->access_key, out->access_key) ||
        !text_keep(keys->secret_key, out->secret_key) || !text_keep(keys->token, out->token))
        return false;
    out->keys = (struct sign_keys){slice_str(out->access_key), slice_str(out->secret_key),
                                   slice_str(out->token)};
    return true;
}

void sign_credentials_wipe(struct sign_credentials *credentials)
{
    OPENSSL_cleanse(credentials, sizeof(*credentials));
}

static const char *of_environment(const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? "" : value;
}

// ---- Files -----------------------------------------------------------------------------------

// Lines "name = value" below "[profile]".
static bool profile_read(struct slice text, const char *profile, struct sign_credentials *out)
{
    struct sign_keys keys = {.token = slice_of(NULL, 0)};
    bool here = false;
    while (text.len > 0) {
        struct slice line = slice_cut(&text, '\n');
        while (slice_ends(line, SLICE_LIT("\r")))
            line.len--;
        line = slice_trim(line);
        if (slice_begins(line, SLICE_LIT("[")) && slice_ends(line, SLICE_LIT("]"))) {
            here = slice_is(slice_trim(slice_of(line.ptr + 1, line.len - 2)), profile);
            continue;
        }
        if (!here || line.len == 0 || line.ptr[0] == '#' || line.ptr[0] == ';')
            continue;
        struct slice name = slice_trim(slice_cut(&line, '='));
        if (slice_is(name, "aws_access_key_id"))
            keys.access_key = slice_trim(line);
        else if (slice_is(name, "aws_secret_access_key"))
            keys.secret_key = slice_trim(line);
        else if (slice_is(name, "aws_session_token"))
            keys.token = slice_trim(line);
    }
    return sign_credentials_set(out, &keys);
}

static bool file_keys(const char *path, const char *profile, struct sign_credentials *out,
                      char *error, size_t error_size)
{
    struct buf text;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buf_init(&text, FILE_MAX);
    bool read = fd >= 0 && file_read(fd, &text) && !text.failed;
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    bool ok = read && profile_read(buf_view(&text), profile, out);
    if (!read)
        (void)snprintf(error, error_size, "the credentials in %s cannot be read: %s", path,
                       strerror(reason));
    else if (!ok)
        (void)snprintf(error, error_size,
                       "%s has no aws_access_key_id and aws_secret_access_key below [%s]", path,
                       profile);
    if (text.ptr != NULL)
        OPENSSL_cleanse(text.ptr, text.len);
    buf_release(&text);
    return ok;
}

enum sign_found sign_credentials_find(const struct sign_source *source,
                                      struct sign_credentials *out, char *error, size_t error_size)
{
    const struct sign_keys given = {slice_str(of_environment("AWS_ACCESS_KEY_ID")),
                                    slice_str(of_environment("AWS_SECRET_ACCESS_KEY")),
                                    slice_str(of_environment("AWS_SESSION_TOKEN"))};
    const char *shared = of_environment("AWS_SHARED_CREDENTIALS_FILE");
    const char *profile = source->profile != NULL ? source->profile : of_environment("AWS_PROFILE");
    bool named = source->file != NULL || source->profile != NULL;
    char usual[PATH_SIZE];
    if (!named && sign_credentials_set(out, &given))
        return CREDENTIALS_FOUND;
    (void)snprintf(usual, sizeof(usual), "%s/.aws/credentials", of_environment("HOME"));
    const char *path = source->file != NULL ? source->file : shared[0] != 0 ? shared : usual;
    if (file_keys(path, profile[0] != 0 ? profile : "default", out, error, error_size))
        return CREDENTIALS_FOUND;
    // A profile of the environment may be of another kind, and be meant for another program.
    return named ? CREDENTIALS_WRONG : CREDENTIALS_NONE;
}
