// The parts of a model's documentation, for docs.c.
#ifndef GENERATE_DOCS_H
#define GENERATE_DOCS_H

#include "generate/text.h"
#include "generate/walk.h"

struct docs {
    const struct model *model;
    const struct generate_options *options;
    struct buf *out;
    unsigned level; // of the headings of a table's sections: 2, or 3 if there are several tables
};

void docs_heading(const struct docs *docs, unsigned deeper, const char *title);
// A paragraph of a comment, and an empty line behind it; nothing for an empty one.
void docs_paragraph(const struct docs *docs, struct slice doc);
// `text` in backquotes; in a cell of a table a | is escaped.
void docs_code(struct buf *out, struct slice text);
void docs_code_cell(struct buf *out, struct slice text);

void docs_entities(const struct docs *docs, const struct model_table *table);
void docs_types(const struct docs *docs);
void docs_accesses(const struct docs *docs, const struct model_table *table);
void docs_rules(const struct docs *docs);
// The Mermaid diagram, with its fence.
void docs_diagram(const struct docs *docs);

#endif
