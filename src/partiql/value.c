// Constants of a statement as encoded values: numbers, lists, bags (which are sets) and maps.
#include "partiql/partiql_internal.h"

#include <stdio.h>

static const char *number_fault(enum number_status status)
{
    switch (status) {
    case NUMBER_OVERFLOW:
        return "Number overflow. Attempting to store a number with magnitude larger than supported "
               "range";
    case NUMBER_UNDERFLOW:
        return "Number underflow. Attempting to store a number with magnitude smaller than "
               "supported range";
    default:
        return "Attempting to store more than 38 significant digits in a Number";
    }
}

bool pql_number(struct pql_parser *parser, struct slice text, struct slice *out, const char **fault)
{
    // PartiQL also writes .5 and 5. and 5.e3: a zero before the point, and no point without digits.
    uint8_t *digits = arena_alloc(parser->arena, text.len + 1);
    if (digits == NULL)
        return error_budget(parser->error);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool ends = i + 1 == text.len || text.ptr[i + 1] < '0' || text.ptr[i + 1] > '9';
        if (text.ptr[i] == '.' && ends)
            continue;
        if (text.ptr[i] == '.' && i == 0)
            digits[len++] = '0';
        digits[len++] = text.ptr[i];
    }
    uint8_t encoded[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N};
    size_t stored;
    enum number_status status = number_from_text(slice_of(digits, len), encoded + 2, &stored);
    if (status == NUMBER_SYNTAX)
        return pql_malformed(parser, ""); // what the lexer should have seen to
    if (status != NUMBER_OK) {
        *fault = number_fault(status);
        stored = number_from_i64(0, encoded + 2);
    }
    encoded[1] = (uint8_t)stored;
    *out = arena_copy(parser->arena, slice_of(encoded, 2 + stored));
    return out->ptr != NULL || error_budget(parser->error);
}

bool pql_is_constant(const struct pql_node *node)
{
    return node->kind == NODE_VALUE || node->kind == NODE_LIST || node->kind == NODE_BAG ||
           node->kind == NODE_MAP;
}

// ---- Building -------------------------------------------------------------------------------

struct build {
    struct value_builder builder;
    struct error *error;
    struct buf path; // "root.a[1]", for messages
};

static bool build_value(struct build *build, const struct pql_node *node);

static bool refuse_number(struct build *build, const struct pql_node *node)
{
    return error_validation(build->error, "%s under %.*s", node->fault,
                            SLICE_FMT(buf_view(&build->path)));
}

// The part of a list or a bag, with its place in the path.
static void enter_element(struct build *build, size_t index)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "[%zu]", index);
    buf_text(&build->path, text);
}

static bool refuse_bag(struct build *build, const struct pql_node *node)
{
    return pql_error_at(build->error, node->token,
                        "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                        "strings in bags");
}

// The members as they were written.
static bool refuse_repeated(struct build *build, const struct pql_node *node)
{
    struct buf members;
    char digits[NUMBER_TEXT_MAX];
    buf_init(&members, LIMIT_BODY);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        struct slice bytes = value_bytes(part->value);
        if (part != node->first)
            buf_text(&members, ", ");
        if (value_type(part->value) == VALUE_N)
            bytes = slice_of(digits, number_to_text(bytes, digits));
        buf_slice(&members, bytes);
    }
    (void)error_validation(build->error,
                           "One or more parameter values were invalid: Input collection [%.*s] "
                           "contains duplicates.",
                           SLICE_FMT(buf_view(&members)));
    buf_release(&members);
    return false;
}

// All members of a set are of the first one's type. Parameters may bring binary, too.
static bool check_members(struct build *build, const struct pql_node *node, enum value_type *type)
{
    *type = VALUE_TYPES;
    size_t before = build->path.len;
    size_t index = 0;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next, index++) {
        enum value_type own = part->kind == NODE_VALUE ? value_type(part->value) : VALUE_TYPES;
        if ((own != VALUE_S && own != VALUE_N && own != VALUE_B) ||
            (*type != VALUE_TYPES && own != *type))
            return refuse_bag(build, part);
        *type = own;
        enter_element(build, index);
        if (part->fault != NULL)
            return refuse_number(build, part);
        build->path.len = before;
    }
    return true;
}

static bool build_bag(struct build *build, const struct pql_node *node)
{
    enum value_type type;
    if (node->count == 0)
        return error_validation(build->error, "Empty bags are not supported");
    if (!check_members(build, node, &type))
        return false;
    value_open_set(&build->builder, type == VALUE_S   ? VALUE_SS
                                    : type == VALUE_N ? VALUE_NS
                                                      : VALUE_BS);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        value_member(&build->builder, value_bytes(part->value));
    return value_close(&build->builder) || refuse_repeated(build, node);
}

static bool check_name(struct build *build, const struct pql_node *map, const struct pql_node *part)
{
    if (part->key.len == 0)
        return error_validation(build->error, "Path component cannot be an empty string");
    if (part->key.len > LIMIT_ATTRIBUTE_NAME)
        return error_validation(build->error, "One or more parameter values were invalid: "
                                              "Attribute name is too large");
    for (const struct pql_node *other = map->first; other != part; other = other->next) {
        if (slice_equal(other->key, part->key))
            return pql_error_at(build->error, part->key_token,
                                "Duplicate keys in tuple. Key: %.*s under %.*s",
                                SLICE_FMT(part->key), SLICE_FMT(buf_view(&build->path)));
    }
    return true;
}

// The parts of a list or a map, each with its place in the path.
static bool build_parts(struct build *build, const struct pql_node *node)
{
    size_t before = build->path.len;
    size_t index = 0;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (node->kind == NODE_LIST) {
            enter_element(build, index++);
        } else if (check_name(build, node, part)) {
            buf_text(&build->path, ".");
            buf_slice(&build->path, part->key);
            value_name(&build->builder, part->key);
        } else {
            return false;
        }
        if (!build_value(build, part))
            return false;
        build->path.len = before;
    }
    (void)value_close(&build->builder);
    return true;
}

// A call is named itself, and where it stands only by what holds it.
static bool refuse_call(struct build *build, const struct pql_node *node)
{
    struct slice path = buf_view(&build->path);
    while (path.len > 0 && path.ptr[path.len - 1] != '.' && path.ptr[path.len - 1] != '[')
        path.len--;
    path.len -= path.len > 0;
    return pql_error_at(build->error, node->token, "Unsupported data type: %.*s under key %.*s",
                        SLICE_FMT(node->name), SLICE_FMT(path.len > 0 ? path : SLICE_LIT("root")));
}

static bool build_value(struct build *build, const struct pql_node *node)
{
    // Parameters may be deep themselves; the whole is judged at its end.
    if (build->builder.depth + 1 >= VALUE_BUILDER_DEPTH)
        return error_validation(build->error, "Nesting Levels have exceeded supported limits");
    switch (node->kind) {
    case NODE_VALUE:
        if (node->fault != NULL)
            return refuse_number(build, node);
        value_put(&build->builder, node->value);
        return true;
    case NODE_LIST:
        value_open_list(&build->builder);
        return build_parts(build, node);
    case NODE_BAG:
        return build_bag(build, node);
    case NODE_MAP:
        value_open_map(&build->builder);
        return build_parts(build, node);
    case NODE_CALL:
        return refuse_call(build, node);
    default:
        return pql_error_at(build->error, node->token, "Unsupported data type: %s under key %.*s",
                            pql_node_name(node->kind), SLICE_FMT(buf_view(&build->path)));
    }
}

static bool encode(struct arena *arena, const struct pql_node *node, size_t levels,
                   struct slice *out, struct error *error)
{
    struct build build = {.error = error};
    struct buf encoded;
    buf_init(&encoded, LIMIT_BODY);
    buf_init(&build.path, 1 << 16);
    value_builder_init(&build.builder, &encoded);
    buf_text(&build.path, "root");
    bool ok = build_value(&build, node);
    if (ok && value_depth(buf_view(&encoded)) > levels)
        ok = error_validation(error, "Nesting Levels have exceeded supported limits");
    if (ok) {
        struct slice copy = {NULL, 0};
        if (!encoded.failed)
            copy = arena_copy(arena, buf_view(&encoded));
        ok = copy.ptr != NULL || error_budget(error);
        if (ok)
            *out = copy;
    }
    value_builder_release(&build.builder);
    buf_release(&build.path);
    buf_release(&encoded);
    return ok;
}

bool pql_value(struct arena *arena, const struct pql_node *node, struct slice *out,
               struct error *error)
{
    if (node->kind != NODE_VALUE || node->fault != NULL)
        return encode(arena, node, LIMIT_NESTING, out, error);
    *out = node->value;
    return true;
}

bool pql_item(struct arena *arena, const struct pql_node *node, struct slice *out,
              struct error *error)
{
    return encode(arena, node, LIMIT_NESTING + 1, out, error);
}
