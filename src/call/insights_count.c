// The counters behind Contributor Insights: an entry for each table of which something is watched,
// with a place for the table and for each watched index, with four sketches: partition keys and
// whole keys, of accesses and of refusals.
//
// A key in a sketch is the concatenation of its encoded values, in the order of the key schema.
// Entries are found by the tree of their table, in buckets, of which a few share a lock. A bucket
// that is empty is left alone without the lock, so tables that nobody watches cost a look at it.
//
// Places and keys are counted in the budget (insights_sketch.h); what it refuses is not counted.
// The entries of deleted tables are dropped little by little, when others are added, and by a
// report.
#include "call/insights.h"

#include "call/insights_sketch.h"
#include "call/table_ops.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SKETCH_KEYS = 512,
    REPORT_KEYS = 10,
    KEY_BYTES = 8192,
    BUCKETS = 4096, // a power of two
    LOCKS = 64,     // a divisor of it
    SWEPT = 16,     // buckets that are looked through when something is added
    PLACES = LIMIT_GSI + LIMIT_LSI + 1,
};

enum sketch_kind { PARTITIONS, KEYS, PARTITIONS_THROTTLED, KEYS_THROTTLED, SKETCHES };

struct place {
    tree_id tree;
    const struct index *index;     // of the schema; NULL for the table itself
    const struct key_schema *keys; // of the schema
    bool throttled_only;
    struct sketch sketches[SKETCHES];
};

struct watched {
    struct watched *next; // in its bucket
    tree_id tree;         // of the table
    struct table *schema; // a reference, as of the last change
    size_t count;
    struct place *places[PLACES];
};

struct insights {
    struct insights_head head; // first
    struct engine *engine;
    struct sketch_memory memory;
    atomic_uint hand;             // where dead entries are looked for next
    pthread_mutex_t locks[LOCKS]; // of the buckets, in turn
    _Atomic(struct watched *) buckets[BUCKETS];
};

// ---- Buckets ---------------------------------------------------------------------------------

// Trees are numbered one after the other, with as many between two tables as they have indexes.
static size_t bucket_of(tree_id tree)
{
    return (uint32_t)(tree * 0x9e3779b1u) / (UINT32_MAX / BUCKETS + 1);
}

static bool bucket_empty(struct insights *insights, size_t bucket)
{
    return atomic_load_explicit(&insights->buckets[bucket], memory_order_acquire) == NULL;
}

static void bucket_lock(struct insights *insights, size_t bucket)
{
    ensure(pthread_mutex_lock(&insights->locks[bucket % LOCKS]) == 0);
}

static void bucket_unlock(struct insights *insights, size_t bucket)
{
    ensure(pthread_mutex_unlock(&insights->locks[bucket % LOCKS]) == 0);
}

static struct watched *bucket_first(struct insights *insights, size_t bucket)
{
    return atomic_load_explicit(&insights->buckets[bucket], memory_order_relaxed);
}

// With the bucket locked.
static struct watched *watched_find(struct insights *insights, tree_id tree)
{
    struct watched *at = bucket_first(insights, bucket_of(tree));
    while (at != NULL && at->tree != tree)
        at = at->next;
    return at;
}

static void watched_link(struct insights *insights, struct watched *watched)
{
    size_t bucket = bucket_of(watched->tree);
    watched->next = bucket_first(insights, bucket);
    atomic_store_explicit(&insights->buckets[bucket], watched, memory_order_release);
    insights->head.watched++;
}

static void watched_unlink(struct insights *insights, struct watched *watched)
{
    size_t bucket = bucket_of(watched->tree);
    struct watched *first = bucket_first(insights, bucket);
    if (first == watched) {
        atomic_store_explicit(&insights->buckets[bucket], watched->next, memory_order_release);
    } else {
        while (first->next != watched)
            first = first->next;
        first->next = watched->next;
    }
    insights->head.watched--;
}

// ---- Places ----------------------------------------------------------------------------------

static struct place *place_new(struct insights *insights, tree_id tree)
{
    if (!sketch_take(&insights->memory, sizeof(struct place)))
        return NULL;
    struct place *place = calloc(1, sizeof(*place));
    if (place == NULL) {
        sketch_give(&insights->memory, sizeof(*place));
        return NULL;
    }
    place->tree = tree;
    for (size_t i = 0; i < SKETCHES; i++)
        sketch_init(&place->sketches[i], SKETCH_KEYS, &insights->memory);
    return place;
}

static void place_free(struct insights *insights, struct place *place)
{
    if (place == NULL)
        return;
    for (size_t i = 0; i < SKETCHES; i++)
        sketch_release(&place->sketches[i]);
    free(place);
    sketch_give(&insights->memory, sizeof(*place));
}

static struct place *place_of(const struct watched *watched, tree_id tree)
{
    for (size_t i = 0; i < watched->count; i++) {
        if (watched->places[i]->tree == tree)
            return watched->places[i];
    }
    return NULL;
}

static struct watched *watched_new(struct insights *insights, tree_id tree)
{
    if (!sketch_take(&insights->memory, sizeof(struct watched)))
        return NULL;
    struct watched *watched = calloc(1, sizeof(*watched));
    if (watched == NULL)
        sketch_give(&insights->memory, sizeof(*watched));
    else
        watched->tree = tree;
    return watched;
}

static void watched_free(struct insights *insights, struct watched *watched)
{
    for (size_t i = 0; i < watched->count; i++)
        place_free(insights, watched->places[i]);
    table_release(watched->schema);
    free(watched);
    sketch_give(&insights->memory, sizeof(*watched));
}

// Moves the place of a tree from one entry to the other, or makes one, if the entry of the settings
// says that it is watched.
static void place_follow(struct insights *insights, struct watched *from, struct watched *to,
                         const struct table *table, const struct index *index, struct slice entry)
{
    tree_id tree = index == NULL ? table->tree : index->tree;
    if (!map_flag(entry, "enabled"))
        return;
    struct place *place = NULL;
    for (size_t i = 0; place == NULL && i < from->count; i++) {
        if (from->places[i]->tree == tree) {
            place = from->places[i];
            from->places[i] = from->places[--from->count];
        }
    }
    if (place == NULL)
        place = place_new(insights, tree);
    if (place == NULL)
        return;
    place->index = index;
    place->keys = index == NULL ? &table->keys : &index->keys;
    place->throttled_only = slice_is(map_text(entry, "mode"), "THROTTLED_KEYS");
    to->places[to->count++] = place;
}

// Watches what the settings say; the places of others are freed. The old schema stays until nothing
// refers to it.
static void watched_follow(struct insights *insights, struct watched *watched, struct table *table,
                           struct slice settings)
{
    struct watched old = *watched;
    watched->count = 0;
    watched->schema = table_hold(table);
    place_follow(insights, &old, watched, table, NULL, map_value(settings, SLICE_LIT(".")));
    for (size_t i = 0; i < table->index_count; i++)
        place_follow(insights, &old, watched, table, &table->indexes[i],
                     map_value(settings, table->indexes[i].name));
    for (size_t i = 0; i < old.count; i++)
        place_free(insights, old.places[i]);
    table_release(old.schema);
}

// With the bucket locked. A table that is gone, or has another tree, is watched no more.
static void follow(struct insights *insights, tree_id tree, struct table *table)
{
    struct table_settings settings = {0};
    struct watched *watched = watched_find(insights, tree);
    bool lives = table != NULL && table->tree == tree;
    if (lives)
        table_settings_read(table, &settings);
    if (watched == NULL && settings.insights.len > 0) {
        watched = watched_new(insights, tree);
        if (watched != NULL)
            watched_link(insights, watched);
    }
    if (watched == NULL)
        return;
    if (lives && settings.insights.len > 0)
        watched_follow(insights, watched, table, settings.insights);
    if (lives && settings.insights.len > 0 && watched->count > 0)
        return;
    watched_unlink(insights, watched);
    watched_free(insights, watched);
}

// Looks at the tables of a bucket as they are now.
static void bucket_sweep(struct insights *insights, size_t bucket)
{
    if (bucket_empty(insights, bucket))
        return;
    bucket_lock(insights, bucket);
    struct watched *at = bucket_first(insights, bucket);
    while (at != NULL) {
        struct watched *next = at->next;
        struct table *table = engine_table(insights->engine, at->schema->name);
        follow(insights, at->tree, table);
        table_release(table);
        at = next;
    }
    bucket_unlock(insights, bucket);
}

void insights_follow(struct api *api, const struct table *table)
{
    struct insights *insights = api->insights;
    size_t bucket = bucket_of(table->tree);
    bucket_lock(insights, bucket);
    // As it is now: another change may have been quicker.
    struct table *current = engine_table(insights->engine, table->name);
    follow(insights, table->tree, current);
    bucket_unlock(insights, bucket);
    table_release(current);
    unsigned hand = atomic_fetch_add(&insights->hand, SWEPT);
    for (unsigned i = 0; i < SWEPT; i++)
        bucket_sweep(insights, (hand + i) % BUCKETS);
}

// ---- Life ------------------------------------------------------------------------------------

struct insights *insights_new(struct api *api)
{
    struct insights *insights = memory_zeroed(sizeof(*insights));
    for (size_t i = 0; i < LOCKS; i++)
        ensure(pthread_mutex_init(&insights->locks[i], NULL) == 0);
    insights->engine = api->shop.engine;
    sketch_memory_init(&insights->memory, api->shop.budget);
    api->insights = insights;
    struct table_walk walk;
    struct table *table;
    table_walk_init(&walk, api->shop.engine, slice_of(NULL, 0));
    while ((table = table_walk_next(&walk)) != NULL)
        follow(insights, table->tree, table);
    table_walk_release(&walk);
    return insights;
}

void insights_free(struct insights *insights)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        while (!bucket_empty(insights, i)) {
            struct watched *watched = bucket_first(insights, i);
            watched_unlink(insights, watched);
            watched_free(insights, watched);
        }
    }
    for (size_t i = 0; i < LOCKS; i++)
        ensure(pthread_mutex_destroy(&insights->locks[i]) == 0);
    free(insights);
}

// ---- Counting --------------------------------------------------------------------------------

// The values of the first parts of a key; whether the item has them all.
static bool key_of(const struct key_schema *keys, size_t parts, struct slice item, struct buf *out)
{
    for (size_t i = 0; i < parts; i++) {
        struct slice value = value_get(item, keys->parts[i].name);
        if (value.len == 0)
            return false;
        buf_slice(out, value);
    }
    return !out->failed;
}

static void count(struct place *place, struct slice item, bool throttled)
{
    const struct key_schema *keys = place->keys;
    uint8_t room[KEY_BYTES];
    struct buf key = {.ptr = room, .cap = sizeof(room), .max = sizeof(room)};
    if (key_of(keys, keys->hash_count, item, &key))
        sketch_count(&place->sketches[throttled ? PARTITIONS_THROTTLED : PARTITIONS],
                     buf_view(&key));
    buf_clear(&key);
    if (keys->range_count > 0 && key_of(keys, keys->hash_count + keys->range_count, item, &key))
        sketch_count(&place->sketches[throttled ? KEYS_THROTTLED : KEYS], buf_view(&key));
}

static void note(const struct watched *watched, tree_id tree, struct slice item, bool throttled)
{
    struct place *place = place_of(watched, tree);
    if (place != NULL && (throttled || !place->throttled_only))
        count(place, item, throttled);
}

// The entry of a table, with its bucket locked; NULL, and it is not locked, if there is none.
static struct watched *watched_open(struct insights *insights, tree_id tree)
{
    size_t bucket = bucket_of(tree);
    if (bucket_empty(insights, bucket))
        return NULL;
    bucket_lock(insights, bucket);
    struct watched *watched = watched_find(insights, tree);
    if (watched == NULL)
        bucket_unlock(insights, bucket);
    return watched;
}

static void watched_close(struct insights *insights, const struct watched *watched)
{
    bucket_unlock(insights, bucket_of(watched->tree));
}

void insights_note(struct api_call *call, const struct table *table, const struct index *index,
                   struct slice item, bool throttled)
{
    struct insights *insights = call->api->insights;
    struct watched *watched = watched_open(insights, table->tree);
    if (watched == NULL)
        return;
    note(watched, index != NULL && index->global ? index->tree : table->tree, item, throttled);
    watched_close(insights, watched);
}

static bool index_watched(struct insights *insights, const struct table *table)
{
    bool found = false;
    struct watched *watched = watched_open(insights, table->tree);
    if (watched == NULL)
        return false;
    for (size_t i = 0; !found && i < watched->count; i++)
        found = watched->places[i]->index != NULL;
    watched_close(insights, watched);
    return found;
}

void insights_prepare_job(struct api_call *call)
{
    const struct write_job *job = call->state->write;
    for (size_t i = 0; i < job->count; i++) {
        struct write_action *action = &job->actions[i];
        if (action->kind == WRITE_PUT || action->kind == WRITE_CHECK ||
            !index_watched(call->api->insights, action->table))
            continue;
        if (action->kind == WRITE_UPDATE)
            action->flags |= WRITE_NEW;
        else if (action->kind == WRITE_DELETE)
            action->flags |= WRITE_OLD;
    }
}

// An index that the write changed is counted by the newer image of the item.
static void note_indexes(const struct watched *watched, const struct write_action *action)
{
    struct slice image = action->kind == WRITE_PUT      ? action->item
                         : action->out.new_item.len > 0 ? action->out.new_item
                                                        : action->out.old_item;
    for (size_t k = 0; image.len > 0 && k < action->out.cost_table->index_count; k++) {
        const struct index *index = &action->out.cost_table->indexes[k];
        if (index->global && action->out.cost.indexes[k] > 0)
            note(watched, index->tree, image, false);
    }
}

void insights_note_job(struct api_call *call)
{
    struct insights *insights = call->api->insights;
    const struct write_job *job = call->state->write;
    for (size_t i = 0; i < job->count && call->error.code == ERR_NONE; i++) {
        const struct write_action *action = &job->actions[i];
        struct watched *watched = watched_open(insights, action->table->tree);
        if (watched == NULL)
            continue;
        note(watched, watched->tree, action->item, false);
        if (action->out.cost_table != NULL)
            note_indexes(watched, action);
        watched_close(insights, watched);
    }
}

// ---- Reporting -------------------------------------------------------------------------------

static void write_rows(struct json_writer *w, const char *name, const struct place *place,
                       enum sketch_kind kind, size_t parts)
{
    struct sketch_row rows[REPORT_KEYS];
    size_t found = sketch_top(&place->sketches[kind], rows, REPORT_KEYS);
    json_put_array(w, name);
    for (size_t i = 0; i < found; i++) {
        const uint8_t *at = rows[i].key.ptr;
        json_open_object(w);
        json_put_object(w, "key");
        for (size_t part = 0; part < parts; part++) {
            size_t len = value_length(at);
            json_name_slice(w, place->keys->parts[part].name);
            json_value(w, slice_of(at, len));
            at += len;
        }
        json_form(w, "},'count':%lld,'error':%lld}", (long long)rows[i].count,
                  (long long)rows[i].error);
    }
    json_close_array(w);
}

static void write_place(struct json_writer *w, struct slice table, const struct place *place)
{
    size_t hash = place->keys->hash_count;
    size_t all = hash + place->keys->range_count;
    json_open_object(w);
    json_put_string(w, "table", table);
    if (place->index != NULL)
        json_put_string(w, "index", place->index->name);
    json_put_text(w, "mode",
                  place->throttled_only ? "THROTTLED_KEYS" : "ACCESSED_AND_THROTTLED_KEYS");
    json_put_integer(w, "accesses", (int64_t)sketch_total(&place->sketches[PARTITIONS]));
    write_rows(w, "partition_keys", place, PARTITIONS, hash);
    if (all > hash)
        write_rows(w, "keys", place, KEYS, all);
    json_put_integer(w, "throttled", (int64_t)sketch_total(&place->sketches[PARTITIONS_THROTTLED]));
    write_rows(w, "throttled_partition_keys", place, PARTITIONS_THROTTLED, hash);
    if (all > hash)
        write_rows(w, "throttled_keys", place, KEYS_THROTTLED, all);
    json_close_object(w);
}

// The locks are held for a bucket at a time.
void insights_write(struct insights *insights, struct slice table, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_array(&w, "insights");
    for (size_t i = 0; i < BUCKETS; i++) {
        if (bucket_empty(insights, i))
            continue;
        bucket_sweep(insights, i);
        bucket_lock(insights, i);
        for (const struct watched *at = bucket_first(insights, i); at != NULL; at = at->next) {
            if (table.len > 0 && !slice_equal(table, at->schema->name))
                continue;
            for (size_t k = 0; k < at->count; k++)
                write_place(&w, at->schema->name, at->places[k]);
        }
        bucket_unlock(insights, i);
    }
    json_close_array(&w);
    json_close_object(&w);
}
