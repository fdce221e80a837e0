// See trail.h: chaining, sealing, and knowing what the target has whole.
#define OPENSSL_SUPPRESS_DEPRECATED // as in chain.c
#include "audit/trail_internal.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "json/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENT_MAX = 4 << 10, OUT_MAX = TRAIL_CHUNK + LINE_MAX_BYTES + EVENT_MAX };

bool trail_fail(struct trail *trail, const char *what)
{
    (void)snprintf(trail->reason, sizeof(trail->reason), "%s: %s", what, strerror(errno));
    return false;
}

const char *trail_reason(const struct trail *trail)
{
    return trail->reason;
}

struct trail_stats trail_stats(const struct trail *trail)
{
    return (struct trail_stats){trail->chain.seq, trail->files, trail->missing};
}

void trail_tear(struct trail *trail, struct slice bytes)
{
    if (bytes.len == 0)
        return;
    if (trail->torn == 0)
        SHA256_Init(&trail->torn_digest);
    SHA256_Update(&trail->torn_digest, bytes.ptr, bytes.len);
    trail->torn += bytes.len;
}

// ---- Lines -----------------------------------------------------------------------------------

// Hands over the lines in trail->out; `after` is the chain behind them. True if the target has all.
static bool put_out(struct trail *trail, const struct chain *after)
{
    struct slice lines = buf_view(&trail->out);
    ensure(!trail->out.failed);
    size_t done = trail->kind->put(trail, lines);
    trail->size += done;
    if (done == lines.len) {
        trail->chain = *after;
        return true;
    }
    size_t whole = done;
    while (whole > 0 && lines.ptr[whole - 1] != '\n')
        whole--;
    size_t last = whole == 0 ? 0 : whole - 1;
    while (last > 0 && lines.ptr[last - 1] != '\n')
        last--;
    struct chain_line line;
    if (whole > 0 && chain_read(slice_of(lines.ptr + last, whole - 1 - last), &line)) {
        trail->chain.seq = line.seq;
        memcpy(trail->chain.digest, line.digest, CHAIN_DIGEST);
    }
    trail_tear(trail, slice_of(lines.ptr + whole, done - whole));
    return false;
}

// What was torn is ended, and told by the next line.
static bool close_torn(struct trail *trail)
{
    char time[TIME_TEXT];
    char digits[CHAIN_HEX];
    uint8_t digest[CHAIN_DIGEST];
    char body[256];
    if (trail->torn == 0)
        return true;
    SHA256_CTX copy = trail->torn_digest;
    SHA256_Final(digest, &copy);
    hex_text(slice_of(digest, CHAIN_DIGEST), digits);
    time_text(env_now(&trail->options.env), time);
    int len = snprintf(body, sizeof(body),
                       "\"event\":\"torn\",\"time\":\"%s\",\"bytes\":%llu,\"sha256\":\"%.*s\"",
                       time, (unsigned long long)trail->torn, CHAIN_HEX, digits);
    struct chain after = trail->chain;
    buf_clear(&trail->out);
    buf_byte(&trail->out, '\n');
    chain_add(&after, slice_of(body, (size_t)len), &trail->out);
    struct slice lines = buf_view(&trail->out);
    size_t done = trail->kind->put(trail, lines);
    trail->size += done;
    if (done < lines.len) {
        trail_tear(trail, slice_of(lines.ptr, done));
        return false;
    }
    trail->chain = after;
    trail->torn = 0;
    return true;
}

static bool emit_body(struct trail *trail, struct slice body)
{
    if (!close_torn(trail))
        return false;
    struct chain after = trail->chain;
    buf_clear(&trail->out);
    chain_add(&after, body, &trail->out);
    return put_out(trail, &after);
}

bool trail_emit(struct trail *trail, const char *format, ...)
{
    struct buf body;
    char time[TIME_TEXT];
    va_list args;
    buf_init(&body, EVENT_MAX);
    struct json_writer w = json_writer_to(&body);
    time_text(env_now(&trail->options.env), time);
    va_start(args, format);
    json_form_list(&w, format, args);
    va_end(args);
    json_put_text(&w, "time", time);
    bool done = emit_body(trail, buf_view(&body));
    buf_release(&body);
    return done;
}

bool trail_begin(struct trail *trail)
{
    return trail_emit(trail, "'event':'begin','log':%s,'file':%zu,'format':1,'key':%s", trail->log,
                      (size_t)trail->file, trail->options.keys.name);
}

void trail_new_log(struct trail *trail)
{
    uint8_t bytes[CHAIN_LOG_ID / 2];
    trail->options.env.random(trail->options.env.context, bytes, sizeof(bytes));
    hex_text(slice_of(bytes, sizeof(bytes)), trail->log);
    trail->log[CHAIN_LOG_ID] = 0;
    trail->file = 1;
}

bool trail_write(struct trail *trail, struct slice bodies, size_t *taken)
{
    *taken = 0;
    while (bodies.len > 0) {
        if (!trail->kind->ready(trail) || !close_torn(trail))
            return false;
        struct slice rest = bodies;
        struct chain after = trail->chain;
        uint64_t before = trail->chain.seq;
        buf_clear(&trail->out);
        while (rest.len > 0 && trail->out.len < TRAIL_CHUNK)
            chain_add(&after, slice_cut(&rest, '\n'), &trail->out);
        bool all = put_out(trail, &after);
        for (uint64_t i = before; i < trail->chain.seq; i++) {
            size_t len = slice_cut(&bodies, '\n').len + 1;
            *taken += len;
        }
        if (!all)
            return false;
    }
    return true;
}

bool trail_seal(struct trail *trail)
{
    char seal[CHAIN_HEX];
    if (trail->sealed == trail->chain.seq && trail->torn == 0)
        return true;
    // Closing what is torn moves the chain on, and the seal speaks of the chain.
    if (!trail->kind->ready(trail) || !close_torn(trail))
        return false;
    chain_seal(&trail->options.keys, &trail->chain, trail->chain.seq + 1, seal);
    if (!trail_emit(trail, "'event':'seal','key':%s,'hmac':%.*s", trail->options.keys.name,
                    CHAIN_HEX, seal))
        return false;
    trail->sealed = trail->chain.seq;
    return trail->kind->sealed(trail);
}

// ---- Life ------------------------------------------------------------------------------------

struct trail *trail_open(const struct trail_options *options, char *error, size_t error_size)
{
    const char *place = options->place;
    bool stream = strcmp(place, "-") == 0 || strncmp(place, "syslog", 6) == 0 ||
                  strncmp(place, "journald", 8) == 0;
    struct trail *trail = memory_zeroed(sizeof(*trail));
    trail->options = *options;
    trail->fd = -1;
    buf_init(&trail->out, OUT_MAX);
    bool opened = stream ? trail_stream_open(trail, error, error_size)
                         : trail_file_open(trail, error, error_size);
    if (opened)
        return trail;
    trail_free(trail);
    return NULL;
}

void trail_free(struct trail *trail)
{
    if (trail == NULL)
        return;
    if (!trail->standard && trail->fd >= 0)
        (void)close(trail->fd);
    buf_release(&trail->out);
    chain_keys_wipe(&trail->options.keys);
    free(trail);
}
