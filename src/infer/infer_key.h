// Key texts of one entity on their way to a template; between infer_key.c and infer_template.c.
#ifndef INFER_INFER_KEY_H
#define INFER_INFER_KEY_H

#include "infer/infer_internal.h"

enum { KEY_ROWS_MAX = 400, KEY_CANDIDATES_MAX = 256, KEY_USED_MAX = 32 };

struct key_row {
    size_t number; // its place in the list
    struct slice item;
    struct slice text; // of the key
    size_t at;         // what has been explained
    bool odd;          // it does not go on as most others do
};

// A value that is in the key only.
struct key_unknown {
    struct key_unknown *next;
    struct slice name; // that it is given
    struct slice word; // the literal before it
    bool digits;       // all are numbers
    size_t count;
    struct slice *values;  // texts
    const uint8_t **items; // whose they are
};

struct key_candidate {
    struct slice name;
    bool whole;                        // all items of the entity have it
    const struct key_unknown *unknown; // it is none of the items' attributes
};

struct key_rows {
    size_t count;
    struct key_row list[KEY_ROWS_MAX];
    size_t candidate_count;
    struct key_candidate candidates[KEY_CANDIDATES_MAX];
    struct slice entity; // its name
    struct slice word;   // the last word of the last literal
    size_t used_count;   // attributes that this entity's keys have already
    struct slice used[KEY_USED_MAX];
    size_t fields;
    struct key_unknown *unknowns;
    struct slice key; // the key attribute
    bool snake;       // names are written so: user_id
    struct buf *out;  // the template
};

// Writes the template; rows that do not fit it are odd afterwards.
void infer_explain(struct infer *infer, struct key_rows *rows);

// What to call a value that only the key has.
struct slice infer_unknown_name(struct infer *infer, const struct key_rows *rows,
                                const struct key_unknown *unknown);

#endif
