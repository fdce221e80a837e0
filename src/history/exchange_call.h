// What the operations on exports, imports and bulk operations share.
#ifndef HISTORY_EXCHANGE_CALL_H
#define HISTORY_EXCHANGE_CALL_H

#include "call/table_ops.h"
#include "exchange/exchange.h"
#include "requests/requests_control.h"

// The record that an ARN of that kind means, in the call's arena; VALUE_NONE if there is none.
MUST_CHECK bool call_exchange(struct api_call *call, const char *kind, struct slice arn,
                              struct slice *record);
// The name in a table's ARN. False with ValidationException.
MUST_CHECK bool call_table_name(struct api_call *call, struct slice arn, struct slice *name);
// Whether there are buckets, and the prefix stays below one; else ValidationException.
MUST_CHECK bool call_check_place(struct api_call *call, struct slice prefix);

void export_write_json(struct json_writer *w, struct arena *arena,
                       const struct export_record *record);
void import_write_json(struct json_writer *w, struct arena *arena,
                       const struct import_record *record);

// Judges what a request says, and makes the member `filter` of the record of it (in the call's
// arena): empty without a specification.
MUST_CHECK bool export_filter_check(struct api_call *call, const struct filter_specification *spec,
                                    const struct table *table, struct slice *out);
void export_filter_write_json(struct json_writer *w, struct slice record);

#endif
