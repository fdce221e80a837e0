// The items of a table, by parallel segments of a Scan, each with a thread of its own. A page is
// written before its end is noted.
#include "copy/copy.h"

#include "base/wait.h"

#include <stdlib.h>

enum { PAGE_MEMORY = 256 << 20 };

struct carrier {
    struct copy *copy;
    struct copy_table *table;
    struct cli_input input; // each thread tells the user by its own
    struct target source;
    struct target target;
    struct arena page;
    pthread_t thread;
    bool ok;
};

struct gang {
    _Atomic unsigned next; // segment
    _Atomic bool failed;
    _Atomic unsigned ended;
};

struct member {
    struct carrier carrier;
    struct gang *gang;
};

static bool ask_page(struct carrier *c, unsigned number)
{
    struct buf body;
    struct copy_segment *segment = &c->table->segments[number];
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%s,'ConsistentRead':true", c->table->name);
    if (c->table->segment_count > 1)
        json_form(&w, "'Segment':%zu,'TotalSegments':%zu", (size_t)number,
                  (size_t)c->table->segment_count);
    if (segment->key.len > 0) {
        json_form(&w, "'ExclusiveStartKey':");
        buf_slice(&body, buf_view(&segment->key));
    }
    json_close_object(&w);
    bool ok = target_fine(&c->source, target_call(&c->source, "Scan", buf_view(&body)));
    buf_release(&body);
    return ok;
}

static bool write_page(struct carrier *c, struct slice answer, uint64_t *count)
{
    struct writes writes;
    struct slice item;
    bool ok = true;
    writes_init(&writes, c->copy, &c->target, c->table->name);
    struct json_list items = json_list(answer, "Items", &c->page);
    // A page that is left in the middle is read again by the next run.
    while (ok && json_list_next(&items, &item)) {
        ok = !atomic_load(&c->copy->stop) && writes_put(&writes, slice_of(NULL, 0), item);
        (*count)++;
    }
    ok = ok && writes_flush(&writes);
    writes_release(&writes);
    return ok;
}

static bool note_page(struct carrier *c, struct copy_segment *segment, struct slice last,
                      uint64_t count)
{
    (void)pthread_mutex_lock(&c->copy->lock);
    segment->items += count;
    c->table->items += count;
    buf_clear(&segment->key);
    buf_slice(&segment->key, last);
    segment->done = last.len == 0;
    bool ok = state_save(c->copy, c->table);
    (void)pthread_mutex_unlock(&c->copy->lock);
    return ok;
}

static bool copy_page(struct carrier *c, unsigned number)
{
    uint64_t count = 0;
    arena_reset(&c->page);
    if (!ask_page(c, number))
        return false;
    struct slice answer = buf_view(&c->source.response);
    struct slice last = json_member(answer, "LastEvaluatedKey", &c->page);
    return write_page(c, answer, &count) && note_page(c, &c->table->segments[number], last, count);
}

static void *carry(void *context)
{
    struct member *member = context;
    struct carrier *c = &member->carrier;
    unsigned number;
    c->ok = true;
    while (c->ok && (number = atomic_fetch_add(&member->gang->next, 1)) < c->table->segment_count) {
        while (c->ok && !c->table->segments[number].done) {
            if (atomic_load(&c->copy->stop) || atomic_load(&member->gang->failed))
                c->ok = false;
            else
                c->ok = copy_page(c, number);
        }
    }
    if (!c->ok)
        atomic_store(&member->gang->failed, true);
    atomic_fetch_add(&member->gang->ended, 1);
    return NULL;
}

static void member_begin(struct member *member, struct gang *gang, struct copy *copy,
                         struct copy_table *table)
{
    struct carrier *c = &member->carrier;
    *member = (struct member){.carrier = {.copy = copy, .table = table}, .gang = gang};
    c->input = *copy->input;
    place_share(&copy->source, &c->input, &c->source);
    place_share(&copy->target, &c->input, &c->target);
    arena_init(&c->page, PAGE_MEMORY);
    ensure(pthread_create(&c->thread, NULL, carry, member) == 0);
}

static void member_end(struct member *member)
{
    struct carrier *c = &member->carrier;
    (void)pthread_join(c->thread, NULL);
    place_unshare(&c->source);
    place_unshare(&c->target);
    arena_release(&c->page);
}

static void show(struct copy *copy, struct copy_table *table, struct progress *bar)
{
    (void)pthread_mutex_lock(&copy->lock);
    uint64_t items = table->items;
    (void)pthread_mutex_unlock(&copy->lock);
    progress_show(bar, items, items);
}

bool items_copy(struct copy *copy, struct copy_table *table)
{
    if (table->copied)
        return true;
    unsigned count = table->segment_count;
    struct gang gang = {.next = 0};
    struct progress bar;
    struct member *members = memory_zeroed(count * sizeof(*members));
    progress_begin(&bar, table->name, table->source.items, table->items, false, copy->quiet);
    for (unsigned i = 0; i < count; i++)
        member_begin(&members[i], &gang, copy, table);
    while (atomic_load(&gang.ended) < count) {
        sleep_ms(50);
        show(copy, table, &bar);
    }
    for (unsigned i = 0; i < count; i++)
        member_end(&members[i]);
    progress_end(&bar);
    free(members);
    if (atomic_load(&gang.failed))
        return false;
    (void)pthread_mutex_lock(&copy->lock);
    table->copied = true;
    bool ok = state_save(copy, table);
    (void)pthread_mutex_unlock(&copy->lock);
    return ok;
}
