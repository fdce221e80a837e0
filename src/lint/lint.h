// Design smells of a model: what will hurt when the table is large, although the file is right.
// docs/LINT.md lists the rules, and is written by `dolmen lint --rules --markdown`.
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "model/model.h"

struct lint;
struct model_object;
struct model_project;
struct lint_key; // an entity's key in the table or in an index: lint_internal.h

typedef void lint_judge_table(struct lint *lint, const struct model_table *table);
typedef void lint_judge_index(struct lint *lint, const struct model_table *table,
                              const struct model_index *index);
typedef void lint_judge_entity(struct lint *lint, const struct model_entity *entity);
typedef void lint_judge_attribute(struct lint *lint, const struct model_entity *entity,
                                  const struct model_attribute *attribute);
typedef void lint_judge_access(struct lint *lint, const struct model_access *access);
typedef void lint_judge_key(struct lint *lint, const struct lint_key *key);
typedef void lint_judge_object(struct lint *lint, const struct model_object *object);
typedef void lint_judge_project(struct lint *lint, const struct model_project *project);
typedef void lint_judge_part(struct lint *lint, const struct lint_key *key,
                             const struct model_key_part *part);

// One row of the table in lint.c.
struct lint_rule {
    const char *code;       // "L001"
    const char *name;       // "hot-partition"
    enum severity severity; // a WARNING, or a NOTE, which does not make a file fail
    const char *summary;    // what it finds, a line
    const char *reason;     // why that hurts, two sentences
    const char *fix;        // what to do, in general
    // What the rule is asked about, and who judges that; the others are NULL.
    lint_judge_table *table;
    lint_judge_index *index;
    lint_judge_entity *entity;
    lint_judge_attribute *attribute;
    lint_judge_access *access;
    lint_judge_key *key;     // keys of the table and of all indexes
    lint_judge_key *primary; // keys of the table only
    lint_judge_part *part;   // a part that has a template
    lint_judge_object *object;
    lint_judge_project *project;
};

struct lint_finding {
    const struct lint_rule *rule;
    struct diagnostic diagnostic; // with the rule's code; help is the fix for this very place
    bool suppressed;
};

// What lint found, in the order of the file. Texts and list are in the arena.
struct lint {
    const struct model *model;
    struct arena *arena;
    const struct lint_rule *rule; // that runs now
    size_t count;
    size_t room;
    struct lint_finding *findings;
    size_t warnings; // that are not suppressed
    size_t notes;
    size_t suppressed;
};

// The rules in the order of their codes.
const struct lint_rule *lint_rules(size_t *count);

// Applies all rules. False if the arena is used up.
MUST_CHECK bool lint_run(const struct model *model, struct arena *arena, struct lint *out);

// One finding as text: place, line and caret, why, fix.
void lint_show(const struct lint_finding *finding, const struct model *model, struct buf *out);
// All findings of a file as a JSON object.
void lint_json(const struct lint *lint, struct buf *out);
// The list of rules, as text or as the Markdown of docs/LINT.md.
void lint_rules_show(struct buf *out);
void lint_rules_markdown(struct buf *out);

#endif
