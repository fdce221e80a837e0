// See export_target.h.
#include "cli/export_target.h"

#include "base/limits.h"
#include "base/wait.h"
#include "cli/database.h"
#include "client/client.h"
#include "value/value.h"
#include "json/reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    TRIES = 12,
    TELL_AFTER = 4, // tries; these take a third of a second
    PAUSE_MAX_MS = 5000,
};

bool target_open(struct target *target, const struct cli_input *input, int *code)
{
    *target = (struct target){.input = input,
                              .region = cli_value(input, "--region", "us-east-1"),
                              .endpoint = cli_value(input, "--endpoint", TARGET_ENDPOINT)};
    buf_init(&target->response, 2 * (size_t)LIMIT_RESPONSE);
    *code = CLI_USAGE;
    if (!cli_exclusive(input, "--data", "--endpoint"))
        return false;
    if (!cli_given(input, "--data"))
        return true;
    struct store_options where = {.path = cli_value(input, "--data", NULL)};
    target->api = cli_database_open(input, &where, NULL, NULL, code);
    return target->api != NULL;
}

void target_close(struct target *target)
{
    if (target->api != NULL)
        api_close(target->api);
    buf_release(&target->response);
}

// ---- Calls ------------------------------------------------------------------------

static int call_here(struct target *target, const char *operation, struct slice body)
{
    struct api_call call;
    api_call_init(&call, target->api);
    call.operation = slice_str(operation);
    call.region = slice_str(target->region);
    call.body = body;
    api_call_run(&call);
    int status = call.status;
    buf_slice(&target->response, buf_view(&call.response));
    api_call_release(&call);
    return status;
}

static bool should_retry(const struct target *target, int status)
{
    struct slice text = buf_view(&target->response);
    if (slice_contains(text, SLICE_LIT("data on disk is damaged")))
        return false;
    return status == 0 || status >= 500 ||
           (status == 400 && (slice_contains(text, SLICE_LIT("ThroughputExceeded")) ||
                              slice_contains(text, SLICE_LIT("#ThrottlingException")) ||
                              slice_contains(text, SLICE_LIT("#RequestLimitExceeded"))));
}

// Says once why it takes so long.
static void tell_wait(const struct target *target, const char *operation, const char *error)
{
    char text[512];
    if (error[0] == 0)
        target_error(target, text, sizeof(text));
    (void)fprintf(stderr, "dolmen %s: %s fails and is tried again for half a minute: %s\n",
                  target->input->command->name, operation, error[0] == 0 ? text : error);
}

int target_call(struct target *target, const char *operation, struct slice body)
{
    char error[256] = "";
    int status = 0;
    for (int try = 0; try < TRIES; try++) {
        if (try == TELL_AFTER)
            tell_wait(target, operation, status == 0 ? error : "");
        if (try > 0) {
            long pause = 20L << try;
            sleep_ms(pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
        }
        buf_clear(&target->response);
        struct client_request request = {.operation = operation,
                                         .region = target->region,
                                         .body = body,
                                         .patience_s = target->patience_s};
        status = target->api != NULL ? call_here(target, operation, body)
                                     : client_call(target->endpoint, &request, &target->response,
                                                   error, sizeof(error));
        if (!should_retry(target, status))
            return status;
        // A server that has never answered is not waited for.
        if (status == 0 && try == 3)
            break;
    }
    if (status == 0)
        (void)cli_fail(target->input->command, CLI_FAILED, "%s.", error);
    return status;
}

// ---- Answers ----------------------------------------------------------------------

struct slice json_member(struct slice object, const char *name, struct arena *arena)
{
    struct json_reader reader;
    struct slice found = {NULL, 0};
    struct slice own;
    json_reader_init(&reader, object, arena);
    if (json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return found;
    while (json_next_name(&reader, &own)) {
        const uint8_t *from = reader.at;
        if (!json_skip(&reader))
            break;
        if (slice_is(own, name))
            found = slice_of(from, (size_t)(reader.at - from));
    }
    return found;
}

struct slice json_member_text(struct slice object, const char *name, struct arena *arena)
{
    struct slice text = {NULL, 0};
    struct slice member = json_member(object, name, arena);
    struct json_reader reader;
    json_reader_init(&reader, member, arena);
    if (member.ptr == NULL || json_peek(&reader) != JSON_STRING ||
        !json_read_string(&reader, &text))
        return slice_of(NULL, 0);
    return text;
}

void target_error(const struct target *target, char *out, size_t size)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice answer = buf_view(&target->response);
    struct slice type = json_member_text(answer, "__type", &arena);
    struct slice text = json_member_text(answer, "message", &arena);
    if (text.ptr == NULL)
        text = json_member_text(answer, "Message", &arena);
    const uint8_t *hash = type.len == 0 ? NULL : memchr(type.ptr, '#', type.len);
    if (hash != NULL)
        type = slice_of(hash + 1, (size_t)(type.ptr + type.len - hash - 1));
    (void)snprintf(out, size, "%.*s: %.*s", SLICE_FMT(type), SLICE_FMT(text));
    arena_release(&arena);
}

// {"AttributeName":"pk","AttributeType":"S"}
static void add_key(struct target_table *table, struct slice definition, struct arena *arena)
{
    struct slice name = json_member_text(definition, "AttributeName", arena);
    enum value_type type =
        value_type_from_name(json_member_text(definition, "AttributeType", arena));
    if (name.len > 0 && type != VALUE_TYPES && table->key_count < COUNT_OF(table->keys))
        table->keys[table->key_count++] = (struct key_part){name, type};
}

bool target_describe(struct target *target, const char *table, struct arena *arena,
                     struct target_table *out)
{
    struct buf body;
    buf_init(&body, 4096);
    buf_printf(&body, "{\"TableName\":\"%s\"}", table);
    int status = target_call(target, "DescribeTable", buf_view(&body));
    buf_release(&body);
    *out = (struct target_table){.items = 0};
    if (status != 200) {
        char error[512];
        target_error(target, error, sizeof(error));
        if (status != 0)
            (void)cli_fail(target->input->command, CLI_FAILED, "%s", error);
        return false;
    }
    struct slice answer = arena_copy(arena, buf_view(&target->response));
    out->description = json_member(answer, "Table", arena);
    struct slice count = json_member(out->description, "ItemCount", arena);
    for (size_t i = 0; i < count.len && count.ptr[i] >= '0' && count.ptr[i] <= '9'; i++)
        out->items = out->items * 10 + (uint64_t)(count.ptr[i] - '0');
    struct json_reader reader;
    json_reader_init(&reader, json_member(out->description, "AttributeDefinitions", arena), arena);
    if (json_peek(&reader) != JSON_ARRAY || !json_enter(&reader))
        return true;
    while (json_next_element(&reader)) {
        const uint8_t *from = reader.at;
        if (!json_skip(&reader))
            break;
        add_key(out, slice_of(from, (size_t)(reader.at - from)), arena);
    }
    return true;
}

// ---- Progress ---------------------------------------------------------------------

static double seconds(void)
{
    return (double)monotonic_ns() / 1e9;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total, uint64_t before,
                    bool bytes, bool quiet)
{
    *progress = (struct progress){.what = what,
                                  .shown = !quiet && isatty(STDERR_FILENO) == 1,
                                  .bytes = bytes,
                                  .total = total,
                                  .before = before,
                                  .started = seconds()};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t items)
{
    enum { BAR = 24 };
    double now = progress->shown ? seconds() : 0;
    if (!progress->shown || now - progress->last < 0.2)
        return;
    progress->last = now;
    double spent = now - progress->started;
    double rate = spent > 0 ? (double)(done - progress->before) / spent : 0;
    double part = progress->total > 0 ? (double)done / (double)progress->total : 0;
    part = part > 1 ? 1 : part;
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(part * BAR) ? '#' : '.';
    bar[BAR] = 0;
    (void)fprintf(stderr, "\r%s [%s] %3d%%  %llu items", progress->what, bar, (int)(part * 100),
                  (unsigned long long)items);
    if (rate > 0) {
        double left = progress->total > done ? (double)(progress->total - done) / rate : 0;
        if (progress->bytes)
            (void)fprintf(stderr, "  %.1f MB/s  %.0f s left ", rate / 1e6, left);
        else
            (void)fprintf(stderr, "  %.0f/s  %.0f s left ", rate, left);
    }
    (void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown && progress->last > 0)
        (void)fprintf(stderr, "\r\033[K");
}
