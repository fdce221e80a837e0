// Tables as values: counting references, cloning, and the catalog's record.
//
// A record is an M value, so that it can be read by eye, and so that a newer version can add
// members without a new format. Everything a table points to lives in its own arena, except the
// stats, which all versions share by reference.
#include "engine/table.h"

#include "value/number.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { TABLE_ARENA = 64 << 20 };

struct tree_stats *tree_stats_new(int64_t items, int64_t bytes)
{
    struct tree_stats *stats = memory_zeroed(sizeof(*stats));
    stats->references = 1;
    stats->items = items;
    stats->bytes = bytes;
    return stats;
}

struct tree_stats *tree_stats_hold(struct tree_stats *stats)
{
    if (stats != NULL)
        stats->references++;
    return stats;
}

void tree_stats_release(struct tree_stats *stats)
{
    if (stats != NULL && --stats->references == 0)
        free(stats);
}

struct table *table_new(void)
{
    struct table *table = calloc(1, sizeof(*table));
    if (table == NULL)
        return NULL;
    table->references = 1;
    arena_init(&table->arena, TABLE_ARENA);
    return table;
}

struct table *table_hold(struct table *table)
{
    table->references++;
    return table;
}

void table_release(struct table *table)
{
    if (table == NULL || --table->references > 0)
        return;
    tree_stats_release(table->stats);
    for (size_t i = 0; i < table->index_count; i++)
        tree_stats_release(table->indexes[i].stats);
    for (size_t i = 0; i < table->vector_count; i++)
        tree_stats_release(table->vectors[i].base.stats);
    guard_release(table->guard);
    guard_release(table->next);
    if (table->made != NULL)
        table->made->free(table->made);
    arena_release(&table->arena);
    free(table);
}

const struct table_made *table_keep_made(const struct table *table, struct table_made *made)
{
    // A version is constant to those who look at it, but for this.
    struct table_made *_Atomic *slot = (struct table_made * _Atomic *)(uintptr_t)&table->made;
    struct table_made *there = NULL;
    if (atomic_compare_exchange_strong(slot, &there, made))
        return made;
    made->free(made);
    return there;
}

bool table_set_guard(struct table *table, struct slice model, struct guard *guard)
{
    struct slice name = arena_copy(&table->arena, model);
    if (name.ptr == NULL)
        return false;
    guard_release(table->guard);
    table->model = name;
    table->guard = guard_hold(guard);
    return true;
}

void table_set_next(struct table *table, struct guard *next, bool keep_claims)
{
    guard_release(table->next);
    table->next = guard_hold(next);
    if (!keep_claims)
        table->next_claims = 0;
}

void table_take_claims(struct table *table)
{
    table->claims = table->next_claims;
    table_set_next(table, NULL, false);
}

// Encoding and decoding copies everything into the clone's own arena.
struct table *table_clone(const struct table *table)
{
    struct buf record;
    buf_init(&record, TABLE_ARENA);
    table_encode(table, &record);
    struct table *clone = record.failed ? NULL : table_decode(buf_view(&record));
    buf_release(&record);
    if (clone == NULL)
        return NULL;
    clone->guard = guard_hold(table->guard);
    clone->next = guard_hold(table->next);
    clone->stats = tree_stats_hold(table->stats);
    for (size_t i = 0; i < table->index_count; i++)
        clone->indexes[i].stats = tree_stats_hold(table->indexes[i].stats);
    for (size_t i = 0; i < table->vector_count; i++)
        clone->vectors[i].base.stats = tree_stats_hold(table->vectors[i].base.stats);
    return clone;
}

static void index_forget_tree(struct index *index)
{
    index->tree = 0;
    index->status = INDEX_ACTIVE;
    index->backfilled = slice_of(NULL, 0);
    tree_stats_release(index->stats);
    index->stats = NULL;
}

void table_forget_trees(struct table *table)
{
    table->uuid = slice_of(NULL, 0);
    table->created_ms = 0;
    table->tree = 0;
    table->collections = 0;
    table->log = 0;
    table->model = slice_of(NULL, 0);
    guard_release(table->guard);
    table->guard = NULL;
    table->claims = 0;
    table->notes = 0;
    table->pending_count = 0;
    table_set_next(table, NULL, false);
    table->ttl = (struct table_ttl){.attribute = table->ttl.attribute};
    tree_stats_release(table->stats);
    table->stats = NULL;
    for (size_t i = 0; i < table->index_count; i++)
        index_forget_tree(&table->indexes[i]);
    for (size_t i = 0; i < table->vector_count; i++)
        index_forget_tree(&table->vectors[i].base);
}

const struct index *table_index(const struct table *table, struct slice name)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (slice_equal(table->indexes[i].name, name))
            return &table->indexes[i];
    }
    return NULL;
}

const struct vector_index *table_vector(const struct table *table, struct slice name)
{
    for (size_t i = 0; i < table->vector_count; i++) {
        if (slice_equal(table->vectors[i].base.name, name))
            return &table->vectors[i];
    }
    return NULL;
}

bool item_size_check(struct slice item, struct error *error)
{
    // By AWS's formula nothing counts more than twice the bytes it has here (a null in a list
    // does), so that small items need not be counted.
    return item.len <= LIMIT_ITEM_SIZE / 2 || value_item_size(item) <= LIMIT_ITEM_SIZE ||
           error_validation(error, "Item size has exceeded the maximum allowed size");
}

bool key_size_check(bool hash, size_t len, struct error *error)
{
    if (hash && len > LIMIT_PARTITION_KEY)
        return error_validation(error, "One or more parameter values were invalid: Size of hashkey "
                                       "has exceeded the maximum size limit of2048 bytes");
    if (!hash && len > LIMIT_SORT_KEY)
        return error_validation(error,
                                "One or more parameter values were invalid: Aggregated size of all "
                                "range keys has exceeded the size limit of 1024 bytes");
    return true;
}

bool key_value_check(const struct key_part *part, bool hash, struct slice value,
                     struct error *error)
{
    size_t len = value_bytes(value).len;
    if (len == 0)
        return error_set(error, ERR_EMPTY_KEY,
                         "One or more parameter values are not valid. The AttributeValue for "
                         "a key attribute cannot contain an empty %s value. Key: %.*s",
                         part->type == VALUE_S ? "string" : "binary", SLICE_FMT(part->name));
    return key_size_check(hash, len, error);
}

// ---- Encoding -------------------------------------------------------------------

static void put_string(struct value_builder *b, const char *name, struct slice text)
{
    value_name(b, slice_str(name));
    value_put_string(b, text);
}

static void put_integer(struct value_builder *b, const char *name, int64_t value)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(value, stored);
    value_name(b, slice_str(name));
    value_put_number(b, slice_of(stored, len));
}

static void put_value(struct value_builder *b, const char *name, struct slice value)
{
    value_name(b, slice_str(name));
    value_put(b, value.len > 0 ? value : value_empty_map());
}

static void put_parts(struct value_builder *b, const char *name, const struct key_part *parts,
                      size_t count)
{
    value_name(b, slice_str(name));
    value_open_list(b);
    for (size_t i = 0; i < count; i++) {
        value_open_map(b);
        put_string(b, "name", parts[i].name);
        put_string(b, "type", slice_str(value_type_name(parts[i].type)));
        (void)value_close(b);
    }
    (void)value_close(b);
}

static void put_keys(struct value_builder *b, const struct key_schema *keys)
{
    put_integer(b, "hashes", (int64_t)keys->hash_count);
    put_parts(b, "keys", keys->parts, keys->hash_count + keys->range_count);
}

static void put_names(struct value_builder *b, const char *name, const struct slice *names,
                      size_t count)
{
    value_name(b, slice_str(name));
    value_open_list(b);
    for (size_t i = 0; i < count; i++)
        value_put_string(b, names[i]);
    (void)value_close(b);
}

// The members of an index, in a map that is open.
static void put_index(struct value_builder *b, const struct index *index)
{
    put_string(b, "name", index->name);
    put_integer(b, "global", index->global);
    put_integer(b, "tree", index->tree);
    put_keys(b, &index->keys);
    put_integer(b, "projection", index->projection);
    put_names(b, "include", index->include, index->include_count);
    put_integer(b, "status", index->status);
    value_name(b, SLICE_LIT("backfilled"));
    value_put_binary(b, index->backfilled);
    put_value(b, "settings", index->settings);
    if (index->without.count == 0)
        return;
    put_string(b, "withoutName", index->without.attribute);
    put_names(b, "without", index->without.values, index->without.count);
}

static void put_vector(struct value_builder *b, const struct vector_index *vector)
{
    value_open_map(b);
    put_index(b, &vector->base);
    put_string(b, "attribute", vector->attribute);
    put_integer(b, "dimensions", (int64_t)vector->dimensions);
    put_integer(b, "distance", vector->distance);
    put_parts(b, "filters", vector->filters, vector->filter_count);
    (void)value_close(b);
}

static void put_pendings(struct value_builder *b, const struct table *table)
{
    value_name(b, SLICE_LIT("pending"));
    value_open_list(b);
    for (size_t i = 0; i < table->pending_count; i++) {
        const struct table_pending *pending = &table->pendings[i];
        value_open_map(b);
        put_string(b, "rule", pending->rule);
        put_string(b, "source", pending->source);
        put_integer(b, "phase", pending->phase);
        value_name(b, SLICE_LIT("mark"));
        value_put_binary(b, pending->mark);
        put_integer(b, "done", pending->done);
        (void)value_close(b);
    }
    (void)value_close(b);
}

// Members that came later are written only if they say something, and may be absent.
static void put_later(struct value_builder *b, const struct table *table)
{
    if (table->status != TABLE_ACTIVE)
        put_integer(b, "status", table->status);
    if (table->log != 0) {
        put_integer(b, "log", table->log);
        put_integer(b, "logImages", table->log_images);
    }
    if (table->ttl.attribute.len > 0) {
        value_name(b, SLICE_LIT("ttl"));
        value_open_map(b);
        put_string(b, "attribute", table->ttl.attribute);
        put_integer(b, "tree", table->ttl.tree);
        put_integer(b, "filled", table->ttl.filled);
        value_name(b, SLICE_LIT("backfilled"));
        value_put_binary(b, table->ttl.backfilled);
        (void)value_close(b);
    }
    if (table->model.len > 0)
        put_string(b, "model", table->model);
    if (table->claims != 0)
        put_integer(b, "claims", table->claims);
    if (table->next_claims != 0)
        put_integer(b, "nextClaims", table->next_claims);
    if (table->notes != 0)
        put_integer(b, "notes", table->notes);
    if (table->pending_count > 0)
        put_pendings(b, table);
    if (table->vector_count > 0) {
        value_name(b, SLICE_LIT("vectors"));
        value_open_list(b);
        for (size_t i = 0; i < table->vector_count; i++)
            put_vector(b, &table->vectors[i]);
        (void)value_close(b);
    }
}

void table_encode(const struct table *table, struct buf *out)
{
    struct value_builder b;
    value_builder_init(&b, out);
    value_open_map(&b);
    put_string(&b, "name", table->name);
    put_string(&b, "uuid", table->uuid);
    put_integer(&b, "created", table->created_ms);
    put_integer(&b, "tree", table->tree);
    put_integer(&b, "collections", table->collections);
    put_keys(&b, &table->keys);
    value_name(&b, SLICE_LIT("indexes"));
    value_open_list(&b);
    for (size_t i = 0; i < table->index_count; i++) {
        value_open_map(&b);
        put_index(&b, &table->indexes[i]);
        (void)value_close(&b);
    }
    (void)value_close(&b);
    put_value(&b, "settings", table->settings);
    put_later(&b, table);
    (void)value_close(&b);
    value_builder_release(&b);
}

// ---- Decoding -------------------------------------------------------------------

static bool get_slice(struct slice map, const char *name, enum value_type type, struct slice *out)
{
    struct slice value = value_get(map, slice_str(name));
    if (value.len == 0 || value_type(value) != type)
        return false;
    *out = type == VALUE_S || type == VALUE_B || type == VALUE_N ? value_bytes(value) : value;
    return true;
}

static bool get_integer(struct slice map, const char *name, int64_t *out)
{
    struct slice stored;
    return get_slice(map, name, VALUE_N, &stored) && number_to_i64(stored, out);
}

// As many parts as the list has.
static bool get_parts(struct slice list, struct key_part *parts)
{
    struct value_iter iter;
    value_iter_init(&iter, list);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        struct slice type;
        if (value_type(iter.value) != VALUE_M ||
            !get_slice(iter.value, "name", VALUE_S, &parts[i].name) ||
            !get_slice(iter.value, "type", VALUE_S, &type))
            return false;
        parts[i].type = value_type_from_name(type);
        if (parts[i].type != VALUE_S && parts[i].type != VALUE_N && parts[i].type != VALUE_B)
            return false;
    }
    return true;
}

static bool get_keys(struct slice map, struct key_schema *keys)
{
    int64_t hashes;
    struct slice list;
    if (!get_integer(map, "hashes", &hashes) || !get_slice(map, "keys", VALUE_L, &list))
        return false;
    size_t count = value_count(list);
    if (hashes < 0 || (size_t)hashes > count || count > COUNT_OF(keys->parts))
        return false;
    keys->hash_count = (size_t)hashes;
    keys->range_count = count - (size_t)hashes;
    return get_parts(list, keys->parts);
}

static bool get_names(struct arena *arena, struct slice map, const char *name,
                      const struct slice **out, size_t *count)
{
    struct slice list;
    if (!get_slice(map, name, VALUE_L, &list))
        return false;
    *count = value_count(list);
    struct slice *names = arena_zalloc(arena, *count + 1, sizeof(*names));
    if (names == NULL)
        return false;
    struct value_iter iter;
    value_iter_init(&iter, list);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        if (value_type(iter.value) != VALUE_S)
            return false;
        names[i] = value_bytes(iter.value);
    }
    *out = names;
    return true;
}

// Members that came later.
static bool get_without(struct arena *arena, struct slice map, struct guard_outsiders *without)
{
    return value_get(map, SLICE_LIT("without")).len == 0 ||
           (get_slice(map, "withoutName", VALUE_S, &without->attribute) &&
            get_names(arena, map, "without", &without->values, &without->count));
}

static bool get_index(struct arena *arena, struct slice map, struct index *index)
{
    int64_t global;
    int64_t tree;
    int64_t projection;
    int64_t status;
    if (value_type(map) != VALUE_M || !get_slice(map, "name", VALUE_S, &index->name) ||
        !get_integer(map, "global", &global) || !get_integer(map, "tree", &tree) ||
        !get_keys(map, &index->keys) || !get_integer(map, "projection", &projection) ||
        !get_names(arena, map, "include", &index->include, &index->include_count) ||
        !get_without(arena, map, &index->without) || !get_integer(map, "status", &status) ||
        !get_slice(map, "backfilled", VALUE_B, &index->backfilled) ||
        !get_slice(map, "settings", VALUE_M, &index->settings))
        return false;
    index->global = global != 0;
    index->tree = (tree_id)tree;
    index->projection = (enum projection_type)projection;
    index->status = (enum index_status)status;
    return tree >= 0 && tree <= UINT32_MAX && projection >= 0 && projection <= PROJECT_INCLUDE &&
           status >= 0 && status <= INDEX_DELETING;
}

// An integer that may be absent, which is 0.
static bool get_later(struct slice map, const char *name, int64_t max, int64_t *out)
{
    *out = 0;
    return value_get(map, slice_str(name)).len == 0 ||
           (get_integer(map, name, out) && *out >= 0 && *out <= max);
}

static bool get_ttl(struct slice map, struct table_ttl *ttl)
{
    struct slice entry = value_get(map, SLICE_LIT("ttl"));
    int64_t tree;
    int64_t filled;
    if (entry.len == 0)
        return true;
    if (value_type(entry) != VALUE_M || !get_slice(entry, "attribute", VALUE_S, &ttl->attribute) ||
        !get_later(entry, "tree", UINT32_MAX, &tree) || !get_later(entry, "filled", 1, &filled) ||
        !get_slice(entry, "backfilled", VALUE_B, &ttl->backfilled))
        return false;
    ttl->tree = (tree_id)tree;
    ttl->filled = filled != 0;
    return true;
}

static bool get_vector(struct arena *arena, struct slice map, struct vector_index *vector)
{
    int64_t dimensions;
    int64_t distance;
    struct slice filters;
    if (!get_index(arena, map, &vector->base) || vector->base.keys.hash_count > 1 ||
        vector->base.keys.range_count > 0 ||
        !get_slice(map, "attribute", VALUE_S, &vector->attribute) ||
        !get_integer(map, "dimensions", &dimensions) || dimensions < 1 ||
        dimensions > LIMIT_DIMENSIONS || !get_integer(map, "distance", &distance) || distance < 0 ||
        distance > VECTOR_DOT_PRODUCT || !get_slice(map, "filters", VALUE_L, &filters))
        return false;
    vector->dimensions = (size_t)dimensions;
    vector->distance = (enum vector_distance)distance;
    vector->filter_count = value_count(filters);
    struct key_part *parts = arena_zalloc(arena, vector->filter_count + 1, sizeof(*parts));
    vector->filters = parts;
    return parts != NULL && get_parts(filters, parts);
}

static bool get_vectors(struct table *table, struct slice map)
{
    struct slice list = value_get(map, SLICE_LIT("vectors"));
    if (list.len == 0)
        return true;
    if (value_type(list) != VALUE_L || value_count(list) > LIMIT_VECTOR_INDEXES)
        return false;
    struct value_iter iter;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter)) {
        if (!get_vector(&table->arena, iter.value, &table->vectors[table->vector_count]))
            return false;
        table->vector_count++;
    }
    return true;
}

static bool get_pendings(struct table *table, struct slice map)
{
    struct slice list = value_get(map, SLICE_LIT("pending"));
    if (list.len == 0)
        return true;
    if (value_type(list) != VALUE_L)
        return false;
    table->pendings = arena_zalloc(&table->arena, value_count(list) + 1, sizeof(*table->pendings));
    struct value_iter iter;
    value_iter_init(&iter, list);
    while (table->pendings != NULL && value_iter_next(&iter)) {
        struct table_pending *pending = &table->pendings[table->pending_count++];
        int64_t phase;
        if (value_type(iter.value) != VALUE_M ||
            !get_slice(iter.value, "rule", VALUE_S, &pending->rule) ||
            !get_slice(iter.value, "source", VALUE_S, &pending->source) ||
            !get_later(iter.value, "phase", PENDING_TARGETS, &phase) ||
            !get_slice(iter.value, "mark", VALUE_B, &pending->mark) ||
            !get_later(iter.value, "done", INT64_MAX, &pending->done))
            return false;
        pending->phase = (enum pending_phase)phase;
    }
    return table->pendings != NULL;
}

static bool decode_later(struct table *table, struct slice map)
{
    int64_t status;
    int64_t log;
    int64_t images;
    int64_t claims;
    int64_t next_claims;
    int64_t notes;
    if (value_get(map, SLICE_LIT("model")).len > 0 &&
        !get_slice(map, "model", VALUE_S, &table->model))
        return false;
    if (!get_later(map, "claims", UINT32_MAX, &claims) ||
        !get_later(map, "nextClaims", UINT32_MAX, &next_claims) ||
        !get_later(map, "notes", UINT32_MAX, &notes) ||
        !get_later(map, "status", TABLE_CREATING, &status) ||
        !get_later(map, "log", UINT32_MAX, &log) ||
        !get_later(map, "logImages", LOG_KEYS | LOG_OLD | LOG_NEW, &images) ||
        !get_ttl(map, &table->ttl) || !get_vectors(table, map) || !get_pendings(table, map))
        return false;
    table->status = (enum table_status)status;
    table->log = (tree_id)log;
    table->log_images = (unsigned)images;
    table->claims = (tree_id)claims;
    table->next_claims = (tree_id)next_claims;
    table->notes = (tree_id)notes;
    return true;
}

static bool decode_into(struct table *table, struct slice record)
{
    struct slice map = arena_copy(&table->arena, record);
    struct slice indexes;
    int64_t tree;
    int64_t collections;
    if (map.ptr == NULL || !get_slice(map, "name", VALUE_S, &table->name) ||
        !get_slice(map, "uuid", VALUE_S, &table->uuid) ||
        !get_integer(map, "created", &table->created_ms) || !get_integer(map, "tree", &tree) ||
        !get_integer(map, "collections", &collections) || !get_keys(map, &table->keys) ||
        table->keys.hash_count == 0 || !get_slice(map, "indexes", VALUE_L, &indexes) ||
        !get_slice(map, "settings", VALUE_M, &table->settings) ||
        value_count(indexes) > LIMIT_INDEXES || tree < 0 || tree > UINT32_MAX || collections < 0 ||
        collections > UINT32_MAX || !decode_later(table, map))
        return false;
    table->tree = (tree_id)tree;
    table->collections = (tree_id)collections;
    struct value_iter iter;
    value_iter_init(&iter, indexes);
    while (value_iter_next(&iter)) {
        struct index *index = &table->indexes[table->index_count];
        if (!get_index(&table->arena, iter.value, index) || index->keys.hash_count == 0)
            return false;
        table->index_count++;
    }
    return true;
}

struct table *table_decode(struct slice record)
{
    if (!value_valid(record) || value_type(record) != VALUE_M)
        return NULL;
    struct table *table = table_new();
    if (table != NULL && !decode_into(table, record)) {
        table_release(table);
        return NULL;
    }
    return table;
}
