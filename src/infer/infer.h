// A model for items that are already there: entities by their type attribute or by the prefixes of
// their keys, templates by finding attributes inside key texts, types by looking at all values.
//
// A proposal, to be read and mended by somebody who knows the data. What fits no explanation is
// noted in the draft.
#ifndef INFER_INFER_H
#define INFER_INFER_H

#include "base/error.h"
#include "infer/draft.h"

struct infer;

struct infer_options {
    struct slice table; // its name in the model
    struct slice type;  // the attribute that names entities, if that is known
    uint64_t items_max; // to look at; 0 for the default
    uint64_t bytes_max;
};

struct infer *infer_new(const struct infer_options *options);
void infer_free(struct infer *infer);
// In somebody else's arena; it goes with that, and is not freed.
struct infer *infer_new_in(const struct infer_options *options, struct arena *arena);

// What DescribeTable says of the table (the object "Table"): keys, indexes, streams. Without it the
// keys are guessed. False if it is no description.
MUST_CHECK bool infer_describe(struct infer *infer, struct slice json);
// The table in the draft says all that a description would.
void infer_described(struct infer *infer);
// The key attributes, if there is no description; `range` may be empty.
void infer_keys(struct infer *infer, struct slice hash, struct slice range);
void infer_ttl(struct infer *infer, struct slice attribute);

// Names an entity that has these attributes: a group of items that has most of them gets the name.
void infer_facet(struct infer *infer, struct slice name, size_t count,
                 const struct slice *attributes);

// Takes a copy of an item. False if there are enough.
bool infer_add(struct infer *infer, struct slice item);
uint64_t infer_items(const struct infer *infer);

// The draft, and the table in it, before it is finished: to add what is known otherwise.
struct draft *infer_draft(struct infer *infer);
struct draft_table *infer_table(struct infer *infer);

// Makes the draft, which lives as long as `infer`. False, with a sentence, if nothing can be said.
MUST_CHECK bool infer_finish(struct infer *infer, struct draft **out, const char **why);

#endif
