// What is wrong with an item, as a list: for errors, reports and faces that show more than a text.
#ifndef EVAL_VIOLATION_H
#define EVAL_VIOLATION_H

#include "value/value.h"

// What is expected where an attribute is that the model does not have.
#define MODEL_EXPECTED_NONE "nothing (no such attribute)"

struct model_violation {
    struct slice pointer;  // JSON pointer into the item: "/request/seed"; empty for all of it
    struct slice expected; // "email"
    struct slice actual;   // "\"x\"", "nothing"
    struct slice value;    // what `actual` describes, if it is there and small; else VALUE_NONE
};

// error->details of a ValidationException that a guard set, in the error's arena.
struct model_violations {
    struct slice entity; // empty if none was recognised
    size_t count;
    struct model_violation *list;
    bool taken; // all that is wrong is that another item has the value
};

#endif
