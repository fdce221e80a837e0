// ConditionExpression and FilterExpression: from the tree to flat steps.
//
// The parser's evaluation order is nearly the program already: leaves and size() fold into the
// operands of the test that uses them, AND and OR become a conditional jump between
// their sides. No stack of truth values is needed, because a jump is taken exactly when the
// value so far is the value of the whole.
#include "expr/expr_internal.h"

struct emitter {
    struct step *steps;
    size_t step_count;
    struct operand *operands;
    size_t operand_count;
};

static void emit_operand(struct emitter *emitter, const struct expr_node *node)
{
    struct operand *operand = &emitter->operands[emitter->operand_count++];
    *operand = (struct operand){.size = node->kind == NODE_CALL};
    const struct expr_node *leaf = node->kind == NODE_CALL ? node->args : node;
    operand->is_path = leaf->kind == NODE_PATH;
    operand->path = leaf->path;
    operand->value = leaf->value;
}

static void emit_test(struct emitter *emitter, const struct expr_node *node)
{
    struct step *step = &emitter->steps[emitter->step_count++];
    *step = (struct step){.kind = STEP_TEST, .op = node->op, .type = VALUE_TYPES};
    step->operands = &emitter->operands[emitter->operand_count];
    for (const struct expr_node *arg = node->args; arg != NULL; arg = arg->next) {
        emit_operand(emitter, arg);
        step->operand_count++;
    }
    if (node->op == OP_TYPE)
        step->type = value_type_from_name(value_bytes(step->operands[1].value));
}

static void emit_node(struct emitter *emitter, struct expr_node *node)
{
    if (node->kind == NODE_BRANCH) {
        node->step = emitter->step_count;
        enum step_kind kind = node->op == OP_AND ? STEP_JUMP_FALSE : STEP_JUMP_TRUE;
        emitter->steps[emitter->step_count++] = (struct step){.kind = kind};
    } else if (node->kind == NODE_OPERATOR && (node->op == OP_AND || node->op == OP_OR)) {
        emitter->steps[node->branch->step].target = emitter->step_count;
    } else if (node->kind == NODE_OPERATOR && node->op == OP_NOT) {
        emitter->steps[emitter->step_count++] = (struct step){.kind = STEP_NOT};
    } else if (node->kind == NODE_OPERATOR || (node->kind == NODE_CALL && !node->operand)) {
        emit_test(emitter, node);
    }
}

// Makes the places of the operands, when all else is there. False if the arena is used up.
static bool condition_places(struct arena *arena, struct expr_condition *condition)
{
    size_t room = condition->operand_count + 1;
    struct path *paths = arena_alloc(arena, room * sizeof *paths);
    struct place **places = arena_alloc(arena, room * sizeof(*places));
    condition->places = arena_alloc(arena, sizeof *condition->places);
    if (paths == NULL || places == NULL || condition->places == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < condition->operand_count; i++) {
        if (condition->operands[i].is_path)
            paths[count++] = condition->operands[i].path;
    }
    if (!places_of(arena, condition->places, paths, count, places))
        return false;
    for (size_t i = condition->operand_count; i-- > 0;) {
        if (condition->operands[i].is_path)
            condition->operands[i].place = places[--count];
    }
    return true;
}

struct expr_condition *condition_build(struct parser *parser)
{
    size_t nodes = 0;
    for (const struct expr_node *node = parser->post; node != NULL; node = node->next_post)
        nodes++;
    struct arena *arena = parser->params->arena;
    struct expr_condition *condition = arena_alloc(arena, sizeof *condition);
    struct emitter emitter = {
        .steps = arena_alloc(arena, nodes * sizeof(struct step)),
        .operands = arena_alloc(arena, nodes * sizeof(struct operand)),
    };
    if (condition == NULL || emitter.steps == NULL || emitter.operands == NULL)
        return error_no_memory(parser->params->error);
    for (struct expr_node *node = parser->post; node != NULL; node = node->next_post)
        emit_node(&emitter, node);
    *condition = (struct expr_condition){emitter.step_count, emitter.steps, emitter.operand_count,
                                         emitter.operands, NULL};
    if (!condition_places(arena, condition))
        return error_no_memory(parser->params->error);
    return condition;
}

struct expr_condition *condition_compile(struct parser *parser)
{
    return check_tree(parser) ? condition_build(parser) : NULL;
}

struct expr_condition *expr_compile_condition(struct expr_params *params, struct slice text,
                                              enum expr_kind kind)
{
    struct parser parser;
    if (!parser_init(&parser, params, text, kind) || parser_condition(&parser) == NULL)
        return NULL;
    return condition_compile(&parser);
}
