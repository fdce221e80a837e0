// Constants of a statement as encoded values: numbers, lists, bags (which are sets) and maps.
#include "partiql/partiql_internal.h"

static bool number_error(struct error *error, enum number_status status)
{
    switch (status) {
    case NUMBER_OVERFLOW:
        return error_validation(error, "Number overflow. Attempting to store a number with "
                                       "magnitude larger than supported range");
    case NUMBER_UNDERFLOW:
        return error_validation(error, "Number underflow. Attempting to store a number with "
                                       "magnitude smaller than supported range");
    default:
        return error_validation(error, "DynamoDB only supports precision up to 38 digits");
    }
}

bool pql_number(struct pql_parser *parser, struct slice text, struct slice *out)
{
    // PartiQL also writes 5. and .5 and 5.e3: a zero on each side of the point, and all is well.
    uint8_t *digits = arena_alloc(parser->arena, text.len + 2);
    if (digits == NULL)
        return error_budget(parser->error);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && i == 0)
            digits[len++] = '0';
        digits[len++] = text.ptr[i];
        bool ends = i + 1 == text.len || text.ptr[i + 1] < '0' || text.ptr[i + 1] > '9';
        if (text.ptr[i] == '.' && ends)
            digits[len++] = '0';
    }
    uint8_t encoded[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N};
    size_t stored;
    enum number_status status = number_from_text(slice_of(digits, len), encoded + 2, &stored);
    if (status == NUMBER_SYNTAX)
        return pql_malformed(parser, "Unexpected number");
    if (status != NUMBER_OK)
        return number_error(parser->error, status);
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
    struct buf path; // "root.a.b", for messages
};

static bool build_value(struct build *build, const struct pql_node *node);

static bool refuse_bag(struct build *build, const struct pql_node *node)
{
    return pql_error_at(build->error, node->token,
                        "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                        "strings in bags");
}

// A set: all members of the first one's type. Parameters may bring binary, too.
static bool build_bag(struct build *build, const struct pql_node *node)
{
    if (node->count == 0)
        return pql_error_at(build->error, node->token, "Empty bags are not supported");
    enum value_type type = VALUE_TYPES;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        enum value_type own = part->kind == NODE_VALUE ? value_type(part->value) : VALUE_TYPES;
        if ((own != VALUE_S && own != VALUE_N && own != VALUE_B) ||
            (type != VALUE_TYPES && own != type))
            return refuse_bag(build, part);
        type = own;
    }
    value_open_set(&build->builder, type == VALUE_S   ? VALUE_SS
                                    : type == VALUE_N ? VALUE_NS
                                                      : VALUE_BS);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        value_member(&build->builder, value_bytes(part->value));
    return value_close(&build->builder) ||
           error_validation(build->error, "Input collection contains duplicates");
}

static bool check_name(struct build *build, const struct pql_node *map, const struct pql_node *part)
{
    if (part->name.len == 0)
        return error_validation(build->error, "Path component cannot be an empty string");
    if (part->name.len > LIMIT_ATTRIBUTE_NAME)
        return error_validation(build->error, "One or more parameter values were invalid: "
                                              "Attribute name is too large");
    for (const struct pql_node *other = map->first; other != part; other = other->next) {
        if (slice_equal(other->name, part->name))
            return pql_error_at(build->error, part->name_token,
                                "Duplicate keys in tuple. Key: %.*s under %.*s",
                                SLICE_FMT(part->name), SLICE_FMT(buf_view(&build->path)));
    }
    return true;
}

static bool build_map(struct build *build, const struct pql_node *node)
{
    value_open_map(&build->builder);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (!check_name(build, node, part))
            return false;
        size_t before = build->path.len;
        buf_text(&build->path, ".");
        buf_slice(&build->path, part->name);
        value_name(&build->builder, part->name);
        if (!build_value(build, part))
            return false;
        build->path.len = before;
    }
    (void)value_close(&build->builder);
    return true;
}

static bool build_list(struct build *build, const struct pql_node *node)
{
    value_open_list(&build->builder);
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        if (!build_value(build, part))
            return false;
    }
    (void)value_close(&build->builder);
    return true;
}

static bool build_value(struct build *build, const struct pql_node *node)
{
    // Parameters may be deep themselves; the whole is judged at its end.
    if (build->builder.depth + 1 >= VALUE_BUILDER_DEPTH)
        return error_validation(build->error, "Nesting Levels have exceeded supported limits");
    switch (node->kind) {
    case NODE_VALUE:
        value_put(&build->builder, node->value);
        return true;
    case NODE_LIST:
        return build_list(build, node);
    case NODE_BAG:
        return build_bag(build, node);
    case NODE_MAP:
        return build_map(build, node);
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
    if (node->kind != NODE_VALUE)
        return encode(arena, node, LIMIT_NESTING, out, error);
    *out = node->value;
    return true;
}

bool pql_item(struct arena *arena, const struct pql_node *node, struct slice *out,
              struct error *error)
{
    return encode(arena, node, LIMIT_NESTING + 1, out, error);
}
