// Auto scaling settings of tables and indexes: kept and read back. Nothing here scales: a table
// serves what it is asked for, or (with --enforce-capacity) what it is provisioned with.
#ifndef CONTROL_AUTOSCALING_H
#define CONTROL_AUTOSCALING_H

#include "call/table_ops.h"

// Changes the settings for reads or writes of a table (an empty index) or of a global index. What
// the update does not say stays. An update of NULL changes nothing.
MUST_CHECK bool scaling_set(struct table *table, struct table_settings *settings,
                            struct slice index, bool write, const struct scaling_update *update,
                            struct error *error);

// A member with an AutoScalingSettingsDescription.
void scaling_write(struct json_writer *w, const char *member, const struct table *table,
                   const struct table_settings *settings, struct slice index, bool write);

#endif
