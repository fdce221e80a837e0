// Changes of the source's tables, applied at the target until the switch: see copy.h.
#include "copy/copy.h"

#include "base/wait.h"

enum { IDLE_MS = 200, DRAIN_MS = 30000 };

struct applying {
    struct copy *copy;
    struct copy_table *table;
    struct writes writes;
};

// A change is the item as it is then, or that it is gone.
static bool apply_record(struct applying *a, struct slice record)
{
    struct shards *stream = &a->table->stream;
    struct slice key;
    struct slice change = json_member(record, "dynamodb", &stream->page);
    struct slice image = json_member(change, "NewImage", &stream->page);
    bool removed = slice_is(json_member_text(record, "eventName", &stream->page), "REMOVE");
    if (!shards_image(stream, record, "Keys", &key))
        return false;
    if (!removed && image.len == 0)
        return cli_fail(a->copy->input, "the stream of table '%s' has no new images.",
                        a->table->name);
    a->table->changes++;
    return removed ? writes_delete(&a->writes, key, json_member(change, "Keys", &stream->page))
                   : writes_put(&a->writes, key, image);
}

static bool take(void *context, struct json_list *records, struct slice note)
{
    struct applying *a = context;
    struct slice record;
    bool ok = true;
    while (ok && json_list_next(records, &record))
        ok = apply_record(a, record);
    if (!ok || !writes_flush(&a->writes))
        return false;
    (void)pthread_mutex_lock(&a->copy->lock);
    buf_clear(&a->table->note);
    buf_slice(&a->table->note, note);
    ok = state_save(a->copy, a->table);
    (void)pthread_mutex_unlock(&a->copy->lock);
    return ok;
}

bool follow_begin(struct copy *copy, struct copy_table *table)
{
    if (!shards_open(&table->stream, &copy->source.target, table->name))
        return false;
    table->streaming = true;
    if (table->note.len > 0)
        return shards_resume(&table->stream, buf_view(&table->note)) ||
               cli_fail(copy->input,
                        "table '%s' has another stream than when its copy was begun. Give "
                        "--restart to copy it anew.",
                        table->name);
    if (table->resumed && table->copied)
        return cli_fail(copy->input,
                        "table '%s' was copied without following its changes. Give --restart to "
                        "copy it anew.",
                        table->name);
    // What comes from here on is read from here on; what a shard had before is in the items.
    if (!shards_newest(&table->stream))
        return false;
    shards_note(&table->stream, &table->note);
    return state_save(copy, table);
}

// One page of each shard of each table.
static bool follow_round(struct copy *copy, bool *any)
{
    *any = false;
    for (size_t i = 0; i < copy->table_count; i++) {
        bool some = false;
        struct applying a = {copy, &copy->tables[i], {.copy = NULL}};
        writes_init(&a.writes, copy, &copy->target.target, a.table->name);
        bool ok = shards_read(&a.table->stream, take, &a, &some);
        writes_release(&a.writes);
        if (!ok)
            return false;
        *any = *any || some;
    }
    return true;
}

bool follow_all(struct copy *copy)
{
    bool caught_up = false;
    bool told = false;
    int64_t asked = 0; // to stop
    for (;;) {
        bool any;
        if (!follow_round(copy, &any))
            return false;
        caught_up = !any;
        if (caught_up && !told && !copy->quiet) {
            told = true;
            cli_note(copy->input,
                     copy->until_caught_up
                         ? "caught up with the source."
                         : "caught up with the source; following its changes. Stop writing "
                           "there, then end this with Ctrl-C (SIGINT) to finish the copy.");
        }
        if (atomic_load(&copy->stop) && asked == 0)
            asked = monotonic_ms();
        if (caught_up && (copy->until_caught_up || asked != 0))
            return true;
        if (asked != 0 && monotonic_ms() - asked > DRAIN_MS)
            return cli_fail(copy->input,
                            "the source is still being written to. Stop that, and run the same "
                            "command again: it goes on from here.");
        if (!any)
            sleep_ms(IDLE_MS);
    }
}
