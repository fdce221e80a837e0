// Tables as a model wants them: made and changed by the acts that CreateTable, UpdateTable and
// their like stand on, so that what is refused there is refused here, in the same words.
#include "change/model.h"

#include "base/limits.h"
#include "change/acts.h"

// What a request needs of memory while it is made and done.
enum { REQUEST_MEMORY = 1 << 20 };

static const char *const views[] = {"", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                    "NEW_AND_OLD_IMAGES"};

// ---- Comparing --------------------------------------------------------------------------------

bool model_keys_same(const struct key_schema *a, const struct key_schema *b)
{
    if (a->hash_count != b->hash_count || a->range_count != b->range_count)
        return false;
    for (size_t i = 0; i < a->hash_count + a->range_count; i++) {
        if (!slice_equal(a->parts[i].name, b->parts[i].name) ||
            a->parts[i].type != b->parts[i].type)
            return false;
    }
    return true;
}

static bool projection_same(const struct model_index *wanted, const struct index *live)
{
    static const enum projection_type kinds[] = {PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE};
    if (kinds[wanted->projection] != live->projection)
        return false;
    if (live->projection != PROJECT_INCLUDE)
        return true;
    if (wanted->include_count != live->include_count)
        return false;
    for (size_t i = 0; i < wanted->include_count; i++) {
        bool found = false;
        for (size_t j = 0; j < live->include_count; j++)
            found |= slice_equal(wanted->include[i], live->include[j]);
        if (!found)
            return false;
    }
    return true;
}

enum model_index_state model_index_compare(const struct model_index *wanted,
                                           const struct table *live)
{
    const struct index *index = table_index(live, wanted->name);
    if (index == NULL || index->status == INDEX_DELETING)
        return INDEX_IS_MISSING;
    bool same = index->global == !wanted->local && model_keys_same(&wanted->keys, &index->keys) &&
                projection_same(wanted, index);
    return same ? INDEX_IS_SAME : INDEX_IS_OTHER;
}

// ---- Parts of requests ------------------------------------------------------------------------

static struct field_int number(uint64_t value)
{
    return (struct field_int){.set = true, .value = (int64_t)value};
}

static struct field_bool flag(bool value)
{
    return (struct field_bool){.set = true, .value = value};
}

// A list of `count` zeroed elements, in the arena; its items are NULL when memory is out.
static struct field_list list_new(struct arena *arena, size_t count, size_t size)
{
    return (struct field_list){
        .set = true, .count = count, .items = arena_zalloc(arena, count, size)};
}

static bool fill_keys(struct arena *arena, const struct key_schema *keys, struct field_list *out)
{
    *out = list_new(arena, keys->hash_count + keys->range_count, sizeof(struct key_schema_element));
    struct key_schema_element *elements = out->items;
    for (size_t i = 0; elements != NULL && i < out->count; i++)
        elements[i] = (struct key_schema_element){
            .attribute_name = keys->parts[i].name,
            .key_type = i < keys->hash_count ? SLICE_LIT("HASH") : SLICE_LIT("RANGE")};
    return elements != NULL;
}

// Each attribute once, however many keys it is in.
struct definitions {
    size_t count;
    struct attribute_definition list[(2 * LIMIT_KEY_PARTS) * (LIMIT_INDEXES + 1)];
};

static void define(struct definitions *definitions, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        bool known = false;
        for (size_t j = 0; j < definitions->count; j++)
            known |= slice_equal(definitions->list[j].attribute_name, keys->parts[i].name);
        if (!known)
            definitions->list[definitions->count++] = (struct attribute_definition){
                .attribute_name = keys->parts[i].name,
                .attribute_type = slice_str(value_type_name(keys->parts[i].type))};
    }
}

static struct field_list defined(struct definitions *definitions)
{
    return (struct field_list){
        .set = true, .count = definitions->count, .items = definitions->list};
}

static struct request_provisioned_throughput units(uint64_t read, uint64_t write)
{
    return (struct request_provisioned_throughput){.read_capacity_units = number(read),
                                                   .write_capacity_units = number(write)};
}

static struct request_projection *projection(struct arena *arena, const struct model_index *index)
{
    static const char *const types[] = {
        [MODEL_PROJECT_ALL] = "ALL",
        [MODEL_PROJECT_KEYS] = "KEYS_ONLY",
        [MODEL_PROJECT_INCLUDE] = "INCLUDE",
    };
    struct request_projection *out = arena_zalloc(arena, 1, sizeof(*out));
    if (out == NULL)
        return NULL;
    out->projection_type = slice_str(types[index->projection]);
    if (index->projection == MODEL_PROJECT_INCLUDE)
        out->non_key_attributes = (struct field_list){
            .set = true, .count = index->include_count, .items = (void *)index->include};
    return out;
}

// The units may be NULL: the table is on demand.
static bool fill_global(struct arena *arena, const struct model_index *index,
                        struct request_provisioned_throughput *provisioned,
                        struct global_secondary_index *out)
{
    *out = (struct global_secondary_index){.index_name = index->name,
                                           .projection = projection(arena, index),
                                           .provisioned_throughput = provisioned};
    return out->projection != NULL && fill_keys(arena, &index->keys, &out->key_schema);
}

static bool fill_local(struct arena *arena, const struct model_index *index,
                       struct local_secondary_index *out)
{
    *out = (struct local_secondary_index){.index_name = index->name,
                                          .projection = projection(arena, index)};
    return out->projection != NULL && fill_keys(arena, &index->keys, &out->key_schema);
}

static bool fill_indexes(struct arena *arena, const struct model_table *table,
                         struct create_table_request *out)
{
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < table->index_count; i++)
        counts[table->indexes[i].local]++;
    struct global_secondary_index *globals = arena_zalloc(arena, counts[0] + 1, sizeof(*globals));
    struct local_secondary_index *locals = arena_zalloc(arena, counts[1] + 1, sizeof(*locals));
    bool ok = globals != NULL && locals != NULL;
    counts[0] = counts[1] = 0;
    for (size_t i = 0; ok && i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        ok = index->local
                 ? fill_local(arena, index, &locals[counts[1]++])
                 : fill_global(arena, index, out->provisioned_throughput, &globals[counts[0]++]);
    }
    // An empty list is refused; one that is not there is not.
    if (counts[0] > 0)
        out->global_secondary_indexes =
            (struct field_list){.set = true, .count = counts[0], .items = globals};
    if (counts[1] > 0)
        out->local_secondary_indexes =
            (struct field_list){.set = true, .count = counts[1], .items = locals};
    return ok;
}

static struct slice billing(const struct model_table *table)
{
    return table->provisioned ? SLICE_LIT("PROVISIONED") : SLICE_LIT("PAY_PER_REQUEST");
}

static struct request_stream_specification streaming(enum model_stream stream)
{
    return (struct request_stream_specification){
        .stream_enabled = flag(stream != MODEL_STREAM_NONE),
        .stream_view_type =
            stream != MODEL_STREAM_NONE ? slice_str(views[stream]) : slice_of(NULL, 0),
    };
}

// ---- Making -----------------------------------------------------------------------------------

static bool create(struct workshop *shop, const struct model_table *wanted, struct arena *arena,
                   struct error *error)
{
    struct table_act act;
    struct definitions definitions = {.count = 0};
    struct request_provisioned_throughput provisioned =
        units(wanted->read_units, wanted->write_units);
    struct request_stream_specification stream = streaming(wanted->stream);
    define(&definitions, &wanted->keys);
    for (size_t i = 0; i < wanted->index_count; i++)
        define(&definitions, &wanted->indexes[i].keys);
    struct create_table_request request = {
        .table_name = wanted->name,
        .attribute_definitions = defined(&definitions),
        .billing_mode = billing(wanted),
        .provisioned_throughput = wanted->provisioned ? &provisioned : NULL,
        .stream_specification = wanted->stream == MODEL_STREAM_NONE ? NULL : &stream,
    };
    if (!fill_keys(arena, &wanted->keys, &request.key_schema) ||
        !fill_indexes(arena, wanted, &request))
        return error_budget(error);
    return act_create(&act, shop->engine, arena, &request, error) && act_run(shop, &act, error);
}

bool model_create_table(struct workshop *shop, const struct model_table *wanted,
                        struct error *error)
{
    struct arena arena;
    arena_init(&arena, REQUEST_MEMORY);
    bool ok = create(shop, wanted, &arena, error);
    arena_release(&arena);
    return ok;
}

// ---- Changing ---------------------------------------------------------------------------------

static bool update(struct workshop *shop, const struct update_table_request *request,
                   struct error *error)
{
    struct table_act act;
    struct arena arena;
    arena_init(&arena, REQUEST_MEMORY);
    bool ok = act_update(&act, shop->engine, &arena, request, error) && act_run(shop, &act, error);
    arena_release(&arena);
    return ok;
}

static bool update_stream(struct workshop *shop, struct slice table, enum model_stream wanted,
                          struct error *error)
{
    struct request_stream_specification stream = streaming(wanted);
    struct update_table_request request = {.table_name = table, .stream_specification = &stream};
    return update(shop, &request, error);
}

// A stream cannot change what it shows: the old one ends and a new one begins.
static bool set_stream(struct workshop *shop, const struct model_table *wanted,
                       const struct table_settings *settings, bool prune, struct error *error)
{
    if (slice_is(settings->stream_view, views[wanted->stream]) ||
        (wanted->stream == MODEL_STREAM_NONE && !prune))
        return true;
    if (settings->stream_view.len > 0 &&
        !update_stream(shop, wanted->name, MODEL_STREAM_NONE, error))
        return false;
    return wanted->stream == MODEL_STREAM_NONE ||
           update_stream(shop, wanted->name, wanted->stream, error);
}

static bool update_ttl(struct workshop *shop, struct slice table, struct slice attribute,
                       bool enabled, struct error *error)
{
    struct table_act act;
    act_time_to_live(&act, shop->engine, table, attribute, enabled);
    return act_run(shop, &act, error);
}

static bool set_ttl(struct workshop *shop, const struct model_table *wanted,
                    const struct table_settings *settings, bool prune, struct error *error)
{
    if (slice_equal(settings->ttl_attribute, wanted->ttl_attribute) ||
        (wanted->ttl_attribute.len == 0 && !prune))
        return true;
    if (settings->ttl_attribute.len > 0 &&
        !update_ttl(shop, wanted->name, settings->ttl_attribute, false, error))
        return false;
    return wanted->ttl_attribute.len == 0 ||
           update_ttl(shop, wanted->name, wanted->ttl_attribute, true, error);
}

static bool set_pitr(struct workshop *shop, const struct model_table *wanted,
                     const struct table_settings *settings, bool prune, struct error *error)
{
    if ((settings->pitr_days > 0) == wanted->pitr || (!wanted->pitr && !prune))
        return true;
    struct table_act act;
    act_recovery(&act, shop->engine, wanted->name, wanted->pitr, (struct field_int){.set = false});
    return act_run(shop, &act, error);
}

static bool billing_same(const struct model_table *wanted, const struct table_settings *settings)
{
    if (wanted->provisioned == settings->on_demand)
        return false;
    return !wanted->provisioned || (settings->throughput.read == (int64_t)wanted->read_units &&
                                    settings->throughput.write == (int64_t)wanted->write_units);
}

// A table that comes to be provisioned needs units for its indexes, too.
static bool set_billing(struct workshop *shop, const struct model_table *wanted,
                        const struct table *live, const struct table_settings *settings, bool prune,
                        struct error *error)
{
    struct request_provisioned_throughput provisioned =
        units(wanted->read_units, wanted->write_units);
    struct update_global_secondary_index_action actions[LIMIT_INDEXES];
    struct global_secondary_index_update updates[LIMIT_INDEXES];
    size_t count = 0;
    if (billing_same(wanted, settings) || (!wanted->provisioned && !prune))
        return true;
    for (size_t i = 0; wanted->provisioned && settings->on_demand && i < live->index_count; i++) {
        if (!live->indexes[i].global)
            continue;
        actions[count] = (struct update_global_secondary_index_action){
            .index_name = live->indexes[i].name, .provisioned_throughput = &provisioned};
        updates[count] = (struct global_secondary_index_update){.update = &actions[count]};
        count++;
    }
    struct update_table_request request = {
        .table_name = wanted->name,
        .billing_mode = billing(wanted),
        .provisioned_throughput = wanted->provisioned ? &provisioned : NULL,
        .global_secondary_index_updates = {.set = count > 0, .count = count, .items = updates},
    };
    return update(shop, &request, error);
}

bool model_set_features(struct workshop *shop, const struct model_table *wanted,
                        const struct table *live, bool prune, struct error *error)
{
    struct table_settings settings;
    table_settings_read(live, &settings);
    return set_ttl(shop, wanted, &settings, prune, error) &&
           set_stream(shop, wanted, &settings, prune, error) &&
           set_pitr(shop, wanted, &settings, prune, error) &&
           set_billing(shop, wanted, live, &settings, prune, error);
}

// ---- Indexes ----------------------------------------------------------------------------------

static bool update_index(struct workshop *shop, struct slice table,
                         struct global_secondary_index_update *change,
                         struct definitions *definitions, struct error *error)
{
    struct update_table_request request = {
        .table_name = table,
        .global_secondary_index_updates = {.set = true, .count = 1, .items = change},
    };
    if (definitions->count > 0)
        request.attribute_definitions = defined(definitions);
    return update(shop, &request, error);
}

bool model_create_index(struct workshop *shop, const struct model_index *index,
                        const struct table *live, struct error *error)
{
    struct table_settings settings;
    struct definitions definitions = {.count = 0};
    struct global_secondary_index new;
    struct global_secondary_index_update change = {.create = &new};
    struct arena arena;
    table_settings_read(live, &settings);
    struct request_provisioned_throughput provisioned =
        units((uint64_t)settings.throughput.read, (uint64_t)settings.throughput.write);
    arena_init(&arena, REQUEST_MEMORY);
    define(&definitions, &index->keys);
    bool ok = fill_global(&arena, index, settings.on_demand ? NULL : &provisioned, &new)
                  ? update_index(shop, live->name, &change, &definitions, error)
                  : error_budget(error);
    arena_release(&arena);
    return ok;
}

bool model_delete_index(struct workshop *shop, struct slice table, struct slice index,
                        struct error *error)
{
    struct definitions none = {.count = 0};
    struct delete_index_action gone = {.index_name = index};
    struct global_secondary_index_update change = {.delete = &gone};
    return update_index(shop, table, &change, &none, error);
}
