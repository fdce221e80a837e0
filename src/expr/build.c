// Expressions out of parts instead of text: the constructors of expr.h.
//
// A part is a node of the tree that the parser makes, too. The parser meets the nodes in the order
// of the text and appends them to two lists: that order, and the order of evaluation. A
// constructor gets its operands first, so it joins their lists instead: a node begins the list of
// its part in the order of the text, and ends the one in the order of evaluation. No tree is ever
// walked, so there is no recursion, however long a chain of ANDs is.
#include "expr/expr_internal.h"

// ---- Parts -----------------------------------------------------------------------------

static struct expr_node *node_new(struct expr_builder *b, enum node_kind kind, enum expr_op op)
{
    struct expr_node *node = b->failed ? NULL : arena_zalloc(b->arena, 1, sizeof *node);
    if (node == NULL) {
        b->failed = true;
        return NULL;
    }
    node->kind = kind;
    node->op = op;
    node->last_created = node;
    node->first_post = node;
    return node;
}

static struct expr_node *leaf_new(struct expr_builder *b, enum node_kind kind, struct path path,
                                  struct slice value)
{
    struct expr_node *node = node_new(b, kind, OP_UNKNOWN);
    if (node == NULL)
        return NULL;
    node->path = path;
    node->value = value;
    return node;
}

struct expr_node *expr_path(struct expr_builder *b, struct path path)
{
    return leaf_new(b, NODE_PATH, path, VALUE_NONE);
}

struct expr_node *expr_name(struct expr_builder *b, struct slice attribute)
{
    struct path_step *step = arena_zalloc(b->arena, 1, sizeof *step);
    if (step != NULL)
        step->name = attribute;
    b->failed = b->failed || step == NULL;
    return expr_path(b, (struct path){step, 1});
}

struct expr_node *expr_value(struct expr_builder *b, struct slice value)
{
    return leaf_new(b, NODE_VALUE, (struct path){NULL, 0}, value);
}

struct expr_node *expr_call(struct expr_builder *b, enum expr_op op)
{
    bool function = op_rows[op].place != EXPR_PLACE_NONE;
    return node_new(b, function ? NODE_CALL : NODE_OPERATOR, op);
}

void expr_operand(struct expr_builder *b, struct expr_node *call, struct expr_node *operand)
{
    if (call == NULL || operand == NULL) {
        b->failed = true;
        return;
    }
    if (call->args == NULL)
        call->first_post = operand->first_post;
    else
        call->last_arg->next_post = operand->first_post;
    operand->next_post = call;
    call->last_created->next_created = operand;
    call->last_created = operand->last_created;
    node_add(call, operand);
}

struct expr_node *expr_test(struct expr_builder *b, enum expr_op op, struct expr_node *first,
                            struct expr_node *second)
{
    struct expr_node *node = expr_call(b, op);
    expr_operand(b, node, first);
    if (second != NULL)
        expr_operand(b, node, second);
    return node;
}

struct expr_node *expr_join(struct expr_builder *b, enum expr_op op, struct expr_node *left,
                            struct expr_node *right)
{
    if (left == NULL || right == NULL) {
        b->failed = b->failed || right == NULL;
        return right;
    }
    struct expr_node *branch = node_new(b, NODE_BRANCH, op);
    struct expr_node *node = node_new(b, NODE_OPERATOR, op);
    expr_operand(b, node, left);
    expr_operand(b, node, right);
    if (b->failed)
        return NULL;
    // Between the sides is where evaluation may stop.
    node->branch = branch;
    left->next_post = branch;
    branch->next_post = right->first_post;
    return node;
}

// ---- Wholes ----------------------------------------------------------------------------

// A tree of its own for what is compiled next. There are no placeholders in it.
struct whole {
    struct expr_params params;
    struct parser parser;
};

static void whole_init(struct whole *whole, const struct expr_builder *b, enum expr_kind kind)
{
    whole->params = (struct expr_params){.arena = b->arena, .error = b->error};
    parser_clear(&whole->parser, &whole->params, kind);
    whole->parser.plain = b->plain;
}

static void whole_add(struct whole *whole, struct expr_node *node)
{
    struct parser *parser = &whole->parser;
    *parser->created_tail = node;
    parser->created_tail = &node->last_created->next_created;
    *parser->post_tail = node->first_post;
    parser->post_tail = &node->next_post;
}

// Whether everything is there. If it is not, whoever made the parts has set the error, or it is
// memory that was missing.
static bool built(const struct expr_builder *b, const struct expr_node *whole)
{
    return (!b->failed && whole != NULL) || error_budget(b->error);
}

// A whole that is one part.
static bool whole_of(struct whole *whole, struct expr_builder *b, struct expr_node *part,
                     enum expr_kind kind)
{
    if (!built(b, part))
        return false;
    whole_init(whole, b, kind);
    whole_add(whole, part);
    return true;
}

struct expr_condition *expr_build_condition(struct expr_builder *b, struct expr_node *condition,
                                            enum expr_kind kind)
{
    struct whole whole;
    return whole_of(&whole, b, condition, kind) ? condition_compile(&whole.parser) : NULL;
}

bool expr_check_condition(struct expr_builder *b, struct expr_node *condition)
{
    struct whole whole;
    return whole_of(&whole, b, condition, EXPR_CONDITION) && check_tree(&whole.parser);
}

struct expr_condition *build_unchecked(struct expr_builder *b, struct expr_node *condition)
{
    struct whole whole;
    if (b->failed)
        return error_no_memory(b->error);
    whole_init(&whole, b, EXPR_CONDITION);
    if (condition != NULL)
        whole_add(&whole, condition);
    return condition_build(&whole.parser);
}

struct expr_key *expr_build_key(struct expr_builder *b, struct expr_node *condition)
{
    struct whole whole;
    return whole_of(&whole, b, condition, EXPR_KEY_CONDITION)
               ? key_compile(&whole.parser, condition)
               : NULL;
}

struct expr_projection *expr_build_projection(struct expr_builder *b, size_t count,
                                              const struct path *paths)
{
    struct whole whole;
    whole_init(&whole, b, EXPR_PROJECTION);
    for (size_t i = 0; i < count; i++) {
        struct expr_node *node = expr_path(b, paths[i]);
        if (!built(b, node))
            return NULL;
        whole_add(&whole, node);
    }
    return projection_compile(&whole.parser);
}

struct expr_update *expr_build_update(struct expr_builder *b, size_t count,
                                      const struct expr_change *changes)
{
    struct whole whole;
    struct clause *clauses = arena_zalloc(b->arena, count + 1, sizeof *clauses);
    b->failed = b->failed || clauses == NULL;
    whole_init(&whole, b, EXPR_UPDATE);
    for (size_t i = 0; i < count; i++) {
        struct expr_node *path = expr_path(b, changes[i].path);
        struct expr_node *value = changes[i].value;
        if (!built(b, path))
            return NULL;
        whole_add(&whole, path);
        clauses[i] = (struct clause){.kind = changes[i].action, .path = path};
        if (changes[i].action == ACTION_REMOVE)
            continue;
        if (!built(b, value))
            return NULL;
        whole_add(&whole, value);
        if (changes[i].action == ACTION_SET) {
            clauses[i].first = value->first_post;
            clauses[i].last = value;
        } else {
            clauses[i].value = value;
        }
    }
    return update_compile(&whole.parser, count, clauses);
}
