// From a statement to a plan: which keys to read, what to filter, what to write on which condition.
#include "partiql/partiql_internal.h"

struct planner {
    struct arena *arena;
    struct error *error;
    const struct partiql_statement *statement;
    const struct table *table;
    const struct index *index;
    struct partiql_plan *plan;
};

static const struct key_schema *target_keys(const struct planner *p)
{
    return p->index != NULL ? &p->index->keys : &p->table->keys;
}

// ---- Without a table ----------------------------------------------------------------------------

bool pql_judge(struct arena *arena, struct partiql_tree *tree, struct error *error)
{
    struct pql_builder b = pql_builder(arena, error);
    if (tree->item != NULL && !pql_item(arena, tree->item, &tree->encoded, error))
        return false;
    if (tree->changes != NULL) {
        tree->update = pql_compile_changes(arena, tree->changes, error);
        if (tree->update == NULL)
            return false;
    }
    // It is compiled when a table's keys have taken their part of it.
    return tree->where == NULL ||
           expr_check_condition(&b.expr, pql_condition(&b.expr, tree->where));
}

// ---- SELECT -------------------------------------------------------------------------------------

static void reverse_ranges(struct key_range *ranges, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct key_range swap = ranges[i];
        ranges[i] = ranges[count - 1 - i];
        ranges[count - 1 - i] = swap;
    }
}

static bool same_partition(const struct key_range *a, const struct key_range *b)
{
    return slice_equal(a->hash[0], b->hash[0]);
}

// Puts the ranges, which are in the order of their keys, into the one that is asked for.
static void order_ranges(struct partiql_plan *plan, bool hash_descending)
{
    if (hash_descending)
        reverse_ranges(plan->ranges, plan->range_count);
    for (size_t i = 0, end; plan->reverse != hash_descending && i < plan->range_count; i = end) {
        for (end = i + 1; end < plan->range_count; end++) {
            if (!same_partition(&plan->ranges[i], &plan->ranges[end]))
                break;
        }
        reverse_ranges(plan->ranges + i, end - i);
    }
}

static bool check_order(struct planner *p, const struct pql_order *order)
{
    const struct partiql_plan *plan = p->plan;
    if (!key_schema_has(target_keys(p), order->name))
        return error_validation(p->error,
                                "Variable reference %.*s in ORDER BY clause must be part of the "
                                "primary key",
                                SLICE_FMT(order->name));
    return plan->range_count > 0 ||
           error_validation(p->error, "Must have at least one non-optional hash key condition in "
                                      "WHERE clause when using ORDER BY clause.");
}

// ORDER BY the sort key is the direction of the Query; by the partition key, the order of several.
static bool plan_order(struct planner *p)
{
    const struct pql_order *order = p->statement->tree->order;
    struct partiql_plan *plan = p->plan;
    const struct pql_order *by_hash = NULL;
    const struct pql_order *by_range = NULL;
    if (order == NULL)
        return true;
    if (p->statement->tree->where == NULL)
        return error_validation(p->error, "Must have WHERE clause in the statement when using "
                                          "ORDER BY clause.");
    for (; order != NULL; order = order->next) {
        if (!check_order(p, order))
            return false;
        bool hash = slice_equal(target_keys(p)->parts[0].name, order->name);
        const struct pql_order **by = hash ? &by_hash : &by_range;
        *by = *by == NULL ? order : *by;
    }
    if (by_hash == NULL && !same_partition(&plan->ranges[0], &plan->ranges[plan->range_count - 1]))
        return error_validation(p->error, "Must have hash key in ORDER BY clause when more than "
                                          "one hash key condition specified in WHERE clause.");
    plan->reverse = by_range != NULL && by_range->descending;
    order_ranges(plan, by_hash != NULL && by_hash->descending);
    return true;
}

static bool plan_filter(struct planner *p, const struct pql_where *where)
{
    struct pql_builder b = pql_builder(p->arena, p->error);
    if (pql_where_left(where) == 0)
        return true;
    p->plan->filter = pql_build_condition(&b, pql_where_rest(&b.expr, where));
    return p->plan->filter != NULL;
}

// m.l[1] is called l[1]: the last name and what follows it.
static bool output_name(struct planner *p, const struct pql_node *node, struct slice *out)
{
    size_t last = node->path.count - 1;
    while (node->path.steps[last].name.ptr == NULL)
        last--;
    *out = node->texts[last];
    for (size_t i = last + 1; i < node->path.count; i++) {
        const char *longer =
            arena_printf(p->arena, "%.*s%.*s", SLICE_FMT(*out), SLICE_FMT(node->texts[i]));
        if (longer == NULL)
            return error_budget(p->error);
        *out = slice_str(longer);
    }
    return true;
}

static bool check_output(struct planner *p, size_t at)
{
    const struct partiql_output *outputs = p->plan->outputs;
    for (size_t i = 0; i < at; i++) {
        if (slice_equal(outputs[i].name, outputs[at].name))
            return error_validation(p->error, "Duplicate identifiers in select clause: %.*s",
                                    SLICE_FMT(outputs[at].name));
    }
    return true;
}

// Has all outputs found in an item at once; as a projection of expr, which judges whether they
// overlap, too.
static bool compile_outputs(struct planner *p)
{
    struct pql_builder b = pql_builder(p->arena, p->error);
    size_t count = p->plan->output_count;
    struct path *paths = arena_alloc(p->arena, count * sizeof(*paths));
    if (paths == NULL)
        return error_budget(p->error);
    for (size_t i = 0; i < count; i++) {
        paths[i] = p->plan->outputs[i].path;
        pql_count(&b.expr, i == 0 ? 0 : 2);
        pql_count_path(&b.expr, paths[i]);
    }
    p->plan->output_paths = expr_paths_new(p->arena, count, paths);
    if (p->plan->output_paths == NULL)
        return error_budget(p->error);
    if (!pql_fits(&b, false))
        return false;
    p->plan->projection = expr_build_projection(&b.expr, count, paths);
    return p->plan->projection != NULL;
}

static bool plan_outputs(struct planner *p)
{
    size_t count = 0;
    for (const struct pql_node *node = p->statement->tree->select; node != NULL; node = node->next)
        count++;
    if (count == 0)
        return true;
    p->plan->outputs = arena_zalloc(p->arena, count, sizeof(*p->plan->outputs));
    if (p->plan->outputs == NULL)
        return error_budget(p->error);
    p->plan->output_count = count;
    size_t at = 0;
    for (const struct pql_node *node = p->statement->tree->select; node != NULL;
         node = node->next, at++) {
        if (node->kind != NODE_PATH)
            return pql_error_at(p->error, node->token, "Unexpected path component");
        p->plan->outputs[at].path = node->path;
        if (!output_name(p, node, &p->plan->outputs[at].name) || !check_output(p, at))
            return false;
    }
    return compile_outputs(p);
}

// The primary key, if that is what the statement reads.
static bool plan_single(struct planner *p)
{
    struct pql_where where;
    if (p->index != NULL)
        return true;
    if (!pql_where_init(&where, p->arena, p->error, p->statement->tree->where) ||
        !pql_where_key(&where, &p->table->keys, false, &p->plan->key))
        return false;
    p->plan->exact = p->plan->key.len > 0 && pql_where_left(&where) == 0;
    return true;
}

static bool plan_select(struct planner *p)
{
    struct pql_where where;
    struct slice index_name = {NULL, 0};
    if (p->index != NULL)
        index_name = p->index->name;
    return plan_outputs(p) &&
           pql_where_init(&where, p->arena, p->error, p->statement->tree->where) &&
           pql_where_ranges(&where, target_keys(p), index_name, &p->plan->range_count,
                            &p->plan->ranges) &&
           pql_where_branches(&where, target_keys(p), index_name, &p->plan->range_count,
                              &p->plan->ranges) &&
           plan_order(p) && plan_filter(p, &where) && plan_single(p);
}

void partiql_project(const struct partiql_plan *plan, struct slice item,
                     struct value_builder *builder, struct steps *steps)
{
    if (plan->output_count == 0) {
        value_put(builder, item);
        return;
    }
    value_open_map(builder);
    expr_paths_find(plan->output_paths, item, steps);
    steps_add(steps, plan->output_count);
    for (size_t i = 0; i < plan->output_count; i++) {
        struct slice value = expr_paths_value(plan->output_paths, i);
        if (value.len == 0)
            continue;
        steps_bytes(steps, value.len);
        value_name(builder, plan->outputs[i].name);
        value_put(builder, value);
    }
    (void)value_close(builder);
}

// ---- Writing ------------------------------------------------------------------------------------

// INSERT wants that there is no such item; UPDATE and EXISTS that there is one, and the rest of the
// WHERE clause; DELETE does not care, unless there is an item that the rest does not fit.
static bool plan_condition(struct planner *p, const struct pql_where *where)
{
    struct pql_builder b = pql_builder(p->arena, p->error);
    enum partiql_kind kind = p->statement->kind;
    bool absent = kind == PARTIQL_INSERT || kind == PARTIQL_DELETE;
    bool rest = where != NULL && pql_where_left(where) > 0;
    if (kind == PARTIQL_DELETE && !rest)
        return true;
    enum expr_op presence = absent ? OP_MISSING : OP_EXISTS;
    enum expr_op join = kind == PARTIQL_DELETE ? OP_OR : OP_AND;
    struct slice key = p->table->keys.parts[0].name;
    pql_count(&b.expr, strlen(expr_op_text(presence)) + 2);
    pql_count_name(&b.expr, key);
    struct expr_node *whole = expr_test(&b.expr, presence, expr_name(&b.expr, key), NULL);
    if (rest) {
        pql_count(&b.expr, strlen(expr_op_text(join)) + 4);
        whole = expr_join(&b.expr, join, whole, pql_where_rest(&b.expr, where));
    }
    p->plan->condition = pql_build_condition(&b, whole);
    return p->plan->condition != NULL;
}

static bool plan_insert(struct planner *p)
{
    p->plan->item = p->statement->tree->encoded;
    const struct key_schema *keys = &p->table->keys;
    // A guard will complete the item; whether it has its key is to be seen then.
    bool guarded = p->table->guard != NULL;
    for (size_t i = 0; !guarded && i < keys->hash_count + keys->range_count; i++) {
        const struct key_part *part = &keys->parts[i];
        struct slice value = value_get(p->plan->item, part->name);
        if (value.len == 0)
            return error_validation(p->error,
                                    "Key attribute should be present in the item: Key %.*s",
                                    SLICE_FMT(part->name));
        if (value_type(value) != part->type)
            return pql_refuse_key_type(p->error, part);
    }
    return plan_condition(p, NULL);
}

// UPDATE, DELETE and EXISTS are of one item.
static bool plan_one(struct planner *p)
{
    struct pql_where where;
    enum partiql_kind kind = p->statement->kind;
    if (!pql_where_init(&where, p->arena, p->error, p->statement->tree->where) ||
        !pql_where_key(&where, &p->table->keys, kind != PARTIQL_EXISTS, &p->plan->key))
        return false;
    p->plan->exact = p->plan->key.len > 0 && pql_where_left(&where) == 0;
    if (p->plan->key.len == 0)
        return kind == PARTIQL_EXISTS ||
               error_validation(p->error, "Where clause does not contain a mandatory equality on "
                                          "all key attributes");
    p->plan->update = p->statement->tree->update;
    return plan_condition(p, &where);
}

bool partiql_plan(struct arena *arena, const struct partiql_statement *statement,
                  const struct table *table, const struct index *index, struct partiql_plan *out,
                  struct error *error)
{
    const struct key_schema *keys = index != NULL ? &index->keys : &table->keys;
    if (keys->hash_count > 1 || keys->range_count > 1)
        return error_validation(error, "PartiQL statements cannot be executed on tables with "
                                       "multi-attribute HASH keys or multi-attribute RANGE keys.");
    struct partiql_plan plan = {.kind = statement->kind};
    struct planner p = {.arena = arena,
                        .error = error,
                        .statement = statement,
                        .table = table,
                        .index = index,
                        .plan = &plan};
    bool ok = statement->kind == PARTIQL_SELECT   ? plan_select(&p)
              : statement->kind == PARTIQL_INSERT ? plan_insert(&p)
                                                  : plan_one(&p);
    if (ok)
        *out = plan;
    return ok;
}
