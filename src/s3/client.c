// See client.h: requests, and what is made of their answers.
#include "s3/client.h"

#include "s3/s3_internal.h"

#include "base/encode.h"
#include "base/files.h"
#include "base/library.h"
#include "base/wait.h"
#include "s3/client_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef DOLMEN_HAVE_CURL

struct s3_client *s3_client_new(struct s3_store *store, bool (*stops)(void *context), void *context,
                                struct error *error)
{
    (void)store, (void)stops, (void)context;
    (void)error_set(error, ERR_INTERNAL, "this server was built without libcurl");
    return NULL;
}

void s3_client_free(struct s3_client *client)
{
    (void)client;
}

bool s3_exchange(struct s3_client *client, struct s3_exchange *exchange, struct error *error)
{
    (void)client, (void)exchange;
    return error_set(error, ERR_INTERNAL, "this server was built without libcurl");
}

#else

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

enum { TRIES = 8, BACKOFF_MS = 100, STALL_S = 60, HEADERS = 16, HASH_PIECE = 64 << 10 };

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

struct curl_library {
    CURL_FUNCTIONS(LIBRARY_POINTER)
};

struct s3_client {
    struct curl_library curl;
    struct s3_store *store;
    CURL *easy;
    bool (*stops)(void *context);
    void *context;
};

// An attempt.
struct attempt {
    struct s3_client *client;
    struct s3_exchange *exchange;
    uint64_t left; // of the body
    off_t at;
    bool written; // the file could be
};

// ---- Callbacks -------------------------------------------------------------------------------

static size_t on_read(char *to, size_t size, size_t count, void *context)
{
    struct attempt *attempt = context;
    const struct s3_exchange *exchange = attempt->exchange;
    size_t len = size * count < attempt->left ? size * count : (size_t)attempt->left;
    if (exchange->from_fd >= 0) {
        ssize_t got = pread(exchange->from_fd, to, len, exchange->from + attempt->at);
        if (got < 0)
            return CURL_READFUNC_ABORT;
        len = (size_t)got;
    } else if (len > 0) {
        memcpy(to, exchange->body.ptr + attempt->at, len);
    }
    attempt->at += (off_t)len;
    attempt->left -= len;
    return len;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *context)
{
    struct attempt *attempt = context;
    struct s3_exchange *exchange = attempt->exchange;
    size_t len = size * count;
    long status = 0;
    (void)attempt->client->curl.curl_easy_getinfo(attempt->client->easy, CURLINFO_RESPONSE_CODE,
                                                  &status);
    if (exchange->to_fd >= 0 && status >= 200 && status < 300) {
        attempt->written = attempt->written && file_write(exchange->to_fd, slice_of(bytes, len));
        return attempt->written ? len : 0;
    }
    buf_add(&exchange->answer, bytes, len);
    return exchange->answer.failed ? 0 : len;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct attempt *attempt = context;
    struct slice line = slice_of(bytes, size * count);
    struct slice value = line;
    struct slice name = slice_cut(&value, ':');
    while (slice_ends(value, SLICE_LIT("\n")) || slice_ends(value, SLICE_LIT("\r")))
        value.len--;
    value = slice_trim(value);
    if (name.len == 4 && strncasecmp((const char *)name.ptr, "etag", 4) == 0 &&
        value.len < sizeof(attempt->exchange->etag))
        (void)snprintf(attempt->exchange->etag, sizeof(attempt->exchange->etag), "%.*s",
                       SLICE_FMT(value));
    return size * count;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct s3_client *client = context;
    (void)a, (void)b, (void)c, (void)d;
    return client->stops != NULL && client->stops(client->context);
}

// ---- Beginning and end -----------------------------------------------------------------------

struct s3_client *s3_client_new(struct s3_store *store, bool (*stops)(void *context), void *context,
                                struct error *error)
{
    static const char *const names[] = {CURL_FUNCTIONS(LIBRARY_NAME)};
    char text[256] = "libcurl cannot be used";
    struct s3_client *client = memory_zeroed(sizeof(*client));
    client->store = store;
    client->stops = stops;
    client->context = context;
    if (library_load("libcurl.so.4", names, COUNT_OF(names), &client->curl, text, sizeof(text)) &&
        client->curl.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
        (client->easy = client->curl.curl_easy_init()) != NULL)
        return client;
    (void)error_set(error, ERR_INTERNAL, "the S3 store cannot be reached: %s", text);
    free(client);
    return NULL;
}

void s3_client_free(struct s3_client *client)
{
    if (client == NULL)
        return;
    client->curl.curl_easy_cleanup(client->easy);
    free(client);
}

// ---- Requests --------------------------------------------------------------------------------

// The digits of what is sent.
static bool payload_hash(const struct s3_exchange *exchange, char out[SIGN_HEX])
{
    struct slice none = slice_of("", 0);
    if (exchange->from_fd < 0) {
        sign_payload_hash(exchange->body.ptr == NULL ? none : exchange->body, out);
        return true;
    }
    return file_part_hash(exchange->from_fd, exchange->from, exchange->length, out);
}

// The server's own store over HTTPS: it knows its certificate, which need not be for the address by
// which it reaches itself; and comes with it where clients have to show one (http/tls.c).
static bool self_prepare(struct s3_client *client)
{
    const struct curl_library *curl = &client->curl;
    const struct s3_store *store = client->store;
    return !store->own || store->certificate == NULL ||
           (curl->curl_easy_setopt(client->easy, CURLOPT_CAINFO, store->certificate) == CURLE_OK &&
            curl->curl_easy_setopt(client->easy, CURLOPT_SSL_VERIFYHOST, 0L) == CURLE_OK &&
            curl->curl_easy_setopt(client->easy, CURLOPT_SSLCERT, store->certificate) == CURLE_OK &&
            curl->curl_easy_setopt(client->easy, CURLOPT_SSLKEY, store->key) == CURLE_OK);
}

static bool attempt_prepare(struct attempt *attempt, const struct buf *url,
                            struct curl_slist *headers)
{
    struct s3_client *client = attempt->client;
    const struct curl_library *curl = &client->curl;
    const struct s3_exchange *exchange = attempt->exchange;
    CURL *easy = client->easy;
    bool upload = exchange->method[0] == 'P'; // PUT, POST: with a length, which may be 0
    bool head = strcmp(exchange->method, "HEAD") == 0;
    attempt->left = exchange->from_fd >= 0 ? exchange->length : exchange->body.len;
    curl->curl_easy_reset(easy);
    return self_prepare(client) &&
           curl->curl_easy_setopt(easy, CURLOPT_URL, (const char *)url->ptr) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_S) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_XFERINFODATA, client) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_WRITEDATA, attempt) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, attempt) == CURLE_OK &&
           curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           (!head || curl->curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK) &&
           (!upload || (curl->curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
                        curl->curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read) == CURLE_OK &&
                        curl->curl_easy_setopt(easy, CURLOPT_READDATA, attempt) == CURLE_OK &&
                        curl->curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                                               (curl_off_t)attempt->left) == CURLE_OK)) &&
           (head ||
            curl->curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method) == CURLE_OK);
}

// One attempt: the status, or 0 with words.
static long attempt_run(struct s3_client *client, struct s3_exchange *exchange, char *words,
                        size_t size)
{
    const struct curl_library *curl = &client->curl;
    struct attempt attempt = {.client = client, .exchange = exchange, .written = true};
    char hash[SIGN_HEX];
    struct buf url;
    struct buf lines;
    long status = 0;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    struct curl_slist *list = curl->curl_slist_append(NULL, "Expect:");
    buf_init(&url, LIMIT_SIGN_HEAD);
    buf_init(&lines, LIMIT_SIGN_HEAD);
    buf_clear(&exchange->answer);
    if (!payload_hash(exchange, hash)) {
        (void)snprintf(words, size, "the file cannot be read: %s", strerror(errno));
    } else {
        s3_head_sign(client->store,
                     &(struct s3_head){.method = slice_str(exchange->method),
                                       .bucket = exchange->bucket,
                                       .key = exchange->key,
                                       .query = exchange->query,
                                       .payload = slice_of(hash, sizeof(hash))},
                     &url, &lines);
        buf_byte(&url, 0);
        for (const char *line = (const char *)lines.ptr; !lines.failed && *line != 0;
             line += strlen(line) + 1)
            list = curl->curl_slist_append(list, line);
        if (!url.failed && !lines.failed && list != NULL && attempt_prepare(&attempt, &url, list))
            code = curl->curl_easy_perform(client->easy);
        (void)snprintf(words, size, "%s",
                       attempt.written ? curl->curl_easy_strerror(code)
                                       : "the file cannot be written");
    }
    if (code == CURLE_OK)
        (void)curl->curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200 && strcmp(exchange->method, "HEAD") == 0) {
        curl_off_t len = 0;
        (void)curl->curl_easy_getinfo(client->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &len);
        exchange->size = len > 0 ? (uint64_t)len : 0;
    }
    curl->curl_slist_free_all(list);
    buf_release(&url);
    buf_release(&lines);
    return status;
}

static bool stopping(const struct s3_client *client)
{
    return client->stops != NULL && client->stops(client->context);
}

bool s3_exchange(struct s3_client *client, struct s3_exchange *exchange, struct error *error)
{
    char words[256] = "";
    for (unsigned tries = 0;; tries++) {
        if (exchange->to_fd >= 0 &&
            (ftruncate(exchange->to_fd, 0) != 0 || lseek(exchange->to_fd, 0, SEEK_SET) != 0))
            return error_set(error, ERR_INTERNAL, "a file cannot be written: %s", strerror(errno));
        exchange->status = attempt_run(client, exchange, words, sizeof(words));
        bool again = exchange->status == 0 || exchange->status == 429 || exchange->status >= 500;
        if (!again || tries + 1 == TRIES || stopping(client))
            break;
        sleep_ms((int64_t)BACKOFF_MS << tries);
    }
    return exchange->status != 0 ||
           error_set(error, ERR_INTERNAL, "the S3 store cannot be reached: %s", words);
}

#endif
