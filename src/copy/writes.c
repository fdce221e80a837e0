// Batches of writes: see copy.h. What a server does not take, because its throughput is used up, is
// sent again with growing pauses.
#include "copy/copy.h"

#include "base/limits.h"
#include "base/wait.h"

enum {
    BATCH_BYTES = 8 << 20, // of JSON; a request may have 16 MB
    TRIES = 60,            // at most two seconds apart: a table with little throughput takes long
    PAUSE_MAX_MS = 2000,
    MEMORY = 256 << 20,
};

void writes_init(struct writes *writes, struct copy *copy, struct target *target, const char *table)
{
    *writes = (struct writes){.copy = copy, .target = target, .table = table};
    arena_init(&writes->arena, MEMORY);
}

void writes_release(struct writes *writes)
{
    arena_release(&writes->arena);
}

// Waits until `count` more writes may be made.
static void keep_pace(struct copy *copy, size_t count)
{
    if (copy->rate == 0)
        return;
    (void)pthread_mutex_lock(&copy->lock);
    int64_t now = monotonic_ns();
    int64_t from = copy->pace_ns > now ? copy->pace_ns : now;
    copy->pace_ns = from + (int64_t)((uint64_t)SECOND_NS * count / copy->rate);
    (void)pthread_mutex_unlock(&copy->lock);
    if (from > now)
        sleep_ms((from - now) / MILLISECOND_NS);
}

// Sends the JSON of requests until all of them are taken.
static bool send(struct writes *writes, struct slice requests)
{
    struct arena arena;
    struct buf body;
    bool ok = true;
    arena_init(&arena, MEMORY);
    buf_init(&body, LIMIT_BODY + BATCH_BYTES);
    for (int try = 0; ok && requests.ptr != NULL && try < TRIES; try++) {
        struct json_writer w = json_writer_to(&body);
        buf_clear(&body);
        json_form(&w, "{'RequestItems':{");
        json_name_slice(&w, slice_str(writes->table));
        buf_slice(&body, requests);
        buf_text(&body, "}}");
        ok = target_fine(writes->target,
                         target_call(writes->target, "BatchWriteItem", buf_view(&body)));
        struct slice left =
            json_member(buf_view(&writes->target->response), "UnprocessedItems", &arena);
        left = left.ptr == NULL ? left : json_member(left, writes->table, &arena);
        requests = left.ptr == NULL ? left : arena_copy(&arena, left);
        if (ok && requests.ptr != NULL)
            sleep_ms(20L << (try < 7 ? try : 7) < PAUSE_MAX_MS ? 20L << (try < 7 ? try : 7)
                                                               : PAUSE_MAX_MS);
    }
    ok = ok && (requests.ptr == NULL ||
                cli_fail(writes->target->input,
                         "table '%s' of %s takes no more writes: raise its capacity, or copy "
                         "with --rate.",
                         writes->table, writes->copy->target.text));
    buf_release(&body);
    arena_release(&arena);
    return ok;
}

bool writes_flush(struct writes *writes)
{
    struct buf list;
    if (writes->count == 0)
        return true;
    keep_pace(writes->copy, writes->count);
    buf_init(&list, LIMIT_BODY + BATCH_BYTES);
    for (size_t i = 0; i < writes->count; i++) {
        buf_byte(&list, i == 0 ? '[' : ',');
        buf_slice(&list, writes->requests[i]);
    }
    buf_byte(&list, ']');
    bool ok = list.failed ? cli_fail(writes->target->input, "there is not enough memory.")
                          : send(writes, buf_view(&list));
    buf_release(&list);
    if (ok)
        atomic_fetch_add(&writes->copy->written, writes->count);
    writes->count = 0;
    writes->bytes = 0;
    arena_reset(&writes->arena);
    return ok;
}

// The place of a key in the batch; a new one if it is not there.
static size_t place_of(const struct writes *writes, struct slice key)
{
    for (size_t i = 0; key.len > 0 && i < writes->count; i++)
        if (slice_equal(writes->keys[i], key))
            return i;
    return writes->count;
}

static bool add(struct writes *writes, struct slice key, const char *before, struct slice text)
{
    size_t at = place_of(writes, key);
    bool full = at == COUNT_OF(writes->requests) || writes->bytes + text.len > BATCH_BYTES;
    if (full && !writes_flush(writes))
        return false;
    at = full ? 0 : at;
    struct buf request;
    buf_init(&request, MEMORY);
    buf_text(&request, before);
    buf_slice(&request, text);
    buf_text(&request, "}}");
    writes->keys[at] = arena_copy(&writes->arena, key);
    writes->requests[at] = arena_copy(&writes->arena, buf_view(&request));
    bool ok = !request.failed && writes->requests[at].ptr != NULL;
    buf_release(&request);
    writes->count += at == writes->count;
    writes->bytes += text.len;
    return ok || cli_fail(writes->target->input, "there is not enough memory.");
}

bool writes_put(struct writes *writes, struct slice key, struct slice item)
{
    return add(writes, key, "{\"PutRequest\":{\"Item\":", item);
}

bool writes_delete(struct writes *writes, struct slice key, struct slice key_text)
{
    return add(writes, key, "{\"DeleteRequest\":{\"Key\":", key_text);
}
