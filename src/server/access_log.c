// See access_log.h. A buffer is behind a lock that only the flush shares with its loop; the file
// has one of its own, so that lines stay whole. What cannot be written is dropped: a full disk
// must not stop the server. That is told once, until writing works again.
#include "server/access_log.h"

#include "base/log.h"
#include "server/time_text.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FLUSH_AT = 32 << 10, LINES_MAX = 1 << 20 };

struct lines {
    _Alignas(64) pthread_mutex_t lock;
    struct buf text;
};

struct access_log {
    int fd;
    bool standard; // standard output, which is not ours to close
    bool failing;  // under file_lock
    pthread_mutex_t file_lock;
    unsigned loop_count;
    struct lines *loops;
};

struct access_log *access_log_open(const char *path, unsigned loops, char *error, size_t error_size)
{
    struct access_log *log = calloc(1, sizeof(*log));
    struct lines *lines = aligned_alloc(_Alignof(struct lines), sizeof(*lines) * loops);
    int fd = STDOUT_FILENO;
    bool standard = strcmp(path, "-") == 0;
    if (log != NULL && lines != NULL && !standard)
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log == NULL || lines == NULL || fd < 0) {
        (void)snprintf(error, error_size, "cannot open the access log '%s': %s", path,
                       fd < 0 ? strerror(errno) : "out of memory");
        free(log);
        free(lines);
        return NULL;
    }
    log->fd = fd;
    log->standard = standard;
    log->loop_count = loops;
    log->loops = lines;
    ensure(pthread_mutex_init(&log->file_lock, NULL) == 0);
    for (unsigned i = 0; i < loops; i++) {
        ensure(pthread_mutex_init(&lines[i].lock, NULL) == 0);
        buf_init(&lines[i].text, LINES_MAX);
    }
    return log;
}

void access_log_close(struct access_log *log)
{
    if (log == NULL)
        return;
    access_log_flush(log);
    for (unsigned i = 0; i < log->loop_count; i++) {
        ensure(pthread_mutex_destroy(&log->loops[i].lock) == 0);
        buf_release(&log->loops[i].text);
    }
    ensure(pthread_mutex_destroy(&log->file_lock) == 0);
    if (!log->standard)
        (void)close(log->fd);
    free(log->loops);
    free(log);
}

// ---- Writing ---------------------------------------------------------------------------------

static bool write_all(int fd, struct slice text)
{
    while (text.len > 0) {
        ssize_t done = write(fd, text.ptr, text.len);
        if (done < 0 && errno != EINTR)
            return false;
        size_t taken = done < 0 ? 0 : (size_t)done;
        text = slice_of(text.ptr + taken, text.len - taken);
    }
    return true;
}

// The caller has the lock of the lines.
static void flush_lines(struct access_log *log, struct lines *lines)
{
    if (lines->text.len == 0)
        return;
    ensure(pthread_mutex_lock(&log->file_lock) == 0);
    bool ok = write_all(log->fd, buf_view(&lines->text));
    if (!ok && !log->failing)
        log_warn("the access log cannot be written, and its lines are lost: %s", strerror(errno));
    log->failing = !ok;
    ensure(pthread_mutex_unlock(&log->file_lock) == 0);
    buf_clear(&lines->text);
}

void access_log_flush(struct access_log *log)
{
    for (unsigned i = 0; i < log->loop_count; i++) {
        struct lines *lines = &log->loops[i];
        ensure(pthread_mutex_lock(&lines->lock) == 0);
        flush_lines(log, lines);
        ensure(pthread_mutex_unlock(&lines->lock) == 0);
    }
}

static void write_text(struct json_writer *w, const char *name, struct slice text)
{
    json_name(w, name);
    if (text.len > 0)
        json_string(w, text);
    else
        json_null(w);
}

static void write_line(struct buf *out, const struct access_entry *entry)
{
    char time[TIME_TEXT];
    time_text(entry->now_ms, time);
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_text(&w, "time", time);
    write_text(&w, "remote_address", slice_str(entry->peer->address));
    json_put_integer(&w, "remote_port", entry->peer->port);
    write_text(&w, "request_id", entry->request_id);
    write_text(&w, "operation", entry->operation);
    write_text(&w, "table", entry->usage->table);
    json_put_integer(&w, "status", entry->status);
    write_text(&w, "error",
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
    write_line(&lines->text, entry);
    if (lines->text.len >= FLUSH_AT || lines->text.failed)
        flush_lines(log, lines);
    ensure(pthread_mutex_unlock(&lines->lock) == 0);
}
