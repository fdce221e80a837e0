// WHERE over a key schema. The clause is taken apart at its ANDs; terms that compare a key
// attribute with a constant become ranges of keys, and whatever a range does not say in full stays
// a filter.
//
// Everything stays right if a term is not recognised here: it is then filtered, not looked up.
#include "partiql/partiql_internal.h"

#include <stdlib.h>

// ---- Terms --------------------------------------------------------------------------------------

static size_t count_terms(const struct pql_node *node)
{
    if (node->kind != NODE_AND)
        return 1;
    size_t count = 0;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        count += count_terms(part);
    return count;
}

static void add_terms(struct pql_where *where, const struct pql_node *node)
{
    if (node->kind != NODE_AND) {
        where->terms[where->count++] = node;
        return;
    }
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        add_terms(where, part);
}

bool pql_where_init(struct pql_where *where, struct arena *arena, struct error *error,
                    const struct pql_node *root)
{
    *where = (struct pql_where){.arena = arena, .error = error};
    if (root == NULL)
        return true;
    size_t count = count_terms(root);
    where->terms = arena_zalloc(arena, count, sizeof(const struct pql_node *));
    where->used = arena_zalloc(arena, count, sizeof(bool));
    if (where->terms == NULL || where->used == NULL)
        return error_budget(error);
    add_terms(where, root);
    return true;
}

size_t pql_where_left(const struct pql_where *where)
{
    size_t left = 0;
    for (size_t i = 0; i < where->count; i++)
        left += !where->used[i];
    return left;
}

struct expr_node *pql_where_rest(struct expr_builder *b, const struct pql_where *where)
{
    struct expr_node *rest = NULL;
    bool alone = pql_where_left(where) == 1;
    for (size_t i = 0; i < where->count; i++) {
        if (where->used[i])
            continue;
        pql_count(b, rest == NULL ? 0 : 5);
        pql_count(b, where->terms[i]->kind == NODE_OR && !alone ? 2 : 0); // parentheses
        rest = expr_join(b, OP_AND, rest, pql_condition(b, where->terms[i]));
    }
    return rest;
}

// ---- Comparisons of keys ------------------------------------------------------------------------

bool pql_is_attribute(const struct pql_node *node, struct slice name)
{
    return node->kind == NODE_PATH && node->path.count == 1 &&
           slice_equal(node->path.steps[0].name, name);
}

// Makes the values of the parts from `first` on; all of them are constants.
static bool take_values(struct pql_where *where, const struct pql_node *first, struct slice *out)
{
    size_t count = 0;
    for (const struct pql_node *part = first; part != NULL; part = part->next) {
        if (!pql_value(where->arena, part, &out[count++], where->error))
            return false;
    }
    return true;
}

static bool all_constant(const struct pql_node *first)
{
    for (const struct pql_node *part = first; part != NULL; part = part->next) {
        if (!pql_is_constant(part))
            return false;
    }
    return true;
}

bool pql_key_term(struct pql_where *where, const struct pql_node *node, struct slice name,
                  struct pql_key_term *out)
{
    *out = (struct pql_key_term){.op = KEY_NONE};
    if (node->kind >= NODE_EQ && node->kind <= NODE_GE) {
        bool mirrored = !pql_is_attribute(node->first, name);
        const struct pql_node *attribute = mirrored ? node->last : node->first;
        const struct pql_node *constant = mirrored ? node->first : node->last;
        if (!pql_is_attribute(attribute, name) || !pql_is_constant(constant))
            return true;
        out->op = expr_key_op(pql_node_op(node->kind), mirrored);
        return pql_value(where->arena, constant, &out->values[0], where->error);
    }
    bool between = node->kind == NODE_BETWEEN;
    bool begins =
        node->kind == NODE_CALL && pql_word_is(node->name, "begins_with") && node->count == 2;
    if ((!between && !begins) || !pql_is_attribute(node->first, name) ||
        !all_constant(node->first->next))
        return true;
    out->op = between ? KEY_BETWEEN : KEY_BEGINS;
    return take_values(where, node->first->next, out->values);
}

bool pql_refuse_key_type(struct error *error, const struct key_part *part)
{
    return error_validation(error,
                            "Key attribute's data type should match its data type in table's "
                            "schema: Key %.*s",
                            SLICE_FMT(part->name));
}

// Finds the first term on the key attribute with one of the operations, given as bits.
static bool find_term(struct pql_where *where, const struct key_part *part, unsigned ops,
                      struct pql_key_term *out, size_t *at)
{
    for (size_t i = 0; i < where->count; i++) {
        if (where->used[i])
            continue;
        if (!pql_key_term(where, where->terms[i], part->name, out))
            return false;
        if (out->op == KEY_NONE || (ops >> out->op & 1) == 0)
            continue;
        size_t values = out->op == KEY_BETWEEN ? 2 : 1;
        for (size_t v = 0; v < values; v++) {
            if (value_type(out->values[v]) != part->type)
                return pql_refuse_key_type(where->error, part);
        }
        if (out->op == KEY_BEGINS && part->type == VALUE_N)
            return pql_refuse_key_type(where->error, part);
        *at = i;
        return true;
    }
    *out = (struct pql_key_term){.op = KEY_NONE};
    return true;
}

// ---- Ranges -------------------------------------------------------------------------------------

struct range_builder {
    struct pql_where *where;
    const struct key_schema *keys;
    struct slice index_name;
    struct key_range range;
    size_t in_count; // values of IN for the one hash part
    struct slice *in_values;
};

// No key is empty or longer than a key may be.
static bool check_value(struct range_builder *b, size_t part_at, struct slice value)
{
    const struct key_part *part = &b->keys->parts[part_at];
    struct key_clause clause = {.attribute = part->name, .op = KEY_EQ, .values = {value}};
    struct expr_key key = {.count = 1, .clauses = &clause};
    return expr_key_check_empty(&key, b->keys, b->index_name, b->where->error) &&
           key_size_check(part_at < b->keys->hash_count, value_bytes(value).len, b->where->error);
}

static bool check_values(struct range_builder *b, size_t part_at, enum key_op op,
                         const struct slice *values)
{
    size_t count = op == KEY_NONE ? 0 : op == KEY_BETWEEN ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        if (!check_value(b, part_at, values[i]))
            return false;
    }
    return true;
}

static int compare_values(const void *a, const void *b)
{
    return value_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// hash IN […] with constants: the values in order. Two that are the same are two conditions on one
// partition.
static bool find_in(struct range_builder *b, const struct key_part *part)
{
    struct pql_where *where = b->where;
    for (size_t i = 0; i < where->count; i++) {
        const struct pql_node *node = where->terms[i];
        if (node->kind != NODE_IN || !pql_is_attribute(node->first, part->name) ||
            !all_constant(node->first->next))
            continue;
        if (node->count - 1 > LIMIT_IN_KEYS)
            return error_validation(where->error,
                                    "The IN operator is provided with too many operands; number of "
                                    "operands: %zu",
                                    node->count - 1);
        struct slice *values = arena_zalloc(where->arena, node->count - 1, sizeof(*values));
        if (values == NULL)
            return error_budget(where->error);
        if (!take_values(where, node->first->next, values))
            return false;
        for (size_t v = 0; v < node->count - 1; v++) {
            if (value_type(values[v]) != part->type)
                return pql_refuse_key_type(where->error, part);
            if (!check_value(b, 0, values[v]))
                return false;
        }
        qsort(values, node->count - 1, sizeof(*values), compare_values);
        for (size_t v = 1; v < node->count - 1; v++) {
            if (slice_equal(values[v], values[v - 1]))
                return pql_refuse_overlap(where);
        }
        b->in_values = values;
        b->in_count = node->count - 1;
        where->used[i] = true;
        return true;
    }
    return true;
}

// *found tells whether the hash key is tied down.
static bool find_hash(struct range_builder *b, bool *found)
{
    const struct key_part *part = &b->keys->parts[0];
    struct pql_key_term term;
    size_t at = 0;
    if (!find_term(b->where, part, 1u << KEY_EQ, &term, &at))
        return false;
    if (term.op == KEY_NONE) {
        bool ok = find_in(b, part);
        *found = b->in_count > 0;
        return ok;
    }
    b->range.hash[0] = term.values[0];
    b->where->used[at] = true;
    *found = true;
    return check_value(b, 0, term.values[0]);
}

// A lower and an upper bound together are one range; what is not inclusive stays a filter, too.
static bool take_bounds(struct range_builder *b, const struct key_part *part)
{
    struct pql_where *where = b->where;
    struct pql_key_term lower;
    struct pql_key_term upper;
    size_t lower_at = 0;
    size_t upper_at = 0;
    if (!find_term(where, part, 1u << KEY_GT | 1u << KEY_GE, &lower, &lower_at) ||
        !find_term(where, part, 1u << KEY_LT | 1u << KEY_LE, &upper, &upper_at))
        return false;
    struct key_range *range = &b->range;
    if (lower.op != KEY_NONE && upper.op != KEY_NONE) {
        range->op = KEY_BETWEEN;
        range->bounds[0] = lower.values[0];
        range->bounds[1] = upper.values[0];
        where->used[lower_at] = lower.op == KEY_GE;
        where->used[upper_at] = upper.op == KEY_LE;
    } else if (lower.op != KEY_NONE || upper.op != KEY_NONE) {
        const struct pql_key_term *only = lower.op != KEY_NONE ? &lower : &upper;
        range->op = only->op;
        range->bounds[0] = only->values[0];
        where->used[lower.op != KEY_NONE ? lower_at : upper_at] = true;
    }
    return true;
}

// An equality on the sort key, or at most one other condition.
static bool find_range(struct range_builder *b)
{
    struct pql_where *where = b->where;
    if (b->keys->range_count == 0)
        return true;
    const struct key_part *part = &b->keys->parts[1];
    struct pql_key_term term;
    size_t at = 0;
    if (!find_term(where, part, 1u << KEY_EQ, &term, &at))
        return false;
    if (term.op == KEY_NONE &&
        !find_term(where, part, 1u << KEY_BETWEEN | 1u << KEY_BEGINS, &term, &at))
        return false;
    if (term.op == KEY_NONE)
        return take_bounds(b, part) && check_values(b, 1, b->range.op, b->range.bounds);
    if (!check_values(b, 1, term.op, term.values))
        return false;
    where->used[at] = true;
    if (term.op == KEY_EQ) {
        b->range.range[b->range.range_equal++] = term.values[0];
        return true;
    }
    b->range.op = term.op;
    b->range.bounds[0] = term.values[0];
    b->range.bounds[1] = term.values[1];
    return true;
}

bool pql_where_ranges(struct pql_where *where, const struct key_schema *keys,
                      struct slice index_name, size_t *count, struct key_range **out)
{
    struct range_builder b = {
        .where = where, .keys = keys, .index_name = index_name, .range = {.op = KEY_NONE}};
    bool found;
    if (!find_hash(&b, &found))
        return false;
    if (!found)
        return true;
    if (!find_range(&b))
        return false;
    size_t ranges = b.in_count > 0 ? b.in_count : 1;
    struct key_range *all = arena_zalloc(where->arena, ranges, sizeof(*all));
    if (all == NULL)
        return error_budget(where->error);
    for (size_t i = 0; i < ranges; i++) {
        all[i] = b.range;
        if (b.in_count > 0)
            all[i].hash[0] = b.in_values[i];
    }
    *count = ranges;
    *out = all;
    return true;
}

// ---- Full keys ----------------------------------------------------------------------------------

static bool build_key(struct pql_where *where, const struct key_schema *keys,
                      const struct slice *values, struct slice *out)
{
    struct value_maker maker;
    value_begin(&maker, LIMIT_BODY * 2);
    value_open_map(&maker.b);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        value_name(&maker.b, keys->parts[i].name);
        value_put(&maker.b, values[i]);
    }
    *out = value_end(&maker, where->arena);
    return out->ptr != NULL || error_budget(where->error);
}

bool pql_where_key(struct pql_where *where, const struct key_schema *keys, bool write,
                   struct slice *out)
{
    struct slice values[2 * LIMIT_KEY_PARTS];
    *out = VALUE_NONE;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct pql_key_term term;
        size_t at = 0;
        if (!find_term(where, &keys->parts[i], 1u << KEY_EQ, &term, &at))
            return false;
        if (term.op == KEY_NONE)
            return true;
        values[i] = term.values[0];
        where->used[at] = true;
        if (!find_term(where, &keys->parts[i], 1u << KEY_EQ, &term, &at))
            return false;
        if (write && term.op != KEY_NONE)
            return error_validation(where->error,
                                    "Multiple conditions on same key %.*s. Only single item "
                                    "Update/Insert/Delete are supported",
                                    SLICE_FMT(keys->parts[i].name));
    }
    return build_key(where, keys, values, out);
}
