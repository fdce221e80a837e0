// Archives: where items go before a sweep deletes them. Each is a full export as AWS lays it out
// (transfer/export.h), so `dolmen import` and ImportTable read it:
//
//   <root>/<table>/<rule>/<date>/AWSDynamoDB/<id>/manifest-summary.json, data/….json.gz, …
//
// It is written below <root>/.part-<table>-<rule>, brought to the disk, read back, compared item by
// item with what was put in, and only then given its name: there is all of it or nothing.
#ifndef RETAIN_ARCHIVE_H
#define RETAIN_ARCHIVE_H

#include "base/env.h"
#include "base/error.h"

struct archive;

struct archive_options {
    const char *root;
    struct slice table;
    struct slice table_id;
    const char *rule;
    const struct env *env;
};

// Removes what an earlier one, which was not finished, has left. NULL with the reason.
MUST_CHECK struct archive *archive_open(const struct archive_options *options, struct error *error);
// Gives up what has no name yet.
void archive_free(struct archive *archive);

MUST_CHECK bool archive_add(struct archive *archive, struct slice item, struct error *error);
// Ends it in two steps: all of it is on disk; it is what was put in, and has its name. What is on
// disk may be damaged between the two only by somebody else.
MUST_CHECK bool archive_close(struct archive *archive, struct error *error);
MUST_CHECK bool archive_publish(struct archive *archive, struct error *error);
// Its path below the root, once it is closed; and how many items it has.
const char *archive_path(const struct archive *archive);
uint64_t archive_count(const struct archive *archive);

// ---- Those that are there ---------------------------------------------------------------------

struct archive_entry {
    const char *path;   // below the root: "jobs/retain-Job/2026-11-18/AWSDynamoDB/<id>"
    struct slice table; // the parts of it
    struct slice rule;
    struct slice date;
    uint64_t items;
    uint64_t bytes;
};

// All of a table, or of all tables if that is empty, in order. Those without a summary are none.
MUST_CHECK bool archives_list(const char *root, struct slice table, struct arena *arena,
                              struct archive_entry **list, size_t *count, struct error *error);
// Reads all data files again and compares checksums and counts with the manifest.
MUST_CHECK bool archive_check(const char *root, const char *path, struct error *error);

#endif
