// The model as it would have to be to accept what a report has found.
//
// A proposal is a change of one place in the model's file: the type of an attribute, of a field or
// of a named type, or a new attribute behind the last one of its entity or object. Types become
// only as wide as the samples need: an attribute that was missing optional, an enumeration longer,
// a limit that was passed is dropped, a type that does not fit gets an alternative. What no type
// can accept (a key that is not what its template says, an immutable attribute that changes) stays
// for people.
#ifndef REPORT_PROPOSE_H
#define REPORT_PROPOSE_H

#include "report/report.h"

enum { PROPOSALS_MAX = REPORT_FINDINGS };

// A line of the file as it would be.
struct proposal {
    uint32_t at; // its number; of a new one, that of the line that it comes behind
    bool is_new;
    struct slice line; // without the blanks in front
};

struct proposals {
    size_t count;
    struct proposal list[PROPOSALS_MAX];
    size_t left_count;            // findings that no line accepts
    size_t left[REPORT_FINDINGS]; // their places in the report
    struct slice entities;        // declarations for items of no entity; may be empty
    struct slice notes;           // what was not understood of these, lines; may be empty
    struct slice model;           // the whole file as it would be
};

// Everything is in the arena. False without memory.
MUST_CHECK bool report_propose(const struct report *report, const struct model_table *table,
                               struct arena *arena, struct proposals *out);

// ---- Between the files of this room -----------------------------------------------------------

// Declarations for the items of no entity (propose_entities.c).
MUST_CHECK bool propose_entities(const struct report *report, const struct model_table *table,
                                 struct arena *arena, struct proposals *out);
// The type that values have, as text: "string", "uuid", "\"a\" | \"b\"".
MUST_CHECK bool propose_type(struct slice name, const struct report_finding *finding,
                             struct arena *arena, struct slice *out);

#endif
