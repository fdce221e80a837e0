// The items of a table, page by page: for export, lint and infer.
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include "cli/target.h"

// False ends the scan.
typedef bool scan_visit(void *context, struct slice item);

struct scan {
    struct target *target;
    const char *table;
    scan_visit *visit;
    void *context;
    struct arena page;
    struct buf key; // ExclusiveStartKey of the next page, as JSON; empty at the begin and the end
    struct error error;
};

void scan_init(struct scan *scan, struct target *target, const char *table, scan_visit *visit,
               void *context);
void scan_release(struct scan *scan);
// Visits the items of the next page. False with the error set, or because a visit said so.
MUST_CHECK bool scan_page(struct scan *scan);

// All pages, or as much as `sample` items if it is not 0, with a bar. False after
// telling the user; a visit that ends it is no failure.
MUST_CHECK bool scan_all(struct scan *scan, uint64_t expected, uint64_t sample, bool quiet);

#endif
