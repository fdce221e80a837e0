// Settings as structs and as M values, by one table of names, and the arithmetic of throughput.
#include "tables/table_settings.h"

#include "value/map.h"

#define THROUGHPUT(kind, field) MAP_SAME(throughput_settings, kind, field)
#define TABLE(kind, field)      MAP_SAME(table_settings, kind, field)

// The names are part of the stored format.
static const struct map_row throughput_rows[] = {
    THROUGHPUT(INTEGER, read),         THROUGHPUT(INTEGER, write),
    THROUGHPUT(INTEGER, increased_ms), THROUGHPUT(INTEGER, decreased_ms),
    THROUGHPUT(INTEGER, decreases),    THROUGHPUT(INTEGER, max_read),
    THROUGHPUT(INTEGER, max_write),    THROUGHPUT(INTEGER, warm_read),
    THROUGHPUT(INTEGER, warm_write),
};

static const struct map_form throughput_form = MAP_FORM(throughput_settings, throughput_rows);

static const struct map_row table_rows[] = {
    MAP_PART_ROW(table_settings, throughput, &throughput_form),
    TABLE(FLAG, on_demand),
    TABLE(INTEGER, on_demand_ms),
    TABLE(TEXT, table_class),
    TABLE(INTEGER, table_class_ms),
    TABLE(FLAG, encrypted),
    TABLE(TEXT, key),
    TABLE(TEXT, stream_view),
    TABLE(INTEGER, stream_ms),
    TABLE(FLAG, protected),
    TABLE(TEXT, ttl_attribute),
    TABLE(VALUE, attributes),
    TABLE(VALUE, tags),
    TABLE(VALUE, policies),
    TABLE(VALUE, insights),
    TABLE(VALUE, kinesis),
    TABLE(VALUE, publishes),
    TABLE(VALUE, scaling),
    TABLE(VALUE, global),
    TABLE(INTEGER, pitr_days),
    TABLE(INTEGER, pitr_ms),
    TABLE(FLAG, log_both),
    TABLE(INTEGER, live),
    TABLE(TEXT, restore_backup),
    TABLE(TEXT, restore_table),
    TABLE(INTEGER, restore_ms),
    TABLE(INTEGER, pitr_later),
    TABLE(TEXT, restore_model),
};
static const struct map_form table_form = MAP_FORM(table_settings, table_rows);

// ---- Reading --------------------------------------------------------------------------------

void table_settings_read(const struct table *table, struct table_settings *out)
{
    map_decode(&table_form, table->settings, out);
}

void index_settings_read(const struct index *index, struct throughput_settings *out)
{
    map_decode(&throughput_form, index->settings, out);
}

// ---- Writing --------------------------------------------------------------------------------

static bool write_map(struct table *table, const struct map_form *form, const void *settings,
                      struct slice *out)
{
    struct error error;
    error_init(&error, &table->arena);
    struct slice made = map_encode(form, settings, &table->arena, &error);
    if (made.ptr != NULL)
        *out = made;
    return made.ptr != NULL;
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
    bool both = settings->log_both || settings->publishes.len > 0 || settings->live > 0;
    images |= both ? LOG_KEYS | LOG_OLD | LOG_NEW : 0;
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
    return write_map(table, &table_form, settings, &table->settings);
}

bool index_settings_write(struct table *table, struct index *index,
                          const struct throughput_settings *settings)
{
    return write_map(table, &throughput_form, settings, &index->settings);
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
