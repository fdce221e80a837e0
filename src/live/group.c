// Who has asked what. A group is found by the first bytes of the keys it is about, the tree and the
// hash of the partition: an entry of the log is looked up in the buckets of its table, once for
// each index that somebody listens to and each of its two images, however many groups there are.
#include "base/hash.h"
#include "live/live_internal.h"

#include <stdlib.h>

enum { PLACE_SEED = 0x11fe };

// ---- Joining and leaving -----------------------------------------------------------------------

static uint64_t prefix_hash(struct slice place)
{
    return hash_of(PLACE_SEED,
                   slice_of(place.ptr, place.len < LAYOUT_PREFIX ? place.len : LAYOUT_PREFIX));
}

// How many groups listen to the tree of a question, to be counted up or down. Trees that are not
// used any more give their place to others.
static size_t *tree_groups(struct live_table *table, const struct live_question *question)
{
    tree_id tree = question->index == NULL ? question->table->tree : question->index->tree;
    size_t free_place = COUNT_OF(table->used);
    for (size_t i = 0; i < COUNT_OF(table->used); i++) {
        if (table->used[i].groups > 0 && table->used[i].tree == tree)
            return &table->used[i].groups;
        if (table->used[i].groups == 0)
            free_place = i;
    }
    if (free_place == COUNT_OF(table->used))
        return NULL;
    table->used[free_place].tree = tree;
    return &table->used[free_place].groups;
}

static bool tree_is_used(const struct live_table *table, tree_id tree)
{
    for (size_t i = 0; i < COUNT_OF(table->used); i++) {
        if (table->used[i].groups > 0 && table->used[i].tree == tree)
            return true;
    }
    return false;
}

static struct live_group *group_find(struct live_table *table, const struct live_question *question,
                                     uint64_t hash)
{
    struct live_group *group = table->buckets[hash % TABLE_BUCKETS];
    while (group != NULL &&
           !(group->hash == hash && slice_equal(group->question->scope, question->scope) &&
             group->question->top.limit == question->top.limit))
        group = group->next;
    return group;
}

static struct live_group *group_new(struct live_table *table, struct live_listener *listener,
                                    uint64_t hash)
{
    size_t *used = tree_groups(table, listener->spare);
    if (used == NULL)
        return NULL; // indexes come and go while groups of old ones end
    struct live_group *group = memory_zeroed(sizeof(*group));
    struct live_group **bucket = &table->buckets[hash % TABLE_BUCKETS];
    group->question = listener->spare;
    listener->spare = NULL;
    group->hash = hash;
    group->since = table->applied;
    buf_init(&group->text, ROUND_BYTES + EVENT_MAX);
    group->next = *bucket;
    *bucket = group;
    table->group_count++;
    table->live->group_count++;
    ++*used;
    return group;
}

struct live_group *group_join(struct live_listener *listener)
{
    struct live_table *table = listener->table;
    uint64_t hash = prefix_hash(buf_view(&listener->question->lower));
    struct live_group *group = group_find(table, listener->question, hash);
    if (group == NULL && listener->spare == NULL)
        return NULL;
    if (group == NULL)
        group = group_new(table, listener, hash);
    if (group == NULL)
        return NULL;
    listener->group = group;
    listener->before = NULL;
    listener->next = group->listeners;
    if (listener->next != NULL)
        listener->next->before = listener;
    group->listeners = listener;
    group->listener_count++;
    listener->joined_at = group->since > table->position ? group->since : table->position;
    return group;
}

void group_leave(struct live_listener *listener)
{
    struct live_group *group = listener->group;
    if (group == NULL)
        return;
    if (listener->before != NULL)
        listener->before->next = listener->next;
    else
        group->listeners = listener->next;
    if (listener->next != NULL)
        listener->next->before = listener->before;
    group->listener_count--;
    listener->group = NULL;
    listener->next = listener->before = NULL;
}

static void group_free(struct live_table *table, struct live_group *group)
{
    --*tree_groups(table, group->question);
    table->group_count--;
    table->live->group_count--;
    live_question_free(group->question);
    buf_release(&group->text);
    free(group);
}

void groups_reap(struct live_table *table)
{
    for (size_t i = 0; table->group_count > 0 && i < TABLE_BUCKETS; i++) {
        for (struct live_group **at = &table->buckets[i]; *at != NULL;) {
            struct live_group *group = *at;
            if (group->listener_count > 0) {
                at = &group->next;
                continue;
            }
            *at = group->next;
            group_free(table, group);
        }
    }
}

// ---- Another version of the table --------------------------------------------------------------

static bool question_fits(const struct live_question *question, const struct table *now)
{
    const struct table *then = question->table;
    if (!slice_equal(then->uuid, now->uuid) || then->tree != now->tree ||
        !slice_equal(then->model, now->model))
        return false;
    if (question->index == NULL)
        return true;
    const struct index *index = table_index(now, question->index->name);
    return index != NULL && index->tree == question->index->tree && index->status == INDEX_ACTIVE;
}

void groups_judge(struct live_table *table, const struct table *now)
{
    for (size_t i = 0; table->group_count > 0 && i < TABLE_BUCKETS; i++) {
        for (struct live_group *group = table->buckets[i]; group != NULL; group = group->next) {
            if (now != NULL && question_fits(group->question, now))
                continue;
            for (struct live_listener *at = group->listeners; at != NULL; at = at->next) {
                at->ended = true;
                listener_wake(at);
            }
        }
    }
}

// ---- Changes ---------------------------------------------------------------------------------

static void group_touch(struct live_group *group, const struct log_entry *entry,
                        struct live_group **touched)
{
    // A limited result is its listeners' own: they read the change themselves.
    size_t before = group->text.len;
    unsigned events = 1;
    if (group->question->top.limit == 0) {
        events = question_change(group->question, entry, &group->text);
    } else {
        const struct model_entity *entity;
        events = question_has(group->question, entry->old_item, &entity) ||
                         question_has(group->question, entry->new_item, &entity)
                     ? 1
                     : 0;
    }
    if (events == 0)
        return;
    if (group->text.failed) // the listeners will find it in the log, and have more room
        group->text.len = before;
    if (group->events == 0)
        group->first = entry->sequence;
    group->events += events;
    group->last = entry->sequence;
    group->last_ms = entry->time_ms;
    if (group->touched)
        return;
    group->touched = true;
    group->touched_next = *touched;
    *touched = group;
}

// The groups whose range begins like the place of an image. One that both images are of is asked
// once, for the first.
static void place_apply(struct live_table *table, struct slice place, struct slice other,
                        const struct log_entry *entry, struct live_group **touched)
{
    uint64_t hash = prefix_hash(place);
    if (other.len > 0 && prefix_hash(other) == hash)
        return;
    for (struct live_group *group = table->buckets[hash % TABLE_BUCKETS]; group != NULL;
         group = group->next) {
        if (group->hash == hash && group->listener_count > 0 && entry->sequence > group->since)
            group_touch(group, entry, touched);
    }
}

// In an index, or (NULL) in the table.
static struct slice place_of(const struct table *table, const struct index *index,
                             struct slice item, struct buf *out)
{
    buf_clear(out);
    if (item.len == 0)
        return VALUE_NONE;
    if (index == NULL)
        layout_item_key(out, table->tree, &table->keys, item);
    else if (!layout_index_key(out, table, index, item))
        return VALUE_NONE;
    return buf_view(out);
}

void groups_apply(struct live_table *table, const struct log_entry *entry,
                  struct live_group **touched)
{
    struct buf old;
    struct buf new;
    buf_init(&old, 1 << 16);
    buf_init(&new, 1 << 16);
    const struct table *now = table->table;
    for (size_t i = 0; i <= now->index_count; i++) {
        const struct index *index = i == now->index_count ? NULL : &now->indexes[i];
        if (!tree_is_used(table, index == NULL ? now->tree : index->tree))
            continue;
        struct slice before = place_of(now, index, entry->old_item, &old);
        struct slice after = place_of(now, index, entry->new_item, &new);
        if (after.len > 0)
            place_apply(table, after, VALUE_NONE, entry, touched);
        if (before.len > 0)
            place_apply(table, before, after, entry, touched);
    }
    buf_release(&old);
    buf_release(&new);
    table->applied = entry->sequence;
}

// ---- Handing out -----------------------------------------------------------------------------

static struct live_block *block_new(struct live_group *group)
{
    struct live *live = group->question->live;
    size_t size = sizeof(struct live_block) + group->text.len;
    if (!budget_take(&live->account, BUDGET_ANSWERS, size))
        return NULL;
    struct live_block *block = malloc(size);
    if (block == NULL) {
        budget_give(&live->account, BUDGET_ANSWERS, size);
        return NULL;
    }
    *block = (struct live_block){.references = 1,
                                 .live = live,
                                 .first = group->first,
                                 .last = group->last,
                                 .time_ms = group->last_ms,
                                 .events = group->events,
                                 .len = group->text.len};
    memcpy(block->text, group->text.ptr, group->text.len);
    return block;
}

void block_release(struct live_block *block)
{
    if (atomic_fetch_sub(&block->references, 1) != 1)
        return;
    budget_give(&block->live->account, BUDGET_ANSWERS, sizeof(*block) + block->len);
    free(block);
}

// What the listener's result has seen already is not for it. The reader may be behind that, and a
// block in which both stand is read from the log instead.
static void listener_push(struct live_listener *listener, const struct live_group *group,
                          struct live_block *block)
{
    if (group->last <= listener->begun)
        return;
    bool room = block != NULL && group->first > listener->begun && !listener->overrun &&
                listener->count < LIVE_QUEUE_BLOCKS &&
                (listener->count == 0 || listener->bytes + block->len <= LIVE_QUEUE_BYTES);
    if (room) {
        atomic_fetch_add(&block->references, 1);
        listener->queue[(listener->first + listener->count++) % LIVE_QUEUE_BLOCKS] = block;
        listener->bytes += block->len;
    } else if (!listener->overrun) {
        listener->overrun = true;
        if (block != NULL)
            atomic_fetch_add(&block->live->overruns, 1);
    }
    listener_wake(listener);
}

void group_hand_out(struct live_group *group)
{
    struct live *live = group->question->live;
    bool shared = group->question->top.limit == 0 && !group->text.failed;
    struct live_block *block = shared && group->listener_count > 0 ? block_new(group) : NULL;
    atomic_fetch_add(&live->events, group->events);
    for (struct live_listener *at = group->listeners; at != NULL; at = at->next)
        listener_push(at, group, block);
    if (block != NULL)
        block_release(block);
    group->touched = false;
    group->events = 0;
    if (group->text.cap > ROUND_BYTES)
        buf_release(&group->text);
    else
        buf_clear(&group->text);
}
