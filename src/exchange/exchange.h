// Exports, imports and bulk operations, beside the requests: what is kept of each, as the records
// "export/<id>", "import/<id>" and "bulk/<id>", and the runs that do the work (work/run.h).
//
// A bucket is a directory below the workshop's bucket root, or elsewhere (work/buckets.h). A record
// is in progress from the answer to the request until the work is done, has failed or was
// cancelled; work that the end of the process interrupts is begun again from the start (with the
// same id), and comes out the same.
#ifndef EXCHANGE_EXCHANGE_H
#define EXCHANGE_EXCHANGE_H

#include "engine/history.h"
#include "expr/expr.h"
#include "transfer/export.h"
#include "transfer/item_reader.h"
#include "value/map.h"
#include "work/run.h"

enum exchange_status { EXCHANGE_IN_PROGRESS, EXCHANGE_COMPLETED, EXCHANGE_FAILED };

// What all of them have in common. Slices point into the record they were decoded from.
struct exchange {
    struct slice id; // see export_id()
    struct slice table;
    struct slice table_id;
    struct slice region;
    struct slice token;  // ClientToken, or empty
    struct slice digest; // of everything else in the request, in hex
    uint32_t status;     // enum exchange_status; of a bulk operation enum bulk_status
    int64_t started_ms;
    int64_t ended_ms;
    struct slice failure_code;
    struct slice failure_message;
    struct slice bucket;
    struct slice owner;
    struct slice prefix;
};

struct export_record {
    struct exchange base;
    bool incremental;
    bool ion;
    bool old_images; // incremental: NEW_AND_OLD_IMAGES
    int64_t at_ms;   // full: the table as of then
    int64_t from_ms; // incremental: changes from here, up to but without the next
    int64_t to_ms;
    struct slice sse_algorithm;
    struct slice sse_key;
    struct slice filter; // see export_filter.c; empty if there is none
    int64_t billed_bytes;
    int64_t items;
};

struct import_record {
    struct exchange base;
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

enum bulk_status {
    BULK_IN_PROGRESS,
    BULK_COMPLETED,
    BULK_COMPLETED_WITH_ERRORS,
    BULK_CANCELLED,
    BULK_FAILED,
};

struct bulk_record {
    struct exchange base; // bucket, owner and prefix are the input's
    bool cancel;
    struct slice format;
    struct slice compression; // as given
    struct slice out_bucket;
    struct slice out_owner;
    struct slice out_prefix;
    struct slice sse_algorithm;
    struct slice sse_key;
    bool report_errors;     // OutputType has ERROR
    bool report_conditions; // and CONDITION_CHECK_FAILURE, of which there are none
    struct slice tier;      // as given
    int64_t max_units;      // a second; 0 for no limit
    int64_t processed_items;
    int64_t failed_items;
    int64_t processed_bytes;
    int64_t total_bytes;
    int64_t written_bytes; // sizes of the items
};

// ---- Records (record.c) -----------------------------------------------------------------------

// The structs as M values: see value/map.h.
extern const struct map_form exchange_form;
extern const struct map_form export_form;
extern const struct map_form import_form;
extern const struct map_form bulk_form;

// "<kind>/<id>" in the arena; ptr NULL when memory is out.
struct slice exchange_name(struct arena *arena, const char *kind, struct slice id);

// arn:aws:dynamodb:<region>:000000000000:table/<table>[/<kind>/<id>], in the arena.
struct slice exchange_arn(struct arena *arena, const struct exchange *base, const char *kind);

// The record with this token that is younger than eight hours, in the arena; VALUE_NONE if there is
// none.
MUST_CHECK bool exchange_by_token(struct engine *engine, const char *kind, struct slice token,
                                  int64_t now_ms, struct arena *arena, struct slice *record,
                                  struct error *error);

// A digest of the parts of a request, in hex; in the arena.
struct slice exchange_digest(struct arena *arena, const struct slice *parts, size_t count);

// "<bucket root>/<bucket>" in the arena; NULL with the error set.
char *exchange_bucket(struct workshop *shop, struct slice bucket, struct arena *arena,
                      struct error *error);

// The directory that a run writes what goes to the bucket to (`out`), or reads what came from it
// (place.c); NULL with the error set. To be pushed, or pulled before, and cleared at the end:
// nothing of that happens where buckets are directories.
char *exchange_place(struct run *run, struct slice bucket, bool out);
MUST_CHECK bool exchange_push(struct run *run, struct slice bucket, const char *place);
MUST_CHECK bool exchange_pull(struct run *run, struct slice bucket, struct slice prefix,
                              const char *place);
void exchange_clear(struct run *run);

// ---- Runs (export_run.c, import_run.c, bulk_run.c) --------------------------------------------

extern const struct run_kind export_kind;
extern const struct run_kind import_kind;
extern const struct run_kind bulk_kind;

// Where buckets are: `root`, or without one the directory "buckets" in the data directory; if there
// is neither, there are none. Goes on with what the last process had not finished. Once.
void exchange_open(struct workshop *shop, const char *root, const char *data);

// Says how a run has failed: the code that Describe shows, and the text. Always false.
bool exchange_fail(struct run *run, struct exchange *base, const char *code, const char *message);
// Notes when a run ended and, if it failed, why: with this code, unless one is known already.
void exchange_end(struct run *run, struct exchange *base, bool ok, const char *code);

// Reading all data files below a prefix, record by record (intake.c).
struct intake {
    struct run *run;
    struct exchange *base;
    struct item_reader_options options;
    int64_t total_bytes;             // of all files; once the first is read
    int64_t bytes;                   // that were read so far
    bool (*wants)(struct slice key); // NULL for all files
    // What becomes of a record; of a file that cannot be read to its end (the others are read all
    // the same); and whether to go on, which is asked even where no record comes for long. False
    // ends the run, with the error set or not.
    bool (*take)(struct run *run, struct slice file, const struct item_record *record);
    bool (*tell)(struct run *run, struct slice file, uint64_t line, const char *why);
    bool (*goes_on)(struct run *run);
};
MUST_CHECK bool intake_read(struct intake *intake);
// Of InputFormat and InputCompressionType.
enum transfer_format intake_format(struct slice name);
enum transfer_compression intake_compression(struct slice name);

// Where changes go: to the files, through the filter.
struct export_target {
    struct export_writer *writer;
    struct export_filter *filter;
};

// Writes the changes of the window; *bytes is the size of the images.
MUST_CHECK bool export_changes(struct workshop *shop, struct table *table,
                               const struct export_record *record,
                               const struct export_target *target, int64_t *bytes,
                               struct error *error);

// ---- FilterSpecification (export_filter.c) ----------------------------------------------------

enum export_image { EXPORT_NEW_IMAGE, EXPORT_OLD_IMAGE, EXPORT_IMAGES };

// The expressions as texts, from a request or from a record; ptr is NULL if one is not given. And
// compiled.
struct export_texts {
    struct slice filter;
    struct slice projection;
    struct slice key;
};
struct export_expressions {
    struct expr_condition *condition;   // or NULL
    struct expr_projection *projection; // or NULL
    struct expr_key *key;               // or NULL
    struct key_range range;             // that it means
};
MUST_CHECK bool export_filter_compile(struct expr_params *params, const struct export_texts *texts,
                                      const struct key_schema *keys,
                                      struct export_expressions *out);

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

#endif
