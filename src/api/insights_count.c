// The counters behind Contributor Insights: a place for each table or index that is watched, found
// by its tree, with four sketches: partition keys and whole keys, of accesses and of refusals.
//
// A key in a sketch is the concatenation of its encoded values, in the order of the key schema. One
// lock guards everything; it is taken only if something is watched at all. The places of deleted
// tables are dropped when the next one is added.
#include "api/insights.h"

#include "api/insights_sketch.h"
#include "api/table_ops.h"

#include <pthread.h>
#include <stdlib.h>

enum { SKETCH_KEYS = 512, REPORT_KEYS = 10, KEY_BYTES = 8192 };

enum sketch_kind { PARTITIONS, KEYS, PARTITIONS_THROTTLED, KEYS_THROTTLED, SKETCHES };

struct watched {
    struct watched *next;
    tree_id tree;
    struct slice table; // owned
    struct slice index; // owned; empty for the table itself
    bool throttled_only;
    struct key_schema keys;
    struct table *schema; // a reference: the names of the keys are its own
    struct sketch *sketches[SKETCHES];
};

struct insights {
    struct insights_head head; // first
    pthread_mutex_t lock;
    struct engine *engine;
    struct watched *first;
};

// ---- Places ----------------------------------------------------------------------------------

static struct slice copy_text(struct slice text)
{
    uint8_t *copy = malloc(text.len + 1);
    ensure_memory(copy);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    return slice_of(copy, text.len);
}

static void watched_free(struct watched *watched)
{
    for (size_t i = 0; i < SKETCHES; i++)
        sketch_free(watched->sketches[i]);
    free((void *)(uintptr_t)watched->table.ptr);
    free((void *)(uintptr_t)watched->index.ptr);
    table_release(watched->schema);
    free(watched);
}

static struct watched **place_of(struct insights *insights, tree_id tree)
{
    struct watched **at = &insights->first;
    while (*at != NULL && (*at)->tree != tree)
        at = &(*at)->next;
    return at;
}

static void place_drop(struct insights *insights, struct watched **at)
{
    struct watched *watched = *at;
    *at = watched->next;
    watched_free(watched);
    insights->head.watched--;
}

// Whether the tree is still that of a table, or of an index of it.
static bool place_lives(struct engine *engine, const struct watched *watched)
{
    struct table *table = engine_table(engine, watched->table);
    if (table == NULL)
        return false;
    bool lives = table->tree == watched->tree;
    for (size_t i = 0; i < table->index_count; i++)
        lives = lives || table->indexes[i].tree == watched->tree;
    table_release(table);
    return lives;
}

static void drop_dead(struct insights *insights)
{
    struct watched **at = &insights->first;
    while (*at != NULL) {
        if (place_lives(insights->engine, *at))
            at = &(*at)->next;
        else
            place_drop(insights, at);
    }
}

// Begins, goes on or ends to watch one tree, as the entry of the settings says.
static void follow_one(struct insights *insights, const struct table *table,
                       const struct index *index, struct slice entry)
{
    tree_id tree = index == NULL ? table->tree : index->tree;
    struct watched **at = place_of(insights, tree);
    if (!map_flag(entry, "enabled")) {
        if (*at != NULL)
            place_drop(insights, at);
        return;
    }
    if (*at == NULL) {
        drop_dead(insights);
        struct watched *watched = calloc(1, sizeof(*watched));
        ensure_memory(watched);
        watched->tree = tree;
        watched->table = copy_text(table->name);
        watched->index = copy_text(index == NULL ? slice_of(NULL, 0) : index->name);
        watched->schema = table_hold((struct table *)(uintptr_t)table);
        watched->keys = index == NULL ? table->keys : index->keys;
        for (size_t i = 0; i < SKETCHES; i++)
            watched->sketches[i] = sketch_new(SKETCH_KEYS);
        watched->next = insights->first;
        insights->first = watched;
        insights->head.watched++;
        at = &insights->first;
    }
    (*at)->throttled_only = slice_is(map_text(entry, "mode"), "THROTTLED_KEYS");
}

void insights_follow(struct api *api, const struct table *table)
{
    struct insights *insights = api->insights;
    struct table_settings settings;
    table_settings_read(table, &settings);
    if (settings.insights.len == 0)
        return;
    ensure(pthread_mutex_lock(&insights->lock) == 0);
    follow_one(insights, table, NULL, map_value(settings.insights, SLICE_LIT(".")));
    for (size_t i = 0; i < table->index_count; i++)
        follow_one(insights, table, &table->indexes[i],
                   map_value(settings.insights, table->indexes[i].name));
    ensure(pthread_mutex_unlock(&insights->lock) == 0);
}

// ---- Life ------------------------------------------------------------------------------------

struct insights *insights_new(struct api *api)
{
    struct insights *insights = calloc(1, sizeof(*insights));
    ensure_memory(insights);
    ensure(pthread_mutex_init(&insights->lock, NULL) == 0);
    insights->engine = api->engine;
    api->insights = insights;
    struct table_names names;
    struct slice name;
    table_names_init(&names, api->engine, slice_of(NULL, 0));
    while (table_names_next(&names, &name)) {
        struct table *table = engine_table(api->engine, name);
        if (table == NULL)
            continue;
        insights_follow(api, table);
        table_release(table);
    }
    table_names_release(&names);
    return insights;
}

void insights_free(struct insights *insights)
{
    while (insights->first != NULL)
        place_drop(insights, &insights->first);
    ensure(pthread_mutex_destroy(&insights->lock) == 0);
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

static void count(struct watched *watched, struct slice item, bool throttled)
{
    const struct key_schema *keys = &watched->keys;
    struct buf key;
    buf_init(&key, KEY_BYTES);
    if (key_of(keys, keys->hash_count, item, &key))
        sketch_count(watched->sketches[throttled ? PARTITIONS_THROTTLED : PARTITIONS],
                     buf_view(&key));
    buf_clear(&key);
    if (keys->range_count > 0 && key_of(keys, keys->hash_count + keys->range_count, item, &key))
        sketch_count(watched->sketches[throttled ? KEYS_THROTTLED : KEYS], buf_view(&key));
    buf_release(&key);
}

void insights_note(struct api_call *call, const struct table *table, const struct index *index,
                   struct slice item, bool throttled)
{
    struct insights *insights = call->api->insights;
    tree_id tree = index != NULL && index->global ? index->tree : table->tree;
    ensure(pthread_mutex_lock(&insights->lock) == 0);
    struct watched *watched = *place_of(insights, tree);
    if (watched != NULL && (throttled || !watched->throttled_only))
        count(watched, item, throttled);
    ensure(pthread_mutex_unlock(&insights->lock) == 0);
}

static bool index_watched(struct insights *insights, const struct table *table)
{
    bool found = false;
    ensure(pthread_mutex_lock(&insights->lock) == 0);
    for (size_t i = 0; !found && i < table->index_count; i++)
        found = *place_of(insights, table->indexes[i].tree) != NULL;
    ensure(pthread_mutex_unlock(&insights->lock) == 0);
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
        action->want_new = action->want_new || action->kind == WRITE_UPDATE;
        action->want_old = action->want_old || action->kind == WRITE_DELETE;
    }
}

// An index that the write changed is counted by the newer image of the item.
void insights_note_job(struct api_call *call)
{
    const struct write_job *job = call->state->write;
    for (size_t i = 0; i < job->count && call->error.code == ERR_NONE; i++) {
        const struct write_action *action = &job->actions[i];
        insights_note(call, action->table, NULL, action->item, false);
        if (action->cost_table == NULL)
            continue;
        struct slice image = action->kind == WRITE_PUT  ? action->item
                             : action->new_item.len > 0 ? action->new_item
                                                        : action->old_item;
        for (size_t k = 0; image.len > 0 && k < action->cost_table->index_count; k++) {
            const struct index *index = &action->cost_table->indexes[k];
            if (index->global && action->cost.indexes[k] > 0)
                insights_note(call, action->cost_table, index, image, false);
        }
    }
}

// ---- Reporting -------------------------------------------------------------------------------

static void write_rows(struct json_writer *w, const char *name, const struct watched *watched,
                       enum sketch_kind kind, size_t parts)
{
    struct sketch_row rows[REPORT_KEYS];
    size_t found = sketch_top(watched->sketches[kind], rows, REPORT_KEYS);
    json_put_array(w, name);
    for (size_t i = 0; i < found; i++) {
        const uint8_t *at = rows[i].key.ptr;
        json_open_object(w);
        json_put_object(w, "key");
        for (size_t part = 0; part < parts; part++) {
            size_t len = value_length(at);
            json_name_slice(w, watched->keys.parts[part].name);
            json_value(w, slice_of(at, len));
            at += len;
        }
        json_close_object(w);
        json_put_integer(w, "count", (int64_t)rows[i].count);
        json_put_integer(w, "error", (int64_t)rows[i].error);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_watched(struct json_writer *w, const struct watched *watched)
{
    size_t hash = watched->keys.hash_count;
    size_t all = hash + watched->keys.range_count;
    json_open_object(w);
    json_put_string(w, "table", watched->table);
    if (watched->index.len > 0)
        json_put_string(w, "index", watched->index);
    json_put_text(w, "mode",
                  watched->throttled_only ? "THROTTLED_KEYS" : "ACCESSED_AND_THROTTLED_KEYS");
    json_put_integer(w, "accesses", (int64_t)sketch_total(watched->sketches[PARTITIONS]));
    write_rows(w, "partition_keys", watched, PARTITIONS, hash);
    if (all > hash)
        write_rows(w, "keys", watched, KEYS, all);
    json_put_integer(w, "throttled",
                     (int64_t)sketch_total(watched->sketches[PARTITIONS_THROTTLED]));
    write_rows(w, "throttled_partition_keys", watched, PARTITIONS_THROTTLED, hash);
    if (all > hash)
        write_rows(w, "throttled_keys", watched, KEYS_THROTTLED, all);
    json_close_object(w);
}

void api_insights(struct api *api, struct slice table, struct buf *out)
{
    struct insights *insights = api->insights;
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_array(&w, "insights");
    ensure(pthread_mutex_lock(&insights->lock) == 0);
    drop_dead(insights);
    for (const struct watched *at = insights->first; at != NULL; at = at->next) {
        if (table.len == 0 || slice_equal(table, at->table))
            write_watched(&w, at);
    }
    ensure(pthread_mutex_unlock(&insights->lock) == 0);
    json_close_array(&w);
    json_close_object(&w);
}
