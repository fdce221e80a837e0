// The first N of an ordered result: what they are, and where each stands.
//
// A change moves, adds or removes an entry. When one leaves, the one behind the last moves up: it
// is read from the table as it is now, which may be later than the change. The changes in between
// are then seen again, and end in the same result.
#include "live/live_internal.h"
#include "value/digest.h"

#include <stdlib.h>

// ---- Entries ---------------------------------------------------------------------------------

static int place_order(const struct top *top, struct slice a, struct slice b)
{
    int order = slice_compare(a, b);
    return top->reverse ? -order : order;
}

static struct slice place_at(const struct top *top, size_t at)
{
    return slice_of(top->entries[at].place, top->entries[at].len);
}

void top_clear(struct top *top)
{
    for (size_t i = 0; i < top->count; i++)
        free(top->entries[i].place);
    top->count = 0;
}

void top_release(struct top *top)
{
    top_clear(top);
    free(top->entries);
    top->entries = NULL;
    top->capacity = 0;
}

bool top_find(const struct top *top, const uint8_t id[16], size_t *at)
{
    for (size_t i = 0; i < top->count; i++) {
        if (memcmp(top->entries[i].id, id, 16) == 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

bool top_admits(const struct top *top, struct slice place)
{
    return top->count < top->limit || place_order(top, place, place_at(top, top->count - 1)) < 0;
}

static bool top_grow(struct top *top)
{
    size_t capacity = top->capacity == 0 ? 16 : top->capacity * 2;
    struct top_entry *grown = realloc(top->entries, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    top->entries = grown;
    top->capacity = capacity;
    return true;
}

bool top_insert(struct top *top, struct slice place, const uint8_t id[16])
{
    uint8_t *copy = malloc(place.len);
    if (copy == NULL || (top->count == top->capacity && !top_grow(top))) {
        free(copy);
        return false;
    }
    memcpy(copy, place.ptr, place.len);
    size_t at = 0;
    for (size_t high = top->count; at < high;) {
        size_t middle = at + (high - at) / 2;
        if (place_order(top, place, place_at(top, middle)) < 0)
            high = middle;
        else
            at = middle + 1;
    }
    memmove(top->entries + at + 1, top->entries + at, (top->count - at) * sizeof(*top->entries));
    top->entries[at] = (struct top_entry){.place = copy, .len = place.len};
    memcpy(top->entries[at].id, id, 16);
    top->count++;
    return true;
}

void top_remove(struct top *top, size_t at)
{
    free(top->entries[at].place);
    top->count--;
    memmove(top->entries + at, top->entries + at + 1, (top->count - at) * sizeof(*top->entries));
}

// ---- Moving up -------------------------------------------------------------------------------

// The next item behind a place, as the table is now.
struct climb {
    struct live_question *question;
    const struct log_entry *entry;
    struct buf *out;
    bool failed;
    bool found;
};

static bool climb_item(void *context, struct slice item)
{
    struct climb *climb = context;
    struct live_question *q = climb->question;
    const struct model_entity *entity;
    uint8_t id[16];
    size_t at;
    // A page of an index has what it projects, which has all keys; the filter was asked already.
    struct steps steps = {.limit = 0};
    if (!access_view_shows(&q->view, item, &steps, &entity))
        return true;
    question_id(q, item, id);
    if (top_find(&q->top, id, &at))
        return true; // it is there, at the place it had before a change that is still to be read
    buf_clear(&q->place);
    if (q->index == NULL)
        layout_item_key(&q->place, q->table->tree, &q->table->keys, item);
    else if (!layout_index_key(&q->place, q->table, q->index, item))
        return true;
    climb->found = true;
    climb->failed = !top_insert(&q->top, buf_view(&q->place), id);
    if (!climb->failed)
        question_write_put(q, climb->entry, id, entity, item, climb->out);
    return false;
}

// Page after page until one is found, or there are no more.
static bool top_climb(struct live_question *q, const struct log_entry *entry, struct buf *out,
                      struct error *error)
{
    struct arena arena;
    struct buf behind;
    buf_init(&behind, 1 << 16);
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    size_t count = q->top.count;
    if (count > 0)
        buf_slice(&behind, place_at(&q->top, count - 1));
    struct climb climb = {.question = q, .entry = entry, .out = out};
    bool more = true;
    bool ok = true;
    while (ok && more && !climb.found) {
        struct page_request page = {.table = q->table,
                                    .index = q->index,
                                    .query = true,
                                    .range = q->range,
                                    .reverse = q->top.reverse,
                                    .after = buf_view(&behind),
                                    .filter = q->filter,
                                    .reader = q->bound,
                                    .emit = climb_item,
                                    .context = &climb,
                                    .arena = &arena};
        ok = engine_page(q->live->shop->engine, &page, error) || climb.found;
        more = ok && page.last.len > 0;
        buf_clear(&behind);
        if (more && q->index == NULL)
            layout_item_key(&behind, q->table->tree, &q->table->keys, page.last);
        else if (more)
            more = layout_index_key(&behind, q->table, q->index, page.last);
        arena_reset(&arena);
    }
    arena_release(&arena);
    buf_release(&behind);
    return ok && (!climb.failed || error_budget(error));
}

// ---- Changes ---------------------------------------------------------------------------------

// The last one goes where there is one too many.
static void top_trim(struct live_question *q, const struct log_entry *entry, struct buf *out)
{
    struct top *top = &q->top;
    while (top->count > top->limit) {
        question_write_remove(q, entry, top->entries[top->count - 1].id, out);
        top_remove(top, top->count - 1);
    }
}

// Whether the item, which is in the result, stays among the first. `old` is where it was, if it was
// among as many as there may be: then others may have overtaken it that are not here.
static bool top_keeps(const struct top *top, bool was_full, struct slice old, struct slice place)
{
    if (!was_full)
        return top_admits(top, place);
    return place_order(top, place, old) <= 0 ||
           (top->count > 0 && place_order(top, place, place_at(top, top->count - 1)) < 0);
}

bool question_change_top(struct live_question *q, const struct log_entry *entry, struct buf *out,
                         struct error *error)
{
    struct top *top = &q->top;
    const struct model_entity *entity;
    uint8_t id[16];
    size_t at;
    item_digest(entry->keys, id);
    bool was = top_find(top, id, &at);
    bool is = question_has(q, entry->new_item, &entity);
    if (!was && !is)
        return true;
    bool full = was && top->count == top->limit;
    buf_clear(&q->other);
    if (was) {
        buf_slice(&q->other, place_at(top, at));
        top_remove(top, at);
    }
    struct slice place = buf_view(&q->place);
    bool in = is && top_keeps(top, full, buf_view(&q->other), place);
    if (in && !top_insert(top, place, id))
        return error_budget(error);
    if (in)
        question_write_put(q, entry, id, entity, entry->new_item, out);
    else if (was)
        question_write_remove(q, entry, id, out);
    top_trim(q, entry, out);
    return !full || top->count == top->limit || top_climb(q, entry, out, error);
}
