// What the operations on exports, imports and bulk operations share.
#ifndef HISTORY_EXCHANGE_CALL_H
#define HISTORY_EXCHANGE_CALL_H

#include "call/table_ops.h"
#include "exchange/exchange.h"
#include "requests/requests_control.h"

// The record that an ARN of that kind means, in the call's arena; VALUE_NONE if there is none.
MUST_CHECK bool call_exchange(struct api_call *call, const char *kind, struct slice arn,
                              struct slice *record);
// What all records have that are begun now: an id, the region, the moment, and a digest of what was
// asked for, by which a repeated token is judged.
MUST_CHECK bool call_exchange_init(struct api_call *call, struct exchange *base,
                                   const struct slice *parts, size_t count);
// Hands the record to the writer, where `decide` gets the context, which is the call's own: two
// requests with one token begin one exchange.
enum step call_exchange_submit(struct api_call *call, const char *kind, struct slice id,
                               struct slice record,
                               bool (*decide)(struct record_job *job, struct engine *engine),
                               void *context);
// A page of the records of a kind, as the member of an answer that is still open. The records
// behind the id `after` (if it is not empty) of the table (if there is one), `limit` of them.
struct exchange_list {
    const char *kind;
    const char *member;
    struct slice table;
    struct slice after;
    uint64_t limit;
    void (*write)(struct json_writer *w, struct arena *arena, struct slice record);
    // What comes out:
    struct json_writer w;
    struct arena *arena;
    uint64_t count;
    bool more;
    char last[EXPORT_ID_MAX]; // the id of the last one
};
MUST_CHECK bool call_exchange_list(struct api_call *call, struct exchange_list *list);
// The name in a table's ARN. False with ValidationException.
MUST_CHECK bool call_table_name(struct api_call *call, struct slice arn, struct slice *name);
// Reads the settings of a table that must have point-in-time recovery, else
// PointInTimeRecoveryUnavailableException.
MUST_CHECK bool call_past_settings(struct api_call *call, const struct table *table,
                                   struct table_settings *out);
// Whether there are buckets, and the prefix stays below one; else ValidationException.
MUST_CHECK bool call_check_place(struct api_call *call, struct slice prefix);

// {"ExportDescription":{…}} and {"ImportTableDescription":{…}}.
void export_respond(struct api_call *call, const struct export_record *record);
void import_respond(struct api_call *call, const struct import_record *record);

// Judges what a request says, and makes the member `filter` of the record of it (in the call's
// arena): empty without a specification.
MUST_CHECK bool export_filter_check(struct api_call *call, const struct filter_specification *spec,
                                    const struct table *table, struct slice *out);
void export_filter_write_json(struct json_writer *w, struct slice record);

#endif
