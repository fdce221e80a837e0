// Rules about what a model judges: transitions that lead nowhere, checks that no value can pass.
#include "lint/lint_internal.h"

#include "eval/test.h"
#include "model/rules.h"

// ---- L047: transitions -------------------------------------------------------------------------

static bool moves_name(const struct model_moves *moves, struct slice value)
{
    for (size_t i = 0; i < moves->count; i++) {
        if (slice_equal(moves->list[i].from, value) || slice_equal(moves->list[i].to, value))
            return true;
    }
    return false;
}

static bool moves_reach(const struct model_moves *moves, struct slice value)
{
    for (size_t i = 0; i < moves->count; i++) {
        if (slice_equal(moves->list[i].to, value) && !slice_equal(moves->list[i].from, value))
            return true;
    }
    return false;
}

static const char *value_text(struct lint *lint, struct slice value)
{
    struct buf text;
    buf_init(&text, 256);
    model_literal_text(value, &text);
    const char *made = lint_text(lint, "%.*s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return made;
}

// Values of the type that no step names: an item can never have them, or never leave them.
static void judge_values(struct lint *lint, const struct model_entity *entity,
                         const struct model_moves *moves)
{
    const struct model_type *type = moves->attribute->type;
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (type->options[i]->kind == MODEL_LITERAL &&
            !moves_name(moves, type->options[i]->literal))
            lint_find(lint, moves->at, NULL, "no step of %.*s.%.*s leads to %s or leaves it",
                      SLICE_FMT(entity->name), SLICE_FMT(moves->attribute->name),
                      value_text(lint, type->options[i]->literal));
    }
}

// With a default, that is where items begin: a value that no step leads to is otherwise a loose
// end.
static void judge_begins(struct lint *lint, const struct model_entity *entity,
                         const struct model_moves *moves)
{
    const struct model_expr *begin = moves->attribute->otherwise;
    if (begin == NULL || begin->kind != MODEL_EXPR_VALUE)
        return;
    for (size_t i = 0; i < moves->count; i++) {
        struct slice from = moves->list[i].from;
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || slice_equal(moves->list[k].from, from);
        if (!told && !slice_equal(from, begin->value) && !moves_reach(moves, from))
            lint_find(lint, moves->at, NULL,
                      "no step of %.*s.%.*s leads to %s: only a new item can have it",
                      SLICE_FMT(entity->name), SLICE_FMT(moves->attribute->name),
                      value_text(lint, from));
    }
}

void lint_loose_moves(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->moves_count; i++) {
        judge_values(lint, entity, &entity->moves[i]);
        judge_begins(lint, entity, &entity->moves[i]);
    }
}

// ---- L048: checks ------------------------------------------------------------------------------

// Whether some value between the type's limits is what a comparison with a number asks for.
static bool range_allows(const struct model_type *type, enum model_op op, struct slice number)
{
    bool low = type->min.len == 0;
    bool high = type->max.len == 0;
    int least = low ? -1 : slice_compare(type->min, number);
    int most = high ? 1 : slice_compare(type->max, number);
    switch (op) {
    case MODEL_OP_EQUAL:
        return least <= 0 && most >= 0;
    case MODEL_OP_LESS:
    case MODEL_OP_AT_MOST:
        return low || model_order_holds(op, least);
    case MODEL_OP_MORE:
    case MODEL_OP_AT_LEAST:
        return high || model_order_holds(op, most);
    default:
        return true;
    }
}

static bool comparison_possible(const struct model_comparison *one)
{
    const struct model_type *type =
        one->left->kind == MODEL_EXPR_PATH ? model_path_type(one->left) : NULL;
    const struct model_expr *value = one->values[0];
    if (type == NULL || value == NULL || value->kind != MODEL_EXPR_VALUE ||
        one->op == MODEL_OP_BETWEEN)
        return true;
    bool number = type->kind == MODEL_NUMBER || type->kind == MODEL_INTEGER;
    return !number || value_type(value->value) != VALUE_N ||
           range_allows(type, one->op, value_bytes(value->value));
}

void lint_impossible_check(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->check_count; i++) {
        const struct model_test *test = entity->checks[i].test;
        bool possible = false;
        for (size_t k = 0; k < test->clause_count; k++) {
            bool all = true;
            for (size_t n = 0; n < test->clauses[k].count; n++)
                all = all && comparison_possible(&test->clauses[k].list[n]);
            possible = possible || all;
        }
        if (!possible)
            lint_find(lint, entity->checks[i].at, NULL,
                      "no %.*s passes: the types allow nothing for which %.*s",
                      SLICE_FMT(entity->name), SLICE_FMT(test->text));
    }
}
