// See change.h.
#include "cli/change.h"

#include "base/limits.h"
#include "base/wait.h"
#include "json/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MEMORY = 256 << 20, POLL_MS = 150 };

// ---- Asking -----------------------------------------------------------------------------------

bool change_read(const struct cli_input *input, const char *path, struct buf *out)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) {
        (void)cli_fail(input->command, CLI_FAILED, "cannot read '%s': %s.", path, strerror(errno));
        return false;
    }
    size_t got = 1;
    while (got > 0 && !out->failed) {
        uint8_t *room = buf_reserve(out, 64 << 10);
        got = room == NULL ? 0 : fread(room, 1, 64 << 10, file);
        out->len += got;
    }
    bool ok = ferror(file) == 0 && !out->failed;
    if (file != stdin)
        (void)fclose(file);
    if (!ok)
        (void)cli_fail(input->command, CLI_FAILED, "cannot read '%s', or it is too large.", path);
    return ok;
}

struct json_writer *change_begin(struct change_request *request, const char *member,
                                 const char *path, const struct buf *text)
{
    buf_init(&request->body, LIMIT_BODY);
    request->w = json_writer_to(&request->body);
    struct json_writer *w = &request->w;
    json_open_object(w);
    json_put_string(w, member, buf_view(text));
    json_put_text(w, "FileName", path);
    return w;
}

// Shows how far the server is with reading the items, while the answer is waited for. In a thread,
// by a second target to the same place.
struct watch {
    struct target target;
    atomic_bool stop;
    pthread_t thread;
    bool started;
};

static void *watch_main(void *argument)
{
    struct watch *watch = argument;
    struct progress bar;
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    progress_begin(&bar, "reading items", 0, 0, false, false);
    for (unsigned turn = 1; !atomic_load(&watch->stop); turn++) {
        sleep_ms(POLL_MS);
        // Most requests are answered at once and want no bar.
        if (turn % 3 != 0 || atomic_load(&watch->stop) ||
            target_call(&watch->target, "ListModels", SLICE_LIT("{}")) != 200)
            continue;
        struct slice looking = json_member(buf_view(&watch->target.response), "Looking", &arena);
        uint64_t done = looking.len == 0 ? 0 : (uint64_t)change_number(looking, "Done", &arena);
        bar.total = looking.len == 0 ? 0 : (uint64_t)change_number(looking, "Total", &arena);
        if (bar.total > 0)
            progress_show(&bar, done, done);
    }
    progress_end(&bar);
    arena_release(&arena);
    return NULL;
}

static void watch_begin(struct watch *watch, const struct target *target)
{
    *watch = (struct watch){.target = *target};
    if (isatty(STDERR_FILENO) != 1)
        return;
    buf_init(&watch->target.response, 2 * (size_t)LIMIT_RESPONSE);
    watch->started = pthread_create(&watch->thread, NULL, watch_main, watch) == 0;
}

static void watch_end(struct watch *watch)
{
    if (!watch->started)
        return;
    atomic_store(&watch->stop, true);
    (void)pthread_join(watch->thread, NULL);
    buf_release(&watch->target.response);
}

int change_send(struct change_request *request, struct target *target, const char *operation)
{
    struct watch watch;
    json_close_object(&request->w);
    watch_begin(&watch, target);
    int status = target_call(target, operation, buf_view(&request->body));
    watch_end(&watch);
    buf_release(&request->body);
    if (status == 200 || status == 0)
        return status;
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = buf_view(&target->response);
    struct slice text = json_member_text(answer, "message", &arena);
    if (text.len == 0)
        text = answer;
    (void)cli_fail(target->input->command, CLI_FAILED, "%.*s", SLICE_FMT(text));
    arena_release(&arena);
    return 0;
}

// ---- Reading answers --------------------------------------------------------------------------

struct change_list change_list(struct slice object, const char *name, struct arena *arena)
{
    struct slice array = json_member(object, name, arena);
    if (array.len < 2 || array.ptr[0] != '[')
        return (struct change_list){slice_of(NULL, 0), arena};
    return (struct change_list){slice_of(array.ptr + 1, array.len - 1), arena};
}

bool change_next(struct change_list *list, struct slice *element)
{
    const uint8_t *at = list->rest.ptr;
    const uint8_t *end = at + list->rest.len;
    while (at < end && (*at == ',' || *at == ' '))
        at++;
    if (at >= end || *at == ']')
        return false;
    struct json_reader reader;
    json_reader_init(&reader, slice_of(at, (size_t)(end - at)), list->arena);
    (void)json_peek(&reader);
    const uint8_t *from = reader.at;
    if (!json_skip(&reader))
        return false;
    *element = slice_of(from, (size_t)(reader.at - from));
    list->rest = slice_of(reader.at, (size_t)(end - reader.at));
    return true;
}

int64_t change_number(struct slice object, const char *name, struct arena *arena)
{
    struct slice text = json_member(object, name, arena);
    char digits[32] = "";
    size_t len = text.len < sizeof(digits) - 1 ? text.len : sizeof(digits) - 1;
    if (len > 0)
        memcpy(digits, text.ptr, len);
    return strtoll(digits, NULL, 10);
}

bool change_flag(struct slice object, const char *name, struct arena *arena)
{
    return slice_is(json_member(object, name, arena), "true");
}

// ---- Showing ----------------------------------------------------------------------------------

static void show_samples(const char *what, struct slice items, const char *name,
                         struct arena *arena)
{
    struct change_list samples = change_list(items, name, arena);
    struct slice sample;
    while (change_next(&samples, &sample))
        printf("    %s %.*s  %.*s\n", what, SLICE_FMT(json_member(sample, "Key", arena)),
               SLICE_FMT(json_member_text(sample, "Text", arena)));
}

static void show_items(struct slice items, struct arena *arena)
{
    long long examined = (long long)change_number(items, "Examined", arena);
    printf("  items: %lld looked at", examined);
    if (change_flag(items, "Sampled", arena))
        printf(" of %lld", (long long)change_number(items, "Total", arena));
    printf("; %lld to complete, %lld that violate the model, %lld of no entity, %lld values not "
           "unique\n",
           (long long)change_number(items, "Backfill", arena),
           (long long)change_number(items, "Violations", arena),
           (long long)change_number(items, "Unmatched", arena),
           (long long)change_number(items, "Duplicates", arena));
    struct change_list entities = change_list(items, "Entities", arena);
    struct slice entity;
    while (change_next(&entities, &entity)) {
        long long count = (long long)change_number(entity, "Items", arena);
        long long backfill = (long long)change_number(entity, "Backfill", arena);
        long long violations = (long long)change_number(entity, "Violations", arena);
        if (backfill + violations > 0)
            printf("    %.*s: %lld items, %lld to complete, %lld that violate\n",
                   SLICE_FMT(json_member_text(entity, "Entity", arena)), count, backfill,
                   violations);
    }
    show_samples("violates:", items, "ViolationSamples", arena);
    show_samples("of no entity:", items, "UnmatchedSamples", arena);
    show_samples("not unique:", items, "DuplicateSamples", arena);
    show_samples("to complete:", items, "BackfillSamples", arena);
}

static void show_table(struct slice table, struct arena *arena)
{
    struct slice change;
    struct change_list changes = change_list(table, "Changes", arena);
    printf("table %.*s%s\n", SLICE_FMT(json_member_text(table, "TableName", arena)),
           change_flag(table, "Unchanged", arena) ? ": nothing to change" : "");
    while (change_next(&changes, &change))
        printf("  %.*s\n", SLICE_FMT(json_member_text(change, "Text", arena)));
    long long more = (long long)change_number(table, "MoreChanges", arena);
    if (more > 0)
        printf("  and %lld more changes\n", more);
    struct slice impossible = json_member_text(table, "Impossible", arena);
    if (impossible.len > 0)
        printf("  this cannot be applied: %.*s\n", SLICE_FMT(impossible));
    struct slice items = json_member(table, "Items", arena);
    if (items.len > 0)
        show_items(items, arena);
    long long refused = (long long)change_number(table, "Refused", arena);
    if (refused > 0)
        printf("  apply refuses it because of %lld of these (--force leaves them as they are)\n",
               refused);
}

void change_show(struct slice answer)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct change_list tables = change_list(answer, "Tables", &arena);
    struct slice table;
    while (change_next(&tables, &table))
        show_table(table, &arena);
    tables = change_list(answer, "UnnamedTables", &arena);
    while (change_next(&tables, &table))
        printf("table %.*s had its model from this file, which does not name it any more; it stays "
               "as it is\n",
               SLICE_FMT(table));
    arena_release(&arena);
}

// ---- Waiting ----------------------------------------------------------------------------------

static int tell_failed(struct target *target, struct slice progress, struct arena *arena)
{
    return cli_fail(target->input->command, CLI_FAILED, "the backfill failed: %.*s",
                    SLICE_FMT(json_member_text(progress, "Failure", arena)));
}

static void tell_done(const char *table, struct slice progress, struct arena *arena)
{
    printf("table %s: %lld items looked at, %lld changed", table,
           (long long)change_number(progress, "Done", arena),
           (long long)change_number(progress, "Written", arena));
    long long violations = (long long)change_number(progress, "Violations", arena);
    if (violations > 0)
        printf(", %lld left as they are although they violate the model", violations);
    printf("\n");
    show_samples("violates:", progress, "ViolationSamples", arena);
}

// One look. *again: it is not done yet.
static int look(struct target *target, const char *table, struct progress *bar, bool quiet,
                bool *again)
{
    struct arena arena;
    struct buf body;
    buf_init(&body, 4096);
    buf_printf(&body, "{\"TableName\":\"%s\"}", table);
    int status = target_call(target, "DescribeModel", buf_view(&body));
    buf_release(&body);
    if (status != 200)
        return status == 0 ? CLI_FAILED
                           : cli_fail(target->input->command, CLI_FAILED,
                                      "table %s has no model any more.", table);
    arena_init(&arena, ANSWER_MEMORY);
    int code = CLI_OK;
    struct slice answer = buf_view(&target->response);
    struct slice progress = json_member(answer, "Progress", &arena);
    struct slice state = json_member_text(answer, "Status", &arena);
    *again = slice_is(state, "APPLYING");
    bool indexes = slice_is(json_member_text(progress, "Phase", &arena), "INDEXES");
    bar->what = indexes ? "creating indexes" : "backfilling";
    bar->total = (uint64_t)change_number(progress, "Total", &arena);
    uint64_t done = (uint64_t)change_number(progress, "Done", &arena);
    if (*again)
        progress_show(bar, done, done);
    else
        progress_end(bar);
    if (slice_is(state, "FAILED"))
        code = tell_failed(target, progress, &arena);
    else if (!*again && progress.len > 0 && !quiet)
        tell_done(table, progress, &arena);
    arena_release(&arena);
    return code;
}

int change_wait(struct target *target, const char *table, bool quiet)
{
    struct progress bar;
    bool again = true;
    int code = CLI_OK;
    progress_begin(&bar, "backfilling", 0, 0, false, quiet);
    while (again) {
        code = look(target, table, &bar, quiet, &again);
        if (again)
            sleep_ms(POLL_MS);
        if (code != CLI_OK)
            break;
    }
    return code;
}
