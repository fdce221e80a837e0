// `dolmen apply`: makes tables be as a model says, attaches it, and waits for the backfill.
#include "cli/change.h"

#include <stdio.h>
#include <unistd.h>

enum { ANSWER_MEMORY = 64 << 20 };

// The status, 0 after telling the user.
static int send_once(struct cli_input *input, struct target *target, const char *path, bool remove)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Model", path);
    json_form(w, "'Force':%hhd,'Prune':%hhd,'CheckOnly':%hhd,'RemoveItems':%hhd",
              cli_given(input, "--force"), cli_given(input, "--prune"), cli_given(input, "--check"),
              remove);
    return change_numbers(w, input) ? change_call(&request, target, "ApplyModel") : 0;
}

static bool is_removal(const struct target *target)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice type = json_member_text(buf_view(&target->response), "__type", &arena);
    struct slice name = SLICE_LIT("RemovalNotConfirmedException");
    bool is = type.len >= name.len &&
              slice_equal(slice_of(type.ptr + type.len - name.len, name.len), name);
    arena_release(&arena);
    return is;
}

// Rules of the file would delete items: whoever sits there is asked.
static bool agrees(const struct target *target)
{
    struct arena arena;
    char line[16] = "";
    arena_init(&arena, ANSWER_MEMORY);
    struct slice text = json_member_text(buf_view(&target->response), "message", &arena);
    const uint8_t *lines = memchr(text.ptr, '\n', text.len);
    struct slice sentence = slice_cut(&text, '.');
    (void)fprintf(stderr, "%.*s:", SLICE_FMT(sentence));
    if (lines != NULL)
        (void)fprintf(stderr, "%.*s", (int)(text.ptr + text.len - lines), (const char *)lines);
    (void)fprintf(stderr, "\nGo on? [y/N] ");
    arena_release(&arena);
    return fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

static bool send_model(struct cli_input *input, struct target *target, const char *path)
{
    int status = send_once(input, target, path, cli_given(input, "--yes"));
    if (status == 400 && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 &&
        is_removal(target)) {
        if (!agrees(target))
            return cli_fail(input, "nothing was applied.");
        status = send_once(input, target, path, true);
    }
    return change_told(target, status);
}

// One that has not changed may still be on its way.
static bool wait_for_table(struct target *target, const char *name, struct slice table)
{
    bool done = json_member_flag(table, "Unchanged") && !json_member_flag(table, "Underway");
    return change_wait(target, name, done || cli_given(target->input, "--json"));
}

static bool wait_again(struct target *target, const char *name, struct slice unused)
{
    (void)unused;
    return change_wait(target, name, true);
}

// What one table counts from another begins when that one has the model: so each is looked at once
// more when all have it.
static bool wait_for_all(struct target *target)
{
    struct arena arena;
    arena_init(&arena, 16 << 20);
    struct slice answer = arena_copy(&arena, buf_view(&target->response));
    bool ok = change_each_table(target, wait_for_table);
    if (ok && answer.ptr != NULL) {
        buf_clear(&target->response);
        buf_slice(&target->response, answer);
        ok = change_each_table(target, wait_again);
    }
    arena_release(&arena);
    return ok;
}

static bool apply_file(struct cli_input *input, struct target *target, const char *path)
{
    if (!send_model(input, target, path))
        return false;
    bool clean = json_member_flag(buf_view(&target->response), "Clean");
    (void)change_print(target, change_show);
    if (cli_given(input, "--check"))
        return clean;
    // In this process the work would end with it.
    return (cli_given(input, "--no-wait") && target->api == NULL) || wait_for_all(target);
}

bool cli_apply(struct cli_input *input)
{
    return change_run(input, "name a model file.", apply_file);
}
