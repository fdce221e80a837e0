// Shapes that several requests share, what a table name may be, and request_decode().
//
// A table is named by its name or by its ARN. Lengths and the pattern are those of a name; an
// ARN is exempt from them.
#include "requests/shapes_internal.h"

#include "base/limits.h"
#include "tables/arn.h"

enum { TABLE_ARN_MAX = 1024 };

static const char name_pattern[] = "[a-zA-Z0-9_.-]+";

static bool is_table_arn(struct slice text)
{
    struct slice name;
    return text.len <= TABLE_ARN_MAX && arn_of_table(text, &name);
}

#define NAME_LENGTH                                                                                \
    .kind = SHAPE_STRING, .has_min = true, .min = LIMIT_TABLE_NAME_MIN, .has_max = true,           \
    .max = LIMIT_TABLE_NAME_MAX
#define NAME_PATTERN .pattern = name_pattern, .matches = table_name_matches

// Item operations take a name or an ARN: the service's reference gives them 1 to 1024
// characters. A name that no table can have is then simply not found.
static bool is_empty_or_name(struct slice text)
{
    return text.len == 0 || table_name_matches(text);
}

const struct shape shape_table_name = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = TABLE_ARN_MAX,
    .pattern = name_pattern,
    .matches = is_empty_or_name,
    .exempts = is_table_arn,
};
const struct shape shape_own_table_name = {NAME_LENGTH, NAME_PATTERN, .exempts = is_table_arn};
const struct shape shape_plain_name = {NAME_LENGTH, NAME_PATTERN};

const struct shape shape_attribute_name = STRING_SHAPE_RANGE(1, LIMIT_KEY_ATTRIBUTE_NAME);

const struct shape shape_any_string = {.kind = SHAPE_STRING};
const struct shape shape_any_boolean = {.kind = SHAPE_BOOLEAN};
const struct shape shape_any_long = {.kind = SHAPE_LONG};
const struct shape shape_any_integer = {.kind = SHAPE_INTEGER};
const struct shape shape_any_value = {.kind = SHAPE_VALUE};
const struct shape shape_any_item = {.kind = SHAPE_ITEM};
const struct shape shape_positive_integer = {.kind = SHAPE_INTEGER, .has_min = true, .min = 1};
const struct shape shape_positive_long = {.kind = SHAPE_LONG, .has_min = true, .min = 1};

const struct shape shape_empty_request = {
    .kind = SHAPE_STRUCT,
    .size = sizeof(struct empty_request),
};

// The member of a table operation that is looked at before anything else, or NULL.
static const struct shape_member *own_table_name(const struct shape *shape)
{
    for (size_t i = 0; i < shape->member_count; i++)
        if (shape->members[i].shape == &shape_own_table_name)
            return &shape->members[i];
    return NULL;
}

// A table operation that failed: whether its TableName is why, which is then all it is told. The
// name is read by itself, for what shape_decode() leaves behind after a failure is nobody's
// promise.
static bool own_table_name_check(struct slice json, struct arena *arena, struct error *error)
{
    static const struct shape length = {NAME_LENGTH, .exempts = is_table_arn};
    static const struct shape_member rows[] = {
        SHAPE_ROW(table_name_request, OPTIONAL, table_name, "TableName", length),
    };
    static const struct shape only_name = STRUCT_SHAPE(table_name_request, NULL, rows);
    struct table_name_request request;
    struct error fault;
    error_init(&fault, arena);
    if (!shape_decode(&only_name, json, &request, arena, &fault))
        return error_validation(error,
                                "TableName must be at least %d characters long and at most %d "
                                "characters long",
                                LIMIT_TABLE_NAME_MIN, LIMIT_TABLE_NAME_MAX);
    return request.table_name.ptr != NULL ||
           error_validation(
               error, "The parameter 'TableName' is required but was not present in the request");
}

bool request_decode(const struct shape *shape, struct slice json, void *out, struct arena *arena,
                    struct error *error)
{
    struct error fault;
    error_init(&fault, arena);
    if (shape_decode(shape, json, out, arena, &fault))
        return true;
    if (fault.code == ERR_VALIDATION && own_table_name(shape) != NULL &&
        !own_table_name_check(json, arena, error))
        return false;
    return error_set(error, fault.code, "%s", fault.message);
}
