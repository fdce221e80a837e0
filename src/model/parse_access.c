// Access patterns.
#include "model/parse_internal.h"

// ---- Parameters and entities ----------------------------------------------------------------

static bool parameter(struct model_file *file, struct raw_access *raw)
{
    struct model_parser *p = &file->p;
    size_t at = raw->access.param_count;
    if (at == LIMIT_MODEL_PARAMETERS)
        return file_error(file, parse_place(p), "a pattern has at most %d parameters",
                          LIMIT_MODEL_PARAMETERS);
    struct model_param *param = &raw->params[at];
    raw->param_at[at] = parse_place(p);
    if (!parse_name(p, "the name of a parameter", &param->name))
        return false;
    for (size_t i = 0; i < at; i++)
        if (slice_equal(raw->params[i].name, param->name))
            return file_error(file, raw->param_at[at], "parameter \"%.*s\" is there twice",
                              SLICE_FMT(param->name));
    raw->access.param_count++;
    bool colon = parse_accept(p, MODEL_TOKEN_COLON);
    if (!colon && (parse_at(p, MODEL_TOKEN_COMMA) || parse_at(p, MODEL_TOKEN_RPAREN)))
        return true;
    enum raw_optional optional = RAW_REQUIRED;
    param->type = parse_type(file, &optional);
    if (param->type == NULL)
        return false;
    return optional == RAW_REQUIRED ||
           file_error(file, raw->param_at[at], "a parameter cannot be optional");
}

static bool parameters(struct model_file *file, struct raw_access *raw)
{
    struct model_parser *p = &file->p;
    raw->params = file_alloc(file, LIMIT_MODEL_PARAMETERS, sizeof *raw->params);
    raw->param_at = file_scratch(file, LIMIT_MODEL_PARAMETERS, sizeof *raw->param_at);
    if (raw->params == NULL || raw->param_at == NULL)
        return false;
    if (!parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\" and parameters"))
        return false;
    while (!parse_at(p, MODEL_TOKEN_RPAREN)) {
        if (raw->access.param_count > 0 && !parse_expect(p, MODEL_TOKEN_COMMA, "\",\" or \")\""))
            return false;
        if (!parameter(file, raw))
            return false;
    }
    (void)parse_take(p);
    return true;
}

static bool entity_names(struct model_file *file, struct raw_access *raw)
{
    enum { MOST = 64 };
    struct model_parser *p = &file->p;
    raw->entity_names = file_scratch(file, MOST, sizeof *raw->entity_names);
    if (raw->entity_names == NULL)
        return false;
    do {
        size_t at = raw->entity_count;
        if (at == MOST)
            return file_error(file, parse_place(p), "a pattern has at most %d entities", MOST);
        if (!parse_raw_name(p, "the name of an entity", &raw->entity_names[at]))
            return false;
        raw->entity_count++;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return true;
}

// ---- Conditions -----------------------------------------------------------------------------

// One of the operators, which are words or marks.
static bool operator_of(struct model_parser *p, enum model_op *op)
{
    size_t position;
    if (parse_at_word(p, model_op_words[MODEL_OP_CHANGED]) ||
        !parse_accept_any(p, model_op_words, &position))
        return parse_expected(p,
                              "=, !=, <, <=, >, >=, begins, between, contains, exists or missing");
    *op = (enum model_op)position;
    return true;
}

static bool condition(struct model_file *file, struct model_condition *out)
{
    struct model_parser *p = &file->p;
    *out = (struct model_condition){0};
    if (!parse_path(p, &out->steps, &out->step_count, &out->at) || !operator_of(p, &out->op))
        return false;
    if (out->op == MODEL_OP_EXISTS || out->op == MODEL_OP_MISSING)
        return true;
    return parse_operands(p, out->op, out->values);
}

static bool conditions(struct model_file *file, struct model_condition *list, size_t most,
                       size_t *count)
{
    struct model_parser *p = &file->p;
    do {
        if (*count == most)
            return file_error(file, parse_place(p), "at most %zu conditions can stand here", most);
        if (!condition(file, &list[*count]))
            return false;
        (*count)++;
    } while (parse_accept_word(p, "and"));
    return true;
}

static bool order(struct model_file *file, struct raw_access *raw)
{
    struct model_parser *p = &file->p;
    if (parse_accept_word(p, "newest") || parse_accept_word(p, "latest")) {
        raw->access.descending = true;
        return parse_expect_word(p, "first");
    }
    if (parse_accept_word(p, "oldest"))
        return parse_expect_word(p, "first");
    if (parse_accept_word(p, "descending"))
        raw->access.descending = true;
    else
        (void)parse_accept_word(p, "ascending");
    return true;
}

static bool clauses(struct model_file *file, struct raw_access *raw)
{
    struct model_parser *p = &file->p;
    if (parse_accept_word(p, "of") && !parse_raw_name(p, "the name of a table", &raw->table_name))
        return false;
    if (parse_accept_word(p, "via") && !parse_raw_name(p, "the name of an index", &raw->index_name))
        return false;
    if (parse_accept_word(p, "where") &&
        !conditions(file, raw->where, COUNT_OF(raw->where), &raw->where_count))
        return false;
    if (parse_accept_word(p, "filter")) {
        enum { FILTERS = 32 };
        raw->filters = file_alloc(file, FILTERS, sizeof *raw->filters);
        if (raw->filters == NULL || !conditions(file, raw->filters, FILTERS, &raw->filter_count))
            return false;
    }
    if (!order(file, raw))
        return false;
    if (parse_accept_word(p, "limit") &&
        !parse_count(p, "a number of items", 1, INT32_MAX, &raw->access.limit))
        return false;
    raw->access.consistent = parse_accept_word(p, "consistent");
    return true;
}

bool parse_access(struct model_file *file, size_t first)
{
    struct model_parser *p = &file->p;
    struct raw_access *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    raw->above = file->tables.last;
    raw->access.at = parse_place(p);
    if (!parse_name(p, "a name for the access pattern", &raw->access.name) ||
        !parameters(file, raw) ||
        !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\" and the entities it reads"))
        return false;
    const struct model_token *next = parse_peek_at(p, 1);
    if (parse_at_word(p, "one") && next->kind == MODEL_TOKEN_NAME && !next->first) {
        (void)parse_take(p);
        raw->access.one = true;
    } else if (parse_at_word(p, "count") && next->kind == MODEL_TOKEN_NAME && !next->first &&
               !model_token_is(&p->tokens, next, "of") &&
               !model_token_is(&p->tokens, next, "via") &&
               !model_token_is(&p->tokens, next, "where")) {
        (void)parse_take(p);
        raw->access.count = true;
    }
    if (!entity_names(file, raw) || !clauses(file, raw))
        return false;
    raw->access.doc = parse_doc(p, first, p->at - 1);
    LIST_APPEND(&file->accesses, raw);
    return true;
}
