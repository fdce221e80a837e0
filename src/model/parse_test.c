// Tests: what `when` and `check` ask. Clauses of comparisons, of which one has to hold.
#include "model/parse_internal.h"

bool parse_operands(struct model_parser *p, enum model_op op, const struct model_expr *values[2])
{
    values[0] = parse_expr(p);
    if (values[0] == NULL || op != MODEL_OP_BETWEEN)
        return values[0] != NULL;
    if (!parse_expect_word(p, "and"))
        return false;
    values[1] = parse_expr(p);
    return values[1] != NULL;
}

static bool is_unary(enum model_op op)
{
    return op == MODEL_OP_EXISTS || op == MODEL_OP_MISSING || op == MODEL_OP_CHANGED;
}

static bool comparison(struct model_parser *p, struct model_comparison *out)
{
    size_t position = 0;
    out->at = parse_place(p);
    out->left = parse_expr(p);
    if (out->left == NULL)
        return false;
    if (!parse_accept_any(p, model_op_words, &position))
        return parse_expected(p, "=, !=, <, <=, >, >=, begins, between, contains, exists, missing "
                                 "or changed");
    out->op = (enum model_op)position;
    if (is_unary(out->op))
        return out->left->kind == MODEL_EXPR_PATH ||
               diagnostic_error(p->diagnostics, out->left->at,
                                "only an attribute can be asked whether it %s",
                                out->op == MODEL_OP_CHANGED ? "has changed" : "is there");
    return parse_operands(p, out->op, out->values);
}

// The word, unless an attribute of that name is declared here.
static bool accept_joint(struct model_parser *p, const char *word)
{
    const struct model_token *next = parse_peek_at(p, 1);
    bool names =
        parse_peek(p)->first && (next->kind == MODEL_TOKEN_COLON || parse_is_type_word(p, next));
    return !names && parse_accept_word(p, word);
}

static bool clause(struct model_parser *p, struct model_clause *out)
{
    struct model_comparison list[LIMIT_MODEL_TESTS] = {0};
    size_t count = 0;
    do {
        if (count == COUNT_OF(list))
            return diagnostic_error(p->diagnostics, parse_place(p),
                                    "at most %zu comparisons can be joined", COUNT_OF(list));
        if (!comparison(p, &list[count++]))
            return false;
    } while (accept_joint(p, "and"));
    struct model_comparison *copy = arena_zalloc(p->arena, count, sizeof *copy);
    if (copy == NULL)
        return parse_no_memory(p);
    memcpy(copy, list, count * sizeof *copy);
    *out = (struct model_clause){.count = count, .list = copy};
    return true;
}

const struct model_test *parse_test(struct model_parser *p)
{
    struct model_clause list[LIMIT_MODEL_TESTS] = {0};
    struct model_place at = parse_place(p);
    size_t first = p->at;
    size_t count = 0;
    do {
        if (count == COUNT_OF(list))
            return diagnostic_fail(p->diagnostics, parse_place(p),
                                   "at most %zu clauses can be joined by \"or\"", COUNT_OF(list));
        if (!clause(p, &list[count++]))
            return NULL;
    } while (accept_joint(p, "or"));
    struct model_test *test = arena_zalloc(p->arena, 1, sizeof *test);
    struct model_clause *copy = arena_zalloc(p->arena, count, sizeof *copy);
    if (test == NULL || copy == NULL)
        return parse_exhausted(p);
    memcpy(copy, list, count * sizeof *copy);
    *test = (struct model_test){
        .text = parse_text_since(p, first), .clause_count = count, .clauses = copy, .at = at};
    return test;
}

static bool is_generic(struct slice name)
{
    return slice_is(name, "set") || slice_is(name, "Set") || slice_is(name, "Array") ||
           slice_is(name, "Record");
}

// The words `check` and `when` may also be attributes' names: what follows is a test if it begins
// with an expression and an operator. "check number = 5" and "check set<string>" are attributes.
bool parse_at_test(const struct model_parser *p, size_t ahead)
{
    struct model_parser trial = *p;
    struct diagnostics quiet;
    diagnostics_init(&quiet, p->scratch);
    trial.at += ahead;
    trial.arena = p->scratch;
    trial.diagnostics = &quiet;
    const struct model_token *head = parse_peek(&trial);
    const struct model_expr *left = head->first ? NULL : parse_expr(&trial);
    if (left == NULL)
        return false;
    bool plain = left->kind == MODEL_EXPR_PATH && left->step_count == 1 && !head->quoted;
    bool set = plain && parse_at(&trial, MODEL_TOKEN_LESS) && is_generic(left->steps[0]);
    size_t position = 0;
    if (set || (plain && parse_is_type_word(p, head) && parse_at(&trial, MODEL_TOKEN_EQUAL)))
        return false;
    return parse_accept_any(&trial, model_op_words, &position);
}
