// See change.h.
#include "cli/change.h"

#include "base/limits.h"
#include "base/wait.h"
#include "base/worker.h"
#include "json/reader.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MEMORY = 256 << 20, LOOK_MS = 450, ATTACHED_MS = 20 };

// ---- Asking -----------------------------------------------------------------------------------

struct json_writer *change_begin(struct change_request *request, struct cli_input *input,
                                 const char *member, const char *path)
{
    struct buf text;
    struct json_writer *w = &request->w;
    buf_init(&text, LIMIT_BODY);
    buf_init(&request->body, LIMIT_BODY);
    *w = json_writer_to(&request->body);
    bool model = strcmp(member, "Model") == 0;
    request->unread = !(model ? cli_read_model : cli_read)(input, path, &text);
    json_form(w, "{%s:%.*s,'FileName':%s", member, SLICE_FMT(buf_view(&text)), path);
    buf_release(&text);
    return w;
}

bool change_numbers(struct json_writer *w, struct cli_input *input)
{
    unsigned sample;
    unsigned rate = 0;
    // `diff` writes nothing and has no --rate.
    bool rated = strcmp(input->command->name, "diff") != 0;
    if (!cli_number(input, "--sample", 0, 1, 1000000000, &sample) ||
        (rated && !cli_number(input, "--rate", 0, 1, 100000000, &rate)))
        return false;
    if (w != NULL && sample > 0)
        json_put_integer(w, "Sample", sample);
    if (w != NULL && rate > 0)
        json_put_integer(w, "Rate", rate);
    return true;
}

// What is said of an interruption. The thread that waits for one may outlive the command's input.
struct interruption {
    const char *name; // of the command
    bool directory;   // it has opened one itself
};

static void *wait_for_signal(void *argument)
{
    const struct interruption *said = argument;
    sigset_t signals;
    int number = 0;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigwait(&signals, &number);
    if (said->directory)
        (void)fprintf(
            stderr,
            "\ndolmen %s: interrupted. What has begun goes on when the directory is opened "
            "the next time: run the same command again to wait for it.\n",
            said->name);
    else
        (void)fprintf(
            stderr,
            "\ndolmen %s: interrupted. The server goes on with what it has begun: run the "
            "same command again to wait for it%s.\n",
            said->name,
            strcmp(said->name, "migrate") == 0
                ? ", or 'dolmen migrate --status' to see how far it is"
                : ", or 'dolmen abandon TABLE' to undo it");
    _exit(128 + number);
}

void change_interruptible(const struct cli_input *input)
{
    sigset_t signals;
    pthread_t thread;
    struct interruption *said = malloc(sizeof(*said));
    ensure_memory(said);
    *said = (struct interruption){input->command->name, cli_given(input, "--data")};
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    // Blocked in all threads, and waited for in one, so that nothing is interrupted half way.
    ensure(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    ensure_started(pthread_create(&thread, NULL, wait_for_signal, said) == 0);
    ensure(pthread_detach(thread) == 0);
}

bool change_run(struct cli_input *input, const char *missing,
                bool (*one)(struct cli_input *input, struct target *target, const char *path))
{
    struct target target;
    if (input->argument_count == 0)
        return cli_misused(input, "%s", missing);
    if (!change_numbers(NULL, input))
        return false;
    if (strcmp(input->command->name, "diff") != 0)
        change_interruptible(input);
    bool ok = target_open(&target, input);
    target.patience_s = 24 * 3600; // all items are looked at before the answer
    for (size_t i = 0; ok && i < input->argument_count; i++)
        ok = one(input, &target, input->arguments[i]);
    target_close(&target);
    return ok;
}

// Shows how far the server is with reading the items, while the answer is waited for: by a second
// target to the same place. Most requests are answered before the first look, and want no bar.
struct watch {
    struct worker worker;
    struct target target;
    struct progress bar;
    struct arena arena;
    bool started;
};

static void watch_look(void *context)
{
    struct watch *watch = context;
    if (target_call(&watch->target, "ListModels", SLICE_LIT("{}")) != 200)
        return;
    struct slice looking = json_member(buf_view(&watch->target.response), "Looking", &watch->arena);
    uint64_t done = (uint64_t)json_member_number(looking, "Done");
    watch->bar.total = (uint64_t)json_member_number(looking, "Total");
    if (watch->bar.total > 0)
        progress_show(&watch->bar, done, done);
}

static void watch_begin(struct watch *watch, const struct target *target)
{
    *watch = (struct watch){.target = *target, .started = isatty(STDERR_FILENO) == 1};
    if (!watch->started)
        return;
    buf_init(&watch->target.response, 2 * (size_t)LIMIT_RESPONSE);
    arena_init(&watch->arena, ANSWER_MEMORY);
    progress_begin(&watch->bar, "reading items", 0, 0, false, false);
    worker_start(&watch->worker,
                 &(struct worker_plan){.work = watch_look, .context = watch, .every_ms = LOOK_MS});
}

static void watch_end(struct watch *watch)
{
    if (!watch->started)
        return;
    worker_stop(&watch->worker);
    progress_end(&watch->bar);
    arena_release(&watch->arena);
    buf_release(&watch->target.response);
}

int change_call(struct change_request *request, struct target *target, const char *operation)
{
    struct watch watch;
    int status = 0;
    json_close_object(&request->w);
    if (!request->unread) {
        watch_begin(&watch, target);
        status = target_call(target, operation, buf_view(&request->body));
        watch_end(&watch);
    }
    buf_release(&request->body);
    return status;
}

bool change_told(struct target *target, int status)
{
    if (status == 200 || status == 0)
        return status == 200;
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = buf_view(&target->response);
    struct slice text = json_member_text(answer, "message", &arena);
    (void)cli_fail(target->input, "%.*s", SLICE_FMT(text.len == 0 ? answer : text));
    arena_release(&arena);
    return false;
}

bool change_send(struct change_request *request, struct target *target, const char *operation)
{
    return change_told(target, change_call(request, target, operation));
}

// ---- Showing ----------------------------------------------------------------------------------

bool change_print(struct target *target, void (*show)(struct slice answer))
{
    struct slice answer = buf_view(&target->response);
    if (cli_given(target->input, "--json"))
        printf("%.*s\n", SLICE_FMT(answer));
    else
        show(answer);
    return fflush(stdout) == 0;
}

const char *change_plural(struct slice answer, const char *name)
{
    return json_member_number(answer, name) == 1 ? "" : "s";
}

void change_show_samples(const char *what, struct slice answer, const char *name)
{
    struct arena arena;
    struct slice sample;
    arena_init(&arena, ANSWER_MEMORY);
    struct json_list samples = json_list(answer, name, &arena);
    while (json_list_next(&samples, &sample)) {
        printf("%s ", what);
        json_print(sample, "{Key}  {Text}\n");
    }
    arena_release(&arena);
}

static void show_entity(struct slice entity)
{
    if (json_member_number(entity, "Backfill") + json_member_number(entity, "Violations") == 0)
        return;
    json_print(entity, "    {Entity}: {Items#} item");
    printf("%s", change_plural(entity, "Items"));
    json_print(entity, ", {Backfill#} to complete, {Violations#} that violate\n");
}

static void show_items(struct slice items)
{
    json_print(items, "  items: {Examined#} looked at");
    if (json_member_flag(items, "Sampled"))
        json_print(items, " of {Total#}");
    json_print(items, "; {Backfill#} to complete, {Violations#} that violate the model, "
                      "{Unmatched#} of no entity, {Duplicates#} values not unique\n");
    json_each(items, "Entities", show_entity);
    change_show_samples("    violates:", items, "ViolationSamples");
    change_show_samples("    of no entity:", items, "UnmatchedSamples");
    change_show_samples("    not unique:", items, "DuplicateSamples");
    change_show_samples("    to complete:", items, "BackfillSamples");
}

static void show_removal(struct slice removal)
{
    json_print(removal, "  {Text}\n");
    change_show_samples("    due:", removal, "Samples");
}

static void show_seeds(struct slice seeds)
{
    int64_t missing = json_member_number(seeds, "Missing");
    int64_t made = json_member_number(seeds, "Made");
    if (made > 0)
        printf("  seeds: %lld item%s made\n", (long long)made, made == 1 ? "" : "s");
    else if (missing > 0)
        json_print(seeds, "  seeds: {Missing#} of {Total#} would be made\n");
}

static void show_change(struct slice change)
{
    json_print(change, "  {Text}\n");
}

static void show_table(struct slice table)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    json_print(table, json_member_flag(table, "Underway")
                          ? "table {TableName}: this model is being applied already\n"
                      : json_member_flag(table, "Unchanged")
                          ? "table {TableName}: nothing to change\n"
                          : "table {TableName}\n");
    json_each(table, "Changes", show_change);
    if (json_member_number(table, "MoreChanges") > 0)
        json_print(table, "  and {MoreChanges} more changes\n");
    if (json_member_text(table, "Impossible", &arena).len > 0)
        json_print(table, "  this cannot be applied: {Impossible}\n");
    struct slice items = json_member(table, "Items", &arena);
    if (items.len > 0)
        show_items(items);
    json_each(table, "Removals", show_removal);
    struct slice seeds = json_member(table, "Seeds", &arena);
    if (seeds.len > 0)
        show_seeds(seeds);
    if (json_member_number(table, "Refused") > 0)
        json_print(table, "  apply refuses it because of {Refused} of these (--force leaves them "
                          "as they are)\n");
    arena_release(&arena);
}

static void show_unnamed(struct slice table)
{
    printf("table %.*s had its model from this file, which does not name it any more; it stays "
           "as it is\n",
           SLICE_FMT(table));
}

void change_show(struct slice answer)
{
    json_each(answer, "Tables", show_table);
    json_each(answer, "UnnamedTables", show_unnamed);
}

// ---- Waiting ----------------------------------------------------------------------------------

static void tell_done(const char *table, struct slice progress)
{
    printf("table %s: ", table);
    json_print(progress, "{Done#} item");
    printf("%s", change_plural(progress, "Done"));
    json_print(progress, " looked at, {Written#} changed");
    if (json_member_number(progress, "Violations") > 0)
        json_print(progress, ", {Violations} left as they are although they violate the model");
    printf("\n");
    change_show_samples("    violates:", progress, "ViolationSamples");
}

bool change_each_table(struct target *target,
                       bool (*one)(struct target *target, const char *name, struct slice table))
{
    struct arena arena;
    struct slice table;
    bool ok = true;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = arena_copy(&arena, buf_view(&target->response));
    struct json_list tables = json_list(answer, "Tables", &arena);
    while (ok && json_list_next(&tables, &table)) {
        struct slice name = arena_copy(&arena, json_member_text(table, "TableName", &arena));
        ok = name.ptr == NULL || one(target, (const char *)name.ptr, table);
    }
    arena_release(&arena);
    return ok;
}

bool change_attached(struct target *target, const char *table, struct slice unused)
{
    struct arena arena;
    bool gathering = true;
    bool ok = true;
    (void)unused;
    arena_init(&arena, ANSWER_MEMORY);
    while (ok && gathering) {
        arena_reset(&arena);
        ok = target_fine(target, target_ask(target, "DescribeModel", "{'TableName':%s}", table));
        struct slice answer = buf_view(&target->response);
        struct slice progress = json_member(answer, "Progress", &arena);
        gathering = ok && slice_is(json_member_text(progress, "Phase", &arena), "CLAIMS");
        if (gathering && slice_is(json_member_text(answer, "Status", &arena), "FAILED"))
            ok = cli_fail(target->input, "the model of table %s could not be attached: %.*s", table,
                          SLICE_FMT(json_member_text(progress, "Failure", &arena)));
        if (ok && gathering)
            sleep_ms(ATTACHED_MS);
    }
    arena_release(&arena);
    return ok;
}

bool change_wait(struct target *target, const char *table, bool quiet)
{
    struct arena arena;
    const struct target_wait wait = {"DescribeModel", "APPLYING", "backfilling", quiet};
    int status = target_await(target, &wait, "{'TableName':%s}", table);
    if (status != 200)
        return status != 0 && cli_fail(target->input, "table %s has no model any more.", table);
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = buf_view(&target->response);
    struct slice progress = json_member(answer, "Progress", &arena);
    bool ok = !slice_is(json_member_text(answer, "Status", &arena), "FAILED") ||
              cli_fail(target->input, "the model could not be applied: %.*s",
                       SLICE_FMT(json_member_text(progress, "Failure", &arena)));
    if (ok && progress.len > 0 && !quiet)
        tell_done(table, progress);
    arena_release(&arena);
    return ok;
}
