// Whether the rows of a database are those of the items: what the rows should be is put into
// temporary tables, and the database compares them, by its own types. It writes nothing else, and
// takes no lock, so that it can look at a projection that is at work.
#ifndef PROJECT_VERIFY_H
#define PROJECT_VERIFY_H

#include "project/projector.h"

struct verifier;

enum verify_what { VERIFY_MISSING, VERIFY_EXTRA, VERIFY_DIFFERENT };
extern const char *const verify_words[];

struct verify_difference {
    enum verify_what what;
    struct slice table; // of the database
    struct slice key;   // its values, for people
};

// NULL with the fault. Of a plan, the table's id is not asked for.
MUST_CHECK struct verifier *verifier_open(const struct projector_plan *plan,
                                          struct rdb_fault *fault);
void verifier_close(struct verifier *v);

// Forgets the items of an earlier look.
MUST_CHECK bool verifier_begin(struct verifier *v, struct rdb_fault *fault);
// One item; what no table is made of is left out. An item that cannot be a row is a difference that
// is only counted: see verifier_refused().
MUST_CHECK bool verifier_add(struct verifier *v, struct slice item, struct rdb_fault *fault);
// Tells the differences, table by table.
MUST_CHECK bool verifier_end(struct verifier *v,
                             void (*visit)(void *context, const struct verify_difference *found),
                             void *context, struct rdb_fault *fault);

uint64_t verifier_rows(const struct verifier *v);
uint64_t verifier_refused(const struct verifier *v);

#endif
