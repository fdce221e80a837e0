// Distances between a vector that is searched for and vectors as they lie in the store: packed
// little-endian float32, at any address.
//
// Everything is summed in double precision. The product of two float32 is exact in it, so the
// scores are those of a textbook implementation in doubles up to the order of the additions.
#ifndef ENGINE_VECTOR_MATH_H
#define ENGINE_VECTOR_MATH_H

#include "engine/table.h"

struct vector_math; // how this processor computes a distance

// The searched vector, as the functions want it.
struct vector_query {
    const struct vector_math *math;
    enum vector_distance distance;
    size_t dimensions;
    double norm; // the vector's length
    double values[LIMIT_DIMENSIONS];
};

void vector_query_init(struct vector_query *query, enum vector_distance distance,
                       const float *values, size_t dimensions);

// The score of a stored vector, as SearchVectors reports it:
//   COSINE       1 - cosine of the angle, 0 (same direction) to 2 (opposite); a vector without
//                length has no direction, and is 1 away from everything
//   EUCLIDEAN    the distance
//   DOT_PRODUCT  the product
double vector_query_score(const struct vector_query *query, const uint8_t *stored);

// Whether a smaller score is a better one.
static inline bool vector_smaller_is_better(enum vector_distance distance)
{
    return distance != VECTOR_DOT_PRODUCT;
}

// For tests: computes as every processor can.
void vector_query_plain(struct vector_query *query);

#endif
