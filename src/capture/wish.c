// What somebody has changed in a target, and wants to be so in the items: a write like any other,
// guard and all. Its number is a record in the commit of the write, so that it is done once, though
// the target hears of it later: after a kill, the wish with that number is only answered.
#include "capture/consumer_internal.h"

#include "base/log.h"
#include "base/wait.h"
#include "value/map.h"
#include "work/jobs.h"

struct wish_record {
    uint64_t id;
};
#define WISH(kind, field) MAP_SAME(wish_record, kind, field)
static const struct map_row wish_rows[] = {WISH(INTEGER, id)};
static const struct map_form wish_form = MAP_FORM(wish_record, wish_rows);

bool wishes_load(struct consumer *c, struct error *error)
{
    struct slice record;
    struct wish_record kept = {.id = 0};
    if (!engine_record(c->shop->engine, consumer_record_name(c, &c->arena, WISH_PREFIX), &c->arena,
                       &record, error))
        return false;
    if (record.len > 0)
        map_decode(&wish_form, record, &kept);
    c->wish_done = kept.id;
    return true;
}

static struct record_write with_number(void *context, size_t done)
{
    (void)done;
    return *(const struct record_write *)context;
}

// False if it cannot be written now. *refused is why it never will.
static bool do_wish(struct consumer *c, struct table *table, const struct outlet_wish *wish,
                    const char **refused)
{
    struct error error;
    struct wish_record kept = {.id = wish->id};
    struct write_action action = {.table = table};
    error_init(&error, &c->arena);
    if (wish->refused.len > 0) {
        *refused = (const char *)wish->refused.ptr;
        return true;
    }
    if (!c->plan.source->ops->wish(c->plan.source, table, wish, &c->arena, &action, &error)) {
        *refused = error.message == NULL ? "out of memory" : error.message;
        return error.message != NULL;
    }
    struct record_write number = {consumer_record_name(c, &c->arena, WISH_PREFIX),
                                  map_encode(&wish_form, &kept, &c->arena, &error)};
    struct item_edit edit = {.arena = &c->arena,
                             .count = 1,
                             .actions = &action,
                             .each = true,
                             .record = with_number,
                             .context = &number};
    if (number.value.ptr == NULL || !work_edit_items(c->shop, &edit, &error)) {
        *refused = error.message;
        return error.code != ERR_INTERNAL && error.code != ERR_UNAVAILABLE;
    }
    if (action.out.failure != ERR_NONE)
        *refused = action.out.failure_text == NULL ? "it is refused" : action.out.failure_text;
    else
        c->wish_done = wish->id;
    return true;
}

// The item as it is, in the arena.
static bool item_now(struct consumer *c, const struct table *table, struct slice keys,
                     struct slice *item)
{
    struct error error;
    struct item_read read;
    error_init(&error, &c->arena);
    *item = VALUE_NONE;
    struct slice key = keys.len == 0 ? VALUE_NONE : work_item_key(table, keys, &c->arena);
    if (key.ptr == NULL)
        return true;
    if (!engine_get(c->shop->engine, NULL, key, &read, &error))
        return false;
    if (read.item.len > 0)
        *item = arena_copy(&c->arena, read.item);
    item_read_release(c->shop->engine, &read);
    return true;
}

static bool wish_once(struct consumer *c, struct table *table)
{
    struct outlet_wish wish;
    const char *refused = NULL;
    struct slice item = VALUE_NONE;
    if (!ledger_of(c)->wish(c->target, &c->arena, &wish))
        return false;
    if (wish.id != c->wish_done && !do_wish(c, table, &wish, &refused))
        return false;
    if (refused != NULL && !item_now(c, table, wish.keys, &item))
        return false;
    if (refused != NULL)
        log_info("consumer %s: a change of %s is refused and put back: %s", c->plan.name.ptr,
                 c->plan.shown.ptr, refused);
    bool ok = ledger_of(c)->answer(c->target, &wish, refused, item);
    arena_reset(&c->arena);
    return ok;
}

void wishes_do(struct consumer *c)
{
    if (ledger_of(c) == NULL || ledger_of(c)->wish == NULL || c->plan.source->ops->wish == NULL ||
        c->backfilling || c->target->lost || monotonic_ms() < c->wish_ms)
        return;
    struct table *table = engine_table(c->shop->engine, c->plan.table);
    size_t done = 0;
    while (table != NULL && done < WISHES_AT_ONCE && wish_once(c, table))
        done++;
    arena_reset(&c->arena);
    table_release(table);
    c->wish_ms = done == WISHES_AT_ONCE ? 0 : monotonic_ms() + WISH_MS;
}
