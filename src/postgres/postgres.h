// The store in PostgreSQL (store/store.h is what it keeps to).
#ifndef POSTGRES_POSTGRES_H
#define POSTGRES_POSTGRES_H

#include "store/store.h"

struct postgres_options {
    const char *url;  // postgresql://…, as libpq reads it
    const char *node; // what others are told of who has it open; NULL for the host's name
    unsigned lease_s; // how long a server that is gone keeps others out; 0 for the default (5)
    bool takeover;    // does not wait for the end of another's lease
};

// Opens the database for writing; makes its tables if they are not there. Waits for another
// server's lease to end, and says who has it (in_use) if it does not.
MUST_CHECK struct store *store_open_postgres(const struct postgres_options *options,
                                             struct store_error *error);

#endif
