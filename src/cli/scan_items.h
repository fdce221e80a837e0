// The items of a table, page by page, for commands that look at data: lint and infer.
#ifndef CLI_SCAN_ITEMS_H
#define CLI_SCAN_ITEMS_H

#include "cli/export_target.h"

// False ends the scan, without an error.
typedef bool scan_visit(void *context, struct slice item);

struct scan_items {
    struct target *target;
    const char *table;
    uint64_t expected; // for the progress shown on standard error
    uint64_t sample;   // items to look at, at most; 0 for all
    bool quiet;
    scan_visit *visit;
    void *context;
    uint64_t seen; // out
};

// False after telling the user.
MUST_CHECK bool scan_items(struct scan_items *scan);

#endif
