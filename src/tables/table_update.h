// UpdateTable in two halves: what the request alone shows to be wrong (table_update_check.c), and
// what depends on the table, judged and done on the writer's thread (table_update.c,
// table_update_index.c).
#ifndef TABLES_TABLE_UPDATE_H
#define TABLES_TABLE_UPDATE_H

#include "tables/table_spec.h"

MUST_CHECK bool table_update_check(const struct update_table_request *request, struct error *error);

// An update on its way.
struct table_update {
    const struct update_table_request *request;
    struct slice name;
    int64_t now_ms;
    // Set by the writer's thread.
    bool on_demand; // what the table will be
    struct error *error;
};

// Judges the request against the table, on the writer's thread where nothing can change it in
// between, and makes its next version.
MUST_CHECK bool table_update_alter(struct table_update *update, const struct table *current,
                                   struct table **next, struct error *error);

// Members of the request whose structs say nothing count as absent.
const struct request_on_demand_throughput *
update_limits(const struct request_on_demand_throughput *limits);
const struct request_warm_throughput *update_warm(const struct request_warm_throughput *warm);

// GlobalSecondaryIndexUpdates: judged against the table as it is, then done to the next version,
// whose settings already say what the table will be.
MUST_CHECK bool update_indexes_check(const struct table_update *update,
                                     const struct table *current);
MUST_CHECK bool update_indexes_apply(const struct table_update *update, struct table *table,
                                     struct table_settings *settings);

#endif
