// The parameters of before expressions: Expected, QueryFilter, ScanFilter, KeyConditions and
// AttributeUpdates. Each compiles to the program an expression would give.
#include "expr/expr_internal.h"

enum {
    TYPES_ALL = (1 << VALUE_TYPES) - 1,
    TYPES_SCALAR = 1 << VALUE_S | 1 << VALUE_N | 1 << VALUE_B,
    TYPES_BYTES = 1 << VALUE_S | 1 << VALUE_B,
    TYPES_MEMBER = TYPES_SCALAR | 1 << VALUE_BOOL | 1 << VALUE_NULL,
};

struct legacy_op {
    const char *name;
    enum expr_op op;
    size_t min_values;
    size_t max_values;
    unsigned types;
    enum key_op key_op; // KEY_NONE: not a range over keys
};

static const struct legacy_op legacy_ops[] = {
    {"EQ", OP_EQ, 1, 1, TYPES_ALL, KEY_EQ},
    {"NE", OP_NE, 1, 1, TYPES_ALL, KEY_NONE},
    {"LE", OP_LE, 1, 1, TYPES_SCALAR, KEY_LE},
    {"LT", OP_LT, 1, 1, TYPES_SCALAR, KEY_LT},
    {"GE", OP_GE, 1, 1, TYPES_SCALAR, KEY_GE},
    {"GT", OP_GT, 1, 1, TYPES_SCALAR, KEY_GT},
    {"NOT_NULL", OP_EXISTS, 0, 0, TYPES_ALL, KEY_NONE},
    {"NULL", OP_MISSING, 0, 0, TYPES_ALL, KEY_NONE},
    {"CONTAINS", OP_CONTAINS, 1, 1, TYPES_MEMBER, KEY_NONE},
    {"NOT_CONTAINS", OP_LACKS, 1, 1, TYPES_MEMBER, KEY_NONE},
    {"BEGINS_WITH", OP_BEGINS, 1, 1, TYPES_BYTES, KEY_BEGINS},
    {"IN", OP_IN, 1, LIMIT_IN_OPERANDS, TYPES_SCALAR, KEY_NONE},
    {"BETWEEN", OP_BETWEEN, 2, 2, TYPES_SCALAR, KEY_BETWEEN},
};

static const struct legacy_op *op_find(struct slice name)
{
    for (size_t i = 0; i < COUNT_OF(legacy_ops); i++) {
        if (slice_is(name, legacy_ops[i].name))
            return &legacy_ops[i];
    }
    return NULL;
}

// ---- Checks --------------------------------------------------------------------------------

// Number and types of the values of one entry.
static bool check_values(struct error *error, const struct legacy_op *op, size_t count,
                         const struct slice *values)
{
    if (count < op->min_values || count > op->max_values)
        return error_validation(
            error, INVALID "Invalid number of argument(s) for the %s ComparisonOperator", op->name);
    for (size_t i = 1; i < count; i++) {
        if (value_type(values[i]) != value_type(values[0]))
            return error_validation(
                error, INVALID "AttributeValues inside AttributeValueList must be of same type");
    }
    if (count > 0 && (op->types >> value_type(values[0]) & 1) == 0)
        return error_validation(
            error, INVALID "ComparisonOperator %s is not valid for %s AttributeValue type",
            op->name, value_type_name(value_type(values[0])));
    if (op->op == OP_BETWEEN && value_compare(values[0], values[1]) > 0)
        return error_validation(error, "The BETWEEN condition was provided a range where the "
                                       "lower bound is greater than the upper bound");
    return true;
}

// The combinations of Expected's members that make no sense.
static bool check_expected(struct error *error, const struct legacy_condition *entry)
{
    int len = (int)entry->attribute.len;
    const char *name = (const char *)entry->attribute.ptr;
    bool has_value = entry->value.len != 0;
    if (entry->has_list && has_value)
        return error_validation(error,
                                INVALID "Value and AttributeValueList cannot be used together for "
                                        "Attribute: %.*s",
                                len, name);
    if (entry->op.ptr != NULL) {
        if (entry->has_exists)
            return error_validation(error,
                                    INVALID "Exists and ComparisonOperator cannot be used together "
                                            "for Attribute: %.*s",
                                    len, name);
        if (!entry->has_list && !has_value && !slice_is(entry->op, "NULL") &&
            !slice_is(entry->op, "NOT_NULL"))
            return error_validation(error,
                                    INVALID "Value or AttributeValueList must be used with "
                                            "ComparisonOperator: %.*s for Attribute: %.*s",
                                    SLICE_FMT(entry->op), len, name);
        return true;
    }
    if (entry->has_list)
        return error_validation(error,
                                INVALID "AttributeValueList can only be used with a "
                                        "ComparisonOperator for Attribute: %.*s",
                                len, name);
    bool exists = !entry->has_exists || entry->exists;
    if (exists && !has_value)
        return error_validation(
            error, INVALID "Value must be provided when Exists is %s for Attribute: %.*s",
            entry->has_exists ? "true" : "null", len, name);
    if (!exists && has_value)
        return error_validation(
            error, INVALID "Value cannot be used when Exists is false for Attribute: %.*s", len,
            name);
    return true;
}

// ---- Conditions -----------------------------------------------------------------------------

// One entry as a test: its attribute, the operator, and the values it compares with. NULL with the
// error set, or if there is no memory.
static struct expr_node *entry_test(struct expr_builder *b, enum legacy_use use,
                                    const struct legacy_condition *entry)
{
    if (use == LEGACY_EXPECTED && !check_expected(b->error, entry))
        return NULL;
    bool single = !entry->has_list && entry->value.len != 0;
    size_t count = single ? 1 : entry->count;
    const struct slice *values = single ? &entry->value : entry->values;
    struct slice name = entry->op.ptr != NULL ? entry->op
                        : single              ? SLICE_LIT("EQ")
                                              : SLICE_LIT("NULL");
    const struct legacy_op *op = op_find(name);
    // The request's shape allows no other operators.
    ensure(op != NULL);
    if (!check_values(b->error, op, count, values))
        return NULL;
    struct expr_node *test = expr_call(b, op->op);
    expr_operand(b, test, expr_name(b, entry->attribute));
    for (size_t i = 0; i < count; i++)
        expr_operand(b, test, expr_value(b, values[i]));
    return test;
}

bool legacy_count_check(size_t count, struct error *error)
{
    return count <= LIMIT_LEGACY_ENTRIES ||
           error_validation(error,
                            INVALID "a request takes at most %d conditions, updates or attribute "
                                    "names",
                            LIMIT_LEGACY_ENTRIES);
}

struct expr_condition *expr_legacy_condition(struct arena *arena, struct error *error,
                                             enum legacy_use use, size_t count,
                                             const struct legacy_condition *entries, bool any)
{
    struct expr_builder b = {.arena = arena, .error = error};
    struct expr_node *chain = NULL;
    if (!legacy_count_check(count, error))
        return NULL;
    for (size_t i = 0; i < count && (i == 0 || chain != NULL); i++)
        chain = expr_join(&b, any ? OP_OR : OP_AND, chain, entry_test(&b, use, &entries[i]));
    return build_unchecked(&b, chain);
}

struct expr_key *expr_legacy_key(struct arena *arena, struct error *error, size_t count,
                                 const struct legacy_condition *entries)
{
    struct expr_key *key = arena_alloc(arena, sizeof *key);
    struct key_clause *clauses = arena_zalloc(arena, count + 1, sizeof *clauses);
    if (key == NULL || clauses == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const struct legacy_op *op = op_find(entries[i].op);
        ensure(op != NULL);
        if (!check_values(error, op, entries[i].count, entries[i].values))
            return NULL;
        clauses[i] = (struct key_clause){.attribute = entries[i].attribute, .op = op->key_op};
        for (size_t j = 0; j < entries[i].count && j < 2; j++)
            clauses[i].values[j] = entries[i].values[j];
    }
    *key = (struct expr_key){count, clauses, true, LAYER_OLD};
    return key;
}

// ---- AttributeUpdates -------------------------------------------------------------------------

static bool update_kind(struct error *error, const struct legacy_update *entry,
                        enum expr_action *kind)
{
    bool delete = entry->action.ptr != NULL && slice_is(entry->action, "DELETE");
    bool add = entry->action.ptr != NULL && slice_is(entry->action, "ADD");
    if (entry->value.len == 0) {
        *kind = ACTION_REMOVE;
        if (!delete)
            return error_validation(
                error,
                INVALID "Only DELETE action is allowed when no attribute value is specified");
        return true;
    }
    enum value_type type = value_type(entry->value);
    bool set = type == VALUE_SS || type == VALUE_NS || type == VALUE_BS;
    *kind = delete ? ACTION_DELETE : add ? ACTION_ADD : ACTION_SET;
    if (delete &&!set)
        return error_validation(error,
                                INVALID "DELETE action with value is not supported for the type %s",
                                value_type_name(type));
    if (add && !set && type != VALUE_N && type != VALUE_L)
        return error_validation(error, INVALID "ADD action is not supported for the type %s",
                                value_type_name(type));
    return true;
}

struct legacy_action {
    struct path_step step;
    struct path path;
    struct term term;
};

struct expr_update *expr_legacy_update(struct arena *arena, struct error *error, size_t count,
                                       const struct legacy_update *entries)
{
    if (!legacy_count_check(count, error))
        return NULL;
    struct expr_update *update = arena_zalloc(arena, 1, sizeof *update);
    struct action *actions = arena_zalloc(arena, count + 1, sizeof *actions);
    struct legacy_action *parts = arena_zalloc(arena, count + 1, sizeof *parts);
    const struct path **paths = arena_alloc(arena, (count + 1) * sizeof(*paths));
    if (update == NULL || actions == NULL || parts == NULL || paths == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const struct legacy_update *entry = &entries[i];
        if (!update_kind(error, entry, &actions[i].kind))
            return NULL;
        parts[i].step.name = entry->attribute;
        parts[i].path = (struct path){&parts[i].step, 1};
        parts[i].term =
            (struct term){.kind = TERM_VALUE, .value = entry->value, .wanted = VALUE_TYPES};
        paths[i] = &parts[i].path;
        actions[i].path = parts[i].path;
        actions[i].value = entry->value;
        actions[i].term_count = actions[i].kind == ACTION_SET;
        actions[i].terms = &parts[i].term;
    }
    *update = (struct expr_update){.legacy = true, .action_count = count, .actions = actions};
    // Names of one map differ, and siblings need no order, so the paths need no sorting.
    update->touched = projection_build(arena, count, paths);
    if (update->touched == NULL || !update_places(arena, update))
        return error_no_memory(error);
    return update;
}
