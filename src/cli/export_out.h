// Where `dolmen export` writes: one file, AWS's layout of an export, or a directory of numbered
// files. Each of them can be left at a point and gone on with later.
#ifndef CLI_EXPORT_OUT_H
#define CLI_EXPORT_OUT_H

#include "transfer/export.h"
#include "transfer/sink.h"

enum out_kind {
    OUT_FILE,   // or standard output
    OUT_LAYOUT, // export.h
    OUT_PARTS,  // numbered files: BATCH_WRITE, DYNAMODUMP
};

struct out {
    enum out_kind kind;
    const char *path; // NULL for standard output
    enum transfer_compression compression;
    struct item_writer items;
    struct arena *arena;
    struct buf record;
    struct sink *sink;            // FILE
    struct export_writer *layout; // LAYOUT
    const struct env *env;
    char id[EXPORT_ID_MAX];
    int64_t started_ms;
    uint64_t part;  // PARTS: how many files there are; FILE: where the last cut is
    uint64_t count; // items so far
};

// Where an export stands: what the state file holds.
struct out_state {
    uint64_t size; // FILE: bytes of the output that are safe
    uint64_t part; // PARTS
    uint64_t count;
    struct slice manifest; // LAYOUT: lines so far
    struct slice id;
    int64_t started_ms;
};

// Opens the output anew, or at a state.
MUST_CHECK bool out_open(struct out *out, const struct out_state *state, struct error *error);
MUST_CHECK bool out_item(struct out *out, struct slice item, struct error *error);
// Whether the output can be left now, after a page: what was written is safe. Not always:
// compressed files are cut now and then only.
MUST_CHECK bool out_page(struct out *out, bool *safe, struct out_state *state, struct error *error);
// The end of the export. `table` describes the table (dynamodump, manifests).
MUST_CHECK bool out_finish(struct out *out, struct slice table_arn, struct slice table_id,
                           struct error *error);
void out_release(struct out *out);

#endif
