// See vector_math.h. The loops are written in the compiler's vector types: sixteen sums side by
// side, so that no addition waits for the one before it, and the same sums in the same order
// whatever the processor. The same source is compiled twice: for every processor, and for those
// with AVX2, chosen when a search begins.
#include "engine/vector_math.h"

#include <math.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "stored vectors are little-endian");

typedef float floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(32)));

enum { LANES = 4, BLOCK = 4 * LANES };

struct sums {
    double first;
    double second;
};

// What a block of sixteen numbers adds to the sums; inlined into each of the functions below.
enum sum_kind { SUM_PRODUCT, SUM_PRODUCT_SQUARE, SUM_DIFFERENCE };

static inline __attribute__((always_inline)) struct sums
sum_all(enum sum_kind kind, const double *a, const uint8_t *stored, size_t count)
{
    doubles first[4] = {{0}};
    doubles second[4] = {{0}};
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        for (size_t k = 0; k < 4; k++) {
            floats packed;
            doubles x;
            memcpy(&packed, stored + 4 * (i + LANES * k), sizeof(packed));
            memcpy(&x, a + i + LANES * k, sizeof(x));
            doubles y = __builtin_convertvector(packed, doubles);
            doubles difference = x - y;
            first[k] += kind == SUM_DIFFERENCE ? difference * difference : x * y;
            if (kind == SUM_PRODUCT_SQUARE)
                second[k] += y * y;
        }
    }
    doubles one = (first[0] + first[1]) + (first[2] + first[3]);
    doubles two = (second[0] + second[1]) + (second[2] + second[3]);
    struct sums sums = {(one[0] + one[1]) + (one[2] + one[3]),
                        (two[0] + two[1]) + (two[2] + two[3])};
    for (; i < count; i++) {
        float packed;
        memcpy(&packed, stored + 4 * i, sizeof(packed));
        double y = (double)packed;
        double difference = a[i] - y;
        sums.first += kind == SUM_DIFFERENCE ? difference * difference : a[i] * y;
        sums.second += kind == SUM_PRODUCT_SQUARE ? y * y : 0;
    }
    return sums;
}

struct vector_math {
    struct sums (*product)(const double *a, const uint8_t *stored, size_t count);
    struct sums (*product_square)(const double *a, const uint8_t *stored, size_t count);
    struct sums (*difference)(const double *a, const uint8_t *stored, size_t count);
};

#define MATH(name, target)                                                                         \
    target static struct sums name##_product(const double *a, const uint8_t *stored, size_t count) \
    {                                                                                              \
        return sum_all(SUM_PRODUCT, a, stored, count);                                             \
    }                                                                                              \
    target static struct sums name##_product_square(const double *a, const uint8_t *stored,        \
                                                    size_t count)                                  \
    {                                                                                              \
        return sum_all(SUM_PRODUCT_SQUARE, a, stored, count);                                      \
    }                                                                                              \
    target static struct sums name##_difference(const double *a, const uint8_t *stored,            \
                                                size_t count)                                      \
    {                                                                                              \
        return sum_all(SUM_DIFFERENCE, a, stored, count);                                          \
    }                                                                                              \
    static const struct vector_math name = {name##_product, name##_product_square,                 \
                                            name##_difference};

MATH(plain, )

#if defined(__x86_64__)
MATH(avx2, __attribute__((target("avx2"))))

static const struct vector_math *math_choose(void)
{
    return __builtin_cpu_supports("avx2") ? &avx2 : &plain;
}
#else
static const struct vector_math *math_choose(void)
{
    return &plain;
}
#endif

void vector_query_init(struct vector_query *query, enum vector_distance distance,
                       const float *values, size_t dimensions)
{
    ensure(dimensions <= LIMIT_DIMENSIONS);
    query->math = math_choose();
    query->distance = distance;
    query->dimensions = dimensions;
    double square = 0;
    for (size_t i = 0; i < dimensions; i++) {
        query->values[i] = (double)values[i];
        square += query->values[i] * query->values[i];
    }
    query->norm = sqrt(square);
}

void vector_query_plain(struct vector_query *query)
{
    query->math = &plain;
}

static double cosine_distance(double product, double norms)
{
    if (norms == 0)
        return 1;
    double distance = 1 - product / norms;
    // Rounding must not lead out of the range.
    return distance < 0 ? 0 : distance > 2 ? 2 : distance;
}

double vector_query_score(const struct vector_query *query, const uint8_t *stored)
{
    const struct vector_math *math = query->math;
    size_t count = query->dimensions;
    struct sums sums;
    switch (query->distance) {
    case VECTOR_COSINE:
        sums = math->product_square(query->values, stored, count);
        return cosine_distance(sums.first, query->norm * sqrt(sums.second));
    case VECTOR_EUCLIDEAN:
        return sqrt(math->difference(query->values, stored, count).first);
    case VECTOR_DOT_PRODUCT:
        break;
    }
    return math->product(query->values, stored, count).first;
}
