// A directory that a command works in, and that is gone when the command ends: as it should, with
// an error, or by SIGINT, SIGTERM or SIGHUP. What SIGKILL leaves has a name that says what it is
// (salvage/look.h).
#ifndef CLI_SCRATCH_H
#define CLI_SCRATCH_H

#include "cli/target.h"
#include "designs/verify.h"
#include "salvage/look.h"

#include <pthread.h>
#include <signal.h>

struct scratch {
    char path[PATH_MAX];
    sigset_t signals;
    sigset_t before;
    pthread_t watcher;
};

// Makes it, as look_scratch does. To be called before the process has other threads.
MUST_CHECK bool scratch_begin(struct scratch *scratch, const char *unfinished,
                              struct store_error *error);
void scratch_end(struct scratch *scratch);

// What a verification has found, and how far it is.
struct findings {
    struct verify_report report;
    struct progress bar;
    const struct look *look; // of which paths are told; or NULL
};
struct verify_watcher findings_watcher(struct findings *findings);

#endif
