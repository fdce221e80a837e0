// `dolmen publish`: delivers the changes of a table from outside, as the `publish` rules of models
// do inside the server: a client of DynamoDB Streams, so the table may be of any server of the API.
//
// Shards are read parents first, a page of records at a time. A page is delivered, in order per
// key, then the place is noted in the state file: after an interruption the last page is delivered
// again, under the same ids.
#include "cli/target.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/wait.h"
#include "capture/outbox.h"
#include "capture/window.h"
#include "guard/entity.h"
#include "publish/publish.h"
#include "json/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    PAGE_MEMORY = 256 << 20,
    SHARDS_MAX = 4096,
    OPTIONS_MAX = 32,
    SENT_AT_ONCE = 256,
    IDLE_MS = 200,
    ATTEMPTS = 8,
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 30000,
    KEY_SEED = 0x5eed,
};

struct shard {
    char id[128];
    char parent[128];
    char sequence[64]; // of the last record that is delivered; or empty
    char *iterator;    // of the next page; or NULL
    bool done;
};

struct publishing {
    struct cli_input *input;
    struct target target;
    struct publisher publisher;
    struct outlet *outlet;
    int bell;
    const char *table;
    const char *state;
    char *stream;
    struct model *model;
    const struct model_table *described; // or NULL
    struct slice entity;                 // only of this one; or empty
    struct slice order;                  // attribute; or empty
    struct window window;
    unsigned attempts;
    unsigned away; // failures in a row of a target that is not there
    char failure[300];
    uint64_t delivered;
    size_t count;
    struct shard *shards;
    struct arena page;
    struct error error;
};

// ---- Delivering --------------------------------------------------------------------------------

static int64_t backoff(unsigned tries)
{
    int64_t ms = BACKOFF_FIRST_MS;
    for (unsigned i = 1; i < tries && ms < BACKOFF_LAST_MS; i++)
        ms *= 2;
    return ms;
}

static void fail_event(struct publishing *p, const struct event *event, const char *reason)
{
    if (p->failure[0] == 0)
        (void)snprintf(p->failure, sizeof(p->failure), "event %s: %s", event->out.id.ptr, reason);
}

static void ended(void *context, struct outlet_event *out, const struct outlet_end *end)
{
    struct publishing *p = context;
    struct event *event = (struct event *)out;
    switch (end->outcome) {
    case OUTLET_DELIVERED:
        p->delivered++;
        p->away = 0;
        window_remove(&p->window, event);
        event_free(event);
        return;
    case OUTLET_REFUSED:
    case OUTLET_FAILED:
        event->out.together = false;
        event->attempts += !end->shared;
        if (event->attempts >= p->attempts)
            fail_event(p, event, end->reason);
        break;
    case OUTLET_GONE:
        fail_event(p, event, end->reason);
        break;
    case OUTLET_AWAY:
        if (p->away++ == 0)
            cli_note(p->input, "The target takes no events (%s); trying again.", end->reason);
        break;
    case OUTLET_UNTRIED:
        window_return(&p->window, event, 0);
        return;
    }
    int64_t wait = backoff(end->outcome == OUTLET_AWAY ? p->away : event->attempts);
    wait = wait > end->retry_after_ms ? wait : end->retry_after_ms;
    window_return(&p->window, event, end->shared ? 0 : monotonic_ms() + wait);
}

static void send_ready(struct publishing *p)
{
    const struct outlet_ops *ops = p->outlet->ops;
    struct outlet_event *events[SENT_AT_ONCE];
    size_t room = ops->room == NULL ? SENT_AT_ONCE : ops->room(p->outlet);
    size_t count = 0;
    struct event *event;
    while (count < room && count < SENT_AT_ONCE &&
           (event = window_take(&p->window, ops->ordered)) != NULL) {
        event->out.attempt = event->attempts + 1;
        events[count++] = &event->out;
    }
    if (count > 0)
        ops->send(p->outlet, events, count);
}

// All that is in the window. False if an event was refused for good.
static bool deliver(struct publishing *p)
{
    while (p->window.count > 0 && p->failure[0] == 0) {
        eventfd_t rung;
        window_due(&p->window, monotonic_ms());
        send_ready(p);
        if (p->outlet->ops->wait != NULL)
            p->outlet->ops->wait(p->outlet, p->window.ready.first != NULL ? 10 : 100);
        else if (p->window.ready.first == NULL && p->window.count > 0)
            sleep_ms(50);
        DISREGARD(eventfd_read(p->bell, &rung));
    }
    return p->failure[0] == 0 || cli_fail(p->input, "%s.", p->failure);
}

// ---- Records -----------------------------------------------------------------------------------

static bool image(struct publishing *p, struct slice change, const char *name, struct slice *out)
{
    struct slice text = json_member(change, name, &p->page);
    *out = VALUE_NONE;
    return text.len == 0 || json_decode_item(text, &p->page, out, &p->error);
}

static int64_t time_of(struct slice change, struct arena *arena)
{
    struct slice text = json_member(change, "ApproximateCreationDateTime", arena);
    char *copy = arena_printf(arena, "%.*s", SLICE_FMT(text));
    return copy == NULL || text.len == 0 ? 0 : (int64_t)llround(strtod(copy, NULL) * 1000);
}

static const char *type_word(struct slice name)
{
    return slice_is(name, "INSERT") ? "insert" : slice_is(name, "MODIFY") ? "modify" : "remove";
}

static bool add_record(struct publishing *p, struct slice record)
{
    struct slice change = json_member(record, "dynamodb", &p->page);
    struct slice type = slice_str(type_word(json_member_text(record, "eventName", &p->page)));
    struct outbox_event event = {.id = json_member_text(record, "eventID", &p->page),
                                 .type = type,
                                 .time_ms = time_of(change, &p->page),
                                 .table = slice_str(p->table),
                                 .model = p->described};
    if (!image(p, change, "Keys", &event.keys) || !image(p, change, "NewImage", &event.item) ||
        !image(p, change, "OldImage", &event.old) || event.keys.len == 0)
        return cli_fail(p->input, "A record of the stream cannot be read.");
    struct slice shown = event.item.len > 0 ? event.item : event.old;
    if (p->described != NULL && shown.len > 0)
        event.entity = model_recognise(p->described, shown).entity;
    if (p->entity.len > 0 && (event.entity == NULL || !slice_equal(event.entity->name, p->entity)))
        return true;
    struct buf body;
    buf_init(&body, LIMIT_CHANGE_JSON);
    outbox_event_write(&body, &event);
    struct slice order = p->order.len > 0 ? value_get(shown, p->order) : VALUE_NONE;
    bool ok = !body.failed;
    if (ok)
        window_add(&p->window, event_new(&(struct event_texts){.id = event.id,
                                                               .type = type,
                                                               .table = event.table,
                                                               .entity = event.entity == NULL
                                                                             ? slice_of(NULL, 0)
                                                                             : event.entity->name,
                                                               .body = buf_view(&body)},
                                         hash_of(KEY_SEED, order.len > 0 ? order : event.keys)));
    buf_release(&body);
    return ok || cli_fail(p->input, "A record of the stream is too large.");
}

// ---- The state file ----------------------------------------------------------------------------

static bool state_write(struct publishing *p)
{
    char path[4096];
    struct buf text;
    if (p->state == NULL)
        return true;
    buf_init(&text, 16 << 20);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'TableName':%s,'Stream':%s,'Shards':[", p->table, p->stream);
    for (size_t i = 0; i < p->count; i++)
        if (p->shards[i].done || p->shards[i].sequence[0] != 0)
            json_form(&w, "{'Id':%s,'Sequence':%s,'Done':%hhd}", p->shards[i].id,
                      p->shards[i].sequence, p->shards[i].done);
    json_form(&w, "]}");
    buf_byte(&text, '\n');
    (void)snprintf(path, sizeof(path), "%s.new", p->state);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && !text.failed && file_write(fd, buf_view(&text)) && fdatasync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    ok = ok && rename(path, p->state) == 0;
    buf_release(&text);
    return ok || cli_fail(p->input, "%s: %s.", p->state, strerror(errno));
}

static struct shard *shard_of(struct publishing *p, struct slice id)
{
    for (size_t i = 0; i < p->count; i++)
        if (slice_is(id, p->shards[i].id))
            return &p->shards[i];
    if (p->count == SHARDS_MAX || id.len == 0 || id.len >= sizeof(p->shards[0].id))
        return NULL;
    struct shard *added = &p->shards[p->count++];
    (void)snprintf(added->id, sizeof(added->id), "%.*s", SLICE_FMT(id));
    return added;
}

// What an earlier run has noted, if it was of the same stream.
static bool state_read(struct publishing *p)
{
    struct buf text;
    if (p->state == NULL || access(p->state, F_OK) != 0)
        return true;
    buf_init(&text, 16 << 20);
    if (!cli_read(p->input, p->state, &text))
        return false;
    struct slice state = arena_copy(&p->page, buf_view(&text));
    buf_release(&text);
    if (!slice_is(json_member_text(state, "Stream", &p->page), p->stream)) {
        cli_note(p->input, "%s is of another stream: beginning anew.", p->state);
        return true;
    }
    struct json_list list = json_list(state, "Shards", &p->page);
    struct slice one;
    while (json_list_next(&list, &one)) {
        struct shard *shard = shard_of(p, json_member_text(one, "Id", &p->page));
        if (shard == NULL)
            break;
        shard->done = json_member_flag(one, "Done");
        (void)snprintf(shard->sequence, sizeof(shard->sequence), "%.*s",
                       SLICE_FMT(json_member_text(one, "Sequence", &p->page)));
    }
    arena_reset(&p->page);
    return true;
}

// ---- Shards ------------------------------------------------------------------------------------

// All pages of DescribeStream.
static bool find_shards(struct publishing *p)
{
    char last[128] = "";
    do {
        int status =
            last[0] == 0
                ? target_ask(&p->target, "DescribeStream", "{'StreamArn':%s}", p->stream)
                : target_ask(&p->target, "DescribeStream",
                             "{'StreamArn':%s,'ExclusiveStartShardId':%s}", p->stream, last);
        if (!target_fine(&p->target, status))
            return false;
        struct slice stream =
            json_member(buf_view(&p->target.response), "StreamDescription", &p->page);
        struct json_list list = json_list(stream, "Shards", &p->page);
        struct slice one;
        while (json_list_next(&list, &one)) {
            struct shard *shard = shard_of(p, json_member_text(one, "ShardId", &p->page));
            if (shard == NULL)
                return cli_fail(p->input, "The stream has too many shards.");
            (void)snprintf(shard->parent, sizeof(shard->parent), "%.*s",
                           SLICE_FMT(json_member_text(one, "ParentShardId", &p->page)));
        }
        (void)snprintf(last, sizeof(last), "%.*s",
                       SLICE_FMT(json_member_text(stream, "LastEvaluatedShardId", &p->page)));
        arena_reset(&p->page);
    } while (last[0] != 0);
    return true;
}

static bool parent_done(const struct publishing *p, const struct shard *shard)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->shards[i].id, shard->parent) == 0)
            return p->shards[i].done;
    return true;
}

static bool find_iterator(struct publishing *p, struct shard *shard, bool newest)
{
    int status =
        shard->sequence[0] != 0
            ? target_ask(&p->target, "GetShardIterator",
                         "{'StreamArn':%s,'ShardId':%s,'ShardIteratorType':'AFTER_SEQUENCE_NUMBER',"
                         "'SequenceNumber':%s}",
                         p->stream, shard->id, shard->sequence)
            : target_ask(&p->target, "GetShardIterator",
                         "{'StreamArn':%s,'ShardId':%s,'ShardIteratorType':%s}", p->stream,
                         shard->id, newest ? "LATEST" : "TRIM_HORIZON");
    if (!target_fine(&p->target, status))
        return false;
    struct slice iterator =
        json_member_text(buf_view(&p->target.response), "ShardIterator", &p->page);
    free(shard->iterator);
    shard->iterator = slice_dup(iterator);
    return true;
}

// One page. *any tells whether there was something in it.
static bool read_page(struct publishing *p, struct shard *shard, bool *any)
{
    arena_reset(&p->page);
    if (!target_fine(&p->target, target_ask(&p->target, "GetRecords",
                                            "{'ShardIterator':%s,'Limit':1000}", shard->iterator)))
        return false;
    struct slice answer = arena_copy(&p->page, buf_view(&p->target.response));
    struct json_list list = json_list(answer, "Records", &p->page);
    struct slice record;
    struct slice last = slice_of(NULL, 0);
    while (json_list_next(&list, &record)) {
        last =
            json_member_text(json_member(record, "dynamodb", &p->page), "SequenceNumber", &p->page);
        if (!add_record(p, record))
            return false;
    }
    struct slice next = json_member_text(answer, "NextShardIterator", &p->page);
    free(shard->iterator);
    shard->iterator = next.len == 0 ? NULL : slice_dup(next);
    if (!deliver(p))
        return false;
    shard->done = next.len == 0;
    if (last.len > 0)
        (void)snprintf(shard->sequence, sizeof(shard->sequence), "%.*s", SLICE_FMT(last));
    *any = *any || last.len > 0 || shard->done;
    return (last.len == 0 && !shard->done) || state_write(p);
}

static bool follow(struct publishing *p)
{
    bool once = cli_given(p->input, "--once");
    bool newest = strcmp(cli_value(p->input, "--from", "start"), "now") == 0;
    bool any = true;
    while (any || !once) {
        any = false;
        if (!find_shards(p))
            return false;
        for (size_t i = 0; i < p->count; i++) {
            struct shard *shard = &p->shards[i];
            if (shard->done || !parent_done(p, shard))
                continue;
            if (shard->iterator == NULL && !find_iterator(p, shard, newest))
                return false;
            if (!read_page(p, shard, &any))
                return false;
        }
        newest = false; // what comes later is new in any case
        if (!any && !once)
            sleep_ms(IDLE_MS);
    }
    return true;
}

// ---- Beginning ---------------------------------------------------------------------------------

static bool find_table(struct publishing *p)
{
    const char *first = p->input->arguments[0];
    size_t len = strlen(first);
    p->table = first;
    if (p->input->argument_count > 1)
        p->entity = slice_str(p->input->arguments[1]);
    if (len > 7 && strcmp(first + len - 7, ".dolmen") == 0) {
        p->model = cli_model_file(p->input, first);
        if (p->model == NULL)
            return false;
        if (p->model->table_count != 1)
            return cli_misused(p->input, "%s has several tables; it must have one.", first);
        p->described = &p->model->tables[0];
        p->table = slice_dup(p->described->name);
    } else if (p->entity.len > 0) {
        return cli_misused(p->input,
                           "To know an entity, name the model's file instead of the table.");
    }
    return true;
}

static bool find_stream(struct publishing *p)
{
    if (!target_fine(&p->target,
                     target_ask(&p->target, "DescribeTable", "{'TableName':%s}", p->table)))
        return false;
    struct slice table = json_member(buf_view(&p->target.response), "Table", &p->page);
    struct slice arn = json_member_text(table, "LatestStreamArn", &p->page);
    if (arn.len == 0)
        return cli_fail(p->input, "Table %s has no stream: switch one on, with new and old images.",
                        p->table);
    p->stream = slice_dup(arn);
    return true;
}

// --set name=value; secret=env:DOLMEN_X and secret=file:name.
static bool open_outlet(struct publishing *p, const char *url)
{
    struct outlet_option options[OPTIONS_MAX];
    struct outlet_spec spec = {.url = slice_str(url), .options = options};
    struct outlet_opener opener = publisher_opener(&p->publisher);
    struct outlet_owner owner = {.context = p, .ended = ended, .bell = p->bell};
    char error[300];
    const char *text;
    for (size_t i = 0; (text = cli_repeated(p->input, "--set", i)) != NULL; i++) {
        struct slice value = slice_str(text);
        struct slice name = slice_cut(&value, '=');
        struct slice source = slice_of(NULL, 0);
        if (i == OPTIONS_MAX || name.len == 0 || value.len == 0)
            return cli_misused(p->input, "--set %s: it must be name=value.", text);
        if (slice_begins(value, SLICE_LIT("env:")) || slice_begins(value, SLICE_LIT("file:")))
            source = slice_cut(&value, ':');
        options[spec.option_count++] = (struct outlet_option){name, source, value};
    }
    p->outlet = opener.open(opener.context, &spec, &owner, error, sizeof(error));
    return p->outlet != NULL || cli_fail(p->input, "%s: %s.", url, error);
}

static bool publish(struct publishing *p, const char *url)
{
    return find_table(p) && target_open(&p->target, p->input) && find_stream(p) && state_read(p) &&
           open_outlet(p, url) && follow(p);
}

bool cli_publish(struct cli_input *input)
{
    const char *url = cli_value(input, "--to", NULL);
    struct publishing p = {
        .input = input,
        .state = cli_value(input, "--state", NULL),
        .publisher = {.files = cli_value(input, "--files", "."),
                      .secrets = cli_value(input, "--secrets", NULL),
                      .link_local = true}, // whoever runs the command reaches what he likes
        .order = slice_str(cli_value(input, "--order", ""))};
    if (input->argument_count == 0 || url == NULL)
        return cli_misused(input, "Say which table, and --to where.");
    if (!cli_number(input, "--attempts", ATTEMPTS, 1, 1000000, &p.attempts))
        return false;
    p.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ensure_started(p.bell >= 0);
    p.shards = memory_zeroed(SHARDS_MAX * sizeof(*p.shards));
    arena_init(&p.page, PAGE_MEMORY);
    error_init(&p.error, &p.page);
    window_init(&p.window);
    bool ok = publish(&p, url);
    if (p.outlet != NULL)
        p.outlet->ops->close(p.outlet);
    if (p.stream != NULL)
        target_close(&p.target);
    if (ok)
        cli_note(input, "%llu event%s delivered.", (unsigned long long)p.delivered,
                 p.delivered == 1 ? "" : "s");
    window_clear(&p.window);
    for (size_t i = 0; i < p.count; i++)
        free(p.shards[i].iterator);
    if (p.described != NULL)
        free((char *)(uintptr_t)p.table);
    model_release(p.model);
    arena_release(&p.page);
    free(p.shards);
    free(p.stream);
    (void)close(p.bell);
    return ok;
}
