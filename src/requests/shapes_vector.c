// The shape of SearchVectors.
#include "requests/shapes_internal.h"

#include "base/limits.h"

static const char *const capacities[] = {"INDEXES", "TOTAL", "NONE", NULL};
static const struct shape capacity = ENUM_SHAPE(capacities);
static const struct shape names = MAP_SHAPE(&shape_any_string);
static const struct shape vector = LIST_SHAPE(&shape_any_value);
static const struct shape top_k = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_TOP_K};

REQUEST_ROWS(search_vectors_request, SEARCH_VECTORS_REQUEST);
const struct shape shape_search_vectors_request =
    REQUEST_SHAPE(search_vectors_request, "SearchVectorsInput");
