// See access_log.h. A loop adds lines to a buffer of its own; one thread takes the buffers and
// writes them. Only the taking is done under a lock, and it waits for nothing, so whatever the
// target does (a pipe that nobody reads, a terminal that stands still, a full disk) stops that
// thread alone. Meanwhile the buffers fill up, and then lines are dropped and counted. That is told
// once, and how many it were when writing works again.
//
// The descriptor stays as it is, since others may share it: before each write the thread waits
// until there is room, and what is not a regular file gets at most as much at a time as a pipe with
// room takes without waiting.
#include "server/access_log.h"

#include "base/log.h"
#include "base/time_text.h"
#include "base/wait.h"
#include "base/worker.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FLUSH_AT = 32 << 10,
    LINES_MAX = 1 << 20,
    LOOK_MS = 1000, // how often a target that does not move is looked at
    CLOSE_MS = 300, // what is left at the end must be taken within
    LEAVE_MS = 500, // and after that nobody waits for a write that does not return
};

struct lines {
    _Alignas(64) pthread_mutex_t lock;
    struct buf text;
};

struct access_log {
    int fd;
    bool standard; // standard output, which is not ours to close
    size_t piece;  // the most that is written at once
    unsigned loop_count;
    struct lines *loops;
    _Atomic uint64_t lost;    // lines, since writing last worked
    _Atomic int64_t close_by; // when to give up, by the monotonic clock; 0 while it is open
    int closing;              // an eventfd that can be read from then

    struct worker worker;
    struct buf taken; // the thread's: lines on their way to the target
    bool told;        // that lines are lost
    bool torn;        // the target has the beginning of a line
};

// ---- Writing, on the thread ------------------------------------------------------------------

static size_t lines_in(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

static void tell_lost(struct access_log *log, const char *why)
{
    if (!log->told)
        log_warn("the access log cannot be written, and its lines are lost: %s", why);
    log->told = true;
}

static void tell_written(struct access_log *log)
{
    if (!log->told)
        return;
    log->told = false;
    log_warn("the access log is written again; %llu of its lines were lost",
             (unsigned long long)atomic_exchange(&log->lost, 0));
}

// Whether the target has room for a piece. Waits until it has, but not beyond the end.
static bool wait_for_room(struct access_log *log)
{
    for (;;) {
        struct pollfd waits[] = {{.fd = log->fd, .events = POLLOUT},
                                 {.fd = log->closing, .events = POLLIN}};
        int64_t by = atomic_load(&log->close_by);
        int64_t left = by == 0 ? LOOK_MS : by - monotonic_ms();
        int ready = poll(waits, by == 0 ? 2 : 1, left < 0 ? 0 : (int)left);
        if (ready > 0 && waits[0].revents != 0)
            return true;
        if ((ready < 0 && errno != EINTR) || (ready == 0 && by != 0))
            return false;
        if (atomic_load(&log->lost) > 0)
            tell_lost(log, "nobody takes them");
    }
}

// Writes what the target takes; the rest is left.
static struct slice write_some(struct access_log *log, struct slice text)
{
    while (text.len > 0 && wait_for_room(log)) {
        ssize_t done = write(log->fd, text.ptr, text.len < log->piece ? text.len : log->piece);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            tell_lost(log, strerror(errno));
            break;
        }
        size_t taken = done < 0 ? 0 : (size_t)done;
        if (taken > 0)
            log->torn = text.ptr[taken - 1] != '\n';
        text = slice_of(text.ptr + taken, text.len - taken);
    }
    return text;
}

static void write_taken(struct access_log *log)
{
    struct slice rest = buf_view(&log->taken);
    // A line that was cut off is ended, so that the next one stands by itself.
    bool ended = rest.len == 0 || !log->torn || write_some(log, SLICE_LIT("\n")).len == 0;
    if (ended)
        rest = write_some(log, rest);
    if (rest.len > 0)
        atomic_fetch_add(&log->lost, lines_in(rest));
    else if (log->taken.len > 0)
        tell_written(log);
    buf_clear(&log->taken);
}

static void write_all(void *context)
{
    struct access_log *log = context;
    for (unsigned i = 0; i < log->loop_count; i++) {
        struct lines *lines = &log->loops[i];
        ensure(pthread_mutex_lock(&lines->lock) == 0);
        struct buf text = lines->text;
        lines->text = log->taken;
        ensure(pthread_mutex_unlock(&lines->lock) == 0);
        log->taken = text;
        write_taken(log);
    }
}

// ---- Life ------------------------------------------------------------------------------------

static void log_free(struct access_log *log)
{
    for (unsigned i = 0; i < log->loop_count; i++) {
        ensure(pthread_mutex_destroy(&log->loops[i].lock) == 0);
        buf_release(&log->loops[i].text);
    }
    buf_release(&log->taken);
    if (!log->standard && log->fd >= 0)
        (void)close(log->fd);
    if (log->closing >= 0)
        (void)close(log->closing);
    free(log->loops);
    free(log);
}

// The log without its target and its thread.
static struct access_log *log_new(unsigned loops)
{
    struct access_log *log = calloc(1, sizeof(*log));
    struct lines *lines = aligned_alloc(_Alignof(struct lines), sizeof(*lines) * loops);
    ensure_memory(log);
    ensure_memory(lines);
    log->loop_count = loops;
    log->loops = lines;
    log->fd = -1;
    buf_init(&log->taken, LINES_MAX);
    for (unsigned i = 0; i < loops; i++) {
        ensure(pthread_mutex_init(&lines[i].lock, NULL) == 0);
        buf_init(&lines[i].text, LINES_MAX);
    }
    log->closing = eventfd(0, EFD_CLOEXEC);
    return log;
}

// False with errno.
static bool log_start(struct access_log *log, const char *path)
{
    struct stat about;
    log->standard = strcmp(path, "-") == 0;
    log->fd =
        log->standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log->closing < 0 || log->fd < 0)
        return false;
    bool regular = fstat(log->fd, &about) == 0 && S_ISREG(about.st_mode);
    log->piece = regular ? LINES_MAX : PIPE_BUF;
    worker_start(&log->worker,
                 &(struct worker_plan){.work = write_all, .context = log, .drains = true});
    return true;
}

struct access_log *access_log_open(const char *path, unsigned loops, char *error, size_t error_size)
{
    struct access_log *log = log_new(loops);
    if (log_start(log, path))
        return log;
    (void)snprintf(error, error_size, "cannot open the access log '%s': %s", path, strerror(errno));
    log_free(log);
    return NULL;
}

void access_log_flush(struct access_log *log)
{
    worker_ask(&log->worker);
}

void access_log_close(struct access_log *log)
{
    if (log == NULL)
        return;
    atomic_store(&log->close_by, monotonic_ms() + CLOSE_MS);
    ensure(eventfd_write(log->closing, 1) == 0);
    access_log_flush(log);
    // It may be in a write that never returns: a terminal says that it has room and then waits for
    // its user. What it uses is left to it then.
    bool done = worker_stop_within(&log->worker, LEAVE_MS);
    uint64_t lost = atomic_load(&log->lost);
    if (lost > 0 || !done)
        log_warn("the last lines of the access log are lost: %llu%s", (unsigned long long)lost,
                 done ? "" : " or more");
    if (done)
        log_free(log);
}

// ---- Lines -----------------------------------------------------------------------------------

static void write_line(struct buf *out, const struct access_entry *entry)
{
    char time[TIME_TEXT];
    time_text(entry->now_ms, time);
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_text(&w, "time", time);
    json_put_or_null(&w, "remote_address", slice_str(entry->peer->address));
    json_put_integer(&w, "remote_port", entry->peer->port);
    json_put_or_null(&w, "request_id", entry->request_id);
    json_put_or_null(&w, "operation", entry->operation);
    json_put_or_null(&w, "table", entry->usage->table);
    json_name(&w, "tenant");
    if (entry->tenant.ptr != NULL)
        json_string(&w, entry->tenant);
    else
        json_null(&w);
    json_put_integer(&w, "status", entry->status);
    json_put_or_null(&w, "error",
                     entry->error == NULL ? (struct slice){NULL, 0} : slice_str(entry->error));
    json_name(&w, "latency_ms");
    buf_printf(out, "%.3f", (double)entry->latency_ns / 1e6);
    w.comma = true;
    json_put_integer(&w, "bytes_in", (int64_t)entry->bytes_in);
    json_put_integer(&w, "bytes_out", (int64_t)entry->bytes_out);
    json_name(&w, "read_units");
    json_units(&w, entry->usage->read_units);
    json_name(&w, "write_units");
    json_units(&w, entry->usage->write_units);
    json_put_integer(&w, "items", (int64_t)entry->usage->items);
    json_close_object(&w);
    buf_byte(out, '\n');
}

void access_log_add(struct access_log *log, unsigned loop, const struct access_entry *entry)
{
    struct lines *lines = &log->loops[loop];
    ensure(pthread_mutex_lock(&lines->lock) == 0);
    size_t before = lines->text.len;
    write_line(&lines->text, entry);
    bool dropped = lines->text.failed;
    if (dropped) {
        lines->text.len = before;
        lines->text.failed = false;
    }
    bool due = before < FLUSH_AT && lines->text.len >= FLUSH_AT;
    ensure(pthread_mutex_unlock(&lines->lock) == 0);
    if (dropped)
        atomic_fetch_add(&log->lost, 1);
    if (due)
        access_log_flush(log);
}
