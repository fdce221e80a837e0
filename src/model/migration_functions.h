// The functions that only migrations have: they take old values apart and put them together anew.
// Those of models (model.h) are there as well. Evaluation: guard/migration_eval.h.
#ifndef MODEL_MIGRATION_FUNCTIONS_H
#define MODEL_MIGRATION_FUNCTIONS_H

// X(function, name, least arguments, most arguments)
#define MIGRATION_FUNCTION_LIST(X)                                                                 \
    X(SPLIT, "split", 2, 3)     /* text, separator: a list; with a position, one of the parts */   \
    X(JOIN, "join", 2, 2)       /* a list or set, and what stands between its members */           \
    X(REPLACE, "replace", 3, 3) /* text, what, by what: everywhere */                              \
    X(SUBSTRING, "substring", 2, 3) /* text, first character, how many */                          \
    X(CONCAT, "concat", 1, 32)      /* texts, or lists */                                          \
    X(NUMBER, "number", 1, 1)       /* of a text */                                                \
    X(TEXT, "text", 1, 1)           /* of a number, a boolean, bytes */                            \
    X(EPOCH, "epoch", 1, 1)         /* a time as seconds since 1970 */                             \
    X(TIMESTAMP, "timestamp", 1, 1) /* a time as text */                                           \
    X(SCALE, "scale", 2, 2)         /* a number times a power of ten: scale(cents, -2) */          \
    X(LIST, "list", 1, 32)          /* of values; of a set's members */                            \
    X(SET, "set", 1, 32)            /* of values; of a list's members */                           \
    X(ELEMENT, "element", 2, 2)     /* of a list, by its position */                               \
    X(COALESCE, "coalesce", 1, 32)  /* the first that is there */                                  \
    X(CHOOSE, "choose", 3, 32)      /* choose(x, a, 1, b, 2, otherwise) */

#endif
