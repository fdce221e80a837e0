// An export as AWS lays it out in a bucket:
//
//   [prefix/]AWSDynamoDB/<id>/_started
//                             manifest-summary.json, manifest-summary.checksum
//                             manifest-files.json, manifest-files.checksum
//                             data/<random>.json.gz, …       (full)
//   [prefix/]AWSDynamoDB/data/<random>.json.gz, …            (incremental)
//
// The checksum files have the base64 of the MD5 of the file beside them. The summary is written
// last: where it is, the export is complete.
#ifndef TRANSFER_EXPORT_H
#define TRANSFER_EXPORT_H

#include "base/env.h"
#include "transfer/item_writer.h"

enum { EXPORT_ID_MAX = 24, EXPORT_FILE_BYTES = 32 << 20 };

// "01695353076000-06e2188f": the milliseconds in fourteen digits, and eight random hex digits.
void export_id(const struct env *env, int64_t now_ms, char out[EXPORT_ID_MAX]);

struct export_summary {
    struct slice export_arn;
    struct slice table_arn;
    struct slice table_id;
    int64_t start_ms;
    int64_t end_ms;
    int64_t export_ms; // of a full export
    int64_t from_ms;   // of an incremental one
    int64_t to_ms;
    struct slice view; // OutputView; empty for a full export
    struct slice bucket;
    struct slice prefix;        // may be empty
    struct slice sse_algorithm; // may be empty: AES256
    struct slice sse_key;       // may be empty
    int64_t billed_bytes;
};

struct export_writer;

struct export_options {
    const char *root;    // the bucket's directory
    struct slice prefix; // may be empty
    const char *id;
    bool incremental;
    enum transfer_format format; // DYNAMODB_JSON or ION
    const struct env *env;
    uint64_t file_bytes; // a data file is ended at this size; 0 for the default
    // To go on with an export: the lines of manifest-files.json so far.
    struct slice manifest;
    uint64_t item_count;
};

// Makes the directories and _started. NULL with the reason.
MUST_CHECK struct export_writer *export_open(const struct export_options *options,
                                             struct error *error);
// Gives it up: the data file in progress goes.
void export_free(struct export_writer *writer);

MUST_CHECK bool export_item(struct export_writer *writer, struct slice item, struct error *error);
MUST_CHECK bool export_change(struct export_writer *writer, const struct change_images *change,
                              struct error *error);
// Ends the data file, if one is open: everything so far is in the manifest.
MUST_CHECK bool export_cut(struct export_writer *writer, struct error *error);
// The lines of manifest-files.json so far; until the next call.
struct slice export_manifest(const struct export_writer *writer);
uint64_t export_item_count(const struct export_writer *writer);
// Compressed bytes in the data file that is open; 0 if none is.
uint64_t export_file_bytes(const struct export_writer *writer);

// Ends the data and writes the manifests. The writer is still to be freed.
MUST_CHECK bool export_finish(struct export_writer *writer, const struct export_summary *summary,
                              struct error *error);

// "[prefix/]AWSDynamoDB/<id>/manifest-summary.json"
void export_manifest_key(struct buf *out, struct slice prefix, const char *id);

// Whether a file of an export, or of a dump, has items: it is no manifest, no schema, and no state
// that the command line keeps beside it.
bool export_is_data(struct slice key);

#endif
