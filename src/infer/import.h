// Schemas that were written for other tools, as drafts.
#ifndef INFER_IMPORT_H
#define INFER_IMPORT_H

#include "infer/draft.h"
#include "infer/tree.h"

struct import_format {
    const char *name;  // "onetable"
    const char *about; // what the file is
    // Adds tables and notes to the draft. False, with a sentence, if the file is something else.
    // `table` is the name of the table if the file does not say; it may be empty.
    bool (*read)(const struct tree *file, struct slice table, struct draft *draft,
                 const char **why);
};

// All of them; the list ends with a NULL name.
extern const struct import_format import_formats[];
// NULL if there is none of that name.
const struct import_format *import_format_find(struct slice name);

bool import_onetable(const struct tree *file, struct slice table, struct draft *draft,
                     const char **why);
bool import_workbench(const struct tree *file, struct slice table, struct draft *draft,
                      const char **why);
bool import_aws(const struct tree *file, struct slice table, struct draft *draft, const char **why);

// ---- Between the importers ---------------------------------------------------------------------

// "USER#${userId}" or "USER#{user_id}" as a template of the language: `open` is "${" or "{". Fields
// that the entity does not have are declared, and noted.
struct slice import_template(struct draft *draft, struct draft_entity *entity, struct slice source,
                             const char *open);
// Every attribute in the entity's primary key must be there.
void import_require_keys(const struct draft_table *table, struct draft_entity *entity);
// Attributes that are keys themselves and that the entity does not declare.
void import_native_keys(struct draft *draft, const struct draft_table *table,
                        struct draft_entity *entity);
// "\"a\" | \"b\"" for the strings and numbers of an array.
struct slice import_choice(struct draft *draft, const struct tree *list);

#endif
