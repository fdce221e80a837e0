// Settings as structs and as M values, by one table of names, and the arithmetic of throughput.
#include "api/table_settings.h"

#include "value/number.h"

enum setting_kind {
    SETTING_INTEGER, // int64_t
    SETTING_FLAG,    // bool
    SETTING_TEXT,    // struct slice, text
    SETTING_VALUE,   // struct slice, an encoded value
};

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;
};

#define THROUGHPUT(kind, field)                                                                    \
    {                                                                                              \
#field, SETTING_##kind, offsetof(struct throughput_settings, field)                        \
    }
#define TABLE(kind, field)                                                                         \
    {                                                                                              \
#field, SETTING_##kind, offsetof(struct table_settings, field)                             \
    }

// The names are part of the stored format.
static const struct setting throughput_rows[] = {
    THROUGHPUT(INTEGER, read),         THROUGHPUT(INTEGER, write),
    THROUGHPUT(INTEGER, increased_ms), THROUGHPUT(INTEGER, decreased_ms),
    THROUGHPUT(INTEGER, decreases),    THROUGHPUT(INTEGER, max_read),
    THROUGHPUT(INTEGER, max_write),    THROUGHPUT(INTEGER, warm_read),
    THROUGHPUT(INTEGER, warm_write),
};

static const struct setting table_rows[] = {
    TABLE(FLAG, on_demand),         TABLE(INTEGER, on_demand_ms), TABLE(TEXT, table_class),
    TABLE(INTEGER, table_class_ms), TABLE(FLAG, encrypted),       TABLE(TEXT, key),
    TABLE(TEXT, stream_view),       TABLE(INTEGER, stream_ms),    TABLE(FLAG, protected),
    TABLE(TEXT, ttl_attribute),     TABLE(VALUE, attributes),     TABLE(VALUE, tags),
    TABLE(VALUE, policies),         TABLE(VALUE, insights),       TABLE(VALUE, kinesis),
    TABLE(VALUE, scaling),          TABLE(VALUE, global),         TABLE(INTEGER, pitr_days),
    TABLE(INTEGER, pitr_ms),        TABLE(FLAG, log_both),        TABLE(TEXT, restore_backup),
    TABLE(TEXT, restore_table),     TABLE(INTEGER, restore_ms),
};

// ---- Reading --------------------------------------------------------------------------------

static void read_one(const struct setting *row, struct slice value, void *out)
{
    void *field = (char *)out + row->offset;
    switch (row->kind) {
    case SETTING_INTEGER:
        ensure(number_to_i64(value_bytes(value), field));
        break;
    case SETTING_FLAG:
        *(bool *)field = value_bool(value);
        break;
    case SETTING_TEXT:
        *(struct slice *)field = value_bytes(value);
        break;
    case SETTING_VALUE:
        *(struct slice *)field = value;
        break;
    }
}

static void read_rows(const struct setting *rows, size_t count, struct slice map, void *out)
{
    for (size_t i = 0; i < count; i++) {
        struct slice value = map.len == 0 ? VALUE_NONE : value_get(map, slice_str(rows[i].name));
        if (value.len > 0)
            read_one(&rows[i], value, out);
    }
}

void table_settings_read(const struct table *table, struct table_settings *out)
{
    *out = (struct table_settings){.on_demand = false};
    read_rows(throughput_rows, COUNT_OF(throughput_rows), table->settings, &out->throughput);
    read_rows(table_rows, COUNT_OF(table_rows), table->settings, out);
}

void index_settings_read(const struct index *index, struct throughput_settings *out)
{
    *out = (struct throughput_settings){.read = 0};
    read_rows(throughput_rows, COUNT_OF(throughput_rows), index->settings, out);
}

// ---- Writing --------------------------------------------------------------------------------

static void write_one(struct value_builder *b, const struct setting *row, const void *from)
{
    const void *field = (const char *)from + row->offset;
    const struct slice *slice = field;
    uint8_t number[NUMBER_BYTES_MAX];
    switch (row->kind) {
    case SETTING_INTEGER:
        if (*(const int64_t *)field == 0)
            return;
        value_name(b, slice_str(row->name));
        value_put_number(b, slice_of(number, number_from_i64(*(const int64_t *)field, number)));
        return;
    case SETTING_FLAG:
        if (!*(const bool *)field)
            return;
        value_name(b, slice_str(row->name));
        value_put_bool(b, true);
        return;
    case SETTING_TEXT:
        if (slice->len == 0)
            return;
        value_name(b, slice_str(row->name));
        value_put_string(b, *slice);
        return;
    case SETTING_VALUE:
        if (slice->len == 0)
            return;
        value_name(b, slice_str(row->name));
        value_put(b, *slice);
        return;
    }
}

// The M value of up to two structs, in the arena.
static bool write_map(struct arena *arena, const struct throughput_settings *throughput,
                      const struct table_settings *settings, struct slice *out)
{
    struct buf record;
    struct value_builder b;
    buf_init(&record, 1 << 24);
    value_builder_init(&b, &record);
    value_open_map(&b);
    for (size_t i = 0; i < COUNT_OF(throughput_rows); i++)
        write_one(&b, &throughput_rows[i], throughput);
    for (size_t i = 0; settings != NULL && i < COUNT_OF(table_rows); i++)
        write_one(&b, &table_rows[i], settings);
    (void)value_close(&b);
    struct slice copy = record.failed ? VALUE_NONE : arena_copy(arena, buf_view(&record));
    value_builder_release(&b);
    buf_release(&record);
    if (copy.ptr == NULL)
        return false;
    *out = copy;
    return true;
}

// What the change log has to keep for all that reads it.
static unsigned log_images(const struct table_settings *settings)
{
    static const struct {
        const char *view;
        unsigned images;
    } views[] = {
        {"KEYS_ONLY", LOG_KEYS},
        {"NEW_IMAGE", LOG_KEYS | LOG_NEW},
        {"OLD_IMAGE", LOG_KEYS | LOG_OLD},
        {"NEW_AND_OLD_IMAGES", LOG_KEYS | LOG_OLD | LOG_NEW},
    };
    unsigned images = 0;
    for (size_t i = 0; i < COUNT_OF(views); i++)
        images |= slice_is(settings->stream_view, views[i].view) ? views[i].images : 0;
    images |= settings->pitr_days > 0 ? LOG_KEYS | LOG_OLD : 0;
    images |= settings->log_both ? LOG_KEYS | LOG_OLD | LOG_NEW : 0;
    return images;
}

bool table_settings_write(struct table *table, const struct table_settings *settings)
{
    table->log_images = log_images(settings);
    if (!slice_equal(table->ttl.attribute, settings->ttl_attribute)) {
        table->ttl = (struct table_ttl){.tree = 0};
        if (settings->ttl_attribute.len > 0) {
            table->ttl.attribute = arena_copy(&table->arena, settings->ttl_attribute);
            if (table->ttl.attribute.ptr == NULL)
                return false;
        }
    }
    return write_map(&table->arena, &settings->throughput, settings, &table->settings);
}

bool index_settings_write(struct table *table, struct index *index,
                          const struct throughput_settings *settings)
{
    return write_map(&table->arena, settings, NULL, &index->settings);
}

// ---- Throughput -----------------------------------------------------------------------------

static void at_least(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

// Whatever is provisioned, or promised on demand, is warm.
static void keep_warm(struct throughput_settings *settings, bool on_demand)
{
    at_least(&settings->warm_read, on_demand ? WARM_READ_ON_DEMAND : settings->read);
    at_least(&settings->warm_write, on_demand ? WARM_WRITE_ON_DEMAND : settings->write);
}

void throughput_start(struct throughput_settings *settings, bool on_demand,
                      const struct throughput_request *request)
{
    *settings = (struct throughput_settings){.read = 0};
    if (!on_demand && request->provisioned != NULL) {
        settings->read = request->provisioned->read_capacity_units.value;
        settings->write = request->provisioned->write_capacity_units.value;
    }
    throughput_limit(settings, request->on_demand);
    throughput_warm(settings, request->warm);
    keep_warm(settings, on_demand);
}

void throughput_provision(struct throughput_settings *settings, int64_t read, int64_t write,
                          int64_t now_ms)
{
    if (read > settings->read || write > settings->write)
        settings->increased_ms = now_ms;
    if (read < settings->read || write < settings->write) {
        settings->decreases = throughput_decreases(settings, now_ms) + 1;
        settings->decreased_ms = now_ms;
    }
    settings->read = read;
    settings->write = write;
    settings->max_read = 0;
    settings->max_write = 0;
    keep_warm(settings, false);
}

void throughput_to_on_demand(struct throughput_settings *settings)
{
    settings->read = 0;
    settings->write = 0;
    keep_warm(settings, true);
}

// -1 takes a limit away.
void throughput_limit(struct throughput_settings *settings,
                      const struct request_on_demand_throughput *request)
{
    if (request == NULL)
        return;
    if (request->max_read_request_units.set) {
        settings->max_read = request->max_read_request_units.value;
        at_least(&settings->max_read, 0);
    }
    if (request->max_write_request_units.set) {
        settings->max_write = request->max_write_request_units.value;
        at_least(&settings->max_write, 0);
    }
}

void throughput_warm(struct throughput_settings *settings,
                     const struct request_warm_throughput *request)
{
    if (request == NULL)
        return;
    if (request->read_units_per_second.set)
        at_least(&settings->warm_read, request->read_units_per_second.value);
    if (request->write_units_per_second.set)
        at_least(&settings->warm_write, request->write_units_per_second.value);
}

int64_t throughput_decreases(const struct throughput_settings *settings, int64_t now_ms)
{
    const int64_t day = 24LL * 3600 * 1000;
    return settings->decreased_ms / day == now_ms / day ? settings->decreases : 0;
}
