// Statements of PartiQL:
//
//   SELECT * | path, … FROM source [WHERE condition] [ORDER BY name [ASC | DESC], …]
//   INSERT INTO table VALUE {…}
//   UPDATE table change+ [WHERE condition] [RETURNING …]
//   FROM table [WHERE condition] change+ [RETURNING …]
//   DELETE FROM table [WHERE condition] [RETURNING …]
//   EXISTS (select)
//
//   change = SET path = value, … | REMOVE path
//
// What SQL has and DynamoDB has not is parsed as well, and refused by name where the service does
// so.
#include "partiql/partiql_internal.h"

struct statement_parser {
    struct pql_parser p;
    struct partiql_statement statement;
    struct partiql_tree tree;
};

// ---- Sources ------------------------------------------------------------------------------------

// [AS] name, AT name and BY name: nothing has another name here.
static bool parse_alias(struct pql_parser *p, bool of_source)
{
    static const char *const words[] = {"AS", "AT", "BY"};
    for (size_t i = 0; i < (of_source ? COUNT_OF(words) : 1); i++) {
        bool word = pql_accept_word(p, words[i]);
        if (word && !pql_is_name(p)) {
            const char *reason =
                arena_printf(p->arena, "Expected identifier for %s-alias", words[i]);
            return reason == NULL ? error_budget(p->error) : pql_malformed(p, reason);
        }
        if (!word && (i > 0 || !pql_is_name(p)))
            continue;
        p->token++;
        (void)pql_refuse_later(p, NULL, "Aliasing is not supported");
    }
    return true;
}

// The table, and its index if the path has two steps.
static bool take_source(struct statement_parser *s, const struct pql_node *source)
{
    struct pql_parser *p = &s->p;
    if (source->kind != NODE_PATH || source->stars != STARS_NONE)
        return pql_refuse_later(p, NULL, "Unexpected from source");
    for (size_t i = 0; i < source->path.count; i++) {
        if (source->path.steps[i].name.ptr == NULL)
            return pql_refuse_later(p, NULL, "Unexpected from source");
    }
    if (source->path.count > 2)
        return pql_refuse_later(p, NULL,
                                "A path may contain at most 2 components in the FROM clause");
    s->statement.table = source->path.steps[0].name;
    if (source->path.count > 1)
        s->statement.index = source->path.steps[1].name;
    return true;
}

static bool is_join(struct pql_parser *p)
{
    static const char *const words[] = {"JOIN", "CROSS", "INNER", "LEFT", "RIGHT", "FULL", "OUTER"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (pql_is_word(p, words[i]))
            return true;
    }
    return p->token->kind == PQL_COMMA;
}

// What stands behind FROM.
static bool parse_source(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    struct pql_node *source = pql_parse_expr(p);
    if (source == NULL || !take_source(s, source) || !parse_alias(p, true))
        return false;
    return !is_join(p) ||
           error_validation(p->error, "Only select from a single table or index is supported.");
}

// The table of a statement that writes. Only some of them may have another name, which is refused.
static bool parse_target(struct statement_parser *s, const char *refusal, bool alias)
{
    struct pql_parser *p = &s->p;
    struct pql_node *target = pql_parse_target(p);
    if (target == NULL || !take_source(s, target) || (alias && !parse_alias(p, true)))
        return false;
    return s->statement.index.ptr == NULL || pql_refuse_later(p, NULL, "%s", refusal);
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
    if (!pql_accept_word(p, "BY"))
        return pql_malformed(p, "Expected BY");
    struct pql_order **tail = &s->tree.order;
    do {
        struct pql_node *node = pql_parse_expr(p);
        struct pql_order *order = arena_zalloc(p->arena, 1, sizeof(*order));
        if (node == NULL)
            return false;
        if (order == NULL)
            return error_budget(p->error);
        if (node->kind != NODE_PATH || node->path.count > 1)
            (void)pql_refuse_later(p, NULL,
                                   "Argument to ORDER BY must be of type VariableReference. Type: "
                                   "%s",
                                   node->kind == NODE_PATH ? "PATH" : pql_node_name(node->kind));
        else
            order->name = node->path.steps[0].name;
        order->descending = pql_accept_word(p, "DESC");
        if (!order->descending)
            (void)pql_accept_word(p, "ASC");
        *tail = order;
        tail = &order->next;
    } while (pql_accept(p, PQL_COMMA));
    return true;
}

// The clauses that may follow in SQL, but not here.
static bool parse_others(struct pql_parser *p)
{
    if (pql_accept_word(p, "GROUP")) {
        (void)pql_accept_word(p, "PARTIAL");
        if (!pql_accept_word(p, "BY"))
            return pql_malformed(p, "Expected BY");
        do {
            if (pql_parse_expr(p) == NULL || !parse_alias(p, false))
                return false;
        } while (pql_accept(p, PQL_COMMA));
        (void)pql_refuse_later(p, NULL, "Unsupported clause: GROUP BY");
    }
    static const char *const clauses[] = {"HAVING", "LIMIT"};
    for (size_t i = 0; i < COUNT_OF(clauses); i++) {
        if (!pql_accept_word(p, clauses[i]))
            continue;
        const struct pql_node *node = pql_parse_expr(p);
        if (node == NULL)
            return false;
        (void)pql_refuse_later(p, node->token, "Unsupported clause: %s", clauses[i]);
    }
    return true;
}

static const char *returning_text(enum partiql_returning returning)
{
    static const char *const texts[] = {"", "ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"};
    return texts[returning];
}

// What RETURNING may ask for in the statement.
static void check_returning(struct statement_parser *s)
{
    enum partiql_returning returning = s->statement.returning;
    if (s->statement.kind == PARTIQL_INSERT)
        (void)pql_refuse_later(&s->p, NULL, "RETURNING is not supported in INSERT");
    if (s->statement.kind == PARTIQL_DELETE && returning != RETURNING_ALL_OLD)
        (void)pql_refuse_later(&s->p, NULL,
                               "Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * "
                               "is allowed in DELETE statements.",
                               returning_text(returning));
}

static bool parse_returning(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (!pql_accept_word(p, "RETURNING"))
        return true;
    bool all = pql_accept_word(p, "ALL");
    bool known = all || pql_accept_word(p, "MODIFIED");
    bool old = known && pql_accept_word(p, "OLD");
    if (!known || (!old && !pql_accept_word(p, "NEW")))
        return pql_malformed(p, "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning "
                                "element.");
    s->statement.returning = all ? (old ? RETURNING_ALL_OLD : RETURNING_ALL_NEW)
                                 : (old ? RETURNING_MODIFIED_OLD : RETURNING_MODIFIED_NEW);
    if (!pql_accept(p, PQL_STAR)) {
        if (pql_parse_expr(p) == NULL)
            return false;
        (void)pql_refuse_later(p, NULL,
                               "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING "
                               "clause");
    }
    check_returning(s);
    return true;
}

// ---- SELECT -------------------------------------------------------------------------------------

static bool check_stars(struct pql_parser *p, const struct pql_node *node)
{
    if (node->stars == STARS_INSIDE)
        return pql_malformed(p, "Invalid use of * in select list");
    return node->stars != STARS_BEHIND_BRACKETS ||
           pql_malformed(p, "Cannot use [] and * together in SELECT list expression");
}

static bool parse_select_list(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    struct pql_node **tail = &s->tree.select;
    bool star = false;
    size_t count = 0;
    do {
        count++;
        if (pql_accept(p, PQL_STAR)) {
            star = true;
            continue;
        }
        struct pql_node *node = pql_parse_expr(p);
        if (node == NULL || !check_stars(p, node) || !parse_alias(p, false))
            return false;
        *tail = node;
        tail = &node->next;
    } while (pql_accept(p, PQL_COMMA));
    return !star || count == 1 ||
           pql_malformed(p, "Other expressions may not be present in the select list when '*' is "
                            "used without dot notation.");
}

static bool parse_projection(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    if (pql_accept_word(p, "DISTINCT"))
        (void)pql_refuse_later(p, NULL, "Unsupported token in expression: DISTINCT");
    else
        (void)pql_accept_word(p, "ALL");
    if (!pql_accept_word(p, "VALUE"))
        return parse_select_list(s);
    (void)pql_refuse_later(p, NULL, "Select projection doesn't support value or pivot keywords");
    return pql_parse_expr(p) != NULL;
}

static bool parse_select(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    p->token++;
    if (!parse_projection(s))
        return false;
    if (!pql_accept_word(p, "FROM"))
        return pql_malformed(p, "Expected FROM after SELECT list");
    return parse_source(s) && parse_where(s) && parse_order(s) && parse_others(p);
}

static bool parse_exists(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    s->statement.kind = PARTIQL_EXISTS;
    p->token++;
    if (!pql_accept(p, PQL_LPAREN))
        return pql_malformed(p, "Unexpected keyword");
    if (!pql_is_word(p, "SELECT"))
        return pql_malformed(p, "Unexpected term");
    return parse_select(s) && pql_expect(p, PQL_RPAREN, "Expected RIGHT_PAREN");
}

// ---- Writing ------------------------------------------------------------------------------------

static bool parse_insert(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    s->statement.kind = PARTIQL_INSERT;
    p->token++;
    if (!pql_accept_word(p, "INTO"))
        return pql_malformed(p, "Unexpected keyword");
    if (!parse_target(s,
                      "FROM clause may only contain a single table name in data manipulation "
                      "statements",
                      false))
        return false;
    bool value = pql_accept_word(p, "VALUE");
    s->tree.item = pql_parse_expr(p);
    if (s->tree.item == NULL)
        return false;
    if (!value || s->tree.item->kind != NODE_MAP)
        (void)pql_refuse_later(p, s->tree.item->token,
                               "Unsupported format in item expression. Please use struct format "
                               "{...} to express item values for insert statement.");
    return !value || parse_returning(s);
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
        struct pql_node *target = pql_parse_target(p);
        if (target == NULL || !pql_expect(p, PQL_EQ, "Expected '='"))
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
            struct pql_node *target = pql_parse_target(p);
            if (target == NULL || !add_change(s, &tail, target, NULL))
                return false;
        } else {
            return s->tree.changes != NULL || pql_malformed(p, "Expected data manipulation");
        }
    }
}

static const char no_index[] = "This operation is not supported on an index";

static bool parse_update(struct statement_parser *s)
{
    s->statement.kind = PARTIQL_UPDATE;
    s->p.token++;
    return parse_target(s, no_index, true) && parse_changes(s) && parse_where(s) &&
           parse_returning(s);
}

// An update that begins with what it updates.
static bool parse_from(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    s->statement.kind = PARTIQL_UPDATE;
    p->token++;
    if (!parse_source(s))
        return false;
    if (s->statement.index.ptr != NULL)
        (void)pql_refuse_later(p, NULL, "%s", no_index);
    return parse_where(s) && parse_changes(s) && parse_returning(s);
}

static bool parse_delete(struct statement_parser *s)
{
    s->statement.kind = PARTIQL_DELETE;
    s->p.token++;
    if (!pql_accept_word(&s->p, "FROM"))
        return pql_malformed(&s->p, "Expected FROM after DELETE");
    return parse_target(s, no_index, true) && parse_where(s) && parse_returning(s);
}

// ---- Statements ---------------------------------------------------------------------------------

// CREATE and DROP of a table or an index.
static bool parse_definition(struct statement_parser *s)
{
    struct pql_parser *p = &s->p;
    bool create = pql_accept_word(p, "CREATE");
    p->token += !create;
    bool table = pql_accept_word(p, "TABLE");
    if (!table && !pql_accept_word(p, "INDEX"))
        return pql_malformed(p, create ? "Unexpected token following CREATE"
                                       : "Unexpected token following DROP");
    if (table && !pql_is_name(p))
        return pql_malformed(p, "Expected identifier!");
    p->token += table;
    if (table && p->token->kind != PQL_END && p->token->kind != PQL_SEMICOLON)
        return pql_malformed(p, create ? "Unexpected tokens after CREATE statement!"
                                       : "Unexpected tokens after DROP statement!");
    return error_validation(p->error, "Unsupported operation: %s%s", create ? "Create" : "Drop",
                            table ? "Table" : "Index");
}

// Anything else is an expression, which does nothing. It is told what it is.
static bool parse_other(struct statement_parser *s)
{
    const struct pql_node *node = pql_parse_expr(&s->p);
    return node != NULL &&
           pql_refuse_later(&s->p, NULL, "Unsupported operation: %s", pql_node_operation(node));
}

static bool parse_statement(struct statement_parser *s)
{
    static const struct {
        const char *word;
        bool (*parse)(struct statement_parser *s);
    } statements[] = {
        {"SELECT", parse_select},     {"INSERT", parse_insert},   {"UPDATE", parse_update},
        {"DELETE", parse_delete},     {"FROM", parse_from},       {"EXISTS", parse_exists},
        {"CREATE", parse_definition}, {"DROP", parse_definition},
    };
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        if (pql_is_word(&s->p, statements[i].word))
            return statements[i].parse(s);
    }
    return parse_other(s);
}

// Now that all of it is well formed: what is refused, and whether the parameters are as many as the
// question marks.
static bool parse_end(struct pql_parser *p)
{
    if (pql_accept(p, PQL_SEMICOLON) && p->token->kind != PQL_END)
        return pql_malformed(p, "Unexpected token after semicolon. (Only one query is allowed.)");
    if (p->token->kind != PQL_END)
        return pql_malformed(p, "Unexpected token after expression");
    if (p->refused.code != ERR_NONE)
        return error_copy(p->error, &p->refused);
    return p->used == p->parameter_count ||
           error_validation(p->error, "Number of parameters in request and statement don't match.");
}

struct partiql_statement *partiql_parse(struct arena *arena, struct slice text,
                                        size_t parameter_count, const struct slice *parameters,
                                        struct error *error)
{
    struct statement_parser *s = arena_zalloc(arena, 1, sizeof(*s));
    bool clean;
    const struct pql_token *tokens = pql_lex(arena, text, &clean);
    if (s == NULL || tokens == NULL)
        return error_no_memory(error);
    s->p = (struct pql_parser){.arena = arena,
                               .error = error,
                               .text = text,
                               .token = tokens,
                               .parameter_count = parameter_count,
                               .parameters = parameters};
    error_init(&s->p.refused, arena);
    s->statement.tree = &s->tree;
    if (!clean) {
        (void)pql_malformed(&s->p, "");
        return NULL;
    }
    return parse_statement(s) && parse_end(&s->p) && pql_judge(arena, &s->tree, error)
               ? &s->statement
               : NULL;
}
