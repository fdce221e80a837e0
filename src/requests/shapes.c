// The shapes that rows name (TEXT_OF), above all what a table's name may be; the shapes of all
// requests, made of their lists; and request_decode().
//
// A table is named by its name or by its ARN. Lengths and the pattern are those of a name; an
// ARN is exempt from them.
#include "requests/shapes.h"

#include "base/limits.h"
#include "expr/expr.h"
#include "tables/arn.h"

enum { TABLE_ARN_MAX = 1024 };

static const char name_pattern[] = "[a-zA-Z0-9_.-]+";

static bool is_table_arn(struct slice text)
{
    struct slice name;
    return text.len <= TABLE_ARN_MAX && arn_of_table(text, &name);
}

#define NAME_LENGTH                                                                                \
    .kind = SHAPE_STRING, RULE_MIN(LIMIT_TABLE_NAME_MIN), RULE_MAX(LIMIT_TABLE_NAME_MAX)
#define NAME_PATTERN .pattern = name_pattern, .matches = table_name_matches

// Item operations take a name or an ARN. A name that is too short for a table is simply not found.
static bool is_empty_or_name(struct slice text)
{
    return text.len == 0 || table_name_matches(text);
}

static const struct shape shape_table_name = {
    .kind = SHAPE_STRING,
    RULE_MIN(1),
    RULE_MAX(LIMIT_TABLE_NAME_MAX),
    .old_max = TABLE_ARN_MAX,
    .pattern = name_pattern,
    .matches = is_empty_or_name,
    .exempts = is_table_arn,
};
static const struct shape shape_own_table_name = {NAME_LENGTH, NAME_PATTERN,
                                                  .exempts = is_table_arn};
// An index, or ExclusiveStartTableName.
static const struct shape shape_plain_name = {NAME_LENGTH, NAME_PATTERN};

static const struct shape shape_attribute_name = {
    .kind = SHAPE_STRING, RULE_MIN(1), RULE_MAX(LIMIT_KEY_ATTRIBUTE_NAME)};

// ---- Texts with a pattern ------------------------------------------------------------------

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool bucket_matches(struct slice text)
{
    if (text.len < 2 || !is_word(text.ptr[0]) || !is_word(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!is_word(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

static bool owner_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len == 12;
}

static bool token_matches(struct slice text)
{
    return text.len > 0 && memchr(text.ptr, '$', text.len) == NULL;
}

static bool delimiter_matches(struct slice text)
{
    return text.len == 1 && memchr(",;:|\t ", text.ptr[0], 6) != NULL;
}

static bool import_token_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return text.len > 0 && text.len % 16 == 0;
}

static bool printable(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return text.len > 0;
}

// Without quotes and commas.
static bool csv_header_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == ',')
            return false;
    }
    return true;
}

// All that XML has.
static bool role_arn_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 && memchr("\r\n\t", text.ptr[i], 3) == NULL)
            return false;
    return true;
}

static const struct shape shape_bucket = {
    .kind = SHAPE_STRING,
    RULE_MAX(255),
    .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
    .matches = bucket_matches,
};
static const struct shape shape_bucket_owner = {
    .kind = SHAPE_STRING, .pattern = "[0-9]{12}", .matches = owner_matches};
static const struct shape shape_client_token = {
    .kind = SHAPE_STRING, .pattern = "^[^\\$]+$", .matches = token_matches};
static const struct shape shape_delimiter = {.kind = SHAPE_STRING,
                                             RULE_MIN(1),
                                             RULE_MAX(1),
                                             .pattern = "[,;:|\\t ]",
                                             .matches = delimiter_matches};
static const struct shape shape_import_token = {.kind = SHAPE_STRING,
                                                RULE_MIN(112),
                                                RULE_MAX(1024),
                                                .pattern = "([0-9a-f]{16})+",
                                                .matches = import_token_matches};
static const struct shape shape_csv_header = {.kind = SHAPE_STRING,
                                              RULE_MIN(1),
                                              RULE_MAX(65536),
                                              .pattern = "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*",
                                              .matches = csv_header_matches};
static const struct shape shape_role_arn = {
    .kind = SHAPE_STRING,
    RULE_MIN(1),
    RULE_MAX(1600),
    .pattern = "[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\r\\n\\t]*",
    .matches = role_arn_matches,
};
static const struct shape shape_policy_name = {.kind = SHAPE_STRING,
                                               RULE_MIN(1),
                                               RULE_MAX(256),
                                               .pattern = "\\p{Print}+",
                                               .matches = printable};

// ---- Enumerations of several requests ------------------------------------------------------

#define ENUM_SHAPE(...)                                                                            \
    {                                                                                              \
        .kind = SHAPE_ENUM, .values = (const char *const[])                                        \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
static const struct shape shape_billing_mode = ENUM_SHAPE("PROVISIONED", "PAY_PER_REQUEST");
static const struct shape shape_table_class = ENUM_SHAPE("STANDARD", "STANDARD_INFREQUENT_ACCESS");
// The newer layer has names of its own for these, which are not those it takes.
static const struct shape shape_return_values = {
    .kind = SHAPE_ENUM,
    .values =
        (const char *const[]){"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW", NULL},
    .new_values = "ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE",
};
static const struct shape shape_conditional_operator = {
    .kind = SHAPE_ENUM,
    .values = (const char *const[]){"OR", "AND", NULL},
    .new_values = "ALL, OR",
};
static const struct shape shape_comparison_operator =
    ENUM_SHAPE("IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE",
               "BEGINS_WITH", "GE", "CONTAINS");

// What RULE_VALUES is made with.
static bool is_value_name(struct slice name)
{
    return expr_is_value_name(name);
}

// ---- All requests -----------------------------------------------------------------------------

ALL_REQUESTS(SHAPE_DEFINE)
ALL_VARIANTS(SHAPE_DEFINE_AS)

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
// promise. CreateTable has no words of its own for a wrong length.
static bool own_table_name_check(const struct shape *shape, struct slice json, struct arena *arena,
                                 struct error *error)
{
    static const struct shape length = {NAME_LENGTH, .exempts = is_table_arn};
    static const struct shape_member rows[] = {
        {SHAPE_NAME("TableName"), &length, offsetof(struct table_name_request, table_name),
         OPTIONAL},
    };
    static const struct shape only_name = {
        .kind = SHAPE_STRUCT,
        .members = rows,
        .member_count = 1,
        .size = sizeof(struct table_name_request),
    };
    struct table_name_request request;
    struct error fault;
    error_init(&fault, arena);
    if (!shape_decode(&only_name, LAYER_OLD, json, &request, arena, &fault))
        return shape == &shape_create_table_request ||
               error_validation(error,
                                "TableName must be at least %d characters long and at most %d "
                                "characters long",
                                LIMIT_TABLE_NAME_MIN, LIMIT_TABLE_NAME_MAX);
    return request.table_name.ptr != NULL ||
           error_validation(
               error, "The parameter 'TableName' is required but was not present in the request");
}

bool request_decode(const struct shape *shape, enum service_layer layer, struct slice json,
                    void *out, struct arena *arena, struct error *error)
{
    struct error fault;
    error_init(&fault, arena);
    if (shape_decode(shape, layer, json, out, arena, &fault))
        return true;
    if (fault.code == ERR_VALIDATION && own_table_name(shape) != NULL &&
        !own_table_name_check(shape, json, arena, error))
        return false;
    return error_set(error, fault.code, "%s", fault.message);
}
