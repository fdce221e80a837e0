// Consumed capacity and item collection metrics, as answers report them.
#include "call/operation.h"

enum capacity_detail capacity_detail(struct slice return_consumed_capacity)
{
    if (slice_is(return_consumed_capacity, "TOTAL"))
        return CAPACITY_TOTAL;
    return slice_is(return_consumed_capacity, "INDEXES") ? CAPACITY_INDEXES : CAPACITY_NONE;
}

// Indexes are matched by name: the table may have changed between check and execution.
static void add_cost(struct capacity *capacity, const struct table *table,
                     const struct write_cost *cost)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table_index(capacity->table, table->indexes[i].name);
        if (index != NULL)
            capacity->index_write[index - capacity->table->indexes] += cost->indexes[i];
    }
    for (size_t i = 0; i < table->vector_count; i++) {
        const struct vector_index *vector =
            table_vector(capacity->table, table->vectors[i].base.name);
        if (vector != NULL && cost->vectors[i] > 0)
            capacity->vector_write[vector - capacity->table->vectors] +=
                capacity_vector_bytes(cost->vectors[i]);
    }
}

void capacity_add_write(struct capacity *capacity, const struct write_action *action, double factor)
{
    if (action->table->tree == capacity->table->tree) {
        capacity->write += factor * action->out.cost.table;
        if (action->out.cost_table != NULL)
            add_cost(capacity, action->out.cost_table, &action->out.cost);
    }
    for (const struct write_derived *row = action->out.derived; row != NULL; row = row->next) {
        if (row->table->tree != capacity->table->tree)
            continue;
        capacity->write += factor * row->cost.table;
        add_cost(capacity, row->table, &row->cost);
    }
}

// The documentation's example shows a kilobyte for a search among vectors of four numbers.
double capacity_vector_bytes(uint64_t bytes)
{
    return (double)((bytes == 0 ? 1 : (bytes + 1023) / 1024) * 1024);
}

double capacity_read_units(uint64_t bytes, bool consistent)
{
    uint64_t blocks = bytes == 0 ? 1 : (bytes + 4095) / 4096;
    return (double)blocks * (consistent ? 1.0 : 0.5);
}

void usage_read(struct api_call *call, const struct table *table, const struct index *index,
                double units, uint64_t items)
{
    call->usage.read_units += units;
    call->usage.items += items;
    if (call->api->throttle != NULL)
        throttle_charge(call, table, index, false, units);
}

static double indexes_written(struct api_call *call, const struct table *table,
                              const struct write_cost *cost)
{
    double total = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        throttle_charge(call, table, &table->indexes[i], true, cost->indexes[i]);
        total += cost->indexes[i];
    }
    return total;
}

static double action_written(struct api_call *call, const struct write_action *action,
                             double factor)
{
    double total = factor * action->out.cost.table;
    throttle_charge(call, action->table, NULL, true, total);
    if (action->out.cost_table != NULL)
        total += indexes_written(call, action->out.cost_table, &action->out.cost);
    for (const struct write_derived *row = action->out.derived; row != NULL; row = row->next) {
        throttle_charge(call, row->table, NULL, true, factor * row->cost.table);
        total += factor * row->cost.table + indexes_written(call, row->table, &row->cost);
    }
    return total;
}

void usage_written(struct api_call *call)
{
    const struct write_job *job = call->state->write;
    double factor = job->transaction ? 2 : 1;
    for (size_t i = 0; i < job->count; i++) {
        const struct write_action *action = &job->actions[i];
        // A transaction that is repeated only reads what it wrote before.
        if (job->repeated)
            usage_read(call, action->table, NULL, factor * action->out.cost.table, 0);
        else
            call->usage.write_units += action_written(call, action, factor);
    }
}

// {"CapacityUnits":…}, with the split that transactions report.
static void write_units_json(struct json_writer *w, const struct capacity *capacity, double read,
                             double write)
{
    if (capacity->transaction && read > 0) {
        json_name(w, "ReadCapacityUnits");
        json_units(w, read);
    }
    if (capacity->transaction && write > 0) {
        json_name(w, "WriteCapacityUnits");
        json_units(w, write);
    }
    json_name(w, "CapacityUnits");
    json_units(w, read + write);
}

static void write_indexes_json(struct json_writer *w, const struct capacity *capacity, bool global)
{
    bool open = false;
    for (size_t i = 0; i < capacity->table->index_count; i++) {
        const struct index *index = &capacity->table->indexes[i];
        if (index->global != global || capacity->index_read[i] + capacity->index_write[i] == 0)
            continue;
        if (!open) {
            json_name(w, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
            json_open_object(w);
            open = true;
        }
        json_name_slice(w, index->name);
        json_open_object(w);
        write_units_json(w, capacity, capacity->index_read[i], capacity->index_write[i]);
        json_close_object(w);
    }
    if (open)
        json_close_object(w);
}

static void write_vectors_json(struct json_writer *w, const struct capacity *capacity)
{
    bool open = false;
    for (size_t i = 0; i < capacity->table->vector_count; i++) {
        if (capacity->vector_write[i] == 0)
            continue;
        if (!open) {
            json_put_object(w, "VectorIndexes");
            open = true;
        }
        json_name_slice(w, capacity->table->vectors[i].base.name);
        json_open_object(w);
        json_name(w, "VectorWriteRequestBytes");
        json_units(w, capacity->vector_write[i]);
        json_close_object(w);
    }
    if (open)
        json_close_object(w);
}

void capacity_write_json(struct json_writer *w, const struct capacity *capacity,
                         enum capacity_detail detail)
{
    double read = capacity->read;
    double write = capacity->write;
    for (size_t i = 0; i < capacity->table->index_count; i++) {
        read += capacity->index_read[i];
        write += capacity->index_write[i];
    }
    json_open_object(w);
    json_put_string(w, "TableName", capacity->table->name);
    write_units_json(w, capacity, read, write);
    if (detail == CAPACITY_INDEXES) {
        json_put_object(w, "Table");
        write_units_json(w, capacity, capacity->read, capacity->write);
        json_close_object(w);
        write_indexes_json(w, capacity, false);
        write_indexes_json(w, capacity, true);
        write_vectors_json(w, capacity);
    }
    json_close_object(w);
}

void collection_write_json(struct json_writer *w, const struct table *table, struct slice item,
                           int64_t bytes)
{
    const struct key_part *hash = &table->keys.parts[0];
    json_open_object(w);
    json_put_object(w, "ItemCollectionKey");
    json_name_slice(w, hash->name);
    json_value(w, value_get(item, hash->name));
    json_close_object(w);
    json_put_array(w, "SizeEstimateRangeGB");
    int64_t gigabytes = bytes >> 30;
    json_units(w, (double)gigabytes);
    json_units(w, (double)(gigabytes + 1));
    json_close_array(w);
    json_close_object(w);
}
