// Verifying a database (verify/verify.h) as the API shows it: the report as JSON, and the one
// verification that may run beside the requests.
//
// VerifyDatabase starts one and answers its RunId; with that RunId it tells how far it is, and in
// the end what was found. It reads on a thread of its own, half of the time at most, and ends when
// nobody has asked for it for half a minute: its client has gone.
#ifndef DESIGNS_VERIFY_H
#define DESIGNS_VERIFY_H

#include "verify/verify.h"
#include "json/writer.h"

// ---- The report -------------------------------------------------------------------------------

struct verify_report {
    struct buf checks;      // elements of JSON arrays
    struct buf differences; //
    struct buf table;       // at work
    struct json_writer checks_writer;
    struct json_writer differences_writer;
    struct verify_progress progress;
    uint64_t limit; // differences to describe
    uint64_t described;
    uint64_t difference_count; // all of them
};

void verify_report_init(struct verify_report *report, uint64_t limit);
void verify_report_release(struct verify_report *report);

// What a watcher calls. The texts are copied.
void verify_report_difference(struct verify_report *report,
                              const struct verify_difference *difference);
void verify_report_outcome(struct verify_report *report, const struct verify_outcome *outcome);

// "Checks", "Differences" and "DifferenceCount" into an open object.
void verify_report_write(const struct verify_report *report, struct json_writer *w);

// "Affects": what a range of the store's keys may belong to. True if that is something which cannot
// be made again out of the items.
bool verify_range_write(struct store *store, struct slice from, struct slice to,
                        struct json_writer *w);

// What the API knows of its records, for verify_options.
extern const struct verify_knowledge verify_knowledge;

// ---- The run ----------------------------------------------------------------------------------

struct verification;
struct verification *verification_new(void);
// When the lanes have ended.
void verification_free(struct verification *verification);

#endif
