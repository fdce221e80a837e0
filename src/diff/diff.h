// What is different between two models of one table: entities, attributes, templates, access
// patterns, rules and modes, in words. What the items of a live table have to do with it, and
// tables and indexes themselves, are the API's business (api/model_plan.h).
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "model/model.h"

// X(kind, what it is a change of, what happens to that if there is no text before or after). What
// is added, goes or changes has three kinds in a row. A row is a line.
// clang-format off
#define MODEL_CHANGE_TRIPLE(X, kind, noun, goes) \
    X(kind##_ADDED, noun, "is new") X(kind##_REMOVED, noun, goes) X(kind##_CHANGED, noun, "changes")
#define MODEL_CHANGE_LIST(X)                                                                                              \
    X(MODEL_ATTACHED, "table", "gets its first model")                                                                    \
    X(TABLE_CREATED, "table", "will be created")                                                                          \
    X(TABLE_KEYS, "table", "has other keys") /* this cannot be applied */                                                 \
    X(INDEX_CREATED, "index", "will be created")                                                                          \
    X(INDEX_RECREATED, "index", "will be deleted and created anew") /* it has other keys, or projects something else */   \
    X(INDEX_MEMBERS, "index", "is filled anew")                                                                           \
    X(INDEX_DELETED, "index", "will be deleted")                                                                          \
    X(INDEX_UNNAMED, "index", "is not in the model and stays (--prune deletes it)")                                       \
    X(INDEX_CONFLICT, "index", "differs and cannot be changed") /* a local one: this cannot be applied */                 \
    X(FEATURE_UNNAMED, "feature", "is not in the model and stays (--prune ends it)") /* ttl, stream, … */                 \
    X(TTL, "ttl", "is set")                                                                                               \
    X(STREAM, "stream", "is set")                                                                                         \
    X(PITR, "pitr", "is set")                                                                                             \
    X(BILLING, "billing", "is set")                                                                                       \
    X(MODE, "mode", "is set")                                                                                             \
    X(TYPE_ATTRIBUTE, "attribute", "names the entity")                                                                    \
    MODEL_CHANGE_TRIPLE(X, ENTITY, "entity", "goes") /* its type value, or its own modes */                               \
    MODEL_CHANGE_TRIPLE(X, TEMPLATE, "key", "is no longer derived")                                                       \
    X(CLAUSE_ADDED, "clause", "is new") /* check, moves, unique (…), softdelete, an entry's when, … */                    \
    X(CLAUSE_REMOVED, "clause", "goes")                                                                                   \
    MODEL_CHANGE_TRIPLE(X, ATTRIBUTE, "attribute", "goes")                                                                \
    MODEL_CHANGE_TRIPLE(X, PATTERN, "pattern", "goes")                                                                    \
    X(RULE_ADDED, "rule", "is new")                                                                                       \
    X(RULE_REMOVED, "rule", "goes")
// clang-format on

enum model_change_kind {
#define X(kind, noun, verb) MODEL_CHANGE_##kind,
    MODEL_CHANGE_LIST(X)
#undef X
        MODEL_CHANGES
};

const char *model_change_name(enum model_change_kind kind);

struct model_change {
    enum model_change_kind kind;
    struct slice subject; // "User", "User.email", "User GSI1SK", "GSI4", "userByEmail"
    struct slice before;  // in the words of the language; empty where there was nothing
    struct slice after;
    const struct model_entity *entity; // of the new model, whose items it concerns, or NULL
};

enum { MODEL_CHANGES_MAX = 500 }; // further ones are counted, not kept

struct model_changes {
    struct arena *arena; // of the texts
    size_t count;
    size_t lost;
    struct model_change list[MODEL_CHANGES_MAX];
};

void model_changes_init(struct model_changes *changes, struct arena *arena);
// The texts are copied.
void model_changes_add(struct model_changes *changes, struct model_change change);

// Adds how `after` differs from `before`, which is NULL if the table had no model.
void model_diff(const struct model_table *before, const struct model_table *after,
                struct model_changes *changes);

// One change as a sentence without its full stop: "attribute User.email: string becomes email".
void model_change_text(const struct model_change *change, struct buf *out);

// ---- Parts of a model in the words of the language --------------------------------------------

// The names of parameters are the pattern's; NULL for what has none.
void model_expr_text(const struct model_access *access, const struct model_expr *expr,
                     struct buf *out);
// Whether an argument of an operator stands in parentheses.
bool model_expr_enclosed(const struct model_expr *expr, size_t argument);
void model_template_text(const struct model_template *template, struct buf *out);
// A text of the file in one line.
void model_line_text(struct slice text, struct buf *out);
// string(1..100)? unique lower = "x" on update
void model_attribute_text(const struct model_attribute *attribute, struct buf *out);
// (GSI1PK + A, GSI1SK) project keys
void model_index_text(const struct model_index *index, struct buf *out);
// What an entity says of its items beside keys and attributes, a clause a line: append only.
void model_clauses_text(const struct model_entity *entity, struct buf *out);
// PK = "USER#{userId}" and SK begins "ORDER#"
void model_conditions_text(const struct model_access *access, const struct model_condition *list,
                           size_t count, struct buf *out);
// (userId uuid, since date)
void model_params_text(const struct model_access *access, struct buf *out);
void model_access_text(const struct model_access *access, struct buf *out);
const char *model_mode_name(enum model_mode mode);
const char *model_leave_name(enum model_leave leave);
const char *model_stream_name(enum model_stream stream);

#endif
