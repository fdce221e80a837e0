// See window.h. The tail of each chain is in a hash table, so that a new event finds its place at
// once; lists are doubly linked.
#include "capture/window.h"

#include "base/attributes.h"
#include "base/encode.h"

#include <stdlib.h>

// ---- Lists -----------------------------------------------------------------------------------

static void list_append(struct event_list *list, struct event *event)
{
    event->next = NULL;
    event->before = list->last;
    if (list->last != NULL)
        list->last->next = event;
    else
        list->first = event;
    list->last = event;
}

static void list_remove(struct event_list *list, struct event *event)
{
    *(event->before != NULL ? &event->before->next : &list->first) = event->next;
    *(event->next != NULL ? &event->next->before : &list->last) = event->before;
    event->next = event->before = NULL;
}

// Behind `at`, or first of all.
static void ready_insert(struct event_list *list, struct event *at, struct event *event)
{
    struct event *next = at == NULL ? list->first : at->ready_next;
    event->ready_before = at;
    event->ready_next = next;
    *(at != NULL ? &at->ready_next : &list->first) = event;
    *(next != NULL ? &next->ready_before : &list->last) = event;
}

static void ready_remove(struct event_list *list, struct event *event)
{
    *(event->ready_before != NULL ? &event->ready_before->ready_next : &list->first) =
        event->ready_next;
    *(event->ready_next != NULL ? &event->ready_next->ready_before : &list->last) =
        event->ready_before;
    event->ready_next = event->ready_before = NULL;
}

// In the order of sequences. New events come last, and what becomes ready is mostly the oldest.
static void make_ready(struct window *window, struct event *event)
{
    struct event_list *list = &window->ready;
    struct event *at = list->last;
    event->state = EVENT_READY;
    if (at != NULL && at->out.sequence > event->out.sequence) {
        at = NULL;
        for (struct event *next = list->first; next->out.sequence < event->out.sequence;
             next = next->ready_next)
            at = next;
    }
    ready_insert(list, at, event);
}

// ---- Chains ----------------------------------------------------------------------------------

static struct event **tail_place(struct window *window, uint64_t key)
{
    struct event **at = &window->tails[key % WINDOW_BUCKETS];
    while (*at != NULL && (*at)->key != key)
        at = &(*at)->bucket;
    return at;
}

bool window_has(const struct window *window, uint64_t key)
{
    return *tail_place((struct window *)(uintptr_t)window, key) != NULL;
}

void window_add(struct window *window, struct event *event)
{
    struct event **place = tail_place(window, event->key);
    struct event *tail = *place;
    list_append(event->stored ? &window->stored : &window->events, event);
    *(event->stored ? &window->stored_count : &window->count) += 1;
    window->bytes += event->bytes;
    event->bucket = tail == NULL ? NULL : tail->bucket;
    *place = event;
    if (tail == NULL) {
        make_ready(window, event);
        return;
    }
    tail->bucket = NULL;
    tail->follow = event;
    event->ahead = tail;
    event->state = EVENT_WAITING;
}

// ---- The life of an event --------------------------------------------------------------------

static void leave_state(struct window *window, struct event *event)
{
    if (event->state == EVENT_READY)
        ready_remove(&window->ready, event);
    else if (event->state == EVENT_LATER)
        ready_remove(&window->later, event);
    else if (event->state == EVENT_FLYING)
        window->flying--;
    event->state = EVENT_WAITING;
}

struct event *window_take(struct window *window, bool chain)
{
    struct event *event = window->ready.first;
    if (event == NULL)
        return NULL;
    leave_state(window, event);
    event->state = EVENT_FLYING;
    window->flying++;
    if (chain && event->follow != NULL)
        make_ready(window, event->follow);
    return event;
}

void window_return(struct window *window, struct event *event, int64_t due_ms)
{
    if (event->follow != NULL && event->follow->state == EVENT_READY)
        leave_state(window, event->follow);
    leave_state(window, event);
    if (event->ahead != NULL)
        return;
    if (due_ms == 0) {
        make_ready(window, event);
        return;
    }
    event->due_ms = due_ms;
    event->state = EVENT_LATER;
    ready_insert(&window->later, window->later.last, event);
}

void window_remove(struct window *window, struct event *event)
{
    struct event **place = tail_place(window, event->key);
    ensure(event->ahead == NULL);
    leave_state(window, event);
    list_remove(event->stored ? &window->stored : &window->events, event);
    *(event->stored ? &window->stored_count : &window->count) -= 1;
    window->bytes -= event->bytes;
    if (event->follow == NULL) {
        ensure(*place == event);
        *place = event->bucket;
    } else {
        event->follow->ahead = NULL;
        if (event->follow->state == EVENT_WAITING)
            make_ready(window, event->follow);
    }
    event->follow = NULL;
}

void window_due(struct window *window, int64_t now_ms)
{
    struct event *next;
    for (struct event *at = window->later.first; at != NULL; at = next) {
        next = at->ready_next;
        if (at->due_ms > now_ms)
            continue;
        ready_remove(&window->later, at);
        make_ready(window, at);
    }
}

int64_t window_next_due(const struct window *window)
{
    int64_t due_ms = INT64_MAX;
    for (const struct event *at = window->later.first; at != NULL; at = at->ready_next)
        due_ms = at->due_ms < due_ms ? at->due_ms : due_ms;
    return due_ms;
}

void window_store(struct window *window, struct event *event)
{
    ensure(!event->stored);
    list_remove(&window->events, event);
    list_append(&window->stored, event);
    window->count--;
    window->stored_count++;
    event->stored = true;
}

// ---- Events ----------------------------------------------------------------------------------

static struct slice put_text(uint8_t **at, struct slice text)
{
    struct slice copy = slice_of(*at, text.len);
    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    (*at)[text.len] = 0;
    *at += text.len + 1;
    return copy;
}

struct event *event_new(const struct event_texts *texts, uint64_t key)
{
    uint8_t number[8];
    char group[17];
    be64_put(number, key);
    hex_text(slice_of(number, sizeof(number)), group);
    size_t bytes = sizeof(struct event) + texts->id.len + texts->type.len + texts->table.len +
                   texts->entity.len + texts->body.len + texts->keys.len + 16 + 7;
    struct event *event = malloc(bytes);
    ensure_memory(event);
    memset(event, 0, sizeof(*event));
    uint8_t *at = (uint8_t *)(event + 1);
    event->key = key;
    event->bytes = bytes;
    event->keys = put_text(&at, texts->keys);
    event->out = (struct outlet_event){.id = put_text(&at, texts->id),
                                       .type = put_text(&at, texts->type),
                                       .table = put_text(&at, texts->table),
                                       .entity = put_text(&at, texts->entity),
                                       .group = put_text(&at, slice_of(group, 16)),
                                       .body = put_text(&at, texts->body),
                                       .together = true};
    return event;
}

void event_free(struct event *event)
{
    free(event);
}

void window_init(struct window *window)
{
    *window = (struct window){.count = 0};
}

static void list_free(struct event_list *list)
{
    while (list->first != NULL) {
        struct event *next = list->first->next;
        event_free(list->first);
        list->first = next;
    }
}

void window_clear(struct window *window)
{
    list_free(&window->events);
    list_free(&window->stored);
    window_init(window);
}
