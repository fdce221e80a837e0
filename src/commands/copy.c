// `dolmen copy`: tables from one place to another (src/copy).
#include "copy/copy.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// The first signal asks for an end that can be gone on from; the second one is the end.
static void *wait_for_signals(void *context)
{
    struct copy *copy = context;
    sigset_t signals;
    int number = 0;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigwait(&signals, &number);
    atomic_store(&copy->stop, true);
    (void)sigwait(&signals, &number);
    _exit(128 + number);
}

static void watch_signals(struct copy *copy)
{
    sigset_t signals;
    pthread_t thread;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    ensure(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    ensure_started(pthread_create(&thread, NULL, wait_for_signals, copy) == 0);
    ensure(pthread_detach(thread) == 0);
}

static void summary(const struct copy *copy)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'Tables':%zu,'Items':%zu,'Changes':%zu}", copy->table_count,
              (size_t)copy->items, (size_t)copy->changes);
    buf_byte(&text, '\n');
    (void)cli_print(&text, stdout);
}

bool cli_copy(struct cli_input *input)
{
    struct copy *copy; // the thread that waits for signals may outlive this function
    unsigned rate;
    unsigned segments;
    bool verify_only = cli_given(input, "--verify-only");
    if (input->argument_count != 2)
        return cli_misused(input, "say from where to where: dolmen copy SOURCE TARGET.");
    if (strcmp(input->arguments[0], input->arguments[1]) == 0)
        return cli_misused(input, "source and target are the same.");
    if (!cli_number(input, "--rate", 0, 1, 100000000, &rate) ||
        !cli_number(input, "--segments", 8, 1, COPY_SEGMENTS_MAX, &segments))
        return false;
    copy = memory_zeroed(sizeof(*copy));
    copy->input = input;
    copy->rate = rate;
    copy->segments = segments;
    copy->state = cli_value(input, "--state", ".dolmen-copy");
    copy->until_caught_up = cli_given(input, "--until-caught-up");
    copy->follow = cli_given(input, "--follow") || copy->until_caught_up;
    copy->overwrite = cli_given(input, "--overwrite");
    copy->quiet = cli_given(input, "--quiet");
    const char *region = target_region(input);
    watch_signals(copy);
    bool ok = place_open(&copy->source, input, input->arguments[0],
                         cli_value(input, "--source-region", region),
                         cli_value(input, "--source-profile", NULL));
    bool opened = ok;
    ok = ok && place_open(&copy->target, input, input->arguments[1],
                          cli_value(input, "--target-region", region),
                          cli_value(input, "--target-profile", NULL));
    bool both = ok;
    if (ok && copy->follow && copy->source.directory)
        ok = cli_misused(input, "--follow is for servers: nobody else writes to a directory that "
                                "is opened here.");
    ok = ok && copy_run(copy, cli_given(input, "--verify"), verify_only);
    if (ok && cli_given(input, "--json"))
        summary(copy);
    if (both)
        place_close(&copy->target);
    if (opened)
        place_close(&copy->source);
    return ok;
}
