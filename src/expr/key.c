// KeyConditionExpression: a conjunction of comparisons, taken apart into clauses, and
// clauses laid over a key schema.
//
// expr_compile_key() knows no schema; it refuses what no schema could accept.
// expr_key_resolve() does the rest, for a plain key (one HASH, at most one RANGE part) with
// the messages it always had, for keys of several parts with their own.
#include "expr/expr_internal.h"

// ---- From the tree to clauses ------------------------------------------------------------

struct key_builder {
    struct expr_params *params;
    struct key_clause *clauses;
    size_t count;
};

static bool key_error(struct key_builder *builder, const char *message)
{
    return error_validation(builder->params->error, "%s", message);
}

// What the newer layer tells as an invalid expression.
static bool clause_error(struct key_builder *builder, const char *message)
{
    return error_validation(
        builder->params->error, "%s%s",
        layer_is_new(builder->params->layer) ? "Invalid KeyConditionExpression: " : "", message);
}

enum key_op expr_key_op(enum expr_op op, bool mirrored)
{
    static const struct {
        enum key_op plain;
        enum key_op mirrored;
    } rows[] = {
        [OP_EQ] = {KEY_EQ, KEY_EQ},
        [OP_LT] = {KEY_LT, KEY_GT},
        [OP_LE] = {KEY_LE, KEY_GE},
        [OP_GT] = {KEY_GT, KEY_LT},
        [OP_GE] = {KEY_GE, KEY_LE},
        [OP_BETWEEN] = {KEY_BETWEEN, KEY_BETWEEN},
        [OP_BEGINS] = {KEY_BEGINS, KEY_BEGINS},
    };
    if (op >= COUNT_OF(rows))
        return KEY_NONE;
    return mirrored ? rows[op].mirrored : rows[op].plain;
}

// The one operand that is an attribute.
static bool clause_attribute(struct key_builder *builder, const struct expr_node *node,
                             const struct expr_node **out)
{
    const struct expr_node *attribute = NULL;
    for (const struct expr_node *arg = node->args; arg != NULL; arg = arg->next) {
        if (arg->kind == NODE_CALL)
            return key_error(builder, "KeyConditionExpressions cannot contain nested operations");
        if (arg->kind != NODE_PATH)
            continue;
        if (attribute != NULL)
            return key_error(builder, "Invalid condition in KeyConditionExpression: Multiple "
                                      "attribute names used in one condition");
        if (arg->path.count > 1)
            return clause_error(
                builder, "KeyConditionExpressions cannot have conditions on nested attributes");
        attribute = arg;
    }
    *out = attribute;
    return attribute != NULL ||
           key_error(builder,
                     "Invalid condition in KeyConditionExpression: No key attribute specified");
}

static bool clause_add(struct key_builder *builder, const struct expr_node *node)
{
    enum key_op op = expr_key_op(node->op, node->args->kind != NODE_PATH);
    if (op == KEY_NONE)
        return error_validation(builder->params->error,
                                "Invalid operator used in KeyConditionExpression: %s",
                                op_rows[node->op].text);
    if ((op == KEY_BETWEEN || op == KEY_BEGINS) && node->args->kind == NODE_VALUE)
        return error_validation(builder->params->error,
                                "Invalid condition in KeyConditionExpression: %s operator must "
                                "have the key attribute as its first operand",
                                op_rows[node->op].text);
    const struct expr_node *attribute = NULL;
    if (!clause_attribute(builder, node, &attribute))
        return false;
    struct key_clause clause = {.attribute = attribute->path.steps[0].name, .op = op};
    for (size_t i = 0; i < builder->count; i++) {
        if (slice_equal(builder->clauses[i].attribute, clause.attribute))
            return clause_error(builder,
                                "KeyConditionExpressions must only contain one condition per key");
    }
    size_t values = 0;
    for (const struct expr_node *arg = node->args; arg != NULL; arg = arg->next) {
        if (arg != attribute)
            clause.values[values++] = arg->value;
    }
    builder->clauses[builder->count++] = clause;
    return true;
}

// Walks the tree, parents first; only AND may have conditions below it.
static bool clauses_collect(struct key_builder *builder, struct expr_node *root, size_t nodes)
{
    struct arena *arena = builder->params->arena;
    builder->clauses = arena_alloc(arena, nodes * sizeof *builder->clauses);
    struct expr_node **todo = arena_alloc(arena, nodes * sizeof(*todo));
    if (builder->clauses == NULL || todo == NULL)
        return error_budget(builder->params->error);
    size_t depth = 0;
    todo[depth++] = root;
    while (depth > 0) {
        struct expr_node *node = todo[--depth];
        if (node->op == OP_AND) {
            todo[depth++] = node->args->next;
            todo[depth++] = node->args;
        } else if (!clause_add(builder, node)) {
            return false;
        }
    }
    return true;
}

struct expr_key *key_compile(struct parser *parser, struct expr_node *root)
{
    struct key_builder builder = {.params = parser->params};
    size_t nodes = 0;
    if (!check_tree(parser))
        return NULL;
    for (const struct expr_node *node = parser->post; node != NULL; node = node->next_post)
        nodes++;
    if (!clauses_collect(&builder, root, nodes))
        return NULL;
    struct expr_key *key = arena_alloc(parser->params->arena, sizeof *key);
    if (key == NULL)
        return error_no_memory(parser->params->error);
    *key = (struct expr_key){builder.count, builder.clauses, false, parser->params->layer};
    return key;
}

struct expr_key *expr_compile_key(struct expr_params *params, struct slice text)
{
    struct parser parser;
    if (!parser_init(&parser, params, text, EXPR_KEY_CONDITION))
        return NULL;
    struct expr_node *root = parser_condition(&parser);
    return root == NULL ? NULL : key_compile(&parser, root);
}

// ---- Over a schema -----------------------------------------------------------------------

static const struct key_clause *clause_of(const struct expr_key *key, const struct key_part *part)
{
    for (size_t i = 0; i < key->count; i++) {
        if (slice_equal(key->clauses[i].attribute, part->name))
            return &key->clauses[i];
    }
    return NULL;
}

static size_t clause_values(const struct key_clause *clause)
{
    return clause->op == KEY_BETWEEN ? 2 : 1;
}

static bool clause_check_type(const struct key_clause *clause, const struct key_part *part,
                              struct error *error)
{
    // KEY_NONE is what the legacy form could not express as a range over keys.
    if (clause->op == KEY_NONE)
        return error_validation(error,
                                "Attempted conditional constraint is not an indexable operation");
    // A prefix of a number means nothing.
    bool fits = clause->op != KEY_BEGINS || part->type != VALUE_N;
    for (size_t i = 0; i < clause_values(clause); i++)
        fits = fits && value_type(clause->values[i]) == part->type;
    return fits || error_validation(error, "One or more parameter values were invalid: Condition "
                                           "parameter type does not match schema type");
}

static void range_take(struct key_range *out, const struct key_clause *clause)
{
    if (clause->op == KEY_EQ) {
        out->range[out->range_equal++] = clause->values[0];
        return;
    }
    out->op = clause->op;
    out->bounds[0] = clause->values[0];
    out->bounds[1] = clause->values[1];
}

static bool missed(const struct key_part *part, struct error *error)
{
    return error_validation(error, "Query condition missed key schema element: %.*s",
                            SLICE_FMT(part->name));
}

// One HASH part and at most one RANGE part.
static bool resolve_plain(const struct expr_key *key, const struct key_schema *schema,
                          struct key_range *out, struct error *error)
{
    if (key->count > 2 && layer_is_new(key->layer) && !key->legacy)
        return error_validation(error,
                                "The number of query conditions (%zu) exceeds the number of key "
                                "attributes defined in the schema (%zu)",
                                key->count, schema->hash_count + schema->range_count);
    if (key->count < 1 || key->count > 2)
        return error_validation(error, "Conditions can be of length 1 or 2 only");
    const struct key_part *hash = &schema->parts[0];
    if (schema->range_count == 0 && key->count > 1)
        return error_validation(error, "Query key condition not supported");
    const struct key_clause *clause = clause_of(key, hash);
    if (clause == NULL)
        return missed(hash, error);
    if (!clause_check_type(clause, hash, error))
        return false;
    if (clause->op != KEY_EQ)
        return error_validation(error, "Query key condition not supported");
    out->hash[0] = clause->values[0];
    if (key->count == 1)
        return true;
    const struct key_part *range = &schema->parts[1];
    clause = clause_of(key, range);
    if (clause == NULL)
        return missed(range, error);
    if (!clause_check_type(clause, range, error))
        return false;
    range_take(out, clause);
    return true;
}

// Names, joined by commas, of the parts from first to end that lack an equality; empty if none do.
static char *parts_without_equality(const struct expr_key *key, const struct key_schema *schema,
                                    size_t first, size_t end, struct arena *arena)
{
    char *list = arena_printf(arena, "%s", "");
    for (size_t i = first; list != NULL && i < end; i++) {
        const struct key_clause *clause = clause_of(key, &schema->parts[i]);
        if (clause == NULL || clause->op != KEY_EQ)
            list = arena_printf(arena, "%s%s%.*s", list, list[0] == '\0' ? "" : ", ",
                                SLICE_FMT(schema->parts[i].name));
    }
    return list;
}

static bool resolve_hash_parts(const struct expr_key *key, const struct key_schema *schema,
                               struct key_range *out, struct error *error)
{
    char *list = parts_without_equality(key, schema, 0, schema->hash_count, error->arena);
    if (list == NULL)
        return error_budget(error);
    if (list[0] != '\0')
        return error_validation(
            error, "HASH key attributes %s must have equality conditions specified in the query",
            list);
    for (size_t i = 0; i < schema->hash_count; i++) {
        const struct key_clause *clause = clause_of(key, &schema->parts[i]);
        if (!clause_check_type(clause, &schema->parts[i], error))
            return false;
        out->hash[i] = clause->values[0];
    }
    return true;
}

// Everything left of the last RANGE part with a condition must be tied down by equality.
static bool resolve_range_parts(const struct expr_key *key, const struct key_schema *schema,
                                struct key_range *out, struct error *error)
{
    size_t first = schema->hash_count;
    size_t end = first + schema->range_count;
    while (end > first && clause_of(key, &schema->parts[end - 1]) == NULL)
        end--;
    if (end == first)
        return true;
    // The message names only the part right before the first gap's end, as the service does.
    for (size_t i = first + 1; i < end; i++) {
        if (clause_of(key, &schema->parts[i]) == NULL)
            continue;
        const struct key_clause *before = clause_of(key, &schema->parts[i - 1]);
        if (before != NULL && before->op == KEY_EQ)
            continue;
        char *list = parts_without_equality(key, schema, first, i, error->arena);
        if (list == NULL)
            return error_budget(error);
        return error_validation(error,
                                "RANGE key attributes %s must have equality conditions specified "
                                "in the query because a condition is present on key attribute "
                                "%.*s",
                                list, SLICE_FMT(schema->parts[i].name));
    }
    for (size_t i = first; i < end; i++) {
        const struct key_clause *clause = clause_of(key, &schema->parts[i]);
        if (!clause_check_type(clause, &schema->parts[i], error))
            return false;
        range_take(out, clause);
    }
    return true;
}

static bool resolve_parts(const struct expr_key *key, const struct key_schema *schema,
                          struct key_range *out, struct error *error)
{
    size_t parts = schema->hash_count + schema->range_count;
    if (key->count > parts)
        return error_validation(error, "Query key condition not supported");
    if (!resolve_hash_parts(key, schema, out, error) ||
        !resolve_range_parts(key, schema, out, error))
        return false;
    size_t used = schema->hash_count + out->range_equal + (out->op != KEY_NONE);
    if (key->count > used)
        return missed(&schema->parts[used < parts ? used : parts - 1], error);
    return true;
}

bool expr_key_resolve(const struct expr_key *key, const struct key_schema *schema,
                      struct key_range *out, struct error *error)
{
    struct key_range range = {.op = KEY_NONE};
    bool plain = schema->hash_count == 1 && schema->range_count <= 1;
    if (plain ? !resolve_plain(key, schema, &range, error)
              : !resolve_parts(key, schema, &range, error))
        return false;
    *out = range;
    return true;
}

bool expr_key_check_empty(const struct expr_key *key, const struct key_schema *schema,
                          struct slice index, struct error *error)
{
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++) {
        const struct key_part *part = &schema->parts[i];
        const struct key_clause *clause = clause_of(key, part);
        for (size_t j = 0; clause != NULL && j < clause_values(clause); j++) {
            if (part->type == VALUE_N || value_bytes(clause->values[j]).len > 0)
                continue;
            const char *type = part->type == VALUE_S ? "string" : "binary";
            if (index.ptr == NULL)
                return error_validation(error,
                                        "One or more parameter values are not valid. The "
                                        "AttributeValue for a key attribute cannot contain an "
                                        "empty %s value. Key: %.*s",
                                        type, SLICE_FMT(part->name));
            return error_validation(
                error,
                "One or more parameter values are not valid. A value specified for a secondary "
                "index key is not supported. The AttributeValue for a key attribute cannot contain "
                "an empty %s value. IndexName: %.*s, IndexKey: %.*s",
                type, SLICE_FMT(index), SLICE_FMT(part->name));
        }
    }
    return true;
}
