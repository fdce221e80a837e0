// Reading all items of a transaction as of one instant: a snapshot is taken, the items are read
// from it, and only when all are there is the response begun. Both go on slice by slice; the items
// are held until they are written.
#include "items/transact.h"

#include "call/insights.h"

struct read_all {
    size_t count;
    struct transact_read *reads;
    struct slice return_capacity;
    struct store_snapshot *snapshot;
    const struct slice *keys;
    struct item_read *held; // items that were read together: from `done` to `fetched`
    size_t fetched;
    size_t done;    // items that were read
    size_t total;   // bytes of them
    size_t written; // items
    struct json_writer w;
};

static void drop_reads(struct api_call *call)
{
    struct read_all *all = call->state->own;
    for (size_t i = 0; i < all->count; i++)
        item_read_release(call_engine(call), &all->reads[i].read);
    for (size_t i = all->done; i < all->fetched; i++)
        item_read_release(call_engine(call), &all->held[i]);
    all->fetched = all->done;
    engine_snapshot_release(call_engine(call), all->snapshot);
    all->snapshot = NULL;
}

static double read_units(const struct transact_read *read)
{
    return 2 * capacity_read_units(read->read.size, true);
}

// One entry for each table, in the order of the items.
static void write_capacity(struct read_all *all)
{
    enum capacity_detail detail = capacity_detail(all->return_capacity);
    if (detail == CAPACITY_NONE)
        return;
    json_put_array(&all->w, "ConsumedCapacity");
    for (size_t i = 0; i < all->count; i++) {
        struct capacity capacity = {.table = all->reads[i].table, .transaction = true};
        bool seen = false;
        for (size_t k = 0; k < all->count; k++) {
            if (all->reads[k].table->tree != capacity.table->tree)
                continue;
            seen = seen || k < i;
            capacity.read += read_units(&all->reads[k]);
        }
        if (!seen)
            capacity_write_json(&all->w, &capacity, detail);
    }
    json_close_array(&all->w);
}

// Writes on until all are written or the slice is over.
static enum step write_items(struct api_call *call)
{
    struct read_all *all = call->state->own;
    while (all->written < all->count) {
        const struct transact_read *read = &all->reads[all->written++];
        size_t before = call->response.len;
        json_open_object(&all->w);
        if (read->read.item.len > 0) {
            json_name(&all->w, "Item");
            call_write_projected(call, &all->w, read->project, read->projection, read->read.item,
                                 &(struct steps){0});
        }
        json_close_object(&all->w);
        if (!work_spend(&call->state->work, call->response.len - before)) {
            call->state->resume = write_items;
            return STEP_LATER;
        }
    }
    json_close_array(&all->w);
    write_capacity(all);
    json_close_object(&all->w);
    drop_reads(call);
    return STEP_READY;
}

// All are read. What is large finds its room at once, not half of it.
static enum step begin_response(struct api_call *call)
{
    struct read_all *all = call->state->own;
    size_t room = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->reads[i].project == NULL)
            room += json_item_room(all->reads[i].read.item);
    }
    if (room > LIMIT_INLINE_WORK && !call_reserve(call, room, &call->error))
        return STEP_FAILED;
    all->w = call_writer(call);
    json_open_object(&all->w);
    json_put_array(&all->w, "Responses");
    return write_items(call);
}

static bool fetch_items(struct api_call *call, struct read_all *all)
{
    size_t count = all->count - all->done;
    if (!call_get_many(call, all->snapshot, all->keys + all->done, &count, all->held + all->done))
        return false;
    all->fetched = all->done + count;
    return true;
}

// Reads on until all are there or the slice is over.
static enum step read_items(struct api_call *call)
{
    struct read_all *all = call->state->own;
    while (all->done < all->count) {
        struct transact_read *read = &all->reads[all->done];
        if (all->done == all->fetched && !fetch_items(call, all))
            return STEP_FAILED;
        read->read = all->held[all->done++];
        if (!call_show(call, read->table, &read->read))
            return STEP_FAILED;
        all->total += read->read.size;
        usage_read(call, read->table, NULL, read_units(read), read->read.item.len > 0);
        insights_read(call, read->table, NULL, read->subject);
        if (!transact_check_size(call, all->total))
            return STEP_FAILED;
        if (!work_spend(&call->state->work, read->read.item.len)) {
            call->state->resume = read_items;
            return STEP_LATER;
        }
    }
    return call_go_on(call, all->total, begin_response);
}

enum step transact_read_all(struct api_call *call, size_t count, struct transact_read *reads,
                            struct slice return_consumed_capacity)
{
    struct read_all *all = call_alloc(call, 1, sizeof(*all));
    struct slice *keys = call_alloc(call, count, sizeof(*keys));
    struct item_read *held = call_alloc(call, count, sizeof(*held));
    if (all == NULL || keys == NULL || held == NULL)
        return STEP_FAILED;
    for (size_t i = 0; i < count; i++)
        keys[i] = reads[i].key;
    for (size_t i = 0; i < count; i++) {
        call->state->subject = reads[i].subject;
        if (!throttle_admit_read(call, reads[i].table, NULL)) {
            throttle_cancel(call, &call->state->write->actions[i]);
            return STEP_FAILED;
        }
    }
    *all = (struct read_all){.count = count,
                             .reads = reads,
                             .keys = keys,
                             .held = held,
                             .return_capacity = return_consumed_capacity};
    call->state->own = all;
    call->state->drop = drop_reads;
    all->snapshot = engine_snapshot(call_engine(call));
    return read_items(call);
}
