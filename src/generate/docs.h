// The parts of a model's documentation, for docs.c.
#ifndef GENERATE_DOCS_H
#define GENERATE_DOCS_H

#include "generate/generate.h"
#include "write/walk.h"

struct docs {
    struct writer *w;
    unsigned level; // of the headings of a table's sections: 2, or 3 if there are several tables
};

void docs_heading(const struct docs *docs, unsigned deeper, struct slice title);
// A paragraph of a comment, and an empty line behind it; nothing for an empty one.
void docs_paragraph(const struct docs *docs, struct slice doc);
// `text` in backquotes; in a cell of a table a | is escaped.
struct slice docs_code(struct writer *w, struct slice text);
struct slice docs_code_cell(struct writer *w, struct slice text);
// A comment in a cell.
struct slice docs_cell(struct writer *w, struct slice doc);
// Ends a table and its paragraph.
void docs_grid(const struct docs *docs, struct grid *grid);

void docs_entities(const struct docs *docs, const struct model_table *table);
void docs_types(const struct docs *docs);
void docs_accesses(const struct docs *docs, const struct model_table *table);
void docs_rules(const struct docs *docs);
// What else holds for the entity's items; and the diagram of what rules make.
void docs_entity_rules(const struct docs *docs, const struct model_entity *entity);
void docs_consequences(const struct docs *docs);
// The Mermaid diagram, with its fence.
void docs_diagram(const struct docs *docs);

#endif
