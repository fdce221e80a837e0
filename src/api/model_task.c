// Requests about models that read whole tables or wait for several changes: they are answered on a
// thread of their own, so that neither a connection loop nor the writer waits for them.
#include "api/model.h"

#include "engine/layout.h"

#include <stdlib.h>

enum { PAGE_ITEMS = 256, PAGE_MEMORY = 64 << 20 };

// ---- Later ------------------------------------------------------------------------------------

struct later {
    struct task task; // first
    struct api_call *call;
    void (*run)(struct api_call *call, const void *request);
};

static void later_run(struct task *task, struct api *api)
{
    struct later *later = (struct later *)task;
    struct api_call *call = later->call;
    if (background_stopping(api))
        (void)error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping.");
    else
        later->run(call, call->state->request);
    free(later);
    call->done(call);
}

// The answer is there already.
void model_finish(struct api_call *call, const void *request)
{
    (void)call;
    (void)request;
}

enum step model_call_later(struct api_call *call, enum background_lane lane,
                           void (*run)(struct api_call *call, const void *request))
{
    struct later *later = calloc(1, sizeof(*later));
    ensure_memory(later);
    later->task.run = later_run;
    later->task.lane = lane;
    later->call = call;
    later->run = run;
    if (background_submit(call->api, &later->task))
        return STEP_PENDING;
    free(later);
    (void)error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping.");
    return STEP_FAILED;
}

bool model_inner_call(struct api *api, struct slice region, const char *operation,
                      struct slice body, struct error *error)
{
    struct api_call call;
    bool ok;
    struct background_patience patience = {.tries = 0};
    do {
        api_call_init(&call, api);
        call.operation = slice_str(operation);
        if (region.len > 0)
            call.region = region;
        call.body = body;
        api_call_run(&call);
        ok = call.status == 200;
        if (!ok)
            (void)error_set(error, call.error.code, "%s", call.error.message);
        api_call_release(&call);
    } while (!ok && background_retry(api, &patience, error));
    return ok;
}

// ---- Walking ----------------------------------------------------------------------------------

bool model_walk(struct api *api, struct table *table, struct buf *after, uint64_t limit,
                bool (*visit)(void *context, struct slice item), void *context, bool *ended,
                struct error *error)
{
    struct arena arena;
    arena_init(&arena, PAGE_MEMORY);
    struct page_request page = {
        .table = table,
        .segments = 1,
        .after = buf_view(after),
        .limit = limit > 0 && limit < PAGE_ITEMS ? limit : PAGE_ITEMS,
        .emit = visit,
        .context = context,
        .arena = &arena,
    };
    bool ok = engine_page(api->engine, &page, error);
    if (ok && page.last.len > 0) {
        buf_clear(after);
        layout_item_key(after, table->tree, &table->keys, page.last);
        ok = !after->failed || error_budget(error);
    }
    *ended = page.last.len == 0;
    arena_release(&arena);
    return ok;
}

struct slice model_key_of(const struct table *table, struct slice item, struct arena *arena)
{
    struct buf bytes;
    struct value_builder b;
    buf_init(&bytes, 1 << 16);
    value_builder_init(&b, &bytes);
    value_open_map(&b);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        value_name(&b, table->keys.parts[i].name);
        value_put(&b, value_get(item, table->keys.parts[i].name));
    }
    (void)value_close(&b);
    struct slice key = bytes.failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(&bytes));
    value_builder_release(&b);
    buf_release(&bytes);
    return key;
}

// ---- Samples ----------------------------------------------------------------------------------

void model_sample_add(struct model_samples *samples, struct arena *arena, struct slice key,
                      struct slice text)
{
    if (samples->count == MODEL_SAMPLES)
        return;
    struct model_sample sample = {arena_copy(arena, key), arena_copy(arena, text)};
    if (sample.key.ptr != NULL && sample.text.ptr != NULL)
        samples->list[samples->count++] = sample;
}

void model_samples_json(struct json_writer *w, const char *name,
                        const struct model_samples *samples)
{
    json_put_array(w, name);
    for (size_t i = 0; i < samples->count; i++) {
        json_open_object(w);
        json_name(w, "Key");
        json_item(w, samples->list[i].key);
        if (samples->list[i].text.len > 0)
            json_put_string(w, "Text", samples->list[i].text);
        json_close_object(w);
    }
    json_close_array(w);
}

void model_samples_encode(struct map_maker *maker, const char *name,
                          const struct model_samples *samples)
{
    struct value_builder *b = &maker->b;
    if (samples->count == 0)
        return;
    value_name(b, slice_str(name));
    value_open_list(b);
    for (size_t i = 0; i < samples->count; i++) {
        value_open_map(b);
        value_name(b, SLICE_LIT("key"));
        value_put(b, samples->list[i].key);
        value_name(b, SLICE_LIT("text"));
        value_put_string(b, samples->list[i].text);
        (void)value_close(b);
    }
    (void)value_close(b);
}

void model_samples_decode(struct slice list, struct model_samples *out)
{
    struct value_iter iter;
    out->count = 0;
    if (list.len == 0 || value_type(list) != VALUE_L)
        return;
    value_iter_init(&iter, list);
    while (out->count < MODEL_SAMPLES && value_iter_next(&iter))
        out->list[out->count++] = (struct model_sample){map_value(iter.value, SLICE_LIT("key")),
                                                        map_text(iter.value, "text")};
}
