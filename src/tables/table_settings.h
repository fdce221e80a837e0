// What a table and its indexes are set to beyond what the engine understands: billing,
// throughput, encryption, streams, time to live, tags. The engine keeps it as an M value
// (table->settings, index->settings); here it is a struct, and one table of names in
// table_settings.c leads from one to the other.
//
// An absent setting is 0, false or an empty slice, and takes no room in the M value. Slices of
// a struct that was read point into the table it was read from.
#ifndef TABLES_TABLE_SETTINGS_H
#define TABLES_TABLE_SETTINGS_H

#include "engine/table.h"
#include "tables/requests.h"

// What a table on demand can serve from its first second on (AWS).
enum { WARM_READ_ON_DEMAND = 12000, WARM_WRITE_ON_DEMAND = 4000 };

// Throughput of a table or of a global index.
struct throughput_settings {
    int64_t read; // provisioned units; 0 on demand
    int64_t write;
    int64_t increased_ms; // when either was raised last, or lowered
    int64_t decreased_ms;
    int64_t decreases; // on the day of decreased_ms
    int64_t max_read;  // limits on demand; 0 for none
    int64_t max_write;
    int64_t warm_read; // never falls
    int64_t warm_write;
};

struct table_settings {
    struct throughput_settings throughput;
    bool on_demand;
    int64_t on_demand_ms;        // when the table last came to be on demand; 0 if it never was
    struct slice table_class;    // only if it was given, or changed
    int64_t table_class_ms;      // when the class was changed
    bool encrypted;              // with a key of its own, not only by default
    struct slice key;            // KMSMasterKeyId as it was given
    struct slice stream_view;    // StreamViewType; empty without a stream
    int64_t stream_ms;           // when the latest stream began; outlives the stream
    bool protected;              // against deletion
    struct slice ttl_attribute;  // empty if time to live is off
    int64_t pitr_days;           // how far back the table can be restored; 0 if it cannot
    int64_t pitr_ms;             // since when the change log is kept for that
    int64_t pitr_later;          // what pitr_days is to be once the table has been filled
    int64_t live;                // since which sequence live patterns have had both images, plus 1
    bool log_both;               // something else needs both images of each change (Kinesis)
    struct slice restore_backup; // id of the backup that the table was made from, or empty
    struct slice restore_table;  // the table that it was made from
    int64_t restore_ms;          // as of when
    struct slice restore_model;  // record of the model that it had there, or empty
    struct slice attributes;     // L of S: the AttributeDefinitions in their order
    struct slice tags;           // M of S
    struct slice policies;       // M: see policy.c
    struct slice insights;       // M: see insights.c
    struct slice kinesis;        // M: see kinesis.c
    struct slice publishes;      // M: see capture/outbox.h
    struct slice scaling;        // M: see autoscaling.c
    struct slice global;         // M: see global.c
};

void table_settings_read(const struct table *table, struct table_settings *out);
void index_settings_read(const struct index *index, struct throughput_settings *out);

// Makes the M value in the table's arena and puts it in place, and tells the engine what follows
// from it: what the change log keeps, which attribute items expire by. False when memory is out.
MUST_CHECK bool table_settings_write(struct table *table, const struct table_settings *settings);
MUST_CHECK bool index_settings_write(struct table *table, struct index *index,
                                     const struct throughput_settings *settings);

// ---- Throughput -----------------------------------------------------------------------------

// What a request says about the throughput of a table or an index; each part may be NULL.
struct throughput_request {
    const struct request_provisioned_throughput *provisioned;
    const struct request_on_demand_throughput *on_demand;
    const struct request_warm_throughput *warm;
};

// For something new.
void throughput_start(struct throughput_settings *settings, bool on_demand,
                      const struct throughput_request *request);
// For something that exists.
void throughput_provision(struct throughput_settings *settings, int64_t read, int64_t write,
                          int64_t now_ms);
void throughput_to_on_demand(struct throughput_settings *settings);
void throughput_limit(struct throughput_settings *settings,
                      const struct request_on_demand_throughput *request);
void throughput_warm(struct throughput_settings *settings,
                     const struct request_warm_throughput *request);

// How often the throughput was lowered on the day of `now_ms`.
int64_t throughput_decreases(const struct throughput_settings *settings, int64_t now_ms);

#endif
