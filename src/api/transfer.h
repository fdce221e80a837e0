// Exports and imports: what is kept of each, as the records "export/<id>" and "import/<id>", and
// the tasks that do the work beside the requests.
//
// A bucket is a directory below the api's bucket root. A record is IN_PROGRESS from the answer to
// the request until the work is done or has failed; work that the end of the process interrupts is
// begun again from the start when the api is opened (with the same id), and comes out the same.
#ifndef API_TRANSFER_H
#define API_TRANSFER_H

#include "api/requests_transfer.h"
#include "api/table_ops.h"
#include "engine/history.h"
#include "transfer/export.h"

enum work_status { WORK_IN_PROGRESS, WORK_COMPLETED, WORK_FAILED };

// What exports and imports have in common. Slices point into the record they were decoded from.
struct work {
    struct slice id; // see export_id()
    struct slice table;
    struct slice table_id;
    struct slice region;
    struct slice token;  // ClientToken, or empty
    struct slice digest; // of everything else in the request, in hex
    enum work_status status;
    int64_t started_ms;
    int64_t ended_ms;
    struct slice failure_code;
    struct slice failure_message;
    struct slice bucket;
    struct slice owner;
    struct slice prefix;
};

// The members of it in a record.
void work_put(struct map_maker *maker, const struct work *work);
void work_get(struct slice record, struct work *out);

struct export_work {
    struct work work;
    bool incremental;
    bool ion;
    bool old_images; // incremental: NEW_AND_OLD_IMAGES
    int64_t at_ms;   // full: the table as of then
    int64_t from_ms; // incremental: changes from here, up to but without the next
    int64_t to_ms;
    struct slice sse_algorithm;
    struct slice sse_key;
    struct slice filter; // see transfer_export_filter.c; empty if there is none
    int64_t billed_bytes;
    int64_t items;
};

struct import_work {
    struct work work;
    struct slice format;      // DYNAMODB_JSON, ION, CSV
    struct slice compression; // GZIP, ZSTD, NONE
    struct slice delimiter;   // CSV; may be empty
    struct slice header;      // CSV: an L of S, or empty
    struct slice options;     // the request's InputFormatOptions as JSON text, or empty
    struct slice creation;    // and its TableCreationParameters
    int64_t errors;
    int64_t processed_bytes;
    int64_t processed_items;
    int64_t imported_items;
};

// ---- Records (transfer_record.c) ---------------------------------------------------------------

// The M value of a record, in the arena; empty, with the error set, when memory is out.
struct slice export_encode(const struct export_work *work, struct arena *arena,
                           struct error *error);
struct slice import_encode(const struct import_work *work, struct arena *arena,
                           struct error *error);
void export_decode(struct slice record, struct export_work *out);
void import_decode(struct slice record, struct import_work *out);

// "export/<id>" or "import/<id>" in the arena; ptr NULL when memory is out.
struct slice work_name(struct arena *arena, const char *kind, struct slice id);

// arn:aws:dynamodb:<region>:000000000000:table/<table>[/<kind>/<id>], in the arena.
struct slice work_arn(struct arena *arena, const struct work *work, const char *kind);

// The record that an ARN of that kind means, in the call's arena; VALUE_NONE if there is none.
MUST_CHECK bool work_find(struct api_call *call, const char *kind, struct slice arn,
                          struct slice *record);

// The record with this token that is younger than eight hours, in the arena; VALUE_NONE if there is
// none.
MUST_CHECK bool work_by_token(struct engine *engine, const char *kind, struct slice token,
                              int64_t now_ms, struct arena *arena, struct slice *record,
                              struct error *error);

// Writes one record, and waits for it, as long as the store refuses. For tasks.
MUST_CHECK bool work_write(struct api *api, const char *kind, struct slice id, struct slice value,
                           struct error *error);

// A digest of the parts of a request, in hex; in the arena.
struct slice work_digest(struct arena *arena, const struct slice *parts, size_t count);

// The name in a table's ARN. False with ValidationException.
MUST_CHECK bool work_table_name(struct api_call *call, struct slice arn, struct slice *name);

// "<bucket root>/<bucket>" in the arena; NULL with the error set.
char *work_bucket(struct api *api, struct slice bucket, struct arena *arena, struct error *error);

// Whether the api has a bucket root, and the prefix stays below it; else ValidationException.
MUST_CHECK bool work_check_place(struct api_call *call, struct slice prefix);

// ---- Descriptions (transfer_describe.c) ---------------------------------------------------------

void export_write_json(struct json_writer *w, struct arena *arena, const struct export_work *work);
void import_write_json(struct json_writer *w, struct arena *arena, const struct import_work *work);

// ---- Tasks (transfer_export_run.c, transfer_import_run.c) -------------------------

// Queues the work of the record with this id. False if the api is closing.
MUST_CHECK bool export_begin(struct api *api, struct slice id);
MUST_CHECK bool import_begin(struct api *api, struct slice id);

// Where changes go: to the files, through the filter.
struct export_target {
    struct export_writer *writer;
    struct export_filter *filter;
};

// Writes the changes of the window; *bytes is the size of the images.
MUST_CHECK bool export_changes(struct api *api, struct table *table, const struct export_work *work,
                               const struct export_target *target, int64_t *bytes,
                               struct error *error);

// ---- FilterSpecification (transfer_export_filter.c) -------------------------------

enum export_image { EXPORT_NEW_IMAGE, EXPORT_OLD_IMAGE, EXPORT_IMAGES };

// Judges what a request says, and makes the member `filter` of the record of it (in the call's
// arena): empty without a specification.
MUST_CHECK bool export_filter_check(struct api_call *call, const struct filter_specification *spec,
                                    const struct table *table, struct slice *out);

// The filter of a record, which may be empty. It borrows the record and the table; NULL with the
// error set. Its struct is in the arena, export_filter_close() frees the rest.
MUST_CHECK struct export_filter *export_filter_open(struct slice record, const struct table *table,
                                                    struct arena *arena, struct error *error);
void export_filter_close(struct export_filter *filter);

// Whether keys (or an item) meet the key condition, an item the filter expression; and whether
// there is such an expression.
bool export_filter_keys(const struct export_filter *filter, struct slice keys);
bool export_filter_item(const struct export_filter *filter, struct slice item);
bool export_filter_chooses(const struct export_filter *filter);
// Makes *item what the projection leaves of it, until the next call for the same image.
MUST_CHECK bool export_filter_project(struct export_filter *filter, enum export_image image,
                                      struct slice *item, struct error *error);

void export_filter_write_json(struct json_writer *w, struct slice record);

#endif
