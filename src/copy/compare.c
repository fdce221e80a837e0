// Whether both sides have the same items: see copy.h.
//
// Every item has a bucket, by its key. For each bucket both sides add up the digests of its items,
// which does not depend on the order in which a Scan finds them. Where the sums differ, the keys of
// the bucket are gathered on both sides, and each key that differs is read again: what is written
// meanwhile may be on one side only for a moment.
#include "copy/copy.h"

#include "base/limits.h"
#include "base/wait.h"
#include "value/digest.h"
#include "json/shape.h"

#include <stdlib.h>

enum {
    BUCKETS = 4096,
    SEGMENTS = 4,
    PAGE_MEMORY = 256 << 20,
    KEYS_MEMORY = 256 << 20,
    TOLD = 20,        // differences that are shown one by one
    LOOKS = 5,        // until a difference is one
    LOOK_MS = 300,    //
    KEYS_MAX = 100000 // that are gathered at a time
};

struct bucket {
    uint64_t sum[2];
    uint64_t count;
};

// A key of a bucket that differs.
struct found {
    uint8_t key[DIGEST_BYTES];
    uint8_t item[DIGEST_BYTES];
    struct slice text; // of the key, JSON
};

struct side {
    struct place *place;
    struct bucket buckets[BUCKETS];
    uint64_t items;
    struct arena arena; // of found
    struct found *found;
    size_t found_count;
    bool overfull;
};

struct comparison {
    struct copy *copy;
    struct copy_table *table;
    struct side sides[2];
    const bool *wanted; // buckets whose keys are gathered; NULL: sums are made
    _Atomic bool failed;
    pthread_mutex_t lock;
};

struct reader {
    struct comparison *comparison;
    struct side *side;
    unsigned segment;
    struct cli_input input;
    struct target target;
    struct arena page;
    struct bucket *buckets;
    uint64_t items;
    pthread_t thread;
};

// ---- Items ------------------------------------------------------------------------------------

// The key of an item, as a value; in the arena. Empty if it has none.
static struct slice key_of(const struct copy_table *table, struct slice item, struct buf *out)
{
    buf_clear(out);
    struct value_iter iter;
    for (size_t i = 0; i < table->key_count; i++) {
        value_iter_init(&iter, item);
        while (value_iter_next(&iter))
            if (slice_equal(iter.name, table->keys[i]))
                buf_slice(out, iter.value);
    }
    return buf_view(out);
}

static struct slice key_text(const struct copy_table *table, struct slice item, struct arena *arena)
{
    struct buf text;
    struct value_iter iter;
    buf_init(&text, 1 << 20);
    struct json_writer w = json_writer_to(&text);
    json_open_object(&w);
    for (size_t i = 0; i < table->key_count; i++) {
        value_iter_init(&iter, item);
        while (value_iter_next(&iter)) {
            if (!slice_equal(iter.name, table->keys[i]))
                continue;
            json_name_slice(&w, iter.name);
            json_value(&w, iter.value);
        }
    }
    json_close_object(&w);
    struct slice copied = arena_copy(arena, buf_view(&text));
    buf_release(&text);
    return copied;
}

static void gather(struct reader *reader, struct slice item, const uint8_t *key,
                   const uint8_t *digest)
{
    struct comparison *c = reader->comparison;
    struct side *side = reader->side;
    (void)pthread_mutex_lock(&c->lock);
    struct slice text =
        side->found_count < KEYS_MAX ? key_text(c->table, item, &side->arena) : VALUE_NONE;
    side->overfull = side->overfull || text.ptr == NULL;
    if (text.ptr != NULL) {
        struct found *found = &side->found[side->found_count++];
        memcpy(found->key, key, DIGEST_BYTES);
        memcpy(found->item, digest, DIGEST_BYTES);
        found->text = text;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void take_item(struct reader *reader, struct slice item, struct buf *scratch)
{
    uint8_t key[DIGEST_BYTES];
    uint8_t digest[DIGEST_BYTES];
    uint64_t halves[2];
    const bool *wanted = reader->comparison->wanted;
    item_digest(key_of(reader->comparison->table, item, scratch), key);
    item_digest(item, digest);
    size_t number = ((size_t)key[0] << 8 | key[1]) % BUCKETS;
    reader->items++;
    if (wanted != NULL) {
        if (wanted[number])
            gather(reader, item, key, digest);
        return;
    }
    memcpy(halves, digest, sizeof(halves));
    reader->buckets[number].sum[0] += halves[0];
    reader->buckets[number].sum[1] += halves[1];
    reader->buckets[number].count++;
}

// ---- Reading ----------------------------------------------------------------------------------

static bool ask_page(struct reader *reader, struct slice after)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%s,'ConsistentRead':true,'Segment':%zu,'TotalSegments':%zu",
              reader->comparison->table->name, (size_t)reader->segment, (size_t)SEGMENTS);
    if (after.len > 0) {
        json_form(&w, "'ExclusiveStartKey':");
        buf_slice(&body, after);
    }
    json_close_object(&w);
    bool ok = target_fine(&reader->target, target_call(&reader->target, "Scan", buf_view(&body)));
    buf_release(&body);
    return ok;
}

static bool read_page(struct reader *reader, struct buf *after, struct buf *scratch)
{
    struct error error;
    struct slice text;
    struct slice item;
    arena_reset(&reader->page);
    error_init(&error, &reader->page);
    if (!ask_page(reader, buf_view(after)))
        return false;
    struct slice answer = buf_view(&reader->target.response);
    struct json_list items = json_list(answer, "Items", &reader->page);
    while (json_list_next(&items, &text)) {
        if (!json_decode_item(text, &reader->page, &item, &error))
            return cli_fail(&reader->input, "an item of %s cannot be read: %s.",
                            reader->side->place->text, error.message);
        take_item(reader, item, scratch);
    }
    struct slice last = json_member(answer, "LastEvaluatedKey", &reader->page);
    buf_clear(after);
    buf_slice(after, last);
    return true;
}

static void *read_segment(void *context)
{
    struct reader *reader = context;
    struct comparison *c = reader->comparison;
    struct buf after;
    struct buf scratch;
    bool ok;
    buf_init(&after, 1 << 20);
    buf_init(&scratch, 1 << 20);
    do {
        ok = !atomic_load(&c->failed) && read_page(reader, &after, &scratch);
    } while (ok && after.len > 0);
    if (!ok)
        atomic_store(&c->failed, true);
    (void)pthread_mutex_lock(&c->lock);
    reader->side->items += reader->items;
    for (size_t i = 0; i < BUCKETS; i++) {
        reader->side->buckets[i].sum[0] += reader->buckets[i].sum[0];
        reader->side->buckets[i].sum[1] += reader->buckets[i].sum[1];
        reader->side->buckets[i].count += reader->buckets[i].count;
    }
    (void)pthread_mutex_unlock(&c->lock);
    buf_release(&after);
    buf_release(&scratch);
    return NULL;
}

// Goes through all items of both sides.
static bool read_both(struct comparison *c)
{
    struct reader *readers = memory_zeroed(2 * SEGMENTS * sizeof(*readers));
    for (unsigned i = 0; i < 2 * SEGMENTS; i++) {
        struct reader *reader = &readers[i];
        *reader = (struct reader){.comparison = c, .side = &c->sides[i % 2], .segment = i / 2};
        reader->input = *c->copy->input;
        reader->buckets = memory_zeroed(BUCKETS * sizeof(*reader->buckets));
        place_share(reader->side->place, &reader->input, &reader->target);
        arena_init(&reader->page, PAGE_MEMORY);
        ensure(pthread_create(&reader->thread, NULL, read_segment, reader) == 0);
    }
    for (unsigned i = 0; i < 2 * SEGMENTS; i++) {
        (void)pthread_join(readers[i].thread, NULL);
        place_unshare(&readers[i].target);
        arena_release(&readers[i].page);
        free(readers[i].buckets);
    }
    free(readers);
    return !atomic_load(&c->failed);
}

// ---- Differences ------------------------------------------------------------------------------

static int compare_found(const void *a, const void *b)
{
    return memcmp(((const struct found *)a)->key, ((const struct found *)b)->key, DIGEST_BYTES);
}

// The digest of an item now; of nothing if it is not there.
static bool look(struct comparison *c, struct side *side, struct slice key,
                 uint8_t out[DIGEST_BYTES])
{
    struct arena arena;
    struct error error;
    struct buf body;
    struct slice item = VALUE_NONE;
    struct target *target = &side->place->target;
    arena_init(&arena, PAGE_MEMORY);
    error_init(&error, &arena);
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%s,'ConsistentRead':true,'Key':", c->table->name);
    buf_slice(&body, key);
    buf_byte(&body, '}');
    bool ok = target_fine(target, target_call(target, "GetItem", buf_view(&body)));
    struct slice text =
        ok ? json_member(buf_view(&target->response), "Item", &arena) : slice_of(NULL, 0);
    ok = ok && (text.len == 0 || json_decode_item(text, &arena, &item, &error));
    memset(out, 0, DIGEST_BYTES);
    if (ok && item.len > 0)
        item_digest(item, out);
    buf_release(&body);
    arena_release(&arena);
    return ok;
}

enum verdict { SAME, MISSING, SURPLUS, OTHER, UNREAD };

// Looks a few times: changes may be on their way.
static enum verdict judge(struct comparison *c, struct slice key)
{
    static const uint8_t none[DIGEST_BYTES] = {0};
    uint8_t now[2][DIGEST_BYTES];
    for (int i = 0; i < LOOKS; i++) {
        if (i > 0)
            sleep_ms(LOOK_MS);
        if (!look(c, &c->sides[0], key, now[0]) || !look(c, &c->sides[1], key, now[1]))
            return UNREAD;
        if (memcmp(now[0], now[1], DIGEST_BYTES) == 0)
            return SAME;
    }
    return memcmp(now[1], none, DIGEST_BYTES) == 0   ? MISSING
           : memcmp(now[0], none, DIGEST_BYTES) == 0 ? SURPLUS
                                                     : OTHER;
}

struct tally {
    uint64_t counts[UNREAD + 1];
    uint64_t told;
};

static bool tell(struct comparison *c, struct tally *tally, struct slice key)
{
    static const char *const words[] = {[MISSING] = "missing at the target",
                                        [SURPLUS] = "only at the target",
                                        [OTHER] = "different"};
    enum verdict verdict = judge(c, key);
    tally->counts[verdict]++;
    if (verdict == UNREAD)
        return false;
    if (verdict != SAME && tally->told++ < TOLD)
        (void)fprintf(stderr, "  %s: %.*s\n", words[verdict], SLICE_FMT(key));
    return true;
}

// Goes through the keys of both sides, in order, and judges those that differ.
static bool compare_keys(struct comparison *c, struct tally *tally)
{
    const struct found *at[2] = {c->sides[0].found, c->sides[1].found};
    const struct found *end[2];
    for (int i = 0; i < 2; i++) {
        end[i] = at[i] + c->sides[i].found_count;
        qsort(c->sides[i].found, c->sides[i].found_count, sizeof(struct found), compare_found);
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        int order = at[0] == end[0]   ? 1
                    : at[1] == end[1] ? -1
                                      : memcmp(at[0]->key, at[1]->key, DIGEST_BYTES);
        struct slice key = order <= 0 ? at[0]->text : at[1]->text;
        bool same = order == 0 && memcmp(at[0]->item, at[1]->item, DIGEST_BYTES) == 0;
        if (!same && !tell(c, tally, key))
            return false;
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
    return true;
}

static bool tell_keys(struct comparison *c, const bool *wanted, struct tally *tally)
{
    for (int i = 0; i < 2; i++) {
        struct side *side = &c->sides[i];
        arena_init(&side->arena, KEYS_MEMORY);
        side->found = memory_zeroed(KEYS_MAX * sizeof(*side->found));
    }
    c->wanted = wanted;
    bool ok = read_both(c);
    bool overfull = c->sides[0].overfull || c->sides[1].overfull;
    if (ok && overfull)
        ok = cli_fail(c->copy->input, "table '%s' differs in too many places to list them.",
                      c->table->name);
    ok = ok && compare_keys(c, tally);
    for (int i = 0; i < 2; i++) {
        arena_release(&c->sides[i].arena);
        free(c->sides[i].found);
    }
    return ok;
}

static bool compare_table(struct copy *copy, struct copy_table *table)
{
    bool wanted[BUCKETS] = {false};
    bool differ = false;
    struct tally tally = {.told = 0};
    struct comparison *c = memory_zeroed(sizeof(*c));
    *c = (struct comparison){.copy = copy, .table = table};
    c->sides[0].place = &copy->source;
    c->sides[1].place = &copy->target;
    ensure(pthread_mutex_init(&c->lock, NULL) == 0);
    bool ok = read_both(c);
    for (size_t i = 0; ok && i < BUCKETS; i++) {
        wanted[i] =
            memcmp(&c->sides[0].buckets[i], &c->sides[1].buckets[i], sizeof(struct bucket)) != 0;
        differ = differ || wanted[i];
    }
    uint64_t items = c->sides[0].items;
    if (ok && differ)
        ok = tell_keys(c, wanted, &tally);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
    if (!ok)
        return false;
    uint64_t wrong = tally.counts[MISSING] + tally.counts[SURPLUS] + tally.counts[OTHER];
    if (wrong > 0)
        return cli_fail(copy->input,
                        "table '%s' differs: %llu missing, %llu only at the target, %llu "
                        "different.",
                        table->name, (unsigned long long)tally.counts[MISSING],
                        (unsigned long long)tally.counts[SURPLUS],
                        (unsigned long long)tally.counts[OTHER]);
    if (!copy->quiet)
        cli_note(copy->input, "table '%s' is equal at both places: %llu items.", table->name,
                 (unsigned long long)items);
    return true;
}

bool compare_all(struct copy *copy)
{
    bool same = true;
    for (size_t i = 0; i < copy->table_count; i++)
        same = compare_table(copy, &copy->tables[i]) && same;
    return same;
}
