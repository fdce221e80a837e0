// See log.h. A line is built whole and written once, so that threads do not mix.
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    char line[2048];
    struct timespec now;
    struct tm utc;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t used = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
    int more = snprintf(line + used, sizeof(line) - used, ".%03dZ %s ",
                        (int)(now.tv_nsec / 1000000), names[level]);
    used += more > 0 ? (size_t)more : 0;
    va_list args;
    va_start(args, format);
    more = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
    va_end(args);
    used += more > 0 ? (size_t)more : 0;
    if (used > sizeof(line) - 2)
        used = sizeof(line) - 2;
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; // There is nowhere left to report a failing standard error.
}
