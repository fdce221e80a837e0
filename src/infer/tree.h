// A small document in memory, with the members of objects in their order: JSON, or an object
// literal of JavaScript as schemas are often kept in (names without quotes, single quotes,
// comments, trailing commas, `String`, /expressions/, code around the object).
#ifndef INFER_TREE_H
#define INFER_TREE_H

#include "base/arena.h"

enum tree_kind {
    TREE_OBJECT,
    TREE_ARRAY,
    TREE_STRING,
    TREE_NUMBER,
    TREE_WORD, // true, false, null; and of JavaScript: String, Date, a regular expression, …
};

struct tree {
    enum tree_kind kind;
    struct slice name;   // of a member
    struct slice text;   // STRING (unescaped), NUMBER, WORD
    struct slice source; // OBJECT, ARRAY: as it stands in the file
    struct tree *first;
    struct tree *next;
};

struct tree_error {
    const char *message;
    size_t line;
    size_t column;
};

// The object (or array) of a file; the longest, if code has several. NULL with the error.
// Everything lives in the arena, or in the text.
MUST_CHECK const struct tree *tree_read(struct slice text, struct arena *arena,
                                        struct tree_error *error);

// All of these take NULL, and anything that is not what they look for, for an empty thing.
const struct tree *tree_get(const struct tree *object, const char *name);
const struct tree *tree_member(const struct tree *object, struct slice name);
static inline const struct tree *tree_first(const struct tree *container)
{
    return container == NULL ? NULL : container->first;
}
// The text of a member that is a string, number or word; empty otherwise.
struct slice tree_text(const struct tree *object, const char *name);
bool tree_true(const struct tree *object, const char *name);

#endif
