// Statements of PartiQL:
//
//   SELECT * | path, … FROM source [WHERE condition] [ORDER BY name [ASC | DESC], …]
//   INSERT INTO table VALUE {…}
//   UPDATE table (SET path = value, … | REMOVE path)+ [WHERE condition] [RETURNING …]
//   DELETE FROM table [WHERE condition] [RETURNING …]
//   EXISTS (select)
//
// What SQL has and DynamoDB has not is refused by name where the service does so.
#include "partiql/partiql_internal.h"

struct statement_parser {
    struct pql_parser p;
    struct partiql_statement statement;
    struct partiql_tree tree;
};

// ---- Sources ------------------------------------------------------------------------------------

static bool refuse_source(struct pql_parser *p)
{
    return error_validation(p->error, "Unexpected from source");
}

static bool parse_source(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (p->token->kind == PQL_END || p->token->kind == PQL_UNKNOWN)
        return pql_malformed(p, p->token->kind == PQL_END ? "Unexpected end of statement"
                                                          : "Unexpected token");
    if (p->token->kind != PQL_WORD && p->token->kind != PQL_QUOTED)
        return refuse_source(p);
    if (!pql_identifier(p, &s->statement.table))
        return false;
    if (pql_accept(p, PQL_DOT) && !pql_identifier(p, &s->statement.index))
        return false;
    if (p->token->kind == PQL_DOT)
        return error_validation(p->error,
                                "A path may contain at most 2 components in the FROM clause");
    return p->token->kind != PQL_MINUS || refuse_source(p);
}

// The clauses that may follow in SQL, but not here.
static bool check_clauses(struct pql_parser *p)
{
    if (pql_is_word(p, "GROUP"))
        return error_validation(p->error, "Unsupported clause: GROUP BY");
    if (pql_is_word(p, "HAVING") || pql_is_word(p, "LIMIT"))
        return pql_error_at(p->error, p->token + (p->token[1].kind != PQL_END),
                            "Unsupported clause: %s", pql_is_word(p, "LIMIT") ? "LIMIT" : "HAVING");
    return true;
}

// Nothing has another name.
static bool check_alias(struct pql_parser *p)
{
    struct slice word = slice_of(p->text.ptr + p->token->start, p->token->len);
    bool alias = pql_is_word(p, "AS") || p->token->kind == PQL_QUOTED ||
                 (p->token->kind == PQL_WORD && !pql_reserved(word));
    return !alias || error_validation(p->error, "Aliasing is not supported");
}

// Only one table, without another name.
static bool check_after_source(struct pql_parser *p)
{
    if (p->token->kind == PQL_COMMA)
        return error_validation(p->error, "Only select from a single table or index is supported.");
    return check_alias(p) && check_clauses(p);
}

// The table of a statement that writes.
static bool parse_target(struct statement_parser *s, const char *refusal)
{
    if (!parse_source(s))
        return false;
    return s->statement.index.ptr == NULL || error_validation(s->p.error, "%s", refusal);
}

// ---- Clauses ------------------------------------------------------------------------------------

static bool parse_where(struct statement_parser *s)
{
    if (!pql_accept_word(&s->p, "WHERE"))
        return true;
    s->tree.where = pql_parse_expr(&s->p);
    return s->tree.where != NULL;
}

static bool parse_order(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (!pql_accept_word(p, "ORDER"))
        return true;
    if (!pql_expect_word(p, "BY"))
        return false;
    struct pql_order **tail = &s->tree.order;
    do {
        struct pql_node *path = pql_parse_path(p);
        struct pql_order *order = arena_zalloc(p->arena, 1, sizeof(*order));
        if (path == NULL)
            return false;
        if (order == NULL)
            return error_budget(p->error);
        if (path->path.count > 1)
            return error_validation(p->error, "Argument to ORDER BY must be of type "
                                              "VariableReference. Type: PATH");
        order->name = path->path.steps[0].name;
        order->descending = pql_accept_word(p, "DESC");
        if (!order->descending)
            (void)pql_accept_word(p, "ASC");
        *tail = order;
        tail = &order->next;
    } while (pql_accept(p, PQL_COMMA));
    return true;
}

static const char *returning_text(enum partiql_returning returning)
{
    static const char *const texts[] = {"", "ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"};
    return texts[returning];
}

static bool parse_returning(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (!pql_accept_word(p, "RETURNING"))
        return true;
    bool all = pql_accept_word(p, "ALL");
    if (!all && !pql_accept_word(p, "MODIFIED"))
        return pql_malformed(p, "Expected ALL or MODIFIED");
    bool old = pql_accept_word(p, "OLD");
    if (!old && !pql_accept_word(p, "NEW"))
        return pql_malformed(p, "Expected OLD or NEW");
    if (!pql_accept(p, PQL_STAR))
        return error_validation(p->error, "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in "
                                          "RETURNING clause");
    enum partiql_returning returning =
        all ? (old ? RETURNING_ALL_OLD : RETURNING_ALL_NEW)
            : (old ? RETURNING_MODIFIED_OLD : RETURNING_MODIFIED_NEW);
    s->statement.returning = returning;
    if (s->statement.kind == PARTIQL_INSERT)
        return error_validation(p->error, "RETURNING is not supported in INSERT");
    if (s->statement.kind == PARTIQL_DELETE && returning != RETURNING_ALL_OLD)
        return error_validation(p->error,
                                "Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD "
                                "* is allowed in DELETE statements.",
                                returning_text(returning));
    return true;
}

// ---- SELECT -------------------------------------------------------------------------------------

static bool parse_select_list(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (pql_accept(p, PQL_STAR))
        return true;
    if (pql_is_word(p, "DISTINCT"))
        return error_validation(p->error, "Unsupported token in expression: DISTINCT");
    if (pql_is_word(p, "VALUE") || pql_is_word(p, "PIVOT"))
        return error_validation(p->error,
                                "Select projection doesn't support value or pivot keywords");
    struct pql_node **tail = &s->tree.select;
    do {
        struct pql_node *node = pql_parse_expr(p);
        if (node == NULL)
            return false;
        if (node->kind != NODE_PATH)
            return pql_error_at(p->error, node->token, "Unexpected path component");
        if (!check_alias(p))
            return false;
        *tail = node;
        tail = &node->next;
    } while (pql_accept(p, PQL_COMMA));
    return true;
}

static bool parse_select(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    p->token++;
    return parse_select_list(s) && pql_expect_word(p, "FROM") && parse_source(s) &&
           check_after_source(p) && parse_where(s) && check_clauses(p) && parse_order(s) &&
           check_clauses(p);
}

static bool parse_exists(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    s->statement.kind = PARTIQL_EXISTS;
    p->token++;
    if (!pql_expect(p, PQL_LPAREN, "Expected opening parenthesis"))
        return false;
    if (!pql_is_word(p, "SELECT"))
        return pql_malformed(p, "Expected SELECT");
    return parse_select(s) && pql_expect(p, PQL_RPAREN, "Expected closing parenthesis");
}

// ---- Writing ------------------------------------------------------------------------------------

static bool parse_insert(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    s->statement.kind = PARTIQL_INSERT;
    p->token++;
    if (!pql_expect_word(p, "INTO") ||
        !parse_target(s, "FROM clause may only contain a single table name in data manipulation "
                         "statements") ||
        !pql_expect_word(p, "VALUE"))
        return false;
    s->tree.item = pql_parse_expr(p);
    if (s->tree.item == NULL)
        return false;
    if (s->tree.item->kind != NODE_MAP)
        return pql_error_at(p->error, s->tree.item->token,
                            "Unsupported format in item expression. Please use struct format "
                            "{...} to express item values for insert statement.");
    return parse_returning(s);
}

static bool add_change(struct statement_parser *s, struct pql_change ***tail,
                       struct pql_node *target, struct pql_node *value)
{
    struct pql_change *change = arena_zalloc(s->p.arena, 1, sizeof(*change));
    if (change == NULL)
        return error_budget(s->p.error);
    change->target = target;
    change->value = value;
    **tail = change;
    *tail = &change->next;
    return true;
}

static bool parse_set(struct statement_parser *s, struct pql_change ***tail)
{
    struct pql_parser *p = &s->p;
    do {
        struct pql_node *target = pql_parse_path(p);
        if (target == NULL || !pql_expect(p, PQL_EQ, "Expected = in SET"))
            return false;
        struct pql_node *value = pql_parse_expr(p);
        if (value == NULL || !add_change(s, tail, target, value))
            return false;
    } while (pql_accept(p, PQL_COMMA));
    return true;
}

static bool parse_changes(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    struct pql_change **tail = &s->tree.changes;
    for (;;) {
        if (pql_accept_word(p, "SET")) {
            if (!parse_set(s, &tail))
                return false;
        } else if (pql_accept_word(p, "REMOVE")) {
            struct pql_node *target = pql_parse_path(p);
            if (target == NULL || !add_change(s, &tail, target, NULL))
                return false;
        } else {
            return s->tree.changes != NULL || pql_malformed(p, "Expected SET or REMOVE");
        }
    }
}

static bool parse_update(struct statement_parser *s)
{
    s->statement.kind = PARTIQL_UPDATE;
    s->p.token++;
    return parse_target(s, "This operation is not supported on an index") && parse_changes(s) &&
           parse_where(s) && parse_returning(s);
}

static bool parse_delete(struct statement_parser *s)
{
    s->statement.kind = PARTIQL_DELETE;
    s->p.token++;
    return pql_expect_word(&s->p, "FROM") &&
           parse_target(s, "This operation is not supported on an index") && parse_where(s) &&
           parse_returning(s);
}

// ---- Statements ---------------------------------------------------------------------------------

static bool parse_statement(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    static const struct {
        const char *word;
        bool (*parse)(struct statement_parser *s);
    } statements[] = {
        {"SELECT", parse_select}, {"INSERT", parse_insert}, {"UPDATE", parse_update},
        {"DELETE", parse_delete}, {"EXISTS", parse_exists},
    };
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        if (pql_is_word(p, statements[i].word))
            return statements[i].parse(s);
    }
    if (pql_is_word(p, "CREATE"))
        return error_validation(p->error, "Unsupported operation: CreateTable");
    if (pql_is_word(p, "DROP"))
        return error_validation(p->error, "Unsupported operation: DropTable");
    return pql_malformed(p, "Unexpected token");
}

static bool parse_end(struct pql_parser *p)
{
    (void)pql_accept(p, PQL_SEMICOLON);
    if (p->token->kind != PQL_END)
        return pql_malformed(p, "Unexpected token after expression");
    if (p->used != p->parameter_count)
        return error_validation(p->error,
                                "Number of parameters in request and statement don't match.");
    return true;
}

struct partiql_statement *partiql_parse(struct arena *arena, struct slice text,
                                        size_t parameter_count, const struct slice *parameters,
                                        struct error *error)
{
    struct statement_parser *s = arena_zalloc(arena, 1, sizeof(*s));
    const struct pql_token *tokens = pql_lex(arena, text);
    if (s == NULL || tokens == NULL)
        return error_no_memory(error);
    s->p = (struct pql_parser){.arena = arena,
                               .error = error,
                               .text = text,
                               .token = tokens,
                               .parameter_count = parameter_count,
                               .parameters = parameters};
    s->statement.tree = &s->tree;
    return parse_statement(s) && parse_end(&s->p) ? &s->statement : NULL;
}
