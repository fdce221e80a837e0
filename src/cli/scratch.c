// See scratch.h. The signals are blocked in all threads, and one waits for them.
#include "cli/scratch.h"

#include <unistd.h>

enum { TRIES = 16 }; // others may be writing into the directory that is being removed

static void *watch(void *context)
{
    struct scratch *scratch = context;
    int number;
    if (sigwait(&scratch->signals, &number) != 0)
        return NULL;
    for (int i = 0; i < TRIES && access(scratch->path, F_OK) == 0; i++)
        look_remove(scratch->path);
    // As if nobody had waited for it.
    (void)signal(number, SIG_DFL);
    (void)kill(getpid(), number);
    (void)pthread_sigmask(SIG_UNBLOCK, &scratch->signals, NULL);
    return NULL;
}

bool scratch_begin(struct scratch *scratch, const char *unfinished, struct store_error *error)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    (void)sigemptyset(&scratch->signals);
    for (size_t i = 0; i < COUNT_OF(ending); i++)
        (void)sigaddset(&scratch->signals, ending[i]);
    ensure(pthread_sigmask(SIG_BLOCK, &scratch->signals, &scratch->before) == 0);
    if (look_scratch(unfinished, scratch->path, error)) {
        ensure(pthread_create(&scratch->watcher, NULL, watch, scratch) == 0);
        return true;
    }
    ensure(pthread_sigmask(SIG_SETMASK, &scratch->before, NULL) == 0);
    return false;
}

void scratch_end(struct scratch *scratch)
{
    look_remove(scratch->path);
    ensure(pthread_cancel(scratch->watcher) == 0);
    ensure(pthread_join(scratch->watcher, NULL) == 0);
    ensure(pthread_sigmask(SIG_SETMASK, &scratch->before, NULL) == 0);
}

// ---- Findings -------------------------------------------------------------------------------

// RocksDB names files by their path, which is one of the scratch directory.
static void note_difference(void *context, const struct verify_difference *difference)
{
    struct findings *findings = context;
    struct verify_difference own = *difference;
    struct store_error text;
    (void)snprintf(text.text, sizeof(text.text), "%s", difference->what);
    if (findings->look != NULL) {
        look_translate(findings->look, &text);
        own.what = text.text;
    }
    verify_report_difference(&findings->report, &own);
}

static void note_outcome(void *context, const struct verify_outcome *outcome)
{
    verify_report_outcome(&((struct findings *)context)->report, outcome);
}

static bool note_progress(void *context, const struct verify_progress *progress)
{
    struct findings *findings = context;
    findings->bar.total = progress->total;
    progress_show(&findings->bar, progress->done, progress->done);
    return true;
}

struct verify_watcher findings_watcher(struct findings *findings)
{
    return (struct verify_watcher){findings, note_difference, note_outcome, note_progress};
}
