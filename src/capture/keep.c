// What a consumer keeps in the store: its position, and its letters, which are events that have
// failed. Letters and the position that leaves them behind are one commit; marks come before it, so
// that an event counts as delivered only when its item says so.
//
// A letter with a time of death is dead: it waits for somebody to send it again or to drop it, and
// its key is blocked. One without is still tried, and in the window (`stored`).
#include "capture/consumer_internal.h"

#include "base/log.h"
#include "base/wait.h"
#include "value/map.h"
#include "work/jobs.h"

#include <stdio.h>
#include <stdlib.h>

// ---- Blocked keys ----------------------------------------------------------------------------

static struct key_count *key_find(const struct key_counts *keys, uint64_t key)
{
    if (keys->capacity == 0)
        return NULL;
    for (size_t at = key & (keys->capacity - 1);; at = (at + 1) & (keys->capacity - 1)) {
        struct key_count *found = &keys->list[at];
        if (found->letters == 0 && !found->gone)
            return NULL;
        if (found->key == key)
            return found;
    }
}

static void key_insert(struct key_counts *keys, uint64_t key, uint64_t letters)
{
    size_t at = key & (keys->capacity - 1);
    while (keys->list[at].letters != 0 || keys->list[at].gone)
        at = (at + 1) & (keys->capacity - 1);
    keys->list[at] = (struct key_count){.key = key, .letters = letters};
    keys->count++;
}

static void keys_grow(struct key_counts *keys)
{
    if (2 * (keys->count + 1) < keys->capacity)
        return;
    struct key_counts grown = {.capacity = keys->capacity == 0 ? 64 : 2 * keys->capacity};
    grown.list = memory_zeroed(grown.capacity * sizeof(*grown.list));
    for (size_t i = 0; i < keys->capacity; i++)
        if (keys->list[i].letters != 0)
            key_insert(&grown, keys->list[i].key, keys->list[i].letters);
    free(keys->list);
    *keys = grown;
}

static void key_block(struct consumer *c, uint64_t key)
{
    struct key_count *found = key_find(&c->blocked_keys, key);
    if (found == NULL) {
        keys_grow(&c->blocked_keys);
        key_insert(&c->blocked_keys, key, 1);
        return;
    }
    found->letters++;
    found->gone = false;
}

static void key_unblock(struct consumer *c, uint64_t key)
{
    struct key_count *found = key_find(&c->blocked_keys, key);
    if (found == NULL || found->letters == 0)
        return;
    found->letters--;
    found->gone = found->letters == 0;
}

bool consumer_key_blocked(const struct consumer *c, uint64_t key)
{
    const struct key_count *found = key_find(&c->blocked_keys, key);
    return found != NULL && found->letters > 0;
}

// ---- Records ---------------------------------------------------------------------------------

#define LETTER(kind, field) MAP_SAME(letter, kind, field)
static const struct map_row letter_rows[] = {
    LETTER(INTEGER, sequence), LETTER(INTEGER, key),      LETTER(TEXT, id),
    LETTER(TEXT, type),        LETTER(TEXT, entity),      LETTER(BYTES, body),
    LETTER(TEXT, reason),      LETTER(VALUE, keys),       LETTER(INTEGER, time_ms),
    LETTER(INTEGER, died_ms),  LETTER(INTEGER, attempts),
};
static const struct map_form letter_form = MAP_FORM(letter, letter_rows);

struct consumer_record {
    uint64_t position;
    int64_t time_ms; // of the oldest change that may not be delivered
    bool paused;
    bool backfilling;
    uint64_t lost;
    uint64_t mended;  // of those that were lost, by a backfill
    uint64_t claimed; // where a target with a ledger stands, at least
};
#define RECORD(kind, field) MAP_SAME(consumer_record, kind, field)
static const struct map_row record_rows[] = {
    RECORD(INTEGER, position), RECORD(INTEGER, time_ms), RECORD(FLAG, paused),
    RECORD(FLAG, backfilling), RECORD(INTEGER, lost),    RECORD(INTEGER, claimed),
    RECORD(INTEGER, mended),
};
static const struct map_form record_form = MAP_FORM(consumer_record, record_rows);

static struct slice name_of(struct arena *arena, const char *prefix, struct slice uuid,
                            struct slice name, const char *rest)
{
    char text[1024];
    int len = snprintf(text, sizeof(text), "%s%.*s/%.*s%s", prefix, SLICE_FMT(uuid),
                       SLICE_FMT(name), rest);
    ensure(len > 0 && (size_t)len < sizeof(text));
    struct slice copy = arena_copy(arena, slice_of(text, (size_t)len));
    ensure_memory(copy.ptr);
    return copy;
}

struct slice consumer_record_name(const struct consumer *c, struct arena *arena, const char *prefix)
{
    return name_of(arena, prefix, c->plan.uuid, c->plan.name, "");
}

static struct slice letter_name(const struct consumer *c, struct arena *arena, uint64_t sequence)
{
    char number[24];
    (void)snprintf(number, sizeof(number), "/%020llu", (unsigned long long)sequence);
    return name_of(arena, LETTER_PREFIX, c->plan.uuid, c->plan.name, number);
}

// Notes a record that is written with the next position; there is room for it.
static void note(struct consumer *c, struct slice name, struct slice value)
{
    ensure(c->keep_count < CONSUMER_KEEP_WRITES);
    c->keep[c->keep_count++] = (struct record_write){name, value};
    c->keep_bytes += value.len;
    c->keep_due = true;
}

static void make_room(struct consumer *c)
{
    while (c->keep_count >= CONSUMER_KEEP_WRITES || c->keep_bytes > CONSUMER_KEEP_BYTES)
        if (!consumer_keep(c, true))
            return;
}

static bool has_room(const struct consumer *c)
{
    return c->keep_count < CONSUMER_KEEP_WRITES;
}

static void letter_note(struct consumer *c, const struct event *event, const char *reason,
                        int64_t died_ms)
{
    struct error error;
    error_init(&error, &c->keep_arena);
    struct letter letter = {.sequence = event->out.sequence,
                            .key = event->key,
                            .id = event->out.id,
                            .type = event->out.type,
                            .entity = event->out.entity,
                            .body = event->out.body,
                            .reason = slice_str(reason),
                            .keys = event->keys,
                            .time_ms = event->out.time_ms,
                            .died_ms = died_ms,
                            .attempts = event->attempts};
    struct slice value = map_encode(&letter_form, &letter, &c->keep_arena, &error);
    ensure_memory(value.ptr);
    note(c, letter_name(c, &c->keep_arena, event->out.sequence), value);
}

// ---- Letters ---------------------------------------------------------------------------------

static size_t letters_limit(const struct consumer *c)
{
    return c->plan.letters != 0 ? c->plan.letters : CONSUMER_LETTERS;
}

void consumer_bury(struct consumer *c, struct event *event, const char *reason)
{
    make_room(c);
    if (!has_room(c) || (!event->stored && c->letters >= letters_limit(c))) {
        c->blocked = c->letters >= letters_limit(c);
        window_return(&c->window, event, monotonic_ms() + 1000);
        return;
    }
    letter_note(c, event, reason, consumer_now(c));
    if (!event->stored)
        c->letters++;
    key_block(c, event->key);
    window_remove(&c->window, event);
    event_free(event);
}

bool consumer_park(struct consumer *c, struct event *event)
{
    make_room(c);
    if (!has_room(c) || c->window.stored_count >= CONSUMER_STORED || c->letters >= letters_limit(c))
        return false;
    letter_note(c, event, c->reason, 0);
    c->letters++;
    window_store(&c->window, event);
    return true;
}

void consumer_delivered(struct consumer *c, struct event *event)
{
    if (event->stored) {
        make_room(c);
        if (has_room(c))
            note(c, letter_name(c, &c->keep_arena, event->out.sequence), VALUE_NONE);
        c->letters--;
        c->blocked = false;
    }
    if (c->plan.source->ops->mark != NULL && event->keys.len > 0) {
        struct slice keys = arena_copy(&c->keep_arena, event->keys);
        ensure_memory(keys.ptr);
        ensure(c->mark_count < CONSUMER_MARKS); // no more was sent
        c->marks[c->mark_count++] = keys;
    }
    c->keep_due = true;
}

struct letters_visit {
    bool (*visit)(void *context, const struct letter *letter);
    void *context;
};

static bool visit_letter(void *context, struct slice name, struct slice value)
{
    const struct letters_visit *visit = context;
    struct letter letter = {.sequence = 0};
    (void)name;
    map_decode(&letter_form, value, &letter);
    return visit->visit(visit->context, &letter);
}

bool consumer_letters(struct workshop *shop, struct slice uuid, struct slice name, uint64_t after,
                      bool (*visit)(void *context, const struct letter *letter), void *context,
                      struct error *error)
{
    struct arena arena;
    struct letters_visit visiting = {visit, context};
    char number[24];
    arena_init(&arena, CONSUMER_MEMORY);
    (void)snprintf(number, sizeof(number), "/%020llu", (unsigned long long)after);
    struct slice prefix = name_of(&arena, LETTER_PREFIX, uuid, name, "/");
    struct slice behind = name_of(&arena, LETTER_PREFIX, uuid, name, number);
    bool ok = engine_records(shop->engine, prefix, after == 0 ? slice_of(NULL, 0) : behind,
                             visit_letter, &visiting, error);
    arena_release(&arena);
    return ok;
}

static struct event *letter_event(const struct consumer *c, const struct letter *letter)
{
    struct event *event = event_new(&(struct event_texts){.id = letter->id,
                                                          .type = letter->type,
                                                          .table = c->plan.table,
                                                          .entity = letter->entity,
                                                          .body = letter->body,
                                                          .keys = letter->keys},
                                    letter->key);
    event->out.sequence = letter->sequence;
    event->out.time_ms = letter->time_ms;
    event->out.together = false;
    event->stored = true;
    return event;
}

struct sending {
    struct consumer *c;
    struct consumer_command *command;
    uint64_t only; // or 0
    bool full;
};

static bool send_letter(void *context, const struct letter *letter)
{
    struct sending *sending = context;
    struct consumer *c = sending->c;
    if (sending->only != 0 && letter->sequence != sending->only)
        return letter->sequence < sending->only;
    if (c->window.stored_count >= CONSUMER_STORED) {
        sending->full = true;
        return false;
    }
    c->again_after = letter->sequence;
    if (letter->died_ms == 0)
        return true; // it is being tried
    key_unblock(c, letter->key);
    window_add(&c->window, letter_event(c, letter));
    if (sending->command != NULL)
        sending->command->count++;
    return true;
}

// The records stay until the events are delivered. All letters at once would be too many: the rest
// follows as those that were sent end.
bool letters_retry(struct consumer *c, struct consumer_command *command, struct error *error)
{
    struct sending sending = {c, command, command == NULL ? 0 : command->sequence, false};
    uint64_t after = command == NULL ? c->again_after : 0;
    if (!consumer_letters(c->shop, c->plan.uuid, c->plan.name, after, send_letter, &sending, error))
        return false;
    if (command != NULL && command->sequence == 0)
        command->count = c->letters;
    c->sending_again = sending.full && sending.only == 0;
    c->blocked = false;
    return true;
}

struct dropping {
    struct consumer *c;
    uint64_t only;
    const struct event *newer; // those of its item that are older; or NULL
    size_t count;
    struct {
        uint64_t sequence;
        uint64_t key;
    } list[CONSUMER_KEEP_WRITES];
};

static bool drop_letter(void *context, const struct letter *letter)
{
    struct dropping *dropping = context;
    const struct event *newer = dropping->newer;
    if (letter->died_ms == 0 || (dropping->only != 0 && letter->sequence != dropping->only))
        return true;
    if (newer != NULL && (letter->key != newer->key || !slice_equal(letter->keys, newer->keys)))
        return true;
    if (dropping->count == CONSUMER_KEEP_WRITES)
        return false;
    dropping->list[dropping->count].sequence = letter->sequence;
    dropping->list[dropping->count++].key = letter->key;
    return true;
}

// A letter that was sent again a moment ago is in the window, and not dropped.
static bool in_window(const struct consumer *c, uint64_t sequence)
{
    for (const struct event *at = c->window.stored.first; at != NULL; at = at->next)
        if (at->out.sequence == sequence)
            return true;
    return false;
}

bool letters_drop(struct consumer *c, struct consumer_command *command, struct error *error)
{
    struct dropping dropping;
    size_t dropped;
    do {
        dropping = (struct dropping){.c = c, .only = command->sequence};
        dropped = 0;
        if (!consumer_keep(c, true) || !consumer_letters(c->shop, c->plan.uuid, c->plan.name, 0,
                                                         drop_letter, &dropping, error))
            return error_set(error, ERR_INTERNAL, "The dead letters cannot be written now.");
        for (size_t i = 0; i < dropping.count; i++) {
            if (in_window(c, dropping.list[i].sequence))
                continue;
            note(c, letter_name(c, &c->keep_arena, dropping.list[i].sequence), VALUE_NONE);
            key_unblock(c, dropping.list[i].key);
            c->letters--;
            dropped++;
        }
        command->count += dropped;
    } while (dropped > 0 && command->sequence == 0);
    c->blocked = false;
    return consumer_keep(c, true) ||
           error_set(error, ERR_INTERNAL, "The dead letters cannot be written now.");
}

void letters_supersede(struct consumer *c, const struct event *event)
{
    struct error error;
    struct dropping dropping = {.c = c, .newer = event};
    if (event->stored || !consumer_key_blocked(c, event->key))
        return;
    error_init(&error, &c->arena);
    // A letter that cannot be read now goes with a later event of its item, or is sent again by
    // somebody: then the item's newest image is what the target has after it.
    if (!consumer_letters(c->shop, c->plan.uuid, c->plan.name, 0, drop_letter, &dropping, &error))
        return;
    for (size_t i = 0; i < dropping.count; i++) {
        if (in_window(c, dropping.list[i].sequence))
            continue;
        make_room(c);
        if (!has_room(c))
            return;
        note(c, letter_name(c, &c->keep_arena, dropping.list[i].sequence), VALUE_NONE);
        key_unblock(c, dropping.list[i].key);
        c->letters--;
    }
    c->blocked = false;
}

// ---- Loading ---------------------------------------------------------------------------------

static bool load_letter(void *context, const struct letter *letter)
{
    struct consumer *c = context;
    c->letters++;
    if (letter->died_ms != 0 || c->window.stored_count >= CONSUMER_STORED) {
        key_block(c, letter->key);
        return true;
    }
    struct event *event = letter_event(c, letter);
    event->attempts = (unsigned)letter->attempts;
    window_add(&c->window, event);
    return true;
}

bool letters_load(struct consumer *c, struct error *error)
{
    c->letters = 0;
    c->sending_again = false;
    free(c->blocked_keys.list);
    c->blocked_keys = (struct key_counts){.capacity = 0};
    return consumer_letters(c->shop, c->plan.uuid, c->plan.name, 0, load_letter, c, error);
}

bool consumer_load(struct consumer *c, struct error *error)
{
    struct slice record;
    struct consumer_record kept = {.position = 0};
    if (!engine_record(c->shop->engine,
                       name_of(&c->arena, CONSUMER_PREFIX, c->plan.uuid, c->plan.name, ""),
                       &c->arena, &record, error) ||
        !letters_load(c, error) || !wishes_load(c, error))
        return false;
    if (record.len > 0)
        map_decode(&record_form, record, &kept);
    else
        c->keep_due = true;
    c->read = c->position = record.len == 0 ? c->plan.start : kept.position;
    if (c->plan.anew && c->read < c->plan.start)
        c->read = c->position = c->plan.start;
    c->read_ms = record.len == 0 ? consumer_now(c) : kept.time_ms;
    ensure(pthread_mutex_lock(&c->lock) == 0);
    c->needed_ms = c->read_ms;
    ensure(pthread_mutex_unlock(&c->lock) == 0);
    c->paused = kept.paused;
    c->backfilling = kept.backfilling;
    c->claimed = kept.claimed;
    atomic_store(&c->mended, kept.mended);
    atomic_store(&c->lost, kept.lost);
    arena_reset(&c->arena);
    return !c->backfilling || backfill_begin(c, error);
}

// ---- Keeping ---------------------------------------------------------------------------------

static uint64_t position_now(const struct consumer *c)
{
    const struct event *first = c->window.events.first;
    return first == NULL || c->backfilling ? c->read : first->out.sequence - 1;
}

static bool keep_marks(struct consumer *c, struct error *error)
{
    size_t count = 0;
    if (c->mark_count == 0)
        return true;
    struct write_action *actions = arena_zalloc(&c->arena, c->mark_count, sizeof(*actions));
    if (actions == NULL)
        return error_budget(error);
    struct table *table = engine_table(c->shop->engine, c->plan.table);
    if (table == NULL)
        return true;
    for (size_t i = 0; i < c->mark_count; i++) {
        actions[count] = (struct write_action){.table = table};
        count += c->plan.source->ops->mark(c->plan.source, table, c->marks[i], &c->arena,
                                           &actions[count]);
    }
    struct item_edit edit = {.arena = &c->arena, .count = count, .actions = actions, .each = true};
    bool ok = count == 0 || work_edit_items(c->shop, &edit, error);
    table_release(table);
    return ok;
}

static bool keep_records(struct consumer *c, uint64_t position, struct error *error)
{
    const struct event *first = c->window.events.first;
    struct consumer_record kept = {.position = position,
                                   .time_ms = first != NULL ? first->out.time_ms : c->read_ms,
                                   .paused = c->paused,
                                   .backfilling = c->backfilling,
                                   .lost = atomic_load(&c->lost),
                                   .mended = atomic_load(&c->mended),
                                   .claimed = c->claimed};
    struct record_write *write = &c->keep[c->keep_count];
    write->name = name_of(&c->arena, CONSUMER_PREFIX, c->plan.uuid, c->plan.name, "");
    write->value = map_encode(&record_form, &kept, &c->arena, error);
    struct record_edit edit = {.count = c->keep_count + 1, .writes = c->keep};
    return write->value.ptr != NULL && work_edit_records(c->shop, &edit, error);
}

bool consumer_keep(struct consumer *c, bool now)
{
    struct error error;
    uint64_t position = position_now(c);
    bool moved = position != c->position;
    // That it has read changes which are none of its events is not worth a commit of its own.
    bool due = c->keep_due || (moved && position - c->position > 100000);
    if (!due || (!now && monotonic_ms() < c->kept_ms + CONSUMER_KEEP_MS))
        return true;
    error_init(&error, &c->arena);
    bool ok = keep_marks(c, &error) && keep_records(c, position, &error);
    arena_reset(&c->arena);
    c->kept_ms = monotonic_ms();
    if (!ok) {
        (void)snprintf(c->reason, sizeof(c->reason), "the position cannot be written");
        return false;
    }
    c->position = position;
    c->keep_due = false;
    c->keep_count = 0;
    c->keep_bytes = 0;
    c->mark_count = 0;
    arena_reset(&c->keep_arena);
    return true;
}

// ---- Forgetting ------------------------------------------------------------------------------

struct names {
    struct arena *arena;
    size_t count;
    struct record_write list[CONSUMER_KEEP_WRITES];
};

static bool take_name(void *context, struct slice name, struct slice value)
{
    struct names *names = context;
    (void)value;
    names->list[names->count++] = (struct record_write){arena_copy(names->arena, name), VALUE_NONE};
    return names->count < COUNT_OF(names->list);
}

void consumer_forget(struct consumer *c)
{
    struct names names = {.arena = &c->arena};
    struct error error;
    bool ok;
    do {
        names.count = 0;
        error_init(&error, &c->arena);
        ok = engine_records(c->shop->engine,
                            name_of(&c->arena, LETTER_PREFIX, c->plan.uuid, c->plan.name, "/"),
                            slice_of(NULL, 0), take_name, &names, &error);
        if (names.count + 1 < COUNT_OF(names.list)) {
            names.list[names.count++] = (struct record_write){
                name_of(&c->arena, CONSUMER_PREFIX, c->plan.uuid, c->plan.name, ""), VALUE_NONE};
            names.list[names.count++] = (struct record_write){
                name_of(&c->arena, WISH_PREFIX, c->plan.uuid, c->plan.name, ""), VALUE_NONE};
        }
        struct record_edit edit = {.count = names.count, .writes = names.list};
        ok = ok && work_edit_records(c->shop, &edit, &error);
        arena_reset(&c->arena);
    } while (ok && names.count + 1 >= COUNT_OF(names.list));
}
