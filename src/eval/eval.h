// Evaluating expressions of a model: defaults, the fields of templates, the values of a pattern's
// conditions.
//
// Values are encoded (value/value.h). What comes out either lies where it was (in the item, in the
// model) or in the scope's arena; nothing else is allocated. A missing attribute, and null, make
// everything missing that is computed from them, up to the nearest `??`.
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "base/env.h"
#include "base/steps.h"
#include "model/model.h"

struct model_time;

// What names mean. All of it is optional: what is not given has nothing in it.
struct model_scope {
    struct slice item; // an M value, for attributes that `values` does not have

    // Values of an entity's attributes, VALUE_NONE where there is none: the attribute at position i
    // of the entity is values[places[i]], or values[i] if places is NULL.
    const struct model_entity *entity;
    const struct slice *values;
    const uint16_t *places;

    size_t param_count; // of an access pattern
    const struct slice *params;

    // In rules: what old(), each(), actor(), operation() and event() say. `item` is what item()
    // says.
    struct slice before;
    struct slice each;
    struct slice actor; // text, as the others
    struct slice operation;
    struct slice event;

    const struct env *env; // for now(), uuid() and ulid()
    int64_t now_ms;        // what now() says; 0: ask env at the first need
    struct arena *arena;   // of the results
    struct steps *steps;   // counts the work, or NULL
};

enum eval_status {
    EVAL_OK,
    EVAL_MISSING, // an attribute it needs is not there
    EVAL_UNFIT,   // it cannot be computed of these values: a sum of texts, a date of a name
    EVAL_BUDGET,  // the arena or a buffer is used up
};

// The value of an expression. `want` is the kind of the attribute that it is for: now() is made in
// its form, and a time is converted to it (a timestamp into the seconds of an epoch, and back).
// MODEL_ANY, if there is nothing to be said.
MUST_CHECK enum eval_status model_eval(const struct model_expr *expr, struct model_scope *scope,
                                       enum model_kind want, struct slice *value);

// Whatever denotes a time: text of a timestamp or a date, or seconds. *time borrows from the value.
MUST_CHECK bool model_value_time(struct slice value, struct model_time *time);

// A moment as an attribute of that type has it: text in its form, a date, or seconds. VALUE_NONE if
// the arena is used up, or beyond the years.
struct slice model_time_value(int64_t ms, const struct model_type *type, struct arena *arena);

// The kind to ask for, for an attribute of that type: of a union, the first that is not null.
enum model_kind model_kind_wanted(const struct model_type *type);

// Appends the text of an expression's value: text as it is, numbers in decimal, true and false,
// binary in base64. Lists, sets and maps have none (EVAL_UNFIT). On failure something may have
// been appended.
MUST_CHECK enum eval_status model_eval_text(const struct model_expr *expr,
                                            struct model_scope *scope, struct buf *out);

// The same for a value.
MUST_CHECK enum eval_status model_value_text(struct slice value, struct buf *out);

// Encoded values in an arena; VALUE_NONE if that is used up.
struct slice model_string(struct arena *arena, struct slice text);
struct slice model_number(struct arena *arena, struct slice stored);
struct slice model_integer(struct arena *arena, int64_t number);

// What `normal` (enum model_normal) makes of an S; the same slice if that is what it was.
// VALUE_NONE if the arena is used up.
struct slice model_normalise(struct slice value, unsigned normal, struct arena *arena);

// Whether a text has the separator that a call of escape() or forbid() is about.
bool model_has_separator(const struct model_expr *call, struct slice text);

#endif
