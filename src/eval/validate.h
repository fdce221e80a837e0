// Whether values are of their types, and what to say if not.
//
// A value is first asked yes or no, which costs little; only if it does not fit is it walked again
// for the words. A violation names the place by a JSON pointer (RFC 6901).
#ifndef EVAL_VALIDATE_H
#define EVAL_VALIDATE_H

#include "base/error.h"
#include "eval/check.h"
#include "eval/violation.h"
#include "model/model.h"

// Whether the value fits. `strict`: fields that an object type does not have are wrong, too. If the
// check is over, the answer is no, and means nothing.
bool model_type_fits(struct model_check *check, const struct model_type *type, struct slice value,
                     bool strict);
// The same for a value alone: one that takes more work than an item may does not fit.
bool model_value_fits(const struct model_type *type, struct slice value);

// Whether a type can be stored as that; unions can be several things.
bool model_type_stores(const struct model_type *type, enum value_type stored);

// Whether text is as the attribute's pattern says, if it has one; other values are fine.
bool model_text_matches(struct model_check *check, const struct model_attribute *attribute,
                        struct slice value);

// A place in an item, from the inside out; lives on the stack of who walks the item.
struct model_pointer {
    const struct model_pointer *up; // NULL for an attribute
    struct slice name;
    bool element; // of a list: index instead of name
    size_t index;
};

enum { MODEL_VIOLATIONS_MAX = 20 };

// What was found so far. The texts are in the arena.
struct model_report {
    struct arena *arena;
    bool failed; // the arena is used up
    size_t more; // violations that are not kept
    size_t count;
    struct model_violation list[MODEL_VIOLATIONS_MAX];
};

void model_report_init(struct model_report *report, struct arena *arena);
// `actual` is a value or VALUE_NONE. Expected in words, or a type.
void model_report_add(struct model_report *report, const struct model_pointer *at,
                      struct slice expected, struct slice actual);
void model_report_addf(struct model_report *report, const struct model_pointer *at,
                       struct slice actual, const char *expected, ...) PRINTF_LIKE(4, 5);
// Expected is a value, and a reason behind it.
void model_report_value(struct model_report *report, const struct model_pointer *at,
                        struct slice expected, const char *reason, struct slice actual);
// Expected is what the attribute's pattern says.
void model_report_pattern(struct model_report *report, const struct model_pointer *at,
                          const struct model_attribute *attribute, struct slice actual);
void model_report_type(struct model_report *report, const struct model_pointer *at,
                       const struct model_type *type, struct slice actual);

// Adds every violation of the value. Unknown fields of objects go where `unknown` says: nowhere,
// to warnings, to violations.
struct model_judge {
    struct model_check *check;
    enum model_leave unknown;
    struct model_report *violations;
    struct model_report *warnings;
};
void model_type_judge(const struct model_type *type, struct slice value,
                      const struct model_pointer *at, const struct model_judge *judge);

// A value in a few words: "text cut after 60 characters", 12.5, true, null, a list; `nothing` for
// VALUE_NONE. No control characters come out.
void model_value_describe(struct slice value, struct buf *out);

// All of a report in one line: /email: expected email, got "x"; /role: …
void model_report_text(const struct model_report *report, struct buf *out);

// A copy in the arena for error->details, or NULL if that is used up.
MUST_CHECK struct model_violations *model_report_details(const struct model_report *report,
                                                         struct slice entity);

// A ValidationException of a report: "Entity User: /email: expected …". Always false.
bool model_report_refuse(const struct model_report *report, const char *what, struct slice name,
                         struct error *error);
// One in other words, which are copied; details are NULL if there is no memory. Always false.
bool model_refuse(struct error *error, struct slice text, const struct model_violations *details);

#endif
