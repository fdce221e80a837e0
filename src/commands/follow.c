// See follow.h. Each event is a line of JSON. What was printed last is what the next connection
// goes on behind: the server tells by `reset` if it cannot.
#include "commands/follow.h"

#include "client/events.h"
#include "sign/sign.h"

#include <errno.h>
#include <time.h>

enum { PATH_BYTES = 1 << 20, PAUSE_MS = 100, PAUSE_MAX_MS = 5000, TOO_MANY = 429 };

struct follow {
    struct cli_input *input;
    struct target *target;
    struct buf path;
    char last[256];     // id of the last event
    bool heard;         // there has been a stream
    unsigned pause_ms;  // before the next attempt
    struct buf answer;  // of the server, if it is no stream
    struct buf printed; // a line
};

// ---- The question ------------------------------------------------------------------------------

static bool has_param(const struct model_access *access, const char *name)
{
    for (size_t i = 0; i < access->param_count; i++)
        if (slice_is(access->params[i].name, name))
            return true;
    return false;
}

// An option of the data API has a "$" before it where a parameter has its name.
static void put_option(struct follow *follow, const struct model_access *access, const char *name,
                       const char *value)
{
    bool first = memchr(follow->path.ptr, '?', follow->path.len) == NULL;
    buf_printf(&follow->path, "%s%s%s=%s", first ? "?" : "&", has_param(access, name) ? "%24" : "",
               name, value);
}

static bool make_path(struct follow *follow, const struct model_access *access)
{
    struct cli_input *input = follow->input;
    struct buf *path = &follow->path;
    buf_text(path, "/v1/");
    sign_encode(path, access->table->name, false);
    buf_byte(path, '/');
    sign_encode(path, access->name, false);
    for (size_t i = 2; i < input->argument_count; i++) {
        struct slice value = slice_str(input->arguments[i]);
        struct slice name = slice_cut(&value, '=');
        buf_byte(path, i == 2 ? '?' : '&');
        sign_encode(path, name, false);
        buf_byte(path, '=');
        sign_encode(path, value, false);
    }
    const char *limit = cli_value(input, "--limit", NULL);
    if (limit != NULL && !path->failed)
        put_option(follow, access, "limit", limit);
    if (cli_given(input, "--keys") && !path->failed)
        put_option(follow, access, "keys", "true");
    return !path->failed || cli_fail(input, "the question is too long.");
}

// ---- Events ------------------------------------------------------------------------------------

// {"event":"put", …}: the members of the event's data follow.
static bool print_event(struct follow *follow, const struct client_event *event)
{
    struct buf *line = &follow->printed;
    struct slice data = event->data;
    buf_clear(line);
    struct json_writer w = json_writer_to(line);
    json_open_object(&w);
    json_name(&w, "event");
    json_string(&w, event->name);
    if (slice_begins(data, SLICE_LIT("{")) && data.len > 2) {
        buf_byte(line, ',');
        buf_slice(line, slice_of(data.ptr + 1, data.len - 1));
    } else {
        buf_byte(line, '}');
    }
    buf_byte(line, '\n');
    return !line->failed && fwrite(line->ptr, 1, line->len, stdout) == line->len &&
           fflush(stdout) == 0;
}

static void wait_a_while(struct follow *follow)
{
    struct timespec rest = {follow->pause_ms / 1000, (long)(follow->pause_ms % 1000) * 1000000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
    follow->pause_ms *= 2;
    if (follow->pause_ms > PAUSE_MAX_MS)
        follow->pause_ms = PAUSE_MAX_MS;
}

// Until the stream breaks; false if nobody takes what is printed.
static bool print_events(struct follow *follow, struct client_events *events)
{
    struct client_event event;
    while (client_events_next(events, &event)) {
        follow->pause_ms = PAUSE_MS;
        if (!print_event(follow, &event))
            return false;
        if (event.id.len > 0)
            (void)snprintf(follow->last, sizeof(follow->last), "%.*s", SLICE_FMT(event.id));
    }
    return true;
}

// What a server says that will not be otherwise in a moment. False after telling it.
static bool may_try_again(struct follow *follow, int status, const char *error)
{
    struct arena arena;
    if (status == 0 && !follow->heard)
        return target_silent(follow->target, error);
    if (status == 0 || status == TOO_MANY || (status >= 500 && follow->heard))
        return true;
    arena_init(&arena, PATH_BYTES);
    struct slice detail = json_member_text(buf_view(&follow->answer), "detail", &arena);
    (void)cli_fail(
        follow->input, "%.*s",
        SLICE_FMT(detail.len > 0 ? detail : SLICE_LIT("the server does not follow this pattern.")));
    arena_release(&arena);
    return false;
}

static bool follow_on(struct follow *follow)
{
    for (;;) {
        char error[512] = "";
        int status;
        buf_clear(&follow->answer);
        const struct sign_keys *keys = NULL;
        const struct client_trust *trust = target_trust(follow->target, error, sizeof(error));
        if (error[0] == 0)
            keys = target_keys(follow->target, error, sizeof(error));
        if (error[0] != 0)
            return cli_fail(follow->input, "%s.", error);
        const struct client_events_request request = {.path = (const char *)follow->path.ptr,
                                                      .last_id = slice_str(follow->last),
                                                      .region = follow->target->region,
                                                      .trust = trust,
                                                      .keys = keys};
        struct client_events *events = client_events_open(
            follow->target->endpoint, &request, &status, &follow->answer, error, sizeof(error));
        bool wanted = true;
        if (events != NULL) {
            follow->heard = true;
            wanted = print_events(follow, events);
        } else if (!may_try_again(follow, status, error)) {
            return false;
        }
        client_events_close(events);
        if (!wanted)
            return cli_fail(follow->input, "what was printed could not be written.");
        wait_a_while(follow);
    }
}

bool follow_pattern(struct cli_input *input, struct target *target,
                    const struct model_access *access)
{
    struct follow follow = {.input = input, .target = target, .pause_ms = PAUSE_MS};
    if (target->endpoint == NULL)
        return cli_misused(input, "--follow needs a server: give --endpoint, not --data.");
    buf_init(&follow.path, PATH_BYTES);
    buf_init(&follow.answer, PATH_BYTES);
    buf_init(&follow.printed, 64 << 20);
    bool ok = make_path(&follow, access);
    buf_byte(&follow.path, 0);
    ok = ok && follow_on(&follow);
    buf_release(&follow.path);
    buf_release(&follow.answer);
    buf_release(&follow.printed);
    return ok;
}
