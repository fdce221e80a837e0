// See inspect.h. A break is told once, and the chain is taken up again from the line where it was
// found, so that one changed line is one break and not all lines behind it.
#define OPENSSL_SUPPRESS_DEPRECATED // as in chain.c
#include "audit/inspect.h"

#include "base/encode.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 20, TORN_MAX = 4 * LINE_MAX_BYTES };

struct inspect {
    struct inspect_options options;
    struct inspect_result result;
    const char *name; // of the file
    uint64_t line;
    bool begun;          // a line was read
    struct chain chain;  // up to the last good line
    struct chain before; // up to the one before it
    struct buf pending;  // the last line, which was not handed out yet
    bool pending_good;
    struct buf last;    // that line: it may turn out to be torn
    bool tearing;       // behind it stands text that is no line:
    struct buf torn;    // this,
    uint64_t torn_line; // from here on
    uint64_t file;      // number of the file
    uint64_t removed;   // the highest number of a file that the log says it has removed
    bool first;         // the next line is the first of a file
    bool sealed;        // the last line was a seal
    bool expected;      // the line of expect_seq was met, as it was noted
    bool headed;        // the line of the head was
    bool has_head;
    bool genuine; // the head
    struct chain_head head;
    uint64_t first_file;
    struct buf text;
};

struct inspect *inspect_new(const struct inspect_options *options)
{
    struct inspect *inspect = memory_zeroed(sizeof(*inspect));
    inspect->options = *options;
    buf_init(&inspect->pending, TORN_MAX);
    buf_init(&inspect->last, TORN_MAX);
    buf_init(&inspect->torn, TORN_MAX);
    buf_init(&inspect->text, PIECE + 2 * TORN_MAX);
    for (size_t i = 0; i < options->key_count && !inspect->genuine; i++)
        inspect->has_head =
            chain_head_read(options->head, &options->keys[i], &inspect->head, &inspect->genuine);
    if (options->key_count == 0)
        inspect->has_head = chain_head_read(options->head, NULL, &inspect->head, &inspect->genuine);
    return inspect;
}

void inspect_free(struct inspect *inspect)
{
    buf_release(&inspect->pending);
    buf_release(&inspect->last);
    buf_release(&inspect->torn);
    buf_release(&inspect->text);
    OPENSSL_cleanse(&inspect->options, sizeof(inspect->options));
    free(inspect);
}

static void PRINTF_LIKE(3, 4)
    broken(struct inspect *inspect, uint64_t line, const char *format, ...)
{
    struct inspect_break place = {.file = inspect->name, .line = line, .seq = inspect->chain.seq};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(place.text, sizeof(place.text), format, args);
    va_end(args);
    inspect->result.breaks++;
    if (inspect->options.broken != NULL)
        inspect->options.broken(inspect->options.to, &place);
}

static unsigned long long ull(uint64_t number)
{
    return (unsigned long long)number;
}

// ---- Events ----------------------------------------------------------------------------------

static void judge_seal(struct inspect *inspect, const struct chain_line *line,
                       const struct chain *before)
{
    struct slice said = chain_member(line->body, "hmac");
    struct slice key = chain_member(line->body, "key");
    char made[CHAIN_HEX];
    inspect->result.seals++;
    inspect->result.unsealed = 0;
    inspect->sealed = true;
    for (size_t i = 0; i < inspect->options.key_count; i++) {
        if (!slice_is(key, inspect->options.keys[i].name))
            continue;
        chain_seal(&inspect->options.keys[i], before, line->seq, made);
        inspect->result.checked++;
        if (said.len != CHAIN_HEX || CRYPTO_memcmp(said.ptr, made, CHAIN_HEX) != 0)
            broken(inspect, inspect->line,
                   "the seal is false: lines before it were written by somebody else");
        return;
    }
    if (inspect->options.key_count > 0)
        broken(inspect, inspect->line, "the seal was made with another key (%.*s)", SLICE_FMT(key));
}

static void judge_begin(struct inspect *inspect, const struct chain_line *line)
{
    struct slice log = chain_member(line->body, "log");
    uint64_t file = chain_number(line->body, "file");
    if (inspect->result.log[0] != 0 && !slice_is(log, inspect->result.log) &&
        !inspect->options.stream)
        broken(inspect, inspect->line, "this file is of another log");
    if (log.len == CHAIN_LOG_ID)
        memcpy(inspect->result.log, log.ptr, CHAIN_LOG_ID);
    if (!inspect->first)
        broken(inspect, inspect->line, "a file begins in the middle of another");
    if (inspect->first_file == 0)
        inspect->first_file = file;
    inspect->file = file;
}

static void judge_event(struct inspect *inspect, const struct chain_line *line,
                        const struct chain *before)
{
    struct slice event = chain_member(line->body, "event");
    bool begins = slice_is(event, "begin");
    inspect->sealed = false;
    inspect->result.unsealed++;
    if (inspect->first && !begins)
        broken(inspect, inspect->line, "the file does not begin as a file of an audit log does");
    if (begins)
        judge_begin(inspect, line);
    else if (slice_is(event, "seal"))
        judge_seal(inspect, line, before);
    else if (slice_is(event, "removed")) {
        uint64_t file = chain_number(line->body, "file");
        inspect->removed = file > inspect->removed ? file : inspect->removed;
    } else if (slice_is(event, "lost"))
        inspect->result.lost += chain_number(line->body, "lines");
    else if (slice_is(event, "missing"))
        broken(inspect, inspect->line,
               "lines %llu to %llu are missing; the server noticed it when it was started",
               ull(chain_number(line->body, "from")), ull(chain_number(line->body, "to")));
    inspect->first = false;
}

// ---- Lines -----------------------------------------------------------------------------------

// Whether a line closes what is torn: says how many bytes it is, and which.
static bool closes(const struct chain_line *line, struct slice torn)
{
    uint8_t said[CHAIN_DIGEST];
    uint8_t made[CHAIN_DIGEST];
    if (!slice_is(chain_member(line->body, "event"), "torn") ||
        chain_number(line->body, "bytes") != torn.len ||
        !chain_unhex(chain_member(line->body, "sha256"), said, CHAIN_DIGEST))
        return false;
    sha256_of(torn, made);
    return memcmp(said, made, CHAIN_DIGEST) == 0;
}

static void keep_last(struct inspect *inspect, struct slice text)
{
    buf_clear(&inspect->last);
    buf_slice(&inspect->last, text);
}

static bool chain_is(const struct chain *chain, uint64_t seq, const uint8_t digest[CHAIN_DIGEST])
{
    return seq != 0 && chain->seq == seq && memcmp(chain->digest, digest, CHAIN_DIGEST) == 0;
}

static void expect(struct inspect *inspect)
{
    const struct inspect_options *options = &inspect->options;
    const struct chain *head = &inspect->head.chain;
    inspect->expected =
        inspect->expected || chain_is(&inspect->chain, options->expect_seq, options->expect_digest);
    inspect->headed = inspect->headed || chain_is(&inspect->chain, head->seq, head->digest);
}

// Hands out the last line: nothing shows any more that it was torn.
static void tell_line(struct inspect *inspect)
{
    struct chain_line line;
    if (inspect->options.line != NULL && chain_read(buf_view(&inspect->pending), &line))
        inspect->options.line(inspect->options.to, &line, inspect->pending_good);
    buf_clear(&inspect->pending);
}

// The chain goes on behind this line, whether or not it was good.
static void take_up(struct inspect *inspect, const struct chain_line *line, struct slice text,
                    bool good)
{
    struct chain before = inspect->chain;
    inspect->before = before;
    inspect->chain.seq = line->seq;
    memcpy(inspect->chain.digest, line->digest, CHAIN_DIGEST);
    if (!inspect->begun)
        inspect->result.first_seq = line->seq;
    inspect->begun = true;
    inspect->result.lines++;
    expect(inspect);
    tell_line(inspect);
    buf_slice(&inspect->pending, text);
    inspect->pending_good = good;
    judge_event(inspect, line, &before);
    keep_last(inspect, text);
}

// Text that is no line: the next one should close it.
static void note_torn(struct inspect *inspect, struct slice text)
{
    if (inspect->tearing)
        buf_byte(&inspect->torn, '\n');
    else
        inspect->torn_line = inspect->line;
    inspect->tearing = true;
    buf_slice(&inspect->torn, text);
}

// What is still torn has been closed by no line.
static void drop_torn(struct inspect *inspect)
{
    if (inspect->tearing)
        broken(inspect, inspect->torn_line, "this is not a line of the log: it was changed");
    inspect->tearing = false;
    buf_clear(&inspect->torn);
}

// Whether the line closes what is torn: the text before it that is no line, or the last line as
// well, which was whole but for its newline, and whose number was given again. What it closes is in
// `torn` then.
static bool close_torn(struct inspect *inspect, const struct chain_line *line)
{
    struct chain chain = inspect->chain;
    bool closed =
        inspect->tearing && closes(line, buf_view(&inspect->torn)) && chain_follow(&chain, line);
    if (!closed && inspect->last.len > 0 && line->seq == inspect->chain.seq) {
        struct buf both;
        buf_init(&both, 2 * TORN_MAX);
        buf_slice(&both, buf_view(&inspect->last));
        if (inspect->tearing)
            buf_byte(&both, '\n');
        buf_slice(&both, buf_view(&inspect->torn));
        chain = inspect->before;
        closed = closes(line, buf_view(&both)) && chain_follow(&chain, line);
        if (closed) {
            inspect->result.lines--;
            inspect->chain = inspect->before;
            buf_clear(&inspect->pending);
            buf_clear(&inspect->torn);
            buf_slice(&inspect->torn, buf_view(&both));
        }
        buf_release(&both);
    }
    inspect->result.torn += closed;
    inspect->tearing = inspect->tearing && !closed;
    return closed;
}

static void tell_break(struct inspect *inspect, const struct chain_line *line)
{
    uint64_t next = inspect->chain.seq + 1;
    if (line->seq == next)
        broken(inspect, inspect->line,
               "the chain breaks: this line, or one before it, was changed");
    else if (line->seq > next)
        broken(inspect, inspect->line, "lines %llu to %llu are missing before this one", ull(next),
               ull(line->seq - 1));
    else
        broken(inspect, inspect->line, "line %llu stands behind line %llu", ull(line->seq),
               ull(inspect->chain.seq));
}

// The first line of all, from which the chain is taken up if the first file is not here.
static bool begins_late(const struct inspect *inspect, const struct chain_line *line)
{
    return !inspect->begun && line->seq > 1;
}

static bool begins_anew(const struct inspect *inspect, const struct chain_line *line)
{
    const struct chain nothing = {.seq = 0};
    struct chain chain = nothing;
    return inspect->options.stream && line->seq == 1 && chain_follow(&chain, line);
}

static void judge_line(struct inspect *inspect, struct slice text)
{
    struct chain_line line;
    struct chain chain = inspect->chain;
    if (!chain_read(text, &line)) {
        note_torn(inspect, text);
        return;
    }
    bool closed = inspect->begun && close_torn(inspect, &line);
    if (!closed)
        drop_torn(inspect);
    chain = inspect->chain;
    if (begins_anew(inspect, &line)) {
        inspect->chain = (struct chain){.seq = 0};
        inspect->first = true;
        take_up(inspect, &line, text, true);
        return;
    }
    bool late = begins_late(inspect, &line);
    bool good = late || chain_follow(&chain, &line);
    if (!good)
        tell_break(inspect, &line);
    take_up(inspect, &line, text, good);
    if (closed) { // it may be torn itself, and be closed by the next
        buf_byte(&inspect->torn, '\n');
        buf_slice(&inspect->torn, text);
        keep_last(inspect, buf_view(&inspect->torn));
        buf_clear(&inspect->torn);
    }
}

// Without what syslog has put before it.
static struct slice without_prefix(const struct inspect *inspect, struct slice text)
{
    struct slice open = SLICE_LIT("{\"seq\":");
    const uint8_t *at = !inspect->options.stream || text.len == 0
                            ? NULL
                            : memmem(text.ptr, text.len, open.ptr, open.len);
    return at == NULL ? text : slice_of(at, text.len - (size_t)(at - text.ptr));
}

// ---- Files -----------------------------------------------------------------------------------

static void begin_file(struct inspect *inspect, const char *name)
{
    // What a file before this one left open was closed nowhere.
    drop_torn(inspect);
    if (inspect->result.files > 0 && !inspect->sealed && !inspect->options.stream)
        broken(inspect, inspect->line, "the file does not end with a seal: its end is missing");
    inspect->name = name;
    inspect->line = 0;
    inspect->first = true;
    inspect->result.files++;
    buf_clear(&inspect->text);
}

// Takes whole lines off the text; false if one has no end.
static bool take_lines(struct inspect *inspect)
{
    struct slice rest = buf_view(&inspect->text);
    for (;;) {
        const uint8_t *end = rest.len == 0 ? NULL : memchr(rest.ptr, '\n', rest.len);
        if (end == NULL)
            break;
        inspect->line++;
        judge_line(inspect, without_prefix(inspect, slice_cut(&rest, '\n')));
    }
    memmove(inspect->text.ptr, rest.ptr, rest.len);
    inspect->text.len = rest.len;
    return rest.len < TORN_MAX;
}

bool inspect_file(struct inspect *inspect, const char *name, int fd)
{
    begin_file(inspect, name);
    for (;;) {
        uint8_t *to = buf_reserve(&inspect->text, PIECE);
        ensure(to != NULL);
        ssize_t len = read(fd, to, PIECE);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return false;
        if (len == 0)
            break;
        inspect->text.len += (size_t)len;
        if (!take_lines(inspect)) {
            broken(inspect, inspect->line + 1, "this is not a line of the log: it has no end");
            buf_clear(&inspect->text);
        }
    }
    if (inspect->line == 0 && inspect->text.len == 0)
        broken(inspect, 0, "the file is empty");
    if (inspect->text.len > 0) {
        broken(inspect, inspect->line + 1,
               "the last line is torn: the server was killed, and not started since");
        buf_clear(&inspect->text);
    }
    return true;
}

static void judge_head(struct inspect *inspect)
{
    const struct chain_head *head = &inspect->head;
    if (inspect->options.head.ptr == NULL)
        broken(inspect, 0, "there is no head: whether the end of the log is missing is not known");
    else if (!inspect->has_head)
        broken(inspect, 0, "the head cannot be read: it was changed");
    else if (!inspect->genuine && inspect->options.key_count > 0)
        broken(inspect, 0, "the head is false, or was made with another key");
    else if (strcmp(head->log, inspect->result.log) != 0)
        broken(inspect, 0, "the head is of another log");
    else if (head->chain.seq > inspect->chain.seq)
        broken(inspect, 0, "the end of the log is missing: its lines %llu to %llu",
               ull(inspect->chain.seq + 1), ull(head->chain.seq));
    else if (!inspect->headed)
        broken(inspect, 0, "line %llu is not what the head says: the log was written anew",
               ull(head->chain.seq));
}

void inspect_end(struct inspect *inspect, const char *name, struct inspect_result *out)
{
    const struct inspect_options *options = &inspect->options;
    bool whole = !options->part && !options->stream;
    drop_torn(inspect);
    tell_line(inspect);
    inspect->name = name;
    if (whole && inspect->first_file > inspect->removed + 1)
        broken(inspect, 0, "files %llu to %llu are missing, and the log has not removed them",
               ull(inspect->removed + 1), ull(inspect->first_file - 1));
    if (whole)
        judge_head(inspect);
    if (options->expect_seq != 0 && !inspect->expected)
        broken(inspect, 0, "line %llu is not there as it was noted", ull(options->expect_seq));
    inspect->result.end = inspect->chain;
    *out = inspect->result;
}
