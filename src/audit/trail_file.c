// Files: opened where the last start ended, rotated, and their head kept. See trail.h.
//
// FILE is renamed to FILE.N when it is full, then a new one is made: between the two a crash leaves
// no FILE, and the next start goes on from FILE.N. A lock on the file keeps a second server out.
#include "audit/trail_internal.h"

#include "base/files.h"
#include "base/log.h"
#include "base/time_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TAIL_MAX = 4 * LINE_MAX_BYTES,
    NAME_MAX_BYTES = TRAIL_PATH + 32,
    HEAD_MAX = 1 << 20,
};

static void name_of(const struct trail *trail, uint64_t number, char out[NAME_MAX_BYTES])
{
    (void)snprintf(out, NAME_MAX_BYTES, "%s.%llu", trail->path, (unsigned long long)number);
}

static const char *directory_of(const struct trail *trail, char out[TRAIL_PATH])
{
    const char *slash = strrchr(trail->path, '/');
    if (slash == NULL)
        return ".";
    (void)snprintf(out, TRAIL_PATH, "%.*s", slash == trail->path ? 1 : (int)(slash - trail->path),
                   trail->path);
    return out;
}

// Calls back with the number of each rotated file.
static void each_rotated(const struct trail *trail, void (*visit)(void *to, uint64_t number),
                         void *to)
{
    char room[TRAIL_PATH];
    const char *slash = strrchr(trail->path, '/');
    const char *base = slash == NULL ? trail->path : slash + 1;
    size_t len = strlen(base);
    DIR *directory = opendir(directory_of(trail, room));
    if (directory == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        char *end;
        if (strncmp(name, base, len) != 0 || name[len] != '.' || name[len + 1] < '1' ||
            name[len + 1] > '9')
            continue;
        uint64_t number = strtoull(name + len + 1, &end, 10);
        if (*end == 0)
            visit(to, number);
    }
    (void)closedir(directory);
}

// ---- The head --------------------------------------------------------------------------------

static bool head_keep(struct trail *trail)
{
    char path[NAME_MAX_BYTES];
    char fresh[NAME_MAX_BYTES];
    char room[TRAIL_PATH];
    struct chain_head head = {.file = trail->file, .chain = trail->chain};
    struct buf text;
    memcpy(head.log, trail->log, sizeof(head.log));
    (void)snprintf(path, sizeof(path), "%s.head", trail->path);
    (void)snprintf(fresh, sizeof(fresh), "%s.head.new", trail->path);
    buf_init(&text, HEAD_MAX);
    chain_head_write(&trail->options.keys, &head, &text);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool done = fd >= 0 && file_write(fd, buf_view(&text)) && fdatasync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    buf_release(&text);
    done = done && rename(fresh, path) == 0 && directory_sync(directory_of(trail, room));
    return done || trail_fail(trail, "the head of the audit log cannot be written");
}

// False if there is none that can be read.
static bool head_find(const struct trail *trail, struct chain_head *out)
{
    char path[NAME_MAX_BYTES];
    struct buf text;
    bool genuine = false;
    (void)snprintf(path, sizeof(path), "%s.head", trail->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    buf_init(&text, HEAD_MAX);
    bool read = file_read(fd, &text) &&
                chain_head_read(buf_view(&text), &trail->options.keys, out, &genuine);
    buf_release(&text);
    (void)close(fd);
    return read && genuine;
}

static bool file_sealed(struct trail *trail)
{
    return (fdatasync(trail->fd) == 0 || trail_fail(trail, "the audit log cannot be synced")) &&
           head_keep(trail);
}

// ---- Rotating --------------------------------------------------------------------------------

struct oldest {
    uint64_t number;
    size_t count;
};

static void oldest_note(void *to, uint64_t number)
{
    struct oldest *oldest = to;
    oldest->count++;
    if (oldest->number == 0 || number < oldest->number)
        oldest->number = number;
}

// Removes what is not to be kept. The log says so before, else a file would be missed.
static bool remove_old(struct trail *trail)
{
    char name[NAME_MAX_BYTES];
    for (;;) {
        struct oldest oldest = {.number = 0};
        each_rotated(trail, oldest_note, &oldest);
        if (trail->options.keep == 0 || oldest.count <= trail->options.keep)
            return true;
        name_of(trail, oldest.number, name);
        if (!trail_emit(trail, "'event':'removed','file':%zu", (size_t)oldest.number))
            return false;
        if (unlink(name) != 0) {
            log_warn("%s of the audit log cannot be removed: %s", name, strerror(errno));
            return true; // at the next rotation
        }
    }
}

static bool file_create(struct trail *trail)
{
    int fd = open(trail->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || fchmod(fd, 0600) != 0)
        (void)trail_fail(trail, "the audit log cannot be opened");
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        (void)trail_fail(trail, "another server writes the audit log");
    else {
        trail->fd = fd;
        trail->size = 0;
        trail->begun_ms = env_now(&trail->options.env);
        return true;
    }
    if (fd >= 0)
        (void)close(fd);
    return false;
}

// The first line of a new file, which stands there whole or not at all.
static bool file_begin(struct trail *trail)
{
    trail->begun = trail_begin(trail);
    if (!trail->begun && ftruncate(trail->fd, 0) == 0) {
        trail->torn = 0;
        trail->size = 0;
    }
    return trail->begun;
}

static bool rotation_due(const struct trail *trail)
{
    const struct trail_options *options = &trail->options;
    return (options->rotate_bytes > 0 && trail->size >= options->rotate_bytes) ||
           (options->rotate_ms > 0 &&
            env_now(&options->env) - trail->begun_ms >= (int64_t)options->rotate_ms);
}

static bool file_ready(struct trail *trail);

static bool rotate(struct trail *trail)
{
    char name[NAME_MAX_BYTES];
    name_of(trail, trail->file, name);
    if (rename(trail->path, name) != 0)
        return trail_fail(trail, "the audit log cannot be renamed");
    (void)close(trail->fd);
    trail->fd = -1;
    trail->begun = false;
    trail->file++;
    trail->files++;
    return file_ready(trail);
}

// While a file is sealed for the last time, it is not rotated: the kind says that all is ready.
static bool seal_last(struct trail *trail)
{
    uint64_t bytes = trail->options.rotate_bytes;
    uint64_t ms = trail->options.rotate_ms;
    trail->options.rotate_bytes = trail->options.rotate_ms = 0;
    bool sealed = trail_seal(trail);
    trail->options.rotate_bytes = bytes;
    trail->options.rotate_ms = ms;
    return sealed;
}

static bool file_ready(struct trail *trail)
{
    if (!trail->begun)
        return (trail->fd >= 0 || file_create(trail)) && file_begin(trail) && remove_old(trail);
    if (!rotation_due(trail))
        return true;
    return seal_last(trail) && rotate(trail);
}

static size_t file_put(struct trail *trail, struct slice lines)
{
    size_t done = 0;
    while (done < lines.len) {
        ssize_t written = write(trail->fd, lines.ptr + done, lines.len - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            (void)trail_fail(trail, "the audit log cannot be written");
            break;
        }
        done += (size_t)written;
    }
    return done;
}

// ---- Going on ---------------------------------------------------------------------------------

static void newest_note(void *to, uint64_t number)
{
    uint64_t *newest = to;
    if (number > *newest)
        *newest = number;
}

// The last line of the text that is one; *end is where it ends, with its newline.
static bool last_line(struct slice text, struct chain_line *out, size_t *end)
{
    size_t at = text.len;
    while (at > 0) {
        while (at > 0 && text.ptr[at - 1] != '\n')
            at--;
        if (at == 0)
            return false;
        size_t begin = at - 1;
        while (begin > 0 && text.ptr[begin - 1] != '\n')
            begin--;
        if (chain_read(slice_of(text.ptr + begin, at - 1 - begin), out)) {
            *end = at;
            return true;
        }
        at = begin;
    }
    return false;
}

// Takes number, log and age from the first line of a file.
static bool read_first(struct trail *trail, int fd)
{
    char text[2048];
    struct chain_line line;
    ssize_t len = pread(fd, text, sizeof(text), 0);
    struct slice rest = slice_of(text, len < 0 ? 0 : (size_t)len);
    if (!chain_read(slice_cut(&rest, '\n'), &line))
        return false;
    struct slice log = chain_member(line.body, "log");
    trail->file = chain_number(line.body, "file");
    if (log.len != CHAIN_LOG_ID || trail->file == 0 ||
        !slice_is(chain_member(line.body, "event"), "begin") ||
        !time_parse(chain_member(line.body, "time"), &trail->begun_ms))
        return false;
    memcpy(trail->log, log.ptr, CHAIN_LOG_ID);
    return true;
}

// Takes the chain from the end of a file.
static bool read_last(struct trail *trail, int fd, struct stat *about)
{
    struct chain_line line;
    size_t end = 0;
    uint8_t *text = malloc(TAIL_MAX);
    ensure_memory(text);
    off_t from = about->st_size > TAIL_MAX ? about->st_size - TAIL_MAX : 0;
    ssize_t len = pread(fd, text, TAIL_MAX, from);
    bool found = len > 0 && last_line(slice_of(text, (size_t)len), &line, &end);
    if (found) {
        trail->chain.seq = line.seq;
        memcpy(trail->chain.digest, line.digest, CHAIN_DIGEST);
        trail_tear(trail, slice_of(text + end, (size_t)len - end));
    }
    free(text);
    return found;
}

// What a start finds: false, with a sentence, if that is no audit log.
static bool find_end(struct trail *trail, const char *path, int fd, char *error, size_t error_size)
{
    struct stat about;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && read_first(trail, fd) &&
        read_last(trail, fd, &about)) {
        trail->size = (uint64_t)about.st_size;
        return true;
    }
    (void)snprintf(error, error_size,
                   "the file '%s' is not an audit log: move it away, or name another one", path);
    return false;
}

// Continues with the newest rotated file, or begins a log.
static bool find_rotated(struct trail *trail, char *error, size_t error_size)
{
    char name[NAME_MAX_BYTES];
    uint64_t newest = 0;
    each_rotated(trail, newest_note, &newest);
    if (newest == 0)
        return true;
    name_of(trail, newest, name);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && find_end(trail, name, fd, error, error_size);
    if (fd < 0)
        (void)snprintf(error, error_size, "cannot open the audit log '%s': %s", name,
                       strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    trail->file = newest + 1;
    // A rotated file was sealed: what stands behind its last line is not this server's doing.
    trail->torn = 0;
    return found;
}

// The head knows of more lines than there are: they were removed, and their numbers stay free.
static bool tell_missing(struct trail *trail, const struct chain_head *head, uint64_t had)
{
    trail->missing = head->chain.seq - had;
    log_warn("the audit log %s lacks its lines %llu to %llu: somebody has removed them",
             trail->path, (unsigned long long)(had + 1), (unsigned long long)head->chain.seq);
    return trail_emit(trail, "'event':'missing','from':%zu,'to':%zu", (size_t)(had + 1),
                      (size_t)head->chain.seq);
}

static bool go_on(struct trail *trail, bool old)
{
    struct chain_head head;
    uint64_t had = trail->chain.seq;
    bool known = head_find(trail, &head);
    bool fewer = known && head.chain.seq > had;
    if (fewer) {
        if (trail->log[0] == 0)
            memcpy(trail->log, head.log, sizeof(trail->log));
        if (!old && trail->file <= head.file)
            trail->file = head.file + 1;
        trail->chain = head.chain;
    }
    if (trail->log[0] == 0)
        trail_new_log(trail);
    trail->begun = old;
    return (old || file_begin(trail)) && (!fewer || tell_missing(trail, &head, had)) &&
           trail_emit(trail, "'event':'start','version':%s,'key':%s", trail->options.version,
                      trail->options.keys.name) &&
           trail_seal(trail);
}

bool trail_file_open(struct trail *trail, char *error, size_t error_size)
{
    static const struct trail_kind file = {file_ready, file_put, file_sealed};
    struct stat about;
    trail->kind = &file;
    trail->regular = true;
    if (strlen(trail->options.place) >= TRAIL_PATH - 32) {
        (void)snprintf(error, error_size, "the path of the audit log is too long");
        return false;
    }
    (void)snprintf(trail->path, sizeof(trail->path), "%s", trail->options.place);
    if (!file_create(trail) || fstat(trail->fd, &about) != 0) {
        (void)snprintf(error, error_size, "%s '%s'", trail->reason, trail->path);
        return false;
    }
    bool old = about.st_size > 0;
    if (old ? !find_end(trail, trail->path, trail->fd, error, error_size)
            : !find_rotated(trail, error, error_size))
        return false;
    if (go_on(trail, old))
        return true;
    (void)snprintf(error, error_size, "%s '%s'", trail->reason, trail->path);
    return false;
}
