// Operational messages for the person who runs the server: one line each on
// standard error, with time and level. Never called for a client's mistake.
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/attributes.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

#ifdef __cplusplus
extern "C" {
#endif
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);
#ifdef __cplusplus
}
#endif

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)

#endif
