// Vector indexes. An index has an entry for each item whose vector attribute is a list of as many
// numbers as the index has dimensions and, if it has a partition attribute, that is there, too.
//
//   key    tree, [hash, partition attribute,] key of the item without its tree
//   value  float32[dimensions], little-endian; then, if the index has inline filters, an M value
//          of those of them that the item has
//
// So a search reads through a range of the store, computes as it goes, and decodes nothing. What
// it answers, the projected attributes of the best few, it takes from the table, on the same
// snapshot: the entry is in the same commit as its item, so they never disagree.
#ifndef ENGINE_VECTOR_H
#define ENGINE_VECTOR_H

#include "engine/engine.h"

// ---- Vectors ------------------------------------------------------------------------------

enum vector_fault {
    VECTOR_FIT,
    VECTOR_NO_LIST,
    VECTOR_NO_NUMBER, // an element is none
    VECTOR_LENGTH,    // too many elements, or too few
    VECTOR_RANGE,     // a number is beyond what a float32 can hold
};

// A number in its stored form as the nearest float32; false if that would be infinite.
MUST_CHECK bool vector_number(struct slice stored, float *out);
// An attribute's value as a vector. `out` has room for `dimensions`.
MUST_CHECK enum vector_fault vector_read(struct slice value, size_t dimensions, float *out);

// Whether the index projects an attribute.
bool vector_projects(const struct table *table, const struct vector_index *index,
                     struct slice attribute);

// Judges what an item to be put holds in vector attributes, partitions and filters.
MUST_CHECK bool vectors_check_item(const struct table *table, struct slice item,
                                   struct error *error);
// The same for what an update has changed.
MUST_CHECK bool vectors_check_changed(const struct table *table, struct slice before,
                                      struct slice after, struct error *error);

// ---- Searching ----------------------------------------------------------------------------

// What an inline filter of the index must be equal to.
struct vector_filter {
    struct slice attribute;
    struct slice value; // encoded
};

struct vector_hit {
    double score;
    struct slice item; // as the index projects it
};

struct vector_search {
    // In.
    struct table *table;
    const struct vector_index *index;
    const float *vector;
    struct slice partition; // encoded value; VALUE_NONE if the index has no partition attribute
    size_t filter_count;
    const struct vector_filter *filters;
    size_t top;                        // at most LIMIT_TOP_K
    const struct write_origin *reader; // as of a page (engine.h); or NULL
    struct arena *arena;

    // Out.
    size_t count;
    struct vector_hit *hits; // the best first; equal ones in the order of their keys
    uint64_t compared;       // vectors that were compared
    uint64_t bytes;          // what was read of the index

    struct finder *finder; // private: where the search stands; NULL before and after it
};

// Finds the nearest vectors, exactly, on a snapshot, in slices (see engine.h). It takes as long as
// reading the range does.
MUST_CHECK enum read_step engine_search_run(struct engine *engine, struct vector_search *search,
                                            uint64_t *work, struct error *error);
// Gives up a search of which more was to come.
void engine_search_close(struct engine *engine, struct vector_search *search);

#endif
