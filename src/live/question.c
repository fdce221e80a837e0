// A pattern with its arguments, compiled, and the events of its result.
//
// Whether an image is in the result is asked in the order of what it costs: the place of the item
// in the index (bytes, compared with the bounds of the range), the tenant, the filter, the entity.
//
// An event is
//
//   id: <sequence and time, signed>
//   event: put
//   data: {"key":"<digest of the item's key>","item":{…}}
//
// The id is signed for the question (`scope`), and so is of no use for another one.
#define OPENSSL_SUPPRESS_DEPRECATED // the EVP calls fetch the algorithm anew for every event
#include "base/encode.h"
#include "guard/guard.h"
#include "live/live_internal.h"
#include "tables/table_settings.h"
#include "value/digest.h"

#include <stdlib.h>

enum { SIGN_BLOCK = 64, ID_TEXT_MAX = 256 };

// ---- Making ----------------------------------------------------------------------------------

static bool copy_ask(struct live_question *q, const struct live_ask *ask)
{
    size_t count = ask->access->param_count;
    struct slice *values = arena_zalloc(&q->arena, count + 1, sizeof(*values));
    q->ask = *ask;
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        values[i] =
            ask->values[i].len == 0 ? ask->values[i] : arena_copy(&q->arena, ask->values[i]);
        if (values[i].ptr == NULL && ask->values[i].len > 0)
            return false;
    }
    q->ask.values = values;
    q->ask.tenant = ask->tenant.len == 0 ? slice_of(NULL, 0) : arena_copy(&q->arena, ask->tenant);
    return ask->tenant.len == 0 || q->ask.tenant.ptr != NULL;
}

static void scope_part(struct buf *out, struct slice part)
{
    uint8_t len[8];
    be64_put(len, part.len);
    buf_add(out, len, sizeof(len));
    buf_slice(out, part);
}

// Table, model, pattern, arguments, and who asks: another of these is another question.
static bool make_scope(struct live_question *q)
{
    struct buf text;
    uint8_t numbers[10];
    buf_init(&text, QUESTION_MEMORY);
    buf_text(&text, "live");
    scope_part(&text, q->table->uuid);
    scope_part(&text, q->table->model);
    scope_part(&text, q->ask.access->name);
    for (size_t i = 0; i < q->ask.access->param_count; i++)
        scope_part(&text, q->ask.values[i]);
    scope_part(&text, q->ask.tenant);
    be64_put(numbers, q->ask.limit);
    numbers[8] = q->ask.bound;
    numbers[9] = q->ask.keys;
    buf_add(&text, numbers, sizeof(numbers));
    q->scope = arena_keep(&q->arena, &text);
    return q->scope.ptr != NULL;
}

// HMAC-SHA-256, begun with the secret and the scope.
static void signing_begin(struct live_question *q)
{
    static const uint8_t pads[] = {0x36, 0x5c};
    for (size_t i = 0; i < COUNT_OF(pads); i++) {
        uint8_t block[SIGN_BLOCK];
        for (size_t k = 0; k < SIGN_BLOCK; k++)
            block[k] = (uint8_t)((k < LIVE_SECRET ? q->live->secret[k] : 0) ^ pads[i]);
        SHA256_Init(&q->signing[i]);
        SHA256_Update(&q->signing[i], block, SIGN_BLOCK);
    }
    SHA256_Update(&q->signing[0], q->scope.ptr, q->scope.len);
}

// Where the keys of the result stand: of a GetItem one key, whose successor ends it.
static bool make_bounds(struct live_question *q, struct error *error)
{
    const struct model_access *access = q->ask.access;
    if (access->get) {
        layout_item_key(&q->lower, q->table->tree, &q->table->keys, q->plan->key);
        buf_slice(&q->upper, buf_view(&q->lower));
        buf_byte(&q->upper, 0);
        return !q->upper.failed || error_budget(error);
    }
    struct expr_key *key;
    const struct key_schema *keys = q->index == NULL ? &q->table->keys : &q->index->keys;
    if (!access_compile(q->plan, &q->arena, &key, &q->filter, error) ||
        !expr_key_resolve(key, keys, &q->range, error))
        return false;
    struct page_request page = {
        .table = q->table, .index = q->index, .query = true, .range = q->range};
    engine_page_bounds(&page, &q->lower, &q->upper);
    return (!q->lower.failed && !q->upper.failed) || error_budget(error);
}

static bool find_index(struct live_question *q, struct error *error)
{
    const struct model_index *index = q->ask.access->index;
    if (index == NULL)
        return true;
    q->index = table_index(q->table, index->name);
    return (q->index != NULL && q->index->status == INDEX_ACTIVE) ||
           error_set(error, ERR_RESOURCE_IN_USE, "Index %.*s is not ready yet",
                     SLICE_FMT(index->name));
}

static bool question_make(struct live_question *q, const struct live_ask *ask, struct error *error)
{
    if (q->table->guard == NULL || model_guard_table(q->table->guard) != ask->access->table)
        return error_set(error, ERR_RESOURCE_IN_USE, "The model of the table was just changed");
    q->model = model_hold((struct model *)(uintptr_t)ask->access->table->model);
    if (!copy_ask(q, ask) || !make_scope(q) || !find_index(q, error))
        return error->code != ERR_NONE ? false : error_budget(error);
    signing_begin(q);
    struct access_options options = {.limit = ask->limit};
    q->plan = access_plan(ask->access, q->ask.values, &options, &q->arena, error);
    if (q->plan == NULL || !make_bounds(q, error))
        return false;
    q->reader = (struct write_origin){.tenant = q->ask.tenant, .bound = ask->bound};
    q->bound = ask->bound ? &q->reader : NULL;
    q->top.limit = live_question_limit(q);
    q->top.reverse = ask->access->descending;
    return access_view_init(&q->view, ask->access, ask->keys, &q->arena) || error_budget(error);
}

struct live_question *live_question_new(struct live *live, const struct live_ask *ask,
                                        struct error *error)
{
    struct live_question *q = calloc(1, sizeof(*q));
    if (q == NULL)
        return error_no_memory(error);
    q->live = live;
    arena_init(&q->arena, QUESTION_MEMORY);
    arena_init(&q->scratch, EVENT_MAX);
    buf_init(&q->lower, 1 << 16);
    buf_init(&q->upper, 1 << 16);
    buf_init(&q->place, 1 << 16);
    buf_init(&q->image, LIMIT_ITEM_BYTES);
    buf_init(&q->other, LIMIT_ITEM_BYTES);
    q->table = engine_table(live->shop->engine, ask->access->table->name);
    bool made = q->table != NULL
                    ? question_make(q, ask, error)
                    : error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted");
    if (made)
        return q;
    live_question_free(q);
    return NULL;
}

void live_question_free(struct live_question *q)
{
    if (q == NULL)
        return;
    top_release(&q->top);
    table_release(q->table);
    model_release(q->model);
    arena_release(&q->arena);
    arena_release(&q->scratch);
    buf_release(&q->lower);
    buf_release(&q->upper);
    buf_release(&q->place);
    buf_release(&q->image);
    buf_release(&q->other);
    free(q);
}

const struct access_plan *live_question_plan(const struct live_question *q)
{
    return q->plan;
}

uint64_t live_question_limit(const struct live_question *q)
{
    if (q->plan->access->get)
        return 0;
    return q->plan->access->one ? 1 : q->plan->limit;
}

// ---- Images ----------------------------------------------------------------------------------

// The item as a page of the pattern has it, in `out` if it is not all of it.
static struct slice image_of(const struct live_question *q, struct slice item, struct buf *out)
{
    if (item.len == 0 || q->index == NULL || q->index->projection == PROJECT_ALL)
        return item;
    struct value_builder builder;
    buf_clear(out);
    value_builder_init(&builder, out);
    layout_index_view(&builder, q->table, q->index, item);
    value_builder_release(&builder);
    return out->failed ? VALUE_NONE : buf_view(out);
}

static bool place_of(struct live_question *q, struct slice item)
{
    buf_clear(&q->place);
    if (q->index == NULL)
        layout_item_key(&q->place, q->table->tree, &q->table->keys, item);
    else if (!layout_index_key(&q->place, q->table, q->index, item))
        return false;
    struct slice place = buf_view(&q->place);
    return !q->place.failed && slice_compare(place, buf_view(&q->lower)) >= 0 &&
           slice_compare(place, buf_view(&q->upper)) < 0;
}

bool question_has(struct live_question *q, struct slice item, const struct model_entity **entity)
{
    struct steps steps = {.limit = LIMIT_PAGE_WORK};
    return item.len > 0 && place_of(q, item) && guard_shows(q->table->guard, q->bound, item) &&
           (q->filter == NULL ||
            (expr_condition_eval(q->filter, item, &steps) && !steps_over(&steps))) &&
           access_view_shows(&q->view, item, &steps, entity);
}

void question_id(struct live_question *q, struct slice item, uint8_t out[16])
{
    const struct key_schema *keys = &q->table->keys;
    struct buf bytes;
    struct value_builder builder;
    buf_init(&bytes, 1 << 16);
    value_builder_init(&builder, &bytes);
    value_open_map(&builder);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        value_name(&builder, keys->parts[i].name);
        value_put(&builder, value_get(item, keys->parts[i].name));
    }
    (void)value_close(&builder);
    item_digest(buf_view(&bytes), out);
    value_builder_release(&builder);
    buf_release(&bytes);
}

// ---- Ids -------------------------------------------------------------------------------------

static void id_sign(const struct live_question *q, const uint8_t place[ID_BYTES],
                    uint8_t out[SHA256_DIGEST_LENGTH])
{
    SHA256_CTX inner = q->signing[0];
    SHA256_CTX outer = q->signing[1];
    SHA256_Update(&inner, place, ID_BYTES);
    SHA256_Final(out, &inner);
    SHA256_Update(&outer, out, SHA256_DIGEST_LENGTH);
    SHA256_Final(out, &outer);
}

// Base64 as URLs have it, without padding: an id is a word.
static void id_text(struct buf *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 6; have -= 6)
            buf_byte(out, (uint8_t)digits[bits >> (have - 6) & 63]);
    }
    if (have > 0)
        buf_byte(out, (uint8_t)digits[bits << (6 - have) & 63]);
}

static bool id_bytes(struct slice text, uint8_t out[ID_TAG + ID_BYTES])
{
    struct buf padded;
    struct buf bytes;
    buf_init(&padded, ID_TEXT_MAX);
    buf_init(&bytes, ID_TEXT_MAX);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool odd = c == '+' || c == '/' || c == '=';
        buf_byte(&padded, c == '-' ? '+' : c == '_' ? '/' : odd ? '!' : c);
    }
    while (padded.len % 4 != 0 && !padded.failed)
        buf_byte(&padded, '=');
    bool fine = !padded.failed && base64_decode(&bytes, buf_view(&padded)) &&
                bytes.len == ID_TAG + ID_BYTES;
    if (fine)
        memcpy(out, bytes.ptr, ID_TAG + ID_BYTES);
    buf_release(&padded);
    buf_release(&bytes);
    return fine;
}

static void write_id(const struct live_question *q, uint64_t sequence, int64_t time_ms,
                     struct buf *out)
{
    uint8_t tag[SHA256_DIGEST_LENGTH];
    uint8_t id[ID_TAG + ID_BYTES];
    be64_put(id + ID_TAG, sequence);
    be64_put(id + ID_TAG + 8, (uint64_t)time_ms);
    id_sign(q, id + ID_TAG, tag);
    memcpy(id, tag, ID_TAG);
    buf_text(out, "id: ");
    id_text(out, id, sizeof(id));
    buf_byte(out, '\n');
}

bool live_resume(struct live_question *q, struct slice text, uint64_t *sequence, int64_t *time_ms)
{
    uint8_t id[ID_TAG + ID_BYTES];
    uint8_t tag[SHA256_DIGEST_LENGTH];
    uint8_t difference = 0;
    struct table_settings settings;
    if (text.len > 64 || !id_bytes(text, id))
        return false;
    id_sign(q, id + ID_TAG, tag);
    for (size_t i = 0; i < ID_TAG; i++) // in a time that does not depend on where they differ
        difference |= id[i] ^ tag[i];
    *sequence = be64_get(id + ID_TAG);
    *time_ms = (int64_t)be64_get(id + ID_TAG + 8);
    table_settings_read(q->table, &settings);
    return difference == 0 && settings.live > 0 && *sequence + 1 >= (uint64_t)settings.live &&
           *sequence <= engine_sequence(q->live->shop->engine) &&
           live_now(q->live) - *time_ms < LIVE_RESUME_MS;
}

// ---- Events ----------------------------------------------------------------------------------

static void write_key(const uint8_t id[16], struct buf *out)
{
    buf_text(out, "data: {\"key\":\"");
    id_text(out, id, 16);
    buf_byte(out, '"');
}

static bool write_image(struct live_question *q, const uint8_t id[16],
                        const struct model_entity *entity, struct slice image, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    write_key(id, out);
    buf_text(out, ",\"item\":");
    bool written = access_view_write(&q->view, entity, image, &q->scratch, &w);
    buf_text(out, "}\n\n");
    arena_reset(&q->scratch);
    return written;
}

void question_write_put(struct live_question *q, const struct log_entry *entry,
                        const uint8_t id[16], const struct model_entity *entity, struct slice item,
                        struct buf *out)
{
    write_id(q, entry->sequence, entry->time_ms, out);
    buf_text(out, "event: put\n");
    struct slice image = image_of(q, item, &q->image);
    if (!write_image(q, id, entity, image, out))
        out->failed = true;
}

void question_write_remove(struct live_question *q, const struct log_entry *entry,
                           const uint8_t id[16], struct buf *out)
{
    write_id(q, entry->sequence, entry->time_ms, out);
    buf_text(out, "event: remove\n");
    write_key(id, out);
    buf_text(out, "}\n\n");
}

unsigned question_change(struct live_question *q, const struct log_entry *entry, struct buf *out)
{
    const struct model_entity *entity;
    uint8_t id[16];
    bool was = question_has(q, entry->old_item, &entity);
    bool is = question_has(q, entry->new_item, &entity);
    if (!was && !is)
        return 0;
    // What the index does not have of the item may change without the result doing so.
    if (was && is && q->index != NULL && q->index->projection != PROJECT_ALL &&
        slice_equal(image_of(q, entry->old_item, &q->other),
                    image_of(q, entry->new_item, &q->image)))
        return 0;
    item_digest(entry->keys, id);
    if (is)
        question_write_put(q, entry, id, entity, entry->new_item, out);
    else
        question_write_remove(q, entry, id, out);
    return 1;
}

// The items of a page come in order, so that those of one that is read again stand at the end.
void live_page_begin(struct live_question *q, uint64_t shown)
{
    while (q->top.count > shown)
        top_remove(&q->top, q->top.count - 1);
}

bool live_write_item(struct live_question *q, struct slice item, struct steps *steps, bool *shown,
                     struct buf *out)
{
    const struct model_entity *entity;
    uint8_t id[16];
    *shown = access_view_shows(&q->view, item, steps, &entity);
    if (!*shown)
        return true;
    question_id(q, item, id);
    if (q->top.limit > 0) {
        *shown = q->top.count < q->top.limit;
        if (!*shown)
            return true;
        // What a page has of the item has the attributes of all keys.
        if (!place_of(q, item) || !top_insert(&q->top, buf_view(&q->place), id))
            return false;
    }
    buf_text(out, "event: item\n");
    return write_image(q, id, entity, item, out);
}

void live_write_ready(struct live_question *q, uint64_t sequence, int64_t time_ms, uint64_t count,
                      struct buf *out)
{
    write_id(q, sequence, time_ms, out);
    buf_printf(out, "event: ready\ndata: {\"count\":%llu}\n\n", (unsigned long long)count);
}

// The id is none: whoever comes again before the result is whole begins anew.
void live_write_reset(const char *reason, struct buf *out)
{
    buf_printf(out, "id: -\nevent: reset\ndata: {\"reason\":\"%s\"}\n\n", reason);
}
