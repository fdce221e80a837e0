// Templates of keys, "USER#{userId}": rendering them, and reading attributes back out of a key.
#ifndef EVAL_TEMPLATE_H
#define EVAL_TEMPLATE_H

#include "eval/eval.h"

// Appends the text. EVAL_MISSING if a field is missing without fallback.
MUST_CHECK enum eval_status model_template_render(const struct model_template *template,
                                                  struct model_scope *scope, struct buf *out);

// The value of a key attribute of that type (VALUE_S, VALUE_N, VALUE_B): a bare template gives its
// attribute's own value. A value of another type, and an empty one, are EVAL_MISSING: there is no
// entry in an index for those. `scratch` is used, and left with the rendered text in it; *value is
// in the scope's arena or where the attribute was.
MUST_CHECK enum eval_status model_template_value(const struct model_template *template,
                                                 struct model_scope *scope, enum value_type type,
                                                 struct buf *scratch, struct slice *value);

// Whether a key value (encoded) can have come from the template. A field takes all up to the first
// occurrence of the literal behind it, the last one takes the rest; fields are not empty.
bool model_template_fits(const struct model_template *template, struct slice key);

enum { MODEL_FIELDS_MAX = 16 };

// A field that could be read back: it is an attribute, or a member of one (steps), as it is or
// padded. The value has the type its attribute stores.
struct model_field {
    const struct model_expr *path; // MODEL_EXPR_PATH
    struct slice value;            // encoded, in the arena; or the key's own bytes if bare
};

struct model_match {
    size_t count;
    struct model_field fields[MODEL_FIELDS_MAX];
};

// Like model_template_fits(), and gives the fields that can be read. False also if a field does not
// have the form of its type (a number), or the arena is used up.
MUST_CHECK bool model_template_match(const struct model_template *template, struct slice key,
                                     struct arena *arena, struct model_match *match);

// The attribute path that a segment's expression shows as it is or padded, or NULL.
const struct model_expr *model_segment_path(const struct model_segment *segment);
// Whether the attribute's value can be read back out of a key: not that of a padded text.
bool model_segment_tells(const struct model_segment *segment);

// Whether there is one way only to take the text of a key apart: each literal between two fields
// stands in it where the template has it, and nowhere else.
bool model_template_clear(const struct model_template *template, struct slice key);

#endif
