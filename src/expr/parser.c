// The parser: text to a tree of nodes.
//
// Conditions and SET values are read by one machine with a stack of its own instead of the
// C stack: every open parenthesis, call and operator is a frame, a frame takes at least
// one token, and so depth is bounded by the text. Reading alternates between two moves:
// operand_start() pushes frames until it meets a leaf, operand_finish() closes every frame the
// leaf completes. No token is looked at twice, so parsing is linear.
//
// The machine is needed because "(" may open a condition or an operand, and only what
// follows its ")" tells which: "(a) = :v" and "(a = :v)".
#include "expr/expr_internal.h"

#include <stdarg.h>
#include <stdio.h>

enum frame_kind {
    FRAME_GROUP,         // "(" where a condition (or a whole SET value) may stand
    FRAME_OPERAND_GROUP, // "(" where only an operand may stand
    FRAME_CALL,
    FRAME_BINARY, // comparison, + or -, waiting for its right side
    FRAME_LOW,    // BETWEEN, waiting for the lower bound
    FRAME_HIGH,   // and for the upper one
    FRAME_IN,
    FRAME_NOT,
    FRAME_AND,
    FRAME_OR,
};

struct node_frame {
    enum frame_kind kind;
    struct expr_node *node; // what the frame completes; NULL for parentheses
};

// In the order of enum expr_kind.
static const char *const kind_names[] = {"Condition", "Filter", "KeyCondition", "Projection",
                                         "Update"};

const struct op_row op_rows[] = {
#define X(op, text, operands, place) {text, operands, place},
    EXPR_OP_LIST(X)
#undef X
};

const char *expr_op_text(enum expr_op op)
{
    return op_rows[op].text;
}

enum expr_op op_from_name(struct slice name)
{
    for (size_t i = 0; i < COUNT_OF(op_rows); i++) {
        if (op_rows[i].place != EXPR_PLACE_NONE && slice_is(name, op_rows[i].text))
            return (enum expr_op)i;
    }
    return OP_UNKNOWN;
}

// ---- Errors ------------------------------------------------------------------------

bool parser_error(struct parser *parser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    ensure(len >= 0);
    char *text = arena_alloc(parser->params->arena, (size_t)len + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    if (text == NULL)
        return error_budget(parser->params->error);
    if (parser->plain)
        return error_validation(parser->params->error, "%s", text);
    return error_validation(parser->params->error, "Invalid %sExpression: %s",
                            kind_names[parser->kind], text);
}

// "near" runs from the token before to the token behind, or to the ends of the text.
bool parser_syntax(struct parser *parser, size_t at)
{
    const struct token *token = &parser->tokens[at];
    size_t start = at == 0 ? 0 : token[-1].start;
    size_t end = parser->text.len;
    struct slice word = SLICE_LIT("<EOF>");
    if (token->kind != TOKEN_END) {
        word = parser_text(parser, at);
        if (token[1].kind != TOKEN_END)
            end = token[1].start + token[1].len;
    }
    struct slice near = slice_of(parser->text.ptr + start, end - start);
    return parser_error(parser, "Syntax error; token: \"%.*s\", near: \"%.*s\"", SLICE_FMT(word),
                        SLICE_FMT(near));
}

// ---- Building ----------------------------------------------------------------------

void parser_clear(struct parser *parser, struct expr_params *params, enum expr_kind kind)
{
    *parser = (struct parser){.params = params, .kind = kind};
    parser->created_tail = &parser->created;
    parser->post_tail = &parser->post;
}

bool parser_init(struct parser *parser, struct expr_params *params, struct slice text,
                 enum expr_kind kind)
{
    parser_clear(parser, params, kind);
    parser->text = text;
    if (text.len == 0)
        return parser_error(parser, "The expression can not be empty;");
    if (text.len > LIMIT_EXPRESSION) {
        if (kind == EXPR_PROJECTION || kind == EXPR_UPDATE || layer_is_new(params->layer))
            return parser_error(parser, "Expression size has exceeded the maximum allowed size;");
        return parser_error(parser,
                            "Expression size has exceeded the maximum allowed size; "
                            "expression size: %zu",
                            text.len);
    }
    parser->tokens = lexer_run(params->arena, text, &parser->token_count);
    if (parser->tokens == NULL)
        return error_budget(params->error);
    return true;
}

static struct expr_node *node_new(struct parser *parser, enum node_kind kind, enum expr_op op)
{
    struct expr_node *node = arena_zalloc(parser->params->arena, 1, sizeof *node);
    if (node == NULL)
        return error_no_memory(parser->params->error);
    node->kind = kind;
    node->op = op;
    node->token = (uint32_t)parser->at;
    *parser->created_tail = node;
    parser->created_tail = &node->next_created;
    return node;
}

static void node_post(struct parser *parser, struct expr_node *node)
{
    *parser->post_tail = node;
    parser->post_tail = &node->next_post;
}

void node_add(struct expr_node *parent, struct expr_node *arg)
{
    if (parent->args == NULL)
        parent->args = arg;
    else
        parent->last_arg->next = arg;
    parent->last_arg = arg;
    parent->arg_count++;
    if (parent->op != OP_AND && parent->op != OP_OR && parent->op != OP_NOT)
        arg->operand = true;
}

static bool frame_push(struct parser *parser, enum frame_kind kind, struct expr_node *node)
{
    if (parser->frames == NULL) {
        parser->frames =
            arena_alloc(parser->params->arena, parser->token_count * sizeof *parser->frames);
        if (parser->frames == NULL)
            return error_budget(parser->params->error);
    }
    ensure(parser->depth < parser->token_count);
    parser->frames[parser->depth++] = (struct node_frame){kind, node};
    return true;
}

static struct node_frame *frame_top(struct parser *parser)
{
    return parser->depth == 0 ? NULL : &parser->frames[parser->depth - 1];
}

// ---- Leaves -------------------------------------------------------------------------

static bool token_is_name(enum token_kind kind)
{
    return kind == TOKEN_NAME || kind == TOKEN_NAME_REF;
}

// Takes the first token of a leaf, if that is what stands there.
static struct expr_node *leaf_begin(struct parser *parser, enum node_kind kind, bool there)
{
    if (!there) {
        parser_syntax(parser, parser->at);
        return NULL;
    }
    struct expr_node *node = node_new(parser, kind, OP_UNKNOWN);
    parser->at++;
    return node;
}

// Only finds where the path ends; check_path() reads it.
struct expr_node *parser_path(struct parser *parser)
{
    struct expr_node *node = leaf_begin(parser, NODE_PATH, token_is_name(parser_peek(parser)));
    while (node != NULL) {
        if (parser_peek(parser) == TOKEN_DOT) {
            parser->at++;
            if (!token_is_name(parser_peek(parser)))
                break;
            parser->at++;
        } else if (parser_peek(parser) == TOKEN_LBRACKET) {
            parser->at++;
            if (parser_peek(parser) != TOKEN_INDEX)
                break;
            parser->at++;
            if (parser_peek(parser) != TOKEN_RBRACKET)
                break;
            parser->at++;
        } else {
            node->end = (uint32_t)parser->at;
            node_post(parser, node);
            return node;
        }
    }
    if (node != NULL)
        parser_syntax(parser, parser->at);
    return NULL;
}

struct expr_node *parser_value(struct parser *parser)
{
    struct expr_node *node = leaf_begin(parser, NODE_VALUE, parser_peek(parser) == TOKEN_VALUE_REF);
    if (node != NULL)
        node_post(parser, node);
    return node;
}

// ---- The machine ---------------------------------------------------------------------

static bool frame_wants_operand(const struct node_frame *frame)
{
    return frame != NULL && frame->kind != FRAME_GROUP && frame->kind != FRAME_NOT &&
           frame->kind != FRAME_AND && frame->kind != FRAME_OR;
}

// Pushes what stands before the next leaf, and reads the leaf.
static struct expr_node *operand_start(struct parser *parser, bool condition)
{
    for (;;) {
        bool operand = frame_wants_operand(frame_top(parser));
        enum token_kind kind = parser_peek(parser);
        if (kind == TOKEN_NOT && condition && !operand) {
            struct expr_node *node = node_new(parser, NODE_OPERATOR, OP_NOT);
            if (node == NULL || !frame_push(parser, FRAME_NOT, node))
                return NULL;
            parser->at++;
        } else if (kind == TOKEN_LPAREN) {
            if (!frame_push(parser, operand ? FRAME_OPERAND_GROUP : FRAME_GROUP, NULL))
                return NULL;
            parser->at++;
        } else if (kind == TOKEN_NAME && parser->tokens[parser->at + 1].kind == TOKEN_LPAREN) {
            enum expr_op op = op_from_name(parser_text(parser, parser->at));
            struct expr_node *node = node_new(parser, NODE_CALL, op);
            if (node == NULL || !frame_push(parser, FRAME_CALL, node))
                return NULL;
            parser->at += 2;
        } else {
            return kind == TOKEN_VALUE_REF ? parser_value(parser) : parser_path(parser);
        }
    }
}

// Sums are for updates, everything else for conditions.
static enum expr_op operator_of(enum token_kind kind, bool condition)
{
    if (!condition)
        return kind == TOKEN_PLUS ? OP_PLUS : kind == TOKEN_MINUS ? OP_MINUS : OP_UNKNOWN;
    if (kind >= TOKEN_EQ && kind <= TOKEN_GE)
        return (enum expr_op)(OP_EQ + (kind - TOKEN_EQ)); // both lists have them in this order
    return kind == TOKEN_BETWEEN ? OP_BETWEEN : kind == TOKEN_IN ? OP_IN : OP_UNKNOWN;
}

// What a move of operand_finish() leads to.
enum outcome {
    OUTCOME_AGAIN,  // the item is complete; look at the frame around it
    OUTCOME_MORE,   // another operand must follow
    OUTCOME_DONE,   // the item is the whole
    OUTCOME_FAILED, // with an error
};

static enum outcome syntax_failed(struct parser *parser)
{
    parser_syntax(parser, parser->at);
    return OUTCOME_FAILED;
}

static enum outcome redundant_failed(struct parser *parser)
{
    parser_error(parser, "The expression has redundant parentheses;");
    return OUTCOME_FAILED;
}

// The item is the left side of the operator that comes next.
static enum outcome operator_begin(struct parser *parser, struct expr_node *item, enum expr_op op)
{
    if (item->redundant)
        return redundant_failed(parser);
    struct expr_node *node = node_new(parser, NODE_OPERATOR, op);
    if (node == NULL)
        return OUTCOME_FAILED;
    node_add(node, item);
    parser->at++;
    enum frame_kind kind = op == OP_BETWEEN ? FRAME_LOW : op == OP_IN ? FRAME_IN : FRAME_BINARY;
    if (op == OP_IN) {
        if (parser_peek(parser) != TOKEN_LPAREN)
            return syntax_failed(parser);
        parser->at++;
    }
    return frame_push(parser, kind, node) ? OUTCOME_MORE : OUTCOME_FAILED;
}

// The item is the left side of AND or OR; a branch goes between the sides.
static enum outcome logic_begin(struct parser *parser, struct expr_node *item)
{
    bool and = parser_peek(parser) == TOKEN_AND;
    struct expr_node *node = node_new(parser, NODE_OPERATOR, and? OP_AND : OP_OR);
    struct expr_node *branch = node == NULL ? NULL : node_new(parser, NODE_BRANCH, node->op);
    if (branch == NULL)
        return OUTCOME_FAILED;
    node_add(node, item);
    node->branch = branch;
    node_post(parser, branch);
    parser->at++;
    return frame_push(parser, and? FRAME_AND : FRAME_OR, node) ? OUTCOME_MORE : OUTCOME_FAILED;
}

// The item completes the operator or call on top, and that becomes the item.
static enum outcome frame_reduce(struct parser *parser, struct expr_node **item)
{
    *item = parser->frames[--parser->depth].node;
    node_post(parser, *item);
    return OUTCOME_AGAIN;
}

static enum outcome group_close(struct parser *parser, struct expr_node *item)
{
    if (parser_peek(parser) != TOKEN_RPAREN)
        return syntax_failed(parser);
    parser->at++;
    parser->depth--;
    // Where a condition should stand, "((a))" is first of all no condition, unless an operator
    // follows; then operator_begin() complains.
    bool operand = parser->kind != EXPR_UPDATE && !frame_wants_operand(frame_top(parser)) &&
                   (item->kind == NODE_PATH || item->kind == NODE_VALUE);
    if (item->parenthesised && !operand)
        return redundant_failed(parser);
    item->redundant = item->parenthesised;
    item->parenthesised = true;
    return OUTCOME_AGAIN;
}

// The item stands where only an operand may.
static enum outcome operand_close(struct parser *parser, struct node_frame *frame,
                                  struct expr_node **item)
{
    enum token_kind kind = parser_peek(parser);
    if (frame->kind == FRAME_OPERAND_GROUP)
        return group_close(parser, *item);
    node_add(frame->node, *item);
    switch (frame->kind) {
    case FRAME_LOW:
        if (kind != TOKEN_AND)
            return syntax_failed(parser);
        parser->at++;
        frame->kind = FRAME_HIGH;
        return OUTCOME_MORE;
    case FRAME_IN:
    case FRAME_CALL:
        if (kind != TOKEN_COMMA && kind != TOKEN_RPAREN)
            return syntax_failed(parser);
        parser->at++;
        return kind == TOKEN_COMMA ? OUTCOME_MORE : frame_reduce(parser, item);
    default:
        return frame_reduce(parser, item);
    }
}

// The item stands where a whole condition may, and no comparison follows it.
static enum outcome condition_close(struct parser *parser, struct node_frame *frame,
                                    struct expr_node **item)
{
    enum token_kind kind = parser_peek(parser);
    bool group = frame != NULL && frame->kind == FRAME_GROUP;
    if ((*item)->kind == NODE_PATH || (*item)->kind == NODE_VALUE)
        return group ? group_close(parser, *item) : syntax_failed(parser);
    if (frame != NULL && !group && !(frame->kind == FRAME_OR && kind == TOKEN_AND)) {
        node_add(frame->node, *item);
        return frame_reduce(parser, item);
    }
    if (kind == TOKEN_AND || kind == TOKEN_OR)
        return logic_begin(parser, *item);
    if (group)
        return group_close(parser, *item);
    return kind == TOKEN_END ? OUTCOME_DONE : syntax_failed(parser);
}

// Closes every frame that the item completes.
static enum outcome operand_finish(struct parser *parser, bool condition, struct expr_node **item)
{
    enum outcome outcome = OUTCOME_AGAIN;
    while (outcome == OUTCOME_AGAIN) {
        struct node_frame *frame = frame_top(parser);
        enum expr_op op = operator_of(parser_peek(parser), condition);
        if (frame_wants_operand(frame))
            outcome = operand_close(parser, frame, item);
        else if (op != OP_UNKNOWN && (*item)->kind != NODE_OPERATOR)
            outcome = operator_begin(parser, *item, op);
        else if (condition)
            outcome = condition_close(parser, frame, item);
        else
            outcome = frame == NULL ? OUTCOME_DONE : group_close(parser, *item);
    }
    return outcome;
}

static struct expr_node *machine_run(struct parser *parser, bool condition)
{
    parser->depth = 0;
    for (;;) {
        struct expr_node *item = operand_start(parser, condition);
        if (item == NULL)
            return NULL;
        enum outcome outcome = operand_finish(parser, condition, &item);
        if (outcome == OUTCOME_DONE)
            return item;
        if (outcome == OUTCOME_FAILED)
            return NULL;
    }
}

struct expr_node *parser_condition(struct parser *parser)
{
    return machine_run(parser, true);
}

struct expr_node *parser_operand(struct parser *parser)
{
    return machine_run(parser, false);
}
