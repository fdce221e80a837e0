// Deleting what is surplus in a group of `keep`, as long as those that come before it are there:
// see retain.h. All that are surplus in a group are judged together, some at a time.
#include "retain/sweep.h"

#include <stdlib.h>

enum {
    DELETES = 8,                          // of one group and one write, with its witnesses
    ACTIONS = DELETES + RETAIN_WITNESSES, // and all of a write
};

static bool has_few(const struct sweep *sweep)
{
    return sweep->rule->keep->count <= RETAIN_WITNESSES;
}

// How many of a group are deleted by one write. If much may follow from each, they are not done
// together; if there are too many witnesses for the write, these are read for as many as possible.
static size_t most_at_once(const struct sweep *sweep)
{
    return !has_few(sweep) ? ACTIONS : sweep->run.table->guard->effects ? 1 : DELETES;
}

// Those that come before, as they were just read.
struct witnesses {
    size_t count;
    struct write_action *checks; // none if there are too many for one write
    uint8_t (*digests)[DIGEST_BYTES];
};

static int by_group(const void *a, const void *b)
{
    return slice_compare(((const struct bunch_item *)a)->group,
                         ((const struct bunch_item *)b)->group);
}

// The item as it is now: its place, if it has one in the group.
static bool place_now(struct sweep *sweep, struct slice key, struct slice group,
                      struct keep_entry *entry, uint8_t digest[DIGEST_BYTES], bool *is)
{
    struct engine *engine = sweep->run.shop->engine;
    struct item_read read;
    struct slice own;
    *is = false;
    if (!engine_get(engine, NULL, key, &read, &sweep->run.error))
        return false;
    enum retain_answer answer = RETAIN_NO;
    if (read.item.len > 0 && retain_concerns(sweep->rule, read.item))
        answer = retain_place(sweep->rule, read.item, &sweep->scratch, &own, &entry->rank);
    if (answer == RETAIN_YES) {
        item_digest(read.item, digest);
        entry->key = key;
        *is = slice_equal(own, group);
    }
    item_read_release(engine, &read);
    return answer != RETAIN_BUDGET || error_budget(&sweep->run.error);
}

// Reads all that come before `last`; *there is false if one does not any more.
static bool read_witnesses(struct sweep *sweep, const struct keep_group *group,
                           const struct keep_entry *last, struct witnesses *out, bool *there)
{
    bool few = has_few(sweep);
    *out = (struct witnesses){.count = few ? group->count : 0};
    out->checks = arena_zalloc(&sweep->scratch, out->count + 1, sizeof(*out->checks));
    out->digests = arena_zalloc(&sweep->scratch, group->count + 1, sizeof(*out->digests));
    if (out->checks == NULL || out->digests == NULL)
        return error_budget(&sweep->run.error);
    *there = group->count == sweep->rule->keep->count;
    for (size_t i = 0; *there && i < group->count; i++) {
        struct keep_entry entry;
        if (!place_now(sweep, group->entries[i].key, group->name, &entry, out->digests[i], there))
            return false;
        *there = *there && keep_compare(&entry, last) > 0;
        if (few)
            out->checks[i] =
                (struct write_action){.kind = WRITE_CHECK,
                                      .flags = WRITE_JOINED,
                                      .table = sweep->run.table,
                                      .item = value_empty_map(),
                                      .key = group->entries[i].key,
                                      .keyed = value_empty_map(),
                                      .if_match = slice_of(out->digests[i], DIGEST_BYTES)};
    }
    return true;
}

// Takes those of the items that are what was archived; *last becomes the first of them in the
// group's order.
static bool read_surplus(struct sweep *sweep, struct bunch_item *items, size_t count,
                         struct write_action *actions, size_t *chosen, struct keep_entry *last)
{
    bool joined = has_few(sweep); // with witnesses, all or none of them
    *chosen = 0;
    for (size_t i = 0; i < count; i++) {
        struct keep_entry entry;
        uint8_t digest[DIGEST_BYTES];
        bool is;
        if (!items[i].chosen)
            continue;
        if (!place_now(sweep, items[i].key, items[i].group, &entry, digest, &is))
            return false;
        if (!is || memcmp(digest, items[i].digest, DIGEST_BYTES) != 0) {
            sweep->record.left++;
            continue;
        }
        if (*chosen == 0 || keep_compare(&entry, last) > 0)
            *last = entry;
        actions[*chosen] = (struct write_action){
            .kind = WRITE_DELETE,
            .flags = WRITE_SWEPT | write_flag_if(joined && *chosen > 0, WRITE_JOINED),
            .table = sweep->run.table,
            .item = value_empty_map(),
            .key = items[i].key,
            .keyed = value_empty_map(),
            .if_match = slice_of(items[i].digest, DIGEST_BYTES)};
        (*chosen)++;
    }
    return true;
}

// Some of one group.
static bool delete_some(struct sweep *sweep, struct bunch_item *items, size_t count)
{
    struct write_action actions[ACTIONS];
    struct witnesses witnesses;
    struct keep_entry last;
    size_t chosen;
    bool there;
    arena_reset(&sweep->scratch);
    if (!read_surplus(sweep, items, count, actions, &chosen, &last))
        return false;
    // A group that was dropped meanwhile has its turn in another pass.
    const struct keep_group *group = groups_find(sweep->finder.groups, items[0].group);
    if (chosen == 0 || group == NULL)
        return true;
    if (!read_witnesses(sweep, group, &last, &witnesses, &there))
        return false;
    for (size_t i = 0; i < witnesses.count; i++)
        actions[chosen + i] = witnesses.checks[i];
    if (!there)
        sweep->record.left += (int64_t)chosen;
    else if (!sweep_write(sweep, actions, chosen + witnesses.count))
        return false;
    return sweep_pace(sweep, (int64_t)group->count); // what was read counts, too
}

bool sweep_surplus(struct sweep *sweep)
{
    qsort(sweep->items, sweep->count, sizeof(*sweep->items), by_group);
    for (size_t at = 0; at < sweep->count && sweep_wanted(sweep);) {
        size_t end = at + 1;
        while (end < sweep->count && end - at < most_at_once(sweep) &&
               slice_equal(sweep->items[end].group, sweep->items[at].group))
            end++;
        if (!work_goes_on(sweep->run.shop, &sweep->run.error) ||
            !delete_some(sweep, &sweep->items[at], end - at))
            return false;
        at = end;
    }
    return true;
}
