// See bench_server.h. CPU time comes from /proc/PID/stat in ticks of 10 ms, fine for runs of
// seconds; written bytes from /proc/PID/io, which only the owner of the process may read.
#include "bench/bench_server.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

static bool file_read(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t len = fread(text, 1, size - 1, file);
    text[len] = 0;
    (void)fclose(file);
    return len > 0;
}

// The fields after the name of the program, which may itself hold blanks and parentheses: the
// state is the 3rd, utime the 14th, stime the 15th, resident pages the 24th.
static bool stat_read(pid_t pid, struct bench_usage *out)
{
    char text[2048];
    unsigned long user, kernel;
    long pages;
    if (!file_read(pid, "stat", text, sizeof(text)))
        return false;
    const char *after = strrchr(text, ')');
    if (after == NULL ||
        sscanf(after + 1,
               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu %*s %*s %*s %*s %*s %*s %*s "
               "%*s %ld",
               &user, &kernel, &pages) != 3)
        return false;
    out->cpu_seconds = (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
    out->resident = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

static uint64_t bytes_written_read(pid_t pid)
{
    char text[1024];
    if (!file_read(pid, "io", text, sizeof(text)))
        return 0;
    const char *line = strstr(text, "\nwrite_bytes: ");
    return line == NULL ? 0 : strtoull(line + strlen("\nwrite_bytes: "), NULL, 10);
}

bool bench_usage_read(pid_t pid, const struct bench_counters *counters, struct bench_usage *out)
{
    struct bench_usage usage = {0};
    if (!stat_read(pid, &usage))
        return false;
    usage.bytes_written = bytes_written_read(pid);
    for (int i = 0; i < counters->count; i++) {
        uint64_t counted = 0;
        if (read(counters->fds[i], &counted, sizeof(counted)) == (ssize_t)sizeof(counted))
            usage.instructions += counted;
    }
    *out = usage;
    return true;
}

static int counter_open(pid_t thread)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1, // threads started later are counted with their parent
    };
    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void bench_counters_open(struct bench_counters *counters, pid_t pid)
{
    char path[64];
    *counters = (struct bench_counters){.fds = calloc(THREADS_MAX, sizeof(int))};
    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = counters->fds == NULL ? NULL : opendir(path);
    if (tasks == NULL)
        return;
    const struct dirent *entry;
    while (counters->count < THREADS_MAX && (entry = readdir(tasks)) != NULL) {
        long thread = strtol(entry->d_name, NULL, 10);
        int fd = thread > 0 ? counter_open((pid_t)thread) : -1;
        if (fd >= 0)
            counters->fds[counters->count++] = fd;
    }
    (void)closedir(tasks);
}

void bench_counters_close(struct bench_counters *counters)
{
    for (int i = 0; i < counters->count; i++)
        (void)close(counters->fds[i]);
    free(counters->fds);
    *counters = (struct bench_counters){0};
}
