// What the operations of the control plane share: walking over tables, and ARNs. The small maps
// inside a table's settings (policies, insights, destinations, scaling) are value/map.h's.
#ifndef API_CONTROL_H
#define API_CONTROL_H

#include "api/table_ops.h"
#include "value/map.h"

// ---- Answering ---------------------------------------------------------------------------------

// The settings that a change of the call's table left behind; the slices live as long as the call.
void call_changed_settings(const struct api_call *call, struct table_settings *out);

// ---- Walking over tables ------------------------------------------------------------------------

// The names of the tables behind `after`, as they are now: tables may come and go meanwhile.
struct table_names {
    struct buf text;
    size_t at;
};
void table_names_init(struct table_names *names, struct engine *engine, struct slice after);
MUST_CHECK bool table_names_next(struct table_names *names, struct slice *name);
void table_names_release(struct table_names *names);

// ---- ARNs ------------------------------------------------------------------------------------

// arn:aws:<service>:<region>:<account>:<rest>; the account may be empty.
struct arn {
    struct slice service;
    struct slice region;
    struct slice account;
    struct slice rest;
};
MUST_CHECK bool arn_split(struct slice text, struct arn *out);

#endif
