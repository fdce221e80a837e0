// The keys of the objects of an item, as `object ENTITY.name = "path"` says.
//
// Attributes stand in a path as names of one level: a value with a slash, an empty one, "." and
// ".." would lead to somebody else's object, so with those there is none. What is meant to have
// levels says so: dates, each(), and raw(attribute).
#ifndef EVAL_OBJECT_H
#define EVAL_OBJECT_H

#include "eval/eval.h"
#include "model/rules.h"

enum { OBJECT_KEY_MAX = 1024 }; // S3's

// Appends the key, with the rule's prefix. `member` is what each() is, or VALUE_NONE. EVAL_MISSING
// or EVAL_UNFIT if the item has no such object; then nothing is appended.
MUST_CHECK enum eval_status model_object_key(const struct model_object *object, struct slice item,
                                             struct slice member, struct arena *arena,
                                             struct buf *out);

// The members of the item's list, if the object is one of a list, in their order. False at the end.
struct object_members {
    const struct model_object *object;
    struct value_iter iter;
    bool more;
};
void object_members_init(struct object_members *members, const struct model_object *object,
                         struct slice item);
// *member is VALUE_NONE if it is not text, or has no such field.
MUST_CHECK bool object_members_next(struct object_members *members, struct slice *member);

#endif
