// The Kinesis streaming destination as a consumer (consumer.h): its source, which writes changes in
// AWS's form, and its outlet, which appends them to a file for each stream or posts them to an
// endpoint that speaks Kinesis, one after the other.
//
// Nothing is ever given up: what the endpoint does not take is tried again, and what is behind it
// waits, so that the order of the whole table holds, as it always did.
#include "capture/kinesis.h"

#include "base/files.h"
#include "tables/arn.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BODY_FRAME = 16 << 10, LINES_MAX = 256 << 20, PATH_SIZE = 4096 };

struct kinesis {
    struct outlet_opener opener;
    struct budget *budget;
    char *root;     // NULL if there is an endpoint
    char *endpoint; // NULL if there is a root
};

// ---- The source ------------------------------------------------------------------------------

struct source {
    struct consumer_source base; // first
    struct kinesis_source kinesis;
    char *texts;
};

static bool source_event(struct consumer_source *source, const struct log_entry *entry,
                         struct consumer_draft *draft)
{
    const struct source *own = (const struct source *)source;
    kinesis_record_write(draft->body, &own->kinesis, entry);
    draft->type = SLICE_LIT("change");
    return true;
}

static void source_free(struct consumer_source *source)
{
    free(((struct source *)source)->texts);
    free(source);
}

static const struct consumer_source_ops source_ops = {.event = source_event, .free = source_free};

struct consumer_source *kinesis_source_new(const struct table *table, struct slice stream_arn,
                                           bool microseconds)
{
    struct source *own = memory_zeroed(sizeof(*own));
    struct arn arn;
    int len = asprintf(&own->texts, "%.*s%.*s%.*s", SLICE_FMT(stream_arn), SLICE_FMT(table->name),
                       SLICE_FMT(table->uuid));
    ensure_memory(len < 0 ? NULL : own->texts);
    ensure(arn_split(slice_of(own->texts, stream_arn.len), &arn));
    own->base.ops = &source_ops;
    own->kinesis = (struct kinesis_source){
        arn.region, slice_of(own->texts + stream_arn.len, table->name.len),
        slice_of(own->texts + stream_arn.len + table->name.len, table->uuid.len), microseconds};
    return &own->base;
}

// ---- The outlet ------------------------------------------------------------------------------

struct kinesis_outlet {
    struct outlet base;        // first
    struct kinesis_http *http; // or NULL
    const char *root;
    char *arn;
    struct slice stream; // its name, in the ARN
    struct slice region;
    bool linked;                   // its file is known to be in the directory on disk
    struct budget_account account; // of posts
    struct buf lines;
};

// Makes the directory, and sees to it that it is there after a power cut.
static bool make_root(const char *root)
{
    char above[PATH_SIZE];
    if (mkdir(root, 0777) != 0)
        return errno == EEXIST;
    int len = snprintf(above, sizeof(above), "%s/..", root);
    return len > 0 && (size_t)len < sizeof(above) && directory_sync(above);
}

// Appends the lines to <root>/<stream>.jsonl: all or none. A line that was not finished when the
// machine stopped goes: its record will come again. A new file is not safe before its
// directory is; it may have been made by a process that died before.
static bool append_lines(struct kinesis_outlet *own)
{
    char path[PATH_SIZE];
    int len = snprintf(path, sizeof(path), "%s/%.*s.jsonl", own->root, SLICE_FMT(own->stream));
    if (len < 0 || (size_t)len >= sizeof(path) || !make_root(own->root))
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    if (lseek(fd, 0, SEEK_END) <= 0) // new, or somebody took the old one away
        own->linked = false;
    bool ok = file_append_lines(fd, buf_view(&own->lines));
    (void)close(fd);
    if (ok && !own->linked)
        ok = own->linked = directory_sync(own->root);
    return ok;
}

static void file_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct kinesis_outlet *own = (struct kinesis_outlet *)outlet;
    buf_clear(&own->lines);
    for (size_t i = 0; i < count; i++) {
        buf_slice(&own->lines, events[i]->body);
        buf_byte(&own->lines, '\n');
    }
    bool ok = !own->lines.failed && append_lines(own);
    struct outlet_end end = {.outcome = ok ? OUTLET_DELIVERED : OUTLET_AWAY,
                             .reason = ok ? "" : "the file of the stream cannot be written"};
    for (size_t i = 0; i < count; i++)
        outlet->owner.ended(outlet->owner.context, events[i], &end);
    if (own->lines.cap > LIMIT_ITEM_BYTES)
        buf_release(&own->lines);
}

// Posts one record; its partition key is the same for all changes of an item.
static bool post_record(struct kinesis_outlet *own, const struct outlet_event *event)
{
    struct buf body;
    buf_init_counted(&body, base64_encoded_len(event->body.len) + BODY_FRAME, &own->account,
                     BUDGET_CALLS);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_string(&w, "StreamName", own->stream);
    json_put_text(&w, "StreamARN", own->arn);
    json_put_string(&w, "PartitionKey", event->group);
    json_name(&w, "Data");
    buf_byte(&body, '"');
    base64_encode(&body, event->body);
    buf_byte(&body, '"');
    json_close_object(&w);
    bool ok =
        !body.failed && kinesis_http_post(own->http, "PutRecord", own->region, buf_view(&body));
    buf_release(&body);
    return ok;
}

static void http_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct kinesis_outlet *own = (struct kinesis_outlet *)outlet;
    struct outlet_end end = {.outcome = OUTLET_DELIVERED, .reason = ""};
    for (size_t i = 0; i < count; i++) {
        if (end.outcome == OUTLET_DELIVERED && !post_record(own, events[i]))
            end = (struct outlet_end){.outcome = OUTLET_AWAY,
                                      .reason = "the endpoint does not take the record"};
        else if (end.outcome == OUTLET_AWAY)
            end.outcome = OUTLET_UNTRIED;
        outlet->owner.ended(outlet->owner.context, events[i], &end);
    }
}

static void http_stop(struct outlet *outlet)
{
    kinesis_http_stop(((struct kinesis_outlet *)outlet)->http);
}

static void outlet_close(struct outlet *outlet)
{
    struct kinesis_outlet *own = (struct kinesis_outlet *)outlet;
    kinesis_http_free(own->http);
    buf_release(&own->lines);
    free(own->arn);
    free(own);
}

static const struct outlet_ops file_ops = {
    .ordered = true, .send = file_send, .close = outlet_close};
static const struct outlet_ops http_ops = {
    .ordered = true, .send = http_send, .stop = http_stop, .close = outlet_close};

// The target is the ARN of the stream.
static struct outlet *outlet_open(void *context, const struct outlet_spec *spec,
                                  const struct outlet_owner *owner, char *error, size_t error_size)
{
    const struct kinesis *kinesis = context;
    struct arn arn;
    struct kinesis_outlet *own = memory_zeroed(sizeof(*own));
    own->arn = slice_dup(spec->url);
    ensure(arn_split(slice_str(own->arn), &arn) &&
           kinesis_stream_name(slice_str(own->arn), &own->stream));
    own->region = arn.region;
    own->root = kinesis->root;
    own->account.budget = kinesis->budget;
    buf_init(&own->lines, LINES_MAX);
    if (kinesis->endpoint != NULL)
        own->http = kinesis_http_new(kinesis->endpoint, error, error_size);
    own->base = (struct outlet){.ops = own->http != NULL ? &http_ops : &file_ops, .owner = *owner};
    if (kinesis->endpoint == NULL || own->http != NULL)
        return &own->base;
    outlet_close(&own->base);
    return NULL;
}

// ---- Beginning and end -----------------------------------------------------------------------

// <data>/kinesis, unless another root is given.
static char *root_of(const char *root, const char *data)
{
    char *text = NULL;
    ensure(asprintf(&text, "%s%s", root != NULL ? root : data, root != NULL ? "" : "/kinesis") >=
           0);
    return text;
}

bool kinesis_new(struct workshop *shop, const struct kinesis_place *place, struct kinesis **out,
                 char *error, size_t error_size)
{
    *out = NULL;
    if (place->root == NULL && place->data == NULL && place->endpoint == NULL)
        return true;
    if (place->endpoint != NULL) { // it is judged now, and opened by each consumer
        struct kinesis_http *http = kinesis_http_new(place->endpoint, error, error_size);
        if (http == NULL)
            return false;
        kinesis_http_free(http);
    }
    struct kinesis *kinesis = memory_zeroed(sizeof(*kinesis));
    kinesis->budget = shop->budget;
    kinesis->opener = (struct outlet_opener){kinesis, outlet_open};
    if (place->endpoint != NULL)
        kinesis->endpoint = strdup(place->endpoint);
    else
        kinesis->root = root_of(place->root, place->data);
    ensure_memory(kinesis->endpoint != NULL ? kinesis->endpoint : kinesis->root);
    *out = kinesis;
    return true;
}

const struct outlet_opener *kinesis_opener(const struct kinesis *kinesis)
{
    return &kinesis->opener;
}

void kinesis_free(struct kinesis *kinesis)
{
    if (kinesis == NULL)
        return;
    free(kinesis->endpoint);
    free(kinesis->root);
    free(kinesis);
}
