// See evidence.h. For the table and for each index there is a hash table of partition keys with
// counts; its memory grows with the number of different keys, so that callers bound what they add.
#include "lint/evidence.h"

#include "guard/entity.h"
#include "value/number.h"
#include "json/writer.h"

#include <stdlib.h>

enum { TOP = 3 }; // of the hottest keys

struct partition {
    struct slice key; // its text, parts joined by " + "
    uint64_t items;
    uint64_t bytes;
};

struct place { // the table, or an index
    const struct model_index *index;
    uint64_t items;
    uint64_t partitions;
    size_t top_count;
    struct partition top[TOP]; // most items first
    struct partition largest;  // by bytes
};

enum { FORMS = 4 };

// The forms in which a timestamp is written: those that differ do not sort with each other.
struct times {
    const struct model_attribute *attribute;
    size_t count;
    struct form {
        struct slice example;
        uint64_t items;
    } forms[FORMS];
};

struct seen {
    const struct model_entity *entity;
    uint64_t items;
    uint64_t bytes;
    size_t time_count;
    struct times *times; // of its timestamps
};

struct slot {
    uint64_t hash;
    struct slice key; // encoded parts, in the arena
    uint64_t items;
    uint64_t bytes;
};

struct counts {
    size_t used;
    size_t room; // a power of two
    struct slot *slots;
};

struct evidence {
    const struct model_table *table;
    struct arena arena; // of keys
    uint64_t items;
    uint64_t unmatched;
    struct counts *counts; // by place
    struct place *places;
    struct seen *entities;
    struct buf scratch;
};

static bool entity_init(struct evidence *evidence, struct seen *out,
                        const struct model_entity *entity)
{
    out->entity = entity;
    out->times = arena_zalloc(&evidence->arena, entity->attribute_count + 1, sizeof(*out->times));
    for (size_t i = 0; out->times != NULL && i < entity->attribute_count; i++)
        if (entity->attributes[i].type->kind == MODEL_TIMESTAMP)
            out->times[out->time_count++].attribute = &entity->attributes[i];
    return out->times != NULL;
}

struct evidence *evidence_new(const struct model_table *table)
{
    struct evidence *evidence = calloc(1, sizeof(*evidence));
    if (evidence == NULL)
        return NULL;
    evidence->table = table;
    arena_init(&evidence->arena, SIZE_MAX);
    buf_init(&evidence->scratch, 1 << 20);
    evidence->counts = calloc(table->index_count + 1, sizeof(*evidence->counts));
    evidence->places = calloc(table->index_count + 1, sizeof(*evidence->places));
    evidence->entities = calloc(table->entity_count + 1, sizeof(*evidence->entities));
    if (evidence->counts == NULL || evidence->places == NULL || evidence->entities == NULL) {
        evidence_free(evidence);
        return NULL;
    }
    for (size_t i = 0; i < table->entity_count; i++) {
        if (!entity_init(evidence, &evidence->entities[i], &table->entities[i])) {
            evidence_free(evidence);
            return NULL;
        }
    }
    for (size_t i = 0; i < table->index_count; i++)
        evidence->places[i + 1].index = &table->indexes[i];
    return evidence;
}

void evidence_free(struct evidence *evidence)
{
    if (evidence == NULL)
        return;
    for (size_t i = 0; evidence->counts != NULL && i <= evidence->table->index_count; i++)
        free(evidence->counts[i].slots);
    free(evidence->counts);
    free(evidence->places);
    free(evidence->entities);
    buf_release(&evidence->scratch);
    arena_release(&evidence->arena);
    free(evidence);
}

// ---- Counting ------------------------------------------------------------------------------

static bool counts_grow(struct counts *counts)
{
    size_t room = counts->room == 0 ? 256 : 2 * counts->room;
    struct slot *slots = calloc(room, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < counts->room; i++) {
        if (counts->slots[i].items == 0)
            continue;
        size_t at = counts->slots[i].hash & (room - 1);
        while (slots[at].items > 0)
            at = (at + 1) & (room - 1);
        slots[at] = counts->slots[i];
    }
    free(counts->slots);
    counts->slots = slots;
    counts->room = room;
    return true;
}

static bool counts_add(struct counts *counts, struct arena *arena, struct slice key, size_t bytes)
{
    if (2 * counts->used >= counts->room && !counts_grow(counts))
        return false;
    uint64_t hash = key_hash(key);
    size_t at = hash & (counts->room - 1);
    while (counts->slots[at].items > 0 &&
           (counts->slots[at].hash != hash || !slice_equal(counts->slots[at].key, key)))
        at = (at + 1) & (counts->room - 1);
    struct slot *slot = &counts->slots[at];
    if (slot->items == 0) {
        slot->key = arena_copy(arena, key);
        if (slot->key.ptr == NULL)
            return false;
        slot->hash = hash;
        counts->used++;
    }
    slot->items++;
    slot->bytes += bytes;
    return true;
}

// The hash parts, encoded one behind the other; false if the item has no entry.
static bool hash_of(const struct key_schema *schema, struct slice item, struct buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++) {
        struct slice value = value_get(item, schema->parts[i].name);
        if (value.len == 0 || value_type(value) != schema->parts[i].type)
            return false;
        if (i < schema->hash_count)
            buf_slice(out, value);
    }
    return !out->failed;
}

// Digits do not matter: 2026-11-16T10:00:00Z and 2026-11-16T10:00:00.000Z are two forms.
static bool same_form(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        bool digits = a.ptr[i] >= '0' && a.ptr[i] <= '9' && b.ptr[i] >= '0' && b.ptr[i] <= '9';
        // A zone's own digits do (+01:00 and +02:00 sort differently). It begins behind the
        // seconds, which end at 19.
        bool zone = i > 19 && memchr(a.ptr + 19, '+', i - 19) != NULL;
        if (a.ptr[i] != b.ptr[i] && (!digits || zone))
            return false;
    }
    return true;
}

static bool note_times(struct evidence *evidence, struct seen *entity, struct slice item)
{
    for (size_t i = 0; i < entity->time_count; i++) {
        struct times *times = &entity->times[i];
        struct slice value = value_get(item, times->attribute->name);
        if (value.len == 0 || value_type(value) != VALUE_S)
            continue;
        size_t k = 0;
        while (k < times->count && !same_form(times->forms[k].example, value_bytes(value)))
            k++;
        if (k == FORMS)
            continue;
        if (k == times->count) {
            times->forms[k].example = arena_copy(&evidence->arena, value_bytes(value));
            if (times->forms[k].example.ptr == NULL)
                return false;
            times->count++;
        }
        times->forms[k].items++;
    }
    return true;
}

bool evidence_add(struct evidence *evidence, struct slice item)
{
    const struct model_table *table = evidence->table;
    size_t bytes = value_item_size(item);
    evidence->items++;
    for (size_t i = 0; i <= table->index_count; i++) {
        const struct key_schema *schema = i == 0 ? &table->keys : &table->indexes[i - 1].keys;
        if (!hash_of(schema, item, &evidence->scratch))
            continue;
        evidence->places[i].items++;
        if (!counts_add(&evidence->counts[i], &evidence->arena, buf_view(&evidence->scratch),
                        bytes))
            return false;
    }
    struct model_recognition found = model_recognise(table, item);
    if (found.entity == NULL) {
        evidence->unmatched++;
        return true;
    }
    struct seen *entity = &evidence->entities[found.entity - table->entities];
    entity->items++;
    entity->bytes += bytes;
    return note_times(evidence, entity, item);
}

// ---- Looking -------------------------------------------------------------------------------

size_t evidence_size(const struct evidence *evidence, const struct model_entity *entity)
{
    const struct seen *seen = &evidence->entities[entity - evidence->table->entities];
    return seen->items == 0 ? 0 : (size_t)(seen->bytes / seen->items);
}

static struct slice key_text(struct evidence *evidence, struct slice key)
{
    buf_clear(&evidence->scratch);
    while (key.len > 0) {
        struct slice value = slice_of(key.ptr, value_length(key.ptr));
        char text[NUMBER_TEXT_MAX];
        if (evidence->scratch.len > 0)
            buf_text(&evidence->scratch, " + ");
        if (value_type(value) == VALUE_N)
            buf_add(&evidence->scratch, text, number_to_text(value_bytes(value), text));
        else if (value_type(value) == VALUE_S)
            buf_slice(&evidence->scratch, value_bytes(value));
        else
            buf_text(&evidence->scratch, "(binary)");
        key = slice_of(key.ptr + value.len, key.len - value.len);
    }
    return arena_copy(&evidence->arena, buf_view(&evidence->scratch));
}

static void top_add(struct place *place, const struct slot *slot)
{
    size_t at = place->top_count;
    while (at > 0 && place->top[at - 1].items < slot->items)
        at--;
    if (at == TOP)
        return;
    if (place->top_count < TOP)
        place->top_count++;
    for (size_t i = place->top_count - 1; i > at; i--)
        place->top[i] = place->top[i - 1];
    place->top[at] = (struct partition){slot->key, slot->items, slot->bytes};
}

// What is known of a place now; valid until the next time it is asked for.
static const struct place *look_at(struct evidence *evidence, size_t place)
{
    struct place *out = &evidence->places[place];
    const struct counts *counts = &evidence->counts[place];
    out->partitions = counts->used;
    out->top_count = 0;
    out->largest = (struct partition){.items = 0};
    for (size_t i = 0; i < counts->room; i++) {
        const struct slot *slot = &counts->slots[i];
        if (slot->items == 0)
            continue;
        top_add(out, slot);
        if (slot->bytes > out->largest.bytes)
            out->largest = (struct partition){slot->key, slot->items, slot->bytes};
    }
    for (size_t i = 0; i < out->top_count; i++)
        out->top[i].key = key_text(evidence, out->top[i].key);
    out->largest.key = key_text(evidence, out->largest.key);
    return out;
}

// ---- Showing -------------------------------------------------------------------------------

static void show_bytes(struct buf *out, uint64_t bytes)
{
    if (bytes < 10240)
        buf_printf(out, "%llu B", (unsigned long long)bytes);
    else if (bytes < 10 << 20)
        buf_printf(out, "%.1f KB", (double)bytes / 1024);
    else
        buf_printf(out, "%.1f MB", (double)bytes / (1 << 20));
}

static void show_place(struct evidence *evidence, size_t which, struct buf *out)
{
    const struct place *place = look_at(evidence, which);
    struct slice name = place->index == NULL ? evidence->table->name : place->index->name;
    if (place->items == 0) {
        buf_printf(out, "  %.*s: empty\n", SLICE_FMT(name));
        return;
    }
    buf_printf(out, "  %.*s: %llu items in %llu partitions\n", SLICE_FMT(name),
               (unsigned long long)place->items, (unsigned long long)place->partitions);
    for (size_t i = 0; i < place->top_count; i++) {
        const struct partition *top = &place->top[i];
        buf_printf(out, "    %5.1f %%  %.*s  (%llu items, ",
                   100.0 * (double)top->items / (double)place->items, SLICE_FMT(top->key),
                   (unsigned long long)top->items);
        show_bytes(out, top->bytes);
        buf_text(out, ")\n");
    }
    if (place->top_count > 0 && !slice_equal(place->largest.key, place->top[0].key)) {
        buf_printf(out, "    largest  %.*s  (", SLICE_FMT(place->largest.key));
        show_bytes(out, place->largest.bytes);
        buf_text(out, ")\n");
    }
}

static void show_times(const struct seen *entity, struct buf *out)
{
    for (size_t i = 0; i < entity->time_count; i++) {
        const struct times *times = &entity->times[i];
        if (times->count < 2)
            continue;
        buf_printf(out, "    %.*s is written in several forms, which do not sort together:",
                   SLICE_FMT(times->attribute->name));
        for (size_t k = 0; k < times->count; k++)
            buf_printf(out, "%s %.*s (%llu)", k == 0 ? "" : ",", SLICE_FMT(times->forms[k].example),
                       (unsigned long long)times->forms[k].items);
        buf_byte(out, '\n');
    }
}

void evidence_show(struct evidence *evidence, struct buf *out)
{
    buf_printf(out, "Evidence of table %.*s: %llu items looked at, %llu of no entity\n",
               SLICE_FMT(evidence->table->name), (unsigned long long)evidence->items,
               (unsigned long long)evidence->unmatched);
    for (size_t i = 0; i < evidence->table->entity_count; i++) {
        const struct seen *entity = &evidence->entities[i];
        buf_printf(out, "  %.*s: %llu items", SLICE_FMT(entity->entity->name),
                   (unsigned long long)entity->items);
        if (entity->items > 0) {
            buf_text(out, ", ");
            show_bytes(out, entity->bytes / entity->items);
            buf_text(out, " each");
        }
        buf_byte(out, '\n');
        show_times(entity, out);
    }
    for (size_t i = 0; i <= evidence->table->index_count; i++)
        show_place(evidence, i, out);
}

static void partition_json(struct json_writer *w, const struct partition *partition)
{
    json_open_object(w);
    json_put_string(w, "key", partition->key);
    json_put_integer(w, "items", (int64_t)partition->items);
    json_put_integer(w, "bytes", (int64_t)partition->bytes);
    json_close_object(w);
}

static void times_json(struct json_writer *w, const struct seen *entity)
{
    json_put_object(w, "mixedTimes");
    for (size_t i = 0; i < entity->time_count; i++) {
        const struct times *times = &entity->times[i];
        if (times->count < 2)
            continue;
        json_name_slice(w, times->attribute->name);
        json_open_array(w);
        for (size_t k = 0; k < times->count; k++)
            json_string(w, times->forms[k].example);
        json_close_array(w);
    }
    json_close_object(w);
}

static void place_json(struct json_writer *w, struct evidence *evidence, size_t which)
{
    const struct place *place = look_at(evidence, which);
    json_open_object(w);
    if (place->index != NULL)
        json_put_string(w, "index", place->index->name);
    json_put_integer(w, "items", (int64_t)place->items);
    json_put_integer(w, "partitions", (int64_t)place->partitions);
    json_put_array(w, "hottest");
    for (size_t i = 0; i < place->top_count; i++)
        partition_json(w, &place->top[i]);
    json_close_array(w);
    if (place->items > 0) {
        json_name(w, "largest");
        partition_json(w, &place->largest);
    }
    json_close_object(w);
}

void evidence_json(struct evidence *evidence, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_string(&w, "table", evidence->table->name);
    json_put_integer(&w, "items", (int64_t)evidence->items);
    json_put_integer(&w, "unmatched", (int64_t)evidence->unmatched);
    json_put_array(&w, "entities");
    for (size_t i = 0; i < evidence->table->entity_count; i++) {
        json_open_object(&w);
        json_put_string(&w, "entity", evidence->entities[i].entity->name);
        json_put_integer(&w, "items", (int64_t)evidence->entities[i].items);
        json_put_integer(&w, "bytes", (int64_t)evidence->entities[i].bytes);
        times_json(&w, &evidence->entities[i]);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_put_array(&w, "places");
    for (size_t i = 0; i <= evidence->table->index_count; i++)
        place_json(&w, evidence, i);
    json_close_array(&w);
    json_close_object(&w);
}
