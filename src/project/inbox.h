// Changes of rows that are taken back (`both`): the triggers of sql_create() note them in
// "dolmen_inbox"; here they are read, and taken out once they are done.
#ifndef PROJECT_INBOX_H
#define PROJECT_INBOX_H

#include "project/projector.h"

struct inbox_entry {
    uint64_t id;
    const struct sql_table *table;
    char act;             // i, u, d: insert, update, delete
    struct slice key;     // attributes of the key's columns, as an item
    struct slice row;     // attributes that changed, as an item; NULL for what is gone
    struct slice refused; // a sentence, if it cannot be read
};

// Whether the projection takes anything back.
bool inbox_used(const struct projector *p);
// The first entry of our tables that is not refused, in the arena. *found is false if there is
// none.
MUST_CHECK bool inbox_next(struct projector *p, struct arena *arena, struct inbox_entry *entry,
                           bool *found, struct rdb_fault *fault);
// Takes it out; or, with a reason, leaves it there with that.
MUST_CHECK bool inbox_done(struct projector *p, uint64_t id, const char *refused,
                           struct rdb_fault *fault);

#endif
