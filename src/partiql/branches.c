// OR over keys. The branches of an OR are conditions on partitions: on one and the same where the
// partition key is given outside of the OR, else on the one that each branch names. Where every
// branch names one, the clause is read as ranges of keys, in their order, and all of it is their
// filter.
//
// The service reads no item twice and says so: branches of one partition whose conditions on the
// sort key meet are refused, and one without such a condition meets all others. Branches that only
// say what the sort key is not are exempt; neither do branches meet that all say nothing of it.
#include "partiql/partiql_internal.h"

#include <stdlib.h>

// What a branch says of the sort key: nothing; something that is no range of it; a range.
enum mention { MENTION_NONE, MENTION_OTHER, MENTION_RANGE };

struct branch {
    const struct pql_node *node;
    struct slice hash; // VALUE_NONE if the OR is of one partition
    enum mention mention;
    size_t count; // of comparisons of the sort key that it joins by AND
    struct pql_key_term *terms;
};

struct branches {
    struct pql_where *where;
    const struct key_schema *keys;
    bool scanned; // a branch is of no partition
    size_t count;
    struct branch *list;
};

bool pql_refuse_overlap(struct pql_where *where)
{
    return error_validation(where->error,
                            "Overlapping conditions with range keys are not supported in where "
                            "clause");
}

// ---- Intervals ----------------------------------------------------------------------------------

// Whether all values that fit `a` are smaller than all that fit `b`.
static bool lies_before(const struct pql_key_term *a, const struct pql_key_term *b)
{
    bool ends = a->op != KEY_NONE && a->op != KEY_GT && a->op != KEY_GE;
    bool begins = b->op != KEY_NONE && b->op != KEY_LT && b->op != KEY_LE;
    if (!ends || !begins)
        return false;
    struct slice end = a->values[a->op == KEY_BETWEEN];
    struct slice begin = b->values[0];
    int order = value_compare(end, begin);
    if (a->op == KEY_BEGINS)
        return order < 0 && !slice_begins(value_bytes(begin), value_bytes(end));
    return order < 0 || (order == 0 && (a->op == KEY_LT || b->op == KEY_GT));
}

static bool meet(const struct pql_key_term *a, const struct pql_key_term *b)
{
    return !lies_before(a, b) && !lies_before(b, a);
}

// ---- Branches -----------------------------------------------------------------------------------

static size_t count_branches(const struct pql_node *node)
{
    size_t count = node->kind != NODE_OR;
    for (const struct pql_node *part = node->first; node->kind == NODE_OR && part != NULL;
         part = part->next)
        count += count_branches(part);
    return count;
}

// An OR in parentheses is no branch of the one around it: its branches are.
static void add_branches(struct branches *all, const struct pql_node *node)
{
    if (node->kind != NODE_OR) {
        all->list[all->count++].node = node;
        return;
    }
    for (const struct pql_node *part = node->first; part != NULL; part = part->next)
        add_branches(all, part);
}

static enum mention mention_of(struct pql_where *where, const struct pql_node *node,
                               struct slice name)
{
    struct pql_key_term term;
    enum mention found = pql_is_attribute(node, name) ? MENTION_OTHER : MENTION_NONE;
    if (node->kind != NODE_AND && node->kind != NODE_OR && node->kind != NODE_NOT &&
        node->first != NULL && pql_key_term(where, node, name, &term) && term.op != KEY_NONE)
        return MENTION_RANGE;
    for (const struct pql_node *part = node->first; part != NULL; part = part->next) {
        enum mention own = mention_of(where, part, name);
        if (node->kind == NODE_NOT && own == MENTION_RANGE)
            own = MENTION_OTHER;
        found = own > found ? own : found;
    }
    return found;
}

// Looks at what the branch joins by AND.
static bool describe(struct branches *all, struct branch *branch, bool query)
{
    struct pql_where own;
    const struct key_schema *keys = all->keys;
    if (!pql_where_init(&own, all->where->arena, all->where->error, branch->node))
        return false;
    branch->terms = arena_zalloc(own.arena, own.count, sizeof(*branch->terms));
    if (branch->terms == NULL)
        return error_budget(own.error);
    for (size_t i = 0; i < own.count; i++) {
        struct pql_key_term hash = {.op = KEY_NONE};
        struct pql_key_term *range = &branch->terms[branch->count];
        if ((!query && !pql_key_term(&own, own.terms[i], keys->parts[0].name, &hash)) ||
            (keys->range_count > 0 &&
             !pql_key_term(&own, own.terms[i], keys->parts[1].name, range)))
            return false;
        if (hash.op == KEY_EQ && branch->hash.len == 0)
            branch->hash = hash.values[0];
        branch->count += range->op != KEY_NONE;
    }
    all->scanned = all->scanned || (!query && branch->hash.len == 0);
    branch->mention = keys->range_count == 0
                          ? MENTION_NONE
                          : mention_of(all->where, branch->node, keys->parts[1].name);
    return true;
}

// A value meets all conditions of both as soon as each two of them have one in common, for these
// are intervals. What a branch says deeper inside is not looked at.
static bool branches_overlap(const struct branch *a, const struct branch *b)
{
    if (a->mention == MENTION_OTHER || b->mention == MENTION_OTHER || a->mention + b->mention == 0)
        return false;
    if (a->mention != b->mention)
        return true;
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (!meet(&a->terms[i], &b->terms[k]))
                return false;
        }
    }
    return a->count > 0 && b->count > 0;
}

static bool take_apart(struct branches *all, const struct pql_node *node, bool query)
{
    all->list = arena_zalloc(all->where->arena, count_branches(node), sizeof(*all->list));
    if (all->list == NULL)
        return error_budget(all->where->error);
    add_branches(all, node);
    for (size_t i = 0; i < all->count && !all->scanned; i++) {
        if (!describe(all, &all->list[i], query))
            return false;
    }
    for (size_t i = 0; i < all->count && !all->scanned; i++) {
        for (size_t k = 0; k < i; k++) {
            if (slice_equal(all->list[i].hash, all->list[k].hash) &&
                branches_overlap(&all->list[i], &all->list[k]))
                return pql_refuse_overlap(all->where);
        }
    }
    return true;
}

// ---- Ranges -------------------------------------------------------------------------------------

// What a range says of the sort key; of several attributes no statement can be.
static struct pql_key_term term_of(const struct key_range *range)
{
    if (range->range_equal > 0)
        return (struct pql_key_term){.op = KEY_EQ, .values = {range->range[0]}};
    return (struct pql_key_term){.op = range->op, .values = {range->bounds[0], range->bounds[1]}};
}

static int compare_ranges(const void *left, const void *right)
{
    const struct key_range *a = left;
    const struct key_range *b = right;
    struct pql_key_term terms[2] = {term_of(a), term_of(b)};
    int order = value_compare(a->hash[0], b->hash[0]);
    return order != 0                          ? order
           : lies_before(&terms[0], &terms[1]) ? -1
                                               : lies_before(&terms[1], &terms[0]);
}

// Of the ranges of a partition, `count` of them, how many are to be read: all, or one that is the
// whole partition if two have a key in common.
static size_t merge_partition(struct key_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pql_key_term own = term_of(&ranges[i]);
        for (size_t k = 0; k < i; k++) {
            struct pql_key_term other = term_of(&ranges[k]);
            if (!meet(&own, &other))
                continue;
            ranges[0] = (struct key_range){.hash = {ranges[0].hash[0]}, .op = KEY_NONE};
            return 1;
        }
    }
    return count;
}

static size_t merge(struct key_range *ranges, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count; end++) {
            if (!slice_equal(ranges[i].hash[0], ranges[end].hash[0]))
                break;
        }
        size_t own = merge_partition(ranges + i, end - i);
        memmove(ranges + kept, ranges + i, own * sizeof(*ranges));
        kept += own;
    }
    return kept;
}

// What the branch says, and what is said beside the OR.
static bool join(struct pql_where *where, const struct pql_node *branch, size_t or_at,
                 struct pql_where *out)
{
    struct pql_where own;
    if (!pql_where_init(&own, where->arena, where->error, branch))
        return false;
    *out = own;
    out->terms = arena_zalloc(own.arena, own.count + where->count, sizeof(const struct pql_node *));
    out->used = arena_zalloc(own.arena, own.count + where->count, sizeof(bool));
    if (out->terms == NULL || out->used == NULL)
        return error_budget(own.error);
    for (size_t i = 0; i < own.count; i++)
        out->terms[i] = own.terms[i];
    for (size_t i = 0; i < where->count; i++) {
        if (i != or_at)
            out->terms[out->count++] = where->terms[i];
    }
    return true;
}

static bool make_ranges(const struct branches *all, size_t or_at, struct slice index_name,
                        size_t *count, struct key_range **out)
{
    struct pql_where *where = all->where;
    struct key_range *ranges = arena_zalloc(where->arena, all->count, sizeof(*ranges));
    if (ranges == NULL)
        return error_budget(where->error);
    for (size_t i = 0; i < all->count; i++) {
        struct pql_where own;
        struct key_range *range = NULL;
        size_t one = 0;
        if (!join(where, all->list[i].node, or_at, &own) ||
            !pql_where_ranges(&own, all->keys, index_name, &one, &range))
            return false;
        ranges[i] = range[0];
    }
    qsort(ranges, all->count, sizeof(*ranges), compare_ranges);
    *count = merge(ranges, all->count);
    *out = ranges;
    return true;
}

bool pql_where_branches(struct pql_where *where, const struct key_schema *keys,
                        struct slice index_name, size_t *count, struct key_range **out)
{
    size_t chosen = where->count; // the OR that names the partitions, unless they are given
    for (size_t i = 0; i < where->count && *count == 0; i++) {
        struct branches all = {.where = where, .keys = keys};
        if (where->terms[i]->kind != NODE_OR)
            continue;
        if (!take_apart(&all, where->terms[i], false))
            return false;
        if (!all.scanned && !make_ranges(&all, i, index_name, count, out))
            return false;
        chosen = i;
    }
    if (*count == 0)
        return true;
    for (size_t i = 0; i < where->count; i++) {
        struct branches all = {.where = where, .keys = keys};
        if (i != chosen && where->terms[i]->kind == NODE_OR &&
            !take_apart(&all, where->terms[i], true))
            return false;
    }
    return true;
}
